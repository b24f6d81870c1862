//! Formulas that hold, searched by one worker and by several: processor time, and heap per state of the product.
//!
//! `cargo bench -p stubborn-benches --bench teams` (minutes; `-- --quick` for the smaller sizes, `-- 2 4` for teams of 2 and 4)
//!
//! First comes the search by one worker as it is when there are no others, then the search for several, done by one and by more. Processor time is that of
//! all workers together, so that other work on the machine does not count. What several workers save is its share for each of them, as long as
//! there are as many processors: `speed` is the time of the first by that share. The overhead is counted as in the bench `memory`.
#![allow(clippy::print_stdout)] // Printing is what a benchmark is for.

use std::thread;

use base::{Budget, Team, Worker};
use check::decide::{Claim, Settings};
use check::method::{Method, ObserverKind, SearchKind};
use check::reduction::Method as Reduction;
use model::{ActionSystem, System as _};
use peak_alloc::PeakAlloc;
use stubborn_benches::families::FAMILIES;
use stubborn_benches::for_each_claim;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Rows with fewer states of the product are left out.
const MIN_STATES: u64 = 50_000;

/// No search stores more states.
const MAX_STATES: u64 = 3_000_000;

const METHODS: [(&str, Method); 5] = [
    ("tgba", Method::new(ObserverKind::Tgba, SearchKind::Scc, None)),
    ("lazy ta", Method::new(ObserverKind::LazyTa, SearchKind::TwoPass, None)),
    ("rep. lazy ta", Method::new(ObserverKind::LazyTa, SearchKind::TwoPass, Some(Reduction::Repaired))),
    ("ta, one pass", Method::new(ObserverKind::Ta, SearchKind::OnePass, None)),
    ("guided ta", Method::new(ObserverKind::Ta, SearchKind::OnePass, Some(Reduction::Guided))),
];

/// So many threads.
struct Crew(usize);

impl Team for Crew {
    fn n_workers(&self) -> usize {
        self.0
    }

    fn run(&self, job: &(dyn Fn(Worker) + Sync)) {
        thread::scope(|scope| {
            for index in 1..self.0 {
                scope.spawn(move || job(Worker { index, of: self.0 }));
            }
            job(Worker { index: 0, of: self.0 });
        });
    }
}

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let mut teams: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    if teams.is_empty() {
        teams.extend([1, 2]);
    }
    for family in &*FAMILIES {
        let sizes = if quick { &family.sizes } else { &family.larger };
        for constants in sizes.iter().rev().take(1) {
            let formulas = family.formulas.iter().map(|(_, formula)| *formula);
            for_each_claim(family.model, constants, formulas, |row, system, new_claim| {
                for (name, method) in &METHODS {
                    let Some(alone) = measure(system, &mut new_claim(), *method, None) else { continue };
                    if alone.states < MIN_STATES {
                        continue;
                    }
                    println!("{} {constants:?} {}, {name}", family.name, family.formulas[row].1);
                    println!("{alone}");
                    for &n_workers in &teams {
                        if let Some(cell) = measure(system, &mut new_claim(), *method, Some(n_workers)) {
                            let speed = alone.seconds * n_workers as f64 / cell.seconds;
                            println!("{cell}, speed {speed:.2}");
                        }
                    }
                }
            });
        }
    }
}

struct Cell {
    /// None is the search by one worker that is not for several.
    n_workers: Option<usize>,
    states: u64,
    /// Bytes per state of the product beyond the packed system states.
    overhead: f64,
    /// Of all processors.
    seconds: f64,
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Cell { n_workers, states, overhead, seconds } = self;
        let who = n_workers.map_or("alone".to_owned(), |n| format!("{n} workers"));
        write!(f, "    {who:>10} {states:>9} states {overhead:>7.2} bytes {seconds:>7.2} s")
    }
}

/// Processor time of this process so far, in hundredths of a second; 0 where the system does not tell.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let field = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (field(11) + field(12)) / 100.0
}

/// One search, if it is allowed and nothing is found.
fn measure(
    system: &ActionSystem,
    claim: &mut Claim,
    method: Method,
    n_workers: Option<usize>,
) -> Option<Cell> {
    let crew = Crew(n_workers.unwrap_or(1));
    let mut budget = Budget::unlimited().with_team(&crew);
    budget.max_states = MAX_STATES;
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let start = processor_time();
    let settings = Settings { together: n_workers.is_some(), ..Settings::default() };
    let outcome = claim.search(system, method, &settings, &mut budget).ok()?.outcome;
    let seconds = processor_time() - start;
    let heap = (HEAP.peak_usage() - before) as f64;
    outcome.stop.is_none().then_some(())?;
    let states = outcome.stats.states.max(1);
    let packed = (4 * system.width() as u64 * outcome.system_states?) as f64;
    Some(Cell { n_workers, states, overhead: (heap - packed) / states as f64, seconds })
}
