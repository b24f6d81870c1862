//! The syntax tree of a `.proc` file, as it was written: names are not looked up yet.

use base::Span;
use model::{BinaryOp, UnaryOp};

/// A name and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'a> {
    pub(crate) text: &'a str,
    pub(crate) span: Span,
}

/// A whole file.
#[derive(Debug, Default)]
pub(crate) struct File<'a> {
    pub(crate) constants: Vec<Constant<'a>>,
    pub(crate) processes: Vec<Process<'a>>,
    pub(crate) properties: Vec<Property<'a>>,
    pub(crate) fairness: Vec<Fairness<'a>>,
    pub(crate) deadlock_free: Option<Span>,
    /// Whether a declaration could not be read, so that constants or processes may be missing.
    pub(crate) broken: bool,
}

/// `const N = 10;`.
#[derive(Debug)]
pub(crate) struct Constant<'a> {
    pub(crate) name: Name<'a>,
    pub(crate) value: Expr<'a>,
    pub(crate) span: Span,
}

/// `process P[i in 0..N] { … }`, or `process P = extern "p.aut";`.
#[derive(Debug)]
pub(crate) struct Process<'a> {
    pub(crate) name: Name<'a>,
    pub(crate) parameters: Vec<Binder<'a>>,
    pub(crate) kind: ProcessKind<'a>,
    pub(crate) span: Span,
}

impl Process<'_> {
    /// Whether a part of it could not be read.
    pub(crate) fn body_is_broken(&self) -> bool {
        matches!(&self.kind, ProcessKind::Written(body) if body.broken)
    }
}

#[derive(Debug)]
pub(crate) enum ProcessKind<'a> {
    Written(Body<'a>),
    /// The name of the file.
    Extern(Name<'a>),
}

/// What stands between the braces of a process, tester or spec.
#[derive(Debug, Default)]
pub(crate) struct Body<'a> {
    pub(crate) states: Vec<State<'a>>,
    pub(crate) initial: Option<Place<'a>>,
    /// `alphabet …;` of a process, `watch …;` of a tester or spec.
    pub(crate) alphabet: Vec<Entry<'a, Action<'a>>>,
    /// Where the first `alphabet` or `watch` stands.
    pub(crate) alphabet_span: Option<Span>,
    /// `reject …;` and its like, of a tester.
    pub(crate) marks: Vec<(Mark, Entry<'a, Place<'a>>)>,
    /// Whether a part could not be read, so that states may be missing.
    pub(crate) broken: bool,
}

/// What a state of a tester may be besides ordinary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Reject,
    Deadlock,
    Livelock,
    Infinite,
}

/// `at[k in 0..N]: … | …;`.
#[derive(Debug)]
pub(crate) struct State<'a> {
    pub(crate) name: Name<'a>,
    pub(crate) indices: Vec<StateIndex<'a>>,
    pub(crate) alternatives: Vec<Alternative<'a>>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum StateIndex<'a> {
    Binder(Binder<'a>),
    Value(Expr<'a>),
}

/// `action -> target for j in 0..N when j != i`.
#[derive(Debug)]
pub(crate) struct Alternative<'a> {
    pub(crate) action: Action<'a>,
    pub(crate) target: Place<'a>,
    pub(crate) copies: Copies<'a>,
    /// With `for` and `when`.
    pub(crate) extent: Span,
}

impl Alternative<'_> {
    pub(crate) fn span(&self) -> Span {
        self.action.span().to(self.target.span)
    }
}

/// Something that may be followed by `for` and `when`.
#[derive(Debug)]
pub(crate) struct Entry<'a, T> {
    pub(crate) what: T,
    pub(crate) copies: Copies<'a>,
}

/// For which values something is there: `for … when …`.
#[derive(Debug, Default)]
pub(crate) struct Copies<'a> {
    pub(crate) binders: Vec<Binder<'a>>,
    pub(crate) conditions: Vec<Expr<'a>>,
}

/// What an action is called.
#[derive(Debug)]
pub(crate) enum Action<'a> {
    Tau(Span),
    /// `name[e1, e2]`.
    Indexed(Place<'a>),
    /// `"any text"`, without the quotation marks.
    Quoted(Name<'a>),
}

impl Action<'_> {
    pub(crate) fn span(&self) -> Span {
        match self {
            Action::Tau(span) => *span,
            Action::Indexed(place) => place.span,
            Action::Quoted(text) => text.span,
        }
    }
}

/// A name with indices: a state, a process, an action.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) name: Name<'a>,
    pub(crate) indices: Vec<Expr<'a>>,
    pub(crate) span: Span,
}

/// `k in 0..N`.
#[derive(Debug)]
pub(crate) struct Binder<'a> {
    pub(crate) name: Name<'a>,
    pub(crate) range: Range<'a>,
}

/// `from..to`, or `from..=to`.
#[derive(Debug)]
pub(crate) struct Range<'a> {
    pub(crate) from: Expr<'a>,
    pub(crate) to: Expr<'a>,
    pub(crate) inclusive: bool,
    pub(crate) span: Span,
}

/// Something to be checked.
#[derive(Debug)]
pub(crate) struct Property<'a> {
    pub(crate) name: Name<'a>,
    pub(crate) kind: PropertyKind<'a>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum PropertyKind<'a> {
    Invariant(Expr<'a>),
    /// The text of the formula.
    Ltl(Name<'a>),
    Tester(Vec<Binder<'a>>, Body<'a>),
    Spec(Vec<Binder<'a>>, Body<'a>),
}

/// `fair weak P[*], Q;`.
#[derive(Debug)]
pub(crate) struct Fairness<'a> {
    pub(crate) kind: model::fairness::Kind,
    pub(crate) processes: Vec<Place<'a>>,
    pub(crate) span: Span,
}

/// An expression.
#[derive(Debug)]
pub(crate) struct Expr<'a> {
    pub(crate) kind: ExprKind<'a>,
    pub(crate) span: Span,
    /// How deep the tree is, counted so that nothing made from it is much deeper.
    pub(crate) height: u32,
}

#[derive(Debug)]
pub(crate) enum ExprKind<'a> {
    Int(i64),
    Name(&'a str),
    /// `*`: every index.
    All,
    /// `process@state`.
    At(Box<(Place<'a>, Place<'a>)>),
    Unary(UnaryOp, Box<Expr<'a>>),
    /// A first operand and what is done to it, from left to right. The operators are of one
    /// level; keeping them in a row means that a long sum is not a deep tree.
    Chain(Box<Expr<'a>>, Vec<(Operator, Expr<'a>)>),
    Quantified(Quantifier, Vec<Binder<'a>>, Box<Expr<'a>>),
}

/// An operator: one of the action system's, or one that stands for several of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equivalent,
    Implies,
    Plain(BinaryOp),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantifier {
    Forall,
    Exists,
    Count,
}
