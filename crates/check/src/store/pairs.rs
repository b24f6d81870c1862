//! States of a product: pairs of the number of a system state and an observer state, each once, numbered.
//!
//! As long as both fit, a pair is packed into one word; with few observer states that is enough for
//! hundreds of millions of system states. Later pairs take two words; numbers stay what they are.

use base::Limit;

use super::{Exact, StateId, Store as _, Visited as _};

/// Observers with more bits than this are not packed.
const MAX_OBSERVER_BITS: u32 = 6;

/// The pairs met.
#[derive(Clone, Debug)]
pub struct Pairs {
    store: Exact,
    /// Bits of an observer state in a packed pair; none if pairs are not packed.
    packed_bits: Option<u32>,
    max_bytes: u64,
    words: Vec<u32>,
}

impl Pairs {
    /// No pairs, of observers with so many states, that will not hold more than `max_bytes`.
    pub fn new(n_observer_states: u64, max_bytes: u64) -> Pairs {
        let bits = 64 - n_observer_states.saturating_sub(1).leading_zeros();
        let packed_bits = (bits <= MAX_OBSERVER_BITS).then_some(bits);
        let width = if packed_bits.is_some() { 1 } else { 2 };
        Pairs { store: Exact::new(width, max_bytes), packed_bits, max_bytes, words: Vec::new() }
    }

    #[inline]
    fn pack(pair: [u32; 2], bits: u32) -> Option<u32> {
        let [system, observer] = pair;
        let fits = system.leading_zeros() >= bits && observer < 1 << bits;
        fits.then(|| system << bits | observer)
    }

    /// Adds a pair; returns its number and whether it is new.
    pub fn insert(&mut self, pair: [u32; 2]) -> Result<(StateId, bool), Limit> {
        match self.packed_bits {
            None => self.store.insert_id(&pair),
            Some(bits) => match Pairs::pack(pair, bits) {
                Some(word) => self.store.insert_id(&[word]),
                None => {
                    self.unpack()?;
                    self.store.insert_id(&pair)
                }
            },
        }
    }

    /// Adds pairs, which stand one after the other; puts their numbers into `ids`. They are looked up
    /// together.
    #[inline]
    pub fn insert_all(&mut self, pairs: &[u32], ids: &mut Vec<StateId>) -> Result<(), Limit> {
        if let Some(bits) = self.packed_bits {
            self.words.clear();
            for pair in pairs.chunks_exact(2) {
                match Pairs::pack([pair[0], pair[1]], bits) {
                    Some(word) => self.words.push(word),
                    None => {
                        self.unpack()?;
                        return self.store.insert_ids(pairs, 2, ids);
                    }
                }
            }
            return self.store.insert_ids(&self.words, 1, ids);
        }
        self.store.insert_ids(pairs, 2, ids)
    }

    /// Something does not fit any more: from now on pairs take two words.
    #[cold]
    fn unpack(&mut self) -> Result<(), Limit> {
        let mut store = Exact::new(2, self.max_bytes);
        for index in 0..self.n_states() as usize {
            store.insert_id(&self.get(StateId::new(index)))?;
        }
        self.store = store;
        self.packed_bits = None;
        Ok(())
    }

    /// The number of a pair, if it is there.
    #[inline]
    pub fn find(&self, pair: [u32; 2]) -> Option<StateId> {
        match self.packed_bits {
            None => self.store.find(&pair),
            Some(bits) => self.store.find(&[Pairs::pack(pair, bits)?]),
        }
    }

    /// The pair of a number.
    #[inline]
    pub fn get(&self, id: StateId) -> [u32; 2] {
        let mut pair = [0; 2];
        match self.packed_bits {
            None => self.store.get(id, &mut pair),
            Some(bits) => {
                self.store.get(id, &mut pair[..1]);
                pair = [pair[0] >> bits, pair[0] & ((1 << bits) - 1)];
            }
        }
        pair
    }

    /// Number of pairs.
    pub fn n_states(&self) -> u64 {
        self.store.n_states()
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.store.bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn pairs_keep_their_numbers_when_they_do_not_fit_one_word_any_more() {
        for n_observer_states in [1, 3, 64, 65, 1000] {
            let mut pairs = Pairs::new(n_observer_states, u64::MAX);
            let mut known: HashMap<[u32; 2], StateId> = HashMap::new();
            let mut random = fastrand::Rng::with_seed(3);
            for round in 0..3000u32 {
                // At last the system's numbers become very large.
                let system = if round < 2000 { random.u32(0..500) } else { u32::MAX - random.u32(0..500) };
                let pair = [system, random.u32(0..n_observer_states as u32)];
                let next = StateId::new(known.len());
                let mut ids = Vec::new();
                let expected = *known.entry(pair).or_insert(next);
                assert_eq!(pairs.find(pair), (expected != next).then_some(expected));
                if random.bool() {
                    pairs.insert_all(&pair, &mut ids).unwrap();
                    assert_eq!(ids, [expected]);
                } else {
                    assert_eq!(pairs.insert(pair).unwrap(), (expected, expected == next));
                }
                assert_eq!(pairs.get(expected), pair);
            }
            assert!(known.iter().all(|(pair, id)| pairs.get(*id) == *pair));
            assert_eq!(pairs.n_states(), known.len() as u64);
        }
    }
}
