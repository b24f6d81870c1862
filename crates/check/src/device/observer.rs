//! An observer as plain words, so that a device takes the steps of a product.
//!
//! All that a search asks an observer is which steps it has where it sees something, and how it accepts where a valuation holds. If it has
//! few states and looks at few propositions, all answers are written down: a *letter* is what it sees of a step (a
//! valuation, those before and after it, or what it makes of an action), and its steps are listed by state and letter. So
//! every observer that numbers its states beforehand is one table, whatever automaton it was made from.
//!
//! The words stand behind those of the system ([`model::tables`]), whose header says where. A state of the product is one of the system,
//! with the observer's state in bits that no variable uses, or behind them.

use model::tables::{MAX_WIDTH, Tables, head};
use model::{ActionId, System};
use rustc_hash::FxHashMap;

use super::memory::Shape;
use crate::observer::{Event, Observer, ObserverStep, Stance, Valuations, Watches};
use crate::product::{AtDeadlock, Product};

/// More propositions, or longer tables, are left to the processor.
const MAX_PROPOSITIONS: usize = 12;
const MAX_ENTRIES: u64 = 1 << 20;

/// What the words of an observer are, from where the header says that they begin.
#[allow(missing_docs)] // The names say it.
pub(super) mod part {
    pub(crate) const WATCHES: usize = 0;
    /// Where its state is in a state of the product.
    pub(crate) const WORD: usize = 1;
    pub(crate) const SHIFT: usize = 2;
    pub(crate) const MASK: usize = 3;
    pub(crate) const N_LETTERS: usize = 4;
    /// The propositions that it looks at.
    pub(crate) const PROPOSITIONS: usize = 5;
    pub(crate) const N_PROPOSITIONS: usize = 6;
    /// Per action, its letter; or whether it may change the valuation.
    pub(crate) const ACTIONS: usize = 7;
    /// Per letter, whether it sees nothing.
    pub(crate) const SILENT: usize = 8;
    /// Per state and letter, where its steps begin; they end where the next ones begin.
    pub(crate) const STARTS: usize = 9;
    /// Per step, target and marks.
    pub(crate) const STEPS: usize = 10;
    /// Per state and valuation, how it accepts.
    pub(crate) const STANCES: usize = 11;
    pub(crate) const AT_END: usize = 12;
    /// Per action, the constraints that it is in, and those that it takes.
    pub(crate) const MEMBERS: usize = 13;
    pub(crate) const TAKERS: usize = 14;
    /// Words of weak constraints, and of strong ones.
    pub(crate) const WEAK: usize = 15;
    pub(crate) const STRONG: usize = 16;
    pub(crate) const SIZE: usize = 20;
}

/// What it watches: the first word.
pub(super) const SOURCE: u32 = 0;
pub(super) const TARGET: u32 = 1;
pub(super) const CHANGES: u32 = 2;
pub(super) const ACTIONS: u32 = 3;

/// How it accepts: bits.
pub(super) const AT_ONCE: u32 = 1;
pub(super) const AT_END: u32 = 2;
pub(super) const LIVELOCK: u32 = 4;
pub(super) const PASSING: u32 = 8;

/// What a run does that comes to its end: its last state repeats; nothing; it is wrong if the observer says so; it is wrong.
pub(super) const STUTTERS: u32 = 0;
pub(super) const STOPS: u32 = 1;
pub(super) const IS_ASKED: u32 = 2;
pub(super) const IS_WRONG: u32 = 3;

/// Where the state of the observer is in a state of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seat {
    pub(super) word: usize,
    pub(super) shift: u32,
    pub(super) mask: u32,
}

impl Seat {
    /// Room for so many states, in bits that are free; a state that fits into one word still does, if it can.
    fn of(masks: &mut Vec<u32>, n_states: u64) -> Option<Seat> {
        let n_bits = u64::BITS - n_states.saturating_sub(1).leading_zeros();
        let mask = (1u64.checked_shl(n_bits)? - 1).try_into().ok()?;
        let was_narrow = Shape { masks: masks.clone(), n_events: 0, n_cycle_words: 0 }.is_narrow();
        // A state of an odd number of words has one that is free.
        let n_words = masks.len().next_multiple_of(2);
        for word in 0..=n_words {
            for shift in 0..=u32::BITS.checked_sub(n_bits)? {
                let mut with = masks.clone();
                with.resize(with.len().max(word + 1), 0);
                if u64::from(with[word]) & u64::from(mask) << shift != 0 {
                    continue;
                }
                with[word] |= mask << shift;
                let shape = Shape { masks: with, n_events: 0, n_cycle_words: 0 };
                if word < n_words && was_narrow && !shape.is_narrow() {
                    continue;
                }
                *masks = shape.masks;
                return Some(Seat { word, shift, mask });
            }
        }
        None
    }

    /// The state of the observer in a state of the product.
    pub(super) fn read(self, state: &[u32]) -> u32 {
        state[self.word] >> self.shift & self.mask
    }

    /// Writes it there.
    pub(super) fn write(self, state: &mut [u32], observer: u32) {
        let word = &mut state[self.word];
        *word = *word & !(self.mask << self.shift) | observer << self.shift;
    }
}

/// A product as words.
pub(super) struct Watched {
    pub(super) words: Vec<u32>,
    pub(super) shape: Shape,
    pub(super) seat: Seat,
}

/// Everything that the steps of an observer can be asked about.
struct Answers<'p, O> {
    observer: &'p mut O,
    valuations: &'p mut Valuations,
}

impl<O: Observer> Answers<'_, O> {
    /// The number of a valuation, by its bits.
    fn number(&mut self, bits: usize) -> u32 {
        let bits = [bits as u64];
        let n_words = self.valuations.propositions().len().div_ceil(64);
        self.valuations.number_of_bits(&bits[..n_words])
    }

    fn steps(&mut self, state: u32, event: Event) -> Vec<ObserverStep> {
        self.observer.steps(state, event, self.valuations).to_vec()
    }

    fn is_silent(&mut self, event: Event) -> bool {
        self.observer.is_silent(event, self.valuations)
    }

    fn stance(&mut self, state: u32, bits: usize) -> Stance {
        let valuation = self.number(bits);
        self.observer.stance(state, valuation, self.valuations)
    }

    /// What it sees if the letter is a valuation, or two.
    fn event(&mut self, watches: Watches, letter: usize, n_valuations: usize) -> Event {
        match watches {
            Watches::Changes => {
                let (from, to) = (self.number(letter / n_valuations), self.number(letter % n_valuations));
                Event { from, to, action: None }
            }
            _ => Event::stuttering(self.number(letter)),
        }
    }
}

/// The words of a product; nothing if the observer is too large, or the state.
pub(super) fn words<S: System, O: Observer>(
    product: &mut Product<'_, S, O>,
    tables: &Tables,
    shape: Shape,
) -> Option<Watched> {
    let n_actions = shape.n_events as usize;
    let (fairness, at_deadlock) = (product.fairness().clone(), product.at_deadlock());
    let visible: Vec<u32> =
        (0..n_actions).map(|action| product.is_visible(ActionId::new(action)).into()).collect();
    let (observer, valuations) = product.watching();
    let mut ask = Answers { observer, valuations };
    let propositions: Vec<u32> = ask.valuations.propositions().iter().map(|&number| number as u32).collect();
    let (n_states, watches) = (ask.observer.n_states(), ask.observer.watches());
    let n_valuations = 1u64 << propositions.len().min(MAX_PROPOSITIONS + 1);
    // Who watches changes may see them differently by what was true before.
    let n_letters = if watches == Watches::Changes { n_valuations.pow(2) } else { n_valuations };
    if propositions.len() > MAX_PROPOSITIONS || n_states.saturating_mul(n_letters) > MAX_ENTRIES {
        return None;
    }
    let mut masks = shape.masks;
    let seat = Seat::of(&mut masks, n_states).filter(|_| masks.len() <= MAX_WIDTH)?;
    let mut events: Vec<Event> = Vec::new();
    let actions = match watches {
        Watches::Actions => {
            // The first letter is that of what is not watched.
            let letters = letters_of_actions(&mut ask, n_states, n_actions, &mut events)?;
            if n_states.saturating_mul(events.len() as u64) > MAX_ENTRIES {
                return None;
            }
            letters
        }
        _ => {
            let event = |letter| ask.event(watches, letter, n_valuations as usize);
            events = (0..n_letters as usize).map(event).collect();
            visible
        }
    };
    let mut words = tables.words().to_vec();
    let start = words.len();
    words.resize(start + part::SIZE, 0);
    words[head::FREE] = start as u32;
    let add = |words: &mut Vec<u32>, what: usize, list: &[u32]| {
        words[start + what] = words.len() as u32;
        words.extend_from_slice(list);
    };
    add(&mut words, part::PROPOSITIONS, &propositions);
    add(&mut words, part::ACTIONS, &actions);
    let silent: Vec<u32> = events.iter().map(|&event| ask.is_silent(event).into()).collect();
    add(&mut words, part::SILENT, &silent);
    let (mut starts, mut steps) = (vec![0], Vec::new());
    for state in 0..n_states as u32 {
        for &event in &events {
            for step in ask.steps(state, event) {
                steps.extend([step.to, u32::try_from(step.marks).ok()?]);
            }
            starts.push(steps.len() as u32 / 2);
        }
    }
    if steps.len() as u64 > 8 * MAX_ENTRIES {
        return None;
    }
    add(&mut words, part::STARTS, &starts);
    add(&mut words, part::STEPS, &steps);
    let mut stances = Vec::new();
    for state in 0..n_states as u32 {
        for bits in 0..n_valuations as usize {
            let stance = ask.stance(state, bits);
            let flags = [
                (stance.at_once, AT_ONCE),
                (stance.deadlock, AT_END),
                (stance.livelock, LIVELOCK),
                (stance.passing, PASSING),
            ];
            stances.push(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum());
        }
    }
    add(&mut words, part::STANCES, &stances);
    let owns_deadlocks = ask.observer.owns_deadlocks();
    let at_end = match at_deadlock {
        _ if watches == Watches::Actions => IS_ASKED,
        AtDeadlock::Error => IS_WRONG,
        AtDeadlock::Ignore => STOPS,
        AtDeadlock::Stutter if owns_deadlocks => IS_ASKED,
        AtDeadlock::Stutter => STUTTERS,
    };
    let [members, takers] = fairness.tables();
    add(&mut words, part::MEMBERS, members);
    add(&mut words, part::TAKERS, takers);
    let [n_weak, n_strong] = fairness.words();
    let watches = match watches {
        Watches::Source => SOURCE,
        Watches::Target => TARGET,
        Watches::Changes => CHANGES,
        Watches::Actions => ACTIONS,
    };
    for (what, word) in [
        (part::WATCHES, watches),
        (part::WORD, seat.word as u32),
        (part::SHIFT, seat.shift),
        (part::MASK, seat.mask),
        (part::N_LETTERS, events.len() as u32),
        (part::N_PROPOSITIONS, propositions.len() as u32),
        (part::AT_END, at_end),
        (part::WEAK, n_weak as u32),
        (part::STRONG, n_strong as u32),
    ] {
        words[start + what] = word;
    }
    Some(Watched { words, shape: Shape { masks, n_events: n_valuations, ..shape }, seat })
}

/// The letters of actions that an observer watches: actions on which it has the same steps everywhere have the same one. Notes what is
/// seen of each letter.
fn letters_of_actions<O: Observer>(
    ask: &mut Answers<'_, O>,
    n_states: u64,
    n_actions: usize,
    events: &mut Vec<Event>,
) -> Option<Vec<u32>> {
    if n_states.saturating_mul(n_actions as u64) > 16 * MAX_ENTRIES {
        return None;
    }
    let valuation = ask.number(0);
    let unseen = Event::stuttering(valuation);
    events.push(unseen);
    let mut known: FxHashMap<Vec<Vec<(u32, u64)>>, u32> = FxHashMap::default();
    let mut letters = Vec::with_capacity(n_actions);
    for action in (0..n_actions).map(ActionId::new) {
        let event = Event { action: Some(action), ..unseen };
        if ask.is_silent(event) {
            letters.push(0);
            continue;
        }
        let mut row = |state| ask.steps(state, event).iter().map(|step| (step.to, step.marks)).collect();
        let rows: Vec<Vec<(u32, u64)>> = (0..n_states as u32).map(&mut row).collect();
        letters.push(*known.entry(rows).or_insert_with(|| {
            events.push(event);
            events.len() as u32 - 1
        }));
    }
    Some(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_observer_gets_bits_that_are_free() {
        for (masks, n_states, word, len) in [
            (vec![0xff], 1, 0, 1),
            (vec![0xffff_fff0], 16, 0, 1),
            (vec![0xffff_fff0], 17, 1, 2),
            (vec![u32::MAX], 2, 1, 2),
            (vec![u32::MAX, 0x7fff_ffff], 2, 2, 3),
            (vec![u32::MAX, 0x3fff_ffff], 2, 1, 2),
            (vec![u32::MAX, u32::MAX], 2, 2, 3),
            (vec![u32::MAX, u32::MAX, 1], 4, 2, 3),
            (vec![u32::MAX; 3], 4, 3, 4),
        ] {
            let mut with = masks.clone();
            let seat = Seat::of(&mut with, n_states).unwrap();
            assert_eq!((seat.word, with.len()), (word, len), "{masks:?}");
            let mut state = masks.clone();
            state.resize(with.len(), 0);
            for observer in (0..n_states as u32).rev() {
                seat.write(&mut state, observer);
                assert_eq!(seat.read(&state), observer);
            }
            assert_eq!(state[..masks.len()], masks);
        }
    }
}
