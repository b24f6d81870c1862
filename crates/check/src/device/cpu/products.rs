//! The kernels for products.

use model::tables::{Hard, head};

use super::{Counter, Lanes, MAX_LETTERS, Ordering, Place, State, whole};
use crate::device::fixpoint::{ALIVE, COUNT, LEAVES, WAITS};
use crate::device::job::Spread;
use crate::device::memory::GROUP;
use crate::device::observer::{self as told, Seat, part};

/// A step of a product, besides where it leads.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    /// What it begins with; nothing, where the end of a run repeats.
    action: Option<usize>,
    /// The observer's marks.
    marks: u32,
    is_silent: bool,
}

/// What was found in a state.
pub(super) struct Looked {
    n_edges: u32,
    is_deadlock: bool,
    pub(super) is_wrong: bool,
}

/// What the observer sees before a step.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub(super) watches: u32,
    /// The values of the propositions, as bits.
    from: usize,
    /// The letter where nothing changes.
    stays: usize,
    /// Where it is, and what it sees, as a number.
    pub(super) situation: usize,
}

/// The marks that are looked at: which kind, which word of them, which bits.
#[derive(Clone, Copy)]
struct Marks {
    kind: u64,
    word: usize,
    bits: u32,
}

impl Lanes<'_> {
    /// Where the words of the observer are; 0 if there is none.
    fn observer(&self) -> usize {
        self.program_words[head::FREE] as usize
    }

    pub(super) fn is_product(&self) -> bool {
        self.observer() != 0
    }

    fn part(&self, what: usize) -> usize {
        self.program_words[self.observer() + what] as usize
    }

    /// A word of a list.
    fn in_part(&self, what: usize, at: usize) -> usize {
        self.program_words[self.part(what) + at] as usize
    }

    fn seat(&self) -> Seat {
        Seat {
            word: self.part(part::WORD),
            shift: self.part(part::SHIFT) as u32,
            mask: self.part(part::MASK) as u32,
        }
    }

    /// The values of the propositions, as bits.
    fn valuation(&self, state: &[u32]) -> Result<usize, Hard> {
        let mut bits = 0;
        for bit in 0..self.part(part::N_PROPOSITIONS) {
            let number = self.in_part(part::PROPOSITIONS, bit);
            bits |= usize::from(self.program.holds(number, &state[..self.program.width()])?) << bit;
        }
        Ok(bits)
    }

    /// The state of the observer, and this valuation, as a number.
    fn situation(&self, state: &State, valuation: usize) -> usize {
        (self.seat().read(state) as usize) << self.part(part::N_PROPOSITIONS) | valuation
    }

    /// How the observer accepts in a state with this valuation.
    fn stance(&self, state: &State, valuation: usize) -> u32 {
        self.in_part(part::STANCES, self.situation(state, valuation)) as u32
    }

    /// Whether it must be known where a step leads, to tell what is seen of it.
    pub(super) fn needs_target(&self, seen: Seen, action: usize) -> bool {
        matches!(seen.watches, told::TARGET | told::CHANGES) && self.in_part(part::ACTIONS, action) != 0
    }

    /// What is seen of a step: the letter, and whether that is nothing.
    pub(super) fn see(&self, seen: Seen, action: usize, target: &[u32]) -> Result<(usize, bool), Hard> {
        let Seen { watches, from, stays, .. } = seen;
        if watches == told::ACTIONS {
            let letter = self.in_part(part::ACTIONS, action);
            return Ok((letter, self.in_part(part::SILENT, letter) != 0));
        }
        if !self.needs_target(seen, action) {
            return Ok((stays, true));
        }
        let to = self.valuation(target)?;
        self.meet(to);
        if watches == told::TARGET {
            return Ok((to, from == to));
        }
        let letter = from << self.part(part::N_PROPOSITIONS) | to;
        Ok((letter, self.in_part(part::SILENT, letter) != 0))
    }

    /// How many steps the observer has in a state for a letter.
    pub(super) fn n_moves(&self, state: &State, letter: usize) -> usize {
        let row = self.seat().read(state) as usize * self.part(part::N_LETTERS) + letter;
        self.in_part(part::STARTS, row + 1) - self.in_part(part::STARTS, row)
    }

    /// Calls `visit` with the states that the observer comes to when the system comes to one.
    fn move_by(
        &self,
        letter: usize,
        target: &[u32],
        edge: Edge,
        visit: &mut impl FnMut(&State, Edge),
    ) -> u32 {
        let (seat, n_letters) = (self.seat(), self.part(part::N_LETTERS));
        let mut target = whole(target);
        let row = seat.read(&target) as usize * n_letters + letter;
        let steps = self.in_part(part::STARTS, row)..self.in_part(part::STARTS, row + 1);
        for step in steps.clone() {
            seat.write(&mut target, self.in_part(part::STEPS, 2 * step) as u32);
            visit(&target, Edge { marks: self.in_part(part::STEPS, 2 * step + 1) as u32, ..edge });
        }
        steps.len() as u32
    }

    /// Calls `visit` with each step of the product.
    pub(super) fn for_each_edge(
        &self,
        state: &State,
        mut visit: impl FnMut(&State, Edge),
    ) -> Result<Looked, Hard> {
        let words = &state[..2 * self.state_words];
        let watches = self.part(part::WATCHES) as u32;
        let from = self.valuation(words)?;
        self.meet(from);
        let stance = self.stance(state, from);
        if stance & told::AT_ONCE != 0 {
            return Ok(Looked { n_edges: 0, is_deadlock: false, is_wrong: true });
        }
        // What it sees where nothing changes.
        let stays =
            if watches == told::CHANGES { from << self.part(part::N_PROPOSITIONS) | from } else { from };
        let seen = Seen { watches, from, stays, situation: self.situation(state, from) };
        let (mut n_edges, mut is_hard) = (0, false);
        let mut take = |action: usize, target: &[u32]| match self.see(seen, action, target) {
            Ok((letter, is_silent)) => {
                let edge = Edge { action: Some(action), marks: 0, is_silent };
                n_edges += self.move_by(letter, target, edge, &mut visit);
            }
            Err(Hard) => is_hard = true,
        };
        let (n_steps, has_led) = match self.is_led {
            true => self.for_each_led(state, seen, take)?,
            false => (self.program.for_each_step(words, &mut take, |_| ())?, false),
        };
        if is_hard {
            return Err(Hard);
        }
        let is_deadlock = if watches == told::ACTIONS { n_edges == 0 && !has_led } else { n_steps == 0 };
        let at_end = self.part(part::AT_END) as u32;
        if is_deadlock && at_end == told::STUTTERS {
            let edge = Edge { action: None, marks: 0, is_silent: true };
            n_edges += self.move_by(stays, words, edge, &mut visit);
        }
        let is_wrong = at_end == told::IS_WRONG || at_end == told::IS_ASKED && stance & told::AT_END != 0;
        Ok(Looked { n_edges, is_deadlock, is_wrong: is_deadlock && is_wrong })
    }

    /// Notes that a valuation was met.
    fn meet(&self, bits: usize) {
        let word = self.word(self.place(Place::Taken) + bits as u64 / 64);
        word.fetch_or(1 << (bits % 64), Ordering::Relaxed);
    }

    // ---- A word of 32 bits per state -----------------------------------------------------------

    fn half(&self, place: Place, id: u64) -> (u64, u32) {
        (self.place(place) + id / 2, 32 * (id % 2) as u32)
    }

    fn read_half(&self, place: Place, id: u64) -> u32 {
        let (at, shift) = self.half(place, id);
        (self.word(at).load(Ordering::SeqCst) >> shift) as u32
    }

    pub(super) fn seen(&self, id: u64) -> u32 {
        self.read_half(Place::Seen, id)
    }

    fn set_bits(&self, place: Place, id: u64, bits: u32) -> u32 {
        let (at, shift) = self.half(place, id);
        (self.word(at).fetch_or(u64::from(bits) << shift, Ordering::SeqCst) >> shift) as u32
    }

    fn clear_bits(&self, id: u64, bits: u32) {
        let (at, shift) = self.half(Place::Words, id);
        self.word(at).fetch_and(!(u64::from(bits) << shift), Ordering::SeqCst);
    }

    // ---- Kernels: what one lane does -----------------------------------------------------------

    pub(super) fn pair(&self, lane: u64) {
        let Some(state) = self.item(self.orders[0] + lane) else { return };
        let looked = self.for_each_edge(&state, |target, _| self.insert(target));
        let Ok(looked) = looked else { return self.note(&state) };
        self.count(Counter::Transitions, looked.n_edges.into());
        self.count(Counter::Deadlocks, looked.is_deadlock.into());
        self.count(Counter::Found, looked.is_wrong.into());
    }

    pub(super) fn begin_cycles(&self, lane: u64) {
        let first = self.orders[0] + GROUP * lane;
        (first..first + GROUP).for_each(|id| self.begin_with(id));
    }

    fn begin_with(&self, id: u64) {
        let [_, are_livelocks, end, ..] = self.orders;
        self.clear_bits(id, u32::MAX);
        let Some(state) = (id < end).then(|| self.known(id)).flatten() else { return };
        let Ok(valuation) = self.valuation(&state) else { return self.note(&state) };
        let stance = self.stance(&state, valuation);
        let is_in =
            if are_livelocks != 0 { stance & told::LIVELOCK != 0 } else { stance & told::PASSING == 0 };
        if is_in {
            self.set_bits(Place::Words, id, ALIVE);
            self.count(Counter::Found, 1);
        }
    }

    /// The marks that a state has, by what is enabled in it: of weak constraints that are not, or of strong ones that are.
    fn state_marks(&self, state: &State, Marks { kind, word, .. }: Marks) -> Result<u32, Hard> {
        if kind == 0 {
            return Ok(0);
        }
        // Whatever the observer lets happen.
        let (mut enabled, words) = (0, &state[..2 * self.state_words]);
        let see = |action, _: &[u32]| enabled |= self.constraint(part::MEMBERS, action, kind, word);
        self.program.for_each_step(words, see, |_| ())?;
        Ok(if kind == 1 { !enabled } else { enabled })
    }

    /// The word of constraints of an action.
    fn constraint(&self, table: usize, action: usize, kind: u64, word: usize) -> u32 {
        let (n_weak, n_strong) = (self.part(part::WEAK), self.part(part::STRONG));
        let word = if kind == 1 { word } else { n_weak + word };
        self.in_part(table, action * (n_weak + n_strong) + word) as u32
    }

    pub(super) fn spread(&self, lane: u64) {
        let first = self.orders[0] + GROUP * lane;
        (first..first + GROUP).for_each(|id| self.spread_from(id));
    }

    fn spread_from(&self, id: u64) {
        let [_, what, flags, kind, word, bits] = self.orders;
        let now = self.read_half(Place::Words, id);
        let is = |kind: Spread| what == kind as u64;
        let has_to = now & ALIVE != 0
            && (!is(Spread::Trim) || now & COUNT == 0 || now & LEAVES != 0)
            && (!is(Spread::Reach) || now & WAITS != 0);
        if !has_to {
            return;
        }
        if is(Spread::Wait) {
            self.set_bits(Place::Words, id, WAITS);
            self.count(Counter::Found, 1);
            return;
        }
        let Some(state) = self.known(id) else { return };
        let marks = Marks { kind, word: word as usize, bits: bits as u32 };
        if is(Spread::Leave) {
            let mut missing = marks.bits & !self.seen(id);
            if kind == 2 && missing != 0 {
                let Ok(enabled) = self.state_marks(&state, marks) else { return self.note(&state) };
                missing &= enabled;
            }
            if missing != 0 {
                self.set_bits(Place::Words, id, LEAVES);
                self.count(Counter::Found, 1);
            }
            return;
        }
        if is(Spread::Trim) {
            self.clear_bits(id, ALIVE);
        }
        if is(Spread::Reach) {
            self.clear_bits(id, WAITS);
        }
        self.count(Counter::Found, 1);
        // Nothing must be done twice: what is hard is left to the processor before something is done.
        if flags & 2 != 0 && self.for_each_edge(&state, |_, _| ()).is_err() {
            return self.note(&state);
        }
        let only_silent = flags & 1 != 0;
        let at_state = if is(Spread::Reach) { self.state_marks(&state, marks) } else { Ok(0) };
        let Ok(at_state) = at_state else { return self.note(&state) };
        let seen = if is(Spread::Reach) { self.seen(id) } else { 0 };
        let looked = self.for_each_edge(&state, |target, edge| {
            if only_silent && !edge.is_silent {
                return;
            }
            let taken = |action| self.constraint(part::TAKERS, action, kind, marks.word);
            let by_step = match kind {
                0 => edge.marks,
                1 => at_state | edge.action.map_or(0, taken),
                _ => edge.action.map_or(0, taken),
            };
            if let Some(target) = self.find(target) {
                self.hear(target, what, seen | by_step & marks.bits);
            }
        });
        if looked.is_err() {
            self.note(&state);
        }
    }

    /// Something about a state.
    fn hear(&self, id: u64, what: u64, told: u32) {
        if what == Spread::Begin as u64 {
            self.set_bits(Place::Words, id, told);
            return;
        }
        if self.read_half(Place::Words, id) & ALIVE == 0 {
            return;
        }
        let (at, shift) = self.half(Place::Words, id);
        if what == Spread::Count as u64 {
            let before = self.word(at).fetch_add(1 << shift, Ordering::SeqCst) >> shift;
            if before as u32 & COUNT >= COUNT / 2 {
                self.word(Counter::Full as u64).store(1, Ordering::Relaxed);
            }
        } else if what == Spread::Trim as u64 {
            self.word(at).fetch_sub(1 << shift, Ordering::SeqCst);
        } else if what == Spread::Leave as u64 {
            self.set_bits(Place::Words, id, LEAVES);
        } else if told & !self.set_bits(Place::Seen, id, told) != 0 {
            self.set_bits(Place::Words, id, WAITS);
        }
    }

    pub(super) fn tell(&self, lane: u64) {
        let answers = self.place(Place::Letters) + MAX_LETTERS * self.state_words as u64;
        let told = self.word(answers + lane).load(Ordering::Relaxed) as u32;
        if let Some(id) = self.find(&self.letter(lane)) {
            self.hear(id, self.orders[1], told);
        }
    }
}
