//! What processes do in all runs, for a language in which each process is a variable that says where it is: by that, a front
//! end can tell which moves of its text never happen.

use std::collections::HashSet;

use base::Span;
use model::{ActionSystem, LabelId, VarId};

/// A process goes from one place to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// The variable of the process.
    pub process: VarId,
    /// What it does; nothing if nobody sees that.
    pub label: Option<LabelId>,
    /// Where it was.
    pub from: i64,
    /// Where it is then.
    pub to: i64,
}

/// What processes do in all runs, and where they are.
#[derive(Debug, Default)]
pub struct Moves {
    happen: HashSet<Move>,
    places: HashSet<(VarId, i64)>,
}

impl Moves {
    /// The system begins so.
    pub fn begin(&mut self, system: &ActionSystem, values: &[i64]) {
        let processes = 0..system.processes().len().min(values.len());
        self.places.extend(processes.map(|at| (VarId::new(at), values[at])));
    }

    /// A step happens: process and variable of the same number belong together.
    pub fn add(&mut self, system: &ActionSystem, action: &model::Action, before: &[i64], after: &[i64]) {
        let label = Some(action.label).filter(|label| !system.labels()[label.index()].internal);
        for owner in &action.owners {
            let (at, process) = (owner.index(), VarId::new(owner.index()));
            let (from, to) = (before[at], after[at]);
            self.happen.insert(Move { process, label, from, to });
            self.places.extend([(process, from), (process, to)]);
        }
    }

    /// Whether a move ever happens.
    pub fn has(&self, one: &Move) -> bool {
        self.happen.contains(one)
    }

    /// Whether a process that moves ever is in this place.
    pub fn reaches(&self, process: VarId, place: i64) -> bool {
        self.places.contains(&(process, place))
    }
}

/// A move as it was written, which never happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The kind of process.
    pub process: String,
    /// Where it stands.
    pub span: Span,
    /// Whether a process gets there.
    pub reached: bool,
}
