//! The frontier of a search for states: which of them are still to be expanded, and how those that are known were found.
//!
//! Breadth first, the store is the queue, and what is left to keep is the search tree ([`Tree`]). Parents of states 0, 1, 2, …
//! never decrease, so the tree is a string of bits: a 1 for each state expanded, a 0 for each state found. Runs are read off
//! it backward. Other orders are those of [`mixed`](super::mixed) and [`nearest`](super::nearest).

use base::Limit;
use model::{ActionId, System};

use crate::paged::{OutOfMemory, Paged};
use crate::store::StateId;

/// Which states are still to be expanded, in what order, and how those that are known were found. States have the
/// numbers 0, 1, 2, … as they are found.
pub(crate) trait Frontier {
    /// The next state, which is this one, was found from the one that was taken last, if there was one, by this action.
    fn find(&mut self, action: ActionId, state: &[u32]) -> Result<(), Limit>;

    /// Takes a state that is to be expanded.
    fn take(&mut self) -> Result<Option<StateId>, Limit>;

    /// The state that is taken after so many others, if that is certain already.
    fn coming(&self, _n_others: usize) -> Option<StateId> {
        None
    }

    /// Whether a state was not taken yet.
    fn is_ahead(&self, id: StateId) -> bool;

    /// The first state of the run to this one, and those after it on the way.
    fn path_to(&mut self, id: StateId) -> (StateId, Vec<StateId>);

    /// The action that found a state, if it was kept.
    fn action(&self, _: StateId) -> Option<ActionId> {
        None
    }

    /// Whether others may go on from here, after so many states: those that are left are of one kind.
    fn may_hand_over(&self, after: usize) -> bool;

    /// How many states were taken.
    fn n_taken(&self) -> u64;

    /// How long the longest run to a state is.
    fn depth(&self) -> u64;

    /// Bytes held.
    fn bytes(&self) -> u64;
}

/// The search tree of a breadth-first search, over a store that retains its states.
pub(crate) fn tree() -> impl Frontier {
    Tree::new(true)
}

/// The queue is the store; this is the search tree.
pub(super) struct Tree {
    /// A 1 for each state expanded, a 0 for each state found, in the order of events.
    bits: Paged,
    n_bits: usize,
    n_expanded: usize,
    /// Expanding the state of this number begins a level, and so many were begun.
    next_level: usize,
    n_levels: u64,
    /// For each state, the action that found it, if that cannot be found out later.
    actions: Option<Paged>,
}

impl Tree {
    /// The tree of a search that has not begun. If the store does not retain its states, actions are kept.
    pub(super) fn new(retains: bool) -> Tree {
        let actions = (!retains).then(|| Paged::new(1));
        Tree { bits: Paged::new(1), n_bits: 0, n_expanded: 0, next_level: 0, n_levels: 0, actions }
    }

    #[inline]
    fn push(&mut self, bit: u32) -> Result<(), OutOfMemory> {
        if self.n_bits.is_multiple_of(32) {
            self.bits.push(&[bit])?;
        } else {
            self.bits.get_mut(self.n_bits / 32)[0] |= bit << (self.n_bits % 32);
        }
        self.n_bits += 1;
        Ok(())
    }

    #[inline]
    fn n_found(&self) -> usize {
        self.n_bits - self.n_expanded
    }
}

impl Frontier for Tree {
    #[inline]
    fn find(&mut self, action: ActionId, _: &[u32]) -> Result<(), Limit> {
        self.push(0)?;
        match &mut self.actions {
            Some(actions) => Ok(actions.push(&[action.index() as u32])?),
            None => Ok(()),
        }
    }

    #[inline]
    fn take(&mut self) -> Result<Option<StateId>, Limit> {
        let next = self.n_expanded;
        if next == self.n_found() {
            return Ok(None);
        }
        if next == self.next_level {
            self.next_level = self.n_found();
            self.n_levels += 1;
        }
        self.push(1)?;
        self.n_expanded += 1;
        Ok(Some(StateId::new(next)))
    }

    #[inline]
    fn coming(&self, n_others: usize) -> Option<StateId> {
        let next = self.n_expanded + n_others;
        (next < self.n_found()).then(|| StateId::new(next))
    }

    #[inline]
    fn is_ahead(&self, id: StateId) -> bool {
        id.index() >= self.n_expanded
    }

    /// Between levels.
    #[inline]
    fn may_hand_over(&self, after: usize) -> bool {
        let n_found = self.n_found();
        self.n_expanded == self.next_level && n_found >= after && n_found > self.n_expanded
    }

    fn path_to(&mut self, id: StateId) -> (StateId, Vec<StateId>) {
        let mut path = Vec::new();
        let mut wanted = id.index();
        let bit = |at: usize| self.bits.get(at / 32)[0] >> (at % 32) & 1;
        let (mut ones, mut zeros) = (self.n_expanded, self.n_found());
        for at in (0..self.n_bits).rev() {
            if bit(at) == 1 {
                ones -= 1;
                continue;
            }
            zeros -= 1;
            if zeros == wanted {
                if ones == 0 {
                    break; // Found before anything was expanded: a root.
                }
                path.push(StateId::new(wanted));
                wanted = ones - 1;
            }
        }
        path.reverse();
        (StateId::new(wanted), path)
    }

    fn action(&self, id: StateId) -> Option<ActionId> {
        self.actions.as_ref().map(|actions| ActionId::new(actions.get(id.index())[0] as usize))
    }

    fn n_taken(&self) -> u64 {
        self.n_expanded as u64
    }

    fn depth(&self) -> u64 {
        self.n_levels.saturating_sub(1)
    }

    fn bytes(&self) -> u64 {
        self.bits.bytes() + self.actions.as_ref().map_or(0, Paged::bytes)
    }
}

/// The actions between neighbors on a path from `from`, found again by expanding its states.
pub(crate) fn actions_along<S: System>(
    system: &S,
    from: StateId,
    path: &[StateId],
    get: impl Fn(StateId, &mut [u32]),
) -> Vec<ActionId> {
    let width = system.width();
    let (mut state, mut target, mut reached) = (vec![0; width], vec![0; width], vec![0; width]);
    let (mut enabled, mut scratch) = (Vec::new(), system.new_scratch());
    get(from, &mut state);
    let mut actions = Vec::with_capacity(path.len());
    for &id in path {
        get(id, &mut target);
        // These states were expanded before, and one of the steps led on. Where a part of a system is
        // explored, another one may be chosen this time, so all steps are looked at, and those that were left
        // out may go wrong: they are taken one by one.
        enabled.clear();
        _ = system.enabled(&state, &mut scratch, &mut enabled);
        let leads_on = |action: &&ActionId| {
            reached.copy_from_slice(&state);
            system.fire(&mut reached, **action, &mut scratch).is_ok() && reached == target
        };
        actions.extend(enabled.iter().find(leads_on));
        std::mem::swap(&mut state, &mut target);
    }
    debug_assert_eq!(actions.len(), path.len());
    actions
}
