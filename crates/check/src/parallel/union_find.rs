//! Partial strong components that several workers share: a union-find with a list of what is left to do in each set.
//!
//! # Idea
//! After Bloemen, Laarman and van de Pol (PPoPP 2016). A state belongs to a *set*. A set knows its marks, which workers
//! are in it, and which of its states are *live*: somebody may still have to look at their edges. A state whose edges
//! were all looked at is a *tomb*. A set without live states is a finished component: it is closed by one worker, who
//! may put something new into it, or bury it.
//!
//! This file has the sets; [`rings`](super::rings) the lists, and unions.
//!
//! # Layout
//! Two words per state, narrow or wide ([`Cell`]): eight bytes, or sixteen.
//!
//! | word | root of a set | any other state |
//! |---|---|---|
//! | first | `0 dead lock marks workers` | `1 parent` |
//! | second | `live 00, busy 01, tomb 10` and the next state of a ring, plus one | the same |
//!
//! Memory that is all zeros is right: a live set of its own, without marks and workers, whose ring is itself. Marks that
//! do not fit beside the workers have words of their own, 32 to each. Who wants to list the states of a set pays for
//! one more word: a second ring, of all states, with two flags for each ([`members`](super::members)).
//!
//! # Invariants
//! 1. A child stays a child, and its parent has a smaller number. So parents form trees, and a path can be
//!    halved by a plain store.
//! 2. Marks and workers of a set are in one word, its root's. Each claim, each new mark and the end of a set are one
//!    compare-and-swap of that word; a union takes the word of the root that becomes a child by one swap. So nothing
//!    gets lost in a root that is none any more.
//! 3. The live and busy states of a set are in its ring; a tomb leads to the ring. While a set has a live or busy
//!    state, nobody sees its ring as empty.
//! 4. A tomb that leads to itself is an empty ring, and stays so, until the worker that closed the set opens it again. (There
//!    may be several such tombs: workers that cut at once may cut a ring of tombs in two.) No tomb becomes live again.
//!
//! # Why it is right
//! *A union* locks the root that becomes a child, so each root takes part in one union as a child, and unions in
//! progress are edges of a forest. It makes one live state of each ring busy, and swaps what follows them: two rings become one
//! (by 1 the sets are different, and so are the rings). *Then* the sets become one, the marks and workers are
//! carried over, and only then are the two states live again. So a ring is never shorter than its set
//! needs, and a set does not end before it has all marks (3). Lists after sets would be wrong: a worker that looks at the larger
//! set meanwhile, through the ring of the smaller one, would find it finished.
//!
//! *There is a live state to be made busy*: a worker unites sets along a path of its own from one to the other and back; so each of
//! them has an edge that leaves it, to a set that is not finished, and its source is no tomb.
//!
//! *Nobody waits for ever*: who holds a lock waits only for busy states, who holds a busy state waits only for one of the other
//! set, and the forest has no cycle. A set that is closed has no edge that leaves it, so no union waits for that.
//!
//! *Tombs are cut out of chains* by a compare-and-swap from what was read, so that they lead to the same live states as before.
//!
//! *A set that is opened again* gets a new state, which is busy until all states of the set lead there. Nobody else changes
//! a word of the rings meanwhile: there is no union, and who still wants to cut expects another word. Who found the ring empty before
//! that tries to close the set, and looks again then.
//!
//! *Marks beside the word*: who adds some looks afterward whether the root is still one, and otherwise adds them to the
//! root that it is under now; who makes a root a child reads its marks afterward. One of the two sees the other (all four
//! are sequentially consistent).

use std::hint::black_box;

use base::Limit;

use crate::store::shared::arena::{Arena, Cell};
use crate::sync::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

/// What a worker learns when it comes to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The worker was not in its set before.
    New,
    /// The same, but others are (only told by [`UnionFind::peek`]).
    Taken,
    /// It was: the set holds a state of its path.
    Known,
    /// The component is finished.
    Dead,
}

/// The sets, of states that have numbers.
pub(crate) struct UnionFind<A> {
    pub(super) records: Arena<A>,
    n_workers: u32,
    /// Words for marks beside the root's.
    pub(super) n_beside: usize,
    n_mark_words: usize,
    pub(super) has_members: bool,
}

impl<A: Cell> UnionFind<A> {
    pub(super) const CHILD: u64 = 1 << (A::BITS - 1);
    pub(super) const DEAD: u64 = Self::CHILD >> 1;
    pub(super) const LOCK: u64 = Self::CHILD >> 2;
    /// Marks and workers.
    pub(super) const SETS: u64 = Self::LOCK - 1;
    pub(super) const BUSY: u64 = 1 << (A::BITS - 2);
    pub(super) const TOMB: u64 = 2 << (A::BITS - 2);
    pub(super) const NEXT: u64 = Self::BUSY - 1;

    /// So many marks and workers fit in a word.
    pub(crate) const ROOM: usize = A::BITS as usize - 3;
    /// Numbers from here on are free for states that are in no store.
    pub(crate) const VIRTUAL: u32 = if A::BITS == 32 { 1 << 29 } else { 1 << 31 };

    /// No states, for so many workers and marks; `has_members` if the states of a set are to be listed.
    pub(crate) fn new(n_workers: usize, n_marks: usize, has_members: bool) -> UnionFind<A> {
        assert!(n_workers <= Self::ROOM, "there are no more workers than fit");
        let n_beside = if n_workers + n_marks <= Self::ROOM { 0 } else { n_marks.div_ceil(32) };
        let width = 2 + usize::from(has_members) + n_beside;
        UnionFind {
            records: Arena::new(width),
            n_workers: n_workers as u32,
            n_beside,
            n_mark_words: n_marks.div_ceil(32).max(1),
            has_members,
        }
    }

    /// For how many workers it is.
    pub(crate) fn n_workers(&self) -> usize {
        self.n_workers as usize
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        self.records.bytes()
    }

    /// Makes room for a state.
    #[inline]
    pub(crate) fn touch(&self, state: u32) -> Result<(), Limit> {
        if self.records.has(state) { Ok(()) } else { self.records.touch(state) }
    }

    #[inline]
    pub(super) fn set(&self, state: u32) -> &A {
        self.records.word(state, 0).expect("a state is touched before it is claimed")
    }

    #[inline]
    pub(super) fn ring(&self, state: u32) -> &A {
        self.records.word(state, 1).expect("a state is touched before it is claimed")
    }

    pub(super) fn beside(&self, state: u32) -> &[A] {
        let record = self.records.record(state);
        &record[record.len() - self.n_beside..]
    }

    /// The root of a state's set, and its word.
    #[inline]
    pub(super) fn find(&self, state: u32) -> (u32, u64) {
        self.find_from(state, self.set(state))
    }

    /// The same, of a state with this word.
    #[inline]
    fn find_from(&self, state: u32, set: &A) -> (u32, u64) {
        let (mut at, mut set) = (state, set);
        loop {
            let word = set.load(Acquire);
            if word & Self::CHILD == 0 {
                return (at, word);
            }
            let parent = (word & !Self::CHILD) as u32;
            let above = self.set(parent).load(Acquire);
            if above & Self::CHILD == 0 {
                return (parent, above);
            }
            set.store(above, Release);
            at = (above & !Self::CHILD) as u32;
            set = self.set(at);
        }
    }

    /// The root of a state's set.
    pub(crate) fn root(&self, state: u32) -> u32 {
        self.find(state).0
    }

    /// Whether the component of a state is finished.
    pub(crate) fn is_dead(&self, state: u32) -> bool {
        self.find(state).1 & Self::DEAD != 0
    }

    /// Whether two states are in one set.
    #[inline]
    pub(crate) fn same(&self, one: u32, other: u32) -> bool {
        loop {
            let (a, b) = (self.find(one).0, self.find(other).0);
            if a == b {
                return true;
            }
            if self.set(a).load(Acquire) & Self::CHILD == 0 {
                return false;
            }
        }
    }

    /// Reads the words of some states that will be needed, all at once, so that the cache misses overlap.
    #[inline]
    pub(crate) fn warm_up(&self, states: impl Iterator<Item = u32>) {
        let words = states.filter_map(|state| self.records.word(state, 0));
        black_box(words.fold(0, |all, word| all ^ word.load(Relaxed)));
    }

    /// What a worker would learn in a state, and the root of its set. Nobody was in a state that was not touched.
    ///
    /// States that have the same root, whenever they are asked, are in one set.
    #[inline]
    pub(crate) fn peek(&self, state: u32, worker: usize) -> (Claim, u32) {
        let Some(set) = self.records.word(state, 0) else { return (Claim::New, state) };
        match self.find_from(state, set) {
            (root, word) if word & Self::DEAD != 0 => (Claim::Dead, root),
            (root, word) if word >> worker & 1 == 1 => (Claim::Known, root),
            (root, word) if word & ((1 << self.n_workers) - 1) != 0 => (Claim::Taken, root),
            (root, _) => (Claim::New, root),
        }
    }

    /// A worker comes to a state: it is in its set from now on.
    #[inline]
    pub(crate) fn claim(&self, state: u32, worker: usize) -> (Claim, u32) {
        loop {
            let (root, word) = self.find(state);
            if word & Self::DEAD != 0 {
                return (Claim::Dead, root);
            }
            if word >> worker & 1 == 1 {
                return (Claim::Known, root);
            }
            if self.set(root).swap_if(word, word | 1 << worker, AcqRel) {
                return (Claim::New, root);
            }
        }
    }

    /// Adds marks to a state's set, and puts all that it has into `now`. Returns whether there are more than before.
    pub(crate) fn add(&self, state: u32, marks: &[u32], now: &mut Vec<u32>) -> bool {
        now.clear();
        if self.n_beside > 0 {
            return self.add_beside(state, marks, now);
        }
        let high = marks.get(1).copied().unwrap_or(0);
        let packed = u64::from(high) << 32 | u64::from(marks[0]);
        let (before, after) = self.add_sets(state, packed << self.n_workers);
        self.unpack(after, now);
        before != after
    }

    fn unpack(&self, word: u64, now: &mut Vec<u32>) {
        let packed = (word & Self::SETS) >> self.n_workers;
        now.extend([packed as u32, (packed >> 32) as u32].iter().take(self.n_mark_words));
    }

    /// Adds bits to the word of a set. Returns what it was before and is now.
    pub(super) fn add_sets(&self, state: u32, sets: u64) -> (u64, u64) {
        loop {
            let (root, word) = self.find(state);
            if word | sets == word || self.set(root).swap_if(word, word | sets, AcqRel) {
                return (word, word | sets);
            }
        }
    }

    /// All are read again after the last was added: of two workers who add the last two, one sees both.
    pub(super) fn add_beside(&self, state: u32, marks: &[u32], now: &mut Vec<u32>) -> bool {
        let mut is_more = false;
        loop {
            let root = self.find(state).0;
            let words = self.beside(root);
            for (word, &more) in words.iter().zip(marks).filter(|(_, more)| **more != 0) {
                let before = word.add_bits(u64::from(more), SeqCst) as u32;
                is_more |= before | more != before;
            }
            now.clear();
            now.extend(words.iter().map(|word| word.load(SeqCst) as u32));
            if self.set(root).load(SeqCst) & Self::CHILD == 0 {
                return is_more;
            }
        }
    }

    /// Puts the marks of a state's set into `now`. Of a dead one, that is all there will be.
    pub(crate) fn marks(&self, state: u32, now: &mut Vec<u32>) {
        now.clear();
        let (root, word) = self.find(state);
        if self.n_beside == 0 {
            self.unpack(word, now);
        } else {
            now.extend(self.beside(root).iter().map(|word| word.load(SeqCst) as u32));
        }
    }
}
