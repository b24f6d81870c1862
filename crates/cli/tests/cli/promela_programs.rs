//! Random small programs in Promela, which end in few states, and shrink.
//!
//! A program is a tree of statements; smaller ones are made by leaving out some of them. Values stay small
//! by `%`, indices are right by construction, loops inside atomic sequences are counted, and only the
//! first statement of a d_step can block: what remains is defined.
//!
//! A *calm* program has no rendezvous channel; in it, there may be priorities, and its formula may ask
//! `enabled`: Spin allows neither otherwise. What is asked only in never claims (`_last`) is in one: half of
//! the formulas are never claims.

use std::fmt::Write as _;

use fastrand::Rng;

/// A program.
#[derive(Clone)]
pub(crate) struct Program {
    /// What comes before and after the body of each process.
    processes: Vec<(String, Vec<Node>)>,
    formula: String,
    is_calm: bool,
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

/// Changes of priorities.
const SETS: [&str; 3] = ["set_priority(_pid, 2)", "set_priority(0, 1)", "set_priority(_pid, _priority + 1)"];

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Place {
    depth: u32,
    atomic: bool,
    d_step: bool,
    in_loop: bool,
    /// Whether the process has the parameters.
    has_parameters: bool,
    /// Whether there are priorities.
    has_priorities: bool,
}

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
        Program { processes, formula, is_calm }
    }

    /// The text; with its formula, if that is wanted. Spin forgets the priorities of states unless it is
    /// told not to, which is possible only where it does not look for cycles; so there are none that change,
    /// if that is wanted.
    pub(crate) fn text(&self, with_formula: bool, priorities_change: bool) -> String {
        let mut text = GLOBALS.to_owned();
        if self.is_calm {
            text = text.replace("[0] of", "[1] of");
        }
        for (head, body) in &self.processes {
            _ = writeln!(text, "{head} {{\n  byte i, j; bool k; chan d; chan own = [1] of {{ byte }};");
            write_body(&mut text, body, 1);
            text.push_str("}\n");
        }
        if with_formula {
            _ = writeln!(text, "{}", self.formula);
        }
        if !priorities_change {
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

fn body(rng: &mut Rng, place: Place) -> Vec<Node> {
    let mut nodes: Vec<Node> = (0..rng.usize(1..5)).map(|_| statement(rng, place)).collect();
    // Labels that somebody jumps to must be there: on statements of their own, so that shrinking keeps them.
    let at = rng.usize(0..=nodes.len());
    let label =
        ["again: skip", "end_again: again: skip", "progress_here: again: skip", "accept_here: again: skip"];
    nodes.insert(at, Node::Line(pick(rng, &label)));
    nodes
}

fn pick(rng: &mut Rng, list: &[&str]) -> String {
    list[rng.usize(0..list.len())].to_owned()
}

fn statement(rng: &mut Rng, place: Place) -> Node {
    let inner = Place { depth: place.depth.saturating_sub(1), ..place };
    if place.depth == 0 || rng.u8(0..10) < 6 {
        return Node::Line(basic(rng, place));
    }
    let list = |rng: &mut Rng, place: Place| -> Vec<Node> {
        (0..rng.usize(1..4)).map(|_| statement(rng, place)).collect()
    };
    match rng.u8(0..14) {
        0..=3 => Node::Choice(false, options(rng, inner, false)),
        4..=6 if !place.atomic => {
            let mut options = options(rng, Place { in_loop: true, ..inner }, true);
            if rng.u8(0..5) != 0 {
                options.push(vec![Node::Line(guard(rng, place)), Node::Line("break".to_owned())]);
            }
            Node::Choice(true, options)
        }
        7 | 8 => Node::Group("atomic ".to_owned(), list(rng, Place { atomic: true, ..inner })),
        9 | 10 if !place.d_step => Node::Group("d_step ".to_owned(), d_step(rng, inner)),
        11 if !place.d_step => Node::Unless(list(rng, inner), {
            let mut escape = vec![Node::Line(blocking(rng, place))];
            escape.extend((0..rng.usize(0..2)).map(|_| statement(rng, inner)));
            escape
        }),
        12 => {
            let of = pick(rng, &["for (i : 0 .. 1) ", "for (i in cells) ", "for (j : 1 .. 2) "]);
            Node::Group(of, vec![Node::Line(basic(rng, Place { in_loop: false, ..place }))])
        }
        _ => Node::Group(String::new(), list(rng, inner)),
    }
}

/// What an option begins with, and what follows.
fn options(rng: &mut Rng, place: Place, repeats: bool) -> Vec<Vec<Node>> {
    let mut options = Vec::new();
    for _ in 0..rng.usize(1..4) {
        let first = match rng.u8(0..8) {
            0 => statement(rng, place),
            _ => Node::Line(blocking(rng, place)),
        };
        let mut option = vec![first];
        option.extend((0..rng.usize(0..3)).map(|_| statement(rng, place)));
        options.push(option);
    }
    match rng.u8(0..6) {
        0 | 1 => options.push(vec![Node::Line("else".to_owned()), Node::Line(basic(rng, place))]),
        2 if !place.atomic => {
            let mut option = vec![Node::Line("timeout".to_owned()), Node::Line(basic(rng, place))];
            if repeats {
                option.push(Node::Line("break".to_owned()));
            }
            options.push(option);
        }
        _ => {}
    }
    options
}

/// Only the first statement can block.
fn d_step(rng: &mut Rng, place: Place) -> Vec<Node> {
    let place = Place { depth: 0, atomic: true, d_step: true, in_loop: false, ..place };
    let first = if rng.bool() { d_step_first(rng, place) } else { assignment(rng, place) };
    let mut nodes = vec![Node::Line(first)];
    for _ in 0..rng.usize(0..3) {
        nodes.push(match rng.u8(0..4) {
            0 => {
                let mut options: Vec<Vec<Node>> = (0..rng.usize(1..3))
                    .map(|_| vec![Node::Line(guard(rng, place)), Node::Line(assignment(rng, place))])
                    .collect();
                options.push(vec![Node::Line("else".to_owned())]);
                Node::Choice(false, options)
            }
            _ => Node::Line(assignment(rng, place)),
        });
    }
    nodes
}

fn d_step_first(rng: &mut Rng, place: Place) -> String {
    match rng.u8(0..3) {
        0 => guard(rng, place),
        1 => pick(rng, &["one?x", "one!1", "two?y,b", "two!2,1", "one?1"]),
        _ => pick(rng, &["meet?x", "meet2?color,y", "two??1,b"]),
    }
}

fn basic(rng: &mut Rng, place: Place) -> String {
    match rng.u8(0..20) {
        7..=11 => blocking(rng, place),
        12 => format!(
            "assert({})",
            pick(rng, &["x < 3", "y != 2 || b", "s <= 2", "cells[0] < 2", "len(two) < 2"])
        ),
        13 => "skip".to_owned(),
        14 => "printf(\"%d\\n\", x)".to_owned(),
        15 if !place.d_step && !place.atomic => "goto again".to_owned(),
        16 if place.in_loop && !place.d_step => "break".to_owned(),
        17 if !place.d_step && !place.atomic => "(_nr_pr < 4); run Q(1, one)".to_owned(),
        19 if place.has_priorities => pick(rng, &SETS),
        18 if !place.atomic => "select (j : 0 .. 1)".to_owned(),
        _ => assignment(rng, place),
    }
}

fn blocking(rng: &mut Rng, place: Place) -> String {
    if rng.u8(0..5) < 2 {
        return guard(rng, place);
    }
    let channels = if place.has_parameters { &["one", "c", "own"][..] } else { &["one", "own"] };
    match rng.u8(0..13) {
        0 => format!("meet!{}", value(rng, place)),
        1 => pick(rng, &["meet?x", "meet?1", "meet?i", "meet?eval(y)", "meet?_"]),
        2 => format!("meet2!{},{}", pick(rng, &["red", "color"]), value(rng, place)),
        3 => pick(rng, &["meet2?red,x", "meet2?color,j", "meet2?green(i)", "meet2?color,eval(x)"]),
        4 => format!("{}!{}", pick(rng, channels), value(rng, place)),
        5 => format!("{}?{}", pick(rng, channels), pick(rng, &["x", "1", "eval(i)", "_", "cells[1]"])),
        6 => format!("two{}{},{}", pick(rng, &["!", "!!"]), value(rng, place), pick(rng, &["0", "b", "1"])),
        7 => format!(
            "two{}",
            pick(rng, &["?x,b", "??1,b", "??eval(y),1", "?<x,k>", "??<i,1>", "?_,_", "?2,k"])
        ),
        8 => pick(rng, &["nempty(one)", "len(two) == 1", "full(two)", "empty(one)", "nfull(one)"]),
        9 => pick(rng, &["one?[1]", "two?[_,1]", "two??[1,0]", "one?[eval(x)]"]),
        10 => pick(rng, &["carry!one", "carry!own"]),
        11 => "carry?d; d!1".to_owned(),
        _ => pick(rng, &["carry?d; d?x", "one?x", "meet!2", "meet?y"]),
    }
}

fn guard(rng: &mut Rng, place: Place) -> String {
    let op = pick(rng, &["==", "!=", "<", ">="]);
    match rng.u8(0..8) {
        0 => pick(rng, &["b", "!k", "pair.flags[1]", "color == red", "_nr_pr > 2", "s < 0"]),
        1 => format!(
            "({} {op} {} && {})",
            value(rng, place),
            value(rng, place),
            pick(rng, &["b", "k", "1", "!b"])
        ),
        _ => format!("({} {op} {})", value(rng, place), value(rng, place)),
    }
}

fn value(rng: &mut Rng, place: Place) -> String {
    let mut names = vec![
        "0",
        "1",
        "2",
        "x",
        "y",
        "i",
        "cells[0]",
        "cells[i % 2]",
        "pair.first",
        "_pid",
        "x + 1",
        "(b -> 1 : y)",
    ];
    names.extend(["pairs[i % 2].first", "pairs[1].flags[j % 2]"]);
    if place.has_parameters {
        names.extend(["n", "n"]);
    }
    if place.has_priorities {
        names.extend(["_priority", "get_priority(1)"]);
    }
    pick(rng, &names)
}

fn assignment(rng: &mut Rng, place: Place) -> String {
    let to = pick(
        rng,
        &["x", "y", "i", "j", "cells[0]", "cells[j % 2]", "pair.first", "pairs[x % 2].first", "x", "y"],
    );
    match rng.u8(0..12) {
        0 => pick(
            rng,
            &[
                "b = !b",
                "k = (x > 1)",
                "b = x",
                "pair.flags[0] = b",
                "pair.flags[i % 2] = 1",
                "pairs[b].flags[j % 2] = k",
            ],
        ),
        1 => pick(rng, &["color = red", "color = blue", "color = 0"]),
        2 => pick(rng, &["s = x - y", "s = -1", "s = (s + 1) % 3", "x = s % 3"]),
        3 => format!("{to} = ({} + {}) % 3", value(rng, place), value(rng, place)),
        4 => format!("{to} = ({} - {}) % 3", value(rng, place), value(rng, place)),
        5 => format!("{to} = ({} * {}) & 3", value(rng, place), value(rng, place)),
        6 if place.has_parameters => "n = (n + 1) % 3".to_owned(),
        _ => format!("{to} = {}", pick(rng, &["0", "1", "2", "i", "(y + 1) % 3", "(x + 1) % 3"])),
    }
}

fn start(rng: &mut Rng, place: Place) -> Node {
    let channel = pick(rng, &["one", "own", "meet"]);
    let text = match rng.u8(0..3) {
        0 => format!("i = run Q({}, {channel})", rng.u8(0..3)),
        1 if place.has_priorities => format!("run Q({}, {channel}) priority 3", rng.u8(0..3)),
        _ => format!("run Q({}, {channel})", rng.u8(0..3)),
    };
    Node::Line(text)
}

/// A condition in a never claim.
fn in_claim(rng: &mut Rng, is_calm: bool) -> String {
    match rng.u8(0..4) {
        0 => pick(rng, &["(_last == 0)", "(_last == 1)", "(_last != 2)", "(_last == _nr_pr - 1)"]),
        1 => format!("(!{} && {})", proposition(rng, is_calm), proposition(rng, is_calm)),
        _ => proposition(rng, is_calm),
    }
}

fn proposition(rng: &mut Rng, is_calm: bool) -> String {
    let mut all =
        vec!["(x == 1)", "b", "(y < 2)", "(len(one) > 0)", "(color == red)", "(cells[1] == 0)", "(s < 0)"];
    all.extend([
        "(_nr_pr > 2)",
        "(P0[0]@again)",
        "(P0[0]:i == 1)",
        "(pc_value(0) > 3)",
        "(pc_value(1) == 0)",
    ]);
    if is_calm {
        all.extend(["enabled(0)", "(!enabled(1))", "enabled(0)"]);
    }
    pick(rng, &all)
}

fn formula(rng: &mut Rng, depth: u32, is_calm: bool) -> String {
    if depth == 0 || rng.u8(0..4) == 0 {
        return proposition(rng, is_calm);
    }
    let inner = formula(rng, depth - 1, is_calm);
    match rng.u8(0..7) {
        0 => format!("([] {inner})"),
        1 => format!("(<> {inner})"),
        2 => format!("([] <> {inner})"),
        3 => format!("(<> [] {inner})"),
        4 => format!("(!{inner})"),
        5 => format!("({inner} -> <> {})", formula(rng, depth - 1, is_calm)),
        _ => format!("({inner} U {})", formula(rng, depth - 1, is_calm)),
    }
}
