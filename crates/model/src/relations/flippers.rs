//! Which actions may turn a guard from false to true, or from true to false.
//!
//! For a guard on one variable that is looked into: an action is listed if some value that it may start from
//! and the value that it may lead to are on different sides. To find these pairs without trying
//! all, guards that need one value are looked up by the values that an action may start from or lead to.

use base::{Budget, Limit};
use rustc_hash::FxHashMap;

use super::footprint::Rest;
use super::{Change, change_of, own_set};
use crate::{ActionId, ActionSystem, Guard, GuardId, ValueSet, VarId};

/// Actions that may change the value of a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flippers<'a> {
    /// These, in order.
    Listed(&'a [ActionId]),
    /// All that write one of these variables.
    Writers(&'a [VarId]),
    /// All actions.
    All,
}

/// The same, without what is known from elsewhere.
#[derive(Clone, Debug)]
pub(super) enum Flip {
    Listed(Vec<ActionId>),
    Writers,
    All,
}

/// Where a variable has more pairs of a guard and a writer to be tried than this, they are not looked into:
/// all writers are taken to make each guard true and false.
const MAX_PAIRS: usize = 1 << 20;

/// Per guard: who may make it true, and who false.
pub(super) fn find(
    system: &ActionSystem,
    rests: &[Option<Rest>],
    writers: &[Vec<ActionId>],
    budget: &mut Budget<'_>,
) -> Result<Vec<[Flip; 2]>, Limit> {
    let mut guards_on: Vec<Vec<GuardId>> = vec![Vec::new(); system.variables().len()];
    let mut flips = Vec::with_capacity(system.guards().len());
    for (index, guard) in system.guards().iter().enumerate() {
        flips.push(match guard {
            Guard::In(var, _) => {
                guards_on[var.index()].push(GuardId::new(index));
                [Flip::Listed(Vec::new()), Flip::Listed(Vec::new())]
            }
            Guard::True(_) => [Flip::Writers, Flip::Writers], // Expressions are not looked into.
            // Whatever happens may be the last that could, or let something happen again.
            Guard::Quiet => [Flip::All, Flip::All],
        });
    }
    for (index, guards) in guards_on.iter().enumerate().filter(|(_, guards)| !guards.is_empty()) {
        let tests = Tests::new(system, rests, VarId::new(index), guards);
        if tests.n_pairs(&writers[index]) > MAX_PAIRS {
            guards.iter().for_each(|guard| flips[guard.index()] = [Flip::Writers, Flip::Writers]);
            continue;
        }
        for &writer in &writers[index] {
            for makes_true in [true, false] {
                for guard in tests.candidates(writer, makes_true) {
                    budget.tick()?;
                    let flips = &mut flips[guard.index()][usize::from(!makes_true)];
                    if let (Flip::Listed(list), true) = (flips, tests.may_flip(writer, guard, makes_true)) {
                        list.push(writer);
                    }
                }
            }
        }
    }
    Ok(flips)
}

/// The guards on one variable.
struct Tests<'a> {
    system: &'a ActionSystem,
    rests: &'a [Option<Rest>],
    var: VarId,
    all: &'a [GuardId],
    /// Those that need one value, by that value; and the others.
    single: FxHashMap<i64, Vec<GuardId>>,
    wide: Vec<GuardId>,
}

impl<'a> Tests<'a> {
    fn new(system: &'a ActionSystem, rests: &'a [Option<Rest>], var: VarId, all: &'a [GuardId]) -> Tests<'a> {
        let mut tests = Tests { system, rests, var, all, single: FxHashMap::default(), wide: Vec::new() };
        for &guard in all {
            match &system.guards()[guard.index()] {
                Guard::In(_, ValueSet::Range(lo, hi)) if lo == hi => {
                    tests.single.entry(*lo).or_default().push(guard);
                }
                _ => tests.wide.push(guard),
            }
        }
        tests
    }

    fn n_pairs(&self, writers: &[ActionId]) -> usize {
        let n = |&writer: &ActionId, makes_true| match self.values(writer, makes_true) {
            Some(values) => self.wide.len() + values.len(),
            None => self.all.len(),
        };
        let both = |writer| usize::saturating_add(n(writer, true), n(writer, false));
        writers.iter().map(both).fold(0, usize::saturating_add)
    }

    /// The values one of which the variable has after the action (or before it), if they are known.
    fn values(&self, action: ActionId, after: bool) -> Option<Vec<i64>> {
        if after {
            return match change_of(self.system, self.rests, action, self.var) {
                Change::To(value) => Some(vec![value]),
                Change::Among(values) => Some(values.to_vec()),
                Change::Map(table) => Some(table.iter().copied().flatten().collect()),
                Change::By(_) | Change::Any => None,
            };
        }
        match own_set(self.system, self.system.action(action), self.var) {
            Some(ValueSet::Range(lo, hi)) if lo == hi => Some(vec![*lo]),
            _ => None,
        }
    }

    /// The guards that an action might make true: all that need a value which it may lead to. Those that it might
    /// make false: all that need a value which it may start from.
    fn candidates(&self, action: ActionId, makes_true: bool) -> Vec<GuardId> {
        let Some(mut values) = self.values(action, makes_true) else { return self.all.to_vec() };
        values.sort_unstable();
        values.dedup();
        let single = values.iter().filter_map(|value| self.single.get(value)).flatten();
        single.chain(&self.wide).copied().collect()
    }

    /// Whether an enabled action may turn a guard from false to true (or from true to false).
    fn may_flip(&self, action: ActionId, guard: GuardId, makes_true: bool) -> bool {
        let Guard::In(var, set) = &self.system.guards()[guard.index()] else { return true };
        let variable = &self.system.variables()[var.index()];
        let own = own_set(self.system, self.system.action(action), *var);
        let starts =
            |value: i64| own.is_none_or(|own| own.contains(value)) && set.contains(value) != makes_true;
        match change_of(self.system, self.rests, action, *var) {
            Change::Any => true,
            Change::Among(values) => {
                may_start(own, set, makes_true)
                    && values.iter().any(|&value| set.contains(value) == makes_true)
            }
            Change::To(value) => set.contains(value) == makes_true && may_start(own, set, makes_true),
            Change::Map(table) => table.iter().enumerate().any(|(at, target)| {
                target.is_some_and(|target| {
                    starts(variable.lo + at as i64) && set.contains(target) == makes_true
                })
            }),
            Change::By(amount) => match set {
                // Leaving the range upward or downward, or entering it from below or above.
                ValueSet::Range(lo, hi) => {
                    let (upward, (least, greatest)) = (amount > 0, variable.certain());
                    amount != 0 && if upward == makes_true { *lo > least } else { *hi < greatest }
                }
                ValueSet::Bits { .. } => true,
            },
        }
    }
}

/// Whether the variable can be outside (or inside) `set` where its own guard `own` is true.
fn may_start(own: Option<&ValueSet>, set: &ValueSet, outside: bool) -> bool {
    match (own, set) {
        (Some(ValueSet::Range(own_lo, own_hi)), ValueSet::Range(lo, hi)) => {
            if outside {
                own_lo < lo || own_hi > hi
            } else {
                own_lo <= hi && lo <= own_hi
            }
        }
        (Some(ValueSet::Bits { lo, members }), set) => {
            members.ones().any(|at| set.contains(lo + at as i64) != outside)
        }
        _ => true,
    }
}
