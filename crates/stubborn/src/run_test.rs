//! Runs that break a property, as tests that others can keep: in Rust, through this crate, or as documents.

use std::fmt::Write as _;
use std::path::Path;

use base::Diagnostic;
use language::Options as ModelOptions;
use report::outcome::{ModelInfo, SCHEMA};
use report::{PropertyResult, count};
use serde_json::json;

use crate::options::Options;
use crate::question::Question;

/// What was checked, as a test has to say it again.
#[derive(Clone, Copy, Debug)]
pub struct RunTest<'t> {
    /// The file of the model.
    pub file: &'t Path,
    /// How it was read.
    pub model: &'t ModelOptions,
    /// How it was checked.
    pub options: &'t Options,
    /// What was asked.
    pub questions: &'t [Question],
}

impl RunTest<'_> {
    /// The results that have a run which breaks the property, each with a name for the file and for the function of its test.
    pub fn named<'r>(&self, results: &'r [PropertyResult]) -> Vec<(String, &'r PropertyResult)> {
        let stem = self.file.file_stem().unwrap_or_default().to_string_lossy();
        let mut used: Vec<String> = Vec::new();
        let name = |result: &'r PropertyResult| {
            let base = identifier(&format!("{stem} {}", result.property));
            used.push(base.clone());
            match used.iter().filter(|known| **known == base).count() {
                1 => (base, result),
                number => (format!("{base}_{number}"), result),
            }
        };
        results
            .iter()
            .filter(|result| result.is_violated() && result.counterexample.is_some())
            .map(name)
            .collect()
    }

    /// The run as a document, which [`Told`](crate::Told) reads.
    pub fn document(model: &ModelInfo, result: &PropertyResult) -> String {
        let run = json!({ "schema": SCHEMA, "model": model, "results": [result] });
        format!("{run:#}\n")
    }

    /// The run as Spin reads it.
    ///
    /// # Errors
    /// The model is not in Promela, or Spin numbers its statements otherwise.
    pub fn trail(model: &ModelInfo, result: &PropertyResult) -> Result<String, Diagnostic> {
        let help = "`--emit-test json` keeps the run, and `stubborn simulate --input` follows it";
        let refused = |message: &str| Diagnostic::error("no-trail", message).with_help(help);
        if model.language != "promela" {
            return Err(refused("trails are for Spin, which reads Promela only"));
        }
        let told = result.counterexample.as_ref().and_then(report::trail::to_text);
        told.ok_or_else(|| {
            refused("the model jumps where a remote reference looks: Spin numbers its statements otherwise")
        })
    }

    /// How Spin is asked to follow a trail.
    pub fn spin_command(&self, trail: &Path) -> String {
        let given = |(name, value): &(String, Option<String>)| match value {
            Some(value) => format!("'-D{name}={value}' "),
            None => format!("-D{name} "),
        };
        let definitions: String = self.model.definitions.iter().map(given).collect();
        format!("spin -p -k {} {definitions}{}", trail.display(), self.file.display())
    }

    /// A test in Rust, which follows the run.
    ///
    /// # Errors
    /// The question cannot be asked again in Rust.
    pub fn source(&self, name: &str, result: &PropertyResult) -> Result<String, Diagnostic> {
        // Without figures: the same run is the same text.
        let told = json!({ "property": result.property, "counterexample": result.counterexample });
        let run = json!({ "schema": SCHEMA, "results": [told] }).to_string();
        let question = self.question(result)?;
        let steps = count(result.counterexample.as_ref().map_or(0, |run| run.trace.len()) as u64, "step");
        let file = self.file.to_string_lossy();
        let mut definitions = String::new();
        for (name, value) in &self.model.definitions {
            let value =
                value.as_ref().map_or("None".to_owned(), |value| format!("Some({value:?}.to_owned())"));
            // Writing to a string cannot fail.
            _ = write!(definitions, "({name:?}.to_owned(), {value}), ");
        }
        let folders: String =
            self.model.folders.iter().map(|folder| format!("{folder:?}.to_owned(), ")).collect();
        let language = match &self.model.language {
            Some(language) => format!("Some({language:?}.to_owned())"),
            None => "None".to_owned(),
        };
        let fair: String =
            self.options.fair.iter().map(|fair| format!("{:?}.parse()?, ", fair.to_string())).collect();
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
    fn question(&self, result: &PropertyResult) -> Result<String, Diagnostic> {
        let name = &result.property;
        // Of a very long formula, the name is only the beginning.
        let is_meant =
            |text: &str| name == text || name.strip_suffix('…').is_some_and(|cut| text.starts_with(cut));
        let mut claims = Vec::new();
        let mut names_properties = false;
        for question in self.questions {
            match question {
                Question::Ltl(text) if is_meant(&text.text) => {
                    return Ok(format!("Question::ltl({:?})", text.text));
                }
                Question::Invariant(text) if is_meant(&text.text) => {
                    return Ok(format!("Question::invariant({:?})", text.text));
                }
                Question::ContestFile { .. } | Question::Tester { .. } => {
                    let message = "questions of contest files, and testers, are not written as tests in Rust";
                    return Err(Diagnostic::error("usage", message));
                }
                Question::Progress if name == "progress" => return Ok("Question::Progress".to_owned()),
                Question::Acceptance if name == "acceptance" => return Ok("Question::Acceptance".to_owned()),
                Question::ClaimFile(path) => {
                    claims.push(format!("Question::ClaimFile({:?}.into())", path.to_string_lossy()));
                }
                Question::Properties(_) => names_properties = true,
                _ => {}
            }
        }
        // What is declared has a place, and so have claims of files their own: which of these it was is not said.
        if !claims.is_empty() && !names_properties && result.place.is_none() {
            return Ok(claims.join(", "));
        }
        Ok(format!("Question::property({name:?})"))
    }
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
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
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
