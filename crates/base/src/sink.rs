//! Where errors and warnings are collected while a text is read.

use std::collections::HashSet;

use crate::{Diagnostic, Diagnostics, Limit, Severity, Span};

/// An error on its way to whoever collects errors. Boxed: most results are good, and are passed around millions
/// of times.
pub type Fail = Box<Diagnostic>;

/// An error at a place.
pub fn fail(code: &'static str, message: impl Into<String>, span: Span, label: &str) -> Fail {
    Box::new(Diagnostic::error(code, message).at(span, label))
}

/// Collects errors and warnings. The same complaint about the same place is kept once: one line of a file may
/// stand for a million transitions.
#[derive(Debug, Default)]
pub struct Sink {
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    seen: HashSet<(Option<Span>, &'static str)>,
    /// How often an error was added, known or not.
    n_errors: usize,
    /// Errors that are new, but too many to be listed.
    n_unlisted: usize,
    /// Why the work was given up.
    limit: Option<Limit>,
}

impl Sink {
    /// More messages than this are not worth the work that goes into them.
    const MAX_LISTED: usize = 2 * Diagnostics::MAX_KEPT;

    /// Adds a message, unless it is known.
    pub fn push(&mut self, diagnostic: Diagnostic) {
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
    pub fn take<T>(&mut self, result: Result<T, Fail>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.push(*error);
                None
            }
        }
    }

    /// Notes that a piece of work could not be paid for.
    pub fn pay(&mut self, paid: Result<(), Limit>) {
        self.limit = self.limit.or(paid.err());
    }

    /// That the work was not given up.
    ///
    /// # Errors
    /// Why it was.
    pub fn limit(&self) -> Result<(), Limit> {
        self.limit.map_or(Ok(()), Err)
    }

    /// Whether it is no use to go on: more errors would not be listed, or the budget is spent.
    pub fn is_full(&self) -> bool {
        self.errors.len() >= Sink::MAX_LISTED
            || self.n_errors >= 10 * Sink::MAX_LISTED
            || self.limit.is_some()
    }

    /// How often an error was added, known or not.
    pub fn n_errors(&self) -> usize {
        self.n_errors
    }

    /// Whether an error was added.
    pub fn has_errors(&self) -> bool {
        self.n_errors > 0
    }

    /// The errors, or else the warnings, in the order of their places.
    pub fn finish(self) -> Diagnostics {
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
    use crate::SourceId;

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
