//! Searches that are led find what lies deep, where others get lost; and what they find is a run.

use base::Budget;
use model::{
    Action, ActionId, ActionSystem, BinaryOp, Builder, Guard, Run, Stmt, System as _, ValueSet, Variable,
};
use stubborn_check::search::stroll::{self, Plan};
use stubborn_check::search::{Goal, nearest};
use stubborn_check::{Exact, Stop};

/// How far is too far for who does not know the way.
const DEEP: i64 = 60;

/// A counter that can go up by one, or back to 0, and whether it is below `DEEP`.
fn counter() -> (ActionSystem, Goal) {
    let mut builder = Builder::new();
    let owners = vec![builder.process("counter")];
    let x = builder.variable(Variable::new("x", 0, 1000));
    let below = builder.guard(Guard::In(x, ValueSet::Range(0, 999)));
    let above = builder.guard(Guard::at_least(x, 1));
    let (up, back) = (builder.label("up"), builder.label("back"));
    let effect = vec![Stmt::Add(x, 1)];
    builder.action(Action { label: up, guards: vec![below], effect, owners: owners.clone() });
    builder.action(Action { label: back, guards: vec![above], effect: vec![Stmt::set(x, 0)], owners });
    builder.initial(&[0]);
    let (now, deep) = (builder.exprs.var(x), builder.exprs.int(DEEP));
    let is_below = builder.exprs.binary(BinaryOp::Lt, now, deep);
    let mut system = builder.finish().unwrap();
    let proposition = system.add_proposition("below", is_below);
    (system, Goal::Invariant(proposition))
}

/// The value at the end of a run.
fn end(system: &ActionSystem, run: &Run) -> i64 {
    let mut state = Vec::new();
    system.initial_states(&mut state);
    let mut scratch = system.new_scratch();
    for &action in &run.actions {
        let mut enabled = Vec::new();
        system.enabled(&state, &mut scratch, &mut enabled).unwrap();
        assert!(enabled.contains(&action));
        system.fire(&mut state, action, &mut scratch).unwrap();
    }
    system.layout().decode(&state)[0]
}

#[test]
fn a_walk_goes_where_it_is_led() {
    let (system, goal) = counter();
    let walk = |wanted: Option<&[u32]>| {
        let plan = Plan { seed: 3, work: 20_000, wanted };
        stroll::search(&system, &[goal], plan, &mut Budget::unlimited())
    };
    let alone = walk(None);
    assert!(alone.violations[0].is_none() && matches!(alone.stop, Some(Stop::Limit(_))));
    let led = walk(Some(&[DEEP as u32, 0]));
    assert_eq!(led.stop, Some(Stop::AllViolated));
    let run = led.violations[0].clone().expect("it was found");
    assert_eq!((end(&system, &run), run.actions.len() as i64), (DEEP, DEEP));
    assert_eq!(walk(Some(&[DEEP as u32, 0])).violations, led.violations, "the same seed, the same walk");
}

#[test]
fn a_wrong_lead_finds_nothing_that_is_not_there() {
    let (system, goal) = counter();
    let plan = Plan { seed: 3, work: 20_000, wanted: Some(&[0, 1000]) };
    assert!(stroll::search(&system, &[goal], plan, &mut Budget::unlimited()).violations[0].is_none());
    let plan = Plan { work: 0, ..plan };
    let nothing = stroll::search(&system, &[goal], plan, &mut Budget::unlimited());
    assert!(matches!(nothing.stop, Some(Stop::Limit(_))));
}

#[test]
fn the_nearest_state_is_expanded_first() {
    let (system, goal) = counter();
    let distance = |state: &[u32]| (DEEP - system.layout().decode(state)[0]).max(0) as u64;
    let mut store = Exact::new(system.width(), u64::MAX);
    let found = nearest::search(distance, &system, &mut store, &[goal], &mut Budget::unlimited());
    let run = found.violations[0].clone().expect("it is there");
    assert_eq!(end(&system, &run), DEEP);
    assert_eq!(run.actions, vec![ActionId::new(0); DEEP as usize]);
    // A distance that leads astray makes it slower, not wrong.
    let mut store = Exact::new(system.width(), u64::MAX);
    let wrong = |state: &[u32]| u64::MAX - distance(state);
    let found = nearest::search(wrong, &system, &mut store, &[goal], &mut Budget::unlimited());
    assert_eq!(end(&system, found.violations[0].as_ref().expect("it is there")), DEEP);
}
