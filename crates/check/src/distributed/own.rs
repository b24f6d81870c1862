//! The states of a product that are one process's own, and the rounds in which they were found.
//!
//! A state of the product belongs to whom its system state belongs to. So a process has all observer states that a system state
//! meets, and stores the system state once; and its first observer state in a few bits ([`Paired`]). So there are two sequences of
//! states, the first pairs of system states and the others, which grow side by side, and a round is a piece of each.

use base::{Limit, Room};

use crate::store::{Paired, Place, Products as _, StateId};

/// Pairs of system states and observer states, round by round.
pub(super) struct Own {
    states: Paired,
    /// Per round, where it ends in both sequences.
    ends: Vec<[u32; 2]>,
    ids: Vec<(StateId, bool)>,
    systems: Vec<u32>,
}

impl Own {
    /// No states, of systems of so many words and an observer with so many states.
    pub(super) fn new(system_width: usize, n_observer_states: u64, room: Room) -> Own {
        let states = Paired::new(system_width, n_observer_states, room);
        Own { states, ends: Vec::new(), ids: Vec::new(), systems: Vec::new() }
    }

    /// Adds states that stand one after the other, each a system state and one of the observer.
    pub(super) fn insert_all(&mut self, states: &[u32], system_width: usize) -> Result<(), Limit> {
        let Own { states: store, ids, systems, .. } = self;
        systems.clear();
        let each = states.chunks_exact(system_width + 1);
        each.clone().for_each(|state| systems.extend_from_slice(&state[..system_width]));
        let pairs = (0..).zip(each).map(|(place, state)| (place, state[system_width]));
        store.insert_all(systems, system_width, pairs, ids)
    }

    /// The number of a state, if it is there.
    #[inline]
    pub(super) fn find(&self, state: &[u32]) -> Option<u32> {
        let (system, observer) = state.split_at(state.len() - 1);
        self.states.find(system, observer[0]).map(|id| id.index() as u32)
    }

    /// Copies the state of a number: the words of the system's, then the observer's.
    #[inline]
    pub(super) fn get(&self, number: u32, out: &mut [u32]) {
        let (system, observer) = out.split_at_mut(out.len() - 1);
        observer[0] = self.states.get(StateId::new(number as usize), system);
    }

    pub(super) fn n_states(&self) -> u64 {
        self.states.n_states()
    }

    /// All numbers are smaller. A few are not in use.
    pub(super) fn n_ids(&self) -> u32 {
        self.states.n_ids() as u32
    }

    pub(super) fn n_systems(&self) -> u64 {
        self.states.n_system_states()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.states.bytes() + (size_of::<[u32; 2]>() * self.ends.capacity()) as u64
    }
}

/// Rounds.
impl Own {
    pub(super) fn n_rounds(&self) -> usize {
        self.ends.len()
    }

    /// A round is over; returns how many states were found in it.
    pub(super) fn end_round(&mut self) -> u64 {
        let before = self.n_states_of(self.n_rounds());
        self.ends.push(self.states.lens());
        self.n_states() - u64::from(before)
    }

    /// The last round is not over.
    pub(super) fn reopen_round(&mut self) {
        self.ends.pop();
    }

    /// How many states the first rounds have, so many.
    pub(super) fn n_states_of(&self, n_rounds: usize) -> u32 {
        self.end_of(n_rounds).iter().sum()
    }

    /// Where the first rounds end, so many, in both sequences.
    fn end_of(&self, n_rounds: usize) -> [u32; 2] {
        n_rounds.checked_sub(1).map_or([0; 2], |last| self.ends[last])
    }

    /// The states of a round.
    pub(super) fn round(&self, round: usize) -> impl Iterator<Item = Place> + Clone + use<> {
        places(self.end_of(round), self.ends[round])
    }

    /// The states that were found after so many rounds.
    pub(super) fn since(&self, n_rounds: usize) -> impl Iterator<Item = Place> + Clone + use<> {
        places(self.end_of(n_rounds), self.states.lens())
    }

    /// The number of a state at a place.
    #[inline]
    pub(super) fn number(&self, place: Place) -> u32 {
        self.states.id_at(place).index() as u32
    }

    /// The place of a number.
    pub(super) fn place(&self, number: u32) -> Place {
        self.states.place_of(StateId::new(number as usize))
    }

    /// The round of a state; no round that is over, if the number is not in use.
    pub(super) fn round_of(&self, number: u32) -> usize {
        let (sequence, at) = self.place(number);
        self.ends.partition_point(|end| end[usize::from(sequence)] as usize <= at)
    }
}

/// What lies between two ends.
fn places(from: [u32; 2], to: [u32; 2]) -> impl Iterator<Item = Place> + Clone + use<> {
    let of = move |sequence: bool| {
        let index = usize::from(sequence);
        (from[index]..to[index]).map(move |at| (sequence, at as usize))
    };
    of(true).chain(of(false))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn each_state_is_in_the_round_in_which_it_was_found() {
        for n_observer_states in [1, 5, 2000] {
            let mut random = fastrand::Rng::with_seed(n_observer_states);
            let mut own = Own::new(2, n_observer_states, u64::MAX.into());
            let mut known: BTreeMap<Vec<u32>, (u32, usize)> = BTreeMap::new();
            for round in 0..60 {
                let n_found = random.usize(0..300);
                let most = n_observer_states.min(8) as u32;
                let state = |_| [random.u32(0..60), random.u32(0..60), random.u32(0..most)];
                let found: Vec<u32> = (0..n_found).flat_map(state).collect();
                for some in found.chunks(3 * 20) {
                    own.insert_all(some, 2).unwrap();
                }
                let n_before = known.len();
                for state in found.chunks(3) {
                    let number = own.find(state).unwrap();
                    known.entry(state.to_vec()).or_insert((number, round));
                }
                let n_new = known.len() - n_before;
                assert_eq!((own.since(round).count(), own.end_round()), (n_new, n_new as u64));
                assert_eq!((own.n_states_of(round + 1) as usize, own.n_rounds()), (known.len(), round + 1));
            }
            let mut words = [0; 3];
            let mut rounds = vec![BTreeSet::new(); 60];
            for (state, &(number, round)) in &known {
                own.get(number, &mut words);
                assert_eq!((&words[..], own.find(state)), (&state[..], Some(number)));
                assert_eq!((own.round_of(number), own.number(own.place(number))), (round, number));
                rounds[round].insert(number);
            }
            for (round, expected) in rounds.iter().enumerate() {
                let numbers: Vec<u32> = own.round(round).map(|place| own.number(place)).collect();
                assert_eq!(numbers.len(), expected.len());
                assert!(numbers.iter().all(|number| expected.contains(number)));
            }
            let used: BTreeSet<u32> = known.values().map(|known| known.0).collect();
            let mut unused = (0..own.n_ids()).filter(|number| !used.contains(number));
            assert!(unused.all(|number| own.round_of(number) == own.n_rounds()));
        }
    }
}
