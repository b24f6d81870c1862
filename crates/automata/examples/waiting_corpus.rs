//! How much larger waiting forms are: makes them for the negation of every formula without `X` of the corpus
//! beside the project: `cargo run --release -p stubborn-automata --example waiting_corpus [low|medium|high]`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example that prints a table")]

#[path = "../tests/common/csv.rs"]
mod csv;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use automata::waiting::waiting_form;
use automata::{Effort, Placement, translate, translate_ba};
use ltl::Formulas;

/// Larger waiting forms are not made.
const MAX_STATES: usize = 10_000;

#[derive(Default)]
struct Total {
    formulas: usize,
    /// Of the TGBA, its waiting form, the BA, its waiting form.
    states: [usize; 4],
    edges: [usize; 4],
    /// Making waiting forms.
    time: Duration,
}

fn main() {
    let effort = match std::env::args().nth(1).as_deref() {
        Some("low") => Effort::Low,
        Some("medium") => Effort::Medium,
        _ => Effort::High,
    };
    let Some(rows) = read() else { return };
    let mut totals: BTreeMap<&str, Total> = BTreeMap::new();
    let mut largest: Vec<(usize, String)> = vec![];
    for (source, text) in &rows {
        let mut formulas = Formulas::new();
        let parsed = ltl::parse(&mut formulas, text, base::SourceId::new(0), 0);
        let formula = parsed.expect("the corpus is well formed").formula;
        if !formulas.classes(formula).is_next_free() {
            continue;
        }
        let negation = formulas.not(formula);
        let tgba = translate(&mut formulas, negation, effort);
        let ba = translate_ba(&mut formulas, negation, effort, Placement::States);
        let (Ok(tgba), Ok(ba)) = (tgba, ba) else {
            println!("not translated: {text:.90}");
            continue;
        };
        let start = Instant::now();
        let (Ok(from_tgba), Ok(from_ba)) = (waiting_form(&tgba, MAX_STATES), waiting_form(&ba, MAX_STATES))
        else {
            println!("more than {MAX_STATES} states: {text:.90}");
            continue;
        };
        let time = start.elapsed();
        let automata = [&tgba, &from_tgba, &ba, &from_ba];
        for key in [source.as_str(), "total"] {
            let total = totals.entry(key).or_default();
            total.formulas += 1;
            total.time += time;
            for (place, automaton) in automata.iter().enumerate() {
                total.states[place] += automaton.n_states();
                total.edges[place] += automaton.n_edges();
            }
        }
        let [before, after] = [tgba.n_states(), from_tgba.n_states()];
        if after > before {
            largest.push((after - before, format!("{after} instead of {before}: ({source}) {text:.90}")));
        }
    }
    println!(
        "{:12} {:>8} {:>14} {:>14} {:>14} {:>14} {:>6}",
        "states/edges", "formulas", "TGBA", "waiting", "BA", "waiting", "ms"
    );
    for (source, total) in &totals {
        let [tgba, from_tgba, ba, from_ba] =
            [0, 1, 2, 3].map(|place| format!("{}/{}", total.states[place], total.edges[place]));
        let ms = total.time.as_millis();
        println!("{source:12} {:8} {tgba:>14} {from_tgba:>14} {ba:>14} {from_ba:>14} {ms:6}", total.formulas);
    }
    println!("{} waiting forms of TGBA have more states than the TGBA:", largest.len());
    largest.sort_by_key(|entry| std::cmp::Reverse(entry.0));
    largest.iter().take(12).for_each(|(_, name)| println!("  {name}"));
}

/// The source and the text of each formula.
fn read() -> Option<Vec<(String, String)>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/ltl/reference.csv");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("the corpus {path} does not exist");
        return None;
    };
    let mut lines = text.lines().map(csv::fields);
    let header = lines.next()?;
    let column = |name: &str| header.iter().position(|column| column == name);
    let (source, formula) = (column("source")?, column("formula")?);
    Some(lines.map(|fields| (fields[source].clone(), fields[formula].clone())).collect())
}
