//! The independent judge: repeats a run on the unreduced system and checks what it is said to show.
//!
//! This crate shares no code with the searches. It uses the
//! [reference semantics](mod@model::reference) of action systems, on unpacked values, so that
//! neither the packing of states nor the interpreter nor the index of actions is its own witness.
//! What it accepts is shown to the user; what it rejects is a bug in Stubborn, and is reported as
//! one, never as a verdict.

pub mod fairness;
pub mod formula;
pub mod tester;

pub use fairness::judge_fairness;
pub use formula::{judge_claim, judge_deadlock_claim, judge_formula, judge_prefix};
pub use tester::{TesterClaim, judge_tester};

use std::fmt;

use model::reference::{self, Values};
use model::{ActionSystem, Describe, ExprId, Fault, Run};

/// What a run is said to show in its last state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// No action is enabled.
    Deadlock,
    /// The expression is false.
    Violates(ExprId),
    /// The model goes wrong: in a step from here, or in one of its propositions.
    Fault(Fault),
}

/// A run that was repeated and shows what was claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    n_variables: usize,
    /// The states along the run, one after the other: one more than it has steps.
    values: Vec<i64>,
}

impl Replayed {
    /// The state after so many steps: one value per variable.
    pub fn state(&self, step: usize) -> &[i64] {
        &self.values[step * self.n_variables..(step + 1) * self.n_variables]
    }
}

/// Why a run was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection(String);

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Rejection {}

/// Repeats `run` and checks `claim` in its last state.
pub fn judge(system: &ActionSystem, run: &Run, claim: Claim) -> Result<Replayed, Rejection> {
    let replayed = repeat(system, run)?;
    let last = replayed.state(run.actions.len());
    let failed = |fault: Fault| Rejection(format!("the last state cannot be judged: {fault}"));
    match claim {
        Claim::Deadlock => match reference::enabled(system, last).map_err(failed)?.first() {
            None => Ok(replayed),
            Some(&action) => {
                let label = system.action_label(action);
                Err(Rejection(format!("the run does not end in a deadlock: `{label}` is enabled")))
            }
        },
        Claim::Violates(expr) => match reference::value(system, expr, last).map_err(failed)? {
            0 => Ok(replayed),
            _ => Err(Rejection("the expression is true in the last state".to_owned())),
        },
        Claim::Fault(claimed) => {
            let in_step = reference::successors(system, last).err();
            let in_propositions = system
                .propositions()
                .iter()
                .filter_map(|known| reference::value(system, known.expr, last).err());
            if in_step.into_iter().chain(in_propositions).any(|fault| fault == claimed) {
                Ok(replayed)
            } else {
                Err(Rejection(format!("nothing goes wrong in the last state; claimed was: {claimed}")))
            }
        }
    }
}

/// Repeats a run: every action must be enabled where it happens, and may not leave out what follows it in
/// the same step.
pub fn repeat(system: &ActionSystem, run: &Run) -> Result<Replayed, Rejection> {
    let initial = reference::initial(system);
    let Some(first) = initial.get(run.initial) else {
        return Err(Rejection(format!("there is no initial state number {}", run.initial)));
    };
    let mut state: Values = first.clone();
    let mut values = first.clone();
    for (index, &action) in run.actions.iter().enumerate() {
        let label = system.action_label(action);
        let failed = |fault: Fault| Rejection(format!("step {} (`{label}`) fails: {fault}", index + 1));
        let Some((_, target)) = reference::parts(system, action, &state).map_err(failed)? else {
            return Err(Rejection(format!("step {}: `{label}` is not enabled", index + 1)));
        };
        state = target;
        values.extend_from_slice(&state);
    }
    Ok(Replayed { n_variables: first.len(), values })
}

#[cfg(test)]
mod tests {
    use model::{Action, ActionId, Builder, Guard, Stmt, Variable};

    use super::*;

    /// x counts 0, 1, 2 and stops.
    fn counter() -> (ActionSystem, ActionId) {
        let mut builder = Builder::new();
        let owner = builder.process("counter");
        let x = builder.variable(Variable::new("x", 0, 2));
        let below_two = builder.guard(Guard::one_of(x, [0, 1]));
        let label = builder.label("tick");
        let tick =
            Action { label, guards: vec![below_two], effect: vec![Stmt::Add(x, 1)], owners: vec![owner] };
        let tick = builder.action(tick);
        builder.initial(&[0]);
        (builder.finish().unwrap(), tick)
    }

    #[test]
    fn a_true_claim_is_accepted_and_false_ones_are_not() {
        let (mut system, tick) = counter();
        let run = |n| Run { initial: 0, actions: vec![tick; n] };
        let replayed = judge(&system, &run(2), Claim::Deadlock).unwrap();
        assert_eq!([0, 1, 2].map(|step| replayed.state(step)), [[0], [1], [2]]);
        let too_short = judge(&system, &run(1), Claim::Deadlock).unwrap_err();
        assert_eq!(too_short.to_string(), "the run does not end in a deadlock: `tick` is enabled");
        let too_long = judge(&system, &run(3), Claim::Deadlock).unwrap_err();
        assert_eq!(too_long.to_string(), "step 3: `tick` is not enabled");
        let nowhere = judge(&system, &Run { initial: 1, actions: vec![] }, Claim::Deadlock).unwrap_err();
        assert_eq!(nowhere.to_string(), "there is no initial state number 1");
        let x = system.exprs.var(model::VarId::new(0));
        assert!(judge(&system, &run(0), Claim::Violates(x)).is_ok());
        assert!(judge(&system, &run(1), Claim::Violates(x)).is_err());
        assert!(judge(&system, &run(0), Claim::Fault(Fault::Overflow)).is_err());
    }
}
