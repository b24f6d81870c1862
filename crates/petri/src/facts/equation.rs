//! What the state equation says: truths that no solution of it allows, solutions that lead walks, and bounds of sums.
//!
//! A marking that can be reached is `m₀ + C·x`: *C* says what transitions do, *x ≥ 0* how often they fire. Proofs are
//! looked for by [`prover`](super::prover), within the work that all questions about a net share.

use std::sync::atomic::{AtomicU64, Ordering};

use base::{Budget, Limit};
use model::{ExprId, Exprs};
use rustc_hash::FxHashSet;

use super::Facts;
use super::certificate::{Moves, Row};
use super::linear::Linear;
use super::prover::Prover;
use super::simplex;
use crate::net::{Net, Transition};
use crate::sparse::Sparse;

/// Multiplications for all questions about a net.
const WORK: u64 = 2_000_000_000;
/// Of what is left, no question takes more than this part.
const SHARE: u64 = 16;
/// Where nothing is known of a sum, it is asked whether it can get this far.
const FAR: i64 = 1_000_000;

/// What moves tokens, for linear programs.
#[derive(Debug)]
pub(super) struct Equation {
    /// The different effects of transitions; nothing if there are too many for a program.
    effects: Option<Vec<Sparse>>,
    work: AtomicU64,
}

impl Clone for Equation {
    fn clone(&self) -> Equation {
        let work = AtomicU64::new(self.work.load(Ordering::Relaxed));
        Equation { effects: self.effects.clone(), work }
    }
}

impl Equation {
    pub(super) fn new(net: &Net) -> Equation {
        let work = AtomicU64::new(WORK);
        let mut known = FxHashSet::default();
        let mut effects = Vec::new();
        for transition in &net.transitions {
            let effect = effect(transition);
            if !effect.is_empty() && known.insert(effect.clone()) {
                effects.push(effect);
            }
            if !simplex::fits(effects.len(), net.places.len()) {
                return Equation { effects: None, work };
            }
        }
        Equation { effects: Some(effects), work }
    }

    pub(super) fn effects(&self) -> Option<&[Sparse]> {
        self.effects.as_deref()
    }
}

/// By how much a transition changes places.
pub(super) fn effect(transition: &Transition) -> Sparse {
    transition.changes().map(|(place, change)| (place.index() as u32, change)).collect()
}

impl Facts {
    pub(super) fn moves(&self) -> Moves<'_> {
        Moves { initial: &self.initial, transitions: &self.net.transitions }
    }

    fn prover<'f>(&'f self, exprs: &'f Exprs) -> Option<Prover<'f>> {
        let effects = self.equation.effects.as_deref()?;
        let left = self.equation.work.load(Ordering::Relaxed);
        Some(Prover::new(self, exprs, effects, left / SHARE))
    }

    fn spent(&self, before: u64, after: u64) {
        self.equation.work.fetch_sub(before - after, Ordering::Relaxed);
    }

    /// Looks for a proof that an expression, which is never a fault, never has this truth. Nothing if the net is too
    /// large for that.
    pub(super) fn refute<'f>(
        &'f self,
        exprs: &'f Exprs,
        expr: ExprId,
        truth: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Prover<'f>>, Limit> {
        let Some(mut prover) = self.prover(exprs) else { return Ok(None) };
        let before = prover.work;
        let proved = prover.prove(expr, truth, budget);
        self.spent(before, prover.work);
        proved.map(|()| Some(prover))
    }

    /// A number that a sum never exceeds, below one that is known already.
    pub(super) fn equation_bound(
        &self,
        exprs: &Exprs,
        linear: &Linear,
        known: Option<i64>,
        budget: &mut Budget<'_>,
    ) -> Result<Option<i64>, Limit> {
        let Some(mut prover) = self.prover(exprs) else { return Ok(None) };
        let least = i128::from(known.unwrap_or(FAR)) - linear.constant;
        let row = Row { weights: linear.weights.clone(), least, is_trap: false };
        let (before, rows) = (prover.work, [row]);
        let found = prover.certificate(&rows, f64::NEG_INFINITY, budget);
        self.spent(before, prover.work);
        let bound = found?.ok().and_then(|certificate| certificate.bound(&rows[0], &self.moves()));
        Ok(bound.and_then(|bound| i64::try_from(bound.checked_add(linear.constant)?).ok()))
    }
}
