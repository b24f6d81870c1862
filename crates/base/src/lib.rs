//! What every crate of Stubborn needs and nothing more: places in source texts, diagnostics,
//! near names, numbers of any size and as text, typed ids, words for values, the budget that long computations poll,
//! and the team that they may use.
//!
//! This crate knows nothing of models or properties, and does no input or output: whoever reads
//! files hands in their bytes ([`SourceMap::add`]), whoever has a clock hands in a
//! [`Watch`](budget::Watch), whoever has threads a [`Team`], whoever has connections to other processes [`Peers`],
//! whoever has a machine with a memory of its own a [`Device`](device::Device).

pub mod budget;
pub mod clock;
pub mod device;
pub mod diagnostic;
pub mod id;
pub mod keeper;
pub mod natural;
pub mod peers;
pub mod sink;
pub mod source;
pub mod suggest;
pub mod team;
pub mod text;
pub mod threads;
pub mod words;

pub use budget::{Budget, Limit, Progress, Room};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use keeper::Keeper;
pub use natural::Natural;
pub use peers::{Packet, Peers};
pub use sink::{Fail, Sink, fail};
pub use source::{Source, SourceId, SourceMap, Span};
pub use team::{Alone, Team, Worker};
