//! Which actions can enable, disable or disturb which: computed once, from the text of the
//! system, for the reductions.
//!
//! All relations are *may* relations: they list everything that can happen in some state,
//! reachable or not, and perhaps more. The tests watch random systems run and check that nothing
//! happens that is not listed (the idea of LTSmin's `pins2pins-check`).
//!
//! - A *necessary enabling set* of a false guard is what [`Relations::enablers`] gives: until one
//!   of these actions happens, the guard stays false.
//! - [`Relations::disablers`] is its mirror image.
//! - An action that others follow in the same step (see [`chain`](mod@crate::chain)) reads and writes what
//!   any of these may read, test and write.
//! - Putting something into a queue and taking something out of it do not interfere, though both write the
//!   same variables ([`QueueUse`]).
//! - Two actions *interfere* if, where both are enabled, one may disable the other or the order
//!   of the two may matter ("do not accord" in Laarman, Pater, van de Pol and Hansen, *Guard-based
//!   partial-order reduction*, STTT 2016).

use std::sync::Arc;

use crate::{Action, ActionId, ActionSystem, ExprId, Guard, GuardId, QueueUse, Stmt, ValueSet, VarId};

/// What an action does to a variable that it writes, as far as can be said without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// Sets it to this value.
    To(i64),
    /// Adds this to it.
    By(i64),
    /// Maps it by this table, which starts with the variable's least value.
    Map(&'a [Option<i64>]),
    /// Sets it to one of these values, or leaves it as it is.
    Among(&'a [i64]),
    /// Anything.
    Any,
}

/// The relations of an action system.
#[derive(Clone, Debug)]
pub struct Relations {
    guard_reads: Vec<Vec<VarId>>,
    effect_reads: Vec<Vec<VarId>>,
    writes: Vec<Vec<VarId>>,
    /// Per variable: the actions whose guards or effect mention it.
    users: Vec<Vec<ActionId>>,
    enablers: Vec<Arc<[ActionId]>>,
    disablers: Vec<Arc<[ActionId]>>,
    later: Later,
    /// Per action: what it, with what follows it in the same step, does to a queue, if that is all.
    queue_uses: Vec<Option<QueueUse>>,
}

/// What the actions that follow an action in the same step may write.
#[derive(Clone, Debug, Default)]
struct Later {
    /// Per action: variables that it or what follows may set, with the values if all of them are known;
    /// in order. Empty if nothing follows.
    writes: Vec<Vec<(VarId, Option<Vec<i64>>)>>,
}

/// Where a variable has more pairs of a guard and a writer than this, they are not looked into:
/// all writers are taken to make each guard true and false.
const MAX_PAIRS: usize = 1 << 24;

impl Relations {
    /// Computes the relations.
    pub fn new(system: &ActionSystem) -> Relations {
        let guard_reads: Vec<Vec<VarId>> =
            system.guards().iter().map(|guard| guard_reads(system, guard)).collect();
        let mut effect_reads = Vec::with_capacity(system.actions().len());
        let mut writes = Vec::with_capacity(system.actions().len());
        let mut users = vec![Vec::new(); system.variables().len()];
        let mut writers = vec![Vec::new(); system.variables().len()];
        let mut later = Later::default();
        let mut queue_uses = Vec::with_capacity(system.actions().len());
        for (id, action) in system.actions().iter().enumerate() {
            let id = ActionId::new(id);
            let mut footprint = Footprint::default();
            footprint.add_block(system, &action.effect);
            let mut queue_use = system.queue_use(id);
            if system.has_chains() {
                let follow = following(system, id);
                for &next in &follow {
                    let next = system.action(next);
                    let mut its = Footprint::default();
                    its.add_block(system, &next.effect);
                    its.reads.extend(next.guards.iter().flat_map(|guard| &guard_reads[guard.index()]));
                    let queue = queue_use.map(QueueUse::queue);
                    if its
                        .reads
                        .iter()
                        .chain(&its.writes)
                        .any(|&var| queue.is_some() && system.queue_of(var) == queue)
                    {
                        queue_use = None;
                    }
                    footprint.reads.append(&mut its.reads);
                    footprint.writes.append(&mut its.writes);
                }
                later.add(system, id, &follow);
            }
            let Footprint { reads: read, writes: written } = footprint.sorted();
            let guards = action.guards.iter().flat_map(|guard| &guard_reads[guard.index()]);
            for &var in &union(guards.chain(&read).chain(&written)) {
                users[var.index()].push(id);
            }
            written.iter().for_each(|var: &VarId| writers[var.index()].push(id));
            effect_reads.push(read);
            writes.push(written);
            queue_uses.push(queue_use);
        }
        let mut n_guards = vec![0usize; system.variables().len()];
        guard_reads.iter().flatten().for_each(|var| n_guards[var.index()] += 1);
        let writers: Vec<Arc<[ActionId]>> = writers.into_iter().map(Arc::from).collect();
        let flippers = |(guard, reads): (&Guard, &Vec<VarId>)| -> (Arc<[ActionId]>, Arc<[ActionId]>) {
            if let [var] = reads[..]
                && n_guards[var.index()].saturating_mul(writers[var.index()].len()) > MAX_PAIRS
            {
                let all = &writers[var.index()];
                return (all.clone(), all.clone());
            }
            if *guard == Guard::Quiet {
                // Whatever happens may be the last that could, or let something happen again.
                let all: Arc<[ActionId]> = (0..system.actions().len()).map(ActionId::new).collect();
                return (all.clone(), all);
            }
            let candidates = union(reads.iter().flat_map(|var| writers[var.index()].iter()));
            let may = |makes_true: bool| {
                let may = |action: &&ActionId| may_flip(system, &later, **action, guard, makes_true);
                candidates.iter().filter(may).copied().collect()
            };
            (may(true), may(false))
        };
        let (enablers, disablers) = system.guards().iter().zip(&guard_reads).map(flippers).unzip();
        Relations { guard_reads, effect_reads, writes, users, enablers, disablers, later, queue_uses }
    }

    /// What an action, with what follows it in the same step, does to a variable that it writes.
    pub fn change<'a>(&'a self, system: &'a ActionSystem, action: ActionId, var: VarId) -> Change<'a> {
        self.later.change(system, action, var)
    }

    /// The variables that a guard depends on, in order.
    pub fn guard_reads(&self, guard: GuardId) -> &[VarId] {
        &self.guard_reads[guard.index()]
    }

    /// The variables that the effect of an action depends on, in order.
    pub fn effect_reads(&self, action: ActionId) -> &[VarId] {
        &self.effect_reads[action.index()]
    }

    /// The variables that an action may change, in order.
    pub fn writes(&self, action: ActionId) -> &[VarId] {
        &self.writes[action.index()]
    }

    /// The actions that may turn a guard from false to true, in order.
    pub fn enablers(&self, guard: GuardId) -> &[ActionId] {
        &self.enablers[guard.index()]
    }

    /// If a guard looks at the front of a queue and at nothing behind it: the length of the queue, and the
    /// actions that may turn the guard from false to true *while the queue is not empty*, in order. What is put
    /// behind others is not among them.
    pub fn enablers_in_front(&self, system: &ActionSystem, guard: GuardId) -> Option<(VarId, Vec<ActionId>)> {
        let reads = self.guard_reads(guard);
        let number = reads.iter().find_map(|&var| system.queue_of(var))?;
        let queue = &system.queues()[number as usize];
        let is_fit = |var: &VarId| system.queue_of(*var) != Some(number) || queue.front.contains(var);
        if !reads.iter().all(is_fit) {
            return None;
        }
        let leaves_front = |action: &ActionId| {
            let its = |var: &VarId| system.queue_of(*var) == Some(number);
            self.queue_uses[action.index()] == Some(QueueUse::Put(number))
                && !reads.iter().any(|var| !its(var) && self.writes(*action).binary_search(var).is_ok())
        };
        let emptiers = self.users[queue.len.index()]
            .iter()
            .filter(|action| self.writes(**action).binary_search(&queue.len).is_ok());
        let all = union(self.enablers(guard).iter().chain(emptiers));
        Some((queue.len, all.into_iter().filter(|action| !leaves_front(action)).collect()))
    }

    /// The actions that may turn a guard from true to false, in order.
    pub fn disablers(&self, guard: GuardId) -> &[ActionId] {
        &self.disablers[guard.index()]
    }

    /// Appends the actions that interfere with `action` (itself not among them), in order.
    pub fn interfering(&self, system: &ActionSystem, action: ActionId, out: &mut Vec<ActionId>) {
        let guards = system.action(action).guards.iter().flat_map(|guard| self.guard_reads(*guard));
        let vars = union(guards.chain(self.effect_reads(action)).chain(self.writes(action)));
        let mut candidates = union(vars.iter().flat_map(|var| &self.users[var.index()]));
        if system.is_quiet(action) {
            let all = (0..system.actions().len()).map(ActionId::new);
            candidates.extend(all.filter(|&other| system.is_quiet(other)));
            candidates = union(candidates.iter());
        }
        out.extend(
            candidates.into_iter().filter(|&other| other != action && self.interferes(system, action, other)),
        );
    }

    /// Whether two actions may disturb each other where both are enabled.
    pub fn interferes(&self, system: &ActionSystem, a: ActionId, b: ActionId) -> bool {
        let apart = system.is_quiet(a) != system.is_quiet(b);
        if apart || never_together(system, system.action(a), system.action(b)) {
            return false;
        }
        let passed = self.passed(a, b);
        let is_passed = |var: &VarId| passed.is_some() && system.queue_of(*var) == passed;
        let disables = |a: ActionId, b: ActionId| {
            let reads_other = |guard: &GuardId| {
                let reads = self.guard_reads(*guard);
                let mut others = reads.iter().filter(|var| !is_passed(var));
                reads.is_empty() || others.any(|var| self.writes(a).binary_search(var).is_ok())
            };
            let may_disable = |guard: &GuardId| {
                self.disablers(*guard).binary_search(&a).is_ok() && (passed.is_none() || reads_other(guard))
            };
            system.action(b).guards.iter().any(may_disable)
        };
        disables(a, b)
            || disables(b, a)
            || self.effects_conflict(system, a, b, &is_passed)
            || self.effects_conflict(system, b, a, &is_passed)
    }

    /// The queue that one of two actions puts something into, and the other takes something out of.
    fn passed(&self, a: ActionId, b: ActionId) -> Option<u32> {
        match (self.queue_uses[a.index()]?, self.queue_uses[b.index()]?) {
            (QueueUse::Put(to), QueueUse::Take(from)) | (QueueUse::Take(from), QueueUse::Put(to)) => {
                (to == from).then_some(to)
            }
            _ => None,
        }
    }

    /// Whether `a` may write what the effect of `b` reads or writes differently; some variables do not count.
    fn effects_conflict(
        &self,
        system: &ActionSystem,
        a: ActionId,
        b: ActionId,
        is_passed: &impl Fn(&VarId) -> bool,
    ) -> bool {
        self.writes(a).iter().filter(|var| !is_passed(var)).any(|&var| {
            let read = self.effect_reads(b).binary_search(&var).is_ok();
            let written = self.writes(b).binary_search(&var).is_ok();
            if !read && !written {
                return false;
            }
            match (self.change(system, a, var), self.change(system, b, var)) {
                (Change::By(_), Change::By(_)) => false,
                (Change::To(x), Change::To(y)) => x != y || read,
                _ => true,
            }
        })
    }
}

/// Sorted, each once.
fn union<'a, T: Copy + Ord + 'a>(items: impl Iterator<Item = &'a T>) -> Vec<T> {
    let mut items: Vec<T> = items.copied().collect();
    items.sort_unstable();
    items.dedup();
    items
}

fn guard_reads(system: &ActionSystem, guard: &Guard) -> Vec<VarId> {
    match guard {
        Guard::In(var, _) => vec![*var],
        Guard::True(expr) => {
            let mut reads = Vec::new();
            system.exprs.reads(*expr, &mut reads);
            union(reads.iter())
        }
        Guard::Quiet => Vec::new(), // Depends on everything; see the enablers.
    }
}

/// What an effect reads and writes. A variable that is only set to a constant is not read.
#[derive(Default)]
struct Footprint {
    reads: Vec<VarId>,
    writes: Vec<VarId>,
}

impl Footprint {
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

    fn sorted(self) -> Footprint {
        Footprint { reads: union(self.reads.iter()), writes: union(self.writes.iter()) }
    }
}

impl Later {
    /// Adds what the next action and those that follow it write.
    fn add(&mut self, system: &ActionSystem, action: ActionId, follow: &[ActionId]) {
        let mut writes: Vec<(VarId, Option<Vec<i64>>)> = Vec::new();
        for &next in follow.iter().chain(follow.first().map(|_| &action)) {
            let mut footprint = Footprint::default();
            footprint.add_block(system, &system.action(next).effect);
            for var in footprint.sorted().writes {
                let to = match change(system.action(next), var) {
                    Change::To(to) => Some(to),
                    _ => None,
                };
                match writes.iter_mut().find(|(known, _)| *known == var) {
                    None => writes.push((var, to.map(|to| vec![to]))),
                    Some((_, values)) => match (values.as_mut(), to) {
                        (Some(values), Some(to)) => values.push(to),
                        _ => *values = None,
                    },
                }
            }
        }
        for values in writes.iter_mut().filter_map(|(_, values)| values.as_mut()) {
            values.sort_unstable();
            values.dedup();
        }
        writes.sort_unstable_by_key(|(var, _)| *var);
        self.writes.push(writes);
    }

    /// See [`Relations::change`].
    fn change<'a>(&'a self, system: &'a ActionSystem, action: ActionId, var: VarId) -> Change<'a> {
        let writes = self.writes.get(action.index()).map_or(&[][..], Vec::as_slice);
        match writes.binary_search_by_key(&var, |(var, _)| *var) {
            Err(_) => change(system.action(action), var),
            Ok(at) => writes[at].1.as_ref().map_or(Change::Any, |values| Change::Among(values)),
        }
    }
}

/// The actions that may follow an action in the same step, in order.
fn following(system: &ActionSystem, action: ActionId) -> Vec<ActionId> {
    let mut found = vec![false; system.actions().len()];
    let mut work = vec![action];
    while let Some(action) = work.pop() {
        let Some(process) = system.next_process(action) else { continue };
        for (index, next) in system.actions().iter().enumerate() {
            if !found[index]
                && next.owners.first() == Some(&process)
                && may_be_enabled_after(system, system.action(action), next)
            {
                found[index] = true;
                work.push(ActionId::new(index));
            }
        }
    }
    (0..found.len()).filter(|&index| found[index]).map(ActionId::new).collect()
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

/// What an action alone does to a variable it writes: exact if a single simple statement at the top of
/// its effect is the only one that mentions the variable as a target.
fn change(action: &Action, var: VarId) -> Change<'_> {
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

/// Whether an enabled action may turn a guard from false to true (or from true to false).
fn may_flip(system: &ActionSystem, later: &Later, id: ActionId, guard: &Guard, makes_true: bool) -> bool {
    let action = system.action(id);
    let Guard::In(var, set) = guard else {
        return true; // Expressions are not looked into.
    };
    let variable = &system.variables()[var.index()];
    let own = own_range(system, action, *var);
    let starts = |value: i64| own.is_none_or(|own| own.contains(value)) && set.contains(value) != makes_true;
    match later.change(system, id, *var) {
        Change::Any => true,
        Change::Among(values) => {
            may_start(own, set, makes_true) && values.iter().any(|&value| set.contains(value) == makes_true)
        }
        Change::To(value) => set.contains(value) == makes_true && may_start(own, set, makes_true),
        Change::Map(table) => table.iter().enumerate().any(|(at, target)| {
            target.is_some_and(|target| starts(variable.lo + at as i64) && set.contains(target) == makes_true)
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

/// The guard that an action itself has on a variable.
fn own_range<'a>(system: &'a ActionSystem, action: &Action, var: VarId) -> Option<&'a ValueSet> {
    action.guards.iter().find_map(|guard| match &system.guards()[guard.index()] {
        Guard::In(its_var, set) if *its_var == var => Some(set),
        _ => None,
    })
}

/// Whether two actions need different values of one variable.
fn never_together(system: &ActionSystem, a: &Action, b: &Action) -> bool {
    a.guards.iter().any(|guard| match &system.guards()[guard.index()] {
        Guard::In(var, set) => own_range(system, b, *var).is_some_and(|other| disjoint(set, other)),
        Guard::True(_) | Guard::Quiet => false,
    })
}

fn disjoint(a: &ValueSet, b: &ValueSet) -> bool {
    match (a, b) {
        (ValueSet::Range(a_lo, a_hi), ValueSet::Range(b_lo, b_hi)) => a_hi < b_lo || b_hi < a_lo,
        (ValueSet::Bits { lo, members }, other) | (other, ValueSet::Bits { lo, members }) => {
            members.ones().all(|at| !other.contains(lo + at as i64))
        }
    }
}
