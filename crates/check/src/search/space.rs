//! What a search of states explores: a system, or a part of one.

use model::{ActionId, StepError, Steps, System};

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

    /// Appends the actions to be taken in a state.
    fn actions(
        &self,
        state: &[u32],
        choice: &mut Self::Choice,
        scratch: &mut <Self::Whole as System>::Scratch,
        out: &mut Vec<ActionId>,
    ) -> Result<(), StepError>;

    /// Appends the steps to be taken in a state, in the same order.
    fn steps(
        &self,
        state: &[u32],
        choice: &mut Self::Choice,
        scratch: &mut <Self::Whole as System>::Scratch,
        out: &mut Steps,
    ) -> Result<(), StepError>;
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
    ) -> Result<(), StepError> {
        self.enabled(state, scratch, out)
    }

    #[inline]
    fn steps(
        &self,
        state: &[u32],
        (): &mut (),
        scratch: &mut S::Scratch,
        out: &mut Steps,
    ) -> Result<(), StepError> {
        self.successors(state, scratch, out)
    }
}
