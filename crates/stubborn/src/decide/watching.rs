//! Searches alone, for whoever compares methods: [`Session::check`] also makes models simpler, shortens runs,
//! judges them and explains what holds, all of which takes time and hides what a method does.

use std::cell::Cell;

use automata::GaveUp;
use base::Diagnostic;
use check::decide::{Claim, Decision};
use check::search::Evidence;
use language::{Purpose, Refined, Rules};
use model::StepError;

use super::deciding::Deciding;
use super::searched::Searched;
use super::watched::{Watched, fault};
use crate::Error;
use crate::clock::Clock;
use crate::error::Trouble;
use crate::fairness::Constraints;
use crate::options::Options;
use crate::question::{Question, Task};
use crate::session::{Attempt, Refine, Session, refining};

/// A question about runs, with the automaton that watches them: to be searched by one method after the other.
pub struct Watching<'s> {
    session: &'s mut Session,
    question: &'s Question,
    name: String,
    watched: Watched,
    /// The closure, if that is searched.
    closed: Option<Claim>,
}

impl Session {
    /// What watches runs for a question about them: a formula, or a claim.
    ///
    /// # Errors
    /// The question is wrong, or not one about runs; there is no automaton; or a limit was reached.
    pub fn watch<'s>(&'s mut self, question: &'s Question, clock: &Clock<'_>) -> Result<Watching<'s>, Error> {
        let clock = &self.clock(clock);
        match watch(self, question, clock) {
            Ok((name, watched)) => Ok(Watching { session: self, question, name, watched, closed: None }),
            Err(trouble) => Err(self.error(trouble)),
        }
    }
}

fn watch(
    session: &mut Session,
    question: &Question,
    clock: &Clock<'_>,
) -> Result<(String, Watched), Trouble> {
    let options = Options { structural: Rules::none(), ..Options::default() };
    let mut tasks = session.ask(std::slice::from_ref(question), &options, clock)?;
    let (Some(Task { name, kind, .. }), true) = (tasks.pop(), tasks.is_empty()) else {
        return Err(Diagnostic::error("usage", "this is not one question about runs").into());
    };
    let watched = Watched::of(&mut *session.model, &kind, clock);
    Ok((name, watched.map_err(|why| Diagnostic::error("untranslated", why.to_string()))?))
}

fn closure(watched: &Watched, clock: &Clock<'_>) -> Result<Claim, Trouble> {
    watched.closure(clock).map_err(|why| match why {
        GaveUp::Limit(limit) => Trouble::Limit(limit),
        GaveUp::TooLarge(_) => Diagnostic::error("too-large", "the stutter closure is too large").into(),
    })
}

impl Watching<'_> {
    /// The automaton that is searched with, in all its forms.
    pub fn claim(&mut self) -> &mut Claim {
        self.closed.as_mut().unwrap_or(&mut self.watched.claim)
    }

    /// From now on, searches with the closure under stuttering [holzmann.96.closure]: not all that it accepts
    /// [violates](Watching::is_violated_by) what was asked.
    ///
    /// # Errors
    /// The closure is too large, or a limit was reached.
    pub fn close(&mut self, clock: &Clock<'_>) -> Result<(), Error> {
        let closed = closure(&self.watched, &self.session.clock(clock));
        self.closed = Some(closed.map_err(|trouble| self.session.error(trouble))?);
        Ok(())
    }

    /// Searches for a run that is accepted, with the method of the options; what they leave open is chosen.
    /// A model that turns out to be too small is made larger, and searched again.
    ///
    /// # Errors
    /// The method does not fit, or a limit was reached before the search could begin.
    pub fn search(&mut self, options: &Options, clock: &Clock<'_>) -> Result<Decision, Error> {
        let clock = &self.session.clock(clock);
        let found = refining(self, clock, |watching| {
            let decision = watching.with(options, clock, |deciding, closed| {
                let wish = deciding.wish();
                match closed {
                    Some(closed) => Ok(deciding.search_closed(closed, &wish)?.1),
                    None => {
                        let method = deciding.choose(&wish)?.method;
                        deciding.search(method)
                    }
                }
            })?;
            let error = fault(&decision).filter(|error| watching.session.model.can_refine(error));
            Ok(error.map_or(Attempt::Done(decision), Attempt::TooSmall))
        });
        found.map_err(|trouble| self.session.error(trouble))
    }

    /// Whether the independent judge agrees that a run violates what was asked, and not only its closure.
    ///
    /// # Errors
    /// A limit was reached before there was anything to judge.
    pub fn is_violated_by(
        &mut self,
        evidence: &Evidence,
        options: &Options,
        clock: &Clock<'_>,
    ) -> Result<bool, Error> {
        let clock = &self.session.clock(clock);
        let shown = self.with(options, clock, |deciding, _| Ok(deciding.show(evidence).is_ok()));
        shown.map_err(|trouble| self.session.error(trouble))
    }

    fn with<T>(
        &mut self,
        options: &Options,
        clock: &Clock<'_>,
        work: impl FnOnce(&mut Deciding<'_>, Option<&mut Claim>) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let constraints = Constraints::new(&*self.session.model, &options.fair, &mut clock.budget())?;
        let view = self.session.model.view(Purpose::Runs, &mut clock.budget())?;
        let mut deciding = Deciding {
            name: &self.name,
            view: &view,
            searched: Searched::as_written(&view),
            formulas: self.session.model.formulas(),
            watched: &mut self.watched,
            constraints: &constraints,
            options,
            clock,
            fault: Cell::default(),
        };
        work(&mut deciding, self.closed.as_mut())
    }
}

impl Refine for Watching<'_> {
    fn refine(&mut self, error: &StepError, clock: &Clock<'_>) -> Result<Refined, Trouble> {
        let refined = self.session.model.refine(error, clock)?;
        self.session.grown.push(*error);
        self.session.held = clock.held();
        if refined == Refined::Parts {
            self.watched = watch(self.session, self.question, clock)?.1;
            if self.closed.is_some() {
                self.closed = Some(closure(&self.watched, clock)?);
            }
        }
        Ok(refined)
    }
}
