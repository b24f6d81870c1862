//! What properties rest on: planted suspicions are told, and sound properties are left alone.
//!
//! Here are formulas about few small models. `planted` and `sound` have a model for each suspicion, and for none; `languages` several
//! questions about models in each language; `parts` testers, claims and code; `coverage` what never happens in a model alone.

mod coverage;
mod languages;
mod parts;
mod planted;
mod sound;

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
