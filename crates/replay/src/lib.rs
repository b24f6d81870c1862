//! The independent judge: repeats a run on the unreduced system and checks what it is said to show.
//!
//! This crate shares no code with the searches. It uses the
//! [reference semantics](mod@model::reference) of action systems, on unpacked values, so that
//! neither the packing of states nor the interpreter nor the index of actions is its own witness.
//! What it accepts is shown to the user; what it rejects is a bug in Stubborn, and is reported as
//! one, never as a verdict. A judge whose budget is spent has nothing to say.
//!
//! There is one way in, [`judge`]: a [`Question`] and the [`Evidence`]. States are looked at as they come, and
//! are not kept: of a long run, [`Replayed`] has a state now and then, from which the others can be computed
//! again.
//!
//! | module | judges |
//! |---|---|
//! | here | deadlocks, violated expressions, faults: the last state |
//! | [`mod@fairness`] | whether the cycle of a run is fair |
//! | `words` | formulas and claims: the word of what is true |
//! | [`mod@tester`] | testers: the word of what happens |

pub mod fairness;
mod replayed;
pub mod tester;
mod words;

use std::fmt;

use base::{Budget, Limit};
use ltl::{Formula, Formulas, Prop};
use model::{ActionSystem, Describe, ExprId, Fault, LabelId, Run, reference};

pub use fairness::{Constraint, Reason, Subject};
pub use replayed::Replayed;
pub use tester::TesterClaim;

/// What a run is said to show.
#[derive(Clone, Copy)]
pub enum Question<'q> {
    /// It can be repeated.
    Possible,
    /// In its last state, no action is enabled.
    Deadlock,
    /// In its last state, the expression is false.
    Violates(ExprId),
    /// In its last state, the model goes wrong: in a step from there, or in one of its propositions.
    Fault(Fault),
    /// The formula is not true of it.
    Formula {
        /// The pool of the formula.
        formulas: &'q Formulas,
        /// What every run should satisfy.
        formula: Formula,
        /// Its propositions, each with the expression that says when it is true.
        propositions: &'q [(Prop, ExprId)],
    },
    /// The automaton accepts it, by the definition of its kind. A deadlock is accepted if the automaton says
    /// so; where that says nothing of ends, the last state repeats for ever.
    Claim {
        /// What accepts the runs that must not be.
        automaton: &'q automata::AnyAutomaton,
        /// Its propositions, each with the expression that says when it is true.
        propositions: &'q [(Prop, ExprId)],
    },
    /// The tester calls it illegal.
    Tester {
        /// The tester, as it was written.
        tester: &'q automata::Tester,
        /// Per letter, its label in the system.
        labels: &'q [LabelId],
        /// What is illegal about it.
        claim: TesterClaim,
    },
}

/// How a run goes on after its last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Anyhow: what matters has happened.
    Open,
    /// Not at all: nothing that counts can happen any more.
    Deadlock,
    /// The steps after so many repeat for ever. If there are none, the run ends in a deadlock, whose state does.
    Cycle(usize),
}

/// A run, and what it is said to be like.
#[derive(Clone, Copy)]
pub struct Evidence<'e> {
    /// The run.
    pub run: &'e Run,
    /// How it goes on.
    pub ending: Ending,
    /// What its cycle, if it has one, is said to be fair to.
    pub fair_to: &'e [Constraint],
}

impl<'e> Evidence<'e> {
    /// A run that goes on like this, whether or not it is fair.
    pub fn new(run: &'e Run, ending: Ending) -> Evidence<'e> {
        Evidence { run, ending, fair_to: &[] }
    }
}

/// What a judge has found to be so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The run.
    pub replayed: Replayed,
    /// Why its cycle is fair to each of the constraints, in their order; none if there is no cycle.
    pub fairness: Vec<Reason>,
}

/// Why a run was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection(String);

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why nothing is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The run does not show what is claimed.
    Rejected(Rejection),
    /// The budget was spent before that was known.
    Limit(Limit),
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::Rejected(rejection) => rejection.fmt(f),
            Doubt::Limit(limit) => limit.fmt(f),
        }
    }
}

impl std::error::Error for Doubt {}

impl From<Limit> for Doubt {
    fn from(limit: Limit) -> Doubt {
        Doubt::Limit(limit)
    }
}

fn rejected(why: impl Into<String>) -> Doubt {
    Doubt::Rejected(Rejection(why.into()))
}

/// A state could not be looked at.
fn unjudged(place: &str, fault: Fault) -> Doubt {
    rejected(format!("{place} cannot be judged: {fault}"))
}

/// Asks the reference semantics for something that may walk far along chains, within the budget.
fn within<T>(
    budget: &mut Budget<'_>,
    walk: impl FnOnce(&mut reference::Room<'_>) -> Result<T, Fault>,
) -> Result<Result<T, Fault>, Limit> {
    let (mut held, mut spent) = (0, None);
    let walked = walk(&mut |bytes| {
        held += bytes;
        let room = budget.tick().and_then(|()| budget.hold(bytes));
        room.map_err(|limit| {
            held -= bytes;
            spent = Some(limit);
            Fault::TooLong
        })
    });
    budget.release(held);
    spent.map_or(Ok(walked), Err)
}

/// Repeats a run and checks what it is said to show.
///
/// # Errors
/// It does not show that, or the budget is spent.
pub fn judge(
    system: &ActionSystem,
    question: &Question<'_>,
    evidence: &Evidence<'_>,
    budget: &mut Budget<'_>,
) -> Result<Judged, Doubt> {
    let Evidence { run, ending, fair_to } = *evidence;
    let n_steps = run.actions.len();
    let cycle = match ending {
        Ending::Cycle(start) if start > n_steps => {
            return Err(rejected("the cycle starts behind the end of the run"));
        }
        Ending::Cycle(start) => Some(start),
        Ending::Open | Ending::Deadlock => None,
    };
    let mut watcher: Box<dyn Watcher + '_> = match *question {
        Question::Possible | Question::Deadlock | Question::Violates(_) | Question::Fault(_) => {
            Box::new(LastState { system, question })
        }
        Question::Formula { propositions, .. } | Question::Claim { propositions, .. } => {
            Box::new(words::Word::new(system, question, propositions, ending))
        }
        Question::Tester { tester, labels, claim } => {
            Box::new(tester::Judge::new(system, tester, labels, claim, evidence, budget)?)
        }
    };
    let mut fairness = fairness::Judge::new(system, fair_to);
    let mut replayed = Replayed::new(system, run, budget)?;
    let mut first_of_cycle = None;
    for step in 0..=n_steps {
        budget.tick()?;
        if let Some(before) = step.checked_sub(1) {
            let action = run.actions[before];
            replayed.advance(system, action, budget)?;
            watcher.step(action, budget)?;
            if cycle.is_some_and(|start| start <= before) {
                fairness.step(step, action);
            }
        }
        let state = replayed.last();
        watcher.state(step, state, budget)?;
        if let Some(start) = cycle.filter(|&start| start <= step) {
            // The last state of a cycle is its first one.
            if step < n_steps || start == n_steps {
                fairness.state(step, state)?;
            }
            first_of_cycle.get_or_insert_with(|| state.to_vec());
        }
    }
    let last = replayed.last();
    match cycle {
        Some(start) if start == n_steps => {
            let enabled = reference::enabled(system, last);
            if !enabled.map_err(|fault| unjudged("the last state", fault))?.is_empty() {
                return Err(rejected("the run ends, but not in a deadlock"));
            }
        }
        Some(_) if first_of_cycle.as_deref() != Some(last) => {
            return Err(rejected("the cycle does not return to the state it starts in"));
        }
        _ => {}
    }
    watcher.end(last, budget)?;
    let fairness = if cycle.is_some() { fairness.end(budget)? } else { Vec::new() };
    Ok(Judged { replayed, fairness })
}

/// Looks at a run as it is repeated.
trait Watcher {
    /// Looks at the state after so many steps.
    fn state(&mut self, _step: usize, _state: &[i64], _budget: &mut Budget<'_>) -> Result<(), Doubt> {
        Ok(())
    }

    /// Looks at what happens next.
    fn step(&mut self, _action: model::ActionId, _budget: &mut Budget<'_>) -> Result<(), Doubt> {
        Ok(())
    }

    /// Says whether the run shows what is claimed, at its end.
    fn end(&mut self, last: &[i64], budget: &mut Budget<'_>) -> Result<(), Doubt>;
}

/// What a run shows in its last state.
struct LastState<'a> {
    system: &'a ActionSystem,
    question: &'a Question<'a>,
}

impl Watcher for LastState<'_> {
    fn end(&mut self, last: &[i64], budget: &mut Budget<'_>) -> Result<(), Doubt> {
        let system = self.system;
        let failed = |fault: Fault| unjudged("the last state", fault);
        match *self.question {
            Question::Deadlock => match reference::enabled(system, last).map_err(failed)?.first() {
                None => Ok(()),
                Some(&action) => {
                    let label = system.action_label(action);
                    Err(rejected(format!("the run does not end in a deadlock: `{label}` is enabled")))
                }
            },
            Question::Violates(expr) => match reference::value(system, expr, last).map_err(failed)? {
                0 => Ok(()),
                _ => Err(rejected("the expression is true in the last state")),
            },
            Question::Fault(claimed) => {
                let stepped = within(budget, |room| {
                    reference::for_each_successor_within(system, last, room, |_, _| ())
                });
                let in_step = stepped?.err();
                let in_propositions = system
                    .propositions()
                    .iter()
                    .filter_map(|known| reference::value(system, known.expr, last).err());
                if in_step.into_iter().chain(in_propositions).any(|fault| fault == claimed) {
                    Ok(())
                } else {
                    Err(rejected(format!("nothing goes wrong in the last state; claimed was: {claimed}")))
                }
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
