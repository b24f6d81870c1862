//! Meetings, alarms and levels by themselves. (The sources are compiled once more for `tests/schedules.rs`, where these tests could not run.)

use std::sync::atomic::AtomicUsize;
use std::thread;

use super::levels::{Levels, MOST, Pieces, n_states_of};
use super::meeting::{Alarm, Meeting};
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
    let mut levels = Levels::default();
    levels.push(vec![(0, 1)]);
    levels.push(vec![(300, 400), (1, 40), (40, 70)]);
    levels.push(vec![]);
    levels.push(vec![(70, 300)]);
    assert_eq!(levels.level(1), [(1, 70), (300, 400)]);
    assert_eq!([0, 1, 2, 3].map(|level| n_states_of(levels.level(level))), [1, 169, 0, 230]);
    let level_of = |number| levels.level_of(number, 1);
    assert_eq!(
        [0, 1, 69, 70, 299, 300, 400].map(level_of),
        [None, Some(1), Some(1), Some(3), Some(3), Some(1), None]
    );
    let pieces = Pieces::of(levels.level(1), 1);
    let mut all = Vec::new();
    while let Some(piece) = pieces.take() {
        assert!(piece.len() <= MOST);
        all.extend(piece);
    }
    assert_eq!(all, (1..70).chain(300..400).collect::<Vec<u32>>());
}
