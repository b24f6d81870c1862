//! States of a product: pairs of the number of a system state and an observer state, each once, numbered.
//!
//! Most system states meet one observer state, so the *first* pair of each is stored apart: nothing but
//! the observer state, in a few bits, at the place of the system state. It need not be searched for, nor
//! say which system state it belongs to. What is left is in an exact store. First pairs and others share
//! one range of numbers ([`spaces`](super::spaces)), in which a few numbers may be unused.
//!
//! So a first pair takes a few bits. Of the others, each takes one word and its slots of the table, as long
//! as both parts fit in a word, which they do for hundreds of millions of system states with few observer
//! states; from then on, all of the others take two words. Numbers stay what they are.

use std::hint::black_box;

use base::{Limit, Room};

use super::packed::Packed;
use super::spaces::Spaces;
use super::{Exact, StateId, Store as _, Visited as _};

/// Where a pair stands: whether it is a first one or another one, and its place among these.
pub(crate) type Place = (bool, usize);

/// The sequences of numbers.
const FIRST: bool = true;
const OTHER: bool = false;

/// Observers with more bits than this are not packed.
const MAX_OBSERVER_BITS: u32 = 10;

/// The pairs met. Where it can be done, system states should come in the order of their numbers: it is then
/// that first pairs are recognized.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    /// The numbers of the first pairs, and of the others.
    numbers: Spaces,
    /// Per system state: the observer state of its first pair.
    firsts: Packed,
    /// The other pairs.
    others: Exact,
    /// Bits of an observer state in the word of a pair; none if pairs take two words.
    packed_bits: Option<u32>,
    room: Room,
}

impl Pairs {
    /// No pairs, of observers with so many states, within some room.
    pub(super) fn new(n_observer_states: u64, room: Room) -> Pairs {
        let bits = 64 - n_observer_states.saturating_sub(1).leading_zeros();
        let packed_bits = (bits <= MAX_OBSERVER_BITS).then_some(bits);
        let width = if packed_bits.is_some() { 1 } else { 2 };
        Pairs {
            numbers: Spaces::default(),
            firsts: Packed::new(),
            others: Exact::new(width, room),
            packed_bits,
            room,
        }
    }

    #[inline]
    fn pack(pair: [u32; 2], bits: u32) -> Option<u32> {
        let [system, observer] = pair;
        let fits = system.leading_zeros() >= bits && observer < 1 << bits;
        fits.then(|| system << bits | observer)
    }

    /// Whether this pair is the first of its system state.
    #[inline]
    fn is_first(&self, pair: [u32; 2]) -> bool {
        let system = pair[0] as usize;
        system < self.firsts.len() && self.firsts.get(system) == pair[1]
    }

    /// Adds a pair; returns its number and whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, pair: [u32; 2]) -> Result<(StateId, bool), Limit> {
        if self.is_first(pair) {
            return Ok((self.number(FIRST, pair[0] as usize), false));
        }
        if pair[0] as usize == self.firsts.len() {
            return self.insert_first(pair);
        }
        let (index, is_new) = match self.packed_bits {
            None => self.others.insert_id(&pair)?,
            Some(bits) => match Pairs::pack(pair, bits) {
                Some(word) => self.others.insert_id(&[word])?,
                None => {
                    self.unpack()?;
                    self.others.insert_id(&pair)?
                }
            },
        };
        if is_new {
            return self.add(OTHER);
        }
        Ok((self.number(OTHER, index.index()), false))
    }

    /// Adds a pair whose system state is the next one that has none.
    fn insert_first(&mut self, pair: [u32; 2]) -> Result<(StateId, bool), Limit> {
        if let Some(known) = self.find(pair) {
            return Ok((known, false));
        }
        self.firsts.push(pair[1])?;
        self.add(FIRST)
    }

    /// The number of a pair that was just stored.
    #[inline]
    fn add(&mut self, sequence: bool) -> Result<(StateId, bool), Limit> {
        let id = self.numbers.push(sequence).ok_or(Limit::States(self.n_states()))?;
        Ok((StateId::new(id as usize), true))
    }

    /// The number of the pair at a place among the first ones or among the others.
    #[inline]
    fn number(&self, sequence: bool, place: usize) -> StateId {
        StateId::new(self.numbers.number(sequence, place))
    }

    /// Adds pairs, which stand one after the other; puts their numbers into `ids`, and whether they are new.
    /// They are looked up together.
    #[inline]
    pub(super) fn insert_all(&mut self, pairs: &[u32], ids: &mut Vec<(StateId, bool)>) -> Result<(), Limit> {
        ids.clear();
        if self.others.n_states() > 0 {
            let mut touched = 0;
            for pair in pairs.chunks_exact(2).map(|pair| [pair[0], pair[1]]) {
                if !self.is_first(pair) {
                    touched ^= match self.packed_bits.and_then(|bits| Pairs::pack(pair, bits)) {
                        Some(word) => self.others.touch(&[word]),
                        None => self.others.touch(&pair),
                    };
                }
            }
            black_box(touched);
        }
        for pair in pairs.chunks_exact(2) {
            ids.push(self.insert([pair[0], pair[1]])?);
        }
        Ok(())
    }

    /// Something does not fit any more: from now on pairs take two words.
    #[cold]
    fn unpack(&mut self) -> Result<(), Limit> {
        let Some(bits) = self.packed_bits.take() else { return Ok(()) };
        // Its table is dropped before the new one grows.
        let packed = std::mem::replace(&mut self.others, Exact::new(2, self.room)).into_arena();
        for index in 0..packed.len() {
            self.others.insert_id(&unpacked(packed.get(index)[0], bits))?;
        }
        Ok(())
    }

    /// The number of a pair, if it is there.
    #[inline]
    pub(super) fn find(&self, pair: [u32; 2]) -> Option<StateId> {
        if self.is_first(pair) {
            return Some(self.number(FIRST, pair[0] as usize));
        }
        let index = match self.packed_bits {
            None => self.others.find(&pair),
            Some(bits) => self.others.find(&[Pairs::pack(pair, bits)?]),
        };
        index.map(|index| self.number(OTHER, index.index()))
    }

    /// The pair of a number.
    #[inline]
    pub(super) fn get(&self, id: StateId) -> [u32; 2] {
        let (sequence, index) = self.numbers.place(id.index());
        if sequence == FIRST {
            return [index as u32, self.firsts.get(index)];
        }
        let mut pair = [0; 2];
        match self.packed_bits {
            None => self.others.get(StateId::new(index), &mut pair),
            Some(bits) => {
                self.others.get(StateId::new(index), &mut pair[..1]);
                pair = unpacked(pair[0], bits);
            }
        }
        pair
    }

    /// How many others and how many first pairs there are.
    pub(super) fn lens(&self) -> [u32; 2] {
        self.numbers.lens().map(|len| len as u32)
    }

    /// The number of the pair at a place.
    #[inline]
    pub(super) fn id_at(&self, (sequence, at): Place) -> StateId {
        self.number(sequence, at)
    }

    /// The place of a number; behind all others of its kind, if it is not in use.
    #[inline]
    pub(super) fn place_of(&self, id: StateId) -> Place {
        self.numbers.place(id.index())
    }

    /// Number of pairs.
    pub(super) fn n_states(&self) -> u64 {
        self.numbers.len() as u64
    }

    /// All numbers of pairs are smaller than this. There may be a few more of them than pairs.
    #[inline]
    pub(super) fn n_ids(&self) -> usize {
        self.numbers.end()
    }

    /// The numbers of all pairs.
    pub(super) fn ids(&self) -> impl Iterator<Item = StateId> {
        (0..self.n_ids()).filter(|&id| self.numbers.contains(id)).map(StateId::new)
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        self.numbers.bytes() + self.firsts.bytes() + self.others.bytes()
    }
}

/// The pair in a word.
#[inline]
fn unpacked(word: u32, bits: u32) -> [u32; 2] {
    [word >> bits, word & ((1 << bits) - 1)]
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn pairs_keep_their_numbers_when_they_do_not_fit_one_word_any_more() {
        for n_observer_states in [1, 3, 64, 65, 1000, 2000] {
            let mut pairs = Pairs::new(n_observer_states, u64::MAX.into());
            let mut known: HashMap<[u32; 2], StateId> = HashMap::new();
            let mut random = fastrand::Rng::with_seed(3);
            let mut n_systems = 0;
            for round in 0..6000u32 {
                // System states come in order, then in any order, and at last they become very large.
                let system = match round {
                    0..2000 => random.u32(0..n_systems + 1),
                    2000..4000 => random.u32(0..3000),
                    _ => u32::MAX - random.u32(0..500),
                };
                n_systems = n_systems.max(system + u32::from(round < 2000));
                let pair = [system, random.u32(0..n_observer_states.min(20 + u64::from(round)) as u32)];
                assert_eq!(pairs.find(pair), known.get(&pair).copied());
                let (id, is_new) = if random.bool() {
                    let mut ids = Vec::new();
                    pairs.insert_all(&pair, &mut ids).unwrap();
                    ids[0]
                } else {
                    pairs.insert(pair).unwrap()
                };
                assert_eq!(is_new, known.insert(pair, id).is_none_or(|expected| expected != id));
                assert_eq!((pairs.get(id), pairs.find(pair)), (pair, Some(id)));
            }
            assert!(known.iter().all(|(pair, id)| pairs.get(*id) == *pair && pairs.find(*pair) == Some(*id)));
            let mut numbers: Vec<StateId> = known.values().copied().collect();
            numbers.sort_unstable();
            assert_eq!(pairs.ids().collect::<Vec<_>>(), numbers);
            assert_eq!(pairs.n_states(), known.len() as u64);
        }
    }

    #[test]
    fn a_first_pair_takes_a_few_bits() {
        let mut pairs = Pairs::new(16, u64::MAX.into());
        (0..1_000_000).for_each(|system| {
            pairs.insert([system, system % 16]).unwrap();
        });
        assert!(pairs.bytes() < 600_000);
        (0..1_000_000).for_each(|system| {
            pairs.insert([system, (system + 1) % 16]).unwrap();
        });
        assert!(pairs.bytes() < 12_000_000);
    }
}
