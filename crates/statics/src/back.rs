//! Runs of a smaller system as runs of the original.

use base::{Budget, Limit};
use model::reference::{self, Values};
use model::{ActionId, ActionSystem, Run};

use crate::Smaller;

/// A cycle may be gone round this often before it closes, with so many steps in all.
const MAX_ROUNDS: usize = 300;
const MAX_STEPS: usize = 1_000_000;

/// The beginning of longer cycles is not looked for.
const MAX_TURNED: usize = 1000;

impl Smaller {
    /// A run as one of the original. Nothing if there is none, which is a mistake of ours.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn run(
        &self,
        original: &ActionSystem,
        run: &Run,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Run>, Limit> {
        let Some(mut walk) = Walk::new(self, original, run.initial) else { return Ok(None) };
        let is_walked = walk.take(&run.actions, budget)?;
        Ok(is_walked.then_some(Run { initial: run.initial, actions: walk.steps }))
    }

    /// A run with a cycle that begins after so many steps, as one of the original, and where its cycle begins. Nothing
    /// if it does not close soon there.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn lasso(
        &self,
        original: &ActionSystem,
        run: &Run,
        start: usize,
        budget: &mut Budget<'_>,
    ) -> Result<Option<(Run, usize)>, Limit> {
        let (prefix, cycle) = run.actions.split_at(start.min(run.actions.len()));
        let Some(mut walk) = Walk::new(self, original, run.initial) else { return Ok(None) };
        if !walk.take(prefix, budget)? {
            return Ok(None);
        }
        let smaller = walk.smaller.clone();
        let mut met: Vec<(Values, usize)> = vec![(walk.original.clone(), walk.steps.len())];
        for _ in 0..MAX_ROUNDS {
            if !walk.take(cycle, budget)? || walk.smaller != smaller || walk.steps.len() > MAX_STEPS {
                return Ok(None);
            }
            if let Some((_, start)) = met.iter().find(|(values, _)| *values == walk.original) {
                let start = *start;
                return Ok(Some(turned_back(original, run.initial, walk.steps, start)));
            }
            met.push((walk.original.clone(), walk.steps.len()));
        }
        Ok(None)
    }
}

/// A run with a cycle, which begins as early as it can: where steps were merged, it was found a little late.
fn turned_back(
    system: &ActionSystem,
    initial: usize,
    mut steps: Vec<ActionId>,
    mut start: usize,
) -> (Run, usize) {
    let first = system.initial().nth(initial).map(|state| system.layout().decode(state));
    let mut states: Vec<Values> = first.into_iter().collect();
    for &step in steps.iter().take(MAX_TURNED) {
        let next = states.last().and_then(|values| reference::parts(system, step, values).ok()?);
        states.extend(next.map(|(_, target)| target));
    }
    if states.len() == steps.len() + 1 {
        while start > 0 && states[start - 1] == states[steps.len() - 1] {
            steps.pop();
            start -= 1;
        }
    }
    (Run { initial, actions: steps }, start)
}

/// Both systems, going the same way.
struct Walk<'w> {
    way: &'w Smaller,
    system: &'w ActionSystem,
    /// Where the smaller system is, and where the original is.
    smaller: Values,
    original: Values,
    /// What the original did.
    steps: Vec<ActionId>,
}

impl<'w> Walk<'w> {
    fn new(way: &'w Smaller, system: &'w ActionSystem, initial: usize) -> Option<Walk<'w>> {
        let first =
            |system: &ActionSystem| system.initial().nth(initial).map(|state| system.layout().decode(state));
        Some(Walk { way, system, smaller: first(&way.system)?, original: first(system)?, steps: Vec::new() })
    }

    /// Takes steps of the smaller system; whether the original could follow.
    fn take(&mut self, steps: &[ActionId], budget: &mut Budget<'_>) -> Result<bool, Limit> {
        for &step in steps {
            budget.tick()?;
            if self.step(step).is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn step(&mut self, step: ActionId) -> Option<()> {
        let (parts, target) = reference::parts(&self.way.system, step, &self.smaller).ok()??;
        self.smaller = target;
        let stands_for = |part: &ActionId| match &self.way.stands_for[part.index()][..] {
            [] => vec![*part],
            several => several.to_vec(),
        };
        let parts: Vec<ActionId> = parts.iter().flat_map(stands_for).collect();
        let mut rest = &parts[..];
        while !rest.is_empty() {
            // A step goes on as long as somebody goes on.
            let ends = |part: &ActionId| self.system.next_process(*part).is_none();
            let len = rest.iter().position(ends).map_or(rest.len(), |last| last + 1);
            let (now, later) = rest.split_at(len);
            let (number, target) = reference::step(self.system, now, &self.original).ok()??;
            self.steps.push(number);
            self.original = target;
            rest = later;
        }
        Some(())
    }
}
