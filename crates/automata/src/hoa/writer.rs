//! Writing the HOA format.

use std::fmt;

use base::Budget;
use base::budget::Patience;
use base::text::Shown;
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
/// let text = hoa::write(&tgba, &formulas, Some("G F a")).to_string();
/// assert!(text.starts_with("HOA: v1\nname: \"G F a\"\nStates: 1\nStart: 0\nAP: 1 \"a\"\n"));
/// let again = hoa::read_any(&mut formulas, &text, base::SourceId::new(0), budget).unwrap();
/// assert_eq!(hoa::write_any(&again[0].automaton, &formulas, Some("G F a")).to_string(), text);
/// ```
pub fn write(tgba: &Tgba, formulas: &Formulas, name: Option<&str>) -> impl fmt::Display {
    Shown(move |f: &mut fmt::Formatter<'_>| write_tgba(f, tgba, formulas, name))
}

pub(super) fn write_tgba(
    f: &mut fmt::Formatter<'_>,
    tgba: &Tgba,
    formulas: &Formulas,
    name: Option<&str>,
) -> fmt::Result {
    let propositions = propositions(tgba);
    write_header(f, tgba, formulas, &propositions, name)?;
    f.write_str("--BODY--\n")?;
    let state_based = tgba.is_state_based();
    for state in tgba.states() {
        let first = tgba.edges(state).first().filter(|_| state_based);
        let common = first.map_or(Marks::NONE, |edge| edge.marks);
        writeln!(f, "State: {}{}", state.index(), marks(common))?;
        for edge in tgba.edges(state) {
            let label = label(tgba.labels(), &propositions, edge.label);
            writeln!(f, "[{label}] {}{}", edge.target.index(), marks(edge.marks.minus(common)))?;
        }
    }
    f.write_str("--END--\n")
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

fn write_header(
    f: &mut fmt::Formatter<'_>,
    tgba: &Tgba,
    formulas: &Formulas,
    propositions: &[Prop],
    name: Option<&str>,
) -> fmt::Result {
    f.write_str("HOA: v1\n")?;
    if let Some(name) = name {
        writeln!(f, "name: {}", quoted(name))?;
    }
    write!(f, "States: {}\nStart: {}\n", tgba.n_states(), tgba.initial().index())?;
    write!(f, "AP: {}", propositions.len())?;
    for &prop in propositions {
        write!(f, " {}", quoted(formulas.text(prop)))?;
    }
    let n_marks = tgba.n_marks();
    let name = match n_marks {
        0 => "all".to_owned(),
        1 => "Buchi".to_owned(),
        n => format!("generalized-Buchi {n}"),
    };
    writeln!(f, "\nacc-name: {name}\nAcceptance: {n_marks} {}", condition(n_marks))?;
    writeln!(f, "tool: \"stubborn\"\nproperties: {}", properties(tgba))
}

pub(super) fn condition(n_marks: u32) -> String {
    match n_marks {
        0 => "t".to_owned(),
        _ => (0..n_marks).map(|mark| format!("Inf({mark})")).collect::<Vec<_>>().join("&"),
    }
}

/// What is known of the automaton, without much work: none of this needs to be said.
fn properties(tgba: &Tgba) -> String {
    const EFFORT: u64 = 1_000;
    let mut properties = vec!["trans-labels", "explicit-labels"];
    properties.push(if tgba.is_state_based() { "state-acc" } else { "trans-acc" });
    let patience = Patience::new(EFFORT);
    let budget = &mut Budget::new(u64::MAX, u64::MAX, &patience);
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
pub(super) fn label(labels: &Labels, propositions: &[Prop], label: Label) -> impl fmt::Display {
    crate::dot::disjunction(labels, label, ["t", "f", "!", "&", " | "], |prop| {
        // The list has all propositions that occur.
        propositions.binary_search(&prop).unwrap_or_default().to_string()
    })
}

pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
