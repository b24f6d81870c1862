//! What a search knows of a system.
//!
//! [`System`] is deliberately small. It fills buffers that the caller owns instead of returning
//! iterators: a search reuses one [`Steps`] for all states, nothing is allocated per state, and
//! all successors of a state can be looked up in a store together, so that their cache misses
//! overlap. Scratch space is a value of its own, one per thread, so that systems are `Sync`.
//!
//! A state without enabled actions is a *deadlock*; what that means (the last state repeats for
//! ever, the run is dropped, or it is an error) is decided by the property, not by the system.
//!
//! ```
//! use stubborn_model::{ActionId, StepError, Steps, System};
//!
//! /// Two glasses of 3 and 5 measures, and a tap: fill one, empty one, pour one into the other.
//! struct Glasses;
//!
//! const ROOM: [u32; 2] = [3, 5];
//!
//! impl System for Glasses {
//!     type Scratch = ();
//!
//!     fn new_scratch(&self) {}
//!
//!     fn width(&self) -> usize {
//!         2
//!     }
//!
//!     fn initial_states(&self, out: &mut Vec<u32>) {
//!         out.extend([0, 0]);
//!     }
//!
//!     fn enabled(&self, _: &[u32], _: &mut (), out: &mut Vec<ActionId>) -> Result<(), StepError> {
//!         out.extend((0..6).map(ActionId::new));
//!         Ok(())
//!     }
//!
//!     fn fire(&self, state: &mut [u32], action: ActionId, _: &mut ()) -> Result<(), StepError> {
//!         let (what, one) = (action.index() / 2, action.index() % 2);
//!         let poured = state[one].min(ROOM[1 - one] - state[1 - one]);
//!         match what {
//!             0 => state[one] = ROOM[one],
//!             1 => state[one] = 0,
//!             _ => (state[one], state[1 - one]) = (state[one] - poured, state[1 - one] + poured),
//!         }
//!         Ok(())
//!     }
//!
//!     fn n_propositions(&self) -> usize {
//!         1
//!     }
//!
//!     /// Not four measures in a glass.
//!     fn holds(&self, _: usize, state: &[u32], _: &mut ()) -> Result<bool, StepError> {
//!         Ok(state[1] != 4)
//!     }
//! }
//!
//! let mut steps = Steps::new(2);
//! Glasses.successors(&[0, 5], &mut (), &mut steps)?;
//! assert_eq!(steps.target(5), [3, 2]);
//! # Ok::<(), StepError>(())
//! ```

use std::fmt;

use base::Limit;

use crate::{ActionId, ActionSystem, ProcessId, VarId};

/// What went wrong while an expression or effect was evaluated. A fault is a mistake in the
/// model, reported with the run that leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A result does not fit 64 bits.
    Overflow,
    /// Division or remainder by zero.
    DivisionByZero,
    /// An array has no element of this index.
    IndexOutOfBounds {
        /// The array's first variable.
        array: VarId,
        /// The index.
        index: i64,
        /// The array's number of elements.
        len: u32,
    },
    /// A variable cannot take this value.
    OutOfRange {
        /// The variable.
        var: VarId,
        /// The value.
        value: i64,
    },
    /// An effect goes round for ever.
    Endless,
    /// A step takes so long that nobody knows whether it ends: not a mistake, but a limit.
    TooLong,
    /// An assertion of the model failed; the number is the statement's own.
    Assertion(u32),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Overflow => write!(f, "arithmetic overflow"),
            Fault::DivisionByZero => write!(f, "division by zero"),
            Fault::IndexOutOfBounds { index, len, .. } => {
                write!(f, "index {index} is out of bounds of an array with {len} elements")
            }
            Fault::OutOfRange { value, .. } => write!(f, "value {value} is out of the variable's range"),
            Fault::Endless => write!(f, "an effect does not end"),
            Fault::TooLong => write!(f, "a step takes too long"),
            Fault::Assertion(_) => write!(f, "assertion violated"),
        }
    }
}

/// A fault, and the action whose guard or effect it happened in (none: a proposition).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepError {
    /// What went wrong.
    pub fault: Fault,
    /// Where.
    pub action: Option<ActionId>,
}

impl StepError {
    /// The limit that was reached, if nothing went wrong.
    pub fn limit(&self) -> Option<Limit> {
        (self.fault == Fault::TooLong).then_some(Limit::Step)
    }
}

impl std::error::Error for Fault {}

impl std::error::Error for StepError {}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault.fmt(f)
    }
}

/// Steps out of one state: for each, the action and the state it leads to. Reused.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    width: usize,
    actions: Vec<ActionId>,
    words: Vec<u32>,
}

impl Steps {
    /// An empty buffer for states of `width` words.
    pub fn new(width: usize) -> Steps {
        Steps { width, actions: Vec::new(), words: Vec::new() }
    }

    /// Forgets all steps.
    #[inline]
    pub fn clear(&mut self) {
        self.actions.clear();
        self.words.clear();
    }

    /// Number of steps.
    #[inline]
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// Whether there is no step.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Adds a step whose target starts as a copy of `source`; returns the target for changing.
    #[inline]
    pub fn push(&mut self, action: ActionId, source: &[u32]) -> &mut [u32] {
        self.actions.push(action);
        let start = self.words.len();
        self.words.extend_from_slice(source);
        &mut self.words[start..]
    }

    /// Adds steps whose targets are all zeros; returns the targets, one after the other, for writing.
    #[inline]
    pub fn push_all(&mut self, actions: &[ActionId]) -> &mut [u32] {
        self.actions.extend_from_slice(actions);
        let start = self.words.len();
        self.words.resize(start + actions.len() * self.width, 0);
        &mut self.words[start..]
    }

    /// Takes the last step back.
    #[inline]
    pub fn pop(&mut self) {
        self.truncate(self.len().saturating_sub(1));
    }

    /// Takes all steps back but the first ones, so many.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.actions.truncate(len);
        self.words.truncate(len * self.width);
    }

    /// Bytes held.
    #[inline]
    pub fn bytes(&self) -> u64 {
        4 * (self.actions.capacity() + self.words.capacity()) as u64
    }

    /// The actions, in order.
    #[inline]
    pub fn actions(&self) -> &[ActionId] {
        &self.actions
    }

    /// The target of the step at `index`.
    #[inline]
    pub fn target(&self, index: usize) -> &[u32] {
        &self.words[index * self.width..(index + 1) * self.width]
    }

    /// All targets, one after the other.
    #[inline]
    pub fn targets(&self) -> &[u32] {
        &self.words
    }

    /// Actions with their targets.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ActionId, &[u32])> {
        self.actions.iter().copied().zip(self.words.chunks_exact(self.width))
    }
}

/// A run from an initial state. Actions are deterministic, so this is all that is needed to
/// repeat it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Which of the initial states it starts in.
    pub initial: usize,
    /// What happens.
    pub actions: Vec<ActionId>,
}

/// A transition system with packed states and deterministic actions.
pub trait System: Sync {
    /// Working memory of one thread.
    type Scratch;

    /// New working memory.
    fn new_scratch(&self) -> Self::Scratch;

    /// Words per state; at least 1.
    fn width(&self) -> usize;

    /// Appends the initial states, one after the other. They need not be distinct.
    fn initial_states(&self, out: &mut Vec<u32>);

    /// Appends one step for each action enabled in `state`, in the order of [`System::enabled`]. A system that
    /// can do it at once is faster.
    fn successors(
        &self,
        state: &[u32],
        scratch: &mut Self::Scratch,
        out: &mut Steps,
    ) -> Result<(), StepError> {
        let mut enabled = Vec::new();
        self.enabled(state, scratch, &mut enabled)?;
        enabled.into_iter().try_for_each(|action| self.fire(out.push(action, state), action, scratch))
    }

    /// Appends the actions enabled in `state`, in an order that depends on `state` alone.
    fn enabled(
        &self,
        state: &[u32],
        scratch: &mut Self::Scratch,
        out: &mut Vec<ActionId>,
    ) -> Result<(), StepError>;

    /// Turns `state` into its successor by `action`, which must be enabled.
    fn fire(&self, state: &mut [u32], action: ActionId, scratch: &mut Self::Scratch)
    -> Result<(), StepError>;

    /// Per action whether it was ever executed with this working memory, alone or within a step; empty if the system
    /// does not keep account.
    fn taken<'s>(&self, _scratch: &'s Self::Scratch) -> &'s [bool] {
        &[]
    }

    /// Number of propositions.
    fn n_propositions(&self) -> usize;

    /// Whether a proposition is true in `state`.
    fn holds(
        &self,
        proposition: usize,
        state: &[u32],
        scratch: &mut Self::Scratch,
    ) -> Result<bool, StepError>;

    /// The bits of a state that a proposition depends on, as numbers of words and masks; nothing if nobody knows.
    fn reads(&self, _proposition: usize) -> Option<Vec<(usize, u32)>> {
        None
    }

    /// The same as an action system, if that is what it is.
    fn as_actions(&self) -> Option<&ActionSystem> {
        None
    }
}

/// Names for people. Never used in a search.
pub trait Describe {
    /// What the action is called that a step begins with. Several actions may share a label.
    fn action_label(&self, action: ActionId) -> &str;

    /// The processes that take part in an action.
    fn action_owners(&self, action: ActionId) -> &[ProcessId];

    /// What a process is called.
    fn process_name(&self, process: ProcessId) -> &str;

    /// The variables' names, in the order of [`Describe::values`].
    fn variable_names(&self) -> Vec<&str>;

    /// The variables' values in `state`, as people read them.
    fn values(&self, state: &[u32]) -> Vec<String>;
}
