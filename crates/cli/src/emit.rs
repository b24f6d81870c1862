//! `check --emit-test`: runs that break a property, as tests that others can keep.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;
use stubborn::base::Diagnostic;
use stubborn::report::outcome::SCHEMA;
use stubborn::report::{CheckReport, PropertyResult, count, trail};

use crate::args::{CheckArguments, EmittedTest};
use crate::exit::Failure;
use crate::{output, terminal};

/// Writes a file for each run that breaks a property.
pub(crate) fn write_tests(
    kind: EmittedTest,
    arguments: &CheckArguments,
    report: &CheckReport,
) -> Result<(), Failure> {
    let stem = arguments.model.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut used: Vec<String> = Vec::new();
    for result in report.results.iter().filter(|result| result.is_violated()) {
        if result.counterexample.is_none() {
            continue;
        }
        let base = identifier(&format!("{stem} {}", result.property));
        let number = 1 + used.iter().filter(|known| **known == base).count();
        used.push(base.clone());
        let name = if number > 1 { format!("{base}_{number}") } else { base };
        let (ending, text) = match kind {
            EmittedTest::Json => {
                let run = json!({ "schema": SCHEMA, "model": report.model, "results": [result] });
                ("json", format!("{run:#}\n"))
            }
            EmittedTest::PromelaTrail => ("trail", trail(report, result)?),
            EmittedTest::Rust => ("rs", rust(&name, arguments, result)?),
        };
        let path = arguments.test_dir.join(format!("{name}.{ending}"));
        output::write_text(&path, &text)?;
        let replay =
            if kind == EmittedTest::PromelaTrail { replayed(arguments, &path) } else { String::new() };
        terminal::print_stderr(&format!("wrote {}{replay}\n", path.display()));
    }
    Ok(())
}

/// A run as Spin reads it.
fn trail(report: &CheckReport, result: &PropertyResult) -> Result<String, Failure> {
    let help = "`--emit-test json` keeps the run, and `stubborn simulate --input` follows it";
    let refused = |message: &str| Failure::from(Diagnostic::error("no-trail", message).with_help(help));
    if report.model.language != "promela" {
        return Err(refused("trails are for Spin, which reads Promela only"));
    }
    let told = result.counterexample.as_ref().and_then(trail::to_text);
    told.ok_or_else(|| {
        refused("the model jumps where a remote reference looks: Spin numbers its statements otherwise")
    })
}

/// How Spin is asked to follow a trail.
fn replayed(arguments: &CheckArguments, path: &Path) -> String {
    let given = |(name, value): &(String, Option<String>)| match value {
        Some(value) => format!("'-D{name}={value}' "),
        None => format!("-D{name} "),
    };
    let definitions: String = arguments.model.definitions.iter().map(given).collect();
    format!("; try: spin -p -k {} {definitions}{}", path.display(), arguments.model.file.display())
}

/// A test that follows the run.
fn rust(name: &str, arguments: &CheckArguments, result: &PropertyResult) -> Result<String, Failure> {
    // Without figures: the same run is the same text.
    let told = json!({ "property": result.property, "counterexample": result.counterexample });
    let run = json!({ "schema": SCHEMA, "results": [told] }).to_string();
    let question = question(arguments, result)?;
    let steps = count(result.counterexample.as_ref().map_or(0, |run| run.trace.len()) as u64, "step");
    let file = arguments.model.file.to_string_lossy();
    let mut definitions = String::new();
    for (name, value) in &arguments.model.definitions {
        let value = value.as_ref().map_or("None".to_owned(), |value| format!("Some({value:?}.to_owned())"));
        // Writing to a string cannot fail.
        _ = write!(definitions, "({name:?}.to_owned(), {value}), ");
    }
    let folders: String =
        arguments.model.folders.iter().map(|folder| format!("{folder:?}.to_owned(), ")).collect();
    let language = match &arguments.model.language {
        Some(language) => format!("Some({language:?}.to_owned())"),
        None => "None".to_owned(),
    };
    let fair: String =
        arguments.fair.iter().map(|fair| format!("{:?}.parse()?, ", fair.to_string())).collect();
    // As many signs as no quotation mark in the run is followed by.
    let mut marks = "#".to_owned();
    while run.contains(&format!("\"{marks}")) {
        marks.push('#');
    }
    let property = result.property.replace(char::is_control, " ");
    Ok(format!(
        "//! A run of {steps} that violated `{property}` of {file}, as a test.
//!
//! It fails as long as the run is possible and the property is violated. Paths are relative to where tests run.
//! Written by `stubborn check --emit-test rust`; needs the crate `stubborn`, with the feature `full`.

use stubborn::{{Clock, Limits, ModelOptions, Options, Question, Session, Told}};

#[test]
fn {name}() -> Result<(), stubborn::Error> {{
    let model = ModelOptions {{
        definitions: vec![{definitions}],
        folders: vec![{folders}],
        language: {language},
        ..ModelOptions::default()
    }};
    let clock = Clock::start(&Limits::default());
    let mut session = Session::open_within({file:?}, &model, &clock)?;
    if session.follow(&Told::of_text(RUN, None)?, &clock)?.is_some() {{
        return Ok(()); // The model does not do that any more.
    }}
    let options = Options {{ fair: vec![{fair}], ..Options::default() }};
    let report = session.check(&[{question}], &options)?;
    assert_ne!(report.exit_code(), 1, \"{{report}}\");
    Ok(())
}}

const RUN: &str = r{marks}\"{run}\"{marks};
"
    ))
}

/// The question that a result answers, in Rust.
fn question(arguments: &CheckArguments, result: &PropertyResult) -> Result<String, Failure> {
    let name = &result.property;
    // Of a very long formula, the name is only the beginning.
    let is_formula =
        |text: &&String| name == *text || name.strip_suffix('…').is_some_and(|cut| text.starts_with(cut));
    if let Some(text) = arguments.ltl.iter().find(is_formula) {
        return Ok(format!("Question::ltl({text:?})"));
    }
    if arguments.mcc.is_some() {
        return Err(Failure::plain("usage", "questions of contest files are not written as tests in Rust"));
    }
    if !arguments.claim.is_empty() && arguments.property.is_empty() && result.place.is_none() {
        let files = arguments.claim.iter().map(|path| path.to_string_lossy());
        let claims: Vec<String> = files.map(|path| format!("Question::ClaimFile({path:?}.into())")).collect();
        return Ok(claims.join(", "));
    }
    Ok(match name.as_str() {
        "progress" if arguments.nonprogress => "Question::Progress".to_owned(),
        "acceptance" if arguments.acceptance => "Question::Acceptance".to_owned(),
        _ => format!("Question::property({name:?})"),
    })
}

/// A name for a file and for a function of Rust.
fn identifier(text: &str) -> String {
    const MAX_LETTERS: usize = 60;
    let mut name = String::new();
    for letter in text.chars() {
        match letter {
            _ if letter.is_ascii_alphanumeric() => name.push(letter.to_ascii_lowercase()),
            _ if name.ends_with('_') || name.is_empty() => {}
            _ => name.push('_'),
        }
        if name.len() >= MAX_LETTERS {
            break;
        }
    }
    let name = name.trim_end_matches('_');
    if name.starts_with(|first: char| first.is_ascii_digit()) || Path::new(name).as_os_str().is_empty() {
        return format!("run_{name}");
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_names() {
        assert_eq!(identifier("dining deadlock-free"), "dining_deadlock_free");
        assert_eq!(identifier("x [] (a -> <> b)"), "x_a_b");
        assert_eq!(identifier("2pc Starves[1]"), "run_2pc_starves_1");
        assert_eq!(identifier("§§"), "run_");
    }
}
