//! Questions about all markings of a net, asked after it was explored.

use base::{Budget, Limit, Progress};
use check::{Exact, Goal, StateId, Store as _, Visited as _};
use model::{ActionSystem, ExprId, Fault, StepError, System as _, UnaryOp, reference};

/// The goal that is violated where an expression is false; or where it is true.
pub(crate) fn goal(system: &mut ActionSystem, name: &str, expr: ExprId, where_true: bool) -> Goal {
    let expr = if where_true { system.exprs.unary(UnaryOp::Not, expr) } else { expr };
    Goal::Invariant(system.add_proposition(name, expr))
}

/// Why there is no answer.
pub(crate) enum Trouble {
    Limit(Limit),
    Fault(Fault),
}

impl From<Limit> for Trouble {
    fn from(limit: Limit) -> Trouble {
        Trouble::Limit(limit)
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Trouble {
        Trouble::Fault(fault)
    }
}

impl From<StepError> for Trouble {
    fn from(error: StepError) -> Trouble {
        Trouble::Fault(error.fault)
    }
}

/// Looks at the values of the variables in every state of a store.
pub(crate) fn for_each(
    system: &ActionSystem,
    store: &Exact,
    budget: &mut Budget<'_>,
    mut look: impl FnMut(&[i64]) -> Result<(), Fault>,
) -> Result<(), Trouble> {
    let mut state = vec![0; system.width()];
    for index in 0..store.n_states() {
        let progress = Progress { states: store.n_states(), bytes: store.bytes(), ..Progress::default() };
        budget.poll(&progress)?;
        store.get(StateId::new(index as usize), &mut state);
        look(&system.layout().decode(&state))?;
    }
    Ok(())
}

/// The greatest values of expressions in any state of a store, which has at least one.
pub(crate) fn maxima(
    system: &ActionSystem,
    store: &Exact,
    exprs: &[ExprId],
    budget: &mut Budget<'_>,
) -> Result<Vec<i64>, Trouble> {
    let mut maxima = vec![i64::MIN; exprs.len()];
    for_each(system, store, budget, |values| {
        for (maximum, &expr) in maxima.iter_mut().zip(exprs) {
            *maximum = (*maximum).max(reference::value(system, expr, values)?);
        }
        Ok(())
    })?;
    Ok(maxima)
}
