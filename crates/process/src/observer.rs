//! Testers and specs: expanded bodies become explicit processes over letters.

use automata::tester::{Edge, Flaw, State};
use automata::{Spec, Tester};
use base::{Diagnostic, Sink, Span, fail};
use language::{Observed, PropertyKind};
use model::LabelId;
use rustc_hash::FxHashMap;

use crate::ast::{Body, Mark};
use crate::eval::Scope;
use crate::expand::{Expanded, Expander, StateList};
use crate::labels::{Labels, TAU};

/// A tester or spec: what both have.
pub(crate) struct Observation<'a> {
    body: &'a Body<'a>,
    list: StateList,
    letters: Vec<String>,
    labels: Vec<LabelId>,
    initial: u32,
    edges: Vec<Edge>,
}

impl<'a> Observation<'a> {
    /// Turns labels into letters: those that are watched or, if nothing is said, those that occur.
    pub(crate) fn new(
        body: &'a Body<'a>,
        list: StateList,
        expanded: Expanded,
        labels: &Labels,
        sink: &mut Sink,
    ) -> Option<Observation<'a>> {
        let Expanded { initial, moves, alphabet } = expanded;
        let mut watched: Vec<u32> = Vec::new();
        let mut letter_of: FxHashMap<u32, u32> = FxHashMap::default();
        let mut watch = |label: u32| {
            letter_of.entry(label).or_insert_with(|| {
                watched.push(label);
                watched.len() as u32 - 1
            });
        };
        if body.alphabet_span.is_some() {
            for &(label, span) in &alphabet {
                if label == TAU {
                    sink.push(*fail("misplaced", "`tau` cannot be watched", span, "remove it"));
                    return None;
                }
                watch(label);
            }
        } else {
            moves.iter().map(|one| one.label).filter(|&label| label != TAU).for_each(&mut watch);
        }
        let mut edges = Vec::with_capacity(moves.len());
        let mut good = true;
        let alternatives: Vec<Span> =
            body.states.iter().flat_map(|state| &state.alternatives).map(|one| one.action.span()).collect();
        for one in &moves {
            let letter = letter_of.get(&one.label).copied();
            if letter.is_none() && one.label != TAU {
                let message = format!("`{}` is not watched", labels.text(one.label));
                let error = fail(
                    "not-watched",
                    message,
                    alternatives[one.written as usize],
                    "not in the `watch` list",
                );
                sink.push(error.with_help("add it to `watch`: only watched actions and `tau` can occur"));
                good = false;
            }
            edges.push(Edge { from: one.from, letter, to: one.to });
        }
        edges.sort_unstable();
        let letters = watched.iter().map(|&label| labels.text(label).to_owned()).collect();
        let labels = watched.iter().map(|&label| LabelId::new(label as usize)).collect();
        good.then_some(Observation { body, list, letters, labels, initial, edges })
    }
}

/// What a tester or spec takes, about.
pub(crate) fn bytes(kind: &PropertyKind) -> u64 {
    let (n_states, n_edges, n_letters) = match kind {
        PropertyKind::Tester(Observed { process, labels }) => {
            (process.states.len(), process.edges.len(), labels.len())
        }
        PropertyKind::Spec(Observed { process, labels }) => {
            (process.states.len(), process.edges.len(), labels.len())
        }
        _ => (0, 0, 0),
    };
    (80 * n_states + 16 * n_edges + 80 * n_letters) as u64
}

/// The spec of an observation.
pub(crate) fn spec<'a>(
    observation: &Observation<'a>,
    _: &mut Expander<'a, '_, '_>,
    _: &mut Scope<'a, '_>,
) -> Option<PropertyKind> {
    let process = Spec {
        letters: observation.letters.clone(),
        states: observation.list.states.names.to_vec(),
        initial: observation.initial,
        edges: observation.edges.clone(),
    };
    Some(PropertyKind::Spec(Observed { process, labels: observation.labels.clone() }))
}

/// The tester of an observation, if it is a legal one.
pub(crate) fn tester<'a>(
    observation: &Observation<'a>,
    expander: &mut Expander<'a, '_, '_>,
    scope: &mut Scope<'a, '_>,
) -> Option<PropertyKind> {
    let names = observation.list.states.names.iter();
    let mut states: Vec<State> = names.map(|name| State { name: name.clone(), ..State::default() }).collect();
    let n_errors = expander.sink.n_errors();
    for (mark, entry) in &observation.body.marks {
        for state in expander.marked(&observation.list, entry, scope) {
            let state = &mut states[state as usize];
            match mark {
                Mark::Reject => state.reject = true,
                Mark::Deadlock => state.deadlock = true,
                Mark::Livelock => state.livelock = true,
                Mark::Infinite => state.infinite = true,
            }
        }
    }
    if expander.sink.n_errors() > n_errors {
        return None;
    }
    let process = Tester {
        letters: observation.letters.clone(),
        states,
        initial: observation.initial,
        edges: observation.edges.clone(),
    };
    if let Some(flaw) = process.flaw() {
        expander.sink.push(illegal(flaw, &process, observation));
        return None;
    }
    Some(PropertyKind::Tester(Observed { process, labels: observation.labels.clone() }))
}

/// Why a tester is not legal.
fn illegal(flaw: Flaw, tester: &Tester, observation: &Observation<'_>) -> Diagnostic {
    let (state, what, why) = match flaw {
        Flaw::TauLoop(state) => (
            state,
            "lies on a loop of `tau`",
            "a tester must not run for ever on its own: the system would never get its turn",
        ),
        Flaw::TauFromDeadlock(state) => (
            state,
            "is a `deadlock` state with a `tau`",
            "while the tester can move by itself, nothing is a deadlock",
        ),
        // What was expanded has a state for every name.
        Flaw::Dangling(_) => {
            (tester.initial, "is not complete", "this is a mistake of ours: please report it")
        }
    };
    let message = format!(
        "not a legal tester: the state `{}` {what}",
        tester.states.get(state as usize).map_or("", |state| &state.name)
    );
    let span = observation.list.span(state, observation.body);
    Diagnostic::error("illegal-tester", message).at(span, "this state").with_help(why)
}
