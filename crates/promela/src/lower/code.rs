//! Actions: one for each edge of each process, for each channel and each partner that it may have.

use base::Diagnostic;
use model::{
    Action as ModelAction, ActionId, BinaryOp, Builder, Expr, ExprId, Guard, GuardId, Stmt, ValueSet, VarId,
};

use super::expr::{Lowered, Lowering, MAX_PROCESSES, Receiver, Scope, not_supported, receivers};
use super::plan::{InstanceId, Plan, Site, Ticket};
use super::storage::{At, Part, n_channels, parts};
use super::world::{World, initial_values};
use super::{Probe, Promise};
use crate::flow::{Action, Edge, Flow, LocationId};
use crate::program::{self, ExprKind, Init, Place, Program, RecvArg, StmtKind, Type};

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
    pub(crate) promises: &'a mut Vec<Promise>,
    pub(crate) errors: &'a mut Vec<Diagnostic>,
}

/// What an action has besides its effect.
struct Head {
    /// Where each process that takes part is and goes: process, from, to.
    moves: Vec<(usize, i64, i64)>,
    conditions: Vec<ExprId>,
    /// Happens only where nothing else can.
    quiet: bool,
    /// Who goes on in the same step.
    next: Option<usize>,
    label: String,
}

/// Sets of values that are looked through for a guard of one variable.
const MAX_VALUES: u64 = 512;

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
        if self.add_guards(condition, &mut guards) {
            guards.push(self.builder.guard(Guard::Quiet));
            let owner = self.builder.process("-");
            let label = self.builder.internal_label("-rest-");
            self.builder.action(ModelAction { label, guards, effect: Vec::new(), owners: vec![owner] });
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
        let mut lowering = self.lowering();
        let (from, to) = (lowering.location(process, at), lowering.location(process, edge.target));
        let conditions = lowering.allowed(process, edges, edge)?;
        let head = |conditions: Vec<ExprId>| Head {
            moves: vec![(process, from, to)],
            conditions,
            quiet: false,
            next: edge.atomic.then_some(process),
            label: edge.text.to_string(),
        };
        match &edge.action {
            Action::Jump => self.emit(head(conditions), Vec::new()),
            Action::Else => {
                let other = lowering.others_possible(process, edges)?;
                let condition = lowering.not(other);
                self.emit(head([conditions, vec![condition]].concat()), Vec::new());
            }
            Action::End => {
                let condition = lowering.can_execute(process, edge)?;
                let mut head = head([conditions, vec![condition]].concat());
                head.moves[0].2 = 0;
                head.next = None;
                head.label = "-end-".to_owned();
                let effect = self.end(process);
                self.emit(head, effect);
            }
            Action::DStep(flow) => {
                let condition = lowering.can_execute(process, edge)?;
                let effect = self.d_step(process, flow, flow.initial, false)?;
                self.emit(head([conditions, vec![condition]].concat()), effect);
            }
            Action::Stmt(stmt) => match &stmt.kind {
                StmtKind::Expr(program::Expr { kind: ExprKind::Run { proctype, args, .. }, .. }) => {
                    self.start_all(
                        process,
                        edge,
                        *proctype,
                        args,
                        None,
                        &|conditions| head(conditions),
                        &conditions,
                    )?;
                }
                StmtKind::Assign(place, program::Expr { kind: ExprKind::Run { proctype, args, .. }, .. }) => {
                    self.start_all(
                        process,
                        edge,
                        *proctype,
                        args,
                        Some(place),
                        &|conditions| head(conditions),
                        &conditions,
                    )?;
                }
                StmtKind::Expr(expr) if mentions_timeout(expr) => {
                    for timeout in [false, true] {
                        let condition = self.lowering_with(timeout).expr(scope, expr)?;
                        let mut head = head([conditions.clone(), vec![condition]].concat());
                        head.quiet = timeout;
                        self.emit(head, Vec::new());
                    }
                }
                StmtKind::Send { channel, sorted, args } => {
                    self.send(process, edge, channel, *sorted, args, &conditions, head)?;
                }
                StmtKind::Receive { channel, random, keep, args } => {
                    for (condition, channel) in self.lowering().channels(scope, channel)? {
                        if self.world.channels[channel].len.is_none() {
                            continue; // The sender's business.
                        }
                        let mut lowering = self.lowering();
                        let wanted = lowering.wanted(scope, args)?;
                        let has = lowering.has_message(channel, &wanted, *random);
                        let effect = self.receive(process, channel, args, &wanted, *random, *keep)?;
                        self.emit(head([conditions.clone(), vec![condition, has]].concat()), effect);
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

    // ---- Actions -------------------------------------------------------------------------------

    fn emit(&mut self, head: Head, mut effect: Vec<Stmt>) {
        let Head { moves, conditions, quiet, next, label } = head;
        let mut guards: Vec<GuardId> = Vec::new();
        for &(process, from, _) in &moves {
            let pc = self.lowering().pc(process);
            guards.push(self.builder.guard(Guard::equals(pc, from)));
        }
        for condition in conditions {
            if !self.add_guards(condition, &mut guards) {
                return; // Never true.
            }
        }
        if quiet {
            guards.push(self.builder.guard(Guard::Quiet));
        }
        guards.dedup();
        for &(process, from, to) in &moves {
            let pc = self.lowering().pc(process);
            if from != to {
                effect.push(Stmt::set(pc, to));
            }
        }
        if let Some(last) = self.world.last {
            let slot = self.world.processes[moves[0].0].instance.slot;
            effect.push(Stmt::set(last, i64::from(slot)));
        }
        let owners = moves.iter().map(|&(process, ..)| self.world.processes[process].owner).collect();
        let label = self.builder.label(label);
        let action = self.builder.action(ModelAction { label, guards, effect, owners });
        if let Some(next) = next {
            self.builder.goes_on(action, self.world.processes[next].owner);
        }
        let _: ActionId = action;
    }

    /// Adds a condition as guards, on single variables where possible; returns whether it may be true.
    fn add_guards(&mut self, condition: ExprId, guards: &mut Vec<GuardId>) -> bool {
        match self.builder.exprs.get(condition) {
            Expr::Int(value) => value != 0,
            Expr::Binary(BinaryOp::And, x, y) => self.add_guards(x, guards) && self.add_guards(y, guards),
            _ => {
                let guard = match self.as_values(condition) {
                    Some((var, set)) => Guard::In(var, set),
                    None => Guard::True(condition),
                };
                guards.push(self.builder.guard(guard));
                true
            }
        }
    }

    /// The values of a variable for which a condition about it alone is true.
    fn as_values(&mut self, condition: ExprId) -> Option<(VarId, ValueSet)> {
        let mut vars = Vec::new();
        self.builder.exprs.reads(condition, &mut vars);
        vars.sort_unstable();
        vars.dedup();
        let [var] = vars[..] else { return None };
        let (lo, hi) = self.world.ranges[var.index()];
        if hi.wrapping_sub(lo) as u64 >= MAX_VALUES {
            return self.as_range(condition, var);
        }
        let mut values = Vec::new();
        for value in lo..=hi {
            if evaluate(&self.builder.exprs, condition, &|_| value)? != 0 {
                values.push(value);
            }
        }
        Some((var, ValueSet::of(values)))
    }

    /// The same for a comparison of a variable of many values with a constant.
    fn as_range(&mut self, condition: ExprId, var: VarId) -> Option<(VarId, ValueSet)> {
        let Expr::Binary(op, x, y) = self.builder.exprs.get(condition) else { return None };
        let (op, constant) = match (self.builder.exprs.get(x), self.builder.exprs.get(y)) {
            (Expr::Var(_), Expr::Int(constant)) => (op, constant),
            (Expr::Int(constant), Expr::Var(_)) => (mirrored(op)?, constant),
            _ => return None,
        };
        let set = match op {
            BinaryOp::Eq => ValueSet::Range(constant, constant),
            BinaryOp::Lt => ValueSet::Range(i64::MIN, constant - 1),
            BinaryOp::Le => ValueSet::Range(i64::MIN, constant),
            BinaryOp::Gt => ValueSet::Range(constant + 1, i64::MAX),
            BinaryOp::Ge => ValueSet::Range(constant, i64::MAX),
            _ => return None,
        };
        Some((var, set))
    }

    // ---- Statements ----------------------------------------------------------------------------

    /// The effect of a statement that neither sends, receives, starts nor ends anything.
    fn simple(&mut self, process: usize, edge: &Edge<'a>) -> Lowered<Vec<Stmt>> {
        let scope = Scope::Process(process);
        let Action::Stmt(stmt) = &edge.action else { return Ok(Vec::new()) };
        Ok(match &stmt.kind {
            StmtKind::Assign(place, expr) => {
                let value = self.lowering().expr(scope, expr)?;
                self.store(scope, place, value)?
            }
            StmtKind::Assert(expr) if self.asserts => {
                let condition = self.lowering().expr(scope, expr)?;
                vec![self.promise(condition, edge, "assertion violated")]
            }
            StmtKind::SetPriority(..) => return Err(not_supported(stmt.span, "`set_priority`")),
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
        let At::Vars(first) = row.at else { return Ok(Vec::new()) };
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

    // ---- Channels ------------------------------------------------------------------------------

    #[allow(clippy::too_many_arguments)]
    fn send(
        &mut self,
        process: usize,
        edge: &'a Edge<'a>,
        place: &Place,
        sorted: bool,
        args: &[program::Expr],
        conditions: &[ExprId],
        head: impl Fn(Vec<ExprId>) -> Head,
    ) -> Lowered<()> {
        let scope = Scope::Process(process);
        for (condition, channel) in self.lowering().channels(scope, place)? {
            let values = self.values(scope, channel, args)?;
            let mut conditions = conditions.to_vec();
            conditions.push(condition);
            match self.world.channels[channel].len {
                Some(len) => {
                    let capacity = i64::from(self.world.channels[channel].capacity());
                    let mut lowering = self.lowering();
                    let (len, capacity) = (lowering.exprs.var(len), lowering.int(capacity));
                    conditions.push(lowering.binary(BinaryOp::Lt, len, capacity));
                    let effect = self.append(channel, &values, sorted);
                    self.emit(head(conditions), effect);
                }
                None => self.meet(process, edge, channel, &values, &conditions, &head)?,
            }
        }
        Ok(())
    }

    /// The values that are sent: one per field of the channel.
    fn values(&mut self, scope: Scope, channel: usize, args: &[program::Expr]) -> Lowered<Vec<ExprId>> {
        let fields: &'a [Type] = &self.world.channels[channel].shape.fields;
        let mut lowering = self.lowering();
        let mut values = Vec::new();
        for (index, &ty) in fields.iter().enumerate() {
            let value = match args.get(index) {
                Some(arg) => lowering.expr(scope, arg)?,
                None => lowering.int(0),
            };
            values.push(lowering.cut(value, ty));
        }
        Ok(values)
    }

    /// Puts a message into a channel that has room.
    fn append(&mut self, channel: usize, values: &[ExprId], sorted: bool) -> Vec<Stmt> {
        let world = self.world;
        let capacity = world.channels[channel].capacity();
        let Some(len) = world.channels[channel].len else { return Vec::new() };
        let mut effect = Vec::new();
        if sorted && let Some(at) = world.scratch {
            // Those that are greater move up.
            let mut lowering = self.lowering();
            let (at_now, one, zero) = (lowering.exprs.var(at), lowering.int(1), lowering.int(0));
            let len_now = lowering.exprs.var(len);
            effect.push(Stmt::Assign(at, len_now));
            let before = lowering.binary(BinaryOp::Sub, at_now, one);
            let is_behind = lowering.binary(BinaryOp::Gt, at_now, zero);
            let mut greater = lowering.int(0);
            for (field, &value) in values.iter().enumerate().rev() {
                let first = world.channels[channel].cells[field];
                let cell = lowering.exprs.element(first, capacity, before);
                let more = lowering.binary(BinaryOp::Gt, cell, value);
                let same = lowering.binary(BinaryOp::Eq, cell, value);
                let same = lowering.all(&[same, greater]);
                greater = lowering.any(&[more, same]);
            }
            let moves = lowering.all(&[is_behind, greater]);
            let mut body = Vec::new();
            for &first in &world.channels[channel].cells {
                let value = lowering.exprs.element(first, capacity, before);
                body.push(Stmt::AssignElement { first, len: capacity, index: at_now, value });
            }
            body.push(Stmt::Add(at, -1));
            effect.push(Stmt::While(moves, body));
            for (field, &value) in values.iter().enumerate() {
                let first = world.channels[channel].cells[field];
                effect.push(Stmt::AssignElement { first, len: capacity, index: at_now, value });
            }
            effect.push(Stmt::Set(at, 0));
        } else {
            let index = self.builder.exprs.var(len);
            for (field, &value) in values.iter().enumerate() {
                let first = world.channels[channel].cells[field];
                effect.push(match (capacity, self.builder.exprs.get(value)) {
                    (1, Expr::Int(value)) => Stmt::Set(first, value),
                    (1, _) => Stmt::Assign(first, value),
                    _ => Stmt::AssignElement { first, len: capacity, index, value },
                });
            }
        }
        effect.push(Stmt::Add(len, 1));
        effect
    }

    /// Takes a message that fits out of a channel that has one.
    fn receive(
        &mut self,
        process: usize,
        channel: usize,
        args: &[RecvArg],
        wanted: &[Option<ExprId>],
        random: bool,
        keep: bool,
    ) -> Lowered<Vec<Stmt>> {
        let scope = Scope::Process(process);
        let world = self.world;
        let capacity = world.channels[channel].capacity();
        let Some(len) = world.channels[channel].len else { return Ok(Vec::new()) };
        let mut effect = Vec::new();
        let at = world.scratch.filter(|_| random && capacity > 1);
        if let Some(at) = at {
            // Looks for the first that fits.
            let mut lowering = self.lowering();
            let (index, mut parts) = (lowering.exprs.var(at), Vec::new());
            for (field, wanted) in wanted.iter().enumerate() {
                if let (Some(wanted), Some(&first)) = (wanted, world.channels[channel].cells.get(field)) {
                    let cell = lowering.exprs.element(first, capacity, index);
                    parts.push(lowering.binary(BinaryOp::Ne, cell, *wanted));
                }
            }
            let differs = lowering.any(&parts);
            effect.push(Stmt::While(differs, vec![Stmt::Add(at, 1)]));
        }
        for (field, arg) in args.iter().enumerate() {
            let (RecvArg::Store(place), Some(&first)) = (arg, world.channels[channel].cells.get(field))
            else {
                continue;
            };
            let value = match at {
                Some(at) => {
                    let index = self.builder.exprs.var(at);
                    self.builder.exprs.element(first, capacity, index)
                }
                None => self.builder.exprs.var(first),
            };
            effect.extend(self.store(scope, place, value)?);
        }
        if !keep {
            match at {
                None => {
                    for &first in &world.channels[channel].cells {
                        for message in 1..capacity as usize {
                            let next = self.builder.exprs.var(VarId::new(first.index() + message));
                            effect.push(Stmt::Assign(VarId::new(first.index() + message - 1), next));
                        }
                        effect.push(Stmt::Set(VarId::new(first.index() + capacity as usize - 1), 0));
                    }
                }
                Some(at) => {
                    let mut lowering = self.lowering();
                    let (index, one) = (lowering.exprs.var(at), lowering.int(1));
                    let next = lowering.binary(BinaryOp::Add, index, one);
                    let last = lowering.int(i64::from(capacity) - 1);
                    let goes_on = lowering.binary(BinaryOp::Lt, index, last);
                    let mut body = Vec::new();
                    for &first in &world.channels[channel].cells {
                        let value = lowering.exprs.element(first, capacity, next);
                        body.push(Stmt::AssignElement { first, len: capacity, index, value });
                    }
                    body.push(Stmt::Add(at, 1));
                    effect.push(Stmt::While(goes_on, body));
                    for &first in &world.channels[channel].cells {
                        effect.push(Stmt::Set(VarId::new(first.index() + capacity as usize - 1), 0));
                    }
                }
            }
            effect.push(Stmt::Add(len, -1));
        }
        if let Some(at) = at {
            effect.push(Stmt::Set(at, 0));
        }
        Ok(effect)
    }

    /// All meetings at a rendezvous channel.
    fn meet(
        &mut self,
        process: usize,
        edge: &'a Edge<'a>,
        channel: usize,
        values: &[ExprId],
        conditions: &[ExprId],
        head: &impl Fn(Vec<ExprId>) -> Head,
    ) -> Lowered<()> {
        for receiver in receivers(self.world, self.flows, process) {
            let Receiver { process: other, location, edge: its_edge, place, args, rest } = receiver;
            let meant = self.lowering().channels(Scope::Process(other), place)?;
            for (condition, its_channel) in meant.into_iter().filter(|(_, its)| *its == channel) {
                let proctype = self.world.processes[other].instance.proctype;
                let flows = self.flows;
                let edges = &flows[proctype.index()].locations[location.index()].edges;
                let mut lowering = self.lowering();
                let allowed = lowering.allowed(other, edges, its_edge)?;
                let agrees = lowering.agrees(other, its_channel, values, args)?;
                let (from, to) =
                    (lowering.location(other, location), lowering.location(other, its_edge.target));
                let mut effect = Vec::new();
                for (field, arg) in args.iter().enumerate() {
                    if let (RecvArg::Store(place), Some(&value)) = (arg, values.get(field)) {
                        effect.extend(self.store(Scope::Process(other), place, value)?);
                    }
                }
                if let Some((flow, start)) = &rest {
                    effect.extend(self.d_step(other, flow, *start, true)?);
                }
                let mut head = head([conditions, &allowed[..], &[condition, agrees]].concat());
                head.moves.push((other, from, to));
                // The receiver goes on, if it is inside an atomic sequence.
                head.next = its_edge.atomic.then_some(other);
                head.label = format!("{} -> {}", edge.text, its_edge.text);
                self.emit(head, effect);
            }
        }
        Ok(())
    }

    // ---- Processes -----------------------------------------------------------------------------

    /// A process that was the youngest is gone, and so are its channels.
    fn end(&mut self, process: usize) -> Vec<Stmt> {
        let world = self.world;
        let process = &world.processes[process];
        let mut effect: Vec<Stmt> =
            (process.frame.0..process.frame.1).map(|var| Stmt::set(VarId::new(var), 0)).collect();
        for &channel in &process.own_channels {
            let channel = &world.channels[channel];
            effect.extend(channel.len.map(|len| Stmt::set(len, 0)));
            for first in &channel.cells {
                let cells = (0..channel.capacity() as usize).map(|at| VarId::new(first.index() + at));
                effect.extend(cells.map(|cell| Stmt::set(cell, 0)));
            }
        }
        if let Some(n_channels) = world.n_channels
            && !process.own_channels.is_empty()
        {
            effect.push(Stmt::set(n_channels, i64::from(process.instance.n_channels)));
        }
        effect.push(Stmt::set(world.n_processes, i64::from(process.instance.slot)));
        effect
    }

    /// What happens when a process starts: its parameters get these values.
    pub(crate) fn start(&mut self, process: usize, args: &[ExprId]) -> Lowered<Vec<Stmt>> {
        let world = self.world;
        let started = &world.processes[process];
        let proctype = &self.program.proctypes[started.instance.proctype.index()];
        let scope = Scope::Process(process);
        let mut effect = Vec::new();
        for (index, local) in proctype.locals.iter().enumerate() {
            let row = &started.locals[index].rows;
            if index < proctype.n_parameters {
                if let ([row], Some(&value)) = (&row[..], args.get(index))
                    && let At::Vars(var) = row.at
                {
                    let value = self.lowering().cut(value, row.ty);
                    effect.push(Stmt::Assign(var, value));
                }
                continue;
            }
            let own = self.own_channels(process, index);
            for ((row, part), own) in row.iter().zip(parts(self.program, local)).zip(own) {
                let At::Vars(first) = row.at else { continue };
                let vars = (0..row.len() as usize).map(|at| VarId::new(first.index() + at));
                match &part.declared.init {
                    Init::Zero => {}
                    Init::Expr(expr) => {
                        let value = self.lowering().expr(scope, expr)?;
                        let value = self.lowering().cut(value, row.ty);
                        effect.extend(vars.map(|var| Stmt::Assign(var, value)));
                    }
                    Init::List(_) | Init::Channel(_) => {
                        let values = initial_values(&part, &own, &|_| None).unwrap_or_default();
                        effect.extend(vars.zip(values).map(|(var, value)| Stmt::set(var, i64::from(value))));
                    }
                }
            }
        }
        if let Some(n_channels) = world.n_channels
            && !started.own_channels.is_empty()
        {
            let n = i64::from(started.instance.n_channels) + started.own_channels.len() as i64;
            effect.push(Stmt::set(n_channels, n));
        }
        let slot = started.instance.slot;
        let initial = self.flows[started.instance.proctype.index()].initial;
        let lowering = self.lowering();
        let (pc, location) = (lowering.pc(process), lowering.location(process, initial));
        effect.push(Stmt::set(pc, location));
        effect.push(Stmt::set(world.n_processes, i64::from(slot) + 1));
        Ok(effect)
    }

    /// The numbers of the channels of a local variable of a process, part by part.
    fn own_channels(&self, process: usize, local: usize) -> Vec<Vec<i32>> {
        let started = &self.world.processes[process];
        let proctype = &self.program.proctypes[started.instance.proctype.index()];
        let before: u32 = proctype.locals[..local].iter().map(|local| n_channels(self.program, local)).sum();
        let mut own = started.own_channels[before as usize..].iter().map(|&channel| channel as i32 + 1);
        let parts = parts(self.program, &proctype.locals[local]);
        let n = |part: &Part<'_>| match part.declared.init {
            Init::Channel(_) => part.len() as usize,
            _ => 0,
        };
        parts.iter().map(|part| own.by_ref().take(n(part)).collect()).collect()
    }

    /// All that a `run` may start, and a probe for what it was not seen to start yet.
    #[allow(clippy::too_many_arguments)]
    fn start_all(
        &mut self,
        process: usize,
        edge: &'a Edge<'a>,
        proctype: program::ProctypeId,
        args: &[program::Expr],
        result: Option<&Place>,
        head: &dyn Fn(Vec<ExprId>) -> Head,
        conditions: &[ExprId],
    ) -> Lowered<()> {
        let scope = Scope::Process(process);
        let parameters = &self.program.proctypes[proctype.index()].locals;
        let mut lowering = self.lowering();
        let mut values = Vec::new();
        for (arg, parameter) in args.iter().zip(parameters) {
            let value = lowering.expr(scope, arg)?;
            values.push(lowering.cut(value, parameter.ty));
        }
        let site = Site { caller: InstanceId::new(process), statement: edge.statement };
        let known = self.plan.started_by(site).to_vec();
        let mut slots: Vec<u32> = known.iter().map(|id| self.plan.instances()[id.index()].slot).collect();
        slots.sort_unstable();
        slots.dedup();
        let probe = self.probe(site, proctype, &values);
        for &slot in &slots {
            let mut lowering = self.lowering();
            let here = lowering.equals(lowering.world.n_processes, i64::from(slot));
            let mut effect = vec![probe.clone()];
            for id in known.iter().filter(|id| self.plan.instances()[id.index()].slot == slot) {
                let meant = self.is_instance(*id, &values);
                let mut start = self.start(id.index(), &values)?;
                if let Some(place) = result {
                    let pid = self.builder.exprs.int(i64::from(slot));
                    start.extend(self.store(scope, place, pid)?);
                }
                effect = match self.builder.exprs.get(meant) {
                    Expr::Int(1) => start,
                    _ => vec![Stmt::If(meant, start, effect)],
                };
            }
            self.emit(head([conditions, &[here]].concat()), effect);
        }
        let mut lowering = self.lowering();
        let mut others = conditions.to_vec();
        for slot in slots {
            let here = lowering.equals(lowering.world.n_processes, i64::from(slot));
            others.push(lowering.not(here));
        }
        let (count, most) = (lowering.exprs.var(lowering.world.n_processes), lowering.int(MAX_PROCESSES));
        others.push(lowering.binary(BinaryOp::Lt, count, most));
        self.emit(head(others), vec![probe]);
        Ok(())
    }

    /// Whether these values, and the number of channels, are those of a process of the plan.
    fn is_instance(&mut self, id: InstanceId, values: &[ExprId]) -> ExprId {
        let world = self.world;
        let instance = &self.plan.instances()[id.index()];
        let has_channels = !world.processes[id.index()].own_channels.is_empty();
        let mut lowering = self.lowering();
        let mut parts = Vec::new();
        if let Some(n_channels) = world.n_channels
            && has_channels
        {
            parts.push(lowering.equals(n_channels, i64::from(instance.n_channels)));
        }
        for (&value, argument) in values.iter().zip(&instance.arguments) {
            if let Some(argument) = argument {
                let argument = lowering.int(i64::from(*argument));
                parts.push(lowering.binary(BinaryOp::Eq, value, argument));
            }
        }
        lowering.all(&parts)
    }

    /// A statement that fails with a number which tells what is to be started.
    fn probe(&mut self, site: Site, proctype: program::ProctypeId, values: &[ExprId]) -> Stmt {
        let world = self.world;
        let ticket = &self.tickets[proctype.index()];
        let weights = ticket.weights();
        let mut lowering = self.lowering();
        let mut number = lowering.exprs.var(world.n_processes);
        if let Some(n_channels) = world.n_channels {
            let n = lowering.exprs.var(n_channels);
            number = add_shifted(&mut lowering, number, n, Ticket::CHANNEL_WEIGHT);
        }
        for (&value, weight) in values.iter().zip(weights) {
            if let Some((lo, shift)) = weight {
                let lo = lowering.int(i64::from(lo));
                let value = lowering.binary(BinaryOp::Sub, value, lo);
                number = add_shifted(&mut lowering, number, value, shift);
            }
        }
        // A variable with one value only: whatever is assigned is out of its range.
        let one = lowering.int(1);
        let number = lowering.binary(BinaryOp::Add, number, one);
        let var = self.builder.variable(model::Variable::new("_probe", 0, 0));
        self.probes.push(Probe { var, site, proctype });
        Stmt::Assign(var, number)
    }

    // ---- d_step --------------------------------------------------------------------------------

    /// A d_step from some location on, at once. Unless it checks the first step, that must be possible.
    fn d_step(
        &mut self,
        process: usize,
        flow: &Flow<'a>,
        start: LocationId,
        checks: bool,
    ) -> Lowered<Vec<Stmt>> {
        if let Some(line) = straight(flow, start) {
            let mut effect = Vec::new();
            for (number, edge) in line.into_iter().enumerate() {
                effect.extend(self.d_step_edge(process, edge, checks || number > 0)?);
            }
            return Ok(effect);
        }
        let Some(at) = self.world.scratch else { return Ok(Vec::new()) };
        let (now, end) = (self.builder.exprs.var(at), flow.locations.len() as i64 + 1);
        let goes_on = {
            let end = self.builder.exprs.int(end);
            self.builder.exprs.binary(BinaryOp::Ne, now, end)
        };
        let number = |location: LocationId| location.index() as i64 + 1;
        let mut body: Vec<Stmt> = Vec::new();
        // Built from the last location to the first: each is looked for in the `else` of the one before.
        for (index, location) in flow.locations.iter().enumerate().rev() {
            let here = self.lowering().equals(at, index as i64 + 1);
            let mut choice: Vec<Stmt> = match (location.edges.is_empty(), location.edges.first()) {
                (true, _) | (_, None) => vec![Stmt::set(at, end)],
                (false, Some(edge)) => {
                    let never = self.builder.exprs.int(0);
                    let edge = edge.clone();
                    vec![self.promise(never, &edge, "a d_step blocks")]
                }
            };
            for edge in location.edges.iter().rev() {
                let possible = match edge.action {
                    Action::Else => self.builder.exprs.int(1),
                    _ => self.lowering().can_execute(process, edge)?,
                };
                let mut effect = self.d_step_edge(process, edge, false)?;
                effect.push(Stmt::set(at, number(edge.target)));
                choice = match self.builder.exprs.get(possible) {
                    Expr::Int(0) => choice,
                    Expr::Int(_) => effect,
                    _ => vec![Stmt::If(possible, effect, choice)],
                };
            }
            body = vec![Stmt::If(here, choice, body)];
        }
        Ok(vec![Stmt::set(at, number(start)), Stmt::While(goes_on, body), Stmt::set(at, 0)])
    }

    /// One step of a d_step. It must be possible.
    fn d_step_edge(&mut self, process: usize, edge: &Edge<'a>, checks: bool) -> Lowered<Vec<Stmt>> {
        let scope = Scope::Process(process);
        let mut effect = Vec::new();
        if checks {
            let possible = self.lowering().can_execute(process, edge)?;
            if !matches!(self.builder.exprs.get(possible), Expr::Int(1..)) {
                effect.push(self.promise(possible, edge, "a d_step blocks"));
            }
        }
        match &edge.action {
            Action::Stmt(stmt) => match &stmt.kind {
                StmtKind::Send { channel, sorted, args } => {
                    for (condition, channel) in self.lowering().channels(scope, channel)? {
                        if self.world.channels[channel].len.is_none() {
                            continue; // Never possible.
                        }
                        let values = self.values(scope, channel, args)?;
                        let its = self.append(channel, &values, *sorted);
                        effect.push(self.only_if(condition, its));
                    }
                }
                StmtKind::Receive { channel, random, keep, args } => {
                    for (condition, channel) in self.lowering().channels(scope, channel)? {
                        let wanted = self.lowering().wanted(scope, args)?;
                        let its = self.receive(process, channel, args, &wanted, *random, *keep)?;
                        effect.push(self.only_if(condition, its));
                    }
                }
                StmtKind::Expr(program::Expr { kind: ExprKind::Run { .. }, span })
                | StmtKind::Assign(_, program::Expr { kind: ExprKind::Run { .. }, span }) => {
                    return Err(not_supported(*span, "`run` inside of a d_step"));
                }
                _ => effect.extend(self.simple(process, edge)?),
            },
            Action::DStep(flow) => effect.extend(self.d_step(process, flow, flow.initial, false)?),
            Action::Jump | Action::Else | Action::End => {}
        }
        Ok(effect)
    }

    fn only_if(&self, condition: ExprId, effect: Vec<Stmt>) -> Stmt {
        Stmt::If(condition, effect, Vec::new())
    }
}

/// The edges of a graph from some location on, if there is no choice, in order.
fn straight<'f, 'a>(flow: &'f Flow<'a>, start: LocationId) -> Option<Vec<&'f Edge<'a>>> {
    let (mut line, mut at) = (Vec::new(), start);
    loop {
        match &flow.locations[at.index()].edges[..] {
            [] => return Some(line),
            [edge] if line.len() < flow.locations.len() => {
                line.push(edge);
                at = edge.target;
            }
            _ => return None,
        }
    }
}

fn add_shifted(lowering: &mut Lowering<'_>, sum: ExprId, value: ExprId, shift: u32) -> ExprId {
    let factor = lowering.int(1i64 << shift);
    let value = lowering.binary(BinaryOp::Mul, value, factor);
    lowering.binary(BinaryOp::Add, sum, value)
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

fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Eq => BinaryOp::Eq,
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        _ => return None,
    })
}

/// The value of an expression, if nothing goes wrong.
pub(crate) fn evaluate(exprs: &model::Exprs, expr: ExprId, value_of: &dyn Fn(VarId) -> i64) -> Option<i64> {
    let value = |expr| evaluate(exprs, expr, value_of);
    match exprs.get(expr) {
        Expr::Int(constant) => Some(constant),
        Expr::Var(var) => Some(value_of(var)),
        Expr::Element { first, len, index } => {
            let index = value(index)?;
            (0..i64::from(len)).contains(&index).then(|| value_of(VarId::new(first.index() + index as usize)))
        }
        Expr::Unary(op, x) => op.apply(value(x)?).ok(),
        Expr::Binary(BinaryOp::And, x, y) => Some(i64::from(value(x)? != 0 && value(y)? != 0)),
        Expr::Binary(BinaryOp::Or, x, y) => Some(i64::from(value(x)? != 0 || value(y)? != 0)),
        Expr::Binary(op, x, y) => op.apply(value(x)?, value(y)?).ok(),
        Expr::Cond(condition, x, y) => value(if value(condition)? != 0 { x } else { y }),
    }
}

/// The greatest value that the effects of a graph need in between, if they need one.
pub(crate) fn scratch_of(flow: &Flow<'_>) -> Option<i64> {
    let of_edge = |edge: &Edge<'_>| match &edge.action {
        Action::DStep(inner) => {
            let own = straight(inner, inner.initial).is_none().then(|| inner.locations.len() as i64 + 1);
            own.max(scratch_of(inner))
        }
        Action::Stmt(stmt) => match stmt.kind {
            StmtKind::Send { sorted: true, .. } | StmtKind::Receive { random: true, .. } => Some(255),
            _ => None,
        },
        Action::Jump | Action::Else | Action::End => None,
    };
    flow.locations.iter().flat_map(|location| &location.edges).filter_map(of_edge).max()
}
