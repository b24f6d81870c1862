//! Random nets: the lowered system does what the token game says, however small places start.

mod common;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use base::{Budget, SourceMap};
use common::{explore, net_of};
use language::Model as _;
use model::reference;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use stubborn_petri::{Bounds, Model, Net, PlaceId};

/// Nets with more markings than this are left alone: they are probably unbounded.
const MAX_MARKINGS: usize = 500;

/// Initial tokens; and per transition, what it takes and gives, by place.
type Shape = (Vec<i64>, Vec<(Vec<i64>, Vec<i64>)>);

fn shapes() -> impl Strategy<Value = Shape> {
    let weight = || prop_oneof![6 => Just(0i64), 3 => Just(1), 1 => 2..4i64];
    (1..6usize).prop_flat_map(move |n_places| {
        let side = move || prop::collection::vec(weight(), n_places);
        (prop::collection::vec(0..4i64, n_places), prop::collection::vec((side(), side()), 0..6))
    })
}

fn net((initial, transitions): &Shape) -> Arc<Net> {
    let mut text = String::from("<pnml><net id='n'>");
    let arc = |from: String, to: String, weight: i64| match weight {
        0 => String::new(),
        weight => {
            format!(
                "<arc source='{from}' target='{to}'><inscription><text>{weight}</text></inscription></arc>"
            )
        }
    };
    for (t, (inputs, outputs)) in transitions.iter().enumerate() {
        inputs
            .iter()
            .enumerate()
            .for_each(|(p, &weight)| text += &arc(format!("p{p}"), format!("t{t}"), weight));
        outputs
            .iter()
            .enumerate()
            .for_each(|(p, &weight)| text += &arc(format!("t{t}"), format!("p{p}"), weight));
        text += &format!("<transition id='t{t}'/>");
    }
    for (p, tokens) in initial.iter().enumerate() {
        text += &format!("<place id='p{p}'><initialMarking><text>{tokens}</text></initialMarking></place>");
    }
    net_of(&(text + "</net></pnml>"))
}

/// The markings after each enabled transition.
fn successors((_, transitions): &Shape, marking: &[i64]) -> Vec<(usize, Vec<i64>)> {
    let enabled = |(_, (inputs, _)): &(usize, &(Vec<i64>, Vec<i64>))| {
        inputs.iter().zip(marking).all(|(weight, tokens)| tokens >= weight)
    };
    let fire = |(t, (inputs, outputs)): (usize, &(Vec<i64>, Vec<i64>))| {
        let after =
            marking.iter().zip(inputs).zip(outputs).map(|((tokens, taken), given)| tokens - taken + given);
        (t, after.collect())
    };
    transitions.iter().enumerate().filter(enabled).map(fire).collect()
}

/// All markings, the number of steps between them and the number of deadlocks, unless there are too many.
fn token_game(shape: &Shape) -> Option<(BTreeSet<Vec<i64>>, u64, u64)> {
    let mut met = BTreeSet::from([shape.0.clone()]);
    let mut open = VecDeque::from([shape.0.clone()]);
    let (mut n_steps, mut n_deadlocks) = (0, 0);
    while let Some(marking) = open.pop_front() {
        let successors = successors(shape, &marking);
        n_steps += successors.len() as u64;
        n_deadlocks += u64::from(successors.is_empty());
        for (_, successor) in successors {
            if met.insert(successor.clone()) {
                open.push_back(successor);
            }
        }
        if met.len() > MAX_MARKINGS {
            return None;
        }
    }
    Some((met, n_steps, n_deadlocks))
}

fn config() -> Config {
    Config { rng_seed: RngSeed::Fixed(7), failure_persistence: None, cases: 3000, ..Config::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn lowered_nets_play_the_token_game(shape in shapes()) {
        let net = net(&shape);
        let Some((markings, n_steps, n_deadlocks)) = token_game(&shape) else { return Ok(()) };
        let most = net.place_bounds(&mut Budget::unlimited()).unwrap();
        for marking in &markings {
            prop_assert!(marking.iter().zip(&most).all(|(tokens, most)| most.is_none_or(|most| *tokens <= most)));
        }
        let guessed = Bounds::guess(&net, &mut Budget::unlimited()).unwrap();
        for bounds in [guessed, Bounds::all(&net, 0), Bounds::all(&net, 1 << 40)] {
            let mut model = net.lower(bounds, &mut Budget::unlimited()).unwrap();
            let (explored, _, _) = explore(&mut model, &[], u64::MAX);
            prop_assert!(explored.stop.is_none());
            prop_assert_eq!(explored.stats.states, markings.len() as u64);
            prop_assert_eq!(explored.stats.transitions, n_steps);
            prop_assert_eq!(explored.stats.deadlocks, n_deadlocks);
            for index in 0..net.places.len() {
                let place = PlaceId::new(index);
                let max = markings.iter().map(|marking| marking[index]).max().unwrap();
                prop_assert!(max <= model.bounds().get(place).max(net.place(place).initial));
            }
        }
    }

    #[test]
    fn fireability_and_deadlock_are_those_of_the_token_game(shape in shapes()) {
        let net = net(&shape);
        let Some((markings, _, _)) = token_game(&shape) else { return Ok(()) };
        let mut model = Model::new(&net, &mut Budget::unlimited()).unwrap();
        let mut expr = |text: String| {
            let source = SourceMap::new().add("--ltl", text.clone().into()).unwrap();
            model.resolve(&text, source, 0).unwrap()
        };
        let deadlock = expr("deadlock".to_owned());
        let fireable: Vec<_> = (0..net.transitions.len()).map(|t| expr(format!("fireable(t{t})"))).collect();
        for marking in &markings {
            let enabled: Vec<usize> = successors(&shape, marking).into_iter().map(|(t, _)| t).collect();
            let holds = |expr| reference::value(&model.system, expr, marking) == Ok(1);
            prop_assert_eq!(holds(deadlock), enabled.is_empty());
            for (t, &expr) in fireable.iter().enumerate() {
                prop_assert_eq!(holds(expr), enabled.contains(&t));
            }
        }
    }
}
