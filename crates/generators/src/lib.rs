//! What tests and experiments draw formulas from: [`random`] ones, and the [`corpus`] beside the project.
//!
//! This is a crate of its own, and not a part of `testing`, because the tests of `ltl` and `automata` use it:
//! they should not have to wait for all the crates that `testing` knows.

pub mod corpus;
pub mod random;
