//! Systems in which many actions use the same variables: the reduction's lists are hubs there, which must hold
//! what pairs of actions would need; and preparing all that keeps to its budget.

use std::cell::Cell;

use base::budget::Patience;
use base::{Budget, Limit};
use check::reduced::Reduced;
use check::{Exact, Goal, search};
use model::{Action, ActionId, ActionSystem, Builder, Guard, Relations, Stmt, System as _, Variable};
use por::StubbornSets;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::systems::{self, Recipe};
use stubborn_testing::{assert_met, naive, relations_checker, run_cases};

/// The actions of some recipes, each of them several times, on the variables of the first.
fn crowded(n_recipes: usize, copies: usize) -> impl Strategy<Value = Recipe> {
    vec(systems::recipe_with_chains(), n_recipes).prop_map(move |recipes| {
        let actions: Vec<_> = recipes.iter().flat_map(|recipe| recipe.actions.clone()).collect();
        let actions = vec![actions; copies].concat();
        let owners = (0..actions.len()).map(|index| index % 3).collect();
        let first = recipes.into_iter().next().expect("a recipe");
        Recipe { actions, owners, ..first }
    })
}

/// Checks recipes, and that at least so many were small enough.
fn check_all(n_cases: u32, recipes: &impl Strategy<Value = Recipe>, n_small: u32) {
    let n_checked = Cell::new(0);
    run_cases(n_cases, recipes, |recipe| check(&recipe, &n_checked));
    assert_met!(n_checked.get() >= n_small, "{n_checked:?}");
}

fn check(recipe: &Recipe, n_checked: &Cell<u32>) -> Result<(), TestCaseError> {
    let system = recipe.build();
    let Ok(Some(space)) = naive::explore(&system, 200) else { return Ok(()) };
    n_checked.set(n_checked.get() + 1);
    relations_checker::check(&system, &space.states[..space.states.len().min(3)])
        .map_err(TestCaseError::fail)?;
    let (budget, goals) = (&mut Budget::unlimited(), [Goal::Deadlock]);
    let reduced = Reduced::for_deadlocks(&system, budget).unwrap();
    let found = search::bfs::search(&reduced, &mut Exact::new(system.width(), u64::MAX), &goals, budget);
    prop_assert_eq!(found.violations[0].is_some(), space.deadlocks > 0);
    Ok(())
}

#[test]
fn classes_of_users_bring_along_what_pairs_would() {
    check_all(50, &crowded(3, 12), 12);
}

#[test]
fn many_classes_are_put_together() {
    check_all(30, &crowded(40, 1), 8);
}

/// Users of one resource of which there are few.
fn resource(n_users: usize) -> ActionSystem {
    let mut builder = Builder::new();
    let free = builder.variable(Variable::guessed("free", (0, 3), (0, i64::MAX)));
    let mut initial = vec![3];
    for user in 0..n_users {
        let owners = vec![builder.process(format!("user {user}"))];
        let [idle, busy] = ["idle", "busy"].map(|name| builder.variable(Variable::new(name, 0, 1)));
        initial.extend([1, 0]);
        for (name, from, to, change) in [("acquire", idle, busy, -1), ("release", busy, idle, 1)] {
            let label = builder.label(name);
            let mut guards = vec![builder.guard(Guard::at_least(from, 1))];
            if change < 0 {
                guards.push(builder.guard(Guard::at_least(free, 1)));
            }
            let effect = vec![Stmt::Add(free, change), Stmt::Add(from, -1), Stmt::Add(to, 1)];
            builder.action(Action { label, guards, effect, owners: owners.clone() });
        }
    }
    builder.initial(&initial);
    builder.finish().unwrap()
}

#[test]
fn who_gives_back_disturbs_nobody() {
    let system = resource(500);
    let budget = &mut Budget::unlimited();
    let relations = Relations::new(&system, budget).unwrap();
    let sets = StubbornSets::new(&system, &relations, budget).unwrap();
    let state = system.initial().next().unwrap();
    let acquires: Vec<ActionId> = (0..500).map(|user| ActionId::new(2 * user)).collect();
    assert_eq!(sets.needs(state, ActionId::new(8)), acquires);
    assert_eq!(sets.needs(state, ActionId::new(9)), []);
    assert!(sets.bytes() < 700_000, "{} bytes: not one for each pair", sets.bytes());
}

#[test]
fn preparing_keeps_to_its_budget() {
    let system = resource(500);
    let watch = Patience::new(3);
    let out_of_time = Reduced::for_deadlocks(&system, &mut Budget::new(u64::MAX, u64::MAX, &watch));
    assert_eq!(out_of_time.err(), Some(Limit::Interrupt));
    let watch = Patience::new(u64::MAX);
    let small = &mut Budget::new(u64::MAX, 50_000, &watch);
    assert_eq!(Reduced::for_deadlocks(&system, small).err(), Some(Limit::Memory(50_000)));
    let budget = &mut Budget::new(u64::MAX, 10_000_000, &watch);
    let reduced = Reduced::for_deadlocks(&system, budget);
    let left = budget.max_bytes;
    assert!(reduced.is_ok() && left < 9_950_000, "what is kept is held: {left} bytes are left");
    assert!(left > 9_000_000, "the relations are not kept: {left} bytes are left");
}

/// Two sums do not mind each other's order; but who looks at one in between does.
#[test]
fn who_looks_at_a_sum_minds_the_order() {
    let mut builder = Builder::new();
    let owners = vec![builder.process("p")];
    let [x, y] = ["x", "y"].map(|name| builder.variable(Variable::new(name, 0, 9)));
    let sum = builder.exprs.var(x);
    let label = builder.label("a");
    let mut action =
        |effect| builder.action(Action { label, guards: Vec::new(), effect, owners: owners.clone() });
    let adds = action(vec![Stmt::Add(x, 1)]);
    let adds_more = action(vec![Stmt::Add(x, 2)]);
    let looks = action(vec![Stmt::Add(x, 1), Stmt::Assign(y, sum)]);
    builder.initial(&[0, 0]);
    let system = builder.finish().unwrap();
    let relations = Relations::new(&system, &mut Budget::unlimited()).unwrap();
    assert!(!relations.interferes(&system, adds, adds_more));
    assert!(relations.interferes(&system, adds, looks) && relations.interferes(&system, looks, adds));
}
