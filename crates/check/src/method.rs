//! Methods: with which observer, search, reduction and store a property is decided.
//!
//! What may be combined is another matter: see [`rules`](crate::rules).

use crate::reduction;

/// What watches a run.
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
    /// By value, with labels on states and acceptance of ends [hansen.02.fmics].
    Extended,
    /// By action: a tester, which is its own observer.
    Tester,
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
    /// [`one_pass`](crate::search::one_pass), then [`nested_dfs`](crate::search::nested_dfs).
    OnePassAndNested,
    /// [`two_pass`](crate::search::two_pass).
    TwoPass,
}

/// How states are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StoreKind {
    /// Exactly.
    #[default]
    Exact,
    /// In a few bits each, so that some may be missed.
    Bitstate {
        /// The size of the bit array.
        bytes: u64,
        /// Bits per state.
        n_hashes: u32,
    },
    /// By 64 bits of a hash, so that some may be missed, with a probability that is told.
    Fingerprint,
}

/// How it is decided whether a run is fair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FairnessBy {
    /// By the search, from the marks of a component.
    #[default]
    Search,
    /// By monitors that watch the run beside the observer.
    Monitors,
}

/// How a property is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Method {
    /// What watches.
    pub observer: ObserverKind,
    /// The search.
    pub search: SearchKind,
    /// The reduction, if there is one.
    pub reduction: Option<reduction::Method>,
    /// How states are kept.
    pub store: StoreKind,
    /// How fair runs are told, if only these count.
    pub fairness_by: FairnessBy,
}

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
    /// The best there is; a claim that may see stuttering is not reduced itself, only its closure is.
    Closure,
    /// This one.
    Fixed(reduction::Method),
}

impl ObserverKind {
    /// Whether it watches values.
    pub fn is_by_value(self) -> bool {
        matches!(self, ObserverKind::Tgba | ObserverKind::Ba | ObserverKind::Extended)
    }

    /// Whether it watches changes.
    pub fn is_by_change(self) -> bool {
        !self.is_by_value() && self != ObserverKind::Tester
    }

    /// Whether it accepts livelocks by states.
    pub fn has_livelock_states(self) -> bool {
        matches!(self, ObserverKind::Ta | ObserverKind::LazyTa | ObserverKind::Tester)
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
            ObserverKind::Tester => "tester",
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
            SearchKind::OnePassAndNested => "one-pass+nested",
            SearchKind::TwoPass => "two-pass",
        }
    }
}

impl ReductionWish {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            ReductionWish::Auto => "auto",
            ReductionWish::None => "none",
            ReductionWish::Best => "stubborn",
            ReductionWish::Closure => "closure",
            ReductionWish::Fixed(method) => method.name(),
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
            reduction::Method::Repaired => "repaired",
            reduction::Method::Fair => "fair",
        }
    }
}

/// So many workers search a product together: in layers, or by components where nothing is left out. Two of them take 0.8 to 1.5
/// times the processor time of one, so at least 1.3 times less by the clock (`cargo bench -p stubborn-benches --bench teams`).
pub const MIN_WORKERS: usize = 2;

/// The same where components are repaired, as long as sets are of use: sets are then chosen by the state alone, without what was chosen before.
pub const MIN_WORKERS_REDUCING: usize = 8;

impl Method {
    /// The method with an exact store, where fair runs are told by the search.
    pub const fn new(
        observer: ObserverKind,
        search: SearchKind,
        reduction: Option<reduction::Method>,
    ) -> Method {
        Method { observer, search, reduction, store: StoreKind::Exact, fairness_by: FairnessBy::Search }
    }

    /// Whether several workers can search by it. They cannot where fair runs are told by monitors, which number their states as they meet
    /// them; nor over fingerprints, which nobody shares; nor by a nested search whose sets depend on its path.
    pub fn has_team(&self) -> bool {
        let is_steady = matches!(self.reduction, None | Some(reduction::Method::Guided));
        self.fairness_by == FairnessBy::Search
            && self.store != StoreKind::Fingerprint
            && (self.search != SearchKind::Nested || is_steady)
    }

    /// Whether so many workers are taken to be faster than one, where the space is large.
    pub fn pays(&self, n_workers: usize) -> bool {
        use SearchKind::{OnePass, OnePassAndNested};
        let is_plain = self.reduction.is_none() || matches!(self.search, OnePass | OnePassAndNested);
        let least = if is_plain { MIN_WORKERS } else { MIN_WORKERS_REDUCING };
        self.has_team() && n_workers >= least
    }

    /// Whether a search by it may find out that nothing is gained by leaving something out.
    pub(crate) fn may_give_up(&self) -> bool {
        matches!(self.reduction, Some(reduction::Method::Repaired | reduction::Method::Fair))
    }
}
