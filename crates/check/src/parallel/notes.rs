//! Notes how states were found, by several workers: enough to tell the run to each of them where states are not kept.

use base::Limit;
use model::{ActionId, Run};

use crate::store::shared::arena::{Arena, BLOCK, Numbers};

/// The note before that of an initial state; the number of the initial state stands beside it.
pub(super) const NOTHING: u32 = u32::MAX;

/// Per state, the note before it, the action, and whatever else is to be known along a run.
pub(super) struct Notes {
    records: Arena,
    numbers: Numbers,
}

impl Notes {
    /// No notes of `width` words, which are two at least.
    pub(super) fn new(width: usize) -> Notes {
        Notes { records: Arena::new(width), numbers: Numbers::default() }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.records.bytes()
    }

    /// The run to the state of a note, and the last words of the notes along it.
    pub(super) fn run_to(&self, mut number: u32) -> (Run, Vec<u32>) {
        let mut note = vec![0; self.records.width()];
        let (mut actions, mut last) = (Vec::new(), Vec::new());
        loop {
            self.records.read(number, &mut note);
            last.push(note[note.len() - 1]);
            if note[0] == NOTHING {
                actions.reverse();
                last.reverse();
                return (Run { initial: note[1] as usize, actions }, last);
            }
            actions.push(ActionId::new(note[1] as usize));
            number = note[0];
        }
    }
}

/// What one worker adds notes by: numbers that it may give.
#[derive(Default)]
pub(super) struct Pen {
    next: u32,
    end: u32,
}

impl Pen {
    /// Adds a note; returns its number.
    pub(super) fn add(&mut self, notes: &Notes, note: &[u32]) -> Result<u32, Limit> {
        if self.next == self.end {
            self.next = notes.numbers.take_block()?;
            notes.records.touch(self.next)?;
            self.end = self.next + BLOCK;
        }
        let number = self.next;
        self.next += 1;
        notes.records.write(number, note);
        Ok(number)
    }
}
