//! What the judge accepts, what it rejects, and what it needs for that.

use base::budget::Patience;
use model::{Action, ActionId, Builder, Guard, Stmt, Variable};

use super::*;

/// x counts to n and stops.
fn counter(n: i64) -> (ActionSystem, ActionId) {
    let mut builder = Builder::new();
    let owner = builder.process("counter");
    let x = builder.variable(Variable::new("x", 0, n));
    let below = builder.guard(Guard::one_of(x, 0..n));
    let label = builder.label("tick");
    let tick = Action { label, guards: vec![below], effect: vec![Stmt::Add(x, 1)], owners: vec![owner] };
    let tick = builder.action(tick);
    builder.initial(&[0]);
    (builder.finish().unwrap(), tick)
}

fn shows(system: &ActionSystem, question: Question<'_>, run: &Run) -> Result<Judged, Doubt> {
    judge(system, &question, &Evidence::new(run, Ending::Open), &mut Budget::unlimited())
}

#[test]
fn a_true_claim_is_accepted_and_false_ones_are_not() {
    let (mut system, tick) = counter(2);
    let run = |n| Run { initial: 0, actions: vec![tick; n] };
    let replayed = shows(&system, Question::Deadlock, &run(2)).unwrap().replayed;
    assert_eq!([0, 1, 2].map(|step| replayed.state(&system, step)), [[0], [1], [2]]);
    let too_short = shows(&system, Question::Deadlock, &run(1)).unwrap_err();
    assert_eq!(too_short.to_string(), "the run does not end in a deadlock: `tick` is enabled");
    let too_long = shows(&system, Question::Deadlock, &run(3)).unwrap_err();
    assert_eq!(too_long.to_string(), "step 3: `tick` is not enabled");
    let nowhere = shows(&system, Question::Possible, &Run { initial: 1, actions: vec![] }).unwrap_err();
    assert_eq!(nowhere.to_string(), "there is no initial state number 1");
    let x = system.exprs.var(model::VarId::new(0));
    assert!(shows(&system, Question::Violates(x), &run(0)).is_ok());
    assert!(shows(&system, Question::Violates(x), &run(1)).is_err());
    assert!(shows(&system, Question::Fault(Fault::Overflow), &run(0)).is_err());
}

/// A prefix is judged by what must be so whatever follows, a cycle by whether it is one.
#[test]
fn words_are_judged_by_how_they_go_on() {
    let (mut system, tick) = counter(1);
    let is_one = system.exprs.var(model::VarId::new(0));
    let mut formulas = Formulas::new();
    let prop = formulas.proposition("x");
    let x = formulas.prop(prop);
    let not_x = formulas.not(x);
    let never = formulas.globally(not_x);
    let later = formulas.finally(not_x);
    let back = formulas.implies(x, later);
    let returns = formulas.globally(back);
    let run = Run { initial: 0, actions: vec![tick] };
    let judged = |formula, ending| {
        let question = Question::Formula { formulas: &formulas, formula, propositions: &[(prop, is_one)] };
        let judged = judge(&system, &question, &Evidence::new(&run, ending), &mut Budget::unlimited());
        judged.map(|_| ()).map_err(|doubt| doubt.to_string())
    };
    assert_eq!(judged(never, Ending::Open), Ok(()));
    assert_eq!(judged(returns, Ending::Open).unwrap_err(), "the prefix can be continued to a good run");
    for ending in [Ending::Deadlock, Ending::Cycle(1)] {
        assert_eq!(judged(returns, ending), Ok(()), "{ending:?}");
        assert_eq!(judged(later, ending).unwrap_err(), "the run satisfies the formula");
    }
    let no_cycle = "the cycle does not return to the state it starts in";
    assert_eq!(judged(never, Ending::Cycle(0)).unwrap_err(), no_cycle);
    assert_eq!(judged(never, Ending::Cycle(2)).unwrap_err(), "the cycle starts behind the end of the run");
}

/// Every state of a long run can be computed again, though few are kept.
#[test]
fn a_long_run_is_not_kept() {
    const N: i64 = 20_000;
    let (system, tick) = counter(N);
    let run = Run { initial: 0, actions: vec![tick; N as usize] };
    // The run itself, and 20 bytes for every tenth state: a state takes 32.
    let max_bytes = N as u64 * (size_of::<ActionId>() as u64 + 2);
    let patience = Patience::new(u64::MAX);
    let mut budget = Budget::new(u64::MAX, max_bytes, &patience);
    let evidence = Evidence::new(&run, Ending::Deadlock);
    let replayed = judge(&system, &Question::Deadlock, &evidence, &mut budget).unwrap().replayed;
    for step in (0..=N).step_by(77).chain([N]) {
        assert_eq!(replayed.state(&system, step as usize), [step]);
    }
    let stretches = (0..=replayed.place(N as usize).0).flat_map(|number| replayed.stretch(&system, number));
    assert!(stretches.eq((0..=N).map(|value| vec![value])));
}

#[test]
fn who_has_no_time_or_room_has_no_opinion() {
    let (system, tick) = counter(5000);
    let run = Run { initial: 0, actions: vec![tick; 5000] };
    let evidence = Evidence::new(&run, Ending::Deadlock);
    let impatient = Patience::new(2);
    let mut budget = Budget::new(u64::MAX, u64::MAX, &impatient);
    let judged = judge(&system, &Question::Deadlock, &evidence, &mut budget);
    assert_eq!(judged, Err(Doubt::Limit(Limit::Interrupt)));
    let patient = Patience::new(u64::MAX);
    let mut budget = Budget::new(u64::MAX, 100, &patient);
    let judged = judge(&system, &Question::Deadlock, &evidence, &mut budget);
    assert_eq!(judged, Err(Doubt::Limit(Limit::Memory(100))));
}
