//! What can be asked in code, and what is refused.

use std::time::Duration;

use stubborn::automata::tester::{Edge, State, Tester};
use stubborn::{
    Clock, Limits, ObserverKind, Options, Question, ReductionWish, Rules, SearchKind, Session, Verdict,
};

const LAMP: &str = "process Lamp { off: press -> on; on: press -> off | flicker -> on; }";

fn session() -> Session {
    Session::of_text("process", LAMP).unwrap()
}

/// A tester that objects to flickering, or what a mistake makes of it.
fn tester(spoil: impl FnOnce(&mut Tester)) -> Question {
    let state = |name: &str, reject| State { name: name.to_owned(), reject, ..State::default() };
    let mut tester = Tester {
        letters: vec!["flicker".to_owned()],
        states: vec![state("calm", false), state("bad", true)],
        initial: 0,
        edges: vec![Edge { from: 0, letter: Some(0), to: 1 }],
    };
    spoil(&mut tester);
    Question::Tester { name: "calm".to_owned(), tester }
}

#[test]
fn testers_that_make_no_sense_are_errors() {
    type Spoil = fn(&mut Tester);
    let ask = |question: Question| session().check(&[question], &Options::default());
    assert_eq!(ask(tester(|_| {})).unwrap().results[0].verdict, Verdict::Violated);
    let spoils: [(Spoil, &str); 7] = [
        (|tester| tester.letters.clear(), "does not have"),
        (|tester| tester.letters[0] = "flicks".to_owned(), "no action `flicks`"),
        (|tester| tester.edges[0].to = 17, "does not have"),
        (|tester| tester.edges[0].from = 9, "does not have"),
        (|tester| tester.initial = 5, "no initial state"),
        (|tester| tester.states.clear(), "no initial state"),
        (|tester| tester.edges[0] = Edge { from: 0, letter: None, to: 0 }, "round by tau"),
    ];
    for (spoil, told) in spoils {
        let error = ask(tester(spoil)).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn a_refusal_says_what_would_fit() {
    let options = Options {
        observer: Some(ObserverKind::Ta),
        search: Some(SearchKind::Scc),
        reduce: ReductionWish::None,
        ..Options::default()
    };
    let error = session().check(&[Question::ltl("[] <> Lamp@off")], &options).unwrap_err();
    assert!(error.refusal().is_some() && error.limit().is_none());
    let text = error.to_string();
    assert!(text.contains("what would fit: search two-pass, or observer tgta"), "{text}");
    assert_eq!(format!("{error:?}"), text, "nobody wants to see the model");
    assert_eq!(error.to_json()["errors"][0]["code"], "method");
}

#[test]
fn the_limits_of_the_options_count_beside_the_clock() {
    let text = "process P[i in 0..12] { s: a[i] -> t; t: b[i] -> s; }";
    let mut session = Session::of_text("process", text).unwrap();
    let clock = Clock::start(&Limits::default());
    for limits in [Limits::default().states(10), Limits::default().time(Duration::ZERO)] {
        let options = Options { limits, statics: Some(Rules::none()), ..Options::default() };
        let report = session.check_within(&[Question::DeadlockFree], &options, &clock).unwrap();
        assert_eq!((report.results[0].verdict, report.exit_code()), (Verdict::Unknown, 3));
        assert!(!session.explore(None, &options, false, &clock).unwrap().report.complete);
    }
    assert!(session.explore(None, &Options::default(), false, &clock).unwrap().report.complete);
    assert!(session.explore(Some(&Question::DeadlockFree), &Options::default(), false, &clock).is_err());
}

#[test]
fn reasons_are_given_to_who_asks_for_them() {
    let ask = |explain_choice| {
        let options = Options { explain_choice, ..Options::default() };
        session().check(&[Question::ltl("[] <> Lamp@off")], &options).unwrap().results.remove(0)
    };
    assert!(ask(false).choice.is_empty() && ask(false).chosen.is_some());
    assert!(ask(true).choice.len() == 4 && ask(true).chosen.is_none());
}

/// A ring of counters, each of which gives two and makes one of it. What is wrong is far away.
const RING: &str = "byte c[4];
    active [4] proctype P() {
      do
      :: c[_pid] < 6 -> c[_pid]++
      :: c[_pid] > 1 && c[(_pid + 1) % 4] < 14 -> d_step { c[_pid] = c[_pid] - 2; c[(_pid + 1) % 4]++ }
      :: c[_pid] > c[(_pid + 1) % 4] -> c[_pid]--
      od
    }";

#[test]
fn what_is_always_true_is_refuted_by_a_short_run() {
    let mut session = Session::of_text("promela", RING).unwrap();
    let report = session.check(&[Question::ltl("[] (c[0] <= 9)")], &Options::default()).unwrap();
    let result = &report.results[0];
    assert_eq!(result.verdict, Verdict::Violated);
    let n_steps = result.counterexample.as_ref().unwrap().trace.run().actions.len();
    assert!(n_steps <= 50, "{n_steps} steps");
}
