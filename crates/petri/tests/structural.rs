//! Random nets: what structural reductions have to keep is kept, rule by rule and all together, and every
//! run of the reduced net is one of the original.
//!
//! `STUBBORN_CASES=20 cargo test --release -p stubborn-petri --test structural` runs twenty times as many
//! cases, `STUBBORN_SEED=7` others.

mod common;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use common::marking_graph::{Marking, MarkingGraph, explore, fire, initial, is_dead, word_difference};
use common::nets::{ArcList, Plan, net_of_plan};
use common::reduce;
use language::{Preserve, Rules};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use stubborn_petri::structural::{Fate, Keep, Reduced, Rule};
use stubborn_petri::{Net, PlaceId, TransitionId};

/// Nets with more markings than this are probably unbounded.
const MAX_MARKINGS: usize = 300;

fn arcs(n_places: usize) -> impl Strategy<Value = ArcList> {
    let weight = prop_oneof![8 => Just(1i64), 2 => Just(2), 1 => Just(3)];
    let count = prop_oneof![1 => Just(0usize), 6 => Just(1), 3 => Just(2), 1 => Just(3)];
    let arc = (0..n_places, weight);
    count.prop_flat_map(move |count| prop::collection::vec(arc.clone(), count))
}

fn plans() -> impl Strategy<Value = Plan> {
    let tokens = || prop_oneof![3 => Just(0i64), 4 => Just(1), 1 => Just(2), 1 => Just(3)];
    let small = (1..6usize).prop_flat_map(move |n_places| {
        let transitions = prop::collection::vec((arcs(n_places), arcs(n_places)), 0..6);
        (prop::collection::vec(tokens(), n_places), transitions)
    });
    let growth = (0..9u8, 0..8usize, 0..8usize, prop_oneof![4 => Just(1i64), 1 => Just(2)]);
    (small, prop::collection::vec(growth, 0..5)).prop_map(|(mut plan, growth)| {
        growth.into_iter().for_each(|growth| grow(&mut plan, growth));
        plan
    })
}

/// Adds to a net what some rule removes, more or less.
fn grow((initial, transitions): &mut Plan, (kind, a, b, weight): (u8, usize, usize, i64)) {
    let (n_places, n_transitions) = (initial.len(), transitions.len());
    let (place, transition) = (a % n_places, a.checked_rem(n_transitions));
    let other = b.checked_rem(n_transitions);
    match (kind, transition) {
        // A transition becomes two in a row; sometimes the second one needs something more.
        (0 | 1, Some(transition)) => {
            let mut outputs = std::mem::replace(&mut transitions[transition].1, vec![(n_places, weight)]);
            let mut inputs = vec![(n_places, if b % 3 == 0 { 1 } else { weight })];
            if kind == 1 && b % 2 == 0 {
                inputs.push((b % n_places, 1));
            } else if kind == 1 {
                transitions[transition].1.extend(outputs.pop());
            }
            transitions.push((inputs, outputs));
            initial.push(i64::from(a % 5 == 0));
        }
        // Another way out of a place, or into one.
        (2, Some(transition)) if b % 2 == 0 => {
            let inputs = transitions[transition].0.clone();
            transitions.push((inputs, vec![(b % n_places, weight)]));
        }
        (2, Some(transition)) => {
            let mut outputs = transitions[transition].1.clone();
            outputs.iter_mut().for_each(|(_, its)| *its *= weight);
            transitions.push((vec![(b % n_places, 1)], outputs));
        }
        // A place beside another one, or beside two.
        (3, _) => {
            let second = b % n_places;
            for (inputs, outputs) in &mut *transitions {
                for arcs in [inputs, outputs] {
                    let sum: i64 = arcs
                        .iter()
                        .filter(|(its, _)| *its == place || (b % 2 == 0 && *its == second))
                        .map(|(_, its)| its * weight)
                        .sum();
                    arcs.extend((sum > 0).then_some((n_places, sum)));
                }
            }
            initial.push((initial[place] + initial[second]) * weight);
        }
        // A place where tokens can go to, and come back from.
        (4, _) => {
            transitions.push((vec![(place, 1)], vec![(n_places, 1)]));
            transitions.push((vec![(n_places, 1)], vec![(place, 1)]));
            initial.push(0);
        }
        // Two transitions as one.
        (5, Some(first)) => {
            let second = other.unwrap_or(first);
            let both = |side: fn(&(ArcList, ArcList)) -> &ArcList| {
                [side(&transitions[first]).clone(), side(&transitions[second]).clone()].concat()
            };
            let added = (both(|it| &it.0), both(|it| &it.1));
            transitions.push(added);
        }
        // A transition that does the same, and needs more.
        (6, Some(transition)) => {
            let (mut inputs, mut outputs) = transitions[transition].clone();
            inputs.push((b % n_places, weight));
            outputs.push((b % n_places, weight));
            transitions.push((inputs, outputs));
        }
        // Tokens for several who need something more, or more of them; some may be there already.
        (7, Some(transition)) => {
            let outputs = std::mem::replace(&mut transitions[transition].1, vec![(n_places, weight)]);
            transitions.push((vec![(n_places, weight), (b % n_places, 1)], outputs));
            transitions.push((vec![(n_places, if b % 2 == 0 { 2 * weight } else { 1 })], vec![(place, 1)]));
            initial.push(i64::from(a % 3 == 0));
        }
        // A place whose tokens can do the same, mostly, and somebody who puts tokens there instead.
        (8, _) => {
            let mirrored = |arcs: &ArcList| -> ArcList {
                arcs.iter()
                    .map(|&(its, weight)| (if its == place { n_places } else { its }, weight))
                    .collect()
            };
            let takers = transitions.iter().filter(|(inputs, _)| inputs.iter().any(|(its, _)| *its == place));
            let mut takers: Vec<_> = takers.map(|it| (mirrored(&it.0), mirrored(&it.1))).collect();
            if let Some(transition) = transition
                && b % 2 == 0
            {
                let outputs = &mut transitions[transition].1;
                outputs.iter_mut().filter(|(its, _)| *its == place).for_each(|(its, _)| *its = n_places);
            }
            if let Some(taker) = takers.first_mut()
                && b % 5 == 0
            {
                taker.1.push((b % n_places, 1));
            }
            transitions.append(&mut takers);
            initial.push(i64::from(a % 3 == 0));
        }
        _ => {}
    }
}

fn all_rule_sets() -> Vec<Rules> {
    let each = Rule::ALL.into_iter().map(|rule| Rules::none().with(rule.name(), true));
    let all_but = Rule::ALL.into_iter().map(|rule| Rules::all().with(rule.name(), false));
    each.chain(all_but).chain([Rules::all()]).collect()
}

/// A reduction and everything that it is compared with.
struct Case<'c> {
    net: &'c Net,
    graph: &'c MarkingGraph,
    keep: &'c Keep,
    reduced: &'c Reduced,
    small: MarkingGraph,
}

impl Case<'_> {
    fn check(&self) -> Result<(), String> {
        let counts_deadlocks = self.keep.preserve != Preserve::Reachability || self.keep.observes_deadlock;
        let labels = self.graph.labels(&self.keep.places, self.keep.observes_deadlock);
        let small = self.small.labels(&self.observed()?, self.keep.observes_deadlock);
        match self.keep.preserve {
            _ if !self.small.is_complete => return Ok(()),
            // What is found in a finite reduced net must be there in an infinite one.
            Preserve::Deadlocks | Preserve::Stuttering if !self.graph.is_complete => {}
            Preserve::Reachability => {
                let all: BTreeSet<&Marking> = labels.iter().collect();
                let found: BTreeSet<&Marking> = small.iter().collect();
                let is_same = if self.graph.is_complete { all == found } else { all.is_subset(&found) };
                if !is_same {
                    return Err(format!("markings {all:?} became {found:?}"));
                }
            }
            Preserve::Deadlocks if self.graph.has_deadlock() != self.small.has_deadlock() => {
                return Err("there is a deadlock in one net only".to_owned());
            }
            Preserve::Deadlocks => {}
            Preserve::Stuttering => {
                let difference = word_difference((self.graph, &labels), (&self.small, &small));
                if let Some(difference) = difference {
                    return Err(difference);
                }
            }
        }
        self.check_runs(&small, counts_deadlocks)?;
        if self.keep.preserve == Preserve::Stuttering { self.check_cycle() } else { Ok(()) }
    }

    /// The observed places in the reduced net.
    fn observed(&self) -> Result<Vec<PlaceId>, String> {
        let kept = |&place: &PlaceId| match self.reduced.fate(place) {
            Fate::Kept(place) => Ok(place),
            fate => Err(format!("an observed place is {fate:?}")),
        };
        self.keep.places.iter().map(kept).collect()
    }

    /// Every step of the reduced net is one or more of the original, with the same word; and where it ends,
    /// the original comes to an end.
    fn check_runs(&self, labels: &[Marking], counts_deadlocks: bool) -> Result<(), String> {
        let mut originals: Vec<Option<Marking>> = vec![None; self.small.markings.len()];
        let start = self.follow(&initial(self.net), self.reduced.prologue())?;
        originals[0] = start.last().cloned();
        let first: Vec<Marking> = start.iter().map(|marking| self.label(marking)).collect();
        if first.iter().any(|label| *label != labels[0]) {
            return Err(format!("the prologue shows {first:?}"));
        }
        for (state, edges) in self.small.edges.iter().enumerate() {
            let marking = originals[state].clone().ok_or("not reached")?;
            self.check_marking(&marking, &self.small.markings[state])?;
            if edges.is_empty() && counts_deadlocks {
                let rest = self.reduced.complete(self.net, &marking).ok_or("too long")?;
                let end = self.follow(&marking, &rest)?.pop().ok_or("empty")?;
                if !is_dead(self.net, &end) || self.label(&end) != labels[state] {
                    return Err(format!("{end:?} after {marking:?} is no deadlock of the original"));
                }
            }
            for &(transition, target) in edges {
                let run = self.reduced.expand(self.net, &mut marking.clone(), &[transition]);
                let run = self.follow(&marking, &run.ok_or("not enabled")?)?;
                let shown: Vec<Marking> = run.iter().map(|marking| self.label(marking)).collect();
                let after = run.last().ok_or("empty")?;
                self.check_marking(after, &self.small.markings[target])?;
                if self.keep.preserve == Preserve::Stuttering {
                    let n_changes = shown.windows(2).filter(|pair| pair[0] != pair[1]).count();
                    if n_changes > 1
                        || shown.first() != Some(&labels[state])
                        || shown.last() != Some(&labels[target])
                    {
                        return Err(format!("one step shows {shown:?}"));
                    }
                }
                originals[target].get_or_insert(after.clone());
            }
        }
        Ok(())
    }

    /// A walk that ends in a cycle does so in the original.
    fn check_cycle(&self) -> Result<(), String> {
        for turn in 0..3 {
            let mut path: Vec<(usize, TransitionId)> = Vec::new();
            let mut state = 0;
            while !self.small.edges[state].is_empty() && path.iter().all(|(met, _)| *met != state) {
                let edges = &self.small.edges[state];
                let (transition, next) = edges[(state + turn) % edges.len()];
                path.push((state, transition));
                state = next;
            }
            let Some(begin) = path.iter().position(|(met, _)| *met == state) else { continue };
            let run: Vec<TransitionId> = path.iter().map(|(_, transition)| *transition).collect();
            let (whole, start) =
                self.reduced.lasso(self.net, &run[..begin], &run[begin..]).ok_or("no lasso")?;
            let (prefix, cycle) = whole.split_at(start);
            let before = self.follow(&initial(self.net), prefix)?.pop().ok_or("empty")?;
            let after = self.follow(&before, cycle)?.pop().ok_or("empty")?;
            if before != after || cycle.is_empty() {
                return Err(format!("the cycle {cycle:?} leads from {before:?} to {after:?}"));
            }
        }
        Ok(())
    }

    fn label(&self, marking: &[i64]) -> Marking {
        let tokens = self.keep.places.iter().map(|place| marking[place.index()]);
        let deadlock = self.keep.observes_deadlock.then(|| i64::from(is_dead(self.net, marking)));
        tokens.chain(deadlock).collect()
    }

    fn check_marking(&self, original: &[i64], reduced: &[i64]) -> Result<(), String> {
        // Of places that are counted together, what is not seen yet.
        let mut joined = reduced.to_vec();
        for (index, tokens) in original.iter().enumerate() {
            let is_same = match self.reduced.fate(PlaceId::new(index)) {
                Fate::Kept(place) => reduced[place.index()] == *tokens,
                Fate::Constant(constant) => constant == *tokens,
                Fate::Joined(place) => {
                    joined[place.index()] -= tokens;
                    true
                }
                Fate::Removed => true,
            };
            if !is_same {
                return Err(format!("p{index} of {original:?} has other tokens in {reduced:?}"));
            }
        }
        for fate in (0..original.len()).map(|index| self.reduced.fate(PlaceId::new(index))) {
            if let Fate::Joined(place) = fate
                && joined[place.index()] != 0
            {
                return Err(format!("{original:?} has other tokens together in {reduced:?}"));
            }
        }
        Ok(())
    }

    /// The markings along a run of the original.
    fn follow(&self, from: &[i64], run: &[TransitionId]) -> Result<Vec<Marking>, String> {
        let mut markings = vec![from.to_vec()];
        for &transition in run {
            let after = fire(self.net, &markings[markings.len() - 1], transition)
                .ok_or_else(|| format!("{transition:?} of {run:?} is not enabled after {from:?}"))?;
            markings.push(after);
        }
        Ok(markings)
    }
}

/// Reduces and compares; returns what was applied.
fn check(
    net: &Arc<Net>,
    graph: &MarkingGraph,
    keep: &Keep,
    rules: &Rules,
) -> Result<Vec<(Rule, usize)>, String> {
    let reduced = reduce(net, keep, rules);
    if !reduced.is_changed() {
        assert_eq!(reduced.net.transitions, net.transitions);
        return Ok(Vec::new());
    }
    let small = explore(&reduced.net, MAX_MARKINGS);
    let case = Case { net, graph, keep, reduced: &reduced, small };
    if graph.is_complete && !case.small.is_complete {
        return Err("the reduced net is larger".to_owned());
    }
    case.check().map_err(|error| {
        format!("{error}\n{keep:?}\n{:?}\n{:?}", reduced.applied, reduced.net.transitions)
    })?;
    Ok(reduced.applied.clone())
}

fn keeps(n_places: usize, mask: u32, observes_deadlock: bool) -> Vec<Keep> {
    let places: Vec<PlaceId> =
        (0..n_places).filter(|index| mask & 1 << index != 0).map(PlaceId::new).collect();
    let keep = |preserve, observes_deadlock| Keep { preserve, places: places.clone(), observes_deadlock };
    vec![
        keep(Preserve::Deadlocks, false),
        keep(Preserve::Reachability, observes_deadlock),
        keep(Preserve::Stuttering, observes_deadlock),
        Keep::deadlocks(),
    ]
}

#[test]
fn reductions_keep_what_they_have_to() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let config = Config {
        rng_seed: RngSeed::Fixed(number("STUBBORN_SEED").unwrap_or(1987)),
        failure_persistence: None,
        cases: 3000 * number("STUBBORN_CASES").unwrap_or(1) as u32,
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    let rule_sets = all_rule_sets();
    let counts: RefCell<BTreeMap<(String, Rule), usize>> = RefCell::default();
    let strategy = (plans(), any::<u32>(), any::<u32>(), prop::bool::weighted(0.3));
    let result = TestRunner::new(config).run(&strategy, |(plan, mask, other_mask, observes_deadlock)| {
        let net = net_of_plan(&plan);
        let graph = explore(&net, MAX_MARKINGS);
        for keep in keeps(net.places.len(), mask & other_mask, observes_deadlock) {
            for rules in &rule_sets {
                let applied = check(&net, &graph, &keep, rules).map_err(TestCaseError::fail)?;
                if graph.is_complete {
                    for (rule, _) in applied {
                        *counts.borrow_mut().entry((format!("{:?}", keep.preserve), rule)).or_default() += 1;
                    }
                }
            }
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let counts = counts.into_inner();
    let total = |rule: Rule| {
        counts.iter().filter(|((_, its), _)| *its == rule).map(|(_, count)| count).sum::<usize>()
    };
    for rule in Rule::ALL.into_iter().filter(|rule| *rule != Rule::SourceTransitions) {
        assert!(total(rule) > 300, "{rule} was applied {} times\n{counts:#?}", total(rule));
    }
}
