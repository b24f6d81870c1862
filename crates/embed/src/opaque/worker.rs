//! One thread's part of a search in a model: real states are made of words, and stepped.

use std::borrow::Borrow;

use model::{ActionId, StepError, Steps};

use super::Opaque;
use super::steps::MetSteps;
use crate::keeper::{From, Keeper, Made};
use crate::model::Model;
use crate::panics::catch;
use crate::program::{Choice, Keeps, Worker};
use crate::trouble::Trouble;

/// How often actions and steps are asked for twice: in the first states, and then now and then.
const DOUBTED_FIRST: u64 = 64;
const DOUBTED_EVERY: u64 = 512;

/// So many states that nobody needs are kept, so that others are made of them.
const MAX_SPARE: usize = 64;

/// One thread's part.
pub(super) struct OpaqueWorker<'p, 'a, M: Model, K: Keeper<M>> {
    program: &'p Opaque<'a, M, K>,
    /// The words of the state that was looked at last, and the state, unless it was given away.
    known: Vec<u32>,
    current: Option<K::View<'p>>,
    /// Whether steps were taken from there, or there are none.
    was_stepped: bool,
    n_expanded: u64,
    /// What can happen there.
    offered: Vec<M::Action>,
    /// States that are to be encoded, by the steps to them. What is behind them is made use of when others are made.
    made: Vec<Made<M::State>>,
    made_by: Vec<ActionId>,
    /// States that nobody needs.
    spare: Vec<M::State>,
    met: MetSteps<M::Action>,
    /// What is going on, if it panics.
    at: Option<ActionId>,
}

impl<'p, 'a, M: Model, K: Keeper<M>> OpaqueWorker<'p, 'a, M, K> {
    pub(super) fn new(program: &'p Opaque<'a, M, K>) -> OpaqueWorker<'p, 'a, M, K> {
        OpaqueWorker {
            program,
            known: vec![0; program.keeper.width()],
            current: None,
            was_stepped: false,
            n_expanded: 0,
            offered: Vec::new(),
            made: Vec::new(),
            made_by: Vec::new(),
            spare: Vec::new(),
            met: MetSteps::default(),
            at: None,
        }
    }

    /// Makes a state the current one.
    #[inline]
    fn look_at(&mut self, words: &[u32]) {
        if self.current.is_some() && self.known == words {
            return;
        }
        let was_stepped = std::mem::take(&mut self.was_stepped);
        if let Some(view) = self.current.take() {
            self.program.keeper.bring_back(&self.known, view, was_stepped);
        }
        self.current = Some(self.program.view(words));
        self.known.copy_from_slice(words);
    }

    /// The current state. There is one, once a state was looked at.
    #[inline]
    fn state(&self) -> Option<&M::State> {
        self.current.as_ref().map(Borrow::borrow)
    }

    /// The number of the steps of an action, and whether it is the environment's.
    #[inline]
    fn number(&mut self, action: &M::Action) -> Result<(ActionId, bool), StepError> {
        let Opaque { model, actions, classes, troubles, .. } = self.program;
        let ask = || classes.steps_of(model, action, actions.number(action));
        self.met.of(action, || ask().map_err(|trouble| troubles.add(trouble, None)))
    }

    /// Runs code of the model; a panic is a fault.
    fn guarded<T>(&mut self, code: impl FnOnce(&mut Self) -> Result<T, StepError>) -> Result<T, StepError> {
        self.at = None;
        self.made_by.clear();
        match catch(|| code(self)) {
            Ok(done) => done,
            Err(text) => Err(self.program.troubles.add(Trouble::Panic(text), self.at)),
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

    /// Whether it is time to ask again: always, where actors are said to be equal.
    fn is_doubted(&mut self) -> bool {
        self.n_expanded += 1;
        self.program.symmetry.is_some_and(|symmetry| !symmetry.is_trusted) || self.doubts_model()
    }

    fn doubts_model(&self) -> bool {
        self.n_expanded <= DOUBTED_FIRST || self.n_expanded.is_multiple_of(DOUBTED_EVERY)
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
            Some(text) => Err(self.program.troubles.add(Trouble::Asymmetric(text), None)),
        }
    }

    /// Asks again, now and then: a model that answers otherwise is none.
    fn doubt(&self) -> Result<(), StepError> {
        self.doubt_symmetry()?;
        if !self.doubts_model() {
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
                if one != other {
                    return Some(format!(
                        "in the state {state:?}, {action:?} leads to {one:?}, and asked again to {other:?}"
                    ));
                }
                other.clone_from(state);
                (other != *state).then(|| format!("`clone_from` makes {other:?} of the state {state:?}"))
            })
        };
        match trouble {
            None => Ok(()),
            Some(text) => Err(self.program.troubles.add(Trouble::Nondeterministic(text), None)),
        }
    }

    /// Makes the current state after an action. With its last step, a state may be given away.
    #[inline]
    fn make(&mut self, action: &M::Action, step: ActionId, is_last: bool) {
        (self.at, self.was_stepped) = (Some(step), true);
        let OpaqueWorker { program, made, made_by, spare, .. } = self;
        let Some(view) = self.current.take() else { return };
        if made.len() == made_by.len() {
            made.push((0, None));
        }
        let (number, state) = &mut made[made_by.len()];
        *number = program.classes.action_of(step).unwrap_or_default();
        let kept = if is_last { program.keeper.give(&self.known, view) } else { Err(view) };
        let state = match kept {
            Ok(given) => {
                self.was_stepped = false;
                let before = state.replace(given);
                spare.extend(before.filter(|_| spare.len() < MAX_SPARE));
                state.as_mut()
            }
            Err(view) => {
                if state.is_none() {
                    *state = spare.pop();
                }
                match state {
                    Some(state) => state.clone_from(view.borrow()),
                    None => *state = Some(view.borrow().clone()),
                }
                self.current = Some(view);
                state.as_mut()
            }
        };
        if let Some(state) = state {
            program.step(state, action);
            made_by.push(step);
        }
    }

    /// Encodes the states that were made.
    fn encode(&mut self, words: &mut [u32]) -> Result<(), StepError> {
        let OpaqueWorker { program, known, current, made, made_by, .. } = self;
        let from = From { words: known, state: current.as_ref().map(Borrow::borrow) };
        let encoded = program.encode(&mut made[..made_by.len()], Some(from), words);
        encoded.map_err(|(index, why)| {
            program.troubles.add(Trouble::Unencodable(why), made_by.get(index).copied())
        })
    }

    /// Appends the steps to them, encoded.
    fn push_made(&mut self, out: &mut Steps) -> Result<(), StepError> {
        let targets = out.push_all(&self.made_by);
        let encoded = self.encode(targets);
        if encoded.is_err() {
            self.made_by.iter().for_each(|_| out.pop());
        }
        encoded
    }
}

impl<M: Model, K: Keeper<M>> Worker for OpaqueWorker<'_, '_, M, K> {
    fn successors(&mut self, words: &[u32], out: &mut Steps) -> Result<(), StepError> {
        self.guarded(|worker| {
            worker.look_at(words);
            let rests = worker.list()?;
            let is_doubted = worker.is_doubted();
            worker.was_stepped |= worker.offered.is_empty();
            let offered = std::mem::take(&mut worker.offered);
            for (index, action) in offered.iter().enumerate() {
                let (step, _) = worker.number(action)?;
                let is_last = index + 1 == offered.len() && !is_doubted;
                worker.make(action, step, is_last);
            }
            worker.offered = offered;
            worker.push_made(out)?;
            worker.at = None;
            if rests {
                out.push(worker.program.classes.rest(), words);
            }
            if is_doubted { worker.doubt() } else { Ok(()) }
        })
    }

    fn enabled(&mut self, words: &[u32], out: &mut Vec<ActionId>) -> Result<(), StepError> {
        self.guarded(|worker| {
            worker.look_at(words);
            let rests = worker.list()?;
            let offered = std::mem::take(&mut worker.offered);
            for action in &offered {
                out.push(worker.number(action)?.0);
            }
            worker.offered = offered;
            out.extend(rests.then_some(worker.program.classes.rest()));
            if worker.is_doubted() { worker.doubt() } else { Ok(()) }
        })
    }

    fn choose(
        &mut self,
        words: &[u32],
        watched: &[usize],
        keeps: Keeps<'_>,
        enabled: &mut Vec<ActionId>,
    ) -> Result<Option<Choice>, StepError> {
        self.enabled(words, enabled)?;
        let Some(footprint) = self.program.footprint else { return Ok(None) };
        let origin = |number: &usize| self.program.propositions.origin(*number);
        let watched: Vec<usize> = watched.iter().map(origin).collect();
        self.guarded(|worker| {
            let Some(state) = worker.state() else { return Ok(None) };
            Ok(footprint.choose(worker.program.model, state, &worker.offered, &watched, keeps))
        })
    }

    fn fire(&mut self, words: &mut [u32], step: ActionId) -> Result<(), StepError> {
        let Some(number) = self.program.classes.action_of(step) else { return Ok(()) };
        let action = self.program.actions.get(number);
        self.guarded(|worker| {
            worker.look_at(words);
            worker.make(action, step, false);
            worker.encode(words)
        })
    }

    fn holds(&mut self, proposition: usize, words: &[u32]) -> Result<bool, StepError> {
        self.guarded(|worker| {
            let Opaque { keeper, propositions, .. } = worker.program;
            if worker.current.is_none() || worker.known != words {
                let holds = keeper.look(words, |state| propositions.holds(proposition, state));
                if let Some(holds) = holds {
                    return Ok(holds);
                }
            }
            worker.look_at(words);
            let Some(state) = worker.state() else { return Ok(false) };
            Ok(propositions.holds(proposition, state))
        })
    }
}
