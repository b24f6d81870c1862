//! Runs, found by going backward through the rounds, by all processes together.
//!
//! As for several threads ([`parallel::backward`](crate::parallel)): a state is *marked* if a step leads from it to a marked
//! one. Whether a target is marked that is not its own, a process asks the owner; that is one step for the questions of a round, and one for
//! the answers. Then all read the run off forward, together: from the first marked state, always by the first step that leads to a marked
//! one, as the owners say. It is the run that a sequential breadth-first search finds.

use base::Limit;
use fixedbitset::FixedBitSet;
use model::{ActionId, Run, System as _};

use super::exchange::Watch;
use super::expand::{ANSWER, ASK, Part};
use crate::parallel::backward::Stepper;
use crate::search::Space;
use crate::store::{StateId, Store as _, Visited as _};

/// A run through the rounds, and the state that it leads to.
pub(super) struct Way {
    pub(super) run: Run,
    /// Which step of its state each action is.
    places: Vec<usize>,
    pub(super) last: Vec<u32>,
}

impl Way {
    /// Whether a state is expanded before another one, or before that one is found.
    pub(super) fn is_before(&self, other: &Way) -> bool {
        let n = self.places.len().min(other.places.len());
        (self.run.initial, &self.places[..n]) < (other.run.initial, &other.places[..n])
    }
}

impl<S: Space> Part<'_, '_, S> {
    /// The first run to one of some states of a round, if anybody has one.
    pub(super) fn way(
        &mut self,
        round: usize,
        targets: &[u32],
        initial: &[u32],
        watch: &mut Watch<'_, '_>,
    ) -> Result<Option<Way>, Limit> {
        let mut marks = FixedBitSet::with_capacity(self.store.n_states() as usize);
        marks.extend(targets.iter().map(|&number| number as usize));
        let ends = self.exchange.all(&[u32::from(!targets.is_empty())], watch)?;
        if ends.iter().all(|words| words.first() == Some(&0)) {
            return Ok(None);
        }
        for before in (0..round).rev() {
            self.mark(before, &mut marks, watch)?;
        }
        if let Some(limit) = self.exchange.limit() {
            return Err(limit);
        }
        self.read_off(round, &marks, initial, watch)
    }

    /// Marks the states of a round from which a step leads to a marked one.
    fn mark(
        &mut self,
        round: usize,
        marks: &mut FixedBitSet,
        watch: &mut Watch<'_, '_>,
    ) -> Result<(), Limit> {
        /// Questions are received after so many states.
        const OFTEN: u32 = 32;
        let (system, me, width) = (self.system, self.exchange.me(), self.system.width());
        let mut stepper = Stepper::new(system);
        let (mut state, mut others, mut found) = (vec![0; width], Vec::new(), Vec::new());
        let mut answers: Vec<Vec<u32>> = vec![Vec::new(); self.exchange.n_processes()];
        for number in self.round(round) {
            if self.exchange.limit().is_some() {
                break;
            }
            self.store.get(StateId::new(number as usize), &mut state);
            others.clear();
            let Part { exchange, store, .. } = self;
            let leads_on = |_, _, target: &[u32]| {
                if exchange.owner(target) != me {
                    others.extend_from_slice(target);
                    return false;
                }
                store.find(target).is_some_and(|id| marks.contains(id.index()))
            };
            if stepper.find(&state, leads_on) {
                found.push(number);
            } else {
                for target in others.chunks_exact(width) {
                    let owner = self.exchange.owner(target);
                    self.exchange.put_two(owner, ASK, target, &[number])?;
                }
            }
            watch.look(&mut self.exchange)?;
            if number % OFTEN == 0 {
                while let Some((from, kind, words)) = self.exchange.take(false)? {
                    self.asked_for_marks(from, kind, &words[1..], marks, &mut answers)?;
                }
            }
        }
        self.exchange.end(&[])?;
        while !self.exchange.is_over() {
            match self.exchange.take(true)? {
                Some((from, kind, words)) => {
                    self.asked_for_marks(from, kind, &words[1..], marks, &mut answers)?;
                }
                None => watch.look(&mut self.exchange)?,
            }
        }
        self.exchange.next();
        for (to, numbers) in answers.iter().enumerate() {
            numbers.iter().try_for_each(|&number| self.exchange.put(to, ANSWER, &[number]))?;
        }
        self.exchange.end(&[])?;
        while !self.exchange.is_over() {
            match self.exchange.take(true)? {
                Some((_, ANSWER, words)) => found.extend_from_slice(&words[1..]),
                Some((from, ..)) => return Err(Limit::Apart(from as u32)),
                None => watch.look(&mut self.exchange)?,
            }
        }
        self.exchange.next();
        // Only now: a step within a round does not count.
        let n_states = self.store.n_states();
        marks.extend(found.into_iter().filter(|&number| u64::from(number) < n_states).map(|it| it as usize));
        Ok(())
    }

    fn asked_for_marks(
        &self,
        from: usize,
        kind: u32,
        words: &[u32],
        marks: &FixedBitSet,
        answers: &mut [Vec<u32>],
    ) -> Result<(), Limit> {
        let width = self.system.width();
        if kind != ASK || !words.len().is_multiple_of(width + 1) {
            return Err(Limit::Apart(from as u32));
        }
        for record in words.chunks_exact(width + 1) {
            let (target, number) = (&record[..width], record[width]);
            // One good answer is enough.
            if answers[from].last() != Some(&number)
                && self.store.find(target).is_some_and(|id| marks.contains(id.index()))
            {
                answers[from].push(number);
            }
        }
        Ok(())
    }

    /// Goes from the first marked state always by the first step to a marked one, up to a round.
    fn read_off(
        &mut self,
        round: usize,
        marks: &FixedBitSet,
        initial: &[u32],
        watch: &mut Watch<'_, '_>,
    ) -> Result<Option<Way>, Limit> {
        let (system, width) = (self.system, self.system.width());
        let marked = |part: &Self, state: &[u32]| {
            let id = part.store.find(state).filter(|id| marks.contains(id.index()))?;
            Some(part.round_of(id.index() as u32))
        };
        let firsts = initial.chunks_exact(width);
        let first = firsts.enumerate().find(|(_, state)| marked(self, state).is_some());
        let Some([first, _]) = self.first_of(first.map(|(index, _)| [index as u32, 0]), watch)? else {
            return Ok(None);
        };
        let state = initial.chunks_exact(width).nth(first as usize);
        let Some(state) = state else { return Ok(None) };
        let run = Run { initial: first as usize, actions: Vec::new() };
        let mut way = Way { run, places: Vec::new(), last: state.to_vec() };
        let (mut at, mut stepper) = (0, Stepper::new(system));
        while at < round {
            let mut steps: Vec<(ActionId, Vec<u32>)> = Vec::new();
            let mut mine: Option<[u32; 2]> = None;
            stepper.find(&way.last, |_, action, target| {
                if mine.is_none()
                    && let Some(next) = marked(self, target).filter(|&next| next > at)
                {
                    mine = Some([steps.len() as u32, next as u32]);
                }
                steps.push((action, target.to_vec()));
                false
            });
            let Some([place, next]) = self.first_of(mine, watch)? else { return Ok(None) };
            let Some((action, target)) = steps.into_iter().nth(place as usize) else { return Ok(None) };
            way.run.actions.push(action);
            way.places.push(place as usize);
            (at, way.last) = (next as usize, target);
        }
        Ok(Some(way))
    }

    /// The smallest of what everybody says.
    fn first_of(
        &mut self,
        mine: Option<[u32; 2]>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Option<[u32; 2]>, Limit> {
        let ends = self.exchange.all(mine.as_ref().map_or(&[], |two| &two[..]), watch)?;
        Ok(ends.iter().filter_map(|words| words[..].try_into().ok()).min())
    }
}
