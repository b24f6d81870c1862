//! What is left to do in each set of a [`UnionFind`]: rings of live states, unions, and the end of sets.
//!
//! The invariants, and why all this is right, are at the head of [`union_find`](super::union_find).

use super::union_find::UnionFind;
use crate::store::shared::arena::Cell;
use crate::sync::Ordering::{AcqRel, Acquire, Release, SeqCst};
use crate::sync::{Mutant, is, pause};

/// What there is to do in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// This state is live.
    Live(u32),
    /// Nothing, and this worker is the one who closed the set. It must say how that ends.
    Closed(Closed),
    /// Somebody else closed it, and has not said yet.
    Waits,
    /// The component is finished.
    Dead,
}

/// A set that was closed: its root, and the tomb that its ring has become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closed {
    root: u32,
    tomb: u32,
}

impl Closed {
    /// The root of the set.
    pub(crate) fn root(self) -> u32 {
        self.root
    }
}

impl<A: Cell> UnionFind<A> {
    /// Whether somebody may still have to look at the edges of a state.
    #[inline]
    pub(crate) fn is_live(&self, state: u32) -> bool {
        self.ring(state).load(Acquire) & Self::TOMB == 0
    }

    /// The same as [`remove`](Self::remove), but without waiting for anybody: for a search that is over.
    pub(crate) fn try_remove(&self, state: u32) -> bool {
        let word = self.ring(state).load(Acquire);
        word & (Self::TOMB | Self::BUSY) == 0 && self.ring(state).swap_if(word, word | Self::TOMB, AcqRel)
    }

    /// All edges of a state were looked at. Returns whether nobody said so before.
    pub(crate) fn remove(&self, state: u32) -> bool {
        let mut n_spins = 0;
        loop {
            let word = self.ring(state).load(Acquire);
            if word & Self::TOMB != 0 {
                return false;
            }
            if word & Self::BUSY != 0 {
                pause(&mut n_spins);
            } else if self.ring(state).swap_if(word, word | Self::TOMB, AcqRel) {
                return true;
            }
        }
    }

    /// A state's word in a ring where it is not busy: `Ok` if it is live, or the word and the next state.
    #[inline]
    fn settled(&self, state: u32) -> Result<(), (u64, u32)> {
        let mut n_spins = 0;
        loop {
            let word = self.ring(state).load(Acquire);
            if word & Self::TOMB != 0 {
                return Err((word, Self::next(state, word)));
            }
            if word & Self::BUSY == 0 {
                return Ok(());
            }
            pause(&mut n_spins);
        }
    }

    #[inline]
    pub(super) fn next(state: u32, word: u64) -> u32 {
        match word & Self::NEXT {
            0 => state,
            next => (next - 1) as u32,
        }
    }

    /// A live state of the set, or the tomb that its ring has become.
    fn live(&self, state: u32) -> Result<u32, u32> {
        let mut at = state;
        loop {
            let Err((word, after)) = self.settled(at) else { return Ok(at) };
            if after == at {
                return Err(at);
            }
            let Err((_, then)) = self.settled(after) else { return Ok(after) };
            // Both are tombs: the second one is cut out.
            self.ring(at).swap_if(word, Self::TOMB | u64::from(then + 1), AcqRel);
            at = then;
        }
    }

    /// What there is to do in the set of a state.
    pub(crate) fn pick(&self, state: u32) -> Pick {
        loop {
            let tomb = match self.live(state) {
                Ok(live) => return Pick::Live(live),
                Err(tomb) => tomb,
            };
            let (root, word) = self.find(tomb);
            if word & Self::DEAD != 0 {
                return Pick::Dead;
            }
            if word & Self::LOCK != 0 {
                return Pick::Waits;
            }
            if self.set(root).swap_if(word, word | Self::LOCK, AcqRel) {
                // Since then, somebody may have closed it and opened it again.
                if Self::next(tomb, self.ring(tomb).load(Acquire)) == tomb {
                    return Pick::Closed(Closed { root, tomb });
                }
                self.unlock(root, 0);
            }
        }
    }

    fn unlock(&self, root: u32, add: u64) {
        loop {
            let word = self.set(root).load(Acquire);
            if self.set(root).swap_if(word, word & !Self::LOCK | add, AcqRel) {
                return;
            }
        }
    }

    /// The component that was closed is finished.
    pub(crate) fn bury(&self, closed: Closed) {
        self.unlock(closed.root, Self::DEAD);
    }

    /// The set that was closed gets one more state, which is live and was in no set. There must be room for it, and the
    /// states of a set must be listed.
    pub(crate) fn reopen(&self, closed: Closed, new: u32) {
        let Closed { root, tomb } = closed;
        self.set(new).store(Self::CHILD | u64::from(root), Release);
        self.ring(new).store(Self::BUSY | u64::from(new + 1), Release);
        self.link_members(tomb, new);
        let mut member = self.next_member(new);
        while member != new {
            self.ring(member).store(Self::TOMB | u64::from(new + 1), Release);
            member = self.next_member(member);
        }
        self.ring(new).store(u64::from(new + 1), Release);
        self.unlock(root, 0);
    }

    /// Makes a live state of the set busy.
    fn make_busy(&self, state: u32) -> u32 {
        let mut n_spins = 0;
        loop {
            let Ok(live) = self.live(state) else {
                unreachable!("a set that is being united has an edge out of it")
            };
            let word = self.ring(live).load(Acquire);
            if word & (Self::BUSY | Self::TOMB) == 0
                && self.ring(live).swap_if(word, word | Self::BUSY, AcqRel)
            {
                return live;
            }
            pause(&mut n_spins);
        }
    }

    /// Two states lie on a cycle: their sets become one.
    pub(crate) fn unite(&self, one: u32, other: u32) {
        let mut n_spins = 0;
        let (child, parent) = loop {
            let ((a, word_a), (b, word_b)) = (self.find(one), self.find(other));
            if a == b {
                return;
            }
            // The older one stays: most states lead there.
            let (child, word, parent) = if a > b { (a, word_a, b) } else { (b, word_b, a) };
            if word & (Self::LOCK | Self::DEAD) == 0
                && self.set(child).swap_if(word, word | Self::LOCK, AcqRel)
            {
                break (child, parent);
            }
            pause(&mut n_spins);
        };
        if is(Mutant::ListsAfterSets) {
            self.join_sets(child, parent);
        }
        let (a, b) = (self.make_busy(one), self.make_busy(other));
        let after = |state: u32| Self::next(state, self.ring(state).load(Acquire));
        let (after_a, after_b) = (after(a), after(b));
        self.ring(a).store(Self::BUSY | u64::from(after_b + 1), Release);
        self.ring(b).store(Self::BUSY | u64::from(after_a + 1), Release);
        if self.has_members {
            self.link_members(a, b);
        }
        if !is(Mutant::ListsAfterSets) {
            self.join_sets(child, parent);
        }
        self.ring(a).store(u64::from(after_b + 1), Release);
        self.ring(b).store(u64::from(after_a + 1), Release);
    }

    fn join_sets(&self, child: u32, parent: u32) {
        let sets = self.set(child).swap(Self::CHILD | u64::from(parent), SeqCst) & Self::SETS;
        self.add_sets(parent, sets);
        if self.n_beside > 0 {
            let marks: Vec<u32> = self.beside(child).iter().map(|word| word.load(SeqCst) as u32).collect();
            self.add_beside(parent, &marks, &mut Vec::new());
        }
    }
}
