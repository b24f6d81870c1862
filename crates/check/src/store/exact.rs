//! The exact store: packed states in an arena, and an open-addressing table of their numbers.
//!
//! A slot of the table is 32 bits: the number of a state (plus one) in the lower bits, and as many
//! bits of the state's hash as fit above it. With 2^21 slots that is 11 bits of hash, so that
//! nearly every state that is compared word by word is the right one. All successors of a state
//! are looked up together ([`Sequence::insert_all`]): their slots are read first, then the states
//! that these point to, so that the cache misses overlap instead of adding up.
//!
//! The table is full to between 53 and 80 percent, and is filled anew from the arena when it has grown
//! ([`slots`](super::slots)): 5 to 7.5 bytes per state, at any moment; for states of ten bytes and more 5 to 10.

use std::hint::black_box;

use base::{Limit, Room};

use super::slots::{Probe, Slots};
use super::{Coverage, Sequence, StateId, Store, Visited, hash};
use crate::paged::Paged;

/// All states, packed, each once.
#[derive(Clone, Debug)]
pub struct Exact {
    arena: Paged,
    /// 0 is empty; else `tag << id_bits | id + 1`.
    slots: Slots,
    id_bits: u32,
    room: Room,
    hashes: Vec<u64>,
}

/// Whether two states of the same width are equal; for short ones without a call. (This, and what goes through the
/// successors of a state, are plain loops, since tests of models in Rust are built without optimization.)
#[inline]
fn is_same(one: &[u32], other: &[u32]) -> bool {
    if one.len() > 8 {
        return one == other;
    }
    let (other, mut at) = (&other[..one.len()], 0);
    while at < one.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len()
}

impl Exact {
    const SEED: u64 = 0;

    /// An empty store for states of `width` words within some room.
    pub fn new(width: usize, room: impl Into<Room>) -> Exact {
        let slots = Slots::new();
        let id_bits = slots.index_bits();
        Exact { arena: Paged::new(width), slots, id_bits, room: room.into(), hashes: Vec::new() }
    }

    /// The bits of a slot above the number: the lowest bits of the hash.
    #[inline]
    fn tag(&self, hash: u64) -> u32 {
        ((hash as u32 as u64) << self.id_bits) as u32
    }

    #[inline]
    fn id_mask(&self) -> u32 {
        ((1u64 << self.id_bits) - 1) as u32
    }

    /// The number of the state, or the empty slot where it belongs.
    #[inline]
    fn probe(&self, state: &[u32], hash: u64) -> Result<StateId, usize> {
        let (tag, id_mask) = (self.tag(hash), self.id_mask());
        let id = |slot: u32| (slot & id_mask) as usize - 1;
        let is_wanted = |slot: u32| slot & !id_mask == tag && is_same(self.arena.get(id(slot)), state);
        match self.slots.probe(self.slots.home(hash), is_wanted) {
            Probe::Found(slot) => Ok(StateId::new(id(slot))),
            Probe::Empty(at) => Err(at),
        }
    }

    #[inline]
    fn insert_hashed(&mut self, state: &[u32], hash: u64) -> Result<(StateId, bool), Limit> {
        match self.probe(state, hash) {
            Ok(id) => Ok((id, false)),
            Err(at) => {
                let id = self.arena.len();
                if id >= self.slots.capacity() {
                    self.grow()?;
                    return self.insert_hashed(state, hash);
                }
                self.arena.push(state)?;
                self.slots.set(at, self.tag(hash) | (id as u32 + 1));
                Ok((StateId::new(id), true))
            }
        }
    }

    /// Slots of the table.
    #[doc(hidden)] // For sources that tests compile once more.
    pub fn n_slots(&self) -> usize {
        self.slots.len()
    }

    /// How many slots it would have if it grew until so many states fit, beside as many as there are on an `average`.
    #[doc(hidden)]
    pub fn n_slots_for(&self, n_states: u64, average: u64) -> usize {
        self.slots.len_for(n_states, average.saturating_mul(self.arena.record_bytes()), self.room)
    }

    /// Makes the table so large, if it is smaller.
    #[doc(hidden)]
    pub fn grow_to(&mut self, n_slots: usize) -> Result<(), Limit> {
        if n_slots <= self.slots.len() { Ok(()) } else { self.fill_anew(n_slots as u64) }
    }

    /// Makes the table larger.
    #[cold]
    fn grow(&mut self) -> Result<(), Limit> {
        self.fill_anew(self.slots.next_len(self.arena.bytes(), self.room))
    }

    #[cold]
    fn fill_anew(&mut self, len: u64) -> Result<(), Limit> {
        self.slots.grow_to(len, self.arena.bytes(), self.room)?;
        self.id_bits = self.slots.index_bits();
        // As with states that are looked up: some slots are read together, so that the cache misses overlap.
        let mut hashes = [0; 32];
        for start in (0..self.arena.len()).step_by(hashes.len()) {
            let ids = start..self.arena.len().min(start + hashes.len());
            let mut touched = 0;
            for (id, hashed) in ids.clone().zip(&mut hashes) {
                *hashed = hash(self.arena.get(id), Exact::SEED);
                touched ^= self.slots.get(self.slots.home(*hashed));
            }
            black_box(touched);
            for (id, &hash) in ids.zip(&hashes) {
                if let Probe::Empty(at) = self.slots.probe(self.slots.home(hash), |_| false) {
                    self.slots.set(at, self.tag(hash) | (id as u32 + 1));
                }
            }
        }
        Ok(())
    }

    /// Reads the slot of a state that will be needed soon, so that later it is at hand.
    #[inline]
    pub(super) fn touch(&self, state: &[u32]) -> u32 {
        self.slots.get(self.slots.home(hash(state, Exact::SEED)))
    }

    /// The states alone.
    pub(super) fn into_arena(self) -> Paged {
        self.arena
    }

    /// The hash by which a state is looked up. Of its lower half, only the lowest bits count here.
    #[doc(hidden)] // For sources that tests compile once more.
    #[inline]
    pub fn hash(state: &[u32]) -> u64 {
        hash(state, Exact::SEED)
    }

    /// The same as [`Store::insert_ids`] for states with these hashes.
    #[inline]
    pub(crate) fn insert_hashed_ids(
        &mut self,
        states: &[u32],
        width: usize,
        hashes: &[u64],
        ids: &mut Vec<StateId>,
    ) -> Result<(), Limit> {
        ids.clear();
        self.touch_all(hashes);
        for (state, &hash) in states.chunks_exact(width).zip(hashes) {
            ids.push(self.insert_hashed(state, hash)?.0);
        }
        Ok(())
    }

    /// Reads the slots that will be needed, and the states they point to, all at once.
    #[inline]
    fn warm_up(&mut self, states: &[u32], width: usize) {
        self.hashes.clear();
        let mut at = 0;
        while at < states.len() {
            self.hashes.push(Exact::hash(&states[at..at + width]));
            at += width;
        }
        self.touch_all(&self.hashes);
    }

    #[inline]
    fn touch_all(&self, hashes: &[u64]) {
        let mut touched = 0;
        for &hash in hashes {
            touched ^= self.slots.get(self.slots.home(hash));
        }
        black_box(touched);
        let id_mask = self.id_mask();
        for &hash in hashes {
            let tag = self.tag(hash);
            if let Probe::Found(slot) = self.slots.probe(self.slots.home(hash), |slot| slot & !id_mask == tag)
            {
                touched ^= self.arena.get((slot & id_mask) as usize - 1)[0];
            }
        }
        black_box(touched);
    }

    #[inline]
    fn insert_warm(&mut self, states: &[u32], from: usize, mut new: impl FnMut(usize)) -> Result<(), Limit> {
        // A plain loop: in a debug build, an iterator costs more than what is done here.
        let width = self.arena.width();
        let mut index = 0;
        while (index + 1) * width <= states.len() {
            let state = &states[index * width..(index + 1) * width];
            if self.insert_hashed(state, self.hashes[from + index])?.1 {
                new(index);
            }
            index += 1;
        }
        Ok(())
    }
}

impl Visited for Exact {
    #[inline]
    fn insert(&mut self, state: &[u32]) -> Result<bool, Limit> {
        Ok(self.insert_id(state)?.1)
    }

    fn n_states(&self) -> u64 {
        self.arena.len() as u64
    }

    fn bytes(&self) -> u64 {
        self.arena.bytes() + self.slots.bytes()
    }

    fn coverage(&self) -> Option<Coverage> {
        None
    }
}

impl Store for Exact {
    #[inline]
    fn insert_id(&mut self, state: &[u32]) -> Result<(StateId, bool), Limit> {
        self.insert_hashed(state, hash(state, Exact::SEED))
    }

    #[inline]
    fn insert_ids(&mut self, states: &[u32], width: usize, ids: &mut Vec<StateId>) -> Result<(), Limit> {
        ids.clear();
        self.warm_up(states, width);
        for (index, state) in states.chunks_exact(width).enumerate() {
            ids.push(self.insert_hashed(state, self.hashes[index])?.0);
        }
        Ok(())
    }

    #[inline]
    fn find(&self, state: &[u32]) -> Option<StateId> {
        self.probe(state, hash(state, Exact::SEED)).ok()
    }

    #[inline]
    fn get(&self, id: StateId, out: &mut [u32]) {
        out.copy_from_slice(self.arena.get(id.index()));
    }
}

impl Exact {
    /// The words of a state.
    pub fn words(&self, id: StateId) -> &[u32] {
        self.arena.get(id.index())
    }
}

impl Sequence for Exact {
    const RETAINS: bool = true;

    #[inline]
    fn insert_all(&mut self, states: &[u32], width: usize, new: impl FnMut(usize)) -> Result<(), Limit> {
        self.warm_up(states, width);
        self.insert_warm(states, 0, new)
    }

    fn expect(&mut self, states: &[u32], width: usize) {
        self.warm_up(states, width);
    }

    #[inline]
    fn insert_expected(
        &mut self,
        states: &[u32],
        width: usize,
        from: usize,
        new: impl FnMut(usize),
    ) -> Result<(), Limit> {
        debug_assert!(
            states.chunks_exact(width).zip(&self.hashes[from..]).all(|(state, &it)| Exact::hash(state) == it)
        );
        self.insert_warm(states, from, new)
    }

    #[inline]
    fn nth(&self, id: StateId, out: &mut [u32]) {
        self.get(id, out);
    }

    fn number(&self, state: &[u32]) -> Option<StateId> {
        self.find(state)
    }

    fn release(&mut self, _: StateId) {}
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn behaves_like_a_hash_map_from_states_to_numbers() {
        let mut random = fastrand::Rng::with_seed(7);
        for width in [1, 2, 5] {
            let mut store = Exact::new(width, u64::MAX);
            let mut map = HashMap::new();
            let mut states = Vec::new();
            for _ in 0..20_000 {
                states.clear();
                let n = random.usize(0..6);
                states.extend((0..n * width).map(|_| random.u32(0..200) * 0x0101_0101));
                let mut new = Vec::new();
                store.insert_all(&states, width, |index| new.push(index)).unwrap();
                let mut expected = Vec::new();
                for (index, state) in states.chunks(width).enumerate() {
                    let next = map.len();
                    map.entry(state.to_vec()).or_insert_with(|| {
                        expected.push(index);
                        next
                    });
                }
                assert_eq!(new, expected);
            }
            assert_eq!(store.n_states(), map.len() as u64);
            let mut state = vec![0; width];
            for index in 0..map.len() {
                store.get(StateId::new(index), &mut state);
                assert_eq!(map[&state], index);
                assert_eq!(store.find(&state), Some(StateId::new(index)));
            }
            assert_eq!(store.find(&vec![1; width]), None);
        }
    }

    #[test]
    fn running_out_of_memory_is_an_answer() {
        let mut store = Exact::new(2, 100_000);
        let error = (0u32..).find_map(|i| store.insert(&[i, i]).err());
        assert_eq!(error, Some(Limit::Memory(100_000)));
        assert!(store.n_states() > 3000 && store.bytes() <= 100_000 + (1 << 16));
    }
}
