//! What a search of states explores: a system, or a part of one.

use model::{ActionId, ActionSystem, StepError, Steps, System};
use por::SteadySets;

/// How much of what is possible in a state is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// What was given is enough.
    Enough,
    /// It is enough if one of its first steps, so many, leads to a state that the search comes to later: one that it
    /// expands after this one, or leaves before this one, depth first. Otherwise everything is to be
    /// taken.
    IfAhead(usize),
}

/// A system, or a part of one: the same states, but not all steps. Every system is all of itself.
pub trait Space {
    /// The system.
    type Whole: System;

    /// Working memory for the choice of steps.
    type Choice;

    /// The system that it is a part of.
    fn whole(&self) -> &Self::Whole;

    /// New working memory. What is chosen may depend on what was chosen before by way of it.
    fn new_choice(&self) -> Self::Choice;

    /// The same for a search that expands states in no certain order: what is chosen depends on the state alone.
    fn new_steady_choice(&self) -> Self::Choice {
        self.new_choice()
    }

    /// Appends the actions to be taken in a state.
    fn actions(
        &self,
        state: &[u32],
        choice: &mut Self::Choice,
        scratch: &mut <Self::Whole as System>::Scratch,
        out: &mut Vec<ActionId>,
    ) -> Result<Extent, StepError>;

    /// Appends the steps to be taken in a state, in the same order.
    fn steps(
        &self,
        state: &[u32],
        choice: &mut Self::Choice,
        scratch: &mut <Self::Whole as System>::Scratch,
        out: &mut Steps,
    ) -> Result<Extent, StepError>;

    /// Appends the actions that were left out of the state which was looked at last.
    fn others(&self, choice: &Self::Choice, out: &mut Vec<ActionId>);

    /// The whole as an action system, if that is what it is, and the sets that are taken, if something is left out; nothing if these
    /// do not depend on the state alone.
    fn for_device(&self) -> Option<(&ActionSystem, Option<&SteadySets>)> {
        None
    }

    /// Whether all steps are taken, and they depend on nothing but the state: then states may be expanded before their turn.
    fn is_whole(&self) -> bool {
        false
    }

    /// Told of a state that a step leads to which was left out, whether it was found all the same.
    fn learn(&self, _: &mut Self::Choice, _: bool) {}
}

impl<S: System> Space for S {
    type Whole = S;
    type Choice = ();

    fn whole(&self) -> &S {
        self
    }

    fn new_choice(&self) {}

    #[inline]
    fn actions(
        &self,
        state: &[u32],
        (): &mut (),
        scratch: &mut S::Scratch,
        out: &mut Vec<ActionId>,
    ) -> Result<Extent, StepError> {
        self.enabled(state, scratch, out).map(|()| Extent::Enough)
    }

    #[inline]
    fn steps(
        &self,
        state: &[u32],
        (): &mut (),
        scratch: &mut S::Scratch,
        out: &mut Steps,
    ) -> Result<Extent, StepError> {
        self.successors(state, scratch, out).map(|()| Extent::Enough)
    }

    fn others(&self, (): &(), _: &mut Vec<ActionId>) {}

    fn is_whole(&self) -> bool {
        self.as_actions().is_some()
    }

    fn for_device(&self) -> Option<(&ActionSystem, Option<&SteadySets>)> {
        self.as_actions().map(|system| (system, None))
    }
}
