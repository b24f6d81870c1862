//! The choice of a method, where the user leaves it open.
//!
//! What was asked for by hand is taken as it is, and refused if it does not fit. The rest is filled
//! in from the property's class; each decision is told with its reason.

use crate::decide::{Claim, MAX_EXPLICIT_PROPOSITIONS, Refusal};
use crate::method::{Features, Method, ObserverKind, SearchKind};
use crate::reduction;
use base::Budget;

/// Which reduction is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReductionWish {
    /// Whatever is best, if any is possible.
    #[default]
    Auto,
    /// None.
    None,
    /// The best there is.
    Best,
    /// This one.
    Fixed(reduction::Method),
}

/// What was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// The observer.
    pub observer: Option<ObserverKind>,
    /// The search.
    pub search: Option<SearchKind>,
    /// The reduction.
    pub reduction: ReductionWish,
    /// Whether states are to be kept in a few bits each.
    pub bitstate: bool,
    /// Whether only fair runs count.
    pub fair: bool,
    /// Whether runs that end do not count.
    pub ignores_ends: bool,
}

/// A method, and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The method.
    pub method: Method,
    /// One sentence for each decision.
    pub reasons: Vec<String>,
}

impl Wish {
    /// Fills in what was left open.
    pub fn complete(&self, claim: &mut Claim, budget: &mut Budget<'_>) -> Result<Choice, Refusal> {
        let mut reasons = vec![if claim.stutter_invariant {
            "property: it does not see stuttering, so testing automata and reduction are sound".to_owned()
        } else {
            "property: it may see stuttering, so it is watched by value and nothing is left out".to_owned()
        }];
        let observer = match self.observer {
            Some(observer) => {
                reasons.push(format!("observer: {}, as asked", observer.name()));
                observer
            }
            None => {
                let (observer, why) = self.observer(claim, budget);
                reasons.push(format!("observer: {}, {why}", observer.name()));
                observer
            }
        };
        let search = match self.search {
            Some(search) => {
                reasons.push(format!("search: {}, as asked", search.name()));
                search
            }
            None => {
                let (search, why) = self.search(observer, claim, budget)?;
                reasons.push(format!("search: {}, {why}", search.name()));
                search
            }
        };
        let (reduction, why) = self.reduction(observer, search, claim.stutter_invariant);
        reasons.push(format!("reduction: {}, {why}", reduction.map_or("none", reduction::Method::name)));
        let method = Method { observer, search, reduction, bitstate: self.bitstate };
        match method.refusal(self.features(observer, claim, budget)?) {
            Some(rule) => Err(Refusal::Rule(rule)),
            None => Ok(Choice { method, reasons }),
        }
    }

    fn observer(&self, claim: &mut Claim, budget: &mut Budget<'_>) -> (ObserverKind, &'static str) {
        use ReductionWish::{Fixed, None as NoReduction};
        let n_propositions = claim.propositions.len();
        let is_small = n_propositions <= MAX_EXPLICIT_PROPOSITIONS;
        if !claim.stutter_invariant {
            return match (self.search, self.bitstate) {
                (Some(SearchKind::Nested), _) => (ObserverKind::Ba, "for the nested search"),
                (_, true) => (ObserverKind::Ba, "for the nested search, which works over a bitstate store"),
                _ => (ObserverKind::Tgba, "the smallest automaton by value"),
            };
        }
        match self.search {
            Some(SearchKind::Nested) => return (ObserverKind::Ba, "for the nested search"),
            Some(SearchKind::OnePass) => return (ObserverKind::Ta, "for the one-pass search"),
            Some(SearchKind::TwoPass) if is_small => return (ObserverKind::Ta, "for the two-pass search"),
            Some(SearchKind::TwoPass) => return (ObserverKind::LazyTa, "for the two-pass search"),
            _ => {}
        }
        if self.reduction == Fixed(reduction::Method::Classical) {
            return (ObserverKind::Tgba, "for the classical reduction");
        }
        if self.bitstate {
            let is_one_pass = is_small
                && self
                    .features(ObserverKind::Ta, claim, budget)
                    .is_ok_and(|features| !features.has_buchi_states);
            return if is_one_pass {
                (ObserverKind::Ta, "without Büchi states, for the one-pass search")
            } else {
                (ObserverKind::Ba, "for the nested search, which works over a bitstate store")
            };
        }
        if self.fair || self.reduction == NoReduction || self.search == Some(SearchKind::Scc) {
            return (ObserverKind::LazyTgta, "which needs one pass, and is made while it watches");
        }
        (ObserverKind::LazyTa, "the best guide for the reduction, made while it watches")
    }

    fn features(
        &self,
        observer: ObserverKind,
        claim: &mut Claim,
        budget: &mut Budget<'_>,
    ) -> Result<Features, Refusal> {
        claim.features(observer, self.fair, !self.fair && !self.ignores_ends, budget)
    }

    fn search(
        &self,
        observer: ObserverKind,
        claim: &mut Claim,
        budget: &mut Budget<'_>,
    ) -> Result<(SearchKind, &'static str), Refusal> {
        Ok(match observer {
            ObserverKind::Ta | ObserverKind::LazyTa => {
                let wants_path = self.reduction == ReductionWish::Fixed(reduction::Method::Hybrid);
                if self.fair || self.features(observer, claim, budget)?.has_buchi_states {
                    (SearchKind::TwoPass, "since the automaton accepts cycles and livelocks")
                } else if wants_path {
                    (SearchKind::TwoPass, "since the hybrid reduction needs the path of a depth-first search")
                } else {
                    (SearchKind::OnePass, "since the automaton accepts livelocks only")
                }
            }
            ObserverKind::Ba if self.bitstate => (SearchKind::Nested, "which works over a bitstate store"),
            ObserverKind::Extended if self.bitstate => {
                (SearchKind::Nested, "which works over a bitstate store")
            }
            _ => (SearchKind::Scc, "which stops as soon as a cycle is closed"),
        })
    }

    fn reduction(
        &self,
        observer: ObserverKind,
        search: SearchKind,
        stutter_invariant: bool,
    ) -> (Option<reduction::Method>, &'static str) {
        use reduction::Method::{Classical, Guided, Hybrid};
        let has_path = matches!(search, SearchKind::Scc | SearchKind::TwoPass);
        match self.reduction {
            ReductionWish::None => (None, "as asked"),
            ReductionWish::Fixed(method) => (Some(method), "as asked"),
            ReductionWish::Auto if self.fair => (None, "fair runs cannot be told apart with it"),
            ReductionWish::Auto if !stutter_invariant => (None, "it would change the answer"),
            ReductionWish::Auto if observer == ObserverKind::Extended => (None, "there is none for it"),
            ReductionWish::Auto if self.bitstate && !observer.is_testing() => {
                (None, "it would have to be remembered for each state")
            }
            _ if !observer.is_testing() => (Some(Classical), "for observers by value"),
            _ if has_path => (Some(Hybrid), "led by the automaton where it must be, smaller where it may be"),
            _ => (Some(Guided), "led by the automaton"),
        }
    }
}
