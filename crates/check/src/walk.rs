//! A single run, extended and taken back step by step: what a simulator does.

use base::{Budget, Progress};
use model::{ActionId, Run, StepError, System};
use rustc_hash::FxHashMap;

/// A run with all its states, and a position in it.
///
/// Going back keeps what lies ahead, until another step is taken.
pub struct Walk<'a, S: System> {
    system: &'a S,
    scratch: S::Scratch,
    initial: usize,
    /// `states[i]` is the state after `actions[..i]`.
    states: Vec<Vec<u32>>,
    actions: Vec<ActionId>,
    position: usize,
}

impl<'a, S: System> Walk<'a, S> {
    /// A run that stands in an initial state; `None` if there is no such initial state.
    pub fn new(system: &'a S, initial: usize) -> Option<Walk<'a, S>> {
        let mut states = Vec::new();
        system.initial_states(&mut states);
        let state = states.chunks_exact(system.width()).nth(initial)?.to_vec();
        let scratch = system.new_scratch();
        Some(Walk { system, scratch, initial, states: vec![state], actions: Vec::new(), position: 0 })
    }

    /// The current state.
    pub fn state(&self) -> &[u32] {
        &self.states[self.position]
    }

    /// Number of steps taken to the current state.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Number of steps of the whole run, those ahead of the current state included.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        // A state, the vector around it, and an action.
        (self.states.len() * (4 * self.system.width() + 28)) as u64
    }

    /// Whether no step was taken.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// The actions enabled in the current state, in their own order.
    pub fn choices(&mut self) -> Result<Vec<ActionId>, StepError> {
        let mut choices = Vec::new();
        self.system.enabled(&self.states[self.position], &mut self.scratch, &mut choices)?;
        choices.sort_unstable();
        Ok(choices)
    }

    /// The state that an enabled action would lead to.
    pub fn peek(&mut self, action: ActionId) -> Result<Vec<u32>, StepError> {
        let mut state = self.state().to_vec();
        self.system.fire(&mut state, action, &mut self.scratch)?;
        Ok(state)
    }

    /// Takes a step. What lay ahead is forgotten, unless it is the same step.
    pub fn step(&mut self, action: ActionId) -> Result<(), StepError> {
        if self.actions.get(self.position) != Some(&action) {
            let state = self.peek(action)?;
            self.actions.truncate(self.position);
            self.states.truncate(self.position + 1);
            self.actions.push(action);
            self.states.push(state);
        }
        self.position += 1;
        Ok(())
    }

    /// Goes to a position of the run; returns whether the run is that long.
    pub fn go_to(&mut self, position: usize) -> bool {
        let exists = position < self.states.len();
        if exists {
            self.position = position;
        }
        exists
    }

    /// The run up to the current state.
    pub fn run(&self) -> Run {
        Run { initial: self.initial, actions: self.actions[..self.position].to_vec() }
    }
}

/// A run that is continued in some way until it comes back to a state that it was in, or ends: with the
/// number of steps before the cycle. None if that takes long, or the budget is spent first.
///
/// # Errors
/// The model goes wrong.
pub fn to_lasso<S: System>(
    system: &S,
    run: &Run,
    budget: &mut Budget<'_>,
) -> Result<Option<(Run, usize)>, StepError> {
    const MAX_STEPS: usize = 1 << 16;
    let Some(mut walk) = Walk::new(system, run.initial) else { return Ok(None) };
    let mut seen: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
    let mut given = run.actions.iter();
    loop {
        // States are kept twice, and with something around them.
        let progress = Progress { bytes: 3 * walk.bytes(), ..Progress::default() };
        if budget.poll(&progress).is_err() || walk.position() > run.actions.len() + MAX_STEPS {
            return Ok(None);
        }
        if let Some(&action) = given.next() {
            walk.step(action)?;
            continue;
        }
        if let Some(before) = seen.insert(walk.state().to_vec(), walk.position()) {
            return Ok(Some((walk.run(), before)));
        }
        match walk.choices()?.first() {
            Some(&action) => walk.step(action)?,
            None => return Ok(Some((walk.run(), walk.position()))),
        }
    }
}
