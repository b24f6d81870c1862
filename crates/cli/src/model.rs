//! Opens what a command is about: the model, and documents that this program has printed.

use std::path::Path;

use serde_json::Value;
use stubborn::base::{Budget, Diagnostic, Limit, SourceMap};
use stubborn::{Clock, Limits, ModelOptions, Session, Told, files};

use crate::args::ModelArguments;
use crate::exit::Failure;
use crate::terminal::{self, Display};

/// Starts the clock of a command.
pub(crate) fn clock<'d>(limits: impl Into<Limits>, display: &'d Display) -> Clock<'d> {
    terminal::catch_interrupts();
    Clock::start(&limits.into()).watched_by(display)
}

/// How a model is read.
pub(crate) fn options(arguments: &ModelArguments) -> ModelOptions {
    ModelOptions {
        definitions: arguments.definitions.clone(),
        max_processes: arguments.max_processes as usize,
        language: arguments.language.clone(),
        folders: arguments.folders.clone(),
    }
}

/// Reads a model, within the limits if it can be; warnings are printed.
pub(crate) fn open(arguments: &ModelArguments, clock: &Clock<'_>) -> Result<Result<Session, Limit>, Failure> {
    open_as(&arguments.file, &options(arguments), clock)
}

/// The same for a file that is to be read in this way.
pub(crate) fn open_as(
    file: &Path,
    options: &ModelOptions,
    clock: &Clock<'_>,
) -> Result<Result<Session, Limit>, Failure> {
    match Session::open_within(file, options, clock) {
        Ok(session) => {
            print_warnings(&session, 0);
            Ok(Ok(session))
        }
        Err(error) => error.limit().map(Err).ok_or_else(|| error.into()),
    }
}

/// A model, for who has nothing to say about one that is not read.
pub(crate) fn whole(opened: Result<Session, Limit>) -> Result<Session, Failure> {
    opened.map_err(|limit| Failure::Limit(format!("{limit} while the model was read")))
}

/// Reads a model that has to be read.
pub(crate) fn open_whole(arguments: &ModelArguments, clock: &Clock<'_>) -> Result<Session, Failure> {
    whole(open(arguments, clock)?)
}

/// Prints the warnings about a model after the first ones, which were printed before.
pub(crate) fn print_warnings(session: &Session, n_printed: usize) {
    terminal::print_stderr(&session.warnings().to_text(n_printed, terminal::stderr_has_color()));
}

/// Reads a JSON document, if there is room for it: each byte of it takes several in memory.
pub(crate) fn read_json(
    path: &Path,
    budget: &mut Budget<'_>,
    bad: impl FnOnce(String) -> Failure,
) -> Result<Value, Failure> {
    const BYTES_PER_BYTE: u64 = 8;
    let bytes = files::read(path, budget).map_err(|trouble| Failure::new(SourceMap::new(), trouble))?;
    let room = budget.hold(bytes.len() as u64 * BYTES_PER_BYTE);
    room.map_err(|limit| Failure::Limit(format!("{limit} while `{}` was read", path.display())))?;
    serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))
}

/// Reads a run: of several that of the property, or the first.
pub(crate) fn read_run(
    path: &Path,
    property: Option<&str>,
    budget: &mut Budget<'_>,
) -> Result<Told, Failure> {
    let file = path.display().to_string();
    let bad = |why| Diagnostic::error("bad-run", format!("`{file}` is no JSON: {why}")).into();
    Ok(Told::of_document(&file, read_json(path, budget, bad)?, property)?)
}
