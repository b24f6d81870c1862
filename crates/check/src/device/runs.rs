//! Runs, found by going backward.
//!
//! Nothing is kept about how a state was found. To find a run to some states of a level, states get *codes*: these have the
//! first one, who has a step to one of these the second one, and so on, until the first level has its turn. Then the run is read off
//! forward by the processor: always by the first step that leads to a state with the code before. So it is a shortest run, and of all
//! shortest runs the first in the order of steps: the one that a sequential breadth-first search finds.
//!
//! A code is a byte, and there may be more rounds than codes: they are used again and again. A state with the right code may then
//! be one from which the way is longer by a multiple of [`N_CODES`]; but only if so many rounds were made after its own.
//! So after [`N_CODES`] − 1 steps of the run, everything is forgotten and done again, with as many rounds as there are steps left.
//!
//! Narrow states have no levels: all of them are looked at in every round. Of wide states, one level is.

use base::Limit;
use model::{ActionId, Run};

use super::levels::Levels;
use super::space::{Space, targets};

/// There are so many codes, from 1 on.
const N_CODES: u64 = 255;

/// A run, and which step of its state each step is.
pub(super) struct Way {
    /// Which of the initial states it begins with.
    pub(super) initial: usize,
    /// What the steps begin with; nothing, where the end of a run repeats.
    pub(super) actions: Vec<Option<ActionId>>,
    places: Vec<usize>,
    pub(super) states: Vec<Vec<u32>>,
}

impl Way {
    /// Where it leads.
    pub(super) fn last(&self) -> &[u32] {
        self.states.last().map_or(&[], Vec::as_slice)
    }

    /// What happens on it.
    pub(super) fn run(&self) -> Run {
        Run { initial: self.initial, actions: self.actions.iter().copied().flatten().collect() }
    }

    /// Whether a state is expanded before another one, or before that one is found.
    pub(super) fn is_before(&self, other: &Way) -> bool {
        let n = self.places.len().min(other.places.len());
        (self.initial, &self.places[..n]) < (other.initial, &other.places[..n])
    }
}

/// The code of a state from which the way has so many steps.
fn code(n_steps: u64) -> u8 {
    (1 + n_steps % N_CODES) as u8
}

impl<P: Space> Levels<'_, '_, '_, P> {
    /// The first run to one of the states of a level that `pick` gives the code 1; nothing if all lead through states in
    /// which the model goes wrong.
    pub(super) fn way(
        &mut self,
        level: usize,
        mut pick: impl FnMut(&mut Self) -> Result<(), Limit>,
    ) -> Result<Option<Way>, Limit> {
        let n_steps = level as u64;
        let initial = self.space.initial().map_err(|_| Limit::Device)?;
        self.go_back(level, n_steps, &mut pick)?;
        let codes = self.job.ask(&initial)?;
        let Some(first) = codes.iter().position(|known| *known == Some(code(n_steps))) else {
            return Ok(None);
        };
        let (actions, places) = (Vec::new(), Vec::new());
        let mut way = Way { initial: first, actions, places, states: vec![initial[first].clone()] };
        for step in 0..n_steps {
            let left = n_steps - step;
            if step > 0 && step % (N_CODES - 1) == 0 {
                self.go_back(level, left, &mut pick)?;
            }
            // A state in which the model goes wrong has no code, and a step to a code there is.
            let found = self.space.expand(way.last()).map_err(|_| Limit::Device)?;
            let mut targets = targets(&self.space, found.n_steps);
            let codes = self.job.ask(&targets)?;
            let place = codes.iter().position(|known| *known == Some(code(left - 1)));
            let place = place.ok_or(Limit::Device)?;
            let mut target = targets.swap_remove(place);
            way.actions.push(self.space.step(place, &mut target));
            way.places.push(place);
            way.states.push(target);
            self.poll()?;
        }
        Ok(Some(way))
    }

    /// Gives codes to states of this level, and to those from which so many steps or fewer lead there.
    fn go_back(
        &mut self,
        level: usize,
        n_rounds: u64,
        pick: &mut impl FnMut(&mut Self) -> Result<(), Limit>,
    ) -> Result<(), Limit> {
        self.job.forget()?;
        pick(self)?;
        for round in 1..=n_rounds {
            let (from, end) = if self.job.plan.is_narrow {
                (0, self.job.plan.n_ids())
            } else {
                self.items(level - round as usize)
            };
            self.scan(from, end, code(round - 1), code(round))?;
        }
        Ok(())
    }

    /// Gives a code to the states that have a step to one with another code.
    fn scan(&mut self, mut from: u64, end: u64, want: u8, code: u8) -> Result<(), Limit> {
        while from < end {
            let n = (end - from).min(self.job.plan.chunk);
            let counts = self.job.scan(self.kernels.backward, from, n, want, code)?;
            from += n;
            let mut found = Vec::new();
            for state in self.job.notes(counts.notes)? {
                if let Ok(here) = self.space.expand(&state) {
                    let targets = targets(&self.space, here.n_steps);
                    if self.job.ask(&targets)?.contains(&Some(want)) {
                        found.push(state);
                    }
                }
            }
            self.job.mark(&found, code)?;
            self.poll()?;
        }
        Ok(())
    }
}
