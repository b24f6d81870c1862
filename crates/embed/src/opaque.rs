//! A model as a [`Program`]: states by a [`Codec`], actions by numbers that tell their class.
//!
//! Actions are numbered as they are met. The number of a step is the class of its action, plus that number times the
//! number of classes, so that [`model::chain::first`] finds the class: fairness and testers speak about classes. A
//! class that was not known when the search began ends it ([`Trouble::NewClass`]); it begins again with one more.
//!
//! Where only the environment can do anything, it may also rest: that is a step of its own class, which changes
//! nothing, in searches for infinite runs.

use std::borrow::Borrow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::{ActionId, Fault, LabelId, StepError, Steps};
use pack::Table;

use crate::check::Check;
use crate::classes::{Class, Classes};
use crate::codec::Codec;
use crate::footprint::Prints;
use crate::model::Model;
use crate::panics::catch;
use crate::program::{Program, Worker};
use crate::propositions::Propositions;
use crate::symmetry::Symmetry;
use crate::verdict::Reason;

/// Why a search must end. Its number is that of a [`Fault::Assertion`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The model panics.
    Panic(String),
    /// A state has no words.
    Unencodable(String),
    /// Somebody else would have seen something else.
    Nondeterministic(String),
    /// There are actions of a class that was not known.
    NewClass(Class),
    /// States need more room than they have.
    Outgrown,
    /// Actors that are said to be equal are not.
    Asymmetric(String),
    /// There are more actions than numbers.
    TooManyActions,
}

/// A model, with what was met of it.
pub(crate) struct Opaque<'a, M: Model, C> {
    model: &'a M,
    codec: C,
    propositions: &'a Propositions<'a, M>,
    classes: &'a Classes<'a, M>,
    symmetry: Option<&'a Symmetry<'a, M::State>>,
    footprint: Option<&'a dyn Prints<M>>,
    /// Whether the environment may rest: it matters for infinite runs only.
    rests: bool,
    actions: Table<M::Action>,
    troubles: Mutex<Vec<Trouble>>,
}

impl<'a, M: Model, C: Codec<M::State>> Opaque<'a, M, C> {
    pub(crate) fn new<'m: 'a>(
        check: &'a Check<'m, M>,
        codec: C,
        classes: &'a Classes<'a, M>,
        rests: bool,
    ) -> Opaque<'a, M, C> {
        crate::panics::prepare();
        Opaque {
            model: check.model,
            codec,
            propositions: &check.propositions,
            classes,
            symmetry: check.symmetry.as_ref(),
            footprint: check.footprint.as_deref(),
            rests,
            actions: Table::default(),
            troubles: Mutex::default(),
        }
    }

    /// The words that are kept for a state.
    #[inline]
    fn encode(&self, state: &M::State, words: &mut [u32]) -> Result<(), String> {
        match self.symmetry {
            None => self.codec.encode(state, words),
            Some(symmetry) => self.codec.encode(&symmetry.representative(state), words),
        }
    }

    fn known_troubles(&self) -> MutexGuard<'_, Vec<Trouble>> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cold]
    fn trouble(&self, trouble: Trouble, action: Option<ActionId>) -> StepError {
        let mut troubles = self.known_troubles();
        troubles.push(trouble);
        StepError { fault: Fault::Assertion(troubles.len() as u32 - 1), action }
    }
}

/// What the generic part asks of a program after a search.
pub(crate) trait Recall<M: Model>: Program {
    /// The action of a step; none if the environment rests.
    fn action(&self, step: ActionId) -> Option<M::Action>;

    /// What an error is about.
    fn trouble(&self, error: &StepError) -> Option<Trouble>;

    /// All that went wrong so far.
    fn troubles(&self) -> Vec<Trouble>;

    /// Whether the model can say where it begins, and all of that has words.
    ///
    /// # Errors
    /// Why not.
    fn begins(&self) -> Result<(), Reason>;

    /// The same without the types.
    fn as_program(&self) -> &dyn Program;
}

impl<M: Model, C: Codec<M::State>> Recall<M> for Opaque<'_, M, C> {
    fn action(&self, step: ActionId) -> Option<M::Action> {
        if step == self.classes.rest() {
            return None;
        }
        Some(self.actions.get((step.index() / self.classes.len()) as u32).clone())
    }

    fn trouble(&self, error: &StepError) -> Option<Trouble> {
        match error.fault {
            Fault::Assertion(number) => self.known_troubles().get(number as usize).cloned(),
            _ => None,
        }
    }

    fn troubles(&self) -> Vec<Trouble> {
        self.known_troubles().clone()
    }

    fn begins(&self) -> Result<(), Reason> {
        let states = catch(|| self.model.initial());
        let states = states.map_err(|text| Reason::Question(format!("`initial` panics: {text}")))?;
        if states.is_empty() {
            return Err(Reason::Question("the model has no initial state".to_owned()));
        }
        let mut words = vec![0; self.codec.width()];
        states.iter().try_for_each(|state| {
            let encoded = catch(|| self.encode(state, &mut words)).unwrap_or_else(Err);
            encoded.map_err(|why| Reason::OutOfRange(format!("{why}, in the initial state {state:?}")))
        })
    }

    fn as_program(&self) -> &dyn Program {
        self
    }
}

impl<M: Model, C: Codec<M::State>> Program for Opaque<'_, M, C> {
    fn width(&self) -> usize {
        self.codec.width()
    }

    /// All of them have words: that was looked at before ([`Recall::begins`]).
    fn initial_states(&self, out: &mut Vec<u32>) {
        let width = self.codec.width();
        for state in catch(|| self.model.initial()).unwrap_or_default() {
            let start = out.len();
            out.resize(start + width, 0);
            _ = catch(|| self.encode(&state, &mut out[start..]));
        }
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(OpaqueWorker {
            program: self,
            current: None,
            n_expanded: 0,
            offered: Vec::new(),
            steps: Vec::new(),
            at: None,
        })
    }

    fn n_propositions(&self) -> usize {
        self.propositions.len()
    }

    fn n_classes(&self) -> usize {
        self.classes.len()
    }

    fn label(&self, class: ActionId) -> Option<LabelId> {
        self.classes.label(class)
    }

    fn is_reduced(&self) -> bool {
        self.footprint.is_some()
    }

    fn is_symmetric(&self) -> bool {
        self.symmetry.is_some()
    }

    fn bytes(&self) -> u64 {
        self.codec.bytes() + self.actions.bytes() as u64
    }
}

/// How often actions and steps are asked for twice: in the first states, and then now and then.
const DOUBTED_FIRST: u64 = 64;
const DOUBTED_EVERY: u64 = 512;

/// One thread's part.
struct OpaqueWorker<'p, 'a, M: Model, C: Codec<M::State>> {
    program: &'p Opaque<'a, M, C>,
    /// The state that was looked at last, with its words.
    current: Option<(Vec<u32>, C::View<'p>)>,
    n_expanded: u64,
    /// What can happen there.
    offered: Vec<M::Action>,
    /// By the numbers of actions: that of their steps, and whether they are the environment's; as far as they were met.
    steps: Vec<Option<(ActionId, bool)>>,
    /// What is going on, if it panics.
    at: Option<ActionId>,
}

impl<'p, M: Model, C: Codec<M::State>> OpaqueWorker<'p, '_, M, C> {
    /// Makes a state the current one.
    #[inline]
    fn look_at(&mut self, words: &[u32]) {
        match &mut self.current {
            Some((known, _)) if *known == words => {}
            Some((known, state)) => {
                known.copy_from_slice(words);
                *state = self.program.codec.view(words);
            }
            none => *none = Some((words.to_vec(), self.program.codec.view(words))),
        }
    }

    /// The current state. There is one, once a state was looked at.
    #[inline]
    fn state(&self) -> Option<&M::State> {
        self.current.as_ref().map(|(_, state)| state.borrow())
    }

    /// The number of the steps of an action, and whether it is the environment's.
    #[inline]
    fn number(&mut self, action: &M::Action) -> Result<(ActionId, bool), StepError> {
        let number = self.program.actions.number(action) as usize;
        match self.steps.get(number) {
            Some(Some(known)) => Ok(*known),
            _ => self.learn(action, number),
        }
    }

    #[cold]
    fn learn(&mut self, action: &M::Action, number: usize) -> Result<(ActionId, bool), StepError> {
        let program = self.program;
        let class = program.classes.of(program.model, action);
        let Some(class_number) = program.classes.number(&class) else {
            return Err(program.trouble(Trouble::NewClass(class), None));
        };
        let step = number.checked_mul(program.classes.len()).and_then(|step| step.checked_add(class_number));
        let Some(step) = step.filter(|step| *step < u32::MAX as usize) else {
            return Err(program.trouble(Trouble::TooManyActions, None));
        };
        let is_environment = program.classes.has_processes() && class.process.is_none();
        if self.steps.len() <= number {
            self.steps.resize(number + 1, None);
        }
        Ok(*self.steps[number].insert((ActionId::new(step), is_environment)))
    }

    /// Runs code of the model; a panic is a fault.
    fn guarded<T>(&mut self, code: impl FnOnce(&mut Self) -> Result<T, StepError>) -> Result<T, StepError> {
        self.at = None;
        match catch(|| code(self)) {
            Ok(done) => done,
            Err(text) => Err(self.program.trouble(Trouble::Panic(text), self.at)),
        }
    }

    /// Lists what can happen in the current state. Returns whether the environment may rest.
    #[inline]
    fn list(&mut self) -> Result<bool, StepError> {
        self.offered.clear();
        let mut offered = std::mem::take(&mut self.offered);
        if let Some(state) = self.state() {
            self.program.model.actions(state, &mut offered);
        }
        self.offered = offered;
        Ok(self.program.rests && !self.offered.is_empty() && self.is_up_to_environment()?)
    }

    fn is_up_to_environment(&mut self) -> Result<bool, StepError> {
        let offered = std::mem::take(&mut self.offered);
        let mut all = Ok(true);
        for action in &offered {
            all = self.number(action).map(|(_, is_environment)| is_environment);
            if !matches!(all, Ok(true)) {
                break;
            }
        }
        self.offered = offered;
        all
    }

    /// Whether actors are as equal here as is said.
    fn doubt_symmetry(&self) -> Result<(), StepError> {
        let (Some(symmetry), Some(state)) = (self.program.symmetry, self.state()) else { return Ok(()) };
        if symmetry.is_trusted {
            return Ok(());
        }
        let tells_apart =
            |one: &M::State, other: &M::State| self.program.propositions.tells_apart(one, other);
        let doubt =
            |permutation: &Vec<usize>| symmetry.doubt(self.program.model, state, permutation, tells_apart);
        match symmetry.all().into_iter().flatten().find_map(doubt) {
            None => Ok(()),
            Some(text) => Err(self.program.trouble(Trouble::Asymmetric(text), None)),
        }
    }

    /// Asks again, now and then: a model that answers otherwise is none.
    fn doubt(&mut self) -> Result<(), StepError> {
        self.n_expanded += 1;
        self.doubt_symmetry()?;
        if self.n_expanded > DOUBTED_FIRST && !self.n_expanded.is_multiple_of(DOUBTED_EVERY) {
            return Ok(());
        }
        let Some(state) = self.state() else { return Ok(()) };
        let model = self.program.model;
        let mut again = Vec::new();
        model.actions(&state.clone(), &mut again);
        let trouble = if again != self.offered {
            Some(format!(
                "in the state {state:?}, `actions` gives {:?}, and asked again {again:?}",
                self.offered
            ))
        } else {
            again.iter().find_map(|action| {
                let (mut one, mut other) = (state.clone(), state.clone());
                model.step(&mut one, action);
                model.step(&mut other, action);
                (one != other).then(|| {
                    format!(
                        "in the state {state:?}, {action:?} leads to {one:?}, and asked again to {other:?}"
                    )
                })
            })
        };
        match trouble {
            None => Ok(()),
            Some(text) => Err(self.program.trouble(Trouble::Nondeterministic(text), None)),
        }
    }

    /// The words of the current state after an action.
    #[inline]
    fn take(&mut self, action: &M::Action, step: ActionId, words: &mut [u32]) -> Result<(), StepError> {
        self.at = Some(step);
        let Some(state) = self.state() else { return Ok(()) };
        let mut next = state.clone();
        self.program.model.step(&mut next, action);
        let encoded = self.program.encode(&next, words);
        encoded.map_err(|why| self.program.trouble(Trouble::Unencodable(why), Some(step)))
    }
}

impl<M: Model, C: Codec<M::State>> Worker for OpaqueWorker<'_, '_, M, C> {
    fn successors(&mut self, words: &[u32], out: &mut Steps) -> Result<(), StepError> {
        self.look_at(words);
        self.guarded(|worker| {
            let rests = worker.list()?;
            let offered = std::mem::take(&mut worker.offered);
            for action in &offered {
                let (step, _) = worker.number(action)?;
                worker.take(action, step, out.push(step, words))?;
            }
            worker.offered = offered;
            worker.at = None;
            if rests {
                out.push(worker.program.classes.rest(), words);
            }
            worker.doubt()
        })
    }

    fn enabled(&mut self, words: &[u32], out: &mut Vec<ActionId>) -> Result<(), StepError> {
        self.look_at(words);
        self.guarded(|worker| {
            let rests = worker.list()?;
            let offered = std::mem::take(&mut worker.offered);
            for action in &offered {
                out.push(worker.number(action)?.0);
            }
            worker.offered = offered;
            out.extend(rests.then_some(worker.program.classes.rest()));
            worker.doubt()
        })
    }

    fn choose(
        &mut self,
        words: &[u32],
        watched: &[usize],
        enabled: &mut Vec<ActionId>,
    ) -> Result<Option<(Vec<u32>, usize)>, StepError> {
        self.enabled(words, enabled)?;
        let Some(footprint) = self.program.footprint else { return Ok(None) };
        let origin = |number: &usize| self.program.propositions.origin(*number);
        let watched: Vec<usize> = watched.iter().map(origin).collect();
        self.guarded(|worker| {
            let Some(state) = worker.state() else { return Ok(None) };
            Ok(footprint.choose(worker.program.model, state, &worker.offered, &watched))
        })
    }

    fn fire(&mut self, words: &mut [u32], step: ActionId) -> Result<(), StepError> {
        if step == self.program.classes.rest() {
            return Ok(());
        }
        self.look_at(words);
        let action = self.program.actions.get((step.index() / self.program.classes.len()) as u32);
        self.guarded(|worker| worker.take(action, step, words))
    }

    fn holds(&mut self, proposition: usize, words: &[u32]) -> Result<bool, StepError> {
        self.look_at(words);
        self.guarded(|worker| {
            let Some(state) = worker.state() else { return Ok(false) };
            Ok(worker.program.propositions.holds(proposition, state))
        })
    }
}
