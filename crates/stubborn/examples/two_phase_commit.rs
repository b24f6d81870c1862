//! Two-phase commit with crashes: a manager asks participants whether they can commit, and tells them what became of it.
//!
//! `cargo run --release --example two_phase_commit`
//!
//! What must never happen: one participant commits, and another aborts. What should happen: all of them decide. The
//! protocol is famous for not doing the latter where the manager crashes at the wrong moment and stays down; here is
//! the run that shows it.
#![allow(clippy::print_stdout)] // An example shows what it finds.

use stubborn::embed::{Fair, Verdict};
use stubborn::{Check, Model, Pack, assert_always, assert_holds};

/// Number of participants.
const N: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Pack)]
enum Participant {
    Working,
    Prepared,
    Committed,
    Aborted,
    Crashed,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Pack)]
enum Manager {
    Waiting,
    Committed,
    Aborted,
    Down,
}

/// `Pack` makes a few bits of this: 20 here. That is optional, and makes the check faster.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Pack)]
struct State {
    participants: [Participant; N],
    manager: Manager,
    /// Whom the manager knows to be prepared.
    known: [bool; N],
    /// Messages on their way, which nobody takes away: who is prepared, and what was decided.
    says_prepared: [bool; N],
    says_commit: bool,
    says_abort: bool,
    #[pack(0..=1)]
    crashes_left: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Action {
    Prepare(usize),
    GiveUp(usize),
    HearCommit(usize),
    HearAbort(usize),
    Crash(usize),
    HearPrepared(usize),
    DecideCommit,
    DecideAbort,
    ManagerCrashes,
    ManagerRecovers,
}

struct TwoPhaseCommit;

impl Model for TwoPhaseCommit {
    type State = State;
    type Action = Action;

    fn initial(&self) -> Vec<State> {
        vec![State {
            participants: [Participant::Working; N],
            manager: Manager::Waiting,
            known: [false; N],
            says_prepared: [false; N],
            says_commit: false,
            says_abort: false,
            crashes_left: 1,
        }]
    }

    fn actions(&self, state: &State, out: &mut Vec<Action>) {
        if state.manager == Manager::Waiting {
            out.extend(
                (0..N).filter(|&i| state.says_prepared[i] && !state.known[i]).map(Action::HearPrepared),
            );
            if state.known == [true; N] {
                out.push(Action::DecideCommit);
            }
            out.push(Action::DecideAbort);
            if state.crashes_left > 0 {
                out.push(Action::ManagerCrashes);
            }
        }
        if state.manager == Manager::Down {
            out.push(Action::ManagerRecovers);
        }
        for i in 0..N {
            let (works, is_prepared) = match state.participants[i] {
                Participant::Working => (true, false),
                Participant::Prepared => (false, true),
                _ => continue,
            };
            if works {
                out.extend([Action::Prepare(i), Action::GiveUp(i)]);
            }
            if is_prepared && state.says_commit {
                out.push(Action::HearCommit(i));
            }
            if state.says_abort {
                out.push(Action::HearAbort(i));
            }
            out.push(Action::Crash(i));
        }
    }

    fn step(&self, state: &mut State, action: &Action) {
        match *action {
            Action::Prepare(i) => {
                state.participants[i] = Participant::Prepared;
                state.says_prepared[i] = true;
            }
            Action::GiveUp(i) | Action::HearAbort(i) => state.participants[i] = Participant::Aborted,
            Action::HearCommit(i) => state.participants[i] = Participant::Committed,
            Action::Crash(i) => state.participants[i] = Participant::Crashed,
            Action::HearPrepared(i) => state.known[i] = true,
            Action::DecideCommit => (state.manager, state.says_commit) = (Manager::Committed, true),
            Action::DecideAbort => (state.manager, state.says_abort) = (Manager::Aborted, true),
            Action::ManagerCrashes => (state.manager, state.crashes_left) = (Manager::Down, 0),
            Action::ManagerRecovers => state.manager = Manager::Waiting,
        }
    }

    fn processes(&self) -> Vec<String> {
        (0..N).map(|i| format!("participant {i}")).chain(["manager".to_owned()]).collect()
    }

    /// Crashes and recoveries are nobody's doing: such things may happen, and need not.
    fn process(&self, action: &Action) -> Option<usize> {
        match *action {
            Action::Prepare(i) | Action::GiveUp(i) | Action::HearCommit(i) | Action::HearAbort(i) => Some(i),
            Action::HearPrepared(_) | Action::DecideCommit | Action::DecideAbort => Some(N),
            Action::Crash(_) | Action::ManagerCrashes | Action::ManagerRecovers => None,
        }
    }
}

/// Checks that nobody disagrees, and when everybody decides.
pub(crate) fn main() {
    let check = Check::new(&TwoPhaseCommit)
        .packed()
        .prop("consistent", |state| {
            let some = |what| state.participants.contains(&what);
            !(some(Participant::Committed) && some(Participant::Aborted))
        })
        .prop("decided", |state| {
            !state.participants.iter().any(|one| matches!(one, Participant::Working | Participant::Prepared))
        })
        .weakly_fair();

    // A participant gives up before it is prepared only, and the manager decides once.
    let proof = assert_always!(check, "consistent");
    println!("nobody disagrees: {proof}");

    // Everybody who can go on does so, and still: the manager is down, and those who are prepared wait for it.
    match check.ltl("<> decided") {
        Verdict::Violated(run) => println!("not everybody decides:\n{run}"),
        other => panic!("{other}"),
    }
    // If the manager recovers, all is well.
    let recovers = check.fair(Fair::Weak, "recovery", |action| *action == Action::ManagerRecovers);
    assert_holds!(recovers, "<> decided");
    println!("if the manager recovers, everybody decides");
}
