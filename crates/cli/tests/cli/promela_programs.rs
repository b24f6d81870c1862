//! Random small programs in Promela, which end in few states, and shrink.
//!
//! A program is a tree of statements; smaller ones are made by leaving out some of them. Values stay small
//! by `%`, indices are right by construction, most loops inside atomic sequences and d_steps are counted, and
//! mostly only the first statement of a d_step can block: what remains is defined.
//!
//! A *calm* program has no rendezvous channel; in it, there may be priorities, and its formula may ask
//! `enabled`: Spin allows neither otherwise. What is asked only in never claims (`_last`) is in one: half of
//! the formulas are never claims.
//!
//! Some programs have a `trace` or `notrace`, which stands last: Spin goes wrong if it is the first body.
//! Its channels have no `!!` and `??`, where Spin looks at another message.

mod statements;

use std::fmt::Write as _;

use fastrand::Rng;

use statements::{Place, SETS, assignment, body, formula, in_claim, start, trace};

/// A program.
#[derive(Clone)]
pub(crate) struct Program {
    /// What comes before and after the body of each process.
    processes: Vec<(String, Vec<Node>)>,
    formula: String,
    /// A trace, or nothing.
    trace: String,
    is_calm: bool,
}

/// Which parts of a program its text has.
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    pub(crate) formula: bool,
    pub(crate) trace: bool,
    /// Spin forgets the priorities of states unless it is told not to, which is possible only where it does
    /// not look for cycles; so there may be none that change.
    pub(crate) changing_priorities: bool,
}

impl Parts {
    pub(crate) const ALL: Parts = Parts { formula: true, trace: true, changing_priorities: true };
}

/// A statement.
#[derive(Clone)]
enum Node {
    Line(String),
    /// A word or nothing, and what is inside its braces.
    Group(String, Vec<Node>),
    /// `if` or `do`: its options.
    Choice(bool, Vec<Vec<Node>>),
    /// `{ … } unless { … }`.
    Unless(Vec<Node>, Vec<Node>),
}

const GLOBALS: &str = "\
mtype = { red, green, blue };
typedef Pair { byte first; bool flags[2] };
byte x, y;
bool b;
short s;
mtype color;
byte cells[2];
Pair pair;
Pair pairs[2];
chan meet = [0] of { byte };
chan meet2 = [0] of { mtype, byte };
chan one = [1] of { byte };
chan two = [2] of { byte, bit };
chan carry = [1] of { chan };
";

impl Program {
    /// A program of the generator in this state.
    pub(crate) fn random(rng: &mut Rng) -> Program {
        let mut processes = Vec::new();
        let is_calm = rng.u8(0..3) == 0;
        let has_priorities = is_calm && rng.bool();
        let place = Place {
            depth: 2,
            atomic: false,
            d_step: false,
            in_loop: false,
            has_parameters: false,
            has_priorities,
        };
        let n = rng.usize(1..4);
        for index in 0..n {
            let active = if rng.u8(0..4) == 0 { "[2] " } else { "" };
            let provided = match rng.u8(0..16) {
                0 => " provided (x != 1)",
                1 => " provided (_pid == 0 || b)",
                2 => " provided (len(one) == 0 || y < 2)",
                _ => "",
            };
            let priority = if has_priorities && rng.bool() { " priority 2" } else { "" };
            let head = format!("active {active}proctype P{index}(){priority}{provided}");
            processes.push((head, body(rng, place)));
        }
        let started = Place { has_parameters: true, ..place };
        processes.push(("proctype Q(byte n; chan c)".to_owned(), body(rng, started)));
        if rng.bool() {
            let mut starts: Vec<Node> = (0..rng.usize(1..3)).map(|_| start(rng, place)).collect();
            if rng.bool() {
                starts = vec![Node::Group("atomic ".to_owned(), starts)];
            }
            starts.extend((0..rng.usize(0..3)).map(|_| Node::Line(assignment(rng, place))));
            processes.push(("init".to_owned(), starts));
        }
        let formula = if rng.bool() {
            format!("ltl f {{ {} }}", formula(rng, 2, is_calm))
        } else {
            let (first, then, last) =
                (in_claim(rng, is_calm), in_claim(rng, is_calm), in_claim(rng, is_calm));
            format!(
                "never f {{\n  do\n  :: {first} -> break\n  :: true\n  od;\n  {then};\naccept:\n  \
                 do\n  :: {last}\n  od\n}}"
            )
        };
        let trace = trace(rng);
        Program { processes, formula, trace, is_calm }
    }

    pub(crate) fn has_trace(&self) -> bool {
        !self.trace.is_empty()
    }

    pub(crate) fn forbids_trace(&self) -> bool {
        self.trace.starts_with("notrace")
    }

    /// The text.
    pub(crate) fn text(&self, parts: Parts) -> String {
        let mut text = GLOBALS.to_owned();
        if self.is_calm {
            text = text.replace("[0] of", "[1] of");
        }
        for (head, body) in &self.processes {
            _ = writeln!(text, "{head} {{\n  byte i, j; bool k; chan d; chan own = [1] of {{ byte }};");
            write_body(&mut text, body, 1);
            text.push_str("}\n");
        }
        if parts.formula {
            _ = writeln!(text, "{}", self.formula);
        }
        if parts.trace && self.has_trace() {
            _ = writeln!(text, "{}", self.trace);
        }
        if !parts.changing_priorities {
            text = text.replace(" priority 3", "");
            SETS.iter().for_each(|set| text = text.replace(set, "skip"));
        }
        text
    }

    /// A text without `provided` and priorities.
    pub(crate) fn without_precedence(text: &str) -> String {
        let plain = |line: &str| match line.split_once(" provided ") {
            Some((head, _)) => format!("{head} {{\n"),
            None => format!("{line}\n"),
        };
        text.lines().map(plain).collect::<String>().replace(" priority 2", "")
    }

    /// Smaller programs.
    pub(crate) fn shrunk(&self) -> Vec<Program> {
        let mut all = Vec::new();
        for (index, (_, body)) in self.processes.iter().enumerate() {
            if self.processes.len() > 1 {
                let mut less = self.clone();
                less.processes.remove(index);
                all.push(less);
            }
            for body in shrunk_body(body) {
                let mut less = self.clone();
                less.processes[index].1 = body;
                all.push(less);
            }
        }
        all
    }
}

fn shrunk_body(body: &[Node]) -> Vec<Vec<Node>> {
    let mut all = Vec::new();
    for (index, node) in body.iter().enumerate() {
        let mut with = |nodes: Vec<Node>| {
            let mut less = body.to_vec();
            less.splice(index..=index, nodes);
            all.push(less);
        };
        with(Vec::new());
        match node {
            Node::Line(_) => {}
            Node::Group(word, inner) => {
                with(inner.clone());
                shrunk_body(inner).into_iter().for_each(|less| with(vec![Node::Group(word.clone(), less)]));
            }
            Node::Choice(repeats, options) => {
                for (number, option) in options.iter().enumerate() {
                    if !repeats {
                        with(option.clone());
                    }
                    if options.len() > 1 {
                        let mut less = options.clone();
                        less.remove(number);
                        with(vec![Node::Choice(*repeats, less)]);
                    }
                    for less in shrunk_body(option) {
                        let mut options = options.clone();
                        options[number] = less;
                        with(vec![Node::Choice(*repeats, options)]);
                    }
                }
            }
            Node::Unless(main, escape) => {
                with(main.clone());
                shrunk_body(main).into_iter().for_each(|less| with(vec![Node::Unless(less, escape.clone())]));
                shrunk_body(escape).into_iter().for_each(|less| with(vec![Node::Unless(main.clone(), less)]));
            }
        }
    }
    all
}

fn write_body(text: &mut String, body: &[Node], depth: usize) {
    let indent = "  ".repeat(depth);
    if body.is_empty() {
        _ = writeln!(text, "{indent}skip");
    }
    for (index, node) in body.iter().enumerate() {
        let end = if index + 1 < body.len() { ";" } else { "" };
        match node {
            Node::Line(line) => _ = writeln!(text, "{indent}{line}{end}"),
            Node::Group(word, inner) => {
                _ = writeln!(text, "{indent}{word}{{");
                write_body(text, inner, depth + 1);
                _ = writeln!(text, "{indent}}}{end}");
            }
            Node::Choice(repeats, options) => {
                let (open, close) = if *repeats { ("do", "od") } else { ("if", "fi") };
                _ = writeln!(text, "{indent}{open}");
                for option in options {
                    _ = writeln!(text, "{indent}::");
                    write_body(text, option, depth + 1);
                }
                _ = writeln!(text, "{indent}{close}{end}");
            }
            Node::Unless(main, escape) => {
                _ = writeln!(text, "{indent}{{");
                write_body(text, main, depth + 1);
                _ = writeln!(text, "{indent}}} unless {{");
                write_body(text, escape, depth + 1);
                _ = writeln!(text, "{indent}}}{end}");
            }
        }
    }
}
