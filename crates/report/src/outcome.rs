//! Verdicts and statistics. The JSON documents are these types, serialized; their fields are
//! promised by the `schema` number.

use std::fmt::Write as _;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::trace::Trace;
use crate::{count, human_bytes};

/// Version of the JSON documents.
pub const SCHEMA: u32 = 1;

/// What is said of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is true of every run.
    Holds,
    /// A run breaks it.
    Violated,
    /// Neither is known.
    Unknown,
}

/// The model in question.
#[derive(Clone, Debug, Serialize)]
pub struct ModelInfo {
    /// Its file, as the user named it.
    pub file: String,
    /// `process`, later `promela` and `petri`.
    pub language: &'static str,
    /// Number of processes.
    pub processes: usize,
    /// Number of actions.
    pub actions: usize,
    /// Bytes of a packed state.
    pub state_bytes: usize,
}

/// How a property was checked.
#[derive(Clone, Debug, Serialize)]
pub struct Method {
    /// The observer that watched the run.
    pub observer: &'static str,
    /// The search.
    pub search: &'static str,
    /// The reduction.
    pub reduction: &'static str,
    /// The fairness assumed.
    pub fairness: &'static str,
    /// The store.
    pub store: &'static str,
}

/// What it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Statistics {
    /// Distinct product states stored.
    pub states: u64,
    /// Product transitions generated.
    pub transitions: u64,
    /// Distinct system states, if the store can tell.
    pub system_states: Option<u64>,
    /// States of the observer.
    pub observer_states: u64,
    /// Length of the longest path, as the search counts it.
    pub depth: u64,
    /// Time.
    pub seconds: f64,
    /// Bytes held at most.
    pub peak_bytes: u64,
}

/// A run that shows a violation.
#[derive(Clone)]
pub struct Counterexample<'a> {
    /// `deadlock` (of the system, or of system and tester together), `prefix` (the last state is
    /// bad), `error` (the model goes wrong there) or, for infinite runs, `lasso`.
    pub kind: &'static str,
    /// Where a finite run leads, in words.
    pub target: &'static str,
    /// The run.
    pub trace: Trace<'a>,
    /// For an infinite run, the number of steps before those that repeat for ever.
    pub cycle_start: Option<usize>,
    /// Why it is fair, if it has to be.
    pub fairness: Vec<FairTo>,
}

/// Why a run is fair to a constraint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FairTo {
    /// The process, or the action.
    pub constraint: String,
    /// `weak` or `strong`.
    pub kind: &'static str,
    /// `taken` in a step of the cycle, `disabled` after one, or `never enabled` in the cycle.
    pub because: &'static str,
    /// The step.
    pub step: Option<usize>,
}

impl FairTo {
    /// One line.
    pub fn to_text(&self) -> String {
        let FairTo { constraint, because, step, .. } = self;
        match (*because, step) {
            ("taken", Some(step)) => {
                let verb = if constraint.starts_with("action ") { "happens" } else { "moves" };
                format!("fair to {constraint}: it {verb} in step {step}")
            }
            ("disabled", Some(step)) => format!("fair to {constraint}: disabled after step {step}"),
            _ => format!("fair to {constraint}: {because} in the cycle"),
        }
    }
}

impl Serialize for Counterexample<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cycle_start = self.cycle_start.unwrap_or(self.trace.len());
        let failing = self.trace.failing_statements();
        let n_fields = 3 + usize::from(!self.fairness.is_empty()) + usize::from(!failing.is_empty());
        let mut counterexample = serializer.serialize_struct("Counterexample", n_fields)?;
        counterexample.serialize_field("kind", self.kind)?;
        counterexample.serialize_field("prefix", &self.trace.steps(0..=cycle_start))?;
        counterexample.serialize_field("cycle", &self.trace.steps(cycle_start + 1..=self.trace.len()))?;
        if self.fairness.is_empty() {
            counterexample.skip_field("fairness")?;
        } else {
            counterexample.serialize_field("fairness", &self.fairness)?;
        }
        if failing.is_empty() {
            counterexample.skip_field("failing")?;
        } else {
            counterexample.serialize_field("failing", &failing)?;
        }
        counterexample.end()
    }
}

/// The answer about one property.
#[derive(Clone, Serialize)]
pub struct PropertyResult<'a> {
    /// Its name.
    pub property: String,
    /// The answer.
    pub verdict: Verdict,
    /// Why it is unknown, or what is remarkable about the answer.
    pub reason: Option<String>,
    /// How it was checked; none if it was not.
    pub method: Option<Method>,
    /// Why it was checked so, in one line, if nobody said how.
    #[serde(skip)]
    pub chosen: Option<String>,
    /// Why it was checked so, if that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choice: Vec<String>,
    /// What it took.
    pub stats: Statistics,
    /// The run that breaks it.
    pub counterexample: Option<Counterexample<'a>>,
    /// What `--verify-reduction` found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction_check: Option<ReductionCheck>,
}

/// A check with reduction, compared with the same check without.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ReductionCheck {
    /// States stored without reduction.
    pub full_states: u64,
    /// States stored with reduction.
    pub reduced_states: u64,
    /// Whether both gave the same answer (and, for deadlocks, the same number of them).
    pub agrees: bool,
}

/// What `check` says.
#[derive(Clone, Serialize)]
pub struct CheckReport<'a> {
    /// Version of this document.
    pub schema: u32,
    /// The model.
    pub model: ModelInfo,
    /// One entry per property.
    pub results: Vec<PropertyResult<'a>>,
}

/// What `explore` says.
#[derive(Clone, Debug, Serialize)]
pub struct ExploreReport {
    /// Version of this document.
    pub schema: u32,
    /// The model.
    pub model: ModelInfo,
    /// Whether everything was explored.
    pub complete: bool,
    /// Why not, or what is remarkable.
    pub reason: Option<String>,
    /// Distinct states.
    pub states: u64,
    /// Transitions.
    pub transitions: u64,
    /// States without enabled actions.
    pub deadlocks: u64,
    /// Breadth-first: the longest of all shortest runs. Depth-first: the longest path.
    pub depth: u64,
    /// Time.
    pub seconds: f64,
    /// Bytes held at most.
    pub peak_bytes: u64,
    /// Bytes of a packed state.
    pub state_bytes: usize,
    /// The observer, if the product with one was explored.
    #[serde(flatten)]
    pub product: Option<ProductInfo>,
}

/// What a product consists of.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ProductInfo {
    /// The kind of observer.
    pub observer: &'static str,
    /// Distinct states of the system in the product.
    pub system_states: u64,
    /// States of the observer, whether or not they are in the product.
    pub observer_states: u64,
}

impl ModelInfo {
    /// One line about the model.
    pub fn to_text(&self) -> String {
        format!(
            "{}: {}, {}, {} per state",
            self.file,
            count(self.processes as u64, "process"),
            count(self.actions as u64, "action"),
            count(self.state_bytes as u64, "byte"),
        )
    }
}

impl PropertyResult<'_> {
    /// The verdict, the run if there is one, and how it was found.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let verdict = match self.verdict {
            Verdict::Holds => "holds",
            Verdict::Violated => "VIOLATED",
            Verdict::Unknown => "unknown",
        };
        // Writing to a string cannot fail.
        _ = write!(text, "{}: {verdict}", self.property);
        if let Some(reason) = &self.reason {
            _ = write!(text, " ({reason})");
        }
        text.push('\n');
        if let Some(Counterexample { target, trace, cycle_start, fairness, .. }) = &self.counterexample {
            let length = count(trace.len() as u64, "step");
            _ = match cycle_start {
                Some(start) if *start == trace.len() => {
                    writeln!(text, "  a run of {length} to a deadlock, whose state repeats for ever:")
                }
                Some(start) => {
                    let n_cycle = (trace.len() - start) as u64;
                    let (cycle, verb) =
                        (count(n_cycle, "step"), if n_cycle == 1 { "repeats" } else { "repeat" });
                    writeln!(text, "  a run of {length}, of which the last {cycle} {verb} for ever:")
                }
                None => writeln!(text, "  a run of {length} to {target}:"),
            };
            text += &trace.to_text(*cycle_start);
            for constraint in fairness {
                _ = writeln!(text, "  {}", constraint.to_text());
            }
        }
        if let Some(check) = &self.reduction_check {
            _ = writeln!(text, "  {}", check.to_text());
        }
        for reason in self.chosen.iter().chain(&self.choice) {
            _ = writeln!(text, "  {reason}");
        }
        text
    }
}

impl ReductionCheck {
    /// One line.
    pub fn to_text(&self) -> String {
        let (full, reduced) = (count(self.full_states, "state"), count(self.reduced_states, "state"));
        let verdict = if self.agrees { "the same answer" } else { "ANOTHER ANSWER" };
        format!("reduction verified: {full} without it, {reduced} with it, {verdict}")
    }
}

impl Method {
    /// One line.
    pub fn to_text(&self) -> String {
        let Method { observer, search, reduction, fairness, store } = self;
        let fairness = match *fairness {
            "none" => String::new(),
            kind => format!(", {kind} fairness"),
        };
        let reduction = match *reduction {
            "none" => "no reduction".to_owned(),
            "stubborn" => "stubborn sets".to_owned(),
            name => format!("{name} stubborn sets"),
        };
        match *observer {
            "none" => format!("{search}, {reduction}, {store} store"),
            _ => format!("{observer}, {search}, {reduction}{fairness}, {store} store"),
        }
    }
}

impl Statistics {
    /// One line.
    pub fn to_text(&self) -> String {
        let Statistics { states, transitions, depth, seconds, peak_bytes, .. } = *self;
        format!(
            "{}, {}, depth {depth}, {seconds:.2} s, {}",
            count(states, "state"),
            count(transitions, "transition"),
            human_bytes(peak_bytes)
        )
    }
}

impl ExploreReport {
    /// A few lines.
    pub fn to_text(&self) -> String {
        let product = self.product.as_ref().map_or(String::new(), |product| {
            let ProductInfo { observer, system_states, observer_states } = product;
            let system_states = count(*system_states, "system state");
            format!("{system_states}, {} ({observer})\n", count(*observer_states, "observer state"))
        });
        let mut text = format!(
            "{}\n{}\n{}\n{}\ndepth {}\n{product}{:.2} s, {}\n",
            self.model.to_text(),
            count(self.states, "state"),
            count(self.transitions, "transition"),
            count(self.deadlocks, "deadlock"),
            self.depth,
            self.seconds,
            human_bytes(self.peak_bytes)
        );
        if let Some(reason) = &self.reason {
            let kind = if self.complete { "note" } else { "incomplete" };
            _ = writeln!(text, "{kind}: {reason}");
        }
        text
    }
}
