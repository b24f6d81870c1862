//! A search on a device, level by level: what is common to systems and products.
//!
//! Levels are expanded one after the other, each in chunks, between which the budget is asked. A level is always finished, so that
//! nothing depends on which lane was fast.

use base::device::Kernel;
use base::{Budget, Limit, Progress};

use super::job::{Job, Pick};
use super::space::{Space, targets};
use crate::product::ExpandError;
use crate::search::Stats;

/// So many states are sent to a device at once.
const MANY: usize = 1 << 12;

pub(super) struct Levels<'d, 'b, 'w, P> {
    pub(super) space: P,
    pub(super) job: Job<'d>,
    pub(super) budget: &'b mut Budget<'w>,
    pub(super) kernels: Kernels,
    /// Per level, where its items end in the order of all items.
    pub(super) ends: Vec<u64>,
    progress: Progress,
    deadlocks: u64,
    by_host: ByHost,
}

/// What goes along the steps that are taken.
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    /// Takes the steps out of states.
    forward: Kernel,
    /// Looks for states with a step to others.
    pub(super) backward: Kernel,
    /// Lets something spread along steps, in a product.
    pub(super) spread: Kernel,
}

impl Kernels {
    pub(super) const STATES: Kernels = Kernels { forward: Kernel::Expand, ..Kernels::PRODUCT };
    pub(super) const SETS: Kernels =
        Kernels { forward: Kernel::Reduce, backward: Kernel::Retrace, ..Kernels::PRODUCT };
    pub(super) const PRODUCT: Kernels =
        Kernels { forward: Kernel::Pair, backward: Kernel::Scan, spread: Kernel::Spread };
    pub(super) const LED: Kernels =
        Kernels { forward: Kernel::PairLed, backward: Kernel::ScanLed, spread: Kernel::SpreadLed };
}

/// What the processor has done itself, of states that are hard.
#[derive(Default)]
struct ByHost {
    transitions: u64,
    deadlocks: u64,
    has_some: bool,
}

/// What was found in a level.
#[derive(Default)]
pub(super) struct News {
    /// States in which the model goes wrong.
    pub(super) faults: Vec<Vec<u32>>,
    /// Whether there are states without steps.
    pub(super) has_deadlocks: bool,
    /// Whether there are states in which something is accepted.
    pub(super) has_wrong: bool,
}

impl<'d, 'b, 'w, P: Space> Levels<'d, 'b, 'w, P> {
    /// Nothing was found so far.
    pub(super) fn new(
        space: P,
        job: Job<'d>,
        kernels: Kernels,
        budget: &'b mut Budget<'w>,
    ) -> Levels<'d, 'b, 'w, P> {
        let progress = Progress { workers: 1, bytes: 0, ..Progress::default() };
        Levels {
            space,
            job,
            budget,
            kernels,
            ends: Vec::new(),
            progress,
            deadlocks: 0,
            by_host: ByHost::default(),
        }
    }

    /// Adds the initial states, which are the first level.
    pub(super) fn begin(&mut self, initial: &[Vec<u32>]) -> Result<(), Limit> {
        let mut states: Vec<Vec<u32>> = Vec::new();
        for state in initial {
            if !states.contains(state) {
                states.push(state.clone());
            }
        }
        self.job.insert(&states, 0)?;
        self.ends.push(self.job.counts()?.added);
        self.progress.states = states.len() as u64;
        self.poll()
    }

    /// The items of a level, holes included.
    pub(super) fn items(&self, level: usize) -> (u64, u64) {
        (level.checked_sub(1).map_or(0, |before| self.ends[before]), self.ends[level])
    }

    /// The numbers by which states are known: some are of no state.
    pub(super) fn n_ids(&self) -> u64 {
        match self.job.plan.is_narrow {
            true => self.job.plan.n_ids(),
            false => self.ends.last().copied().unwrap_or(0),
        }
    }

    /// Whether the device takes all steps that there are.
    pub(super) fn is_easy(&self) -> bool {
        !self.by_host.has_some
    }

    pub(super) fn poll(&mut self) -> Result<(), Limit> {
        // The memory of the device is not what the budget counts.
        self.budget.poll(&self.progress)
    }

    /// Expands the last level; says what was found. Nothing if there is nothing in it.
    pub(super) fn expand(&mut self) -> Result<Option<News>, Limit> {
        let mut news = News::default();
        let (start, end) = self.items(self.ends.len() - 1);
        if start == end {
            return Ok(None);
        }
        let (mut from, mut added) = (start, end);
        while from < end {
            let n = (end - from).min(self.job.plan.chunk);
            let counts = self.job.expand(self.kernels.forward, from, n, start)?;
            from += n;
            news.has_wrong |= counts.found > 0;
            self.by_host.has_some |= counts.notes > 0;
            let mut found = Vec::new();
            for state in self.job.notes(counts.notes)? {
                match self.space.expand(&state) {
                    Ok(here) => {
                        self.by_host.transitions += here.n_steps as u64;
                        self.by_host.deadlocks += u64::from(here.is_deadlock);
                        news.has_wrong |= here.is_wrong;
                        found.append(&mut targets(&self.space, here.n_steps));
                    }
                    Err(ExpandError::Limit(limit)) => return Err(limit),
                    Err(ExpandError::Step(error)) => match error.limit() {
                        Some(limit) => return Err(limit),
                        None => news.faults.push(state),
                    },
                }
                if found.len() >= MANY {
                    self.job.insert(&std::mem::take(&mut found), start)?;
                    self.poll()?;
                }
            }
            self.job.insert(&found, start)?;
            let counts = self.job.counts()?;
            added = counts.added;
            self.progress.states = added - counts.holes;
            self.progress.transitions = counts.transitions + self.by_host.transitions;
            self.progress.pending = added - from;
            let deadlocks = counts.deadlocks + self.by_host.deadlocks;
            news.has_deadlocks |= deadlocks > self.deadlocks;
            self.deadlocks = deadlocks;
            self.poll()?;
        }
        self.ends.push(added);
        self.progress.depth = self.ends.len() as u64 - 1;
        Ok(Some(news))
    }

    /// Gives a code to the states of a level that are to be picked out, if it is not 0; says whether there are some. What is hard
    /// the processor decides.
    pub(super) fn pick_out(
        &mut self,
        level: usize,
        pick: Pick,
        code: u8,
        mut is_picked: impl FnMut(&mut P, &[u32]) -> bool,
    ) -> Result<bool, Limit> {
        let (mut from, end) = self.items(level);
        let mut is_any = false;
        while from < end {
            let n = (end - from).min(self.job.plan.chunk);
            let counts = self.job.select(from, n, pick, code)?;
            from += n;
            let mut picked = self.job.notes(counts.notes)?;
            picked.retain(|state| is_picked(&mut self.space, state));
            is_any |= counts.found > 0 || !picked.is_empty();
            if code != 0 {
                self.job.mark(&picked, code)?;
            }
            self.poll()?;
        }
        Ok(is_any)
    }

    /// What was explored.
    pub(super) fn stats(&self) -> Stats {
        Stats {
            states: self.progress.states,
            transitions: self.progress.transitions,
            deadlocks: self.deadlocks,
            // The last level was not expanded, or is empty.
            depth: (self.ends.len() as u64).saturating_sub(2),
            peak_bytes: self.job.bytes(),
        }
    }
}
