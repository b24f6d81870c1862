//! Whether there is an accepted cycle, by all processes together and without any depth-first search.
//!
//! # Idea
//! Begin with all states, and remove again and again what can be on no accepted cycle, nor behind one: states without a predecessor
//! (*trimming*), and states that no step with some mark leads to, in any number of steps. For a strong constraint, only states that enable it
//! are removed if they are not reached from a step that takes it. What is left in the end is empty iff there is no accepted cycle.
//! For livelocks, the states are the livelock states, and the steps are the silent ones.
//!
//! # Why it is right
//! An accepted cycle is never removed: each of its states has a predecessor on it, is reached from all of its marks, and so from a step
//! that takes whatever strong constraint one of its states enables. Conversely, let something be left, and C be a strong component of it that nothing
//! outside leads to. Its states have predecessors, which are in C: so C has a cycle. Each state of C is reached from a step with any
//! given mark, which leads from a state of C, since nothing else leads there: so the mark is in C. The same goes for a strong constraint
//! that a state of C enables. So C has everything that is required, and a cycle through all of C is accepted.
//!
//! # Costs
//! Eight bytes per state while it runs: a count of predecessors, and the marks of one word of 32, which spread together. Each state is expanded once to
//! count, once when it is removed, and about once per round and word of marks. There are at most as many rounds as
//! components lie one behind the other; for weak automata and livelocks there is one.
//!
//! # References
//! Fisler, Fraer, Kamhi, Vardi, Yang, *Is there a best symbolic cycle-detection algorithm?* (TACAS 2001); Černá, Pelánek, *Distributed explicit
//! fair cycle detection* (SPIN 2003); for strong fairness, Kesten, Pnueli, Raviv, *Algorithmic verification of linear temporal logic
//! specifications* (ICALP 1998). Instead of one mark after the other, up to 32 spread at once.

use std::collections::VecDeque;

use base::Limit;
use model::System;

use super::exchange::Watch;
use super::piece::{ABOUT, Phase, Piece};
use crate::fairness::{Acceptance, Block};
use crate::observer::Portable;

/// A state was not removed; below are its predecessors that were not.
const ALIVE: u32 = 1 << 31;
/// It waits to be looked at.
const WAITS: u32 = 1 << 30;
const COUNT: u32 = WAITS - 1;

/// Instead of the round of a state: a step leads back to it.
const LED_BACK_TO: u32 = u32::MAX;

/// Which cycles are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Of all steps.
    Cycles,
    /// Of silent steps among livelock states.
    Livelocks,
    /// Of steps of small sets, along which something may be left out for ever.
    Sets,
}

/// What came of it.
pub(super) enum Left {
    Nothing,
    Some(Fixpoint),
    /// It was given up.
    Unclear,
}

/// What is left.
pub(super) struct Fixpoint {
    pub(super) scope: Scope,
    /// Per state that was expanded, the flags and the count above.
    words: Vec<u32>,
    /// The marks that were seen on the way there; or in which round it was found.
    seen: Vec<u32>,
    queue: VecDeque<u32>,
    doing: Doing,
}

/// What spreads now.
#[derive(Clone, Copy)]
enum Doing {
    Counting,
    Trimming,
    Reaching(Block),
    /// The round of a state is told to where its steps lead.
    Comparing,
}

impl Fixpoint {
    pub(super) fn is_alive(&self, number: u32) -> bool {
        self.words.get(number as usize).is_some_and(|word| word & ALIVE != 0)
    }

    pub(super) fn remove(&mut self, number: u32) {
        self.words[number as usize] &= !ALIVE;
    }

    /// The states that are left, in the order of their numbers.
    pub(super) fn alive(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.words.len() as u32).filter(|&number| self.is_alive(number))
    }

    pub(super) fn n_states(&self) -> usize {
        self.words.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        4 * (self.words.capacity() + self.seen.capacity() + self.queue.capacity()) as u64
    }

    /// What is left of the states that were expanded, if anything is left anywhere; unless states were expanded more often than `most`.
    pub(super) fn find<S: System, O: Portable>(
        scope: Scope,
        acceptance: &Acceptance,
        most: u64,
        piece: &mut Piece<'_, '_, '_, S, O>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Left, Limit> {
        let n_before = piece.n_expanded;
        let mut is_in = |piece: &mut Piece<'_, '_, '_, S, O>, number| {
            piece.stance(number).is_some_and(|stance| match scope {
                Scope::Livelocks => stance.livelock,
                Scope::Cycles | Scope::Sets => !stance.passing,
            })
        };
        let Some(mut fixpoint) = Fixpoint::trimmed(scope, &mut is_in, piece, watch)? else {
            return Ok(Left::Nothing);
        };
        let blocks = acceptance.blocks();
        loop {
            let mine = [fixpoint.alive().count() as u64, piece.n_expanded - n_before];
            let [n_left, n_again] = piece.sums(mine, watch)?;
            if n_left == 0 {
                return Ok(Left::Nothing);
            }
            if n_again > most {
                return Ok(Left::Unclear);
            }
            let mut n_removed = 0;
            for &block in &blocks {
                let unreached = fixpoint.reach(block, piece, watch)?;
                piece.more_bytes = fixpoint.bytes();
                n_removed += piece.sums([unreached.len() as u64], watch)?[0];
                fixpoint.trim(unreached, piece, watch)?;
            }
            if n_removed == 0 {
                return Ok(Left::Some(fixpoint));
            }
        }
    }

    /// The states that were expanded and are in, without those that can be on no cycle; nothing if none was in.
    fn trimmed<S: System, O: Portable>(
        scope: Scope,
        is_in: &mut dyn FnMut(&mut Piece<'_, '_, '_, S, O>, u32) -> bool,
        piece: &mut Piece<'_, '_, '_, S, O>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Option<Fixpoint>, Limit> {
        let n_rounds = piece.own.n_rounds().saturating_sub(1);
        let mut words = Vec::new();
        let n_ids = piece.own.n_ids();
        for number in 0..n_ids {
            if piece.own.round_of(number) < n_rounds && is_in(piece, number) {
                // Most often none is in, and then there is nothing to be kept.
                if words.is_empty() {
                    words.reserve_exact(n_ids as usize);
                }
                words.resize(number as usize, 0);
                words.push(ALIVE);
            }
            watch.look(&mut piece.exchange)?;
        }
        let seen = Vec::new();
        let mut fixpoint = Fixpoint { scope, words, seen, queue: VecDeque::new(), doing: Doing::Counting };
        if piece.sums([fixpoint.alive().count() as u64], watch)? == [0] {
            return Ok(None);
        }
        fixpoint.all_wait();
        piece.more_bytes = fixpoint.bytes();
        piece.go(&mut fixpoint, watch)?;
        let free: Vec<u32> = fixpoint.alive().filter(|&number| fixpoint.count(number) == 0).collect();
        fixpoint.trim(free, piece, watch)?;
        Ok(Some(fixpoint))
    }

    /// The states that must be [enlarged](super::sets).
    pub(super) fn unsorted<S: System, O: Portable>(
        piece: &mut Piece<'_, '_, '_, S, O>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Vec<u32>, Limit> {
        let mut is_in = |piece: &mut Piece<'_, '_, '_, S, O>, number| piece.sets.is_open(number);
        let Some(mut fixpoint) = Fixpoint::trimmed(Scope::Sets, &mut is_in, piece, watch)? else {
            return Ok(Vec::new());
        };
        let rounds = (0..fixpoint.words.len() as u32).map(|number| piece.own.round_of(number) as u32);
        fixpoint.seen = rounds.collect();
        fixpoint.all_wait();
        fixpoint.doing = Doing::Comparing;
        piece.more_bytes = fixpoint.bytes();
        piece.go(&mut fixpoint, watch)?;
        let led_back_to = fixpoint.alive().filter(|&number| fixpoint.seen[number as usize] == LED_BACK_TO);
        // After an interruption, it is not known which states leave something out.
        Ok(led_back_to.filter(|&number| piece.expand(number).is_ok() && piece.leaves_out).collect())
    }

    fn count(&self, number: u32) -> u32 {
        self.words[number as usize] & COUNT
    }

    fn all_wait(&mut self) {
        for number in 0..self.words.len() as u32 {
            if self.is_alive(number) {
                self.words[number as usize] |= WAITS;
                self.queue.push_back(number);
            }
        }
    }

    /// Removes states, and those that have no predecessor any more.
    fn trim<S: System, O: Portable>(
        &mut self,
        states: Vec<u32>,
        piece: &mut Piece<'_, '_, '_, S, O>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<(), Limit> {
        states.iter().for_each(|&number| self.remove(number));
        self.queue.extend(states);
        self.doing = Doing::Trimming;
        piece.go(self, watch)
    }

    /// The states that are not reached from steps with all of these marks.
    fn reach<S: System, O: Portable>(
        &mut self,
        block: Block,
        piece: &mut Piece<'_, '_, '_, S, O>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Vec<u32>, Limit> {
        self.seen.clear();
        self.seen.resize(self.words.len(), 0);
        self.all_wait();
        self.doing = Doing::Reaching(block);
        piece.go(self, watch)?;
        let mut unreached = Vec::new();
        for number in 0..self.words.len() as u32 {
            if !self.is_alive(number) {
                continue;
            }
            let mut missing = block.bits & !self.seen[number as usize];
            if let Some(word) = block.where_enabled
                && missing != 0
            {
                // It was expanded before, and nothing went wrong.
                missing &= if piece.expand(number).is_ok() { piece.state_marks()[word] } else { 0 };
                watch.look(&mut piece.exchange)?;
            }
            if missing != 0 {
                unreached.push(number);
            }
        }
        Ok(unreached)
    }

    /// Something about one of its states.
    #[inline]
    fn hear(&mut self, number: u32, what: u32) {
        let Some(word) = self.words.get_mut(number as usize).filter(|word| **word & ALIVE != 0) else {
            return;
        };
        match self.doing {
            Doing::Counting => *word += 1,
            Doing::Trimming => {
                // Whoever is removed was counted.
                *word -= u32::from(*word & COUNT > 0);
                if *word & COUNT == 0 {
                    *word &= !ALIVE;
                    self.queue.push_back(number);
                }
            }
            Doing::Comparing => {
                let round = &mut self.seen[number as usize];
                if what >= *round {
                    *round = LED_BACK_TO;
                }
            }
            Doing::Reaching(_) => {
                let seen = &mut self.seen[number as usize];
                if what & !*seen != 0 {
                    *seen |= what;
                    if *word & WAITS == 0 {
                        *word |= WAITS;
                        self.queue.push_back(number);
                    }
                }
            }
        }
    }
}

impl<'p, 'a, 'x, S: System, O: Portable> Phase<'p, 'a, 'x, S, O> for Fixpoint {
    const KIND: u32 = ABOUT;
    const ONE_STEP: bool = false;

    fn visit(&mut self, piece: &mut Piece<'p, 'a, 'x, S, O>) -> Result<bool, Limit> {
        let Some(number) = self.queue.pop_front() else { return Ok(false) };
        self.words[number as usize] &= !WAITS;
        if piece.expand(number).is_err() {
            // It was expanded before, and nothing went wrong.
            return Ok(true);
        }
        let scope = self.scope;
        match self.doing {
            Doing::Comparing => {
                let round = piece.own.round_of(number) as u32;
                piece.tell(scope, Some(&|_| Some(round)), |to, what| self.hear(to, what))?;
            }
            Doing::Counting | Doing::Trimming => {
                piece.tell(scope, None, |to, what| self.hear(to, what))?;
            }
            Doing::Reaching(Block { word, bits, .. }) => {
                let seen = self.seen[number as usize];
                let about = move |marks: &[u32]| Some(seen | marks[word] & bits).filter(|&all| all != 0);
                piece.tell(scope, Some(&about), |to, what| self.hear(to, what))?;
            }
        }
        Ok(true)
    }

    fn arrived(&mut self, piece: &mut Piece<'p, 'a, 'x, S, O>, words: &[u32]) -> Result<(), Limit> {
        piece.told(words, |number, what| self.hear(number, what));
        Ok(())
    }
}
