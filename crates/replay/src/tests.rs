//! What the judge accepts, what it rejects, and what it needs for that.

use std::collections::BTreeSet;

use automata::Tester;
use automata::tester::{Edge, State};
use base::budget::Patience;
use fastrand::Rng;
use model::fairness::Kind;
use model::{Action, ActionId, Builder, Guard, ProcessId, Stmt, VarId, Variable};

use super::*;

/// x counts to n and stops.
fn counter(n: i64) -> (ActionSystem, ActionId) {
    counter_by(n, false)
}

/// The same, by steps of one or all at once.
fn counter_by(n: i64, at_once: bool) -> (ActionSystem, ActionId) {
    let mut builder = Builder::new();
    let owner = builder.process("counter");
    let x = builder.variable(Variable::new("x", 0, n));
    let below = builder.guard(Guard::one_of(x, 0..n));
    let label = builder.label("tick");
    let tick = Action { label, guards: vec![below], effect: vec![Stmt::Add(x, 1)], owners: vec![owner] };
    let tick = builder.action(tick);
    if at_once {
        builder.goes_on(tick, owner);
    }
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
    let x = system.exprs.var(VarId::new(0));
    assert!(shows(&system, Question::Violates(x), &run(0)).is_ok());
    assert!(shows(&system, Question::Violates(x), &run(1)).is_err());
    assert!(shows(&system, Question::Fault(Fault::Overflow), &run(0)).is_err());
}

/// A prefix is judged by what must be so whatever follows, a cycle by whether it is one.
#[test]
fn words_are_judged_by_how_they_go_on() {
    let (mut system, tick) = counter(1);
    let is_one = system.exprs.var(VarId::new(0));
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

/// A step may consist of millions of actions: nobody waits for that longer, or keeps more of it, than the budget allows.
#[test]
fn a_step_that_takes_long_is_not_judged_for_ever() {
    let (system, tick) = counter_by(1_000_000, true);
    let question = Question::Fault(Fault::Endless);
    let judged = |actions: Vec<ActionId>, max_bytes: u64, polls: u64| {
        let run = Run { initial: 0, actions };
        let patience = Patience::new(polls);
        let mut budget = Budget::new(u64::MAX, max_bytes, &patience);
        judge(&system, &question, &Evidence::new(&run, Ending::Open), &mut budget).unwrap_err()
    };
    for actions in [vec![], vec![tick]] {
        assert!(matches!(judged(actions.clone(), 1_000_000, u64::MAX), Doubt::Limit(Limit::Memory(_))));
        assert_eq!(judged(actions, u64::MAX, 5), Doubt::Limit(Limit::Interrupt));
    }
}

/// A ring of actions with these labels.
fn ring(letters: &[Option<u32>]) -> (ActionSystem, Vec<LabelId>) {
    let mut builder = Builder::new();
    let owner = builder.process("ring");
    let n = letters.len() as i64;
    let x = builder.variable(Variable::new("x", 0, n - 1));
    let labels = vec![builder.label("a"), builder.label("b")];
    let hidden = builder.label("hidden");
    for (at, letter) in (0..n).zip(letters) {
        let guards = vec![builder.guard(Guard::equals(x, at))];
        let label = letter.map_or(hidden, |letter| labels[letter as usize]);
        let effect = vec![Stmt::set(x, (at + 1) % n)];
        builder.action(Action { label, guards, effect, owners: vec![owner] });
    }
    builder.initial(&[0]);
    (builder.finish().unwrap(), labels)
}

fn random_tester(random: &mut Rng) -> Tester {
    let n = random.u32(1..5);
    let mut state = |number: u32| State {
        name: number.to_string(),
        reject: random.u8(0..4) == 0,
        deadlock: random.bool(),
        livelock: random.u8(0..3) == 0,
        infinite: random.u8(0..3) == 0,
    };
    let states = (0..n).map(&mut state).collect();
    let mut edge = || {
        let letter = [None, Some(0), Some(1)][random.usize(0..3)];
        Edge { from: random.u32(0..n), letter, to: random.u32(0..n) }
    };
    let edges = (0..6).map(|_| edge()).collect();
    Tester { letters: vec!["a".to_owned(), "b".to_owned()], states, initial: 0, edges }
}

/// The positions (state of the tester, step of the cycle) that can be reached from these, the obvious way.
fn reachable(
    tester: &Tester,
    cycle: &[Option<u32>],
    mut found: BTreeSet<(u32, usize)>,
) -> BTreeSet<(u32, usize)> {
    loop {
        let new: Vec<_> = found.iter().flat_map(|&at| moves(tester, cycle, at)).map(|(to, _)| to).collect();
        let n_before = found.len();
        found.extend(new);
        if found.len() == n_before {
            return found;
        }
    }
}

/// Where a position leads, and whether the tester moves.
fn moves(tester: &Tester, cycle: &[Option<u32>], (state, at): (u32, usize)) -> Vec<((u32, usize), bool)> {
    let next = (at + 1) % cycle.len();
    let its = tester.edges.iter().filter(|edge| edge.from == state);
    let mut moves: Vec<_> = its
        .filter_map(|edge| match edge.letter {
            None => Some(((edge.to, at), true)),
            letter => (letter == cycle[at]).then_some(((edge.to, next), true)),
        })
        .collect();
    if cycle[at].is_none() {
        moves.push(((state, next), false));
    }
    moves
}

/// The same as by looking at every position, and at all that it leads to.
#[test]
fn testers_are_judged_as_by_the_definition() {
    let mut random = Rng::with_seed(1993);
    let mut counts = [[0; 2]; 3];
    for _ in 0..3000 {
        let letters: Vec<_> =
            (0..random.usize(1..4)).map(|_| [None, Some(0), Some(1)][random.usize(0..3)]).collect();
        let tester = random_tester(&mut random);
        let (system, labels) = ring(&letters);
        let n = letters.len();
        let actions: Vec<ActionId> = (0..n).map(ActionId::new).collect();
        let run = Run { initial: 0, actions: [&actions[..], &actions[..]].concat() };
        // The tester along a line that never comes back.
        let line: Vec<Option<u32>> = [&letters[..], &letters[..], &[Some(u32::MAX)]].concat();
        let walk = reachable(&tester, &line, [(tester.initial, 0)].into());
        let after = |steps: usize| walk.iter().filter(move |at| at.1 == steps).map(|at| at.0);
        let state = |number: u32| &tester.states[number as usize];
        let positions = reachable(&tester, &letters, after(n).map(|state| (state, 0)).collect());
        let leaves_for_ever = |&at: &(u32, usize)| {
            let out = moves(&tester, &letters, at).into_iter().filter(|(_, is_move)| *is_move);
            state(at.0).infinite
                && reachable(&tester, &letters, out.map(|(to, _)| to).collect()).contains(&at)
        };
        let expected = [
            (TesterClaim::IllegalTrace, Ending::Open, after(2 * n).any(|at| state(at).reject)),
            (
                TesterClaim::Divergence,
                Ending::Cycle(n),
                letters.iter().all(Option::is_none) && after(n).any(|at| state(at).livelock),
            ),
            (TesterClaim::InfiniteTrace, Ending::Cycle(n), positions.iter().any(leaves_for_ever)),
        ];
        for (index, (claim, ending, is_so)) in expected.into_iter().enumerate() {
            let question = Question::Tester { tester: &tester, labels: &labels, claim };
            let evidence = Evidence::new(&run, ending);
            let judged = judge(&system, &question, &evidence, &mut Budget::unlimited());
            assert_eq!(judged.is_ok(), is_so, "{claim:?} of {tester:?} along {letters:?}");
            counts[index][usize::from(is_so)] += 1;
        }
    }
    assert!(counts.as_flattened().iter().all(|&count| count > 100), "{counts:?}");
}

/// Who is treated fairly is told from who is not.
#[test]
fn fairness_is_judged_by_the_cycle() {
    let mut builder = Builder::new();
    let owner = builder.process("P");
    let x = builder.variable(Variable::new("x", 0, 1));
    let mut add = |name: &str, at: Option<i64>, to: i64| {
        let guards = at.map(|at| builder.guard(Guard::equals(x, at))).into_iter().collect();
        let label = builder.label(name);
        builder.action(Action { label, guards, effect: vec![Stmt::set(x, to)], owners: vec![owner] })
    };
    let (up, down) = (add("up", Some(0), 1), add("down", Some(1), 0));
    let (sometimes, always) = (add("sometimes", Some(1), 1), add("always", None, 0));
    builder.initial(&[0]);
    let system = builder.finish().unwrap();
    let run = Run { initial: 0, actions: vec![up, down, up, down] };
    let fair = |kind, actions: Vec<ActionId>| {
        let subject = Subject::Action("it".to_owned());
        let constraints = [Constraint { subject, kind, actions }];
        let evidence = Evidence { run: &run, ending: Ending::Cycle(2), fair_to: &constraints };
        let judged = judge(&system, &Question::Possible, &evidence, &mut Budget::unlimited());
        judged.map(|judged| judged.fairness[0]).map_err(|doubt| doubt.to_string())
    };
    assert_eq!(fair(Kind::Strong, vec![up, always]), Ok(Reason::Taken(3)));
    assert_eq!(fair(Kind::Weak, vec![sometimes]), Ok(Reason::Disabled(2)));
    assert_eq!(fair(Kind::Strong, vec![sometimes]).unwrap_err(), "the run is not strongly fair to action it");
    assert_eq!(fair(Kind::Weak, vec![always]).unwrap_err(), "the run is not weakly fair to action it");
    assert_eq!(fair(Kind::Strong, vec![]), Ok(Reason::NeverEnabled));
}

/// A reader asks where a writer's variable is; who only writes is not kept from it by being read. What a process could
/// do instead of what it does is interfered with.
#[test]
fn justness_is_judged_by_what_interferes() {
    let mut builder = Builder::new();
    let [reader, writer, x] = ["R", "W", "X"].map(|name| builder.process(name));
    let [at_reader, at_writer, at_x] =
        ["r", "w", "x"].map(|name| builder.variable(Variable::new(name, 0, 1)));
    let mut add = |name: &str, at: &[(VarId, i64)], effect: Vec<Stmt>, owners: &[ProcessId]| {
        let guards = at.iter().map(|&(var, value)| builder.guard(Guard::equals(var, value))).collect();
        let label = builder.label(name);
        builder.action(Action { label, guards, effect, owners: owners.to_vec() })
    };
    let (move_on, back) = (vec![Stmt::set(at_reader, 1)], vec![Stmt::set(at_reader, 0)]);
    let read = add("read", &[(at_reader, 0), (at_x, 0)], move_on, &[reader, x]);
    let rest = add("rest", &[(at_reader, 1)], back, &[reader]);
    let stop = add("stop", &[(at_reader, 1)], Vec::new(), &[reader]);
    let set = vec![Stmt::set(at_writer, 1), Stmt::set(at_x, 1)];
    let write = add("write", &[(at_writer, 0), (at_x, 0)], set, &[writer, x]);
    let idle = add("idle", &[(at_writer, 0)], Vec::new(), &[writer]);
    builder.initial(&[0, 0, 0]);
    let system = builder.finish().unwrap();
    let just = |cycle: &[ActionId], actions: &[ActionId]| {
        let subject = Subject::Process("P".to_owned());
        let constraints = [Constraint { subject, kind: Kind::Just, actions: actions.to_vec() }];
        let run = Run { initial: 0, actions: cycle.to_vec() };
        let evidence = Evidence { run: &run, ending: Ending::Cycle(0), fair_to: &constraints };
        let judged = judge(&system, &Question::Possible, &evidence, &mut Budget::unlimited());
        judged.map(|judged| judged.fairness[0]).map_err(|doubt| doubt.to_string())
    };
    let not = Err("the run is not just to P".to_owned());
    assert_eq!(just(&[read, rest], &[read, rest]), Ok(Reason::Taken(1)));
    // The choice of a process is its own.
    assert_eq!(just(&[read, rest], &[stop]), Ok(Reason::Interfered(1)));
    assert_eq!(just(&[read, stop, rest], &[stop]), Ok(Reason::Taken(2)));
    // X is only asked, and nobody writes what the writer needs.
    assert_eq!(just(&[read, rest], &[write]), not);
    assert_eq!(just(&[read, rest], &[write, read]), not);
    // Who stays where it is acts all the same.
    assert_eq!(just(&[idle], &[write]), Ok(Reason::Interfered(1)));
    assert_eq!(just(&[idle], &[rest, stop]), Ok(Reason::NeverEnabled));
    assert_eq!(just(&[idle], &[read]), not);
}
