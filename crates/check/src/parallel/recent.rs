//! States that were passed on not long ago: who finds them again does not pass them on again.
//!
//! Steps that do not disturb each other lead to the same states by several ways, and states that are expanded one after the other lie close to
//! each other. So many of the states that are found were found by the same worker a moment ago. They are dropped here, in memory that stays in the
//! cache, instead of being written to their owner and looked up there.

use base::Room;

/// States by a hash, of which a place keeps the last one.
pub(crate) struct Recent {
    /// Per place, whether there is a state, and its words.
    places: Vec<u32>,
    n_places: usize,
}

impl Recent {
    /// So many states are remembered, but not more than there is room for in so many words.
    const N_PLACES: usize = 1 << 14;
    const N_WORDS: usize = 1 << 17;

    /// For states of so many words, in a small part of some room. One who is alone passes nothing on.
    pub(crate) fn new(width: usize, n_workers: usize, room: Room) -> Recent {
        let n_words = Recent::N_WORDS.min(room.part(64 * n_workers).left() as usize);
        let most = (n_words / (width + 1)).min(Recent::N_PLACES);
        let n_places = if n_workers > 1 { most } else { 0 };
        Recent { places: vec![0; n_places * (width + 1)], n_places }
    }

    /// Whether a state with this hash was passed on; from now on, it was.
    #[inline]
    pub(crate) fn has(&mut self, state: &[u32], hash: u64) -> bool {
        let size = state.len() + 1;
        let at = (((hash >> 32) * self.n_places as u64) >> 32) as usize * size;
        let Some(place) = self.places.get_mut(at..at + size) else { return false };
        let is_there = place[0] == 1 && is_same(&place[1..], state);
        if !is_there {
            place[0] = 1;
            place[1..].copy_from_slice(state);
        }
        is_there
    }

    pub(crate) fn bytes(&self) -> u64 {
        4 * self.places.capacity() as u64
    }
}

/// Whether two states are equal; for short ones without a call.
#[inline]
fn is_same(one: &[u32], other: &[u32]) -> bool {
    if one.len() <= 8 { one.iter().zip(other).all(|(a, b)| a == b) } else { one == other }
}
