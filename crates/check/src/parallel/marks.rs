//! Marks as several workers collect them: packed, so that they fit beside the workers in the word of a set.
//!
//! | bits | are |
//! |---|---|
//! | first | required: that there is an edge at all, where no mark of the observer says so; the observer's; one per weak constraint |
//! | then | per strong constraint, that it is enabled |
//! | then | per strong constraint, that it is taken |
//! | last | something was left out that counts in cycles, where components are repaired |
//!
//! Marks of edges are numbered by each worker as it meets them: there are few different ones. Those of states may all
//! be different, and are forgotten when the next state comes.

use model::ActionId;
use rustc_hash::FxHashMap;

use crate::fairness::Fairness;

/// Where the marks are.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The observer's marks, as it has them.
    observer: u64,
    needs_edge: bool,
    n_weak: usize,
    n_strong: usize,
    notes: bool,
}

/// Sets a bit of a set.
fn set(words: &mut [u32], bit: usize) {
    words[bit / 32] |= 1 << (bit % 32);
}

fn has(words: &[u32], bit: usize) -> bool {
    words[bit / 32] >> (bit % 32) & 1 == 1
}

impl Layout {
    /// For an observer with these marks, and constraints.
    pub(super) fn new(observer: u64, fairness: &Fairness, notes: bool) -> Layout {
        let (n_weak, n_strong) = fairness.n_constraints();
        Layout { observer, needs_edge: observer == 0, n_weak, n_strong, notes }
    }

    fn n_required(&self) -> usize {
        usize::from(self.needs_edge) + self.observer.count_ones() as usize + self.n_weak
    }

    /// How many marks there are.
    pub(super) fn n_bits(&self) -> usize {
        self.n_required() + 2 * self.n_strong + usize::from(self.notes)
    }

    /// Packs marks in the order of [`Fairness`] into zeros; `is_edge` if they are those of an edge.
    fn pack(&self, marks: &[u32], is_edge: bool, out: &mut [u32]) {
        let mut next = 0;
        let mut put = |is_there: bool| {
            if is_there {
                set(out, next);
            }
            next += 1;
        };
        if self.needs_edge {
            put(is_edge);
        }
        (0..64).filter(|bit| self.observer >> bit & 1 == 1).for_each(|bit| put(has(marks, bit)));
        let weak = 64;
        (0..self.n_weak).for_each(|index| put(has(marks, weak + index)));
        let enabled = weak + self.n_weak.next_multiple_of(32);
        (0..self.n_strong).for_each(|index| put(has(marks, enabled + index)));
        let taken = enabled + self.n_strong.next_multiple_of(32);
        (0..self.n_strong).for_each(|index| put(has(marks, taken + index)));
    }

    /// Whether a component with these marks may have an accepted part; without strong constraints, whether it has.
    #[inline]
    pub(super) fn may_hold(&self, marks: &[u32]) -> bool {
        (0..self.n_required()).all(|bit| has(marks, bit))
    }

    /// Whether a finished component with these marks has an accepted run.
    pub(super) fn holds(&self, marks: &[u32]) -> bool {
        let enabled = self.n_required();
        let is_fair = |index| !has(marks, enabled + index) || has(marks, enabled + self.n_strong + index);
        self.may_hold(marks) && (0..self.n_strong).all(is_fair)
    }

    /// Whether a state with these marks enables a strong constraint that a component with those does not take.
    pub(super) fn is_bad(&self, state: &[u32], marks: &[u32]) -> bool {
        let enabled = self.n_required();
        let is_lacking = |index| has(state, enabled + index) && !has(marks, enabled + self.n_strong + index);
        (0..self.n_strong).any(is_lacking)
    }

    /// Whether there are strong constraints.
    pub(super) fn has_strong(&self) -> bool {
        self.n_strong > 0
    }

    /// Whether a state of the set left something out.
    pub(super) fn is_noted(&self, marks: &[u32]) -> bool {
        self.notes && has(marks, self.n_bits() - 1)
    }
}

/// The number of the marks of the state that was looked at last.
const STATE: u32 = 1;

/// The marks that one worker has met, by number; 0 is none.
pub(super) struct Numbers {
    layout: Layout,
    edges: FxHashMap<(u64, Option<ActionId>), u32>,
    n_words: usize,
    words: Vec<u32>,
    /// What was asked for last.
    last: Option<((u64, Option<ActionId>), u32)>,
    buffer: Vec<u32>,
}

impl Numbers {
    pub(super) fn new(layout: Layout) -> Numbers {
        let n_words = layout.n_bits().div_ceil(32).max(1);
        let words = vec![0; 2 * n_words];
        Numbers { layout, edges: FxHashMap::default(), n_words, words, last: None, buffer: Vec::new() }
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &[u32] {
        &self.words[number as usize * self.n_words..][..self.n_words]
    }

    /// The number of the marks of an edge.
    #[inline]
    pub(super) fn of_edge(&mut self, fairness: &Fairness, marks: u64, action: Option<ActionId>) -> u32 {
        let key = (marks & self.layout.observer, if fairness.is_empty() { None } else { action });
        match self.last {
            Some((last, number)) if last == key => return number,
            _ => {}
        }
        let number = match self.edges.get(&key) {
            Some(&number) => number,
            None => {
                fairness.step_marks(key.0, key.1, &mut self.buffer);
                let start = self.words.len();
                self.words.resize(start + self.n_words, 0);
                self.layout.pack(&self.buffer, true, &mut self.words[start..]);
                let is_empty = self.words[start..].iter().all(|&word| word == 0);
                if is_empty {
                    self.words.truncate(start);
                }
                let number = if is_empty { 0 } else { (start / self.n_words) as u32 };
                self.edges.insert(key, number);
                number
            }
        };
        self.last = Some((key, number));
        number
    }

    /// The number of the marks of a state, and whether it left something out, until another one is looked at.
    pub(super) fn of_state(&mut self, marks: &[u32], is_noted: bool) -> u32 {
        if !is_noted && marks.iter().all(|&word| word == 0) {
            return 0;
        }
        let out = &mut self.words[STATE as usize * self.n_words..][..self.n_words];
        out.fill(0);
        self.layout.pack(marks, false, out);
        if is_noted {
            set(out, self.layout.n_bits() - 1);
        }
        STATE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::{Acceptance, Constraint, add};

    /// Packed marks say what unpacked ones say, however many there are.
    #[test]
    fn packed_marks_say_the_same() {
        let mut random = fastrand::Rng::with_seed(9);
        for _ in 0..300 {
            let n_actions = random.usize(1..80);
            let constraint = |random: &mut fastrand::Rng| {
                let action = |random: &mut fastrand::Rng| ActionId::new(random.usize(0..n_actions));
                let n = random.usize(1..3);
                Constraint::new(random.bool(), (0..n).map(|_| action(random)).collect())
            };
            let n = random.usize(0..70);
            let constraints: Vec<Constraint> = (0..n).map(|_| constraint(&mut random)).collect();
            let fairness = Fairness::new(n_actions, &constraints);
            let observer = random.u64(..) & random.u64(..) & random.u64(..);
            let observer = if random.bool() { observer } else { 0 };
            let acceptance: Acceptance = fairness.acceptance(observer);
            let layout = Layout::new(observer, &fairness, true);
            let mut numbers = Numbers::new(layout.clone());
            let (mut all, mut packed) = (vec![0; fairness.n_words()], vec![0; numbers.get(0).len()]);
            let mut wide = Vec::new();
            for _ in 0..random.usize(1..60) {
                let marks = observer & random.u64(..);
                let action = Some(ActionId::new(random.usize(0..n_actions)));
                fairness.step_marks(marks, action, &mut wide);
                add(&mut all, &wide);
                let number = numbers.of_edge(&fairness, marks, action);
                add(&mut packed, numbers.get(number));
                let enabled: Vec<ActionId> =
                    (0..n_actions).filter(|_| random.bool()).map(ActionId::new).collect();
                fairness.state_marks(&enabled, &mut wide);
                add(&mut all, &wide);
                let number = numbers.of_state(&wide, random.u8(0..50) == 0);
                add(&mut packed, numbers.get(number));
                assert_eq!(layout.may_hold(&packed), acceptance.may_hold(&all));
                assert_eq!(layout.holds(&packed), acceptance.holds(&all));
                assert_eq!(layout.is_bad(numbers.get(number), &packed), acceptance.is_bad(&wide, &all));
            }
        }
    }
}
