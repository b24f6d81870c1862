//! One thread's part of a search in a model: real states are made of words, and stepped.

use std::borrow::Borrow;

use model::{ActionId, StepError, Steps};

use super::Opaque;
use crate::classes::Met;
use crate::keeper::Keeper;
use crate::model::Model;
use crate::panics::catch;
use crate::program::{Choice, Keeps, Worker};
use crate::trouble::Trouble;

/// How often actions and steps are asked for twice: in the first states, and then now and then.
const DOUBTED_FIRST: u64 = 64;
const DOUBTED_EVERY: u64 = 512;

/// One thread's part.
pub(super) struct OpaqueWorker<'p, 'a, M: Model, K: Keeper<M>> {
    program: &'p Opaque<'a, M, K>,
    /// The words of the state that was looked at last, and the state, unless it was given away.
    known: Vec<u32>,
    current: Option<K::View<'p>>,
    /// Whether steps were taken from there.
    was_stepped: bool,
    n_expanded: u64,
    /// What can happen there.
    offered: Vec<M::Action>,
    /// States that are still to be encoded, and the numbers of the actions that lead to them.
    made: Vec<(u32, M::State)>,
    /// The steps to them, and their words.
    made_by: Vec<ActionId>,
    targets: Vec<u32>,
    met: Met,
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
            targets: Vec::new(),
            met: Met::default(),
            at: None,
        }
    }

    /// Makes a state the current one.
    #[inline]
    fn look_at(&mut self, words: &[u32]) {
        if self.current.is_some() {
            if self.known == words {
                return;
            }
            if std::mem::take(&mut self.was_stepped) {
                self.program.keeper.left(&self.known);
            }
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
        self.met.steps(actions.number(action), || action, classes, model, troubles)
    }

    /// Runs code of the model; a panic is a fault.
    fn guarded<T>(&mut self, code: impl FnOnce(&mut Self) -> Result<T, StepError>) -> Result<T, StepError> {
        self.at = None;
        self.made.clear();
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
                (one != other).then(|| {
                    format!(
                        "in the state {state:?}, {action:?} leads to {one:?}, and asked again to {other:?}"
                    )
                })
            })
        };
        match trouble {
            None => Ok(()),
            Some(text) => Err(self.program.troubles.add(Trouble::Nondeterministic(text), None)),
        }
    }

    /// The current state after an action, with the action's number. With its last step, a state may be given away.
    #[inline]
    fn after(&mut self, action: &M::Action, step: ActionId, is_last: bool) -> Option<(u32, M::State)> {
        (self.at, self.was_stepped) = (Some(step), true);
        let program = self.program;
        let number = program.classes.action_of(step).unwrap_or_default();
        let view = self.current.take()?;
        let view = if is_last {
            match program.keeper.give(&self.known, view) {
                Ok(state) => {
                    self.was_stepped = false;
                    return Some((number, program.after_it(state, action)));
                }
                Err(view) => view,
            }
        } else {
            view
        };
        let view = self.current.insert(view);
        Some((number, program.after((*view).borrow(), action)))
    }

    /// The words of the current state after an action.
    #[inline]
    fn take(
        &mut self,
        action: &M::Action,
        step: ActionId,
        is_last: bool,
        words: &mut [u32],
    ) -> Result<(), StepError> {
        let Some((number, next)) = self.after(action, step, is_last) else { return Ok(()) };
        let encoded = self.program.encode(next, Some((&self.known, number)), words);
        encoded.map_err(|why| self.program.troubles.add(Trouble::Unencodable(why), Some(step)))
    }
}

/// States that are numbered are numbered together.
impl<M: Model, K: Keeper<M>> OpaqueWorker<'_, '_, M, K> {
    /// Encodes the states that were made, and appends the steps to them.
    fn push_made(&mut self, words: &[u32], out: &mut Steps) -> Result<(), StepError> {
        if self.made.is_empty() {
            return Ok(());
        }
        let OpaqueWorker { program, made, made_by, targets, .. } = self;
        targets.resize(made.len() * words.len(), 0);
        program.encode_all(made, words, targets).map_err(|(index, why)| {
            program.troubles.add(Trouble::Unencodable(why), made_by.get(index).copied())
        })?;
        for (step, target) in made_by.drain(..).zip(targets.chunks_exact(words.len())) {
            out.push(step, target);
        }
        Ok(())
    }
}

impl<M: Model, K: Keeper<M>> Worker for OpaqueWorker<'_, '_, M, K> {
    fn successors(&mut self, words: &[u32], out: &mut Steps) -> Result<(), StepError> {
        self.guarded(|worker| {
            worker.look_at(words);
            let rests = worker.list()?;
            let is_doubted = worker.is_doubted();
            let offered = std::mem::take(&mut worker.offered);
            for (index, action) in offered.iter().enumerate() {
                let (step, _) = worker.number(action)?;
                let is_last = index + 1 == offered.len() && !is_doubted;
                if K::COUNTS {
                    let made = worker.after(action, step, is_last);
                    worker.made_by.extend(made.is_some().then_some(step));
                    worker.made.extend(made);
                } else {
                    worker.take(action, step, is_last, out.push(step, words))?;
                }
            }
            worker.offered = offered;
            worker.push_made(words, out)?;
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
            worker.take(action, step, false, words)
        })
    }

    fn holds(&mut self, proposition: usize, words: &[u32]) -> Result<bool, StepError> {
        self.guarded(|worker| {
            worker.look_at(words);
            let Some(state) = worker.state() else { return Ok(false) };
            Ok(worker.program.propositions.holds(proposition, state))
        })
    }
}
