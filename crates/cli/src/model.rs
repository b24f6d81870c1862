//! Opens the model that a command is about, and says what should be said about it.

use stubborn::base::Limit;
use stubborn::{Clock, Limits, ModelOptions, Session};

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
    match Session::open_within(&arguments.file, &options(arguments), clock) {
        Ok(session) => {
            print_warnings(&session, 0);
            Ok(Ok(session))
        }
        Err(error) => error.limit().map(Err).ok_or_else(|| error.into()),
    }
}

/// The same, for who has nothing to say about a model that is not read.
pub(crate) fn open_whole(arguments: &ModelArguments, clock: &Clock<'_>) -> Result<Session, Failure> {
    let limited = |limit| Failure::Limit(format!("{limit} while the model was read"));
    open(arguments, clock)?.map_err(limited)
}

/// Prints the warnings about a model after the first ones, which were printed before.
pub(crate) fn print_warnings(session: &Session, n_printed: usize) {
    terminal::print_stderr(&session.warnings().to_text(n_printed, terminal::stderr_has_color()));
}
