//! Automata for the negations of the formulas of the corpus beside the project, against Spot's:
//! `cargo bench -p stubborn-benches --bench corpus [-- SOURCE]`, where SOURCE is one of the corpus' sources, such as
//! `families`, whose formulas are then shown one by one.
//!
//! An automaton is given by its states; `waiting` is the waiting form, `ta` and `tgta` are the smallest testing
//! automata, all only where a formula does not contain `X`. A dash stands for one that is too large.

#![allow(clippy::print_stdout, reason = "a benchmark that prints a table")]

use std::collections::BTreeMap;
use std::time::Instant;

use automata::by_change::{Limits, translate_ta, translate_tgta};
use automata::waiting::waiting_form;
use automata::{Effort, Placement, translate, translate_ba};
use base::Budget;
use generators::corpus::{self, Row};
use ltl::Formulas;

const COLUMNS: [&str; 8] = ["tgba", "Spot's", "ba", "Spot's", "waiting", "ta", "tgta", "ms"];

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let Some(rows) = corpus::read() else { return };
    let mut totals: BTreeMap<&str, [usize; 8]> = BTreeMap::new();
    println!("{:24} {}", "", COLUMNS.map(|column| format!("{column:>8}")).concat());
    for row in rows.iter().filter(|row| wanted.as_ref().is_none_or(|source| row["source"] == *source)) {
        let cells = cells(row);
        if wanted.is_some() {
            let show = |cell: &Option<usize>| cell.map_or("–".to_owned(), |states| states.to_string());
            println!("{:24} {}", row["name"], cells.map(|cell| format!("{:>8}", show(&cell))).concat());
        }
        let total = totals.entry(&row["source"]).or_default();
        // Both are counted only if both are there.
        for (index, cell) in cells.iter().enumerate() {
            let partner = if index < 4 { cells[index ^ 1] } else { *cell };
            total[index] += cell.filter(|_| partner.is_some()).unwrap_or(0);
        }
    }
    for (source, total) in &totals {
        println!("{source:24} {}", total.map(|cell| format!("{cell:>8}")).concat());
    }
}

/// The columns of one formula.
fn cells(row: &Row) -> [Option<usize>; 8] {
    let budget = &mut Budget::unlimited();
    let mut formulas = Formulas::new();
    let parsed = ltl::parse(&mut formulas, &row["formula"], base::SourceId::new(0), 0);
    let negation = formulas.not(parsed.expect("the corpus is well formed").formula);
    let start = Instant::now();
    let tgba = translate(&mut formulas, negation, Effort::High, budget).ok();
    let ms = start.elapsed().as_millis() as usize;
    let ba = translate_ba(&mut formulas, negation, Effort::High, Placement::States, budget).ok();
    let is_free = formulas.classes(negation).is_next_free();
    let waiting = tgba.as_ref().filter(|_| is_free).and_then(|tgba| waiting_form(tgba, 100_000, budget).ok());
    let limits = Limits::default();
    let ta = translate_ta(&mut formulas, negation, Effort::High, &limits, budget).ok();
    let tgta = translate_tgta(&mut formulas, negation, Effort::High, &limits, budget).ok();
    let spot = |column: &str| row[column].parse().ok();
    [
        tgba.map(|tgba| tgba.n_states()),
        spot("neg_tgba_states"),
        ba.map(|ba| ba.n_states()),
        spot("neg_ba_states"),
        waiting.map(|waiting| waiting.n_states()),
        ta.map(|ta| ta.n_states()),
        tgta.map(|tgta| tgta.n_states()),
        Some(ms),
    ]
}
