//! Negation normal form: negation stands only before propositions, and `->`, `<->`, `^` are gone.
//!
//! # Idea
//! Every operator has a dual, through which negation passes: `!(a U b)` is `!a R !b`. Each
//! subformula is needed in at most two signs, so the result has at most twice as many distinct
//! subformulas (and those of `<->` and `^`). As a *tree* it may grow: an equivalence needs both
//! signs of both operands, which doubles at each nested `<->`. Formulas share, so this costs only
//! those who walk the tree.

use base::{Budget, Limit};
use rustc_hash::FxHashMap;

use crate::formula::{Formula, Formulas, Node, Op};

/// A subformula, and whether it stands under an odd number of negations.
type Signed = (Formula, bool);

/// The negation normal form of a formula: an equivalent one made of constants, propositions,
/// negated propositions, `And`, `Or`, and all temporal operators.
///
/// ```
/// # use stubborn_ltl::{Formulas, Spelling, negation_normal_form, parse};
/// # let mut formulas = Formulas::new();
/// let source = base::SourceId::new(0);
/// let formula = parse(&mut formulas, "!(a U (b -> X c))", source, 0).unwrap().formula;
/// let normal = negation_normal_form(&mut formulas, formula, &mut base::Budget::unlimited()).unwrap();
/// assert_eq!(formulas.display(normal, Spelling::Spot).to_string(), "!a R (b & X !c)");
/// ```
///
/// # Errors
/// The budget is spent.
pub fn negation_normal_form(
    formulas: &mut Formulas,
    formula: Formula,
    budget: &mut Budget<'_>,
) -> Result<Formula, Limit> {
    let mut done: FxHashMap<Signed, Formula> = FxHashMap::default();
    let mut stack: Vec<Signed> = vec![(formula, false)];
    while let Some(&signed) = stack.last() {
        budget.tick()?;
        if done.contains_key(&signed) {
            stack.pop();
            continue;
        }
        let missing = needs(formulas, signed).into_iter().filter(|part| !done.contains_key(part));
        let before = stack.len();
        stack.extend(missing);
        if stack.len() == before {
            stack.pop();
            let normal = build(formulas, signed, &|part| done[&part]);
            done.insert(signed, normal);
        }
    }
    Ok(done[&(formula, false)])
}

/// The signed operands that the normal form of a signed formula is made of.
fn needs(formulas: &Formulas, (formula, negated): Signed) -> Vec<Signed> {
    match formulas.node(formula) {
        Node::Not(a) => vec![(a, !negated)],
        Node::Implies(a, b) => vec![(a, !negated), (b, negated)],
        Node::Equivalent(a, b) | Node::Xor(a, b) => vec![(a, false), (a, true), (b, false), (b, true)],
        _ => formulas.operands(formula).iter().map(|&a| (a, negated)).collect(),
    }
}

/// The normal form of a signed formula, given those that it needs.
fn build(formulas: &mut Formulas, (formula, negated): Signed, done: &dyn Fn(Signed) -> Formula) -> Formula {
    match formulas.node(formula) {
        Node::Not(a) => done((a, !negated)),
        Node::Prop(_) if negated => formulas.not(formula),
        Node::Implies(a, b) => {
            let op = if negated { Op::And } else { Op::Or };
            formulas.apply(op, &[done((a, !negated)), done((b, negated))])
        }
        Node::Equivalent(a, b) => same(formulas, (a, false), (b, negated), done),
        Node::Xor(a, b) => same(formulas, (a, false), (b, !negated), done),
        _ => {
            let operands: Vec<Formula> =
                formulas.operands(formula).iter().map(|&a| done((a, negated))).collect();
            let op = formulas.op(formula);
            formulas.apply(if negated { dual(op) } else { op }, &operands)
        }
    }
}

/// `(a & b) | (!a & !b)`.
fn same(formulas: &mut Formulas, a: Signed, b: Signed, done: &dyn Fn(Signed) -> Formula) -> Formula {
    let both = formulas.and([done(a), done(b)]);
    let neither = formulas.and([done((a.0, !a.1)), done((b.0, !b.1))]);
    formulas.or([both, neither])
}

/// The operator that an operator becomes when negation passes through it to all operands. The
/// others are handled before.
pub(crate) fn dual(op: Op) -> Op {
    match op {
        Op::True => Op::False,
        Op::False => Op::True,
        Op::Finally => Op::Globally,
        Op::Globally => Op::Finally,
        Op::And => Op::Or,
        Op::Or => Op::And,
        Op::Until => Op::Release,
        Op::Release => Op::Until,
        Op::WeakUntil => Op::StrongRelease,
        Op::StrongRelease => Op::WeakUntil,
        Op::Next | Op::Prop(_) | Op::Not | Op::Implies | Op::Equivalent | Op::Xor => op,
    }
}
