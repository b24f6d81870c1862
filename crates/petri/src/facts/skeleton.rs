//! The skeleton of a colored net: the same net without its colors, which is much smaller than the unfolded one.
//!
//! # Idea
//! A place of the skeleton has the tokens of all colors of a written place; a transition of the skeleton is a binding
//! without its colors. So every run of the net is one of the skeleton, which has more: what holds in all its markings, of
//! the sums that it knows, holds in the net. A question about colors becomes a weaker one about sums: if
//! `Σ w·p + c ≥ 0` in the net, then `Σ w'·P + c ≥ 0` in the skeleton, where *w'* of a place is the greatest *w* of its
//! colors (those that are not mentioned have 0). If the weaker one is never true, neither is the other.
//!
//! What is shown is exact; the skeleton shows nothing that the unfolded net could not, but programs of the unfolded net
//! may be too large.
//!
//! # References
//! F. Vernadat, P. Azéma, F. Michel, *Covering step graph* (1996) and others use it for invariants; A. Bilgram, P.
//! Jensen, T. Pedersen, J. Srba, P. Taankvist, *Methods for efficient unfolding of colored Petri nets* (2023), for a color-blind
//! over-approximation.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Budget, Diagnostics, Limit};
use language::Facts as _;
use model::{BinaryOp, Expr, ExprId, Exprs, UnaryOp};

use super::Facts;
use super::linear::Linear;
use crate::lower::variable;
use crate::net::{Group, Names, Net, NodeId, Place, PlaceId, Transition};
use crate::structural::Reducer;

/// More nodes of an expression are not looked at.
const MAX_NODES: usize = 20_000;

/// Places and how many tokens are moved.
type Arcs = Vec<(PlaceId, i64)>;

/// A colored net without its colors, and what is known about it.
#[derive(Clone, Debug)]
pub(super) struct Skeleton {
    facts: Facts,
    /// The written place of each place, and how many colors it has.
    written: Vec<u32>,
    n_colors: Vec<usize>,
}

impl Skeleton {
    /// The skeleton of a net that was unfolded from a smaller one; transitions that never fire are left out.
    pub(super) fn new(
        net: &Net,
        is_dead: &[bool],
        budget: &mut Budget<'_>,
    ) -> Result<Option<Box<Skeleton>>, Limit> {
        let Some(colors) = &net.colors else { return Ok(None) };
        let groups: Vec<Group<PlaceId>> = net.written_places().collect();
        if groups.len() >= net.places.len() {
            return Ok(None);
        }
        let mut written = vec![0; net.places.len()];
        let mut places = Vec::with_capacity(groups.len());
        for ((number, group), (id, _)) in groups.iter().enumerate().zip(colors.written_places()) {
            let mut initial = 0_i64;
            for place in group.iter() {
                written[place.index()] = number as u32;
                let Some(sum) = initial.checked_add(net.place(place).initial) else { return Ok(None) };
                initial = sum;
            }
            places.push(Place { id: id.to_owned(), name: None, initial });
        }
        let mut known: BTreeMap<(Arcs, Arcs), usize> = BTreeMap::new();
        for (index, transition) in net.transitions.iter().enumerate().filter(|(index, _)| !is_dead[*index]) {
            budget.tick()?;
            let arcs = |arcs: &[(PlaceId, i64)]| -> Option<Arcs> {
                let mut sums: BTreeMap<PlaceId, i64> = BTreeMap::new();
                for &(place, weight) in arcs {
                    let sum = sums.entry(PlaceId::at(written[place.index()] as usize)).or_default();
                    *sum = sum.checked_add(weight)?;
                }
                Some(sums.into_iter().collect())
            };
            let Some(both) = arcs(&transition.inputs).zip(arcs(&transition.outputs)) else { return Ok(None) };
            known.entry(both).or_insert(index);
        }
        let transition = |((inputs, outputs), index): ((Arcs, Arcs), usize)| {
            let id = net.transitions[index].id.clone();
            Transition { id, name: None, inputs, outputs }
        };
        let transitions: Vec<Transition> = known.into_iter().map(transition).collect();
        let skeleton = Net {
            id: net.id.clone(),
            name: None,
            names: Names::of(&places, &transitions),
            places,
            transitions,
            units: None,
            colors: None,
            warnings: Diagnostics::new(),
        };
        let reducer = Arc::new(Reducer::new(Arc::new(skeleton), budget)?);
        let facts = Facts::new(&reducer, budget)?;
        Ok(Some(Box::new(Skeleton {
            facts,
            written,
            n_colors: groups.iter().map(|group| group.len()).collect(),
        })))
    }

    /// Whether it shows that an expression never has a truth.
    pub(super) fn refutes(
        &self,
        exprs: &Exprs,
        expr: ExprId,
        truth: bool,
        budget: &mut Budget<'_>,
    ) -> Result<bool, Limit> {
        let Some((weaker, expr)) = self.weaker(exprs, expr, truth) else { return Ok(false) };
        Ok(self.facts.shown(&weaker, expr, budget)?.is_some_and(|(truth, _)| !truth))
    }

    /// Why, in words.
    pub(super) fn words(
        &self,
        exprs: &Exprs,
        expr: ExprId,
        truth: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Vec<String>>, Limit> {
        let Some((weaker, expr)) = self.weaker(exprs, expr, truth) else { return Ok(None) };
        self.facts.proof(&weaker, expr, true, budget)
    }

    /// A number that a sum never exceeds.
    pub(super) fn bound(&self, linear: &Linear, budget: &mut Budget<'_>) -> Result<Option<i64>, Limit> {
        let mut exprs = Exprs::new();
        let Some(sum) = self.sum(linear, &mut exprs) else { return Ok(None) };
        Ok(self.facts.upper_bound(&exprs, sum, budget)?.map(|(bound, _)| bound))
    }

    /// What is true of the sums if an expression has a truth.
    fn weaker(&self, exprs: &Exprs, expr: ExprId, truth: bool) -> Option<(Exprs, ExprId)> {
        let (mut weaker, mut left) = (Exprs::new(), MAX_NODES);
        let expr = self.truth(exprs, (expr, truth), &mut weaker, &mut left, 0)?;
        Some((weaker, expr))
    }

    fn truth(
        &self,
        exprs: &Exprs,
        (expr, truth): (ExprId, bool),
        to: &mut Exprs,
        left: &mut usize,
        depth: usize,
    ) -> Option<ExprId> {
        *left = left.checked_sub(1)?;
        // Nothing is known of what is nested deeper, nor of what is no comparison.
        if depth > 500 {
            return Some(to.int(1));
        }
        Some(match exprs.get(expr) {
            Expr::Int(value) => to.int(((value != 0) == truth).into()),
            Expr::Unary(UnaryOp::Not, x) => self.truth(exprs, (x, !truth), to, left, depth + 1)?,
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), x, y) => {
                let x = self.truth(exprs, (x, truth), to, left, depth + 1)?;
                let y = self.truth(exprs, (y, truth), to, left, depth + 1)?;
                let is_and = (op == BinaryOp::And) == truth;
                to.binary(if is_and { BinaryOp::And } else { BinaryOp::Or }, x, y)
            }
            Expr::Binary(op, x, y) => {
                let mut below = |x, y, by| self.below(exprs, (x, y), by, to);
                let (ways, op) = match (op, truth) {
                    (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => (vec![below(x, y, 1)], BinaryOp::And),
                    (BinaryOp::Le, true) | (BinaryOp::Gt, false) => (vec![below(x, y, 0)], BinaryOp::And),
                    (BinaryOp::Gt, true) | (BinaryOp::Le, false) => (vec![below(y, x, 1)], BinaryOp::And),
                    (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => (vec![below(y, x, 0)], BinaryOp::And),
                    (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => {
                        (vec![below(x, y, 0), below(y, x, 0)], BinaryOp::And)
                    }
                    (BinaryOp::Eq | BinaryOp::Ne, _) => (vec![below(x, y, 1), below(y, x, 1)], BinaryOp::Or),
                    _ => (Vec::new(), BinaryOp::And),
                };
                to.fold(op, 1, &ways)
            }
            _ => to.int(1),
        })
    }

    /// That the first is below the second by so much at least, of the sums; true if that cannot be said.
    fn below(&self, exprs: &Exprs, (x, y): (ExprId, ExprId), by: i128, to: &mut Exprs) -> ExprId {
        let sum = Linear::of(exprs, y).and_then(|mut difference| {
            difference.add(exprs, x, -1)?;
            difference.constant = difference.constant.checked_sub(by)?;
            self.sum(&difference, to)
        });
        let zero = to.int(0);
        match sum {
            Some(sum) => to.binary(BinaryOp::Ge, sum, zero),
            None => to.int(1),
        }
    }

    /// A sum of written places that is never less than a sum of places.
    fn sum(&self, linear: &Linear, to: &mut Exprs) -> Option<ExprId> {
        // Per written place, the greatest weight, and how many colors have one.
        let mut greatest: BTreeMap<u32, (i128, usize)> = BTreeMap::new();
        for (&place, &weight) in &linear.weights {
            let of = greatest.entry(self.written[place as usize]).or_insert((i128::MIN, 0));
            *of = (of.0.max(weight), of.1 + 1);
        }
        let mut terms = vec![to.int(i64::try_from(linear.constant).ok()?)];
        for (place, (weight, n_colors)) in greatest {
            let weight = if n_colors < self.n_colors[place as usize] { weight.max(0) } else { weight };
            if weight != 0 {
                let (weight, tokens) =
                    (to.int(i64::try_from(weight).ok()?), to.var(variable(PlaceId::at(place as usize))));
                terms.push(to.binary(BinaryOp::Mul, weight, tokens));
            }
        }
        Some(to.fold(BinaryOp::Add, 0, &terms))
    }
}
