//! Nested depth-first search by several workers: how one of them goes.
//!
//! # Idea
//! CNDFS of Evangelista, Laarman, Petrucci and van de Pol (ATVA 2012). Every worker searches depth first, in an order of its own. A
//! state that one of them has left, with all that it leads to, is *blue*: others do not enter it. As in
//! [`nested_dfs`](crate::search::nested_dfs), a marked step is thought to go through a middle state, and these are the accepting
//! ones. When a worker leaves a middle state, it looks whether a way leads from there back onto its own path: that is a cycle.
//! What it met on the way is *red* then: no way leads from there to a cycle, so that others need not look. But it waits first until all middle states
//! that it met are red, since others may be about to find the cycle through those.
//!
//! # Why it is right
//! The proof of the paper is for accepting states. Here these are the middle states, of which there is one for all marked steps that lead to
//! the same state: a run takes marked steps to a state for ever iff it is in their common middle state for ever. It is blue when it is red, which
//! is all that is remembered of it (color [`Color::Middle`] of the state behind it). That nobody waits for ever is proved there, too.
//!
//! That holds for exact sets. Where a state may be taken for another (bits), a middle state may be met that nobody ever enters, and
//! who waits for it stops waiting when all others wait, too, or are done. Then, and only then, is something missed that was not taken for something else.
//!
//! # Differences from the paper
//! The search for a way back goes breadth first, over states that the worker lists with the step that led to each: so the way is known, and there is no second stack.

use base::Limit;
use model::{ActionId, Run};

use crate::search::stack::{Pending, Stack};
use crate::sync::{AtomicU64, Mutant, Ordering, is, pause};

/// What is remembered of a state, for all workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Color {
    /// It was left, with all that it leads to.
    Blue,
    /// No way leads from it to a cycle with a marked step, as far as that is not about to be found.
    Red,
    /// The same of the middle state before it.
    Middle,
}

/// Sets of states, as one worker sees them.
pub(crate) trait Colors {
    /// Whether states may be taken for others.
    const IS_LOSSY: bool;

    fn has(&mut self, color: Color, state: &[u32]) -> bool;

    /// Colors a state; returns whether nobody did before.
    fn add(&mut self, color: Color, state: &[u32]) -> Result<bool, Limit>;
}

/// The steps out of a state: each with its action, and whether it is marked; and their targets, one after the other.
#[derive(Default)]
pub(crate) struct Outgoing {
    pub(crate) steps: Vec<Pending>,
    pub(crate) targets: Vec<u32>,
}

/// A way through the graph, and the observer's states along it.
pub(crate) struct Way {
    pub(crate) run: Run,
    pub(crate) observers: Vec<u32>,
}

/// A graph, as one worker sees it.
pub(crate) trait Graph {
    /// Why a state was not expanded.
    type Trouble;
    /// Why a search ends early.
    type End: From<Limit>;

    /// Puts the steps of a state into `out`, which is empty. `is_first` unless the state is looked at for a way back. Returns what is to be counted.
    fn expand(&mut self, state: &[u32], is_first: bool, out: &mut Outgoing) -> Result<u32, Self::Trouble>;

    /// A state was not expanded; this way leads there.
    fn trouble(&mut self, trouble: Self::Trouble, way: Way) -> Self::End;

    /// There is a cycle with a marked step, which begins after so many actions of a way.
    fn cycle(&mut self, way: Way, start: usize) -> Self::End;

    /// What is to be counted of a state that became blue, or red; each is told once.
    fn count(&mut self, note: u32, color: Color);

    /// Called now and then: whether to end.
    fn poll(&mut self, depth: u64, bytes: u64) -> Result<(), Self::End>;
}

/// One worker.
pub(crate) struct Walk<'c, C> {
    colors: C,
    /// How many workers there are, and how many of them wait or are done.
    n_workers: u64,
    n_idle: &'c AtomicU64,
    /// Which initial state is at the bottom of the path.
    initial: usize,
    path: Stack,
    /// What was met behind a middle state: the tag is the one before.
    behind: Stack,
    notes: Vec<u32>,
    /// States whose middle states were met there, one after the other.
    middles: Vec<u32>,
    out: Outgoing,
    target: Vec<u32>,
    width: usize,
    longest: u64,
    random: u32,
}

impl<'c, C: Colors> Walk<'c, C> {
    /// A worker of so many, that has not begun.
    pub(crate) fn new(
        width: usize,
        worker: usize,
        n_workers: usize,
        colors: C,
        n_idle: &'c AtomicU64,
    ) -> Walk<'c, C> {
        Walk {
            colors,
            n_workers: n_workers as u64,
            n_idle,
            initial: 0,
            path: Stack::new(width),
            behind: Stack::new(width),
            notes: Vec::new(),
            middles: Vec::new(),
            out: Outgoing::default(),
            target: vec![0; width],
            width,
            longest: 0,
            random: (worker as u32).wrapping_mul(0x9E37_79B9),
        }
    }

    /// The longest path so far.
    pub(crate) fn longest(&self) -> u64 {
        self.longest
    }

    fn bytes(&self) -> u64 {
        self.path.bytes() + self.behind.bytes() + 4 * (self.notes.capacity() + self.middles.capacity()) as u64
    }

    /// Searches from some states, of the first of which this is the number; and is idle then.
    pub(crate) fn search<G: Graph>(
        &mut self,
        initial: &[(usize, Vec<u32>)],
        graph: &mut G,
    ) -> Result<(), G::End> {
        for (number, state) in initial {
            self.initial = *number;
            if !self.colors.has(Color::Blue, state) {
                self.enter(state, Pending::default(), graph)?;
                self.search_path(graph)?;
            }
        }
        self.n_idle.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn search_path<G: Graph>(&mut self, graph: &mut G) -> Result<(), G::End> {
        let mut target = std::mem::take(&mut self.target);
        while !self.path.is_empty() {
            match self.path.next(&mut target) {
                Some(step) => {
                    if self.path.find(&target).is_none() && !self.colors.has(Color::Blue, &target) {
                        self.enter(&target, step, graph)?;
                    } else if step.flag {
                        self.look_behind(step.action, &target, graph)?;
                    }
                }
                None => {
                    // Out of this state, and out of the middle state before it.
                    target.copy_from_slice(self.path.top());
                    let is_marked = self.path.top_flag();
                    let action = self.path.action(self.path.len() - 1);
                    if self.colors.add(Color::Blue, &target)? {
                        graph.count(self.path.top_tag(), Color::Blue);
                    }
                    self.path.pop();
                    if is_marked {
                        self.look_behind(action, &target, graph)?;
                    }
                }
            }
        }
        self.target = target;
        Ok(())
    }

    fn enter<G: Graph>(&mut self, state: &[u32], via: Pending, graph: &mut G) -> Result<(), G::End> {
        self.path.push(state, via, 0).map_err(Limit::from)?;
        self.longest = self.longest.max(self.path.len() as u64 - 1);
        let note = self.expand(state, true, graph)?;
        self.path.set_top_tag(note);
        let n = self.out.steps.len();
        // The first worker takes steps as they come, the others begin somewhere else.
        let first = if self.random == 0 { 0 } else { self.random() as usize % n.max(1) };
        for index in (first..n).chain(0..first).rev() {
            let target = &self.out.targets[index * self.width..][..self.width];
            self.path.add_pending(self.out.steps[index], target).map_err(Limit::from)?;
        }
        graph.poll(self.path.len() as u64, self.bytes())
    }

    fn expand<G: Graph>(&mut self, state: &[u32], is_first: bool, graph: &mut G) -> Result<u32, G::End> {
        self.out.steps.clear();
        self.out.targets.clear();
        graph.expand(state, is_first, &mut self.out).map_err(|trouble| {
            let behind = if is_first { None } else { Some(self.notes.len()) };
            graph.trouble(trouble, self.way(behind, None))
        })
    }

    fn random(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        self.random
    }

    /// Leaves the middle state of a marked step whose source is on top of the path: looks for a way from its target back onto the path.
    fn look_behind<G: Graph>(
        &mut self,
        marked: Option<ActionId>,
        from: &[u32],
        graph: &mut G,
    ) -> Result<(), G::End> {
        if let Some(frame) = self.path.find(from) {
            return Err(self.found(frame, None, marked, graph));
        }
        if self.colors.has(Color::Middle, from) {
            return Ok(());
        }
        self.behind.clear();
        self.notes.clear();
        self.middles.clear();
        if !self.colors.has(Color::Red, from) {
            let via = Pending { action: marked, flag: true };
            self.behind.push(from, via, u32::MAX).map_err(Limit::from)?;
            let mut state = from.to_vec();
            while self.notes.len() < self.behind.len() {
                state.copy_from_slice(self.behind.state(self.notes.len()));
                self.look_from(&state, from, graph)?;
            }
            self.wait(graph)?;
        }
        for (at, &note) in self.notes.iter().enumerate() {
            if self.colors.add(Color::Red, self.behind.state(at))? {
                graph.count(note, Color::Red);
            }
        }
        self.colors.add(Color::Middle, from)?;
        Ok(())
    }

    /// Looks at the steps of the first state behind the middle state that was not looked at.
    fn look_from<G: Graph>(&mut self, state: &[u32], seed: &[u32], graph: &mut G) -> Result<(), G::End> {
        let at = self.notes.len();
        let note = self.expand(state, false, graph)?;
        self.notes.push(note);
        for index in 0..self.out.steps.len() {
            let step = self.out.steps[index];
            let target = &self.out.targets[index * self.width..][..self.width];
            if let Some(frame) = self.path.find(target) {
                return Err(self.found(frame, Some(at), step.action, graph));
            }
            if step.flag && target == seed {
                return Err(self.found(self.path.len(), Some(at), step.action, graph));
            }
            if step.flag && !self.colors.has(Color::Middle, target) {
                self.middles.extend_from_slice(target);
            }
            if self.behind.find(target).is_none() && !self.colors.has(Color::Red, target) {
                self.behind.push(target, step, at as u32).map_err(Limit::from)?;
            }
        }
        graph.poll(self.path.len() as u64, self.bytes())
    }

    /// Waits until all middle states that were met are red.
    fn wait<G: Graph>(&mut self, graph: &mut G) -> Result<(), G::End> {
        let (mut n_spins, mut is_idle) = (0, false);
        while !self.middles.is_empty() && !is(Mutant::NoWaiting) {
            let start = self.middles.len() - self.width;
            if self.colors.has(Color::Middle, &self.middles[start..]) {
                self.middles.truncate(start);
                continue;
            }
            if !is_idle {
                self.n_idle.fetch_add(1, Ordering::SeqCst);
                is_idle = true;
            }
            if C::IS_LOSSY && self.n_idle.load(Ordering::SeqCst) == self.n_workers {
                break;
            }
            graph.poll(self.path.len() as u64, self.bytes())?;
            pause(&mut n_spins);
        }
        if is_idle {
            self.n_idle.fetch_sub(1, Ordering::SeqCst);
        }
        Ok(())
    }

    /// The cycle from a state of the path along it, behind the middle state at the end of it to one of those that were met there if that is
    /// wanted, and by a last step back. If the frame is none of the path, the cycle begins behind the middle state.
    fn found<G: Graph>(
        &self,
        frame: usize,
        behind: Option<usize>,
        last: Option<ActionId>,
        graph: &mut G,
    ) -> G::End {
        let way = self.way(behind, last);
        let start = match frame.checked_sub(self.path.len()) {
            None => self.path.n_actions_to(frame),
            Some(_) => {
                self.path.n_actions_to(self.path.len() - 1) + usize::from(self.behind.action(0).is_some())
            }
        };
        graph.cycle(way, start)
    }

    /// The way along the path, on to a state behind the middle state at its end, and by a last action, if these are wanted.
    fn way(&self, behind: Option<usize>, last: Option<ActionId>) -> Way {
        let mut actions: Vec<ActionId> = self.path.actions_from(1).collect();
        let mut observers: Vec<u32> = self.path.observers_from(0).collect();
        let mut along = Vec::new();
        let mut next = behind;
        while let Some(at) = next {
            along.push(at);
            next = Some(self.behind.tag(at) as usize).filter(|&before| before != u32::MAX as usize);
        }
        for at in along.into_iter().rev() {
            if let Some(action) = self.behind.action(at) {
                actions.push(action);
                observers.push(self.behind.observer(at));
            }
        }
        actions.extend(last);
        Way { run: Run { initial: self.initial, actions }, observers }
    }
}
