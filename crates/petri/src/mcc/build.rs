//! What the elements of formulas mean: numbers, truths about markings, truths about runs.
//!
//! A truth about markings is made twice: as one expression, for questions about markings, and as a
//! formula over its comparisons, for those about runs. There each comparison, and each question
//! whether one of some transitions is enabled, is a proposition, so that what they have in common is
//! seen when formulas are simplified.

use base::{Diagnostic, Span};
use language::{Ltl, PropertyKind};
use ltl::{Formula, Formulas, Prop};
use model::{BinaryOp, Expr, ExprId, Exprs, UnaryOp};
use rustc_hash::FxHashMap;

use super::element::{Element, sign};
use crate::errors::{Fail, fail, shown, suggest};
use crate::lexer::written;
use crate::net::{Group, Net, PlaceId, TransitionId};
use crate::predicates;

/// What an element stands for.
pub(super) enum Value {
    /// A place, by all the places that it stands for, and its id.
    Place(Group<PlaceId>, String),
    Transition(Group<TransitionId>, String),
    /// A number, and how it is written.
    Number(ExprId, String),
    /// A truth about markings.
    State(ExprId, Formula),
    /// `G p` or `F p` for a truth about markings, or anything else about runs.
    Globally(ExprId, Formula),
    Finally(ExprId, Formula),
    Run(Formula),
    Question(Box<PropertyKind>),
}

/// A file may make expressions of this many nodes, `is-fireable` and `deadlock` written out.
const MAX_NODES: usize = 100_000_000;

pub(super) struct Builder<'m> {
    net: &'m Net,
    exprs: &'m mut Exprs,
    formulas: &'m mut Formulas,
    /// What propositions mean.
    meanings: FxHashMap<Prop, ExprId>,
    nodes: usize,
    /// What was kept since the budget was told.
    pub(super) bytes: u64,
}

impl<'m> Builder<'m> {
    pub(super) fn new(net: &'m Net, exprs: &'m mut Exprs, formulas: &'m mut Formulas) -> Builder<'m> {
        Builder { net, exprs, formulas, meanings: FxHashMap::default(), nodes: 0, bytes: 0 }
    }

    /// The value of an element with this many operands as it should have, and with this text.
    pub(super) fn value(
        &mut self,
        element: Element,
        operands: Vec<Value>,
        text: &str,
        span: Span,
    ) -> Result<Value, Fail> {
        match element {
            Element::Place => {
                self.place(text.trim(), span).map(|place| Value::Place(place, written(text.trim())))
            }
            Element::Transition => {
                let found = self.transition(text.trim(), span);
                found.map(|transition| Value::Transition(transition, written(text.trim())))
            }
            Element::Constant => self.constant(text.trim(), span),
            Element::TokensCount => self.tokens(&operands, span),
            Element::Arithmetic(op) => self.arithmetic(op, operands, span),
            Element::Compare(op) => self.compare(op, operands, span),
            Element::IsFireable => self.is_fireable(&operands, span),
            Element::Deadlock => {
                self.count_nodes(self.net.n_arcs(), span)?;
                let expr = predicates::deadlock(self.net, self.exprs);
                Ok(self.atom(expr, "deadlock()".to_owned()))
            }
            Element::True | Element::False => {
                let value = element == Element::True;
                Ok(Value::State(self.exprs.int(i64::from(value)), self.formulas.constant(value)))
            }
            Element::PlaceBound => match self.tokens(&operands, span)? {
                Value::Number(sum, _) => Ok(Value::Question(PropertyKind::Maximum(sum).into())),
                other => Ok(other),
            },
            Element::Formula | Element::Before | Element::Reach => first(operands, span),
            Element::AllPaths | Element::ExistsPath => self.quantified(element, operands, span),
            _ => self.operator(element, &operands, span),
        }
    }

    fn place(&self, id: &str, span: Span) -> Result<Group<PlaceId>, Fail> {
        self.net.place_by_id(id).ok_or_else(|| {
            let message = format!("the net has no place with the id `{}`", shown(id));
            let error = Diagnostic::error("unknown-place", message).at(span, "");
            Box::new(suggest(error, id, self.net.place_names().into_iter().map(|(id, _)| id)))
        })
    }

    fn transition(&self, id: &str, span: Span) -> Result<Group<TransitionId>, Fail> {
        self.net.transition_by_id(id).ok_or_else(|| {
            let message = format!("the net has no transition with the id `{}`", shown(id));
            let error = Diagnostic::error("unknown-transition", message).at(span, "");
            Box::new(suggest(error, id, self.net.transition_names().into_iter().map(|(id, _)| id)))
        })
    }

    fn constant(&mut self, text: &str, span: Span) -> Result<Value, Fail> {
        match text.parse::<i64>() {
            Ok(number) => Ok(Value::Number(self.exprs.int(number), number.to_string())),
            Err(_) => {
                let message = format!("`{}` is not a number of at most 64 bits", shown(text));
                Err(fail("not-a-number", message, span, ""))
            }
        }
    }

    fn tokens(&mut self, operands: &[Value], span: Span) -> Result<Value, Fail> {
        let (mut places, mut names) =
            (Vec::with_capacity(operands.len()), Vec::with_capacity(operands.len()));
        for operand in operands {
            let Value::Place(group, name) = operand else { return Err(unexpected("places", span)) };
            places.extend(group.iter());
            names.push(name.as_str());
        }
        self.count_nodes(places.len(), span)?;
        Ok(Value::Number(predicates::tokens(self.exprs, &places), names.join(" + ")))
    }

    fn arithmetic(&mut self, op: BinaryOp, operands: Vec<Value>, span: Span) -> Result<Value, Fail> {
        let (exprs, texts) = numbers(operands, span)?;
        let expr = self.exprs.fold(op, 0, &exprs);
        Ok(Value::Number(expr, format!("({})", texts.join(&format!(" {} ", sign(op))))))
    }

    fn compare(&mut self, op: BinaryOp, operands: Vec<Value>, span: Span) -> Result<Value, Fail> {
        let (exprs, texts) = numbers(operands, span)?;
        let (&[left, right], [left_text, right_text]) = (&exprs[..], &texts[..]) else {
            return Err(unexpected("two numbers", span));
        };
        let expr = self.exprs.binary(op, left, right);
        Ok(self.atom(expr, format!("{left_text} {} {right_text}", sign(op))))
    }

    fn is_fireable(&mut self, operands: &[Value], span: Span) -> Result<Value, Fail> {
        let (mut transitions, mut names) = (Vec::with_capacity(operands.len()), Vec::new());
        for operand in operands {
            let Value::Transition(group, name) = operand else { return Err(unexpected("transitions", span)) };
            for transition in group.iter() {
                self.count_nodes(self.net.transition(transition).inputs.len(), span)?;
                transitions.push(transition);
            }
            names.push(name.as_str());
        }
        let expr = predicates::fireable(self.net, self.exprs, &transitions);
        Ok(self.atom(expr, format!("fireable({})", names.join(", "))))
    }

    /// A proposition, unless it is constant.
    fn atom(&mut self, expr: ExprId, mut text: String) -> Value {
        if let Expr::Int(value) = self.exprs.get(expr) {
            return Value::State(expr, self.formulas.constant(value != 0));
        }
        self.bytes += 3 * text.len() as u64;
        let prop = loop {
            let prop = self.formulas.proposition(&text);
            // Ids with odd blanks may be written alike and not be the same.
            match self.meanings.get(&prop) {
                Some(known) if *known != expr => text.push('\''),
                _ => break prop,
            }
        };
        self.meanings.insert(prop, expr);
        Value::State(expr, self.formulas.prop(prop))
    }

    /// A Boolean or temporal operator.
    fn operator(&mut self, element: Element, operands: &[Value], span: Span) -> Result<Value, Fail> {
        let mut formulas = Vec::with_capacity(operands.len());
        let mut states = Vec::with_capacity(operands.len());
        for operand in operands {
            match operand {
                Value::State(expr, formula) => {
                    states.push(*expr);
                    formulas.push(*formula);
                }
                Value::Globally(_, formula) | Value::Finally(_, formula) | Value::Run(formula) => {
                    formulas.push(*formula);
                }
                Value::Question(_) => return Err(ctl(span)),
                _ => return Err(unexpected("formulas", span)),
            }
        }
        let formula = self.formula(element, &formulas, span)?;
        let only_state = (states.len() == operands.len()).then(|| states.clone());
        Ok(match (element, only_state) {
            (Element::Globally, Some(states)) if states.len() == 1 => Value::Globally(states[0], formula),
            (Element::Finally, Some(states)) if states.len() == 1 => Value::Finally(states[0], formula),
            (Element::Next | Element::Globally | Element::Finally | Element::Until, _) | (_, None) => {
                Value::Run(formula)
            }
            (_, Some(states)) => Value::State(self.truth(element, &states), formula),
        })
    }

    fn formula(&mut self, element: Element, operands: &[Formula], span: Span) -> Result<Formula, Fail> {
        let formulas = &mut *self.formulas;
        Ok(match (element, operands) {
            (Element::And, _) => formulas.and(operands.iter().copied()),
            (Element::Or, _) => formulas.or(operands.iter().copied()),
            (Element::Not, &[a]) => formulas.not(a),
            (Element::Next, &[a]) => formulas.next(a),
            (Element::Globally, &[a]) => formulas.globally(a),
            (Element::Finally, &[a]) => formulas.finally(a),
            (Element::Until, &[a, b]) => formulas.until(a, b),
            (Element::Implies, &[a, b]) => formulas.implies(a, b),
            (Element::Equivalent, &[a, b]) => formulas.equivalent(a, b),
            (Element::Xor, &[a, b]) => formulas.xor(a, b),
            _ => return Err(unexpected("other operands", span)),
        })
    }

    /// A Boolean operator over truths about markings, all of which are 0 or 1.
    fn truth(&mut self, element: Element, operands: &[ExprId]) -> ExprId {
        let exprs = &mut *self.exprs;
        match (element, operands) {
            (Element::Or, _) => exprs.fold(BinaryOp::Or, 0, operands),
            (Element::Not, &[a]) => exprs.unary(UnaryOp::Not, a),
            (Element::Implies, &[a, b]) => {
                let not_a = exprs.unary(UnaryOp::Not, a);
                exprs.binary(BinaryOp::Or, not_a, b)
            }
            (Element::Equivalent, &[a, b]) => exprs.binary(BinaryOp::Eq, a, b),
            (Element::Xor, &[a, b]) => exprs.binary(BinaryOp::Ne, a, b),
            _ => exprs.fold(BinaryOp::And, 1, operands),
        }
    }

    fn quantified(&mut self, element: Element, operands: Vec<Value>, span: Span) -> Result<Value, Fail> {
        let question = match (element, first(operands, span)?) {
            (Element::AllPaths, Value::Globally(expr, _)) => PropertyKind::Invariant(expr),
            (Element::ExistsPath, Value::Finally(expr, _)) => PropertyKind::Possible(expr),
            // About the initial marking alone: the same for all runs.
            (_, Value::State(_, formula)) => PropertyKind::Ltl(self.ltl(formula)),
            (Element::AllPaths, Value::Finally(_, formula) | Value::Run(formula)) => {
                PropertyKind::Ltl(self.ltl(formula))
            }
            (_, Value::Number(..) | Value::Place(..) | Value::Transition(..)) => {
                return Err(unexpected("a formula", span));
            }
            _ => return Err(ctl(span)),
        };
        Ok(Value::Question(question.into()))
    }

    fn ltl(&self, formula: Formula) -> Ltl {
        let meaning = |prop: Prop| Some((prop, *self.meanings.get(&prop)?));
        let propositions = self.formulas.propositions(formula).into_iter().filter_map(meaning).collect();
        Ltl { formula, propositions }
    }

    fn count_nodes(&mut self, nodes: usize, span: Span) -> Result<(), Fail> {
        self.nodes = self.nodes.saturating_add(nodes);
        self.bytes += (super::NODE_BYTES * nodes) as u64;
        if self.nodes <= MAX_NODES {
            return Ok(());
        }
        Err(fail("too-large", "the formulas of this file are too large", span, "here at the latest"))
    }
}

fn first(operands: Vec<Value>, span: Span) -> Result<Value, Fail> {
    operands.into_iter().next().ok_or_else(|| unexpected("an operand", span))
}

fn numbers(operands: Vec<Value>, span: Span) -> Result<(Vec<ExprId>, Vec<String>), Fail> {
    let mut numbers = (Vec::with_capacity(operands.len()), Vec::with_capacity(operands.len()));
    for operand in operands {
        let Value::Number(expr, text) = operand else { return Err(unexpected("numbers", span)) };
        numbers.0.push(expr);
        numbers.1.push(text);
    }
    Ok(numbers)
}

fn unexpected(wanted: &str, span: Span) -> Fail {
    fail("bad-formula", format!("this element should contain {wanted}"), span, "")
}

/// The formula is not one of those that are supported.
pub(super) fn ctl(span: Span) -> Fail {
    let message = "formulas of CTL are not supported: only `all-paths` over LTL, and `exists-path finally`";
    fail("unsupported-formula", message, span, "")
}
