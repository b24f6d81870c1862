//! The store of a search in which states are numbered already, in the order in which they are met: it counts them.

use base::Limit;
use check::Coverage;
use check::store::{Sequence, StateId, Visited};

/// The states 0, 1, 2, …, each of which is its number.
#[derive(Default)]
pub(crate) struct Numbered {
    n_states: u32,
}

impl Visited for Numbered {
    fn insert(&mut self, state: &[u32]) -> Result<bool, Limit> {
        let is_new = state[0] >= self.n_states;
        debug_assert!(state[0] <= self.n_states, "state {} before {}", state[0], self.n_states);
        self.n_states += u32::from(is_new);
        Ok(is_new)
    }

    fn n_states(&self) -> u64 {
        u64::from(self.n_states)
    }

    fn bytes(&self) -> u64 {
        0
    }

    fn coverage(&self) -> Option<Coverage> {
        None
    }
}

impl Sequence for Numbered {
    const RETAINS: bool = true;

    fn nth(&self, id: StateId, out: &mut [u32]) {
        out[0] = id.index() as u32;
    }

    fn number(&self, state: &[u32]) -> Option<StateId> {
        (state[0] < self.n_states).then(|| StateId::new(state[0] as usize))
    }

    fn release(&mut self, _: StateId) {}
}
