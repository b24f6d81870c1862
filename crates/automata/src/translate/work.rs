//! The work of a translation, and what ends it early.
//!
//! Work is counted in *steps*, about one for each operation on diagrams or look at an edge. Two things are
//! made of the count:
//!
//! - *Fuel* says how many steps there may be. It is part of the [`Config`](crate::Config), so the same formula
//!   has the same automaton on every machine, however fast. When it is used up, whatever only makes an
//!   automaton smaller is left undone; what is needed to have one at all fails.
//! - A [`Budget`] knows the clock and the user. Now and then it is polled, and what it says ends everything.

use base::{Budget, Limit, Progress};

/// Why something was not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The fuel is used up.
    Fuel,
    /// The budget is spent.
    Limit(Limit),
}

/// Counts steps.
pub(crate) struct Work<'a, 'w> {
    budget: &'a mut Budget<'w>,
    fuel: u64,
    /// Steps since the budget was last polled.
    unpolled: u64,
}

/// The budget looks at the clock once in some thousand polls; that should be some hundredths of a second.
const STEPS_PER_POLL: u64 = 128;

impl<'a, 'w> Work<'a, 'w> {
    pub(crate) fn new(budget: &'a mut Budget<'w>, fuel: u64) -> Work<'a, 'w> {
        Work { budget, fuel, unpolled: 0 }
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

    /// Counts so many steps, done or to be done.
    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), Stop> {
        self.unpolled += steps.min(MAX_POLLED);
        while self.unpolled >= STEPS_PER_POLL {
            self.unpolled -= STEPS_PER_POLL;
            self.budget.poll(&Progress::default()).map_err(Stop::Limit)?;
        }
        match self.fuel.checked_sub(steps) {
            Some(rest) => {
                self.fuel = rest;
                Ok(())
            }
            None => {
                self.fuel = 0;
                Err(Stop::Fuel)
            }
        }
    }
}

/// Steps beyond these are not worth more polls.
const MAX_POLLED: u64 = 1024 * STEPS_PER_POLL;

/// What came of something optional: nothing if the fuel was used up.
pub(crate) fn optional<T>(result: Result<T, Stop>) -> Result<Option<T>, Limit> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Stop::Fuel) => Ok(None),
        Err(Stop::Limit(limit)) => Err(limit),
    }
}

/// Runs something with all the fuel and time it may need.
pub(crate) fn unlimited<T>(run: impl FnOnce(&mut Work<'_, '_>) -> T) -> T {
    run(&mut Work::new(&mut Budget::unlimited(), u64::MAX))
}
