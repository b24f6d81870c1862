//! Where the states that were seen are kept.
//!
//! | trait | what it is | who needs it |
//! |---|---|---|
//! | [`Visited`] | a set: was this state seen before? | depth-first search |
//! | [`Store`] | states with numbers, and back; a number says nothing about when it was given | products |
//! | [`Sequence`] | states in the order in which they were added, by a single worker | breadth-first search |
//! | [`Products`] | states of a product, with numbers as those of a `Store` | searches that need edges |
//! | [`Planes`] | two sets of states of a product | searches that need none |
//!
//! What adds takes `&mut self`, what looks takes `&self`. Where several workers share a store, each has a
//! handle of its own, with the numbers that it may give out next, and the handle implements the traits.
//!
//! | store | bytes per state | says |
//! |---|---|---|
//! | [`Exact`] | the packed state + 5 to 10 | the truth |
//! | [`Shared`](shared::Shared) | the same, for several workers | the truth |
//! | `Owned` | as `Exact`, in a part for each worker | the truth |
//! | [`Fingerprints`] | 9 to 10, of which 8 are a hash | the truth, but for a probability that it tells |
//! | [`Bitstate`], [`SharedBits`] | a few bits | "seen" wrongly now and then, so states may be missed |
//! | [`Paired`] | as the store below it; up to a word and its slots per pair | the truth |
//! | [`ExactPlanes`], [`TwoSets`] | two sets of states instead of one | as those |
//! | [`Queue`] over a `Visited` | as that one, plus the states not yet taken | as that one |

mod bitstate;
mod exact;
mod fingerprints;
pub(crate) mod owned;
pub(crate) mod packed;
mod pairs;
mod planes;
mod products;
mod queue;
pub mod shared;
mod shared_bits;
mod slots;
mod spaces;

pub use bitstate::{Bitstate, Coverage};
pub use exact::Exact;
pub use fingerprints::Fingerprints;
pub(crate) use pairs::Place;
pub use planes::{ExactPlanes, Planes, TwoSets};
pub use products::{Paired, Products};
pub use queue::Queue;
pub use shared_bits::{BitsHandle, SharedBits};

use base::Limit;

base::define_id! {
    /// A state of a store. It says nothing else, but in a [`Sequence`].
    pub struct StateId;
}

/// A set of states.
pub trait Visited {
    /// Adds a state; returns whether it is new.
    fn insert(&mut self, state: &[u32]) -> Result<bool, Limit>;

    /// Number of states added.
    fn n_states(&self) -> u64;

    /// Bytes held.
    fn bytes(&self) -> u64;

    /// The share of the states that were found, as estimated; `None` if exact.
    fn coverage(&self) -> Option<Coverage>;
}

/// A set of states with numbers. A number is given once, in whatever order, and never changes; some may be left
/// out.
pub trait Store: Visited {
    /// Adds a state; returns its number and whether it is new.
    fn insert_id(&mut self, state: &[u32]) -> Result<(StateId, bool), Limit>;

    /// Adds states that stand one after the other in `states`; puts their numbers into `ids`. A store may look
    /// them up together.
    fn insert_ids(&mut self, states: &[u32], width: usize, ids: &mut Vec<StateId>) -> Result<(), Limit> {
        ids.clear();
        for state in states.chunks_exact(width) {
            ids.push(self.insert_id(state)?.0);
        }
        Ok(())
    }

    /// The number of a state, if it is there.
    fn find(&self, state: &[u32]) -> Option<StateId>;

    /// Copies the state of a number.
    fn get(&self, id: StateId, out: &mut [u32]);
}

/// States that are numbered 0, 1, 2, … as they are added: a queue, if they are taken in that order. There is one
/// worker who adds.
pub trait Sequence: Visited {
    /// Whether every state can be got back at any time, or only those that were not released.
    const RETAINS: bool;

    /// Adds states that stand one after the other in `states`. Calls `new` with the index of each
    /// that was not there, in order. A store may look them up together.
    fn insert_all(&mut self, states: &[u32], width: usize, mut new: impl FnMut(usize)) -> Result<(), Limit> {
        for (index, state) in states.chunks_exact(width).enumerate() {
            if self.insert(state)? {
                new(index);
            }
        }
        Ok(())
    }

    /// Says that these states will be added soon. A store may read what it needs for all of them together.
    fn expect(&mut self, _states: &[u32], _width: usize) {}

    /// Does as [`Sequence::insert_all`], with some of the states that were expected last: those from this one on.
    fn insert_expected(
        &mut self,
        states: &[u32],
        width: usize,
        _from: usize,
        new: impl FnMut(usize),
    ) -> Result<(), Limit> {
        self.insert_all(states, width, new)
    }

    /// Copies the state of a number.
    fn nth(&self, id: StateId, out: &mut [u32]);

    /// The number of a state that is there, if that is known.
    fn number(&self, state: &[u32]) -> Option<StateId>;

    /// Says that states before `id` will not be asked for again.
    fn release(&mut self, id: StateId);
}

/// A well-mixed hash of a state, the same on all machines.
#[inline]
pub(crate) fn hash(state: &[u32], seed: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(bytemuck::cast_slice(state), seed)
}
