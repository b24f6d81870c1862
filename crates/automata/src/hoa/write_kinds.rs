//! Writing TA, TGTA and extended automata in our extension of the HOA format, so that reading gives the same
//! automaton. Steps that differ in the change alone share an edge.

use std::fmt::Write;

use ltl::{Formulas, Prop};

use crate::any::AnyAutomaton;
use crate::by_change::{Acceptance, Graph, PropSet, Step, Ta, Tgta};
use crate::extended::{Extended, ExtendedState};
use crate::hoa::kinds::Set;
use crate::hoa::writer::{condition, label, marks, quoted, write};
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
/// let text = hoa::write_any(&AnyAutomaton::Ta(ta), &formulas, None);
/// assert!(text.starts_with("HOA: v1\nstubborn-kind: TA\nStates: 2\n"), "{text}");
/// assert!(text.contains("Sets: livelock\nAcceptance: 1 f\n"), "{text}");
/// ```
pub fn write_any(automaton: &AnyAutomaton, formulas: &Formulas, name: Option<&str>) -> String {
    match automaton {
        AnyAutomaton::Tgba(tgba) => write(tgba, formulas, name),
        AnyAutomaton::Ta(ta) => write_ta(ta, formulas, name),
        AnyAutomaton::Tgta(tgta) => write_tgta(tgta, formulas, name),
        AnyAutomaton::Extended(extended) => write_extended(extended, formulas, name),
    }
}

/// A TA in our extension of the HOA format. An unfinished one, with stuttering steps, is written as it is,
/// but will not be read.
fn write_ta(ta: &Ta, formulas: &Formulas, name: Option<&str>) -> String {
    let own: Vec<Acceptance> = ta.states().map(|state| ta.acceptance(state)).collect();
    let mut sets = vec![];
    sets.extend(own.iter().any(|own| own.buchi).then_some(Set::Buchi));
    sets.extend(own.iter().any(|own| own.livelock).then_some(Set::Livelock));
    sets.extend(own.iter().any(|own| own.finite).then_some(Set::Finite));
    // Without this set, it is that of the livelock states.
    sets.extend(own.iter().any(|own| own.deadlock != own.livelock).then_some(Set::Deadlock));
    let mut text = Text::new(formulas, ta.propositions());
    let starts = text.starts(ta);
    text.header("TA", name, &starts.iter().map(|&label| label != Label::FALSE).collect::<Vec<_>>());
    text.sets(&sets);
    text.body("explicit-labels state-acc");
    for state in ta.states() {
        let own = ta.acceptance(state);
        let member = |set: Set| match set {
            Set::Buchi => own.buchi,
            Set::Livelock => own.livelock,
            Set::Finite => own.finite,
            Set::Deadlock => own.deadlock,
        };
        text.state(state, starts[state.index()], members(&sets, member));
        text.steps(ta.steps(state));
    }
    text.end()
}

/// A TGTA in our extension of the HOA format. An [unfinished](Tgta::is_finished) one is written as it is, but
/// may not be read, or get stuttering loops where it has none.
fn write_tgta(tgta: &Tgta, formulas: &Formulas, name: Option<&str>) -> String {
    let mut text = Text::new(formulas, tgta.propositions());
    let starts = text.starts(tgta);
    text.header("TGTA", name, &starts.iter().map(|&label| label != Label::FALSE).collect::<Vec<_>>());
    let n_marks = tgta.n_marks();
    // Writing to a string cannot fail.
    let _ = writeln!(text.text, "Acceptance: {n_marks} {}", condition(n_marks));
    text.body("explicit-labels trans-acc");
    for state in tgta.states() {
        text.state(state, starts[state.index()], Marks::NONE);
        text.steps(tgta.steps(state));
    }
    text.end()
}

/// An extended automaton in our extension of the HOA format.
fn write_extended(extended: &Extended, formulas: &Formulas, name: Option<&str>) -> String {
    let any = |is_in: fn(&ExtendedState) -> bool| extended.states.iter().any(is_in);
    let mut sets = vec![];
    sets.extend(any(|state| state.infinite).then_some(Set::Buchi));
    sets.extend(any(|state| state.finite).then_some(Set::Finite));
    // Without this set, deadlocks would be accepted like stuttering.
    sets.push(Set::Deadlock);
    let mut text = Text::new(formulas, &extended.propositions);
    text.header("extended", name, &extended.states.iter().map(|state| state.initial).collect::<Vec<_>>());
    text.sets(&sets);
    text.body("state-labels explicit-labels state-acc");
    for (index, state) in extended.states.iter().enumerate() {
        let member = |set: Set| match set {
            Set::Buchi => state.infinite,
            Set::Finite => state.finite,
            Set::Deadlock => state.deadlock,
            Set::Livelock => false,
        };
        let valuation = exactly(&mut text.labels, &extended.propositions, &state.valuation);
        let valuation = text.label(valuation);
        let _ = writeln!(text.text, "State: [{valuation}] {index}{}", marks(members(&sets, member)));
        let successors: Vec<String> = state.successors.iter().map(usize::to_string).collect();
        if !successors.is_empty() {
            let _ = writeln!(text.text, "{}", successors.join(" "));
        }
    }
    text.end()
}

/// The places of the sets that a state is in.
fn members(sets: &[Set], is_member: impl Fn(Set) -> bool) -> Marks {
    let places = sets.iter().enumerate().filter(|&(_, &set)| is_member(set));
    places.fold(Marks::NONE, |marks, (place, _)| marks.union(Marks::single(place as u32)))
}

/// A text that grows.
struct Text<'a> {
    text: String,
    labels: Labels,
    formulas: &'a Formulas,
    propositions: &'a [Prop],
}

impl<'a> Text<'a> {
    fn new(formulas: &'a Formulas, propositions: &'a [Prop]) -> Text<'a> {
        Text { text: "HOA: v1\n".to_owned(), labels: Labels::new(), formulas, propositions }
    }

    /// For each state the valuations with which runs begin there.
    fn starts(&mut self, graph: &Graph) -> Vec<Label> {
        let mut starts = vec![vec![]; graph.n_states()];
        graph.initial().iter().for_each(|&(valuation, state)| starts[state.index()].push(valuation));
        starts.into_iter().map(|valuations| self.union(valuations)).collect()
    }

    /// `starts`: for each state whether runs begin there.
    fn header(&mut self, kind: &str, name: Option<&str>, starts: &[bool]) {
        let text = &mut self.text;
        if let Some(name) = name {
            let _ = writeln!(text, "name: {}", quoted(name));
        }
        let _ = writeln!(text, "stubborn-kind: {kind}\nStates: {}", starts.len());
        for (start, _) in starts.iter().enumerate().filter(|(_, starts)| **starts) {
            let _ = writeln!(text, "Start: {start}");
        }
        let _ = write!(text, "AP: {}", self.propositions.len());
        for &prop in self.propositions {
            let _ = write!(text, " {}", quoted(self.formulas.text(prop)));
        }
        text.push('\n');
    }

    fn sets(&mut self, sets: &[Set]) {
        let names: String = sets.iter().map(|set| format!(" {}", set.name())).collect();
        let _ = writeln!(self.text, "Sets:{names}\n{}", Set::condition(sets));
    }

    fn body(&mut self, properties: &str) {
        let _ = writeln!(self.text, "tool: \"stubborn\"\nproperties: {properties}\n--BODY--");
    }

    /// A state of a testing automaton, with the valuations to begin with.
    fn state(&mut self, state: State, valuations: Label, own: Marks) {
        let valuations = match valuations {
            Label::FALSE => String::new(),
            some => format!("[{}] ", self.label(some)),
        };
        let _ = writeln!(self.text, "State: {valuations}{}{}", state.index(), marks(own));
    }

    /// One edge for all steps with the same target and marks, in the order of these.
    fn steps(&mut self, steps: &[Step]) {
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
            let _ = writeln!(self.text, "[{}] {}{}", self.label(changes), target.index(), marks(own));
        }
    }

    /// The label of exactly these sets.
    fn union(&mut self, sets: Vec<PropSet>) -> Label {
        sets.into_iter().fold(Label::FALSE, |all, set| {
            let one = exactly(&mut self.labels, self.propositions, &set.valuation(self.propositions));
            self.labels.or(all, one)
        })
    }

    fn label(&self, of: Label) -> String {
        label(&self.labels, self.propositions, of)
    }

    fn end(mut self) -> String {
        self.text.push_str("--END--\n");
        self.text
    }
}
