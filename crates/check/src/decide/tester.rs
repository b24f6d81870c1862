//! Decides whether a system does what a tester calls illegal.
//!
//! Algorithm 3.4 ([`one_pass`](crate::search::one_pass)) looks for C1, C2 and C3; if the tester has
//! infinite-trace states, [`nested_dfs`](crate::search::nested_dfs) looks for C1, C2 and C4 as well. Both must
//! find nothing before the answer is that nothing is wrong: under reduction an error C4 may survive only as C3
//! (Theorem 4.1 of [valmari.93.cav]). Under fairness, [`two_pass`](crate::search::two_pass) looks for all four.

use automata::tester::State;
use automata::{GaveUp, Tester};
use base::Budget;
use model::LabelId;

use super::{Decision, Refusal, Settings, Subject, is_led_on_device, search_on_device, search_together};
use crate::fairness::Fairness;
use crate::method::Method;
use crate::observer::{ByAction, Observer as _, Valuations};
use crate::product::{AtDeadlock, Product};
use crate::rules::Features;

/// What must not happen: what a tester calls illegal.
#[derive(Clone, Copy)]
pub struct TesterClaim<'a> {
    tester: &'a Tester,
    labels: &'a [LabelId],
}

impl<'a> TesterClaim<'a> {
    /// The claim of a legal tester ([`Tester::flaw`]) whose letters are these labels.
    pub fn new(tester: &'a Tester, labels: &'a [LabelId]) -> TesterClaim<'a> {
        TesterClaim { tester, labels }
    }

    fn has(&self, is_special: impl Fn(&State) -> bool) -> bool {
        self.tester.states.iter().any(is_special)
    }

    /// Whether it calls infinite runs illegal. If not, fairness does not matter: only those can be unfair.
    pub fn is_about_infinite_runs(&self) -> bool {
        self.has(|state| state.livelock || state.infinite)
    }

    /// Whether it calls infinite traces illegal.
    pub fn has_infinite_states(&self) -> bool {
        self.has(|state| state.infinite)
    }

    /// What the table of rules must know, where there are fairness constraints or not.
    pub fn features(&self, fair: bool) -> Features {
        Features {
            is_tester: true,
            stutter_invariant: true, // What it does not watch, it does not see.
            has_buchi_states: self.has_infinite_states(),
            fair: fair && self.is_about_infinite_runs(),
            own_deadlocks: None,
        }
    }

    /// Looks for a run that the tester calls illegal; if there are fairness constraints, an infinite one must
    /// be fair.
    pub fn search<S: Subject>(
        &self,
        system: &S,
        method: Method,
        settings: &Settings<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Decision, Refusal> {
        Decision::unless_limited(self.run(system, method, settings, budget))
    }

    fn run<S: Subject>(
        &self,
        system: &S,
        method: Method,
        settings: &Settings<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Decision, Refusal> {
        let features = self.features(settings.is_fair());
        if let Some(rule) = method.refusal(features) {
            return Err(rule.into());
        }
        let budget = &mut budget.share();
        let product = product(system, self.tester, self.labels, budget);
        let mut product = product.map_err(Refusal::of(|_| Refusal::Tester))?;
        product = product.in_order(settings.orders).with_room(budget.room());
        if features.fair {
            let fairness = Fairness::within(system.n_actions(), settings.fairness, budget)?;
            product = product.under(fairness);
        }
        let observer_states = product.observer().n_states();
        let reduce = |product, budget: &mut Budget<'_>| match method.reduction {
            None => Ok(product),
            Some(reduction) => {
                let fairness = if features.fair { settings.fairness } else { &[] };
                let settings = Settings { fairness, without_rule: None, ..*settings };
                S::reduce(product, reduction, &settings, budget)
            }
        };
        let is_led = is_led_on_device(method, settings, budget);
        if is_led {
            product = reduce(product, budget)?;
        }
        let (outcome, on_device) = search_on_device(&mut product, method, settings, budget);
        if let Some(outcome) = outcome {
            return Ok(Decision { outcome, observer_states, valuations: Vec::new(), on_device });
        }
        if !is_led {
            product = reduce(product, budget)?;
        }
        product = product.with_room(budget.room());
        let outcome = search_together(&mut product, method, settings, budget)?;
        Ok(Decision { outcome, observer_states, valuations: Vec::new(), on_device })
    }
}

/// The product of a system with a legal tester, whose letters are these labels.
pub fn product<'a, S: Subject>(
    system: &'a S,
    tester: &'a Tester,
    labels: &[LabelId],
    budget: &mut Budget<'_>,
) -> Result<Product<'a, S, ByAction<'a>>, GaveUp> {
    let observer = ByAction::new(system, tester, labels, budget)?;
    Ok(Product::new(system, observer, Valuations::new(Vec::new()), AtDeadlock::Ignore))
}
