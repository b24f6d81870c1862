//! How many values variables are given, and that no run leaves them.

mod common;

use std::sync::Arc;

use base::Budget;
use check::{Exact, Stop, search};
use common::read_text;
use model::System as _;
use stubborn_promela::lower::{Code, Purpose};

/// Explores a model, which must not fail; the least and greatest value that there is room for in variables.
fn room(text: &str, names: &[&str]) -> Vec<(i64, i64)> {
    let (program, _) = read_text(text);
    let program = program.unwrap_or_else(|_| panic!("a good model: {text}"));
    let mut budget = Budget::unlimited();
    let code = Code::new(Arc::new(program), Purpose::Assertions, &mut budget);
    let mut code = code.unwrap_or_else(|_| panic!("{text}"));
    loop {
        let mut store = Exact::new(code.system.width(), u64::MAX);
        let explored = search::bfs::search(&*code.system, &mut store, &[], &mut budget);
        match explored.stop {
            None => break,
            Some(Stop::Fault(error, _)) if code.can_extend(&error) => {
                code =
                    code.extend(&error, &[], &mut budget).ok().flatten().unwrap_or_else(|| panic!("{text}"));
            }
            Some(stop) => panic!("{stop:?} in {text}"),
        }
    }
    let variables = code.system.variables();
    let range = |name: &&str| {
        let found = variables.iter().find(|variable| variable.name == **name);
        found.map(|variable| (variable.lo, variable.hi)).unwrap_or_else(|| panic!("no {name} in {text}"))
    };
    names.iter().map(range).collect()
}

#[test]
fn counters_end_where_their_loops_end() {
    let text = "active proctype P() { byte i, j; for (i : 1 .. 5) { skip }
        j = 3; do :: j < 9 -> j = j + 2 :: else -> break od }";
    assert_eq!(room(text, &["P(0):i", "P(0):j"]), [(0, 6), (0, 10)]);
    // Another process may change a global between the test and the step.
    let text = "byte i; active [2] proctype P() { if :: i < 3 -> i++ :: else fi }";
    assert_eq!(room(text, &["i"]), [(0, 255)]);
}

#[test]
fn jumps_past_conditions_are_seen() {
    let text = "active proctype P() { byte i = 7; goto inside;
        do :: i < 3 -> inside: i = i + 1; break :: else -> break od }";
    assert_eq!(room(text, &["P(0):i"])[0].1, 255);
    let text = "active proctype P() { byte i; bool b;
        if :: b -> i = 200; goto middle :: else fi;
        i < 4; do :: !b -> b = true; middle: skip; break :: i < 250 -> i = i + 50 od; b = (i > 100) }";
    assert_eq!(room(text, &["P(0):i"])[0].1, 255);
    let text = "bool b; active proctype P() { byte i;
        { i < 3; i = 100; i < 120; skip } unless { b -> i = i + 1 } }
        active proctype Q() { b = true }";
    assert!(room(text, &["P(0):i"])[0].1 >= 101);
}

#[test]
fn messages_carry_their_values() {
    let text = "mtype = { ask, tell }; chan c = [2] of { mtype, byte }; chan d = [0] of { byte };
        active proctype P() { byte x; c!ask,3; d!9; c!tell,x }
        active proctype Q() { byte y, z; mtype m; c?m,y; d?z; c?m,y }";
    let names = ["c[0].0", "c[1].1", "Q(1):y", "Q(1):z", "Q(1):m"];
    assert_eq!(room(text, &names), [(0, 2), (0, 3), (0, 3), (0, 9), (0, 2)]);
    // A channel in a variable may be any.
    let text = "chan c = [1] of { byte }; chan d = [1] of { byte }; chan e = [2] of { short };
        active proctype P() { chan x; x = c; x!77; x = e; x!500; x = d; byte y; c?y }";
    assert_eq!(room(text, &["c[0].0", "e[1].0", "P(0):y"]), [(0, 255), (0, 500), (0, 255)]);
}

#[test]
fn values_are_cut_to_types_and_wrap_around() {
    let text = "active proctype P() { byte b; short s = -2; unsigned u : 3; int i = 2147483647; bit t;
        b = 250 + 10; s = s - 1; u = 9; i = i + 1; t = 2; b = -1; s = ~s; s = s % 7 }";
    let names = ["P(0):b", "P(0):u", "P(0):t", "P(0):i"];
    let int = (i64::from(i32::MIN), i64::from(i32::MAX));
    assert_eq!(room(text, &names), [(0, 255), (0, 7), (0, 1), int]);
}

#[test]
fn parameters_and_fields_get_what_is_given() {
    let text = "typedef T { byte a; byte b[2] }; T t[2];
        proctype P(byte n) { t[1].b[0] = n; n = n & 3; t[0].a = (n -> 1 : 5) }
        init { run P(6); run P(9) }";
    assert_eq!(room(text, &["t[1].b[0]", "t[0].a"]), [(0, 9), (0, 5)]);
}
