//! A system of guarded actions: its parts, and how it runs, chains of actions included.

use std::borrow::Cow;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::chain::{ChainScratch, Chains, MAX_LENGTH, UNWATCHED};
use crate::code::{Code, Scratch};
use crate::index::Index;
use crate::queue::{Queue, QueueUse, Queues};
use crate::system::{Describe, Fault, StepError, Steps, System};
use crate::{
    Action, ActionId, ExprId, Exprs, Guard, GuardId, Label, Layout, Process, ProcessId, Proposition, VarId,
    Variable,
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
    /// If some actions are followed by others in the same step.
    pub(crate) chains: Option<Chains>,
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

    /// One action; of a chain, the first.
    pub fn action(&self, action: ActionId) -> &Action {
        &self.actions[self.first(action).index()]
    }

    /// The processes whose step an action is, as far as fairness goes: its owners, unless the front end says
    /// that it is a step of the first of them ([`Builder::is_step_of_first`](crate::Builder::is_step_of_first)).
    pub fn movers(&self, action: ActionId) -> &[ProcessId] {
        let first = self.first(action);
        let owners = &self.actions[first.index()].owners;
        if self.by_first.contains(first.index()) { &owners[..owners.len().min(1)] } else { owners }
    }

    /// The actions that a chain consists of; any other action consists of itself.
    pub fn parts(&self, action: ActionId) -> Vec<ActionId> {
        match &self.chains {
            Some(chains) => chains.with_parts(action, <[ActionId]>::to_vec),
            None => vec![action],
        }
    }

    /// The number of a chain of these actions, which must not be empty.
    pub fn chain(&self, parts: &[ActionId]) -> ActionId {
        self.chains.as_ref().map_or(parts[0], |chains| chains.number(parts))
    }

    /// Who goes on after an action, in the same step.
    #[inline]
    pub fn next_process(&self, action: ActionId) -> Option<ProcessId> {
        self.chains.as_ref().and_then(|chains| chains.next[action.index()])
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
        self.chains.is_some()
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
        match error.action.map(|action| self.parts(action)).as_deref() {
            Some([.., action]) => format!("{what}, in action `{}`", self.action_label(*action)),
            _ => what,
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

    /// Calls `visit` for all chains that begin with an enabled action, with the state at their ends.
    fn for_each_chain(
        &self,
        chains: &Chains,
        state: &[u32],
        action: ActionId,
        scratch: &mut Scratch,
        mut visit: impl FnMut(ActionId, &[u32]),
    ) -> Result<(), StepError> {
        let mut work = std::mem::take(&mut scratch.chain);
        let result = self.walk_chains(chains, state, action, scratch, &mut work, &mut visit);
        scratch.chain = work;
        result
    }

    fn walk_chains(
        &self,
        chains: &Chains,
        state: &[u32],
        action: ActionId,
        scratch: &mut Scratch,
        work: &mut ChainScratch,
        visit: &mut dyn FnMut(ActionId, &[u32]),
    ) -> Result<(), StepError> {
        let width = state.len();
        let ChainScratch { states, path, pending, passed } = work;
        states.clear();
        states.extend_from_slice(state);
        path.clear();
        passed.clear();
        pending.clear();
        pending.push((0, action));
        let (mut ends, mut is_watched) = (false, false);
        while let Some((depth, action)) = pending.pop() {
            let depth = depth as usize;
            path.truncate(depth);
            path.push(action);
            states.truncate((depth + 1) * width);
            states.extend_from_within(depth * width..);
            let here = (depth + 1) * width..;
            self.code.fire(action, &mut states[here.clone()], scratch).map_err(|mut error| {
                error.action = Some(chains.number(path));
                error
            })?;
            let n_pending = pending.len();
            if let Some(process) = chains.next[action.index()] {
                let passing = |state: &[u32]| [state, &[process.index() as u32]].concat();
                if depth >= MAX_LENGTH || is_watched && !passed.insert(passing(&states[here.clone()])) {
                    continue;
                }
                let state = &states[here.clone()];
                self.index.for_each_candidate(state, |next| {
                    let is_its_turn = self.actions[next.index()].owners.first() == Some(&process);
                    if is_its_turn && !self.is_quiet(next) && self.code.is_enabled(next, state, scratch)? {
                        pending.push((depth as u32 + 1, next));
                    }
                    Ok(())
                })?;
                pending[n_pending..].reverse();
                if !is_watched && (depth >= UNWATCHED || pending.len() > n_pending + 1) {
                    // Up to here there was one way, and the same process went on as after the first action
                    // or had handed over: who goes on can be told by the action before.
                    is_watched = true;
                    for (state, action) in states.chunks_exact(width).skip(1).zip(&*path) {
                        let process = chains.next[action.index()].map_or(0, |process| process.index() as u32);
                        passed.insert([state, &[process]].concat());
                    }
                }
            }
            if pending.len() == n_pending {
                ends = true;
                visit(chains.number(path), &states[here]);
            }
        }
        if ends {
            return Ok(());
        }
        Err(StepError { fault: Fault::Endless, action: Some(action) })
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
        self.for_each_step(state, scratch, |action, scratch| match &self.chains {
            Some(chains) if chains.next[action.index()].is_some() => {
                self.for_each_chain(chains, state, action, scratch, |chain, target| {
                    out.push(chain, target);
                })
            }
            _ => self.code.fire(action, out.push(action, state), scratch),
        })
    }

    fn enabled(
        &self,
        state: &[u32],
        scratch: &mut Scratch,
        out: &mut Vec<ActionId>,
    ) -> Result<(), StepError> {
        self.for_each_step(state, scratch, |action, scratch| match &self.chains {
            Some(chains) if chains.next[action.index()].is_some() => {
                self.for_each_chain(chains, state, action, scratch, |chain, _| out.push(chain))
            }
            _ => {
                out.push(action);
                Ok(())
            }
        })
    }

    #[inline]
    fn fire(&self, state: &mut [u32], action: ActionId, scratch: &mut Scratch) -> Result<(), StepError> {
        match &self.chains {
            Some(chains) if action.index() >= self.actions.len() => chains.with_parts(action, |parts| {
                parts.iter().try_for_each(|&part| self.code.fire(part, state, scratch))
            }),
            _ => self.code.fire(action, state, scratch),
        }
    }

    #[inline]
    fn first(&self, action: ActionId) -> ActionId {
        match &self.chains {
            Some(chains) if action.index() >= self.actions.len() => {
                chains.with_parts(action, |parts| parts[0])
            }
            _ => action,
        }
    }

    fn n_propositions(&self) -> usize {
        self.propositions.len()
    }

    fn holds(&self, proposition: usize, state: &[u32], scratch: &mut Scratch) -> Result<bool, StepError> {
        self.code.holds(proposition, state, scratch)
    }
}

impl Describe for ActionSystem {
    fn action_label(&self, action: ActionId) -> Cow<'_, str> {
        let label =
            |action: &ActionId| -> &str { &self.labels[self.actions[action.index()].label.index()].name };
        match &self.chains {
            Some(chains) if action.index() >= self.actions.len() => chains.with_parts(action, |parts| {
                Cow::Owned(parts.iter().map(label).collect::<Vec<_>>().join("; "))
            }),
            _ => Cow::Borrowed(label(&action)),
        }
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
