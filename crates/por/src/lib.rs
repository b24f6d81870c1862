//! Stubborn sets: which of the enabled actions must be taken, so that nothing that matters is lost.
//!
//! After Valmari, *On-the-fly verification with stubborn sets* (CAV '93) [valmari.93.cav]:
//! Definition 2.5 (stubborn sets), Theorem 4.1 (what a tester needs) and Algorithm 4.3 (how to
//! find such sets in linear time), for action systems with guards and data instead of processes
//! alone.
//!
//! # The rules
//! A set `A` of actions is *semistubborn* in a state if every action `a` in it satisfies one of
//! these. Here the *control variables* are those that are tested by guards of their own and only
//! set to constants or mapped, never computed: the locations of processes. (Nothing below depends
//! on where the line is drawn; for control variables the lists are short and exact.) An action's
//! *own guard* on a variable is true if the action has none.
//!
//! 1. `a` is disabled, and for one false guard `g` of `a` everything is in `A` that must happen
//!    first: all actions that may make `g` true ([`Relations::enablers`]); or, if `g` looks at a
//!    control variable `v` alone, all actions that can write `v` *now* (whose own guard on `v` is
//!    true), or all that lead `v` out of the values that it can get by actions enabled now, if `g`
//!    is false for all of these; or, if a tester refuses `a`, all actions that the tester follows in its present state.
//! 2. `a` is enabled, and in `A` are: for each control variable `v` that `a` only reads, all
//!    actions that can write `v` now; for each that `a` writes, all actions whose own guard on `v`
//!    is true now; all actions that interfere with `a` by way of other variables
//!    ([`Relations::interferes`]); and, if `a` is visible, all that the tester follows.
//!
//! A set is *stubborn* if an action in it is enabled. With locations as the only variables these
//! are the two rules of Definition 2.5, but for processes that take part without moving: two
//! actions that leave a common process where it is do not disturb each other.
//!
//! # Why they are sound
//! Let `a` be in `A`, and let actions outside `A` happen, one after the other. If `a` is disabled
//! by rule 1, the false guard stays false: by the definition of enablers; or because `v` does not
//! change, since the first action to write `v` must pass its own guard on `v` in the present value,
//! so is one of those in `A`; or because `v` can only wander among the values that enabled actions
//! give it, for all of which `g` is false, until one of those in `A` leads it out. (The tester is one more process, and its state a control variable
//! that all visible actions write.) If `a` is enabled, then by the same argument its control
//! variables keep their values; no action outside `A` that can happen touches a control variable
//! that `a` writes; and by way of other variables it does not interfere with `a`. So `a` stays
//! enabled and can be moved to the front of the sequence, which then ends in the same state. That
//! is Theorem 2.6 of the paper, from which the rest follows.
//!
//! # What is preserved
//! - Any stubborn set in each state: all deadlocks, and whether there is an infinite run (Theorem
//!   2.9). This is [`Demand::Deadlocks`].
//! - With [`Demand::Tester`], whether there is *some* error C1 to C4 of the tester (Theorem 4.1);
//!   not each of them, and an error C4 may survive only as C3.
//!
//! # Beyond the paper
//! - Where the tester is not in a livelock state and even the closure of all that it follows
//!   contains nothing enabled, it will never move again. Unless a deadlock matters there, nothing
//!   is left to be found, and the set is empty (`guided-reduction` calls this *prune*).
//! - The third choice of rule 1 for control variables is new. In a ring of customers it sees that a
//!   customer cannot get the token by just wanting it, whatever it does on its own; with
//!   Definition 2.5 alone each customer on the way to the token is explored in all its moods.
//! - Of all strong components that qualify, one with the fewest enabled actions is taken, not the
//!   first.

mod choose;
mod components;
mod flips;
mod graph;

#[doc(hidden)]
pub use choose::Rule;
pub use choose::{Demand, Offer, Scratch, Situation, StubbornSets};
pub use flips::{Flips, Outcome};

#[cfg(doc)]
use model::Relations;
