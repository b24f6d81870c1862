//! The [bitstate](super::Bitstate) store for several workers: bits are set by one atomic operation each.

use base::Limit;

use super::bitstate::{Coverage, MAX_HASHES, coverage, expected_drop, positions};
use crate::sync::{AtomicU64, Mutex, Ordering, lock};

/// States remembered by a few bits each; by way of [handles](SharedBits::handle).
pub struct SharedBits {
    words: Box<[AtomicU64]>,
    /// The array has `1 << log_bits` bits.
    log_bits: u32,
    n_hashes: u32,
    /// Bits set, states added and drops expected, but for those that handles did not tell yet.
    n_set: AtomicU64,
    n_states: AtomicU64,
    expected_drops: Mutex<f64>,
}

impl SharedBits {
    /// An array of the largest power of two that fits `bytes`, and `n_hashes` bits per state.
    ///
    /// # Errors
    /// The memory is not to be had.
    pub fn new(bytes: u64, n_hashes: u32) -> Result<SharedBits, Limit> {
        let log_bits = (bytes.max(8).ilog2() + 3).min(63);
        let n_words = 1usize.checked_shl(log_bits - 6).ok_or(Limit::OutOfMemory)?;
        let words = bytemuck::allocation::try_zeroed_slice_box(n_words).map_err(|()| Limit::OutOfMemory)?;
        Ok(SharedBits {
            words,
            log_bits,
            n_hashes: n_hashes.clamp(1, MAX_HASHES),
            n_set: AtomicU64::new(0),
            n_states: AtomicU64::new(0),
            expected_drops: Mutex::new(0.0),
        })
    }

    /// A handle for one worker.
    pub fn handle(&self) -> BitsHandle<'_> {
        BitsHandle { bits: self, n_set: 0, n_states: 0, expected_drops: 0.0 }
    }

    /// States added, but for some that workers have added since they told.
    #[inline]
    pub fn n_states(&self) -> u64 {
        self.n_states.load(Ordering::Relaxed)
    }

    /// Bytes held.
    #[inline]
    pub fn bytes(&self) -> u64 {
        8 * self.words.len() as u64
    }

    /// The share of the states that were found, as estimated.
    pub fn coverage(&self) -> Coverage {
        coverage(self.n_states(), *lock(&self.expected_drops), self.log_bits)
    }
}

/// What one worker adds states by.
pub struct BitsHandle<'s> {
    bits: &'s SharedBits,
    n_set: u64,
    n_states: u64,
    expected_drops: f64,
}

impl BitsHandle<'_> {
    /// Whether a state is there, or all its bits are.
    pub fn contains(&self, state: &[u32]) -> bool {
        let SharedBits { words, log_bits, n_hashes, .. } = self.bits;
        positions(state, *log_bits, *n_hashes)
            .all(|(word, mask)| words[word].load(Ordering::Relaxed) & mask != 0)
    }

    /// Adds a state; returns whether it is new. If two workers add it at the same moment, it may be new to both.
    pub fn insert(&mut self, state: &[u32]) -> bool {
        let SharedBits { words, log_bits, n_hashes, n_set, .. } = self.bits;
        let n_before = n_set.load(Ordering::Relaxed) + self.n_set;
        let mut is_new = false;
        for (word, mask) in positions(state, *log_bits, *n_hashes) {
            let word = &words[word];
            if word.load(Ordering::Relaxed) & mask == 0 && word.fetch_or(mask, Ordering::Relaxed) & mask == 0
            {
                self.n_set += 1;
                is_new = true;
            }
        }
        if is_new {
            self.expected_drops += expected_drop(n_before, *log_bits, *n_hashes);
            self.n_states += 1;
            if self.n_states == 1024 {
                self.tell();
            }
        }
        is_new
    }

    /// Tells the store what was added since the last time.
    pub fn tell(&mut self) {
        self.bits.n_set.fetch_add(std::mem::take(&mut self.n_set), Ordering::Relaxed);
        self.bits.n_states.fetch_add(std::mem::take(&mut self.n_states), Ordering::Relaxed);
        *lock(&self.bits.expected_drops) += std::mem::take(&mut self.expected_drops);
    }
}

impl Drop for BitsHandle<'_> {
    fn drop(&mut self) {
        self.tell();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Bitstate, Visited as _};

    #[test]
    fn one_worker_sees_what_the_other_store_sees() {
        for (bytes, n_hashes) in [(1 << 14, 1), (1 << 14, 3), (1 << 20, 64)] {
            let (shared, mut other) =
                (SharedBits::new(bytes, n_hashes).unwrap(), Bitstate::new(bytes, n_hashes).unwrap());
            let mut handle = shared.handle();
            for number in 0..40_000u32 {
                let state = [number % 30_000, 7];
                let was_there = handle.contains(&state);
                assert_eq!(handle.insert(&state), other.insert(&state).unwrap());
                assert_eq!((was_there, handle.contains(&state)), (!handle.insert(&state) && was_there, true));
            }
            drop(handle);
            let (one, other_coverage) = (shared.coverage(), other.coverage().unwrap());
            assert_eq!((shared.n_states(), shared.bytes()), (other.n_states(), other.bytes()));
            assert!(
                (one.most - other_coverage.most).abs() < 1e-9
                    && one.bits_per_state == other_coverage.bits_per_state
            );
        }
    }

    #[test]
    fn what_somebody_added_is_seen_by_all() {
        let bits = SharedBits::new(1 << 22, 3).unwrap();
        std::thread::scope(|scope| {
            for worker in 0..4u32 {
                let bits = &bits;
                scope.spawn(move || {
                    let mut handle = bits.handle();
                    for number in 0..20_000 {
                        handle.insert(&[(number * 7919 + worker) % 20_000]);
                    }
                });
            }
        });
        let mut handle = bits.handle();
        assert!((0..20_000).all(|number| !handle.insert(&[number])));
        assert!(bits.n_states() >= 19_990 && bits.n_states() < 30_000);
    }
}
