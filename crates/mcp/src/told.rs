//! What tools answer: verdicts, runs, mistakes. Every type has a schema, which clients are told.

use schemars::JsonSchema;
use serde::Serialize;
use stubborn::base::{Diagnostics, Severity, SourceMap};
use stubborn::report::explain::record::{Ending, Record};
use stubborn::report::{Counterexample, ModelInfo};
use stubborn::{Error, Session, Verdict};

/// Of a longer state, only so many parts are told.
const MAX_PARTS: usize = 200;

/// What is known of a model.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct About {
    /// process, promela or petri.
    language: &'static str,
    /// How many processes it has.
    processes: usize,
    /// How many actions it has.
    actions: usize,
    /// What should be said about its text, though it can be used.
    warnings: Vec<Message>,
}

impl About {
    pub(crate) fn of(session: &Session) -> About {
        let ModelInfo { language, processes, actions, .. } = session.info();
        About {
            language,
            processes,
            actions,
            warnings: messages(session.sources(), session.model().warnings()),
        }
    }
}

/// A message about a text, with its place.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Message {
    /// error or warning.
    severity: &'static str,
    /// A short name for this kind of message.
    code: &'static str,
    /// What is wrong.
    message: String,
    /// What is expected, or wrong, exactly there.
    here: String,
    /// What to change.
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    /// The text that it is about: the file, or what it was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// The column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}

/// Messages about texts.
pub(crate) fn messages(sources: &SourceMap, diagnostics: &Diagnostics) -> Vec<Message> {
    let message = |it: &stubborn::base::Diagnostic| {
        let source = it.span.map(|span| sources.get(span.source));
        let position = it.span.zip(source).map(|(span, source)| source.position(span.start));
        Message {
            severity: match it.severity {
                Severity::Warning => "warning",
                Severity::Error => "error",
            },
            code: it.code,
            message: it.message.clone(),
            here: it.label.clone(),
            help: it.help.clone(),
            source: source.map(|source| source.name.clone()),
            line: position.map(|position| position.0),
            column: position.map(|position| position.1),
        }
    };
    diagnostics.iter().map(message).collect()
}

/// Why there is no answer: as people read it, and as programs do.
pub(crate) fn trouble(error: &Error) -> (String, Vec<Message>) {
    let mut text = error.to_string();
    let mut all = messages(error.sources(), &error.diagnostics());
    if error.limit().is_some() {
        let help = "nothing is wrong with the model: allow more by `limits`, or make it smaller";
        text += &format!("\n  = help: {help}");
        all.iter_mut().for_each(|message| message.help = Some(help.to_owned()));
    }
    (text, all)
}

/// holds, violated or unknown.
pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated => "violated",
        Verdict::Unknown => "unknown",
    }
}

/// A run, step by step.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Run {
    /// How many steps it has, before a cycle is repeated.
    length: usize,
    /// cycle (for ever), deadlock, prefix (something bad has happened), or error (the model goes wrong).
    ending: &'static str,
    /// The step before which the cycle begins, if it is one: steps after it are repeated for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycle_start: Option<usize>,
    /// The parts of the initial state.
    initial: Vec<String>,
    /// The steps; of a long run, some in the middle are left out.
    steps: Vec<Step>,
    /// How many steps are left out.
    left_out: usize,
    /// What cannot be done at the end without an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    failing: Option<String>,
}

/// A step of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Step {
    /// Which step it is, from 1.
    number: usize,
    /// Who takes it.
    processes: Vec<String>,
    /// What it is called.
    action: String,
    /// What has another value afterwards.
    changes: Vec<String>,
    /// The lines of the model's text that are executed, if the language can tell.
    lines: Vec<usize>,
}

impl Run {
    pub(crate) fn of(run: &Counterexample, max_steps: usize) -> Run {
        let record = Record::of_run(run, max_steps.max(2));
        let (ending, cycle_start) = match record.ending {
            Ending::Cycle(start) => ("cycle", Some(start)),
            Ending::Deadlock => ("deadlock", None),
            Ending::Prefix => ("prefix", None),
            Ending::Error => ("error", None),
        };
        let part =
            |index: usize, at: usize| format!("{} = {}", record.variables()[at], record.value(index, at));
        let step = |(index, it): (usize, &stubborn::report::explain::record::Step)| Step {
            number: it.number,
            processes: record.who(index).map(str::to_owned).collect(),
            action: it.action.clone().unwrap_or_default(),
            changes: record.changed(index).take(MAX_PARTS).map(|at| part(index, at)).collect(),
            lines: {
                let statements = run.trace.statements(it.number);
                statements.iter().filter(|one| one.file.is_none()).map(|one| one.line).collect()
            },
        };
        // The first entry is the initial state.
        let steps: Vec<Step> = record.steps.iter().enumerate().skip(1).map(step).collect();
        Run {
            length: record.n_steps,
            ending,
            cycle_start,
            initial: parts((0..record.variables().len()).map(|at| part(0, at))),
            left_out: record.n_steps.saturating_sub(steps.len()),
            steps,
            failing: record.failing.clone(),
        }
    }
}

/// The parts of a state, not too many.
pub(crate) fn parts(all: impl ExactSizeIterator<Item = String>) -> Vec<String> {
    let n_more = all.len().saturating_sub(MAX_PARTS);
    let mut parts: Vec<String> = all.take(MAX_PARTS).collect();
    if n_more > 0 {
        parts.push(format!("… {n_more} more"));
    }
    parts
}
