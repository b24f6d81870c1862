//! What every model promises whose language has assertions and end states.
//!
//! Both share one exploration, reduced or not. If an assertion fails there, end states are looked for in another
//! one, in which assertions are not looked at. If more errors are wanted than one, those that were shown are pardoned, and
//! the search begins again.
//!
//! Who asks for neither by name wants to know what is wrong, and that soon: the first error ends the exploration, and for the
//! other promise there is a second one, which is given up if it takes much longer.

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
use super::shorten::shorten;
use super::states::{explore_part, fault, has_no_fault, unreached, why_on_processor};
use crate::answer::{Answer, Figures};
use crate::clock::Clock;
use crate::error::Trouble;
use crate::options::{Options, States};
use crate::question::Question;
use crate::session::Attempt;

/// After the first error, the other promise is looked for in so many times as many states, and some more.
const FACTOR: u64 = 2;
const SOME: u64 = 100_000;

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
    let (mut promised, mut end_states) = (None, None);
    let mut pardons = [Vec::new(), Vec::new()];
    let is_named = !asked.questions.iter().any(|question| matches!(question, Question::Declared));
    let is_hasty = options.stop_at_first || !is_named;
    let mut patience = clock.clone();
    if assertions.is_some() {
        let wanted = Wanted { purpose: Purpose::Assertions, ends: ends.is_some(), goes_on: !is_hasty };
        let explored = match look(asked, wanted, &[], options, clock)? {
            Attempt::Done(explored) => explored,
            Attempt::TooSmall(error) => return Ok(Attempt::TooSmall(error)),
        };
        pardons[0].extend(explored.error());
        asked.unreached = unreached(&explored.view, &explored.exploration);
        end_states = ends.and_then(|_| explored.ends(clock));
        let has_stopped = matches!(explored.exploration.stop, Some(Stop::AllViolated));
        promised = (!has_stopped).then(|| explored.assertions(clock));
        if is_hasty {
            patience = clock.part(0.5).at_most(FACTOR * explored.exploration.stats.states + SOME);
        }
    }
    for purpose in [Purpose::Assertions, Purpose::EndStates] {
        let is_ends = purpose == Purpose::EndStates;
        let (is_asked, answer) = match is_ends {
            true => (ends.is_some(), &mut end_states),
            false => (assertions.is_some(), &mut promised),
        };
        if !is_asked || answer.is_some() {
            continue;
        }
        let is_second = assertions.is_some();
        let stopped = (Answer::unknown(Remark::Stopped), Figures::none());
        if is_second && options.stop_at_first {
            *answer = Some(stopped);
            continue;
        }
        let wanted = Wanted { purpose, ends: is_ends, goes_on: false };
        let explored = match look(asked, wanted, &[], options, &patience)? {
            Attempt::Done(explored) => explored,
            Attempt::TooSmall(error) => return Ok(Attempt::TooSmall(error)),
        };
        let is_cut = is_second && is_hasty && matches!(explored.exploration.stop, Some(Stop::Limit(_)));
        let found = if is_ends { explored.ends(clock) } else { Some(explored.assertions(clock)) };
        if !is_ends {
            pardons[0].extend(explored.error());
            asked.unreached = unreached(&explored.view, &explored.exploration);
        }
        *answer = match found {
            Some((answer, _)) if is_cut && answer.verdict == Verdict::Unknown => Some(stopped),
            Some(found) => Some(found),
            // The model may go wrong before an invalid end state is found.
            None => {
                let (answer, figures) = explored.assertions(clock);
                Some((Answer { verdict: Verdict::Unknown, ..answer }, figures))
            }
        };
    }
    pardons[1].extend(end_states.as_ref().and_then(|(answer, _)| Pardon::end(answer)));
    asked.more.retain(|(task, _)| !job.contains(task));
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
        let wanted = Wanted { purpose, ends: is_ends, goes_on: false };
        let explored = match look(asked, wanted, pardons, options, clock)? {
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

/// What is looked for.
#[derive(Clone, Copy)]
struct Wanted {
    purpose: Purpose,
    /// Invalid end states.
    ends: bool,
    /// Whether the search goes on after one.
    goes_on: bool,
}

/// One exploration, in which some errors are none.
fn look(
    asked: &mut Asked<'_>,
    Wanted { purpose, ends: looks_for_ends, goes_on }: Wanted,
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
    let mut goals = if looks_for_ends { vec![Goal::Deadlock] } else { Vec::new() };
    if goes_on {
        // A goal that is never reached.
        let system = Arc::make_mut(&mut view.system);
        let truth = system.exprs.int(1);
        goals.push(Goal::Invariant(system.add_proposition("true", truth)));
    }
    let mut budget = clock.budget();
    let preserve = if looks_for_ends { Preserve::Deadlocks } else { Preserve::Reachability };
    let searched = Searched::new(&view, Some(preserve), &[], &options.static_rules(), clock)?;
    let reduced = match (options.states(), purpose) {
        (States::Unreduced, _) => None,
        (_, Purpose::EndStates) => Some(Reduced::for_deadlocks(searched.system(), &mut budget)),
        _ => Some(Reduced::for_safety(searched.system(), &goals, &mut budget)),
    };
    let reduces = reduced.is_some();
    let lists = options.lists() && !searched.is_smaller() && pardons.is_empty();
    let (found, listed) = explore_part(reduced, searched.system(), &goals, lists, options, &mut budget)?;
    let mut exploration = searched.exploration(found, clock);
    if let Some(error) = fault(&exploration).filter(|error| asked.model().can_refine(error)) {
        return Ok(Attempt::TooSmall(error));
    }
    asked.list(purpose, listed);
    let finds_faults = purpose == Purpose::Assertions || !reduces;
    if finds_faults && pardons.is_empty() {
        has_no_fault(asked.model(), &exploration);
    }
    let figures = Figures::of_states(&exploration.stats, reduces, options, clock.seconds() - start);
    let figures = Figures { on_processor: why_on_processor(searched.system(), reduces, &budget), ..figures };
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
