//! Chains: several actions that happen as one step.
//!
//! After some actions one process *goes on* ([`Builder::goes_on`](crate::Builder::goes_on)): nobody else
//! does anything until it has come to an action after which nobody goes on, or cannot do anything more.
//! What lies between is no state of the system: searches, observers and propositions never see it. This
//! is `atomic` of Promela, with its two rules: who blocks loses the privilege, and who meets somebody at
//! a rendezvous may pass it on.
//!
//! Between the ends of a step every state is passed once: of several ways to it one is taken, and a chain
//! that comes back to where it was, and could go round for ever inside one step, is left out. Where
//! nothing else is left, or a chain is longer than anybody can have meant, it is a fault: nothing is ever
//! left out silently because it is long.
//!
//! # Numbers
//! To everybody else a chain is one deterministic action. The steps that begin with an action in a state
//! are counted, in the order of a depth-first walk that tries actions in the order of their numbers; the
//! number of a step is that of the action plus its place in this order times the number of all actions
//! ([`first`] undoes that). So a step that is alone has the number of the action it begins with; a number depends on
//! the state and the chain, never on what was met before, and a run of 32 bits per step means the same to
//! every copy of the system, in every thread, on every machine. There is no table, and nothing to lock.
//!
//! The price is that a number says what happens only together with the state it happens in, and that to
//! take such a step again is to walk again ([`reference::parts`](crate::reference::parts) tells what a step
//! consists of). Where a search lists steps and then takes them, the targets are at hand from the
//! listing.

use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;

use rustc_hash::{FxHashMap, FxHasher};

use crate::code::Scratch;
use crate::{ActionId, ActionSystem, Fault, ProcessId, StepError};

/// Longer chains count as endless.
pub(crate) const MAX_LENGTH: usize = 1 << 14;

/// Chains of up to this many actions without a choice are not looked at for rounds.
const UNWATCHED: usize = 32;

/// The targets of listed chains are kept if they take no more words than this.
const MAX_LISTED: usize = 1 << 16;

/// The action that a step begins with, in a system of so many actions.
#[inline]
pub fn first(step: ActionId, n_actions: usize) -> ActionId {
    if step.index() < n_actions { step } else { ActionId::new(step.index() % n_actions) }
}

/// The number of a step, given by its place among those that begin with the same action; none if there are
/// too many.
pub(crate) fn number(first: ActionId, place: usize, n_actions: usize) -> Option<ActionId> {
    let number = place.checked_mul(n_actions)?.checked_add(first.index())?;
    // The largest number stands for none in some tables.
    (number < u32::MAX as usize).then(|| ActionId::new(number))
}

/// Working memory for one step.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChainScratch {
    /// The states along the chain, one after the other.
    states: Vec<u32>,
    /// The actions between them.
    path: Vec<ActionId>,
    /// What is left to try: at which depth, and what.
    pending: Vec<(u32, ActionId)>,
    passed: Passed,
    listed: Listed,
}

/// The states that were passed, each with who goes on there.
#[derive(Clone, Debug, Default)]
struct Passed {
    /// Records of a state and a process, one after the other.
    words: Vec<u32>,
    /// By hash: the last record that has it, plus one.
    last: FxHashMap<u64, u32>,
    /// Per record: the one before it with the same hash, plus one.
    before: Vec<u32>,
}

impl Passed {
    fn clear(&mut self) {
        self.words.clear();
        self.last.clear();
        self.before.clear();
    }

    /// Whether a state is passed for the first time.
    fn insert(&mut self, state: &[u32], process: ProcessId) -> bool {
        let width = state.len() + 1;
        let start = self.words.len();
        self.words.extend_from_slice(state);
        self.words.push(process.index() as u32);
        let (known, new) = self.words.split_at(start);
        let mut hasher = FxHasher::default();
        new.hash(&mut hasher);
        let last = self.last.entry(hasher.finish()).or_insert(0);
        let mut at = *last as usize;
        while at > 0 {
            if known[(at - 1) * width..at * width] == *new {
                self.words.truncate(start);
                return false;
            }
            at = self.before[at - 1] as usize;
        }
        self.before.push(*last);
        *last = self.before.len() as u32;
        true
    }
}

/// The chains out of the state whose steps were listed last, and where they lead.
#[derive(Clone, Debug, Default)]
struct Listed {
    state: Vec<u32>,
    steps: Vec<ActionId>,
    targets: Vec<u32>,
}

impl ChainScratch {
    /// The steps out of a state are about to be listed.
    pub(crate) fn list(&mut self, from: &[u32]) {
        let Listed { state, steps, targets } = &mut self.listed;
        state.clear();
        state.extend_from_slice(from);
        steps.clear();
        targets.clear();
    }
}

// Out of line: the code for steps of one action stays small.
impl ActionSystem {
    /// Walks along the chains that begin with an enabled action, depth first, and calls `visit` with the number and
    /// the actions of each step and the state it leads to, until that has seen enough.
    #[inline(never)]
    pub(crate) fn for_each_chain(
        &self,
        state: &[u32],
        first: ActionId,
        scratch: &mut Scratch,
        visit: impl FnMut(ActionId, &[ActionId], &[u32]) -> ControlFlow<()>,
    ) -> Result<(), StepError> {
        let mut work = std::mem::take(&mut scratch.chain);
        let result = self.walk(state, first, scratch, &mut work, visit);
        scratch.chain = work;
        result
    }

    fn walk(
        &self,
        state: &[u32],
        first: ActionId,
        scratch: &mut Scratch,
        work: &mut ChainScratch,
        mut visit: impl FnMut(ActionId, &[ActionId], &[u32]) -> ControlFlow<()>,
    ) -> Result<(), StepError> {
        let width = state.len();
        let endless = || StepError { fault: Fault::Endless, action: Some(first) };
        let ChainScratch { states, path, pending, passed, .. } = work;
        states.clear();
        states.extend_from_slice(state);
        path.clear();
        passed.clear();
        pending.clear();
        pending.push((0, first));
        let (mut n_ends, mut is_watched) = (0, false);
        while let Some((depth, action)) = pending.pop() {
            // What lies on the path from here on was left.
            let depth = depth as usize;
            path.truncate(depth);
            path.push(action);
            states.truncate((depth + 1) * width);
            states.extend_from_within(depth * width..);
            let here = (depth + 1) * width..;
            self.code.fire(action, &mut states[here.clone()], scratch)?;
            let n_pending = pending.len();
            if let Some(process) = self.next_process(action) {
                if depth >= MAX_LENGTH {
                    return Err(endless());
                }
                let state = &states[here.clone()];
                if is_watched && !passed.insert(state, process) {
                    continue;
                }
                self.index.for_each_candidate_of(process, state, |next| {
                    let is_its_turn = self.actions[next.index()].owners.first() == Some(&process);
                    if is_its_turn && !self.is_quiet(next) && self.code.is_enabled(next, state, scratch)? {
                        pending.push((depth as u32 + 1, next));
                    }
                    Ok(())
                })?;
                // The first is tried first, so it comes last.
                pending[n_pending..].sort_unstable_by(|one, other| other.cmp(one));
                if !is_watched && (depth >= UNWATCHED || pending.len() > n_pending + 1) {
                    // So far there was one way, so the states that were passed are those on the path. Most
                    // chains are short and have no choice: their states are never collected.
                    is_watched = true;
                    for (state, &action) in states.chunks_exact(width).skip(1).zip(&*path) {
                        // Somebody went on after each of them, or it would not be on the path.
                        if let Some(process) = self.next_process(action) {
                            passed.insert(state, process);
                        }
                    }
                }
            }
            if pending.len() == n_pending {
                let step = number(first, n_ends, self.actions.len()).ok_or_else(endless)?;
                n_ends += 1;
                if visit(step, path, &states[here]).is_break() {
                    return Ok(());
                }
            }
        }
        if n_ends == 0 { Err(endless()) } else { Ok(()) }
    }

    /// Appends the chains that begin with an enabled action, which others may follow, and keeps their targets in mind.
    #[inline(never)]
    pub(crate) fn list_chains(
        &self,
        state: &[u32],
        first: ActionId,
        scratch: &mut Scratch,
        out: &mut Vec<ActionId>,
    ) -> Result<(), StepError> {
        let mut listed = std::mem::take(&mut scratch.chain.listed);
        let result = self.for_each_chain(state, first, scratch, |step, _, target| {
            out.push(step);
            if listed.targets.len() < MAX_LISTED {
                listed.steps.push(step);
                listed.targets.extend_from_slice(target);
            }
            ControlFlow::Continue(())
        });
        scratch.chain.listed = listed;
        result
    }

    /// Takes a step that begins with an action which others may follow.
    #[inline(never)]
    pub(crate) fn fire_chain(
        &self,
        state: &mut [u32],
        step: ActionId,
        scratch: &mut Scratch,
    ) -> Result<(), StepError> {
        let Listed { state: at, steps, targets } = &scratch.chain.listed;
        if at == state
            && let Some(index) = steps.iter().position(|&listed| listed == step)
        {
            state.copy_from_slice(&targets[index * state.len()..(index + 1) * state.len()]);
            return Ok(());
        }
        let first = first(step, self.actions.len());
        self.for_each_chain(state, first, scratch, |number, _, _| {
            if number == step { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        // The walk ended with the step.
        let states = &scratch.chain.states;
        state.copy_from_slice(&states[states.len() - state.len()..]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Builder, Guard, Steps, Stmt, System as _, ValueSet, Variable};

    /// Counts up as long as it likes, in one step, and says so.
    fn counter(max: i64) -> ActionSystem {
        let mut builder = Builder::new();
        let owner = builder.process("counter");
        let x = builder.variable(Variable::new("x", 0, max));
        let said = builder.variable(Variable::new("said", 0, 1));
        let label = builder.label("count");
        let mut action = |guard: Guard, effect: Stmt| {
            let guards = vec![builder.guard(guard)];
            builder.action(Action { label, guards, effect: vec![effect], owners: vec![owner] })
        };
        let up = action(Guard::In(x, ValueSet::Range(0, max - 1)), Stmt::Add(x, 1));
        action(Guard::equals(said, 0), Stmt::set(said, 1));
        builder.goes_on(up, owner);
        builder.initial(&[0, 0]);
        builder.finish().unwrap()
    }

    #[test]
    fn a_chain_that_is_too_long_is_a_fault_though_others_end() {
        for (max, n_steps) in [(100, Some(101)), (MAX_LENGTH as i64, Some(MAX_LENGTH + 1)), (20_000, None)] {
            let system = counter(max);
            let state: Vec<u32> = system.initial().next().unwrap().to_vec();
            let mut steps = Steps::new(system.width());
            let result = system.successors(&state, &mut system.new_scratch(), &mut steps);
            match n_steps {
                Some(n_steps) => assert_eq!((result, steps.len()), (Ok(()), n_steps)),
                None => assert_eq!(result.unwrap_err().fault, Fault::Endless),
            }
        }
    }
}
