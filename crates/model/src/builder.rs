//! How a front end makes an [`ActionSystem`]: variables, guards and actions, one after the other.

use std::fmt;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::action_system::ActionSystem;
use crate::chain::Holder;
use crate::code::Code;
use crate::index::Index;
use crate::queue::{Queue, QueueUse, Queues};
use crate::{
    Action, ActionId, Exprs, Guard, GuardId, Label, LabelId, Layout, Process, ProcessId, Stmt, VarId,
    Variable,
};

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

/// What a system does, for whoever makes another one of it: the numbers of variables, actions and guards stay.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The variables.
    pub variables: Vec<Variable>,
    /// The guards; more may be added.
    pub guards: Vec<Guard>,
    /// The actions.
    pub actions: Vec<Action>,
    /// Per action: who goes on after it in the same step.
    pub goes_on: Vec<Option<ProcessId>>,
    /// The initial states, one value per variable.
    pub initial: Vec<Vec<i64>>,
}

impl ActionSystem {
    /// Its parts.
    pub fn to_parts(&self) -> Parts {
        Parts {
            variables: self.variables.clone(),
            guards: self.guards.clone(),
            actions: self.actions.clone(),
            goes_on: (0..self.actions.len()).map(|action| self.next_process(ActionId::new(action))).collect(),
            initial: self.initial().map(|state| self.layout.decode(state)).collect(),
        }
    }

    /// The system that has these parts instead, and the expressions, propositions and queues of this one.
    ///
    /// # Errors
    /// The parts do not fit together.
    pub fn with_parts(&self, parts: Parts) -> Result<ActionSystem, BuildError> {
        let goes_on = parts.goes_on.iter().enumerate();
        let builder = Builder {
            holder: self.holder.clone(),
            exprs: self.exprs.clone(),
            variables: parts.variables,
            processes: self.processes.clone(),
            labels: self.labels.clone(),
            guards: parts.guards,
            goes_on: goes_on.filter_map(|(at, &process)| Some((ActionId::new(at), process?))).collect(),
            actions: parts.actions,
            queues: self.queues.clone(),
            by_first: self.by_first.clone(),
            initial: parts.initial,
            ..Builder::default()
        };
        // Who may act where somebody goes on alone is among the guards already.
        let mut system = builder.finish_guarded()?;
        for proposition in &self.propositions {
            system.add_proposition(proposition.name.as_str(), proposition.expr);
        }
        Ok(system)
    }
}

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
    holder: Option<Holder>,
    queues: Queues,
    by_first: FixedBitSet,
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

    /// Says that these processes may come back to where they were inside of one step, and which variable then
    /// tells who goes on alone: 0 is nobody, others the number of the process plus one. It is 0 at first, and no
    /// action mentions it. All others never come back, or their steps are faults.
    pub fn may_go_round(&mut self, processes: Vec<ProcessId>, holder: VarId) {
        self.holder = Some(Holder { var: holder, processes });
    }

    /// Only who goes on alone may act, if somebody does; and whoever acts does not go on alone, unless it
    /// turns out that it does.
    fn guard_holder(&mut self, holder: &Holder) {
        for index in 0..self.actions.len() {
            let its = self.actions[index].owners.first().and_then(|&owner| holder.value(owner));
            let guard = self.guard(Guard::one_of(holder.var, its.into_iter().chain([0])));
            let action = &mut self.actions[index];
            action.guards.push(guard);
            if its.is_some() {
                action.effect.push(Stmt::set(holder.var, 0));
            }
        }
    }

    /// Says that an action is a step of its first owner, and that the others only take part: who is fair to
    /// them need not be so by this action.
    pub fn is_step_of_first(&mut self, action: ActionId) {
        self.by_first.grow_and_insert(action.index());
    }

    /// Adds an initial state: one value per variable, in the order of their declaration.
    pub fn initial(&mut self, values: &[i64]) {
        self.initial.push(values.to_vec());
    }

    /// The finished system.
    ///
    /// # Panics
    /// If an initial state does not have one value per variable.
    pub fn finish(mut self) -> Result<ActionSystem, BuildError> {
        let holder = self.holder.clone();
        holder.iter().for_each(|holder| self.guard_holder(holder));
        self.finish_guarded()
    }

    fn finish_guarded(self) -> Result<ActionSystem, BuildError> {
        let holder = self.holder;
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
        let holder_var = holder.as_ref().map(|holder| holder.var);
        let going_on: Vec<ProcessId> = self.goes_on.iter().map(|&(_, process)| process).collect();
        let index = Index::new(&layout, &self.guards, &self.actions, &going_on, holder_var);
        self.guards.iter().for_each(|guard| code.add_guard(&self.exprs, guard));
        for (id, action) in self.actions.iter().enumerate() {
            let known = index.implied_guard(ActionId::new(id));
            let guards = action.guards.iter().map(|&guard| (guard, &self.guards[guard.index()]));
            let tests = guards.clone().filter(|&(guard, _)| Some(guard) != known);
            code.add_action(&self.exprs, &layout, tests, &action.effect);
            if !going_on.is_empty() {
                code.add_turn(&layout, guards);
            }
        }
        let mut goes_on = vec![None; if self.goes_on.is_empty() { 0 } else { self.actions.len() }];
        self.goes_on.iter().for_each(|&(action, process)| goes_on[action.index()] = Some(process));
        let is_quiet = |guard: &GuardId| self.guards[guard.index()] == Guard::Quiet;
        let quiet: FixedBitSet = (0..self.actions.len())
            .filter(|&action| self.actions[action].guards.iter().any(is_quiet))
            .collect();
        Ok(ActionSystem {
            goes_on,
            holder,
            queues: self.queues.finish(self.variables.len(), self.actions.len()),
            quiet: (!quiet.is_clear()).then_some(quiet),
            exprs: self.exprs,
            variables: self.variables,
            processes: self.processes,
            labels: self.labels,
            guards: self.guards,
            actions: self.actions,
            propositions: Vec::new(),
            proposition_of: FxHashMap::default(),
            by_first: self.by_first,
            layout,
            initial,
            code,
            index,
        })
    }
}
