//! The choice of sets by the state alone ([`por::steady`]), for the processor: what it takes where a device left something to it, and
//! what a device is compared with.

use std::sync::Arc;

use model::{ActionId, ActionSystem, Fault, GuardId, Scratch, System as _, VarId};
use por::steady::{Bits, Facts, Words, has};
use por::{Situation, SteadySets};

/// A state.
struct Here<'a> {
    system: &'a ActionSystem,
    state: &'a [u32],
    scratch: &'a mut Scratch,
}

impl Facts for Here<'_> {
    type Error = Fault;

    fn raw(&mut self, var: usize) -> u64 {
        self.system.layout().field(VarId::new(var)).raw(self.state)
    }

    fn holds(&mut self, guard: usize) -> Result<bool, Fault> {
        self.system.guard_holds(GuardId::new(guard), self.state, self.scratch)
    }
}

/// Chooses which of the enabled actions are to be taken, by their indices.
pub(crate) fn choose(
    (system, sets): (&ActionSystem, &SteadySets),
    state: &[u32],
    enabled: &[ActionId],
    (scratch, bits): (&mut Scratch, &mut Bits),
    chosen: &mut Vec<u32>,
) -> Result<(), Fault> {
    bits.clear();
    // Chains that begin with the same action are one action.
    enabled.iter().for_each(|&action| bits.enable(system.first(action).index()));
    Words::new(sets.words()).choose(&mut Here { system, state, scratch }, bits)?;
    read_off(system, enabled, bits, chosen);
    Ok(())
}

/// Which of the enabled actions were chosen, by their indices.
fn read_off(system: &ActionSystem, enabled: &[ActionId], bits: &Bits, chosen: &mut Vec<u32>) {
    let is_chosen = |action: ActionId| has(&bits.chosen, system.first(action).index() as u32);
    chosen.clear();
    chosen.extend((0..).zip(enabled).filter(|(_, action)| is_chosen(**action)).map(|(index, _)| index));
}

/// Guided sets of a product, and what one worker needs to choose them.
pub(crate) struct Guided {
    sets: Arc<SteadySets>,
    bits: Box<Bits>,
    scratch: Scratch,
}

impl Guided {
    pub(crate) fn new(sets: Arc<SteadySets>, system: &ActionSystem) -> Guided {
        Guided { sets, bits: Box::default(), scratch: system.new_scratch() }
    }

    pub(crate) fn sets(&self) -> &Arc<SteadySets> {
        &self.sets
    }

    /// Chooses which of the enabled actions are to be taken, by their indices, where the observer makes the offer of a number.
    pub(crate) fn choose(
        &mut self,
        system: &ActionSystem,
        situation: &Situation<'_>,
        number: usize,
        chosen: &mut Vec<u32>,
    ) -> Result<(), Fault> {
        let Guided { sets, bits, scratch } = self;
        let Situation { state, enabled, moves, blocked } = *situation;
        bits.clear();
        // What begins with the same action moves the observer if one of them does, or would.
        for (action, moves) in enabled.iter().zip(moves) {
            let action = system.first(*action).index();
            bits.enable(action);
            if *moves {
                bits.involve(action);
            }
        }
        blocked.iter().for_each(|&action| bits.involve(system.first(action).index()));
        Words::led_by(sets.words(), number).choose(&mut Here { system, state, scratch }, bits)?;
        read_off(system, enabled, bits, chosen);
        Ok(())
    }
}
