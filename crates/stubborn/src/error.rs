//! What is wrong with the input, with the texts that it refers to.

use std::fmt;

use base::{Diagnostic, Diagnostics, Limit, SourceMap};
use check::decide::Refusal;
use report::diagnostic;

/// Why there is no answer.
#[derive(Clone, Debug)]
pub(crate) enum Trouble {
    /// The input is wrong.
    Wrong(Diagnostics),
    /// A limit was reached.
    Limit(Limit),
    /// A property cannot be checked by the method that was asked for.
    Refused(String, Refusal),
}

impl Trouble {
    /// A property of this name cannot be checked.
    pub(crate) fn refused(name: &str, why: Refusal) -> Trouble {
        match why {
            Refusal::Limit(limit) => Trouble::Limit(limit),
            why => Trouble::Refused(name.to_owned(), why),
        }
    }
}

impl<T: Into<language::Trouble>> From<T> for Trouble {
    fn from(trouble: T) -> Trouble {
        match trouble.into() {
            language::Trouble::Wrong(diagnostics) => Trouble::Wrong(diagnostics),
            language::Trouble::Limit(limit) => Trouble::Limit(limit),
        }
    }
}

/// Why nothing was computed: the input is wrong, what was asked for does not fit together, or a limit was
/// reached before there was anything to say.
#[derive(Clone)]
pub struct Error {
    sources: SourceMap,
    trouble: Trouble,
}

impl Error {
    pub(crate) fn new(sources: &SourceMap, trouble: impl Into<Trouble>) -> Error {
        Error { sources: sources.clone(), trouble: trouble.into() }
    }

    /// The limit that was reached, if that is all.
    pub fn limit(&self) -> Option<Limit> {
        match self.trouble {
            Trouble::Limit(limit) => Some(limit),
            _ => None,
        }
    }

    /// Why a method does not fit a property, if that is all; [`Refusal::remedy`] says what would.
    pub fn refusal(&self) -> Option<Refusal> {
        match self.trouble {
            Trouble::Refused(_, refusal) => Some(refusal),
            _ => None,
        }
    }

    /// The messages.
    pub fn diagnostics(&self) -> Diagnostics {
        match &self.trouble {
            Trouble::Wrong(diagnostics) => diagnostics.clone(),
            Trouble::Limit(limit) => Diagnostic::error("limit", limit.to_string()).into(),
            Trouble::Refused(name, why) => {
                let error =
                    Diagnostic::error("method", format!("`{name}` cannot be checked this way: {why}"));
                let remedy = why.remedy();
                match remedy.ways.is_empty() {
                    true => error.into(),
                    false => error.with_help(format!("what would fit: {remedy}")).into(),
                }
            }
        }
    }

    /// As programs read it: what the command line prints with `--json`.
    pub fn to_json(&self) -> serde_json::Value {
        let errors = diagnostic::to_json(&self.sources, &self.diagnostics());
        serde_json::json!({ "schema": report::outcome::SCHEMA, "errors": errors })
    }

    /// The texts that messages refer to.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(diagnostic::to_text(&self.sources, &self.diagnostics(), false).trim_end())
    }
}

impl fmt::Debug for Error {
    /// As people read it: the texts of whole models help nobody.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Error {
        Error::new(&SourceMap::new(), diagnostic)
    }
}
