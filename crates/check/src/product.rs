//! A system together with an observer.
//!
//! A state of the product is the packed state of the system and a state of the observer. The observer
//! sees each step of the system: what was true before it, what is true after it, or the action. If it
//! has no step for that, the product has none.
//!
//! Two things make a product: the *pairing* (module `pairing`), which knows what is possible in a state, and
//! the *selection* (module `selection`), which says what of it is taken: everything, or a stubborn set.
//! Both have a working memory, so each worker of a search has a product of its own. What workers tell each
//! other is states, and these mean the same to all of them (see [`Portable`]).

mod lead;
mod pairing;
mod selection;
mod words;

use base::Room;
use fixedbitset::FixedBitSet;
use model::chain::first;
use model::{ActionId, StepError, Steps, System};

pub use self::lead::Distance;
pub(crate) use self::lead::Lead;
use self::pairing::{Look, Pairing, Possible};
use self::selection::{Selection, select};
pub(crate) use self::words::Target;
pub use self::words::{
    AtDeadlock, ExpandError, Expanded, ObserverOrder, Orders, Path, ProductStep, ProductSteps, StepOrder,
    Visits,
};
use crate::fairness::Fairness;
use crate::observer::{Observer, Portable, Stance, Valuations};
use crate::reduction::Method;

/// A system, an observer, and what is selected of their steps.
pub struct Product<'a, S: System, O> {
    pairing: Pairing<'a, S, O>,
    /// Without it, everything is taken.
    selection: Option<Selection<'a, S>>,
    chosen: Vec<u32>,
    /// What is taken as well.
    more: Vec<u32>,
    /// What is chosen is valid only on some condition about cycles.
    is_conditional: bool,
    /// After so many states, a search ends that gave up looking for sets in most of them.
    hands_over: Option<u64>,
    /// Whether no accepted run is infinitely often in any state that was expanded.
    only_passes: bool,
}

impl<'a, S: System, O: Portable> Product<'a, S, O> {
    /// The same for another worker: its states mean the same, and what is selected depends on the state alone.
    pub(crate) fn for_worker(&self) -> Product<'a, S, O> {
        let mut selection = self.selection.as_ref().map(Selection::for_worker);
        selection.iter_mut().for_each(|selection| selection.begin(Visits::Again));
        let pairing = self.pairing.for_worker();
        Product {
            pairing,
            selection,
            chosen: Vec::new(),
            more: Vec::new(),
            is_conditional: false,
            hands_over: None,
            only_passes: true,
        }
    }

    /// Takes note of the valuations that another worker has met.
    pub(crate) fn absorb(&mut self, worker: &Product<'a, S, O>) {
        self.pairing.valuations.absorb(&worker.pairing.valuations);
    }
}

impl<'a, S: System, O: Observer> Product<'a, S, O> {
    /// Takes note of the valuations that another process has met.
    pub(crate) fn absorb_words(&mut self, words: &[u32]) {
        self.pairing.valuations.absorb_words(words);
    }

    /// The product of a system with an observer of these propositions.
    pub fn new(
        system: &'a S,
        observer: O,
        valuations: Valuations,
        at_deadlock: AtDeadlock,
    ) -> Product<'a, S, O> {
        let pairing = Pairing {
            system,
            observer,
            valuations,
            at_deadlock,
            orders: Orders::default(),
            lead: None,
            ranks: Vec::new(),
            visible: None,
            fairness: Fairness::default(),
            room: u64::MAX.into(),
            scratch: system.new_scratch(),
            possible: Possible::default(),
        };
        Product {
            pairing,
            selection: None,
            chosen: Vec::new(),
            more: Vec::new(),
            is_conditional: false,
            hands_over: None,
            only_passes: true,
        }
    }

    /// The same product, of which only fair runs count.
    #[must_use]
    pub fn under(mut self, fairness: Fairness) -> Product<'a, S, O> {
        self.pairing.fairness = fairness;
        self
    }

    /// Which runs count.
    pub fn fairness(&self) -> &Fairness {
        &self.pairing.fairness
    }

    /// The same product, told which actions may change valuations: one bit for each that there is.
    #[must_use]
    pub fn with_visible(mut self, visible: FixedBitSet) -> Product<'a, S, O> {
        self.pairing.visible = Some(visible);
        self
    }

    /// The same product, searched in another order.
    #[must_use]
    pub fn in_order(mut self, orders: Orders) -> Product<'a, S, O> {
        self.pairing.orders = orders;
        self
    }

    /// The same product, led to what is looked for.
    #[must_use]
    pub(crate) fn led_by(mut self, lead: Option<Lead<'a>>) -> Product<'a, S, O> {
        self.pairing.lead = lead;
        self
    }

    /// Bytes that are held for the steps out of one state, beside what whoever asks has of them.
    pub(crate) fn bytes(&self) -> u64 {
        self.pairing.possible.targets.bytes()
    }

    /// The same product; the steps out of one state have this room.
    #[must_use]
    pub fn with_room(mut self, room: Room) -> Product<'a, S, O> {
        self.pairing.room = room;
        self
    }

    /// The system.
    pub fn system(&self) -> &'a S {
        self.pairing.system
    }

    /// The observer.
    pub fn observer(&self) -> &O {
        &self.pairing.observer
    }

    /// The valuations that were met.
    pub fn valuations(&self) -> &Valuations {
        &self.pairing.valuations
    }

    /// The observer and the valuations, to be asked about whatever may be met.
    pub(crate) fn watching(&mut self) -> (&mut O, &mut Valuations) {
        (&mut self.pairing.observer, &mut self.pairing.valuations)
    }

    /// What happens to a run that comes to a deadlock.
    pub(crate) fn at_deadlock(&self) -> AtDeadlock {
        self.pairing.at_deadlock
    }

    /// Whether a step that begins with an action may change the valuation.
    pub(crate) fn is_visible(&self, action: ActionId) -> bool {
        self.pairing.is_visible(action)
    }

    /// Words per state: the system's, and one for the observer.
    pub fn width(&self) -> usize {
        self.pairing.system.width() + 1
    }

    /// An empty buffer.
    pub fn new_steps(&self) -> ProductSteps {
        let systems = Steps::new(self.pairing.system.width());
        ProductSteps { systems, steps: Vec::new(), state_marks: Vec::new() }
    }

    /// The initial states, each with the number of the system's initial state in it.
    pub fn initial_states(&mut self) -> Result<Vec<(usize, Vec<u32>)>, StepError> {
        self.pairing.initial_states()
    }

    /// How the observer accepts in a state.
    pub fn stance(&mut self, state: &[u32], observer_state: u32) -> Result<Stance, StepError> {
        self.pairing.stance(state, observer_state)
    }

    /// Fills `out` with the steps to be explored from a state.
    pub fn expand(
        &mut self,
        state: &[u32],
        observer_state: u32,
        path: Path<'_>,
        out: &mut ProductSteps,
    ) -> Result<Expanded, ExpandError> {
        let Product { pairing, selection, chosen, more, is_conditional, .. } = self;
        *is_conditional = false;
        let is_fit = |selection: &&mut Selection<'_, S>| {
            pairing.fairness.is_empty() || selection.method() == Method::Fair
        };
        // Where looking for sets does not pay, states are expanded as if there were none.
        let takes_all = |selection: &mut Selection<'_, S>| match path {
            Path::Everything => true,
            Path::Repaired { extra: &[], again: None } => selection.rests(),
            Path::Enlarged => selection.repair().is_some_and(|repair| repair.by_action),
            _ => false,
        };
        let selection = selection
            .as_mut()
            .filter(is_fit)
            .and_then(|selection| if takes_all(selection) { None } else { Some(selection) });
        let look = if selection.is_some() { Look::Some } else { Look::All };
        let mut expanded = pairing.look(state, observer_state, look, out)?;
        let n_possible = pairing.possible.actions.len();
        match selection {
            Some(selection) if n_possible > 0 => {
                let extra = if let Path::Repaired { extra, .. } = path { extra } else { &[] };
                let (is_enlarged, stance) = (matches!(path, Path::Enlarged), expanded.stance);
                *is_conditional = select(selection, pairing, state, observer_state, stance, path, chosen)?;
                if is_enlarged && *is_conditional {
                    *is_conditional =
                        select(selection, pairing, state, observer_state, stance, Path::Unknown, more)?;
                    more.retain(|index| !chosen.contains(index));
                    chosen.append(more);
                }
                if !extra.is_empty() {
                    let n_actions = selection.n_actions();
                    let n_chosen = chosen.len();
                    for (index, &action) in (0..).zip(&pairing.possible.actions) {
                        if extra.contains(&first(action, n_actions)) && !chosen[..n_chosen].contains(&index) {
                            chosen.push(index);
                        }
                    }
                }
                expanded.is_full = chosen.len() == n_possible;
                pairing.take(state, look, chosen.iter().map(|&index| index as usize), out)?;
            }
            _ => pairing.take(state, look, 0..n_possible, out)?,
        }
        pairing.sort_by_lead(out);
        self.only_passes &= expanded.stance.passing;
        Ok(expanded)
    }

    /// Fills `out` with all steps from a state that do not go wrong, whatever the selection.
    pub fn expand_fully(
        &mut self,
        state: &[u32],
        observer_state: u32,
        out: &mut ProductSteps,
    ) -> Result<Expanded, ExpandError> {
        let expanded = self.pairing.look(state, observer_state, Look::Sound, out)?;
        self.pairing.take(state, Look::Sound, 0..self.pairing.possible.actions.len(), out)?;
        Ok(expanded)
    }
}

#[cfg(test)]
mod tests {
    use automata::tester::{State, Tester};
    use model::{Action, Builder, Stmt, Variable};

    use base::Budget;

    use super::*;
    use crate::decide::tester::product;

    #[test]
    fn a_step_that_goes_wrong_does_not_hide_the_others() {
        let mut builder = Builder::new();
        let owners = vec![builder.process("P")];
        let x = builder.variable(Variable::new("x", 0, 1));
        for (name, value) in [("bad", 2), ("good", 1), ("worse", 3)] {
            let effect = vec![Stmt::set(x, value)];
            let label = builder.label(name);
            builder.action(Action { label, guards: Vec::new(), effect, owners: owners.clone() });
        }
        builder.initial(&[0]);
        let system = builder.finish().unwrap();
        let state =
            State { name: "t".to_owned(), reject: false, deadlock: false, livelock: true, infinite: false };
        let tester = Tester { letters: Vec::new(), states: vec![state], initial: 0, edges: Vec::new() };
        let mut product = product(&system, &tester, &[], &mut Budget::unlimited()).unwrap();
        let (_, initial) = product.initial_states().unwrap().remove(0);
        let (state, observer) = initial.split_at(initial.len() - 1);
        let mut out = product.new_steps();
        assert!(product.expand(state, observer[0], Path::Unknown, &mut out).is_err());
        product.expand_fully(state, observer[0], &mut out).unwrap();
        let taken: Vec<_> = out.steps.iter().map(|step| (step.system, step.action)).collect();
        assert_eq!(taken, [(0, Some(ActionId::new(1)))]);
        assert_eq!(system.layout().decode(out.systems.target(0)), [1]);
    }
}
