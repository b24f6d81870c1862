//! Processes that are started with many different arguments: as many states as Spin 6.5.2 counts.

mod common;

use common::run::run;

#[track_caller]
fn counts(text: &str, states: usize) {
    let found = run(text).unwrap();
    assert_eq!((found.states, &*found.fault), (states, ""), "{text}");
}

#[test]
fn one_process_after_the_other() {
    let starts = "do :: i < 30 -> run P(i); (_nr_pr == 1); i++ :: else -> break od";
    counts(&format!("byte x; proctype P(byte n) {{ x = n }} init {{ byte i; {starts} }}"), 183);
}

#[test]
fn with_channels_of_their_own_and_of_others() {
    counts(
        "byte x; chan c = [1] of { byte };
         proctype P(byte n; chan d) { chan own = [1] of { byte }; own!n; own?x; d!x }
         init { byte i, v;
           do :: i < 12 -> run P(i, c); c?v; (_nr_pr == 1); i++ :: else -> break od;
           run P(0, c); run P(1, c); c?v; c?v }",
        195,
    );
}

#[test]
fn processes_that_start_processes() {
    counts(
        "byte x; proctype P(byte n) { if :: n < 9 -> if :: run P(n + 1) :: run P(n + 4) fi :: n >= 9 fi; x = n }
         proctype Q(byte n) { run P(n) }
         init { run P(1); (_nr_pr == 1); if :: run Q(5) :: run Q(6) :: run P(7) fi }",
        19_615,
    );
}
