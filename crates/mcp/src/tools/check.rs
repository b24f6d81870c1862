//! `check`: verdicts, with runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stubborn::report::Remark;
use stubborn::{CheckReport, Error, Options, PropertyResult, Session, Verdict};

use super::Workplace;
use crate::asked::{Bounds, Method, Model, Questions, fair};
use crate::told::{About, Run, verdict};

/// Of a run, so many steps are told if nothing is said.
pub(super) const STEPS: usize = 100;

/// And so many at most.
pub(super) const MAX_STEPS: usize = 5_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    model: Model,
    /// What is asked (default: everything that the model declares).
    #[serde(default)]
    questions: Questions,
    /// Which infinite runs count: each of "weak", "strong", "just", "weak:P,Q", "strong-action:send", or "none"
    /// (default: what the model says).
    #[serde(default)]
    fair: Vec<String>,
    /// Whether the shortest run is looked for, not just any.
    #[serde(default)]
    shortest: bool,
    /// How many steps of a run are told; of longer ones the middle is left out (default 100, at most 5000).
    #[serde(default)]
    max_steps: Option<usize>,
    #[serde(default)]
    method: Method,
    #[serde(default)]
    limits: Bounds,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// violated if some property is; otherwise unknown if some is; otherwise holds.
    verdict: &'static str,
    model: About,
    results: Vec<Checked>,
}

/// The answer about one property.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Checked {
    property: String,
    /// holds, violated or unknown.
    verdict: &'static str,
    /// Why it is unknown, or what is remarkable about the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// How it was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    states: u64,
    transitions: u64,
    seconds: f64,
    /// A run that violates it, checked by an independent judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Run>,
}

pub(crate) fn check(arguments: &Arguments, place: &Workplace<'_>) -> Result<Answer, Error> {
    let options = arguments.method.choose(fair(&arguments.fair)?)?;
    let options = Options { shortest: arguments.shortest, ..options };
    let (session, report) =
        report(&arguments.model, &arguments.questions, &options, arguments.limits, place)?;
    let max_steps = arguments.max_steps.unwrap_or(STEPS).min(MAX_STEPS);
    let checked = |it: &PropertyResult| Checked {
        property: it.property.clone(),
        verdict: verdict(it.verdict),
        reason: Remark::join(&it.remarks),
        method: it.method.as_ref().map(ToString::to_string),
        states: it.stats.states,
        transitions: it.stats.transitions,
        seconds: it.stats.seconds,
        run: it.counterexample.as_ref().map(|run| Run::of(run, max_steps)),
    };
    Ok(Answer {
        verdict: overall(&report),
        model: About::of(&session),
        results: report.results.iter().map(checked).collect(),
    })
}

/// Reads a model and asks.
pub(super) fn report(
    model: &Model,
    questions: &Questions,
    options: &Options,
    bounds: Bounds,
    place: &Workplace<'_>,
) -> Result<(Session, CheckReport), Error> {
    let clock = place.clock(bounds)?;
    let mut session = model.open(place.folder, &clock)?;
    let report = session.check_within(&questions.all(), options, &clock)?;
    Ok((session, report))
}

/// All verdicts in one.
pub(super) fn overall(report: &CheckReport) -> &'static str {
    let some = |wanted: Verdict| report.results.iter().any(|it| it.verdict == wanted);
    let worst = [Verdict::Violated, Verdict::Unknown].into_iter().find(|&it| some(it));
    verdict(worst.unwrap_or(Verdict::Holds))
}
