//! Threads for tests of searches by several workers.

use std::thread;

use base::{Team, Worker};

/// So many threads.
#[derive(Clone, Copy, Debug)]
pub struct Crew(pub usize);

impl Team for Crew {
    fn n_workers(&self) -> usize {
        self.0
    }

    fn run(&self, job: &(dyn Fn(Worker) + Sync)) {
        thread::scope(|scope| {
            for index in 1..self.0 {
                scope.spawn(move || job(Worker { index, of: self.0 }));
            }
            job(Worker { index: 0, of: self.0 });
        });
    }
}
