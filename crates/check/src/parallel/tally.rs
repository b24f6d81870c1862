//! What the workers of a search of a product have in common where they share sets of states and nothing else: each has a product of its own, counts
//! for itself, tells the others now and then, and ends when somebody has found something.

use base::{Budget, Progress, Worker};
use model::System;

use super::Alarm;
use crate::observer::Portable;
use crate::product::{Product, Visits};
use crate::search::{ProductStop, Stats};
use crate::sync::{AtomicU64, Mutex, Ordering, lock};
use Ordering::Relaxed;

/// Why a worker ends early.
pub(super) enum End {
    /// Somebody else has ended the search.
    Stopped,
    Stop(ProductStop),
}

impl<E: Into<ProductStop>> From<E> for End {
    fn from(error: E) -> End {
        End::Stop(error.into())
    }
}

/// What all workers together have counted, as far as they told.
pub(super) struct Tally {
    pub(super) alarm: Alarm<ProductStop>,
    n_workers: usize,
    states: AtomicU64,
    transitions: AtomicU64,
    deadlocks: AtomicU64,
    depth: AtomicU64,
    /// Bytes of stacks and lists.
    own_bytes: AtomicU64,
    peak_bytes: AtomicU64,
}

impl Tally {
    /// For the team of a budget.
    pub(super) fn new(budget: &Budget<'_>) -> Tally {
        Tally {
            alarm: Alarm::new(),
            n_workers: budget.team().n_workers(),
            states: AtomicU64::new(0),
            transitions: AtomicU64::new(0),
            deadlocks: AtomicU64::new(0),
            depth: AtomicU64::new(0),
            own_bytes: AtomicU64::new(0),
            peak_bytes: AtomicU64::new(0),
        }
    }

    /// Lets each worker do a job with a product of its own. Returns why they ended early, if they did.
    pub(super) fn run<'a, S, O>(
        &self,
        product: &mut Product<'a, S, O>,
        budget: &Budget<'_>,
        job: impl Fn(Worker, &mut Product<'a, S, O>, Budget<'_>) -> Result<(), End> + Sync,
    ) -> Option<ProductStop>
    where
        S: System + Sync,
        S::Scratch: Send,
        O: Portable + Send,
    {
        product.begin(Visits::Again);
        let products: Vec<_> = (0..self.n_workers).map(|_| Mutex::new(product.for_worker())).collect();
        budget.team().run(&|worker: Worker| {
            let Some(product) = products.get(worker.index) else { return };
            let _at_work = self.alarm.at_work();
            if let Err(End::Stop(stop)) = job(worker, &mut lock(product), budget.for_worker()) {
                self.alarm.ring(stop);
            }
        });
        products.iter().for_each(|worker| product.absorb(&lock(worker)));
        self.alarm.take()
    }

    /// How far the search has come, if it holds so many bytes beside those of workers.
    pub(super) fn progress(&self, bytes: u64) -> Progress {
        Progress {
            states: self.states.load(Relaxed),
            transitions: self.transitions.load(Relaxed),
            depth: self.depth.load(Relaxed),
            pending: 0,
            bytes: bytes + self.own_bytes.load(Relaxed),
            workers: self.n_workers as u32,
        }
    }

    /// What it came to.
    pub(super) fn stats(&self, bytes: u64) -> Stats {
        let Progress { states, transitions, depth, bytes, .. } = self.progress(bytes);
        let peak_bytes = self.peak_bytes.load(Relaxed).max(bytes);
        Stats { states, transitions, deadlocks: self.deadlocks.load(Relaxed), depth, peak_bytes }
    }
}

/// What one worker has counted and not told yet.
pub(super) struct Count<'t> {
    tally: &'t Tally,
    pub(super) states: u64,
    pub(super) transitions: u64,
    pub(super) deadlocks: u64,
    /// The longest way so far.
    pub(super) depth: u64,
    own_bytes: u64,
    n_polls: u32,
}

/// Counts are told after so many states.
const TELL_EVERY: u32 = 64;

impl<'t> Count<'t> {
    pub(super) fn new(tally: &'t Tally) -> Count<'t> {
        Count { tally, states: 0, transitions: 0, deadlocks: 0, depth: 0, own_bytes: 0, n_polls: 0 }
    }

    /// A state was expanded: whether it is time to tell what was counted.
    pub(super) fn is_due(&mut self) -> Result<bool, End> {
        if self.tally.alarm.is_rung() {
            return Err(End::Stopped);
        }
        self.n_polls += 1;
        Ok(self.n_polls == TELL_EVERY)
    }

    /// Tells what was counted, and how many bytes this worker has; all share some more.
    pub(super) fn tell(&mut self, own_bytes: u64, bytes: u64) {
        let tally = self.tally;
        self.n_polls = 0;
        tally.states.fetch_add(std::mem::take(&mut self.states), Relaxed);
        tally.transitions.fetch_add(std::mem::take(&mut self.transitions), Relaxed);
        tally.deadlocks.fetch_add(std::mem::take(&mut self.deadlocks), Relaxed);
        tally.depth.fetch_max(self.depth, Relaxed);
        tally.own_bytes.fetch_add(own_bytes.wrapping_sub(self.own_bytes), Relaxed);
        self.own_bytes = own_bytes;
        tally.peak_bytes.fetch_max(tally.progress(bytes).bytes, Relaxed);
    }
}
