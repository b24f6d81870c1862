//! Parts of components that may be strongly fair: what one pass leaves to the next.
//!
//! # Idea
//! As in [`streett`](crate::search::streett): in a component that is accepted but for strong fairness, some states enable what is
//! taken nowhere in it. These are *bad*: no fair cycle leads through them. What is left without them falls into components, which are
//! looked at in the same way. Here that is one more search by strong components, by all workers: an edge
//! counts if both of its ends were in one component of the pass before, and its source is not bad. All components that a pass leaves are looked into by
//! the next one together, and no edges are kept.
//!
//! *A bad state need not be taken away*: it has no edges, so it lies on no cycle, and its component has no marks.
//!
//! *There is an end*: a component that is left has a bad state, so those that it falls into are smaller.
//!
//! # Differences from the sequential search
//! That one looks into a component when it is finished. So does a worker that finishes a small one; large ones wait until the pass
//! is over, when there is nothing else to do.

use base::Limit;

use crate::store::shared::arena::Arena;
use crate::sync::{AtomicU32, Mutex, Ordering, lock};

/// What a pass leaves.
pub(super) struct Left {
    of: Arena<AtomicU32>,
    marks: Mutex<Vec<Vec<u32>>>,
}

/// What is looked into.
pub(super) struct Parts {
    /// Per state, the number of its part, plus one; 0 if it is in none.
    of: Arena<AtomicU32>,
    /// Per part, the marks of the component that it was.
    marks: Vec<Vec<u32>>,
}

impl Left {
    pub(super) fn new() -> Left {
        Left { of: Arena::new(1), marks: Mutex::default() }
    }

    /// Leaves a component with these marks. Nobody else has one of its states.
    pub(super) fn leave(&self, states: impl Iterator<Item = u32>, marks: &[u32]) -> Result<(), Limit> {
        let number = {
            let mut all = lock(&self.marks);
            all.push(marks.to_vec());
            all.len() as u32
        };
        for state in states {
            self.of.touch(state)?;
            if let Some(of) = self.of.word(state, 0) {
                of.store(number, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    pub(super) fn bytes(&self) -> u64 {
        self.of.bytes()
    }

    /// What is to be looked into, if there is something.
    pub(super) fn into_parts(self) -> Option<Parts> {
        let marks = self.marks.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        (!marks.is_empty()).then_some(Parts { of: self.of, marks })
    }
}

impl Parts {
    /// The part of a state, if it is in one.
    #[inline]
    pub(super) fn of(&self, state: u32) -> Option<u32> {
        self.of.word(state, 0)?.load(Ordering::Relaxed).checked_sub(1)
    }

    /// The marks of the component that a part was.
    pub(super) fn marks(&self, part: u32) -> &[u32] {
        &self.marks[part as usize]
    }

    pub(super) fn bytes(&self) -> u64 {
        self.of.bytes()
    }
}
