//! The shared store, and searches in rounds over it, under many schedules: the same source, with locks and atomics that a scheduler
//! of `shuttle` interleaves at random. Blocks and tables are tiny here, so that tables grow all the time.
//!
//! The known ways to get it wrong are tried, too, and each must be noticed: a test that finds nothing wrong with them would be
//! worth nothing.

#![allow(dead_code, unreachable_pub, missing_docs, unused_imports, unused_qualifications)]

extern crate stubborn_check as check;

/// What `crate::sync` is to the library.
mod sync {
    use std::cell::Cell;

    pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
    pub(crate) use shuttle::sync::{
        Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    };
    pub(crate) use std::sync::OnceLock;

    pub(crate) const BLOCK_BITS: u32 = 1;
    pub(crate) const ROW_BITS: u32 = 2;
    pub(crate) const N_ROWS: usize = 64;
    pub(crate) const MIN_SLOTS: usize = 10;
    pub(crate) const LETTERS: usize = 1;
    pub(crate) const N_SPINS: u32 = 1;

    pub(crate) trait Zero: Sized {
        fn zero() -> Self;
    }

    impl Zero for AtomicU8 {
        fn zero() -> AtomicU8 {
            AtomicU8::new(0)
        }
    }

    impl Zero for AtomicU32 {
        fn zero() -> AtomicU32 {
            AtomicU32::new(0)
        }
    }

    impl Zero for AtomicU64 {
        fn zero() -> AtomicU64 {
            AtomicU64::new(0)
        }
    }

    pub(crate) fn zeros<A: Zero>(len: usize) -> Option<Box<[A]>> {
        Some((0..len).map(|_| A::zero()).collect())
    }

    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
        lock.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
        lock.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn wait<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        condvar.wait(guard).unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Mutant {
        PublishFirst,
        SkipAfterRace,
        GrowAtOnce,
        TakeTwice,
        HandInLate,
        LeadAlone,
        TakeInAtOnce,
        ForgetRest,
        AheadIfNew,
        AdaptiveScratch,
    }

    thread_local! {
        /// All workers of a schedule run on one thread.
        static WRONG: Cell<Option<Mutant>> = const { Cell::new(None) };
    }

    pub(crate) fn is(mutant: Mutant) -> bool {
        WRONG.get() == Some(mutant)
    }

    pub(crate) fn set(mutant: Option<Mutant>) {
        WRONG.set(mutant);
    }

    /// What comes of something that is not wrong.
    pub(crate) fn right<T>(make: impl FnOnce() -> T) -> T {
        let wrong = WRONG.take();
        let made = make();
        WRONG.set(wrong);
        made
    }
}

#[path = "../src/store"]
mod store {
    pub use check::store::{Coverage, Exact, Products, Sequence, StateId, Store, Visited};

    /// Few different hashes, so that chains are long and tags are equal.
    pub(crate) fn hash(state: &[u32], _: u64) -> u64 {
        let mixed =
            state.iter().fold(7, |hash: u64, &word| (hash ^ u64::from(word)).wrapping_mul(0x9E37_79B9));
        (mixed >> 7 & 3) << 62 | (mixed >> 3 & 1)
    }

    pub(crate) mod owned;
    #[path = "shared/mod.rs"]
    pub mod shared;
}

mod search {
    pub(crate) use check::search::{Extent, Goal, Space};
}

#[path = "../src/parallel"]
mod parallel {
    pub(crate) mod expand;
    pub(crate) mod levels;
    pub(crate) mod meeting;
    pub(crate) mod posted;
    pub(crate) mod recent;
    pub(crate) mod rounds;
}

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use base::{Budget, Team, Worker};
use check::reduced::Reduced;
use model::{Action, ActionSystem, BinaryOp, Builder, Guard, Stmt, System as _, ValueSet, Variable};
use parallel::levels::Levels;
use parallel::posted::Posted;
use parallel::rounds::{Outcome, Rounds, Stock as _};
use search::{Goal, Space};
use store::owned::Owned;
use store::shared::{Shared, SharedProducts};
use store::{Products as _, StateId, Store as _};
use sync::{Arc, Mutant};

const N_SCHEDULES: usize = 1500;

/// What a worker added: each state, its number, and whether it was new.
type Added = Vec<([u32; 2], StateId, bool)>;

/// Every state has one number and was new once; every number has its state.
fn compare(added: &[Added], n_states: u64, get: impl Fn(StateId, &mut [u32; 2])) {
    let mut all = HashMap::new();
    let mut n_new = HashMap::new();
    for &(state, id, is_new) in added.iter().flatten() {
        assert_eq!(*all.entry(state).or_insert(id), id, "two numbers for one state");
        *n_new.entry(state).or_insert(0) += u32::from(is_new);
        let mut words = [0; 2];
        get(id, &mut words);
        assert_eq!(words, state, "a number of another state");
    }
    assert_eq!(n_states, all.len() as u64);
    assert!(n_new.values().all(|&n| n == 1), "new once");
}

/// Three workers add the same few states, each in another order.
fn states() {
    let store = Arc::new(Shared::new(2, u64::MAX));
    let add = |worker: u32| {
        let store = Arc::clone(&store);
        move || {
            let mut handle = store.handle();
            let mut added = Added::new();
            for turn in 0..6 {
                let number = if worker == 1 { 5 - turn } else { turn };
                let states = [[number, 1], [number * worker, 2]];
                let mut batch = Vec::new();
                let each = |index: usize, id, is_new| batch.push((states[index], id, is_new));
                handle.insert_each(states.as_flattened(), 2, each).unwrap();
                for &(state, id, _) in &batch {
                    assert_eq!(handle.find(&state), Some(id), "what was added is found");
                }
                added.extend(batch);
            }
            added
        }
    };
    let threads: Vec<_> = (0..3).map(|worker| shuttle::thread::spawn(add(worker))).collect();
    let added: Vec<Added> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    compare(&added, store.n_states(), |id, words| store.get(id, words));
}

/// The same for pairs. One observer state does not fit in a word with the system state.
fn pairs() {
    let store = Arc::new(SharedProducts::new(1, 1, u64::MAX));
    let add = |worker: u32| {
        let store = Arc::clone(&store);
        move || {
            let mut handle = store.handle();
            let mut added = Added::new();
            for turn in 0..6 {
                let pair = [turn / 2, (turn + worker) % 3];
                let (id, is_new) = handle.insert(&[pair[0]], pair[1]).unwrap();
                added.push((pair, id, is_new));
            }
            added
        }
    };
    let threads: Vec<_> = (0..3).map(|worker| shuttle::thread::spawn(add(worker))).collect();
    let added: Vec<Added> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    compare(&added, store.n_states(), |id, words| {
        let mut system = [0];
        let observer = store.get(id, &mut system);
        *words = [system[0], observer];
    });
    assert_eq!(store.n_system_states(), 3);
}

/// Whether one of so many schedules shows that something is wrong.
fn is_noticed(mutant: Option<Mutant>, n_schedules: usize, test: fn()) -> bool {
    sync::set(mutant);
    let result = catch_unwind(AssertUnwindSafe(|| shuttle::check_random(test, n_schedules)));
    sync::set(None);
    result.is_err()
}

#[test]
fn no_schedule_breaks_the_store_and_every_mutant_is_noticed() {
    assert!(!is_noticed(None, N_SCHEDULES, states));
    assert!(!is_noticed(None, N_SCHEDULES, pairs));
    for mutant in [Mutant::PublishFirst, Mutant::SkipAfterRace, Mutant::GrowAtOnce] {
        assert!(is_noticed(Some(mutant), N_SCHEDULES, states), "{mutant:?}");
    }
}

/// Processes that go round, each when another one is somewhere; the first is watched.
fn random_system(seed: u64) -> ActionSystem {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut builder = Builder::new();
    let n = random.usize(2..4);
    let most = random.i64(1..3);
    let vars: Vec<_> = (0..n).map(|_| builder.variable(Variable::new("x", 0, most))).collect();
    for (index, &var) in vars.iter().enumerate() {
        let (label, owner) = (builder.label("step"), builder.process(format!("P{index}")));
        for value in 0..=most {
            if random.u8(0..8) == 0 {
                continue;
            }
            let mut guards = vec![builder.guard(Guard::In(var, ValueSet::Range(value, value)))];
            if random.u8(0..3) == 0 {
                let least = random.i64(0..=most);
                let other = vars[random.usize(0..n)];
                guards.push(builder.guard(Guard::In(other, ValueSet::Range(least, most))));
            }
            let effect = vec![Stmt::set(var, random.i64(0..=most))];
            builder.action(Action { label, guards, effect, owners: vec![owner] });
        }
    }
    builder.initial(&vec![0; n]);
    let mut system = builder.finish().unwrap();
    let (first, least) = (system.exprs.var(vars[0]), system.exprs.int(most));
    let less = system.exprs.binary(BinaryOp::Lt, first, least);
    system.add_proposition("less", less);
    system
}

/// Threads of the scheduler.
struct Crew(usize);

impl Team for Crew {
    fn n_workers(&self) -> usize {
        self.0
    }

    fn run(&self, job: &(dyn Fn(Worker) + Sync)) {
        shuttle::thread::scope(|scope| {
            for index in 1..self.0 {
                scope.spawn(move || job(Worker { index, of: self.0 }));
            }
            job(Worker { index: 0, of: self.0 });
        });
    }
}

/// What must not depend on the schedule: the states of each round, in order, those that violate a goal, and the counts.
#[derive(Debug, PartialEq, Eq)]
struct Explored {
    rounds: Vec<Vec<Vec<u32>>>,
    violating: Vec<(u32, Vec<u32>)>,
    counts: [u64; 4],
    taken: Vec<bool>,
}

/// Rounds with so many workers, until something is found.
fn explore<S: Space + Sync>(space: &S, goals: &[Goal], n_workers: usize) -> Explored {
    let system = space.whole();
    let crew = Crew(n_workers);
    let budget = Budget::unlimited().with_team(&crew);
    let store = Owned::new(system.width(), n_workers, u64::MAX);
    let mut levels = Levels::new(store.numbering(), &store.view().ends());
    let mut initial = Vec::new();
    system.initial_states(&mut initial);
    for state in initial.chunks_exact(system.width()) {
        store.part(store.part_of(state)).add(state, |_, _| {}).unwrap();
    }
    levels.push(&store.view().ends());
    let stock = Posted::new(&store, &mut levels, 0, budget.room());
    let closed = vec![false; goals.len()];
    let rounds = Rounds { space, stock: &stock, goals, closed: &closed, depth: 0, n_few: 0 };
    let first = stock.last_round(n_workers);
    let Outcome { report, limit, taken, n_rounds, .. } = rounds.run(first, &budget);
    assert_eq!(limit, None);
    drop(stock);
    let view = store.view();
    let state = |number: u32| {
        let mut words = vec![0; system.width()];
        view.get(number, &mut words);
        words
    };
    let mut rounds = Vec::new();
    for level in 0..levels.len() {
        let numbers = levels.level(level).into_iter().flat_map(|(from, to)| from..to);
        let mut states: Vec<Vec<u32>> = numbers.map(state).collect();
        states.sort_unstable();
        rounds.push(states);
    }
    let mut violating: Vec<_> = report.violations.iter().map(|&(goal, at)| (goal, state(at))).collect();
    violating.sort_unstable();
    let counts = [store.n_states(), report.transitions, report.deadlocks, n_rounds];
    Explored { rounds, violating, counts, taken }
}

/// Rounds of a system, and of parts of it, by three workers and by one.
fn rounds_of(seed: u64) {
    let system = random_system(seed);
    let goals = [Goal::Deadlock, Goal::Invariant(0)];
    let goals = &goals[..(seed % 3) as usize];
    let expected = sync::right(|| explore(&system, goals, 1));
    assert_eq!(explore(&system, goals, 3), expected, "everything, {seed}");
    let reduced = Reduced::for_safety(&system, &[Goal::Invariant(0)], &mut Budget::unlimited()).unwrap();
    let expected = sync::right(|| explore(&reduced, goals, 1));
    assert_eq!(explore(&reduced, goals, 3), expected, "a part, {seed}");
}

const SEEDS: std::ops::Range<u64> = 0..60;

/// Whether some schedule of some system shows that something is wrong.
fn is_noticed_in_rounds(mutant: Option<Mutant>) -> bool {
    sync::set(mutant);
    let result = catch_unwind(AssertUnwindSafe(|| {
        SEEDS.for_each(|seed| shuttle::check_random(move || rounds_of(seed), N_SCHEDULES / 60));
    }));
    sync::set(None);
    result.is_err()
}

/// What one worker finds in rounds is what a search without rounds finds.
#[test]
fn rounds_of_one_worker_are_levels() {
    let all = |seed| {
        let system = random_system(seed);
        let explored = explore(&system, &[], 1);
        let mut exact = check::Exact::new(system.width(), u64::MAX);
        let alone = check::search::bfs::search(&system, &mut exact, &[], &mut Budget::unlimited());
        let stats = alone.stats;
        assert_eq!(explored.counts, [stats.states, stats.transitions, stats.deadlocks, stats.depth + 1]);
        assert_eq!(explored.taken, alone.taken);
    };
    SEEDS.for_each(|seed| shuttle::check_random(move || all(seed), 1));
}

#[test]
fn no_schedule_changes_what_rounds_find_and_every_mutant_is_noticed() {
    assert!(!is_noticed_in_rounds(None));
    for mutant in [Mutant::TakeTwice, Mutant::HandInLate, Mutant::LeadAlone, Mutant::TakeInAtOnce] {
        assert!(is_noticed_in_rounds(Some(mutant)), "{mutant:?}");
    }
}

/// A long way on which nothing can be left out, and then steps that do not disturb each other.
fn long_way() -> ActionSystem {
    const LENGTH: i64 = 150;
    let mut builder = Builder::new();
    let way = builder.variable(Variable::new("way", 0, LENGTH));
    let (label, owner) = (builder.label("step"), builder.process("P"));
    for _ in 0..2 {
        let guards = vec![builder.guard(Guard::In(way, ValueSet::Range(0, LENGTH - 1)))];
        builder.action(Action { label, guards, effect: vec![Stmt::Add(way, 1)], owners: vec![owner] });
    }
    for name in ["Q", "R"] {
        let (var, owner) = (builder.variable(Variable::new(name, 0, 3)), builder.process(name));
        let guards = [(way, LENGTH, LENGTH), (var, 0, 2)];
        let guards = guards.map(|(var, from, to)| builder.guard(Guard::In(var, ValueSet::Range(from, to))));
        let (guards, effect) = (guards.to_vec(), vec![Stmt::Add(var, 1)]);
        builder.action(Action { label, guards, effect, owners: vec![owner] });
    }
    builder.initial(&[0; 3]);
    builder.finish().unwrap()
}

/// Two states of the first round, each with a step to the same state that nobody watches, and one that is watched.
fn two_ways() -> ActionSystem {
    let mut builder = Builder::new();
    let watched = builder.variable(Variable::new("watched", 0, 1));
    let way = builder.variable(Variable::new("way", 0, 2));
    for (name, var, from, to) in [("P", watched, 0, 1), ("Q", way, 0, 2), ("Q", way, 1, 2)] {
        let (label, owner) = (builder.label("step"), builder.process(name));
        let guards = vec![builder.guard(Guard::In(var, ValueSet::Range(from, from)))];
        builder.action(Action { label, guards, effect: vec![Stmt::set(var, to)], owners: vec![owner] });
    }
    builder.initial(&[0, 0]);
    builder.initial(&[0, 1]);
    let mut system = builder.finish().unwrap();
    let (watched, one) = (system.exprs.var(watched), system.exprs.int(1));
    let less = system.exprs.binary(BinaryOp::Lt, watched, one);
    system.add_proposition("less", less);
    system
}

/// Many states in one round, so that a worker takes several of them at a time.
fn fan() -> ActionSystem {
    const WIDTH: i64 = 60;
    let mut builder = Builder::new();
    let at = builder.variable(Variable::new("at", 0, 2 * WIDTH));
    let (label, owner) = (builder.label("step"), builder.process("P"));
    let ways = (1..=WIDTH).flat_map(|to| [(0, to), (to, to + WIDTH)]);
    for (from, to) in ways {
        let guards = vec![builder.guard(Guard::In(at, ValueSet::Range(from, from)))];
        builder.action(Action { label, guards, effect: vec![Stmt::set(at, to)], owners: vec![owner] });
    }
    builder.initial(&[0]);
    builder.finish().unwrap()
}

/// Who has enough to post when some of the states that it took are not expanded does so in the next turn of the same round.
#[test]
fn states_that_were_taken_are_expanded_in_their_round() {
    let once = || {
        let system = fan();
        let expected = sync::right(|| explore(&system, &[], 1));
        assert_eq!(explore(&system, &[], 2), expected);
    };
    assert!(!is_noticed(None, 10, once));
    assert!(is_noticed(Some(Mutant::ForgetRest), 10, once));
}

/// What was found in an earlier turn of the same round is ahead all the same.
#[test]
fn turns_make_no_difference_to_what_is_ahead() {
    let once = || {
        let system = two_ways();
        let goals = [Goal::Invariant(0)];
        let reduced = Reduced::for_safety(&system, &goals, &mut Budget::unlimited()).unwrap();
        let expected = sync::right(|| explore(&reduced, &[], 3));
        assert_eq!(explore(&reduced, &[], 1), expected);
    };
    assert!(!is_noticed(None, 10, once));
    assert!(is_noticed(Some(Mutant::AheadIfNew), 10, once));
}

/// One who has left nothing out for long does not look for sets in every state: what it takes depends on what it met.
#[test]
fn sets_that_depend_on_what_was_met_are_noticed() {
    let once = || {
        let system = long_way();
        let reduced = Reduced::for_deadlocks(&system, &mut Budget::unlimited()).unwrap();
        let expected = sync::right(|| explore(&reduced, &[], 1));
        assert_eq!(explore(&reduced, &[], 2), expected);
    };
    assert!(!is_noticed(None, 10, once));
    assert!(is_noticed(Some(Mutant::AdaptiveScratch), 10, once));
}
