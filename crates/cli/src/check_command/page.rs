//! `--report`: the page of a check.

use std::borrow::Cow;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use base::{SourceId, SourceMap};
use ltl::Formulas;
use report::html::{Page, Watcher};
use report::{CheckReport, Explanation};

use super::{Task, TaskKind};
use crate::exit::Failure;
use crate::input::Input;
use crate::output;
use crate::terminal::SPELLING;

/// What watched the runs of each task.
pub(super) fn watchers<'t>(
    tasks: impl Iterator<Item = &'t Task>,
    formulas: &'t Formulas,
) -> Vec<Option<Watcher<'t>>> {
    let watcher = |task: &'t Task| match &task.kind {
        TaskKind::Formula(task) => Some(Watcher::Claim(&task.claim.tgba, formulas)),
        TaskKind::Tester(tester, _) => Some(Watcher::Tester(tester)),
        _ => None,
    };
    tasks.map(watcher).collect()
}

/// Writes the page.
pub(super) fn write(
    path: &Path,
    report: &CheckReport,
    watchers: &[Option<Watcher<'_>>],
    input: &Input,
    json: bool,
) -> Result<(), Failure> {
    let explanations: Vec<Explanation> =
        report.results.iter().map(|result| Explanation::of_result(result, &SPELLING)).collect();
    let source = source(&input.sources, &report.model.file);
    let page = Page { report, source: source.as_deref(), watchers, explanations: &explanations }.to_html();
    output::write(path, json, |out| out.write_all(page.as_bytes()))
}

/// The text of the model, if it is still known or can be read again.
fn source<'s>(sources: &'s SourceMap, file: &str) -> Option<Cow<'s, str>> {
    let first = sources.get(SourceId::new(0));
    if first.name == file {
        return Some(Cow::Borrowed(&first.text));
    }
    // Formulas that are read with a model come first.
    let path = Path::new(file);
    path.is_file().then(|| fs::read_to_string(path).ok()).flatten().map(Cow::Owned)
}
