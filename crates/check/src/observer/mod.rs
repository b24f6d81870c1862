//! Observers of runs by what is true in their states.
//!
//! An observer is an automaton that reads the valuations of a run's states. Valuations are
//! numbered as they are met, and an observer's steps are computed once for each of its states and
//! each number: a step in a search is then a lookup.

mod by_value;

pub use by_value::ByValue;

use model::{StepError, System};
use rustc_hash::FxHashMap;

/// A step of an observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObserverStep {
    /// Target state.
    pub to: u32,
    /// The marks seen on the way, as bits.
    pub marks: u64,
}

/// An automaton that watches a run.
pub trait Observer {
    /// All marks, as bits: a run is accepted iff each is seen infinitely often.
    fn all_marks(&self) -> u64;

    /// Number of states.
    fn n_states(&self) -> u32;

    /// The initial states.
    fn initial(&self) -> Vec<u32>;

    /// The steps of a state where the valuation of this number holds.
    fn steps(&mut self, state: u32, valuation: u32, valuations: &Valuations) -> &[ObserverStep];
}

/// The valuations met so far, numbered.
#[derive(Clone, Debug)]
pub struct Valuations {
    /// The system's propositions, in the order of the bits.
    propositions: Vec<usize>,
    numbers: FxHashMap<Box<[u64]>, u32>,
    list: Vec<Box<[u64]>>,
    current: Vec<u64>,
}

impl Valuations {
    /// No valuations of these propositions of a system.
    pub fn new(propositions: Vec<usize>) -> Valuations {
        let current = vec![0; propositions.len().div_ceil(64)];
        Valuations { propositions, numbers: FxHashMap::default(), list: Vec::new(), current }
    }

    /// The number of the valuation of a state.
    pub fn number_of<S: System>(
        &mut self,
        system: &S,
        state: &[u32],
        scratch: &mut S::Scratch,
    ) -> Result<u32, StepError> {
        self.current.fill(0);
        for (bit, &proposition) in self.propositions.iter().enumerate() {
            if system.holds(proposition, state, scratch)? {
                self.current[bit / 64] |= 1 << (bit % 64);
            }
        }
        if let Some(&number) = self.numbers.get(self.current.as_slice()) {
            return Ok(number);
        }
        let number = self.list.len() as u32;
        self.list.push(self.current.clone().into());
        self.numbers.insert(self.current.clone().into(), number);
        Ok(number)
    }

    /// The bits of a valuation.
    pub fn bits(&self, number: u32) -> &[u64] {
        &self.list[number as usize]
    }
}
