//! That the first marking can be reached again from every marking.
//!
//! # Idea
//! Let every place have a weight of 0 or more, and let *H* be the transitions that make the weighted sum of tokens smaller. From
//! whatever marking, *H* alone comes to an end: the sum is an integer and not negative. If every reachable marking in which no transition
//! of *H* is enabled is the first one, all ways home are found. Then a transition is live if and only if it can fire at all.
//!
//! That a marking in which *H* has ended is the first one is shown place by place: it has neither more tokens than at first, nor
//! fewer. Where that is known of all places that have a weight, the others follow from it, if they do.
//!
//! # How
//! A weight says what it costs to bring a token home: a transition takes no more from the sum than it has tokens to take. The greatest
//! weights of this kind are found by a linear program, rounded, and then anything may be wrong with them: what is shown is
//! shown for any weights, by the state equation ([`prover`](super::prover)).
//!
//! # References
//! Home markings: T. Murata, *Petri nets: properties, analysis and applications* (1989). The argument is an ordinary ranking function,
//! as for self-stabilization (E. W. Dijkstra, 1974); the choice of weights is ours.

use base::{Budget, Limit};
use model::{BinaryOp, ExprId, Exprs, UnaryOp};

use super::Facts;
use super::certificate::scales;
use super::simplex::{self, Program};
use crate::net::{PlaceId, Transition};
use crate::predicates::{compare, enabled};

/// Multiplications for the weights.
const WORK: u64 = 200_000_000;
/// Larger nets are not looked at.
const MAX_PLACES: usize = 2_000;

impl Facts {
    /// Whether it is shown that the first marking can be reached from every marking.
    pub(super) fn returns(&self, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        if self.initial.len() > MAX_PLACES {
            return Ok(false);
        }
        match self.costs(budget)? {
            Some(weights) => self.returns_by(&weights, budget),
            None => Ok(false),
        }
    }

    /// What it may cost to bring a token home from each place.
    fn costs(&self, budget: &mut Budget<'_>) -> Result<Option<Vec<i128>>, Limit> {
        let is_away = |place: PlaceId| self.initial[place.index()] == 0;
        let mut program = Program { rows: Vec::new(), limits: Vec::new(), cost: Vec::new() };
        for transition in &self.net.transitions {
            let changes = transition.changes().filter(|&(place, _)| is_away(place));
            program
                .rows
                .push(changes.map(|(place, change)| (place.index() as u32, -change as f64)).collect());
            program.limits.push(transition.inputs.iter().map(|(_, weight)| *weight as f64).sum());
        }
        program.cost = self.initial.iter().map(|&tokens| if tokens == 0 { -1.0 } else { 0.0 }).collect();
        let solved = simplex::minimize(&program, f64::NEG_INFINITY, &mut WORK.clone(), budget)?;
        // Any integers will do; a multiple that has only such is likely to be good.
        Ok(solved.and_then(|solution| {
            let scale = scales(&[], &solution.values).find(|scale| {
                solution.values.iter().all(|value| (value * scale - (value * scale).round()).abs() < 1e-3)
            })?;
            Some(solution.values.iter().map(|value| (value * scale).round() as i128).collect())
        }))
    }

    /// Whether these weights show it.
    fn returns_by(&self, weights: &[i128], budget: &mut Budget<'_>) -> Result<bool, Limit> {
        let Some(homeward) = homeward(weights, &self.net.transitions) else { return Ok(false) };
        let mut settled = vec![false; weights.len()];
        // A place that somebody empties who needs nothing else is empty.
        for transition in &homeward {
            if let [(place, 1)] = transition.inputs[..] {
                settled[place.index()] |= self.initial[place.index()] == 0;
            }
        }
        let mut exprs = Exprs::new();
        let disabled = |transition: &Transition, exprs: &mut Exprs| {
            let enabled = enabled(exprs, transition);
            exprs.unary(UnaryOp::Not, enabled)
        };
        let ended: Vec<ExprId> =
            homeward.into_iter().map(|transition| disabled(transition, &mut exprs)).collect();
        let ended = exprs.fold(BinaryOp::And, 1, &ended);
        let (heavy, light): (Vec<usize>, Vec<usize>) =
            (0..weights.len()).partition(|&place| weights[place] > 0);
        if !self.settle(&heavy, ended, &mut settled, &mut exprs, budget)? {
            return Ok(false);
        }
        let at_home: Vec<ExprId> = heavy
            .iter()
            .map(|&place| {
                let op = if self.initial[place] == 0 { BinaryOp::Le } else { BinaryOp::Eq };
                compare(&mut exprs, op, &[PlaceId::new(place)], self.initial[place])
            })
            .collect();
        let at_home = exprs.fold(BinaryOp::And, 1, &at_home);
        self.settle(&light, at_home, &mut settled, &mut exprs, budget)
    }

    /// Whether these places have the tokens that they had at first, wherever an expression is true and the places that are settled have them.
    fn settle(
        &self,
        places: &[usize],
        given: ExprId,
        settled: &mut [bool],
        exprs: &mut Exprs,
        budget: &mut Budget<'_>,
    ) -> Result<bool, Limit> {
        self.settle_by_sums(settled, budget)?;
        for &place in places {
            if settled[place] {
                continue;
            }
            let first = self.initial[place];
            let may_be_more = self.most[place].is_none_or(|most| most > first);
            let may_be_less = self.least[place] < first;
            let more = may_be_more.then(|| first.checked_add(1).map(|more| (BinaryOp::Ge, more)));
            let less = may_be_less.then_some(Some((BinaryOp::Le, first - 1)));
            for other in more.into_iter().chain(less) {
                let Some((op, tokens)) = other else { return Ok(false) };
                let other = compare(exprs, op, &[PlaceId::new(place)], tokens);
                let both = exprs.binary(BinaryOp::And, given, other);
                let prover = self.refute(exprs, both, true, budget)?;
                if prover.and_then(|prover| prover.argument()).is_none() {
                    return Ok(false);
                }
            }
            settled[place] = true;
            self.settle_by_sums(settled, budget)?;
        }
        Ok(true)
    }

    /// Where a sum never changes and all its places but one are settled, that one is, too.
    fn settle_by_sums(&self, settled: &mut [bool], budget: &mut Budget<'_>) -> Result<(), Limit> {
        let mut is_done = false;
        while !is_done {
            is_done = true;
            for sum in self.sums.iter().filter(|sum| sum.is_constant) {
                budget.tick()?;
                let mut open =
                    sum.places.iter().filter(|(place, weight)| *weight != 0 && !settled[*place as usize]);
                if let (Some(&(place, _)), None) = (open.next(), open.next()) {
                    (settled[place as usize], is_done) = (true, false);
                }
            }
        }
        Ok(())
    }
}

/// The transitions that make a weighted sum smaller; nothing if a weight is negative, or a number too large.
fn homeward<'t>(weights: &[i128], transitions: &'t [Transition]) -> Option<Vec<&'t Transition>> {
    if weights.iter().any(|weight| *weight < 0) {
        return None;
    }
    let mut homeward = Vec::new();
    for transition in transitions {
        let change = transition.changes().try_fold(0_i128, |sum, (place, change)| {
            sum.checked_add(weights[place.index()].checked_mul(change.into())?)
        })?;
        homeward.extend((change < 0).then_some(transition));
    }
    Some(homeward)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use base::Diagnostics;
    use fastrand::Rng;

    use super::*;
    use crate::net::{Names, Net, Place};
    use crate::structural::Reducer;

    fn random(rng: &mut Rng) -> Net {
        let n_places = rng.usize(2..5);
        let arcs = |rng: &mut Rng| -> Vec<(PlaceId, i64)> {
            let weight = |rng: &mut Rng| [0, 0, 1, 1, 2][rng.usize(0..5)];
            let arc = |place| Some((PlaceId::new(place), weight(rng))).filter(|arc| arc.1 > 0);
            (0..n_places).filter_map(arc).collect()
        };
        let place = |index: usize, initial| Place { id: format!("p{index}"), name: None, initial };
        let mut net = Net {
            id: String::new(),
            name: None,
            places: (0..n_places).map(|index| place(index, rng.i64(-2..3).max(0))).collect(),
            transitions: Vec::new(),
            units: None,
            colors: None,
            warnings: Diagnostics::new(),
            names: Names::default(),
        };
        for _ in 0..rng.usize(1..6) {
            let (inputs, outputs) = (arcs(rng), arcs(rng));
            // Somewhere, and often back.
            if rng.bool() {
                let (inputs, outputs) = (outputs.clone(), inputs.clone());
                net.transitions.push(Transition { id: String::new(), name: None, inputs, outputs });
            }
            net.transitions.push(Transition { id: String::new(), name: None, inputs, outputs });
        }
        net
    }

    /// Whether the first marking can be reached from all; nothing if there are many.
    fn returns(net: &Net) -> Option<bool> {
        let first: Vec<i64> = net.places.iter().map(|place| place.initial).collect();
        let mut markings = vec![first];
        let mut edges: Vec<Vec<usize>> = Vec::new();
        while let Some(marking) = markings.get(edges.len()).cloned() {
            let mut targets = Vec::new();
            for transition in &net.transitions {
                let mut next = marking.clone();
                if transition.fire(&mut next) {
                    let known = markings.iter().position(|its| *its == next);
                    targets.push(known.unwrap_or(markings.len()));
                    markings.extend(known.is_none().then_some(next));
                }
            }
            edges.push(targets);
            if markings.len() > 300 {
                return None;
            }
        }
        let mut home: BTreeSet<usize> = [0].into();
        while let Some(next) =
            (0..edges.len()).find(|at| !home.contains(at) && edges[*at].iter().any(|to| home.contains(to)))
        {
            home.insert(next);
        }
        Some(home.len() == markings.len())
    }

    #[test]
    fn what_is_shown_is_so_whatever_the_weights_are() {
        let mut rng = Rng::with_seed(18);
        let (mut n_shown, mut n_lies, mut n_true) = (0, 0, 0);
        let budget = &mut Budget::unlimited();
        for _ in 0..6_000 {
            let net = Arc::new(random(&mut rng));
            let Some(truth) = returns(&net) else { continue };
            n_true += u32::from(truth);
            let reducer = Arc::new(Reducer::new(net.clone(), budget).unwrap());
            let facts = Facts::new(&reducer, budget).unwrap();
            let shown = facts.returns(budget).unwrap();
            assert!(truth || !shown, "{:?}", net.transitions);
            n_shown += u32::from(shown && !net.transitions.is_empty());
            for _ in 0..4 {
                let weights: Vec<i128> = net.places.iter().map(|_| rng.i128(-1..4)).collect();
                let shown = facts.returns_by(&weights, budget).unwrap();
                assert!(truth || !shown, "{weights:?} {:?}", net.transitions);
                n_lies += u32::from(shown);
            }
        }
        assert!(n_shown > 40 && n_lies > 300, "{n_shown} by the program, {n_lies} by chance, of {n_true}");
    }
}
