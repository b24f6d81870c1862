//! Models that go wrong: panics, dice, ranges that are too small. Each is told, with how it comes to that.

use std::sync::atomic::{AtomicU32, Ordering};

use stubborn_embed::{Check, Failure, Fair, Model, Reason, Verdict, assert_always};

/// Counts, and does something wrong at a number.
struct Counter {
    wrong: Wrong,
    dice: AtomicU32,
}

#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    Nothing,
    StepPanics,
    ActionsPanic,
    InitialPanics,
    NoInitial,
    DiceInStep,
    DiceInActions,
    RareDice,
}

impl Counter {
    fn new(wrong: Wrong) -> Counter {
        Counter { wrong, dice: AtomicU32::new(0) }
    }

    fn roll(&self) -> u32 {
        self.dice.fetch_add(1, Ordering::Relaxed)
    }
}

impl Model for Counter {
    type State = u32;
    type Action = &'static str;

    fn initial(&self) -> Vec<u32> {
        assert!(self.wrong != Wrong::InitialPanics, "no start");
        if self.wrong == Wrong::NoInitial { vec![] } else { vec![0] }
    }

    fn actions(&self, state: &u32, out: &mut Vec<&'static str>) {
        assert!(self.wrong != Wrong::ActionsPanic || *state < 7, "too far");
        if *state < 2000 {
            out.push("up");
        }
        if self.wrong == Wrong::DiceInActions && self.roll().is_multiple_of(2) {
            out.push("odd");
        }
    }

    fn step(&self, state: &mut u32, _: &&'static str) {
        assert!(self.wrong != Wrong::StepPanics || *state < 7, "cannot count beyond {state}");
        *state += 1;
        if self.wrong == Wrong::DiceInStep || self.wrong == Wrong::RareDice && *state > 1500 {
            *state += self.roll() % 2;
        }
    }

    fn processes(&self) -> Vec<String> {
        vec!["counter".to_owned()]
    }

    fn process(&self, _: &&'static str) -> Option<usize> {
        Some(0)
    }
}

fn check(counter: &Counter) -> Check<'_, Counter> {
    Check::new(counter).prop("small", |n| *n < 4000).prop("done", |n| *n == 2000)
}

#[test]
fn nothing_is_wrong() {
    let counter = Counter::new(Wrong::Nothing);
    assert_eq!(assert_always!(check(&counter), "small").states, 2001);
    assert!(check(&counter).eventually("done").holds());
}

#[test]
fn panics_come_with_their_run() {
    for (wrong, text) in [(Wrong::StepPanics, "cannot count beyond 7"), (Wrong::ActionsPanic, "too far")] {
        let counter = Counter::new(wrong);
        for verdict in [
            check(&counter).always("small"),
            check(&counter).ltl("<> done"),
            check(&counter).weakly_fair().ltl("<> done"),
            check(&counter).deadlock_free(),
        ] {
            let Verdict::Panics(run) = verdict else { panic!("it must panic: {verdict}") };
            assert_eq!((run.steps.len(), *run.last()), (7, 7));
            assert!(run.what.contains(text) && run.what.contains("troubles.rs"), "{}", run.what);
        }
        assert!(matches!(check(&counter).count(), Err(Failure::Panics(_))));
        assert!(check(&counter).simulate(1, 100).is_err());
    }
}

#[test]
fn a_proposition_may_panic_too() {
    let counter = Counter::new(Wrong::Nothing);
    let check = Check::new(&counter).prop("fine", |n| 100 / (5i32 - *n as i32) < 200);
    let Verdict::Panics(run) = check.always("fine") else { panic!("division by zero") };
    assert_eq!(run.steps.len(), 5);
    assert!(run.what.contains("a proposition panics"), "{}", run.what);
}

#[test]
fn a_model_that_cannot_begin() {
    for (wrong, text) in [(Wrong::InitialPanics, "no start"), (Wrong::NoInitial, "no initial state")] {
        let counter = Counter::new(wrong);
        for verdict in [check(&counter).always("small"), check(&counter).ltl("<> done")] {
            let Verdict::Unknown(Reason::Question(told)) = verdict else { panic!("{verdict}") };
            assert!(told.contains(text), "{told}");
        }
        assert!(check(&counter).simulate(1, 100).is_err());
        assert!(check(&counter).replay("0:0").is_err());
    }
}

#[test]
fn dice_are_found_out() {
    for wrong in [Wrong::DiceInStep, Wrong::DiceInActions] {
        let counter = Counter::new(wrong);
        for verdict in [check(&counter).always("small"), check(&counter).ltl("<> done")] {
            assert!(matches!(verdict, Verdict::Unknown(Reason::Nondeterministic(_))), "{verdict}");
        }
    }
    // Dice that are rolled late are found when the run is repeated, if not before; nothing wrong is ever shown.
    let counter = Counter::new(Wrong::RareDice);
    let verdict = Check::new(&counter).prop("below", |n| *n < 1900).always("below");
    assert!(verdict.is_unknown() || verdict.is_violated(), "{verdict}");
}

#[test]
fn verdicts_are_errors_for_question_marks() {
    fn test(counter: &Counter) -> Result<u64, Box<dyn std::error::Error + '_>> {
        let proof = check(counter).always("small").into_result()?;
        check(counter).fair(Fair::Weak, "all", |_| true).ltl("<> done").into_result()?;
        Ok(proof.states)
    }
    assert_eq!(test(&Counter::new(Wrong::Nothing)).expect("all is fine"), 2001);
    let counter = Counter::new(Wrong::StepPanics);
    assert!(test(&counter).unwrap_err().to_string().contains("cannot count beyond 7"));
}

/// A copy that is none where something was there before.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Sloppy(Vec<u8>);

impl Clone for Sloppy {
    fn clone(&self) -> Sloppy {
        Sloppy(self.0.clone())
    }

    fn clone_from(&mut self, source: &Sloppy) {
        self.0[0] = source.0[0];
    }
}

struct Copies;

impl Model for Copies {
    type State = Sloppy;
    type Action = usize;

    fn initial(&self) -> Vec<Sloppy> {
        vec![Sloppy(vec![0, 0])]
    }

    fn actions(&self, _: &Sloppy, out: &mut Vec<usize>) {
        out.extend([0, 1]);
    }

    fn step(&self, state: &mut Sloppy, &digit: &usize) {
        state.0[digit] = (state.0[digit] + 1) % 4;
    }
}

#[test]
fn a_copy_that_is_none_is_told() {
    let verdict = Check::new(&Copies).prop("small", |state| state.0 != [3, 3]).always("small");
    let Verdict::Unknown(reason) = verdict else { panic!("{verdict}") };
    assert!(reason.to_string().contains("`clone_from` makes Sloppy"), "{reason}");
}
