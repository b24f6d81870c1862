//! When several workers search a product, and how: the search that is fastest where the space is large.
//!
//! One worker begins, so that small products cost nothing more. Then, if that [pays](Method::pays), all workers begin anew.
//! Where no cycle is in sight that could be accepted, and what is taken in a state depends on the state alone, they try
//! [rounds](distributed), as several processes do: no state is expanded twice, and a state takes less memory. If there are such
//! cycles after all, that is left to searches that go depth first; what is narrow, to one worker.

use base::{Budget, Limit};
use model::System;

use super::{Refusal, Settings, no_memory, search, wanted};
use crate::distributed::{self, Unfit, Wanted};
use crate::method::{Method, SearchKind, StoreKind};
use crate::observer::Portable;
use crate::parallel::components::{self, Passes};
use crate::parallel::{layers, nested, silent};
use crate::product::Product;
use crate::reduction;
use crate::search::{ProductOutcome, ProductStop};

/// So many states are searched by one worker, before all workers of the budget begin anew.
const ALONE: u64 = 10_000;

/// In tests, so many states make a component large.
const FEW: usize = 4;

/// Runs the search of a method that the table allows, with all workers of the budget where that pays.
///
/// # Errors
/// The store cannot be had.
pub fn search_together<S, O>(
    product: &mut Product<'_, S, O>,
    method: Method,
    settings: &Settings<'_>,
    budget: &mut Budget<'_>,
) -> Result<ProductOutcome, Refusal>
where
    S: System + Sync,
    S::Scratch: Send,
    O: Portable + Send,
{
    if budget.goes_by_rounds() {
        let wanted = if settings.counts { Wanted::Counts } else { wanted(method) };
        let first_look = if settings.together { FEW as u64 } else { distributed::FIRST_LOOK };
        return Ok(distributed::products(product, wanted, first_look, budget));
    }
    let n_workers = budget.team().n_workers();
    if settings.counts {
        return count(product, method, settings, budget);
    }
    if !settings.together {
        let pays = method.pays(n_workers);
        let has_more = method.has_team() && n_workers > 1 && budget.max_states > ALONE;
        if !has_more || !(pays || method.may_give_up()) {
            return search(product, method, settings, budget);
        }
        let mut share = budget.share();
        share.max_states = if pays { ALONE } else { budget.max_states };
        product.hand_over_after(method.may_give_up().then_some(ALONE / 2));
        let outcome = search(product, method, settings, &mut share)?;
        product.hand_over_after(None);
        match outcome.stop {
            // Sets were of no use.
            Some(ProductStop::Limit(Limit::States(n))) if n == ALONE / 2 => product.take_everything(),
            Some(ProductStop::Limit(Limit::States(n))) if n == ALONE => {}
            _ => return Ok(outcome),
        }
    } else if !method.has_team() {
        return search(product, method, settings, budget);
    }
    if !settings.together || settings.by_rounds {
        match by_rounds(product, method, settings, budget) {
            Some(Ok(outcome)) => return Ok(outcome),
            // What is narrow, nobody searches faster than one worker.
            Some(Err(Unfit::Narrow)) => return search(product, method, settings, budget),
            Some(Err(Unfit::Cyclic)) | None => {}
        }
    }
    let large = if settings.together { FEW } else { components::LARGE };
    let is_exact = method.store == StoreKind::Exact;
    let nested = |product: &mut Product<'_, S, O>, budget: &mut Budget<'_>| {
        nested::search(product, method.store, budget).map_err(|limit| no_memory(limit, method.store))
    };
    let one_pass = |product: &mut Product<'_, S, O>, budget: &mut Budget<'_>| match method.store {
        StoreKind::Bitstate { bytes, n_hashes } => {
            silent::search(product, bytes, n_hashes, budget).map_err(|limit| no_memory(limit, method.store))
        }
        _ => Ok(layers::search(product, budget)),
    };
    Ok(match method.search {
        SearchKind::Scc => components::search(product, Passes::Marks, large, budget),
        SearchKind::TwoPass => components::search(product, Passes::MarksAndLivelocks, large, budget),
        SearchKind::Nested => nested(product, budget)?,
        SearchKind::OnePass => one_pass(product, budget)?,
        SearchKind::OnePassAndNested => {
            let first = one_pass(product, budget)?;
            if first.stop.is_some() {
                return Ok(first);
            }
            // Both search the same reduced product: sets depend on the state alone.
            first.and(match is_exact {
                true => components::search(product, Passes::Marks, large, budget),
                false => nested(product, budget)?,
            })
        }
    })
}

/// Searches a product in rounds, if it may fit: what is taken in a state depends on the state alone, and no cycle is in sight
/// that could be accepted. Then there is nothing to be gained by going depth first, and states that belong to one worker each
/// are quicker. (Where there are such cycles, each state on them must be expanded twice more: on chains of cells, two workers
/// took 1.1 to 1.4 times as long as one.)
fn by_rounds<S, O>(
    product: &mut Product<'_, S, O>,
    method: Method,
    settings: &Settings<'_>,
    budget: &mut Budget<'_>,
) -> Option<Result<ProductOutcome, Unfit>>
where
    S: System + Sync,
    S::Scratch: Send,
    O: Portable + Send,
{
    let is_steady = matches!(product.method(), None | Some(reduction::Method::Guided));
    // In tests, all begin at once, so that nothing was seen.
    let finds_components = matches!(method.search, SearchKind::Scc | SearchKind::TwoPass);
    let may_fit = product.only_passes() && (finds_components || !settings.together);
    let first_look = if settings.together { FEW as u64 } else { ALONE };
    (is_steady && method.store == StoreKind::Exact && may_fit)
        .then(|| distributed::attempt_products(product, wanted(method), first_look, budget))
}

/// Counts a product, with all workers of the budget if it is large.
fn count<S, O>(
    product: &mut Product<'_, S, O>,
    method: Method,
    settings: &Settings<'_>,
    budget: &mut Budget<'_>,
) -> Result<ProductOutcome, Refusal>
where
    S: System + Sync,
    S::Scratch: Send,
    O: Portable + Send,
{
    let is_shared = budget.team().n_workers() > 1 && product.method().is_none() && budget.max_states > ALONE;
    if !is_shared {
        return search(product, method, settings, budget);
    }
    let mut share = budget.share();
    share.max_states = ALONE;
    let outcome = search(product, method, settings, &mut share)?;
    match outcome.stop {
        Some(ProductStop::Limit(Limit::States(ALONE))) => {
            match distributed::attempt_products(product, Wanted::Counts, ALONE, budget) {
                Ok(outcome) => Ok(outcome),
                Err(_) => search(product, method, settings, budget),
            }
        }
        _ => Ok(outcome),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    use automata::stutter::Proof;
    use automata::{Effort, translate};
    use base::budget::Watch;
    use base::{Progress, Team, Worker};
    use ltl::Formulas;
    use model::{Action, ActionSystem, BinaryOp, Builder, Guard, Stmt, ValueSet, VarId, Variable};

    use super::*;
    use crate::decide::Claim;
    use crate::method::ObserverKind;
    use crate::search::Stats;

    /// Two threads.
    struct Two;

    impl Team for Two {
        fn n_workers(&self) -> usize {
            2
        }

        fn run(&self, job: &(dyn Fn(Worker) + Sync)) {
            thread::scope(|scope| {
                scope.spawn(|| job(Worker { index: 1, of: 2 }));
                job(Worker { index: 0, of: 2 });
            });
        }
    }

    /// How many workers told of their progress at once.
    #[derive(Default)]
    struct Seen(AtomicU32);

    impl Watch for Seen {
        fn look(&self, progress: &Progress) -> Result<(), Limit> {
            self.0.fetch_max(progress.workers, Ordering::Relaxed);
            Ok(())
        }
    }

    /// Three counters. Each step disturbs all others, so that no stubborn set is smaller than all.
    fn counters() -> ActionSystem {
        let mut builder = Builder::new();
        let last = builder.variable(Variable::new("last", 0, 2));
        for (index, name) in ["x", "y", "z"].into_iter().enumerate() {
            let counter = builder.variable(Variable::new(name, 0, 19));
            let (label, owner) = (builder.label(name), builder.process(name));
            for (from, to, change) in [(0, 18, 1), (19, 19, -19)] {
                let guards = vec![builder.guard(Guard::In(counter, ValueSet::Range(from, to)))];
                let effect = vec![Stmt::Add(counter, change), Stmt::set(last, index as i64)];
                builder.action(Action { label, guards, effect, owners: vec![owner] });
            }
        }
        builder.initial(&[0, 0, 0, 0]);
        builder.finish().unwrap()
    }

    /// A counter that goes round, and others that go up and stay there.
    fn clock(most: i64, n_others: usize) -> ActionSystem {
        let mut builder = Builder::new();
        for (index, most) in std::iter::once(most).chain(vec![19; n_others]).enumerate() {
            let counter = builder.variable(Variable::new(format!("x{index}"), 0, most));
            let (label, owner) = (builder.label("step"), builder.process(format!("{index}")));
            let mut steps = vec![(0, most - 1, 1)];
            steps.extend((index == 0).then_some((most, most, -most)));
            for (from, to, change) in steps {
                let guards = vec![builder.guard(Guard::In(counter, ValueSet::Range(from, to)))];
                let effect = vec![Stmt::Add(counter, change)];
                builder.action(Action { label, guards, effect, owners: vec![owner] });
            }
        }
        builder.initial(&vec![0; n_others + 1]);
        builder.finish().unwrap()
    }

    /// A watch that notes how many workers there were when it was asked last.
    #[derive(Default)]
    struct Last(AtomicU32);

    impl Watch for Last {
        fn look(&self, progress: &Progress) -> Result<(), Limit> {
            self.0.store(progress.workers, Ordering::Relaxed);
            Ok(())
        }
    }

    /// Which search is taken is told by the depth, which is that of a search breadth first where products go by rounds, and by
    /// the number of workers at the end.
    #[test]
    fn products_go_by_rounds_where_these_are_wide_and_no_cycle_counts() {
        // What is accepted: that something happens which never does, or that it happens again and again; or that x0 is never 0 again.
        let (some_day, again, never) = (0, 1, 2);
        for (most, n_others, what, goes_by_rounds, n_workers) in [
            (19, 3, some_day, true, Some(2)),
            (19, 3, again, false, None),
            (19, 3, never, false, None),
            (60_000, 0, some_day, false, Some(1)),
            (60_000, 0, again, false, None),
        ] {
            let mut system = clock(most, n_others);
            let bound = system.exprs.int(if what == never { 0 } else { -1 });
            let x = system.exprs.var(VarId::new(0));
            let is_there = system.exprs.binary(BinaryOp::Eq, x, bound);
            let is_there = system.add_proposition("p", is_there);
            let mut formulas = Formulas::new();
            let prop = formulas.proposition("p");
            let p = formulas.prop(prop);
            let (not_p, eventually) = (formulas.not(p), formulas.finally(p));
            let accepted = if what == some_day {
                eventually
            } else if what == again {
                formulas.globally(eventually)
            } else {
                let for_ever = formulas.globally(not_p);
                formulas.finally(for_ever)
            };
            let proof = Proof::of_next_free(&formulas, accepted);
            let tgba = translate(&mut formulas, accepted, Effort::High, &mut Budget::unlimited()).unwrap();
            let mut claim = Claim::new(tgba, vec![(prop, is_there)], proof);
            let method = Method::new(ObserverKind::Tgba, SearchKind::Scc, None);
            let mut stats = |budget: &mut Budget<'_>| {
                let decided = claim.search(&system, method, &Settings::default(), budget);
                let outcome = decided.ok().unwrap().outcome;
                assert_eq!(outcome.stop, None);
                outcome.stats
            };
            let alone = stats(&mut Budget::unlimited());
            let mut by_two = || {
                let last = Last::default();
                let together = stats(&mut Budget::new(u64::MAX, u64::MAX, &last).with_team(&Two));
                (together, last.0.into_inner().max(1))
            };
            let (together, n_at_end) = by_two();
            assert!(alone.states > ALONE, "{alone:?}");
            let counts = |stats: &Stats| (stats.states, stats.transitions, stats.deadlocks);
            assert_eq!(counts(&together), counts(&alone));
            assert_eq!(together.depth < 200, goes_by_rounds, "{together:?}, alone {alone:?}");
            assert!(n_workers.is_none_or(|n| n == n_at_end), "{together:?}, alone {alone:?}");
            // Who is held up for a while does not see that it is of no use.
            let is_narrow = n_others == 0 && what == again;
            assert!(!is_narrow || n_at_end == 1 || (0..30).any(|_| by_two().1 == 1));
        }
    }

    #[test]
    fn who_gives_up_leaving_steps_out_gets_help() {
        let mut system = counters();
        let always = system.exprs.int(1);
        let always = system.add_proposition("p", always);
        let mut formulas = Formulas::new();
        let prop = formulas.proposition("p");
        let p = formulas.prop(prop);
        let not_p = formulas.not(p);
        let violated = formulas.finally(not_p);
        let proof = Proof::of_next_free(&formulas, violated);
        let tgba = translate(&mut formulas, violated, Effort::High, &mut Budget::unlimited()).unwrap();
        let mut claim = Claim::new(tgba, vec![(prop, always)], proof);
        let mut count = |reduction: Option<reduction::Method>| {
            let method = Method::new(ObserverKind::Tgba, SearchKind::Scc, reduction);
            let seen = Seen::default();
            let mut budget = Budget::new(u64::MAX, u64::MAX, &seen).with_team(&Two);
            let outcome =
                claim.search(&system, method, &Settings::default(), &mut budget).ok().unwrap().outcome;
            assert_eq!(outcome.stop, None);
            (outcome.stats.states, outcome.stats.transitions, seen.0.into_inner())
        };
        let full = count(None);
        assert!(full.0 > ALONE && full.2 == 2, "{full:?}");
        assert_eq!(count(Some(reduction::Method::Repaired)), full);
    }
}
