//! Every method against every other: a table of what each of them said.

use std::fmt;

use serde::Serialize;

use crate::outcome::{ModelInfo, SCHEMA, Verdict};
use crate::{grouped, human_bytes};

/// What `check --cross` says.
#[derive(Clone, Debug, Serialize)]
pub struct CrossReport {
    /// Version of this document.
    pub schema: u32,
    /// The model.
    pub model: ModelInfo,
    /// One entry per property.
    pub results: Vec<Crossed>,
}

/// A property, and what all methods said of it.
#[derive(Clone, Debug, Serialize)]
pub struct Crossed {
    /// Its name.
    pub property: String,
    /// What those say that know: unknown if nobody does, or if they do not agree.
    pub verdict: Verdict,
    /// Whether all that know say the same.
    pub agrees: bool,
    /// What each of them said.
    pub methods: Vec<Row>,
}

/// What one method said.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The method, in the words of the command line.
    pub method: String,
    /// What it said.
    pub verdict: Verdict,
    /// Why it does not know, or what is remarkable.
    pub reason: Option<String>,
    /// States stored.
    pub states: u64,
    /// Time.
    pub seconds: f64,
    /// Bytes held at most.
    pub peak_bytes: u64,
}

impl CrossReport {
    /// A report about a model.
    pub fn new(model: ModelInfo, results: Vec<Crossed>) -> CrossReport {
        CrossReport { schema: SCHEMA, model, results }
    }
}

impl Crossed {
    /// What several methods said of a property.
    pub fn new(property: String, methods: Vec<Row>) -> Crossed {
        let says = |verdict: Verdict| methods.iter().any(|row| row.verdict == verdict);
        let (verdict, agrees) = match (says(Verdict::Holds), says(Verdict::Violated)) {
            (true, true) => (Verdict::Unknown, false),
            (true, false) => (Verdict::Holds, true),
            (false, true) => (Verdict::Violated, true),
            (false, false) => (Verdict::Unknown, true),
        };
        Crossed { property, verdict, agrees, methods }
    }

    /// Two methods that do not agree.
    pub fn disagreement(&self) -> Option<(&Row, &Row)> {
        let who = |verdict: Verdict| self.methods.iter().find(|row| row.verdict == verdict);
        who(Verdict::Holds).zip(who(Verdict::Violated))
    }
}

impl fmt::Display for Crossed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_known = self.methods.iter().filter(|row| row.verdict != Verdict::Unknown).count();
        let verdict = if self.agrees { self.verdict.shouted() } else { "METHODS DISAGREE" };
        writeln!(f, "{}: {verdict} ({n_known} of {} methods know)", self.property, self.methods.len())?;
        let width = self.methods.iter().map(|row| row.method.chars().count()).max().unwrap_or(0);
        writeln!(f, "  {:width$}  {:>12}  {:>8}  {:>8}  verdict", "method", "states", "seconds", "memory")?;
        for row in &self.methods {
            let (states, bytes) = (grouped(row.states), human_bytes(row.peak_bytes));
            write!(f, "  {:width$}  {states:>12}  {:>8.2}  {bytes:>8}  ", row.method, row.seconds)?;
            match &row.reason {
                Some(reason) if row.verdict == Verdict::Unknown => writeln!(f, "unknown ({reason})")?,
                _ => writeln!(f, "{}", row.verdict.shouted())?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for CrossReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.model.to_text())?;
        self.results.iter().try_for_each(|result| result.fmt(f))
    }
}
