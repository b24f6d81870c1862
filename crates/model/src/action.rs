//! Guards, statements, actions, and the system they make up.
//!
//! Everything here is plain data, written once by a front end through [`Builder`] and then only
//! read: by the interpreter (`code`, `index`), by the [reference semantics](mod@crate::reference)
//! and by the [`Relations`](crate::Relations).

use std::borrow::Cow;
use std::fmt;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::chain::{ChainScratch, Chains, MAX_LENGTH, UNWATCHED};
use crate::code::{Code, Scratch};
use crate::index::Index;
use crate::queue::{Queue, QueueUse, Queues};
use crate::system::{Describe, Fault, StepError, Steps, System};
use crate::{ExprId, Exprs, Layout, VarId, Variable};

base::define_id! {
    /// An action of an action system.
    pub struct ActionId;
}
base::define_id! {
    /// A guard of an action system, shared by all actions that have it.
    pub struct GuardId;
}
base::define_id! {
    /// A label of an action system.
    pub struct LabelId;
}
base::define_id! {
    /// A process of an action system.
    pub struct ProcessId;
}

/// A process: an owner of actions.
#[derive(Clone, Debug)]
pub struct Process {
    /// What people call it.
    pub name: String,
}

/// What an action is called. Labels of synchronized actions are visible to testers; an internal
/// one (`tau`) is private to its process, whatever its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// The name.
    pub name: String,
    /// Whether it is private.
    pub internal: bool,
}

/// A set of values of one variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueSet {
    /// All values from the first to the second, both included.
    Range(i64, i64),
    /// The values `lo + i` for each bit `i` that is set.
    Bits {
        /// What bit 0 stands for.
        lo: i64,
        /// The members.
        members: FixedBitSet,
    },
}

impl ValueSet {
    /// The set of the given values; they should not be far apart.
    pub fn of(values: impl IntoIterator<Item = i64>) -> ValueSet {
        let mut values: Vec<i64> = values.into_iter().collect();
        values.sort_unstable();
        values.dedup();
        let (Some(&lo), Some(&hi)) = (values.first(), values.last()) else {
            return ValueSet::Range(0, -1);
        };
        if hi.wrapping_sub(lo) as u64 == values.len() as u64 - 1 {
            return ValueSet::Range(lo, hi);
        }
        let mut members = FixedBitSet::with_capacity((hi - lo) as usize + 1);
        values.iter().for_each(|value| members.insert((value - lo) as usize));
        ValueSet::Bits { lo, members }
    }

    /// Whether a value is in the set.
    #[inline]
    pub fn contains(&self, value: i64) -> bool {
        match self {
            ValueSet::Range(lo, hi) => *lo <= value && value <= *hi,
            ValueSet::Bits { lo, members } => {
                value >= *lo
                    && usize::try_from(value.wrapping_sub(*lo) as u64).is_ok_and(|i| members.contains(i))
            }
        }
    }

    /// The members that are values of a variable with the range `lo..=hi`, in order.
    pub fn values_within(&self, lo: i64, hi: i64) -> impl Iterator<Item = i64> {
        let (range, listed) = match self {
            ValueSet::Range(from, to) => (Some((*from).max(lo)..=(*to).min(hi)), None),
            ValueSet::Bits { lo: base, members } => {
                (None, Some(members.ones().map(move |at| base + at as i64)))
            }
        };
        let listed = listed.into_iter().flatten().filter(move |value| (lo..=hi).contains(value));
        range.into_iter().flatten().chain(listed)
    }

    /// Number of members that are values of a variable with the range `lo..=hi`.
    pub fn count_within(&self, lo: i64, hi: i64) -> u64 {
        match self {
            ValueSet::Range(from, to) => {
                let (from, to) = ((*from).max(lo), (*to).min(hi));
                if from > to { 0 } else { (to.wrapping_sub(from) as u64).saturating_add(1) }
            }
            ValueSet::Bits { lo: base, members } => {
                members.ones().filter(|&i| (lo..=hi).contains(&(base + i as i64))).count() as u64
            }
        }
    }
}

/// A condition of an action.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Guard {
    /// The variable's value is in the set. What can be said this way should be: such guards are
    /// indexed and their relations are exact.
    In(VarId, ValueSet),
    /// The expression is true.
    True(ExprId),
    /// No action without this guard is enabled: `timeout` of Promela.
    Quiet,
}

impl Guard {
    /// The variable has this value.
    pub fn equals(var: VarId, value: i64) -> Guard {
        Guard::In(var, ValueSet::Range(value, value))
    }

    /// The variable has at least this value.
    pub fn at_least(var: VarId, value: i64) -> Guard {
        Guard::In(var, ValueSet::Range(value, i64::MAX))
    }

    /// The variable has one of these values.
    pub fn one_of(var: VarId, values: impl IntoIterator<Item = i64>) -> Guard {
        Guard::In(var, ValueSet::of(values))
    }
}

/// A statement of an effect. Statements are executed in order; each sees what those before it
/// have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    /// `var := value`.
    Assign(VarId, ExprId),
    /// `array[index] := value`.
    AssignElement {
        /// Variable of index 0.
        first: VarId,
        /// Number of elements.
        len: u32,
        /// Which element.
        index: ExprId,
        /// The new value.
        value: ExprId,
    },
    /// `var := value`, a constant.
    Set(VarId, i64),
    /// `var := table[var - lo]`, where `lo` is the variable's least value. A value that the table
    /// does not reach or maps to `None` is a fault: the guards must exclude it.
    Map(VarId, Vec<Option<i64>>),
    /// `var := var + amount`.
    Add(VarId, i64),
    /// The first statements if the condition is true, else the second ones.
    If(ExprId, Vec<Stmt>, Vec<Stmt>),
    /// The statements, as long as the condition is true.
    While(ExprId, Vec<Stmt>),
    /// A fault with the given number unless the condition is true.
    Assert(ExprId, u32),
}

impl Stmt {
    /// An effect may go round its loops this often, in all, before it counts as endless.
    pub const MAX_ROUNDS: u32 = 1 << 20;

    /// `var := value`.
    pub fn assign(var: VarId, value: ExprId) -> Stmt {
        Stmt::Assign(var, value)
    }

    /// `var := value`, a constant.
    pub fn set(var: VarId, value: i64) -> Stmt {
        Stmt::Set(var, value)
    }
}

/// Something the system can do: when all guards are true, the effect happens at once.
#[derive(Clone, Debug)]
pub struct Action {
    /// What it is called.
    pub label: LabelId,
    /// All must be true.
    pub guards: Vec<GuardId>,
    /// What it does.
    pub effect: Vec<Stmt>,
    /// The processes that take part.
    pub owners: Vec<ProcessId>,
}

/// A named truth about states: an invariant, or an atom of a formula.
#[derive(Clone, Debug)]
pub struct Proposition {
    /// What people call it.
    pub name: String,
    /// When it is true.
    pub expr: ExprId,
}

/// Why a system could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// There is no initial state, so nothing could be said about any run.
    NoInitialState,
    /// A variable's range has no values.
    EmptyRange(String),
    /// An initial value is out of the variable's range.
    InitialOutOfRange {
        /// The variable's name.
        variable: String,
        /// The value.
        value: i64,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::NoInitialState => write!(f, "the system has no initial state"),
            BuildError::EmptyRange(variable) => write!(f, "the range of `{variable}` is empty"),
            BuildError::InitialOutOfRange { variable, value } => {
                write!(f, "the initial value {value} of `{variable}` is out of its range")
            }
        }
    }
}

impl std::error::Error for BuildError {}

/// Collects the parts of an [`ActionSystem`].
#[derive(Debug, Default)]
pub struct Builder {
    /// The expressions.
    pub exprs: Exprs,
    variables: Vec<Variable>,
    processes: Vec<Process>,
    labels: Vec<Label>,
    label_ids: FxHashMap<Label, LabelId>,
    guards: Vec<Guard>,
    guard_ids: FxHashMap<Guard, GuardId>,
    actions: Vec<Action>,
    goes_on: Vec<(ActionId, ProcessId)>,
    queues: Queues,
    initial: Vec<Vec<i64>>,
}

impl Builder {
    /// An empty system.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Adds a process.
    pub fn process(&mut self, name: impl Into<String>) -> ProcessId {
        self.processes.push(Process { name: name.into() });
        ProcessId::new(self.processes.len() - 1)
    }

    /// Adds a variable.
    pub fn variable(&mut self, variable: Variable) -> VarId {
        self.variables.push(variable);
        VarId::new(self.variables.len() - 1)
    }

    /// The label of that name, shared by all who ask for it.
    pub fn label(&mut self, name: impl Into<String>) -> LabelId {
        let label = Label { name: name.into(), internal: false };
        match self.label_ids.get(&label) {
            Some(&id) => id,
            None => {
                let id = self.push_label(label.clone());
                self.label_ids.insert(label, id);
                id
            }
        }
    }

    /// A new internal label, shared with nobody.
    pub fn internal_label(&mut self, name: impl Into<String>) -> LabelId {
        self.push_label(Label { name: name.into(), internal: true })
    }

    fn push_label(&mut self, label: Label) -> LabelId {
        self.labels.push(label);
        LabelId::new(self.labels.len() - 1)
    }

    /// The id of a guard; equal guards share it.
    pub fn guard(&mut self, guard: Guard) -> GuardId {
        match self.guard_ids.get(&guard) {
            Some(&id) => id,
            None => {
                let id = GuardId::new(self.guards.len());
                self.guards.push(guard.clone());
                self.guard_ids.insert(guard, id);
                id
            }
        }
    }

    /// Adds an action.
    pub fn action(&mut self, action: Action) -> ActionId {
        self.actions.push(action);
        ActionId::new(self.actions.len() - 1)
    }

    /// Says that these variables are a queue; returns its number.
    pub fn queue(&mut self, queue: Queue) -> u32 {
        self.queues.all.push(queue);
        self.queues.all.len() as u32 - 1
    }

    /// Says that an action does nothing else to the variables of a queue, and tests nothing else of them
    /// in its guards: where one action can put something in and another can take something out, the
    /// order does not matter.
    pub fn uses_queue(&mut self, action: ActionId, queue_use: QueueUse) {
        self.queues.uses.push((action, queue_use));
    }

    /// Says that after `action` the process goes on alone, with actions that it is the first owner of,
    /// as long as it can: all of this is one step (see [`chain`](mod@crate::chain)).
    pub fn goes_on(&mut self, action: ActionId, process: ProcessId) {
        self.goes_on.push((action, process));
    }

    /// Adds an initial state: one value per variable, in the order of their declaration.
    pub fn initial(&mut self, values: &[i64]) {
        self.initial.push(values.to_vec());
    }

    /// The finished system.
    ///
    /// # Panics
    /// If an initial state does not have one value per variable.
    pub fn finish(self) -> Result<ActionSystem, BuildError> {
        if let Some(variable) = self.variables.iter().find(|variable| variable.lo > variable.hi) {
            return Err(BuildError::EmptyRange(variable.name.clone()));
        }
        let layout = Layout::pack(&self.variables);
        let mut initial = Vec::new();
        for values in &self.initial {
            assert_eq!(values.len(), self.variables.len(), "one initial value per variable");
            initial.extend(layout.encode(values).map_err(|var| BuildError::InitialOutOfRange {
                variable: self.variables[var.index()].name.clone(),
                value: values[var.index()],
            })?);
        }
        if initial.is_empty() {
            return Err(BuildError::NoInitialState);
        }
        let mut code = Code::new(&layout);
        let index = Index::new(&layout, &self.guards, &self.actions);
        self.guards.iter().for_each(|guard| code.add_guard(&self.exprs, guard));
        for (id, action) in self.actions.iter().enumerate() {
            let known = index.implied_guard(ActionId::new(id));
            let tests = action.guards.iter().filter(|&&guard| Some(guard) != known);
            let tests = tests.map(|guard| (guard.index(), &self.guards[guard.index()]));
            code.add_action(&self.exprs, &layout, tests, &action.effect);
        }
        let chains = (!self.goes_on.is_empty()).then(|| {
            let mut next = vec![None; self.actions.len()];
            self.goes_on.iter().for_each(|&(action, process)| next[action.index()] = Some(process));
            Chains::new(next)
        });
        let is_quiet = |guard: &GuardId| self.guards[guard.index()] == Guard::Quiet;
        let quiet: FixedBitSet = (0..self.actions.len())
            .filter(|&action| self.actions[action].guards.iter().any(is_quiet))
            .collect();
        Ok(ActionSystem {
            chains,
            queues: self.queues.finish(self.variables.len(), self.actions.len()),
            quiet: (!quiet.is_clear()).then_some(quiet),
            exprs: self.exprs,
            variables: self.variables,
            processes: self.processes,
            labels: self.labels,
            guards: self.guards,
            actions: self.actions,
            propositions: Vec::new(),
            layout,
            initial,
            code,
            index,
        })
    }
}

/// A system of guarded actions, ready to run.
#[derive(Clone, Debug)]
pub struct ActionSystem {
    /// The expressions. Front ends add those of properties.
    pub exprs: Exprs,
    variables: Vec<Variable>,
    processes: Vec<Process>,
    labels: Vec<Label>,
    guards: Vec<Guard>,
    actions: Vec<Action>,
    propositions: Vec<Proposition>,
    layout: Layout,
    /// Packed initial states, one after the other.
    initial: Vec<u32>,
    code: Code,
    index: Index,
    /// If some actions are followed by others in the same step.
    chains: Option<Chains>,
    /// The actions that happen only where no others can, if there are some.
    quiet: Option<FixedBitSet>,
    queues: Queues,
}

impl ActionSystem {
    /// Makes a truth about states observable; returns its number. Equal expressions share it.
    pub fn add_proposition(&mut self, name: impl Into<String>, expr: ExprId) -> usize {
        if let Some(known) = self.propositions.iter().position(|known| known.expr == expr) {
            return known;
        }
        self.code.add_proposition(&self.exprs, expr);
        self.propositions.push(Proposition { name: name.into(), expr });
        self.propositions.len() - 1
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
