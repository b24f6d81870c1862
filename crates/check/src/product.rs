//! A system together with an observer.
//!
//! A state of the product is the packed state of the system and a state of the observer. The observer
//! sees each step of the system: what was true before it, what is true after it, or the action. If it
//! has no step for that, the product has none.
//!
//! Two things make a product: the *pairing* (module `pairing`), which knows what is possible in a state, and
//! the *selection*, which says what of it is taken: everything, or a stubborn set ([`Reduction`], [`Dependencies`]).
//! Both have a working memory, so each worker of a search has a product of its own. What workers tell each
//! other is states, and these mean the same to all of them (see [`Portable`]).

mod lead;
mod pairing;

use std::sync::Arc;

use base::{Budget, Limit, Room};
use fixedbitset::FixedBitSet;
use model::chain::first;
use model::{ActionId, ActionSystem, StepError, Steps, System};
use por::steady::Forgotten;
use por::{Effort, Situation, SteadySets};

pub use self::lead::Distance;
pub(crate) use self::lead::Lead;
use self::pairing::{Look, Pairing, Possible};
use crate::fairness::{Constraint, Fairness};
use crate::observer::{Event, Observer, Portable, Stance, Valuations, Watches};
use crate::reduction::{Dependencies, Method, Observed, Own, Reduction, Repair};

/// What happens to a run that comes to a deadlock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtDeadlock {
    /// Its last state repeats for ever.
    #[default]
    Stutter,
    /// It is dropped.
    Ignore,
    /// It is an error, whatever the property says.
    Error,
}

/// In which order the steps of the system are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepOrder {
    /// As the system lists them.
    #[default]
    Forward,
    /// The other way round.
    Reverse,
    /// Those first that seem to lead to an accepted run soonest, if the observer is an automaton by value.
    Led,
    /// By chance: the same number, the same order.
    Shuffled(u64),
}

/// In which order the steps of the observer are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObserverOrder {
    /// In the automaton's own order.
    #[default]
    AsIs,
    /// Steps to accepting states first.
    AcceptingFirst,
    /// Steps to accepting states last.
    AcceptingLast,
}

/// In which order steps are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    /// The system's.
    pub steps: StepOrder,
    /// The observer's.
    pub observer: ObserverOrder,
}

/// Why a state could not be expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpandError {
    /// The model went wrong.
    Step(StepError),
    /// Its steps would take too much memory.
    Limit(Limit),
}

impl From<Limit> for ExpandError {
    fn from(limit: Limit) -> ExpandError {
        ExpandError::Limit(limit)
    }
}

impl From<StepError> for ExpandError {
    fn from(error: StepError) -> ExpandError {
        ExpandError::Step(error)
    }
}

/// A step of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProductStep {
    /// Index of the system's step.
    pub system: u32,
    /// The observer's target.
    pub observer: u32,
    /// The marks seen, as bits.
    pub marks: u64,
    /// What happens; none if the last state of a run repeats.
    pub action: Option<ActionId>,
    /// The observer sees nothing of it.
    pub silent: bool,
}

/// Where a step leads: a state of the system and one of the observer; nothing if it goes wrong.
pub(crate) type Target<'t> = Option<(&'t [u32], u32)>;

/// Steps out of one state.
pub struct ProductSteps {
    /// The system's steps.
    pub systems: Steps,
    /// The product's.
    pub steps: Vec<ProductStep>,
    /// The marks of the state itself, for fairness.
    pub(crate) state_marks: Vec<u32>,
}

impl ProductSteps {
    /// Bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        self.systems.bytes() + (self.steps.capacity() * size_of::<ProductStep>()) as u64
    }

    /// Copies the target of a step: the words of the system's state, then the observer's.
    pub fn copy_target(&self, step: &ProductStep, out: &mut [u32]) {
        let (system, observer) = out.split_at_mut(out.len() - 1);
        system.copy_from_slice(self.systems.target(step.system as usize));
        observer[0] = step.observer;
    }
}

/// What was found out about a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expanded {
    /// How the observer accepts here.
    pub stance: Stance,
    /// The run ends here: for the system, or together with the observer if that watches actions.
    pub is_deadlock: bool,
    /// The run ends here, and that is an error.
    pub is_error: bool,
    /// No step was left out.
    pub is_full: bool,
}

/// What a search knows of its path to the state that is expanded. Some sets of steps are valid only if they
/// close no cycle; they are taken only where that is known.
pub enum Path<'p> {
    /// Nothing.
    Unknown,
    /// Nothing, and everything is taken, whatever the selection.
    Everything,
    /// Whether a state of the product lies on it.
    Known(&'p mut dyn FnMut(&[u32], u32) -> bool),
    /// The same, but only the first set that is valid on this condition is offered: who takes it later, as before, takes the same.
    Offered(&'p mut dyn FnMut(&[u32], u32) -> bool),
    /// The state was expanded before, and what was taken then closed no cycle.
    AsBefore,
    /// Nothing, but the search repairs its components (`reduction::Repair`).
    Repaired {
        /// These actions are taken as well.
        extra: &'p [ActionId],
        /// The state was expanded before, and it was not given up to look for a set, but one was looked for in this way: the
        /// same is taken.
        again: Option<Effort>,
    },
    /// What was taken before closed a cycle: what is taken where no set is accepted is taken as well.
    Enlarged,
}

/// How often a search expands a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visits {
    /// Once: what is selected may depend on what was met before.
    Once,
    /// Perhaps again, and then alike: what is selected depends on the state alone.
    Again,
}

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

/// Who says what is taken.
enum Selection<'a, S: System> {
    /// The relations between the actions of an action system.
    Sets(Box<Reduction<'a>>),
    /// The system itself.
    Own(Own<S>),
}

impl<'a, S: System> Selection<'a, S> {
    fn for_worker(&self) -> Selection<'a, S> {
        match self {
            Selection::Sets(sets) => Selection::Sets(Box::new(sets.for_worker())),
            Selection::Own(own) => Selection::Own(own.clone()),
        }
    }

    fn begin(&mut self, visits: Visits) {
        if let Selection::Sets(sets) = self {
            sets.begin(visits);
        }
    }

    fn method(&self) -> Method {
        match self {
            Selection::Sets(sets) => sets.method(),
            Selection::Own(own) => own.method(),
        }
    }

    fn n_actions(&self) -> usize {
        match self {
            Selection::Sets(sets) => sets.n_actions(),
            Selection::Own(own) => own.repair.matters.len(),
        }
    }

    fn repair(&self) -> Option<&Repair> {
        match self {
            Selection::Sets(sets) => sets.repair(),
            Selection::Own(own) => Some(&own.repair),
        }
    }

    fn gave_up(&self) -> bool {
        matches!(self, Selection::Sets(sets) if sets.gave_up())
    }

    fn effort(&self) -> Effort {
        if let Selection::Sets(sets) = self { sets.effort() } else { Effort::Plain }
    }

    fn rests(&mut self) -> bool {
        match self {
            Selection::Sets(sets) => sets.rests(),
            Selection::Own(_) => false,
        }
    }
}

impl<'a, S: Dependencies, O: Observer> Product<'a, S, O> {
    /// The same product, of which not everything is explored, by what the system knows: for observers by value that do not
    /// see stuttering, and a search that repairs its components. The system has so many actions. Where only fair runs
    /// count, that must be said.
    #[must_use]
    pub fn reduced_by_itself(mut self, n_actions: usize, is_fair: bool) -> Product<'a, S, O> {
        self.selection = Some(Selection::Own(Own::new(n_actions, is_fair)));
        self
    }
}

impl<'a, O: Observer> Product<'a, ActionSystem, O> {
    /// The same product, of which not everything is explored. Where only runs count that are fair to some
    /// constraints, only [`Method::Fair`] keeps enough of them. What the reduction takes is held.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn reduced(
        mut self,
        method: Method,
        fairness: &[Constraint],
        budget: &mut Budget<'_>,
    ) -> Result<Product<'a, ActionSystem, O>, Limit> {
        let Pairing { system, observer, valuations, visible, .. } = &mut self.pairing;
        let reduction = match observer.watches() {
            Watches::Actions => {
                let actions = (0..system.actions().len()).map(ActionId::new);
                let event = |action| Event { action: Some(action), ..Event::stuttering(0) };
                let is_seen = |action: &ActionId| !observer.is_silent(event(*action), valuations);
                let seen: Vec<ActionId> = actions.filter(is_seen).collect();
                Reduction::for_actions(system, &seen, method, fairness, budget)?
            }
            watches => {
                let propositions = valuations.propositions();
                Reduction::for_propositions(system, propositions, watches, method, fairness, budget)?
            }
        };
        *visible = reduction.visible();
        self.selection = Some(Selection::Sets(Box::new(reduction)));
        Ok(self)
    }

    /// The same without a rule of its reduction: wrong, for tests.
    #[doc(hidden)]
    pub fn without(
        mut self,
        rule: por::Rule,
        budget: &mut Budget<'_>,
    ) -> Result<Product<'a, ActionSystem, O>, Limit> {
        if let Some(Selection::Sets(reduction)) = self.selection {
            self.selection = Some(Selection::Sets(Box::new(reduction.without(rule, budget)?)));
        }
        Ok(self)
    }
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

    /// How it is reduced.
    pub fn method(&self) -> Option<Method> {
        self.selection.as_ref().map(Selection::method)
    }

    /// Whether an action may matter: if it does, it must not be left out along a whole cycle.
    pub fn matters(&self, action: ActionId) -> bool {
        self.repair().is_none_or(|repair| repair.matters.contains(action.index()))
    }

    /// What a search by strong components must see to.
    pub(crate) fn repair(&self) -> Option<&Repair> {
        self.selection.as_ref().and_then(Selection::repair)
    }

    /// Whether what was taken in the last state is valid only on some condition about cycles.
    pub(crate) fn is_conditional(&self) -> bool {
        self.is_conditional
    }

    /// Whether everything was taken in the last state because it would take too long to look for a set.
    pub(crate) fn gave_up(&self) -> bool {
        self.selection.as_ref().is_some_and(Selection::gave_up)
    }

    /// How a set was looked for in the last state.
    pub(crate) fn effort(&self) -> Effort {
        self.selection.as_ref().map_or(Effort::Plain, Selection::effort)
    }

    /// After so many states, a search that repairs its components ends as if there could be no more, if it gave up looking for sets in most of them.
    pub(crate) fn hand_over_after(&mut self, n_states: Option<u64>) {
        self.hands_over = n_states;
    }

    /// When that is.
    #[inline]
    pub(crate) fn hands_over(&self) -> Option<u64> {
        self.hands_over
    }

    /// Whether no accepted run is infinitely often in any state that was expanded so far: then whatever is accepted is so at once, or
    /// lies behind what was seen.
    pub(crate) fn only_passes(&self) -> bool {
        self.only_passes
    }

    /// From now on, guided sets are those that devices find, too. Returns whether there are such sets: the product is reduced by guided
    /// sets, and neither the system nor the observer is too large.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn by_state_alone(&mut self, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        let Pairing { observer, valuations, .. } = &mut self.pairing;
        match &mut self.selection {
            Some(Selection::Sets(reduction)) => reduction.by_state_alone(observer, valuations, budget),
            Some(Selection::Own(_)) | None => Ok(false),
        }
    }

    /// The sets that devices find, too, if it is these that are taken.
    pub(crate) fn steady_sets(&self) -> Option<&Arc<SteadySets>> {
        match &self.selection {
            Some(Selection::Sets(reduction)) => reduction.steady_sets(),
            Some(Selection::Own(_)) | None => None,
        }
    }

    /// From now on, sets are chosen as if no device had been thought of.
    pub(crate) fn by_memory(&mut self) {
        if let Some(Selection::Sets(reduction)) = &mut self.selection {
            reduction.by_memory();
        }
    }

    /// The same where a part of the sets that devices find is forgotten: wrong, for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn forgetting(mut self, forgotten: Forgotten) -> Product<'a, S, O> {
        self.selection = self.selection.map(|selection| match selection {
            Selection::Sets(reduction) => Selection::Sets(Box::new(reduction.forgetting(forgotten))),
            own @ Selection::Own(_) => own,
        });
        self
    }

    /// From now on, nothing is left out.
    pub(crate) fn take_everything(&mut self) {
        self.selection = None;
    }

    /// The actions that matter and were left out of the state that was expanded last, where cycles may be closed
    /// without them; and whether the observer sees them. Steps that begin with the same action are one.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = (ActionId, bool)> {
        let Possible { actions, moves, .. } = &self.pairing.possible;
        let repair = self.repair().filter(|_| self.is_conditional);
        repair.into_iter().flat_map(move |repair| {
            let left_out = (0..actions.len()).filter(|&index| !self.chosen.contains(&(index as u32)));
            let named = left_out.map(|index| (first(actions[index], repair.matters.len()), moves[index]));
            named.filter(|(action, _)| repair.matters.contains(action.index()))
        })
    }

    /// The unknown states that an action leads to, in the state that was expanded last; none if it goes wrong.
    pub(crate) fn for_each_unknown(
        &mut self,
        state: &[u32],
        action: ActionId,
        is_known: impl Fn(&[u32], u32) -> bool,
        visit: &mut dyn FnMut(Target<'_>),
    ) {
        let n_actions = self.repair().map_or(0, |repair| repair.matters.len());
        let Pairing { system, scratch, possible, .. } = &mut self.pairing;
        let Possible { actions, ranges, observer_steps, targets, .. } = possible;
        for (index, &step) in
            actions.iter().enumerate().filter(|(_, step)| first(**step, n_actions) == action)
        {
            let (from, to) = ranges[index];
            let steps = &observer_steps[from as usize..to as usize];
            match targets.get(index, *system, state, step, scratch) {
                Ok(target) => {
                    let unknown = steps.iter().filter(|step| !is_known(target, step.to));
                    unknown.for_each(|step| visit(Some((target, step.to))));
                }
                // What goes wrong here goes wrong again when the step is taken.
                Err(_) => steps.iter().for_each(|_| visit(None)),
            }
        }
    }

    /// Where one of the steps leads that were left out of the state that was expanded last, if some were: which one, a
    /// number says.
    pub(crate) fn left_out_target(&mut self, state: &[u32], number: usize) -> Option<Vec<u32>> {
        let Pairing { system, scratch, possible, .. } = &mut self.pairing;
        let Possible { actions, ranges, observer_steps, targets, .. } = possible;
        let chosen = &self.chosen;
        let left_out: Vec<usize> =
            (0..actions.len()).filter(|&index| !chosen.contains(&(index as u32))).collect();
        let index = *left_out.get(number % left_out.len().max(1))?;
        let observer_state = observer_steps[ranges[index].0 as usize].to;
        let target = targets.get(index, *system, state, actions[index], scratch).ok()?;
        Some([target, &[observer_state]].concat())
    }

    /// Told of a state that was left out whether it was found on another way so far.
    pub(crate) fn learn(&mut self, is_known: bool) {
        if let Some(Selection::Sets(reduction)) = &mut self.selection {
            reduction.learn(is_known);
        }
    }

    /// Told by a search that begins.
    pub(crate) fn begin(&mut self, visits: Visits) {
        if let Some(selection) = &mut self.selection {
            selection.begin(visits);
        }
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

/// Chooses the steps to be taken. Returns whether they are valid only on some condition about cycles.
fn select<S: System, O: Observer>(
    selection: &mut Selection<'_, S>,
    pairing: &mut Pairing<'_, S, O>,
    state: &[u32],
    observer_state: u32,
    stance: Stance,
    mut path: Path<'_>,
    chosen: &mut Vec<u32>,
) -> Result<bool, StepError> {
    let Pairing { system, observer, valuations, scratch, possible, .. } = pairing;
    let Possible { valuation, actions, moves, ranges, observer_steps, blocked, targets, .. } = possible;
    let situation = Situation { state, enabled: actions, moves, blocked };
    let insists = if let Path::Repaired { again, .. } = path { again } else { None };
    let (mut is_conditional, mut n_offers) = (false, 0);
    let mut closes_no_cycle = |candidate: &[u32], n_offers: u32, scratch: &mut S::Scratch| match &mut path {
        Path::Unknown | Path::Everything => false,
        Path::AsBefore | Path::Repaired { .. } | Path::Enlarged => true,
        Path::Offered(_) if n_offers > 1 => false,
        Path::Known(is_on_path) | Path::Offered(is_on_path) => {
            let mut silent = candidate.iter().map(|&index| index as usize).filter(|&index| !moves[index]);
            silent.all(|index| {
                let (from, to) = ranges[index];
                let steps = &observer_steps[from as usize..to as usize];
                // What goes wrong here goes wrong again when the step is taken.
                let target = targets.get(index, *system, state, actions[index], scratch);
                target.is_ok_and(|target| steps.iter().all(|step| !is_on_path(target, step.to)))
            })
        }
    };
    let mut accept = |candidate: &[u32], scratch: &mut S::Scratch| {
        n_offers += 1;
        is_conditional = closes_no_cycle(candidate, n_offers, scratch);
        is_conditional
    };
    match selection {
        Selection::Own(own) => {
            let propositions = valuations.propositions();
            own.choose(*system, &situation, propositions, scratch, &mut accept, chosen)?;
        }
        Selection::Sets(reduction) => {
            let observed =
                Observed { observer, valuations, state: observer_state, valuation: *valuation, stance };
            let mut accept = |candidate: &[u32]| accept(candidate, scratch);
            reduction
                .choose(&situation, observed, insists, &mut accept, chosen)
                .map_err(|fault| StepError { fault, action: None })?;
        }
    }
    Ok(is_conditional)
}

#[cfg(test)]
mod tests {
    use automata::tester::{State, Tester};
    use model::{Action, Builder, Stmt, Variable};

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
