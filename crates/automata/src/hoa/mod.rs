//! The Hanoi omega-automata format, version 1 [babiak.15.cav]: [`read_any`] and [`write_any`],
//! with our extension of it for other kinds of automata than TGBA.
//!
//! # Requirements and limits
//! Büchi and generalized Büchi acceptance (conjunctions of `Inf`), `t` and `f`; marks on states and on
//! transitions, explicit and implicit labels, aliases, several initial states, comments. Refused with
//! the reason and the place: other acceptance, alternation, and whatever breaks the format.
//!
//! # The extension
//! A header `stubborn-kind:` says that the automaton is a `TA`, a `TGTA` or an `extended` Büchi automaton.
//! The grammar of HOA stays as it is; what changes is what labels and acceptance sets mean:
//!
//! | | state label | edge label | acceptance sets |
//! |---|---|---|---|
//! | TA | the valuations with which runs begin in a `Start:` state | the sets of propositions that flip, never empty | on states, named by `Sets:` |
//! | TGTA | the same | the same, maybe empty | marks on edges, as usual |
//! | extended | the valuations of the state | none | on states, named by `Sets:` |
//!
//! `docs/hoa-extension.md` has all of it, with examples.

mod body;
mod build_kinds;
mod kinds;
mod labels;
mod lexer;
mod reader;
mod write_kinds;
mod writer;

pub use reader::{Named, read_any};
pub use write_kinds::write_any;
pub use writer::write;
