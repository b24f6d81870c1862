//! The bitstate store, known as Supertrace: a state is remembered by `k` bits of a big array.
//!
//! After Holzmann, *Design and Validation of Computer Protocols* (1991). A state counts as seen if
//! all its bits are set; if other states have set them, it is wrongly taken for seen and the
//! search misses it. So a search over this store can find violations, but never prove that there
//! is none.
//!
//! The `k` positions are `h1 + i * h2` (Kirsch and Mitzenmacher, *Less hashing, same performance*,
//! 2006: as good as independent functions).
//!
//! The coverage is estimated while states are added: with a share `f` of the bits set, a new state
//! is taken for seen with probability `f^k`. The sum of these chances is the expected number of
//! states dropped on the spot. What only they would have led to is missing, too, and where there is little room, that
//! is far more: so the estimate is an upper bound, and the bits per state say how much it is worth.

use base::Limit;

use super::{Visited, hash};

/// More bits per state only make it slower, and fill the array.
pub(super) const MAX_HASHES: u32 = 64;

/// States remembered by a few bits each.
#[derive(Clone, Debug)]
pub struct Bitstate {
    words: Vec<u64>,
    /// The array has `1 << log_bits` bits.
    log_bits: u32,
    n_hashes: u32,
    n_set: u64,
    n_states: u64,
    expected_drops: f64,
}

/// How many of the reachable states a search may have found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// The greatest share, as estimated: if only those states are missing that were taken for others.
    pub most: f64,
    /// How many bits there are for each state that was found.
    pub bits_per_state: f64,
    /// The probability that any state was missed, at most; 1 if nothing is known about it.
    pub missed: f64,
}

impl Coverage {
    /// What is missing in either is missing.
    #[must_use]
    pub fn min(self, other: Coverage) -> Coverage {
        let bits_per_state = self.bits_per_state.min(other.bits_per_state);
        let missed = (self.missed + other.missed).min(1.0);
        Coverage { most: self.most.min(other.most), bits_per_state, missed }
    }
}

impl Bitstate {
    /// An array of the largest power of two that fits `bytes`, and `n_hashes` bits per state.
    /// `None` if the memory is not to be had.
    pub fn new(bytes: u64, n_hashes: u32) -> Option<Bitstate> {
        let log_bits = (bytes.max(8).ilog2() + 3).min(63);
        let n_words = 1usize.checked_shl(log_bits - 6)?;
        let mut words = Vec::new();
        words.try_reserve_exact(n_words).ok()?;
        words.resize(n_words, 0);
        let n_hashes = n_hashes.clamp(1, MAX_HASHES);
        Some(Bitstate { words, log_bits, n_hashes, n_set: 0, n_states: 0, expected_drops: 0.0 })
    }
}

/// The bits of a state in an array: the word and the mask of each.
#[inline]
pub(super) fn positions(state: &[u32], log_bits: u32, n_hashes: u32) -> impl Iterator<Item = (usize, u64)> {
    let (h1, h2) = (hash(state, 1), hash(state, 2) | 1);
    (0..u64::from(n_hashes)).map(move |i| {
        let bit = h1.wrapping_add(h2.wrapping_mul(i)) >> (64 - log_bits);
        ((bit >> 6) as usize, 1 << (bit & 63))
    })
}

/// For each state that gets through when so many bits are set, so many on average do not.
pub(super) fn expected_drop(n_set: u64, log_bits: u32, n_hashes: u32) -> f64 {
    let filled = n_set as f64 / 2f64.powi(log_bits as i32);
    let dropped = filled.powi(n_hashes as i32);
    dropped / (1.0 - dropped)
}

/// The estimate after so many states.
pub(super) fn coverage(n_states: u64, expected_drops: f64, log_bits: u32) -> Coverage {
    let n_states = n_states as f64;
    let most = if n_states == 0.0 { 1.0 } else { n_states / (n_states + expected_drops) };
    Coverage { most, bits_per_state: 2f64.powi(log_bits as i32) / n_states.max(1.0), missed: 1.0 }
}

impl Visited for Bitstate {
    fn insert(&mut self, state: &[u32]) -> Result<bool, Limit> {
        let mut is_new = false;
        let n_set_before = self.n_set;
        for (word, mask) in positions(state, self.log_bits, self.n_hashes) {
            if self.words[word] & mask == 0 {
                self.words[word] |= mask;
                self.n_set += 1;
                is_new = true;
            }
        }
        if is_new {
            self.expected_drops += expected_drop(n_set_before, self.log_bits, self.n_hashes);
            self.n_states += 1;
        }
        Ok(is_new)
    }

    fn n_states(&self) -> u64 {
        self.n_states
    }

    fn bytes(&self) -> u64 {
        8 * self.words.len() as u64
    }

    fn coverage(&self) -> Option<Coverage> {
        Some(coverage(self.n_states, self.expected_drops, self.log_bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(bytes: u64, n_hashes: u32, n: u32) -> (u64, Coverage) {
        let mut store = Bitstate::new(bytes, n_hashes).unwrap();
        for i in 0..n {
            store.insert(&[i, 7]).unwrap();
            assert!(!store.insert(&[i, 7]).unwrap(), "what was added is seen");
        }
        (store.n_states(), store.coverage().unwrap())
    }

    #[test]
    fn the_estimate_of_the_coverage_is_close_to_the_truth() {
        let (seen, coverage) = fill(1 << 20, 3, 10_000);
        assert!(seen > 9_990 && coverage.most > 0.999 && coverage.bits_per_state > 800.0);
        for (bytes, n_hashes) in [(1 << 14, 1), (1 << 14, 2), (1 << 13, 3)] {
            let (seen, coverage) = fill(bytes, n_hashes, 40_000);
            let truth = seen as f64 / 40_000.0;
            assert!(truth < 0.95, "crowded enough to be a test: {truth}");
            assert!((coverage.most - truth).abs() < 0.02, "{coverage:?} for {truth}");
        }
    }
}
