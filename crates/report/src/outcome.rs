//! Verdicts and statistics. The JSON documents are these types, serialized; their fields are
//! promised by the `schema` number.

use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use automata::{Tester, Tgba};
use base::text::Shown;
use base::{Source, Span};
use language::story::Unreached;
use ltl::Formulas;
use model::StepError;
use model::fairness::Kind as FairKind;
use replay::Reason;
use replay::fairness::{Constraint, Subject};
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::method::{Method, Observer};
use crate::remark::Remark;
use crate::trace::{StepsJson, Trace};
use crate::why::Because;
use crate::words::words;
use crate::{Spelling, chart, count, human_bytes};

/// Version of the JSON documents.
pub const SCHEMA: u32 = 1;

/// Of more than so many things that never happen, the others are not told in texts.
const MAX_UNREACHED: usize = 20;

words! {
    /// What is said of a property.
    Verdict {
        /// It is true of every run.
        Holds = "holds",
        /// A run breaks it.
        Violated = "violated",
        /// Neither is known.
        Unknown = "unknown",
    }
}

impl Verdict {
    /// The word for it in texts, where a violation should not be overlooked.
    pub(crate) fn shouted(self) -> &'static str {
        match self {
            Verdict::Violated => "VIOLATED",
            verdict => verdict.name(),
        }
    }
}

/// The model in question.
#[derive(Clone, Debug, Serialize)]
pub struct ModelInfo {
    /// Its file, as the user named it.
    pub file: String,
    /// What programs call its language.
    pub language: &'static str,
    /// Number of processes.
    pub processes: usize,
    /// Number of actions.
    pub actions: usize,
    /// Bytes of a packed state.
    pub state_bytes: usize,
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

words! {
    /// What a run shows.
    Kind {
        /// A deadlock: of the system, or of system and tester together.
        Deadlock = "deadlock",
        /// A bad state, its last one; or all that is needed to know that it is bad.
        Prefix = "prefix",
        /// The model goes wrong at its end.
        Error = "error",
        /// It is infinite.
        Lasso = "lasso",
    }
}

words! {
    /// Where a finite run leads.
    Target {
        /// Nothing is possible there.
        Deadlock = "a deadlock",
        /// Something is so that should not be.
        Violation = "where it is violated",
        /// The system does nothing that the tester needs.
        Refusal = "where it refuses to go on",
        /// Something is so that was asked for.
        Truth = "where it is true",
        /// Processes are stuck where they should not be.
        InvalidEnd = "an invalid end state",
        /// The model goes wrong.
        Error = "the error",
    }
}

/// A run that shows a violation, or that something is possible.
#[derive(Clone)]
pub struct Counterexample {
    /// What it shows.
    pub kind: Kind,
    /// Where it leads, if it is finite.
    pub target: Target,
    /// The run.
    pub trace: Trace,
    /// For an infinite run, the number of steps before those that repeat for ever.
    pub cycle_start: Option<usize>,
    /// Why it is fair, if it has to be.
    pub fairness: Vec<FairTo>,
}

impl Counterexample {
    /// A finite run.
    pub fn finite(kind: Kind, target: Target, trace: Trace) -> Counterexample {
        Counterexample { kind, target, trace, cycle_start: None, fairness: Vec::new() }
    }

    /// What it is, and its steps.
    fn write_text(&self, f: &mut fmt::Formatter<'_>, spelling: &Spelling) -> fmt::Result {
        let Counterexample { target, trace, cycle_start, fairness, .. } = self;
        let length = count(trace.len() as u64, "step");
        match cycle_start {
            Some(start) if *start == trace.len() => {
                writeln!(f, "  a run of {length} to a deadlock, whose state repeats for ever:")?;
            }
            Some(start) => {
                let n_cycle = (trace.len() - start) as u64;
                let (cycle, verb) = (count(n_cycle, "step"), if n_cycle == 1 { "repeats" } else { "repeat" });
                writeln!(f, "  a run of {length}, of which the last {cycle} {verb} for ever:")?;
            }
            None => writeln!(f, "  a run of {length} to {target}:")?,
        }
        trace.write_text(f, *cycle_start, spelling)?;
        fairness.iter().try_for_each(|constraint| writeln!(f, "  {}", constraint.to_text()))
    }

    /// Its messages as a chart, as text.
    pub fn chart(&self) -> String {
        chart::to_text(&self.trace)
    }

    /// Its messages as a chart, as a picture.
    pub fn to_svg(&self) -> String {
        chart::to_svg(&self.trace)
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_text(f, &Spelling::default())
    }
}

/// Why a run is fair to a constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FairTo {
    /// The process, or the action.
    pub constraint: Subject,
    /// In which way.
    pub kind: FairKind,
    /// Why.
    pub reason: Reason,
}

impl FairTo {
    /// Why a run is fair to each of the constraints, as the judge said.
    pub fn each(constraints: &[Constraint], reasons: &[Reason]) -> Vec<FairTo> {
        let fair = |(known, &reason): (&Constraint, &Reason)| FairTo {
            constraint: known.subject.clone(),
            kind: known.kind,
            reason,
        };
        constraints.iter().zip(reasons).map(fair).collect()
    }

    /// One line.
    pub fn to_text(&self) -> String {
        let constraint = &self.constraint;
        let fair = if self.kind == FairKind::Just { "just" } else { "fair" };
        match self.reason {
            Reason::Taken(step) => {
                let verb = if matches!(constraint, Subject::Action(_)) { "happens" } else { "moves" };
                format!("{fair} to {constraint}: it {verb} in step {step}")
            }
            Reason::Disabled(step) => format!("{fair} to {constraint}: disabled after step {step}"),
            Reason::NeverEnabled => format!("{fair} to {constraint}: never enabled in the cycle"),
            Reason::Interfered(step) => {
                format!("{fair} to {constraint}: step {step} interferes with what it could do")
            }
        }
    }
}

impl Serialize for FairTo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (because, step) = match self.reason {
            Reason::Taken(step) => ("taken", Some(step)),
            Reason::Disabled(step) => ("disabled", Some(step)),
            Reason::NeverEnabled => ("never enabled", None),
            Reason::Interfered(step) => ("interfered with", Some(step)),
        };
        let mut fair = serializer.serialize_struct("FairTo", 4)?;
        fair.serialize_field("constraint", &self.constraint.to_string())?;
        fair.serialize_field("kind", self.kind.name())?;
        fair.serialize_field("because", because)?;
        fair.serialize_field("step", &step)?;
        fair.end()
    }
}

impl Serialize for Counterexample {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cycle_start = self.cycle_start.unwrap_or(self.trace.len());
        let failing = self.trace.failing_statements();
        let n_fields = 3 + usize::from(!self.fairness.is_empty()) + usize::from(!failing.is_empty());
        let mut counterexample = serializer.serialize_struct("Counterexample", n_fields)?;
        counterexample.serialize_field("kind", &self.kind)?;
        let parts = [0..=cycle_start, cycle_start + 1..=self.trace.len()].map(|part| self.trace.steps(part));
        counterexample.serialize_field("prefix", &parts[0])?;
        counterexample.serialize_field("cycle", &parts[1])?;
        match parts.iter().map(StepsJson::n_left_out).sum::<usize>() {
            0 => counterexample.skip_field("left_out")?,
            n => counterexample.serialize_field("left_out", &n)?,
        }
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

/// A place in a file: lines and columns from 1 on, the end is behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as the user named it.
    pub file: String,
    /// Line and column where it begins.
    pub start: (usize, usize),
    /// Line and column where it ends.
    pub end: (usize, usize),
}

impl Place {
    /// The place of a span, in its text.
    pub fn new(source: &Source, span: Span) -> Place {
        let file = source.name.clone();
        Place { file, start: source.position(span.start), end: source.position(span.end) }
    }
}

/// The answer about one property.
#[derive(Clone, Serialize)]
pub struct PropertyResult {
    /// Its name.
    pub property: String,
    /// Where it is declared, if it is.
    #[serde(skip)]
    pub place: Option<Place>,
    /// The answer.
    pub verdict: Verdict,
    /// Why it is unknown, or what is remarkable about the answer.
    #[serde(rename = "reason", serialize_with = "Remark::serialize_all")]
    pub remarks: Vec<Remark>,
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
    pub counterexample: Option<Counterexample>,
    /// What the same check without reduction found, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction_check: Option<ReductionCheck>,
    /// How the model goes wrong, if that is why nothing is known.
    #[serde(skip)]
    pub fault: Option<StepError>,
    /// What watched the runs.
    #[serde(skip)]
    pub watcher: Option<Watcher>,
    /// What it rests on, if it holds and that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Vec<Because>>,
    /// The certificate, if one was asked for and there is one.
    #[serde(skip)]
    pub certificate: Option<Arc<certify::Proof>>,
}

/// What watches runs.
#[derive(Clone)]
pub enum Watcher {
    /// An automaton that accepts what must not happen.
    Claim(Arc<Tgba>, Arc<Formulas>),
    /// A tester.
    Tester(Arc<Tester>),
}

/// A check with reduction, compared with the same check without.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ReductionCheck {
    /// States stored without reduction.
    pub full_states: u64,
    /// States stored with reduction.
    pub reduced_states: u64,
    /// Whether both gave the same answer (and, for deadlocks, the same number of them); nothing if one of them
    /// gave none.
    pub agrees: Option<bool>,
}

/// What `check` says.
#[derive(Clone, Serialize)]
pub struct CheckReport {
    /// Version of this document.
    pub schema: u32,
    /// The model.
    pub model: ModelInfo,
    /// One entry per property.
    pub results: Vec<PropertyResult>,
    /// What never happens; nothing if no search has seen all that does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreached: Option<Vec<Unreached>>,
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
    #[serde(rename = "reason", serialize_with = "Remark::serialize_all")]
    pub remarks: Vec<Remark>,
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
    pub observer: Observer,
    /// Distinct states of the system in the product.
    pub system_states: u64,
    /// States of the observer, whether or not they are in the product.
    pub observer_states: u64,
}

impl ModelInfo {
    /// A model that could not be read within the limits.
    pub fn unread(file: String, language: &'static str) -> ModelInfo {
        ModelInfo { file, language, processes: 0, actions: 0, state_bytes: 0 }
    }

    /// One line about the model.
    pub fn to_text(&self) -> String {
        if self.state_bytes == 0 {
            return format!("{}: not read", self.file);
        }
        format!(
            "{}: {}, {}, {} per state",
            self.file,
            count(self.processes as u64, "process"),
            count(self.actions as u64, "action"),
            count(self.state_bytes as u64, "byte"),
        )
    }
}

impl PropertyResult {
    /// Whether it is violated.
    pub fn is_violated(&self) -> bool {
        self.verdict == Verdict::Violated
    }

    /// As text, for a program that spells options in its own way.
    pub fn spelled(&self, spelling: &Spelling) -> String {
        Shown(|f: &mut fmt::Formatter<'_>| self.write_text(f, spelling)).to_string()
    }

    /// The verdict, the run if there is one, and how it was found.
    fn write_text(&self, f: &mut fmt::Formatter<'_>, spelling: &Spelling) -> fmt::Result {
        write!(f, "{}: {}", self.property, self.verdict.shouted())?;
        if let Some(reason) = Remark::join(&self.remarks) {
            write!(f, " ({reason})")?;
        }
        f.write_char('\n')?;
        if let Some(counterexample) = &self.counterexample {
            counterexample.write_text(f, spelling)?;
        }
        match self.why.as_deref() {
            Some([]) => writeln!(f, "  why: nothing suspicious")?,
            Some(why) => why.iter().try_for_each(|because| writeln!(f, "  why: {because}"))?,
            None => {}
        }
        if let Some(check) = &self.reduction_check {
            writeln!(f, "  {}", check.to_text())?;
        }
        self.chosen.iter().chain(&self.choice).try_for_each(|reason| writeln!(f, "  {reason}"))
    }
}

impl fmt::Display for PropertyResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_text(f, &Spelling::default())
    }
}

impl ReductionCheck {
    /// One line.
    pub fn to_text(&self) -> String {
        let (full, reduced) = (count(self.full_states, "state"), count(self.reduced_states, "state"));
        let (verified, verdict) = match self.agrees {
            Some(true) => ("verified", "the same answer"),
            Some(false) => ("verified", "ANOTHER ANSWER"),
            None => ("not verified", "but not all of them, so that the answers cannot be compared"),
        };
        format!("reduction {verified}: {full} without it, {reduced} with it, {verdict}")
    }
}

impl CheckReport {
    /// As programs read it, in lines.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// How a program that checks should end: 1 if something is violated, else 2 if the model goes wrong, else 3
    /// if something is not known, or a limit was reached before it was certified, else 0.
    pub fn exit_code(&self) -> u8 {
        let some = |verdict| self.results.iter().any(|result| result.verdict == verdict);
        let remarks = || self.results.iter().flat_map(|result| &result.remarks);
        let is_limited = || remarks().any(|remark| matches!(remark, Remark::NotCertifiedYet(_)));
        match some(Verdict::Violated) {
            true => 1,
            false if self.results.iter().any(|result| result.fault.is_some()) => 2,
            false => 3 * u8::from(some(Verdict::Unknown) || is_limited()),
        }
    }

    /// From when this becomes true, no more steps of runs are written to documents; what is missing is told as
    /// `left_out`.
    pub fn stop_when(&mut self, is_over: &Arc<AtomicBool>) {
        for counterexample in self.results.iter_mut().filter_map(|result| result.counterexample.as_mut()) {
            counterexample.trace.stop_when(is_over);
        }
    }

    /// The results as text, for a program that spells options in its own way.
    pub fn spelled(&self, spelling: &Spelling) -> impl fmt::Display {
        Shown(|f: &mut fmt::Formatter<'_>| self.write_text(f, spelling))
    }

    /// The results, with the figures of a search after the last result it gave.
    fn write_text(&self, f: &mut fmt::Formatter<'_>, spelling: &Spelling) -> fmt::Result {
        writeln!(f, "{}", self.model.to_text())?;
        let is_plain = |result: &PropertyResult| {
            result.method.as_ref().is_some_and(|method| method.observer == Observer::None)
        };
        let shares_search =
            |a: &PropertyResult, b: &PropertyResult| is_plain(a) && is_plain(b) && a.stats == b.stats;
        for (index, result) in self.results.iter().enumerate() {
            result.write_text(f, spelling)?;
            let is_last = self.results.get(index + 1).is_none_or(|next| !shares_search(result, next));
            if let (Some(method), true) = (&result.method, is_last) {
                writeln!(f, "  {} ({method})", result.stats.to_text())?;
            }
        }
        if let Some(unreached) = self.unreached.as_deref().filter(|list| !list.is_empty()) {
            f.write_str("never executed:\n")?;
            for what in unreached.iter().take(MAX_UNREACHED) {
                writeln!(f, "  {}", what.to_text())?;
            }
            if let Some(n_more @ 1..) = unreached.len().checked_sub(MAX_UNREACHED) {
                writeln!(f, "  and {n_more} more, which JSON lists")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_text(f, &Spelling::default())
    }
}

/// What `simulate` says: a walk through the model.
pub struct WalkReport<'a> {
    /// The model.
    pub model: ModelInfo,
    /// What choices were made by, if they were random.
    pub seed: Option<u64>,
    /// Why it ends where it does.
    pub end: Option<&'a str>,
    /// The walk.
    pub trace: &'a Trace,
}

impl Serialize for WalkReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let steps = self.trace.steps(0..=self.trace.len());
        let mut walk = serializer.serialize_struct("WalkReport", 6)?;
        walk.serialize_field("schema", &SCHEMA)?;
        walk.serialize_field("model", &self.model)?;
        walk.serialize_field("seed", &self.seed)?;
        walk.serialize_field("end", &self.end)?;
        walk.serialize_field("steps", &steps)?;
        match steps.n_left_out() {
            0 => walk.skip_field("left_out")?,
            n => walk.serialize_field("left_out", &n)?,
        }
        walk.end()
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
    /// The report about a model of which nothing was explored.
    pub fn new(model: ModelInfo) -> ExploreReport {
        ExploreReport {
            schema: SCHEMA,
            complete: false,
            remarks: Vec::new(),
            states: 0,
            transitions: 0,
            deadlocks: 0,
            depth: 0,
            seconds: 0.0,
            peak_bytes: 0,
            state_bytes: model.state_bytes,
            model,
            product: None,
        }
    }

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
        if let Some(reason) = Remark::join(&self.remarks) {
            let kind = if self.complete { "note" } else { "incomplete" };
            _ = writeln!(text, "{kind}: {reason}");
        }
        text
    }
}
