//! Constant expressions: evaluation, ranges, and quotas on how far they are expanded.
//!
//! Arithmetic is on `i64` and exact; what does not fit is an error. Division and remainder are
//! *Euclidean*: the remainder is never negative, so that `(i - 1) % N` goes round a ring.

use rustc_hash::FxHashMap;

use base::{Diagnostic, Span};

use crate::ast::{BinaryOp, Binder, Constant, Expr, ExprKind, Range, UnaryOp};
use crate::errors::{Fail, Sink, fail};

/// The constants of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constants {
    /// Values, and where they are declared.
    values: FxHashMap<String, (i64, Span)>,
    /// In the order of the file.
    names: Vec<String>,
}

impl Constants {
    /// Evaluates the constants of a file in order; `given` values replace the written ones.
    pub(crate) fn new(written: &[Constant<'_>], given: &[(String, i64)], sink: &mut Sink) -> Constants {
        let mut constants = Constants::default();
        for constant in written {
            let name = constant.name;
            if let Some(first) = constants.span(name.text) {
                let message = format!("the constant `{}` is declared twice", name.text);
                let error = fail("duplicate-constant", message, name.span, "declared again");
                sink.push(error.with_related(first, "first declared here"));
                continue;
            }
            // The last of several `-D` counts, as in a C compiler.
            let value = match given.iter().rev().find(|(given, _)| given == name.text) {
                Some((_, value)) => Some(*value),
                None => sink.take(eval(&constant.value, &Scope::new(&constants))),
            };
            // A constant that has no value still has a name: one error is enough.
            constants.values.insert(name.text.to_owned(), (value.unwrap_or(1), name.span));
            constants.names.push(name.text.to_owned());
        }
        for (name, _) in given {
            if !constants.values.contains_key(name) {
                let message = format!("the model has no constant `{name}` that `-D {name}=…` could set");
                let error = Diagnostic::error("unknown-constant", message);
                sink.push(error.suggesting(name, constants.names()));
            }
        }
        constants
    }

    pub(crate) fn get(&self, name: &str) -> Option<i64> {
        self.values.get(name).map(|(value, _)| *value)
    }

    /// Where a constant is declared.
    pub(crate) fn span(&self, name: &str) -> Option<Span> {
        self.values.get(name).map(|(_, span)| *span)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

/// What names stand for.
#[derive(Clone, Debug)]
pub(crate) struct Scope<'a, 'c> {
    constants: &'c Constants,
    locals: Vec<(&'a str, i64)>,
}

impl<'a, 'c> Scope<'a, 'c> {
    pub(crate) fn new(constants: &'c Constants) -> Scope<'a, 'c> {
        Scope { constants, locals: Vec::new() }
    }

    pub(crate) fn get(&self, name: &str) -> Option<i64> {
        let local = self.locals.iter().rev().find(|(local, _)| *local == name);
        local.map(|(_, value)| *value).or_else(|| self.constants.get(name))
    }

    /// The values of the variables, outermost first.
    pub(crate) fn values(&self) -> Vec<i64> {
        self.locals.iter().map(|(_, value)| *value).collect()
    }
}

/// How much may still be built of something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quota {
    what: &'static str,
    limit: u64,
    left: u64,
}

impl Quota {
    pub(crate) fn new(what: &'static str, limit: u64) -> Quota {
        Quota { what, limit, left: limit }
    }

    /// Takes `n` out of the quota; if that is too much, the place is to blame.
    pub(crate) fn take(&mut self, n: u64, span: Span) -> Result<(), Fail> {
        match self.left.checked_sub(n) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                let message = format!("too large: more than {} {}", self.limit, self.what);
                let error = fail("too-large", message, span, "this goes over the limit");
                Err(Box::new(error.with_help("make the model smaller: lower a constant or a range")))
            }
        }
    }
}

/// The value of a constant expression.
pub(crate) fn eval(expr: &Expr<'_>, scope: &Scope<'_, '_>) -> Result<i64, Fail> {
    match &expr.kind {
        ExprKind::Int(value) => Ok(*value),
        ExprKind::Name(name) => scope.get(name).ok_or_else(|| {
            let known = scope.locals.iter().map(|(name, _)| *name).chain(scope.constants.names());
            let error = fail("unknown-name", format!("unknown name `{name}`"), expr.span, "not declared");
            Box::new(error.suggesting(name, known))
        }),
        ExprKind::Unary(UnaryOp::Not, operand) => Ok(i64::from(eval(operand, scope)? == 0)),
        ExprKind::Unary(UnaryOp::Neg, operand) => {
            eval(operand, scope)?.checked_neg().ok_or_else(|| overflow(expr.span))
        }
        ExprKind::Chain(first, rest) => {
            let mut value = eval(first, scope)?;
            for (op, right) in rest {
                value = match decided(*op, value) {
                    Some(decided) => decided,
                    None => apply(*op, value, eval(right, scope)?, first.span.to(right.span))?,
                };
            }
            Ok(value)
        }
        ExprKind::At(_) | ExprKind::All | ExprKind::Quantified(..) => Err(not_constant(expr)),
    }
}

/// An expression that has a value only in a state, or none at all.
pub(crate) fn not_constant(expr: &Expr<'_>) -> Fail {
    let (what, label) = match expr.kind {
        ExprKind::All => ("`*` stands for every index, which has no meaning here", "expected a number"),
        ExprKind::At(_) => {
            ("where a process is can be asked only in invariants and formulas", "not a constant")
        }
        _ => ("quantifiers are for invariants and formulas", "not a constant"),
    };
    fail("not-constant", what, expr.span, label)
}

/// The value of `value op …`, where the left operand decides it.
pub(crate) fn decided(op: BinaryOp, value: i64) -> Option<i64> {
    match op {
        BinaryOp::And if value == 0 => Some(0),
        BinaryOp::Or if value != 0 => Some(1),
        BinaryOp::Implies if value == 0 => Some(1),
        _ => None,
    }
}

/// Applies an operator.
pub(crate) fn apply(op: BinaryOp, x: i64, y: i64, span: Span) -> Result<i64, Fail> {
    let exact = |value: Option<i64>| value.ok_or_else(|| overflow(span));
    match op {
        BinaryOp::Div | BinaryOp::Rem if y == 0 => {
            Err(fail("division-by-zero", "division by zero", span, "the divisor is 0"))
        }
        BinaryOp::Add => exact(x.checked_add(y)),
        BinaryOp::Sub => exact(x.checked_sub(y)),
        BinaryOp::Mul => exact(x.checked_mul(y)),
        BinaryOp::Div => exact(x.checked_div_euclid(y)),
        BinaryOp::Rem => Ok(x.wrapping_rem_euclid(y)),
        BinaryOp::Equivalent => Ok(i64::from((x != 0) == (y != 0))),
        BinaryOp::Implies => Ok(i64::from(x == 0 || y != 0)),
        BinaryOp::Or => Ok(i64::from(x != 0 || y != 0)),
        BinaryOp::And => Ok(i64::from(x != 0 && y != 0)),
        BinaryOp::Eq => Ok(i64::from(x == y)),
        BinaryOp::Ne => Ok(i64::from(x != y)),
        BinaryOp::Lt => Ok(i64::from(x < y)),
        BinaryOp::Le => Ok(i64::from(x <= y)),
        BinaryOp::Gt => Ok(i64::from(x > y)),
        BinaryOp::Ge => Ok(i64::from(x >= y)),
    }
}

fn overflow(span: Span) -> Fail {
    fail("overflow", "the result does not fit 64 bits", span, "overflow")
}

/// First value and number of values of a range.
pub(crate) fn range(range: &Range<'_>, scope: &Scope<'_, '_>) -> Result<(i64, u64), Fail> {
    let (from, to) = (eval(&range.from, scope)?, eval(&range.to, scope)?);
    let len = i128::from(to) - i128::from(from) + i128::from(range.inclusive);
    Ok((from, u64::try_from(len.max(0)).unwrap_or(u64::MAX)))
}

/// Calls `visit` for all values of the variables, the last one changing fastest. Every value of
/// every variable takes one from the quota, before it is looked at.
pub(crate) fn for_each<'a, 'c, E: From<Fail>>(
    binders: &[&'a Binder<'a>],
    scope: &mut Scope<'a, 'c>,
    quota: &mut Quota,
    visit: &mut dyn FnMut(&mut Scope<'a, 'c>, &mut Quota) -> Result<(), E>,
) -> Result<(), E> {
    let Some((binder, inner)) = binders.split_first() else {
        return visit(scope, quota);
    };
    let (from, len) = range(&binder.range, scope)?;
    quota.take(len, binder.range.span)?;
    let depth = scope.locals.len();
    for offset in 0..len {
        // In range: the last value of a range is an i64.
        scope.locals.push((binder.name.text, from.wrapping_add_unsigned(offset)));
        for_each(inner, scope, quota, visit)?;
        scope.locals.truncate(depth);
    }
    Ok(())
}
