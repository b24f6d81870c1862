//! Static reductions against the definition: the state spaces of random systems before and after are compared by
//! partition refinement, for every set of rules, and runs are brought back.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

use base::Budget;
use check::{Exact, search};
use language::{Preserve, Rules};
use model::reference::{self, Values};
use model::{
    Action, ActionId, ActionSystem, BinaryOp, Builder, ExprId, Guard, GuardId, Run, Stmt, System as _,
    UnaryOp, VarId, Variable,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use statics::{Rule, Smaller, reduce};
use stubborn_testing::systems::{GuardRecipe, StmtRecipe};
use stubborn_testing::{assert_met, naive, run_cases, systems};

const MAX_STATES: usize = 600;

/// A process has this many places, and this many variables of its own.
const N_PLACES: i64 = 5;
const N_LOCALS: usize = 2;
const N_GLOBALS: usize = 2;
/// The values of data.
const MOST: i64 = 1;

/// Who is meant: a variable of the process, or one of all; taken modulo what there is.
#[derive(Clone, Copy, Debug)]
enum Who {
    Local(usize),
    Global(usize),
}

/// A value.
#[derive(Clone, Debug)]
enum Value {
    Const(i64),
    Of(Who),
    Next(Who),
}

/// What a step does.
#[derive(Clone, Debug)]
enum Deed {
    Assign(Who, Value),
    If(Who, i64, Who, Value),
    /// An element of the locals, by an index.
    Element(Who, Value),
    /// The only element of an array, by an index that the guard has looked at.
    Guarded(Value),
    Assert(Who, i64),
}

/// A step of a process.
#[derive(Clone, Debug)]
struct Step {
    from: i64,
    /// Another place that it may start from.
    or_from: Option<i64>,
    /// Where it leads; nothing if the process stays where it is.
    to: Option<i64>,
    guard: Option<(Who, i64)>,
    /// Where the process goes if the guard is false.
    otherwise: Option<i64>,
    /// Whether the guard, and that it is false, are expressions.
    by_expr: bool,
    deeds: Vec<Deed>,
    /// Whether the process goes on.
    goes_on: bool,
    /// Another process that takes part, with its places; it may be moved from anywhere.
    with: Option<(usize, Option<i64>, i64)>,
}

/// Processes with places and variables of their own, like those of programs.
#[derive(Clone, Debug)]
struct Program {
    processes: Vec<Vec<Step>>,
    /// What is in question: a variable and a value.
    about: Vec<(usize, Who, i64)>,
    initial: Vec<i64>,
    with_chains: bool,
    /// Whether chains may come back to where they were.
    with_rounds: bool,
    with_assertions: bool,
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![3 => (0..N_LOCALS).prop_map(Who::Local), 1 => (0..N_GLOBALS).prop_map(Who::Global)]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => (0..=MOST).prop_map(Value::Const),
        1 => who().prop_map(Value::Of),
        1 => who().prop_map(Value::Next),
    ]
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        6 => (who(), value()).prop_map(|(who, value)| Deed::Assign(who, value)),
        1 => (who(), 0..=MOST, who(), value()).prop_map(|(test, is, who, value)| Deed::If(test, is, who, value)),
        1 => (who(), value()).prop_map(|(index, value)| Deed::Element(index, value)),
        1 => value().prop_map(Deed::Guarded),
        1 => (who(), 0..=MOST).prop_map(|(who, value)| Deed::Assert(who, value)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let place = || 0..N_PLACES;
    let guard = proptest::option::weighted(0.3, (who(), 0..=MOST));
    let otherwise = (proptest::option::weighted(0.6, place()), any::<bool>());
    let with = (0..3usize, proptest::option::weighted(0.7, place()), place());
    let with = proptest::option::weighted(0.1, with);
    let or_from = proptest::option::weighted(0.1, place());
    // Mostly one after the other, so that places with one step are common.
    let to = prop_oneof![1 => Just(None), 3 => place().prop_map(Some), 8 => Just(Some(N_PLACES))];
    ((place(), to), or_from, (guard, otherwise), vec(deed(), 0..3), any::<bool>(), with).prop_map(
        |((from, to), or_from, (guard, (otherwise, by_expr)), deeds, goes_on, with)| {
            let to = to.map(|to| if to == N_PLACES { (from + 1) % N_PLACES } else { to });
            Step { from, or_from, to, guard, otherwise, by_expr, deeds, goes_on, with }
        },
    )
}

fn program() -> impl Strategy<Value = Program> {
    (
        vec(vec(step(), 2..8), 1..4),
        vec((0..3usize, who(), 0..=MOST), 0..5),
        vec(0..=MOST, 12),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(processes, about, initial, with_chains, with_rounds, with_assertions)| Program {
            processes,
            about,
            initial,
            with_chains,
            with_rounds,
            with_assertions,
        })
}

impl Program {
    fn var(&self, process: usize, who: Who) -> VarId {
        let n = self.processes.len();
        VarId::new(match who {
            Who::Local(index) => n + process % n * N_LOCALS + index,
            Who::Global(index) => n + n * N_LOCALS + index,
        })
    }

    /// The system, and what is in question.
    fn build(&self) -> (ActionSystem, Vec<ExprId>) {
        let mut builder = Builder::new();
        let n = self.processes.len();
        let owners: Vec<_> = (0..n).map(|process| builder.process(format!("p{process}"))).collect();
        for process in 0..n {
            builder.variable(Variable::new(format!("at{process}"), 0, N_PLACES - 1));
        }
        for data in 0..n * N_LOCALS + N_GLOBALS {
            builder.variable(Variable::new(format!("x{data}"), 0, MOST));
        }
        for (process, steps) in self.processes.iter().enumerate() {
            for step in steps {
                let at = VarId::new(process);
                let places = [step.from].into_iter().chain(step.or_from);
                let mut guards = vec![builder.guard(Guard::one_of(at, places))];
                let label = builder.label("step");
                if let Some((who, value)) = step.guard {
                    let [is, is_not] = self.choice(&mut builder, self.var(process, who), value, step.by_expr);
                    if let Some(to) = step.otherwise {
                        let guards = [&guards[..], &[is_not]].concat();
                        let (effect, owners) = (vec![Stmt::Set(at, to)], vec![owners[process]]);
                        builder.action(Action { label, guards, effect, owners });
                    }
                    guards.push(is);
                }
                let looked_at = step.guard.and_then(|(who, value)| (value == 0).then_some(who));
                let deed = |deed| self.deed(&mut builder, process, looked_at, deed);
                let mut effect: Vec<Stmt> = step.deeds.iter().filter_map(deed).collect();
                effect.extend(step.to.map(|to| Stmt::Set(at, to)));
                let mut taking_part = vec![owners[process]];
                if let Some((other, from, to)) = step.with
                    && other < n
                    && other != process
                {
                    guards.extend(from.map(|from| builder.guard(Guard::equals(VarId::new(other), from))));
                    effect.push(Stmt::Set(VarId::new(other), to));
                    taking_part.push(owners[other]);
                }
                let action = builder.action(Action { label, guards, effect, owners: taking_part });
                if step.goes_on && self.with_chains {
                    builder.goes_on(action, owners[process]);
                }
            }
        }
        let has_holder = self.with_chains && self.with_rounds;
        if has_holder {
            let holder = builder.variable(Variable::new("holder", 0, n as i64));
            builder.may_go_round(owners, holder);
        }
        let about: Vec<ExprId> = self
            .about
            .iter()
            .map(|&(process, who, value)| {
                let (var, value) = (builder.exprs.var(self.var(process, who)), builder.exprs.int(value));
                builder.exprs.binary(BinaryOp::Eq, var, value)
            })
            .collect();
        for offset in 0..2 {
            let data =
                (0..n * N_LOCALS + N_GLOBALS).map(|at| self.initial[(at + offset) % self.initial.len()]);
            builder.initial(
                &std::iter::repeat_n(0, n).chain(data).chain(has_holder.then_some(0)).collect::<Values>(),
            );
        }
        let mut system = builder.finish().expect("a good system");
        about.iter().for_each(|&expr| _ = system.add_proposition("", expr));
        (system, about)
    }

    /// That a variable has a value, and that it has not.
    fn choice(&self, builder: &mut Builder, var: VarId, value: i64, by_expr: bool) -> [GuardId; 2] {
        if !by_expr {
            return [value, MOST - value].map(|value| builder.guard(Guard::equals(var, value)));
        }
        let (var, value) = (builder.exprs.var(var), builder.exprs.int(value));
        let is = builder.exprs.binary(BinaryOp::Eq, var, value);
        let is_not = builder.exprs.unary(UnaryOp::Not, is);
        [is, is_not].map(|expr| builder.guard(Guard::True(expr)))
    }

    /// What a step does that found a variable to be 0, or did not look at any.
    fn deed(
        &self,
        builder: &mut Builder,
        process: usize,
        looked_at: Option<Who>,
        deed: &Deed,
    ) -> Option<Stmt> {
        Some(match deed {
            Deed::Assign(who, value) => {
                Stmt::Assign(self.var(process, *who), self.value(builder, process, value))
            }
            Deed::If(test, is, who, value) => {
                let (test, is) = (builder.exprs.var(self.var(process, *test)), builder.exprs.int(*is));
                let condition = builder.exprs.binary(BinaryOp::Eq, test, is);
                let value = self.value(builder, process, value);
                Stmt::If(condition, vec![Stmt::Assign(self.var(process, *who), value)], Vec::new())
            }
            Deed::Element(index, value) => {
                let index = builder.exprs.var(self.var(process, *index));
                let index = builder.exprs.unary(UnaryOp::Truncate { bits: 1, signed: false }, index);
                let value = self.value(builder, process, value);
                let first = self.var(process, Who::Local(0));
                Stmt::AssignElement { first, len: N_LOCALS as u32, index, value }
            }
            Deed::Guarded(value) => {
                let index = builder.exprs.var(self.var(process, looked_at?));
                let value = self.value(builder, process, value);
                Stmt::AssignElement { first: self.var(process, Who::Global(0)), len: 1, index, value }
            }
            Deed::Assert(who, value) if self.with_assertions => {
                let (var, value) = (builder.exprs.var(self.var(process, *who)), builder.exprs.int(*value));
                Stmt::Assert(builder.exprs.binary(BinaryOp::Ne, var, value), 0)
            }
            Deed::Assert(..) => return None,
        })
    }

    fn value(&self, builder: &mut Builder, process: usize, value: &Value) -> ExprId {
        let mut var = |who: Who| builder.exprs.var(self.var(process, who));
        match *value {
            Value::Const(value) => builder.exprs.int(value),
            Value::Of(who) => var(who),
            Value::Next(who) => {
                let var = var(who);
                let (one, all) = (builder.exprs.int(1), builder.exprs.int(MOST + 1));
                let next = builder.exprs.binary(BinaryOp::Add, var, one);
                builder.exprs.binary(BinaryOp::Rem, next, all)
            }
        }
    }
}

/// A graph with colored states.
struct Graph {
    colors: Vec<Vec<bool>>,
    /// Per state: what steps begin with, and where they lead.
    steps: Vec<Vec<(ActionId, usize)>>,
    n_initial: usize,
}

/// The state space, or that it has faults; nothing if it has more states than this.
fn graph(system: &ActionSystem, about: &[ExprId], max_states: usize) -> Option<Result<Graph, ()>> {
    let Ok(space) = naive::explore(system, max_states) else { return Some(Err(())) };
    let space = space?;
    let color = |state: &Values| {
        about.iter().map(|&expr| reference::value(system, expr, state).expect("no fault") != 0).collect()
    };
    let mut steps = vec![Vec::new(); space.states.len()];
    for &(from, action, to) in &space.transitions {
        steps[from].push((system.first(action), to));
    }
    let n_initial = space.distance.iter().filter(|distance| **distance == 0).count();
    Some(Ok(Graph { colors: space.states.iter().map(color).collect(), steps, n_initial }))
}

/// How states are told apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Step by step, by the actions that steps begin with.
    Strong,
    /// By colors alone, up to stuttering; staying for ever, also at a deadlock, counts.
    Stuttering,
}

/// Whether the initial states of two graphs are equivalent: for each of one there is one of the other.
fn are_equivalent(a: &Graph, b: &Graph, kind: Kind) -> bool {
    let offset = a.steps.len();
    let colors: Vec<&Vec<bool>> = a.colors.iter().chain(&b.colors).collect();
    let shifted = b.steps.iter().map(|row| row.iter().map(|&(action, to)| (action, to + offset)).collect());
    let steps: Vec<Vec<(ActionId, usize)>> = a.steps.iter().cloned().chain(shifted).collect();
    let mut numbers: HashMap<&Vec<bool>, usize> = HashMap::new();
    let mut blocks: Vec<usize> = Vec::new();
    for color in colors {
        let next = numbers.len();
        blocks.push(*numbers.entry(color).or_insert(next));
    }
    let mut n_blocks = numbers.len();
    loop {
        let signatures: Vec<(usize, BTreeSet<(usize, usize)>)> = (0..steps.len())
            .map(|state| {
                let seen = match kind {
                    Kind::Strong => {
                        steps[state].iter().map(|&(action, to)| (action.index(), blocks[to])).collect()
                    }
                    Kind::Stuttering => ways_out(&steps, &blocks, state),
                };
                (blocks[state], seen)
            })
            .collect();
        let mut numbers = HashMap::new();
        for (state, signature) in signatures.iter().enumerate() {
            let next = numbers.len();
            blocks[state] = *numbers.entry(signature).or_insert(next);
        }
        if numbers.len() == n_blocks {
            break;
        }
        n_blocks = numbers.len();
    }
    let of = |from: usize, n: usize| blocks[from..from + n].iter().copied().collect::<BTreeSet<usize>>();
    of(0, a.n_initial) == of(offset, b.n_initial)
}

/// The blocks that can be entered from a state without passing others; and whether one can stay for ever.
fn ways_out(steps: &[Vec<(ActionId, usize)>], blocks: &[usize], state: usize) -> BTreeSet<(usize, usize)> {
    let mut inside = vec![state];
    let mut out = BTreeSet::new();
    let mut next = 0;
    while let Some(&here) = inside.get(next) {
        next += 1;
        for &(_, to) in &steps[here] {
            if blocks[to] != blocks[state] {
                out.insert((0, blocks[to]));
            } else if !inside.contains(&to) {
                inside.push(to);
            }
        }
    }
    // Whoever stays for ever comes round inside, or stops.
    let mut left = inside.clone();
    loop {
        let before = left.len();
        let known = left.clone();
        left.retain(|&here| steps[here].is_empty() || steps[here].iter().any(|(_, to)| known.contains(to)));
        if left.len() == before {
            break;
        }
    }
    // It is enough that such a place can be reached inside.
    if !left.is_empty() {
        out.insert((1, 0));
    }
    out
}

/// How often each rule was applied, and how many runs and cycles were brought back.
#[derive(Default)]
struct Seen {
    rules: Cell<[u32; 6]>,
    compared: Cell<u32>,
    /// In all, before and after; and how often there were more.
    states: Cell<[usize; 2]>,
    larger: Cell<u32>,
    runs: Cell<u32>,
    cycles: Cell<[u32; 2]>,
}

impl Seen {
    fn note(&self, smaller: &Smaller) {
        let mut rules = self.rules.get();
        for (count, rule) in rules.iter_mut().zip(Rule::ALL) {
            *count += u32::from(smaller.uses(rule));
        }
        self.rules.set(rules);
    }
}

/// Runs and cycles of the smaller system are such of the original.
fn bring_back(
    system: &ActionSystem,
    smaller: &Smaller,
    about: &[ExprId],
    seen: &Seen,
) -> Result<(), TestCaseError> {
    let mut budget = Budget::unlimited();
    let small = &*smaller.system;
    let value = |system: &ActionSystem, state: &Values| -> Vec<i64> {
        about.iter().map(|&expr| reference::value(system, expr, state).expect("no fault")).collect()
    };
    for initial in 0..reference::initial(small).len() {
        // Along the last steps, or the first.
        for last in [false, true] {
            let mut state = reference::initial(small)[initial].clone();
            let (mut states, mut actions) = (vec![state.clone()], Vec::new());
            let mut cycle = None;
            for _ in 0..30 {
                let successors = reference::successors(small, &state).expect("no fault");
                let next = if last { successors.last() } else { successors.first() };
                let Some((action, target)) = next.cloned() else { break };
                actions.push(action);
                state = target;
                if let Some(start) = states.iter().position(|known| *known == state) {
                    cycle = Some(start);
                    break;
                }
                states.push(state.clone());
            }
            let run = Run { initial, actions };
            let brought = smaller.run(system, &run, &mut budget).expect("no limit");
            let Some(brought) = brought else { return Err(TestCaseError::fail("a run is lost")) };
            let mut original = reference::initial(system)[initial].clone();
            for &step in &brought.actions {
                let parts = reference::parts(system, step, &original).expect("no fault");
                let Some((_, target)) = parts else { return Err(TestCaseError::fail("no step")) };
                original = target;
            }
            prop_assert_eq!(value(system, &original), value(small, &state));
            let ends = reference::successors(small, &state).expect("no fault").is_empty();
            if ends && !smaller.uses(Rule::IrrelevantActions) {
                prop_assert!(reference::successors(system, &original).expect("no fault").is_empty());
            }
            seen.runs.set(seen.runs.get() + 1);
            if let Some(start) = cycle {
                let lasso = smaller.lasso(system, &run, start, &mut budget).expect("no limit");
                let mut cycles = seen.cycles.get();
                cycles[usize::from(lasso.is_some())] += 1;
                seen.cycles.set(cycles);
                prop_assert!(lasso.is_some(), "a cycle is lost");
            }
        }
    }
    Ok(())
}

/// The actions that happen somewhere, if nothing goes wrong.
fn taken(system: &ActionSystem) -> Option<Vec<bool>> {
    let mut store = Exact::new(system.width(), u64::MAX);
    let found = search::bfs::search(system, &mut store, &[], &mut Budget::unlimited());
    found.stop.is_none().then_some(found.taken)
}

/// Compares a system with what each set of rules makes of it.
fn check(system: &ActionSystem, about: &[ExprId], seen: &Seen) -> Result<(), TestCaseError> {
    let Some(original) = graph(system, about, MAX_STATES) else { return Ok(()) };
    let all_taken = taken(system);
    let names = Rule::ALL.map(Rule::name);
    for chosen in 1..1_usize << names.len() {
        let text: Vec<&str> =
            (0..names.len()).filter(|at| chosen >> at & 1 == 1).map(|at| names[at]).collect();
        let rules = Rules::parse(&text.join(","), &names).expect("known rules");
        for preserve in
            [None, Some(Preserve::Stuttering), Some(Preserve::Deadlocks), Some(Preserve::Reachability)]
        {
            let about = if preserve == Some(Preserve::Deadlocks) { &[] } else { about };
            let smaller =
                reduce(system, preserve, about, &rules, &mut Budget::unlimited()).expect("no limit");
            let Some(smaller) = smaller else { continue };
            seen.note(&smaller);
            // A few more states than before are possible where what is not written any more keeps what it was.
            let small = match graph(&smaller.system, about, 2 * MAX_STATES) {
                Some(Ok(small)) => small,
                Some(Err(())) => {
                    prop_assert!(original.is_err(), "{:?} {}: a new fault", preserve, smaller.describe());
                    continue;
                }
                None => return Err(TestCaseError::fail("more states")),
            };
            let Ok(original) = &original else {
                return Err(TestCaseError::fail(format!("{preserve:?} {}: no fault", smaller.describe())));
            };
            let what = format!("{preserve:?} {}", smaller.describe());
            let merges = [Rule::MergedSteps, Rule::MergedChoices].iter().any(|&rule| smaller.uses(rule));
            let kind = if merges { Kind::Stuttering } else { Kind::Strong };
            match preserve {
                Some(Preserve::Reachability) => {
                    let colors = |graph: &Graph| graph.colors.iter().cloned().collect::<BTreeSet<_>>();
                    prop_assert!(colors(original) == colors(&small), "{}", what);
                }
                Some(Preserve::Deadlocks) => {
                    let has = |graph: &Graph| graph.steps.iter().any(Vec::is_empty);
                    prop_assert_eq!(has(original), has(&small), "{}", what);
                }
                _ => prop_assert!(are_equivalent(original, &small, kind), "{}", what),
            }
            if let (Some(taken), Some(all_taken)) = (taken(&smaller.system), &all_taken) {
                let taken = smaller.taken(&taken);
                prop_assert!(taken.is_none_or(|taken| taken == *all_taken), "{}", what);
            }
            seen.compared.set(seen.compared.get() + 1);
            let [before, after] = seen.states.get();
            seen.states.set([before + original.steps.len(), after + small.steps.len()]);
            seen.larger.set(seen.larger.get() + u32::from(small.steps.len() > original.steps.len()));
            bring_back(system, &smaller, about, seen)
                .map_err(|error| TestCaseError::fail(format!("{what}: {error}")))?;
        }
    }
    Ok(())
}

#[test]
fn programs_keep_what_is_in_question() {
    let seen = Seen::default();
    run_cases(900, &program(), |program| {
        let (system, about) = program.build();
        check(&system, &about, &seen)
    });
    assert_met!(seen.rules.get().iter().all(|count| *count > 1000), "{:?}", seen.rules.get());
    assert_met!(seen.compared.get() > 50_000, "{:?}", seen.compared);
    let [before, after] = seen.states.get();
    assert_met!(after < before - before / 8, "{before} states, {after} afterwards");
    // What is not written any more keeps what it was, unless it is also reset.
    assert_met!(seen.larger.get() < seen.runs.get() / 100, "{:?} of {:?}", seen.larger, seen.runs);
    assert_met!(seen.runs.get() > 5000 && seen.cycles.get()[1] > 2000, "{:?} {:?}", seen.runs, seen.cycles);
}

/// A step that does something.
fn does(from: i64, to: i64, deeds: &[Deed]) -> Step {
    Step {
        from,
        or_from: None,
        to: Some(to),
        guard: None,
        otherwise: None,
        by_expr: false,
        deeds: deeds.to_vec(),
        goes_on: false,
        with: None,
    }
}

/// Programs in which a step would be merged or a variable be reset if one condition were missing.
#[test]
fn what_somebody_notices_is_not_changed() {
    let (x, z, g) = (Who::Local(0), Who::Local(1), Who::Global(0));
    let one = |who: Who| Deed::Assign(who, Value::Const(1));
    let copy = |to: Who, from: Who| Deed::Assign(to, Value::Of(from));
    let cases = [
        // Between its two steps, the other one can see what the second one writes.
        (
            vec![vec![does(0, 1, &[one(x)]), does(1, 2, &[one(g)])], vec![does(0, 1, &[copy(x, g)])]],
            vec![0, 1],
        ),
        // Between its two steps, the other one can write what the second one reads.
        (
            vec![
                vec![does(0, 1, &[one(x)]), does(1, 2, &[copy(z, g)]), does(2, 3, &[copy(x, z)])],
                vec![does(0, 1, &[one(g)])],
            ],
            vec![0],
        ),
        // Both write it: who comes last is seen.
        (
            vec![
                vec![does(0, 1, &[one(x)]), does(1, 2, &[Deed::Assign(g, Value::Const(0))])],
                vec![does(0, 1, &[one(g)]), does(1, 2, &[copy(x, g)])],
            ],
            vec![0, 1],
        ),
    ];
    for (processes, about) in cases {
        let about = about.into_iter().map(|process| (process, x, 1)).collect();
        let (system, about) = plain(processes, about, false).build();
        check(&system, &about, &Seen::default()).unwrap();
    }
}

/// A program whose variables begin with 0.
fn plain(processes: Vec<Vec<Step>>, about: Vec<(usize, Who, i64)>, with_chains: bool) -> Program {
    let (initial, with_rounds, with_assertions) = (vec![0; 12], false, false);
    Program { processes, about, initial, with_chains, with_rounds, with_assertions }
}

/// Programs in which a choice would be part of the step before if one condition were missing: what a process waits for,
/// what it reads and what it writes there is its own, one step at most is possible, nobody else moves it away from there,
/// and the step ends, as does the one before.
#[test]
fn choices_that_somebody_notices_are_not_changed() {
    let (x, z, g) = (Who::Local(0), Who::Local(1), Who::Global(0));
    let one = |who: Who| Deed::Assign(who, Value::Const(1));
    let copy = |to: Who, from: Who| Deed::Assign(to, Value::Of(from));
    let choice =
        |who: Who, deeds: &[Deed]| Step { guard: Some((who, 0)), otherwise: Some(3), ..does(1, 2, deeds) };
    // It says that it is there, and what it has seen.
    let looks = vec![does(0, 1, &[copy(x, g), one(z)])];
    let writes = vec![does(0, 1, &[one(g)])];
    let begins = does(0, 1, &[one(x)]);
    let (of_both, of_one) = (vec![(0, x, 1), (1, x, 1), (1, z, 1)], vec![(0, x, 1), (0, z, 1), (0, g, 1)]);
    let cases = [
        (
            "the other one writes what it waits for",
            vec![vec![begins.clone(), choice(g, &[]), does(2, 4, &[one(z)])], writes.clone()],
            of_one.clone(),
        ),
        (
            "the other one writes what it reads",
            vec![vec![begins.clone(), choice(z, &[copy(z, g)]), does(2, 3, &[copy(x, z)])], writes],
            vec![(0, x, 1), (0, g, 1)],
        ),
        (
            "the other one reads what it writes",
            vec![vec![begins.clone(), choice(z, &[one(g)])], looks.clone()],
            of_both.clone(),
        ),
        ("what it writes is in question", vec![vec![begins.clone(), choice(z, &[one(z)])]], of_one.clone()),
        (
            "both steps are possible",
            vec![vec![begins.clone(), does(1, 2, &[]), does(1, 3, &[]), does(2, 4, &[one(z)])]],
            of_one.clone(),
        ),
        (
            "the other one takes it away",
            vec![
                vec![begins.clone(), choice(z, &[one(z)]), does(4, 3, &[copy(x, z)])],
                vec![Step { with: Some((0, None, 4)), ..does(0, 1, &[one(z)]) }],
            ],
            vec![(0, x, 1), (1, z, 1)],
        ),
        (
            "it goes on from there",
            vec![vec![begins, Step { goes_on: true, ..choice(z, &[]) }, does(2, 3, &[one(g)])], looks],
            of_both,
        ),
        (
            "somebody else goes on",
            vec![
                vec![
                    Step { goes_on: true, with: Some((1, Some(0), 1)), ..does(0, 1, &[one(x)]) },
                    does(1, 2, &[one(z)]),
                ],
                vec![choice(z, &[])],
            ],
            of_one,
        ),
    ];
    for (what, processes, about) in cases {
        let (system, about) = plain(processes, about, true).build();
        if let Err(error) = check(&system, &about, &Seen::default()) {
            panic!("{what}: {error}");
        }
    }
}

/// Steps out of one place, of which several may be possible though it does not look like that; or one of which somebody
/// sees that the process is there.
#[test]
fn what_seems_to_be_no_choice_is_not_merged() {
    use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Or};
    type Make = fn(&mut Builder, VarId) -> Vec<Guard>;
    fn truth(builder: &mut Builder, op: BinaryOp, var: VarId, value: i64) -> ExprId {
        let (var, value) = (builder.exprs.var(var), builder.exprs.int(value));
        builder.exprs.binary(op, var, value)
    }
    let cases: [(&str, Make, bool, bool); 10] = [
        (
            "the same expression",
            |b, z| [Eq, Eq].map(|op| Guard::True(truth(b, op, z, 0))).into(),
            false,
            false,
        ),
        (
            "less is less or equal",
            |b, z| [Lt, Le].map(|op| Guard::True(truth(b, op, z, 1))).into(),
            false,
            false,
        ),
        (
            "the other way round",
            |b, z| {
                let (z, one) = (b.exprs.var(z), b.exprs.int(1));
                let sides = [b.exprs.binary(Lt, z, one), b.exprs.binary(Gt, one, z)];
                sides.map(Guard::True).into()
            },
            false,
            false,
        ),
        (
            "not less is greater or equal",
            |b, z| {
                let less = truth(b, Lt, z, 1);
                vec![Guard::True(b.exprs.unary(UnaryOp::Not, less)), Guard::True(truth(b, Ge, z, 1))]
            },
            false,
            false,
        ),
        (
            "one of two",
            |b, z| {
                let (zero, one) = (truth(b, Eq, z, 0), truth(b, Eq, z, 1));
                vec![Guard::True(b.exprs.binary(Or, zero, one)), Guard::True(one)]
            },
            false,
            false,
        ),
        (
            "not both of two",
            |b, z| {
                let (low, high) = (truth(b, Le, z, 2), truth(b, Ge, z, 1));
                let both = b.exprs.binary(And, low, high);
                vec![Guard::True(b.exprs.unary(UnaryOp::Not, both)), Guard::True(truth(b, Lt, z, 1))]
            },
            false,
            false,
        ),
        ("sets", |_, z| vec![Guard::one_of(z, [0, 2]), Guard::one_of(z, [2, 3])], false, false),
        ("many", |_, z| (0..9).chain([0]).map(|value| Guard::equals(z, value)).collect(), false, false),
        ("it can do something else", |_, z| vec![Guard::equals(z, 0), Guard::one_of(z, 1..9)], true, false),
        ("the place is in question", |_, z| vec![Guard::equals(z, 0), Guard::one_of(z, 1..9)], false, true),
    ];
    for (what, make, does_else, asks_place) in cases {
        let mut builder = Builder::new();
        let owners = vec![builder.process("p")];
        let [at, z, x, y] = [("at", 4), ("z", 8), ("x", 1), ("y", 1)]
            .map(|(name, hi)| builder.variable(Variable::new(name, 0, hi)));
        let label = builder.label("step");
        let add = |builder: &mut Builder, guards: Vec<Guard>, effect: Vec<Stmt>| {
            let guards = guards.into_iter().map(|guard| builder.guard(guard)).collect();
            builder.action(Action { label, guards, effect, owners: owners.clone() });
        };
        add(&mut builder, vec![Guard::equals(at, 0)], vec![Stmt::Set(at, 1), Stmt::Set(y, 1)]);
        let guards = make(&mut builder, z);
        let last = guards.len() - 1;
        for (nth, guard) in guards.into_iter().enumerate() {
            let to = if nth == last { 3 } else { 2 };
            add(&mut builder, vec![Guard::equals(at, 1), guard], vec![Stmt::Set(at, to)]);
        }
        add(&mut builder, vec![Guard::equals(at, 3)], vec![Stmt::Set(at, 4), Stmt::Set(x, 1)]);
        if does_else {
            add(&mut builder, vec![Guard::equals(z, 0)], vec![Stmt::Set(z, 1)]);
        }
        let [is_x, is_y] = [x, y].map(|var| truth(&mut builder, Eq, var, 1));
        let is_there = truth(&mut builder, Eq, at, 1);
        (0..9).for_each(|value| builder.initial(&[0, value, 0, 0]));
        let mut system = builder.finish().unwrap();
        let about: Vec<ExprId> = [is_x, is_y].into_iter().chain(asks_place.then_some(is_there)).collect();
        about.iter().for_each(|&expr| _ = system.add_proposition("", expr));
        if let Err(error) = check(&system, &about, &Seen::default()) {
            panic!("{what}: {error}");
        }
    }
}

/// A step that may start from two places, and goes round at one of them: a chain through both would not end.
#[test]
fn rounds_of_choices_are_left() {
    let choice =
        Step { or_from: Some(1), guard: Some((Who::Local(0), 0)), otherwise: Some(0), ..does(3, 0, &[]) };
    let (system, about) = plain(vec![vec![does(0, 1, &[]), choice]], Vec::new(), false).build();
    let seen = Seen::default();
    check(&system, &about, &seen).unwrap();
    assert!(seen.rules.get()[5] > 0, "choices are merged: {:?}", seen.rules);
}

/// Steps that begin with the same action and lead to the same values, but for who goes on alone afterwards: a run that
/// is brought back takes the one that was taken.
#[test]
fn who_goes_on_alone_is_brought_back() {
    // Two processes count from 0 to 2; the first one decides how.
    let at = |value: i64, to: i64| (vec![GuardRecipe::Member(0, vec![value])], vec![StmtRecipe::Set(0, to)]);
    let cases = [
        // Either of them goes round at 2.
        ("both", vec![at(0, 1), at(1, 2), at(1, 2), at(2, 2), at(2, 2)], vec![0, 0, 0, 1, 0], {
            vec![(0, 0), (1, 1), (2, 0), (3, 1), (4, 0)]
        }),
        // The first one goes round at 2, or nobody goes on there, and the second one counts from there to 0.
        ("nobody", vec![at(0, 1), at(1, 2), at(1, 2), at(2, 2), at(2, 0)], vec![0, 0, 0, 0, 1], {
            vec![(0, 0), (1, 0), (3, 0)]
        }),
    ];
    for (what, actions, owners, goes_on) in cases {
        let recipe = systems::Recipe {
            is_tame: true,
            // The second variable is constant.
            ranges: vec![(0, 2), (0, 1)],
            actions,
            propositions: Vec::new(),
            initial: vec![vec![0, 0]],
            owners,
            goes_on,
            quiet: Vec::new(),
            queue: Vec::new(),
        };
        let seen = Seen::default();
        if let Err(error) = check(&recipe.build(), &[], &seen) {
            panic!("{what}: {error}");
        }
        assert!(seen.rules.get()[3] > 0 && seen.runs.get() > 0, "{what}: {:?}", seen.rules);
    }
}

#[test]
fn systems_of_any_kind_keep_what_is_in_question() {
    for recipes in [systems::recipe_with_chains().boxed(), systems::recipe(false).boxed()] {
        let seen = Seen::default();
        run_cases(800, &recipes, |recipe| {
            let system = recipe.build();
            let Ok(Some(space)) = naive::explore(&system, MAX_STATES) else { return Ok(()) };
            let exprs: Vec<ExprId> = system.propositions().iter().map(|known| known.expr).collect();
            let is_good = |&expr: &ExprId| {
                space.states.iter().all(|state| reference::value(&system, expr, state).is_ok())
            };
            let about: Vec<ExprId> = exprs.into_iter().filter(is_good).collect();
            check(&system, &about, &seen)
        });
        assert_met!(
            seen.rules.get().iter().filter(|count| **count > 100).count() >= 3,
            "{:?}",
            seen.rules.get()
        );
    }
}
