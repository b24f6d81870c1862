//! The work of a construction, and what ends it early.
//!
//! Work is counted in *steps*, about one for each operation on diagrams or look at an edge. Two things are
//! made of the count:
//!
//! - *Fuel* says how many steps there may be. It is part of the [`Config`](crate::Config), so the same
//!   formula has the same automaton on every machine, however fast. When it is used up, whatever only makes
//!   an automaton smaller is left undone; what is needed to have one at all fails.
//! - A [`Budget`] knows the clock, the user and what memory is left. It is ticked, and what it says ends
//!   everything.
//!
//! Constructions without optional parts need no fuel, and take the budget itself.

use base::Budget;

use crate::gave_up::{GaveUp, TooLarge};

/// Runs a construction and gives back what it held: what it leaves is for the caller to hold.
pub(crate) fn holding<'w, T>(budget: &mut Budget<'w>, run: impl FnOnce(&mut Budget<'w>) -> T) -> T {
    let before = budget.max_bytes;
    let result = run(budget);
    budget.release(before - budget.max_bytes);
    result
}

/// Counts steps.
pub(crate) struct Work<'a, 'w> {
    /// For what needs no fuel.
    pub(crate) budget: &'a mut Budget<'w>,
    fuel: u64,
    /// Steps of which the budget was not told.
    untold: u64,
}

/// The budget looks at the clock at most once in some thousand ticks; that should be some milliseconds.
const STEPS_PER_TICK: u64 = 16;

impl<'a, 'w> Work<'a, 'w> {
    pub(crate) fn new(budget: &'a mut Budget<'w>, fuel: u64) -> Work<'a, 'w> {
        Work { budget, fuel, untold: 0 }
    }

    /// Fuel that is left.
    pub(crate) fn fuel(&self) -> u64 {
        self.fuel
    }

    /// Runs something that may use only a part of the fuel.
    pub(crate) fn with_at_most<T>(&mut self, fuel: u64, run: impl FnOnce(&mut Work<'_, '_>) -> T) -> T {
        let kept = self.fuel.saturating_sub(fuel);
        self.fuel -= kept;
        let result = run(self);
        self.fuel += kept;
        result
    }

    /// Runs something and gives back what it held.
    pub(crate) fn holding<T>(&mut self, run: impl FnOnce(&mut Work<'a, 'w>) -> T) -> T {
        let before = self.budget.max_bytes;
        let result = run(self);
        self.budget.release(before - self.budget.max_bytes);
        result
    }

    /// Counts so many steps, done or to be done.
    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), GaveUp> {
        self.untold += steps.min(MAX_TOLD);
        while self.untold >= STEPS_PER_TICK {
            self.untold -= STEPS_PER_TICK;
            self.budget.tick()?;
        }
        match self.fuel.checked_sub(steps) {
            Some(rest) => {
                self.fuel = rest;
                Ok(())
            }
            None => {
                self.fuel = 0;
                Err(TooLarge::Work.into())
            }
        }
    }
}

/// Steps beyond these are not worth more ticks.
const MAX_TOLD: u64 = 1024 * STEPS_PER_TICK;
