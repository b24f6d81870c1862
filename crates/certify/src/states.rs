//! A set of states, each with a number: packed words, one state after the other, and a table of their numbers.

use std::hash::Hasher as _;

use base::{Budget, Limit};
use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// States of the same width, numbered in the order of adding.
pub struct States {
    width: usize,
    words: Vec<u32>,
    table: HashTable<u32>,
}

impl States {
    /// None yet; each has so many words, at least one.
    pub fn new(width: usize) -> States {
        States { width: width.max(1), words: Vec::new(), table: HashTable::new() }
    }

    /// Makes room for so many states, if there are none yet: so the table need not grow.
    ///
    /// # Errors
    /// There is no room for them.
    pub fn reserve(&mut self, n: u64, budget: &Budget<'_>) -> Result<(), Limit> {
        budget.room().fits((4 * self.width as u64 + 10).saturating_mul(n))?;
        self.words.reserve_exact(self.width * n as usize);
        self.table = HashTable::with_capacity(n as usize);
        Ok(())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.words.len() / self.width
    }

    /// The state of a number.
    pub fn get(&self, number: u32) -> &[u32] {
        let start = number as usize * self.width;
        &self.words[start..start + self.width]
    }

    /// Whether this state has that number. States are short: a loop is faster than a call.
    fn is(&self, number: u32, state: &[u32]) -> bool {
        self.get(number).iter().eq(state)
    }

    /// Bytes that are taken.
    pub fn bytes(&self) -> u64 {
        (4 * self.words.capacity() + self.table.allocation_size()) as u64
    }

    /// The number of a state, if it is there.
    pub fn find(&self, state: &[u32]) -> Option<u32> {
        self.table.find(hash(state), |&number| self.is(number, state)).copied()
    }

    /// The numbers of states that stand one after the other, of those that are there. What the table says of all of them is
    /// looked up before any of them is compared: so the waits for memory overlap, which take most of the time.
    pub fn find_all(&self, states: &[u32], numbers: &mut Vec<Option<u32>>) {
        let each = || states.chunks_exact(self.width);
        numbers.clear();
        numbers.extend(each().map(|state| self.table.find(hash(state), |_| true).copied()));
        for (number, state) in numbers.iter_mut().zip(each()) {
            if number.is_some_and(|number| !self.is(number, state)) {
                *number = self.find(state);
            }
        }
    }

    /// Adds a state; its number, and whether it is new.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn add(&mut self, state: &[u32], budget: &Budget<'_>) -> Result<(u32, bool), Limit> {
        match self.find(state) {
            Some(number) => Ok((number, false)),
            None => Ok((self.add_new(state, budget)?, true)),
        }
    }

    /// Adds a state that is not there; its number.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn add_new(&mut self, state: &[u32], budget: &Budget<'_>) -> Result<u32, Limit> {
        let number = self.count() as u32;
        if number == u32::MAX - 1 {
            return Err(Limit::States(u64::from(number)));
        }
        if self.words.len() + self.width > self.words.capacity() || self.count() == self.table.capacity() {
            // Doubling takes as much again.
            budget.room().fits(2 * self.bytes())?;
        }
        self.words.extend_from_slice(state);
        let States { width, words, table } = self;
        table.insert_unique(hash(state), number, |&known| hash(&words[known as usize * *width..][..*width]));
        Ok(number)
    }
}

fn hash(state: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    state.iter().for_each(|&word| hasher.write_u32(word));
    hasher.finish()
}
