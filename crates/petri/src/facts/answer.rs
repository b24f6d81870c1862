//! Questions that facts and the initial marking answer.

use std::convert::Infallible;

use base::{Budget, Limit};
use language::{Facts as _, Known, Ltl, PropertyKind};
use ltl::{Formula, Formulas, Node, Op};
use model::{ExprId, Exprs};
use rustc_hash::FxHashMap;

use super::linear::Linear;
use super::{Facts, Range, evaluate, truth};

impl language::Facts for Facts {
    /// Of a formula about runs, the propositions that are decided are replaced first.
    fn answer(
        &self,
        exprs: &Exprs,
        formulas: &mut Formulas,
        question: &PropertyKind,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Known>, Limit> {
        let initially = |expr: ExprId| self.initially(exprs, expr).map(|value| value != 0);
        // Known of the initial marking, where one marking is enough; or of all.
        let mut somewhere =
            |expr: ExprId, wanted: bool| match initially(expr).filter(|truth| *truth == wanted) {
                Some(truth) => Ok(Some(truth)),
                None => self.always(exprs, expr, budget),
            };
        let truth = match question {
            PropertyKind::Invariant(expr) => somewhere(*expr, false)?,
            PropertyKind::Possible(expr) => somewhere(*expr, true)?,
            PropertyKind::AllPossible(each) => all(each.iter().map(|&expr| somewhere(expr, true)))?,
            PropertyKind::SomeInvariant(each) => {
                not(all(each.iter().map(|&expr| Ok(not(somewhere(expr, false)?))))?)
            }
            PropertyKind::AllLive(each) => all(each.iter().map(|its| self.always(exprs, its.expr, budget)))?,
            PropertyKind::Maximum(expr) => {
                let (reached, bound) =
                    (self.initially(exprs, *expr), self.upper_bound(exprs, *expr, budget)?);
                return Ok(reached.filter(|_| reached == bound).map(Known::Number));
            }
            PropertyKind::Ltl(ltl) => {
                let ltl = self.simplify_ltl(exprs, formulas, ltl, budget)?;
                self.initial_truth(exprs, formulas, &ltl, budget)?
            }
            _ => None,
        };
        Ok(truth.map(Known::Truth))
    }

    fn simplify_ltl(
        &self,
        exprs: &Exprs,
        formulas: &mut Formulas,
        ltl: &Ltl,
        budget: &mut Budget<'_>,
    ) -> Result<Ltl, Limit> {
        let mut new: FxHashMap<Formula, Formula> = FxHashMap::default();
        let mut propositions = ltl.propositions.clone();
        for &(prop, expr) in &ltl.propositions {
            if let Some(truth) = self.always(exprs, expr, budget)? {
                let (old, constant) = (formulas.prop(prop), formulas.constant(truth));
                new.insert(old, constant);
            }
        }
        for formula in formulas.subformulas(ltl.formula) {
            budget.tick()?;
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
        Ok(Ltl { formula, propositions })
    }

    /// Nothing where its value might be a fault.
    fn always(&self, exprs: &Exprs, expr: ExprId, budget: &mut Budget<'_>) -> Result<Option<bool>, Limit> {
        let range = self.ranges(exprs, expr, budget)?[&expr];
        match (truth(range), range, self.initially(exprs, expr)) {
            // It is what it is at first, or not always the same.
            (None, Some(_), Some(value)) => {
                let is_never = self.is_never(exprs, expr, value == 0, budget)?;
                Ok(is_never.then_some(value != 0))
            }
            (known, ..) => Ok(known),
        }
    }

    /// Nothing if it is a fault.
    fn initially(&self, exprs: &Exprs, expr: ExprId) -> Option<i64> {
        let exact = |place: usize| Some(Range { low: self.initial[place], high: self.initial[place] });
        let Ok(ranges) = evaluate(exprs, expr, exact, |_, _| Ok::<_, Infallible>(None));
        ranges[&expr].map(|range| range.low)
    }

    fn upper_bound(
        &self,
        exprs: &Exprs,
        expr: ExprId,
        budget: &mut Budget<'_>,
    ) -> Result<Option<i64>, Limit> {
        // The greatest number there is says nothing.
        let range = self.ranges(exprs, expr, budget)?[&expr];
        let known = range.map(|range| range.high).filter(|high| *high < i64::MAX);
        let is_reached = known.is_some() && self.initially(exprs, expr) == known;
        let Some(linear) = Linear::of(exprs, expr).filter(|_| range.is_some() && !is_reached) else {
            return Ok(known);
        };
        let by_equation = self.equation_bound(exprs, &linear, known, budget)?;
        Ok(known.into_iter().chain(by_equation).min())
    }
}

impl Facts {
    /// Whether the formula is true of every run, or false of every run, because of how runs begin.
    fn initial_truth(
        &self,
        exprs: &Exprs,
        formulas: &Formulas,
        ltl: &Ltl,
        budget: &mut Budget<'_>,
    ) -> Result<Option<bool>, Limit> {
        let mut truths: FxHashMap<Formula, Option<bool>> = FxHashMap::default();
        for formula in formulas.subformulas(ltl.formula) {
            budget.tick()?;
            let of = |formula: Formula| truths[&formula];
            let truth = match formulas.node(formula) {
                Node::True => Some(true),
                Node::False => Some(false),
                Node::Prop(prop) => {
                    let expr = ltl.propositions.iter().find(|(its, _)| *its == prop).map(|(_, expr)| *expr);
                    expr.and_then(|expr| self.initially(exprs, expr)).map(|value| value != 0)
                }
                Node::Not(a) => not(of(a)),
                Node::Next(_) => None,
                Node::Finally(a) => of(a).filter(|a| *a),
                Node::Globally(a) => of(a).filter(|a| !*a),
                Node::And(list) => all(list.iter().map(|&operand| Ok(of(operand))))?,
                Node::Or(list) => all(list.iter().map(|&operand| Ok(not(of(operand)))))?.map(|none| !none),
                Node::Implies(a, b) => not(all([Ok(of(a)), Ok(not(of(b)))].into_iter())?),
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
        Ok(truths[&ltl.formula])
    }
}

fn not(truth: Option<bool>) -> Option<bool> {
    truth.map(|truth| !truth)
}

/// Whether all are true: not if one is false, and not known if one is not.
fn all(truths: impl Iterator<Item = Result<Option<bool>, Limit>>) -> Result<Option<bool>, Limit> {
    let mut result = Some(true);
    for truth in truths {
        match truth? {
            Some(true) => {}
            Some(false) => return Ok(Some(false)),
            None => result = None,
        }
    }
    Ok(result)
}
