//! Errors on their way to whoever collects them.

use base::{Diagnostic, Span};
pub(crate) use base::{Fail, Sink, fail};

/// An error at a place, with what to do about it.
pub(crate) fn fail_with_help(
    code: &'static str,
    message: impl Into<String>,
    span: Span,
    help: impl Into<String>,
) -> Fail {
    Box::new(Diagnostic::error(code, message).at(span, "").with_help(help))
}

/// Suggests a name that is near the given one.
#[expect(clippy::boxed_local, reason = "errors travel boxed")]
pub(crate) fn suggest<'n>(error: Fail, given: &str, known: impl IntoIterator<Item = &'n str>) -> Fail {
    Box::new(error.suggesting(given, known))
}

/// `1 parameter`, `2 parameters`.
pub(crate) fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
