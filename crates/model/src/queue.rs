//! Variables that are queues together, and the actions that only put something in or take something out.
//!
//! The relations of actions see variables one by one: both who puts and who takes write the length and the
//! cells. What a front end says here makes them better: putting and taking do not disturb each other, and
//! what is put behind others does not change what stands in front.

use crate::{ActionId, VarId};

/// What an action does to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueUse {
    /// Puts something behind all that is there.
    Put(u32),
    /// Takes out, or looks at, something that is there: what it takes, or whether it can, does not
    /// depend on what is put behind it.
    Take(u32),
}

impl QueueUse {
    /// Which queue.
    pub fn queue(self) -> u32 {
        let (QueueUse::Put(queue) | QueueUse::Take(queue)) = self;
        queue
    }
}

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// How much is in it.
    pub len: VarId,
    /// What is in front, if it is not empty.
    pub front: Vec<VarId>,
    /// Where everything is, in front or behind.
    pub cells: Vec<VarId>,
}

/// The queues of a system.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queues {
    pub(crate) all: Vec<Queue>,
    pub(crate) uses: Vec<(ActionId, QueueUse)>,
    /// Per variable: the queue that it belongs to. Complete after `finish`.
    of: Vec<Option<u32>>,
    /// Per action: what it does. Complete after `finish`.
    use_of: Vec<Option<QueueUse>>,
}

impl Queues {
    pub(crate) fn finish(mut self, n_variables: usize, n_actions: usize) -> Queues {
        self.of = vec![None; n_variables];
        for (number, queue) in self.all.iter().enumerate() {
            for var in queue.cells.iter().chain([&queue.len]) {
                self.of[var.index()] = Some(number as u32);
            }
        }
        self.use_of = vec![None; n_actions];
        self.uses.iter().for_each(|(action, queue_use)| self.use_of[action.index()] = Some(*queue_use));
        self
    }

    pub(crate) fn of(&self, var: VarId) -> Option<u32> {
        self.of[var.index()]
    }

    pub(crate) fn use_of(&self, action: ActionId) -> Option<QueueUse> {
        self.use_of[action.index()]
    }
}
