//! From text to state space: random process networks through parser, lowering, packing and every
//! search, against the definition of parallel composition.

use std::cell::Cell;
use std::collections::BTreeSet;

use base::{Budget, Limit};
use check::search::mixed::Turns;
use check::{Bitstate, Exact, Exploration, Goal, Stop, search, store::Queue};
use language::Model as _;
use model::{System as _, aut};
use process::Model;
use proptest::prelude::*;
use replay::{Ending, Evidence, Question};
use report::space::Space;
use stubborn_testing::claims::{load, load_with};
use stubborn_testing::networks::{self, Network};
use stubborn_testing::{assert_met, relations_checker, run_cases};

/// All searches over all stores.
/// Short turns, for small systems.
const TURNS: Turns = Turns { few: 3, turn: 2, many: 20, of: 3 };

/// Any distance will do.
fn some_distance(state: &[u32]) -> u64 {
    state.iter().map(|word| u64::from(word.wrapping_mul(0x9E37_79B9) >> 29)).sum()
}

fn explorations(model: &Model, goals: &[Goal], max_states: u64) -> Vec<(&'static str, Exploration)> {
    let system = &*model.system;
    let width = system.width();
    let exact = || Exact::new(width, u64::MAX);
    let bits = || Bitstate::new(1 << 16, 3).expect("64 KiB are free");
    let budget = || {
        let mut budget = Budget::unlimited();
        budget.max_states = max_states;
        budget
    };
    vec![
        ("bfs exact", search::bfs::search(system, &mut exact(), goals, &mut budget())),
        ("dfs exact", search::dfs::search(system, &mut exact(), goals, &mut budget())),
        ("nearest", search::nearest::search(some_distance, system, &mut exact(), goals, &mut budget())),
        ("mixed", search::mixed::search_in_turns(TURNS, system, &mut exact(), goals, &mut budget())),
        ("bfs bitstate", search::bfs::search(system, &mut Queue::new(bits(), width), goals, &mut budget())),
        ("dfs bitstate", search::dfs::search(system, &mut bits(), goals, &mut budget())),
    ]
}

fn shortest(network: &Network, wanted: impl Fn(&[usize]) -> bool) -> Option<u64> {
    let space = network.explore();
    let mut distance = vec![u64::MAX; space.states.len()];
    distance[0] = 0;
    // The states are in breadth-first order, and so are the transitions by source.
    for (from, _, to, _) in &space.transitions {
        distance[*to] = distance[*to].min(distance[*from].saturating_add(1));
    }
    let reached = space.states.iter().zip(distance).filter(|(state, _)| wanted(state));
    reached.map(|(_, distance)| distance).min()
}

#[test]
fn every_search_counts_what_the_definition_says() {
    let n_states = Cell::new(0u64);
    run_cases(4000, &networks::network(), |network| {
        let model = load(&network.to_text());
        let space = network.explore();
        n_states.set(n_states.get() + space.states.len() as u64);
        for (name, outcome) in explorations(&model, &[], u64::MAX) {
            prop_assert_eq!(outcome.stats.states, space.states.len() as u64, "{}", name);
            prop_assert_eq!(outcome.stats.transitions, space.transitions.len() as u64, "{}", name);
            prop_assert_eq!(outcome.stats.deadlocks, space.deadlocks, "{}", name);
            prop_assert_eq!(outcome.stop, None);
            prop_assert_eq!(outcome.coverage.is_some(), name.ends_with("bitstate"));
        }
        Ok(())
    });
    assert_met!(n_states.get() > 30_000, "{n_states:?} states in all");
}

#[test]
fn violations_are_found_exactly_where_they_are_and_every_run_replays() {
    let n_found = Cell::new(0u32);
    run_cases(2000, &(networks::network(), 0..4usize, 0..4usize), |(network, a, b)| {
        let n = network.processes.len();
        let a = a % network.processes[0].n_states;
        let b = b % network.processes[n - 1].n_states;
        let text = format!("{}invariant apart = !(P0@s{a} && P{}@s{b});\n", network.to_text(), n - 1);
        let mut model = load(&text);
        let language::PropertyKind::Invariant(expr) = model.properties[0].kind else {
            panic!("an invariant")
        };
        let goals = [Goal::Deadlock, Goal::Invariant(model.parts().0.add_proposition("apart", expr))];
        let space = network.explore();
        let bad = shortest(&network, |state| state[0] == a && state[n - 1] == b);
        for (name, outcome) in explorations(&model, &goals, u64::MAX) {
            prop_assert_eq!(outcome.violations[0].is_some(), space.deadlocks > 0, "{}", name);
            prop_assert_eq!(outcome.violations[1].is_some(), bad.is_some(), "{}", name);
            let questions = [Question::Deadlock, Question::Violates(expr)];
            for (run, question) in outcome.violations.iter().zip(questions) {
                if let Some(run) = run {
                    n_found.set(n_found.get() + 1);
                    let evidence = Evidence::new(run, Ending::Open);
                    replay::judge(&model.system, &question, &evidence, &mut Budget::unlimited())
                        .map_err(|error| TestCaseError::fail(error.to_string()))?;
                }
            }
            if let (true, Some(run)) = (name.starts_with("bfs"), &outcome.violations[1]) {
                prop_assert_eq!(Some(run.actions.len() as u64), bad, "{}: not a shortest run", name);
            }
        }
        Ok(())
    });
    assert_met!(n_found.get() > 3000, "{n_found:?} violations in all");
}

#[test]
fn limits_stop_every_search_and_say_so() {
    run_cases(500, &networks::network(), |network| {
        let model = load(&network.to_text());
        let n_states = network.explore().states.len() as u64;
        for (name, outcome) in explorations(&model, &[], n_states / 2) {
            prop_assert_eq!(outcome.stop, Some(Stop::Limit(Limit::States(n_states / 2))), "{}", name);
        }
        Ok(())
    });
}

#[test]
fn the_relations_of_networks_hold() {
    run_cases(1500, &networks::network(), |network| {
        let model = load(&network.to_text());
        let space = stubborn_testing::naive::explore(&model.system, 200).expect("no arithmetic, no faults");
        let states = space.map_or(Vec::new(), |space| space.states);
        relations_checker::check(&model.system, &states).map_err(TestCaseError::fail)
    });
}

#[test]
fn an_exported_space_read_back_is_the_same_system() {
    run_cases(1000, &networks::network(), |network| {
        let model = load(&network.to_text());
        let mut store = Exact::new(model.system.width(), u64::MAX);
        let stats = search::bfs::search(&*model.system, &mut store, &[], &mut Budget::unlimited()).stats;
        let space = Space { system: &model.system, store: &store, n_transitions: stats.transitions };
        let mut bytes = Vec::new();
        space.write_aut(&mut bytes).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let text = String::from_utf8(bytes).expect("text");
        let lts = aut::parse(&text, base::SourceId::new(0), &mut Budget::unlimited())
            .unwrap()
            .expect("what is written can be read");
        prop_assert_eq!(u64::from(lts.n_states), stats.states);
        prop_assert_eq!(lts.edges.len() as u64, stats.transitions);
        // As a network of one process it has the same space, but for parallel equal edges.
        let aut = &mut |_: &str| Ok(text.clone().into_bytes());
        let again = load_with("process X = extern \"x.aut\";", &process::Options::default(), aut);
        let edges: BTreeSet<_> = lts.edges.iter().collect();
        let mut store = Exact::new(again.system.width(), u64::MAX);
        let stats_again =
            search::bfs::search(&*again.system, &mut store, &[], &mut Budget::unlimited()).stats;
        prop_assert_eq!(stats_again.states, stats.states);
        prop_assert_eq!(stats_again.transitions, edges.len() as u64);
        prop_assert_eq!(stats_again.deadlocks, stats.deadlocks);
        prop_assert_eq!(stats_again.depth, stats.depth);
        Ok(())
    });
}
