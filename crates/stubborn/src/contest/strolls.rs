//! Random walks, before anything is searched: much of what can be reached is found so, for all questions at once.
//!
//! Where a solution of the state equation says how often transitions should fire, the walk prefers these
//! ([`stroll`]). How much is walked does not depend on the clock, unless that has run down.

use std::ops::ControlFlow;

use check::search::stroll::{self, Plan};
use check::{Exploration, Goal};
use language::{Model, Purpose, View};

use super::markings::{Asked, truth};
use super::{Contest, ContestAnswer, Open, Parts, Technique};
use crate::across::Begun;
use crate::clock::Clock;
use crate::decide::states::Aim;
use crate::error::Trouble;

/// Work of the walk for all questions; for each aim there is a little more.
const WORK: u64 = 60_000;
const WORK_PER_AIM: u64 = 2_000;
/// Work of a walk for one question that is led; at least that, and so often what is wanted, but not more than that.
const LED_WORK: u64 = 60_000;
const LED_TIMES: u64 = 4;
const MAX_LED_WORK: u64 = 20_000_000;
/// The same seed, the same walk.
const SEED: u64 = 1;

/// Walks through a model, looking for some aims; with the system that was walked through.
pub(super) fn walk(
    model: &mut dyn Model,
    aims: &[Aim],
    plan: Plan<'_>,
    clock: &Clock<'_>,
) -> Result<(View, Exploration), Trouble> {
    let goals: Vec<Goal> = aims.iter().map(|aim| aim.goal("", model.parts().0)).collect();
    let mut budget = clock.budget();
    let view = model.view(Purpose::Runs, &mut budget)?;
    let walked = stroll::search(&*view.system, &goals, plan, &mut budget);
    Ok((view, walked))
}

impl Contest<'_> {
    /// Removes what a walk for all questions finds.
    pub(super) fn stroll(&mut self, asked: &mut Vec<Asked>) {
        let found = self.stroll_to(&asked.iter().map(|asked| asked.aim).collect::<Vec<Aim>>());
        for (question, found) in std::mem::take(asked).into_iter().zip(found) {
            match found {
                true => self.truth(&question.id, question.possible, Technique::Walk),
                false => asked.push(question),
            }
        }
    }

    /// Which of some aims a walk for all of them finds, in a twentieth of the time at most.
    pub(super) fn stroll_to(&mut self, aims: &[Aim]) -> Vec<bool> {
        let work = WORK + WORK_PER_AIM * aims.len() as u64;
        let plan = Plan { seed: SEED, work, wanted: None };
        let clock = self.clock.part(0.05);
        let walked = if aims.is_empty() { None } else { walk(&mut **self.model, aims, plan, &clock).ok() };
        let Some((view, walked)) = walked else { return vec![false; aims.len()] };
        let is_found =
            |(number, &aim): (usize, &Aim)| truth(&view, &walked, aim, number, &self.clock) == Some(true);
        aims.iter().enumerate().map(is_found).collect()
    }

    /// Removes what walks find that are led by solutions of the state equation, each in its part of a tenth of the time.
    pub(super) fn stroll_to_each(&mut self, asked: &mut Vec<Asked>) {
        let (across, model, parts, hears) = self.lanes();
        let run = |model: &mut Box<dyn Model>, asked: &mut Asked, begun: &Begun<'_, '_>| {
            is_found_by_equation(&mut **model, parts, asked, &begun.part(0.1))
        };
        across.run(
            model,
            asked,
            |asked| asked.id.clone(),
            run,
            |asked, found| {
                if found.is_ok() {
                    hears(&asked.id, &ContestAnswer::Truth(asked.possible), Technique::Parikh);
                    asked.is_answered = true;
                }
                ControlFlow::Continue(())
            },
        );
        asked.retain(|asked| !asked.is_answered);
    }
}

/// Walks to an aim, led by a solution of the state equation.
pub(super) fn is_found_by_equation(
    model: &mut dyn Model,
    parts: Parts<'_>,
    asked: &Asked,
    clock: &Clock<'_>,
) -> Result<(), Open> {
    let Aim::False(expr) = asked.aim else { return Err(Open::Otherwise) };
    let facts = parts.facts.ok_or(Open::Otherwise)?;
    let wanted = facts.wanted(&model.system().exprs, expr, false, &mut clock.budget());
    let wanted = wanted.ok().flatten().ok_or(Open::Otherwise)?;
    let n_wanted = wanted.iter().fold(0, |sum: u64, &times| sum.saturating_add(times.into()));
    let work = LED_WORK.max(n_wanted.saturating_mul(LED_TIMES)).min(MAX_LED_WORK);
    let plan = Plan { seed: SEED, work, wanted: Some(&wanted) };
    let (view, walked) = walk(model, &[asked.aim], plan, clock)?;
    truth(&view, &walked, asked.aim, 0, clock).filter(|found| *found).map(drop).ok_or(Open::Otherwise)
}
