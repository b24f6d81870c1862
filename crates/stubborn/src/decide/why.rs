//! What a property that holds rests on: parts that never mattered, propositions that are constant, implications that are
//! never triggered, fairness that was not needed. Which processes make no difference, and what never happens, is said by
//! [`cone`](super::cone).
//!
//! A part of a formula does not matter if the formula holds with *true* in its place, and with *false* (Beer et al.,
//! *Efficient detection of vacuity in temporal model checking*, 2001; Kupferman and Vardi 2003): each is a question of its own,
//! asked by the means of [`vacuity`](super::vacuity). Parts of parts that do not matter are not told. All mutants
//! of an invariant are asked in one exploration.

use check::fairness::Constraint;
use check::{Exploration, Goal, parallel};
use language::{Ltl, View};
use ltl::{Formula, Formulas, Node, Prop, Spelling};
use model::{ActionSystem, BinaryOp, Expr, ExprId, Exprs, UnaryOp, VarId};
use report::why::Because;

use super::vacuity::Doubt;
use crate::clock::Clock;
use crate::fairness::Constraints;

/// Of larger formulas and invariants, parts are not looked at one by one.
const MAX_PARTS: usize = 60;
const MAX_CONSTRAINTS: usize = 16;

impl Doubt<'_, '_> {
    /// What a formula that holds rests on.
    pub(super) fn reasons(&mut self, formula: Formula) -> Vec<Because> {
        let mut found = self.fairness(|doubt, constraints| doubt.holds_fairly(formula, constraints));
        let constant = self.constants(Some(formula));
        found.extend(constant.iter().cloned());
        let parts = self.question.formulas.subformulas(formula);
        if parts.len() <= MAX_PARTS {
            let triggered = self.untriggered(&parts);
            found.extend(triggered.iter().cloned());
            if constant.is_empty() && triggered.is_empty() {
                found.extend(self.indifferent(formula, parts));
            }
        }
        found
    }

    /// What an automaton rests on that accepts no run. What a copy of it does not know is not asked.
    pub(super) fn reasons_of_claim(&mut self) -> Vec<Because> {
        let mut found = Vec::new();
        if !self.question.watched.claim.owns_deadlocks() {
            found = self.fairness(Doubt::accepts_none);
        }
        found.extend(self.constants(None));
        found
    }

    /// Fairness that was assumed and is not needed, given what is known to hold with less of it.
    fn fairness(&mut self, mut holds: impl FnMut(&mut Self, &[Constraint]) -> bool) -> Vec<Because> {
        let constraints = self.question.constraints;
        unneeded(constraints, |less| holds(self, less))
    }

    /// Propositions that never change, unless that is just what the formula says.
    fn constants(&mut self, formula: Option<Formula>) -> Vec<Because> {
        let said = formula.map_or_else(Vec::new, |formula| said(self.question.formulas, formula));
        let mut found = Vec::new();
        for (prop, _) in self.question.watched.propositions.clone() {
            // A search with an automaton has met some values; what it has met both of is not constant.
            let is_seen =
                self.question.watched.claim.propositions().iter().position(|(known, _)| *known == prop);
            let values = |index: usize| self.decision.valuations.iter().map(move |values| values[index]);
            let (mut yes, mut no) = (true, true);
            if let Some(index) = is_seen {
                (yes, no) = (!values(index).any(|value| !value), !values(index).any(|value| value));
            }
            let literal = self.question.formulas.prop(prop);
            for (value, is_possible) in [(true, yes), (false, no)] {
                let formulas = &mut *self.question.formulas;
                let literal = if value { literal } else { formulas.not(literal) };
                let always = formulas.globally(literal);
                if is_possible && !said.contains(&always) && self.holds_everywhere(always) {
                    let proposition = self.question.formulas.text(prop).to_owned();
                    found.push(Because::Constant { proposition, value });
                    break;
                }
            }
        }
        found
    }

    /// Implications whose condition is about one moment, and never true.
    fn untriggered(&mut self, parts: &[Formula]) -> Vec<Because> {
        let mut found = Vec::new();
        for &part in parts {
            let Node::Implies(condition, _) = self.question.formulas.node(part) else { continue };
            if !self.question.formulas.classes(condition).is_propositional() || condition.is_constant() {
                continue;
            }
            let formulas = &mut *self.question.formulas;
            let negation = formulas.not(condition);
            let never = formulas.globally(negation);
            if self.holds_everywhere(never) {
                found.push(Because::NeverTriggered { condition: self.text(condition) });
            }
        }
        found
    }

    /// Parts that do not matter, largest first.
    fn indifferent(&mut self, formula: Formula, parts: Vec<Formula>) -> Vec<Because> {
        let mut known: Vec<Formula> = Vec::new();
        let constraints = self.question.constraints.unnamed.clone();
        for part in parts.into_iter().rev().filter(|&part| part != formula && !part.is_constant()) {
            let is_inside = |whole: &Formula| self.question.formulas.subformulas(*whole).contains(&part);
            // Of `! p`, `p` is told.
            let is_negation = matches!(self.question.formulas.node(part), Node::Not(_));
            if is_negation || known.iter().any(is_inside) {
                continue;
            }
            let formulas = &mut *self.question.formulas;
            let mutants = [Formula::FALSE, Formula::TRUE].map(|value| formulas.replace(formula, part, value));
            if mutants
                .into_iter()
                .all(|mutant| mutant == Formula::TRUE || self.holds_fairly(mutant, &constraints))
            {
                known.push(part);
            }
        }
        known.into_iter().map(|part| Because::NoMatter { part: self.text(part) }).collect()
    }

    fn text(&self, formula: Formula) -> String {
        // Propositions are quoted so that they can be read back, which nobody does here.
        self.question.formulas.display(formula, Spelling::Spin).to_string().replace('"', "")
    }
}

/// What is said to be always so: of `[] p`, of both in `[] (p && q)` and in `[] p && [] q`, of neither in `[] !(p || q)`.
fn said(formulas: &mut Formulas, formula: Formula) -> Vec<Formula> {
    let operands = |formulas: &Formulas, formula: Formula| match formulas.node(formula) {
        Node::And(operands) => operands.to_vec(),
        _ => vec![formula],
    };
    let mut found = Vec::new();
    for part in operands(formulas, formula) {
        let Node::Globally(inner) = formulas.node(part) else { continue };
        for one in operands(formulas, inner) {
            let none = match formulas.node(one) {
                Node::Not(inner) => match formulas.node(inner) {
                    Node::Or(operands) => operands.to_vec(),
                    _ => Vec::new(),
                },
                _ => Vec::new(),
            };
            found.push(formulas.globally(one));
            for other in none {
                let not = formulas.not(other);
                found.push(formulas.globally(not));
            }
        }
    }
    found
}

/// The constraints that are not needed, where it is known what holds with less of them.
pub(super) fn unneeded(
    constraints: &Constraints,
    mut holds: impl FnMut(&[Constraint]) -> bool,
) -> Vec<Because> {
    let (named, all) = (&constraints.named, &constraints.unnamed);
    if all.is_empty() {
        return Vec::new();
    }
    if holds(&[]) {
        return vec![Because::FairnessUnneeded];
    }
    // Justness to several may be one constraint.
    if named.len() != all.len() || all.len() < 2 || all.len() > MAX_CONSTRAINTS {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (index, known) in named.iter().enumerate() {
        let mut less = all.clone();
        less.remove(index);
        if holds(&less) {
            found.push(Because::UnneededFairnessTo { to: known.subject.to_string() });
        }
    }
    found
}

/// What is suspicious inside the propositions of a formula, which may be whole conditions: parts that never change; and,
/// where the formula says that one of them is always true, parts that do not matter.
pub(super) fn propositions(view: &View, ltl: &Ltl, formulas: &Formulas, clock: &Clock<'_>) -> Vec<Because> {
    if let Node::Globally(inner) = formulas.node(ltl.formula) {
        let is_it = |(prop, _): &&(Prop, ExprId)| formulas.node(inner) == Node::Prop(*prop);
        if let Some((_, expr)) = ltl.propositions.iter().find(is_it) {
            return invariant(view, *expr, clock);
        }
    }
    let mut system = (*view.system).clone();
    let mut parts = Vec::new();
    for &(_, expr) in &ltl.propositions {
        let mut inside = Vec::new();
        truths(&system.exprs, expr, &mut inside);
        inside.retain(|&part| part != expr && system.exprs.get(expr) != Expr::Unary(UnaryOp::Not, part));
        parts.extend(inside);
    }
    if parts.is_empty() || parts.len() > MAX_PARTS {
        return Vec::new();
    }
    let mut goals = Vec::new();
    for &part in &parts {
        let not = system.exprs.unary(UnaryOp::Not, part);
        goals.extend([part, not].map(|expr| Goal::Invariant(system.add_proposition("", expr))));
    }
    let Exploration { violations, stop, .. } = parallel::bfs(&system, &goals, &mut clock.budget());
    if !matches!(stop, None | Some(check::Stop::AllViolated)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (index, &part) in parts.iter().enumerate() {
        let value = [true, false].into_iter().zip(&violations[2 * index..]).find(|(_, run)| run.is_none());
        if let Some((value, _)) = value {
            found.push(Because::Constant { proposition: unwrapped(&system, part), value });
        }
    }
    found.dedup();
    found
}

/// An expression as people read it, without the parentheses around it.
fn unwrapped(system: &ActionSystem, expr: ExprId) -> String {
    let shown = shown(system, expr);
    shown.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(&shown).to_owned()
}

/// Parts of an invariant that do not matter, or are constant. All states are looked at, once.
pub(super) fn invariant(view: &View, expr: ExprId, clock: &Clock<'_>) -> Vec<Because> {
    let mut system = (*view.system).clone();
    let mut parts = Vec::new();
    truths(&system.exprs, expr, &mut parts);
    if parts.len() > MAX_PARTS {
        return Vec::new();
    }
    let mut goals = Vec::new();
    for &part in &parts {
        let not = system.exprs.unary(UnaryOp::Not, part);
        let mut asked = vec![part, not];
        for value in [0, 1] {
            let value = system.exprs.int(value);
            asked.push(replace(&mut system.exprs, expr, part, value));
        }
        goals.extend(asked.into_iter().map(|expr| Goal::Invariant(system.add_proposition("", expr))));
    }
    let Exploration { violations, stop, .. } = parallel::bfs(&system, &goals, &mut clock.budget());
    // What was not seen everywhere is not known.
    if !matches!(stop, None | Some(check::Stop::AllViolated)) {
        return Vec::new();
    }
    let mut said = Vec::new();
    implied(&system.exprs, expr, true, &mut said);
    let holds = |part: usize, which: usize| violations[4 * part + which].is_none();
    let mut found = Vec::new();
    let mut told: Vec<ExprId> = Vec::new();
    for (index, &part) in parts.iter().enumerate() {
        let is_inside = |whole: &ExprId| is_part(&system.exprs, *whole, part);
        if said.contains(&part) || told.iter().any(is_inside) {
            continue;
        }
        let proposition = unwrapped(&system, part);
        if let Some(value) = [(0, true), (1, false)].into_iter().find(|(which, _)| holds(index, *which)) {
            found.push(Because::Constant { proposition, value: value.1 });
            told.push(part);
        } else if holds(index, 2) && holds(index, 3) {
            found.push(Because::NoMatter { part: proposition });
            told.push(part);
        }
    }
    found
}

/// The parts of an expression that are true or false, the whole first; each once.
fn truths(exprs: &Exprs, expr: ExprId, found: &mut Vec<ExprId>) {
    if found.contains(&expr) || found.len() > MAX_PARTS {
        return;
    }
    match exprs.get(expr) {
        Expr::Binary(BinaryOp::And | BinaryOp::Or, x, y) => {
            found.push(expr);
            truths(exprs, x, found);
            truths(exprs, y, found);
        }
        // Of `! p`, `p` is told.
        Expr::Unary(UnaryOp::Not, x) => truths(exprs, x, found),
        Expr::Binary(op, ..) if is_comparison(op) => found.push(expr),
        Expr::Var(_) | Expr::Element { .. } => found.push(expr),
        _ => {}
    }
}

/// The parts that are true, or false, because the whole is: that they are is what is said.
fn implied(exprs: &Exprs, expr: ExprId, value: bool, found: &mut Vec<ExprId>) {
    found.push(expr);
    match exprs.get(expr) {
        Expr::Unary(UnaryOp::Not, x) => implied(exprs, x, !value, found),
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), x, y) if (op == BinaryOp::And) == value => {
            implied(exprs, x, value, found);
            implied(exprs, y, value, found);
        }
        _ => {}
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Eq | Ne | Lt | Le | Gt | Ge)
}

fn is_part(exprs: &Exprs, whole: ExprId, part: ExprId) -> bool {
    whole == part || exprs.get(whole).operands().any(|operand| is_part(exprs, operand, part))
}

/// An expression with another one instead of a part, which is reached by `and`, `or` and `not`.
fn replace(exprs: &mut Exprs, expr: ExprId, part: ExprId, other: ExprId) -> ExprId {
    if expr == part {
        return other;
    }
    match exprs.get(expr) {
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), x, y) => {
            let (x, y) = (replace(exprs, x, part, other), replace(exprs, y, part, other));
            exprs.binary(op, x, y)
        }
        Expr::Unary(UnaryOp::Not, x) => {
            let x = replace(exprs, x, part, other);
            exprs.unary(UnaryOp::Not, x)
        }
        _ => expr,
    }
}

/// An expression as people read it.
fn shown(system: &ActionSystem, expr: ExprId) -> String {
    let show = |expr| shown(system, expr);
    let name = |var: VarId| system.variables()[var.index()].name.clone();
    match system.exprs.get(expr) {
        Expr::Int(value) => value.to_string(),
        Expr::Var(var) => name(var),
        Expr::Element { first, index, .. } => format!("{}[{}]", name(first), show(index)),
        Expr::Unary(op, x) => {
            let sign = match op {
                UnaryOp::Neg => "-",
                UnaryOp::Not => "!",
                UnaryOp::BitNot => "~",
                // The width is that of a type, which nobody wrote here.
                UnaryOp::Truncate { .. } => "",
            };
            format!("{sign}{}", show(x))
        }
        Expr::Binary(BinaryOp::Eq, x, y) => match (system.exprs.get(x), system.exprs.get(y)) {
            (Expr::Var(var), Expr::Int(value)) if system.variables()[var.index()].value_names.is_some() => {
                format!("{}@{}", name(var), system.variables()[var.index()].show(value))
            }
            _ => format!("{} == {}", show(x), show(y)),
        },
        Expr::Binary(op, x, y) => {
            use BinaryOp::*;
            let sign = match op {
                Add => "+",
                Sub => "-",
                Mul => "*",
                Div => "/",
                Rem => "%",
                And => "&&",
                Or => "||",
                Eq => "==",
                Ne => "!=",
                Lt => "<",
                Le => "<=",
                Gt => ">",
                Ge => ">=",
                BitAnd => "&",
                BitOr => "|",
                BitXor => "^",
                Shl => "<<",
                Shr => ">>",
            };
            format!("({} {sign} {})", show(x), show(y))
        }
        Expr::Cond(condition, x, y) => format!("({} ? {} : {})", show(condition), show(x), show(y)),
    }
}
