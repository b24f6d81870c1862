//! A model as a system, without its types: searches are compiled once, here, and not with each test that uses them.
//!
//! A [`Program`] is shared, a [`Worker`] has the working memory of one thread. A call through a table of functions is
//! made once per state, not per step, where a search asks for all successors at once.

use base::Budget;
use check::Coverage;
use check::decide::{Refusal, Settings, Subject};
use check::observer::{Observer, Watches};
use check::product::Product;
use check::reduction::{self, Dependencies};
use check::rules::Rule;
use check::search::{Extent, Space};
use model::{ActionId, LabelId, StepError, Steps, System};

use crate::classes::Favored;

/// A model, as searches need it.
pub(crate) trait Program: Sync {
    /// Words per state.
    fn width(&self) -> usize;

    /// Appends the words of the initial states.
    fn initial_states(&self, out: &mut Vec<u32>);

    /// Somebody who takes steps.
    fn worker(&self) -> Box<dyn Worker + '_>;

    /// Number of propositions.
    fn n_propositions(&self) -> usize;

    /// Number of classes of actions.
    fn n_classes(&self) -> usize;

    /// The label of a class.
    fn label(&self, class: ActionId) -> Option<LabelId>;

    /// Whether it knows which interleavings matter.
    fn is_reduced(&self) -> bool {
        false
    }

    /// Whom runs are fair to, if the choice of interleavings can take that into account.
    fn favored(&self) -> Option<&Favored>;

    /// Whether a state is one number, and these are 0, 1, 2, … in the order in which states are met.
    fn counts(&self) -> bool {
        false
    }

    /// Whether its states are representatives.
    fn is_symmetric(&self) -> bool {
        false
    }

    /// Bytes held beside what searches hold.
    fn bytes(&self) -> u64;

    /// What may be missing since two states were taken for one.
    fn coverage(&self) -> Option<Coverage> {
        None
    }
}

/// What a choice of steps must keep.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Keeps<'f> {
    /// Deadlocks, and whether states can be reached in which what is watched has other values.
    States,
    /// The words of what is watched, up to stuttering: no step of the choice changes any of it, and the environment,
    /// which may rest, does not act alone.
    Runs,
    /// The same, of the runs that are fair: the head of `footprint` says what that takes.
    FairRuns(&'f Favored),
}

/// Those of the enabled steps that are enough, by their places: those first that change nothing that is watched, and how
/// many these are.
pub(crate) type Choice = (Vec<u32>, usize);

/// One thread's part of it.
pub(crate) trait Worker: Send {
    /// Appends all steps from a state.
    fn successors(&mut self, words: &[u32], out: &mut Steps) -> Result<(), StepError>;

    /// Appends the numbers of all actions that can happen.
    fn enabled(&mut self, words: &[u32], out: &mut Vec<ActionId>) -> Result<(), StepError>;

    /// Appends the same, and says which of them are enough where these propositions are watched. None if all are needed.
    fn choose(
        &mut self,
        words: &[u32],
        watched: &[usize],
        keeps: Keeps<'_>,
        enabled: &mut Vec<ActionId>,
    ) -> Result<Option<Choice>, StepError>;

    /// Makes an action happen.
    fn fire(&mut self, words: &mut [u32], action: ActionId) -> Result<(), StepError>;

    /// Whether a proposition is true.
    fn holds(&mut self, proposition: usize, words: &[u32]) -> Result<bool, StepError>;
}

/// The system that searches see.
#[derive(Clone, Copy)]
pub(crate) struct Erased<'a>(pub(crate) &'a dyn Program);

impl<'a> System for Erased<'a> {
    type Scratch = Box<dyn Worker + 'a>;

    fn new_scratch(&self) -> Self::Scratch {
        self.0.worker()
    }

    fn width(&self) -> usize {
        self.0.width()
    }

    fn initial_states(&self, out: &mut Vec<u32>) {
        self.0.initial_states(out);
    }

    fn successors(
        &self,
        state: &[u32],
        worker: &mut Self::Scratch,
        out: &mut Steps,
    ) -> Result<(), StepError> {
        worker.successors(state, out)
    }

    fn enabled(
        &self,
        state: &[u32],
        worker: &mut Self::Scratch,
        out: &mut Vec<ActionId>,
    ) -> Result<(), StepError> {
        worker.enabled(state, out)
    }

    fn fire(&self, state: &mut [u32], action: ActionId, worker: &mut Self::Scratch) -> Result<(), StepError> {
        worker.fire(state, action)
    }

    fn n_propositions(&self) -> usize {
        self.0.n_propositions()
    }

    fn holds(
        &self,
        proposition: usize,
        state: &[u32],
        worker: &mut Self::Scratch,
    ) -> Result<bool, StepError> {
        worker.holds(proposition, state)
    }
}

impl Subject for Erased<'_> {
    fn n_actions(&self) -> usize {
        self.0.n_classes()
    }

    fn label(&self, action: ActionId) -> Option<LabelId> {
        self.0.label(action)
    }

    fn reduce<'p, O: Observer>(
        product: Product<'p, Self, O>,
        method: reduction::Method,
        _: &Settings<'_>,
        _: &mut Budget<'_>,
    ) -> Result<Product<'p, Self, O>, Refusal> {
        let program = product.system().0;
        let is_by_value = matches!(product.observer().watches(), Watches::Source | Watches::Target);
        let is_fair = method == reduction::Method::Fair;
        let is_known =
            if is_fair { program.favored().is_some() } else { method == reduction::Method::Repaired };
        if !is_known || !is_by_value || !program.is_reduced() {
            return Err(Rule::NothingKnown.into());
        }
        Ok(product.reduced_by_itself(program.n_classes(), is_fair))
    }
}

impl Dependencies for Erased<'_> {
    fn choose(
        &self,
        state: &[u32],
        possible: &[ActionId],
        propositions: &[usize],
        is_fair: bool,
        worker: &mut Self::Scratch,
        chosen: &mut Vec<u32>,
    ) -> Result<bool, StepError> {
        let mut enabled = Vec::new();
        let keeps = match self.0.favored() {
            _ if !is_fair => Keeps::Runs,
            Some(favored) => Keeps::FairRuns(favored),
            None => return Ok(false),
        };
        let Some((places, _)) = worker.choose(state, propositions, keeps, &mut enabled)? else {
            return Ok(false);
        };
        let is_chosen = |step: &ActionId| places.iter().any(|&place| enabled[place as usize] == *step);
        chosen.extend((0..).zip(possible).filter(|(_, step)| is_chosen(step)).map(|(index, _)| index));
        Ok(!chosen.is_empty())
    }
}

/// A part of a system: only the interleavings that matter to what is watched.
pub(crate) struct Part<'a> {
    pub(crate) whole: Erased<'a>,
    /// The propositions that are asked about.
    pub(crate) watched: Vec<usize>,
}

impl<'a> Space for Part<'a> {
    type Whole = Erased<'a>;
    /// What was left out.
    type Choice = Vec<ActionId>;

    fn whole(&self) -> &Erased<'a> {
        &self.whole
    }

    fn new_choice(&self) -> Vec<ActionId> {
        Vec::new()
    }

    fn actions(
        &self,
        state: &[u32],
        left_out: &mut Vec<ActionId>,
        worker: &mut Box<dyn Worker + 'a>,
        out: &mut Vec<ActionId>,
    ) -> Result<Extent, StepError> {
        left_out.clear();
        match worker.choose(state, &self.watched, Keeps::States, left_out)? {
            None => {
                out.append(left_out);
                Ok(Extent::Enough)
            }
            Some((chosen, n_invisible)) => {
                out.extend(chosen.iter().map(|&index| left_out[index as usize]));
                let mut index = 0;
                left_out.retain(|_| {
                    index += 1;
                    !chosen.contains(&(index - 1))
                });
                Ok(Extent::IfAhead(n_invisible))
            }
        }
    }

    fn steps(
        &self,
        state: &[u32],
        left_out: &mut Vec<ActionId>,
        worker: &mut Box<dyn Worker + 'a>,
        out: &mut Steps,
    ) -> Result<Extent, StepError> {
        let mut actions = Vec::new();
        let extent = self.actions(state, left_out, worker, &mut actions)?;
        for action in actions {
            worker.fire(out.push(action, state), action)?;
        }
        Ok(extent)
    }

    fn others(&self, left_out: &Vec<ActionId>, out: &mut Vec<ActionId>) {
        out.extend(left_out);
    }
}
