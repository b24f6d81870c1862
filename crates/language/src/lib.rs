//! What a front end gives, whatever its language: a [`Model`] with its properties, its fairness and its
//! stories.
//!
//! A front end is a crate with a [`Language`]: how its files are known, and how one is read. All that follows
//! (questions, methods, searches, verdicts, reports) knows this crate and no language. So one more language
//! costs its crate, and one line where the languages are listed.
//!
//! | module | owns |
//! |---|---|
//! | [`diagram`] | all states as a decision diagram: how many, the greatest values, what some state satisfies |
//! | [`model`](mod@model) | what a front end can do: the trait [`Model`], and how files are read |
//! | [`moves`] | what processes do in all runs, and which moves of a text never happen |
//! | [`outline`] | what a text declares, and where names are used, for editors |
//! | [`property`] | what can be asked about a model, in no particular language |
//! | [`simpler`] | the same question about a smaller model, and what is known without a search |
//! | [`story`] | runs in the words of the language |

pub mod diagram;
pub mod model;
pub mod moves;
pub mod outline;
pub mod property;
pub mod simpler;
pub mod story;

pub use self::diagram::{Diagram, Extent};
pub use self::model::{File, Language, Loader, Model, Options, Outliner, Purpose, Refined, Trouble, View};
pub use outline::{Outline, Symbol, SymbolKind};
pub use property::{Asked, Claim, Enabled, Fairness, Ltl, Observed, Property, PropertyKind};
pub use simpler::{Argument, Decided, Facts, Known, Preserve, Rules, Simpler, WayBack};
pub use story::Story;
