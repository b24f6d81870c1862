//! The states of a set, one by one, and what is remembered about them.
//!
//! All states of a set are in a ring of their own, the third word of a state: two flags, and the next state, plus one. Where a union makes
//! one ring of two rings of live states, it does the same with these, at the same two states, which are busy: nobody else
//! changes what follows them.
//!
//! What flags mean is up to the search: see [`explorer`](super::explorer) and [`decide`](super::decide).

use super::decide::Choice;
use super::union_find::UnionFind;
use crate::store::shared::arena::Cell;
use crate::sync::Ordering::{AcqRel, Acquire, SeqCst};

/// What is remembered about a state in the ring of all states. The user of the sets says what flags mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flag {
    First,
    Second,
}

/// The ring of all states of a set, with their flags.
impl<A: Cell> UnionFind<A> {
    fn member(&self, state: u32) -> &A {
        &self.records.record(state)[2]
    }

    fn bit(flag: Flag) -> u64 {
        match flag {
            Flag::First => 1 << (A::BITS - 2),
            Flag::Second => 2 << (A::BITS - 2),
        }
    }

    /// Two rings become one, at states that nobody else may do this to now.
    pub(super) fn link_members(&self, one: u32, other: u32) {
        let next = |state: u32| Self::next(state, self.member(state).load(Acquire));
        let (after_one, after_other) = (next(one), next(other));
        self.set_next(one, after_other);
        self.set_next(other, after_one);
    }

    /// Others may set flags meanwhile.
    fn set_next(&self, state: u32, next: u32) {
        loop {
            let word = self.member(state).load(Acquire);
            if self.member(state).swap_if(word, word & !Self::NEXT | u64::from(next + 1), AcqRel) {
                return;
            }
        }
    }

    /// The state after a state, in the ring of all states of its set.
    pub(crate) fn next_member(&self, state: u32) -> u32 {
        Self::next(state, self.member(state).load(Acquire))
    }

    /// The states of a set that are in a store, as they come.
    pub(super) fn members(&self, root: u32) -> impl Iterator<Item = u32> + '_ {
        let after = move |&state: &u32| Some(self.next_member(state)).filter(|&next| next != root);
        std::iter::successors(Some(root), after).filter(|&state| state < Self::VIRTUAL)
    }

    /// Whether a state has a flag.
    pub(crate) fn has(&self, state: u32, flag: Flag) -> bool {
        self.member(state).load(SeqCst) & Self::bit(flag) != 0
    }

    /// Whether a state has any flag.
    pub(crate) fn is_flagged(&self, state: u32) -> bool {
        self.member(state).load(SeqCst) & !Self::NEXT != 0
    }

    /// Sets a flag of a state.
    pub(crate) fn flag(&self, state: u32, flag: Flag) {
        if !self.has(state, flag) {
            self.member(state).add_bits(Self::bit(flag), SeqCst);
        }
    }

    /// Sets the first flag of a state that has none. (One that is decided must not get another one.)
    pub(crate) fn flag_if_none(&self, state: u32) {
        loop {
            let word = self.member(state).load(SeqCst);
            if word & !Self::NEXT != 0
                || self.member(state).swap_if(word, word | Self::bit(Flag::First), SeqCst)
            {
                return;
            }
        }
    }

    /// What was decided in a state: the second flag alone is the large set, both are the small one.
    pub(crate) fn choice(&self, state: u32) -> Option<Choice> {
        Self::choice_of(self.member(state).load(SeqCst))
    }

    fn choice_of(word: u64) -> Option<Choice> {
        match (word & Self::bit(Flag::First) != 0, word & Self::bit(Flag::Second) != 0) {
            (_, false) => None,
            (true, true) => Some(Choice::Small),
            (false, true) => Some(Choice::Large),
        }
    }

    /// Decides a state that has the first flag, unless somebody was faster. Returns what was decided.
    pub(crate) fn settle(&self, state: u32, mine: Choice) -> Choice {
        let flags = match mine {
            Choice::Small => Self::bit(Flag::First) | Self::bit(Flag::Second),
            Choice::Large => Self::bit(Flag::Second),
        };
        loop {
            let word = self.member(state).load(SeqCst);
            if let Some(choice) = Self::choice_of(word) {
                return choice;
            }
            if self.member(state).swap_if(word, word & Self::NEXT | flags, SeqCst) {
                return mine;
            }
        }
    }
}
