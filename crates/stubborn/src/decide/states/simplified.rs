//! Something that is looked for in a simpler model, whose runs are brought back.

use check::Exploration;
use language::{Argument, Known, Model, Preserve, PropertyKind, Purpose, Simpler};
use report::Remark;

use super::{Aim, Lead, fault, find};
use crate::clock::Clock;
use crate::error::Trouble;
use crate::options::Options;
use crate::session::{Attempt, refining};

/// An aim in a simpler model.
pub(crate) struct Simplified {
    simpler: Simpler,
    aim: Aim,
}

impl Simplified {
    /// Nothing if no model is simpler.
    pub(crate) fn new(
        model: &mut dyn Model,
        aim: Aim,
        options: &Options,
        clock: &Clock<'_>,
    ) -> Option<Simplified> {
        let (preserve, about) = match aim {
            Aim::Deadlock => (Preserve::Deadlocks, Vec::new()),
            Aim::False(expr) => (Preserve::Reachability, vec![expr]),
        };
        let simpler = model.simplify(preserve, &about, &options.structural, &mut clock.budget())?;
        let aim = simpler.exprs.first().map_or(Aim::Deadlock, |&expr| Aim::False(expr));
        Some(Simplified { simpler, aim })
    }

    /// What shows that it cannot be found, if what is known of the simpler model does.
    pub(crate) fn is_impossible(&mut self, clock: &Clock<'_>) -> Option<Argument> {
        let mut budget = clock.budget();
        let model = &mut self.simpler.model;
        let question = match self.aim {
            Aim::Deadlock => model.examination("ReachabilityDeadlock", &mut budget).ok()??.kind,
            Aim::False(expr) => PropertyKind::Invariant(expr),
        };
        let facts = model.facts(&mut budget).ok()??;
        let (system, formulas) = model.parts();
        let siphons = match self.aim {
            Aim::Deadlock => {
                facts.answer(&system.exprs, formulas, &PropertyKind::DeadlockFree, &mut budget).ok()?
            }
            Aim::False(_) => None,
        };
        if let Some(known) = siphons {
            return Some(known.by);
        }
        let known = facts.answer(&system.exprs, formulas, &question, &mut budget).ok()??;
        let is_impossible = known.answer == Known::Truth(self.aim != Aim::Deadlock);
        is_impossible.then_some(known.by)
    }

    /// Looks for it with reduction; runs are those of the original model.
    pub(super) fn find(
        &mut self,
        options: &Options,
        clock: &Clock<'_>,
    ) -> Result<(Exploration, Option<Remark>), Trouble> {
        self.find_by(Lead::Order(options.order()), options, clock)
    }

    /// The same, led otherwise.
    pub(crate) fn find_by(
        &mut self,
        lead: Lead,
        options: &Options,
        clock: &Clock<'_>,
    ) -> Result<(Exploration, Option<Remark>), Trouble> {
        let aim = self.aim;
        let (mut exploration, on_processor) = refining(&mut self.simpler.model, clock, |model| {
            let goal = aim.goal("", model.parts().0);
            let view = model.view(Purpose::Runs, &mut clock.budget())?;
            let found = find(&view.system, goal, lead, options, clock)?;
            Ok(match fault(&found.0).filter(|error| model.can_refine(error)) {
                Some(error) => Attempt::TooSmall(error),
                None => Attempt::Done(found),
            })
        })?;
        for run in exploration.violations.iter_mut().flatten() {
            // A run that cannot be brought back does not stand up to replay.
            *run = self.simpler.back.run(run, aim == Aim::Deadlock).unwrap_or_default();
        }
        Ok((exploration, on_processor))
    }
}
