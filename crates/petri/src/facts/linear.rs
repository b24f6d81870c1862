//! Weighted sums of tokens with weights of any sign, and how large they can get.
//!
//! # Idea
//! If sums `y·m` never exceed their initial values *Y* (`invariants`), and `c ≤ Σ λ·y` place by place with
//! `λ ≥ 0`, then `c·m ≤ Σ λ·Y` in every marking, since markings are not negative; for a sum that never
//! changes, *λ* may be negative, too. Any such *λ* give a right bound, by weak duality of linear
//! programming; good ones are guessed, greedily, in integers. Nothing is ever rounded.

use std::collections::BTreeMap;

use base::{Budget, Limit};
use model::{BinaryOp, Expr, ExprId, Exprs, UnaryOp};

use super::Facts;
use crate::invariants::TokenSum;

/// More nodes than this are not looked at, for one sum.
const MAX_NODES: usize = 100_000;
/// So many sums are added up for one bound.
const MAX_ADDED: usize = 2_000;
/// So many places of sums are looked at for one bound.
const MAX_WORK: usize = 1_000_000;

/// `constant + Σ weight · place`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Linear {
    pub(crate) constant: i128,
    pub(crate) weights: BTreeMap<u32, i128>,
}

impl Linear {
    /// An expression as a weighted sum, if it is one.
    pub(crate) fn of(exprs: &Exprs, expr: ExprId) -> Option<Linear> {
        let mut linear = Linear::default();
        linear.add(exprs, expr, 1)?;
        Some(linear)
    }

    /// Adds a multiple of an expression.
    pub(crate) fn add(&mut self, exprs: &Exprs, expr: ExprId, factor: i128) -> Option<()> {
        let mut open = vec![(expr, factor)];
        for _ in 0..MAX_NODES {
            let Some((expr, factor)) = open.pop() else { return Some(()) };
            match exprs.get(expr) {
                Expr::Int(value) => {
                    self.constant = self.constant.checked_add(i128::from(value).checked_mul(factor)?)?;
                }
                Expr::Var(var) => {
                    let weight = self.weights.entry(var.index() as u32).or_default();
                    *weight = weight.checked_add(factor)?;
                }
                Expr::Unary(UnaryOp::Neg, x) => open.push((x, factor.checked_neg()?)),
                Expr::Binary(BinaryOp::Add, x, y) => open.extend([(x, factor), (y, factor)]),
                Expr::Binary(BinaryOp::Sub, x, y) => open.extend([(x, factor), (y, factor.checked_neg()?)]),
                Expr::Binary(BinaryOp::Mul, x, y) => match (exprs.get(x), exprs.get(y)) {
                    (Expr::Int(number), _) => open.push((y, factor.checked_mul(number.into())?)),
                    (_, Expr::Int(number)) => open.push((x, factor.checked_mul(number.into())?)),
                    _ => return None,
                },
                _ => return None,
            }
        }
        None
    }

    fn negated(&self) -> Option<Linear> {
        let negated = |(place, weight): (&u32, &i128)| Some((*place, weight.checked_neg()?));
        let weights = self.weights.iter().map(negated).collect::<Option<_>>()?;
        Some(Linear { constant: self.constant.checked_neg()?, weights })
    }

    /// The positive weights of places of a sum, each with its weight there.
    fn common(&self, sum: &TokenSum) -> Vec<(i128, i128)> {
        let pair = |(left, weight): (i128, i64)| (left > 0 && weight > 0).then_some((left, weight.into()));
        if self.weights.len() < sum.places.len() {
            let pairs = self.weights.iter().map(|(&place, &left)| (left, sum.weight(place)));
            pairs.filter_map(pair).collect()
        } else {
            let left = |place| self.weights.get(&place).copied().unwrap_or(0);
            sum.places.iter().map(|&(place, weight)| (left(place), weight)).filter_map(pair).collect()
        }
    }

    /// Subtracts a multiple of a sum.
    fn subtract(&mut self, sum: &TokenSum, factor: i128) -> Option<()> {
        for &(place, weight) in &sum.places {
            let known = self.weights.entry(place).or_default();
            *known = known.checked_sub(factor.checked_mul(weight.into())?)?;
        }
        self.constant = self.constant.checked_add(factor.checked_mul(sum.total)?)?;
        Some(())
    }
}

impl Facts {
    /// A number that the sum never exceeds; nothing if none is found.
    pub(super) fn at_most(&self, linear: &Linear, budget: &mut Budget<'_>) -> Result<Option<i128>, Limit> {
        let by_places = self.finish(linear);
        let by_some = self.by_sums(linear.clone(), false, budget)?;
        let by_all = self.by_sums(linear.clone(), true, budget)?;
        let by_one = self.by_one_sum(linear);
        Ok([by_places, by_one, by_some, by_all].into_iter().flatten().min())
    }

    /// A number that the sum is never below.
    pub(super) fn at_least(&self, linear: &Linear, budget: &mut Budget<'_>) -> Result<Option<i128>, Limit> {
        let Some(negated) = linear.negated() else { return Ok(None) };
        Ok(self.at_most(&negated, budget)?.and_then(i128::checked_neg))
    }

    /// With what is known about each place alone.
    fn finish(&self, linear: &Linear) -> Option<i128> {
        linear.weights.iter().try_fold(linear.constant, |total, (&place, &weight)| {
            let tokens = match weight {
                0 => 0,
                1.. => self.most[place as usize]?,
                _ => self.least[place as usize],
            };
            total.checked_add(weight.checked_mul(tokens.into())?)
        })
    }

    /// With sums, several if need be. What is subtracted can be made up by sums that never change, for
    /// which *λ* is negative: only by those where all places are subtracted, or by all, and then what is
    /// too much of other places must be covered.
    fn by_sums(&self, mut linear: Linear, all: bool, budget: &mut Budget<'_>) -> Result<Option<i128>, Limit> {
        if self.make_up(&mut linear, all).is_none() {
            return Ok(None);
        }
        // What is subtracted makes no place positive that was not: those before the first are done.
        let mut first = 0;
        let mut work = MAX_WORK;
        for _ in 0..MAX_ADDED {
            budget.tick()?;
            let Some((&place, _)) = linear.weights.range(first..).find(|(_, weight)| **weight > 0) else {
                return Ok(self.finish(&linear));
            };
            first = place;
            let best = self.best_sum(&linear, place, &mut work);
            if best.and_then(|(sum, factor)| linear.subtract(sum, factor)).is_none() {
                break;
            }
        }
        Ok(None)
    }

    /// Adds sums that never change where places are subtracted.
    fn make_up(&self, linear: &mut Linear, all: bool) -> Option<()> {
        let negative: Vec<u32> =
            linear.weights.iter().filter(|(_, weight)| **weight < 0).map(|(place, _)| *place).collect();
        for &place in &negative {
            // A sum of more places has one that is not subtracted.
            let is_useful = |sum: &&TokenSum| sum.is_constant && (all || sum.places.len() <= negative.len());
            for sum in self.sums_with(place).filter(is_useful) {
                let times = |&(place, weight): &(u32, i64)| {
                    let subtracted =
                        linear.weights.get(&place).map_or(0, |weight| weight.saturating_neg().max(0));
                    subtracted / i128::from(weight)
                };
                let counted = sum.places.iter().filter(|(its, _)| !all || *its == place);
                let factor = counted.map(times).min().unwrap_or(0);
                if factor > 0 {
                    linear.subtract(sum, -factor)?;
                }
            }
        }
        Some(())
    }

    /// The sum that covers most of what is left for its price, this place at least. Nothing if that takes too
    /// much work.
    fn best_sum(&self, linear: &Linear, place: u32, work: &mut usize) -> Option<(&TokenSum, i128)> {
        let mut best: Option<(&TokenSum, i128, i128, i128)> = None;
        for sum in self.sums_with(place) {
            // What is left of places of the sum, with their weights there.
            let left = linear.common(sum);
            *work = work.checked_sub(left.len())?;
            let rounded_up = |&(left, weight): &(i128, i128)| {
                left.checked_add(weight - 1).map_or(i128::MAX, |left| left / weight)
            };
            let factor = left.iter().map(rounded_up).max()?;
            let covered = |&(left, weight): &(i128, i128)| left.min(factor.saturating_mul(weight));
            let gain = left.iter().map(covered).fold(0i128, i128::saturating_add);
            let price = factor.saturating_mul(sum.total);
            let is_better = |&(_, _, best_gain, best_price): &(&TokenSum, i128, i128, i128)| {
                price.saturating_mul(best_gain) < best_price.saturating_mul(gain)
            };
            if best.as_ref().is_none_or(is_better) {
                best = Some((sum, factor, gain, price));
            }
        }
        best.map(|(sum, factor, ..)| (sum, factor))
    }

    /// With one sum and any fraction of it: `c ≤ (a/b)·y` gives `c·m ≤ a·Y/b`, rounded down.
    fn by_one_sum(&self, linear: &Linear) -> Option<i128> {
        let positive = || linear.weights.iter().filter(|(_, weight)| **weight > 0);
        let (&first, _) = positive().next()?;
        let mut best: Option<i128> = None;
        for sum in self.sums_with(first) {
            let mut fraction = (0i128, 1i128);
            let covers = positive().all(|(&place, &weight)| match i128::from(sum.weight(place)) {
                0 => false,
                its => {
                    let is_larger = fraction.0.checked_mul(its).zip(weight.checked_mul(fraction.1));
                    fraction =
                        if is_larger.is_some_and(|(old, new)| new > old) { (weight, its) } else { fraction };
                    is_larger.is_some()
                }
            });
            if covers && let Some(product) = fraction.0.checked_mul(sum.total) {
                let bound = product.div_euclid(fraction.1);
                best = Some(best.map_or(bound, |best| best.min(bound)));
            }
        }
        // What is subtracted is at least this much.
        let rest = linear.weights.iter().filter(|(_, weight)| **weight < 0).try_fold(
            linear.constant,
            |total, (&place, weight)| {
                total.checked_add(weight.checked_mul(self.least[place as usize].into())?)
            },
        );
        best?.checked_add(rest?)
    }
}
