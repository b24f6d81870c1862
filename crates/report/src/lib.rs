//! What people and programs read: diagnostics, verdicts and runs as text, JSON, pages and in words, and as services
//! for continuous integration read them (SARIF, JUnit); state spaces as DOT and `.aut` and as pictures.
//!
//! Everything here turns values into strings; printing them is the business of the command line.

pub mod automaton;
pub mod chart;
pub mod coverage;
pub mod cross;
pub mod diagnostic;
pub mod explain;
pub mod html;
pub mod junit;
pub mod method;
pub mod models;
pub mod outcome;
pub mod progress;
pub mod remark;
pub mod sarif;
pub mod space;
pub mod space_picture;
pub use language::story;
pub mod trace;
pub mod trail;
pub mod why;
mod words;

pub use base::text::{count, grouped, human_bytes};
pub use explain::{Explanation, Explanations};
pub use method::Method;
pub use models::Answers;
pub use outcome::{
    CheckReport, Counterexample, ExploreReport, ModelInfo, PropertyResult, Statistics, Verdict, WalkReport,
};
pub use remark::Remark;
pub use trace::Trace;

/// What texts refer to, as the user of a program has to spell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// Where to find what a text leaves out.
    pub shows_all: &'static str,
    /// How to ask for weak fairness.
    pub weak_fairness: Option<&'static str>,
    /// How to ask for strong fairness.
    pub strong_fairness: Option<&'static str>,
}

impl Default for Spelling {
    /// Nothing that a program could spell in another way.
    fn default() -> Spelling {
        Spelling { shows_all: "the JSON document shows all", weak_fairness: None, strong_fairness: None }
    }
}
