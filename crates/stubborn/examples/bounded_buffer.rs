//! A bounded buffer: producers wait for room and put a number into a queue, a consumer takes numbers out.
//!
//! `cargo run --example bounded_buffer`
//!
//! The smallest useful model: it says what a state is, what can happen in it, and who does that. Two questions are
//! asked. Is the queue ever longer than it may be? And does a producer that waits get its turn?
#![allow(clippy::print_stdout)] // An example shows what it finds.

use stubborn::embed::Verdict;
use stubborn::{Check, Model, assert_always, assert_holds};

pub(crate) struct Buffer {
    pub(crate) producers: usize,
    pub(crate) capacity: usize,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct State {
    /// Per producer, whether it waits for room.
    pub(crate) waits: Vec<bool>,
    pub(crate) queue: Vec<usize>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Action {
    Produce(usize),
    Put(usize),
    Take,
}

impl Model for Buffer {
    type State = State;
    type Action = Action;

    fn initial(&self) -> Vec<State> {
        vec![State { waits: vec![false; self.producers], queue: vec![] }]
    }

    /// What can happen in a state. Nothing here says what *will* happen: every order is tried.
    fn actions(&self, state: &State, out: &mut Vec<Action>) {
        for i in 0..self.producers {
            if !state.waits[i] {
                out.push(Action::Produce(i));
            } else if state.queue.len() < self.capacity {
                out.push(Action::Put(i));
            }
        }
        if !state.queue.is_empty() {
            out.push(Action::Take);
        }
    }

    fn step(&self, state: &mut State, action: &Action) {
        match *action {
            Action::Produce(i) => state.waits[i] = true,
            Action::Put(i) => {
                state.waits[i] = false;
                state.queue.push(i);
            }
            Action::Take => _ = state.queue.remove(0),
        }
    }

    fn processes(&self) -> Vec<String> {
        (0..self.producers).map(|i| format!("producer {i}")).chain(["consumer".to_owned()]).collect()
    }

    fn process(&self, action: &Action) -> Option<usize> {
        Some(match *action {
            Action::Produce(i) | Action::Put(i) => i,
            Action::Take => self.producers,
        })
    }
}

/// Checks a buffer of two places for three producers.
pub(crate) fn main() {
    let buffer = Buffer { producers: 3, capacity: 2 };
    let check = Check::new(&buffer)
        .prop("in_bounds", |state| state.queue.len() <= buffer.capacity)
        .prop("waits", |state| state.waits[0]);

    // In every state that can be reached.
    let proof = assert_always!(check, "in_bounds");
    println!("the queue stays in bounds: {proof}");

    // In every run: whenever producer 0 waits, there comes a time when it does not. A run in which everybody goes on
    // who can go on *all the time* is not enough: there is room now and then only, and the others are faster.
    match check.clone().weakly_fair().ltl("[] (waits -> <> !waits)") {
        Verdict::Violated(run) => println!("producer 0 may wait for ever:\n{run}"),
        other => panic!("{other}"),
    }
    // It is enough that everybody goes on who can go on *again and again*.
    assert_holds!(check.strongly_fair(), "[] (waits -> <> !waits)");
    println!("with strong fairness, it gets its turn");
}
