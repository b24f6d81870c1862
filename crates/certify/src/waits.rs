//! Which steps of a state can wait: sets of actions that are closed under who reads and writes what.
//!
//! # Idea
//! A list of states may leave steps out: of a state that names an action, only those steps are followed that begin with an
//! action of the set that grows from it. The set is *closed*: with an action that is enabled, it has all actions that read or
//! write what that one writes, or write what it reads; with one that is disabled, all that may make true what keeps it
//! from happening. So whatever happens outside of the set, what the set can do stays the same, and may as well be done
//! first. These are strong stubborn sets (Valmari, *Stubborn sets for reduced state space generation*, 1991) in their
//! plainest form: nothing is asked of actions but which variables they read and write, and which constants they set. Searches
//! know better ones (`por`); these can be understood from one page. What else is demanded of such a list, and why it is
//! enough, is proved in `docs/certificates.md`.
//!
//! An action that others follow in the same step reads and writes what all of these may, in any order.

use base::{Budget, Limit};
use model::{Action, ActionId, ActionSystem, ExprId, Guard, GuardId, Stmt, ValueSet, VarId, reference};

/// A set of small numbers that is emptied often.
#[derive(Default)]
struct Set {
    has: Vec<bool>,
    all: Vec<u32>,
}

impl Set {
    fn of(n: usize) -> Set {
        Set { has: vec![false; n], all: Vec::new() }
    }

    fn clear(&mut self) {
        self.all.drain(..).for_each(|one| self.has[one as usize] = false);
    }

    /// Whether it is new.
    fn add(&mut self, one: usize) -> bool {
        let is_new = !std::mem::replace(&mut self.has[one], true);
        if is_new {
            self.all.push(one as u32);
        }
        is_new
    }
}

/// What actions, with all that may follow in the same step, read and write; and the sets that grow from them.
pub struct Waits<'s> {
    system: &'s ActionSystem,
    reads: Vec<Vec<VarId>>,
    writes: Vec<Vec<VarId>>,
    /// Per variable, who reads or writes it, and who writes it.
    users: Vec<Vec<u32>>,
    writers: Vec<Vec<u32>>,
    /// Per guard, who may make it true.
    enablers: Vec<Vec<u32>>,
    /// Whether an action writes what is looked at.
    is_seen: Vec<bool>,
    /// What can happen in the state that is looked at.
    enabled: Set,
    /// The set that was grown last, and the variables whose users or writers are in it.
    set: Set,
    used: Set,
    written: Set,
}

impl<'s> Waits<'s> {
    /// What the actions of a system do, if these expressions are looked at.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn new(
        system: &'s ActionSystem,
        looked_at: &[ExprId],
        budget: &mut Budget<'_>,
    ) -> Result<Waits<'s>, Limit> {
        let (n_actions, n_variables) = (system.actions().len(), system.variables().len());
        let (mut reads, mut writes, mut together) = (Vec::new(), Vec::new(), Vec::new());
        let (mut users, mut writers) = (vec![Vec::new(); n_variables], vec![Vec::new(); n_variables]);
        for action in 0..n_actions {
            let all = together_with(system, ActionId::new(action), budget)?;
            let (mut read, mut write) = (Vec::new(), Vec::new());
            for part in all.iter().map(|part| system.action(*part)) {
                part.guards.iter().for_each(|guard| reads_of(system, *guard, &mut read));
                touched(system, &part.effect, &mut read, &mut write);
            }
            // It may turn out that somebody goes on alone. (Who is followed by itself alone says so in its effect.)
            write.extend(system.holder().filter(|_| all.len() > 1).map(|(var, _)| var));
            for list in [&mut read, &mut write] {
                list.sort_unstable();
                list.dedup();
            }
            write.iter().for_each(|var| writers[var.index()].push(action as u32));
            for var in read.iter().chain(&write) {
                if users[var.index()].last() != Some(&(action as u32)) {
                    users[var.index()].push(action as u32);
                }
            }
            budget.hold(16 * (read.len() + write.len()) as u64 + 4 * all.len() as u64 + 64)?;
            reads.push(read);
            writes.push(write);
            together.push(all);
        }
        let mut enablers = Vec::new();
        for (number, guard) in system.guards().iter().enumerate() {
            let mut read = Vec::new();
            reads_of(system, GuardId::new(number), &mut read);
            let mut all: Vec<u32> = read.iter().flat_map(|var| &writers[var.index()]).copied().collect();
            all.sort_unstable();
            all.dedup();
            if let Guard::In(var, set) = guard {
                let may = |part: &ActionId| !cannot_bring(system, system.action(*part), *var, set);
                all.retain(|&action| together[action as usize].iter().any(may));
            }
            budget.hold(4 * all.len() as u64 + 24)?;
            budget.tick()?;
            enablers.push(all);
        }
        let mut seen = Vec::new();
        looked_at.iter().for_each(|&expr| system.exprs.reads(expr, &mut seen));
        let is_seen = writes.iter().map(|writes| writes.iter().any(|var| seen.contains(var))).collect();
        let (enabled, set) = (Set::of(n_actions), Set::of(n_actions));
        let (used, written) = (Set::of(n_variables), Set::of(n_variables));
        Ok(Waits { system, reads, writes, users, writers, enablers, is_seen, enabled, set, used, written })
    }

    /// Says with which actions steps begin in the state that is looked at; how many these are.
    pub fn enable(&mut self, actions: impl Iterator<Item = ActionId>) -> usize {
        self.enabled.clear();
        actions.for_each(|action| _ = self.enabled.add(action.index()));
        self.enabled.all.len()
    }

    /// Grows the set from an action in the state with these values.
    pub fn grow(&mut self, from: ActionId, values: &[i64]) {
        let Waits { system, reads, writes, users, writers, enablers, enabled, set, used, written, .. } = self;
        [&mut *set, &mut *used, &mut *written].into_iter().for_each(Set::clear);
        set.add(from.index());
        let mut next = 0;
        while let Some(&action) = set.all.get(next) {
            next += 1;
            let mut add = |all: &[u32]| all.iter().for_each(|&other| _ = set.add(other as usize));
            if enabled.has[action as usize] {
                for var in writes[action as usize].iter().filter(|var| used.add(var.index())) {
                    add(&users[var.index()]);
                }
                for var in reads[action as usize].iter().filter(|var| written.add(var.index())) {
                    add(&writers[var.index()]);
                }
            } else {
                for guard in reason(system, system.action(ActionId::new(action as usize)), values, enablers) {
                    add(&enablers[guard.index()]);
                }
            }
        }
    }

    /// Whether the set that was grown last has an action.
    pub fn has(&self, action: ActionId) -> bool {
        self.set.has[action.index()]
    }

    /// The enabled actions that it has.
    pub fn taken(&self) -> impl Iterator<Item = ActionId> {
        let all = self.enabled.all.iter().map(|&action| ActionId::new(action as usize));
        all.filter(|&action| self.has(action))
    }

    /// Whether an action may change what is looked at.
    pub fn is_seen(&self, action: ActionId) -> bool {
        self.is_seen[action.index()]
    }
}

/// Guards of a disabled action that keep it from happening, whatever becomes of the others: a false one on a single
/// variable, since these are looked at first, with as few enablers as possible; or the others up to the first that is false.
fn reason(system: &ActionSystem, action: &Action, values: &[i64], enablers: &[Vec<u32>]) -> Vec<GuardId> {
    let guard = |id: GuardId| &system.guards()[id.index()];
    let is_false =
        |id: &GuardId| matches!(guard(*id), Guard::In(var, set) if !set.contains(values[var.index()]));
    let simple = action.guards.iter().copied().filter(is_false);
    if let Some(simple) = simple.min_by_key(|id| enablers[id.index()].len()) {
        return vec![simple];
    }
    let of_kind =
        |is_meant: fn(&Guard) -> bool| action.guards.iter().copied().filter(move |id| is_meant(guard(*id)));
    let mut looked_at = Vec::new();
    for id in of_kind(|guard| matches!(guard, Guard::True(_))) {
        looked_at.push(id);
        if reference::guard_holds(system, guard(id), values) != Ok(true) {
            return looked_at;
        }
    }
    looked_at.extend(of_kind(|guard| matches!(guard, Guard::Quiet)));
    looked_at
}

/// An action, and all that may follow it in the same step.
fn together_with(
    system: &ActionSystem,
    first: ActionId,
    budget: &mut Budget<'_>,
) -> Result<Vec<ActionId>, Limit> {
    let mut all = vec![first];
    let mut next = 0;
    while let Some(&part) = all.get(next) {
        next += 1;
        let Some(process) = system.next_process(part) else { continue };
        for other in (0..system.actions().len()).map(ActionId::new) {
            budget.tick()?;
            let (before, after) = (system.action(part), system.action(other));
            let fits = |guard: &GuardId| match &system.guards()[guard.index()] {
                Guard::In(var, set) => sets(&before.effect, *var).is_none_or(|value| set.contains(value)),
                _ => true,
            };
            if after.owners.first() == Some(&process)
                && after.guards.iter().all(fits)
                && !all.contains(&other)
            {
                all.push(other);
            }
        }
    }
    Ok(all)
}

/// The value that a variable has after an effect, if that is a constant.
fn sets(effect: &[Stmt], var: VarId) -> Option<i64> {
    match effect.iter().rfind(|stmt| writes(stmt, var)) {
        Some(Stmt::Set(_, value)) => Some(*value),
        _ => None,
    }
}

/// Whether an action cannot make it true that a variable has one of these values.
fn cannot_bring(system: &ActionSystem, action: &Action, var: VarId, set: &ValueSet) -> bool {
    if system.holder().is_some_and(|(holder, _)| holder == var) {
        return false;
    }
    let known = &system.variables()[var.index()];
    let of_var: Vec<&Stmt> = action.effect.iter().filter(|stmt| writes(stmt, var)).collect();
    match (&of_var[..], set) {
        ([], _) => true,
        ([Stmt::Add(_, amount)], ValueSet::Range(_, hi)) if *hi >= known.hi => *amount <= 0,
        ([Stmt::Add(_, amount)], ValueSet::Range(lo, _)) if *lo <= known.lo => *amount >= 0,
        _ => sets(&action.effect, var).is_some_and(|value| !set.contains(value)),
    }
}

/// Whether a statement may write a variable.
fn writes(stmt: &Stmt, var: VarId) -> bool {
    match stmt {
        Stmt::Assign(to, _) | Stmt::Set(to, _) | Stmt::Map(to, _) | Stmt::Add(to, _) => *to == var,
        Stmt::AssignElement { first, len, .. } => {
            (first.index()..first.index() + *len as usize).contains(&var.index())
        }
        Stmt::If(_, yes, no) => yes.iter().chain(no).any(|stmt| writes(stmt, var)),
        Stmt::While(_, body) => body.iter().any(|stmt| writes(stmt, var)),
        Stmt::Assert(..) => false,
    }
}

/// Adds what decides about a guard.
pub(crate) fn reads_of(system: &ActionSystem, guard: GuardId, out: &mut Vec<VarId>) {
    match &system.guards()[guard.index()] {
        Guard::In(var, _) => out.push(*var),
        Guard::True(expr) => system.exprs.reads(*expr, out),
        // Whether anything else can happen.
        Guard::Quiet => out.extend((0..system.variables().len()).map(VarId::new)),
    }
}

/// Adds what statements read and write. What is set to a constant is not read.
pub(crate) fn touched(
    system: &ActionSystem,
    block: &[Stmt],
    reads: &mut Vec<VarId>,
    writes: &mut Vec<VarId>,
) {
    for stmt in block {
        match stmt {
            Stmt::Assign(var, value) => {
                system.exprs.reads(*value, reads);
                writes.push(*var);
            }
            Stmt::AssignElement { first, len, index, value } => {
                system.exprs.reads(*index, reads);
                system.exprs.reads(*value, reads);
                writes.extend((0..*len as usize).map(|at| VarId::new(first.index() + at)));
            }
            Stmt::Set(var, _) => writes.push(*var),
            Stmt::Map(var, _) | Stmt::Add(var, _) => {
                reads.push(*var);
                writes.push(*var);
            }
            Stmt::If(condition, yes, no) => {
                system.exprs.reads(*condition, reads);
                touched(system, yes, reads, writes);
                touched(system, no, reads, writes);
            }
            Stmt::While(condition, body) => {
                system.exprs.reads(*condition, reads);
                touched(system, body, reads, writes);
            }
            Stmt::Assert(condition, _) => system.exprs.reads(*condition, reads),
        }
    }
}
