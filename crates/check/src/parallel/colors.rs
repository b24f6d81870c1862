//! Sets of states of a product in a few colors, which several workers add to at once: exact, or in a few bits.

use base::{Limit, Room};

use super::cndfs::{Color, Colors};
use crate::store::shared::arena::Arena;
use crate::store::shared::{PairsHandle, SharedProducts};
use crate::store::{BitsHandle, Coverage, Products as _, SharedBits, StateId};
use crate::sync::{AtomicU32, Ordering};

/// What the workers share; each has a [hand](Palette::hand).
pub(super) trait Palette: Sync {
    type Hand<'h>: Colors
    where
        Self: 'h;

    fn hand(&self) -> Self::Hand<'_>;

    /// Number of distinct system states, if that is known.
    fn n_system_states(&self) -> Option<u64>;

    fn bytes(&self) -> u64;

    /// The share of the states that were found, as estimated; `None` if exact.
    fn coverage(&self) -> Option<Coverage>;
}

/// States of a product, with four bits for each.
pub(super) struct Exactly {
    products: SharedProducts,
    bits: Arena<AtomicU32>,
}

impl Exactly {
    /// For states of `width` words, the last of which is the observer's, who has about so many.
    pub(super) fn new(width: usize, n_observer_states: u64, room: Room) -> Exactly {
        let products = SharedProducts::new(width - 1, n_observer_states, room);
        Exactly { products, bits: Arena::new(1) }
    }
}

impl Palette for Exactly {
    type Hand<'h> = ExactHand<'h>;

    fn hand(&self) -> ExactHand<'_> {
        ExactHand { products: self.products.handle(), bits: &self.bits }
    }

    fn n_system_states(&self) -> Option<u64> {
        Some(self.products.n_system_states())
    }

    fn bytes(&self) -> u64 {
        self.products.bytes() + self.bits.bytes()
    }

    fn coverage(&self) -> Option<Coverage> {
        None
    }
}

pub(super) struct ExactHand<'h> {
    products: PairsHandle<'h>,
    bits: &'h Arena<AtomicU32>,
}

/// The word of a color of a state, and its bit there.
#[inline]
fn place(id: StateId, color: Color) -> (u32, u32) {
    ((id.index() / 8) as u32, 1 << (4 * (id.index() % 8) + color as usize))
}

impl Colors for ExactHand<'_> {
    const IS_LOSSY: bool = false;

    fn has(&mut self, color: Color, state: &[u32]) -> bool {
        let (system, observer) = state.split_at(state.len() - 1);
        self.products.find(system, observer[0]).is_some_and(|id| {
            let (word, mask) = place(id, color);
            self.bits.word(word, 0).is_some_and(|word| word.load(Ordering::SeqCst) & mask != 0)
        })
    }

    fn add(&mut self, color: Color, state: &[u32]) -> Result<bool, Limit> {
        let (system, observer) = state.split_at(state.len() - 1);
        let (id, _) = self.products.insert(system, observer[0])?;
        let (word, mask) = place(id, color);
        self.bits.touch(word)?;
        let word = self.bits.word(word, 0).ok_or(Limit::OutOfMemory)?;
        Ok(word.fetch_or(mask, Ordering::SeqCst) & mask == 0)
    }
}

/// A few bits per state, in an array for blue and one for red.
pub(super) struct InBits {
    blue: SharedBits,
    red: SharedBits,
}

impl InBits {
    /// Two arrays that share `bytes`, and `n_hashes` bits per state.
    pub(super) fn new(bytes: u64, n_hashes: u32) -> Result<InBits, Limit> {
        Ok(InBits { blue: SharedBits::new(bytes / 2, n_hashes)?, red: SharedBits::new(bytes / 2, n_hashes)? })
    }
}

impl Palette for InBits {
    type Hand<'h> = BitHand<'h>;

    fn hand(&self) -> BitHand<'_> {
        BitHand { blue: self.blue.handle(), red: self.red.handle(), middle: Vec::new() }
    }

    fn n_system_states(&self) -> Option<u64> {
        None
    }

    fn bytes(&self) -> u64 {
        self.blue.bytes() + self.red.bytes()
    }

    fn coverage(&self) -> Option<Coverage> {
        Some(self.blue.coverage().min(self.red.coverage()))
    }
}

pub(super) struct BitHand<'h> {
    blue: BitsHandle<'h>,
    red: BitsHandle<'h>,
    middle: Vec<u32>,
}

/// No state of an observer has this bit.
const MIDDLE: u32 = 1 << 31;

impl BitHand<'_> {
    /// What stands for the middle state before a state.
    fn middle<'m>(middle: &'m mut Vec<u32>, state: &[u32]) -> &'m [u32] {
        middle.clear();
        middle.extend_from_slice(state);
        middle.iter_mut().rev().take(1).for_each(|observer| *observer |= MIDDLE);
        middle
    }
}

impl Colors for BitHand<'_> {
    const IS_LOSSY: bool = true;

    fn has(&mut self, color: Color, state: &[u32]) -> bool {
        match color {
            Color::Blue => self.blue.contains(state),
            Color::Red => self.red.contains(state),
            Color::Middle => self.red.contains(BitHand::middle(&mut self.middle, state)),
        }
    }

    fn add(&mut self, color: Color, state: &[u32]) -> Result<bool, Limit> {
        Ok(match color {
            Color::Blue => self.blue.insert(state),
            Color::Red => self.red.insert(state),
            Color::Middle => self.red.insert(BitHand::middle(&mut self.middle, state)),
        })
    }
}
