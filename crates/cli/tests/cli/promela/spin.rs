//! Random programs, compared with Spin itself, on everything that both can be asked.
//!
//! `STUBBORN_SPIN=500 cargo test --release -p stubborn-cli --test cli as_in_spin -- --nocapture` compares 500
//! programs: the number of their states, which assertions can fail, end states, a formula, fairness and
//! progress. It needs `spin` and `gcc`. `STUBBORN_SEED` is the number of the first program; one that differs
//! is shrunk. At the end it says how often each question was answered how; every program is in these figures,
//! those that somebody refuses, too.
//!
//! What is not asked, since Spin 6.5.2 does not do what its manual says:
//!
//! - A `notrace` makes ends invalid: there is none where end states are asked for.
//! - Under fairness, it does not find all runs that end, nor those in which `provided` or a priority keeps a
//!   process from going on: one process never ends, and there are no such conditions.
//! - Where it looks for cycles, states that differ in a priority are the same: none changes there.
//! - Where a handshake is offered, no escape but one that receives it can be executed, so the process that the
//!   escape should lead away takes part: nothing inside `unless` receives from a rendezvous channel.
//! - The number of processes includes the never claim: it is read as one less.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use fastrand::Rng;
use serde_json::Value;

use super::number;
use crate::promela_programs::{Parts, Program};
use crate::{Scratch, run};

/// Larger state spaces are not compared.
const MAX_STATES: u64 = 2_000;

/// A question, and how `pan` is made and run for it.
type Question = (&'static str, &'static str, &'static str);

const QUESTIONS: [Question; 8] = [
    ("states", "-DNOREDUCE -DSAFETY -DNOCLAIM -DNOCOMP", "-A -E -c0"),
    ("failing", "-DNOREDUCE -DSAFETY -DNOCLAIM -DNOCOMP", "-E -c0"),
    ("assertions", "-DNOREDUCE -DSAFETY -DNOCLAIM -DNOCOMP", "-E"),
    ("end-states", "-DNOREDUCE -DSAFETY -DNOCLAIM -DNOCOMP", "-A"),
    ("formula", "-DNOREDUCE", "-E -a -N f"),
    ("fair formula", "-DNOREDUCE -DNFAIR=3", "-E -a -f -N f"),
    ("progress", "-DNOREDUCE -DNP", "-A -E -l"),
    ("fair progress", "-DNOREDUCE -DNP -DNFAIR=3", "-A -E -l -f"),
];

/// An answer, or why there is none.
type Answer = Result<String, String>;

/// The text of a program for a question. Every assertion says which line it is in. Where a formula is asked
/// about, assertions and accept labels, which Spin looks at, too, must not matter.
fn text_for(program: &Program, question: &str) -> String {
    let is_about_runs = question.contains("formula") || question.contains("progress");
    let trace = !(is_about_runs || question == "end-states" && program.forbids_trace());
    let parts = Parts { formula: question.contains("formula"), trace, changing_priorities: !is_about_runs };
    let mut text = marked(&program.text(parts));
    if question.contains("formula") {
        text = text.replace("assert(", "assert(true || ").replace("accept_", "not_");
    }
    if question.contains("fair") {
        text = Program::without_precedence(&text);
    }
    if question == "fair formula" {
        text = format!("{text}\nbool tick; active proctype Tick() {{ do :: tick = !tick od }}\n");
    }
    text
}

/// Makes assertions say where they are.
fn marked(text: &str) -> String {
    let mark = |(index, line): (usize, &str)| match line.split_once("assert(") {
        Some((before, _)) if line.contains(')') => {
            let (condition, after) = line[before.len() + 7..].rsplit_once(')').unwrap_or_default();
            format!("{before}assert(({condition}) || 0 == {}){after}\n", index + 1)
        }
        _ => format!("{line}\n"),
    };
    text.lines().enumerate().map(mark).collect()
}

/// Lets all assertions but that of one line hold.
fn with_one_assertion(text: &str, wanted: usize) -> String {
    let only = |(index, line): (usize, &str)| match index + 1 == wanted {
        true => format!("{line}\n"),
        false => format!("{}\n", line.replace("assert(", "assert(true || ")),
    };
    text.lines().enumerate().map(only).collect()
}

/// What Spin says to some questions.
fn spin(program: &Program, questions: &[Question], scratch: &Scratch) -> Vec<Answer> {
    let mut made = (String::new(), Ok(()));
    let mut answers = Vec::new();
    for &(question, defines, options) in questions {
        let mut text = text_for(program, question);
        if !defines.contains("NOCLAIM") {
            text = text.replace("_nr_pr", "(_nr_pr - 1)");
        }
        let wanted = format!("{text} {defines}");
        if made.0 != wanted {
            made = (wanted, make(&text, defines, scratch));
        }
        let answer = made.1.clone().and_then(|()| {
            let output = started("timeout", &format!("10 ./pan {options} -m200000 -n -w18"), scratch)?;
            if output.status.code() == Some(124) {
                return Err("out of time".to_owned());
            }
            read(question, &String::from_utf8_lossy(&output.stdout), program.has_trace())
        });
        answers.push(answer);
    }
    answers
}

fn started(program: impl AsRef<Path>, arguments: &str, scratch: &Scratch) -> Result<Output, String> {
    let mut command = Command::new(program.as_ref());
    command.args(arguments.split(' ')).current_dir(scratch.path(""));
    command.output().map_err(|error| error.to_string())
}

/// Makes `pan`.
fn make(text: &str, defines: &str, scratch: &Scratch) -> Result<(), String> {
    scratch.file("model.pml", text);
    _ = std::fs::remove_file(scratch.path("pan.c"));
    let output = started("spin", "-a -o1 -o2 -o3 model.pml", scratch)?;
    if !scratch.path("pan.c").exists() {
        return Err(last_line(&output.stdout));
    }
    let output = started("gcc", &format!("-w -O0 {defines} -o pan pan.c"), scratch)?;
    if output.status.success() { Ok(()) } else { Err(last_line(&output.stderr)) }
}

fn last_line(text: &[u8]) -> String {
    String::from_utf8_lossy(text).lines().rfind(|line| !line.is_empty()).unwrap_or("silence").to_owned()
}

/// What `pan` has said.
fn read(question: &str, text: &str, has_trace: bool) -> Answer {
    // Spin refuses some programs only now: those with a loop of one `skip`, for example.
    let Some(states) = text.lines().find(|line| line.contains("states, stored")) else {
        return Err(text.lines().find(|line| !line.is_empty()).unwrap_or("silence").to_owned());
    };
    if text.contains("max search depth too small") {
        return Err("max search depth too small".to_owned());
    }
    let is_error = |line: &&str| line.strip_prefix("pan:").is_some_and(|rest| !rest.starts_with(' '));
    let errors: Vec<&str> = text.lines().filter(is_error).collect();
    // A message for a process that is no more ends the search, and so does a d_step that cannot go on.
    for fatal in ["bad queue", "rv-attempt in d_step", "block in d_step seq", "blocking sel in d_step"] {
        if errors.iter().any(|line| line.contains(fatal)) {
            let is_asserted = question == "assertions";
            return if is_asserted { Ok("violated".to_owned()) } else { Err(fatal.to_owned()) };
        }
    }
    let expected: &[&str] = match question {
        "states" if has_trace => &["event_trace error"],
        "states" => &[],
        "failing" | "assertions" => &["assertion violated", "event_trace error"],
        "end-states" => &["invalid end state", "event_trace error", "trace assertion"],
        "formula" | "fair formula" => {
            &["acceptance cycle", "end state in claim reached", "assertion violated  !("]
        }
        _ => &["non-progress cycle"],
    };
    if let Some(other) = errors.iter().find(|line| !expected.iter().any(|part| line.contains(part))) {
        return Ok(format!("says {other}"));
    }
    Ok(match question {
        "states" => states.split_whitespace().next().unwrap_or_default().to_owned(),
        "failing" => {
            let line = |error: &&str| line_of(error).unwrap_or("trace").to_owned();
            set(errors.iter().map(line).collect())
        }
        _ if errors.is_empty() => "holds".to_owned(),
        _ => "violated".to_owned(),
    })
}

/// The line of an assertion that says it.
fn line_of(assertion: &str) -> Option<&str> {
    let (_, rest) = assertion.split_once("(0==").or_else(|| assertion.split_once("|| 0 == "))?;
    rest.split(')').next()
}

fn set(mut lines: Vec<String>) -> String {
    lines.sort();
    lines.dedup();
    lines.join(" ")
}

/// What we say to some questions.
fn ours(program: &Program, questions: &[Question], scratch: &Scratch) -> Vec<Answer> {
    questions.iter().map(|(question, ..)| our_answer(program, question, scratch)).collect()
}

fn our_answer(program: &Program, question: &str, scratch: &Scratch) -> Answer {
    let text = text_for(program, question);
    let arguments = match question {
        "states" => {
            let asked = asked(&text, &format!("explore --max-states {MAX_STATES}"), scratch)?;
            return Ok(asked["states"].to_string());
        }
        "failing" => return our_failing(program, &text, scratch),
        "assertions" => "check --property assertions",
        "end-states" => "check --property end-states",
        "formula" => "check --property f",
        "fair formula" => "check --property f --fair weak",
        "progress" => "check --nonprogress",
        _ => "check --nonprogress --fair weak",
    };
    verdict(&asked(&text, arguments, scratch)?)
}

/// The lines of the assertions that fail: each is asked for alone. What fails first with all of them must be
/// one of these.
fn our_failing(program: &Program, text: &str, scratch: &Scratch) -> Answer {
    let fails = |text: &str| -> Result<Option<String>, String> {
        let said = asked(text, "check --property assertions", scratch)?;
        let said_first = &said["results"][0];
        let marked = said_first["reason"].as_str().and_then(line_of).unwrap_or("trace");
        // Those before it in the same step have happened.
        let statements = said_first["counterexample"]["failing"].as_array();
        let line = match statements.and_then(|all| all.last()) {
            Some(last) if marked != "trace" => last["line"].to_string(),
            _ => marked.to_owned(),
        };
        Ok((verdict(&said)? == "violated").then_some(line))
    };
    let without_trace = match text.rfind("trace {") {
        Some(at) if program.has_trace() => text[..at].strip_suffix("no").unwrap_or(&text[..at]),
        _ => text,
    };
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| line.contains("assert(")) {
        match fails(&with_one_assertion(without_trace, index + 1))? {
            Some(at) if at != (index + 1).to_string() => return Ok(format!("{line} fails in line {at}")),
            fails => lines.extend(fails),
        }
    }
    lines.extend(fails(&with_one_assertion(text, 0))?);
    match fails(text)? {
        Some(line) if !lines.contains(&line) => Ok(format!("{line} does not fail alone")),
        _ => Ok(set(lines)),
    }
}

fn asked(text: &str, arguments: &str, scratch: &Scratch) -> Result<Value, String> {
    let model = scratch.file("ours.pml", text);
    let (command, options) = arguments.split_once(' ').unwrap_or((arguments, ""));
    let finished = run(&format!("{command} {model} --json --quiet {options}"));
    serde_json::from_str(&finished.stdout).map_err(|_| format!("{} {}", finished.stdout, finished.stderr))
}

fn verdict(said: &Value) -> Answer {
    said["results"][0]["verdict"].as_str().map(str::to_owned).ok_or_else(|| said.to_string())
}

/// How often a question was answered how.
#[derive(Default)]
struct Tally {
    /// Questions; answers; how often.
    answers: BTreeMap<&'static str, BTreeMap<String, u64>>,
    compared: u64,
    too_large: u64,
    states: u64,
    differ: u64,
}

impl Tally {
    fn count(&mut self, question: &'static str, ours: &Answer, spin: &Answer) {
        let answer = match (ours, spin) {
            (Err(_), Err(_)) => "refused by both".to_owned(),
            (Err(_), _) => "refused by us".to_owned(),
            (_, Err(why)) => format!("refused by Spin: {}", why.replace(|c: char| c.is_ascii_digit(), "")),
            (Ok(_), Ok(_)) if question == "states" => "counted".to_owned(),
            (Ok(lines), Ok(_)) if question == "failing" => {
                format!("{} of the assertions", lines.split_whitespace().count())
            }
            (Ok(answer), Ok(_)) => answer.clone(),
        };
        *self.answers.entry(question).or_default().entry(answer).or_default() += 1;
    }

    fn print(&self) {
        for (question, answers) in &self.answers {
            eprintln!("{question}: {answers:?}");
        }
        let Tally { compared, too_large, states, differ, .. } = self;
        eprintln!("{compared} programs compared, {states} states; {too_large} too large; {differ} differ");
    }
}

/// Whether two answers differ. What Spin refuses is not compared; what only we refuse is a difference.
fn differ(ours: &Answer, spin: &Answer) -> bool {
    spin.is_ok() && ours != spin
}

/// Compares one program; what is to be said about it.
fn compare(case: u64, scratch: &Scratch, tally: &Mutex<Tally>) -> Option<String> {
    let program = Program::random(&mut Rng::with_seed(case));
    let n_states = match our_answer(&program, "states", scratch) {
        Ok(states) => states.parse::<u64>().unwrap_or(MAX_STATES),
        Err(_) => 0,
    };
    if n_states >= MAX_STATES {
        tally.lock().unwrap().too_large += 1;
        return None;
    }
    let (our_answers, answers) = (ours(&program, &QUESTIONS, scratch), spin(&program, &QUESTIONS, scratch));
    let mut found = Vec::new();
    let mut tally = tally.lock().unwrap();
    tally.compared += 1;
    tally.states += n_states;
    for ((question, ours), spin) in QUESTIONS.into_iter().zip(&our_answers).zip(&answers) {
        tally.count(question.0, ours, spin);
        if differ(ours, spin) {
            found.push(question);
        }
    }
    let &question = found.first()?;
    tally.differ += 1;
    drop(tally);
    let (program, ours, spin) = shrink(program, question, scratch);
    let names: Vec<&str> = found.iter().map(|question| question.0).collect();
    let text = text_for(&program, question.0);
    Some(format!("case {case}, {names:?}: {}: {ours:?} here, {spin:?} in Spin:\n{text}", question.0))
}

/// A smaller program that gets different answers to the question, and these.
fn shrink(mut program: Program, question: Question, scratch: &Scratch) -> (Program, Answer, Answer) {
    let both = |program: &Program| {
        let ours = our_answer(program, question.0, scratch);
        (ours, spin(program, &[question], scratch).remove(0))
    };
    let mut budget = 200;
    while budget > 0 {
        let smaller = program.shrunk().into_iter().find(|smaller| {
            budget -= 1;
            let (ours, spin) = both(smaller);
            budget > 0 && differ(&ours, &spin)
        });
        match smaller {
            Some(smaller) => program = smaller,
            None => break,
        }
    }
    let (ours, spin) = both(&program);
    (program, ours, spin)
}

#[test]
fn random_programs_are_as_in_spin() {
    let Some(n) = number("STUBBORN_SPIN") else { return };
    let seed = number("STUBBORN_SEED").unwrap_or(1);
    let tally = Mutex::new(Tally::default());
    let next = AtomicU64::new(seed);
    let work = || {
        let scratch = Scratch::new();
        loop {
            let case = next.fetch_add(1, Ordering::Relaxed);
            if case >= seed + n {
                break;
            }
            if case.is_multiple_of(50) {
                tally.lock().unwrap().print();
            }
            if let Some(text) = compare(case, &scratch, &tally) {
                eprintln!("{text}");
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let tally = tally.into_inner().unwrap();
    tally.print();
    assert_eq!(tally.differ, 0);
}
