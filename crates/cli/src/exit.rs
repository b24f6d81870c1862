//! Exit codes, and failures that end a command.

use std::process::ExitCode;

use stubborn::base::{Diagnostic, Diagnostics, Limit, SourceMap};
use stubborn::language::Trouble;
use stubborn::report::{diagnostic, junit, outcome, sarif};
use stubborn::{Error, Verdict};

use crate::args::Format;
use crate::{spelling, terminal};

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

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Exit {
        match verdict {
            Verdict::Holds => Exit::Success,
            Verdict::Violated => Exit::Violated,
            Verdict::Unknown => Exit::Undecided,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why a command ends early.
pub(crate) enum Failure {
    /// Bad input, or something the operating system refused: nothing was computed.
    Wrong(SourceMap, Diagnostics),
    /// A limit was reached before there was anything to say.
    Limit(String),
    /// A limit was reached while something was printed.
    Cut(Limit),
}

impl Failure {
    pub(crate) fn new(sources: SourceMap, trouble: impl Into<Trouble>) -> Failure {
        match trouble.into() {
            Trouble::Wrong(diagnostics) => Failure::Wrong(sources, diagnostics),
            Trouble::Limit(limit) => Failure::Limit(limit.to_string()),
        }
    }

    /// A failure that is not about a place in a file.
    pub(crate) fn plain(code: &'static str, message: impl Into<String>) -> Failure {
        Diagnostic::error(code, message).into()
    }

    /// Says what is wrong: to people on stderr, to programs also as JSON on stdout.
    pub(crate) fn report(&self, json: bool) -> Exit {
        match self {
            Failure::Limit(reason) => {
                if json {
                    let document = serde_json::json!({
                        "schema": outcome::SCHEMA, "verdict": "unknown", "reason": reason,
                    });
                    terminal::print_stdout(&format!("{document:#}\n"));
                } else {
                    terminal::print_stdout(&format!("unknown ({reason})\n"));
                }
                Exit::Undecided
            }
            Failure::Cut(limit) => {
                terminal::print_stderr(&format!("\nunknown ({limit}): not everything was printed\n"));
                Exit::Undecided
            }
            Failure::Wrong(sources, diagnostics) => {
                let text = diagnostic::to_text(sources, diagnostics, terminal::stderr_has_color());
                terminal::print_stderr(&text);
                if json {
                    let errors = diagnostic::to_json(sources, diagnostics);
                    let document = serde_json::json!({ "schema": outcome::SCHEMA, "errors": errors });
                    terminal::print_stdout(&format!("{document:#}\n"));
                }
                Exit::BadInput
            }
        }
    }

    /// The same in a format of services for continuous integration, for the model in a file.
    pub(crate) fn report_as(&self, format: Format, file: &str) -> Exit {
        let is_sarif = format == Format::Sarif;
        let document = match self {
            Failure::Wrong(sources, diagnostics) if is_sarif => {
                format!("{:#}\n", sarif::of_diagnostics(sources, diagnostics))
            }
            Failure::Wrong(sources, diagnostics) => junit::of_diagnostics(file, sources, diagnostics),
            Failure::Limit(reason) if is_sarif => {
                let unknown = Diagnostic::error("limit", format!("unknown: {reason}"));
                format!("{:#}\n", sarif::of_diagnostics(&SourceMap::new(), &unknown.into()))
            }
            Failure::Limit(reason) => junit::of_limit(file, reason),
            Failure::Cut(_) => return self.report(false),
        };
        terminal::print_stdout(&document);
        self.report_beside()
    }

    /// The same, where stdout has something else already.
    pub(crate) fn report_beside(&self) -> Exit {
        if let Failure::Limit(reason) = self {
            terminal::print_stderr(&format!("unknown ({reason})\n"));
            return Exit::Undecided;
        }
        self.report(false)
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Failure {
        Failure::new(SourceMap::new(), diagnostic)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        if let Some(limit) = error.limit() {
            return Failure::Limit(limit.to_string());
        }
        Failure::new(error.sources().clone(), spelling::errors(&error))
    }
}
