//! Whether a state can be reached where an expression is false: stubborn sets led by it, against naive
//! exploration, on random systems with data, with chains, and with counters like those of Petri nets.

use std::cell::{Cell, RefCell};

use base::Budget;
use check::reduced::Reduced;
use check::{Exact, Goal, search};
use model::reference;
use model::{
    Action, ActionSystem, BinaryOp, Builder, ExprId, Guard, Stmt, System as _, UnaryOp, VarId, Variable,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::{naive, run_cases, systems};

/// How often a goal was reachable, and not; and how many states were saved.
#[derive(Default)]
struct Seen {
    counts: RefCell<[u32; 2]>,
    saved: Cell<u64>,
}

/// Every proposition of a system, as an invariant.
fn check(system: &ActionSystem, seen: &Seen) -> Result<(), TestCaseError> {
    let Ok(Some(space)) = naive::explore(system, 400) else { return Ok(()) };
    for (number, proposition) in system.propositions().iter().enumerate() {
        let value = |state: &Vec<i64>| reference::value(system, proposition.expr, state);
        let Ok(values) = space.states.iter().map(value).collect::<Result<Vec<i64>, _>>() else { continue };
        let expected = values.contains(&0);
        let reduced = Reduced::for_invariant(system, number, &mut Budget::unlimited()).unwrap();
        let goals = [Goal::Invariant(number)];
        let mut budget = Budget::unlimited();
        let store = || Exact::new(system.width(), u64::MAX);
        for explored in [
            search::bfs::search(&reduced, &mut store(), &goals, &mut budget),
            search::dfs::search(&reduced, &mut store(), &goals, &mut budget),
        ] {
            prop_assert_eq!(explored.violations[0].is_some(), expected, "proposition {}", number);
            if let Some(run) = &explored.violations[0] {
                let question = replay::Question::Violates(proposition.expr);
                let run = replay::Evidence::new(run, replay::Ending::Open);
                let judged = replay::judge(system, &question, &run, &mut Budget::unlimited());
                prop_assert!(judged.is_ok(), "{:?}", judged);
            } else {
                prop_assert!(explored.stats.states <= space.states.len() as u64);
                seen.saved.set(seen.saved.get() + space.states.len() as u64 - explored.stats.states);
            }
        }
        seen.counts.borrow_mut()[usize::from(expected)] += 1;
    }
    Ok(())
}

fn check_all(n_cases: u32, recipes: &impl Strategy<Value = systems::Recipe>) {
    let seen = Seen::default();
    run_cases(n_cases, recipes, |recipe| check(&recipe.build(), &seen));
    let [unreachable, reachable] = *seen.counts.borrow();
    assert!(unreachable > 100 && reachable > 100 && seen.saved.get() > 100, "{:?}", seen.counts);
}

#[test]
fn goals_of_systems_with_data_are_found() {
    check_all(3000, &systems::recipe(true));
}

#[test]
fn goals_of_systems_with_chains_are_found() {
    check_all(3000, &systems::recipe_with_chains());
}

/// A counter and a change of it.
type Changes = Vec<(usize, i64)>;

/// A comparison of a sum of counters with a number; or a combination.
#[derive(Clone, Debug)]
enum Predicate {
    Compare(usize, Changes, i64),
    Not(Box<Predicate>),
    Both(bool, Box<Predicate>, Box<Predicate>),
}

const COMPARISONS: [BinaryOp; 6] =
    [BinaryOp::Le, BinaryOp::Lt, BinaryOp::Ge, BinaryOp::Gt, BinaryOp::Eq, BinaryOp::Ne];
const N_COUNTERS: usize = 5;
const MOST: i64 = 3;

fn predicate() -> impl Strategy<Value = Predicate> {
    let terms = vec((0..N_COUNTERS, -1..3i64), 1..4);
    let leaf =
        (0..COMPARISONS.len(), terms, -1..5i64).prop_map(|(op, terms, to)| Predicate::Compare(op, terms, to));
    leaf.prop_recursive(3, 8, 2, |inner| {
        let boxed = move || inner.clone().prop_map(Box::new);
        prop_oneof![
            boxed().prop_map(Predicate::Not),
            (any::<bool>(), boxed(), boxed()).prop_map(|(and, x, y)| Predicate::Both(and, x, y)),
        ]
    })
}

fn expr(builder: &mut Builder, predicate: &Predicate) -> ExprId {
    match predicate {
        Predicate::Compare(op, terms, to) => {
            let mut sum = builder.exprs.int(0);
            for &(counter, factor) in terms {
                let (value, factor) = (builder.exprs.var(VarId::new(counter)), builder.exprs.int(factor));
                let term = builder.exprs.binary(BinaryOp::Mul, factor, value);
                sum = builder.exprs.binary(BinaryOp::Add, sum, term);
            }
            let to = builder.exprs.int(*to);
            builder.exprs.binary(COMPARISONS[*op], sum, to)
        }
        Predicate::Not(x) => {
            let x = expr(builder, x);
            builder.exprs.unary(UnaryOp::Not, x)
        }
        Predicate::Both(and, x, y) => {
            let (x, y) = (expr(builder, x), expr(builder, y));
            builder.exprs.binary(if *and { BinaryOp::And } else { BinaryOp::Or }, x, y)
        }
    }
}

/// Counters from 0 to [`MOST`]; an action happens where all its changes fit.
fn counters(actions: &[Changes], initial: &[i64], predicates: &[Predicate]) -> ActionSystem {
    let mut builder = Builder::new();
    let owner = builder.process("p");
    for counter in 0..N_COUNTERS {
        builder.variable(Variable::new(format!("c{counter}"), 0, MOST));
    }
    for (index, changes) in actions.iter().enumerate() {
        let mut changes = changes.clone();
        changes.sort_unstable();
        changes.dedup_by_key(|change| change.0);
        let label = builder.label(format!("a{index}"));
        let (mut guards, mut effect) = (Vec::new(), Vec::new());
        for (counter, amount) in changes {
            let var = VarId::new(counter);
            guards.push(builder.guard(Guard::one_of(
                var,
                (0..=MOST).filter(|value| (0..=MOST).contains(&(value + amount))),
            )));
            effect.push(Stmt::Add(var, amount));
        }
        builder.action(Action { label, guards, effect, owners: vec![owner] });
    }
    let exprs: Vec<ExprId> = predicates.iter().map(|predicate| expr(&mut builder, predicate)).collect();
    builder.initial(initial);
    let mut system = builder.finish().expect("a valid system");
    for (index, expr) in exprs.into_iter().enumerate() {
        system.add_proposition(format!("p{index}"), expr);
    }
    system
}

#[test]
fn goals_of_counters_are_found() {
    let seen = Seen::default();
    let actions = vec(vec((0..N_COUNTERS, prop_oneof![Just(-1i64), Just(1), Just(2), Just(-2)]), 1..4), 1..7);
    let strategy = (actions, vec(0..=MOST, N_COUNTERS), vec(predicate(), 1..4));
    run_cases(6000, &strategy, |(actions, initial, predicates)| {
        check(&counters(&actions, &initial, &predicates), &seen)
    });
    let [unreachable, reachable] = *seen.counts.borrow();
    assert!(
        unreachable > 1000 && reachable > 1000 && seen.saved.get() > 10_000,
        "{:?} {:?}",
        seen.counts,
        seen.saved
    );
}
