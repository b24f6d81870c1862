//! Random nets: the lowered system does what the token game says, however small places start.

mod common;

use std::sync::Arc;

use base::{Budget, SourceMap};
use common::explore;
use common::marking_graph::{self, MarkingGraph};
use common::nets::net_of_plan;
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
    let arcs = |weights: &[i64]| {
        weights.iter().copied().enumerate().filter(|(_, weight)| *weight > 0).collect::<Vec<_>>()
    };
    let transitions = transitions.iter().map(|(inputs, outputs)| (arcs(inputs), arcs(outputs))).collect();
    net_of_plan(&(initial.clone(), transitions))
}

/// The net of a shape and its markings by the token game, unless there are too many.
fn token_game(shape: &Shape) -> Option<(Arc<Net>, MarkingGraph)> {
    let net = net(shape);
    let graph = marking_graph::explore(&net, MAX_MARKINGS);
    graph.is_complete.then_some((net, graph))
}

fn config() -> Config {
    Config { rng_seed: RngSeed::Fixed(7), failure_persistence: None, cases: 3000, ..Config::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn lowered_nets_play_the_token_game(shape in shapes()) {
        let Some((net, graph)) = token_game(&shape) else { return Ok(()) };
        for (transition, (inputs, outputs)) in net.transitions.iter().zip(&shape.1) {
            prop_assert!(transition.inputs.iter().all(|(place, weight)| inputs[place.index()] == *weight));
            prop_assert!(transition.outputs.iter().all(|(place, weight)| outputs[place.index()] == *weight));
            let n_arcs = inputs.iter().chain(outputs).filter(|weight| **weight > 0).count();
            prop_assert_eq!(transition.inputs.len() + transition.outputs.len(), n_arcs);
        }
        let markings = &graph.markings;
        let n_steps = graph.edges.iter().map(|edges| edges.len() as u64).sum::<u64>();
        let n_deadlocks = graph.edges.iter().filter(|edges| edges.is_empty()).count() as u64;
        let most = net.place_bounds(&mut Budget::unlimited()).unwrap();
        for marking in markings {
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
        let Some((net, graph)) = token_game(&shape) else { return Ok(()) };
        let mut model = Model::new(&net, &mut Budget::unlimited()).unwrap();
        let mut expr = |text: String| {
            let source = SourceMap::new().add("--ltl", text.clone().into()).unwrap();
            model.resolve(&text, source, 0).unwrap()
        };
        let deadlock = expr("deadlock".to_owned());
        let fireable: Vec<_> = (0..net.transitions.len()).map(|t| expr(format!("fireable(t{t})"))).collect();
        for (marking, edges) in graph.markings.iter().zip(&graph.edges) {
            let enabled: Vec<usize> = edges.iter().map(|(transition, _)| transition.index()).collect();
            let holds = |expr| reference::value(&model.system, expr, marking) == Ok(1);
            prop_assert_eq!(holds(deadlock), enabled.is_empty());
            for (t, &expr) in fireable.iter().enumerate() {
                prop_assert_eq!(holds(expr), enabled.contains(&t));
            }
        }
    }
}
