//! How workers of one search stop together, and wait for each other.

use std::hint::spin_loop;

use crate::sync::{AtomicBool, AtomicU64, Condvar, Mutex, MutexGuard, N_SPINS, Ordering, lock, wait};

/// Ends the work of everybody. The first reason counts.
pub(crate) struct Alarm<E> {
    is_rung: AtomicBool,
    reason: Mutex<Option<E>>,
}

impl<E> Alarm<E> {
    pub(crate) fn new() -> Alarm<E> {
        Alarm { is_rung: AtomicBool::new(false), reason: Mutex::new(None) }
    }

    /// Tells everybody to stop.
    pub(crate) fn ring(&self, reason: E) {
        lock(&self.reason).get_or_insert(reason);
        self.is_rung.store(true, Ordering::Release);
    }

    /// Whether it is time to stop. Cheap: to be asked once per expanded state.
    #[inline]
    pub(crate) fn is_rung(&self) -> bool {
        self.is_rung.load(Ordering::Relaxed)
    }

    /// What a worker holds as long as it works: if a panic throws it out, everybody stops.
    pub(crate) fn at_work(&self) -> AtWork<'_, E> {
        AtWork(self)
    }

    /// Why everybody stopped, if they did.
    ///
    /// # Panics
    /// A worker was thrown out by a panic, and its team did not pass that on: nobody knows what is missing then.
    pub(crate) fn take(&self) -> Option<E> {
        let reason = lock(&self.reason).take();
        assert!(reason.is_some() || !self.is_rung(), "a worker of the team was thrown out by a panic");
        reason
    }
}

/// A worker at work.
pub(crate) struct AtWork<'a, E>(&'a Alarm<E>);

impl<E> Drop for AtWork<'_, E> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.is_rung.store(true, Ordering::Release);
        }
    }
}

/// Where workers wait until all are there. A worker who leaves, or is thrown out by a panic, is not waited for.
pub(crate) struct Meeting {
    inner: Mutex<Inner>,
    all_there: Condvar,
    /// The same as `Inner::round`: who waits looks at this for a while, since others are there soon most often.
    round: AtomicU64,
}

struct Inner {
    n_members: usize,
    n_there: usize,
    /// How often everybody was there.
    round: u64,
}

impl Meeting {
    /// A meeting of so many.
    pub(crate) fn new(n_members: usize) -> Meeting {
        let inner = Mutex::new(Inner { n_members, n_there: 0, round: 0 });
        Meeting { inner, all_there: Condvar::new(), round: AtomicU64::new(0) }
    }

    /// What a member holds as long as it takes part.
    pub(crate) fn join(&self) -> Member<'_> {
        Member(self)
    }

    fn release<'a>(&'a self, mut inner: MutexGuard<'a, Inner>) {
        inner.n_there = 0;
        inner.round += 1;
        self.round.store(inner.round, Ordering::Release);
        self.all_there.notify_all();
    }
}

/// A member of a meeting.
pub(crate) struct Member<'m>(&'m Meeting);

impl Member<'_> {
    /// Waits until all members are there. The last one does what is left to do alone, while the others wait.
    pub(crate) fn meet(&self, lead: impl FnOnce()) {
        let Meeting { inner: shared, all_there, round: now } = self.0;
        let mut inner = lock(shared);
        inner.n_there += 1;
        let round = inner.round;
        if inner.n_there < inner.n_members {
            drop(inner);
            for _ in 0..N_SPINS {
                if now.load(Ordering::Acquire) > round {
                    return;
                }
                spin_loop();
            }
            inner = lock(shared);
            while inner.round == round && inner.n_there < inner.n_members {
                inner = wait(all_there, inner);
            }
            if inner.round > round {
                return;
            }
        }
        lead();
        self.0.release(inner);
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        let mut inner = lock(&self.0.inner);
        inner.n_members -= 1;
        // If only this one was missing, one of the others leads.
        if inner.n_there > 0 && inner.n_there == inner.n_members {
            self.0.all_there.notify_one();
        }
    }
}
