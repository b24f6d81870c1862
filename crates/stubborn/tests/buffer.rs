//! The bounded buffer of the examples, asked everything.

#[allow(dead_code)] // Its program is not run here.
#[path = "../examples/bounded_buffer.rs"]
mod bounded_buffer;

use bounded_buffer::{Action, Buffer};
use stubborn::embed::{Because, Ending, Fair, Limit, Verdict};
use stubborn::{
    Check, Reason, assert_always, assert_deadlock_free, assert_eventually, assert_holds, assert_never,
    assert_reachable, assert_violated,
};

const BUFFER: Buffer = Buffer { producers: 3, capacity: 2 };

fn check() -> Check<'static, Buffer> {
    Check::new(&BUFFER)
        .prop("in_bounds", |state| state.queue.len() <= BUFFER.capacity)
        .prop("waits", |state| state.waits[0])
        .prop("full", |state| state.queue.len() == BUFFER.capacity)
        .prop("over", |state| state.queue.len() > BUFFER.capacity)
}

#[test]
fn states_keep_to_their_bounds() {
    assert_eq!(assert_always!(check(), "in_bounds").states, 104);
    assert_never!(check(), "over");
    assert_deadlock_free!(check());
    assert_eq!(check().count().expect("it is small").states, 104);
    assert_eq!(assert_reachable!(check(), "full").steps.len(), 4);
    assert!(check().reachable("over").is_unreachable());
}

#[test]
fn a_producer_gets_its_turn_under_strong_fairness() {
    assert_holds!(check().strongly_fair(), "[] (waits -> <> !waits)");
    let run = assert_violated!(check().weakly_fair(), "[] (waits -> <> !waits)");
    let cycle = run.cycle().expect("it repeats");
    assert!(run.steps[cycle..].iter().all(|step| step.state.waits[0]));
    assert_eq!(run.fairness.len(), 4);
    assert!(matches!(run.fairness[0].because, Because::Disabled(_)), "the queue is full again and again");
    let text = run.to_string();
    assert!(text.starts_with("`[] (waits -> <> !waits)` is violated"), "{text}");
    for expected in
        ["-- from here on", "producer 0: Produce(0)", "waits[0]: false -> true", "waits becomes true"]
    {
        assert!(text.contains(expected), "{expected} is missing in:\n{text}");
    }
    assert!(text.contains("it is weakly fair to producer 0: it cannot go on after step"), "{text}");
}

#[test]
fn fairness_to_one_and_to_actions() {
    let all_but_one = |check: Check<'static, Buffer>| check.fair_to(Fair::Strong, "producer 0");
    assert_holds!(all_but_one(check().weakly_fair()), "[] (waits -> <> !waits)");
    let puts = |action: &Action| *action == Action::Put(0);
    assert_holds!(check().weakly_fair().fair(Fair::Strong, "puts", puts), "[] (waits -> <> !waits)");
    assert_violated!(check().fair(Fair::Weak, "puts", puts), "[] (waits -> <> !waits)");
    let Verdict::Unknown(Reason::Question(text)) = check().fair_to(Fair::Weak, "producer0").ltl("<> full")
    else {
        panic!("there is no such process");
    };
    assert_eq!(text, "there is no process `producer0`: did you mean `producer 0`?");
}

#[test]
fn a_schedule_repeats_a_run() {
    let run = assert_violated!(check().weakly_fair(), "[] (waits -> <> !waits)");
    let again = check().replay(&run.schedule()).expect("it is a schedule");
    assert_eq!(again.schedule(), run.schedule());
    assert_eq!(again.ending, run.ending);
    assert_eq!(again.last(), run.last());
    for wrong in ["", "0", "0:x", "1:", "0:7", "0:0.0.0.9"] {
        assert!(check().replay(wrong).is_err(), "{wrong}");
    }
    let one = check().simulate(7, 20).expect("it goes on");
    assert_eq!(one.schedule(), check().simulate(7, 20).expect("it goes on").schedule());
    assert_eq!((one.steps.len(), one.ending), (20, Ending::Open));
}

#[test]
fn limits_are_answers() {
    let few = check().max_states(20);
    assert!(matches!(few.always("in_bounds"), Verdict::Unknown(Reason::Limit(Limit::States(20)))));
    assert!(few.ltl("[] in_bounds").is_unknown());
    assert!(few.count().is_err());
    let stopped = check().on_progress(|_, _| false);
    assert!(matches!(stopped.always("in_bounds"), Verdict::Unknown(Reason::Limit(Limit::Interrupt))));
    let short = check().timeout(std::time::Duration::ZERO);
    assert!(matches!(short.always("in_bounds"), Verdict::Unknown(Reason::Limit(Limit::Time))));
    assert!(check().max_memory(10).always("in_bounds").is_unknown());
}

#[test]
fn bits_find_violations_but_prove_nothing() {
    let bits = check().bitstate(1 << 16);
    assert!(matches!(bits.always("in_bounds"), Verdict::Unknown(Reason::NotAllSeen(_))));
    assert!(bits.always("full").is_violated());
    assert!(bits.ltl("[] <> !waits").is_violated());
    assert!(bits.weakly_fair().ltl("[] <> !waits").is_unknown(), "fair runs need exact states");
}

#[test]
fn questions_with_mistakes_are_told() {
    let text = |verdict: Verdict<Buffer>| verdict.to_string();
    assert!(text(check().ltl("[] wait")).contains("did you mean `waits`?"));
    assert!(text(check().ltl("[] (waits")).contains("a `(` is never closed"));
    assert!(text(check().always("ful")).contains("did you mean `full`?"));
    assert!(text(check().claim("HOA: v2")).contains("it is not known"));
    assert_always!(check(), "in_bounds && !over");
    assert_eventually!(check().weakly_fair(), "waits");
}

#[test]
fn an_automaton_claims_what_must_not_happen() {
    let hoa = |name: &str| {
        format!(
            "HOA: v1 States: 2 Start: 0 AP: 1 \"{name}\" acc-name: Buchi Acceptance: 1 Inf(0) \
             --BODY-- State: 0 [t] 0 [0] 1 State: 1 {{0}} [0] 1 --END--"
        )
    };
    assert!(check().claim(&hoa("waits")).is_violated(), "it waits for ever");
    assert!(check().claim(&hoa("over")).holds());
    assert!(check().strongly_fair().claim(&hoa("waits")).holds());
}
