//! Translates the negation of every formula of the corpus beside the project, and compares the
//! automata with Spot's: `cargo run --release -p stubborn-automata --example corpus [low|medium|high] [-v]`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example that prints a table")]

#[path = "../tests/common/csv.rs"]
mod csv;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use automata::{Effort, Placement, Tgba, TooLarge, translate, translate_ba};
use ltl::{Formula, Formulas};

/// One formula, with Spot's figures; none where Spot gave up.
struct Row {
    number: String,
    source: String,
    text: String,
    spot: [Option<usize>; 2],
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let effort = match arguments.first().map(String::as_str) {
        Some("low") => Effort::Low,
        Some("medium") => Effort::Medium,
        _ => Effort::High,
    };
    let Some(rows) = read() else { return };
    let verbose = arguments.iter().any(|argument| argument == "-v");
    report("TGBA", &rows, 0, verbose, |formulas, formula| translate(formulas, formula, effort));
    report("BA", &rows, 1, verbose, |formulas, formula| {
        translate_ba(formulas, formula, effort, Placement::States)
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
    let places = ["row", "source", "formula", "neg_tgba_states", "neg_ba_states"].map(column);
    let [Some(number), Some(source), Some(formula), Some(tgba), Some(ba)] = places else { return None };
    let row = |fields: Vec<String>| Row {
        number: fields[number].clone(),
        source: fields[source].clone(),
        text: fields[formula].clone(),
        spot: [fields[tgba].parse().ok(), fields[ba].parse().ok()],
    };
    Some(lines.map(row).collect())
}

#[derive(Default)]
struct Total {
    formulas: usize,
    ours: usize,
    spot: usize,
    time: Duration,
}

fn report(
    title: &str,
    rows: &[Row],
    which: usize,
    verbose: bool,
    make: impl Fn(&mut Formulas, Formula) -> Result<Tgba, TooLarge>,
) {
    let mut totals: BTreeMap<&str, Total> = BTreeMap::new();
    let mut worst: Vec<(f64, String)> = vec![];
    let mut slowest: Vec<(Duration, String)> = vec![];
    for row in rows {
        let mut formulas = Formulas::new();
        let parsed = ltl::parse(&mut formulas, &row.text, base::SourceId::new(0), 0);
        let formula = parsed.expect("the corpus is well formed").formula;
        let negation = formulas.not(formula);
        let start = Instant::now();
        let result = make(&mut formulas, negation);
        let time = start.elapsed();
        let name = format!("row {} ({}) {:.90}", row.number, row.source, row.text);
        slowest.push((time, name.clone()));
        match (result, row.spot[which]) {
            (Ok(tgba), Some(spot)) => {
                for key in [&row.source, "total"] {
                    let total = totals.entry(key).or_default();
                    total.formulas += 1;
                    total.ours += tgba.n_states();
                    total.spot += spot;
                    total.time += time;
                }
                if tgba.n_states() != spot {
                    let ratio = tgba.n_states() as f64 / spot as f64;
                    worst.push((ratio, format!("{} for Spot's {spot}: {name}", tgba.n_states())));
                }
            }
            (Ok(tgba), None) => println!("Spot gave up, we have {} states: {name}", tgba.n_states()),
            (Err(reason), _) => println!("gave up, since {reason}: {name}"),
        }
    }
    println!("{title:12} {:>8} {:>8} {:>8} {:>8}", "formulas", "ours", "Spot's", "ms");
    for (source, total) in &totals {
        let ms = total.time.as_millis();
        println!("{source:12} {:8} {:8} {:8} {ms:8}", total.formulas, total.ours, total.spot);
    }
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    slowest.sort_by_key(|entry| std::cmp::Reverse(entry.0));
    let (n_worse, n_better) = (
        worst.iter().filter(|entry| entry.0 > 1.0).count(),
        worst.iter().filter(|entry| entry.0 < 1.0).count(),
    );
    println!("larger than Spot's: {n_worse} automata, smaller: {n_better}; the worst ratios:");
    for (ratio, name) in worst.iter().filter(|entry| entry.0 > 1.0).take(if verbose { 1000 } else { 8 }) {
        println!("  {ratio:.2}  {name}");
    }
    println!("the slowest:");
    slowest.iter().take(4).for_each(|(time, name)| println!("  {:.3} s  {name}", time.as_secs_f64()));
}
