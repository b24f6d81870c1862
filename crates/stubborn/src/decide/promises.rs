//! What every model promises whose language has assertions and end states.
//!
//! Both share one exploration, reduced or not. If an assertion fails there, end states are looked for in another
//! one, in which assertions are not looked at. If more errors are wanted than one, those that were shown are pardoned, and
//! the search begins again.

use std::sync::Arc;

use check::reduced::Reduced;
use check::{Exploration, Goal, Stop};
use language::{Preserve, PropertyKind, Purpose, View};
use model::reference::Values;
use model::{ActionSystem, StepError};
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
    let mut pardons = [Vec::new(), Vec::new()];
    if assertions.is_some() {
        let explored = match look(asked, Purpose::Assertions, ends.is_some(), &[], options, clock)? {
            Attempt::Done(explored) => explored,
            Attempt::TooSmall(error) => return Ok(Attempt::TooSmall(error)),
        };
        pardons[0].extend(explored.error());
        promised = Some(explored.assertions(clock));
        end_states = ends.and_then(|_| explored.ends(clock));
        asked.unreached = unreached(&explored.view, &explored.exploration);
        if ends.is_some() && end_states.is_none() && options.stop_at_first {
            end_states = Some((Answer::unknown(Remark::Stopped), Figures::none()));
        }
    }
    if ends.is_some() && end_states.is_none() {
        let explored = match look(asked, Purpose::EndStates, true, &[], options, clock)? {
            Attempt::Done(explored) => explored,
            Attempt::TooSmall(error) => return Ok(Attempt::TooSmall(error)),
        };
        // The model may go wrong before an invalid end state is found.
        end_states = explored.ends(clock).or_else(|| {
            let (answer, figures) = explored.assertions(clock);
            Some((Answer { verdict: Verdict::Unknown, ..answer }, figures))
        });
    }
    pardons[1].extend(end_states.as_ref().and_then(|(answer, _)| Pardon::end(answer)));
    asked.more.clear();
    for (index, pardons) in [assertions, ends].into_iter().zip(&mut pardons) {
        if let Some(error) = more(asked, index, pardons, options, clock)? {
            return Ok(Attempt::TooSmall(error));
        }
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

/// An error that was shown.
enum Pardon {
    /// A promise was broken.
    Error(StepError),
    /// Processes were stuck in this state.
    End(Values),
}

impl Pardon {
    fn end(answer: &Answer) -> Option<Pardon> {
        let trace = &answer.counterexample.as_ref()?.trace;
        Some(Pardon::End(trace.state(trace.len())))
    }

    /// The system in which it is no error.
    fn apply(&self, view: &View) -> Option<ActionSystem> {
        let story = view.story.as_ref()?;
        match self {
            Pardon::Error(error) => story.pardon(&view.system, error),
            Pardon::End(state) => story.may_stay(&view.system, state),
        }
    }
}

/// Looks for as many errors as are wanted: those that were shown are none any more, and the search begins again.
/// Returns that the model is too small, if it is.
fn more(
    asked: &mut Asked<'_>,
    index: Option<usize>,
    pardons: &mut Vec<Pardon>,
    options: &Options,
    clock: &Clock<'_>,
) -> Result<Option<StepError>, Trouble> {
    let Some(index) = index.filter(|_| !pardons.is_empty()) else { return Ok(None) };
    let is_ends = matches!(pardons[0], Pardon::End(_));
    let purpose = if is_ends { Purpose::EndStates } else { Purpose::Assertions };
    while pardons.len() < options.errors {
        let explored = match look(asked, purpose, is_ends, pardons, options, clock)? {
            Attempt::Done(explored) => explored,
            Attempt::TooSmall(error) => return Ok(Some(error)),
        };
        let found = if is_ends { explored.ends(clock) } else { Some(explored.assertions(clock)) };
        let Some((answer, figures)) = found.filter(|(answer, _)| answer.verdict != Verdict::Holds) else {
            break;
        };
        let next = if is_ends { Pardon::end(&answer) } else { explored.error() };
        asked.more.push((index, answer.result(asked.name(index), &figures)));
        let Some(next) = next else { break };
        pardons.push(next);
    }
    Ok(None)
}

struct Looked {
    view: View,
    exploration: Exploration,
    figures: Figures,
    looks_for_ends: bool,
}

/// One exploration, in which some errors are none.
fn look(
    asked: &mut Asked<'_>,
    purpose: Purpose,
    looks_for_ends: bool,
    pardons: &[Pardon],
    options: &Options,
    clock: &Clock<'_>,
) -> Result<Attempt<Looked>, Trouble> {
    let start = clock.seconds();
    let mut view = asked.model().view(purpose, &mut clock.budget())?;
    for pardon in pardons {
        if let Some(system) = pardon.apply(&view) {
            view.system = Arc::new(system);
        }
    }
    // A goal that is never reached: the search goes on after a bad end state.
    let system = Arc::make_mut(&mut view.system);
    let truth = system.exprs.int(1);
    let never = Goal::Invariant(system.add_proposition("true", truth));
    let goals = match looks_for_ends {
        true if options.stop_at_first => vec![Goal::Deadlock],
        true => vec![Goal::Deadlock, never],
        false => vec![never],
    };
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
    /// The promise that was broken, if the model can go on without it.
    fn error(&self) -> Option<Pardon> {
        let Some(Stop::Fault(error, _)) = &self.exploration.stop else { return None };
        Some(Pardon::Error(*error)).filter(|pardon| pardon.apply(&self.view).is_some())
    }

    /// What it says about errors.
    fn assertions(&self, clock: &Clock<'_>) -> (Answer, Figures) {
        let answer = match &self.exploration.stop {
            Some(Stop::Fault(error, run)) => Answer::error(&self.view, error, run, clock),
            Some(Stop::AllViolated) => Answer::unknown(Remark::Stopped),
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
