//! Initial values and channels.

use base::{Diagnostic, Span};

use crate::ast::{Expr as AstExpr, Init as AstInit, TypeName};
use crate::errors::{fail, fail_with_help};
use crate::eval;
use crate::program::{Channel, Expr, ExprKind, Init, Type, Variable};

use super::{Resolved, Resolver};

impl Resolver<'_> {
    /// The initial value of a variable.
    pub(super) fn init(&mut self, variable: &Variable, init: &AstInit) -> Resolved<Init> {
        if let Type::Struct(_) = variable.ty {
            let message = format!("the initial value of `{}` is ignored, as in Spin", variable.name);
            let warning =
                Diagnostic::warning("ignored-value", message).at(variable.span, "its type is a typedef");
            self.warn(warning.with_help("initialize the fields in the typedef, or assign to them"));
            return Ok(Init::Zero);
        }
        match init {
            AstInit::Expr(value) => {
                let value = self.expr(value)?;
                if contains_run(&value) {
                    let message = "`run` cannot be used in an initial value";
                    return Err(fail("bad-initializer", message, value.span, ""));
                }
                self.check_truncation(variable.ty, &value);
                Ok(Init::Expr(value))
            }
            AstInit::List(values, span) => self.init_list(variable, values, *span).map(Init::List),
            AstInit::Channel { capacity, fields, span } => {
                if variable.ty != Type::Chan {
                    let message = format!("`{}` is not a channel", variable.name);
                    return Err(fail("bad-initializer", message, *span, "this is one"));
                }
                self.channel(capacity, fields, *span).map(Init::Channel)
            }
        }
    }

    pub(super) fn init_list(
        &mut self,
        variable: &Variable,
        values: &[AstExpr],
        span: Span,
    ) -> Resolved<Vec<i32>> {
        let Some(length) = variable.length else {
            let message = format!("`{}` is not an array", variable.name);
            return Err(fail("bad-initializer", message, span, "only an array has several values"));
        };
        if values.len() > length as usize {
            let message = format!("`{}` has {length} elements, but {} values", variable.name, values.len());
            return Err(fail("bad-initializer", message, span, ""));
        }
        let mut list = Vec::new();
        for value in values {
            list.push(self.constant(value)?);
        }
        // As in Spin, the last value stands for all that follow.
        let last = list.last().copied().unwrap_or(0);
        list.resize(length as usize, last);
        Ok(list)
    }

    fn channel(&mut self, capacity: &AstExpr, fields: &[TypeName], span: Span) -> Resolved<Channel> {
        let value = self.constant(capacity)?;
        let limit = self.limits.capacity;
        let Some(capacity_value) = u32::try_from(value).ok().filter(|&value| value as usize <= limit) else {
            let message = format!("a channel cannot hold {value} messages");
            let help = format!("at most {limit} are allowed");
            return Err(fail_with_help("too-large", message, capacity.span, help));
        };
        let mut types = Vec::new();
        for field in fields {
            let ty = self.type_of(field)?;
            self.flat_types(ty, &mut types);
            if types.len() > self.limits.message {
                let message = format!("a message of more than {} scalars is too large", self.limits.message);
                return Err(fail("too-large", message, field.span, "the limit is reached here"));
            }
        }
        Ok(Channel { capacity: capacity_value, fields: types, span })
    }

    /// The scalars of a type, in order. Typedefs are not nested too deeply for recursion.
    pub(super) fn flat_types(&self, ty: Type, types: &mut Vec<Type>) {
        match ty {
            Type::Struct(id) => {
                for field in &self.names.structs[id.index()].fields {
                    for _ in 0..field.length.unwrap_or(1) {
                        if types.len() <= self.limits.array {
                            self.flat_types(field.ty, types);
                        }
                    }
                }
            }
            scalar => types.push(scalar),
        }
    }

    /// Warns about a constant that does not fit a variable.
    pub(super) fn check_truncation(&mut self, ty: Type, value: &Expr) {
        if matches!(ty, Type::Chan | Type::Struct(_)) {
            return;
        }
        let Some(constant) = eval::constant(value) else { return };
        let kept = ty.truncate(constant);
        if kept != constant {
            let (least, most) = ty.range();
            let message = format!("{constant} does not fit: the variable gets {kept}");
            let warning = Diagnostic::warning("truncated", message).at(value.span, "");
            self.warn(warning.with_help(format!("its values are {least} to {most}")));
        }
    }
}

/// Whether an expression starts a process.
pub(super) fn contains_run(expr: &Expr) -> bool {
    let mut found = false;
    eval::visit(expr, &mut |expr| {
        found |= matches!(expr.kind, ExprKind::Run { .. });
    });
    found
}
