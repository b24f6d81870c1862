//! Fairness, and the classes of actions that it speaks about.
//!
//! A constraint is about a process, or about actions that a closure picks out. Actions about which all constraints say
//! the same are of one class, whoever does them being part of that. There are as many classes as were met.

use std::sync::Arc;

use automata::Tester;
use check::fairness::Constraint;
use model::{ActionId, LabelId};
use pack::Table;

use crate::model::Model;
use crate::panics::catch;

/// How somebody is treated fairly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fair {
    /// Who can go on all the time does so again and again.
    Weak,
    /// Who can go on again and again does so again and again.
    Strong,
}

impl Fair {
    /// `weakly` or `strongly`.
    pub fn adverb(self) -> &'static str {
        match self {
            Fair::Weak => "weakly",
            Fair::Strong => "strongly",
        }
    }
}

type Picks<'m, M> = Arc<dyn Fn(&<M as Model>::Action) -> bool + Send + Sync + 'm>;

/// Whom a constraint is about.
pub(crate) enum Whom<'m, M: Model> {
    Process(usize),
    Actions(Picks<'m, M>),
}

impl<M: Model> Clone for Whom<'_, M> {
    fn clone(&self) -> Self {
        match self {
            Whom::Process(process) => Whom::Process(*process),
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
        matches!(self.whom, Whom::Actions(_))
    }

    /// Whether it is about an action.
    pub(crate) fn is_about(&self, model: &M, action: &M::Action) -> bool {
        match &self.whom {
            Whom::Process(process) => model.process(action) == Some(*process),
            Whom::Actions(picks) => picks(action),
        }
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
}

/// The classes that are known, and what tells them apart.
pub(crate) struct Classes<'a, M: Model> {
    n_processes: usize,
    fairness: &'a [Fairness<'a, M>],
    letters: Option<Letters<'a, M>>,
    /// The last of these is that of resting.
    known: Vec<Class>,
}

/// How testers call an action.
pub(crate) struct Letters<'a, M: Model> {
    pub(crate) tester: &'a Tester,
    pub(crate) label: &'a (dyn Fn(&M::Action) -> String + Send + Sync + 'a),
}

impl<'a, M: Model> Classes<'a, M> {
    pub(crate) fn new(
        n_processes: usize,
        fairness: &'a [Fairness<'a, M>],
        letters: Option<Letters<'a, M>>,
    ) -> Classes<'a, M> {
        let class = |process| Class { process, members: Vec::new(), letter: None };
        let known = (0..n_processes).map(Some).chain([None]).map(class).collect();
        Classes { n_processes, fairness, letters, known }
    }

    /// Whether somebody said who does what.
    pub(crate) fn has_processes(&self) -> bool {
        self.n_processes > 0
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
            Whom::Actions(picks) if picks(action) => Some(number),
            _ => None,
        };
        let members = self.fairness.iter().enumerate().filter_map(is_about).collect();
        let letter = self.letters.as_ref().and_then(|letters| {
            let label = (letters.label)(action);
            letters.tester.letters.iter().position(|letter| *letter == label)
        });
        let process = model.process(action).filter(|process| *process < self.n_processes);
        Class { process, members, letter }
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
        let is_plain = self.letters.is_none() && !self.fairness.iter().any(Fairness::is_by_action);
        if is_plain {
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
        let constraint = |(number, fairness): (usize, &Fairness<'_, M>)| {
            let is_about = |class: &Class| match fairness.whom {
                Whom::Process(process) => class.process == Some(process),
                Whom::Actions(_) => class.members.contains(&number),
            };
            let classes = self.known.iter().enumerate().filter(|(_, class)| is_about(class));
            let actions = classes.map(|(number, _)| ActionId::new(number)).collect();
            Constraint::new(fairness.fair == Fair::Strong, actions)
        };
        self.fairness.iter().enumerate().map(constraint).collect()
    }
}
