//! Whether a system has a run that an automaton accepts, on a device: liveness without a depth-first order.
//!
//! # Idea
//! The product of the system with a TGBA is an action system, too: a step is an action and an edge of the automaton, whose label is one
//! more guard, and two variables tell the state of the automaton and the marks of the last edge. So its states are found as those
//! of any other system. Then states are removed that are on no accepting run, until nothing changes: those without a step to a
//! state that is left, and, for each mark, those from which no state with that mark can be reached through states that are left.
//! Iff something is left, there is an accepting run.
//!
//! # Why it is right
//! That is the fixpoint of Emerson and Lei. *Whatever is on an accepting run stays:* all its successors on the run are on one, and each mark
//! comes again. *Whatever stays begins an accepting run:* from a state that is left, a way through such states leads to
//! one with the first mark; from there, a step leads to one that is left, from which there is a way to the second mark; and so on.
//!
//! # Requirements and limits
//! All runs count, and a run that comes to a deadlock stays there. Chains, and guards that wait for others, are left to the
//! processor; so is a product in which something goes wrong or is hard. If something is left, there is no run here: the processor looks for one.
//!
//! # References
//! Emerson and Lei, *Efficient model checking in fragments of the propositional mu-calculus*, LICS 1986.

use automata::Tgba;
use base::device::Device;
use base::{Budget, Limit};
use ltl::Prop;
use model::tables::Tables;
use model::{
    Action, ActionSystem, BinaryOp, ExprId, Guard, GuardId, LabelId, Stmt, UnaryOp, ValueSet, VarId, Variable,
};

use super::states::Search;
use crate::search::{Goal, Stats};

/// A product of more actions is left to the processor.
const MAX_ACTIONS: usize = 1 << 16;

/// A label of more cubes is, too; so is an automaton of more marks.
const MAX_CUBES: usize = 64;
const MAX_MARKS: u32 = 8;

/// Bits of codes: a state that was removed, and one from which a mark can be reached.
const REMOVED: u8 = 1;
const REACHES: u8 = 2;

/// What is done with the states that have none of some bits: see `Lanes::sift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sieve {
    /// Those with a step to a state that is left and has these bits.
    Some(u8),
    /// Those without.
    None(u8),
    /// Those in which a proposition is true.
    True(usize),
    /// All.
    All,
    /// All, from which the bits are taken.
    Clear,
}

/// What a device found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// There is no accepting run, in a product of this size.
    Nothing(Stats),
    /// There is one.
    Something,
    /// It must be asked otherwise.
    Unknown,
}

/// Looks for a run that a TGBA accepts.
pub(crate) fn search(
    system: &ActionSystem,
    tgba: &Tgba,
    propositions: &[(Prop, usize)],
    device: &dyn Device,
    budget: &mut Budget<'_>,
) -> Found {
    let Some(Product { system, marks, goals }) = Product::new(system, tgba, propositions) else {
        return Found::Unknown;
    };
    let Ok(tables) = Tables::of(&system) else { return Found::Unknown };
    let then = |search: &mut Search<'_, '_, '_, '_>| search.is_empty(&marks);
    let (explored, is_empty) = super::growing(&system, &tables, &goals, device, budget, then);
    let is_whole = explored.stop.is_none() && explored.faults.iter().all(Option::is_none);
    match is_empty {
        Some(Ok(Some(true))) if is_whole => Found::Nothing(explored.stats),
        Some(Ok(Some(false))) if is_whole => Found::Something,
        _ => Found::Unknown,
    }
}

/// A product, as an action system.
struct Product {
    system: ActionSystem,
    /// The propositions that tell the marks of the last edge.
    marks: Vec<usize>,
    /// What is always true, unless a proposition cannot be evaluated.
    goals: Vec<Goal>,
}

impl Product {
    fn new(system: &ActionSystem, tgba: &Tgba, propositions: &[(Prop, usize)]) -> Option<Product> {
        let n_edges: usize = tgba.states().map(|state| tgba.edges(state).len()).sum();
        let is_plain = !system.has_chains() && system.holder().is_none();
        let is_quiet = |guard: &Guard| *guard == Guard::Quiet;
        let n_actions = system.actions().len();
        if !is_plain
            || system.guards().iter().any(is_quiet)
            || n_edges == 0
            || n_actions == 0
            || (n_actions + 1).saturating_mul(n_edges) > MAX_ACTIONS
            || tgba.n_marks() > MAX_MARKS
        {
            return None;
        }
        let mut whole = system.clone();
        let mut parts = system.to_parts();
        let (observer, marks) = (VarId::new(parts.variables.len()), VarId::new(parts.variables.len() + 1));
        parts.variables.push(Variable::new("observer", 0, tgba.n_states() as i64 - 1));
        parts.variables.push(Variable::new("marks", 0, tgba.all_marks().0 as i64));
        let mut guard = |guard: Guard| {
            parts.guards.push(guard);
            GuardId::new(parts.guards.len() - 1)
        };
        let quiet = guard(Guard::Quiet);
        parts.actions.clear();
        for state in tgba.states() {
            let here = state.index() as i64;
            let is_here = guard(Guard::In(observer, ValueSet::Range(here, here)));
            for edge in tgba.edges(state) {
                let holds = guard(Guard::True(label(&mut whole, tgba, edge.label, propositions)?));
                let moves =
                    [Stmt::set(observer, edge.target.index() as i64), Stmt::set(marks, edge.marks.0 as i64)];
                for action in system.actions() {
                    let mut action: Action = action.clone();
                    action.guards.extend([is_here, holds]);
                    action.effect.extend(moves.iter().cloned());
                    parts.actions.push(action);
                }
                // Where the system cannot do anything, it stays; where the automaton cannot, it cannot here, either.
                let guards = vec![quiet, is_here, holds];
                let rest =
                    Action { label: LabelId::new(0), guards, effect: moves.into(), owners: Vec::new() };
                parts.actions.push(rest);
            }
        }
        parts.goes_on = vec![None; parts.actions.len()];
        let initial = tgba.initial().index() as i64;
        parts.initial.iter_mut().for_each(|values| values.extend([initial, 0]));
        let mut product = whole.with_parts(parts).ok()?;
        let now = product.exprs.var(marks);
        let mut is_marked = |mark: u32| {
            let bit = product.exprs.int(1 << mark);
            let expr = product.exprs.binary(BinaryOp::BitAnd, now, bit);
            product.add_proposition("mark", expr)
        };
        let marks = (0..tgba.n_marks()).map(&mut is_marked).collect();
        let mut goals = Vec::new();
        for &(_, number) in propositions {
            let (expr, truth) = (product.propositions()[number].expr, product.exprs.int(1));
            let expr = product.exprs.binary(BinaryOp::Or, expr, truth);
            goals.push(Goal::Invariant(product.add_proposition("evaluated", expr)));
        }
        Some(Product { system: product, marks, goals })
    }
}

/// A label as an expression.
fn label(
    system: &mut ActionSystem,
    tgba: &Tgba,
    label: automata::Label,
    propositions: &[(Prop, usize)],
) -> Option<ExprId> {
    let mut cubes = Vec::new();
    for cube in tgba.labels().cubes(label).take(MAX_CUBES + 1) {
        let mut literals = Vec::new();
        for (prop, value) in cube {
            let number = propositions.iter().find(|(known, _)| *known == prop)?.1;
            let expr = system.propositions()[number].expr;
            literals.push(if value { expr } else { system.exprs.unary(UnaryOp::Not, expr) });
        }
        cubes.push(system.exprs.fold(BinaryOp::And, 1, &literals));
    }
    (cubes.len() <= MAX_CUBES).then(|| system.exprs.fold(BinaryOp::Or, 0, &cubes))
}

impl Search<'_, '_, '_, '_> {
    /// Whether there is no accepting run through the states that were found; nothing if something is hard.
    fn is_empty(&mut self, marks: &[usize]) -> Result<Option<bool>, Limit> {
        self.job.forget()?;
        let mut removed = 1;
        while removed > 0 {
            while let Some(n @ 1..) = self.sift(Sieve::None(0), REMOVED, REMOVED)? {
                debug_assert!(n > 0);
            }
            removed = 0;
            for &mark in marks {
                self.sift(Sieve::Clear, REACHES, 0)?;
                let Some(_) = self.sift(Sieve::True(mark), REACHES, REMOVED)? else { return Ok(None) };
                while let Some(1..) = self.sift(Sieve::Some(REACHES), REACHES, REMOVED | REACHES)? {}
                removed += self.sift(Sieve::All, REMOVED, REMOVED | REACHES)?.unwrap_or(0);
            }
        }
        // What is hard is hard every time.
        let has_hard = self.sift(Sieve::None(0), 0, 0)?.is_none();
        let left = self.sift(Sieve::All, 0, REMOVED)?;
        Ok(left.filter(|_| !has_hard).map(|left| left == 0))
    }

    /// Gives bits to those states that pass a sieve and have none of some others; says how many these were, or nothing if some
    /// of them are hard.
    fn sift(&mut self, sieve: Sieve, bits: u8, lacks: u8) -> Result<Option<u64>, Limit> {
        let end = if self.job.plan.is_narrow { self.job.plan.n_ids() } else { self.n_items() };
        let (mut from, mut n_found, mut is_hard) = (0, 0, false);
        while from < end {
            let n = (end - from).min(self.job.plan.chunk);
            let counts = self.job.sift(from, n, sieve, bits, lacks)?;
            from += n;
            n_found += counts.found;
            is_hard |= counts.notes > 0;
            self.poll()?;
        }
        Ok((!is_hard).then_some(n_found))
    }
}
