//! The corpus beside the project, `../shared/promela`, and how to read a text.

#![allow(dead_code)] // Each test uses a part of it.

pub(crate) mod run;

use std::path::PathBuf;

use base::{Diagnostics, SourceMap};
use stubborn_promela::{Options, Program, read};

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
    let mut sources = SourceMap::new();
    let source = sources.add("model.pml", text.into()).unwrap();
    let program = read(&mut sources, source, options, &mut |_| Err("there is none".into()));
    (program, sources)
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
