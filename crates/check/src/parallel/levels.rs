//! The rounds of a search: which states were found in each, and how they are shared out.

use std::ops::Range;

use crate::store::owned::Numbering;
use crate::sync::{AtomicU32, Mutant, Ordering, is};

/// Where states have numbers that follow each other, so many at most are handed out together.
pub(crate) const MOST: usize = 64;
/// But so many pieces for each worker are enough.
const PIECES: usize = 8;

/// The states by the round in which they were found. In each part of the store they have numbers that follow each other: no memory per state.
pub(crate) struct Levels {
    numbering: Numbering,
    n_parts: usize,
    /// Per part, where the first level begins; then, level by level, where it ends.
    ends: Vec<u32>,
}

impl Levels {
    /// No level yet, but so many states of each part that are in none.
    pub(crate) fn new(numbering: Numbering, before: &[u32]) -> Levels {
        Levels { numbering, n_parts: before.len(), ends: before.to_vec() }
    }

    /// Adds a level, which ends here in each part; returns how many states it has.
    pub(crate) fn push(&mut self, ends: &[u32]) -> u64 {
        let before = &self.ends[self.ends.len() - self.n_parts..];
        let n_states = ends.iter().zip(before).map(|(&end, &before)| u64::from(end - before)).sum();
        self.ends.extend_from_slice(ends);
        n_states
    }

    /// Number of levels.
    pub(crate) fn len(&self) -> usize {
        self.ends.len() / self.n_parts - 1
    }

    /// Per part, where a level ends.
    pub(crate) fn ends(&self, level: usize) -> &[u32] {
        &self.ends[(level + 1) * self.n_parts..][..self.n_parts]
    }

    /// The states of a level, as ranges of numbers.
    pub(crate) fn level(&self, level: usize) -> Vec<(u32, u32)> {
        let starts = &self.ends[level * self.n_parts..];
        let number = |part, index| self.numbering.number(part, index);
        let segments = starts.iter().zip(self.ends(level)).enumerate();
        let segments = segments.map(|(part, (&from, &to))| (number(part, from), to - from));
        segments.filter(|segment| segment.1 > 0).map(|(from, n)| (from, from + n)).collect()
    }

    /// The level of a state, from this one on.
    pub(crate) fn level_of(&self, number: u32, from: usize) -> Option<usize> {
        let (part, index) = (self.numbering.part(number), self.numbering.index(number));
        let is_in = |level: &usize| self.ends(*level)[part] > index;
        let level = (from..self.len()).find(is_in)?;
        (self.ends[level * self.n_parts + part] <= index).then_some(level)
    }

    pub(crate) fn bytes(&self) -> u64 {
        (size_of::<u32>() * self.ends.capacity()) as u64
    }
}

/// States to be shared out.
pub(crate) struct Pieces {
    list: Vec<(u32, u32)>,
    next: Next,
    n_states: usize,
}

/// Which piece is the next one. Alone in its lines of the cache: everybody writes it, and looks at what is beside it.
#[repr(align(128))]
struct Next(AtomicU32);

/// How many states some segments have.
pub(crate) fn n_states_of(segments: &[(u32, u32)]) -> usize {
    segments.iter().map(|(from, to)| (to - from) as usize).sum()
}

impl Pieces {
    /// All states of some segments, for so many workers.
    pub(crate) fn of(segments: &[(u32, u32)], n_workers: usize) -> Pieces {
        let n_states = n_states_of(segments);
        let size = (n_states / (PIECES * n_workers)).clamp(1, MOST) as u32;
        let pieces = segments.iter().flat_map(|&(from, to)| {
            (from..to).step_by(size as usize).map(move |first| (first, to.min(first.saturating_add(size))))
        });
        Pieces { list: pieces.collect(), next: Next(AtomicU32::new(0)), n_states }
    }

    /// How many states there are.
    pub(crate) fn n_states(&self) -> usize {
        self.n_states
    }

    /// Whether all were taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.next.0.load(Ordering::Relaxed) as usize >= self.list.len()
    }

    /// Takes some.
    pub(crate) fn take(&self) -> Option<Range<u32>> {
        let index = if is(Mutant::TakeTwice) {
            let index = self.next.0.load(Ordering::Relaxed);
            self.next.0.store(index + 1, Ordering::Relaxed);
            index
        } else {
            self.next.0.fetch_add(1, Ordering::Relaxed)
        };
        let index = index as usize;
        self.list.get(index).map(|&(from, to)| from..to)
    }
}
