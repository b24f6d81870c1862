//! One pass over the product finds illegal traces, stable failures and divergences of a tester, and
//! livelocks of a testing automaton.
//!
//! # Idea
//! Algorithm 3.4 of [valmari.93.cav] [valmari.93.cav]. States wait in a work set. One is taken; from it, a
//! depth-first search goes as far as steps lead that the observer does not see, while that is in a
//! livelock state. A step back onto the stack of that search closes a livelock. All other steps put
//! their targets into the work set. States that accept at once, and deadlocks, are noticed on the
//! way.
//!
//! # When should I use this?
//! For every tester; if it has infinite-trace states, together with the nested search
//! ([`decide`](crate::decide) does that). For testing automata without Büchi states. It finds a
//! livelock as soon as all its steps were found, and looks at each state once.
//!
//! # Requirements and limits
//! Any [`Planes`]. Over a bitstate store states may be missed, but a livelock that is reported is
//! one: the test for what is on the stack is exact. No fairness. Marks are not looked at.
//!
//! # Differences from the paper
//! - A state that waits in the work set is *found*; a state that a depth-first search has entered
//!   is *entered*. The paper has only the latter mark, and its work set may hold a state many
//!   times. As in ONE-PASS of Hansen, Penczek and Valmari [hansen.02.fmics], a state that is found
//!   but not entered is entered by a depth-first search that reaches it.
//! - Recursion is an explicit stack.
//! - Deadlocks (C2) are noticed when a state is expanded, not when it is found.
//! - A deadlock in a livelock state of a testing automaton is a livelock: the last state repeats.
//!
//! # References
//! [valmari.93.cav], Algorithm 3.4; [hansen.02.fmics], ONE-PASS and LLEDET.

use std::collections::VecDeque;

use base::{Budget, Progress};
use model::{ActionId, Run, System};

use super::Stats;
use super::evidence::{Evidence, ProductOutcome, ProductStop, Violation};
use super::log::Log;
use super::stack::{Pending, Stack};
use crate::observer::Observer;
use crate::paged::OutOfMemory;
use crate::product::{Expanded, Path, Product, ProductStep, ProductSteps, Visits};
use crate::store::Planes;

/// The order of the work set of Algorithm 3.4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorkSet {
    /// First in, first out: short prefixes.
    #[default]
    Queue,
    /// Last in, first out.
    Stack,
}

/// Searches the product for everything that is accepted other than by marks, using empty sets.
pub fn search<S: System, O: Observer, P: Planes>(
    product: &mut Product<'_, S, O>,
    work_set: WorkSet,
    planes: &mut P,
    budget: &mut Budget<'_>,
) -> ProductOutcome {
    product.begin(Visits::Once);
    let mut search = Search {
        planes,
        steps: product.new_steps(),
        stack: Stack::new(product.width()),
        target: vec![0; product.width()],
        has_livelocks: product.observer().has_livelocks(),
        product,
        work: VecDeque::new(),
        work_set,
        log: Log::new(),
        stats: Stats::default(),
        progress: Progress::default(),
    };
    let stop = search.run(budget).err();
    let Search { planes, log, stats, mut progress, .. } = search;
    progress.depth = log.into_depth();
    ProductOutcome::new(stats, progress, planes, stop)
}

struct Search<'a, 's, S: System, O, P: Planes> {
    product: &'a mut Product<'s, S, O>,
    /// First: found. Second: entered.
    planes: &'a mut P,
    has_livelocks: bool,
    steps: ProductSteps,
    /// `mainset`: states, each followed by the number of its note in the log.
    work: VecDeque<u32>,
    work_set: WorkSet,
    stack: Stack,
    log: Log,
    target: Vec<u32>,
    stats: Stats,
    progress: Progress,
}

impl<S: System, O: Observer, P: Planes> Search<'_, '_, S, O, P> {
    fn run(&mut self, budget: &mut Budget<'_>) -> Result<(), ProductStop> {
        for (index, state) in self.product.initial_states()? {
            self.find(&state, Log::ROOT, index as u32)?;
        }
        let mut record = vec![0; self.product.width() + 1];
        while self.take(&mut record) {
            let (state, note) = record.split_at(self.product.width());
            // Without livelock states there are no depth-first searches that might have entered it.
            if !self.has_livelocks || self.planes.insert_second(state)? {
                self.enter(state, Pending::default(), note[0], budget)?;
                self.search_livelocks(budget)?;
            }
        }
        Ok(())
    }

    /// The depth-first search of silent steps from the state on the stack.
    fn search_livelocks(&mut self, budget: &mut Budget<'_>) -> Result<(), ProductStop> {
        let mut target = vec![0; self.product.width()];
        while !self.stack.is_empty() {
            let Some(step) = self.stack.next(&mut target) else {
                self.stack.pop();
                continue;
            };
            if self.planes.insert_second(&target)? {
                self.planes.insert_first(&target)?;
                let action = step.action.map_or(0, |action| action.index() as u32);
                let note = self.log.add(self.stack.top_tag(), action, target[target.len() - 1])?;
                self.enter(&target, step, note, budget)?;
            } else if let Some(frame) = self.stack.find(&target) {
                return Err(self.livelock(frame, step.action));
            }
        }
        Ok(())
    }

    /// Puts a state on the stack and looks at its steps. In a livelock state silent ones wait there for
    /// their turn; the targets of all others go to the work set.
    fn enter(
        &mut self,
        state: &[u32],
        via: Pending,
        note: u32,
        budget: &mut Budget<'_>,
    ) -> Result<(), ProductStop> {
        if self.has_livelocks {
            self.stack.push(state, via, note)?;
        }
        let mut steps = std::mem::replace(&mut self.steps, self.product.new_steps());
        let expanded = self.look_at(state, note, &mut steps)?;
        self.progress.transitions += steps.steps.len() as u64;
        let waits = |step: &ProductStep| step.silent && expanded.stance.livelock;
        for step in steps.steps.iter().filter(|step| !waits(step)) {
            let mut target = std::mem::take(&mut self.target);
            steps.copy_target(step, &mut target);
            let found = self.find(&target, note, step.action.map_or(0, |action| action.index() as u32));
            self.target = target;
            found?;
        }
        for step in steps.steps.iter().rev().filter(|step| waits(step)) {
            steps.copy_target(step, &mut self.target);
            self.stack.add_pending(Pending { action: step.action, flag: false }, &self.target)?;
        }
        self.steps = steps;
        self.poll(budget)
    }

    /// The steps of a state, unless something goes wrong in it.
    fn look_at(
        &mut self,
        state: &[u32],
        note: u32,
        steps: &mut ProductSteps,
    ) -> Result<Expanded, ProductStop> {
        let (system, observer) = state.split_at(state.len() - 1);
        let expanded = self.product.expand(system, observer[0], Path::Unknown, steps);
        let expanded = expanded.map_err(|error| ProductStop::trouble(error, || self.log.run_to(note).0))?;
        self.stats.deadlocks += u64::from(expanded.is_deadlock);
        let violation = match expanded {
            Expanded { stance, .. } if stance.at_once => Violation::AtOnce,
            Expanded { is_error: true, .. } => Violation::Deadlock,
            _ => return Ok(expanded),
        };
        let (run, observer_states) = self.log.run_to(note);
        Err(ProductStop::Found(Evidence { violation, run, cycle_start: None, observer_states }))
    }

    /// Puts a state into the work set, unless it was found before.
    fn find(&mut self, state: &[u32], parent: u32, action: u32) -> Result<(), ProductStop> {
        if self.planes.insert_first(state)? {
            let note = self.log.add(parent, action, state[state.len() - 1])?;
            self.work.try_reserve(state.len() + 1).map_err(|_| OutOfMemory)?;
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

    fn poll(&mut self, budget: &mut Budget<'_>) -> Result<(), ProductStop> {
        self.progress.states = self.planes.n_states();
        self.progress.pending = (self.work.len() / (self.product.width() + 1)) as u64;
        self.progress.depth = self.progress.depth.max(self.stack.len() as u64);
        self.progress.bytes =
            self.planes.bytes() + self.log.bytes() + self.stack.bytes() + 4 * self.work.capacity() as u64;
        self.stats.peak_bytes = self.stats.peak_bytes.max(self.progress.bytes);
        Ok(budget.poll(&self.progress)?)
    }

    /// The run to the bottom of the stack, along the stack, and back to one of its frames.
    fn livelock(&self, frame: usize, action: Option<ActionId>) -> ProductStop {
        let (Run { initial, mut actions }, mut observer_states) = self.log.run_to(self.stack.bottom_tag());
        let cycle_start = Some(actions.len() + self.stack.n_actions_to(frame));
        actions.extend(self.stack.actions_from(1));
        actions.extend(action);
        let run = Run { initial, actions };
        // In a livelock the observer stays where it is.
        observer_states.resize(run.actions.len() + 1, self.stack.observer(frame));
        ProductStop::Found(Evidence { violation: Violation::Livelock, run, cycle_start, observer_states })
    }
}
