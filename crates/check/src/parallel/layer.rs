//! One worker of a search by [layers](super::layers).

use std::cell::Cell;

use base::{Budget, Worker};
use model::System;

use super::Meeting;
use super::layers::{Common, EARLIER, PRESENT, Wrong};
use super::meeting::Member;
use crate::observer::Portable;
use crate::product::Path;
use crate::search::Violation;
use crate::search::product_graph::{Edge, ProductGraph, Trouble};
use crate::store::StateId;
use crate::store::shared::PairsHandle;
use crate::sync::Ordering::{AcqRel, Acquire, Relaxed};
use crate::sync::lock;

/// One worker.
pub(super) struct Searcher<'e, 'a, S: System, O> {
    graph: ProductGraph<'e, 'a, S, O, PairsHandle<'e>>,
    common: &'e Common<'e>,
    budget: Budget<'e>,
    edges: Vec<Edge>,
    /// States to be looked at; those of the present layer with `IN`.
    own: Vec<u32>,
    /// The states of the present layer that it entered; livelock states with `IN`.
    present: Vec<u32>,
    waiting: Vec<u32>,
    transitions: u64,
    deadlocks: u64,
    list_bytes: u64,
    n_polls: u32,
}

/// A bit that no number of a state has.
const IN: u32 = 1 << 31;

/// Counts are told after so many states.
const TELL_EVERY: u32 = 64;

impl<'e, 'a, S: System, O: Portable> Searcher<'e, 'a, S, O> {
    pub(super) fn new(
        graph: ProductGraph<'e, 'a, S, O, PairsHandle<'e>>,
        common: &'e Common<'e>,
        budget: Budget<'e>,
    ) -> Searcher<'e, 'a, S, O> {
        Searcher {
            graph,
            common,
            budget,
            edges: Vec::new(),
            own: Vec::new(),
            present: Vec::new(),
            waiting: Vec::new(),
            transitions: 0,
            deadlocks: 0,
            list_bytes: 0,
            n_polls: 0,
        }
    }

    pub(super) fn run(&mut self, worker: Worker) -> Result<(), Wrong> {
        let common = self.common;
        let member = common.meeting.get_or_init(|| Meeting::new(worker.of)).join();
        common.pile.join(worker.of);
        loop {
            self.build()?;
            member.meet(|| {
                common.pile.begin();
                if !lock(&common.noticed).is_empty() {
                    common.alarm.ring(Wrong::Here);
                }
            });
            if common.alarm.is_rung() {
                return Ok(());
            }
            if common.n_silent.load(Relaxed) > 0 {
                self.trim(&member)?;
                member.meet(|| {
                    common.pile.begin();
                    if common.n_left.load(Relaxed) > 0 {
                        common.alarm.ring(Wrong::Livelock);
                    }
                });
                if common.alarm.is_rung() {
                    let is_left =
                        |state: &u32| state & IN != 0 && common.word(state & !IN).load(Relaxed) > PRESENT;
                    lock(&common.left)
                        .extend(self.present.iter().filter(|state| is_left(state)).map(|state| state & !IN));
                    return Ok(());
                }
            }
            for state in self.present.drain(..) {
                common.word(state & !IN).store(EARLIER, Relaxed);
            }
            lock(&common.waiting).append(&mut self.waiting);
            member.meet(|| {
                let mut waiting = lock(&common.waiting);
                common.is_over.store(waiting.is_empty(), Relaxed);
                common.pile.put(&waiting);
                waiting.clear();
                common.n_layers.fetch_add(1, Relaxed);
                common.n_silent.store(0, Relaxed);
                common.n_left.store(0, Relaxed);
            });
            if common.is_over.load(Relaxed) {
                return Ok(());
            }
        }
    }

    /// Takes states until nobody has any.
    fn for_all(&mut self, look_at: impl Fn(&mut Self, u32) -> Result<(), Wrong>) -> Result<(), Wrong> {
        let common = self.common;
        loop {
            while let Some(state) = self.own.pop() {
                look_at(self, state)?;
                common.pile.share(&mut self.own);
            }
            let Searcher { own, budget, .. } = self;
            let wait = || {
                if common.alarm.is_rung() {
                    // Whatever it is, it was told.
                    return Err(Wrong::Here);
                }
                Ok(budget.poll(&common.progress())?)
            };
            if !common.pile.take(own, wait)? {
                return Ok(());
            }
        }
    }

    /// Builds the layer of what waits.
    fn build(&mut self) -> Result<(), Wrong> {
        let (n_silent, n_livelocks) = (Cell::new(0), Cell::new(0));
        self.for_all(|searcher, state| {
            let is_in = state & IN != 0;
            let state = state & !IN;
            // A state that waited may have been pulled into the layer.
            let word = searcher.common.word(state);
            if is_in || word.compare_exchange(0, PRESENT, AcqRel, Relaxed).is_ok() {
                let (livelocks, silent) = searcher.enter(state)?;
                n_livelocks.set(n_livelocks.get() + livelocks);
                n_silent.set(n_silent.get() + silent);
            }
            Ok(())
        })?;
        self.common.n_left.fetch_add(n_livelocks.get(), Relaxed);
        self.common.n_silent.fetch_add(n_silent.get(), Relaxed);
        Ok(())
    }

    /// Enters a state of the present layer. Returns whether it is a livelock state, and how many silent steps stay in the layer.
    fn enter(&mut self, state: u32) -> Result<(u64, u64), Wrong> {
        self.poll()?;
        let id = StateId::new(state as usize);
        let expanded = match self.graph.expand_by(id, Path::Unknown, &mut self.edges) {
            Ok(expanded) => expanded,
            Err(Trouble::Limit(limit)) => return Err(limit.into()),
            Err(fault) => {
                self.present.push(state);
                lock(&self.common.noticed).push((state, Err(fault)));
                return Ok((0, 0));
            }
        };
        let is_livelock = expanded.stance.livelock;
        self.present.push(if is_livelock { state | IN } else { state });
        let violation = match expanded {
            _ if expanded.stance.at_once => Some(Violation::AtOnce),
            _ if expanded.is_error => Some(Violation::Deadlock),
            _ => None,
        };
        if let Some(violation) = violation {
            lock(&self.common.noticed).push((state, Ok(violation)));
        }
        self.deadlocks += u64::from(expanded.is_deadlock);
        self.transitions += self.edges.len() as u64;
        let mut n_silent = 0;
        for edge in &self.edges {
            let target = edge.target.index() as u32;
            self.common.words.touch(target)?;
            if !(edge.silent && is_livelock) {
                if edge.is_new {
                    self.waiting.push(target);
                }
                continue;
            }
            let word = self.common.word(target);
            if word.load(Acquire) & EARLIER != 0 {
                continue;
            }
            n_silent += 1;
            // Who comes first pulls it in.
            if word.compare_exchange(0, PRESENT | 1, AcqRel, Relaxed).is_ok() {
                self.own.push(target | IN);
            } else {
                word.fetch_add(1, AcqRel);
            }
        }
        Ok((u64::from(is_livelock), n_silent))
    }

    /// Removes states without a predecessor, again and again.
    fn trim(&mut self, member: &Member<'_>) -> Result<(), Wrong> {
        let common = self.common;
        let is_free = |state: &u32| state & IN != 0 && common.word(state & !IN).load(Relaxed) == PRESENT;
        // Nobody removes any before all have looked for those that have none from the beginning.
        let free = self.present.iter().copied().filter(is_free);
        self.own.extend(free);
        member.meet(|| ());
        let n_removed = Cell::new(0);
        self.for_all(|searcher, state| {
            n_removed.set(n_removed.get() + 1);
            searcher.remove(state & !IN)
        })?;
        common.n_left.fetch_sub(n_removed.get(), Relaxed);
        Ok(())
    }

    fn remove(&mut self, state: u32) -> Result<(), Wrong> {
        self.poll()?;
        let expanded = self.graph.expand_by(StateId::new(state as usize), Path::Unknown, &mut self.edges);
        expanded.map_err(Wrong::Trouble)?;
        for edge in self.edges.iter().filter(|edge| edge.silent) {
            let target = edge.target.index() as u32;
            let word = self.common.word(target);
            if word.load(Acquire) & PRESENT != 0 && word.fetch_sub(1, AcqRel) == PRESENT | 1 {
                self.own.push(target | IN);
            }
        }
        Ok(())
    }

    fn poll(&mut self) -> Result<(), Wrong> {
        if self.common.alarm.is_rung() {
            return Err(Wrong::Here);
        }
        self.n_polls += 1;
        if self.n_polls == TELL_EVERY {
            self.tell();
        }
        Ok(self.budget.poll(&self.common.progress())?)
    }

    /// Tells what was counted.
    pub(super) fn tell(&mut self) {
        self.n_polls = 0;
        let common = self.common;
        common.transitions.fetch_add(std::mem::take(&mut self.transitions), Relaxed);
        common.deadlocks.fetch_add(std::mem::take(&mut self.deadlocks), Relaxed);
        let words = self.own.capacity() + self.present.capacity() + self.waiting.capacity();
        let bytes = 4 * words as u64;
        common.list_bytes.fetch_add(bytes.wrapping_sub(self.list_bytes), Relaxed);
        self.list_bytes = bytes;
        common.peak_bytes.fetch_max(common.progress().bytes, Relaxed);
    }
}
