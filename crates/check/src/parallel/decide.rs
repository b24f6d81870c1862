//! Sets that must close no cycle, chosen by several workers: *flag, then look*.
//!
//! # Idea
//! A depth-first search takes a small set where no silent step of it leads back onto its path; in every cycle of such
//! steps, some state then took its large set. Several workers have no common path. Instead, a state that is about to be
//! decided says so first, by a flag; *then* it looks whether a silent successor has a flag, and takes the small set only
//! if none has. The choice is remembered, and whoever expands the state takes the same.
//!
//! # Why it is right
//! *Every cycle of silent steps, on which the observer stays where it is, has a state that took its large set.* All flags and looks are in one order (sequential consistency). Let y be the
//! state of the cycle whose flag came first, and x the one before it. Whoever decided x set its flag, which came later or is
//! the same one, and looked at y after that: it saw y's flag. (If several workers decide x, each looks after x has
//! its flag, and one choice is kept.) ∎
//!
//! A successor whose component is finished does not count: it lies on no cycle with x.
//!
//! This is the closed-set proviso of Bošnački, Leue and Lluch Lafuente (SPIN 2006), made safe for races: a state that looks first and sets its
//! flag then may miss the other one, while that one misses it (t: `components`). Where ways meet again, it takes large
//! sets that a stack would not.

use super::union_find::UnionFind;
use crate::store::shared::arena::Cell;
use crate::sync::{Mutant, is};

/// What a state takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Its first small set.
    Small,
    /// What it takes where no small set is accepted.
    Large,
}

/// Decides a state, if nobody has. `look` says whether the small set would do, and what it found; if that is what was decided, it is
/// handed back.
pub(crate) fn decide<A: Cell, T, E>(
    sets: &UnionFind<A>,
    state: u32,
    look: impl FnOnce() -> Result<(bool, T), E>,
) -> Result<(Choice, Option<T>), E> {
    if let Some(choice) = sets.choice(state) {
        return Ok((choice, None));
    }
    if !is(Mutant::LookThenFlag) {
        sets.flag_if_none(state);
    }
    let (is_small, found) = look()?;
    if is(Mutant::LookThenFlag) {
        sets.flag_if_none(state);
    }
    let mine = if is_small { Choice::Small } else { Choice::Large };
    let choice = sets.settle(state, mine);
    Ok((choice, (choice == mine).then_some(found)))
}
