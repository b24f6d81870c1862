//! Statements of a trace: events, and the control flow around them.
//!
//! As the manual wants it, an event is a plain send or receive whose fields are constants or `_`, on a global
//! channel. More strictly than Spin, which reads some variables and conditions as if they were constants.

use crate::ast::{
    Expr as AstExpr, ExprKind as AstExprKind, RecvArg, Stmt as AstStmt, StmtKind as AstKind, VarRef,
};
use crate::errors::{Fail, fail, fail_with_help};
use crate::program::{Place, ProctypeKind, Step, StmtKind, VarId};

use super::{Resolved, Resolver};

impl Resolver<'_> {
    /// Whether the statements of a trace are being resolved.
    pub(super) fn is_in_trace(&self) -> bool {
        let kind = self.current.as_ref().map(|current| self.names.signatures[current.index].kind);
        matches!(kind, Some(ProctypeKind::Trace | ProctypeKind::NoTrace))
    }

    /// There is one trace at most.
    pub(super) fn check_traces(&mut self) {
        let is_trace = |kind| matches!(kind, ProctypeKind::Trace | ProctypeKind::NoTrace);
        let mut traces = self.names.signatures.iter().filter(|its| is_trace(its.kind)).map(|its| its.span);
        if let (Some(one), Some(other)) = (traces.next(), traces.next()) {
            let error = fail("two-traces", "there is more than one trace", other, "");
            self.complain(Box::new(error.with_related(one, "this is the first one")));
        }
    }

    pub(super) fn trace_kind(&mut self, statement: &AstStmt) -> Resolved<StmtKind> {
        let span = statement.span;
        match &statement.kind {
            AstKind::Send { channel, sorted: false, args } => {
                let fields = args.iter().map(|arg| self.event_field(arg)).collect::<Resolved<Vec<_>>>()?;
                self.event(channel, true, fields)
            }
            AstKind::Receive { channel, random: false, keep: false, args } => {
                let mut fields = Vec::new();
                for arg in args {
                    fields.push(match arg {
                        RecvArg::Eval(value) | RecvArg::Const(value) => Some(self.constant(value)?),
                        RecvArg::Var(variable) => self.event_name(variable)?,
                    });
                }
                self.event(channel, false, fields)
            }
            AstKind::Break => self.break_statement(span),
            AstKind::Goto(name) => {
                let label = self.goto_label(name)?;
                self.check_jump(label.index(), name.span)?;
                Ok(StmtKind::Goto(label))
            }
            AstKind::If(options) => Ok(StmtKind::If(self.options(options))),
            AstKind::Do(options) => Ok(StmtKind::Do(self.loop_options(options))),
            AstKind::Block(body) => Ok(StmtKind::Block(self.scope(body, false))),
            AstKind::Inlined { name, body } => {
                self.calls.push((name.text.clone(), span));
                let body = self.scope(body, false);
                self.calls.pop();
                Ok(StmtKind::Block(body))
            }
            _ => {
                let message = "a trace has only plain sends and receives, `if`, `do` and jumps";
                Err(fail("not-an-event", message, span, "this is none of them"))
            }
        }
    }

    fn event(&mut self, channel: &VarRef, is_send: bool, fields: Vec<Option<i32>>) -> Resolved<StmtKind> {
        // It is no use of the channel.
        let uses = self.names.channel_uses.clone();
        let place = self.channel_place(channel, is_send);
        self.names.channel_uses = uses;
        let place = place?;
        let is_constant = |step: &Step| match step {
            Step::Index(index) => crate::eval::constant(index).is_some(),
            Step::Field(_) => true,
        };
        if !matches!(place.root, VarId::Global(_)) || !place.steps.iter().all(is_constant) {
            let message = "an event is about a global channel, with a constant index if there is one";
            return Err(fail("not-an-event", message, channel.span, ""));
        }
        self.check_event_arity(&place, fields.len())?;
        Ok(StmtKind::Event { channel: place, is_send, fields })
    }

    fn check_event_arity(&mut self, channel: &Place, given: usize) -> Resolved<()> {
        let wanted = self.message_types(channel).len();
        if wanted > 0 && given > wanted {
            let message = format!("the event has {given} fields, but messages of this channel have {wanted}");
            return Err(fail("wrong-message", message, channel.span, ""));
        }
        Ok(())
    }

    fn event_field(&mut self, arg: &AstExpr) -> Resolved<Option<i32>> {
        match &arg.kind {
            AstExprKind::Var(variable) => self.event_name(variable),
            _ => self.constant(arg).map(Some),
        }
    }

    /// A symbolic name, or `_`.
    fn event_name(&mut self, variable: &VarRef) -> Resolved<Option<i32>> {
        match &variable.parts[..] {
            [(name, None)] if &*name.text == "_" => Ok(None),
            [(name, None)] => match self.names.symbols.get(&name.text) {
                Some(&(_, value, declared)) => {
                    self.note_use(name, declared);
                    Ok(Some(value))
                }
                None => Err(no_constant(variable)),
            },
            _ => Err(no_constant(variable)),
        }
    }
}

fn no_constant(variable: &VarRef) -> Fail {
    let help = "`_` is anything";
    fail_with_help("not-constant", "the fields of an event are constants or `_`", variable.span, help)
}
