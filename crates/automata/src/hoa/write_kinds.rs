//! Writing TA, TGTA and extended automata in our extension of the HOA format, so that reading gives the same
//! automaton. Steps that differ in the change alone share an edge.

use std::fmt::{self, Write as _};

use base::text::Shown;
use ltl::{Formulas, Prop};

use crate::any::AnyAutomaton;
use crate::by_change::{Acceptance, Graph, PropSet, Step, Ta, Tgta};
use crate::extended::{Extended, ExtendedState};
use crate::hoa::kinds::Set;
use crate::hoa::writer::{condition, label, marks, quoted, write_tgba};
use crate::label::{Label, Labels};
use crate::stutter::exactly;
use crate::tgba::{Marks, State};

/// The automaton in the HOA format, or in our extension of it; `name` becomes its name.
///
/// ```
/// # use stubborn_automata::{AnyAutomaton, Effort, hoa, by_change::{Limits, translate_ta}};
/// let mut formulas = ltl::Formulas::new();
/// let formula = ltl::parse(&mut formulas, "F G p", base::SourceId::new(0), 0).unwrap().formula;
/// let budget = &mut base::Budget::unlimited();
/// let ta = translate_ta(&mut formulas, formula, Effort::High, &Limits::default(), budget).unwrap();
/// let text = hoa::write_any(&AnyAutomaton::Ta(ta), &formulas, None).to_string();
/// assert!(text.starts_with("HOA: v1\nstubborn-kind: TA\nStates: 2\n"), "{text}");
/// assert!(text.contains("Sets: livelock\nAcceptance: 1 f\n"), "{text}");
/// ```
pub fn write_any(automaton: &AnyAutomaton, formulas: &Formulas, name: Option<&str>) -> impl fmt::Display {
    Shown(move |f: &mut fmt::Formatter<'_>| match automaton {
        AnyAutomaton::Tgba(tgba) => write_tgba(f, tgba, formulas, name),
        AnyAutomaton::Ta(ta) => write_ta(f, ta, formulas, name),
        AnyAutomaton::Tgta(tgta) => write_tgta(f, tgta, formulas, name),
        AnyAutomaton::Extended(extended) => write_extended(f, extended, formulas, name),
    })
}

/// A TA in our extension of the HOA format. An unfinished one, with stuttering steps, is written as it is,
/// but will not be read.
fn write_ta(f: &mut fmt::Formatter<'_>, ta: &Ta, formulas: &Formulas, name: Option<&str>) -> fmt::Result {
    let own: Vec<Acceptance> = ta.states().map(|state| ta.acceptance(state)).collect();
    let mut sets = vec![];
    sets.extend(own.iter().any(|own| own.buchi).then_some(Set::Buchi));
    sets.extend(own.iter().any(|own| own.livelock).then_some(Set::Livelock));
    sets.extend(own.iter().any(|own| own.finite).then_some(Set::Finite));
    // Without this set, it is that of the livelock states.
    sets.extend(own.iter().any(|own| own.deadlock != own.livelock).then_some(Set::Deadlock));
    let mut text = Text::new(f, formulas, ta.propositions());
    let starts = text.starts(ta);
    text.header("TA", name, &starts.iter().map(|&label| label != Label::FALSE).collect::<Vec<_>>())?;
    text.sets(&sets)?;
    text.body("explicit-labels state-acc")?;
    for state in ta.states() {
        let own = ta.acceptance(state);
        let member = |set: Set| match set {
            Set::Buchi => own.buchi,
            Set::Livelock => own.livelock,
            Set::Finite => own.finite,
            Set::Deadlock => own.deadlock,
        };
        text.state(state, starts[state.index()], members(&sets, member))?;
        text.steps(ta.steps(state))?;
    }
    text.end()
}

/// A TGTA in our extension of the HOA format. An [unfinished](Tgta::is_finished) one is written as it is, but
/// may not be read, or get stuttering loops where it has none.
fn write_tgta(
    f: &mut fmt::Formatter<'_>,
    tgta: &Tgta,
    formulas: &Formulas,
    name: Option<&str>,
) -> fmt::Result {
    let mut text = Text::new(f, formulas, tgta.propositions());
    let starts = text.starts(tgta);
    text.header("TGTA", name, &starts.iter().map(|&label| label != Label::FALSE).collect::<Vec<_>>())?;
    let n_marks = tgta.n_marks();
    writeln!(text.f, "Acceptance: {n_marks} {}", condition(n_marks))?;
    text.body("explicit-labels trans-acc")?;
    for state in tgta.states() {
        text.state(state, starts[state.index()], Marks::NONE)?;
        text.steps(tgta.steps(state))?;
    }
    text.end()
}

/// An extended automaton in our extension of the HOA format.
fn write_extended(
    f: &mut fmt::Formatter<'_>,
    extended: &Extended,
    formulas: &Formulas,
    name: Option<&str>,
) -> fmt::Result {
    let any = |is_in: fn(&ExtendedState) -> bool| extended.states.iter().any(is_in);
    let mut sets = vec![];
    sets.extend(any(|state| state.infinite).then_some(Set::Buchi));
    sets.extend(any(|state| state.finite).then_some(Set::Finite));
    // Without this set, deadlocks would be accepted like stuttering.
    sets.push(Set::Deadlock);
    let mut text = Text::new(f, formulas, &extended.propositions);
    text.header("extended", name, &extended.states.iter().map(|state| state.initial).collect::<Vec<_>>())?;
    text.sets(&sets)?;
    text.body("state-labels explicit-labels state-acc")?;
    for (index, state) in extended.states.iter().enumerate() {
        let member = |set: Set| match set {
            Set::Buchi => state.infinite,
            Set::Finite => state.finite,
            Set::Deadlock => state.deadlock,
            Set::Livelock => false,
        };
        let valuation = exactly(&mut text.labels, &extended.propositions, &state.valuation);
        let valuation = label(&text.labels, text.propositions, valuation);
        writeln!(text.f, "State: [{valuation}] {index}{}", marks(members(&sets, member)))?;
        for (place, successor) in state.successors.iter().enumerate() {
            write!(text.f, "{}{successor}", if place > 0 { " " } else { "" })?;
        }
        text.f.write_str(if state.successors.is_empty() { "" } else { "\n" })?;
    }
    text.end()
}

/// The places of the sets that a state is in.
fn members(sets: &[Set], is_member: impl Fn(Set) -> bool) -> Marks {
    let places = sets.iter().enumerate().filter(|&(_, &set)| is_member(set));
    places.fold(Marks::NONE, |marks, (place, _)| marks.union(Marks::single(place as u32)))
}

/// A text that is written.
struct Text<'a, 'f> {
    f: &'a mut fmt::Formatter<'f>,
    labels: Labels,
    formulas: &'a Formulas,
    propositions: &'a [Prop],
}

impl<'a, 'f> Text<'a, 'f> {
    fn new(f: &'a mut fmt::Formatter<'f>, formulas: &'a Formulas, propositions: &'a [Prop]) -> Text<'a, 'f> {
        Text { f, labels: Labels::new(), formulas, propositions }
    }

    /// For each state the valuations with which runs begin there.
    fn starts(&mut self, graph: &Graph) -> Vec<Label> {
        let mut starts = vec![vec![]; graph.n_states()];
        graph.initial().iter().for_each(|&(valuation, state)| starts[state.index()].push(valuation));
        starts.into_iter().map(|valuations| self.union(valuations)).collect()
    }

    /// `starts`: for each state whether runs begin there.
    fn header(&mut self, kind: &str, name: Option<&str>, starts: &[bool]) -> fmt::Result {
        self.f.write_str("HOA: v1\n")?;
        if let Some(name) = name {
            writeln!(self.f, "name: {}", quoted(name))?;
        }
        writeln!(self.f, "stubborn-kind: {kind}\nStates: {}", starts.len())?;
        for (start, _) in starts.iter().enumerate().filter(|(_, starts)| **starts) {
            writeln!(self.f, "Start: {start}")?;
        }
        write!(self.f, "AP: {}", self.propositions.len())?;
        for &prop in self.propositions {
            write!(self.f, " {}", quoted(self.formulas.text(prop)))?;
        }
        self.f.write_char('\n')
    }

    fn sets(&mut self, sets: &[Set]) -> fmt::Result {
        let names: String = sets.iter().map(|set| format!(" {}", set.name())).collect();
        writeln!(self.f, "Sets:{names}\n{}", Set::condition(sets))
    }

    fn body(&mut self, properties: &str) -> fmt::Result {
        writeln!(self.f, "tool: \"stubborn\"\nproperties: {properties}\n--BODY--")
    }

    /// A state of a testing automaton, with the valuations to begin with.
    fn state(&mut self, state: State, valuations: Label, own: Marks) -> fmt::Result {
        self.f.write_str("State: ")?;
        if valuations != Label::FALSE {
            write!(self.f, "[{}] ", label(&self.labels, self.propositions, valuations))?;
        }
        writeln!(self.f, "{}{}", state.index(), marks(own))
    }

    /// One edge for all steps with the same target and marks, in the order of these.
    fn steps(&mut self, steps: &[Step]) -> fmt::Result {
        let mut ends: Vec<(State, Marks)> = steps.iter().map(|step| (step.target, step.marks)).collect();
        ends.sort_unstable();
        ends.dedup();
        let mut changes = vec![vec![]; ends.len()];
        for step in steps {
            if let Ok(end) = ends.binary_search(&(step.target, step.marks)) {
                changes[end].push(step.change);
            }
        }
        for ((target, own), changes) in ends.into_iter().zip(changes) {
            let changes = self.union(changes);
            let changes = label(&self.labels, self.propositions, changes);
            writeln!(self.f, "[{changes}] {}{}", target.index(), marks(own))?;
        }
        Ok(())
    }

    /// The label of exactly these sets.
    fn union(&mut self, sets: Vec<PropSet>) -> Label {
        sets.into_iter().fold(Label::FALSE, |all, set| {
            let one = exactly(&mut self.labels, self.propositions, &set.valuation(self.propositions));
            self.labels.or(all, one)
        })
    }

    fn end(self) -> fmt::Result {
        self.f.write_str("--END--\n")
    }
}
