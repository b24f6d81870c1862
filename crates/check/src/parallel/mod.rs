//! Searches for several workers.
//!
//! Each worker does the same job ([`Team::run`](base::Team::run)), on a shared [store](crate::store::shared), with its own
//! share of the budget. What ends the search for one ends it for all: an `Alarm`. Where workers wait for each other, they
//! meet (`Meeting`).
//!
//! | module | does |
//! |---|---|
//! | `states` | deadlocks, invariants, faults, counts: one worker begins, others join |
//! | `rounds` | states found in one round are expanded in the next, by all |
//! | `bits` | the same over a bit array |
//! | `backward` | runs, found by going back through the rounds |
//! | `expand`, `levels` | a state is expanded; which states belong to a round |
//!
//! Verdicts, counts of complete searches, and runs do not depend on the number of workers; but where interleavings are left out,
//! what is left to be explored differs between one worker, who chooses by what it met before, and several.

mod backward;
mod bits;
mod expand;
mod levels;
mod meeting;
mod rounds;
mod states;

pub use bits::{bitstate, bitstate_shared};
pub use states::{Joins, bfs, bfs_joined, mixed, mixed_joined};
