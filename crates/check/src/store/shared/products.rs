//! The states of a product that several workers add at once.
//!
//! As in [`Paired`](crate::store::Paired), a system state is stored once, and its *first* observer state in a byte, which is
//! 0 until somebody puts it there: the pair has the number of its system state. Other pairs, and those of which the observer state does not fit
//! in a byte, are in stores of their own: one word where
//! both numbers fit, two otherwise. All stores take their numbers from one stock, in blocks, so a number is of one kind.
//!
//! A byte for a first pair beside its system state, 9 to 10.25 for another one, or 13 to 14.25.

use base::{Limit, Room};

use super::arena::{Arena, Cell, Numbers};
use super::{Handle, Shared};
use crate::store::{Products, StateId, Store, Visited};
use crate::sync::{Arc, AtomicU8, AtomicU64, Ordering};

/// So many bits of a word at most are for the observer state.
const MOST_BITS: u32 = 8;

/// From this one on, observer states do not fit in a byte with 0 for none.
const MOST_FIRSTS: u32 = 255;

/// Pairs of a system state and an observer state; by way of [handles](SharedProducts::handle).
pub struct SharedProducts {
    systems: Shared,
    /// Per system state: the observer state of its first pair, plus one; 0 if there is none.
    firsts: Arena<AtomicU8>,
    /// Other pairs, in a word each: the system state above, and below the observer state, which has so many bits.
    narrow: Shared,
    n_bits: u32,
    /// Those that do not fit.
    wide: Shared,
    numbers: Arc<Numbers>,
    /// First pairs, but for those that handles did not tell yet.
    n_firsts: AtomicU64,
}

impl SharedProducts {
    /// No pairs of system states of `width` words and an observer with about so many states, within some room.
    pub fn new(width: usize, n_observer_states: u64, room: impl Into<Room>) -> SharedProducts {
        let (room, numbers) = (room.into(), Arc::<Numbers>::default());
        let of = |width| Shared::numbered(width, room, Arc::clone(&numbers));
        SharedProducts {
            systems: of(width),
            firsts: Arena::new(1),
            narrow: of(1),
            n_bits: (u64::BITS - n_observer_states.leading_zeros()).clamp(1, MOST_BITS),
            wide: of(2),
            numbers,
            n_firsts: AtomicU64::new(0),
        }
    }

    /// A handle for one worker.
    pub fn handle(&self) -> PairsHandle<'_> {
        let [systems, narrow, wide] = [&self.systems, &self.narrow, &self.wide].map(Shared::handle);
        PairsHandle { store: self, systems, narrow, wide, system_ids: Vec::new(), n_firsts: 0 }
    }

    /// Number of pairs, but for some that workers have added since they told.
    pub fn n_states(&self) -> u64 {
        self.n_firsts.load(Ordering::Relaxed) + self.narrow.n_states() + self.wide.n_states()
    }

    /// Number of system states, likewise.
    pub fn n_system_states(&self) -> u64 {
        self.systems.n_states()
    }

    /// All numbers are smaller.
    pub fn n_ids(&self) -> usize {
        self.numbers.end()
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.systems.bytes() + self.firsts.bytes() + self.narrow.bytes() + self.wide.bytes()
    }

    /// The number of the system state and the observer state of a pair.
    #[inline]
    fn parts(&self, id: StateId) -> (StateId, u32) {
        if self.systems.has(id) {
            return (id, self.first(id).wrapping_sub(1));
        }
        let mut pair = [0; 2];
        if self.narrow.has(id) {
            self.narrow.get(id, &mut pair[..1]);
            return (StateId::new((pair[0] >> self.n_bits) as usize), pair[0] & ((1 << self.n_bits) - 1));
        }
        self.wide.get(id, &mut pair);
        (StateId::new(pair[0] as usize), pair[1])
    }

    /// The first observer state that a system state met, plus one; 0 if there is none.
    #[inline]
    fn first(&self, system: StateId) -> u32 {
        let first = self.firsts.word(system.index() as u32, 0);
        first.map_or(0, |first| Cell::load(first, Ordering::Acquire) as u32)
    }

    /// Makes an observer state the first that a system state met, unless there is one; returns it then, plus one.
    #[inline]
    fn make_first(&self, system: StateId, observer: u32) -> Result<u32, Limit> {
        let number = system.index() as u32;
        if !self.firsts.has(number) {
            self.firsts.touch(number)?;
        }
        let first = self.firsts.word(number, 0).ok_or(Limit::OutOfMemory)?;
        match Cell::load(first, Ordering::Acquire) as u32 {
            0 if observer < MOST_FIRSTS && first.swap_if(0, u64::from(observer + 1), Ordering::AcqRel) => {
                Ok(0)
            }
            0 => Ok(Cell::load(first, Ordering::Acquire) as u32),
            there => Ok(there),
        }
    }

    /// A pair in a word, if it fits.
    #[inline]
    fn in_word(&self, system: StateId, observer: u32) -> Option<u32> {
        let fits = system.index() >> (u32::BITS - self.n_bits) == 0 && observer >> self.n_bits == 0;
        fits.then(|| (system.index() as u32) << self.n_bits | observer)
    }

    /// Copies the system state of a pair; returns the observer state.
    #[inline]
    pub fn get(&self, id: StateId, system: &mut [u32]) -> u32 {
        let (number, observer) = self.parts(id);
        self.systems.get(number, system);
        observer
    }

    /// The observer state of a pair.
    #[inline]
    pub fn observer_state(&self, id: StateId) -> u32 {
        self.parts(id).1
    }
}

/// What one worker adds pairs by.
pub struct PairsHandle<'s> {
    store: &'s SharedProducts,
    systems: Handle<'s>,
    narrow: Handle<'s>,
    wide: Handle<'s>,
    system_ids: Vec<StateId>,
    /// First pairs that were added and not told.
    n_firsts: u32,
}

/// First pairs are told in so many at most.
const MANY: u32 = 1024;

impl<'s> PairsHandle<'s> {
    /// The store.
    pub fn store(&self) -> &'s SharedProducts {
        self.store
    }

    /// Tells the store how many pairs were added since the last time.
    pub fn tell(&mut self) {
        self.store.n_firsts.fetch_add(u64::from(std::mem::take(&mut self.n_firsts)), Ordering::Relaxed);
        self.systems.tell();
        self.narrow.tell();
        self.wide.tell();
    }

    /// Adds a pair whose system state is stored.
    #[inline]
    fn insert_pair(&mut self, system: StateId, observer: u32) -> Result<(StateId, bool), Limit> {
        let there = self.store.make_first(system, observer)?;
        if there == 0 && observer < MOST_FIRSTS {
            self.n_firsts += 1;
            if self.n_firsts == MANY {
                self.tell();
            }
            return Ok((system, true));
        }
        if there == observer + 1 {
            return Ok((system, false));
        }
        match self.store.in_word(system, observer) {
            Some(pair) => self.narrow.insert_id(&[pair]),
            None => self.wide.insert_id(&[system.index() as u32, observer]),
        }
    }
}

impl Drop for PairsHandle<'_> {
    fn drop(&mut self) {
        self.tell();
    }
}

impl Products for PairsHandle<'_> {
    #[inline]
    fn insert(&mut self, system: &[u32], observer: u32) -> Result<(StateId, bool), Limit> {
        let (system, _) = self.systems.insert_id(system)?;
        self.insert_pair(system, observer)
    }

    #[inline]
    fn insert_all(
        &mut self,
        systems: &[u32],
        width: usize,
        pairs: impl Iterator<Item = (u32, u32)>,
        ids: &mut Vec<(StateId, bool)>,
    ) -> Result<(), Limit> {
        let mut system_ids = std::mem::take(&mut self.system_ids);
        self.systems.insert_ids(systems, width, &mut system_ids)?;
        ids.clear();
        for (place, observer) in pairs {
            ids.push(self.insert_pair(system_ids[place as usize], observer)?);
        }
        self.system_ids = system_ids;
        Ok(())
    }

    #[inline]
    fn find(&self, system: &[u32], observer: u32) -> Option<StateId> {
        let system = self.systems.find(system)?;
        match self.store.first(system) {
            first if first == observer + 1 => return Some(system),
            0 if observer < MOST_FIRSTS => return None,
            _ => {}
        }
        match self.store.in_word(system, observer) {
            Some(pair) => self.narrow.find(&[pair]),
            None => self.wide.find(&[system.index() as u32, observer]),
        }
    }

    #[inline]
    fn get(&self, id: StateId, system: &mut [u32]) -> u32 {
        self.store.get(id, system)
    }

    #[inline]
    fn observer_state(&self, id: StateId) -> u32 {
        self.store.observer_state(id)
    }

    /// What others have added since they told is not counted.
    fn n_states(&self) -> u64 {
        let firsts = self.store.n_firsts.load(Ordering::Relaxed) + u64::from(self.n_firsts);
        firsts + self.narrow.n_states() + self.wide.n_states()
    }

    fn n_system_states(&self) -> u64 {
        self.systems.n_states()
    }

    fn n_ids(&self) -> usize {
        self.store.n_ids()
    }

    /// Those that others add meanwhile may be missing.
    fn ids(&self) -> impl Iterator<Item = StateId> {
        let SharedProducts { systems, narrow, wide, .. } = self.store;
        let [systems, narrow, wide] = [systems, narrow, wide].map(Shared::used);
        let is_first =
            move |number: u32| systems(number) && self.store.first(StateId::new(number as usize)) != 0;
        let used = move |&number: &u32| is_first(number) || narrow(number) || wide(number);
        (0..self.store.n_ids() as u32).filter(used).map(|number| StateId::new(number as usize))
    }

    fn bytes(&self) -> u64 {
        self.store.bytes()
    }
}
