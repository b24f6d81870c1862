//! A system in the making, and who uses what in it.

use std::sync::Arc;

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use model::relations::uses;
use model::{Action, ActionId, ActionSystem, ExprId, Exprs, Guard, Parts, Stmt, ValueSet, VarId};

use crate::{Rule, Smaller};

/// A variable with more values says nothing about where a process is.
const MAX_VALUES: u64 = 1 << 14;

/// A system that is being changed.
pub(crate) struct Draft<'s> {
    pub(crate) exprs: &'s Exprs,
    pub(crate) parts: Parts,
    /// Variables whose values are in question, or may be out of range, or decide whether a chain comes back to where it
    /// was (see `fix_rounds`): they are not touched.
    pub(crate) fixed: FixedBitSet,
    /// Says who goes on alone.
    pub(crate) holder: Option<VarId>,
    /// Variables that belong to queues: nobody may write them who did not.
    pub(crate) queued: FixedBitSet,
    /// Per action, what it stands for, if that is not just itself.
    pub(crate) stands_for: Vec<Vec<ActionId>>,
    applied: Vec<(Rule, usize)>,
}

impl<'s> Draft<'s> {
    /// Whether a system has variables that say where a process is, so that there is something to be found, and a
    /// copy of it can be afforded.
    pub(crate) fn is_worth_it(system: &ActionSystem, budget: &Budget<'_>) -> bool {
        let bytes = 400 * system.actions().len() as u64 + 200 * system.variables().len() as u64;
        let is_moved = |stmt: &Stmt| matches!(stmt, Stmt::Set(..) | Stmt::Map(..) | Stmt::Assign(..));
        bytes < budget.max_bytes / 4
            && system.actions().iter().any(|action| action.effect.iter().any(is_moved))
    }

    pub(crate) fn new(system: &'s ActionSystem, about: &[ExprId]) -> Draft<'s> {
        let mut fixed = FixedBitSet::with_capacity(system.variables().len());
        let mut observed = Vec::new();
        about.iter().for_each(|&expr| system.exprs.reads(expr, &mut observed));
        fixed.extend(observed.into_iter().map(VarId::index));
        for (index, variable) in system.variables().iter().enumerate() {
            if !variable.range.is_certain() {
                fixed.insert(index);
            }
        }
        fix_rounds(system, &mut fixed);
        let is_queued = |&index: &usize| system.queue_of(VarId::new(index)).is_some();
        let queued = (0..system.variables().len()).filter(is_queued).collect();
        Draft {
            exprs: &system.exprs,
            parts: system.to_parts(),
            fixed,
            holder: system.holder().map(|(var, _)| var),
            queued,
            stands_for: vec![Vec::new(); system.actions().len()],
            applied: Vec::new(),
        }
    }

    /// Notes that a rule was applied.
    pub(crate) fn note(&mut self, rule: Rule, count: usize) {
        if count > 0 {
            self.applied.push((rule, count));
        }
    }

    /// The finished system; nothing if it is the same as before.
    pub(crate) fn finish(self, original: &ActionSystem) -> Option<Smaller> {
        if self.applied.is_empty() {
            return None;
        }
        let system = original.with_parts(self.parts).ok()?;
        let Draft { applied, stands_for, .. } = self;
        Some(Smaller { system: Arc::new(system), applied, stands_for })
    }

    pub(crate) fn range(&self, var: VarId) -> (i64, i64) {
        let variable = &self.parts.variables[var.index()];
        (variable.lo, variable.hi)
    }
}

/// A chain that comes back to where it was ends there, so that the state is seen. Whether it does must not depend on what
/// was reset or left out on the way: what such chains write is not touched.
fn fix_rounds(system: &ActionSystem, fixed: &mut FixedBitSet) {
    let Some((holder, processes)) = system.holder() else { return };
    fixed.insert(holder.index());
    let goes_round = |action: &&Action| action.owners.first().is_some_and(|owner| processes.contains(owner));
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for action in system.actions().iter().filter(goes_round) {
        uses(&system.exprs, &action.effect, &mut reads, &mut writes);
    }
    fixed.extend(writes.into_iter().map(VarId::index));
}

/// What an action does to a variable that steers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Turn {
    To(i64),
    /// By the table in this statement.
    Map(usize),
}

/// Who uses what.
pub(crate) struct Uses {
    /// Per action: the guards on single variables that steer.
    pub(crate) tests: Vec<Vec<(VarId, usize)>>,
    /// Per action: what its guards read; what its effect reads; what that writes. In order.
    pub(crate) guard_reads: Vec<Vec<VarId>>,
    pub(crate) effect_reads: Vec<Vec<VarId>>,
    pub(crate) writes: Vec<Vec<VarId>>,
    /// Per action: what it does to variables that steer.
    pub(crate) turns: Vec<Vec<(VarId, Turn)>>,
    /// Per variable: the actions that read or write it.
    pub(crate) users: Vec<Vec<u32>>,
    /// The variables that are only ever set to constants or mapped by a table, so that it is known where an action
    /// leads to: locations of processes, in the first place.
    pub(crate) steers: FixedBitSet,
}

impl Uses {
    pub(crate) fn new(draft: &Draft<'_>, budget: &mut Budget<'_>) -> Result<Uses, Limit> {
        let Draft { exprs, parts, .. } = draft;
        let n_variables = parts.variables.len();
        let mut steers = FixedBitSet::with_capacity(n_variables);
        for (index, variable) in parts.variables.iter().enumerate() {
            steers.set(index, variable.range.is_certain() && variable.span() < MAX_VALUES);
        }
        let n_actions = parts.actions.len();
        let mut made = Uses {
            tests: Vec::with_capacity(n_actions),
            guard_reads: Vec::with_capacity(n_actions),
            effect_reads: Vec::with_capacity(n_actions),
            writes: Vec::with_capacity(n_actions),
            turns: Vec::with_capacity(n_actions),
            users: vec![Vec::new(); n_variables],
            steers,
        };
        for (index, action) in parts.actions.iter().enumerate() {
            budget.tick()?;
            let (mut guard_reads, mut reads, mut writes) = (Vec::new(), Vec::new(), Vec::new());
            for guard in &action.guards {
                match &parts.guards[guard.index()] {
                    Guard::In(var, _) => guard_reads.push(*var),
                    Guard::True(expr) => exprs.reads(*expr, &mut guard_reads),
                    Guard::Quiet => {}
                }
            }
            uses(exprs, &action.effect, &mut reads, &mut writes);
            for list in [&mut guard_reads, &mut reads, &mut writes] {
                list.sort_unstable();
                list.dedup();
            }
            let mut users: Vec<VarId> = [&guard_reads[..], &reads, &writes].concat();
            users.sort_unstable();
            users.dedup();
            users.iter().for_each(|var| made.users[var.index()].push(index as u32));
            made.guard_reads.push(guard_reads);
            made.effect_reads.push(reads);
            made.writes.push(writes);
            let turns = made.turns_of(exprs, &action.effect);
            made.turns.push(turns);
        }
        for (turns, action) in made.turns.iter_mut().zip(&parts.actions) {
            turns.retain(|(var, _)| made.steers.contains(var.index()));
            let test = |guard: &model::GuardId| match parts.guards[guard.index()] {
                Guard::In(var, _) if made.steers.contains(var.index()) => Some((var, guard.index())),
                _ => None,
            };
            made.tests.push(action.guards.iter().filter_map(test).collect());
        }
        Ok(made)
    }

    /// What an effect does to variables that may steer; those that it does something else to steer no longer.
    fn turns_of(&mut self, exprs: &Exprs, effect: &[Stmt]) -> Vec<(VarId, Turn)> {
        let mut turns: Vec<(VarId, Turn)> = Vec::new();
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for (at, stmt) in effect.iter().enumerate() {
            let (var, turn) = match stmt {
                Stmt::Set(var, value) => (*var, Turn::To(*value)),
                Stmt::Map(var, _) => (*var, Turn::Map(at)),
                _ => {
                    uses(exprs, std::slice::from_ref(stmt), &mut reads, &mut writes);
                    continue;
                }
            };
            match turns.iter_mut().find(|(known, _)| *known == var) {
                None => turns.push((var, turn)),
                Some((_, known)) => match (&known, turn) {
                    (_, Turn::To(_)) => *known = turn,
                    // A map after something else: where that leads is not worth knowing.
                    _ => writes.push(var),
                },
            }
        }
        writes.iter().for_each(|var| self.steers.set(var.index(), false));
        turns
    }

    /// What an action does to a variable that steers.
    pub(crate) fn turn(&self, action: usize, var: VarId) -> Option<Turn> {
        self.turns[action].iter().find(|(turned, _)| *turned == var).map(|(_, turn)| *turn)
    }

    /// The values of a variable that steers with which an action may begin, each with the one after it.
    pub(crate) fn ways<'d>(
        &self,
        draft: &'d Draft<'_>,
        action: usize,
        var: VarId,
    ) -> impl Iterator<Item = (i64, i64)> + use<'d> {
        let (lo, hi) = draft.range(var);
        let test = self.test(draft, action, var);
        let any = test.is_none().then_some(lo..=hi);
        let before = test.into_iter().flat_map(move |set| set.values_within(lo, hi));
        let turn = self.turn(action, var);
        let table: &[Option<i64>] = match turn {
            Some(Turn::Map(at)) => match &draft.parts.actions[action].effect[at] {
                Stmt::Map(_, table) => table,
                _ => &[],
            },
            _ => &[],
        };
        let after = move |value: i64| match turn {
            None => Some(value),
            Some(Turn::To(to)) => Some(to),
            // From elsewhere the step is a fault, and leads nowhere.
            Some(Turn::Map(_)) => *table.get((value - lo) as usize)?,
        };
        let way = move |value| after(value).filter(|to| (lo..=hi).contains(to)).map(|to| (value, to));
        before.chain(any.into_iter().flatten()).filter_map(way)
    }

    /// Which values of a variable that steers an action asks for.
    pub(crate) fn test<'d>(&self, draft: &'d Draft<'_>, action: usize, var: VarId) -> Option<&'d ValueSet> {
        let (_, guard) = self.tests[action].iter().find(|(tested, _)| *tested == var)?;
        match &draft.parts.guards[*guard] {
            Guard::In(_, set) => Some(set),
            _ => None,
        }
    }

    /// Whether an action reads or writes a variable.
    pub(crate) fn is_used(&self, action: usize, var: VarId) -> bool {
        [&self.guard_reads[action], &self.effect_reads[action], &self.writes[action]]
            .iter()
            .any(|list| list.binary_search(&var).is_ok())
    }

    pub(crate) fn tests(&self, action: usize, var: VarId) -> bool {
        self.tests[action].iter().any(|(tested, _)| *tested == var)
    }
}
