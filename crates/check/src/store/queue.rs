//! Lends numbers to a mere set of states, for a breadth-first search: the states that were added
//! and not yet taken are kept in a queue, the others are only in the set.

use std::collections::VecDeque;

use base::Limit;

use super::{Coverage, Sequence, StateId, Visited};

/// A set of states, and a window of them with numbers.
#[derive(Clone, Debug)]
pub struct Queue<V> {
    set: V,
    width: usize,
    words: VecDeque<u32>,
    /// Number of the first state in `words`.
    first: usize,
}

impl<V: Visited> Queue<V> {
    /// An empty queue of states of `width` words over an empty set.
    pub fn new(set: V, width: usize) -> Queue<V> {
        Queue { set, width, words: VecDeque::new(), first: 0 }
    }
}

impl<V: Visited> Visited for Queue<V> {
    fn insert(&mut self, state: &[u32]) -> Result<bool, Limit> {
        let id = self.first + self.words.len() / self.width;
        let is_new = self.set.insert(state)?;
        if is_new {
            if u32::try_from(id).is_err() {
                return Err(Limit::States(id as u64));
            }
            self.words.try_reserve(self.width).map_err(|_| Limit::OutOfMemory)?;
            self.words.extend(state);
        }
        Ok(is_new)
    }

    fn n_states(&self) -> u64 {
        self.set.n_states()
    }

    fn bytes(&self) -> u64 {
        self.set.bytes() + 4 * self.words.capacity() as u64
    }

    fn coverage(&self) -> Option<Coverage> {
        self.set.coverage()
    }
}

impl<V: Visited> Sequence for Queue<V> {
    const RETAINS: bool = false;

    fn nth(&self, id: StateId, out: &mut [u32]) {
        let start = (id.index() - self.first) * self.width;
        for (index, word) in out.iter_mut().enumerate() {
            *word = self.words[start + index];
        }
    }

    fn number(&self, _: &[u32]) -> Option<StateId> {
        None
    }

    fn release(&mut self, id: StateId) {
        let n = id.index().saturating_sub(self.first);
        self.words.drain(..n * self.width);
        self.first += n;
    }
}
