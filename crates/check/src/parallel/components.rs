//! Emptiness of a product by strong components, by several workers.
//!
//! # Idea
//! [`ufscc`](super::ufscc) over the shared store: every worker searches the whole product depth first, and what one has
//! finished the others leave out. What is accepted is told by marks, as in [`couvreur`](crate::search::couvreur);
//! weak fairness is marks, too. For strong fairness, the worker that finished a component looks into it
//! (`search::streett`), while the others go on; if it is large, all of them do in the end ([`parts`](super::parts)).
//!
//! # When should I use this?
//! Where [`couvreur`](crate::search::couvreur) or [`two_pass`](crate::search::two_pass) would be used, and there are two workers or more: together,
//! two take 1.1 to 1.5 times the processor time of these ([`Method::pays`](crate::method::Method::pays)).
//!
//! # Requirements and limits
//! An exact store; an observer that every worker can have a copy of ([`Portable`]). As many workers as fit in a word, 61.
//! Where nothing is found, the counts are those of the sequential search, unless something is left out that depends on who comes first. A run that is found may be
//! another one every time; it is judged as always.
//!
//! # Livelocks
//! The second pass, for testing automata, is the same search over silent edges, from the livelock states that the first one found. Each
//! worker takes some of these at a time.

use base::{Budget, Progress, Worker};
use model::System;

use super::Meeting;
use super::explorer::{Choosing, Common, End, Explorer, Pass, Repaired};
use super::marks::Layout;
use super::ufscc::Walk;
use super::union_find::UnionFind;
use crate::observer::Portable;
use crate::product::{Product, Visits};
use crate::reduction::Method;
use crate::search::found::{Found, Scope};
use crate::search::product_graph::{ProductGraph, Trouble};
use crate::search::{ProductOutcome, ProductStop, Stats};
use crate::store::shared::arena::Cell;
use crate::store::shared::{PairsHandle, SharedProducts};
use crate::store::{Products, StateId};
use crate::sync::{AtomicU32, AtomicU64, Mutex, OnceLock, Ordering, lock};

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passes {
    /// What is accepted by marks, at once, or by its end.
    Marks,
    /// That, and livelocks.
    MarksAndLivelocks,
}

/// Where to begin is looked for among so many states at a time.
const STARTS: usize = 256;

/// Components of at least so many states that lack strong fairness are looked into by all workers.
pub(crate) const LARGE: usize = 10_000;

/// Looks for a run that the observer accepts, with all workers of the budget; if there are fairness constraints, for a fair one.
/// Components of `large` states and more that lack strong fairness are looked into by all workers.
pub(crate) fn search<S, O>(
    product: &mut Product<'_, S, O>,
    passes: Passes,
    large: usize,
    budget: &mut Budget<'_>,
) -> ProductOutcome
where
    S: System + Sync,
    S::Scratch: Send,
    O: Portable + Send,
{
    let n_workers = budget.team().n_workers().min(UnionFind::<AtomicU64>::ROOM);
    let all = Layout::new(product.observer().all_marks(), product.fairness(), true);
    product.begin(Visits::Again);
    let products = (0..n_workers).map(|_| Mutex::new(product.for_worker())).collect();
    let states = SharedProducts::new(product.width() - 1, product.observer().n_states(), budget.room());
    let search = Search { products, states: &states, large, stats: Stats::default() };
    if all.n_bits() + n_workers <= UnionFind::<AtomicU32>::ROOM {
        search.run::<AtomicU32>(product, passes, budget)
    } else if n_workers <= UnionFind::<AtomicU32>::ROOM && all.n_bits() > UnionFind::<AtomicU64>::ROOM {
        // Marks have words of their own anyway.
        search.run::<AtomicU32>(product, passes, budget)
    } else {
        search.run::<AtomicU64>(product, passes, budget)
    }
}

struct Search<'s, 'a, S: System, O> {
    products: Vec<Mutex<Product<'a, S, O>>>,
    states: &'s SharedProducts,
    large: usize,
    stats: Stats,
}

type Graph<'p, 'a, S, O, P> = ProductGraph<'p, 'a, S, O, P>;

impl<'s, 'a, S, O> Search<'s, 'a, S, O>
where
    S: System + Sync,
    S::Scratch: Send,
    O: Portable + Send,
{
    fn run<A: Cell + Sync + Send>(
        mut self,
        product: &mut Product<'a, S, O>,
        passes: Passes,
        budget: &mut Budget<'_>,
    ) -> ProductOutcome {
        let mut graph = ProductGraph::new(product, self.states.handle());
        let stop = self.both::<A>(&mut graph, passes, budget);
        for worker in &self.products {
            graph.absorb(&lock(worker));
        }
        let mut stats = self.stats;
        stats.states = graph.states.n_states();
        let system_states = Some(graph.states.n_system_states());
        ProductOutcome { stats, system_states, stop, coverage: None }
    }

    /// The first pass, and the second if there is something to look for.
    fn both<A: Cell + Sync + Send>(
        &mut self,
        graph: &mut Graph<'_, 'a, S, O, PairsHandle<'_>>,
        passes: Passes,
        budget: &mut Budget<'_>,
    ) -> Option<ProductStop> {
        if let Err(trouble) = graph.begin() {
            return Some(match trouble {
                Trouble::Limit(limit) => limit.into(),
                Trouble::Fault(error) => error.into(),
            });
        }
        let choosing = match graph.method() {
            None | Some(Method::Guided) => Choosing::Alone,
            Some(Method::Repaired | Method::Fair) if graph.product_repair().is_some() => Choosing::Repaired,
            Some(Method::Repaired | Method::Fair) => Choosing::Free,
            Some(Method::Hybrid | Method::Classical) => Choosing::Once,
        };
        let starts: Vec<u32> = graph.initial.iter().map(|initial| initial.1.index() as u32).collect();
        let pass = Pass { scope: Scope::All, choosing, repaired: Repaired::default(), parts: None };
        let (saw_livelock, repaired) = match self.pass::<A>(pass, Some(Starts::These(&starts)), graph, budget)
        {
            Ok(done) => done,
            Err(stop) => return Some(stop),
        };
        if passes != Passes::MarksAndLivelocks || !saw_livelock {
            return None;
        }
        // Sets that were decided once are not needed: where a livelock is accepted, sets are valid without a condition.
        let choosing = match choosing {
            Choosing::Repaired => Choosing::AsBefore,
            Choosing::Free => Choosing::Free,
            _ => Choosing::Alone,
        };
        let pass = Pass { scope: Scope::Livelocks, choosing, repaired, parts: None };
        self.pass::<A>(pass, None, graph, budget).err()
    }

    /// One pass, and others for what it leaves. Without `starts`, it begins wherever it may. Returns whether the observer
    /// accepts livelocks in some state, and what was taken besides.
    fn pass<A: Cell + Sync + Send>(
        &mut self,
        mut pass: Pass,
        mut starts: Option<Starts<'_>>,
        graph: &mut Graph<'_, 'a, S, O, PairsHandle<'_>>,
        budget: &mut Budget<'_>,
    ) -> Result<(bool, Repaired), ProductStop> {
        let mut saw_livelock = false;
        loop {
            let common = self.common::<A>(graph, pass);
            match starts.take() {
                Some(starts) => self.work(&common, starts, budget),
                None => {
                    let states: Vec<u32> = graph.states.ids().map(|state| state.index() as u32).collect();
                    self.work(&common, Starts::Among { states: &states, next: &AtomicU64::new(0) }, budget);
                }
            }
            if let Some(end) = common.alarm.take() {
                return Err(self.explain(end, &common, graph, budget));
            }
            saw_livelock |= common.saw_livelock.load(Ordering::Relaxed);
            let (scope, choosing) = (common.scope, common.choosing.again());
            let repaired = std::mem::take(&mut *lock(&common.repaired));
            match common.left.into_parts() {
                None => return Ok((saw_livelock, repaired)),
                parts => pass = Pass { scope, choosing, repaired, parts },
            }
        }
    }

    fn common<A: Cell>(&self, graph: &Graph<'_, 'a, S, O, PairsHandle<'_>>, pass: Pass) -> Common<A> {
        let marks = pass.scope.marks(graph.observer().all_marks());
        let layout = Layout::new(marks, graph.fairness(), pass.choosing == Choosing::Repaired);
        let acceptance = graph.fairness().acceptance(marks);
        Common::new(self.products.len(), layout, acceptance, pass, self.large)
    }

    /// Lets all workers search, until all is searched or the alarm is rung.
    fn work<A: Cell + Sync + Send>(&mut self, common: &Common<A>, starts: Starts<'_>, budget: &Budget<'_>) {
        let Search { products, states, .. } = self;
        let meeting = OnceLock::new();
        let job = |worker: Worker| {
            let Some(product) = products.get(worker.index) else { return };
            let _at_work = common.alarm.at_work();
            let member = meeting.get_or_init(|| Meeting::new(products.len().min(worker.of))).join();
            let mut product = lock(product);
            let graph = ProductGraph::new(&mut *product, states.handle());
            // Where all begin everywhere, one is enough.
            let may_leave = worker.index > 0 && matches!(starts, Starts::These(_));
            let mut explorer = Explorer::new(graph, common, budget.for_worker(), may_leave);
            let mut walk = Walk::new(&common.sets, worker.index);
            let searched = starts.search(worker, &mut walk, &mut explorer);
            match searched {
                Ok(()) | Err(End::Stopped | End::Useless) => {}
                Err(end) => common.alarm.ring(end),
            }
            member.meet(|| {});
            walk.give_up(&mut explorer);
            explorer.tell(walk.longest(), 0);
        };
        budget.team().run(&job);
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        self.stats.transitions += load(&common.counts.transitions);
        self.stats.deadlocks += load(&common.counts.deadlocks);
        self.stats.depth = self.stats.depth.max(load(&common.counts.depth));
        self.stats.peak_bytes = self.stats.peak_bytes.max(load(&common.counts.peak_bytes));
    }

    /// Turns the end of a pass into an answer with a run.
    fn explain<A: Cell>(
        &self,
        end: End,
        common: &Common<A>,
        graph: &mut Graph<'_, 'a, S, O, PairsHandle<'_>>,
        budget: &mut Budget<'_>,
    ) -> ProductStop {
        let progress = Progress {
            states: self.states.n_states(),
            transitions: self.stats.transitions,
            depth: self.stats.depth,
            pending: 0,
            bytes: self.states.bytes() + common.sets.bytes(),
            workers: 1,
        };
        let found = match end {
            End::Stopped | End::Useless => return ProductStop::NoRun,
            End::Found(found) => found,
            End::Accepting(state) => {
                // The workers have stopped, so that sets are strongly connected.
                let root = common.sets.root(state);
                let is_inside = |&state: &usize| {
                    let state = state as u32;
                    common.sets.touch(state).is_ok() && common.sets.root(state) == root
                };
                let inside = graph.states.ids().map(StateId::index).filter(is_inside).collect();
                Found::inside(common.scope.violation(), common.acceptance.clone(), inside)
            }
        };
        found.explain(graph, progress, budget)
    }
}

/// Where a pass begins.
#[derive(Clone, Copy)]
enum Starts<'s> {
    /// All workers in all of these.
    These(&'s [u32]),
    /// Each worker in some of those among these in which the pass begins, as many as it takes at a time.
    Among { states: &'s [u32], next: &'s AtomicU64 },
}

impl Starts<'_> {
    fn search<S: System, O: Portable, A: Cell>(
        self,
        worker: Worker,
        walk: &mut Walk<'_, A>,
        explorer: &mut Explorer<'_, '_, S, O, A>,
    ) -> Result<(), End> {
        match self {
            Starts::These(states) => {
                let first = worker.index % states.len().max(1);
                for &state in states[first..].iter().chain(&states[..first]) {
                    walk.search_from(state, explorer)?;
                }
            }
            Starts::Among { states, next } => {
                let mut chunks = states.chunks(STARTS);
                let mut at = 0;
                // Others take the chunks in between.
                while let mine = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(chunk) = chunks.nth((mine - at) as usize)
                {
                    at = mine + 1;
                    for &state in chunk {
                        if explorer.is_start(state)? {
                            walk.search_from(state, explorer)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
