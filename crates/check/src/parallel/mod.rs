//! Searches for several workers.
//!
//! Each worker does the same job ([`Team::run`](base::Team::run)), with its own share of the budget: on a store in which
//! states belong to workers, or, where their numbers are needed at once, on a [shared one](crate::store::shared). What ends the search for one ends it for all: an `Alarm`. Where workers wait for each other, they
//! meet (`Meeting`).
//!
//! | module | does |
//! |---|---|
//! | `states` | deadlocks, invariants, faults, counts: one worker begins, others join |
//! | `rounds` | states found in one round are expanded in the next, by all |
//! | `posted` | over a store in parts, each of which belongs to a worker |
//! | `recent` | what was passed on not long ago, here and between processes |
//! | `bits` | the same over a bit array |
//! | `kept` | the states themselves, when all were found |
//! | `backward` | runs, found by going back through the rounds |
//! | `expand`, `levels` | a state is expanded; which states belong to a round |
//! | `components` | products by strong components that all workers share (`ufscc`, `union_find`, `rings`), instead of `couvreur` and `two_pass` |
//! | `explorer`, `inner`, `decide` | a product as one worker sees it; what it does with a component that it closed; sets that must close no cycle |
//! | `parts` | large components that lack strong fairness, for all workers |
//! | `nested`, `cndfs`, `colors` | cycles by nested depth-first search, over exact sets or bits, instead of `nested_dfs` |
//! | `layers`, `layer`, `pile` | layers of silent steps, and trimming, instead of `one_pass` |
//! | `silent` | the same over bits: each worker follows silent steps depth first |
//! | `tally` | what workers count, where they share sets alone |
//! | `notes` | how states were found, where they are not kept |
//!
//! Verdicts, counts of complete searches, and runs do not depend on the number of workers; but where interleavings are left out,
//! what is left to be explored differs between one worker, who chooses by what it met before, and several. Runs that `components`
//! finds may be others every time.

pub(crate) mod backward;
mod bits;
mod cndfs;
mod colors;
pub(crate) mod components;
pub(crate) mod decide;
pub(crate) mod expand;
mod explorer;
mod inner;
mod kept;
mod layer;
pub(crate) mod layers;
mod levels;
mod marks;
mod meeting;
mod members;
pub(crate) mod nested;
mod notes;
mod parts;
mod pile;
mod posted;
pub(crate) mod recent;
mod rings;
mod rounds;
pub(crate) mod silent;
mod states;
mod tally;
#[cfg(test)]
mod tests;
pub(crate) mod ufscc;
pub(crate) mod union_find;

pub use bits::{bitstate, bitstate_shared};
pub use kept::Kept;
pub(crate) use meeting::{Alarm, Meeting};
pub use states::{Joins, bfs, bfs_joined, keep, keep_joined, mixed, mixed_joined};
