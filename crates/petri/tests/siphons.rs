//! Random nets: what siphons say about deadlocks, and used-up sums about liveness, is so.

mod common;

use std::cell::Cell;

use base::Budget;
use common::facts;
use common::marking_graph::explore;
use common::nets::{Plan, net_of_plan};
use language::{Argument, Decided, Facts as _, Known, PropertyKind};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use stubborn_petri::Bounds;
use stubborn_petri::mcc::Examination;

const MAX_MARKINGS: usize = 400;

/// Processes that go round, each with a step more, and resources that steps take and give back; now and then something else.
fn plans() -> impl Strategy<Value = Plan> {
    let weight = || prop_oneof![12 => Just(1i64), 1 => Just(2)];
    let rounds = prop::collection::vec(1..4usize, 1..4);
    let resources = prop::collection::vec(prop_oneof![3 => Just(1i64), 1 => Just(0), 1 => Just(2)], 0..3);
    let uses = prop::collection::vec((0..12usize, 0..12usize, 0..3usize, weight()), 0..6);
    let others = prop::collection::vec(
        (
            prop::collection::vec((0..9usize, weight()), 1..3),
            prop::collection::vec((0..9usize, weight()), 0..3),
        ),
        0..3,
    );
    (rounds, resources, uses, others).prop_map(|(rounds, resources, uses, others)| {
        let (mut initial, mut transitions) = (Vec::new(), Vec::new());
        for length in rounds {
            let first = initial.len();
            for at in 0..length {
                initial.push(i64::from(at == 0));
                transitions.push((vec![(first + at, 1)], vec![(first + (at + 1) % length, 1)]));
            }
        }
        let (n_steps, first) = (transitions.len(), initial.len());
        let n_resources = resources.len();
        initial.extend(resources);
        for (takes, gives, resource, weight) in uses.into_iter().filter(|_| n_resources > 0) {
            let place = first + resource % n_resources;
            let transitions: &mut Vec<(Vec<_>, Vec<_>)> = &mut transitions;
            transitions[takes % n_steps].0.push((place, weight));
            transitions[gives % n_steps].1.push((place, weight));
        }
        let n_places = initial.len();
        let within =
            |arcs: Vec<(usize, i64)>| arcs.into_iter().map(|(at, its)| (at % n_places, its)).collect();
        transitions.extend(others.into_iter().map(|(takes, gives)| (within(takes), within(gives))));
        (initial, transitions)
    })
}

/// What facts say about deadlocks, and about liveness.
fn asked(plan: &Plan) -> (Option<Decided>, Option<Decided>) {
    let net = net_of_plan(plan);
    let facts = facts(&net);
    let mut budget = Budget::unlimited();
    let mut model = net.lower(Bounds::all(&net, 1000), &mut budget).unwrap();
    let live = model.global_question(Examination::Liveness, &mut budget).unwrap().unwrap().kind;
    let (exprs, formulas) = (&model.system.exprs, &mut model.formulas);
    let deadlock = facts.answer(exprs, formulas, &PropertyKind::DeadlockFree, &mut budget).unwrap();
    (deadlock, facts.answer(exprs, formulas, &live, &mut budget).unwrap())
}

#[test]
fn what_is_shown_without_a_search_is_so() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let config = Config {
        rng_seed: RngSeed::Fixed(number("STUBBORN_SEED").unwrap_or(1972)),
        failure_persistence: None,
        cases: 4000 * number("STUBBORN_CASES").unwrap_or(1) as u32,
        ..Config::default()
    };
    let counts = Cell::new([0usize; 3]);
    let result = TestRunner::new(config).run(&plans(), |plan| {
        let net = net_of_plan(&plan);
        let graph = explore(&net, MAX_MARKINGS);
        let (deadlock, live) = asked(&plan);
        let is_used_up = live.is_some_and(|decided| decided.by == Argument::Exhaustion);
        let mut all = counts.get();
        all[0] += usize::from(deadlock.is_some());
        all[1] += usize::from(is_used_up);
        all[2] += usize::from(live.is_some_and(|decided| decided.by == Argument::Siphons));
        if let Some(decided) = deadlock {
            prop_assert_eq!(decided, Decided { answer: Known::Truth(true), by: Argument::Siphons });
            let expanded = graph.edges.iter();
            prop_assert!(expanded.into_iter().all(|edges| !edges.is_empty()), "there is a deadlock");
        }
        if graph.is_complete {
            let truth = graph.is_live(net.transitions.len());
            prop_assert!(live.is_none_or(|decided| decided.answer == Known::Truth(truth)), "{:?}", live);
        }
        counts.set(all);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let [shown, used_up, live] = counts.get();
    assert!(shown > 500 && used_up > 500 && live > 200, "{:?}", counts.get());
}

#[test]
fn philosophers_are_stuck_unless_one_of_them_is_left_handed() {
    // Philosopher i takes fork i, then fork i + 1, and gives back both.
    let table = |n: usize, left_handed: bool| -> Plan {
        let (mut initial, mut transitions) = (vec![1; n], Vec::new());
        for at in 0..n {
            let (mut first, mut second) = (at, (at + 1) % n);
            if left_handed && at == 0 {
                (first, second) = (second, first);
            }
            let thinks = initial.len();
            initial.extend([1, 0, 0]);
            transitions.push((vec![(thinks, 1), (first, 1)], vec![(thinks + 1, 1)]));
            transitions.push((vec![(thinks + 1, 1), (second, 1)], vec![(thinks + 2, 1)]));
            transitions.push((vec![(thinks + 2, 1)], vec![(thinks, 1), (first, 1), (second, 1)]));
        }
        (initial, transitions)
    };
    assert_eq!(asked(&table(5, false)).0, None);
    let shown = asked(&table(5, true)).0;
    assert_eq!(shown, Some(Decided { answer: Known::Truth(true), by: Argument::Siphons }));
    assert_eq!(asked(&table(5, false)).1, None);
    // More of them than anybody could explore.
    assert!(asked(&table(40, true)).0.is_some());
}

#[test]
fn what_is_used_up_is_not_live() {
    // A token goes to and fro, and a ticket is torn whenever it comes back.
    let plan: Plan =
        (vec![1, 0, 3], vec![(vec![(0, 1)], vec![(1, 1)]), (vec![(1, 1), (2, 1)], vec![(0, 1)])]);
    assert_eq!(asked(&plan).1, Some(Decided { answer: Known::Truth(false), by: Argument::Exhaustion }));
    let kept: Plan =
        (vec![1, 0, 3], vec![(vec![(0, 1)], vec![(1, 1)]), (vec![(1, 1), (2, 1)], vec![(0, 1), (2, 1)])]);
    assert_eq!(asked(&kept).1, Some(Decided { answer: Known::Truth(true), by: Argument::Siphons }));
}
