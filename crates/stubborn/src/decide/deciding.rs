//! One attempt to decide a formula or a claim: what is chosen, searched, and looked for again nearer by.
//!
//! Of a formula that says what is always true, states decide, where they can ([`always`](super::always)); else the product
//! with an automaton. What was found is judged and shown by [`shown`](super::shown).

use std::cell::Cell;
use std::sync::Arc;

use automata::GaveUp;
use base::Limit;
use check::choice::{Choice, Reason, Wish};
use check::decide::{Claim, Decision, Refusal, Settings};
use check::method::{Method, ObserverKind, ReductionWish, SearchKind};
use check::product::AtDeadlock;
use check::search::{Evidence, ProductStop, Violation};
use check::{Goal, parallel};
use language::View;
use ltl::Formulas;
use model::StepError;
use report::outcome::{ReductionCheck, Watcher};
use report::remark::Unclosed;
use report::{PropertyResult, Remark, Verdict};

use super::runs::searched;
use super::searched::Searched;
use super::shorten::LONG;
use super::vacuity;
use super::watched::{Watched, fault};
use crate::answer::Figures;
use crate::clock::Clock;
use crate::error::Trouble;
use crate::fairness::Constraints;
use crate::options::Options;

/// A shorter run is looked for in a product of at most so many states, and with the work of the search and this.
const MAX_SMALL: u64 = 50_000;
const SOME_WORK: u64 = 2_000;

/// So few states are looked at in another order before all are.
const FEW: u64 = 500;

/// How much is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Few states, in case that a violation is found soon.
    Soon,
    /// All that there are.
    Whole,
}

/// One attempt to decide a question.
pub(super) struct Deciding<'d> {
    pub(super) name: &'d str,
    /// The system that runs are shown on.
    pub(super) view: &'d View,
    /// The one that is searched, if there is no simpler model.
    pub(super) searched: Searched<'d>,
    pub(super) formulas: &'d mut Formulas,
    pub(super) watched: &'d mut Watched,
    /// Which infinite runs count.
    pub(super) constraints: &'d Constraints,
    pub(super) options: &'d Options,
    pub(super) clock: &'d Clock<'d>,
    /// How the model goes wrong beside the search: where a run is continued, or another question is asked.
    pub(super) fault: Cell<Option<StepError>>,
}

impl<'d> Deciding<'d> {
    /// The answer, and how the model goes wrong, if it does; nothing if too little was searched.
    pub(super) fn decide(
        &mut self,
        start: f64,
        extent: Extent,
    ) -> Result<Option<(PropertyResult, Option<StepError>)>, Trouble> {
        let wish = self.wish();
        let mut remarks = Vec::new();
        let mut found = None;
        if wish.reduction == ReductionWish::Closure && self.watched.claim.proof().is_none() {
            found = self.search_closure(&wish, &mut remarks)?;
        }
        let (choice, decision) = match found {
            Some(found) => found,
            None => {
                let mut choice = self.choose(&wish)?;
                if let Some(simplified) = &self.watched.simplified {
                    choice.reasons.push(Reason::Net(simplified.simpler.what.clone()));
                }
                choice.reasons.extend(self.searched.what().map(Reason::Static));
                let Some((choice, decision)) = self.search_by(choice, &wish, extent)? else {
                    return Ok(None);
                };
                (choice, self.shorten(decision))
            }
        };
        let mut answer = self.judge(&decision);
        if answer.verdict == Verdict::Holds {
            let vacuous = vacuity::of_decision(self, &decision, self.clock.seconds() - start);
            answer.remarks.extend(vacuous.map(Remark::Vacuous));
        }
        let is_doubted = self.options.why && answer.verdict == Verdict::Holds;
        let why = is_doubted.then(|| vacuity::reasons(self, &decision));
        answer.remarks.splice(0..0, remarks);
        if self.options.shortest && answer.verdict == Verdict::Violated && !self.constraints.is_empty() {
            answer.remarks.push(Remark::NotShortened);
        }
        let mut fault = fault(&decision);
        let seconds = self.clock.seconds() - start;
        let figures = match choice.is_about_states() {
            true => Figures::of_states(&decision.outcome.stats, true, self.options, seconds),
            false => Figures::of_product(&choice.method, self.constraints.kind(), &decision, seconds),
        };
        let mut result = answer.result(self.name, &figures);
        if self.options.verify_reduction && choice.method.reduction.is_some() {
            let full = self.search_in_full(&choice, &wish)?;
            fault = fault.or(self::fault(&full));
            result.reduction_check = Some(ReductionCheck {
                full_states: full.outcome.stats.states,
                reduced_states: decision.outcome.stats.states,
                agrees: full
                    .outcome
                    .found()
                    .zip(decision.outcome.found())
                    .map(|(full, reduced)| full == reduced),
            });
        }
        result.why = why;
        let tgba = Arc::new(self.watched.claim.tgba().clone());
        // Its propositions get their names when everything is decided: one pool has all of them.
        result.watcher = Some(Watcher::Claim(tgba, Arc::new(Formulas::new())));
        match self.options.explain_choice {
            true => result.choice = choice.reasons.iter().map(ToString::to_string).collect(),
            false => result.chosen = choice.summary(&wish),
        }
        Ok(Some((result, fault)))
    }

    /// What the user asked for.
    pub(super) fn wish(&self) -> Wish {
        Wish {
            observer: self.options.observer,
            search: self.options.search,
            reduction: self.options.reduce,
            store: self.options.store,
            fair: !self.constraints.is_empty(),
            fairness_by: self.options.fairness_by,
            ignores_ends: self.at_deadlock() == AtDeadlock::Ignore,
        }
    }

    /// What happens to runs that end.
    pub(super) fn at_deadlock(&self) -> AtDeadlock {
        if self.watched.ignores_ends { AtDeadlock::Ignore } else { self.options.at_deadlock }
    }

    /// How to search, besides the method.
    fn settings(&self) -> Settings<'d> {
        Settings {
            at_deadlock: self.at_deadlock(),
            orders: self.options.orders,
            work_set: self.options.work_set(),
            reduces: self.options.wants_reduction(),
            fairness: &self.constraints.unnamed,
            ..Settings::default()
        }
    }

    fn refuse(&self, why: Refusal) -> Trouble {
        Trouble::refused(self.name, why)
    }

    /// Completes what the user asked for.
    pub(super) fn choose(&mut self, wish: &Wish) -> Result<Choice, Trouble> {
        let (claim, budget) = (&mut self.watched.claim, &mut self.clock.budget());
        wish.complete(claim, budget).map_err(|why| self.refuse(why))
    }

    /// Searches with what was chosen, or with what has found a violation. Which order of steps leads to one soon nobody
    /// knows; so if few states do not decide the matter, as few are looked at by another observer, which needs one pass,
    /// before everything is. What is always true needs no observer.
    fn search_by(
        &mut self,
        choice: Choice,
        wish: &Wish,
        extent: Extent,
    ) -> Result<Option<(Choice, Decision)>, Trouble> {
        let few = self.clock.at_most(FEW);
        let is_cut = |decision: &Decision| {
            matches!(decision.outcome.stop, Some(ProductStop::Limit(Limit::States(FEW))))
        };
        // Processes that search together, or a search that is kept, do one thing after the other.
        let is_open = choice.method.search == SearchKind::TwoPass
            && wish.is_open()
            && !wish.fair
            && !self.clock.goes_by_rounds();
        if is_open || extent == Extent::Soon {
            let soon = self.search_within(choice.method, &few)?;
            if extent == Extent::Soon {
                return Ok(soon.outcome.evidence().is_some().then_some((choice, soon)));
            }
            if !is_cut(&soon) {
                return Ok(Some((choice, soon)));
            }
            if let Some(decision) = self.search_states()? {
                return Ok(Some((choice.about_states(), decision)));
            }
            // Of an automaton that somebody wrote there may be no such form.
            if let Ok(other) = self.choose(&Wish { observer: Some(ObserverKind::LazyTgta), ..*wish }) {
                let soon = self.search_within(other.method, &few)?;
                if soon.outcome.evidence().is_some() {
                    return Ok(Some((choice.replaced_by(other), soon)));
                }
            }
        }
        let decision = self.search(choice.method)?;
        Ok(Some((choice, decision)))
    }

    /// Searches for a run that the claim accepts.
    pub(super) fn search(&mut self, method: Method) -> Result<Decision, Trouble> {
        self.search_within(method, self.clock)
    }

    fn search_within(&mut self, method: Method, clock: &Clock<'_>) -> Result<Decision, Trouble> {
        let settings = self.settings();
        if self.watched.simplified.is_some() {
            let found = self.watched.search_simpler(method, &settings, clock)?;
            return found.map_err(|why| self.refuse(why));
        }
        loop {
            let claim = &mut self.watched.claim;
            let found = claim.search(self.searched.system(), method, &settings, &mut clock.budget());
            let found = found.map_err(|why| self.refuse(why))?;
            match self.searched.decision(found, clock) {
                Some(found) => return Ok(found),
                // Counters that nobody reads keep a cycle from closing.
                None => self.searched = self.with_less()?,
            }
        }
    }

    /// What is searched after a cycle was found that does not close in the system of the model.
    fn with_less(&self) -> Result<Searched<'d>, Trouble> {
        if !self.searched.may_not_close() {
            return Ok(Searched::as_written(self.view));
        }
        let rules = self.options.static_rules().without(statics::Rule::UnreadVariables.name());
        Ok(searched(self.view, self.watched, self.constraints, self.options, &rules, self.clock)?)
    }

    /// With a shorter run, if there is one; unless that was asked for, it is looked for only where the run is long, and
    /// with no more work than it took to find it.
    fn shorten(&self, mut decision: Decision) -> Decision {
        if let Some(goal) = self.goal() {
            return self.shorten_to(goal, decision);
        }
        if let Some(goal) = self.shortest_goal(&decision) {
            return self.shortest_to(goal, decision);
        }
        let is_wanted = |found: &&Evidence| {
            self.options.shortest || found.cycle_start.is_some() && found.run.actions.len() > LONG
        };
        let Some(found) = decision.outcome.evidence().filter(is_wanted) else { return decision };
        let system = &*self.view.system;
        let clock = if self.options.shortest { self.clock.clone() } else { self.clock.at_most(MAX_SMALL) };
        let mut budget = clock.budget();
        if found.violation == Violation::Deadlock && self.options.at_deadlock == AtDeadlock::Error {
            let explored = parallel::bfs(system, &[Goal::Deadlock], &mut budget);
            if let Some(run) = explored.violations.into_iter().flatten().next() {
                let shorter = Evidence { run, observer_states: Vec::new(), ..found.clone() };
                decision.outcome.stop = Some(ProductStop::Found(shorter));
            }
            return decision;
        }
        // A shortest run by value may be one that ends, of which only the automaton as it was written
        // knows whether it is accepted.
        if found.violation == Violation::Deadlock || self.watched.claim.owns_deadlocks() {
            return decision;
        }
        let length = match found.violation {
            Violation::AtOnce => self.to_lasso(&found.run).map(|(run, _)| run),
            _ => Some(found.run.clone()),
        };
        let length = length.map_or(usize::MAX, |run| run.actions.len());
        let work = (!self.options.shortest).then_some(decision.outcome.stats.transitions + SOME_WORK);
        if let Some(shorter) = self.watched.claim.shortest(system, &self.settings(), work, &mut budget)
            && shorter.run.actions.len() < length
        {
            // The observer's states would be those of another automaton.
            let shorter = Evidence { observer_states: Vec::new(), ..shorter };
            decision.outcome.stop = Some(ProductStop::Found(shorter));
        }
        decision
    }

    /// Checks the closure under stuttering with reduction [holzmann.96.closure]. Nothing if that does not
    /// decide the matter.
    fn search_closure(
        &mut self,
        wish: &Wish,
        remarks: &mut Vec<Remark>,
    ) -> Result<Option<(Choice, Decision)>, Trouble> {
        if self.watched.claim.owns_deadlocks() {
            remarks.push(Remark::Closure(Unclosed::Deadlocks));
            return Ok(None);
        }
        let mut closed = match self.watched.closure(self.clock) {
            Ok(closed) => closed,
            Err(GaveUp::Limit(limit)) => return Err(limit.into()),
            Err(GaveUp::TooLarge(_)) => {
                remarks.push(Remark::Closure(Unclosed::TooLarge));
                return Ok(None);
            }
        };
        let (choice, decision) = self.search_closed(&mut closed, wish)?;
        if let Some(evidence) = decision.outcome.evidence()
            && self.show(evidence).is_err()
        {
            remarks.push(Remark::Closure(Unclosed::Larger));
            return Ok(None);
        }
        let decision = self.shorten(decision);
        Ok(Some((choice, decision)))
    }

    /// Searches for a run that the closure accepts.
    pub(super) fn search_closed(
        &self,
        closed: &mut Claim,
        wish: &Wish,
    ) -> Result<(Choice, Decision), Trouble> {
        let budget = &mut self.clock.budget();
        let choice = wish.complete(closed, budget).map_err(|why| self.refuse(why))?;
        let system = &self.view.system;
        let found = closed.search(&**system, choice.method, &self.settings(), &mut self.clock.budget());
        Ok((choice, found.map_err(|why| self.refuse(why))?))
    }

    /// The same check without reduction.
    fn search_in_full(&mut self, choice: &Choice, wish: &Wish) -> Result<Decision, Trouble> {
        let mut method = Method { reduction: None, ..choice.method };
        if self.watched.claim.proof().is_none() {
            // The closure was checked, maybe by an observer that the claim itself cannot have.
            method = self.choose(&wish.unreduced())?.method;
        }
        self.watched.simplified = None;
        self.searched = Searched::as_written(self.view);
        self.search(method)
    }
}
