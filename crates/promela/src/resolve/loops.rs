//! `for` and `select`, written out as Spin does it: a loop of assignments and conditions, or a choice
//! among constants.

use std::sync::Arc;

use base::Span;

use crate::ast::{Range, Stmt as AstStmt, VarRef};
use crate::errors::{fail, fail_with_help};
use crate::eval;
use crate::program::{BinaryOp, ChannelTest, Expr, ExprKind, Place, RecvArg, Stmt, StmtKind, Type, VarId};

use super::place::Found;
use super::{Resolved, Resolver};

impl Resolver<'_> {
    pub(super) fn for_range(
        &mut self,
        range: &Range,
        body: &[AstStmt],
        span: Span,
        list: &mut Vec<Stmt>,
    ) -> Resolved<StmtKind> {
        let place = self.loop_variable(&range.variable)?;
        let (from, to) = (self.expr(&range.from)?, self.expr(&range.to)?);
        let (span_from, span_to) = (from.span, to.span);
        let [variable, from_text, to_text] = &range.texts;
        self.check_truncation(place.ty, &from);
        if let Some(last) = eval::constant(&to)
            && place.ty.truncate(last.wrapping_add(1)) <= last
            && place.ty.range().1 <= last
        {
            let message =
                format!("this loop never ends: `{variable}` cannot be more than {}", place.ty.range().1);
            self.warn(base::Diagnostic::warning("endless-loop", message).at(span_to, ""));
        }
        list.push(simple(
            StmtKind::Assign(place.clone(), from),
            span_from,
            format!("{variable} = {from_text}"),
        ));
        let condition = binary(BinaryOp::Le, load(&place), to);
        let guard = simple(StmtKind::Expr(condition), span_to, format!("{variable} <= {to_text}"));
        Ok(self.counted_loop(&place, variable, vec![guard], body, span))
    }

    fn loop_variable(&mut self, variable: &VarRef) -> Resolved<Place> {
        let place = self.target(variable)?;
        if place.ty == Type::Chan {
            return Err(fail("bad-loop", "a channel cannot count", variable.span, ""));
        }
        Ok(place)
    }

    /// `do :: guards; body; x++ :: else -> break od`.
    fn counted_loop(
        &mut self,
        counter: &Place,
        name: &str,
        mut option: Vec<Stmt>,
        body: &[AstStmt],
        span: Span,
    ) -> StmtKind {
        self.enter_loop();
        option.extend(self.scope(body, false));
        self.leave_loop();
        let next = binary(BinaryOp::Add, load(counter), int(1, span));
        option.push(simple(
            StmtKind::Assign(counter.clone(), next),
            counter.span,
            format!("{name} = {name} + 1"),
        ));
        let otherwise = simple(StmtKind::Else, span, "else".into());
        StmtKind::For(vec![option, vec![otherwise, simple(StmtKind::Break, span, "break".into())]])
    }

    pub(super) fn for_in(
        &mut self,
        variable: &VarRef,
        range: &VarRef,
        body: &[AstStmt],
        texts: &[Arc<str>; 2],
        span: Span,
        list: &mut Vec<Stmt>,
    ) -> Resolved<StmtKind> {
        let Found { place: source, length } = self.found(range)?;
        if let Some(length) = length {
            let place = self.loop_variable(variable)?;
            let text = format!("{} = 0", texts[0]);
            list.push(simple(StmtKind::Assign(place.clone(), int(0, range.span)), range.span, text));
            let last = int(length as i32 - 1, range.span);
            let condition = binary(BinaryOp::Le, load(&place), last);
            let text = format!("{} <= {}", texts[0], length - 1);
            let guard = simple(StmtKind::Expr(condition), range.span, text);
            return Ok(self.counted_loop(&place, &texts[0], vec![guard], body, span));
        }
        if source.ty != Type::Chan {
            let message = format!("`{}` is neither an array nor a channel", texts[1]);
            return Err(fail("bad-loop", message, range.span, ""));
        }
        self.note_load(&source);
        let message = self.found(variable)?;
        let mut places = Vec::new();
        self.flat_places(&message, &mut places);
        if !matches!(message.place.ty, Type::Struct(_)) || message.length.is_some() {
            let help = "declare the channel as `[n] of { T }`, and the variable as `T`";
            let message =
                format!("`{}` must be of a typedef to go through the messages of a channel", texts[0]);
            return Err(fail_with_help("bad-loop", message, variable.span, help));
        }
        let Some(counter) = self.counter(span) else {
            return Err(fail("misplaced", "this loop cannot be used here", span, ""));
        };
        let counter = Place { root: VarId::Local(counter), steps: Vec::new(), ty: Type::Byte, span };
        list.push(simple(StmtKind::Assign(counter.clone(), int(0, span)), span, "counter = 0".into()));
        let len = ExprKind::ChannelTest(ChannelTest::Len, Box::new(source.clone()));
        let condition = binary(BinaryOp::Lt, load(&counter), Expr { kind: len, span: range.span });
        let guard = simple(StmtKind::Expr(condition), span, format!("counter < len({})", texts[1]));
        let args = places.iter().cloned().map(RecvArg::Store).collect();
        let receive = StmtKind::Receive { channel: source.clone(), random: false, keep: false, args };
        let receive = simple(receive, span, format!("{}?{}", texts[1], texts[0]));
        let args = places.iter().map(load).collect();
        let send = StmtKind::Send { channel: source, sorted: false, args };
        let send = simple(send, span, format!("{}!{}", texts[1], texts[0]));
        Ok(self.counted_loop(&counter, "counter", vec![guard, receive, send], body, span))
    }

    /// A choice among numbers: options, if there are few and it is written plainly, or else a loop.
    pub(super) fn select(
        &mut self,
        range: &Range,
        is_plain: bool,
        span: Span,
        list: &mut Vec<Stmt>,
    ) -> Resolved<StmtKind> {
        const MAX_OPTIONS: i32 = 32;
        let place = self.loop_variable(&range.variable)?;
        let (from, to) = (self.expr(&range.from)?, self.expr(&range.to)?);
        let [variable, from_text, to_text] = &range.texts;
        let bounds = (literal(&from), literal(&to));
        if let (Some(from), Some(to)) = (eval::constant(&from), eval::constant(&to))
            && from > to
        {
            return Err(fail("bad-range", format!("there is no number from {from} to {to}"), span, ""));
        }
        self.check_truncation(place.ty, &from);
        self.check_truncation(place.ty, &to);
        if let (Some(from), Some(to)) = bounds
            && to - from <= MAX_OPTIONS
            && is_plain
        {
            let option = |value| {
                let assign = StmtKind::Assign(place.clone(), int(value, span));
                vec![simple(assign, span, format!("{variable} = {value}"))]
            };
            return Ok(StmtKind::If((from..=to).map(option).collect()));
        }
        let (span_from, span_to) = (from.span, to.span);
        list.push(simple(
            StmtKind::Assign(place.clone(), from),
            span_from,
            format!("{variable} = {from_text}"),
        ));
        let condition = binary(BinaryOp::Lt, load(&place), to);
        let guard = simple(StmtKind::Expr(condition), span_to, format!("{variable} < {to_text}"));
        let next = binary(BinaryOp::Add, load(&place), int(1, span));
        let next = simple(StmtKind::Assign(place, next), span, format!("{variable} = {variable} + 1"));
        Ok(StmtKind::For(vec![vec![guard, next], vec![simple(StmtKind::Break, span, "break".into())]]))
    }
}

fn simple(kind: StmtKind, span: Span, text: String) -> Stmt {
    Stmt { kind, labels: Vec::new(), span, text: text.into() }
}

pub(super) fn int(value: i32, span: Span) -> Expr {
    Expr { kind: ExprKind::Int(value), span }
}

/// A number as it is written, not a constant expression.
fn literal(expr: &Expr) -> Option<i32> {
    match expr.kind {
        ExprKind::Int(value) if value >= 0 => Some(value),
        _ => None,
    }
}

pub(super) fn load(place: &Place) -> Expr {
    Expr { kind: ExprKind::Load(place.clone()), span: place.span }
}

pub(super) fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    let span = a.span;
    Expr { kind: ExprKind::Binary(op, Box::new((a, b))), span }
}
