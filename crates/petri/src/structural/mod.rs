//! Structural reductions: a net becomes a smaller one that has the same answers.
//!
//! [`Reducer::reduce`] applies rules as long as one applies. Each rule is in its own file, which says when it is
//! right and why; whether it may be used depends on what has to be kept ([`Keep`]):
//!
//! | rule | file | deadlocks | markings | words |
//! |---|---|---|---|---|
//! | `dead-transitions` | `dead` | yes | yes | yes |
//! | `constant-places` | `constant` | yes | yes | yes |
//! | `parallel-places` | `parallel` | yes | yes | yes |
//! | `implicit-places` | `implicit` | yes | yes | yes |
//! | `parallel-transitions` | `replaceable` | yes | yes | yes |
//! | `alike-places` | `alike` | yes | yes | yes |
//! | `neutral-transitions` | `neutral` | if another is enabled | yes | no |
//! | `irrelevant-transitions` | `relevance` | no | yes | no |
//! | `ending-transitions` | `endings` | yes | no | yes |
//! | `source-transitions` | `relevance` | yes | yes | no |
//! | `free-cycles` | `cycles` | yes | yes | yes |
//! | `post-agglomeration` | `agglomerate` | yes | yes | yes |
//! | `pre-agglomeration` | `agglomerate` | yes | yes | yes |
//! | `free-agglomeration` | `agglomerate` | no | yes | no |
//! | `redundant-transitions` | `replaceable` | yes | yes | if one of the two is invisible |
//! | `post-agglomeration-of-one` | `partial` | yes | yes | yes |
//! | `free-agglomeration-of-one` | `partial` | no | yes | no |
//! | `redundant-places` | `redundant` | yes | yes | yes |
//!
//! Rules of thumb: the net is looked at rule by rule until nothing changes; agglomerations may make it
//! a little larger in arcs, never much, and no transition stands for more than a few thousand.
//!
//! None of them is right for formulas with X, under fairness, or for questions about the net itself (how
//! many markings it has, whether it is live or safe). If `deadlock` is observed along with markings,
//! agglomerations, irrelevant transitions, endings and sources are not touched, and neutral transitions only if
//! another one is enabled.
//!
//! A run of the reduced net is one of the original if every transition is replaced by those that it
//! stands for ([`Reduced::path`]), after a prologue and, if the run ends in a deadlock, before an epilogue
//! ([`Reduced::complete`]). A cycle is a cycle, gone around once or several times ([`Reduced::lasso`]).

mod agglomerate;
mod alike;
mod constant;
mod cycles;
mod dead;
mod endings;
mod implicit;
mod neutral;
mod parallel;
mod partial;
mod parts;
mod reduced;
mod redundant;
mod relevance;
mod replaceable;
mod rule;
mod work;

use std::sync::Arc;

use base::{Budget, Limit};
use language::Rules;

use crate::invariants::TokenSum;
use crate::net::Net;
use agglomerate::Kind;
pub use reduced::{Fate, Reduced};
pub use rule::{Keep, Rule};
use work::Work;

/// Every round makes the net smaller, but a large net should not be looked at too often.
const MAX_ROUNDS: usize = 200;

/// A net, and what is known about it whatever has to be kept. To find that out takes longer than most
/// reductions.
#[derive(Clone, Debug)]
pub struct Reducer {
    net: Arc<Net>,
    sums: Vec<TokenSum>,
    bounds: Vec<Option<i64>>,
}

impl Reducer {
    /// Looks at a net.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn new(net: Arc<Net>, budget: &mut Budget<'_>) -> Result<Reducer, Limit> {
        let sums = net.token_sums(budget)?;
        let bounds = TokenSum::place_bounds(&sums, net.places.len());
        Ok(Reducer { net, sums, bounds })
    }

    /// Makes the net smaller and keeps what has to be kept. If the budget is spent on the way, the result is
    /// right and just not as small as it might be.
    ///
    /// # Errors
    /// There is not even room for a copy of the net.
    pub fn reduce(&self, keep: &Keep, rules: &Rules, budget: &mut Budget<'_>) -> Result<Reduced, Limit> {
        let mut part = budget.share();
        part.hold(Work::bytes(&self.net))?;
        let mut work = Work::new(&self.net, keep, &self.sums, &self.bounds);
        let mut counts = [0; Rule::ALL.len()];
        let stop = fixpoint(&mut work, rules, &mut counts, &mut part).err();
        let applied = Rule::ALL.into_iter().zip(counts).filter(|(_, count)| *count > 0).collect();
        Ok(Reduced::new(&self.net, &work, applied, stop))
    }

    pub(crate) fn net(&self) -> &Arc<Net> {
        &self.net
    }

    /// The most tokens that places can hold, where that is known.
    pub(crate) fn bounds(&self) -> &[Option<i64>] {
        &self.bounds
    }

    pub(crate) fn sums(&self) -> &[TokenSum] {
        &self.sums
    }
}

fn fixpoint(
    work: &mut Work<'_>,
    rules: &Rules,
    counts: &mut [usize],
    budget: &mut Budget<'_>,
) -> Result<(), Limit> {
    // What the net was like when a rule was last found to have nothing left to do.
    let mut seen = [None; Rule::ALL.len()];
    for _ in 0..MAX_ROUNDS {
        let before = work.n_changes;
        for (index, rule) in Rule::ALL.into_iter().enumerate().filter(|(_, rule)| rules.allows(rule.name())) {
            if seen[index] != Some(work.n_changes) {
                let before = work.n_applied;
                let result = apply(rule, work, budget);
                counts[index] += work.n_applied - before;
                result?;
                seen[index] = Some(work.n_changes);
            }
        }
        if work.n_changes == before {
            break;
        }
    }
    Ok(())
}

fn apply(rule: Rule, work: &mut Work<'_>, budget: &mut Budget<'_>) -> Result<(), Limit> {
    match rule {
        Rule::DeadTransitions => dead::apply(work, budget),
        Rule::ConstantPlaces => constant::apply(work, budget),
        Rule::ParallelPlaces => parallel::apply(work, budget),
        Rule::ImplicitPlaces => implicit::apply(work, budget),
        Rule::ParallelTransitions => replaceable::apply_parallel(work, budget),
        Rule::AlikePlaces => alike::apply(work, budget),
        Rule::NeutralTransitions => neutral::apply(work, budget),
        Rule::IrrelevantTransitions => relevance::apply_irrelevant(work, budget),
        Rule::EndingTransitions => endings::apply(work, budget),
        Rule::SourceTransitions => relevance::apply_sources(work, budget),
        Rule::FreeCycles => cycles::apply(work, budget),
        Rule::PostAgglomeration => agglomerate::apply(work, Kind::Post, budget),
        Rule::PreAgglomeration => agglomerate::apply(work, Kind::Pre, budget),
        Rule::FreeAgglomeration => agglomerate::apply(work, Kind::Free, budget),
        Rule::RedundantTransitions => replaceable::apply_redundant(work, budget),
        Rule::PostAgglomerationOfOne => partial::apply(work, Kind::Post, budget),
        Rule::FreeAgglomerationOfOne => partial::apply(work, Kind::Free, budget),
        Rule::RedundantPlaces => redundant::apply(work, budget),
    }
}
