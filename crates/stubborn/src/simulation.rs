//! One run, step by step, in the texts that people read: what can happen, what a step does, where one is.
//!
//! Unlike a [`Walker`](crate::Walker), which is asked about whole paths and keeps nothing, this keeps the run, so that
//! millions of steps take no more than their time. A part of the model that turns out to be missing is made, and the
//! simulation begins again.

use base::{Budget, Diagnostic, Limit, Progress};
use check::walk::Walk;
use language::{Purpose, View, story};
use model::{ActionId, ActionSystem, StepError};
use replay::{Doubt, Ending, Evidence, Question};
use report::{Spelling, Trace, trace};

use crate::Error;
use crate::clock::Clock;
use crate::follow::{Followed, Told};
use crate::session::Session;

/// Where a simulation begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start<'t> {
    /// Which of the initial states; a run that is followed says which itself.
    pub initial: usize,
    /// The run that is followed first.
    pub told: Option<&'t Told>,
}

/// The model is too small for a step: it is made larger, and the simulation begins again.
#[derive(Clone, Copy, Debug)]
pub struct TooSmall(StepError);

/// Why a step is not taken.
#[derive(Clone, Copy, Debug)]
pub enum Halt {
    /// The model goes wrong.
    Fault(StepError),
    /// The budget is spent.
    Limit(Limit),
    /// The model is too small.
    TooSmall(TooSmall),
}

impl From<Limit> for Halt {
    fn from(limit: Limit) -> Halt {
        Halt::Limit(limit)
    }
}

/// A run that grows.
pub struct Simulation<'s> {
    session: &'s Session,
    view: &'s View,
    walk: Walk<'s, ActionSystem>,
    budget: Budget<'s>,
}

impl Session {
    /// Takes steps, as `act` says, which is asked again from the start where the model was made larger. Half of what
    /// the clock allows is for the steps, the other half to repeat and to show them; who takes them by hand
    /// (`is_patient`) has all of the time.
    ///
    /// # Errors
    /// There is no such initial state, the run cannot be followed, or a limit was reached.
    pub fn simulate<T>(
        &mut self,
        start: Start<'_>,
        is_patient: bool,
        clock: &Clock<'_>,
        mut act: impl FnMut(&mut Simulation<'_>) -> Result<T, TooSmall>,
    ) -> Result<T, Error> {
        // Assertions may keep a run from being followed that does not look at them.
        let mut purpose = Purpose::Walk;
        loop {
            let view = self.view(purpose, clock)?;
            let half = clock.part(0.5);
            let mut budget = if is_patient { clock.budget() } else { half.budget() };
            budget.max_bytes /= 2;
            let walk = self.first_step(start, &view)?;
            let mut simulation = Simulation { session: self, view: &view, walk, budget };
            let mut followed = Followed::Done;
            if let Some(told) = start.told {
                let can_refine = |error: &StepError| self.model.can_refine(error);
                followed = told.follow(&view, &mut simulation.walk, &mut simulation.budget, &can_refine);
            }
            let too_small = match followed {
                Followed::Done => match act(&mut simulation) {
                    Ok(done) => return Ok(done),
                    Err(TooSmall(error)) => error,
                },
                Followed::Limit(limit) => return Err(self.error(limit)),
                Followed::Fault(error) if self.model.can_refine(&error) => error,
                Followed::Fault(_) | Followed::Nowhere(_) if purpose == Purpose::Walk => {
                    purpose = Purpose::Runs;
                    continue;
                }
                Followed::Nowhere(step) => {
                    let differs = start.told.map(|told| told.differs(step));
                    return Err(self.error(differs.unwrap_or_else(|| no_initial(start.initial, 0))));
                }
                Followed::Fault(error) => {
                    let fault = Diagnostic::error("model-error", simulation.fault(&error));
                    return Err(self.error(fault));
                }
            };
            self.refine(&too_small, clock)?;
        }
    }

    fn first_step<'v>(&self, start: Start<'_>, view: &'v View) -> Result<Walk<'v, ActionSystem>, Error> {
        let initial = match start.told {
            Some(told) => told.initial(view).ok_or_else(|| self.error(told.differs(0)))?,
            None => start.initial,
        };
        let n = view.system.initial().len();
        Walk::new(&*view.system, initial).ok_or_else(|| self.error(no_initial(initial, n)))
    }
}

fn no_initial(initial: usize, n: usize) -> Diagnostic {
    let message =
        format!("there is no initial state {initial}: they are numbered 0 to {}", n.saturating_sub(1));
    Diagnostic::error("no-initial-state", message)
}

impl Simulation<'_> {
    /// How many steps were taken and not taken back.
    pub fn position(&self) -> usize {
        self.walk.position()
    }

    /// How many steps are known: some may have been taken back.
    pub fn len(&self) -> usize {
        self.walk.len()
    }

    /// Whether no step is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Goes to a position that is known.
    pub fn go_to(&mut self, position: usize) -> bool {
        self.walk.go_to(position)
    }

    /// What can happen.
    ///
    /// # Errors
    /// The model goes wrong, is too small, or takes too long.
    pub fn choices(&mut self) -> Result<Vec<ActionId>, Halt> {
        let choices = self.walk.choices();
        choices.map_err(|error| self.halt(error))
    }

    /// Takes a step.
    ///
    /// # Errors
    /// The model goes wrong, is too small, or the budget is spent.
    pub fn step(&mut self, action: ActionId) -> Result<(), Halt> {
        self.walk.step(action).map_err(|error| self.halt(error))?;
        let (states, depth) = (self.walk.len() as u64 + 1, self.walk.position() as u64);
        let bytes = self.walk.bytes() + self.bytes_to_repeat();
        Ok(self.budget.poll(&Progress { states, depth, bytes, ..Progress::default() })?)
    }

    /// What the judge of evidence will keep of the run, beside the walk: some of its states, and a stretch between two of
    /// them, with all variables as numbers.
    fn bytes_to_repeat(&self) -> u64 {
        let state = size_of::<i64>() * self.view.system.variables().len();
        2 * self.walk.len().isqrt() as u64 * state as u64
    }

    /// Takes a step, and tells it in lines.
    ///
    /// # Errors
    /// The model goes wrong, is too small, or the budget is spent.
    pub fn tell_step(&mut self, action: ActionId) -> Result<Vec<String>, Halt> {
        let before = self.state();
        self.step(action)?;
        let changes = self.changes(&before, &self.state());
        let story = self.view.story.as_deref();
        let system = &*self.view.system;
        let told = story.map(|story| trace::told(&story::of_step(story, system, action, &before)));
        let mut lines = told.unwrap_or_default();
        match lines.is_empty() {
            true => lines.push(format!("{}  {changes}", trace::describe(system, action, &before))),
            false if changes.is_empty() => {}
            false => lines.push(format!("  {changes}")),
        }
        Ok(lines)
    }

    /// What can happen, a line for each choice.
    ///
    /// # Errors
    /// The model goes wrong, or is too small.
    pub fn tell_choices(&mut self, choices: &[ActionId]) -> Result<Vec<String>, Halt> {
        let before = self.state();
        let tell = |&action: &ActionId| {
            let after = self.walk.peek(action).map_err(|error| self.halt(error))?;
            let changes = self.changes(&before, &self.view.system.layout().decode(&after));
            Ok(format!("{}  {changes}", self.describe(action, &before)))
        };
        choices.iter().map(tell).collect()
    }

    /// Where one is, in lines.
    pub fn tell_state(&self, spelling: &Spelling) -> Vec<String> {
        const WIDTH: usize = 90;
        let state = self.state();
        let (details, positions) = match self.view.story.as_deref() {
            Some(story) => (trace::cut(story::details(story, &state), spelling), story.positions(&state)),
            None => (trace::details(&self.view.system, &state, spelling), Vec::new()),
        };
        trace::wrapped(&details, WIDTH).into_iter().chain(positions).collect()
    }

    /// The run so far, as the judge of evidence sees it.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn trace(&self, clock: &Clock<'_>) -> Result<Trace, Error> {
        let run = self.walk.run();
        let evidence = Evidence::new(&run, Ending::Open);
        let clock = clock.with_grace();
        let mut budget = clock.budget();
        budget.max_bytes = budget.max_bytes.saturating_sub(self.walk.bytes());
        let judged = replay::judge(&self.view.system, &Question::Possible, &evidence, &mut budget);
        match judged {
            Ok(judged) => Ok(Trace::new(self.view.clone(), judged.replayed)),
            Err(Doubt::Limit(limit)) => Err(self.session.error(limit)),
            Err(Doubt::Rejected(why)) => {
                let message =
                    format!("internal error, please report it: the run does not stand up to replay: {why}");
                Err(self.session.error(Diagnostic::error("internal", message)))
            }
        }
    }

    /// The run so far and the step that goes wrong, if the language can tell such steps.
    pub fn failing_trace(&self, error: &StepError, clock: &Clock<'_>) -> Option<Trace> {
        self.view.story.as_ref()?.fault(error)?;
        let mut trace = self.trace(clock).ok()?;
        trace.fails(error.action?);
        Some(trace)
    }

    /// What goes wrong, and after how many steps.
    pub fn fault(&self, error: &StepError) -> String {
        let position = report::count(self.position() as u64, "step");
        format!("after {position}: {}", crate::answer::told(self.view, error))
    }

    /// Whether every process is where it may stay, as far as somebody can tell.
    pub fn may_end(&self) -> bool {
        let story = self.view.story.as_deref();
        story.is_some_and(|story| story.places(&self.state()).iter().all(|place| place.may_stay))
    }

    fn halt(&self, error: StepError) -> Halt {
        match error.limit() {
            Some(limit) => Halt::Limit(limit),
            None if self.session.model.can_refine(&error) => Halt::TooSmall(TooSmall(error)),
            None => Halt::Fault(error),
        }
    }

    fn state(&self) -> Vec<i64> {
        self.view.system.layout().decode(self.walk.state())
    }

    /// What differs between two states.
    fn changes(&self, before: &[i64], after: &[i64]) -> String {
        match self.view.story.as_deref() {
            Some(story) => story::changes(story, before, after),
            None => trace::changes(&self.view.system, before, after),
        }
        .join(", ")
    }

    /// A step in one line.
    fn describe(&self, action: ActionId, before: &[i64]) -> String {
        let system = &*self.view.system;
        let statements =
            self.view.story.as_deref().map(|story| story::of_step(story, system, action, before));
        match statements.as_deref() {
            Some([first]) => first.to_text(),
            Some([first, .., last]) => format!("{} … {}", first.to_text(), last.text),
            _ => trace::describe(system, action, before),
        }
    }
}
