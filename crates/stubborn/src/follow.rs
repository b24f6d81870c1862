//! Follows a run that a document tells step by step, as `check --json` and `simulate --json` print them.
//!
//! A document has no numbers of actions, which differ between the systems of a model, but what everybody sees: who does
//! what, and the state after it. Several steps may look the same, so this is a search.

use base::{Budget, Diagnostic, Limit, Progress};
use check::walk::Walk;
use language::{Purpose, View};
use model::{ActionId, ActionSystem, StepError};
use report::trace;
use serde_json::Value;

use crate::Error;
use crate::clock::Clock;
use crate::session::Session;

/// A run, as it was told.
#[derive(Clone, Debug)]
pub struct Told {
    /// Where it was told, for messages.
    file: String,
    /// The initial state, and what follows.
    steps: Vec<Value>,
}

/// How far a run could be followed.
#[derive(Clone, Copy, Debug)]
pub enum Followed {
    /// To its end.
    Done,
    /// The budget was spent first.
    Limit(Limit),
    /// The model goes wrong, or is too small.
    Fault(StepError),
    /// No step is the one of this number.
    Nowhere(usize),
}

impl Told {
    /// The run in a document that is a text: of several runs that of the property, or the first.
    ///
    /// # Errors
    /// The text is no JSON, or has no such run.
    pub fn of_text(text: &str, property: Option<&str>) -> Result<Told, Error> {
        let document = serde_json::from_str(text)
            .map_err(|why| Diagnostic::error("bad-run", format!("the run is no JSON: {why}")))?;
        Ok(Told::of_document("the run", document, property)?)
    }

    /// The run in a document, which messages call `file`: of several runs that of the property, or the first.
    ///
    /// # Errors
    /// The document has no such run.
    pub fn of_document(file: &str, mut document: Value, property: Option<&str>) -> Result<Told, Diagnostic> {
        let file = file.to_owned();
        let error = |message: String| Diagnostic::error("bad-run", message);
        let is_meant = |result: &&mut Value| property.is_none_or(|name| result["property"] == name);
        let run = |result: &mut Value| {
            let mut part = |name: &str| match result.get_mut("counterexample")?.get_mut(name)?.take() {
                Value::Array(steps) => Some(steps),
                _ => None,
            };
            let mut steps = part("prefix")?;
            steps.extend(part("cycle").unwrap_or_default());
            Some(steps)
        };
        let results = document.get_mut("results").and_then(Value::as_array_mut);
        let found = results.and_then(|results| results.iter_mut().filter(is_meant).find_map(run));
        let walked = match document.get_mut("steps").map(Value::take) {
            Some(Value::Array(steps)) if property.is_none() => Some(steps),
            _ => None,
        };
        match found.or(walked).filter(|steps| !steps.is_empty()) {
            Some(steps) => Ok(Told { file, steps }),
            None => {
                let of = property.map_or(String::new(), |name| format!(" of `{name}`"));
                let help = "it should be the document of a check where something is violated, or of a walk";
                Err(error(format!("there is no run{of} in `{file}`")).with_help(help))
            }
        }
    }

    /// The number of the initial state that it begins in, if there is such a one.
    pub fn initial(&self, view: &View) -> Option<usize> {
        let system = &*view.system;
        let is_first =
            |state: &[u32]| trace::is_told(&self.steps[0], view, None, &system.layout().decode(state));
        system.initial().position(is_first)
    }

    /// What is said if no step is the one of this number.
    pub fn differs(&self, step: usize) -> Diagnostic {
        let message = match self.steps[step]["action"].as_str() {
            Some(action) => format!("step {step} of the run in `{}`, `{action}`, is not possible", self.file),
            None => format!("the run in `{}` does not begin in an initial state of the model", self.file),
        };
        let help = "is it a run of this model, with the same definitions?";
        Diagnostic::error("bad-run", message).with_help(help)
    }

    /// Takes all its steps, from its initial state.
    pub fn follow(
        &self,
        view: &View,
        walk: &mut Walk<'_, ActionSystem>,
        budget: &mut Budget<'_>,
        can_refine: &dyn Fn(&StepError) -> bool,
    ) -> Followed {
        let mut furthest = 0;
        // Per step so far: what else may be meant.
        let mut untried: Vec<Vec<ActionId>> = Vec::new();
        loop {
            let position = walk.position();
            if position + 1 == self.steps.len() {
                return Followed::Done;
            }
            let progress = Progress { bytes: walk.bytes(), ..Progress::default() };
            if let Err(limit) = budget.poll(&progress) {
                return Followed::Limit(limit);
            }
            if untried.len() == position {
                furthest = furthest.max(position + 1);
                match self.candidates(view, walk, can_refine) {
                    Ok(candidates) => untried.push(candidates),
                    Err(error) => return Followed::Fault(error),
                }
            }
            match untried.last_mut().and_then(Vec::pop) {
                Some(action) => {
                    if let Err(error) = walk.step(action) {
                        return Followed::Fault(error);
                    }
                }
                None if position == 0 => return Followed::Nowhere(furthest),
                None => {
                    untried.pop();
                    walk.go_to(position - 1);
                }
            }
        }
    }

    /// The steps from here that look like the next one and lead to different states; the first is last.
    fn candidates(
        &self,
        view: &View,
        walk: &mut Walk<'_, ActionSystem>,
        can_refine: &dyn Fn(&StepError) -> bool,
    ) -> Result<Vec<ActionId>, StepError> {
        let (layout, wanted) = (view.system.layout(), &self.steps[walk.position() + 1]);
        let before = layout.decode(walk.state());
        let mut found: Vec<(ActionId, Vec<u32>)> = Vec::new();
        for action in walk.choices()?.into_iter().rev() {
            match walk.peek(action) {
                Ok(after) => {
                    let step = Some((action, &before[..]));
                    let is_known = found.iter().any(|(_, known)| *known == after);
                    if !is_known && trace::is_told(wanted, view, step, &layout.decode(&after)) {
                        found.push((action, after));
                    }
                }
                Err(error) if can_refine(&error) => return Err(error),
                // What goes wrong is no step of a run.
                Err(_) => {}
            }
        }
        Ok(found.into_iter().map(|(action, _)| action).collect())
    }
}

impl Session {
    /// Whether a run is possible in this model: nothing, or the number of the first step that is not, where 0 is its
    /// initial state. A step after which the model goes wrong is not possible.
    ///
    /// ```
    /// use stubborn::{Question, Session, Told};
    ///
    /// let broken = "process P { work: go -> rest; rest: ; }";
    /// let mut session = Session::of_text("process", broken)?;
    /// let report = session.check(&[Question::DeadlockFree], &Default::default())?;
    /// let run = Told::of_text(&report.to_json(), None)?;
    /// let clock = stubborn::Clock::start(&Default::default());
    /// assert_eq!(session.follow(&run, &clock)?, None, "what was found is possible");
    /// let other = "process P { work: come -> rest; rest: go -> work; }";
    /// assert_eq!(Session::of_text("process", other)?.follow(&run, &clock)?, Some(1));
    /// # Ok::<(), stubborn::Error>(())
    /// ```
    ///
    /// # Errors
    /// A limit was reached, or the model needs something that is not supported.
    pub fn follow(&mut self, told: &Told, clock: &Clock<'_>) -> Result<Option<usize>, Error> {
        let mut purpose = Purpose::Walk;
        loop {
            let view = self.view(purpose, clock)?;
            let initial = told.initial(&view).and_then(|initial| Walk::new(&*view.system, initial));
            let can_refine = |error: &StepError| self.model().can_refine(error);
            let (followed, position) = match initial {
                Some(mut walk) => {
                    let followed = told.follow(&view, &mut walk, &mut clock.budget(), &can_refine);
                    (followed, walk.position())
                }
                None => (Followed::Nowhere(0), 0),
            };
            match followed {
                Followed::Done => return Ok(None),
                Followed::Limit(limit) => return Err(self.error(limit)),
                Followed::Fault(error) if can_refine(&error) => self.refine(&error, clock)?,
                // Assertions may keep a run from being followed that does not look at them.
                Followed::Fault(_) | Followed::Nowhere(_) if purpose == Purpose::Walk => {
                    purpose = Purpose::Runs;
                }
                Followed::Nowhere(step) => return Ok(Some(step)),
                Followed::Fault(_) => return Ok(Some(position + 1)),
            }
        }
    }
}
