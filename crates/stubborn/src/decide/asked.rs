//! Questions that were resolved, and the model that they are about: what jobs work on.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use base::{Limit, Span};
use certify::Proof;
use language::story::Unreached;
use language::{Model, PropertyKind, Purpose, Refined};
use model::StepError;
use report::PropertyResult;
use report::outcome::Place;

use super::states::Aim;
use crate::Error;
use crate::across::Subject;
use crate::certificate::Listed;
use crate::clock::Clock;
use crate::error::Trouble;
use crate::options::Options;
use crate::question::{Question, Task};
use crate::session::{Refine, Session};

/// Questions that were resolved, and the model that they are about.
pub(crate) struct Asked<'s> {
    pub(crate) session: Held<'s>,
    pub(super) questions: &'s [Question],
    options: &'s Options,
    /// Shared by all copies: there may be thousands.
    pub(crate) tasks: Arc<Vec<Task>>,
    /// How often they were resolved.
    pub(crate) generation: u32,
    /// The limit that was reached before they could be resolved again: they mean nothing any more.
    pub(super) lost: Option<Limit>,
    /// What never happens, if that is known.
    pub(super) unreached: Option<Vec<Unreached>>,
    /// All states, if a search had to list them for certificates and left none out.
    pub(super) listed: Option<Listed>,
    /// More errors than the first one: of which task, and what is said.
    pub(super) more: Vec<(usize, PropertyResult)>,
}

/// The session that was given, or a copy.
pub(crate) enum Held<'s> {
    Given(&'s mut Session),
    Copied(Box<Session>),
}

impl Deref for Held<'_> {
    type Target = Session;

    fn deref(&self) -> &Session {
        match self {
            Held::Given(session) => session,
            Held::Copied(session) => session,
        }
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Session {
        match self {
            Held::Given(session) => session,
            Held::Copied(session) => session,
        }
    }
}

impl<'s> Asked<'s> {
    pub(crate) fn new(
        session: &'s mut Session,
        questions: &'s [Question],
        options: &'s Options,
        clock: &Clock<'_>,
    ) -> Result<Asked<'s>, Error> {
        match session.ask(questions, options, clock) {
            Ok(tasks) => Ok(Asked {
                session: Held::Given(session),
                questions,
                options,
                tasks: Arc::new(tasks),
                generation: 0,
                lost: None,
                unreached: None,
                listed: None,
                more: Vec::new(),
            }),
            Err(trouble) => Err(session.error(trouble)),
        }
    }

    pub(crate) fn model(&mut self) -> &mut dyn Model {
        &mut *self.session.model
    }

    pub(super) fn name(&self, index: usize) -> &str {
        &self.tasks[index].name
    }

    /// Where something stands.
    pub(super) fn place(&self, span: Span) -> Option<Place> {
        Some(Place::new(self.session.sources.get(span.source), span))
    }

    pub(crate) fn property(&self, index: usize) -> &PropertyKind {
        &self.tasks[index].kind
    }

    /// Keeps the states of the model's system for a purpose, if a search has listed them.
    pub(super) fn list(&mut self, purpose: Purpose, states: Option<Proof>) {
        let n_grown = self.session.grown.len();
        let listed = states.map(|proof| Listed { purpose, n_grown, again: false, task: None, proof });
        self.listed = listed.or(self.listed.take());
    }

    /// The name of a question about states, what is looked for, and whether finding it means that it is true.
    pub(super) fn aim(&mut self, index: usize) -> Option<(String, Aim, bool)> {
        let Task { name, kind, .. } = &self.tasks[index];
        let (aim, is_possible) = Aim::of(kind, self.session.model.parts().0)?;
        Some((name.clone(), aim, is_possible))
    }
}

impl Subject for Asked<'_> {
    fn copy(&self) -> Self {
        let Asked { session, questions, options, tasks, generation, lost, .. } = self;
        Asked {
            session: Held::Copied(Box::new((**session).clone())),
            questions,
            options,
            tasks: tasks.clone(),
            generation: *generation,
            lost: *lost,
            unreached: None,
            listed: None,
            more: Vec::new(),
        }
    }

    fn n_changes(&self) -> u32 {
        self.session.model.n_changes()
    }
}

impl Refine for Asked<'_> {
    fn refine(&mut self, error: &StepError, clock: &Clock<'_>) -> Result<Refined, Trouble> {
        let refined = self.session.model.refine(error, clock)?;
        self.session.grown.push(*error);
        self.session.held = clock.held();
        if refined == Refined::Parts {
            self.generation += 1;
            let Asked { session, questions, options, .. } = self;
            match session.ask(questions, options, clock) {
                Ok(tasks) => self.tasks = Arc::new(tasks),
                Err(trouble) => {
                    if let Trouble::Limit(limit) = trouble {
                        self.lost = Some(limit);
                    }
                    return Err(trouble);
                }
            }
        }
        Ok(refined)
    }
}
