//! The shared store against hash maps, with real threads.

#![allow(clippy::iter_over_hash_type)] // Everything in a map is compared, in whatever order.

use std::collections::HashMap;
use std::thread;

use base::Limit;
use stubborn_check::store::shared::{Shared, SharedProducts};
use stubborn_check::store::{Products as _, StateId, Store as _, Visited as _};

/// So many numbers at most are left unused by each worker.
const BLOCK: usize = 1024;

fn state(width: usize, seed: u32) -> Vec<u32> {
    (0..width as u32).map(|index| seed.wrapping_mul(0x9E37_79B1).rotate_left(index)).collect()
}

/// Several workers add random states, of which each meets most; some look for states meanwhile.
fn add_at_once(width: usize, n_workers: usize, n_kinds: u32) -> Shared {
    let store = Shared::new(width, u64::MAX);
    let add = |worker: usize| {
        let mut random = fastrand::Rng::with_seed(worker as u64);
        let mut handle = store.handle();
        let mut known: HashMap<Vec<u32>, StateId> = HashMap::new();
        let mut n_new = 0;
        for round in 0..6000 {
            let states: Vec<u32> =
                (0..random.usize(0..8)).flat_map(|_| state(width, random.u32(0..n_kinds))).collect();
            let each = |index: usize, id, is_new: bool| {
                n_new += u64::from(is_new);
                let state = states[width * index..width * (index + 1)].to_vec();
                assert_eq!(*known.entry(state).or_insert(id), id, "a number never changes");
            };
            handle.insert_each(&states, width, each).unwrap();
            if round % 7 == 0 {
                let wanted = state(width, random.u32(0..n_kinds));
                let found = handle.find(&wanted);
                assert!(known.get(&wanted).is_none_or(|id| found == Some(*id)));
                // A worker goes, and another one comes.
                handle = if round % 49 == 0 { store.handle() } else { handle };
            }
        }
        (known, n_new)
    };
    let found: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..n_workers).map(|worker| scope.spawn(move || add(worker))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut all: HashMap<Vec<u32>, StateId> = HashMap::new();
    let handle = store.handle();
    for (state, id) in found.iter().flat_map(|(known, _)| known) {
        assert_eq!(all.entry(state.clone()).or_insert(*id), id, "a state has one number");
        assert_eq!(handle.find(state), Some(*id));
    }
    assert_eq!(store.n_states(), all.len() as u64);
    assert_eq!(store.n_states(), found.iter().map(|found| found.1).sum::<u64>(), "each is new once");
    assert!(store.n_ids() <= all.len() + (n_workers + 1) * BLOCK);
    let mut words = vec![0; width];
    for (state, id) in &all {
        store.get(*id, &mut words);
        assert_eq!(*state, words);
    }
    drop(handle);
    store
}

#[test]
fn behaves_like_a_hash_map_whoever_adds() {
    for (width, n_workers) in [(1, 1), (1, 3), (2, 2), (5, 4)] {
        add_at_once(width, n_workers, 100_000);
    }
}

#[test]
fn few_states_that_all_workers_add_at_once() {
    for n_workers in [2, 4, 8] {
        assert_eq!(add_at_once(2, n_workers, 300).n_states(), 300);
    }
}

#[test]
fn a_state_of_eight_bytes_takes_sixteen() {
    let store = Shared::new(2, u64::MAX);
    let mut handles = [store.handle(), store.handle()];
    for number in 0..1_000_000u32 {
        handles[number as usize % 2].insert(&[number, !number]).unwrap();
        if number > 100_000 && number.is_multiple_of(1024) {
            let bytes = store.bytes() as f64 / f64::from(number);
            assert!(bytes <= 16.0, "{bytes} bytes for {number} states");
        }
    }
}

#[test]
fn running_out_of_memory_is_an_answer() {
    let store = Shared::new(2, 200_000);
    let mut handle = store.handle();
    let error = (0u32..).find_map(|i| handle.insert(&[i, i]).err());
    assert_eq!(error, Some(Limit::Memory(200_000)));
    assert!(handle.n_states() > 6000 && store.bytes() <= 250_000);
    assert_eq!(handle.find(&[5, 5]), Some(StateId::new(5)));
}

#[test]
fn every_pair_has_one_number_whoever_adds_it() {
    // The last observer has more states than it said, so that some pairs fit in a word and some do not.
    for (n_workers, n_systems, n_observers, n_said) in
        [(1, 3000, 4, 4), (3, 3000, 1, 1), (2, 3000, 4, 4), (4, 50, 300, 300), (3, 500, 40, 9)]
    {
        let store = SharedProducts::new(1, n_said, u64::MAX);
        let add = |worker: u64| {
            let mut random = fastrand::Rng::with_seed(worker);
            let mut handle = store.handle();
            let mut known = HashMap::new();
            let (mut n_new, mut ids) = (0, Vec::new());
            for _ in 0..9000 {
                let systems: Vec<u32> = (0..3).map(|_| random.u32(0..n_systems)).collect();
                let pairs: Vec<(u32, u32)> =
                    (0..4).map(|_| (random.u32(0..3), random.u32(0..n_observers))).collect();
                handle.insert_all(&systems, 1, pairs.iter().copied(), &mut ids).unwrap();
                for (&(place, observer), &(id, is_new)) in pairs.iter().zip(&ids) {
                    n_new += u64::from(is_new);
                    let pair = (systems[place as usize], observer);
                    assert_eq!(*known.entry(pair).or_insert(id), id);
                    assert_eq!(handle.find(&[pair.0], pair.1), Some(id));
                    assert_eq!(handle.observer_state(id), observer);
                }
            }
            (known, n_new)
        };
        let found: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..n_workers).map(|worker| scope.spawn(move || add(worker))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut all: HashMap<(u32, u32), StateId> = HashMap::new();
        for (pair, id) in found.iter().flat_map(|(known, _)| known) {
            assert_eq!(all.entry(*pair).or_insert(*id), id);
        }
        assert_eq!(store.n_states(), all.len() as u64);
        assert_eq!(found.iter().map(|found| found.1).sum::<u64>(), all.len() as u64);
        let mut numbers: Vec<StateId> = all.values().copied().collect();
        numbers.sort_unstable();
        assert_eq!(store.handle().ids().collect::<Vec<_>>(), numbers);
        let mut system = [0];
        for (pair, id) in &all {
            assert_eq!((store.get(*id, &mut system), system[0]), (pair.1, pair.0));
        }
    }
}
