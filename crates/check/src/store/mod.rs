//! Where the states that were seen are kept.
//!
//! A [`Visited`] set answers one question: was this state seen before? A [`Store`] also numbers
//! the states and gives them back. Methods take `&mut self`; a store shared between threads
//! implements the traits for `&Self`, as `std::io::Write` is implemented for `&File`.
//!
//! | store | bytes per state | says |
//! |---|---|---|
//! | [`Exact`] | the packed state + 5 to 7.5 | the truth |
//! | [`Bitstate`] | a few bits | "seen" wrongly now and then, so states may be missed |
//! | [`ExactPlanes`], [`BitstatePlanes`] | two sets of states instead of one | as those two |
//! | [`Queue`] over a `Visited` | as that one, plus the states not yet taken | as that one |

mod bitstate;
mod exact;
pub(crate) mod packed;
mod pairs;
mod planes;
mod queue;
mod slots;
mod spaces;

pub use bitstate::Bitstate;
pub use exact::Exact;
pub use pairs::Pairs;
pub use planes::{BitstatePlanes, ExactPlanes, Planes};
pub use queue::Queue;

use base::Limit;

base::define_id! {
    /// A state of a store. States are numbered in the order in which they were added.
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

    /// The estimated share of the states offered that were truly told apart; `None` if exact.
    fn coverage(&self) -> Option<f64>;
}

/// A set of states with numbers.
pub trait Store: Visited {
    /// Whether every state can be got back at any time, or only those that were not released.
    const RETAINS: bool;

    /// Adds a state; returns its number and whether it is new. The number of a state that is not
    /// new is only known to a store that retains its states.
    fn insert_id(&mut self, state: &[u32]) -> Result<(StateId, bool), Limit>;

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

    /// Copies the state of a number.
    fn get(&self, id: StateId, out: &mut [u32]);

    /// Says that states before `id` will not be asked for again.
    fn release(&mut self, id: StateId);
}

/// A well-mixed hash of a state, the same on all machines.
#[inline]
pub(crate) fn hash(state: &[u32], seed: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(bytemuck::cast_slice(state), seed)
}
