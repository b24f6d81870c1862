//! The language by example: `mistakes.md` and `models.md` hold models and what is said about them.
//!
//! `UPDATE=1 cargo test -p stubborn-process --test language` writes what is said into the files, to
//! be read before it is believed.

mod common;

use std::path::{Path, PathBuf};

use common::{explore, load_text};
use language::PropertyKind;
use model::reference;
use stubborn_process::Model;

/// A section: its heading, the model, and what should be said about it.
struct Section {
    heading: String,
    model: String,
    expected: String,
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// Splits a file at its headings; a section has one block `proc` and one block `text`.
fn sections(file: &str) -> Vec<Section> {
    let block = |section: &str, kind: &str| {
        let (_, rest) = section.split_once(&format!("```{kind}\n")).unwrap_or_else(|| panic!("{section}"));
        rest.split_once("```\n").unwrap_or_else(|| panic!("{section}")).0.to_owned()
    };
    let section = |section: &str| Section {
        heading: section.lines().next().unwrap_or_default().to_owned(),
        model: block(section, "proc"),
        expected: block(section, "text"),
    };
    file.split("\n## ").skip(1).map(section).collect()
}

/// Checks all sections of a file, or updates them.
fn check(name: &str, say: impl Fn(&str, &[(&str, i64)]) -> String) {
    let mut text = std::fs::read_to_string(path(name)).unwrap();
    let mut wrong = Vec::new();
    for Section { heading, model, expected } in sections(&text) {
        // `(-D N=3)` in a heading.
        let given =
            heading.split_once("-D ").and_then(|(_, rest)| rest.trim_end_matches(')').split_once('='));
        let constants: Vec<(&str, i64)> =
            given.iter().map(|(name, value)| (*name, value.parse().unwrap())).collect();
        let said = say(&model, &constants);
        if said != expected {
            wrong.push(format!("{heading}\n--- expected\n{expected}--- said\n{said}"));
            let old = format!("```proc\n{model}```\n\n```text\n{expected}```\n");
            let new = format!("```proc\n{model}```\n\n```text\n{said}```\n");
            text = text.replacen(&old, &new, 1);
        }
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path(name), text).unwrap();
    } else {
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    }
}

fn files(name: &str) -> Result<Vec<u8>, String> {
    match name {
        "good.aut" => Ok(b"des (0, 2, 2)\n(0, \"a[ 0 ]\", 1)\n(1, tau, 0)\n".to_vec()),
        "header.aut" => Ok(b"des (0, 1, 2)\n".to_vec()),
        "empty.aut" => Ok(Vec::new()),
        "huge.aut" => Ok(b"des (0, 0, 4000000000)\n".to_vec()),
        "latin1.aut" => Ok(b"des (0, 1, 1)\n(0, \"caf\xe9\", 0)\n".to_vec()),
        _ => Err("no such file".to_owned()),
    }
}

fn lines(messages: &[String]) -> String {
    messages.iter().map(|message| format!("{message}\n")).collect()
}

#[test]
fn mistakes_are_explained() {
    check("mistakes.md", |text, constants| match load_text(text, constants, &mut files) {
        Ok(_) => "no error\n".to_owned(),
        Err(errors) => lines(&errors),
    });
}

/// Sizes, labels, warnings, and the verdicts on invariants.
fn describe(model: &Model, warnings: &[String]) -> String {
    let graph = explore(model);
    let n_deadlocks = graph.values().filter(|steps| steps.is_empty()).count();
    let system = &model.system;
    let mut said = format!(
        "{} processes, {} actions, {} states, {n_deadlocks} deadlocks\n",
        system.processes().len(),
        system.actions().len(),
        graph.len()
    );
    let labels: Vec<&str> = system.labels().iter().map(|label| label.name.as_str()).collect();
    said += &format!("labels: {}\n", labels.join(" "));
    for property in model.properties.iter() {
        let verdict = match &property.kind {
            PropertyKind::Invariant(expr) => {
                let holds = |state: &Vec<i64>| reference::value(system, *expr, state).unwrap() != 0;
                if graph.keys().all(holds) { "holds".to_owned() } else { "violated".to_owned() }
            }
            PropertyKind::Ltl(ltl) => format!("{} propositions", ltl.propositions.len()),
            PropertyKind::Tester(tester) => {
                let states = tester.process.states.iter().map(|state| state.name.as_str());
                let letters = tester.process.letters.join(" ");
                format!("{}; watches {letters}", states.collect::<Vec<_>>().join(" "))
            }
            PropertyKind::Spec(spec) => {
                format!("{}; watches {}", spec.process.states.join(" "), spec.process.letters.join(" "))
            }
            other => panic!("no file declares {other:?}"),
        };
        said += &format!("{}: {verdict}\n", property.name);
    }
    said + &lines(warnings)
}

#[test]
fn models_mean_what_the_grammar_says() {
    check("models.md", |text, constants| match load_text(text, constants, &mut files) {
        Ok(model) => {
            let mut sources = base::SourceMap::new();
            sources.add("test.proc", text.into()).unwrap();
            describe(&model, &common::show(&model.warnings, &sources))
        }
        Err(errors) => lines(&errors),
    });
}
