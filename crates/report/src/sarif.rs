//! Answers and messages as SARIF 2.1.0, which services for continuous integration show beside the text.
//!
//! A property is a rule, an answer a result: `pass` if it holds, `fail` if it is violated, `open` if it is unknown. A run
//! is a code flow, a location per step; of a language that knows the places of statements, with these. What is wrong with the
//! input is a result, too, of a rule that is called like the code of the message.

use base::{Diagnostic, Diagnostics, Severity, SourceMap};
use serde_json::{Value, json};

use crate::outcome::{CheckReport, Counterexample, Place, PropertyResult, Verdict};
use crate::remark::Remark;
use crate::story::Statement;
use crate::{Trace, count};

/// Of a longer run, as many steps at its beginning and at its end are shown: services refuse what is very long.
const MAX_STEPS: usize = 500;

/// The answers of a check.
pub fn of_report(report: &CheckReport) -> Value {
    let mut rules: Vec<&str> = Vec::new();
    let mut results = Vec::new();
    for result in &report.results {
        let rule = match rules.iter().position(|rule| *rule == result.property) {
            Some(known) => known,
            None => {
                rules.push(&result.property);
                rules.len() - 1
            }
        };
        results.push(self::result(result, rule, &report.model.file));
    }
    let rules: Vec<Value> = rules.iter().map(|rule| json!({ "id": rule, "name": rule })).collect();
    document(&rules, &results, true)
}

/// Messages about the input.
pub fn of_diagnostics(sources: &SourceMap, diagnostics: &Diagnostics) -> Value {
    let mut rules: Vec<&str> = Vec::new();
    for diagnostic in diagnostics {
        if !rules.contains(&diagnostic.code) {
            rules.push(diagnostic.code);
        }
    }
    let result = |diagnostic: &Diagnostic| {
        let place = diagnostic.span.map(|span| Place::new(sources.get(span.source), span));
        json!({
            "ruleId": diagnostic.code,
            "ruleIndex": rules.iter().position(|rule| *rule == diagnostic.code),
            "kind": "fail",
            "level": match diagnostic.severity { Severity::Error => "error", Severity::Warning => "warning" },
            "message": { "text": diagnostic.to_string() },
            "locations": place.iter().map(location).collect::<Vec<Value>>(),
        })
    };
    let results: Vec<Value> = diagnostics.iter().map(result).collect();
    let rules: Vec<Value> = rules.iter().map(|rule| json!({ "id": rule, "name": rule })).collect();
    document(&rules, &results, !diagnostics.has_errors())
}

fn document(rules: &[Value], results: &[Value], is_done: bool) -> Value {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "stubborn",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{ "executionSuccessful": is_done }],
            "results": results,
        }],
    })
}

fn result(result: &PropertyResult, rule: usize, file: &str) -> Value {
    // Only what fails has a level.
    let (kind, level) = match result.verdict {
        Verdict::Holds => ("pass", "none"),
        Verdict::Violated => ("fail", "error"),
        Verdict::Unknown => ("open", "none"),
    };
    let mut text = format!("`{}`: {}", result.property, result.verdict);
    if let Some(reason) = Remark::join(&result.remarks) {
        text += &format!(" ({reason})");
    }
    let start = Place { file: file.to_owned(), start: (1, 1), end: (1, 1) };
    let mut document = json!({
        "ruleId": result.property,
        "ruleIndex": rule,
        "kind": kind,
        "level": level,
        "message": { "text": text },
        "locations": [location(result.place.as_ref().unwrap_or(&start))],
    });
    if let Some(run) = &result.counterexample {
        document["message"]["text"] =
            format!("{text}, by a run of {}", count(run.trace.len() as u64, "step")).into();
        document["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps(run, file) }] }]);
    }
    document
}

/// The steps of a run.
fn steps(run: &Counterexample, file: &str) -> Vec<Value> {
    let trace = &run.trace;
    let shown = (0..=trace.len()).filter(|&step| step < MAX_STEPS || step + MAX_STEPS > trace.len());
    shown.map(|step| step_location(trace, step, run.cycle_start, file)).collect()
}

fn step_location(trace: &Trace, step: usize, cycle_start: Option<usize>, file: &str) -> Value {
    let mut text = trace.lines(step).join("; ");
    if cycle_start == Some(step) {
        text += " -- from here on, the following repeats for ever";
    }
    let mut place = json!({ "message": { "text": text } });
    if let Some(first) = trace.statements(step).first() {
        place["physicalLocation"] = statement(first, file);
    }
    json!({ "location": place, "executionOrder": step + 1 })
}

fn statement(statement: &Statement, file: &str) -> Value {
    let file = statement.file.as_deref().unwrap_or(file);
    json!({ "artifactLocation": { "uri": uri(file) }, "region": { "startLine": statement.line } })
}

fn location(place: &Place) -> Value {
    let Place { file, start, end } = place;
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(file) },
        "region": {
            "startLine": start.0, "startColumn": start.1, "endLine": end.0, "endColumn": end.1,
        },
    } })
}

/// A file name as a reference: relative if the name is.
fn uri(file: &str) -> String {
    let mut uri = String::with_capacity(file.len());
    for byte in file.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte as char);
            }
            b'\\' => uri.push('/'),
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_references() {
        assert_eq!(uri("models/a b.proc"), "models/a%20b.proc");
        assert_eq!(uri("c:\\x\\ü.pml"), "c%3A/x/%C3%BC.pml");
    }

    #[test]
    fn messages_have_places_and_rules() {
        let mut sources = SourceMap::new();
        let source = sources.add("m.proc", b"one\ntwo".to_vec()).expect("it is text");
        let mut diagnostics = Diagnostics::new();
        let span = base::Span::new(source, 4, 7);
        diagnostics.push(Diagnostic::error("odd", "two is odd").at(span, "").with_help("say three"));
        diagnostics.push(Diagnostic::warning("other", "nowhere"));
        diagnostics.push(Diagnostic::error("odd", "again"));
        let run = &of_diagnostics(&sources, &diagnostics)["runs"][0];
        assert_eq!(run["tool"]["driver"]["rules"].as_array().map(Vec::len), Some(2));
        let results = run["results"].as_array().expect("a list");
        let indices: Vec<&Value> = results.iter().map(|result| &result["ruleIndex"]).collect();
        assert_eq!(indices, [0, 1, 0]);
        let region = &results[0]["locations"][0]["physicalLocation"]["region"];
        assert_eq!(*region, json!({"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 4}));
        assert_eq!(results[0]["message"]["text"], "two is odd (say three)");
        assert_eq!((&results[1]["level"], &results[1]["locations"]), (&json!("warning"), &json!([])));
        assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    }
}
