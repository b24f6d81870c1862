//! Methods: which observer, search, reduction and store decide a property, and what may be combined.
//!
//! All rules are in one table, [`Method::refusal`]. Each is there because the combination would be
//! unsound, or because nobody has built it; which of the two, the message says.

use crate::reduction;

/// The automaton that watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObserverKind {
    /// By value, with any number of marks.
    Tgba,
    /// By value, with one mark.
    Ba,
    /// By change, with Büchi and livelock states; explicit and as small as can be.
    Ta,
    /// By change, with marks on steps; explicit and as small as can be.
    Tgta,
    /// By change, made while it watches.
    LazyTa,
    /// By change, made while it watches.
    LazyTgta,
    /// By value, with labels on states and acceptance of ends: the automata of [hansen.02.fmics].
    Extended,
}

/// The search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SearchKind {
    /// Strong components, [`couvreur`](crate::search::couvreur).
    Scc,
    /// [`nested_dfs`](crate::search::nested_dfs).
    Nested,
    /// [`one_pass`](crate::search::one_pass).
    OnePass,
    /// [`two_pass`](crate::search::two_pass).
    TwoPass,
}

/// How a property is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Method {
    /// The automaton that watches.
    pub observer: ObserverKind,
    /// The search.
    pub search: SearchKind,
    /// The reduction, if there is one.
    pub reduction: Option<reduction::Method>,
    /// Whether states are kept in a few bits each.
    pub bitstate: bool,
}

/// What the table must know of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// It does not see stuttering, as far as is known.
    pub stutter_invariant: bool,
    /// Its TA can accept by Büchi states.
    pub has_buchi_states: bool,
    /// Only fair runs count.
    pub fair: bool,
}

impl ObserverKind {
    /// Whether it watches changes.
    pub fn is_testing(self) -> bool {
        use ObserverKind::{LazyTa, LazyTgta, Ta, Tgta};
        matches!(self, Ta | Tgta | LazyTa | LazyTgta)
    }

    /// Whether it accepts livelocks by states.
    pub fn has_livelock_states(self) -> bool {
        matches!(self, ObserverKind::Ta | ObserverKind::LazyTa)
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            ObserverKind::Tgba => "tgba",
            ObserverKind::Ba => "ba",
            ObserverKind::Ta => "ta",
            ObserverKind::Tgta => "tgta",
            ObserverKind::LazyTa => "lazy-ta",
            ObserverKind::LazyTgta => "lazy-tgta",
            ObserverKind::Extended => "extended",
        }
    }
}

impl SearchKind {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            SearchKind::Scc => "scc",
            SearchKind::Nested => "nested",
            SearchKind::OnePass => "one-pass",
            SearchKind::TwoPass => "two-pass",
        }
    }
}

impl reduction::Method {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            reduction::Method::Guided => "guided",
            reduction::Method::Hybrid => "hybrid",
            reduction::Method::Classical => "classical",
        }
    }
}

impl Method {
    /// The rule that forbids this method for a property with these features, if one does.
    pub fn refusal(self, features: Features) -> Option<&'static str> {
        use SearchKind::{Nested, OnePass, Scc, TwoPass};
        use reduction::Method::{Classical, Guided, Hybrid};
        let Method { observer, search, reduction, bitstate } = self;
        let by_value = !observer.is_testing();
        let rules = [
            (
                features.fair && bitstate,
                "fair runs are told by components, for which the store must be exact: use --store exact",
            ),
            (
                bitstate && matches!(search, Scc | TwoPass),
                "the bitstate store cannot tell components apart: use --search nested, or one-pass with \
                 --observer ta",
            ),
            (
                features.fair && reduction.is_some(),
                "a reduction does not keep enough interleavings to tell fair runs: use --reduce none",
            ),
            (
                features.fair && matches!(search, OnePass | Nested),
                "this search finds cycles but cannot tell whether they are fair: use --search scc or two-pass",
            ),
            (
                observer.is_testing() && !features.stutter_invariant,
                "testing automata cannot watch a property that sees stuttering: use --observer tgba or ba",
            ),
            (
                reduction.is_some() && !features.stutter_invariant,
                "reduction would change the answer for a property that sees stuttering: use --reduce closure \
                 or none",
            ),
            (
                search == Scc && observer.has_livelock_states(),
                "components do not show the livelocks of a TA: use --search two-pass, or --observer tgta",
            ),
            (
                search == TwoPass && !observer.has_livelock_states(),
                "the second pass looks for livelock states, which only a TA has: use --search scc",
            ),
            (
                search == OnePass && !observer.has_livelock_states(),
                "one pass finds livelocks, which only a TA accepts by states: use --observer ta",
            ),
            (
                search == OnePass && features.has_buchi_states,
                "one pass finds no Büchi cycles, and the TA of this property has Büchi states: use --search \
                 two-pass",
            ),
            (
                search == Nested && !matches!(observer, ObserverKind::Ba | ObserverKind::Extended),
                "the nested search needs an automaton with one mark: use --observer ba",
            ),
            (
                matches!(reduction, Some(Guided | Hybrid)) && by_value,
                "only a testing automaton can guide the reduction: use --observer ta or tgta, or --reduce \
                 classical",
            ),
            (
                reduction == Some(Classical) && !by_value,
                "the classical reduction is for observers by value: use --reduce guided or hybrid",
            ),
            (
                reduction == Some(Classical) && observer == ObserverKind::Extended,
                "the classical reduction needs the automaton in another form: use --observer tgba or ba",
            ),
            (
                reduction == Some(Hybrid) && !matches!(search, Scc | TwoPass),
                "the hybrid reduction needs the path of a depth-first search: use --reduce guided",
            ),
            (
                bitstate && reduction == Some(Classical),
                "a nested search with reduction must remember how states were expanded: use --store exact",
            ),
        ];
        rules.iter().find(|rule| rule.0).map(|rule| rule.1)
    }
}
