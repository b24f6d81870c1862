//! Searches on a device against the sequential search, on random systems: the device is this processor, with the same tables,
//! memory and driver as any other.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use base::device::{Device, Failure, Kernel, Memory, Orders};
use base::{Budget, Limit};
use check::device::CpuDevice;
use check::{Exact, Exploration, Goal, Stop, parallel, search};
use model::{Action, ActionSystem, Builder, Guard, Stmt, System as _, ValueSet, Variable};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::crew::Crew;
use stubborn_testing::{assert_met, naive, run_cases, systems};

const BYTES: u64 = 1 << 20;

fn alone(system: &ActionSystem, goals: &[Goal]) -> Exploration {
    let mut store = Exact::new(system.width(), u64::MAX);
    search::bfs::search(system, &mut store, goals, &mut Budget::unlimited())
}

fn on(device: &dyn Device, system: &ActionSystem, goals: &[Goal]) -> Exploration {
    parallel::bfs(system, goals, &mut Budget::unlimited().with_device(Some(device)))
}

/// A deadlock, and every proposition.
fn goals(system: &ActionSystem) -> Vec<Goal> {
    let invariants = (0..system.propositions().len()).map(Goal::Invariant);
    std::iter::once(Goal::Deadlock).chain(invariants).collect()
}

/// Compares everything that is found. Returns how many runs there were.
fn compare(system: &ActionSystem, device: &dyn Device) -> Result<u32, TestCaseError> {
    let all = goals(system);
    let mut n_runs = 0;
    for goals in [&[][..], &all[..1], &all[..]] {
        let (expected, found) = (alone(system, goals), on(device, system, goals));
        prop_assert_eq!(&expected.violations, &found.violations);
        prop_assert_eq!(&expected.faults, &found.faults);
        prop_assert_eq!(&expected.stop, &found.stop);
        n_runs += expected.violations.iter().flatten().count() as u32;
        if expected.stop.is_none() {
            let counts = |it: &Exploration| {
                (it.stats.states, it.stats.transitions, it.stats.deadlocks, it.stats.depth)
            };
            prop_assert_eq!(counts(&expected), counts(&found));
            prop_assert_eq!(&expected.taken, &found.taken);
        }
    }
    Ok(n_runs)
}

/// Tries random systems, narrow and wide; returns how many had more than three states, and how many runs there were.
fn try_all(
    n_cases: u32,
    recipes: &impl Strategy<Value = systems::Recipe>,
    device: &dyn Device,
) -> (u32, u32) {
    let (n_compared, n_runs) = (Cell::new(0u32), Cell::new(0u32));
    run_cases(n_cases, recipes, |mut recipe| {
        for is_wide in [false, true] {
            if is_wide {
                // Two more variables that fill two words each.
                recipe.ranges.extend([(-5, i64::MAX / 2); 2]);
                recipe.initial.iter_mut().for_each(|offsets| offsets.extend([3, 5]));
            }
            let system = recipe.build();
            // A system that goes on and on is not compared; one that goes wrong is.
            if let Ok(None) = naive::explore(&system, 300) {
                continue;
            }
            n_runs.set(n_runs.get() + compare(&system, device)?);
            n_compared.set(n_compared.get() + u32::from(alone(&system, &[]).stats.states > 3));
        }
        Ok(())
    });
    (n_compared.get(), n_runs.get())
}

#[test]
fn a_device_finds_what_the_sequential_search_finds() {
    let (n_compared, n_runs) = try_all(1000, &systems::recipe(true), &CpuDevice::new(BYTES));
    assert_met!(n_compared > 200 && n_runs > 500, "{n_compared} {n_runs}");
}

#[test]
fn a_device_finds_the_same_faults() {
    let (n_compared, n_runs) = try_all(1000, &systems::recipe(false), &CpuDevice::new(BYTES));
    assert_met!(n_compared > 50 && n_runs > 200, "{n_compared} {n_runs}");
}

#[test]
fn a_device_finds_the_same_with_chains_and_several_workers() {
    let crew = Crew(2);
    let device = CpuDevice::with_team(BYTES, &crew);
    let (n_compared, n_runs) = try_all(200, &systems::recipe_with_chains(), &device);
    assert_met!(n_compared > 40 && n_runs > 60, "{n_compared} {n_runs}");
}

/// Two counters, of which one may start again, in states with `n_idle` variables of two words beside them; it is
/// wrong that the first one gets to `wrong`.
fn counters([max, other_max]: [i64; 2], wrong: i64, n_idle: usize) -> ActionSystem {
    let mut builder = Builder::new();
    let owner = builder.process("P");
    let vars = [max, other_max].map(|max| builder.variable(Variable::new("x", 0, max)));
    for _ in 0..n_idle {
        builder.variable(Variable::new("idle", 0, i64::MAX - 1));
    }
    let label = builder.label("count");
    for (var, max) in vars.into_iter().zip([max, other_max]) {
        let guards = vec![builder.guard(Guard::In(var, ValueSet::Range(0, max - 1)))];
        builder.action(Action { label, guards, effect: vec![Stmt::Add(var, 1)], owners: vec![owner] });
    }
    let guards = vec![builder.guard(Guard::equals(vars[1], other_max))];
    builder.action(Action { label, guards, effect: vec![Stmt::set(vars[1], 0)], owners: vec![owner] });
    builder.initial(&vec![0; 2 + n_idle]);
    let mut system = builder.finish().expect("it is a system");
    let (value, number) = (system.exprs.var(vars[0]), system.exprs.int(wrong));
    let expr = system.exprs.binary(model::BinaryOp::Ne, value, number);
    system.add_proposition("not there", expr);
    system
}

#[test]
fn runs_that_are_longer_than_there_are_codes() {
    for n_idle in [0, 1, 7] {
        let system = counters([600, 2], 590, n_idle);
        let device = CpuDevice::new(BYTES);
        let (expected, found) =
            (alone(&system, &[Goal::Invariant(0)]), on(&device, &system, &[Goal::Invariant(0)]));
        assert_eq!(expected.violations, found.violations);
        assert_eq!(found.violations[0].as_ref().map(|run| run.actions.len()), Some(590));
    }
}

#[test]
fn a_full_table_is_a_limit() {
    for n_idle in [0, 3] {
        let system = counters([500, 500], 600, n_idle);
        let found = on(&CpuDevice::new(1 << 20), &system, &[Goal::Invariant(0)]);
        assert!(matches!(found.stop, Some(Stop::Limit(Limit::DeviceMemory(_)))), "{:?}", found.stop);
        assert_eq!(found.found(0), None);
        let found = on(&CpuDevice::new(1000), &system, &[]);
        assert!(matches!(found.stop, Some(Stop::Limit(Limit::DeviceMemory(_)))), "{:?}", found.stop);
    }
}

/// A device that is taken away after so many launches.
struct Leaving {
    inner: CpuDevice<'static>,
    left: AtomicU64,
}

impl Device for Leaving {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn free_bytes(&self) -> Result<u64, Failure> {
        self.inner.free_bytes()
    }

    fn take(&self, n_words: u64) -> Result<Box<dyn Memory + '_>, Failure> {
        Ok(Box::new(LeavingMemory { inner: self.inner.take(n_words)?, device: self }))
    }
}

struct LeavingMemory<'d> {
    inner: Box<dyn Memory + 'd>,
    device: &'d Leaving,
}

impl Memory for LeavingMemory<'_> {
    fn write(&mut self, at: u64, words: &[u64]) -> Result<(), Failure> {
        self.inner.write(at, words)
    }

    fn read(&mut self, at: u64, words: &mut [u64]) -> Result<(), Failure> {
        self.inner.read(at, words)
    }

    fn fill(&mut self, at: u64, n_words: u64, byte: u8) -> Result<(), Failure> {
        self.inner.fill(at, n_words, byte)
    }

    fn launch(&mut self, kernel: Kernel, n: u64, orders: Orders) -> Result<(), Failure> {
        let left = self.device.left.load(Ordering::Relaxed).checked_sub(1);
        self.device.left.store(left.ok_or_else(|| Failure("gone".to_owned()))?, Ordering::Relaxed);
        self.inner.launch(kernel, n, orders)
    }
}

#[test]
fn a_device_that_is_taken_away_gives_no_answer() {
    let system = counters([20, 20], 15, 0);
    let complete = on(&CpuDevice::new(BYTES), &system, &[Goal::Invariant(0)]);
    assert_eq!(complete.found(0), Some(true));
    let mut n_lost = 0;
    for left in 0.. {
        let device = Leaving { inner: CpuDevice::new(BYTES), left: AtomicU64::new(left) };
        let found = on(&device, &system, &[Goal::Invariant(0)]);
        if found.stop == complete.stop {
            assert_eq!(found.violations, complete.violations);
            break;
        }
        assert_eq!(found.stop, Some(Stop::Limit(Limit::Device)));
        assert_eq!(found.found(0), None);
        n_lost += 1;
    }
    assert!(n_lost > 30, "{n_lost}");
}
