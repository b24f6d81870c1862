//! [`Session::watch`]: what it finds is what a check finds, also where the closure is not the claim, and where
//! the model grows while it is searched.

use stubborn::check::method::{ObserverKind, ReductionWish, SearchKind};
use stubborn::{Clock, Limits, Options, Question, Session, Verdict};

const LAMP: &str = "process Lamp { off: press -> on; on: press -> off | flicker -> on; }";

const METHODS: [(ObserverKind, SearchKind); 4] = [
    (ObserverKind::Tgba, SearchKind::Scc),
    (ObserverKind::Ba, SearchKind::Nested),
    (ObserverKind::Ta, SearchKind::TwoPass),
    (ObserverKind::Tgta, SearchKind::Scc),
];

fn by((observer, search): (ObserverKind, SearchKind)) -> Options {
    Options { observer: Some(observer), search: Some(search), ..Options::default() }
}

#[test]
fn one_automaton_is_searched_by_all_methods() {
    let clock = Clock::start(&Limits::default());
    for (formula, is_violated) in [("[] <> Lamp@off", true), ("[] (Lamp@off || Lamp@on)", false)] {
        let mut session = Session::of_text("process", LAMP).unwrap();
        let question = Question::ltl(formula);
        let mut watching = session.watch(&question, &clock).unwrap();
        for method in METHODS {
            let decision = watching.search(&by(method), &clock).unwrap();
            let run = decision.outcome.evidence();
            assert_eq!(run.is_some(), is_violated, "{formula} by {method:?}");
            assert!(run.is_none_or(|run| watching.is_violated_by(run, &by(method), &clock).unwrap()));
        }
    }
    let mut session = Session::of_text("process", LAMP).unwrap();
    let refused = session.watch(&Question::DeadlockFree, &clock).err().unwrap();
    assert!(refused.to_string().contains("no question about runs"), "{refused}");
    // A method that does not fit is refused as `check` refuses it.
    let question = Question::ltl("[] X Lamp@on");
    let refused = session.watch(&question, &clock).unwrap().search(&by(METHODS[2]), &clock).err().unwrap();
    assert!(refused.refusal().is_some(), "{refused}");
}

#[test]
fn a_run_of_the_closure_may_violate_nothing() {
    let clock = Clock::start(&Limits::default());
    let options = Options { reduce: ReductionWish::Best, ..Options::default() };
    for (formula, is_violated) in
        [("[] (Lamp@off -> X Lamp@on)", false), ("[] (Lamp@on -> X Lamp@off)", true)]
    {
        let mut session = Session::of_text("process", LAMP).unwrap();
        let question = Question::ltl(formula);
        let mut watching = session.watch(&question, &clock).unwrap();
        let found = watching.search(&Options::default(), &clock).unwrap();
        assert_eq!(found.outcome.evidence().is_some(), is_violated, "{formula}");
        watching.close(&clock).unwrap();
        let found = watching.search(&options, &clock).unwrap();
        let run = found.outcome.evidence().expect("the closure allows to wait");
        assert_eq!(watching.is_violated_by(run, &options, &clock).unwrap(), is_violated, "{formula}");
    }
}

#[test]
fn models_grow_while_they_are_searched() {
    let clock = Clock::start(&Limits::default());
    // Nothing looks at `_last` but the question; and the place gets more tokens than anybody foresees.
    let promela = "byte x; active proctype P() { x = 1; x = 2 } active proctype Q() { x = 3 }";
    let net = "<pnml xmlns='http://www.pnml.org/version-2009/grammar/pnml'><net id='n'
        type='http://www.pnml.org/version-2009/grammar/ptnet'><page id='g'><place id='p'/>
        <transition id='t'/><arc id='a' source='t' target='p'/></page></net></pnml>";
    for (language, text, formula, verdict) in [
        ("promela", promela, "[] (_last < 2)", Verdict::Holds),
        ("promela", promela, "[] (_last < 1)", Verdict::Violated),
        ("promela", promela, "X X X (_last < 2)", Verdict::Holds),
        ("promela", promela, "X X (_last < 1)", Verdict::Violated),
        ("promela", promela, "(_last == 0) || X (x == 1)", Verdict::Holds),
        ("petri", net, "<> p == 7000", Verdict::Holds),
        ("petri", net, "[] p <= 7000", Verdict::Violated),
    ] {
        let question = Question::ltl(formula);
        let plain = Options { reduce: ReductionWish::None, ..Options::default() };
        let checked =
            Session::of_text(language, text).unwrap().check(std::slice::from_ref(&question), &plain);
        assert_eq!(checked.unwrap().results[0].verdict, verdict, "{formula}");
        for closes in [false, true] {
            let mut session = Session::of_text(language, text).unwrap();
            let mut watching = session.watch(&question, &clock).unwrap();
            if closes {
                watching.close(&clock).unwrap();
            }
            let (n_states, is_closed) =
                (watching.claim().tgba().n_states(), watching.claim().proof().is_some());
            let found = watching.search(&plain, &clock).unwrap();
            let run = found.outcome.evidence();
            assert!(found.outcome.stop.is_none() || run.is_some(), "{formula}, {closes}");
            assert!(run.is_some() || verdict == Verdict::Holds, "{formula}, {closes}");
            let is_violated = run.is_some_and(|run| watching.is_violated_by(run, &plain, &clock).unwrap());
            // A run of the closure need not violate the formula.
            assert!(is_violated == (verdict == Verdict::Violated) || closes && !is_violated, "{formula}");
            let after = (watching.claim().tgba().n_states(), watching.claim().proof().is_some());
            assert_eq!(after, (n_states, is_closed), "{formula}, {closes}: it is the same automaton");
        }
    }
}
