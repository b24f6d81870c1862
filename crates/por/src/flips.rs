//! What actions may do to propositions.
//!
//! An observer of propositions takes part in the actions that may flip one. Which propositions an
//! action flips may depend on the state; here it is said what it may do in *any* state where the
//! propositions have given values. Where that depends on few values it is exact, otherwise every
//! outcome is taken to be possible.

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use model::relations::Change;
use model::{ActionId, ActionSystem, ExprId, Guard, Relations, VarId, reference};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// More combinations of values than this are not gone through.
const MAX_COMBINATIONS: u64 = 1 << 12;

/// Of an action that may flip more propositions than this, everything is possible.
const MAX_PROPOSITIONS: usize = 6;

/// The values of propositions before and after an action, as bits.
type BeforeAfter = (u64, u64);

/// What one action may do.
#[derive(Clone, Debug, Default)]
struct ActionFlips {
    /// The propositions it may flip, by their index in the list that is observed.
    propositions: Vec<usize>,
    /// All variables that these propositions read. (One list for all actions that may flip the same ones: of a net that
    /// must not get stuck, all transitions flip "stuck", which reads all places.)
    watched: Arc<[VarId]>,
    /// What becomes of these propositions; nothing if everything is possible. (A box, since most of what was collected
    /// for it is thrown away, and the room must go, too.)
    pairs: Option<Box<[BeforeAfter]>>,
}

/// What actions may do to a list of propositions.
#[derive(Clone, Debug)]
pub struct Flips {
    actions: Vec<ActionFlips>,
}

/// What an action may do in all states of a valuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It may leave all propositions as they are.
    Silent,
    /// It may change the values of the propositions that it writes to these bits, in the order of
    /// [`Flips::propositions`].
    Flip(u64),
    /// It may do anything.
    Anything,
}

impl Flips {
    /// What the actions of a system may do to propositions with these expressions.
    ///
    /// # Errors
    /// The budget's limit.
    pub fn new(
        system: &ActionSystem,
        relations: &Relations,
        propositions: &[ExprId],
        budget: &mut Budget<'_>,
    ) -> Result<Flips, Limit> {
        let reads: Vec<Vec<VarId>> = propositions
            .iter()
            .map(|&expr| {
                let mut vars = Vec::new();
                system.exprs.reads(expr, &mut vars);
                vars.sort_unstable();
                vars.dedup();
                vars
            })
            .collect();
        let mut touched: Vec<Vec<usize>> = vec![Vec::new(); system.actions().len()];
        for (index, vars) in reads.iter().enumerate() {
            for &action in vars.iter().flat_map(|&var| relations.writers(var)) {
                budget.tick()?;
                let touched = &mut touched[action.index()];
                if touched.last() != Some(&index) {
                    touched.push(index);
                }
            }
        }
        let mut values: Vec<i64> = system.variables().iter().map(|variable| variable.certain().0).collect();
        let mut flips = Flips { actions: Vec::with_capacity(touched.len()) };
        let mut read_by: FxHashMap<Vec<usize>, Arc<[VarId]>> = FxHashMap::default();
        for (index, touched) in touched.into_iter().enumerate() {
            let watched = match read_by.get(&touched) {
                Some(known) => Arc::clone(known),
                None => {
                    let mut watched: Vec<VarId> =
                        touched.iter().flat_map(|&index| reads[index].iter().copied()).collect();
                    watched.sort_unstable();
                    watched.dedup();
                    budget.hold(4 * watched.len() as u64)?;
                    let watched: Arc<[VarId]> = watched.into();
                    read_by.insert(touched.clone(), Arc::clone(&watched));
                    watched
                }
            };
            let of_action = Pairs { system, relations, action: ActionId::new(index), values: &mut values };
            let flips_of = ActionFlips::new(of_action, touched, watched, propositions, budget)?;
            budget.hold(flips_of.bytes())?;
            flips.actions.push(flips_of);
        }
        Ok(flips)
    }

    /// About how many bytes they take.
    pub fn bytes(&self) -> u64 {
        self.actions.iter().map(ActionFlips::bytes).sum()
    }

    /// Whether an action may flip a proposition, in some state.
    #[inline]
    pub fn may_flip(&self, action: ActionId) -> bool {
        !self.actions[action.index()].propositions.is_empty()
    }

    /// The actions that may flip a proposition, in some state.
    pub fn visible(&self) -> FixedBitSet {
        let mut visible = FixedBitSet::with_capacity(self.actions.len());
        visible.extend((0..self.actions.len()).filter(|&action| self.may_flip(ActionId::new(action))));
        visible
    }

    /// The propositions that an action may flip, by their index in the list.
    pub fn propositions(&self, action: ActionId) -> &[usize] {
        &self.actions[action.index()].propositions
    }

    /// The variables that decide which propositions an action flips, besides what its effect reads.
    pub(crate) fn watched(&self, action: ActionId) -> &[VarId] {
        &self.actions[action.index()].watched
    }

    /// Calls `visit` with all that an action which may flip propositions may do where these have
    /// the values `before`, as bits in the order of [`Flips::propositions`].
    pub fn for_each_outcome(&self, action: ActionId, before: u64, mut visit: impl FnMut(Outcome)) {
        let flips = &self.actions[action.index()];
        match &flips.pairs {
            Some(pairs) => {
                for &(from, to) in pairs.iter().filter(|pair| pair.0 == before) {
                    visit(if from == to { Outcome::Silent } else { Outcome::Flip(to) });
                }
            }
            None if flips.propositions.len() <= MAX_PROPOSITIONS => {
                for to in 0..1 << flips.propositions.len() {
                    visit(if to == before { Outcome::Silent } else { Outcome::Flip(to) });
                }
            }
            None => visit(Outcome::Anything),
        }
    }
}

impl ActionFlips {
    fn bytes(&self) -> u64 {
        let pairs = self.pairs.as_ref().map_or(0, |pairs| pairs.len());
        (72 + 8 * self.propositions.len() + 16 * pairs) as u64
    }

    fn new(
        of_action: Pairs<'_>,
        touched: Vec<usize>,
        watched: Arc<[VarId]>,
        propositions: &[ExprId],
        budget: &mut Budget<'_>,
    ) -> Result<ActionFlips, Limit> {
        if touched.is_empty() {
            return Ok(ActionFlips::default());
        }
        let exprs: Vec<ExprId> = touched.iter().map(|&index| propositions[index]).collect();
        let pairs = of_action.find(&watched, &exprs, budget)?;
        if pairs.as_ref().is_some_and(|pairs| pairs.iter().all(|(from, to)| from == to)) {
            return Ok(ActionFlips::default());
        }
        Ok(ActionFlips { propositions: touched, watched, pairs })
    }
}

/// Goes through the values of propositions before and after an action.
struct Pairs<'a> {
    system: &'a ActionSystem,
    relations: &'a Relations,
    action: ActionId,
    /// One value per variable, its least; so again after use.
    values: &'a mut Vec<i64>,
}

impl Pairs<'_> {
    /// What there is for all values of the variables that the propositions read; nothing if that cannot be said, or
    /// only with much effort.
    fn find(
        self,
        vars: &[VarId],
        exprs: &[ExprId],
        budget: &mut Budget<'_>,
    ) -> Result<Option<Box<[BeforeAfter]>>, Limit> {
        let Pairs { system, relations, action, values } = self;
        let range = |var: &VarId| system.variables()[var.index()].certain();
        let n_values = |var: &VarId| {
            let (lo, hi) = range(var);
            (hi.wrapping_sub(lo) as u64).saturating_add(1)
        };
        let up_to_most = |n: u64, values: u64| n.checked_mul(values).filter(|&n| n <= MAX_COMBINATIONS);
        if vars.iter().map(n_values).try_fold(1, up_to_most).is_none() || exprs.len() > 64 {
            return Ok(None);
        }
        let is_known = |guard: &&Guard| matches!(guard, Guard::In(var, _) if vars.contains(var));
        let own = system.action(action).guards.iter().map(|guard| &system.guards()[guard.index()]);
        let guards: Vec<&Guard> = own.filter(is_known).collect();
        let written: Vec<VarId> =
            vars.iter().copied().filter(|&var| relations.is_written(var, action)).collect();
        let mut pairs = Some(Vec::new());
        loop {
            budget.tick()?;
            let next = pair(system, relations, action, &guards, &written, exprs, values);
            match (&mut pairs, next) {
                (Some(pairs), Some(pair)) => pairs.extend(pair),
                _ => pairs = None,
            }
            // The next combination.
            let next = vars.iter().find(|var| values[var.index()] < range(var).1).filter(|_| pairs.is_some());
            let before = vars.iter().take_while(|var| Some(*var) != next);
            before.for_each(|var| values[var.index()] = range(var).0);
            match next {
                Some(next) => values[next.index()] += 1,
                None => break,
            }
        }
        Ok(pairs.map(|mut pairs| {
            pairs.sort_unstable();
            pairs.dedup();
            pairs.into_boxed_slice()
        }))
    }
}

/// The values before and after an action that happens where variables have these values, if it does; nothing if
/// that cannot be said.
fn pair(
    system: &ActionSystem,
    relations: &Relations,
    action: ActionId,
    guards: &[&Guard],
    written: &[VarId],
    exprs: &[ExprId],
    values: &mut [i64],
) -> Option<Option<(u64, u64)>> {
    for guard in guards {
        if !reference::guard_holds(system, guard, values).ok()? {
            return Some(None);
        }
    }
    let before = bits(system, exprs, values)?;
    let mut after = Vec::with_capacity(written.len());
    for &var in written {
        let (value, variable) = (values[var.index()], &system.variables()[var.index()]);
        after.push(match relations.change(system, action, var) {
            Change::To(to) => to,
            Change::By(amount) => {
                let (sum, (lo, hi)) = (value.checked_add(amount)?, variable.certain());
                if !(lo..=hi).contains(&sum) {
                    return Some(None);
                }
                sum
            }
            Change::Map(table) => match table.get((value - variable.lo) as usize) {
                Some(Some(to)) => *to,
                _ => return Some(None),
            },
            Change::Among(_) | Change::Any => return None,
        });
    }
    exchange(values, written, &mut after);
    let bits = bits(system, exprs, values);
    exchange(values, written, &mut after);
    Some(Some((before, bits?)))
}

fn exchange(values: &mut [i64], vars: &[VarId], others: &mut [i64]) {
    let pairs = vars.iter().zip(others);
    pairs.for_each(|(var, other)| std::mem::swap(&mut values[var.index()], other));
}

fn bits(system: &ActionSystem, exprs: &[ExprId], values: &[i64]) -> Option<u64> {
    let mut bits = 0;
    for (index, &expr) in exprs.iter().enumerate() {
        bits |= u64::from(reference::value(system, expr, values).ok()? != 0) << index;
    }
    Some(bits)
}
