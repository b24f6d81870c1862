//! Judges runs that are said to violate a formula: by the reference semantics of the formula itself,
//! on the word of the run's valuations; no automaton is asked. A claim is an automaton, so that is
//! asked whether it accepts the word, by the definition.

use automata::AnyAutomaton;
use base::Budget;
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
    if claim.accepts(&word, &mut Budget::unlimited()) != Ok(true) {
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
    if claim.accepts_finite(&letters, &mut Budget::unlimited()) != Ok(true) {
        return Err(Rejection("the claim does not accept the deadlock".to_owned()));
    }
    Ok(replayed)
}

/// Repeats `run`, which is said to violate a formula or to be accepted by a claim whatever follows. That
/// cannot be tried for everything that might follow; it must be so at least if the last valuation repeats
/// for ever, or nothing is true for ever, or everything is. `is_bad` says whether a word is.
pub fn judge_prefix(
    system: &ActionSystem,
    propositions: &[(Prop, ExprId)],
    run: &Run,
    is_bad: impl Fn(&Lasso) -> bool,
) -> Result<Replayed, Rejection> {
    let replayed = repeat(system, run)?;
    let steps = 0..=run.actions.len();
    let prefix =
        steps.map(|step| valuation(system, propositions, &replayed, step)).collect::<Result<Vec<_>, _>>()?;
    let everything: Valuation = propositions.iter().map(|(prop, _)| *prop).collect();
    let last = prefix.last().cloned().unwrap_or_default();
    for cycle in [last, Valuation::new(), everything] {
        match Lasso::new(prefix.clone(), vec![cycle]) {
            Some(word) if is_bad(&word) => {}
            _ => return Err(Rejection("the prefix can be continued to a good run".to_owned())),
        }
    }
    Ok(replayed)
}

/// What is true after a step.
fn valuation(
    system: &ActionSystem,
    propositions: &[(Prop, ExprId)],
    replayed: &Replayed,
    step: usize,
) -> Result<Valuation, Rejection> {
    let mut valuation = Valuation::new();
    for &(prop, expr) in propositions {
        let value = reference::value(system, expr, replayed.state(step));
        if value.map_err(|fault| Rejection(format!("step {step} cannot be judged: {fault}")))? != 0 {
            valuation.set(prop, true);
        }
    }
    Ok(valuation)
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
    let valuation = |step: usize| valuation(system, propositions, &replayed, step);
    let prefix = (0..cycle_start).map(valuation).collect::<Result<Vec<_>, _>>()?;
    let cycle_end = n_steps.max(cycle_start + 1);
    let cycle = (cycle_start..cycle_end).map(valuation).collect::<Result<Vec<_>, _>>()?;
    match Lasso::new(prefix, cycle) {
        None => reject("the cycle is empty"),
        Some(word) => Ok((replayed, word)),
    }
}

#[cfg(test)]
mod tests {
    use model::{Action, Builder, Guard, Stmt, Variable};

    use super::*;

    /// A prefix is judged by what must be so whatever follows.
    #[test]
    fn a_prefix_that_can_still_become_good_is_rejected() {
        let mut builder = Builder::new();
        let owner = builder.process("counter");
        let x = builder.variable(Variable::new("x", 0, 1));
        let guard = builder.guard(Guard::equals(x, 0));
        let label = builder.label("set");
        let set = Action { label, guards: vec![guard], effect: vec![Stmt::Set(x, 1)], owners: vec![owner] };
        let set = builder.action(set);
        builder.initial(&[0]);
        let is_one = builder.exprs.var(x);
        let system = builder.finish().unwrap();
        let mut formulas = Formulas::new();
        let prop = formulas.proposition("x");
        let x = formulas.prop(prop);
        let not_x = formulas.not(x);
        let never = formulas.globally(not_x);
        let later = formulas.finally(not_x);
        let back = formulas.implies(x, later);
        let finally = formulas.globally(back);
        let run = Run { initial: 0, actions: vec![set] };
        let judge = |formula| {
            let is_bad = |word: &Lasso| !satisfies(&formulas, formula, word);
            judge_prefix(&system, &[(prop, is_one)], &run, is_bad)
        };
        assert!(judge(never).is_ok());
        assert!(judge(finally).is_err());
    }
}
