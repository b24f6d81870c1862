//! Observers of runs: [testers](tester), which watch actions, [specifications](spec), which are
//! turned into testers, and [automata on infinite words](tgba), which watch the values of
//! propositions.
//!
//! Automata come from formulas by [`translate()`]; what can be done with them is one module each:
//! [membership] of a word, [emptiness] with a word, [product and union](mod@product),
//! [cleaning](clean), [reduction by simulation](simulation), [degeneralization](mod@degeneralize),
//! [complement and equivalence](complement), [stuttering](stutter). [HOA](hoa), [never claims](mod@never),
//! [drawings](dot) and [words](word) are their texts. [Extended automata](extended) carry valuations on
//! states and also accept finite words; [testing automata](by_change) watch changes. What a file contains
//! is [any of these](any).

pub mod any;
pub mod by_change;
pub mod clean;
pub mod complement;
pub mod degeneralize;
pub mod dot;
pub mod emptiness;
pub mod extended;
mod gave_up;
pub mod hoa;
pub mod illegal;
pub mod label;
pub mod membership;
pub mod never;
pub mod product;
pub mod scc;
pub mod simulation;
pub mod spec;
pub mod stats;
pub mod stutter;
pub mod tau_free;
pub mod tester;
pub mod tgba;
pub mod translate;
pub mod waiting;
mod weak;
pub mod word;
mod work;

pub use any::AnyAutomaton;
pub use degeneralize::{Placement, degeneralize};
pub use emptiness::{accepting_lasso, is_empty};
pub use gave_up::{GaveUp, TooLarge, Unread};
pub use label::{Label, Labels};
pub use membership::accepts;
pub use product::{product, union};
pub use spec::Spec;
pub use stats::Stats;
pub use tau_free::TauFree;
pub use tester::Tester;
pub use tgba::{Edge, Marks, State, Tgba};
pub use translate::{Config, Effort, to_ba, translate, translate_ba};
