//! The methods that are compared: whatever may be combined, with one worker and with several.

use check::method::{FairnessBy, Method, ObserverKind, ReductionWish, SearchKind, StoreKind};
use check::reduction::Method as Reduction;
use check::rules::Features;
use language::Rules;

use crate::options::{Options, Order};

/// How many threads there are where there are several: from so many on, all searches use them.
const SEVERAL: usize = 8;

/// What is compared, by how a question is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Deadlocks, invariants, assertions, end states.
    States,
    /// Formulas and claims.
    Runs,
    /// Testers and specifications.
    Testers,
}

/// A method with its name.
#[derive(Clone)]
pub(super) struct Variant {
    pub(super) name: String,
    pub(super) options: Options,
}

/// All that may fit a kind of question. Some are refused when they are tried, for what the question is like.
pub(super) fn variants(kind: Kind, asked: &Options) -> Vec<Variant> {
    let plain = Options {
        observer: None,
        search: None,
        reduce: ReductionWish::None,
        structural: Rules::none(),
        statics: Some(Rules::none()),
        threads: Some(1),
        certificates: false,
        why: false,
        verify_reduction: false,
        stop_at_first: false,
        errors: 1,
        ..asked.clone()
    };
    let rules = Options { structural: Rules::all(), statics: Some(Rules::all()), ..plain.clone() };
    let mut found = vec![(
        "as chosen".to_owned(),
        Options { reduce: ReductionWish::Auto, threads: asked.threads, ..rules.clone() },
    )];
    match kind {
        Kind::States => {
            for (order, name) in [(Order::Bfs, "bfs"), (Order::Dfs, "dfs"), (Order::Mixed, "mixed")] {
                for reduce in [ReductionWish::None, ReductionWish::Auto, ReductionWish::Best] {
                    for (options, how) in [(&plain, ""), (&rules, " static")] {
                        let name = format!("{name} {}{how}", reduce.name());
                        found.push((name, Options { order: Some(order), reduce, ..options.clone() }));
                    }
                }
            }
        }
        Kind::Runs => {
            for method in methods() {
                let Method { observer, search, reduction, fairness_by, .. } = method;
                let reduce = reduction.map_or(ReductionWish::None, ReductionWish::Fixed);
                let monitors = if fairness_by == FairnessBy::Monitors { " monitors" } else { "" };
                let name = format!("{} {} {}{monitors}", observer.name(), search.name(), reduce.name());
                let (observer, search) = (Some(observer), Some(search));
                found.push((name, Options { observer, search, reduce, fairness_by, ..plain.clone() }));
            }
            found.push(("chosen, static".to_owned(), rules.clone()));
            found.push((
                "chosen, reduced, not static".to_owned(),
                Options { reduce: ReductionWish::Auto, ..plain.clone() },
            ));
        }
        Kind::Testers => {
            for search in [SearchKind::OnePass, SearchKind::OnePassAndNested, SearchKind::TwoPass] {
                for reduce in [ReductionWish::None, ReductionWish::Best] {
                    for (options, how) in [(&plain, ""), (&rules, " static")] {
                        let name = format!("{} {}{how}", search.name(), reduce.name());
                        found.push((name, Options { search: Some(search), reduce, ..options.clone() }));
                    }
                }
            }
        }
    }
    let alone = found.iter().map(|(name, options)| (format!("{name}, 1 thread"), options.clone()));
    let several = found.iter().skip(1).map(|(name, options)| {
        (format!("{name}, {SEVERAL} threads"), Options { threads: Some(SEVERAL), ..options.clone() })
    });
    let all = std::iter::once(found[0].clone()).chain(alone.skip(1)).chain(several);
    all.map(|(name, options)| Variant { name, options }).collect()
}

/// The methods that are refused for no reason that does not depend on the property.
fn methods() -> Vec<Method> {
    use ObserverKind::{Ba, Extended, LazyTa, LazyTgta, Ta, Tgba, Tgta};
    let reductions =
        [Reduction::Guided, Reduction::Hybrid, Reduction::Classical, Reduction::Repaired, Reduction::Fair];
    let mut methods = Vec::new();
    for observer in [Tgba, Ba, Extended, Ta, Tgta, LazyTa, LazyTgta] {
        for search in [SearchKind::Scc, SearchKind::Nested, SearchKind::OnePass, SearchKind::TwoPass] {
            for reduction in std::iter::once(None).chain(reductions.map(Some)) {
                for fairness_by in [FairnessBy::Search, FairnessBy::Monitors] {
                    methods.push(Method {
                        observer,
                        search,
                        reduction,
                        store: StoreKind::Exact,
                        fairness_by,
                    });
                }
            }
        }
    }
    let is_ever_allowed = |method: &Method| {
        let best = |fair| Features {
            is_tester: false,
            stutter_invariant: true,
            has_buchi_states: false,
            fair,
            own_deadlocks: None,
        };
        method.refusal(best(false)).is_none() || method.refusal(best(true)).is_none()
    };
    methods.retain(is_ever_allowed);
    methods
}
