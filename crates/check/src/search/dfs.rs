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

use super::{Exploration, Extent, Goal, OpenGoals, Space, Stats, Stop};
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
        frames: Paged::new(3),
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
    let taken = system.taken(&search.scratch).to_vec();
    let Search { stats, violations, faults, visited, .. } = search;
    Exploration { stats, violations, faults, stop, coverage: visited.coverage(), taken }
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
    /// For each: the action that led to it, the number of its actions in `pending`, and what is known of these: 0
    /// if they are enough, else how many are left one of which must lead ahead, plus one.
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
                    None if self.lacks_others() => self.take_others(budget)?,
                    None => self.pop(),
                    Some(action) => {
                        target.copy_from_slice(self.states.get(self.states.len() - 1));
                        let fired = self.system.fire(&mut target, action, &mut self.scratch);
                        fired.map_err(|error| self.fault(error))?;
                        self.progress.transitions += 1;
                        let is_new = self.visited.insert(&target)?;
                        self.learn(is_new);
                        if is_new {
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

    /// Told whether the action that was taken last leads to a new state, which will be left before the top one: what
    /// is on the stack does not count, and of other states nobody knows whether they are.
    #[inline]
    fn learn(&mut self, is_new: bool) {
        let top = self.frames.len() - 1;
        let lacking = &mut self.frames.get_mut(top)[2];
        if *lacking > 1 {
            *lacking = if is_new { 0 } else { *lacking - 1 };
        }
    }

    /// Whether the actions of the top frame were not enough.
    fn lacks_others(&self) -> bool {
        self.frames.get(self.frames.len() - 1)[2] > 0
    }

    /// Gives all actions to the top frame, as some are not enough: those that were taken are taken once more.
    fn take_others(&mut self, budget: &Budget<'_>) -> Result<(), Stop> {
        let top = self.frames.len() - 1;
        self.enabled.clear();
        let state = self.states.get(top);
        let enabled = self.system.enabled(state, &mut self.scratch, &mut self.enabled);
        enabled.map_err(|error| self.fault(error))?;
        self.add_pending(Extent::Enough, budget)
    }

    /// Makes what was listed the pending actions of the top frame.
    fn add_pending(&mut self, extent: Extent, budget: &Budget<'_>) -> Result<(), Stop> {
        for action in self.enabled.iter().rev() {
            let pushed = self.pending.push(&[action.index() as u32]);
            pushed.map_err(|OutOfMemory| Stop::Limit(Limit::Memory(budget.max_bytes)))?;
        }
        let top = self.frames.len() - 1;
        let frame = self.frames.get_mut(top);
        frame[1] = self.enabled.len() as u32;
        frame[2] = match extent {
            Extent::Enough => 0,
            Extent::IfAhead(n_first) => n_first as u32 + 1,
        };
        Ok(())
    }

    /// Enters a new state.
    fn push(&mut self, state: &[u32], action: ActionId, budget: &mut Budget<'_>) -> Result<(), Stop> {
        let out_of_memory = |OutOfMemory| Stop::Limit(Limit::OutOfMemory);
        self.states.push(state).map_err(out_of_memory)?;
        self.frames.push(&[action.index() as u32, 0, 0]).map_err(out_of_memory)?;
        self.enabled.clear();
        let Search { space, choice, scratch, .. } = self;
        let enabled = space.actions(state, choice, scratch, &mut self.enabled);
        let extent = enabled.map_err(|error| self.fault(error))?;
        self.add_pending(extent, budget)?;
        self.progress.depth = self.progress.depth.max(self.frames.len() as u64 - 1);
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
