//! Why a construction came to no end: what it makes would be too large, or the budget is spent.

use base::{Diagnostic, Limit};

use crate::by_change::Explosion;

/// What would be too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// The formula has too many different subformulas.
    Formula,
    /// The automaton would need more than [`MAX_MARKS`](crate::tgba::MAX_MARKS) marks.
    Marks,
    /// There are too many propositions for a construction that names letters.
    Propositions,
    /// The automaton would have too many states.
    States,
    /// The labels would be too large.
    Labels,
    /// There was not enough [fuel](crate::Config::fuel) to make any automaton.
    Work,
    /// The explicit testing automaton would be too large.
    Explicit(Explosion),
}

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TooLarge::Explicit(reason) => return reason.fmt(f),
            TooLarge::Propositions => "there are too many propositions",
            TooLarge::Formula => "the formula has too many different subformulas",
            TooLarge::Marks => "the automaton would need too many acceptance marks",
            TooLarge::States => "the automaton would have too many states",
            TooLarge::Labels => "the labels of the automaton would be too large",
            TooLarge::Work => "the translation would take too long",
        })
    }
}

impl std::error::Error for TooLarge {}

/// Why something was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GaveUp {
    /// It would be too large.
    TooLarge(TooLarge),
    /// The budget is spent.
    Limit(Limit),
}

impl std::fmt::Display for GaveUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GaveUp::TooLarge(reason) => reason.fmt(f),
            GaveUp::Limit(limit) => limit.fmt(f),
        }
    }
}

impl std::error::Error for GaveUp {}

impl From<TooLarge> for GaveUp {
    fn from(reason: TooLarge) -> GaveUp {
        GaveUp::TooLarge(reason)
    }
}

impl From<Explosion> for GaveUp {
    fn from(reason: Explosion) -> GaveUp {
        GaveUp::TooLarge(TooLarge::Explicit(reason))
    }
}

impl From<Limit> for GaveUp {
    fn from(limit: Limit) -> GaveUp {
        GaveUp::Limit(limit)
    }
}

impl GaveUp {
    /// What came of something that may be too large: nothing, then; but a spent budget ends everything.
    pub(crate) fn optional<T>(result: Result<T, GaveUp>) -> Result<Option<T>, Limit> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(GaveUp::TooLarge(_)) => Ok(None),
            Err(GaveUp::Limit(limit)) => Err(limit),
        }
    }
}

/// Why a text was not read.
#[derive(Clone, Debug)]
pub enum Unread {
    /// It is wrong.
    Wrong(Diagnostic),
    /// The budget is spent.
    Limit(Limit),
}

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unread::Wrong(diagnostic) => f.write_str(&diagnostic.message),
            Unread::Limit(limit) => limit.fmt(f),
        }
    }
}

impl std::error::Error for Unread {}

impl From<Diagnostic> for Unread {
    fn from(diagnostic: Diagnostic) -> Unread {
        Unread::Wrong(diagnostic)
    }
}

impl From<Limit> for Unread {
    fn from(limit: Limit) -> Unread {
        Unread::Limit(limit)
    }
}
