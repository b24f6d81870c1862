//! Statements; see also [`super::loops`] and [`super::local`].

use std::sync::Arc;

use base::Span;

use crate::ast::{Expr as AstExpr, Stmt as AstStmt, StmtKind as AstKind, VarRef};
use crate::errors::{fail, fail_with_help};
use crate::program::{BinaryOp, Expr, ExprKind, Init, LabelId, Place, Stmt, StmtKind, Type};

use super::init::contains_run;
use super::loops::{binary, int, load};
use super::{Resolved, Resolver};

impl Resolver<'_> {
    /// A sequence that is not an option.
    pub(super) fn sequence(&mut self, body: &[AstStmt]) -> Vec<Stmt> {
        self.statements(body, false)
    }

    /// A sequence; `may_be_else` says whether its first statement may be `else`.
    fn statements(&mut self, body: &[AstStmt], may_be_else: bool) -> Vec<Stmt> {
        let mut list: Vec<Stmt> = Vec::new();
        let mut after_jump = false;
        for statement in body {
            if self.sink.is_full() {
                break;
            }
            if after_jump && is_unreachable(statement) {
                let warning = base::Diagnostic::warning("unreachable", "this statement is never reached");
                self.warn(warning.at(statement.span, "it follows a jump, and has no label"));
            }
            after_jump = false;
            match self.statement(statement, may_be_else && list.is_empty()) {
                Ok(made) => {
                    list.extend(made);
                    after_jump = matches!(statement.kind, AstKind::Goto(_) | AstKind::Break);
                }
                Err(error) => self.complain(error),
            }
        }
        list
    }

    /// A sequence in braces.
    pub(super) fn scope(&mut self, body: &[AstStmt], may_be_else: bool) -> Vec<Stmt> {
        self.enter_scope();
        let list = self.statements(body, may_be_else);
        self.leave_scope();
        list
    }

    /// A statement; some become several, of which the last one has the labels.
    fn statement(&mut self, statement: &AstStmt, may_be_else: bool) -> Resolved<Vec<Stmt>> {
        self.sink.pay(self.cost.tick());
        if self.sink.is_full() {
            return Ok(Vec::new());
        }
        let labels = self.take_labels(statement);
        if !matches!(statement.kind, AstKind::Declaration(_) | AstKind::Exclusive { .. })
            && let Some(current) = &mut self.current
        {
            current.started = true;
        }
        let mut list = Vec::new();
        let kind = match &statement.kind {
            _ if self.is_in_trace() => self.trace_kind(statement)?,
            AstKind::Declaration(declaration) => return self.local_declaration(declaration),
            AstKind::Exclusive { is_send, channels } => return self.exclusive(*is_send, channels),
            AstKind::ForRange { range, body } => self.for_range(range, body, statement.span, &mut list)?,
            AstKind::ForIn { variable, range, body, texts } => {
                self.for_in(variable, range, body, texts, statement.span, &mut list)?
            }
            AstKind::Select { range, is_plain } => {
                self.select(range, *is_plain, statement.span, &mut list)?
            }
            AstKind::Unless(parts) => {
                self.check_unless(statement.span)?;
                // What a loop needs before it begins stands before all of it.
                let mut first = self.statement(&parts.0, may_be_else)?;
                let mut escape = self.statement(&parts.1, false)?;
                let (Some(main), Some(last)) = (first.pop(), escape.pop()) else { return Ok(list) };
                list.extend(first);
                let escape = if escape.is_empty() {
                    last
                } else {
                    let (span, labels) = (last.span, Vec::new());
                    escape.push(last);
                    Stmt { kind: StmtKind::Block(escape), labels, span, text: "".into() }
                };
                StmtKind::Unless(Box::new((main, escape)))
            }
            _ => self.kind(statement, may_be_else)?,
        };
        let is_compound = matches!(
            kind,
            StmtKind::If(_)
                | StmtKind::Do(_)
                | StmtKind::For(_)
                | StmtKind::Atomic(_)
                | StmtKind::DStep(_)
                | StmtKind::Block(_)
                | StmtKind::Unless(..)
        );
        let text = if is_compound { "".into() } else { statement.text.clone() };
        list.push(Stmt { kind, labels, span: statement.span, text });
        Ok(list)
    }

    /// The numbers of a statement's labels, which were collected before in the same order.
    fn take_labels(&mut self, statement: &AstStmt) -> Vec<LabelId> {
        let Some(current) = &mut self.current else { return Vec::new() };
        let first = current.n_labels;
        current.n_labels += statement.labels.len();
        (first..current.n_labels).map(LabelId::new).collect()
    }

    fn kind(&mut self, statement: &AstStmt, may_be_else: bool) -> Resolved<StmtKind> {
        let span = statement.span;
        Ok(match &statement.kind {
            AstKind::Expr(expr) => {
                let expr = self.expr(expr)?;
                if contains_run(&expr) && !matches!(expr.kind, ExprKind::Run { .. }) {
                    let help = "start the process by `x = run P()`, then use `x`";
                    let message = "`run` cannot be a part of a condition";
                    return Err(fail_with_help("bad-run", message, span, help));
                }
                StmtKind::Expr(expr)
            }
            AstKind::Assign(target, value) => self.assignment(target, value, span)?,
            AstKind::Step(target, by) => self.step(target, *by)?,
            AstKind::Send { channel, sorted, args } => self.sending(channel, *sorted, args, span)?,
            AstKind::Receive { channel, random, keep, args } => {
                let channel = self.channel_place(channel, false)?;
                let args = self.recv_args(args)?;
                self.check_arity(&channel, args.len(), span);
                StmtKind::Receive { channel, random: *random, keep: *keep, args }
            }
            AstKind::Assert(expr) => StmtKind::Assert(self.expr(expr)?),
            AstKind::Print { format, args } => {
                let values = args.iter().map(|arg| self.expr(arg)).collect::<Resolved<Vec<Expr>>>()?;
                let text = format.text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
                let text: Arc<str> = text.unwrap_or(&format.text).into();
                self.check_format(&text, values.len(), format.span);
                StmtKind::Print(text, values)
            }
            AstKind::PrintM(expr) => StmtKind::PrintM(self.expr(expr)?),
            AstKind::SetPriority(pid, priority) => {
                self.names.priorities.get_or_insert(span);
                StmtKind::SetPriority(self.expr(pid)?, self.expr(priority)?)
            }
            AstKind::Else => {
                self.suspect_else(may_be_else, span);
                StmtKind::Else
            }
            AstKind::Break => self.break_statement(span)?,
            AstKind::Goto(name) => {
                let label = self.goto_label(name)?;
                self.check_jump(label.index(), name.span)?;
                StmtKind::Goto(label)
            }
            AstKind::If(options) => StmtKind::If(self.options(options)),
            AstKind::Do(options) => StmtKind::Do(self.loop_options(options)),
            AstKind::Atomic(body) => StmtKind::Atomic(self.scope(body, may_be_else)),
            AstKind::Block(body) => StmtKind::Block(self.scope(body, may_be_else)),
            AstKind::DStep(body) => StmtKind::DStep(self.d_step(body, may_be_else)),
            AstKind::Inlined { name, body } => {
                self.calls.push((name.text.clone(), span));
                let body = self.scope(body, may_be_else);
                self.calls.pop();
                StmtKind::Block(body)
            }
            AstKind::Declaration(_)
            | AstKind::Exclusive { .. }
            | AstKind::ForRange { .. }
            | AstKind::ForIn { .. }
            | AstKind::Select { .. }
            | AstKind::Unless(_) => return Err(fail("misplaced", "this cannot be used here", span, "")),
        })
    }

    fn assignment(&mut self, target: &VarRef, value: &AstExpr, span: Span) -> Resolved<StmtKind> {
        if is_name(target, "_") {
            let value = self.expr(value)?;
            return Ok(match value.kind {
                ExprKind::Run { .. } => StmtKind::Expr(value),
                // The value goes nowhere: a step that changes nothing.
                _ => StmtKind::Print("".into(), Vec::new()),
            });
        }
        if is_name(target, "_priority") {
            self.names.priorities.get_or_insert(span);
            let own = Expr { kind: ExprKind::Pid, span: target.span };
            return Ok(StmtKind::SetPriority(own, self.expr(value)?));
        }
        let place = self.target(target)?;
        let value = self.expr(value)?;
        if place.ty == Type::Chan && crate::eval::constant(&value).is_some_and(|value| value != 0) {
            return Err(fail("channel-arithmetic", "a number cannot be assigned to a channel", span, ""));
        }
        self.check_truncation(place.ty, &value);
        Ok(StmtKind::Assign(place, value))
    }

    fn sending(
        &mut self,
        channel: &VarRef,
        sorted: bool,
        args: &[AstExpr],
        span: Span,
    ) -> Resolved<StmtKind> {
        let channel = self.channel_place(channel, true)?;
        let types = self.message_types(&channel);
        let mut values = Vec::new();
        for arg in args {
            let position = values.len();
            self.argument(arg, None, &mut values)?;
            if let ([value], Some(&ty)) = (&values[position..], types.get(position)) {
                self.check_truncation(ty, value);
            }
        }
        self.check_arity(&channel, values.len(), span);
        Ok(StmtKind::Send { channel, sorted, args: values })
    }

    fn suspect_else(&mut self, may_be_else: bool, span: Span) {
        if !may_be_else {
            let message = "this `else` has no alternative: it is always possible";
            let warning = base::Diagnostic::warning("misplaced-else", message).at(span, "");
            let help = "`else` is the first statement of an option: `:: else -> …`";
            self.warn(warning.with_help(help));
        }
    }

    /// The types of a message's fields, where the channel is known.
    pub(super) fn message_types(&self, channel: &Place) -> Vec<Type> {
        let known = self.known_channel(channel).map(|global| &self.names.globals[global.index()].init);
        match known {
            Some(Init::Channel(messages)) => messages.fields.clone(),
            _ => Vec::new(),
        }
    }

    /// Something that can be assigned to.
    pub(super) fn target(&mut self, target: &VarRef) -> Resolved<Place> {
        if let [(name, None)] = &target.parts[..] {
            if let Some(&(_, _, declared)) = self.names.symbols.get(&name.text) {
                let message = format!("`{}` is a symbolic constant and cannot be assigned to", name.text);
                let error = fail("not-assignable", message, name.span, "");
                return Err(Box::new(error.with_related(declared, "it is declared here")));
            }
            if super::declare::is_predefined(&name.text) {
                let message = format!("`{}` is predefined and cannot be assigned to", name.text);
                return Err(fail("not-assignable", message, name.span, ""));
            }
        }
        self.scalar(target)
    }

    fn step(&mut self, target: &VarRef, by: i32) -> Resolved<StmtKind> {
        let place = self.target(target)?;
        if place.ty == Type::Chan {
            return Err(fail("channel-arithmetic", "a channel is not a number", target.span, ""));
        }
        let op = if by > 0 { BinaryOp::Add } else { BinaryOp::Sub };
        let value = binary(op, load(&place), int(1, target.span));
        Ok(StmtKind::Assign(place, value))
    }

    pub(super) fn break_statement(&mut self, span: Span) -> Resolved<StmtKind> {
        let Some(current) = &self.current else { return Ok(StmtKind::Break) };
        match current.loops.last() {
            None => {
                let message = "`break` is not inside a loop";
                Err(fail_with_help("misplaced", message, span, "`goto` leaves other statements"))
            }
            Some(&d_step) if d_step != current.d_step => {
                Err(fail("bad-d_step", "this `break` leaves `d_step`", span, "its loop is outside"))
            }
            Some(_) => Ok(StmtKind::Break),
        }
    }

    /// A jump must not cross the border of a d_step.
    pub(super) fn check_jump(&self, label: usize, span: Span) -> Resolved<()> {
        let Some(current) = &self.current else { return Ok(()) };
        let found = &self.names.frames[current.index].labels[label];
        if found.d_step == current.d_step {
            return Ok(());
        }
        let message = match current.d_step {
            Some(_) => "this jump leaves `d_step`",
            None => "this jump leads into `d_step`",
        };
        let error = fail("bad-d_step", message, span, "");
        Err(Box::new(
            error.with_related(found.label.span, "the label is here").with_help("use `atomic` instead"),
        ))
    }

    fn check_unless(&self, span: Span) -> Resolved<()> {
        if self.current.as_ref().is_some_and(|current| current.d_step.is_some()) {
            return Err(fail("bad-d_step", "`unless` cannot be used inside `d_step`", span, ""));
        }
        Ok(())
    }

    fn d_step(&mut self, body: &[AstStmt], may_be_else: bool) -> Vec<Stmt> {
        let Some(current) = &mut self.current else { return Vec::new() };
        let outer = current.d_step;
        if outer.is_none() {
            current.n_d_steps += 1;
            current.d_step = Some(current.n_d_steps);
        }
        let list = self.scope(body, may_be_else);
        if let Some(current) = &mut self.current {
            current.d_step = outer;
        }
        list
    }

    pub(super) fn loop_options(&mut self, options: &[Vec<AstStmt>]) -> Vec<Vec<Stmt>> {
        self.enter_loop();
        let options = self.options(options);
        self.leave_loop();
        options
    }

    pub(super) fn enter_loop(&mut self) {
        if let Some(current) = &mut self.current {
            current.loops.push(current.d_step);
        }
    }

    pub(super) fn leave_loop(&mut self) {
        if let Some(current) = &mut self.current {
            current.loops.pop();
        }
    }

    pub(super) fn options(&mut self, options: &[Vec<AstStmt>]) -> Vec<Vec<Stmt>> {
        let options: Vec<Vec<Stmt>> = options.iter().map(|option| self.statements(option, true)).collect();
        let mut elses =
            options.iter().filter_map(|option| first(option)).filter(|s| matches!(s.kind, StmtKind::Else));
        if let (Some(one), Some(other)) = (elses.next(), elses.next()) {
            let error = fail("two-elses", "there are two `else` options in one selection", other.span, "");
            self.complain(Box::new(error.with_related(one.span, "this is the first one")));
        } else {
            self.check_else(&options);
        }
        options
    }

    /// `x = 1` before `else`: a comparison was meant.
    fn check_else(&mut self, options: &[Vec<Stmt>]) {
        let guards: Vec<&Stmt> = options.iter().filter_map(|option| first(option)).collect();
        let Some(otherwise) = guards.iter().find(|guard| matches!(guard.kind, StmtKind::Else)) else {
            return;
        };
        let assignment = guards.iter().find(|guard| matches!(guard.kind, StmtKind::Assign(..)));
        if let Some(assignment) = assignment {
            let message = "`else` is never chosen: an assignment is always possible";
            let warning = base::Diagnostic::warning("assignment-as-guard", message);
            let warning = warning.at(assignment.span, "this is an assignment");
            let warning = warning.with_related(otherwise.span, "never chosen");
            self.warn(warning.with_help("`==` compares"));
        }
    }
}

/// Whether a statement has no label in it that a jump could lead to.
fn is_unreachable(statement: &AstStmt) -> bool {
    let mut pending = vec![statement];
    while let Some(statement) = pending.pop() {
        if !statement.labels.is_empty() {
            return false;
        }
        match &statement.kind {
            AstKind::If(options) | AstKind::Do(options) => pending.extend(options.iter().flatten()),
            AstKind::Atomic(body)
            | AstKind::DStep(body)
            | AstKind::Block(body)
            | AstKind::Inlined { body, .. }
            | AstKind::ForRange { body, .. }
            | AstKind::ForIn { body, .. } => pending.extend(body),
            AstKind::Unless(parts) => pending.extend([&parts.0, &parts.1]),
            AstKind::Declaration(_) => return false,
            _ => {}
        }
    }
    true
}

/// The statement that decides whether a sequence can begin.
pub(super) fn first(sequence: &[Stmt]) -> Option<&Stmt> {
    let mut statement = sequence.first()?;
    loop {
        statement = match &statement.kind {
            StmtKind::Atomic(body) | StmtKind::DStep(body) | StmtKind::Block(body) => body.first()?,
            StmtKind::Unless(parts) => &parts.0,
            _ => return Some(statement),
        };
    }
}

/// Whether something that is assigned to is this name, and nothing else.
fn is_name(target: &VarRef, text: &str) -> bool {
    matches!(&target.parts[..], [(name, None)] if &*name.text == text)
}
