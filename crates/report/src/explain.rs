//! Counterexamples in words: what happens first, what repeats for ever, who never moves again and why, what
//! never becomes true again; and at a deadlock, who waits for what.
//!
//! Everything that is said is read off the steps of the run ([`Record`]) and, where the system is known, off
//! the guards of its actions in the states of the run, by the reference semantics. Nothing is guessed: what
//! cannot be told is left out. Sentences are in a fixed order, so the same run is told in the same words.

mod cycle;
mod idle;
mod known;
pub mod record;
mod statements;
mod waiting;
mod words;

use std::fmt::{self, Write as _};

use base::{Budget, Limit};
use model::ActionSystem;
use serde::Serialize;
use serde_json::Value;

use self::known::Known;
use self::record::{Ending, Record};
use self::words::{and, either, quoted, step_phrase, value, wrap};
use crate::outcome::{CheckReport, PropertyResult, SCHEMA, Verdict};
use crate::{Remark, Spelling, count};

/// Longer runs are told without their middle, so less can be said about them.
const MAX_STEPS: usize = 200_000;

/// What a check found, in words.
#[derive(Clone, Debug, Serialize)]
pub struct Explanations {
    schema: u32,
    model: Value,
    /// The answers, one for each property.
    pub results: Vec<Explanation>,
    /// The first line of the text.
    #[serde(skip)]
    head: String,
}

/// Why a document is not explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unexplained {
    /// It is none that a check prints.
    Wrong(String),
    /// The budget is spent.
    Limit(Limit),
}

impl Explanations {
    /// Explains the answers of a check.
    pub fn of_report(report: &CheckReport, spelling: &Spelling) -> Explanations {
        let results = report.results.iter().map(|result| Explanation::of_result(result, spelling)).collect();
        let model = serde_json::to_value(&report.model).unwrap_or_default();
        Explanations { schema: SCHEMA, model, results, head: report.model.to_text() }
    }

    /// Explains the document of a check that was made earlier, of the system if that is still there.
    ///
    /// # Errors
    /// It is no such document, or the budget is spent.
    pub fn of_json(
        document: &Value,
        system: Option<&ActionSystem>,
        spelling: &Spelling,
        budget: &mut Budget<'_>,
    ) -> Result<Explanations, Unexplained> {
        let wrong = |why: &str| Unexplained::Wrong(why.to_owned());
        if document.get("schema").and_then(Value::as_u64) != Some(u64::from(SCHEMA)) {
            return Err(Unexplained::Wrong(format!("its `schema` is not {SCHEMA}")));
        }
        let listed = document.get("results").and_then(Value::as_array);
        let mut results = Vec::new();
        for result in listed.ok_or_else(|| wrong("it has no `results`"))? {
            budget.tick().map_err(Unexplained::Limit)?;
            let explanation = Explanation::of_json(result, system, spelling);
            results.push(explanation.ok_or_else(|| wrong("a result cannot be read"))?);
        }
        let model = document.get("model").cloned().unwrap_or_default();
        let file = model.get("file").and_then(Value::as_str).unwrap_or_default();
        let head = format!("{file}, as it was checked");
        Ok(Explanations { schema: SCHEMA, model, results, head })
    }
}

impl fmt::Display for Explanations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.head)?;
        self.results.iter().try_for_each(|result| f.write_str(&result.to_text()))
    }
}

/// The answer about one property, with the run in words.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// Its name.
    pub property: String,
    /// The answer.
    pub verdict: Verdict,
    /// Why it is unknown, or what is remarkable about the answer.
    pub reason: Option<String>,
    /// Sentences about the run; none if the property holds.
    pub explanation: Vec<String>,
}

impl Explanation {
    /// Explains an answer.
    pub fn of_result(result: &PropertyResult, spelling: &Spelling) -> Explanation {
        let run = result.counterexample.as_ref().filter(|_| result.verdict != Verdict::Holds);
        let explanation = run.map_or(Vec::new(), |run| {
            let fairness = serde_json::to_value(&run.fairness).unwrap_or_default();
            explain(&Record::of_run(run, MAX_STEPS), Some(&Known::of_trace(&run.trace, spelling)), &fairness)
        });
        let (property, reason) = (result.property.clone(), Remark::join(&result.remarks));
        Explanation { property, verdict: result.verdict, reason, explanation }
    }

    /// Explains an entry of `results` in the JSON document of a check; nothing if it is none. The system is
    /// asked for guards, if its variables are those of the run.
    pub fn of_json(
        result: &Value,
        system: Option<&ActionSystem>,
        spelling: &Spelling,
    ) -> Option<Explanation> {
        let text = |name: &str| Some(result.get(name)?.as_str()?.to_owned());
        let verdict = Verdict::named(&text("verdict")?)?;
        let run = result.get("counterexample").filter(|run| !run.is_null() && verdict != Verdict::Holds);
        let explanation = match run {
            Some(run) => {
                let record = Record::of_json(run)?;
                let known = system.map(|system| Known::of_system(system, spelling));
                explain(&record, known.as_ref(), run.get("fairness").unwrap_or(&Value::Null))
            }
            None => Vec::new(),
        };
        Some(Explanation { property: text("property")?, verdict, reason: text("reason"), explanation })
    }

    /// The verdict, and the sentences below each other.
    pub fn to_text(&self) -> String {
        let verdict = self.verdict.shouted();
        let mut text = format!("{}: {verdict}", self.property);
        if let Some(reason) = &self.reason {
            // Writing to a string cannot fail.
            _ = write!(text, " ({reason})");
        }
        text.push('\n');
        for sentence in &self.explanation {
            text += &wrap(sentence, 100);
        }
        text
    }
}

/// The sentences about a run.
fn explain(record: &Record, known: Option<&Known<'_>>, fairness: &Value) -> Vec<String> {
    let mut sentences = Vec::new();
    match record.ending {
        Ending::Cycle(start) => {
            sentences.extend(beginning(record, start));
            cycle::explain(record, start, known, fairness, &mut sentences);
        }
        Ending::Deadlock => {
            sentences.extend(beginning(record, record.n_steps));
            deadlock(record, known, &mut sentences);
        }
        Ending::Prefix => {
            sentences.extend(beginning(record, record.n_steps.saturating_sub(1)));
            last_step(record, &mut sentences);
        }
        Ending::Error => {
            sentences.extend(beginning(record, record.n_steps));
            let when = match record.n_steps {
                0 => "In the initial state".to_owned(),
                n => format!("After {}", count(n as u64, "step")),
            };
            sentences.push(match &record.failing {
                Some(statement) => format!("{when}, {statement} fails."),
                None => format!("{when}, the model goes wrong."),
            });
        }
    }
    sentences
}

/// More steps than this are not told one by one.
const MAX_TOLD: usize = 6;

/// What happens in the first steps.
fn beginning(record: &Record, n_steps: usize) -> Option<String> {
    let phrases = |from: usize, to: usize| -> Vec<String> {
        let told = record.steps.iter().enumerate().filter(|(_, step)| (from..=to).contains(&step.number));
        told.map(|(index, _)| step_phrase(record, index)).collect()
    };
    match n_steps {
        0 => None,
        1..=MAX_TOLD => Some(format!("First: {}.", phrases(1, n_steps).join(", then "))),
        _ => Some(format!(
            "The first of {} are {}; the last are {}.",
            count(n_steps as u64, "step"),
            and(&phrases(1, 3)),
            and(&phrases(n_steps - 1, n_steps))
        )),
    }
}

fn deadlock(record: &Record, known: Option<&Known<'_>>, sentences: &mut Vec<String>) {
    let last = record.steps.len() - 1;
    let known = known.and_then(|known| Some((known, known.state(record, last)?)));
    let can_go_on: Vec<String> =
        known.iter().flat_map(|(known, state)| waiting::enabled(known.system, state)).collect();
    let when = match record.n_steps {
        0 => "In the initial state".to_owned(),
        n => format!("After {}", count(n as u64, "step")),
    };
    if can_go_on.is_empty() {
        sentences.push(format!("{when}, nothing can happen any more."));
    } else {
        let actions = either(&words::some_of(&can_go_on, 5, "action"));
        sentences.push(format!("{when}, the run ends: the system could only go on with {actions}."));
    }
    if let (Some((known, state)), true) = (known, can_go_on.is_empty()) {
        match known.story {
            Some(story) => statements::explain(known.system, story, &state, sentences),
            None => waiting::explain(record, known.system, &state, sentences),
        }
    }
    cycle::propositions(record, last, sentences);
}

/// The step that decides a run of finite length.
fn last_step(record: &Record, sentences: &mut Vec<String>) {
    const MAX_CHANGES: usize = 6;
    let last = record.steps.len() - 1;
    if record.n_steps == 0 {
        sentences.push("It is so from the start: the initial state already breaks it.".to_owned());
        return;
    }
    let changes: Vec<String> = record
        .changed(last)
        .map(|at| {
            let (old, new) = (record.value(last - 1, at), record.value(last, at));
            format!("{} from {} to {}", record.variables()[at], value(old), value(new))
        })
        .collect();
    let what = step_phrase(record, last);
    sentences.push(match changes.as_slice() {
        [] => format!("Step {} breaks it: {what}.", record.n_steps),
        changes => {
            let changes = and(&words::some_of(changes, MAX_CHANGES, "variable"));
            format!("Step {} breaks it: {what} changes {changes}.", record.n_steps)
        }
    });
    for (index, text) in record.propositions.iter().enumerate() {
        let (old, new) = (record.holds(last - 1, index), record.holds(last, index));
        if old != new {
            sentences.push(format!("With it, {} becomes {new}.", quoted(text)));
        }
    }
    if let (Some(old), Some(new)) = (record.observer(last - 1), record.observer(last))
        && old != new
    {
        sentences.push(format!("It leads the observer from {} to {}.", quoted(old), quoted(new)));
    }
}

#[cfg(test)]
mod tests;
