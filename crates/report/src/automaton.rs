//! Automata as JSON and, those that are not TGBA, as DOT: written as they are made, since they may be large.
//!
//! The pictures follow the figures of [bensalem.12.topnoc]: a changeset on each step, a double
//! circle for Büchi-accepting states, a dashed one for livelock-accepting states, a green one for
//! finite acceptance, a dot for each mark. States that accept deadlocks are marked `dl`, unless those
//! are the livelock states of a TA.

use std::collections::HashSet;
use std::fmt::{self, Display as _};

use automata::by_change::{Acceptance, Graph, PropSet, Step};
use automata::extended::{Extended, ExtendedState};
use automata::{AnyAutomaton, Label, Labels, Marks, State, Stats, dot};
use base::text::{Shown, escape_dot as escape};
use base::{Budget, Limit};
use drawing::automaton::{literal, literals};
use ltl::{Formulas, Prop};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::outcome::SCHEMA;

/// The figures of `--format stats`.
///
/// # Errors
/// The budget is spent.
pub fn stats(automaton: &AnyAutomaton, budget: &mut Budget<'_>) -> Result<Value, Limit> {
    Ok(match automaton {
        AnyAutomaton::Tgba(tgba) => {
            let Stats { states, edges, transitions, acceptance, deterministic } = Stats::of(tgba, budget)?;
            json!({
                "states": states, "edges": edges, "transitions": transitions,
                "acceptance": acceptance, "deterministic": deterministic,
            })
        }
        AnyAutomaton::Ta(ta) => steps_stats(ta, 1),
        AnyAutomaton::Tgta(tgta) => steps_stats(tgta, tgta.n_marks()),
        AnyAutomaton::Extended(extended) => extended_stats(extended),
    })
}

/// Every step is one transition.
fn steps_stats(graph: &Graph, n_marks: u32) -> Value {
    let has_choice = |steps: &[Step]| steps.windows(2).any(|pair| pair[0].change == pair[1].change);
    json!({
        "states": graph.n_states(), "edges": graph.n_steps(), "transitions": graph.n_steps(),
        "acceptance": n_marks, "initial": graph.initial().len(),
        "deterministic": !graph.states().any(|state| has_choice(graph.steps(state))),
    })
}

fn extended_stats(extended: &Extended) -> Value {
    let n_edges: usize = extended.states.iter().map(|state| state.successors.len()).sum();
    let n_initial = extended.states.iter().filter(|state| state.initial).count();
    let values = |&state: &usize| PropSet::of(&extended.states[state].valuation, &extended.propositions);
    let has_choice = |state: &ExtendedState| {
        let mut seen = HashSet::new();
        !state.successors.iter().map(values).all(|values| seen.insert(values))
    };
    json!({
        "states": extended.states.len(), "edges": n_edges, "transitions": n_edges, "acceptance": 1,
        "initial": n_initial, "deterministic": !extended.states.iter().any(has_choice),
    })
}

/// An automaton as a program reads it, all of it.
pub struct AutomatonJson<'a> {
    /// The automaton.
    pub automaton: &'a AnyAutomaton,
    /// What its propositions are called.
    pub formulas: &'a Formulas,
    /// What it is called.
    pub name: &'a str,
}

/// A list that is made while it is written.
struct Each<F>(F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// A text that is made while it is written.
struct Text<D>(D);

impl<D: fmt::Display> Serialize for Text<D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// Sets of states: what they are called, and which states are in them.
type Sets<S> = [(&'static str, fn(S) -> bool); 4];

impl Serialize for AutomatonJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let AutomatonJson { automaton, formulas, name } = self;
        let propositions = automaton.propositions();
        let mut map = serializer.serialize_map(None)?;
        let (kind, n_states) = match automaton {
            AnyAutomaton::Tgba(tgba) => ("tgba", tgba.n_states()),
            AnyAutomaton::Ta(ta) => ("ta", ta.n_states()),
            AnyAutomaton::Tgta(tgta) => ("tgta", tgta.n_states()),
            AnyAutomaton::Extended(extended) => ("extended", extended.states.len()),
        };
        map.serialize_entry("kind", kind)?;
        map.serialize_entry("propositions", &Each(|| propositions.iter().map(|&prop| formulas.text(prop))))?;
        map.serialize_entry("states", &n_states)?;
        match automaton {
            AnyAutomaton::Tgba(tgba) => {
                #[derive(Serialize)]
                struct Edge<L> {
                    from: usize,
                    label: L,
                    marks: Vec<u32>,
                    to: usize,
                }
                let edge = |from: State, edge: &automata::Edge| Edge {
                    from: from.index(),
                    label: Text(shown_label(formulas, tgba.labels(), edge.label)),
                    marks: marks(edge.marks),
                    to: edge.target.index(),
                };
                let of_state = |state| tgba.edges(state).iter().map(move |found| edge(state, found));
                map.serialize_entry("initial", &tgba.initial().index())?;
                map.serialize_entry("marks", &tgba.n_marks())?;
                map.serialize_entry("edges", &Each(|| tgba.states().flat_map(of_state)))?;
            }
            AnyAutomaton::Ta(ta) => {
                map.serialize_entry("initial", &initial_json(formulas, ta))?;
                let sets: Sets<Acceptance> = [
                    ("buchi", |acceptance| acceptance.buchi),
                    ("livelock", |acceptance| acceptance.livelock),
                    ("finite", |acceptance| acceptance.finite),
                    ("deadlock", |acceptance| acceptance.deadlock),
                ];
                for (set, is_in) in sets {
                    let members = || ta.states().filter(|&state| is_in(ta.acceptance(state)));
                    map.serialize_entry(set, &Each(|| members().map(State::index)))?;
                }
                serialize_steps(&mut map, formulas, ta)?;
            }
            AnyAutomaton::Tgta(tgta) => {
                map.serialize_entry("initial", &initial_json(formulas, tgta))?;
                map.serialize_entry("marks", &tgta.n_marks())?;
                serialize_steps(&mut map, formulas, tgta)?;
            }
            AnyAutomaton::Extended(extended) => {
                let states = &extended.states;
                let values = |state: &ExtendedState| {
                    members(formulas, propositions, PropSet::of(&state.valuation, propositions))
                };
                map.serialize_entry("values", &Each(|| states.iter().map(values)))?;
                let sets: Sets<&ExtendedState> = [
                    ("initial", |state| state.initial),
                    ("buchi", |state| state.infinite),
                    ("finite", |state| state.finite),
                    ("deadlock", |state| state.deadlock),
                ];
                for (set, is_in) in sets {
                    let members = || states.iter().enumerate().filter(|(_, state)| is_in(state));
                    map.serialize_entry(set, &Each(|| members().map(|(index, _)| index)))?;
                }
                let edges = |(from, state): (usize, &'_ ExtendedState)| {
                    let edge = move |to: &usize| json!({"from": from, "to": to});
                    state.successors.iter().map(edge).collect::<Vec<_>>()
                };
                map.serialize_entry("edges", &Each(|| states.iter().enumerate().flat_map(edges)))?;
            }
        }
        map.serialize_entry("schema", &SCHEMA)?;
        map.serialize_entry("name", name)?;
        map.end()
    }
}

fn marks(marks: Marks) -> Vec<u32> {
    marks.iter().collect()
}

/// A label as a disjunction, in which comparisons are turned around rather than negated.
fn shown_label(formulas: &Formulas, labels: &Labels, label: Label) -> impl fmt::Display {
    Shown(move |f: &mut fmt::Formatter<'_>| {
        if label == Label::TRUE {
            return f.write_str("true");
        }
        for (place, cube) in labels.cubes(label).enumerate() {
            f.write_str(if place > 0 { " | " } else { "" })?;
            for (place, (prop, holds)) in cube.into_iter().enumerate() {
                f.write_str(if place > 0 { " & " } else { "" })?;
                f.write_str(&literal(formulas.text(prop), holds))?;
            }
        }
        Ok(())
    })
}

/// The names of the propositions in a set.
fn members<'a>(formulas: &'a Formulas, propositions: &[Prop], set: PropSet) -> Vec<&'a str> {
    let inside = propositions.iter().enumerate().filter(|(index, _)| set.contains(*index));
    inside.map(|(_, &prop)| formulas.text(prop)).collect()
}

fn initial_json(formulas: &Formulas, graph: &Graph) -> impl Serialize {
    let entry = |(set, state): &(PropSet, State)| json!({"true": members(formulas, graph.propositions(), *set), "state": state.index()});
    Each(move || graph.initial().iter().map(entry))
}

fn serialize_steps<M: SerializeMap>(map: &mut M, formulas: &Formulas, graph: &Graph) -> Result<(), M::Error> {
    let entry = |from: State, step: &Step| {
        json!({
            "from": from.index(), "change": members(formulas, graph.propositions(), step.change),
            "marks": marks(step.marks), "to": step.target.index(),
        })
    };
    let of_state = |state| graph.steps(state).iter().map(move |step| entry(state, step));
    map.serialize_entry("edges", &Each(|| graph.states().flat_map(of_state)))
}

/// An automaton in the language of Graphviz.
pub fn to_dot(automaton: &AnyAutomaton, formulas: &Formulas) -> impl fmt::Display {
    Shown(move |f: &mut fmt::Formatter<'_>| match automaton {
        AnyAutomaton::Tgba(tgba) => dot::draw(tgba, formulas).fmt(f),
        AnyAutomaton::Ta(ta) => {
            let own_deadlocks = !ta.accepts_deadlocks_like_stuttering();
            draw_steps(f, formulas, ta, |state| {
                let acceptance = ta.acceptance(state);
                let circle = if acceptance.buchi { "doublecircle" } else { "circle" };
                let style = if acceptance.livelock { ", style=dashed" } else { "" };
                let color = if acceptance.finite { ", color=green" } else { "" };
                let deadlock = if own_deadlocks && acceptance.deadlock { ", xlabel=\"dl\"" } else { "" };
                format!("shape={circle}{style}{color}{deadlock}")
            })
        }
        AnyAutomaton::Tgta(tgta) => draw_steps(f, formulas, tgta, |_| "shape=circle".to_owned()),
        AnyAutomaton::Extended(extended) => draw_extended(f, formulas, extended),
    })
}

fn draw_extended(f: &mut fmt::Formatter<'_>, formulas: &Formulas, extended: &Extended) -> fmt::Result {
    f.write_str("digraph automaton {\n  rankdir=LR;\n")?;
    for (index, state) in extended.states.iter().enumerate() {
        let values = PropSet::of(&state.valuation, &extended.propositions);
        let values = escape(&literals(formulas, &extended.propositions, values));
        let circle = if state.infinite { "doublecircle" } else { "circle" };
        let color = if state.finite { ", color=green" } else { "" };
        let deadlock = if state.deadlock { ", xlabel=\"dl\"" } else { "" };
        if state.initial {
            writeln!(f, "  init{index} [shape=point]; init{index} -> s{index};")?;
        }
        writeln!(f, "  s{index} [label=\"{index}: {values}\", shape={circle}{color}{deadlock}];")?;
        for to in &state.successors {
            writeln!(f, "  s{index} -> s{to};")?;
        }
    }
    f.write_str("}\n")
}

fn draw_steps(
    f: &mut fmt::Formatter<'_>,
    formulas: &Formulas,
    graph: &Graph,
    shape: impl Fn(State) -> String,
) -> fmt::Result {
    f.write_str("digraph automaton {\n  rankdir=LR;\n")?;
    for (index, (set, state)) in graph.initial().iter().enumerate() {
        let label = escape(&literals(formulas, graph.propositions(), *set));
        let state = state.index();
        writeln!(f, "  init{index} [shape=point]; init{index} -> s{state} [label=\"{label}\"];")?;
    }
    for state in graph.states() {
        writeln!(f, "  s{0} [label=\"{0}\", {1}];", state.index(), shape(state))?;
        for step in graph.steps(state) {
            let change = escape(&members(formulas, graph.propositions(), step.change).join(","));
            let change = if change.is_empty() { "∅".to_owned() } else { format!("{{{change}}}") };
            let dots: String = step.marks.iter().map(|mark| format!(" \u{25cf}{mark}")).collect();
            writeln!(f, "  s{} -> s{} [label=\"{change}{dots}\"];", state.index(), step.target.index())?;
        }
    }
    f.write_str("}\n")
}
