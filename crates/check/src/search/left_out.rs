//! What the states of a component leave out, and where it would lead: found out once, when the component is repaired.

use std::collections::hash_map::Entry;

use model::{ActionId, System};
use rustc_hash::FxHashMap;

use super::product_graph::ProductGraph;
use crate::observer::Observer;
use crate::product::Target;
use crate::store::Products;

/// What the states of a part leave out, and where that would lead.
#[derive(Default)]
pub(crate) struct LeftOut {
    /// Per action that a state leaves out: where what is unknown of its targets begins and ends.
    entries: Vec<(ActionId, u32, u32, u32)>,
    /// Those targets, by number.
    targets: Vec<u32>,
    numbers: FxHashMap<Box<[u32]>, u32>,
    /// Per number, whether it is taken somewhere by now, so that it is unknown no more.
    is_taken: Vec<bool>,
    /// The state that is looked at.
    state: u32,
    bytes: usize,
}

impl LeftOut {
    /// From now on this state is looked at. Returns how many bytes are held.
    pub(super) fn look_at(&mut self, state: u32) -> u64 {
        self.state = state;
        self.bytes()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// All that was noted, by action and state: where the targets of each begin and end.
    pub(super) fn by_action(&mut self) -> Vec<(ActionId, u32, u32, u32)> {
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_unstable();
        entries
    }

    /// Notes what is left out of the state that was expanded last.
    pub(crate) fn note<S: System, O: Observer, P: Products>(
        &mut self,
        graph: &mut ProductGraph<'_, '_, S, O, P>,
        actions: &[ActionId],
    ) {
        for (at, &action) in actions.iter().enumerate() {
            // Several steps may begin with one action.
            if actions[..at].contains(&action) {
                continue;
            }
            let begin = self.targets.len() as u32;
            graph.for_each_unknown(action, &mut |target| {
                let number = self.number(target);
                self.targets.push(number);
            });
            self.entries.push((action, self.state, begin, self.targets.len() as u32));
            self.bytes +=
                2 * size_of::<(ActionId, u32, u32, u32)>() + 4 * (self.targets.len() - begin as usize);
        }
    }

    fn number(&mut self, target: Target<'_>) -> u32 {
        let new = self.is_taken.len() as u32;
        let Some((system, observer)) = target else {
            self.is_taken.push(false);
            return new;
        };
        let words = [system, &[observer]].concat().into_boxed_slice();
        let bytes = 4 * words.len() + 2 * size_of::<(Box<[u32]>, u32)>();
        match self.numbers.entry(words) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                place.insert(new);
                self.is_taken.push(false);
                self.bytes += bytes;
                new
            }
        }
    }

    /// How many states would be found by a list of targets.
    pub(super) fn n_unknown(&self, (begin, end): (u32, u32)) -> usize {
        let targets = &self.targets[begin as usize..end as usize];
        targets.iter().filter(|target| !self.is_taken[**target as usize]).count()
    }

    pub(super) fn take(&mut self, (begin, end): (u32, u32)) {
        for &target in &self.targets[begin as usize..end as usize] {
            self.is_taken[target as usize] = true;
        }
    }
}
