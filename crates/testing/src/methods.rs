//! Which methods are sound, written down one by one: independent of the rules that refuse the others. And a
//! tally that proves that each of them was tried.

use std::cell::RefCell;
use std::collections::HashMap;

use base::Budget;
use check::decide::{Claim, Decision, Refusal, Settings, TesterClaim};
use check::method::{FairnessBy, Method, ObserverKind, SearchKind, StoreKind};
use check::product::AtDeadlock;
use check::reduction;
use check::reduction::Method::{Classical, Fair, Guided, Hybrid, Repaired};
use model::ActionSystem;
use proptest::test_runner::TestCaseError;

type Reductions = &'static [Option<reduction::Method>];

const BY_CHANGE: Reductions = &[None, Some(Guided), Some(Hybrid), Some(Repaired), Some(Fair)];

/// Observer and search, with reductions over an exact store and over a few bits.
const SOUND: [(ObserverKind, SearchKind, Reductions, Reductions); 10] = [
    (ObserverKind::Tgba, SearchKind::Scc, &[None, Some(Classical), Some(Repaired), Some(Fair)], &[]),
    (ObserverKind::Ba, SearchKind::Scc, &[None, Some(Classical), Some(Repaired), Some(Fair)], &[]),
    (ObserverKind::Ba, SearchKind::Nested, &[None, Some(Classical)], &[None]),
    (ObserverKind::Extended, SearchKind::Scc, &[None], &[]),
    (ObserverKind::Extended, SearchKind::Nested, &[None], &[None]),
    (ObserverKind::Ta, SearchKind::OnePass, &[None, Some(Guided)], &[None, Some(Guided)]),
    (ObserverKind::Ta, SearchKind::TwoPass, BY_CHANGE, &[]),
    (ObserverKind::LazyTa, SearchKind::TwoPass, BY_CHANGE, &[]),
    (ObserverKind::Tgta, SearchKind::Scc, BY_CHANGE, &[]),
    (ObserverKind::LazyTgta, SearchKind::Scc, BY_CHANGE, &[]),
];

/// The same for testers.
const SOUND_FOR_TESTERS: [(SearchKind, bool); 5] = [
    (SearchKind::OnePass, false),
    (SearchKind::OnePass, true),
    (SearchKind::OnePassAndNested, false),
    (SearchKind::OnePassAndNested, true),
    (SearchKind::TwoPass, false),
];

/// Large enough that no state of small systems is missed.
const BITSTATE: StoreKind = StoreKind::Bitstate { bytes: 1 << 15, n_hashes: 3 };

/// All combinations, sound or not.
pub fn all() -> Vec<Method> {
    use ObserverKind::{Ba, Extended, LazyTa, LazyTgta, Ta, Tester, Tgba, Tgta};
    use SearchKind::{Nested, OnePass, OnePassAndNested, Scc, TwoPass};
    let mut methods = Vec::new();
    for observer in [Tgba, Ba, Ta, Tgta, LazyTa, LazyTgta, Extended, Tester] {
        for search in [Scc, Nested, OnePass, OnePassAndNested, TwoPass] {
            for reduction in [None, Some(Guided), Some(Hybrid), Some(Classical), Some(Repaired), Some(Fair)] {
                for store in [StoreKind::Exact, BITSTATE] {
                    for fairness_by in [FairnessBy::Search, FairnessBy::Monitors] {
                        methods.push(Method { observer, search, reduction, store, fairness_by });
                    }
                }
            }
        }
    }
    methods
}

/// Whether a method may be used for an automaton without fairness, if it may be for any.
pub fn is_sound(method: Method) -> bool {
    let Method { observer, search, reduction, store, fairness_by } = method;
    if fairness_by == FairnessBy::Monitors {
        return (observer, search, reduction) == (ObserverKind::Ba, SearchKind::Nested, None);
    }
    SOUND.iter().any(|&(its_observer, its_search, exact, bits)| {
        let reductions = if store == StoreKind::Exact { exact } else { bits };
        (its_observer, its_search) == (observer, search) && reductions.contains(&reduction)
    })
}

/// Whether it may be used where only fair runs count, if it may be for any automaton.
pub fn is_sound_for_fair_runs(method: Method) -> bool {
    let tells = matches!(method.search, SearchKind::Scc | SearchKind::TwoPass)
        && matches!(method.reduction, None | Some(Fair));
    is_sound(method) && (tells || method.fairness_by == FairnessBy::Monitors)
}

/// Whether it may be used for testers, with infinite states or without.
pub fn is_sound_for_testers(method: Method, has_infinite_states: bool) -> bool {
    method.observer == ObserverKind::Tester
        && SOUND_FOR_TESTERS.contains(&(method.search, method.store != StoreKind::Exact))
        && matches!(method.reduction, None | Some(Guided))
        && !(has_infinite_states && method.search == SearchKind::OnePass)
}

/// Whether it may be used for testers where only fair runs count.
pub fn is_sound_for_fair_testers(method: Method) -> bool {
    let Method { observer, search, reduction, store, fairness_by } = method;
    (observer, search, store) == (ObserverKind::Tester, SearchKind::TwoPass, StoreKind::Exact)
        && matches!(reduction, None | Some(Fair))
        && fairness_by == FairnessBy::Search
}

/// Whether a claim may be decided by a method: then it must not be refused, and otherwise it must be.
pub fn is_allowed(claim: &mut Claim, method: Method, settings: &Settings<'_>) -> bool {
    let fair = settings.is_fair();
    let goes_on = !fair && settings.at_deadlock != AtDeadlock::Ignore;
    let sound = if fair { is_sound_for_fair_runs(method) } else { is_sound(method) };
    let by_value = matches!(method.observer, ObserverKind::Tgba | ObserverKind::Ba | ObserverKind::Extended);
    let sees_stuttering = claim.proof().is_none();
    sound
        && (!sees_stuttering || by_value && method.reduction.is_none())
        && (method.search != SearchKind::OnePass || has_no_buchi_states(claim, fair, goes_on))
}

fn has_no_buchi_states(claim: &mut Claim, fair: bool, goes_on: bool) -> bool {
    let features = claim.features(ObserverKind::Ta, fair, goes_on, &mut Budget::unlimited());
    features.is_ok_and(|features| !features.has_buchi_states)
}

/// What was decided; nothing if the method is not allowed: exactly then it must be refused, by a rule.
pub fn decided(
    method: Method,
    is_allowed: bool,
    decided: Result<Decision, Refusal>,
) -> Result<Option<Decision>, TestCaseError> {
    match decided {
        Ok(decision) if is_allowed => Ok(Some(decision)),
        Ok(_) => Err(TestCaseError::fail(format!("{method:?} must be refused"))),
        Err(Refusal::Rule(_)) if !is_allowed => Ok(None),
        Err(why) => Err(TestCaseError::fail(format!("{method:?} is refused: {why}"))),
    }
}

/// How often each method was tried.
#[derive(Default)]
pub struct Tally(RefCell<HashMap<Method, u32>>);

impl Tally {
    /// Searches, unless the method is not for this claim: exactly then it must be refused.
    pub fn search(
        &self,
        claim: &mut Claim,
        system: &ActionSystem,
        method: Method,
        settings: &Settings<'_>,
    ) -> Result<Option<Decision>, TestCaseError> {
        let expected = is_allowed(claim, method, settings);
        let decided = claim.search(system, method, settings, &mut Budget::unlimited());
        self.note(method, expected, decided)
    }

    /// The same for a tester.
    pub fn search_tester(
        &self,
        claim: &TesterClaim<'_>,
        system: &ActionSystem,
        method: Method,
        settings: &Settings<'_>,
    ) -> Result<Option<Decision>, TestCaseError> {
        let decided = claim.search(system, method, settings, &mut Budget::unlimited());
        let fair = settings.is_fair() && claim.is_about_infinite_runs();
        let expected = if fair {
            is_sound_for_fair_testers(method)
        } else {
            is_sound_for_testers(method, claim.has_infinite_states())
        };
        self.note(method, expected, decided)
    }

    fn note(
        &self,
        method: Method,
        expected: bool,
        found: Result<Decision, Refusal>,
    ) -> Result<Option<Decision>, TestCaseError> {
        let decision = decided(method, expected, found)?;
        if decision.is_some() {
            *self.0.borrow_mut().entry(method).or_default() += 1;
        }
        Ok(decision)
    }

    /// Each of these methods was tried so often, and no other was.
    ///
    /// # Panics
    /// If not.
    pub fn assert_each(&self, methods: impl IntoIterator<Item = Method>, at_least: u32) {
        let mut tried = self.0.borrow().clone();
        for method in methods {
            let n = tried.remove(&method).unwrap_or(0);
            crate::assert_met!(n >= at_least, "{method:?} was tried {n} times");
        }
        assert!(tried.is_empty(), "{tried:?}");
    }
}
