//! Best-first search: of the states that wait, one that is nearest to the goal is expanded.
//!
//! # Idea
//! Whoever asks says how far a state is from what is looked for, as a number; 0 is there. States that wait are kept by
//! this number. Of those that are equally near, mostly the newest is taken, so that the search goes on where it is, and
//! now and then the oldest, so that it does not lose its way on a plain without end.
//!
//! # When should I use this?
//! Where something is likely to be found, and there are too many states to see all of them. Where nothing is found, it sees the same states as any
//! other search, and takes more time and memory for each.
//!
//! # Requirements and limits
//! A [`Sequence`] that retains its states. Beside it, 4 bytes per state for the search tree, and 4 for each that
//! waits. No distance is so wrong that a state is left out. The runs found may be longer than necessary.
//!
//! # Differences from A*
//! How far a state is from the beginning does not count.
//!
//! # References
//! Distances to queries: J. F. Jensen, T. Nielsen, L. K. Oestergaard, J. Srba, *TAPAAL and reachability analysis of P/T
//! nets* (ToPNoC 2016).

use std::collections::VecDeque;

use base::{Budget, Limit};
use model::ActionId;

use super::bfs::search_by;
use super::frontier::Frontier;
use super::{Exploration, Goal, Space};
use crate::paged::Paged;
use crate::store::{Sequence, StateId};

/// States further away than this are not told apart.
const FAR: u64 = 4_095;
/// Of so many equally near states, one is the oldest.
const OLDEST: u64 = 4;
/// The bit of a parent that says that the state was taken.
const TAKEN: u32 = 1 << 31;

/// Explores `space` from its initial states, nearest first, using an empty store.
pub fn search<S: Space, St: Sequence>(
    distance: impl FnMut(&[u32]) -> u64,
    space: &S,
    store: &mut St,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> Exploration {
    const { assert!(St::RETAINS) }
    search_by(Nearest::new(distance), space, store, goals, budget)
}

/// The states that were found, and which of them wait.
struct Nearest<D> {
    distance: D,
    /// By distance, in the order in which they were found.
    waiting: Vec<VecDeque<u32>>,
    /// All lists before this one are empty.
    nearest: usize,
    /// Per state: from which it was found, and whether it was taken. That of an initial state is itself.
    parents: Paged,
    /// The state that was taken last.
    current: Option<u32>,
    n_taken: u64,
}

impl<D: FnMut(&[u32]) -> u64> Nearest<D> {
    fn new(distance: D) -> Nearest<D> {
        let (waiting, parents) = (Vec::new(), Paged::new(1));
        Nearest { distance, waiting, nearest: 0, parents, current: None, n_taken: 0 }
    }

    fn parent(&self, id: usize) -> usize {
        (self.parents.get(id)[0] & !TAKEN) as usize
    }
}

impl<D: FnMut(&[u32]) -> u64> Frontier for Nearest<D> {
    fn find(&mut self, _: ActionId, state: &[u32]) -> Result<(), Limit> {
        let id = self.parents.len() as u32;
        if id >= TAKEN {
            return Err(Limit::States(u64::from(TAKEN)));
        }
        self.parents.push(&[self.current.unwrap_or(id)])?;
        let distance = (self.distance)(state).min(FAR) as usize;
        if distance >= self.waiting.len() {
            self.waiting.resize_with(distance + 1, VecDeque::new);
        }
        self.waiting[distance].push_back(id);
        self.nearest = self.nearest.min(distance);
        Ok(())
    }

    fn take(&mut self) -> Result<Option<StateId>, Limit> {
        while let Some(equal) = self.waiting.get_mut(self.nearest) {
            let is_oldest = self.n_taken.is_multiple_of(OLDEST);
            let Some(id) = (if is_oldest { equal.pop_front() } else { equal.pop_back() }) else {
                self.nearest += 1;
                continue;
            };
            self.parents.get_mut(id as usize)[0] |= TAKEN;
            self.current = Some(id);
            self.n_taken += 1;
            return Ok(Some(StateId::new(id as usize)));
        }
        Ok(None)
    }

    #[inline]
    fn is_ahead(&self, id: StateId) -> bool {
        self.parents.get(id.index())[0] & TAKEN == 0
    }

    /// Never: others would take the states in another order.
    fn may_hand_over(&self, _: usize) -> bool {
        false
    }

    fn path_to(&mut self, id: StateId) -> (StateId, Vec<StateId>) {
        let (mut at, mut path) = (id.index(), Vec::new());
        loop {
            let parent = self.parent(at);
            if parent == at {
                break;
            }
            path.push(StateId::new(at));
            at = parent;
        }
        path.reverse();
        (StateId::new(at), path)
    }

    fn n_taken(&self) -> u64 {
        self.n_taken
    }

    /// It is not known how long runs are.
    fn depth(&self) -> u64 {
        0
    }

    fn bytes(&self) -> u64 {
        // Lists grow by doubling.
        self.parents.bytes() + 8 * (self.parents.len() as u64 - self.n_taken)
    }
}
