//! Cycles with a marked step in a product, by several workers: nested depth-first search.
//!
//! # Idea
//! [`cndfs`](super::cndfs) over the product, instead of [`nested_dfs`](crate::search::nested_dfs).
//!
//! # When should I use this?
//! Over a bit array, where there are no components. Over an exact store, [`components`](super::components) shares more of the work.
//!
//! # Requirements and limits
//! One mark. Sets of steps that depend on the state alone. No fairness. Where nothing is found over an exact store, the counts are those of
//! the sequential search; a run that is found may be another one every time.

use base::{Budget, Limit, Progress, Worker};
use model::System;

use super::Alarm;
use super::cndfs::{Color, Graph, Outgoing, Walk, Way};
use super::colors::{Exactly, InBits, Palette};
use crate::method::StoreKind;
use crate::observer::Portable;
use crate::product::{ExpandError, Path, Product, ProductSteps, Visits};
use crate::search::stack::Pending;
use crate::search::{Evidence, ProductOutcome, ProductStop, Stats, Violation};
use crate::sync::{AtomicU64, Mutex, Ordering, lock};
use Ordering::Relaxed;

/// Searches the product for cycles with a marked step, with all workers of the budget. States that accept at once and deadlocks
/// that are errors are noticed on the way; livelocks are not.
///
/// # Errors
/// The memory for the bit array is not to be had.
pub(crate) fn search<S, O>(
    product: &mut Product<'_, S, O>,
    store: StoreKind,
    budget: &mut Budget<'_>,
) -> Result<ProductOutcome, Limit>
where
    S: System + Sync,
    S::Scratch: Send,
    O: Portable + Send,
{
    Ok(match store {
        StoreKind::Bitstate { bytes, n_hashes } => over(product, &InBits::new(bytes, n_hashes)?, budget),
        _ => {
            let colors = Exactly::new(product.width(), product.observer().n_states(), budget.room());
            over(product, &colors, budget)
        }
    })
}

/// What the workers share.
struct Common<'p, P> {
    palette: &'p P,
    n_workers: u32,
    alarm: Alarm<ProductStop>,
    n_idle: AtomicU64,
    states: AtomicU64,
    transitions: AtomicU64,
    deadlocks: AtomicU64,
    depth: AtomicU64,
    stack_bytes: AtomicU64,
    peak_bytes: AtomicU64,
}

fn over<S, O, P: Palette>(
    product: &mut Product<'_, S, O>,
    palette: &P,
    budget: &mut Budget<'_>,
) -> ProductOutcome
where
    S: System + Sync,
    S::Scratch: Send,
    O: Portable + Send,
{
    let n_workers = budget.team().n_workers();
    product.begin(Visits::Again);
    let common = Common {
        palette,
        n_workers: n_workers as u32,
        alarm: Alarm::new(),
        n_idle: AtomicU64::new(0),
        states: AtomicU64::new(0),
        transitions: AtomicU64::new(0),
        deadlocks: AtomicU64::new(0),
        depth: AtomicU64::new(0),
        stack_bytes: AtomicU64::new(0),
        peak_bytes: AtomicU64::new(0),
    };
    let products: Vec<_> = (0..n_workers).map(|_| Mutex::new(product.for_worker())).collect();
    let stop = match product.initial_states() {
        Err(error) => Some(ProductStop::from(error)),
        Ok(initial) => {
            budget.team().run(&|worker: Worker| {
                let Some(product) = products.get(worker.index) else { return };
                let _at_work = common.alarm.at_work();
                let mut product = lock(product);
                let width = product.width();
                let colors = palette.hand();
                let mut explorer = Explorer::new(&mut product, &common, budget.for_worker());
                let mut walk = Walk::new(width, worker.index, worker.of, colors, &common.n_idle);
                if let Err(End::Stop(stop)) = walk.search(&initial, &mut explorer) {
                    common.alarm.ring(stop);
                }
                explorer.tell(walk.longest(), 0);
            });
            common.alarm.take()
        }
    };
    for worker in &products {
        product.absorb(&lock(worker));
    }
    let stats = Stats {
        states: common.states.load(Relaxed),
        transitions: common.transitions.load(Relaxed),
        deadlocks: common.deadlocks.load(Relaxed),
        depth: common.depth.load(Relaxed),
        peak_bytes: common.peak_bytes.load(Relaxed).max(palette.bytes()),
    };
    ProductOutcome { stats, system_states: palette.n_system_states(), stop, coverage: palette.coverage() }
}

/// One worker's product.
struct Explorer<'e, 'a, S: System, O, P> {
    product: &'e mut Product<'a, S, O>,
    steps: ProductSteps,
    common: &'e Common<'e, P>,
    budget: Budget<'e>,
    states: u64,
    transitions: u64,
    deadlocks: u64,
    stack_bytes: u64,
    n_polls: u32,
}

/// Counts are told after so many states.
const TELL_EVERY: u32 = 64;

impl<'e, 'a, S: System, O: Portable, P: Palette> Explorer<'e, 'a, S, O, P> {
    fn new(
        product: &'e mut Product<'a, S, O>,
        common: &'e Common<'e, P>,
        budget: Budget<'e>,
    ) -> Explorer<'e, 'a, S, O, P> {
        let steps = product.new_steps();
        Explorer {
            product,
            steps,
            common,
            budget,
            states: 0,
            transitions: 0,
            deadlocks: 0,
            stack_bytes: 0,
            n_polls: 0,
        }
    }

    fn progress(&self, depth: u64) -> Progress {
        let common = self.common;
        Progress {
            states: common.states.load(Relaxed),
            transitions: common.transitions.load(Relaxed),
            depth,
            pending: 0,
            bytes: common.palette.bytes() + common.stack_bytes.load(Relaxed),
            workers: common.n_workers,
        }
    }

    /// Tells what was counted.
    fn tell(&mut self, depth: u64, stack_bytes: u64) {
        let common = self.common;
        self.n_polls = 0;
        common.states.fetch_add(std::mem::take(&mut self.states), Relaxed);
        common.transitions.fetch_add(std::mem::take(&mut self.transitions), Relaxed);
        common.deadlocks.fetch_add(std::mem::take(&mut self.deadlocks), Relaxed);
        common.depth.fetch_max(depth, Relaxed);
        common.stack_bytes.fetch_add(stack_bytes.wrapping_sub(self.stack_bytes), Relaxed);
        self.stack_bytes = stack_bytes;
        common.peak_bytes.fetch_max(self.progress(depth).bytes, Relaxed);
    }
}

/// Why a state was not expanded.
enum Trouble {
    Violation(Violation),
    Expand(ExpandError),
}

/// Why a worker ends early.
enum End {
    /// Somebody else has ended the search.
    Stopped,
    Stop(ProductStop),
}

impl From<Limit> for End {
    fn from(limit: Limit) -> End {
        End::Stop(limit.into())
    }
}

impl<S: System, O: Portable, P: Palette> Graph for Explorer<'_, '_, S, O, P> {
    type Trouble = Trouble;
    type End = End;

    fn expand(&mut self, state: &[u32], is_first: bool, out: &mut Outgoing) -> Result<u32, Trouble> {
        let (system, observer) = state.split_at(state.len() - 1);
        let expanded = self.product.expand(system, observer[0], Path::Unknown, &mut self.steps);
        let expanded = expanded.map_err(Trouble::Expand)?;
        if is_first && expanded.stance.at_once {
            return Err(Trouble::Violation(Violation::AtOnce));
        }
        if is_first && expanded.is_error {
            return Err(Trouble::Violation(Violation::Deadlock));
        }
        let all_marks = self.product.observer().all_marks();
        for step in &self.steps.steps {
            let start = out.targets.len();
            out.targets.resize(start + state.len(), 0);
            self.steps.copy_target(step, &mut out.targets[start..]);
            out.steps.push(Pending { action: step.action, flag: step.marks & all_marks == all_marks });
        }
        Ok((out.steps.len() as u32) << 1 | u32::from(expanded.is_deadlock))
    }

    fn trouble(&mut self, trouble: Trouble, way: Way) -> End {
        End::Stop(match trouble {
            Trouble::Expand(error) => ProductStop::trouble(error, || way.run),
            Trouble::Violation(violation) => ProductStop::Found(Evidence {
                violation,
                run: way.run,
                cycle_start: None,
                observer_states: way.observers,
            }),
        })
    }

    fn cycle(&mut self, way: Way, start: usize) -> End {
        let Way { run, observers: mut observer_states } = way;
        // The last step closes the cycle.
        let first = observer_states.get(start).copied().unwrap_or(0);
        observer_states.truncate(run.actions.len());
        observer_states.push(first);
        let cycle_start = Some(start);
        End::Stop(ProductStop::Found(Evidence {
            violation: Violation::Cycle,
            run,
            cycle_start,
            observer_states,
        }))
    }

    fn count(&mut self, note: u32, color: Color) {
        self.transitions += u64::from(note >> 1);
        if color == Color::Blue {
            self.states += 1;
            self.deadlocks += u64::from(note & 1);
        }
    }

    fn poll(&mut self, depth: u64, bytes: u64) -> Result<(), End> {
        if self.common.alarm.is_rung() {
            return Err(End::Stopped);
        }
        self.n_polls += 1;
        if self.n_polls == TELL_EVERY {
            self.tell(depth, bytes);
        }
        Ok(self.budget.poll(&self.progress(depth))?)
    }
}
