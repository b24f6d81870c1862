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
//! Words of this room: the *world* is where everything is in a state (`world`). A *ticket* is how the start of a
//! process is told by one number, and a *probe* the variable that this number is assigned to where no code was
//! made for the process yet (`plan`). A *carrier* holds a value on its way from a sender to a receiver
//! (`code::handover`). A *promise* is what an assertion of the system is about.
//!
//! States are equal when Spin's are, and steps are Spin's, so that counts can be compared with those of
//! a verifier made by `spin -a -o1 -o2 -o3`.

mod claim;
mod code;
mod expr;
mod facts;
pub(crate) mod plan;
mod ranges;
mod rounds;
mod storage;
pub(crate) mod tell;
mod trace;
mod world;

use std::sync::Arc;

use base::{Budget, Diagnostic, Diagnostics, Span};
use fixedbitset::FixedBitSet;
use language::{Claim, Trouble};
use model::{
    ActionSystem, Builder, Describe as _, ExprId, Fault, ProcessId, Range, StepError, Stmt, VarId, Variable,
};
use rustc_hash::FxHashMap;

use self::code::{Coder, evaluate, n_starts};
use self::expr::{Lowering, Scope};
use self::facts::Facts;
use self::plan::{Foresight, Instance, InstanceId, Plan, Site, Ticket};
use self::ranges::Ranges;
use self::world::{UNNAMED, World, WorldBuilder};
use crate::cost::{self, Cost};
use crate::flow::{self, Flow};
use crate::program::{self, ProctypeId, ProctypeKind, Program};

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
pub(crate) struct Promise {
    /// What is wrong if it is not kept.
    pub(crate) message: String,
    /// The `assert` that makes it, if it is one: the program can go on without.
    pub(crate) assertion: Option<Span>,
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

/// A program that can be run. A copy shares all of it; expressions and propositions that are added to one
/// are not in the others.
#[derive(Clone, Debug)]
pub struct Code {
    /// The system.
    pub system: Arc<ActionSystem>,
    made: Arc<Made>,
    /// Whether it is known that no process is missing.
    is_complete: bool,
}

/// What a system was made of, and what it means.
#[derive(Debug)]
struct Made {
    program: Arc<Program>,
    purpose: Purpose,
    plan: Plan,
    tickets: Vec<Ticket>,
    probes: Vec<Probe>,
    /// What assertions are about, by their numbers.
    promises: Vec<Promise>,
    /// What each action is in words.
    words: Vec<Vec<tell::Words>>,
    /// What the locations of each proctype are in words.
    stops: Vec<Vec<tell::Stop>>,
    /// The number in Spin's trails of each proctype's first statement, as far as it is known.
    firsts: Vec<Option<u32>>,
    world: World,
    known: Arc<Known>,
    /// How many bytes it takes, as far as they were counted.
    bytes: u64,
}

/// What is known of a program, whatever processes it has.
#[derive(Debug)]
struct Known {
    facts: Facts,
    values: Ranges,
}

impl Known {
    fn new(program: &Program, budget: &mut Budget<'_>) -> Result<Arc<Known>, Trouble> {
        let values = cost::shared(budget, |cost| Ranges::new(program, cost))?;
        Ok(Arc::new(Known { facts: Facts::new(program), values }))
    }
}

/// The index that says that a question looks at something that was not made; no value of a program is so
/// large.
const MISSING: i64 = 1 << 40;

impl Code {
    /// The code of a program. Some processes are found only when it runs: see [`Code::extend`].
    ///
    /// # Errors
    /// What is legal, but not supported; or the budget is spent.
    pub fn new(program: Arc<Program>, purpose: Purpose, budget: &mut Budget<'_>) -> Result<Code, Trouble> {
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
        let known = Known::new(&program, budget)?;
        Code::of_plan(program, known, purpose, plan, budget)
    }

    /// The same for another purpose.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn with_purpose(&self, purpose: Purpose, budget: &mut Budget<'_>) -> Result<Code, Trouble> {
        let Made { program, known, plan, .. } = &*self.made;
        let mut code = Code::of_plan(program.clone(), known.clone(), purpose, plan.clone(), budget)?;
        if self.is_complete {
            code.complete();
        }
        Ok(code)
    }

    /// Told that no process is missing, for whatever purpose: without assertions nothing more can happen than with
    /// them, if none of them fails, and who rests does nothing new. Returns whether that is news.
    pub(crate) fn complete(&mut self) -> bool {
        let is_news = !self.is_complete && self.may_grow();
        if is_news {
            Arc::make_mut(&mut self.system).close();
        }
        self.is_complete = true;
        is_news
    }

    fn of_plan(
        program: Arc<Program>,
        known: Arc<Known>,
        purpose: Purpose,
        plan: Plan,
        budget: &mut Budget<'_>,
    ) -> Result<Code, Trouble> {
        cost::shared(budget, |cost| {
            let left = cost.left();
            let flows = flows(&program, cost)?;
            let of_flows = left - cost.left();
            let (system, parts) = make(&program, &known, purpose, plan, &flows, cost)?;
            let stops = flows.iter().map(tell::stops).collect();
            let firsts = tell::firsts(&flows);
            drop(flows);
            cost.release(of_flows);
            let bytes = left - cost.left();
            let Parts { plan, tickets, probes, promises, words, world } = parts;
            let made = Made {
                program,
                purpose,
                plan,
                tickets,
                probes,
                promises,
                words,
                stops,
                firsts,
                world,
                known,
                bytes,
            };
            Ok(Code { system: Arc::new(system), made: Arc::new(made), is_complete: false })
        })
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.made.program
    }

    /// How many bytes were taken for it.
    pub(crate) fn bytes(&self) -> u64 {
        self.made.bytes
    }

    /// Per process number, the variable that says where that process is; 0: nowhere.
    pub(crate) fn slots(&self) -> &[VarId] {
        &self.made.world.slots
    }

    /// Whether there may be code missing.
    pub(crate) fn may_grow(&self) -> bool {
        !self.made.probes.is_empty()
    }

    /// Whether a fault only says that code is missing.
    pub fn can_extend(&self, error: &StepError) -> bool {
        self.probe(error).is_some() || self.is_question(error)
    }

    fn probe(&self, error: &StepError) -> Option<(Probe, i64)> {
        let Fault::OutOfRange { var, value } = error.fault else { return None };
        self.made.probes.iter().find(|probe| probe.var == var).map(|probe| (*probe, value))
    }

    /// Whether a fault says that a question looks at something that was not made.
    fn is_question(&self, error: &StepError) -> bool {
        matches!(error.fault, Fault::IndexOutOfBounds { array, index: MISSING, .. }
            if array == self.made.world.nothing)
    }

    /// A sentence about a fault.
    pub fn describe(&self, error: &StepError) -> String {
        match error.fault {
            Fault::Assertion(number) => match self.made.promises.get(number as usize) {
                Some(promise) => promise.message.clone(),
                None => error.fault.to_string(),
            },
            Fault::IndexOutOfBounds { array, index, .. } if array == self.made.world.nothing => {
                let place = error.action.map(|action| self.system.action_label(action));
                format!("index {index} is out of bounds, in `{}`", place.unwrap_or_default())
            }
            _ => self.system.describe_fault(error),
        }
    }

    /// Makes the code that was missing, after a fault that says so; everything must be searched again,
    /// and expressions be resolved again. `asked` are the questions so far that look at something that was not
    /// made.
    ///
    /// # Errors
    /// What is legal, but not supported; or the budget is spent.
    pub fn extend(
        &self,
        error: &StepError,
        asked: &[program::Expr],
        budget: &mut Budget<'_>,
    ) -> Result<Option<Code>, Trouble> {
        let Made { program, purpose, plan, .. } = &*self.made;
        if self.is_question(error) {
            let program = Arc::new(facts::with_questions(program, asked));
            let known = Known::new(&program, budget)?;
            return Code::of_plan(program, known, *purpose, plan.clone(), budget).map(Some);
        }
        self.extend_all(std::slice::from_ref(error), true, budget)
    }

    /// The same for several faults at once, none of which is about a question; also for what is foreseen then, if somebody
    /// wants that.
    ///
    /// # Errors
    /// What is legal, but not supported; or the budget is spent.
    pub(crate) fn extend_all(
        &self,
        errors: &[StepError],
        foresees: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Code>, Trouble> {
        let Made { program, purpose, plan, known, tickets, .. } = &*self.made;
        let mut starts = Vec::new();
        for (probe, value) in errors.iter().filter_map(|error| self.probe(error)) {
            let mut instance = self.made.tickets[probe.proctype.index()].read(probe.proctype, value - 1);
            instance.priority = probe.priority;
            if n_channels(program, &program.proctypes[probe.proctype.index()].locals) == 0 {
                instance.n_channels = 0;
            } else if self.made.world.n_channels.is_none() {
                // All channels that there are are global.
                instance.n_channels = n_channels(program, &program.globals);
            }
            starts.push((probe.site, instance));
        }
        if starts.is_empty() {
            return Ok(None);
        }
        let is_possible = |instance: &Instance| {
            instance.slot < program.max_processes && tickets[instance.proctype.index()].has_room_for(instance)
        };
        let is_channel = |proctype: ProctypeId, parameter: usize| {
            program.proctypes[proctype.index()].locals[parameter].ty == program::Type::Chan
        };
        let foresight = Foresight { is_possible: &is_possible, siblings: self.has_constant_channels() };
        let left = budget.max_bytes;
        let with = |foresight: Option<Foresight<'_>>, budget: &mut Budget<'_>| {
            let mut plan = plan.clone();
            plan.extend(starts.clone(), &is_channel, foresight);
            Code::of_plan(program.clone(), known.clone(), *purpose, plan, budget).map(Some)
        };
        match with(foresees.then_some(foresight), budget) {
            // What is foreseen may be too much.
            Err(_) if foresees => {
                budget.release(left - budget.max_bytes);
                with(None, budget)
            }
            made => made,
        }
    }

    /// Whether no process has channels of its own: then their numbers do not depend on who there may be.
    fn has_constant_channels(&self) -> bool {
        let program = self.program();
        program.proctypes.iter().all(|proctype| n_channels(program, &proctype.locals) == 0)
    }

    /// The code without processes that are nowhere with these values of who is where; nothing if that is all of it.
    ///
    /// # Errors
    /// What is legal, but not supported; or the budget is spent.
    pub(crate) fn without_unmet(
        &self,
        met: &[FixedBitSet],
        budget: &mut Budget<'_>,
    ) -> Result<Option<Code>, Trouble> {
        let Made { program, purpose, plan, known, world, .. } = &*self.made;
        let is_met = |id: InstanceId| {
            let process = &world.processes[id.index()];
            let locations = process.first_location..process.first_location + process.n_locations;
            id.index() < program.initial.len()
                || locations.into_iter().any(|at| met[process.instance.slot as usize].contains(at as usize))
        };
        let all = || (0..world.processes.len()).map(InstanceId::new);
        if !self.has_constant_channels() || all().all(is_met) {
            return Ok(None);
        }
        let mut plan = plan.clone();
        plan.retain(is_met);
        Code::of_plan(program.clone(), known.clone(), *purpose, plan, budget).map(Some)
    }

    /// Does something with expressions of the system, which was paid for when the system was made.
    fn lower<T>(
        &mut self,
        with: impl FnOnce(&mut Lowering<'_>) -> Result<T, Trouble>,
    ) -> Result<T, Diagnostics> {
        let Made { program, world, .. } = &*self.made;
        let exprs = &mut Arc::make_mut(&mut self.system).exprs;
        let done = cost::paid(|cost| {
            let flows = flows(program, cost)?;
            with(&mut Lowering { program, flows: &flows, world, exprs, cost, timeout: false })
        });
        done.map_err(|trouble| match trouble {
            Trouble::Wrong(errors) => errors,
            Trouble::Limit(limit) => Diagnostic::error("not-supported", limit.to_string()).into(),
        })
    }

    /// Expressions over global names.
    ///
    /// # Errors
    /// What is legal, but not supported.
    pub fn expressions<'e>(
        &mut self,
        exprs: impl IntoIterator<Item = &'e program::Expr>,
    ) -> Result<Vec<ExprId>, Diagnostics> {
        self.lower(|lowering| exprs.into_iter().map(|expr| lowering.expr(Scope::Global, expr)).collect())
    }

    /// The automaton of a never claim.
    ///
    /// # Errors
    /// What is legal, but not supported.
    pub fn claim(&mut self, id: ProctypeId, formulas: &mut ltl::Formulas) -> Result<Claim, Diagnostics> {
        self.lower(|lowering| claim::read(lowering, formulas, &lowering.flows[id.index()]))
    }

    /// No process is at a progress label.
    ///
    /// # Errors
    /// What is legal, but not supported.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a method is for one lifetime")]
    pub fn non_progress(&mut self) -> Result<ExprId, Diagnostics> {
        self.lower(|lowering| lowering.non_progress())
    }

    /// Some process is at an accept label.
    ///
    /// # Errors
    /// What is legal, but not supported.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "a method is for one lifetime")]
    pub fn accepts(&mut self) -> Result<ExprId, Diagnostics> {
        self.lower(|lowering| lowering.accepts())
    }
}

/// What is made together with a system.
struct Parts {
    plan: Plan,
    tickets: Vec<Ticket>,
    probes: Vec<Probe>,
    promises: Vec<Promise>,
    words: Vec<Vec<tell::Words>>,
    world: World,
}

/// Makes the system of a plan.
fn make(
    program: &Program,
    Known { facts, values }: &Known,
    purpose: Purpose,
    mut plan: Plan,
    flows: &[Flow<'_>],
    cost: &dyn Cost,
) -> Result<(ActionSystem, Parts), Trouble> {
    let mut errors = Vec::new();
    let tickets: Vec<Ticket> =
        program
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
    plan.forget(|instance, parameter| !tickets[instance.proctype.index()].tells(parameter));
    let mut builder = Builder::new();
    let (world, mut initial) =
        WorldBuilder::new(program, facts, values, &mut builder, cost).build(&plan, flows)?;
    let (mut probes, mut promises, mut words) = (Vec::new(), Vec::new(), Vec::new());
    // Before all else that is needed here or there, so that for every purpose they are the same.
    let n_probes = plan.instances().iter().map(|its| n_starts(&flows[its.proctype.index()])).sum();
    let first_probe = initial.len();
    for _ in 0..n_probes {
        builder.variable(Variable { range: Range::Open, ..Variable::new(UNNAMED, 0, 0) });
    }
    let mut coder = Coder {
        first_probe,
        program,
        flows,
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
        values_of: FxHashMap::default(),
        errors: &mut errors,
        cost,
    };
    coder.run()?;
    if matches!(purpose, Purpose::EndStates | Purpose::Assertions) {
        coder.rest()?;
    }
    let mut starts = Vec::new();
    for process in 0..program.initial.len() {
        let zeros: Vec<ExprId> = vec![coder.builder.exprs.int(0); 64];
        let started = coder.start(process, &zeros).map(|effect| starts.push(effect));
        coder.take(started)?;
    }
    let n_carriers = coder.carriers.len();
    if !errors.is_empty() {
        let mut all = Diagnostics::new();
        all.extend(errors);
        return Err(all.into());
    }
    initial.resize(first_probe + n_probes + n_carriers, 0);
    let goes_round = rounds::go_round(program, flows, values)?;
    let may_hold = |process: &&world::Process| goes_round[process.instance.proctype.index()];
    let holders: Vec<ProcessId> = world.processes.iter().filter(may_hold).map(|its| its.owner).collect();
    if let Some(last) = holders.iter().max() {
        let holder = builder.variable(Variable::new(UNNAMED, 0, last.index() as i64 + 1));
        builder.may_go_round(holders, holder);
        initial.push(0);
    }
    for effect in starts {
        apply(&builder.exprs, &effect, &mut initial);
    }
    builder.initial(&initial);
    let system = builder.finish().map_err(|error| Diagnostic::error("not-supported", error.to_string()))?;
    Ok((system, Parts { plan, tickets, probes, promises, words, world }))
}

/// The graphs of all proctypes, claims and traces.
fn flows<'p>(program: &'p Program, cost: &dyn Cost) -> Result<Vec<Flow<'p>>, Trouble> {
    (0..program.proctypes.len())
        .map(|index| flow::flow_within(program, ProctypeId::new(index), cost))
        .collect()
}

fn n_channels(program: &Program, variables: &[program::Variable]) -> u32 {
    variables.iter().map(|variable| storage::n_channels(program, variable)).sum()
}

/// The greatest value that effects need in between, if they need one.
pub(crate) fn scratch(program: &Program, flows: &[Flow<'_>]) -> Option<i64> {
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
