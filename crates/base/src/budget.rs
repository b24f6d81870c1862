//! The budget of a computation: how many states, how many bytes, how long.
//!
//! Nothing below the command line has a clock, a thread or a signal handler. A search calls
//! [`Budget::poll`] once per expanded state; now and then the budget asks its [`Watch`], which
//! may show progress and may say that time is up or that the user has had enough.

use std::fmt;

/// Why a computation stopped before its end. Running out is an answer (*unknown*), not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// As many states as allowed were stored.
    States(u64),
    /// The next step would need more bytes than allowed.
    Memory(u64),
    /// The time allowed has passed.
    Time,
    /// The user interrupted.
    Interrupt,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::States(max) => write!(f, "limit of {max} states reached"),
            Limit::Memory(max) => write!(f, "memory limit of {max} bytes reached"),
            Limit::Time => write!(f, "time limit reached"),
            Limit::Interrupt => write!(f, "interrupted"),
        }
    }
}

/// How far a computation has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// States stored.
    pub states: u64,
    /// Transitions generated.
    pub transitions: u64,
    /// Length of the longest path so far, as the search in question counts it.
    pub depth: u64,
    /// States found but not expanded yet.
    pub pending: u64,
    /// Bytes held.
    pub bytes: u64,
}

/// Asked now and then: shows progress, and says when to stop.
pub trait Watch {
    /// Called about once a thousand expanded states.
    fn look(&mut self, progress: &Progress) -> Result<(), Limit>;
}

/// Limits and the watch of one computation.
pub struct Budget<'w> {
    /// At most this many states may be stored.
    pub max_states: u64,
    /// At most this many bytes may be held.
    pub max_bytes: u64,
    watch: Option<&'w mut dyn Watch>,
    /// Polls until the watch is asked again.
    countdown: u32,
}

impl<'w> Budget<'w> {
    const POLLS_PER_LOOK: u32 = 1024;

    /// No limits, nobody watching.
    pub fn unlimited() -> Budget<'static> {
        Budget { max_states: u64::MAX, max_bytes: u64::MAX, watch: None, countdown: Budget::POLLS_PER_LOOK }
    }

    /// Limits on what is stored, and somebody with a clock.
    pub fn new(max_states: u64, max_bytes: u64, watch: &'w mut dyn Watch) -> Budget<'w> {
        Budget { max_states, max_bytes, watch: Some(watch), countdown: 1 }
    }

    /// Checks the limits. Call it once per expanded state; it is cheap.
    #[inline]
    pub fn poll(&mut self, progress: &Progress) -> Result<(), Limit> {
        if progress.states > self.max_states {
            return Err(Limit::States(self.max_states));
        }
        if progress.bytes > self.max_bytes {
            return Err(Limit::Memory(self.max_bytes));
        }
        self.countdown -= 1;
        if self.countdown == 0 { self.look(progress) } else { Ok(()) }
    }

    #[cold]
    fn look(&mut self, progress: &Progress) -> Result<(), Limit> {
        self.countdown = Budget::POLLS_PER_LOOK;
        match &mut self.watch {
            Some(watch) => watch.look(progress),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct StopAfter(u32);
    impl Watch for StopAfter {
        fn look(&mut self, _: &Progress) -> Result<(), Limit> {
            self.0 = self.0.checked_sub(1).ok_or(Limit::Time)?;
            Ok(())
        }
    }

    #[test]
    fn the_state_limit_is_exact_and_the_watch_is_asked_now_and_then() {
        let mut watch = StopAfter(2);
        let mut budget = Budget::new(10, u64::MAX, &mut watch);
        let at = |states| Progress { states, ..Progress::default() };
        assert_eq!(budget.poll(&at(10)), Ok(()));
        assert_eq!(budget.poll(&at(11)), Err(Limit::States(10)));
        let polls = (0..10_000).take_while(|_| budget.poll(&at(1)).is_ok()).count();
        assert_eq!(polls, 2 * 1024 - 1, "asked at the first poll, then every 1024");
    }
}
