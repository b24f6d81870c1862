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

/// Suggests a name that is near the given one. Of very many known names only the first are
/// compared: a slip is not worth minutes.
pub(crate) fn suggest<'n>(
    error: Diagnostic,
    given: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    const MAX_COMPARED: usize = 1000;
    error.suggesting(given, known.into_iter().take(MAX_COMPARED))
}

/// Collects errors and warnings. The same complaint about the same place is kept once: one line
/// of a file may stand for a million transitions.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    list: Vec<Diagnostic>,
    seen: FxHashSet<(Option<Span>, &'static str)>,
    n_errors: usize,
    /// Errors that are counted, but not in the list.
    n_unlisted: usize,
}

impl Sink {
    /// More messages than this are not worth the work that goes into them.
    const MAX_LISTED: usize = 2 * Diagnostics::MAX_KEPT;

    /// Adds a message, unless it is known.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        if diagnostic.severity == Severity::Error {
            self.n_errors += 1;
        }
        if diagnostic.span.is_some() && !self.seen.insert((diagnostic.span, diagnostic.code)) {
            return;
        }
        if !self.is_full() {
            self.list.push(diagnostic);
        } else if diagnostic.severity == Severity::Error {
            self.n_unlisted += 1;
        }
    }

    /// Whether messages are only counted by now.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= Sink::MAX_LISTED
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

    /// How often an error was added, known or not.
    pub(crate) fn n_errors(&self) -> usize {
        self.n_errors
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.n_errors > 0
    }

    /// The errors, or else the warnings, in the order of their places.
    pub(crate) fn finish(mut self) -> Diagnostics {
        let kept = if self.has_errors() { Severity::Error } else { Severity::Warning };
        self.list.retain(|diagnostic| diagnostic.severity == kept);
        self.list.sort_by_key(|diagnostic| diagnostic.span.map(|span| (span.source, span.start)));
        let mut diagnostics = Diagnostics::new();
        diagnostics.extend(self.list);
        diagnostics.extend((0..self.n_unlisted).map(|_| Diagnostic::error("unlisted", "")));
        diagnostics
    }
}
