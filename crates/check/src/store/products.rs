//! The states of a product: a system state and an observer state, each pair once, numbered.

use base::{Limit, Room};

use super::pairs::{Pairs, Place};
use super::{Exact, StateId, Store};

/// Pairs of a system state and an observer state. A number is given once, in whatever order, and never changes.
pub trait Products {
    /// Adds a pair; returns its number and whether it is new.
    fn insert(&mut self, system: &[u32], observer: u32) -> Result<(StateId, bool), Limit>;

    /// Adds pairs, each given by the place of a state among `systems`, which stand one after the other, and an
    /// observer state; puts their numbers into `ids`, and whether they are new. They may be looked up together.
    fn insert_all(
        &mut self,
        systems: &[u32],
        width: usize,
        pairs: impl Iterator<Item = (u32, u32)>,
        ids: &mut Vec<(StateId, bool)>,
    ) -> Result<(), Limit>;

    /// The number of a pair, if it is there.
    fn find(&self, system: &[u32], observer: u32) -> Option<StateId>;

    /// Copies the system state of a pair; returns the observer state.
    fn get(&self, id: StateId, system: &mut [u32]) -> u32;

    /// The observer state of a pair.
    fn observer_state(&self, id: StateId) -> u32;

    /// Number of pairs.
    fn n_states(&self) -> u64;

    /// Number of distinct system states.
    fn n_system_states(&self) -> u64;

    /// All numbers of pairs are smaller than this. There may be a few more of them than pairs.
    fn n_ids(&self) -> usize;

    /// The numbers of all pairs, in order.
    fn ids(&self) -> impl Iterator<Item = StateId>;

    /// Bytes held.
    fn bytes(&self) -> u64;
}

/// A system state is stored once, however many observer states it meets; a pair is its number and the
/// observer state.
#[derive(Clone, Debug)]
pub struct Paired<S = Exact> {
    systems: S,
    pairs: Pairs,
    system_ids: Vec<StateId>,
    words: Vec<u32>,
}

impl Paired {
    /// No pairs of system states of `width` words and observers with so many states, within some
    /// room.
    pub fn new(width: usize, n_observer_states: u64, room: impl Into<Room>) -> Paired {
        let room = room.into();
        Paired::over(Exact::new(width, room), n_observer_states, room)
    }
}

impl<S: Store> Paired<S> {
    /// No pairs, over a store that is empty.
    pub fn over(systems: S, n_observer_states: u64, room: impl Into<Room>) -> Paired<S> {
        let pairs = Pairs::new(n_observer_states, room.into());
        Paired { systems, pairs, system_ids: Vec::new(), words: Vec::new() }
    }
}

/// Pairs stand in two sequences, side by side, in the order in which they were added.
impl<S: Store> Paired<S> {
    /// How long both are.
    pub(crate) fn lens(&self) -> [u32; 2] {
        self.pairs.lens()
    }

    /// The number of the pair at a place.
    #[inline]
    pub(crate) fn id_at(&self, place: Place) -> StateId {
        self.pairs.id_at(place)
    }

    /// The place of a number; behind all others, if the number is not in use.
    #[inline]
    pub(crate) fn place_of(&self, id: StateId) -> Place {
        self.pairs.place_of(id)
    }
}

impl<S: Store> Products for Paired<S> {
    #[inline]
    fn insert(&mut self, system: &[u32], observer: u32) -> Result<(StateId, bool), Limit> {
        let (system, _) = self.systems.insert_id(system)?;
        self.pairs.insert([system.index() as u32, observer])
    }

    #[inline]
    fn insert_all(
        &mut self,
        systems: &[u32],
        width: usize,
        pairs: impl Iterator<Item = (u32, u32)>,
        ids: &mut Vec<(StateId, bool)>,
    ) -> Result<(), Limit> {
        self.systems.insert_ids(systems, width, &mut self.system_ids)?;
        self.words.clear();
        for (place, observer) in pairs {
            self.words.extend([self.system_ids[place as usize].index() as u32, observer]);
        }
        self.pairs.insert_all(&self.words, ids)
    }

    #[inline]
    fn find(&self, system: &[u32], observer: u32) -> Option<StateId> {
        let system = self.systems.find(system)?;
        self.pairs.find([system.index() as u32, observer])
    }

    #[inline]
    fn get(&self, id: StateId, system: &mut [u32]) -> u32 {
        let [number, observer] = self.pairs.get(id);
        self.systems.get(StateId::new(number as usize), system);
        observer
    }

    fn observer_state(&self, id: StateId) -> u32 {
        self.pairs.get(id)[1]
    }

    fn n_states(&self) -> u64 {
        self.pairs.n_states()
    }

    fn n_system_states(&self) -> u64 {
        self.systems.n_states()
    }

    #[inline]
    fn n_ids(&self) -> usize {
        self.pairs.n_ids()
    }

    fn ids(&self) -> impl Iterator<Item = StateId> {
        self.pairs.ids()
    }

    fn bytes(&self) -> u64 {
        self.systems.bytes() + self.pairs.bytes()
    }
}
