//! Mutated models: whatever the text, there is a program or a list of errors, and no panic.

mod common;

use std::sync::Arc;

use base::Budget;
use check::{Exact, Stop, search};
use common::{corpus, read_text, shown};
use fastrand::Rng;
use model::{Fault, System as _};
use stubborn_promela::flow::flow;
use stubborn_promela::lower::{Code, Purpose};
use stubborn_promela::program::ProctypeId;

/// A sample with much of the language in it.
const SAMPLE: &str = include_str!("sample.pml");

/// How many mutants of each text are read.
fn cases(default: usize) -> usize {
    let factor = std::env::var("STUBBORN_CASES").ok().and_then(|value| value.parse().ok()).unwrap_or(1);
    default * factor
}

/// Cuts a text into words, blanks and signs.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for letter in text.chars() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        match pieces.last_mut() {
            Some(last) if is_word(letter) && last.ends_with(is_word) => last.push(letter),
            _ => pieces.push(letter.to_string()),
        }
    }
    pieces
}

fn mutate(pieces: &mut Vec<String>, words: &[String], rng: &mut Rng) {
    for _ in 0..rng.usize(1..6) {
        let at = rng.usize(0..pieces.len());
        match rng.u8(0..6) {
            0 => _ = pieces.remove(at),
            1 => pieces.insert(at, words[rng.usize(0..words.len())].clone()),
            2 => pieces[at] = words[rng.usize(0..words.len())].clone(),
            3 => {
                let other = rng.usize(0..pieces.len());
                pieces.swap(at, other);
            }
            4 => pieces.truncate(at.max(1)),
            _ => {
                let end = (at + rng.usize(1..30)).min(pieces.len());
                let copy: Vec<String> = pieces[at..end].to_vec();
                let to = rng.usize(0..pieces.len());
                pieces.splice(to..to, copy);
            }
        }
        if pieces.is_empty() {
            pieces.push("x".into());
        }
    }
}

/// Reads a text and, if that is possible, makes all graphs; whether it was.
fn try_read(text: &str) -> bool {
    match read_text(text).0 {
        Ok(program) => {
            for index in 0..program.proctypes.len() {
                assert!(flow(&program, ProctypeId::new(index)).is_ok());
            }
            true
        }
        Err(errors) => {
            assert!(errors.has_errors());
            false
        }
    }
}

#[test]
fn mutants_do_no_harm() {
    let mut rng = Rng::with_seed(20);
    let words: Vec<String> = pieces(SAMPLE).into_iter().filter(|piece| !piece.trim().is_empty()).collect();
    let original = pieces(SAMPLE);
    let (program, sources) = read_text(SAMPLE);
    assert!(program.is_ok(), "{}", program.map_or_else(|errors| shown(&errors, &sources), |_| String::new()));
    let (mut n_good, n) = (0, cases(4000));
    for _ in 0..n {
        let mut mutant = original.clone();
        mutate(&mut mutant, &words, &mut rng);
        n_good += usize::from(try_read(&mutant.concat()));
    }
    assert!((n / 50..n).contains(&n_good), "{n_good} of {n} are good");
}

#[test]
fn mutants_of_the_corpus_do_no_harm() {
    let mut rng = Rng::with_seed(21);
    for file in corpus() {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        let original = pieces(&text);
        for _ in 0..cases(20) {
            let mut mutant = original.clone();
            mutate(&mut mutant, &original, &mut rng);
            try_read(&mutant.concat());
        }
    }
}

/// Makes code of a text, if that is possible, and runs it for a while.
fn try_run(text: &str) -> bool {
    let Ok(program) = read_text(text).0 else { return false };
    let program = Arc::new(program);
    for purpose in [Purpose::Formulas, Purpose::Assertions] {
        let Ok(mut code) = Code::new(program.clone(), purpose, &mut Budget::unlimited()) else {
            return false;
        };
        for _ in 0..4 {
            let mut budget = Budget::unlimited();
            budget.max_states = 300;
            let mut store = Exact::new(code.system.width(), 1_000_000_000);
            match search::bfs::search(&*code.system, &mut store, &[], &mut budget).stop {
                Some(Stop::Fault(error, _)) => match code.extend(&error, &[], &mut budget) {
                    Ok(Some(more)) => code = more,
                    _ => {
                        let message = code.describe(&error);
                        // The analysis of ranges would be wrong.
                        let is_ours = matches!(error.fault, Fault::OutOfRange { .. });
                        assert!(!is_ours || code.can_extend(&error), "{message} in\n{text}");
                        break;
                    }
                },
                _ => break,
            }
        }
    }
    true
}

#[test]
fn mutants_run() {
    let mut rng = Rng::with_seed(23);
    let (mut n_run, mut n) = (0, 0);
    for file in corpus() {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        // Larger ones take long without showing more.
        if text.len() > 6000 {
            continue;
        }
        let original = pieces(&text);
        for _ in 0..cases(5) {
            let mut mutant = original.clone();
            mutate(&mut mutant, &original, &mut rng);
            n_run += usize::from(try_run(&mutant.concat()));
            n += 1;
        }
    }
    assert!(n == 0 || n_run > n / 20, "{n_run} of {n} run");
}

#[test]
fn noise_does_no_harm() {
    let mut rng = Rng::with_seed(22);
    let signs: Vec<char> = "{}[]()<>;:,.!?&|=+-*/%@#\"'\\~^_ax10\n é$".chars().collect();
    for _ in 0..cases(2000) {
        let length = rng.usize(0..60);
        let noise: String = (0..length).map(|_| signs[rng.usize(0..signs.len())]).collect();
        try_read(&noise);
        try_read(&format!("byte x; active proctype P() {{ {noise} }}"));
        try_read(&format!("ltl {{ {noise} }} active proctype P() {{ skip }}"));
    }
}
