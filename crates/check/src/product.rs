//! A system together with a tester.
//!
//! A state of the product is the packed state of the system and, in one more word, the state of the
//! (τ-free) tester. Actions whose label the tester watches are *visible*: they happen only if the
//! tester follows them. All others leave it where it is.

use automata::tau_free::TooLarge;
use automata::{TauFree, Tester};
use model::{ActionId, ActionSystem, LabelId, Relations, StepError, Steps, System as _};
use por::{Demand, Offer, StubbornSets};
use rustc_hash::FxHashMap;

/// A system, a tester, and perhaps stubborn sets.
pub struct TesterProduct<'a> {
    system: &'a ActionSystem,
    tester: &'a Tester,
    free: TauFree,
    /// Per action, the letter of its label.
    letters: Vec<Option<u32>>,
    /// Different sets of actions that tester states follow.
    offers: Vec<Offer>,
    /// Per tester state, which of them it follows.
    offer_of: Vec<u32>,
    /// The steps out of one state may take this many bytes.
    max_bytes: u64,
    sets: Option<StubbornSets<'a>>,
}

/// Working memory.
pub struct Scratch {
    model: model::Scratch,
    por: Option<por::Scratch>,
    enabled: Vec<ActionId>,
    target: Vec<u32>,
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

/// What is special about a step of the product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepKind {
    /// The tester takes part.
    pub visible: bool,
    /// The tester leaves an infinite-trace state.
    pub marked: bool,
}

/// Steps out of one state.
#[derive(Default)]
pub struct ProductSteps {
    /// The actions and targets.
    pub steps: Steps,
    /// For each, what is special about it.
    pub kinds: Vec<StepKind>,
}

impl<'a> TesterProduct<'a> {
    /// The product of a system and a legal tester, whose letters are these labels. The steps out
    /// of one state may take `max_bytes`.
    pub fn new(
        system: &'a ActionSystem,
        tester: &'a Tester,
        labels: &[LabelId],
        max_bytes: u64,
    ) -> Result<TesterProduct<'a>, TooLarge> {
        let mut letter_of_label = vec![None; system.labels().len()];
        for (letter, label) in labels.iter().enumerate() {
            letter_of_label[label.index()] = Some(letter as u32);
        }
        let free = TauFree::new(tester)?;
        let letters: Vec<Option<u32>> =
            system.actions().iter().map(|action| letter_of_label[action.label.index()]).collect();
        let mut offers = Vec::new();
        let mut offer_of = Vec::with_capacity(tester.states.len());
        let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        for state in 0..tester.states.len() as u32 {
            let follows = |letter: &u32| !free.steps(state, *letter).is_empty();
            let followed: Vec<u32> = (0..labels.len() as u32).filter(follows).collect();
            let number = *numbers.entry(followed).or_insert_with_key(|followed| {
                let is_followed = |letter: u32| followed.binary_search(&letter).is_ok();
                let actions =
                    letters.iter().enumerate().filter(|(_, letter)| letter.is_some_and(is_followed));
                offers.push(Offer::new(system, actions.map(|(action, _)| ActionId::new(action))));
                offers.len() as u32 - 1
            });
            offer_of.push(number);
        }
        Ok(TesterProduct { system, tester, free, letters, offers, offer_of, max_bytes, sets: None })
    }

    /// The same product, of which only stubborn sets are explored.
    #[must_use]
    pub fn reduced(mut self) -> TesterProduct<'a> {
        let visible = self.letters.iter().enumerate().filter(|(_, letter)| letter.is_some());
        let visible: Vec<ActionId> = visible.map(|(action, _)| ActionId::new(action)).collect();
        self.sets = Some(StubbornSets::new(self.system, &Relations::new(self.system), visible));
        self
    }

    /// The tester.
    pub fn tester(&self) -> &Tester {
        self.tester
    }

    /// Words per state.
    pub fn width(&self) -> usize {
        self.system.width() + 1
    }

    /// The tester's part of a state.
    #[inline]
    pub fn tester_state(&self, state: &[u32]) -> u32 {
        state[self.system.width()]
    }

    /// What is special about the tester's part of a state.
    #[inline]
    pub fn flags(&self, state: &[u32]) -> &'a automata::tester::State {
        &self.tester.states[self.tester_state(state) as usize]
    }

    /// New working memory for a search that expands each state once.
    pub fn new_adaptive_scratch(&self) -> Scratch {
        Scratch { por: self.sets.as_ref().map(StubbornSets::new_adaptive_scratch), ..self.new_scratch() }
    }

    /// New working memory.
    pub fn new_scratch(&self) -> Scratch {
        Scratch {
            model: self.system.new_scratch(),
            por: self.sets.as_ref().map(StubbornSets::new_scratch),
            enabled: Vec::new(),
            target: vec![0; self.system.width()],
        }
    }

    /// An empty buffer.
    pub fn new_steps(&self) -> ProductSteps {
        ProductSteps { steps: Steps::new(self.width()), kinds: Vec::new() }
    }

    /// Calls `visit` with each initial state and the number of the system's initial state in it.
    pub fn for_each_initial_state<E>(
        &self,
        mut visit: impl FnMut(usize, &[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut state = Vec::with_capacity(self.width());
        for (index, initial) in self.system.initial().enumerate() {
            for &tester_state in self.free.initial() {
                state.clear();
                state.extend_from_slice(initial);
                state.push(tester_state);
                visit(index, &state)?;
            }
        }
        Ok(())
    }

    /// Fills `out` with the steps to be explored from `state`. Returns whether the state is a
    /// deadlock of the full product.
    pub fn expand(
        &self,
        state: &[u32],
        scratch: &mut Scratch,
        out: &mut ProductSteps,
    ) -> Result<bool, ExpandError> {
        let (system_state, tester_state) = state.split_at(self.system.width());
        let tester_state = tester_state[0];
        let offer = &self.offers[self.offer_of[tester_state as usize] as usize];
        out.steps.clear();
        out.kinds.clear();
        scratch.enabled.clear();
        self.system.enabled(system_state, &mut scratch.model, &mut scratch.enabled)?;
        scratch.enabled.retain(|&action| self.letters[action.index()].is_none() || offer.contains(action));
        let is_deadlock = scratch.enabled.is_empty();
        if let (Some(sets), Some(por)) = (&self.sets, &mut scratch.por) {
            let flags = &self.tester.states[tester_state as usize];
            let demand = Demand::Tester { offer, livelock: flags.livelock, deadlock: flags.deadlock };
            sets.reduce(system_state, demand, por, &mut scratch.enabled)
                .map_err(|fault| StepError { fault, action: None })?;
        }
        if 4 * (scratch.enabled.len() * state.len()) as u64 > self.max_bytes {
            return Err(ExpandError::OutOfMemory);
        }
        for &action in &scratch.enabled {
            scratch.target.copy_from_slice(system_state);
            self.system.fire(&mut scratch.target, action, &mut scratch.model)?;
            let mut push = |tester_state: u32, kind: StepKind| {
                let target = out.steps.push(action, state);
                target[..scratch.target.len()].copy_from_slice(&scratch.target);
                target[scratch.target.len()] = tester_state;
                out.kinds.push(kind);
            };
            match self.letters[action.index()] {
                None => push(tester_state, StepKind::default()),
                Some(letter) => {
                    for step in self.free.steps(tester_state, letter) {
                        push(step.to, StepKind { visible: true, marked: step.marked });
                    }
                }
            }
        }
        Ok(is_deadlock)
    }
}
