//! Explored state spaces as `.aut` (Aldebaran) and DOT.
//!
//! An `.aut` file knows one initial state only. A system with several is written with an artificial
//! one in front, numbered 0, from which a step labeled `init` leads to each; the caller says so.

use std::fmt;
use std::io;

use base::Limit;
use base::text::escape_dot;
use check::store::{Exact, Store, Visited};
use check::{StateId, graph};
use model::{ActionId, ActionSystem, Describe, StepError, System, aut, reference};

/// Why an export failed.
#[derive(Debug)]
pub enum ExportError {
    /// Writing failed.
    Io(io::Error),
    /// The model went wrong; it did not while exploring, so this does not happen.
    Model(StepError),
    /// The budget is spent.
    Limit(Limit),
}

impl std::error::Error for ExportError {}

impl From<Limit> for ExportError {
    fn from(limit: Limit) -> ExportError {
        ExportError::Limit(limit)
    }
}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> ExportError {
        ExportError::Io(error)
    }
}

impl From<StepError> for ExportError {
    fn from(error: StepError) -> ExportError {
        ExportError::Model(error)
    }
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::Io(error) => error.fmt(f),
            ExportError::Model(error) => error.fmt(f),
            ExportError::Limit(limit) => limit.fmt(f),
        }
    }
}

/// An explored space that is to be written.
pub struct Space<'a> {
    /// The system.
    pub system: &'a ActionSystem,
    /// All its states.
    pub store: &'a Exact,
    /// Number of transitions.
    pub n_transitions: u64,
}

impl Space<'_> {
    /// The distinct initial states; the space has an artificial one if there are several.
    pub fn initial(&self) -> Vec<StateId> {
        let mut words = Vec::new();
        self.system.initial_states(&mut words);
        let mut ids: Vec<StateId> =
            words.chunks_exact(self.system.width()).filter_map(|state| self.store.find(state)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn label(&self, action: ActionId) -> Option<&str> {
        let label = &self.system.labels()[self.system.action(action).label.index()];
        (!label.internal).then_some(label.name.as_str())
    }

    /// What a step from a state is called.
    pub fn step_label(&self, from: StateId, step: ActionId) -> String {
        let mut state = vec![0; self.system.width()];
        self.store.get(from, &mut state);
        reference::label(self.system, step, &self.system.layout().decode(&state))
    }

    /// Writes the Aldebaran format.
    pub fn write_aut(&self, out: &mut impl io::Write) -> Result<(), ExportError> {
        let initial = self.initial();
        let artificial = u64::from(initial.len() > 1);
        let extra = if artificial == 1 { initial.len() as u64 } else { 0 };
        let number = |id: StateId| id.index() as u64 + artificial;
        let first = if artificial == 1 { 0 } else { initial.first().map_or(0, |&id| number(id)) };
        out.write_all(
            aut::header(first, self.n_transitions + extra, self.store.n_states() + artificial).as_bytes(),
        )?;
        let mut line = String::new();
        let mut write = |from: u64, label: Option<&str>, to: u64| {
            line.clear();
            aut::push_edge(&mut line, from, label, to);
            out.write_all(line.as_bytes())
        };
        if artificial == 1 {
            initial.iter().try_for_each(|&id| write(0, Some("init"), number(id)))?;
        }
        graph::for_each_transition(self.system, self.store, |from, action, to| {
            Ok(write(number(from), self.label(action), number(to))?)
        })
    }

    /// Writes the DOT format; a state is drawn with the values of its variables.
    pub fn write_dot(&self, out: &mut impl io::Write) -> Result<(), ExportError> {
        let mut state = vec![0; self.system.width()];
        let names = self.system.variable_names();
        writeln!(out, "digraph states {{")?;
        writeln!(out, "  node [shape=box, style=rounded, fontname=\"sans-serif\"];")?;
        for id in (0..self.store.n_states() as usize).map(StateId::new) {
            self.store.get(id, &mut state);
            let values = self.system.values(&state);
            let lines: Vec<String> = names
                .iter()
                .zip(values)
                .map(|(name, value)| format!("{} = {}", escape_dot(name), escape_dot(&value)))
                .collect();
            writeln!(out, "  s{} [label=\"{}\"];", id.index(), lines.join("\\n"))?;
        }
        for id in self.initial() {
            writeln!(out, "  init{0} [shape=point]; init{0} -> s{0};", id.index())?;
        }
        graph::for_each_transition(self.system, self.store, |from, action, to| -> Result<(), ExportError> {
            let label = escape_dot(&self.step_label(from, action));
            Ok(writeln!(out, "  s{} -> s{} [label=\"{label}\"];", from.index(), to.index())?)
        })?;
        Ok(writeln!(out, "}}")?)
    }
}
