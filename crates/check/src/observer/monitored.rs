//! Fairness by monitors: the other method of [malinen.03.fairness], for comparison.
//!
//! # Idea
//! A monitor is an automaton that sees which constraints are enabled in a state and taken by a step, and
//! accepts the fair runs. For all weak constraints together it is a counter that waits for one after the
//! other (B_wf); for each strong one it has three states, and guesses from when on the constraint is never
//! enabled (B_sf). Its acceptance and the observer's are brought down to a single mark by a counter (the
//! construction of Choueka), so that a nested search can be used.
//!
//! # When should I use this?
//! To see what it costs: weak constraints multiply the states by up to their number plus one, strong ones
//! exponentially. The search by components needs none of that.
//!
//! # Differences from the paper
//! The counter of Definition 11 runs modulo n + 1, and that of Theorem 4 from 1 to k: the paper's
//! moduli lose a state each. Marks are on steps.

use model::ActionId;
use model::chain::first;
use rustc_hash::FxHashMap;

use super::{Event, Observer, ObserverStep, Stance, Valuations, Watches};
use crate::fairness::Constraint;

/// A state: the observer's, the weak monitor's, the strong monitors', and the counter's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    observer: u32,
    weak: u32,
    strong: Vec<u8>,
    /// Which acceptance set is waited for.
    counter: u32,
}

/// An observer with one mark, and monitors for fairness.
pub struct Monitored<O> {
    observer: O,
    n_actions: usize,
    weak: Vec<Constraint>,
    strong: Vec<Constraint>,
    /// What the steps begin with that are enabled in the state that is expanded.
    enabled: Vec<ActionId>,
    states: Vec<State>,
    numbers: FxHashMap<State, u32>,
    steps: Vec<ObserverStep>,
    inner: Vec<ObserverStep>,
}

impl<O: Observer> Monitored<O> {
    /// An observer with at most one mark, under these constraints on a system of so many actions.
    pub fn new(observer: O, n_actions: usize, constraints: &[Constraint]) -> Monitored<O> {
        let of_kind = |strong: bool| {
            let used = constraints.iter().filter(|known| known.strong == strong && !known.actions.is_empty());
            used.cloned().collect()
        };
        Monitored {
            observer,
            n_actions,
            weak: of_kind(false),
            strong: of_kind(true),
            enabled: Vec::new(),
            states: Vec::new(),
            numbers: FxHashMap::default(),
            steps: Vec::new(),
            inner: Vec::new(),
        }
    }

    fn number(&mut self, state: State) -> u32 {
        if let Some(&number) = self.numbers.get(&state) {
            return number;
        }
        let number = self.states.len() as u32;
        self.states.push(state.clone());
        self.numbers.insert(state, number);
        number
    }

    /// The next state of the monitor of weak constraints.
    fn next_weak(&self, weak: u32, action: Option<ActionId>) -> u32 {
        let n = self.weak.len() as u32;
        let Some(waits_for) = weak.checked_sub(1) else { return 1 % (n + 1) };
        let constraint = &self.weak[waits_for as usize];
        let moves_on = is_taken(constraint, action) || !self.is_enabled(constraint);
        if moves_on { (weak + 1) % (n + 1) } else { weak }
    }

    /// The next states of the monitor of a strong constraint.
    fn next_strong(&self, index: usize, strong: u8, action: Option<ActionId>) -> &'static [u8] {
        let constraint = &self.strong[index];
        match (strong, is_taken(constraint, action), self.is_enabled(constraint)) {
            (0, true, _) => &[0, 2],
            (0, false, false) => &[0, 1],
            (1, false, false) => &[1],
            (1, ..) => &[],
            (2, true, _) => &[2],
            _ => &[0],
        }
    }

    fn is_enabled(&self, constraint: &Constraint) -> bool {
        self.enabled.iter().any(|action| constraint.actions.contains(action))
    }

    /// Moves the counter: the observer's set first, then the monitors'.
    fn next_counter(&self, state: &State, observer_accepts: bool) -> (u32, bool) {
        let n_sets = 1 + u32::from(!self.weak.is_empty()) + self.strong.len() as u32;
        let n_weak = u32::from(!self.weak.is_empty());
        let accepts = match state.counter {
            0 => observer_accepts,
            1 if n_weak == 1 => state.weak == 0,
            counter => state.strong[(counter - 1 - n_weak) as usize] != 0,
        };
        let next = if accepts { (state.counter + 1) % n_sets } else { state.counter };
        (next, accepts && next == 0)
    }
}

fn is_taken(constraint: &Constraint, action: Option<ActionId>) -> bool {
    action.is_some_and(|action| constraint.takers().contains(&action))
}

impl<O: Observer> Observer for Monitored<O> {
    fn watches(&self) -> Watches {
        // All that happens must be told.
        Watches::Target
    }

    fn all_marks(&self) -> u64 {
        1
    }

    fn n_states(&self) -> u64 {
        self.states.len().max(1) as u64
    }

    fn initial(&mut self, valuation: u32, valuations: &Valuations, out: &mut Vec<u32>) {
        let mut inner = Vec::new();
        self.observer.initial(valuation, valuations, &mut inner);
        for observer in inner {
            let strong = vec![0; self.strong.len()];
            let number = self.number(State { observer, weak: 0, strong, counter: 0 });
            out.push(number);
        }
    }

    fn see_enabled(&mut self, enabled: &[ActionId]) {
        self.enabled.clear();
        self.enabled.extend(enabled.iter().map(|&step| first(step, self.n_actions)));
    }

    fn steps(&mut self, state: u32, event: Event, valuations: &Valuations) -> &[ObserverStep] {
        let source = self.states[state as usize].clone();
        self.inner.clear();
        self.inner.extend_from_slice(self.observer.steps(source.observer, event, valuations));
        self.steps.clear();
        let all_marks = self.observer.all_marks();
        let action = event.action.map(|step| first(step, self.n_actions));
        let weak = self.next_weak(source.weak, action);
        let mut choices: Vec<Vec<u8>> = vec![Vec::new()];
        for (index, &strong) in source.strong.iter().enumerate() {
            let next = self.next_strong(index, strong, action);
            let extended = choices
                .iter()
                .flat_map(|choice| next.iter().map(move |&strong| [choice.as_slice(), &[strong]].concat()));
            choices = extended.collect();
        }
        for index in 0..self.inner.len() {
            let ObserverStep { to, marks } = self.inner[index];
            let (counter, is_marked) = self.next_counter(&source, marks & all_marks == all_marks);
            for strong in &choices {
                let target = State { observer: to, weak, strong: strong.clone(), counter };
                let to = self.number(target);
                self.steps.push(ObserverStep { to, marks: u64::from(is_marked) });
            }
        }
        &self.steps
    }

    fn stance(&mut self, _state: u32, _valuation: u32, _valuations: &Valuations) -> Stance {
        Stance::default()
    }
}
