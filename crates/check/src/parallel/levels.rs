//! The rounds of a search: which states were found in each, and how they are shared out.

use std::ops::Range;

use crate::store::shared::Shared;
use crate::sync::{AtomicU32, Mutant, Ordering, is};

/// Where states have numbers that follow each other, so many at most are handed out together.
pub(crate) const MOST: usize = 64;
/// But so many pieces for each worker are enough.
const PIECES: usize = 8;

/// The states by the round in which they were found, as ranges of numbers: no memory per state.
#[derive(Default)]
pub(crate) struct Levels {
    segments: Vec<(u32, u32)>,
    /// Per level, where its segments end.
    ends: Vec<usize>,
}

impl Levels {
    /// Adds a level.
    pub(crate) fn push(&mut self, mut segments: Vec<(u32, u32)>) {
        segments.sort_unstable();
        let start = self.segments.len();
        for (from, to) in segments {
            match self.segments[start..].last_mut() {
                Some(last) if last.1 == from => last.1 = to,
                _ => self.segments.push((from, to)),
            }
        }
        self.ends.push(self.segments.len());
    }

    /// Number of levels.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The states of a level.
    pub(crate) fn level(&self, level: usize) -> &[(u32, u32)] {
        let start = if level == 0 { 0 } else { self.ends[level - 1] };
        &self.segments[start..self.ends[level]]
    }

    /// The level of a state, from this one on.
    pub(crate) fn level_of(&self, number: u32, from: usize) -> Option<usize> {
        (from..self.len()).find(|&level| {
            let segments = self.level(level);
            let before = segments.partition_point(|segment| segment.0 <= number);
            before > 0 && number < segments[before - 1].1
        })
    }

    pub(crate) fn bytes(&self) -> u64 {
        (size_of::<(u32, u32)>() * self.segments.capacity() + size_of::<usize>() * self.ends.capacity())
            as u64
    }
}

/// States to be shared out.
pub(crate) struct Pieces {
    list: Vec<(u32, u32)>,
    next: AtomicU32,
    n_states: usize,
}

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
        Pieces { list: pieces.collect(), next: AtomicU32::new(0), n_states }
    }

    /// How many states there are.
    pub(crate) fn n_states(&self) -> usize {
        self.n_states
    }

    /// Takes some.
    pub(crate) fn take(&self) -> Option<Range<u32>> {
        let index = if is(Mutant::TakeTwice) {
            let index = self.next.load(Ordering::Relaxed);
            self.next.store(index + 1, Ordering::Relaxed);
            index
        } else {
            self.next.fetch_add(1, Ordering::Relaxed)
        };
        let index = index as usize;
        self.list.get(index).map(|&(from, to)| from..to)
    }
}

/// Tells the states that were found since a moment.
pub(crate) struct Fresh {
    /// All numbers from this one on are new.
    end: usize,
    /// So are those of these ranges.
    unused: Vec<(u32, u32)>,
}

impl Fresh {
    pub(crate) fn from_now_on(store: &Shared) -> Fresh {
        // In this order: a block that is taken meanwhile is in neither, and new all the same. (Nobody adds now.)
        Fresh { unused: store.unused(), end: store.n_ids() }
    }

    #[inline]
    pub(crate) fn contains(&self, number: u32) -> bool {
        if number as usize >= self.end {
            return true;
        }
        let before = self.unused.partition_point(|range| range.0 <= number);
        before > 0 && number < self.unused[before - 1].1
    }
}
