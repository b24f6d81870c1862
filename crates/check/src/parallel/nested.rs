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

use base::{Budget, Limit};
use model::System;

use super::cndfs::{Color, Graph, Outgoing, Walk, Way};
use super::colors::{Exactly, InBits, Palette};
use super::tally::{Count, End, Tally};
use crate::method::StoreKind;
use crate::observer::Portable;
use crate::product::{ExpandError, Path, Product, ProductSteps};
use crate::search::stack::Pending;
use crate::search::{Evidence, ProductOutcome, ProductStop, Violation};
use crate::sync::AtomicU64;

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
    let (tally, n_idle) = (Tally::new(budget), AtomicU64::new(0));
    let stop = match product.initial_states() {
        Err(error) => Some(ProductStop::from(error)),
        Ok(initial) => tally.run(product, budget, |worker, product, budget| {
            let mut walk = Walk::new(product.width(), worker.index, worker.of, palette.hand(), &n_idle);
            let (steps, count) = (product.new_steps(), Count::new(&tally));
            let mut explorer = Explorer { product, steps, palette, tally: &tally, count, budget };
            let searched = walk.search(&initial, &mut explorer);
            explorer.count.depth = explorer.count.depth.max(walk.longest());
            explorer.count.tell(0, palette.bytes());
            searched
        }),
    };
    let stats = tally.stats(palette.bytes());
    ProductOutcome { stats, system_states: palette.n_system_states(), stop, coverage: palette.coverage() }
}

/// One worker's product.
struct Explorer<'e, 'a, S: System, O, P> {
    product: &'e mut Product<'a, S, O>,
    steps: ProductSteps,
    palette: &'e P,
    tally: &'e Tally,
    count: Count<'e>,
    budget: Budget<'e>,
}

/// Why a state was not expanded.
enum Trouble {
    Violation(Violation),
    Expand(ExpandError),
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
        self.count.transitions += u64::from(note >> 1);
        if color == Color::Blue {
            self.count.states += 1;
            self.count.deadlocks += u64::from(note & 1);
        }
    }

    fn poll(&mut self, depth: u64, bytes: u64) -> Result<(), End> {
        // It has one step less than states.
        self.count.depth = self.count.depth.max(depth.saturating_sub(1));
        if self.count.is_due()? {
            self.count.tell(bytes, self.palette.bytes());
        }
        Ok(self.budget.poll(&self.tally.progress(self.palette.bytes()))?)
    }
}
