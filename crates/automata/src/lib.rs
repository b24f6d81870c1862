//! Observers of runs. For now: [testers](tester), which watch actions.

pub mod tester;

pub use tester::Tester;
