//! A walk through a model by hand: where a path leads, what can happen there, at random until something is so, and the
//! shortest way to a state that is looked for.
//!
//! A path is told by what everybody sees of its steps, not by numbers of actions: those change where a model turns out
//! to be too small and is made larger. So whoever walks keeps nothing but the path, and may come back with it at any
//! time; the model may have been read again meanwhile.

mod choice;
mod place;
mod start;

use base::{Budget, Diagnostic, Limit, Progress};
use check::walk::Walk;
use check::{Exact, Goal, Stop, search};
use language::{Purpose, View};
use model::{ActionId, ActionSystem, ExprId, StepError, System as _, UnaryOp, reference};
use replay::{Doubt, Ending, Evidence, Question};
use report::Trace;

use self::choice::{Eyes, asserting};
pub(crate) use self::choice::{id, items, told_path};
pub use self::place::{Choice, Destination, Path, PathStep, Place, Sought, WalkEnd};
use self::start::StartingIn;

use crate::Error;
use crate::answer::told;
use crate::clock::Clock;
use crate::session::Session;

/// Why a path cannot be followed.
enum Halt {
    Fault(StepError),
    Limit(Limit),
    /// No step is the one of this number.
    Nowhere(usize),
}

impl From<StepError> for Halt {
    fn from(error: StepError) -> Halt {
        error.limit().map_or(Halt::Fault(error), Halt::Limit)
    }
}

impl From<Limit> for Halt {
    fn from(limit: Limit) -> Halt {
        Halt::Limit(limit)
    }
}

/// A model that is walked through.
///
/// ```
/// use stubborn::{Clock, Limits, Path, Session, Walker};
///
/// let session = Session::of_text("process", "process P { a: go -> b | stay -> a; b: ; }")?;
/// let clock = Clock::start(&Limits::default());
/// let mut walker = Walker::new(session, &clock)?;
/// let place = walker.place(&Path::default(), &["P@b".into()], &clock)?;
/// assert_eq!((place.choices.len(), &place.watched[..]), (2, &[Some(false)][..]));
/// let path = Path { initial: 0, steps: vec![place.choices[0].step.clone()] };
/// let place = walker.place(&path, &["P@b".into()], &clock)?;
/// assert_eq!((place.choices.len(), &place.watched[..]), (0, &[Some(true)][..]));
/// # Ok::<(), stubborn::Error>(())
/// ```
pub struct Walker {
    session: Session,
    view: View,
    /// The same system with assertions, if it has some.
    asserting: Option<View>,
    generation: u32,
    /// Expressions that were resolved.
    known: Vec<(String, ExprId)>,
}

impl Walker {
    /// Walks through this model.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn new(session: Session, clock: &Clock<'_>) -> Result<Walker, Error> {
        let view = session.view(Purpose::Runs, clock)?;
        let asserting = asserting(&session, &view, clock)?;
        Ok(Walker { session, view, asserting, generation: 0, known: Vec::new() })
    }

    /// How often the model was made larger: ids of states change with it.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// The model.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Where a path leads, and which of the expressions are true there.
    ///
    /// # Errors
    /// The path does not fit the model, an expression is wrong, or a limit was reached.
    pub fn place(&mut self, path: &Path, watched: &[String], clock: &Clock<'_>) -> Result<Place, Error> {
        self.walking(path, watched, clock, |eyes, walk, exprs, _| {
            let (view, system) = (eyes.view, &*eyes.view.system);
            let state = system.layout().decode(walk.state());
            let mut choices = Vec::new();
            for (number, action) in walk.choices()?.into_iter().enumerate() {
                choices.push(eyes.choice(walk, number, action)?);
            }
            let holds = |&expr: &ExprId| reference::value(system, expr, &state).ok().map(|value| value != 0);
            let story = view.story.as_deref();
            let is_named = |variable: &&model::Variable| variable.value_names.is_some();
            let named = system.variables().iter().zip(&state).filter(|(variable, _)| is_named(variable));
            Ok(Place {
                id: id(walk.state()),
                state: items(view, &state),
                positions: story.map_or_else(Vec::new, |story| story.positions(&state)),
                lit: named
                    .map(|(variable, &value)| format!("{}@{}", variable.name, variable.show(value)))
                    .collect(),
                choices,
                watched: exprs.iter().map(holds).collect(),
                may_end: story.is_some_and(|story| story.places(&state).iter().all(|place| place.may_stay)),
            })
        })
    }

    /// Goes on at random for at most so many steps, until one of these expressions becomes true; `choose` picks one of so
    /// many.
    ///
    /// # Errors
    /// The path does not fit the model, an expression is wrong, or a limit was reached.
    pub fn wander(
        &mut self,
        path: &Path,
        n_steps: usize,
        breakpoints: &[String],
        choose: &mut dyn FnMut(usize) -> usize,
        clock: &Clock<'_>,
    ) -> Result<(Vec<PathStep>, WalkEnd), Error> {
        self.walking(path, breakpoints, clock, |eyes, walk, exprs, budget| {
            let system = &*eyes.view.system;
            let values = |walk: &Walk<'_, ActionSystem>| -> Vec<bool> {
                let state = system.layout().decode(walk.state());
                exprs
                    .iter()
                    .map(|&expr| reference::value(system, expr, &state).is_ok_and(|it| it != 0))
                    .collect()
            };
            let mut steps = Vec::new();
            let mut before = values(walk);
            while steps.len() < n_steps {
                budget.poll(&Progress { bytes: walk.bytes(), ..Progress::default() })?;
                let choices = walk.choices()?;
                if choices.is_empty() {
                    return Ok((steps, WalkEnd::Deadlock));
                }
                let number = choose(choices.len()).min(choices.len() - 1);
                let chosen = eyes.choice(walk, number, choices[number])?;
                if let Some(fault) = chosen.leads_to.err().or(chosen.fails) {
                    return Ok((steps, WalkEnd::Fault(fault)));
                }
                walk.step(choices[number])?;
                steps.push(chosen.step);
                let now = values(walk);
                if let Some(at) = (0..now.len()).find(|&at| now[at] && !before[at]) {
                    return Ok((steps, WalkEnd::Breakpoint(at)));
                }
                before = now;
            }
            Ok((steps, WalkEnd::Enough))
        })
    }

    /// Looks for a state, from where the path leads: breadth first, so that the way is a shortest.
    ///
    /// # Errors
    /// The path does not fit the model, or the expression is wrong.
    pub fn seek(
        &mut self,
        path: &Path,
        destination: &Destination,
        clock: &Clock<'_>,
    ) -> Result<Sought, Error> {
        let texts: &[String] = match destination {
            Destination::Where(text) => std::slice::from_ref(text),
            Destination::Deadlock => &[],
        };
        loop {
            let start = self.walking(path, texts, clock, |_, walk, _, _| Ok(walk.state().to_vec()))?;
            let goal = match self.expressions(texts, clock)?.first() {
                Some(&expr) => {
                    let system = self.session.model.parts().0;
                    let never = system.exprs.unary(UnaryOp::Not, expr);
                    Goal::Invariant(system.add_proposition(&texts[0], never))
                }
                None => Goal::Deadlock,
            };
            self.view = self.session.view(Purpose::Runs, clock)?;
            let clock = &self.session.clock(clock);
            let mut budget = clock.budget();
            let from = StartingIn { system: &self.view.system, start };
            let mut store = Exact::new(from.width(), budget.room());
            let found = search::bfs::search(&from, &mut store, &[goal], &mut budget);
            let faults = found.faults.into_iter().flatten().map(|(error, _)| error);
            let fault = match &found.stop {
                Some(Stop::Fault(error, _)) => Some(*error),
                _ => faults.into_iter().next(),
            };
            if let Some(run) = found.violations.into_iter().flatten().next() {
                drop(store);
                return self.steps_of(path, &run.actions, clock).map(Sought::Found);
            }
            match (fault, found.stop) {
                (Some(error), _) if self.session.model.can_refine(&error) => self.refine(&error, clock)?,
                (Some(error), _) => return Err(self.fault(&error)),
                (None, Some(Stop::Limit(limit))) => return Ok(Sought::Limit(limit, found.stats.states)),
                (None, _) => return Ok(Sought::Nowhere(found.stats.states)),
            }
        }
    }

    /// The run of a path, replayed by the judge of evidence.
    ///
    /// # Errors
    /// The path does not fit the model, or a limit was reached.
    pub fn trace(&mut self, path: &Path, watched: &[String], clock: &Clock<'_>) -> Result<Trace, Error> {
        let run = self.walking(path, watched, clock, |_, walk, _, _| Ok(walk.run()))?;
        let exprs = self.expressions(watched, clock)?;
        let evidence = Evidence::new(&run, Ending::Open);
        let judged = replay::judge(&self.view.system, &Question::Possible, &evidence, &mut clock.budget());
        let judged = judged.map_err(|doubt| match doubt {
            Doubt::Limit(limit) => self.session.error(limit),
            Doubt::Rejected(why) => self.session.error(Diagnostic::error(
                "internal",
                format!("internal error, please report it: the run does not stand up to replay: {why}"),
            )),
        })?;
        let propositions = watched.iter().cloned().zip(exprs).collect();
        Ok(Trace::new(self.view.clone(), judged.replayed).with_propositions(propositions))
    }

    /// Actions as steps, after a path.
    fn steps_of(
        &mut self,
        path: &Path,
        actions: &[ActionId],
        clock: &Clock<'_>,
    ) -> Result<Vec<PathStep>, Error> {
        self.walking(path, &[], clock, |eyes, walk, _, budget| {
            let mut steps = Vec::new();
            for (at, &action) in actions.iter().enumerate() {
                budget.poll(&Progress { bytes: walk.bytes(), ..Progress::default() })?;
                let number =
                    walk.choices()?.iter().position(|&known| known == action).ok_or(Halt::Nowhere(at))?;
                steps.push(eyes.choice(walk, number, action)?.step);
                walk.step(action)?;
            }
            Ok(steps)
        })
    }

    /// Follows a path, and does something there. Where the model turns out to be too small, it is made larger, and the
    /// walk begins again.
    fn walking<T>(
        &mut self,
        path: &Path,
        texts: &[String],
        clock: &Clock<'_>,
        mut act: impl FnMut(&Eyes<'_>, &mut Walk<'_, ActionSystem>, &[ExprId], &mut Budget<'_>) -> Result<T, Halt>,
    ) -> Result<T, Error> {
        loop {
            let exprs = self.expressions(texts, clock)?;
            let (view, asserting) = (self.view.clone(), self.asserting.clone());
            let clock = &self.session.clock(clock);
            let mut budget = clock.budget();
            let Some(mut walk) = Walk::new(&*view.system, path.initial) else {
                let message = format!("there is no initial state {}", path.initial);
                return Err(self.session.error(Diagnostic::error("no-initial-state", message)));
            };
            let can_refine = |error: &StepError| self.session.model.can_refine(error);
            let eyes = Eyes { view: &view, asserting: asserting.as_ref(), can_refine: &can_refine };
            let done = follow(&eyes, &mut walk, path, &mut budget)
                .and_then(|()| act(&eyes, &mut walk, &exprs, &mut budget));
            match done {
                Ok(done) => return Ok(done),
                Err(Halt::Fault(error)) if self.session.model.can_refine(&error) => {
                    self.refine(&error, clock)?;
                }
                Err(Halt::Fault(error)) => return Err(self.fault(&error)),
                Err(Halt::Limit(limit)) => return Err(self.session.error(limit)),
                Err(Halt::Nowhere(step)) => {
                    let message = format!("step {} of the path is not possible in this model", step + 1);
                    return Err(self.session.error(Diagnostic::error("bad-path", message)));
                }
            }
        }
    }

    /// The model is too small: it is made larger, and what was known of it is forgotten.
    fn refine(&mut self, error: &StepError, clock: &Clock<'_>) -> Result<(), Error> {
        self.session.refine(error, clock)?;
        self.generation += 1;
        self.known.clear();
        self.view = self.session.view(Purpose::Runs, clock)?;
        self.asserting = asserting(&self.session, &self.view, clock)?;
        Ok(())
    }

    fn fault(&self, error: &StepError) -> Error {
        self.session.error(Diagnostic::error("model-error", told(&self.view, error)))
    }

    /// The expressions of these texts, in the system of the view.
    fn expressions(&mut self, texts: &[String], clock: &Clock<'_>) -> Result<Vec<ExprId>, Error> {
        let n_known = self.known.len();
        for text in texts {
            if !self.known.iter().any(|(known, _)| known == text) {
                let source = self.session.sources.add("the expression", text.clone().into_bytes());
                let source = source.map_err(|error| self.session.error(error))?;
                let expr = self.session.model.resolve(text, source, 0);
                let expr = expr.map_err(|errors| self.session.error(errors))?;
                self.known.push((text.clone(), expr));
            }
        }
        if self.known.len() > n_known {
            self.view = self.session.view(Purpose::Runs, clock)?;
        }
        let expr = |text: &String| self.known.iter().find(|(known, _)| known == text).map(|(_, expr)| *expr);
        Ok(texts.iter().filter_map(expr).collect())
    }
}

/// Takes the steps of a path, from its initial state.
fn follow(
    eyes: &Eyes<'_>,
    walk: &mut Walk<'_, ActionSystem>,
    path: &Path,
    budget: &mut Budget<'_>,
) -> Result<(), Halt> {
    for (at, step) in path.steps.iter().enumerate() {
        budget.poll(&Progress { bytes: walk.bytes(), ..Progress::default() })?;
        let choices = walk.choices()?;
        let mut is_meant = |number: usize, action: ActionId| -> Result<bool, Halt> {
            let found = eyes.choice(walk, number, action)?;
            Ok(found.step.key == step.key && found.leads_to.is_ok())
        };
        let mut meant = None;
        // The number is right, unless the model was made larger since.
        let first = choices.get(step.number).map(|&action| (step.number, action));
        for (number, action) in first.into_iter().chain(choices.iter().copied().enumerate()) {
            if is_meant(number, action)? {
                meant = Some(action);
                break;
            }
        }
        walk.step(meant.ok_or(Halt::Nowhere(at))?)?;
    }
    Ok(())
}
