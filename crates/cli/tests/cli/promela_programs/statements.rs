//! Random statements, conditions and formulas for programs.

use fastrand::Rng;

use super::Node;

/// Changes of priorities.
pub(super) const SETS: [&str; 3] =
    ["set_priority(_pid, 2)", "set_priority(0, 1)", "set_priority(_pid, _priority + 1)"];

/// What is asserted: some of it fails often.
const ASSERTED: [&str; 12] = [
    "x < 3",
    "x != 1",
    "x == 0 || y == 2",
    "y != 2 || b",
    "y == 0",
    "s == 0",
    "cells[0] < 2",
    "cells[1] == cells[0]",
    "len(two) < 1",
    "len(one) == 0",
    "i == 0",
    "_nr_pr != 2",
];

/// What may be sent and received; everything, only some of it, or all but something.
const TRACES: [&str; 9] = [
    "trace { do :: one!_; one?_ od }",
    "trace { do :: one!_; end: one?_ od }",
    "trace { end: do :: one!0 :: one!1 od }",
    "trace { end: do :: one!1; end1: one?_ :: one!2; one?_ od }",
    "trace { one!_; one?_; one!1 }",
    "trace { end: do :: meet!1; meet?1 :: meet!0; end1: meet?0 od }",
    "notrace { one!1; one?_ }",
    "notrace { one!_; one?_; one!1 }",
    "notrace { meet!1; meet?_ }",
];

/// Where a statement stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) depth: u32,
    pub(super) atomic: bool,
    pub(super) d_step: bool,
    pub(super) in_loop: bool,
    /// Whether the process has the parameters.
    pub(super) has_parameters: bool,
    /// Whether there are priorities.
    pub(super) has_priorities: bool,
}

pub(super) fn body(rng: &mut Rng, place: Place) -> Vec<Node> {
    let mut nodes: Vec<Node> = (0..rng.usize(1..5)).map(|_| statement(rng, place)).collect();
    // Labels that somebody jumps to must be there: on statements of their own, so that shrinking keeps them.
    let at = rng.usize(0..=nodes.len());
    let label =
        ["again: skip", "end_again: again: skip", "progress_here: again: skip", "accept_here: again: skip"];
    nodes.insert(at, Node::Line(pick(rng, &label)));
    for _ in 0..rng.u8(0..3) {
        let at = rng.usize(0..=nodes.len());
        nodes.insert(at, Node::Line(format!("assert({})", pick(rng, &ASSERTED))));
    }
    nodes
}

fn pick(rng: &mut Rng, list: &[&str]) -> String {
    list[rng.usize(0..list.len())].to_owned()
}

fn statement(rng: &mut Rng, place: Place) -> Node {
    let inner = Place { depth: place.depth.saturating_sub(1), ..place };
    if place.depth == 0 || rng.u8(0..10) < 6 {
        return Node::Line(basic(rng, place));
    }
    let list = |rng: &mut Rng, place: Place| -> Vec<Node> {
        (0..rng.usize(1..4)).map(|_| statement(rng, place)).collect()
    };
    match rng.u8(0..14) {
        0..=3 => Node::Choice(false, options(rng, inner, false)),
        4..=6 if !place.atomic => {
            let mut options = options(rng, Place { in_loop: true, ..inner }, true);
            if rng.u8(0..5) != 0 {
                options.push(vec![Node::Line(guard(rng, place)), Node::Line("break".to_owned())]);
            }
            Node::Choice(true, options)
        }
        4 | 5 if !place.d_step => counted(rng, place),
        // It may go round for ever, in one step: Spin does not find its end then.
        6 if !place.d_step && rng.u8(0..4) == 0 => {
            let mut options = options(rng, inner, true);
            options.push(vec![Node::Line(guard(rng, place)), Node::Line("break".to_owned())]);
            Node::Choice(true, options)
        }
        7 | 8 => {
            let mut nodes = list(rng, Place { atomic: true, ..inner });
            if rng.u8(0..4) == 0 {
                nodes.push(exchange(rng));
                nodes.extend((0..rng.usize(0..5)).map(|_| Node::Line(assignment(rng, place))));
            }
            Node::Group("atomic ".to_owned(), nodes)
        }
        9 | 10 if !place.d_step => Node::Group("d_step ".to_owned(), d_step(rng, inner)),
        11 if !place.d_step => Node::Unless(without_meetings(list(rng, inner)), {
            let first = match rng.u8(0..6) {
                0 => Node::Group("d_step ".to_owned(), d_step(rng, inner)),
                1 => Node::Group(
                    "atomic ".to_owned(),
                    vec![Node::Line(blocking(rng, place)), statement(rng, Place { atomic: true, ..inner })],
                ),
                _ => Node::Line(blocking(rng, place)),
            };
            let mut escape = vec![first];
            escape.extend((0..rng.usize(0..2)).map(|_| statement(rng, inner)));
            escape
        }),
        12 => {
            let of = pick(rng, &["for (i : 0 .. 1) ", "for (i in cells) ", "for (j : 1 .. 2) "]);
            Node::Group(of, vec![Node::Line(basic(rng, Place { in_loop: false, ..place }))])
        }
        _ => Node::Group(String::new(), list(rng, inner)),
    }
}

/// The same without receiving from rendezvous channels: in Spin, an escape that can be executed does not keep
/// a process from that.
fn without_meetings(nodes: Vec<Node>) -> Vec<Node> {
    let without = |node| match node {
        Node::Line(line) if line.starts_with("meet") && line.contains('?') => Node::Line("skip".to_owned()),
        Node::Line(line) => Node::Line(line),
        Node::Group(word, inner) => Node::Group(word, without_meetings(inner)),
        Node::Choice(repeats, options) => {
            Node::Choice(repeats, options.into_iter().map(without_meetings).collect())
        }
        Node::Unless(main, escape) => Node::Unless(without_meetings(main), without_meetings(escape)),
    };
    nodes.into_iter().map(without).collect()
}

/// What an option begins with, and what follows.
fn options(rng: &mut Rng, place: Place, repeats: bool) -> Vec<Vec<Node>> {
    let mut options = Vec::new();
    for _ in 0..rng.usize(1..4) {
        let first = match rng.u8(0..8) {
            0 => statement(rng, place),
            _ => Node::Line(blocking(rng, place)),
        };
        let mut option = vec![first];
        option.extend((0..rng.usize(0..3)).map(|_| statement(rng, place)));
        options.push(option);
    }
    match rng.u8(0..6) {
        0 | 1 => options.push(vec![Node::Line("else".to_owned()), Node::Line(basic(rng, place))]),
        2 if !place.atomic => {
            let mut option = vec![Node::Line("timeout".to_owned()), Node::Line(basic(rng, place))];
            if repeats {
                option.push(Node::Line("break".to_owned()));
            }
            options.push(option);
        }
        _ => {}
    }
    options
}

/// A loop that ends.
fn counted(rng: &mut Rng, place: Place) -> Node {
    let mut inside = vec![Node::Line(pick(rng, &["x = (x + 1) % 3", "cells[j % 2] = y", "y = (y + j) % 3"]))];
    if rng.u8(0..4) == 0 {
        inside.push(Node::Line(pick(rng, &["one!j", "one?x", "two!x,1", "two?y,b", "meet!j", "meet?y"])));
    }
    if rng.u8(0..4) == 0 {
        inside.push(exchange(rng));
    }
    if place.atomic && !place.d_step && rng.bool() {
        inside.push(Node::Line(basic(rng, Place { in_loop: false, ..place }).replace("j =", "y =")));
    }
    if rng.bool() {
        return Node::Group(pick(rng, &["for (j : 0 .. 2) ", "for (j in cells) "]), inside);
    }
    inside.insert(0, Node::Line("(j < 2)".to_owned()));
    inside.push(Node::Line("j++".to_owned()));
    Node::Choice(true, vec![inside, vec![Node::Line("else".to_owned()), Node::Line("break".to_owned())]])
}

/// Channels that are used, if they can be: once, or until they cannot.
fn exchange(rng: &mut Rng) -> Node {
    let (can, does): (&str, &[&str]) = match rng.u8(0..6) {
        0 => ("nempty(one)", &["one?x", "one?_", "one?cells[1]"]),
        1 => ("nfull(one)", &["one!1", "one!y", "one!cells[j % 2]"]),
        2 => ("nempty(two)", &["two?x,b", "two?y,_", "two?i,k"]),
        3 => ("nfull(two)", &["two!x,1", "two!!y,0", "two!2,b"]),
        4 => ("two??[1,1]", &["two??1,1", "two??1,k"]),
        _ => ("nempty(own)", &["own?y", "own?x"]),
    };
    let does = vec![Node::Line(can.to_owned()), Node::Line(pick(rng, does))];
    let repeats = rng.u8(0..3) == 0;
    let rest = if repeats { "break" } else { "skip" };
    Node::Choice(repeats, vec![does, vec![Node::Line("else".to_owned()), Node::Line(rest.to_owned())]])
}

/// Only the first statement can block, but for mistakes.
fn d_step(rng: &mut Rng, place: Place) -> Vec<Node> {
    let place = Place { depth: 0, atomic: true, d_step: true, in_loop: false, ..place };
    let first = if rng.bool() { d_step_first(rng, place) } else { assignment(rng, place) };
    let mut nodes = vec![Node::Line(first)];
    let n = if rng.u8(0..6) == 0 { rng.usize(4..9) } else { rng.usize(0..3) };
    for _ in 0..n {
        nodes.push(match rng.u8(0..9) {
            4 => counted(rng, place),
            7 => exchange(rng),
            8 => {
                let then = vec![Node::Line(guard(rng, place)), exchange(rng), counted(rng, place)];
                let other = vec![Node::Line("else".to_owned()), exchange(rng)];
                Node::Choice(false, vec![then, other])
            }
            5 if rng.u8(0..4) == 0 => Node::Line(blocking(rng, place)),
            0 => {
                let mut options: Vec<Vec<Node>> = (0..rng.usize(1..3))
                    .map(|_| vec![Node::Line(guard(rng, place)), Node::Line(assignment(rng, place))])
                    .collect();
                options.push(vec![Node::Line("else".to_owned())]);
                Node::Choice(false, options)
            }
            _ => Node::Line(assignment(rng, place)),
        });
    }
    nodes
}

fn d_step_first(rng: &mut Rng, place: Place) -> String {
    match rng.u8(0..3) {
        0 => guard(rng, place),
        1 => pick(rng, &["one?x", "one!1", "two?y,b", "two!2,1", "one?1"]),
        _ => pick(rng, &["meet?x", "meet2?color,y", "two??1,b"]),
    }
}

fn basic(rng: &mut Rng, place: Place) -> String {
    match rng.u8(0..22) {
        7..=11 => blocking(rng, place),
        12 | 20 => format!("assert({})", pick(rng, &ASSERTED)),
        13 => "skip".to_owned(),
        14 => "printf(\"%d\\n\", x)".to_owned(),
        15 if !place.d_step && !place.atomic => "goto again".to_owned(),
        16 if place.in_loop && !place.d_step => "break".to_owned(),
        17 if !place.d_step && !place.atomic => "(_nr_pr < 4); run Q(1, one)".to_owned(),
        21 if place.in_loop && !place.atomic => {
            format!("{}_{}: skip", pick(rng, &["accept", "progress", "end"]), rng.u32(..))
        }
        19 if place.has_priorities => pick(rng, &SETS),
        18 if !place.atomic => "select (j : 0 .. 1)".to_owned(),
        _ => assignment(rng, place),
    }
}

fn blocking(rng: &mut Rng, place: Place) -> String {
    if rng.u8(0..5) < 2 {
        return guard(rng, place);
    }
    let channels = if place.has_parameters { &["one", "c", "own"][..] } else { &["one", "own"] };
    match rng.u8(0..13) {
        0 => format!("meet!{}", value(rng, place)),
        1 => pick(rng, &["meet?x", "meet?1", "meet?i", "meet?eval(y)", "meet?_"]),
        2 => format!("meet2!{},{}", pick(rng, &["red", "color"]), value(rng, place)),
        3 => pick(rng, &["meet2?red,x", "meet2?color,j", "meet2?green(i)", "meet2?color,eval(x)"]),
        4 => format!("{}!{}", pick(rng, channels), value(rng, place)),
        5 => format!("{}?{}", pick(rng, channels), pick(rng, &["x", "1", "eval(i)", "_", "cells[1]"])),
        6 => format!("two{}{},{}", pick(rng, &["!", "!!"]), value(rng, place), pick(rng, &["0", "b", "1"])),
        7 => format!(
            "two{}",
            pick(rng, &["?x,b", "??1,b", "??eval(y),1", "?<x,k>", "??<i,1>", "?_,_", "?2,k"])
        ),
        8 => pick(rng, &["nempty(one)", "len(two) == 1", "full(two)", "empty(one)", "nfull(one)"]),
        9 => pick(rng, &["one?[1]", "two?[_,1]", "two??[1,0]", "one?[eval(x)]"]),
        10 => pick(rng, &["carry!one", "carry!own"]),
        11 => "carry?d; d!1".to_owned(),
        _ => pick(rng, &["carry?d; d?x", "one?x", "meet!2", "meet?y"]),
    }
}

fn guard(rng: &mut Rng, place: Place) -> String {
    let op = pick(rng, &["==", "!=", "<", ">="]);
    match rng.u8(0..8) {
        0 => pick(rng, &["b", "!k", "pair.flags[1]", "color == red", "_nr_pr > 2", "s < 0"]),
        1 => format!(
            "({} {op} {} && {})",
            value(rng, place),
            value(rng, place),
            pick(rng, &["b", "k", "1", "!b"])
        ),
        _ => format!("({} {op} {})", value(rng, place), value(rng, place)),
    }
}

fn value(rng: &mut Rng, place: Place) -> String {
    let mut names = vec![
        "0",
        "1",
        "2",
        "x",
        "y",
        "i",
        "cells[0]",
        "cells[i % 2]",
        "pair.first",
        "_pid",
        "x + 1",
        "(b -> 1 : y)",
    ];
    names.extend(["pairs[i % 2].first", "pairs[1].flags[j % 2]"]);
    if place.has_parameters {
        names.extend(["n", "n"]);
    }
    if place.has_priorities {
        names.extend(["_priority", "get_priority(1)"]);
    }
    pick(rng, &names)
}

pub(super) fn assignment(rng: &mut Rng, place: Place) -> String {
    let to = pick(
        rng,
        &["x", "y", "i", "j", "cells[0]", "cells[j % 2]", "pair.first", "pairs[x % 2].first", "x", "y"],
    );
    match rng.u8(0..12) {
        0 => pick(
            rng,
            &[
                "b = !b",
                "k = (x > 1)",
                "b = x",
                "pair.flags[0] = b",
                "pair.flags[i % 2] = 1",
                "pairs[b].flags[j % 2] = k",
            ],
        ),
        1 => pick(rng, &["color = red", "color = blue", "color = 0"]),
        2 => pick(rng, &["s = x - y", "s = -1", "s = (s + 1) % 3", "x = s % 3"]),
        3 => format!("{to} = ({} + {}) % 3", value(rng, place), value(rng, place)),
        4 => format!("{to} = ({} - {}) % 3", value(rng, place), value(rng, place)),
        5 => format!("{to} = ({} * {}) & 3", value(rng, place), value(rng, place)),
        6 if place.has_parameters => "n = (n + 1) % 3".to_owned(),
        _ => format!("{to} = {}", pick(rng, &["0", "1", "2", "i", "(y + 1) % 3", "(x + 1) % 3"])),
    }
}

pub(super) fn start(rng: &mut Rng, place: Place) -> Node {
    let channel = pick(rng, &["one", "own", "meet"]);
    let text = match rng.u8(0..3) {
        0 => format!("i = run Q({}, {channel})", rng.u8(0..3)),
        1 if place.has_priorities => format!("run Q({}, {channel}) priority 3", rng.u8(0..3)),
        _ => format!("run Q({}, {channel})", rng.u8(0..3)),
    };
    Node::Line(text)
}

/// A trace, or nothing.
pub(super) fn trace(rng: &mut Rng) -> String {
    if rng.u8(0..4) == 0 { pick(rng, &TRACES) } else { String::new() }
}

/// A condition in a never claim.
pub(super) fn in_claim(rng: &mut Rng, is_calm: bool) -> String {
    match rng.u8(0..4) {
        0 => pick(rng, &["(_last == 0)", "(_last == 1)", "(_last != 2)", "(_last == _nr_pr - 1)"]),
        1 => format!("(!{} && {})", proposition(rng, is_calm), proposition(rng, is_calm)),
        _ => proposition(rng, is_calm),
    }
}

fn proposition(rng: &mut Rng, is_calm: bool) -> String {
    let mut all =
        vec!["(x == 1)", "b", "(y < 2)", "(len(one) > 0)", "(color == red)", "(cells[1] == 0)", "(s < 0)"];
    all.extend([
        "(_nr_pr > 2)",
        "(P0[0]@again)",
        "(P0[0]:i == 1)",
        "(pc_value(0) > 3)",
        "(pc_value(1) == 0)",
    ]);
    if is_calm {
        all.extend(["enabled(0)", "(!enabled(1))", "enabled(0)"]);
    }
    pick(rng, &all)
}

pub(super) fn formula(rng: &mut Rng, depth: u32, is_calm: bool) -> String {
    if depth == 0 || rng.u8(0..4) == 0 {
        return proposition(rng, is_calm);
    }
    let inner = formula(rng, depth - 1, is_calm);
    match rng.u8(0..7) {
        0 => format!("([] {inner})"),
        1 => format!("(<> {inner})"),
        2 => format!("([] <> {inner})"),
        3 => format!("(<> [] {inner})"),
        4 => format!("(!{inner})"),
        5 => format!("({inner} -> <> {})", formula(rng, depth - 1, is_calm)),
        _ => format!("({inner} U {})", formula(rng, depth - 1, is_calm)),
    }
}
