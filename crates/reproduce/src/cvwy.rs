//! The nested depth-first search that [hansen.02.fmics] compares with, as it was published:
//! [courcoubetis.92.fmsd]. Its inner search, which starts when the outer one backtracks from an accepting
//! state, looks for that state alone.
//!
//! The nested search of `check` is a later one, which stops at any state on the outer stack
//! [holzmann.96.spin] and finds livelocks with far fewer states; who wants to repeat what [hansen.02.fmics]
//! measured needs this one. It is made for one claim, “some day a proposition is true for ever”, and its
//! automaton with labels on states: one that waits, and one that is accepting, where the proposition is true.

use std::collections::HashMap;

use stubborn::base::{Budget, Progress};
use stubborn::model::{self, ActionSystem, Steps, System as _};

use crate::lab::Halt;

/// In which order successors are taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    /// The accepting state of the automaton first.
    pub(crate) accepting_first: bool,
    /// The steps of the system backwards.
    pub(crate) reverse: bool,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) livelock: bool,
    /// States of the product that the outer search stored; the inner one visits no others.
    pub(crate) states: u64,
    /// Steps of both searches.
    pub(crate) transitions: u64,
}

/// A state of the product: twice the number of the system's, and 1 if the automaton accepts.
type Pair = u32;

/// Looks for a run on which a proposition is true for ever from some point on.
pub(crate) fn search(
    system: &ActionSystem,
    proposition: usize,
    order: Order,
    budget: &mut Budget<'_>,
) -> Result<Found, Halt> {
    let mut product = Product {
        system,
        proposition,
        order,
        numbers: HashMap::new(),
        states: Vec::new(),
        is_true: Vec::new(),
        successors: Vec::new(),
        scratch: system.new_scratch(),
    };
    let mut initial = Vec::new();
    system.initial_states(&mut initial);
    let mut search = Search { seen: Vec::new(), nested: Vec::new(), states: 0, transitions: 0 };
    for state in initial.chunks_exact(system.width()) {
        let number = product.number(state)?;
        let mut roots = Vec::new();
        product.push_pairs(number, &mut roots);
        for root in roots {
            if search.outer(&mut product, root, budget)? {
                return Ok(Found { livelock: true, states: search.states, transitions: search.transitions });
            }
        }
    }
    Ok(Found { livelock: false, states: search.states, transitions: search.transitions })
}

struct Product<'s> {
    system: &'s ActionSystem,
    proposition: usize,
    order: Order,
    numbers: HashMap<Box<[u32]>, u32>,
    states: Vec<Box<[u32]>>,
    is_true: Vec<bool>,
    /// Of each state that was expanded, the numbers of those after it.
    successors: Vec<Option<Vec<u32>>>,
    scratch: <ActionSystem as model::System>::Scratch,
}

impl Product<'_> {
    fn number(&mut self, state: &[u32]) -> Result<u32, Halt> {
        if let Some(&number) = self.numbers.get(state) {
            return Ok(number);
        }
        let number = u32::try_from(self.states.len()).ok().filter(|number| *number < u32::MAX / 2);
        let number = number.ok_or_else(|| Halt::Trouble("too many states".to_owned()))?;
        self.is_true.push(self.system.holds(self.proposition, state, &mut self.scratch).map_err(fault)?);
        self.states.push(state.into());
        self.successors.push(None);
        self.numbers.insert(state.into(), number);
        Ok(number)
    }

    /// The states of the product that a state of the system is in, in order.
    fn push_pairs(&self, number: u32, out: &mut Vec<Pair>) {
        let waiting = 2 * number;
        match (self.is_true[number as usize], self.order.accepting_first) {
            (false, _) => out.push(waiting),
            (true, true) => out.extend([waiting + 1, waiting]),
            (true, false) => out.extend([waiting, waiting + 1]),
        }
    }

    fn expand(&mut self, number: u32) -> Result<(), Halt> {
        if self.successors[number as usize].is_some() {
            return Ok(());
        }
        let mut steps = Steps::new(self.system.width());
        let state = self.states[number as usize].clone();
        self.system.successors(&state, &mut self.scratch, &mut steps).map_err(fault)?;
        let mut targets = Vec::with_capacity(steps.len());
        for (_, target) in steps.iter() {
            targets.push(self.number(target)?);
        }
        if self.order.reverse {
            targets.reverse();
        }
        self.successors[number as usize] = Some(targets);
        Ok(())
    }

    /// What comes after a state of the product. Who accepts goes on accepting, or has no run.
    fn after(&mut self, pair: Pair) -> Result<Vec<Pair>, Halt> {
        self.expand(pair / 2)?;
        let targets = self.successors[pair as usize / 2].as_deref().unwrap_or_default();
        let mut pairs = Vec::with_capacity(targets.len());
        for &target in targets {
            if pair.is_multiple_of(2) {
                self.push_pairs(target, &mut pairs);
            } else if self.is_true[target as usize] {
                pairs.push(2 * target + 1);
            }
        }
        Ok(pairs)
    }
}

fn fault(error: model::StepError) -> Halt {
    Halt::Trouble(format!("the model goes wrong: {:?}", error.fault))
}

struct Search {
    seen: Vec<bool>,
    nested: Vec<bool>,
    states: u64,
    transitions: u64,
}

/// Adds a state to a set; returns whether it is new.
fn insert(set: &mut Vec<bool>, pair: Pair) -> bool {
    let index = pair as usize;
    if set.len() <= index {
        set.resize(index + 1, false);
    }
    !std::mem::replace(&mut set[index], true)
}

/// The states on a path, with what is left to do in each.
type Stack = Vec<(Pair, std::vec::IntoIter<Pair>)>;

impl Search {
    fn enter(&mut self, product: &mut Product<'_>, pair: Pair, stack: &mut Stack) -> Result<(), Halt> {
        let after = product.after(pair)?;
        self.transitions += after.len() as u64;
        stack.push((pair, after.into_iter()));
        Ok(())
    }

    fn outer(
        &mut self,
        product: &mut Product<'_>,
        root: Pair,
        budget: &mut Budget<'_>,
    ) -> Result<bool, Halt> {
        let mut stack = Stack::new();
        if insert(&mut self.seen, root) {
            self.states += 1;
            self.enter(product, root, &mut stack)?;
        }
        while let Some((pair, rest)) = stack.last_mut() {
            let pair = *pair;
            match rest.next() {
                Some(next) if insert(&mut self.seen, next) => {
                    self.states += 1;
                    let progress = Progress { states: self.states, ..Progress::default() };
                    budget.poll(&progress).map_err(|limit| Halt::Trouble(limit.to_string()))?;
                    self.enter(product, next, &mut stack)?;
                }
                Some(_) => {}
                None => {
                    stack.pop();
                    if !pair.is_multiple_of(2) && self.inner(product, pair)? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Whether there is a way from an accepting state back to it, through states that no inner search has
    /// seen.
    fn inner(&mut self, product: &mut Product<'_>, seed: Pair) -> Result<bool, Halt> {
        let mut stack = Stack::new();
        if insert(&mut self.nested, seed) {
            self.enter(product, seed, &mut stack)?;
        }
        while let Some((_, rest)) = stack.last_mut() {
            match rest.next() {
                Some(next) if next == seed => return Ok(true),
                Some(next) if insert(&mut self.nested, next) => self.enter(product, next, &mut stack)?,
                Some(_) => {}
                None => {
                    stack.pop();
                }
            }
        }
        Ok(false)
    }
}
