//! The search of states for several workers: from the first state to the answer.
//!
//! One worker begins, as if it were alone ([`bfs`](crate::search::bfs), [`mixed`](crate::search::mixed)), so that small models
//! cost nothing more. From some number of states on, all go on together in [rounds](super::rounds), over a store
//! in which each state belongs to one of them ([`owned`](crate::store::owned)). When a round brings news, [runs](super::backward) are looked
//! for, and the search goes on with the goals that are left.
//!
//! Of what is found in one round, only that counts which a sequential search would have found, too: before the first
//! state in which the model goes wrong.

use base::{Budget, Limit};
use model::{Run, StepError, System};

use super::backward::{self, Way};
use super::expand::Report;
use super::kept::Kept;
use super::levels::Levels;
use super::posted::Posted;
use super::rounds::{Outcome, Rounds};
use crate::search::bfs::{Begun, begin_by};
use crate::search::frontier::{self, Frontier, actions_along};
use crate::search::{Exploration, Goal, Space, Stop, mixed};
use crate::store::owned::Owned;
use crate::store::{Exact, Sequence as _, StateId, Visited as _};
use crate::{device, distributed};

/// When others join, in states: breadth first, and where the newest states have their turns.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Joins {
    /// Breadth first.
    pub bfs: usize,
    /// From both ends. Later, since a deep error is found by then, if it is found soon.
    pub mixed: usize,
    /// Rounds of fewer states are left to one worker all the same.
    pub few: usize,
}

impl Default for Joins {
    fn default() -> Joins {
        Joins { bfs: 10_000, mixed: 200_000, few: 256 }
    }
}

/// Explores `space` breadth first with the team of the budget.
pub fn bfs<S: Space + Sync>(space: &S, goals: &[Goal], budget: &mut Budget<'_>) -> Exploration {
    bfs_joined(Joins::default(), space, goals, budget)
}

/// Explores `space` with the team of the budget: from both ends, while there are few states.
pub fn mixed<S: Space + Sync>(space: &S, goals: &[Goal], budget: &mut Budget<'_>) -> Exploration {
    mixed_joined(Joins::default(), space, goals, budget)
}

/// The same where others join at another time: for tests.
#[doc(hidden)]
pub fn bfs_joined<S: Space + Sync>(
    joins: Joins,
    space: &S,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> Exploration {
    explore(frontier::tree(), (joins.bfs, joins.few), space, goals, budget)
}

/// Explores `space` breadth first with the team of the budget, and keeps what it found; with other processes, what is here.
pub fn keep<S: Space + Sync>(space: &S, budget: &mut Budget<'_>) -> (Exploration, Kept) {
    if budget.goes_by_rounds() {
        let (exploration, stores) = distributed::keep(space, budget);
        return (exploration, stores.into());
    }
    keep_joined(Joins::default(), space, budget)
}

/// The same where others join at another time: for tests.
#[doc(hidden)]
pub fn keep_joined<S: Space + Sync>(joins: Joins, space: &S, budget: &mut Budget<'_>) -> (Exploration, Kept) {
    search(frontier::tree(), (joins.bfs, joins.few), space, &[], budget)
}

/// The same where others join at another time: for tests.
#[doc(hidden)]
pub fn mixed_joined<S: Space + Sync>(
    joins: Joins,
    space: &S,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> Exploration {
    explore(mixed::ends(), (joins.mixed, joins.few), space, goals, budget)
}

/// On a device, with other processes, or so that the search can be kept, if that is wanted.
fn explore<F: Frontier, S: Space + Sync>(
    frontier: F,
    joins: (usize, usize),
    space: &S,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> Exploration {
    if let (Some(device), Some(what)) = (budget.device(), space.for_device())
        && let Some(exploration) = device::explore(what, goals, device, budget)
    {
        return exploration;
    }
    if budget.goes_by_rounds() {
        return distributed::states(space, goals, budget);
    }
    search(frontier, joins, space, goals, budget).0
}

fn search<F: Frontier, S: Space + Sync>(
    frontier: F,
    (joins, n_few): (usize, usize),
    space: &S,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> (Exploration, Kept) {
    let joins = if budget.team().n_workers() > 1 { joins } else { usize::MAX };
    let mut exact = Exact::new(space.whole().width(), budget.room());
    let begun = match begin_by(frontier, joins, space, &mut exact, goals, budget) {
        Ok(exploration) => return (exploration, exact.into()),
        Err(begun) => begun,
    };
    let mut joined = match Joined::new(begun, &exact, space, goals, n_few, budget) {
        Ok(joined) => joined,
        Err((limit, exploration)) => {
            return (Exploration { stop: Some(Stop::Limit(limit)), ..exploration }, exact.into());
        }
    };
    drop(exact);
    joined.exploration.stop = joined.run(budget);
    joined.finish()
}

/// A search that all workers go on with.
struct Joined<'a, F, S: Space> {
    space: &'a S,
    goals: &'a [Goal],
    store: Owned,
    /// The number of each state that there was when the others joined.
    numbers: Vec<u32>,
    /// How these were found.
    frontier: F,
    roots: Vec<usize>,
    levels: Levels,
    exploration: Exploration,
    /// Depth of the states that were open then.
    depth: u64,
    /// Rounds of fewer states are done by one worker.
    n_few: usize,
}

impl<'a, F: Frontier, S: Space + Sync> Joined<'a, F, S> {
    fn new(
        begun: Begun<F>,
        exact: &Exact,
        space: &'a S,
        goals: &'a [Goal],
        n_few: usize,
        budget: &Budget<'_>,
    ) -> Result<Joined<'a, F, S>, (Limit, Exploration)> {
        let Begun { frontier, roots, exploration, depth } = begun;
        let width = space.whole().width();
        let n_states = exact.n_states() as usize;
        let store = Owned::new(width, budget.team().n_workers(), budget.room());
        let (mut numbers, mut state, mut before) = (vec![0; n_states], vec![0; width], Vec::new());
        // Those that are open come last in their parts, in the order in which they were found.
        for is_open in [false, true] {
            before = store.view().ends();
            for (index, number) in numbers.iter_mut().enumerate() {
                if frontier.is_ahead(StateId::new(index)) == is_open {
                    exact.nth(StateId::new(index), &mut state);
                    let added = store.part(store.part_of(&state)).add(&state, |new, _| *number = new);
                    if let Err(limit) = added {
                        return Err((limit, exploration));
                    }
                }
            }
        }
        let mut levels = Levels::new(store.numbering(), &before);
        levels.push(&store.view().ends());
        Ok(Joined { space, goals, store, numbers, frontier, roots, levels, exploration, depth, n_few })
    }

    fn is_closed(&self, goal: usize) -> bool {
        self.exploration.violations[goal].is_some() || self.exploration.faults[goal].is_some()
    }

    fn run(&mut self, budget: &mut Budget<'_>) -> Option<Stop> {
        loop {
            let closed: Vec<bool> = (0..self.goals.len()).map(|goal| self.is_closed(goal)).collect();
            let depth = self.depth + self.levels.len() as u64 - 1;
            let n_beside = self.frontier.bytes() + 4 * self.numbers.capacity() as u64;
            let stock = Posted::new(&self.store, &mut self.levels, n_beside, budget.room());
            let rounds = Rounds {
                space: self.space,
                stock: &stock,
                goals: self.goals,
                closed: &closed,
                depth,
                n_few: self.n_few,
            };
            let first = stock.last_round(budget.team().n_workers());
            let Outcome { next, report, limit, taken, peak_bytes, .. } = rounds.run(first, budget);
            note(&mut self.exploration, &report, &taken, peak_bytes);
            // Who has no time left looks for nothing more.
            let is_urgent = matches!(limit, Some(Limit::Time | Limit::Interrupt | Limit::Step));
            if report.has_news() && !is_urgent {
                match self.look_into(&report, budget) {
                    Ok(Some(stop)) => return Some(stop),
                    Ok(None) => {}
                    Err(limit) => return Some(Stop::Limit(limit)),
                }
            }
            if !self.goals.is_empty() && (0..self.goals.len()).all(|goal| self.is_closed(goal)) {
                return Some(Stop::AllViolated);
            }
            if let Some(limit) = limit {
                return Some(Stop::Limit(limit));
            }
            next.as_ref()?;
        }
    }

    /// Finds runs to what was found in the last round.
    fn look_into(&mut self, report: &Report, budget: &Budget<'_>) -> Result<Option<Stop>, Limit> {
        let last = self.levels.len() - 1;
        let faults = report.faults.iter().map(|fault| fault.0);
        let first_fault = self.way(last - 1, faults, budget)?;
        for (index, goal) in (0..).zip(self.goals) {
            let violating = report.violations.iter().filter(|violation| violation.0 == index);
            let unclear = report.unclear.iter().filter(|unclear| unclear.0 == index);
            let states = violating.map(|it| it.1).chain(unclear.clone().map(|it| it.1));
            let level = if *goal == Goal::Deadlock { last - 1 } else { last };
            let Some(way) = self.way(level, states, budget)? else { continue };
            // The model goes wrong before that was found.
            if first_fault.as_ref().is_some_and(|fault| fault.is_before(&way)) {
                continue;
            }
            let error: Option<StepError> = unclear.clone().find(|it| it.1 == way.last).map(|it| it.2);
            let run = self.run_of(&way);
            match error {
                None => self.exploration.violations[index as usize] = Some(run),
                Some(error) => self.exploration.faults[index as usize] = Some((error, run)),
            }
        }
        let Some(way) = first_fault else { return Ok(None) };
        if !self.goals.is_empty() && (0..self.goals.len()).all(|goal| self.is_closed(goal)) {
            return Ok(Some(Stop::AllViolated));
        }
        let error = report.faults.iter().find(|fault| fault.0 == way.last).map(|fault| fault.1);
        let run = self.run_of(&way);
        Ok(error.map(|error| Stop::Fault(error, run)))
    }

    /// The first run to one of some states of a level, if there are any.
    fn way(
        &self,
        level: usize,
        states: impl Iterator<Item = u32>,
        budget: &Budget<'_>,
    ) -> Result<Option<Way>, Limit> {
        let mut states = states.peekable();
        match states.peek() {
            None => Ok(None),
            Some(_) => {
                let Joined { space, store, numbers, levels, n_few, .. } = self;
                backward::find(space.whole(), store, (numbers, levels), level, states, *n_few, budget)
            }
        }
    }

    /// The whole run.
    fn run_of(&mut self, way: &Way) -> Run {
        let (root, path) = self.frontier.path_to(StateId::new(way.first));
        let (system, view) = (self.space.whole(), self.store.view());
        let mut actions =
            actions_along(system, root, &path, |id, state| view.get(self.numbers[id.index()], state));
        actions.extend(&way.actions);
        Run { initial: self.roots[root.index()], actions }
    }

    fn finish(mut self) -> (Exploration, Kept) {
        let stats = &mut self.exploration.stats;
        stats.states = self.store.n_states();
        // The last level was not expanded, or is empty.
        stats.depth = self.depth + self.levels.len() as u64 - 2;
        stats.peak_bytes =
            stats.peak_bytes.max(self.store.bytes() + self.levels.bytes() + self.frontier.bytes());
        (self.exploration, self.store.into())
    }
}

/// Notes what was done in some rounds.
pub(super) fn note(exploration: &mut Exploration, report: &Report, taken: &[bool], peak_bytes: u64) {
    let Exploration { stats, taken: all_taken, .. } = exploration;
    stats.transitions += report.transitions;
    stats.deadlocks += report.deadlocks;
    stats.peak_bytes = stats.peak_bytes.max(peak_bytes);
    all_taken.resize(taken.len(), false);
    all_taken.iter_mut().zip(taken).for_each(|(all, one)| *all |= one);
}

impl Way {
    /// Whether a state is expanded before another one, or before that one is found.
    fn is_before(&self, other: &Way) -> bool {
        let n = self.places.len().min(other.places.len());
        (self.first, &self.places[..n]) < (other.first, &other.places[..n])
    }
}
