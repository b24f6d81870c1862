//! Formulas: operators that both logics have are temporal where one of their operands is; what is
//! left are expressions about a state.

use std::sync::Arc;

use crate::ast::{Expr as AstExpr, ExprKind as AstKind, Model, Unit};
use crate::program::{BinaryOp, Expr, ExprKind, Formula, Property, TemporalOp, UnaryOp};

use super::declare::redeclared;
use super::{Resolved, Resolver};

impl Resolver<'_> {
    /// All formulas of the model.
    pub(super) fn formulas(&mut self, model: &Model) {
        let mut n_unnamed = 0;
        for unit in &model.units {
            let Unit::Ltl(ltl) = unit else { continue };
            let name: Arc<str> = match &ltl.name {
                Some(name) => name.text.clone(),
                None => {
                    n_unnamed += 1;
                    format!("ltl_{}", n_unnamed - 1).into()
                }
            };
            if let (Some(name), Some(old)) =
                (&ltl.name, self.names.properties.iter().find(|old| old.name == name))
            {
                let error = redeclared("the formula", name, old.span);
                self.complain(error);
            }
            let formula = self.formula(&ltl.formula);
            if let Some(formula) = self.take(formula) {
                self.names.properties.push(Property { name, formula, span: ltl.span });
            }
        }
    }

    /// Recursion is as deep as the formula, which the parser limits.
    pub(super) fn formula(&mut self, formula: &AstExpr) -> Resolved<Formula> {
        let (op, operands): (TemporalOp, Vec<&AstExpr>) = match &formula.kind {
            AstKind::Unary(UnaryOp::Not, operand) => (TemporalOp::Not, vec![operand]),
            AstKind::Binary(BinaryOp::And, operands) => (TemporalOp::And, vec![&operands.0, &operands.1]),
            AstKind::Binary(BinaryOp::Or, operands) => (TemporalOp::Or, vec![&operands.0, &operands.1]),
            AstKind::Temporal(op, operands) => (*op, operands.iter().collect()),
            _ => return self.expr(formula).map(Formula::State),
        };
        let mut resolved = Vec::new();
        for operand in operands {
            resolved.push(self.formula(operand)?);
        }
        Ok(folded(op, resolved, formula.span))
    }
}

/// An operator over formulas: an expression, if it is not temporal and they are expressions.
fn folded(op: TemporalOp, operands: Vec<Formula>, span: base::Span) -> Formula {
    let is_logical = matches!(
        op,
        TemporalOp::Not | TemporalOp::And | TemporalOp::Or | TemporalOp::Implies | TemporalOp::Equivalent
    );
    if !is_logical || !operands.iter().all(|operand| matches!(operand, Formula::State(_))) {
        return Formula::Op(op, operands);
    }
    let mut states = operands.into_iter().filter_map(|operand| match operand {
        Formula::State(state) => Some(state),
        Formula::Op(..) => None,
    });
    let not = |state: Expr| Expr { span: state.span, kind: ExprKind::Unary(UnaryOp::Not, Box::new(state)) };
    let kind = match (op, states.next(), states.next()) {
        (TemporalOp::And, Some(a), Some(b)) => ExprKind::Binary(BinaryOp::And, Box::new((a, b))),
        (TemporalOp::Or, Some(a), Some(b)) => ExprKind::Binary(BinaryOp::Or, Box::new((a, b))),
        (TemporalOp::Implies, Some(a), Some(b)) => ExprKind::Binary(BinaryOp::Or, Box::new((not(a), b))),
        // Both are true or both are false, whatever number stands for true.
        (_, Some(a), Some(b)) => ExprKind::Binary(BinaryOp::Eq, Box::new((not(a), not(b)))),
        (_, Some(a), None) => ExprKind::Unary(UnaryOp::Not, Box::new(a)),
        (_, None, _) => ExprKind::Int(1),
    };
    Formula::State(Expr { kind, span })
}
