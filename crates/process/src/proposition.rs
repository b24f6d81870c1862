//! Expressions about states: invariants and the propositions of formulas, lowered to the
//! expressions of the action system.
//!
//! What is constant is evaluated now. The right operand of `&&`, `||` and `->` is not looked at
//! where the left one decides, so that `i + 1 < N -> P[i + 1]@a` may name a process that does
//! not exist. Long sums, conjunctions, disjunctions and quantifiers become balanced trees.

use base::{Fail, Span};
use model::{BinaryOp as Op, Expr as Node, ExprId, Exprs, UnaryOp as Unary, VarId};
use rustc_hash::FxHashMap;

use crate::ast::{Binder, Expr, ExprKind, Operator, Place, Quantifier};
use crate::eval::{Scope, apply, decided, for_each, not_constant};
use crate::meter::Quota;
use crate::names::Names;

/// Lowers an expression; the quota limits the number of nodes.
pub(crate) fn lower<'a>(
    expr: &'a Expr<'a>,
    names: &Names,
    exprs: &mut Exprs,
    quota: &mut Quota<'_>,
) -> Result<ExprId, Fail> {
    let mut scope = Scope::new(&names.constants);
    let mut lowering = Lowering { names, exprs, quota, weights: FxHashMap::default() };
    lowering.expr(expr, &mut scope)
}

struct Lowering<'n, 'e, 'm> {
    names: &'n Names,
    exprs: &'e mut Exprs,
    quota: &'e mut Quota<'m>,
    /// How many nodes an expression has when nothing is shared, as far as known.
    weights: FxHashMap<ExprId, u64>,
}

impl<'n> Lowering<'n, '_, '_> {
    fn expr<'a>(&mut self, expr: &'a Expr<'a>, scope: &mut Scope<'a, 'n>) -> Result<ExprId, Fail> {
        self.quota.take(1, expr.span)?;
        match &expr.kind {
            ExprKind::Int(value) => Ok(self.exprs.int(*value)),
            ExprKind::Name(_) => Ok(self.exprs.int(crate::eval::eval(expr, scope)?)),
            ExprKind::All => Err(not_constant(expr)),
            ExprKind::At(at) => self.at(&at.0, &at.1, scope),
            ExprKind::Unary(op, operand) => {
                let x = self.expr(operand, scope)?;
                match (op, self.constant(x)) {
                    (Unary::Neg, Some(value)) => {
                        let negated = apply(Operator::Plain(Op::Sub), 0, value, expr.span)?;
                        Ok(self.exprs.int(negated))
                    }
                    _ => Ok(self.exprs.unary(*op, x)),
                }
            }
            ExprKind::Chain(first, rest) => self.chain(first, rest, scope),
            ExprKind::Quantified(quantifier, binders, body) => {
                self.quantified(*quantifier, binders, body, scope)
            }
        }
    }

    fn constant(&self, expr: ExprId) -> Option<i64> {
        match self.exprs.get(expr) {
            Node::Int(value) => Some(value),
            _ => None,
        }
    }

    /// Whether a process is in a state, or in one of several.
    fn at<'a>(
        &mut self,
        process: &'a Place<'a>,
        state: &'a Place<'a>,
        scope: &mut Scope<'a, 'n>,
    ) -> Result<ExprId, Fail> {
        let group = self.names.group(process)?;
        if group.broken {
            return Ok(self.exprs.int(0)); // Told already; this will never be used.
        }
        let member = group.members.find("the process", process, scope)? as usize;
        let family = self.names.states[member].family(state, &group.name)?;
        let states = family.find_all("the state", state, scope)?;
        self.quota.take(states.len() as u64, state.span)?;
        let location = self.exprs.var(VarId::new(member));
        let mut compare = |op, state: u32| {
            let state = self.exprs.int(i64::from(state));
            self.exprs.binary(op, location, state)
        };
        // All indices of a family are usually neighbors.
        if let [first, .., last] = states.as_slice()
            && (last - first) as usize == states.len() - 1
        {
            let (from, to) = (compare(Op::Ge, *first), compare(Op::Le, *last));
            return Ok(self.exprs.binary(Op::And, from, to));
        }
        let equal: Vec<ExprId> = states.iter().map(|&state| compare(Op::Eq, state)).collect();
        Ok(self.exprs.fold(Op::Or, 0, &equal))
    }

    fn chain<'a>(
        &mut self,
        first: &'a Expr<'a>,
        rest: &'a [(Operator, Expr<'a>)],
        scope: &mut Scope<'a, 'n>,
    ) -> Result<ExprId, Fail> {
        match rest.first() {
            Some((Operator::Plain(op @ (Op::And | Op::Or)), _)) => self.junction(*op, first, rest, scope),
            Some((Operator::Plain(Op::Add | Op::Sub), _)) if rest.len() > 1 => self.sum(first, rest, scope),
            _ => {
                let mut left = self.expr(first, scope)?;
                for (op, right) in rest {
                    let span = first.span.to(right.span);
                    left = match self.constant(left).and_then(|value| decided(*op, value)) {
                        Some(value) => self.exprs.int(value),
                        None => {
                            let right = self.expr(right, scope)?;
                            self.binary(*op, left, right, span)?
                        }
                    };
                }
                Ok(left)
            }
        }
    }

    /// `a && b && …`, up to the first operand that decides.
    fn junction<'a>(
        &mut self,
        op: Op,
        first: &'a Expr<'a>,
        rest: &'a [(Operator, Expr<'a>)],
        scope: &mut Scope<'a, 'n>,
    ) -> Result<ExprId, Fail> {
        let mut operands = Vec::new();
        for operand in std::iter::once(first).chain(rest.iter().map(|(_, operand)| operand)) {
            let operand = self.expr(operand, scope)?;
            match self.constant(operand) {
                Some(value) if decided(Operator::Plain(op), value).is_some() => {
                    // Nothing after it is ever evaluated; what stands before it still is.
                    operands.push(operand);
                    break;
                }
                Some(_) => {}
                None => operands.push(operand),
            }
        }
        Ok(self.fold(op, &operands))
    }

    /// A conjunction or disjunction; its value is 0 or 1.
    fn fold(&mut self, op: Op, operands: &[ExprId]) -> ExprId {
        match operands {
            [one] => self.truth(*one),
            _ => self.exprs.fold(op, i64::from(op == Op::And), operands),
        }
    }

    /// 1 if the operand is true, else 0.
    fn truth(&mut self, x: ExprId) -> ExprId {
        let is_truth = match self.exprs.get(x) {
            Node::Int(value) => value == 0 || value == 1,
            Node::Unary(op, _) => op == Unary::Not,
            Node::Binary(op, ..) => {
                matches!(op, Op::And | Op::Or | Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge)
            }
            Node::Var(_) | Node::Element { .. } | Node::Cond(..) => false,
        };
        if is_truth {
            return x;
        }
        let zero = self.exprs.int(0);
        self.exprs.binary(Op::Ne, x, zero)
    }

    /// A sum of three terms or more: what is added, less what is subtracted.
    fn sum<'a>(
        &mut self,
        first: &'a Expr<'a>,
        rest: &'a [(Operator, Expr<'a>)],
        scope: &mut Scope<'a, 'n>,
    ) -> Result<ExprId, Fail> {
        let mut constant = 0;
        let (mut plus, mut minus) = (Vec::new(), Vec::new());
        let terms = std::iter::once((Operator::Plain(Op::Add), first))
            .chain(rest.iter().map(|(op, term)| (*op, term)));
        for (op, term) in terms {
            let value = self.expr(term, scope)?;
            match self.constant(value) {
                Some(value) => constant = apply(op, constant, value, first.span.to(term.span))?,
                None if op == Operator::Plain(Op::Sub) => minus.push(value),
                None => plus.push(value),
            }
        }
        if constant != 0 || plus.is_empty() {
            plus.push(self.exprs.int(constant));
        }
        let plus = self.exprs.fold(Op::Add, 0, &plus);
        if minus.is_empty() {
            return Ok(plus);
        }
        let minus = self.exprs.fold(Op::Add, 0, &minus);
        Ok(self.exprs.binary(Op::Sub, plus, minus))
    }

    fn binary(&mut self, op: Operator, x: ExprId, y: ExprId, span: Span) -> Result<ExprId, Fail> {
        if let (Some(x), Some(y)) = (self.constant(x), self.constant(y)) {
            let value = apply(op, x, y, span)?;
            return Ok(self.exprs.int(value));
        }
        Ok(match op {
            Operator::Equivalent => {
                let (x, y) = (self.truth(x), self.truth(y));
                self.exprs.binary(Op::Eq, x, y)
            }
            Operator::Implies => {
                let not_x = self.exprs.unary(Unary::Not, x);
                self.exprs.binary(Op::Or, not_x, y)
            }
            // These mention their operands several times, and those who run expressions do not
            // share: nested, that could be more than there is memory for.
            Operator::Plain(op @ (Op::Div | Op::Rem)) => {
                let result = if op == Op::Div { self.quotient(x, y) } else { self.remainder(x, y) };
                let weight = self.weight(result);
                self.quota.take(weight, span)?;
                result
            }
            Operator::Plain(op) => self.exprs.binary(op, x, y),
        })
    }

    /// How many nodes an expression has when nothing is shared.
    fn weight(&mut self, expr: ExprId) -> u64 {
        if let Some(&weight) = self.weights.get(&expr) {
            return weight;
        }
        let operands = self.exprs.get(expr).operands();
        let weight = operands.map(|operand| self.weight(operand)).fold(1, u64::saturating_add);
        self.weights.insert(expr, weight);
        weight
    }

    /// Euclidean remainder: that of the action system has the sign of `x`.
    fn remainder(&mut self, x: ExprId, y: ExprId) -> ExprId {
        let exprs = &mut *self.exprs;
        let (zero, remainder) = (exprs.int(0), exprs.binary(Op::Rem, x, y));
        let negative = exprs.binary(Op::Lt, remainder, zero);
        let positive = exprs.binary(Op::Gt, y, zero);
        let (plus, minus) = (exprs.binary(Op::Add, remainder, y), exprs.binary(Op::Sub, remainder, y));
        let corrected = exprs.cond(positive, plus, minus);
        exprs.cond(negative, corrected, remainder)
    }

    /// Euclidean quotient: one less or more where the remainder is corrected.
    fn quotient(&mut self, x: ExprId, y: ExprId) -> ExprId {
        let exprs = &mut *self.exprs;
        let (zero, one) = (exprs.int(0), exprs.int(1));
        let (quotient, remainder) = (exprs.binary(Op::Div, x, y), exprs.binary(Op::Rem, x, y));
        let negative = exprs.binary(Op::Lt, remainder, zero);
        let positive = exprs.binary(Op::Gt, y, zero);
        let (less, more) = (exprs.binary(Op::Sub, quotient, one), exprs.binary(Op::Add, quotient, one));
        let corrected = exprs.cond(positive, less, more);
        exprs.cond(negative, corrected, quotient)
    }

    fn quantified<'a>(
        &mut self,
        quantifier: Quantifier,
        binders: &'a [Binder<'a>],
        body: &'a Expr<'a>,
        scope: &mut Scope<'a, 'n>,
    ) -> Result<ExprId, Fail> {
        let binders: Vec<&Binder<'_>> = binders.iter().collect();
        let mut instances = Vec::new();
        // Ranges are limited before they are gone through; then every node counts.
        let mut copies = *self.quota;
        for_each(&binders, body.span, scope, &mut copies, &mut |scope| {
            let instance = self.expr(body, scope)?;
            instances.push(instance);
            Ok::<(), Fail>(())
        })?;
        Ok(match quantifier {
            Quantifier::Forall => self.fold(Op::And, &instances),
            Quantifier::Exists => self.fold(Op::Or, &instances),
            Quantifier::Count => {
                let truths: Vec<ExprId> = instances.iter().map(|&instance| self.truth(instance)).collect();
                self.exprs.fold(Op::Add, 0, &truths)
            }
        })
    }
}
