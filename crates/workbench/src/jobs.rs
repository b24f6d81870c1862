//! Work that takes its time: jobs that wait in line, are watched while they run, can be stopped, and whose answers are
//! kept for a while.
//!
//! So many run at once as there are workers; the others wait. A job that goes wrong, even by a panic, is an answer like
//! others, and its worker goes on with the next.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use stubborn::{Progress, Watcher};

/// More jobs do not wait.
const MAX_WAITING: usize = 512;

/// So many answers are kept, if they are not too long together.
const MAX_KEPT: usize = 64;
const MAX_KEPT_BYTES: usize = 128 << 20;

/// Who asks for a job that is not done waits so long for news.
const NEWS: Duration = Duration::from_millis(200);

/// Parsers of deep texts need stack.
pub(crate) const STACK: usize = 64 << 20;

/// What a job does: it is watched, and gives a document.
pub(crate) type Work = Box<dyn FnOnce(&Watched) -> Value + Send>;

/// Looks on while a job runs, and may end it.
#[derive(Default)]
pub(crate) struct Watched {
    is_over: AtomicBool,
    last: Mutex<(Duration, Progress)>,
}

impl Watcher for Watched {
    fn look(&self, elapsed: Duration, progress: &Progress) -> bool {
        *lock(&self.last) = (elapsed, *progress);
        !self.is_over.load(Ordering::Relaxed)
    }
}

impl Watched {
    /// How far it has come.
    fn told(&self) -> Value {
        let (elapsed, progress) = *lock(&self.last);
        let seconds = elapsed.as_secs_f64();
        let rate = if seconds > 0.05 { progress.states as f64 / seconds } else { 0.0 };
        json!({
            "seconds": seconds, "states": progress.states, "transitions": progress.transitions,
            "depth": progress.depth, "pending": progress.pending, "bytes": progress.bytes, "rate": rate.round(),
        })
    }
}

enum Stage {
    Waiting(Work),
    Running,
    Done(Arc<str>),
}

struct Job {
    stage: Stage,
    watched: Arc<Watched>,
}

#[derive(Default)]
struct Line {
    next: u64,
    waiting: VecDeque<u64>,
    jobs: BTreeMap<u64, Job>,
    /// Those that are done, the oldest first.
    done: VecDeque<u64>,
    bytes: usize,
    is_closed: bool,
}

/// All jobs.
#[derive(Default)]
pub(crate) struct Jobs {
    line: Mutex<Line>,
    changed: Condvar,
}

/// Whatever happened to another thread, its data are used on.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Jobs {
    /// Starts so many workers, which end when the jobs are [closed](Jobs::close).
    pub(crate) fn start(n_workers: usize) -> std::io::Result<Arc<Jobs>> {
        let jobs = Arc::new(Jobs::default());
        for number in 0..n_workers.max(1) {
            let jobs = jobs.clone();
            let name = format!("job worker {number}");
            thread::Builder::new().name(name).stack_size(STACK).spawn(move || while jobs.work() {})?;
        }
        Ok(jobs)
    }

    /// Adds a job; its number, or nothing if there are too many.
    pub(crate) fn add(&self, work: Work) -> Option<u64> {
        let mut line = lock(&self.line);
        if line.waiting.len() >= MAX_WAITING {
            return None;
        }
        line.next += 1;
        let number = line.next;
        line.jobs.insert(number, Job { stage: Stage::Waiting(work), watched: Arc::default() });
        line.waiting.push_back(number);
        self.changed.notify_all();
        Some(number)
    }

    /// What there is to say of a job: a document. One that is not done is waited for a little.
    pub(crate) fn news(&self, number: u64) -> Option<String> {
        let line = lock(&self.line);
        let is_open =
            |line: &mut Line| line.jobs.get(&number).is_some_and(|job| !matches!(job.stage, Stage::Done(_)));
        let (line, _) =
            self.changed.wait_timeout_while(line, NEWS, is_open).unwrap_or_else(PoisonError::into_inner);
        let job = line.jobs.get(&number)?;
        Some(match &job.stage {
            Stage::Waiting(_) => {
                let before = line.waiting.iter().take_while(|&&other| other != number).count();
                json!({ "stage": "waiting", "before": before }).to_string()
            }
            Stage::Running => json!({ "stage": "running", "progress": job.watched.told() }).to_string(),
            // It is a document already.
            Stage::Done(result) => format!("{{\"stage\":\"done\",\"result\":{result}}}"),
        })
    }

    /// Ends a job as soon as possible; says whether there is one.
    pub(crate) fn stop(&self, number: u64) -> bool {
        let line = lock(&self.line);
        let job = line.jobs.get(&number);
        job.inspect(|job| job.watched.is_over.store(true, Ordering::Relaxed)).is_some()
    }

    /// Ends all jobs, and the workers.
    pub(crate) fn close(&self) {
        let mut line = lock(&self.line);
        line.is_closed = true;
        line.jobs.values().for_each(|job| job.watched.is_over.store(true, Ordering::Relaxed));
        self.changed.notify_all();
    }

    /// Does the next job; says whether to go on.
    fn work(&self) -> bool {
        let mut line = lock(&self.line);
        let (number, work, watched) = loop {
            if line.is_closed {
                return false;
            }
            let next = line.waiting.pop_front();
            if let Some((number, job)) = next.and_then(|number| Some((number, line.jobs.get_mut(&number)?)))
                && let Stage::Waiting(work) = std::mem::replace(&mut job.stage, Stage::Running)
            {
                break (number, work, job.watched.clone());
            }
            line = self.changed.wait(line).unwrap_or_else(PoisonError::into_inner);
        };
        drop(line);
        let result = catch_unwind(AssertUnwindSafe(|| work(&watched)))
            .unwrap_or_else(|_| json!({ "error": "internal error: this went wrong, please report it" }));
        let result: Arc<str> = result.to_string().into();
        let mut line = lock(&self.line);
        line.bytes += result.len();
        line.done.push_back(number);
        if let Some(job) = line.jobs.get_mut(&number) {
            job.stage = Stage::Done(result);
        }
        line.forget();
        self.changed.notify_all();
        true
    }
}

impl Line {
    /// Forgets old answers.
    fn forget(&mut self) {
        while self.done.len() > MAX_KEPT || self.bytes > MAX_KEPT_BYTES && self.done.len() > 1 {
            let Some(oldest) = self.done.pop_front() else { break };
            if let Some(Job { stage: Stage::Done(result), .. }) = self.jobs.remove(&oldest) {
                self.bytes -= result.len();
            }
        }
    }
}

/// Lets so many through at once; the others wait.
pub(crate) struct Gate {
    free: Mutex<usize>,
    changed: Condvar,
}

impl Gate {
    pub(crate) fn new(n: usize) -> Gate {
        Gate { free: Mutex::new(n.max(1)), changed: Condvar::new() }
    }

    /// Waits for a place, which is given back when what is returned is dropped.
    pub(crate) fn enter(self: &Arc<Gate>) -> Inside {
        let free = lock(&self.free);
        let mut free =
            self.changed.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Inside(self.clone())
    }
}

/// A place behind a gate.
pub(crate) struct Inside(Arc<Gate>);

impl Drop for Inside {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(jobs: &Jobs, number: u64) -> Value {
        loop {
            let news: Value = serde_json::from_str(&jobs.news(number).expect("it is kept")).unwrap();
            if news["stage"] == "done" {
                return news["result"].clone();
            }
        }
    }

    #[test]
    fn jobs_are_done_stopped_and_survive_panics() {
        let jobs = Jobs::start(1).unwrap();
        let endless = |watched: &Watched| {
            while watched.look(Duration::ZERO, &Progress::default()) {
                thread::yield_now();
            }
            json!("stopped")
        };
        let first = jobs.add(Box::new(endless)).unwrap();
        let panics = jobs.add(Box::new(|_: &Watched| panic!("as it should"))).unwrap();
        let last = jobs.add(Box::new(|_: &Watched| json!(7))).unwrap();
        let news: Value = serde_json::from_str(&jobs.news(last).unwrap()).unwrap();
        assert_eq!(news["stage"], "waiting");
        assert!(jobs.stop(first) && !jobs.stop(99));
        assert_eq!(result(&jobs, first), "stopped");
        assert!(result(&jobs, panics)["error"].as_str().unwrap().contains("internal"));
        assert_eq!(result(&jobs, last), 7);
        for _ in 0..MAX_KEPT {
            let number = jobs.add(Box::new(|_: &Watched| json!(1))).unwrap();
            result(&jobs, number);
        }
        assert!(jobs.news(first).is_none(), "old answers are forgotten");
        jobs.close();
    }
}
