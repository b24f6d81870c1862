//! A round, as one process goes through it: its states of the round are expanded, what is its own is stored, and the rest is
//! sent to the owners.
//!
//! # Reduction
//! Sets are chosen by the state alone. Where one is valid only if a step leads to a state that was not known when the round began
//! ([`Extent::IfAhead`]), its owner may have to say that: the target is sent with a question, the owners answer when they have
//! everything of the round, and what got no good answer takes its other steps, too. That is the order of the rounds of several
//! threads, so what is left to be explored is the same for any number of processes.

use base::{Limit, Room};
use fixedbitset::FixedBitSet;
use model::{ActionId, StepError, Steps, System};

use super::exchange::{Exchange, Watch};
use crate::parallel::expand::{Open, Report, Trouble, WIDE};
use crate::parallel::recent::Recent;
use crate::search::{Extent, Goal, Space};
use crate::store::{Exact, StateId, Store as _, Visited as _};

/// Records: a state; a state, and the number of who asks whether it is new; the number of who gets a good answer.
const STATE: u32 = 0;
pub(super) const ASK: u32 = 1;
pub(super) const ANSWER: u32 = 2;
pub(super) const N_KINDS: u32 = 3;

/// States are received after so many were expanded.
pub(super) const OFTEN: u32 = 32;

/// So many states are stored together, so that cache misses overlap.
pub(super) const TOGETHER: usize = 64;

/// What one process has.
pub(super) struct Part<'a, 'p, S: Space> {
    pub(super) space: &'a S,
    pub(super) system: &'a S::Whole,
    pub(super) exchange: Exchange<'p>,
    /// The states that are its own, round by round.
    pub(super) store: Exact,
    /// Per round, where its states end.
    pub(super) ends: Vec<u32>,
    pub(super) scratch: <S::Whole as System>::Scratch,
    choice: S::Choice,
    steps: Steps,
    enabled: Vec<ActionId>,
    open: Open,
    pub(super) report: Report,
    /// Targets that are its own, and their numbers.
    own: Vec<u32>,
    ids: Vec<StateId>,
    /// Targets that are its own and are stored together with others, and their hashes.
    later: Vec<u32>,
    hashes: Vec<u64>,
    /// States of the round that wait for an answer, and those that got a good one.
    asked: Vec<u32>,
    answered: FixedBitSet,
    /// Whom to answer, by process.
    answers: Vec<Vec<u32>>,
    recent: Recent,
}

impl<'a, 'p, S: Space> Part<'a, 'p, S> {
    pub(super) fn new(space: &'a S, exchange: Exchange<'p>, (store, room): (Exact, Room)) -> Part<'a, 'p, S> {
        let system = space.whole();
        let n_processes = exchange.n_processes();
        Part {
            space,
            system,
            exchange,
            store,
            ends: Vec::new(),
            scratch: system.new_scratch(),
            choice: space.new_steady_choice(),
            steps: Steps::new(system.width()),
            enabled: Vec::new(),
            open: Open::default(),
            report: Report::default(),
            own: Vec::new(),
            ids: Vec::new(),
            later: Vec::new(),
            hashes: Vec::new(),
            asked: Vec::new(),
            answered: FixedBitSet::new(),
            answers: vec![Vec::new(); n_processes],
            recent: Recent::new(system.width(), n_processes, room),
        }
    }

    /// Says which goals are still to be looked at.
    pub(super) fn look_for(&mut self, goals: &[Goal], is_open: impl Fn(usize) -> bool) {
        self.open = Open::new(goals, is_open);
    }

    /// The states of a round.
    pub(super) fn round(&self, round: usize) -> std::ops::Range<u32> {
        let from = if round == 0 { 0 } else { self.ends[round - 1] };
        from..self.ends[round]
    }

    /// The round of a state.
    pub(super) fn round_of(&self, number: u32) -> usize {
        self.ends.partition_point(|&end| end <= number)
    }

    /// What was stored belongs to the next round.
    pub(super) fn end_round(&mut self) {
        self.ends.push(self.store.n_states() as u32);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.store.bytes() + 4 * self.ends.capacity() as u64 + self.recent.bytes() + self.exchange.waiting()
    }

    /// Expands the states of the last round, with all others.
    pub(super) fn expand_round(&mut self, watch: &mut Watch<'_, '_>) -> Result<(), Limit> {
        let round = self.round(self.ends.len() - 1);
        self.asked.clear();
        let mut state = vec![0; self.system.width()];
        self.expand_all(round.clone(), watch, |part, number| {
            part.store.get(StateId::new(number as usize), &mut state);
            part.expand(number, &state)
        })?;
        let n_asked = self.asked.len() as u32;
        let ends = self.finish(&[n_asked], watch)?;
        if ends.iter().all(|words| words.first() == Some(&0)) {
            return Ok(());
        }
        self.answered.clear();
        self.answered.grow(round.len());
        for to in 0..self.answers.len() {
            for number in std::mem::take(&mut self.answers[to]) {
                self.exchange.put(to, ANSWER, &[number])?;
            }
        }
        self.finish(&[], watch)?;
        let asked = std::mem::take(&mut self.asked);
        let left =
            asked.into_iter().filter(|number| !self.answered.contains((number - round.start) as usize));
        let left: Vec<u32> = left.collect();
        self.expand_all(left.into_iter(), watch, |part, number| {
            part.store.get(StateId::new(number as usize), &mut state);
            part.expand_others(number, &state)
        })?;
        self.finish(&[], watch).map(drop)
    }

    /// Does something with states, and receives what comes meanwhile.
    fn expand_all(
        &mut self,
        numbers: impl Iterator<Item = u32>,
        watch: &mut Watch<'_, '_>,
        mut expand: impl FnMut(&mut Self, u32) -> Result<(), Limit>,
    ) -> Result<(), Limit> {
        let (n_before, n_states) = (watch.progress.states, self.store.n_states());
        let n_transitions = watch.progress.transitions;
        for (turn, number) in (1_u32..).zip(numbers) {
            if self.exchange.limit().is_some() {
                break;
            }
            match expand(self, number) {
                // Whoever cannot be reached is not told either.
                Err(limit @ (Limit::Process(_) | Limit::Apart(_))) => return Err(limit),
                Err(limit) => self.exchange.ring(limit)?,
                Ok(()) => {}
            }
            watch.progress.states = n_before + self.store.n_states() - n_states;
            watch.progress.transitions = n_transitions + self.report.transitions;
            watch.progress.bytes = self.bytes();
            watch.look(&mut self.exchange)?;
            if turn % OFTEN == 0 {
                while let Some((from, kind, words)) = self.exchange.take(false)? {
                    self.arrived(from, kind, &words[1..])?;
                }
            }
        }
        let stored = self.store_later();
        self.told(stored)
    }

    /// Ends a step of a round.
    fn finish(&mut self, words: &[u32], watch: &mut Watch<'_, '_>) -> Result<Vec<Vec<u32>>, Limit> {
        // The exchange cannot be asked while it is a part of this.
        self.exchange.end(words)?;
        loop {
            match self.exchange.take(true)? {
                Some((from, kind, words)) => self.arrived(from, kind, &words[1..])?,
                None if self.exchange.is_over() => return Ok(self.exchange.next()),
                None => watch.look(&mut self.exchange)?,
            }
        }
    }

    /// Something came from another process.
    fn arrived(&mut self, from: usize, kind: u32, words: &[u32]) -> Result<(), Limit> {
        let width = self.system.width();
        let apart = Limit::Apart(from as u32);
        match kind {
            _ if self.exchange.limit().is_some() => Ok(()),
            STATE if words.len().is_multiple_of(width) => {
                let stored = words.chunks(TOGETHER * width).try_for_each(|some| {
                    self.own.clear();
                    self.own.extend_from_slice(some);
                    self.store_own()
                });
                self.told(stored)
            }
            ASK if words.len().is_multiple_of(width + 1) => {
                let known = self.ends.last().copied().unwrap_or(0);
                for record in words.chunks_exact(width + 1) {
                    self.own.clear();
                    self.own.extend_from_slice(&record[..width]);
                    let stored = self.store_own();
                    self.told(stored)?;
                    if self.ids.first().is_some_and(|id| id.index() as u32 >= known) {
                        self.answers[from].push(record[width]);
                    }
                }
                Ok(())
            }
            ANSWER => {
                let start = self.round(self.ends.len() - 1).start;
                for number in words {
                    let place = number.checked_sub(start).map_or(usize::MAX, |place| place as usize);
                    if place >= self.answered.len() {
                        return Err(apart);
                    }
                    self.answered.insert(place);
                }
                Ok(())
            }
            _ => Err(apart),
        }
    }

    /// A limit that was reached here is told to everybody.
    fn told(&mut self, done: Result<(), Limit>) -> Result<(), Limit> {
        done.or_else(|limit| self.exchange.ring(limit))
    }

    /// Stores the states in `own`, puts their numbers into `ids`, and looks at those that are new.
    pub(super) fn store_own(&mut self) -> Result<(), Limit> {
        let next = self.store.n_states() as usize;
        self.store.insert_ids(&self.own, self.system.width(), &mut self.ids)?;
        self.look_at_new(next);
        Ok(())
    }

    /// The same for those in `later`.
    fn store_later(&mut self) -> Result<(), Limit> {
        let next = self.store.n_states() as usize;
        let Part { store, later, hashes, ids, .. } = self;
        store.insert_hashed_ids(later, self.system.width(), hashes, ids)?;
        std::mem::swap(&mut self.own, &mut self.later);
        self.later.clear();
        self.hashes.clear();
        self.look_at_new(next);
        Ok(())
    }

    /// Looks at what is new in `own`: states from this number on.
    fn look_at_new(&mut self, mut next: usize) {
        if !self.open.has_invariants() {
            return;
        }
        for (id, state) in self.ids.iter().zip(self.own.chunks_exact(self.system.width())) {
            if id.index() != next {
                continue;
            }
            next += 1;
            self.open.look_at(self.system, id.index() as u32, state, &mut self.scratch, &mut self.report);
        }
    }

    /// Stores a state, if it is its own.
    pub(super) fn add_initial(&mut self, state: &[u32]) -> Result<(), Limit> {
        if self.exchange.owner(state) != self.exchange.me() {
            return Ok(());
        }
        self.own.clear();
        self.own.extend_from_slice(state);
        self.store_own()
    }

    fn expand(&mut self, number: u32, state: &[u32]) -> Result<(), Limit> {
        let n_steps = self.take_steps(number, state);
        self.report.note(number, &n_steps, &self.open)
    }

    fn expand_others(&mut self, number: u32, state: &[u32]) -> Result<(), Limit> {
        let n_steps = self.take_others(state, true);
        // It has other steps, which were counted.
        if let Ok(0) = n_steps { Ok(()) } else { self.report.note(number, &n_steps, &self.open) }
    }

    /// Takes the steps of a state; returns how many.
    fn take_steps(&mut self, number: u32, state: &[u32]) -> Result<usize, Trouble> {
        self.steps.clear();
        if state.len() > WIDE {
            return self.take_one_by_one(number, state);
        }
        let extent = self.space.steps(state, &mut self.choice, &mut self.scratch, &mut self.steps)?;
        let n_steps = self.steps.len();
        match extent {
            Extent::Enough => self.add_steps(number, 0).map(drop)?,
            Extent::IfAhead(n_first) => {
                if self.add_steps(number, n_first)? == Ahead::No {
                    return Ok(n_steps + self.take_others(state, false)?);
                }
            }
        }
        Ok(n_steps)
    }

    /// The same for a wide state.
    fn take_one_by_one(&mut self, number: u32, state: &[u32]) -> Result<usize, Trouble> {
        let mut actions = std::mem::take(&mut self.enabled);
        actions.clear();
        let extent = self.space.actions(state, &mut self.choice, &mut self.scratch, &mut actions)?;
        let n_first = if let Extent::IfAhead(n_first) = extent { n_first } else { 0 };
        let (mut ahead, n_steps) = (Ahead::No, actions.len());
        for (index, &action) in actions.iter().enumerate() {
            self.steps.clear();
            self.system.fire(self.steps.push(action, state), action, &mut self.scratch)?;
            ahead = ahead.max(self.add_steps(number, usize::from(index < n_first))?);
        }
        self.enabled = actions;
        if ahead == Ahead::Yes && self.asked.last() == Some(&number) {
            self.asked.pop();
        }
        let is_enough = extent == Extent::Enough || ahead != Ahead::No;
        Ok(if is_enough { n_steps } else { n_steps + self.take_others(state, false)? })
    }

    /// Takes the steps that were left out of a state; if it was not the last that was looked at, `again`.
    fn take_others(&mut self, state: &[u32], again: bool) -> Result<usize, Trouble> {
        let mut actions = std::mem::take(&mut self.enabled);
        if again {
            actions.clear();
            self.space.actions(state, &mut self.choice, &mut self.scratch, &mut actions)?;
        }
        actions.clear();
        self.space.others(&self.choice, &mut actions);
        // As threads do: where one goes wrong, none is stored.
        let n_together = if state.len() > WIDE { 1 } else { actions.len().max(1) };
        for some in actions.chunks(n_together) {
            self.steps.clear();
            for &action in some {
                self.system.fire(self.steps.push(action, state), action, &mut self.scratch)?;
            }
            self.add_steps(0, 0)?;
        }
        let n_steps = actions.len();
        self.enabled = actions;
        Ok(n_steps)
    }

    /// Stores or sends the targets of `steps`.
    fn add_all(&mut self) -> Result<(), Limit> {
        let Part { exchange, steps, recent, later, hashes, .. } = self;
        let me = exchange.me();
        for (_, target) in steps.iter() {
            let hash = Exact::hash(target);
            let owner = exchange.owner_of(target, hash);
            if owner == me {
                later.extend_from_slice(target);
                hashes.push(hash);
            } else if !recent.has(target, hash) {
                exchange.put(owner, STATE, target)?;
            }
        }
        if self.hashes.len() >= TOGETHER { self.store_later() } else { Ok(()) }
    }

    /// The same where it matters whether one of the first leads ahead; says so.
    fn add_steps(&mut self, number: u32, n_first: usize) -> Result<Ahead, Limit> {
        if n_first == 0 {
            return self.add_all().map(|()| Ahead::No);
        }
        let (me, width) = (self.exchange.me(), self.system.width());
        self.own.clear();
        let mut n_own_first = 0;
        for (index, (_, target)) in self.steps.iter().enumerate() {
            if self.exchange.owner(target) == me {
                self.own.extend_from_slice(target);
                n_own_first += usize::from(index < n_first);
            }
        }
        self.store_own()?;
        let known = self.ends.last().copied().unwrap_or(0);
        let is_new = |id: &StateId| id.index() as u32 >= known;
        let mut ahead = if self.ids[..n_own_first].iter().any(is_new) { Ahead::Yes } else { Ahead::No };
        if self.own.len() == self.steps.len() * width {
            return Ok(ahead);
        }
        let asks = ahead == Ahead::No;
        let Part { exchange, steps, recent, asked, .. } = self;
        for (index, (_, target)) in steps.iter().enumerate() {
            let hash = Exact::hash(target);
            let owner = exchange.owner_of(target, hash);
            if owner == me {
                continue;
            }
            if asks && index < n_first {
                exchange.put_two(owner, ASK, target, &[number])?;
                ahead = Ahead::Asked;
            } else if !recent.has(target, hash) {
                exchange.put(owner, STATE, target)?;
            }
        }
        if ahead == Ahead::Asked && asked.last() != Some(&number) {
            asked.push(number);
        }
        Ok(ahead)
    }

    /// How the model goes wrong in a state, if it does: the same for everybody, and for one who searches alone. If several
    /// things go wrong there, it matters whether all actions are listed before the first of them happens.
    pub(super) fn error_in(&mut self, state: &[u32]) -> Option<StepError> {
        let mut actions = Vec::new();
        if state.len() <= WIDE {
            self.steps.clear();
            let taken = self.space.steps(state, &mut self.choice, &mut self.scratch, &mut self.steps);
            if let Err(error) = taken {
                return Some(error);
            }
        }
        if let Err(error) = self.space.actions(state, &mut self.choice, &mut self.scratch, &mut actions) {
            return Some(error);
        }
        self.space.others(&self.choice, &mut actions);
        let mut target = Vec::new();
        actions.iter().find_map(|&action| {
            target.clear();
            target.extend_from_slice(state);
            self.system.fire(&mut target, action, &mut self.scratch).err()
        })
    }
}

/// Whether one of the steps that are taken leads to a state that was not known when the round began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ahead {
    No,
    /// The owner will say.
    Asked,
    Yes,
}
