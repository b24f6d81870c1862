//! Transitions that change nothing.
//!
//! # What it preserves
//! [`Reachability`](super::Preserve::Reachability): a step that changes nothing leads nowhere. If
//! deadlocks are of interest, a neutral transition makes a marking other than a deadlock; it can only go
//! if some other transition is enabled wherever it is, since that needs no place more. Never for
//! [`Stuttering`](super::Preserve::Stuttering): it can be repeated for ever, and nothing else need happen.
//! (A neutral transition that another one replaces is [`replaceable`](super::replaceable).)
//!
//! # References
//! Rule G of Bønneland, Dyhr, Jensen, Johannsen and Srba, *Stubborn versus structural reductions for
//! Petri nets* (JLAMP 2019); the condition for deadlocks is ours.

use base::{Budget, Limit};
use language::Preserve;

use super::work::Work;

pub(super) fn apply(work: &mut Work<'_>, budget: &mut Budget<'_>) -> Result<(), Limit> {
    if work.preserve == Preserve::Stuttering {
        return Ok(());
    }
    let counts_deadlocks = work.preserve == Preserve::Deadlocks || work.observes_deadlock;
    for step in work.step_list() {
        budget.tick()?;
        let Some(it) = work.get(step).filter(|it| it.changes.is_empty()) else { continue };
        // A transition that needs nothing is not looked for: then there is no deadlock at all.
        let is_covered = || {
            it.inputs.iter().any(|&(place, _)| {
                work.consumers(place).any(|(other, its)| other != step && its.needs_at_most(it))
            })
        };
        if !counts_deadlocks || is_covered() {
            work.remove_step(step);
            work.n_applied += 1;
        }
    }
    Ok(())
}
