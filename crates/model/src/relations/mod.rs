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

//! - An action is *open* if a step may lead it to what the front end has not made yet
//!   ([`Range::Open`]): nobody knows what others will be able to do then.

mod flippers;
mod footprint;

use base::{Budget, Limit};

use self::flippers::Flip;
pub use self::flippers::Flippers;
pub use self::footprint::uses;
use self::footprint::{Footprint, Rest, change, rests};
use crate::{Action, ActionId, ActionSystem, Guard, GuardId, QueueUse, Range, Stmt, ValueSet, VarId};

/// What an action does to a variable that it writes, as far as can be said without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// Per variable: the actions that may change it.
    writers: Vec<Vec<ActionId>>,
    /// Per guard: who may make it true, and who false.
    flips: Vec<[Flip; 2]>,
    /// Per action that others follow in the same step: what it and these do.
    rests: Vec<Option<Rest>>,
    /// Per action: what it, with what follows it in the same step, does to a queue, if that is all.
    queue_uses: Vec<Option<QueueUse>>,
    /// Per queue: how many guards look at it.
    n_guards_of_queue: Vec<usize>,
    open: Vec<ActionId>,
    /// Whether it matters where something goes wrong.
    minds_faults: bool,
}

/// Where a queue has more pairs of a guard and a writer than this, what is in front is not looked into.
const MAX_PAIRS: usize = 1 << 20;

impl Relations {
    /// Computes the relations, and holds about as many bytes as they take.
    ///
    /// # Errors
    /// The budget's limit.
    pub fn new(system: &ActionSystem, budget: &mut Budget<'_>) -> Result<Relations, Limit> {
        let mut guard_reads: Vec<Vec<VarId>> = Vec::with_capacity(system.guards().len());
        for guard in system.guards() {
            budget.tick()?;
            guard_reads.push(reads_of_guard(system, guard));
        }
        let mut footprints = Vec::with_capacity(system.actions().len());
        for action in system.actions() {
            budget.tick()?;
            footprints.push(Footprint::of(system, action));
        }
        let rests = if system.has_chains() {
            rests(system, &footprints, &guard_reads, budget)?
        } else {
            vec![None; system.actions().len()]
        };
        let mut relations = Relations {
            guard_reads,
            effect_reads: Vec::with_capacity(system.actions().len()),
            writes: Vec::with_capacity(system.actions().len()),
            users: vec![Vec::new(); system.variables().len()],
            writers: vec![Vec::new(); system.variables().len()],
            flips: Vec::new(),
            rests,
            queue_uses: Vec::with_capacity(system.actions().len()),
            n_guards_of_queue: vec![0; system.queues().len()],
            open: Vec::new(),
            minds_faults: false,
        };
        for (index, footprint) in footprints.iter().enumerate() {
            budget.tick()?;
            relations.add(system, ActionId::new(index), footprint);
        }
        for reads in &relations.guard_reads {
            if let Some(queue) = reads.iter().find_map(|&var| system.queue_of(var)) {
                relations.n_guards_of_queue[queue as usize] += 1;
            }
        }
        relations.flips = flippers::find(system, &relations.rests, &relations.writers, budget)?;
        budget.hold(relations.bytes())?;
        Ok(relations)
    }

    fn add(&mut self, system: &ActionSystem, id: ActionId, footprint: &Footprint) {
        let mut queue_use = system.queue_use(id);
        let mut whole = Rest::of(footprint, system.action(id));
        if let Some(rest) = &self.rests[id.index()] {
            let queue = queue_use.map(QueueUse::queue);
            let mut later = rest.reads.iter().chain(rest.writes.iter().map(|(var, _)| var));
            if queue.is_some() && later.any(|&var| system.queue_of(var) == queue) {
                queue_use = None;
            }
            whole.add(rest);
        }
        let (reads, writes) = (whole.reads.clone(), whole.writes.iter().map(|(var, _)| *var));
        let writes: Vec<VarId> = writes.collect();
        if self.rests[id.index()].is_some() {
            self.rests[id.index()] = Some(whole);
        }
        let guards = system.action(id).guards.iter().flat_map(|guard| &self.guard_reads[guard.index()]);
        for var in union(guards.chain(&reads).chain(&writes)) {
            self.users[var.index()].push(id);
        }
        writes.iter().for_each(|var| self.writers[var.index()].push(id));
        if writes.iter().any(|var| system.variables()[var.index()].range == Range::Open) {
            self.open.push(id);
        }
        self.effect_reads.push(reads);
        self.writes.push(writes);
        self.queue_uses.push(queue_use);
    }

    /// The same for who finds out whether anything can go wrong. A step to what is not made yet does, so that such a
    /// step is found like others, and need not be looked for in particular. Two that add to a variable commute, but one may avert that
    /// the other leads out of the range.
    pub fn for_faults(mut self) -> Relations {
        self.open.clear();
        self.minds_faults = true;
        self
    }

    /// About how many bytes they take.
    pub fn bytes(&self) -> u64 {
        let vars = |lists: &[Vec<VarId>]| lists.iter().map(|list| 24 + 4 * list.len() as u64).sum::<u64>();
        let actions = |list: &Vec<ActionId>| 24 + 4 * list.len() as u64;
        let flips = |flip: &Flip| 24 + if let Flip::Listed(list) = flip { actions(list) } else { 0 };
        vars(&self.guard_reads)
            + vars(&self.effect_reads)
            + vars(&self.writes)
            + self.users.iter().chain(&self.writers).map(actions).sum::<u64>()
            + self.flips.iter().flatten().map(flips).sum::<u64>()
            + self.rests.iter().map(|rest| 64 + rest.as_ref().map_or(0, Rest::bytes)).sum::<u64>()
    }

    /// What an action, with what follows it in the same step, does to a variable that it writes.
    pub fn change<'a>(&'a self, system: &'a ActionSystem, action: ActionId, var: VarId) -> Change<'a> {
        change_of(system, &self.rests, action, var)
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

    /// Whether an action may change a variable.
    pub fn is_written(&self, var: VarId, action: ActionId) -> bool {
        self.writes(action).binary_search(&var).is_ok()
    }

    /// The actions whose guards or effects mention a variable, in order.
    pub fn users(&self, var: VarId) -> &[ActionId] {
        &self.users[var.index()]
    }

    /// The actions that may change a variable, in order.
    pub fn writers(&self, var: VarId) -> &[ActionId] {
        &self.writers[var.index()]
    }

    /// The actions a step of which may lead to what is not made yet, in order.
    pub fn open(&self) -> &[ActionId] {
        &self.open
    }

    /// The actions that may turn a guard from false to true.
    pub fn enablers(&self, guard: GuardId) -> Flippers<'_> {
        self.flippers(guard, 0)
    }

    /// The actions that may turn a guard from true to false.
    pub fn disablers(&self, guard: GuardId) -> Flippers<'_> {
        self.flippers(guard, 1)
    }

    fn flippers(&self, guard: GuardId, which: usize) -> Flippers<'_> {
        match &self.flips[guard.index()][which] {
            Flip::Listed(list) => Flippers::Listed(list),
            Flip::Writers => Flippers::Writers(self.guard_reads(guard)),
            Flip::All => Flippers::All,
        }
    }

    /// Whether an action is among these.
    pub fn is_among(&self, flippers: Flippers<'_>, action: ActionId) -> bool {
        match flippers {
            Flippers::Listed(list) => list.binary_search(&action).is_ok(),
            Flippers::Writers(vars) => vars.iter().any(|&var| self.is_written(var, action)),
            Flippers::All => true,
        }
    }

    /// If a guard looks at the front of a queue and at nothing behind it: the length of the queue, and the
    /// actions that may turn the guard from false to true *while the queue is not empty*, in order. What is put
    /// behind others is not among them.
    pub fn enablers_in_front(&self, system: &ActionSystem, guard: GuardId) -> Option<(VarId, Vec<ActionId>)> {
        let reads = self.guard_reads(guard);
        let number = reads.iter().find_map(|&var| system.queue_of(var))?;
        let queue = &system.queues()[number as usize];
        let is_fit = |var: &VarId| system.queue_of(*var) != Some(number) || queue.front.contains(var);
        let n_pairs = self.n_guards_of_queue[number as usize].saturating_mul(self.writers(queue.len).len());
        if !reads.iter().all(is_fit) || n_pairs > MAX_PAIRS {
            return None;
        }
        let leaves_front = |action: &ActionId| {
            let its = |var: &VarId| system.queue_of(*var) == Some(number);
            self.queue_use(*action) == Some(QueueUse::Put(number))
                && !reads.iter().any(|&var| !its(&var) && self.is_written(var, *action))
        };
        let writers = reads.iter().flat_map(|var| self.writers(*var));
        let enablers = writers.filter(|action| self.is_among(self.enablers(guard), **action));
        let all = union(enablers.chain(self.writers(queue.len)));
        Some((queue.len, all.into_iter().filter(|action| !leaves_front(action)).collect()))
    }

    /// Whether two actions may disturb each other where both are enabled.
    pub fn interferes(&self, system: &ActionSystem, a: ActionId, b: ActionId) -> bool {
        let is_quiet = system.is_quiet(a);
        let vars = || self.writes(a).iter().chain(self.writes(b));
        is_quiet == system.is_quiet(b)
            && !never_together(system, system.action(a), system.action(b))
            && (is_quiet || vars().any(|&var| self.interferes_through(system, var, a, b)))
    }

    /// Whether two actions may disturb each other by what they do with one variable. That depends on nothing
    /// but [`Relations::use_of`] the variable.
    pub fn interferes_through(&self, system: &ActionSystem, var: VarId, a: ActionId, b: ActionId) -> bool {
        let passed = self.passed(a, b);
        if passed.is_some() && system.queue_of(var) == passed {
            return false;
        }
        let disables = |a: ActionId, b: ActionId| {
            let may_disable = |guard: &GuardId| {
                self.guard_reads(*guard).binary_search(&var).is_ok()
                    && self.is_among(self.disablers(*guard), a)
            };
            self.is_written(var, a) && system.action(b).guards.iter().any(may_disable)
        };
        disables(a, b)
            || disables(b, a)
            || self.effects_conflict(system, var, a, b)
            || self.effects_conflict(system, var, b, a)
    }

    /// How an action uses a variable.
    pub fn use_of<'a>(&'a self, system: &'a ActionSystem, var: VarId, action: ActionId) -> Use<'a> {
        let guards = system.action(action).guards.iter();
        let queue = system.queue_of(var);
        Use {
            change: self.is_written(var, action).then(|| self.change(system, action, var)),
            is_read: match self.is_written(var, action).then(|| self.change(system, action, var)) {
                Some(Change::By(_)) => reads_besides(system, action, var),
                _ => self.effect_reads(action).binary_search(&var).is_ok(),
            },
            guards: guards.filter(|guard| self.guard_reads(**guard).contains(&var)).copied().collect(),
            queue: self.queue_use(action).filter(|its| queue == Some(its.queue())),
        }
    }

    /// What an action, with what follows it in the same step, does to a queue, if that is all it does to it.
    pub fn queue_use(&self, action: ActionId) -> Option<QueueUse> {
        self.queue_uses[action.index()]
    }

    /// The queue that one of two actions puts something into, and the other takes something out of.
    fn passed(&self, a: ActionId, b: ActionId) -> Option<u32> {
        match (self.queue_use(a)?, self.queue_use(b)?) {
            (QueueUse::Put(to), QueueUse::Take(from)) | (QueueUse::Take(from), QueueUse::Put(to)) => {
                (to == from).then_some(to)
            }
            _ => None,
        }
    }

    /// Whether `a` may write a variable that the effect of `b` reads or writes differently.
    fn effects_conflict(&self, system: &ActionSystem, var: VarId, a: ActionId, b: ActionId) -> bool {
        let is_read = self.effect_reads(b).binary_search(&var).is_ok();
        if !self.is_written(var, a) || !is_read && !self.is_written(var, b) {
            return false;
        }
        match (self.change(system, a, var), self.change(system, b, var)) {
            // Sums do not mind, but who looks at them does, and who is led back into the range.
            (Change::By(x), Change::By(y)) => {
                let is_certain = !matches!(system.variables()[var.index()].range, Range::Guessed { .. });
                reads_besides(system, b, var) || (self.minds_faults && is_certain && x.signum() != y.signum())
            }
            (Change::To(x), Change::To(y)) => x != y || is_read,
            _ => true,
        }
    }
}

/// How an action uses a variable: those that use it in the same way disturb the same others through it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Use<'a> {
    /// What it does to the variable, if it writes it.
    change: Option<Change<'a>>,
    /// Whether its effect depends on it.
    is_read: bool,
    /// Its guards that depend on it.
    guards: Vec<GuardId>,
    /// What it does to the queue that the variable belongs to.
    queue: Option<QueueUse>,
}

/// Whether an action that adds to a variable looks at it besides.
fn reads_besides(system: &ActionSystem, action: ActionId, var: VarId) -> bool {
    let is_simple = |stmt: &&Stmt| matches!(stmt, Stmt::Add(..) | Stmt::Set(..) | Stmt::Map(..));
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for stmt in system.action(action).effect.iter().filter(|stmt| !is_simple(stmt)) {
        uses(&system.exprs, std::slice::from_ref(stmt), &mut reads, &mut writes);
    }
    reads.contains(&var)
}

/// Sorted, each once.
fn union<'a, T: Copy + Ord + 'a>(items: impl Iterator<Item = &'a T>) -> Vec<T> {
    let mut items: Vec<T> = items.copied().collect();
    items.sort_unstable();
    items.dedup();
    items
}

fn reads_of_guard(system: &ActionSystem, guard: &Guard) -> Vec<VarId> {
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

/// See [`Relations::change`].
fn change_of<'a>(
    system: &'a ActionSystem,
    rests: &'a [Option<Rest>],
    action: ActionId,
    var: VarId,
) -> Change<'a> {
    let writes = rests[action.index()].as_ref().map_or(&[][..], |rest| &rest.writes);
    match writes.binary_search_by_key(&var, |(var, _)| *var) {
        Err(_) => change(system.action(action), var),
        Ok(at) => writes[at].1.as_ref().map_or(Change::Any, |values| Change::Among(values)),
    }
}

/// The values of a variable that an action itself needs, by its first guard on it.
fn own_set<'a>(system: &'a ActionSystem, action: &Action, var: VarId) -> Option<&'a ValueSet> {
    action.guards.iter().find_map(|guard| match &system.guards()[guard.index()] {
        Guard::In(its_var, set) if *its_var == var => Some(set),
        _ => None,
    })
}

/// Whether two actions need different values of one variable.
fn never_together(system: &ActionSystem, a: &Action, b: &Action) -> bool {
    a.guards.iter().any(|guard| match &system.guards()[guard.index()] {
        Guard::In(var, set) => own_set(system, b, *var).is_some_and(|other| disjoint(set, other)),
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
