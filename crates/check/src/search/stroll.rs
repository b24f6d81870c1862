//! Random walks: states are looked at and forgotten.
//!
//! # Idea
//! Much of what can be reached is reached by whoever walks about for a while. A walk takes one of the actions that are
//! enabled, at random, and begins again at a deadlock, and after a number of steps: few at first, then more and more, so that both what is
//! near and what is deep has its turn. All goals are looked at on the way.
//!
//! A walk can be *led* by a multiset of actions that should happen, each so often: what is still wanted is preferred
//! to what is not. For a Petri net, a solution of its state equation is such a multiset.
//!
//! # When should I use this?
//! Before everything else. It takes no memory, and a step costs as much as a successor; what is not found says nothing.
//!
//! # Requirements and limits
//! The same seed gives the same walks, whatever the clock, unless the budget is spent. Runs are as long as they come. A step that
//! goes wrong ends the walk, and is not told: to find that is for searches.
//!
//! # References
//! Y. Thierry-Mieg, *Structural reductions revisited* (Petri Nets 2020), whose walks are led by solutions of the state equation, too.

use base::{Budget, Limit, Progress};
use fastrand::Rng;
use model::{ActionId, Run, StepError, System};

use super::{Exploration, Goal, OpenGoals, Stats, Stop};

/// How to walk.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'p> {
    /// The same number, the same walks.
    pub seed: u64,
    /// So much work is done: a step, or a look at a goal, is one.
    pub work: u64,
    /// How often each action should happen, if that is known.
    pub wanted: Option<&'p [u32]>,
}

/// A walk begins with so few steps at most, and goes on for so many in the end.
const FEW: usize = 64;
const MANY: usize = 16_384;
/// With nothing that is wanted to be done, so many other steps are taken one after the other.
const ASTRAY: usize = 32;
/// A walk that is led has so many steps more than are wanted.
const SPARE: usize = 64;

/// Walks through a system. What is found is found; otherwise the outcome is that a limit was reached.
pub fn search<S: System>(system: &S, goals: &[Goal], plan: Plan<'_>, budget: &mut Budget<'_>) -> Exploration {
    let mut stroll = Stroll {
        system,
        plan,
        rng: Rng::with_seed(plan.seed),
        scratch: system.new_scratch(),
        enabled: Vec::new(),
        preferred: Vec::new(),
        left: Vec::new(),
        goals: OpenGoals::new(goals),
        run: Run::default(),
        violations: vec![None; goals.len()],
        faults: vec![None; goals.len()],
        n_steps: 0,
        work: plan.work,
    };
    let stop = stroll.run(budget).err();
    let stats = Stats { transitions: stroll.n_steps, ..Stats::default() };
    let Stroll { violations, faults, .. } = stroll;
    Exploration { stats, violations, faults, stop, coverage: None, taken: Vec::new() }
}

/// The state that a walk comes to, after so many steps or at a deadlock. Nothing if the budget is spent, or a step goes wrong.
pub fn end<S: System>(system: &S, seed: u64, steps: usize, budget: &mut Budget<'_>) -> Option<Vec<u32>> {
    let (mut rng, mut scratch, mut enabled) = (Rng::with_seed(seed), system.new_scratch(), Vec::new());
    let mut state = Vec::new();
    system.initial_states(&mut state);
    state.truncate(system.width());
    for _ in 0..steps {
        budget.poll(&Progress::default()).ok()?;
        enabled.clear();
        system.enabled(&state, &mut scratch, &mut enabled).ok()?;
        let Some(&action) = rng.choice(&enabled) else { break };
        system.fire(&mut state, action, &mut scratch).ok()?;
    }
    Some(state)
}

struct Stroll<'a, S: System> {
    system: &'a S,
    plan: Plan<'a>,
    rng: Rng,
    scratch: S::Scratch,
    enabled: Vec<ActionId>,
    preferred: Vec<ActionId>,
    /// What is still wanted in this walk.
    left: Vec<u32>,
    goals: OpenGoals<'a>,
    run: Run,
    violations: Vec<Option<Run>>,
    faults: Vec<Option<(StepError, Run)>>,
    n_steps: u64,
    work: u64,
}

impl<S: System> Stroll<'_, S> {
    /// Walks until there is a reason to stop.
    fn run(&mut self, budget: &mut Budget<'_>) -> Result<(), Stop> {
        let width = self.system.width();
        let mut initial = Vec::new();
        self.system.initial_states(&mut initial);
        let n_initial = initial.len() / width;
        if n_initial == 0 {
            return Err(Limit::States(0).into());
        }
        // Who is led takes as many steps as it takes.
        let wanted = self.plan.wanted.unwrap_or_default().iter().map(|&times| times as usize);
        let wanted = wanted.fold(0, usize::saturating_add);
        let mut length = FEW.max(wanted.saturating_add(wanted.min(SPARE)));
        loop {
            let first = if n_initial == 1 { 0 } else { self.rng.usize(0..n_initial) };
            let state = initial[first * width..(first + 1) * width].to_vec();
            self.run = Run { initial: first, actions: Vec::new() };
            self.walk(state, length, budget)?;
            length = length.max((2 * length).min(MANY));
        }
    }

    /// One walk, of so many steps at most.
    fn walk(&mut self, mut state: Vec<u32>, length: usize, budget: &mut Budget<'_>) -> Result<(), Stop> {
        let mut n_astray = 0;
        self.left.clear();
        self.left.extend_from_slice(self.plan.wanted.unwrap_or_default());
        self.look_at(&state)?;
        for _ in 0..length {
            budget.poll(&Progress { bytes: self.bytes(), ..Progress::default() })?;
            let cost = 1 + self.goals.n_open as u64;
            self.work = self.work.checked_sub(cost).ok_or(Limit::States(self.n_steps))?;
            self.enabled.clear();
            if self.system.enabled(&state, &mut self.scratch, &mut self.enabled).is_err() {
                return Ok(());
            }
            if self.enabled.is_empty() {
                let Stroll { goals, violations, run, .. } = self;
                goals.deadlock(|goal| violations[goal] = Some(run.clone()));
                return self.is_done();
            }
            let Some(action) = self.choose(&mut n_astray) else { return Ok(()) };
            if self.system.fire(&mut state, action, &mut self.scratch).is_err() {
                return Ok(());
            }
            self.run.actions.push(action);
            self.n_steps += 1;
            self.look_at(&state)?;
        }
        Ok(())
    }

    /// One of the enabled actions; nothing if the walk has gone astray.
    fn choose(&mut self, n_astray: &mut usize) -> Option<ActionId> {
        let Stroll { left, enabled, preferred, rng, plan, .. } = self;
        if plan.wanted.is_some() {
            let is_wanted = |action: &ActionId| left.get(action.index()).is_some_and(|left| *left > 0);
            preferred.clear();
            preferred.extend(enabled.iter().copied().filter(is_wanted));
            if let Some(&action) = rng.choice(&*preferred) {
                left[action.index()] -= 1;
                *n_astray = 0;
                return Some(action);
            }
            *n_astray += 1;
            if *n_astray > ASTRAY {
                return None;
            }
        }
        rng.choice(&*enabled).copied()
    }

    fn look_at(&mut self, state: &[u32]) -> Result<(), Stop> {
        let Stroll { goals, violations, faults, run, system, scratch, .. } = self;
        goals.look_at(*system, state, scratch, |goal, error| match error {
            None => violations[goal] = Some(run.clone()),
            Some(error) => faults[goal] = Some((error, run.clone())),
        });
        self.is_done()
    }

    fn is_done(&self) -> Result<(), Stop> {
        if self.goals.all_closed() { Err(Stop::AllViolated) } else { Ok(()) }
    }

    fn bytes(&self) -> u64 {
        4 * (self.run.actions.len() + self.enabled.len()) as u64
    }
}
