//! More than one run for a property that is violated, where more errors are wanted than the first.
//!
//! They are different in a sense that can be relied on:
//!
//! | a property that is violated | each run |
//! |---|---|
//! | deadlocks, invariants | ends in a state in which no other one ends |
//! | formulas, by a finite run | does not pass through the state in which an earlier one ends |
//! | formulas, by a cycle | does not pass again and again through the state in which an earlier cycle begins |
//!
//! Nothing here searches. What was found is made legal, and the question is asked again: a system may rest in a
//! deadlock that is known, an invariant or a formula is also satisfied by what is known. Whatever violates the weaker
//! question violates the one that was asked. (Assertions and end states have their own ways: see `promises`.)

use std::sync::Arc;

use language::{Ltl, Model, PropertyKind};
use ltl::{Formula, Formulas};
use model::reference::Values;
use model::{Action, ActionSystem, BinaryOp, ExprId, Exprs, Guard, GuardId, LabelId, ProcessId, VarId};
use report::{PropertyResult, Verdict};

use super::runs::Runs;
use super::{Asked, Job, states};
use crate::answer::{Answer, Figures};
use crate::clock::Clock;
use crate::error::Trouble;
use crate::options::Options;
use crate::session::refining;

/// Where a run ends, or its cycle begins.
#[derive(PartialEq, Eq)]
struct Known {
    state: Values,
    is_cycle: bool,
}

impl Known {
    fn of(result: &PropertyResult) -> Option<Known> {
        let found = result.counterexample.as_ref().filter(|_| result.is_violated())?;
        let at = found.cycle_start.unwrap_or(found.trace.len());
        Some(Known { state: found.trace.state(at), is_cycle: found.cycle_start.is_some() })
    }
}

/// Looks for as many runs as are wanted for each property of a job that is violated.
pub(super) fn look(
    asked: &mut Asked<'_>,
    job: &Job,
    decided: &[PropertyResult],
    options: &Options,
    whole: &Clock<'_>,
    clock: &Clock<'_>,
) -> Result<(), Trouble> {
    if !matches!(job, Job::States(_) | Job::Runs(_)) {
        return Ok(());
    }
    asked.more.retain(|(task, _)| !job.tasks().contains(task));
    for (&task, first) in job.tasks().iter().zip(decided) {
        let mut known: Vec<Known> = Known::of(first).into_iter().collect();
        while (1..options.errors).contains(&known.len()) {
            let generation = asked.generation;
            let found = match job {
                Job::States(_) => {
                    let states: Vec<Values> = known.iter().map(|known| known.state.clone()).collect();
                    refining(asked, whole, |asked| states::decide_other(asked, task, &states, options, clock))
                }
                _ => other_run(asked, task, &known, options, whole, clock),
            };
            let result = match found {
                Err(Trouble::Limit(limit)) => Answer::limit(limit).result(asked.name(task), &Figures::none()),
                found => found?,
            };
            // In a model that became larger, what is known are no states any more.
            if result.verdict == Verdict::Holds || asked.generation != generation {
                break;
            }
            let next = Known::of(&result);
            if next.as_ref().is_some_and(|next| known.contains(next)) {
                break; // It could not be made legal.
            }
            asked.more.push((task, result));
            let Some(next) = next else { break };
            known.push(next);
        }
    }
    Ok(())
}

/// A run that is different from those that are known, or that there is none.
fn other_run(
    asked: &mut Asked<'_>,
    task: usize,
    known: &[Known],
    options: &Options,
    whole: &Clock<'_>,
    clock: &Clock<'_>,
) -> Result<PropertyResult, Trouble> {
    let nothing = Answer::holds(None).result(asked.name(task), &Figures::none());
    let kind = asked.property(task).clone();
    let name = asked.name(task).to_owned();
    let Some(weaker) = weaker(asked.model(), &name, &kind, known) else { return Ok(nothing) };
    let generation = asked.generation;
    Arc::make_mut(&mut asked.tasks)[task].kind = weaker;
    let mut runs = Runs::new(task, options, clock);
    let decided = refining(asked, whole, |asked| runs.decide(asked));
    if asked.generation == generation {
        Arc::make_mut(&mut asked.tasks)[task].kind = kind;
    }
    Ok(decided?.pop().unwrap_or(nothing))
}

/// A formula that runs satisfy, too, which are like those that are known.
fn weaker(model: &mut dyn Model, name: &str, kind: &PropertyKind, known: &[Known]) -> Option<PropertyKind> {
    let (PropertyKind::Ltl(ltl) | PropertyKind::Progress(ltl) | PropertyKind::Acceptance(ltl)) = kind else {
        return None;
    };
    let (system, formulas) = model.parts();
    if known.iter().any(|known| known.state.len() != system.variables().len()) {
        return None;
    }
    let mut propositions = ltl.propositions.clone();
    let mut legal = vec![ltl.formula];
    for (number, known) in known.iter().enumerate() {
        let what = if known.is_cycle { "where the cycle begins of" } else { "where it ends, in" };
        let prop = formulas.proposition(&format!("{name}: {what} run {}", number + 1));
        propositions.push((prop, is_state(&mut system.exprs, &known.state)));
        let here = formulas.prop(prop);
        legal.push(passes(formulas, here, known.is_cycle));
    }
    let weaker = Ltl { formula: formulas.or(legal), propositions };
    Some(match kind {
        PropertyKind::Progress(_) => PropertyKind::Progress(weaker),
        PropertyKind::Acceptance(_) => PropertyKind::Acceptance(weaker),
        _ => PropertyKind::Ltl(weaker),
    })
}

/// That a run passes through a state, once or again and again.
fn passes(formulas: &mut Formulas, here: Formula, again: bool) -> Formula {
    let some_day = formulas.finally(here);
    if again { formulas.globally(some_day) } else { some_day }
}

/// That the system is in a state.
pub(super) fn is_state(exprs: &mut Exprs, state: &[i64]) -> ExprId {
    let mut is_value = |(var, &value): (usize, &i64)| {
        let (var, value) = (exprs.var(VarId::new(var)), exprs.int(value));
        exprs.binary(BinaryOp::Eq, var, value)
    };
    let values: Vec<ExprId> = state.iter().enumerate().map(&mut is_value).collect();
    exprs.fold(BinaryOp::And, 1, &values)
}

/// The same system, which may rest in some states; nothing if there are none.
pub(super) fn resting(system: &ActionSystem, states: &[Values]) -> Option<ActionSystem> {
    if states.is_empty() || system.labels().is_empty() || system.processes().is_empty() {
        return None;
    }
    let mut parts = system.to_parts();
    for state in states {
        let first = parts.guards.len();
        let values = state.iter().enumerate();
        parts.guards.extend(values.map(|(var, &value)| Guard::equals(VarId::new(var), value)));
        let guards = (first..parts.guards.len()).map(GuardId::new).collect();
        let (label, owners) = (LabelId::new(0), vec![ProcessId::new(0)]);
        parts.actions.push(Action { label, guards, effect: Vec::new(), owners });
        parts.goes_on.push(None);
    }
    system.with_parts(parts).ok()
}
