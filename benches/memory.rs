//! Peak heap per state of the product, all in: stores, path, observer, tables of the reduction, the run that
//! is shown at the end.
//!
//! `cargo bench -p stubborn-benches --bench memory` (about a minute; `-- --quick` for the smaller sizes,
//! `-- --rows` to see every row)
//!
//! A row is a formula about a system, searched by one method. The heap is counted by the allocator, from the
//! moment at which the system and the TGBA of the negated formula are there. From its peak the packed system
//! states are subtracted, each once; what is left, divided by the number of product states, is the overhead.
//! Rows with few states say more about fixed costs than about states, and are left out of the table, which
//! shows the largest overhead of each family.
#![allow(clippy::print_stdout)] // Printing is what a benchmark is for.

use std::time::Instant;

use base::Budget;
use check::decide::{Claim, Settings};
use check::method::{Method, ObserverKind, SearchKind};
use check::reduction::Method as Reduction;
use model::{ActionSystem, System as _};
use peak_alloc::PeakAlloc;
use stubborn_benches::families::FAMILIES;
use stubborn_benches::for_each_claim;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Rows with fewer states of the product are left out of the table.
const MIN_STATES: u64 = 30_000;

/// No search stores more states.
const MAX_STATES: u64 = 4_000_000;

const METHODS: [(&str, Method); 6] = [
    ("tgba", Method::new(ObserverKind::Tgba, SearchKind::Scc, None)),
    ("lazy ta", Method::new(ObserverKind::LazyTa, SearchKind::TwoPass, None)),
    ("lazy tgta", Method::new(ObserverKind::LazyTgta, SearchKind::Scc, None)),
    ("class. tgba", Method::new(ObserverKind::Tgba, SearchKind::Scc, Some(Reduction::Classical))),
    ("hyb lazy ta", Method::new(ObserverKind::LazyTa, SearchKind::TwoPass, Some(Reduction::Hybrid))),
    ("hyb lazy tgta", Method::new(ObserverKind::LazyTgta, SearchKind::Scc, Some(Reduction::Hybrid))),
];

/// What a search took.
struct Cell {
    states: u64,
    system_states: u64,
    depth: u64,
    /// Bytes per state of the product beyond the packed system states.
    overhead: f64,
    seconds: f64,
}

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let shows_rows = std::env::args().any(|argument| argument == "--rows");
    let mut worst = [0.0f64; METHODS.len()];
    let mut sums = [(0.0, 0u64); METHODS.len()];
    print!("{:<18}", "largest overhead");
    METHODS.iter().for_each(|(name, _)| print!("{name:>14}"));
    println!();
    for family in &*FAMILIES {
        let sizes = if quick { &family.sizes } else { &family.larger };
        let mut largest = [0.0f64; METHODS.len()];
        for constants in sizes {
            let formulas = family.formulas.iter().map(|(_, formula)| *formula);
            for_each_claim(family.model, constants, formulas, |row, system, new_claim| {
                let name = format!("{} {constants:?} {}", family.name, family.formulas[row].1);
                for (index, (method_name, method)) in METHODS.iter().enumerate() {
                    let Some(cell) = measure(system, &mut new_claim(), *method) else { continue };
                    if shows_rows {
                        print_row(&name, method_name, &cell);
                    }
                    if cell.states >= MIN_STATES {
                        largest[index] = largest[index].max(cell.overhead);
                        sums[index].0 += cell.overhead;
                        sums[index].1 += 1;
                    }
                }
            });
        }
        print_line(family.name, &largest);
        worst.iter_mut().zip(largest).for_each(|(worst, largest)| *worst = worst.max(largest));
    }
    print_line("- largest", &worst);
    print_line("- mean", &sums.map(|(sum, n)| sum / n.max(1) as f64));
}

/// One search, if it is allowed.
fn measure(system: &ActionSystem, claim: &mut Claim, method: Method) -> Option<Cell> {
    let mut budget = Budget::unlimited();
    budget.max_states = MAX_STATES;
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let start = Instant::now();
    let outcome = claim.search(system, method, &Settings::default(), &mut budget).ok()?.outcome;
    let seconds = start.elapsed().as_secs_f64();
    let heap = (HEAP.peak_usage() - before) as f64;
    let states = outcome.stats.states.max(1);
    let system_states = outcome.system_states?;
    let packed = (4 * system.width() as u64 * system_states) as f64;
    let overhead = (heap - packed) / states as f64;
    Some(Cell { states, system_states, depth: outcome.stats.depth, overhead, seconds })
}

fn print_row(name: &str, method: &str, cell: &Cell) {
    let Cell { states, system_states, depth, overhead, seconds } = cell;
    println!(
        "    {method:<14}{states:>9} states {system_states:>9} of the system, depth {depth:>8} {overhead:>9.2} bytes {:>9.1} ms  {name}",
        seconds * 1e3
    );
}

fn print_line(name: &str, overheads: &[f64; METHODS.len()]) {
    print!("{name:<18}");
    for &overhead in overheads {
        if overhead > 0.0 { print!("{overhead:>14.1}") } else { print!("{:>14}", "–") }
    }
    println!();
}
