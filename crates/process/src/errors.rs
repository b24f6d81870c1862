//! Where errors are collected while a file is read.

use base::{Diagnostic, Diagnostics, Severity, Span};
use rustc_hash::FxHashSet;

/// An error on its way to whoever collects errors. Boxed: most results are good, and are passed
/// around millions of times.
pub(crate) type Fail = Box<Diagnostic>;

/// An error at a place.
pub(crate) fn fail(code: &'static str, message: impl Into<String>, span: Span, label: &str) -> Fail {
    Box::new(Diagnostic::error(code, message).at(span, label))
}

/// Collects errors and warnings. The same complaint about the same place is kept once: one line
/// of a file may stand for a million transitions.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    pub(crate) errors: Diagnostics,
    pub(crate) warnings: Diagnostics,
    seen: FxHashSet<(Option<Span>, &'static str)>,
}

impl Sink {
    /// Adds a message, unless it is known.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        if diagnostic.span.is_none() || self.seen.insert((diagnostic.span, diagnostic.code)) {
            match diagnostic.severity {
                Severity::Error => self.errors.push(diagnostic),
                Severity::Warning => self.warnings.push(diagnostic),
            }
        }
    }

    /// Adds the error of a result, if it has one; returns the value, if it has one.
    pub(crate) fn take<T>(&mut self, result: Result<T, Fail>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.push(*error);
                None
            }
        }
    }
}
