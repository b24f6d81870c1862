//! The stack of a depth-first search, with an exact test for what is on it.
//!
//! Frames hold states, so that the searches work over sets of states that give nothing back
//! (bitstate). Steps not yet taken are kept with their targets: each state is expanded once.

use model::ActionId;

use crate::paged::{OutOfMemory, Paged};
use crate::store::hash;

/// A step that waits for its turn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pending {
    /// None if the last state of a run repeats, and for what leads to an initial state.
    pub(crate) action: Option<ActionId>,
    /// Whatever the search wants to know about the step.
    pub(crate) flag: bool,
}

/// In place of an action: none.
const NO_ACTION: u32 = u32::MAX;

fn encode(action: Option<ActionId>) -> u32 {
    action.map_or(NO_ACTION, |action| action.index() as u32)
}

fn decode(action: u32) -> Option<ActionId> {
    (action != NO_ACTION).then(|| ActionId::new(action as usize))
}

/// States on a path, with the steps that are still to be tried.
pub(crate) struct Stack {
    width: usize,
    states: Paged,
    /// Per frame: the action and flag that led to it, the number of its pending steps, and a
    /// number of the search's own.
    frames: Paged,
    /// Action, flag, target; each frame's first step is last.
    pending: Paged,
    /// Open addressing: index of a frame plus one; 0 is empty.
    slots: Vec<u32>,
}

impl Stack {
    const SEED: u64 = 3;
    const SMALL: usize = 1024;

    pub(crate) fn new(width: usize) -> Stack {
        Stack {
            width,
            states: Paged::new(width),
            frames: Paged::new(4),
            pending: Paged::new(width + 2),
            slots: vec![0; 64],
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.states.bytes() + self.frames.bytes() + self.pending.bytes() + 4 * self.slots.len() as u64
    }

    /// The action that led to a frame.
    pub(crate) fn action(&self, frame: usize) -> Option<ActionId> {
        decode(self.frames.get(frame)[0])
    }

    /// The actions that led to the frames from this one on.
    pub(crate) fn actions_from(&self, frame: usize) -> impl Iterator<Item = ActionId> {
        (frame..self.len()).filter_map(|frame| self.action(frame))
    }

    /// The observer's state in a frame: the last word.
    pub(crate) fn observer(&self, frame: usize) -> u32 {
        self.states.get(frame)[self.width - 1]
    }

    /// The observer's states after the actions that led to the frames from this one on.
    pub(crate) fn observers_from(&self, frame: usize) -> impl Iterator<Item = u32> {
        let after_action = move |&frame: &usize| frame == 0 || self.action(frame).is_some();
        (frame..self.len()).filter(after_action).map(|frame| self.observer(frame))
    }

    /// Number of actions on the way from the bottom to a frame: repeating a last state is none.
    pub(crate) fn n_actions_to(&self, frame: usize) -> usize {
        (1..=frame).filter(|&frame| self.action(frame).is_some()).count()
    }

    /// The flag of the step that led to the top frame.
    pub(crate) fn top_flag(&self) -> bool {
        self.frames.get(self.len() - 1)[1] != 0
    }

    /// The search's own number of a frame.
    pub(crate) fn tag(&self, frame: usize) -> u32 {
        self.frames.get(frame)[3]
    }

    /// The search's own number of the top frame.
    pub(crate) fn top_tag(&self) -> u32 {
        self.tag(self.len() - 1)
    }

    /// Changes the search's own number of the top frame.
    pub(crate) fn set_top_tag(&mut self, tag: u32) {
        let top = self.len() - 1;
        self.frames.get_mut(top)[3] = tag;
    }

    /// The search's own number of the bottom frame.
    pub(crate) fn bottom_tag(&self) -> u32 {
        self.tag(0)
    }

    /// The state of a frame.
    pub(crate) fn state(&self, frame: usize) -> &[u32] {
        self.states.get(frame)
    }

    /// The top state.
    pub(crate) fn top(&self) -> &[u32] {
        self.state(self.len() - 1)
    }

    /// Enters a state.
    pub(crate) fn push(&mut self, state: &[u32], via: Pending, tag: u32) -> Result<(), OutOfMemory> {
        if 2 * (self.len() + 1) > self.slots.len() {
            self.grow();
        }
        self.states.push(state)?;
        self.frames.push(&[encode(via.action), u32::from(via.flag), 0, tag])?;
        let at = self.probe(state).unwrap_or_else(|empty| empty);
        self.slots[at] = self.len() as u32;
        Ok(())
    }

    /// Adds a step that waits, to the top frame. Steps come out in the reverse order.
    pub(crate) fn add_pending(&mut self, step: Pending, target: &[u32]) -> Result<(), OutOfMemory> {
        let mut record = [0; 64];
        let top = self.len() - 1;
        self.frames.get_mut(top)[2] += 1;
        let head = [encode(step.action), u32::from(step.flag)];
        match record.get_mut(..self.width + 2) {
            Some(record) => {
                record[..2].copy_from_slice(&head);
                record[2..].copy_from_slice(target);
                self.pending.push(record)
            }
            None => self.pending.push(&[&head, target].concat()),
        }
    }

    /// Takes the next step of the top frame; its target goes to `out`.
    pub(crate) fn next(&mut self, out: &mut [u32]) -> Option<Pending> {
        let top = self.len() - 1;
        let n_pending = &mut self.frames.get_mut(top)[2];
        *n_pending = n_pending.checked_sub(1)?;
        let record = self.pending.get(self.pending.len() - 1);
        let step = Pending { action: decode(record[0]), flag: record[1] != 0 };
        out.copy_from_slice(&record[2..]);
        self.pending.pop();
        Some(step)
    }

    /// Leaves the top state. Its steps must have been taken.
    pub(crate) fn pop(&mut self) {
        let top = self.len() - 1;
        if let Ok(at) = self.probe(self.states.get(top)) {
            self.remove_slot(at);
        }
        self.states.pop();
        self.frames.pop();
    }

    /// Leaves all states.
    pub(crate) fn clear(&mut self) {
        self.states.truncate(0);
        self.frames.truncate(0);
        self.pending.truncate(0);
        // What was large once is not wiped every time.
        if self.slots.len() > Self::SMALL { self.slots = vec![0; 64] } else { self.slots.fill(0) }
    }

    /// The frame of a state that is on the stack.
    pub(crate) fn find(&self, state: &[u32]) -> Option<usize> {
        self.probe(state).ok().map(|at| self.slots[at] as usize - 1)
    }

    fn home(&self, state: &[u32]) -> usize {
        hash(state, Stack::SEED) as usize & (self.slots.len() - 1)
    }

    /// The slot of a state, or the empty slot where it belongs.
    fn probe(&self, state: &[u32]) -> Result<usize, usize> {
        let mut at = self.home(state);
        loop {
            match self.slots[at] {
                0 => return Err(at),
                frame if self.states.get(frame as usize - 1) == state => return Ok(at),
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }

    /// Empties a slot and moves later ones up, so that no chain is broken.
    fn remove_slot(&mut self, mut hole: usize) {
        let mask = self.slots.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let frame = self.slots[at];
            if frame == 0 {
                break;
            }
            let home = self.home(self.states.get(frame as usize - 1));
            // The entry may move to the hole if its home is not strictly between the two.
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.slots[hole] = frame;
                hole = at;
            }
        }
        self.slots[hole] = 0;
    }

    fn grow(&mut self) {
        self.slots = vec![0; 2 * self.slots.len()];
        for frame in 0..self.len() {
            if let Err(at) = self.probe(self.states.get(frame)) {
                self.slots[at] = frame as u32 + 1;
            }
        }
    }
}
