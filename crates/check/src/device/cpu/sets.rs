//! The kernels that leave something out: by sets that depend on the state alone ([`por::steady`]).

use model::tables::{Hard, Program, head};
use por::steady::{Bits, Facts, Words};

use super::products::Seen;
use super::{Counter, Lanes, Ordering, Place, State, whole};

/// The bits that are set.
fn ones(bits: &[u32]) -> impl Iterator<Item = usize> {
    let is_set = |at: &usize| bits[at / 32] >> (at % 32) & 1 == 1;
    (0..32 * bits.len()).filter(is_set)
}

/// A state.
struct Here<'a> {
    program: Program<'a>,
    state: &'a [u32],
}

impl Facts for Here<'_> {
    type Error = Hard;

    fn raw(&mut self, var: usize) -> u64 {
        self.program.raw(var, self.state)
    }

    fn holds(&mut self, guard: usize) -> Result<bool, Hard> {
        self.program.guard_holds(guard, self.state)
    }
}

impl Lanes<'_> {
    /// Calls `visit` with where each step leads that is to be taken, and `took` with every action that happens; returns how many
    /// steps there are.
    fn for_each_chosen(
        &self,
        state: &State,
        mut visit: impl FnMut(&State),
        mut took: impl FnMut(usize),
    ) -> Result<u32, Hard> {
        let (program, state) = (self.program, &state[..self.program.width()]);
        let sets = Words::new(&self.program_words[self.program_words[head::FREE_TOO] as usize..]);
        if sets.has_chains() {
            // Where a chain has a choice or goes wrong, the processor looks at all of them.
            program.for_each_step(state, |_, _| (), |_| ())?;
        }
        let mut bits = Bits::default();
        program.for_each_enabled(state, |action| bits.enable(action))?;
        let n_steps = sets.choose(&mut Here { program, state }, &mut bits)?;
        for action in ones(&bits.chosen) {
            let mut target = whole(state);
            program.take(action, &mut target[..state.len()], &mut took)?;
            visit(&target);
        }
        Ok(n_steps)
    }

    /// Calls `visit` with the steps of the system that the observer of a product leads to; says how many steps there are in all, and
    /// whether the observer lets one of these happen.
    pub(super) fn for_each_led(
        &self,
        state: &State,
        seen: Seen,
        mut visit: impl FnMut(usize, &[u32]),
    ) -> Result<(u32, bool), Hard> {
        let (program, words) = (self.program, &state[..2 * self.state_words]);
        let sets = &self.program_words[self.program_words[head::FREE_TOO] as usize..];
        let sets = Words::led_by(sets, seen.situation);
        let n_words = program.width();
        if sets.has_chains() {
            program.for_each_step(words, |_, _| (), |_| ())?;
        }
        let (mut bits, mut n_steps, mut is_hard) = (Bits::default(), 0, false);
        program.for_each_enabled(&state[..n_words], |action| {
            n_steps += 1;
            let mut target = *state;
            let is_taken = self.needs_target(seen, action)
                && program.take(action, &mut target[..n_words], &mut |_| ()).is_err();
            let Ok((letter, is_silent)) = self.see(seen, action, &target) else {
                is_hard = true;
                return;
            };
            is_hard |= is_taken;
            let is_possible = self.n_moves(state, letter) > 0;
            if is_possible {
                bits.enable(action);
            }
            if !is_possible || !is_silent {
                bits.involve(action);
            }
        })?;
        let is_possible = bits.enabled.iter().any(|&word| word != 0);
        if is_hard {
            return Err(Hard);
        }
        if is_possible {
            sets.choose(&mut Here { program, state: &state[..n_words] }, &mut bits)?;
        }
        for action in ones(&bits.chosen).filter(|_| is_possible) {
            let mut target = *state;
            program.take(action, &mut target[..n_words], &mut |_| ())?;
            visit(action, &target[..words.len()]);
        }
        Ok((n_steps, is_possible))
    }

    pub(super) fn reduce(&self, lane: u64) {
        let Some(state) = self.item(self.orders[0] + lane) else { return };
        let taken = self.place(Place::Taken);
        let note = |action: usize| {
            self.word(taken + action as u64 / 64).fetch_or(1 << (action % 64), Ordering::Relaxed);
        };
        match self.for_each_chosen(&state, |target| self.insert(target), note) {
            Ok(0) => _ = self.count(Counter::Deadlocks, 1),
            Ok(n_steps) => _ = self.count(Counter::Transitions, n_steps.into()),
            Err(_) => self.note(&state),
        }
    }

    pub(super) fn retrace(&self, lane: u64) {
        let [from, want, code, ..] = self.orders;
        let id = from + lane;
        let Some(state) = self.known(id).filter(|_| self.code(id) == 0) else { return };
        let mut is_near = false;
        let near = |target: &State| is_near |= self.find(target).is_some_and(|id| self.code(id) == want);
        if self.for_each_chosen(&state, near, |_| ()).is_err() {
            self.note(&state);
        } else if is_near {
            self.set_code(id, code);
            self.count(Counter::Found, 1);
        }
    }
}
