//! A system of which only stubborn sets are explored.
//!
//! It is a [`System`] again, so every search of states runs on it. What is preserved is said when it
//! is made: deadlocks, or whether some invariant can be violated. In the latter case the sets are led by
//! the actions that can make it false from where it is true ([`por::Attractor`]), or by those that can make it
//! false anywhere ([`por::Flips`]), whichever are fewer.

use model::{ActionId, ActionSystem, Relations, StepError, Steps, System};
use por::{Attractor, Demand, Flips, Situation, StubbornSets};

/// A system and its stubborn sets.
pub struct Reduced<'a> {
    system: &'a ActionSystem,
    sets: StubbornSets<'a>,
    /// What makes an invariant false here, and anywhere, if one is to be preserved; else deadlocks are.
    attractor: Option<(Attractor, Vec<u32>)>,
}

/// Working memory.
pub struct Scratch {
    model: model::Scratch,
    por: por::Scratch,
    enabled: Vec<ActionId>,
    moves: Vec<bool>,
    chosen: Vec<u32>,
    attracts: Vec<u32>,
}

impl<'a> Reduced<'a> {
    /// Preserves all deadlocks.
    pub fn for_deadlocks(system: &'a ActionSystem) -> Reduced<'a> {
        Reduced { system, sets: StubbornSets::new(system, &Relations::new(system)), attractor: None }
    }

    /// Preserves whether a proposition can become false. Deadlocks are not preserved: a state
    /// without successors here may have some in the system.
    pub fn for_invariant(system: &'a ActionSystem, proposition: usize) -> Reduced<'a> {
        let relations = Relations::new(system);
        let expr = system.propositions()[proposition].expr;
        let attractor = Attractor::new(system, &relations, expr, false);
        let flips = Flips::new(system, &relations, &[expr]);
        let anywhere = flips.visible().ones().map(|action| action as u32).collect();
        let sets = StubbornSets::new(system, &relations);
        Reduced { system, sets, attractor: Some((attractor, anywhere)) }
    }

    /// The actions to be taken in `state`, into `scratch.enabled`.
    fn choose(&self, state: &[u32], scratch: &mut Scratch) -> Result<(), StepError> {
        let Scratch { model, por, enabled, moves, chosen, attracts } = scratch;
        enabled.clear();
        self.system.enabled(state, model, enabled)?;
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
            .map_err(|fault| StepError { fault, action: None })?;
        for (to, &from) in chosen.iter().enumerate() {
            enabled[to] = enabled[from as usize];
        }
        enabled.truncate(chosen.len());
        Ok(())
    }
}

impl System for Reduced<'_> {
    type Scratch = Scratch;

    fn new_scratch(&self) -> Scratch {
        Scratch {
            model: self.system.new_scratch(),
            por: self.sets.new_adaptive_scratch(),
            enabled: Vec::new(),
            moves: Vec::new(),
            chosen: Vec::new(),
            attracts: Vec::new(),
        }
    }

    fn width(&self) -> usize {
        self.system.width()
    }

    fn initial_states(&self, out: &mut Vec<u32>) {
        self.system.initial_states(out);
    }

    fn successors(&self, state: &[u32], scratch: &mut Scratch, out: &mut Steps) -> Result<(), StepError> {
        self.choose(state, scratch)?;
        for &action in &scratch.enabled {
            self.system.fire(out.push(action, state), action, &mut scratch.model)?;
        }
        Ok(())
    }

    fn enabled(
        &self,
        state: &[u32],
        scratch: &mut Scratch,
        out: &mut Vec<ActionId>,
    ) -> Result<(), StepError> {
        self.choose(state, scratch)?;
        out.extend_from_slice(&scratch.enabled);
        Ok(())
    }

    fn fire(&self, state: &mut [u32], action: ActionId, scratch: &mut Scratch) -> Result<(), StepError> {
        self.system.fire(state, action, &mut scratch.model)
    }

    fn n_propositions(&self) -> usize {
        self.system.n_propositions()
    }

    fn holds(&self, proposition: usize, state: &[u32], scratch: &mut Scratch) -> Result<bool, StepError> {
        self.system.holds(proposition, state, &mut scratch.model)
    }
}
