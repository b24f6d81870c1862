//! Several questions at once, with the answers of one after the other.
//!
//! # Idea
//! Each job works on a copy of what it is about, so that it does not matter what others do meanwhile: what it finds is a function of
//! the job and of the subject as it was when the job began. Answers are handed on in the order of the jobs. A job may change its copy (a model
//! turns out to be too small, and is made larger); then all jobs after it should have begun with that. So when its turn comes, the copy
//! becomes the subject, and what later jobs have found, or are about to find, on the subject as it was is thrown away: they are
//! done again. Such changes are few, and most are made by the first job.
//!
//! So whatever the number of lanes, all answers are those that a single lane gives, as long as no limit is reached.
//!
//! # Limits
//! Time is shared out by whoever calls. Each lane has its part of the threads and of the memory. A job that runs out of that part
//! is done once more when its turn comes, alone, with all threads and all of the memory.
//!
//! # Which is better?
//! Where there are as many jobs as threads, each job has one: nothing is shared between lanes, so nothing is lost. Where there are
//! fewer jobs, their searches have several threads each.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use base::threads::Threads;
use base::{Team as _, Worker};
use language::Model;

use crate::clock::Clock;

/// What jobs are about.
pub(crate) trait Subject: Send {
    fn copy(&self) -> Self;

    /// As long as this is the same, answers are.
    fn n_changes(&self) -> u32;
}

impl Subject for Box<dyn Model> {
    fn copy(&self) -> Box<dyn Model> {
        Model::copy(&**self)
    }

    fn n_changes(&self) -> u32 {
        Model::n_changes(&**self)
    }
}

/// How jobs are done.
pub(crate) struct Across<'a, 'w> {
    pub(crate) clock: &'a Clock<'w>,
    /// Bytes without which a lane cannot begin.
    pub(crate) least_bytes: u64,
}

/// A job and what is needed for it.
pub(crate) struct Begun<'b, 'w> {
    pub(crate) clock: &'b Clock<'w>,
    /// Jobs that have not begun, with this one; how many are done at once.
    pub(crate) n_left: usize,
    pub(crate) n_lanes: usize,
}

impl<'w> Begun<'_, 'w> {
    /// A clock for a share of the time, which is for all jobs that are left: each of them gets as much of it.
    pub(crate) fn part(&self, share: f64) -> Clock<'w> {
        self.clock.part(share * (self.n_lanes as f64 / self.n_left as f64).min(1.0))
    }
}

/// An answer, and what it means for the others.
pub(crate) trait Answered: Send {
    /// Whether more memory might have helped.
    fn is_short(&self) -> bool;
}

impl<'w> Across<'_, 'w> {
    /// How many of so many jobs are done at once. Processes that search together do so in one order, what is kept has one, too,
    /// and a device has one memory.
    pub(crate) fn n_lanes(&self, n_jobs: usize) -> usize {
        if self.clock.goes_by_rounds() || self.clock.device().is_some() {
            return 1;
        }
        let fit = self.clock.max_bytes() / self.least_bytes.max(1);
        self.clock.n_threads().min(n_jobs).min(usize::try_from(fit).unwrap_or(usize::MAX)).max(1)
    }

    /// Does all jobs, until `hear` has had enough. It gets the answers in the order of the jobs.
    pub(crate) fn run<M: Subject, J: Send, T: Answered>(
        &self,
        subject: &mut M,
        jobs: &mut [J],
        name: impl Fn(&J) -> String + Sync,
        run: impl Fn(&mut M, &mut J, &Begun<'_, 'w>) -> T + Sync,
        hear: impl FnMut(&mut J, T) -> ControlFlow<()> + Send,
    ) {
        let n_lanes = self.n_lanes(jobs.len());
        if n_lanes < 2 {
            return self.one_by_one(subject, jobs, run, hear);
        }
        let copy = subject.copy();
        let lanes = Lanes {
            clock: self.clock,
            n_lanes,
            is_off: Arc::default(),
            now: Mutex::new(Now {
                n_jobs: jobs.len(),
                subject: copy,
                version: 0,
                waiting: jobs.iter_mut().enumerate().collect(),
                ready: BTreeMap::new(),
                n_heard: 0,
                n_at_work: 0,
                alone: Alone::Nobody,
                hear,
            }),
            changed: Condvar::new(),
            name,
            run,
        };
        Threads::new(n_lanes).run(&|worker| lanes.work(worker));
        let now = lanes.now.into_inner().unwrap_or_else(PoisonError::into_inner);
        if now.version > 0 {
            *subject = now.subject;
        }
    }

    fn one_by_one<M: Subject, J, T>(
        &self,
        subject: &mut M,
        jobs: &mut [J],
        run: impl Fn(&mut M, &mut J, &Begun<'_, 'w>) -> T,
        mut hear: impl FnMut(&mut J, T) -> ControlFlow<()>,
    ) {
        let n_jobs = jobs.len();
        for (index, job) in jobs.iter_mut().enumerate() {
            let begun = Begun { clock: self.clock, n_left: n_jobs - index, n_lanes: 1 };
            // The last one, which may be the only one, leaves nothing to others; nor does one that has no time.
            let answer = if index + 1 == n_jobs || self.clock.is_over() {
                run(subject, job, &begun)
            } else {
                let mut copy = subject.copy();
                let answer = run(&mut copy, job, &begun);
                if copy.n_changes() != subject.n_changes() {
                    *subject = copy;
                }
                answer
            };
            if hear(job, answer).is_break() {
                return;
            }
        }
    }
}

/// Jobs that are done at once.
struct Lanes<'a, 'w, 'j, M, J, T, N, R, H> {
    clock: &'a Clock<'w>,
    n_lanes: usize,
    is_off: Arc<AtomicBool>,
    now: Mutex<Now<'j, M, J, T, H>>,
    changed: Condvar,
    name: N,
    run: R,
}

/// A job that is done, and has not been heard.
struct Ready<'j, M, J, T> {
    job: &'j mut J,
    answer: T,
    /// The subject, if the job has changed it.
    changed: Option<M>,
    /// Whether it had everything.
    was_alone: bool,
}

/// Whether a job has everything: its own part was too small.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alone {
    Nobody,
    /// The next one to be heard, as soon as nobody is at work.
    Wanted,
    AtWork,
}

/// What the lanes share.
struct Now<'j, M, J, T, H> {
    n_jobs: usize,
    subject: M,
    /// How often the subject was replaced.
    version: u32,
    /// Jobs to begin, by their numbers.
    waiting: BTreeMap<usize, &'j mut J>,
    /// Jobs that are done, all of them with the subject as it is.
    ready: BTreeMap<usize, Ready<'j, M, J, T>>,
    n_heard: usize,
    n_at_work: usize,
    alone: Alone,
    hear: H,
}

impl<'j, M, J, T, H> Now<'j, M, J, T, H>
where
    T: Answered,
    H: FnMut(&mut J, T) -> ControlFlow<()>,
{
    /// A job to begin, if one may begin now.
    fn take(&mut self) -> Option<(usize, &'j mut J)> {
        match self.alone {
            Alone::Nobody => self.waiting.pop_first(),
            Alone::Wanted if self.n_at_work == 0 => {
                self.alone = Alone::AtWork;
                self.waiting.pop_first()
            }
            Alone::Wanted | Alone::AtWork => None,
        }
    }

    /// Hands on the answers that are next.
    fn hand_on(&mut self) -> ControlFlow<()> {
        while let Some(Ready { job, answer, changed, was_alone }) = self.ready.remove(&self.n_heard) {
            if answer.is_short() && !was_alone {
                self.waiting.insert(self.n_heard, job);
                self.alone = Alone::Wanted;
                break;
            }
            if let Some(subject) = changed {
                (self.subject, self.version) = (subject, self.version + 1);
                let others = std::mem::take(&mut self.ready);
                self.waiting.extend(others.into_iter().map(|(index, ready)| (index, ready.job)));
            }
            self.n_heard += 1;
            (self.hear)(job, answer)?;
        }
        ControlFlow::Continue(())
    }
}

impl<'w, 'j, M, J, T, N, R, H> Lanes<'_, 'w, 'j, M, J, T, N, R, H>
where
    M: Subject,
    J: Send,
    T: Answered,
    N: Fn(&J) -> String + Sync,
    R: Fn(&mut M, &mut J, &Begun<'_, 'w>) -> T + Sync,
    H: FnMut(&mut J, T) -> ControlFlow<()> + Send,
{
    fn work(&self, worker: Worker) {
        let _end = End { is_off: &self.is_off, changed: &self.changed };
        let lane = self.clock.lane(worker.index + 1, self.n_lanes, &self.is_off);
        // What the last job had: good enough for one that has no time.
        let mut used: Option<M> = None;
        let mut now = self.lock();
        while now.n_heard < now.n_jobs && !self.is_off.load(Ordering::Relaxed) {
            let Some((index, job)) = now.take() else {
                now = self.changed.wait(now).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let (version, is_alone) = (now.version, now.alone == Alone::AtWork);
            let n_left = now.waiting.len() + 1;
            let mut copy = match used.take() {
                Some(used) if self.clock.is_over() => used,
                _ => now.subject.copy(),
            };
            let n_changes = copy.n_changes();
            now.n_at_work += 1;
            drop(now);
            let begun = match is_alone {
                true => Begun { clock: self.clock, n_left, n_lanes: 1 },
                false => Begun { clock: &lane, n_left, n_lanes: self.n_lanes },
            };
            lane.tell_lane(Some(&(self.name)(job)));
            let answer = (self.run)(&mut copy, job, &begun);
            lane.tell_lane(None);
            now = self.lock();
            now.n_at_work -= 1;
            if is_alone {
                now.alone = Alone::Nobody;
            }
            if now.version == version {
                let changed = if copy.n_changes() == n_changes {
                    used = Some(copy);
                    None
                } else {
                    Some(copy)
                };
                now.ready.insert(index, Ready { job, answer, changed, was_alone: is_alone });
            } else {
                now.waiting.insert(index, job);
            }
            if now.hand_on().is_break() {
                self.is_off.store(true, Ordering::Relaxed);
            }
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Now<'j, M, J, T, H>> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets nobody wait for who is thrown out by a panic.
struct End<'e> {
    is_off: &'e AtomicBool,
    changed: &'e Condvar,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.is_off.store(true, Ordering::Relaxed);
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use super::*;
    use crate::clock::Limits;

    /// A number that jobs read, and some make larger.
    #[derive(Clone)]
    struct Counter {
        value: u32,
        n_changes: u32,
    }

    impl Subject for Counter {
        fn copy(&self) -> Counter {
            self.clone()
        }

        fn n_changes(&self) -> u32 {
            self.n_changes
        }
    }

    struct Saw {
        value: u32,
        is_short: bool,
    }

    impl Answered for Saw {
        fn is_short(&self) -> bool {
            self.is_short
        }
    }

    /// What each job saw: its number, the value, and with how many threads. Jobs that divide by seven add their number, those that divide
    /// by five need more memory than a lane has.
    fn answers(n_threads: usize, stop_at: usize) -> (Vec<(usize, u32)>, u32) {
        let limits = Limits::default().memory(1_000_000);
        let clock = Clock::start(&limits).with_threads(Threads::new(n_threads));
        let mut jobs: Vec<usize> = (1..40).collect();
        let mut subject = Counter { value: 0, n_changes: 0 };
        let mut heard = Vec::new();
        let across = Across { clock: &clock, least_bytes: 1 };
        let run = |counter: &mut Counter, job: &mut usize, begun: &Begun<'_, '_>| {
            // So that the order in which they end is another one every time.
            if job.is_multiple_of(3) {
                std::thread::sleep(Duration::from_micros(300));
            }
            let value = counter.value;
            if job.is_multiple_of(7) {
                (counter.value, counter.n_changes) = (value + *job as u32, counter.n_changes + 1);
            }
            // What is noted without a change of the subject is seen by nobody else.
            counter.value += 1;
            Saw { value, is_short: job.is_multiple_of(5) && begun.clock.max_bytes() < 1_000_000 }
        };
        across.run(&mut subject, &mut jobs, usize::to_string, run, |job, saw| {
            assert!(!saw.is_short);
            heard.push((*job, saw.value));
            if *job == stop_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (heard, subject.n_changes)
    }

    #[test]
    fn answers_and_their_order_do_not_depend_on_the_number_of_lanes() {
        let one = answers(1, 0);
        assert_eq!((one.0.len(), one.1), (39, 5));
        assert_eq!(one.0[..8], [1, 2, 3, 4, 5, 6, 7, 8].map(|job| (job, if job < 8 { 0 } else { 8 })));
        for n_threads in [2, 3, 8, 64] {
            for _ in 0..20 {
                assert_eq!(answers(n_threads, 0), one);
            }
            assert_eq!(answers(n_threads, 17).0, one.0[..17]);
        }
    }

    /// What is copied counts how often.
    #[derive(Clone, Default)]
    struct Copied(Arc<AtomicUsize>);

    impl Subject for Copied {
        fn copy(&self) -> Copied {
            self.0.fetch_add(1, Ordering::Relaxed);
            self.clone()
        }

        fn n_changes(&self) -> u32 {
            0
        }
    }

    /// Thousands of questions that are left when the time is up take no copies of thousands of questions.
    #[test]
    fn jobs_that_have_no_time_take_no_copies() {
        for (time, n_threads, most) in [(0, 1, 0), (0, 2, 3), (3600, 1, 1000), (3600, 2, 1001)] {
            let limits = Limits::default().memory(1000).time(Duration::from_secs(time));
            let clock = Clock::start(&limits).with_threads(Threads::new(n_threads));
            let mut subject = Copied::default();
            let mut jobs: Vec<usize> = (0..1000).collect();
            let across = Across { clock: &clock, least_bytes: 1 };
            let run = |_: &mut Copied, _: &mut usize, _: &Begun<'_, '_>| Saw { value: 0, is_short: false };
            let mut n_heard = 0;
            across.run(&mut subject, &mut jobs, usize::to_string, run, |_, _| {
                n_heard += 1;
                ControlFlow::Continue(())
            });
            let n_copies = subject.0.load(Ordering::Relaxed);
            assert_eq!(n_heard, 1000);
            assert!(n_copies <= most, "{n_copies} copies");
            assert_eq!(time > 0, n_copies >= 999, "jobs that have time do not see what others do");
        }
    }

    #[test]
    #[should_panic(expected = "the mistake of 9")]
    fn a_panic_ends_all() {
        let clock = Clock::start(&Limits::default().memory(1000)).with_threads(Threads::new(3));
        let mut subject = Counter { value: 0, n_changes: 0 };
        let across = Across { clock: &clock, least_bytes: 1 };
        let run = |_: &mut Counter, job: &mut usize, _: &Begun<'_, '_>| {
            assert_ne!(*job, 9, "the mistake of {job}");
            Saw { value: 0, is_short: false }
        };
        let mut jobs: Vec<usize> = (0..100).collect();
        across.run(&mut subject, &mut jobs, usize::to_string, run, |_, _| ControlFlow::Continue(()));
    }

    #[test]
    fn lanes_have_the_memory_that_they_need() {
        let clock = Clock::start(&Limits::default().memory(1000)).with_threads(Threads::new(8));
        let n_lanes = |least_bytes, n_jobs| Across { clock: &clock, least_bytes }.n_lanes(n_jobs);
        assert_eq!([n_lanes(1, 3), n_lanes(1, 30), n_lanes(300, 30), n_lanes(3000, 30)], [3, 8, 3, 1]);
    }
}
