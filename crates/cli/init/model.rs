//! A lock that two workers share, as a model in Rust: `cargo test` checks it.

use stubborn::{Check, Model, assert_always, assert_deadlock_free, assert_holds};

/// So many workers share one lock.
struct Lock {
    workers: usize,
}

/// What a worker does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum At {
    Idle,
    Waiting,
    Working,
}

/// Somebody goes on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Step(usize);

impl Model for Lock {
    type State = Vec<At>;
    type Action = Step;

    fn initial(&self) -> Vec<Vec<At>> {
        vec![vec![At::Idle; self.workers]]
    }

    fn actions(&self, state: &Vec<At>, out: &mut Vec<Step>) {
        let is_free = !state.contains(&At::Working);
        out.extend((0..self.workers).filter(|&i| state[i] != At::Waiting || is_free).map(Step));
    }

    fn step(&self, state: &mut Vec<At>, &Step(i): &Step) {
        state[i] = match state[i] {
            At::Idle => At::Waiting,
            At::Waiting => At::Working,
            At::Working => At::Idle,
        };
    }

    // Who does what: for fairness, and for people.
    fn processes(&self) -> Vec<String> {
        (0..self.workers).map(|i| format!("worker {i}")).collect()
    }

    fn process(&self, &Step(i): &Step) -> Option<usize> {
        Some(i)
    }
}

#[test]
fn the_lock_is_exclusive_and_everybody_is_served() {
    let lock = Lock { workers: 2 };
    let check = Check::new(&lock)
        .prop("exclusive", |state| state.iter().filter(|&&at| at == At::Working).count() <= 1)
        .prop("waits", |state| state[0] == At::Waiting)
        .prop("works", |state| state[0] == At::Working);
    assert_deadlock_free!(check);
    assert_always!(check, "exclusive");
    assert_holds!(check.strongly_fair(), "[] (waits -> <> works)");
}
