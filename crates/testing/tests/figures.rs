//! Figures that must come out exactly: state counts of the papers, and what reduction makes of them.

use std::path::Path;

use automata::stutter::Proof;
use base::Budget;
use check::choice::Wish;
use check::decide::{Claim, Settings, TesterClaim};
use check::method::{Method, ObserverKind, SearchKind};
use check::reduced::Reduced;
use check::search::{ProductOutcome, Violation};
use check::{Exact, Space, Stats, reduction, search};
use language::{Model as _, PropertyKind};
use model::{ActionSystem, System};
use stubborn_testing::claims::load_with;

fn load(name: &str, n: i64) -> process::Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name);
    let options = process::Options { constants: vec![("N".to_owned(), n)], ..process::Options::default() };
    load_with(&std::fs::read_to_string(path).unwrap(), &options, &mut |_: &str| Err(String::new()))
}

fn explore<S: Space>(space: &S) -> Stats {
    let mut store = Exact::new(space.whole().width(), u64::MAX);
    search::bfs::search(space, &mut store, &[], &mut Budget::unlimited()).stats
}

/// States of the reduced product with a tester, and what it found.
fn check(system: &ActionSystem, model: &process::Model, name: &str) -> (u64, Option<Violation>) {
    let property = model.properties.iter().find(|property| property.name == name).expect("a property");
    let PropertyKind::Tester(observed) = &property.kind else { panic!("a tester") };
    let claim = TesterClaim::new(&observed.process, &observed.labels);
    let method = Wish::default().complete_for_tester(&claim).expect("allowed").method;
    let decision = claim.search(system, method, &Settings::default(), &mut Budget::unlimited());
    let outcome = decision.expect("allowed").outcome;
    (outcome.stats.states, outcome.evidence().map(|evidence| evidence.violation))
}

#[test]
fn dining_philosophers_have_as_many_states_as_the_paper_says() {
    for (n, states) in [(2, 8), (7, 2_186), (10, 59_048)] {
        let stats = explore(&*load("dining.proc", n).system);
        assert_eq!((stats.states, stats.deadlocks), (states, 1), "N = {n}");
    }
}

#[test]
fn the_ring_grows_exponentially_and_its_reduced_space_linearly() {
    for n in 2..=11 {
        assert_eq!(explore(&*load("acknowledged_ring.proc", n).system).states, 9 * n as u64 * (1 << n) / 4);
    }
    for n in [5, 20, 60] {
        let model = load("acknowledged_ring.proc", n);
        let reduced = Reduced::for_deadlocks(&model.system, &mut Budget::unlimited()).unwrap();
        assert!(explore(&reduced).states <= 9 * n as u64);
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

/// Decides a formula about a model.
fn decide(model: &mut process::Model, formula: &str, method: Method) -> ProductOutcome {
    let budget = &mut Budget::unlimited();
    let source = base::SourceId::new(0);
    let parsed = ltl::parse(&mut model.formulas, formula, source, 0).expect("a good formula");
    let negation = model.formulas.not(parsed.formula);
    let tgba = automata::translate(&mut model.formulas, negation, automata::Effort::High, budget)
        .expect("a small one");
    let mut propositions = Vec::new();
    for prop in model.formulas.propositions(parsed.formula) {
        let text = model.formulas.text(prop).to_owned();
        let expr = model.resolve(&text, source, 0).expect("a good proposition");
        propositions.push((prop, model.parts().0.add_proposition(text, expr)));
    }
    let mut claim = Claim::new(tgba, propositions, Proof::of_next_free(&model.formulas, parsed.formula));
    let settings = Settings::default();
    claim.search(&*model.system, method, &settings, budget).expect("allowed").outcome
}

/// Table 3 of [hansen.02.fmics], implementation C: never 1000 states.
#[test]
fn one_pass_finds_the_livelock_of_the_philosophers_soon() {
    let one_pass = Method::new(ObserverKind::Ta, SearchKind::OnePass, None);
    for philosopher in 0..10 {
        let formula = format!("! <> [] Phil[{philosopher}]@left");
        let outcome = decide(&mut load("dining.proc", 10), &formula, one_pass);
        assert!(outcome.evidence().is_some(), "{formula}");
        assert!(outcome.stats.states < 1000, "{} states for {formula}", outcome.stats.states);
    }
}

#[test]
fn spaces_that_are_reduced_exponentially() {
    use reduction::Method::{Classical, Guided, Hybrid};
    let none = Method::new(ObserverKind::Tgba, SearchKind::Scc, None);
    let ta = |reduction| Method::new(ObserverKind::Ta, SearchKind::TwoPass, Some(reduction));
    let tgta = |reduction| Method::new(ObserverKind::Tgta, SearchKind::Scc, Some(reduction));
    // Counters that do not meet: only the watched one counts.
    let mut counters = load("counters.proc", 6);
    let formula = "[] (Counter[0]@at[1] -> (Counter[0]@at[1] W Counter[0]@at[2]))";
    let full = decide(&mut counters, formula, none).stats.states;
    for method in [ta(Guided), ta(Hybrid), tgta(Guided), tgta(Hybrid)] {
        let states = decide(&mut counters, formula, method).stats.states;
        assert!(states <= 50 && full >= 4096, "{method:?}: {states} of {full}");
    }
    // A ring, whose space has nine times as many states with each two more customers.
    let formula = "[] !(Customer[0]@at[7] && Customer[1]@at[7])";
    for n in [6, 8, 10] {
        let mut ring = load("acknowledged_ring.proc", n);
        for method in [ta(Hybrid), tgta(Hybrid)] {
            let outcome = decide(&mut ring, formula, method);
            assert!(outcome.stop.is_none() && outcome.stats.states <= 40 * n as u64, "{:?}", outcome.stats);
        }
    }
    let classical = Method::new(ObserverKind::Tgba, SearchKind::Scc, Some(Classical));
    let mut ring = load("token_ring.proc", 8);
    let formula = "[] !(Station[0]@busy && Station[1]@busy)";
    let full = decide(&mut ring, formula, none).stats.states;
    let reduced = decide(&mut ring, formula, classical).stats.states;
    assert!(10 * reduced < full, "{reduced} of {full}");
}
