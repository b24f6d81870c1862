//! Formulas by every method side by side: the table of the note on guided reduction, on its families
//! and on as many that it does not have.
//!
//! `cargo bench -p stubborn-benches --bench formulas` (about two minutes; `-- --quick` for a slice that
//! takes seconds, `-- --rows` to see every row)
//!
//! A row is a formula about a system of some size. Each method is compared with the full product with a
//! TGBA: states, and seconds from the TGBA of the negated formula to the verdict, so that the time to
//! make a testing automaton counts. Tables show geometric means of these ratios: .1 is a tenth.
//!
//! Where a formula holds, the whole product is explored. Where it is violated, states are those up to
//! the first violation, for the full product as well: luck plays a part there, and rows that hold have
//! tables of their own. One pass is not always allowed; what it shows is of the rows where it is, and
//! it is left out where the best method is named.
#![allow(clippy::print_stdout)] // Printing is what a benchmark is for.

use base::Budget;
use check::decide::{Claim, Settings};
use check::method::{Method, ObserverKind, SearchKind};
use check::reduction::Method as Reduction;
use check::search::ProductStop;
use model::ActionSystem;
use stubborn_benches::families::{Class, FAMILIES, Family};
use stubborn_benches::{fastest, for_each_claim};

/// No search stores more states.
const MAX_STATES: u64 = 2_000_000;

/// Searches that take longer are not repeated.
const MAX_SECONDS_TO_REPEAT: f64 = 0.05;

/// Where the full product takes less, making tables and automata is most of the time.
const MIN_SECONDS: f64 = 0.01;

/// The methods; the first is what the others are compared with.
const METHODS: [(&str, Method); 12] = [
    ("none tgba", Method::new(ObserverKind::Tgba, SearchKind::Scc, None)),
    ("class. tgba", Method::new(ObserverKind::Tgba, SearchKind::Scc, Some(Reduction::Classical))),
    ("guided ta", Method::new(ObserverKind::Ta, SearchKind::TwoPass, Some(Reduction::Guided))),
    ("hybrid ta", Method::new(ObserverKind::Ta, SearchKind::TwoPass, Some(Reduction::Hybrid))),
    ("guided tgta", Method::new(ObserverKind::Tgta, SearchKind::Scc, Some(Reduction::Guided))),
    ("hybrid tgta", Method::new(ObserverKind::Tgta, SearchKind::Scc, Some(Reduction::Hybrid))),
    ("hyb lazy ta", Method::new(ObserverKind::LazyTa, SearchKind::TwoPass, Some(Reduction::Hybrid))),
    ("hyb lazy tgta", Method::new(ObserverKind::LazyTgta, SearchKind::Scc, Some(Reduction::Hybrid))),
    ("rep. tgba", Method::new(ObserverKind::Tgba, SearchKind::Scc, Some(Reduction::Repaired))),
    ("rep lazy ta", Method::new(ObserverKind::LazyTa, SearchKind::TwoPass, Some(Reduction::Repaired))),
    ("rep lazy tgta", Method::new(ObserverKind::LazyTgta, SearchKind::Scc, Some(Reduction::Repaired))),
    ("one-pass ta", Method::new(ObserverKind::Ta, SearchKind::OnePass, Some(Reduction::Guided))),
];

/// The methods that every formula here allows; only these are compared for the best one.
const ALWAYS: std::ops::Range<usize> = 0..11;

/// A method that is so many times worse than the best of its row loses badly.
const BADLY: f64 = 3.0;

/// What a method did.
#[derive(Clone, Copy)]
struct Cell {
    states: f64,
    seconds: f64,
    search_seconds: f64,
    /// Whether the formula holds, if the search came to an end.
    holds: Option<bool>,
}

/// A formula about a system.
struct Row {
    family: &'static Family,
    /// Whether the size is one of the larger ones.
    is_larger: bool,
    class: Class,
    /// Family, constants and formula.
    name: String,
    holds: bool,
    /// Per method, if it was allowed.
    cells: Vec<Option<Cell>>,
}

/// What is compared.
#[derive(Clone, Copy)]
enum Measure {
    States,
    /// From the TGBA to the verdict.
    Seconds,
    /// The same, with the automaton at hand.
    SearchSeconds,
}

impl Measure {
    fn of(self, cell: Cell) -> f64 {
        match self {
            Measure::States => cell.states,
            Measure::Seconds => cell.seconds,
            Measure::SearchSeconds => cell.search_seconds,
        }
    }
}

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let shows_rows = std::env::args().any(|argument| argument == "--rows");
    let mut rows = Vec::new();
    let mut n_different = 0;
    for family in &*FAMILIES {
        let sizes = if quick { &family.sizes[..1] } else { &family.sizes };
        let larger = if quick { &[] } else { &family.larger[..] };
        let all = sizes.iter().map(|size| (false, size)).chain(larger.iter().map(|size| (true, size)));
        for (is_larger, constants) in all {
            for row in rows_of(family, constants, is_larger) {
                n_different += usize::from(!is_consistent(&row));
                if shows_rows {
                    print_row(&row);
                }
                rows.push(row);
            }
        }
    }
    let n_holding = rows.iter().filter(|row| row.holds).count();
    println!("{} rows, {n_holding} of them hold", rows.len());
    for (is_larger, sizes) in [(false, ""), (true, "larger sizes, ")] {
        for (measure, name) in [
            (Measure::States, "states"),
            (Measure::Seconds, "seconds"),
            (Measure::SearchSeconds, "seconds of the search alone"),
        ] {
            let of_sizes = |row: &Row| row.is_larger == is_larger;
            table(&format!("{sizes}{name}, all rows"), &rows, measure, of_sizes);
            if !matches!(measure, Measure::SearchSeconds) {
                let title = format!("{sizes}{name}, rows that hold");
                table(&title, &rows, measure, |row| of_sizes(row) && row.holds);
                let title = format!("{sizes}{name}, rows that are violated");
                table(&title, &rows, measure, |row| of_sizes(row) && !row.holds);
            }
        }
    }
    let is_large = |row: &Row| row.cells[0].is_some_and(|cell| cell.seconds >= MIN_SECONDS);
    let title = format!("all sizes, seconds, rows where the full product takes {MIN_SECONDS} s or more");
    table(&title, &rows, Measure::Seconds, is_large);
    losses("states", &rows, Measure::States);
    losses("seconds", &rows, Measure::Seconds);
    assert_eq!(n_different, 0, "rows with different verdicts, which are shown above");
}

/// All formulas about one system.
fn rows_of(family: &'static Family, constants: &[(&str, i64)], is_larger: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    let formulas = family.formulas.iter().map(|(_, formula)| *formula);
    for_each_claim(family.model, constants, formulas, |index, system, new_claim| {
        let (class, formula) = family.formulas[index];
        let cells: Vec<Option<Cell>> =
            METHODS.iter().map(|(_, method)| measure(system, new_claim, *method)).collect();
        let holds = cells.iter().flatten().find_map(|cell| cell.holds).expect("some method ends");
        let name = format!("{} {constants:?} {formula}", family.name);
        rows.push(Row { family, is_larger, class, name, holds, cells });
    });
    rows
}

/// One method on one row, if it is allowed; the fastest of a few runs counts.
fn measure(system: &ActionSystem, new_claim: impl Fn() -> Claim, method: Method) -> Option<Cell> {
    let run = |claim: &mut Claim| {
        let mut budget = Budget::unlimited();
        budget.max_states = MAX_STATES;
        claim.search(system, method, &Settings::default(), &mut budget).ok()
    };
    let mut claim = new_claim();
    let (mut seconds, decision) = fastest(1, || run(&mut claim));
    let mut search_seconds = seconds;
    if seconds <= MAX_SECONDS_TO_REPEAT {
        search_seconds = fastest(2, || run(&mut claim)).0;
        seconds = seconds.min(fastest(2, || run(&mut new_claim())).0);
    }
    let outcome = decision?.outcome;
    let holds = match &outcome.stop {
        None => Some(true),
        Some(ProductStop::Found(_)) => Some(false),
        Some(_) => None,
    };
    Some(Cell { states: outcome.stats.states.max(1) as f64, seconds, search_seconds, holds })
}

/// Whether all methods say the same; if not, says so.
fn is_consistent(row: &Row) -> bool {
    let differs = |cell: &Cell| cell.holds.is_some_and(|holds| holds != row.holds);
    let consistent = !row.cells.iter().flatten().any(differs);
    if !consistent {
        println!("DIFFERENT VERDICTS:");
        print_row(row);
    }
    consistent
}

fn print_row(row: &Row) {
    println!("{} ({}{})", row.name, row.class.name(), if row.holds { "" } else { ", violated" });
    for ((name, _), cell) in METHODS.iter().zip(&row.cells) {
        let Some(Cell { states, seconds, search_seconds, holds }) = cell else { continue };
        let verdict = match holds {
            None => "unknown",
            Some(true) => "holds",
            Some(false) => "violated",
        };
        let (all, search) = (seconds * 1e3, search_seconds * 1e3);
        println!("    {name:<16}{states:>10}{all:>12.3} ms, search alone{search:>12.3} ms  {verdict}");
    }
}

/// The geometric mean, if there is anything.
fn mean(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut n) = (0.0, 0u32);
    for ratio in ratios {
        sum += ratio.ln();
        n += 1;
    }
    (n > 0).then(|| (sum / f64::from(n)).exp())
}

/// One line per family and per class, and what they amount to.
fn table(title: &str, rows: &[Row], measure: Measure, is_wanted: impl Fn(&Row) -> bool) {
    let rows: Vec<&Row> = rows.iter().filter(|row| is_wanted(row)).collect();
    if rows.is_empty() {
        return;
    }
    println!("\n{title}: ratios to the first method");
    print!("{:<18}{:>5}", "", "rows");
    METHODS[1..].iter().for_each(|(name, _)| print!("{name:>14}"));
    println!("  best");
    for family in &*FAMILIES {
        line(family.name, &rows, measure, |row| std::ptr::eq(row.family, family));
    }
    for class in Class::ALL {
        line(&format!("- {}", class.name()), &rows, measure, |row| row.class == class);
    }
    line("- in the note", &rows, measure, |row| row.family.is_in_note);
    line("- not in the note", &rows, measure, |row| !row.family.is_in_note);
    line("- all", &rows, measure, |_| true);
}

fn line(name: &str, rows: &[&Row], measure: Measure, is_wanted: impl Fn(&Row) -> bool) {
    let rows: Vec<&Row> = rows.iter().copied().filter(|row| is_wanted(row)).collect();
    let ratio = |row: &Row, method: usize| -> Option<f64> {
        Some(measure.of(row.cells[method]?) / measure.of(row.cells[0]?))
    };
    let means: Vec<Option<f64>> =
        (0..METHODS.len()).map(|method| mean(rows.iter().filter_map(|row| ratio(row, method)))).collect();
    let best = means[ALWAYS].iter().enumerate().filter_map(|(method, mean)| Some((method, (*mean)?)));
    let Some((best, _)) = best.min_by(|a, b| a.1.total_cmp(&b.1)) else { return };
    print!("{name:<18}{:>5}", rows.len());
    for mean in &means[1..] {
        let mean = mean.map_or("-".to_owned(), |mean| format!("{mean:.3}"));
        print!("{mean:>14}");
    }
    println!("  {}", METHODS[best].0);
}

/// How far each method is from the best of each row, and where it loses badly.
fn losses(title: &str, rows: &[Row], measure: Measure) {
    println!("\n{title}: ratios to the best of each row");
    println!("{:<16}{:>10}{:>10}{:>10}  worst row", "", "mean", format!("> {BADLY}"), "worst");
    for method in ALWAYS {
        let ratios = rows.iter().filter_map(|row| {
            let best = row.cells[ALWAYS].iter().flatten().map(|&cell| measure.of(cell)).reduce(f64::min)?;
            Some((measure.of(row.cells[method]?) / best, row))
        });
        let ratios: Vec<(f64, &Row)> = ratios.collect();
        let n_bad = ratios.iter().filter(|(ratio, _)| *ratio > BADLY).count();
        let worst = ratios.iter().max_by(|a, b| a.0.total_cmp(&b.0));
        let (Some(mean), Some(worst)) = (mean(ratios.iter().map(|(ratio, _)| *ratio)), worst) else {
            continue;
        };
        let (name, worst_row) = (METHODS[method].0, &worst.1.name);
        println!("{name:<16}{mean:>10.2}{n_bad:>10}{:>10.1}  {worst_row}", worst.0);
    }
}
