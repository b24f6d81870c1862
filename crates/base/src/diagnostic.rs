//! Messages about a user's input: what is wrong, where, and what to do about it.
//!
//! Front ends collect them in a [`Diagnostics`], so that several mistakes are reported at once.
//! Rendering (with the source line and a caret) is the business of the `report` crate.

use std::fmt;

use crate::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input can be used, but is probably not what was meant.
    Warning,
    /// The input cannot be used.
    Error,
}

/// One message.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Stable name of the kind of message, like `unknown-state`.
    pub code: &'static str,
    /// One sentence without a final period: what is wrong.
    pub message: String,
    /// Where, if it is about a place in a text.
    pub span: Option<Span>,
    /// What is written next to the caret; may be empty.
    pub label: String,
    /// Other places that matter, each with what it has to do with it.
    pub related: Vec<(Span, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

/// The message and the advice, without the place: that needs the text.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, " ({help})"))
    }
}

impl std::error::Error for Diagnostic {}

impl Diagnostic {
    /// An error that is not about a place in a text.
    pub fn error(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            span: None,
            label: String::new(),
            related: Vec::new(),
            help: None,
        }
    }

    /// A warning that is not about a place in a text.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message) }
    }

    /// Points at a place, with a word about it (may be empty).
    #[must_use]
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.span = Some(span);
        self.label = label.into();
        self
    }

    /// Points at one more place.
    #[must_use]
    pub fn with_related(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.related.push((span, label.into()));
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Suggests the nearest of the known names, if one is near. Of very many only the first are compared: a
    /// slip is not worth minutes.
    #[must_use]
    pub fn suggesting<'a>(self, given: &str, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
        const MAX_COMPARED: usize = 1000;
        match crate::suggest::nearest(given, known.into_iter().take(MAX_COMPARED)) {
            Some(name) => self.with_help(format!("did you mean `{name}`?")),
            None => self,
        }
    }
}

/// Messages in the order in which they were found; errors are counted, and cut off when they
/// become too many to be of use.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    n_errors: usize,
    n_dropped: usize,
}

/// One message per line.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, message) in self.list.iter().enumerate() {
            write!(f, "{}{message}", if place > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

impl Diagnostics {
    /// More messages than this are counted, not kept.
    pub const MAX_KEPT: usize = 50;

    /// No messages.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds a message.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if diagnostic.severity == Severity::Error {
            self.n_errors += 1;
        }
        if self.list.len() < Diagnostics::MAX_KEPT {
            self.list.push(diagnostic);
        } else {
            self.n_dropped += 1;
        }
    }

    /// Whether an error was added.
    pub fn has_errors(&self) -> bool {
        self.n_errors > 0
    }

    /// Number of errors added, those not kept included.
    pub fn n_errors(&self) -> usize {
        self.n_errors
    }

    /// Number of messages that were not kept.
    pub fn n_dropped(&self) -> usize {
        self.n_dropped
    }

    /// The messages kept.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(diagnostic);
        diagnostics
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, iter: T) {
        iter.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
