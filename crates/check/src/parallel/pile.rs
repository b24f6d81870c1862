//! States that are to be looked at, in whatever order, by several workers.
//!
//! A worker has states of its own, and looks at the newest first. Who has many puts some on the pile while others have none; who has
//! none takes from the pile, and waits as long as somebody may still put something there.

use crate::sync::{AtomicU64, Mutex, Ordering, lock, pause};

/// What is shared.
pub(super) struct Pile {
    /// Words for each state.
    width: usize,
    heaps: Mutex<Vec<Vec<u32>>>,
    n_workers: AtomicU64,
    n_idle: AtomicU64,
}

/// Who has more than this shares with those who have none.
const MANY: usize = 128;

impl Pile {
    /// Nothing; a state is told by so many words.
    pub(super) fn new(width: usize) -> Pile {
        let (heaps, n_workers, n_idle) = (Mutex::default(), AtomicU64::new(0), AtomicU64::new(0));
        Pile { width, heaps, n_workers, n_idle }
    }

    /// A worker comes, who is one of so many.
    pub(super) fn join(&self, n_workers: usize) {
        self.n_workers.store(n_workers as u64, Ordering::Release);
    }

    /// Puts states there before anybody works.
    pub(super) fn put(&self, states: &[u32]) {
        lock(&self.heaps).extend(states.chunks(self.width * MANY).map(<[u32]>::to_vec));
    }

    /// Gets ready for the next time. Nobody works.
    pub(super) fn begin(&self) {
        self.n_idle.store(0, Ordering::Release);
    }

    /// Shares what a worker has, if others wait for it.
    #[inline]
    pub(super) fn share(&self, own: &mut Vec<u32>) {
        if own.len() > self.width * MANY && self.n_idle.load(Ordering::Relaxed) > 0 {
            let n_states = own.len() / self.width;
            let half = own.drain(..n_states / 2 * self.width).collect();
            lock(&self.heaps).push(half);
        }
    }

    /// Takes something for a worker who has nothing. Returns whether there was some; otherwise nobody has any. `wait` is called now and then.
    pub(super) fn take<E>(
        &self,
        own: &mut Vec<u32>,
        mut wait: impl FnMut() -> Result<(), E>,
    ) -> Result<bool, E> {
        let get = |own: &mut Vec<u32>| {
            lock(&self.heaps).pop().is_some_and(|heap| {
                *own = heap;
                true
            })
        };
        if get(own) {
            return Ok(true);
        }
        self.n_idle.fetch_add(1, Ordering::AcqRel);
        let mut n_spins = 0;
        loop {
            // Who is idle puts nothing there. So if all are, and there is nothing, it stays so.
            let all_idle = self.n_idle.load(Ordering::Acquire) == self.n_workers.load(Ordering::Acquire);
            if !lock(&self.heaps).is_empty() {
                self.n_idle.fetch_sub(1, Ordering::AcqRel);
                if get(own) {
                    return Ok(true);
                }
                self.n_idle.fetch_add(1, Ordering::AcqRel);
            } else if all_idle {
                return Ok(false);
            }
            wait()?;
            pause(&mut n_spins);
        }
    }
}
