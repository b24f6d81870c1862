//! The state-labeled automata of [hansen.02.fmics]: a state carries the valuation that the system
//! must have there. They accept by infinitely many visits, at once, or where the system ends.

use automata::extended::Extended;
use ltl::Prop;

use super::by_value::valuation;
use super::{Event, Observer, ObserverStep, Stance, Valuations, Watches};

/// An extended Büchi automaton that watches a run.
#[derive(Clone)]
pub struct StateLabeled<'a> {
    automaton: &'a Extended,
    /// The propositions, in the order of the bits of valuations.
    propositions: Vec<Prop>,
    owns_deadlocks: bool,
    /// Per valuation and state: whether the state carries it.
    fits: Vec<Vec<bool>>,
    steps: Vec<ObserverStep>,
}

impl<'a> StateLabeled<'a> {
    /// An observer whose valuations have these propositions, in the order of their bits. With
    /// `owns_deadlocks` its deadlock states say which ends of the system are accepted.
    pub fn new(automaton: &'a Extended, propositions: Vec<Prop>, owns_deadlocks: bool) -> StateLabeled<'a> {
        StateLabeled { automaton, propositions, owns_deadlocks, fits: Vec::new(), steps: Vec::new() }
    }

    fn look_at(&mut self, number: u32, valuations: &Valuations) {
        while self.fits.len() <= number as usize {
            let all = valuation(self.fits.len() as u32, valuations, &self.propositions);
            let agrees = |own: &ltl::Valuation| {
                self.automaton.propositions.iter().all(|&prop| own.holds(prop) == all.holds(prop))
            };
            self.fits.push(self.automaton.states.iter().map(|state| agrees(&state.valuation)).collect());
        }
    }
}

impl Observer for StateLabeled<'_> {
    fn watches(&self) -> Watches {
        Watches::Target
    }

    fn all_marks(&self) -> u64 {
        1
    }

    fn n_states(&self) -> u64 {
        self.automaton.states.len() as u64
    }

    fn initial(&mut self, valuation: u32, valuations: &Valuations, out: &mut Vec<u32>) {
        self.look_at(valuation, valuations);
        let fits = &self.fits[valuation as usize];
        let states = self.automaton.states.iter().enumerate();
        out.extend(states.filter(|(at, state)| state.initial && fits[*at]).map(|(at, _)| at as u32));
    }

    fn steps(&mut self, state: u32, event: Event, valuations: &Valuations) -> &[ObserverStep] {
        self.look_at(event.to, valuations);
        let fits = &self.fits[event.to as usize];
        let state = &self.automaton.states[state as usize];
        let marks = u64::from(state.infinite);
        self.steps.clear();
        let next = state.successors.iter().filter(|&&to| fits[to]);
        self.steps.extend(next.map(|&to| ObserverStep { to: to as u32, marks }));
        &self.steps
    }

    fn stance(&mut self, state: u32, _valuation: u32, _valuations: &Valuations) -> Stance {
        let state = &self.automaton.states[state as usize];
        Stance { at_once: state.finite, deadlock: self.owns_deadlocks && state.deadlock, ..Stance::default() }
    }

    fn owns_deadlocks(&self) -> bool {
        self.owns_deadlocks
    }

    fn is_accepting(&self, state: u32) -> bool {
        self.automaton.states[state as usize].infinite
    }
}
