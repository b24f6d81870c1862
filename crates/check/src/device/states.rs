//! The search of states on a device: from the first state to the answer.
//!
//! Levels are expanded one after the other, each in chunks, between which the budget is asked. A level is always finished, so that
//! nothing depends on which lane was fast. When a level brings news, runs are looked for ([`runs`](super::runs)), and the search
//! goes on with the goals that are left. Of what is found in one level, only that counts which a sequential search would have
//! found, too: before the first state in which the model goes wrong. So verdicts, counts of complete searches and runs are those of
//! a sequential breadth-first search.

use base::device::Device;
use base::{Budget, Limit, Progress};
use model::tables::Tables;
use model::{ActionSystem, Scratch, StepError, Steps, System as _};

use super::job::{Job, Pick};
use super::runs::Way;
use crate::search::{Exploration, Goal, Stop};

/// Explores a system breadth first, with so many bytes of a device; and does something else, if all states were found.
pub(super) fn search<T>(
    system: &ActionSystem,
    tables: &Tables,
    goals: &[Goal],
    (device, bytes): (&dyn Device, u64),
    budget: &mut Budget<'_>,
    then: &mut impl FnMut(&mut Search<'_, '_, '_, '_>) -> T,
) -> (Exploration, Option<T>) {
    let mut job = match Job::new(system, tables, device, bytes) {
        Ok(job) => job,
        Err(limit) => return (Exploration::limited(goals.len(), limit), None),
    };
    let exploration = Exploration { stop: None, ..Exploration::limited(goals.len(), Limit::Device) };
    let mut search = Search {
        system,
        goals,
        scratch: system.new_scratch(),
        steps: Steps::new(system.width()),
        ends: Vec::new(),
        progress: Progress { workers: 1, bytes: 0, ..Progress::default() },
        by_host: ByHost::default(),
        exploration,
        job: &mut job,
        budget,
    };
    let stop = search.run().unwrap_or_else(|limit| Some(Stop::Limit(limit)));
    let done = stop.is_none().then(|| then(&mut search));
    (search.finish(stop), done)
}

pub(super) struct Search<'a, 'd, 'b, 'w> {
    pub(super) system: &'a ActionSystem,
    goals: &'a [Goal],
    pub(super) scratch: Scratch,
    pub(super) steps: Steps,
    /// Per level, where its items end in the order of all items.
    pub(super) ends: Vec<u64>,
    progress: Progress,
    by_host: ByHost,
    exploration: Exploration,
    pub(super) job: &'a mut Job<'d>,
    budget: &'b mut Budget<'w>,
}

/// What the processor has done itself, of states that are hard.
#[derive(Default)]
struct ByHost {
    transitions: u64,
    deadlocks: u64,
}

/// What was found in a level.
#[derive(Default)]
struct News {
    /// States in which the model goes wrong.
    faults: Vec<Vec<u32>>,
    /// Whether there are states without steps.
    has_deadlocks: bool,
}

impl Search<'_, '_, '_, '_> {
    fn run(&mut self) -> Result<Option<Stop>, Limit> {
        let mut initial: Vec<Vec<u32>> = Vec::new();
        for state in self.system.initial() {
            if !initial.iter().any(|known| known == state) {
                initial.push(state.to_vec());
            }
        }
        self.job.insert(&initial, 0)?;
        self.ends.push(self.job.counts()?.added);
        self.progress.states = initial.len() as u64;
        self.poll()?;
        if let Some(stop) = self.look_into(&News::default())? {
            return Ok(Some(stop));
        }
        loop {
            let (start, end) = self.items(self.ends.len() - 1);
            if start == end {
                return Ok(None);
            }
            let (news, added) = self.expand(start, end)?;
            self.ends.push(added);
            self.progress.depth = self.ends.len() as u64 - 1;
            if let Some(stop) = self.look_into(&news)? {
                return Ok(Some(stop));
            }
        }
    }

    /// The items of a level, holes included.
    pub(super) fn items(&self, level: usize) -> (u64, u64) {
        (level.checked_sub(1).map_or(0, |before| self.ends[before]), self.ends[level])
    }

    /// How many items there are, holes included.
    pub(super) fn n_items(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    pub(super) fn poll(&mut self) -> Result<(), Limit> {
        // The memory of the device is not what the budget counts.
        self.budget.poll(&self.progress)
    }

    /// Expands a level; says what was found, and where the items of the next level end.
    fn expand(&mut self, start: u64, end: u64) -> Result<(News, u64), Limit> {
        let mut news = News::default();
        let (mut from, mut added) = (start, end);
        while from < end {
            let n = (end - from).min(self.job.plan.chunk);
            let counts = self.job.expand(from, n, start)?;
            from += n;
            let mut targets = Vec::new();
            for state in self.job.notes(counts.notes)? {
                match self.expand_here(&state) {
                    Ok(n_steps) => {
                        self.by_host.transitions += n_steps as u64;
                        self.by_host.deadlocks += u64::from(n_steps == 0);
                        targets.extend(self.steps.iter().map(|(_, target)| target.to_vec()));
                    }
                    Err(error) => match error.limit() {
                        Some(limit) => return Err(limit),
                        None => news.faults.push(state),
                    },
                }
                if targets.len() >= 1 << 12 {
                    self.job.insert(&std::mem::take(&mut targets), start)?;
                    self.poll()?;
                }
            }
            self.job.insert(&targets, start)?;
            let counts = self.job.counts()?;
            added = counts.added;
            self.progress.states = added - counts.holes;
            self.progress.transitions = counts.transitions + self.by_host.transitions;
            self.progress.pending = added - from;
            let deadlocks = counts.deadlocks + self.by_host.deadlocks;
            news.has_deadlocks |= deadlocks > self.exploration.stats.deadlocks;
            self.exploration.stats.deadlocks = deadlocks;
            self.poll()?;
        }
        Ok((news, added))
    }

    /// Lists the steps out of a state by the system itself; says how many they are.
    pub(super) fn expand_here(&mut self, state: &[u32]) -> Result<usize, StepError> {
        self.steps.clear();
        self.system.successors(state, &mut self.scratch, &mut self.steps)?;
        Ok(self.steps.len())
    }

    fn is_closed(&self, goal: usize) -> bool {
        self.exploration.violations[goal].is_some() || self.exploration.faults[goal].is_some()
    }

    fn all_closed(&self) -> bool {
        !self.goals.is_empty() && (0..self.goals.len()).all(|goal| self.is_closed(goal))
    }

    /// Finds runs to what was found: in the level before the last one, which was expanded, and in the last one, which was
    /// found.
    fn look_into(&mut self, news: &News) -> Result<Option<Stop>, Limit> {
        let last = self.ends.len() - 1;
        let first_fault = match last.checked_sub(1) {
            Some(level) if !news.faults.is_empty() => {
                let faults = &news.faults;
                // It is a state of the level, so there is a run.
                Some(self.way(level, |search| search.job.mark(faults, 1))?.ok_or(Limit::Device)?)
            }
            _ => None,
        };
        for index in 0..self.goals.len() {
            if self.is_closed(index) {
                continue;
            }
            let (pick, level) = match self.goals[index] {
                Goal::Deadlock if !news.has_deadlocks => continue,
                Goal::Deadlock => (Pick::Deadlock, last - 1),
                Goal::Invariant(proposition) => (Pick::False(proposition), last),
            };
            if !self.select(level, pick, 0)? {
                continue;
            }
            let way = self.way(level, |search| search.select(level, pick, 1).map(|_| ()))?;
            let way = match (way, &first_fault) {
                // The model goes wrong before that was found, or all runs lead through states in which it does.
                (Some(way), Some(fault)) if fault.is_before(&way) => continue,
                (None, Some(_)) => continue,
                (way, _) => way.ok_or(Limit::Device)?,
            };
            match self.unclear(self.goals[index], &way.last) {
                None => self.exploration.violations[index] = Some(way.run),
                Some(error) => self.exploration.faults[index] = Some((error, way.run)),
            }
        }
        if self.all_closed() {
            return Ok(Some(Stop::AllViolated));
        }
        let Some(way) = first_fault else { return Ok(None) };
        match self.expand_here(&way.last) {
            Err(error) => Ok(Some(Stop::Fault(error, way.run))),
            // It went wrong a moment ago.
            Ok(_) => Err(Limit::Device),
        }
    }

    /// Gives a code to the states of a level that are to be picked out; says whether there are some.
    fn select(&mut self, level: usize, pick: Pick, code: u8) -> Result<bool, Limit> {
        let (mut from, end) = self.items(level);
        let mut is_any = false;
        while from < end {
            let n = (end - from).min(self.job.plan.chunk);
            let counts = self.job.select(from, n, pick, code)?;
            from += n;
            is_any |= counts.found > 0;
            let mut picked = Vec::new();
            for state in self.job.notes(counts.notes)? {
                let is_picked = match pick {
                    // Where it cannot be evaluated, that is news, too.
                    Pick::False(number) => {
                        !matches!(self.system.holds(number, &state, &mut self.scratch), Ok(true))
                    }
                    Pick::Deadlock => self.expand_here(&state) == Ok(0),
                };
                if is_picked {
                    picked.push(state);
                }
            }
            is_any |= !picked.is_empty();
            if code != 0 {
                self.job.mark(&picked, code)?;
            }
            self.poll()?;
        }
        Ok(is_any)
    }

    /// Why a goal cannot be evaluated in a state, if it cannot.
    fn unclear(&mut self, goal: Goal, state: &[u32]) -> Option<StepError> {
        match goal {
            Goal::Deadlock => None,
            Goal::Invariant(number) => self.system.holds(number, state, &mut self.scratch).err(),
        }
    }

    fn finish(mut self, mut stop: Option<Stop>) -> Exploration {
        let mut taken = self.system.taken(&self.scratch).to_vec();
        match self.job.taken() {
            Ok(there) => taken.iter_mut().zip(there).for_each(|(here, there)| *here |= there),
            Err(limit) => stop = stop.or(Some(Stop::Limit(limit))),
        }
        let stats = &mut self.exploration.stats;
        stats.states = self.progress.states;
        stats.transitions = self.progress.transitions;
        // The last level was not expanded, or is empty.
        stats.depth = (self.ends.len() as u64).saturating_sub(2);
        stats.peak_bytes = self.job.bytes();
        Exploration { stop, taken, ..self.exploration }
    }
}

impl Way {
    /// Whether a state is expanded before another one, or before that one is found.
    fn is_before(&self, other: &Way) -> bool {
        let n = self.places.len().min(other.places.len());
        let (ours, theirs) = ((self.run.initial, &self.places[..n]), (other.run.initial, &other.places[..n]));
        ours < theirs
    }
}
