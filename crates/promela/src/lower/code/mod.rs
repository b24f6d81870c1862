//! Actions: one for each edge of each process, for each channel and each partner that it may have.

mod channels;
mod d_step;
mod events;
mod guards;
mod handover;
mod processes;
mod words;

use base::{Diagnostic, Limit};
use language::Trouble;
use model::{Action as ModelAction, Builder, ExprId, Guard, QueueUse, Stmt, ValueSet, VarId};
use rustc_hash::FxHashMap;

pub(crate) use self::d_step::scratch_of;
pub(crate) use self::guards::evaluate;
use self::processes::Start;
pub(crate) use self::processes::n_starts;
use super::expr::{Lowered, Lowering, Scope};
use super::facts::own_step;
use super::plan::{Plan, Ticket};
use super::storage::At;
use super::tell::Words;
use super::world::World;
use super::{Probe, Promise};
use crate::cost::Cost;
use crate::flow::{Action, Edge, Flow, LocationId};
use crate::program::{self, ExprKind, Place, Program, StmtKind};

/// What it is called that all processes stay where they are, and who does it.
pub(crate) const RESTS: &str = "-rest-";
pub(crate) const NOBODY: &str = "-";

/// Makes all actions.
pub(crate) struct Coder<'a> {
    pub(crate) program: &'a Program,
    pub(crate) flows: &'a [Flow<'a>],
    pub(crate) world: &'a World,
    pub(crate) plan: &'a Plan,
    pub(crate) tickets: &'a [Ticket],
    pub(crate) builder: &'a mut Builder,
    /// Whether assertions are looked at.
    pub(crate) asserts: bool,
    /// The variable of the first probe; the others follow.
    pub(crate) first_probe: usize,
    pub(crate) probes: &'a mut Vec<Probe>,
    /// Variables for values that are on their way, which are 0 between steps: field and type.
    pub(crate) carriers: Vec<(usize, program::Type, VarId)>,
    /// What each action is in words.
    pub(crate) words: &'a mut Vec<Vec<Words>>,
    pub(crate) promises: &'a mut Vec<Promise>,
    /// Per process, and whether `timeout` is true: what must be true by the priorities.
    pub(crate) precedence: FxHashMap<(usize, bool), Vec<ExprId>>,
    /// Per condition that was looked into: the values of a variable for which it is true, if it is about one.
    pub(crate) values_of: FxHashMap<ExprId, Option<(VarId, ValueSet)>>,
    pub(crate) errors: &'a mut Vec<Diagnostic>,
    pub(crate) cost: &'a dyn Cost,
}

/// What an action has besides its effect.
struct Head {
    /// Where each process that takes part is and goes: process, from, to.
    moves: Vec<(usize, i64, i64)>,
    conditions: Vec<ExprId>,
    /// Happens only where nothing else can.
    quiet: bool,
    /// What it does to a channel, if neither its conditions nor its values look at the channel besides.
    queue: Option<QueueUse>,
    /// Who goes on in the same step.
    next: Option<usize>,
    label: String,
    /// What it is in words: for each process that takes part.
    words: Vec<Words>,
}

/// An edge of a process, of which actions are made.
struct Step<'a> {
    process: usize,
    edge: &'a Edge<'a>,
    from: i64,
    to: i64,
    words: Words,
    /// What must be true besides, but for priorities.
    allowed: Vec<ExprId>,
    /// What must be true besides.
    conditions: Vec<ExprId>,
}

impl Step<'_> {
    /// An action with these conditions, too.
    fn head(&self, more: &[ExprId]) -> Head {
        Head {
            moves: vec![(self.process, self.from, self.to)],
            conditions: [&self.conditions, more].concat(),
            quiet: false,
            queue: None,
            next: self.edge.atomic.then_some(self.process),
            label: self.edge.text.to_string(),
            words: vec![self.words.clone()],
        }
    }
}

impl<'a> Coder<'a> {
    fn lowering(&mut self) -> Lowering<'_> {
        self.lowering_with(false)
    }

    fn lowering_with(&mut self, timeout: bool) -> Lowering<'_> {
        let Coder { program, flows, world, builder, cost, .. } = self;
        Lowering { program, flows, world, exprs: &mut builder.exprs, cost: *cost, timeout }
    }

    /// All actions of all processes.
    ///
    /// # Errors
    /// The budget is spent. What is not supported is kept.
    pub(crate) fn run(&mut self) -> Result<(), Limit> {
        for process in 0..self.world.processes.len() {
            let proctype = self.world.processes[process].instance.proctype;
            let flow: &'a Flow<'a> = &self.flows[proctype.index()];
            for (index, location) in flow.locations.iter().enumerate() {
                for edge in &location.edges {
                    let made = self.edge(process, LocationId::new(index), &location.edges, edge);
                    self.take(made)?;
                }
            }
        }
        Ok(())
    }

    /// Keeps what is not supported.
    pub(crate) fn take(&mut self, made: Lowered<()>) -> Result<(), Limit> {
        match made {
            Ok(()) => Ok(()),
            Err(Trouble::Limit(limit)) => Err(limit),
            Err(Trouble::Wrong(errors)) => {
                for error in &errors {
                    // The same statement is met once for each process.
                    if !self.errors.iter().any(|known| known.message == error.message) {
                        self.errors.push(error.clone());
                    }
                }
                Ok(())
            }
        }
    }

    /// Where all processes may stay for ever, they do.
    pub(crate) fn rest(&mut self) -> Lowered<()> {
        let condition = self.lowering().is_valid_end()?;
        let mut guards = Vec::new();
        let (owner, label) = (self.builder.process(NOBODY), self.builder.internal_label(RESTS));
        if self.add_guards(condition, &mut guards, &mut Vec::new()) {
            guards.push(self.builder.guard(Guard::Quiet));
            self.builder.action(ModelAction { label, guards, effect: Vec::new(), owners: vec![owner] });
            self.words.push(Vec::new());
        }
        Ok(())
    }

    /// All actions of an edge of a process.
    fn edge(
        &mut self,
        process: usize,
        at: LocationId,
        edges: &'a [Edge<'a>],
        edge: &'a Edge<'a>,
    ) -> Lowered<()> {
        let words = self.words_of(process, edge)?;
        let mut lowering = self.lowering();
        let (from, to) = (lowering.location(process, at), lowering.location(process, edge.target));
        let allowed = lowering.allowed(process, edges, edge)?;
        let conditions = [allowed.clone(), self.precedence(process, false)?].concat();
        let step = Step { process, edge, from, to, words, allowed, conditions };
        self.mistakes(&step)?;
        match &edge.action {
            Action::Jump => self.emit(step.head(&[]), Vec::new())?,
            Action::Else => {
                let before = edges.iter().position(|other| std::ptr::eq(other, edge)).unwrap_or(edges.len());
                let mut lowering = self.lowering();
                let other = lowering.others_possible(process, &edges[..before])?;
                let condition = lowering.not(other);
                self.emit(step.head(&[condition]), Vec::new())?;
            }
            Action::End => {
                let condition = self.lowering().can_execute(process, edge)?;
                let mut head = step.head(&[condition]);
                head.moves[0].2 = 0;
                head.next = None;
                head.label = "-end-".to_owned();
                head.words[0].text = "ends".into();
                let effect = self.end(process);
                self.emit(head, effect)?;
            }
            Action::DStep(flow) => {
                let mut parts = vec![self.lowering().can_execute(process, edge)?];
                for first in &flow.location(flow.initial).edges {
                    // What is wrong at once is so whether it can go on or not.
                    parts.extend(
                        self.mistakes_of(process, first)?.into_iter().map(|(condition, _)| condition),
                    );
                }
                let condition = self.lowering().any(&parts);
                let effect = self.d_step(process, flow, flow.initial, false)?;
                self.emit(step.head(&[condition]), effect)?;
            }
            Action::Stmt(stmt) => self.statement(&step, stmt)?,
        }
        Ok(())
    }

    /// All actions of a basic statement.
    fn statement(&mut self, step: &Step<'a>, stmt: &'a program::Stmt) -> Lowered<()> {
        let (process, edge) = (step.process, step.edge);
        match &stmt.kind {
            StmtKind::Expr(program::Expr { kind: ExprKind::Run { proctype, args, priority }, .. }) => {
                let (proctype, priority) = (*proctype, priority.unwrap_or(1));
                self.start_all(step, Start { proctype, priority, args, result: None })
            }
            StmtKind::Assign(
                place,
                program::Expr { kind: ExprKind::Run { proctype, args, priority }, .. },
            ) => {
                let (proctype, priority) = (*proctype, priority.unwrap_or(1));
                self.start_all(step, Start { proctype, priority, args, result: Some(place) })
            }
            StmtKind::Expr(expr) if mentions_timeout(expr) => {
                for timeout in [false, true] {
                    let condition = self.lowering_with(timeout).expr(Scope::Process(process), expr)?;
                    let precedence = self.precedence(process, timeout)?;
                    let mut head = step.head(&[]);
                    head.conditions = [&step.allowed[..], &precedence, &[condition]].concat();
                    head.quiet = timeout;
                    self.emit(head, Vec::new())?;
                }
                Ok(())
            }
            StmtKind::Send { channel, sorted, args } => self.send(step, channel, *sorted, args),
            StmtKind::Receive { channel, random, args, .. } => self.take_out(step, channel, *random, args),
            _ => {
                let condition = self.lowering().can_execute(process, edge)?;
                let effect = self.simple(process, edge)?;
                self.emit(step.head(&[condition]), effect)?;
                Ok(())
            }
        }
    }

    /// What must be true by the priorities for a process to do something.
    fn precedence(&mut self, process: usize, timeout: bool) -> Lowered<Vec<ExprId>> {
        if let Some(known) = self.precedence.get(&(process, timeout)) {
            return Ok(known.clone());
        }
        let conditions = self.lowering_with(timeout).precedence(process)?;
        self.precedence.insert((process, timeout), conditions.clone());
        Ok(conditions)
    }

    /// The effect of a statement that neither sends, receives, starts nor ends anything.
    fn simple(&mut self, process: usize, edge: &Edge<'a>) -> Lowered<Vec<Stmt>> {
        let scope = Scope::Process(process);
        let Action::Stmt(stmt) = &edge.action else { return Ok(Vec::new()) };
        Ok(match &stmt.kind {
            StmtKind::Assign(place, expr) => {
                let is_kept = !matches!(self.lowering().element(scope, place)?.0.at, At::Nowhere);
                let expr = if is_kept { expr } else { own_step(place, expr).unwrap_or(expr) };
                let value = self.lowering().expr(scope, expr)?;
                self.store(scope, place, value)?
            }
            StmtKind::Assert(expr) if self.asserts => {
                let condition = self.lowering().expr(scope, expr)?;
                vec![self.promise(condition, edge, "assertion violated")]
            }
            StmtKind::SetPriority(pid, priority) => {
                let (right, mut effect) = self.lowering().set_priority(scope, pid, priority)?;
                if self.asserts {
                    effect.insert(0, self.promise(right, edge, "a priority is 1 to 255"));
                }
                effect
            }
            _ => Vec::new(),
        })
    }

    /// A fault of its own unless a condition is true.
    fn promise(&mut self, condition: ExprId, edge: &Edge<'a>, what: &str) -> Stmt {
        let is_assertion =
            matches!(edge.action, Action::Stmt(program::Stmt { kind: StmtKind::Assert(_), .. }));
        let message = format!("{what}: {}", edge.text);
        self.promises.push(Promise { message, assertion: is_assertion.then_some(edge.span) });
        Stmt::Assert(condition, self.promises.len() as u32 - 1)
    }

    /// Stores a value in a place.
    fn store(&mut self, scope: Scope, place: &Place, value: ExprId) -> Lowered<Vec<Stmt>> {
        let mut lowering = self.lowering();
        let (row, index) = lowering.element(scope, place)?;
        let value = lowering.cut(value, row.ty);
        let At::Vars(first) = row.at else {
            // What can go wrong still does.
            let looks = Stmt::If(value, Vec::new(), Vec::new());
            return Ok(if lowering.can_fail(value) { vec![looks] } else { Vec::new() });
        };
        let to = |var: VarId, lowering: &Lowering<'_>| match lowering.constant(value) {
            Some(constant) => Stmt::Set(var, constant),
            None => Stmt::Assign(var, value),
        };
        let Some(index) = index else { return Ok(vec![to(first, &lowering)]) };
        let len = row.len();
        Ok(vec![match lowering.constant(index) {
            Some(at) if (0..i64::from(len)).contains(&at) => {
                to(VarId::new(first.index() + at as usize), &lowering)
            }
            _ => Stmt::AssignElement { first, len, index, value },
        }])
    }
}

fn mentions_timeout(expr: &program::Expr) -> bool {
    match &expr.kind {
        ExprKind::Timeout => true,
        ExprKind::Unary(_, x) => mentions_timeout(x),
        ExprKind::Binary(_, operands) => mentions_timeout(&operands.0) || mentions_timeout(&operands.1),
        ExprKind::Conditional(parts) => {
            mentions_timeout(&parts.0) || mentions_timeout(&parts.1) || mentions_timeout(&parts.2)
        }
        _ => false,
    }
}
