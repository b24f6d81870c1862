//! A device is tried out before it is used: it searches some small systems, and must find what the processor finds.
//!
//! Runs that a device finds are replayed, so that a device that is wrong could never raise a false alarm. But if it lost states, it
//! could say that something holds. So a kernel that this card, or this driver, does not run as it should must be noticed before:
//! the systems have everything that tables can say, in narrow and in wide states, and enough states that lanes meet in the
//! table. Of products it is asked which runs there are that are fair to some processes, weakly and strongly.

use stubborn::automata::stutter::Proof;
use stubborn::automata::tester::{Edge, State};
use stubborn::automata::{Effort, Tester, translate};
use stubborn::base::device::{Device, Failure, Memory};
use stubborn::base::{Budget, Limit};
use stubborn::check::decide::{Claim, Decision, OnDevice, Refusal, Settings, TesterClaim};
use stubborn::check::fairness::Constraint;
use stubborn::check::method::{Method, ObserverKind, SearchKind};
use stubborn::check::reduced::Reduced;
use stubborn::check::reduction::Method::Guided;
use stubborn::check::{Exact, Exploration, Goal, parallel, search};
use stubborn::ltl::Formulas;
use stubborn::model::{
    Action, ActionId, ActionSystem, BinaryOp, BuildError, Builder, Guard, LabelId, Stmt, System as _,
    UnaryOp, ValueSet, Variable,
};

/// Lets a device search some systems.
///
/// # Errors
/// It failed, or found something else than the processor.
pub fn run(device: &dyn Device) -> Result<(), Failure> {
    for n_idle in [0, 1, 6] {
        let system = system(n_idle).map_err(|error| Failure(error.to_string()))?;
        let goals = [Goal::Invariant(0), Goal::Deadlock];
        for goals in [&goals[..], &[]] {
            let mut store = Exact::new(system.width(), u64::MAX);
            let expected = search::bfs::search(&system, &mut store, goals, &mut Budget::unlimited());
            let mut budget = Budget::unlimited().with_device(Some(device));
            let found = parallel::bfs(&system, goals, &mut budget);
            if !is_same(&expected, &found) || expected.stop.is_none() && expected.taken != found.taken {
                let message = format!(
                    "in a trial with states of {} bytes it found {} states, and the processor {}",
                    4 * system.width(),
                    found.stats.states,
                    expected.stats.states
                );
                return Err(Failure(message));
            }
        }
        if n_idle != 1 {
            products(&system, device)?;
        }
    }
    Ok(())
}

/// Lets a device leave something out.
///
/// # Errors
/// It failed, or left out something else than the processor.
pub fn sets(device: &dyn Device) -> Result<(), Failure> {
    let device = OnTrial(device);
    let failed = |error: &dyn std::fmt::Display| Failure(error.to_string());
    for n_idle in [0, 6] {
        let rings = [false, true].map(|is_safe| ring(n_idle, is_safe));
        for system in rings.into_iter().chain([system(n_idle)]) {
            let system = system.map_err(|error| failed(&error))?;
            for goal in [Goal::Deadlock, Goal::Invariant(0)] {
                let (expected, found) = leave_out(&system, goal, &device).map_err(|error| failed(&error))?;
                if !is_same(&expected, &found) {
                    let message = format!(
                        "in a trial with states of {} bytes it kept {} states, and the processor {}",
                        4 * system.width(),
                        found.stats.states,
                        expected.stats.states
                    );
                    return Err(Failure(message));
                }
            }
        }
    }
    Ok(())
}

/// What the processor finds by sets that depend on the state alone, and what a device finds. (The processor looks at left-out steps now and
/// then, so it may say of more actions that they happened.)
fn leave_out(
    system: &ActionSystem,
    goal: Goal,
    device: &dyn Device,
) -> Result<(Exploration, Exploration), Limit> {
    let mut budget = Budget::unlimited().with_device(Some(device));
    let reduced = match goal {
        Goal::Deadlock => Reduced::for_deadlocks(system, &mut budget)?,
        Goal::Invariant(number) => Reduced::for_invariant(system, number, &mut budget)?,
    };
    let reduced = reduced.by_state_alone(&mut budget)?;
    let mut store = Exact::new(system.width(), u64::MAX);
    let expected = search::bfs::search(&reduced, &mut store, &[goal], &mut Budget::unlimited());
    Ok((expected, parallel::bfs(&reduced, &[goal], &mut budget)))
}

/// Lets a device leave something out of products.
///
/// # Errors
/// It failed, or left out something else than the processor.
pub fn guided(device: &dyn Device) -> Result<(), Failure> {
    let device = OnTrial(device);
    let mut n_led = 0;
    for n_idle in [0, 6] {
        for is_safe in [false, true] {
            let system = ring(n_idle, is_safe).map_err(|error| Failure(error.to_string()))?;
            for kind in 0..3 {
                n_led += by_tester(&system, kind, &device)?;
                n_led += by_formula(&system, kind, &device)?;
            }
        }
    }
    // What is found to be on a cycle is left to the processor, and compared with nothing.
    if n_led < 8 { Err(Failure("in a trial it left products to the processor".to_owned())) } else { Ok(()) }
}

/// Those who share are watched: they must not take turns for ever without anybody who counts; or come to an end; or it must not happen that
/// one of them counts twice.
fn by_tester(system: &ActionSystem, kind: usize, device: &dyn Device) -> Result<u32, Failure> {
    let state = |name: &str| State { name: name.to_owned(), ..State::default() };
    let mut states = [state("first"), state("then"), state("twice")];
    let edge = |from, letter, to| Edge { from, letter: Some(letter), to };
    let mut edges = vec![edge(0, 0, 1), edge(1, 0, 1), edge(0, 1, 0), edge(1, 1, 0)];
    match kind {
        0 => states[1].livelock = true,
        1 => states.iter_mut().for_each(|state| state.deadlock = true),
        _ => {
            edges.push(edge(1, 0, 2));
            states[2].reject = true;
        }
    }
    let tester = Tester {
        letters: ["count", "return"].map(str::to_owned).to_vec(),
        states: states.to_vec(),
        initial: 0,
        edges,
    };
    let labels: Vec<LabelId> = [1, 2].map(LabelId::new).to_vec();
    let claim = TesterClaim::new(&tester, &labels);
    let method = Method::new(ObserverKind::Tester, SearchKind::OnePass, Some(Guided));
    compare_led(true, device, |settings, budget| claim.search(system, method, settings, budget))
}

/// What is far is near again some day, for ever, or never any more.
fn by_formula(system: &ActionSystem, kind: usize, device: &dyn Device) -> Result<u32, Failure> {
    let mut formulas = Formulas::new();
    let prop = formulas.proposition("not both neighbors");
    let apart = formulas.prop(prop);
    let both = formulas.not(apart);
    let formula = match kind {
        0 => formulas.finally(both),
        1 => {
            let always = formulas.globally(both);
            formulas.finally(always)
        }
        _ => {
            let later = formulas.finally(both);
            let later = formulas.and([apart, later]);
            formulas.finally(later)
        }
    };
    let failed = |error: &dyn std::fmt::Display| Failure(error.to_string());
    let proof = Proof::of_next_free(&formulas, formula);
    let tgba = translate(&mut formulas, formula, Effort::High, &mut Budget::unlimited());
    let mut claim = Claim::new(tgba.map_err(|error| failed(&error))?, vec![(prop, 0)], proof);
    let method = Method::new(ObserverKind::Ta, SearchKind::TwoPass, Some(Guided));
    compare_led(false, device, |settings, budget| claim.search(system, method, settings, budget))
}

/// Lets a device decide something, and the processor by the same sets; says whether the device did.
fn compare_led(
    has_one_pass: bool,
    device: &dyn Device,
    mut decide: impl FnMut(&Settings<'_>, &mut Budget<'_>) -> Result<Decision, Refusal>,
) -> Result<u32, Failure> {
    let failed = |error: Refusal| Failure(error.to_string());
    let settings = Settings { by_state_alone: true, ..Settings::default() };
    let expected = decide(&settings, &mut Budget::unlimited()).map_err(failed)?;
    let settings = Settings { reduces: true, ..Settings::default() };
    let mut budget = Budget::unlimited().with_device(Some(device));
    let found = decide(&settings, &mut budget).map_err(failed)?;
    let is_led = found.on_device == Some(OnDevice::Led);
    let states = |it: &Decision| it.outcome.stats.states;
    // A second pass counts steps again.
    let steps = |it: &Decision| if has_one_pass { it.outcome.stats.transitions } else { 0 };
    let is_same = match expected.outcome.found() {
        Some(false) => is_led && states(&expected) == states(&found) && steps(&expected) == steps(&found),
        is_found => is_found == found.outcome.found(),
    };
    if !is_same {
        let (found, expected) = (states(&found), states(&expected));
        let message = format!("in a trial it kept {found} states of a product, and the processor {expected}");
        return Err(Failure(message));
    }
    Ok(is_led.into())
}

/// A device that is used although it was not tried yet.
struct OnTrial<'d>(&'d dyn Device);

impl Device for OnTrial<'_> {
    fn name(&self) -> String {
        self.0.name()
    }

    fn free_bytes(&self) -> Result<u64, Failure> {
        self.0.free_bytes()
    }

    fn take(&self, n_words: u64) -> Result<Box<dyn Memory + '_>, Failure> {
        self.0.take(n_words)
    }
}

/// Lets a device search products; says how often it found that there is no run.
fn products(system: &ActionSystem, device: &dyn Device) -> Result<u32, Failure> {
    let mut n_empty = 0;
    for is_steady in [false, true] {
        let mut formulas = Formulas::new();
        let prop = formulas.proposition("not far");
        let near = formulas.prop(prop);
        // In the end, every step leads from near to far or back; or none does.
        let next = formulas.next(near);
        let now = if is_steady { formulas.equivalent(near, next) } else { formulas.xor(near, next) };
        let always = formulas.globally(now);
        let formula = formulas.finally(always);
        let failed = |error: &dyn std::fmt::Display| Failure(error.to_string());
        let tgba = translate(&mut formulas, formula, Effort::High, &mut Budget::unlimited());
        let mut claim = Claim::new(tgba.map_err(|error| failed(&error))?, vec![(prop, 0)], None);
        let takes_part = |action: ActionId, process: usize| {
            system.action(action).owners.iter().any(|owner| owner.index() == process)
        };
        let actions = || (0..system.actions().len()).map(ActionId::new);
        let fairness = [0, 1, 2].map(|process| {
            Constraint::new(process > 0, actions().filter(|&it| takes_part(it, process)).collect())
        });
        let method = Method::new(ObserverKind::Tgba, SearchKind::Scc, None);
        let settings = Settings { fairness: &fairness, ..Settings::default() };
        let mut decide = |device: Option<&dyn Device>| -> Result<Decision, Failure> {
            let mut budget = Budget::unlimited().with_device(device);
            claim.search(system, method, &settings, &mut budget).map_err(|error| failed(&error))
        };
        let (expected, found) = (decide(None)?, decide(Some(device))?);
        let counts = |it: &Decision| (it.outcome.stats.states, it.outcome.stats.transitions);
        let has_run = expected.outcome.found() == Some(true);
        let is_decided = found.on_device == Some(OnDevice::Decided);
        if is_decided == has_run || !has_run && counts(&expected) != counts(&found) {
            return Err(Failure("in a trial it found other fair runs than the processor".to_owned()));
        }
        n_empty += u32::from(!has_run);
    }
    Ok(n_empty)
}

fn is_same(expected: &Exploration, found: &Exploration) -> bool {
    let counts =
        |it: &Exploration| (it.stats.states, it.stats.transitions, it.stats.deadlocks, it.stats.depth);
    expected.stop == found.stop
        && expected.violations == found.violations
        && (expected.stop.is_some() || counts(expected) == counts(found))
}

/// Six who share what is between two neighbors, and count what they do. If it `is_safe`, one of them takes it the other way round, and it
/// never happens that nobody can go on; that more than a half of them have both is impossible.
fn ring(n_idle: usize, is_safe: bool) -> Result<ActionSystem, BuildError> {
    const N: usize = 6;
    let mut builder = Builder::new();
    let [label, count, back] = ["step", "count", "return"].map(|name| builder.label(name));
    let places: Vec<_> = (0..N).map(|_| builder.variable(Variable::new("at", 0, 3))).collect();
    let shared: Vec<_> = (0..N).map(|_| builder.variable(Variable::new("free", 0, 1))).collect();
    let counters: Vec<_> = (0..2).map(|_| builder.variable(Variable::new("count", 0, 1))).collect();
    let apart: Vec<_> = (0..2).map(|_| builder.variable(Variable::new("apart", 0, 3))).collect();
    for _ in 0..n_idle {
        builder.variable(Variable::new("idle", -7, i64::MAX - 9));
    }
    // Two others, whose steps can be left out, or taken first.
    for &var in &apart {
        let owner = builder.process("apart");
        let guards = vec![builder.guard(Guard::In(var, ValueSet::Range(0, 2)))];
        builder.action(Action { label, guards, effect: vec![Stmt::Add(var, 1)], owners: vec![owner] });
    }
    for number in 0..N {
        let process = builder.process(format!("P{number}"));
        let (mut one, mut other) = (shared[number], shared[(number + 1) % N]);
        if is_safe && number == 0 {
            (one, other) = (other, one);
        }
        let (at, counter) = (places[number], counters[number % 2]);
        let is_low = {
            let (value, one) = (builder.exprs.var(counter), builder.exprs.int(1));
            builder.exprs.binary(BinaryOp::Lt, value, one)
        };
        let mut step = |from: i64, guards: Vec<Guard>, effect: Vec<Stmt>| {
            // One of them is watched.
            let label = match (number, from) {
                (3, 2) => count,
                (3, 3) => back,
                _ => label,
            };
            let guards = std::iter::once(Guard::equals(at, from)).chain(guards);
            let guards = guards.map(|guard| builder.guard(guard)).collect();
            let effect = std::iter::once(Stmt::set(at, (from + 1) % 4)).chain(effect).collect();
            builder.action(Action { label, guards, effect, owners: vec![process] });
        };
        step(0, vec![Guard::equals(one, 0)], vec![Stmt::set(one, 1)]);
        step(1, vec![Guard::equals(other, 0)], vec![Stmt::set(other, 1)]);
        // Together with who counts in the same place, too.
        step(2, vec![Guard::True(is_low)], vec![Stmt::Add(counter, 1)]);
        let leave = vec![Stmt::Add(counter, -1), Stmt::set(one, 0), Stmt::set(other, 0)];
        step(3, Vec::new(), leave);
    }
    builder.initial(&[vec![0; 2 * N + 4], vec![-7; n_idle]].concat());
    let mut system = builder.finish()?;
    // Nobody has to count for that: who has both is at 2 or 3.
    let two = system.exprs.int(2);
    let both: Vec<_> = places
        .iter()
        .map(|&at| {
            let at = system.exprs.var(at);
            system.exprs.binary(BinaryOp::Ge, at, two)
        })
        .collect();
    let all = system.exprs.fold(BinaryOp::And, 1, &both[..2]);
    let expr = system.exprs.unary(UnaryOp::Not, all);
    system.add_proposition("not both neighbors", expr);
    Ok(system)
}

/// Five counters that wait for each other in many ways, with some variables of two words, of which the last one tells who
/// moved.
fn system(n_idle: usize) -> Result<ActionSystem, BuildError> {
    const TOP: i64 = 4;
    let mut builder = Builder::new();
    let processes = [0, 1, 2, 3, 4].map(|number| builder.process(format!("P{number}")));
    let vars = processes.map(|_| builder.variable(Variable::new("x", -1, TOP)));
    let large = builder.variable(Variable::new("large", 0, 210));
    for _ in 0..n_idle {
        builder.variable(Variable::new("idle", -7, i64::MAX - 9));
    }
    let last = (n_idle > 0).then(|| stubborn::model::VarId::new(vars.len() + n_idle));
    let label = builder.label("step");
    let (zero, two) = (builder.exprs.int(0), builder.exprs.int(2));
    for (number, (&var, &process)) in vars.iter().zip(&processes).enumerate() {
        let next = vars[(number + 1) % vars.len()];
        let (mine, other) = (builder.exprs.var(var), builder.exprs.var(next));
        let action = |builder: &mut Builder, guards: Vec<Guard>, effect: Vec<Stmt>| {
            let guards = guards.into_iter().map(|guard| builder.guard(guard)).collect();
            builder.action(Action { label, guards, effect, owners: vec![process] })
        };
        // Up, not too far before the next one; and along with it what is wide.
        let ahead = builder.exprs.binary(BinaryOp::Sub, mine, other);
        let is_near = builder.exprs.binary(BinaryOp::Le, ahead, two);
        let mut effect = vec![Stmt::Add(var, 1)];
        effect.extend(
            last.into_iter()
                .flat_map(|last| [Stmt::set(last, (1 << 40) + number as i64), Stmt::Add(last, 1 << 33)]),
        );
        let up = vec![Guard::In(var, ValueSet::Range(-1, TOP - 1)), Guard::True(is_near)];
        action(&mut builder, up, effect);
        // Down by half, if the next one is where that is allowed.
        let half = builder.exprs.binary(BinaryOp::Div, mine, two);
        let is_even = builder.exprs.binary(BinaryOp::Rem, mine, two);
        let is_even = builder.exprs.unary(UnaryOp::Not, is_even);
        let is_up = builder.exprs.binary(BinaryOp::Gt, mine, zero);
        let both = builder.exprs.binary(BinaryOp::And, is_up, is_even);
        let mut effect = vec![Stmt::If(both, vec![Stmt::assign(var, half)], vec![Stmt::set(var, -1)])];
        effect.extend(last.map(|last| Stmt::set(last, -7)));
        action(&mut builder, vec![Guard::one_of(next, [-1, 1, 2, 4]), Guard::equals(var, TOP)], effect);
    }
    // All start again together.
    let mut guards: Vec<Guard> = vars[..4].iter().map(|&var| Guard::equals(var, TOP)).collect();
    guards.push(Guard::one_of(large, [0, 70, 140]));
    let guards = guards.into_iter().map(|guard| builder.guard(guard)).collect();
    let map = (0..=TOP + 1).map(|number| Some((number * 3) % (TOP + 1)));
    let mut effect = vec![Stmt::Map(vars[0], map.collect()), Stmt::Add(large, 70), Stmt::set(vars[1], 0)];
    effect.extend(last.map(|last| Stmt::set(last, 0)));
    builder.action(Action { label, guards, effect, owners: processes.to_vec() });
    builder.initial(&[vec![0; vars.len() + 1], vec![-7; n_idle]].concat());
    let mut system = builder.finish()?;
    let sum: Vec<_> = vars.iter().map(|&var| system.exprs.var(var)).collect();
    let sum = system.exprs.fold(BinaryOp::Add, 0, &sum);
    let bound = system.exprs.int(4 * TOP - 3);
    let expr = system.exprs.binary(BinaryOp::Lt, sum, bound);
    system.add_proposition("not far", expr);
    Ok(system)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stubborn::base::device::{Kernel, Orders};
    use stubborn::check::device::{Counter, CpuDevice};

    #[test]
    fn the_processor_passes_and_meets_many_states() {
        assert_eq!(run(&CpuDevice::new(64 << 20)), Ok(()));
        let system = system(0).expect("it is a system");
        let mut store = Exact::new(system.width(), u64::MAX);
        let found = search::bfs::search(&system, &mut store, &[], &mut Budget::unlimited());
        assert!(found.stop.is_none(), "{:?}", found.stop);
        assert!(found.stats.states > 1000 && found.taken.iter().all(|&taken| taken), "{:?}", found.stats);
        assert_eq!(products(&system, &CpuDevice::new(64 << 20)), Ok(1));
    }

    #[test]
    fn the_processor_leaves_out_what_it_should() {
        let device = CpuDevice::new(64 << 20);
        assert_eq!(sets(&device), Ok(()));
        for (goal, is_reached) in [(Goal::Deadlock, false), (Goal::Invariant(0), false)] {
            let system = ring(0, true).expect("it is a system");
            let mut store = Exact::new(system.width(), u64::MAX);
            let all = search::bfs::search(&system, &mut store, &[], &mut Budget::unlimited());
            let (_, found) = leave_out(&system, goal, &device).expect("there is no limit");
            assert_eq!(found.violations[0].is_some(), is_reached);
            assert!(
                10 < found.stats.states && found.stats.states < all.stats.states / 2,
                "{:?}",
                found.stats
            );
        }
        let (_, found) = leave_out(&ring(6, false).expect("it is a system"), Goal::Deadlock, &device)
            .expect("there is no limit");
        assert!(found.violations[0].is_some());
    }

    #[test]
    fn the_processor_is_led_where_it_should_be() {
        let device = CpuDevice::new(64 << 20);
        assert_eq!(guided(&device), Ok(()));
        let system = ring(0, true).expect("it is a system");
        let led: Vec<u32> =
            (0..3).map(|kind| by_tester(&system, kind, &device).expect("it is the same")).collect();
        assert!(led.contains(&1), "{led:?}");
    }

    /// A device that forgets to count a step now and then.
    struct Forgetful(CpuDevice<'static>);
    struct ForgetfulMemory<'d>(Box<dyn Memory + 'd>, u64);

    impl Device for Forgetful {
        fn name(&self) -> String {
            self.0.name()
        }
        fn free_bytes(&self) -> Result<u64, Failure> {
            self.0.free_bytes()
        }
        fn take(&self, n_words: u64) -> Result<Box<dyn Memory + '_>, Failure> {
            Ok(Box::new(ForgetfulMemory(self.0.take(n_words)?, 0)))
        }
    }

    impl Memory for ForgetfulMemory<'_> {
        fn write(&mut self, at: u64, words: &[u64]) -> Result<(), Failure> {
            self.0.write(at, words)
        }
        fn read(&mut self, at: u64, words: &mut [u64]) -> Result<(), Failure> {
            self.0.read(at, words)
        }
        fn fill(&mut self, at: u64, n_words: u64, byte: u8) -> Result<(), Failure> {
            self.0.fill(at, n_words, byte)
        }
        fn launch(&mut self, kernel: Kernel, n: u64, orders: Orders) -> Result<(), Failure> {
            self.0.launch(kernel, n, orders)?;
            self.1 += 1;
            if self.1.is_multiple_of(10) {
                let mut steps = [0];
                self.0.read(Counter::Transitions as u64, &mut steps)?;
                self.0.write(Counter::Transitions as u64, &[steps[0].saturating_sub(1)])?;
            }
            Ok(())
        }
    }

    #[test]
    fn a_device_that_loses_something_does_not_pass() {
        assert!(run(&Forgetful(CpuDevice::new(64 << 20))).is_err());
        assert!(sets(&Forgetful(CpuDevice::new(64 << 20))).is_err());
        assert!(guided(&Forgetful(CpuDevice::new(64 << 20))).is_err());
    }
}
