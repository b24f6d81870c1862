//! Judges whether a run is fair: by the definitions of [malinen.03.fairness] (Definition 7), on the states
//! and actions of its cycle, with the reference semantics of enabledness.

use model::{ActionId, ActionSystem, Fault, Run, System as _, reference};

use crate::{Rejection, Replayed};

/// A fairness constraint: a set of actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// What people call it.
    pub name: String,
    /// Strong, or weak.
    pub strong: bool,
    /// The actions it speaks about.
    pub actions: Vec<ActionId>,
}

/// Why a cycle is fair to a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// An action of it happens in this step, counted from 1.
    Taken(usize),
    /// None of its actions is enabled after this step.
    Disabled(usize),
    /// None of its actions is ever enabled in the cycle.
    NeverEnabled,
}

/// Why the cycle of a run is fair to each of the constraints, in their order; or which one it is not fair to.
/// The steps from `cycle_start` on repeat for ever; if there are none, the last state does.
pub fn judge_fairness(
    system: &ActionSystem,
    constraints: &[Constraint],
    run: &Run,
    replayed: &Replayed,
    cycle_start: usize,
) -> Result<Vec<Reason>, Rejection> {
    let n_steps = run.actions.len();
    // The states of the cycle, each by the number of steps to it.
    let states: Vec<usize> = (cycle_start..n_steps.max(cycle_start + 1)).collect();
    let mut enabled = Vec::new();
    for &step in &states {
        let failed =
            |fault: Fault| Rejection(format!("the state after step {step} cannot be judged: {fault}"));
        enabled.push(reference::enabled(system, replayed.state(step)).map_err(failed)?);
    }
    let reason = |constraint: &Constraint| {
        // A step of several actions is a step of who begins it.
        let is_in = |action: &ActionId| constraint.actions.contains(&system.first(*action));
        if let Some(at) = run.actions[cycle_start..].iter().position(is_in) {
            return Ok(Reason::Taken(cycle_start + at + 1));
        }
        let disabled = enabled.iter().position(|enabled| !enabled.iter().any(is_in));
        let is_ever_enabled = enabled.iter().any(|enabled| enabled.iter().any(is_in));
        match disabled {
            _ if !is_ever_enabled => Ok(Reason::NeverEnabled),
            Some(at) if !constraint.strong => Ok(Reason::Disabled(states[at])),
            _ => {
                let kind = if constraint.strong { "strongly" } else { "weakly" };
                Err(Rejection(format!("the run is not {kind} fair to {}", constraint.name)))
            }
        }
    };
    constraints.iter().filter(|constraint| !constraint.actions.is_empty()).map(reason).collect()
}
