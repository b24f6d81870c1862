//! The table of a shared store: slots that change once, and how all workers make a larger one.
//!
//! A slot is 0, or the number of a state (plus one) below some bits of its hash, as in the [exact](super::super::Exact) store. It
//! changes once, from 0, by a compare-and-swap, and the state was written before. So whoever sees a number sees the
//! state's words, and two workers who add equal states meet at the same slot: the slower one sees what the other wrote.
//!
//! # Growing
//! A worker looks at the table only behind its own *gate*, a lock that nobody else wants but who makes the
//! table larger. That one takes the table away from all gates, one after the other; when the last one is through, nobody
//! uses it, and it is dropped. Workers who find their gate without a table help to fill the new one, from the arena: a block of
//! numbers at a time. Who fills the last block puts the new table up, and all go on.
//!
//! Numbers that were given out and not used yet are passed over: at that moment nobody can be using them.

use std::hint::black_box;
use std::mem::take;

use base::{Limit, Room};

use super::arena::{Arena, BLOCK, Cell as _, Leftovers, Numbers, first_of_pages};
use crate::store::hash;
use crate::sync::{
    Arc, AtomicU32, AtomicU64, Condvar, MIN_SLOTS, Mutant, Mutex, MutexGuard, Ordering, is, lock, wait, zeros,
};

const SEED: u64 = 0;

/// From so many slots on, tables are large.
const LARGE: u64 = 1 << 16;

/// The hash of a state.
#[inline]
pub(super) fn hash_of(state: &[u32]) -> u64 {
    hash(state, SEED)
}

/// Slots of 32 bits, and how many of these are the number.
pub(super) struct Table {
    slots: Box<[AtomicU32]>,
    id_bits: u32,
}

/// What was met along a chain.
pub(super) enum Probe {
    /// The state is there.
    Known(u32),
    /// It is not; an empty slot is there, where it belongs.
    Empty(usize),
}

impl Table {
    fn new(len: usize, least_end: usize) -> Option<Table> {
        let id_bits = (usize::BITS - len.max(least_end).leading_zeros()).min(32);
        Some(Table { slots: zeros(len)?, id_bits })
    }

    fn bytes(&self) -> u64 {
        4 * self.slots.len() as u64
    }

    /// How many slots may be used: four fifths, so that chains stay short.
    fn capacity(&self) -> usize {
        self.slots.len() / 5 * 4
    }

    #[inline]
    pub(super) fn home(&self, hash: u64) -> usize {
        (((hash >> 32) * self.slots.len() as u64) >> 32) as usize
    }

    #[inline]
    fn tag(&self, hash: u64) -> u32 {
        ((hash as u32 as u64) << self.id_bits) as u32
    }

    #[inline]
    fn mask(&self) -> u32 {
        ((1u64 << self.id_bits) - 1) as u32
    }

    /// Reads the slot where the chain of a hash begins.
    #[inline]
    pub(super) fn touch(&self, hash: u64) -> u32 {
        self.slots[self.home(hash)].load(Ordering::Relaxed)
    }

    /// The first number in the chain of a hash that may be the one that is wanted.
    #[inline]
    pub(super) fn first_like(&self, hash: u64) -> Option<u32> {
        let (tag, mask) = (self.tag(hash), self.mask());
        let mut at = self.home(hash);
        loop {
            let slot = self.slots[at].load(Ordering::Acquire);
            if slot == 0 {
                return None;
            }
            if slot & !mask == tag {
                return Some((slot & mask) - 1);
            }
            at = self.after(at);
        }
    }

    /// Goes along the chain of a state, from a slot on.
    #[inline]
    pub(super) fn probe(&self, arena: &Arena, state: &[u32], hash: u64, from: usize) -> Probe {
        let (tag, mask) = (self.tag(hash), self.mask());
        let mut at = from;
        loop {
            let slot = self.slots[at].load(Ordering::Acquire);
            if slot == 0 {
                return Probe::Empty(at);
            }
            if slot & !mask == tag && arena.is((slot & mask) - 1, state) {
                return Probe::Known((slot & mask) - 1);
            }
            at = self.after(at);
        }
    }

    #[inline]
    pub(super) fn after(&self, at: usize) -> usize {
        if at + 1 == self.slots.len() { 0 } else { at + 1 }
    }

    /// Puts a number into a slot that was empty, unless somebody else was faster.
    #[inline]
    pub(super) fn publish(&self, at: usize, number: u32, hash: u64) -> bool {
        let slot = self.tag(hash) | (number + 1);
        self.slots[at].compare_exchange(0, slot, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Whether all numbers before this one fit in slots.
    fn can_name(&self, end: u32) -> bool {
        u64::from(end) < 1 << self.id_bits
    }
}

/// What a worker has: the table, as long as nobody takes it away, and numbers that it may give out.
#[derive(Default)]
pub(super) struct Own {
    pub(super) table: Option<Arc<Table>>,
    pub(super) next: u32,
    pub(super) end: u32,
    /// Since when the numbers are one after the other.
    pub(super) from: u32,
}

/// A worker's gate, alone in its lines of the cache.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Gate(pub(super) Mutex<Own>);

/// A table that is being filled.
struct Filling {
    table: Arc<Table>,
    /// Ranges of numbers that are not in use.
    unused: Vec<(u32, u32)>,
    /// The next part of its memory to be written to.
    next_part: AtomicU32,
    /// The next block to be filled in.
    next: AtomicU32,
    /// Blocks that are not filled in.
    left: AtomicU32,
    end: usize,
}

enum State {
    Ready(Arc<Table>),
    Filling(Arc<Filling>),
    /// There was no memory for a larger one, and the old one is gone.
    Gone,
}

struct Inner {
    state: State,
    gates: Vec<Arc<Gate>>,
    /// States that may be added: as many as numbers were given out.
    n_reserved: usize,
}

impl Inner {
    /// The numbers that were given out and are not in use, as sorted ranges. Every worker is interrupted for a moment.
    fn unused(&self, leftovers: &Leftovers, mut each: impl FnMut(&mut Own)) -> Vec<(u32, u32)> {
        let mut unused = leftovers.list();
        for gate in &self.gates {
            let mut own = lock(&gate.0);
            each(&mut own);
            // An empty range would hide the one before it.
            unused.extend((own.next < own.end).then_some((own.next, own.end)));
        }
        unused.sort_unstable();
        unused
    }
}

/// The table that is used, and who uses it.
pub(super) struct Growing {
    inner: Mutex<Inner>,
    /// Called when a table is ready.
    ready: Condvar,
    bytes: AtomicU64,
}

impl Growing {
    /// An empty table.
    pub(super) fn new() -> Growing {
        let table = Table::new(MIN_SLOTS, 0);
        let bytes = AtomicU64::new(table.as_ref().map_or(0, Table::bytes));
        let state = table.map_or(State::Gone, |table| State::Ready(Arc::new(table)));
        let inner = Mutex::new(Inner { state, gates: Vec::new(), n_reserved: 0 });
        Growing { inner, ready: Condvar::new(), bytes }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The numbers that are not in use at this moment, as sorted ranges.
    pub(super) fn unused(&self, leftovers: &Leftovers) -> Vec<(u32, u32)> {
        lock(&self.inner).unused(leftovers, |_| {})
    }

    /// A gate for one more worker.
    pub(super) fn enter(&self) -> Arc<Gate> {
        let gate = Arc::new(Gate::default());
        lock(&self.inner).gates.push(Arc::clone(&gate));
        gate
    }

    /// A worker leaves, and gives back the numbers that it did not use.
    pub(super) fn leave(&self, gate: &Arc<Gate>, leftovers: &Leftovers) {
        let mut inner = lock(&self.inner);
        inner.gates.retain(|other| !Arc::ptr_eq(other, gate));
        let own = lock(&gate.0);
        leftovers.give_back(own.next, own.end);
    }

    /// Waits for the table, and helps to fill it. The worker holds no gate.
    fn wait_for_table(&self, arena: &Arena) -> Result<(), Limit> {
        let mut inner = lock(&self.inner);
        loop {
            inner = match &inner.state {
                State::Ready(_) => return Ok(()),
                State::Gone => return Err(Limit::OutOfMemory),
                State::Filling(filling) => {
                    let filling = Arc::clone(filling);
                    drop(inner);
                    let is_last = filling.fill(arena);
                    inner = lock(&self.inner);
                    if is_last {
                        self.put_up(&mut inner, &filling);
                        inner
                    } else if matches!(inner.state, State::Filling(_)) {
                        wait(&self.ready, inner)
                    } else {
                        inner
                    }
                }
            };
        }
    }

    fn put_up(&self, inner: &mut MutexGuard<'_, Inner>, filling: &Filling) {
        inner.state = State::Ready(Arc::clone(&filling.table));
        self.ready.notify_all();
    }

    /// Gives a worker the table. The worker holds no gate.
    #[cold]
    pub(super) fn hand_out(&self, arena: &Arena, gate: &Gate) -> Result<(), Limit> {
        loop {
            self.wait_for_table(arena)?;
            if let State::Ready(table) = &lock(&self.inner).state {
                lock(&gate.0).table = Some(Arc::clone(table));
                return Ok(());
            }
        }
    }

    /// Gives a worker the table, and numbers if it has none left; the table is made larger where that is needed. The
    /// worker holds no gate. `tell` is called before there are new numbers.
    #[cold]
    pub(super) fn stock_up(
        &self,
        arena: &Arena,
        gate: &Gate,
        parts: &Parts<'_>,
        mut tell: impl FnMut(&mut Own),
    ) -> Result<(), Limit> {
        loop {
            self.wait_for_table(arena)?;
            let mut inner = lock(&self.inner);
            let State::Ready(table) = &inner.state else { continue };
            let table = Arc::clone(table);
            let mut own = lock(&gate.0);
            if own.next == own.end {
                let range = match parts.leftovers.take() {
                    None if inner.n_reserved + BLOCK as usize <= table.capacity() => {
                        let first = parts.numbers.take_block()?;
                        arena.touch(first)?;
                        inner.n_reserved += BLOCK as usize;
                        Some((first, first + BLOCK))
                    }
                    range => range,
                };
                if let Some((first, end)) = range
                    && table.can_name(end)
                {
                    tell(&mut own);
                    (own.next, own.end, own.from) = (first, end, first);
                } else {
                    range.into_iter().for_each(|(first, end)| parts.leftovers.give_back(first, end));
                    drop((own, table));
                    self.grow(&mut inner, arena, parts, range.is_some())?;
                    continue;
                }
            }
            own.table = Some(table);
            return Ok(());
        }
    }

    /// Takes the table away from everybody, and begins to fill another one.
    #[cold]
    fn grow(
        &self,
        inner: &mut MutexGuard<'_, Inner>,
        arena: &Arena,
        parts: &Parts<'_>,
        keeps_size: bool,
    ) -> Result<(), Limit> {
        let State::Ready(old) = &inner.state else { return Ok(()) };
        let (len, others) = (old.slots.len() as u64, arena.bytes());
        // More is kept for every state than this: large tables grow by little, so that four fifths of the slots are used soon again.
        let len = match keeps_size {
            true => len,
            false if len > LARGE => len + len / 4,
            false => len + len / 2,
        };
        if len > 1 << 32 {
            return Err(Limit::States(old.capacity() as u64));
        }
        parts.room.fits(others.saturating_add(4 * len))?;
        let unused = inner.unused(parts.leftovers, |own| {
            if !is(Mutant::GrowAtOnce) {
                own.table = None;
            }
        });
        inner.state = State::Gone;
        let end = parts.numbers.end();
        let table = Arc::new(Table::new(len as usize, end + 2 * BLOCK as usize).ok_or(Limit::OutOfMemory)?);
        self.bytes.store(table.bytes(), Ordering::Relaxed);
        let n_blocks = (end as u32).div_ceil(BLOCK);
        let (next_part, next, left) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(n_blocks));
        let filling = Filling { table, unused, next_part, next, left, end };
        if n_blocks == 0 {
            self.put_up(inner, &filling);
        } else {
            inner.state = State::Filling(Arc::new(filling));
        }
        Ok(())
    }
}

/// What a table is beside, and within which limits.
pub(super) struct Parts<'a> {
    pub(super) numbers: &'a Numbers,
    pub(super) leftovers: &'a Leftovers,
    pub(super) room: Room,
}

/// Whether a number is in one of some ranges, which are sorted.
pub(super) fn is_within(ranges: &[(u32, u32)], number: u32) -> bool {
    let before = ranges.partition_point(|range| range.0 <= number);
    before > 0 && number < ranges[before - 1].1
}

impl Filling {
    /// Writes to the memory of the table, a part at a time. Others may be filling it: nothing changes.
    fn write_to(&self) {
        const PART: usize = 1 << 18;
        loop {
            let part = self.next_part.fetch_add(1, Ordering::Relaxed) as usize;
            let Some(slots) = self.table.slots.chunks(PART).nth(part) else { return };
            // (To add no bits would be made a read by the compiler.)
            first_of_pages(slots).for_each(|slot| _ = slot.swap_if(0, 0, Ordering::Relaxed));
        }
    }

    /// Fills blocks in, as long as there are some to take. Returns whether this was the last one of all.
    fn fill(&self, arena: &Arena) -> bool {
        self.write_to();
        let n_blocks = (self.end as u32).div_ceil(BLOCK);
        let mut is_last = false;
        let (mut state, mut hashes) = (Vec::new(), Vec::new());
        loop {
            let block = self.next.fetch_add(1, Ordering::Relaxed);
            if block >= n_blocks {
                return is_last;
            }
            if arena.has(block * BLOCK) {
                self.fill_block(block * BLOCK, arena, &mut state, &mut hashes);
            }
            is_last = self.left.fetch_sub(1, Ordering::AcqRel) == 1;
        }
    }

    fn fill_block(&self, first: u32, arena: &Arena, state: &mut Vec<u32>, hashes: &mut Vec<(u32, u64)>) {
        state.resize(arena.record(first).len(), 0);
        let mut used = (first..first + BLOCK).filter(|&number| !is_within(&self.unused, number)).peekable();
        while used.peek().is_some() {
            // As with states that are looked up: some slots are read together, so that the cache misses overlap. They are read
            // after the last hash was made: to read what was just written, a state, waits for all that was begun before.
            let mut hashed = take(hashes);
            for number in used.by_ref().take(32) {
                arena.read(number, state);
                hashed.push((number, hash_of(state)));
            }
            let touched = hashed
                .iter()
                .map(|&(_, hash)| self.table.slots[self.table.home(hash)].load(Ordering::Relaxed));
            black_box(touched.fold(0, |all, slot| all ^ slot));
            for (number, hash) in hashed.drain(..) {
                let mut at = self.table.home(hash);
                while !self.table.publish(at, number, hash) {
                    at = self.table.after(at);
                }
            }
            *hashes = hashed;
        }
    }
}
