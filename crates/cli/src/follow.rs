//! Follows a run that a document tells step by step, as `check --json` and `simulate --json` print them.
//!
//! A document has no numbers of actions, which differ between the systems of a model, but what everybody sees: who does
//! what, and the state after it. Several steps may look the same, so this is a search.

use std::path::Path;

use serde_json::Value;
use stubborn::base::{Budget, Diagnostic, Limit, Progress, SourceMap};
use stubborn::check::walk::Walk;
use stubborn::files;
use stubborn::language::View;
use stubborn::model::{ActionId, ActionSystem, StepError};
use stubborn::report::trace;

use crate::exit::Failure;

/// A run, as it was told.
pub(crate) struct Told {
    file: String,
    /// The initial state, and what follows.
    steps: Vec<Value>,
}

/// How far a run could be followed.
pub(crate) enum Followed {
    Done,
    Limit(Limit),
    Fault(StepError),
    /// No step is the one of this number.
    Nowhere(usize),
}

/// Reads a JSON document, if there is room for it: each byte of it takes several in memory.
pub(crate) fn read_json(
    path: &Path,
    budget: &mut Budget<'_>,
    bad: impl FnOnce(String) -> Failure,
) -> Result<Value, Failure> {
    const BYTES_PER_BYTE: u64 = 8;
    let bytes = files::read(path, budget).map_err(|trouble| Failure::new(SourceMap::new(), trouble))?;
    let room = budget.hold(bytes.len() as u64 * BYTES_PER_BYTE);
    room.map_err(|limit| Failure::Limit(format!("{limit} while `{}` was read", path.display())))?;
    serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))
}

impl Told {
    /// Reads a document; of several runs that of the property, or the first.
    pub(crate) fn read(
        path: &Path,
        property: Option<&str>,
        budget: &mut Budget<'_>,
    ) -> Result<Told, Failure> {
        let file = path.display().to_string();
        let error = |message: String| Diagnostic::error("bad-run", message);
        let mut document =
            read_json(path, budget, |why| error(format!("`{file}` is no JSON: {why}")).into())?;
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
                let help = "it should be what `stubborn check --json` prints where something is violated, or \
                            what `stubborn simulate --json` prints";
                Err(error(format!("there is no run{of} in `{file}`")).with_help(help).into())
            }
        }
    }

    /// The number of the initial state that it begins in.
    pub(crate) fn initial(&self, view: &View) -> Result<usize, Failure> {
        let system = &*view.system;
        let is_first =
            |state: &[u32]| trace::is_told(&self.steps[0], view, None, &system.layout().decode(state));
        system.initial().position(is_first).ok_or_else(|| self.differs(0))
    }

    /// No step is the one of this number.
    pub(crate) fn differs(&self, step: usize) -> Failure {
        let message = match self.steps[step]["action"].as_str() {
            Some(action) => format!("step {step} of the run in `{}`, `{action}`, is not possible", self.file),
            None => format!("the run in `{}` does not begin in an initial state of the model", self.file),
        };
        let help = "is it a run of this model, with the same definitions (-D)?";
        Diagnostic::error("bad-run", message).with_help(help).into()
    }

    /// Takes all its steps, from its initial state.
    pub(crate) fn follow(
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
