//! What work costs. Many hands take part in reading and lowering a model, in turn, and each needs the budget
//! for a moment; so they share it.

use std::cell::RefCell;

use base::{Budget, Limit};

/// A budget that many may use, one after the other.
pub(crate) trait Cost {
    /// A small piece of work.
    fn tick(&self) -> Result<(), Limit>;

    /// Takes so many bytes.
    fn hold(&self, bytes: usize) -> Result<(), Limit>;

    /// Gives bytes back.
    fn release(&self, bytes: u64);

    /// How many bytes are left.
    fn left(&self) -> u64;

    /// A small piece of work that keeps so many bytes.
    fn keep(&self, bytes: usize) -> Result<(), Limit> {
        self.tick()?;
        self.hold(bytes)
    }
}

impl Cost for RefCell<Budget<'_>> {
    fn tick(&self) -> Result<(), Limit> {
        self.borrow_mut().tick()
    }

    fn hold(&self, bytes: usize) -> Result<(), Limit> {
        self.borrow_mut().hold(bytes as u64)
    }

    fn release(&self, bytes: u64) {
        self.borrow_mut().release(bytes);
    }

    fn left(&self) -> u64 {
        self.borrow().max_bytes
    }
}

/// Lets many hands use a budget.
pub(crate) fn shared<T>(budget: &mut Budget<'_>, work: impl FnOnce(&dyn Cost) -> T) -> T {
    let cost = RefCell::new(budget.share());
    let result = work(&cost);
    budget.max_bytes = cost.into_inner().max_bytes;
    result
}

/// Work that was paid for before.
pub(crate) fn paid<T>(work: impl FnOnce(&dyn Cost) -> T) -> T {
    shared(&mut Budget::unlimited(), work)
}
