//! The kernel text for graphics processors, built by the C++ compiler of this machine and run by threads, against the sequential
//! search on random systems. Where there is no compiler, that is said and nothing is tested.
#![allow(clippy::print_stdout)] // What is skipped is said.

use std::cell::Cell;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use base::Budget;
use base::device::{Device, Failure, Kernel, Memory, Orders};
use check::decide::Settings;
use check::device::CpuDevice;
use check::method::{Method, ObserverKind, SearchKind};
use check::product::AtDeadlock;
use check::{Exact, Exploration, Goal, parallel, search};
use generators::random;
use model::{ActionSystem, Guard, System as _};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::claims::{Case, Draw};
use stubborn_testing::{assert_met, naive, networks, run_cases, systems};

/// A process that runs the kernels, with so many threads.
struct HostDevice {
    program: PathBuf,
    n_threads: usize,
}

struct HostMemory {
    child: Child,
}

impl Device for HostDevice {
    fn name(&self) -> String {
        "the compiler of this machine".to_owned()
    }

    fn free_bytes(&self) -> Result<u64, Failure> {
        Ok(1 << 20)
    }

    fn take(&self, n_words: u64) -> Result<Box<dyn Memory + '_>, Failure> {
        let mut command = Command::new(&self.program);
        command.arg(self.n_threads.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut memory = HostMemory { child: command.spawn().map_err(|error| failed(&error))? };
        memory.tell([0, n_words, 0, 0], &[])?;
        memory.hear(&mut [0])?;
        Ok(Box::new(memory))
    }
}

fn failed(error: &std::io::Error) -> Failure {
    Failure(error.to_string())
}

impl HostMemory {
    fn tell(&mut self, command: [u64; 4], words: &[u64]) -> Result<(), Failure> {
        let bytes: Vec<u8> = command.iter().chain(words).flat_map(|word| word.to_ne_bytes()).collect();
        let input = self.child.stdin.as_mut().ok_or_else(|| Failure("closed".to_owned()))?;
        input.write_all(&bytes).and_then(|()| input.flush()).map_err(|error| failed(&error))
    }

    fn hear(&mut self, words: &mut [u64]) -> Result<(), Failure> {
        let mut bytes = vec![0; 8 * words.len()];
        let output = self.child.stdout.as_mut().ok_or_else(|| Failure("closed".to_owned()))?;
        output.read_exact(&mut bytes).map_err(|error| failed(&error))?;
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        }
        Ok(())
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        _ = self.child.wait();
    }
}

impl Memory for HostMemory {
    fn write(&mut self, at: u64, words: &[u64]) -> Result<(), Failure> {
        self.tell([1, at, words.len() as u64, 0], words)?;
        self.hear(&mut [0])
    }

    fn read(&mut self, at: u64, words: &mut [u64]) -> Result<(), Failure> {
        self.tell([2, at, words.len() as u64, 0], &[])?;
        self.hear(words)
    }

    fn fill(&mut self, at: u64, n_words: u64, byte: u8) -> Result<(), Failure> {
        self.tell([3, at, n_words, byte.into()], &[])?;
        self.hear(&mut [0])
    }

    fn launch(&mut self, kernel: Kernel, n: u64, orders: Orders) -> Result<(), Failure> {
        self.tell([4, kernel as u64, n, 0], &orders)?;
        self.hear(&mut [0])
    }
}

/// Builds the kernels, once for each test; nothing if there is no compiler.
fn build(name: &str) -> Option<PathBuf> {
    let compiler = ["c++", "g++", "clang++"].into_iter().find(|compiler| {
        let mut asked = Command::new(compiler);
        asked
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|it| it.success())
    });
    let Some(compiler) = compiler else {
        println!("skipped: there is no C++ compiler");
        return None;
    };
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../gpu/kernel/host.cpp");
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut command = Command::new(compiler);
    command
        .args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"])
        .arg(&program)
        .arg(source);
    assert!(command.status().is_ok_and(|status| status.success()), "the kernels cannot be built");
    Some(program)
}

fn compare(system: &ActionSystem, device: &dyn Device) -> Result<u32, TestCaseError> {
    let invariants = (0..system.propositions().len()).map(Goal::Invariant);
    let goals: Vec<Goal> = std::iter::once(Goal::Deadlock).chain(invariants).collect();
    let mut n_runs = 0;
    for goals in [&[][..], &goals[..]] {
        let mut store = Exact::new(system.width(), u64::MAX);
        let expected = search::bfs::search(system, &mut store, goals, &mut Budget::unlimited());
        let found = parallel::bfs(system, goals, &mut Budget::unlimited().with_device(Some(device)));
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

fn try_all(
    n_cases: u32,
    recipes: &impl Strategy<Value = systems::Recipe>,
    device: &dyn Device,
) -> (u32, u32) {
    let (n_compared, n_runs) = (Cell::new(0u32), Cell::new(0u32));
    run_cases(n_cases, recipes, |mut recipe| {
        for is_wide in [false, true] {
            if is_wide {
                recipe.ranges.extend([(-5, i64::MAX / 2); 2]);
                recipe.initial.iter_mut().for_each(|offsets| offsets.extend([3, 5]));
            }
            let system = recipe.build();
            if let Ok(None) = naive::explore(&system, 300) {
                continue;
            }
            n_runs.set(n_runs.get() + compare(&system, device)?);
            n_compared.set(n_compared.get() + 1);
        }
        Ok(())
    });
    (n_compared.get(), n_runs.get())
}

#[test]
fn kernels_find_what_the_sequential_search_finds() {
    let Some(program) = build("kernels") else { return };
    let device = HostDevice { program, n_threads: 1 };
    let (n_compared, n_runs) = try_all(150, &systems::recipe(false), &device);
    assert_met!(n_compared > 100 && n_runs > 50, "{n_compared} {n_runs}");
    let (n_compared, n_runs) = try_all(150, &systems::recipe_with_chains(), &device);
    assert_met!(n_compared > 100 && n_runs > 50, "{n_compared} {n_runs}");
}

#[test]
fn kernels_find_the_same_with_threads_that_race() {
    let Some(program) = build("racing-kernels") else { return };
    let (n_compared, n_runs) = try_all(60, &systems::recipe(true), &HostDevice { program, n_threads: 4 });
    assert_met!(n_compared > 40 && n_runs > 20, "{n_compared} {n_runs}");
}

/// Formulas about random networks and systems: whatever a device says to hold, holds by definition; and what holds, it says,
/// unless the system has chains. Returns how often something was violated, and how often a device said that it holds.
fn try_formulas(n_cases: u32, device: &dyn Device) -> [u32; 2] {
    let (n_violated, n_held) = (Cell::new(0u32), Cell::new(0u32));
    let compare = |mut case: Case| -> Result<(), TestCaseError> {
        let is_violated = case.is_violated_naively(AtDeadlock::Stutter);
        let mut claim = case.claim(case.formula);
        let method = Method::new(ObserverKind::Tgba, SearchKind::Scc, None);
        let mut budget = Budget::unlimited().with_device(Some(device));
        let decision = claim.search(&case.system, method, &Settings::default(), &mut budget);
        let decision = decision.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(case.judge(case.formula, &decision.outcome)?, is_violated, "{}", case.text());
        prop_assert!(!(is_violated && decision.on_device));
        let is_for_device = !case.system.has_chains() && !case.system.guards().contains(&Guard::Quiet);
        // An automaton without edges needs no search.
        if is_for_device && !is_violated && claim.tgba().n_edges() > 0 {
            prop_assert!(decision.on_device, "{}", case.text());
        }
        n_violated.set(n_violated.get() + u32::from(is_violated));
        n_held.set(n_held.get() + u32::from(decision.on_device));
        Ok(())
    };
    run_cases(n_cases, &(networks::network(), any::<u64>(), 1..14u32), |(network, seed, size)| {
        Case::of_network(&network, Draw { seed, size, operators: random::ALL }).map_or(Ok(()), compare)
    });
    run_cases(n_cases, &(systems::recipe(true), any::<u64>(), 1..14u32), |(recipe, seed, size)| {
        Case::of_recipe(&recipe, Draw { seed, size, operators: random::ALL }).map_or(Ok(()), compare)
    });
    [n_violated.get(), n_held.get()]
}

#[test]
fn formulas_hold_on_a_device_where_they_hold_by_definition() {
    let [n_violated, n_held] = try_formulas(800, &CpuDevice::new(1 << 20));
    assert_met!(n_violated > 100 && n_held > 100, "{n_violated} {n_held}");
}

#[test]
fn kernels_find_the_same_of_formulas() {
    let Some(program) = build("formula-kernels") else { return };
    let [n_violated, n_held] = try_formulas(60, &HostDevice { program, n_threads: 2 });
    assert_met!(n_violated > 10 && n_held > 10, "{n_violated} {n_held}");
}
