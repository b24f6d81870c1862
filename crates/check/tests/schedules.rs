//! The shared store under many schedules: the same source, with locks and atomics that a scheduler of `shuttle` interleaves at
//! random. Blocks and tables are tiny here, so that tables grow all the time.
//!
//! The known ways to get it wrong are tried, too, and each must be noticed: a test that finds nothing wrong with them would be
//! worth nothing.

#![allow(dead_code, unreachable_pub, missing_docs, unused_imports, unused_qualifications)]

extern crate stubborn_check as check;

/// What `crate::sync` is to the library.
mod sync {
    use std::sync::atomic::AtomicU8;

    pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
    pub(crate) use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard};

    pub(crate) const BLOCK_BITS: u32 = 1;
    pub(crate) const ROW_BITS: u32 = 2;
    pub(crate) const N_ROWS: usize = 64;
    pub(crate) const MIN_SLOTS: usize = 10;

    pub(crate) trait Zero: Sized {
        fn zero() -> Self;
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

    pub(crate) fn wait<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        condvar.wait(guard).unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Mutant {
        PublishFirst = 1,
        SkipAfterRace,
        GrowAtOnce,
    }

    static WRONG: AtomicU8 = AtomicU8::new(0);

    pub(crate) fn is(mutant: Mutant) -> bool {
        WRONG.load(Ordering::Relaxed) == mutant as u8
    }

    pub(crate) fn set(mutant: Option<Mutant>) {
        WRONG.store(mutant.map_or(0, |mutant| mutant as u8), Ordering::Relaxed);
    }
}

#[path = "../src/store"]
mod store {
    pub use check::store::{Coverage, Products, StateId, Store, Visited};

    /// Few different hashes, so that chains are long and tags are equal.
    pub(crate) fn hash(state: &[u32], _: u64) -> u64 {
        let mixed =
            state.iter().fold(7, |hash: u64, &word| (hash ^ u64::from(word)).wrapping_mul(0x9E37_79B9));
        (mixed >> 7 & 3) << 62 | (mixed >> 3 & 1)
    }

    #[path = "shared/mod.rs"]
    pub mod shared;
}

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

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
    let store = Arc::new(Shared::new(2, 0, u64::MAX));
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

/// The same for pairs.
fn pairs() {
    let store = Arc::new(SharedProducts::new(1, 0, u64::MAX));
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

/// Whether some schedule shows that something is wrong.
fn is_noticed(mutant: Option<Mutant>, test: fn()) -> bool {
    sync::set(mutant);
    let result = catch_unwind(AssertUnwindSafe(|| shuttle::check_random(test, N_SCHEDULES)));
    sync::set(None);
    result.is_err()
}

/// One test, since the mutants are set for all.
#[test]
fn no_schedule_breaks_the_store_and_every_mutant_is_noticed() {
    assert!(!is_noticed(None, states));
    assert!(!is_noticed(None, pairs));
    for mutant in [Mutant::PublishFirst, Mutant::SkipAfterRace, Mutant::GrowAtOnce] {
        assert!(is_noticed(Some(mutant), states), "{mutant:?}");
    }
}
