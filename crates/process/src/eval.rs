//! Constant expressions: evaluation, and going through ranges.
//!
//! Arithmetic is on `i64` and exact; what does not fit is an error. Division and remainder are
//! *Euclidean*: the remainder is never negative, so that `(i - 1) % N` goes round a ring.

use rustc_hash::FxHashMap;

use base::{Diagnostic, Fail, Sink, Span, fail};

use model::BinaryOp;

use crate::ast::{Binder, Constant, Expr, ExprKind, Operator, Range};
use crate::meter::Quota;

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
                None if sink.is_full() => None,
                None => {
                    let value = eval(&constant.value, &Scope::new(&constants));
                    sink.take(value.map_err(|error| explain_order(error, constant, written)))
                }
            };
            // A constant that has no value still has a name: one error is enough.
            constants.values.insert(name.text.to_owned(), (value.unwrap_or(1), name.span));
            constants.names.push(name.text.to_owned());
        }
        for (name, _) in given {
            if !constants.values.contains_key(name) {
                let message = format!("the model has no constant `{name}` that could be set");
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

/// Says so if a name is unknown because it is declared further down.
fn explain_order(mut error: Fail, constant: &Constant<'_>, written: &[Constant<'_>]) -> Fail {
    let start = constant.name.span.start;
    let later: Vec<&str> = written
        .iter()
        .map(|other| other.name)
        .filter(|name| name.span.start >= start)
        .map(|n| n.text)
        .collect();
    if error.code == "unknown-name" && mentions(&constant.value, &later) {
        error.help = Some("constants are evaluated in order: use only those further up".to_owned());
    }
    error
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

/// The value of a constant expression.
pub(crate) fn eval(expr: &Expr<'_>, scope: &Scope<'_, '_>) -> Result<i64, Fail> {
    match &expr.kind {
        ExprKind::Int(value) => Ok(*value),
        ExprKind::Name(name) => scope.get(name).ok_or_else(|| {
            let known = scope.locals.iter().map(|(name, _)| *name).chain(scope.constants.names());
            let error = fail("unknown-name", format!("unknown name `{name}`"), expr.span, "not declared");
            Box::new(error.suggesting(name, known))
        }),
        ExprKind::Unary(op, operand) => op.apply(eval(operand, scope)?).map_err(|_| overflow(expr.span)),
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
pub(crate) fn decided(op: Operator, value: i64) -> Option<i64> {
    match op {
        Operator::Plain(BinaryOp::And) if value == 0 => Some(0),
        Operator::Plain(BinaryOp::Or) if value != 0 => Some(1),
        Operator::Implies if value == 0 => Some(1),
        _ => None,
    }
}

/// Applies an operator.
pub(crate) fn apply(op: Operator, x: i64, y: i64, span: Span) -> Result<i64, Fail> {
    match op {
        Operator::Equivalent => Ok(i64::from((x != 0) == (y != 0))),
        Operator::Implies => Ok(i64::from(x == 0 || y != 0)),
        Operator::Plain(BinaryOp::Div | BinaryOp::Rem) if y == 0 => {
            Err(fail("division-by-zero", "division by zero", span, "the divisor is 0"))
        }
        Operator::Plain(BinaryOp::Div) => x.checked_div_euclid(y).ok_or_else(|| overflow(span)),
        Operator::Plain(BinaryOp::Rem) => Ok(x.wrapping_rem_euclid(y)),
        Operator::Plain(op) => op.apply(x, y).map_err(|_| overflow(span)),
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

/// Calls `visit` for all values of the variables, the last one changing fastest. Every call, and
/// every empty range, takes one from the quota; `place` is to blame if there are no variables. What
/// is obviously too much is refused before anything is done.
pub(crate) fn for_each<'a, 'c, E: From<Fail>>(
    binders: &[&'a Binder<'a>],
    place: Span,
    scope: &mut Scope<'a, 'c>,
    quota: &mut Quota<'_>,
    visit: &mut dyn FnMut(&mut Scope<'a, 'c>) -> Result<(), E>,
) -> Result<(), E> {
    if binders.len() > 1 {
        let n_least = least_size(binders, scope)?;
        quota.check(n_least, place_of(binders).unwrap_or(place))?;
    }
    for_each_value(binders, place, scope, quota, visit)
}

fn for_each_value<'a, 'c, E: From<Fail>>(
    binders: &[&'a Binder<'a>],
    place: Span,
    scope: &mut Scope<'a, 'c>,
    quota: &mut Quota<'_>,
    visit: &mut dyn FnMut(&mut Scope<'a, 'c>) -> Result<(), E>,
) -> Result<(), E> {
    let Some((binder, inner)) = binders.split_first() else {
        quota.take(1, place)?;
        return visit(scope);
    };
    let place = binder.range.span;
    let (from, len) = range(&binder.range, scope)?;
    quota.check(len, place)?;
    if len == 0 {
        quota.take(1, place)?;
    }
    let depth = scope.locals.len();
    for offset in 0..len {
        // In range: the last value of a range is an i64.
        scope.locals.push((binder.name.text, from.wrapping_add_unsigned(offset)));
        for_each_value(inner, place, scope, quota, visit)?;
        scope.locals.truncate(depth);
    }
    Ok(())
}

/// How often [`for_each`] calls at least: the product of the ranges up to the first one that
/// depends on the variables before it. If that one may be empty, its like does not matter: the
/// quota is taken from all the same.
fn least_size(binders: &[&Binder<'_>], scope: &Scope<'_, '_>) -> Result<u64, Fail> {
    let mut names: Vec<&str> = Vec::new();
    let mut product = 1u64;
    for binder in binders {
        if mentions(&binder.range.from, &names) || mentions(&binder.range.to, &names) {
            break;
        }
        let (_, len) = range(&binder.range, scope)?;
        if len == 0 {
            break;
        }
        product = product.saturating_mul(len);
        names.push(binder.name.text);
    }
    Ok(product)
}

fn place_of(binders: &[&Binder<'_>]) -> Option<Span> {
    binders.iter().map(|binder| binder.range.span).reduce(Span::to)
}

/// Whether an expression depends on one of the names.
pub(crate) fn mentions(expr: &Expr<'_>, names: &[&str]) -> bool {
    match &expr.kind {
        ExprKind::Name(name) => names.contains(name),
        ExprKind::Unary(_, operand) => mentions(operand, names),
        ExprKind::Chain(first, rest) => {
            mentions(first, names) || rest.iter().any(|(_, operand)| mentions(operand, names))
        }
        // The last three are not constant: they never get here.
        ExprKind::Int(_) | ExprKind::All | ExprKind::At(_) | ExprKind::Quantified(..) => false,
    }
}
