//! Makes testing automata for the negation of every formula without `X` of the corpus beside the project,
//! and compares them with those of Spot's `ltl2tgta`:
//! `cargo run --release -p stubborn-automata --example testing_corpus [low|medium|high] [-v]`.
//!
//! Spot's figures contain one artificial initial state, which is subtracted.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example that prints a table")]

#[path = "../tests/common/csv.rs"]
mod csv;

use std::time::{Duration, Instant};

use automata::by_change::{Limits, to_ta, to_tgta, translate_ta, translate_tgta};
use automata::{Effort, Placement, translate, translate_ba};
use ltl::{Formula, Formulas};

/// One formula, with Spot's numbers of states.
struct Row {
    name: String,
    text: String,
    spot: [usize; 2],
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let effort = match arguments.first().map(String::as_str) {
        Some("low") => Effort::Low,
        Some("medium") => Effort::Medium,
        _ => Effort::High,
    };
    let verbose = arguments.iter().any(|argument| argument == "-v");
    let Some(rows) = read() else { return };
    let limits = Limits::default();
    report("TA of 003", &rows, 0, verbose, |formulas, formula| {
        let ba = translate_ba(formulas, formula, effort, Placement::States).ok()?;
        to_ta(&ba, &limits).ok().map(|ta| (ta.n_states(), ta.n_steps()))
    });
    report("TA, reduced", &rows, 0, verbose, |formulas, formula| {
        translate_ta(formulas, formula, effort, &limits).ok().map(|ta| (ta.n_states(), ta.n_steps()))
    });
    report("TGTA of 003", &rows, 1, verbose, |formulas, formula| {
        let tgba = translate(formulas, formula, effort).ok()?;
        to_tgta(&tgba, &limits).ok().map(|tgta| (tgta.n_states(), tgta.n_steps()))
    });
    report("TGTA, reduced", &rows, 1, verbose, |formulas, formula| {
        translate_tgta(formulas, formula, effort, &limits).ok().map(|tgta| (tgta.n_states(), tgta.n_steps()))
    });
}

fn read() -> Option<Vec<Row>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/ltl/reference.csv");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("the corpus {path} does not exist");
        return None;
    };
    let mut lines = text.lines().map(csv::fields);
    let header = lines.next()?;
    let column = |name: &str| header.iter().position(|column| column == name);
    let places = ["row", "source", "formula", "neg_ta_states", "neg_tgta_states"].map(column);
    let [Some(number), Some(source), Some(formula), Some(ta), Some(tgta)] = places else { return None };
    let row = |fields: Vec<String>| {
        let states = |place: usize| fields[place].parse::<usize>().ok().map(|states| states - 1);
        let spot = [states(ta)?, states(tgta)?];
        let name = format!("row {} ({})", fields[number], fields[source]);
        Some(Row { name, text: fields[formula].clone(), spot })
    };
    Some(lines.filter_map(row).collect())
}

fn report(
    title: &str,
    rows: &[Row],
    which: usize,
    verbose: bool,
    make: impl Fn(&mut Formulas, Formula) -> Option<(usize, usize)>,
) {
    let (mut n, mut ours, mut spots, mut steps, mut larger, mut smaller) = (0, 0, 0, 0, 0, 0);
    let mut slowest = (Duration::ZERO, String::new());
    let mut differences: Vec<(i64, String)> = vec![];
    let start = Instant::now();
    for row in rows {
        let mut formulas = Formulas::new();
        let parsed = ltl::parse(&mut formulas, &row.text, base::SourceId::new(0), 0);
        let formula = parsed.expect("the corpus is well formed").formula;
        if !formulas.classes(formula).is_next_free() {
            continue;
        }
        let negation = formulas.not(formula);
        let begin = Instant::now();
        let result = make(&mut formulas, negation);
        let time = begin.elapsed();
        let name = format!("{} {:.90}", row.name, row.text);
        slowest = slowest.max((time, name.clone()));
        let Some((n_states, n_steps)) = result else {
            println!("gave up: {name}");
            continue;
        };
        let spot = row.spot[which];
        (n, ours, spots, steps) = (n + 1, ours + n_states, spots + spot, steps + n_steps);
        larger += usize::from(n_states > spot);
        smaller += usize::from(n_states < spot);
        differences.push((n_states as i64 - spot as i64, format!("{n_states} for Spot's {spot}: {name}")));
    }
    println!(
        "{title}: {n} formulas, {ours} states (Spot {spots}), {steps} steps; larger {larger}, smaller {smaller}"
    );
    let ms = start.elapsed().as_millis();
    println!("  {ms} ms in all, the slowest {:.3} s: {}", slowest.0.as_secs_f64(), slowest.1);
    differences.sort_by_key(|entry| std::cmp::Reverse(entry.0));
    let shown = if verbose { 40 } else { 5 };
    for (difference, name) in differences.iter().take(shown).filter(|entry| entry.0 > 0) {
        println!("  {difference:+}  {name}");
    }
}
