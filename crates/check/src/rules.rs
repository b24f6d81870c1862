//! What may be combined: one table, for automata, testers and monitors.
//!
//! A [`Rule`] is there because the combination would be unsound, or because nobody has built it; which of the
//! two, its text says. What could be done instead is its [`Remedy`]: in kinds, since how these are asked for
//! is up to who asks. [`Method::refusal`] says which rule applies, and nothing else forbids a method.

use std::fmt;

use crate::method::{FairnessBy, Method, ObserverKind, ReductionWish, SearchKind, StoreKind};
use crate::reduction::Method::{Classical, Fair, Guided, Hybrid, Repaired};

/// What the table must know of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// It is a tester, not an automaton.
    pub is_tester: bool,
    /// It does not see stuttering, as far as is known.
    pub stutter_invariant: bool,
    /// As a TA or tester, it accepts runs that leave some states infinitely often.
    pub has_buchi_states: bool,
    /// Only fair runs count.
    pub fair: bool,
    /// The form in which it was written, if it says itself which ends are accepted.
    pub own_deadlocks: Option<ObserverKind>,
}

/// Why a method is not for a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Their texts are in the table below.
pub enum Rule {
    OwnDeadlocks,
    TesterObserver,
    TesterReduction,
    TesterMonitors,
    TesterSearch,
    TesterBuchi,
    FairStore,
    ComponentStore,
    FairReduction,
    FairSets,
    FairSearch,
    WatchedStuttering,
    ReducedStuttering,
    ComponentLivelocks,
    SecondPass,
    OnePassLivelocks,
    OnePassBuchi,
    OnePassAndNested,
    NestedMarks,
    NoGuide,
    ClassicalByChange,
    ClassicalExtended,
    HybridPath,
    RepairedSearch,
    ClassicalStore,
    Monitors,
    NothingKnown,
}

/// What would not be refused: one of these ways, each with all of its changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// The ways; none if nothing helps.
    pub ways: &'static [&'static [Change]],
    /// It is meant for testers, whatever else is checked by the same method.
    pub for_testers: bool,
}

/// What to ask for: one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// An observer.
    Observer(&'static [ObserverKind]),
    /// A search.
    Search(&'static [SearchKind]),
    /// A reduction.
    Reduction(&'static [ReductionWish]),
    /// A store.
    Store(StoreKind),
    /// A way to tell fair runs.
    FairnessBy(FairnessBy),
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = |way: &&[Change]| way.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
        f.write_str(&self.ways.iter().map(way).collect::<Vec<_>>().join(", or "))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one_of = |names: Vec<&str>| names.join(" or ");
        match self {
            Change::Observer(kinds) => {
                write!(f, "observer {}", one_of(kinds.iter().map(|kind| kind.name()).collect()))
            }
            Change::Search(kinds) => {
                write!(f, "search {}", one_of(kinds.iter().map(|kind| kind.name()).collect()))
            }
            Change::Reduction(wishes) => {
                write!(f, "reduction {}", one_of(wishes.iter().map(|wish| wish.name()).collect()))
            }
            Change::Store(StoreKind::Exact) => f.write_str("an exact store"),
            Change::Store(StoreKind::Bitstate { .. }) => f.write_str("a bitstate store"),
            Change::Store(StoreKind::Fingerprint) => f.write_str("a fingerprint store"),
            Change::FairnessBy(FairnessBy::Search) => f.write_str("fairness by the search"),
            Change::FairnessBy(FairnessBy::Monitors) => f.write_str("fairness by monitors"),
        }
    }
}

impl Method {
    /// The rule that forbids this method for a property with these features, if one does.
    pub fn refusal(self, features: Features) -> Option<Rule> {
        use ObserverKind::{Ba, Extended, Tester};
        use SearchKind::{Nested, OnePass, OnePassAndNested, Scc, TwoPass};
        let Method { observer, search, reduction, store, fairness_by } = self;
        let Features { is_tester, stutter_invariant, has_buchi_states, fair, own_deadlocks } = features;
        let bitstate = store != StoreKind::Exact;
        let monitored = fairness_by == FairnessBy::Monitors;
        let fair_search = fair && !monitored;
        let rules = [
            (own_deadlocks.is_some_and(|written| written != observer), Rule::OwnDeadlocks),
            (is_tester != (observer == Tester), Rule::TesterObserver),
            (
                is_tester
                    && (matches!(reduction, Some(Hybrid | Classical | Repaired))
                        || reduction == Some(Fair) && !fair),
                Rule::TesterReduction,
            ),
            (is_tester && fair && monitored, Rule::TesterMonitors),
            (is_tester && matches!(search, Scc | Nested), Rule::TesterSearch),
            (is_tester && search == OnePass && has_buchi_states, Rule::TesterBuchi),
            (fair_search && bitstate, Rule::FairStore),
            (bitstate && matches!(search, Scc | TwoPass), Rule::ComponentStore),
            (fair_search && reduction.is_some_and(|method| method != Fair), Rule::FairReduction),
            (fair_search && matches!(search, OnePass | OnePassAndNested | Nested), Rule::FairSearch),
            (observer.is_by_change() && !stutter_invariant, Rule::WatchedStuttering),
            (reduction.is_some() && !stutter_invariant, Rule::ReducedStuttering),
            (search == Scc && observer.has_livelock_states(), Rule::ComponentLivelocks),
            (search == TwoPass && !observer.has_livelock_states(), Rule::SecondPass),
            (search == OnePass && !observer.has_livelock_states(), Rule::OnePassLivelocks),
            (search == OnePass && has_buchi_states, Rule::OnePassBuchi),
            (search == OnePassAndNested && !is_tester, Rule::OnePassAndNested),
            (search == Nested && !matches!(observer, Ba | Extended), Rule::NestedMarks),
            (matches!(reduction, Some(Guided | Hybrid)) && observer.is_by_value(), Rule::NoGuide),
            (reduction == Some(Classical) && !observer.is_by_value(), Rule::ClassicalByChange),
            (
                matches!(reduction, Some(Classical | Repaired)) && observer == Extended,
                Rule::ClassicalExtended,
            ),
            (reduction == Some(Hybrid) && !matches!(search, Scc | TwoPass), Rule::HybridPath),
            (reduction == Some(Repaired) && !matches!(search, Scc | TwoPass), Rule::RepairedSearch),
            (bitstate && reduction == Some(Classical), Rule::ClassicalStore),
            (
                reduction == Some(Fair) && (observer == Extended || !matches!(search, Scc | TwoPass)),
                Rule::FairSets,
            ),
            (monitored && !is_tester && (observer, search, reduction) != (Ba, Nested, None), Rule::Monitors),
        ];
        rules.iter().find(|(applies, _)| *applies).map(|(_, rule)| *rule)
    }
}

impl Rule {
    /// Why it is there, and what helps.
    fn row(self) -> (&'static str, &'static [&'static [Change]]) {
        use Change::{FairnessBy as By, Observer, Reduction, Search, Store};
        use ObserverKind::{Ba, LazyTgta, Ta, Tgba, Tgta};
        use ReductionWish::{Best, Closure, Fixed, None as NoReduction};
        use SearchKind::{Nested, OnePass, OnePassAndNested, Scc, TwoPass};
        match self {
            Rule::OwnDeadlocks => ("only the automaton as it was written knows its deadlock states", &[]),
            Rule::TesterObserver => ("a tester is its own observer, and of nothing else", &[]),
            Rule::TesterReduction => ("this reduction is for LTL and claims", &[&[Reduction(&[Best])]]),
            Rule::TesterMonitors => ("monitors are for LTL", &[&[By(FairnessBy::Search)]]),
            Rule::TesterSearch => (
                "this search does not find everything that testers call illegal",
                &[&[Search(&[OnePassAndNested, TwoPass])]],
            ),
            Rule::TesterBuchi => (
                "one pass finds no infinite traces, and the tester has infinite states",
                &[&[Search(&[OnePassAndNested, TwoPass])]],
            ),
            Rule::FairStore => (
                "fair runs are told by components, for which the store must be exact",
                &[&[Store(StoreKind::Exact)]],
            ),
            Rule::ComponentStore => (
                "the bitstate store cannot tell components apart",
                &[&[Search(&[Nested])], &[Search(&[OnePass]), Observer(&[Ta])]],
            ),
            Rule::FairReduction => (
                "this reduction does not keep enough interleavings to tell fair runs",
                &[&[Reduction(&[Fixed(Fair), NoReduction])]],
            ),
            Rule::FairSets => (
                "the reduction for fair runs needs an automaton that waits, and components that are repaired",
                &[
                    &[Observer(&[LazyTgta, Tgta, Tgba, Ba]), Search(&[Scc])],
                    &[Observer(&[Ta]), Search(&[TwoPass])],
                ],
            ),
            Rule::FairSearch => (
                "this search finds cycles but cannot tell whether they are fair",
                &[&[Search(&[Scc, TwoPass])]],
            ),
            Rule::WatchedStuttering => {
                ("testing automata cannot watch a property that sees stuttering", &[&[Observer(&[Tgba, Ba])]])
            }
            Rule::ReducedStuttering => (
                "reduction would change the answer for a property that sees stuttering",
                &[&[Reduction(&[Closure, NoReduction])]],
            ),
            Rule::ComponentLivelocks => (
                "components do not show the livelocks of a TA",
                &[&[Search(&[TwoPass])], &[Observer(&[Tgta])]],
            ),
            Rule::SecondPass => {
                ("the second pass looks for livelock states, which only a TA has", &[&[Search(&[Scc])]])
            }
            Rule::OnePassLivelocks => {
                ("one pass finds livelocks, which only a TA accepts by states", &[&[Observer(&[Ta])]])
            }
            Rule::OnePassBuchi => (
                "one pass finds no Büchi cycles, and the TA of this property has Büchi states",
                &[&[Search(&[TwoPass])]],
            ),
            Rule::OnePassAndNested => {
                ("one pass and a nested search together are for testers", &[&[Search(&[Scc, TwoPass])]])
            }
            Rule::NestedMarks => {
                ("the nested search needs an automaton with one mark", &[&[Observer(&[Ba])]])
            }
            Rule::NoGuide => (
                "only a testing automaton can guide the reduction",
                &[&[Observer(&[Ta, Tgta])], &[Reduction(&[Fixed(Classical)])]],
            ),
            Rule::ClassicalByChange => (
                "the classical reduction is for observers by value",
                &[&[Reduction(&[Fixed(Guided), Fixed(Hybrid)])]],
            ),
            Rule::ClassicalExtended => {
                ("this reduction needs the automaton in another form", &[&[Observer(&[Tgba, Ba])]])
            }
            Rule::RepairedSearch => (
                "only a search by strong components repairs them",
                &[&[Search(&[Scc, TwoPass])], &[Reduction(&[Fixed(Guided), Fixed(Classical)])]],
            ),
            Rule::HybridPath => (
                "the hybrid reduction needs the path of a depth-first search",
                &[&[Reduction(&[Fixed(Guided)])]],
            ),
            Rule::ClassicalStore => (
                "a nested search with reduction must remember how states were expanded",
                &[&[Store(StoreKind::Exact)]],
            ),
            Rule::Monitors => (
                "monitors need a Büchi automaton, a nested search and no reduction",
                &[&[Observer(&[Ba]), Search(&[Nested]), Reduction(&[NoReduction])]],
            ),
            Rule::NothingKnown => (
                "nothing is known of this system that would allow for it to be reduced",
                &[&[Reduction(&[NoReduction])]],
            ),
        }
    }

    /// What could be done instead.
    pub fn remedy(self) -> Remedy {
        let for_testers = matches!(self, Rule::TesterReduction | Rule::TesterMonitors);
        Remedy { ways: self.row().1, for_testers }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().0)
    }
}
