//! Whether a state can be reached where an expression is false: stubborn sets led by it, and sets that preserve all
//! questions about states at once, against naive exploration, on random systems with data, with chains, and with
//! counters like those of Petri nets.

use std::cell::{Cell, RefCell};

use base::Budget;
use check::reduced::Reduced;
use check::search::mixed::Turns;
use check::{Bitstate, Exact, Exploration, Goal, Stop, search, store::Queue};
use model::reference;
use model::{
    Action, ActionSystem, BinaryOp, Builder, ExprId, Guard, Stmt, System as _, UnaryOp, VarId, Variable,
};
use por::Rule;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::{assert_met, naive, run_cases, systems};

/// Short turns, for small systems.
const TURNS: Turns = Turns { few: 3, turn: 2, many: 20, of: 3 };

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
            search::mixed::search_in_turns(TURNS, &reduced, &mut store(), &goals, &mut budget),
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
    assert_met!(unreachable > 100 && reachable > 100 && seen.saved.get() > 100, "{:?}", seen.counts);
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
    assert_met!(
        unreachable > 1000 && reachable > 1000 && seen.saved.get() > 10_000,
        "{:?} {:?}",
        seen.counts,
        seen.saved
    );
}

/// A statement of a process, and what it waits for: numbers of a shared variable, and values.
#[derive(Clone, Debug)]
enum Does {
    Nothing,
    Sets(usize, i64),
    /// Beyond the range, or not.
    Adds(usize, i64),
    Copies(usize),
    Asserts(usize, i64),
    SetsOwn(i64),
    AssertsOwn(i64),
}

#[derive(Clone, Debug)]
enum Awaits {
    Nothing,
    Shared(usize, i64),
    Sum(i64),
    Own(i64),
    /// That another process is at a location, from which it moves to the next.
    Other(usize, usize),
    /// That nothing else can happen.
    Quiet,
}

/// Processes with locations, variables of their own and some that they share: from, to, what is awaited and done, and
/// whether the process goes on in the same step.
type Edge = (usize, usize, Awaits, Does, bool);

const N_LOCATIONS: usize = 3;
const N_SHARED: usize = 2;

fn program() -> impl Strategy<Value = Vec<Vec<Edge>>> {
    let does = prop_oneof![
        6 => Just(Does::Nothing),
        4 => (0..3i64).prop_map(Does::SetsOwn),
        2 => (0..N_SHARED, 0..3i64).prop_map(|(var, value)| Does::Sets(var, value)),
        1 => (0..N_SHARED, -1..2i64).prop_map(|(var, amount)| Does::Adds(var, amount)),
        1 => (0..N_SHARED).prop_map(Does::Copies),
        1 => (0..N_SHARED, 0..3i64).prop_map(|(var, value)| Does::Asserts(var, value)),
        1 => (0..3i64).prop_map(Does::AssertsOwn),
    ];
    let awaits = prop_oneof![
        10 => Just(Awaits::Nothing),
        2 => (0..N_SHARED, 0..3i64).prop_map(|(var, value)| Awaits::Shared(var, value)),
        1 => (0..4i64).prop_map(Awaits::Sum),
        3 => (0..3i64).prop_map(Awaits::Own),
        2 => (0..4usize, 0..N_LOCATIONS).prop_map(|(other, at)| Awaits::Other(other, at)),
        1 => Just(Awaits::Quiet),
    ];
    let edge = (0..N_LOCATIONS, 0..N_LOCATIONS, awaits, does, prop::bool::weighted(0.1));
    vec(vec(edge, 1..5), 2..5)
}

fn processes(program: &[Vec<Edge>]) -> ActionSystem {
    let mut builder = Builder::new();
    let shared: Vec<VarId> =
        (0..N_SHARED).map(|index| builder.variable(Variable::new(format!("s{index}"), 0, 2))).collect();
    let mut variable =
        |name: &str, index: usize| builder.variable(Variable::new(format!("{name}{index}"), 0, 2));
    let own: Vec<[VarId; 2]> =
        (0..program.len()).map(|index| [variable("at", index), variable("own", index)]).collect();
    let owners: Vec<_> = (0..program.len()).map(|index| builder.process(format!("P{index}"))).collect();
    let next = |at: usize| ((at + 1) % N_LOCATIONS) as i64;
    for (process, edges) in program.iter().enumerate() {
        let [at, local] = own[process];
        for (from, to, awaits, does, goes_on) in edges {
            let (mut guards, mut effect) =
                (vec![Guard::equals(at, *from as i64)], vec![Stmt::set(at, *to as i64)]);
            let mut its_owners = vec![owners[process]];
            match *awaits {
                Awaits::Nothing => {}
                Awaits::Shared(var, value) => guards.push(Guard::equals(shared[var], value)),
                Awaits::Own(value) => guards.push(Guard::equals(local, value)),
                Awaits::Quiet => guards.push(Guard::Quiet),
                Awaits::Sum(sum) => {
                    let [x, y] = [shared[0], shared[1]].map(|var| builder.exprs.var(var));
                    let (both, sum) = (builder.exprs.binary(BinaryOp::Add, x, y), builder.exprs.int(sum));
                    guards.push(Guard::True(builder.exprs.binary(BinaryOp::Eq, both, sum)));
                }
                Awaits::Other(other, there) => {
                    let other = (process + 1 + other % (program.len() - 1)) % program.len();
                    guards.push(Guard::equals(own[other][0], there as i64));
                    effect.push(Stmt::set(own[other][0], next(there)));
                    its_owners.push(owners[other]);
                }
            }
            let mut differs = |var: VarId, value: i64| {
                let (var, value) = (builder.exprs.var(var), builder.exprs.int(value));
                Stmt::Assert(builder.exprs.binary(BinaryOp::Ne, var, value), 0)
            };
            match *does {
                Does::Nothing => {}
                Does::Sets(var, value) => effect.push(Stmt::set(shared[var], value)),
                Does::Adds(var, amount) => effect.push(Stmt::Add(shared[var], amount)),
                Does::Copies(var) => effect.push(Stmt::Assign(local, builder.exprs.var(shared[var]))),
                Does::Asserts(var, value) => effect.insert(0, differs(shared[var], value)),
                Does::SetsOwn(value) => effect.push(Stmt::set(local, value)),
                Does::AssertsOwn(value) => effect.insert(0, differs(local, value)),
            }
            let label = builder.label("a");
            let guards = guards.into_iter().map(|guard| builder.guard(guard)).collect();
            let action = builder.action(Action { label, guards, effect, owners: its_owners });
            if *goes_on {
                builder.goes_on(action, owners[process]);
            }
        }
    }
    builder.initial(&vec![0; N_SHARED + 2 * program.len()]);
    let [x, first, last] =
        [shared[0], own[0][0], own[program.len() - 1][0]].map(|var| builder.exprs.var(var));
    let two = builder.exprs.int(2);
    let [x_is, first_is, last_is] = [x, first, last].map(|var| builder.exprs.binary(BinaryOp::Eq, var, two));
    let both = builder.exprs.binary(BinaryOp::And, first_is, last_is);
    let mut system = builder.finish().expect("a valid system");
    for (name, is) in [("x", x_is), ("both", both)] {
        let never = system.exprs.unary(UnaryOp::Not, is);
        system.add_proposition(name, never);
    }
    system
}

/// All searches of a system with the sets that preserve safety, perhaps without a rule.
fn safely(system: &ActionSystem, goals: &[Goal], without: Option<Rule>) -> [Exploration; 5] {
    let budget = &mut Budget::unlimited();
    let mut reduced = Reduced::for_safety(system, goals, budget).unwrap();
    if let Some(rule) = without {
        reduced = reduced.without(rule, budget).unwrap();
    }
    let exact = || Exact::new(system.width(), u64::MAX);
    let bits = || Bitstate::new(1 << 16, 3).expect("64 KiB are free");
    [
        search::bfs::search(&reduced, &mut exact(), goals, budget),
        search::dfs::search(&reduced, &mut exact(), goals, budget),
        search::bfs::search(&reduced, &mut Queue::new(bits(), system.width()), goals, budget),
        search::dfs::search(&reduced, &mut bits(), goals, budget),
        search::mixed::search_in_turns(TURNS, &reduced, &mut exact(), goals, budget),
    ]
}

/// What is asked at once: which propositions can be false, of those that can be evaluated everywhere; deadlocks; and what
/// is never false, so that a search goes on to the end.
fn all_goals(system: &mut ActionSystem) -> Vec<Goal> {
    let truth = system.exprs.int(1);
    system.add_proposition("true", truth);
    let mut goals: Vec<Goal> = (0..system.propositions().len()).map(Goal::Invariant).collect();
    goals.push(Goal::Deadlock);
    let mut budget = Budget::unlimited();
    budget.max_states = 400;
    let found = search::bfs::search(system, &mut Exact::new(system.width(), u64::MAX), &goals, &mut budget);
    goals.into_iter().zip(found.faults).filter(|(_, fault)| fault.is_none()).map(|(goal, _)| goal).collect()
}

/// What a search has found: whether something goes wrong; if not, which goals are violated, how many deadlocks
/// there are; and which actions happen.
fn findings(found: &Exploration) -> Option<(Vec<bool>, u64, &[bool])> {
    let violated = || found.violations.iter().map(Option::is_some).collect();
    match &found.stop {
        None => Some((violated(), found.stats.deadlocks, &found.taken)),
        Some(Stop::Fault(..)) => None,
        Some(stop) => panic!("there is no other reason to stop: {stop:?}"),
    }
}

/// The rules of the sets that preserve safety.
const RULES: [Rule; 3] = [Rule::Proviso, Rule::Invisible, Rule::Alone];

/// Everything that is asked of states at once is answered as without reduction; returns how many times that was not so
/// without each of the rules, and what was seen.
fn check_safety<T: std::fmt::Debug>(
    n_cases: u32,
    recipes: &impl Strategy<Value = T>,
    build: impl Fn(T) -> ActionSystem,
) -> ([u32; RULES.len()], Seen) {
    let (seen, noticed) = (Seen::default(), Cell::new([0u32; RULES.len()]));
    run_cases(n_cases, recipes, |recipe| {
        let mut system = build(recipe);
        let goals = all_goals(&mut system);
        let mut budget = Budget::unlimited();
        budget.max_states = 400;
        let full =
            search::bfs::search(&system, &mut Exact::new(system.width(), u64::MAX), &goals, &mut budget);
        if matches!(full.stop, Some(Stop::Limit(_))) {
            return Ok(());
        }
        let expected = findings(&full);
        for (index, found) in safely(&system, &goals, None).iter().enumerate() {
            prop_assert_eq!(&findings(found), &expected, "search {}", index);
            if expected.is_some() {
                prop_assert!(found.stats.states <= full.stats.states);
                seen.saved.set(seen.saved.get() + full.stats.states - found.stats.states);
            }
        }
        let mut counts = *seen.counts.borrow();
        counts[usize::from(expected.is_some())] += 1;
        *seen.counts.borrow_mut() = counts;
        let mut counts = noticed.get();
        for (count, rule) in counts.iter_mut().zip(RULES) {
            let wrong = safely(&system, &goals, Some(rule));
            *count += u32::from(wrong.iter().any(|found| findings(found) != expected));
        }
        noticed.set(counts);
        Ok(())
    });
    (noticed.get(), seen)
}

/// What a search without reduction finds, and by all searches with the sets that preserve safety.
fn compare_safety(mut system: ActionSystem) -> bool {
    let goals = all_goals(&mut system);
    let full = search::bfs::search(
        &system,
        &mut Exact::new(system.width(), u64::MAX),
        &goals,
        &mut Budget::unlimited(),
    );
    for found in &safely(&system, &goals, None) {
        assert_eq!(findings(found), findings(&full));
    }
    findings(&full).is_none()
}

/// One adds to a variable, one takes from it: whoever takes first leads it out of its range.
#[test]
fn what_another_step_would_avert_goes_wrong() {
    let step = |amount| vec![(0, 1, Awaits::Nothing, Does::Adds(1, amount), false)];
    assert!(compare_safety(processes(&[step(1), step(-1)])), "something goes wrong");
}

/// Behind a guard that is false, another one would divide by zero; who makes the first one true is looked for.
#[test]
fn guards_behind_a_false_one_are_not_evaluated() {
    let mut builder = Builder::new();
    let [x, y] = ["x", "y"].map(|name| builder.variable(Variable::new(name, 0, 1)));
    let [read, zero, one] = [builder.exprs.var(x), builder.exprs.int(0), builder.exprs.int(1)];
    let is_positive = builder.exprs.binary(BinaryOp::Gt, read, zero);
    let ratio = builder.exprs.binary(BinaryOp::Div, one, read);
    let is_one = builder.exprs.binary(BinaryOp::Eq, ratio, one);
    let owners: Vec<_> = (0..3).map(|index| builder.process(format!("P{index}"))).collect();
    let guards = [is_positive, is_one].map(|expr| builder.guard(Guard::True(expr))).to_vec();
    let label = builder.label("a");
    builder.action(Action { label, guards, effect: vec![], owners: vec![owners[0]] });
    for (var, owner) in [(x, 1), (y, 2)] {
        let guards = vec![builder.guard(Guard::equals(var, 0))];
        let effect = vec![Stmt::set(var, 1), Stmt::set(x, 1)];
        builder.action(Action { label, guards, effect, owners: vec![owners[owner]] });
    }
    builder.initial(&[0, 0]);
    assert!(!compare_safety(builder.finish().expect("a valid system")), "nothing goes wrong");
}

#[test]
fn all_questions_about_states_at_once() {
    let (noticed, seen) = check_safety(4000, &program(), |program| processes(&program));
    let [n_faulty, n_sound] = *seen.counts.borrow();
    assert_met!(
        n_faulty > 100 && n_sound > 1000 && seen.saved.get() > 1000,
        "{n_faulty} {n_sound} {:?}",
        seen.saved
    );
    assert_met!(noticed.iter().all(|&n| n > 0), "{noticed:?}: a rule that was left out is noticed");
    check_safety(1000, &systems::recipe(true), |recipe| recipe.build());
    check_safety(1000, &systems::recipe_with_chains(), |recipe| recipe.build());
    check_safety(100, &systems::recipe(false), |recipe| recipe.build());
}

/// Whatever the order of the processes, all searches find what is asked; in one of the orders, some do not without the rule.
fn needs_rule(mut program: Vec<Vec<Edge>>, rule: Rule) {
    let mut is_noticed = false;
    for _ in 0..2 {
        program.reverse();
        let mut system = processes(&program);
        let goals = all_goals(&mut system);
        let store = &mut Exact::new(system.width(), u64::MAX);
        let full = search::bfs::search(&system, store, &goals, &mut Budget::unlimited());
        let is_right = |found: &Exploration| findings(found) == findings(&full);
        assert!(safely(&system, &goals, None).iter().all(is_right));
        is_noticed |= !safely(&system, &goals, Some(rule)).iter().all(is_right);
    }
    assert!(is_noticed, "{rule:?} is needed");
}

/// A process that could go on alone for ever must not put off the one that goes wrong.
#[test]
fn nobody_is_put_off_for_ever() {
    let looping = vec![(0, 0, Awaits::Nothing, Does::Nothing, false)];
    let failing = vec![(0, 1, Awaits::Nothing, Does::AssertsOwn(0), false)];
    needs_rule(vec![looping, failing], Rule::Proviso);
}

/// Who leaves the place where both would meet must not hurry.
#[test]
fn what_an_invariant_sees_is_not_hurried() {
    let step = |from, to| (from, to, Awaits::Nothing, Does::Nothing, false);
    let passing = vec![step(0, 2), step(2, 1)];
    let coming = vec![step(0, 1), step(1, 2)];
    needs_rule(vec![passing, coming], Rule::Invisible);
}

/// Who writes what others look at does not go on alone.
#[test]
fn who_shares_a_variable_is_not_alone() {
    let writing = vec![(0, 1, Awaits::Nothing, Does::Sets(1, 1), false)];
    let looking = vec![(0, 1, Awaits::Nothing, Does::Asserts(1, 0), false)];
    needs_rule(vec![writing, looking], Rule::Alone);
}
