//! Lists of all states that can be reached: they prove whatever is claimed of states.
//!
//! One list serves for all claims about the states of one system; and where nothing is to be left out anyway, the search that
//! decides the questions makes it ([`explore`]), so that there is no other. Where all claims together look at so much that too
//! few steps can wait, each that can do with fewer states has a list of its own.

use std::sync::Arc;

use base::{Budget, Limit};
use certify::{Claimed, Pair, Proof, Wait};
use check::method::ReductionWish;
use check::store::{StateId, Visited as _};
use check::{Exact, Exploration, Goal, Stop, search};
use language::{PropertyKind, Purpose};
use model::{ActionSystem, ExprId, Layout, System};

use super::waiting::{self, Sought, Waiting};
use super::writer::StateWriter;
use super::{Failed, words};
use crate::clock::Clock;
use crate::decide::Asked;
use crate::error::Trouble;
use crate::options::Options;
use crate::session::Attempt;

/// All states of a model, for a purpose.
pub(crate) struct Listed {
    pub(crate) purpose: Purpose,
    /// How often the model had been made larger.
    pub(crate) n_grown: usize,
    /// Whether they were searched for this alone.
    pub(crate) again: bool,
    /// The question that they are for, if not for all.
    pub(crate) task: Option<usize>,
    /// A proof of nothing, with these states.
    pub(crate) proof: Proof,
}

impl Listed {
    /// Whether they are for a question about these states of the model as it is.
    pub(crate) fn is_for(&self, task: usize, purpose: Purpose, n_grown: usize) -> bool {
        self.purpose == purpose && self.n_grown == n_grown && self.task.is_none_or(|own| own == task)
    }
}

/// Of each question, whether it is answered as it was.
pub(crate) type Outcomes = Vec<Result<(), Failed>>;

/// Explores all of a system, and lists its states if nothing ended that early.
pub(crate) fn explore<S: System>(
    system: &S,
    layout: &Layout,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> (Exploration, Result<Proof, Failed>) {
    let mut store = Exact::new(layout.width(), budget.room());
    let found = search::bfs::search(system, &mut store, goals, budget);
    if let Some(stop) = &found.stop {
        let why = match stop {
            Stop::Limit(limit) => Failed::Limit(*limit),
            Stop::Fault(error, _) => Failed::from(*error),
            Stop::AllViolated => Failed::Violated,
        };
        return (found, Err(why));
    }
    let get = |state: u32| store.words(StateId::new(state as usize));
    let n_states = store.n_states() as usize;
    let nothing = words(Claimed::Declared(String::new()));
    let listed = written(nothing, layout, n_states, get, |_| Beside::default(), budget);
    (found, listed.map_err(Failed::from))
}

/// The same with steps that wait: fewer states, if that pays.
pub(super) fn explore_waiting<S: System>(
    runner: &S,
    system: &ActionSystem,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> Result<Option<Proof>, Failed> {
    let looked_at = goals.iter().filter_map(|goal| match goal {
        Goal::Invariant(number) => Some(system.propositions()[*number].expr),
        Goal::Deadlock => None,
    });
    let looked_at: Vec<ExprId> = looked_at.collect();
    let Some(Waiting { states, waits }) =
        waiting::explore(runner, system, &looked_at, Sought::States, goals, budget)?
    else {
        return Ok(None);
    };
    let nothing = Proof { waits: true, ..words(Claimed::Declared(String::new())) };
    let get = |state: u32| states.get(state);
    let beside = |state: u32| Beside { wait: waits[state as usize], pairs: &[] };
    Ok(Some(written(nothing, system.layout(), states.count(), get, beside, budget)?))
}

/// What an exploration says of a goal; or, without one, of whether anything goes wrong.
pub(super) fn outcome(found: &Exploration, goal: Option<usize>) -> Result<(), Failed> {
    let fault = goal.and_then(|goal| found.faults[goal].as_ref());
    match &found.stop {
        _ if goal.is_some_and(|goal| found.violations[goal].is_some()) => Err(Failed::Violated),
        _ if fault.is_some() => fault.map_or(Ok(()), |(error, _)| Err(Failed::from(*error))),
        Some(Stop::Limit(limit)) => Err(Failed::Limit(*limit)),
        Some(Stop::Fault(error, _)) => Err(Failed::from(*error)),
        Some(Stop::AllViolated) | None => Ok(()),
    }
}

/// What is said of a state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Beside<'p> {
    pub(super) wait: Wait,
    pub(super) pairs: &'p [Pair],
}

/// Writes states into a proof, sorted, with what is said of them. For a formula, states with nothing beside them are not met.
pub(super) fn written<'s, 'p>(
    mut proof: Proof,
    layout: &Layout,
    n_states: usize,
    get: impl Fn(u32) -> &'s [u32],
    beside: impl Fn(u32) -> Beside<'p>,
    budget: &mut Budget<'_>,
) -> Result<Proof, Limit> {
    // The order, and what is alike: each range has two states at least.
    let bytes = 28 * n_states as u64;
    budget.hold(bytes)?;
    let order = sorted(n_states, layout.width(), &get, budget)?;
    proof.variables = layout.fields().len();
    let mut writer = StateWriter::new(&proof);
    // Neighbors have most words in common: only the variables of others are looked at.
    let mut in_word = vec![Vec::new(); layout.width()];
    for (var, field) in layout.fields().iter().enumerate() {
        field.masks().for_each(|(word, _)| in_word[word].push(var));
    }
    let (mut before, mut changed) = (vec![0; layout.width()], (0..proof.variables).collect::<Vec<_>>());
    for (_, number) in order {
        budget.tick()?;
        let Beside { wait, pairs } = beside(number);
        if pairs.is_empty() && !proof.formula.is_empty() {
            continue;
        }
        let state = get(number);
        for (word, (new, old)) in state.iter().zip(&mut before).enumerate() {
            if std::mem::replace(old, *new) != *new {
                changed.extend_from_slice(&in_word[word]);
            }
        }
        changed.sort_unstable();
        changed.dedup();
        let fields = layout.fields();
        writer.put_changed(changed.drain(..).map(|var| (var, fields[var].value(state))), wait, pairs);
    }
    writer.fill(&mut proof);
    budget.release(bytes);
    Ok(proof)
}

/// So many states are compared word by word: they stay at hand while that is done.
const FEW: usize = 1000;

/// The numbers of states in the order of their words, with two words each that do not matter any more. Those that are alike so
/// far are sorted by the next two words: comparing whole states would read each of them again and again, from far away.
fn sorted<'s>(
    n_states: usize,
    width: usize,
    get: &impl Fn(u32) -> &'s [u32],
    budget: &mut Budget<'_>,
) -> Result<Vec<(u64, u32)>, Limit> {
    let mut order: Vec<(u64, u32)> = (0..n_states as u32).map(|number| (0, number)).collect();
    let mut alike = vec![(0..n_states, 0)];
    while let Some((range, word)) = alike.pop() {
        let part = &mut order[range.clone()];
        if part.len() <= FEW {
            budget.tick()?;
            part.sort_unstable_by(|(_, a), (_, b)| get(*a)[word..].cmp(&get(*b)[word..]));
            continue;
        }
        for (key, number) in part.iter_mut() {
            budget.tick()?;
            let state = get(*number);
            *key = u64::from(state[word]) << 32 | u64::from(state.get(word + 1).copied().unwrap_or(0));
        }
        part.sort_unstable();
        if word + 2 < width {
            let mut start = range.start;
            for group in part.chunk_by(|a, b| a.0 == b.0) {
                if group.len() > 1 {
                    alike.push((start..start + group.len(), word + 2));
                }
                start += group.len();
            }
        }
    }
    Ok(order)
}

/// Lists the states of the system for a purpose; and says of each of these questions about them whether it is answered as it
/// was. What is beside them, a limit or a fault, is said of all that have no list of their own.
pub(crate) fn list(
    asked: &mut Asked<'_>,
    tasks: &[usize],
    purpose: Purpose,
    options: &Options,
    clock: &Clock<'_>,
) -> Result<Attempt<(Outcomes, Vec<Listed>)>, Trouble> {
    let mut budget = clock.budget();
    let mut view = asked.model().view(purpose, &mut budget)?;
    let n_grown = asked.session.grown.len();
    let listed = |task: Option<usize>, proof: Proof| Listed { purpose, n_grown, again: true, task, proof };
    let mut goals: Vec<Option<Goal>> = Vec::new();
    for &task in tasks {
        goals.push(match *asked.property(task) {
            PropertyKind::Invariant(expr) => {
                Some(Goal::Invariant(Arc::make_mut(&mut view.system).add_proposition("", expr)))
            }
            PropertyKind::Assertions => None,
            _ => Some(Goal::Deadlock),
        });
    }
    let system = &*view.system;
    let mut outcomes: Outcomes = tasks.iter().map(|_| Ok(())).collect();
    let mut lists = Vec::new();
    if options.reduce != ReductionWish::None {
        let all: Vec<Goal> = goals.iter().flatten().copied().collect();
        match explore_waiting(system, system, &all, &mut budget) {
            Ok(Some(proof)) => return Ok(Attempt::Done((outcomes, vec![listed(None, proof)]))),
            // Without anything that waits it is told which of them is violated.
            Err(Failed::Violated) => {}
            Ok(None) | Err(_) if tasks.len() > 1 => {
                for (&task, goal) in tasks.iter().zip(&goals) {
                    let mut budget = clock.budget();
                    let own = explore_waiting(system, system, goal.as_slice(), &mut budget);
                    lists.extend(own.ok().flatten().map(|proof| listed(Some(task), proof)));
                }
            }
            Ok(None) => {}
            Err(why) => return Ok(refused(asked, outcomes.into_iter().map(|_| Err(why.clone())).collect())),
        }
    }
    let has_own = |task: usize| lists.iter().any(|listed| listed.task == Some(task));
    let rest: Vec<usize> = (0..tasks.len()).filter(|&at| !has_own(tasks[at])).collect();
    if !rest.is_empty() {
        let left: Vec<Goal> = rest.iter().filter_map(|&at| goals[at]).collect();
        let (found, proof) = explore(system, system.layout(), &left, &mut clock.budget());
        let mut n_goals = 0;
        for &at in &rest {
            let goal = goals[at].as_ref().map(|_| n_goals);
            n_goals += usize::from(goal.is_some());
            outcomes[at] = outcome(&found, goal).and(proof.as_ref().map(|_| ()).map_err(Failed::clone));
        }
        lists.extend(proof.ok().map(|proof| listed(None, proof)));
    }
    Ok(match refused(asked, outcomes) {
        Attempt::Done((outcomes, _)) => Attempt::Done((outcomes, lists)),
        other => other,
    })
}

/// What is said where something failed: that the model is too small, if that is why.
fn refused(asked: &Asked<'_>, outcomes: Outcomes) -> Attempt<(Outcomes, Vec<Listed>)> {
    for failed in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        if let Failed::Fault(error) = failed
            && asked.session.model.can_refine(error)
        {
            return Attempt::TooSmall(*error);
        }
    }
    Attempt::Done((outcomes, Vec::new()))
}
