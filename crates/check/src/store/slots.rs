//! The slots of a hash table that grows by half, and of which nothing is held twice meanwhile.
//!
//! A table that doubles is half empty afterward, and while it doubles the old and the new one are held together. Here,
//! the old one is dropped first; whoever owns the table then fills it anew, from what it holds anyway. Since that takes
//! time, a table doubles after all where it is small beside what it is for. Any number of slots will do, since a hash is scaled to it instead of masked.

use base::{Limit, Room};

/// Slots of 32 bits; 0 is empty.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    slots: Vec<u32>,
}

/// What was met along a chain.
pub(super) enum Probe {
    /// The end of the chain: an empty slot.
    Empty(usize),
    /// A slot that was wanted.
    Found(u32),
}

impl Slots {
    const MIN: usize = 256;

    pub(super) fn new() -> Slots {
        Slots { slots: vec![0; Slots::MIN] }
    }

    pub(super) fn bytes(&self) -> u64 {
        4 * self.slots.len() as u64
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// How many slots may be used: four fifths, so that chains stay short.
    #[inline]
    pub(super) fn capacity(&self) -> usize {
        self.slots.len() / 5 * 4
    }

    /// Bits that the number of any slot fits in.
    pub(super) fn index_bits(&self) -> u32 {
        usize::BITS - (self.slots.len() - 1).leading_zeros()
    }

    /// The slot where the chain of a hash begins. Only the upper half of the hash counts.
    #[inline]
    pub(super) fn home(&self, hash: u64) -> usize {
        (((hash >> 32) * self.slots.len() as u64) >> 32) as usize
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> u32 {
        self.slots[at]
    }

    #[inline]
    pub(super) fn set(&mut self, at: usize, slot: u32) {
        self.slots[at] = slot;
    }

    /// Goes along a chain from a slot to one that is wanted, or to its end.
    #[inline]
    pub(super) fn probe(&self, home: usize, mut is_wanted: impl FnMut(u32) -> bool) -> Probe {
        let mut at = home;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Probe::Empty(at);
            }
            if is_wanted(slot) {
                return Probe::Found(slot);
            }
            at += 1;
            if at == self.slots.len() {
                at = 0;
            }
        }
    }

    /// How many slots the next table has, beside `others`.
    pub(super) fn next_len(&self, others: u64, room: Room) -> u64 {
        after(self.slots.len() as u64, others, room)
    }

    /// How many slots a table has that grows until so many may be used.
    pub(super) fn len_for(&self, n_used: u64, others: u64, room: Room) -> usize {
        let mut len = self.slots.len() as u64;
        while len / 5 * 4 < n_used && len <= 1 << 32 {
            len = after(len, others, room);
        }
        len as usize
    }

    /// Makes the table so large, and empty. It is left as it is, if there is no room for it
    /// together with the `others`, or if it would have more than 2^32 slots. If the memory is not to be had, an empty
    /// table is left.
    pub(super) fn grow_to(&mut self, len: u64, others: u64, room: Room) -> Result<(), Limit> {
        if len > 1 << 32 {
            return Err(Limit::States(self.capacity() as u64));
        }
        room.fits(others.saturating_add(4 * len))?;
        self.slots = Vec::new();
        if self.slots.try_reserve_exact(len as usize).is_err() {
            *self = Slots::new();
            return Err(Limit::OutOfMemory);
        }
        self.slots.resize(len as usize, 0);
        Ok(())
    }
}

/// How many slots come after so many, beside `others`.
fn after(len: u64, others: u64, room: Room) -> u64 {
    let has_room = |len: u64| len <= 1 << 32 && room.fits(others.saturating_add(4 * len)).is_ok();
    if 8 * len <= others && has_room(2 * len) { 2 * len } else { len + len / 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_grows_and_is_empty_then() {
        let mut slots = Slots::new();
        let mut random = fastrand::Rng::with_seed(5);
        while slots.slots.len() < 1_000_000 {
            for _ in 0..100 {
                let hash = random.u64(..);
                assert!(slots.home(hash) < slots.slots.len() && slots.home(hash) >> slots.index_bits() == 0);
                slots.set(slots.home(hash), 1);
            }
            let before = slots.bytes();
            let room = u64::MAX.into();
            slots.grow_to(slots.next_len(0, room), 0, room).unwrap();
            assert!(slots.bytes() > before && slots.bytes() <= before * 2);
            assert_eq!(slots.len_for(slots.capacity() as u64, 0, room), slots.len());
            assert!(slots.len_for(slots.capacity() as u64 + 1, 0, room) > slots.len());
            assert!(slots.slots.iter().all(|&slot| slot == 0));
        }
        slots.set(7, 1);
        let bytes = slots.bytes();
        assert_eq!(slots.grow_to(2 * bytes, 100, bytes.into()), Err(Limit::Memory(bytes)));
        assert_eq!((slots.bytes(), slots.get(7)), (bytes, 1));
    }

    #[test]
    fn chains_cross_the_end() {
        let mut slots = Slots::new();
        for at in [100, 101, Slots::MIN - 1, 0] {
            slots.set(at, at as u32 + 1);
        }
        let end = |home| match slots.probe(home, |_| false) {
            Probe::Empty(at) => at,
            Probe::Found(_) => usize::MAX,
        };
        assert_eq!((end(100), end(Slots::MIN - 1), end(5)), (102, 1, 5));
        assert!(matches!(slots.probe(Slots::MIN - 1, |slot| slot == 1), Probe::Found(1)));
    }
}
