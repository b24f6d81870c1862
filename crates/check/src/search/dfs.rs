//! Depth-first search with an explicit stack.
//!
//! # Idea
//! A frame of the stack is a state, the action that led to it, and the enabled actions not yet
//! tried. Each action is fired once, when its turn comes. Frames are kept in pages, so that a path
//! of ten million steps is no problem.
//!
//! # Requirements and limits
//! Any [`Visited`] set: states are on the stack, so they need not be got back. The runs found are
//! the paths on the stack, and may be much longer than necessary.

use base::{Budget, Limit, Progress};
use model::{ActionId, Run, StepError, System};

use super::{Exploration, Goal, OpenGoals, Space, Stats, Stop};
use crate::paged::{OutOfMemory, Paged};
use crate::store::Visited;

/// Explores `space` from its initial states, using an empty set.
pub fn search<S: Space, V: Visited>(
    space: &S,
    visited: &mut V,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> Exploration {
    let system = space.whole();
    let mut search = Search {
        space,
        system,
        visited,
        scratch: system.new_scratch(),
        choice: space.new_choice(),
        initial: 0,
        states: Paged::new(system.width()),
        frames: Paged::new(2),
        pending: Paged::new(1),
        goals: OpenGoals::new(goals),
        violations: vec![None; goals.len()],
        faults: vec![None; goals.len()],
        enabled: Vec::new(),
        stats: Stats::default(),
        progress: Progress::default(),
    };
    let stop = search.run(budget).err();
    search.progress.states = search.visited.n_states();
    search.stats.record(&search.progress);
    let Search { stats, violations, faults, visited, .. } = search;
    Exploration { stats, violations, faults, stop, coverage: visited.coverage() }
}

struct Search<'a, S: Space, V: Visited> {
    space: &'a S,
    system: &'a S::Whole,
    visited: &'a mut V,
    scratch: <S::Whole as System>::Scratch,
    choice: S::Choice,
    /// Which initial state is at the bottom of the stack.
    initial: usize,
    /// The states on the stack.
    states: Paged,
    /// For each: the action that led to it, and the number of its actions in `pending`.
    frames: Paged,
    /// The actions still to be tried, frame by frame, each frame's first action last.
    pending: Paged,
    goals: OpenGoals<'a>,
    violations: Vec<Option<Run>>,
    faults: Vec<Option<(StepError, Run)>>,
    enabled: Vec<ActionId>,
    stats: Stats,
    progress: Progress,
}

impl<S: Space, V: Visited> Search<'_, S, V> {
    fn run(&mut self, budget: &mut Budget<'_>) -> Result<(), Stop> {
        let width = self.system.width();
        let mut initial = Vec::new();
        self.system.initial_states(&mut initial);
        let mut target = vec![0; width];
        for (index, state) in initial.chunks_exact(width).enumerate() {
            self.initial = index;
            if self.visited.insert(state)? {
                self.push(state, ActionId::new(0), budget)?;
            }
            while !self.frames.is_empty() {
                match self.next_action() {
                    None => self.pop(),
                    Some(action) => {
                        target.copy_from_slice(self.states.get(self.states.len() - 1));
                        let fired = self.system.fire(&mut target, action, &mut self.scratch);
                        fired.map_err(|error| self.fault(error))?;
                        self.progress.transitions += 1;
                        if self.visited.insert(&target)? {
                            self.push(&target, action, budget)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes the next action of the top frame.
    #[inline]
    fn next_action(&mut self) -> Option<ActionId> {
        let top = self.frames.len() - 1;
        let n_pending = &mut self.frames.get_mut(top)[1];
        *n_pending = n_pending.checked_sub(1)?;
        let action = self.pending.get(self.pending.len() - 1)[0];
        self.pending.pop();
        Some(ActionId::new(action as usize))
    }

    /// Enters a new state.
    fn push(&mut self, state: &[u32], action: ActionId, budget: &mut Budget<'_>) -> Result<(), Stop> {
        let out_of_memory = |OutOfMemory| Stop::Limit(Limit::OutOfMemory);
        self.states.push(state).map_err(out_of_memory)?;
        self.frames.push(&[action.index() as u32, 0]).map_err(out_of_memory)?;
        self.enabled.clear();
        let Search { space, choice, scratch, .. } = self;
        let enabled = space.actions(state, choice, scratch, &mut self.enabled);
        enabled.map_err(|error| self.fault(error))?;
        for action in self.enabled.iter().rev() {
            self.pending.push(&[action.index() as u32]).map_err(out_of_memory)?;
        }
        let top = self.frames.len() - 1;
        self.frames.get_mut(top)[1] = self.enabled.len() as u32;
        self.progress.depth = self.progress.depth.max(top as u64);
        self.look_at(state)?;
        self.progress.states = self.visited.n_states();
        self.progress.pending = self.pending.len() as u64;
        self.progress.bytes =
            self.visited.bytes() + self.states.bytes() + self.frames.bytes() + self.pending.bytes();
        self.stats.peak_bytes = self.stats.peak_bytes.max(self.progress.bytes);
        Ok(budget.poll(&self.progress)?)
    }

    /// Checks the goals in the state on top of the stack.
    fn look_at(&mut self, state: &[u32]) -> Result<(), Stop> {
        let mut found = Vec::new();
        self.goals.look_at(self.system, state, &mut self.scratch, |goal, error| found.push((goal, error)));
        if self.enabled.is_empty() {
            self.stats.deadlocks += 1;
            self.goals.deadlock(|goal| found.push((goal, None)));
        }
        for (goal, error) in found {
            match error {
                None => self.violations[goal] = Some(self.current_run()),
                Some(error) => self.faults[goal] = Some((error, self.current_run())),
            }
        }
        if self.goals.all_closed() { Err(Stop::AllViolated) } else { Ok(()) }
    }

    fn pop(&mut self) {
        self.states.pop();
        self.frames.pop();
    }

    /// The run on the stack.
    fn current_run(&self) -> Run {
        let actions = (1..self.frames.len()).map(|at| ActionId::new(self.frames.get(at)[0] as usize));
        Run { initial: self.initial, actions: actions.collect() }
    }

    fn fault(&self, error: StepError) -> Stop {
        Stop::trouble(error, || self.current_run())
    }
}
