//! Building TA, TGTA and extended automata from what was read. Labels are expanded to explicit sets of
//! propositions, so there are limits.

use base::{Budget, Diagnostic, Span};
use ltl::Prop;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::any::AnyAutomaton;
use crate::by_change::{Acceptance, PropSet, Step, Ta, Tgta, letters};
use crate::extended::{Extended, ExtendedState};
use crate::gave_up::Unread;
use crate::hoa::kinds::{Kind, Set};
use crate::hoa::reader::{RawEdge, RawState, Reader, fail, state_of};
use crate::label::{Label, Labels};
use crate::tgba::{Marks, State};

/// So many steps, initial pairs, or states of an extended automaton may come from a text.
const MAX_EXPANDED: usize = 1 << 21;

impl Reader<'_, '_> {
    /// The automaton, which is not a TGBA.
    pub(super) fn build_kind(&mut self, kind: Kind, body: Span) -> Result<AnyAutomaton, Unread> {
        let mut propositions = self.propositions.take().unwrap_or_default();
        propositions.sort_unstable();
        propositions.dedup();
        let numbers = self.numbers(body)?;
        let mut states: Vec<(u64, RawState)> = self.defined.drain().collect();
        states.sort_unstable_by_key(|&(number, _)| number);
        let states: Vec<RawState> = states.into_iter().map(|(_, state)| state).collect();
        let mut starts = self.initial_states(&numbers)?;
        starts.sort_unstable();
        starts.dedup();
        let labels = std::mem::take(&mut self.labels);
        let sets = self.sets.take().map_or(vec![], |(sets, _)| sets);
        let edges = &self.edges;
        let n_marks = self.acceptance.as_ref().map_or(1, |condition| condition.n_marks);
        let budget = &mut *self.budget;
        let raw = Raw { kind, labels, propositions, numbers, states, starts, edges, sets, n_marks, budget };
        raw.build()
    }
}

/// All that was read.
struct Raw<'r, 'w> {
    kind: Kind,
    labels: Labels,
    /// Sorted.
    propositions: Vec<Prop>,
    numbers: FxHashMap<u64, State>,
    states: Vec<RawState>,
    starts: Vec<State>,
    edges: &'r [RawEdge],
    sets: Vec<Set>,
    n_marks: u32,
    budget: &'r mut Budget<'w>,
}

impl Raw<'_, '_> {
    fn build(self) -> Result<AnyAutomaton, Unread> {
        Ok(match self.kind {
            Kind::Extended => AnyAutomaton::Extended(self.extended()?),
            Kind::Tgta => AnyAutomaton::Tgta(self.tgta()?),
            // A TGBA is built elsewhere.
            Kind::Ta | Kind::Tgba => AnyAutomaton::Ta(self.ta()?),
        })
    }

    /// The sets of propositions that a label stands for, sorted.
    fn expand(&mut self, label: Label) -> Result<impl Iterator<Item = PropSet> + use<>, Unread> {
        let letters = letters(&self.labels, label, &self.propositions, self.budget)?;
        self.budget.hold((letters.len() * size_of::<Step>()) as u64)?;
        Ok(letters.into_iter().map(PropSet))
    }

    fn too_large<T>(&self, span: Span, what: &str) -> Result<T, Unread> {
        let message = format!("{} has more than {MAX_EXPANDED} {what}", self.kind.with_article());
        fail(span, "hoa-limit", message)
    }

    /// Whether the state is in the set, which may not be named.
    fn is_in(&self, state: &RawState, set: Set) -> bool {
        let place = self.sets.iter().position(|&known| known == set);
        place.is_some_and(|place| state.marks.contains(place as u32))
    }

    fn ta(mut self) -> Result<Ta, Unread> {
        let (initial, steps) = (self.initial()?, self.steps()?);
        let own_deadlocks = self.sets.contains(&Set::Deadlock);
        let acceptance = self.states.iter().map(|state| {
            let livelock = self.is_in(state, Set::Livelock);
            let deadlock = if own_deadlocks { self.is_in(state, Set::Deadlock) } else { livelock };
            let (buchi, finite) = (self.is_in(state, Set::Buchi), self.is_in(state, Set::Finite));
            Acceptance { buchi, livelock, finite, deadlock }
        });
        let acceptance = acceptance.collect();
        Ok(Ta::new(self.propositions, initial, steps, acceptance))
    }

    fn tgta(mut self) -> Result<Tgta, Unread> {
        let (initial, mut steps) = (self.initial()?, self.steps()?);
        for (state, steps) in steps.iter_mut().enumerate() {
            if steps.iter().all(|step| !step.change.is_empty()) {
                steps.push(Step { change: PropSet::EMPTY, target: State::new(state), marks: Marks::NONE });
            }
        }
        Ok(Tgta::new(self.propositions, initial, steps, self.n_marks))
    }

    /// Where runs begin: the states that `Start:` names, with the valuations of their labels.
    fn initial(&mut self) -> Result<Vec<(PropSet, State)>, Unread> {
        let mut initial = vec![];
        for index in 0..self.states.len() {
            let RawState { label, span, .. } = self.states[index];
            let index = State::new(index);
            if self.starts.binary_search(&index).is_ok() {
                let valuations = self.expand(label.unwrap_or(Label::TRUE))?;
                initial.extend(valuations.map(|valuation| (valuation, index)));
            } else if label.is_some() {
                let message = "this state has values to begin with, but no `Start:` names it";
                return fail(span, "hoa-kind", message);
            }
            if initial.len() > MAX_EXPANDED {
                return self.too_large(span, "initial states with valuations");
            }
        }
        Ok(initial)
    }

    fn steps(&mut self) -> Result<Vec<Vec<Step>>, Unread> {
        let mut steps = vec![vec![]; self.states.len()];
        let mut n_steps = 0;
        for edge in self.edges {
            let source = self.numbers[&edge.source];
            let target = state_of(&self.numbers, edge.target, edge.span)?;
            let label = edge.label.unwrap_or(Label::FALSE);
            let mut changes: Vec<PropSet> = self.expand(label)?.collect();
            let stutters = changes.first() == Some(&PropSet::EMPTY);
            if self.kind == Kind::Tgta && stutters {
                self.check_stuttering(edge, source == target)?;
            } else if stutters {
                // Staying is not a step of a TA.
                changes.remove(0);
                if changes.is_empty() {
                    let message = "a TA stays where it is when nothing changes: it has no step for that";
                    return fail(edge.span, "hoa-kind", message);
                }
            }
            n_steps += changes.len();
            if n_steps > MAX_EXPANDED {
                return self.too_large(edge.span, "steps");
            }
            let step = |change| Step { change, target, marks: edge.marks };
            steps[source.index()].extend(changes.into_iter().map(step));
        }
        Ok(steps)
    }

    fn check_stuttering(&self, edge: &RawEdge, is_loop: bool) -> Result<(), Unread> {
        if !is_loop {
            let error = Diagnostic::error("hoa-kind", "a step of a TGTA that changes nothing must be a loop");
            let help = "the label allows that nothing flips; if that is not meant, say which one does";
            return Err(error.at(edge.span, "").with_help(help).into());
        }
        if edge.marks != Marks::NONE && edge.marks != Marks::all(self.n_marks) {
            let message = "the loop of a TGTA that changes nothing has all marks or none";
            return fail(edge.span, "hoa-kind", message);
        }
        Ok(())
    }

    /// Each state becomes one for each valuation of its label.
    fn extended(mut self) -> Result<Extended, Unread> {
        let mut states = vec![];
        // For each state as written its copies.
        let mut copies = vec![];
        for index in 0..self.states.len() {
            let first = states.len();
            let valuations = self.expand(self.states[index].label.unwrap_or(Label::TRUE))?;
            let state = &self.states[index];
            for valuation in valuations {
                states.push(ExtendedState {
                    valuation: valuation.valuation(&self.propositions),
                    successors: vec![],
                    initial: self.starts.binary_search(&State::new(index)).is_ok(),
                    infinite: self.is_in(state, Set::Buchi),
                    finite: self.is_in(state, Set::Finite),
                    deadlock: self.is_in(state, Set::Deadlock),
                });
            }
            if states.len() > MAX_EXPANDED {
                return self.too_large(state.span, "states, one for each valuation,");
            }
            copies.push(first..states.len());
        }
        let mut n_successors = 0;
        let mut seen = FxHashSet::default();
        for edge in self.edges {
            let source = self.numbers[&edge.source];
            let target = state_of(&self.numbers, edge.target, edge.span)?;
            if !seen.insert((source, target)) {
                continue;
            }
            let (from, to) = (&copies[source.index()], &copies[target.index()]);
            n_successors += from.len() * to.len();
            if n_successors > MAX_EXPANDED {
                return self.too_large(edge.span, "edges");
            }
            self.budget.tick()?;
            self.budget.hold((from.len() * to.len() * size_of::<usize>()) as u64)?;
            states[from.clone()].iter_mut().for_each(|state| state.successors.extend(to.clone()));
        }
        let own_deadlocks = self.sets.contains(&Set::Deadlock);
        let mut extended = Extended { propositions: self.propositions, states };
        if !own_deadlocks {
            extended.accept_deadlocks_like_stuttering(self.budget)?;
        }
        Ok(extended)
    }
}
