//! Random programs, with and without reduction.
//!
//! `STUBBORN_CASES=100 cargo test --release -p stubborn-cli --test cli with_reduction` takes a hundred times
//! as many programs; `STUBBORN_SEED` is the number of the first.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::Value;

use super::number;
use crate::promela_programs::{Parts, Program};
use crate::{Scratch, run};

/// What is asked, and under which reductions.
const QUESTIONS: [(&str, &[&str]); 10] = [
    (ALL_ERRORS, &["auto"]),
    ("--property assertions", &["auto", "stubborn"]),
    ("--property end-states", &["auto", "stubborn"]),
    ("--property f", &["auto", "stubborn", "closure"]),
    ("--nonprogress", &["auto", "stubborn"]),
    ("--acceptance", &["auto", "stubborn"]),
    ("--property f --fair weak", &["auto"]),
    ("--property f --fair strong", &["auto"]),
    ("--nonprogress --fair weak", &["auto"]),
    ("--acceptance --fair weak", &["auto"]),
];

/// Also what is never executed.
const ALL_ERRORS: &str = "--property assertions --property end-states --errors all";

/// Larger products are not compared.
const MAX_STATES: u64 = 20_000;

fn verdict(text: &str, question: &str, reduction: &str, scratch: &Scratch) -> String {
    let model = scratch.file("model.pml", text);
    let statics = if reduction == "none" { "--static none" } else { "" };
    let finished = run(&format!(
        "check {model} --json --quiet {question} --reduce {reduction} {statics} --max-states {MAX_STATES}"
    ));
    let said = finished.json();
    if question == ALL_ERRORS && said["errors"].is_null() {
        return all_errors(&said);
    }
    match said["results"][0]["verdict"].as_str() {
        Some(verdict) => verdict.to_owned(),
        None => said["errors"][0]["message"].to_string(),
    }
}

/// All errors, and what is never executed. Behind what is more than a broken promise nobody looks any further.
fn all_errors(said: &Value) -> String {
    let results = said["results"].as_array().expect("a list");
    let is_over = |result: &Value| {
        let reason = result["reason"].as_str().unwrap_or_default();
        let is_assertion = reason.is_empty() || reason.starts_with("assertion violated");
        result["verdict"] == "unknown" || !is_assertion
    };
    if results.iter().any(is_over) {
        return "unknown".to_owned();
    }
    let mut errors: Vec<String> =
        results.iter().map(|result| format!("{}: {}", result["property"], result["reason"])).collect();
    errors.sort();
    format!("{} never executed: {}", errors.join(", "), said["unreached"])
}

/// Whether this is no verdict, but why there is none.
fn is_refused(answer: &str) -> bool {
    !["holds", "violated", "unknown"].contains(&answer) && !answer.contains("never executed")
}

/// How the question was answered, without and with each reduction, or which answers differ.
fn compare(program: &Program, question: usize, scratch: &Scratch) -> Result<Vec<String>, String> {
    let (question, reductions) = QUESTIONS[question];
    let text = program.text(Parts::ALL);
    let full = verdict(&text, question, "none", scratch);
    if is_refused(&full) {
        return Err(format!("{question}: {full}"));
    }
    let mut answers = Vec::new();
    for reduction in reductions {
        let reduced = verdict(&text, question, reduction, scratch);
        if *reduction != "auto" && is_refused(&reduced) {
            answers.push(format!("refused with {reduction}"));
        } else if full != "unknown" && reduced != full {
            return Err(format!("{question}: {full}, with {reduction}: {reduced}"));
        }
    }
    // All errors differ from program to program.
    answers.push(if question == ALL_ERRORS && full != "unknown" { "compared".to_owned() } else { full });
    Ok(answers)
}

#[test]
fn answers_with_reduction_are_those_without() {
    let n = 25 * number("STUBBORN_CASES").unwrap_or(1);
    let seed = number("STUBBORN_SEED").unwrap_or(1);
    let scratch = Scratch::new();
    let mut tally: BTreeMap<(&str, String), u64> = BTreeMap::new();
    let mut wrong = 0;
    for case in seed..seed + n {
        for (question, (name, _)) in QUESTIONS.iter().enumerate() {
            let mut program = Program::random(&mut Rng::with_seed(case));
            match compare(&program, question, &scratch) {
                Ok(answers) => {
                    answers.into_iter().for_each(|answer| *tally.entry((name, answer)).or_default() += 1);
                }
                Err(why) => {
                    wrong += 1;
                    let differs = |less: &Program| compare(less, question, &scratch).as_ref() == Err(&why);
                    while let Some(less) = program.shrunk().into_iter().find(differs) {
                        program = less;
                    }
                    eprintln!("case {case}: {why} in\n{}", program.text(Parts::ALL));
                }
            }
        }
    }
    for ((question, answer), n) in tally {
        eprintln!("{question}: {n} times {answer}");
    }
    assert_eq!(wrong, 0);
}
