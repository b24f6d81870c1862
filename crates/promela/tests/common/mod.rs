//! The corpus beside the project, `../shared/promela`, and how to read a text.

#![allow(dead_code)] // Each test uses a part of it.

pub(crate) mod run;

use std::path::PathBuf;

use base::{Budget, Diagnostics, SourceMap};
use language::Trouble;
use stubborn_promela::{Model, Options, Program, Questions, read};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/promela");

/// The models of the corpus, or nothing (said plainly) where it is missing.
pub(crate) fn corpus() -> Vec<PathBuf> {
    let Ok(folders) = std::fs::read_dir(format!("{CORPUS}/dev")) else {
        #[expect(clippy::print_stderr, reason = "a skipped test says so")]
        {
            eprintln!("SKIPPED: the corpus {CORPUS} does not exist");
        }
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = folders.map(|folder| folder.unwrap().path().join("model.pml")).collect();
    files.retain(|file| file.exists());
    for file in std::fs::read_dir(format!("{CORPUS}/perf")).into_iter().flatten() {
        files.push(file.unwrap().path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "pml"));
    files.sort();
    files
}

/// Reads a model that includes nothing.
pub(crate) fn read_text(text: &str) -> (Result<Program, Diagnostics>, SourceMap) {
    read_with(text, &Options::default())
}

/// Reads a model that includes nothing.
pub(crate) fn read_with(text: &str, options: &Options) -> (Result<Program, Diagnostics>, SourceMap) {
    let (read, sources) = read_all(text, options);
    (read.map(|(program, _)| program), sources)
}

fn read_all(text: &str, options: &Options) -> (Result<(Program, Questions), Diagnostics>, SourceMap) {
    let mut sources = SourceMap::new();
    let source = sources.add("model.pml", text.into()).unwrap();
    let mut loader = |_: &str| Err("there is none".into());
    let read = read(&mut sources, source, options, &mut loader, &mut Budget::unlimited());
    (read.map_err(wrong), sources)
}

/// What is wrong: there is always enough time here.
pub(crate) fn wrong(trouble: Trouble) -> Diagnostics {
    match trouble {
        Trouble::Wrong(errors) => errors,
        Trouble::Limit(limit) => panic!("{limit}"),
    }
}

/// A model that includes nothing, and its text.
pub(crate) fn model_of(text: &str) -> (Model, SourceMap) {
    let (read, sources) = read_all(text, &Options::default());
    let (program, questions) = read.unwrap_or_else(|errors| panic!("{}", shown(&errors, &sources)));
    let file = "model.pml".to_owned();
    let model = Model::new(program, questions, file, sources.clone(), &mut Budget::unlimited());
    (model.map_err(wrong).unwrap_or_else(|errors| panic!("{}", shown(&errors, &sources))), sources)
}

/// The messages, one a line: where, what, and what to do.
pub(crate) fn shown(diagnostics: &Diagnostics, sources: &SourceMap) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        if let Some(span) = diagnostic.span {
            let (line, column) = sources.get(span.source).position(span.start);
            text.push_str(&format!("{line}:{column}: "));
        }
        text.push_str(&format!("{}: {}", diagnostic.code, diagnostic.message));
        if !diagnostic.label.is_empty() {
            text.push_str(&format!(" ({})", diagnostic.label));
        }
        for (span, label) in &diagnostic.related {
            let (line, column) = sources.get(span.source).position(span.start);
            text.push_str(&format!("; {line}:{column}: {label}"));
        }
        if let Some(help) = &diagnostic.help {
            text.push_str(&format!("; help: {help}"));
        }
        text.push('\n');
    }
    text
}
