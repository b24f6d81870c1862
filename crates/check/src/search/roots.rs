//! The stack of roots of a search by strong components, with the marks that were seen.
//!
//! Only the root on top is at hand; those below are packed into a few bytes each, for there may be as many
//! as states on the path.

use super::varints::Varints;
use crate::fairness::{Fairness, add};
use crate::paged::OutOfMemory;
use model::ActionId;
use rustc_hash::FxHashMap;

/// Pushes marks onto a stack of numbers: two words in a number.
pub(crate) fn push_marks(stack: &mut Varints, marks: &[u32]) -> Result<(), OutOfMemory> {
    for pair in marks.chunks(2) {
        let above = pair.get(1).copied().unwrap_or(0);
        stack.push(u64::from(above) << 32 | u64::from(pair[0]))?;
    }
    Ok(())
}

/// Pops marks of as many words as there are in `marks`.
pub(crate) fn pop_marks(stack: &mut Varints, marks: &mut [u32]) {
    for pair in marks.chunks_mut(2).rev() {
        let number = stack.pop();
        pair[0] = number as u32;
        if let Some(above) = pair.get_mut(1) {
            *above = (number >> 32) as u32;
        }
    }
}

/// The marks of edges, numbered: there are few different ones.
#[derive(Default)]
pub(crate) struct EdgeMarks {
    numbers: FxHashMap<(u64, Option<ActionId>), u32>,
    /// So many words each.
    n_words: usize,
    words: Vec<u32>,
    /// What was asked for last.
    last: Option<((u64, Option<ActionId>), u32)>,
    buffer: Vec<u32>,
}

impl EdgeMarks {
    /// The number of the marks of an edge.
    #[inline]
    pub(crate) fn number(&mut self, fairness: &Fairness, marks: u64, action: Option<ActionId>) -> u32 {
        let key = (marks, if fairness.is_empty() { None } else { action });
        match self.last {
            Some((last, number)) if last == key => number,
            _ => self.look_up(fairness, key),
        }
    }

    fn look_up(&mut self, fairness: &Fairness, key: (u64, Option<ActionId>)) -> u32 {
        let number = *self.numbers.entry(key).or_insert_with(|| {
            fairness.step_marks(key.0, key.1, &mut self.buffer);
            self.n_words = self.buffer.len();
            self.words.extend_from_slice(&self.buffer);
            (self.words.len() / self.n_words) as u32 - 1
        });
        self.last = Some((key, number));
        number
    }

    pub(crate) fn bytes(&self) -> u64 {
        4 * self.words.capacity() as u64
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> &[u32] {
        &self.words[number as usize * self.n_words..(number as usize + 1) * self.n_words]
    }
}

/// Partial components.
pub(crate) struct Roots {
    /// The order of the first state of the component on top; 0 if there is none.
    order: u32,
    /// The number of the marks of the edge that leads there.
    via: u32,
    /// The marks inside.
    marks: Vec<u32>,
    /// What is below: marks, via, and how much later the next component begins.
    below: Varints,
    sum: Vec<u32>,
}

impl Roots {
    pub(crate) fn new(n_words: usize) -> Roots {
        Roots { order: 0, via: 0, marks: vec![0; n_words], below: Varints::default(), sum: vec![0; n_words] }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.below.bytes()
    }

    /// The order of the first state of the component on top.
    #[inline]
    pub(crate) fn order(&self) -> u32 {
        self.order
    }

    /// The marks inside the component on top.
    #[inline]
    pub(crate) fn marks(&self) -> &[u32] {
        &self.marks
    }

    /// A component of one state that was reached by an edge with these marks.
    #[inline]
    pub(crate) fn push(&mut self, order: u32, via: u32, marks: &[u32]) -> Result<(), OutOfMemory> {
        push_marks(&mut self.below, &self.marks)?;
        self.below.push(u64::from(self.via))?;
        self.below.push(u64::from(order - self.order))?;
        (self.order, self.via) = (order, via);
        self.marks.copy_from_slice(marks);
        Ok(())
    }

    #[inline]
    pub(crate) fn pop(&mut self) {
        self.order -= self.below.pop() as u32;
        self.via = self.below.pop() as u32;
        pop_marks(&mut self.below, &mut self.marks);
    }

    /// Adds marks to the component on top.
    #[inline]
    pub(crate) fn add(&mut self, marks: &[u32]) {
        add(&mut self.marks, marks);
    }

    /// An edge with these marks leads back to a state of this order: everything since then is one component.
    #[inline]
    pub(crate) fn merge(&mut self, order: u32, marks: &[u32], edge_marks: &EdgeMarks) {
        if self.order > order {
            self.sum.fill(0);
            while self.order > order {
                add(&mut self.sum, &self.marks);
                add(&mut self.sum, edge_marks.get(self.via));
                self.pop();
            }
            add(&mut self.marks, &self.sum);
        }
        add(&mut self.marks, marks);
    }
}
