//! Random nets: what a decision diagram says of all markings is so, against lists of them.
//!
//! `STUBBORN_CASES=20 cargo test --release -p stubborn-petri --test symbolic` runs twenty times as many cases,
//! `STUBBORN_SEED=7` others.

mod common;

use std::cell::Cell;

use base::budget::Patience;
use base::{Budget, Limit};
use common::marking_graph::{Marking, explore};
use common::nets::{Plan, net_of_plan};
use common::questions::{expressions, resolve};
use language::{Enabled, Model as _, PropertyKind};
use model::reference;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use stubborn_petri::mcc::Examination;
use stubborn_petri::{Bounds, Model};

const MAX_MARKINGS: usize = 600;

/// Nets of which many have finitely many markings: most transitions give as much as they take.
fn plans() -> impl Strategy<Value = Plan> {
    let weight = || prop_oneof![6 => Just(1i64), 1 => Just(2)];
    let tokens = prop_oneof![2 => Just(0i64), 3 => Just(1), 1 => Just(3)];
    (2..7usize).prop_flat_map(move |n_places| {
        let arcs = move || prop::collection::vec((0..n_places, weight()), 0..4);
        let step = (arcs(), arcs(), 0..8u8).prop_map(|(takes, mut gives, kind)| {
            // What is given for each token that is taken, or anything.
            if kind > 0 {
                gives.truncate(takes.len());
                gives.iter_mut().zip(&takes).for_each(|(given, taken)| given.1 = given.1.min(taken.1));
            }
            (takes, gives)
        });
        (prop::collection::vec(tokens.clone(), n_places), prop::collection::vec(step, 0..8))
    })
}

/// Each transition by itself.
fn each(model: &mut Model) -> Vec<Enabled> {
    let asked = model.global_question(Examination::Liveness, &mut Budget::unlimited()).unwrap().unwrap();
    match asked.kind {
        PropertyKind::AllLive(each) => each,
        kind => panic!("{kind:?}"),
    }
}

#[test]
fn a_diagram_knows_all_markings() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let config = Config {
        rng_seed: RngSeed::Fixed(number("STUBBORN_SEED").unwrap_or(2001)),
        failure_persistence: None,
        cases: 4000 * number("STUBBORN_CASES").unwrap_or(1) as u32,
        ..Config::default()
    };
    let seen = Cell::new([0usize; 8]);
    let count = |at: usize| {
        let mut counts = seen.get();
        counts[at] += 1;
        seen.set(counts);
    };
    let strategy = (plans(), prop::collection::vec(expressions(), 4));
    let result = TestRunner::new(config).run(&strategy, |(plan, texts)| {
        let net = net_of_plan(&plan);
        let graph = explore(&net, MAX_MARKINGS);
        if !graph.is_complete {
            return Ok(());
        }
        let budget = &mut Budget::unlimited();
        let mut model = net.lower(Bounds::all(&net, 1000), budget).unwrap();
        let mut diagram = model.diagram(budget).unwrap().expect("the net is small");
        let extent = diagram.extent(budget).unwrap();
        let n_edges: usize = graph.edges.iter().map(Vec::len).sum();
        prop_assert_eq!(extent.states.to_string(), graph.markings.len().to_string());
        prop_assert_eq!(extent.transitions.to_string(), n_edges.to_string());
        let together = |marking: &Marking| marking.iter().map(|&tokens| i128::from(tokens)).sum();
        prop_assert_eq!(extent.most_together, graph.markings.iter().map(together).max().unwrap_or(0i128));
        prop_assert_eq!(extent.most, graph.markings.iter().flatten().copied().max().unwrap_or(0));
        prop_assert_eq!(diagram.has_deadlock(budget).unwrap(), graph.has_deadlock());
        count(usize::from(graph.has_deadlock()));
        for text in &texts {
            let expr = resolve(&mut model, text);
            let values: Vec<i64> = graph
                .markings
                .iter()
                .map(|marking| reference::value(&model.system, expr, marking).unwrap())
                .collect();
            for truth in [false, true] {
                let known = values.iter().any(|&value| (value != 0) == truth);
                let said = diagram.is_possible(&model.system.exprs, expr, truth, budget).unwrap();
                prop_assert_eq!(said, Some(known), "{} is {}", text, truth);
                count(2 + usize::from(known));
            }
        }
        for text in ["p0", "p0 + 2 * p1", "p1 - p0 + 3"] {
            let expr = resolve(&mut model, text);
            let value = |marking: &Marking| reference::value(&model.system, expr, marking).unwrap();
            let known = graph.markings.iter().map(value).max();
            prop_assert_eq!(diagram.greatest(&model.system.exprs, expr, budget).unwrap(), known, "{}", text);
        }
        let each = each(&mut model);
        let is_live = graph.is_live(net.transitions.len());
        let said = diagram.are_live(&model.system.exprs, &each, budget).unwrap();
        prop_assert_eq!(said, Some(is_live));
        count(4 + usize::from(is_live && !net.transitions.is_empty()));
        count(6 + usize::from(graph.markings.len() > 20));
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let seen = seen.get();
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
}

/// So many philosophers, each with a left and a right fork.
fn philosophers(n: usize) -> Plan {
    let (mut initial, mut transitions) = (Vec::new(), Vec::new());
    for at in 0..n {
        let (thinks, waits, eats, fork, next) =
            (4 * at, 4 * at + 1, 4 * at + 2, 4 * at + 3, 4 * ((at + 1) % n) + 3);
        initial.extend([1, 0, 0, 1]);
        transitions.push((vec![(thinks, 1), (fork, 1)], vec![(waits, 1)]));
        transitions.push((vec![(waits, 1), (next, 1)], vec![(eats, 1)]));
        transitions.push((vec![(eats, 1)], vec![(thinks, 1), (fork, 1), (next, 1)]));
    }
    (initial, transitions)
}

#[test]
fn states_that_nobody_could_list_are_counted() {
    let net = net_of_plan(&philosophers(100));
    let budget = &mut Budget::unlimited();
    let mut model = net.lower(Bounds::all(&net, 1), budget).unwrap();
    let mut diagram = model.diagram(budget).unwrap().expect("there are 400 places");
    let extent = diagram.extent(budget).unwrap();
    // Around the table, what is next to what: the trace of the 100th power of a matrix with the eigenvalues 1 ± √2.
    let (mut before, mut traces) = (2_u128, 2_u128);
    for _ in 1..100 {
        (before, traces) = (traces, 2 * traces + before);
    }
    assert_eq!(extent.states.to_string(), traces.to_string());
    assert_eq!((extent.most, extent.most_together), (1, 200));
    assert!(diagram.has_deadlock(budget).unwrap());
    let all = each(&mut model);
    assert_eq!(diagram.are_live(&model.system.exprs, &all, budget).unwrap(), Some(false));
    let two = resolve(&mut model, "p2 + p6");
    assert_eq!(diagram.greatest(&model.system.exprs, two, budget).unwrap(), Some(1), "they share a fork");
}

#[test]
fn a_diagram_may_be_deep() {
    // A token goes along 1 400 places and back.
    let n = 1_400;
    let moves = (0..n).map(|at| (vec![(at, 1)], vec![((at + 1) % n, 1)])).collect();
    let net = net_of_plan(&((0..n).map(|at| i64::from(at == 0)).collect(), moves));
    let budget = &mut Budget::unlimited();
    let mut model = net.lower(Bounds::all(&net, 1), budget).unwrap();
    let mut diagram = model.diagram(budget).unwrap().expect("there are not too many places");
    let extent = diagram.extent(budget).unwrap();
    assert_eq!((extent.states.to_string(), extent.transitions.to_string()), ("1400".into(), "1400".into()));
    let all = each(&mut model);
    assert_eq!(diagram.are_live(&model.system.exprs, &all, budget).unwrap(), Some(true));
}

#[test]
fn nets_without_an_end_reach_a_limit() {
    let net = net_of_plan(&(vec![1, 0], vec![(vec![(0, 1)], vec![(0, 1), (1, 1)])]));
    let model = net.lower(Bounds::all(&net, 1), &mut Budget::unlimited()).unwrap();
    let watch = Patience::new(u64::MAX);
    let mut few_bytes = Budget::new(u64::MAX, 4 << 20, &watch);
    assert!(matches!(model.diagram(&mut few_bytes).err(), Some(Limit::Memory(_) | Limit::OutOfMemory)));
    let watch = Patience::new(3);
    let stopped = model.diagram(&mut Budget::new(u64::MAX, u64::MAX, &watch));
    assert_eq!(stopped.err(), Some(Limit::Interrupt));
    let wide: Plan = (vec![0; 5_000], Vec::new());
    let model =
        net_of_plan(&wide).lower(Bounds::all(&net_of_plan(&wide), 1), &mut Budget::unlimited()).unwrap();
    assert!(model.diagram(&mut Budget::unlimited()).unwrap().is_none(), "too many levels");
}
