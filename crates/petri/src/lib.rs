//! Front end for Petri nets: PNML files become action systems, and the questions of the Model
//! Checking Contest become questions about these.
//!
//! This crate owns the reading of PNML and of the contest's formula files, what nets mean as a
//! [`model::ActionSystem`], and the language of propositions about markings. It knows nothing of
//! searches, and reads no files: whoever calls hands in texts.
//!
//! ```
//! use base::Budget;
//! use language::{File, Options};
//!
//!
//! let file = br#"<?xml version="1.0"?>
//!     <pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
//!       <net id="lamp" type="http://www.pnml.org/version-2009/grammar/ptnet">
//!         <page id="page">
//!           <place id="off"><initialMarking><text>1</text></initialMarking></place>
//!           <place id="on"/>
//!           <transition id="switch"/>
//!           <arc id="a" source="off" target="switch"/>
//!           <arc id="b" source="switch" target="on"/>
//!         </page>
//!       </net>
//!     </pnml>"#;
//!
//! // Bytes become UTF-8, the text a net, the net an action system.
//! let mut sources = base::SourceMap::new();
//! let file = File { name: "lamp.pnml".to_owned(), bytes: file.to_vec() };
//! let no_files = &mut |_: &str| Err("there are no files".to_owned());
//! let budget = &mut Budget::unlimited();
//! let read = stubborn_petri::LANGUAGE.read;
//! let mut model = read(file, &Options::default(), &mut sources, no_files, budget).unwrap();
//! assert_eq!(model.system().variables().len(), 2);
//!
//! // The text of a proposition, from wherever it comes, becomes an expression of the system.
//! let text = "on >= 1 || fireable(switch)";
//! let other = sources.add("--ltl", text.into()).unwrap();
//! assert!(model.resolve(text, other, 0).is_ok());
//! let errors = model.resolve("fireable(swicth)", other, 0).unwrap_err();
//! assert_eq!(errors.iter().next().unwrap().help.as_deref(), Some("did you mean `switch`?"));
//! ```
//!
//! # Nets
//!
//! Place/transition nets are read completely: pages, reference nodes, arc weights, names, elements in
//! any order. Of what tools add, only nested units are read; the rest is skipped. Whatever would
//! change the meaning of the net (inhibitor arcs, capacities) is refused. Markings and weights have 63 bits.
//!
//! Colored nets, the symmetric nets of PNML, are unfolded while they are read; [`Net::colors`] says what the places
//! and transitions stand for.
//!
//! How many tokens a place can hold is not known beforehand, and states are packed. So places get
//! little room at first ([`Bounds`]); a search that meets a place that is too small stops with
//! [`Fault::OutOfRange`](model::Fault::OutOfRange), [`Model::widen`] makes room, and the search starts
//! again. No count is ever wrong, and expressions, propositions and actions keep their numbers.
//!
//! # Propositions
//!
//! Expressions about markings are Boolean or integer; anything but 0 is true. From the loosest to the
//! tightest:
//!
//! | operators | |
//! |---|---|
//! | `<->` | from the left |
//! | `->` | from the right |
//! | `\|\|` | |
//! | `&&` | |
//! | `!` | as in formulas: `!x == 1` is `!(x == 1)` |
//! | `==` `!=` `<` `<=` `>` `>=` | one at a time |
//! | `+` `-` | from the left |
//! | `*` | |
//! | `-` | sign |
//!
//! - A place stands for its number of tokens, of all colors: `Eat_1 >= 1`, `p + q <= 2`, or just `Eat_1`. One color
//!   is `'Eat(1)'`.
//! - `fireable(t, u)`: one of these transitions is enabled.
//! - `deadlock`: no transition is enabled. `deadlock()` is the same, for nets with a place `deadlock`.
//! - `true`, `false`, numbers.
//!
//! A node is called by its id or, if no node of its kind has that id, by its name, which must then be
//! that of one node only. Names of letters, digits, `_` and `.` that do not begin with a digit or `.`
//! can be written as they are; all others, and keywords, in single or double quotation marks, where
//! `\` protects the next character. Arithmetic is exact: a result beyond 64 bits is a fault.
//!
//! # Before a search
//!
//! [`Facts`] are what holds in every marking; they answer some questions at once. [`structural`] makes
//! nets smaller and keeps the answer to a question; what is found in the small net is turned into a run of
//! the original.
//!
//! Where markings are too many to be listed, they may fit in a decision diagram ([`language::Model::diagram`]).
//!
//! # The contest
//!
//! [`mcc`] has the examinations and their formula files. A run that ends repeats its last marking for
//! ever; the search has to be told so.

mod bounds;
mod color;
mod draw;
mod errors;
pub mod facts;
mod front;
mod invariants;
mod lexer;
mod lookup;
mod lower;
pub mod mcc;
mod net;
mod pnml;
mod predicates;
mod proposition;
mod simpler;
mod sparse;
pub mod structural;
mod symbolic;
mod xml;

pub use bounds::Bounds;
pub use color::Colors;
pub use facts::Facts;
pub use front::LANGUAGE;
pub use lower::Model;
pub use net::{
    Group, Lookup, Net, Node, NodeId, Place, PlaceId, Transition, TransitionId, Unit, UnitId, Units,
};
pub use pnml::read;
pub use simpler::{Smaller, Way};
pub use xml::to_utf8;
