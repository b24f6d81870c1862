//! Writing the HOA format.

use std::fmt::Write;

use base::Budget;
use ltl::{Formulas, Prop};

use crate::label::{Label, Labels};
use crate::tgba::{Marks, Tgba};

/// The automaton in the HOA format; `name` becomes its name. Marks are written on states where they
/// belong to states.
///
/// ```
/// # use stubborn_automata::{Effort, hoa, translate};
/// let mut formulas = ltl::Formulas::new();
/// let formula = ltl::parse(&mut formulas, "G F a", base::SourceId::new(0), 0).unwrap().formula;
/// let budget = &mut base::Budget::unlimited();
/// let tgba = translate(&mut formulas, formula, Effort::High, budget).unwrap();
/// let text = hoa::write(&tgba, &formulas, Some("G F a"));
/// assert!(text.starts_with("HOA: v1\nname: \"G F a\"\nStates: 1\nStart: 0\nAP: 1 \"a\"\n"));
/// let again = hoa::read_any(&mut formulas, &text, base::SourceId::new(0), budget).unwrap();
/// assert_eq!(hoa::write_any(&again[0].automaton, &formulas, Some("G F a")), text);
/// ```
pub fn write(tgba: &Tgba, formulas: &Formulas, name: Option<&str>) -> String {
    let propositions = propositions(tgba);
    let mut text = header(tgba, formulas, &propositions, name);
    text.push_str("--BODY--\n");
    let state_based = tgba.is_state_based();
    for state in tgba.states() {
        let first = tgba.edges(state).first().filter(|_| state_based);
        let common = first.map_or(Marks::NONE, |edge| edge.marks);
        let _ = writeln!(text, "State: {}{}", state.index(), marks(common));
        for edge in tgba.edges(state) {
            let own = edge.marks.minus(common);
            let _ = writeln!(
                text,
                "[{}] {}{}",
                label(tgba.labels(), &propositions, edge.label),
                edge.target.index(),
                marks(own)
            );
        }
    }
    text.push_str("--END--\n");
    text
}

/// The propositions that are declared, and those that occur undeclared.
fn propositions(tgba: &Tgba) -> Vec<Prop> {
    let labels = tgba.all_edges().iter().flatten().map(|edge| edge.label);
    let occurring = tgba.labels().propositions(labels).into_iter();
    let mut propositions: Vec<Prop> = occurring.chain(tgba.propositions().iter().copied()).collect();
    propositions.sort_unstable();
    propositions.dedup();
    propositions
}

fn header(tgba: &Tgba, formulas: &Formulas, propositions: &[Prop], name: Option<&str>) -> String {
    let mut text = String::from("HOA: v1\n");
    if let Some(name) = name {
        let _ = writeln!(text, "name: {}", quoted(name));
    }
    let _ = write!(text, "States: {}\nStart: {}\n", tgba.n_states(), tgba.initial().index());
    let _ = write!(text, "AP: {}", propositions.len());
    for &prop in propositions {
        let _ = write!(text, " {}", quoted(formulas.text(prop)));
    }
    let n_marks = tgba.n_marks();
    let name = match n_marks {
        0 => "all".to_owned(),
        1 => "Buchi".to_owned(),
        n => format!("generalized-Buchi {n}"),
    };
    let _ = writeln!(text, "\nacc-name: {name}\nAcceptance: {n_marks} {}", condition(n_marks));
    let _ = writeln!(text, "tool: \"stubborn\"\nproperties: {}", properties(tgba));
    text
}

pub(super) fn condition(n_marks: u32) -> String {
    match n_marks {
        0 => "t".to_owned(),
        _ => (0..n_marks).map(|mark| format!("Inf({mark})")).collect::<Vec<_>>().join("&"),
    }
}

fn properties(tgba: &Tgba) -> String {
    let mut properties = vec!["trans-labels", "explicit-labels"];
    properties.push(if tgba.is_state_based() { "state-acc" } else { "trans-acc" });
    let budget = &mut Budget::unlimited();
    properties.extend((tgba.is_deterministic(budget) == Ok(true)).then_some("deterministic"));
    properties.extend((tgba.is_complete(budget) == Ok(true)).then_some("complete"));
    properties.join(" ")
}

pub(super) fn marks(marks: Marks) -> String {
    if marks == Marks::NONE {
        return String::new();
    }
    format!(" {{{}}}", marks.iter().map(|mark| mark.to_string()).collect::<Vec<_>>().join(" "))
}

/// A label over the places of the propositions in the list.
pub(super) fn label(labels: &Labels, propositions: &[Prop], label: Label) -> String {
    crate::dot::disjunction(labels, label, ["t", "f", "!", "&", " | "], |prop| {
        // The list has all propositions that occur.
        propositions.binary_search(&prop).unwrap_or_default().to_string()
    })
}

pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
