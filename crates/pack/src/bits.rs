//! Bits one after the other, in words.

use std::fmt;

/// A field's value that has no bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// The field, with its type: `State.count`.
    pub field: &'static str,
    /// What is wrong with it: `is 8, which is not in 0..=7`.
    pub problem: String,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.field, self.problem)
    }
}

impl std::error::Error for OutOfRange {}

/// Writes bits into words that it overwrites, and keeps the first value that does not fit.
pub struct Writer<'w> {
    words: &'w mut [u32],
    filled: usize,
    /// Bits that are not in `words` yet; fewer than 32 of them.
    waiting: u64,
    n_waiting: u32,
    refused: Option<Box<OutOfRange>>,
}

impl<'w> Writer<'w> {
    /// Writes from the beginning of `words`.
    #[inline]
    pub fn new(words: &'w mut [u32]) -> Writer<'w> {
        Writer { words, filled: 0, waiting: 0, n_waiting: 0, refused: None }
    }

    /// Writes the lowest `bits` of a value, which has no others; at most 32.
    #[inline]
    pub fn put(&mut self, value: u32, bits: u32) {
        debug_assert!(bits <= 32 && u64::from(value) < 1 << bits, "{value} in {bits} bits");
        self.waiting |= u64::from(value) << self.n_waiting;
        self.n_waiting += bits;
        if self.n_waiting >= 32 {
            self.words[self.filled] = self.waiting as u32;
            self.filled += 1;
            self.waiting >>= 32;
            self.n_waiting -= 32;
        }
    }

    /// The same for up to 64 bits; higher ones of `value` are ignored.
    #[inline]
    pub fn put_long(&mut self, value: u64, bits: u32) {
        let mask = |bits: u32| ((1u64 << bits) - 1) as u32;
        self.put(value as u32 & mask(bits.min(32)), bits.min(32));
        if bits > 32 {
            self.put((value >> 32) as u32 & mask(bits - 32), bits - 32);
        }
    }

    /// Writes `bits` zeros.
    #[inline]
    pub fn skip(&mut self, mut bits: u32) {
        while bits > 32 {
            self.put(0, 32);
            bits -= 32;
        }
        self.put(0, bits);
    }

    /// Says that a value has no bits. What is written in its place does not matter.
    #[cold]
    pub fn refuse(&mut self, field: &'static str, problem: impl Into<String>) {
        self.refused.get_or_insert_with(|| Box::new(OutOfRange { field, problem: problem.into() }));
    }

    /// Writes what is left, and zeros up to the end.
    ///
    /// # Errors
    /// The first value that was refused.
    #[inline]
    pub fn finish(self) -> Result<(), OutOfRange> {
        if let Some(refused) = self.refused {
            return Err(*refused);
        }
        if let Some(rest) = self.words.get_mut(self.filled..) {
            rest.fill(0);
            if self.n_waiting > 0 {
                rest[0] = self.waiting as u32;
            }
        }
        Ok(())
    }
}

/// Reads bits in the order in which they were written.
pub struct Reader<'w> {
    words: &'w [u32],
    read: usize,
    waiting: u64,
    n_waiting: u32,
}

impl<'w> Reader<'w> {
    /// Reads from the beginning of `words`.
    #[inline]
    pub fn new(words: &'w [u32]) -> Reader<'w> {
        Reader { words, read: 0, waiting: 0, n_waiting: 0 }
    }

    /// The next `bits`; at most 32.
    #[inline]
    pub fn take(&mut self, bits: u32) -> u32 {
        if self.n_waiting < bits {
            self.waiting |= u64::from(self.words[self.read]) << self.n_waiting;
            self.read += 1;
            self.n_waiting += 32;
        }
        let value = self.waiting & ((1 << bits) - 1);
        self.waiting >>= bits;
        self.n_waiting -= bits;
        value as u32
    }

    /// The next `bits`; at most 64.
    #[inline]
    pub fn take_long(&mut self, bits: u32) -> u64 {
        let low = self.take(bits.min(32));
        let high = if bits > 32 { self.take(bits - 32) } else { 0 };
        u64::from(low) | u64::from(high) << 32
    }

    /// Passes over `bits`.
    #[inline]
    pub fn skip(&mut self, mut bits: u32) {
        while bits > 32 {
            self.take(32);
            bits -= 32;
        }
        self.take(bits);
    }
}

/// Bits that tell the numbers from 0 to `last`.
pub const fn bits_for(last: u128) -> u32 {
    u128::BITS - last.leading_zeros()
}

/// Bits that tell the numbers from `low` to `high`.
///
/// # Panics
/// There are none: when the program is compiled, in what `#[derive(Pack)]` writes.
pub const fn range_bits(low: i128, high: i128) -> u32 {
    assert!(low <= high, "a range of `#[pack(…)]` is empty");
    bits_for((high - low) as u128)
}

/// The largest of some numbers; 0 if there are none.
pub const fn largest(numbers: &[u32]) -> u32 {
    let (mut largest, mut at) = (0, 0);
    while at < numbers.len() {
        if numbers[at] > largest {
            largest = numbers[at];
        }
        at += 1;
    }
    largest
}
