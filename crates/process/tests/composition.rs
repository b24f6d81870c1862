//! Lowering against Definition 2.3 of Valmari, *On-the-fly verification with stubborn sets*
//! (CAV '93): random networks are printed as `.proc` files, loaded, and compared with their
//! parallel composition as the definition has it.

mod common;

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;

use common::{State, load_text};
use model::{ActionId, Describe, Steps, System, reference};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use stubborn_process::Model;

/// A process of the definition; label `None` is `tau`.
#[derive(Clone, Debug)]
struct Process {
    n_states: u32,
    initial: u32,
    moves: BTreeSet<(u32, Option<u8>, u32)>,
    /// Labels that are in the alphabet without being done.
    listed: BTreeSet<u8>,
}

impl Process {
    fn alphabet(&self) -> BTreeSet<u8> {
        self.moves.iter().filter_map(|(_, label, _)| *label).chain(self.listed.iter().copied()).collect()
    }

    fn targets(&self, from: i64, label: Option<u8>) -> Vec<i64> {
        let moves = self.moves.iter().filter(|one| i64::from(one.0) == from && one.1 == label);
        moves.map(|one| i64::from(one.2)).collect()
    }
}

const N_LABELS: u8 = 4;

fn process(max_states: u32) -> impl Strategy<Value = Process> {
    (1..=max_states).prop_flat_map(|n_states| {
        let label = prop_oneof![1 => Just(None), 5 => (0..N_LABELS).prop_map(Some)];
        let moves = prop::collection::btree_set((0..n_states, label, 0..n_states), 0..8);
        let listed = prop::collection::btree_set(0..N_LABELS, 0..2);
        (Just(n_states), 0..n_states, moves, listed).prop_map(|(n_states, initial, moves, listed)| Process {
            n_states,
            initial,
            moves,
            listed,
        })
    })
}

/// A network in which every listed label is done by somebody: otherwise the file is wrong.
fn network(max_states: u32) -> impl Strategy<Value = Vec<Process>> {
    prop::collection::vec(process(max_states), 1..4).prop_map(|mut network| {
        let done: BTreeSet<u8> =
            network.iter().flat_map(|process| &process.moves).filter_map(|(_, label, _)| *label).collect();
        network.iter_mut().for_each(|process| process.listed.retain(|label| done.contains(label)));
        network
    })
}

fn label_name(label: Option<u8>) -> String {
    label.map_or("tau".to_owned(), |label| format!("a[{label}]"))
}

/// The network as a `.proc` file.
fn print(network: &[Process]) -> String {
    let mut text = String::new();
    for (number, process) in network.iter().enumerate() {
        writeln!(text, "process P{number} {{").unwrap();
        for state in 0..process.n_states {
            let moves = process.moves.iter().filter(|one| one.0 == state);
            let alternatives: Vec<String> =
                moves.map(|(_, label, to)| format!("{} -> at[{to}]", label_name(*label))).collect();
            writeln!(text, "    at[{state}]: {};", alternatives.join(" | ")).unwrap();
        }
        writeln!(text, "    initial at[{}];", process.initial).unwrap();
        for label in &process.listed {
            writeln!(text, "    alphabet a[{label}];").unwrap();
        }
        writeln!(text, "}}").unwrap();
    }
    text
}

/// The steps of a state by the definition: label, owners, target.
fn steps(network: &[Process], state: &[i64]) -> BTreeSet<(String, Vec<usize>, State)> {
    let mut steps = BTreeSet::new();
    for (number, process) in network.iter().enumerate() {
        for to in process.targets(state[number], None) {
            let mut next = state.to_vec();
            next[number] = to;
            steps.insert(("tau".to_owned(), vec![number], next));
        }
    }
    for label in 0..N_LABELS {
        let interested: Vec<usize> =
            (0..network.len()).filter(|&number| network[number].alphabet().contains(&label)).collect();
        if interested.is_empty() {
            continue;
        }
        let mut targets = vec![state.to_vec()];
        for &number in &interested {
            let local = network[number].targets(state[number], Some(label));
            let moved = |next: &State| {
                let next = next.clone();
                local
                    .iter()
                    .map(move |&to| {
                        let mut next = next.clone();
                        next[number] = to;
                        next
                    })
                    .collect::<Vec<_>>()
            };
            targets = targets.iter().flat_map(moved).collect();
        }
        let label = label_name(Some(label));
        steps.extend(targets.into_iter().map(|next| (label.clone(), interested.clone(), next)));
    }
    steps
}

/// The same of the lowered system; every step must come of one action only.
fn lowered_steps(model: &Model, state: &[i64]) -> BTreeSet<(String, Vec<usize>, State)> {
    let mut steps = BTreeSet::new();
    for (action, next) in reference::successors(&model.system, state).unwrap() {
        let owners = model.system.action_owners(action).iter().map(|owner| owner.index()).collect();
        let label = model.system.action_label(action).to_owned();
        assert!(steps.insert((label, owners, next)), "two actions for one step");
    }
    steps
}

/// The interpreter finds the same steps as the reference semantics.
fn check_interpreter(model: &Model, state: &[i64]) {
    let system = &model.system;
    let packed = system.layout().encode(state).unwrap();
    let mut found = Steps::new(system.width());
    system.successors(&packed, &mut system.new_scratch(), &mut found).unwrap();
    let mut found: Vec<(ActionId, State)> =
        found.iter().map(|(action, target)| (action, system.layout().decode(target))).collect();
    found.sort();
    assert_eq!(found, reference::successors(system, state).unwrap());
}

fn check(network: &[Process], model: &Model) {
    let initial: State = network.iter().map(|process| i64::from(process.initial)).collect();
    assert_eq!(reference::initial(&model.system), std::slice::from_ref(&initial));
    let mut seen = HashSet::from([initial.clone()]);
    let mut pending = vec![initial];
    while let Some(state) = pending.pop() {
        let expected = steps(network, &state);
        assert_eq!(lowered_steps(model, &state), expected, "in {state:?}");
        check_interpreter(model, &state);
        for (_, _, next) in expected {
            if seen.insert(next.clone()) {
                pending.push(next);
            }
        }
    }
}

/// One action for each label and each way to choose versions; nothing for blocked labels.
fn expected_actions(network: &[Process]) -> usize {
    let versions = |process: &Process, label| {
        (0..process.n_states).map(|from| process.targets(i64::from(from), label).len()).max().unwrap_or(0)
    };
    let tau: usize = network.iter().map(|process| versions(process, None)).sum();
    let visible = (0..N_LABELS).map(|label| {
        let interested: Vec<&Process> =
            network.iter().filter(|process| process.alphabet().contains(&label)).collect();
        if interested.is_empty() {
            return 0;
        }
        interested.iter().map(|process| versions(process, Some(label))).product()
    });
    tau + visible.sum::<usize>()
}

fn config(seed: u64, cases: u32) -> Config {
    Config { rng_seed: RngSeed::Fixed(seed), failure_persistence: None, cases, ..Config::default() }
}

proptest! {
    #![proptest_config(config(1993, 3000))]

    #[test]
    fn lowering_is_parallel_composition(network in network(4)) {
        let text = print(&network);
        let model = load_text(&text, &[], &mut |_| Err(String::new()))
            .unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
        check(&network, &model);
        prop_assert_eq!(model.system.actions().len(), expected_actions(&network));
    }
}

/// Spreads the states of a process over very many, so that tables would be a waste.
fn spread(process: &Process) -> Process {
    let place = |state: u32| (state * 9973) % 20_011;
    Process {
        n_states: 20_011,
        initial: place(process.initial),
        moves: process.moves.iter().map(|&(from, label, to)| (place(from), label, place(to))).collect(),
        listed: BTreeSet::new(),
    }
}

fn print_aut(process: &Process) -> String {
    let mut text =
        model::aut::header(process.initial.into(), process.moves.len() as u64, process.n_states.into());
    for &(from, label, to) in &process.moves {
        let label = label.map(|label| label_name(Some(label)));
        model::aut::push_edge(&mut text, from.into(), label.as_deref(), to.into());
    }
    text
}

proptest! {
    #![proptest_config(config(2023, 100))]

    #[test]
    fn lowering_of_sparse_components_is_parallel_composition(small in network(6)) {
        let network: Vec<Process> = small.iter().map(spread).collect();
        let text: String =
            (0..network.len()).map(|number| format!("process P{number} = extern \"{number}\";\n")).collect();
        let mut loader = |name: &str| Ok(print_aut(&network[name.parse::<usize>().unwrap()]).into_bytes());
        let model = load_text(&text, &[], &mut loader).unwrap_or_else(|errors| panic!("{errors:#?}"));
        check(&network, &model);
    }
}
