//! Stubborn: an on-the-fly model checker for concurrent systems, as a library.
//!
//! A [`Session`] opens a model of any language and answers [`Question`]s about it; every run that it shows was
//! replayed by an independent judge. What is not said in [`Options`] is chosen.
//!
//! ```
//! use stubborn::{Options, Question, Session, Verdict};
//!
//! let text = "process Lamp { off: press -> on; on: press -> off | flicker -> on; }";
//! let mut session = Session::of_text("process", text)?;
//! let report = session.check(&[Question::ltl("[] <> Lamp@off")], &Options::default())?;
//! let answer = &report.results[0];
//! assert_eq!(answer.verdict, Verdict::Violated);
//! let run = answer.counterexample.as_ref().expect("a violation comes with its run");
//! assert_eq!((run.trace.len(), run.cycle_start), (2, Some(1)), "on, then it flickers for ever");
//! # Ok::<(), stubborn::Error>(())
//! ```
//!
//! The way from a text to a verdict, and who goes it:
//!
//! | step | module | does |
//! |---|---|---|
//! | load | [`session`](Session) | reads a model, by its name or its content, in whatever language |
//! | ask | `question` | a question becomes a property of the model, with expressions for its propositions |
//! | choose | `check::choice` | observer, search and reduction, where nobody said which |
//! | check | `decide` | runs the searches; a model that turns out to be too small is made larger, and asked again |
//! | judge | `answer`, `replay` | repeats what was found, on the unreduced model as it was written |
//! | tell | `report` | verdicts and runs as text, JSON, pages and pictures |
//!
//! [`Session::explore`] counts states, [`Session::contest`] answers the questions of the Model Checking Contest
//! in a time that is shared out, [`Session::watch`] compares methods. The crates that all this is made of can be used alone; they have no clock, and
//! take a [`base::Budget`] for whatever may take long.

mod answer;
mod clock;
mod contest;
mod decide;
mod error;
mod explore;
mod fairness;
pub mod files;
mod options;
mod question;
mod session;

pub use clock::{Clock, Limits, Watcher};
pub use contest::{ContestAnswer, Hears, Technique};
pub use decide::{Watching, unread};
pub use error::Error;
pub use explore::{Explored, Space, unread as unexplored};
pub use options::{Fair, FairTo, Options, Order};
pub use question::{Question, Text};
pub use session::{LANGUAGES, Session, Warnings};

pub use automata::Tester;
pub use base::Progress;
pub use check::method::{FairnessBy, ObserverKind, ReductionWish, SearchKind, StoreKind};
pub use check::product::AtDeadlock;
pub use language::{Options as ModelOptions, Rules};
pub use report::{CheckReport, ExploreReport, PropertyResult, Remark, Verdict};

pub use {
    automata, base, check, drawing, language, ltl, model, petri, process, promela, replay, report, statics,
};

/// The guide's chapter on the library, so that its examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/library.md")]
pub struct Chapter;
