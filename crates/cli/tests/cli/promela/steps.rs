//! Steps that are long, and steps that never end.

use crate::{Scratch, run, run_ltl};

fn verdict(text: &str, arguments: &str) -> String {
    let model = Scratch::new();
    let file = model.file("model.pml", text);
    let said = run(&format!("check {file} --json --quiet {arguments}")).json();
    let result = &said["results"][0];
    format!(
        "{} {}",
        result["verdict"].as_str().unwrap_or_default(),
        result["reason"].as_str().unwrap_or_default()
    )
    .trim()
    .to_owned()
}

fn formula(text: &str, formula: &str, arguments: &str) -> i32 {
    let model = Scratch::new();
    let file = model.file("model.pml", text);
    run_ltl("check", &file, formula, &format!("--quiet {arguments}")).code
}

#[test]
fn a_long_branch_of_an_atomic_sequence_is_not_left_out() {
    for rounds in [100, 8_191, 40_000] {
        let text = format!(
            "int i; bit bad; active proctype P() {{
               atomic {{ i = 0; if :: skip :: do :: i < {rounds} -> i++ :: else -> break od; bad = 1 fi }};
               assert(bad == 0) }}"
        );
        assert_eq!(verdict(&text, "--property assertions"), "violated assertion violated: assert(bad == 0)");
    }
}

#[test]
fn long_steps_end() {
    let atomic = "int i; active proctype P() { atomic { do :: i < 8192 -> i++ :: else -> break od } }";
    let d_step = "int i; active proctype P() { d_step { do :: i < 2000000 -> i++ :: else -> break od }; assert(i == 2000000) }";
    for text in [atomic, d_step] {
        assert_eq!(verdict(text, "--property assertions"), "holds");
        assert_eq!(formula(text, "<> (i > 8191)", ""), 0);
    }
}

#[test]
fn a_step_that_takes_too_long_has_no_answer() {
    let text = "int i; active proctype P() { d_step { do :: i != -1 -> i++ :: else -> break od } }";
    assert_eq!(verdict(text, "--property assertions"), "unknown one step of the model takes too long");
    assert_eq!(formula(text, "[] (i == 0)", ""), 3);
}

#[test]
fn a_d_step_that_never_ends_is_an_error() {
    for body in ["x = 1 - x", "skip", "x++", "x = 0; do :: x < 100 -> x++ :: else -> break od"] {
        let text = format!("byte x; active proctype P() {{ d_step {{ x = 1; do :: {body} od }} }}");
        assert_eq!(
            verdict(&text, "--property assertions"),
            "violated an effect does not end, in action `d_step`"
        );
    }
}

/// An atomic sequence may go on for ever: a run that all observers see, with and without reduction.
#[test]
fn an_atomic_sequence_may_never_end() {
    let ends = "byte x; bit done, other; active proctype P() { atomic { x = 1; BODY }; done = 1 }
        active proctype Q() { other = 1 }";
    for (body, may_stay) in [
        ("do :: x = 1 - x :: break od", true),
        ("do :: skip :: break od", true),
        ("do :: x = 1 - x od", true),
        ("do :: x = (x + 1) % 5 :: break od", true),
        ("do :: x < 200 -> x++ :: break od", false),
        ("do :: x < 200 -> x++ :: x > 100 -> x = x - 90 :: break od", true),
        ("do :: atomic { x == 1; x = 2 } :: d_step { x == 2; x = 3 } :: x == 3 -> break od", false),
    ] {
        let text = ends.replace("BODY", body);
        let expected = i32::from(may_stay);
        for reduction in ["none", "auto", "guided", "hybrid", "classical", "repaired"] {
            let arguments = format!("--reduce {reduction}");
            assert_eq!(formula(&text, "<> (done == 1)", &arguments), expected, "{body} {reduction}");
            // Nobody else goes on meanwhile.
            assert_eq!(formula(&text, "<> (other == 1)", &arguments), expected, "{body} {reduction}");
            assert_eq!(formula(&text, "[] (x == 0 || x > 0)", &arguments), 0, "{body} {reduction}");
        }
        for fairness in ["", "--fair weak"] {
            assert_eq!(formula(&text, "<> (done == 1)", fairness), expected, "{body} {fairness}");
        }
        let nonprogress = if may_stay { "violated" } else { "holds" };
        assert!(verdict(&text, "--nonprogress").starts_with(nonprogress), "{body}");
        assert_eq!(verdict(&text, "--property assertions"), "holds", "{body}");
        assert_eq!(verdict(&text, "--property end-states"), "holds", "{body}");
    }
}

/// What goes on for ever may be two processes that pass the hold to each other.
#[test]
fn an_endless_exchange() {
    let text = "chan c = [0] of { bit }; chan d = [0] of { bit }; bit done, other;
        active proctype P() { atomic { do :: c!1; d?1 :: break od }; done = 1 }
        active proctype Q() { end: do :: atomic { c?1; d!1 } od }
        active proctype R() { other = 1 }";
    for reduction in ["none", "auto"] {
        let arguments = format!("--reduce {reduction}");
        assert_eq!(formula(text, "<> (done == 1)", &arguments), 1, "{reduction}");
        assert_eq!(formula(text, "<> (other == 1)", &arguments), 1, "{reduction}");
        // Where it ends, all is well.
        assert_eq!(formula(text, "(<> (done == 1)) -> <> (other == 1)", &arguments), 0, "{reduction}");
    }
}
