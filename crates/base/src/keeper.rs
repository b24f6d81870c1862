//! Where a search writes what it has found, so that it can go on after an interruption.
//!
//! The libraries open no file. Who has a place hands in its [`Keeper`], in the [budget](crate::Budget). A search that keeps itself does so in
//! *pieces*: each has what was found since the one before, in a part for each process, and counts from the moment when all parts are there
//! ([`Keeper::commit`]). Everything is words; what they mean is up to the search.

use crate::{Limit, Worker};

/// What was kept of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// What the search said of itself at last.
    pub summary: Vec<u32>,
    /// Of how many parts each piece is.
    pub pieces: Vec<u32>,
}

/// A part of a piece of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which search of the program this is.
    pub search: u32,
    /// Which piece of it.
    pub piece: u32,
    /// Which process wrote it, of how many.
    pub worker: Worker,
}

/// What was written: so many words, with this hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The words.
    pub n_words: u64,
    /// Their hash.
    pub hash: u64,
}

/// Hands on words.
pub type Sink<'s> = dyn FnMut(&[u32]) + 's;

/// Gives the next words; says whether there were so many.
pub trait Words {
    /// Fills all of `out`.
    fn next(&mut self, out: &mut [u32]) -> bool;
}

/// Keeps what searches write.
pub trait Keeper: Sync {
    /// Whether it is time to write.
    fn is_due(&self) -> bool;

    /// The next search begins, which this says about itself. Returns its number, and what was kept of it.
    fn begin(&self, tag: u64) -> (u32, Option<Record>);

    /// Writes a part; nothing if that fails.
    fn write(&self, part: Part, fill: &mut dyn FnMut(&mut Sink<'_>)) -> Option<Receipt>;

    /// All parts of a piece are there: from now on it counts, with what the search says of itself.
    fn commit(&self, search: u32, tag: u64, summary: &[u32], receipts: &[Receipt]);

    /// Reads a part.
    ///
    /// # Errors
    /// It cannot be read any more.
    fn read(&self, part: Part) -> Result<Box<dyn Words + '_>, Limit>;
}
