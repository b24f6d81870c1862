//! Which values variables and messages can have: the fewer, the fewer bits a state needs.
//!
//! An interval per scalar part of each variable and per field of the messages of all channels of one shape,
//! found by running all statements over intervals until nothing grows. Bounds grow to the next constant
//! of the program or the next power of two, so this ends soon. What a process knows of its own variables by
//! the conditions that it has passed counts until it assigns to them or comes to a label; so the counter of a
//! loop ends where the loop does.
//!
//! What is found is certain, so reductions may conclude from it ([`model::Range::Proved`]): the intervals are closed
//! under all statements, whichever processes there are. If by mistake one were too small, a step would be a fault
//! and no verdict be given.

mod interval;

use std::collections::BTreeSet;

use base::Limit;
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) use self::interval::Interval;
use self::interval::{BIT, BYTE, INT, as_int, binary, grow, join, kept, mirrored};
use super::facts::inside;
use super::storage::{n_parts, parts};
use crate::cost::Cost;
use crate::eval;
use crate::program::{
    BinaryOp, Channel, ChannelTest, Expr, ExprKind, Init, LocalId, Place, ProctypeId, Program, RecvArg, Step,
    Stmt, StmtKind, Type, UnaryOp, VarId, Variable,
};

/// The intervals of a program.
#[derive(Debug)]
pub(crate) struct Ranges {
    /// Per global variable and scalar part.
    globals: Vec<Vec<Interval>>,
    /// Per proctype, local variable and scalar part.
    locals: Vec<Vec<Vec<Interval>>>,
    /// Per shape of a channel and field.
    shapes: Vec<(u32, Vec<Type>, Vec<Interval>)>,
}

/// What a process knows of its own scalars.
type Facts = FxHashMap<LocalId, Interval>;

/// Runs the statements over intervals.
struct Runner<'p> {
    program: &'p Program,
    ranges: Ranges,
    /// Where bounds stop growing for a while.
    stops: BTreeSet<i64>,
    /// The variables that somebody changes; locals of any proctype.
    assigned: FxHashSet<VarId>,
    grows: bool,
    cost: &'p dyn Cost,
    /// Whether all work so far could be paid for; if not, no more is done.
    paid: Result<(), Limit>,
}

impl Ranges {
    pub(crate) fn new(program: &Program, cost: &dyn Cost) -> Result<Ranges, Limit> {
        let zeros = |variable: &Variable| vec![(0, 0); n_parts(program, variable)];
        let ranges = Ranges {
            globals: program.globals.iter().map(zeros).collect(),
            locals: program.proctypes.iter().map(|its| its.locals.iter().map(zeros).collect()).collect(),
            shapes: Vec::new(),
        };
        let assigned = changed(program.proctypes.iter().flat_map(|proctype| &proctype.body));
        let (stops, paid) = (stops(program), Ok(()));
        let mut runner = Runner { program, ranges, stops, assigned, grows: true, cost, paid };
        runner.find_shapes();
        while std::mem::take(&mut runner.grows) {
            runner.round();
            runner.paid?;
        }
        Ok(runner.ranges)
    }

    /// A scalar part of a global variable.
    pub(crate) fn global(&self, global: usize, part: usize) -> Interval {
        self.globals[global][part]
    }

    /// A scalar part of a variable of a proctype.
    pub(crate) fn local(&self, proctype: ProctypeId, local: usize, part: usize) -> Interval {
        self.locals[proctype.index()][local][part]
    }

    /// A field of the messages of channels of a shape.
    pub(crate) fn field(&self, shape: &Channel, field: usize) -> Interval {
        let its = self.shapes.iter().find(|its| is_of_shape(its, shape));
        its.and_then(|its| its.2.get(field)).copied().unwrap_or(INT)
    }
}

fn is_of_shape((capacity, fields, _): &(u32, Vec<Type>, Vec<Interval>), shape: &Channel) -> bool {
    *capacity == shape.capacity && *fields == shape.fields
}

/// The constants of a program and their neighbors, powers of two, and the bounds of all types.
fn stops(program: &Program) -> BTreeSet<i64> {
    let mut stops: BTreeSet<i64> = (0..32).flat_map(|bit| [(1i64 << bit) - 1, -(1i64 << bit)]).collect();
    let mut look = |expr: &Expr| {
        if let ExprKind::Int(value) | ExprKind::Symbol(_, value) = expr.kind {
            stops.extend((-1..=1).map(|near| i64::from(value) + near));
        }
    };
    let mut pending: Vec<&Stmt> = program.proctypes.iter().flat_map(|proctype| &proctype.body).collect();
    while let Some(stmt) = pending.pop() {
        match &stmt.kind {
            StmtKind::Expr(expr) | StmtKind::Assert(expr) | StmtKind::Assign(_, expr) => {
                eval::visit(expr, &mut look);
            }
            StmtKind::Send { args, .. } => args.iter().for_each(|arg| eval::visit(arg, &mut look)),
            _ => pending.extend(inside(stmt)),
        }
    }
    stops.retain(|stop| (INT.0..=INT.1).contains(stop));
    stops.extend([INT.0, INT.1]);
    stops
}

/// The variables that statements or parts of them may change.
fn changed<'s>(stmts: impl IntoIterator<Item = &'s Stmt>) -> FxHashSet<VarId> {
    let mut found = FxHashSet::default();
    let mut pending: Vec<&Stmt> = stmts.into_iter().collect();
    while let Some(stmt) = pending.pop() {
        match &stmt.kind {
            StmtKind::Assign(place, _) => _ = found.insert(place.root),
            StmtKind::Receive { args, .. } => {
                found.extend(args.iter().filter_map(|arg| match arg {
                    RecvArg::Store(place) => Some(place.root),
                    RecvArg::Ignore | RecvArg::Match(_) => None,
                }));
            }
            StmtKind::Declare(var) => _ = found.insert(*var),
            _ => pending.extend(inside(stmt)),
        }
    }
    found
}

/// The scalar part of a variable that the steps lead to.
fn part_of(program: &Program, variable: &Variable, steps: &[Step]) -> usize {
    let (mut part, mut current) = (0, variable);
    for step in steps {
        if let (Step::Field(field), Type::Struct(id)) = (step, current.ty) {
            let fields = &program.structs[id.index()].fields;
            part += fields[..*field].iter().map(|before| n_parts(program, before)).sum::<usize>();
            current = &fields[*field];
        }
    }
    part
}

impl<'p> Runner<'p> {
    fn find_shapes(&mut self) {
        let program = self.program;
        let structs = program.structs.iter().flat_map(|its| &its.fields);
        let locals = program.proctypes.iter().flat_map(|proctype| &proctype.locals);
        for variable in program.globals.iter().chain(structs).chain(locals) {
            if let Init::Channel(shape) = &variable.init
                && !self.ranges.shapes.iter().any(|known| is_of_shape(known, shape))
            {
                let zeros = vec![(0, 0); shape.fields.len()];
                self.ranges.shapes.push((shape.capacity, shape.fields.clone(), zeros));
            }
        }
    }

    /// Everything once.
    fn round(&mut self) {
        let program = self.program;
        for (index, variable) in program.globals.iter().enumerate() {
            self.start(None, VarId::Global(crate::program::GlobalId::new(index)), variable);
        }
        for (index, proctype) in program.proctypes.iter().enumerate() {
            let id = ProctypeId::new(index);
            for (local, variable) in proctype.locals.iter().enumerate() {
                self.start(Some(id), VarId::Local(LocalId::new(local)), variable);
            }
            self.block(id, &proctype.body, &mut Facts::default());
            proctype.provided.iter().for_each(|expr| self.look(Some(id), expr, &Facts::default()));
        }
    }

    /// The values at the start.
    fn start(&mut self, proctype: Option<ProctypeId>, var: VarId, variable: &'p Variable) {
        for (at, part) in parts(self.program, variable).into_iter().enumerate() {
            let ty = part.declared.ty;
            let value = match &part.declared.init {
                Init::Zero => (0, 0),
                Init::Expr(expr) => self.value(proctype, expr, &Facts::default()),
                Init::List(values) => {
                    let all = values.iter().map(|&value| i64::from(ty.truncate(value)));
                    all.fold((0, 0), |so_far, value| join(so_far, (value, value)))
                }
                Init::Channel(_) => BYTE,
            };
            self.grow(proctype, var, at, kept(value, ty));
        }
    }

    fn grow(&mut self, proctype: Option<ProctypeId>, var: VarId, part: usize, value: Interval) {
        let slot = match (var, proctype) {
            (VarId::Global(global), _) => &mut self.ranges.globals[global.index()][part],
            (VarId::Local(local), Some(id)) => &mut self.ranges.locals[id.index()][local.index()][part],
            (VarId::Local(_), None) => return,
        };
        grow(slot, value, &self.stops, &mut self.grows);
    }

    fn block(&mut self, proctype: ProctypeId, block: &'p [Stmt], facts: &mut Facts) {
        block.iter().for_each(|stmt| self.stmt(proctype, stmt, facts));
    }

    fn stmt(&mut self, proctype: ProctypeId, stmt: &'p Stmt, facts: &mut Facts) {
        self.paid = self.paid.and_then(|()| self.cost.tick());
        if self.paid.is_err() {
            return;
        }
        let id = Some(proctype);
        if !stmt.labels.is_empty() {
            facts.clear();
        }
        match &stmt.kind {
            StmtKind::Expr(expr) => {
                self.look(id, expr, facts);
                self.learn(proctype, expr, facts);
            }
            StmtKind::Assert(expr) | StmtKind::PrintM(expr) => self.look(id, expr, facts),
            StmtKind::Print(_, args) => args.iter().for_each(|arg| self.look(id, arg, facts)),
            StmtKind::SetPriority(pid, priority) => {
                self.look(id, pid, facts);
                self.look(id, priority, facts);
            }
            StmtKind::Assign(place, expr) => {
                self.look(id, expr, facts);
                let value = self.value(id, expr, facts);
                self.store(proctype, place, value, facts);
            }
            StmtKind::Declare(VarId::Local(local)) => _ = facts.remove(local),
            StmtKind::Send { channel, args, .. } => {
                args.iter().for_each(|arg| self.look(id, arg, facts));
                let values: Vec<Interval> = args.iter().map(|arg| self.value(id, arg, facts)).collect();
                self.send(proctype, channel, &values);
            }
            StmtKind::Receive { channel, args, .. } => {
                for (field, arg) in args.iter().enumerate() {
                    if let RecvArg::Store(place) = arg {
                        let value = self.received(proctype, channel, field);
                        self.store(proctype, place, value, facts);
                    }
                }
            }
            StmtKind::If(options) | StmtKind::Do(options) | StmtKind::For(options) => {
                // What the options change is known neither between rounds of a loop nor after it.
                let (changed, has_label) = (changed([stmt]), has_label(stmt));
                let forget = |facts: &mut Facts| {
                    facts.retain(|&local, _| !has_label && !changed.contains(&VarId::Local(local)));
                };
                if !matches!(stmt.kind, StmtKind::If(_)) {
                    forget(facts);
                }
                for option in options {
                    self.block(proctype, option, &mut facts.clone());
                }
                forget(facts);
            }
            StmtKind::Atomic(body) | StmtKind::DStep(body) | StmtKind::Block(body) => {
                self.block(proctype, body, facts);
            }
            StmtKind::Unless(both) => {
                let changed = changed([&both.0]);
                self.stmt(proctype, &both.0, &mut facts.clone());
                facts.retain(|&local, _| !changed.contains(&VarId::Local(local)));
                if has_label(&both.0) {
                    facts.clear();
                }
                self.stmt(proctype, &both.1, facts);
                facts.clear();
            }
            StmtKind::Declare(VarId::Global(_))
            | StmtKind::Event { .. }
            | StmtKind::Else
            | StmtKind::Goto(_)
            | StmtKind::Break => {}
        }
    }

    /// The shapes of the channels that a place may mean: that of its own channel if it has one and nobody
    /// changes it, or all.
    fn shapes_of(&self, proctype: ProctypeId, place: &Place) -> Vec<usize> {
        let variable = match place.root {
            VarId::Global(global) => &self.program.globals[global.index()],
            VarId::Local(local) => &self.program.proctypes[proctype.index()].locals[local.index()],
        };
        let own =
            parts(self.program, variable).into_iter().nth(part_of(self.program, variable, &place.steps));
        let is_own = |at: &usize| match own.as_ref().map(|own| &own.declared.init) {
            // A variable that is assigned another channel gets one of the same shape or of any other.
            Some(Init::Channel(shape)) => is_of_shape(&self.ranges.shapes[*at], shape),
            _ => true,
        };
        let is_assigned = self.assigned.contains(&place.root);
        (0..self.ranges.shapes.len()).filter(|at| is_assigned || is_own(at)).collect()
    }

    fn send(&mut self, proctype: ProctypeId, channel: &Place, values: &[Interval]) {
        for shape in self.shapes_of(proctype, channel) {
            let (_, types, fields) = &mut self.ranges.shapes[shape];
            for (field, slot) in fields.iter_mut().enumerate() {
                let value = values.get(field).copied().unwrap_or((0, 0));
                grow(slot, kept(value, types[field]), &self.stops, &mut self.grows);
            }
        }
    }

    fn received(&self, proctype: ProctypeId, channel: &Place, field: usize) -> Interval {
        let shapes = self.shapes_of(proctype, channel).into_iter();
        shapes.filter_map(|shape| self.ranges.shapes[shape].2.get(field)).fold((0, 0), |a, &b| join(a, b))
    }

    fn store(&mut self, proctype: ProctypeId, place: &Place, value: Interval, facts: &mut Facts) {
        let variable = match place.root {
            VarId::Global(global) => &self.program.globals[global.index()],
            VarId::Local(local) => &self.program.proctypes[proctype.index()].locals[local.index()],
        };
        let part = part_of(self.program, variable, &place.steps);
        let value = if place.ty == Type::Chan { BYTE } else { kept(value, place.ty) };
        if let VarId::Local(local) = place.root {
            facts.remove(&local);
            if place.steps.is_empty() {
                facts.insert(local, value);
            }
        }
        self.grow(Some(proctype), place.root, part, value);
    }

    /// What starts processes in an expression: their parameters get values.
    fn look(&mut self, proctype: Option<ProctypeId>, expr: &'p Expr, facts: &Facts) {
        let mut starts = Vec::new();
        eval::visit(expr, &mut |expr| {
            if let ExprKind::Run { proctype, args, .. } = &expr.kind {
                starts.push((*proctype, args));
            }
        });
        for (started, args) in starts {
            for (at, arg) in args.iter().enumerate() {
                let value = self.value(proctype, arg, facts);
                let Some(parameter) = self.program.proctypes[started.index()].locals.get(at) else {
                    continue;
                };
                let value = if parameter.ty == Type::Chan { BYTE } else { kept(value, parameter.ty) };
                self.grow(Some(started), VarId::Local(LocalId::new(at)), 0, value);
            }
        }
    }

    /// What is known after a condition was passed.
    fn learn(&self, proctype: ProctypeId, condition: &Expr, facts: &mut Facts) {
        let ExprKind::Binary(op, operands) = &condition.kind else { return };
        let (x, y) = &**operands;
        if *op == BinaryOp::And {
            self.learn(proctype, x, facts);
            self.learn(proctype, y, facts);
            return;
        }
        let id = Some(proctype);
        let (of_x, of_y) = (self.value(id, x, facts), self.value(id, y, facts));
        for (own, (lo, hi), other, op) in [(x, of_x, of_y, Some(*op)), (y, of_y, of_x, mirrored(*op))] {
            let (ExprKind::Load(place), Some(op)) = (&own.kind, op) else { continue };
            let (VarId::Local(local), []) = (place.root, &place.steps[..]) else { continue };
            let met = match op {
                BinaryOp::Lt => (lo, hi.min(other.1 - 1)),
                BinaryOp::Le => (lo, hi.min(other.1)),
                BinaryOp::Gt => (lo.max(other.0 + 1), hi),
                BinaryOp::Ge => (lo.max(other.0), hi),
                BinaryOp::Eq => (lo.max(other.0), hi.min(other.1)),
                // At its bound, it is off it.
                BinaryOp::Ne if other == (lo, lo) => (lo + 1, hi),
                BinaryOp::Ne if other == (hi, hi) => (lo, hi - 1),
                _ => continue,
            };
            // A condition that cannot be true teaches nothing.
            if met.0 <= met.1 {
                facts.insert(local, met);
            }
        }
    }

    /// The values that an expression may have.
    fn value(&self, proctype: Option<ProctypeId>, expr: &Expr, facts: &Facts) -> Interval {
        let value = |expr: &Expr| self.value(proctype, expr, facts);
        match &expr.kind {
            ExprKind::Int(value) | ExprKind::Symbol(_, value) => (i64::from(*value), i64::from(*value)),
            ExprKind::Load(place) => match (place.root, &place.steps[..]) {
                (VarId::Local(local), []) if facts.contains_key(&local) => facts[&local],
                _ => self.loaded(proctype, place),
            },
            ExprKind::RemoteVar { proctype, place, .. } => join((0, 0), self.loaded(Some(*proctype), place)),
            ExprKind::Pid
            | ExprKind::NrPr
            | ExprKind::Last
            | ExprKind::Priority
            | ExprKind::GetPriority(_)
            | ExprKind::Run { .. } => BYTE,
            ExprKind::NonProgress
            | ExprKind::Timeout
            | ExprKind::ChannelTest(ChannelTest::Empty | ChannelTest::NonEmpty, _)
            | ExprKind::ChannelTest(ChannelTest::Full | ChannelTest::NonFull, _)
            | ExprKind::Poll { .. }
            | ExprKind::Enabled(_)
            | ExprKind::RemoteLabel { .. }
            | ExprKind::Unary(UnaryOp::Not, _) => BIT,
            ExprKind::ChannelTest(ChannelTest::Len, _) => {
                let capacities = self.ranges.shapes.iter().map(|shape| i64::from(shape.0));
                (0, capacities.max().unwrap_or(0))
            }
            ExprKind::PcValue(_) => (0, INT.1),
            ExprKind::Unary(UnaryOp::Neg, x) => {
                let (lo, hi) = value(x);
                as_int((-hi, -lo))
            }
            ExprKind::Unary(UnaryOp::Complement, x) => {
                let (lo, hi) = value(x);
                (!hi, !lo)
            }
            ExprKind::Binary(op, operands) => binary(*op, value(&operands.0), value(&operands.1)),
            ExprKind::Conditional(parts) => join(value(&parts.1), value(&parts.2)),
        }
    }

    fn loaded(&self, proctype: Option<ProctypeId>, place: &Place) -> Interval {
        match (place.root, proctype) {
            (VarId::Global(global), _) => {
                let variable = &self.program.globals[global.index()];
                self.ranges.globals[global.index()][part_of(self.program, variable, &place.steps)]
            }
            (VarId::Local(local), Some(id)) => {
                let variable = &self.program.proctypes[id.index()].locals[local.index()];
                let part = part_of(self.program, variable, &place.steps);
                self.ranges.locals[id.index()][local.index()][part]
            }
            (VarId::Local(_), None) => INT,
        }
    }
}

fn has_label(stmt: &Stmt) -> bool {
    inside(stmt).into_iter().any(|part| !part.labels.is_empty() || has_label(part))
}
