//! The automaton that watches, drawn, with the way that it takes along the run.

use std::collections::BTreeMap;

use automata::{AnyAutomaton, State, Tester, Tgba};
use base::Budget;
use base::budget::Patience;
use ltl::{Formulas, Lasso, Prop, Valuation};

use super::path::accepting_path;
use crate::explain::record::{Ending, Record};
use crate::outcome::Watcher;
use drawing::{Drawing, Edge, Fill, Node, NodeId, Shape, automaton};

/// Labels that take more bytes, or more looks of a budget, are no part of a page.
const MAX_BYTES: u64 = 1 << 23;
const EFFORT: u64 = 1_000;

/// A drawing, and the way through it.
pub struct Picture {
    /// The drawing.
    pub svg: String,
    /// What it shows.
    pub caption: &'static str,
    /// For each step that is told, the state that the watcher is in; empty if that is not known.
    pub way: Vec<usize>,
}

impl Picture {
    /// Draws a watcher, if that can be looked at.
    pub fn new(watcher: &Watcher, property: &str, record: Option<&Record>) -> Option<Picture> {
        let n_states = match watcher {
            Watcher::Claim(tgba, _) => tgba.n_states(),
            Watcher::Tester(tester) => tester.states.len(),
        };
        if n_states > Drawing::MAX_NODES {
            return None;
        }
        let (drawing, way, caption) = match watcher {
            Watcher::Claim(tgba, formulas) => {
                let patience = Patience::new(EFFORT);
                let budget = &mut Budget::new(u64::MAX, MAX_BYTES, &patience);
                let automaton = AnyAutomaton::Tgba((**tgba).clone());
                let drawing = automaton::draw(&automaton, formulas, property, budget).ok()?;
                let way = record.and_then(|record| claim_way(tgba, formulas, record)).unwrap_or_default();
                (drawing, way, "The automaton of what must not happen")
            }
            Watcher::Tester(tester) => {
                let way = record.and_then(|record| tester_way(tester, record)).unwrap_or_default();
                (draw_tester(tester, property), way, "The tester")
            }
        };
        let svg = with_way(&drawing, &way).to_svg().ok()?;
        // The page has a name space of its own, and asks nobody for anything.
        let svg = svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
        Some(Picture { svg, caption, way })
    }
}

/// The name of a state, by which the page finds it.
fn name(state: usize) -> String {
    format!("state {state}")
}

/// The same drawing, in which states have names and those on the way a color.
fn with_way(drawing: &Drawing, way: &[usize]) -> Drawing {
    let mut named = Drawing::new(drawing.title.clone());
    named.description.clone_from(&drawing.description);
    named.direction = drawing.direction;
    for (index, node) in drawing.nodes().iter().enumerate() {
        let fill = if way.contains(&index) { Fill::Initial } else { node.fill };
        let note = if node.shape == Shape::Point { String::new() } else { name(index) };
        named.node(Node { fill, note, ..node.clone() });
    }
    for edge in drawing.edges() {
        named.edge(edge.clone());
    }
    named
}

/// How an automaton accepts the run, as far as it is told whole.
fn claim_way(tgba: &Tgba, formulas: &Formulas, record: &Record) -> Option<Vec<usize>> {
    if record.is_cut() {
        return None;
    }
    let start = match record.ending {
        Ending::Cycle(start) => start,
        Ending::Deadlock => record.n_steps,
        Ending::Prefix | Ending::Error => return None,
    };
    let mut numbers: Vec<(Prop, usize)> = Vec::new();
    for &prop in tgba.propositions() {
        let text = formulas.text(prop);
        numbers.push((prop, record.propositions.iter().position(|known| known == text)?));
    }
    let letter = |step: usize| -> Valuation {
        numbers.iter().filter(|(_, number)| record.holds(step, *number)).map(|(prop, _)| *prop).collect()
    };
    let end = record.n_steps.max(start + 1);
    let word = Lasso::new((0..start).map(letter).collect(), (start..end).map(letter).collect())?;
    let way = accepting_path(tgba, &word)?;
    Some(way.into_iter().take(record.steps.len()).map(State::index).collect())
}

/// The states of a tester have names, which the run tells.
fn tester_way(tester: &Tester, record: &Record) -> Option<Vec<usize>> {
    let state = |index| {
        let name = record.observer(index)?;
        tester.states.iter().position(|state| state.name == name)
    };
    (0..record.steps.len()).map(state).collect()
}

fn draw_tester(tester: &Tester, title: &str) -> Drawing {
    let mut drawing = Drawing::new(title);
    drawing.description = format!("A tester with {}.", crate::count(tester.states.len() as u64, "state"));
    for (index, state) in tester.states.iter().enumerate() {
        let kinds = [
            (state.reject, "reject"),
            (state.deadlock, "deadlock"),
            (state.livelock, "livelock"),
            (state.infinite, "infinite"),
        ];
        let kinds: Vec<&str> = kinds.iter().filter(|(is, _)| *is).map(|(_, kind)| *kind).collect();
        let shape = if kinds.is_empty() { Shape::State } else { Shape::Accepting };
        let label = match kinds.as_slice() {
            [] => state.name.clone(),
            kinds => format!("{}\n({})", state.name, kinds.join(", ")),
        };
        drawing.node(Node { root: index == tester.initial as usize, ..Node::new(shape, label) });
    }
    let mut edges: BTreeMap<(u32, u32), Vec<&str>> = BTreeMap::new();
    for edge in &tester.edges {
        let letter = edge.letter.map_or("tau", |letter| tester.letters[letter as usize].as_str());
        edges.entry((edge.from, edge.to)).or_default().push(letter);
    }
    for ((from, to), letters) in edges {
        let (from, to) = (NodeId::new(from as usize), NodeId::new(to as usize));
        drawing.edge(Edge::new(from, to).labeled(letters.join("\n")));
    }
    if !tester.states.is_empty() {
        drawing.start(NodeId::new(tester.initial as usize), "");
    }
    drawing
}
