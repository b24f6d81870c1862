//! The examples run, and do what they say.

#![allow(clippy::print_stdout, clippy::print_stderr)] // Examples show what they find.

#[path = "../examples/bounded_buffer.rs"]
mod bounded_buffer;
#[path = "../examples/check_model.rs"]
mod check_model;
#[path = "../examples/fair_runs.rs"]
mod fair_runs;
#[path = "../examples/promela.rs"]
mod promela;
#[path = "../examples/raft.rs"]
mod raft;
#[path = "../examples/two_phase_commit.rs"]
mod two_phase_commit;

#[test]
fn declared_properties_are_checked() {
    check_model::main().unwrap();
}

#[test]
fn fairness_makes_a_difference() {
    fair_runs::main().unwrap();
}

#[test]
fn promela_is_read_and_asked_about() {
    promela::main().unwrap();
}

#[test]
fn a_buffer_in_rust_is_checked() {
    bounded_buffer::main();
}

#[test]
fn two_phase_commit_blocks_where_the_manager_stays_down() {
    two_phase_commit::main();
}

#[test]
fn raft_is_safe_and_goes_on() {
    raft::main();
}
