//! Decides whether a system does what a tester calls illegal.
//!
//! Algorithm 3.4 ([`one_pass`]) looks for C1, C2 and C3; if the tester has
//! infinite-trace states, [`nested_dfs`] looks for C1, C2 and C4 as well. Both
//! must find nothing before the answer is that nothing is wrong: under reduction an error C4 may
//! survive only as C3 ([valmari.93.cav], Theorem 4.1).

use automata::{GaveUp, Tester};
use base::Budget;
use model::{ActionSystem, LabelId, System};

use super::evidence::ProductOutcome;
use super::one_pass::WorkSet;
use super::{Stats, nested_dfs, one_pass};
use crate::observer::{ByAction, Observer, Valuations};
use crate::product::{AtDeadlock, Product};
use crate::reduction::Reduction;
use crate::store::Planes;

/// The product of a system with a legal tester, whose letters are these labels.
pub fn product<'a>(
    system: &'a ActionSystem,
    tester: &'a Tester,
    labels: &[LabelId],
    reduces: bool,
    budget: &mut Budget<'_>,
) -> Result<Product<'a, ActionSystem, ByAction<'a>>, GaveUp> {
    let observer = ByAction::new(system, tester, labels, budget)?;
    let product = Product::new(system, observer, Valuations::new(Vec::new()), AtDeadlock::Ignore);
    Ok(if reduces { product.reduced(Reduction::for_actions(system)) } else { product })
}

/// Runs the searches that the tester needs. `new_planes` gives an empty pair of sets; if it has
/// none to give, it says why.
pub fn check<S: System, O: Observer, P: Planes>(
    product: &mut Product<'_, S, O>,
    work_set: WorkSet,
    mut new_planes: impl FnMut() -> P,
    budget: &mut Budget<'_>,
) -> ProductOutcome {
    let first = one_pass::search(product, work_set, &mut new_planes(), budget);
    if first.stop.is_some() || !product.observer().has_marks() {
        return first;
    }
    let second = nested_dfs::search(product, &mut new_planes(), budget);
    let (a, b) = (&first.stats, &second.stats);
    let stats = Stats {
        states: a.states.max(b.states),
        transitions: a.transitions + b.transitions,
        deadlocks: a.deadlocks.max(b.deadlocks),
        depth: a.depth.max(b.depth),
        peak_bytes: a.peak_bytes.max(b.peak_bytes),
    };
    let system_states = first.system_states.max(second.system_states);
    let coverage = first.coverage.zip(second.coverage).map(|(a, b)| a.min(b));
    ProductOutcome { stats, system_states, stop: second.stop, coverage }
}
