//! Where everything is in the memory of a device.
//!
//! The memory is words of 64 bits. It begins with a block that says where the rest is ([`Place`]) and counts ([`Counter`]); kernels
//! find everything by it. A state has 1 to 8 words.
//!
//! - *Narrow* states have one word, and not all bits of it: such a state is its own entry of the table. What is to be expanded
//!   stands in a ring. A state is known by its slot.
//! - *Wide* states stand in an arena, in the order in which they were found, so that levels are ranges; the table has their
//!   numbers, and 24 bits of the hash. A state is known by its number. Who loses the race for a slot leaves a *hole*.
//!
//! Buckets have four slots, which is what memory gives at once. Beside the table, every state has a byte for its *code*, by which
//! runs are found; and in products where cycles are looked for, one or two words of 32 bits.

use model::ActionSystem;

/// Words of the block.
pub(super) const BLOCK: u64 = 32;

/// What the words of the block are: where something begins, or how much of it there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
#[allow(missing_docs)] // The names say it.
pub enum Place {
    Program,
    /// Words of a state.
    StateWords,
    IsNarrow,
    Table,
    NBuckets,
    Codes,
    /// The arena, or the ring.
    Arena,
    /// States that fit in there.
    Capacity,
    Holes,
    Notes,
    /// States that are given to a kernel, and what it answers.
    Letters,
    /// What has happened, a bit each: actions, or in products, valuations.
    Taken,
    /// Per state, a word of 32 bits for the search of cycles, and a second one.
    Words,
    Seen,
}

/// What is counted, in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Counter {
    /// States that went to the arena or the ring.
    Added = 16,
    /// Of these, holes.
    Holes,
    /// Steps.
    Transitions,
    /// States without steps.
    Deadlocks,
    /// Not 0 if something is full.
    Full,
    /// States that were noted.
    Notes,
    /// States that were picked out.
    Found,
}

/// An entry of the table that is empty.
pub(super) const EMPTY: u64 = u64::MAX;

/// So many buckets are looked at before a table counts as full.
pub(super) const MAX_PROBES: u64 = 512;

/// A wide state's entry has its number in the lowest bits.
pub(super) const NUMBER_BITS: u32 = 40;

/// So many states are given to a kernel at once, at most.
pub(super) const MAX_LETTERS: u64 = 1 << 12;

/// In searches for cycles, a lane has so many states, since most of them have nothing to do.
pub(super) const GROUP: u64 = 8;

/// How the memory is divided.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) places: [u64; 14],
    /// Words of a state on the device, and of the system.
    pub(super) state_words: usize,
    pub(super) width: usize,
    pub(super) is_narrow: bool,
    /// A kernel looks at so many states at most: as many as can be noted.
    pub(super) chunk: u64,
    pub(super) n_words: u64,
}

/// Where memory is free from.
struct Free(u64);

impl Free {
    /// So many words, where a bucket may begin.
    fn take(&mut self, n_words: u64) -> u64 {
        let place = self.0;
        self.0 += n_words.next_multiple_of(4);
        place
    }
}

/// What states are, and what is kept beside them.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// The bits that are used of each word of 32.
    pub(super) masks: Vec<u32>,
    /// How much can happen that is noted.
    pub(super) n_events: u64,
    /// Words of 32 bits per state for the search of cycles.
    pub(super) n_cycle_words: u64,
}

impl Shape {
    /// The states of a system.
    pub(super) fn of(system: &ActionSystem) -> Shape {
        let mut masks = vec![0; system.layout().width()];
        let used = system.layout().fields().iter().flat_map(|field| field.masks());
        used.for_each(|(word, mask)| masks[word] |= mask);
        Shape { masks, n_events: system.actions().len() as u64, n_cycle_words: 0 }
    }

    /// Whether a state fits into one word, and does not fill it.
    pub(super) fn is_narrow(&self) -> bool {
        self.masks.len() <= 1 || self.masks.len() == 2 && self.masks != [u32::MAX; 2]
    }
}

/// How many states of a system fit into so many bytes, about.
pub fn capacity(system: &ActionSystem, bytes: u64) -> u64 {
    Plan::new(&Shape::of(system), 1 << 10, bytes / 8).map_or(0, |plan| plan.n_states())
}

impl Plan {
    /// Divides so many words; nothing if they are too few.
    pub(super) fn new(shape: &Shape, program_words: u64, n_words: u64) -> Option<Plan> {
        let width = shape.masks.len();
        let (state_words, is_narrow) = (width.div_ceil(2) as u64, shape.is_narrow());
        let chunk = (n_words / 64 / state_words).clamp(64, 1 << 22) / GROUP * GROUP;
        let mut free = Free(BLOCK);
        let program = free.take(program_words);
        let taken = free.take(shape.n_events.div_ceil(64));
        let letters = free.take(MAX_LETTERS * (state_words + 1));
        let notes = free.take(chunk * state_words);
        let rest = n_words.checked_sub(free.0)?;
        let (table, n_buckets, codes, arena, capacity, holes);
        let n_cycle_words = shape.n_cycle_words;
        // So much for so many states.
        let cycle_words = |free: &mut Free, n_ids: u64| {
            [0, 1].map(
                |nth| if nth < n_cycle_words { free.take(n_ids.div_ceil(2) + GROUP / 2) } else { free.0 },
            )
        };
        let [words, seen];
        if is_narrow {
            // 1 word for the entry, an eighth for the code, halves for cycles, and 15 of 100 for the ring.
            n_buckets = (rest.saturating_sub(96) * 40 / (51 + 20 * n_cycle_words) / 4) & !7;
            table = free.take(4 * n_buckets);
            codes = free.take(n_buckets / 2 + 1);
            [words, seen] = cycle_words(&mut free, 4 * n_buckets);
            holes = free.0;
            capacity = n_words.checked_sub(free.0)?.checked_sub(8)?;
            arena = free.take(capacity);
        } else {
            // Seven of ten slots are full when the arena is.
            capacity = rest.saturating_sub(256) * 64 / (64 * state_words + 92 + 8 + 1 + 32 * n_cycle_words);
            n_buckets = capacity * 10 / 28 + 1;
            table = free.take(4 * n_buckets);
            codes = free.take(capacity / 8 + 1);
            holes = free.take(capacity / 64 + 1);
            [words, seen] = cycle_words(&mut free, capacity);
            arena = free.take(capacity * state_words);
        }
        let is_enough = n_buckets >= 8 && capacity >= 16 && free.0 <= n_words;
        let places = [
            program,
            state_words,
            is_narrow.into(),
            table,
            n_buckets,
            codes,
            arena,
            capacity,
            holes,
            notes,
            letters,
            taken,
            words,
            seen,
        ];
        let state_words = state_words as usize;
        is_enough.then_some(Plan { places, state_words, width, is_narrow, chunk, n_words })
    }

    pub(super) fn place(&self, place: Place) -> u64 {
        self.places[place as usize]
    }

    /// How many states can be known by slots or numbers.
    pub(super) fn n_ids(&self) -> u64 {
        if self.is_narrow { 4 * self.place(Place::NBuckets) } else { self.place(Place::Capacity) }
    }

    /// How many states fit, about: a table that is nearly full is slow.
    fn n_states(&self) -> u64 {
        if self.is_narrow { self.n_ids() / 20 * 17 } else { self.n_ids() }
    }

    /// The words of a state.
    pub(super) fn pack(&self, state: &[u32], out: &mut Vec<u64>) {
        out.extend(
            state
                .chunks(2)
                .map(|pair| u64::from(pair[0]) | pair.get(1).map_or(0, |&high| u64::from(high) << 32)),
        );
    }

    /// The state of some words.
    pub(super) fn unpack(&self, words: &[u64]) -> Vec<u32> {
        let mut state: Vec<u32> = words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect();
        state.truncate(self.width);
        state
    }
}

/// The words of a program, two in one.
pub(super) fn program_words(words: &[u32]) -> Vec<u64> {
    let pair = |pair: &[u32]| u64::from(pair[0]) | pair.get(1).map_or(0, |&high| u64::from(high) << 32);
    words.chunks(2).map(pair).collect()
}
