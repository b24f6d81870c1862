//! Processes that are started with many different arguments: as many states as Spin 6.5.2 counts.

mod common;

use common::model_of;
use common::run::run;
use language::Model as _;

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

#[test]
fn what_is_foreseen_adds_no_state() {
    counts(
        "byte x;
         proctype W(byte n; chan up) { chan down = [1] of { byte }; byte r;
           if :: n == 0 -> up!1 :: n > 0 -> run W(n - 1, down); down?r; up!r + 1 fi }
         init { chan c = [1] of { byte }; run W(40, c); c?x; assert(x == 41) }",
        1930,
    );
    let turns = "proctype A(byte n) { if :: n < 30 -> run B(n + 1, x) :: n >= 30 fi }
        proctype B(byte n; byte m) { x = n; run A(n + 2) }";
    counts(&format!("byte x; {turns} init {{ run A(0) }}"), 65);
    let all = "init { byte i; atomic { do :: i < 7 -> run P(3 * i); i++ :: else -> break od } }";
    counts(&format!("byte x; proctype P(byte n) {{ x = n }} {all}"), 1025);
}

/// What proctypes start that start themselves, with code for all values and all numbers.
#[test]
fn trees_of_processes() {
    counts(
        "byte x; proctype N(byte d) { if :: d == 0 -> x++ :: d > 0 -> run N(d - 1); run N(d - 1) fi }
         init { run N(2) }",
        742,
    );
    counts(
        "proctype F(int n; chan p) { chan c = [2] of { int }; int a, b;
           if :: n < 2 -> p!n :: n >= 2 -> run F(n - 1, c); run F(n - 2, c); c?a; c?b; p!a + b fi }
         init { chan c = [1] of { int }; int x; run F(3, c); c?x; assert(x == 2) }",
        766,
    );
    counts(
        "proctype A(short m, n; chan p) { chan c = [1] of { short }; short r;
           if :: m == 0 -> r = n + 1
              :: m > 0 -> if :: n == 0 -> run A(m - 1, 1, c)
                            :: n > 0 -> run A(m, n - 1, c); c?r; run A(m - 1, r, c) fi; c?r fi;
           p!r }
         init { chan c = [1] of { short }; short x; run A(2, 1, c); c?x; assert(x == 5) }",
        3273,
    );
    counts(
        "byte x; proctype A(byte n) { if :: n > 0 -> run B(n - 1, x); run B(n - 1, n) :: n == 0 -> x++ fi }
         proctype B(byte n; byte m) { x = m; run A(n) }
         init { run A(1) }",
        128,
    );
}

#[test]
fn who_is_foreseen_and_never_started_is_left_out() {
    for n in 1..12 {
        let text = format!(
            "byte x; proctype P(byte n) {{ x = n }}
             init {{ byte i; atomic {{ do :: i < {n} -> run P(i); i++ :: else -> break od }} }}"
        );
        assert_eq!(model_of(&text).0.system().processes().len(), 1 + n, "{n}");
    }
    // Who begins and ends within a step is seen in no state.
    let brief = "chan c = [0] of { bit }; byte x;
        proctype P(byte n) { atomic { c?1; x = n; c!0 } }
        init { byte i; do :: i < 5 -> atomic { run P(i); c!1; c?0; (_nr_pr == 1); i++ } :: else -> break od }";
    assert_eq!(run(brief).unwrap().fault, "");
    assert!(model_of(brief).0.system().processes().len() > 1);
}

/// A number that no channel has.
#[test]
fn what_is_no_channel_is_waited_for() {
    counts("proctype P(chan c) { c!1 } init { byte b = 9; run P(b) }", 2);
}
