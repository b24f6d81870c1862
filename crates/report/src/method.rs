//! How a property was checked.

use std::fmt;

use check::{method, reduction};
use model::fairness::Kind;
use serde::Serialize;

use crate::words::words;

words! {
    /// The observer that watched the runs.
    Observer {
        /// There was none: states were looked at.
        None = "none",
        /// By value, with any number of marks.
        Tgba = "tgba",
        /// By value, with one mark.
        Ba = "ba",
        /// By change, with Büchi and livelock states.
        Ta = "ta",
        /// By change, with marks on steps.
        Tgta = "tgta",
        /// By change, made while it watched.
        LazyTa = "lazy-ta",
        /// By change, with marks on steps, made while it watched.
        LazyTgta = "lazy-tgta",
        /// By value, with labels on states.
        Extended = "extended",
        /// By action.
        Tester = "tester",
    }
}

words! {
    /// The search.
    Search {
        /// Breadth first.
        Bfs = "bfs",
        /// Depth first.
        Dfs = "dfs",
        /// Breadth first and depth first by turns.
        Mixed = "mixed",
        /// For strong components.
        Scc = "scc",
        /// Nested depth first.
        Nested = "nested",
        /// Nested depth first, with monitors for fairness.
        NestedWithMonitor = "nested+monitor",
        /// In one pass.
        OnePass = "one-pass",
        /// In one pass, then nested depth first.
        OnePassThenNested = "one-pass+nested",
        /// In two passes.
        TwoPass = "two-pass",
        /// Breadth first, and then cycles by removing states: on a device.
        Fixpoint = "fixpoint",
    }
}

words! {
    /// The reduction.
    Reduction {
        /// There was none.
        None = "none",
        /// Stubborn sets.
        Stubborn = "stubborn",
        /// Stubborn sets that the observer's state guides.
        Guided = "guided",
        /// Stubborn sets that the observer's state guides where it can.
        Hybrid = "hybrid",
        /// Stubborn sets that preserve all formulas without *next*.
        Classical = "classical",
        /// Stubborn sets that may close cycles; what is left out along a cycle is taken later.
        Repaired = "repaired",
        /// Stubborn sets that keep fair runs.
        Fair = "fair",
    }
}

words! {
    /// The fairness that was assumed.
    Fairness {
        /// None.
        None = "none",
        /// To some, weak.
        Weak = "weak",
        /// To some, strong.
        Strong = "strong",
        /// To some weak, to others strong.
        Both = "weak+strong",
        /// Justness to some.
        Just = "just",
        /// Justness to some, weak fairness to others.
        JustAndWeak = "just+weak",
        /// Justness to some, strong fairness to others.
        JustAndStrong = "just+strong",
        /// Of all kinds.
        All = "just+weak+strong",
    }
}

words! {
    /// The store of states.
    Store {
        /// It keeps states.
        Exact = "exact",
        /// It keeps a few bits per state.
        Bitstate = "bitstate",
        /// It keeps a hash per state.
        Fingerprint = "fingerprint",
    }
}

/// How a property was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Method {
    /// The observer that watched the runs.
    pub observer: Observer,
    /// The search.
    pub search: Search,
    /// The reduction.
    pub reduction: Reduction,
    /// The fairness assumed.
    pub fairness: Fairness,
    /// The store.
    pub store: Store,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Method { observer, search, reduction, fairness, store } = self;
        if *observer != Observer::None {
            write!(f, "{observer}, ")?;
        }
        write!(f, "{search}, ")?;
        match reduction {
            Reduction::None => write!(f, "no reduction")?,
            Reduction::Stubborn => write!(f, "stubborn sets")?,
            reduction => write!(f, "{reduction} stubborn sets")?,
        }
        if *fairness != Fairness::None {
            match fairness {
                Fairness::Just => write!(f, ", justness")?,
                _ => write!(f, ", {fairness} fairness")?,
            }
        }
        write!(f, ", {store} store")
    }
}

impl From<method::ObserverKind> for Observer {
    fn from(kind: method::ObserverKind) -> Observer {
        match kind {
            method::ObserverKind::Tgba => Observer::Tgba,
            method::ObserverKind::Ba => Observer::Ba,
            method::ObserverKind::Ta => Observer::Ta,
            method::ObserverKind::Tgta => Observer::Tgta,
            method::ObserverKind::LazyTa => Observer::LazyTa,
            method::ObserverKind::LazyTgta => Observer::LazyTgta,
            method::ObserverKind::Extended => Observer::Extended,
            method::ObserverKind::Tester => Observer::Tester,
        }
    }
}

impl From<method::SearchKind> for Search {
    fn from(kind: method::SearchKind) -> Search {
        match kind {
            method::SearchKind::Scc => Search::Scc,
            method::SearchKind::Nested => Search::Nested,
            method::SearchKind::OnePass => Search::OnePass,
            method::SearchKind::OnePassAndNested => Search::OnePassThenNested,
            method::SearchKind::TwoPass => Search::TwoPass,
        }
    }
}

impl From<Option<reduction::Method>> for Reduction {
    fn from(method: Option<reduction::Method>) -> Reduction {
        match method {
            None => Reduction::None,
            Some(reduction::Method::Guided) => Reduction::Guided,
            Some(reduction::Method::Hybrid) => Reduction::Hybrid,
            Some(reduction::Method::Classical) => Reduction::Classical,
            Some(reduction::Method::Repaired) => Reduction::Repaired,
            Some(reduction::Method::Fair) => Reduction::Fair,
        }
    }
}

impl Fairness {
    /// The kinds that some constraints are of.
    pub fn of(kinds: impl IntoIterator<Item = Kind>) -> Fairness {
        let mut has = [false; 3];
        kinds.into_iter().for_each(|kind| has[kind as usize] = true);
        match [Kind::Just, Kind::Weak, Kind::Strong].map(|kind| has[kind as usize]) {
            [false, false, false] => Fairness::None,
            [false, true, false] => Fairness::Weak,
            [false, false, true] => Fairness::Strong,
            [false, true, true] => Fairness::Both,
            [true, false, false] => Fairness::Just,
            [true, true, false] => Fairness::JustAndWeak,
            [true, false, true] => Fairness::JustAndStrong,
            [true, true, true] => Fairness::All,
        }
    }
}
