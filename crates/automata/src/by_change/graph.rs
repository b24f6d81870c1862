//! What testing automata have in common: states, and steps that are labeled by changes.
//!
//! [`Ta`](super::Ta) and [`Tgta`](super::Tgta) each own one [`Graph`] and add acceptance to it, so that
//! pruning, merging and searching are written once.

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use ltl::{Prop, Valuation};

use super::expand::MAX_PROPOSITIONS;
use crate::scc::{Components, can_reach, components};
use crate::tgba::{Marks, State};

/// A set of propositions of one testing automaton, as bits: bit *i* is its *i*-th proposition. It serves
/// as a valuation (the propositions that hold) and as a changeset (those that flip).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PropSet(pub u32);

impl PropSet {
    /// No proposition; as a changeset: the step stutters.
    pub const EMPTY: PropSet = PropSet(0);

    /// The changeset between two valuations, and the valuation after a changeset.
    #[must_use]
    pub fn flip(self, other: PropSet) -> PropSet {
        PropSet(self.0 ^ other.0)
    }

    /// Whether there is no proposition in the set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the *i*-th proposition is in the set.
    pub fn contains(self, index: usize) -> bool {
        index < 32 && self.0 >> index & 1 == 1
    }

    /// What the valuation says about these propositions.
    pub fn of(valuation: &Valuation, propositions: &[Prop]) -> PropSet {
        let bits = propositions.iter().enumerate();
        PropSet(bits.fold(0, |bits, (index, &prop)| bits | u32::from(valuation.holds(prop)) << index))
    }

    /// The valuation in which exactly these propositions of the list hold.
    pub fn valuation(self, propositions: &[Prop]) -> Valuation {
        let held = propositions.iter().enumerate().filter(|&(index, _)| self.contains(index));
        held.map(|(_, &prop)| prop).collect()
    }
}

/// A step, kept with the state it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Step {
    /// The propositions that flip.
    pub change: PropSet,
    /// Where it leads.
    pub target: State,
    /// What it contributes to acceptance; always empty in a TA, whose acceptance is on states.
    pub marks: Marks,
}

/// States with steps between them. Lists are sorted and have no duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    pub(crate) propositions: Vec<Prop>,
    pub(crate) initial: Vec<(PropSet, State)>,
    pub(crate) steps: Vec<Vec<Step>>,
}

impl Graph {
    /// The graph of these parts, sorted.
    ///
    /// # Panics
    /// If propositions are not sorted, or a state or proposition does not exist.
    pub(crate) fn new(
        propositions: Vec<Prop>,
        initial: Vec<(PropSet, State)>,
        steps: Vec<Vec<Step>>,
    ) -> Graph {
        assert!(propositions.is_sorted_by(|a, b| a < b) && propositions.len() <= MAX_PROPOSITIONS);
        let fits =
            |set: PropSet, state: State| set.0 >> propositions.len() == 0 && state.index() < steps.len();
        let starts_fit = initial.iter().all(|&(valuation, state)| fits(valuation, state));
        assert!(starts_fit && steps.iter().flatten().all(|step| fits(step.change, step.target)));
        let mut graph = Graph { propositions, initial, steps };
        graph.initial.sort_unstable();
        graph.initial.dedup();
        graph.steps.iter_mut().for_each(normalize);
        graph
    }

    /// Bytes that states and steps take, about.
    pub(crate) fn bytes(&self) -> u64 {
        (self.n_states() * size_of::<Vec<Step>>() + self.n_steps() * size_of::<Step>()) as u64
    }

    /// The propositions that are watched, sorted: bit *i* of a [`PropSet`] is the *i*-th of them.
    pub fn propositions(&self) -> &[Prop] {
        &self.propositions
    }

    /// Where runs begin: valuations with states, sorted. A state may be there with several valuations.
    pub fn initial(&self) -> &[(PropSet, State)] {
        &self.initial
    }

    /// Number of states; 0 if no word is accepted and that is known.
    pub fn n_states(&self) -> usize {
        self.steps.len()
    }

    /// The states.
    pub fn states(&self) -> impl Iterator<Item = State> + use<> {
        (0..self.steps.len()).map(State::new)
    }

    /// Number of steps, stuttering loops included.
    pub fn n_steps(&self) -> usize {
        self.steps.iter().map(Vec::len).sum()
    }

    /// The steps that leave a state, sorted by change.
    pub fn steps(&self, state: State) -> &[Step] {
        &self.steps[state.index()]
    }

    /// Sorts, and drops steps that do nothing another one does not.
    pub(crate) fn normalize(&mut self, budget: &mut Budget<'_>) -> Result<(), Limit> {
        self.initial.sort_unstable();
        self.initial.dedup();
        for steps in &mut self.steps {
            (0..=steps.len() / STEPS_PER_TICK).try_for_each(|_| budget.tick())?;
            normalize(steps);
        }
        Ok(())
    }

    /// The components of the graph of those steps that the filter selects.
    pub(crate) fn components(
        &self,
        selected: impl Fn(State, &Step) -> bool,
        budget: &mut Budget<'_>,
    ) -> Result<Components, Limit> {
        let target =
            |state: usize, step: &Step| selected(State::new(state), step).then_some(step.target.index());
        components(&self.steps, target, budget)
    }

    /// The states in the set, and all from which it can be reached by selected steps.
    pub(crate) fn can_reach(
        &self,
        goal: FixedBitSet,
        selected: impl Fn(&Step) -> bool,
        budget: &mut Budget<'_>,
    ) -> Result<FixedBitSet, Limit> {
        let target = |step: &Step| selected(step).then_some(step.target.index());
        can_reach(&self.steps, target, goal, budget)
    }

    /// The states in components of these steps that together carry all the marks; `marks` says which ones a
    /// step carries.
    pub(crate) fn accepting_states(
        &self,
        selected: impl Fn(&Step) -> bool,
        marks: impl Fn(usize, &Step) -> Marks,
        all: Marks,
        budget: &mut Budget<'_>,
    ) -> Result<FixedBitSet, Limit> {
        let found = self.components(|_, step| selected(step), budget)?;
        let carried =
            |state: usize, step: &Step| selected(step).then(|| (step.target.index(), marks(state, step)));
        let seen = found.marks(&self.steps, carried, budget)?;
        Ok((0..self.n_states()).filter(|&state| seen[found.of[state]] == Some(all)).collect())
    }

    /// The part that can be reached inside the useful states, numbered breadth first, and for each of its
    /// states the old one.
    pub(crate) fn keep(
        &self,
        useful: &FixedBitSet,
        budget: &mut Budget<'_>,
    ) -> Result<(Graph, Vec<State>), Limit> {
        let mut new: Vec<Option<State>> = vec![None; self.n_states()];
        let mut order: Vec<State> = vec![];
        let mut visit = |state: State, order: &mut Vec<State>| -> Option<State> {
            if !useful.contains(state.index()) {
                return None;
            }
            Some(*new[state.index()].get_or_insert_with(|| {
                order.push(state);
                State::new(order.len() - 1)
            }))
        };
        let mut initial = vec![];
        for &(valuation, state) in &self.initial {
            initial.extend(visit(state, &mut order).map(|state| (valuation, state)));
        }
        let mut steps = vec![];
        while let Some(&state) = order.get(steps.len()) {
            budget.tick()?;
            let old = self.steps[state.index()].iter();
            let kept = old.filter_map(|step| {
                let target = visit(step.target, &mut order)?;
                Some(Step { target, ..*step })
            });
            steps.push(kept.collect());
        }
        let mut graph = Graph { propositions: self.propositions.clone(), initial, steps };
        graph.normalize(budget)?;
        Ok((graph, order))
    }

    /// The graph in which each class of states is one state. Classes are numbered from 0 without gaps.
    pub(crate) fn quotient(
        &self,
        class: &[usize],
        n_classes: usize,
        budget: &mut Budget<'_>,
    ) -> Result<Graph, Limit> {
        let of = |state: State| State::new(class[state.index()]);
        let mut steps = vec![vec![]; n_classes];
        for state in self.states() {
            budget.tick()?;
            let moved =
                self.steps[state.index()].iter().map(|step| Step { target: of(step.target), ..*step });
            steps[class[state.index()]].extend(moved);
        }
        let initial = self.initial.iter().map(|&(valuation, state)| (valuation, of(state))).collect();
        let mut graph = Graph { propositions: self.propositions.clone(), initial, steps };
        graph.normalize(budget)?;
        Ok(graph)
    }
}

/// Sorts the steps of a state, and drops those that do nothing another one does not.
pub(super) fn normalize(steps: &mut Vec<Step>) {
    steps.sort_unstable();
    steps.dedup();
    let all = steps.clone();
    // Steps with the same change and target are neighbors, and there are few of them.
    steps.retain(|step| {
        let from = all.partition_point(|other| (other.change, other.target) < (step.change, step.target));
        let alike =
            all[from..].iter().take_while(|other| (other.change, other.target) == (step.change, step.target));
        !alike.into_iter().any(|other| other.marks != step.marks && other.marks.includes(step.marks))
    });
}

/// Sorting so many steps takes about as long as one tick stands for.
const STEPS_PER_TICK: usize = 16;
