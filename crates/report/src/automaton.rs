//! Automata as JSON and, those that are not TGBA, as DOT.
//!
//! The pictures follow the figures of [bensalem.12.topnoc]: a changeset on each step, a double
//! circle for Büchi-accepting states, a dashed one for livelock-accepting states, a green one for
//! finite acceptance, a dot for each mark. States that accept deadlocks are marked `dl`, unless those
//! are the livelock states of a TA.

use base::Budget;
use std::fmt::Write as _;

use automata::by_change::{PropSet, Step, Ta, Tgta};
use automata::extended::{Extended, ExtendedState};
use automata::{Marks, State, Stats, Tgba};
use drawing::automaton::{literal, literals};
use ltl::{Formulas, Prop};
use serde_json::{Value, json};

use crate::space::escape_dot as escape;

/// The figures of `--format stats`.
pub fn tgba_stats(tgba: &Tgba) -> Value {
    let stats = Stats::of(tgba, &mut Budget::unlimited()).expect("a budget without limits is never spent");
    let Stats { states, edges, transitions, acceptance, deterministic } = stats;
    json!({
        "states": states, "edges": edges, "transitions": transitions,
        "acceptance": acceptance, "deterministic": deterministic,
    })
}

/// The figures of a TA: every step is one transition.
pub fn ta_stats(ta: &Ta) -> Value {
    let n_initial = ta.initial().len();
    steps_stats(ta.n_states(), ta.n_steps(), 1, n_initial, ta.states().map(|state| ta.steps(state)))
}

/// The figures of a TGTA.
pub fn tgta_stats(tgta: &Tgta) -> Value {
    let n_initial = tgta.initial().len();
    let steps = tgta.states().map(|state| tgta.steps(state));
    steps_stats(tgta.n_states(), tgta.n_steps(), tgta.n_marks(), n_initial, steps)
}

/// The figures of an extended automaton.
pub fn extended_stats(extended: &Extended) -> Value {
    let n_edges: usize = extended.states.iter().map(|state| state.successors.len()).sum();
    let n_initial = extended.states.iter().filter(|state| state.initial).count();
    let has_choice = |state: &ExtendedState| {
        let mut next = state.successors.iter().map(|&next| &extended.states[next].valuation);
        let mut seen: Vec<&ltl::Valuation> = vec![];
        next.any(|valuation| {
            seen.contains(&valuation) || {
                seen.push(valuation);
                false
            }
        })
    };
    json!({
        "states": extended.states.len(), "edges": n_edges, "transitions": n_edges, "acceptance": 1,
        "initial": n_initial, "deterministic": !extended.states.iter().any(has_choice),
    })
}

fn steps_stats<'a>(
    n_states: usize,
    n_steps: usize,
    n_marks: u32,
    n_initial: usize,
    mut steps: impl Iterator<Item = &'a [Step]>,
) -> Value {
    let has_choice = |steps: &[Step]| steps.windows(2).any(|pair| pair[0].change == pair[1].change);
    json!({
        "states": n_states, "edges": n_steps, "transitions": n_steps, "acceptance": n_marks,
        "initial": n_initial, "deterministic": !steps.any(has_choice),
    })
}

/// A TGBA, all of it.
pub fn tgba_json(tgba: &Tgba, formulas: &Formulas) -> Value {
    let edge = |from: State, edge: &automata::Edge| {
        let cubes: Vec<String> =
            tgba.labels().cubes(edge.label).iter().map(|cube| show_cube(formulas, cube)).collect();
        json!({
            "from": from.index(), "label": cubes.join(" | "), "marks": marks(edge.marks), "to": edge.target.index(),
        })
    };
    let edges: Vec<Value> = tgba
        .states()
        .flat_map(|state| tgba.edges(state).iter().map(move |found| edge(state, found)))
        .collect();
    json!({
        "kind": "tgba", "propositions": names(formulas, tgba.propositions()), "states": tgba.n_states(),
        "initial": tgba.initial().index(), "marks": tgba.n_marks(), "edges": edges,
    })
}

/// A TA, all of it.
pub fn ta_json(ta: &Ta, formulas: &Formulas) -> Value {
    let accepting = |of: fn(automata::by_change::Acceptance) -> bool| -> Vec<usize> {
        ta.states().filter(|&state| of(ta.acceptance(state))).map(State::index).collect()
    };
    json!({
        "kind": "ta", "propositions": names(formulas, ta.propositions()), "states": ta.n_states(),
        "initial": initial_json(formulas, ta.propositions(), ta.initial()),
        "buchi": accepting(|acceptance| acceptance.buchi),
        "livelock": accepting(|acceptance| acceptance.livelock),
        "finite": accepting(|acceptance| acceptance.finite),
        "deadlock": accepting(|acceptance| acceptance.deadlock),
        "edges": steps_json(formulas, ta.propositions(), ta.states().map(|state| (state, ta.steps(state)))),
    })
}

/// A TGTA, all of it.
pub fn tgta_json(tgta: &Tgta, formulas: &Formulas) -> Value {
    json!({
        "kind": "tgta", "propositions": names(formulas, tgta.propositions()), "states": tgta.n_states(),
        "initial": initial_json(formulas, tgta.propositions(), tgta.initial()), "marks": tgta.n_marks(),
        "edges": steps_json(formulas, tgta.propositions(), tgta.states().map(|state| (state, tgta.steps(state)))),
    })
}

/// An extended automaton, all of it.
pub fn extended_json(extended: &Extended, formulas: &Formulas) -> Value {
    let numbers = |is_in: fn(&ExtendedState) -> bool| -> Vec<usize> {
        let states = extended.states.iter().enumerate();
        states.filter(|(_, state)| is_in(state)).map(|(index, _)| index).collect()
    };
    let holding = |state: &ExtendedState| -> Vec<&str> {
        let held = extended.propositions.iter().filter(|&&prop| state.valuation.holds(prop));
        held.map(|&prop| formulas.text(prop)).collect()
    };
    let edges =
        extended.states.iter().enumerate().flat_map(|(from, state)| {
            state.successors.iter().map(move |&to| json!({"from": from, "to": to}))
        });
    json!({
        "kind": "extended", "propositions": names(formulas, &extended.propositions),
        "states": extended.states.len(),
        "values": extended.states.iter().map(holding).collect::<Vec<_>>(),
        "initial": numbers(|state| state.initial),
        "buchi": numbers(|state| state.infinite),
        "finite": numbers(|state| state.finite),
        "deadlock": numbers(|state| state.deadlock),
        "edges": edges.collect::<Vec<_>>(),
    })
}

fn names(formulas: &Formulas, propositions: &[Prop]) -> Vec<String> {
    propositions.iter().map(|&prop| formulas.text(prop).to_owned()).collect()
}

fn marks(marks: Marks) -> Vec<u32> {
    marks.iter().collect()
}

fn show_cube(formulas: &Formulas, cube: &[(Prop, bool)]) -> String {
    let literal = |&(prop, holds): &(Prop, bool)| literal(formulas.text(prop), holds);
    if cube.is_empty() { "true".to_owned() } else { cube.iter().map(literal).collect::<Vec<_>>().join(" & ") }
}

/// The names of the propositions in a set.
fn members(formulas: &Formulas, propositions: &[Prop], set: PropSet) -> Vec<String> {
    let inside = propositions.iter().enumerate().filter(|(index, _)| set.contains(*index));
    inside.map(|(_, &prop)| formulas.text(prop).to_owned()).collect()
}

fn initial_json(formulas: &Formulas, propositions: &[Prop], initial: &[(PropSet, State)]) -> Vec<Value> {
    let entry = |(set, state): &(PropSet, State)| json!({"true": members(formulas, propositions, *set), "state": state.index()});
    initial.iter().map(entry).collect()
}

fn steps_json<'a>(
    formulas: &Formulas,
    propositions: &[Prop],
    steps: impl Iterator<Item = (State, &'a [Step])>,
) -> Vec<Value> {
    let entry = |from: State, step: &Step| {
        json!({
            "from": from.index(), "change": members(formulas, propositions, step.change),
            "marks": marks(step.marks), "to": step.target.index(),
        })
    };
    steps.flat_map(|(from, steps)| steps.iter().map(move |step| entry(from, step))).collect()
}

/// A TA as a picture.
pub fn ta_dot(ta: &Ta, formulas: &Formulas) -> String {
    let own_deadlocks = !ta.accepts_deadlocks_like_stuttering();
    let shape = |state: State| {
        let acceptance = ta.acceptance(state);
        let circle = if acceptance.buchi { "doublecircle" } else { "circle" };
        let style = if acceptance.livelock { ", style=dashed" } else { "" };
        let color = if acceptance.finite { ", color=green" } else { "" };
        let deadlock = if own_deadlocks && acceptance.deadlock { ", xlabel=\"dl\"" } else { "" };
        format!("shape={circle}{style}{color}{deadlock}")
    };
    let states: Vec<(State, String, &[Step])> =
        ta.states().map(|state| (state, shape(state), ta.steps(state))).collect();
    picture(formulas, ta.propositions(), ta.initial(), &states)
}

/// A TGTA as a picture.
pub fn tgta_dot(tgta: &Tgta, formulas: &Formulas) -> String {
    let states: Vec<(State, String, &[Step])> =
        tgta.states().map(|state| (state, "shape=circle".to_owned(), tgta.steps(state))).collect();
    picture(formulas, tgta.propositions(), tgta.initial(), &states)
}

/// An extended automaton as a picture.
pub fn extended_dot(extended: &Extended, formulas: &Formulas) -> String {
    let mut text = "digraph automaton {\n  rankdir=LR;\n".to_owned();
    // Writing to a string cannot fail.
    for (index, state) in extended.states.iter().enumerate() {
        let values = PropSet::of(&state.valuation, &extended.propositions);
        let values = escape(&literals(formulas, &extended.propositions, values));
        let circle = if state.infinite { "doublecircle" } else { "circle" };
        let color = if state.finite { ", color=green" } else { "" };
        let deadlock = if state.deadlock { ", xlabel=\"dl\"" } else { "" };
        if state.initial {
            _ = writeln!(text, "  init{index} [shape=point]; init{index} -> s{index};");
        }
        _ = writeln!(text, "  s{index} [label=\"{index}: {values}\", shape={circle}{color}{deadlock}];");
        for to in &state.successors {
            _ = writeln!(text, "  s{index} -> s{to};");
        }
    }
    text + "}\n"
}

fn picture(
    formulas: &Formulas,
    propositions: &[Prop],
    initial: &[(PropSet, State)],
    states: &[(State, String, &[Step])],
) -> String {
    let mut text = "digraph automaton {\n  rankdir=LR;\n".to_owned();
    // Writing to a string cannot fail.
    for (index, (set, state)) in initial.iter().enumerate() {
        let label = escape(&literals(formulas, propositions, *set));
        _ = writeln!(
            text,
            "  init{index} [shape=point]; init{index} -> s{} [label=\"{label}\"];",
            state.index()
        );
    }
    for (state, shape, steps) in states {
        _ = writeln!(text, "  s{0} [label=\"{0}\", {shape}];", state.index());
        for step in *steps {
            let change = members(formulas, propositions, step.change).join(",");
            let dots: String = step.marks.iter().map(|mark| format!(" \u{25cf}{mark}")).collect();
            let label =
                format!("{}{dots}", if change.is_empty() { "∅".to_owned() } else { format!("{{{change}}}") });
            let (from, to) = (state.index(), step.target.index());
            _ = writeln!(text, "  s{from} -> s{to} [label=\"{}\"];", escape(&label));
        }
    }
    text + "}\n"
}
