//! Where errors and warnings are collected while a model is read.

use base::{Diagnostic, Diagnostics, Limit, Severity, Span};
use rustc_hash::FxHashSet;

/// An error on its way to whoever collects errors; boxed, since most results are good.
pub(crate) type Fail = Box<Diagnostic>;

/// An error at a place.
pub(crate) fn fail(code: &'static str, message: impl Into<String>, span: Span, label: &str) -> Fail {
    Box::new(Diagnostic::error(code, message).at(span, label))
}

/// An error at a place, with what to do about it.
pub(crate) fn fail_with_help(
    code: &'static str,
    message: impl Into<String>,
    span: Span,
    help: impl Into<String>,
) -> Fail {
    Box::new(Diagnostic::error(code, message).at(span, "").with_help(help))
}

/// Suggests a name that is near the given one. Of very many known names only the first are
/// compared: a slip is not worth minutes.
#[expect(clippy::boxed_local, reason = "errors travel boxed")]
pub(crate) fn suggest<'n>(error: Fail, given: &str, known: impl IntoIterator<Item = &'n str>) -> Fail {
    const MAX_COMPARED: usize = 1000;
    Box::new(error.suggesting(given, known.into_iter().take(MAX_COMPARED)))
}

/// `1 parameter`, `2 parameters`.
pub(crate) fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Collects errors and warnings. The same complaint about the same place is kept once: one line
/// of an inline may be read many times.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    seen: FxHashSet<(Option<Span>, &'static str)>,
    /// How many messages were added, known or not.
    n_added: usize,
    /// Why the work was given up.
    limit: Option<Limit>,
}

impl Sink {
    /// More errors than this are not worth the work that goes into them.
    const MAX_LISTED: usize = 2 * Diagnostics::MAX_KEPT;

    /// Adds a message, unless it is known.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.n_added += usize::from(diagnostic.severity == Severity::Error);
        if diagnostic.span.is_some() && !self.seen.insert((diagnostic.span, diagnostic.code)) {
            return;
        }
        let is_error = diagnostic.severity == Severity::Error;
        let list = if is_error { &mut self.errors } else { &mut self.warnings };
        if list.len() < Sink::MAX_LISTED {
            list.push(diagnostic);
        }
    }

    /// Whether it is no use to go on: more errors would not be listed, or the budget is spent.
    pub(crate) fn is_full(&self) -> bool {
        self.errors.len() >= Sink::MAX_LISTED || self.n_added >= 10 * Sink::MAX_LISTED || self.limit.is_some()
    }

    /// Notes that a piece of work could not be paid for.
    pub(crate) fn pay(&mut self, paid: Result<(), Limit>) {
        self.limit = self.limit.or(paid.err());
    }

    /// Why the work was given up, if it was.
    pub(crate) fn limit(&self) -> Result<(), Limit> {
        self.limit.map_or(Ok(()), Err)
    }

    pub(crate) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// The errors, or else the warnings, in the order of their places.
    pub(crate) fn finish(self) -> Diagnostics {
        let mut list = if self.has_errors() { self.errors } else { self.warnings };
        list.sort_by_key(|diagnostic| diagnostic.span.map(|span| (span.source, span.start)));
        let mut diagnostics = Diagnostics::new();
        diagnostics.extend(list);
        diagnostics
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::SourceId;

    #[test]
    fn errors_are_sorted_kept_once_and_not_crowded_out_by_warnings() {
        let at = |start| Span::new(SourceId::new(0), start, start);
        let mut sink = Sink::default();
        for start in 0..300 {
            sink.push(Diagnostic::warning("warning", "").at(at(start), ""));
        }
        sink.push(*fail("error", "second", at(2), ""));
        sink.push(*fail("error", "first", at(1), ""));
        sink.push(*fail("error", "again", at(1), ""));
        let messages: Vec<String> = sink.finish().iter().map(|error| error.message.clone()).collect();
        assert_eq!(messages, ["first", "second"]);
    }
}
