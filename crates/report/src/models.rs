//! Answers about models in Rust, as documents, pages and words.
//!
//! A verdict is made a result of the JSON document of a check, with the run in texts; the page and the words are read off
//! that, as they are for a run that was written to a file.

use embed::{Because, Ending, Fair, Model};
use serde_json::{Map, Value, json};

use crate::explain::Explanation;
use crate::outcome::{Kind, SCHEMA, Verdict};
use crate::{Spelling, html};

/// What was asked about a model in Rust, and the answers.
///
/// ```
/// # use embed::{Check, Model};
/// # struct Counter;
/// # impl Model for Counter {
/// #     type State = u8;
/// #     type Action = u8;
/// #     fn initial(&self) -> Vec<u8> { vec![0] }
/// #     fn actions(&self, n: &u8, out: &mut Vec<u8>) { if *n < 9 { out.extend([1, 2]); } }
/// #     fn step(&self, n: &mut u8, by: &u8) { *n += by; }
/// # }
/// use stubborn_report::Answers;
///
/// let check = Check::new(&Counter).prop("even", |n| *n % 2 == 0);
/// let answers = Answers::new("counter").with("always even", &check.always("even"));
/// assert!(answers.to_text().contains("breaks it"));
/// assert!(answers.to_html().starts_with("<!DOCTYPE html>"));
/// assert!(answers.to_json().contains("\"verdict\": \"violated\""));
/// ```
#[derive(Clone, Debug)]
pub struct Answers {
    title: String,
    /// Entries of `results`.
    results: Vec<Value>,
}

impl Answers {
    /// No answers yet, about what has this title.
    pub fn new(title: &str) -> Answers {
        Answers { title: title.to_owned(), results: Vec::new() }
    }

    /// The same, with the answer to a question.
    #[must_use]
    pub fn with<M: Model>(mut self, question: &str, verdict: &embed::Verdict<M>) -> Answers {
        self.results.push(result(question, verdict));
        self
    }

    /// The document that a program reads: that of a check, as far as it is known of a model in Rust.
    pub fn to_json(&self) -> String {
        let model = json!({ "file": self.title, "language": "rust" });
        let document = json!({ "schema": SCHEMA, "model": model, "results": self.results });
        format!("{document:#}\n")
    }

    /// The answers with their runs in words.
    pub fn explanations(&self) -> Vec<Explanation> {
        let explained = |result| Explanation::of_json(result, None, &Spelling::default());
        self.results.iter().filter_map(explained).collect()
    }

    /// The same as text.
    pub fn to_text(&self) -> String {
        self.explanations().iter().map(Explanation::to_text).collect()
    }

    /// The page: the answers, and each run to step through. One file that asks nobody for anything.
    pub fn to_html(&self) -> String {
        html::models::page(&self.title, &self.results, &self.explanations())
    }
}

/// The entry of a verdict.
fn result<M: Model>(question: &str, verdict: &embed::Verdict<M>) -> Value {
    let word = match verdict {
        embed::Verdict::Holds(_) => Verdict::Holds,
        embed::Verdict::Violated(_) | embed::Verdict::Panics(_) => Verdict::Violated,
        _ => Verdict::Unknown,
    };
    let reason = match verdict {
        embed::Verdict::Holds(proof) => proof.missed.map(|missed| {
            format!("states were kept by fingerprints: one was missed with a probability below {missed:.1e}")
        }),
        embed::Verdict::Violated(run) | embed::Verdict::Panics(run) => Some(run.what.clone()),
        embed::Verdict::Unknown(reason) => Some(reason.to_string()),
        _ => None,
    };
    let stats = verdict.proof().map(|proof| {
        json!({
            "states": proof.states,
            "transitions": proof.transitions,
            "depth": proof.depth,
            "peak_bytes": proof.bytes,
        })
    });
    let panics = matches!(verdict, embed::Verdict::Panics(_));
    json!({
        "property": question,
        "verdict": word,
        "reason": reason,
        "stats": stats,
        "counterexample": verdict.counterexample().map(|run| counterexample(run, panics)),
    })
}

fn counterexample<M: Model>(run: &embed::Counterexample<M>, panics: bool) -> Value {
    let (kind, cycle_start) = match run.ending {
        _ if panics => (Kind::Error, run.steps.len()),
        Ending::Cycle(start) => (Kind::Lasso, start),
        Ending::Deadlock | Ending::Refusal => (Kind::Deadlock, run.steps.len()),
        _ => (Kind::Prefix, run.steps.len()),
    };
    let step = |step: embed::ToldStep| {
        let state: Map<String, Value> =
            step.state.into_iter().map(|(name, value)| (name, value.into())).collect();
        let propositions: Map<String, Value> =
            step.propositions.into_iter().map(|(name, value)| (name, value.into())).collect();
        json!({
            "action": step.action,
            "process": step.process,
            "state": state,
            "propositions": propositions,
        })
    };
    let mut prefix: Vec<Value> = run.told().into_iter().map(step).collect();
    let cycle = prefix.split_off(cycle_start + 1);
    let fairness: Vec<Value> = run.fairness.iter().map(fair_to).collect();
    json!({
        "kind": kind,
        "prefix": prefix,
        "cycle": cycle,
        "fairness": fairness,
        "schedule": run.schedule(),
    })
}

/// As those of other models are written.
fn fair_to(fair: &embed::FairTo) -> Value {
    let kind = match fair.fair {
        Fair::Weak => "weak",
        Fair::Strong => "strong",
        Fair::Just => "just",
    };
    let (because, step) = match fair.because {
        Because::Taken(step) => ("taken", Some(step)),
        Because::Disabled(step) => ("disabled", Some(step)),
        Because::Interfered(step) => ("interfered with", Some(step)),
        _ => ("never enabled", None),
    };
    json!({ "constraint": fair.name, "kind": kind, "because": because, "step": step })
}
