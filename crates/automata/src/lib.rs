//! Observers of runs. For now: [testers](tester), which watch actions, and
//! [specifications](spec), which are turned into testers.

pub mod spec;
pub mod tau_free;
pub mod tester;

pub use spec::Spec;
pub use tau_free::TauFree;
pub use tester::Tester;
