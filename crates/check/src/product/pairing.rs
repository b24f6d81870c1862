//! A system and an observer side by side: which steps they can take together.
//!
//! [`Pairing::look`] lists the steps that are possible in a state, [`Pairing::take`] takes some of them. A
//! step of the system is fired once, at most: when somebody looks at its target (the observer, or who
//! selects steps), or when it is taken.

use std::hash::{Hash, Hasher};

use base::Room;
use fastrand::Rng;
use fixedbitset::FixedBitSet;
use model::chain::first;
use model::{ActionId, StepError, System};
use rustc_hash::FxHasher;

use super::lead::Lead;
use super::{AtDeadlock, ExpandError, Expanded, ObserverOrder, Orders, ProductStep, ProductSteps, StepOrder};
use crate::fairness::Fairness;
use crate::observer::{Event, Observer, ObserverStep, Portable, Stance, Valuations, Watches};

/// A system and an observer.
pub(super) struct Pairing<'a, S: System, O> {
    pub(super) system: &'a S,
    pub(super) observer: O,
    pub(super) valuations: Valuations,
    pub(super) at_deadlock: AtDeadlock,
    pub(super) orders: Orders,
    /// Says which steps lead on.
    pub(super) lead: Option<Lead<'a>>,
    /// The steps of the state that was looked at last, with how far they lead. Reused between states.
    pub(super) ranks: Vec<(u64, ProductStep)>,
    /// Per action, whether it may change a valuation; without it, all may.
    pub(super) visible: Option<FixedBitSet>,
    pub(super) fairness: Fairness,
    /// For the steps out of one state.
    pub(super) room: Room,
    pub(super) scratch: S::Scratch,
    pub(super) possible: Possible,
}

/// What is possible in the state that was looked at last. Reused between states.
#[derive(Default)]
pub(super) struct Possible {
    /// The number of its valuation.
    pub(super) valuation: u32,
    /// The system's steps.
    enabled: Vec<ActionId>,
    /// Those that the observer lets happen, whether it moves then, and the range of its steps.
    pub(super) actions: Vec<ActionId>,
    pub(super) moves: Vec<bool>,
    pub(super) ranges: Vec<(u32, u32)>,
    pub(super) observer_steps: Vec<ObserverStep>,
    /// Those that it does not.
    pub(super) blocked: Vec<ActionId>,
    /// The targets of those that happen.
    pub(super) targets: Targets,
}

/// The targets of steps, as far as these were fired.
#[derive(Default)]
pub(super) struct Targets {
    /// Per step, where its target is in `words`.
    places: Vec<Option<usize>>,
    words: Vec<u32>,
}

/// How a state is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Everything that is possible will be taken.
    All,
    /// Something will be selected, by what the steps do to valuations.
    Some,
    /// Everything is taken that does not go wrong.
    Sound,
}

impl Possible {
    fn clear(&mut self) {
        self.enabled.clear();
        self.actions.clear();
        self.moves.clear();
        self.ranges.clear();
        self.observer_steps.clear();
        self.blocked.clear();
        self.targets.places.clear();
        self.targets.words.clear();
    }
}

impl Targets {
    /// Fires a step; returns where its target is.
    fn fire<S: System>(
        &mut self,
        system: &S,
        state: &[u32],
        action: ActionId,
        scratch: &mut S::Scratch,
    ) -> Result<usize, StepError> {
        let at = self.words.len();
        self.words.extend_from_slice(state);
        system.fire(&mut self.words[at..], action, scratch)?;
        Ok(at)
    }

    /// The target of a step, if it was fired.
    fn known(&self, index: usize, width: usize) -> Option<&[u32]> {
        self.places[index].map(|at| &self.words[at..at + width])
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        4 * self.words.capacity() as u64
    }

    /// The target of a step, which is fired if it was not.
    pub(super) fn get<S: System>(
        &mut self,
        index: usize,
        system: &S,
        state: &[u32],
        action: ActionId,
        scratch: &mut S::Scratch,
    ) -> Result<&[u32], StepError> {
        let at = match self.places[index] {
            Some(at) => at,
            None => self.fire(system, state, action, scratch)?,
        };
        self.places[index] = Some(at);
        Ok(&self.words[at..at + state.len()])
    }
}

impl<'a, S: System, O: Portable> Pairing<'a, S, O> {
    /// The same, with a working memory of its own.
    pub(super) fn for_worker(&self) -> Pairing<'a, S, O> {
        Pairing {
            system: self.system,
            observer: self.observer.clone(),
            valuations: self.valuations.clone(),
            at_deadlock: self.at_deadlock,
            orders: self.orders,
            lead: self.lead.clone(),
            ranks: Vec::new(),
            visible: self.visible.clone(),
            fairness: self.fairness.clone(),
            room: self.room,
            scratch: self.system.new_scratch(),
            possible: Possible::default(),
        }
    }
}

impl<S: System, O: Observer> Pairing<'_, S, O> {
    /// The initial states, each with the number of the system's initial state in it.
    pub(super) fn initial_states(&mut self) -> Result<Vec<(usize, Vec<u32>)>, StepError> {
        let mut words = Vec::new();
        self.system.initial_states(&mut words);
        let (mut initial, mut observer_states) = (Vec::new(), Vec::new());
        for (index, state) in words.chunks_exact(self.system.width()).enumerate() {
            let valuation = self.valuations.number_of(self.system, state, &mut self.scratch)?;
            observer_states.clear();
            self.observer.initial(valuation, &self.valuations, &mut observer_states);
            sort_by_order(self.orders.observer, &mut observer_states, |&at| self.observer.is_accepting(at));
            initial.extend(observer_states.iter().map(|&observer| (index, [state, &[observer]].concat())));
        }
        Ok(initial)
    }

    /// How the observer accepts in a state, whose valuation is looked at.
    pub(super) fn stance(&mut self, state: &[u32], observer_state: u32) -> Result<Stance, StepError> {
        let valuation = self.valuations.number_of(self.system, state, &mut self.scratch)?;
        self.possible.valuation = valuation;
        Ok(self.observer.stance(observer_state, valuation, &self.valuations))
    }

    /// Finds out what is possible in a state. At its end a run may stutter: that is a step at once.
    pub(super) fn look(
        &mut self,
        state: &[u32],
        observer_state: u32,
        look: Look,
        out: &mut ProductSteps,
    ) -> Result<Expanded, ExpandError> {
        out.systems.clear();
        out.steps.clear();
        self.possible.clear();
        let stance = self.stance(state, observer_state)?;
        let mut expanded = Expanded { stance, is_deadlock: false, is_error: false, is_full: true };
        if stance.at_once {
            self.fairness.state_marks(&[], &mut out.state_marks);
            return Ok(expanded);
        }
        let enabled = &mut self.possible.enabled;
        self.system.enabled(state, &mut self.scratch, enabled)?;
        self.fairness.state_marks(enabled, &mut out.state_marks);
        self.observer.see_enabled(enabled);
        let watches = self.observer.watches();
        if enabled.is_empty() && watches != Watches::Actions {
            expanded.is_deadlock = true;
            expanded.is_error = self.deadlock(state, observer_state, stance, out);
            return Ok(expanded);
        }
        self.room.fits(4 * (enabled.len() * (state.len() + 1)) as u64)?;
        match self.orders.steps {
            StepOrder::Forward | StepOrder::Led => {}
            StepOrder::Reverse => enabled.reverse(),
            StepOrder::Shuffled(seed) => {
                let mut hasher = FxHasher::default();
                (seed, observer_state, state).hash(&mut hasher);
                Rng::with_seed(hasher.finish()).shuffle(enabled);
            }
        }
        self.ask_observer(state, observer_state, look)?;
        if watches == Watches::Actions && self.possible.actions.is_empty() {
            expanded.is_deadlock = true;
            expanded.is_error = stance.deadlock;
        }
        Ok(expanded)
    }

    /// What happens at the end of a run. Returns whether it is an error.
    fn deadlock(
        &mut self,
        state: &[u32],
        observer_state: u32,
        stance: Stance,
        out: &mut ProductSteps,
    ) -> bool {
        if self.at_deadlock == AtDeadlock::Error {
            return true;
        }
        if self.observer.owns_deadlocks() {
            return stance.deadlock && self.at_deadlock != AtDeadlock::Ignore;
        }
        if self.at_deadlock == AtDeadlock::Stutter {
            // The action is never looked at.
            out.systems.push(ActionId::new(0), state);
            let event = Event::stuttering(self.possible.valuation);
            let steps = self.observer.steps(observer_state, event, &self.valuations).iter();
            out.steps.extend(steps.map(|step| ProductStep {
                system: 0,
                observer: step.to,
                marks: step.marks,
                action: None,
                silent: true,
            }));
        }
        false
    }

    /// Which of the enabled steps the observer lets happen, and how.
    fn ask_observer(&mut self, state: &[u32], observer_state: u32, look: Look) -> Result<(), StepError> {
        let valuation = self.possible.valuation;
        let watches = self.observer.watches();
        // Steps that look alike to the observer are asked for once.
        let mut silent_range = None;
        if watches == Watches::Source {
            let steps = self.observer.steps(observer_state, Event::stuttering(valuation), &self.valuations);
            if steps.is_empty() {
                return Ok(());
            }
            self.possible.observer_steps.extend_from_slice(steps);
            silent_range = Some((0, steps.len() as u32));
        }
        let needs_target = match watches {
            Watches::Source => look == Look::Some,
            Watches::Target | Watches::Changes => true,
            Watches::Actions => false,
        };
        for index in 0..self.possible.enabled.len() {
            let action = self.possible.enabled[index];
            let (mut to, mut target) = (valuation, None);
            if needs_target && self.is_visible(action) {
                let at = match self.possible.targets.fire(self.system, state, action, &mut self.scratch) {
                    Err(_) if look == Look::Sound => continue,
                    fired => fired?,
                };
                target = Some(at);
                let words = &self.possible.targets.words[at..];
                // A proposition that cannot be evaluated there is noticed there.
                let number = self.valuations.number_of(self.system, words, &mut self.scratch);
                to = number.unwrap_or(valuation);
            }
            let event = Event { from: valuation, to, action: Some(action) };
            let is_silent = self.observer.is_silent(event, &self.valuations);
            let range = match silent_range {
                Some(range) if is_silent || watches == Watches::Source => range,
                _ => {
                    let known = &mut self.possible.observer_steps;
                    let start = known.len() as u32;
                    known.extend_from_slice(self.observer.steps(observer_state, event, &self.valuations));
                    let range = (start, known.len() as u32);
                    if is_silent && watches != Watches::Target {
                        silent_range = Some(range);
                    }
                    range
                }
            };
            if range.0 == range.1 {
                self.possible.blocked.push(action);
                continue;
            }
            self.possible.actions.push(action);
            self.possible.moves.push(!is_silent);
            self.possible.ranges.push(range);
            self.possible.targets.places.push(target);
        }
        self.sort_observer_steps();
        Ok(())
    }

    /// Whether a step may change the valuation.
    #[inline]
    pub(super) fn is_visible(&self, step: ActionId) -> bool {
        let contains = |visible: &FixedBitSet| visible.contains(first(step, visible.len()).index());
        self.visible.as_ref().is_none_or(contains)
    }

    fn sort_observer_steps(&mut self) {
        let order = self.orders.observer;
        if order == ObserverOrder::AsIs {
            return;
        }
        let mut ranges = self.possible.ranges.clone();
        ranges.sort_unstable();
        ranges.dedup();
        for (from, to) in ranges {
            let steps = &mut self.possible.observer_steps[from as usize..to as usize];
            sort_by_order(order, steps, |step| self.observer.is_accepting(step.to));
        }
    }

    /// Takes some of the possible steps.
    pub(super) fn take(
        &mut self,
        state: &[u32],
        look: Look,
        chosen: impl Iterator<Item = usize>,
        out: &mut ProductSteps,
    ) -> Result<(), StepError> {
        for index in chosen {
            let action = self.possible.actions[index];
            let number = out.systems.len() as u32;
            match self.possible.targets.known(index, state.len()) {
                Some(target) => _ = out.systems.push(action, target),
                None => match self.system.fire(out.systems.push(action, state), action, &mut self.scratch) {
                    Err(_) if look == Look::Sound => {
                        out.systems.pop();
                        continue;
                    }
                    fired => fired?,
                },
            }
            let silent = !self.possible.moves[index];
            let (from, to) = self.possible.ranges[index];
            let steps = self.possible.observer_steps[from as usize..to as usize].iter();
            out.steps.extend(steps.map(|step| ProductStep {
                system: number,
                observer: step.to,
                marks: step.marks,
                action: Some(action),
                silent,
            }));
        }
        Ok(())
    }
}

impl<S: System, O: Observer> Pairing<'_, S, O> {
    /// Puts the steps first that lead on.
    pub(super) fn sort_by_lead(&mut self, out: &mut ProductSteps) {
        let Some(lead) = &self.lead else { return };
        let ProductSteps { systems, steps, .. } = out;
        self.ranks.clear();
        let rank = |step: &ProductStep| lead.distance(systems.target(step.system as usize), step.observer);
        self.ranks.extend(steps.iter().map(|step| (rank(step), *step)));
        self.ranks.sort_by_key(|(rank, _)| *rank);
        steps.clear();
        steps.extend(self.ranks.iter().map(|(_, step)| *step));
    }
}

/// Puts what is accepting first or last; otherwise the order is kept.
fn sort_by_order<T>(order: ObserverOrder, items: &mut [T], is_accepting: impl Fn(&T) -> bool) {
    match order {
        ObserverOrder::AsIs => {}
        ObserverOrder::AcceptingFirst => items.sort_by_key(|item| !is_accepting(item)),
        ObserverOrder::AcceptingLast => items.sort_by_key(is_accepting),
    }
}
