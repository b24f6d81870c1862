//! Runs without what they can do without.
//!
//! # Idea
//! A run to something that is looked for is taken again without some of its steps; a step that is not possible then is left
//! out, too. If what is looked for is met all the same, that is the run from now on. First whatever lies between two visits of a
//! state is left out, then all steps of one process, of another, and so on; then one half of the steps, the other
//! half, one quarter, …, down to single steps.
//!
//! # When should I use this?
//! After a search that has no regard for the length of runs, where what it found is too far away for one that has. It takes
//! one expansion for each step that is tried, and the memory of one run.
//!
//! # Requirements and limits
//! What is left is a run, but not a shortest one: no part of it alone can be left out, if there was work enough to try
//! them all.
//!
//! # Differences from the paper
//! *ddmin* gives up where what is left cannot be run; here steps that are not possible are passed over, and parts are not
//! tried alone, since a run begins where it begins.
//!
//! # References
//! A. Zeller, R. Hildebrandt, *Simplifying and isolating failure-inducing input* (IEEE Transactions on Software
//! Engineering, 2002).

use base::{Budget, Progress};
use model::{ActionId, ActionSystem, Describe as _, ProcessId, Run, StepError, Steps, System as _};
use rustc_hash::FxHashMap;

use crate::search::Goal;

/// What a run leads to.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// A state that violates a goal.
    Goal(Goal),
    /// One where the model goes wrong like this.
    Fault(StepError),
}

/// A run with fewer steps that leads to the same, if one is found with so many expansions.
pub fn thin(system: &ActionSystem, run: &Run, end: End, work: u64, budget: &mut Budget<'_>) -> Option<Run> {
    let mut thinning = Thinning::new(system, run.initial, end, work, budget)?;
    let before = run.actions.len();
    thinning.follow(0, &run.actions)?.then_some(())?;
    // Whatever it had to leave, it is a run.
    _ = thinning.leave_out();
    let actions = thinning.actions;
    (actions.len() < before).then_some(Run { initial: run.initial, actions })
}

struct Thinning<'a, 'b, 'w> {
    system: &'a ActionSystem,
    end: End,
    /// How many more states may be expanded.
    work: u64,
    budget: &'b mut Budget<'w>,
    scratch: <ActionSystem as model::System>::Scratch,
    steps: Steps,
    /// The run so far, and its states, one after the other.
    actions: Vec<ActionId>,
    states: Vec<u32>,
}

impl<'a, 'b, 'w> Thinning<'a, 'b, 'w> {
    fn new(
        system: &'a ActionSystem,
        initial: usize,
        end: End,
        work: u64,
        budget: &'b mut Budget<'w>,
    ) -> Option<Thinning<'a, 'b, 'w>> {
        let mut all = Vec::new();
        system.initial_states(&mut all);
        let states = all.chunks_exact(system.width()).nth(initial)?.to_vec();
        let (scratch, steps) = (system.new_scratch(), Steps::new(system.width()));
        Some(Thinning { system, end, work, budget, scratch, steps, actions: Vec::new(), states })
    }

    /// Leaves out what can be left out, while there is work left.
    fn leave_out(&mut self) -> Option<()> {
        let mut owners: Vec<ProcessId> = Vec::new();
        for &step in &self.actions {
            owners.extend(self.owners(step));
        }
        owners.sort_unstable();
        owners.dedup();
        for owner in owners {
            let rest =
                self.actions.iter().copied().filter(|&step| !self.owners(step).any(|its| its == owner));
            let rest: Vec<ActionId> = rest.collect();
            if rest.len() < self.actions.len() {
                self.follow(0, &rest)?;
            }
        }
        let mut size = self.actions.len().div_ceil(2);
        loop {
            let (before, mut at) = (self.actions.len(), 0);
            while at < self.actions.len() {
                let rest = self.actions[self.actions.len().min(at + size)..].to_vec();
                if !self.follow(at, &rest)? {
                    at += size;
                }
            }
            // What is needed may not be any more when something else is gone.
            if size <= 1 && self.actions.len() == before {
                return Some(());
            }
            size = size.div_ceil(2);
        }
    }

    fn owners(&self, step: ActionId) -> impl Iterator<Item = ProcessId> + use<'a> {
        self.system.action_owners(self.system.first(step)).iter().copied()
    }

    /// Takes these steps, as far as they are possible, after so many of the run. If that leads to the end in fewer steps, or
    /// there was no run yet, it is the run; returns whether it is. Nothing if too much work was done.
    fn follow(&mut self, from: usize, steps: &[ActionId]) -> Option<bool> {
        let width = self.system.width();
        let is_first = self.actions.is_empty();
        let mut actions = self.actions[..from].to_vec();
        let mut states = self.states[..(from + 1) * width].to_vec();
        let mut met: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
        met.insert(states[from * width..].to_vec(), from);
        let mut steps = steps.iter();
        let is_met = loop {
            let bytes = 8 * (states.len() + 8 * actions.len()) as u64;
            self.budget.poll(&Progress { bytes, ..Progress::default() }).ok()?;
            self.work = self.work.checked_sub(1)?;
            let here = actions.len();
            let (is_met, may_go_on) = self.expand(&states[here * width..]);
            if is_met || !may_go_on {
                break is_met;
            }
            let known = |step: &ActionId| self.steps.actions().iter().position(|other| other == step);
            let alike = |step: &ActionId| {
                let is_alike = |other: &ActionId| self.system.first(*other) == self.system.first(*step);
                self.steps.actions().iter().position(is_alike)
            };
            let Some(index) = steps.find_map(|step| known(step).or_else(|| alike(step))) else { break false };
            let (action, target) = (self.steps.actions()[index], self.steps.target(index).to_vec());
            if let Some(&before) = met.get(&target) {
                for later in states[(before + 1) * width..].chunks_exact(width) {
                    met.remove(later);
                }
                actions.truncate(before);
                states.truncate((before + 1) * width);
                continue;
            }
            actions.push(action);
            states.extend(&target);
            met.insert(target, actions.len());
        };
        let is_better = is_met && (is_first || actions.len() < self.actions.len());
        if is_better {
            (self.actions, self.states) = (actions, states);
        }
        Some(is_better)
    }

    /// Looks at a state: whether it is the end, and whether there is anything behind it. What follows it is in `self.steps`.
    fn expand(&mut self, state: &[u32]) -> (bool, bool) {
        self.steps.clear();
        let Thinning { system, scratch, steps, .. } = self;
        let expanded = system.successors(state, scratch, steps);
        match (self.end, expanded) {
            (End::Goal(Goal::Invariant(proposition)), _) => {
                let holds = system.holds(proposition, state, scratch);
                (holds == Ok(false), holds == Ok(true) && expanded.is_ok())
            }
            (End::Goal(Goal::Deadlock), Ok(())) => (steps.is_empty(), true),
            (End::Fault(wanted), Err(error)) => (error == wanted, false),
            (_, expanded) => (false, expanded.is_ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Action, Builder, Guard, Stmt, ValueSet, Variable};

    use super::*;

    /// Two counters that go up and down, each in a process of its own; the first must not come to 5.
    fn counters() -> ActionSystem {
        let mut builder = Builder::new();
        for name in ["x", "y"] {
            let var = builder.variable(Variable::new(name, 0, 9));
            let owner = builder.process(name);
            for (to, lo, hi) in [(1, 0, 8), (-1, 1, 9)] {
                let guard = builder.guard(Guard::In(var, ValueSet::Range(lo, hi)));
                let label = builder.label(name);
                let effect = vec![Stmt::Add(var, to)];
                builder.action(Action { label, guards: vec![guard], effect, owners: vec![owner] });
            }
        }
        builder.initial(&[0, 0]);
        let mut system = builder.finish().unwrap();
        let (x, five) = (system.exprs.var(model::VarId::new(0)), system.exprs.int(5));
        let is_low = system.exprs.binary(model::BinaryOp::Lt, x, five);
        system.add_proposition("low", is_low);
        system
    }

    #[test]
    fn nothing_is_left_that_can_be_left_out() {
        let system = counters();
        // Up four times, down thrice and up again, with the other one beside it.
        let steps: Vec<usize> =
            [0, 0, 0, 0, 1, 1, 1].into_iter().chain([0; 4]).flat_map(|x| [2, x]).collect();
        let mut actions: Vec<ActionId> = steps.into_iter().map(ActionId::new).collect();
        // The other one has come to its end by then.
        actions.retain({
            let mut n_ups = 0;
            move |step| {
                n_ups += usize::from(step.index() == 2);
                step.index() != 2 || n_ups < 10
            }
        });
        let run = Run { initial: 0, actions };
        let end = End::Goal(Goal::Invariant(0));
        let short = thin(&system, &run, end, 10_000, &mut Budget::unlimited()).unwrap();
        assert_eq!(short.actions, vec![ActionId::new(0); 5]);
        assert!(
            thin(&system, &short, end, 10_000, &mut Budget::unlimited()).is_none(),
            "there is no shorter one"
        );
        assert!(thin(&system, &run, end, 3, &mut Budget::unlimited()).is_none(), "too much work");
    }
}
