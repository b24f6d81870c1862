//! Traces: counts and verdicts are those of Spin 6.5.2, where nothing else is said. (Spin counts with
//! `-A -E -c0`, and goes on after an error, as our count does. Traces stand last, since Spin goes wrong if
//! one is the first body.)

mod common;

use common::run::{Found, run};

#[track_caller]
fn check(text: &str, states: usize, fault: &str, ends_well: bool) {
    assert_eq!(run(text), Ok(Found { states, fault: fault.to_owned(), ends_well }), "{text}");
}

const PAIR: &str = "chan q = [2] of { byte, byte };";
const ONE: &str = "chan q = [3] of { byte };";

#[test]
fn an_event_that_is_not_in_the_trace() {
    let alternate = "active proctype P() { q!1,2; q?_,_; q!1,3; q?_,_ }";
    check(&format!("{PAIR} {alternate} trace {{ do :: q!1,_; q?1,_ od }}"), 6, "", true);
    check(
        &format!("{PAIR} {alternate} trace {{ q!1,_; q?1,_ }}"),
        6,
        "the trace allows nothing more: q!1,3",
        true,
    );
    check(
        &format!("{PAIR} {alternate} trace {{ do :: q!1,2 :: q?_,_ od }}"),
        6,
        "the trace allows only `q!1,2` or `q?_,_` here: q!1,3",
        true,
    );
    // Fewer fields, and values that do not fit.
    let sends = "active proctype P() { q!1,2; q!1,3 }";
    check(&format!("{PAIR} {sends} trace {{ do :: q!1 od }}"), 4, "", true);
    check(
        &format!("{ONE} active proctype P() {{ q!300 }} trace {{ q!300 }}"),
        3,
        "the trace allows only `q!300` here: q!300",
        true,
    );
}

#[test]
fn only_the_kinds_of_events_that_occur() {
    let both = "active proctype P() { byte x; do :: q!1; q?x; r!x; r?_ od }";
    let channels = "chan q = [3] of { byte }; chan r = [3] of { byte };";
    check(&format!("{channels} {both} trace {{ do :: q!1; r?1 od }}"), 6, "", true);
    check(
        &format!("{channels} {both} trace {{ do :: q!1; r!2 od }}"),
        6,
        "the trace allows only `r!2` here: r!x",
        true,
    );
    let ring = "chan q[2] = [3] of { byte };
        active [2] proctype P() { chan c; c = q[_pid]; c!_pid; c!_pid }";
    check(&format!("{ring} trace {{ do :: q[0]!0 :: q[1]!1 od }}"), 21, "", true);
    check(&format!("{ring} trace {{ q[0]!0; q[0]!0 }}"), 21, "", true);
    // Looking at a message is no event.
    let looks = "active proctype P() { byte x; q!1; q?<x>; q?[1]; q?x }";
    check(&format!("{ONE} {looks} trace {{ q!1; q?1 }}"), 6, "", true);
}

#[test]
fn handshakes_are_sent_and_then_received() {
    let meet = "chan q = [0] of { byte };
        active proctype P() { q!1; q!2 } active proctype R() { q?_; q?_ }";
    check(&format!("{meet} trace {{ q!1; q?1; q!2; q?2 }}"), 5, "", true);
    check(&format!("{meet} trace {{ q?1; q!1 }}"), 5, "the trace allows only `q?1` here: q!1", true);
    check(&format!("{meet} trace {{ do :: q?1 od }}"), 5, "the trace allows only `q?1` here: q?_", true);
}

#[test]
fn forbidden_traces() {
    let sends = "active proctype P() { q!1; q!2 }";
    check(&format!("{ONE} {sends} notrace {{ q!1; q!2 }}"), 4, "the notrace is matched: q!2", true);
    check(&format!("{ONE} {sends} notrace {{ q!2 }}"), 4, "", true);
    check(&format!("{ONE} {sends} notrace {{ q!1; q!3 }}"), 4, "", true);
    // Spin says here that the end is invalid.
    let stays = "active proctype P() { q!1; end: false }";
    check(&format!("{ONE} {stays} notrace {{ q!1; q!3 }}"), 2, "", true);
}

#[test]
fn where_the_trace_may_end() {
    let stays = "active proctype P() { q!1; end: false }";
    check(&format!("{ONE} {stays} trace {{ do :: q!1; q?1 od }}"), 2, "", false);
    check(&format!("{ONE} {stays} trace {{ do :: q!1; end: q?1 od }}"), 2, "", true);
    check(&format!("{ONE} {stays} trace {{ q!1 }}"), 2, "", true);
    // Where no process is left, Spin does not look.
    check(&format!("{ONE} active proctype P() {{ q!1 }} trace {{ q!1; q?1 }}"), 3, "", true);
}

#[test]
fn several_events_in_one_step() {
    let steps = "active proctype P() { d_step { q!1; q!2 } atomic { q?_; q!3 } }";
    check(&format!("{ONE} {steps} trace {{ q!1; q!2; q!3 }}"), 4, "", true);
    check(
        &format!("{ONE} {steps} trace {{ q!1; q!2; q!4 }}"),
        4,
        "the trace allows only `q!4` here: q!3",
        true,
    );
    let escape = "active proctype P() { q!1 unless q!2; q!3 }";
    check(&format!("{ONE} {escape} trace {{ q!1; q!3 }}"), 4, "the trace allows only `q!1` here: q!2", true);
}

/// Spin looks at the last message for a sorted send, and at the first for a random receive.
#[test]
fn the_message_is_the_one_that_moves() {
    let sorts = "active proctype P() { q!!2; q!!1; q!!3 }";
    check(&format!("{ONE} {sorts} trace {{ q!2; q!1; q!3 }}"), 5, "", true);
    let picks = "active proctype P() { byte x; q!1; q!2; q??2; q?x }";
    check(&format!("{ONE} {picks} trace {{ q?2; q?1 }}"), 6, "", true);
    check(&format!("{ONE} {picks} trace {{ q?1; q?2 }}"), 6, "the trace allows only `q?1` here: q??2", true);
}

#[test]
fn what_is_refused() {
    let sends = "active proctype P() { q!1; q!1 }";
    let two = format!("{ONE} {sends} trace {{ do :: q!1 :: q!_ od }}");
    check(&two, 4, "the trace has two events for this: q!1", true);
    let refused = run(&format!("{ONE} {sends} trace {{ do :: q!1 :: break od; q!1 }}"));
    assert_eq!(refused, Err("a jump that follows no event in a trace is not supported".to_owned()));
    let changes = "chan q = [3] of { byte }; active proctype P() { q!1; q = 0 }";
    let refused = run(&format!("{changes} trace {{ q!1 }}"));
    assert_eq!(refused, Err("a channel variable that changes in a trace is not supported".to_owned()));
}
