//! Steps of the actions that one thread has met: they are found without a lock.

use std::hash::Hash;

use model::ActionId;
use pack::{Index, hash_of};

/// By actions, the numbers of their steps, and whether they are the environment's.
pub(super) struct MetSteps<A> {
    index: Index,
    known: Vec<(A, ActionId, bool)>,
}

impl<A> Default for MetSteps<A> {
    fn default() -> MetSteps<A> {
        MetSteps { index: Index::default(), known: Vec::new() }
    }
}

impl<A: Clone + Eq + Hash> MetSteps<A> {
    /// Those of an action, which are asked for where it was not met before.
    ///
    /// # Errors
    /// Those of `ask`.
    #[inline]
    pub(super) fn of<E>(
        &mut self,
        action: &A,
        ask: impl FnOnce() -> Result<(ActionId, bool), E>,
    ) -> Result<(ActionId, bool), E> {
        let MetSteps { index, known } = self;
        let hash = hash_of(action);
        match index.find(hash, |number| known[number as usize].0 == *action) {
            Ok(number) => {
                let (_, step, is_environment) = known[number as usize];
                Ok((step, is_environment))
            }
            Err(slot) => {
                let (step, is_environment) = ask()?;
                index.insert(slot, hash, known.len() as u32);
                known.push((action.clone(), step, is_environment));
                Ok((step, is_environment))
            }
        }
    }
}
