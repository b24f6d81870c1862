//! Exit codes, and failures that end a command.

use std::process::ExitCode;

use base::{Diagnostic, Diagnostics, SourceMap};
use report::diagnostic;

use crate::terminal;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Every property holds, or the job is done.
    Success = 0,
    /// Some property is violated.
    Violated = 1,
    /// The input or the usage is bad.
    BadInput = 2,
    /// Something is undecided: a limit was hit, or an incomplete method found nothing.
    Undecided = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Bad input, or something the operating system refused: nothing was computed.
pub(crate) struct Failure {
    sources: SourceMap,
    diagnostics: Diagnostics,
    json: bool,
}

impl Failure {
    pub(crate) fn new(sources: SourceMap, diagnostics: impl Into<Diagnostics>, json: bool) -> Failure {
        Failure { sources, diagnostics: diagnostics.into(), json }
    }

    /// A failure that is not about a place in a file.
    pub(crate) fn plain(code: &'static str, message: impl Into<String>, json: bool) -> Failure {
        Failure::new(SourceMap::new(), Diagnostic::error(code, message), json)
    }

    /// Says what is wrong: to people on stderr, to programs also as JSON on stdout.
    pub(crate) fn report(&self) -> Exit {
        terminal::print_stderr(&diagnostic::to_text(
            &self.sources,
            &self.diagnostics,
            terminal::stderr_has_color(),
        ));
        if self.json {
            let errors = diagnostic::to_json(&self.sources, &self.diagnostics);
            let document = serde_json::json!({ "schema": report::outcome::SCHEMA, "errors": errors });
            terminal::print_stdout(&format!("{document:#}\n"));
        }
        Exit::BadInput
    }
}
