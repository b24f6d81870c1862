//! A search from both ends: the oldest states, and the newest.
//!
//! # Idea
//! Breadth first, while there are few states: runs are shortest then. If there are many, an error may be
//! near, where breadth-first search finds it soon, or deep, where only depth-first search comes to in time. Nobody knows
//! which, so both are done by turns, in one store: for a while the oldest states that were not expanded are, then
//! those that were found last. At first the turns are alike, so that an error costs about twice what the better of the two
//! would have taken. Where there are many states, the newest have fewer turns: successors of states that were
//! found together are alike, and still in the cache; those of states at great depth, one after the other, are not.
//!
//! # Requirements and limits
//! A [`Sequence`] that retains its states. About two bytes per state beside it: the search tree is a list of
//! families, each the number of states that were found from one, and which one that is, as a difference.
//! The runs found may be longer than necessary.
//!
//! # Differences from depth-first search
//! All successors of a state are stored when it is expanded, together, so that cache misses overlap, and the
//! path is not known; searches that ask for cycles cannot be done so. For stubborn sets it is enough to know which
//! states are still to be expanded (`check::reduced`).

use base::{Budget, Limit};
use model::ActionId;

use super::bfs::search_by;
use super::frontier::Frontier;
use super::varints::Varints;
use super::{Exploration, Goal, Space};
use crate::paged::Paged;
use crate::store::{Sequence, StateId};

/// When which end is taken from, in numbers of states.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Turns {
    /// So many are expanded breadth first.
    pub few: usize,
    /// Then so many by turns.
    pub turn: usize,
    /// After so many, the newest have one turn of `of` instead of one of two.
    pub many: usize,
    /// See there.
    pub of: usize,
}

const TURNS: Turns = Turns { few: 20_000, turn: 256, many: 400_000, of: 32 };

/// Explores `space` from its initial states, using an empty store.
pub fn search<S: Space, St: Sequence>(
    space: &S,
    store: &mut St,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> Exploration {
    search_in_turns(TURNS, space, store, goals, budget)
}

/// The same with other turns: for tests.
#[doc(hidden)]
pub fn search_in_turns<S: Space, St: Sequence>(
    turns: Turns,
    space: &S,
    store: &mut St,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> Exploration {
    const { assert!(St::RETAINS) }
    search_by(Ends::new(turns), space, store, goals, budget)
}

/// What is taken from both ends, as long as one worker is alone.
pub(crate) fn ends() -> impl Frontier {
    Ends::new(TURNS)
}

/// The states that were found, and which of them were taken.
struct Ends {
    turns: Turns,
    n_found: usize,
    n_taken: usize,
    /// A bit per state: whether it was taken.
    taken: Paged,
    /// All states before this one were taken.
    oldest: usize,
    /// Families of states that were found from the newest, those that were found last on top: the first state that
    /// is left, the one behind the last, and how many steps lead there.
    newest: Paged,
    /// The families in the order of their states but for the last one: how many states, and from which it was found.
    families: Varints,
    /// Per end, the parent of the last family in the list.
    parents: [usize; 2],
    /// The state that was taken last: which, from which end, and how many steps lead there.
    parent: usize,
    end: usize,
    steps: u32,
    /// How many states were found from it, or without any.
    n_children: usize,
    depth: u32,
    /// While there are few: expanding the state of this number begins a level, and so many were begun.
    next_level: usize,
    n_levels: u32,
}

const OLDEST: usize = 0;
const NEWEST: usize = 1;

impl Ends {
    fn new(turns: Turns) -> Ends {
        Ends {
            turns,
            n_found: 0,
            n_taken: 0,
            taken: Paged::new(1),
            oldest: 0,
            newest: Paged::new(3),
            families: Varints::default(),
            parents: [0; 2],
            parent: 0,
            end: OLDEST,
            steps: 0,
            n_children: 0,
            depth: 0,
            next_level: 0,
            n_levels: 0,
        }
    }

    /// Notes what was found from the state that was taken last.
    fn close_family(&mut self) -> Result<(), Limit> {
        let n_children = std::mem::take(&mut self.n_children);
        if n_children == 0 || self.n_taken == 0 {
            return Ok(());
        }
        self.families.push(n_children as u64)?;
        let difference = self.parent as i64 - self.parents[self.end] as i64;
        // Small numbers for small differences, of either sign.
        let zigzag = (difference << 1 ^ difference >> 63) as u64;
        self.families.push(zigzag << 1 | self.end as u64)?;
        self.parents[self.end] = self.parent;
        if self.end == NEWEST {
            let first = (self.n_found - n_children) as u32;
            self.newest.push(&[first, self.n_found as u32, self.steps + 1])?;
        }
        Ok(())
    }

    #[inline]
    fn is_taken(&self, id: usize) -> bool {
        self.taken.get(id / 32)[0] >> (id % 32) & 1 == 1
    }

    /// The state that was found last among those that the newest led to, and how many steps lead there.
    fn take_newest(&mut self) -> Option<(usize, u32)> {
        while let Some(top) = self.newest.len().checked_sub(1) {
            let &[first, end, steps] = self.newest.get(top) else { return None };
            match (first..end).find(|&id| !self.is_taken(id as usize)) {
                Some(id) => {
                    self.newest.get_mut(top)[0] = id + 1;
                    return Some((id as usize, steps));
                }
                None => self.newest.pop(),
            }
        }
        None
    }

    /// The state that was found first, and how many steps lead there at least.
    fn take_oldest(&mut self) -> Option<(usize, u32)> {
        while self.oldest < self.n_found && self.is_taken(self.oldest) {
            self.oldest += 1;
        }
        let id = self.oldest;
        if id == self.n_found {
            return None;
        }
        if self.n_taken < self.turns.few && id == self.next_level {
            self.next_level = self.n_found;
            self.n_levels += 1;
        }
        Some((id, self.n_levels.saturating_sub(1)))
    }
}

impl Frontier for Ends {
    #[inline]
    fn find(&mut self, _: ActionId, _: &[u32]) -> Result<(), Limit> {
        if self.n_found.is_multiple_of(32) {
            self.taken.push(&[0])?;
        }
        self.n_found += 1;
        self.n_children += 1;
        if self.n_found > u32::MAX as usize { Err(Limit::States(u64::from(u32::MAX))) } else { Ok(()) }
    }

    fn take(&mut self) -> Result<Option<StateId>, Limit> {
        self.close_family()?;
        let Turns { few, turn, many, of } = self.turns;
        let n_turns = if self.n_taken < many { 2 } else { of };
        let is_newest = self.n_taken >= few && (self.n_taken / turn).is_multiple_of(n_turns);
        let newest = if is_newest { self.take_newest() } else { None };
        let Some((id, steps)) = newest.or_else(|| self.take_oldest()) else { return Ok(None) };
        self.taken.get_mut(id / 32)[0] |= 1 << (id % 32);
        self.n_taken += 1;
        self.depth = self.depth.max(steps);
        (self.parent, self.end, self.steps) = (id, usize::from(is_newest), steps);
        Ok(Some(StateId::new(id)))
    }

    #[inline]
    fn is_ahead(&self, id: StateId) -> bool {
        !self.is_taken(id.index())
    }

    fn may_hand_over(&self, after: usize) -> bool {
        self.n_taken >= after
    }

    fn path_to(&mut self, id: StateId) -> (StateId, Vec<StateId>) {
        let (mut wanted, mut path) = (id.index(), Vec::new());
        let mut step_back = |wanted: &mut usize, first: usize, parent: usize| {
            if *wanted >= first {
                path.push(StateId::new(*wanted));
                *wanted = parent;
            }
        };
        // The last family is not in the list yet.
        let mut first = self.n_found - if self.n_taken > 0 { self.n_children } else { 0 };
        step_back(&mut wanted, first, self.parent);
        let (mut place, mut parents) = (self.families.end(), self.parents);
        while place > 0 {
            let number = self.families.before(&mut place);
            let (end, zigzag) = ((number & 1) as usize, number >> 1);
            first -= self.families.before(&mut place) as usize;
            step_back(&mut wanted, first, parents[end]);
            let difference = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
            parents[end] = (parents[end] as i64 - difference) as usize;
        }
        path.reverse();
        (StateId::new(wanted), path)
    }

    fn n_taken(&self) -> u64 {
        self.n_taken as u64
    }

    fn depth(&self) -> u64 {
        u64::from(self.depth)
    }

    fn bytes(&self) -> u64 {
        self.taken.bytes() + self.newest.bytes() + self.families.bytes()
    }
}
