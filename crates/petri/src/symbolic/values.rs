//! What is so of all markings of a diagram: how many there are, the greatest values, and which markings satisfy what.
//!
//! A comparison of a weighted sum is decided level by level: a set is left out, or taken as it is, as soon as the
//! least and the most that is still to come decide it. Conjunctions restrict one after the other; disjunctions are
//! unions; a negation is pushed inward.

use base::{Budget, Limit, Natural};
use language::{Enabled, Extent};
use model::{BinaryOp, Expr, ExprId, Exprs, UnaryOp};
use rustc_hash::FxHashMap;

use super::Symbolic;
use super::forest::{EMPTY, ENTRY_BYTES, Node, ONE};
use super::saturation::{DONE, Tail};
use crate::facts::Linear;

/// More nodes of an expression are not looked at, nor deeper ones.
const MAX_NODES: usize = 100_000;
const MAX_DEPTH: usize = 200;
/// Sums with greater weights might not fit in 64 bits.
const MAX_WEIGHTS: i128 = 1 << 30;

/// `low ≤ Σ weight · tokens ≤ high`, where weights are listed by level.
struct Between {
    weights: Vec<i128>,
    low: i128,
    high: i128,
    /// The least and the most that nodes add to the sum.
    ranges: FxHashMap<Node, (i128, i128)>,
    known: FxHashMap<(Node, i128), Node>,
}

impl language::Diagram for Symbolic {
    fn extent(&mut self, budget: &mut Budget<'_>) -> Result<Extent, Limit> {
        let (states, transitions) = self.count(budget)?;
        let most_together =
            self.fold(0, |_, arcs| arcs.map(|(tokens, below)| below + i128::from(tokens)).max().unwrap_or(0));
        let most = self.fold(0, |_, arcs| arcs.map(|(tokens, &below)| below.max(tokens)).max().unwrap_or(0));
        Ok(Extent { states, transitions, most_together, most: most.into() })
    }

    fn is_possible(
        &mut self,
        exprs: &Exprs,
        expr: ExprId,
        truth: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Option<bool>, Limit> {
        let found = Restriction { exprs, n_nodes: MAX_NODES }.of(self, (expr, truth), self.all, 0, budget)?;
        Ok(found.map(|found| found != EMPTY))
    }

    fn has_deadlock(&mut self, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        let mut needs: Vec<Vec<(u32, i64)>> = Vec::new();
        for transition in &self.net.transitions {
            let input = |&(place, weight): &(crate::net::PlaceId, i64)| (place.index() as u32, weight);
            needs.push(transition.inputs.iter().map(input).collect());
        }
        needs.sort_unstable();
        needs.dedup();
        let mut dead = self.all;
        for inputs in needs {
            let mut blocked = EMPTY;
            for (place, weight) in inputs {
                let mut between = self.between(&[(place, 1)], i128::MIN, i128::from(weight) - 1);
                let empty = self.restrict(&mut between, dead, 0, 0, budget)?;
                blocked = self.forest.union(blocked, empty, budget)?;
            }
            dead = blocked;
            if dead == EMPTY {
                break;
            }
        }
        Ok(dead != EMPTY)
    }

    fn greatest(
        &mut self,
        exprs: &Exprs,
        expr: ExprId,
        budget: &mut Budget<'_>,
    ) -> Result<Option<i64>, Limit> {
        budget.tick()?;
        let Some(linear) = Linear::of(exprs, expr).filter(fits) else { return Ok(None) };
        let greatest = self.fold(0, |place, arcs| {
            let weight = linear.weights.get(&place).copied().unwrap_or(0);
            arcs.map(|(tokens, below)| below + weight * i128::from(tokens)).max().unwrap_or(0)
        });
        Ok(i64::try_from(greatest + linear.constant).ok())
    }

    /// If the first marking can be reached again from everywhere, it is enough that each is enabled somewhere.
    fn are_live(
        &mut self,
        exprs: &Exprs,
        each: &[Enabled],
        budget: &mut Budget<'_>,
    ) -> Result<Option<bool>, Limit> {
        let mut enabled = Vec::with_capacity(each.len());
        for its in each {
            let restriction = &mut Restriction { exprs, n_nodes: MAX_NODES };
            let Some(some) = restriction.of(self, (its.expr, true), self.all, 0, budget)? else {
                return Ok(None);
            };
            if some == EMPTY {
                return Ok(Some(false));
            }
            enabled.push(some);
        }
        if self.before(self.initial, budget)? == self.all {
            return Ok(Some(true));
        }
        enabled.sort_unstable();
        enabled.dedup();
        for some in enabled {
            if self.before(some, budget)? != self.all {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }
}

/// Whether sums of tokens do not get too large for arithmetic.
fn fits(linear: &Linear) -> bool {
    let sum = linear.weights.values().try_fold(0_i128, |sum, weight| sum.checked_add(weight.checked_abs()?));
    sum.is_some_and(|sum| sum < MAX_WEIGHTS) && linear.constant.unsigned_abs() < 1 << 62
}

impl Symbolic {
    /// How many markings there are, and how many steps from them.
    ///
    /// Of a node, the steps that begin at its level or below are counted. So only where a step has begun must it be
    /// known how many markings below allow the rest of it.
    fn count(&mut self, budget: &mut Budget<'_>) -> Result<(Natural, Natural), Limit> {
        let levels = self.levels(self.all);
        let n_levels = self.places.len();
        let mut starting: Vec<Vec<Tail>> = vec![Vec::new(); n_levels];
        let mut n_free = 0;
        for &tail in &self.moves.of {
            match tail {
                // Nothing is needed or changed.
                DONE => n_free += 1,
                _ => starting[self.moves.cell(tail).level as usize].push(tail),
            }
        }
        // What must be known of each level, from the first one on.
        let mut pairs: Vec<Vec<(Tail, Node)>> = vec![vec![(DONE, self.all)]];
        for level in 0..n_levels {
            let mut below = Vec::new();
            let begun =
                levels[level].iter().flat_map(|&node| starting[level].iter().map(move |&tail| (tail, node)));
            for (tail, node) in pairs[level].iter().copied().chain(begun) {
                budget.tick()?;
                below.extend(self.below(level, tail, node));
            }
            below.sort_unstable();
            below.dedup();
            self.forest.take(8 * below.len() as u64, budget)?;
            pairs.push(below);
        }
        // How much it is, from the last one up.
        let one = Natural::from(1);
        let mut known: FxHashMap<(Tail, Node), Natural> =
            pairs[n_levels].iter().map(|&pair| (pair, one.clone())).collect();
        let mut steps: FxHashMap<Node, Natural> = FxHashMap::default();
        steps.insert(ONE, Natural::default());
        for level in (0..n_levels).rev() {
            let mut next = FxHashMap::default();
            for &node in &levels[level] {
                let mut count = Natural::default();
                self.forest.arcs(node).iter().for_each(|(_, child)| count.add(&steps[child]));
                for &tail in &starting[level] {
                    budget.tick()?;
                    self.below(level, tail, node).for_each(|pair| count.add(&known[&pair]));
                }
                next.insert(node, count);
            }
            steps = next;
            let mut next = FxHashMap::default();
            for &(tail, node) in &pairs[level] {
                budget.tick()?;
                let mut count = Natural::default();
                self.below(level, tail, node).for_each(|pair| count.add(&known[&pair]));
                next.insert((tail, node), count);
            }
            known = next;
        }
        let states = known.remove(&(DONE, self.all)).unwrap_or_default();
        let mut transitions = steps.remove(&self.all).unwrap_or_default();
        (0..n_free).for_each(|_| transitions.add(&states));
        Ok((states, transitions))
    }

    /// Where a step that is enabled so far leads the question: what it needs below, and of which sets.
    fn below(&self, level: usize, tail: Tail, node: Node) -> impl Iterator<Item = (Tail, Node)> {
        let cell = self.moves.cell(tail);
        let is_here = cell.level as usize == level;
        let (needs, next) = if is_here { (cell.needs, cell.next) } else { (0, tail) };
        let arcs = self.forest.arcs(node).iter();
        arcs.filter(move |(tokens, _)| i64::from(*tokens) >= needs).map(move |&(_, child)| (next, child))
    }

    /// That a sum of places is in an interval.
    fn between(&self, sum: &[(u32, i128)], low: i128, high: i128) -> Between {
        let mut weights = vec![0; self.places.len()];
        sum.iter().for_each(|&(place, weight)| weights[self.level_of[place as usize] as usize] = weight);
        Between { weights, low, high, ranges: FxHashMap::default(), known: FxHashMap::default() }
    }

    /// The least and the most that the levels from one on add to the sum.
    fn range(&self, between: &mut Between, node: Node, level: usize) -> (i128, i128) {
        if node == ONE {
            return (0, 0);
        }
        if let Some(&known) = between.ranges.get(&node) {
            return known;
        }
        let mut range = (i128::MAX, i128::MIN);
        for number in 0..self.forest.n_arcs(node) {
            let (tokens, child) = self.forest.arc(node, number);
            let (low, high) = self.range(between, child, level + 1);
            let own = between.weights[level] * i128::from(tokens);
            range = (range.0.min(low + own), range.1.max(high + own));
        }
        between.ranges.insert(node, range);
        range
    }

    /// The markings of a set in which the sum is in the interval, if so much was added before.
    fn restrict(
        &mut self,
        between: &mut Between,
        node: Node,
        level: usize,
        before: i128,
        budget: &mut Budget<'_>,
    ) -> Result<Node, Limit> {
        if node == EMPTY {
            return Ok(EMPTY);
        }
        let (low, high) = self.range(between, node, level);
        if before + low >= between.low && before + high <= between.high {
            return Ok(node);
        }
        if before + low > between.high || before + high < between.low {
            return Ok(EMPTY);
        }
        if let Some(&known) = between.known.get(&(node, before)) {
            return Ok(known);
        }
        let mut arcs = Vec::with_capacity(self.forest.n_arcs(node));
        for number in 0..self.forest.n_arcs(node) {
            let (tokens, child) = self.forest.arc(node, number);
            let with = before + between.weights[level] * i128::from(tokens);
            let child = self.restrict(between, child, level + 1, with, budget)?;
            arcs.extend((child != EMPTY).then_some((tokens, child)));
        }
        let found = self.forest.node(&arcs, budget)?;
        self.forest.take(2 * ENTRY_BYTES, budget)?;
        between.known.insert((node, before), found);
        Ok(found)
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne)
        || matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
}

/// Finds the markings in which expressions have a truth.
struct Restriction<'e> {
    exprs: &'e Exprs,
    /// Nodes of expressions that may still be looked at.
    n_nodes: usize,
}

impl Restriction<'_> {
    /// The markings of a set in which an expression has a truth; nothing if that cannot be told.
    fn of(
        &mut self,
        symbolic: &mut Symbolic,
        (expr, truth): (ExprId, bool),
        within: Node,
        depth: usize,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Node>, Limit> {
        budget.tick()?;
        // All of these must be so.
        let (mut open, mut left) = (vec![(expr, truth)], within);
        while let Some((expr, truth)) = open.pop() {
            if self.n_nodes == 0 || depth == MAX_DEPTH {
                return Ok(None);
            }
            self.n_nodes -= 1;
            let found = match (self.exprs.get(expr), truth) {
                (Expr::Unary(UnaryOp::Not, x), _) => {
                    open.push((x, !truth));
                    continue;
                }
                (Expr::Binary(BinaryOp::And, x, y), true) | (Expr::Binary(BinaryOp::Or, x, y), false) => {
                    open.extend([(y, truth), (x, truth)]);
                    continue;
                }
                (Expr::Binary(BinaryOp::And | BinaryOp::Or, ..), _) => {
                    self.one_of(symbolic, (expr, truth), left, depth, budget)?
                }
                _ => self.comparison(symbolic, (expr, truth), left, budget)?,
            };
            match found {
                Some(found) => left = found,
                None => return Ok(None),
            }
        }
        Ok(Some(left))
    }

    /// The same where one of several parts is enough.
    fn one_of(
        &mut self,
        symbolic: &mut Symbolic,
        (expr, truth): (ExprId, bool),
        within: Node,
        depth: usize,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Node>, Limit> {
        let op = if truth { BinaryOp::Or } else { BinaryOp::And };
        let (mut open, mut all) = (vec![expr], EMPTY);
        while let Some(expr) = open.pop() {
            match self.exprs.get(expr) {
                Expr::Binary(its, x, y) if its == op => open.extend([y, x]),
                _ => match self.of(symbolic, (expr, truth), within, depth + 1, budget)? {
                    Some(some) => all = symbolic.forest.union(all, some, budget)?,
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(all))
    }

    /// The same of a comparison of sums, or of a sum that is a truth.
    fn comparison(
        &mut self,
        symbolic: &mut Symbolic,
        (expr, truth): (ExprId, bool),
        within: Node,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Node>, Limit> {
        let (op, difference) = match self.exprs.get(expr) {
            Expr::Binary(op, x, y) if is_comparison(op) => {
                let difference = Linear::of(self.exprs, x)
                    .and_then(|mut difference| difference.add(self.exprs, y, -1).map(|()| difference));
                (op, difference)
            }
            _ => (BinaryOp::Ne, Linear::of(self.exprs, expr)),
        };
        let Some(linear) = difference.filter(fits) else { return Ok(None) };
        let sum: Vec<(u32, i128)> = linear.weights.iter().map(|(place, weight)| (*place, *weight)).collect();
        // The constant is on the other side.
        let at = -linear.constant;
        let (below, above) = ((i128::MIN, at - 1), (at + 1, i128::MAX));
        let intervals: &[(i128, i128)] = match (op, truth) {
            (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => &[below],
            (BinaryOp::Le, true) | (BinaryOp::Gt, false) => &[(i128::MIN, at)],
            (BinaryOp::Gt, true) | (BinaryOp::Le, false) => &[above],
            (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => &[(at, i128::MAX)],
            (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => &[(at, at)],
            (BinaryOp::Eq, false) | (BinaryOp::Ne, true) => &[below, above],
            _ => return Ok(None),
        };
        let mut all = EMPTY;
        for &(low, high) in intervals {
            let mut between = symbolic.between(&sum, low, high);
            let some = symbolic.restrict(&mut between, within, 0, 0, budget)?;
            all = symbolic.forest.union(all, some, budget)?;
        }
        Ok(Some(all))
    }
}
