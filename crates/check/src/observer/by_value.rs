//! Observers by value: TGBA, and BA as a special case. They read the valuation of the state that a
//! step leaves.

use automata::Label;
use automata::scc::components;
use automata::tgba::{Edge, State, Tgba};
use base::Budget;
use fixedbitset::FixedBitSet;
use ltl::{Prop, Valuation};

use super::{Event, Observer, ObserverStep, Stance, Valuations, Watches};

/// A TGBA that watches a run.
#[derive(Clone)]
pub struct ByValue<'a> {
    tgba: &'a Tgba,
    /// The propositions, in the order of the bits of valuations.
    propositions: Vec<Prop>,
    /// Per valuation and state, the range of `steps`.
    rows: Vec<Option<(u32, u32)>>,
    steps: Vec<ObserverStep>,
    /// The states that accept at once.
    at_once: FixedBitSet,
    /// The states that accepted runs may come back to for ever.
    recurrent: FixedBitSet,
}

impl<'a> ByValue<'a> {
    /// An observer whose valuations have these propositions, in the order of their bits.
    pub fn new(tgba: &'a Tgba, propositions: Vec<Prop>) -> ByValue<'a> {
        let (rows, steps) = (Vec::new(), Vec::new());
        let (at_once, recurrent) = (FixedBitSet::new(), recurrent_states(tgba));
        ByValue { tgba, propositions, rows, steps, at_once, recurrent }
    }

    /// The same, which accepts at once in states from which everything is accepted. That is right only if
    /// every run goes on for ever.
    #[must_use]
    pub fn stopping(mut self) -> ByValue<'a> {
        self.at_once = universal_states(self.tgba);
        self
    }

    fn compute(&mut self, state: u32, number: u32, valuations: &Valuations) -> (u32, u32) {
        let valuation = valuation(number, valuations, &self.propositions);
        let start = self.steps.len() as u32;
        for edge in self.tgba.edges(State::new(state as usize)) {
            if self.tgba.labels().holds(edge.label, &valuation) {
                self.steps.push(ObserverStep { to: edge.target.index() as u32, marks: edge.marks.0 });
            }
        }
        (start, self.steps.len() as u32)
    }
}

/// The states with a loop that reads every letter and has all marks.
pub(super) fn universal_states(tgba: &Tgba) -> FixedBitSet {
    let is_universal = |state: &State| {
        let accepts = |edge: &Edge| {
            edge.target == *state && edge.label == Label::TRUE && edge.marks == tgba.all_marks()
        };
        tgba.edges(*state).iter().any(accepts)
    };
    tgba.states().filter(is_universal).map(State::index).collect()
}

/// The states in strong components that have all marks.
pub(crate) fn recurrent_states(tgba: &Tgba) -> FixedBitSet {
    let steps = |state: State| -> Vec<ObserverStep> {
        let step = |edge: &Edge| ObserverStep { to: edge.target.index() as u32, marks: edge.marks.0 };
        tgba.edges(state).iter().map(step).collect()
    };
    on_accepting_cycles(&tgba.states().map(steps).collect::<Vec<_>>(), tgba.all_marks().0)
}

/// The states in strong components whose edges together have all marks.
pub(super) fn on_accepting_cycles(edges: &[Vec<ObserverStep>], all_marks: u64) -> FixedBitSet {
    let found = components(edges, |_, step| Some(step.to as usize), &mut Budget::unlimited());
    let found = found.expect("a budget without limits is never spent");
    let mut marks = vec![None; found.n];
    for (state, row) in edges.iter().enumerate() {
        for step in row.iter().filter(|step| found.of[step.to as usize] == found.of[state]) {
            *marks[found.of[state]].get_or_insert(0) |= step.marks;
        }
    }
    (0..edges.len()).filter(|&state| marks[found.of[state]] == Some(all_marks)).collect()
}

/// The valuation of a number, for automata; `propositions` are in the order of the bits.
pub(super) fn valuation(number: u32, valuations: &Valuations, propositions: &[Prop]) -> Valuation {
    let is_true = |bit: &usize| valuations.holds(number, *bit);
    (0..propositions.len()).filter(is_true).map(|bit| propositions[bit]).collect()
}

impl Observer for ByValue<'_> {
    fn watches(&self) -> Watches {
        Watches::Source
    }

    fn all_marks(&self) -> u64 {
        self.tgba.all_marks().0
    }

    fn n_states(&self) -> u64 {
        self.tgba.n_states() as u64
    }

    fn initial(&mut self, _valuation: u32, _valuations: &Valuations, out: &mut Vec<u32>) {
        out.push(self.tgba.initial().index() as u32);
    }

    #[inline]
    fn steps(&mut self, state: u32, event: Event, valuations: &Valuations) -> &[ObserverStep] {
        let n_states = self.tgba.n_states();
        let row = event.from as usize * n_states + state as usize;
        if row >= self.rows.len() {
            self.rows.resize((event.from as usize + 1) * n_states, None);
        }
        let (from, to) = match self.rows[row] {
            Some(range) => range,
            None => {
                let range = self.compute(state, event.from, valuations);
                self.rows[row] = Some(range);
                range
            }
        };
        &self.steps[from as usize..to as usize]
    }

    #[inline]
    fn stance(&mut self, state: u32, _valuation: u32, _valuations: &Valuations) -> Stance {
        let at = state as usize;
        let passing = !self.recurrent.contains(at);
        // It reads a letter where that begins, so it may have moved on when the letter changes, if it ever does.
        Stance { at_once: self.at_once.contains(at), may_wait: true, passing, ..Stance::default() }
    }

    fn is_accepting(&self, state: u32) -> bool {
        let state = State::new(state as usize);
        !self.tgba.edges(state).is_empty() && self.tgba.common_marks(state) == self.tgba.all_marks()
    }
}
