//! The budget of a computation: how many states, how many bytes, how long, and how many workers.
//!
//! The libraries have no clock, no thread and no signal handler of their own. Whatever may take long
//! takes a budget: a search calls [`Budget::poll`] once per expanded state, a construction calls
//! [`Budget::tick`] once per small piece of work, and [`Budget::hold`] for the bytes that it keeps. Now and
//! then the budget asks its [`Watch`], which may show progress and may say that time is up or that the
//! user has had enough. How often depends on how long the pieces take: about every five milliseconds.
//!
//! A watch is shared, a budget is not: each part of a computation takes one of its own by [`Budget::share`], each
//! worker by [`Budget::for_worker`].

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::device::Device;
use crate::keeper::Keeper;
use crate::peers::Peers;
use crate::team::{Alone, Team};
use crate::text::human_bytes;

/// Why a computation stopped before its end. Running out is an answer (*unknown*), not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// As many states as allowed were stored.
    States(u64),
    /// The next step would need more bytes than allowed.
    Memory(u64),
    /// The system has no memory to give, whatever is allowed.
    OutOfMemory,
    /// The time allowed has passed.
    Time,
    /// The user interrupted.
    Interrupt,
    /// One step of the model takes longer than anybody waits for.
    Step,
    /// Another process, of this number, has ended, or cannot be reached.
    Process(u32),
    /// The processes of a job do not do the same: this one began another search.
    Apart(u32),
    /// The memory of the device is full.
    DeviceMemory(u64),
    /// The device failed, or was taken away.
    Device,
    /// What was kept of a search cannot be read any more.
    Kept,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::States(max) => write!(f, "limit of {max} states reached"),
            Limit::Memory(max) => write!(f, "memory limit of {} reached", human_bytes(*max)),
            Limit::OutOfMemory => write!(f, "out of memory"),
            Limit::Time => write!(f, "time limit reached"),
            Limit::Interrupt => write!(f, "interrupted"),
            Limit::Step => write!(f, "one step of the model takes too long"),
            Limit::Process(number) => write!(f, "process {number} is gone"),
            Limit::Apart(number) => write!(f, "process {number} does something else"),
            Limit::DeviceMemory(bytes) => write!(f, "the {} of the device are full", human_bytes(*bytes)),
            Limit::Device => write!(f, "the device failed"),
            Limit::Kept => write!(f, "the checkpoint cannot be read any more"),
        }
    }
}

impl std::error::Error for Limit {}

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
    /// How many workers there are; 0 is one that said nothing.
    pub workers: u32,
}

/// Asked now and then: shows progress, and says when to stop. Several workers may ask at once.
pub trait Watch: Sync {
    /// Called every few milliseconds.
    ///
    /// # Errors
    /// Why it is time to stop.
    fn look(&self, progress: &Progress) -> Result<(), Limit>;

    /// Nanoseconds since some moment, so that a budget can tell how long its pieces of work take. A watch
    /// without a clock is asked every thousand pieces.
    fn nanoseconds(&self) -> u64 {
        0
    }
}

/// A watch without a clock, which has had enough after so many looks: to try what happens then.
pub struct Patience(AtomicU64);

impl Patience {
    /// After so many looks that are fine, the next one is not.
    pub fn new(looks: u64) -> Patience {
        Patience(AtomicU64::new(looks))
    }
}

impl Watch for Patience {
    fn look(&self, _: &Progress) -> Result<(), Limit> {
        let less = |left: u64| left.checked_sub(1);
        match self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => Ok(()),
            Err(_) => Err(Limit::Interrupt),
        }
    }
}

/// Bytes that may be taken, and bytes that were allowed in all: what messages tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    left: u64,
    allowed: u64,
}

impl From<u64> for Room {
    fn from(bytes: u64) -> Room {
        Room { left: bytes, allowed: bytes }
    }
}

impl Room {
    /// Whether so many bytes fit.
    ///
    /// # Errors
    /// They do not.
    #[inline]
    pub fn fits(self, bytes: u64) -> Result<(), Limit> {
        if bytes > self.left { Err(Limit::Memory(self.allowed)) } else { Ok(()) }
    }

    /// Bytes that may be taken.
    pub fn left(self) -> u64 {
        self.left
    }

    /// One of so many equal parts.
    #[must_use]
    pub fn part(self, n_parts: usize) -> Room {
        Room { left: self.left / n_parts.max(1) as u64, ..self }
    }
}

/// Limits and the watch of one computation.
pub struct Budget<'w> {
    /// At most this many states may be stored.
    pub max_states: u64,
    /// At most this many bytes may still be taken.
    pub max_bytes: u64,
    /// Bytes that were allowed in all: what messages tell.
    all_bytes: u64,
    watch: Option<&'w dyn Watch>,
    team: &'w dyn Team,
    peers: Option<&'w dyn Peers>,
    device: Option<&'w dyn Device>,
    keeper: Option<&'w dyn Keeper>,
    /// Expanded states are long pieces of work, others short ones.
    polls: Pace,
    ticks: Pace,
    /// When the watch was asked last.
    asked_at: u64,
}

/// How often the watch is asked.
#[derive(Clone, Copy)]
struct Pace {
    /// Pieces of work until it is asked again.
    countdown: u32,
    /// Pieces between two looks, as they turned out to take long enough.
    interval: u32,
}

impl Pace {
    const START: Pace = Pace { countdown: 1, interval: 1 };

    /// Whether it is time to look.
    #[inline]
    fn is_due(&mut self) -> bool {
        self.countdown -= 1;
        self.countdown == 0
    }

    /// Begins again, after so many nanoseconds.
    fn adapt(&mut self, elapsed: u64) {
        self.interval = match self.interval {
            interval if elapsed < Budget::PACE / 2 => (2 * interval).min(Budget::MAX_INTERVAL),
            interval if elapsed > 2 * Budget::PACE => (interval / 8).max(1),
            interval => interval,
        };
        self.countdown = self.interval;
    }
}

impl<'w> Budget<'w> {
    const MAX_INTERVAL: u32 = 1024;

    /// Looks should be about this far apart, in nanoseconds.
    const PACE: u64 = 5_000_000;

    /// No limits, nobody watching.
    pub fn unlimited() -> Budget<'static> {
        Budget::with(u64::MAX, u64::MAX, None)
    }

    /// Limits on what is stored, and somebody with a clock.
    pub fn new(max_states: u64, max_bytes: u64, watch: &'w dyn Watch) -> Budget<'w> {
        Budget::with(max_states, max_bytes, Some(watch))
    }

    fn with(max_states: u64, max_bytes: u64, watch: Option<&'w dyn Watch>) -> Budget<'w> {
        let asked_at = watch.map_or(0, Watch::nanoseconds);
        let (polls, ticks) = (Pace::START, Pace::START);
        Budget {
            max_states,
            max_bytes,
            all_bytes: max_bytes,
            watch,
            team: &Alone,
            peers: None,
            device: None,
            keeper: None,
            polls,
            ticks,
            asked_at,
        }
    }

    /// The same with these workers, instead of one.
    #[must_use]
    pub fn with_team(self, team: &'w dyn Team) -> Budget<'w> {
        Budget { team, ..self }
    }

    /// The workers that there are.
    pub fn team(&self) -> &'w dyn Team {
        self.team
    }

    /// The same with these processes, which do everything together.
    #[must_use]
    pub fn with_peers(self, peers: Option<&'w dyn Peers>) -> Budget<'w> {
        Budget { peers, ..self }
    }

    /// The processes that search together, if that is so.
    pub fn peers(&self) -> Option<&'w dyn Peers> {
        self.peers
    }

    /// The same with this device, on which states are searched.
    #[must_use]
    pub fn with_device(self, device: Option<&'w dyn Device>) -> Budget<'w> {
        Budget { device, ..self }
    }

    /// The device on which states are searched, if that is so.
    pub fn device(&self) -> Option<&'w dyn Device> {
        self.device
    }

    /// The same with a place where searches are kept.
    #[must_use]
    pub fn with_keeper(self, keeper: Option<&'w dyn Keeper>) -> Budget<'w> {
        Budget { keeper, ..self }
    }

    /// Where searches are kept, if they are.
    pub fn keeper(&self) -> Option<&'w dyn Keeper> {
        self.keeper
    }

    /// Whether searches go by rounds, since several processes do them together, or they are kept.
    pub fn goes_by_rounds(&self) -> bool {
        self.peers.is_some() || self.keeper.is_some()
    }

    /// Another budget with what is left of this one: for a part of a computation.
    #[must_use]
    pub fn share(&self) -> Budget<'w> {
        Budget { polls: Pace::START, ticks: Pace::START, ..*self }
    }

    /// The same for one worker of a team, who has no others, nothing to do with other processes or a device, and keeps nothing.
    #[must_use]
    pub fn for_worker(&self) -> Budget<'w> {
        Budget { team: &Alone, peers: None, device: None, keeper: None, ..self.share() }
    }

    /// The bytes that are left, for a store.
    #[inline]
    pub fn room(&self) -> Room {
        Room { left: self.max_bytes, allowed: self.all_bytes }
    }

    /// Checks the limits. Call it once per expanded state; it is cheap.
    ///
    /// # Errors
    /// The limit that was reached.
    #[inline]
    pub fn poll(&mut self, progress: &Progress) -> Result<(), Limit> {
        if progress.states > self.max_states {
            return Err(Limit::States(self.max_states));
        }
        self.room().fits(progress.bytes)?;
        if self.polls.is_due() { self.look(progress, |budget| &mut budget.polls) } else { Ok(()) }
    }

    /// The same for a small piece of work that stores no states.
    ///
    /// # Errors
    /// The limit that was reached.
    #[inline]
    pub fn tick(&mut self) -> Result<(), Limit> {
        if self.ticks.is_due() { self.look(&Progress::default(), |budget| &mut budget.ticks) } else { Ok(()) }
    }

    /// Takes so many bytes for good, or until they are released.
    ///
    /// # Errors
    /// There are not so many left.
    pub fn hold(&mut self, bytes: u64) -> Result<(), Limit> {
        self.room().fits(bytes)?;
        self.max_bytes -= bytes;
        Ok(())
    }

    /// Gives bytes back that were held.
    pub fn release(&mut self, bytes: u64) {
        self.max_bytes = self.max_bytes.saturating_add(bytes).min(self.all_bytes);
    }

    #[cold]
    fn look(&mut self, progress: &Progress, pace: fn(&mut Self) -> &mut Pace) -> Result<(), Limit> {
        let Some(watch) = self.watch else {
            pace(self).countdown = Budget::MAX_INTERVAL;
            return Ok(());
        };
        let now = watch.nanoseconds();
        let elapsed = now.saturating_sub(self.asked_at);
        self.asked_at = now;
        pace(self).adapt(elapsed);
        watch.look(progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every look takes so long, and one after so many ends the work.
    struct Ticking {
        step: u64,
        now: AtomicU64,
        patience: Patience,
    }

    impl Ticking {
        fn new(step: u64, looks: u64) -> Ticking {
            Ticking { step, now: AtomicU64::new(0), patience: Patience::new(looks) }
        }
    }

    impl Watch for Ticking {
        fn look(&self, progress: &Progress) -> Result<(), Limit> {
            self.patience.look(progress)
        }

        fn nanoseconds(&self) -> u64 {
            self.now.fetch_add(self.step, Ordering::Relaxed)
        }
    }

    fn polls(watch: &Ticking) -> usize {
        let mut budget = Budget::new(u64::MAX, u64::MAX, watch);
        (0..100_000).take_while(|_| budget.poll(&Progress::default()).is_ok()).count()
    }

    #[test]
    fn the_state_limit_is_exact() {
        let watch = Ticking::new(0, u64::MAX);
        let mut budget = Budget::new(10, 100, &watch);
        let at = |states, bytes| Progress { states, bytes, ..Progress::default() };
        assert_eq!(budget.poll(&at(10, 100)), Ok(()));
        assert_eq!(budget.poll(&at(11, 0)), Err(Limit::States(10)));
        assert_eq!(budget.poll(&at(0, 101)), Err(Limit::Memory(100)));
    }

    #[test]
    fn who_is_slow_is_looked_at_more_often() {
        assert_eq!(polls(&Ticking::new(0, 3)), 1 + 2 + 4 + 8 - 1, "quick pieces: after 1, 2, 4 and 8 more");
        assert_eq!(polls(&Ticking::new(1_000_000_000, 3)), 3, "slow pieces: after each");
        assert_eq!(polls(&Ticking::new(0, 20)), 2046 + 10 * 1024, "never less often than this");
    }

    #[test]
    fn what_is_held_is_missing_for_others() {
        let mut budget = Budget { max_bytes: 100, all_bytes: 100, ..Budget::unlimited() };
        assert_eq!(budget.hold(60), Ok(()));
        assert_eq!(budget.share().max_bytes, 40);
        assert_eq!(budget.hold(60), Err(Limit::Memory(100)));
        budget.release(30);
        assert_eq!(budget.hold(60), Ok(()));
    }
}
