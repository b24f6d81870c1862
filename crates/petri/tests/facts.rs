//! Random nets and expressions: what facts say holds in every marking.

mod common;

use base::Budget;
use common::facts;
use common::marking_graph::{explore, fire};
use common::nets::{Plan, net_of_plan};
use common::questions::{expressions, resolve};
use language::{Argument, Decided, Facts as _, Known, PropertyKind};
use model::reference;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use stubborn_petri::{Bounds, Model, PlaceId, TransitionId};

const MAX_MARKINGS: usize = 300;

fn plans() -> impl Strategy<Value = Plan> {
    let weight = || prop_oneof![4 => Just(1i64), 1 => Just(2)];
    let tokens = prop_oneof![4 => Just(0i64), 3 => Just(1), 1 => Just(3)];
    (2..6usize).prop_flat_map(move |n_places| {
        let arcs = move || prop::collection::vec((0..n_places, weight()), 1..3);
        (prop::collection::vec(tokens.clone(), n_places), prop::collection::vec((arcs(), arcs()), 0..5))
    })
}

#[test]
fn facts_hold_in_every_marking() {
    let config = Config {
        rng_seed: RngSeed::Fixed(1991),
        failure_persistence: None,
        cases: 5000,
        ..Config::default()
    };
    let n_decided = std::cell::Cell::new([0usize; 3]);
    let strategy = (plans(), expressions());
    let result = TestRunner::new(config).run(&strategy, |(plan, text)| {
        let net = net_of_plan(&plan);
        let graph = explore(&net, MAX_MARKINGS);
        let facts = facts(&net);
        let mut model = net.lower(Bounds::all(&net, 1000), &mut Budget::unlimited()).unwrap();
        let expr = resolve(&mut model, &text);
        let sum = resolve(&mut model, "p0 + 2 * p1");
        let count = |index: usize, is_decided: bool| {
            let mut counts = n_decided.get();
            counts[index] += usize::from(is_decided);
            n_decided.set(counts);
        };
        let always = facts.always(&model.system.exprs, expr, &mut Budget::unlimited()).unwrap();
        let bound = facts.upper_bound(&model.system.exprs, sum, &mut Budget::unlimited()).unwrap();
        let bound = bound.map(|(bound, _)| bound);
        let value = |expr, marking: &[i64]| reference::value(&model.system, expr, marking).unwrap();
        count(0, always.is_some());
        count(1, bound.is_some());
        for marking in &graph.markings {
            prop_assert!(always.is_none_or(|always| always == (value(expr, marking) != 0)));
            prop_assert!(bound.is_none_or(|bound| value(sum, marking) <= bound));
            for (index, tokens) in marking.iter().enumerate() {
                let (least, most) = facts.tokens(PlaceId::new(index));
                prop_assert!(least <= *tokens && most.is_none_or(|most| *tokens <= most));
            }
            for transition in (0..net.transitions.len()).map(TransitionId::new) {
                prop_assert!(!facts.never_fires(transition) || fire(&net, marking, transition).is_none());
            }
        }
        let initial: Vec<i64> = net.places.iter().map(|place| place.initial).collect();
        prop_assert_eq!(facts.initially(&model.system.exprs, expr), Some(value(expr, &initial)));
        let mut answer = |question| {
            let (exprs, formulas) = (&model.system.exprs, &mut model.formulas);
            let decided = facts.answer(exprs, formulas, &question, &mut Budget::unlimited()).unwrap();
            decided.map(|decided| decided.answer)
        };
        let (invariant, possible) =
            (answer(PropertyKind::Invariant(expr)), answer(PropertyKind::Possible(expr)));
        let maximum = answer(PropertyKind::Maximum(sum));
        count(2, maximum.is_some());
        if graph.is_complete {
            let truth = |truth: bool| Some(Known::Truth(truth));
            let is_true = |marking: &Vec<i64>| reference::value(&model.system, expr, marking).unwrap() != 0;
            prop_assert!(invariant.is_none() || invariant == truth(graph.markings.iter().all(is_true)));
            prop_assert!(possible.is_none() || possible == truth(graph.markings.iter().any(is_true)));
            let greatest =
                graph.markings.iter().map(|it| reference::value(&model.system, sum, it).unwrap()).max();
            prop_assert!(maximum.is_none() || maximum == greatest.map(Known::Number));
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(n_decided.get().iter().all(|count| *count > 500), "{:?}", n_decided.get());
}

#[test]
fn sums_decide_what_places_alone_do_not() {
    // Two processes, p0/p1 and p2/p3, and a lock p4; p1 and p3 need the lock. p5 has two tokens for each of p6.
    let plan: Plan = (
        vec![1, 0, 1, 0, 1, 4, 0],
        vec![
            (vec![(0, 1), (4, 1)], vec![(1, 1)]),
            (vec![(1, 1)], vec![(0, 1), (4, 1)]),
            (vec![(2, 1), (4, 1)], vec![(3, 1)]),
            (vec![(3, 1)], vec![(2, 1), (4, 1)]),
            (vec![(5, 2)], vec![(6, 1)]),
            (vec![(6, 1)], vec![(5, 2)]),
            (vec![(1, 1), (3, 1)], vec![(0, 1)]),
        ],
    );
    let net = net_of_plan(&plan);
    let facts = facts(&net);
    assert!(facts.never_fires(TransitionId::new(6)));
    let mut model = Model::new(&net, &mut Budget::unlimited()).unwrap();
    let mut check = |text: &str, expected: Option<bool>| {
        let expr = resolve(&mut model, text);
        assert_eq!(
            facts.always(&model.system.exprs, expr, &mut Budget::unlimited()).unwrap(),
            expected,
            "{text}"
        );
    };
    check("p1 + p3 <= 1", Some(true));
    check("p1 >= 1 && p3 >= 1", Some(false));
    check("fireable(t6)", Some(false));
    check("p1 + p3 + p4 == 1", Some(true));
    check("p0 + p1 + p2 + p3 >= 2", Some(true));
    check("p0 + p2 >= 1", Some(true));
    check("p5 + 2 * p6 == 4", Some(true));
    check("2 * p5 + 3 * p6 <= 8", Some(true));
    check("2 * p5 + 3 * p6 <= 7", None);
    check("p0 - p3 <= 1", Some(true));
    check("p0 >= 1", None);
    check("p0 * 9223372036854775807 >= 0 && false", Some(false));
    check("p5 * 9223372036854775807 >= 0", None);
    let sum = resolve(&mut model, "p0 + p1 + p2 + p3 + p4");
    let bound = facts.upper_bound(&model.system.exprs, sum, &mut Budget::unlimited()).unwrap();
    assert_eq!(bound, Some((3, Argument::Invariants)));
    let question = PropertyKind::Maximum(sum);
    let (exprs, formulas) = (&model.system.exprs, &mut model.formulas);
    let answer = facts.answer(exprs, formulas, &question, &mut Budget::unlimited());
    assert_eq!(answer.unwrap(), Some(Decided { answer: Known::Number(3), by: Argument::Invariants }));
}

#[test]
fn the_state_equation_decides_what_sums_do_not() {
    let always = |plan: &Plan, text: &str| {
        let net = net_of_plan(plan);
        let mut model = net.lower(Bounds::all(&net, 1000), &mut Budget::unlimited()).unwrap();
        let expr = resolve(&mut model, text);
        facts(&net).always(&model.system.exprs, expr, &mut Budget::unlimited()).unwrap()
    };
    // One token goes round: no two places have it.
    let round: Plan = (
        vec![1, 0, 0],
        vec![(vec![(0, 1)], vec![(1, 1)]), (vec![(1, 1)], vec![(2, 1)]), (vec![(2, 1)], vec![(0, 1)])],
    );
    assert_eq!(always(&round, "p0 == 0 || p1 == 0"), Some(true));
    assert_eq!(always(&round, "!(p0 == 0 || p1 == 0) && p0 + p1 >= 1"), Some(false));
    assert_eq!(always(&round, "p0 == 0 || p1 == 1"), None);
    assert_eq!(always(&round, "deadlock"), Some(false), "one case for each place that may lack a token");
    // Two tokens of the first place become one, so that the equation allows it to be emptied; but with the other it is
    // a trap.
    let shrinking: Plan = (
        vec![3, 0],
        vec![(vec![(0, 2)], vec![(0, 1)]), (vec![(0, 1)], vec![(1, 1)]), (vec![(1, 1)], vec![(0, 1)])],
    );
    assert_eq!(always(&shrinking, "p0 + p1 >= 1"), Some(true));
    assert_eq!(always(&shrinking, "p0 + p1 >= 2"), None);
}
