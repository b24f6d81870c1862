//! A system that begins where somebody has walked to.

use model::{ActionId, ActionSystem, StepError, Steps, System};

/// A system that begins in another state.
pub(super) struct StartingIn<'s> {
    pub(super) system: &'s ActionSystem,
    pub(super) start: Vec<u32>,
}

impl System for StartingIn<'_> {
    type Scratch = <ActionSystem as System>::Scratch;

    fn new_scratch(&self) -> Self::Scratch {
        self.system.new_scratch()
    }

    fn width(&self) -> usize {
        self.system.width()
    }

    fn initial_states(&self, out: &mut Vec<u32>) {
        out.extend(&self.start);
    }

    fn successors(
        &self,
        state: &[u32],
        scratch: &mut Self::Scratch,
        out: &mut Steps,
    ) -> Result<(), StepError> {
        self.system.successors(state, scratch, out)
    }

    fn enabled(
        &self,
        state: &[u32],
        scratch: &mut Self::Scratch,
        out: &mut Vec<ActionId>,
    ) -> Result<(), StepError> {
        self.system.enabled(state, scratch, out)
    }

    fn fire(
        &self,
        state: &mut [u32],
        action: ActionId,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        self.system.fire(state, action, scratch)
    }

    fn n_propositions(&self) -> usize {
        self.system.n_propositions()
    }

    fn holds(
        &self,
        proposition: usize,
        state: &[u32],
        scratch: &mut Self::Scratch,
    ) -> Result<bool, StepError> {
        self.system.holds(proposition, state, scratch)
    }
}
