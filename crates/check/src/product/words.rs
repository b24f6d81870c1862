//! The words of products: orders, steps, what is found out about a state, and what a search knows of its path.

use base::Limit;
use model::{ActionId, StepError, Steps};
use por::Effort;

use crate::observer::Stance;

/// What happens to a run that comes to a deadlock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtDeadlock {
    /// Its last state repeats for ever.
    #[default]
    Stutter,
    /// It is dropped.
    Ignore,
    /// It is an error, whatever the property says.
    Error,
}

/// In which order the steps of the system are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepOrder {
    /// As the system lists them.
    #[default]
    Forward,
    /// The other way round.
    Reverse,
    /// Those first that seem to lead to an accepted run soonest, if the observer is an automaton by value.
    Led,
    /// By chance: the same number, the same order.
    Shuffled(u64),
}

/// In which order the steps of the observer are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObserverOrder {
    /// In the automaton's own order.
    #[default]
    AsIs,
    /// Steps to accepting states first.
    AcceptingFirst,
    /// Steps to accepting states last.
    AcceptingLast,
}

/// In which order steps are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    /// The system's.
    pub steps: StepOrder,
    /// The observer's.
    pub observer: ObserverOrder,
}

/// Why a state could not be expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpandError {
    /// The model went wrong.
    Step(StepError),
    /// Its steps would take too much memory.
    Limit(Limit),
}

impl From<Limit> for ExpandError {
    fn from(limit: Limit) -> ExpandError {
        ExpandError::Limit(limit)
    }
}

impl From<StepError> for ExpandError {
    fn from(error: StepError) -> ExpandError {
        ExpandError::Step(error)
    }
}

/// A step of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProductStep {
    /// Index of the system's step.
    pub system: u32,
    /// The observer's target.
    pub observer: u32,
    /// The marks seen, as bits.
    pub marks: u64,
    /// What happens; none if the last state of a run repeats.
    pub action: Option<ActionId>,
    /// The observer sees nothing of it.
    pub silent: bool,
}

/// Where a step leads: a state of the system and one of the observer; nothing if it goes wrong.
pub(crate) type Target<'t> = Option<(&'t [u32], u32)>;

/// Steps out of one state.
pub struct ProductSteps {
    /// The system's steps.
    pub systems: Steps,
    /// The product's.
    pub steps: Vec<ProductStep>,
    /// The marks of the state itself, for fairness.
    pub(crate) state_marks: Vec<u32>,
}

impl ProductSteps {
    /// Bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        self.systems.bytes() + (self.steps.capacity() * size_of::<ProductStep>()) as u64
    }

    /// Copies the target of a step: the words of the system's state, then the observer's.
    pub fn copy_target(&self, step: &ProductStep, out: &mut [u32]) {
        let (system, observer) = out.split_at_mut(out.len() - 1);
        system.copy_from_slice(self.systems.target(step.system as usize));
        observer[0] = step.observer;
    }
}

/// What was found out about a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expanded {
    /// How the observer accepts here.
    pub stance: Stance,
    /// The run ends here: for the system, or together with the observer if that watches actions.
    pub is_deadlock: bool,
    /// The run ends here, and that is an error.
    pub is_error: bool,
    /// No step was left out.
    pub is_full: bool,
}

/// What a search knows of its path to the state that is expanded. Some sets of steps are valid only if they
/// close no cycle; they are taken only where that is known.
pub enum Path<'p> {
    /// Nothing.
    Unknown,
    /// Nothing, and everything is taken, whatever the selection.
    Everything,
    /// Whether a state of the product lies on it.
    Known(&'p mut dyn FnMut(&[u32], u32) -> bool),
    /// The same, but only the first set that is valid on this condition is offered: who takes it later, as before, takes the same.
    Offered(&'p mut dyn FnMut(&[u32], u32) -> bool),
    /// The state was expanded before, and what was taken then closed no cycle.
    AsBefore,
    /// Nothing, but the search repairs its components (`reduction::Repair`).
    Repaired {
        /// These actions are taken as well.
        extra: &'p [ActionId],
        /// The state was expanded before, and it was not given up to look for a set, but one was looked for in this way: the
        /// same is taken.
        again: Option<Effort>,
    },
    /// What was taken before closed a cycle: what is taken where no set is accepted is taken as well.
    Enlarged,
}

/// How often a search expands a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visits {
    /// Once: what is selected may depend on what was met before.
    Once,
    /// Perhaps again, and then alike: what is selected depends on the state alone.
    Again,
}
