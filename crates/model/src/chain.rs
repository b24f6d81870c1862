//! Chains: several actions that happen as one step.
//!
//! After some actions one process *goes on* ([`Builder::goes_on`](crate::Builder::goes_on)): nobody else
//! does anything until it has come to an action after which nobody goes on, or cannot do anything more.
//! What lies between is no state of the system: searches, observers and propositions never see it. This
//! is `atomic` of Promela, with its two rules: who blocks loses the privilege, and who meets somebody at
//! a rendezvous may pass it on.
//!
//! Between the ends of a step every state is passed once: of several ways to it one is taken.
//!
//! # Going round
//! A process that can come back to where it was, and to the same state, without a pause can go on for ever:
//! that is an infinite run, and observers must see it. So a state to which a chain can come back is a state of
//! the system. The chain ends there, and a variable says that nobody but this process goes on
//! ([`Builder::may_go_round`](crate::Builder::may_go_round)). Whether a chain can come back to a state depends on
//! that state alone, not on where the chain began. Chains that come back nowhere, which is nearly all, end where
//! they did.
//!
//! However long a chain is, nothing is left out; one that needs too much memory is a limit
//! ([`Fault::TooLong`]), not a mistake.
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

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHasher};

use crate::code::Scratch;
use crate::{ActionId, ActionSystem, Fault, ProcessId, StepError, VarId};

/// The states that are passed in one step may take this many words.
const MAX_WORDS: usize = 1 << 24;

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

/// Who goes on alone from a state.
#[derive(Clone, Debug)]
pub(crate) struct Holder {
    /// Tells who it is; 0 if it is nobody.
    pub(crate) var: VarId,
    /// Who it may be.
    pub(crate) processes: Vec<ProcessId>,
}

impl Holder {
    /// What the variable is if it is this process, which it may be.
    pub(crate) fn value(&self, process: ProcessId) -> Option<i64> {
        self.processes.contains(&process).then(|| process.index() as i64 + 1)
    }
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
    /// What may come next.
    next: Vec<ActionId>,
    passed: Passed,
    /// Per state that was passed: at which depth.
    depths: Vec<u32>,
    round: Round,
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

    /// A state and who goes on there, by the number of the record.
    fn get(&self, record: usize, width: usize) -> (&[u32], ProcessId) {
        let (state, process) = self.words[record * (width + 1)..].split_at(width);
        (state, ProcessId::new(process[0] as usize))
    }

    /// The number of the record of a state, and whether it is new.
    fn insert(&mut self, state: &[u32], process: ProcessId) -> Result<(usize, bool), Fault> {
        let hash = hash(state, process);
        if let Some(known) = self.find(hash, state, process) {
            return Ok((known, false));
        }
        // Beside the state, a record takes an entry of a table that may be half empty, twice while that grows.
        let n_records = self.words.len() / (state.len() + 1);
        if self.words.len() + 10 * n_records > MAX_WORDS {
            return Err(Fault::TooLong);
        }
        self.words.extend_from_slice(state);
        self.words.push(process.index() as u32);
        let last = self.last.entry(hash).or_insert(0);
        self.before.push(*last);
        *last = self.before.len() as u32;
        Ok((self.before.len() - 1, true))
    }

    fn find(&self, hash: u64, state: &[u32], process: ProcessId) -> Option<usize> {
        let mut at = self.last.get(&hash).map_or(0, |&last| last as usize);
        while at > 0 {
            if self.get(at - 1, state.len()) == (state, process) {
                return Some(at - 1);
            }
            at = self.before[at - 1] as usize;
        }
        None
    }
}

fn hash(state: &[u32], process: ProcessId) -> u64 {
    let mut hasher = FxHasher::default();
    state.hash(&mut hasher);
    process.hash(&mut hasher);
    hasher.finish()
}

/// Where chains can come back to where they were.
#[derive(Clone, Debug, Default)]
struct Round {
    /// The states inside of the chains.
    states: Passed,
    /// The numbers of the states that come next, and per state where its own end.
    edges: Vec<u32>,
    ends: Vec<u32>,
    /// Whether each state is one to which the chain can come back; empty if none is.
    recurrent: FixedBitSet,
}

impl Round {
    fn is_recurrent(&self, state: &[u32], process: ProcessId) -> bool {
        let is_here = |record| self.recurrent.contains(record);
        !self.recurrent.is_empty()
            && self.states.find(hash(state, process), state, process).is_some_and(is_here)
    }
}

/// The nodes of a graph that are on cycles. All can be reached from the first; the numbers of those that come next
/// lie one after the other, and `ends` says per node where its own end.
///
/// Components are found as by Tarjan, *Depth-first search and linear graph algorithms*, 1972.
pub(crate) fn on_cycles(edges: &[u32], ends: &[u32]) -> FixedBitSet {
    let next = |node: usize| {
        let start = if node == 0 { 0 } else { ends[node - 1] as usize };
        &edges[start..ends[node] as usize]
    };
    let mut found = FixedBitSet::with_capacity(ends.len());
    // When a node was met, 0 if it was not, and the earliest node of its component that it leads to.
    let (mut met, mut low) = (vec![0; ends.len()], vec![0; ends.len()]);
    let mut is_done = FixedBitSet::with_capacity(ends.len());
    let (mut open, mut work, mut n_met) = (Vec::new(), Vec::new(), 0);
    work.extend(ends.first().map(|_| (0, 0)));
    while let Some((node, at)) = work.pop() {
        if at == 0 {
            n_met += 1;
            (met[node], low[node]) = (n_met, n_met);
            open.push(node);
        }
        if let Some(&to) = next(node).get(at) {
            let to = to as usize;
            work.push((node, at + 1));
            if met[to] == 0 {
                work.push((to, 0));
            } else if !is_done.contains(to) {
                low[node] = low[node].min(met[to]);
            }
            continue;
        }
        if let Some(&(before, _)) = work.last() {
            low[before] = low[before].min(low[node]);
        }
        if low[node] == met[node] {
            let start = open.iter().rposition(|&other| other == node).unwrap_or(0);
            let is_cycle = open.len() > start + 1 || next(node).contains(&(node as u32));
            for node in open.drain(start..) {
                is_done.insert(node);
                found.set(node, is_cycle);
            }
        }
    }
    found
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
        let failed = |fault| StepError { fault, action: Some(first) };
        if self.holder.is_some() {
            self.find_rounds(state, first, scratch, work).map_err(failed)?;
        }
        let ChainScratch { states, path, pending, next, passed, depths, round, .. } = work;
        states.clear();
        states.extend_from_slice(state);
        path.clear();
        passed.clear();
        depths.clear();
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
                if round.is_recurrent(&states[here.clone()], process) {
                    self.hold(process, &mut states[here.clone()]).map_err(failed)?;
                } else {
                    let state = &states[here.clone()];
                    if is_watched {
                        let (record, is_new) = passed.insert(state, process).map_err(failed)?;
                        if !is_new {
                            let (at, is_same) =
                                (depths[record] as usize, |at| states[at * width..].starts_with(state));
                            if at <= depth && is_same(at) && self.next_process(path[at - 1]) == Some(process)
                            {
                                // It came back to the path, which the front end said it never does.
                                return Err(failed(Fault::Endless));
                            }
                            continue;
                        }
                        depths.push(depth as u32 + 1);
                    }
                    self.followers(state, process, scratch, next)?;
                    // The first is tried first, so it comes last.
                    pending.extend(next.iter().rev().map(|&next| (depth as u32 + 1, next)));
                    if !is_watched && (depth >= UNWATCHED || next.len() > 1) {
                        // So far there was one way, so the states that were passed are those on the path. Most
                        // chains are short and have no choice: their states are never collected.
                        is_watched = true;
                        for (state, &action) in states.chunks_exact(width).skip(1).zip(&*path) {
                            // Somebody went on after each of them, or it would not be on the path.
                            if let Some(process) = self.next_process(action) {
                                let (_, is_new) = passed.insert(state, process).map_err(failed)?;
                                if !is_new {
                                    return Err(failed(Fault::Endless));
                                }
                                depths.push(depths.len() as u32 + 1);
                            }
                        }
                    }
                }
            }
            if pending.len() == n_pending {
                let step = number(first, n_ends, self.actions.len()).ok_or(failed(Fault::TooLong))?;
                n_ends += 1;
                if visit(step, path, &states[here]).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The actions with which a process can go on in a state, in order.
    fn followers(
        &self,
        state: &[u32],
        process: ProcessId,
        scratch: &mut Scratch,
        next: &mut Vec<ActionId>,
    ) -> Result<(), StepError> {
        next.clear();
        self.index.for_each_of_turn(process, state, |action| {
            if self.code.can_follow(action, state, scratch)? {
                next.push(action);
            }
            Ok(())
        })?;
        if next.len() > 1 {
            next.sort_unstable();
        }
        Ok(())
    }

    /// Says in a state that nobody but this process goes on.
    fn hold(&self, process: ProcessId, state: &mut [u32]) -> Result<(), Fault> {
        let holder = self.holder.as_ref().ok_or(Fault::Endless)?;
        let field = self.layout.field(holder.var);
        let value = holder.value(process).and_then(|value| field.encode(value)).ok_or(Fault::Endless)?;
        field.set_raw(state, value);
        Ok(())
    }

    /// Finds the states to which chains that begin with an action can come back. What goes wrong on the way does so
    /// again when the chains are walked.
    fn find_rounds(
        &self,
        state: &[u32],
        first: ActionId,
        scratch: &mut Scratch,
        work: &mut ChainScratch,
    ) -> Result<(), Fault> {
        let (width, next) = (state.len(), &mut work.next);
        let Round { states, edges, ends, recurrent } = &mut work.round;
        states.clear();
        edges.clear();
        ends.clear();
        *recurrent = FixedBitSet::new();
        let mut comes_back = false;
        let (mut here, mut after) = (state.to_vec(), Vec::new());
        next.clear();
        next.push(first);
        for node in 0.. {
            for &action in &*next {
                after.clone_from(&here);
                if let (Ok(()), Some(process)) =
                    (self.code.fire(action, &mut after, scratch), self.next_process(action))
                {
                    let (to, is_new) = states.insert(&after, process)?;
                    comes_back |= !is_new;
                    edges.push(to as u32);
                }
            }
            // The first state is none inside of the chains.
            if node > 0 {
                ends.push(edges.len() as u32 - 1);
            }
            if node == states.before.len() {
                break;
            }
            let (state, process) = states.get(node, width);
            here.clear();
            here.extend_from_slice(state);
            if self.followers(&here, process, scratch, next).is_err() {
                next.clear();
            }
        }
        if comes_back {
            *recurrent = on_cycles(&edges[1..], ends);
        }
        Ok(())
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
    fn no_chain_is_too_long() {
        for max in [100, 20_000] {
            let system = counter(max);
            let state: Vec<u32> = system.initial().next().unwrap().to_vec();
            let mut steps = Steps::new(system.width());
            let result = system.successors(&state, &mut system.new_scratch(), &mut steps);
            assert_eq!((result, steps.len()), (Ok(()), max as usize + 1));
        }
    }

    #[test]
    fn nodes_on_cycles() {
        // 0 -> 1 -> 2 -> 1, 2 -> 3 -> 3, 3 -> 4, 0 -> 4 -> 5.
        let found = on_cycles(&[1, 4, 2, 1, 3, 3, 4, 5], &[2, 3, 5, 7, 8, 8]);
        assert_eq!(found.ones().collect::<Vec<_>>(), [1, 2, 3]);
    }
}
