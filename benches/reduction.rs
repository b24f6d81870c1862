//! Reduction by stubborn sets on scalable families: all states, the states that keep deadlocks,
//! and the states that a tester needs.
//!
//! `cargo bench -p stubborn-benches --bench reduction`
#![allow(clippy::print_stdout)] // Printing is what a benchmark is for.

use automata::Tester;
use base::Budget;
use check::reduced::Reduced;
use check::search::one_pass::WorkSet;
use check::search::tester;
use check::store::ExactPlanes;
use check::{Exact, Stats, search};
use model::{ActionSystem, LabelId, System};
use process::PropertyKind;
use stubborn_benches::{fastest, model};

struct Family {
    name: &'static str,
    file: &'static str,
    constant: &'static str,
    sizes: &'static [i64],
    tester: &'static str,
}

const FAMILIES: [Family; 9] = [
    Family {
        name: "ring",
        file: "acknowledged_ring.proc",
        constant: "N",
        sizes: &[4, 8, 12, 16],
        tester: "Exclusion",
    },
    Family {
        name: "ring, livelock",
        file: "acknowledged_ring.proc",
        constant: "N",
        sizes: &[4, 8, 12, 16],
        tester: "Starves",
    },
    Family {
        name: "philosophers",
        file: "dining.proc",
        constant: "N",
        sizes: &[4, 6, 8, 10, 12],
        tester: "Starves",
    },
    Family {
        name: "counters",
        file: "counters.proc",
        constant: "N",
        sizes: &[4, 6, 8, 10, 12],
        tester: "InOrder",
    },
    Family {
        name: "buffers",
        file: "pipeline.proc",
        constant: "N",
        sizes: &[4, 8, 12, 16, 20],
        tester: "InOrder",
    },
    Family {
        name: "leader election",
        file: "leader_election.proc",
        constant: "N",
        sizes: &[4, 6, 8, 10],
        tester: "OneLeader",
    },
    Family { name: "protocols", file: "protocols.proc", constant: "N", sizes: &[1, 2, 3], tester: "Order" },
    Family {
        name: "scheduler",
        file: "scheduler.proc",
        constant: "N",
        sizes: &[4, 8, 12, 16],
        tester: "InTurn",
    },
    Family { name: "crossing", file: "crossing.proc", constant: "N", sizes: &[4, 6, 8, 10], tester: "Safe" },
];

/// Larger spaces are not explored in full.
const MAX_STATES: u64 = 3_000_000;

fn main() {
    println!(
        "states and seconds: all, kept for deadlocks, kept for the tester (* ended by an error, > {MAX_STATES} not finished)"
    );
    println!(
        "{:<16}{:>4}{:>13}{:>9}{:>13}{:>9}{:>13}{:>9}{:>13}{:>9}",
        "family", "n", "all", "s", "deadlocks", "s", "product", "s", "tester", "s"
    );
    for family in &FAMILIES {
        for &size in family.sizes {
            let model = model(family.file, &[(family.constant, size)]);
            let property = model.properties.iter().find(|property| property.name == family.tester);
            let Some(PropertyKind::Tester(observed)) = property.map(|property| &property.kind) else {
                panic!("{} has no tester {}", family.file, family.tester);
            };
            let (tester, labels) = (&observed.process, &observed.labels);
            print!("{:<16}{size:>4}", family.name);
            print_stats(&explore(&model.system));
            print_stats(&explore(&Reduced::for_deadlocks(&model.system)));
            print_stats(&check(&model.system, tester, labels, false));
            print_stats(&check(&model.system, tester, labels, true));
            println!();
        }
    }
}

/// Seconds, statistics, and whether an error ended the search.
type Row = (f64, Stats, bool);

fn budget() -> Budget<'static> {
    let mut budget = Budget::unlimited();
    budget.max_states = MAX_STATES;
    budget
}

fn explore<S: System>(system: &S) -> Row {
    let run = || search::bfs::search(system, &mut Exact::new(system.width(), u64::MAX), &[], &mut budget());
    let (seconds, outcome) = fastest(1, run);
    (seconds, outcome.stats, false)
}

fn check(system: &ActionSystem, tester: &Tester, labels: &[LabelId], reduces: bool) -> Row {
    let mut product = tester::product(system, tester, labels, reduces).expect("a small tester");
    let width = product.width();
    let planes = || ExactPlanes::new(width, u64::MAX);
    let (seconds, outcome) =
        fastest(1, || tester::check(&mut product, WorkSet::Queue, planes, &mut budget()));
    (seconds, outcome.stats, outcome.evidence().is_some())
}

fn print_stats((seconds, stats, found): &Row) {
    let states = match stats.states {
        states if states > MAX_STATES => format!("> {MAX_STATES}"),
        states => format!("{states}{}", if *found { "*" } else { "" }),
    };
    print!("{states:>13}{seconds:>9.3}");
}
