//! Questions that facts and the initial marking answer.

use ltl::{Formula, Formulas, Node, Op};
use model::{ExprId, Exprs};
use rustc_hash::FxHashMap;

use super::Facts;
use crate::mcc::{Ltl, Question};

/// An answer to a question about a net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes or no.
    Truth(bool),
    /// The greatest value.
    Number(i64),
}

impl Facts {
    /// The answer to a question, if it needs no search. Of a formula about runs, the propositions that are
    /// decided are replaced first ([`Facts::simplify_ltl`]).
    pub fn answer(&self, exprs: &Exprs, formulas: &mut Formulas, question: &Question) -> Option<Answer> {
        let initially = |expr: ExprId| self.initially(exprs, expr).map(|value| value != 0);
        let always = |expr: ExprId| self.always(exprs, expr);
        let possible = |expr: ExprId| match (always(expr), initially(expr)) {
            (Some(truth), _) => Some(truth),
            (None, Some(true)) => Some(true),
            _ => None,
        };
        let invariant = |expr: ExprId| match (always(expr), initially(expr)) {
            (Some(truth), _) => Some(truth),
            (None, Some(false)) => Some(false),
            _ => None,
        };
        let truth = match question {
            Question::Invariant(expr) => invariant(*expr)?,
            Question::Possible(expr) => possible(*expr)?,
            Question::AllPossible(exprs) => all(exprs.iter().map(|&expr| possible(expr)))?,
            Question::SomeInvariant(exprs) => !all(exprs.iter().map(|&expr| invariant(expr).map(|it| !it)))?,
            Question::AllLive(exprs) => all(exprs.iter().map(|&expr| always(expr)))?,
            Question::Maximum(expr) => {
                let reached = self.initially(exprs, *expr)?;
                return (self.upper_bound(exprs, *expr)? == reached).then_some(Answer::Number(reached));
            }
            Question::Ltl(ltl) => {
                let ltl = self.simplify_ltl(exprs, formulas, ltl);
                self.initial_truth(exprs, formulas, &ltl)?
            }
            Question::Unsupported(_) => return None,
        };
        Some(Answer::Truth(truth))
    }

    /// The formula with the propositions that have the same truth in every marking replaced by it.
    pub fn simplify_ltl(&self, exprs: &Exprs, formulas: &mut Formulas, ltl: &Ltl) -> Ltl {
        let mut new: FxHashMap<Formula, Formula> = FxHashMap::default();
        let mut propositions = ltl.propositions.clone();
        for &(prop, expr) in &ltl.propositions {
            if let Some(truth) = self.always(exprs, expr) {
                let (old, constant) = (formulas.prop(prop), formulas.constant(truth));
                new.insert(old, constant);
            }
        }
        for formula in formulas.subformulas(ltl.formula) {
            if !new.contains_key(&formula) {
                let operands: Vec<Formula> =
                    formulas.operands(formula).iter().map(|operand| new[operand]).collect();
                let simple = formulas.apply(formulas.op(formula), &operands);
                new.insert(formula, simple);
            }
        }
        let formula = new[&ltl.formula];
        let left = formulas.propositions(formula);
        propositions.retain(|(prop, _)| left.contains(prop));
        Ltl { formula, propositions }
    }

    /// Whether the formula is true of every run, or false of every run, because of how runs begin.
    fn initial_truth(&self, exprs: &Exprs, formulas: &Formulas, ltl: &Ltl) -> Option<bool> {
        let mut truths: FxHashMap<Formula, Option<bool>> = FxHashMap::default();
        for formula in formulas.subformulas(ltl.formula) {
            let of = |formula: Formula| truths[&formula];
            let truth = match formulas.node(formula) {
                Node::True => Some(true),
                Node::False => Some(false),
                Node::Prop(prop) => {
                    let expr = ltl.propositions.iter().find(|(its, _)| *its == prop).map(|(_, expr)| *expr);
                    expr.and_then(|expr| self.initially(exprs, expr)).map(|value| value != 0)
                }
                Node::Not(a) => of(a).map(|a| !a),
                Node::Next(_) => None,
                Node::Finally(a) => of(a).filter(|a| *a),
                Node::Globally(a) => of(a).filter(|a| !*a),
                Node::And(list) => all(list.iter().map(|&operand| of(operand))),
                Node::Or(list) => {
                    all(list.iter().map(|&operand| of(operand).map(|it| !it))).map(|none| !none)
                }
                Node::Implies(a, b) => or(of(a).map(|a| !a), of(b)),
                Node::Equivalent(a, b) => of(a).zip(of(b)).map(|(a, b)| a == b),
                Node::Xor(a, b) => of(a).zip(of(b)).map(|(a, b)| a != b),
                Node::Until(a, b) | Node::WeakUntil(a, b) => match (of(a), of(b)) {
                    (_, Some(true)) => Some(true),
                    (Some(false), Some(false)) => Some(false),
                    _ => None,
                },
                Node::Release(a, b) | Node::StrongRelease(a, b) => match (of(a), of(b)) {
                    (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                },
            };
            debug_assert!(!matches!(formulas.op(formula), Op::True) || truth == Some(true));
            truths.insert(formula, truth);
        }
        truths[&ltl.formula]
    }
}

fn or(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    all([a, b].into_iter().map(|it| it.map(|it| !it))).map(|none| !none)
}

/// Whether all are true: not if one is false, and not known if one is not.
fn all(truths: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut result = Some(true);
    for truth in truths {
        match truth {
            Some(true) => {}
            Some(false) => return Some(false),
            None => result = None,
        }
    }
    result
}
