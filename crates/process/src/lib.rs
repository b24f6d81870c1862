//! Front end for process networks.

mod ast;
mod check;
mod component;
mod errors;
mod eval;
mod expand;
mod labels;
mod lexer;
mod load;
mod lower;
mod names;
mod network;
mod observer;
mod options;
mod parse;
mod property;
mod proposition;

pub use load::{Loader, Model, load};
pub use options::{Limits, Options};
pub use property::{Fairness, Ltl, Observed, Property, PropertyKind};
