//! Actions: one for each edge of each process, for each channel and each partner that it may have.

mod channels;
mod d_step;
mod events;
mod guards;
mod handover;
mod processes;
mod words;

use base::Diagnostic;
use model::{Action as ModelAction, Builder, ExprId, Guard, QueueUse, Stmt, VarId};
use rustc_hash::FxHashMap;

pub(crate) use self::d_step::scratch_of;
pub(crate) use self::guards::evaluate;
use super::expr::{Lowered, Lowering, Scope};
use super::facts::own_step;
use super::plan::{Plan, Ticket};
use super::storage::At;
use super::tell::{Sends, Words};
use super::world::World;
use super::{Probe, Promise};
use crate::flow::{Action, Edge, Flow, LocationId};
use crate::program::{self, ExprKind, Place, Program, StmtKind};

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
    pub(crate) probes: &'a mut Vec<Probe>,
    /// Variables for values that are on their way, which are 0 between steps: field and type.
    pub(crate) carriers: Vec<(usize, program::Type, VarId)>,
    /// What each action is in words.
    pub(crate) words: &'a mut Vec<Vec<Words>>,
    pub(crate) promises: &'a mut Vec<Promise>,
    /// Per process, and whether `timeout` is true: what must be true by the priorities.
    pub(crate) precedence: FxHashMap<(usize, bool), Vec<ExprId>>,
    pub(crate) errors: &'a mut Vec<Diagnostic>,
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

impl<'a> Coder<'a> {
    fn lowering(&mut self) -> Lowering<'_> {
        self.lowering_with(false)
    }

    fn lowering_with(&mut self, timeout: bool) -> Lowering<'_> {
        let Coder { program, flows, world, builder, .. } = self;
        Lowering { program, flows, world, exprs: &mut builder.exprs, timeout }
    }

    /// All actions of all processes.
    pub(crate) fn run(&mut self) {
        for process in 0..self.world.processes.len() {
            let proctype = self.world.processes[process].instance.proctype;
            let flow: &'a Flow<'a> = &self.flows[proctype.index()];
            for (index, location) in flow.locations.iter().enumerate() {
                for edge in &location.edges {
                    if let Err(error) = self.edge(process, LocationId::new(index), &location.edges, edge) {
                        // The same statement is met once for each process.
                        if !self.errors.iter().any(|known| known.message == error.message) {
                            self.errors.push(error);
                        }
                    }
                }
            }
        }
    }

    /// Where all processes may stay for ever, they do.
    pub(crate) fn rest(&mut self) {
        let condition = self.lowering().is_valid_end();
        let mut guards = Vec::new();
        if self.add_guards(condition, &mut guards, &mut Vec::new()) {
            guards.push(self.builder.guard(Guard::Quiet));
            let owner = self.builder.process("-");
            let label = self.builder.internal_label("-rest-");
            self.builder.action(ModelAction { label, guards, effect: Vec::new(), owners: vec![owner] });
            self.words.push(Vec::new());
        }
    }

    fn edge(
        &mut self,
        process: usize,
        at: LocationId,
        edges: &'a [Edge<'a>],
        edge: &'a Edge<'a>,
    ) -> Lowered<()> {
        let scope = Scope::Process(process);
        let words = self.words_of(process, edge)?;
        let mut lowering = self.lowering();
        let (from, to) = (lowering.location(process, at), lowering.location(process, edge.target));
        let allowed = lowering.allowed(process, edges, edge)?;
        let conditions = [allowed.clone(), self.precedence(process, false)?].concat();
        let head = |conditions: Vec<ExprId>| Head {
            moves: vec![(process, from, to)],
            conditions,
            quiet: false,
            queue: None,
            next: edge.atomic.then_some(process),
            label: edge.text.to_string(),
            words: vec![words.clone()],
        };
        self.mistakes(process, edge, &conditions, &head)?;
        let mut lowering = self.lowering();
        match &edge.action {
            Action::Jump => self.emit(head(conditions), Vec::new()),
            Action::Else => {
                let before = edges.iter().position(|other| std::ptr::eq(other, edge)).unwrap_or(edges.len());
                let other = lowering.others_possible(process, &edges[..before])?;
                let condition = lowering.not(other);
                self.emit(head([conditions, vec![condition]].concat()), Vec::new());
            }
            Action::End => {
                let condition = lowering.can_execute(process, edge)?;
                let mut head = head([conditions, vec![condition]].concat());
                head.moves[0].2 = 0;
                head.next = None;
                head.label = "-end-".to_owned();
                head.words[0].text = "ends".into();
                let effect = self.end(process);
                self.emit(head, effect);
            }
            Action::DStep(flow) => {
                let condition = lowering.can_execute(process, edge)?;
                let effect = self.d_step(process, flow, flow.initial, false)?;
                self.emit(head([conditions, vec![condition]].concat()), effect);
            }
            Action::Stmt(stmt) => match &stmt.kind {
                StmtKind::Expr(program::Expr {
                    kind: ExprKind::Run { proctype, args, priority }, ..
                }) => {
                    self.start_all(
                        process,
                        edge,
                        (*proctype, priority.unwrap_or(1)),
                        args,
                        None,
                        &|conditions| head(conditions),
                        &conditions,
                    )?;
                }
                StmtKind::Assign(
                    place,
                    program::Expr { kind: ExprKind::Run { proctype, args, priority }, .. },
                ) => {
                    self.start_all(
                        process,
                        edge,
                        (*proctype, priority.unwrap_or(1)),
                        args,
                        Some(place),
                        &|conditions| head(conditions),
                        &conditions,
                    )?;
                }
                StmtKind::Expr(expr) if mentions_timeout(expr) => {
                    for timeout in [false, true] {
                        let condition = self.lowering_with(timeout).expr(scope, expr)?;
                        let precedence = self.precedence(process, timeout)?;
                        let mut head = head([allowed.clone(), precedence, vec![condition]].concat());
                        head.quiet = timeout;
                        self.emit(head, Vec::new());
                    }
                }
                StmtKind::Send { channel, sorted, args } => {
                    self.send(process, edge, channel, *sorted, args, &conditions, head)?;
                }
                StmtKind::Receive { channel, random, args, .. } => {
                    for (condition, channel) in self.lowering().channels(scope, channel)? {
                        if self.world.channels[channel].len.is_none() {
                            continue; // The sender's business.
                        }
                        let mut lowering = self.lowering();
                        let wanted = lowering.wanted(scope, args)?;
                        let has = lowering.has_message(channel, &wanted, *random);
                        let effect = match self.misfit(channel, args.len(), edge) {
                            Some(error) => vec![error],
                            None => self.receive(process, channel, edge, &wanted)?,
                        };
                        let queue = self.takes(scope, channel, args, &wanted, &conditions)?;
                        let mut head = head([conditions.clone(), vec![condition, has]].concat());
                        head.queue = queue;
                        head.words[0].sends = Some(Sends::Receive { channel, wanted });
                        self.emit(head, effect);
                    }
                }
                _ => {
                    let condition = self.lowering().can_execute(process, edge)?;
                    let effect = self.simple(process, edge)?;
                    self.emit(head([conditions, vec![condition]].concat()), effect);
                }
            },
        }
        Ok(())
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
        self.promises.push(Promise { span: edge.span, message: format!("{what}: {}", edge.text) });
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
