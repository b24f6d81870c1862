//! Where the states of a search by strong components stand: what waits, what is on the path, what is
//! open, what is finished.
//!
//! All of it is lists through the states themselves, of two words per state, however long the path is:
//!
//! | a state | first word | second word |
//! |---|---|---|
//! | is new | 0 | – |
//! | waits to be entered | what lies above it on the path | what lies below it |
//! | is on the path | its order | what lies below it |
//! | was left, its component is not finished | its order | who was left before it |
//! | is finished | `DEAD` | – |
//!
//! On the path, above each state lie those of its successors that wait, the next one on top. A state waits
//! once: for the last state on the path that has an edge to it, since it is from there that a depth-first
//! search enters it. For those before, it will then be known (see [`couvreur`](super::couvreur) on marks of
//! such edges). Tarjan's stack is the states that were left and those on the path, which are different
//! ones [pearce.16.ipl].

use crate::paged::{OutOfMemory, Paged};
use crate::store::StateId;

/// In place of an order: not entered yet.
pub(super) const NEW: u32 = 0;
/// In place of an order: its component is finished.
pub(super) const DEAD: u32 = u32::MAX;

/// The bits above an order or a link. An order has none of them, or the second if it is on the path.
const WAITS: u32 = 1 << 31;
const ON_PATH: u32 = 1 << 30;

/// In place of a link: nothing. Together with `WAITS` it must not be `DEAD`.
const NONE: u32 = DEAD & !WAITS & !1;

/// How many states there may be, since a link has 31 bits and an order has 30.
pub(super) const MAX_STATES: u32 = ON_PATH - 1;

/// What is on top of the path.
pub(super) enum Top {
    /// A state that waits to be entered.
    Waiting(StateId),
    /// A state of the path, nothing of which waits.
    State(StateId),
}

pub(super) struct Path {
    words: Paged,
    top: u32,
    /// Who was left last and is not finished.
    left: u32,
    n_open: u32,
    depth: u64,
    n_waiting: u64,
}

impl Path {
    pub(super) fn new() -> Path {
        Path { words: Paged::new(2), top: NONE, left: NONE, n_open: 0, depth: 0, n_waiting: 0 }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.words.bytes()
    }

    /// Number of states on the path.
    pub(super) fn depth(&self) -> u64 {
        self.depth
    }

    pub(super) fn n_waiting(&self) -> u64 {
        self.n_waiting
    }

    /// Number of states in components that are not finished. They are counted from 1 as they are entered.
    pub(super) fn n_open(&self) -> u32 {
        self.n_open
    }

    /// Makes room for so many states.
    #[inline]
    pub(super) fn make_room(&mut self, n_states: usize) -> Result<(), OutOfMemory> {
        while self.words.len() < n_states {
            self.words.push(&[NEW, NONE])?;
        }
        Ok(())
    }

    /// When a state was entered, counted from 1 among those that are open; or `NEW` or `DEAD`.
    #[inline]
    pub(super) fn order_of(&self, state: StateId) -> u32 {
        match self.first_word(state) {
            DEAD => DEAD,
            word if word & WAITS != 0 => NEW,
            word => word & !ON_PATH,
        }
    }

    #[inline]
    pub(super) fn is_on_path(&self, state: StateId) -> bool {
        self.first_word(state) & (WAITS | ON_PATH) == ON_PATH
    }

    #[inline]
    fn first_word(&self, state: StateId) -> u32 {
        if state.index() < self.words.len() { self.words.get(state.index())[0] } else { NEW }
    }

    #[inline]
    pub(super) fn top(&self) -> Option<Top> {
        let top = StateId::new(self.top as usize);
        match self.top {
            NONE => None,
            _ if self.is_on_path(top) => Some(Top::State(top)),
            _ => Some(Top::Waiting(top)),
        }
    }

    /// Puts something on top.
    #[inline]
    fn push(&mut self, state: usize, first_word: u32) {
        if self.top != NONE {
            let below = &mut self.words.get_mut(self.top as usize)[0];
            if *below & WAITS != 0 {
                *below = WAITS | state as u32;
            }
        }
        self.words.get_mut(state).copy_from_slice(&[first_word, self.top]);
        self.top = state as u32;
    }

    /// Takes a state that waits from wherever it is.
    #[inline]
    fn remove(&mut self, state: usize) {
        let &[above, below] = self.words.get(state) else { return };
        if self.top == state as u32 {
            self.top = below;
            return;
        }
        let above = above & !WAITS;
        self.words.get_mut(above as usize)[1] = below;
        if below != NONE {
            let below = &mut self.words.get_mut(below as usize)[0];
            if *below & WAITS != 0 {
                *below = WAITS | above;
            }
        }
    }

    /// A new state waits for the state on top of the path. It is entered before those that wait already.
    #[inline]
    pub(super) fn wait(&mut self, state: StateId) {
        if self.first_word(state) & WAITS != 0 {
            self.remove(state.index());
        } else {
            self.n_waiting += 1;
        }
        self.push(state.index(), WAITS | NONE);
    }

    /// Enters a new state, for which there must be room; returns its order.
    pub(super) fn enter(&mut self, state: StateId) -> u32 {
        if self.first_word(state) & WAITS != 0 {
            self.remove(state.index());
            self.n_waiting -= 1;
        }
        self.n_open += 1;
        self.depth += 1;
        self.push(state.index(), ON_PATH | self.n_open);
        self.n_open
    }

    /// Leaves the state on top of the path; its component is not finished.
    pub(super) fn leave(&mut self) {
        if self.top != NONE {
            let state = self.top;
            let words = self.words.get_mut(state as usize);
            self.top = words[1];
            words[0] &= !ON_PATH;
            words[1] = self.left;
            self.left = state;
            self.depth -= 1;
        }
    }

    /// The states that were left and entered since this order, the one that was left last first.
    pub(super) fn left_since(&self, order: u32) -> impl Iterator<Item = StateId> {
        let mut at = self.left;
        std::iter::from_fn(move || {
            if at == NONE {
                return None;
            }
            let state = at as usize;
            at = self.words.get(state)[1];
            Some(StateId::new(state)).filter(|&state| self.order_of(state) >= order)
        })
    }

    /// The component that begins with this order is finished. Its states were all left.
    pub(super) fn finish(&mut self, order: u32) {
        while self.left != NONE {
            let words = self.words.get_mut(self.left as usize);
            if words[0] < order {
                break;
            }
            words[0] = DEAD;
            self.left = words[1];
        }
        self.n_open = order - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same with lists of states.
    #[derive(Default)]
    struct Naive {
        /// What lies on the path, and whether it waits.
        path: Vec<(usize, bool)>,
        /// The open states in the order in which they were entered.
        open: Vec<usize>,
        dead: Vec<usize>,
    }

    impl Naive {
        fn order_of(&self, state: usize) -> u32 {
            if self.dead.contains(&state) {
                return DEAD;
            }
            self.open.iter().position(|&open| open == state).map_or(NEW, |at| at as u32 + 1)
        }
    }

    #[test]
    fn lists_through_states_are_like_lists_of_states() {
        let mut random = fastrand::Rng::with_seed(8);
        for _ in 0..300 {
            let n_states = random.usize(1..40);
            let (mut path, mut naive) = (Path::new(), Naive::default());
            path.make_room(n_states).unwrap();
            for start in (0..n_states).map(StateId::new) {
                if path.order_of(start) == NEW {
                    enter(&mut path, &mut naive, start, n_states, &mut random);
                }
                loop {
                    for state in 0..n_states {
                        let id = StateId::new(state);
                        assert_eq!(path.order_of(id), naive.order_of(state));
                        assert_eq!(path.is_on_path(id), naive.path.contains(&(state, false)));
                    }
                    assert_eq!(path.n_waiting() as usize, naive.path.iter().filter(|item| item.1).count());
                    assert_eq!(path.depth() as usize, naive.path.iter().filter(|item| !item.1).count());
                    assert_eq!(path.n_open() as usize, naive.open.len());
                    match (path.top(), naive.path.last().copied()) {
                        (None, None) => break,
                        (Some(Top::Waiting(state)), Some(top)) if top == (state.index(), true) => {
                            enter(&mut path, &mut naive, state, n_states, &mut random);
                        }
                        (Some(Top::State(state)), Some(top)) if top == (state.index(), false) => {
                            leave(&mut path, &mut naive, state, random.bool());
                        }
                        _ => panic!("different tops"),
                    }
                }
            }
        }
    }

    fn enter(
        path: &mut Path,
        naive: &mut Naive,
        state: StateId,
        n_states: usize,
        random: &mut fastrand::Rng,
    ) {
        path.enter(state);
        naive.path.retain(|item| item.0 != state.index());
        naive.path.push((state.index(), false));
        naive.open.push(state.index());
        for _ in 0..random.usize(0..5) {
            let target = random.usize(0..n_states);
            if naive.order_of(target) == NEW {
                path.wait(StateId::new(target));
                naive.path.retain(|item| item.0 != target);
                naive.path.push((target, true));
            }
        }
    }

    /// The last state of the path is a root if that is wanted; the first one always is.
    fn leave(path: &mut Path, naive: &mut Naive, state: StateId, is_root: bool) {
        let order = path.order_of(state);
        path.leave();
        naive.path.pop();
        if is_root || naive.path.iter().all(|item| item.1) {
            let mut members: Vec<usize> = path.left_since(order).map(StateId::index).collect();
            members.sort_by_key(|&member| path.order_of(StateId::new(member)));
            assert_eq!(members, naive.open[order as usize - 1..]);
            path.finish(order);
            naive.dead.extend(naive.open.drain(order as usize - 1..));
        }
    }
}
