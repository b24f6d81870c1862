//! A system of which only stubborn sets are explored.
//!
//! It is a [`Space`], so every search of states runs on it. What is preserved is said when it
//! is made: deadlocks, or whether some invariant can be violated. In the latter case the sets are led by
//! the actions that can make it false from where it is true ([`por::Attractor`]), or by those that can make it
//! false anywhere ([`por::Flips`]), whichever are fewer.

use base::{Budget, Limit};
use model::{ActionId, ActionSystem, Relations, StepError, Steps, System};
use por::{Attractor, Demand, Flips, Situation, StubbornSets};

use crate::search::Space;

/// A system and its stubborn sets.
pub struct Reduced<'a> {
    system: &'a ActionSystem,
    sets: StubbornSets<'a>,
    /// What makes an invariant false here, and anywhere, if one is to be preserved; else deadlocks are.
    attractor: Option<(Attractor, Vec<u32>)>,
}

/// Working memory. Where sets remove nothing, they are not looked for in every state, so what is chosen depends on
/// the past.
pub struct Choice {
    por: por::Scratch,
    enabled: Vec<ActionId>,
    moves: Vec<bool>,
    chosen: Vec<u32>,
    attracts: Vec<u32>,
}

impl<'a> Reduced<'a> {
    /// Preserves all deadlocks. Holds about as many bytes as it takes.
    ///
    /// # Errors
    /// The budget's limit.
    pub fn for_deadlocks(system: &'a ActionSystem, budget: &mut Budget<'_>) -> Result<Reduced<'a>, Limit> {
        // The relations are not kept.
        let mut share = budget.share();
        let sets = StubbornSets::new(system, &Relations::new(system, &mut share)?, &mut share)?;
        budget.hold(sets.bytes())?;
        Ok(Reduced { system, sets, attractor: None })
    }

    /// Preserves whether a proposition can become false. Deadlocks are not preserved: a state
    /// without successors here may have some in the system. Holds about as many bytes as it takes.
    ///
    /// # Errors
    /// The budget's limit.
    pub fn for_invariant(
        system: &'a ActionSystem,
        proposition: usize,
        budget: &mut Budget<'_>,
    ) -> Result<Reduced<'a>, Limit> {
        let expr = system.propositions()[proposition].expr;
        // Neither the relations nor the flips are kept.
        let mut share = budget.share();
        let relations = Relations::new(system, &mut share)?;
        let attractor = Attractor::new(system, &relations, expr, false, budget)?;
        let flips = Flips::new(system, &relations, &[expr], &mut share)?;
        let anywhere: Vec<u32> = flips.visible().ones().map(|action| action as u32).collect();
        let sets = StubbornSets::new(system, &relations, &mut share)?;
        budget.hold(sets.bytes() + 4 * anywhere.len() as u64)?;
        Ok(Reduced { system, sets, attractor: Some((attractor, anywhere)) })
    }

    /// Which of the enabled actions are to be taken, into `choice.chosen`.
    fn choose(
        &self,
        state: &[u32],
        choice: &mut Choice,
        scratch: &mut model::Scratch,
    ) -> Result<(), StepError> {
        let Choice { por, enabled, moves, chosen, attracts } = choice;
        enabled.clear();
        chosen.clear();
        self.system.enabled(state, scratch, enabled)?;
        moves.clear();
        moves.resize(enabled.len(), false);
        let demand = match &self.attractor {
            None => Demand::Deadlocks,
            Some((attractor, anywhere)) if attractor.attract(self.system, state, attracts) => {
                Demand::Goal(if anywhere.len() < attracts.len() { anywhere } else { attracts })
            }
            // It was found here: nothing more is to be preserved.
            Some(_) => return Ok(()),
        };
        let situation = Situation { state, enabled, moves, blocked: &[] };
        self.sets
            .choose(&situation, demand, por, &mut |_| true, chosen)
            .map_err(|fault| StepError { fault, action: None })
    }
}

impl Space for Reduced<'_> {
    type Whole = ActionSystem;
    type Choice = Choice;

    fn whole(&self) -> &ActionSystem {
        self.system
    }

    fn new_choice(&self) -> Choice {
        Choice {
            por: self.sets.new_adaptive_scratch(),
            enabled: Vec::new(),
            moves: Vec::new(),
            chosen: Vec::new(),
            attracts: Vec::new(),
        }
    }

    fn actions(
        &self,
        state: &[u32],
        choice: &mut Choice,
        scratch: &mut model::Scratch,
        out: &mut Vec<ActionId>,
    ) -> Result<(), StepError> {
        self.choose(state, choice, scratch)?;
        out.extend(choice.chosen.iter().map(|&index| choice.enabled[index as usize]));
        Ok(())
    }

    fn steps(
        &self,
        state: &[u32],
        choice: &mut Choice,
        scratch: &mut model::Scratch,
        out: &mut Steps,
    ) -> Result<(), StepError> {
        self.choose(state, choice, scratch)?;
        for &index in &choice.chosen {
            let action = choice.enabled[index as usize];
            self.system.fire(out.push(action, state), action, scratch)?;
        }
        Ok(())
    }
}
