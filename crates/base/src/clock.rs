//! Limits, and the clock that keeps them: the only place that knows what time it is. Only those who answer people
//! have one (`stubborn`, `embed`); all others take a [`Budget`].
//!
//! A [`Clock`] runs from the moment when work begins, reading the model included. All budgets of that work
//! are made by it; a [part](Clock::part) of it has a share of the time that is left.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::budget::Watch;
use crate::device::Device;
use crate::{Budget, Keeper, Limit, Peers, Progress};

use crate::Team as _;
use crate::threads::Threads;

/// How far to go. What is not said has no limit, but memory: four fifths of what is free are enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// At most so many states in one search.
    pub states: Option<u64>,
    /// At most so many bytes.
    pub memory: Option<u64>,
    /// At most this long.
    pub time: Option<Duration>,
}

impl Limits {
    /// At most this long.
    #[must_use]
    pub fn time(self, time: Duration) -> Limits {
        Limits { time: Some(time), ..self }
    }

    /// At most so many bytes.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Limits {
        Limits { memory: Some(bytes), ..self }
    }

    /// At most so many states in one search.
    #[must_use]
    pub fn states(self, states: u64) -> Limits {
        Limits { states: Some(states), ..self }
    }

    fn max_bytes(&self) -> u64 {
        self.memory.or_else(|| available_memory().map(|bytes| bytes / 5 * 4)).unwrap_or(u64::MAX)
    }
}

/// Somebody who is told about progress, every few milliseconds, and may have had enough.
pub trait Watcher: Sync {
    /// Says whether to go on.
    fn look(&self, elapsed: Duration, progress: &Progress) -> bool;

    /// The same about one of several jobs that are done at once, each in a lane of its own: 1, 2, 3, …
    fn look_at_lane(&self, _lane: usize, elapsed: Duration, progress: &Progress) -> bool {
        self.look(elapsed, progress)
    }

    /// A lane has a job now, or none any more.
    fn lane_has(&self, _lane: usize, _job: Option<&str>) {}
}

/// A clock that runs.
#[derive(Clone)]
pub struct Clock<'w> {
    start: Instant,
    deadline: Option<Instant>,
    max_states: u64,
    max_bytes: u64,
    /// Bytes that are held by the model, as long as there is one.
    held: Arc<AtomicU64>,
    watcher: Option<&'w dyn Watcher>,
    threads: Threads,
    peers: Option<&'w dyn Peers>,
    device: Option<&'w dyn Device>,
    keeper: Option<&'w dyn Keeper>,
    /// Which of several jobs this is for, and whether it is called off.
    lane: Option<(usize, Arc<AtomicBool>)>,
}

impl<'w> Clock<'w> {
    /// Starts the clock, for work that all cores may do.
    pub fn start(limits: &Limits) -> Clock<'w> {
        let start = Instant::now();
        let deadline = limits.time.and_then(|time| start.checked_add(time));
        let (max_states, max_bytes) = (limits.states.unwrap_or(u64::MAX), limits.max_bytes());
        Clock {
            start,
            deadline,
            max_states,
            max_bytes,
            held: Arc::default(),
            watcher: None,
            threads: Threads::all(),
            peers: None,
            device: None,
            keeper: None,
            lane: None,
        }
    }

    /// The same, with somebody who watches.
    #[must_use]
    pub fn watched_by(self, watcher: &'w dyn Watcher) -> Clock<'w> {
        Clock { watcher: Some(watcher), ..self }
    }

    /// The same for work that so many threads may do.
    #[must_use]
    pub fn with_threads(self, threads: Threads) -> Clock<'w> {
        Clock { threads, ..self }
    }

    /// The same for work that several processes do together.
    #[must_use]
    pub fn with_peers(self, peers: &'w dyn Peers) -> Clock<'w> {
        Clock { peers: Some(peers), ..self }
    }

    /// The processes that work together, if that is so.
    pub fn peers(&self) -> Option<&'w dyn Peers> {
        self.peers
    }

    /// The same for work that is done on a device, as far as it can be.
    #[must_use]
    pub fn with_device(self, device: Option<&'w dyn Device>) -> Clock<'w> {
        Clock { device, ..self }
    }

    /// The device that is used, if one is.
    pub fn device(&self) -> Option<&'w dyn Device> {
        self.device
    }

    /// The same for work that is kept.
    #[must_use]
    pub fn with_keeper(self, keeper: &'w dyn Keeper) -> Clock<'w> {
        Clock { keeper: Some(keeper), ..self }
    }

    /// Whether the work is kept.
    pub fn is_kept(&self) -> bool {
        self.keeper.is_some()
    }

    /// Whether all searches go by rounds, one after the other: since several processes do them together, or they are kept.
    pub fn goes_by_rounds(&self) -> bool {
        self.peers.is_some() || self.keeper.is_some()
    }

    /// A clock for a share of the time that is left.
    #[must_use]
    pub fn part(&self, share: f64) -> Clock<'w> {
        let now = Instant::now();
        let time =
            |deadline: Instant| now + deadline.saturating_duration_since(now).mul_f64(share.clamp(0.0, 1.0));
        Clock { deadline: self.deadline.map(time), ..self.clone() }
    }

    /// A clock for at most so long from now.
    #[must_use]
    pub fn for_at_most(&self, time: Duration) -> Clock<'w> {
        let end = Instant::now().checked_add(time);
        let deadline = match (self.deadline, end) {
            (Some(deadline), Some(end)) => Some(deadline.min(end)),
            (deadline, end) => deadline.or(end),
        };
        Clock { deadline, ..self.clone() }
    }

    /// The same for so many threads, if that was said.
    #[must_use]
    pub fn on(&self, threads: Option<usize>) -> Clock<'w> {
        let clock = self.clone();
        match threads {
            Some(n) => clock.with_threads(Threads::new(n)),
            None => clock,
        }
    }

    /// The same for one of so many jobs that are done at once: with its part of the threads and of the memory, and until it is
    /// called off.
    #[must_use]
    pub fn lane(&self, number: usize, of: usize, is_off: &Arc<AtomicBool>) -> Clock<'w> {
        let threads = Threads::new(self.n_threads() / of.max(1));
        let max_bytes = self.max_bytes / of.max(1) as u64;
        Clock { threads, max_bytes, lane: Some((number, is_off.clone())), ..self.clone() }
    }

    /// How many threads may work at once.
    pub fn n_threads(&self) -> usize {
        self.threads.n_workers()
    }

    /// The threads.
    pub fn threads(&self) -> Threads {
        self.threads
    }

    /// Tells who watches what this lane is about, if there is somebody and it is one of several.
    pub fn tell_lane(&self, job: Option<&str>) {
        if let (Some(watcher), Some((lane, _))) = (self.watcher, &self.lane) {
            watcher.lane_has(*lane, job);
        }
    }

    /// The same within further limits, the time counted from now.
    #[must_use]
    pub fn within(&self, limits: &Limits) -> Clock<'w> {
        let clock = limits.time.map_or_else(|| self.clone(), |time| self.for_at_most(time));
        let max_bytes = limits.memory.map_or(clock.max_bytes, |bytes| clock.max_bytes.min(bytes));
        Clock { max_bytes, ..clock.at_most(limits.states.unwrap_or(u64::MAX)) }
    }

    /// The same, for a search of at most so many states.
    #[must_use]
    pub fn at_most(&self, states: u64) -> Clock<'w> {
        Clock { max_states: self.max_states.min(states), ..self.clone() }
    }

    /// The same for questions about a model that holds so many bytes.
    pub fn holding(&self, bytes: u64) -> Clock<'w> {
        Clock { held: Arc::new(AtomicU64::new(bytes)), ..self.clone() }
    }

    /// Bytes that are held by the model.
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// Remembers how much a model holds that was just made larger with this budget.
    pub fn hold_what_is_missing(&self, budget: &Budget<'_>) {
        self.held.store(self.max_bytes.saturating_sub(budget.max_bytes), Ordering::Relaxed);
    }

    /// The same for as long as something is kept that was just made with this budget.
    pub fn without_what_is_missing(&self, budget: &Budget<'_>) -> Clock<'w> {
        self.holding(self.max_bytes.saturating_sub(budget.max_bytes))
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// The same, with at least half a second from now: to look at what was found in time.
    pub fn with_grace(&self) -> Clock<'w> {
        const GRACE: Duration = Duration::from_millis(500);
        let least = Instant::now() + GRACE;
        Clock { deadline: self.deadline.map(|deadline| deadline.max(least)), ..self.clone() }
    }

    /// Whether there is no time left.
    pub fn is_over(&self) -> bool {
        self.remaining() == Some(Duration::ZERO)
    }

    /// The time that is left, if there is a limit.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// At most so many bytes may be used.
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// A budget that this clock watches over.
    pub fn budget(&self) -> Budget<'_> {
        let mut budget = Budget::new(self.max_states, self.max_bytes, self)
            .with_team(&self.threads)
            .with_peers(self.peers)
            .with_device(self.device)
            .with_keeper(self.keeper);
        if budget.hold(self.held()).is_err() {
            budget.max_bytes = 0;
        }
        budget
    }
}

impl Watch for Clock<'_> {
    fn look(&self, progress: &Progress) -> Result<(), Limit> {
        let goes_on = self.watcher.is_none_or(|watcher| match &self.lane {
            Some((lane, _)) => watcher.look_at_lane(*lane, self.start.elapsed(), progress),
            None => watcher.look(self.start.elapsed(), progress),
        });
        if !goes_on || self.lane.as_ref().is_some_and(|(_, is_off)| is_off.load(Ordering::Relaxed)) {
            return Err(Limit::Interrupt);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Limit::Time),
            _ => Ok(()),
        }
    }

    fn nanoseconds(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Bytes of memory that are free, if that can be found out.
fn available_memory() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Never;

    impl Watcher for Never {
        fn look(&self, _: Duration, _: &Progress) -> bool {
            false
        }
    }

    #[test]
    fn time_and_users_run_out_and_shares_are_parts() {
        let clock = Clock::start(&Limits::default().time(Duration::ZERO));
        assert_eq!(clock.budget().tick(), Err(Limit::Time));
        assert_eq!(clock.watched_by(&Never).budget().tick(), Err(Limit::Interrupt));
        let clock = Clock::start(&Limits::default().time(Duration::from_secs(1000)).states(7));
        assert_eq!(clock.budget().tick(), Ok(()));
        assert!(clock.part(0.1).remaining() <= Some(Duration::from_secs(100)));
        assert!(clock.part(2.0).remaining() > Some(Duration::from_secs(100)));
        assert!(clock.part(-1.0).is_over());
        let within = clock.within(&Limits::default().states(3).memory(5).time(Duration::ZERO));
        assert_eq!((within.budget().max_states, within.max_bytes(), within.is_over()), (3, 5, true));
        let is_off = Arc::default();
        let lane = clock.with_threads(Threads::new(5)).lane(1, 2, &is_off);
        assert_eq!(
            (lane.n_threads(), lane.lane(1, 9, &is_off).n_threads(), lane.budget().tick()),
            (2, 1, Ok(()))
        );
        is_off.store(true, Ordering::Relaxed);
        assert_eq!(lane.budget().tick(), Err(Limit::Interrupt));
        let clock = Clock::start(&Limits::default().states(7));
        assert_eq!((clock.at_most(3).budget().max_states, clock.at_most(9).budget().max_states), (3, 7));
    }
}
