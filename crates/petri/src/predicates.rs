//! Truths about markings as expressions of the action system: tokens, fireability, deadlock.

use model::{BinaryOp, ExprId, Exprs, UnaryOp};

use crate::lower::variable;
use crate::net::{Net, PlaceId, Transition, TransitionId};

/// The sum of the tokens of these places; a place that is listed twice counts twice.
pub(crate) fn tokens(exprs: &mut Exprs, places: &[PlaceId]) -> ExprId {
    let terms: Vec<ExprId> = places.iter().map(|&place| exprs.var(variable(place))).collect();
    exprs.fold(BinaryOp::Add, 0, &terms)
}

/// Whether one of these transitions is enabled.
pub(crate) fn fireable(net: &Net, exprs: &mut Exprs, transitions: &[TransitionId]) -> ExprId {
    let one_of: Vec<ExprId> =
        transitions.iter().map(|&transition| enabled(exprs, net.transition(transition))).collect();
    exprs.fold(BinaryOp::Or, 0, &one_of)
}

/// Whether no transition is enabled.
pub(crate) fn deadlock(net: &Net, exprs: &mut Exprs) -> ExprId {
    let mut none_of: Vec<ExprId> = Vec::with_capacity(net.transitions.len());
    for transition in &net.transitions {
        let enabled = enabled(exprs, transition);
        none_of.push(exprs.unary(UnaryOp::Not, enabled));
    }
    // Transitions with the same input places have the same condition.
    none_of.sort_unstable();
    none_of.dedup();
    exprs.fold(BinaryOp::And, 1, &none_of)
}

/// A comparison of the tokens of some places with a number.
pub(crate) fn compare(exprs: &mut Exprs, op: BinaryOp, places: &[PlaceId], number: i64) -> ExprId {
    let (tokens, number) = (tokens(exprs, places), exprs.int(number));
    exprs.binary(op, tokens, number)
}

/// Whether a transition is enabled.
pub(crate) fn enabled(exprs: &mut Exprs, transition: &Transition) -> ExprId {
    let enough: Vec<ExprId> = transition
        .inputs
        .iter()
        .map(|&(place, weight)| compare(exprs, BinaryOp::Ge, &[place], weight))
        .collect();
    exprs.fold(BinaryOp::And, 1, &enough)
}
