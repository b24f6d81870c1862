//! Fairness, and the classes of actions that it speaks about.
//!
//! A constraint is about a process, or about actions that a closure picks out. Actions about which all constraints say
//! the same are of one class, whoever does them being part of that. There are as many classes as were met.

use std::sync::Arc;

use automata::Tester;
use check::fairness::Constraint;
use model::{ActionId, LabelId, StepError};
use pack::Table;

use crate::answer::Labels;
use crate::footprint::Prints;
use crate::model::Model;
use crate::panics::catch;
use crate::trouble::{Trouble, Troubles};

/// How somebody is treated fairly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fair {
    /// Who can go on all the time does so again and again.
    Weak,
    /// Who can go on again and again does so again and again.
    Strong,
    /// Whatever can happen all the time happens some day, unless something interferes with it again and again: another
    /// action of the same process, or one that changes what it looks at. That is known by footprints only
    /// ([`Check::just`](crate::Check::just)).
    Just,
}

impl Fair {
    /// What a run is: `weakly fair`, `strongly fair` or `just`.
    pub fn adjective(self) -> &'static str {
        match self {
            Fair::Weak => "weakly fair",
            Fair::Strong => "strongly fair",
            Fair::Just => "just",
        }
    }
}

type Picks<'m, M> = Arc<dyn Fn(&<M as Model>::Action) -> bool + Send + Sync + 'm>;

/// Whom a constraint is about.
pub(crate) enum Whom<'m, M: Model> {
    Process(usize),
    /// Some of the actions of a process.
    Within(usize, Picks<'m, M>),
    /// Anybody's actions.
    Actions(Picks<'m, M>),
}

impl<M: Model> Clone for Whom<'_, M> {
    fn clone(&self) -> Self {
        match self {
            Whom::Process(process) => Whom::Process(*process),
            Whom::Within(process, picks) => Whom::Within(*process, picks.clone()),
            Whom::Actions(picks) => Whom::Actions(picks.clone()),
        }
    }
}

/// Only runs count that are fair in this way.
pub(crate) struct Fairness<'m, M: Model> {
    pub(crate) name: String,
    pub(crate) fair: Fair,
    pub(crate) whom: Whom<'m, M>,
}

impl<M: Model> Clone for Fairness<'_, M> {
    fn clone(&self) -> Self {
        Fairness { name: self.name.clone(), fair: self.fair, whom: self.whom.clone() }
    }
}

impl<M: Model> Fairness<'_, M> {
    fn is_by_action(&self) -> bool {
        !matches!(self.whom, Whom::Process(_))
    }

    /// Whether it is about an action.
    pub(crate) fn is_about(&self, model: &M, action: &M::Action) -> bool {
        match &self.whom {
            Whom::Process(process) => model.process(action) == Some(*process),
            Whom::Within(_, picks) | Whom::Actions(picks) => picks(action),
        }
    }
}

/// Whom runs are fair to, as far as the choice of steps depends on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Favored {
    /// Processes, each to all of its actions.
    pub(crate) wholly: Vec<usize>,
    /// Processes, each to some of its actions.
    pub(crate) partly: Vec<usize>,
}

impl Favored {
    /// Nothing, if it may be about anybody's actions.
    fn of<M: Model>(constraints: &[Fairness<'_, M>]) -> Option<Favored> {
        let mut favored = Favored::default();
        for fairness in constraints {
            let (processes, process) = match fairness.whom {
                Whom::Process(process) => (&mut favored.wholly, process),
                Whom::Within(process, _) => (&mut favored.partly, process),
                Whom::Actions(_) => return None,
            };
            if !processes.contains(&process) {
                processes.push(process);
            }
        }
        Some(favored)
    }
}

/// What all actions of a class have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    /// Who does it.
    pub(crate) process: Option<usize>,
    /// The constraints by action that are about it.
    members: Vec<usize>,
    /// What testers see of it.
    letter: Option<usize>,
    /// What it reads and writes, if that matters.
    touches: Option<Touches>,
}

/// The parts that an action reads, and those that it writes, by number and in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Touches {
    pub(crate) reads: Vec<u32>,
    pub(crate) writes: Vec<u32>,
}

impl Touches {
    /// Whether it changes what another one looks at.
    pub(crate) fn disturbs(&self, other: &Touches) -> bool {
        self.writes.iter().any(|part| other.reads.binary_search(part).is_ok())
    }
}

/// What tells classes apart, besides who acts.
pub(crate) struct Aspects<'a, M: Model> {
    pub(crate) fairness: &'a [Fairness<'a, M>],
    /// What testers call an action.
    pub(crate) letters: Option<Letters<'a, M>>,
    /// What actions read and write, for justness.
    pub(crate) prints: Option<&'a dyn Prints<M>>,
}

/// The classes that are known, and what tells them apart.
pub(crate) struct Classes<'a, M: Model> {
    n_processes: usize,
    aspects: Aspects<'a, M>,
    favored: Option<Favored>,
    /// The last of these is that of resting.
    known: Vec<Class>,
}

/// How testers call an action.
pub(crate) struct Letters<'a, M: Model> {
    pub(crate) tester: &'a Tester,
    pub(crate) label: &'a Labels<'a, M>,
}

impl<'a, M: Model> Classes<'a, M> {
    pub(crate) fn new(n_processes: usize, aspects: Aspects<'a, M>) -> Classes<'a, M> {
        let class = |process| Class { process, members: Vec::new(), letter: None, touches: None };
        let known = (0..n_processes).map(Some).chain([None]).map(class).collect();
        let favored = Favored::of(aspects.fairness);
        Classes { n_processes, aspects, favored, known }
    }

    /// Those of questions about states, to which nothing matters but who acts.
    pub(crate) fn plain(n_processes: usize) -> Classes<'a, M> {
        Classes::new(n_processes, Aspects { fairness: &[], letters: None, prints: None })
    }

    /// The number of the steps of an action that has this number, and whether it is the environment's.
    ///
    /// # Errors
    /// Its class is not known, or there are too many actions.
    pub(crate) fn steps_of(
        &self,
        model: &M,
        action: &M::Action,
        number: u32,
    ) -> Result<(ActionId, bool), Trouble> {
        let class = self.of(model, action);
        let Some(class_number) = self.number(&class) else { return Err(Trouble::NewClass(class)) };
        let step = (number as usize).checked_mul(self.len()).and_then(|step| step.checked_add(class_number));
        let step = step.filter(|step| *step < u32::MAX as usize).ok_or(Trouble::TooManyActions)?;
        Ok((ActionId::new(step), self.n_processes > 0 && class.process.is_none()))
    }

    /// The number of the action of a step; none if the environment rests.
    #[inline]
    pub(crate) fn action_of(&self, step: ActionId) -> Option<u32> {
        (step != self.rest()).then(|| (step.index() / self.len()) as u32)
    }

    /// The number of classes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.known.len() + 1
    }

    /// The step in which the environment rests; the only one of its class.
    #[inline]
    pub(crate) fn rest(&self) -> ActionId {
        ActionId::new(self.known.len())
    }

    /// The class of an action.
    pub(crate) fn of(&self, model: &M, action: &M::Action) -> Class {
        let is_about = |(number, fairness): (usize, &Fairness<'_, M>)| match &fairness.whom {
            Whom::Within(_, picks) | Whom::Actions(picks) if picks(action) => Some(number),
            _ => None,
        };
        let members = self.aspects.fairness.iter().enumerate().filter_map(is_about).collect();
        let letter = self.aspects.letters.as_ref().and_then(|letters| {
            let label = (letters.label)(action)?;
            letters.tester.letters.iter().position(|letter| *letter == label)
        });
        let process = model.process(action).filter(|process| *process < self.n_processes);
        let touches = self.aspects.prints.map(|prints| prints.touched(model, action));
        Class { process, members, letter, touches }
    }

    /// The number of a class, if it is known.
    pub(crate) fn number(&self, class: &Class) -> Option<usize> {
        self.known.iter().position(|known| known == class)
    }

    /// A class that was not known.
    pub(crate) fn add(&mut self, class: Class) {
        if self.number(&class).is_none() {
            self.known.push(class);
        }
    }

    /// Meets the classes of the first states, so that few searches have to begin again.
    pub(crate) fn look_around(&mut self, model: &M) {
        const MAX_STATES: u32 = 4096;
        let Aspects { fairness, letters, prints } = &self.aspects;
        if letters.is_none() && prints.is_none() && !fairness.iter().any(Fairness::is_by_action) {
            return;
        }
        // What panics here panics again in the search, which tells how it comes to that.
        _ = catch(|| {
            let states = Table::default();
            model.initial().iter().for_each(|state| _ = states.number(state));
            let (mut actions, mut next) = (Vec::new(), 0);
            while next < states.len() && states.len() < MAX_STATES {
                let state = states.get(next);
                next += 1;
                actions.clear();
                model.actions(state, &mut actions);
                for action in &actions {
                    self.add(self.of(model, action));
                    let mut after = state.clone();
                    model.step(&mut after, action);
                    states.number(&after);
                }
            }
        });
    }

    /// What testers see of a class.
    pub(crate) fn label(&self, class: ActionId) -> Option<LabelId> {
        self.known.get(class.index()).and_then(|class| class.letter).map(LabelId::new)
    }

    /// The constraints, about classes.
    pub(crate) fn constraints(&self) -> Vec<Constraint> {
        let mut constraints = Vec::new();
        for (number, fairness) in self.aspects.fairness.iter().enumerate() {
            let is_about = |class: &Class| match fairness.whom {
                Whom::Process(process) => class.process == Some(process),
                Whom::Within(..) | Whom::Actions(_) => class.members.contains(&number),
            };
            let about: Vec<usize> =
                (0..self.known.len()).filter(|&number| is_about(&self.known[number])).collect();
            match fairness.fair {
                Fair::Just => constraints.extend(self.just(&about)),
                fair => constraints.push(Constraint::new(fair == Fair::Strong, ids(&about))),
            }
        }
        constraints
    }

    /// Whom runs are fair to, if that is nobody's actions but those of processes.
    pub(crate) fn favored(&self) -> Option<&Favored> {
        self.favored.as_ref()
    }

    /// Justness to the actions of some classes: a constraint for all that the same steps interfere with
    /// ([`mod@model::fairness`] says why that is enough).
    fn just(&self, about: &[usize]) -> Vec<Constraint> {
        let mut by_servers: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        for &number in about {
            let class = &self.known[number];
            let servers: Vec<usize> =
                (0..self.known.len()).filter(|&other| self.known[other].interferes_with(class)).collect();
            match by_servers.iter_mut().find(|known| known.0 == servers) {
                Some(known) => known.1.push(number),
                None => by_servers.push((servers, vec![number])),
            }
        }
        let made = by_servers.into_iter();
        made.map(|(servers, classes)| Constraint {
            strong: false,
            actions: ids(&classes),
            served_by: ids(&servers),
        })
        .collect()
    }
}

/// By the numbers of actions, that of their steps, and whether they are the environment's: as far as one thread has met
/// them.
#[derive(Default)]
pub(crate) struct Met(Vec<Option<(ActionId, bool)>>);

impl Met {
    /// The number of the steps of an action that has this number, and whether it is the environment's.
    ///
    /// # Errors
    /// Those of [`Classes::steps_of`], which are noted.
    #[inline]
    pub(crate) fn steps<'m, M: Model>(
        &mut self,
        number: u32,
        action: impl FnOnce() -> &'m M::Action,
        classes: &Classes<'_, M>,
        model: &M,
        troubles: &Troubles,
    ) -> Result<(ActionId, bool), StepError> {
        match self.0.get(number as usize) {
            Some(Some(known)) => Ok(*known),
            _ => {
                let steps = classes.steps_of(model, action(), number);
                self.learn(number as usize, steps.map_err(|trouble| troubles.add(trouble, None))?)
            }
        }
    }

    #[cold]
    fn learn(&mut self, number: usize, steps: (ActionId, bool)) -> Result<(ActionId, bool), StepError> {
        if self.0.len() <= number {
            self.0.resize(number + 1, None);
        }
        Ok(*self.0[number].insert(steps))
    }
}

impl Class {
    /// Whether its actions keep another class's from being treated unjustly. Classes that nobody has met do nothing.
    fn interferes_with(&self, other: &Class) -> bool {
        match (&self.touches, &other.touches) {
            (Some(its), Some(others)) => self.process == other.process || its.disturbs(others),
            _ => self == other,
        }
    }
}

fn ids(numbers: &[usize]) -> Vec<ActionId> {
    numbers.iter().copied().map(ActionId::new).collect()
}
