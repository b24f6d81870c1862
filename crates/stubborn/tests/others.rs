//! Several runs for one property: as many as there are, different as promised, and each a violation.

use std::collections::BTreeSet;

use stubborn::language::Purpose;
use stubborn::model::{ActionId, reference};
use stubborn::{Clock, Limits, Options, PropertyResult, Question, ReductionWish, Session};

/// Networks of random processes, which share some actions.
fn random_network(random: &mut fastrand::Rng) -> String {
    let mut text = String::new();
    for process in 0..random.usize(2..4) {
        let n_states = random.usize(2..5);
        text += &format!("process P{process} {{\n");
        for state in 0..n_states {
            let moves: Vec<String> = (0..random.usize(0..4))
                .map(|number| {
                    // Two actions are shared, the others are private.
                    let shared = format!("a{}", random.usize(0..2));
                    let action = if random.bool() { shared } else { format!("p{process}_{state}_{number}") };
                    format!("{action} -> s{}", random.usize(0..n_states))
                })
                .collect();
            text += &format!("  s{state}: {};\n", moves.join(" | "));
        }
        text += "}\n";
    }
    text + "invariant apart = !(P0@s1 && P1@s1);\nltl calm = <> [] !P0@s1;\nltl never = [] !P1@s1;\n"
}

fn ask(text: &str, question: &Question, options: &Options) -> Vec<PropertyResult> {
    let mut session = Session::of_text("process", text).expect("the network can be read");
    session.check(std::slice::from_ref(question), options).expect("it can be asked").results
}

/// The last states of runs, or those in which their cycles begin.
fn ends(results: &[PropertyResult]) -> Vec<Vec<i64>> {
    let end = |result: &PropertyResult| {
        let run = result.counterexample.as_ref()?;
        Some(run.trace.state(run.cycle_start.unwrap_or(run.trace.len())))
    };
    results.iter().filter(|result| result.is_violated()).filter_map(end).collect()
}

/// All reachable states, by brute force.
fn states(session: &Session) -> BTreeSet<Vec<i64>> {
    let clock = Clock::start(&Limits::default());
    let system = session.view(Purpose::Runs, &clock).expect("there is a view").system;
    let mut work: Vec<Vec<i64>> = reference::initial(&system);
    let mut known: BTreeSet<Vec<i64>> = work.iter().cloned().collect();
    while let Some(state) = work.pop() {
        for action in (0..system.actions().len()).map(ActionId::new) {
            if reference::is_enabled(&system, system.action(action), &state).unwrap_or(false) {
                let after = reference::act(&system, action, &state).expect("nothing goes wrong");
                if known.insert(after.clone()) {
                    work.push(after);
                }
            }
        }
    }
    known
}

/// All deadlocks and all states that violate an invariant are found, each once, with and without reduction.
#[test]
fn all_bad_states_are_found_once() {
    let mut random = fastrand::Rng::with_seed(22);
    let (mut n_deadlocks, mut n_bad) = (0, 0);
    for _ in 0..150 {
        let text = random_network(&mut random);
        let session = Session::of_text("process", &text).expect("the network can be read");
        let clock = Clock::start(&Limits::default());
        let system = session.view(Purpose::Runs, &clock).expect("there is a view").system;
        let is_stuck = |state: &Vec<i64>| {
            let mut actions = system.actions().iter();
            !actions.any(|action| reference::is_enabled(&system, action, state).unwrap_or(false))
        };
        let names = |state: &[i64]| -> Vec<String> {
            system.variables().iter().zip(state).map(|(variable, &value)| variable.show(value)).collect()
        };
        let all = states(&session);
        let deadlocks: BTreeSet<Vec<i64>> = all.iter().filter(|state| is_stuck(state)).cloned().collect();
        let is_bad = |state: &&Vec<i64>| names(state)[..2] == ["s1", "s1"];
        let bad: BTreeSet<Vec<i64>> = all.iter().filter(is_bad).cloned().collect();
        for reduce in [ReductionWish::Auto, ReductionWish::None, ReductionWish::Best] {
            let options = Options { errors: usize::MAX, reduce, ..Options::default() };
            for (question, wanted) in
                [(Question::DeadlockFree, &deadlocks), (Question::property("apart"), &bad)]
            {
                let found = ends(&ask(&text, &question, &options));
                let set: BTreeSet<Vec<i64>> = found.iter().cloned().collect();
                assert_eq!((found.len(), &set), (wanted.len(), wanted), "{question} {reduce:?}\n{text}");
            }
        }
        n_deadlocks += deadlocks.len();
        n_bad += bad.len();
    }
    assert!(n_deadlocks > 30 && n_bad > 30, "the networks are worth it: {n_deadlocks}, {n_bad}");
}

/// Runs that violate formulas are different in the sense that is promised, and there are several.
#[test]
fn runs_of_formulas_keep_away_from_earlier_ones() {
    let mut random = fastrand::Rng::with_seed(23);
    let mut n_others = 0;
    for _ in 0..40 {
        let text = random_network(&mut random);
        for name in ["calm", "never"] {
            let options = Options { errors: 4, ..Options::default() };
            let results = ask(&text, &Question::property(name), &options);
            assert!(results.iter().all(|result| result.property == name));
            let first = ask(&text, &Question::property(name), &Options::default());
            assert_eq!(first[0].verdict, results[0].verdict);
            assert!(results.len() <= 4);
            let runs: Vec<_> = results.iter().filter_map(|result| result.counterexample.as_ref()).collect();
            for (number, run) in runs.iter().enumerate() {
                for earlier in &runs[..number] {
                    let start = earlier.cycle_start.unwrap_or(earlier.trace.len());
                    let known = earlier.trace.state(start);
                    let avoided = match earlier.cycle_start {
                        // Only what repeats must stay away.
                        Some(_) => run.cycle_start.unwrap_or(run.trace.len()),
                        None => 0,
                    };
                    let passes = (avoided..=run.trace.len()).any(|step| run.trace.state(step) == known);
                    let is_infinite = run.cycle_start.is_some() || earlier.cycle_start.is_none();
                    assert!(!(passes && is_infinite), "{name}, run {number}\n{text}");
                }
                n_others += usize::from(number > 0);
            }
        }
    }
    assert!(n_others > 20, "there are others: {n_others}");
}

/// One is asked for by default, and what holds has no run however many are asked for.
#[test]
fn what_holds_has_no_other_runs() {
    let text = "process P { a: go -> b; b: go -> a; } process Q { a: go -> b; b: go -> a; }\
                invariant together = P@a <-> Q@a; ltl again = [] <> P@a;";
    let options = Options { errors: 3, ..Options::default() };
    let mut session = Session::of_text("process", text).expect("it can be read");
    let report =
        session.check(&[Question::Declared, Question::DeadlockFree], &options).expect("it can be asked");
    assert_eq!(report.results.len(), 3);
    assert_eq!(report.exit_code(), 0);
    assert!(report.results[0].place.as_ref().is_some_and(|place| place.start.0 == 1), "places are known");
}
