//! Whether it pays to leave steps out: a sample of where they would have led.
//!
//! A step that is left out saves the time to take it. Whether it saves states as well is another matter: where it leads may
//! be found on another way, and often is. So now and then such a state is noted, and looked for when everything was
//! expanded that was known then, and a little more. What is found out tells the choice of steps how much looking for
//! smaller sets is worth; it changes no answer. Depth first, a state may be found much later, so that who searches products
//! believes only what was found.

use std::collections::VecDeque;

use model::{ActionId, System};

use super::Space;
use crate::store::Sequence;

/// States that are left out, as far as is known.
#[derive(Default)]
pub(crate) struct Sample {
    /// The oldest first: after how many expanded states it is looked for, and the state.
    noted: VecDeque<(u64, Vec<u32>)>,
    n_noted: usize,
    others: Vec<ActionId>,
}

impl Sample {
    /// A state is noted after every so many, as long as there are so many at most.
    const EVERY: u64 = 32;
    const MOST: usize = 128;

    /// Whether to note something after so many expanded states.
    #[inline]
    pub(crate) fn is_due(n_taken: u64) -> bool {
        n_taken.is_multiple_of(Sample::EVERY)
    }

    /// The next state that is to be looked for after so many expanded states.
    pub(crate) fn next(&mut self, n_taken: u64) -> Option<Vec<u32>> {
        let is_due = self.noted.front().is_some_and(|(due, _)| *due <= n_taken);
        if is_due { self.noted.pop_front().map(|(_, state)| state) } else { None }
    }

    /// Whether nothing more is noted for the time being; else how many were.
    pub(crate) fn n_noted(&self) -> Option<usize> {
        (self.noted.len() < Sample::MOST).then_some(self.n_noted)
    }

    /// Notes a state, which is to be looked for after so many expanded states.
    pub(crate) fn note(&mut self, due: u64, state: Vec<u32>) {
        self.n_noted += 1;
        self.noted.push_back((due, state));
    }

    /// Looks for what was noted long ago. If steps were left out of the state that was expanded last, notes where one
    /// of them leads.
    pub(super) fn look<S: Space, St: Sequence>(
        &mut self,
        space: &S,
        store: &St,
        choice: &mut S::Choice,
        (state, leaves_out): (&[u32], bool),
        n_taken: u64,
        scratch: &mut <S::Whole as System>::Scratch,
    ) {
        while let Some(state) = self.next(n_taken) {
            space.learn(choice, store.number(&state).is_some());
        }
        let Some(n_noted) = self.n_noted().filter(|_| leaves_out) else { return };
        self.others.clear();
        space.others(choice, &mut self.others);
        let Some(&action) = self.others.get(n_noted % self.others.len().max(1)) else { return };
        let mut target = state.to_vec();
        if space.whole().fire(&mut target, action, scratch).is_ok() {
            self.note(store.n_states() * 5 / 4, target);
        }
    }
}
