//! All markings of a small net by the token game, and whether two nets have the same words: slow, obvious,
//! and nothing of the library but the net itself.

#![allow(dead_code)] // Each test uses a part of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use stubborn_petri::{Net, PlaceId, TransitionId};

pub(crate) type Marking = Vec<i64>;

pub(crate) struct MarkingGraph {
    pub(crate) markings: Vec<Marking>,
    pub(crate) edges: Vec<Vec<(TransitionId, usize)>>,
    /// Whether these are all.
    pub(crate) is_complete: bool,
}

pub(crate) fn initial(net: &Net) -> Marking {
    net.places.iter().map(|place| place.initial).collect()
}

/// The marking after a transition, if it is enabled.
pub(crate) fn fire(net: &Net, marking: &[i64], transition: TransitionId) -> Option<Marking> {
    let transition = net.transition(transition);
    let mut after = marking.to_vec();
    for &(place, weight) in &transition.inputs {
        after[place.index()] -= weight;
        if after[place.index()] < 0 {
            return None;
        }
    }
    transition.outputs.iter().for_each(|&(place, weight)| after[place.index()] += weight);
    Some(after)
}

pub(crate) fn is_dead(net: &Net, marking: &[i64]) -> bool {
    (0..net.transitions.len()).all(|index| fire(net, marking, TransitionId::new(index)).is_none())
}

/// The markings, breadth first; at most so many are expanded.
pub(crate) fn explore(net: &Net, max: usize) -> MarkingGraph {
    let mut numbers: HashMap<Marking, usize> = HashMap::from([(initial(net), 0)]);
    let mut graph = MarkingGraph { markings: vec![initial(net)], edges: Vec::new(), is_complete: true };
    while graph.edges.len() < graph.markings.len() {
        if graph.edges.len() >= max {
            graph.is_complete = false;
            break;
        }
        let marking = graph.markings[graph.edges.len()].clone();
        let mut edges = Vec::new();
        for transition in (0..net.transitions.len()).map(TransitionId::new) {
            let Some(after) = fire(net, &marking, transition) else { continue };
            let number = *numbers.entry(after.clone()).or_insert_with(|| {
                graph.markings.push(after);
                graph.markings.len() - 1
            });
            edges.push((transition, number));
        }
        graph.edges.push(edges);
    }
    graph
}

impl MarkingGraph {
    /// What is observed in each marking; last, whether it is a deadlock, if that is observed.
    pub(crate) fn labels(&self, places: &[PlaceId], with_deadlock: bool) -> Vec<Marking> {
        let label = |(marking, edges): (&Marking, &Vec<_>)| {
            let tokens = places.iter().map(|place| marking[place.index()]);
            tokens.chain(with_deadlock.then_some(i64::from(edges.is_empty()))).collect()
        };
        self.markings.iter().zip(&self.edges).map(label).collect()
    }

    pub(crate) fn has_deadlock(&self) -> bool {
        self.edges.iter().any(Vec::is_empty)
    }

    /// Whether each transition can be made enabled again from every marking, by the definition.
    pub(crate) fn is_live(&self, n_transitions: usize) -> bool {
        (0..n_transitions).all(|transition| {
            let mut can: Vec<bool> = self
                .edges
                .iter()
                .map(|edges| edges.iter().any(|(its, _)| its.index() == transition))
                .collect();
            loop {
                let before = can.clone();
                for (state, edges) in self.edges.iter().enumerate() {
                    can[state] |= edges.iter().any(|(_, target)| before[*target]);
                }
                if can == before {
                    return can.iter().all(|can| *can);
                }
            }
        })
    }

    fn successors(&self, state: usize) -> impl Iterator<Item = usize> {
        self.edges[state].iter().map(|(_, target)| *target)
    }

    /// Whether a run can stay for ever among markings with the same label, from each marking: it ends,
    /// or goes in a cycle.
    fn stays(&self, labels: &[Marking]) -> Vec<bool> {
        // Remove what cannot stay, until nothing changes.
        let mut stays = vec![true; self.edges.len()];
        loop {
            let mut is_changed = false;
            for state in 0..self.edges.len() {
                let goes_on = self.edges[state].is_empty()
                    || self.successors(state).any(|next| stays[next] && labels[next] == labels[state]);
                if stays[state] && !goes_on {
                    stays[state] = false;
                    is_changed = true;
                }
            }
            if !is_changed {
                return stays;
            }
        }
    }

    /// All markings that can be reached from these without a change of label.
    fn closed(&self, labels: &[Marking], states: BTreeSet<usize>) -> BTreeSet<usize> {
        let mut open: Vec<usize> = states.iter().copied().collect();
        let mut closed = states;
        while let Some(state) = open.pop() {
            for next in self.successors(state).filter(|next| labels[*next] == labels[state]) {
                if closed.insert(next) {
                    open.push(next);
                }
            }
        }
        closed
    }
}

/// Where a word can lead.
type Set = BTreeSet<usize>;

/// Whether the maximal runs of both graphs have the same words, apart from repeated letters, where a run
/// that ends repeats its last letter.
///
/// A word is a sequence of changing letters, infinite or with an end where the last letter stays for ever,
/// which is written as one more letter. The set of beginnings of such words determines the set of words,
/// since in a finite graph an infinite word all of whose beginnings are there is itself there. The
/// beginnings are compared by the construction of subsets. If they differ, the shortest difference is
/// returned.
pub(crate) fn word_difference(
    (left, left_labels): (&MarkingGraph, &[Marking]),
    (right, right_labels): (&MarkingGraph, &[Marking]),
) -> Option<String> {
    let (left_stays, right_stays) = (left.stays(left_labels), right.stays(right_labels));
    if left_labels[0] != right_labels[0] {
        return Some("the first letters differ".to_owned());
    }
    let start = (left.closed(left_labels, Set::from([0])), right.closed(right_labels, Set::from([0])));
    let mut met: BTreeSet<(Set, Set)> = BTreeSet::from([start.clone()]);
    let mut open = vec![(start, vec![left_labels[0].clone()])];
    let mut next = 0;
    while let Some(((in_left, in_right), word)) = open.get(next).cloned() {
        next += 1;
        let stays = (in_left.iter().any(|&s| left_stays[s]), in_right.iter().any(|&s| right_stays[s]));
        if stays.0 != stays.1 {
            return Some(format!("after {word:?}, staying is possible: {stays:?}"));
        }
        let (of_left, of_right) = (step(left, left_labels, &in_left), step(right, right_labels, &in_right));
        if !of_left.keys().eq(of_right.keys()) {
            let letters = (of_left.keys().collect::<Vec<_>>(), of_right.keys().collect::<Vec<_>>());
            return Some(format!("after {word:?}, the next letters are {letters:?}"));
        }
        for ((letter, in_left), in_right) in of_left.into_iter().zip(of_right.into_values()) {
            let pair = (left.closed(left_labels, in_left), right.closed(right_labels, in_right));
            if met.insert(pair.clone()) {
                open.push((pair, word.iter().cloned().chain([letter]).collect()));
            }
        }
    }
    None
}

/// Where each other letter leads.
fn step(graph: &MarkingGraph, labels: &[Marking], from: &Set) -> BTreeMap<Marking, Set> {
    let mut after: BTreeMap<Marking, Set> = BTreeMap::new();
    for &state in from {
        for next in graph.successors(state).filter(|&next| labels[next] != labels[state]) {
            after.entry(labels[next].clone()).or_default().insert(next);
        }
    }
    after
}
