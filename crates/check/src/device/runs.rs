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

use super::states::Search;

/// There are so many codes, from 1 on.
const N_CODES: u64 = 255;

/// A run, and which step of its state each action is.
pub(super) struct Way {
    pub(super) run: Run,
    pub(super) places: Vec<usize>,
    pub(super) last: Vec<u32>,
}

/// The code of a state from which the way has so many steps.
fn code(n_steps: u64) -> u8 {
    (1 + n_steps % N_CODES) as u8
}

impl Search<'_, '_, '_, '_> {
    /// The first run to one of the states of a level that `pick` gives the code 1; nothing if all lead through states in
    /// which the model goes wrong.
    pub(super) fn way(
        &mut self,
        level: usize,
        mut pick: impl FnMut(&mut Self) -> Result<(), Limit>,
    ) -> Result<Option<Way>, Limit> {
        let n_steps = level as u64;
        let initial: Vec<Vec<u32>> = self.system.initial().map(<[u32]>::to_vec).collect();
        self.go_back(level, n_steps, &mut pick)?;
        let codes = self.job.ask(&initial)?;
        let Some(first) = codes.iter().position(|known| *known == Some(code(n_steps))) else {
            return Ok(None);
        };
        let mut way = Way {
            run: Run { initial: first, actions: Vec::new() },
            places: Vec::new(),
            last: initial[first].clone(),
        };
        for step in 0..n_steps {
            let left = n_steps - step;
            if step > 0 && step % (N_CODES - 1) == 0 {
                self.go_back(level, left, &mut pick)?;
            }
            // A state in which the model goes wrong has no code, and a step to a code there is.
            if self.expand_here(&way.last).is_err() {
                return Err(Limit::Device);
            }
            let targets: Vec<Vec<u32>> = self.steps.iter().map(|(_, target)| target.to_vec()).collect();
            let codes = self.job.ask(&targets)?;
            let place = codes.iter().position(|known| *known == Some(code(left - 1)));
            let place = place.ok_or(Limit::Device)?;
            let action: ActionId = self.steps.actions()[place];
            way.run.actions.push(action);
            way.places.push(place);
            way.last.clone_from(&targets[place]);
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
            let counts = self.job.scan(from, n, want, code)?;
            from += n;
            let mut found = Vec::new();
            for state in self.job.notes(counts.notes)? {
                if self.expand_here(&state).is_ok() {
                    let targets: Vec<Vec<u32>> =
                        self.steps.iter().map(|(_, target)| target.to_vec()).collect();
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
