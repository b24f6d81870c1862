//! The search of states for several processes: from the first state to the answer.
//!
//! All go through the [rounds](super::expand) together. After a round, everybody says what it came to; if there is news, runs
//! are looked for ([`backward`](super::backward)), and the search goes on with the goals that are left. Of what is found in one
//! round, only that counts which a sequential search would have found, too: before the first state in which the
//! model goes wrong. So all processes have the same exploration in the end, and it is that of one machine.

use base::{Budget, Limit, Peers, Progress};
use model::{StepError, System as _};

use super::backward::Way;
use super::exchange::{Exchange, Watch, limit_of, words_of};
use super::expand::{N_KINDS, Part};
use crate::parallel::expand::Report;
use crate::search::{Exploration, Goal, Space, Stats, Stop};
use crate::store::{Exact, Visited as _, hash};

/// Explores `space` breadth first with the processes of the budget.
pub(crate) fn search<S: Space>(
    space: &S,
    goals: &[Goal],
    peers: &dyn Peers,
    budget: &mut Budget<'_>,
) -> Exploration {
    let mut initial = Vec::new();
    space.whole().initial_states(&mut initial);
    let store = Exact::new(space.whole().width(), budget.room());
    let part = Part::new(space, Exchange::new(peers, N_KINDS), store);
    let exploration = Exploration { stop: None, ..Exploration::limited(goals.len(), Limit::Time) };
    let mut search = Search { part, goals, initial, exploration, sums: Sums::default() };
    let mut watch = Watch { budget, progress: Progress { workers: 1, ..Progress::default() } };
    let stop = search.run(&mut watch).unwrap_or_else(|limit| Some(Stop::Limit(limit)));
    search.finish(stop, &mut watch)
}

struct Search<'a, 'p, S: Space> {
    part: Part<'a, 'p, S>,
    goals: &'a [Goal],
    initial: Vec<u32>,
    exploration: Exploration,
    sums: Sums,
}

/// What all processes together have come to.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    n_states: u64,
    n_new: u64,
    transitions: u64,
    deadlocks: u64,
    bytes: u64,
    has_news: bool,
    limit: Option<Limit>,
}

impl<S: Space> Search<'_, '_, S> {
    fn run(&mut self, watch: &mut Watch<'_, '_>) -> Result<Option<Stop>, Limit> {
        self.begin_alike(watch)?;
        self.part.look_for(self.goals, |_| true);
        let width = self.part.system.width();
        for state in self.initial.clone().chunks_exact(width) {
            if let Err(limit) = self.part.add_initial(state) {
                self.part.exchange.ring(limit)?;
                break;
            }
        }
        loop {
            let report = self.agree(watch)?;
            // Who has no time left looks for nothing more.
            let is_urgent = matches!(self.sums.limit, Some(Limit::Time | Limit::Interrupt | Limit::Step));
            if self.sums.has_news && !is_urgent {
                if let Some(stop) = self.look_into(&report, watch)? {
                    return Ok(Some(stop));
                }
                let closed: Vec<bool> = (0..self.goals.len()).map(|goal| self.is_closed(goal)).collect();
                self.part.look_for(self.goals, |goal| !closed[goal]);
            }
            if self.all_closed() {
                return Ok(Some(Stop::AllViolated));
            }
            if let Some(limit) = self.sums.limit {
                return Ok(Some(Stop::Limit(limit)));
            }
            if self.sums.n_new == 0 {
                return Ok(None);
            }
            watch.progress.depth = self.part.ends.len() as u64 - 1;
            self.part.expand_round(watch)?;
        }
    }

    /// All processes must begin the same search.
    fn begin_alike(&mut self, watch: &mut Watch<'_, '_>) -> Result<(), Limit> {
        let mut words = vec![self.part.system.width() as u32, self.part.system.n_propositions() as u32];
        words.extend_from_slice(&self.initial);
        words.extend(self.goals.iter().map(|goal| match goal {
            Goal::Deadlock => 0,
            Goal::Invariant(number) => *number as u32 + 1,
        }));
        let tag = hash(&words, 1);
        let ends = self.part.exchange.all(&[tag as u32, (tag >> 32) as u32], watch)?;
        let mine = &ends[self.part.exchange.me()];
        match ends.iter().position(|words| words != mine) {
            None => Ok(()),
            Some(other) => Err(Limit::Apart(other as u32)),
        }
    }

    /// A round is over: everybody says what it came to. Returns what was found here.
    fn agree(&mut self, watch: &mut Watch<'_, '_>) -> Result<Report, Limit> {
        let part = &mut self.part;
        let report = std::mem::take(&mut part.report);
        let n_before = part.ends.last().copied().unwrap_or(0);
        part.end_round();
        let n_new = part.store.n_states() - u64::from(n_before);
        let counts = [part.store.n_states(), n_new, report.transitions, report.deadlocks, part.bytes()];
        let mut words: Vec<u32> = words_of(part.exchange.limit()).into();
        words.push(report.has_news().into());
        words.extend(counts.iter().flat_map(|&count| [count as u32, (count >> 32) as u32]));
        let ends = part.exchange.all(&words, watch)?;
        let mut sums =
            Sums { transitions: self.sums.transitions, deadlocks: self.sums.deadlocks, ..Sums::default() };
        for (from, words) in ends.iter().enumerate() {
            if words.len() != 14 {
                return Err(Limit::Apart(from as u32));
            }
            let count = |nth: usize| u64::from(words[4 + 2 * nth]) | u64::from(words[5 + 2 * nth]) << 32;
            sums.limit = sums.limit.or(limit_of(&words[..3]));
            sums.has_news |= words[3] != 0;
            sums.n_states += count(0);
            sums.n_new += count(1);
            sums.transitions += count(2);
            sums.deadlocks += count(3);
            sums.bytes += count(4);
        }
        if sums.n_states > watch.budget.max_states {
            sums.limit = sums.limit.or(Some(Limit::States(watch.budget.max_states)));
        }
        watch.progress = Progress {
            states: sums.n_states,
            transitions: sums.transitions,
            pending: sums.n_new,
            ..watch.progress
        };
        self.sums = sums;
        let peak_bytes = &mut self.exploration.stats.peak_bytes;
        *peak_bytes = (*peak_bytes).max(sums.bytes);
        Ok(report)
    }

    fn is_closed(&self, goal: usize) -> bool {
        self.exploration.violations[goal].is_some() || self.exploration.faults[goal].is_some()
    }

    fn all_closed(&self) -> bool {
        !self.goals.is_empty() && (0..self.goals.len()).all(|goal| self.is_closed(goal))
    }

    /// Finds runs to what was found in the last round.
    fn look_into(&mut self, report: &Report, watch: &mut Watch<'_, '_>) -> Result<Option<Stop>, Limit> {
        let last = self.part.ends.len() - 1;
        let faults: Vec<u32> = report.faults.iter().map(|fault| fault.0).collect();
        // Nothing was expanded before the first states were found.
        let expanded = last.checked_sub(1);
        let first_fault = match expanded {
            Some(round) => self.way(round, &faults, watch)?,
            None => None,
        };
        for (index, goal) in (0..).zip(self.goals) {
            if self.is_closed(index as usize) {
                continue;
            }
            let violating = report.violations.iter().filter(|it| it.0 == index).map(|it| it.1);
            let unclear = report.unclear.iter().filter(|it| it.0 == index).map(|it| it.1);
            let states: Vec<u32> = violating.chain(unclear).collect();
            let round = if *goal == Goal::Deadlock { expanded } else { Some(last) };
            let Some(round) = round else { continue };
            let Some(way) = self.way(round, &states, watch)? else { continue };
            // The model goes wrong before that was found.
            if first_fault.as_ref().is_some_and(|fault| fault.is_before(&way)) {
                continue;
            }
            match self.unclear(*goal, &way.last) {
                None => self.exploration.violations[index as usize] = Some(way.run),
                Some(error) => self.exploration.faults[index as usize] = Some((error, way.run)),
            }
        }
        let Some(way) = first_fault else { return Ok(None) };
        if self.all_closed() {
            return Ok(Some(Stop::AllViolated));
        }
        let error = self.part.error_in(&way.last);
        Ok(error.map(|error| Stop::Fault(error, way.run)))
    }

    fn way(&mut self, round: usize, states: &[u32], watch: &mut Watch<'_, '_>) -> Result<Option<Way>, Limit> {
        // What was stored is stored; nothing is added.
        let (max_states, max_bytes) = (watch.budget.max_states, watch.budget.max_bytes);
        (watch.budget.max_states, watch.budget.max_bytes) = (u64::MAX, u64::MAX);
        let way = self.part.way(round, states, &self.initial, watch);
        (watch.budget.max_states, watch.budget.max_bytes) = (max_states, max_bytes);
        way
    }

    /// Why a goal cannot be evaluated in a state, if it cannot.
    fn unclear(&mut self, goal: Goal, state: &[u32]) -> Option<StepError> {
        match goal {
            Goal::Deadlock => None,
            Goal::Invariant(number) => self.part.system.holds(number, state, &mut self.part.scratch).err(),
        }
    }

    fn finish(mut self, stop: Option<Stop>, watch: &mut Watch<'_, '_>) -> Exploration {
        let Sums { n_states, transitions, deadlocks, .. } = self.sums;
        let mut taken = self.part.system.taken(&self.part.scratch).to_vec();
        let is_lost = matches!(stop, Some(Stop::Limit(Limit::Process(_) | Limit::Apart(_))));
        let mut stop = stop;
        if !is_lost && let Err(limit) = self.share_taken(&mut taken, watch) {
            stop = Some(Stop::Limit(limit));
        }
        let n_rounds = self.part.ends.len() as u64;
        let stats = &mut self.exploration.stats;
        // The last round was not expanded, or is empty.
        let depth = n_rounds.saturating_sub(2);
        *stats = Stats { states: n_states, transitions, deadlocks, depth, ..*stats };
        Exploration { stop, taken, ..self.exploration }
    }

    /// What happened anywhere, happened.
    fn share_taken(&mut self, taken: &mut [bool], watch: &mut Watch<'_, '_>) -> Result<(), Limit> {
        let bits =
            |some: &[bool]| some.iter().enumerate().fold(0, |word, (at, &bit)| word | u32::from(bit) << at);
        let words: Vec<u32> = taken.chunks(32).map(bits).collect();
        for words in self.part.exchange.all(&words, watch)? {
            for (index, taken) in taken.iter_mut().enumerate() {
                *taken |= words.get(index / 32).is_some_and(|word| word >> (index % 32) & 1 == 1);
            }
        }
        Ok(())
    }
}
