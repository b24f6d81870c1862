//! Models in Promela: verdicts and figures are Spin's.
//!
//! `STUBBORN_SPIN=500 cargo test -p stubborn-cli --test cli promela` compares 500 random programs with Spin
//! itself: their numbers of states, assertions, end states, a formula, fairness and progress. It needs
//! `spin` and `gcc`. `STUBBORN_SEED` is the number of the first program; one that differs is shrunk.
#![expect(clippy::print_stderr, reason = "tests say what they skip and what they found")]

use std::process::Command;

use fastrand::Rng;
use serde_json::Value;

use crate::promela_programs::Program;
use crate::{Scratch, run};

/// Larger state spaces are not compared.
const MAX_STATES: u64 = 20_000;

/// What one of the two says about a program: questions and answers.
type Answers = Vec<(&'static str, String)>;

/// How `pan` is made and run for each question.
const QUESTIONS: [(&str, &str, &str); 7] = [
    ("states", "-DNOREDUCE -DSAFETY -DNOCLAIM -DNOCOMP", "-A -E -c0"),
    ("assertions", "-DNOREDUCE -DSAFETY -DNOCLAIM -DNOCOMP", "-E"),
    ("end-states", "-DNOREDUCE -DSAFETY -DNOCLAIM -DNOCOMP", "-A"),
    ("formula", "-DNOREDUCE", "-E -a -N f"),
    ("fair formula", "-DNOREDUCE -DNFAIR=3", "-E -a -f -N f"),
    ("progress", "-DNOREDUCE -DNP", "-A -E -l"),
    ("fair progress", "-DNOREDUCE -DNP -DNFAIR=3", "-A -E -l -f"),
];

/// What Spin says; nothing if it does not take the program, or it goes wrong in another way.
fn spin(program: &Program, questions: &[&str], scratch: &Scratch) -> Option<Answers> {
    let folder = scratch.path("");
    let mut answers = Answers::new();
    let mut made = String::new();
    for (question, defines, options) in QUESTIONS {
        if !questions.contains(&question) {
            continue;
        }
        let mut text = text_for(program, question);
        if !defines.contains("NOCLAIM") {
            // Spin counts the claim.
            text = text.replace("_nr_pr", "(_nr_pr - 1)");
        }
        let wanted = format!("{text} {defines}");
        if made != wanted {
            scratch.file("model.pml", text);
            _ = std::fs::remove_file(folder.join("pan.c"));
            _ = Command::new("spin")
                .args(["-a", "-o1", "-o2", "-o3", "model.pml"])
                .current_dir(&folder)
                .output()
                .ok()?;
            if !folder.join("pan.c").exists() {
                return None;
            }
            let compiled = Command::new("gcc")
                .args(["-w", "-O0"])
                .args(defines.split(' '))
                .args(["-o", "pan", "pan.c"])
                .current_dir(&folder)
                .output()
                .ok()?;
            if !compiled.status.success() {
                return None;
            }
            made = wanted;
        }
        let output = Command::new(folder.join("pan"))
            .args(options.split(' '))
            .args(["-m100000", "-n", "-w18"])
            .current_dir(&folder)
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let states = text.lines().find(|line| line.contains("states, stored"));
        // Spin refuses some programs only now: those with a loop of one `skip`, for example.
        let states = states?.split_whitespace().next()?.to_owned();
        let error = text.lines().find(|line| line.starts_with("pan:1: "));
        let answer = match error {
            None if question == "states" => states,
            None => "holds".to_owned(),
            Some(_) if question == "states" => error.unwrap_or_default().to_owned(),
            Some(_) => "violated".to_owned(),
        };
        answers.push((question, answer));
    }
    Some(answers)
}

/// The text of a program for a question. Where a formula is asked about, assertions and accept labels, which
/// Spin looks at, too, must not matter. Spin does not find all fair runs that end, so none does; nor those in
/// which `provided` or a priority keeps a process from going on.
fn text_for(program: &Program, question: &str) -> String {
    let is_about_runs = question.contains("formula") || question.contains("progress");
    let mut text = program.text(question.contains("formula"), !is_about_runs);
    if question.contains("formula") {
        text = text.replace("assert(", "assert(true || ").replace("accept_", "not_");
    }
    if question.contains("fair") {
        text = Program::without_precedence(&text);
        text = format!("{text}\nbool tick; active proctype Tick() {{ do :: tick = !tick od }}\n");
    }
    text
}

/// What we say.
fn ours(program: &Program, questions: &[&str], scratch: &Scratch) -> Answers {
    let mut answers = Answers::new();
    for (question, ..) in QUESTIONS.iter().filter(|(question, ..)| questions.contains(question)) {
        let model = scratch.file("ours.pml", text_for(program, question));
        let arguments = match *question {
            "states" => format!("explore {model} --json --quiet --max-states {MAX_STATES}"),
            "assertions" => format!("check {model} --json --quiet --property assertions"),
            "end-states" => format!("check {model} --json --quiet --property end-states"),
            "formula" => format!("check {model} --json --quiet --property f"),
            "fair formula" => format!("check {model} --json --quiet --property f --fair weak"),
            "progress" => format!("check {model} --json --quiet --nonprogress"),
            _ => format!("check {model} --json --quiet --nonprogress --fair weak"),
        };
        let finished = run(&arguments);
        let Ok(json) = serde_json::from_str::<Value>(&finished.stdout) else {
            answers.push((question, format!("{} {}", finished.stdout, finished.stderr)));
            continue;
        };
        let answer = match *question {
            "states" => json["states"].to_string(),
            _ => json["results"][0]["verdict"].as_str().unwrap_or(&finished.stdout).to_owned(),
        };
        answers.push((question, answer));
    }
    answers
}

/// The questions that get different answers.
fn differences(
    program: &Program,
    questions: &[&'static str],
    scratch: &Scratch,
) -> Vec<(&'static str, String)> {
    let our_answers = ours(program, questions, scratch);
    let Some(answers) = spin(program, questions, scratch) else { return Vec::new() };
    let pairs = our_answers.iter().zip(&answers).filter(|(ours, spin)| ours != spin);
    pairs.map(|(ours, spin)| (ours.0, format!("{} here, {} in Spin", ours.1, spin.1))).collect()
}

#[test]
fn random_programs_are_as_in_spin() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let Some(n) = number("STUBBORN_SPIN") else { return };
    let seed = number("STUBBORN_SEED").unwrap_or(1);
    let all: Vec<&'static str> = QUESTIONS.iter().map(|(question, ..)| *question).collect();
    let scratch = Scratch::new();
    let (mut compared, mut states) = (0, 0);
    let mut bad = 0;
    for case in seed..seed + n {
        let mut program = Program::random(&mut Rng::with_seed(case));
        let first = ours(&program, &["states"], &scratch);
        let Ok(n_states) = first[0].1.parse::<u64>() else {
            eprintln!("case {case}: {} in\n{}", first[0].1, program.text(true, true));
            bad += 1;
            continue;
        };
        if n_states >= MAX_STATES {
            continue;
        }
        compared += 1;
        states += n_states;
        let mut found = differences(&program, &all, &scratch);
        if found.is_empty() {
            continue;
        }
        bad += 1;
        let question = found[0].0;
        let kind = [question];
        let mut budget = 60;
        while budget > 0 {
            let smaller = program.shrunk().into_iter().find(|smaller| {
                budget -= 1;
                budget > 0 && differences(smaller, &kind, &scratch).iter().any(|(what, _)| *what == question)
            });
            match smaller {
                Some(smaller) => program = smaller,
                None => break,
            }
        }
        if question != "error" {
            found = differences(&program, &kind, &scratch);
        }
        eprintln!("case {case}: {found:?} in\n{}", program.text(true, true));
    }
    eprintln!("{compared} programs compared, {states} states, {bad} differ");
    assert_eq!(bad, 0);
}

/// The corpus beside the project.
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/promela/dev");

/// Where Spin is wrong, or says something else than yes or no: model, what was asked, why.
const SPIN_IS_WRONG: [(&str, &str, &str); 2] = [
    (
        "gagansh717_starvation_freedom",
        "acceptance-fair:p1",
        "Spin reads `_last==1` in the formula as `333==1`, which is never true: see the never claim it makes",
    ),
    (
        "ubinixwaru_test",
        "safety-endstates-only",
        "a message has too few fields: Spin stops there, and we say so under `assertions`",
    ),
];

/// What `expected.json` says, and how we are asked the same.
fn question(key: &str) -> Option<String> {
    let (kind, claim) = key.split_once(':').unwrap_or((key, ""));
    Some(match kind {
        "safety-assertions-only" => "--property assertions".to_owned(),
        "safety-endstates-only" => "--property end-states".to_owned(),
        "acceptance" => format!("--property {claim}"),
        "acceptance-fair" => format!("--property {claim} --fair weak"),
        "acceptance-labels" => "--acceptance".to_owned(),
        "acceptance-labels-fair" => "--acceptance --fair weak".to_owned(),
        "non-progress" => "--nonprogress".to_owned(),
        "non-progress-fair" => "--nonprogress --fair weak".to_owned(),
        _ => return None,
    })
}

/// Verdicts are Spin's. By default of small models; `STUBBORN_CASES=100` takes those with up to a hundred
/// times as many states, which needs a release build.
#[test]
fn verdicts_are_those_of_spin() {
    let Ok(folders) = std::fs::read_dir(CORPUS) else {
        eprintln!("SKIPPED: the corpus {CORPUS} does not exist");
        return;
    };
    let factor = std::env::var("STUBBORN_CASES").ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(1);
    let mut names: Vec<String> =
        folders.map(|folder| folder.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let (mut n, mut wrong) = (0, Vec::new());
    for name in names {
        let Ok(text) = std::fs::read_to_string(format!("{CORPUS}/{name}/expected.json")) else { continue };
        let expected: Value = serde_json::from_str(&text).unwrap();
        let states = expected["full_statespace"]["o1o2o3"]["states"].as_u64();
        if states.is_none_or(|states| states > 20_000 * factor) {
            continue;
        }
        for (key, said) in expected["verdicts"].as_object().unwrap() {
            let Some(arguments) = question(key) else { continue };
            let spin = match said["verdict"].as_str() {
                Some("none") => "holds",
                Some("timeout" | "incomplete") | None => continue,
                Some(_) => "violated",
            };
            let is_known = |(model, what, _): &&(&str, &str, &str)| *model == name && what == key;
            let known = SPIN_IS_WRONG.iter().find(is_known);
            // Fairness and reduction do not go together.
            let reductions: &[&str] = if key.contains("-fair") { &["auto"] } else { &["none", "stubborn"] };
            for reduction in reductions {
                let finished = run(&format!(
                    "check {CORPUS}/{name}/model.pml --json --quiet {arguments} --reduce {reduction}"
                ));
                let ours = finished.json()["results"][0]["verdict"].as_str().unwrap_or_default().to_owned();
                n += 1;
                if (ours != spin) != known.is_some() {
                    wrong.push(format!("{name} {key} {reduction}: {ours}, {spin} in Spin"));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(n > 200, "{n} verdicts were compared");
}
