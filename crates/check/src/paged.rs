//! A growing sequence of equal-sized records that is never copied.
//!
//! Records live in pages of 2^14 words. Growing allocates one page, so that memory use follows
//! the number of records closely and never doubles for a moment, as that of a `Vec` does.

use base::Limit;

/// Records of `width` words (or whatever else) each.
#[derive(Clone, Debug)]
pub(crate) struct Paged<T = u32> {
    width: usize,
    /// Records per page, as a power of two.
    shift: u32,
    pages: Vec<Vec<T>>,
    len: usize,
}

/// The operating system has no page to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfMemory;

impl From<OutOfMemory> for Limit {
    fn from(OutOfMemory: OutOfMemory) -> Limit {
        Limit::OutOfMemory
    }
}

impl<T: Copy> Paged<T> {
    const PAGE_WORDS: usize = 1 << 14;

    /// No records of `width` words, which must not be 0.
    pub(crate) fn new(width: usize) -> Paged<T> {
        let per_page = (Self::PAGE_WORDS / width).max(1);
        Paged { width, shift: per_page.ilog2(), pages: Vec::new(), len: 0 }
    }

    /// Number of records.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Words of one record.
    #[inline]
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Bytes of one record.
    pub(crate) fn record_bytes(&self) -> u64 {
        (size_of::<T>() * self.width) as u64
    }

    /// Whether there is no record.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes allocated.
    pub(crate) fn bytes(&self) -> u64 {
        // Only the first page grows step by step; the others are allocated whole.
        let first = self.pages.first().map_or(0, Vec::capacity);
        let others = self.pages.len().saturating_sub(1) * (self.width << self.shift);
        (size_of::<T>() * (first + others)) as u64
    }

    #[inline]
    fn place(&self, index: usize) -> (usize, usize) {
        (index >> self.shift, (index & ((1 << self.shift) - 1)) * self.width)
    }

    /// The record at `index`.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> &[T] {
        debug_assert!(index < self.len);
        let (page, at) = self.place(index);
        &self.pages[page][at..at + self.width]
    }

    /// The record at `index`, for changing.
    #[inline]
    pub(crate) fn get_mut(&mut self, index: usize) -> &mut [T] {
        debug_assert!(index < self.len);
        let (page, at) = self.place(index);
        &mut self.pages[page][at..at + self.width]
    }

    /// Appends a record.
    #[inline]
    pub(crate) fn push(&mut self, record: &[T]) -> Result<(), OutOfMemory> {
        debug_assert_eq!(record.len(), self.width);
        let (page, at) = self.place(self.len);
        if page == self.pages.len() || self.pages[page].len() == at {
            self.grow(page, record)?;
        } else {
            self.pages[page][at..at + self.width].copy_from_slice(record);
        }
        self.len += 1;
        Ok(())
    }

    /// Appends some records.
    #[inline]
    pub(crate) fn push_all(&mut self, records: &[T]) -> Result<(), OutOfMemory> {
        let (page, at) = self.place(self.len);
        // Most often they fit in the page, where it was used before or has room.
        if let Some(page) = self.pages.get_mut(page) {
            let end = at + records.len();
            if end <= page.len() {
                page[at..end].copy_from_slice(records);
            } else if at == page.len() && end <= page.capacity().min(self.width << self.shift) {
                page.extend_from_slice(records);
            } else {
                return self.push_each(records);
            }
            self.len += records.len() / self.width;
            return Ok(());
        }
        self.push_each(records)
    }

    #[cold]
    fn push_each(&mut self, records: &[T]) -> Result<(), OutOfMemory> {
        records.chunks_exact(self.width).try_for_each(|record| self.push(record))
    }

    /// Appends to the last page that was ever used.
    fn grow(&mut self, page: usize, record: &[T]) -> Result<(), OutOfMemory> {
        if page == self.pages.len() {
            let mut new = Vec::new();
            let words = if page == 0 { self.width } else { self.width << self.shift };
            new.try_reserve_exact(words).map_err(|_| OutOfMemory)?;
            self.pages.try_reserve(1).map_err(|_| OutOfMemory)?;
            self.pages.push(new);
        }
        self.pages[page].try_reserve(self.width).map_err(|_| OutOfMemory)?;
        self.pages[page].extend_from_slice(record);
        Ok(())
    }

    /// Removes the last record, if there is one. Its page is kept.
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.len = self.len.saturating_sub(1);
    }

    /// Removes all records from `len` on. Their pages are kept.
    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_kept_across_pages_and_pages_across_pops() {
        for width in [1, 3, 1000, 20_000] {
            let mut paged = Paged::new(width);
            let record = |i: usize| vec![i as u32; width];
            let n = 3 * Paged::<u32>::PAGE_WORDS / width + 5;
            for round in 0..2 {
                for i in 0..n {
                    paged.push(&record(i + round)).unwrap();
                }
                assert!((0..n).all(|i| paged.get(i) == record(i + round)));
                let bytes = paged.bytes();
                assert!(bytes >= (4 * n * width) as u64);
                paged.truncate(n - 2);
                paged.pop();
                assert_eq!((paged.len(), paged.bytes()), (n - 3, bytes));
                paged.truncate(0);
                assert!(paged.is_empty());
            }
        }
    }
}
