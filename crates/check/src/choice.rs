//! The choice of a method, where the user leaves it open.
//!
//! What was asked for by hand is taken as it is, and refused if it does not fit. The rest is filled
//! in from the property's class; each decision is told with its reason. An automaton that somebody wrote is
//! used in the form in which it was written, if that fits what was asked for.

use std::fmt;

use base::Budget;

use crate::decide::{Claim, MAX_EXPLICIT_PROPOSITIONS, Refusal, TesterClaim};
use crate::method::{FairnessBy, Method, ObserverKind, ReductionWish, SearchKind, StoreKind};
use crate::reduction;
use crate::rules::{Features, Rule};

/// What was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// The observer.
    pub observer: Option<ObserverKind>,
    /// The search.
    pub search: Option<SearchKind>,
    /// The reduction.
    pub reduction: ReductionWish,
    /// How states are to be kept.
    pub store: StoreKind,
    /// Whether only fair runs count.
    pub fair: bool,
    /// How these are told.
    pub fairness_by: FairnessBy,
    /// Whether runs that end do not count.
    pub ignores_ends: bool,
}

/// A method, and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The method.
    pub method: Method,
    /// One for each decision; none for testers, where everything follows from the tester.
    pub reasons: Vec<Reason>,
}

/// What was decided, and why. It is shown as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// What the property is like.
    Property(Why),
    /// Who watches.
    Observer(ObserverKind, Why),
    /// How the product is searched.
    Search(SearchKind, Why),
    /// What is left out.
    Reduction(Option<reduction::Method>, Why),
    /// That states are searched, and nobody watches.
    States,
    /// What was done to the model before, in the words of who did it.
    Net(String),
    /// What was done to the action system before, in the words of who did it.
    Static(String),
}

/// Why something was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Their texts are below.
pub enum Why {
    SeesNoStuttering,
    MaySeeStuttering,
    ClosureIsWatched,
    AsAsked,
    AsWritten,
    ForSearch(SearchKind),
    ForBitstate,
    CarriesMonitors,
    SmallestByValue,
    ForClassical,
    NoBuchiStates,
    OnePassAndLazy,
    BestGuide,
    ForMonitors,
    CyclesAndLivelocks,
    HybridPath,
    LivelocksOnly,
    WorksOverBitstate,
    StopsSoon,
    FairRuns,
    KeepsFairRuns,
    ChangesAnswer,
    ThereIsNone,
    MustBeRemembered,
    ByValue,
    LedWhereItMust,
    Unseen,
    Led,
    ClosureUndecided,
    FoundSoon,
    TrueInStates,
}

impl Wish {
    /// Fills in what was left open.
    pub fn complete(&self, claim: &mut Claim, budget: &mut Budget<'_>) -> Result<Choice, Refusal> {
        let mut wish = *self;
        if self.reduction == ReductionWish::Closure && claim.proof().is_none() {
            return self.complete_beside_closure(claim, budget);
        } else if self.reduction == ReductionWish::Closure && claim.owns_deadlocks() {
            // There may be no reduction for it, and no other form.
            wish.reduction = ReductionWish::Auto;
        }
        if let Some(written) = wish.written(claim) {
            match wish.fill(claim, Some(written), budget) {
                // What the user asked for is more important than how the automaton was written.
                Err(Refusal::Rule(_)) if !claim.owns_deadlocks() => {}
                choice => return choice,
            }
        }
        wish.fill(claim, None, budget)
    }

    /// For a claim that is looked into because its closure did not decide the matter.
    fn complete_beside_closure(&self, claim: &mut Claim, budget: &mut Budget<'_>) -> Result<Choice, Refusal> {
        let unreduced = Wish { reduction: ReductionWish::None, ..*self };
        let mut choice = match unreduced.complete(claim, budget) {
            // What was asked for may fit the closure only.
            Err(Refusal::Rule(_)) => self.unreduced().complete(claim, budget)?,
            choice => choice?,
        };
        for reason in &mut choice.reasons {
            if let Reason::Reduction(_, why) = reason {
                *why = Why::ClosureUndecided;
            }
        }
        Ok(choice)
    }

    /// The same for a tester.
    pub fn complete_for_tester(&self, tester: &TesterClaim<'_>) -> Result<Choice, Refusal> {
        let features = tester.features(self.fair);
        let reduction = match self.reduction {
            ReductionWish::None => None,
            ReductionWish::Auto | ReductionWish::Best if features.fair && !self.is_monitored() => {
                Some(reduction::Method::Fair)
            }
            ReductionWish::Auto | ReductionWish::Best => Some(reduction::Method::Guided),
            ReductionWish::Fixed(method) => Some(method),
            ReductionWish::Closure => return Err(Rule::TesterReduction.into()),
        };
        let search = match (features.fair, features.has_buchi_states) {
            (true, _) => SearchKind::TwoPass,
            (false, true) => SearchKind::OnePassAndNested,
            (false, false) => SearchKind::OnePass,
        };
        let (observer, search) =
            (self.observer.unwrap_or(ObserverKind::Tester), self.search.unwrap_or(search));
        self.choose(observer, search, reduction, features, Vec::new())
    }

    /// Whatever fits, without reduction.
    #[must_use]
    pub fn unreduced(&self) -> Wish {
        Wish { observer: None, search: None, reduction: ReductionWish::None, ..*self }
    }

    /// Whether everything was left open that can be chosen.
    pub fn is_open(&self) -> bool {
        let Wish { store, fair, ignores_ends, .. } = *self;
        *self == Wish { store, fair, ignores_ends, ..Wish::default() }
    }

    fn is_monitored(&self) -> bool {
        self.fairness_by == FairnessBy::Monitors
    }

    /// Whether the search must tell fair runs.
    fn is_fair_search(&self) -> bool {
        self.fair && !self.is_monitored()
    }

    /// The form in which the automaton was written, if it has to be used or can be.
    fn written(&self, claim: &Claim) -> Option<ObserverKind> {
        let reduces = !matches!(self.reduction, ReductionWish::Auto | ReductionWish::None);
        let can_be = |form: &ObserverKind| match form {
            ObserverKind::Extended => claim.owns_deadlocks() || !reduces, // There is no reduction for it.
            _ => claim.proof().is_some(),
        };
        claim.written_form().filter(can_be).filter(|_| self.observer.is_none() && !self.is_monitored())
    }

    fn fill(
        &self,
        claim: &mut Claim,
        written: Option<ObserverKind>,
        budget: &mut Budget<'_>,
    ) -> Result<Choice, Refusal> {
        let about = match claim.proof() {
            _ if claim.is_closure() => Why::ClosureIsWatched,
            Some(_) => Why::SeesNoStuttering,
            None => Why::MaySeeStuttering,
        };
        let (observer, why_observer) = match (self.observer, written) {
            (Some(asked), _) => (asked, Why::AsAsked),
            (None, Some(written)) => (written, Why::AsWritten),
            (None, None) => self.observer_for(claim, budget),
        };
        let (search, why_search) = match self.search {
            Some(asked) => (asked, Why::AsAsked),
            None => self.search_for(observer, claim, budget)?,
        };
        let (reduction, why_reduction) = self.reduction_for(observer, search, claim.proof().is_some());
        let reasons = vec![
            Reason::Property(about),
            Reason::Observer(observer, why_observer),
            Reason::Search(search, why_search),
            Reason::Reduction(reduction, why_reduction),
        ];
        let features = self.features(observer, claim, budget)?;
        self.choose(observer, search, reduction, features, reasons)
    }

    fn choose(
        &self,
        observer: ObserverKind,
        search: SearchKind,
        reduction: Option<reduction::Method>,
        features: Features,
        reasons: Vec<Reason>,
    ) -> Result<Choice, Refusal> {
        let method = Method { observer, search, reduction, store: self.store, fairness_by: self.fairness_by };
        match method.refusal(features) {
            Some(rule) => Err(rule.into()),
            None => Ok(Choice { method, reasons }),
        }
    }

    fn features(
        &self,
        observer: ObserverKind,
        claim: &mut Claim,
        budget: &mut Budget<'_>,
    ) -> Result<Features, Refusal> {
        claim.features(observer, self.fair, !self.fair && !self.ignores_ends, budget)
    }

    fn observer_for(&self, claim: &mut Claim, budget: &mut Budget<'_>) -> (ObserverKind, Why) {
        use ReductionWish::{Fixed, None as NoReduction};
        let is_small = claim.propositions().len() <= MAX_EXPLICIT_PROPOSITIONS;
        let is_bitstate = self.store != StoreKind::Exact;
        match self.search {
            _ if self.is_monitored() => return (ObserverKind::Ba, Why::CarriesMonitors),
            Some(search @ SearchKind::Nested) => return (ObserverKind::Ba, Why::ForSearch(search)),
            _ if claim.proof().is_none() && is_bitstate => return (ObserverKind::Ba, Why::ForBitstate),
            _ if claim.proof().is_none() => return (ObserverKind::Tgba, Why::SmallestByValue),
            Some(search @ SearchKind::OnePass) => return (ObserverKind::Ta, Why::ForSearch(search)),
            Some(search @ SearchKind::TwoPass) => {
                let observer = if is_small { ObserverKind::Ta } else { ObserverKind::LazyTa };
                return (observer, Why::ForSearch(search));
            }
            _ => {}
        }
        if self.reduction == Fixed(reduction::Method::Classical) {
            return (ObserverKind::Tgba, Why::ForClassical);
        }
        if is_bitstate {
            let is_one_pass = is_small
                && self
                    .features(ObserverKind::Ta, claim, budget)
                    .is_ok_and(|features| !features.has_buchi_states);
            return if is_one_pass {
                (ObserverKind::Ta, Why::NoBuchiStates)
            } else {
                (ObserverKind::Ba, Why::ForBitstate)
            };
        }
        if self.is_fair_search() || self.reduction == NoReduction || self.search == Some(SearchKind::Scc) {
            return (ObserverKind::LazyTgta, Why::OnePassAndLazy);
        }
        (ObserverKind::LazyTa, Why::BestGuide)
    }

    fn search_for(
        &self,
        observer: ObserverKind,
        claim: &mut Claim,
        budget: &mut Budget<'_>,
    ) -> Result<(SearchKind, Why), Refusal> {
        Ok(match observer {
            _ if self.is_monitored() => (SearchKind::Nested, Why::ForMonitors),
            ObserverKind::Ta | ObserverKind::LazyTa => {
                use reduction::Method::{Hybrid, Repaired};
                let wants_path = matches!(self.reduction, ReductionWish::Fixed(Hybrid | Repaired));
                if self.is_fair_search() || self.features(observer, claim, budget)?.has_buchi_states {
                    (SearchKind::TwoPass, Why::CyclesAndLivelocks)
                } else if wants_path {
                    (SearchKind::TwoPass, Why::HybridPath)
                } else {
                    (SearchKind::OnePass, Why::LivelocksOnly)
                }
            }
            ObserverKind::Ba | ObserverKind::Extended if self.store != StoreKind::Exact => {
                (SearchKind::Nested, Why::WorksOverBitstate)
            }
            _ => (SearchKind::Scc, Why::StopsSoon),
        })
    }

    fn reduction_for(
        &self,
        observer: ObserverKind,
        search: SearchKind,
        stutter_invariant: bool,
    ) -> (Option<reduction::Method>, Why) {
        use reduction::Method::{Classical, Fair, Guided, Repaired};
        let has_components = matches!(search, SearchKind::Scc | SearchKind::TwoPass);
        let waits = has_components && observer != ObserverKind::Extended;
        match self.reduction {
            ReductionWish::None => (None, Why::AsAsked),
            ReductionWish::Fixed(method) => (Some(method), Why::AsAsked),
            ReductionWish::Auto if self.is_monitored() => (None, Why::FairRuns),
            ReductionWish::Auto if !stutter_invariant => (None, Why::ChangesAnswer),
            ReductionWish::Auto if self.fair && !waits => (None, Why::FairRuns),
            _ if self.is_fair_search() => (Some(Fair), Why::KeepsFairRuns),
            ReductionWish::Auto if observer == ObserverKind::Extended => (None, Why::ThereIsNone),
            ReductionWish::Auto if self.store != StoreKind::Exact && observer.is_by_value() => {
                (None, Why::MustBeRemembered)
            }
            _ if has_components && observer.is_by_value() => (Some(Repaired), Why::Unseen),
            _ if has_components => (Some(Repaired), Why::LedWhereItMust),
            _ if observer.is_by_value() => (Some(Classical), Why::ByValue),
            _ => (Some(Guided), Why::Led),
        }
    }
}

impl Choice {
    /// What is chosen instead because it has found a run; what was done to the model stays.
    #[must_use]
    pub fn replaced_by(self, other: Choice) -> Choice {
        let is_about_model = |reason: &Reason| matches!(reason, Reason::Net(_) | Reason::Static(_));
        let found = |reason| match reason {
            Reason::Observer(observer, _) => Reason::Observer(observer, Why::FoundSoon),
            reason => reason,
        };
        let reasons = other.reasons.into_iter().map(found);
        let reasons = reasons.chain(self.reasons.into_iter().filter(is_about_model)).collect();
        Choice { method: other.method, reasons }
    }

    /// The same property, by a search of states.
    #[must_use]
    pub fn about_states(mut self) -> Choice {
        let is_of_product = |reason: &Reason| {
            matches!(reason, Reason::Observer(..) | Reason::Search(..) | Reason::Reduction(..))
        };
        self.reasons.retain(|reason| !is_of_product(reason));
        self.reasons.insert(0, Reason::States);
        self
    }

    /// Whether states are searched, without an observer.
    pub fn is_about_states(&self) -> bool {
        self.reasons.contains(&Reason::States)
    }

    /// Why the observer was chosen, in one line, if the wish left everything open.
    pub fn summary(&self, wish: &Wish) -> Option<String> {
        let chosen = self.reasons.iter().find_map(|reason| match reason {
            Reason::Observer(observer, why) => Some(format!("{}, {why}", observer.name())),
            Reason::States => Some(format!("no observer, {}", Why::TrueInStates)),
            _ => None,
        });
        let fair = self.reasons.iter().find_map(|reason| match reason {
            Reason::Reduction(None, why) => Some(format!("; no reduction: {why}")),
            Reason::Reduction(Some(_), _) => Some("; with a reduction that keeps fair runs".to_owned()),
            _ => None,
        });
        let fair = fair.filter(|_| wish.fair).unwrap_or_default();
        Some(format!("chosen: {}{fair}", chosen.filter(|_| wish.is_open())?))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Property(why) => write!(f, "property: {why}"),
            Reason::Observer(observer, why) => write!(f, "observer: {}, {why}", observer.name()),
            Reason::Search(search, why) => write!(f, "search: {}, {why}", search.name()),
            Reason::Reduction(reduction, why) => {
                write!(f, "reduction: {}, {why}", reduction.map_or("none", reduction::Method::name))
            }
            Reason::States => write!(f, "observer: none, {}", Why::TrueInStates),
            Reason::Net(what) => write!(f, "net: {what}"),
            Reason::Static(what) => write!(f, "fewer states: {what}"),
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::SeesNoStuttering => {
                "it does not see stuttering, so testing automata and reduction are sound"
            }
            Why::MaySeeStuttering => {
                "it may see stuttering, so it is watched by value and nothing is left out"
            }
            Why::ClosureIsWatched => "it may see stuttering, so its closure under stuttering is watched",
            Why::AsAsked => "as asked",
            Why::AsWritten => "as it was written",
            Why::ForSearch(search) => return write!(f, "for the {} search", search.name()),
            Why::ForBitstate => "for the nested search, which works over a bitstate store",
            Why::CarriesMonitors => "which monitors can be added to",
            Why::SmallestByValue => "the smallest automaton by value",
            Why::ForClassical => "for the classical reduction",
            Why::NoBuchiStates => "without Büchi states, for the one-pass search",
            Why::OnePassAndLazy => "which needs one pass, and is made while it watches",
            Why::BestGuide => "the best guide for the reduction, made while it watches",
            Why::ForMonitors => "which monitors are for",
            Why::CyclesAndLivelocks => "since the automaton accepts cycles and livelocks",
            Why::HybridPath => "since the hybrid reduction needs the path of a depth-first search",
            Why::LivelocksOnly => "since the automaton accepts livelocks only",
            Why::WorksOverBitstate => "which works over a bitstate store",
            Why::StopsSoon => "which stops as soon as a cycle is closed",
            Why::FairRuns => "fair runs cannot be told apart with it",
            Why::KeepsFairRuns => "which keeps fair runs",
            Why::ChangesAnswer => "it would change the answer",
            Why::ThereIsNone => "there is none for it",
            Why::MustBeRemembered => "it would have to be remembered for each state",
            Why::ByValue => "for observers by value",
            Why::Unseen => "which takes what nobody sees first, and puts off nothing for ever",
            Why::LedWhereItMust => "led by the automaton where it must be, smaller where it may be",
            Why::Led => "led by the automaton",
            Why::ClosureUndecided => "since the closure did not decide the matter",
            Why::TrueInStates => "since it says what is true in every state",
            Why::FoundSoon => "which has found a run where another one had not",
        })
    }
}
