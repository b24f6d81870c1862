//! What several tests need: loading texts, showing messages, exploring naively.

#![allow(dead_code)] // Each test uses its part.

use std::collections::{HashMap, HashSet, VecDeque};

use automata::Tester;
use base::{Budget, Diagnostics, SourceMap};
use language::{Loader, Observed, Trouble};
use model::{LabelId, reference};
use stubborn_process::{Model, Options, load};

/// Loads a text; messages are shown as `line:column code: message (help)`.
pub(crate) fn load_text(
    text: &str,
    constants: &[(&str, i64)],
    loader: &mut Loader<'_>,
) -> Result<Model, Vec<String>> {
    let mut sources = SourceMap::new();
    let source = sources.add("test.proc", text.into()).unwrap();
    let constants = constants.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let options = Options { constants, ..Options::default() };
    load(&mut sources, source, &options, loader, &mut Budget::unlimited())
        .map_err(|trouble| show(&mistakes(trouble), &sources))
}

/// What is wrong with a text that was read without limits.
pub(crate) fn mistakes(trouble: Trouble) -> Diagnostics {
    match trouble {
        Trouble::Wrong(mistakes) => mistakes,
        Trouble::Limit(limit) => panic!("{limit}"),
    }
}

/// Loads a text that names no files.
pub(crate) fn load_plain(text: &str) -> Result<Model, Vec<String>> {
    load_text(text, &[], &mut |_| Err("there are no files here".to_owned()))
}

/// The messages, as `line:column code: message (help)`.
pub(crate) fn show(diagnostics: &Diagnostics, sources: &SourceMap) -> Vec<String> {
    let one = |diagnostic: &base::Diagnostic| {
        let place = diagnostic.span.map_or_else(String::new, |span| {
            let (line, column) = sources.get(span.source).position(span.start);
            format!("{line}:{column} ")
        });
        let help = diagnostic.help.as_ref().map_or_else(String::new, |help| format!(" ({help})"));
        format!("{place}{}: {}{help}", diagnostic.code, diagnostic.message)
    };
    diagnostics.iter().map(one).collect()
}

pub(crate) type State = Vec<i64>;

/// All reachable states, each with its steps: labels and targets.
pub(crate) fn explore(model: &Model) -> HashMap<State, Vec<(LabelId, State)>> {
    let mut graph = HashMap::new();
    let mut pending: VecDeque<State> = reference::initial(&model.system).into();
    while let Some(state) = pending.pop_front() {
        if graph.contains_key(&state) {
            continue;
        }
        let steps: Vec<(LabelId, State)> = reference::successors(&model.system, &state)
            .unwrap()
            .into_iter()
            .map(|(action, next)| (model.system.action(action).label, next))
            .collect();
        pending.extend(steps.iter().map(|(_, next)| next.clone()));
        graph.insert(state, steps);
    }
    graph
}

/// Whether one of the conditions C1 to C3 of Theorem 3.3 holds: the tester finds an error.
pub(crate) fn tester_objects(model: &Model, observed: &Observed<Tester>) -> bool {
    let Observed { process: tester, labels } = observed;
    let letter_of: HashMap<LabelId, u32> = labels.iter().copied().zip(0..).collect();
    let initial = reference::initial(&model.system)[0].clone();
    let mut seen = HashSet::from([(tester.initial, initial.clone())]);
    let mut pending = vec![(tester.initial, initial)];
    // Steps that the tester does not see while it is in a livelock state.
    let mut unseen: HashMap<(u32, State), Vec<(u32, State)>> = HashMap::new();
    while let Some((at, state)) = pending.pop() {
        let flags = &tester.states[at as usize];
        if flags.reject {
            return true;
        }
        let mut next: Vec<(u32, State)> = Vec::new();
        for edge in tester.edges.iter().filter(|edge| edge.from == at && edge.letter.is_none()) {
            next.push((edge.to, state.clone()));
        }
        for (action, target) in reference::successors(&model.system, &state).unwrap() {
            let letter = letter_of.get(&model.system.action(action).label).copied();
            if letter.is_none() {
                next.push((at, target));
                if flags.livelock {
                    let successor = next.last().cloned().unwrap();
                    unseen.entry((at, state.clone())).or_default().push(successor);
                }
            } else {
                let edges = tester.edges.iter().filter(|edge| edge.from == at && edge.letter == letter);
                next.extend(edges.map(|edge| (edge.to, target.clone())));
            }
        }
        if next.is_empty() && flags.deadlock {
            return true;
        }
        for one in next {
            if seen.insert(one.clone()) {
                pending.push(one);
            }
        }
    }
    has_cycle(&unseen)
}

/// Whether a graph has a cycle: drop nodes without successors until nothing changes.
fn has_cycle(graph: &HashMap<(u32, State), Vec<(u32, State)>>) -> bool {
    let mut left: HashSet<&(u32, State)> = graph.keys().collect();
    loop {
        let kept: HashSet<_> =
            left.iter().copied().filter(|node| graph[*node].iter().any(|to| left.contains(to))).collect();
        if kept.len() == left.len() {
            return !left.is_empty();
        }
        left = kept;
    }
}
