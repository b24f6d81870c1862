//! Formulas of linear temporal logic, and claims.
//!
//! An automaton watches the run ([`watched`](super::watched)); a run that it accepts violates the formula. Which
//! kind of automaton, search and reduction are used is chosen by `check::choice`, where the user does not say.

use std::cell::Cell;
use std::sync::Arc;

use automata::GaveUp;
use base::Limit;
use check::choice::{Choice, Reason, Wish};
use check::decide::{Claim, Decision, Refusal, Settings};
use check::method::{Method, ObserverKind, ReductionWish, SearchKind, StoreKind};
use check::product::AtDeadlock;
use check::reduced::Reduced;
use check::search::{Evidence, ProductOutcome, ProductStop, Violation};
use check::{Goal, Stop, parallel};
use language::{Model, Preserve, Purpose, Rules, View};
use ltl::{Formulas, Node, Prop, Valuation};
use model::{ExprId, Run, StepError, System as _, reference};
use replay::{Ending, Question};
use report::outcome::{Counterexample, FairTo, Kind, ReductionCheck, Target, Watcher};
use report::remark::{End, Unclosed};
use report::{PropertyResult, Remark, Trace, Verdict};

use super::searched::Searched;
use super::shorten::shorten;
use super::states::{exact_by_rounds, explore_part, look_for_missing, may_miss};
use super::watched::{Watched, fault};
use super::{Asked, vacuity};
use crate::answer::{Answer, Figures, judge};
use crate::clock::Clock;
use crate::error::Trouble;
use crate::fairness::Constraints;
use crate::options::Options;
use crate::session::Attempt;

/// A run with a cycle that has more steps is long.
const LONG: usize = 12;

/// A shorter run is looked for in a product of at most so many states, and with the work of the search and this.
const MAX_SMALL: u64 = 50_000;
const SOME_WORK: u64 = 2_000;

/// So few states are looked at in another order before all are.
const FEW: u64 = 500;

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

/// How much is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// Few states, in case that a violation is found soon.
    Soon,
    /// All that there are.
    Whole,
}

/// What is searched, if there is no simpler model.
fn searched<'v>(
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
fn sees_no_difference(watched: &Watched, constraints: &Constraints, options: &Options) -> bool {
    watched.claim.proof().is_some()
        && !watched.claim.owns_deadlocks()
        && !watched.ignores_ends
        && constraints.is_empty()
        && options.at_deadlock == AtDeadlock::Stutter
        && !options.shortest
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
    fn decide(
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
            if let Some(decision) = self.search_states(wish)? {
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

    /// Of a formula that says what is always true: looks for a state where it is not. Nothing if it is another formula, or the
    /// states may not tell.
    fn search_states(&mut self, wish: &Wish) -> Result<Option<Decision>, Trouble> {
        let invariant = self.watched.formula.and_then(|formula| match self.formulas.node(formula) {
            Node::Globally(inside) => match self.formulas.node(inside) {
                Node::Prop(prop) => Some(prop),
                _ => None,
            },
            _ => None,
        });
        let is_plain = wish.store == StoreKind::Exact
            && self.watched.simplified.is_none()
            && sees_no_difference(self.watched, self.constraints, self.options);
        let [(prop, number)] = *self.watched.claim.propositions() else { return Ok(None) };
        if !is_plain || invariant != Some(prop) {
            return Ok(None);
        }
        let goals = [Goal::Invariant(number)];
        let (system, mut budget) = (self.searched.system(), self.clock.budget());
        let reduced = Reduced::for_safety(system, &goals, &mut budget);
        let (found, _) = explore_part(Some(reduced), system, &goals, false, self.options, &mut budget)?;
        let mut found = self.searched.exploration(found, self.clock);
        let stats = found.stats;
        shorten(&self.view.system, &goals, &mut found, self.options, self.clock);
        let stop = match (found.violations.into_iter().next().flatten(), found.stop) {
            (Some(run), _) => {
                let (violation, cycle_start, observer_states) = (Violation::AtOnce, None, Vec::new());
                Some(ProductStop::Found(Evidence { violation, run, cycle_start, observer_states }))
            }
            (None, Some(Stop::Fault(error, run))) => Some(ProductStop::Fault(error, run)),
            (None, Some(Stop::Limit(limit))) => Some(ProductStop::Limit(limit)),
            (None, None | Some(Stop::AllViolated)) => {
                let fault = found.faults.into_iter().next().flatten();
                fault.map(|(error, run)| ProductStop::Fault(error, run))
            }
        };
        let (system_states, coverage) = (Some(stats.states), found.coverage);
        let outcome = ProductOutcome { stats, system_states, stop, coverage };
        Ok(Some(Decision { outcome, observer_states: 0, valuations: vec![vec![true]], on_device: false }))
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

    /// A violation is reported only if the judge of evidence agrees.
    fn judge(&self, decision: &Decision) -> Answer {
        let outcome = &decision.outcome;
        match &outcome.stop {
            None => match outcome.coverage {
                Some(coverage) => Answer::unknown(Remark::NoneFound(coverage)),
                None => Answer::holds(None),
            },
            Some(ProductStop::Limit(limit)) => Answer::limit(*limit),
            Some(ProductStop::NoRun) => Answer::lost(),
            Some(ProductStop::Fault(error, run)) => Answer::faulty(self.view, error, run, self.clock),
            Some(ProductStop::Found(evidence)) => self.show(evidence).unwrap_or_else(Answer::unknown),
        }
    }

    /// What a run is said to show: by the formula's own semantics, or by the automaton as it was written.
    fn claimed(&self) -> Option<Question<'_>> {
        let Watched { formula, propositions, claim, .. } = &*self.watched;
        match *formula {
            Some(formula) => Some(Question::Formula { formulas: self.formulas, formula, propositions }),
            None => claim.written().map(|automaton| Question::Claim { automaton, propositions }),
        }
    }

    /// The beginning of a run that is enough: after it, the automaton accepts whatever follows.
    fn bad_prefix(&self, run: &Run) -> Option<Run> {
        let tgba = self.watched.claim.tgba();
        let is_enough = |&state: &automata::State| tgba.accepts_everything(state);
        if !tgba.states().any(|state| is_enough(&state)) {
            return None;
        }
        let system = &*self.view.system;
        let (mut state, mut scratch) = (system.initial().nth(run.initial)?.to_vec(), system.new_scratch());
        let mut here = vec![tgba.initial()];
        let mut budget = self.clock.budget();
        for n_steps in 0..=run.actions.len() {
            budget.tick().ok()?;
            let values = system.layout().decode(&state);
            let mut letter = Valuation::new();
            for &(prop, expr) in &self.watched.propositions {
                letter.set(prop, reference::value(system, expr, &values).ok()? != 0);
            }
            let reads = |edge: &&automata::Edge| tgba.labels().holds(edge.label, &letter);
            let edges = here.iter().flat_map(|&from| tgba.edges(from)).filter(reads);
            here = edges.map(|edge| edge.target).collect();
            here.sort_unstable();
            here.dedup();
            if here.iter().any(is_enough) {
                return Some(Run { initial: run.initial, actions: run.actions[..n_steps].to_vec() });
            }
            system.fire(&mut state, *run.actions.get(n_steps)?, &mut scratch).ok()?;
        }
        None
    }

    /// A run with a cycle, if it can be continued to one soon.
    fn to_lasso(&self, run: &Run) -> Option<(Run, usize)> {
        let clock = self.clock.with_grace();
        check::walk::to_lasso(&*self.view.system, run, &mut clock.budget()).unwrap_or_else(|error| {
            self.fault.set(Some(error));
            None
        })
    }

    /// Judges evidence, and shows it.
    pub(super) fn show(&self, evidence: &Evidence) -> Result<Answer, Remark> {
        let Evidence { violation, run, cycle_start, .. } = evidence;
        let deadlock_is_error = self.options.at_deadlock == AtDeadlock::Error;
        let mut question = self.claimed().ok_or_else(|| Remark::Internal("nothing is claimed".to_owned()))?;
        let is_fair = !self.constraints.is_empty();
        let bad_prefix = match violation {
            Violation::AtOnce | Violation::Livelock | Violation::Cycle if !is_fair => self.bad_prefix(run),
            _ => None,
        };
        let (run, ending) = match (violation, cycle_start) {
            _ if bad_prefix.is_some() => (bad_prefix.unwrap_or_default(), Ending::Open),
            (Violation::AtOnce, _) => match self.to_lasso(run) {
                Some((run, start)) => (run, Ending::Cycle(start)),
                // It goes on for very long, maybe without ever coming back: in an unbounded net.
                None => (run.clone(), Ending::Open),
            },
            (_, Some(start)) => (run.clone(), Ending::Cycle(*start)),
            (Violation::Cycle | Violation::Livelock, None) => {
                return Err(Remark::Internal("an infinite run without a cycle".to_owned()));
            }
            (Violation::Deadlock, None) => {
                if deadlock_is_error || !self.watched.claim.owns_deadlocks() {
                    question = Question::Deadlock;
                }
                (run.clone(), Ending::Deadlock)
            }
        };
        let fair = &self.constraints.named;
        let claimed = replay::Evidence { fair_to: fair, ..replay::Evidence::new(&run, ending) };
        let judged = judge(self.view, &question, &claimed, self.clock)?;
        let (kind, target, end) = match ending {
            Ending::Cycle(_) => (Kind::Lasso, Target::Deadlock, None),
            Ending::Open => (Kind::Prefix, Target::Violation, Some(End::WhateverFollows)),
            Ending::Deadlock if deadlock_is_error => (Kind::Deadlock, Target::Deadlock, Some(End::Deadlock)),
            Ending::Deadlock => (Kind::Deadlock, Target::Deadlock, Some(End::Accepted)),
        };
        let text = |&(prop, expr): &(Prop, ExprId)| (self.formulas.text(prop).to_owned(), expr);
        let propositions = self.watched.propositions.iter().map(text).collect();
        let mut observer_states = evidence.observer_states.clone();
        observer_states.truncate(run.actions.len() + 1);
        let trace = Trace::new(self.view.clone(), judged.replayed)
            .with_propositions(propositions)
            .with_observer(observer_states, Vec::new());
        let cycle_start = match ending {
            Ending::Cycle(start) => Some(start),
            Ending::Open | Ending::Deadlock => None,
        };
        let fairness = FairTo::each(fair, &judged.fairness);
        let found = Counterexample { cycle_start, fairness, ..Counterexample::finite(kind, target, trace) };
        Ok(Answer::shown(found, end.map(Remark::Ends)))
    }
}
