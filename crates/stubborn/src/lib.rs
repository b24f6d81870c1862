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

#[cfg(feature = "report")]
mod across;
#[cfg(feature = "report")]
mod answer;
#[cfg(feature = "report")]
pub mod certificate;
#[cfg(feature = "report")]
mod certified;
#[cfg(feature = "petri")]
mod contest;
#[cfg(feature = "report")]
mod coverage;
#[cfg(feature = "report")]
pub mod cross;
#[cfg(feature = "report")]
mod decide;
#[cfg(feature = "report")]
mod dialog;
#[cfg(feature = "report")]
mod error;
#[cfg(feature = "report")]
mod explore;
#[cfg(feature = "report")]
mod fairness;
#[cfg(feature = "report")]
pub mod files;
#[cfg(feature = "report")]
mod fold;
#[cfg(feature = "report")]
pub mod folder;
#[cfg(feature = "report")]
mod follow;
#[cfg(feature = "report")]
pub mod methods;
#[cfg(feature = "report")]
mod options;
#[cfg(feature = "report")]
mod question;
#[cfg(feature = "report")]
mod run_test;
#[cfg(feature = "report")]
mod session;
#[cfg(feature = "report")]
mod simulation;
#[cfg(feature = "report")]
mod walk;
#[cfg(feature = "report")]
mod workshop;

#[cfg(feature = "report")]
use base::clock;
pub use base::clock::{Clock, Limits, Watcher};
pub use base::threads::Threads;
#[cfg(feature = "report")]
pub use certified::CertifyReport;
#[cfg(feature = "petri")]
pub use contest::{ContestAnswer, ContestOptions, Hears, Technique};
#[cfg(feature = "report")]
pub use decide::{Watching, unread};
#[cfg(feature = "report")]
pub use dialog::{Dialog, End, Listener};
#[cfg(feature = "report")]
pub use error::Error;
#[cfg(feature = "report")]
pub use explore::{Explored, Space, unread as unexplored};
#[cfg(feature = "report")]
pub use fold::{Class, Fold, Folded, FoldedEdge};
#[cfg(feature = "report")]
pub use follow::{Followed, Told};
#[cfg(feature = "report")]
pub use options::{Fair, FairTo, Options, Order};
#[cfg(feature = "report")]
pub use question::{Question, Text};
#[cfg(feature = "report")]
pub use run_test::RunTest;
#[cfg(feature = "report")]
pub use session::{LANGUAGES, Session, Warnings};
#[cfg(feature = "report")]
pub use simulation::{Halt, Simulation, Start, TooSmall};

#[cfg(feature = "report")]
pub use walk::{Choice, Destination, Path, PathStep, Place, Sought, WalkEnd, Walker};
#[cfg(feature = "report")]
pub use workshop::{AutomatonKind, Line, Piece, Saying, Workshop};

#[cfg(feature = "report")]
pub use automata::Tester;
pub use base::Progress;
#[cfg(feature = "report")]
pub use check::method::{FairnessBy, ObserverKind, ReductionWish, SearchKind, StoreKind};
#[cfg(feature = "report")]
pub use check::product::AtDeadlock;
#[cfg(feature = "report")]
pub use language::{Argument, Options as ModelOptions, Rules};
pub use model::fairness::Kind as FairKind;
#[cfg(feature = "report")]
pub use report::{CheckReport, ExploreReport, PropertyResult, Remark, Verdict};

#[cfg(feature = "derive")]
pub use derive::Pack;
pub use embed::{
    Check, Codec, Counterexample, Footprint, Model, Proof, Reason, assert_always, assert_deadlock_free,
    assert_eventually, assert_holds, assert_never, assert_reachable, assert_violated,
};
pub use pack::Pack;
#[cfg(feature = "petri")]
pub use petri;
#[cfg(feature = "process")]
pub use process;
#[cfg(feature = "promela")]
pub use promela;
pub use {automata, base, check, embed, ltl, model, pack};
#[cfg(feature = "report")]
pub use {certify, drawing, language, replay, report, statics};

/// The chapter on models in Rust, so that its examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../models.md")]
pub struct ModelsChapter;

/// The guide's chapter on the library, so that its examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../library.md")]
pub struct Chapter;

/// The chapter on actors.
#[cfg(doctest)]
#[doc = include_str!("../actors.md")]
pub struct ActorsChapter;

/// The chapter for those who come from stateright.
#[cfg(doctest)]
#[doc = include_str!("../stateright.md")]
pub struct StaterightChapter;
