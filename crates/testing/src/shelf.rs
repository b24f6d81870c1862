//! A place where searches are kept in memory, with everything that it ever had: to go on from any moment.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::keeper::{Part, Receipt, Record, Sink, Words};
use base::{Keeper, Limit};

/// What is kept.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Per search, its tag and what is known of it.
    searches: BTreeMap<u32, (u64, Record)>,
    files: HashMap<(u32, u32, usize, usize), Arc<Vec<u32>>>,
}

/// A place, which all processes of a test share.
#[derive(Debug, Default)]
pub struct Shelf {
    contents: Mutex<Contents>,
    /// What was there after each moment at which something counted.
    moments: Mutex<Vec<Contents>>,
}

/// A place, as one process sees it.
#[derive(Debug)]
pub struct Place<'s> {
    shelf: &'s Shelf,
    n_begun: AtomicU32,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shelf {
    /// With what there was at some moment.
    pub fn with(contents: Contents) -> Shelf {
        Shelf { contents: Mutex::new(contents), moments: Mutex::default() }
    }

    /// What there was, at each moment at which something counted.
    pub fn moments(&self) -> Vec<Contents> {
        lock(&self.moments).clone()
    }

    /// For a process.
    pub fn place(&self) -> Place<'_> {
        Place { shelf: self, n_begun: AtomicU32::new(0) }
    }
}

fn key(part: Part) -> (u32, u32, usize, usize) {
    (part.search, part.piece, part.worker.index, part.worker.of)
}

impl Keeper for Place<'_> {
    fn is_due(&self) -> bool {
        true
    }

    fn begin(&self, tag: u64) -> (u32, Option<Record>) {
        let number = self.n_begun.fetch_add(1, Ordering::Relaxed);
        let contents = lock(&self.shelf.contents);
        let known = contents.searches.get(&number).filter(|known| known.0 == tag);
        (number, known.map(|known| known.1.clone()))
    }

    fn write(&self, part: Part, fill: &mut dyn FnMut(&mut Sink<'_>)) -> Option<Receipt> {
        let mut words = Vec::new();
        fill(&mut |more: &[u32]| words.extend_from_slice(more));
        let receipt = Receipt { n_words: words.len() as u64, hash: 1 };
        lock(&self.shelf.contents).files.insert(key(part), Arc::new(words));
        Some(receipt)
    }

    fn commit(&self, search: u32, tag: u64, summary: &[u32], receipts: &[Receipt]) {
        let mut contents = lock(&self.shelf.contents);
        let known = contents.searches.entry(search).or_default();
        known.0 = tag;
        known.1.summary = summary.to_vec();
        known.1.pieces.push(receipts.len() as u32);
        lock(&self.shelf.moments).push(contents.clone());
    }

    fn read(&self, part: Part) -> Result<Box<dyn Words + '_>, Limit> {
        let file = lock(&self.shelf.contents).files.get(&key(part)).cloned();
        Ok(Box::new(Reading { words: file.ok_or(Limit::Kept)?, at: 0 }))
    }
}

struct Reading {
    words: Arc<Vec<u32>>,
    at: usize,
}

impl Words for Reading {
    fn next(&mut self, out: &mut [u32]) -> bool {
        let Some(words) = self.words.get(self.at..self.at + out.len()) else { return false };
        out.copy_from_slice(words);
        self.at += out.len();
        true
    }
}
