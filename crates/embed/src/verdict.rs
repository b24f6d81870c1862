//! Verdicts: what is known after a question, as a type that cannot be overlooked.

use std::error::Error;
use std::fmt;

use base::Limit;
use check::{Coverage, Stats};

use crate::model::Model;
use crate::run::{Counterexample, Run};

/// The answer to a question about all runs.
#[must_use = "a verdict that nobody looks at proves nothing"]
#[non_exhaustive]
pub enum Verdict<M: Model> {
    /// It is so, in every run.
    Holds(Proof),
    /// It is not so, in this run.
    Violated(Counterexample<M>),
    /// The model panics at the end of this run.
    Panics(Counterexample<M>),
    /// It is not known.
    Unknown(Reason),
}

/// The answer to the question whether a state can be reached.
#[must_use = "an answer that nobody looks at proves nothing"]
#[non_exhaustive]
pub enum Reachable<M: Model> {
    /// It can, by this run; there is no shorter one.
    Yes(Run<M>),
    /// It cannot.
    No(Proof),
    /// The model panics at the end of this run.
    Panics(Counterexample<M>),
    /// It is not known.
    Unknown(Reason),
}

/// What was looked at, where nothing was found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Proof {
    /// States that were stored: of the model, or of the model together with what watches it.
    pub states: u64,
    /// Steps that were taken.
    pub transitions: u64,
    /// States from which nothing can happen.
    pub deadlocks: u64,
    /// The longest of all shortest runs, or the longest path.
    pub depth: u64,
    /// Bytes that were held at most, as far as they are known.
    pub bytes: u64,
    /// With which probability a state was missed, at most, since another one has the same fingerprint; none if states were compared
    /// whole.
    pub missed: Option<f64>,
    /// Why all interleavings were explored, though [`Check::reduced`](crate::Check::reduced) asked to leave some out; none if that was not
    /// asked, or done.
    pub unreduced: Option<String>,
}

impl Proof {
    /// What is less certain than this is not known.
    pub(crate) const MAX_MISSED: f64 = 0.001;

    pub(crate) fn of(stats: &Stats) -> Proof {
        let Stats { states, transitions, deadlocks, depth, peak_bytes } = *stats;
        Proof { states, transitions, deadlocks, depth, bytes: peak_bytes, missed: None, unreduced: None }
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} states, {} transitions", self.states, self.transitions)?;
        if let Some(missed) = self.missed {
            write!(f, ", kept by fingerprints: a state was missed with a probability below {missed:.1e}")?;
        }
        match &self.unreduced {
            Some(why) => write!(f, ", all interleavings: {why}"),
            None => Ok(()),
        }
    }
}

/// Why something is not known.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// A limit was reached.
    Limit(Limit),
    /// Nothing was found, by a store that may have taken new states for known ones.
    NotAllSeen(Coverage),
    /// The question makes no sense as it is.
    Question(String),
    /// What was asked for does not fit together, or is not supported.
    Refused(String),
    /// `actions` or `step` depend on something else than the state.
    Nondeterministic(String),
    /// A value is not in the range that was declared for it, or states are told apart by a hash that says too little.
    OutOfRange(String),
    /// Something was found that the model, run by itself, does not do: a mistake in Stubborn, or a model that depends
    /// on more than its state.
    Unconfirmed(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Limit(limit) => limit.fmt(f),
            Reason::NotAllSeen(Coverage { most, bits_per_state, .. }) => write!(
                f,
                "nothing was found, but states may have been missed: at most {:.4} % were seen, with {bits_per_state:.1} \
                 bits for each",
                100.0 * most
            ),
            Reason::Question(text) | Reason::Refused(text) | Reason::OutOfRange(text) => f.write_str(text),
            Reason::Nondeterministic(text) => {
                write!(f, "the model depends on something else than its state: {text}")
            }
            Reason::Unconfirmed(text) => write!(
                f,
                "something was found that the model does not do when it is run again: {text}; it depends on more than \
                 its state, or this is a mistake in Stubborn"
            ),
        }
    }
}

impl Error for Reason {}

impl From<Limit> for Reason {
    fn from(limit: Limit) -> Reason {
        Reason::Limit(limit)
    }
}

/// Why something that was expected is not so: for `?`.
#[non_exhaustive]
pub enum Failure<M: Model> {
    /// Not in this run.
    Violated(Counterexample<M>),
    /// The model panics at the end of this run.
    Panics(Counterexample<M>),
    /// It is not known.
    Unknown(Reason),
}

impl<M: Model> Verdict<M> {
    /// Whether it holds; not if that is not known.
    pub fn holds(&self) -> bool {
        matches!(self, Verdict::Holds(_))
    }

    /// Whether it is violated; not if that is not known.
    pub fn is_violated(&self) -> bool {
        matches!(self, Verdict::Violated(_))
    }

    /// Whether it is not known.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Verdict::Unknown(_))
    }

    /// What was looked at, if it holds.
    pub fn proof(&self) -> Option<&Proof> {
        match self {
            Verdict::Holds(proof) => Some(proof),
            _ => None,
        }
    }

    /// The run that shows a violation or ends in a panic.
    pub fn counterexample(&self) -> Option<&Counterexample<M>> {
        match self {
            Verdict::Violated(run) | Verdict::Panics(run) => Some(run),
            Verdict::Holds(_) | Verdict::Unknown(_) => None,
        }
    }

    /// For `?`.
    ///
    /// # Errors
    /// It does not hold, or that is not known.
    pub fn into_result(self) -> Result<Proof, Failure<M>> {
        match self {
            Verdict::Holds(proof) => Ok(proof),
            Verdict::Violated(run) => Err(Failure::Violated(run)),
            Verdict::Panics(run) => Err(Failure::Panics(run)),
            Verdict::Unknown(reason) => Err(Failure::Unknown(reason)),
        }
    }
}

impl<M: Model> Reachable<M> {
    /// The run that leads there.
    pub fn run(self) -> Option<Run<M>> {
        match self {
            Reachable::Yes(run) => Some(run),
            _ => None,
        }
    }

    /// Whether it cannot be reached; not if that is not known.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Reachable::No(_))
    }
}

impl<M: Model> fmt::Display for Failure<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Violated(run) | Failure::Panics(run) => run.fmt(f),
            Failure::Unknown(reason) => write!(f, "it is not known: {reason}"),
        }
    }
}

impl<M: Model> Error for Failure<M> {}

impl<M: Model> fmt::Display for Verdict<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Holds(proof) => write!(f, "it holds ({proof})"),
            Verdict::Violated(run) | Verdict::Panics(run) => run.fmt(f),
            Verdict::Unknown(reason) => write!(f, "it is not known: {reason}"),
        }
    }
}

impl<M: Model> fmt::Display for Reachable<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reachable::Yes(run) => write!(f, "it can be reached:\n{run}"),
            Reachable::No(proof) => write!(f, "it cannot be reached ({proof})"),
            Reachable::Panics(run) => run.fmt(f),
            Reachable::Unknown(reason) => write!(f, "it is not known: {reason}"),
        }
    }
}

/// As they are shown: what a test that fails with one prints.
macro_rules! debug_as_shown {
    ($($name:ident),*) => {
        $(impl<M: Model> fmt::Debug for $name<M> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        })*
    };
}

debug_as_shown!(Verdict, Reachable, Failure, Counterexample, Run);
