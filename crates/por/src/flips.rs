//! What actions may do to propositions.
//!
//! An observer of propositions takes part in the actions that may flip one. Which propositions an
//! action flips may depend on the state; here it is said what it may do in *any* state where the
//! propositions have given values. Where that depends on few values it is exact, otherwise every
//! outcome is taken to be possible.

use fixedbitset::FixedBitSet;
use model::relations::Change;
use model::{ActionId, ActionSystem, ExprId, Guard, Relations, VarId, reference};

/// More combinations of values than this are not gone through.
const MAX_COMBINATIONS: u64 = 1 << 12;

/// Of an action that may flip more propositions than this, everything is possible.
const MAX_PROPOSITIONS: usize = 6;

/// What one action may do.
#[derive(Clone, Debug, Default)]
struct ActionFlips {
    /// The propositions it may flip, by their index in the list that is observed.
    propositions: Vec<usize>,
    /// All variables that these propositions read.
    watched: Vec<VarId>,
    /// The values of these propositions before and after, as bits; nothing if everything is possible.
    pairs: Option<Vec<(u64, u64)>>,
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
    pub fn new(system: &ActionSystem, relations: &Relations, propositions: &[ExprId]) -> Flips {
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
        let of_action = |action: usize| {
            let action = ActionId::new(action);
            let writes = |var: &VarId| relations.writes(action).binary_search(var).is_ok();
            let touched = (0..propositions.len()).filter(|&index| reads[index].iter().any(writes));
            ActionFlips::new(system, relations, action, touched.collect(), propositions, &reads)
        };
        Flips { actions: (0..system.actions().len()).map(of_action).collect() }
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
    fn new(
        system: &ActionSystem,
        relations: &Relations,
        action: ActionId,
        touched: Vec<usize>,
        propositions: &[ExprId],
        reads: &[Vec<VarId>],
    ) -> ActionFlips {
        let mut watched: Vec<VarId> =
            touched.iter().flat_map(|&index| reads[index].iter().copied()).collect();
        watched.sort_unstable();
        watched.dedup();
        let exprs: Vec<ExprId> = touched.iter().map(|&index| propositions[index]).collect();
        let pairs = pairs(system, relations, action, &watched, &exprs);
        if pairs.as_ref().is_some_and(|pairs| pairs.iter().all(|(from, to)| from == to)) {
            return ActionFlips::default();
        }
        ActionFlips { propositions: touched, watched, pairs }
    }
}

/// The values of propositions before and after an action, for all values of the variables that they
/// read; nothing if that cannot be said, or only with much effort.
fn pairs(
    system: &ActionSystem,
    relations: &Relations,
    action: ActionId,
    vars: &[VarId],
    exprs: &[ExprId],
) -> Option<Vec<(u64, u64)>> {
    let variable = |var: &VarId| &system.variables()[var.index()];
    let span = |var: &VarId| variable(var).span().saturating_add(1);
    if vars.iter().map(span).fold(1, u64::saturating_mul) > MAX_COMBINATIONS || exprs.len() > 64 {
        return None;
    }
    let own = system.action(action);
    let is_known = |guard: &&Guard| matches!(guard, Guard::In(var, _) if vars.contains(var));
    let guards: Vec<&Guard> =
        own.guards.iter().map(|guard| &system.guards()[guard.index()]).filter(is_known).collect();
    let writes = |var: &VarId| relations.writes(action).binary_search(var).is_ok();
    let mut values: Vec<i64> = system.variables().iter().map(|variable| variable.lo).collect();
    let mut pairs = Vec::new();
    loop {
        let mut holds = true;
        for guard in &guards {
            holds &= reference::guard_holds(system, guard, &values).ok()?;
        }
        if holds {
            let before = bits(system, exprs, &values)?;
            let mut after = values.clone();
            let mut happens = true;
            for var in vars.iter().filter(|var| writes(var)) {
                let at = var.index();
                match relations.change(system, action, *var) {
                    Change::To(value) => after[at] = value,
                    Change::By(amount) => {
                        after[at] = values[at].checked_add(amount)?;
                        happens &= (variable(var).lo..=variable(var).hi).contains(&after[at]);
                    }
                    Change::Map(table) => match table.get((values[at] - variable(var).lo) as usize) {
                        Some(Some(value)) => after[at] = *value,
                        _ => happens = false,
                    },
                    Change::Among(_) | Change::Any => return None,
                }
            }
            if happens {
                pairs.push((before, bits(system, exprs, &after)?));
            }
        }
        // The next combination.
        let next = vars.iter().find(|var| values[var.index()] < variable(var).hi);
        let Some(next) = next else { break };
        vars.iter().take_while(|var| *var != next).for_each(|var| values[var.index()] = variable(var).lo);
        values[next.index()] += 1;
    }
    pairs.sort_unstable();
    pairs.dedup();
    Some(pairs)
}

fn bits(system: &ActionSystem, exprs: &[ExprId], values: &[i64]) -> Option<u64> {
    let mut bits = 0;
    for (index, &expr) in exprs.iter().enumerate() {
        bits |= u64::from(reference::value(system, expr, values).ok()? != 0) << index;
    }
    Some(bits)
}
