//! What is said about an answer besides the verdict: why there is none, or what is remarkable about it.

use std::fmt;

use automata::TooLarge;
use base::Limit;
use check::Coverage;
use check::decide::Refusal;
use language::Argument;
use replay::TesterClaim;
use serde::{Serialize as _, Serializer};

use crate::words::words;
use crate::{count, human_bytes};

/// A remark about an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Remark {
    /// A limit was reached, in the middle of this work.
    Limit(Limit, Work),
    /// What watches the runs would be too large.
    TooLarge(TooLarge),
    /// It cannot be checked as was asked for; and how a program spells what would fit, to be said after it.
    Refused(Refusal, String),
    /// Such questions are not answered, and why.
    Unsupported(String),
    /// The model goes wrong, so that nothing is known; and how.
    ModelError(String),
    /// The model goes wrong so, as it promised not to.
    Broken(String),
    /// Some states may be missing: how many were found, as estimated.
    Coverage(Coverage),
    /// No violation was found, but some states may be missing.
    NoneFound(Coverage),
    /// Something else is violated, which was enough.
    Stopped,
    /// What is known without a search decides it, and how.
    WithoutSearch(Argument),
    /// What should be possible is not.
    NowhereTrue,
    /// The greatest value.
    Maximum(i64),
    /// A value that is reached; there may be greater ones.
    AtLeast(i64),
    /// It says nothing that the property holds.
    Vacuous(Vacuity),
    /// What the tester calls illegal, and the state that it is in.
    Illegal(TesterClaim, String),
    /// How the violation is to be understood.
    Ends(End),
    /// How the closure under stuttering did not help.
    Closure(Unclosed),
    /// There may be a shorter run, which need not be fair.
    NotShortened,
    /// Several threads were asked for, but one has searched.
    OneThread,
    /// A device has searched.
    OnDevice,
    /// A device was asked for, but the processor has searched, and why.
    OnProcessor(String),
    /// There is a certificate, of so many states in so many bytes.
    Certified {
        /// Whether they were searched once more, since the search that gave the answer leaves states out.
        again: bool,
        /// Whether it leaves out what the checker sees that it can wait.
        waits: bool,
        /// The states.
        states: u64,
        /// The bytes.
        bytes: u64,
    },
    /// There is no certificate, and why.
    NotCertified(String),
    /// There is no certificate, since a limit was reached before it was made.
    NotCertifiedYet(Limit),
    /// There was nothing to export.
    NothingExported,
    /// A file has a state before the initial ones, since there are so many of them.
    InitialStates(usize),
    /// A mistake of ours, and which.
    Internal(String),
}

words! {
    /// What was done when a limit was reached.
    Work {
        /// The search, or the preparation of it.
        Search = "",
        /// Reading the model.
        Reading = " while the model was read",
        /// Making an automaton of a formula.
        Translation = " while it was translated",
        /// Repeating the run that was found.
        Replay = " while the run was replayed",
    }
}

words! {
    /// How a finite run violates what is asked about infinite ones.
    End {
        /// However it goes on.
        WhateverFollows = "whatever follows",
        /// It cannot go on, which was said to be an error.
        Deadlock = "the system comes to a deadlock",
        /// It cannot go on, which the automaton accepts.
        Accepted = "it accepts that the run ends",
    }
}

words! {
    /// How a closure did not help.
    Unclosed {
        /// There is none.
        Deadlocks = "its deadlock states have no closure: checked without reduction",
        /// It is too large.
        TooLarge = "its stutter closure is too large: checked without reduction",
        /// It accepts more.
        Larger = "it is not closed under stuttering: checked again without reduction",
    }
}

/// Why it says nothing that a property holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Vacuity {
    /// The invariant does not look at the state.
    Constant,
    /// The tester calls nothing illegal.
    Tester,
    /// Nothing at all violates it.
    NoWord,
    /// All runs end.
    NoInfiniteRun,
    /// This condition is never met.
    NeverTrue(String),
    /// This proposition has always this value, and the property would hold without it.
    NeverChanges(String, bool),
}

impl Remark {
    /// The remarks below each other, in one line; nothing if there are none.
    pub fn join(remarks: &[Remark]) -> Option<String> {
        let texts: Vec<String> = remarks.iter().map(ToString::to_string).collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    pub(crate) fn serialize_all<S: Serializer>(remarks: &[Remark], serializer: S) -> Result<S::Ok, S::Error> {
        Remark::join(remarks).serialize(serializer)
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remark::Limit(limit, work) => write!(f, "{limit}{work}"),
            Remark::TooLarge(what) => what.fmt(f),
            Remark::Refused(refusal, hint) => write!(f, "{refusal}{hint}"),
            Remark::Unsupported(why) | Remark::Broken(why) => f.write_str(why),
            Remark::ModelError(how) => write!(f, "model error: {how}"),
            Remark::Coverage(Coverage { most, bits_per_state, .. }) => {
                // Not more than there is.
                let (most, bits) = ((most * 1e4).floor() / 100.0, bits_per_state.floor().max(1.0));
                write!(
                    f,
                    "bitstate may miss states: estimated coverage at most {most} %, with {bits} bits per state"
                )
            }
            Remark::NoneFound(coverage) => {
                write!(f, "no violation found, but {}", Remark::Coverage(*coverage))
            }
            Remark::Stopped => f.write_str("not decided after the first violation: ask for it alone"),
            Remark::WithoutSearch(by) => write!(f, "{by}, without a search"),
            Remark::NowhereTrue => f.write_str("it is true nowhere"),
            Remark::Maximum(value) => write!(f, "the maximum is {value}"),
            Remark::AtLeast(value) => write!(f, "at least {value}"),
            Remark::Vacuous(why) => write!(f, "vacuous: {why}"),
            Remark::Illegal(TesterClaim::IllegalTrace, state) => {
                write!(f, "illegal trace: the tester reaches `{state}`")
            }
            Remark::Illegal(TesterClaim::StableFailure, state) => {
                let what = "the system refuses what the tester needs";
                write!(f, "illegal stable failure: {what} in `{state}`")
            }
            Remark::Illegal(TesterClaim::Divergence, state) => {
                write!(f, "illegal divergence: the tester waits for ever in `{state}`")
            }
            Remark::Illegal(TesterClaim::InfiniteTrace, _) => {
                f.write_str("illegal infinite trace: the tester leaves infinite states infinitely often")
            }
            Remark::Ends(end) => end.fmt(f),
            Remark::Closure(how) => how.fmt(f),
            Remark::NotShortened => f.write_str("not shortened: the shortest run need not be fair"),
            Remark::OneThread => {
                f.write_str("searched by one thread: so many do not pay here, or cannot help")
            }
            Remark::OnDevice => f.write_str("searched on the device"),
            Remark::OnProcessor(why) => write!(f, "searched on the processor, not on the device: {why}"),
            Remark::Certified { again, waits, states, bytes } => {
                let (states, bytes) = (count(*states, "state"), human_bytes(*bytes));
                let again = match (again, waits) {
                    (false, _) => "",
                    (true, false) => "searched again without reduction, ",
                    (true, true) => "searched again by sets that can be checked, ",
                };
                write!(f, "certificate: {again}{states} in {bytes}")
            }
            Remark::NotCertified(why) => write!(f, "not certified: {why}"),
            Remark::NotCertifiedYet(limit) => write!(f, "not certified: {limit}"),
            Remark::NothingExported => f.write_str("nothing was exported"),
            Remark::InitialStates(n) => {
                write!(f, "{n} initial states: state 0 of the .aut file is artificial")
            }
            Remark::Internal(what) => write!(f, "internal error, please report it: {what}"),
        }
    }
}

impl fmt::Display for Vacuity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Vacuity::Constant => f.write_str("the invariant is constant"),
            Vacuity::Tester => f.write_str("the tester has no reject, deadlock, livelock or infinite state"),
            Vacuity::NoWord => f.write_str("no word violates it"),
            Vacuity::NoInfiniteRun => f.write_str("there is no infinite run"),
            Vacuity::NeverTrue(text) => write!(f, "`{text}` is never true"),
            Vacuity::NeverChanges(text, value) => {
                write!(f, "`{text}` is always {value}, and it does not matter")
            }
        }
    }
}
