//! Shorter runs to states that were found.
//!
//! Runs that are found with reduction, or by an order that has no regard for their length, may be longer than necessary.
//! So what was found is looked for once more, as far as that takes a share of the states: breadth first and without
//! reduction, which gives a shortest run. Where it is too far away for that, states that seem near to it are taken
//! first: that run may be longer, but it does not wander. And of whichever is shorter then, steps are left out that it can
//! do without ([`check::thin`]).

use base::Limit;
use check::thin::{End, thin};
use check::{Exploration, Goal, Stop, parallel};
use model::{ActionSystem, Run};

use super::states::{Lead, find};
use crate::clock::Clock;
use crate::options::{Options, Order};

/// So many states are always looked at, and a share of those that the search has found.
const SOME: u64 = 5_000;
const SHARE: u64 = 4;

/// Steps are left out of a run with so many expansions, and a share of the states that the search has found.
const SOME_STEPS: u64 = 20_000;
const SHARE_OF_STEPS: u64 = 2;

/// A run that has more steps is long.
pub(super) const LONG: usize = 12;

/// Looks for shorter runs to all that was found.
pub(super) fn shorten(
    system: &ActionSystem,
    goals: &[Goal],
    found: &mut Exploration,
    options: &Options,
    clock: &Clock<'_>,
) {
    let is_fault = matches!(found.stop, Some(Stop::Fault(..)));
    let is_open = |run: &Option<Run>| run.is_some() || is_fault;
    let wanted: Vec<Goal> =
        goals.iter().zip(&found.violations).filter(|(_, run)| is_open(run)).map(|(goal, _)| *goal).collect();
    if wanted.is_empty() && !is_fault || options.order() == Order::Dfs {
        return;
    }
    let n_states = found.stats.states;
    let all = clock.part(0.5);
    let clock = all.at_most(SOME + n_states / SHARE);
    let full = parallel::bfs(system, &wanted, &mut clock.budget());
    // Processes that search together do so breadth first alone.
    let is_cut = matches!(full.stop, Some(Stop::Limit(Limit::States(_)))) && !clock.goes_by_rounds();
    let work = SOME_STEPS + n_states / SHARE_OF_STEPS;
    let leave_out = |run: &mut Run, end: End| {
        if is_cut && run.actions.len() > LONG {
            thin(system, run, end, work, &mut all.budget()).into_iter().for_each(|new| *run = new);
        }
    };
    let open = found.violations.iter_mut().filter(|run| is_open(run));
    for ((old, new), &goal) in open.zip(full.violations).zip(&wanted) {
        let Some(old) = old else { continue };
        match new {
            Some(new) => replace(old, new),
            None if is_cut => {
                approach(system, goal, old, options, &clock);
                leave_out(old, End::Goal(goal));
            }
            None => {}
        }
    }
    match (&mut found.stop, full.stop) {
        (Some(Stop::Fault(old_error, old)), Some(Stop::Fault(error, new)))
            if new.actions.len() < old.actions.len() =>
        {
            (*old_error, *old) = (error, new);
        }
        (Some(Stop::Fault(error, run)), _) => leave_out(run, End::Fault(*error)),
        _ => {}
    }
}

fn replace(old: &mut Run, new: Run) {
    if new.actions.len() < old.actions.len() {
        *old = new;
    }
}

/// Looks for a shorter run to what is too far away for a breadth-first search. It need not be a shortest.
fn approach(system: &ActionSystem, goal: Goal, run: &mut Run, options: &Options, clock: &Clock<'_>) {
    if run.actions.len() > LONG
        && let Ok((near, _)) = find(system, goal, Lead::Distance, options, clock)
        && let Some(new) = near.violations.into_iter().flatten().next()
    {
        replace(run, new);
    }
}
