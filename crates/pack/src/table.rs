//! Values that were met, numbered 0, 1, 2, …
//!
//! A value is found by its number without a lock, and stays where it is: pages of growing sizes are made once and
//! never moved, which needs no unsafe code. Numbers are given under a lock. Who needs numbers that do not depend on
//! who came first asks for them in one thread.

use std::hash::Hash;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::hash::hash_of;

/// Numbers for values.
pub struct Table<T> {
    /// Page `p` has the numbers from `32 * (2^p - 1)` on, `32 * 2^p` of them.
    pages: [OnceLock<Box<[OnceLock<T>]>>; PAGES],
    index: Mutex<Index>,
}

/// Enough for all numbers of 32 bits.
const PAGES: usize = 28;
const FIRST_PAGE: u32 = 32;

/// Numbers by the hashes of their values, which are somewhere else: open addressing, a slot is a hash and a number plus 1.
#[derive(Default)]
pub struct Index {
    slots: Vec<(u32, u32)>,
    len: u32,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table { pages: [const { OnceLock::new() }; PAGES], index: Mutex::default() }
    }
}

impl<T> Table<T> {
    /// Number of values.
    pub fn len(&self) -> u32 {
        self.lock().len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a number that was given.
    ///
    /// # Panics
    /// The number was not given.
    #[inline]
    pub fn get(&self, number: u32) -> &T {
        let (page, at) = place(number);
        let value = self.pages[page].get().and_then(|page| page[at].get());
        value.expect("only numbers that were given are asked for")
    }

    /// Bytes that the table takes, less what its values own elsewhere.
    pub fn bytes(&self) -> usize {
        let index = self.lock();
        let pages: usize = self.pages.iter().filter_map(OnceLock::get).map(|page| page.len()).sum();
        pages * size_of::<OnceLock<T>>() + index.bytes()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Index> {
        // A panic of somebody's `Hash` or `Eq` leaves the index as it was.
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone + Eq + Hash> Table<T> {
    /// The number of a value, which gets the next one if it has none.
    ///
    /// # Panics
    /// There are more than four billion values.
    #[inline]
    pub fn number(&self, value: &T) -> u32 {
        let hash = hash_of(value);
        let mut index = self.lock();
        let slot = match index.find(hash, |number| self.get(number) == value) {
            Ok(number) => return number,
            Err(slot) => slot,
        };
        let number = index.len;
        let (page, at) = place(number);
        let page =
            self.pages[page].get_or_init(|| (0..FIRST_PAGE << page).map(|_| OnceLock::new()).collect());
        let copy = value.clone();
        assert!(page[at].set(copy).is_ok(), "numbers are given once");
        index.insert(slot, hash, number);
        number
    }
}

#[inline]
fn place(number: u32) -> (usize, usize) {
    let page = (number / FIRST_PAGE + 1).ilog2();
    (page as usize, (number - FIRST_PAGE * ((1 << page) - 1)) as usize)
}

impl Index {
    /// How many numbers there are.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<(u32, u32)>()
    }

    /// The number of this hash that is `right`, or the slot where it would be.
    ///
    /// # Errors
    /// There is none: the slot, until something else is asked.
    #[inline]
    pub fn find(&mut self, hash: u32, mut right: impl FnMut(u32) -> bool) -> Result<u32, usize> {
        if self.len as usize * 8 >= self.slots.len() * 7 {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            match self.slots[at] {
                (_, 0) => return Err(at),
                (other, number) if other == hash && right(number - 1) => return Ok(number - 1),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Makes room for so many more numbers at once.
    pub fn reserve(&mut self, more: usize) {
        while (self.len as usize + more) * 8 >= self.slots.len() * 7 {
            self.grow();
        }
    }

    /// Something of the slot where numbers with this hash begin: who looks for several reads it before, so that the
    /// memory is waited for together.
    #[inline]
    pub fn touch(&self, hash: u32) -> u32 {
        self.slots.get(hash as usize & self.slots.len().wrapping_sub(1)).map_or(0, |slot| slot.1)
    }

    /// The first number with this hash.
    #[inline]
    pub fn first(&self, hash: u32) -> Option<u32> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        loop {
            match *self.slots.get(at)? {
                (_, 0) => return None,
                (other, number) if other == hash => return Some(number - 1),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Puts a number into the slot that was found for it.
    ///
    /// # Panics
    /// There are more than four billion numbers.
    pub fn insert(&mut self, slot: usize, hash: u32, number: u32) {
        self.slots[slot] = (hash, number.checked_add(1).expect("four billion values do not fit the memory"));
        self.len += 1;
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![(0, 0); (2 * self.slots.len()).max(16)];
        let old = std::mem::replace(&mut self.slots, larger);
        let mask = self.slots.len() - 1;
        for (hash, number) in old.into_iter().filter(|slot| slot.1 != 0) {
            let mut at = hash as usize & mask;
            while self.slots[at].1 != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = (hash, number);
        }
    }
}
