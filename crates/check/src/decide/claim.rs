//! Decides whether a system has a run that an automaton accepts.
//!
//! The automaton is given once, as a TGBA or in whatever form the user wrote it; the form that the
//! method needs is made here.

use std::borrow::Cow;

use automata::by_change::{Limits, Ta, Tgta, small_ta, small_tgta};
use automata::degeneralize::Placement;
use automata::extended::Extended;
use automata::stutter::{self, Proof};
use automata::translate::polish;
use automata::waiting::waiting_form;
use automata::{AnyAutomaton, Effort, GaveUp, Tgba, to_ba};
use base::{Budget, Limit};
use ltl::Prop;

use super::{Decision, Refusal, Settings, Subject, is_led_on_device, search_on_device, search_together};
use crate::fairness::Fairness;
use crate::method::{FairnessBy, Method, ObserverKind, SearchKind};
use crate::observer::{
    ByChange, ByValue, Kind, Lazy, Monitored, Observer, StateLabeled, Valuations, Watches,
};
use crate::product::{AtDeadlock, Lead, Product, StepOrder};
use crate::reduction;
use crate::rules::{Features, Rule};
use crate::search::{Evidence, ProductOutcome, ProductStop, Violation, shortest};

/// Automata in waiting form may have this many states.
const MAX_WAITING_STATES: usize = 100_000;

/// Automata with labels on states may have this many.
const MAX_EXTENDED_STATES: usize = 1 << 16;

/// Explicit testing automata are made for at most this many propositions. With more, they are larger than
/// what a search meets of them.
pub const MAX_EXPLICIT_PROPOSITIONS: usize = 8;

/// What must not happen: the runs that an automaton accepts.
pub struct Claim {
    tgba: Tgba,
    propositions: Vec<(Prop, usize)>,
    proof: Option<Proof>,
    written: Option<AnyAutomaton>,
    /// Whether the automaton, as it was written, says itself which runs that end are accepted.
    owns_deadlocks: bool,
    is_closure: bool,
    forms: Forms,
}

/// Other forms of the automaton, made when they are needed.
#[derive(Default)]
struct Forms {
    ba: Option<Tgba>,
    ta: Option<Ta>,
    tgta: Option<Tgta>,
    extended: Option<Extended>,
    /// In waiting form, with the marks of the TGBA and with one.
    waiting: [Option<Tgba>; 2],
}

/// A form, which is made if it is not there.
fn made<T>(form: &mut Option<T>, make: impl FnOnce() -> Result<T, Refusal>) -> Result<&T, Refusal> {
    let known = match form.take() {
        Some(known) => known,
        None => make()?,
    };
    Ok(form.insert(known))
}

/// Claims, and what is known of them.
impl Claim {
    /// A claim that is made by an automaton, about propositions with these numbers in the system; those that
    /// it does not look at are left out. That its language does not see stuttering needs a proof.
    pub fn new(tgba: Tgba, mut propositions: Vec<(Prop, usize)>, proof: Option<Proof>) -> Claim {
        propositions.retain(|(prop, _)| tgba.propositions().contains(prop));
        let forms = Forms::default();
        Claim { tgba, propositions, proof, written: None, owns_deadlocks: false, is_closure: false, forms }
    }

    /// A claim that somebody wrote, in some form; that form is used where it can be. If it does not show that
    /// the language does not see stuttering, `find_proof` may find that out.
    pub fn of_written(
        written: AnyAutomaton,
        propositions: Vec<(Prop, usize)>,
        find_proof: impl FnOnce(&Tgba) -> Option<Proof>,
        budget: &mut Budget<'_>,
    ) -> Result<Claim, Limit> {
        let tgba = match &written {
            AnyAutomaton::Tgba(tgba) => tgba.clone(),
            _ => polish(written.to_tgba(budget)?, Effort::High, budget)?,
        };
        let owns_deadlocks = !written.accepts_deadlocks_like_stuttering(budget)?;
        let proof = Proof::of_form(&written).or_else(|| find_proof(&tgba));
        // The automaton may look at propositions that the TGBA could do without.
        let written = Some(written);
        Ok(Claim { propositions, written, owns_deadlocks, ..Claim::new(tgba, Vec::new(), proof) })
    }

    /// The claim that a run is stutter-equivalent to one that this claim is about. It can be reduced; but if it finds a run, this need not be one
    /// that the claim itself is about [holzmann.96.closure].
    ///
    /// # Errors
    /// The automaton would be too large, or the budget is spent.
    pub fn closure(&self, max_states: usize, budget: &mut Budget<'_>) -> Result<Claim, GaveUp> {
        let (tgba, proof) = stutter::closure(&self.tgba, max_states, budget)?;
        Ok(Claim { is_closure: true, ..Claim::new(tgba, self.propositions.clone(), Some(proof)) })
    }

    /// The same claim about another system, where its propositions have these numbers. The forms in which it
    /// was written or made are lost.
    #[must_use]
    pub fn about(&self, propositions: Vec<(Prop, usize)>) -> Claim {
        Claim::new(self.tgba.clone(), propositions, self.proof)
    }

    /// The automaton, by value.
    pub fn tgba(&self) -> &Tgba {
        &self.tgba
    }

    /// Its propositions, each with its number in the system.
    pub fn propositions(&self) -> &[(Prop, usize)] {
        &self.propositions
    }

    /// Why its language does not see stuttering, if that is known.
    pub fn proof(&self) -> Option<Proof> {
        self.proof
    }

    /// The automaton as it was written, if somebody wrote it.
    pub fn written(&self) -> Option<&AnyAutomaton> {
        self.written.as_ref()
    }

    /// Whether it is the closure of another one.
    pub fn is_closure(&self) -> bool {
        self.is_closure
    }

    /// The form in which it was written, other than by value with marks on edges.
    pub(crate) fn written_form(&self) -> Option<ObserverKind> {
        match self.written.as_ref()? {
            AnyAutomaton::Tgba(_) => None,
            AnyAutomaton::Ta(_) => Some(ObserverKind::Ta),
            AnyAutomaton::Tgta(_) => Some(ObserverKind::Tgta),
            AnyAutomaton::Extended(_) => Some(ObserverKind::Extended),
        }
    }

    /// Whether the automaton, as it was written, says itself which runs that end are accepted.
    pub fn owns_deadlocks(&self) -> bool {
        self.owns_deadlocks
    }

    /// What the table of rules must know, for an observer of this kind. `goes_on` says whether every run
    /// can be continued, and all ways to do so count, so that it can be accepted at once.
    pub fn features(
        &mut self,
        observer: ObserverKind,
        fair: bool,
        goes_on: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Features, Refusal> {
        let mut has_buchi_states = true;
        if self.proof.is_some() && observer == ObserverKind::Ta {
            let ta = as_it_stops(self.ta(budget)?, goes_on, budget)?;
            has_buchi_states = ta.states().any(|state| ta.acceptance(state).buchi);
        }
        Ok(Features {
            is_tester: false,
            stutter_invariant: self.proof.is_some(),
            has_buchi_states,
            fair,
            own_deadlocks: self.written_form().filter(|_| self.owns_deadlocks()),
        })
    }
}

/// Its forms, as they were written or made.
impl Claim {
    /// With one mark.
    pub fn ba(&mut self, budget: &mut Budget<'_>) -> Result<&Tgba, Refusal> {
        made(&mut self.forms.ba, || Ok(to_ba(&self.tgba, Effort::Medium, Placement::States, budget)?))
    }

    /// As a testing automaton.
    pub fn ta(&mut self, budget: &mut Budget<'_>) -> Result<&Ta, Refusal> {
        if let Some(AnyAutomaton::Ta(ta)) = &self.written {
            return Ok(ta);
        }
        made(&mut self.forms.ta, || {
            small_ta(&self.tgba, &Limits::default(), budget).map_err(Refusal::of(Refusal::Ta))
        })
    }

    /// As a generalized testing automaton.
    pub fn tgta(&mut self, budget: &mut Budget<'_>) -> Result<&Tgta, Refusal> {
        if let Some(AnyAutomaton::Tgta(tgta)) = &self.written {
            return Ok(tgta);
        }
        made(&mut self.forms.tgta, || {
            small_tgta(&self.tgba, &Limits::default(), budget).map_err(Refusal::of(Refusal::Tgta))
        })
    }

    /// As a generalized testing automaton that can wait in every state.
    fn finished_tgta(&mut self, budget: &mut Budget<'_>) -> Result<&Tgta, Refusal> {
        if matches!(&self.written, Some(AnyAutomaton::Tgta(tgta)) if !tgta.is_finished()) {
            self.written = None;
        }
        self.tgta(budget)
    }

    /// With labels on states.
    pub fn extended(&mut self, budget: &mut Budget<'_>) -> Result<&Extended, Refusal> {
        if let Some(AnyAutomaton::Extended(extended)) = &self.written {
            return Ok(extended);
        }
        made(&mut self.forms.extended, || {
            let ba = to_ba(&self.tgba, Effort::Medium, Placement::States, budget)?;
            let extended = Extended::from_ba(&ba, MAX_EXTENDED_STATES, budget);
            extended.map_err(Refusal::of(|_| Refusal::Extended))
        })
    }

    /// In waiting form, with the marks of the TGBA or with one.
    fn waiting(&mut self, is_ba: bool, budget: &mut Budget<'_>) -> Result<&Tgba, Refusal> {
        if is_ba {
            self.ba(budget)?;
        }
        let Claim { tgba, forms: Forms { ba, waiting, .. }, .. } = self;
        let source = ba.as_ref().filter(|_| is_ba).unwrap_or(tgba);
        let make = || {
            let made = waiting_form(source, MAX_WAITING_STATES, budget);
            made.map_err(Refusal::of(Refusal::WaitingForm))
        };
        made(&mut waiting[usize::from(is_ba)], make)
    }
}

/// Searches.
impl Claim {
    /// Looks for a run of the system that the automaton accepts.
    pub fn search<S: Subject>(
        &mut self,
        system: &S,
        method: Method,
        settings: &Settings<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Decision, Refusal> {
        Decision::unless_limited(self.run(system, method, settings, budget))
    }

    /// Explores the whole product with an observer, whatever is accepted.
    pub fn count<S: Subject>(
        &mut self,
        system: &S,
        observer: ObserverKind,
        settings: &Settings<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Decision, Refusal> {
        // It is not used, but has to fit.
        let search = if observer.has_livelock_states() { SearchKind::TwoPass } else { SearchKind::Scc };
        let method = Method::new(observer, search, None);
        let settings = Settings { counts: true, ..*settings };
        Decision::unless_limited(self.run(system, method, &settings, budget))
    }

    fn run<S: Subject>(
        &mut self,
        system: &S,
        method: Method,
        settings: &Settings<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Decision, Refusal> {
        let fair = settings.is_fair();
        let goes_on = !fair && settings.at_deadlock != AtDeadlock::Ignore;
        if let Some(rule) = method.refusal(self.features(method.observer, fair, goes_on, budget)?) {
            return Err(rule.into());
        }
        let (props, numbers): (Vec<Prop>, Vec<usize>) = self.propositions.iter().copied().unzip();
        let run = Run { system, method, settings, numbers, lead: None };
        // To accept at once is wrong where a run may end and be ignored; it hides a part of the product; and
        // it shows no fair run.
        let stops = !settings.counts && goes_on;
        let owns_deadlocks = self.owns_deadlocks();
        match method.observer {
            ObserverKind::Tgba | ObserverKind::Ba => {
                let is_ba = method.observer == ObserverKind::Ba;
                use reduction::Method::{Classical, Fair, Repaired};
                let waits = matches!(method.reduction, Some(Classical | Repaired | Fair));
                let tgba = if waits && settings.without_rule != Some(por::Rule::WaitingForm) {
                    self.waiting(is_ba, budget)?
                } else if is_ba {
                    self.ba(budget)?
                } else {
                    &self.tgba
                };
                let observer = ByValue::new(tgba, props.clone());
                if method.fairness_by == FairnessBy::Monitors {
                    let observer = Monitored::new(observer, system.n_actions(), settings.fairness);
                    return run.with(observer, super::search, budget);
                }
                let lead = run.lead(tgba, &props, budget)?;
                let observer = if stops { observer.stopping() } else { observer };
                Run { lead, ..run }.with(observer, search_together, budget)
            }
            ObserverKind::Ta => {
                let ta = as_it_stops(self.ta(budget)?, stops, budget)?;
                run.with(ByChange::of_ta(&ta, &props, owns_deadlocks), search_together, budget)
            }
            ObserverKind::Tgta => {
                let tgta = match method.reduction {
                    Some(reduction::Method::Fair) => self.finished_tgta(budget)?,
                    _ => self.tgta(budget)?,
                };
                run.with(ByChange::of_tgta(tgta, &props), search_together, budget)
            }
            ObserverKind::LazyTa | ObserverKind::LazyTgta => {
                let is_ta = method.observer == ObserverKind::LazyTa;
                let observer = Lazy::new(&self.tgba, if is_ta { Kind::Ta } else { Kind::Tgta }, props);
                run.with(if stops { observer.stopping() } else { observer }, search_together, budget)
            }
            ObserverKind::Extended => {
                let mut extended = Cow::Borrowed(self.extended(budget)?);
                if !stops {
                    extended = Cow::Owned(extended.without_finite(budget)?);
                }
                run.with(StateLabeled::new(&extended, props, owns_deadlocks), search_together, budget)
            }
            ObserverKind::Tester => Err(Rule::TesterObserver.into()),
        }
    }

    /// A shortest run that the automaton accepts, as far as it can be told by value; nothing if the budget
    /// is spent first, or only fair runs count: the shortest one need not be fair. With a bound on the work, a short one.
    pub fn shortest<S: Subject>(
        &self,
        system: &S,
        settings: &Settings<'_>,
        work: Option<u64>,
        budget: &mut Budget<'_>,
    ) -> Option<Evidence> {
        if settings.is_fair() {
            return None;
        }
        let (props, numbers): (Vec<Prop>, Vec<usize>) = self.propositions.iter().copied().unzip();
        let observer = ByValue::new(&self.tgba, props);
        let mut product = Product::new(system, observer, Valuations::new(numbers), settings.at_deadlock)
            .with_room(budget.room());
        shortest::search(&mut product, work, budget)
    }
}

/// A testing automaton, with or without states that accept at once.
fn as_it_stops(ta: &Ta, goes_on: bool, budget: &mut Budget<'_>) -> Result<Ta, Limit> {
    if goes_on { ta.clone().extract_finite(budget) } else { ta.clone().without_finite(budget) }
}

/// A deadlock, or why it is not known whether there is one.
fn deadlock<S: Subject>(system: &S, budget: &mut Budget<'_>) -> Result<Option<ProductOutcome>, Limit> {
    let found = system.find_deadlock(&mut budget.share())?;
    let stop = match (found.violations.into_iter().flatten().next(), found.stop) {
        (Some(run), _) => ProductStop::Found(Evidence {
            violation: Violation::Deadlock,
            run,
            cycle_start: None,
            observer_states: Vec::new(),
        }),
        (None, Some(crate::Stop::Limit(limit))) => ProductStop::Limit(limit),
        (None, Some(crate::Stop::Fault(error, run))) => ProductStop::Fault(error, run),
        (None, _) => return Ok(None),
    };
    let system_states = Some(found.stats.states);
    Ok(Some(ProductOutcome { stats: found.stats, system_states, stop: Some(stop), coverage: None }))
}

/// A search that is about to begin.
struct Run<'a, S> {
    system: &'a S,
    method: Method,
    settings: &'a Settings<'a>,
    numbers: Vec<usize>,
    lead: Option<Lead<'a>>,
}

/// How a product is searched by a method.
type Searcher<S, O> =
    fn(&mut Product<'_, S, O>, Method, &Settings<'_>, &mut Budget<'_>) -> Result<ProductOutcome, Refusal>;

impl<'a, S: Subject> Run<'a, S> {
    /// What leads a search for a run that this automaton accepts, if that is asked for.
    fn lead(&self, tgba: &Tgba, props: &[Prop], budget: &mut Budget<'_>) -> Result<Option<Lead<'a>>, Limit> {
        if self.settings.orders.steps != StepOrder::Led {
            return Ok(None);
        }
        let (system, numbers) = (self.system, &self.numbers);
        let mut part = budget.share();
        let distance = |place: usize, truth| system.distance(numbers[place], truth, &mut part);
        Lead::new(tgba, props, distance, budget).map(Some)
    }

    fn with<O: Observer>(
        self,
        observer: O,
        search: Searcher<S, O>,
        budget: &mut Budget<'_>,
    ) -> Result<Decision, Refusal> {
        let Run { system, method, settings, numbers, lead } = self;
        // What the reduction holds is free again after the search.
        let budget = &mut budget.share();
        let mut at_deadlock = settings.at_deadlock;
        if at_deadlock == AtDeadlock::Error {
            // The product need not come to each deadlock: the observer may have lost interest.
            if let Some(outcome) = deadlock(system, budget)? {
                return Ok(Decision { outcome, observer_states: 0, valuations: Vec::new(), on_device: None });
            }
            at_deadlock = AtDeadlock::Ignore;
        }
        let observer_states = observer.n_states();
        let mut product = Product::new(system, observer, Valuations::new(numbers.clone()), at_deadlock)
            .in_order(settings.orders)
            .led_by(lead)
            .with_room(budget.room());
        if settings.is_fair() && method.fairness_by == FairnessBy::Search {
            let fairness = Fairness::within(system.n_actions(), settings.fairness, budget)?;
            product = product.under(fairness);
        }
        let is_for_device = budget.device().is_some() && method.fairness_by == FairnessBy::Search;
        // Who looks at the source alone never asks which actions change a valuation.
        if (is_for_device || method.reduction.is_none())
            && product.observer().watches() != Watches::Source
            && let Some(visible) = system.visible(&numbers, &mut budget.share())?
        {
            product = product.with_visible(visible);
        }
        if is_for_device
            && let Some(reduction) = method.reduction
            && is_led_on_device(method, settings, budget)
        {
            product = S::reduce(product, reduction, settings, budget)?.with_room(budget.room());
        }
        let (outcome, on_device) = match is_for_device {
            true => search_on_device(&mut product, method, settings, budget),
            false => (None, None),
        };
        let outcome = match outcome {
            Some(outcome) => outcome,
            None => {
                if let Some(reduction) = method.reduction
                    && product.method().is_none()
                {
                    product = S::reduce(product, reduction, settings, budget)?.with_room(budget.room());
                }
                search(&mut product, method, settings, budget)?
            }
        };
        let mut valuations: Vec<Vec<bool>> = product.valuations().met().collect();
        if budget.goes_by_rounds() {
            // Each process has met them in another order.
            valuations.sort_unstable();
        }
        Ok(Decision { outcome, observer_states, valuations, on_device })
    }
}
