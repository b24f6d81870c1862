//! What properties rest on: planted suspicions are told, and sound properties are left alone.

use stubborn::report::why::Because;
use stubborn::{Options, Question, Session, Verdict};

/// What is said of the one property that is asked, which holds.
fn why(model: &str, question: &Question, fair: &[&str]) -> Vec<Because> {
    why_in("process", model, question, fair)
}

/// The same in some language.
fn why_in(language: &str, model: &str, question: &Question, fair: &[&str]) -> Vec<Because> {
    let mut session = Session::of_text(language, model).expect("a good model");
    let fair = fair.iter().map(|text| text.parse().expect("good fairness")).collect();
    let options = Options { why: true, fair, ..Options::default() };
    let report = session.check(std::slice::from_ref(question), &options).expect("a good question");
    assert_eq!(report.results.len(), 1);
    assert_eq!(report.results[0].verdict, Verdict::Holds, "{question} {model}");
    report.results[0].why.clone().expect("it was asked")
}

/// A lamp that is switched on and off.
const SWITCH: &str = "process Lamp { off: press -> on; on: press -> off; }";
/// Who asks is answered, and nothing else is there.
const PAIR: &str = "process Client { idle: ask -> waiting; waiting: answer -> idle; }
    process Server { free: ask -> busy; busy: answer -> free; }";
/// The same lamp, and an error that never comes.
const LAMP: &str = "process Lamp { off: press -> on; on: press -> off; broken: mend -> off; }";
/// Who asks is answered.
const SERVER: &str = "process Client { idle: ask -> waiting; waiting: answer -> idle; never: ask -> never; }
    process Server { free: ask -> busy; busy: answer -> free; }";
/// Two that have nothing to do with each other.
const APART: &str = "process P { a: go -> b; b: back -> a; } process Q { c: run -> d; d: rest -> c; }";
/// A semaphore, for which fairness matters.
const SEMAPHORE: &str =
    "process S { free: take[i] -> taken for i in 0..2; taken: give[i] -> free for i in 0..2; }
    process Worker[i in 0..2] { out: take[i] -> held; held: give[i] -> out; }";
/// A counter from 0 to 3 and back.
const COUNTER: &str = "process C { n[k in 0..4]: up -> n[k + 1] when k < 3 | down -> n[k - 1] when k > 0; }";

fn no_matter(part: &str) -> Because {
    Because::NoMatter { part: part.to_owned() }
}

fn constant(proposition: &str, value: bool) -> Because {
    Because::Constant { proposition: proposition.to_owned(), value }
}

fn never(condition: &str) -> Because {
    Because::NeverTriggered { condition: condition.to_owned() }
}

fn happens(what: &str) -> Because {
    Because::NeverHappens { what: what.to_owned() }
}

fn taken(variable: &str, value: &str) -> Because {
    Because::NeverTaken { variable: variable.to_owned(), values: vec![value.to_owned()] }
}

fn there(state: &str) -> Because {
    Because::NeverThere { state: state.to_owned() }
}

fn removable(process: &str) -> Because {
    Because::Removable { process: process.to_owned() }
}

#[test]
fn what_was_planted_is_told() {
    use Because::FairnessUnneeded;
    let ltl = Question::ltl;
    let to = |who: &str| Because::UnneededFairnessTo { to: who.to_owned() };
    let planted: Vec<(&str, Question, &[&str], Because)> = vec![
        // Propositions that never change.
        (LAMP, ltl("[] (Lamp@on -> !Lamp@broken)"), &[], constant("Lamp@broken", false)),
        (LAMP, ltl("[] (Lamp@broken || Lamp@off || Lamp@on)"), &[], constant("Lamp@broken", false)),
        (LAMP, ltl("[] <> (Lamp@on && !Lamp@broken)"), &[], constant("Lamp@broken", false)),
        (LAMP, ltl("<> (Lamp@on || Lamp@broken)"), &[], constant("Lamp@broken", false)),
        (
            SERVER,
            ltl("[] (Client@waiting -> <> Client@idle || Client@never)"),
            &[],
            constant("Client@never", false),
        ),
        (COUNTER, ltl("[] (C@n[0] || C@n[*])"), &[], constant("C@n[*]", true)),
        // Implications that are never triggered.
        (LAMP, ltl("[] (Lamp@broken -> <> Lamp@off)"), &[], never("Lamp@broken")),
        (LAMP, ltl("[] (Lamp@on && Lamp@off -> <> Lamp@off)"), &[], never("Lamp@on && Lamp@off")),
        (SERVER, ltl("[] (Client@never -> X Server@busy)"), &[], never("Client@never")),
        (
            SERVER,
            ltl("[] (Client@waiting && Server@free -> <> Server@busy)"),
            &[],
            never("Client@waiting && Server@free"),
        ),
        (
            SERVER,
            ltl("[] (Client@idle && Server@busy -> [] Client@idle)"),
            &[],
            never("Client@idle && Server@busy"),
        ),
        (COUNTER, ltl("[] (C@n[0] && C@n[3] -> <> C@n[1])"), &[], never("C@n[0] && C@n[3]")),
        // Parts that do not matter.
        (SERVER, ltl("[] (Client@waiting -> <> Client@idle)"), &[], no_matter("Client@waiting")),
        (SERVER, ltl("[] (Server@busy -> (Server@busy U Server@free))"), &[], no_matter("Server@busy")),
        (LAMP, ltl("[] <> Lamp@on || [] Lamp@off"), &[], no_matter("[] Lamp@off")),
        (LAMP, ltl("[] (Lamp@on -> <> Lamp@off) || <> [] Lamp@on"), &[], no_matter("<> [] Lamp@on")),
        (LAMP, ltl("(Lamp@on R Lamp@off) || [] <> Lamp@off"), &[], no_matter("Lamp@on V Lamp@off")),
        (COUNTER, ltl("<> C@n[1] || <> C@n[2]"), &[], no_matter("<> C@n[2]")),
        (COUNTER, ltl("[] (C@n[0] -> X C@n[1]) || [] <> C@n[3]"), &[], no_matter("[] <> C@n[3]")),
        (
            LAMP,
            Question::invariant("Lamp@on || Lamp@off || Lamp@broken"),
            &[],
            constant("Lamp@broken", false),
        ),
        (LAMP, Question::invariant("!(Lamp@on && Lamp@broken)"), &[], constant("Lamp@broken", false)),
        (
            SERVER,
            Question::invariant("!(Client@waiting && Server@free) || Client@never"),
            &[],
            constant("Client@never", false),
        ),
        // Fairness that is not needed.
        (LAMP, ltl("[] <> Lamp@on"), &["weak"], FairnessUnneeded),
        (LAMP, ltl("[] (Lamp@on -> <> Lamp@off)"), &["strong"], FairnessUnneeded),
        (SERVER, ltl("[] <> Server@busy"), &["weak:Client"], FairnessUnneeded),
        (SEMAPHORE, ltl("[] <> Worker[0]@held"), &["strong"], to("Worker[1]")),
        (APART, ltl("[] <> P@a"), &["weak"], to("Q")),
        // Processes that make no difference.
        (APART, ltl("[] (P@a || P@b)"), &[], removable("Q")),
        (APART, Question::invariant("Q@c || Q@d"), &[], removable("P")),
        (APART, ltl("[] <> P@b"), &["weak:P"], removable("Q")),
    ];
    assert_eq!(planted.len(), 30);
    let mut missed = Vec::new();
    for (model, question, fair, expected) in planted {
        let told = why(model, &question, fair);
        if !told.contains(&expected) {
            missed.push(format!("{question} {fair:?}: {told:?} lacks {expected:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn sound_properties_are_left_alone() {
    let ltl = Question::ltl;
    let inv = Question::invariant;
    let sound: Vec<(&str, Question, &[&str])> = vec![
        (SWITCH, ltl("[] <> Lamp@on"), &[]),
        (SWITCH, ltl("<> Lamp@on"), &[]),
        (SWITCH, ltl("Lamp@off"), &[]),
        (SWITCH, ltl("X Lamp@on"), &[]),
        (SWITCH, ltl("[] (Lamp@on -> X Lamp@off)"), &[]),
        (SWITCH, ltl("[] (Lamp@off || Lamp@on)"), &[]),
        (SWITCH, ltl("Lamp@off U Lamp@on"), &[]),
        (SWITCH, ltl("[] <> Lamp@on && [] <> Lamp@off"), &[]),
        (PAIR, ltl("[] (Client@waiting -> Server@busy)"), &[]),
        (PAIR, ltl("[] (Client@idle -> Server@free)"), &[]),
        (PAIR, ltl("[] (Client@waiting -> X Client@idle)"), &[]),
        (PAIR, ltl("[] <> Client@idle"), &[]),
        (PAIR, ltl("Client@idle U Server@busy"), &[]),
        (PAIR, inv("Client@idle || Server@busy"), &[]),
        (PAIR, inv("!(Client@idle && Server@busy)"), &[]),
        (APART, ltl("<> (P@b || Q@d)"), &[]),
        (APART, ltl("[] <> P@b && [] <> Q@d"), &["weak"]),
        (APART, inv("(P@a || P@b) && (Q@c || Q@d)"), &[]),
        (SEMAPHORE, ltl("[] !(Worker[0]@held && Worker[1]@held)"), &[]),
        (SEMAPHORE, ltl("[] (Worker[0]@held -> S@taken)"), &[]),
        (SEMAPHORE, ltl("[] (S@taken -> X S@free)"), &[]),
        (SEMAPHORE, ltl("[] <> S@taken"), &[]),
        (SEMAPHORE, ltl("[] <> Worker[0]@held"), &["strong:Worker[0]"]),
        (SEMAPHORE, ltl("[] <> Worker[0]@held && [] <> Worker[1]@held"), &["strong:Worker[*]"]),
        (SEMAPHORE, inv("!(Worker[0]@held && Worker[1]@held)"), &[]),
        (SEMAPHORE, inv("S@taken || Worker[0]@out"), &[]),
        (COUNTER, ltl("[] (C@n[0] -> X C@n[1])"), &[]),
        (COUNTER, ltl("[] (C@n[3] -> X C@n[2])"), &[]),
        (SWITCH, ltl("Lamp@off && X Lamp@on"), &[]),
        (COUNTER, inv("C@n[0] || C@n[1] || C@n[2] || C@n[3]"), &[]),
    ];
    assert_eq!(sound.len(), 30);
    let mut wrong = Vec::new();
    for (model, question, fair) in sound {
        let told = why(model, &question, fair);
        if !told.is_empty() {
            wrong.push(format!("{question} {fair:?}: {told:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A net: places with their tokens, and transitions with what they take and give.
fn net(places: &[(&str, u32)], transitions: &[(&str, &[&str], &[&str])]) -> String {
    let mut all = String::new();
    for (place, tokens) in places {
        all +=
            &format!("<place id=\"{place}\"><initialMarking><text>{tokens}</text></initialMarking></place>");
    }
    for (transition, takes, gives) in transitions {
        all += &format!("<transition id=\"{transition}\"/>");
        let arcs = takes.iter().map(|place| (*place, *transition));
        for (from, to) in arcs.chain(gives.iter().map(|place| (*transition, *place))) {
            all += &format!("<arc id=\"{from}-{to}\" source=\"{from}\" target=\"{to}\"/>");
        }
    }
    format!(
        "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\" \
         type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"p\">{all}</page></net></pnml>"
    )
}

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

#[test]
fn what_never_happens_is_told() {
    let mut session = Session::of_text("process", LAMP).expect("a good model");
    let clock = stubborn::Clock::start(&stubborn::Limits::default());
    let report = session.coverage(&Options::default(), &clock).expect("a small model");
    let text = report.to_string();
    assert!(report.complete && text.contains("never executed:\n  mend\n"), "{text}");
    assert!(text.contains("Lamp: never broken"), "{text}");
    let pml = "byte x;\nactive proctype P() {\n  do\n  :: x < 2 -> x++\n  :: x > 5 ->\n     x = 0\n  :: else -> break\n  od\n}\n";
    let mut session = Session::of_text("promela", pml).expect("a good model");
    let report = session.coverage(&Options::default(), &clock).expect("a small model");
    let annotated = report.annotated(pml);
    assert!(annotated.lines().any(|line| line.starts_with("#####     6:")), "{annotated}\n{report}");
    assert!(!annotated.lines().any(|line| line.starts_with("#####     4:")), "{annotated}");
    assert!(report.to_html(Some(pml)).contains("<mark>    6  "), "the page marks it, too");
}

/// What is said of a declared property of a model, which holds.
fn declared(language: &str, model: &str, name: &str, fair: &[&str]) -> Vec<Because> {
    let mut session = Session::of_text(language, model).expect("a good model");
    let fair = fair.iter().map(|text| text.parse().expect("good fairness")).collect();
    let options = Options { why: true, fair, ..Options::default() };
    let report = session.check(&[Question::property(name)], &options).expect("a good question");
    assert_eq!(report.results[0].verdict, Verdict::Holds, "{name} of {model}: {report}");
    report.results[0].why.clone().expect("it was asked")
}

/// The lamp that never breaks, the pair, and testers of both.
const TESTERS: &str = "
    process Lamp { off: press -> on; on: press -> off; broken: mend -> off; }
    tester Twice { watch ask, answer; t0: ask -> t1; t1: answer -> t0 | ask -> t2; t2: ask -> bad; bad: ; reject bad; }
    tester Mends { watch mend; m0: mend -> m1; m1: mend -> bad; bad: ; reject bad; }
    tester Waits { watch ask, answer; calm: ask -> waiting; waiting: answer -> calm; livelock waiting; }";

#[test]
fn what_was_planted_in_testers_is_told() {
    let model = format!("{PAIR} {TESTERS}");
    let twice = declared("process", &model, "Twice", &[]);
    assert_eq!(twice, [there("t2"), removable("Lamp")], "what the lamp never does is no matter");
    let mends = declared("process", &model, "Mends", &[]);
    for expected in [happens("mend"), there("m1"), taken("Lamp", "broken"), removable("Client")] {
        assert!(mends.contains(&expected), "{mends:?} lacks {expected:?}");
    }
    let waits = declared("process", &model, "Waits", &["weak"]);
    let to = |who: &str| Because::UnneededFairnessTo { to: who.to_owned() };
    assert!(waits.contains(&to("Lamp")), "{waits:?}");
    let fair = declared(
        "process",
        &model.replace(
            "process Lamp { off: press -> on; on: press -> off;",
            "process Lamp { off: press -> on; on: ;",
        ),
        "Waits",
        &["weak"],
    );
    assert!(fair.contains(&Because::FairnessUnneeded), "{fair:?}");
}

#[test]
fn sound_testers_are_left_alone() {
    let alternates = "tester Alternates { watch ask, answer; s0: ask -> s1 | answer -> bad; s1: answer -> s0 | ask -> bad; bad: ; reject bad; }";
    let waits = "tester Waits { watch ask, answer; calm: ask -> waiting; waiting: answer -> calm; deadlock waiting; livelock waiting; }";
    let turns = "tester Turns { watch take[0], take[1], give[0], give[1];
        free: take[0] -> zero | take[1] -> one; zero: give[0] -> free | take[1] -> bad;
        one: give[1] -> free | take[0] -> bad; bad: ; reject bad; }";
    for (model, tester, name) in
        [(PAIR, alternates, "Alternates"), (PAIR, waits, "Waits"), (SEMAPHORE, turns, "Turns")]
    {
        assert_eq!(declared("process", &format!("{model} {tester}"), name, &[]), [], "{name}");
    }
}

#[test]
fn what_was_planted_in_code_is_told() {
    let lamp = why(LAMP, &Question::ltl("[] <> Lamp@on"), &[]);
    assert_eq!(lamp, [happens("mend"), taken("Lamp", "broken")]);
    let states = why(LAMP, &Question::DeadlockFree, &[]);
    assert_eq!(states, [happens("mend"), taken("Lamp", "broken")]);
    let beside = format!("{LAMP} process Other {{ a: go -> b; b: go -> a; }}");
    let other = why(&beside, &Question::invariant("Other@a || Other@b"), &[]);
    assert_eq!(other, [removable("Lamp")], "what another process never does is no matter");
    let pml = "byte x; byte y;
        active proctype P() { do :: x < 2 -> x++ :: x > 5 -> x = 0 :: x == 2 -> x = 1 od }
        active proctype Q() { do :: y == 0 -> y = 1 :: y == 1 -> y = 0 :: y > 7 -> y = 0 od }
        ltl low { [] (x < 3) }";
    let low = declared("promela", pml, "low", &[]);
    let told = |line: &str| {
        let is_it =
            |because: &&Because| matches!(because, Because::NeverHappens { what } if what.contains(line));
        low.iter().filter(is_it).count()
    };
    assert!(told("line 2") == 2 && told("line 3") == 0, "{low:?}");
    let pardoned = pml.replace(":: x > 5 -> x = 0", "");
    let sound = declared("promela", &pardoned, "low", &[]);
    assert!(sound.iter().all(|because| matches!(because, Because::Removable { .. })), "{sound:?}");
}

#[test]
fn what_was_planted_in_claims_is_told() {
    let path = std::env::temp_dir().join(format!("stubborn-why-{}.hoa", std::process::id()));
    let claim = |model: &str, proposition: &str, body: &str, fair: &[&str]| {
        let head = format!(
            "HOA: v1\nStates: 2\nStart: 0\nAP: 1 \"{proposition}\"\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n"
        );
        std::fs::write(&path, format!("{head}--BODY--\nState: 0\n[t] 0\n{body}--END--\n")).expect("a file");
        why(model, &Question::ClaimFile(path.clone()), fair)
    };
    let stays = "[!0] 1\nState: 1 {0}\n[!0] 1\n";
    let apart = claim(APART, "P@a", stays, &["weak"]);
    let to = Because::UnneededFairnessTo { to: "Q".to_owned() };
    assert!(apart.contains(&to) && apart.contains(&removable("Q")), "{apart:?}");
    assert_eq!(claim(SWITCH, "Lamp@on", stays, &["weak"]), [Because::FairnessUnneeded]);
    assert_eq!(claim(SWITCH, "Lamp@on", stays, &[]), []);
    let again = "[0] 1\nState: 1 {0}\n[0] 1\n";
    let broken = claim(LAMP, "Lamp@broken", again, &[]);
    assert!(broken.contains(&constant("Lamp@broken", false)), "{broken:?}");
    _ = std::fs::remove_file(&path);
}

#[test]
fn moves_of_processes_that_never_happen_are_marked() {
    let text = "process Lamp {\n  off: press -> on;\n  on: press -> off\n    | burst -> broken when false;\n  broken: mend -> off\n    | press -> broken;\n}\nprocess Hand { idle: press -> idle; }\n";
    let text = text
        .replace(" when false", "")
        .replace("process Hand", "process Wall { alphabet burst; up: ; }\nprocess Hand");
    let mut session = Session::of_text("process", &text).expect("a good model");
    let clock = stubborn::Clock::start(&stubborn::Limits::default());
    let report = session.coverage(&Options::default(), &clock).expect("a small model");
    let annotated = report.annotated(&text);
    let marked: Vec<usize> = annotated
        .lines()
        .enumerate()
        .filter(|(_, line)| line.starts_with("#####"))
        .map(|(at, _)| at + 1)
        .collect();
    assert_eq!(marked, [4, 5, 6], "{annotated}{report}");
    let shown = report.to_string();
    assert!(shown.contains("Lamp, line 4: burst -> broken (reached, but never possible)"), "{shown}");
    assert!(shown.contains("Lamp, line 6: press -> broken\n"), "the label happens, but not there: {shown}");
}

/// A net with a place that nobody marks, and a part that is apart.
const NET: &str = r#"<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="net" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page">
<place id="a"><initialMarking><text>1</text></initialMarking></place><place id="b"/><place id="never"/>
<place id="x"><initialMarking><text>1</text></initialMarking></place><place id="y"/>
<transition id="ab"/><transition id="ba"/><transition id="dead"/><transition id="xy"/><transition id="yx"/>
<arc id="1" source="a" target="ab"/><arc id="2" source="ab" target="b"/>
<arc id="3" source="b" target="ba"/><arc id="4" source="ba" target="a"/>
<arc id="5" source="never" target="dead"/><arc id="6" source="dead" target="b"/>
<arc id="7" source="x" target="xy"/><arc id="8" source="xy" target="y"/>
<arc id="9" source="y" target="yx"/><arc id="10" source="yx" target="x"/>
</page></net></pnml>"#;

/// A traffic light that is never blue, and a walker.
const LIGHT: &str = "mtype = { red, green, blue }; mtype light = red; bool walk;
active proctype Light() { do :: atomic { light == red && !walk -> light = green } :: light == green -> light = red
  :: light == blue -> light = red od }
active proctype Walker() { do :: atomic { light == red -> walk = true }; walk = false od }";

/// A sender and a receiver.
const CHANNEL: &str = "chan c = [1] of { byte }; byte got;
active proctype S() { do :: c ! 1 od }
active proctype R() { byte v; do :: c ? v -> got = v od }";

/// A door that is locked by a guard, and a bell.
const DOOR: &str =
    "process Door { open: close -> shut; shut: open_it -> open | lock -> locked; locked: unlock -> shut; }
    process Guard { idle: lock -> on; on: unlock -> idle; }";
const BELL: &str = "process Bell { quiet: ring -> loud; loud: hush -> quiet; }";

/// A lock that the second process never gets.
const LOCK: &str = "bool in0, in1; byte lock = 1;
active proctype A() { do :: atomic { lock == 1 -> lock = 0 }; in0 = true; in0 = false; lock = 1 od }
active proctype B() { do :: atomic { lock == 2 -> lock = 0 }; in1 = true; in1 = false; lock = 2 od }";

/// Someone who tries again, and never gives up.
const RETRY: &str = "byte tries; bool up, gave_up;
active proctype L() { do :: tries < 3 && !up -> tries++; if :: up = true :: skip fi; tries = 0; up = false
  :: tries >= 3 -> gave_up = true; tries = 0 od }";

/// Peterson's algorithm.
const PETERSON: &str = "bool want0, want1, turn; byte inside;
active proctype A() { do :: want0 = true; turn = true; (!want1 || !turn); inside++; inside--; want0 = false od }
active proctype B() { do :: want1 = true; turn = false; (!want0 || turn); inside++; inside--; want1 = false od }";

/// A handshake of four phases.
const HANDSHAKE: &str = "bool req, ack; bit data, seen;
active proctype M() { do :: data = 1 - data; req = 1; ack == 1; req = 0; ack == 0 od }
active proctype S() { do :: req == 1; seen = data; ack = 1; req == 0; ack = 0 od }";

/// What is said of a formula, which holds.
fn asked(language: &str, model: &str, formula: &str, fair: &[&str]) -> Vec<Because> {
    let mut session = Session::of_text(language, model).expect("a good model");
    let fair = fair.iter().map(|text| text.parse().expect("good fairness")).collect();
    let options = Options { why: true, fair, ..Options::default() };
    let report = session.check(&[Question::ltl(formula)], &options).expect("a good question");
    assert_eq!(report.results[0].verdict, Verdict::Holds, "{formula} of {model}: {report}");
    report.results[0].why.clone().expect("it was asked")
}

#[test]
fn what_was_planted_in_all_languages_is_told() {
    let door = format!("{DOOR} {BELL}");
    let apart = format!("{CHANNEL} active proctype Noise() {{ bool n; do :: n = !n od }}");
    let atomic = "bool a, b; active proctype A() { do :: atomic { a = true; a = false } od }
        active proctype B() { b = true }";
    let to = |who: &str| Because::UnneededFairnessTo { to: who.to_owned() };
    let planted: Vec<(&str, &str, &str, &[&str], Because)> = vec![
        (
            "promela",
            LIGHT,
            "[] (light == red || light == green || light == blue)",
            &[],
            taken("light", "blue"),
        ),
        ("promela", LIGHT, "[] (light == blue -> <> (light == red))", &[], never("light == blue")),
        // A condition may be one proposition, whatever is inside.
        ("promela", atomic, "[] (a -> !b)", &[], constant("a", false)),
        ("promela", atomic, "[] !(a && b)", &[], constant("a", false)),
        ("promela", &apart, "[] (got < 2)", &[], removable("Noise(2)")),
        ("promela", CHANNEL, "[] <> (got == 1) || got == 0", &["weak"], Because::FairnessUnneeded),
        ("promela", LOCK, "[] !(in0 && in1)", &[], constant("in1", false)),
        ("promela", RETRY, "[] (gave_up -> [] !up)", &[], never("gave_up")),
        ("promela", HANDSHAKE, "[] (req -> <> ack)", &[], no_matter("req")),
        ("petri", NET, "[] (never == 1 -> <> (a == 1))", &[], never("never == 1")),
        ("petri", NET, "[] (a + b == 1)", &[], happens("dead")),
        ("petri", NET, "[] <> (a == 1)", &["weak"], to("xy")),
        ("process", &door, "[] (Door@locked -> Guard@on)", &[], removable("Bell")),
    ];
    let mut missed = Vec::new();
    for (language, model, formula, fair, expected) in planted {
        let told = asked(language, model, formula, fair);
        if !told.contains(&expected) {
            missed.push(format!("{formula} {fair:?}: {told:?} lacks {expected:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn sound_properties_of_all_languages_are_left_alone() {
    let light = LIGHT.replace(", blue }", " }").replace(":: light == blue -> light = red ", "");
    let net = NET.replace("<place id=\"never\"/>", "").replace("<transition id=\"dead\"/>", "").replace(
        "<arc id=\"5\" source=\"never\" target=\"dead\"/><arc id=\"6\" source=\"dead\" target=\"b\"/>",
        "",
    );
    let sound: Vec<(&str, &str, &str, &[&str])> = vec![
        ("promela", &light, "[] (walk -> light == red)", &[]),
        ("promela", &light, "[] !(walk && light == green)", &[]),
        ("promela", CHANNEL, "[] (got < 2)", &[]),
        ("promela", CHANNEL, "got == 0", &[]),
        ("promela", PETERSON, "[] (inside <= 1)", &[]),
        ("promela", HANDSHAKE, "[] (ack -> seen == data)", &[]),
        ("petri", &net, "[] (a + b + x + y == 2)", &[]),
        ("petri", &net, "[] <> (a == 1) && [] <> (x == 1)", &["weak:ba,yx"]),
        ("petri", &net, "[] (a <= 1 && x <= 1)", &[]),
        ("process", DOOR, "[] (Door@locked -> Guard@on)", &[]),
        ("process", DOOR, "[] (Guard@on -> X Guard@idle)", &[]),
        ("process", DOOR, "Door@open", &[]),
    ];
    let mut wrong = Vec::new();
    for (language, model, formula, fair) in sound {
        let told = asked(language, model, formula, fair);
        if !told.is_empty() {
            wrong.push(format!("{formula} {fair:?}: {told:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
