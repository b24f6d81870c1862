//! A model as a [`Program`]: states by a [`Keeper`], actions by numbers that tell their class.
//!
//! Actions are numbered as they are met. The number of a step is the class of its action, plus that number times the
//! number of classes, so that [`model::chain::first`] finds the class: fairness and testers speak about classes. A
//! class that was not known when the search began ends it ([`Trouble::NewClass`]); it begins again with one more.
//!
//! Where only the environment can do anything, it may also rest: that is a step of its own class, which changes
//! nothing, in searches for infinite runs.

mod steps;
mod worker;

use ::check::Coverage;
use model::{ActionId, LabelId};
use pack::Table;

use crate::check::Check;
use crate::classes::{Classes, Favored};
use crate::footprint::Prints;
use crate::keeper::{From, Keeper, Made};
use crate::model::Model;
use crate::panics::catch;
use crate::program::{Program, Worker};
use crate::propositions::Propositions;
use crate::symmetry::Symmetry;
use crate::trouble::Troubles;
use crate::verdict::Reason;
use worker::OpaqueWorker;

/// A model, with what was met of it.
pub(crate) struct Opaque<'a, M: Model, K> {
    pub(super) model: &'a M,
    pub(super) keeper: K,
    pub(super) propositions: &'a Propositions<'a, M>,
    pub(super) classes: &'a Classes<'a, M>,
    pub(super) symmetry: Option<&'a Symmetry<'a, M::State>>,
    pub(super) footprint: Option<&'a dyn Prints<M>>,
    /// Whether the environment may rest: it matters for infinite runs only.
    pub(super) rests: bool,
    pub(super) actions: Table<M::Action>,
    pub(super) troubles: Troubles,
}

impl<'a, M: Model, K: Keeper<M>> Opaque<'a, M, K> {
    pub(crate) fn new<'m: 'a>(
        check: &'a Check<'m, M>,
        keeper: K,
        classes: &'a Classes<'a, M>,
        rests: bool,
    ) -> Opaque<'a, M, K> {
        crate::panics::prepare();
        Opaque {
            model: check.model,
            keeper,
            propositions: &check.propositions,
            classes,
            symmetry: check.symmetry.as_ref(),
            footprint: check.footprint.as_deref(),
            rests,
            actions: Table::default(),
            troubles: Troubles::default(),
        }
    }

    /// The state that is kept after an action.
    fn after(&self, state: &M::State, action: &M::Action) -> M::State {
        let mut next = state.clone();
        self.step(&mut next, action);
        next
    }

    /// Makes the state that is kept after an action of one.
    #[inline]
    pub(super) fn step(&self, state: &mut M::State, action: &M::Action) {
        self.model.step(state, action);
        if let Some(symmetry) = self.symmetry {
            *state = symmetry.representative(state);
        }
    }

    /// The words of states that were come to by steps from the same one, or from nowhere.
    #[inline]
    pub(super) fn encode(
        &self,
        made: &mut [Made<M::State>],
        from: Option<From<'_, M::State>>,
        words: &mut [u32],
    ) -> Result<(), (usize, String)> {
        let again = |state: &M::State, action| self.after(state, self.actions.get(action));
        self.keeper.encode(made, from, &again, words)
    }

    /// The words of an initial state.
    fn encode_initial(&self, state: &M::State, words: &mut [u32]) -> Result<(), String> {
        let kept = self.symmetry.map_or_else(|| state.clone(), |symmetry| symmetry.representative(state));
        self.encode(&mut [(0, Some(kept))], None, words).map_err(|(_, why)| why)
    }

    /// The state of words.
    #[inline]
    pub(super) fn view(&self, words: &[u32]) -> K::View<'_> {
        self.keeper.view(words, &|state, action| self.after(state, self.actions.get(action)))
    }
}

/// What the generic part asks of a program after a search.
pub(crate) trait Recall<M: Model>: Program {
    /// The action of a step; none if the environment rests.
    fn action(&self, step: ActionId) -> Option<M::Action>;

    /// What went wrong so far.
    fn troubles(&self) -> &Troubles;

    /// Why all interleavings are explored, though some were to be left out, if they are.
    fn unreduced(&self) -> Option<&str> {
        None
    }

    /// Whether the model can say where it begins, and all of that has words.
    ///
    /// # Errors
    /// Why not.
    fn begins(&self) -> Result<(), Reason>;

    /// The same without the types.
    fn as_program(&self) -> &dyn Program;
}

impl<M: Model, K: Keeper<M>> Recall<M> for Opaque<'_, M, K> {
    fn action(&self, step: ActionId) -> Option<M::Action> {
        self.classes.action_of(step).map(|number| self.actions.get(number).clone())
    }

    fn troubles(&self) -> &Troubles {
        &self.troubles
    }

    fn begins(&self) -> Result<(), Reason> {
        let states = catch(|| self.model.initial());
        let states = states.map_err(|text| Reason::Question(format!("`initial` panics: {text}")))?;
        if states.is_empty() {
            return Err(Reason::Question("the model has no initial state".to_owned()));
        }
        let mut words = vec![0; self.keeper.width()];
        states.iter().try_for_each(|state| {
            let encoded = catch(|| self.encode_initial(state, &mut words)).unwrap_or_else(Err);
            encoded.map_err(|why| Reason::OutOfRange(format!("{why}, in the initial state {state:?}")))
        })
    }

    fn as_program(&self) -> &dyn Program {
        self
    }
}

impl<M: Model, K: Keeper<M>> Program for Opaque<'_, M, K> {
    fn width(&self) -> usize {
        self.keeper.width()
    }

    /// All of them have words: that was looked at before ([`Recall::begins`]).
    fn initial_states(&self, out: &mut Vec<u32>) {
        let width = self.keeper.width();
        for state in catch(|| self.model.initial()).unwrap_or_default() {
            let start = out.len();
            out.resize(start + width, 0);
            _ = catch(|| self.encode_initial(&state, &mut out[start..]));
        }
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(OpaqueWorker::new(self))
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

    fn favored(&self) -> Option<&Favored> {
        self.classes.favored()
    }

    fn counts(&self) -> bool {
        K::COUNTS
    }

    fn is_symmetric(&self) -> bool {
        self.symmetry.is_some()
    }

    fn bytes(&self) -> u64 {
        self.keeper.bytes() + self.actions.bytes() as u64
    }

    fn coverage(&self) -> Option<Coverage> {
        self.keeper.coverage()
    }
}
