//! Questions about nets, asked about simpler nets instead.
//!
//! A simpler net keeps runs up to stuttering, so it is used for formulas that do not see that, where all
//! runs count and one that ends repeats its last marking; and, if reduction is asked for, for deadlocks and
//! invariants. Runs that are found are shown on the original net.

use std::sync::Arc;

use check::Goal;
use check::decide::Claim;
use check::product::AtDeadlock;
use model::ExprId;
use petri::structural::{Keep, Preserve, Reducer, Rules};
use petri::{Bounds, Net};

use super::fairness::Constraints;
use super::{Task, TaskKind};
use crate::args::CheckArguments;
use crate::input::Loaded;
use crate::property::FormulaTask;
use crate::simpler::Simpler;
use crate::terminal::Clock;

/// A question about a simpler net.
pub(super) struct Simplified {
    pub(super) simpler: Simpler,
    pub(super) asked: Asked,
}

/// What is asked about it.
pub(super) enum Asked {
    Runs(Box<Claim>),
    States(Goal),
}

/// The original net with room for all tokens that there can be: to show runs on.
pub(super) fn spacious(model: &Loaded) -> Option<petri::Model> {
    let Loaded::Petri(model) = model else { return None };
    let net: Arc<Net> = model.net().clone();
    let mut spacious = net.lower(Bounds::all(&net, i64::MAX));
    // Expressions have the same numbers.
    spacious.system.exprs = model.system.exprs.clone();
    for known in model.system.propositions() {
        spacious.system.add_proposition(known.name.clone(), known.expr);
    }
    Some(spacious)
}

/// For each task, the question that is asked instead, if there is a simpler one.
pub(super) fn simplify(
    model: &mut Loaded,
    tasks: &[Task],
    constraints: &Constraints,
    arguments: &CheckArguments,
    clock: &mut Clock,
) -> Vec<Option<Simplified>> {
    let mut simplified: Vec<Option<Simplified>> = tasks.iter().map(|_| None).collect();
    let rules = arguments.structural;
    let Loaded::Petri(model) = model else { return simplified };
    let is_wanted = |task: &Task| match &task.kind {
        TaskKind::Formula(task) => sees_no_difference(task, constraints, arguments),
        TaskKind::Safety(_) | TaskKind::Possible(_) => arguments.reduces_safety(),
        _ => false,
    };
    if rules == Rules::NONE || !tasks.iter().any(is_wanted) {
        return simplified;
    }
    let net = model.net().clone();
    let reducer = Reducer::new(&net);
    for (task, slot) in tasks.iter().zip(&mut simplified).filter(|(task, _)| is_wanted(task)) {
        let mut budget = clock.budget(&arguments.limits);
        let (keep, about) = match &task.kind {
            TaskKind::Formula(task) => {
                let exprs: Vec<ExprId> = task.propositions.iter().map(|(_, expr)| *expr).collect();
                (Keep::of(&net, &mut model.system.exprs, Preserve::Stuttering, &exprs), exprs)
            }
            TaskKind::Safety(Goal::Invariant(number)) | TaskKind::Possible(Goal::Invariant(number)) => {
                let expr = model.system.propositions()[*number].expr;
                (Keep::of(&net, &mut model.system.exprs, Preserve::Reachability, &[expr]), vec![expr])
            }
            _ => (Keep::deadlocks(), Vec::new()),
        };
        let Some((mut simpler, carried)) = Simpler::new(model, &reducer, &keep, &about, rules, &mut budget)
        else {
            continue;
        };
        let system = &mut simpler.model.system;
        let asked = match (&task.kind, carried.first()) {
            (TaskKind::Formula(task), _) => {
                let names = task.propositions.iter().map(|(prop, _)| *prop);
                let numbered = names
                    .zip(&carried)
                    .map(|(prop, &expr)| (prop, system.add_proposition("", expr)))
                    .collect();
                Asked::Runs(Box::new(Claim::new(task.claim.tgba.clone(), numbered, true)))
            }
            (_, Some(&expr)) => Asked::States(Goal::Invariant(system.add_proposition("", expr))),
            (_, None) => Asked::States(Goal::Deadlock),
        };
        *slot = Some(Simplified { simpler, asked });
    }
    clock.clear();
    simplified
}

/// Whether a formula does not see what structural reductions change.
fn sees_no_difference(task: &FormulaTask, constraints: &Constraints, arguments: &CheckArguments) -> bool {
    task.claim.stutter_invariant
        && !task.owns_deadlocks()
        && constraints.fairness.is_empty()
        && AtDeadlock::from(arguments.deadlock) == AtDeadlock::Stutter
        && !arguments.shortest
}
