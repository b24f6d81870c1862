//! Judges runs that are said to show an error of a tester [valmari.93.cav].
//!
//! The tester follows the labels of the run as it was written ([`Follower`]): nothing of the product that found the run
//! is used.

use std::collections::BTreeSet;

use automata::Tester;
use automata::illegal::Follower;
pub use automata::illegal::Illegal as TesterClaim;
use base::Budget;
use model::{ActionId, ActionSystem, LabelId, reference};

use crate::{Doubt, Ending, Evidence, Watcher, rejected, unjudged};

/// The tester as the run is repeated.
pub(crate) struct Judge<'a> {
    system: &'a ActionSystem,
    /// It does not follow into the cycle.
    follower: Follower<'a>,
    claim: TesterClaim,
    /// Per label of the system, the letter that it is.
    letters: Vec<Option<u32>>,
    /// Steps before the cycle that were not looked at so far.
    n_left: usize,
    cycle: &'a [ActionId],
}

impl<'a> Judge<'a> {
    pub(crate) fn new(
        system: &'a ActionSystem,
        tester: &'a Tester,
        labels: &[LabelId],
        claim: TesterClaim,
        evidence: &Evidence<'a>,
        budget: &mut Budget<'_>,
    ) -> Result<Judge<'a>, Doubt> {
        let actions = &evidence.run.actions[..];
        let n_left = match (claim, evidence.ending) {
            (TesterClaim::IllegalTrace, Ending::Open) | (TesterClaim::StableFailure, Ending::Deadlock) => {
                actions.len()
            }
            (TesterClaim::Divergence | TesterClaim::InfiniteTrace, Ending::Cycle(start)) => {
                if start >= actions.len() {
                    return Err(rejected("the cycle does not return to the state it starts in"));
                }
                start
            }
            _ => return Err(rejected("the run has the wrong shape for what is claimed")),
        };
        let mut letters = vec![None; system.labels().len()];
        for (letter, label) in labels.iter().enumerate().rev() {
            letters[label.index()] = Some(letter as u32);
        }
        let follower = Follower::new(tester, budget)?;
        Ok(Judge { system, follower, claim, letters, n_left, cycle: &actions[n_left..] })
    }

    fn letter(&self, action: ActionId) -> Option<u32> {
        self.letters[self.system.action(action).label.index()]
    }

    fn is_stable_failure(&self, values: &[i64]) -> Result<bool, Doubt> {
        let enabled = reference::enabled(self.system, values);
        let enabled = enabled.map_err(|fault| unjudged("the last state", fault))?;
        let offered: Option<BTreeSet<u32>> = enabled.iter().map(|&action| self.letter(action)).collect();
        // If an invisible action is enabled, it is not stable.
        Ok(offered.is_some_and(|offered| self.follower.refuses(&offered)))
    }
}

impl Watcher for Judge<'_> {
    fn step(&mut self, action: ActionId, budget: &mut Budget<'_>) -> Result<(), Doubt> {
        if self.n_left > 0 {
            self.n_left -= 1;
            self.follower.follow(self.letter(action), budget)?;
        }
        Ok(())
    }

    fn end(&mut self, last: &[i64], budget: &mut Budget<'_>) -> Result<(), Doubt> {
        let cycle = || self.cycle.iter().map(|&action| self.letter(action)).collect::<Vec<_>>();
        let is_illegal = match self.claim {
            TesterClaim::IllegalTrace => self.follower.rejects(),
            TesterClaim::StableFailure => self.is_stable_failure(last)?,
            TesterClaim::Divergence => self.follower.diverges(&cycle()),
            TesterClaim::InfiniteTrace => {
                let cycle = cycle();
                budget.hold(size_of_val(&cycle[..]) as u64)?;
                self.follower.leaves_for_ever(&cycle, budget)?
            }
        };
        if is_illegal { Ok(()) } else { Err(rejected("the tester does not call this run illegal")) }
    }
}
