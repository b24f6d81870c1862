//! A hash of 64 bits of a value: whatever its `Hash` says, for tables and for fingerprints.
//!
//! # Idea
//! A number is added bit by bit to what came before, that is multiplied by a constant, and the halves of the product are
//! added bit by bit. (Folded multiplication is from wyhash by Wang Yi.)
//!
//! The same value has the same hash in each run of a program, but not in each version of it.

use std::hash::{Hash, Hasher};

const BEGIN: u64 = 0x243f_6a88_85a3_08d3;
const MIX: u64 = 0x1319_8a2e_0370_7344;
const END: u64 = 0xa409_3822_299f_31d0;

/// A hash of a value, all of whose bits are good.
#[inline]
pub fn fingerprint_of<T: Hash>(value: &T) -> u64 {
    let mut folder = Folder(BEGIN);
    value.hash(&mut folder);
    folder.finish()
}

/// A hash of a value, for an [`Index`](crate::Index).
#[inline]
pub fn hash_of<T: Hash>(value: &T) -> u32 {
    (fingerprint_of(value) >> 32) as u32
}

/// The halves of a product.
#[inline]
fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

struct Folder(u64);

impl Folder {
    #[inline]
    fn put(&mut self, number: u64) {
        self.0 = fold(self.0 ^ number, MIX);
    }
}

impl Hasher for Folder {
    #[inline]
    fn finish(&self) -> u64 {
        fold(self.0, END)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|word| self.put(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            // Its length tells zeros from nothing.
            let number = rest.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
            self.put(number << 8 | rest.len() as u64);
        }
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.put(u64::from(number));
    }

    #[inline]
    fn write_u16(&mut self, number: u16) {
        self.put(u64::from(number));
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.put(u64::from(number));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.put(number);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.put(number as u64);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Of so many values, about `n * n / 2 / 2^bits` pairs have the same bits, if these are as good as random ones.
    fn collide<T: Hash>(values: impl Iterator<Item = T>) {
        let hashes: Vec<u64> = values.map(|value| fingerprint_of(&value)).collect();
        let n = hashes.len() as f64;
        for (bits, part) in [(64, 0), (28, 0), (28, 36), (28, 17)] {
            let parts = hashes.iter().map(|hash| (hash >> part) & (u64::MAX >> (64 - bits)));
            let pairs = hashes.len() - parts.collect::<HashSet<u64>>().len();
            let expected = n * n / 2.0 / 2f64.powi(bits);
            let (low, high) =
                (expected - 6.0 * expected.sqrt() - 1.0, expected + 6.0 * expected.sqrt() + 1.0);
            assert!(
                (low..high).contains(&(pairs as f64)),
                "{pairs} of {bits} bits from {part}, not {expected}"
            );
        }
    }

    #[test]
    fn bits_are_as_good_as_random_ones() {
        let digits = |n: u32| (0..8).map(move |at| (n >> (2 * at) & 3) as u8);
        collide((0..1 << 16).map(|n| digits(n).collect::<Vec<u8>>()));
        collide(
            (0..1 << 16)
                .map(|n| digits(n).map(|digit| digit > 0).map(Some).zip(digits(n)).collect::<Vec<_>>()),
        );
        collide((0..1 << 16).map(|n| digits(n).map(usize::from).collect::<Vec<usize>>()));
        collide((0..1 << 16).map(|n: u64| (n, n << 48)));
        collide((0..1 << 16).map(|n: u64| n << 40));
        collide((0..1 << 16).map(|n| "a".repeat(n as usize % 7) + &n.to_string()));
    }

    #[test]
    fn zeros_are_not_nothing() {
        let zeros = (0..40).map(|n| fingerprint_of(&vec![0u8; n]));
        assert_eq!(zeros.collect::<HashSet<u64>>().len(), 40);
        struct Bare<'a>(&'a [u8]);
        impl Hash for Bare<'_> {
            fn hash<H: Hasher>(&self, hasher: &mut H) {
                hasher.write(self.0);
            }
        }
        let zeros = (0..16).map(|n| fingerprint_of(&Bare(&vec![0u8; n])));
        assert_eq!(zeros.collect::<HashSet<u64>>().len(), 16);
    }
}
