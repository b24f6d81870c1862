//! Illegal traces, stable failures and divergences of a tester, and livelocks of a testing automaton, by several workers over a bit
//! array.
//!
//! # Idea
//! As in [`one_pass`](crate::search::one_pass), states wait until somebody takes them, and from there follows steps that the observer does
//! not see, depth first, as long as that is in a livelock state; a step back onto the way closes a livelock. All other steps lead
//! to states that wait. Several workers do so at once (DFS-FIFO, Laarman and Faragó, NFM 2013), each with a stack of its own. But
//! a state counts as *entered* for the others only when it is **left**, so that several may follow the same steps.
//!
//! # Why it is right
//! Let x be the first state of a cycle of silent steps to be left, and w the worker that leaves it. Its successor on the cycle was not left
//! before, so that w entered it above x, or had it on its stack; and so on, around the cycle, back to x, which is on the stack. If a state that is entered
//! were closed to others at once, each of two workers could stop where the other one is.
//!
//! # When should I use this?
//! Where [`one_pass`](crate::search::one_pass) would be used over a bit array, and there are several workers. Over an exact store,
//! [`layers`](super::layers) expand every state twice at most, however the silent steps lie.
//!
//! # Requirements and limits
//! No fairness. Marks are not looked at. Guided sets, which depend on the state alone. States may be missed, but a livelock that is reported is one.
//! The newest states are taken first: a run that is found may be long, and another one every time.

use base::{Budget, Limit, Progress, Worker};
use model::{ActionId, Run, System};

use super::notes::{NOTHING, Notes, Pen};
use super::pile::Pile;
use super::tally::{Count, End, Tally};
use crate::observer::Portable;
use crate::paged::OutOfMemory;
use crate::product::{Expanded, Path, Product, ProductStep, ProductSteps};
use crate::search::stack::{Pending, Stack};
use crate::search::{Evidence, ProductOutcome, ProductStop, Stats, Violation};
use crate::store::{BitsHandle, SharedBits};

/// Beside a state that waits: the number of its note, and how far it is from the beginning.
const N_BESIDE: usize = 2;

/// What the workers share.
struct Common {
    found: SharedBits,
    /// What was entered, and left again.
    left: SharedBits,
    notes: Notes,
    pile: Pile,
    tally: Tally,
}

impl Common {
    /// Bytes beside those that workers have of their own.
    fn bytes(&self) -> u64 {
        self.found.bytes() + self.left.bytes() + self.notes.bytes()
    }

    fn progress(&self) -> Progress {
        Progress { states: self.found.n_states(), ..self.tally.progress(self.bytes()) }
    }
}

/// Searches the product for everything that is accepted other than by marks, with all workers of the budget, over two arrays that share
/// `bytes`.
///
/// # Errors
/// The memory for them is not to be had.
pub(crate) fn search<S, O>(
    product: &mut Product<'_, S, O>,
    bytes: u64,
    n_hashes: u32,
    budget: &mut Budget<'_>,
) -> Result<ProductOutcome, Limit>
where
    S: System + Sync,
    S::Scratch: Send,
    O: Portable + Send,
{
    let common = Common {
        found: SharedBits::new(bytes / 2, n_hashes)?,
        left: SharedBits::new(bytes / 2, n_hashes)?,
        notes: Notes::new(3),
        pile: Pile::new(product.width() + N_BESIDE),
        tally: Tally::new(budget),
    };
    let stop = match begin(product, &common) {
        Err(stop) => Some(stop),
        Ok(()) => common.tally.run(product, budget, |worker, product, budget| {
            let mut searcher = Searcher::new(product, &common, budget);
            let searched = searcher.run(worker);
            searcher.tell();
            searched
        }),
    };
    let stats = Stats { states: common.found.n_states(), ..common.tally.stats(common.bytes()) };
    let coverage = Some(common.found.coverage().min(common.left.coverage()));
    Ok(ProductOutcome { stats, system_states: None, stop, coverage })
}

/// Puts the initial states on the pile.
fn begin<S: System, O: Portable>(
    product: &mut Product<'_, S, O>,
    common: &Common,
) -> Result<(), ProductStop> {
    let (mut found, mut pen) = (common.found.handle(), Pen::default());
    let mut waiting = Vec::new();
    for (index, state) in product.initial_states()? {
        if found.insert(&state) {
            let note = pen.add(&common.notes, &[NOTHING, index as u32, state[state.len() - 1]])?;
            waiting.extend(state);
            waiting.extend([note, 0]);
        }
    }
    common.pile.put(&waiting);
    Ok(())
}

/// One worker.
struct Searcher<'e, 'a, S: System, O> {
    product: &'e mut Product<'a, S, O>,
    common: &'e Common,
    budget: Budget<'e>,
    found: BitsHandle<'e>,
    left: BitsHandle<'e>,
    pen: Pen,
    has_livelocks: bool,
    steps: ProductSteps,
    stack: Stack,
    /// Per state on the stack, what is to be counted when it is left.
    notes: Vec<u32>,
    /// How far the state at its bottom is from the beginning.
    start: u32,
    /// States that wait.
    own: Vec<u32>,
    target: Vec<u32>,
    count: Count<'e>,
}

impl<'e, 'a, S: System, O: Portable> Searcher<'e, 'a, S, O> {
    fn new(
        product: &'e mut Product<'a, S, O>,
        common: &'e Common,
        budget: Budget<'e>,
    ) -> Searcher<'e, 'a, S, O> {
        let width = product.width();
        Searcher {
            common,
            budget,
            found: common.found.handle(),
            left: common.left.handle(),
            pen: Pen::default(),
            has_livelocks: product.observer().has_livelocks(),
            steps: product.new_steps(),
            stack: Stack::new(width),
            notes: Vec::new(),
            start: 0,
            own: Vec::new(),
            target: vec![0; width],
            product,
            count: Count::new(&common.tally),
        }
    }

    fn run(&mut self, worker: Worker) -> Result<(), End> {
        let common = self.common;
        common.pile.join(worker.of);
        let width = self.product.width();
        let mut state = vec![0; width];
        loop {
            while let Some(start) = self.own.len().checked_sub(width + N_BESIDE) {
                state.copy_from_slice(&self.own[start..start + width]);
                let note = self.own[start + width];
                self.start = self.own[start + width + 1];
                self.own.truncate(start);
                // Without livelock states, nobody can have entered it.
                if !self.has_livelocks || !self.left.contains(&state) {
                    self.enter(&state, Pending::default(), note)?;
                    self.follow()?;
                }
                common.pile.share(&mut self.own);
            }
            let Searcher { own, budget, .. } = self;
            let wait = || {
                if common.tally.alarm.is_rung() {
                    return Err(End::Stopped);
                }
                Ok(budget.poll(&common.progress())?)
            };
            if !common.pile.take(own, wait)? {
                return Ok(());
            }
        }
    }

    /// Follows silent steps from the state on the stack.
    fn follow(&mut self) -> Result<(), End> {
        let mut target = std::mem::take(&mut self.target);
        while !self.stack.is_empty() {
            match self.stack.next(&mut target) {
                None => {
                    let is_first = self.left.insert(self.stack.top());
                    let note = self.notes.pop().unwrap_or(0);
                    if is_first {
                        self.add(note);
                    }
                    self.stack.pop();
                }
                Some(step) => {
                    if let Some(frame) = self.stack.find(&target) {
                        return Err(End::Stop(self.livelock(frame, step.action)));
                    }
                    if !self.left.contains(&target) {
                        self.found.insert(&target);
                        let note = self.note(self.stack.top_tag(), step.action, &target)?;
                        self.enter(&target, step, note)?;
                    }
                }
            }
        }
        self.target = target;
        Ok(())
    }

    fn note(&mut self, parent: u32, action: Option<ActionId>, target: &[u32]) -> Result<u32, Limit> {
        let action = action.map_or(0, |action| action.index() as u32);
        self.pen.add(&self.common.notes, &[parent, action, target[target.len() - 1]])
    }

    /// Looks at the steps of a state. In a livelock state silent ones wait on the stack; the targets of all others wait for
    /// whoever takes them.
    fn enter(&mut self, state: &[u32], via: Pending, note: u32) -> Result<(), End> {
        if self.has_livelocks {
            self.stack.push(state, via, note)?;
        }
        let depth = self.start + self.stack.len().saturating_sub(1) as u32;
        self.count.depth = self.count.depth.max(u64::from(depth));
        let mut steps = std::mem::replace(&mut self.steps, self.product.new_steps());
        let expanded = self.look_at(state, note, &mut steps)?;
        let waits = |step: &ProductStep| step.silent && expanded.stance.livelock;
        let mut target = vec![0; state.len()];
        for step in steps.steps.iter().filter(|step| !waits(step)) {
            steps.copy_target(step, &mut target);
            if self.found.insert(&target) {
                let note = self.note(note, step.action, &target)?;
                self.own.try_reserve(target.len() + N_BESIDE).map_err(|_| OutOfMemory)?;
                self.own.extend(&target);
                self.own.extend([note, depth + 1]);
            }
        }
        let counted = (steps.steps.len() as u32) << 1 | u32::from(expanded.is_deadlock);
        if self.has_livelocks {
            for step in steps.steps.iter().rev().filter(|step| waits(step)) {
                steps.copy_target(step, &mut target);
                self.stack.add_pending(Pending { action: step.action, flag: false }, &target)?;
            }
            self.notes.push(counted);
        } else {
            self.add(counted);
        }
        self.steps = steps;
        self.poll()
    }

    fn add(&mut self, note: u32) {
        self.count.transitions += u64::from(note >> 1);
        self.count.deadlocks += u64::from(note & 1);
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
        let notes = &self.common.notes;
        let expanded = expanded.map_err(|error| ProductStop::trouble(error, || notes.run_to(note).0))?;
        let violation = match expanded {
            Expanded { stance, .. } if stance.at_once => Violation::AtOnce,
            Expanded { is_error: true, .. } => Violation::Deadlock,
            _ => return Ok(expanded),
        };
        let (run, observer_states) = notes.run_to(note);
        Err(ProductStop::Found(Evidence { violation, run, cycle_start: None, observer_states }))
    }

    /// The run to the bottom of the stack, along the stack, and back to one of its frames.
    fn livelock(&self, frame: usize, action: Option<ActionId>) -> ProductStop {
        let (Run { initial, mut actions }, mut observer_states) =
            self.common.notes.run_to(self.stack.bottom_tag());
        let cycle_start = Some(actions.len() + self.stack.n_actions_to(frame));
        actions.extend(self.stack.actions_from(1));
        actions.extend(action);
        let run = Run { initial, actions };
        // In a livelock the observer stays where it is.
        observer_states.resize(run.actions.len() + 1, self.stack.observer(frame));
        ProductStop::Found(Evidence { violation: Violation::Livelock, run, cycle_start, observer_states })
    }

    fn poll(&mut self) -> Result<(), End> {
        if self.count.is_due()? {
            self.tell();
        }
        Ok(self.budget.poll(&self.common.progress())?)
    }

    /// Tells what was counted.
    fn tell(&mut self) {
        self.found.tell();
        self.left.tell();
        let own_bytes = self.stack.bytes() + 4 * (self.own.capacity() + self.notes.capacity()) as u64;
        self.count.tell(own_bytes, self.common.bytes());
    }
}
