//! A coordinator that may crash, and may come back or not: what fairness forces, and what it does not.

use stubborn_embed::{Check, Fair, Model, assert_always, assert_eventually, assert_violated};

/// Two-phase commit in small: a coordinator that may crash, and may come back or not.
struct Commit {
    recovers: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Phase {
    coordinator: &'static str,
    prepared: [bool; 2],
    decided: [bool; 2],
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Event {
    Prepare(usize),
    Commit,
    Hear(usize),
    Crash,
    Recover,
    Poll,
}

impl Model for Commit {
    type State = Phase;
    type Action = Event;

    fn initial(&self) -> Vec<Phase> {
        vec![Phase { coordinator: "waits", prepared: [false; 2], decided: [false; 2] }]
    }

    fn actions(&self, state: &Phase, out: &mut Vec<Event>) {
        for i in 0..2 {
            if !state.prepared[i] {
                out.push(Event::Prepare(i));
            } else if state.coordinator == "committed" && !state.decided[i] {
                out.push(Event::Hear(i));
            }
        }
        match state.coordinator {
            "waits" if state.prepared == [true; 2] => out.extend([Event::Commit, Event::Crash]),
            "waits" => out.push(Event::Crash),
            "down" if self.recovers => out.push(Event::Recover),
            _ => {}
        }
        if state.prepared.contains(&true) && state.decided != [true; 2] {
            out.push(Event::Poll);
        }
    }

    fn step(&self, state: &mut Phase, action: &Event) {
        match *action {
            Event::Prepare(i) => state.prepared[i] = true,
            Event::Hear(i) => state.decided[i] = true,
            Event::Commit => state.coordinator = "committed",
            Event::Crash => state.coordinator = "down",
            Event::Recover => state.coordinator = "waits",
            Event::Poll => {}
        }
    }

    fn processes(&self) -> Vec<String> {
        ["left", "right", "coordinator"].map(str::to_owned).to_vec()
    }

    fn process(&self, action: &Event) -> Option<usize> {
        match action {
            Event::Prepare(i) | Event::Hear(i) => Some(*i),
            Event::Commit | Event::Recover => Some(2),
            Event::Crash | Event::Poll => None,
        }
    }
}

/// A run that goes round for ever without a decision is a violation, though it never ends.
#[test]
fn eventually_on_a_cycle() {
    let check =
        |model| Check::new(model).prop("decided", |state: &Phase| state.decided == [true; 2]).weakly_fair();
    let run = assert_violated!(check(&Commit { recovers: false }), "<> decided");
    assert_eq!(run.last().coordinator, "down");
    // With a coordinator that comes back, weak fairness is not enough: it may crash each time.
    assert_violated!(check(&Commit { recovers: true }), "<> decided");
    let commits = |action: &Event| *action == Event::Commit;
    let check = check(&Commit { recovers: true }).fair(Fair::Strong, "commit", commits);
    assert_eventually!(check, "decided");
}

/// Nobody is forced to crash: a system that waits for the environment may wait for ever.
#[test]
fn crashes_are_not_forced() {
    let model = Commit { recovers: true };
    let check = Check::new(&model).prop("down", |state| state.coordinator == "down");
    assert_violated!(check.weakly_fair(), "<> down");
}

/// A formula with `X` sees stuttering: nothing may be left out.
#[test]
fn the_next_step() {
    struct Three;
    impl Model for Three {
        type State = [bool; 3];
        type Action = usize;

        fn initial(&self) -> Vec<[bool; 3]> {
            vec![[false; 3]]
        }

        fn actions(&self, state: &[bool; 3], out: &mut Vec<usize>) {
            out.extend((0..3).filter(|&i| !state[i]));
        }

        fn step(&self, state: &mut [bool; 3], i: &usize) {
            state[*i] = true;
        }
    }
    let check = Check::new(&Three).prop("p", |state| state[0]).prop("bounded", |_| true);
    for formula in ["X p", "X X p", "[] (!p -> X p)", "p R X p"] {
        assert_violated!(check, formula);
    }
    assert!(check.ltl("X X X p").holds());
    assert_always!(check, "bounded");
}
