//! Answers and messages in the XML format of JUnit, which services for continuous integration count and show.
//!
//! A model is a suite and a property a case: it fails if it is violated, with the run, and is an error if it is unknown. There is
//! no one schema of this format; what is written is what all of them have in common.

use std::fmt::Write as _;

use base::text::escape_xml;
use base::{Diagnostic, Diagnostics, SourceMap};

use crate::outcome::{CheckReport, PropertyResult, Verdict};
use crate::remark::Remark;
use crate::{Spelling, diagnostic};

/// One case.
struct Case {
    name: String,
    seconds: f64,
    /// Its element (`failure` or `error`), what it is about, and details; nothing if all is well.
    trouble: Option<(&'static str, String, String)>,
}

/// The answers of a check. Texts refer to options as somebody spells them.
pub fn of_report(report: &CheckReport, spelling: &Spelling) -> String {
    let mut cases: Vec<Case> = Vec::new();
    for (index, result) in report.results.iter().enumerate() {
        let before = report.results[..index].iter().filter(|other| other.property == result.property);
        cases.push(case(result, before.count() + 1, spelling));
    }
    document(&report.model.file, &cases)
}

/// Messages about the input: one case that is an error.
pub fn of_diagnostics(file: &str, sources: &SourceMap, diagnostics: &Diagnostics) -> String {
    let first = diagnostics.iter().next().map_or(String::new(), Diagnostic::to_string);
    let details = diagnostic::to_text(sources, diagnostics, false);
    let case = Case { name: "input".to_owned(), seconds: 0.0, trouble: Some(("error", first, details)) };
    document(file, &[case])
}

/// A limit was reached before there was anything to say.
pub fn of_limit(file: &str, reason: &str) -> String {
    let trouble = Some(("error", reason.to_owned(), String::new()));
    document(file, &[Case { name: "input".to_owned(), seconds: 0.0, trouble }])
}

fn case(result: &PropertyResult, number: usize, spelling: &Spelling) -> Case {
    let name = if number > 1 { format!("{} ({number})", result.property) } else { result.property.clone() };
    let reason = Remark::join(&result.remarks);
    let message = reason.map_or(result.verdict.to_string(), |reason| format!("{}: {reason}", result.verdict));
    let element = match result.verdict {
        Verdict::Holds => None,
        Verdict::Violated => Some("failure"),
        Verdict::Unknown => Some("error"),
    };
    let trouble = element.map(|element| (element, message, result.spelled(spelling)));
    Case { name, seconds: result.stats.seconds, trouble }
}

fn document(suite: &str, cases: &[Case]) -> String {
    let number = |wanted: &str| {
        cases
            .iter()
            .filter(|case| case.trouble.as_ref().is_some_and(|(element, ..)| *element == wanted))
            .count()
    };
    let (tests, failures, errors) = (cases.len(), number("failure"), number("error"));
    let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
    let suite = escape_xml(suite);
    let counts = format!(
        "name=\"{suite}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{seconds:.3}\""
    );
    let mut text = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n");
    // Writing to a string cannot fail.
    _ = writeln!(text, "  <testsuite {counts} skipped=\"0\">");
    for Case { name, seconds, trouble } in cases {
        let name = escape_xml(name);
        _ = write!(text, "    <testcase name=\"{name}\" classname=\"{suite}\" time=\"{seconds:.3}\"");
        match trouble {
            None => text += "/>\n",
            Some((element, message, details)) => {
                let kind = if *element == "failure" { "violated" } else { "unknown" };
                let (message, details) = (escape_xml(message), escape_xml(details));
                _ = writeln!(
                    text,
                    ">\n      <{element} message=\"{message}\" type=\"{kind}\">{details}</{element}>"
                );
                text += "    </testcase>\n";
            }
        }
    }
    text + "  </testsuite>\n</testsuites>\n"
}
