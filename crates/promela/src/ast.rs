//! The syntax tree of a model, as it was written: macros and inlines are expanded, but names are
//! not looked up yet.

use std::sync::Arc;

use base::Span;

use crate::program::{BinaryOp, ChannelTest, TemporalOp, UnaryOp, Visibility};

/// A name and its place.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: Arc<str>,
    pub(crate) span: Span,
}

/// A whole model: its parts in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) units: Vec<Unit>,
    /// Whether a part could not be read, so that declarations may be missing.
    pub(crate) broken: bool,
}

#[derive(Debug)]
pub(crate) enum Unit {
    Mtype(MtypeList),
    Typedef(Typedef),
    Declaration(Declaration),
    Proctype(Box<Proctype>),
    Ltl(Ltl),
}

/// `mtype:set = { a, b }`.
#[derive(Debug)]
pub(crate) struct MtypeList {
    pub(crate) set: Option<Name>,
    pub(crate) names: Vec<Name>,
}

/// `typedef T { … }`.
#[derive(Debug)]
pub(crate) struct Typedef {
    pub(crate) name: Name,
    pub(crate) fields: Vec<Declaration>,
}

/// `byte a, b[3] = 1`.
#[derive(Debug)]
pub(crate) struct Declaration {
    pub(crate) visibility: Visibility,
    pub(crate) ty: TypeName,
    pub(crate) variables: Vec<Declarator>,
}

/// The type of a declaration or of a field of a message.
#[derive(Clone, Debug)]
pub(crate) struct TypeName {
    pub(crate) kind: TypeKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum TypeKind {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    Unsigned,
    Chan,
    Mtype(Option<Name>),
    Named(Name),
}

/// One variable of a declaration.
#[derive(Debug)]
pub(crate) struct Declarator {
    pub(crate) name: Name,
    /// `: 3`, of an unsigned variable.
    pub(crate) width: Option<Expr>,
    /// `[3]`.
    pub(crate) length: Option<Expr>,
    pub(crate) init: Option<Init>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum Init {
    Expr(Expr),
    /// `{ 1, 2, 3 }`.
    List(Vec<Expr>, Span),
    /// `[2] of { byte, mtype }`.
    Channel {
        capacity: Expr,
        fields: Vec<TypeName>,
        span: Span,
    },
}

/// What a process-like part of the model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    Proctype,
    Init,
    Never,
    Trace,
    NoTrace,
}

/// A proctype, `init`, a never claim or a trace.
#[derive(Debug)]
pub(crate) struct Proctype {
    pub(crate) kind: BodyKind,
    /// `init` and the like are called by their keyword.
    pub(crate) name: Name,
    pub(crate) active: Option<Active>,
    pub(crate) deterministic: bool,
    pub(crate) parameters: Vec<Declaration>,
    pub(crate) priority: Option<Expr>,
    pub(crate) provided: Option<Expr>,
    pub(crate) body: Vec<Stmt>,
    /// From the first word to the closing brace.
    pub(crate) span: Span,
}

/// `active`, or `active [2]`.
#[derive(Debug)]
pub(crate) struct Active {
    pub(crate) count: Option<Expr>,
    pub(crate) span: Span,
}

/// `ltl name { formula }`.
#[derive(Debug)]
pub(crate) struct Ltl {
    pub(crate) name: Option<Name>,
    pub(crate) formula: Expr,
    pub(crate) span: Span,
}

/// A statement, or a declaration among statements.
#[derive(Debug)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) labels: Vec<Name>,
    pub(crate) span: Span,
    /// How it reads in a trace.
    pub(crate) text: Arc<str>,
}

#[derive(Debug)]
pub(crate) enum StmtKind {
    Declaration(Declaration),
    /// `xr c, d` and `xs c, d`.
    Exclusive {
        is_send: bool,
        channels: Vec<VarRef>,
    },
    Expr(Expr),
    Assign(VarRef, Expr),
    /// `++` (1) and `--` (-1).
    Step(VarRef, i32),
    Send {
        channel: VarRef,
        sorted: bool,
        args: Vec<Expr>,
    },
    Receive {
        channel: VarRef,
        random: bool,
        keep: bool,
        args: Vec<RecvArg>,
    },
    Assert(Expr),
    Print {
        format: Name,
        args: Vec<Expr>,
    },
    PrintM(Expr),
    SetPriority(Expr, Expr),
    Else,
    Break,
    Goto(Name),
    If(Vec<Vec<Stmt>>),
    Do(Vec<Vec<Stmt>>),
    ForRange {
        range: Range,
        body: Vec<Stmt>,
    },
    /// `for (variable in range)`, with how both read.
    ForIn {
        variable: VarRef,
        range: VarRef,
        body: Vec<Stmt>,
        texts: [Arc<str>; 2],
    },
    Select {
        range: Range,
        /// Written as Spin's scanner wants it to make options of it: see the parser.
        is_plain: bool,
    },
    Atomic(Vec<Stmt>),
    DStep(Vec<Stmt>),
    Block(Vec<Stmt>),
    /// The body of an inline, with the place of the call.
    Inlined {
        name: Name,
        body: Vec<Stmt>,
    },
    Unless(Box<(Stmt, Stmt)>),
}

/// `variable : from .. to`.
#[derive(Debug)]
pub(crate) struct Range {
    pub(crate) variable: VarRef,
    pub(crate) from: Expr,
    pub(crate) to: Expr,
    /// How the three read.
    pub(crate) texts: [Arc<str>; 3],
}

/// One argument of a receive statement.
#[derive(Debug)]
pub(crate) enum RecvArg {
    /// A variable, `_`, or the name of a constant.
    Var(VarRef),
    /// `eval(e)`.
    Eval(Expr),
    /// A number.
    Const(Expr),
}

/// `a[i].b[j].c`.
#[derive(Debug)]
pub(crate) struct VarRef {
    pub(crate) parts: Vec<(Name, Option<Expr>)>,
    pub(crate) span: Span,
}

/// An expression.
#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
    /// How deep the tree is.
    pub(crate) height: u32,
}

#[derive(Debug)]
pub(crate) enum ExprKind {
    /// A number; `skip`, `true` and `false` are numbers, too.
    Int(i32),
    Var(VarRef),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<(Expr, Expr)>),
    /// `(c -> a : b)`.
    Conditional(Box<(Expr, Expr, Expr)>),
    ChannelTest(ChannelTest, VarRef),
    Poll {
        channel: VarRef,
        random: bool,
        args: Vec<RecvArg>,
    },
    Run {
        name: Name,
        args: Vec<Expr>,
        priority: Option<Box<Expr>>,
    },
    Timeout,
    NonProgress,
    Enabled(Box<Expr>),
    PcValue(Box<Expr>),
    GetPriority(Box<Expr>),
    /// `P[e]@label`.
    RemoteLabel {
        proctype: Name,
        pid: Option<Box<Expr>>,
        label: Name,
    },
    /// `P[e]:x`.
    RemoteVar {
        proctype: Name,
        pid: Option<Box<Expr>>,
        variable: VarRef,
    },
    /// Only in formulas.
    Temporal(TemporalOp, Vec<Expr>),
}
