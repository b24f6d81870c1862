//! The elements of formulas.

use model::BinaryOp;

/// An element of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// The whole formula.
    Formula,
    AllPaths,
    ExistsPath,
    Next,
    Globally,
    Finally,
    Until,
    /// The operands of `until`.
    Before,
    Reach,
    Not,
    And,
    Or,
    Implies,
    Equivalent,
    Xor,
    Compare(BinaryOp),
    Constant,
    /// A sum, difference or product.
    Arithmetic(BinaryOp),
    TokensCount,
    IsFireable,
    Deadlock,
    True,
    False,
    PlaceBound,
    Place,
    Transition,
}

impl Element {
    /// The element of this name. Some have had other names in other years.
    pub(super) fn of(name: &str) -> Option<Element> {
        Some(match name {
            "all-paths" => Element::AllPaths,
            "exists-path" => Element::ExistsPath,
            "next" => Element::Next,
            "globally" => Element::Globally,
            "finally" => Element::Finally,
            "until" => Element::Until,
            "before" => Element::Before,
            "reach" => Element::Reach,
            "negation" | "not" => Element::Not,
            "conjunction" | "and" => Element::And,
            "disjunction" | "or" => Element::Or,
            "implication" | "imply" => Element::Implies,
            "equivalence" => Element::Equivalent,
            "exclusive-disjunction" | "xor" => Element::Xor,
            "integer-le" => Element::Compare(BinaryOp::Le),
            "integer-lt" => Element::Compare(BinaryOp::Lt),
            "integer-ge" => Element::Compare(BinaryOp::Ge),
            "integer-gt" => Element::Compare(BinaryOp::Gt),
            "integer-eq" => Element::Compare(BinaryOp::Eq),
            "integer-ne" => Element::Compare(BinaryOp::Ne),
            "integer-constant" => Element::Constant,
            "integer-sum" => Element::Arithmetic(BinaryOp::Add),
            "integer-difference" => Element::Arithmetic(BinaryOp::Sub),
            "integer-product" => Element::Arithmetic(BinaryOp::Mul),
            "tokens-count" => Element::TokensCount,
            "is-fireable" => Element::IsFireable,
            "deadlock" => Element::Deadlock,
            "true" => Element::True,
            "false" => Element::False,
            "place-bound" => Element::PlaceBound,
            "place" => Element::Place,
            "transition" => Element::Transition,
            _ => return None,
        })
    }

    /// How many operands it has, at least and at most.
    pub(super) fn operands(self) -> (usize, usize) {
        match self {
            Element::Constant
            | Element::Deadlock
            | Element::True
            | Element::False
            | Element::Place
            | Element::Transition => (0, 0),
            Element::Until
            | Element::Implies
            | Element::Equivalent
            | Element::Xor
            | Element::Compare(_)
            | Element::Arithmetic(BinaryOp::Sub) => (2, 2),
            Element::And
            | Element::Or
            | Element::Arithmetic(_)
            | Element::TokensCount
            | Element::IsFireable
            | Element::PlaceBound => (1, usize::MAX),
            _ => (1, 1),
        }
    }

    /// Whether what it contains is a text.
    pub(super) fn has_text(self) -> bool {
        matches!(self, Element::Constant | Element::Place | Element::Transition)
    }
}

/// How a comparison or an operation is written.
pub(super) fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Le => "<=",
        BinaryOp::Lt => "<",
        BinaryOp::Ge => ">=",
        BinaryOp::Gt => ">",
        BinaryOp::Eq => "==",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Add => "+",
        _ => "!=",
    }
}
