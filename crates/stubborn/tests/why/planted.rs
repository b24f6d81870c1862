//! Thirty models in three languages, in each of which something was planted.

use stubborn::Question;
use stubborn::report::why::Because;

use super::{constant, happens, net, never, no_matter, removable, taken, why_in};

/// Twelve models in three languages, in each of which something was planted.
#[test]
fn what_was_planted_in_other_models_is_told() {
    let ltl = Question::ltl;
    let proc = |text: &str| ("process", text.to_owned());
    let pml = |text: &str| ("promela", text.to_owned());
    let pnml = |places: &[(&str, u32)], transitions: &[(&str, &[&str], &[&str])]| {
        ("petri", net(places, transitions))
    };
    let planted = [
        (
            proc(
                "process Door { shut: open -> ajar; ajar: close -> shut | slam -> shut; }
                process Alarm { quiet: ring -> loud; loud: hush -> quiet; fire: ring -> loud; }",
            ),
            ltl("[] (Alarm@fire -> <> Door@ajar)"),
            never("Alarm@fire"),
        ),
        (
            proc(
                "process Lift[i in 0..2] { low: up[i] -> high; high: down[i] -> low; stuck: repair[i] -> low; }",
            ),
            ltl("[] (Lift[0]@high -> !Lift[1]@stuck)"),
            constant("Lift[1]@stuck", false),
        ),
        (
            proc(
                "process Traffic { red: go -> green; green: slow -> yellow; yellow: halt -> red; }
                process Camera { idle: flash -> idle; }",
            ),
            ltl("[] (Traffic@yellow -> !Traffic@green)"),
            removable("Camera"),
        ),
        (
            proc("process A { x: s -> y; y: t -> x; } process B { u: v -> w; w: z -> u; }"),
            ltl("[] (A@x || A@y || B@w)"),
            no_matter("B@w"),
        ),
        (
            pml("byte count; bool error = false; active proctype P() { do :: count < 3 -> count++
                :: count > 0 -> count-- :: count > 10 -> error = true; assert(count < 9) od }"),
            ltl("[] (error -> count > 10)"),
            constant("error", false),
        ),
        (
            pml("mtype = { req, ack, nak }; chan c = [1] of { mtype }; mtype last = req;
                active proctype S() { do :: c ! req :: c ! ack od }
                active proctype R() { mtype m; do :: c ? m -> last = m od }"),
            ltl("[] (last == nak -> <> (last == ack))"),
            never("last == nak"),
        ),
        (
            pml("byte turn, noise; active proctype A() { do :: turn == 0 -> turn = 1 od }
                active proctype B() { do :: turn == 1 -> turn = 0 od }
                active proctype N() { do :: noise = 1 - noise od }"),
            ltl("[] (turn == 0 || turn == 1)"),
            removable("N(2)"),
        ),
        (
            pml("bool up, seen; active proctype P() { do :: up = !up od }
                active proctype Q() { do :: up -> seen = true od }"),
            ltl("[] (seen -> [] seen) || [] <> !up"),
            no_matter("[] <> !up"),
        ),
        (
            pnml(
                &[("idle", 1), ("busy", 0), ("jam", 0), ("broken", 0)],
                &[
                    ("start", &["idle"], &["busy"]),
                    ("stop", &["busy"], &["idle"]),
                    ("fail", &["broken"], &["jam"]),
                    ("fix", &["jam"], &["idle"]),
                ],
            ),
            ltl("[] (jam > 0 -> <> (idle > 0))"),
            never("jam > 0"),
        ),
        (
            pnml(
                &[("free", 3), ("used", 0), ("spare", 0)],
                &[
                    ("take", &["free"], &["used"]),
                    ("give", &["used"], &["free"]),
                    ("grow", &["spare"], &["spare", "free"]),
                ],
            ),
            ltl("[] (free + used == 3 || spare > 0)"),
            constant("spare > 0", false),
        ),
        (
            pnml(
                &[("p0", 1), ("p1", 0), ("q0", 1), ("q1", 0)],
                &[
                    ("a", &["p0"], &["p1"]),
                    ("b", &["p1"], &["p0"]),
                    ("c", &["q0"], &["q1"]),
                    ("d", &["q1"], &["q0"]),
                ],
            ),
            ltl("[] (p0 + p1 == 1 || q0 == 0)"),
            constant("p0 + p1 == 1", true),
        ),
        (
            pnml(
                &[("a", 1), ("b", 0), ("dead", 0)],
                &[("go", &["a"], &["b"]), ("back", &["b"], &["a"]), ("die", &["dead", "a"], &["dead"])],
            ),
            ltl("[] (b > 0 -> <> (a > 0)) && [] (dead == 0)"),
            happens("die"),
        ),
    ];
    for ((language, model), question, expected) in planted {
        let told = why_in(language, &model, &question, &[]);
        assert!(told.contains(&expected), "{question}: {told:?} lacks {expected:?}");
    }
}

/// A model of a language, what is asked about it under which fairness, and what was planted.
type Planted = (&'static str, String, Question, &'static [&'static str], Because);

/// Eighteen models as their users would write them, each with a mistake that lets the property pass.
fn planted() -> Vec<Planted> {
    let ltl = Question::ltl;
    type Fair = &'static [&'static str];
    let pml =
        |text: &str, question, fair: Fair, expected| ("promela", text.to_owned(), question, fair, expected);
    let proc =
        |text: &str, question, fair: Fair, expected| ("process", text.to_owned(), question, fair, expected);
    vec![
        // The critical section is entered by a flag, which is never 2.
        pml(
            "bool flag0, flag1; byte crit;
            active proctype A() { do :: flag0 = true; !flag1 -> crit = 1; crit = 0; flag0 = false od }
            active proctype B() { do :: flag1 = true; !flag0 -> crit = 1; crit = 0; flag1 = false od }",
            ltl("[] (crit == 2 -> <> (crit == 0))"),
            &[],
            never("crit == 2"),
        ),
        // Nobody sets the state that is asked about.
        pml(
            "mtype = { idle, busy, failed }; mtype st = idle;
            active proctype W() { do :: st == idle -> st = busy :: st == busy -> st = idle od }",
            ltl("[] (st == failed -> <> (st == idle))"),
            &[],
            never("st == failed"),
        ),
        // The timer forgets to say that it has expired: so it does not matter what it does.
        pml(
            "byte t; bool expired; active proctype T() { do :: t < 5 -> t++ :: t == 5 -> t = 0 od }",
            ltl("[] (!expired || t == 5)"),
            &[],
            removable("T(0)"),
        ),
        pml(
            "chan q = [2] of { byte }; byte n; active proctype P() { do :: q ! 1 od }
            active proctype C() { byte x; do :: q ? x -> n = x od }",
            ltl("[] (len(q) <= 2 || n == 7)"),
            &[],
            constant("n == 7", false),
        ),
        pml(
            "byte a, b; active proctype A() { do :: a = 1 - a od } active proctype B() { do :: b = 1 - b od }",
            ltl("[] (a < 2)"),
            &[],
            removable("B(1)"),
        ),
        pml(
            "byte x; active proctype P() { do :: x = 1; x = 0 od }",
            ltl("[] <> (x == 1)"),
            &["weak"],
            Because::FairnessUnneeded,
        ),
        pml(
            "bool req, ack; active proctype M() { do :: req = 1; ack = 1; req = 0; ack = 0 od }",
            ltl("[] (req -> <> ack)"),
            &[],
            no_matter("req"),
        ),
        // It never looks west.
        pml(
            "mtype = { north, east, south, west }; mtype dir = north; active proctype R() { do :: dir == north -> dir = east
            :: dir == east -> dir = south :: dir == south -> dir = north :: dir == west -> dir = north od }",
            ltl("[] (dir == north || dir == east || dir == south)"),
            &[],
            taken("dir", "west"),
        ),
        proc(
            "process Valve { closed: open -> opened; opened: close -> closed; leaking: patch -> closed; }
            process Pump { off: start -> on; on: stop -> off; }",
            ltl("[] (Valve@leaking -> Pump@off)"),
            &[],
            never("Valve@leaking"),
        ),
        proc(
            "process Heater { cold: heat -> warm; warm: cool -> cold; } process Clock { tick: t -> tock; tock: u -> tick; }",
            Question::invariant("Heater@cold || Heater@warm"),
            &[],
            removable("Clock"),
        ),
        // The tank is never filled so far.
        proc(
            "process Tank { level[k in 0..6]: fill -> level[k + 1] when k < 3 | drain -> level[k - 1] when k > 0; }",
            ltl("[] (Tank@level[5] -> <> Tank@level[0])"),
            &[],
            never("Tank@level[5]"),
        ),
        proc(
            "process A { x: a -> y; y: b -> x; } process B { u: c -> v; v: d -> u; } process C { w: e -> z; z: f -> w; }",
            ltl("[] <> A@x && [] <> C@z"),
            &["weak"],
            Because::UnneededFairnessTo { to: "B".to_owned() },
        ),
        proc(
            "process Client { idle: ask -> waiting; waiting: answer -> idle; }
            process Server { free: ask -> busy; busy: answer -> free; }",
            ltl("[] (Client@idle -> X Client@waiting) || [] <> Server@busy"),
            &[],
            no_matter("[] <> Server@busy"),
        ),
        (
            "petri",
            net(
                &[("put", 1), ("full", 0), ("empty", 2), ("alarm", 0)],
                &[
                    ("produce", &["put", "empty"], &["put", "full"]),
                    ("consume", &["full"], &["empty"]),
                    ("reset", &["alarm", "full"], &["alarm", "empty"]),
                ],
            ),
            ltl("[] (full <= 2)"),
            &[],
            happens("reset"),
        ),
        (
            "petri",
            net(
                &[("ok", 1), ("wait", 0), ("error", 0)],
                &[("send", &["ok"], &["wait"]), ("got", &["wait"], &["ok"]), ("heal", &["error"], &["ok"])],
            ),
            ltl("[] (error > 0 -> <> (ok > 0))"),
            &[],
            never("error > 0"),
        ),
        (
            "petri",
            net(&[("a", 1), ("b", 0)], &[("go", &["a"], &["b"]), ("back", &["b"], &["a"])]),
            ltl("[] <> (a > 0)"),
            &["strong"],
            Because::FairnessUnneeded,
        ),
        (
            "petri",
            net(&[("free", 2), ("used", 0)], &[("take", &["free"], &["used"]), ("give", &["used"], &["free"])]),
            ltl("[] (used >= 3 -> free == 0)"),
            &[],
            never("used >= 3"),
        ),
        (
            "petri",
            net(&[("a", 1), ("b", 0)], &[("go", &["a"], &["b"]), ("back", &["b"], &["a"])]),
            ltl("[] <> (a > 0) || <> [] (b > 0)"),
            &[],
            no_matter("<> [] b > 0"),
        ),
    ]
}

#[test]
fn what_was_planted_as_users_do_is_told() {
    let planted = planted();
    assert_eq!(planted.len(), 18);
    let mut missed = Vec::new();
    for (language, model, question, fair, expected) in planted {
        let told = why_in(language, &model, &question, fair);
        if !told.contains(&expected) {
            missed.push(format!("{question} {fair:?}: {told:?} lacks {expected:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
