//! A system together with an observer.
//!
//! A state of the product is the packed state of the system and a state of the observer. The observer
//! sees each step of the system: what was true before it, what is true after it, or the action. If it
//! has no step for that, the product has none.

use fixedbitset::FixedBitSet;
use model::chain::first;
use model::{ActionId, StepError, Steps, System};
use por::Situation;

use crate::fairness::Fairness;
use crate::observer::{Event, Observer, ObserverStep, Stance, Valuations, Watches};
use crate::reduction::{Method, Observed, Reduction};

/// What happens to a run that comes to a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtDeadlock {
    /// Its last state repeats for ever.
    Stutter,
    /// It is dropped.
    Ignore,
    /// It is an error, whatever the property says.
    Error,
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
    /// Whether the system's steps are taken in reverse.
    pub reverse: bool,
    /// The observer's.
    pub observer: ObserverOrder,
}

/// Why a state could not be expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpandError {
    /// The model went wrong.
    Step(StepError),
    /// Its steps would take too much memory.
    OutOfMemory,
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

/// A system, an observer, and perhaps a reduction.
pub struct Product<'a, S: System, O> {
    system: &'a S,
    observer: O,
    valuations: Valuations,
    at_deadlock: AtDeadlock,
    orders: Orders,
    /// Per action, whether it may change a valuation; without it, all may.
    visible: Option<FixedBitSet>,
    /// Boxed, since it is taken out while a state is expanded.
    reduction: Option<Box<Reduction<'a>>>,
    fairness: Fairness,
    /// The steps out of one state may take this many bytes.
    max_bytes: u64,
    scratch: S::Scratch,
    buffers: Buffers,
}

/// Reused between states.
#[derive(Default)]
struct Buffers {
    target: Vec<u32>,
    enabled: Vec<ActionId>,
    /// What the observer lets happen, whether it moves then, and its steps.
    allowed: Vec<ActionId>,
    moves: Vec<bool>,
    ranges: Vec<(u32, u32)>,
    observer_steps: Vec<ObserverStep>,
    blocked: Vec<ActionId>,
    chosen: Vec<u32>,
}

/// For searches that need not say which states are on their path.
pub fn no_path(_system: &[u32], _observer: u32) -> bool {
    false
}

impl<'a, S: System, O: Observer> Product<'a, S, O> {
    /// The product of a system with an observer of these propositions.
    pub fn new(
        system: &'a S,
        observer: O,
        valuations: Valuations,
        at_deadlock: AtDeadlock,
    ) -> Product<'a, S, O> {
        let target = vec![0; system.width()];
        Product {
            system,
            observer,
            valuations,
            at_deadlock,
            orders: Orders::default(),
            visible: None,
            reduction: None,
            fairness: Fairness::default(),
            max_bytes: u64::MAX,
            scratch: system.new_scratch(),
            buffers: Buffers { target, ..Buffers::default() },
        }
    }

    /// The same product, of which not everything is explored.
    #[must_use]
    pub fn reduced(mut self, reduction: Reduction<'a>) -> Product<'a, S, O> {
        self.visible = reduction.visible();
        self.reduction = Some(Box::new(reduction));
        self
    }

    /// The same product, of which only fair runs count.
    #[must_use]
    pub fn under(mut self, fairness: Fairness) -> Product<'a, S, O> {
        self.fairness = fairness;
        self
    }

    /// Which runs count.
    pub fn fairness(&self) -> &Fairness {
        &self.fairness
    }

    /// The same product, told which actions may change valuations: one bit for each that there is.
    #[must_use]
    pub fn with_visible(mut self, visible: FixedBitSet) -> Product<'a, S, O> {
        self.visible = Some(visible);
        self
    }

    /// The same product, searched in another order.
    #[must_use]
    pub fn in_order(mut self, orders: Orders) -> Product<'a, S, O> {
        self.orders = orders;
        self
    }

    /// The same product; the steps out of one state may take this many bytes.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: u64) -> Product<'a, S, O> {
        self.max_bytes = max_bytes;
        self
    }

    /// The observer.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// The valuations that were met.
    pub fn valuations(&self) -> &Valuations {
        &self.valuations
    }

    /// How it is reduced.
    pub fn method(&self) -> Option<Method> {
        self.reduction.as_ref().map(|reduction| reduction.method())
    }

    /// Says whether a search is about to expand each state once, or some again, which must then be
    /// expanded alike.
    pub(crate) fn expands_once(&mut self, once: bool) {
        if let Some(reduction) = &mut self.reduction {
            reduction.expands_once(once);
        }
    }

    /// Words per state: the system's, and one for the observer.
    pub fn width(&self) -> usize {
        self.system.width() + 1
    }

    /// An empty buffer.
    pub fn new_steps(&self) -> ProductSteps {
        ProductSteps { systems: Steps::new(self.system.width()), steps: Vec::new(), state_marks: Vec::new() }
    }

    /// The initial states, each with the number of the system's initial state in it.
    pub fn initial_states(&mut self) -> Result<Vec<(usize, Vec<u32>)>, StepError> {
        let mut words = Vec::new();
        self.system.initial_states(&mut words);
        let (mut initial, mut observer_states) = (Vec::new(), Vec::new());
        for (index, state) in words.chunks_exact(self.system.width()).enumerate() {
            let valuation = self.valuations.number_of(self.system, state, &mut self.scratch)?;
            observer_states.clear();
            self.observer.initial(valuation, &self.valuations, &mut observer_states);
            sort_by_order(self.orders.observer, &mut observer_states, |&at| self.observer.is_accepting(at));
            initial.extend(observer_states.iter().map(|&observer| (index, [state, &[observer]].concat())));
        }
        Ok(initial)
    }

    /// Fills `out` with the steps to be explored from a state. `is_on_path` says whether a state of
    /// the product lies on the path of a depth-first search to this one.
    pub fn expand(
        &mut self,
        state: &[u32],
        observer_state: u32,
        is_on_path: &mut dyn FnMut(&[u32], u32) -> bool,
        out: &mut ProductSteps,
    ) -> Result<Expanded, ExpandError> {
        let mut reduction = self.reduction.take();
        let expanded = self.expand_with(reduction.as_deref_mut(), state, observer_state, is_on_path, out);
        self.reduction = reduction;
        expanded
    }

    /// Fills `out` with all steps from a state, whatever the reduction.
    pub fn expand_fully(
        &mut self,
        state: &[u32],
        observer_state: u32,
        out: &mut ProductSteps,
    ) -> Result<Expanded, ExpandError> {
        self.expand_with(None, state, observer_state, &mut no_path, out)
    }

    fn expand_with(
        &mut self,
        reduction: Option<&mut Reduction<'a>>,
        state: &[u32],
        observer_state: u32,
        is_on_path: &mut dyn FnMut(&[u32], u32) -> bool,
        out: &mut ProductSteps,
    ) -> Result<Expanded, ExpandError> {
        out.systems.clear();
        out.steps.clear();
        let valuation = self.valuations.number_of(self.system, state, &mut self.scratch)?;
        let stance = self.observer.stance(observer_state, valuation, &self.valuations);
        let mut expanded = Expanded { stance, is_deadlock: false, is_error: false, is_full: true };
        if stance.at_once {
            self.fairness.state_marks(&[], &mut out.state_marks);
            return Ok(expanded);
        }
        self.buffers.enabled.clear();
        self.system.enabled(state, &mut self.scratch, &mut self.buffers.enabled)?;
        self.fairness.state_marks(&self.buffers.enabled, &mut out.state_marks);
        self.observer.see_enabled(&self.buffers.enabled);
        let watches = self.observer.watches();
        if self.buffers.enabled.is_empty() && watches != Watches::Actions {
            expanded.is_deadlock = true;
            expanded.is_error = self.deadlock(state, observer_state, valuation, stance, out);
            return Ok(expanded);
        }
        if 4 * (self.buffers.enabled.len() * (state.len() + 1)) as u64 > self.max_bytes {
            return Err(ExpandError::OutOfMemory);
        }
        if self.orders.reverse {
            self.buffers.enabled.reverse();
        }
        self.ask_observer(state, observer_state, valuation, reduction.is_some())?;
        if watches == Watches::Actions && self.buffers.allowed.is_empty() {
            expanded.is_deadlock = true;
            expanded.is_error = stance.deadlock;
            return Ok(expanded);
        }
        match reduction {
            None => {
                self.buffers.chosen.clear();
                self.buffers.chosen.extend(0..self.buffers.allowed.len() as u32);
            }
            Some(reduction) => {
                self.reduce(reduction, state, observer_state, valuation, stance, is_on_path)?;
                expanded.is_full = self.buffers.chosen.len() == self.buffers.allowed.len();
            }
        }
        self.emit(state, out)?;
        Ok(expanded)
    }

    /// What happens at the end of a run. Returns whether it is an error.
    fn deadlock(
        &mut self,
        state: &[u32],
        observer_state: u32,
        valuation: u32,
        stance: Stance,
        out: &mut ProductSteps,
    ) -> bool {
        if self.at_deadlock == AtDeadlock::Error {
            return true;
        }
        if self.observer.owns_deadlocks() {
            return stance.deadlock && self.at_deadlock != AtDeadlock::Ignore;
        }
        if self.at_deadlock == AtDeadlock::Stutter {
            // The action is never looked at.
            out.systems.push(ActionId::new(0), state);
            let event = Event::stuttering(valuation);
            for step in self.observer.steps(observer_state, event, &self.valuations) {
                out.steps.push(ProductStep {
                    system: 0,
                    observer: step.to,
                    marks: step.marks,
                    action: None,
                    silent: true,
                });
            }
        }
        false
    }

    /// Which of the enabled actions the observer lets happen, and how.
    fn ask_observer(
        &mut self,
        state: &[u32],
        observer_state: u32,
        valuation: u32,
        reduces: bool,
    ) -> Result<(), StepError> {
        let Buffers { target, enabled, allowed, moves, ranges, observer_steps, blocked, .. } =
            &mut self.buffers;
        allowed.clear();
        moves.clear();
        ranges.clear();
        observer_steps.clear();
        blocked.clear();
        let watches = self.observer.watches();
        // Steps that look alike to the observer are asked for once.
        let mut silent_range = None;
        if watches == Watches::Source {
            let event = Event::stuttering(valuation);
            observer_steps.extend_from_slice(self.observer.steps(observer_state, event, &self.valuations));
            let range = (0, observer_steps.len() as u32);
            if range.1 == 0 {
                return Ok(());
            }
            silent_range = Some(range);
        }
        let needs_target = match watches {
            Watches::Source => reduces,
            Watches::Target | Watches::Changes => true,
            Watches::Actions => false,
        };
        for &action in &*enabled {
            let mut to = valuation;
            let is_visible = self
                .visible
                .as_ref()
                .is_none_or(|visible| visible.contains(first(action, visible.len()).index()));
            if needs_target && is_visible {
                target.copy_from_slice(state);
                self.system.fire(target, action, &mut self.scratch)?;
                // A proposition that cannot be evaluated there is noticed there.
                let number = self.valuations.number_of(self.system, target, &mut self.scratch);
                to = number.unwrap_or(valuation);
            }
            let event = Event { from: valuation, to, action: Some(action) };
            let is_silent = self.observer.is_silent(event, &self.valuations);
            let range = match silent_range {
                Some(range) if is_silent || watches == Watches::Source => range,
                _ => {
                    let start = observer_steps.len() as u32;
                    observer_steps.extend_from_slice(self.observer.steps(
                        observer_state,
                        event,
                        &self.valuations,
                    ));
                    let range = (start, observer_steps.len() as u32);
                    if is_silent && watches != Watches::Target {
                        silent_range = Some(range);
                    }
                    range
                }
            };
            if range.0 == range.1 {
                blocked.push(action);
            } else {
                allowed.push(action);
                moves.push(!is_silent);
                ranges.push(range);
            }
        }
        let order = self.orders.observer;
        if order != ObserverOrder::AsIs {
            let mut sorted = ranges.clone();
            sorted.sort_unstable();
            sorted.dedup();
            for (from, to) in sorted {
                let steps = &mut observer_steps[from as usize..to as usize];
                sort_by_order(order, steps, |step| self.observer.is_accepting(step.to));
            }
        }
        Ok(())
    }

    /// Chooses the actions to be taken.
    fn reduce(
        &mut self,
        reduction: &mut Reduction<'a>,
        state: &[u32],
        observer_state: u32,
        valuation: u32,
        stance: Stance,
        is_on_path: &mut dyn FnMut(&[u32], u32) -> bool,
    ) -> Result<(), StepError> {
        let Product { system, observer, valuations, scratch, .. } = self;
        let Buffers { target, allowed, moves, ranges, observer_steps, blocked, chosen, .. } =
            &mut self.buffers;
        let situation = Situation { state, enabled: allowed, moves, blocked };
        let observed = Observed { observer, valuations, state: observer_state, valuation, stance };
        let mut closes_no_cycle = |candidate: &[u32]| {
            candidate.iter().map(|&index| index as usize).filter(|&index| !moves[index]).all(|index| {
                target.copy_from_slice(state);
                // What goes wrong here goes wrong again when the step is taken.
                let fired = system.fire(target, allowed[index], scratch);
                let (from, to) = ranges[index];
                fired.is_ok()
                    && observer_steps[from as usize..to as usize]
                        .iter()
                        .all(|step| !is_on_path(target, step.to))
            })
        };
        reduction
            .choose(&situation, observed, &mut closes_no_cycle, chosen)
            .map_err(|fault| StepError { fault, action: None })
    }

    /// Takes the chosen steps.
    fn emit(&mut self, state: &[u32], out: &mut ProductSteps) -> Result<(), StepError> {
        let Buffers { allowed, moves, ranges, observer_steps, chosen, .. } = &self.buffers;
        for &index in chosen {
            let index = index as usize;
            let action = allowed[index];
            let number = out.systems.len() as u32;
            self.system.fire(out.systems.push(action, state), action, &mut self.scratch)?;
            let (from, to) = ranges[index];
            for step in &observer_steps[from as usize..to as usize] {
                out.steps.push(ProductStep {
                    system: number,
                    observer: step.to,
                    marks: step.marks,
                    action: Some(action),
                    silent: !moves[index],
                });
            }
        }
        Ok(())
    }
}

/// Puts what is accepting first or last; otherwise the order is kept.
fn sort_by_order<T>(order: ObserverOrder, items: &mut [T], is_accepting: impl Fn(&T) -> bool) {
    match order {
        ObserverOrder::AsIs => {}
        ObserverOrder::AcceptingFirst => items.sort_by_key(|item| !is_accepting(item)),
        ObserverOrder::AcceptingLast => items.sort_by_key(is_accepting),
    }
}
