//! A set of states, each with a number: packed words, one state after the other, and a table of open addresses.

use std::hash::Hasher as _;

use base::{Budget, Limit};
use rustc_hash::FxHasher;

/// States of the same width, numbered in the order of adding.
pub struct States {
    width: usize,
    words: Vec<u32>,
    /// Numbers plus one; 0 is free. At most half of it is used.
    table: Vec<u32>,
}

impl States {
    /// None yet; each has so many words, at least one.
    pub fn new(width: usize) -> States {
        States { width: width.max(1), words: Vec::new(), table: vec![0; 1 << 10] }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.words.len() / self.width
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
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
        4 * (self.words.capacity() + self.table.len()) as u64
    }

    /// The number of a state, if it is there.
    pub fn find(&self, state: &[u32]) -> Option<u32> {
        self.table[self.slot(state)].checked_sub(1)
    }

    /// The numbers of states that stand one after the other, of those that are there. What the table says of all of them is
    /// looked up before any of them is compared: so the waits for memory overlap, which take most of the time.
    pub fn find_all(&self, states: &[u32], numbers: &mut Vec<Option<u32>>) {
        let each = || states.chunks_exact(self.width);
        numbers.clear();
        numbers.extend(each().map(|state| self.table[self.home(state)].checked_sub(1)));
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
        let slot = self.slot(state);
        if let Some(number) = self.table[slot].checked_sub(1) {
            return Ok((number, false));
        }
        let number = self.len() as u32;
        if number == u32::MAX - 1 {
            return Err(Limit::States(u64::from(number)));
        }
        if self.words.len() + self.width > self.words.capacity() {
            // Doubling takes as much again.
            budget.room().fits(2 * self.bytes())?;
        }
        self.words.extend_from_slice(state);
        self.table[slot] = number + 1;
        if 2 * self.len() > self.table.len() {
            budget.room().fits(self.bytes() + 8 * self.table.len() as u64)?;
            self.table = vec![0; 2 * self.table.len()];
            for number in 0..=number {
                let slot = self.slot(self.get(number));
                self.table[slot] = number + 1;
            }
        }
        Ok((number, true))
    }

    /// Where a state is in the table, or would be.
    fn slot(&self, state: &[u32]) -> usize {
        let mut slot = self.home(state);
        while let Some(number) = self.table[slot].checked_sub(1) {
            if self.is(number, state) {
                break;
            }
            slot = (slot + 1) & (self.table.len() - 1);
        }
        slot
    }

    /// Where a state is in the table if no other one is there.
    fn home(&self, state: &[u32]) -> usize {
        let mut hasher = FxHasher::default();
        state.iter().for_each(|&word| hasher.write_u32(word));
        hasher.finish() as usize & (self.table.len() - 1)
    }
}
