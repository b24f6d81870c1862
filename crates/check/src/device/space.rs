//! What is searched, as the processor knows it: a device asks it about what is hard, and runs are read off by it.

use model::{ActionId, ActionSystem, Scratch, StepError, Steps, System};
use por::SteadySets;
use por::steady::Bits;

use super::observer::Seat;
use crate::observer::Observer;
use crate::product::{ExpandError, Product, ProductSteps, Visits};
use crate::steady;

/// What was found in a state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    pub(super) n_steps: usize,
    pub(super) is_deadlock: bool,
    /// Something is accepted here: at once, or since the run ends.
    pub(super) is_wrong: bool,
}

/// States, as words of the device.
pub(super) trait Space {
    /// Words of 32 bits of a state.
    fn width(&self) -> usize;

    /// The initial states, in order.
    fn initial(&mut self) -> Result<Vec<Vec<u32>>, StepError>;

    /// Finds the steps out of a state.
    fn expand(&mut self, state: &[u32]) -> Result<Found, ExpandError>;

    /// Copies where a step leads that was found last; says what it begins with: nothing, if the end of a run repeats.
    fn step(&self, number: usize, target: &mut [u32]) -> Option<ActionId>;
}

/// Where the steps lead that were found last.
pub(super) fn targets(space: &impl Space, n_steps: usize) -> Vec<Vec<u32>> {
    let mut targets = vec![vec![0; space.width()]; n_steps];
    targets.iter_mut().enumerate().for_each(|(number, target)| _ = space.step(number, target));
    targets
}

/// A system, or a part of it.
pub(super) struct Plain<'a> {
    pub(super) system: &'a ActionSystem,
    pub(super) scratch: Scratch,
    steps: Steps,
    sets: Option<Sets<'a>>,
}

/// What is left of a system.
struct Sets<'a> {
    sets: &'a SteadySets,
    bits: Box<Bits>,
    enabled: Vec<ActionId>,
    chosen: Vec<u32>,
}

impl<'a> Plain<'a> {
    pub(super) fn new(system: &'a ActionSystem, sets: Option<&'a SteadySets>) -> Plain<'a> {
        let new = |sets| Sets { sets, bits: Box::default(), enabled: Vec::new(), chosen: Vec::new() };
        let (scratch, steps) = (system.new_scratch(), Steps::new(system.width()));
        Plain { system, scratch, steps, sets: sets.map(new) }
    }

    /// Finds the steps that are to be taken.
    fn find(&mut self, state: &[u32]) -> Result<(), StepError> {
        let Plain { system, scratch, steps, sets } = self;
        steps.clear();
        let Some(Sets { sets, bits, enabled, chosen }) = sets else {
            return system.successors(state, scratch, steps);
        };
        enabled.clear();
        system.enabled(state, scratch, enabled)?;
        steady::choose((system, sets), state, enabled, (scratch, bits), chosen)
            .map_err(|fault| StepError { fault, action: None })?;
        for action in chosen.iter().map(|&index| enabled[index as usize]) {
            system.fire(steps.push(action, state), action, scratch)?;
        }
        Ok(())
    }
}

impl Space for Plain<'_> {
    fn width(&self) -> usize {
        self.system.width()
    }

    fn initial(&mut self) -> Result<Vec<Vec<u32>>, StepError> {
        Ok(self.system.initial().map(<[u32]>::to_vec).collect())
    }

    fn expand(&mut self, state: &[u32]) -> Result<Found, ExpandError> {
        self.find(state)?;
        let n_steps = self.steps.len();
        Ok(Found { n_steps, is_deadlock: n_steps == 0, is_wrong: false })
    }

    fn step(&self, number: usize, target: &mut [u32]) -> Option<ActionId> {
        target.copy_from_slice(self.steps.target(number));
        Some(self.steps.actions()[number])
    }
}

/// A product, or what guided sets leave of it that devices find, too.
pub(super) struct Paired<'p, 'a, S: System, O> {
    pub(super) product: &'p mut Product<'a, S, O>,
    pub(super) steps: ProductSteps,
    seat: Seat,
    width: usize,
}

impl<'p, 'a, S: System, O: Observer> Paired<'p, 'a, S, O> {
    pub(super) fn new(product: &'p mut Product<'a, S, O>, seat: Seat, width: usize) -> Paired<'p, 'a, S, O> {
        product.begin(Visits::Again);
        let steps = product.new_steps();
        Paired { product, steps, seat, width }
    }

    /// A state of the product as words of the device.
    fn join(&self, system: &[u32], observer: u32, state: &mut [u32]) {
        state.fill(0);
        state[..system.len()].copy_from_slice(system);
        self.seat.write(state, observer);
    }

    /// The state of the system, and that of the observer.
    pub(super) fn part(&self, state: &[u32]) -> (Vec<u32>, u32) {
        let mut system = state.to_vec();
        self.seat.write(&mut system, 0);
        system.truncate(self.product.width() - 1);
        (system, self.seat.read(state))
    }
}

impl<S: System, O: Observer> Space for Paired<'_, '_, S, O> {
    fn width(&self) -> usize {
        self.width
    }

    fn initial(&mut self) -> Result<Vec<Vec<u32>>, StepError> {
        let initial = self.product.initial_states()?;
        let join = |(_, both): &(usize, Vec<u32>)| {
            let (mut state, (observer, system)) = (vec![0; self.width], both.split_last()?);
            self.join(system, *observer, &mut state);
            Some(state)
        };
        Ok(initial.iter().filter_map(join).collect())
    }

    fn expand(&mut self, state: &[u32]) -> Result<Found, ExpandError> {
        let (system, observer) = self.part(state);
        let path = match self.product.steady_sets() {
            Some(_) => crate::product::Path::Unknown,
            None => crate::product::Path::Everything,
        };
        let found = self.product.expand(&system, observer, path, &mut self.steps)?;
        let is_wrong = found.stance.at_once || found.is_error;
        Ok(Found { n_steps: self.steps.steps.len(), is_deadlock: found.is_deadlock, is_wrong })
    }

    fn step(&self, number: usize, target: &mut [u32]) -> Option<ActionId> {
        let step = &self.steps.steps[number];
        self.join(self.steps.systems.target(step.system as usize), step.observer, target);
        step.action
    }
}
