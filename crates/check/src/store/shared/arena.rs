//! Records that several workers write at once, each in the blocks that it was given; they never move.
//!
//! Numbers are given in [blocks](Numbers), and memory comes in chunks of as many records: a chunk is made by the worker who got the
//! block, and by nobody else. Two stores may share their numbers, so that no number means two things: each then has
//! chunks for its own blocks only.

use std::sync::OnceLock;

use base::Limit;

use crate::sync::{
    AtomicU8, AtomicU32, AtomicU64, BLOCK_BITS, Mutex, N_ROWS, Ordering, ROW_BITS, Zero, lock, zeros,
};

/// Numbers in a block, records in a chunk.
pub(crate) const BLOCK: u32 = 1 << BLOCK_BITS;

/// The numbers that were not given out yet, in blocks.
#[derive(Default)]
pub(crate) struct Numbers {
    next: AtomicU64,
}

impl Numbers {
    /// A block of numbers; returns the first one.
    pub(crate) fn take_block(&self) -> Result<u32, Limit> {
        let first = self.next.fetch_add(u64::from(BLOCK), Ordering::Relaxed);
        // The last block is never given: slots have the number plus one.
        match u32::try_from(first) {
            Ok(first) if first < u32::MAX - BLOCK => Ok(first),
            _ => {
                self.next.fetch_sub(u64::from(BLOCK), Ordering::Relaxed);
                Err(Limit::States(first))
            }
        }
    }

    /// All numbers that were given are smaller.
    pub(crate) fn end(&self) -> usize {
        self.next.load(Ordering::Relaxed).min(u64::from(u32::MAX)) as usize
    }
}

/// Parts of blocks that workers gave back, as ranges.
#[derive(Default)]
pub(super) struct Leftovers(Mutex<Vec<(u32, u32)>>);

impl Leftovers {
    pub(super) fn take(&self) -> Option<(u32, u32)> {
        lock(&self.0).pop()
    }

    pub(super) fn give_back(&self, first: u32, end: u32) {
        if first < end {
            lock(&self.0).push((first, end));
        }
    }

    pub(super) fn list(&self) -> Vec<(u32, u32)> {
        lock(&self.0).clone()
    }
}

/// An atomic word, narrow or wide. What is read and written fits.
pub(crate) trait Cell: Zero {
    /// Its bits.
    const BITS: u32;

    fn load(&self, order: Ordering) -> u64;
    fn store(&self, word: u64, order: Ordering);
    fn swap(&self, word: u64, order: Ordering) -> u64;
    /// Sets bits; returns what it was.
    fn add_bits(&self, bits: u64, order: Ordering) -> u64;
    /// Puts a word in the place of another one; returns whether that was there.
    fn swap_if(&self, expected: u64, word: u64, order: Ordering) -> bool;
}

macro_rules! cell {
    ($atomic:ty, $word:ty) => {
        impl Cell for $atomic {
            const BITS: u32 = <$word>::BITS;

            #[inline]
            fn load(&self, order: Ordering) -> u64 {
                u64::from(<$atomic>::load(self, order))
            }

            #[inline]
            fn store(&self, word: u64, order: Ordering) {
                <$atomic>::store(self, word as $word, order);
            }

            #[inline]
            fn swap(&self, word: u64, order: Ordering) -> u64 {
                u64::from(<$atomic>::swap(self, word as $word, order))
            }

            #[inline]
            fn add_bits(&self, bits: u64, order: Ordering) -> u64 {
                u64::from(<$atomic>::fetch_or(self, bits as $word, order))
            }

            #[inline]
            fn swap_if(&self, expected: u64, word: u64, order: Ordering) -> bool {
                self.compare_exchange(expected as $word, word as $word, order, Ordering::Relaxed).is_ok()
            }
        }
    };
}

cell!(AtomicU8, u8);
cell!(AtomicU32, u32);
cell!(AtomicU64, u64);

/// One word of each page. Memory that was never written is given out when it is touched: if it is read first, then twice, the second
/// time with an interruption of all workers. So who gets memory writes to it before anybody reads.
pub(super) fn first_of_pages<A: Cell>(words: &[A]) -> impl Iterator<Item = &A> {
    const PAGE: usize = 4096;
    words.iter().step_by(8 * PAGE / A::BITS as usize)
}

type Chunk<A> = OnceLock<Box<[A]>>;
type Row<A> = OnceLock<Box<[Chunk<A>]>>;

/// Records of so many words each. What a record is before it is written: zeros.
pub(crate) struct Arena<A = AtomicU32> {
    width: usize,
    rows: Box<[Row<A>]>,
    bytes: AtomicU64,
}

impl<A: Cell> Arena<A> {
    /// No records of `width` words.
    pub(crate) fn new(width: usize) -> Arena<A> {
        let rows = (0..N_ROWS).map(|_| OnceLock::new()).collect();
        Arena { width, rows, bytes: AtomicU64::new(0) }
    }

    /// Words of a record.
    #[inline]
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Bytes allocated.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Makes room for the block of a number.
    pub(crate) fn touch(&self, number: u32) -> Result<(), Limit> {
        let block = number >> BLOCK_BITS;
        let row = self.rows[(block >> ROW_BITS) as usize]
            .get_or_init(|| (0..1 << ROW_BITS).map(|_| OnceLock::new()).collect());
        let chunk = &row[(block & ((1 << ROW_BITS) - 1)) as usize];
        if chunk.get().is_none() {
            let words = self.width << BLOCK_BITS;
            let made: Box<[A]> = zeros(words).ok_or(Limit::OutOfMemory)?;
            first_of_pages(&made).for_each(|word| word.store(0, Ordering::Relaxed));
            if chunk.set(made).is_ok() {
                self.bytes.fetch_add(u64::from(A::BITS / 8) * words as u64, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// The chunk of a number, if there is one.
    #[inline]
    fn chunk(&self, number: u32) -> Option<&[A]> {
        let block = number >> BLOCK_BITS;
        let row = self.rows[(block >> ROW_BITS) as usize].get()?;
        row[(block & ((1 << ROW_BITS) - 1)) as usize].get().map(Box::as_ref)
    }

    /// Whether there are records in the block of a number.
    #[inline]
    pub(crate) fn has(&self, number: u32) -> bool {
        self.chunk(number).is_some()
    }

    /// The words of a record. There are none for a number that was never touched.
    #[inline]
    pub(crate) fn record(&self, number: u32) -> &[A] {
        let at = (number & (BLOCK - 1)) as usize * self.width;
        self.chunk(number).map_or(&[], |chunk| &chunk[at..at + self.width])
    }

    /// A word of a record, if the number was touched.
    #[inline]
    pub(crate) fn word(&self, number: u32, index: usize) -> Option<&A> {
        let at = (number & (BLOCK - 1)) as usize * self.width + index;
        self.chunk(number).map(|chunk| &chunk[at])
    }
}

impl Arena {
    /// Writes a record.
    #[inline]
    pub(crate) fn write(&self, number: u32, words: &[u32]) {
        for (to, &word) in self.record(number).iter().zip(words) {
            to.store(word, Ordering::Relaxed);
        }
    }

    /// Copies a record.
    #[inline]
    pub(crate) fn read(&self, number: u32, out: &mut [u32]) {
        for (word, from) in out.iter_mut().zip(self.record(number)) {
            *word = from.load(Ordering::Relaxed);
        }
    }

    /// Whether a record is equal to these words.
    #[inline]
    pub(crate) fn is(&self, number: u32, words: &[u32]) -> bool {
        let record = self.record(number);
        record.len() == words.len() && record.iter().zip(words).all(|(a, &b)| a.load(Ordering::Relaxed) == b)
    }
}
