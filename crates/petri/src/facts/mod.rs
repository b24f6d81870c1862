//! Facts about a net that hold in every marking, and what they say about expressions: some questions are
//! answered before any search.
//!
//! Facts are proved from the net alone, in exact arithmetic: weighted sums of tokens that never grow
//! (`invariants`), with them the least and the most tokens of each place, and transitions that never fire
//! ([`structural`](crate::structural)). What the file claims (safe units) is not believed. An expression is
//! then true in every marking, false in every marking, or not decided; where its value might be a fault, it
//! is not decided.
//!
//! What sums do not decide, the state equation may (`equation`, `prover`): linear programs are solved in floating point, and
//! what they find is a certificate that is checked in exact numbers (`certificate`), or nothing. Of a colored net, the same is
//! tried without the colors first (`skeleton`). Of deadlocks, siphons and traps
//! may show that there are none (`siphons`); of transitions, sums that are used up may show that they are not live (`exhaustion`), and ways home that
//! they are, if they can fire at all (`home`).

mod answer;
mod certificate;
mod equation;
mod exhaustion;
mod home;
mod linear;
mod prover;
mod simplex;
mod siphons;
mod skeleton;

use std::convert::Infallible;
use std::sync::Arc;

use base::{Budget, Limit};
use language::{Preserve, Rules};
use model::{BinaryOp, Expr, ExprId, Exprs, UnaryOp};
use rustc_hash::FxHashMap;

pub(crate) use certificate::scales;
use equation::Equation;
pub(crate) use linear::Linear;
pub(crate) use simplex::{Program, minimize};

use crate::invariants::TokenSum;
use crate::net::{Net, PlaceId, Transition, TransitionId};
use crate::structural::{Keep, Reducer, Rule};
use skeleton::Skeleton;

/// What holds in every marking of a net.
#[derive(Clone, Debug)]
pub struct Facts {
    initial: Vec<i64>,
    least: Vec<i64>,
    most: Vec<Option<i64>>,
    sums: Vec<TokenSum>,
    /// The sums of each place, small ones first, and not too many.
    sums_of: Vec<Vec<u32>>,
    is_dead: Vec<bool>,
    /// The transitions of the net below, as they are numbered in the net that was asked about.
    numbers: Vec<TransitionId>,
    /// The net without transitions that never fire; its places have the same numbers.
    net: Arc<Net>,
    equation: Equation,
    /// The net without its colors, if it has some.
    skeleton: Option<Box<Skeleton>>,
}

/// The values that an expression can have, and no others; it is never a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    low: i64,
    high: i64,
}

/// Conjunctions of more parts are not looked at as a whole.
const MAX_CONJUNCTS: usize = 256;
/// So many sums of a place are tried.
const MAX_SUMS: usize = 24;
/// No transition dies more than a few times over.
const MAX_ROUNDS: usize = 4;

impl Facts {
    /// What is easily found about a net.
    ///
    /// # Errors
    /// The budget is spent before anything is known.
    pub fn new(reducer: &Arc<Reducer>, budget: &mut Budget<'_>) -> Result<Facts, Limit> {
        let net = reducer.net();
        let places = (0..net.places.len()).map(PlaceId::new).collect();
        let keep = Keep { preserve: Preserve::Stuttering, places, observes_deadlock: true };
        let mut is_dead = vec![true; net.transitions.len()];
        let mut numbers: Vec<TransitionId> = (0..net.transitions.len()).map(TransitionId::new).collect();
        let mut reducer = reducer.clone();
        let rules = Rules::none().with(Rule::DeadTransitions.name(), true);
        // Without dead transitions there are more sums, and with these more dead transitions.
        for _ in 0..MAX_ROUNDS {
            let reduced = reducer.reduce(&keep, &rules, budget)?;
            if !reduced.is_changed() || reduced.stop.is_some() {
                break;
            }
            let Ok(next) = Reducer::new(Arc::new(reduced.net.clone()), &mut budget.share()) else { break };
            numbers = reduced.unmerged().map(|transition| numbers[transition.index()]).collect();
            reducer = Arc::new(next);
        }
        numbers.iter().for_each(|transition| is_dead[transition.index()] = false);
        budget.hold(reducer.sums().iter().map(|sum| 16 * sum.places.len() as u64 + 64).sum())?;
        let skeleton = Skeleton::new(net, &is_dead, budget)?;
        let live = Facts::of_live(reducer.net().clone(), reducer.sums().to_vec(), is_dead, numbers);
        Ok(Facts { skeleton, ..live })
    }

    fn of_live(
        net: Arc<Net>,
        mut sums: Vec<TokenSum>,
        is_dead: Vec<bool>,
        numbers: Vec<TransitionId>,
    ) -> Facts {
        let most = TokenSum::place_bounds(&sums, net.places.len());
        // Small sums are the most useful ones.
        sums.sort_by(|a, b| (a.places.len(), &a.places).cmp(&(b.places.len(), &b.places)));
        sums.dedup_by(|next, kept| {
            let is_same = next.places == kept.places;
            kept.is_constant |= is_same && next.is_constant;
            is_same
        });
        let mut sums_of = vec![Vec::new(); net.places.len()];
        for (index, sum) in sums.iter().enumerate() {
            for &(place, _) in &sum.places {
                let of_place: &mut Vec<u32> = &mut sums_of[place as usize];
                of_place.extend((of_place.len() < MAX_SUMS).then_some(index as u32));
            }
        }
        let initial: Vec<i64> = net.places.iter().map(|place| place.initial).collect();
        // A place that no transition decreases keeps what it has.
        let mut least = initial.clone();
        for (place, _) in
            net.transitions.iter().flat_map(Transition::changes).filter(|(_, change)| *change < 0)
        {
            least[place.index()] = 0;
        }
        let equation = Equation::new(&net);
        let skeleton = None;
        let mut facts =
            Facts { initial, least, most, sums, sums_of, is_dead, numbers, net, equation, skeleton };
        facts.raise_least();
        facts
    }

    /// Where a sum never changes and the other places cannot have it all, the rest is in this one.
    fn raise_least(&mut self) {
        for sum in self.sums.iter().filter(|sum| sum.is_constant) {
            let most = |&(place, weight): &(u32, i64)| {
                i128::from(self.most[place as usize]?).checked_mul(weight.into())
            };
            let all: Option<i128> =
                sum.places.iter().try_fold(0i128, |total, term| total.checked_add(most(term)?));
            let Some(all) = all else { continue };
            for term @ &(place, weight) in &sum.places {
                let missing = most(term).and_then(|own| sum.total.checked_sub(all - own));
                // Rounded up.
                let tokens =
                    missing.map(|missing| (missing + i128::from(weight) - 1).div_euclid(weight.into()));
                if let Some(tokens) = tokens.and_then(|tokens| i64::try_from(tokens).ok()) {
                    let least = &mut self.least[place as usize];
                    *least = (*least).max(tokens);
                }
            }
        }
    }

    fn sums_with(&self, place: u32) -> impl Iterator<Item = &TokenSum> {
        self.sums_of[place as usize].iter().map(|&index| &self.sums[index as usize])
    }

    /// Whether a transition can be shown never to fire.
    pub fn never_fires(&self, transition: TransitionId) -> bool {
        self.is_dead[transition.index()]
    }

    /// The least and the most tokens that a place can be shown to have.
    pub fn tokens(&self, place: PlaceId) -> (i64, Option<i64>) {
        (self.least[place.index()], self.most[place.index()])
    }

    fn ranges(
        &self,
        exprs: &Exprs,
        expr: ExprId,
        budget: &mut Budget<'_>,
    ) -> Result<FxHashMap<ExprId, Option<Range>>, Limit> {
        let tokens =
            |place: usize| Some(Range { low: self.least[place], high: self.most[place].unwrap_or(i64::MAX) });
        evaluate(exprs, expr, tokens, |expr, known| self.refine(exprs, expr, known, budget))
    }

    /// The same of the whole expression, by the bounds of places alone.
    fn plain_range(&self, exprs: &Exprs, expr: ExprId) -> Option<Range> {
        let tokens =
            |place: usize| Some(Range { low: self.least[place], high: self.most[place].unwrap_or(i64::MAX) });
        let Ok(ranges) = evaluate(exprs, expr, tokens, |_, _| Ok::<_, Infallible>(None));
        ranges[&expr]
    }

    /// What sums say about an expression, whose range by itself is known.
    fn refine(
        &self,
        exprs: &Exprs,
        expr: ExprId,
        known: Range,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Range>, Limit> {
        budget.tick()?;
        let Expr::Binary(op, x, y) = exprs.get(expr) else { return Ok(None) };
        Ok(match op {
            BinaryOp::Add | BinaryOp::Sub => {
                let Some(linear) = Linear::of(exprs, expr) else { return Ok(None) };
                let low = self.at_least(&linear, budget)?.and_then(|low| i64::try_from(low).ok());
                let high = self.at_most(&linear, budget)?.and_then(|high| i64::try_from(high).ok());
                let low = low.map_or(known.low, |low| low.max(known.low));
                Some(Range { low, high: high.map_or(known.high, |high| high.min(known.high)) })
            }
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                let difference = Linear::of(exprs, x).and_then(|mut difference| {
                    difference.add(exprs, y, -1)?;
                    Some(difference)
                });
                let Some(difference) = difference else { return Ok(None) };
                let (low, high) = (self.at_least(&difference, budget)?, self.at_most(&difference, budget)?);
                compare(op, low.unwrap_or(i128::MIN), high.unwrap_or(i128::MAX)).map(certain)
            }
            BinaryOp::And => self.is_impossible(exprs, expr).then_some(certain(false)),
            _ => None,
        })
    }

    /// Whether places are required to have more tokens than there are, all together.
    fn is_impossible(&self, exprs: &Exprs, expr: ExprId) -> bool {
        let mut needed: Vec<(u32, i64)> = Vec::new();
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            match exprs.get(expr) {
                Expr::Binary(BinaryOp::And, x, y) => open.extend([x, y]),
                Expr::Binary(op, x, y) => match (op, exprs.get(x), exprs.get(y)) {
                    (BinaryOp::Ge, Expr::Var(var), Expr::Int(tokens))
                    | (BinaryOp::Le, Expr::Int(tokens), Expr::Var(var)) => {
                        needed.push((var.index() as u32, tokens));
                    }
                    _ => {}
                },
                _ => {}
            }
            if open.len() + needed.len() > MAX_CONJUNCTS {
                return false;
            }
        }
        // The greatest requirement of a place comes first, and stays.
        needed.sort_unstable_by(|a, b| b.cmp(a));
        needed.dedup_by_key(|(place, _)| *place);
        let sums = needed.iter().flat_map(|&(place, _)| self.sums_with(place));
        sums.into_iter().any(|sum| {
            let required = needed
                .iter()
                .map(|&(place, tokens)| i128::from(tokens.max(0)).saturating_mul(sum.weight(place).into()));
            required.fold(0i128, i128::saturating_add) > sum.total
        })
    }
}

fn is_truth(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Eq | BinaryOp::Ne)
        || matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
}

fn certain(truth: bool) -> Range {
    Range { low: i64::from(truth), high: i64::from(truth) }
}

fn truth(range: Option<Range>) -> Option<bool> {
    match range? {
        Range { low: 0, high: 0 } => Some(false),
        Range { low, high } if low > 0 || high < 0 => Some(true),
        _ => None,
    }
}

/// Whether a difference between these bounds compares with 0 so.
fn compare(op: BinaryOp, low: i128, high: i128) -> Option<bool> {
    let decide = |is_true: bool, is_false: bool| match (is_true, is_false) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    let (is_zero, is_nonzero) = (low == 0 && high == 0, low > 0 || high < 0);
    match op {
        BinaryOp::Eq => decide(is_zero, is_nonzero),
        BinaryOp::Ne => decide(is_nonzero, is_zero),
        BinaryOp::Lt => decide(high < 0, low >= 0),
        BinaryOp::Le => decide(high <= 0, low > 0),
        BinaryOp::Gt => decide(low > 0, high <= 0),
        BinaryOp::Ge => decide(low >= 0, high < 0),
        _ => None,
    }
}

/// The ranges of an expression and all its parts, from those of places. `refine` may narrow a range that
/// is known, or replace it.
fn evaluate<E>(
    exprs: &Exprs,
    expr: ExprId,
    tokens: impl Fn(usize) -> Option<Range>,
    mut refine: impl FnMut(ExprId, Range) -> Result<Option<Range>, E>,
) -> Result<FxHashMap<ExprId, Option<Range>>, E> {
    let mut parts = vec![expr];
    let mut ranges: FxHashMap<ExprId, Option<Range>> = FxHashMap::default();
    ranges.insert(expr, None);
    let mut next = 0;
    while let Some(&part) = parts.get(next) {
        next += 1;
        let operands = exprs.get(part).operands();
        parts.extend(operands.filter(|&operand| ranges.insert(operand, None).is_none()));
    }
    // Operands have smaller ids.
    parts.sort_unstable();
    for part in parts {
        let plain = match exprs.get(part) {
            Expr::Int(value) => Some(Range { low: value, high: value }),
            Expr::Var(var) => tokens(var.index()),
            Expr::Element { .. } => None,
            Expr::Unary(op, x) => unary(op, ranges[&x]),
            Expr::Binary(op, x, y) => binary(op, ranges[&x], ranges[&y]),
            Expr::Cond(condition, x, y) => match truth(ranges[&condition]) {
                Some(true) => ranges[&x],
                Some(false) => ranges[&y],
                None => None,
            },
        };
        let is_open = |range: &Range| range.low < range.high;
        let refined = plain.filter(is_open).map(|range| refine(part, range)).transpose()?;
        ranges.insert(part, refined.flatten().or(plain));
    }
    Ok(ranges)
}

fn unary(op: UnaryOp, x: Option<Range>) -> Option<Range> {
    match op {
        UnaryOp::Neg => {
            let Range { low, high } = x?;
            Some(Range { low: high.checked_neg()?, high: low.checked_neg()? })
        }
        UnaryOp::Not => Some(truth(x).map_or(x.map(|_| Range { low: 0, high: 1 })?, |truth| certain(!truth))),
        UnaryOp::BitNot | UnaryOp::Truncate { .. } => None,
    }
}

fn binary(op: BinaryOp, x: Option<Range>, y: Option<Range>) -> Option<Range> {
    // The second operand of these may be a fault if it is not needed.
    match (op, truth(x)) {
        (BinaryOp::And, Some(false)) => return Some(certain(false)),
        (BinaryOp::Or, Some(true)) => return Some(certain(true)),
        _ => {}
    }
    let (x, y) = (x?, y?);
    let all = |values: [Option<i64>; 4]| {
        let values = [values[0]?, values[1]?, values[2]?, values[3]?];
        Some(Range { low: *values.iter().min()?, high: *values.iter().max()? })
    };
    match op {
        BinaryOp::Add => Some(Range { low: x.low.checked_add(y.low)?, high: x.high.checked_add(y.high)? }),
        BinaryOp::Sub => Some(Range { low: x.low.checked_sub(y.high)?, high: x.high.checked_sub(y.low)? }),
        BinaryOp::Mul => all([
            x.low.checked_mul(y.low),
            x.low.checked_mul(y.high),
            x.high.checked_mul(y.low),
            x.high.checked_mul(y.high),
        ]),
        BinaryOp::And | BinaryOp::Or => {
            let (x, y) = (truth(Some(x)), truth(Some(y)));
            let known = if op == BinaryOp::And {
                if y == Some(false) { Some(false) } else { x.zip(y).map(|(x, y)| x && y) }
            } else if y == Some(true) {
                Some(true)
            } else {
                x.zip(y).map(|(x, y)| x || y)
            };
            Some(known.map_or(Range { low: 0, high: 1 }, certain))
        }
        _ if is_truth(op) => {
            let low = i128::from(x.low) - i128::from(y.high);
            let high = i128::from(x.high) - i128::from(y.low);
            Some(compare(op, low, high).map_or(Range { low: 0, high: 1 }, certain))
        }
        _ => None,
    }
}
