//! Structural reductions on small nets that show what they do, what they must not do, and how to get back.

mod common;

use std::sync::Arc;

use base::budget::Patience;
use base::{Budget, Limit, SourceMap};
use common::marking_graph::{fire, initial, is_dead};
use common::nets::{Plan, net_of_plan};
use common::reduce;
use language::{Model as _, Preserve, Rules};
use stubborn_petri::structural::{Fate, Keep, Reduced, Reducer, Rule};
use stubborn_petri::{Model, Net, PlaceId, TransitionId};

fn keep(preserve: Preserve, places: &[usize]) -> Keep {
    let places = places.iter().map(|&index| PlaceId::new(index)).collect();
    Keep { preserve, places, observes_deadlock: false }
}

fn apply(net: &Arc<Net>, keep: &Keep, rules: &[Rule]) -> Reduced {
    let rules = rules.iter().fold(Rules::none(), |rules, rule| rules.with(rule.name(), true));
    reduce(net, keep, &rules)
}

fn ids(net: &Net) -> Vec<&str> {
    net.transitions.iter().map(|transition| transition.id.as_str()).collect()
}

fn numbers(run: &[TransitionId]) -> Vec<usize> {
    run.iter().map(|transition| transition.index()).collect()
}

/// What a run of the reduced net is in the original, without the prologue.
fn expanded(reduced: &Reduced, net: &Net, run: &[usize]) -> Vec<TransitionId> {
    let run: Vec<TransitionId> = run.iter().copied().map(TransitionId::new).collect();
    reduced.path(net, &run).unwrap().split_off(reduced.prologue().len())
}

/// The marking after a run.
fn after(net: &Net, run: &[TransitionId]) -> Vec<i64> {
    run.iter().fold(initial(net), |marking, &transition| fire(net, &marking, transition).unwrap())
}

#[test]
fn a_chain_becomes_one_transition_with_the_ids_of_all() {
    // p0 -t0-> p1 -t1-> p2 -t2-> p3, back with t3; p0 and p3 are observed.
    let step = |from: usize, to: usize| (vec![(from, 1)], vec![(to, 1)]);
    let plan: Plan = (vec![1, 0, 0, 0], vec![step(0, 1), step(1, 2), step(2, 3), step(3, 0)]);
    let net = net_of_plan(&plan);
    let reduced = apply(&net, &keep(Preserve::Stuttering, &[0, 3]), &Rule::ALL);
    // Between t0 and t2, which are visible, neither p0 nor p3 has the token, and that must be seen.
    assert_eq!(ids(&reduced.net), ["t2", "t3", "t0.t1"]);
    assert_eq!(reduced.fate(PlaceId::new(3)), Fate::Kept(PlaceId::new(2)));
    assert_eq!(reduced.fate(PlaceId::new(1)), Fate::Removed);
    assert_eq!(numbers(&expanded(&reduced, &net, &[2, 0, 1])), [0, 1, 2, 3]);
    assert!(reduced.prologue().is_empty());
    assert!(reduced.net.find_transition("t0.t1") != stubborn_petri::Lookup::Unknown);
}

#[test]
fn initial_tokens_are_moved_on_before_the_run() {
    // Two tokens wait in p0 for t0; t1 puts another there.
    let plan: Plan = (vec![2, 0], vec![(vec![(0, 1)], vec![(1, 1)]), (vec![(1, 3)], vec![(0, 1)])]);
    let net = net_of_plan(&plan);
    let reduced = apply(&net, &Keep::deadlocks(), &[Rule::PostAgglomeration]);
    assert_eq!(numbers(reduced.prologue()), [0, 0]);
    assert_eq!((reduced.net.places.len(), reduced.net.places[0].initial), (1, 2));
    assert_eq!(ids(&reduced.net), ["t1.t0"]);
}

#[test]
fn what_was_left_out_is_made_up_for_before_a_deadlock() {
    // t0 fills p1, t1 needs it and p2, which is empty: the original ends after t0 and t0.
    let plan: Plan =
        (vec![2, 0, 0, 0], vec![(vec![(0, 1)], vec![(1, 1)]), (vec![(1, 1), (2, 1)], vec![(3, 1)])]);
    let net = net_of_plan(&plan);
    let reduced = apply(&net, &Keep::deadlocks(), &[Rule::PreAgglomeration]);
    assert_eq!(ids(&reduced.net), ["t0.t1"]);
    let path = reduced.path_to_deadlock(&net, &[]).unwrap();
    assert_eq!(numbers(&path), [0, 0]);
    assert!(is_dead(&net, &after(&net, &path)));
}

#[test]
fn pre_agglomeration_needs_somebody_who_comes_to_an_end() {
    // t0 needs nothing and goes on for ever: the net has no deadlock, but `t0.t1` alone would have one.
    let plan: Plan = (vec![0, 0, 0], vec![(vec![], vec![(0, 1)]), (vec![(0, 1), (1, 1)], vec![(2, 1)])]);
    let net = net_of_plan(&plan);
    for preserve in [Preserve::Deadlocks, Preserve::Stuttering] {
        assert!(!apply(&net, &keep(preserve, &[2]), &[Rule::PreAgglomeration]).is_changed());
    }
}

#[test]
fn producers_that_give_different_numbers_are_not_agglomerated() {
    // t0 gives one token, t1 two, and t2 takes two: t0 twice, or t1 once.
    let inputs_of_t2 = vec![(2, 2), (3, 1)];
    let plan: Plan = (
        vec![2, 1, 0, 1, 0],
        vec![(vec![(0, 1)], vec![(2, 1)]), (vec![(1, 1)], vec![(2, 2)]), (inputs_of_t2, vec![(4, 1)])],
    );
    let net = net_of_plan(&plan);
    let rules = [Rule::PreAgglomeration, Rule::FreeAgglomeration];
    assert!(!apply(&net, &keep(Preserve::Reachability, &[4]), &rules).is_changed());
    // If both give two, they are.
    let mut plan = plan;
    plan.1[0].1[0].1 = 2;
    let net = net_of_plan(&plan);
    assert_eq!(ids(&apply(&net, &keep(Preserve::Reachability, &[4]), &rules).net).len(), 2);
}

#[test]
fn a_cycle_must_come_back_so_a_place_that_grows_for_ever_stays() {
    // t0 goes on for ever, and p1 counts.
    let plan: Plan = (vec![1, 0], vec![(vec![(0, 1)], vec![(0, 1), (1, 1)])]);
    let net = net_of_plan(&plan);
    let n_places = |preserve| apply(&net, &keep(preserve, &[0]), &[Rule::ImplicitPlaces]).net.places.len();
    assert_eq!([Preserve::Reachability, Preserve::Stuttering].map(n_places), [1, 2]);
    // If it cannot grow for ever, it goes.
    let plan: Plan = (vec![3, 0], vec![(vec![(0, 1)], vec![(1, 1)])]);
    let reduced = apply(&net_of_plan(&plan), &keep(Preserve::Stuttering, &[0]), &[Rule::ImplicitPlaces]);
    assert_eq!(reduced.net.places.len(), 1);
}

#[test]
fn a_source_feeds_whoever_needs_it() {
    // t0 makes two tokens at a time; t1 needs three of them for each token in the observed p1.
    let plan: Plan = (vec![0, 0], vec![(vec![], vec![(0, 2)]), (vec![(0, 3)], vec![(1, 1)])]);
    let net = net_of_plan(&plan);
    let reduced = apply(&net, &keep(Preserve::Reachability, &[1]), &[Rule::SourceTransitions]);
    assert_eq!(ids(&reduced.net), ["t0.t0.t1"]);
    let run = reduced.path(&net, &[TransitionId::new(0), TransitionId::new(0)]).unwrap();
    assert_eq!(after(&net, &run)[1], 2);
    let reduced = apply(&net, &Keep::deadlocks(), &[Rule::SourceTransitions]);
    assert_eq!((reduced.net.places.len(), ids(&reduced.net)), (0, vec!["t0"]), "there is no deadlock");
}

#[test]
fn endings_go_and_are_made_up_for_at_a_deadlock() {
    // t0 takes both tokens from p0, which is seen. Behind it: t1 and t2 share p1 out, and t3 needs both.
    let plan = |last: (usize, i64)| -> Plan {
        let transitions = vec![
            (vec![(0, 1)], vec![(1, 2)]),
            (vec![(1, 1)], vec![(2, 1)]),
            (vec![(1, 1)], vec![(3, 1)]),
            (vec![(2, 1), (3, 1)], vec![last]),
        ];
        (vec![2, 0, 0, 0, 0], transitions)
    };
    let rules = [Rule::EndingTransitions];
    for preserve in [Preserve::Deadlocks, Preserve::Stuttering] {
        let net = net_of_plan(&plan((4, 1)));
        let reduced = apply(&net, &keep(preserve, &[0]), &rules);
        assert_eq!((ids(&reduced.net), reduced.net.places.len()), (vec!["t0"], 1));
        let path = reduced.path_to_deadlock(&net, &[0, 0].map(TransitionId::new)).unwrap();
        assert!(path.len() > 2 && is_dead(&net, &after(&net, &path)), "{path:?}");
        // Not if tokens come back,
        assert!(!apply(&net_of_plan(&plan((2, 1))), &keep(preserve, &[0]), &rules).is_changed());
        // or somebody else looks at them,
        let mut needed = plan((4, 1));
        needed.1.push((vec![(0, 1), (4, 1)], vec![(0, 1), (4, 1)]));
        assert!(!apply(&net_of_plan(&needed), &keep(preserve, &[0]), &rules).is_changed());
        // or they are seen, or it is seen that nothing can happen any more.
        assert!(!apply(&net, &keep(preserve, &[0, 4]), &rules).is_changed());
        let keep = Keep { observes_deadlock: true, ..keep(Preserve::Stuttering, &[0]) };
        assert!(!apply(&net, &keep, &rules).is_changed());
    }
}

#[test]
fn endings_that_may_grow_for_ever_stay_where_a_cycle_must_come_back() {
    // t0 goes on for ever and gives a token to p1, which t1 takes away.
    let plan: Plan = (vec![1, 0], vec![(vec![(0, 1)], vec![(0, 1), (1, 1)]), (vec![(1, 1)], vec![])]);
    let net = net_of_plan(&plan);
    let n_left =
        |preserve| apply(&net, &keep(preserve, &[0]), &[Rule::EndingTransitions]).net.transitions.len();
    assert_eq!([Preserve::Deadlocks, Preserve::Stuttering].map(n_left), [1, 2]);
}

#[test]
fn one_transition_is_merged_with_those_that_follow() {
    // p1 has a token already, which t1 or t2 takes: so it stays, but t0 need not wait for them.
    let plan = |gives: i64, takes: i64| -> Plan {
        let follow = |to: usize| (vec![(1, takes)], vec![(to, 1)]);
        (vec![2, 1, 0, 0], vec![(vec![(0, 1)], vec![(1, gives)]), follow(2), follow(3)])
    };
    let rules = [Rule::PostAgglomerationOfOne];
    for preserve in [Preserve::Deadlocks, Preserve::Reachability, Preserve::Stuttering] {
        let reduced = apply(&net_of_plan(&plan(1, 1)), &keep(preserve, &[0]), &rules);
        assert_eq!(ids(&reduced.net), ["t1", "t2", "t0.t1", "t0.t2"]);
        assert_eq!(reduced.fate(PlaceId::new(1)), Fate::Kept(PlaceId::new(1)));
        // What is left over stays in the place.
        let net = net_of_plan(&plan(3, 2));
        let reduced = apply(&net, &keep(preserve, &[0]), &rules);
        assert_eq!(reduced.net.transitions[2].outputs, [(PlaceId::new(1), 1), (PlaceId::new(2), 1)]);
        assert_eq!(after(&net, &expanded(&reduced, &net, &[2])), [1, 2, 1, 0]);
        // Not if too little is given, or if it is seen who follows,
        assert!(!apply(&net_of_plan(&plan(1, 2)), &keep(preserve, &[0]), &rules).is_changed());
        assert!(!apply(&net_of_plan(&plan(1, 1)), &keep(preserve, &[0, 2]), &rules).is_changed());
        // or whether anything can happen in between.
        let keep = Keep { observes_deadlock: true, ..keep(Preserve::Stuttering, &[0]) };
        assert!(!apply(&net_of_plan(&plan(1, 1)), &keep, &rules).is_changed());
    }
}

#[test]
fn one_transition_is_merged_with_those_that_give_what_it_needs() {
    // t0 gives two tokens to p1 at a time. t1 takes one of them, t2 takes four and needs p2 besides.
    let plan = |first: i64, takes: i64| -> Plan {
        let needs = vec![(1, takes), (2, 1)];
        let steps = vec![(vec![(0, 1)], vec![(1, 2)]), (vec![(1, 1)], vec![(3, 1)]), (needs, vec![(4, 1)])];
        (vec![4, first, 1, 0, 0], steps)
    };
    let rules = [Rule::FreeAgglomerationOfOne];
    let seen = |preserve| keep(preserve, &[3, 4]);
    for first in [0, 1] {
        let net = net_of_plan(&plan(first, 4));
        let reduced = apply(&net, &seen(Preserve::Reachability), &rules);
        assert_eq!(ids(&reduced.net), ["t0", "t1", "t0.t0.t2"]);
        assert_eq!(after(&net, &expanded(&reduced, &net, &[2])), [2, first, 0, 0, 1]);
        for preserve in [Preserve::Deadlocks, Preserve::Stuttering] {
            assert!(!apply(&net, &seen(preserve), &rules).is_changed());
        }
    }
    // Not if what was there at first may be enough for a part, nor if something is left over.
    assert!(!apply(&net_of_plan(&plan(2, 4)), &seen(Preserve::Reachability), &rules).is_changed());
    assert!(!apply(&net_of_plan(&plan(0, 3)), &seen(Preserve::Reachability), &rules).is_changed());
}

#[test]
fn places_that_linear_programs_find_redundant_go() {
    // A token goes round p0, p1, p2; p3 has one whenever p0 or p1 has, and t1 needs it.
    let plan = |first: i64| -> Plan {
        let steps = vec![
            (vec![(0, 1)], vec![(1, 1)]),
            (vec![(1, 1), (3, 1)], vec![(2, 1)]),
            (vec![(2, 1)], vec![(0, 1), (3, 1)]),
        ];
        (vec![1, 0, 0, first], steps)
    };
    let rules = [Rule::RedundantPlaces];
    for preserve in [Preserve::Deadlocks, Preserve::Reachability, Preserve::Stuttering] {
        let reduced = apply(&net_of_plan(&plan(1)), &keep(preserve, &[]), &rules);
        assert_eq!(reduced.fate(PlaceId::new(3)), Fate::Removed);
        assert_eq!(reduced.net.places.len(), 3);
        // Not if it is seen, or has a token too few.
        assert!(!apply(&net_of_plan(&plan(1)), &keep(preserve, &[3]), &rules).is_changed());
        assert!(!apply(&net_of_plan(&plan(0)), &keep(preserve, &[]), &rules).is_changed());
    }
}

#[test]
fn questions_are_carried_over() {
    let plan: Plan = (vec![1, 0, 0], vec![(vec![(0, 1)], vec![(1, 1)]), (vec![(1, 1)], vec![(2, 1)])]);
    let net = net_of_plan(&plan);
    let mut model = Model::new(&net, &mut Budget::unlimited()).unwrap();
    let text = "p2 >= 1 && deadlock";
    let source = SourceMap::new().add("--ltl", text.into()).unwrap();
    let expr = model.resolve(text, source, 0).unwrap();
    let exprs = &mut model.parts().0.exprs;
    let keep = Keep::of(&net, exprs, Preserve::Reachability, &[expr]);
    assert_eq!(keep, Keep { observes_deadlock: true, ..self::keep(Preserve::Reachability, &[2]) });
    let reduced = apply(&net, &keep, &Rule::ALL);
    let mut to = model::Exprs::new();
    let carried = reduced.carry(&net, exprs, expr, &mut to).unwrap();
    let mut read = Vec::new();
    to.reads(carried, &mut read);
    assert!(read.iter().all(|var| var.index() < reduced.net.places.len()));
    let all = self::keep(Preserve::Reachability, &[0]);
    let reduced = apply(&net, &all, &[Rule::IrrelevantTransitions]);
    assert_eq!(reduced.carry(&net, exprs, expr, &mut to), None, "p2 is gone");
}

#[test]
fn a_spent_budget_gives_a_net_that_is_right() {
    let step = |from: usize| (vec![(from, 1)], vec![(from + 1, 1)]);
    let plan: Plan = (vec![1, 0, 0], vec![step(0), step(1)]);
    let net = net_of_plan(&plan);
    let reducer = Reducer::new(net.clone(), &mut Budget::unlimited()).unwrap();
    let watch = Patience::new(0);
    let mut budget = Budget::new(u64::MAX, u64::MAX, &watch);
    let reduced = reducer.reduce(&Keep::deadlocks(), &Rules::all(), &mut budget).unwrap();
    assert_eq!(reduced.stop, Some(Limit::Interrupt));
    assert!(!reduced.is_changed());
    assert_eq!(reduced.net.transitions, net.transitions);
}

/// A token comes to p1 or p2, as it likes, and does the same from there: p3 gets one, or it goes around; p0 gets it back. Sometimes one of
/// the two can do something else.
#[test]
fn places_whose_tokens_can_do_the_same_become_one() {
    let plan = |gives: i64, takes: i64, other: usize| -> Plan {
        let mut steps = vec![(vec![(0, 1)], vec![(1, gives)]), (vec![(0, 1)], vec![(2, gives)])];
        for place in [1, 2] {
            steps.push((vec![(place, takes)], vec![(3, 1)]));
            steps.push((vec![(place, 1), (4, 1)], vec![(place, 1), (4, 1)]));
        }
        steps[4].1[0].0 = other;
        steps.push((vec![(3, 2)], vec![(0, 1)]));
        (vec![1, 1, 0, 0, 1], steps)
    };
    let rules = [Rule::AlikePlaces];
    let net = net_of_plan(&plan(2, 1, 3));
    for preserve in [Preserve::Deadlocks, Preserve::Reachability, Preserve::Stuttering] {
        let reduced = apply(&net, &keep(preserve, &[0, 3]), &rules);
        let places = reduced.net.places.iter().map(|place| (place.id.as_str(), place.initial));
        assert_eq!(places.collect::<Vec<_>>(), [("p0", 1), ("p1", 1), ("p3", 0), ("p4", 1)]);
        assert_eq!([1, 2].map(|place| reduced.fate(PlaceId::new(place))), [Fate::Joined(PlaceId::new(1)); 2]);
        assert_eq!(ids(&reduced.net), ["t0", "t6", "t1", "t2'", "t3'"]);
        // t1 puts two tokens into p2; the first that is taken comes from p1, where one was before.
        let run = expanded(&reduced, &net, &[2, 3, 3, 3]);
        assert_eq!(numbers(&run), [1, 2, 4, 4]);
        assert_eq!(after(&net, &run), [0, 0, 0, 3, 1]);
        // Not if they are seen,
        assert!(!apply(&net, &keep(preserve, &[2]), &rules).is_changed());
        // if they can do different things, or if several are taken at a time.
        assert!(!apply(&net_of_plan(&plan(2, 1, 4)), &keep(preserve, &[0, 3]), &rules).is_changed());
        assert!(!apply(&net_of_plan(&plan(2, 2, 3)), &keep(preserve, &[0, 3]), &rules).is_changed());
    }
}

/// One token of p1 or p2, which can do the same, is taken and comes back to p2. In the first round, the one of p1 does.
#[test]
fn a_cycle_is_gone_around_until_all_tokens_are_where_they_were() {
    let take = |place: usize| (vec![(place, 1), (0, 1)], vec![(3, 1)]);
    let plan: Plan = (vec![1, 1, 1, 0], vec![take(1), take(2), (vec![(3, 1)], vec![(0, 1), (2, 1)])]);
    let net = net_of_plan(&plan);
    let reduced = apply(&net, &keep(Preserve::Stuttering, &[0, 3]), &[Rule::AlikePlaces]);
    assert_eq!(ids(&reduced.net), ["t2", "t0'"]);
    let (path, start) = reduced.lasso(&net, &[], &[1, 0].map(TransitionId::new)).unwrap();
    assert_eq!((numbers(&path), start), (vec![0, 2, 1, 2], 2));
}

#[test]
fn long_chains_are_no_problem() {
    let n = 30_000;
    let step = |from: usize| (vec![(from, 1)], vec![(from + 1, 1)]);
    let plan: Plan = ((0..=n).map(|place| i64::from(place == 0)).collect(), (0..n).map(step).collect());
    let net = net_of_plan(&plan);
    let reduced = apply(&net, &keep(Preserve::Stuttering, &[0, n]), &Rule::ALL);
    assert!(reduced.net.transitions.len() < 20, "no transition stands for too many");
    let (mut run, mut marking) = (Vec::new(), initial(&reduced.net));
    let steps = || (0..reduced.net.transitions.len()).map(TransitionId::new);
    while let Some((step, next)) = steps().find_map(|it| Some((it, fire(&reduced.net, &marking, it)?))) {
        run.push(step.index());
        marking = next;
    }
    assert!(numbers(&expanded(&reduced, &net, &run)).into_iter().eq(0..n));
}
