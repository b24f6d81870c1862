//! Very long runs, and constructs that later front ends need.

use check::{Exact, Goal, search};
use model::{
    Action, ActionSystem, BinaryOp, Builder, Guard, LabelId, ProcessId, Stmt, System as _, Variable,
    reference,
};
use replay::{Ending, Evidence, Question};

/// Counts from 0 to `n` and stops.
fn counter(n: i64) -> ActionSystem {
    let mut builder = Builder::new();
    let owner = builder.process("counter");
    let x = builder.variable(Variable::new("x", 0, n));
    let not_done = builder.guard(Guard::one_of(x, [0]));
    let go_on = builder.guard(Guard::In(x, model::ValueSet::Range(1, n - 1)));
    let label = builder.label("tick");
    for guard in [not_done, go_on] {
        let effect = vec![Stmt::Add(x, 1)];
        builder.action(Action { label, guards: vec![guard], effect, owners: vec![owner] });
    }
    builder.initial(&[0]);
    builder.finish().unwrap()
}

#[test]
fn a_run_of_ten_million_steps_is_no_problem() {
    let n = 10_000_000;
    let system = counter(n);
    for depth_first in [false, true] {
        let mut store = Exact::new(system.width(), u64::MAX);
        let mut budget = base::Budget::unlimited();
        let outcome = if depth_first {
            search::dfs::search(&system, &mut store, &[Goal::Deadlock], &mut budget)
        } else {
            search::bfs::search(&system, &mut store, &[Goal::Deadlock], &mut budget)
        };
        let run = outcome.violations[0].as_ref().expect("the counter stops");
        assert_eq!((run.actions.len() as i64, outcome.stats.depth as i64), (n, n));
        if !depth_first {
            let evidence = Evidence::new(run, Ending::Deadlock);
            let judged = replay::judge(&system, &Question::Deadlock, &evidence, &mut budget);
            judged.expect("the run stands up to replay");
        }
    }
}

/// A channel of two cells as a length and an array; sending and receiving are single effects with
/// a loop, as the statements of a `d_step` would be.
#[test]
fn a_channel_is_a_length_and_cells() {
    let mut builder = Builder::new();
    let owners: Vec<ProcessId> = ["sender", "receiver"].map(|name| builder.process(name)).into();
    let len = builder.variable(Variable::new("len", 0, 2));
    let cells = [0, 1].map(|i| builder.variable(Variable::new(format!("cell[{i}]"), 0, 3)))[0];
    let next = builder.variable(Variable::new("next", 1, 3));
    let got = builder.variable(Variable::new("got", 0, 3));
    let i = builder.variable(Variable::new("i", 0, 2));
    let exprs = &mut builder.exprs;
    let [len_now, next_now, i_now] = [len, next, i].map(|var| exprs.var(var));
    let [zero, one, three] = [0, 1, 3].map(|value| exprs.int(value));
    let first = exprs.element(cells, 2, zero);
    let i_plus_one = exprs.binary(BinaryOp::Add, i_now, one);
    let ahead = exprs.element(cells, 2, i_plus_one);
    let more = exprs.binary(BinaryOp::Lt, i_plus_one, len_now);
    let remainder = exprs.binary(BinaryOp::Rem, next_now, three);
    let following = exprs.binary(BinaryOp::Add, remainder, one);
    let not_full = builder.guard(Guard::one_of(len, [0, 1]));
    let not_empty = builder.guard(Guard::at_least(len, 1));
    let labels: Vec<LabelId> = ["send", "receive"].map(|name| builder.label(name)).into();
    builder.action(Action {
        label: labels[0],
        guards: vec![not_full],
        effect: vec![
            Stmt::AssignElement { first: cells, len: 2, index: len_now, value: next_now },
            Stmt::Add(len, 1),
            Stmt::Assign(next, following),
        ],
        owners: vec![owners[0]],
    });
    // Take the first, move the others up, clear the last: unused cells are always 0.
    let shift = vec![
        Stmt::AssignElement { first: cells, len: 2, index: i_now, value: ahead },
        Stmt::Assign(i, i_plus_one),
    ];
    builder.action(Action {
        label: labels[1],
        guards: vec![not_empty],
        effect: vec![
            Stmt::Assign(got, first),
            Stmt::Set(i, 0),
            Stmt::While(more, shift),
            Stmt::AssignElement { first: cells, len: 2, index: i_now, value: zero },
            Stmt::Set(i, 0),
            Stmt::Add(len, -1),
        ],
        owners: vec![owners[1]],
    });
    builder.initial(&[0, 0, 0, 1, 0, 0]);
    let system = builder.finish().unwrap();
    // What is received is what was sent, in order: got is always the number before the oldest
    // that is still in the channel or about to be sent.
    let mut store = Exact::new(system.width(), u64::MAX);
    let stats = search::bfs::search(&system, &mut store, &[], &mut base::Budget::unlimited()).stats;
    // Three values of `next` times three lengths, and `got` follows from them but for the start.
    assert_eq!((stats.states, stats.deadlocks), (9 + 3, 0));
    let mut state = vec![0; system.width()];
    for id in (0..stats.states as usize).map(check::StateId::new) {
        check::Store::get(&store, id, &mut state);
        let values = system.layout().decode(&state);
        let (len, next, got) = (values[0], values[3], values[4]);
        let oldest = (next - 1 - len).rem_euclid(3) + 1;
        assert!(got == 0 || got % 3 + 1 == oldest, "{values:?}");
        assert!(values[1..3].iter().skip(len as usize).all(|&cell| cell == 0), "{values:?}");
        assert!(reference::enabled(&system, &values).is_ok());
    }
}
