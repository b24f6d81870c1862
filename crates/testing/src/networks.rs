//! Random process networks, their text as a `.proc` file, and their state space straight from
//! Definition 2.3 of Valmari (CAV '93).

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use proptest::collection::vec;
use proptest::prelude::*;

/// A process: its states are `0..n_states`, 0 is initial. Label 0 is τ.
#[derive(Clone, Debug)]
pub struct Process {
    /// Number of states.
    pub n_states: usize,
    /// Source, label, target.
    pub edges: Vec<(usize, usize, usize)>,
    /// Labels that are in the alphabet though perhaps on no edge.
    pub extra_alphabet: Vec<usize>,
}

/// Processes that synchronize on common labels.
#[derive(Clone, Debug)]
pub struct Network {
    /// The processes.
    pub processes: Vec<Process>,
}

/// The state space of a network.
#[derive(Debug)]
pub struct Space {
    /// One local state per process.
    pub states: Vec<Vec<usize>>,
    /// Source, label, target.
    pub transitions: BTreeSet<(usize, usize, usize, Vec<usize>)>,
    /// Number of states without successors.
    pub deadlocks: u64,
}

/// Any network: up to five processes of up to four states. Half of the labels are shared, the
/// others private to a process, so that networks neither block at once nor fall apart.
pub fn network() -> impl Strategy<Value = Network> {
    let n_states = prop_oneof![1 => Just(1usize), 9 => 2..5usize];
    let process = (n_states, vec((0..4usize, 0..9usize, 0..4usize), 2..12), vec(1..5usize, 0..2));
    vec(process, 1..6).prop_map(|processes| {
        let label = |number: usize, label: usize| if label < 5 { label } else { 10 * (number + 1) + label };
        let process = |(number, (n_states, edges, extra_alphabet)): (usize, (usize, Vec<_>, Vec<usize>))| {
            let edges: BTreeSet<(usize, usize, usize)> = edges
                .into_iter()
                .map(|(from, its_label, to)| (from % n_states, label(number, its_label), to % n_states))
                .collect();
            Process { n_states, edges: edges.into_iter().collect(), extra_alphabet }
        };
        let mut network = Network { processes: processes.into_iter().enumerate().map(process).collect() };
        // An alphabet entry that nobody offers is an error of the language: drop those.
        let offered = network.offered();
        for process in &mut network.processes {
            process.extra_alphabet.retain(|label| offered.contains(label));
        }
        network
    })
}

impl Process {
    fn alphabet(&self) -> BTreeSet<usize> {
        let visible = self.edges.iter().map(|edge| edge.1).filter(|&label| label != 0);
        visible.chain(self.extra_alphabet.iter().copied()).collect()
    }
}

impl Network {
    /// The labels on edges.
    pub fn offered(&self) -> BTreeSet<usize> {
        self.processes.iter().flat_map(|process| &process.edges).map(|edge| edge.1).collect()
    }

    /// The network as a `.proc` file; labels are `l1`, `l2`, …, states `s0`, `s1`, ….
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (number, process) in self.processes.iter().enumerate() {
            _ = writeln!(text, "process P{number} {{");
            if !process.extra_alphabet.is_empty() {
                let names: Vec<String> =
                    process.extra_alphabet.iter().map(|&label| label_name(label)).collect();
                _ = writeln!(text, "    alphabet {};", names.join(", "));
            }
            for state in 0..process.n_states {
                let moves: Vec<String> = (process.edges.iter().filter(|edge| edge.0 == state))
                    .map(|&(_, label, to)| format!("{} -> s{to}", label_name(label)))
                    .collect();
                _ = writeln!(text, "    s{state}: {};", moves.join(" | "));
            }
            text += "}\n";
        }
        text
    }

    /// The state space, by the definition. A transition is told apart by its label and, for τ, by
    /// the process that makes it; that is the list of local targets.
    pub fn explore(&self) -> Space {
        let alphabets: Vec<BTreeSet<usize>> = self.processes.iter().map(Process::alphabet).collect();
        let first = vec![0; self.processes.len()];
        let mut numbers = HashMap::from([(first.clone(), 0)]);
        let mut space = Space { states: vec![first], transitions: BTreeSet::new(), deadlocks: 0 };
        let mut next = 0;
        while next < space.states.len() {
            let state = space.states[next].clone();
            let mut successors = Vec::new();
            for (number, process) in self.processes.iter().enumerate() {
                for &(_, _, to) in process.edges.iter().filter(|edge| edge.0 == state[number] && edge.1 == 0)
                {
                    let mut target = state.clone();
                    target[number] = to;
                    successors.push((0, target, vec![number, to]));
                }
            }
            for label in self.offered().into_iter().filter(|&label| label != 0) {
                let mut targets = vec![state.clone()];
                for (number, process) in self.processes.iter().enumerate() {
                    if alphabets[number].contains(&label) {
                        let moves =
                            process.edges.iter().filter(|edge| edge.0 == state[number] && edge.1 == label);
                        targets = moves
                            .flat_map(|edge| {
                                targets.iter().map(move |target| {
                                    let mut target = target.clone();
                                    target[number] = edge.2;
                                    target
                                })
                            })
                            .collect();
                    }
                }
                successors.extend(targets.into_iter().map(|target| (label, target.clone(), target)));
            }
            space.deadlocks += u64::from(successors.is_empty());
            for (label, target, how) in successors {
                let number = *numbers.entry(target.clone()).or_insert_with(|| {
                    space.states.push(target);
                    space.states.len() - 1
                });
                space.transitions.insert((next, label, number, how));
            }
            next += 1;
        }
        space
    }
}

fn label_name(label: usize) -> String {
    if label == 0 { "tau".to_owned() } else { format!("l{label}") }
}
