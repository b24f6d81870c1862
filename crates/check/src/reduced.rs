//! A system of which only stubborn sets are explored.
//!
//! It is a [`System`] again, so every search of states runs on it. What is preserved is said when it
//! is made: deadlocks, or whether some invariant can be violated. In the latter case an invariant
//! is a tester with two states, one of them a reject state, that takes part in all actions that may
//! change what the invariant looks at (Theorem 4.1 of 001 with S_L = ∅).

use model::{ActionId, ActionSystem, Relations, StepError, Steps, System};
use por::{Demand, Flips, Offer, Situation, StubbornSets};

/// A system and its stubborn sets.
pub struct Reduced<'a> {
    system: &'a ActionSystem,
    sets: StubbornSets<'a>,
    /// The actions that may make an invariant false, if one is to be preserved; else deadlocks are.
    visible: Option<(Flips, Offer)>,
}

/// Working memory.
pub struct Scratch {
    model: model::Scratch,
    por: por::Scratch,
    enabled: Vec<ActionId>,
    moves: Vec<bool>,
    chosen: Vec<u32>,
}

impl<'a> Reduced<'a> {
    /// Preserves all deadlocks.
    pub fn for_deadlocks(system: &'a ActionSystem) -> Reduced<'a> {
        Reduced { system, sets: StubbornSets::new(system, &Relations::new(system)), visible: None }
    }

    /// Preserves whether a proposition can become false. Deadlocks are not preserved: a state
    /// without successors here may have some in the system.
    pub fn for_invariant(system: &'a ActionSystem, proposition: usize) -> Reduced<'a> {
        let relations = Relations::new(system);
        let flips = Flips::new(system, &relations, &[system.propositions()[proposition].expr]);
        let sets = StubbornSets::for_propositions(system, &relations, &flips);
        let offer = Offer::new(system, flips.visible().ones().map(ActionId::new), []);
        Reduced { system, sets, visible: Some((flips, offer)) }
    }

    /// The actions to be taken in `state`, into `scratch.enabled`.
    fn choose(&self, state: &[u32], scratch: &mut Scratch) -> Result<(), StepError> {
        let Scratch { model, por, enabled, moves, chosen } = scratch;
        enabled.clear();
        self.system.enabled(state, model, enabled)?;
        moves.clear();
        let demand = match &self.visible {
            None => {
                moves.resize(enabled.len(), false);
                Demand::Deadlocks
            }
            Some((flips, offer)) => {
                moves.extend(enabled.iter().map(|&action| flips.may_flip(action)));
                Demand::Observer { offer, may_wait: false, deadlock: false, hybrid: false }
            }
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

    fn first(&self, action: ActionId) -> ActionId {
        self.system.first(action)
    }

    fn n_propositions(&self) -> usize {
        self.system.n_propositions()
    }

    fn holds(&self, proposition: usize, state: &[u32], scratch: &mut Scratch) -> Result<bool, StepError> {
        self.system.holds(proposition, state, &mut scratch.model)
    }
}
