//! Random testers and specifications for random networks, and what they say by the definitions of
//! [valmari.93.cav]: Theorem 3.3 on the full product, and traces, failures and divergences for
//! specifications.

use std::collections::{BTreeSet, HashMap};

use automata::tester::{Edge, State};
use automata::{Spec, Tester};
use model::{ActionSystem, LabelId};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::networks::{Network, Space};

/// A tester or a specification: numbers are taken modulo what exists.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Which labels of the network are letters.
    pub letters: Vec<usize>,
    /// Four flags per state.
    pub states: Vec<[bool; 4]>,
    /// Source, letter (0 is τ), target.
    pub edges: Vec<(usize, usize, usize)>,
}

/// Which of the conditions C1 to C4 hold.
pub type Conditions = [bool; 4];

/// Any recipe.
pub fn recipe() -> impl Strategy<Value = Recipe> {
    let flags = [0.1, 0.3, 0.4, 0.3].map(proptest::bool::weighted);
    (
        vec(0..12usize, 1..5),
        vec(flags, 1..5),
        vec((0..5usize, prop_oneof![1 => Just(0usize), 6 => 1..6usize], 0..5usize), 1..14),
    )
        .prop_map(|(letters, states, edges)| Recipe { letters, states, edges })
}

impl Recipe {
    /// The labels of the network that are letters.
    pub fn labels(&self, network: &Network) -> Vec<usize> {
        let visible: Vec<usize> = network.offered().into_iter().filter(|&label| label != 0).collect();
        let chosen: BTreeSet<usize> = self
            .letters
            .iter()
            .filter(|_| !visible.is_empty())
            .map(|letter| visible[letter % visible.len()])
            .collect();
        chosen.into_iter().collect()
    }

    fn edges(&self, n_letters: usize, tau_ascends: bool) -> Vec<Edge> {
        let n = self.states.len();
        let edges: BTreeSet<Edge> = (self.edges.iter())
            .map(|&(from, letter, to)| (from % n, letter, to % n))
            .filter(|&(from, letter, to)| if letter == 0 { !tau_ascends || from < to } else { n_letters > 0 })
            .map(|(from, letter, to)| Edge {
                from: from as u32,
                letter: letter.checked_sub(1).map(|letter| (letter % n_letters) as u32),
                to: to as u32,
            })
            .collect();
        edges.into_iter().collect()
    }

    /// The tester. Where the recipe has a τ-loop or a τ out of a deadlock state, it is left out.
    pub fn tester(&self, network: &Network) -> Tester {
        let labels = self.labels(network);
        let state = |(index, &[reject, deadlock, livelock, infinite]): (usize, &[bool; 4])| State {
            name: format!("t{index}"),
            reject,
            deadlock,
            livelock,
            infinite,
        };
        let states: Vec<State> = self.states.iter().enumerate().map(state).collect();
        let mut edges = self.edges(labels.len(), true);
        edges.retain(|edge| edge.letter.is_some() || !states[edge.from as usize].deadlock);
        Tester {
            letters: labels.iter().map(|label| format!("l{label}")).collect(),
            states,
            initial: 0,
            edges,
        }
    }

    /// The specification.
    pub fn spec(&self, network: &Network) -> Spec {
        let labels = self.labels(network);
        Spec {
            letters: labels.iter().map(|label| format!("l{label}")).collect(),
            states: (0..self.states.len()).map(|index| format!("d{index}")).collect(),
            initial: 0,
            edges: self.edges(labels.len(), false),
        }
    }
}

/// The labels of a system that have these names.
///
/// # Panics
/// If a name is unknown.
pub fn label_ids(system: &ActionSystem, names: &[String]) -> Vec<LabelId> {
    let find = |name: &String| {
        let at = system.labels().iter().position(|label| !label.internal && label.name == *name);
        LabelId::new(at.expect("a label of the system"))
    };
    names.iter().map(find).collect()
}

/// Outgoing edges by source: label and target.
fn outgoing(space: &Space) -> Vec<Vec<(usize, usize)>> {
    let mut outgoing = vec![Vec::new(); space.states.len()];
    space.transitions.iter().for_each(|&(from, label, to, _)| outgoing[from].push((label, to)));
    outgoing
}

/// An edge of a graph of pairs: target, whether the observer takes part, whether it is marked.
type PairEdge = (usize, bool, bool);

/// Which conditions hold in the full product, by Theorem 3.3.
pub fn conditions(space: &Space, tester: &Tester, labels: &[usize]) -> Conditions {
    let outgoing = outgoing(space);
    let mut numbers = HashMap::from([((tester.initial, 0usize), 0usize)]);
    let mut pairs = vec![(tester.initial, 0usize)];
    let mut edges: Vec<Vec<PairEdge>> = Vec::new();
    while edges.len() < pairs.len() {
        let (t, s) = pairs[edges.len()];
        let marked = tester.states[t as usize].infinite;
        let mut targets = Vec::new();
        for &(label, to) in &outgoing[s] {
            match labels.iter().position(|&known| known == label) {
                None => targets.push(((t, to), false, false)),
                Some(letter) => {
                    let follows =
                        tester.edges.iter().filter(|e| e.from == t && e.letter == Some(letter as u32));
                    targets.extend(follows.map(|edge| ((edge.to, to), true, marked)));
                }
            }
        }
        let tau = tester.edges.iter().filter(|edge| edge.from == t && edge.letter.is_none());
        targets.extend(tau.map(|edge| ((edge.to, s), true, marked)));
        let row = targets.into_iter().map(|(pair, takes_part, marked)| {
            let number = *numbers.entry(pair).or_insert_with(|| {
                pairs.push(pair);
                pairs.len() - 1
            });
            (number, takes_part, marked)
        });
        let row = row.collect();
        edges.push(row);
    }
    let state = |pair: usize| &tester.states[pairs[pair].0 as usize];
    let all = 0..pairs.len();
    let on_invisible_cycle =
        |&pair: &usize| edges[pair].iter().any(|e| !e.1 && reaches(&edges, e.0, pair, |edge| !edge.1));
    let on_marked_cycle =
        |&pair: &usize| edges[pair].iter().any(|e| e.2 && reaches(&edges, e.0, pair, |_| true));
    [
        all.clone().any(|pair| state(pair).reject),
        all.clone().any(|pair| state(pair).deadlock && edges[pair].is_empty()),
        all.clone().filter(|&pair| state(pair).livelock).any(|pair| on_invisible_cycle(&pair)),
        all.clone().any(|pair| on_marked_cycle(&pair)),
    ]
}

fn reaches(edges: &[Vec<PairEdge>], from: usize, to: usize, follow: impl Fn(&PairEdge) -> bool) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut work = vec![from];
    while let Some(node) = work.pop() {
        if node == to {
            return true;
        }
        for edge in edges[node].iter().filter(|edge| follow(edge)) {
            if seen.insert(edge.0) {
                work.push(edge.0);
            }
        }
    }
    false
}

/// Whether a network does only what a specification allows, by traces, stable failures and
/// divergences.
pub fn conforms(space: &Space, spec: &Spec, labels: &[usize]) -> bool {
    let outgoing = outgoing(space);
    let silent =
        |s: usize| outgoing[s].iter().filter(|(label, _)| !labels.contains(label)).map(|(_, to)| *to);
    let diverges = |s: usize| {
        let mut seen: BTreeSet<usize> = silent(s).collect();
        let mut work: Vec<usize> = seen.iter().copied().collect();
        while let Some(next) = work.pop() {
            work.extend(silent(next).filter(|&to| seen.insert(to)));
        }
        seen.contains(&s)
    };
    let tau = |d: u32| spec.edges.iter().filter(move |edge| edge.from == d && edge.letter.is_none());
    let close = |mut set: BTreeSet<u32>| {
        let mut work: Vec<u32> = set.iter().copied().collect();
        while let Some(d) = work.pop() {
            work.extend(tau(d).map(|edge| edge.to).filter(|&to| set.insert(to)));
        }
        set
    };
    let spec_diverges = |d: u32| close(tau(d).map(|edge| edge.to).collect()).contains(&d);
    let offers = |d: u32| -> BTreeSet<u32> {
        spec.edges.iter().filter(|edge| edge.from == d).filter_map(|edge| edge.letter).collect()
    };
    let first = (0usize, close([spec.initial].into()));
    let mut seen = BTreeSet::from([first.clone()]);
    let mut work = vec![first];
    while let Some((s, set)) = work.pop() {
        if diverges(s) && !set.iter().any(|&d| spec_diverges(d)) {
            return false;
        }
        if silent(s).next().is_none() {
            let offered: BTreeSet<u32> = outgoing[s]
                .iter()
                .filter_map(|(label, _)| {
                    labels.iter().position(|known| known == label).map(|letter| letter as u32)
                })
                .collect();
            let stable = set.iter().filter(|&&d| tau(d).next().is_none());
            if !stable.clone().any(|&d| offers(d).is_subset(&offered)) {
                return false;
            }
        }
        for (label, to) in &outgoing[s] {
            let next = match labels.iter().position(|known| known == label) {
                None => set.clone(),
                Some(letter) => {
                    let after = spec
                        .edges
                        .iter()
                        .filter(|e| set.contains(&e.from) && e.letter == Some(letter as u32));
                    close(after.map(|edge| edge.to).collect())
                }
            };
            if next.is_empty() {
                return false;
            }
            if seen.insert((*to, next.clone())) {
                work.push((*to, next));
            }
        }
    }
    true
}
