//! One pass over the product with a tester finds illegal traces, stable failures and divergences.
//!
//! # Idea
//! Algorithm 3.4 of 001 [valmari.93.cav]. States wait in a work set. One is taken; from it, a
//! depth-first search goes as far as invisible steps lead while the tester is in a livelock state.
//! A step back onto the stack of that search closes an illegal divergence. All other steps put
//! their targets into the work set. Reject states and deadlocks are noticed on the way.
//!
//! # When should I use this?
//! For every tester; if it has infinite-trace states, together with the nested search
//! ([`tester`](super::tester) does that). It finds a divergence as soon as all its steps were found,
//! and looks at each state once.
//!
//! # Requirements and limits
//! Any [`Planes`]. Over a bitstate store states may be missed, but a divergence that is reported is
//! one: the test for what is on the stack is exact. No fairness.
//!
//! # Differences from the paper
//! - A state that waits in the work set is *found*; a state that a depth-first search has entered
//!   is *entered*. The paper has only the latter mark, and its work set may hold a state many
//!   times. As in ONE-PASS of Hansen, Penczek and Valmari [hansen.02.fmics], a state that is found
//!   but not entered is entered by a depth-first search that reaches it.
//! - Recursion is an explicit stack.
//! - Deadlocks (C2) are noticed when a state is expanded, not when it is found.
//!
//! # References
//! [valmari.93.cav], Algorithm 3.4; [hansen.02.fmics], ONE-PASS and LLEDET.

use std::collections::VecDeque;

use base::{Budget, Limit, Progress};
use model::{ActionId, Run};

use super::Stats;
use super::stack::{Pending, Stack};
use super::tester::{Evidence, Log, TesterOutcome, TesterStop, Violation, WorkSet};
use crate::paged::OutOfMemory;
use crate::product::{ExpandError, ProductSteps, Scratch, TesterProduct};
use crate::store::Planes;

/// Searches the product for C1, C2 and C3, using empty sets.
pub fn search<P: Planes>(
    product: &TesterProduct<'_>,
    work_set: WorkSet,
    planes: &mut P,
    budget: &mut Budget<'_>,
) -> TesterOutcome {
    let mut search = Search {
        product,
        planes,
        scratch: product.new_adaptive_scratch(),
        steps: product.new_steps(),
        work: VecDeque::new(),
        work_set,
        stack: Stack::new(product.width()),
        log: Log::new(),
        stats: Stats::default(),
        progress: Progress::default(),
    };
    let stop = search.run(budget).err();
    search.progress.depth = search.log.depth();
    TesterOutcome::new(search.stats, search.progress, search.planes, stop)
}

struct Search<'a, P: Planes> {
    product: &'a TesterProduct<'a>,
    /// First: found. Second: entered.
    planes: &'a mut P,
    scratch: Scratch,
    steps: ProductSteps,
    /// `mainset`: states, each followed by the number of its note in the log.
    work: VecDeque<u32>,
    work_set: WorkSet,
    stack: Stack,
    log: Log,
    stats: Stats,
    progress: Progress,
}

impl<P: Planes> Search<'_, P> {
    fn run(&mut self, budget: &mut Budget<'_>) -> Result<(), TesterStop> {
        let product = self.product;
        product.for_each_initial_state(|index, state| self.find(state, Log::ROOT, index as u32))?;
        let mut record = vec![0; product.width() + 1];
        while self.take(&mut record) {
            let (state, note) = record.split_at(product.width());
            // Depth-first searches enter livelock states only: others come from the work set alone,
            // each once.
            if !product.flags(state).livelock {
                self.look_at(state, note[0], budget)?;
            } else if self.planes.insert_second(state)? {
                let via = Pending { action: ActionId::new(0), flag: false };
                self.enter(state, via, note[0], budget)?;
                self.search_livelocks(budget)?;
            }
        }
        Ok(())
    }

    /// The depth-first search of invisible steps from the state on the stack.
    fn search_livelocks(&mut self, budget: &mut Budget<'_>) -> Result<(), TesterStop> {
        let mut target = vec![0; self.product.width()];
        while !self.stack.is_empty() {
            let Some(step) = self.stack.next(&mut target) else {
                self.stack.pop();
                continue;
            };
            if self.planes.insert_second(&target)? {
                self.planes.insert_first(&target)?;
                let note = self.log.add(self.stack.top_tag(), step.action.index() as u32);
                let note = note.map_err(out_of_memory)?;
                self.enter(&target, step, note, budget)?;
            } else if let Some(frame) = self.stack.find(&target) {
                return Err(self.divergence(frame, step.action));
            }
        }
        Ok(())
    }

    /// Puts a state on the stack and looks at its steps.
    fn enter(
        &mut self,
        state: &[u32],
        via: Pending,
        note: u32,
        budget: &mut Budget<'_>,
    ) -> Result<(), TesterStop> {
        self.stack.push(state, via, note).map_err(out_of_memory)?;
        self.look_at(state, note, budget)
    }

    /// Looks at the steps of a state. In a livelock state (which is on the stack) invisible ones
    /// wait there for their turn; the targets of all others go to the work set.
    fn look_at(&mut self, state: &[u32], note: u32, budget: &mut Budget<'_>) -> Result<(), TesterStop> {
        let flags = self.product.flags(state);
        if flags.reject {
            return Err(self.error(Violation::IllegalTrace, state, note));
        }
        let mut steps = std::mem::take(&mut self.steps);
        let expanded = self.product.expand(state, &mut self.scratch, &mut steps);
        let is_deadlock = expanded.map_err(|error| self.trouble(error, note))?;
        self.stats.deadlocks += u64::from(is_deadlock);
        if is_deadlock && flags.deadlock {
            return Err(self.error(Violation::StableFailure, state, note));
        }
        self.progress.transitions += steps.steps.len() as u64;
        for (index, (action, target)) in steps.steps.iter().enumerate() {
            if steps.kinds[index].visible || !flags.livelock {
                self.find(target, note, action.index() as u32)?;
            }
        }
        if flags.livelock {
            for index in (0..steps.steps.len()).rev().filter(|&index| !steps.kinds[index].visible) {
                let step = Pending { action: steps.steps.actions()[index], flag: false };
                self.stack.add_pending(step, steps.steps.target(index)).map_err(out_of_memory)?;
            }
        }
        self.steps = steps;
        self.poll(budget)
    }

    /// Puts a state into the work set, unless it was found before.
    fn find(&mut self, state: &[u32], parent: u32, action: u32) -> Result<(), TesterStop> {
        if self.planes.insert_first(state)? {
            let note = self.log.add(parent, action).map_err(out_of_memory)?;
            self.work.try_reserve(state.len() + 1).map_err(|_| out_of_memory(OutOfMemory))?;
            self.work.extend(state);
            self.work.push_back(note);
        }
        Ok(())
    }

    /// Takes a state with its note from the work set, if there is one.
    fn take(&mut self, out: &mut [u32]) -> bool {
        if self.work.is_empty() {
            return false;
        }
        let range = match self.work_set {
            WorkSet::Queue => 0..out.len(),
            WorkSet::Stack => self.work.len() - out.len()..self.work.len(),
        };
        out.iter_mut().zip(self.work.drain(range)).for_each(|(to, from)| *to = from);
        true
    }

    fn poll(&mut self, budget: &mut Budget<'_>) -> Result<(), TesterStop> {
        self.progress.states = self.planes.n_states();
        self.progress.pending = (self.work.len() / (self.product.width() + 1)) as u64;
        self.progress.depth = self.progress.depth.max(self.stack.len() as u64);
        self.progress.bytes =
            self.planes.bytes() + self.log.bytes() + self.stack.bytes() + 4 * self.work.capacity() as u64;
        self.stats.peak_bytes = self.stats.peak_bytes.max(self.progress.bytes);
        Ok(budget.poll(&self.progress)?)
    }

    fn error(&self, violation: Violation, state: &[u32], note: u32) -> TesterStop {
        let tester_state = self.product.tester_state(state);
        TesterStop::Found(Evidence { violation, run: self.log.run_to(note), cycle_start: None, tester_state })
    }

    fn trouble(&self, error: ExpandError, note: u32) -> TesterStop {
        match error {
            ExpandError::Step(error) => TesterStop::Fault(error, self.log.run_to(note)),
            ExpandError::OutOfMemory => out_of_memory(OutOfMemory),
        }
    }

    /// The run to the bottom of the stack, along the stack, and back to one of its frames.
    fn divergence(&self, frame: usize, action: ActionId) -> TesterStop {
        let Run { initial, mut actions } = self.log.run_to(self.stack.bottom_tag());
        let cycle_start = Some(actions.len() + frame);
        actions.extend((1..self.stack.len()).map(|frame| self.stack.action(frame)));
        actions.push(action);
        let run = Run { initial, actions };
        let tester_state = self.product.tester_state(self.stack.top());
        TesterStop::Found(Evidence { violation: Violation::Divergence, run, cycle_start, tester_state })
    }
}

impl From<Limit> for TesterStop {
    fn from(limit: Limit) -> TesterStop {
        TesterStop::Limit(limit)
    }
}

/// The system has no memory left, whatever the budget says.
pub(crate) fn out_of_memory(OutOfMemory: OutOfMemory) -> TesterStop {
    TesterStop::Limit(Limit::Memory(u64::MAX))
}
