//! Expressions.

use base::{Diagnostic, Span};

use crate::ast::{Expr as AstExpr, ExprKind as AstKind, Name, RecvArg as AstRecvArg, VarRef};
use crate::errors::{count, fail, fail_with_help, suggest};
use crate::eval;
use crate::program::{BinaryOp, Expr, ExprKind, Init, Place, ProctypeId, ProctypeKind, RecvArg, Type, VarId};

use super::{Resolved, Resolver};

impl Resolver<'_> {
    /// Recursion is as deep as the expression, which the parser limits.
    pub(super) fn expr(&mut self, expr: &AstExpr) -> Resolved<Expr> {
        let kind = match &expr.kind {
            AstKind::Int(value) => ExprKind::Int(*value),
            AstKind::Var(variable) => self.load(variable)?,
            AstKind::Unary(op, operand) => ExprKind::Unary(*op, Box::new(self.expr(operand)?)),
            AstKind::Binary(op, operands) => {
                let (left, right) = (self.expr(&operands.0)?, self.expr(&operands.1)?);
                if matches!(op, BinaryOp::Div | BinaryOp::Rem) && eval::constant(&right) == Some(0) {
                    return Err(fail("division-by-zero", "this divides by zero", right.span, ""));
                }
                ExprKind::Binary(*op, Box::new((left, right)))
            }
            AstKind::Conditional(parts) => {
                let (condition, then) = (self.expr(&parts.0)?, self.expr(&parts.1)?);
                ExprKind::Conditional(Box::new((condition, then, self.expr(&parts.2)?)))
            }
            AstKind::ChannelTest(test, channel) => {
                ExprKind::ChannelTest(*test, Box::new(self.tested_channel(channel)?))
            }
            AstKind::Poll { channel, random, args } => {
                let channel = self.channel_place(channel, false)?;
                let args = self.recv_args(args)?;
                self.check_arity(&channel, args.len(), expr.span);
                let args = args.into_iter().map(|arg| match arg {
                    RecvArg::Match(value) => Some(value),
                    RecvArg::Store(_) | RecvArg::Ignore => None,
                });
                ExprKind::Poll { channel: Box::new(channel), random: *random, args: args.collect() }
            }
            AstKind::Run { name, args, priority } => self.run(name, args, priority.as_deref(), expr.span)?,
            AstKind::Timeout => ExprKind::Timeout,
            AstKind::NonProgress => ExprKind::NonProgress,
            AstKind::Enabled(pid) => ExprKind::Enabled(Box::new(self.expr(pid)?)),
            AstKind::PcValue(pid) => ExprKind::PcValue(Box::new(self.expr(pid)?)),
            AstKind::GetPriority(pid) => ExprKind::GetPriority(Box::new(self.expr(pid)?)),
            AstKind::RemoteLabel { proctype, pid, label } => {
                let proctype = self.proctype_named(proctype)?;
                let pid = self.remote_pid(pid.as_deref())?;
                let label = self.remote_label(proctype.index(), label)?;
                ExprKind::RemoteLabel { proctype, pid, label }
            }
            AstKind::RemoteVar { proctype, pid, variable } => {
                let proctype = self.proctype_named(proctype)?;
                let pid = self.remote_pid(pid.as_deref())?;
                let place = Box::new(self.remote_place(proctype, variable)?);
                ExprKind::RemoteVar { proctype, pid, place }
            }
            AstKind::Temporal(..) => {
                let message = "a temporal operator cannot be used here";
                return Err(fail("misplaced-temporal", message, expr.span, ""));
            }
        };
        Ok(Expr { kind, span: expr.span })
    }

    fn remote_pid(&mut self, pid: Option<&AstExpr>) -> Resolved<Option<Box<Expr>>> {
        pid.map(|pid| self.expr(pid).map(Box::new)).transpose()
    }

    /// The value of a name: a variable, a symbolic constant, or something predefined.
    fn load(&mut self, variable: &VarRef) -> Resolved<ExprKind> {
        if let [(name, None)] = &variable.parts[..] {
            if let Some(&(set, value, declared)) = self.names.symbols.get(&name.text) {
                self.note_use(name, declared);
                return Ok(ExprKind::Symbol(set, value));
            }
            match &*name.text {
                "_pid" => return Ok(ExprKind::Pid),
                "_nr_pr" => return Ok(ExprKind::NrPr),
                "_last" => return Ok(ExprKind::Last),
                "_priority" => return Ok(ExprKind::Priority),
                "_" => {
                    let message = "`_` cannot be read: what is stored there is thrown away";
                    return Err(fail("not-a-variable", message, name.span, ""));
                }
                _ => {}
            }
        }
        let place = self.scalar(variable)?;
        self.note_load(&place);
        Ok(ExprKind::Load(place))
    }

    /// A question about a channel is no reason to believe that it is read.
    fn tested_channel(&mut self, channel: &VarRef) -> Resolved<Place> {
        let place = self.channel_place(channel, true)?;
        if let VarId::Global(global) = place.root {
            let uses = self.names.channel_uses.entry(global).or_default();
            uses.sends = uses.sends.saturating_sub(1);
        }
        Ok(place)
    }

    pub(super) fn proctype_named(&mut self, name: &Name) -> Resolved<ProctypeId> {
        let found = self.names.proctype_names.get(&name.text).copied();
        if let Some(id) = found {
            self.note_use(name, self.names.signatures[id.index()].span);
        }
        found.ok_or_else(|| {
            let error =
                fail("unknown-proctype", format!("there is no proctype `{}`", name.text), name.span, "");
            let known = self.names.signatures.iter().filter(|known| known.kind == ProctypeKind::Proctype);
            suggest(error, &name.text, known.map(|known| &*known.name))
        })
    }

    fn remote_place(&mut self, proctype: ProctypeId, variable: &VarRef) -> Resolved<Place> {
        let Some((name, _)) = variable.parts.first() else {
            return Err(fail("syntax", "a name is missing", variable.span, ""));
        };
        let local = self.remote_local(proctype.index(), name)?;
        let declared = &self.names.frames[proctype.index()].locals[local.index()];
        let (ty, length) = (declared.ty, declared.length);
        let found = self.follow(variable, VarId::Local(local), ty, length)?;
        if found.length.is_some() || matches!(found.place.ty, Type::Struct(_)) {
            let message = format!("`{}` is not a scalar: an index or a field is missing", name.text);
            return Err(fail("missing-index", message, variable.span, ""));
        }
        Ok(found.place)
    }

    fn run(
        &mut self,
        name: &Name,
        args: &[AstExpr],
        priority: Option<&AstExpr>,
        span: Span,
    ) -> Resolved<ExprKind> {
        let proctype = self.proctype_named(name)?;
        if self.current.is_none() {
            return Err(fail("bad-run", "`run` can only be used in a proctype", span, ""));
        }
        let d_step = self.current.as_ref().is_some_and(|current| current.d_step.is_some());
        if d_step {
            let help = "use `atomic` instead";
            return Err(fail_with_help("bad-d_step", "`run` cannot be used inside `d_step`", span, help));
        }
        let signature = &self.names.signatures[proctype.index()];
        let (parameters, declared) = (signature.parameters.clone(), signature.span);
        if args.len() != parameters.len() {
            let (wanted, given) = (count(parameters.len(), "parameter"), args.len());
            let message = format!("the proctype `{}` has {wanted}, but {given} given", name.text);
            let verb = if given == 1 { " is given" } else { " are given" };
            let error = fail("wrong-arguments", message.replace(" given", verb), span, "");
            return Err(Box::new(error.with_related(declared, "it is declared here")));
        }
        let mut values = Vec::new();
        for (arg, ty) in args.iter().zip(parameters) {
            self.argument(arg, Some(ty), &mut values)?;
        }
        let priority = priority.and_then(|priority| self.priority(priority));
        Ok(ExprKind::Run { proctype, args: values, priority })
    }

    /// A value that is passed on: a scalar, or all scalars of a typedef. `wanted` is what the
    /// receiver expects, if that is known.
    pub(super) fn argument(
        &mut self,
        arg: &AstExpr,
        wanted: Option<Type>,
        values: &mut Vec<Expr>,
    ) -> Resolved<()> {
        if let AstKind::Var(variable) = &arg.kind
            && let [(first, _), ..] = &variable.parts[..]
            && !self.names.symbols.contains_key(&first.text)
            && !super::declare::is_predefined(&first.text)
        {
            let found = self.found(variable)?;
            if found.length.is_none()
                && let Type::Struct(id) = found.place.ty
            {
                if wanted.is_some_and(|wanted| wanted != Type::Struct(id)) {
                    let message = format!(
                        "a value of the typedef `{}` does not fit",
                        self.names.structs[id.index()].name
                    );
                    return Err(fail("wrong-arguments", message, arg.span, ""));
                }
                let mut places = Vec::new();
                self.flat_places(&found, &mut places);
                values.extend(
                    places.into_iter().map(|place| Expr { kind: ExprKind::Load(place), span: arg.span }),
                );
                return Ok(());
            }
        }
        let value = self.expr(arg)?;
        match wanted {
            Some(Type::Struct(id)) => {
                let message =
                    format!("a value of the typedef `{}` is needed", self.names.structs[id.index()].name);
                return Err(fail("wrong-arguments", message, arg.span, ""));
            }
            Some(Type::Chan) if eval::constant(&value).is_some_and(|value| value != 0) => {
                let message = "a channel is needed, and this is a number";
                return Err(fail("wrong-arguments", message, arg.span, ""));
            }
            Some(ty) => self.check_truncation(ty, &value),
            None => {}
        }
        values.push(value);
        Ok(())
    }

    /// What becomes of the fields of a message.
    pub(super) fn recv_args(&mut self, args: &[AstRecvArg]) -> Resolved<Vec<RecvArg>> {
        let mut list = Vec::new();
        for arg in args {
            match arg {
                AstRecvArg::Eval(value) | AstRecvArg::Const(value) => {
                    list.push(RecvArg::Match(self.expr(value)?));
                }
                AstRecvArg::Var(variable) => self.recv_variable(variable, &mut list)?,
            }
        }
        Ok(list)
    }

    fn recv_variable(&mut self, variable: &VarRef, list: &mut Vec<RecvArg>) -> Resolved<()> {
        if let [(name, None)] = &variable.parts[..] {
            if let Some(&(set, value, declared)) = self.names.symbols.get(&name.text) {
                self.note_use(name, declared);
                list.push(RecvArg::Match(Expr { kind: ExprKind::Symbol(set, value), span: name.span }));
                return Ok(());
            }
            if &*name.text == "_" {
                list.push(RecvArg::Ignore);
                return Ok(());
            }
            if super::declare::is_predefined(&name.text) {
                let message = format!("nothing can be stored in `{}`", name.text);
                let help = format!("`eval({})` compares with it", name.text);
                return Err(fail_with_help("not-assignable", message, name.span, help));
            }
        }
        let found = self.found(variable)?;
        if found.length.is_none() && matches!(found.place.ty, Type::Struct(_)) {
            let mut places = Vec::new();
            self.flat_places(&found, &mut places);
            list.extend(places.into_iter().map(RecvArg::Store));
            return Ok(());
        }
        let place = self.checked_scalar(found, variable.span)?;
        self.note_load(&place);
        list.push(RecvArg::Store(place));
        Ok(())
    }

    /// Warns about a message with too many or too few fields, where the channel is known.
    pub(super) fn check_arity(&mut self, channel: &Place, given: usize, span: Span) {
        let Some(global) = self.known_channel(channel) else { return };
        let declared = &self.names.globals[global.index()];
        let Init::Channel(messages) = &declared.init else { return };
        if !channel.steps.iter().all(|step| matches!(step, crate::program::Step::Index(_))) {
            return;
        }
        let wanted = messages.fields.len();
        if wanted != given {
            let fields = count(wanted, "field");
            let message = format!("messages of `{}` have {fields}, but this one has {given}", declared.name);
            let warning = Diagnostic::warning("wrong-message", message).at(span, "");
            let warning = warning.with_related(messages.span, "the channel is declared here");
            let help = "such a step is an error; where assertions do not matter, what is missing is 0 and what is \
                        too much is ignored";
            self.warn(warning.with_help(help));
        }
    }

    /// A constant. As in Spin, the name of an initialized global stands for its initial value.
    pub(super) fn constant(&mut self, expr: &AstExpr) -> Resolved<i32> {
        let value = self.expr(expr)?;
        let globals = &self.names.globals;
        let mut used = None;
        let constant = eval::constant_given(&value, &mut |place| {
            let VarId::Global(global) = place.root else { return None };
            let declared = globals.get(global.index()).filter(|_| place.steps.is_empty())?;
            let Init::Expr(init) = &declared.init else { return None };
            used = Some(declared.name.clone());
            eval::constant(init)
        });
        if let (Some(name), Some(value)) = (used, constant) {
            let message = format!("the variable `{name}` is used as a constant: {value}");
            let warning = Diagnostic::warning("variable-as-constant", message).at(expr.span, "");
            self.warn(warning.with_help(format!("`#define {name} {value}` says so")));
        }
        constant
            .ok_or_else(|| fail("not-constant", "a constant is needed here", expr.span, "this is not one"))
    }

    /// The priority of a process.
    pub(super) fn priority(&mut self, expr: &AstExpr) -> Option<u32> {
        let value = self.constant(expr);
        let value = self.take(value)?;
        if !(1..=255).contains(&value) {
            self.complain(fail(
                "bad-priority",
                format!("a priority is 1 to 255, not {value}"),
                expr.span,
                "",
            ));
        } else if value > 1 {
            self.names.priorities.get_or_insert(expr.span);
        }
        u32::try_from(value).ok()
    }
}
