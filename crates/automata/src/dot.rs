//! Drawings of automata, in the language of Graphviz, and labels as text.

use std::fmt;

use base::text::{Shown, escape_dot};
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
/// assert!(dot::draw(&tgba, &formulas).to_string().contains("0 -> 0 [label=\"a\"]"));
/// ```
pub fn draw(tgba: &Tgba, formulas: &Formulas) -> impl fmt::Display {
    Shown(move |f: &mut fmt::Formatter<'_>| {
        f.write_str("digraph automaton {\n  rankdir=LR\n  node [shape=circle]\n  start [shape=point]\n")?;
        writeln!(f, "  start -> {}", tgba.initial().index())?;
        let on_states = tgba.n_marks() == 1 && tgba.is_state_based();
        for state in tgba.states() {
            let accepting = on_states && tgba.edges(state).iter().any(|edge| edge.marks != Marks::NONE);
            let shape = if accepting { " [shape=doublecircle]" } else { "" };
            writeln!(f, "  {}{shape}", state.index())?;
        }
        for state in tgba.states() {
            for edge in tgba.edges(state) {
                let name = |prop: Prop| escape_dot(formulas.text(prop));
                let label =
                    disjunction(tgba.labels(), edge.label, ["true", "false", "!", " & ", " | "], name);
                let marks = if on_states { Marks::NONE } else { edge.marks };
                let marks: String = marks.iter().map(circled).collect();
                writeln!(f, "  {} -> {} [label=\"{label}{marks}\"]", state.index(), edge.target.index())?;
            }
        }
        f.write_str("}\n")
    })
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
    [yes, no, not, and, or]: [&'static str; 5],
    name: impl Fn(Prop) -> String,
) -> impl fmt::Display {
    Shown(move |f: &mut fmt::Formatter<'_>| {
        if label.is_constant() {
            return f.write_str(if label == Label::TRUE { yes } else { no });
        }
        for (place, cube) in labels.cubes(label).enumerate() {
            f.write_str(if place > 0 { or } else { "" })?;
            for (place, (prop, holds)) in cube.into_iter().enumerate() {
                f.write_str(if place > 0 { and } else { "" })?;
                write!(f, "{}{}", if holds { "" } else { not }, name(prop))?;
            }
        }
        Ok(())
    })
}
