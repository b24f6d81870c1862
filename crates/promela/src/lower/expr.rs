//! Expressions of the program as expressions of the action system.
//!
//! Values are 32-bit integers. The action system computes with 64 bits, so a result that may leave 32 bits
//! is cut where it is made; what a variable keeps of a value is cut where it is stored.

use std::sync::Arc;

use base::{Diagnostic, Span};
use model::{BinaryOp, Expr, ExprId, Exprs, UnaryOp, VarId};

use super::storage::{At, Row, n_parts};
use super::world::{Channel, Process, World};
use crate::flow::{Action, Edge, Flow, LocationId};
use crate::program::{
    self, ChannelTest, ExprKind, Place, ProctypeId, Program, RecvArg, Step, StmtKind, Type,
};

/// Whose names are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those of a process, by its number in the plan.
    Process(usize),
    /// Global names only.
    Global,
}

/// Lowers expressions.
pub(crate) struct Lowering<'a> {
    pub(crate) program: &'a Program,
    pub(crate) flows: &'a [Flow<'a>],
    pub(crate) world: &'a World,
    pub(crate) exprs: &'a mut Exprs,
    /// What `timeout` is.
    pub(crate) timeout: bool,
}

pub(crate) type Lowered<T> = Result<T, Diagnostic>;

/// An error about something that is legal, but not supported.
pub(crate) fn not_supported(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("not-supported", format!("{what} is not supported")).at(span, "here")
}

impl<'a> Lowering<'a> {
    pub(crate) fn int(&mut self, value: i64) -> ExprId {
        self.exprs.int(value)
    }

    pub(crate) fn constant(&self, expr: ExprId) -> Option<i64> {
        match self.exprs.get(expr) {
            Expr::Int(value) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, x: ExprId, y: ExprId) -> ExprId {
        self.exprs.binary(op, x, y)
    }

    pub(crate) fn not(&mut self, x: ExprId) -> ExprId {
        self.exprs.unary(UnaryOp::Not, x)
    }

    pub(crate) fn equals(&mut self, var: VarId, value: i64) -> ExprId {
        let (var, value) = (self.exprs.var(var), self.exprs.int(value));
        self.exprs.binary(BinaryOp::Eq, var, value)
    }

    pub(crate) fn all(&mut self, parts: &[ExprId]) -> ExprId {
        self.exprs.fold(BinaryOp::And, 1, parts)
    }

    pub(crate) fn any(&mut self, parts: &[ExprId]) -> ExprId {
        self.exprs.fold(BinaryOp::Or, 0, parts)
    }

    /// The values that an expression may have.
    pub(crate) fn range(&self, expr: ExprId) -> (i64, i64) {
        const ALL: (i64, i64) = (i64::MIN, i64::MAX);
        match self.exprs.get(expr) {
            Expr::Int(value) => (value, value),
            Expr::Var(var) => self.world.ranges.get(var.index()).copied().unwrap_or(ALL),
            Expr::Element { first, len, .. } => {
                let ranges = &self.world.ranges[first.index()..first.index() + len as usize];
                let lo = ranges.iter().map(|range| range.0).min().unwrap_or(i64::MIN);
                (lo, ranges.iter().map(|range| range.1).max().unwrap_or(i64::MAX))
            }
            Expr::Unary(UnaryOp::Not, _) => (0, 1),
            Expr::Unary(UnaryOp::Truncate { bits, signed: false }, _) if bits < 63 => (0, (1 << bits) - 1),
            Expr::Unary(UnaryOp::Truncate { bits, signed: true }, _) if bits < 63 => {
                (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
            }
            Expr::Unary(UnaryOp::Neg, x) => {
                let (lo, hi) = self.range(x);
                (hi.saturating_neg(), lo.saturating_neg())
            }
            Expr::Unary(..) => ALL,
            Expr::Binary(op, x, y) => {
                let ((a, b), (c, d)) = (self.range(x), self.range(y));
                match op {
                    BinaryOp::Add => (a.saturating_add(c), b.saturating_add(d)),
                    BinaryOp::Sub => (a.saturating_sub(d), b.saturating_sub(c)),
                    BinaryOp::Mul => {
                        let all = [(a, c), (a, d), (b, c), (b, d)].map(|(x, y)| x.saturating_mul(y));
                        (all.into_iter().min().unwrap_or(a), all.into_iter().max().unwrap_or(b))
                    }
                    BinaryOp::And
                    | BinaryOp::Or
                    | BinaryOp::Eq
                    | BinaryOp::Ne
                    | BinaryOp::Lt
                    | BinaryOp::Le
                    | BinaryOp::Gt
                    | BinaryOp::Ge => (0, 1),
                    BinaryOp::BitAnd if a >= 0 && c >= 0 => (0, b.min(d)),
                    BinaryOp::Rem if a >= 0 && c > 0 => (0, b.min(d - 1)),
                    BinaryOp::Div if a >= 0 && c > 0 => (0, b),
                    BinaryOp::Shr if a >= 0 => (0, b),
                    BinaryOp::BitOr | BinaryOp::BitXor if a >= 0 && c >= 0 && b < 1 << 40 && d < 1 << 40 => {
                        let bits = 64 - (b | d).leading_zeros();
                        (0, (1i64 << bits) - 1)
                    }
                    _ => ALL,
                }
            }
            Expr::Cond(_, x, y) => {
                let ((a, b), (c, d)) = (self.range(x), self.range(y));
                (a.min(c), b.max(d))
            }
        }
    }

    /// The value, cut to a number of bits if it may need more.
    pub(crate) fn cut(&mut self, expr: ExprId, ty: Type) -> ExprId {
        let (lo, hi) = ty.range();
        let range = self.range(expr);
        if i64::from(lo) <= range.0 && range.1 <= i64::from(hi) {
            return expr;
        }
        let (bits, signed) = match ty {
            Type::Bit | Type::Bool => (1, false),
            Type::Byte | Type::Pid | Type::Mtype(_) | Type::Chan => (8, false),
            Type::Short => (16, true),
            Type::Int | Type::Struct(_) => (32, true),
            Type::Unsigned(bits) => (bits, false),
        };
        self.exprs.unary(UnaryOp::Truncate { bits, signed }, expr)
    }

    /// An expression.
    pub(crate) fn expr(&mut self, scope: Scope, expr: &program::Expr) -> Lowered<ExprId> {
        Ok(match &expr.kind {
            ExprKind::Int(value) | ExprKind::Symbol(_, value) => self.int(i64::from(*value)),
            ExprKind::Load(place) => self.load(scope, place)?,
            ExprKind::Pid => match scope {
                Scope::Process(process) => {
                    let slot = self.world.processes[process].instance.slot;
                    self.int(i64::from(slot))
                }
                Scope::Global => return Err(not_supported(expr.span, "`_pid` outside of a process")),
            },
            ExprKind::NrPr => self.exprs.var(self.world.n_processes),
            ExprKind::Last => match self.world.last {
                Some(last) => self.exprs.var(last),
                None => {
                    return Err(not_supported(expr.span, "`_last` in a formula given on the command line"));
                }
            },
            ExprKind::Priority => self.int(1),
            ExprKind::NonProgress => self.non_progress(),
            ExprKind::Timeout => self.int(i64::from(self.timeout)),
            ExprKind::Unary(op, x) => {
                let x = self.expr(scope, x)?;
                let op = match op {
                    program::UnaryOp::Not => UnaryOp::Not,
                    program::UnaryOp::Neg => UnaryOp::Neg,
                    program::UnaryOp::Complement => UnaryOp::BitNot,
                };
                let result = self.exprs.unary(op, x);
                self.cut_result(result, op != UnaryOp::Not)
            }
            ExprKind::Binary(op, operands) => {
                let x = self.expr(scope, &operands.0)?;
                let y = self.expr(scope, &operands.1)?;
                let op = binary_op(*op);
                let result = self.binary(op, x, y);
                self.cut_result(
                    result,
                    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl),
                )
            }
            ExprKind::Conditional(parts) => {
                let condition = self.expr(scope, &parts.0)?;
                let (x, y) = (self.expr(scope, &parts.1)?, self.expr(scope, &parts.2)?);
                self.exprs.cond(condition, x, y)
            }
            ExprKind::ChannelTest(test, place) => {
                self.over_channels(scope, place, |this, channel| Ok(this.channel_test(*test, channel)))?
            }
            ExprKind::Poll { channel, random, args } => {
                let tests = args
                    .iter()
                    .map(|arg| arg.as_ref().map(|arg| self.expr(scope, arg)).transpose())
                    .collect::<Lowered<Vec<_>>>()?;
                self.over_channels(scope, channel, |this, channel| {
                    Ok(this.has_message(channel, &tests, *random))
                })?
            }
            ExprKind::Run { .. } => {
                return Err(not_supported(expr.span, "`run` inside a larger expression"));
            }
            ExprKind::Enabled(pid) => self.enabled(scope, pid)?,
            ExprKind::PcValue(pid) => {
                let pid = self.expr(scope, pid)?;
                let mut value = self.int(0);
                for process in 0..self.world.processes.len() {
                    for (index, location) in self.flow_of(process).locations.iter().enumerate() {
                        let here = self.is_at(process, LocationId::new(index));
                        let meant = self.is_process(pid, process);
                        let here = self.all(&[meant, here]);
                        let number = self.int(i64::from(location.number));
                        value = self.exprs.cond(here, number, value);
                    }
                }
                value
            }
            ExprKind::GetPriority(_) => self.int(1),
            ExprKind::RemoteLabel { proctype, pid, label } => {
                let Some(location) = self.flows[proctype.index()].labels[label.index()] else {
                    return Ok(self.int(0));
                };
                let mut parts = Vec::new();
                for process in self.processes_of(*proctype) {
                    let here = self.is_at(process, location);
                    let meant = self.is_meant(scope, pid.as_deref(), process)?;
                    parts.push(self.all(&[meant, here]));
                }
                self.any(&parts)
            }
            ExprKind::RemoteVar { proctype, pid, place } => {
                let mut value = self.int(0);
                for process in self.processes_of(*proctype) {
                    let lives = self.lives(process);
                    let meant = self.is_meant(scope, pid.as_deref(), process)?;
                    let condition = self.all(&[meant, lives]);
                    let loaded = self.load(Scope::Process(process), place)?;
                    value = self.exprs.cond(condition, loaded, value);
                }
                value
            }
        })
    }

    fn cut_result(&mut self, result: ExprId, may_grow: bool) -> ExprId {
        let (lo, hi) = self.range(result);
        if may_grow && (lo < i64::from(i32::MIN) || hi > i64::from(i32::MAX)) {
            return self.cut(result, Type::Int);
        }
        result
    }

    // ---- Processes -----------------------------------------------------------------------------

    pub(crate) fn process(&self, process: usize) -> &'a Process {
        &self.world.processes[process]
    }

    pub(crate) fn flow_of(&self, process: usize) -> &'a Flow<'a> {
        &self.flows[self.process(process).instance.proctype.index()]
    }

    fn processes_of(&self, proctype: ProctypeId) -> Vec<usize> {
        let processes = self.world.processes.iter().enumerate();
        processes
            .filter(|(_, process)| process.instance.proctype == proctype)
            .map(|(index, _)| index)
            .collect()
    }

    /// The variable that says where a process is.
    pub(crate) fn pc(&self, process: usize) -> VarId {
        self.world.slots[self.process(process).instance.slot as usize]
    }

    /// What a location is called there.
    pub(crate) fn location(&self, process: usize, location: LocationId) -> i64 {
        self.process(process).first_location + location.index() as i64
    }

    fn is_at(&mut self, process: usize, location: LocationId) -> ExprId {
        let (pc, value) = (self.pc(process), self.location(process, location));
        self.equals(pc, value)
    }

    /// Whether a process exists.
    pub(crate) fn lives(&mut self, process: usize) -> ExprId {
        let first = self.process(process).first_location;
        let last = first + self.flow_of(process).locations.len() as i64 - 1;
        let pc = self.exprs.var(self.pc(process));
        let (first, last) = (self.int(first), self.int(last));
        let above = self.binary(BinaryOp::Ge, pc, first);
        let below = self.binary(BinaryOp::Le, pc, last);
        self.all(&[above, below])
    }

    fn is_process(&mut self, pid: ExprId, process: usize) -> ExprId {
        let slot = self.int(i64::from(self.process(process).instance.slot));
        self.binary(BinaryOp::Eq, pid, slot)
    }

    fn is_meant(&mut self, scope: Scope, pid: Option<&program::Expr>, process: usize) -> Lowered<ExprId> {
        match pid {
            None => Ok(self.int(1)),
            Some(pid) => {
                let pid = self.expr(scope, pid)?;
                Ok(self.is_process(pid, process))
            }
        }
    }

    /// Whether a process is at one of the locations that satisfy a condition.
    pub(crate) fn is_at_some(
        &mut self,
        process: usize,
        condition: impl Fn(&crate::flow::Location<'_>) -> bool,
    ) -> ExprId {
        let flow = self.flow_of(process);
        let locations = flow.locations.iter().enumerate().filter(|(_, location)| condition(location));
        let parts: Vec<ExprId> =
            locations.map(|(index, _)| self.is_at(process, LocationId::new(index))).collect();
        self.any(&parts)
    }

    /// No process is at a progress label.
    pub(crate) fn non_progress(&mut self) -> ExprId {
        let parts: Vec<ExprId> = (0..self.world.processes.len())
            .map(|process| self.is_at_some(process, |location| location.is_progress))
            .collect();
        let progress = self.any(&parts);
        self.not(progress)
    }

    /// Some process is at an accept label.
    pub(crate) fn accepts(&mut self) -> ExprId {
        let parts: Vec<ExprId> = (0..self.world.processes.len())
            .map(|process| self.is_at_some(process, |location| location.is_accept))
            .collect();
        self.any(&parts)
    }

    /// Every process is where it may stay for ever.
    pub(crate) fn is_valid_end(&mut self) -> ExprId {
        let mut parts = Vec::new();
        for process in 0..self.world.processes.len() {
            let lives = self.lives(process);
            let ends = self.is_at_some(process, |location| location.is_end);
            let is_dead = self.not(lives);
            parts.push(self.any(&[is_dead, ends]));
        }
        self.all(&parts)
    }

    fn enabled(&mut self, scope: Scope, pid: &program::Expr) -> Lowered<ExprId> {
        let pid = self.expr(scope, pid)?;
        let mut parts = Vec::new();
        for process in 0..self.world.processes.len() {
            let meant = self.is_process(pid, process);
            for (index, location) in self.flow_of(process).locations.iter().enumerate() {
                let here = self.is_at(process, LocationId::new(index));
                for edge in &location.edges {
                    let possible = self.is_possible(process, &location.edges, edge)?;
                    parts.push(self.all(&[meant, here, possible]));
                }
            }
        }
        Ok(self.any(&parts))
    }

    // ---- Variables -----------------------------------------------------------------------------

    /// The row of a place, and which of its elements: nothing if there is but one.
    pub(crate) fn element(&mut self, scope: Scope, place: &Place) -> Lowered<(&'a Row, Option<ExprId>)> {
        let world = self.world;
        let (storage, variable) = match (place.root, scope) {
            (program::VarId::Global(global), _) => {
                (&world.globals[global.index()], &self.program.globals[global.index()])
            }
            (program::VarId::Local(local), Scope::Process(process)) => {
                let process = &world.processes[process];
                let proctype = &self.program.proctypes[process.instance.proctype.index()];
                (&process.locals[local.index()], &proctype.locals[local.index()])
            }
            (program::VarId::Local(_), Scope::Global) => {
                return Err(not_supported(place.span, "a local variable outside of its process"));
            }
        };
        let mut steps = place.steps.iter().peekable();
        let (mut row, mut index, mut lengths) = (0, None, Vec::new());
        let mut current = variable;
        loop {
            if let Some(length) = current.length {
                let at = match steps.peek() {
                    Some(Step::Index(at)) => {
                        steps.next();
                        self.expr(scope, at)?
                    }
                    _ => self.int(0),
                };
                lengths.push(length);
                index = Some(self.flat(index, at, length));
            }
            match (current.ty, steps.next()) {
                (Type::Struct(id), Some(Step::Field(field))) => {
                    let fields = &self.program.structs[id.index()].fields;
                    row += fields[..*field].iter().map(|field| n_parts(self.program, field)).sum::<usize>();
                    current = &fields[*field];
                }
                _ => break,
            }
        }
        Ok((&storage.rows[row], index))
    }

    /// The number of an element of an array in an array; one that is none, if the inner index is wrong.
    fn flat(&mut self, outer: Option<ExprId>, index: ExprId, length: u32) -> ExprId {
        let Some(outer) = outer else { return index };
        let factor = self.int(i64::from(length));
        let start = self.binary(BinaryOp::Mul, outer, factor);
        let flat = self.binary(BinaryOp::Add, start, index);
        let (lo, hi) = self.range(index);
        if lo >= 0 && hi < i64::from(length) {
            return flat;
        }
        let (zero, none) = (self.int(0), self.int(-1));
        let above = self.binary(BinaryOp::Ge, index, zero);
        let below = self.binary(BinaryOp::Lt, index, factor);
        let is_in = self.all(&[above, below]);
        self.exprs.cond(is_in, flat, none)
    }

    fn load(&mut self, scope: Scope, place: &Place) -> Lowered<ExprId> {
        let (row, index) = self.element(scope, place)?;
        Ok(match &row.at {
            At::Vars(first) => match index {
                None => self.exprs.var(*first),
                Some(index) => self.exprs.element(*first, row.len(), index),
            },
            At::Constants(values) => match index.map(|index| (index, self.constant(index))) {
                None => self.int(values.first().copied().unwrap_or(0).into()),
                Some((_, Some(index))) if usize::try_from(index).is_ok_and(|at| at < values.len()) => {
                    self.int(values[index as usize].into())
                }
                Some((index, _)) => self.constant_element(values, index),
            },
        })
    }

    /// An element of an array of constants. Outside, there is nothing to be found.
    fn constant_element(&mut self, values: &[i32], index: ExprId) -> ExprId {
        let mut value = self.int(0);
        for (at, &constant) in values.iter().enumerate().rev() {
            let (at, constant) = (self.int(at as i64), self.int(constant.into()));
            let here = self.binary(BinaryOp::Eq, index, at);
            value = self.exprs.cond(here, constant, value);
        }
        value
    }

    // ---- Channels ------------------------------------------------------------------------------

    /// The channels that a place may mean, each with the condition that it does.
    pub(crate) fn channels(&mut self, scope: Scope, place: &Place) -> Lowered<Vec<(ExprId, usize)>> {
        let (row, index) = self.element(scope, place)?;
        let mut meant = Vec::new();
        match &row.at {
            At::Constants(values) => {
                let index = index.unwrap_or_else(|| self.int(0));
                for (at, &number) in values.iter().enumerate().filter(|(_, number)| **number > 0) {
                    let at = self.int(at as i64);
                    let condition = self.binary(BinaryOp::Eq, index, at);
                    if self.constant(condition) != Some(0) {
                        meant.push((condition, number as usize - 1));
                    }
                }
            }
            At::Vars(_) => {
                let value = self.load(scope, place)?;
                for channel in 0..self.world.channels.len() {
                    let number = self.int(channel as i64 + 1);
                    meant.push((self.binary(BinaryOp::Eq, value, number), channel));
                }
            }
        }
        Ok(meant)
    }

    /// Something about the channel that a place means; 0 if it means none.
    pub(crate) fn over_channels(
        &mut self,
        scope: Scope,
        place: &Place,
        mut of: impl FnMut(&mut Self, usize) -> Lowered<ExprId>,
    ) -> Lowered<ExprId> {
        let mut value = self.int(0);
        for (condition, channel) in self.channels(scope, place)? {
            let its = of(self, channel)?;
            value = self.exprs.cond(condition, its, value);
        }
        Ok(value)
    }

    pub(crate) fn channel(&self, channel: usize) -> &'a Channel {
        &self.world.channels[channel]
    }

    fn channel_test(&mut self, test: ChannelTest, channel: usize) -> ExprId {
        let channel = self.channel(channel);
        let capacity = self.int(channel.capacity().into());
        let len = match channel.len {
            Some(len) => self.exprs.var(len),
            None => self.int(0),
        };
        let zero = self.int(0);
        match test {
            ChannelTest::Len => len,
            ChannelTest::Empty => self.binary(BinaryOp::Eq, len, zero),
            ChannelTest::NonEmpty => self.binary(BinaryOp::Gt, len, zero),
            ChannelTest::Full => self.binary(BinaryOp::Eq, len, capacity),
            ChannelTest::NonFull => self.binary(BinaryOp::Lt, len, capacity),
        }
    }

    /// A field of a message, if there is such a field.
    pub(crate) fn cell(&self, channel: usize, field: usize, message: u32) -> Option<VarId> {
        let first = self.channel(channel).cells.get(field)?;
        Some(VarId::new(first.index() + message as usize))
    }

    /// Whether a message is as wanted; fields for which nothing is given do not matter.
    pub(crate) fn fits(&mut self, channel: usize, message: u32, wanted: &[Option<ExprId>]) -> ExprId {
        let len = self.channel(channel).len;
        let mut parts = Vec::new();
        if let Some(len) = len {
            let (len, message) = (self.exprs.var(len), self.int(message.into()));
            parts.push(self.binary(BinaryOp::Gt, len, message));
        }
        for (field, wanted) in wanted.iter().enumerate() {
            if let (Some(wanted), Some(cell)) = (wanted, self.cell(channel, field, message)) {
                let cell = self.exprs.var(cell);
                parts.push(self.binary(BinaryOp::Eq, cell, *wanted));
            }
        }
        self.all(&parts)
    }

    /// Whether the oldest message, or any, is as wanted. A rendezvous channel has none.
    pub(crate) fn has_message(&mut self, channel: usize, wanted: &[Option<ExprId>], random: bool) -> ExprId {
        let capacity = self.channel(channel).capacity();
        let looked_at = if random { capacity } else { capacity.min(1) };
        let parts: Vec<ExprId> = (0..looked_at).map(|message| self.fits(channel, message, wanted)).collect();
        self.any(&parts)
    }

    /// What a receive statement wants of the fields.
    pub(crate) fn wanted(&mut self, scope: Scope, args: &[RecvArg]) -> Lowered<Vec<Option<ExprId>>> {
        args.iter()
            .map(|arg| match arg {
                RecvArg::Match(expr) => self.expr(scope, expr).map(Some),
                RecvArg::Store(_) | RecvArg::Ignore => Ok(None),
            })
            .collect()
    }

    // ---- What is possible ----------------------------------------------------------------------

    /// Whether an edge of a location can be taken by a process that is there.
    pub(crate) fn is_possible(
        &mut self,
        process: usize,
        edges: &[Edge<'a>],
        edge: &Edge<'a>,
    ) -> Lowered<ExprId> {
        let mut parts = self.allowed(process, edges, edge)?;
        parts.push(match edge.action {
            Action::Else => {
                let other = self.others_possible(process, edges)?;
                self.not(other)
            }
            _ => self.can_execute(process, edge)?,
        });
        Ok(self.all(&parts))
    }

    /// What must be true besides: `provided`, and that no escape comes first.
    pub(crate) fn allowed(
        &mut self,
        process: usize,
        edges: &[Edge<'a>],
        edge: &Edge<'a>,
    ) -> Lowered<Vec<ExprId>> {
        let scope = Scope::Process(process);
        let proctype = &self.program.proctypes[self.process(process).instance.proctype.index()];
        let mut parts = Vec::new();
        if let Some(provided) = &proctype.provided {
            parts.push(self.expr(scope, provided)?);
        }
        let earlier = edges.iter().take_while(|other| other.escape != edge.escape);
        for escape in earlier.filter(|other| other.escape > 0) {
            let possible = self.can_execute(process, escape)?;
            parts.push(self.not(possible));
        }
        Ok(parts)
    }

    /// Whether something but `else` can happen.
    pub(crate) fn others_possible(&mut self, process: usize, edges: &[Edge<'a>]) -> Lowered<ExprId> {
        let mut parts = Vec::new();
        for edge in edges.iter().filter(|edge| !matches!(edge.action, Action::Else)) {
            parts.push(self.can_execute(process, edge)?);
        }
        Ok(self.any(&parts))
    }

    /// Whether a statement can be executed.
    pub(crate) fn can_execute(&mut self, process: usize, edge: &Edge<'a>) -> Lowered<ExprId> {
        let scope = Scope::Process(process);
        match &edge.action {
            Action::Jump | Action::Else => Ok(self.int(1)),
            Action::End => {
                let slot = i64::from(self.process(process).instance.slot);
                Ok(self.equals(self.world.n_processes, slot + 1))
            }
            Action::DStep(flow) => {
                let mut parts = Vec::new();
                for edge in &flow.location(flow.initial).edges {
                    let possible = match edge.action {
                        Action::Else => self.int(1),
                        _ => self.can_execute(process, &edge.clone())?,
                    };
                    parts.push(possible);
                }
                Ok(self.any(&parts))
            }
            Action::Stmt(stmt) => match &stmt.kind {
                StmtKind::Expr(program::Expr { kind: ExprKind::Run { .. }, .. }) => {
                    let (count, most) = (self.exprs.var(self.world.n_processes), self.int(MAX_PROCESSES));
                    Ok(self.binary(BinaryOp::Lt, count, most))
                }
                StmtKind::Expr(expr) => self.expr(scope, expr),
                StmtKind::Send { channel, args, .. } => {
                    let values = args.iter().map(|arg| self.expr(scope, arg)).collect::<Lowered<Vec<_>>>()?;
                    self.over_channels(scope, channel, |this, channel| match this.channel(channel).len {
                        Some(_) => Ok(this.channel_test(ChannelTest::NonFull, channel)),
                        None => this.somebody_receives(process, channel, &values),
                    })
                }
                StmtKind::Receive { channel, random, args, .. } => {
                    let wanted = self.wanted(scope, args)?;
                    self.over_channels(scope, channel, |this, channel| {
                        Ok(this.has_message(channel, &wanted, *random))
                    })
                }
                _ => Ok(self.int(1)),
            },
        }
    }

    /// Whether somebody else waits for these values at a rendezvous channel.
    fn somebody_receives(&mut self, process: usize, channel: usize, values: &[ExprId]) -> Lowered<ExprId> {
        let mut parts = Vec::new();
        for Receiver { process: other, location, place, args, .. } in
            receivers(self.world, self.flows, process)
        {
            for (condition, its_channel) in self.channels(Scope::Process(other), place)? {
                if its_channel == channel {
                    let here = self.is_at(other, location);
                    let agrees = self.agrees(other, channel, values, args)?;
                    parts.push(self.all(&[here, condition, agrees]));
                }
            }
        }
        Ok(self.any(&parts))
    }

    /// Whether values that are sent are those that a receiver wants.
    pub(crate) fn agrees(
        &mut self,
        receiver: usize,
        channel: usize,
        values: &[ExprId],
        args: &[RecvArg],
    ) -> Lowered<ExprId> {
        let fields = &self.channel(channel).shape.fields;
        let wanted = self.wanted(Scope::Process(receiver), args)?;
        let mut parts = Vec::new();
        for (field, wanted) in wanted.into_iter().enumerate() {
            if let (Some(wanted), Some(&ty)) = (wanted, fields.get(field)) {
                let value = values.get(field).copied().unwrap_or_else(|| self.exprs.int(0));
                let value = self.cut(value, ty);
                parts.push(self.binary(BinaryOp::Eq, value, wanted));
            }
        }
        Ok(self.all(&parts))
    }
}

/// Where a process receives.
pub(crate) struct Receiver<'a> {
    pub(crate) process: usize,
    pub(crate) location: LocationId,
    pub(crate) edge: &'a Edge<'a>,
    pub(crate) place: &'a Place,
    pub(crate) args: &'a [RecvArg],
    /// If it is the first step of a d_step: the d_step, and where it goes on.
    pub(crate) rest: Option<(Arc<Flow<'a>>, LocationId)>,
}

/// All edges at which processes with other numbers than this one receive.
pub(crate) fn receivers<'a>(world: &'a World, flows: &'a [Flow<'a>], process: usize) -> Vec<Receiver<'a>> {
    let slot = world.processes[process].instance.slot;
    let mut found = Vec::new();
    for (other, its) in world.processes.iter().enumerate().filter(|(_, its)| its.instance.slot != slot) {
        for (index, location) in flows[its.instance.proctype.index()].locations.iter().enumerate() {
            for edge in &location.edges {
                let receiver = |first: &Action<'a>, rest| match first {
                    Action::Stmt(stmt) => match &stmt.kind {
                        StmtKind::Receive { channel, args, .. } => Some(Receiver {
                            process: other,
                            location: LocationId::new(index),
                            edge,
                            place: channel,
                            args,
                            rest,
                        }),
                        _ => None,
                    },
                    _ => None,
                };
                match &edge.action {
                    Action::DStep(flow) => {
                        let firsts = &flow.locations[flow.initial.index()].edges;
                        let rest = |first: &Edge<'a>| Some((flow.clone(), first.target));
                        found.extend(firsts.iter().filter_map(|first| receiver(&first.action, rest(first))));
                    }
                    action => found.extend(receiver(action, None)),
                }
            }
        }
    }
    found
}

/// As many processes as Spin allows.
pub(crate) const MAX_PROCESSES: i64 = 255;

fn binary_op(op: program::BinaryOp) -> BinaryOp {
    match op {
        program::BinaryOp::Or => BinaryOp::Or,
        program::BinaryOp::And => BinaryOp::And,
        program::BinaryOp::BitOr => BinaryOp::BitOr,
        program::BinaryOp::BitXor => BinaryOp::BitXor,
        program::BinaryOp::BitAnd => BinaryOp::BitAnd,
        program::BinaryOp::Eq => BinaryOp::Eq,
        program::BinaryOp::Ne => BinaryOp::Ne,
        program::BinaryOp::Lt => BinaryOp::Lt,
        program::BinaryOp::Le => BinaryOp::Le,
        program::BinaryOp::Gt => BinaryOp::Gt,
        program::BinaryOp::Ge => BinaryOp::Ge,
        program::BinaryOp::Shl => BinaryOp::Shl,
        program::BinaryOp::Shr => BinaryOp::Shr,
        program::BinaryOp::Add => BinaryOp::Add,
        program::BinaryOp::Sub => BinaryOp::Sub,
        program::BinaryOp::Mul => BinaryOp::Mul,
        program::BinaryOp::Div => BinaryOp::Div,
        program::BinaryOp::Rem => BinaryOp::Rem,
    }
}
