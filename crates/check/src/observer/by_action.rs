//! Testers: observers of actions. A tester is one more process that takes part in every action that
//! it watches.

use automata::{GaveUp, TauFree, Tester};
use base::Budget;
use model::chain::first;
use model::{ActionId, LabelId};
use rustc_hash::FxHashMap;

use super::{Event, Observer, ObserverStep, Stance, Valuations, Watches};
use crate::decide::Subject;

/// A tester, made τ-free, that watches a run.
#[derive(Clone)]
pub struct ByAction<'a> {
    tester: &'a Tester,
    free: TauFree,
    /// Per action, the letter of its label.
    letters: Vec<Option<u32>>,
    steps: Vec<ObserverStep>,
}

impl<'a> ByAction<'a> {
    /// A legal tester whose letters are these labels of a system.
    pub fn new<S: Subject>(
        system: &S,
        tester: &'a Tester,
        labels: &[LabelId],
        budget: &mut Budget<'_>,
    ) -> Result<ByAction<'a>, GaveUp> {
        let letter_of_label: FxHashMap<LabelId, u32> = labels.iter().copied().zip(0..).collect();
        let letter_of = |action| system.label(action).and_then(|label| letter_of_label.get(&label).copied());
        let letters = (0..system.n_actions()).map(ActionId::new).map(letter_of).collect();
        Ok(ByAction { tester, free: TauFree::new(tester, budget)?, letters, steps: Vec::new() })
    }

    #[inline]
    fn letter(&self, event: Event) -> Option<u32> {
        self.letters[first(event.action?, self.letters.len()).index()]
    }
}

impl Observer for ByAction<'_> {
    fn watches(&self) -> Watches {
        Watches::Actions
    }

    fn all_marks(&self) -> u64 {
        1
    }

    fn n_states(&self) -> u64 {
        self.tester.states.len() as u64
    }

    fn initial(&mut self, _valuation: u32, _valuations: &Valuations, out: &mut Vec<u32>) {
        out.extend_from_slice(self.free.initial());
    }

    #[inline]
    fn steps(&mut self, state: u32, event: Event, _valuations: &Valuations) -> &[ObserverStep] {
        self.steps.clear();
        match self.letter(event) {
            None => self.steps.push(ObserverStep { to: state, marks: 0 }),
            Some(letter) => {
                let steps = self.free.steps(state, letter).iter();
                self.steps
                    .extend(steps.map(|step| ObserverStep { to: step.to, marks: u64::from(step.marked) }));
            }
        }
        &self.steps
    }

    #[inline]
    fn stance(&mut self, state: u32, _valuation: u32, _valuations: &Valuations) -> Stance {
        let state = &self.tester.states[state as usize];
        Stance {
            at_once: state.reject,
            deadlock: state.deadlock,
            livelock: state.livelock,
            may_wait: state.livelock,
            passing: false,
        }
    }

    #[inline]
    fn is_silent(&mut self, event: Event, _valuations: &Valuations) -> bool {
        self.letter(event).is_none()
    }

    fn has_livelocks(&self) -> bool {
        self.tester.states.iter().any(|state| state.livelock)
    }

    fn has_marks(&self) -> bool {
        self.tester.states.iter().any(|state| state.infinite)
    }

    fn owns_deadlocks(&self) -> bool {
        true
    }
}
