//! Thirty models in three languages in which nothing is wrong.

use stubborn::Question;

use super::{net, why_in};

/// Twelve models in three languages in which nothing is wrong.
#[test]
fn other_sound_models_are_left_alone() {
    let ltl = Question::ltl;
    let proc = |text: &str| ("process", text.to_owned());
    let pml = |text: &str| ("promela", text.to_owned());
    let pnml = |places: &[(&str, u32)], transitions: &[(&str, &[&str], &[&str])]| {
        ("petri", net(places, transitions))
    };
    let sound = [
        (
            proc("process Gate { closed: raise -> opened; opened: lower -> closed; }
                process Car { away: arrive -> waiting; waiting: raise -> passing; passing: lower -> away; }"),
            ltl("[] (Car@passing -> Gate@opened)"),
        ),
        (
            proc("process First { yes: pass[0] -> no; no: pass[2] -> yes; }
                process Other[i in 1..3] { no: pass[i - 1] -> yes; yes: pass[i] -> no; }"),
            Question::invariant("(count i in 1..3: Other[i]@yes) <= 1 && !(First@yes && Other[1]@yes)"),
        ),
        (
            proc("process Buf { n[k in 0..3]: put -> n[k + 1] when k < 2 | get -> n[k - 1] when k > 0; }
                process Prod { p: put -> q; q: make -> p; } process Cons { r: get -> s; s: eat -> r; }"),
            Question::DeadlockFree,
        ),
        (
            proc("process Ping { a: ping -> b; b: pong -> a; } process Pong { c: ping -> d; d: pong -> c; }"),
            ltl("[] (Ping@a -> X Ping@b)"),
        ),
        (
            pml("bool x[2]; byte turn, crit; active [2] proctype P() { do :: x[_pid] = true; turn = 1 - _pid;
                (x[1 - _pid] == false || turn == _pid); crit++; crit--; x[_pid] = false od }"),
            ltl("[] (crit <= 1)"),
        ),
        // `!waiting` is no proposition of its own.
        (
            pml("mtype = { req, ack }; chan c = [1] of { mtype }; chan d = [1] of { mtype }; bool waiting;
                active proctype C() { do :: c ! req; waiting = true; d ? ack; waiting = false od }
                active proctype S() { do :: c ? req; d ! ack od }"),
            ltl("[] (waiting -> <> !waiting)"),
        ),
        (
            pml("byte n; active [2] proctype P() { do :: atomic { n < 4 -> n++ } :: atomic { n > 0 -> n-- } od }
                active proctype M() { do :: assert(n <= 4) od }"),
            Question::property("assertions"),
        ),
        (
            pml("byte level; active proctype T() { do :: level < 3 -> level++ :: level == 3 -> level = 0 od }"),
            ltl("[] <> (level == 3)"),
        ),
        (
            pnml(&[("a", 1), ("b", 0)], &[("go", &["a"], &["b"]), ("back", &["b"], &["a"])]),
            ltl("[] (b > 0 -> X (a > 0))"),
        ),
        (
            pnml(&[("free", 3), ("used", 0)], &[("take", &["free"], &["used"]), ("give", &["used"], &["free"])]),
            ltl("[] (free + used == 3)"),
        ),
        (
            pnml(
                &[("i1", 1), ("c1", 0), ("i2", 1), ("c2", 0), ("m", 1)],
                &[
                    ("e1", &["i1", "m"], &["c1"]),
                    ("x1", &["c1"], &["i1", "m"]),
                    ("e2", &["i2", "m"], &["c2"]),
                    ("x2", &["c2"], &["i2", "m"]),
                ],
            ),
            ltl("[] !(c1 > 0 && c2 > 0)"),
        ),
        (
            pnml(
                &[("a", 1), ("b", 0), ("c", 0)],
                &[("t1", &["a"], &["b"]), ("t2", &["b"], &["c"]), ("t3", &["c"], &["a"])],
            ),
            ltl("[] <> (a > 0)"),
        ),
    ];
    for ((language, model), question) in sound {
        let told = why_in(language, &model, &question, &[]);
        assert!(told.is_empty(), "{question}: {told:?}");
    }
}

/// Eighteen models of which nothing is to be said: every statement is executed, every part of what is asked matters.
#[test]
fn what_users_did_well_is_left_alone() {
    let ltl = Question::ltl;
    let inv = Question::invariant;
    let pml =
        |text: &str, question, fair: &'static [&'static str]| ("promela", text.to_owned(), question, fair);
    let proc =
        |text: &str, question, fair: &'static [&'static str]| ("process", text.to_owned(), question, fair);
    let sound = vec![
        pml("bit b; active proctype T() { do :: b = 1 - b od }", ltl("[] <> (b == 1)"), &[]),
        pml(
            "byte x; active proctype P() { do :: x < 3 -> x++ :: x > 0 -> x-- od }",
            ltl("[] (x <= 3)"),
            &[],
        ),
        pml(
            "byte sem = 1, n; active [2] proctype P() { do :: atomic { sem > 0 -> sem-- }; n++; n--; sem++ od }",
            ltl("[] (n <= 1)"),
            &[],
        ),
        pml(
            "chan c = [0] of { bit }; bit turn; active proctype A() { do :: c ! 1; turn = 0 od }
            active proctype B() { bit x; do :: c ? x -> turn = 1 od }",
            ltl("[] <> (turn == 1)"),
            &[],
        ),
        pml(
            "bool done; active proctype P() { byte i; do :: i < 3 -> i++ :: i == 3 -> break od; done = true }",
            ltl("<> done"),
            &[],
        ),
        pml(
            "byte x; active proctype P() { do :: x < 5 -> x++ :: x == 5 -> break od }",
            ltl("(x < 5) U (x == 5)"),
            &[],
        ),
        pml(
            "chan q = [2] of { bit }; byte sent, got; active proctype S() { do :: sent < 4 -> q ! 1; sent++ :: sent == 4 -> break od }
            active proctype R() { do :: got < 4 -> q ? 1; got++ :: got == 4 -> break od }",
            ltl("<> (got == 4)"),
            &[],
        ),
        pml(
            "byte owner; active proctype A() { do :: owner == 0 -> owner = 1 od } active proctype B() { do :: owner == 1 -> owner = 0 od }",
            ltl("[] <> (owner == 0) && [] <> (owner == 1)"),
            &[],
        ),
        proc(
            "process Traffic { red: go -> green; green: slow -> yellow; yellow: halt -> red; }",
            ltl("[] (Traffic@green -> X Traffic@yellow)"),
            &[],
        ),
        proc(
            "process Lock { free: open[i] -> used for i in 0..2; used: close[i] -> free for i in 0..2; }
            process Door[i in 0..2] { shut: open[i] -> ajar; ajar: close[i] -> shut; }",
            inv("Lock@used || (Door[0]@shut && Door[1]@shut)"),
            &[],
        ),
        proc(
            "process T { n[k in 0..4]: up -> n[k + 1] when k < 3 | down -> n[k - 1] when k > 0; }",
            ltl("[] (T@n[2] -> X (T@n[1] || T@n[3]))"),
            &[],
        ),
        proc(
            "process Key { out: turn -> in_lock; in_lock: back -> out; } process Motor { off: turn -> on; on: back -> off; }",
            ltl("[] (Motor@on -> Key@in_lock)"),
            &[],
        ),
        proc(
            "process S { free: take[i] -> taken for i in 0..3; taken: give[i] -> free for i in 0..3; }
            process W[i in 0..3] { out: take[i] -> held; held: give[i] -> out; }",
            ltl("[] <> W[2]@held"),
            &["strong:W[2]"],
        ),
        (
            "petri",
            net(
                &[("p0", 1), ("p1", 0), ("p2", 0)],
                &[("a", &["p0"], &["p1"]), ("b", &["p1"], &["p2"]), ("c", &["p2"], &["p0"])],
            ),
            ltl("[] (p0 + p1 + p2 == 1)"),
            &[],
        ),
        (
            "petri",
            net(
                &[("start", 1), ("left", 0), ("right", 0), ("l2", 0), ("r2", 0)],
                &[
                    ("fork", &["start"], &["left", "right"]),
                    ("l", &["left"], &["l2"]),
                    ("r", &["right"], &["r2"]),
                    ("join", &["l2", "r2"], &["start"]),
                ],
            ),
            ltl("[] <> (start > 0)"),
            &[],
        ),
        (
            "petri",
            net(
                &[("full", 0), ("empty", 2)],
                &[("produce", &["empty"], &["full"]), ("consume", &["full"], &["empty"])],
            ),
            inv("full <= 2"),
            &[],
        ),
        (
            "petri",
            net(&[("a", 2), ("b", 0)], &[("move", &["a"], &["b"])]),
            ltl("<> (b == 2)"),
            &[],
        ),
        (
            "petri",
            net(
                &[("idle", 1), ("work", 0), ("tool", 1)],
                &[("begin", &["idle", "tool"], &["work"]), ("end", &["work"], &["idle", "tool"])],
            ),
            ltl("[] (work > 0 -> X (tool > 0))"),
            &[],
        ),
    ];
    assert_eq!(sound.len(), 18);
    let mut wrong = Vec::new();
    for (language, model, question, fair) in sound {
        let told = why_in(language, &model, &question, fair);
        if !told.is_empty() {
            wrong.push(format!("{question} {fair:?}: {told:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
