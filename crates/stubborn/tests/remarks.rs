//! What is said besides the verdict, as a program sees it.

use std::path::Path;

use stubborn::base::Limit;
use stubborn::report::remark::{Vacuity, Work};
use stubborn::{
    CheckReport, Limits, Options, Order, Question, ReductionWish, Remark, Rules, Session, StoreKind, Verdict,
    unexplored, unread,
};

/// Twelve processes that do as they like: 4 096 states, of which a reduced search sees few.
const PAIRS: &str = "process P[i in 0..12] { s: a[i] -> t; t: b[i] -> s; }";

/// No rule gives them fewer states.
fn as_written() -> Options {
    Options { statics: Some(Rules::none()), ..Options::default() }
}

fn check(text: &str, question: Question, options: &Options) -> CheckReport {
    Session::of_text("process", text).unwrap().check(&[question], options).unwrap()
}

fn remarks(text: &str, question: Question, options: &Options) -> Vec<Remark> {
    check(text, question, options).results.remove(0).remarks
}

#[test]
fn programs_can_tell_remarks_apart() {
    let options = Options::default();
    let constant = remarks(PAIRS, Question::invariant("1 > 0"), &options);
    assert_eq!(constant, [Remark::Vacuous(Vacuity::Constant)]);
    let implied = remarks(PAIRS, Question::ltl("[] (false -> P[0]@s)"), &options);
    assert!(matches!(&implied[..], [Remark::Vacuous(_)]), "{implied:?}");
    let few = Options { limits: Limits::default().states(100), ..as_written() };
    for question in [Question::DeadlockFree, Question::ltl("[] (P[0]@s || P[0]@t)")] {
        let reduce = ReductionWish::None;
        let remarks = remarks(PAIRS, question, &Options { reduce, ..few.clone() });
        assert_eq!(remarks, [Remark::Limit(Limit::States(100), Work::Search)]);
    }
}

#[test]
fn a_limit_of_memory_is_told_as_it_was_given() {
    // The model takes some of it, and each store gets what is left.
    const BYTES: u64 = 60_000;
    let options = Options { limits: Limits::default().memory(BYTES), ..as_written() };
    let ltl = || Question::ltl("[] (P[0]@s || P[0]@t)");
    for (question, order, reduce) in [
        (Question::DeadlockFree, Order::Bfs, ReductionWish::None),
        (Question::DeadlockFree, Order::Dfs, ReductionWish::None),
        (ltl(), Order::Bfs, ReductionWish::None),
    ] {
        let options = Options { order: Some(order), reduce, ..options.clone() };
        let report = check(PAIRS, question, &options);
        let result = &report.results[0];
        assert!(result.stats.states > 0, "the search began: {report}");
        assert_eq!(result.remarks, [Remark::Limit(Limit::Memory(BYTES), Work::Search)]);
        assert!(report.to_string().contains("(memory limit of 60 kB reached)"), "{report}");
    }
}

#[test]
fn searches_that_end_early_cannot_be_compared() {
    let verify = |question: &Question, states, store| {
        let options = Options {
            verify_reduction: true,
            reduce: ReductionWish::Best,
            store,
            limits: Limits::default().states(states),
            ..as_written()
        };
        let report = check(PAIRS, question.clone(), &options);
        let agrees = report.results[0].reduction_check.expect("it was asked for").agrees;
        (report.results[0].verdict, agrees, report.to_string())
    };
    let bits = StoreKind::Bitstate { bytes: 1 << 20, n_hashes: 3 };
    for question in [Question::DeadlockFree, Question::ltl("[] (P[0]@s || P[0]@t)")] {
        let (verdict, agrees, text) = verify(&question, 100_000, StoreKind::Exact);
        assert_eq!((verdict, agrees), (Verdict::Holds, Some(true)), "{text}");
        // Only the reduced search comes to its end; neither does.
        for (states, expected) in [(1_000, Verdict::Holds), (1, Verdict::Unknown)] {
            let (verdict, agrees, text) = verify(&question, states, StoreKind::Exact);
            assert_eq!((verdict, agrees), (expected, None), "{text}");
            assert!(text.contains("cannot be compared") && !text.contains("ANOTHER"), "{text}");
        }
    }
    let (verdict, agrees, text) = verify(&Question::DeadlockFree, 100_000, bits);
    assert_eq!((verdict, agrees), (Verdict::Unknown, None), "{text}");
}

#[test]
fn the_language_of_a_model_is_known_before_it_is_read() {
    for (file, language) in
        [("x.pnml", "petri"), ("x.pml", "promela"), ("x.proc", "process"), ("x", "unknown")]
    {
        let file = Path::new(file);
        assert_eq!(unread(file, &[Question::Declared], Limit::Time).model.language, language);
        assert_eq!(unexplored(file, Limit::Time).model.language, language);
    }
}

/// Two processes that go wrong in states that are met before, and beside, the one that a search stops at.
const WRONG_BESIDE: &str = "bool wants[2]; byte turn; byte inside;
active [2] proctype P() {
    pid other = 0 - _pid;
    do
    :: wants[_pid] = true; turn = other; !wants[other] || turn == _pid;
critical: inside++; inside--; wants[_pid] = false
    od
}";

#[test]
fn a_model_that_goes_wrong_in_many_states_is_told_by_a_run_to_one() {
    let mut session = Session::of_text("promela", WRONG_BESIDE).unwrap();
    for formula in ["[] (inside <= 1)", "[] (wants[0] -> <> P[0]@critical)", "[] <> (inside == 0)"] {
        for observer in ["auto", "tgba", "ba", "ta", "tgta"] {
            for reduction in ["auto", "none"] {
                let options = Options::default().with_methods(observer, "auto", reduction).unwrap();
                let result = session.check(&[Question::ltl(formula)], &options).unwrap().results.remove(0);
                let told = format!("{formula} {observer} {reduction}: {:?}", result.remarks);
                assert_eq!(result.verdict, Verdict::Unknown, "{told}");
                assert!(result.fault.is_some(), "{told}");
                assert!(result.counterexample.is_some(), "{told}");
            }
        }
    }
}
