//! The search of states on a device: from the first state to the answer.
//!
//! When a [level](super::levels) brings news, runs are looked for ([`runs`](super::runs)), and the search
//! goes on with the goals that are left. Of what is found in one level, only that counts which a sequential search would have
//! found, too: before the first state in which the model goes wrong. So verdicts, counts of complete searches and runs are those of
//! a sequential breadth-first search.

use base::device::Device;
use base::{Budget, Limit};
use model::{ActionSystem, StepError, System as _};
use por::SteadySets;

use super::job::{Job, Pick};
use super::levels::{Kernels, Levels, News};
use super::memory::Shape;
use super::space::{Plain, Space as _};
use crate::product::ExpandError;
use crate::search::{Exploration, Goal, Stop};

/// Explores a system breadth first, or what some sets leave of it, with so many bytes of a device.
pub(super) fn search(
    (system, sets): (&ActionSystem, Option<&SteadySets>),
    words: &[u32],
    goals: &[Goal],
    (device, bytes): (&dyn Device, u64),
    budget: &mut Budget<'_>,
) -> Exploration {
    let job = match Job::new(&Shape::of(system), words, device, bytes) {
        Ok(job) => job,
        Err(limit) => return Exploration::limited(goals.len(), limit),
    };
    let exploration = Exploration { stop: None, ..Exploration::limited(goals.len(), Limit::Device) };
    let kernels = if sets.is_some() { Kernels::SETS } else { Kernels::STATES };
    let levels = Levels::new(Plain::new(system, sets), job, kernels, budget);
    let mut search = Search { levels, goals, exploration };
    let stop = search.run().unwrap_or_else(|limit| Some(Stop::Limit(limit)));
    search.finish(stop)
}

struct Search<'a, 'd, 'b, 'w> {
    levels: Levels<'d, 'b, 'w, Plain<'a>>,
    goals: &'a [Goal],
    exploration: Exploration,
}

impl Search<'_, '_, '_, '_> {
    fn run(&mut self) -> Result<Option<Stop>, Limit> {
        let initial = self.levels.space.initial().map_err(|_| Limit::Device)?;
        self.levels.begin(&initial)?;
        if let Some(stop) = self.look_into(&News::default())? {
            return Ok(Some(stop));
        }
        while let Some(news) = self.levels.expand()? {
            if let Some(stop) = self.look_into(&news)? {
                return Ok(Some(stop));
            }
        }
        Ok(None)
    }

    fn is_closed(&self, goal: usize) -> bool {
        self.exploration.violations[goal].is_some() || self.exploration.faults[goal].is_some()
    }

    fn all_closed(&self) -> bool {
        !self.goals.is_empty() && (0..self.goals.len()).all(|goal| self.is_closed(goal))
    }

    /// Finds runs to what was found: in the level before the last one, which was expanded, and in the last one, which was
    /// found.
    fn look_into(&mut self, news: &News) -> Result<Option<Stop>, Limit> {
        let last = self.levels.ends.len() - 1;
        let first_fault = match last.checked_sub(1) {
            Some(level) if !news.faults.is_empty() => {
                let faults = &news.faults;
                // It is a state of the level, so there is a run.
                Some(self.levels.way(level, |levels| levels.job.mark(faults, 1))?.ok_or(Limit::Device)?)
            }
            _ => None,
        };
        for index in 0..self.goals.len() {
            if self.is_closed(index) {
                continue;
            }
            let (pick, level) = match self.goals[index] {
                Goal::Deadlock if !news.has_deadlocks => continue,
                Goal::Deadlock => (Pick::Deadlock, last - 1),
                Goal::Invariant(proposition) => (Pick::False(proposition), last),
            };
            if !self.levels.select(level, pick, 0)? {
                continue;
            }
            let way = self.levels.way(level, |levels| levels.select(level, pick, 1).map(|_| ()))?;
            let way = match (way, &first_fault) {
                // The model goes wrong before that was found, or all runs lead through states in which it does.
                (Some(way), Some(fault)) if fault.is_before(&way) => continue,
                (None, Some(_)) => continue,
                (way, _) => way.ok_or(Limit::Device)?,
            };
            match self.unclear(self.goals[index], way.last()) {
                None => self.exploration.violations[index] = Some(way.run()),
                Some(error) => self.exploration.faults[index] = Some((error, way.run())),
            }
        }
        if self.all_closed() {
            return Ok(Some(Stop::AllViolated));
        }
        let Some(way) = first_fault else { return Ok(None) };
        match self.levels.space.expand(way.last()) {
            Err(ExpandError::Step(error)) => Ok(Some(Stop::Fault(error, way.run()))),
            // It went wrong a moment ago.
            Ok(_) | Err(_) => Err(Limit::Device),
        }
    }

    /// Why a goal cannot be evaluated in a state, if it cannot.
    fn unclear(&mut self, goal: Goal, state: &[u32]) -> Option<StepError> {
        let Plain { system, scratch, .. } = &mut self.levels.space;
        match goal {
            Goal::Deadlock => None,
            Goal::Invariant(number) => system.holds(number, state, scratch).err(),
        }
    }

    fn finish(mut self, mut stop: Option<Stop>) -> Exploration {
        let Plain { system, scratch, .. } = &self.levels.space;
        let mut taken = system.taken(scratch).to_vec();
        match self.levels.job.taken() {
            Ok(there) => taken.iter_mut().zip(there).for_each(|(here, there)| *here |= there),
            Err(limit) => stop = stop.or(Some(Stop::Limit(limit))),
        }
        Exploration { stop, taken, stats: self.levels.stats(), ..self.exploration }
    }
}

impl Levels<'_, '_, '_, Plain<'_>> {
    /// Gives a code to the states of a level that are to be picked out; says whether there are some.
    fn select(&mut self, level: usize, pick: Pick, code: u8) -> Result<bool, Limit> {
        self.pick_out(level, pick, code, |space, state| match pick {
            // Where it cannot be evaluated, that is news, too.
            Pick::False(number) => !matches!(space.system.holds(number, state, &mut space.scratch), Ok(true)),
            Pick::Deadlock | Pick::Wrong => space.expand(state).is_ok_and(|found| found.is_deadlock),
        })
    }
}
