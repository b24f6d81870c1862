//! How one worker expands a state.

use base::Limit;
use model::{ActionId, StepError, Steps, System};

use crate::search::{Extent, Goal, Space};
use crate::sync::{Mutant, is};

/// Where new states go.
pub(crate) trait Keep<R> {
    /// Adds the targets of `steps` from one on, which lead from a state of this number in a round. Calls `new` with the index of a
    /// step and the number of its target, if that was new and is known to be. Returns whether one of the first `n_first` steps leads to a state that is
    /// expanded in a later round than this one.
    fn add(
        &mut self,
        round: &R,
        parent: u32,
        steps: &Steps,
        from: usize,
        n_first: usize,
        new: impl FnMut(usize, u32),
    ) -> Result<bool, Limit>;
}

/// What was found in a round. Which of it comes first is found out later.
#[derive(Default)]
pub(crate) struct Report {
    /// A goal, and a state that violates it.
    pub(crate) violations: Vec<(u32, u32)>,
    /// The same where it cannot be evaluated.
    pub(crate) unclear: Vec<(u32, u32, StepError)>,
    /// States in which the model goes wrong.
    pub(crate) faults: Vec<(u32, StepError)>,
    pub(crate) transitions: u64,
    pub(crate) deadlocks: u64,
}

/// One worker notes so many violations at most in a round: whatever is noted is one of the shortest runs.
pub(crate) const MANY: usize = 1 << 20;

impl Report {
    /// Adds what another worker found.
    pub(crate) fn append(&mut self, other: &mut Report) {
        self.violations.append(&mut other.violations);
        self.unclear.append(&mut other.unclear);
        self.faults.append(&mut other.faults);
        self.transitions += std::mem::take(&mut other.transitions);
        self.deadlocks += std::mem::take(&mut other.deadlocks);
    }

    /// Whether something was found that ends the search, or a part of it.
    pub(crate) fn has_news(&self) -> bool {
        !(self.violations.is_empty() && self.unclear.is_empty() && self.faults.is_empty())
    }

    /// A state was expanded: so many steps were taken.
    pub(crate) fn note(
        &mut self,
        number: u32,
        expanded: &Result<usize, Trouble>,
        open: &Open,
    ) -> Result<(), Limit> {
        match expanded {
            Ok(0) => {
                self.deadlocks += 1;
                if self.violations.len() < MANY {
                    self.violations.extend(open.deadlocks.iter().map(|&goal| (goal, number)));
                }
            }
            Ok(n_steps) => self.transitions += *n_steps as u64,
            Err(Trouble::Limit(limit)) => return Err(*limit),
            Err(Trouble::Step(error)) => self.faults.push((number, *error)),
        }
        Ok(())
    }
}

/// The goals that are open: propositions that must be true, and whether states must have successors.
#[derive(Default)]
pub(crate) struct Open {
    invariants: Vec<(u32, usize)>,
    deadlocks: Vec<u32>,
}

impl Open {
    pub(crate) fn new(goals: &[Goal], is_open: impl Fn(usize) -> bool) -> Open {
        let mut open = Open::default();
        for (index, goal) in (0..).zip(goals).filter(|(index, _)| is_open(*index as usize)) {
            match goal {
                Goal::Invariant(proposition) => open.invariants.push((index, *proposition)),
                Goal::Deadlock => open.deadlocks.push(index),
            }
        }
        open
    }

    /// Whether new states are to be looked at.
    #[inline]
    pub(crate) fn has_invariants(&self) -> bool {
        !self.invariants.is_empty()
    }

    /// Looks at a new state.
    pub(crate) fn look_at<S: System>(
        &self,
        system: &S,
        number: u32,
        state: &[u32],
        scratch: &mut S::Scratch,
        report: &mut Report,
    ) {
        for &(goal, proposition) in &self.invariants {
            match system.holds(proposition, state, scratch) {
                Ok(false) if report.violations.len() < MANY => report.violations.push((goal, number)),
                Ok(_) => {}
                Err(error) => report.unclear.push((goal, number, error)),
            }
        }
    }
}

/// States of more words than this are expanded in parts, of about so many words.
pub(crate) const WIDE: usize = 128;
const PART: usize = 1 << 20;

/// The working memory of a worker.
pub(crate) struct Expander<'a, S: Space> {
    space: &'a S,
    system: &'a S::Whole,
    open: Open,
    scratch: <S::Whole as System>::Scratch,
    choice: S::Choice,
    steps: Steps,
    enabled: Vec<ActionId>,
    /// Steps to new states, and their numbers.
    new: Vec<(usize, u32)>,
    pub(crate) report: Report,
}

impl<'a, S: Space> Expander<'a, S> {
    pub(crate) fn new(space: &'a S, goals: &[Goal], closed: &[bool]) -> Expander<'a, S> {
        let system = space.whole();
        Expander {
            space,
            system,
            open: Open::new(goals, |goal| !closed[goal]),
            scratch: system.new_scratch(),
            choice: if is(Mutant::AdaptiveScratch) { space.new_choice() } else { space.new_steady_choice() },
            steps: Steps::new(system.width()),
            enabled: Vec::new(),
            new: Vec::new(),
            report: Report::default(),
        }
    }

    /// Per action, whether it happened.
    pub(crate) fn taken(&self) -> &[bool] {
        self.system.taken(&self.scratch)
    }

    /// Expands a state.
    #[inline]
    pub(crate) fn expand<R, K: Keep<R>>(
        &mut self,
        number: u32,
        state: &[u32],
        keep: &mut K,
        round: &R,
    ) -> Result<(), Limit> {
        let expanded = if state.len() <= WIDE {
            self.at_once(number, state, keep, round)
        } else {
            self.in_parts(number, state, keep, round)
        };
        self.report.note(number, &expanded, &self.open)
    }

    /// Takes all steps together; returns how many.
    #[inline]
    fn at_once<R, K: Keep<R>>(
        &mut self,
        number: u32,
        state: &[u32],
        keep: &mut K,
        round: &R,
    ) -> Result<usize, Trouble> {
        self.steps.clear();
        let extent = self.space.steps(state, &mut self.choice, &mut self.scratch, &mut self.steps)?;
        let n_first = if let Extent::IfAhead(n_first) = extent { n_first } else { 0 };
        let leads_ahead = self.add(number, 0, n_first, keep, round)?;
        if extent != Extent::Enough && !leads_ahead {
            self.enabled.clear();
            self.space.others(&self.choice, &mut self.enabled);
            let n_taken = self.steps.len();
            for &action in &self.enabled {
                self.system.fire(self.steps.push(action, state), action, &mut self.scratch)?;
            }
            self.add(number, n_taken, 0, keep, round)?;
        }
        Ok(self.steps.len())
    }

    /// The same for a wide state, a few steps at a time.
    fn in_parts<R, K: Keep<R>>(
        &mut self,
        number: u32,
        state: &[u32],
        keep: &mut K,
        round: &R,
    ) -> Result<usize, Trouble> {
        let mut actions = std::mem::take(&mut self.enabled);
        actions.clear();
        let extent = self.space.actions(state, &mut self.choice, &mut self.scratch, &mut actions)?;
        let mut n_first = if let Extent::IfAhead(n_first) = extent { n_first } else { 0 };
        let mut is_enough = extent == Extent::Enough;
        let mut n_taken = 0;
        loop {
            let part = n_taken..actions.len().min(n_taken + (PART / state.len()).max(1));
            self.steps.clear();
            for &action in &actions[part.clone()] {
                self.system.fire(self.steps.push(action, state), action, &mut self.scratch)?;
            }
            is_enough |= self.add(number, 0, n_first.min(part.len()), keep, round)?;
            n_first = n_first.saturating_sub(part.len());
            n_taken = part.end;
            if n_taken == actions.len() {
                if is_enough {
                    break;
                }
                self.space.others(&self.choice, &mut actions);
                is_enough = true;
            }
        }
        self.enabled = actions;
        Ok(n_taken)
    }

    /// Stores the targets of the steps from one on, and looks at those that are new. Returns whether one of the first
    /// leads ahead.
    #[inline]
    fn add<R, K: Keep<R>>(
        &mut self,
        parent: u32,
        from: usize,
        n_first: usize,
        keep: &mut K,
        round: &R,
    ) -> Result<bool, Limit> {
        let Expander { steps, new, .. } = self;
        new.clear();
        let found = |index, number| new.push((index, number));
        let leads_ahead = keep.add(round, parent, steps, from, n_first, found)?;
        if self.open.has_invariants() {
            self.look_at_new();
        }
        Ok(leads_ahead)
    }

    /// Looks at a new state.
    #[inline]
    pub(crate) fn look_at(&mut self, number: u32, state: &[u32]) {
        let Expander { system, open, scratch, report, .. } = self;
        open.look_at(*system, number, state, scratch, report);
    }

    fn look_at_new(&mut self) {
        let Expander { system, open, scratch, steps, new, report, .. } = self;
        for &(index, number) in &*new {
            open.look_at(*system, number, steps.target(index), scratch, report);
        }
    }
}

/// Why a state was not expanded to the end.
pub(crate) enum Trouble {
    Limit(Limit),
    Step(StepError),
}

impl From<Limit> for Trouble {
    fn from(limit: Limit) -> Trouble {
        Trouble::Limit(limit)
    }
}

impl From<StepError> for Trouble {
    fn from(error: StepError) -> Trouble {
        error.limit().map_or(Trouble::Step(error), Trouble::Limit)
    }
}
