//! How a steady set is chosen: see the head of [`steady`](super). What is here a lane of a device can do, too: no allocation, no
//! recursion.

use super::{MAX_VERTICES, MAY_END, MAY_WAIT, NONE, PART, UNKNOWN, USERS, WRITERS, part};
use crate::graph::List;

/// Words of 32 bits for a bit per vertex.
const N_BITS: usize = MAX_VERTICES / 32;

/// What is asked about a state.
pub trait Facts {
    /// Why an answer may be missing.
    type Error;

    /// The number that is stored of a variable.
    fn raw(&mut self, var: usize) -> u64;

    /// Whether a guard is true.
    ///
    /// # Errors
    /// It cannot be told.
    fn holds(&mut self, guard: usize) -> Result<bool, Self::Error>;
}

/// Working memory: a bit for each vertex.
#[derive(Clone, Debug)]
pub struct Bits {
    /// The actions that are enabled.
    pub enabled: [u32; N_BITS],
    /// Those of them that move an observer, and the actions that are enabled but for the observer.
    pub moves: [u32; N_BITS],
    /// The enabled actions that are to be taken.
    pub chosen: [u32; N_BITS],
    done: [u32; N_BITS],
    todo: [u32; N_BITS],
    /// No word before this one of what is to be done has a bit.
    first: usize,
}

impl Default for Bits {
    fn default() -> Bits {
        let none = [0; N_BITS];
        Bits { enabled: none, moves: none, chosen: none, done: none, todo: none, first: 0 }
    }
}

fn count(bits: &[u32]) -> u32 {
    bits.iter().map(|word| word.count_ones()).sum()
}

/// Whether a bit is set.
#[inline]
pub fn has(bits: &[u32], at: u32) -> bool {
    bits[at as usize / 32] >> (at % 32) & 1 == 1
}

impl Bits {
    /// Nothing is enabled.
    pub fn clear(&mut self) {
        self.enabled.fill(0);
        self.moves.fill(0);
    }

    /// An action is enabled.
    pub fn enable(&mut self, action: usize) {
        self.enabled[action / 32] |= 1 << (action % 32);
    }

    /// An action moves the observer, or waits for it.
    pub fn involve(&mut self, action: usize) {
        self.moves[action / 32] |= 1 << (action % 32);
    }

    fn add(&mut self, vertex: u32) {
        let (at, bit) = (vertex as usize / 32, 1 << (vertex % 32));
        if (self.done[at] | self.todo[at]) & bit == 0 {
            self.todo[at] |= bit;
            self.first = self.first.min(at);
        }
    }

    fn forget(&mut self, n_words: usize) {
        self.done[..n_words].fill(0);
        self.todo[..n_words].fill(0);
        self.first = n_words;
    }

    /// The enabled actions that were reached are to be taken.
    fn choose_reached(&mut self, n_words: usize) {
        (0..n_words).for_each(|at| self.chosen[at] = self.done[at] & self.enabled[at]);
    }

    fn next(&mut self, n_words: usize) -> Option<u32> {
        while self.first < n_words {
            let word = self.todo[self.first];
            if word != 0 {
                let vertex = 32 * self.first as u32 + word.trailing_zeros();
                self.todo[self.first] &= word - 1;
                self.done[self.first] |= 1 << (vertex % 32);
                return Some(vertex);
            }
            self.first += 1;
        }
        None
    }
}

/// Why a guard is false: a list, or who leads its control variable out of these rows.
#[derive(Clone, Copy)]
enum Reason {
    List(List),
    Beyond { control: u32, rows: u64 },
}

/// When a closure is of no use: it has so many enabled actions, or one of the seeds before this one, whose closure was not smaller than
/// the best one so far, and is a part of this one.
#[derive(Clone, Copy)]
struct Stop {
    most: u32,
    seed: u32,
    /// Only what does not move the observer was a seed.
    is_silent: bool,
}

/// The words of [`SteadySets`](super::SteadySets), to be used.
#[derive(Clone, Copy, Debug)]
pub struct Words<'w> {
    words: &'w [u32],
    /// Where that is which an observer offers; 0 if there is none.
    offer: u32,
}

impl<'w> Words<'w> {
    /// For deadlocks or a goal.
    pub fn new(words: &'w [u32]) -> Words<'w> {
        Words { words, offer: 0 }
    }

    /// For an observer that makes the offer of this number.
    pub fn led_by(words: &'w [u32], number: usize) -> Words<'w> {
        Words { words, offer: words[words[part::OFFERS] as usize + number] }
    }

    fn at(self, place: u32) -> u32 {
        self.words[place as usize]
    }

    fn part(self, what: usize) -> u32 {
        self.words[what]
    }

    fn list(self, place: u32) -> List {
        List { start: self.at(place), end: self.at(place + 1) }
    }

    /// How many words of bits there are for actions, and for all.
    fn n_words(self) -> (usize, usize) {
        let n_words = |what: usize| self.words[what].div_ceil(32) as usize;
        (n_words(part::N_ACTIONS), n_words(part::N_VERTICES))
    }

    /// Whether a step may be several actions.
    pub fn has_chains(self) -> bool {
        self.part(part::HAS_CHAINS) != 0
    }

    /// Chooses those of the enabled actions that must be taken; returns how many there are.
    ///
    /// # Errors
    /// A guard cannot be evaluated.
    pub fn choose<F: Facts>(self, facts: &mut F, bits: &mut Bits) -> Result<u32, F::Error> {
        let (n_words, n_all) = self.n_words();
        if self.part(part::GOAL) != 0 {
            bits.forget(n_all);
            bits.chosen[..n_words].fill(0);
            if !self.attract(facts, bits) {
                return Ok(0);
            }
            return self.close_all(facts, bits);
        }
        if self.offer == 0 {
            return self.smallest(false, facts, bits);
        }
        let n_enabled = count(&bits.enabled[..n_words]);
        let flags = self.at(self.offer);
        if n_enabled == 0 || n_enabled == 1 && flags & MAY_WAIT != 0 {
            bits.chosen = bits.enabled;
            return Ok(n_enabled);
        }
        if flags & MAY_WAIT != 0 {
            let has_silent = (0..n_words).any(|at| bits.enabled[at] & !bits.moves[at] != 0);
            return self.smallest(has_silent, facts, bits);
        }
        bits.forget(n_all);
        self.add(self.follows(), facts, bits);
        let n_chosen = self.close_all(facts, bits)?;
        if n_chosen == 0 && flags & MAY_END != 0 { self.smallest(false, facts, bits) } else { Ok(n_chosen) }
    }

    /// Chooses the smallest closure of an enabled action; of one that does not move the observer, if it is to be silent.
    fn smallest<F: Facts>(self, is_silent: bool, facts: &mut F, bits: &mut Bits) -> Result<u32, F::Error> {
        let (n_words, n_all) = self.n_words();
        let mut fewest = count(&bits.enabled[..n_words]);
        bits.chosen[..n_words].copy_from_slice(&bits.enabled[..n_words]);
        for at in 0..n_words {
            let mut seeds = bits.enabled[at] & if is_silent { !bits.moves[at] } else { u32::MAX };
            while seeds != 0 && fewest > 1 {
                let seed = 32 * at as u32 + seeds.trailing_zeros();
                seeds &= seeds - 1;
                bits.forget(n_all);
                bits.add(seed);
                let n_enabled = self.close(Stop { most: fewest, seed, is_silent }, facts, bits)?;
                if n_enabled < fewest {
                    fewest = n_enabled;
                    bits.choose_reached(n_words);
                }
            }
        }
        Ok(fewest)
    }

    /// Chooses all that what is to be done leads to.
    fn close_all<F: Facts>(self, facts: &mut F, bits: &mut Bits) -> Result<u32, F::Error> {
        let n_enabled = self.close(Stop { most: u32::MAX, seed: 0, is_silent: false }, facts, bits)?;
        bits.choose_reached(self.n_words().0);
        Ok(n_enabled)
    }

    /// Adds what is to be done to all that it leads to. Returns how many enabled actions there are, or too many if it is of no use.
    fn close<F: Facts>(self, stop: Stop, facts: &mut F, bits: &mut Bits) -> Result<u32, F::Error> {
        let (_, n_all) = self.n_words();
        let n_actions = self.part(part::N_ACTIONS);
        // The last vertex is what the observer follows, if there is one.
        let observer = if self.offer == 0 { NONE } else { self.part(part::N_VERTICES) - 1 };
        if let Some(open) = self.part(part::OPEN).checked_sub(1) {
            bits.add(open);
        }
        let mut n_enabled = 0;
        while let Some(vertex) = bits.next(n_all) {
            if vertex == observer {
                self.add(self.follows(), facts, bits);
                continue;
            }
            if vertex >= n_actions {
                let hub = self.list(self.part(part::HUBS) + 2 * (vertex - n_actions));
                self.add(hub, facts, bits);
                continue;
            }
            let (is_enabled, moves) = (has(&bits.enabled, vertex), has(&bits.moves, vertex));
            if is_enabled {
                n_enabled += 1;
                let was_seed = vertex < stop.seed && !(stop.is_silent && moves);
                if n_enabled >= stop.most || was_seed {
                    return Ok(u32::MAX);
                }
            } else if !moves || self.is_refused(vertex) {
                self.add_reason(vertex, facts, bits)?;
                continue;
            }
            self.add(self.list(self.part(part::NEEDS) + 2 * vertex), facts, bits);
            if moves {
                bits.add(observer);
            }
        }
        Ok(n_enabled)
    }

    /// What the observer may follow.
    fn follows(self) -> List {
        self.list(self.offer + 1)
    }

    /// Whether the observer lets an action never happen, as long as it stays where it is.
    fn is_refused(self, action: u32) -> bool {
        self.offer != 0 && self.at(self.at(self.offer + 3) + action / 32) >> (action % 32) & 1 == 1
    }

    /// The row of a control variable in this state: where its lists are.
    fn row<F: Facts>(self, control: u32, facts: &mut F) -> u32 {
        let at = self.part(part::CONTROLS) + 3 * control;
        self.at(at + 1) + 6 * facts.raw(self.at(at) as usize) as u32
    }

    /// Adds a list.
    fn add<F: Facts>(self, list: List, facts: &mut F, bits: &mut Bits) {
        for at in list.start..list.end {
            let item = self.at(at);
            if item < USERS {
                bits.add(item);
                continue;
            }
            let is_writers = item >= WRITERS;
            let row = self.row(item & (USERS - 1), facts);
            let list = self.list(if is_writers { row + 2 } else { row });
            (list.start..list.end).for_each(|at| bits.add(self.at(at)));
        }
    }

    /// Adds what must happen before a disabled action can.
    fn add_reason<F: Facts>(self, action: u32, facts: &mut F, bits: &mut Bits) -> Result<(), F::Error> {
        let at = self.part(part::GUARDS_OF) + 3 * action;
        let [start, middle, end] = [self.at(at), self.at(at + 1), self.at(at + 2)];
        let mut best = None;
        if self.is_refused(action) {
            best = Some((self.n_enabled_in(self.follows(), bits), Reason::List(self.follows())));
        }
        for at in start..end {
            // Expressions may rely on the guards before them; and the first that is false will do.
            if best.is_some_and(|(n_enabled, _)| n_enabled == 0 || at >= middle) {
                break;
            }
            let guard = self.at(at);
            if !facts.holds(guard as usize)? {
                self.look_at(guard, facts, bits, &mut best);
            }
        }
        match best {
            Some((_, Reason::List(list))) => self.add(list, facts, bits),
            Some((_, Reason::Beyond { control, rows })) => self.add_beyond(control, rows, bits),
            None => {
                let (n_words, _) = self.n_words();
                for at in 0..n_words {
                    bits.todo[at] |= bits.enabled[at] & !bits.done[at];
                }
                bits.first = 0;
            }
        }
        Ok(())
    }

    /// How many actions of a list are enabled.
    fn n_enabled_in(self, list: List, bits: &Bits) -> u32 {
        (list.start..list.end).filter(|&at| has(&bits.enabled, self.at(at))).count() as u32
    }

    /// Compares the reasons of a guard that is false with the best one so far.
    fn look_at<F: Facts>(self, guard: u32, facts: &mut F, bits: &Bits, best: &mut Option<(u32, Reason)>) {
        let at = self.part(part::GUARDS) + 8 * guard;
        let mut compare = |n_enabled: u32, reason| {
            if best.is_none_or(|(fewest, _)| n_enabled < fewest) {
                *best = Some((n_enabled, reason));
            }
        };
        let front = self.at(at + 2);
        let list = if front != NONE && facts.raw(front as usize) > 0 { at + 3 } else { at };
        let list = self.list(list);
        if list.start != NONE {
            compare(self.n_enabled_in(list, bits), Reason::List(list));
        }
        let control = self.at(at + 5);
        if control == NONE {
            return;
        }
        let row = self.row(control, facts);
        let list = self.list(row + 2);
        compare(self.n_enabled_in(list, bits), Reason::List(list));
        let rows = u64::from(self.at(at + 6)) | u64::from(self.at(at + 7)) << 32;
        let reached = if rows == u64::MAX { rows } else { self.reached(control, row, bits) };
        if rows & reached == 0 {
            compare(0, Reason::Beyond { control, rows: reached });
        }
    }

    /// The rows that a control variable can come to by enabled actions.
    fn reached(self, control: u32, row: u32, bits: &Bits) -> u64 {
        let first = self.at(self.part(part::CONTROLS) + 3 * control + 1);
        let (mut reached, mut done) = (1u64 << ((row - first) / 6), 0u64);
        while reached != done {
            let next = (reached & !done).trailing_zeros();
            done |= 1 << next;
            let moves = self.list(first + 6 * next + 4);
            let mut at = moves.start;
            while at < moves.end {
                if has(&bits.enabled, self.at(at)) {
                    reached |= 1 << self.at(at + 1);
                }
                at += 2;
            }
        }
        reached
    }

    /// Adds who leads a control variable out of some rows.
    fn add_beyond(self, control: u32, rows: u64, bits: &mut Bits) {
        let first = self.at(self.part(part::CONTROLS) + 3 * control + 1);
        let mut left = rows;
        while left != 0 {
            let moves = self.list(first + 6 * left.trailing_zeros() + 4);
            left &= left - 1;
            let mut at = moves.start;
            while at < moves.end {
                if !has(&bits.enabled, self.at(at)) {
                    bits.add(self.at(at));
                }
                at += 2;
            }
        }
    }

    /// Adds actions of which one must happen before the goal is reached; not if it is reached, as far as can be told.
    fn attract<F: Facts>(self, facts: &mut F, bits: &mut Bits) -> bool {
        let (_, n_all) = self.n_words();
        let (mut at, mut n_added) = (self.part(part::GOAL) + 1, 0);
        for _ in 0..self.at(at - 1) {
            let n_parts = self.at(at);
            at += 1;
            // Of a conjunction, one false part suffices: the one with the fewest actions.
            let (mut is_unknown, mut fewest) = (false, None::<List>);
            for part in (0..n_parts).map(|number| at + PART as u32 * number) {
                if self.at(part + 4) == UNKNOWN {
                    is_unknown = true;
                } else if let Some(list) = self.why_false(part, facts)
                    && fewest.is_none_or(|known| list.end - list.start < known.end - known.start)
                {
                    fewest = Some(list);
                }
            }
            if let Some(list) = fewest {
                n_added += list.end - list.start;
                self.add(list, facts, bits);
            } else if is_unknown {
                for part in (0..n_parts).map(|number| at + PART as u32 * number) {
                    if self.at(part + 4) == UNKNOWN {
                        let list = self.list(part + 5);
                        n_added += list.end - list.start;
                        self.add(list, facts, bits);
                    }
                }
            } else {
                return false;
            }
            at += PART as u32 * n_parts;
        }
        let anywhere = self.list(part::ANYWHERE as u32);
        if anywhere.end - anywhere.start < n_added {
            bits.forget(n_all);
            self.add(anywhere, facts, bits);
        }
        true
    }

    /// Who can make a part true, if it is false.
    fn why_false<F: Facts>(self, part: u32, facts: &mut F) -> Option<List> {
        let twice = |at: u32| u64::from(self.at(at)) | u64::from(self.at(at + 1)) << 32;
        let mut sum = twice(part + 2);
        for term in (0..self.at(part)).map(|number| self.at(part + 1) + 3 * number) {
            let raw = facts.raw(self.at(term) as usize);
            sum = sum.wrapping_add(raw.wrapping_mul(twice(term + 1)));
        }
        let sign = (sum as i64).signum() + 1;
        (self.at(part + 4) >> sign & 1 == 0).then(|| self.list(part + 5 + 2 * sign as u32))
    }
}
