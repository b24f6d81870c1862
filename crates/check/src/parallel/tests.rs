//! Meetings, alarms and levels by themselves. (The sources are compiled once more for `tests/schedules.rs`, where these tests could not run.)

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicUsize;
use std::thread;

use base::{Budget, Limit, Team, Worker};
use model::{Action, ActionSystem, Builder, Guard, Stmt, System as _, ValueSet, Variable};

use super::levels::{Levels, MOST, Pieces, n_states_of};
use super::meeting::{Alarm, Meeting};
use super::posted::Posted;
use super::recent::Recent;
use super::rounds::Rounds;
use crate::store::Exact;
use crate::store::owned::Owned;
use crate::sync::Ordering;

#[test]
fn nobody_goes_on_before_all_are_there_and_nobody_waits_for_who_left() {
    let (meeting, at_work, n_led) = (Meeting::new(4), AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for worker in 0..4 {
            let (meeting, at_work, n_led) = (&meeting, &at_work, &n_led);
            scope.spawn(move || {
                let member = meeting.join();
                for round in 0..300 {
                    if worker > 0 && round == 100 * worker {
                        return;
                    }
                    at_work.fetch_add(1, Ordering::SeqCst);
                    let n_left = (1..4).filter(|leaver| 100 * leaver > round).count() + 1;
                    member.meet(|| {
                        assert_eq!(at_work.swap(0, Ordering::SeqCst), n_left);
                        n_led.fetch_add(1, Ordering::SeqCst);
                    });
                }
            });
        }
    });
    assert_eq!(n_led.into_inner(), 300);
}

#[test]
fn the_first_reason_counts() {
    let alarm = Alarm::new();
    assert!(!alarm.is_rung());
    alarm.ring(1);
    alarm.ring(2);
    assert_eq!((alarm.is_rung(), alarm.take()), (true, Some(1)));
}

#[test]
#[should_panic(expected = "thrown out")]
fn who_is_thrown_out_stops_everybody_and_is_missed() {
    let alarm: Alarm<()> = Alarm::new();
    thread::scope(|scope| {
        let thrown_out = scope.spawn(|| {
            let _at_work = alarm.at_work();
            panic!("a mistake");
        });
        assert!(thrown_out.join().is_err());
    });
    assert!(alarm.is_rung());
    alarm.take();
}

#[test]
fn levels_are_shared_out_and_found_again() {
    let numbering = Owned::new(1, 2, u64::MAX).numbering();
    let number = |part, index| numbering.number(part, index);
    let mut levels = Levels::new(numbering, &[3, 0]);
    let n_new = [[4, 0], [73, 100], [73, 100], [73, 330]].map(|ends| levels.push(&ends));
    assert_eq!(n_new, [1, 169, 0, 230]);
    let two = number(1, 0);
    assert_eq!(levels.level(1), [(4, 73), (two, two + 100)]);
    assert_eq!([0, 1, 2, 3].map(|level| n_states_of(&levels.level(level))), [1, 169, 0, 230]);
    let level_of = |number| levels.level_of(number, 1);
    assert_eq!(
        [3, 4, 72, 73, two, two + 99, two + 100, two + 329, two + 330].map(level_of),
        [None, Some(1), Some(1), None, Some(1), Some(1), Some(3), Some(3), None]
    );
    let pieces = Pieces::of(&levels.level(1), 1);
    let mut all = Vec::new();
    while let Some(piece) = pieces.take() {
        assert!(piece.len() <= MOST);
        all.extend(piece);
    }
    assert!(pieces.is_empty());
    assert_eq!(all, (4..73).chain(two..two + 100).collect::<Vec<u32>>());
}

#[test]
fn an_owned_store_behaves_like_a_hash_map() {
    let mut random = fastrand::Rng::with_seed(3);
    for (width, n_parts) in [(1, 1), (2, 2), (3, 5), (6, 16)] {
        let store = Owned::new(width, n_parts, u64::MAX);
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        for _ in 0..5000 {
            let state: Vec<u32> = (0..width).map(|_| random.u32(0..9) * 0x0101_0101).collect();
            let part = store.part_of(&state);
            let mut new = Vec::new();
            let twice = [&state[..], &state].concat();
            store.part(part).add(&twice, |number, words| new.push((number, words.to_vec()))).unwrap();
            assert!(new.len() <= 1 && new.is_empty() == numbers.contains_key(&state));
            for (number, words) in new {
                assert_eq!((store.numbering().part(number), &words), (part, &state));
                numbers.insert(words, number);
            }
        }
        let (view, n_states) = (store.view(), numbers.len() as u64);
        assert_eq!(
            (store.n_states(), view.ends().iter().map(|&end| u64::from(end)).sum()),
            (n_states, n_states)
        );
        let mut listed: Vec<u32> = store.segments().into_iter().flat_map(|(from, to)| from..to).collect();
        listed.sort_unstable();
        let mut words = vec![0; width];
        for &number in &listed {
            view.get(number, &mut words);
            assert_eq!(numbers[&words], number);
            let index = view.find_in(store.part_of(&words), &words);
            assert_eq!(index, Some(store.numbering().index(number)));
        }
        assert_eq!(listed.len() as u64, n_states);
        assert_eq!(view.find_in(0, &vec![1; width]), None);
    }
}

#[test]
fn parts_of_an_owned_store_are_even_and_small() {
    const N_STATES: u32 = 400_000;
    for n_parts in [2, 3, 16] {
        let store = Owned::new(2, n_parts, u64::MAX);
        for word in 0..N_STATES {
            // As many systems have them: few bits of each word are used.
            let state = [word & 0x3ff, word >> 10 << 4];
            store.part(store.part_of(&state)).add(&state, |_, _| {}).unwrap();
        }
        let share = N_STATES / n_parts as u32;
        let ends = store.view().ends();
        assert!(ends.iter().all(|&end| end > share / 10 * 9 && end < share / 10 * 11), "{ends:?}");
        let bytes = store.bytes() as f64 / f64::from(N_STATES);
        assert!(bytes <= 16.0, "{bytes} bytes a state");
    }
}

#[test]
fn an_owned_store_keeps_to_its_room() {
    let store = Owned::new(2, 3, 300_000);
    let add = |word: u32| {
        let state = [word, !word];
        store.part(store.part_of(&state)).add(&state, |_, _| {}).err()
    };
    assert_eq!((0..).find_map(add), Some(Limit::Memory(300_000)));
    assert!(store.n_states() > 9000 && store.bytes() < 350_000);
}

/// What is dropped was passed on before, also where many states share few places.
#[test]
fn nothing_is_dropped_that_was_not_passed_on() {
    let mut random = fastrand::Rng::with_seed(4);
    for (width, mask) in [(1, u64::MAX), (2, 3 << 62), (9, 7 << 62), (5_000, u64::MAX)] {
        let (mut recent, mut passed_on, mut n_dropped) =
            (Recent::new(width, 2, u64::MAX.into()), HashSet::new(), 0);
        for _ in 0..2000 {
            let mut state = vec![0; width];
            state[width - 1] = random.u32(0..20);
            let is_dropped = recent.has(&state, Exact::hash(&state) & mask);
            assert!(!is_dropped || passed_on.contains(&state));
            assert!(recent.has(&state, Exact::hash(&state) & mask), "at once, it is known");
            n_dropped += u32::from(is_dropped);
            passed_on.insert(state);
        }
        assert!(n_dropped > 200 && recent.bytes() <= 1 << 20, "{n_dropped} of {width} words");
    }
    let alone = Recent::new(1, 1, u64::MAX.into());
    let poor = Recent::new(1, 2, 100.into());
    for mut recent in [alone, poor] {
        assert!(recent.bytes() == 0 && !recent.has(&[7], 0));
    }
}

#[test]
fn parts_grow_in_the_same_turn() {
    for (n_parts, width) in [(2, 1), (3, 2), (16, 1), (5, 7)] {
        let mut random = fastrand::Rng::with_seed(n_parts as u64);
        let store = Owned::new(width, n_parts, u64::MAX);
        let (mut n_before, mut n_grown) = (0, 0);
        let mut sizes = vec![0; n_parts];
        for turn in 0..120u32 {
            let n_slots = store.n_slots_ahead(n_before);
            n_before = store.n_states();
            let mut found = vec![Vec::new(); n_parts];
            for _ in 0..random.usize(1000..1500) * n_parts {
                let state: Vec<u32> = (0..width).map(|_| random.u32(..)).collect();
                found[store.part_of(&state)].extend(&state);
            }
            let mut grown = vec![false; n_parts];
            for (part, found) in found.iter().enumerate() {
                let mut own = store.part(part);
                own.grow_to(n_slots).unwrap();
                own.add(found, |_, _| {}).unwrap();
                grown[part] = own.n_slots() > sizes[part];
                sizes[part] = own.n_slots();
            }
            // Until there is a last turn to go by, each grows when it must.
            if turn > 1 {
                assert!(grown.iter().all(|&it| it == grown[0]), "{n_parts} parts, turn {turn}");
                n_grown += usize::from(grown[0]);
            }
        }
        assert!(n_grown > 3 && sizes.iter().all(|&size| size == sizes[0]), "{sizes:?}");
    }
}

/// Some counters, each of which goes up to a number by steps of its own.
fn counters(n_counters: usize, most: i64) -> ActionSystem {
    let mut builder = Builder::new();
    for index in 0..n_counters {
        let counter = builder.variable(Variable::new(format!("x{index}"), 0, most));
        let (label, owner) = (builder.label("up"), builder.process(format!("{index}")));
        let guards = vec![builder.guard(Guard::In(counter, ValueSet::Range(0, most - 1)))];
        let effect = vec![Stmt::Add(counter, 1)];
        builder.action(Action { label, guards, effect, owners: vec![owner] });
    }
    builder.initial(&vec![0; n_counters]);
    builder.finish().unwrap()
}

/// Three threads.
struct Three;

impl Team for Three {
    fn n_workers(&self) -> usize {
        3
    }

    fn run(&self, job: &(dyn Fn(Worker) + Sync)) {
        thread::scope(|scope| {
            for index in 1..3 {
                scope.spawn(move || job(Worker { index, of: 3 }));
            }
            job(Worker { index: 0, of: 3 });
        });
    }
}

/// If a search does not foresee that parts must grow, they grow one after the other: then some end with parts of different sizes.
#[test]
fn a_search_in_rounds_foresees_that_parts_grow() {
    let mut uneven = Vec::new();
    for most in 10..45 {
        let system = counters(3, most);
        let store = Owned::new(system.width(), 3, u64::MAX);
        let mut levels = Levels::new(store.numbering(), &store.view().ends());
        let mut initial = Vec::new();
        system.initial_states(&mut initial);
        store.part(store.part_of(&initial)).add(&initial, |_, _| {}).unwrap();
        levels.push(&store.view().ends());
        let budget = Budget::unlimited().with_team(&Three);
        let stock = Posted::new(&store, &mut levels, 0, budget.room());
        let first = stock.last_round(3);
        let rounds = Rounds { space: &system, stock: &stock, goals: &[], closed: &[], depth: 0, n_few: 0 };
        assert_eq!(rounds.run(first, &budget).limit, None);
        assert_eq!(store.n_states(), (most as u64 + 1).pow(3));
        let sizes: Vec<usize> = (0..3).map(|part| store.part(part).n_slots()).collect();
        if sizes.iter().any(|&size| size != sizes[0]) {
            uneven.push((most, sizes));
        }
    }
    assert_eq!(uneven, []);
}
