//! The examples run, and do what they say.

#![allow(clippy::print_stdout, clippy::print_stderr)] // Examples show what they find.

#[path = "../examples/check_model.rs"]
mod check_model;
#[path = "../examples/fair_runs.rs"]
mod fair_runs;
#[path = "../examples/promela.rs"]
mod promela;

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
