//! The rounds of a search: which states were found in each, and how they are shared out.

use std::ops::Range;

use crate::store::shared::Shared;
use crate::sync::{AtomicU32, Ordering};

/// Where states have numbers that follow each other, so many at most are handed out together.
const MOST: usize = 64;
/// But so many pieces for each worker are enough.
const PIECES: usize = 8;

/// The states by the round in which they were found, as ranges of numbers: no memory per state.
#[derive(Default)]
pub(super) struct Levels {
    segments: Vec<(u32, u32)>,
    /// Per level, where its segments end.
    ends: Vec<usize>,
}

impl Levels {
    /// Adds a level.
    pub(super) fn push(&mut self, mut segments: Vec<(u32, u32)>) {
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
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The states of a level.
    pub(super) fn level(&self, level: usize) -> &[(u32, u32)] {
        let start = if level == 0 { 0 } else { self.ends[level - 1] };
        &self.segments[start..self.ends[level]]
    }

    /// The level of a state, from this one on.
    pub(super) fn level_of(&self, number: u32, from: usize) -> Option<usize> {
        (from..self.len()).find(|&level| {
            let segments = self.level(level);
            let before = segments.partition_point(|segment| segment.0 <= number);
            before > 0 && number < segments[before - 1].1
        })
    }

    pub(super) fn bytes(&self) -> u64 {
        (size_of::<(u32, u32)>() * self.segments.capacity() + size_of::<usize>() * self.ends.capacity())
            as u64
    }
}

/// States to be shared out.
pub(super) struct Pieces {
    list: Vec<(u32, u32)>,
    next: AtomicU32,
    n_states: usize,
}

fn n_states_of(segments: &[(u32, u32)]) -> usize {
    segments.iter().map(|(from, to)| (to - from) as usize).sum()
}

impl Pieces {
    /// All states of some segments, for so many workers.
    pub(super) fn of(segments: &[(u32, u32)], n_workers: usize) -> Pieces {
        let n_states = n_states_of(segments);
        let size = (n_states / (PIECES * n_workers)).clamp(1, MOST) as u32;
        let pieces = segments.iter().flat_map(|&(from, to)| {
            (from..to).step_by(size as usize).map(move |first| (first, to.min(first.saturating_add(size))))
        });
        Pieces { list: pieces.collect(), next: AtomicU32::new(0), n_states }
    }

    /// How many states there are.
    pub(super) fn n_states(&self) -> usize {
        self.n_states
    }

    /// Takes some.
    pub(super) fn take(&self) -> Option<Range<u32>> {
        let index = self.next.fetch_add(1, Ordering::Relaxed) as usize;
        self.list.get(index).map(|&(from, to)| from..to)
    }
}

/// Tells the states that were found since a moment.
pub(super) struct Fresh {
    /// All numbers from this one on are new.
    end: usize,
    /// So are those of these ranges.
    unused: Vec<(u32, u32)>,
}

impl Fresh {
    pub(super) fn from_now_on(store: &Shared) -> Fresh {
        // In this order: a block that is taken meanwhile is in neither, and new all the same. (Nobody adds now.)
        Fresh { unused: store.unused(), end: store.n_ids() }
    }

    #[inline]
    pub(super) fn contains(&self, number: u32) -> bool {
        if number as usize >= self.end {
            return true;
        }
        let before = self.unused.partition_point(|range| range.0 <= number);
        before > 0 && number < self.unused[before - 1].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_shared_out_and_found_again() {
        let mut levels = Levels::default();
        levels.push(vec![(0, 1)]);
        levels.push(vec![(300, 400), (1, 40), (40, 70)]);
        levels.push(vec![]);
        levels.push(vec![(70, 300)]);
        assert_eq!(levels.level(1), [(1, 70), (300, 400)]);
        assert_eq!([0, 1, 2, 3].map(|level| n_states_of(levels.level(level))), [1, 169, 0, 230]);
        let level_of = |number| levels.level_of(number, 1);
        assert_eq!(
            [0, 1, 69, 70, 299, 300, 400].map(level_of),
            [None, Some(1), Some(1), Some(3), Some(3), Some(1), None]
        );
        let pieces = Pieces::of(levels.level(1), 1);
        let mut all = Vec::new();
        while let Some(piece) = pieces.take() {
            assert!(piece.len() <= MOST);
            all.extend(piece);
        }
        assert_eq!(all, (1..70).chain(300..400).collect::<Vec<u32>>());
    }
}
