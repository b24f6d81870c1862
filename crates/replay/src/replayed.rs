//! A run that was repeated. Of a long one, not all states are kept: every so many steps there is one, and
//! those between can be computed again.

use base::{Budget, Limit};
use model::reference::{self, Values};
use model::{ActionId, ActionSystem, Describe as _, Fault, Run};

use crate::{Doubt, rejected, within};

/// A run that was repeated, with some of its states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    run: Run,
    /// Steps from one state that is kept to the next.
    spacing: usize,
    /// The states that are kept; the first is the initial one.
    kept: Vec<Values>,
    /// Steps that were repeated so far, and the state after them.
    n_done: usize,
    last: Values,
}

/// Of shorter runs, up to so many states are computed again at once, if they take no more bytes than this.
const MIN_SPACING: usize = 32;
const SMALL: usize = 1 << 20;

impl Replayed {
    /// Stands at the beginning of a run.
    pub(crate) fn new(system: &ActionSystem, run: &Run, budget: &mut Budget<'_>) -> Result<Replayed, Doubt> {
        let Some(first) = reference::initial(system).into_iter().nth(run.initial) else {
            return Err(rejected(format!("there is no initial state number {}", run.initial)));
        };
        budget.hold(size_of_val(&run.actions[..]) as u64)?;
        let min_spacing = (SMALL / size_of_val(&first[..]).max(1)).clamp(1, MIN_SPACING);
        let spacing = run.actions.len().isqrt().max(min_spacing);
        let mut replayed = Replayed { run: run.clone(), spacing, kept: Vec::new(), n_done: 0, last: first };
        replayed.keep(budget)?;
        Ok(replayed)
    }

    fn keep(&mut self, budget: &mut Budget<'_>) -> Result<(), Limit> {
        budget.hold((size_of_val(&self.last[..]) + size_of::<Values>()) as u64)?;
        self.kept.push(self.last.clone());
        Ok(())
    }

    /// Repeats the next step: its action must be enabled, and may not leave out what follows it in the same
    /// step.
    pub(crate) fn advance(
        &mut self,
        system: &ActionSystem,
        action: ActionId,
        budget: &mut Budget<'_>,
    ) -> Result<(), Doubt> {
        let step = self.n_done + 1;
        let failed = |fault: Fault| {
            rejected(format!("step {step} (`{}`) fails: {fault}", system.action_label(action)))
        };
        let parts = within(budget, |room| reference::parts_within(system, action, &self.last, room))?;
        let Some((_, target)) = parts.map_err(failed)? else {
            return Err(rejected(format!("step {step}: `{}` is not enabled", system.action_label(action))));
        };
        self.last = target;
        self.n_done = step;
        if step.is_multiple_of(self.spacing) {
            self.keep(budget)?;
        }
        Ok(())
    }

    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The state after the last step: one value per variable.
    pub fn last(&self) -> &[i64] {
        &self.last
    }

    /// The number of the stretch that the state after a step is in, and its place there.
    pub fn place(&self, step: usize) -> (usize, usize) {
        (step / self.spacing, step % self.spacing)
    }

    /// The states of a stretch of the run, computed again on the system that it was repeated on.
    pub fn stretch(&self, system: &ActionSystem, number: usize) -> Vec<Values> {
        let actions = self.run.actions.chunks(self.spacing).nth(number).unwrap_or_default();
        let mut states: Vec<Values> = self.kept.get(number).into_iter().cloned().collect();
        for &action in &actions[..actions.len().min(self.spacing - 1)] {
            // It did not fail when it was repeated.
            match states.last().map(|before| reference::parts(system, action, before)) {
                Some(Ok(Some((_, after)))) => states.push(after),
                _ => break,
            }
        }
        states
    }

    /// The state after a step. Whoever looks at many should look at stretches.
    pub fn state(&self, system: &ActionSystem, step: usize) -> Values {
        let (number, place) = self.place(step);
        self.stretch(system, number).into_iter().nth(place).unwrap_or_default()
    }
}
