//! Sets of states in two colors, for searches that must know more of a state than that it was seen:
//! found and entered (one pass), or seen by the outer and by the inner search (nested).

use base::{Limit, Room};

use super::{Bitstate, Coverage, Paired, Products, StateId, Visited};
use crate::paged::Paged;

/// Two sets of states of a product: the words of a system state and, last, the observer's state.
pub trait Planes {
    /// Adds a state to the first set; returns whether it is new there.
    fn insert_first(&mut self, state: &[u32]) -> Result<bool, Limit>;

    /// Adds a state to the second set; returns whether it is new there.
    fn insert_second(&mut self, state: &[u32]) -> Result<bool, Limit>;

    /// Remembers something about a state that is in a set.
    fn mark(&mut self, state: &[u32]) -> Result<(), Limit>;

    /// Whether something was remembered about a state.
    fn is_marked(&self, state: &[u32]) -> bool;

    /// Number of states in the sets together.
    fn n_states(&self) -> u64;

    /// Number of distinct system states in them, if that is known.
    fn n_system_states(&self) -> Option<u64>;

    /// Bytes held.
    fn bytes(&self) -> u64;

    /// The share of the states that were found, as estimated; `None` if exact.
    fn coverage(&self) -> Option<Coverage>;
}

/// Exact: states of a product with a bit for each set.
#[derive(Clone, Debug)]
pub struct ExactPlanes<P = Paired> {
    products: P,
    /// Four bits per number of a state: the two sets, and whether it is marked.
    colors: Paged,
}

impl ExactPlanes {
    /// Empty sets of states of `width` words, the last of which is the observer's, within some
    /// room.
    pub fn new(width: usize, room: impl Into<Room>) -> ExactPlanes {
        // Packed, unless the observer turns out to be larger.
        ExactPlanes::over(Paired::new(width - 1, 16, room))
    }
}

/// The word of a color of a state, and its bit there.
#[inline]
fn place(id: StateId, plane: usize) -> (usize, u32) {
    (id.index() / 8, 1 << (4 * (id.index() % 8) + plane))
}

impl<P: Products> ExactPlanes<P> {
    /// Empty sets, over a store that is empty.
    pub fn over(products: P) -> ExactPlanes<P> {
        ExactPlanes { products, colors: Paged::new(1) }
    }

    #[inline]
    fn insert(&mut self, state: &[u32], plane: usize) -> Result<bool, Limit> {
        let (system, observer) = state.split_at(state.len() - 1);
        let (id, _) = self.products.insert(system, observer[0])?;
        let (word, mask) = place(id, plane);
        while word >= self.colors.len() {
            self.colors.push(&[0])?;
        }
        let colors = &mut self.colors.get_mut(word)[0];
        let is_new = *colors & mask == 0;
        *colors |= mask;
        Ok(is_new)
    }
}

impl<P: Products> Planes for ExactPlanes<P> {
    fn insert_first(&mut self, state: &[u32]) -> Result<bool, Limit> {
        self.insert(state, 0)
    }

    fn insert_second(&mut self, state: &[u32]) -> Result<bool, Limit> {
        self.insert(state, 1)
    }

    fn mark(&mut self, state: &[u32]) -> Result<(), Limit> {
        self.insert(state, 2).map(|_| ())
    }

    fn is_marked(&self, state: &[u32]) -> bool {
        let (system, observer) = state.split_at(state.len() - 1);
        self.products.find(system, observer[0]).is_some_and(|id| {
            let (word, mask) = place(id, 2);
            word < self.colors.len() && self.colors.get(word)[0] & mask != 0
        })
    }

    fn n_states(&self) -> u64 {
        self.products.n_states()
    }

    fn n_system_states(&self) -> Option<u64> {
        Some(self.products.n_system_states())
    }

    fn bytes(&self) -> u64 {
        self.products.bytes() + self.colors.bytes()
    }

    fn coverage(&self) -> Option<Coverage> {
        None
    }
}

/// A store for each set, in which a state may be taken for another.
#[derive(Clone, Debug, Default)]
pub struct TwoSets<V> {
    first: V,
    second: V,
}

impl TwoSets<Bitstate> {
    /// Two arrays that share `bytes`, and `n_hashes` bits per state. `None` if the memory is not
    /// to be had.
    pub fn of_bits(bytes: u64, n_hashes: u32) -> Option<TwoSets<Bitstate>> {
        let bits = || Bitstate::new(bytes / 2, n_hashes);
        Some(TwoSets { first: bits()?, second: bits()? })
    }
}

impl<V: Visited> Planes for TwoSets<V> {
    fn insert_first(&mut self, state: &[u32]) -> Result<bool, Limit> {
        self.first.insert(state)
    }

    fn insert_second(&mut self, state: &[u32]) -> Result<bool, Limit> {
        self.second.insert(state)
    }

    /// Nothing is remembered: searches that need it refuse this store.
    fn mark(&mut self, _state: &[u32]) -> Result<(), Limit> {
        Ok(())
    }

    fn is_marked(&self, _state: &[u32]) -> bool {
        false
    }

    fn n_states(&self) -> u64 {
        // The second set is, in all searches, a part of the first or nearly so.
        self.first.n_states().max(self.second.n_states())
    }

    fn n_system_states(&self) -> Option<u64> {
        None
    }

    fn bytes(&self) -> u64 {
        self.first.bytes() + self.second.bytes()
    }

    fn coverage(&self) -> Option<Coverage> {
        Some(self.first.coverage()?.min(self.second.coverage()?))
    }
}
