//! Models in Rust: a protocol is a type that implements [`Model`], and is checked in a test.
//!
//! | | |
//! |---|---|
//! | [`Model`] | states, actions, and who does what |
//! | [`Check`] | what is watched, which runs count, how far to go; and the questions |
//! | [`actors`] | models that are made of actors, and a network between them |
//! | [`histories`] | linearizability and sequential consistency, as part of a state |
//! | [`Verdict`] | it holds, it is violated by this run, the model panics, or it is not known, and why |
//!
//! States become words ([`Codec`]), and a model without its types becomes a system, so that the searches of `check`
//! are compiled once, here. What they find is a list of actions; a judge that knows neither words nor searches runs
//! the model along them, before anything is said to be violated.

pub mod actors;
mod answer;
mod ask;
mod changes;
mod check;
mod classes;
mod codec;
mod explorer;
mod footprint;
mod formulas;
pub mod histories;
mod judge;
mod keeper;
mod macros;
mod model;
mod numbered;
mod opaque;
mod panics;
mod program;
mod propositions;
mod retraced;
mod run;
mod searches;
mod simulate;
mod stateright;
mod symmetry;
mod testers;
mod told;
mod trouble;
mod verdict;

pub use crate::check::Check;
pub use classes::Fair;
pub use codec::{Codec, Interned, Packed};
pub use footprint::Footprint;
pub use macros::{expect_holds, expect_reachable, expect_violated};
pub use model::Model;
pub use run::{Because, Counterexample, Ending, FairTo, Run, Step};
pub use testers::{Spec, Tester};
pub use told::ToldStep;
pub use verdict::{Failure, Proof, Reachable, Reason, Verdict};

pub use base::{Limit, Progress};
