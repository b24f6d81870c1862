//! Breadth-first search: every state is found by a shortest run.
//!
//! # Idea
//! States are numbered as they are found, and expanded in the order of their numbers: over an
//! exact store, the numbers not yet expanded are the queue, and there is no other. The search tree takes two bits per
//! state (`frontier`).
//!
//! # Requirements and limits
//! Any [`Sequence`], since numbers must come in the order in which states are found. Over one that does not
//! retain its states ([`Queue`](crate::store::Queue)), the action that found each state is kept too (4
//! bytes), since the run cannot be searched for again.
//! All successors of a state are generated at once, unless states are so wide that this would
//! take much memory; then a few at a time.

use std::ops::Range;

use base::{Budget, Limit, Progress};
use model::{ActionId, Run, StepError, Steps, System};

use super::batch::Batch;
use super::frontier::{Frontier, Tree, actions_along};
use super::sample::Sample;
use super::{Exploration, Extent, Goal, OpenGoals, Space, Stats, Stop};
use crate::store::{Sequence, StateId};

/// Explores `space` from its initial states, using an empty store.
pub fn search<S: Space, St: Sequence>(
    space: &S,
    store: &mut St,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> Exploration {
    search_by(Tree::new(St::RETAINS), space, store, goals, budget)
}

/// Explores `space` in the order of a frontier.
pub(super) fn search_by<F: Frontier, S: Space, St: Sequence>(
    frontier: F,
    space: &S,
    store: &mut St,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> Exploration {
    let mut search = Search::new(frontier, space, store, goals);
    let end = search.run(usize::MAX, budget).err();
    search.finish(end)
}

/// A search that others go on with.
pub(crate) struct Begun<F> {
    pub(crate) frontier: F,
    /// For each of the first states, which initial state it is.
    pub(crate) roots: Vec<usize>,
    /// What was found so far.
    pub(crate) exploration: Exploration,
    /// How many steps lead to the states that are to be expanded.
    pub(crate) depth: u64,
}

/// The same, unless others may go on after so many states.
pub(crate) fn begin_by<F: Frontier, S: Space, St: Sequence>(
    frontier: F,
    after: usize,
    space: &S,
    store: &mut St,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> Result<Exploration, Begun<F>> {
    let mut search = Search::new(frontier, space, store, goals);
    match search.run(after, budget) {
        Err(End::HandedOver) => {
            let exploration = search.explored(None);
            let depth = if search.frontier.n_taken() == 0 { 0 } else { search.frontier.depth() + 1 };
            Err(Begun { frontier: search.frontier, roots: search.roots, exploration, depth })
        }
        end => Ok(search.finish(end.err())),
    }
}

/// What a search without runs has found.
pub struct Reached {
    /// Per goal: that it is violated, or why it could not be evaluated somewhere.
    pub goals: Vec<Option<Result<(), StepError>>>,
    /// Whether all states were seen, or nothing was left to look for.
    pub is_complete: bool,
    /// How the model went wrong, if it did.
    pub fault: Option<StepError>,
}

/// The same without runs, which may take longer to read off the tree than the search, if there are many goals.
pub fn reach<S: Space, St: Sequence>(
    space: &S,
    store: &mut St,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> Reached {
    let mut search = Search::new(Tree::new(St::RETAINS), space, store, goals);
    let end = search.run(usize::MAX, budget).err();
    let fault = match end {
        Some(End::Fault(error, _)) => Some(error),
        _ => None,
    };
    let reached = |closing: &Option<(StateId, Option<StepError>)>| {
        closing.as_ref().map(|(_, error)| error.map_or(Ok(()), Err))
    };
    Reached {
        goals: search.closing.iter().map(reached).collect(),
        is_complete: matches!(end, None | Some(End::AllViolated)),
        fault,
    }
}

/// States of more words than this are expanded in parts, of about so many words.
const WIDE: usize = 128;
const PART: usize = 1 << 20;

/// Why the main loop ends early; a fault happened in or behind the state.
enum End {
    AllViolated,
    HandedOver,
    Limit(Limit),
    Fault(StepError, StateId),
}

impl From<Limit> for End {
    fn from(limit: Limit) -> End {
        End::Limit(limit)
    }
}

struct Search<'a, F, S: Space, St: Sequence> {
    space: &'a S,
    system: &'a S::Whole,
    store: &'a mut St,
    scratch: <S::Whole as System>::Scratch,
    choice: S::Choice,
    steps: Steps,
    /// Whose steps these are, if several states were expanded at once.
    batch: Batch,
    /// Which of the steps lead to new states.
    new: Vec<usize>,
    /// Actions, one by one.
    enabled: Vec<ActionId>,
    frontier: F,
    sample: Sample,
    /// For each of the first states, which initial state it is.
    roots: Vec<usize>,
    goals: OpenGoals<'a>,
    /// Per goal, the first state that violates it, or where it cannot be evaluated.
    closing: Vec<Option<(StateId, Option<StepError>)>>,
    stats: Stats,
    progress: Progress,
}

impl<'a, F: Frontier, S: Space, St: Sequence> Search<'a, F, S, St> {
    fn new(frontier: F, space: &'a S, store: &'a mut St, goals: &'a [Goal]) -> Search<'a, F, S, St> {
        Search {
            space,
            system: space.whole(),
            store,
            scratch: space.whole().new_scratch(),
            choice: space.new_choice(),
            steps: Steps::new(space.whole().width()),
            batch: Batch::default(),
            new: Vec::new(),
            enabled: Vec::new(),
            frontier,
            sample: Sample::default(),
            roots: Vec::new(),
            goals: OpenGoals::new(goals),
            closing: vec![None; goals.len()],
            stats: Stats::default(),
            progress: Progress::default(),
        }
    }

    /// Explores everything, unless others may go on after so many states.
    fn run(&mut self, hands_over: usize, budget: &mut Budget<'_>) -> Result<(), End> {
        let width = self.system.width();
        let mut state = vec![0; width];
        self.add_initial_states(width)?;
        self.poll(budget)?;
        loop {
            // For a moment, there are two stores then.
            if self.frontier.may_hand_over(hands_over) && budget.room().fits(3 * self.store.bytes()).is_ok() {
                return Err(End::HandedOver);
            }
            let Some(id) = self.frontier.take()? else { return Ok(()) };
            self.store.nth(id, &mut state);
            self.store.release(StateId::new(id.index() + 1));
            let n_steps = if width <= WIDE {
                self.expand(id, &state, budget.max_states)?
            } else {
                self.expand_in_parts(id, &state, budget)?
            };
            self.progress.transitions += n_steps as u64;
            if n_steps == 0 {
                self.stats.deadlocks += 1;
                let closing = &mut self.closing;
                self.goals.deadlock(|goal| closing[goal] = Some((id, None)));
            }
            if self.goals.all_closed() {
                return Err(End::AllViolated);
            }
            self.poll(budget)?;
        }
    }

    /// Expands a state; returns how many steps were taken.
    fn expand(&mut self, id: StateId, state: &[u32], max_states: u64) -> Result<usize, End> {
        let fault = |error| End::Fault(error, id);
        if self.batch.steps_of(id).is_none() {
            let Search { space, frontier, store, choice, scratch, steps, batch, .. } = self;
            batch.fill(id, (*space, &*frontier), &mut **store, (choice, scratch), steps);
        }
        if let Some(steps) = self.batch.steps_of(id) {
            self.add_targets(steps.clone(), max_states)?;
            return Ok(steps.len());
        }
        self.steps.clear();
        let Search { space, choice, scratch, steps, .. } = self;
        let extent = space.steps(state, choice, scratch, steps).map_err(fault)?;
        self.add_targets(0..self.steps.len(), max_states)?;
        let is_enough = match extent {
            Extent::Enough => true,
            Extent::IfAhead(n_first) => self.leads_ahead(n_first),
        };
        if !is_enough {
            let Search { space, choice, scratch, steps, enabled, system, .. } = self;
            enabled.clear();
            space.others(choice, enabled);
            let n_taken = steps.len();
            for &action in &*enabled {
                system.fire(steps.push(action, state), action, scratch).map_err(fault)?;
            }
            self.add_targets(n_taken..self.steps.len(), max_states)?;
        }
        let n_taken = self.frontier.n_taken();
        if Sample::is_due(n_taken) {
            let Search { space, choice, scratch, store, sample, .. } = self;
            sample.look(*space, &**store, choice, (state, is_enough), n_taken, scratch);
        }
        Ok(self.steps.len())
    }

    /// The same for a wide state, a few steps at a time.
    fn expand_in_parts(&mut self, id: StateId, state: &[u32], budget: &mut Budget<'_>) -> Result<usize, End> {
        let fault = |error| End::Fault(error, id);
        let mut enabled = std::mem::take(&mut self.enabled);
        enabled.clear();
        let Search { space, choice, scratch, .. } = self;
        let extent = space.actions(state, choice, scratch, &mut enabled).map_err(fault)?;
        let (mut n_taken, mut n_wanted) = (0, enabled.len());
        let mut n_first = match extent {
            Extent::Enough => 0,
            Extent::IfAhead(n_first) => n_first,
        };
        let mut leads_ahead = extent == Extent::Enough;
        let size = (PART / state.len()).max(1);
        while n_taken < n_wanted {
            self.steps.clear();
            let part = &enabled[n_taken..n_wanted.min(n_taken + size)];
            for &action in part {
                let Search { system, steps, scratch, .. } = self;
                system.fire(steps.push(action, state), action, scratch).map_err(fault)?;
            }
            self.add_targets(0..self.steps.len(), budget.max_states)?;
            leads_ahead = leads_ahead || self.leads_ahead(n_first.min(part.len()));
            n_first = n_first.saturating_sub(part.len());
            n_taken += part.len();
            if n_taken == n_wanted && !leads_ahead {
                self.space.others(&self.choice, &mut enabled);
                (n_wanted, leads_ahead) = (enabled.len(), true);
            }
            self.poll(budget)?;
        }
        self.enabled = enabled;
        Ok(n_taken)
    }

    /// Whether one of the first of `self.steps`, all of which were stored, leads to a state that is expanded after
    /// this one.
    fn leads_ahead(&self, n_first: usize) -> bool {
        let is_ahead = |index: usize| {
            let number = self.store.number(self.steps.target(index));
            number.is_some_and(|number| self.frontier.is_ahead(number))
        };
        self.new.first().is_some_and(|&index| index < n_first) || (0..n_first).any(is_ahead)
    }

    /// Stores the targets of some of `self.steps`, and looks at those that are new.
    fn add_targets(&mut self, some: Range<usize>, max_states: u64) -> Result<(), End> {
        let width = self.system.width();
        let first_new = self.store.n_states();
        self.new.clear();
        let new = &mut self.new;
        if first_new + some.len() as u64 <= max_states {
            let targets = &self.steps.targets()[some.start * width..some.end * width];
            let found = |index| new.push(some.start + index);
            if self.batch.is_expected() {
                self.store.insert_expected(targets, width, some.start, found)?;
            } else {
                self.store.insert_all(targets, width, found)?;
            }
        } else {
            // Near the limit one by one, so that it is not passed by more than the state that shows
            // that there are more.
            for (index, (_, target)) in self.steps.iter().enumerate().take(some.end).skip(some.start) {
                if self.store.n_states() <= max_states && self.store.insert(target)? {
                    new.push(index);
                }
            }
        }
        for (offset, &index) in self.new.iter().enumerate() {
            self.frontier.find(self.steps.actions()[index], self.steps.target(index))?;
            let id = StateId::new(first_new as usize + offset);
            let closing = &mut self.closing;
            self.goals.look_at(self.system, self.steps.target(index), &mut self.scratch, |goal, error| {
                closing[goal] = Some((id, error));
            });
        }
        Ok(())
    }

    fn add_initial_states(&mut self, width: usize) -> Result<(), End> {
        let mut states = Vec::new();
        self.system.initial_states(&mut states);
        for (index, state) in states.chunks_exact(width).enumerate() {
            let id = StateId::new(self.store.n_states() as usize);
            if self.store.insert(state)? {
                self.roots.push(index);
                self.frontier.find(ActionId::new(0), state)?;
                let closing = &mut self.closing;
                let found = |goal, error| closing[goal] = Some((id, error));
                self.goals.look_at(self.system, state, &mut self.scratch, found);
            }
        }
        if self.goals.all_closed() { Err(End::AllViolated) } else { Ok(()) }
    }

    #[inline]
    fn poll(&mut self, budget: &mut Budget<'_>) -> Result<(), Limit> {
        self.progress.states = self.store.n_states();
        self.progress.pending = self.progress.states - self.frontier.n_taken();
        self.progress.depth = self.frontier.depth();
        self.progress.bytes = self.store.bytes() + self.frontier.bytes();
        self.stats.peak_bytes = self.stats.peak_bytes.max(self.progress.bytes);
        budget.poll(&self.progress)
    }

    fn finish(mut self, end: Option<End>) -> Exploration {
        self.explored(end)
    }

    /// What was found, and why the search ended.
    fn explored(&mut self, end: Option<End>) -> Exploration {
        self.progress.states = self.store.n_states();
        self.progress.depth = self.frontier.depth();
        self.stats.record(&self.progress);
        let mut violations = Vec::new();
        let mut faults = Vec::new();
        for closing in std::mem::take(&mut self.closing) {
            let run = closing.map(|(id, _)| self.run_to(id));
            let error = closing.and_then(|(_, error)| error);
            violations.push(run.clone().filter(|_| error.is_none()));
            faults.push(error.zip(run));
        }
        let stop = end.and_then(|end| match end {
            End::AllViolated => Some(Stop::AllViolated),
            End::Limit(limit) => Some(Stop::Limit(limit)),
            End::Fault(error, id) => Some(Stop::trouble(error, || self.run_to(id))),
            End::HandedOver => None,
        });
        let (coverage, taken) = (self.store.coverage(), self.system.taken(&self.scratch).to_vec());
        Exploration { stats: self.stats, violations, faults, stop, coverage, taken }
    }

    /// The run to a state.
    fn run_to(&mut self, id: StateId) -> Run {
        let (root, path) = self.frontier.path_to(id);
        let known: Option<Vec<ActionId>> = path.iter().map(|&id| self.frontier.action(id)).collect();
        let get = |id, state: &mut [u32]| self.store.nth(id, state);
        let actions = known.unwrap_or_else(|| actions_along(self.system, root, &path, get));
        Run { initial: self.roots[root.index()], actions }
    }
}

#[cfg(test)]
mod tests {
    use model::{Action, ActionSystem, Builder, Guard, Stmt, ValueSet, Variable};

    use super::*;
    use crate::reduced::Reduced;
    use crate::store::Exact;

    /// Counts to 600, by either of two actions; then *p* happens, and one of *q* and *r*, in any order; then it
    /// counts on.
    fn counter(n_more: i64) -> ActionSystem {
        let mut builder = Builder::new();
        let x = builder.variable(Variable::new("x", 0, 600 + n_more));
        let [y, z] = ["y", "z"].map(|name| builder.variable(Variable::new(name, 0, 1)));
        let mut guard = |var, from, to| builder.guard(Guard::In(var, ValueSet::Range(from, to)));
        let (counts, is_there, counts_on) =
            (guard(x, 0, 599), guard(x, 600, 600), guard(x, 600, 599 + n_more));
        let [[no_y, no_z], [has_y, has_z]] =
            [0, 1].map(|value| [guard(y, value, value), guard(z, value, value)]);
        let steps = [
            ("one", vec![counts], Stmt::Add(x, 1)),
            ("other", vec![counts], Stmt::Add(x, 1)),
            ("q", vec![is_there, no_z], Stmt::set(z, 1)),
            ("r", vec![is_there, no_z], Stmt::set(z, 1)),
            ("p", vec![is_there, no_y], Stmt::set(y, 1)),
            ("one", vec![counts_on, has_y, has_z], Stmt::Add(x, 1)),
            ("other", vec![counts_on, has_y, has_z], Stmt::Add(x, 1)),
        ];
        for (name, guards, effect) in steps {
            let (label, owner) = (builder.label(name), builder.process(name));
            builder.action(Action { label, guards, effect: vec![effect], owners: vec![owner] });
        }
        builder.initial(&[0, 0, 0]);
        builder.finish().unwrap()
    }

    #[test]
    fn a_run_is_found_again_though_other_steps_would_be_chosen_now() {
        // After many states without success, stubborn sets are looked for in every eighth state only.
        for n_more in 1..20 {
            let system = counter(n_more);
            let mut store = Exact::new(system.width(), u64::MAX);
            let reduced = Reduced::for_deadlocks(&system, &mut Budget::unlimited()).unwrap();
            let found = search(&reduced, &mut store, &[Goal::Deadlock], &mut Budget::unlimited());
            let run = found.violations[0].as_ref().unwrap();
            assert_eq!(run.actions.len() as i64, 602 + n_more);
        }
    }

    #[test]
    fn without_runs_the_same_is_reached() {
        let mut system = counter(3);
        let (always, never) = (system.exprs.int(1), system.exprs.int(0));
        let always = Goal::Invariant(system.add_proposition("always", always));
        let never = Goal::Invariant(system.add_proposition("never", never));
        for max_states in [1, 100, 602, u64::MAX] {
            for goals in [vec![], vec![always], vec![never, never], vec![never, Goal::Deadlock, always]] {
                let mut stores = [(); 2].map(|()| Exact::new(system.width(), u64::MAX));
                let mut budgets = [(); 2].map(|()| Budget::unlimited());
                budgets.iter_mut().for_each(|budget| budget.max_states = max_states);
                let ran = search(&system, &mut stores[0], &goals, &mut budgets[0]);
                let reached = reach(&system, &mut stores[1], &goals, &mut budgets[1]);
                let found: Vec<_> = ran.violations.iter().map(|run| run.as_ref().map(|_| Ok(()))).collect();
                assert_eq!(found, reached.goals);
                assert_eq!(matches!(ran.stop, None | Some(Stop::AllViolated)), reached.is_complete);
            }
        }
    }
}
