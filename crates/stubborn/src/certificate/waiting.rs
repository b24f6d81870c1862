//! Which steps wait in the states of a certificate, so that fewer states are listed.
//!
//! A depth-first search takes in each state the smallest of the sets that grow from enabled actions, by the rules of the
//! checker itself (`certify::waits`): so whatever it leaves out, the checker leaves out, too. No step may wait for ever. What
//! is known of states alone needs a way from each state to one where nothing waits: of the steps of each, one must lead to a
//! state that is finished or has all of its steps. Runs need such a state on each cycle: so no step may lead back
//! to a state of the path in which something waits (Peled, *Combining partial order reductions with on-the-fly
//! model-checking*, 1996). A state for which this fails gets all of its steps when it is finished.

use base::{Budget, Progress};
use certify::Wait;
use certify::states::States;
use certify::waits::Waits;
use check::Goal;
use model::{ActionId, ActionSystem, ExprId, Steps, System};

use super::Failed;

/// Where steps wait.
pub(super) struct Waiting {
    pub(super) states: States,
    /// Per state.
    pub(super) waits: Vec<Wait>,
}

/// What must not wait for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sought {
    /// A state.
    States,
    /// A run.
    Runs,
}

/// Explores a system, in which these expressions are looked at and these goals must not be met; nothing if it does not pay.
pub(super) fn explore<S: System>(
    runner: &S,
    system: &ActionSystem,
    looked_at: &[ExprId],
    sought: Sought,
    goals: &[Goal],
    budget: &mut Budget<'_>,
) -> Result<Option<Waiting>, Failed> {
    let waits = Waits::new(system, looked_at, budget)?;
    let mut search = Search {
        runner,
        system,
        waits,
        sought,
        goals,
        scratch: runner.new_scratch(),
        out: Steps::new(system.width()),
        values: Vec::new(),
        found: Waiting { states: States::new(system.width()), waits: Vec::new() },
        n_steps: 0,
        n_left_out: 0,
        is_finished: Vec::new(),
        path: Vec::new(),
        targets: Vec::new(),
    };
    Ok(search.run(budget)?.then_some(search.found))
}

struct Search<'s, S: System> {
    runner: &'s S,
    system: &'s ActionSystem,
    waits: Waits<'s>,
    sought: Sought,
    goals: &'s [Goal],
    scratch: S::Scratch,
    out: Steps,
    values: Vec<i64>,
    found: Waiting,
    /// How many steps there were, and how many of them were left out.
    n_steps: u64,
    n_left_out: u64,
    is_finished: Vec<bool>,
    path: Vec<Frame>,
    /// The actions that the steps of the states on the path begin with, and where they lead.
    targets: Vec<(ActionId, u32)>,
}

/// A state on the path: where its targets begin, and which is next.
struct Frame {
    state: u32,
    start: usize,
    next: usize,
}

/// After so many steps, one of so many must have been left out.
const PATIENCE: u64 = 10_000;
const LEAST: u64 = 8;

/// All steps are followed.
const ALL: Wait = Wait { from: 0, height: 0 };

impl<S: System> Search<'_, S> {
    /// Whether it pays.
    fn run(&mut self, budget: &mut Budget<'_>) -> Result<bool, Failed> {
        let mut initial = Vec::new();
        self.runner.initial_states(&mut initial);
        for state in initial.chunks_exact(self.system.width()) {
            let (state, is_new) = self.found.states.add(state, budget)?;
            if is_new {
                self.enter(state, None, budget)?;
            }
            while let Some(frame) = self.path.last_mut() {
                let Some(&(action, target)) = self.targets.get(frame.next) else {
                    self.leave(budget)?;
                    continue;
                };
                frame.next += 1;
                if self.n_steps > PATIENCE && self.n_left_out * LEAST < self.n_steps {
                    return Ok(false);
                }
                if target as usize >= self.found.waits.len() || self.found.waits[target as usize] == UNSEEN {
                    self.enter(target, Some(action), budget)?;
                }
            }
        }
        Ok(self.n_left_out > 0)
    }

    /// Begins with a state that was not seen yet, and was come to by a step that began with an action.
    fn enter(&mut self, state: u32, by: Option<ActionId>, budget: &mut Budget<'_>) -> Result<(), Failed> {
        let n = self.found.states.count();
        let bytes = self.found.states.bytes()
            + 9 * n as u64
            + 24 * self.path.capacity() as u64
            + 8 * self.targets.capacity() as u64;
        budget.poll(&Progress { states: n as u64, bytes, ..Progress::default() })?;
        self.found.waits.resize(n.max(self.found.waits.len()), UNSEEN);
        self.is_finished.resize(n.max(self.is_finished.len()), false);
        self.steps(state)?;
        let words = self.found.states.get(state);
        for goal in self.goals {
            let is_met = match goal {
                Goal::Deadlock => self.out.is_empty(),
                Goal::Invariant(number) => !self.runner.holds(*number, words, &mut self.scratch)?,
            };
            if is_met {
                return Err(Failed::Violated);
            }
        }
        let from = self.choose(state, by);
        self.found.waits[state as usize] =
            Wait { from: from.map_or(0, |from| from.index() as u32 + 1), height: 0 };
        let start = self.targets.len();
        self.path.push(Frame { state, start, next: start });
        self.follow(from.is_none(), budget)
    }

    /// What can happen in a state.
    fn steps(&mut self, state: u32) -> Result<(), Failed> {
        self.out.clear();
        Ok(self.runner.successors(self.found.states.get(state), &mut self.scratch, &mut self.out)?)
    }

    /// The action from which the smallest set of a state grows; none if nothing can be left out. Of equal sets, one goes on with
    /// who came here: so who goes round comes back to where all steps are followed, before others have moved.
    fn choose(&mut self, state: u32, by: Option<ActionId>) -> Option<ActionId> {
        let Search { system, waits, out, values, found, .. } = self;
        let n_enabled = waits.enable(out.actions().iter().map(|&step| system.first(step)));
        read(system, found.states.get(state), values);
        let mut best = (n_enabled, false);
        let mut chosen = None;
        for &step in out.actions() {
            if n_enabled < 2 || best == (1, false) {
                break;
            }
            let from = system.first(step);
            waits.grow(from, values);
            let is_other = by.is_some_and(|by| !waits.has(by));
            let size = (waits.taken().count(), is_other);
            if size < best && !waits.taken().any(|action| waits.is_seen(action)) {
                (best, chosen) = (size, Some(from));
            }
        }
        chosen.inspect(|&from| waits.grow(from, values))
    }

    /// Adds where the steps lead that are followed: all, or those of the set that was grown last.
    fn follow(&mut self, all: bool, budget: &Budget<'_>) -> Result<(), Failed> {
        for (step, target) in self.out.iter() {
            self.n_steps += 1;
            let first = self.system.first(step);
            if all || self.waits.has(first) {
                self.targets.push((first, self.found.states.add(target, budget)?.0));
            } else {
                self.n_left_out += 1;
            }
        }
        Ok(())
    }

    /// Ends with a state, unless something would wait for ever.
    fn leave(&mut self, budget: &Budget<'_>) -> Result<(), Failed> {
        let Some(&Frame { state, start, .. }) = self.path.last() else { return Ok(()) };
        let known = &self.found.waits;
        if known[state as usize] != ALL {
            let height = |&(_, target): &(ActionId, u32)| {
                let wait = known[target as usize];
                let is_known = wait.from == 0 || self.is_finished[target as usize];
                is_known.then_some(wait.height)
            };
            let mut heights = self.targets[start..].iter().map(height);
            let height = match self.sought {
                Sought::States => heights.flatten().min(),
                Sought::Runs => heights.try_fold(0, |most, height| Some(most.max(height?))),
            };
            if let Some(height) = height {
                self.found.waits[state as usize].height = height + 1;
            } else {
                self.found.waits[state as usize] = ALL;
                self.steps(state)?;
                return self.follow(true, budget);
            }
        }
        self.is_finished[state as usize] = true;
        self.targets.truncate(start);
        self.path.pop();
        Ok(())
    }
}

/// The values of a state.
pub(super) fn read(system: &ActionSystem, state: &[u32], values: &mut Vec<i64>) {
    values.clear();
    values.extend(system.layout().fields().iter().map(|field| field.value(state)));
}

/// What is known of a state that was not begun with.
const UNSEEN: Wait = Wait { from: u32::MAX, height: u32::MAX };
