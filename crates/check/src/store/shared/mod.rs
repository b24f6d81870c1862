//! The shared store: states that several workers add at once.
//!
//! It has an *arena* of packed states, which never move, and a *table* of their numbers. A state is written into the
//! arena first, under a number that its worker has in stock; then one compare-and-swap of an empty slot publishes the number.
//! Nobody waits for a slot that is half written, since there is none. Who loses the race keeps the number for the next
//! state. Adding takes no lock that anybody else wants, but where the table grows (`table`).
//!
//! A worker has a [`Handle`], with a block of numbers to give out: so numbers are not in the order of adding, and a few are
//! never used.
//!
//! Searches use it for products, in which workers need the number of a state at once, and what others know of it. Where a state may wait
//! for the one to whom it belongs, an owned (`super::owned`) store is faster.
//!
//! After Laarman, van de Pol and Weber, *Boosting multi-core reachability performance with shared hash tables* (FMCAD 2010),
//! who claim a slot, copy the state, and release the slot; there, numbers are places in the table, so that everything that
//! belongs to a state moves when the table grows. Here, numbers stay what they are.
//!
//! 5 to 6.25 bytes per state beside the packed one.

pub(crate) mod arena;
mod products;
mod table;

pub use products::{PairsHandle, SharedProducts};

use std::hint::black_box;

use base::{Limit, Room};

use self::arena::{Arena, Leftovers, Numbers};
use self::table::{Gate, Growing, Own, Parts, Probe, hash_of, is_within};
use super::{Coverage, StateId, Store, Visited};
use crate::sync::{Arc, AtomicU64, Mutant, Ordering, is, lock};

/// All states, packed, each once; by way of [handles](Shared::handle).
pub struct Shared {
    arena: Arena,
    growing: Growing,
    numbers: Arc<Numbers>,
    leftovers: Leftovers,
    /// States that were added, but for those that handles did not tell yet.
    n_states: AtomicU64,
    room: Room,
}

impl Shared {
    /// An empty store for states of `width` words within some room.
    pub fn new(width: usize, room: impl Into<Room>) -> Shared {
        Shared::numbered(width, room.into(), Arc::default())
    }

    /// The same with numbers that others use, too: no two have the same.
    fn numbered(width: usize, room: Room, numbers: Arc<Numbers>) -> Shared {
        Shared {
            arena: Arena::new(width),
            growing: Growing::new(),
            numbers,
            leftovers: Leftovers::default(),
            n_states: AtomicU64::new(0),
            room,
        }
    }

    /// Words per state.
    pub fn width(&self) -> usize {
        self.arena.width()
    }

    /// The numbers that were given out and are not in use at this moment, as sorted ranges.
    pub(crate) fn unused(&self) -> Vec<(u32, u32)> {
        self.growing.unused(&self.leftovers)
    }

    /// A handle for one worker.
    pub fn handle(&self) -> Handle<'_> {
        Handle { store: self, gate: self.growing.enter(), hashes: Vec::new() }
    }

    /// Number of states added, but for some that workers have added since they told.
    pub fn n_states(&self) -> u64 {
        self.n_states.load(Ordering::Relaxed)
    }

    /// All numbers are smaller.
    pub fn n_ids(&self) -> usize {
        self.numbers.end()
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.arena.bytes() + self.growing.bytes()
    }

    /// Copies the state of a number.
    #[inline]
    pub fn get(&self, id: StateId, out: &mut [u32]) {
        self.arena.read(id.index() as u32, out);
    }

    /// Whether a number is from a block of this store.
    #[inline]
    fn has(&self, id: StateId) -> bool {
        self.arena.has(id.index() as u32)
    }

    /// Tells which numbers are in use.
    fn used(&self) -> impl Fn(u32) -> bool {
        let unused = self.unused();
        move |number| self.arena.has(number) && !is_within(&unused, number)
    }

    /// Notes which numbers a worker has given out since it told.
    fn tell(&self, own: &mut Own) {
        if own.from < own.next {
            self.n_states.fetch_add(u64::from(own.next - own.from), Ordering::Relaxed);
            own.from = own.next;
        }
    }

    /// Puts a new state at an empty place of a chain, or finds that it is not new. Nothing if there is no number left.
    #[inline]
    fn add(&self, own: &mut Own, state: &[u32], hash: u64) -> Option<(StateId, bool)> {
        let table = own.table.as_ref()?;
        let mut at = table.home(hash);
        loop {
            match table.probe(&self.arena, state, hash, at) {
                Probe::Known(number) => return Some((StateId::new(number as usize), false)),
                Probe::Empty(_) if own.next == own.end => return None,
                Probe::Empty(empty) => {
                    let number = own.next;
                    if !is(Mutant::PublishFirst) {
                        self.arena.write(number, state);
                    }
                    if table.publish(empty, number, hash) {
                        if is(Mutant::PublishFirst) {
                            self.arena.write(number, state);
                        }
                        own.next += 1;
                        return Some((StateId::new(number as usize), true));
                    }
                    at = if is(Mutant::SkipAfterRace) { table.after(empty) } else { empty };
                }
            }
        }
    }
}

impl Shared {
    /// Reads the slots that will be needed, and the states they point to, all at once.
    #[inline]
    fn warm_up(&self, own: &Own, hashes: &[u64]) {
        let Some(table) = &own.table else { return };
        let mut touched = 0;
        for &hash in hashes {
            touched ^= table.touch(hash);
        }
        black_box(touched);
        for &hash in hashes {
            if let Some(first) = table.first_like(hash).and_then(|number| self.arena.record(number).first()) {
                touched ^= first.load(Ordering::Relaxed);
            }
        }
        black_box(touched);
    }

    /// Gives a worker the table again that was taken away, or more numbers.
    #[cold]
    fn stock_up(&self, gate: &Gate) -> Result<(), Limit> {
        let Shared { arena, growing, numbers, leftovers, room, .. } = self;
        let parts = Parts { numbers, leftovers, room: *room };
        growing.stock_up(arena, gate, &parts, |own| self.tell(own))
    }
}

/// What one worker adds states by.
pub struct Handle<'s> {
    store: &'s Shared,
    gate: Arc<Gate>,
    hashes: Vec<u64>,
}

impl<'s> Handle<'s> {
    /// The store.
    pub fn store(&self) -> &'s Shared {
        self.store
    }

    /// Adds states that stand one after the other in `states`. Calls `each` with the index, the number, and whether it is new.
    /// They are looked up together.
    #[inline]
    pub fn insert_each(
        &mut self,
        states: &[u32],
        width: usize,
        mut each: impl FnMut(usize, StateId, bool),
    ) -> Result<(), Limit> {
        let Handle { store, gate, hashes } = self;
        hashes.clear();
        hashes.extend(states.chunks_exact(width).map(hash_of));
        let mut own = lock(&gate.0);
        store.warm_up(&own, hashes);
        for (index, state) in states.chunks_exact(width).enumerate() {
            let (id, is_new) = loop {
                match store.add(&mut own, state, hashes[index]) {
                    Some(added) => break added,
                    None => {
                        drop(own);
                        store.stock_up(gate)?;
                        own = lock(&gate.0);
                    }
                }
            };
            each(index, id, is_new);
        }
        Ok(())
    }

    /// Tells the store how many states were added since the last time. Handles do so now and then by themselves.
    pub fn tell(&mut self) {
        self.store.tell(&mut lock(&self.gate.0));
    }
}

impl Drop for Handle<'_> {
    fn drop(&mut self) {
        self.tell();
        self.store.growing.leave(&self.gate, &self.store.leftovers);
    }
}

impl Visited for Handle<'_> {
    #[inline]
    fn insert(&mut self, state: &[u32]) -> Result<bool, Limit> {
        Ok(self.insert_id(state)?.1)
    }

    /// What others have added since they told is not counted.
    fn n_states(&self) -> u64 {
        let own = lock(&self.gate.0);
        self.store.n_states() + u64::from(own.next - own.from)
    }

    fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    fn coverage(&self) -> Option<Coverage> {
        None
    }
}

impl Store for Handle<'_> {
    #[inline]
    fn insert_id(&mut self, state: &[u32]) -> Result<(StateId, bool), Limit> {
        let mut added = (StateId::new(0), false);
        self.insert_each(state, state.len(), |_, id, is_new| added = (id, is_new))?;
        Ok(added)
    }

    #[inline]
    fn insert_ids(&mut self, states: &[u32], width: usize, ids: &mut Vec<StateId>) -> Result<(), Limit> {
        ids.clear();
        self.insert_each(states, width, |_, id, _| ids.push(id))
    }

    #[inline]
    fn find(&self, state: &[u32]) -> Option<StateId> {
        let hash = hash_of(state);
        loop {
            let own = lock(&self.gate.0);
            if let Some(table) = &own.table {
                return match table.probe(&self.store.arena, state, hash, table.home(hash)) {
                    Probe::Known(number) => Some(StateId::new(number as usize)),
                    Probe::Empty(_) => None,
                };
            }
            drop(own);
            // There is no table any more if there was no memory for a larger one: then nothing is found.
            self.store.growing.hand_out(&self.store.arena, &self.gate).ok()?;
        }
    }

    #[inline]
    fn get(&self, id: StateId, out: &mut [u32]) {
        self.store.get(id, out);
    }
}
