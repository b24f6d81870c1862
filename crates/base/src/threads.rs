//! The threads that searches for several workers run on: the only place that starts any.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::{OnceLock, RwLock};
use std::thread::{self, Builder, ScopedJoinHandle};

use crate::{Team, Worker};

/// So many threads, the caller's included. They are started for a job, and end with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads(NonZeroUsize);

impl Threads {
    /// No thread but the caller's.
    pub const ONE: Threads = Threads(NonZeroUsize::MIN);

    /// So many; one if there are to be none.
    pub fn new(n: usize) -> Threads {
        Threads(NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN))
    }

    /// As many as this process may use at once.
    pub fn all() -> Threads {
        static ALL: OnceLock<NonZeroUsize> = OnceLock::new();
        Threads(*ALL.get_or_init(|| thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)))
    }
}

impl Team for Threads {
    fn n_workers(&self) -> usize {
        self.0.get()
    }

    fn run(&self, job: &(dyn Fn(Worker) + Sync)) {
        // Nobody begins before it is known how many there are: the system may have no more threads to give.
        let of = RwLock::new(1);
        thread::scope(|scope| {
            let mut others = Vec::new();
            let mut n_started = of.write().unwrap_or_else(std::sync::PoisonError::into_inner);
            for index in 1..self.0.get() {
                let of = &of;
                let work = move || {
                    let of = *of.read().unwrap_or_else(std::sync::PoisonError::into_inner);
                    job(Worker { index, of });
                };
                match Builder::new().name(format!("worker {index}")).spawn_scoped(scope, work) {
                    Ok(other) => others.push(other),
                    Err(_) => break,
                }
                *n_started += 1;
            }
            let of = *n_started;
            drop(n_started);
            job(Worker { index: 0, of });
            // A panic is that of whoever asked, as if there were no others.
            let ends: Vec<_> = others.into_iter().map(ScopedJoinHandle::join).collect();
            if let Some(panic) = ends.into_iter().find_map(Result::err) {
                resume_unwind(panic);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    #[should_panic(expected = "the mistake of worker 2")]
    fn a_panic_is_passed_on() {
        Threads::new(3).run(&|worker| assert_ne!(worker.index, 2, "the mistake of worker {}", worker.index));
    }

    #[test]
    fn every_worker_does_the_job_once() {
        for n in [0, 1, 2, 9] {
            let seen = Mutex::new(Vec::new());
            Threads::new(n).run(&|worker| seen.lock().unwrap().push(worker));
            let mut seen = seen.into_inner().unwrap();
            seen.sort_unstable_by_key(|worker| worker.index);
            let of = n.max(1);
            assert_eq!(seen, (0..of).map(|index| Worker { index, of }).collect::<Vec<_>>());
        }
    }
}
