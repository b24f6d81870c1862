//! Drawings of automata, in the language of Graphviz, and labels as text.

use std::fmt::Write;

use ltl::{Formulas, Prop};

use crate::label::{Label, Labels};
use crate::tgba::{Marks, Tgba};

/// The automaton as a graph. States whose outgoing edges carry all marks have a double circle if marks
/// belong to states; otherwise marks are written on edges, as numbers in circles.
///
/// ```
/// # use stubborn_automata::{Effort, dot, translate};
/// let mut formulas = ltl::Formulas::new();
/// let formula = ltl::parse(&mut formulas, "G a", base::SourceId::new(0), 0).unwrap().formula;
/// let tgba = translate(&mut formulas, formula, Effort::High, &mut base::Budget::unlimited()).unwrap();
/// assert!(dot::draw(&tgba, &formulas).contains("0 -> 0 [label=\"a\"]"));
/// ```
pub fn draw(tgba: &Tgba, formulas: &Formulas) -> String {
    let mut text =
        String::from("digraph automaton {\n  rankdir=LR\n  node [shape=circle]\n  start [shape=point]\n");
    let _ = writeln!(text, "  start -> {}", tgba.initial().index());
    let on_states = tgba.n_marks() == 1 && tgba.is_state_based();
    for state in tgba.states() {
        let accepting = on_states && tgba.edges(state).iter().any(|edge| edge.marks != Marks::NONE);
        let shape = if accepting { " [shape=doublecircle]" } else { "" };
        let _ = writeln!(text, "  {}{shape}", state.index());
    }
    for state in tgba.states() {
        for edge in tgba.edges(state) {
            let name = |prop: Prop| formulas.text(prop).to_owned();
            let mut label =
                disjunction(tgba.labels(), edge.label, ["true", "false", "!", " & ", " | "], name);
            if !on_states {
                edge.marks.iter().for_each(|mark| label.push_str(&circled(mark)));
            }
            let label = label.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = writeln!(text, "  {} -> {} [label=\"{label}\"]", state.index(), edge.target.index());
        }
    }
    text.push_str("}\n");
    text
}

/// The number in a circle, as far as there are such characters.
fn circled(mark: u32) -> String {
    match char::from_u32(0x24ea).filter(|_| mark == 0).or_else(|| char::from_u32(0x245f + mark)) {
        Some(character) if mark <= 20 => format!(" {character}"),
        _ => format!(" ({mark})"),
    }
}

/// A label as a disjunction of conjunctions, with these signs for true, false, not, and, or.
pub(crate) fn disjunction(
    labels: &Labels,
    label: Label,
    [yes, no, not, and, or]: [&str; 5],
    name: impl Fn(Prop) -> String,
) -> String {
    match label {
        Label::TRUE => return yes.to_owned(),
        Label::FALSE => return no.to_owned(),
        _ => {}
    }
    let literal = |&(prop, holds): &(Prop, bool)| format!("{}{}", if holds { "" } else { not }, name(prop));
    let conjunction = |cube: &Vec<(Prop, bool)>| cube.iter().map(literal).collect::<Vec<_>>().join(and);
    labels.cubes(label).iter().map(conjunction).collect::<Vec<_>>().join(or)
}
