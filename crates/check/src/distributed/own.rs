//! The states of a product that are one process's own: numbered 0, 1, 2, … as they are added, so that a round is a range.
//!
//! A state of the product belongs to whom its system state belongs to. So a process has all observer states that a system state
//! meets, and stores the system state once.

use base::{Limit, Room};

use crate::store::{Exact, StateId, Store as _, Visited as _};

/// System states, and pairs of their numbers with observer states.
pub(super) struct Own {
    systems: Exact,
    pairs: Exact,
    ids: Vec<StateId>,
    words: Vec<u32>,
}

impl Own {
    /// No states, of systems of so many words.
    pub(super) fn new(system_width: usize, room: Room) -> Own {
        Own {
            systems: Exact::new(system_width, room),
            pairs: Exact::new(2, room),
            ids: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Adds states that stand one after the other, each a system state and one of the observer.
    pub(super) fn insert_all(&mut self, states: &[u32], system_width: usize) -> Result<(), Limit> {
        let Own { systems, pairs, ids, words } = self;
        words.clear();
        let of_systems =
            |state: &[u32], words: &mut Vec<u32>| words.extend_from_slice(&state[..system_width]);
        states.chunks_exact(system_width + 1).for_each(|state| of_systems(state, words));
        ids.clear();
        systems.insert_ids(words, system_width, ids)?;
        words.clear();
        for (state, id) in states.chunks_exact(system_width + 1).zip(&*ids) {
            words.extend([id.index() as u32, state[system_width]]);
        }
        ids.clear();
        pairs.insert_ids(words, 2, ids)
    }

    /// The number of a state, if it is there.
    #[inline]
    pub(super) fn find(&self, state: &[u32]) -> Option<u32> {
        let (system, observer) = state.split_at(state.len() - 1);
        let system = self.systems.find(system)?;
        self.pairs.find(&[system.index() as u32, observer[0]]).map(|id| id.index() as u32)
    }

    /// Copies the state of a number: the words of the system's, then the observer's.
    #[inline]
    pub(super) fn get(&self, number: u32, out: &mut [u32]) {
        let mut pair = [0; 2];
        self.pairs.get(StateId::new(number as usize), &mut pair);
        let (system, observer) = out.split_at_mut(out.len() - 1);
        self.systems.get(StateId::new(pair[0] as usize), system);
        observer[0] = pair[1];
    }

    pub(super) fn n_states(&self) -> u64 {
        self.pairs.n_states()
    }

    pub(super) fn n_systems(&self) -> u64 {
        self.systems.n_states()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.systems.bytes() + self.pairs.bytes()
    }
}
