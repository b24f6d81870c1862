//! Expressions as text, with the names of the program and as few parentheses as needed. Equal
//! texts mean equal expressions.

use std::fmt::Write as _;

use crate::program::{
    BinaryOp, ChannelTest, Expr, ExprKind, Place, Proctype, ProctypeId, Program, Step, Type, UnaryOp, VarId,
    Variable,
};

/// An expression as text. `owner` is the proctype whose locals it uses.
pub fn expr(program: &Program, owner: Option<ProctypeId>, expr: &Expr) -> String {
    let mut writer = Writer { program, owner, out: String::new() };
    writer.expr(expr, 0);
    writer.out
}

/// A place as text, like [`expr`].
pub fn place(program: &Program, owner: Option<ProctypeId>, place: &Place) -> String {
    let mut writer = Writer { program, owner, out: String::new() };
    writer.place(place);
    writer.out
}

/// How tightly an operator binds, and how it is written.
fn spelling(op: BinaryOp) -> (u8, &'static str) {
    match op {
        BinaryOp::Or => (1, "||"),
        BinaryOp::And => (2, "&&"),
        BinaryOp::BitOr => (3, "|"),
        BinaryOp::BitXor => (4, "^"),
        BinaryOp::BitAnd => (5, "&"),
        BinaryOp::Eq => (6, "=="),
        BinaryOp::Ne => (6, "!="),
        BinaryOp::Lt => (7, "<"),
        BinaryOp::Le => (7, "<="),
        BinaryOp::Gt => (7, ">"),
        BinaryOp::Ge => (7, ">="),
        BinaryOp::Shl => (8, "<<"),
        BinaryOp::Shr => (8, ">>"),
        BinaryOp::Add => (9, "+"),
        BinaryOp::Sub => (9, "-"),
        BinaryOp::Mul => (10, "*"),
        BinaryOp::Div => (10, "/"),
        BinaryOp::Rem => (10, "%"),
    }
}

/// The level of prefix operators.
const PREFIX: u8 = 11;

struct Writer<'p> {
    program: &'p Program,
    owner: Option<ProctypeId>,
    out: String,
}

impl<'p> Writer<'p> {
    fn proctype(&self, id: ProctypeId) -> &'p Proctype {
        &self.program.proctypes[id.index()]
    }

    /// Writes an expression where operators must bind at least so tightly. Recursion is as deep as
    /// the expression, which the parser limits.
    fn expr(&mut self, expr: &Expr, least: u8) {
        match &expr.kind {
            ExprKind::Int(value) if *value < 0 && least >= PREFIX => self.write(format_args!("({value})")),
            ExprKind::Int(value) => self.write(format_args!("{value}")),
            ExprKind::Symbol(set, value) => {
                let names = &self.program.mtypes[set.index()].names;
                let name = names.get((*value as usize).wrapping_sub(1)).cloned();
                self.out.push_str(name.as_deref().unwrap_or("0"));
            }
            ExprKind::Load(place) => self.place(place),
            ExprKind::Pid => self.out.push_str("_pid"),
            ExprKind::NrPr => self.out.push_str("_nr_pr"),
            ExprKind::Last => self.out.push_str("_last"),
            ExprKind::Priority => self.out.push_str("_priority"),
            ExprKind::NonProgress => self.out.push_str("np_"),
            ExprKind::Timeout => self.out.push_str("timeout"),
            ExprKind::Unary(op, operand) => {
                self.out.push(match op {
                    UnaryOp::Not => '!',
                    UnaryOp::Neg => '-',
                    UnaryOp::Complement => '~',
                });
                self.expr(operand, PREFIX);
            }
            ExprKind::Binary(op, operands) => {
                let (level, sign) = spelling(*op);
                let open = level < least;
                self.parenthesis(open, '(');
                self.expr(&operands.0, level);
                self.write(format_args!(" {sign} "));
                self.expr(&operands.1, level + 1);
                self.parenthesis(open, ')');
            }
            ExprKind::Conditional(parts) => {
                self.out.push('(');
                self.expr(&parts.0, 0);
                self.out.push_str(" -> ");
                self.expr(&parts.1, 0);
                self.out.push_str(" : ");
                self.expr(&parts.2, 0);
                self.out.push(')');
            }
            ExprKind::ChannelTest(test, place) => {
                self.out.push_str(match test {
                    ChannelTest::Len => "len(",
                    ChannelTest::Empty => "empty(",
                    ChannelTest::NonEmpty => "nempty(",
                    ChannelTest::Full => "full(",
                    ChannelTest::NonFull => "nfull(",
                });
                self.place(place);
                self.out.push(')');
            }
            ExprKind::Poll { channel, random, args } => {
                self.place(channel);
                self.out.push_str(if *random { "??[" } else { "?[" });
                self.list(args, |this, arg| match arg {
                    Some(value) if crate::eval::constant(value).is_some() => this.expr(value, 0),
                    Some(value) => this.call("eval", value),
                    None => this.out.push('_'),
                });
                self.out.push(']');
            }
            ExprKind::Run { proctype, args, priority } => {
                let name = self.proctype(*proctype).name.clone();
                self.write(format_args!("run {name}("));
                self.list(args, |this, arg| this.expr(arg, 0));
                self.out.push(')');
                if let Some(priority) = priority {
                    self.write(format_args!(" priority {priority}"));
                }
            }
            ExprKind::Enabled(pid) => self.call("enabled", pid),
            ExprKind::PcValue(pid) => self.call("pc_value", pid),
            ExprKind::GetPriority(pid) => self.call("get_priority", pid),
            ExprKind::RemoteLabel { proctype, pid, label } => {
                self.remote(*proctype, pid.as_deref());
                let name = self.proctype(*proctype).labels[label.index()].name.clone();
                self.write(format_args!("@{name}"));
            }
            ExprKind::RemoteVar { proctype, pid, place } => {
                self.remote(*proctype, pid.as_deref());
                self.out.push(':');
                let owner = self.owner.replace(*proctype);
                self.place(place);
                self.owner = owner;
            }
        }
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        _ = self.out.write_fmt(text);
    }

    fn parenthesis(&mut self, is_needed: bool, which: char) {
        if is_needed {
            self.out.push(which);
        }
    }

    fn call(&mut self, name: &str, operand: &Expr) {
        self.write(format_args!("{name}("));
        self.expr(operand, 0);
        self.out.push(')');
    }

    fn remote(&mut self, proctype: ProctypeId, pid: Option<&Expr>) {
        let name = self.proctype(proctype).name.clone();
        self.out.push_str(&name);
        if let Some(pid) = pid {
            self.out.push('[');
            self.expr(pid, 0);
            self.out.push(']');
        }
    }

    fn list<T>(&mut self, list: &[T], mut write: impl FnMut(&mut Self, &T)) {
        for (position, item) in list.iter().enumerate() {
            if position > 0 {
                self.out.push(',');
            }
            write(self, item);
        }
    }

    fn place(&mut self, place: &Place) {
        let root = match (place.root, self.owner) {
            (VarId::Global(global), _) => self.program.globals.get(global.index()),
            (VarId::Local(local), Some(owner)) => self.proctype(owner).locals.get(local.index()),
            (VarId::Local(_), None) => None,
        };
        let Some(root) = root else {
            self.out.push('?');
            return;
        };
        let mut variable: &Variable = root;
        let name = variable.name.clone();
        self.out.push_str(&name);
        for step in &place.steps {
            match step {
                Step::Index(index) => {
                    self.out.push('[');
                    self.expr(index, 0);
                    self.out.push(']');
                }
                Step::Field(position) => {
                    let Type::Struct(id) = variable.ty else { return };
                    variable = &self.program.structs[id.index()].fields[*position];
                    let name = variable.name.clone();
                    self.write(format_args!(".{name}"));
                }
            }
        }
    }
}
