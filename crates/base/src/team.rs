//! Workers that do a job together.
//!
//! The libraries start no thread. Who has threads hands in a [`Team`], in the [budget](crate::Budget), since workers
//! are something that a computation may use up to a limit, as time and memory are. A search for several workers gives its team one
//! [job](Team::run), which every worker does; what the workers share, they lock themselves.

/// One of the workers that do a job together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    /// Which one: 0, 1, 2, …
    pub index: usize,
    /// How many there are.
    pub of: usize,
}

impl Worker {
    /// The only one.
    pub const ONLY: Worker = Worker { index: 0, of: 1 };
}

/// Several workers, or one.
pub trait Team: Sync {
    /// How many workers there are at most.
    fn n_workers(&self) -> usize;

    /// Lets all workers do a job at once, and returns when the last one is done. There may be fewer of them than
    /// expected, if the system has no more to give; each is told how many there are.
    fn run(&self, job: &(dyn Fn(Worker) + Sync));
}

/// A team of one: whoever asks does the job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alone;

impl Team for Alone {
    fn n_workers(&self) -> usize {
        1
    }

    fn run(&self, job: &(dyn Fn(Worker) + Sync)) {
        job(Worker::ONLY);
    }
}
