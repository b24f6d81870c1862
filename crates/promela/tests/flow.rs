//! Graphs of small bodies, word by word. All of them were compared with Spin 6.5.2, by
//! `STUBBORN_SPIN=folder cargo test -p stubborn-promela --test spin`.

mod common;

use common::{read_text, shown};
use stubborn_promela::flow::{Action, Flow, flow};
use stubborn_promela::program::ProctypeId;

/// The edges of a graph, one a line: from, to, flags, text.
fn lines(flow: &Flow<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for location in &flow.locations {
        for edge in &location.edges {
            let target = match edge.action {
                Action::End => "-".to_owned(),
                _ => flow.location(edge.target).number.to_string(),
            };
            let escape = if edge.escape > 0 { " escape" } else { "" };
            let hold = if edge.atomic { " hold" } else { "" };
            let end = if location.is_end { " end" } else { "" };
            let accept = if location.is_accept { " accept" } else { "" };
            let progress = if location.is_progress { " progress" } else { "" };
            lines.push(format!(
                "{} -> {target} {}{hold}{escape}{end}{accept}{progress}",
                location.number, edge.text
            ));
        }
    }
    lines
}

/// Compares the graph of a body.
#[track_caller]
fn check(body: &str, expected: &[&str]) {
    let text = format!("byte x, y; chan q = [1] of {{ byte }}; active proctype P() {{ {body} }}");
    let (program, sources) = read_text(&text);
    let program = program.unwrap_or_else(|errors| panic!("{}", shown(&errors, &sources)));
    let flow = flow(&program, ProctypeId::new(0)).unwrap();
    assert_eq!(lines(&flow), expected, "{:#?}", lines(&flow));
}

#[test]
fn sequences() {
    check(
        "x = 1; skip; assert(x == 1)",
        &["1 -> 2 x = 1", "2 -> 3 skip", "3 -> 4 assert(x == 1)", "4 -> - end end"],
    );
    check("x = 1; goto L; x = 2; L: x = 3", &["1 -> 4 x = 1", "4 -> 5 x = 3", "5 -> - end end"]);
    check("goto L; x = 2; L: x = 3", &["3 -> 4 x = 3", "4 -> - end end"]);
    check("L: { x = 1; { x = 2 } }; goto L", &["3 -> 4 x = 2", "4 -> 3 x = 1"]);
    check(
        "byte a = 1; x = 1; byte b; byte c[2]; { byte d = 4; x = d }",
        &["1 -> 2 x = 1", "2 -> 3 b = 0", "3 -> 6 c = 0", "5 -> 7 x = d", "6 -> 5 d = 4", "7 -> - end end"],
    );
}

#[test]
fn choices() {
    check(
        "do :: x < 3 -> x++ :: x == 3 -> break :: goto M od; M: x = 1",
        &["2 -> 6 x++", "6 -> 2 x < 3", "6 -> 9 x == 3", "6 -> 9 goto M", "9 -> 10 x = 1", "10 -> - end end"],
    );
    check(
        "if :: x == 1 :: else fi; if :: x = 1 -> if :: x = 2 :: y = 3 fi fi",
        &[
            "3 -> 10 x == 1",
            "3 -> 10 else",
            "8 -> 12 x = 2",
            "8 -> 12 y = 3",
            "10 -> 8 x = 1",
            "12 -> - end end",
        ],
    );
    check(
        "do :: do :: x = 1 :: break od :: x = 2 -> break od",
        &["3 -> 3 x = 1", "3 -> 8 break", "8 -> 3 x = 1", "8 -> 8 break", "8 -> 11 x = 2", "11 -> - end end"],
    );
    check("if :: false -> x = 1 :: x = 2 fi", &["4 -> 6 x = 2", "6 -> - end end"]);
    check("x = 1; else; x = 2", &["1 -> 2 x = 1", "2 -> 3 else", "3 -> 4 x = 2", "4 -> - end end"]);
    check(
        "if :: x = 1; skip; skip; printf(\"a\"); skip; x = 2 :: skip; skip fi",
        &[
            "2 -> 4 skip",
            "4 -> 6 printf(\"a\")",
            "6 -> 11 x = 2",
            "8 -> 11 skip",
            "9 -> 2 x = 1",
            "9 -> 8 skip",
            "11 -> - end end",
        ],
    );
}

#[test]
fn atomic_sequences() {
    check(
        "atomic { x = 1; x = 2 }; x = 3",
        &["2 -> 4 x = 2", "3 -> 2 x = 1 hold", "4 -> 5 x = 3", "5 -> - end end"],
    );
    check(
        "atomic { x = 1; if :: x = 2 :: x = 3 fi }; x = 4",
        &[
            "4 -> 5 x = 2 hold",
            "4 -> 5 x = 3 hold",
            "5 -> 7 goto",
            "6 -> 4 x = 1 hold",
            "7 -> 8 x = 4",
            "8 -> - end end",
        ],
    );
    check(
        "atomic { x = 1; goto L }; L: x = 2; do :: atomic { x = 3; break } od; x = 4",
        &[
            "2 -> 4 goto L",
            "3 -> 2 x = 1 hold",
            "4 -> 8 x = 2",
            "6 -> 11 break",
            "8 -> 6 x = 3 hold",
            "11 -> 12 x = 4",
            "12 -> - end end",
        ],
    );
    check(
        "atomic { do :: x < 2 -> x++ :: else -> break od }",
        &[
            "2 -> 5 x++ hold",
            "4 -> 7 break hold",
            "5 -> 2 x < 2 hold",
            "5 -> 4 else hold",
            "7 -> 9 goto",
            "8 -> 2 x < 2 hold",
            "8 -> 4 else hold",
            "9 -> - end end",
        ],
    );
}

#[test]
fn d_steps_are_one_edge() {
    check(
        "d_step { x = 1; x = 2 }; atomic { d_step { x = 3 }; x = 4 }",
        &["3 -> 7 d_step", "6 -> 8 x = 4", "7 -> 6 d_step hold", "8 -> - end end"],
    );
}

#[test]
fn loops_that_are_written_out() {
    check(
        "for (x : 0 .. 2) { y = x }",
        &[
            "1 -> 7 x = 0",
            "3 -> 4 y = x",
            "4 -> 7 x = x + 1",
            "7 -> 3 x <= 2",
            "7 -> 10 else",
            "10 -> - end end",
        ],
    );
    check(
        "select (x : 0 .. 2); select (x : 0 .. y)",
        &[
            "4 -> 6 x = 0",
            "4 -> 6 x = 1",
            "4 -> 6 x = 2",
            "6 -> 10 x = 0",
            "8 -> 10 x = x + 1",
            "10 -> 8 x < y",
            "10 -> 13 break",
            "13 -> - end end",
        ],
    );
}

#[test]
fn escapes_come_first_and_outer_ones_before_inner_ones() {
    check(
        "{ x = 1; x = 2 } unless { x == 3 -> x = 4 }; x = 5",
        &[
            "1 -> 4 x == 3 escape",
            "1 -> 2 x = 1",
            "2 -> 4 x == 3 escape",
            "2 -> 7 x = 2",
            "4 -> 7 x = 4",
            "7 -> 8 x = 5",
            "8 -> - end end",
        ],
    );
    check(
        "{ { x = 1 } unless { x == 2 }; x = 3 } unless { x == 4 }",
        &[
            "1 -> 9 x == 4 escape",
            "1 -> 5 x == 2 escape",
            "1 -> 5 x = 1",
            "5 -> 9 x == 4 escape",
            "5 -> 9 x = 3",
            "9 -> - end end",
        ],
    );
    check(
        "do :: x = 1 :: break od unless { if :: x == 2 :: x == 3 fi }",
        &[
            "7 -> 12 x == 3 escape",
            "7 -> 12 x == 2 escape",
            "7 -> 7 x = 1",
            "7 -> 12 break",
            "12 -> - end end",
        ],
    );
}

#[test]
fn marks() {
    check(
        "end: do :: q?x -> accept: x = 1; progress_a: goto end od",
        &["2 -> 4 x = 1 accept", "4 -> 5 skip progress", "5 -> 2 q?x end"],
    );
}

#[test]
fn what_happens_in_a_d_step_is_a_graph_of_its_own() {
    let text = "byte x; active proctype P() { d_step { x == 1; do :: x < 3 -> x++; goto L :: else -> break od; L: skip } }";
    let (program, _) = read_text(text);
    let program = program.unwrap();
    let outer = flow(&program, ProctypeId::new(0)).unwrap();
    let Action::DStep(inner) = &outer.location(outer.initial).edges[0].action else { panic!() };
    let expected = ["1 -> 7 x == 1", "3 -> 10 x++", "7 -> 3 x < 3", "7 -> 10 else", "10 -> 11 skip"];
    assert_eq!(lines(inner), expected, "{:#?}", lines(inner));
    let end = inner.end.unwrap();
    assert!(inner.location(end).edges.is_empty());
}

#[test]
fn labels_have_locations_and_remote_ones_are_kept() {
    let text = "byte x; active proctype P() { x = 1; L: goto M; x = 2; M: { x = 3; N: x = 4 } }
                active proctype Q() { P@L }";
    let (program, _) = read_text(text);
    let program = program.unwrap();
    let graph = flow(&program, ProctypeId::new(0)).unwrap();
    let at = |name: &str| {
        let index = program.proctypes[0].labels.iter().position(|label| &*label.name == name).unwrap();
        graph.labels[index].map(|id| graph.location(id).number)
    };
    assert_eq!([at("L"), at("M"), at("N")], [Some(2), Some(6), Some(5)]);
    assert_eq!(lines(&graph)[1], "2 -> 6 skip");
}
