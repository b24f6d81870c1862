//! What is known of a run besides its record: the system, the states as the system has them, and who can tell
//! them in the words of the language. Of a run that was read from a file, states are known by the names of
//! variables only, and there is no story.

use model::ActionSystem;

use super::record::Record;
use crate::Spelling;
use crate::story::Story;
use crate::trace::Trace;

pub(super) struct Known<'k> {
    pub(super) system: &'k ActionSystem,
    pub(super) story: Option<&'k dyn Story>,
    /// How the user has to spell what sentences refer to.
    pub(super) spelling: &'k Spelling,
    trace: Option<&'k Trace>,
}

impl<'k> Known<'k> {
    pub(super) fn of_trace(trace: &'k Trace, spelling: &'k Spelling) -> Known<'k> {
        Known {
            system: trace.system(),
            story: trace.story().filter(|story| story.has_processes()),
            spelling,
            trace: Some(trace),
        }
    }

    pub(super) fn of_system(system: &'k ActionSystem, spelling: &'k Spelling) -> Known<'k> {
        Known { system, story: None, spelling, trace: None }
    }

    /// The state after a step of the record, if it is known.
    pub(super) fn state(&self, record: &Record, index: usize) -> Option<Vec<i64>> {
        match self.trace {
            Some(trace) => Some(trace.state(record.steps[index].number)),
            None => record.state_of(self.system, index),
        }
    }
}
