//! A growing sequence of small numbers, in as few bits each as the largest needs, rounded up to a power
//! of two. When a larger number comes, the others are moved apart in place.

use crate::paged::{OutOfMemory, Paged};

/// Numbers, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    words: Paged,
    /// A number has `1 << shift` bits.
    shift: u32,
    len: usize,
}

impl Packed {
    pub(crate) fn new() -> Packed {
        Packed { words: Paged::new(1), shift: 0, len: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.words.bytes()
    }

    /// The word of a number, its place there, and a mask for it.
    #[inline]
    fn place(&self, index: usize) -> (usize, u32, u32) {
        let mask = u32::MAX >> (32 - (1 << self.shift));
        let bit = index << self.shift;
        (bit / 32, (bit % 32) as u32, mask)
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> u32 {
        debug_assert!(index < self.len);
        let (word, at, mask) = self.place(index);
        self.words.get(word)[0] >> at & mask
    }

    #[inline]
    pub(crate) fn set(&mut self, index: usize, number: u32) -> Result<(), OutOfMemory> {
        debug_assert!(index < self.len);
        while number > self.place(0).2 {
            self.widen()?;
        }
        self.put(index, number);
        Ok(())
    }

    #[inline]
    fn put(&mut self, index: usize, number: u32) {
        let (word, at, mask) = self.place(index);
        let word = &mut self.words.get_mut(word)[0];
        *word = *word & !(mask << at) | number << at;
    }

    #[inline]
    pub(crate) fn push(&mut self, number: u32) -> Result<(), OutOfMemory> {
        if self.place(self.len).0 == self.words.len() {
            self.words.push(&[0])?;
        }
        self.len += 1;
        let done = self.set(self.len - 1, number);
        if done.is_err() {
            self.len -= 1;
        }
        done
    }

    /// Gives each number twice as many bits. From the last to the first, so that none is overwritten that
    /// was not moved.
    #[cold]
    fn widen(&mut self) -> Result<(), OutOfMemory> {
        let n_words = (self.len << (self.shift + 1)).div_ceil(32);
        while self.words.len() < n_words {
            self.words.push(&[0])?;
        }
        for index in (0..self.len).rev() {
            let number = self.get(index);
            self.shift += 1;
            self.put(index, number);
            self.shift -= 1;
        }
        self.shift += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_when_larger_ones_come() {
        let mut random = fastrand::Rng::with_seed(11);
        for limit in [1u64, 2, 4, 17, 256, 70_000, 1 << 32] {
            let mut packed = Packed::new();
            let mut expected = Vec::new();
            for round in 1..3000u64 {
                // Larger numbers come later.
                let number = random.u64(0..(limit * round / 3000).max(1)) as u32;
                packed.push(number).unwrap();
                expected.push(number);
                let index = random.usize(0..expected.len());
                let number = random.u64(0..limit) as u32;
                if random.u8(0..100) == 0 {
                    packed.set(index, number).unwrap();
                    expected[index] = number;
                }
                assert_eq!(packed.get(index), expected[index]);
            }
            assert!((0..packed.len()).all(|index| packed.get(index) == expected[index]));
            assert_eq!(packed.len(), expected.len());
        }
    }

    #[test]
    fn two_values_take_a_bit_each() {
        let mut packed = Packed::new();
        (0..1_000_000).for_each(|index| packed.push(index & 1).unwrap());
        assert!(packed.bytes() <= 1_000_000 / 8 + (1 << 16));
    }
}
