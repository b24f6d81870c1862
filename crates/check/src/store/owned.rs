//! The owned store: states that several workers find, each kept by the worker that it belongs to.
//!
//! A state belongs to one part of the store, by a hash of its own. A part is an [exact](super::Exact) store, which one worker
//! at a time adds to, and which all may look at meanwhile nobody adds. So nothing is written that others are reading: what a worker looks up
//! and adds stays in the cache of its core, where in a table for all most lines would just have been written by somebody else.
//!
//! The number of a state is its number in its part, with that of the part above it.
//!
//! After Stern and Dill, *Parallelizing the Murphi verifier* (CAV 1997), whose workers are processes.

use base::{Limit, Room};

use super::{Exact, Sequence as _, StateId, Store as _, Visited as _};
use crate::sync::{AtomicU64, Ordering, RwLock, RwLockReadGuard, RwLockWriteGuard, read, write};

/// So many states are looked up together.
const TOGETHER: usize = 32;

/// Which number of which part a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbering {
    /// Bits of a number below that of the part.
    n_bits: u32,
}

impl Numbering {
    fn of_parts(n_parts: usize) -> Numbering {
        Numbering { n_bits: u32::BITS - n_parts.next_power_of_two().trailing_zeros() }
    }

    #[inline]
    pub(crate) fn number(self, part: usize, index: u32) -> u32 {
        ((part as u64) << self.n_bits) as u32 | index
    }

    #[inline]
    pub(crate) fn part(self, number: u32) -> usize {
        (u64::from(number) >> self.n_bits) as usize
    }

    #[inline]
    pub(crate) fn index(self, number: u32) -> u32 {
        (u64::from(number) & ((1 << self.n_bits) - 1)) as u32
    }
}

/// A part, alone in its lines of the cache: who adds to it disturbs nobody who adds to the next one.
#[repr(align(128))]
struct Alone(RwLock<Exact>);

/// All states, packed, each once, in parts.
pub(crate) struct Owned {
    parts: Box<[Alone]>,
    numbering: Numbering,
    width: usize,
    n_states: AtomicU64,
    bytes: AtomicU64,
}

impl Owned {
    /// An empty store for states of `width` words in so many parts, within some room.
    pub(crate) fn new(width: usize, n_parts: usize, room: impl Into<Room>) -> Owned {
        let room = room.into().part(n_parts);
        Owned {
            parts: (0..n_parts).map(|_| Alone(RwLock::new(Exact::new(width, room)))).collect(),
            numbering: Numbering::of_parts(n_parts),
            width,
            n_states: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// Words per state.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn n_parts(&self) -> usize {
        self.parts.len()
    }

    pub(crate) fn numbering(&self) -> Numbering {
        self.numbering
    }

    /// Number of states.
    #[inline]
    pub(crate) fn n_states(&self) -> u64 {
        self.n_states.load(Ordering::Relaxed)
    }

    /// Bytes held.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The part that a state belongs to.
    #[inline]
    pub(crate) fn part_of(&self, state: &[u32]) -> usize {
        self.part_of_hash(Exact::hash(state))
    }

    /// The same for a state with this hash, as stores have it. The lower half counts, so that a part's states are spread in its table.
    #[inline]
    pub(crate) fn part_of_hash(&self, hash: u64) -> usize {
        ((u64::from(hash as u32) * self.parts.len() as u64) >> 32) as usize
    }

    /// One of the parts, to add to. Nobody looks at it meanwhile.
    pub(crate) fn part(&self, part: usize) -> Part<'_> {
        let exact = write(&self.parts[part].0);
        let before = (exact.n_states(), exact.bytes());
        Part { store: self, part, exact, before }
    }

    /// How many slots all parts should have before the next turn, if there were so many states before the last one: as they are, as long as no part must
    /// grow soon. Nobody adds anything meanwhile.
    pub(crate) fn n_slots_ahead(&self, n_before: u64) -> usize {
        let (n_states, n_parts) = (self.n_states(), self.parts.len() as u64);
        let average = n_states / n_parts;
        // Parts differ by chance, and there may be more new states than in the last turn.
        let more = 2 * n_states.saturating_sub(n_before) / n_parts + 4 * average.isqrt() + 16;
        let view = self.view();
        let ahead = |part: &RwLockReadGuard<'_, Exact>| part.n_slots_for(average + more, average);
        match view.parts.iter().any(|part| ahead(part) > part.n_slots()) {
            true => view.parts.iter().map(ahead).max().unwrap_or(0),
            false => 0,
        }
    }

    /// The numbers of all states, as ranges.
    pub(crate) fn segments(&self) -> Vec<(u32, u32)> {
        let number = |part, index| self.numbering.number(part, index);
        let ends = self.view().ends().into_iter().enumerate();
        ends.map(|(part, end)| (number(part, 0), number(part, 0) + end)).collect()
    }

    /// Looks at all parts, as long as nobody wants to add anything.
    pub(crate) fn view(&self) -> View<'_> {
        View { numbering: self.numbering, parts: self.parts.iter().map(|part| read(&part.0)).collect() }
    }
}

/// A part of a store, for the one who adds to it. What was added is counted when it goes.
pub(crate) struct Part<'s> {
    store: &'s Owned,
    part: usize,
    exact: RwLockWriteGuard<'s, Exact>,
    /// States and bytes that were counted.
    before: (u64, u64),
}

impl Part<'_> {
    /// Makes its table so large, if it is smaller.
    pub(crate) fn grow_to(&mut self, n_slots: usize) -> Result<(), Limit> {
        self.exact.grow_to(n_slots)
    }

    /// Slots of its table.
    #[cfg(test)]
    pub(crate) fn n_slots(&self) -> usize {
        self.exact.n_slots()
    }

    /// Adds states that belong here, one after the other in `states`. Calls `new` with the number and the words of each that
    /// was not there.
    pub(crate) fn add(&mut self, states: &[u32], mut new: impl FnMut(u32, &[u32])) -> Result<(), Limit> {
        let Part { store, part, exact, .. } = self;
        let most: u64 = 1 << store.numbering.n_bits;
        for some in states.chunks(TOGETHER * store.width) {
            if exact.n_states() + TOGETHER as u64 >= most {
                return Err(Limit::States(store.n_states()));
            }
            let mut next = exact.n_states() as u32;
            exact.insert_all(some, store.width, |index| {
                new(store.numbering.number(*part, next), &some[store.width * index..][..store.width]);
                next += 1;
            })?;
        }
        Ok(())
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        let (n_states, bytes) = self.before;
        self.store.n_states.fetch_add(self.exact.n_states() - n_states, Ordering::Relaxed);
        self.store.bytes.fetch_add(self.exact.bytes().wrapping_sub(bytes), Ordering::Relaxed);
    }
}

/// A look at the states that are there, while nobody adds any.
pub(crate) struct View<'s> {
    numbering: Numbering,
    parts: Vec<RwLockReadGuard<'s, Exact>>,
}

impl View<'_> {
    /// Copies the state of a number.
    #[inline]
    pub(crate) fn get(&self, number: u32, out: &mut [u32]) {
        let index = self.numbering.index(number) as usize;
        self.parts[self.numbering.part(number)].nth(StateId::new(index), out);
    }

    /// The number that a state has in its part, if it is there.
    #[inline]
    pub(crate) fn find_in(&self, part: usize, state: &[u32]) -> Option<u32> {
        self.parts[part].find(state).map(|id| id.index() as u32)
    }

    /// How many states each part has.
    pub(crate) fn ends(&self) -> Vec<u32> {
        self.parts.iter().map(|part| part.n_states() as u32).collect()
    }
}
