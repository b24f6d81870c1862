//! Decides whether a system has a run that an automaton accepts, by a chosen [`Method`].
//!
//! The automaton is given once, as a TGBA or in whatever form the user wrote it; the form that the
//! method needs is made here.

use automata::by_change::{Limits, Ta, Tgta, small_ta, small_tgta};
use automata::degeneralize::Placement;
use automata::extended::Extended;
use automata::waiting::waiting_form;
use automata::{Effort, GaveUp, Tgba, TooLarge, to_ba};
use base::{Budget, Limit};
use ltl::Prop;
use model::{ActionSystem, Relations};
use por::Flips;

use crate::fairness::{Constraint, Fairness};
use crate::method::{Features, Method, ObserverKind, SearchKind};
use crate::observer::{
    ByChange, ByValue, Kind, Lazy, Monitored, Observer, StateLabeled, Valuations, Watches,
};
use crate::product::{AtDeadlock, Orders, Product};
use crate::reduced::Reduced;
use crate::reduction::Reduction;
use crate::search::one_pass::WorkSet;
use crate::search::{Evidence, Goal, ProductOutcome, ProductStop, Violation};
use crate::search::{bfs, couvreur, nested_dfs, one_pass, product_bfs, shortest, two_pass};
use crate::store::{BitstatePlanes, Exact, ExactPlanes};

/// Automata in waiting form may have this many states.
const MAX_WAITING_STATES: usize = 100_000;

/// Explicit testing automata are made for at most this many propositions. With more, they are larger than
/// what a search meets of them.
pub const MAX_EXPLICIT_PROPOSITIONS: usize = 8;

/// What must not happen: the runs that an automaton accepts.
pub struct Claim {
    /// The automaton, by value.
    pub tgba: Tgba,
    /// Its propositions, each with its number in the system.
    pub propositions: Vec<(Prop, usize)>,
    /// Whether its language is known not to see stuttering.
    pub stutter_invariant: bool,
    /// The same automaton in other forms, made when they are needed or given by the user.
    pub forms: Forms,
}

/// Forms of an automaton.
#[derive(Default)]
pub struct Forms {
    /// With one mark.
    pub ba: Option<Tgba>,
    /// As a testing automaton.
    pub ta: Option<Ta>,
    /// Whether the TA or extended automaton says itself which deadlocks are accepted.
    pub owns_deadlocks: bool,
    /// As a generalized testing automaton.
    pub tgta: Option<Tgta>,
    /// With labels on states.
    pub extended: Option<Extended>,
    /// In waiting form, with the marks of the TGBA and with one.
    waiting: [Option<Tgba>; 2],
}

/// How states are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreChoice {
    /// Exactly.
    Exact,
    /// In so many bytes, with so many bits per state.
    Bitstate(u64, u32),
}

/// How to search, besides the method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings<'f> {
    /// What happens to runs that end.
    pub at_deadlock: AtDeadlock,
    /// In which order steps are searched.
    pub orders: Orders,
    /// The order of the work set of the one-pass search.
    pub work_set: WorkSet,
    /// How states are kept.
    pub store: StoreChoice,
    /// Which infinite runs count.
    pub fairness: Option<&'f Fairness>,
    /// Which infinite runs count, told by monitors instead.
    pub monitors: Option<&'f [Constraint]>,
    /// A rule of the reduction that is left out, for tests.
    #[doc(hidden)]
    pub without_rule: Option<por::Rule>,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Settings {
            at_deadlock: AtDeadlock::Stutter,
            orders: Orders::default(),
            work_set: WorkSet::Queue,
            store: StoreChoice::Exact,
            fairness: None,
            monitors: None,
            without_rule: None,
        }
    }
}

/// Why a property was not looked into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The method does not fit the property: this rule forbids it.
    Rule(&'static str),
    /// The automaton cannot be brought into the form that the method needs.
    Automaton(String),
    /// The memory of the store cannot be had.
    NoMemory,
    /// The budget was spent before the automaton had the form that the method needs.
    Limit(Limit),
}

impl From<Limit> for Refusal {
    fn from(limit: Limit) -> Refusal {
        Refusal::Limit(limit)
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Rule(rule) => f.write_str(rule),
            Refusal::Automaton(reason) => f.write_str(reason),
            Refusal::NoMemory => f.write_str("the memory for the bitstate store cannot be had"),
            Refusal::Limit(limit) => limit.fmt(f),
        }
    }
}

/// The outcome, and how large the observer was.
pub struct Decision {
    /// What the search found.
    pub outcome: ProductOutcome,
    /// Number of states of the observer.
    pub observer_states: u64,
    /// The values of the claim's propositions that were met.
    pub valuations: Vec<Vec<bool>>,
}

impl Claim {
    /// A claim that is made by an automaton. Propositions that it does not look at are left out.
    pub fn new(tgba: Tgba, mut propositions: Vec<(Prop, usize)>, stutter_invariant: bool) -> Claim {
        propositions.retain(|(prop, _)| tgba.propositions().contains(prop));
        Claim { tgba, propositions, stutter_invariant, forms: Forms::default() }
    }

    /// What the table of methods must know, for an observer of this kind. `goes_on` says whether every run
    /// can be continued, and all ways to do so count, so that it can be accepted at once.
    pub fn features(
        &mut self,
        observer: ObserverKind,
        fair: bool,
        goes_on: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Features, Refusal> {
        let mut has_buchi_states = true;
        if self.stutter_invariant && observer == ObserverKind::Ta {
            self.make(observer, false, budget)?;
            if let Some(ta) = &self.forms.ta {
                let ta = as_it_stops(ta, goes_on, budget)?;
                has_buchi_states = ta.states().any(|state| ta.acceptance(state).buchi);
            }
        }
        Ok(Features { stutter_invariant: self.stutter_invariant, has_buchi_states, fair })
    }

    /// Makes the form that an observer needs.
    fn make(
        &mut self,
        observer: ObserverKind,
        classical: bool,
        budget: &mut Budget<'_>,
    ) -> Result<(), Refusal> {
        let gave_up = |why: GaveUp, refusal: &dyn Fn(TooLarge) -> String| match why {
            GaveUp::Limit(limit) => Refusal::Limit(limit),
            GaveUp::TooLarge(why) => Refusal::Automaton(refusal(why)),
        };
        let too_large = |what: &str, why: GaveUp| {
            gave_up(why, &|why| format!("the {what} is too large: {why}; use --observer tgba"))
        };
        let Claim { tgba, forms, .. } = self;
        let limits = Limits::default();
        match observer {
            ObserverKind::Ta if forms.ta.is_none() => {
                forms.ta = Some(small_ta(tgba, &limits, budget).map_err(|why| too_large("TA", why))?);
            }
            ObserverKind::Tgta if forms.tgta.is_none() => {
                forms.tgta = Some(small_tgta(tgba, &limits, budget).map_err(|why| too_large("TGTA", why))?);
            }
            ObserverKind::Ba if forms.ba.is_none() => {
                forms.ba = Some(to_ba(tgba, Effort::Medium, Placement::States, budget)?);
            }
            ObserverKind::Extended if forms.extended.is_none() => {
                let ba = to_ba(tgba, Effort::Medium, Placement::States, budget)?;
                let message = "the state-labeled automaton is too large: use --observer ba";
                let extended = Extended::from_ba(&ba, 1 << 16, budget);
                forms.extended = Some(extended.map_err(|why| gave_up(why, &|_| message.to_owned()))?);
            }
            _ => {}
        }
        if classical {
            let is_ba = observer == ObserverKind::Ba;
            let source = if is_ba { forms.ba.as_ref().unwrap_or(tgba) } else { &*tgba };
            let form = &mut forms.waiting[usize::from(is_ba)];
            if form.is_none() {
                let message =
                    |why| format!("the waiting form of the automaton is too large: {why}; use --reduce none");
                let made = waiting_form(source, MAX_WAITING_STATES, budget);
                *form = Some(made.map_err(|why| gave_up(why, &message))?);
            }
        }
        Ok(())
    }

    /// Looks for a run of the system that the automaton accepts.
    pub fn search(
        &mut self,
        system: &ActionSystem,
        method: Method,
        settings: &Settings<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Decision, Refusal> {
        self.run(system, method, settings, false, budget)
    }

    /// Explores the whole product with an observer, whatever is accepted.
    pub fn count(
        &mut self,
        system: &ActionSystem,
        observer: ObserverKind,
        settings: &Settings<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Decision, Refusal> {
        // It is not used, but has to fit.
        let search = if observer.has_livelock_states() { SearchKind::TwoPass } else { SearchKind::Scc };
        let method = Method { observer, search, reduction: None, bitstate: false };
        self.run(system, method, settings, true, budget)
    }

    /// A budget that is spent before the observer is ready is an outcome like any other.
    fn run(
        &mut self,
        system: &ActionSystem,
        method: Method,
        settings: &Settings<'_>,
        counts: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Decision, Refusal> {
        match self.prepare_and_run(system, method, settings, counts, budget) {
            Err(Refusal::Limit(limit)) => {
                let outcome = ProductOutcome::not_begun(limit);
                Ok(Decision { outcome, observer_states: 0, valuations: Vec::new() })
            }
            decided => decided,
        }
    }

    fn prepare_and_run(
        &mut self,
        system: &ActionSystem,
        method: Method,
        settings: &Settings<'_>,
        counts: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Decision, Refusal> {
        let fairness = settings.fairness.filter(|fairness| !fairness.is_empty());
        let goes_on = fairness.is_none() && settings.at_deadlock != AtDeadlock::Ignore;
        let features = self.features(method.observer, fairness.is_some(), goes_on, budget)?;
        if let Some(rule) = method.refusal(features) {
            return Err(Refusal::Rule(rule));
        }
        let is_monitored = (ObserverKind::Ba, SearchKind::Nested, None);
        if settings.monitors.is_some() && (method.observer, method.search, method.reduction) != is_monitored {
            return Err(Refusal::Rule(
                "monitors need a Büchi automaton, a nested search and no reduction: use --observer ba --search \
                 nested --reduce none",
            ));
        }
        let mut settings = *settings;
        let classical = method.reduction == Some(crate::reduction::Method::Classical);
        self.make(method.observer, classical, budget)?;
        let was_error = settings.at_deadlock == AtDeadlock::Error;
        if was_error {
            // The product need not come to each deadlock: the observer may have lost interest.
            if let Some(outcome) = deadlock(system, budget) {
                return Ok(Decision { outcome, observer_states: 0, valuations: Vec::new() });
            }
            settings.at_deadlock = AtDeadlock::Ignore;
        }
        let props: Vec<Prop> = self.propositions.iter().map(|(prop, _)| *prop).collect();
        let numbers: Vec<usize> = self.propositions.iter().map(|(_, number)| *number).collect();
        let run = Run { system, method, settings, numbers, counts };
        let forms = &self.forms;
        // To accept at once is wrong where a run may end and be ignored; it hides a part of the product; and
        // it shows no fair run.
        let stops = !counts && goes_on;
        let missing = || Refusal::Automaton("the automaton has no such form".to_owned());
        match method.observer {
            ObserverKind::Tgba | ObserverKind::Ba => {
                let is_ba = method.observer == ObserverKind::Ba;
                let plain = if is_ba { forms.ba.as_ref() } else { Some(&self.tgba) };
                let waiting = forms.waiting[usize::from(is_ba)].as_ref();
                let waits = classical && settings.without_rule != Some(por::Rule::WaitingForm);
                let tgba = if waits { waiting } else { plain }.ok_or_else(missing)?;
                let observer = ByValue::new(tgba, props);
                if let Some(constraints) = settings.monitors {
                    return run.with(Monitored::new(observer, constraints), budget);
                }
                run.with(if stops { observer.stopping() } else { observer }, budget)
            }
            ObserverKind::Ta => {
                let ta = as_it_stops(forms.ta.as_ref().ok_or_else(missing)?, stops, budget)?;
                run.with(ByChange::of_ta(&ta, &props, forms.owns_deadlocks), budget)
            }
            ObserverKind::Tgta => {
                run.with(ByChange::of_tgta(forms.tgta.as_ref().ok_or_else(missing)?, &props), budget)
            }
            ObserverKind::LazyTa | ObserverKind::LazyTgta => {
                let is_ta = method.observer == ObserverKind::LazyTa;
                let observer = Lazy::new(&self.tgba, if is_ta { Kind::Ta } else { Kind::Tgta }, props);
                run.with(if stops { observer.stopping() } else { observer }, budget)
            }
            ObserverKind::Extended => {
                let extended = forms.extended.as_ref().ok_or_else(missing)?;
                let plain;
                let extended = if stops {
                    extended
                } else {
                    plain = extended.without_finite(budget)?;
                    &plain
                };
                run.with(StateLabeled::new(extended, props, forms.owns_deadlocks), budget)
            }
        }
    }
}

impl Claim {
    /// A shortest run that the automaton accepts, as far as it can be told by value; nothing if the budget
    /// is spent first.
    pub fn shortest(
        &self,
        system: &ActionSystem,
        settings: &Settings<'_>,
        budget: &mut Budget<'_>,
    ) -> Option<Evidence> {
        if settings.fairness.is_some_and(|fairness| !fairness.is_empty()) {
            return None; // The shortest one need not be fair.
        }
        let (props, numbers): (Vec<Prop>, Vec<usize>) = self.propositions.iter().copied().unzip();
        let observer = ByValue::new(&self.tgba, props);
        let mut product = Product::new(system, observer, Valuations::new(numbers), settings.at_deadlock)
            .with_max_bytes(budget.max_bytes);
        shortest::search(&mut product, budget)
    }
}

/// A testing automaton, with or without states that accept at once.
fn as_it_stops(ta: &Ta, goes_on: bool, budget: &mut Budget<'_>) -> Result<Ta, Limit> {
    if goes_on { ta.clone().extract_finite(budget) } else { ta.clone().without_finite(budget) }
}

/// A deadlock, or why it is not known whether there is one.
fn deadlock(system: &ActionSystem, budget: &mut Budget<'_>) -> Option<ProductOutcome> {
    let reduced = Reduced::for_deadlocks(system);
    let mut store = Exact::new(model::System::width(system), budget.max_bytes);
    let found = bfs::search(&reduced, &mut store, &[Goal::Deadlock], budget);
    let stop = match (found.violations.into_iter().flatten().next(), found.stop) {
        (Some(run), _) => ProductStop::Found(Evidence {
            violation: Violation::Deadlock,
            run,
            cycle_start: None,
            observer_states: Vec::new(),
        }),
        (None, Some(crate::Stop::Limit(limit))) => ProductStop::Limit(limit),
        (None, Some(crate::Stop::Fault(error, run))) => ProductStop::Fault(error, run),
        (None, _) => return None,
    };
    let system_states = Some(found.stats.states);
    Some(ProductOutcome { stats: found.stats, system_states, stop: Some(stop), coverage: None })
}

/// A search that is about to begin.
struct Run<'a> {
    system: &'a ActionSystem,
    method: Method,
    settings: Settings<'a>,
    numbers: Vec<usize>,
    /// The whole product is explored, by no search in particular.
    counts: bool,
}

impl<'a> Run<'a> {
    fn with<O: Observer>(self, observer: O, budget: &mut Budget<'_>) -> Result<Decision, Refusal> {
        let Run { system, method, settings, numbers, counts } = self;
        let observer_states = observer.n_states();
        let has_marks = observer.has_marks();
        let mut product =
            Product::new(system, observer, Valuations::new(numbers.clone()), settings.at_deadlock)
                .in_order(settings.orders)
                .with_max_bytes(budget.max_bytes);
        if let Some(fairness) = settings.fairness {
            product = product.under(fairness.clone());
        }
        match method.reduction {
            // Who looks at the source alone never asks which actions change a valuation.
            None if product.observer().watches() == Watches::Source => {}
            None => {
                let exprs: Vec<_> =
                    numbers.iter().map(|&number| system.propositions()[number].expr).collect();
                let flips = Flips::new(system, &Relations::new(system), &exprs);
                product = product.with_visible(flips.visible());
            }
            Some(reduction) => {
                let mut reduction = Reduction::for_propositions(system, &numbers, reduction);
                if let Some(rule) = settings.without_rule {
                    reduction = reduction.without(rule);
                }
                product = product.reduced(reduction);
            }
        }
        let width = product.width();
        let outcome = match (method.search, settings.store) {
            _ if counts => product_bfs::search(&mut product, budget),
            (SearchKind::Scc, _) => couvreur::search(&mut product, budget),
            (SearchKind::TwoPass, _) => two_pass::search(&mut product, budget),
            (SearchKind::Nested, StoreChoice::Exact) => {
                nested_dfs::search(&mut product, &mut ExactPlanes::new(width, budget.max_bytes), budget)
            }
            (SearchKind::OnePass, _) if has_marks => {
                return Err(Refusal::Rule("one pass finds no Büchi cycles: use --search two-pass"));
            }
            (SearchKind::OnePass, StoreChoice::Exact) => {
                let mut planes = ExactPlanes::new(width, budget.max_bytes);
                one_pass::search(&mut product, settings.work_set, &mut planes, budget)
            }
            (search, StoreChoice::Bitstate(bytes, n_hashes)) => {
                let mut planes = BitstatePlanes::new(bytes, n_hashes).ok_or(Refusal::NoMemory)?;
                match search {
                    SearchKind::OnePass => {
                        one_pass::search(&mut product, settings.work_set, &mut planes, budget)
                    }
                    _ => nested_dfs::search(&mut product, &mut planes, budget),
                }
            }
        };
        let valuations = product.valuations().met().collect();
        Ok(Decision { outcome, observer_states, valuations })
    }
}
