//! Priorities, and values that a handshake exchanges: counts are those of Spin 6.5.2. Where priorities are
//! set they are those of `gcc -DNOCOMP`: without it, Spin takes states for equal that differ in a priority.

mod common;

use common::run::run;

#[track_caller]
fn states(text: &str, states: usize) {
    let found = run(text).unwrap();
    assert_eq!((found.states, &*found.fault), (states, ""), "{text}");
}

#[test]
fn the_highest_goes_first() {
    states(
        "byte x;
         active proctype A() priority 2 { x++; x++; x++ }
         active proctype B() priority 1 { x++; x++; x++ }
         active proctype C() priority 2 { (x > 1); x++; x++ }",
        17,
    );
    states(
        "byte x; chan q = [1] of { byte };
         active proctype A() priority 3 { byte y; q?y; x = y; q?y; x = y }
         active proctype B() priority 1 { q!1; x = 5; x = 6; q!2; x = 7 }
         active proctype C() { x = 3; x = 4 }",
        65,
    );
    // Who may not go on by `provided` comes not first.
    states(
        "byte x;
         active proctype A() priority 3 provided (x < 2) { x++; x++; x++ }
         active proctype B() { x = x + 1; x = 0; x = 3; x = 0 }",
        10,
    );
    states(
        "byte x;
         active proctype A() priority 3 { { (x == 2); x = 5 } unless { x == 1 -> x = 6 }; d_step { x > 5; x = 2 } }
         active proctype B() { x++; x++; x++; d_step { x = 6; x++ } x++ }",
        11,
    );
}

#[test]
fn timeouts_and_else() {
    states(
        "byte x;
         active proctype A() priority 3 { if :: x > 3 -> x = 0 :: else -> skip fi; (x == 2); x = 9 }
         active proctype B() { do :: x < 5 -> x++ :: timeout -> break od }
         active proctype C() priority 2 { timeout; x = 4; timeout; x = 8 }",
        19,
    );
}

#[test]
fn atomic_sequences_are_interrupted() {
    states(
        "byte x;
         active proctype A() priority 3 { (x == 2); x = 9 }
         active proctype B() { atomic { x = 1; x = 2; x = 3; x = 4 } x = 7 }
         active proctype C() { x++; x++ }",
        41,
    );
}

#[test]
fn priorities_of_new_processes() {
    states(
        "byte x, p;
         proctype Q(byte n) { x = n; x++; p = _priority }
         init { atomic { run Q(1) priority 4; run Q(2); run Q(3) priority 4 } x = 8; x = 9 }",
        42,
    );
    states(
        "byte x;
         proctype Q() { x++; x++ }
         active proctype A() priority 3 { run Q(); run Q() priority 9; x = 0 }
         active proctype B() { x = 3; x = 4 }",
        34,
    );
    // That of the proctype is for `active` only.
    states("proctype Q() priority 5 { assert(_priority == 1) } init { run Q() }", 5);
}

#[test]
fn priorities_that_change() {
    states(
        "byte x;
         active proctype A() { x = 1; set_priority(0, 3); x = 2; x = 3; set_priority(_pid, 1); x = 4 }
         active proctype B() { x = 7; x++; set_priority(0, get_priority(1) + 1); x++ }",
        66,
    );
    let more = "byte x;
         active [2] proctype A() priority 3 {
             do :: x < 4 -> x++; if :: set_priority(_pid, 1) :: set_priority(1 - _pid, 5) :: skip fi
             :: x >= 4 -> break od
         }
         active proctype B() { do :: x > 0 -> x-- :: x == 0 -> break od }";
    states(more, 1144);
    states(
        "active proctype A() { set_priority(9, 7); assert(get_priority(9) == 0 && get_priority(0) == 1) }",
        4,
    );
    let wrong = run("active proctype A() { set_priority(0, 300) }").unwrap();
    assert_eq!(wrong.fault, "a priority is 1 to 255: set_priority(0, 300)");
    let refused =
        run("chan c = [0] of { byte }; active proctype A() { set_priority(0, 2); c!1 }").unwrap_err();
    assert_eq!(refused, "`set_priority` with rendezvous channels is not supported");
}

#[test]
fn a_handshake_exchanges_values() {
    states(
        "chan m = [0] of { byte, byte }; byte x = 1, y = 2;
         active proctype P() { m!x,y; assert(x == 2 && y == 1) }
         active proctype R() { m?y,x }",
        6,
    );
}

/// An `else` looks only at what stands before it, which matters where a selection begins an option.
#[test]
fn an_else_in_an_option() {
    states(
        "byte x, one;
         active proctype P0() { (one == 5) }
         active proctype P1() { do :: if :: else fi; x = 1 - x :: (x != 2 && 1); skip od }
         active proctype P2() { x = 1; x = 0 }",
        24,
    );
}

/// A hidden variable that is read is a part of the state here; in Spin it is not, and the assertion is not
/// seen to fail.
#[test]
fn hidden_variables() {
    states(
        "hidden byte h; byte x;
         active proctype P() { do :: x < 3 -> h++; x++ :: x >= 3 -> break od }
         active proctype Q() { h = 5; h = 6 }",
        45,
    );
    states(
        "hidden byte h; chan q = [1] of { byte };
         active proctype P() { q!1; q?h; q!2; q?h }
         active proctype Q() { h++ }",
        16,
    );
    let read =
        "hidden byte h; byte x; active proctype P() { if :: h = 1 :: h = 2 fi; x = h; assert(x == 1) }";
    assert_eq!(run(read).unwrap().fault, "assertion violated: assert(x == 1)");
    let divides = "hidden byte h; byte x; active proctype P() { h = 1 / x }";
    assert_eq!(run(divides).unwrap().fault, "division by zero, in action `h = 1 / x`");
}
