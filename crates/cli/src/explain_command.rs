//! `stubborn explain`: counterexamples in words, of a check that is made now or was made earlier.

use std::path::Path;

use serde_json::{Value, json};
use stubborn::report::outcome::SCHEMA;
use stubborn::report::{CheckReport, Explanation, Verdict};

use crate::args::ExplainArguments;
use crate::check_command::{self, Telling};
use crate::exit::{Exit, Failure};
use crate::model;
use crate::spelling::SPELLING;
use crate::terminal::{self, Display};

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
pub(crate) fn print(report: &CheckReport, json: bool) {
    let explanations = explanations(report);
    let model = serde_json::to_value(&report.model).unwrap_or_default();
    print_all(&model, &report.model.to_text(), &explanations, json);
}

/// Explains the runs of a JSON document.
fn explain_earlier(arguments: &ExplainArguments, path: &Path) -> Result<Exit, Failure> {
    let json = arguments.check.limits.json;
    let bad = |reason: &str| {
        let message = format!("`{}` is not what `check --json` prints: {reason}", path.display());
        Failure::plain("bad-result", message)
    };
    let bytes = stubborn::files::read(path)?;
    let document: Value = serde_json::from_slice(&bytes).map_err(|error| bad(&error.to_string()))?;
    if document.get("schema").and_then(Value::as_u64) != Some(u64::from(SCHEMA)) {
        return Err(bad(&format!("its `schema` is not {SCHEMA}")));
    }
    let display = Display::new(arguments.check.limits.quiet);
    let clock = model::clock(&arguments.check.limits, &display);
    let session = model::open_whole(&arguments.check.model, &clock)?;
    let file = document.get("model").and_then(|model| model.get("file")?.as_str()).unwrap_or_default();
    let mut explanations = Vec::new();
    for result in
        document.get("results").and_then(Value::as_array).ok_or_else(|| bad("it has no `results`"))?
    {
        let explanation = Explanation::of_json(result, Some(session.model().system()), &SPELLING);
        explanations.push(explanation.ok_or_else(|| bad("a result cannot be read"))?);
    }
    let asked = &arguments.check.property;
    explanations.retain(|explanation| asked.is_empty() || asked.contains(&explanation.property));
    print_all(&document["model"], &format!("{file}, as it was checked"), &explanations, json);
    let is_violated = explanations.iter().any(|explanation| explanation.verdict == Verdict::Violated);
    Ok(if is_violated { Exit::Violated } else { Exit::Success })
}

fn print_all(model: &Value, head: &str, explanations: &[Explanation], json: bool) {
    if json {
        let document = json!({ "schema": SCHEMA, "model": model, "results": explanations });
        terminal::print_stdout(&format!("{document:#}\n"));
    } else {
        let texts: String = explanations.iter().map(Explanation::to_text).collect();
        terminal::print_stdout(&format!("{head}\n{texts}"));
    }
}
