//! The corpus beside the project, `../shared/mcc`, and how to explore a net.

#![allow(dead_code)] // Each test uses a part of it.

pub(crate) mod marking_graph;
pub(crate) mod nets;
pub(crate) mod questions;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Budget, Diagnostics, SourceMap};
use check::search::bfs;
use check::{Exact, Exploration, Goal, Stop};
use language::{Property, Rules, Trouble};
use model::System as _;
use stubborn_petri::mcc::Examination;
use stubborn_petri::structural::{Keep, Reduced, Reducer};
use stubborn_petri::{Facts, Model, Net, read, to_utf8};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/mcc");

/// The folders of the corpus, or nothing (said plainly) where it is missing.
pub(crate) fn corpus(under: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(format!("{CORPUS}/{under}")) else {
        #[expect(clippy::print_stderr, reason = "a skipped test says so")]
        {
            eprintln!("SKIPPED: the corpus {CORPUS} does not exist");
        }
        return Vec::new();
    };
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.join("model.pnml").exists());
    folders.sort();
    folders
}

/// The name of an instance.
pub(crate) fn name(folder: &Path) -> String {
    folder.file_name().unwrap().to_string_lossy().into_owned()
}

/// One line of `expected.csv`.
pub(crate) struct Expected {
    pub(crate) examination: String,
    pub(crate) formula: String,
    pub(crate) answer: String,
}

/// What is known about an instance.
pub(crate) fn expected(folder: &Path) -> Vec<Expected> {
    let text = std::fs::read_to_string(folder.join("expected.csv")).unwrap();
    let row = |line: &str| {
        let mut fields = line.split(',').map(str::to_owned);
        let mut field = || fields.next().unwrap();
        Expected { examination: field(), formula: field(), answer: field() }
    };
    text.lines().skip(1).map(row).collect()
}

/// The answer to one question, if it is known.
pub(crate) fn answer<'e>(expected: &'e [Expected], examination: &str, formula: &str) -> Option<&'e str> {
    let found = expected.iter().find(|row| row.examination == examination && row.formula == formula);
    found.map(|row| row.answer.as_str()).filter(|answer| *answer != "?")
}

/// Reads a file of an instance.
pub(crate) fn text(folder: &Path, file: &str) -> String {
    let bytes = std::fs::read(folder.join(file)).unwrap();
    String::from_utf8(to_utf8(file, bytes).unwrap()).unwrap()
}

/// Reads the net of an instance.
pub(crate) fn net(folder: &Path) -> Arc<Net> {
    let text = text(folder, "model.pnml");
    let mut sources = SourceMap::new();
    let source = sources.add("model.pnml", text.clone().into()).unwrap();
    Arc::new(
        read(&text, source, &mut Budget::unlimited())
            .unwrap_or_else(|errors| panic!("{folder:?}: {errors:?}")),
    )
}

/// The properties of a formula file.
pub(crate) fn properties(model: &mut Model, folder: &Path, examination: Examination) -> Vec<Property> {
    let file = format!("{examination}.xml");
    let text = text(folder, &file);
    let source = SourceMap::new().add(file, text.clone().into()).unwrap();
    let properties = model
        .read_formulas(&text, source, &mut Budget::unlimited())
        .unwrap_or_else(|errors| panic!("{folder:?}: {errors:?}"));
    assert_eq!(properties.len(), 16);
    properties
}

/// What is wrong with a text that was read without limits.
pub(crate) fn mistakes(trouble: Trouble) -> Diagnostics {
    match trouble {
        Trouble::Wrong(mistakes) => mistakes,
        Trouble::Limit(limit) => panic!("{limit}"),
    }
}

/// Reads a net from a text that has one.
pub(crate) fn net_of(text: &str) -> Arc<Net> {
    let mut sources = SourceMap::new();
    let source = sources.add("net.pnml", text.into()).unwrap();
    Arc::new(read(text, source, &mut Budget::unlimited()).unwrap_or_else(|errors| panic!("{errors:?}")))
}

/// The net as a model, with bounds that are guessed.
pub(crate) fn lower(net: &Arc<Net>) -> Model {
    Model::new(net, &mut Budget::unlimited()).unwrap()
}

/// The automaton of the runs that break a formula.
pub(crate) fn negated(formulas: &mut ltl::Formulas, formula: ltl::Formula) -> automata::Tgba {
    let negation = formulas.not(formula);
    automata::translate(formulas, negation, automata::Effort::Medium, &mut Budget::unlimited()).unwrap()
}

/// The net made smaller, without limits.
pub(crate) fn reduce(net: &Arc<Net>, keep: &Keep, rules: &Rules) -> Reduced {
    let budget = &mut Budget::unlimited();
    Reducer::new(net.clone(), budget).unwrap().reduce(keep, rules, budget).unwrap()
}

/// What is known about all markings of a net.
pub(crate) fn facts(net: &Arc<Net>) -> Facts {
    let budget = &mut Budget::unlimited();
    Facts::new(&Arc::new(Reducer::new(net.clone(), budget).unwrap()), budget).unwrap()
}

/// Explores a net, and starts again wherever a place is too small. Returns how often that was, too.
pub(crate) fn explore(model: &mut Model, goals: &[Goal], max_states: u64) -> (Exploration, Exact, usize) {
    for restarts in 0.. {
        let mut budget = Budget::unlimited();
        budget.max_states = max_states;
        let mut store = Exact::new(model.system.width(), u64::MAX);
        let explored = bfs::search(&*model.system, &mut store, goals, &mut budget);
        match &explored.stop {
            Some(Stop::Fault(error, _)) if model.widen(error, &mut Budget::unlimited()).unwrap() => {}
            _ => return (explored, store, restarts),
        }
    }
    unreachable!("restarts come to an end")
}
