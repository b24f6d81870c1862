//! Figures that must come out exactly: state counts of the papers, and what reduction makes of them.

use std::path::Path;

use base::{Budget, SourceMap};
use check::reduced::Reduced;
use check::search::one_pass::WorkSet;
use check::search::{Violation, tester};
use check::store::ExactPlanes;
use check::{Exact, Stats, search};
use model::{ActionSystem, System};
use process::PropertyKind;

fn load(name: &str, n: i64) -> process::Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name);
    let mut sources = SourceMap::new();
    let source = sources.add(name, std::fs::read(path).unwrap()).unwrap();
    let options = process::Options { constants: vec![("N".to_owned(), n)], ..process::Options::default() };
    process::load(&mut sources, source, &options, &mut |_: &str| Err(String::new())).expect("a good model")
}

fn explore<S: System>(system: &S) -> Stats {
    search::bfs::search(system, &mut Exact::new(system.width(), u64::MAX), &[], &mut Budget::unlimited())
        .stats
}

/// States of the reduced product with a tester, and what it found.
fn check(system: &ActionSystem, model: &process::Model, name: &str) -> (u64, Option<Violation>) {
    let property = model.properties.iter().find(|property| property.name == name).expect("a property");
    let PropertyKind::Tester(observed) = &property.kind else { panic!("a tester") };
    let mut product = tester::product(system, &observed.process, &observed.labels, true).unwrap();
    let width = product.width();
    let planes = || ExactPlanes::new(width, u64::MAX);
    let outcome = tester::check(&mut product, WorkSet::Queue, planes, &mut Budget::unlimited());
    (outcome.stats.states, outcome.evidence().map(|evidence| evidence.violation))
}

#[test]
fn dining_philosophers_have_as_many_states_as_the_paper_says() {
    for (n, states) in [(2, 8), (7, 2_186), (10, 59_048)] {
        let stats = explore(&load("dining.proc", n).system);
        assert_eq!((stats.states, stats.deadlocks), (states, 1), "N = {n}");
    }
}

#[test]
fn the_ring_grows_exponentially_and_its_reduced_space_linearly() {
    for n in 2..=11 {
        assert_eq!(explore(&load("acknowledged_ring.proc", n).system).states, 9 * n as u64 * (1 << n) / 4);
    }
    for n in [5, 20, 60] {
        let model = load("acknowledged_ring.proc", n);
        assert!(explore(&Reduced::for_deadlocks(&model.system)).states <= 9 * n as u64);
        let (states, found) = check(&model.system, &model, "Exclusion");
        assert!(states <= 9 * n as u64 && found.is_none(), "{states} states, {found:?}");
        let (states, found) = check(&model.system, &model, "Starves");
        assert_eq!((states, found), (4 * n as u64 + 11, Some(Violation::Livelock)));
    }
}

#[test]
fn of_twelve_counters_only_the_watched_one_is_explored() {
    let model = load("counters.proc", 12);
    assert_eq!(check(&model.system, &model, "InOrder"), (4, None));
}
