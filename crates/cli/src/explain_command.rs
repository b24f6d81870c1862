//! `stubborn explain`: counterexamples in words, of a check that is made now or was made earlier.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use stubborn::Clock;
use stubborn::report::outcome::SCHEMA;
use stubborn::report::{CheckReport, Explanation, Verdict};

use crate::args::ExplainArguments;
use crate::check_command::{self, Telling};
use crate::exit::{Exit, Failure};
use crate::spelling::SPELLING;
use crate::terminal::Display;
use crate::{document, model, output};

pub(crate) fn run(arguments: &ExplainArguments) -> Result<Exit, Failure> {
    match &arguments.input {
        None => check_command::run(&arguments.check, Telling::Words),
        Some(path) => explain_earlier(arguments, path),
    }
}

/// The runs that a check has just found, in words.
pub(crate) fn explanations(report: &CheckReport) -> Vec<Explanation> {
    report.results.iter().map(|result| Explanation::of_result(result, &SPELLING)).collect()
}

/// Explains what a check has just found.
pub(crate) fn print(report: &CheckReport, json: bool, clock: &Clock<'_>) -> Result<(), Failure> {
    let explanations = explanations(report);
    let model = serde_json::to_value(&report.model).unwrap_or_default();
    print_all(&model, &report.model.to_text(), &explanations, json, clock)
}

/// Explains the runs of a JSON document.
fn explain_earlier(arguments: &ExplainArguments, path: &Path) -> Result<Exit, Failure> {
    let json = arguments.check.limits.json;
    let bad = |reason: &str| {
        let message = format!("`{}` is not what `check --json` prints: {reason}", path.display());
        Failure::plain("bad-result", message)
    };
    let display = Display::new(arguments.check.limits.quiet);
    let clock = model::clock(&arguments.check.limits, &display);
    let mut budget = clock.budget();
    let document = document::read_json(path, &mut budget, |error| bad(&error))?;
    if document.get("schema").and_then(Value::as_u64) != Some(u64::from(SCHEMA)) {
        return Err(bad(&format!("its `schema` is not {SCHEMA}")));
    }
    let session = model::open_whole(&arguments.check.model, &clock)?;
    let file = document.get("model").and_then(|model| model.get("file")?.as_str()).unwrap_or_default();
    let mut explanations = Vec::new();
    for result in
        document.get("results").and_then(Value::as_array).ok_or_else(|| bad("it has no `results`"))?
    {
        budget.tick().map_err(|limit| Failure::Limit(limit.to_string()))?;
        let explanation = Explanation::of_json(result, Some(session.model().system()), &SPELLING);
        explanations.push(explanation.ok_or_else(|| bad("a result cannot be read"))?);
    }
    let asked = &arguments.check.property;
    explanations.retain(|explanation| asked.is_empty() || asked.contains(&explanation.property));
    print_all(&document["model"], &format!("{file}, as it was checked"), &explanations, json, &clock)?;
    let is_violated = explanations.iter().any(|explanation| explanation.verdict == Verdict::Violated);
    Ok(if is_violated { Exit::Violated } else { Exit::Success })
}

fn print_all(
    model: &Value,
    head: &str,
    explanations: &[Explanation],
    json: bool,
    clock: &Clock<'_>,
) -> Result<(), Failure> {
    if json {
        #[derive(Serialize)]
        struct Document<'a> {
            schema: u32,
            model: &'a Value,
            results: &'a [Explanation],
        }
        output::print_json(clock, &Document { schema: SCHEMA, model, results: explanations }, None)
    } else {
        let texts: String = explanations.iter().map(Explanation::to_text).collect();
        output::print(clock, format_args!("{head}\n{texts}"))
    }
}
