//! Judges runs that are said to violate a formula: by the reference semantics of the formula itself,
//! on the word of the run's valuations; no automaton is asked. A claim is an automaton, so that is
//! asked whether it accepts the word, by the definition.

use automata::AnyAutomaton;
use ltl::{Formula, Formulas, Lasso, Prop, Valuation, satisfies};
use model::{ActionSystem, ExprId, Run, reference};

use crate::{Rejection, Replayed, repeat};

/// A formula about a system.
pub struct Question<'a> {
    /// The pool of the formula.
    pub formulas: &'a Formulas,
    /// What every run should satisfy.
    pub formula: Formula,
    /// Its propositions, each with the expression that says when it is true.
    pub propositions: &'a [(Prop, ExprId)],
}

/// Repeats `run`, whose steps from `cycle_start` on repeat for ever, and checks that it violates the
/// formula. If there are no such steps, the run must end in a deadlock, whose state repeats.
pub fn judge_formula(
    system: &ActionSystem,
    question: &Question<'_>,
    run: &Run,
    cycle_start: usize,
) -> Result<Replayed, Rejection> {
    let (replayed, word) = word_of(system, question.propositions, run, cycle_start)?;
    if satisfies(question.formulas, question.formula, &word) {
        return Err(Rejection("the run satisfies the formula".to_owned()));
    }
    Ok(replayed)
}

/// The same for a claim: an automaton that accepts what must not happen.
pub fn judge_claim(
    system: &ActionSystem,
    claim: &AnyAutomaton,
    propositions: &[(Prop, ExprId)],
    run: &Run,
    cycle_start: usize,
) -> Result<Replayed, Rejection> {
    let (replayed, word) = word_of(system, propositions, run, cycle_start)?;
    if !claim.accepts(&word) {
        return Err(Rejection("the claim does not accept the run".to_owned()));
    }
    Ok(replayed)
}

/// The same for a claim that says itself which deadlocks it accepts: the run must end in one.
pub fn judge_deadlock_claim(
    system: &ActionSystem,
    claim: &AnyAutomaton,
    propositions: &[(Prop, ExprId)],
    run: &Run,
) -> Result<Replayed, Rejection> {
    let (replayed, word) = word_of(system, propositions, run, run.actions.len())?;
    let letters: Vec<Valuation> = [word.prefix(), word.cycle()].concat();
    if !claim.accepts_finite(&letters) {
        return Err(Rejection("the claim does not accept the deadlock".to_owned()));
    }
    Ok(replayed)
}

/// Repeats a run, and gives the word of its valuations.
fn word_of(
    system: &ActionSystem,
    propositions: &[(Prop, ExprId)],
    run: &Run,
    cycle_start: usize,
) -> Result<(Replayed, Lasso), Rejection> {
    let replayed = repeat(system, run)?;
    let n_steps = run.actions.len();
    let reject = |why: &str| Err(Rejection(why.to_owned()));
    if cycle_start > n_steps {
        return reject("the cycle starts behind the end of the run");
    }
    if cycle_start == n_steps {
        let enabled = reference::enabled(system, replayed.state(n_steps));
        let enabled =
            enabled.map_err(|fault| Rejection(format!("the last state cannot be judged: {fault}")))?;
        if !enabled.is_empty() {
            return reject("the run ends, but not in a deadlock");
        }
    } else if replayed.state(cycle_start) != replayed.state(n_steps) {
        return reject("the cycle does not return to the state it starts in");
    }
    let valuation = |step: usize| -> Result<Valuation, Rejection> {
        let mut valuation = Valuation::new();
        for &(prop, expr) in propositions {
            let value = reference::value(system, expr, replayed.state(step));
            if value.map_err(|fault| Rejection(format!("step {step} cannot be judged: {fault}")))? != 0 {
                valuation.set(prop, true);
            }
        }
        Ok(valuation)
    };
    let prefix = (0..cycle_start).map(valuation).collect::<Result<Vec<_>, _>>()?;
    let cycle_end = n_steps.max(cycle_start + 1);
    let cycle = (cycle_start..cycle_end).map(valuation).collect::<Result<Vec<_>, _>>()?;
    match Lasso::new(prefix, cycle) {
        None => reject("the cycle is empty"),
        Some(word) => Ok((replayed, word)),
    }
}
