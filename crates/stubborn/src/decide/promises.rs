//! What every model promises whose language has assertions and end states.
//!
//! Both share one exploration, reduced or not. If an assertion fails there, end states are looked for in another
//! one, in which assertions are not looked at.

use check::reduced::Reduced;
use check::{Exploration, Goal, Stop};
use language::{Preserve, PropertyKind, Purpose, View};
use report::outcome::{Kind, Target};
use report::{PropertyResult, Remark, Verdict};

use super::Asked;
use super::searched::Searched;
use super::states::{explore_part, fault, shorten, unreached};
use crate::answer::{Answer, Figures};
use crate::clock::Clock;
use crate::error::Trouble;
use crate::options::{Options, States};
use crate::session::Attempt;

/// Decides assertions, end states, or both.
pub(super) fn decide(
    asked: &mut Asked<'_>,
    job: &[usize],
    options: &Options,
    clock: &Clock<'_>,
) -> Result<Attempt<Vec<PropertyResult>>, Trouble> {
    let is_ends = |&index: &usize| matches!(asked.property(index), PropertyKind::EndStates);
    let (ends, assertions): (Vec<usize>, Vec<usize>) = job.iter().partition(|index| is_ends(index));
    let (ends, assertions) = (ends.first().copied(), assertions.first().copied());
    let mut promised = None;
    let mut end_states = None;
    if assertions.is_some() {
        let explored = match look(asked, Purpose::Assertions, ends.is_some(), options, clock)? {
            Attempt::Done(explored) => explored,
            Attempt::TooSmall(error) => return Ok(Attempt::TooSmall(error)),
        };
        promised = Some(explored.assertions(clock));
        asked.unreached = unreached(&explored.view, &explored.exploration);
        end_states = ends.and_then(|_| explored.ends(clock));
    }
    if ends.is_some() && end_states.is_none() {
        let explored = match look(asked, Purpose::EndStates, true, options, clock)? {
            Attempt::Done(explored) => explored,
            Attempt::TooSmall(error) => return Ok(Attempt::TooSmall(error)),
        };
        // The model may go wrong before an invalid end state is found.
        end_states = explored.ends(clock).or_else(|| {
            let (answer, figures) = explored.assertions(clock);
            Some((Answer { verdict: Verdict::Unknown, ..answer }, figures))
        });
    }
    let mut results = Vec::new();
    for &index in job {
        let found = if Some(index) == ends { end_states.take() } else { promised.take() };
        if let Some((answer, figures)) = found {
            results.push(answer.result(asked.name(index), &figures));
        }
    }
    Ok(Attempt::Done(results))
}

struct Looked {
    view: View,
    exploration: Exploration,
    figures: Figures,
    looks_for_ends: bool,
}

/// One exploration.
fn look(
    asked: &mut Asked<'_>,
    purpose: Purpose,
    looks_for_ends: bool,
    options: &Options,
    clock: &Clock<'_>,
) -> Result<Attempt<Looked>, Trouble> {
    let start = clock.seconds();
    let mut view = asked.model().view(purpose, &mut clock.budget())?;
    // A goal that is never reached: the search goes on after a bad end state.
    let system = std::sync::Arc::make_mut(&mut view.system);
    let truth = system.exprs.int(1);
    let never = Goal::Invariant(system.add_proposition("true", truth));
    let goals = if looks_for_ends { vec![Goal::Deadlock, never] } else { vec![never] };
    let mut budget = clock.budget();
    let preserve = if looks_for_ends { Preserve::Deadlocks } else { Preserve::Reachability };
    let searched = Searched::new(&view, Some(preserve), &[], &options.static_rules(), clock)?;
    let reduced = match (options.states(), purpose) {
        (States::Unreduced, _) => None,
        (_, Purpose::EndStates) => Some(Reduced::for_deadlocks(searched.system(), &mut budget)),
        _ => Some(Reduced::for_safety(searched.system(), &goals, &mut budget)),
    };
    let reduces = reduced.is_some();
    let found = explore_part(reduced, searched.system(), &goals, options, &mut budget)?;
    let mut exploration = searched.exploration(found, clock);
    if let Some(error) = fault(&exploration).filter(|error| asked.model().can_refine(error)) {
        return Ok(Attempt::TooSmall(error));
    }
    let figures = Figures::of_states(&exploration.stats, reduces, options, clock.seconds() - start);
    if reduces || searched.is_smaller() {
        shorten(&view.system, &goals, &mut exploration, options, clock);
    }
    Ok(Attempt::Done(Looked { view, exploration, figures, looks_for_ends }))
}

impl Looked {
    /// What it says about errors.
    fn assertions(&self, clock: &Clock<'_>) -> (Answer, Figures) {
        let answer = match &self.exploration.stop {
            Some(Stop::Fault(error, run)) => Answer::error(&self.view, error, run, clock),
            _ => self.complete(),
        };
        (answer, self.figures.clone())
    }

    /// What it says about end states, if that is known.
    fn ends(&self, clock: &Clock<'_>) -> Option<(Answer, Figures)> {
        debug_assert!(self.looks_for_ends);
        let answer = match (&self.exploration.violations[0], &self.exploration.stop) {
            (Some(run), _) => {
                let claim = replay::Question::Deadlock;
                Answer::violated(&self.view, run, claim, Kind::Deadlock, Target::InvalidEnd, clock)
            }
            (None, Some(Stop::Fault(..))) => return None,
            (None, _) => self.complete(),
        };
        Some((answer, self.figures.clone()))
    }

    fn complete(&self) -> Answer {
        match (&self.exploration.stop, self.exploration.coverage) {
            (Some(Stop::Limit(limit)), _) => Answer::limit(*limit),
            (_, Some(coverage)) => Answer::unknown(Remark::NoneFound(coverage)),
            _ => Answer::holds(None),
        }
    }
}
