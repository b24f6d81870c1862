//! The Hanoi omega-automata format, version 1 [babiak.15.cav]: [`read`] and [`write()`].
//!
//! # Requirements and limits
//! Büchi and generalized Büchi acceptance (conjunctions of `Inf`), `t` and `f`; marks on states and on
//! transitions, explicit and implicit labels, aliases, several initial states, comments. Refused with
//! the reason and the place: other acceptance, alternation, and whatever breaks the format.

mod body;
mod labels;
mod lexer;
mod reader;
mod writer;

pub use reader::{Named, read, read_one};
pub use writer::write;
