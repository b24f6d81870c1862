//! A net while it is being reduced: which places and transitions are left, who is next to whom.
//!
//! Transitions never get other arcs, except that those of a removed place go away: whoever changes a
//! transition makes a new one and removes the old one. So the lists of a place's neighbors stay right,
//! apart from removed transitions, which are skipped.
//!
//! Whatever the rules do, this stays true: a marking that the reduced net can reach is that of the
//! kept places in a marking that the original can reach, by the written-out transitions
//! ([`parts`](super::parts)) after the prologue. A place that others were [joined](Work::join) to has the tokens of all.

use language::Preserve;

use super::parts::{PartId, Parts};
use super::rule::Keep;
use crate::invariants::TokenSum;
use crate::net::{Net, PlaceId};
use crate::sparse::{Sparse, combine, number_of};

/// A transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) inputs: Sparse,
    pub(super) outputs: Sparse,
    /// The tokens it adds to each place that it changes.
    pub(super) changes: Sparse,
    /// What it stands for.
    pub(super) part: PartId,
}

impl Step {
    pub(super) fn new(inputs: Sparse, outputs: Sparse, part: PartId) -> Step {
        let changes = combine(&inputs, &outputs, |taken, given| Some(given - taken)).unwrap_or_default();
        Step { inputs, outputs, changes, part }
    }

    /// One transition after another, as one; nothing if numbers get too large. The first needs `m ≥ in₁`,
    /// the second `m - in₁ + out₁ ≥ in₂`.
    pub(super) fn then(&self, next: &Step) -> Option<Step> {
        let missing = combine(&self.outputs, &next.inputs, |given, needed| Some((needed - given).max(0)))?;
        let left = combine(&self.outputs, &next.inputs, |given, needed| Some((given - needed).max(0)))?;
        let inputs = combine(&self.inputs, &missing, i64::checked_add)?;
        let outputs = combine(&left, &next.outputs, i64::checked_add)?;
        Some(Step::new(inputs, outputs, self.part))
    }

    /// Whether it needs no place more than `other` does.
    pub(super) fn needs_at_most(&self, other: &Step) -> bool {
        self.inputs.len() <= other.inputs.len()
            && self.inputs.iter().all(|&(place, weight)| weight <= number_of(&other.inputs, place))
    }
}

/// Where a place of the original went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceState {
    Here,
    /// It always had this many tokens.
    Constant(i64),
    Removed,
}

/// Multiplications that linear programs may take in one reduction.
const PROGRAMS: u64 = 10_000_000;

/// A net while it is being reduced.
pub(super) struct Work<'f> {
    pub(super) preserve: Preserve,
    pub(super) observes_deadlock: bool,
    pub(super) observed: Vec<bool>,
    pub(super) places: Vec<PlaceState>,
    pub(super) initial: Vec<i64>,
    steps: Vec<Option<Step>>,
    producers: Vec<Vec<u32>>,
    consumers: Vec<Vec<u32>>,
    pub(super) parts: Parts,
    /// What the original does before the reduced net starts.
    pub(super) prologue: Vec<PartId>,
    /// Transitions that a reduced run may leave enabled in the original when it ends, and that must be fired then
    /// (`pre-agglomeration`, `ending-transitions`), in the order in which they were left.
    pub(super) leftovers: Vec<PartId>,
    /// Weighted sums of tokens that the original never exceeds.
    pub(super) sums: &'f [TokenSum],
    /// The most tokens that places can have, where that is known.
    pub(super) bounds: Vec<Option<i64>>,
    /// Per place, the place whose tokens its own are counted with ([`alike`](super::alike)).
    joined: Vec<Option<u32>>,
    /// Multiplications that are left for linear programs.
    pub(super) programs_left: u64,
    pub(super) n_arcs: usize,
    /// Agglomerations stop when the net has so many arcs.
    pub(super) max_arcs: usize,
    /// How often anything was changed.
    pub(super) n_changes: u64,
    /// How often any rule was applied.
    pub(super) n_applied: usize,
}

impl<'f> Work<'f> {
    /// What a net takes while it is being reduced: it may get twice as large, and is looked at in several ways.
    pub(super) fn bytes(net: &Net) -> u64 {
        (300 * (net.places.len() + net.transitions.len()) + 230 * net.n_arcs()) as u64
    }

    pub(super) fn new(net: &Net, keep: &Keep, sums: &'f [TokenSum], bounds: &'f [Option<i64>]) -> Work<'f> {
        let mut observed = vec![false; net.places.len()];
        keep.places.iter().for_each(|place| observed[place.index()] = true);
        let mut work = Work {
            preserve: keep.preserve,
            observes_deadlock: keep.observes_deadlock && keep.preserve != Preserve::Deadlocks,
            observed,
            places: vec![PlaceState::Here; net.places.len()],
            initial: net.places.iter().map(|place| place.initial).collect(),
            steps: Vec::with_capacity(net.transitions.len()),
            producers: vec![Vec::new(); net.places.len()],
            consumers: vec![Vec::new(); net.places.len()],
            parts: Parts::new(net.transitions.len()),
            prologue: Vec::new(),
            leftovers: Vec::new(),
            bounds: bounds.to_vec(),
            joined: vec![None; net.places.len()],
            sums,
            programs_left: PROGRAMS,
            n_arcs: 0,
            max_arcs: net.n_arcs().saturating_mul(2).saturating_add(1000),
            n_changes: 0,
            n_applied: 0,
        };
        let arcs = |arcs: &[(PlaceId, i64)]| {
            arcs.iter().map(|&(place, weight)| (place.index() as u32, weight)).collect()
        };
        for (index, transition) in net.transitions.iter().enumerate() {
            work.add(Step::new(arcs(&transition.inputs), arcs(&transition.outputs), index as PartId));
        }
        work.n_changes = 0;
        work
    }

    pub(super) fn is_here(&self, place: u32) -> bool {
        self.places[place as usize] == PlaceState::Here
    }

    pub(super) fn is_observed(&self, place: u32) -> bool {
        self.observed[place as usize]
    }

    pub(super) fn initial(&self, place: u32) -> i64 {
        self.initial[place as usize]
    }

    /// The places that are left.
    pub(super) fn place_list(&self) -> Vec<u32> {
        (0..self.places.len() as u32).filter(|&place| self.is_here(place)).collect()
    }

    /// The transitions that are left.
    pub(super) fn step_list(&self) -> Vec<u32> {
        (0..self.steps.len() as u32).filter(|&step| self.steps[step as usize].is_some()).collect()
    }

    /// A transition, if it is left.
    pub(super) fn get(&self, step: u32) -> Option<&Step> {
        self.steps[step as usize].as_ref()
    }

    /// The transitions that take tokens from a place.
    pub(super) fn consumers(&self, place: u32) -> impl Iterator<Item = (u32, &Step)> {
        self.consumers[place as usize].iter().filter_map(|&step| Some((step, self.get(step)?)))
    }

    /// The transitions that put tokens into a place.
    pub(super) fn producers(&self, place: u32) -> impl Iterator<Item = (u32, &Step)> {
        self.producers[place as usize].iter().filter_map(|&step| Some((step, self.get(step)?)))
    }

    /// The transitions next to a place, each once.
    pub(super) fn neighbors(&self, place: u32) -> impl Iterator<Item = (u32, &Step)> {
        let not_met = move |(_, step): &(u32, &Step)| number_of(&step.inputs, place) == 0;
        self.consumers(place).chain(self.producers(place).filter(not_met))
    }

    /// How many transitions may be next to a place, removed ones counted.
    pub(super) fn degree(&self, place: u32) -> usize {
        self.consumers[place as usize].len() + self.producers[place as usize].len()
    }

    /// Forgets removed transitions in the lists of the places.
    pub(super) fn tidy_up(&mut self) {
        let Work { steps, producers, consumers, .. } = self;
        for list in producers.iter_mut().chain(consumers) {
            list.retain(|&step| steps[step as usize].is_some());
        }
    }

    /// Whether a transition changes what is observed.
    pub(super) fn is_visible(&self, step: &Step) -> bool {
        step.changes.iter().any(|&(place, _)| self.is_observed(place))
    }

    pub(super) fn add(&mut self, step: Step) -> u32 {
        let index = self.steps.len() as u32;
        step.inputs.iter().for_each(|&(place, _)| self.consumers[place as usize].push(index));
        step.outputs.iter().for_each(|&(place, _)| self.producers[place as usize].push(index));
        self.n_arcs += step.inputs.len() + step.outputs.len();
        self.steps.push(Some(step));
        self.n_changes += 1;
        index
    }

    pub(super) fn remove_step(&mut self, step: u32) {
        if let Some(step) = self.steps[step as usize].take() {
            self.n_arcs -= step.inputs.len() + step.outputs.len();
            self.n_changes += 1;
        }
    }

    /// Removes a place and its arcs.
    pub(super) fn remove_place(&mut self, place: u32, state: PlaceState) {
        self.drop_arcs(place);
        self.places[place as usize] = state;
        self.n_changes += 1;
    }

    /// Removes the arcs of a place.
    pub(super) fn drop_arcs(&mut self, place: u32) {
        let Work { steps, producers, consumers, n_arcs, .. } = self;
        let (consumers, producers) =
            (std::mem::take(&mut consumers[place as usize]), std::mem::take(&mut producers[place as usize]));
        for index in consumers.into_iter().chain(producers) {
            if let Some(step) = &mut steps[index as usize] {
                for arcs in [&mut step.inputs, &mut step.outputs, &mut step.changes] {
                    if let Ok(at) = arcs.binary_search_by_key(&place, |(its, _)| *its) {
                        arcs.remove(at);
                    }
                }
                *n_arcs -= 1;
            }
        }
    }

    /// Counts the tokens of places with those of another.
    pub(super) fn join(&mut self, root: u32, places: &[u32]) {
        for &place in places {
            self.joined[place as usize] = Some(root);
            let [its, others] = [root, place].map(|place| self.bounds[place as usize]);
            self.bounds[root as usize] = its.zip(others).and_then(|(its, others)| its.checked_add(others));
        }
        self.joined[root as usize] = Some(root);
    }

    /// Whether the tokens of others are counted with those of a place, or the other way round.
    pub(super) fn is_joined(&self, place: u32) -> bool {
        self.joined[place as usize].is_some()
    }

    /// The place that the tokens of a place are counted with, if there is one.
    pub(super) fn joined_with(&self, place: u32) -> Option<u32> {
        let mut root = self.joined[place as usize]?;
        while let Some(next) = self.joined[root as usize].filter(|next| *next != root) {
            root = next;
        }
        Some(root)
    }

    /// Whether removing this place cannot turn a run that never repeats a marking into a cycle. The
    /// original must come back where a cycle of the reduced net does: it does if the place cannot grow
    /// for ever.
    pub(super) fn may_lose(&self, place: u32) -> bool {
        self.preserve != Preserve::Stuttering || self.bounds[place as usize].is_some()
    }
}
