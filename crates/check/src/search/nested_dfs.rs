//! Nested depth-first search for illegal infinite traces.
//!
//! # Idea
//! The algorithm of Courcoubetis, Vardi, Wolper and Yannakakis [courcoubetis.92.fmsd], adapted to
//! marked steps as 001 suggests [valmari.93.cav]: a marked step is thought to go through a middle
//! state of its own, and these are the accepting states. When the outer search backtracks from a
//! middle state, that is when everything behind the marked step was seen, an inner search starts
//! there and looks for a way back. All inner searches together enter each state once.
//!
//! # When should I use this?
//! For testers with infinite-trace states, together with [`one_pass`](super::one_pass), which
//! finds divergences.
//!
//! # Requirements and limits
//! Any [`Planes`]; under reduction a set of actions must depend on the state alone, since states are
//! expanded twice. No fairness.
//!
//! # Differences from the paper
//! - The inner search stops at any state on the stack of the outer search, not only at its own
//!   start: from there the outer stack leads to the start (the improvement of [holzmann.96.spin]).
//! - Illegal traces and deadlocks (C1, C2) are noticed by the outer search.
//!
//! # References
//! [courcoubetis.92.fmsd]; [valmari.93.cav], end of Section 3; [holzmann.96.spin].

use base::{Budget, Progress};
use model::{ActionId, Run};

use super::Stats;
use super::one_pass::out_of_memory;
use super::stack::{Pending, Stack};
use super::tester::{Evidence, TesterOutcome, TesterStop, Violation};
use crate::paged::OutOfMemory;
use crate::product::{ExpandError, ProductSteps, Scratch, TesterProduct};
use crate::store::Planes;

/// Searches the product for C1, C2 and C4, using empty sets.
pub fn search<P: Planes>(
    product: &TesterProduct<'_>,
    planes: &mut P,
    budget: &mut Budget<'_>,
) -> TesterOutcome {
    let mut search = Search {
        product,
        planes,
        scratch: product.new_scratch(),
        steps: product.new_steps(),
        initial: 0,
        outer: Stack::new(product.width()),
        inner: Stack::new(product.width()),
        stats: Stats::default(),
        progress: Progress::default(),
    };
    let stop = search.run(budget).err();
    TesterOutcome::new(search.stats, search.progress, search.planes, stop)
}

struct Search<'a, P: Planes> {
    product: &'a TesterProduct<'a>,
    /// First: seen by the outer search. Second: by an inner one.
    planes: &'a mut P,
    scratch: Scratch,
    steps: ProductSteps,
    /// Which initial state of the system is at the bottom of the outer stack.
    initial: usize,
    outer: Stack,
    inner: Stack,
    stats: Stats,
    progress: Progress,
}

impl<P: Planes> Search<'_, P> {
    fn run(&mut self, budget: &mut Budget<'_>) -> Result<(), TesterStop> {
        let product = self.product;
        product.for_each_initial_state(|index, state| {
            self.initial = index;
            if self.planes.insert_first(state)? {
                let via = Pending { action: ActionId::new(0), flag: false };
                self.enter(state, via, budget)?;
                self.search_outer(budget)?;
            }
            Ok(())
        })
    }

    fn search_outer(&mut self, budget: &mut Budget<'_>) -> Result<(), TesterStop> {
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
    ) -> Result<(), TesterStop> {
        if let Some(frame) = self.outer.find(from) {
            return Err(self.cycle(frame, marked.action, None));
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
                return Err(self.cycle(frame, marked.action, Some(step.action)));
            }
            if self.planes.insert_second(&target)? {
                self.enter_inner(&target, step, budget)?;
            }
        }
        Ok(())
    }

    fn enter(&mut self, state: &[u32], via: Pending, budget: &mut Budget<'_>) -> Result<(), TesterStop> {
        self.outer.push(state, via, 0).map_err(out_of_memory)?;
        let flags = self.product.flags(state);
        if flags.reject {
            return Err(self.error(Violation::IllegalTrace));
        }
        let expanded = self.product.expand(state, &mut self.scratch, &mut self.steps);
        let is_deadlock = expanded.map_err(|error| self.trouble(error, false))?;
        self.stats.deadlocks += u64::from(is_deadlock);
        if is_deadlock && flags.deadlock {
            return Err(self.error(Violation::StableFailure));
        }
        add_steps(&mut self.outer, &self.steps)?;
        self.progress.depth = self.progress.depth.max(self.outer.len() as u64 - 1);
        self.poll(budget)
    }

    fn enter_inner(
        &mut self,
        state: &[u32],
        via: Pending,
        budget: &mut Budget<'_>,
    ) -> Result<(), TesterStop> {
        self.inner.push(state, via, 0).map_err(out_of_memory)?;
        let expanded = self.product.expand(state, &mut self.scratch, &mut self.steps);
        expanded.map_err(|error| self.trouble(error, true))?;
        add_steps(&mut self.inner, &self.steps)?;
        self.poll(budget)
    }

    fn poll(&mut self, budget: &mut Budget<'_>) -> Result<(), TesterStop> {
        self.progress.states = self.planes.n_states();
        self.progress.transitions += self.steps.steps.len() as u64;
        self.progress.bytes = self.planes.bytes() + self.outer.bytes() + self.inner.bytes();
        self.stats.peak_bytes = self.stats.peak_bytes.max(self.progress.bytes);
        Ok(budget.poll(&self.progress)?)
    }

    /// The run on the outer stack, continued along the inner one if that is wanted.
    fn current_run(&self, with_inner: bool) -> Run {
        let mut actions: Vec<ActionId> =
            (1..self.outer.len()).map(|frame| self.outer.action(frame)).collect();
        if with_inner {
            actions.extend((0..self.inner.len()).map(|frame| self.inner.action(frame)));
        }
        Run { initial: self.initial, actions }
    }

    fn error(&self, violation: Violation) -> TesterStop {
        self.found(violation, self.current_run(false), None)
    }

    fn trouble(&self, error: ExpandError, in_inner: bool) -> TesterStop {
        match error {
            ExpandError::Step(error) => TesterStop::Fault(error, self.current_run(in_inner)),
            ExpandError::OutOfMemory => out_of_memory(OutOfMemory),
        }
    }

    /// The cycle from a frame of the outer stack to its top, over the marked step, along the inner
    /// stack, and by a last step back to the frame. Without a last step the marked one closes it.
    fn cycle(&self, frame: usize, marked: ActionId, last: Option<ActionId>) -> TesterStop {
        let mut run = self.current_run(last.is_some());
        match last {
            Some(last) => run.actions.push(last),
            None => run.actions.push(marked),
        }
        self.found(Violation::InfiniteTrace, run, Some(frame))
    }

    fn found(&self, violation: Violation, run: Run, cycle_start: Option<usize>) -> TesterStop {
        let tester_state = self.product.tester_state(self.outer.top());
        TesterStop::Found(Evidence { violation, run, cycle_start, tester_state })
    }
}

/// Adds the steps out of the top state; marked steps are flagged.
fn add_steps(stack: &mut Stack, steps: &ProductSteps) -> Result<(), TesterStop> {
    for index in (0..steps.steps.len()).rev() {
        let step = Pending { action: steps.steps.actions()[index], flag: steps.kinds[index].marked };
        stack.add_pending(step, steps.steps.target(index)).map_err(out_of_memory)?;
    }
    Ok(())
}
