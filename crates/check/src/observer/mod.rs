//! Observers of runs: automata and testers, as searches see them.
//!
//! | observer | watches | made from |
//! |---|---|---|
//! | [`ByValue`] | the valuation of the state that a step leaves | TGBA, BA |
//! | [`ByChange`] | which propositions flip | TA, TGTA, explicit |
//! | [`Lazy`] | which propositions flip | TA, TGTA, as far as they are met, from a TGBA |
//! | [`ByAction`] | actions | testers |
//! | [`Monitored`] | what another one does, and fairness | a BA and monitors |
//! | [`StateLabeled`] | the valuation of the state that a step enters | extended Büchi automata of [hansen.02.fmics] |
//!
//! Valuations are numbered as they are met, and an observer's steps are computed once for each of
//! its states and each number: a step in a search is then a lookup.

mod by_action;
mod by_change;
mod by_value;
mod lazy;
mod monitored;
mod state_labeled;
mod valuations;

pub use by_action::ByAction;
pub use by_change::ByChange;
pub use by_value::ByValue;
pub(crate) use by_value::recurrent_states;
pub use lazy::{Kind, Lazy};
pub use monitored::Monitored;
pub use state_labeled::StateLabeled;
pub use valuations::Valuations;

use model::ActionId;

/// A step of an observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObserverStep {
    /// Target state.
    pub to: u32,
    /// The marks seen on the way, as bits.
    pub marks: u64,
}

/// What an observer looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watches {
    /// The valuation of the state that is left.
    Source,
    /// The valuation of the state that is entered.
    Target,
    /// The propositions that flip. Without a flip it stays where it is.
    Changes,
    /// Actions. Without one that it watches it stays where it is.
    Actions,
}

/// What happens in a step of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Number of the valuation before it.
    pub from: u32,
    /// Number of the valuation after it.
    pub to: u32,
    /// The step; none if the last state of a run repeats. Who watches actions sees the one it begins with.
    pub action: Option<ActionId>,
}

impl Event {
    /// A step that leaves the valuation as it is.
    pub fn stuttering(valuation: u32) -> Event {
        Event { from: valuation, to: valuation, action: None }
    }
}

/// How a state of an observer accepts, besides by marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stance {
    /// Reaching it is enough (reject states of testers, F_fin).
    pub at_once: bool,
    /// It is enough if the system ends here (S_D of testers, F_dl).
    pub deadlock: bool,
    /// It is enough to stay here for ever, moved by nothing (S_L of testers, G of TA).
    pub livelock: bool,
    /// Staying here for ever is accepted, in whatever way: as a livelock, or by marks.
    pub may_wait: bool,
    /// No accepted run is here infinitely often.
    pub passing: bool,
}

/// An observer whose states have the same numbers in every copy, whatever a copy was asked before: they are
/// those of the automaton it was made from. Workers of one search may each have a copy, and tell each
/// other states. What a copy numbers as it meets it, valuations above all, never leaves it.
/// ([`Monitored`] is none: it numbers its states as it meets them.)
pub trait Portable: Observer + Clone {}

impl Portable for ByAction<'_> {}
impl Portable for ByChange {}
impl Portable for ByValue<'_> {}
impl Portable for Lazy<'_> {}
impl Portable for StateLabeled<'_> {}

/// An automaton that watches a run.
pub trait Observer {
    /// What it looks at.
    fn watches(&self) -> Watches;

    /// All marks, as bits: a run is accepted if each is seen infinitely often.
    fn all_marks(&self) -> u64;

    /// Number of states.
    fn n_states(&self) -> u64;

    /// Appends the states in which it begins, where the system begins with this valuation.
    fn initial(&mut self, valuation: u32, valuations: &Valuations, out: &mut Vec<u32>);

    /// The steps of a state at an event.
    fn steps(&mut self, state: u32, event: Event, valuations: &Valuations) -> &[ObserverStep];

    /// How a state accepts while the system has this valuation.
    fn stance(&mut self, state: u32, valuation: u32, valuations: &Valuations) -> Stance;

    /// Told of a state that is about to be expanded: these steps are enabled.
    fn see_enabled(&mut self, _enabled: &[ActionId]) {}

    /// Whether it sees nothing of an event.
    #[inline]
    fn is_silent(&mut self, event: Event, _valuations: &Valuations) -> bool {
        event.from == event.to
    }

    /// Whether it sees nothing of a proposition, given by its bit in valuations: steps that flip no other are silent.
    fn ignores(&self, _proposition: usize) -> bool {
        false
    }

    /// Whether some state accepts by livelock.
    fn has_livelocks(&self) -> bool {
        false
    }

    /// Whether it can accept by marks.
    fn has_marks(&self) -> bool {
        true
    }

    /// Whether it says itself which deadlocks are errors; else the last state of a run repeats, or
    /// whatever else was asked for.
    fn owns_deadlocks(&self) -> bool {
        false
    }

    /// Whether a state is one that searches look for: it may be searched first or last.
    fn is_accepting(&self, _state: u32) -> bool {
        false
    }
}
