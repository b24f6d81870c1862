//! What every crate of Stubborn needs and nothing more: places in source texts, diagnostics,
//! near names, numbers as text, typed ids, words for values, and the budget that long computations poll.
//!
//! This crate knows nothing of models or properties, and does no input or output: whoever reads
//! files hands in their bytes ([`SourceMap::add`]), whoever has a clock hands in a
//! [`Watch`](budget::Watch).

pub mod budget;
pub mod diagnostic;
pub mod id;
pub mod sink;
pub mod source;
pub mod suggest;
pub mod text;
pub mod words;

pub use budget::{Budget, Limit, Progress, Room};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use sink::{Fail, Sink, fail};
pub use source::{Source, SourceId, SourceMap, Span};
