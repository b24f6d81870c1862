//! How states were found: enough to tell the run to each of them.

use model::{ActionId, Run};

use crate::paged::{OutOfMemory, Paged};

/// How each state was found first: its parent in the log, and the action between them.
pub(crate) struct Log {
    records: Paged,
}

impl Log {
    /// Parent of states that were found first: the number of an initial state stands beside it.
    pub(crate) const ROOT: u32 = u32::MAX;

    pub(crate) fn new() -> Log {
        Log { records: Paged::new(3) }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.records.bytes()
    }

    /// Notes how a state was found; returns the number of the note. Beside a root stands the number
    /// of an initial state.
    pub(crate) fn add(&mut self, parent: u32, action: u32, observer: u32) -> Result<u32, OutOfMemory> {
        let number = u32::try_from(self.records.len()).ok().filter(|&number| number != Log::ROOT);
        self.records.push(&[parent, action, observer])?;
        number.ok_or(OutOfMemory)
    }

    /// Length of the longest run that was noted. The notes are used up: their own memory is all that it takes.
    pub(crate) fn into_depth(mut self) -> u64 {
        let mut longest = 0;
        for number in 0..self.records.len() {
            // Parents come first, and have their depth where the action was.
            let parent = self.records.get(number)[0];
            let depth = if parent == Log::ROOT { 0 } else { self.records.get(parent as usize)[1] + 1 };
            self.records.get_mut(number)[1] = depth;
            longest = longest.max(depth);
        }
        u64::from(longest)
    }

    /// The run to the state of a note, and the observer's states on the way.
    pub(crate) fn run_to(&self, mut number: u32) -> (Run, Vec<u32>) {
        let (mut actions, mut observers) = (Vec::new(), Vec::new());
        loop {
            let record = self.records.get(number as usize);
            observers.push(record[2]);
            if record[0] == Log::ROOT {
                actions.reverse();
                observers.reverse();
                return (Run { initial: record[1] as usize, actions }, observers);
            }
            actions.push(ActionId::new(record[1] as usize));
            number = record[0];
        }
    }
}
