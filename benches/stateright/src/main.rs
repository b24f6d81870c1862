//! The same models, checked by Stubborn and by stateright, one thread each: CPU time, memory, states.
//!
//! `cargo run --release --manifest-path benches/stateright/Cargo.toml -- [PARTICIPANTS [TERMS]]`
//!
//! Each measurement is a process of its own, so that its memory is its own. Two-phase commit with crashes has
//! 12 040 941 states for 7 participants, elections of Raft 6 698 549 for 5 terms. stateright tells states apart by 64
//! bits of hash; whatever Stubborn does here is exact, and `plain` counts small sizes by a set of states.

mod adapter;
mod raft;
mod two_phase;

use std::collections::HashSet;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::process::Command;

use stateright::{Checker as _, Model as _, Property};
use stubborn::embed::Verdict;
use stubborn::{Check, Model};

use raft::Raft;
use two_phase::{ByHand, Derived, Idiomatic, TwoPhase};

/// A model, and what must always be so.
pub trait Safe: Model {
    fn is_safe(&self, state: &Self::State) -> bool;
}

/// A model of Stubborn's, for stateright.
#[derive(Clone)]
struct ForStateright<M>(M);

impl<M: Safe + Clone> stateright::Model for ForStateright<M> {
    type State = M::State;
    type Action = M::Action;

    fn init_states(&self) -> Vec<M::State> {
        self.0.initial()
    }

    fn actions(&self, state: &M::State, actions: &mut Vec<M::Action>) {
        self.0.actions(state, actions);
    }

    fn next_state(&self, last: &M::State, action: M::Action) -> Option<M::State> {
        let mut next = last.clone();
        self.0.step(&mut next, &action);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::<Self>::always("safe", |model, state| model.0.is_safe(state))]
    }
}

/// States by a set, and nothing else.
fn plain<M: Model>(model: &M) -> u64 {
    let mut seen: HashSet<M::State> = model.initial().into_iter().collect();
    let mut queue: Vec<M::State> = model.initial();
    let mut actions = Vec::new();
    while let Some(state) = queue.pop() {
        actions.clear();
        model.actions(&state, &mut actions);
        for action in &actions {
            let mut next = state.clone();
            model.step(&mut next, action);
            if seen.insert(next.clone()) {
                queue.push(next);
            }
        }
    }
    seen.len() as u64
}

fn stubborn<M: Model>(check: Check<'_, M>) -> u64 {
    match check.always("safe") {
        Verdict::Holds(proof) => proof.states,
        other => panic!("{other}"),
    }
}

fn safely<M: Safe>(model: &M) -> Check<'_, M> {
    Check::new(model).prop("safe", |state| model.is_safe(state))
}

fn by_stateright<M>(model: M, breadth_first: bool) -> u64
where
    M: Safe + Clone + Send + 'static,
    M::State: Debug + Send + Sync + 'static,
    M::Action: Send + Sync + 'static,
{
    let checker = ForStateright(model).checker().threads(1);
    let states = if breadth_first {
        checker.spawn_bfs().join().unique_state_count()
    } else {
        checker.spawn_dfs().join().unique_state_count()
    };
    states as u64
}

/// CPU seconds and peak bytes of this process so far.
fn usage() -> (f64, u64) {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("this is Linux");
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks =
        |field: usize| after_name.split_whitespace().nth(field).and_then(|text| text.parse::<f64>().ok());
    let status = std::fs::read_to_string("/proc/self/status").expect("this is Linux");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes =
        peak.and_then(|text| text.split_whitespace().next()).and_then(|text| text.parse::<u64>().ok());
    ((ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / 100.0, 1024 * kibibytes.unwrap_or(0))
}

fn measure(what: &str, participants: usize, terms: u8) -> u64 {
    let idiomatic = TwoPhase::<Idiomatic>(participants, PhantomData);
    let derived = TwoPhase::<Derived>(participants, PhantomData);
    let by_hand = TwoPhase::<ByHand>(participants, PhantomData);
    let raft = Raft { servers: 3, terms };
    match what {
        "2pc packed by hand, Stubborn" => stubborn(safely(&by_hand).packed()),
        "2pc packed by derive, Stubborn" => stubborn(safely(&derived).packed()),
        "2pc idiomatic, Stubborn" => stubborn(safely(&idiomatic)),
        "2pc idiomatic, by fingerprints, Stubborn" => stubborn(safely(&idiomatic).fingerprints()),
        "2pc idiomatic, packed, Stubborn" => stubborn(safely(&idiomatic).packed()),
        "2pc packed by hand, stateright bfs" => by_stateright(by_hand, true),
        "2pc packed by hand, stateright dfs" => by_stateright(by_hand, false),
        "2pc idiomatic, stateright bfs" => by_stateright(idiomatic, true),
        "2pc idiomatic, stateright dfs" => by_stateright(idiomatic, false),
        "2pc idiomatic, plain" => plain(&idiomatic),
        "Raft actors, Stubborn" => stubborn(raft::actors(&raft).check().prop("safe", raft::is_safe)),
        "Raft plain model, Stubborn" => stubborn(safely(&raft)),
        "Raft plain model, by fingerprints, Stubborn" => stubborn(safely(&raft).fingerprints()),
        "Raft plain model, stateright bfs" => by_stateright(raft, true),
        "Raft plain model, stateright dfs" => by_stateright(raft, false),
        "Raft plain model, plain" => plain(&raft),
        _ => panic!("there is no `{what}`"),
    }
}

const ALL: [&str; 16] = [
    "2pc packed by hand, Stubborn",
    "2pc packed by hand, stateright bfs",
    "2pc packed by hand, stateright dfs",
    "2pc packed by derive, Stubborn",
    "2pc idiomatic, Stubborn",
    "2pc idiomatic, by fingerprints, Stubborn",
    "2pc idiomatic, packed, Stubborn",
    "2pc idiomatic, stateright bfs",
    "2pc idiomatic, stateright dfs",
    "2pc idiomatic, plain",
    "Raft actors, Stubborn",
    "Raft plain model, Stubborn",
    "Raft plain model, by fingerprints, Stubborn",
    "Raft plain model, stateright bfs",
    "Raft plain model, stateright dfs",
    "Raft plain model, plain",
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, or: usize| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(or);
    let (participants, terms) = (number(0, 6).min(two_phase::N), number(1, 4) as u8);
    if let Some(what) = arguments.get(2) {
        let (before, _) = usage();
        let states = measure(what, participants, terms);
        let (cpu, bytes) = usage();
        println!("{states} {} {bytes}", cpu - before);
        return;
    }
    adapter::show();
    println!("{participants} participants, {terms} terms");
    println!("{:<44} {:>10} {:>8} {:>12} {:>8}", "", "states", "CPU s", "states/s", "B/state");
    for what in ALL {
        // Sets of whole states take too much memory beyond that.
        if what.ends_with("plain") && (participants > 6 || terms > 4) {
            continue;
        }
        let this = std::env::current_exe().expect("this runs");
        let output = Command::new(this).args([&participants.to_string(), &terms.to_string(), what]).output();
        let output = output.expect("this runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let numbers: Vec<f64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        match numbers[..] {
            [states, cpu, bytes] => {
                println!(
                    "{what:<44} {states:>10} {cpu:>8.2} {:>12.0} {:>8.1}",
                    states / cpu.max(0.01),
                    bytes / states
                );
            }
            _ => println!("{what:<44} {}", String::from_utf8_lossy(&output.stderr)),
        }
    }
}
