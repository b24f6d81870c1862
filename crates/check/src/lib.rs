//! Stores and searches: what explores state spaces and decides properties.
//!
//! - [`store`]: where the states that were seen are kept, exactly or in a few bits each.
//! - [`search`]: the searches, one file each, with their goals, statistics and evidence.
//! - [`method`]: which methods there are; [`rules`]: what may be combined; [`choice`]: which is best;
//!   [`decide`]: runs it.
//! - [`parallel`]: searches for several workers; `distributed`: for several processes; [`device`]: on a device.
//! - [`fairness`]: which infinite runs count.
//! - [`graph`]: the transitions of a space that was explored, for exporting it.
//! - [`reduced`]: a part of a system: only stubborn sets are explored.
//! - [`observer`]: automata and testers that watch a run.
//! - [`product`]: a system together with an observer.
//! - [`reduction`]: which steps of a product are left out.
//! - [`walk`]: a single run that is extended and taken back step by step.
//! - [`thin`]: a run without what it can do without.
//!
//! Nothing here has a clock, a thread, a file or a connection: searches poll a [`Budget`](base::Budget); several workers are a
//! [`Team`](base::Team) that is handed in with it, several processes are [`Peers`](base::Peers), and a
//! graphics processor is a [`Device`](base::device::Device).
//! Everything is iterative and deterministic: the same system gives the same counts and the same
//! run every time, and depth is bounded by memory alone.

pub mod choice;
pub mod decide;
pub mod device;
mod distributed;
pub mod fairness;
pub mod graph;
pub mod method;
pub mod observer;
mod paged;
pub mod parallel;
pub mod product;
pub mod reduced;
pub mod reduction;
pub mod rules;
pub mod search;
mod steady;
pub mod store;
mod sync;
pub mod thin;
pub mod walk;

pub use distributed::say;
pub use search::{Exploration, Goal, Space, Stats, Stop};
pub use store::{Bitstate, Coverage, Exact, Sequence, StateId, Store, Visited};
