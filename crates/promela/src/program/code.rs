//! Statements, expressions and formulas of the checked program.

use std::sync::Arc;

use base::Span;

use super::{GlobalId, LabelId, LocalId, MtypeId, ProctypeId, Type};

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// The labels in front of it.
    pub labels: Vec<LabelId>,
    /// Where it stands; inside an inline or macro if it comes out of one.
    pub span: Span,
    /// How it reads in a trace; empty for compound statements.
    pub text: Arc<str>,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Waits until the expression is not 0. `skip` is the constant 1. If the expression contains
    /// `run`, it has that effect.
    Expr(Expr),
    /// `x = e`, `x++`, `x--`.
    Assign(Place, Expr),
    /// A declaration of a typedef after a statement: a step that does nothing, as in Spin.
    Declare(VarId),
    /// `c!a,b` or `c!!a,b`. Typedefs are listed field by field.
    Send {
        /// The channel.
        channel: Place,
        /// `!!`: sorted.
        sorted: bool,
        /// The fields. There may be more or fewer than the channel takes, see the warnings: Spin
        /// ignores those that are too many, and takes 0 for those that are missing.
        args: Vec<Expr>,
    },
    /// `c?a,b` and its variants.
    Receive {
        /// The channel.
        channel: Place,
        /// `??`: the first message that fits, not only the oldest.
        random: bool,
        /// `?<…>`: the message stays.
        keep: bool,
        /// What becomes of the fields.
        args: Vec<RecvArg>,
    },
    /// `c!a,_` or `c?a,_` in a trace: what somebody may send or receive.
    Event {
        /// The channel: a global one, with constant indices.
        channel: Place,
        /// Whether it is sent.
        is_send: bool,
        /// What the fields must be; `None` is anything. There may be fewer than the channel has.
        fields: Vec<Option<i32>>,
    },
    /// `assert(e)`.
    Assert(Expr),
    /// `printf`: the format without quotation marks, and what is printed.
    Print(Arc<str>, Vec<Expr>),
    /// `printm(e)`.
    PrintM(Expr),
    /// `set_priority(pid, priority)`.
    SetPriority(Expr, Expr),
    /// `else`: possible if no edge of its location before it is; always, if it is the first one.
    Else,
    /// Jumps.
    Goto(LabelId),
    /// Leaves the innermost loop.
    Break,
    /// `if :: … fi`: the options.
    If(Vec<Vec<Stmt>>),
    /// `do :: … od`: the options.
    Do(Vec<Vec<Stmt>>),
    /// A `for` or `select` loop: the same as [`StmtKind::Do`]. It is kept apart since Spin drops
    /// useless statements only from options that were written as such.
    For(Vec<Vec<Stmt>>),
    /// `atomic { … }`.
    Atomic(Vec<Stmt>),
    /// `d_step { … }`.
    DStep(Vec<Stmt>),
    /// `{ … }`, and the body of an inline.
    Block(Vec<Stmt>),
    /// `first unless second`.
    Unless(Box<(Stmt, Stmt)>),
}

/// What becomes of one field of a message that is received.
#[derive(Clone, Debug)]
pub enum RecvArg {
    /// It is stored here.
    Store(Place),
    /// It is thrown away: `_`.
    Ignore,
    /// It must be this: a constant or `eval(e)`.
    Match(Expr),
}

/// A variable, by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VarId {
    /// A global one.
    Global(GlobalId),
    /// One of the proctype in which it is used.
    Local(LocalId),
}

/// A variable, an element of an array, or a field: something that has a value.
#[derive(Clone, Debug)]
pub struct Place {
    /// The variable.
    pub root: VarId,
    /// What is done to it, from left to right.
    pub steps: Vec<Step>,
    /// The type of what is there: a scalar.
    pub ty: Type,
    /// Where it is written.
    pub span: Span,
}

/// From a variable to a part of it.
#[derive(Clone, Debug)]
pub enum Step {
    /// `[e]`.
    Index(Expr),
    /// `.name`: the position in [`Struct::fields`](super::Struct::fields).
    Field(usize),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Where it is written.
    pub span: Span,
}

/// What an expression computes.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A constant.
    Int(i32),
    /// A symbolic name: its set and its value.
    Symbol(MtypeId, i32),
    /// The value of a variable.
    Load(Place),
    /// `_pid`.
    Pid,
    /// `_nr_pr`: how many processes there are.
    NrPr,
    /// `_last`: who made the last step.
    Last,
    /// `_priority`.
    Priority,
    /// `np_`: no process is at a progress label.
    NonProgress,
    /// `timeout`: nothing else is possible.
    Timeout,
    /// `!a`, `-a`, `~a`.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b` and the like.
    Binary(BinaryOp, Box<(Expr, Expr)>),
    /// `(c -> a : b)`.
    Conditional(Box<(Expr, Expr, Expr)>),
    /// `len(c)` and the like.
    ChannelTest(ChannelTest, Box<Place>),
    /// `c?[a,b]`: whether a receive would be possible.
    Poll {
        /// The channel.
        channel: Box<Place>,
        /// `??`.
        random: bool,
        /// What the fields must be; `None` is anything.
        args: Vec<Option<Expr>>,
    },
    /// `run P(…)`: the number of the new process, or 0.
    Run {
        /// The proctype.
        proctype: ProctypeId,
        /// The values of the parameters.
        args: Vec<Expr>,
        /// `priority n`.
        priority: Option<u32>,
    },
    /// `enabled(pid)`.
    Enabled(Box<Expr>),
    /// `pc_value(pid)`.
    PcValue(Box<Expr>),
    /// `get_priority(pid)`.
    GetPriority(Box<Expr>),
    /// `P[pid]@label`. Without a number it means the only process of the type.
    RemoteLabel {
        /// The proctype.
        proctype: ProctypeId,
        /// The number of the process.
        pid: Option<Box<Expr>>,
        /// The label.
        label: LabelId,
    },
    /// `P[pid]:x`. The root of the place is a local of that proctype.
    RemoteVar {
        /// The proctype.
        proctype: ProctypeId,
        /// The number of the process.
        pid: Option<Box<Expr>>,
        /// The variable.
        place: Box<Place>,
    },
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `!`.
    Not,
    /// `-`.
    Neg,
    /// `~`.
    Complement,
}

/// Operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // They are as in C.
pub enum BinaryOp {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// Questions about a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelTest {
    /// `len(c)`: the number of messages.
    Len,
    /// `empty(c)`.
    Empty,
    /// `nempty(c)`.
    NonEmpty,
    /// `full(c)`.
    Full,
    /// `nfull(c)`.
    NonFull,
}

/// `xr c` or `xs c`.
#[derive(Clone, Debug)]
pub struct Exclusive {
    /// The proctype that says so.
    pub proctype: ProctypeId,
    /// Whether it is about sending.
    pub is_send: bool,
    /// The channel.
    pub channel: Place,
}

/// `ltl name { formula }`.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name; `ltl_0` and so on where there is none, as in Spin.
    pub name: Arc<str>,
    /// What it says.
    pub formula: Formula,
    /// Where it stands.
    pub span: Span,
}

/// A formula of linear temporal logic. Its leaves are the largest parts without temporal
/// operators.
#[derive(Clone, Debug)]
pub enum Formula {
    /// An expression over the state.
    State(Expr),
    /// An operator and its operands.
    Op(TemporalOp, Vec<Formula>),
}

/// Operators of formulas. The first ones occur only where one of their operands is temporal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemporalOp {
    /// `!a`.
    Not,
    /// `a && b`.
    And,
    /// `a || b`.
    Or,
    /// `a -> b`.
    Implies,
    /// `a <-> b`.
    Equivalent,
    /// `X a`.
    Next,
    /// `[] a`.
    Always,
    /// `<> a`.
    Eventually,
    /// `a U b`.
    Until,
    /// `a W b`.
    WeakUntil,
    /// `a V b`: b holds until and including the moment when a does, or forever.
    Release,
}
