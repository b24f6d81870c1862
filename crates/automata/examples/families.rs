//! How sizes and times grow along families of formulas:
//! `cargo run --release -p stubborn-automata --example families [NAME]` prints a line for the negation of each formula
//! of the families beside the project (`../shared/ltl/formulas/families.ltl`), or of those whose name begins
//! with NAME, and of one harder family, `pairs`: (G F a1 | F G b1) & … & (G F an | F G bn).
//!
//! `size` is the size of the negated formula. An automaton is given as states/edges, a time in
//! milliseconds; `high` and `medium` are levels of effort. Spot's figures are those of
//! `reference.csv`, where there are any: its TGBA, the time it took, the states of its BA.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example that prints a table")]

#[path = "../tests/common/csv.rs"]
mod csv;

use std::time::Instant;

use automata::{Effort, Placement, Tgba, TooLarge, translate, translate_ba};
use ltl::{Formula, Formulas};

struct Row {
    name: String,
    text: String,
    /// States and edges of its TGBA, and the time it took; the states of its BA.
    spot: [String; 4],
}

fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let Some(mut rows) = read() else { return };
    rows.extend((1..=7).map(pairs));
    println!(
        "{:26} {:>4} | {:>11} {:>7} | {:>11} {:>7} | {:>11} {:>7} | {:>11} {:>7} {:>4}",
        "name", "size", "medium TGBA", "ms", "high TGBA", "ms", "high BA", "ms", "Spot's TGBA", "ms", "BA"
    );
    for row in rows.iter().filter(|row| row.name.starts_with(&wanted)) {
        let mut formulas = Formulas::new();
        let parsed = ltl::parse(&mut formulas, &row.text, base::SourceId::new(0), 0);
        let formula = parsed.expect("the corpus is well formed").formula;
        let negation = formulas.not(formula);
        let size = formulas.size(negation);
        let columns = [
            timed(&formulas, |formulas| translate(formulas, negation, Effort::Medium)),
            timed(&formulas, |formulas| translate(formulas, negation, Effort::High)),
            timed(&formulas, |formulas| ba(formulas, negation)),
        ];
        let [states, edges, ms, ba_states] = &row.spot;
        let spot = if states.is_empty() { "–".to_owned() } else { format!("{states}/{edges}") };
        println!("{:26} {size:4} | {} | {spot:>11} {ms:>7} {ba_states:>4}", row.name, columns.join(" | "));
    }
}

fn ba(formulas: &mut Formulas, formula: Formula) -> Result<Tgba, TooLarge> {
    translate_ba(formulas, formula, Effort::High, Placement::States)
}

/// An automaton and how long it took to make, as text. Each begins with a fresh pool.
fn timed(formulas: &Formulas, make: impl FnOnce(&mut Formulas) -> Result<Tgba, TooLarge>) -> String {
    let mut formulas = formulas.clone();
    let start = Instant::now();
    let result = make(&mut formulas);
    let ms = start.elapsed().as_secs_f64() * 1e3;
    let shown = result.map_or_else(
        |reason| format!("{reason:?}"),
        |tgba| format!("{}/{}", tgba.n_states(), tgba.n_edges()),
    );
    format!("{shown:>11} {ms:7.1}")
}

/// The n-th formula of a family that Spot's figures do not contain; negated, as all of them.
fn pairs(n: usize) -> Row {
    let pairs: Vec<String> = (1..=n).map(|i| format!("(G F a{i} | F G b{i})")).collect();
    let text = format!("!({})", pairs.join(" & "));
    Row { name: format!("pairs={n}"), text, spot: std::array::from_fn(|_| String::new()) }
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
    let (source, name, formula) = (column("source")?, column("name")?, column("formula")?);
    let figures = ["neg_tgba_states", "neg_tgba_edges", "neg_tgba_warm_ms", "neg_ba_states"].map(column);
    let row = |fields: Vec<String>| Row {
        name: fields[name].clone(),
        text: fields[formula].clone(),
        spot: figures.map(|place| place.map_or_else(String::new, |place| fields[place].clone())),
    };
    Some(lines.filter(|fields| fields[source] == "families").map(row).collect())
}
