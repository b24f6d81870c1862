//! What can be told from the text: which variables never change or are never read, and which extras are used.

use fixedbitset::FixedBitSet;

use crate::eval;
use crate::program::{
    BinaryOp, Expr, ExprKind, Formula, LabelId, Place, ProctypeId, Program, RecvArg, Step, Stmt, StmtKind,
    Type, VarId, Visibility,
};

/// Facts about a program.
#[derive(Debug)]
pub(crate) struct Facts {
    /// Global variables that some statement may change.
    globals: FixedBitSet,
    /// Global variables that somebody reads, but to add to them.
    globals_read: FixedBitSet,
    /// The same for the locals of each proctype.
    locals: Vec<FixedBitSet>,
    /// Whether `_last` is read.
    pub(crate) uses_last: bool,
    /// Whether priorities change.
    pub(crate) sets_priority: bool,
}

impl Facts {
    pub(crate) fn new(program: &Program) -> Facts {
        let mut facts = Facts {
            globals: FixedBitSet::with_capacity(program.globals.len()),
            globals_read: FixedBitSet::with_capacity(program.globals.len()),
            locals: program
                .proctypes
                .iter()
                .map(|proctype| FixedBitSet::with_capacity(proctype.locals.len()))
                .collect(),
            uses_last: false,
            sets_priority: false,
        };
        for (index, proctype) in program.proctypes.iter().enumerate() {
            facts.block(ProctypeId::new(index), &proctype.body);
            proctype.provided.iter().for_each(|expr| facts.expr(expr));
        }
        program.formulas.iter().for_each(|property| facts.formula(&property.formula));
        program.questions.iter().for_each(|expr| facts.expr(expr));
        facts
    }

    /// Whether some statement may change a global variable.
    pub(crate) fn changes_global(&self, index: usize) -> bool {
        self.globals.contains(index)
    }

    /// Whether a global variable needs no place: it is `hidden`, a scalar, and nobody reads it.
    pub(crate) fn drops_global(&self, program: &Program, index: usize) -> bool {
        let variable = &program.globals[index];
        let is_scalar = variable.length.is_none() && !matches!(variable.ty, Type::Struct(_));
        variable.visibility == Visibility::Hidden && is_scalar && !self.globals_read.contains(index)
    }

    /// Whether a process may change one of its variables.
    pub(crate) fn changes_local(&self, proctype: ProctypeId, index: usize) -> bool {
        self.locals[proctype.index()].contains(index)
    }

    fn changed(&mut self, proctype: ProctypeId, place: &Place) {
        match place.root {
            VarId::Global(global) => self.globals.insert(global.index()),
            VarId::Local(local) => self.locals[proctype.index()].insert(local.index()),
        }
        self.place(place);
    }

    fn block(&mut self, proctype: ProctypeId, block: &[Stmt]) {
        block.iter().for_each(|stmt| self.stmt(proctype, stmt));
    }

    fn stmt(&mut self, proctype: ProctypeId, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) | StmtKind::Assert(expr) | StmtKind::PrintM(expr) => self.expr(expr),
            StmtKind::Assign(place, expr) => {
                self.changed(proctype, place);
                self.expr(own_step(place, expr).unwrap_or(expr));
            }
            StmtKind::Declare(var) => match var {
                VarId::Global(global) => self.globals.insert(global.index()),
                VarId::Local(local) => self.locals[proctype.index()].insert(local.index()),
            },
            StmtKind::Send { channel, args, .. } => {
                self.read(channel);
                args.iter().for_each(|arg| self.expr(arg));
            }
            StmtKind::Receive { channel, args, .. } => {
                self.read(channel);
                for arg in args {
                    match arg {
                        RecvArg::Store(place) => self.changed(proctype, place),
                        RecvArg::Ignore => {}
                        RecvArg::Match(expr) => self.expr(expr),
                    }
                }
            }
            StmtKind::Print(_, args) => args.iter().for_each(|arg| self.expr(arg)),
            StmtKind::SetPriority(pid, priority) => {
                self.sets_priority = true;
                self.expr(pid);
                self.expr(priority);
            }
            StmtKind::Else | StmtKind::Goto(_) | StmtKind::Break | StmtKind::Event { .. } => {}
            StmtKind::If(options) | StmtKind::Do(options) | StmtKind::For(options) => {
                options.iter().for_each(|option| self.block(proctype, option));
            }
            StmtKind::Atomic(body) | StmtKind::DStep(body) | StmtKind::Block(body) => {
                self.block(proctype, body);
            }
            StmtKind::Unless(parts) => {
                self.stmt(proctype, &parts.0);
                self.stmt(proctype, &parts.1);
            }
        }
    }

    fn formula(&mut self, formula: &Formula) {
        match formula {
            Formula::State(expr) => self.expr(expr),
            Formula::Op(_, operands) => operands.iter().for_each(|operand| self.formula(operand)),
        }
    }

    fn read(&mut self, place: &Place) {
        if let VarId::Global(global) = place.root {
            self.globals_read.insert(global.index());
        }
        self.place(place);
    }

    /// Reads the indices of a place.
    fn place(&mut self, place: &Place) {
        for step in &place.steps {
            if let Step::Index(index) = step {
                self.expr(index);
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Last => self.uses_last = true,
            ExprKind::Load(place) => self.read(place),
            ExprKind::Unary(_, x)
            | ExprKind::Enabled(x)
            | ExprKind::PcValue(x)
            | ExprKind::GetPriority(x) => {
                self.expr(x);
            }
            ExprKind::Binary(_, operands) => {
                self.expr(&operands.0);
                self.expr(&operands.1);
            }
            ExprKind::Conditional(parts) => {
                self.expr(&parts.0);
                self.expr(&parts.1);
                self.expr(&parts.2);
            }
            ExprKind::ChannelTest(_, place) => self.read(place),
            ExprKind::Poll { channel, args, .. } => {
                self.read(channel);
                args.iter().flatten().for_each(|arg| self.expr(arg));
            }
            ExprKind::Run { args, .. } => args.iter().for_each(|arg| self.expr(arg)),
            ExprKind::RemoteLabel { pid, .. } => pid.iter().for_each(|pid| self.expr(pid)),
            ExprKind::RemoteVar { pid, place, .. } => {
                pid.iter().for_each(|pid| self.expr(pid));
                self.place(place);
            }
            ExprKind::Int(_)
            | ExprKind::Symbol(..)
            | ExprKind::Pid
            | ExprKind::NrPr
            | ExprKind::Priority
            | ExprKind::NonProgress
            | ExprKind::Timeout => {}
        }
    }
}

/// A program that has what questions look at.
pub(crate) fn with_questions(program: &Program, asked: &[Expr]) -> Program {
    let mut program = program.clone();
    for expr in asked {
        eval::visit(expr, &mut |expr| {
            if let ExprKind::RemoteLabel { proctype, label, .. } = expr.kind {
                program.proctypes[proctype.index()].labels[label.index()].is_remote = true;
            }
        });
        program.questions.push(expr.clone());
    }
    program
}

/// Whether processes pass a label without being there: it stands before a jump, and nobody looks at it.
pub(crate) fn is_passed(program: &Program, proctype: ProctypeId, label: LabelId) -> bool {
    let proctype = &program.proctypes[proctype.index()];
    if proctype.labels[label.index()].is_remote {
        return false;
    }
    let mut pending: Vec<&Stmt> = proctype.body.iter().collect();
    while let Some(stmt) = pending.pop() {
        if stmt.labels.contains(&label) {
            return matches!(stmt.kind, StmtKind::Goto(_) | StmtKind::Break);
        }
        pending.extend(inside(stmt));
    }
    false
}

/// The statements that a compound statement is made of.
pub(crate) fn inside(stmt: &Stmt) -> Vec<&Stmt> {
    match &stmt.kind {
        StmtKind::If(options) | StmtKind::Do(options) | StmtKind::For(options) => {
            options.iter().flatten().collect()
        }
        StmtKind::Atomic(body) | StmtKind::DStep(body) | StmtKind::Block(body) => body.iter().collect(),
        StmtKind::Unless(both) => vec![&both.0, &both.1],
        _ => Vec::new(),
    }
}

/// If an assignment adds something to a variable, or subtracts it: what.
pub(crate) fn own_step<'e>(place: &Place, expr: &'e Expr) -> Option<&'e Expr> {
    let ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, operands) = &expr.kind else { return None };
    let ExprKind::Load(own) = &operands.0.kind else { return None };
    let is_own = own.root == place.root && own.steps.is_empty() && place.steps.is_empty();
    is_own.then_some(&operands.1)
}
