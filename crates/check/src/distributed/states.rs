//! The search of states for several processes: from the first state to the answer.
//!
//! All go through the [rounds](super::expand) together. After a round, everybody says what it came to; if there is news, runs
//! are looked for ([`backward`](super::backward)), and the search goes on with the goals that are left. Of what is found in one
//! round, only that counts which a sequential search would have found, too: before the first state in which the
//! model goes wrong. So all processes have the same exploration in the end, and it is that of one machine.

use std::sync::PoisonError;

use base::{Budget, Limit, Peers, Progress};
use model::{ActionId, Run, StepError, System as _};

use super::backward::Way;
use super::exchange::{Exchange, Watch, limit_of, words_of};
use super::expand::{N_KINDS, Part};
use super::kept::{Heard, Kept, Log, Rounds, one, two};
use super::seats;
use crate::parallel::expand::Report;
use crate::search::{Exploration, Goal, Space, Stats, Stop};
use crate::store::{Exact, StateId, Store as _, Visited as _, hash};
use crate::sync::{Mutex, lock};

/// Explores `space` breadth first with the processes of the budget; or with its team, of which each worker has a part of the states.
pub(crate) fn search<S: Space + Sync>(space: &S, goals: &[Goal], budget: &mut Budget<'_>) -> Exploration {
    explore_all(space, goals, budget, drop)
}

/// Explores `space` and keeps what is here.
pub(crate) fn keep<S: Space + Sync>(space: &S, budget: &mut Budget<'_>) -> (Exploration, Vec<Exact>) {
    let stores = Mutex::new(Vec::new());
    let exploration = explore_all(space, &[], budget, |store| lock(&stores).push(store));
    (exploration, stores.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn explore_all<S: Space + Sync>(
    space: &S,
    goals: &[Goal],
    budget: &mut Budget<'_>,
    leave: impl Fn(Exact) + Sync,
) -> Exploration {
    let mut initial = Vec::new();
    space.whole().initial_states(&mut initial);
    let tag = tag(space, goals, &initial);
    let kept = budget.keeper().map(|keeper| Kept::begin(keeper, tag));
    seats(budget, |peers, budget| {
        let (exploration, store) = explore(space, goals, &initial, tag, kept.as_ref(), peers, budget);
        leave(store);
        exploration
    })
}

/// What two searches have in common only if they are the same.
fn tag<S: Space>(space: &S, goals: &[Goal], initial: &[u32]) -> u64 {
    let mut words = vec![space.whole().width() as u32, space.whole().n_propositions() as u32];
    words.extend_from_slice(initial);
    words.extend(goals.iter().map(|goal| match goal {
        Goal::Deadlock => 0,
        Goal::Invariant(number) => *number as u32 + 1,
    }));
    words.extend(std::any::type_name::<S>().bytes().map(u32::from));
    hash(&words, 1)
}

fn explore<S: Space>(
    space: &S,
    goals: &[Goal],
    initial: &[u32],
    tag: u64,
    kept: Option<&Kept<'_>>,
    peers: &dyn Peers,
    budget: &mut Budget<'_>,
) -> (Exploration, Exact) {
    let room = budget.room();
    let store = (Exact::new(space.whole().width(), room), room);
    let part = Part::new(space, Exchange::new(peers, N_KINDS, space.whole()), store);
    let exploration = Exploration { stop: None, ..Exploration::limited(goals.len(), Limit::Time) };
    let log = kept.map(|kept| Log::new(kept, peers.me()));
    let (sums, before, taken) = (Sums::default(), Sums::default(), Vec::new());
    let mut search = Search { part, goals, initial, tag, exploration, sums, before, log, taken };
    let workers = if budget.peers().is_some() { 1 } else { peers.me().of as u32 };
    let mut watch = Watch { budget, progress: Progress { workers, ..Progress::default() } };
    let stop = search.run(&mut watch).unwrap_or_else(|limit| Some(Stop::Limit(limit)));
    search.finish(stop, &mut watch)
}

struct Search<'a, 'p, S: Space> {
    part: Part<'a, 'p, S>,
    goals: &'a [Goal],
    initial: &'a [u32],
    tag: u64,
    exploration: Exploration,
    sums: Sums,
    /// What they were a round before.
    before: Sums,
    log: Option<Log<'a>>,
    /// Which actions had happened when it was kept, a bit each.
    taken: Vec<u32>,
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
        if self.read_kept(watch)? {
            if self.all_closed() {
                return Ok(Some(Stop::AllViolated));
            }
            if self.sums.n_new == 0 {
                return Ok(None);
            }
            let closed: Vec<bool> = (0..self.goals.len()).map(|goal| self.is_closed(goal)).collect();
            self.part.look_for(self.goals, |goal| !closed[goal]);
            self.part.expand_round(watch)?;
        } else {
            self.part.look_for(self.goals, |_| true);
            for state in self.initial.chunks_exact(self.part.system.width()) {
                if let Err(limit) = self.part.add_initial(state) {
                    self.part.exchange.ring(limit)?;
                    break;
                }
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
            let is_over = self.all_closed() || self.sums.n_new == 0;
            self.keep(is_over, watch)?;
            if self.all_closed() {
                return Ok(Some(Stop::AllViolated));
            }
            if let Some(limit) = self.sums.limit {
                return Ok(Some(Stop::Limit(limit)));
            }
            if is_over {
                return Ok(None);
            }
            watch.progress.depth = self.part.ends.len() as u64 - 1;
            self.part.expand_round(watch)?;
        }
    }

    /// All processes must begin the same search.
    fn begin_alike(&mut self, watch: &mut Watch<'_, '_>) -> Result<(), Limit> {
        let summary = self.log.as_ref().and_then(|log| log.kept().summary());
        let tag = summary.map_or(self.tag, |summary| hash(summary, self.tag));
        let ends = self.part.exchange.all(&two(tag), watch)?;
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
        self.before = std::mem::replace(&mut self.sums, sums);
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
        let way = self.part.way(round, states, self.initial, watch);
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

    fn finish(mut self, stop: Option<Stop>, watch: &mut Watch<'_, '_>) -> (Exploration, Exact) {
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
        (Exploration { stop, taken, ..self.exploration }, self.part.store)
    }

    /// Reads what was kept of this search, if something was.
    fn read_kept(&mut self, watch: &mut Watch<'_, '_>) -> Result<bool, Limit> {
        let Some(log) = &mut self.log else { return Ok(false) };
        let Some(summary) = log.kept().summary() else { return Ok(false) };
        let width = self.part.system.width();
        let part = &mut self.part;
        let read = log.read(width, |states| {
            match states {
                Heard::Turned(_) => return Err(Limit::Kept),
                Heard::End => part.end_round(),
                Heard::States(states) => {
                    states.chunks_exact(width).try_for_each(|state| part.add_initial(state))?;
                }
            }
            watch.look(&mut part.exchange)?;
            part.exchange.limit().map_or(Ok(()), Err)
        });
        if let Err(limit) = read {
            part.exchange.ring(limit)?;
        }
        // Whatever was found there was looked into before.
        part.report = Report::default();
        let mut words = summary.iter().copied();
        let mut next = || words.next().ok_or(Limit::Kept);
        self.sums.transitions = one([next()?, next()?]);
        self.sums.deadlocks = one([next()?, next()?]);
        for index in 0..self.goals.len() {
            if next()? == 0 {
                continue;
            }
            let mut run = Run { initial: next()? as usize, actions: Vec::new() };
            for _ in 0..next()? {
                run.actions.push(ActionId::new(next()? as usize));
            }
            let state = self.end_of(&run).ok_or(Limit::Kept)?;
            match self.unclear(self.goals[index], &state) {
                None => self.exploration.violations[index] = Some(run),
                Some(error) => self.exploration.faults[index] = Some((error, run)),
            }
        }
        self.taken = words.collect();
        let part = &mut self.part;
        let n_new = part.ends.len().checked_sub(1).map_or(0, |last| part.round(last).len() as u64);
        let mut mine = words_of(part.exchange.limit()).to_vec();
        mine.extend([two(part.store.n_states()), two(n_new)].concat());
        for (from, words) in part.exchange.all(&mine, watch)?.iter().enumerate() {
            let &[_, _, _, a, b, c, d] = &words[..] else { return Err(Limit::Apart(from as u32)) };
            if let Some(limit) = limit_of(words) {
                return Err(limit);
            }
            self.sums.n_states += one([a, b]);
            self.sums.n_new += one([c, d]);
        }
        let Sums { n_states, transitions, .. } = self.sums;
        watch.progress = Progress { states: n_states, transitions, ..watch.progress };
        Ok(true)
    }

    /// The state that a run leads to.
    fn end_of(&mut self, run: &Run) -> Option<Vec<u32>> {
        let (system, width) = (self.part.system, self.part.system.width());
        let mut state = self.initial.chunks_exact(width).nth(run.initial)?.to_vec();
        let fired =
            run.actions.iter().all(|&action| system.fire(&mut state, action, &mut self.part.scratch).is_ok());
        fired.then_some(state)
    }

    /// Writes what was found, if it is time, or the search is over. After a limit, the last round is not complete, and is left out.
    fn keep(&mut self, is_over: bool, watch: &mut Watch<'_, '_>) -> Result<(), Limit> {
        let is_last = is_over || self.sums.limit.is_some();
        let Search { part, sums, before, exploration, log: Some(log), taken, .. } = self else {
            return Ok(());
        };
        let (n_rounds, sums) = match sums.limit {
            Some(_) => (part.ends.len() - 1, *before),
            None => (part.ends.len(), *sums),
        };
        if n_rounds == 0 {
            return Ok(());
        }
        let store = &part.store;
        let get = |number: u32, out: &mut [u32]| store.get(StateId::new(number as usize), out);
        let end = |n_rounds: usize| if n_rounds == 0 { 0 } else { part.ends[n_rounds - 1] };
        let numbers = |round| -> Box<dyn Iterator<Item = u32>> { Box::new(end(round)..end(round + 1)) };
        let rounds = Rounds {
            n_rounds,
            numbers: &numbers,
            n_states_of: &end,
            turns: &[],
            width: part.system.width(),
            get: &get,
        };
        let mut extra = bits(part.system.taken(&part.scratch));
        join(&mut extra, taken);
        let summary = |extras: &[Vec<u32>]| {
            let mut words = [two(sums.transitions), two(sums.deadlocks)].concat();
            for (violation, fault) in exploration.violations.iter().zip(&exploration.faults) {
                match violation.as_ref().or(fault.as_ref().map(|fault| &fault.1)) {
                    None => words.push(0),
                    Some(run) => {
                        words.extend([1, run.initial as u32, run.actions.len() as u32]);
                        words.extend(run.actions.iter().map(|action| action.index() as u32));
                    }
                }
            }
            let mut taken = Vec::new();
            extras.iter().for_each(|extra| join(&mut taken, extra));
            words.extend(taken);
            words
        };
        log.write(&rounds, is_last, &extra, summary, &mut part.exchange, watch)
    }

    /// What happened anywhere, happened.
    fn share_taken(&mut self, taken: &mut [bool], watch: &mut Watch<'_, '_>) -> Result<(), Limit> {
        let mut words = bits(taken);
        if !words.is_empty() {
            join(&mut words, &self.taken);
        }
        for words in self.part.exchange.all(&words, watch)? {
            for (index, taken) in taken.iter_mut().enumerate() {
                *taken |= words.get(index / 32).is_some_and(|word| word >> (index % 32) & 1 == 1);
            }
        }
        Ok(())
    }
}

/// A bit for each.
fn bits(taken: &[bool]) -> Vec<u32> {
    let word =
        |some: &[bool]| some.iter().enumerate().fold(0, |word, (at, &bit)| word | u32::from(bit) << at);
    taken.chunks(32).map(word).collect()
}

/// Adds the bits of others.
fn join(bits: &mut Vec<u32>, others: &[u32]) {
    bits.resize(bits.len().max(others.len()), 0);
    bits.iter_mut().zip(others).for_each(|(word, other)| *word |= other);
}
