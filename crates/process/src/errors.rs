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
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    seen: FxHashSet<(Option<Span>, &'static str)>,
    /// How often an error was added, known or not.
    n_errors: usize,
    /// Errors that are new, but too many to be listed.
    n_unlisted: usize,
}

impl Sink {
    /// More messages than this are not worth the work that goes into them.
    const MAX_LISTED: usize = 2 * Diagnostics::MAX_KEPT;

    /// Adds a message, unless it is known.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        let is_error = diagnostic.severity == Severity::Error;
        self.n_errors += usize::from(is_error);
        if diagnostic.span.is_some() && !self.seen.insert((diagnostic.span, diagnostic.code)) {
            return;
        }
        let list = if is_error { &mut self.errors } else { &mut self.warnings };
        if list.len() < Sink::MAX_LISTED {
            list.push(diagnostic);
        } else {
            self.n_unlisted += usize::from(is_error);
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

    /// Whether errors are only counted by now.
    pub(crate) fn is_full(&self) -> bool {
        self.errors.len() >= Sink::MAX_LISTED
    }

    /// How often an error was added, known or not.
    pub(crate) fn n_errors(&self) -> usize {
        self.n_errors
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.n_errors > 0
    }

    /// The errors, or else the warnings, in the order of their places.
    pub(crate) fn finish(self) -> Diagnostics {
        let mut list = if self.has_errors() { self.errors } else { self.warnings };
        list.sort_by_key(|diagnostic| diagnostic.span.map(|span| (span.source, span.start)));
        let mut diagnostics = Diagnostics::new();
        diagnostics.extend(list);
        diagnostics.extend((0..self.n_unlisted).map(|_| Diagnostic::error("unlisted", "")));
        diagnostics
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::SourceId;

    #[test]
    fn errors_are_sorted_and_counted_and_warnings_do_not_crowd_them_out() {
        let at = |start| Span::new(SourceId::new(0), start, start);
        let mut sink = Sink::default();
        for start in 0..1000 {
            sink.push(Diagnostic::warning("warning", "").at(at(start), ""));
        }
        for start in (0..1000).rev().chain(0..10) {
            sink.push(*fail("error", start.to_string(), at(start), ""));
        }
        assert_eq!(sink.n_errors(), 1010);
        let errors = sink.finish();
        assert_eq!((errors.n_errors(), errors.n_dropped()), (1000, 950));
        assert_eq!(errors.iter().next().map(|error| error.message.as_str()), Some("900"));
    }
}
