//! What actions read and write, by themselves and with all that follows them in the same step.

use base::{Budget, Limit};
use rustc_hash::FxHashMap;

use super::{Change, union};
use crate::{Action, ActionId, ActionSystem, ExprId, Guard, ProcessId, Stmt, ValueSet, VarId};

/// What an effect reads and writes, in order. A variable that is only set to a constant is not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Footprint {
    pub(super) reads: Vec<VarId>,
    pub(super) writes: Vec<VarId>,
}

impl Footprint {
    pub(super) fn of(system: &ActionSystem, action: &Action) -> Footprint {
        let mut footprint = Footprint::default();
        footprint.add_block(system, &action.effect);
        Footprint { reads: union(footprint.reads.iter()), writes: union(footprint.writes.iter()) }
    }

    /// The same of one statement, in no order.
    pub(super) fn of_stmt(system: &ActionSystem, stmt: &Stmt) -> Footprint {
        let mut footprint = Footprint::default();
        footprint.add(system, stmt);
        footprint
    }

    fn add_block(&mut self, system: &ActionSystem, block: &[Stmt]) {
        block.iter().for_each(|stmt| self.add(system, stmt));
    }

    fn add(&mut self, system: &ActionSystem, stmt: &Stmt) {
        let reads = |expr: ExprId, out: &mut Vec<VarId>| system.exprs.reads(expr, out);
        match stmt {
            Stmt::Assign(var, value) => {
                reads(*value, &mut self.reads);
                self.writes.push(*var);
            }
            Stmt::AssignElement { first, len, index, value } => {
                reads(*index, &mut self.reads);
                reads(*value, &mut self.reads);
                // Which element is written depends on the index: the others keep their values.
                self.writes.extend((0..*len as usize).map(|i| VarId::new(first.index() + i)));
            }
            Stmt::Set(var, _) => self.writes.push(*var),
            Stmt::Map(var, _) | Stmt::Add(var, _) => {
                self.reads.push(*var);
                self.writes.push(*var);
            }
            Stmt::If(condition, yes, no) => {
                reads(*condition, &mut self.reads);
                self.add_block(system, yes);
                self.add_block(system, no);
            }
            Stmt::While(condition, body) => {
                reads(*condition, &mut self.reads);
                self.add_block(system, body);
            }
            Stmt::Assert(condition, _) => reads(*condition, &mut self.reads),
        }
    }
}

/// What an action alone does to a variable it writes: exact if a single simple statement at the top of
/// its effect is the only one that mentions the variable as a target.
pub(super) fn change(action: &Action, var: VarId) -> Change<'_> {
    let mut result = None;
    for stmt in &action.effect {
        let this = match stmt {
            Stmt::Set(target, value) if *target == var => Change::To(*value),
            Stmt::Add(target, amount) if *target == var => Change::By(*amount),
            Stmt::Map(target, table) if *target == var => Change::Map(table),
            Stmt::Set(..) | Stmt::Add(..) | Stmt::Map(..) | Stmt::Assert(..) => continue,
            Stmt::Assign(target, _) if *target != var => continue,
            Stmt::AssignElement { first, len, .. }
                if !(first.index()..first.index() + *len as usize).contains(&var.index()) =>
            {
                continue;
            }
            // Branches and loops may write anything: not looked into.
            _ => Change::Any,
        };
        result = Some(if result.is_none() { this } else { Change::Any });
    }
    result.unwrap_or(Change::Any)
}

/// What may be read, tested and written in the rest of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rest {
    /// In order.
    pub(super) reads: Vec<VarId>,
    /// In order, each with the values that it may be set to, in order, if these are known and few.
    pub(super) writes: Vec<(VarId, Option<Vec<i64>>)>,
}

impl Rest {
    /// With more values than this, it is not said which.
    const MAX_VALUES: usize = 256;

    /// What an action alone writes, and reads in its effect.
    pub(super) fn of(footprint: &Footprint, action: &Action) -> Rest {
        let value = |&var: &VarId| match change(action, var) {
            Change::To(to) => (var, Some(vec![to])),
            _ => (var, None),
        };
        Rest { reads: footprint.reads.clone(), writes: footprint.writes.iter().map(value).collect() }
    }

    pub(super) fn add(&mut self, other: &Rest) {
        self.reads = union(self.reads.iter().chain(&other.reads));
        for (var, values) in &other.writes {
            match self.writes.binary_search_by_key(var, |(known, _)| *known) {
                Err(at) => self.writes.insert(at, (*var, values.clone())),
                Ok(at) => {
                    let known = &mut self.writes[at].1;
                    *known = known.as_ref().zip(values.as_ref()).and_then(|(known, more)| {
                        let all = union(known.iter().chain(more));
                        (all.len() <= Rest::MAX_VALUES).then_some(all)
                    });
                }
            }
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        let values = self.writes.iter().map(|(_, values)| values.as_ref().map_or(0, Vec::len));
        (4 * self.reads.len() + 32 * self.writes.len() + 8 * values.sum::<usize>()) as u64
    }
}

/// Per action, what those that follow it in the same step may do in all, if any follow.
///
/// An action passes on to those before it what it does and what follows it, until nothing new comes. Those that
/// follow come first, so that this takes one round, and one more for each loop in a loop.
pub(super) fn rests(
    system: &ActionSystem,
    footprints: &[Footprint],
    guard_reads: &[Vec<VarId>],
    budget: &mut Budget<'_>,
) -> Result<Vec<Option<Rest>>, Limit> {
    let followers = Followers::new(system);
    let mut next: Vec<Vec<ActionId>> = Vec::with_capacity(system.actions().len());
    for action in (0..system.actions().len()).map(ActionId::new) {
        budget.tick()?;
        next.push(followers.of(system, action));
    }
    let order = last_first(&next);
    let mut rests: Vec<Option<Rest>> = vec![None; next.len()];
    loop {
        let mut grows = false;
        for &index in &order {
            let mut rest = rests[index].take();
            let before = rest.clone();
            for &follower in &next[index] {
                budget.tick()?;
                let rest = rest.get_or_insert_default();
                let action = system.action(follower);
                let mut its = Rest::of(&footprints[follower.index()], action);
                its.reads.extend(action.guards.iter().flat_map(|guard| &guard_reads[guard.index()]));
                rest.add(&its);
                if let Some(its_rest) = &rests[follower.index()] {
                    rest.add(its_rest);
                }
            }
            grows |= rest != before;
            rests[index] = rest;
        }
        if !grows {
            break;
        }
    }
    Ok(rests)
}

/// The actions in an order in which those that follow come first, but for loops.
fn last_first(next: &[Vec<ActionId>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(next.len());
    let mut is_met = vec![false; next.len()];
    let mut work = Vec::new();
    for root in 0..next.len() {
        work.push((root, 0));
        while let Some((action, at)) = work.pop() {
            if at == 0 && std::mem::replace(&mut is_met[action], true) {
                continue;
            }
            match next[action].get(at) {
                Some(follower) => work.extend([(action, at + 1), (follower.index(), 0)]),
                None => order.push(action),
            }
        }
    }
    order
}

/// The actions of each process, by the value of a variable that they need.
struct Followers {
    /// Per process and variable: who needs which value of it.
    needing: FxHashMap<(ProcessId, VarId), FxHashMap<i64, Vec<ActionId>>>,
    /// Per process: the variables that it has entries for, and the actions that have none.
    of_process: Vec<(Vec<VarId>, Vec<ActionId>)>,
}

impl Followers {
    fn new(system: &ActionSystem) -> Followers {
        let mut needing: FxHashMap<_, FxHashMap<i64, Vec<ActionId>>> = FxHashMap::default();
        let mut of_process = vec![(Vec::new(), Vec::new()); system.processes().len()];
        for (index, action) in system.actions().iter().enumerate() {
            let Some(&process) = action.owners.first() else { continue };
            let key = action.guards.iter().find_map(|guard| match &system.guards()[guard.index()] {
                Guard::In(var, ValueSet::Range(lo, hi)) if lo == hi => Some((*var, *lo)),
                _ => None,
            });
            let (vars, others) = &mut of_process[process.index()];
            match key {
                None => others.push(ActionId::new(index)),
                Some((var, value)) => {
                    let needing = needing.entry((process, var)).or_default();
                    if needing.is_empty() {
                        vars.push(var);
                    }
                    needing.entry(value).or_default().push(ActionId::new(index));
                }
            }
        }
        Followers { needing, of_process }
    }

    /// The actions that may come next in the same step, in order.
    fn of(&self, system: &ActionSystem, action: ActionId) -> Vec<ActionId> {
        let Some(process) = system.next_process(action) else { return Vec::new() };
        let own = system.action(action);
        let (vars, others) = &self.of_process[process.index()];
        let mut candidates = others.clone();
        for &var in vars {
            let needing = &self.needing[&(process, var)];
            match change(own, var) {
                Change::To(value) => candidates.extend(needing.get(&value).into_iter().flatten()),
                #[allow(clippy::iter_over_hash_type, reason = "they are sorted below")]
                _ => needing.values().for_each(|actions| candidates.extend(actions)),
            }
        }
        candidates.retain(|&next| may_be_enabled_after(system, own, system.action(next)));
        candidates.sort_unstable();
        candidates
    }
}

/// Whether what an action sets leaves it open that another is enabled.
fn may_be_enabled_after(system: &ActionSystem, action: &Action, next: &Action) -> bool {
    next.guards.iter().all(|guard| match &system.guards()[guard.index()] {
        Guard::In(var, set) => match change(action, *var) {
            Change::To(value) => set.contains(value),
            _ => true,
        },
        Guard::True(_) | Guard::Quiet => true,
    })
}
