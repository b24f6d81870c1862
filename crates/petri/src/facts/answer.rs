//! Questions that facts and the initial marking answer.

use std::convert::Infallible;

use base::{Budget, Limit};
use language::{Argument, Decided, Facts as _, Known, Ltl, PropertyKind};
use ltl::{Formula, Formulas, Node, Op};
use model::{ExprId, Exprs};
use rustc_hash::FxHashMap;

use super::linear::Linear;
use super::{Facts, Range, evaluate, truth};

/// A truth, and what shows it.
type Shown = Option<(bool, Argument)>;

impl language::Facts for Facts {
    /// Of a formula about runs, the propositions that are decided are replaced first.
    fn answer(
        &self,
        exprs: &Exprs,
        formulas: &mut Formulas,
        question: &PropertyKind,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Decided>, Limit> {
        let initially = |expr: ExprId| self.initially(exprs, expr).map(|value| value != 0);
        // Known of the initial marking, where one marking is enough; or of all.
        let mut somewhere =
            |expr: ExprId, wanted: bool| match initially(expr).filter(|truth| *truth == wanted) {
                Some(truth) => Ok(Some((truth, Argument::FirstState))),
                None => self.shown(exprs, expr, budget),
            };
        let shown = match question {
            PropertyKind::Invariant(expr) => somewhere(*expr, false)?,
            PropertyKind::Possible(expr) => somewhere(*expr, true)?,
            PropertyKind::AllPossible(each) => all(each.iter().map(|&expr| somewhere(expr, true)))?,
            PropertyKind::SomeInvariant(each) => {
                not(all(each.iter().map(|&expr| Ok(not(somewhere(expr, false)?))))?)
            }
            PropertyKind::AllLive(each) => match self.runs_out(each, budget)? {
                true => Some((false, Argument::Exhaustion)),
                false if self.is_live(budget)? => Some((true, Argument::Siphons)),
                false => all(each.iter().map(|its| self.shown(exprs, its.expr, budget)))?,
            },
            PropertyKind::DeadlockFree => self.has_no_deadlock(budget)?.then_some((true, Argument::Siphons)),
            PropertyKind::Maximum(expr) => {
                let reached = self.initially(exprs, *expr);
                let bound = self.upper_bound(exprs, *expr, budget)?;
                let bound = bound.filter(|(bound, _)| reached == Some(*bound));
                return Ok(bound.map(|(bound, by)| Decided { answer: Known::Number(bound), by }));
            }
            PropertyKind::Ltl(ltl) => return Ok(self.simplify_ltl(exprs, formulas, ltl, budget)?.1),
            _ => None,
        };
        Ok(shown.map(|(truth, by)| Decided { answer: Known::Truth(truth), by }))
    }

    fn simplify_ltl(
        &self,
        exprs: &Exprs,
        formulas: &mut Formulas,
        ltl: &Ltl,
        budget: &mut Budget<'_>,
    ) -> Result<(Ltl, Option<Decided>), Limit> {
        let (ltl, by) = self.simplified(exprs, formulas, ltl, budget)?;
        let truth = self.initial_truth(exprs, formulas, &ltl, budget)?;
        let known = truth.map(|truth| Decided { answer: Known::Truth(truth), by });
        Ok((ltl, known))
    }

    /// Nothing where its value might be a fault.
    fn always(&self, exprs: &Exprs, expr: ExprId, budget: &mut Budget<'_>) -> Result<Option<bool>, Limit> {
        Ok(self.shown(exprs, expr, budget)?.map(|(truth, _)| truth))
    }

    fn comes_home(&self, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        self.returns(budget)
    }

    fn wanted(
        &self,
        exprs: &Exprs,
        expr: ExprId,
        truth: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Vec<u32>>, Limit> {
        Ok(self.refute(exprs, expr, truth, budget)?.and_then(|prover| prover.firings()))
    }

    fn proof(
        &self,
        exprs: &Exprs,
        expr: ExprId,
        truth: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Vec<String>>, Limit> {
        let words = self.refute(exprs, expr, truth, budget)?.and_then(|prover| prover.words());
        match &self.skeleton {
            Some(skeleton) if words.is_none() => skeleton.words(exprs, expr, truth, budget),
            _ => Ok(words),
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
    ) -> Result<Option<(i64, Argument)>, Limit> {
        // The greatest number there is says nothing.
        let range = self.ranges(exprs, expr, budget)?[&expr];
        let known = range.map(|range| range.high).filter(|high| *high < i64::MAX);
        let by_sums = known.map(|known| (known, Argument::Invariants));
        let is_reached = known.is_some() && self.initially(exprs, expr) == known;
        let Some(linear) = Linear::of(exprs, expr).filter(|_| range.is_some() && !is_reached) else {
            return Ok(by_sums);
        };
        let by_equation = self.equation_bound(exprs, &linear, known, budget)?;
        let by_equation = by_equation.map(|bound| (bound, Argument::Equation));
        let by_skeleton = self.skeleton.as_ref().map(|skeleton| skeleton.bound(&linear, budget));
        let by_skeleton = by_skeleton.transpose()?.flatten().map(|bound| (bound, Argument::Skeleton));
        Ok(by_sums.into_iter().chain(by_equation).chain(by_skeleton).min())
    }
}

impl Facts {
    /// Whether an expression has the same truth in every marking, which, and what shows it. Nothing where its value
    /// might be a fault.
    pub(super) fn shown(&self, exprs: &Exprs, expr: ExprId, budget: &mut Budget<'_>) -> Result<Shown, Limit> {
        let plain = self.plain_range(exprs, expr);
        if let Some(truth) = truth(plain) {
            return Ok(Some((truth, Argument::Bounds)));
        }
        // It is what it is at first, or not always the same.
        let first = self.initially(exprs, expr).map(|value| value != 0);
        let by_skeleton = |budget: &mut Budget<'_>| match (&self.skeleton, first) {
            (Some(skeleton), Some(first)) => skeleton.refutes(exprs, expr, !first, budget),
            _ => Ok(false),
        };
        if plain.is_some() && by_skeleton(budget)? {
            return Ok(first.map(|first| (first, Argument::Skeleton)));
        }
        let range = self.ranges(exprs, expr, budget)?[&expr];
        match (truth(range), range, first) {
            (None, Some(_), Some(first)) => {
                if plain.is_none() && by_skeleton(budget)? {
                    return Ok(Some((first, Argument::Skeleton)));
                }
                let prover = self.refute(exprs, expr, !first, budget)?;
                Ok(prover.and_then(|prover| Some((first, prover.argument()?))))
            }
            (known, ..) => Ok(known.map(|truth| (truth, Argument::Invariants))),
        }
    }

    /// A formula without propositions that never change, and what shows that they do not.
    fn simplified(
        &self,
        exprs: &Exprs,
        formulas: &mut Formulas,
        ltl: &Ltl,
        budget: &mut Budget<'_>,
    ) -> Result<(Ltl, Argument), Limit> {
        let mut new: FxHashMap<Formula, Formula> = FxHashMap::default();
        let (mut propositions, mut by) = (ltl.propositions.clone(), Argument::FirstState);
        for &(prop, expr) in &ltl.propositions {
            if let Some((truth, its)) = self.shown(exprs, expr, budget)? {
                let (old, constant) = (formulas.prop(prop), formulas.constant(truth));
                new.insert(old, constant);
                by = by.max(its);
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
        Ok((Ltl { formula, propositions }, by))
    }

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
                Node::Not(a) => of(a).map(|a| !a),
                Node::Next(_) => None,
                Node::Finally(a) => of(a).filter(|a| *a),
                Node::Globally(a) => of(a).filter(|a| !*a),
                Node::And(list) => all_true(list.iter().map(|&operand| of(operand))),
                Node::Or(list) => {
                    all_true(list.iter().map(|&operand| of(operand).map(|truth| !truth))).map(|none| !none)
                }
                Node::Implies(a, b) => {
                    all_true([of(a), of(b).map(|truth| !truth)].into_iter()).map(|broken| !broken)
                }
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

/// The contrary, for the same reason.
fn not(shown: Shown) -> Shown {
    shown.map(|(truth, by)| (!truth, by))
}

/// Whether all are true: not if one is false, and not known if one is not. The strongest argument counts.
fn all(each: impl Iterator<Item = Result<Shown, Limit>>) -> Result<Shown, Limit> {
    let mut result = Some((true, Argument::FirstState));
    for shown in each {
        match shown? {
            Some((true, by)) => result = result.map(|(truth, known)| (truth, known.max(by))),
            Some((false, by)) => return Ok(Some((false, by))),
            None => result = None,
        }
    }
    Ok(result)
}

/// The same of truths alone.
fn all_true(truths: impl Iterator<Item = Option<bool>>) -> Option<bool> {
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
