//! `explain`: answers in words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stubborn::report::{Explanation, Spelling};
use stubborn::{Error, Options, PropertyResult};

use super::Workplace;
use super::check::{overall, report};
use crate::asked::{Bounds, Model, Questions, fair};
use crate::told::{About, verdict};

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
    /// Whether properties that hold are looked at, too: parts that never matter, conditions that are never true, fairness
    /// that is not needed. That takes several searches.
    #[serde(default)]
    why: bool,
    #[serde(default)]
    limits: Bounds,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// violated if some property is; otherwise unknown if some is; otherwise holds.
    verdict: &'static str,
    model: About,
    results: Vec<Explained>,
}

/// An answer in words.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Explained {
    property: String,
    /// holds, violated or unknown.
    verdict: &'static str,
    /// Why it is unknown, or what is remarkable about the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Sentences about the run that violates it.
    sentences: Vec<String>,
    /// Why it may say less than it seems that it holds; only with `why`.
    #[serde(skip_serializing_if = "Option::is_none")]
    suspicions: Option<Vec<String>>,
    /// Why it was decided in this way.
    choice: Vec<String>,
}

pub(crate) fn explain(arguments: &Arguments, place: &Workplace<'_>) -> Result<Answer, Error> {
    let options = Options { why: arguments.why, ..fair(&arguments.fair)? };
    let (session, report) =
        report(&arguments.model, &arguments.questions, &options, arguments.limits, place)?;
    let explained = |it: &PropertyResult| {
        let spelling = Spelling {
            shows_all: "the tool check shows all, with a larger max_steps",
            weak_fairness: Some("\"fair\": [\"weak\"]"),
            strong_fairness: Some("\"fair\": [\"strong\"]"),
        };
        let Explanation { property, reason, explanation, .. } = Explanation::of_result(it, &spelling);
        Explained {
            property,
            verdict: verdict(it.verdict),
            reason,
            sentences: explanation,
            suspicions: it.why.as_ref().map(|all| all.iter().map(ToString::to_string).collect()),
            choice: it.chosen.iter().chain(&it.choice).cloned().collect(),
        }
    };
    Ok(Answer {
        verdict: overall(&report),
        model: About::of(&session),
        results: report.results.iter().map(explained).collect(),
    })
}
