//! Stubborn: an on-the-fly model checker for concurrent systems, as a library.
//!
//! The façade over the crates that Stubborn is made of. A program that wants to check a model
//! needs nothing else:
//!
//! ```
//! use stubborn::base::{Budget, SourceMap};
//! use stubborn::check::{Exact, Goal, search};
//! use stubborn::model::System as _;
//!
//! let text = "
//!     process Worker { idle: start -> busy; busy: stop -> idle | crash -> dead; dead: ; }
//! ";
//! let mut sources = SourceMap::new();
//! let source = sources.add("worker.proc", text.into()).unwrap();
//! let no_files = &mut |name: &str| Err(format!("`{name}` does not exist"));
//! let budget = &mut Budget::unlimited();
//! let model = stubborn::process::load(&mut sources, source, &Default::default(), no_files, budget).unwrap();
//!
//! let mut store = Exact::new(model.system.width(), u64::MAX);
//! let outcome = search::bfs::search(&*model.system, &mut store, &[Goal::Deadlock], budget);
//! let run = outcome.violations[0].as_ref().expect("a crashed worker is stuck");
//! assert_eq!(run.actions.len(), 2);
//! assert!(stubborn::replay::judge(&model.system, run, stubborn::replay::Claim::Deadlock).is_ok());
//! ```

pub use automata;
pub use base;
pub use check;
pub use language;
pub use ltl;
pub use model;
pub use petri;
pub use process;
pub use promela;
pub use replay;
pub use report;

/// The guide's chapter on the library, so that its examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/library.md")]
pub struct Chapter;
