//! The choice of sets by the state alone ([`por::steady`]), for the processor: what it takes where a device left something to it, and
//! what a device is compared with.

use model::{ActionId, ActionSystem, Fault, GuardId, Scratch, VarId};
use por::SteadySets;
use por::steady::{Bits, Facts, Words, has};

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
    Words(sets.words()).choose(&mut Here { system, state, scratch }, bits)?;
    let is_chosen = |action: ActionId| has(&bits.chosen, system.first(action).index() as u32);
    chosen.clear();
    chosen.extend((0..).zip(enabled).filter(|(_, action)| is_chosen(**action)).map(|(index, _)| index));
    Ok(())
}
