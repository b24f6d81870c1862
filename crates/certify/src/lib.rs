//! The checker of certificates: small, slow and obvious on purpose.
//!
//! A certificate says that a property holds, and why: it lists states such that every initial state is in the list and
//! every step leads to the list; for formulas, states of the product with the automaton of the negated formula, each with a
//! *rank* that shows that no run through them violates the formula. This crate reads it beside the model and looks at
//! every state and every step, by the reference semantics of action systems ([`mod@model::reference`]). Some lists leave out steps;
//! then it looks at who reads and writes what, and whether these steps can wait ([`waits`]). It does not search, and it shares
//! nothing with who searches: no store, no reduction, no translation of formulas, no interpreter.
//!
//! | module | owns |
//! |---|---|
//! | [`claim`] | what is claimed, from the words of the certificate; fairness by names |
//! | [`check`](mod@check) | the test of every state and every step |
//! | [`rank`] | why ranks exclude violations, and what they demand of a step |
//! | [`tableau`] | the automaton of a formula, by the definition, and why it misses no word |
//! | [`proof`] | the file format |
//! | [`coder`] | numbers as few bits |
//! | [`waits`] | which steps of a state can wait |
//! | [`states`] | a set of states |
//! | `steps` | what can happen in a state, and where it leads |
//!
//! What must be trusted: the front end that reads the model, the reference semantics, how the value of one variable is put
//! into words ([`model::layout::Field`]), `ltl`'s parser and negation normal form, and these files; under justness, also
//! [`model::fairness::Interference`], which says what steps disturb each other.

pub mod check;
pub mod claim;
pub mod coder;
pub mod proof;
pub mod rank;
pub mod states;
mod steps;
pub mod tableau;
pub mod waits;

pub use check::{Certified, check};
pub use claim::{Claim, What, certify, constraints};
pub use proof::{Claimed, Ends, Fair, Pair, Proof, Reading, StateReader, TooSmall, Wait, fingerprint};

use base::Limit;

/// Why something is not certified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// What is wrong with the certificate, or with the model.
    Wrong(String),
    /// A limit was reached before everything was looked at.
    Limit(Limit),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // In one line, whatever names the certificate has.
            Refusal::Wrong(why) => f.write_str(&why.replace(char::is_control, " ")),
            Refusal::Limit(limit) => limit.fmt(f),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Limit> for Refusal {
    fn from(limit: Limit) -> Refusal {
        Refusal::Limit(limit)
    }
}

impl From<String> for Refusal {
    fn from(why: String) -> Refusal {
        Refusal::Wrong(why)
    }
}

impl From<&str> for Refusal {
    fn from(why: &str) -> Refusal {
        Refusal::Wrong(why.to_owned())
    }
}

impl From<language::Trouble> for Refusal {
    fn from(trouble: language::Trouble) -> Refusal {
        match trouble {
            language::Trouble::Wrong(diagnostics) => Refusal::Wrong(diagnostics.to_string()),
            language::Trouble::Limit(limit) => Refusal::Limit(limit),
        }
    }
}

impl From<base::Diagnostics> for Refusal {
    fn from(diagnostics: base::Diagnostics) -> Refusal {
        Refusal::Wrong(diagnostics.to_string())
    }
}
