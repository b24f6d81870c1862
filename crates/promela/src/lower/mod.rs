//! What a program means: its action system.
//!
//! - A process is a *slot*, which is its number, with a variable that says where in its code the process
//!   is (0: there is none), and a frame of variables. Code is made for each number, proctype and values of
//!   parameters that never change (see `plan`).
//! - Every edge of a proctype's graph ([`crate::flow`]) is an action, one for each channel that its channel
//!   variable may mean. A rendezvous is an action of both processes, the sender first.
//! - Inside an atomic sequence the process goes on in the same step ([`model::chain`]); a d_step is one
//!   effect. `timeout` waits until nothing else is possible ([`model::Guard::Quiet`]).
//! - A channel is a number of messages and their cells, the oldest first; cells that are not used are 0.
//! - Variables that no statement changes are constants, and take no room.
//! - A trace is a variable that messages move (`trace`); priorities are conditions on what others can do
//!   (`expr::priorities`).
//!
//! States are equal when Spin's are, and steps are Spin's, so that counts can be compared with those of
//! a verifier made by `spin -a -o1 -o2 -o3`.

mod claim;
mod code;
mod expr;
mod facts;
pub(crate) mod plan;
mod ranges;
mod storage;
pub mod tell;
mod trace;
mod world;

use std::sync::Arc;

use base::{Diagnostics, Span};
use model::{ActionSystem, Builder, Describe as _, ExprId, Fault, StepError, Stmt, VarId};
use rustc_hash::FxHashMap;

pub use self::claim::Claim;
use self::code::{Coder, evaluate};
use self::expr::{Lowering, Scope};
use self::facts::Facts;
use self::plan::{Instance, Plan, Site, Ticket};
use self::ranges::Ranges;
use self::world::{World, WorldBuilder};
use crate::flow::{self, Flow};
use crate::program::{ProctypeId, ProctypeKind, Program};

/// Where a fault tells what is to be started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    var: VarId,
    site: Site,
    proctype: ProctypeId,
    priority: u32,
}

/// What an [`Stmt::Assert`] of the system is about.
#[derive(Clone, Debug)]
pub struct Promise {
    /// The statement.
    pub span: Span,
    /// What is wrong if it is not kept.
    pub message: String,
}

/// What code is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Questions about runs: assertions are not looked at, and runs end where nothing is possible.
    Formulas,
    /// Whether invalid end states can be reached: where processes may all stay for ever, that is a step,
    /// so deadlocks are invalid end states. Assertions are not looked at.
    EndStates,
    /// The same, and a broken assertion is a fault.
    Assertions,
    /// One run after the other: a broken assertion is a fault, and runs end where nothing is possible.
    Simulation,
}

/// A program that can be run.
#[derive(Clone, Debug)]
pub struct Code {
    /// The system.
    pub system: ActionSystem,
    /// What its assertions are about, by their numbers.
    pub promises: Vec<Promise>,
    program: Arc<Program>,
    purpose: Purpose,
    plan: Plan,
    tickets: Vec<Ticket>,
    probes: Vec<Probe>,
    /// What each action is in words.
    words: Vec<Vec<tell::Words>>,
    world: World,
}

impl Code {
    /// The code of a program. Some processes are found only when it runs: see [`Code::extend`].
    ///
    /// # Errors
    /// What is legal, but not supported.
    pub fn new(program: Arc<Program>, purpose: Purpose) -> Result<Code, Diagnostics> {
        let mut plan = Plan::default();
        let n_global = n_channels(&program, &program.globals);
        let mut n_before = n_global;
        for (slot, &proctype) in program.initial.iter().enumerate() {
            let its = &program.proctypes[proctype.index()];
            plan.add(Instance {
                slot: slot as u32,
                proctype,
                arguments: vec![Some(0); its.n_parameters],
                n_channels: n_before,
                priority: its.priority,
            });
            n_before += n_channels(&program, &its.locals);
        }
        Code::of_plan(program, purpose, plan)
    }

    /// The same for another purpose.
    ///
    /// # Errors
    /// None, after code was made.
    pub fn with_purpose(&self, purpose: Purpose) -> Result<Code, Diagnostics> {
        Code::of_plan(self.program.clone(), purpose, self.plan.clone())
    }

    fn of_plan(program: Arc<Program>, purpose: Purpose, plan: Plan) -> Result<Code, Diagnostics> {
        let mut errors = Vec::new();
        let flows = flows(&program)?;
        let facts = Facts::new(&program);
        let values = Ranges::new(&program);
        let tickets: Vec<Ticket> = program
            .proctypes
            .iter()
            .enumerate()
            .map(|(index, proctype)| {
                let parameters = proctype.locals[..proctype.n_parameters].iter().enumerate();
                Ticket::new(parameters.map(|(local, variable)| {
                    (variable.ty, !facts.changes_local(ProctypeId::new(index), local))
                }))
            })
            .collect();
        // Parameters whose values a ticket does not tell are variables.
        let mut plan = plan;
        plan.forget(|instance, parameter| !tickets[instance.proctype.index()].tells(parameter));
        let mut builder = Builder::new();
        let scratch = scratch(&program, &flows);
        let known =
            |globals: &[storage::Storage],
             process: Option<(&Instance, &[storage::Storage])>,
             expr: &crate::program::Expr| { world::known(globals, process, expr) };
        let (world, mut initial) =
            WorldBuilder::new(&program, &facts, &values, &mut builder).build(&plan, &flows, scratch, &known);
        let (mut probes, mut promises, mut words) = (Vec::new(), Vec::new(), Vec::new());
        let n_initial = program.initial.len();
        let mut coder = Coder {
            program: &program,
            flows: &flows,
            world: &world,
            plan: &plan,
            tickets: &tickets,
            builder: &mut builder,
            asserts: matches!(purpose, Purpose::Assertions | Purpose::Simulation),
            probes: &mut probes,
            carriers: Vec::new(),
            words: &mut words,
            promises: &mut promises,
            precedence: FxHashMap::default(),
            errors: &mut errors,
        };
        coder.run();
        if matches!(purpose, Purpose::EndStates | Purpose::Assertions) {
            coder.rest();
        }
        let mut starts = Vec::new();
        for process in 0..n_initial {
            let zeros: Vec<ExprId> = vec![coder.builder.exprs.int(0); 64];
            match coder.start(process, &zeros) {
                Ok(effect) => starts.push(effect),
                Err(error) => coder.errors.push(error),
            }
        }
        let n_carriers = coder.carriers.len();
        if !errors.is_empty() {
            let mut all = Diagnostics::new();
            all.extend(errors);
            return Err(all);
        }
        initial.resize(initial.len() + probes.len() + n_carriers, 0);
        for effect in starts {
            apply(&builder.exprs, &effect, &mut initial);
        }
        builder.initial(&initial);
        let system = builder.finish().map_err(|error| {
            Diagnostics::from(base::Diagnostic::error("not-supported", error.to_string()))
        })?;
        drop(flows);
        Ok(Code { system, promises, program, purpose, plan, tickets, probes, words, world })
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Whether a fault only says that code is missing.
    pub fn can_extend(&self, error: &StepError) -> bool {
        matches!(error.fault, Fault::OutOfRange { var, .. } if self.probes.iter().any(|probe| probe.var == var))
    }

    /// A sentence about a fault.
    pub fn describe(&self, error: &StepError) -> String {
        match error.fault {
            Fault::Assertion(number) => match self.promises.get(number as usize) {
                Some(promise) => promise.message.clone(),
                None => error.fault.to_string(),
            },
            Fault::IndexOutOfBounds { array, index, .. } if array == self.world.nothing => {
                let place = error.action.map(|action| self.system.action_label(action));
                format!("index {index} is out of bounds, in `{}`", place.unwrap_or_default())
            }
            _ => self.system.describe_fault(error),
        }
    }

    /// Makes the code that was missing, after a fault that says so; everything must be searched again,
    /// and expressions be resolved again.
    ///
    /// # Errors
    /// What is legal, but not supported.
    pub fn extend(&self, error: &StepError) -> Result<Option<Code>, Diagnostics> {
        let Fault::OutOfRange { var, value } = error.fault else { return Ok(None) };
        let Some(probe) = self.probes.iter().find(|probe| probe.var == var) else { return Ok(None) };
        let mut instance = self.tickets[probe.proctype.index()].read(probe.proctype, value - 1);
        instance.priority = probe.priority;
        let program = &self.program;
        if n_channels(program, &program.proctypes[probe.proctype.index()].locals) == 0 {
            instance.n_channels = 0;
        } else if self.world.n_channels.is_none() {
            // All channels that there are are global.
            instance.n_channels = n_channels(program, &program.globals);
        }
        let mut plan = self.plan.clone();
        plan.extend(probe.site, instance);
        Code::of_plan(self.program.clone(), self.purpose, plan).map(Some)
    }

    /// Does something with expressions of the system.
    fn lower<T>(&mut self, with: impl FnOnce(&mut Lowering<'_>) -> T) -> Result<T, Diagnostics> {
        let program = self.program.clone();
        let flows = flows(&program)?;
        let mut lowering = Lowering {
            program: &program,
            flows: &flows,
            world: &self.world,
            exprs: &mut self.system.exprs,
            timeout: false,
        };
        Ok(with(&mut lowering))
    }

    /// An expression over global names.
    ///
    /// # Errors
    /// What is legal, but not supported.
    pub fn expression(&mut self, expr: &crate::program::Expr) -> Result<ExprId, Diagnostics> {
        self.lower(|lowering| lowering.expr(Scope::Global, expr))?.map_err(Diagnostics::from)
    }

    /// The automaton of a never claim.
    ///
    /// # Errors
    /// What is legal, but not supported.
    pub fn claim(&mut self, id: ProctypeId, formulas: &mut ltl::Formulas) -> Result<Claim, Diagnostics> {
        let program = self.program.clone();
        let flows = flows(&program)?;
        let mut lowering = Lowering {
            program: &program,
            flows: &flows,
            world: &self.world,
            exprs: &mut self.system.exprs,
            timeout: false,
        };
        claim::read(&mut lowering, formulas, &flows[id.index()]).map_err(Diagnostics::from)
    }

    /// Every process is where it may stay for ever.
    ///
    /// # Errors
    /// None, after the code was made.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a method is for one lifetime")]
    pub fn valid_end(&mut self) -> Result<ExprId, Diagnostics> {
        self.lower(|lowering| lowering.is_valid_end())
    }

    /// No process is at a progress label.
    ///
    /// # Errors
    /// None, after the code was made.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a method is for one lifetime")]
    pub fn non_progress(&mut self) -> Result<ExprId, Diagnostics> {
        self.lower(|lowering| lowering.non_progress())
    }

    /// Some process is at an accept label.
    ///
    /// # Errors
    /// None, after the code was made.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a method is for one lifetime")]
    pub fn accepts(&mut self) -> Result<ExprId, Diagnostics> {
        self.lower(|lowering| lowering.accepts())
    }
}

/// The graphs of all proctypes, claims and traces.
fn flows(program: &Program) -> Result<Vec<Flow<'_>>, Diagnostics> {
    let mut flows = Vec::new();
    for index in 0..program.proctypes.len() {
        flows.push(flow::flow(program, ProctypeId::new(index)).map_err(Diagnostics::from)?);
    }
    Ok(flows)
}

fn n_channels(program: &Program, variables: &[crate::program::Variable]) -> u32 {
    variables.iter().map(|variable| storage::n_channels(program, variable)).sum()
}

/// The greatest value that effects need in between, if they need one.
fn scratch(program: &Program, flows: &[Flow<'_>]) -> Option<i64> {
    let is_process =
        |index: &usize| matches!(program.proctypes[*index].kind, ProctypeKind::Proctype | ProctypeKind::Init);
    (0..flows.len()).filter(is_process).filter_map(|index| code::scratch_of(&flows[index])).max()
}

/// Runs assignments on unpacked values.
fn apply(exprs: &model::Exprs, effect: &[Stmt], values: &mut [i64]) {
    for stmt in effect {
        match stmt {
            Stmt::Set(var, value) => values[var.index()] = *value,
            Stmt::Assign(var, expr) => {
                if let Some(value) = evaluate(exprs, *expr, &|var| values[var.index()]) {
                    values[var.index()] = value;
                }
            }
            _ => {}
        }
    }
}
