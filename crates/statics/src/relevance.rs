//! Actions that nothing in question depends on.
//!
//! A variable is relevant if it is in question; if a relevant action reads it, in a guard or in its effect; an action is
//! relevant if it writes a relevant variable, or may go wrong. Other actions never happen in the new system.
//!
//! Why that keeps which values the expressions in question can have: leave all other actions out of a run. What is
//! left is a run, since guards and effects of relevant actions read only what relevant actions write; and it leads to the
//! same values of relevant variables. But it may end where the other one goes on, and the other way round: deadlocks
//! and infinite runs are not kept.
//!
//! Who goes on in the same step (`atomic`) keeps others from acting: all actions of such a process are
//! relevant, whatever they do. With `timeout`, everything depends on everything, and the rule is not applied.

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use model::{Guard, GuardId, ValueSet, VarId};

use crate::Rule;
use crate::bounds::Bounds;
use crate::draft::{Draft, Uses};

/// Applies the rule.
pub(crate) fn apply(draft: &mut Draft<'_>, budget: &mut Budget<'_>) -> Result<(), Limit> {
    if draft.parts.guards.contains(&Guard::Quiet) {
        return Ok(());
    }
    let uses = Uses::new(draft, budget)?;
    let bounds = Bounds::new(draft);
    let parts = &mut draft.parts;
    let going_on: Vec<_> = parts.goes_on.iter().flatten().collect();
    let mut is_relevant = FixedBitSet::with_capacity(parts.actions.len());
    let mut variables = draft.fixed.clone();
    let mut work: Vec<VarId> = variables.ones().map(VarId::new).collect();
    let mut add = |action: usize, variables: &mut FixedBitSet, work: &mut Vec<VarId>| {
        if !is_relevant.put(action) {
            for &var in uses.guard_reads[action].iter().chain(&uses.effect_reads[action]) {
                if !variables.put(var.index()) {
                    work.push(var);
                }
            }
        }
    };
    for (index, action) in parts.actions.iter().enumerate() {
        budget.tick()?;
        let goes_on = action.owners.iter().any(|owner| going_on.contains(&owner));
        if goes_on
            || !action.effect.iter().all(|stmt| bounds.is_harmless(stmt))
            || may_go_wrong(parts, &bounds, index)
        {
            add(index, &mut variables, &mut work);
        }
    }
    while let Some(var) = work.pop() {
        for &user in &uses.users[var.index()] {
            budget.tick()?;
            if uses.writes[user as usize].binary_search(&var).is_ok() {
                add(user as usize, &mut variables, &mut work);
            }
        }
    }
    let irrelevant: Vec<usize> =
        (0..parts.actions.len()).filter(|&action| !is_relevant.contains(action)).collect();
    if let Some(first) = parts.variables.iter().position(|variable| variable.lo <= variable.hi)
        && !irrelevant.is_empty()
    {
        parts.guards.push(Guard::In(VarId::new(first), ValueSet::Range(0, -1)));
        let never = GuardId::new(parts.guards.len() - 1);
        for &action in &irrelevant {
            parts.actions[action].guards = vec![never];
            parts.actions[action].effect = Vec::new();
        }
        draft.note(Rule::IrrelevantActions, irrelevant.len());
    }
    Ok(())
}

/// Whether a guard of an action cannot be evaluated everywhere.
fn may_go_wrong(parts: &model::Parts, bounds: &Bounds, action: usize) -> bool {
    parts.actions[action].guards.iter().any(|guard| match parts.guards[guard.index()] {
        Guard::True(expr) => !bounds.is_total(expr),
        Guard::In(..) | Guard::Quiet => false,
    })
}
