//! Testing automata: they watch changes of propositions instead of their values.
//!
//! A property that does not see stuttering can be checked by an automaton that moves only when some
//! proposition flips. Such automata are larger than those that watch values, but make smaller products.
//! There are two kinds:
//! - [`Ta`]: Büchi, livelock, finite and deadlock acceptance on states ([`to_ta`]);
//! - [`Tgta`]: marks on steps, and a stuttering loop on every state ([`to_tgta`]).
//!
//! Both are explicit, with one step per changeset: for printing, for comparing with the papers, and for
//! few propositions. The size may grow with 4^|AP|, so construction is [limited](Limits).
//!
//! All constructions require that the language of the given automaton does not see stuttering, as that of
//! any formula without `X` ([`ltl::Classes::is_next_free`]). Otherwise the result is an automaton, but of
//! some other language.

mod bisimulation;
mod expand;
mod graph;
mod levels;
pub mod membership;
pub mod reduce;
mod simulation;
pub mod ta;
pub mod tgta;
pub mod translate;
mod values;

pub(crate) use expand::letters;
pub use expand::{Explosion, Limits, MAX_PROPOSITIONS};
pub use graph::{Graph, PropSet, Step};
pub use membership::{ta_accepts, ta_accepts_finite, tgta_accepts};
pub use reduce::{Reading, Waiting, small_ta, small_tgta};
pub use ta::{Acceptance, Ta};
pub use tgta::Tgta;
pub use translate::{Refusal, translate_ta, translate_tgta};

use base::Budget;

use crate::gave_up::GaveUp;
use crate::tgba::Tgba;
use crate::work::holding;

/// The TA of [bensalem.12.topnoc] for an automaton whose language does not see stuttering: Properties 2 and
/// 3, and merging of bisimilar states.
///
/// # Errors
/// The automaton would be too large, or the budget is spent.
pub fn to_ta(ba: &Tgba, limits: &Limits, budget: &mut Budget<'_>) -> Result<Ta, GaveUp> {
    holding(budget, |budget| {
        let pairs = Ta::from_ba(ba, limits, budget)?;
        budget.hold(pairs.graph.bytes())?;
        Ok(pairs.without_stuttering(budget)?.trim(budget)?.merge_bisimilar(budget)?)
    })
}

/// The TGTA of [bensalem.12.topnoc] for an automaton whose language does not see stuttering: Properties 4 and
/// 5, and merging of bisimilar states.
///
/// # Errors
/// The automaton would be too large, or the budget is spent.
pub fn to_tgta(tgba: &Tgba, limits: &Limits, budget: &mut Budget<'_>) -> Result<Tgta, GaveUp> {
    holding(budget, |budget| {
        let pairs = Tgta::from_tgba(tgba, limits, budget)?;
        budget.hold(pairs.graph.bytes())?;
        Ok(pairs.with_stuttering_loops(budget)?.trim(budget)?.merge_bisimilar(budget)?)
    })
}
