//! Formulas of linear temporal logic, and claims.
//!
//! An automaton watches the run ([`watched`](super::watched)); a run that it accepts violates the formula. Which
//! kind of automaton, search and reduction are used is chosen by `check::choice`, where the user does not say.

use std::cell::Cell;

use base::Limit;
use check::product::AtDeadlock;
use language::{Model, Preserve, Purpose, Rules, View};
use ltl::Prop;
use model::{ExprId, StepError, reference};
use report::PropertyResult;

use super::Asked;
use super::deciding::{Deciding, Extent};
use super::searched::Searched;
use super::states::{exact_by_rounds, look_for_missing, may_miss, stumble};
use super::watched::Watched;
use crate::answer::{Answer, Figures};
use crate::clock::Clock;
use crate::error::Trouble;
use crate::fairness::Constraints;
use crate::options::Options;
use crate::session::Attempt;

/// A question about runs, through all attempts to answer it.
pub(super) struct Runs<'q> {
    task: usize,
    options: &'q Options,
    clock: &'q Clock<'q>,
    /// What is watched, as the questions were resolved for the n-th time.
    watched: Option<(u32, Watched)>,
    /// How often everything is done again only to show or to doubt an answer in a better way: where there is no
    /// bound, that would never end.
    patience: u32,
}

impl<'q> Runs<'q> {
    pub(super) fn new(task: usize, options: &'q Options, clock: &'q Clock<'q>) -> Runs<'q> {
        Runs { task, options, clock, watched: None, patience: 4 }
    }

    /// One attempt.
    pub(super) fn decide(&mut self, asked: &mut Asked<'_>) -> Result<Attempt<Vec<PropertyResult>>, Trouble> {
        let (options, clock) = (self.options, self.clock);
        exact_by_rounds(options, clock)?;
        let name = asked.name(self.task).to_owned();
        let start = clock.seconds();
        let constraints = Constraints::new(asked.model(), &options.fair, &mut clock.budget())?;
        let generation = asked.generation;
        let watched = match self.watched.take().filter(|(made_for, _)| *made_for == generation) {
            Some((_, watched)) => watched,
            None => {
                let kind = asked.property(self.task).clone();
                let mut watched = match Watched::of(asked.model(), &kind, clock) {
                    Ok(watched) => watched,
                    Err(why) => {
                        return Ok(Attempt::Done(vec![Answer::unknown(why).result(&name, &Figures::none())]));
                    }
                };
                if sees_no_difference(&watched, &constraints, options) {
                    watched.simplify(asked.model(), options, clock);
                }
                watched
            }
        };
        let watched = &self.watched.insert((generation, watched)).1;
        // What a question looks at may not be there yet, even if the automaton can do without it.
        if let Some(error) = missing(asked.model(), &watched.propositions) {
            return Ok(Attempt::TooSmall(error));
        }
        if let Some(error) = stumble(asked.model(), options, clock)? {
            return Ok(Attempt::TooSmall(error));
        }
        // Whether something is missing takes longer to find out than what is wrong, if that is found soon.
        if may_miss(asked.model().system(), options)
            && !clock.goes_by_rounds()
            && let Some(found) = self.attempt(asked, &constraints, start, Extent::Soon)?
        {
            return Ok(found);
        }
        if let Some(error) = look_for_missing(asked.model(), options, clock)? {
            return Ok(Attempt::TooSmall(error));
        }
        let unknown = || vec![Answer::lost().result(&name, &Figures::none())];
        let decided = self.attempt(asked, &constraints, start, Extent::Whole)?;
        Ok(decided.unwrap_or_else(|| Attempt::Done(unknown())))
    }

    /// Searches the model as it is; nothing if that was to be a short search, and has found nothing.
    fn attempt(
        &mut self,
        asked: &mut Asked<'_>,
        constraints: &Constraints,
        start: f64,
        extent: Extent,
    ) -> Result<Option<Attempt<Vec<PropertyResult>>>, Trouble> {
        let (options, clock) = (self.options, self.clock);
        let name = asked.name(self.task).to_owned();
        let Some((_, watched)) = &mut self.watched else { return Ok(None) };
        let purpose = if watched.simplified.is_some() { Purpose::Replay } else { Purpose::Runs };
        let mut budget = clock.budget();
        let view = asked.model().view(purpose, &mut budget)?;
        let clock = &clock.without_what_is_missing(&budget);
        let rules = options.static_rules();
        let searched = searched(&view, watched, constraints, options, &rules, clock)?;
        let formulas = asked.session.model.formulas();
        let mut question = Deciding {
            searched,
            name: &name,
            view: &view,
            formulas,
            watched,
            constraints,
            options,
            clock,
            fault: Cell::default(),
        };
        let Some((result, mut fault)) = question.decide(start, extent)? else { return Ok(None) };
        if let (None, Some(beside), Some(left)) = (fault, question.fault.get(), self.patience.checked_sub(1))
        {
            (fault, self.patience) = (Some(beside), left);
        }
        Ok(Some(match fault.filter(|error| asked.model().can_refine(error)) {
            Some(error) => Attempt::TooSmall(error),
            None => Attempt::Done(vec![result]),
        }))
    }
}

/// What is searched, if there is no simpler model.
pub(super) fn searched<'v>(
    view: &'v View,
    watched: &Watched,
    constraints: &Constraints,
    options: &Options,
    rules: &Rules,
    clock: &Clock<'_>,
) -> Result<Searched<'v>, Limit> {
    let preserve = sees_no_difference(watched, constraints, options).then_some(Preserve::Stuttering);
    match watched.simplified {
        Some(_) => Ok(Searched::as_written(view)),
        None => Searched::new(view, preserve, &watched.about(), rules, clock),
    }
}

/// A fault of a proposition in the first state that says that something is not there yet.
fn missing(model: &dyn Model, propositions: &[(Prop, ExprId)]) -> Option<StepError> {
    let system = model.system();
    let first = reference::initial(system).into_iter().next()?;
    propositions.iter().find_map(|&(_, expr)| {
        let error = StepError { fault: reference::value(system, expr, &first).err()?, action: None };
        model.can_refine(&error).then_some(error)
    })
}

/// Whether a formula does not see what a simpler model changes.
pub(super) fn sees_no_difference(watched: &Watched, constraints: &Constraints, options: &Options) -> bool {
    watched.claim.proof().is_some()
        && !watched.claim.owns_deadlocks()
        && !watched.ignores_ends
        && constraints.is_empty()
        && options.at_deadlock == AtDeadlock::Stutter
        && !options.shortest
}
