//! Explicit testing automata: observers of changes. [ta](automata::by_change::Ta) accept by marks
//! (on steps that leave Büchi states) or by livelock, [tgta](automata::by_change::Tgta) by marks alone.

use automata::by_change::{PropSet, Ta, Tgta};
use automata::tgba::State;
use ltl::Prop;

use super::by_value::on_accepting_cycles;
use super::{Event, Observer, ObserverStep, Stance, Valuations, Watches};

/// A TA or TGTA that watches a run.
#[derive(Clone)]
pub struct ByChange {
    /// Per proposition of the automaton, its bit in valuations.
    bits: Vec<usize>,
    initial: Vec<(PropSet, u32)>,
    /// Per state, its steps with a change, sorted by that.
    moves: Vec<Vec<(PropSet, ObserverStep)>>,
    /// Per state, its stuttering step.
    waits: Vec<Option<ObserverStep>>,
    stances: Vec<Stance>,
    all_marks: u64,
    has_marks: bool,
    owns_deadlocks: bool,
    /// Per valuation met, the automaton's part of it.
    sets: Vec<PropSet>,
    buffer: Vec<ObserverStep>,
}

impl ByChange {
    /// A TA whose valuations have these propositions, in the order of their bits. With
    /// `own_deadlocks` its deadlock states say which ends of the system are accepted.
    ///
    /// # Panics
    /// If a proposition of the automaton is not among them.
    pub fn of_ta(ta: &Ta, propositions: &[Prop], own_deadlocks: bool) -> ByChange {
        let step = |state: State| {
            let marks = u64::from(ta.acceptance(state).buchi);
            move |step: &automata::by_change::Step| {
                (step.change, ObserverStep { to: step.target.index() as u32, marks })
            }
        };
        let stance = |state: State| {
            let own = ta.acceptance(state);
            Stance {
                at_once: own.finite,
                deadlock: own_deadlocks && own.deadlock,
                livelock: own.livelock,
                may_wait: own.livelock,
                passing: !own.livelock,
            }
        };
        let moves: Vec<Vec<(PropSet, ObserverStep)>> =
            ta.states().map(|state| ta.steps(state).iter().map(step(state)).collect()).collect();
        let mut stances: Vec<Stance> = ta.states().map(stance).collect();
        note_recurrent(&moves, 1, &mut stances);
        ByChange {
            bits: positions(ta.propositions(), propositions),
            initial: ta.initial().iter().map(|(set, state)| (*set, state.index() as u32)).collect(),
            moves,
            waits: ta
                .states()
                .map(|state| Some(ObserverStep { to: state.index() as u32, marks: 0 }))
                .collect(),
            stances,
            all_marks: 1,
            has_marks: ta.states().any(|state| ta.acceptance(state).buchi),
            owns_deadlocks: own_deadlocks,
            sets: Vec::new(),
            buffer: Vec::new(),
        }
    }

    /// A TGTA whose valuations have these propositions, in the order of their bits.
    ///
    /// # Panics
    /// If a proposition of the automaton is not among them.
    pub fn of_tgta(tgta: &Tgta, propositions: &[Prop]) -> ByChange {
        let step = |step: &automata::by_change::Step| {
            (step.change, ObserverStep { to: step.target.index() as u32, marks: step.marks.0 })
        };
        let all = tgta.all_marks().0;
        let mut moves: Vec<Vec<(PropSet, ObserverStep)>> =
            tgta.states().map(|state| tgta.steps(state).iter().map(step).collect()).collect();
        let mut waits = Vec::new();
        for (state, steps) in moves.iter_mut().enumerate() {
            let is_loop = |step: &&(PropSet, ObserverStep)| step.0.is_empty() && step.1.to == state as u32;
            waits.push(steps.iter().find(is_loop).map(|(_, step)| *step));
            steps.retain(|(change, _)| !change.is_empty());
        }
        let may_wait = |wait: &Option<ObserverStep>| wait.is_some_and(|step| step.marks == all);
        let stance = |wait: &Option<ObserverStep>| {
            let may_wait = may_wait(wait);
            Stance { may_wait, passing: !may_wait, ..Stance::default() }
        };
        let mut stances: Vec<Stance> = waits.iter().map(stance).collect();
        note_recurrent(&moves, all, &mut stances);
        ByChange {
            bits: positions(tgta.propositions(), propositions),
            initial: tgta.initial().iter().map(|(set, state)| (*set, state.index() as u32)).collect(),
            moves,
            waits,
            stances,
            all_marks: all,
            has_marks: true,
            owns_deadlocks: false,
            sets: Vec::new(),
            buffer: Vec::new(),
        }
    }

    #[inline]
    fn set(&mut self, valuation: u32, valuations: &Valuations) -> PropSet {
        while self.sets.len() <= valuation as usize {
            let number = self.sets.len() as u32;
            let holds = |bits, (index, &bit): (usize, &usize)| {
                bits | u32::from(valuations.holds(number, bit)) << index
            };
            self.sets.push(PropSet(self.bits.iter().enumerate().fold(0, holds)));
        }
        self.sets[valuation as usize]
    }
}

/// Notes which states accepted runs may come back to for ever, by moves with all marks: without waiting, since a word
/// that changes for ever is also accepted if each letter is read once.
fn note_recurrent(moves: &[Vec<(PropSet, ObserverStep)>], all_marks: u64, stances: &mut [Stance]) {
    let edges: Vec<Vec<ObserverStep>> =
        moves.iter().map(|row| row.iter().map(|(_, step)| *step).collect()).collect();
    for state in on_accepting_cycles(&edges, all_marks).ones() {
        stances[state].passing = false;
    }
}

fn positions(own: &[Prop], all: &[Prop]) -> Vec<usize> {
    let position = |prop: &Prop| {
        all.iter().position(|other| other == prop).expect("the automaton's propositions are watched")
    };
    own.iter().map(position).collect()
}

impl Observer for ByChange {
    fn watches(&self) -> Watches {
        Watches::Changes
    }

    fn all_marks(&self) -> u64 {
        self.all_marks
    }

    fn n_states(&self) -> u64 {
        self.moves.len() as u64
    }

    fn initial(&mut self, valuation: u32, valuations: &Valuations, out: &mut Vec<u32>) {
        let set = self.set(valuation, valuations);
        out.extend(self.initial.iter().filter(|initial| initial.0 == set).map(|initial| initial.1));
    }

    fn steps(&mut self, state: u32, event: Event, valuations: &Valuations) -> &[ObserverStep] {
        let change = self.set(event.from, valuations).flip(self.set(event.to, valuations));
        self.buffer.clear();
        if change.is_empty() {
            self.buffer.extend(self.waits[state as usize]);
        } else {
            let moves = &self.moves[state as usize];
            let first = moves.partition_point(|step| step.0 < change);
            let taken = moves[first..].iter().take_while(|step| step.0 == change);
            self.buffer.extend(taken.map(|step| step.1));
        }
        &self.buffer
    }

    #[inline]
    fn stance(&mut self, state: u32, _valuation: u32, _valuations: &Valuations) -> Stance {
        self.stances[state as usize]
    }

    /// Propositions that it does not watch may flip.
    #[inline]
    fn is_silent(&mut self, event: Event, valuations: &Valuations) -> bool {
        event.from == event.to || self.set(event.from, valuations) == self.set(event.to, valuations)
    }

    fn ignores(&self, proposition: usize) -> bool {
        !self.bits.contains(&proposition)
    }

    fn has_livelocks(&self) -> bool {
        self.stances.iter().any(|stance| stance.livelock)
    }

    fn has_marks(&self) -> bool {
        self.has_marks
    }

    fn owns_deadlocks(&self) -> bool {
        self.owns_deadlocks
    }

    fn is_accepting(&self, state: u32) -> bool {
        let leaves_marked = |steps: &[(PropSet, ObserverStep)]| {
            steps.first().is_some_and(|first| first.1.marks == self.all_marks)
        };
        self.stances[state as usize].may_wait || leaves_marked(&self.moves[state as usize])
    }
}
