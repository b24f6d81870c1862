//! Illegal traces, stable failures and divergences of a tester, and livelocks of a testing automaton, by several workers.
//!
//! # Idea
//! What [`one_pass`](crate::search::one_pass) finds, without any depth-first search. States wait. A *layer* is what waits, and all that
//! silent steps lead to from there while the observer is in a livelock state; the targets of all other steps wait for the next
//! layer. There is a livelock iff the silent steps among livelock states of some layer have a cycle; and they have one iff
//! something is left after states without a predecessor have been removed again and again (Kahn 1962). Both parts are linear, and do not
//! depend on the order: each state is expanded once, and once more if it is a livelock state.
//!
//! # Why it is right
//! *A cycle of silent steps among livelock states lies in one layer.* Let x be a state of it that is in the earliest layer. When the
//! layer is built, the successor of x is new, or waits, or is in the layer: it is in no earlier one. In all cases it is in this layer
//! then, **since a state that waits is pulled into the present layer** if a silent step leads there; and so on, around the cycle. Without
//! that, half of a cycle might be in one layer and half in the next (trap 6 of ONE-PASS: found but not entered).
//!
//! A state that is removed has no predecessor that was not; states of a cycle always have one. If there is no cycle, a state without
//! predecessor is left as long as any state is.
//!
//! # When should I use this?
//! Where [`one_pass`](crate::search::one_pass) would be used, over an exact store, and there are several workers.
//!
//! # Requirements and limits
//! No fairness. Marks are not looked at. Four bytes per state beside the store. Guided sets, which depend on the state alone.
//! A layer is finished before something that is wrong in it is told: so the run that is found does not depend on
//! who was faster, and is a shortest one to what is wrong in the first layer where something is.
//!
//! # References
//! scale-out: Barnat, Brim, Ročkai, *A time-optimal on-the-fly parallel algorithm for model checking of weak LTL properties* (ICFEM 2009), which
//! also trims; [valmari.93.cav], Algorithm 3.4; [hansen.02.fmics].

use std::sync::OnceLock;

use base::{Budget, Limit, Progress, Worker};
use fixedbitset::FixedBitSet;
use model::System;

use super::layer::Searcher;
use super::pile::Pile;
use super::{Alarm, Meeting};
use crate::observer::Portable;
use crate::product::{Path, Product, Visits};
use crate::search::inside::Inside;
use crate::search::lasso::Runs;
use crate::search::product_graph::{ProductGraph, Trouble};
use crate::search::{Evidence, ProductOutcome, ProductStop, Stats, Violation};
use crate::store::shared::arena::Arena;
use crate::store::shared::{PairsHandle, SharedProducts};
use crate::store::{Products, StateId};
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Mutex, Ordering, lock};
use Ordering::Relaxed;

/// A state is in the present layer; below are its silent predecessors there that were not removed.
pub(super) const PRESENT: u32 = 1 << 31;
/// It is in an earlier layer.
pub(super) const EARLIER: u32 = 1 << 30;
// Otherwise it waits.

/// Searches the product for everything that is accepted other than by marks, with all workers of the budget.
pub(crate) fn search<S, O>(product: &mut Product<'_, S, O>, budget: &mut Budget<'_>) -> ProductOutcome
where
    S: System + Sync,
    S::Scratch: Send,
    O: Portable + Send,
{
    let n_workers = budget.team().n_workers();
    product.begin(Visits::Again);
    let products: Vec<_> = (0..n_workers).map(|_| Mutex::new(product.for_worker())).collect();
    let states = SharedProducts::new(product.width() - 1, product.observer().n_states(), budget.room());
    let mut graph = ProductGraph::new(product, states.handle());
    let common = Common::new(&states);
    let began = graph.begin().map_err(Wrong::Trouble).and_then(|()| {
        let waiting: Vec<u32> = graph.initial.iter().map(|initial| initial.1.index() as u32).collect();
        common.pile.put(&waiting);
        waiting.iter().try_for_each(|&state| common.words.touch(state).map_err(Wrong::from))
    });
    let stop = match began {
        Err(wrong) => Some(wrong.without_run()),
        Ok(()) => {
            budget.team().run(&|worker: Worker| {
                let Some(product) = products.get(worker.index) else { return };
                let _at_work = common.alarm.at_work();
                let mut product = lock(product);
                let graph = ProductGraph::new(&mut *product, states.handle());
                let mut searcher = Searcher::new(graph, &common, budget.for_worker());
                if let Err(wrong) = searcher.run(worker) {
                    common.alarm.ring(wrong);
                }
                searcher.tell();
            });
            let found = common.alarm.take().map(|wrong| common.explain(wrong, &mut graph, budget));
            found.map(|stop| stop.unwrap_or_else(|stop| stop))
        }
    };
    for worker in &products {
        graph.absorb(&lock(worker));
    }
    let stats = common.stats(graph.states.n_states());
    ProductOutcome { stats, system_states: Some(graph.states.n_system_states()), stop, coverage: None }
}

/// Why the search ends early.
pub(super) enum Wrong {
    /// In some state of the present layer.
    Here,
    /// Silent steps go round among livelock states of the present layer.
    Livelock,
    Trouble(Trouble),
}

impl From<Limit> for Wrong {
    fn from(limit: Limit) -> Wrong {
        Wrong::Trouble(Trouble::Limit(limit))
    }
}

impl Wrong {
    fn without_run(self) -> ProductStop {
        match self {
            Wrong::Trouble(Trouble::Limit(limit)) => limit.into(),
            Wrong::Trouble(Trouble::Fault(error)) => error.into(),
            Wrong::Here | Wrong::Livelock => ProductStop::NoRun,
        }
    }
}

/// Something wrong in a state: what of it is told first if there are several.
pub(super) type Noticed = (u32, Result<Violation, Trouble>);

/// What the workers share.
pub(super) struct Common<'s> {
    pub(super) states: &'s SharedProducts,
    pub(super) words: Arena<AtomicU32>,
    pub(super) pile: Pile,
    pub(super) meeting: OnceLock<Meeting>,
    /// What waits for the next layer.
    pub(super) waiting: Mutex<Vec<u32>>,
    pub(super) noticed: Mutex<Vec<Noticed>>,
    /// Silent steps among livelock states of the present layer.
    pub(super) n_silent: AtomicU64,
    /// Livelock states of the present layer that were not removed, and which these are at the end.
    pub(super) n_left: AtomicU64,
    pub(super) left: Mutex<Vec<u32>>,
    pub(super) is_over: AtomicBool,
    pub(super) alarm: Alarm<Wrong>,
    pub(super) transitions: AtomicU64,
    pub(super) deadlocks: AtomicU64,
    pub(super) n_layers: AtomicU64,
    /// Bytes of the workers' lists.
    pub(super) list_bytes: AtomicU64,
    pub(super) peak_bytes: AtomicU64,
}

impl<'s> Common<'s> {
    fn new(states: &'s SharedProducts) -> Common<'s> {
        Common {
            states,
            words: Arena::new(1),
            pile: Pile::new(1),
            meeting: OnceLock::new(),
            waiting: Mutex::default(),
            noticed: Mutex::default(),
            n_silent: AtomicU64::new(0),
            n_left: AtomicU64::new(0),
            left: Mutex::default(),
            is_over: AtomicBool::new(false),
            alarm: Alarm::new(),
            transitions: AtomicU64::new(0),
            deadlocks: AtomicU64::new(0),
            n_layers: AtomicU64::new(0),
            list_bytes: AtomicU64::new(0),
            peak_bytes: AtomicU64::new(0),
        }
    }

    pub(super) fn word(&self, state: u32) -> &AtomicU32 {
        &self.words.record(state)[0]
    }

    pub(super) fn progress(&self) -> Progress {
        Progress {
            states: self.states.n_states(),
            transitions: self.transitions.load(Relaxed),
            depth: self.n_layers.load(Relaxed),
            pending: 0,
            bytes: self.states.bytes() + self.words.bytes() + self.list_bytes.load(Relaxed),
            workers: 0,
        }
    }

    fn stats(&self, states: u64) -> Stats {
        Stats {
            states,
            transitions: self.transitions.load(Relaxed),
            deadlocks: self.deadlocks.load(Relaxed),
            depth: self.n_layers.load(Relaxed),
            peak_bytes: self.peak_bytes.load(Relaxed),
        }
    }

    /// Turns what is wrong into an answer with a run.
    fn explain<S: System, O: Portable>(
        &self,
        wrong: Wrong,
        graph: &mut ProductGraph<'_, '_, S, O, PairsHandle<'_>>,
        budget: &mut Budget<'_>,
    ) -> Result<ProductStop, ProductStop> {
        match wrong {
            Wrong::Trouble(_) => Ok(wrong.without_run()),
            Wrong::Here => {
                let noticed = lock(&self.noticed);
                let there: FixedBitSet = noticed.iter().map(|noticed| noticed.0 as usize).collect();
                let is_there = |state: StateId| there.contains(state.index());
                let (run, observer_states, state) =
                    Runs::new(graph, self.progress(), budget)?.path(&is_there)?;
                let found = noticed.iter().find(|noticed| noticed.0 as usize == state.index());
                Ok(match found.map(|found| &found.1) {
                    Some(Ok(violation)) => {
                        let violation = *violation;
                        ProductStop::Found(Evidence { violation, run, cycle_start: None, observer_states })
                    }
                    Some(Err(Trouble::Fault(error))) => ProductStop::Fault(*error, run),
                    Some(Err(Trouble::Limit(limit))) => (*limit).into(),
                    None => ProductStop::NoRun,
                })
            }
            Wrong::Livelock => {
                let on_cycles = self.on_cycles(graph, budget)?;
                let is_inside = |state: StateId| on_cycles.contains(state.index());
                let acceptance = graph.fairness().acceptance(0);
                let mut runs = Runs::new(graph, self.progress(), budget)?;
                Ok(ProductStop::Found(runs.lasso(Violation::Livelock, &acceptance, &is_inside)?))
            }
        }
    }

    /// What is left of the last layer leads from cycles: the states on these.
    fn on_cycles<S: System, O: Portable>(
        &self,
        graph: &mut ProductGraph<'_, '_, S, O, PairsHandle<'_>>,
        budget: &mut Budget<'_>,
    ) -> Result<FixedBitSet, ProductStop> {
        let mut left = std::mem::take(&mut *lock(&self.left));
        left.sort_unstable();
        let mut budget = budget.share();
        budget.hold((left.len() * Inside::<()>::STATE_BYTES) as u64)?;
        let mut inside = Inside::new(left.len());
        let mut edges = Vec::new();
        for &state in &left {
            let expanded = graph.expand_by(StateId::new(state as usize), Path::Unknown, &mut edges);
            // It was expanded before, and nothing went wrong.
            expanded.map_err(|trouble| Wrong::Trouble(trouble).without_run())?;
            for edge in edges.iter().filter(|edge| edge.silent) {
                if let Ok(local) = left.binary_search(&(edge.target.index() as u32)) {
                    inside.add(local as u32, ());
                }
            }
            inside.end();
            budget.hold((edges.len() * Inside::<()>::EDGE_BYTES) as u64)?;
            budget.poll(&self.progress())?;
        }
        let all: Vec<u32> = (0..left.len() as u32).collect();
        let cyclic = inside.cyclic(&all, &mut budget)?;
        Ok(cyclic.concat().into_iter().map(|local| left[local as usize] as usize).collect())
    }
}
