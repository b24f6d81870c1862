//! A system of guarded actions: its parts, and how it runs.

use std::ops::ControlFlow;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::chain::{self, Holder};
use crate::code::{Code, Scratch};
use crate::index::Index;
use crate::queue::{Queue, QueueUse, Queues};
use crate::system::{Describe, Fault, StepError, Steps, System};
use crate::{
    Action, ActionId, ExprId, Exprs, Guard, GuardId, Label, Layout, Process, ProcessId, Proposition, Range,
    VarId, Variable,
};

/// A system of guarded actions, ready to run.
#[derive(Clone, Debug)]
pub struct ActionSystem {
    /// The expressions. Front ends add those of properties.
    pub exprs: Exprs,
    pub(crate) variables: Vec<Variable>,
    pub(crate) processes: Vec<Process>,
    pub(crate) labels: Vec<Label>,
    pub(crate) guards: Vec<Guard>,
    pub(crate) actions: Vec<Action>,
    pub(crate) propositions: Vec<Proposition>,
    pub(crate) proposition_of: FxHashMap<ExprId, usize>,
    pub(crate) layout: Layout,
    /// Packed initial states, one after the other.
    pub(crate) initial: Vec<u32>,
    pub(crate) code: Code,
    pub(crate) index: Index,
    /// Per action: who goes on after it in the same step. Empty if nobody ever does.
    pub(crate) goes_on: Vec<Option<ProcessId>>,
    /// Who goes on alone from a state, if chains may come back to where they were.
    pub(crate) holder: Option<Holder>,
    /// The actions that happen only where no others can, if there are some.
    pub(crate) quiet: Option<FixedBitSet>,
    pub(crate) queues: Queues,
    /// The actions that are steps of their first owners alone.
    pub(crate) by_first: FixedBitSet,
}

impl ActionSystem {
    /// Makes a truth about states observable; returns its number. Equal expressions share it.
    pub fn add_proposition(&mut self, name: impl Into<String>, expr: ExprId) -> usize {
        *self.proposition_of.entry(expr).or_insert_with(|| {
            self.code.add_proposition(&self.exprs, expr);
            self.propositions.push(Proposition { name: name.into(), expr });
            self.propositions.len() - 1
        })
    }

    /// The number of an observable truth.
    pub fn proposition(&self, expr: ExprId) -> Option<usize> {
        self.proposition_of.get(&expr).copied()
    }

    /// Says that nothing is missing: no variable ever gets a value outside of a range that was open.
    pub fn close(&mut self) {
        for variable in self.variables.iter_mut().filter(|variable| variable.range == Range::Open) {
            variable.range = Range::Certain;
        }
    }

    /// The variables.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The processes.
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// The labels.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The guards.
    pub fn guards(&self) -> &[Guard] {
        &self.guards
    }

    /// The actions.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The action that a step begins with.
    pub fn action(&self, step: ActionId) -> &Action {
        &self.actions[self.first(step).index()]
    }

    /// The processes whose step an action is, as far as fairness goes: its owners, unless the front end says
    /// that it is a step of the first of them ([`Builder::is_step_of_first`](crate::Builder::is_step_of_first)).
    pub fn movers(&self, action: ActionId) -> &[ProcessId] {
        let first = self.first(action);
        let owners = &self.actions[first.index()].owners;
        if self.by_first.contains(first.index()) { &owners[..owners.len().min(1)] } else { owners }
    }

    /// The number of the action that a step begins with (see [`chain`](mod@crate::chain)).
    #[inline]
    pub fn first(&self, step: ActionId) -> ActionId {
        chain::first(step, self.actions.len())
    }

    /// Who goes on after an action, in the same step.
    #[inline]
    pub fn next_process(&self, action: ActionId) -> Option<ProcessId> {
        self.goes_on.get(action.index()).copied().flatten()
    }

    /// Whether a step begins with an action that others may follow.
    #[inline]
    fn begins_chain(&self, step: ActionId) -> bool {
        !self.goes_on.is_empty() && self.next_process(self.first(step)).is_some()
    }

    /// The variable that says who goes on alone, and who that may be, if chains may come back to where they were.
    /// It is written at the end of a step, by no action.
    pub fn holder(&self) -> Option<(VarId, &[ProcessId])> {
        self.holder.as_ref().map(|holder| (holder.var, &holder.processes[..]))
    }

    /// The queues.
    pub fn queues(&self) -> &[Queue] {
        &self.queues.all
    }

    /// The queue that a variable belongs to.
    pub fn queue_of(&self, var: VarId) -> Option<u32> {
        self.queues.of(var)
    }

    /// What an action does to a queue, if that is all it does to the queue.
    pub fn queue_use(&self, action: ActionId) -> Option<QueueUse> {
        self.queues.use_of(action)
    }

    /// Whether steps may consist of several actions.
    pub fn has_chains(&self) -> bool {
        !self.goes_on.is_empty()
    }

    /// Whether an action happens only where no others can.
    #[inline]
    pub fn is_quiet(&self, action: ActionId) -> bool {
        self.quiet.as_ref().is_some_and(|quiet| quiet.contains(action.index()))
    }

    /// The propositions.
    pub fn propositions(&self) -> &[Proposition] {
        &self.propositions
    }

    /// Where the variables are stored.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The packed initial states.
    pub fn initial(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.initial.chunks_exact(self.layout.width())
    }

    /// Whether a guard is true in `state`.
    #[inline]
    pub fn guard_holds(&self, guard: GuardId, state: &[u32], scratch: &mut Scratch) -> Result<bool, Fault> {
        match &self.guards[guard.index()] {
            Guard::In(var, set) => Ok(set.contains(self.layout.field(*var).value(state))),
            Guard::True(_) => self.code.guard_holds(guard.index(), state, scratch),
            Guard::Quiet => {
                let mut is_quiet = true;
                let looked = self.for_each_enabled(state, scratch, false, |_, _| {
                    is_quiet = false;
                    Ok(())
                });
                looked.map(|()| is_quiet).map_err(|error| error.fault)
            }
        }
    }

    /// A sentence about a fault, with the names of what it happened to.
    pub fn describe_fault(&self, error: &StepError) -> String {
        let name = |var: VarId| &self.variables[var.index()].name;
        let what = match error.fault {
            Fault::OutOfRange { var, value } => {
                let Variable { lo, hi, .. } = &self.variables[var.index()];
                format!("the value {value} is outside the range {lo}..{hi} of `{}`", name(var))
            }
            Fault::IndexOutOfBounds { array, .. } => format!("{}: `{}`", error.fault, name(array)),
            _ => error.fault.to_string(),
        };
        match error.action {
            Some(action) => format!("{what}, in action `{}`", self.action_label(action)),
            None => what,
        }
    }

    /// Calls `visit` for the enabled actions that happen only where no others can, or for the others.
    #[inline]
    fn for_each_enabled(
        &self,
        state: &[u32],
        scratch: &mut Scratch,
        quiet: bool,
        mut visit: impl FnMut(ActionId, &mut Scratch) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        self.index.for_each_candidate(state, |action| {
            if self.is_quiet(action) == quiet && self.code.is_enabled(action, state, scratch)? {
                visit(action, scratch)?;
            }
            Ok(())
        })
    }

    /// The same for all actions that are enabled, whether they wait for others or not.
    #[inline]
    fn for_each_step(
        &self,
        state: &[u32],
        scratch: &mut Scratch,
        mut visit: impl FnMut(ActionId, &mut Scratch) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        let mut is_stuck = true;
        self.for_each_enabled(state, scratch, false, |action, scratch| {
            is_stuck = false;
            visit(action, scratch)
        })?;
        match self.quiet {
            Some(_) if is_stuck => self.for_each_enabled(state, scratch, true, visit),
            _ => Ok(()),
        }
    }
}

impl System for ActionSystem {
    type Scratch = Scratch;

    fn new_scratch(&self) -> Scratch {
        self.code.new_scratch()
    }

    #[inline]
    fn width(&self) -> usize {
        self.layout.width()
    }

    fn initial_states(&self, out: &mut Vec<u32>) {
        out.extend_from_slice(&self.initial);
    }

    fn successors(&self, state: &[u32], scratch: &mut Scratch, out: &mut Steps) -> Result<(), StepError> {
        self.for_each_step(state, scratch, |action, scratch| {
            if self.begins_chain(action) {
                return self.for_each_chain(state, action, scratch, |step, _, target| {
                    out.push(step, target);
                    ControlFlow::Continue(())
                });
            }
            self.code.fire(action, out.push(action, state), scratch)
        })
    }

    fn enabled(
        &self,
        state: &[u32],
        scratch: &mut Scratch,
        out: &mut Vec<ActionId>,
    ) -> Result<(), StepError> {
        if self.has_chains() {
            scratch.chain.list(state);
        }
        self.for_each_step(state, scratch, |action, scratch| {
            if self.begins_chain(action) {
                return self.list_chains(state, action, scratch, out);
            }
            out.push(action);
            Ok(())
        })
    }

    #[inline]
    fn fire(&self, state: &mut [u32], action: ActionId, scratch: &mut Scratch) -> Result<(), StepError> {
        if self.begins_chain(action) {
            return self.fire_chain(state, action, scratch);
        }
        self.code.fire(action, state, scratch)
    }

    fn taken<'s>(&self, scratch: &'s Scratch) -> &'s [bool] {
        &scratch.taken
    }

    fn n_propositions(&self) -> usize {
        self.propositions.len()
    }

    fn holds(&self, proposition: usize, state: &[u32], scratch: &mut Scratch) -> Result<bool, StepError> {
        self.code.holds(proposition, state, scratch)
    }

    fn reads(&self, proposition: usize) -> Option<Vec<(usize, u32)>> {
        let mut vars = Vec::new();
        self.exprs.reads(self.propositions[proposition].expr, &mut vars);
        Some(vars.into_iter().flat_map(|var| self.layout.field(var).masks()).collect())
    }

    fn as_actions(&self) -> Option<&ActionSystem> {
        Some(self)
    }
}

impl Describe for ActionSystem {
    fn action_label(&self, action: ActionId) -> &str {
        &self.labels[self.action(action).label.index()].name
    }

    fn action_owners(&self, action: ActionId) -> &[ProcessId] {
        &self.action(action).owners
    }

    fn process_name(&self, process: ProcessId) -> &str {
        &self.processes[process.index()].name
    }

    fn variable_names(&self) -> Vec<&str> {
        self.variables.iter().map(|variable| variable.name.as_str()).collect()
    }

    fn values(&self, state: &[u32]) -> Vec<String> {
        self.variables
            .iter()
            .zip(self.layout.decode(state))
            .map(|(variable, value)| variable.show(value))
            .collect()
    }
}
