//! The fingerprint store: a state is remembered by 64 bits of its hash, as TLC and stateright do.
//!
//! Two states with the same fingerprint are taken for one, so a state may be missed; but how likely that is can be said.
//! Up to the first such pair, a search over this store does what one over an exact store does. If it ends with `n`
//! states, that pair, if there was one, was among the first `n + 1` states that were met: of so many, two have the same
//! fingerprint with a probability of at most `n (n + 1) / 2^65`, if the hash is as good as a random function. For ten million states
//! that is 0.000 003.
//!
//! Fingerprints are kept in 64 tables, by their lowest bits. A table is full at nine tenths, and then becomes an
//! eighth larger, alone: so there is never much more room than is needed, about nine to ten bytes per state. A
//! fingerprint is looked for from its place in proportion on; as tables grow in small steps, their sizes are no
//! powers of two.

use base::Limit;

use super::{Coverage, Visited, hash};

const TABLES: usize = 64;

/// The first size of a table.
const SMALLEST: usize = 16;

/// States remembered by their fingerprints.
#[derive(Clone, Debug)]
pub struct Fingerprints {
    tables: Vec<Table>,
    n_states: u64,
}

/// An open hash table; 0 is an empty place.
#[derive(Clone, Debug, Default)]
struct Table {
    places: Vec<u64>,
    len: usize,
}

impl Default for Fingerprints {
    fn default() -> Fingerprints {
        Fingerprints { tables: vec![Table::default(); TABLES], n_states: 0 }
    }
}

impl Coverage {
    /// What may be missing where a search ended with so many states that were told apart by 64 bits of hash.
    pub fn by_fingerprints(n_states: u64) -> Coverage {
        let n = n_states as f64;
        let missed = (n * (n + 1.0) / 2f64.powi(65)).min(1.0);
        // At most one is expected to be missing for each pair.
        Coverage { most: n.max(1.0) / (n.max(1.0) + missed), bits_per_state: 64.0, missed }
    }
}

impl Table {
    /// Where a fingerprint is, or where it would be.
    #[inline]
    fn find(&self, fingerprint: u64) -> Result<usize, usize> {
        let n = self.places.len();
        let mut at = ((u128::from(fingerprint) * n as u128) >> 64) as usize;
        loop {
            match self.places[at] {
                0 => return Err(at),
                known if known == fingerprint => return Ok(at),
                _ => at = if at + 1 == n { 0 } else { at + 1 },
            }
        }
    }

    #[inline]
    fn insert(&mut self, fingerprint: u64) -> Result<bool, Limit> {
        if self.len * 10 >= self.places.len() * 9 {
            self.grow()?;
        }
        let is_new = match self.find(fingerprint) {
            Ok(_) => false,
            Err(at) => {
                self.places[at] = fingerprint;
                true
            }
        };
        self.len += usize::from(is_new);
        Ok(is_new)
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Limit> {
        let size = (self.places.len() + self.places.len() / 8).max(SMALLEST);
        let mut larger = Vec::new();
        larger.try_reserve_exact(size).map_err(|_| Limit::OutOfMemory)?;
        larger.resize(size, 0);
        for fingerprint in std::mem::replace(&mut self.places, larger) {
            if fingerprint != 0
                && let Err(at) = self.find(fingerprint)
            {
                self.places[at] = fingerprint;
            }
        }
        Ok(())
    }
}

impl Visited for Fingerprints {
    fn insert(&mut self, state: &[u32]) -> Result<bool, Limit> {
        // No fingerprint is 0, which costs nothing that matters.
        let fingerprint = hash(state, 3).max(1);
        let is_new = self.tables[fingerprint as usize % TABLES].insert(fingerprint)?;
        self.n_states += u64::from(is_new);
        Ok(is_new)
    }

    fn n_states(&self) -> u64 {
        self.n_states
    }

    fn bytes(&self) -> u64 {
        self.tables.iter().map(|table| 8 * table.places.capacity() as u64).sum()
    }

    fn coverage(&self) -> Option<Coverage> {
        Some(Coverage::by_fingerprints(self.n_states))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_seen_and_nothing_else() {
        let mut store = Fingerprints::default();
        for i in 0..200_000u32 {
            assert!(store.insert(&[i, i ^ 7]).unwrap());
            assert!(!store.insert(&[i / 2, (i / 2) ^ 7]).unwrap());
        }
        assert_eq!(store.n_states(), 200_000);
        let per_state = store.bytes() as f64 / 200_000.0;
        assert!((8.8..10.4).contains(&per_state), "{per_state} bytes a state");
        let missed = store.coverage().unwrap().missed;
        assert!(missed > 1e-9 && missed < 1.2e-9, "{missed}");
    }
}
