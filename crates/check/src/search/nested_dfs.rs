//! Nested depth-first search for cycles with a marked step: of Büchi automata, and of testers.
//!
//! # Idea
//! The algorithm of Courcoubetis, Vardi, Wolper and Yannakakis [courcoubetis.92.fmsd], adapted to
//! marked steps as [valmari.93.cav] suggests [valmari.93.cav]: a marked step is thought to go through a
//! middle state of its own, and these are the accepting states. When the outer search backtracks from a
//! middle state, that is when everything behind the marked step was seen, an inner search starts
//! there and looks for a way back. All inner searches together enter each state once.
//!
//! # When should I use this?
//! For Büchi automata where memory is scarce (it needs two bits per state, also in a bitstate store),
//! or to compare; [`couvreur`](super::couvreur) stops earlier. For testers with infinite-trace states,
//! together with [`one_pass`](super::one_pass), which finds divergences.
//!
//! # Requirements and limits
//! Any [`Planes`]; at most one mark. States are expanded twice, and must be expanded alike: under
//! reduction a set of actions must depend on the state alone, but for whether all are taken, which is
//! remembered. No fairness.
//!
//! # Differences from the paper
//! - The inner search stops at any state on the stack of the outer search, not only at its own
//!   start: from there the outer stack leads to the start (the improvement of [holzmann.96.spin]).
//! - Illegal traces and deadlocks (C1, C2) are noticed by the outer search.
//!
//! # References
//! [courcoubetis.92.fmsd]; [valmari.93.cav], end of Section 3; [holzmann.96.spin].

use base::{Budget, Progress};
use model::{ActionId, Run, System};

use super::Stats;
use super::evidence::{Evidence, ProductOutcome, ProductStop, Violation};
use super::stack::{Pending, Stack};
use crate::observer::Observer;
use crate::product::{Expanded, Path, Product, ProductSteps, Visits};
use crate::reduction::Method;
use crate::store::Planes;

/// Searches the product for cycles with a marked step, using empty sets. States that accept at once
/// and deadlocks that are errors are noticed on the way; livelocks are not.
///
/// # Panics
/// If the observer has several marks.
pub fn search<S: System, O: Observer, P: Planes>(
    product: &mut Product<'_, S, O>,
    planes: &mut P,
    budget: &mut Budget<'_>,
) -> ProductOutcome {
    assert!(product.observer().all_marks() <= 1, "a single mark");
    product.begin(Visits::Again);
    let mut search = Search {
        planes,
        steps: product.new_steps(),
        initial: 0,
        outer: Stack::new(product.width()),
        inner: Stack::new(product.width()),
        target: vec![0; product.width()],
        product,
        stats: Stats::default(),
        progress: Progress::default(),
    };
    let stop = search.run(budget).err();
    ProductOutcome::new(search.stats, search.progress, search.planes, stop)
}

struct Search<'a, 's, S: System, O, P: Planes> {
    product: &'a mut Product<'s, S, O>,
    /// First: seen by the outer search. Second: by an inner one.
    planes: &'a mut P,
    steps: ProductSteps,
    /// Which initial state of the system is at the bottom of the outer stack.
    initial: usize,
    outer: Stack,
    inner: Stack,
    target: Vec<u32>,
    stats: Stats,
    progress: Progress,
}

impl<S: System, O: Observer, P: Planes> Search<'_, '_, S, O, P> {
    fn run(&mut self, budget: &mut Budget<'_>) -> Result<(), ProductStop> {
        for (index, state) in self.product.initial_states()? {
            self.initial = index;
            if self.planes.insert_first(&state)? {
                self.enter(&state, Pending::default(), budget)?;
                self.search_outer(budget)?;
            }
        }
        Ok(())
    }

    fn search_outer(&mut self, budget: &mut Budget<'_>) -> Result<(), ProductStop> {
        let mut target = vec![0; self.product.width()];
        while !self.outer.is_empty() {
            match self.outer.next(&mut target) {
                Some(step) => {
                    if self.planes.insert_first(&target)? {
                        self.enter(&target, step, budget)?;
                    } else if step.flag {
                        self.search_inner(step, &target, budget)?;
                    }
                }
                None => {
                    // Backtrack: out of this state, and out of the middle state before it.
                    target.copy_from_slice(self.outer.top());
                    let flag = self.outer.top_flag();
                    let action = self.outer.action(self.outer.len() - 1);
                    self.outer.pop();
                    if flag {
                        self.search_inner(Pending { action, flag }, &target, budget)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Looks for a way from the target of a marked step, whose source is on top of the outer stack,
    /// back onto that stack.
    fn search_inner(
        &mut self,
        marked: Pending,
        from: &[u32],
        budget: &mut Budget<'_>,
    ) -> Result<(), ProductStop> {
        if let Some(frame) = self.outer.find(from) {
            return Err(self.cycle(frame, marked.action, false));
        }
        if !self.planes.insert_second(from)? {
            return Ok(());
        }
        self.inner.clear();
        self.enter_inner(from, marked, budget)?;
        let mut target = vec![0; self.product.width()];
        while !self.inner.is_empty() {
            let Some(step) = self.inner.next(&mut target) else {
                self.inner.pop();
                continue;
            };
            if let Some(frame) = self.outer.find(&target) {
                return Err(self.cycle(frame, step.action, true));
            }
            if self.planes.insert_second(&target)? {
                self.enter_inner(&target, step, budget)?;
            }
        }
        Ok(())
    }

    fn enter(&mut self, state: &[u32], via: Pending, budget: &mut Budget<'_>) -> Result<(), ProductStop> {
        self.outer.push(state, via, 0)?;
        let (system, observer) = state.split_at(state.len() - 1);
        let Search { product, outer, target, steps, .. } = self;
        let mut is_on_path = |system: &[u32], observer: u32| {
            target[..system.len()].copy_from_slice(system);
            target[system.len()] = observer;
            outer.find(target).is_some()
        };
        let expanded = product.expand(system, observer[0], Path::Known(&mut is_on_path), steps);
        let expanded = expanded.map_err(|error| ProductStop::trouble(error, || self.current_run(false)))?;
        self.stats.deadlocks += u64::from(expanded.is_deadlock);
        match expanded {
            Expanded { stance, .. } if stance.at_once => return Err(self.error(Violation::AtOnce)),
            Expanded { is_error: true, .. } => return Err(self.error(Violation::Deadlock)),
            _ => {}
        }
        if expanded.is_full && self.product.method() == Some(Method::Classical) {
            self.planes.mark(state)?;
        }
        add_steps(&mut self.outer, &self.steps, &mut self.target, self.product.observer().all_marks())?;
        self.progress.depth = self.progress.depth.max(self.outer.len() as u64 - 1);
        self.poll(budget)
    }

    fn enter_inner(
        &mut self,
        state: &[u32],
        via: Pending,
        budget: &mut Budget<'_>,
    ) -> Result<(), ProductStop> {
        self.inner.push(state, via, 0)?;
        let (system, observer) = state.split_at(state.len() - 1);
        let must_be_full = self.product.method() == Some(Method::Classical) && self.planes.is_marked(state);
        let expanded = if must_be_full {
            self.product.expand_fully(system, observer[0], &mut self.steps)
        } else {
            self.product.expand(system, observer[0], Path::AsBefore, &mut self.steps)
        };
        expanded.map_err(|error| ProductStop::trouble(error, || self.current_run(true)))?;
        add_steps(&mut self.inner, &self.steps, &mut self.target, self.product.observer().all_marks())?;
        self.poll(budget)
    }

    fn poll(&mut self, budget: &mut Budget<'_>) -> Result<(), ProductStop> {
        self.progress.states = self.planes.n_states();
        self.progress.transitions += self.steps.steps.len() as u64;
        self.progress.bytes = self.planes.bytes() + self.outer.bytes() + self.inner.bytes();
        self.stats.peak_bytes = self.stats.peak_bytes.max(self.progress.bytes);
        Ok(budget.poll(&self.progress)?)
    }

    /// The run on the outer stack, continued along the inner one if that is wanted.
    fn current_run(&self, with_inner: bool) -> Run {
        let mut actions: Vec<ActionId> = self.outer.actions_from(1).collect();
        if with_inner {
            actions.extend(self.inner.actions_from(0));
        }
        Run { initial: self.initial, actions }
    }

    fn error(&self, violation: Violation) -> ProductStop {
        self.found(violation, self.current_run(false), None)
    }

    /// The cycle from a frame of the outer stack to its top, along the inner stack if that is wanted,
    /// which starts with the marked step, and by a last step back to the frame.
    fn cycle(&self, frame: usize, last: Option<ActionId>, with_inner: bool) -> ProductStop {
        let mut run = self.current_run(with_inner);
        run.actions.extend(last);
        self.found(Violation::Cycle, run, Some(self.outer.n_actions_to(frame)))
    }

    fn found(&self, violation: Violation, run: Run, cycle_start: Option<usize>) -> ProductStop {
        let mut observer_states: Vec<u32> = self.outer.observers_from(0).collect();
        if observer_states.len() <= run.actions.len() {
            observer_states.extend(self.inner.observers_from(0));
        }
        if let Some(cycle_start) = cycle_start {
            // The last step closes the cycle.
            observer_states.truncate(run.actions.len());
            observer_states.push(observer_states.get(cycle_start).copied().unwrap_or(0));
        }
        observer_states.truncate(run.actions.len() + 1);
        ProductStop::Found(Evidence { violation, run, cycle_start, observer_states })
    }
}

/// Adds the steps out of the top state; marked steps are flagged.
fn add_steps(
    stack: &mut Stack,
    steps: &ProductSteps,
    target: &mut [u32],
    all_marks: u64,
) -> Result<(), ProductStop> {
    for step in steps.steps.iter().rev() {
        steps.copy_target(step, target);
        let flag = step.marks & all_marks == all_marks;
        stack.add_pending(Pending { action: step.action, flag }, target)?;
    }
    Ok(())
}
