//! Breadth-first search: every state is found by a shortest run.
//!
//! # Idea
//! States are numbered as they are found, and expanded in the order of their numbers: over an
//! exact store, the numbers not yet expanded are the queue, and there is no other. For the same
//! reason the parents of states 0, 1, 2, … never decrease, so the search tree is stored as a
//! string of bits: a 1 for each state expanded, a 0 for each state found. That is two bits per
//! state; runs are read off it backward.
//!
//! # Requirements and limits
//! Any [`Store`]. Over one that does not retain its states ([`Queue`](crate::store::Queue)), the
//! action that found each state is kept too (4 bytes), since the run cannot be searched for again.

use base::{Budget, Limit, Progress};
use model::{ActionId, Run, StepError, Steps, System};

use super::{Exploration, Goal, OpenGoals, Stats, Stop};
use crate::paged::{OutOfMemory, Paged};
use crate::store::{StateId, Store};

/// Explores `system` from its initial states, using an empty store.
pub fn search<S: System, St: Store>(
    system: &S,
    store: &mut St,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> Exploration {
    let mut search = Search {
        system,
        store,
        scratch: system.new_scratch(),
        tree: Tree::new(St::RETAINS),
        goals: OpenGoals::new(goals),
        violating: vec![None; goals.len()],
        stats: Stats::default(),
        progress: Progress::default(),
    };
    let stop = search.run(budget).err();
    search.finish(stop)
}

/// Why the main loop ends early; a fault happened in or behind the state.
enum End {
    AllViolated,
    Limit(Limit),
    Fault(StepError, StateId),
}

impl From<Limit> for End {
    fn from(limit: Limit) -> End {
        End::Limit(limit)
    }
}

struct Search<'a, S: System, St: Store> {
    system: &'a S,
    store: &'a mut St,
    scratch: S::Scratch,
    tree: Tree,
    goals: OpenGoals<'a>,
    /// Per goal, the first state that violates it.
    violating: Vec<Option<StateId>>,
    stats: Stats,
    progress: Progress,
}

impl<S: System, St: Store> Search<'_, S, St> {
    fn run(&mut self, budget: &mut Budget<'_>) -> Result<(), End> {
        let width = self.system.width();
        let mut state = vec![0; width];
        let mut steps = Steps::new(width);
        let mut new = Vec::new();
        self.add_initial_states(width)?;
        self.poll(budget, 0)?;
        // Expanding the state of this number begins the next level.
        let mut next_level = self.store.n_states();
        let mut expanded = 0u64;
        while expanded < self.store.n_states() {
            if expanded == next_level {
                next_level = self.store.n_states();
                self.progress.depth += 1;
            }
            let id = StateId::new(expanded as usize);
            self.store.get(id, &mut state);
            steps.clear();
            let successors = self.system.successors(&state, &mut self.scratch, &mut steps);
            successors.map_err(|error| End::Fault(error, id))?;
            expanded += 1;
            self.store.release(StateId::new(expanded as usize));
            self.progress.transitions += steps.len() as u64;
            self.tree.expand()?;
            if steps.is_empty() {
                self.stats.deadlocks += 1;
                self.goals.deadlock(|goal| self.violating[goal] = Some(id));
            }
            let first_new = self.store.n_states();
            new.clear();
            self.store.insert_all(steps.targets(), width, |index| new.push(index))?;
            for (offset, &index) in new.iter().enumerate() {
                self.tree.find(steps.actions()[index])?;
                self.look_at(StateId::new(first_new as usize + offset), steps.target(index))?;
            }
            if self.goals.all_violated() {
                return Err(End::AllViolated);
            }
            self.poll(budget, expanded)?;
        }
        Ok(())
    }

    fn add_initial_states(&mut self, width: usize) -> Result<(), End> {
        let mut states = Vec::new();
        self.system.initial_states(&mut states);
        for (index, state) in states.chunks_exact(width).enumerate() {
            let (id, is_new) = self.store.insert_id(state)?;
            if is_new {
                self.tree.roots.push(index);
                self.tree.find(ActionId::new(0))?;
                self.look_at(id, state)?;
            }
        }
        if self.goals.all_violated() { Err(End::AllViolated) } else { Ok(()) }
    }

    fn look_at(&mut self, id: StateId, state: &[u32]) -> Result<(), End> {
        let violating = &mut self.violating;
        self.goals
            .look_at(self.system, state, &mut self.scratch, |goal| violating[goal] = Some(id))
            .map_err(|error| End::Fault(error, id))
    }

    #[inline]
    fn poll(&mut self, budget: &mut Budget<'_>, expanded: u64) -> Result<(), Limit> {
        self.progress.states = self.store.n_states();
        self.progress.pending = self.progress.states - expanded;
        self.progress.bytes = self.store.bytes() + self.tree.bytes();
        self.stats.peak_bytes = self.stats.peak_bytes.max(self.progress.bytes);
        budget.poll(&self.progress)
    }

    fn finish(mut self, end: Option<End>) -> Exploration {
        self.progress.states = self.store.n_states();
        self.stats.record(&self.progress);
        let violations = std::mem::take(&mut self.violating);
        let violations = violations.into_iter().map(|id| Some(self.run_to(id?))).collect();
        let stop = end.map(|end| match end {
            End::AllViolated => Stop::AllViolated,
            End::Limit(limit) => Stop::Limit(limit),
            End::Fault(error, id) => Stop::Fault(error, self.run_to(id)),
        });
        Exploration { stats: self.stats, violations, stop, coverage: self.store.coverage() }
    }

    /// A shortest run to a state.
    fn run_to(&mut self, id: StateId) -> Run {
        let (root, path) = self.tree.path_to(id);
        let actions = match &self.tree.actions {
            Some(actions) => {
                path.iter().map(|id| ActionId::new(actions.get(id.index())[0] as usize)).collect()
            }
            None => self.actions_along(root, &path),
        };
        Run { initial: self.tree.roots[root.index()], actions }
    }

    /// The actions between neighbors on a path from `from`, found again by expanding its states.
    fn actions_along(&mut self, from: StateId, path: &[StateId]) -> Vec<ActionId> {
        let width = self.system.width();
        let (mut state, mut target) = (vec![0; width], vec![0; width]);
        let mut steps = Steps::new(width);
        self.store.get(from, &mut state);
        let mut actions = Vec::with_capacity(path.len());
        for &id in path {
            self.store.get(id, &mut target);
            steps.clear();
            // These states were expanded before, and one of the steps led on. A reduced system may
            // choose other steps this time, so all are looked at; faults of others do not matter.
            _ = self.system.all_successors(&state, &mut self.scratch, &mut steps);
            actions.extend(steps.iter().find(|step| step.1 == target).map(|step| step.0));
            std::mem::swap(&mut state, &mut target);
        }
        debug_assert_eq!(actions.len(), path.len());
        actions
    }
}

/// The search tree.
struct Tree {
    /// A 1 for each state expanded, a 0 for each state found, in the order of events.
    bits: Paged,
    n_bits: usize,
    /// For each state, the action that found it, if that cannot be found out later.
    actions: Option<Paged>,
    /// For each of the first states, which initial state it is.
    roots: Vec<usize>,
}

impl Tree {
    fn new(retains: bool) -> Tree {
        Tree { bits: Paged::new(1), n_bits: 0, actions: (!retains).then(|| Paged::new(1)), roots: Vec::new() }
    }

    fn bytes(&self) -> u64 {
        self.bits.bytes() + self.actions.as_ref().map_or(0, Paged::bytes)
    }

    #[inline]
    fn push(&mut self, bit: u32) -> Result<(), OutOfMemory> {
        if self.n_bits.is_multiple_of(32) {
            self.bits.push(&[bit])?;
        } else {
            self.bits.get_mut(self.n_bits / 32)[0] |= bit << (self.n_bits % 32);
        }
        self.n_bits += 1;
        Ok(())
    }

    #[inline]
    fn expand(&mut self) -> Result<(), Limit> {
        self.push(1).map_err(|error| self.limit(error))
    }

    #[inline]
    fn find(&mut self, action: ActionId) -> Result<(), Limit> {
        self.push(0).map_err(|error| self.limit(error))?;
        match &mut self.actions {
            Some(actions) => actions.push(&[action.index() as u32]).map_err(|error| self.limit(error)),
            None => Ok(()),
        }
    }

    #[cold]
    fn limit(&self, OutOfMemory: OutOfMemory) -> Limit {
        Limit::Memory(self.bytes())
    }

    /// The root of the tree that `id` is in, and the states after it on the way to `id`.
    fn path_to(&self, id: StateId) -> (StateId, Vec<StateId>) {
        let mut path = Vec::new();
        let mut wanted = id.index();
        let bit = |at: usize| self.bits.get(at / 32)[0] >> (at % 32) & 1;
        let mut ones = (0..self.n_bits).filter(|&at| bit(at) == 1).count();
        let mut zeros = self.n_bits - ones;
        for at in (0..self.n_bits).rev() {
            if bit(at) == 1 {
                ones -= 1;
                continue;
            }
            zeros -= 1;
            if zeros == wanted {
                if ones == 0 {
                    break; // Found before anything was expanded: a root.
                }
                path.push(StateId::new(wanted));
                wanted = ones - 1;
            }
        }
        path.reverse();
        (StateId::new(wanted), path)
    }
}
