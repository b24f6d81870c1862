//! Observers by value: TGBA, and BA as a special case. They read the valuation of the state that a
//! step leaves.

use automata::tgba::{State, Tgba};
use ltl::{Prop, Valuation};

use super::{Observer, ObserverStep, Valuations};

/// A TGBA that watches a run.
pub struct ByValue<'a> {
    tgba: &'a Tgba,
    /// The propositions, in the order of the bits of valuations.
    propositions: Vec<Prop>,
    /// Per valuation and state, the range of `steps`.
    rows: Vec<Option<(u32, u32)>>,
    steps: Vec<ObserverStep>,
}

impl<'a> ByValue<'a> {
    /// An observer whose valuations have these propositions, in the order of their bits.
    pub fn new(tgba: &'a Tgba, propositions: Vec<Prop>) -> ByValue<'a> {
        ByValue { tgba, propositions, rows: Vec::new(), steps: Vec::new() }
    }

    fn compute(&mut self, state: u32, bits: &[u64]) -> (u32, u32) {
        let is_true = |bit: &usize| bits[bit / 64] >> (bit % 64) & 1 == 1;
        let valuation: Valuation =
            (0..self.propositions.len()).filter(is_true).map(|bit| self.propositions[bit]).collect();
        let start = self.steps.len() as u32;
        for edge in self.tgba.edges(State::new(state as usize)) {
            if self.tgba.labels().holds(edge.label, &valuation) {
                self.steps.push(ObserverStep { to: edge.target.index() as u32, marks: edge.marks.0 });
            }
        }
        (start, self.steps.len() as u32)
    }
}

impl Observer for ByValue<'_> {
    fn all_marks(&self) -> u64 {
        self.tgba.all_marks().0
    }

    fn n_states(&self) -> u32 {
        self.tgba.n_states() as u32
    }

    fn initial(&self) -> Vec<u32> {
        vec![self.tgba.initial().index() as u32]
    }

    #[inline]
    fn steps(&mut self, state: u32, valuation: u32, valuations: &Valuations) -> &[ObserverStep] {
        let n_states = self.tgba.n_states();
        let row = valuation as usize * n_states + state as usize;
        if row >= self.rows.len() {
            self.rows.resize((valuation as usize + 1) * n_states, None);
        }
        let (from, to) = match self.rows[row] {
            Some(range) => range,
            None => {
                let range = self.compute(state, valuations.bits(valuation));
                self.rows[row] = Some(range);
                range
            }
        };
        &self.steps[from as usize..to as usize]
    }
}
