//! Questions about states: deadlocks, invariants, what is possible, assertions and end states.
//!
//! One exploration answers all questions about one system, with a reduction that preserves all answers, unless another
//! one is asked for. Then each has its own, on a simpler model if there is one. (Assertions and end states share an
//! exploration, too: see `promises`.)
//!
//! Runs that are found with reduction may be longer than necessary; `shorten` looks for shorter ones.

mod exploring;
mod simplified;

use std::sync::Arc;

use base::{Budget, Limit};
use certify::Proof;
use check::method::ReductionWish;
use check::reduced::Reduced;
use check::{Exact, Exploration, Goal, Stop, search};
use language::story::Unreached;
use language::{Model, Preserve, PropertyKind, Purpose, Rules, View};
use model::reference::Values;
use model::{ActionSystem, BinaryOp, Expr, ExprId, Range, StepError, System as _, UnaryOp};
use report::outcome::{Kind, ReductionCheck, Target};
use report::remark::Vacuity;
use report::{PropertyResult, Remark, Verdict};

pub(crate) use self::exploring::{
    exact_by_rounds, explore, fault, one_process, runs_together, why_on_processor,
};
pub(crate) use self::simplified::Simplified;
use super::searched::Searched;
use super::shorten::shorten;
use super::{Asked, others};
use crate::answer::{Answer, Figures};
use crate::certificate;
use crate::clock::Clock;
use crate::error::Trouble;
use crate::options::{Options, Order, States};
use crate::session::Attempt;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// A state in which nothing can happen.
    Deadlock,
    /// A state in which this is false.
    False(ExprId),
}

impl Aim {
    /// The aim that answers a question, and whether the answer is the other way round: what is possible is
    /// what is not always false.
    pub(crate) fn of(kind: &PropertyKind, system: &mut ActionSystem) -> Option<(Aim, bool)> {
        match *kind {
            PropertyKind::DeadlockFree => Some((Aim::Deadlock, false)),
            PropertyKind::Invariant(expr) => Some((Aim::False(expr), false)),
            PropertyKind::Possible(expr) => Some((Aim::False(system.exprs.unary(UnaryOp::Not, expr)), true)),
            _ => None,
        }
    }

    /// The expression that is in question.
    fn expr(self) -> Option<ExprId> {
        match self {
            Aim::Deadlock => None,
            Aim::False(expr) => Some(expr),
        }
    }

    /// The same for a search.
    pub(crate) fn goal(self, name: &str, system: &mut ActionSystem) -> Goal {
        match self {
            Aim::Deadlock => Goal::Deadlock,
            Aim::False(expr) => Goal::Invariant(system.add_proposition(name, expr)),
        }
    }

    /// What a run to it is said to show.
    pub(crate) fn claim(self) -> replay::Question<'static> {
        match self {
            Aim::Deadlock => replay::Question::Deadlock,
            Aim::False(expr) => replay::Question::Violates(expr),
        }
    }
}

/// What leads a search for one aim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lead {
    /// Nothing but an order.
    Order(Order),
    /// How far states seem to be from the aim.
    Distance,
}

/// An exploration that answers questions, and the system on which its runs are judged.
struct Explored {
    exploration: Exploration,
    /// All states, if they had to be listed.
    listed: Option<Proof>,
    view: View,
    figures: Figures,
}

/// Decides questions about states, in one exploration or in one each.
pub(super) fn decide(
    asked: &mut Asked<'_>,
    job: &[usize],
    options: &Options,
    clock: &Clock<'_>,
) -> Result<Attempt<Vec<PropertyResult>>, Trouble> {
    let aims: Vec<(String, Aim, bool)> = job.iter().filter_map(|&index| asked.aim(index)).collect();
    if options.states() == States::OneByOne {
        let mut results = Vec::new();
        for (name, aim, is_possible) in &aims {
            let explored = match explore_reduced(asked.model(), name, *aim, options, clock)? {
                Attempt::Done(explored) => explored,
                Attempt::TooSmall(error) => return Ok(Attempt::TooSmall(error)),
            };
            let mut result = explored.result(name, *aim, 0, *is_possible, clock);
            if options.verify_reduction {
                let as_written = Options { statics: Some(Rules::none()), ..options.clone() };
                let full = match explore_all(asked.model(), &[(name, *aim)], &[], false, &as_written, clock)?
                {
                    Attempt::Done(full) => full,
                    Attempt::TooSmall(error) => return Ok(Attempt::TooSmall(error)),
                };
                result.reduction_check = Some(explored.compare(&full, *aim));
            }
            results.push(result);
        }
        return Ok(Attempt::Done(results));
    }
    let goals: Vec<(&str, Aim)> = aims.iter().map(|(name, aim, _)| (name.as_str(), *aim)).collect();
    let reduces = options.states() == States::Together;
    let mut explored = match explore_all(asked.model(), &goals, &[], reduces, options, clock)? {
        Attempt::Done(explored) => explored,
        Attempt::TooSmall(error) => return Ok(Attempt::TooSmall(error)),
    };
    asked.list(Purpose::Runs, explored.listed.take());
    asked.unreached = unreached(&explored.view, &explored.exploration).or(asked.unreached.take());
    let answer = |(number, (name, aim, is_possible)): (usize, &(String, Aim, bool))| {
        explored.result(name, *aim, number, *is_possible, clock)
    };
    Ok(Attempt::Done(aims.iter().enumerate().map(answer).collect()))
}

/// Looks for what a question is about once more, in other states than these.
pub(super) fn decide_other(
    asked: &mut Asked<'_>,
    index: usize,
    known: &[Values],
    options: &Options,
    clock: &Clock<'_>,
) -> Result<Attempt<PropertyResult>, Trouble> {
    let Some((name, aim, _)) = asked.aim(index) else {
        return Ok(Attempt::Done(Answer::lost().result(asked.name(index), &Figures::none())));
    };
    let (aim, rests) = match aim {
        Aim::Deadlock => (aim, known),
        Aim::False(expr) => {
            let exprs = &mut asked.model().parts().0.exprs;
            let mut allowed: Vec<ExprId> = known.iter().map(|state| others::is_state(exprs, state)).collect();
            allowed.push(expr);
            (Aim::False(exprs.fold(BinaryOp::Or, 0, &allowed)), &[][..])
        }
    };
    let reduces = options.states() != States::Unreduced;
    Ok(match explore_all(asked.model(), &[(&name, aim)], rests, reduces, options, clock)? {
        Attempt::Done(explored) => Attempt::Done(explored.result(&name, aim, 0, false, clock)),
        Attempt::TooSmall(error) => Attempt::TooSmall(error),
    })
}

/// Looks for all aims at once, in a system that may rest in some states.
fn explore_all(
    model: &mut dyn Model,
    aims: &[(&str, Aim)],
    rests: &[Values],
    reduces: bool,
    options: &Options,
    clock: &Clock<'_>,
) -> Result<Attempt<Explored>, Trouble> {
    let start = clock.seconds();
    let system = model.parts().0;
    let goals: Vec<Goal> = aims.iter().map(|(name, aim)| aim.goal(name, system)).collect();
    let mut view = model.view(Purpose::Runs, &mut clock.budget())?;
    if let Some(system) = others::resting(&view.system, rests) {
        view.system = Arc::new(system);
    }
    let about: Vec<ExprId> = aims.iter().filter_map(|(_, aim)| aim.expr()).collect();
    let preserve = if about.len() < aims.len() { Preserve::Stuttering } else { Preserve::Reachability };
    let (is_smaller, on_processor);
    let (mut exploration, listed) = {
        let searched = Searched::new(&view, Some(preserve), &about, &options.static_rules(), clock)?;
        let mut budget = clock.budget();
        is_smaller = searched.is_smaller();
        let lists = options.lists() && !is_smaller && rests.is_empty();
        let reduced = reduces.then(|| Reduced::for_safety(searched.system(), &goals, &mut budget));
        on_processor = why_on_processor(searched.system(), reduces, &budget);
        let (found, listed) = explore_part(reduced, searched.system(), &goals, lists, options, &mut budget)?;
        (searched.exploration(found, clock), listed)
    };
    if let Some(error) = fault(&exploration).filter(|error| model.can_refine(error)) {
        return Ok(Attempt::TooSmall(error));
    }
    has_no_fault(model, &exploration);
    let figures = Figures::of_states(&exploration.stats, reduces, options, clock.seconds() - start);
    let figures = Figures { on_processor, ..figures };
    if reduces || is_smaller {
        shorten(&view.system, &goals, &mut exploration, options, clock);
    }
    Ok(Attempt::Done(Explored { exploration, listed, view, figures }))
}

/// Looks for one aim with reduction, in a simpler model if there is one.
fn explore_reduced(
    model: &mut dyn Model,
    name: &str,
    aim: Aim,
    options: &Options,
    clock: &Clock<'_>,
) -> Result<Attempt<Explored>, Trouble> {
    let start = clock.seconds();
    let simplified = Simplified::new(model, aim, options, clock);
    let (exploration, purpose, on_processor) = match simplified {
        Some(mut simplified) => {
            let (exploration, on_processor) = simplified.find(options, clock)?;
            (exploration, Purpose::Replay, on_processor)
        }
        None => {
            let goal = aim.goal(name, model.parts().0);
            let view = model.view(Purpose::Runs, &mut clock.budget())?;
            let preserve = if aim == Aim::Deadlock { Preserve::Deadlocks } else { Preserve::Reachability };
            let about: Vec<ExprId> = aim.expr().into_iter().collect();
            let searched = Searched::new(&view, Some(preserve), &about, &options.static_rules(), clock)?;
            let lead = Lead::Order(options.order());
            let (found, on_processor) = find(searched.system(), goal, lead, options, clock)?;
            let exploration = searched.exploration(found, clock);
            if let Some(error) = fault(&exploration).filter(|error| model.can_refine(error)) {
                return Ok(Attempt::TooSmall(error));
            }
            (exploration, Purpose::Runs, on_processor)
        }
    };
    let view = model.view(purpose, &mut clock.budget())?;
    let figures = Figures::of_states(&exploration.stats, true, options, clock.seconds() - start);
    let figures = Figures { on_processor, ..figures };
    Ok(Attempt::Done(Explored { exploration, listed: None, view, figures }))
}

/// Looks for a goal with reduction; says why the processor does, if there is a device.
pub(crate) fn find(
    system: &ActionSystem,
    goal: Goal,
    lead: Lead,
    options: &Options,
    clock: &Clock<'_>,
) -> Result<(Exploration, Option<Remark>), Trouble> {
    let mut budget = clock.budget();
    let mut reduced = match goal {
        Goal::Deadlock => Reduced::for_deadlocks(system, &mut budget),
        Goal::Invariant(number) => Reduced::for_invariant(system, number, &mut budget),
    };
    let device = budget.device().filter(|_| matches!(lead, Lead::Order(_)));
    if device.is_some() {
        reduced = reduced.and_then(|reduced| reduced.by_state_alone(&mut budget));
    }
    let reduced = match reduced {
        Ok(reduced) => reduced,
        Err(limit) => return Ok((Exploration::limited(1, limit), None)),
    };
    let refusal = device.and_then(|device| check::device::refusal_of_sets(&reduced, device));
    let exploration = match lead {
        Lead::Order(order) => {
            let mut budget = match device {
                Some(_) if refusal.is_none() => budget.share(),
                _ => reducing(options, &budget),
            };
            explore(&reduced, &[goal], order, options.store, &mut budget)?
        }
        Lead::Distance => {
            let mut store = Exact::new(system.width(), budget.room());
            search::nearest::search(reduced.distances(), &reduced, &mut store, &[goal], &mut budget)
        }
    };
    Ok((exploration, refusal.map(Remark::OnProcessor)))
}

/// A budget for a search with reduction. One worker looks for sets only as long as that pays, several always: so there
/// should be more than a few, unless somebody asked for them.
fn reducing<'w>(options: &Options, budget: &Budget<'w>) -> Budget<'w> {
    const FEW: usize = 3;
    let is_few = options.threads.is_none() && budget.team().n_workers() <= FEW && !budget.goes_by_rounds();
    if is_few { budget.for_worker() } else { budget.share() }
}

/// Explores a system, or what is left of it; where that is everything, all states are listed if they are wanted.
pub(super) fn explore_part(
    reduced: Option<Result<Reduced<'_>, Limit>>,
    system: &ActionSystem,
    goals: &[Goal],
    lists: bool,
    options: &Options,
    budget: &mut Budget<'_>,
) -> Result<(Exploration, Option<Proof>), Trouble> {
    let found = match reduced {
        None if lists && !budget.goes_by_rounds() => {
            let (found, listed) = certificate::explore(system, system.layout(), goals, budget);
            return Ok((found, listed.ok()));
        }
        None => explore(system, goals, options.order(), options.store, budget)?,
        Some(Err(limit)) => Exploration::limited(goals.len(), limit),
        Some(Ok(reduced)) => {
            let mut budget = reducing(options, budget);
            let found = explore(&reduced, goals, options.order(), options.store, &mut budget)?;
            let taken = if reduced.keeps_actions() { found.taken } else { Vec::new() };
            Exploration { taken, ..found }
        }
    };
    Ok((found, None))
}

/// Whether a part of a model may be missing, so that reductions must look out for it.
pub(super) fn may_miss(system: &ActionSystem, options: &Options) -> bool {
    let is_open = || system.variables().iter().any(|its| its.range == Range::Open);
    options.reduce != ReductionWish::None && is_open()
}

/// Reductions for runs must go wherever a part of the model may be missing. Looks for such a place, with a reduction that finds
/// all faults: it is returned if there is one. If there is none, the model is told so.
pub(super) fn look_for_missing(
    model: &mut dyn Model,
    options: &Options,
    clock: &Clock<'_>,
) -> Result<Option<StepError>, Trouble> {
    /// With more states than this, it is not known.
    const MAX_STATES: u64 = 30_000;
    if !may_miss(model.system(), options) {
        return Ok(None);
    }
    let clock = &clock.at_most(MAX_STATES);
    let view = model.view(Purpose::Runs, &mut clock.budget())?;
    let rules = options.static_rules();
    let searched = Searched::new(&view, Some(Preserve::Reachability), &[], &rules, clock)?;
    let mut budget = clock.budget();
    let reduced = Reduced::for_safety(searched.system(), &[], &mut budget)?;
    let mut store = Exact::new(searched.system().width(), budget.room());
    let found = search::mixed::search(&reduced, &mut store, &[], &mut budget);
    if let Some(error) = fault(&found).filter(|error| model.can_refine(error)) {
        return Ok(Some(error));
    }
    has_no_fault(model, &found);
    Ok(None)
}

/// Looks for such a place among a few states, of which the last ones come first, before anything is prepared: where much code
/// is to be made, one after the other, most of the time would be spent on relations that are thrown away.
pub(super) fn stumble(
    model: &mut dyn Model,
    options: &Options,
    clock: &Clock<'_>,
) -> Result<Option<StepError>, Trouble> {
    if !may_miss(model.system(), options) {
        return Ok(None);
    }
    // What is prepared takes longer than a state for each action.
    let clock = &clock.at_most(model.system().actions().len() as u64);
    let view = model.view(Purpose::Runs, &mut clock.budget())?;
    let mut budget = clock.budget();
    let mut store = Exact::new(view.system.width(), budget.room());
    let found = search::mixed::search(&*view.system, &mut store, &[], &mut budget);
    Ok(fault(&found).filter(|error| model.can_refine(error)))
}

/// Tells a model that nothing in it goes wrong, if a search that would have found that has seen everything.
pub(super) fn has_no_fault(model: &mut dyn Model, found: &Exploration) {
    let has_faults = found.faults.iter().any(Option::is_some);
    if found.stop.is_none() && found.coverage.is_none() && !has_faults {
        model.complete();
    }
}

/// What never happens, if that is known: all states were seen, and no action was left out that can happen.
pub(super) fn unreached(view: &View, found: &Exploration) -> Option<Vec<Unreached>> {
    let Exploration { stop: None, coverage: None, taken, .. } = found else { return None };
    let list = || match &view.story {
        Some(story) => story.unreached(taken),
        None => Unreached::labels(&view.system, taken),
    };
    (!taken.is_empty()).then(list)
}

impl Explored {
    fn result(
        &self,
        name: &str,
        aim: Aim,
        number: usize,
        is_possible: bool,
        clock: &Clock<'_>,
    ) -> PropertyResult {
        let answer = self.answer(aim, number, clock);
        let answer = if is_possible { witness(answer) } else { answer };
        answer.result(name, &self.figures)
    }

    /// A violation is reported only if the judge of evidence agrees.
    fn answer(&self, aim: Aim, number: usize, clock: &Clock<'_>) -> Answer {
        let Exploration { violations, faults, stop, coverage, .. } = &self.exploration;
        match (&violations[number], &faults[number], stop) {
            (Some(run), _, _) => {
                let (kind, target) = match aim {
                    Aim::Deadlock => (Kind::Deadlock, Target::Deadlock),
                    Aim::False(_) => (Kind::Prefix, Target::Violation),
                };
                Answer::violated(&self.view, run, aim.claim(), kind, target, clock)
            }
            (None, Some((error, run)), _) | (None, None, Some(Stop::Fault(error, run))) => {
                Answer::faulty(&self.view, error, run, clock)
            }
            (None, None, Some(Stop::Limit(limit))) => Answer::limit(*limit),
            (None, None, Some(Stop::AllViolated) | None) => match coverage {
                Some(coverage) => Answer::unknown(Remark::NoneFound(*coverage)),
                None => Answer::holds(self.vacuous(aim)),
            },
        }
    }

    /// An invariant that does not look at the state says nothing.
    fn vacuous(&self, aim: Aim) -> Option<Remark> {
        let Aim::False(expr) = aim else { return None };
        let is_constant = matches!(self.view.system.exprs.get(expr), Expr::Int(_));
        is_constant.then_some(Remark::Vacuous(Vacuity::Constant))
    }

    /// Compares an exploration that was reduced with one that was not.
    fn compare(&self, full: &Explored, aim: Aim) -> ReductionCheck {
        let (ours, theirs) = (&self.exploration, &full.exploration);
        // Where both have seen everything, a search for deadlocks has counted them.
        let counts = aim == Aim::Deadlock && ours.stop.is_none() && theirs.stop.is_none();
        let found = ours.found(0).zip(theirs.found(0));
        ReductionCheck {
            full_states: theirs.stats.states,
            reduced_states: ours.stats.states,
            agrees: found.map(|(ours_found, theirs_found)| {
                ours_found == theirs_found && (!counts || ours.stats.deadlocks == theirs.stats.deadlocks)
            }),
        }
    }
}

/// The answer about what is possible, from that about its being impossible.
fn witness(mut answer: Answer) -> Answer {
    match answer.verdict {
        Verdict::Violated => {
            answer.verdict = Verdict::Holds;
            if let Some(run) = &mut answer.counterexample {
                run.target = Target::Truth;
            }
        }
        Verdict::Holds => {
            answer.verdict = Verdict::Violated;
            answer.remarks = vec![Remark::NowhereTrue];
        }
        Verdict::Unknown => {}
    }
    answer
}
