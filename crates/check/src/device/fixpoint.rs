//! Whether there is an accepted cycle in a product, on a device: liveness without a depth-first order.
//!
//! It is the fixpoint of [`distributed::fixpoint`](crate::distributed), whose head says why it is right: states are removed that have no
//! predecessor, or that no step with some mark leads to; something is left iff there is an accepted cycle. Here every state has two words:
//! in the first one, whether it was not removed, waits, or is to leave, and how many predecessors it has; in the second one, the
//! marks that were seen on the way there. Edges are not kept, but found again.
//!
//! Each round goes over all states, and most lanes see by the first word that there is nothing to do. So a round costs four bytes a state
//! beside the steps that are taken, and there are as many rounds as the longest way that something spreads on.
//!
//! If something is left, there is no run here: the processor looks for one.

use base::Limit;
use model::System;

use super::job::{Marks, Spread};
use super::levels::Levels;
use super::space::{Paired, Space as _};
use crate::fairness::{About, Acceptance, Block, add};
use crate::observer::Observer;

/// A state was not removed; it waits; it is to leave; below are its predecessors that were not removed.
pub(super) const ALIVE: u32 = 1 << 31;
pub(super) const WAITS: u32 = 1 << 30;
pub(super) const LEAVES: u32 = 1 << 29;
pub(super) const COUNT: u32 = LEAVES - 1;

/// States that are looked at between two looks at the clock, where nothing is hard.
const MANY: u64 = 1 << 26;

/// Which cycles are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Of all steps.
    Cycles,
    /// Of silent steps among livelock states.
    Livelocks,
}

/// What spreads, of which marks.
#[derive(Clone, Copy)]
struct Doing {
    what: Spread,
    scope: Scope,
    block: Option<Block>,
    marks: Marks,
}

impl<S: System, O: Observer> Levels<'_, '_, '_, Paired<'_, '_, S, O>> {
    /// Whether there is an accepted cycle among the states that were found, which are all.
    pub(super) fn has_cycle(&mut self, scope: Scope, acceptance: &Acceptance) -> Result<bool, Limit> {
        if self.begin_cycles(scope)? == 0 {
            return Ok(false);
        }
        let doing = |what| Doing { what, scope, block: None, marks: Marks::default() };
        self.spread(doing(Spread::Count))?;
        self.trim(doing(Spread::Trim))?;
        let blocks = acceptance.blocks();
        loop {
            if self.spread(doing(Spread::Wait))? == 0 {
                return Ok(false);
            }
            let mut n_leaving = 0;
            for &block in &blocks {
                let marks = self.marks(block);
                let doing = |what| Doing { what, scope, block: Some(block), marks };
                self.job.see_nothing()?;
                self.spread(doing(Spread::Wait))?;
                while self.spread(doing(Spread::Reach))? > 0 {}
                n_leaving += self.spread(doing(Spread::Leave))?;
                self.trim(doing(Spread::Trim))?;
            }
            if n_leaving == 0 {
                return Ok(true);
            }
        }
    }

    fn trim(&mut self, doing: Doing) -> Result<(), Limit> {
        while self.spread(doing)? > 0 {}
        Ok(())
    }

    /// The marks of a block, as a device knows them.
    fn marks(&self, block: Block) -> Marks {
        let (kind, word) = match self.space.product.fairness().about(block.word) {
            About::Observer(word) => (0, word),
            About::Weak(word) => (1, word),
            // Only of the states that enable it.
            About::Enabled(word) | About::Taken(word) => (2, word),
        };
        Marks { kind, word: word as u64, bits: block.bits }
    }

    /// How many states at once.
    fn chunk(&self) -> u64 {
        if self.is_easy() { MANY } else { self.job.plan.chunk }
    }

    /// The states that a search for cycles is about; says how many there are.
    fn begin_cycles(&mut self, scope: Scope) -> Result<u64, Limit> {
        let (mut from, end, mut n_alive) = (0, self.n_ids(), 0);
        while from < end {
            let n = (end - from).min(self.chunk());
            let counts = self.job.begin_cycles(from, n, scope == Scope::Livelocks)?;
            from += n;
            n_alive += counts.found;
            let mut told = Vec::new();
            for state in self.notes(counts.notes)? {
                let (system, observer) = self.space.part(&state);
                // It was looked at before, and nothing went wrong.
                let stance = self.space.product.stance(&system, observer).map_err(|_| Limit::Device)?;
                let is_in = if scope == Scope::Livelocks { stance.livelock } else { !stance.passing };
                told.push((state, if is_in { ALIVE } else { 0 }));
                n_alive += u64::from(is_in);
            }
            self.job.tell(Spread::Begin, &told)?;
            self.poll()?;
        }
        Ok(n_alive)
    }

    /// The states that a kernel has left to the processor.
    fn notes(&mut self, n: u64) -> Result<Vec<Vec<u32>>, Limit> {
        match n > 0 && self.is_easy() {
            true => Err(Limit::Device),
            false => self.job.notes(n),
        }
    }

    /// One round; says how many states had something to do.
    fn spread(&mut self, doing: Doing) -> Result<u64, Limit> {
        let (mut from, end, mut n_found) = (0, self.n_ids(), 0);
        let (only_silent, is_easy) = (doing.scope == Scope::Livelocks, self.is_easy());
        let kernel = self.kernels.spread;
        while from < end {
            let n = (end - from).min(self.chunk());
            let counts = self.job.spread(kernel, (from, n), doing.what, only_silent, is_easy, doing.marks)?;
            from += n;
            n_found += counts.found;
            for state in self.notes(counts.notes)? {
                n_found += self.spread_here(&state, doing)?;
            }
            self.poll()?;
        }
        Ok(n_found)
    }

    /// The same from one state by the processor. A device has noted that the state has something to do.
    fn spread_here(&mut self, state: &[u32], doing: Doing) -> Result<u64, Limit> {
        let found = self.space.expand(state).map_err(|_| Limit::Device)?;
        let seen = match doing.block {
            Some(_) if matches!(doing.what, Spread::Reach | Spread::Leave) => {
                self.job.seen(&[state.to_vec()])?.first().copied().ok_or(Limit::Device)?
            }
            _ => 0,
        };
        let Paired { product, steps, .. } = &self.space;
        if let (Spread::Leave, Some(block)) = (doing.what, doing.block) {
            let enabled = block.where_enabled.map_or(u32::MAX, |word| steps.state_marks[word]);
            let is_missing = block.bits & !seen & enabled != 0;
            if is_missing {
                self.job.tell(Spread::Leave, &[(state.to_vec(), 0)])?;
            }
            return Ok(u64::from(is_missing));
        }
        let (mut marks, mut told) = (Vec::new(), Vec::new());
        for number in 0..found.n_steps {
            let step = &steps.steps[number];
            if doing.scope == Scope::Livelocks && !step.silent {
                continue;
            }
            let mut what = 0;
            if let (Spread::Reach, Some(block)) = (doing.what, doing.block) {
                product.fairness().step_marks(step.marks, step.action, &mut marks);
                add(&mut marks, &steps.state_marks);
                what = seen | marks[block.word] & block.bits;
            }
            let mut target = vec![0; self.space.width()];
            self.space.step(number, &mut target);
            told.push((target, what));
        }
        self.job.tell(doing.what, &told)?;
        Ok(0)
    }
}
