//! What can happen in a state, as people see it: who does what, what changes, which assertion fails.

use std::hash::{DefaultHasher, Hash, Hasher};

use check::walk::Walk;
use language::{Purpose, View, story};
use model::{ActionId, ActionSystem, Describe as _, Fault, StepError, Stmt, reference};
use report::trace;

use super::Halt;
use super::place::{Choice, Path, PathStep};
use crate::Error;
use crate::answer::told;
use crate::clock::Clock;
use crate::session::Session;

/// A run as a path.
pub(crate) fn told_path(view: &View, initial: usize, actions: &[ActionId]) -> Option<Path> {
    let mut walk = Walk::new(&*view.system, initial)?;
    let eyes = Eyes { view, asserting: None, can_refine: &|_| false };
    let mut steps = Vec::with_capacity(actions.len());
    for &action in actions {
        let number = walk.choices().ok()?.iter().position(|&known| known == action)?;
        steps.push(eyes.choice(&mut walk, number, action).ok()?.step);
        walk.step(action).ok()?;
    }
    Some(Path { initial, steps })
}

/// Who looks at what can happen.
#[derive(Clone, Copy)]
pub(super) struct Eyes<'v> {
    pub(super) view: &'v View,
    /// The same system with assertions, if it has some.
    pub(super) asserting: Option<&'v View>,
    /// Which faults say that the model is too small.
    pub(super) can_refine: &'v dyn Fn(&StepError) -> bool,
}

impl Eyes<'_> {
    /// What can happen, as people see it.
    pub(super) fn choice(
        &self,
        walk: &mut Walk<'_, ActionSystem>,
        number: usize,
        action: ActionId,
    ) -> Result<Choice, Halt> {
        let (system, story) = (&*self.view.system, self.view.story.as_deref());
        let before = system.layout().decode(walk.state());
        let owners = system.action_owners(action);
        let processes: Vec<String> =
            owners.iter().map(|&process| system.process_name(process).to_owned()).collect();
        let statements =
            story.map(|story| story::of_step(story, system, action, &before)).unwrap_or_default();
        let name = match &statements[..] {
            [] => reference::label(system, action, &before),
            all => all.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("; "),
        };
        let (changes, leads_to) = match walk.peek(action) {
            Ok(after) => {
                let values = system.layout().decode(&after);
                let changes = match story {
                    Some(story) => story::changes(story, &before, &values),
                    None => trace::changes(system, &before, &values),
                };
                (changes, Ok(id(&after)))
            }
            Err(error) if (self.can_refine)(&error) || error.limit().is_some() => return Err(error.into()),
            Err(error) => (Vec::new(), Err(told(self.view, &error))),
        };
        let own = statements.iter().filter(|one| one.file.is_none());
        let lines: Vec<usize> = own.map(|one| one.line).collect();
        let mut hasher = DefaultHasher::new();
        (&processes, &name, &changes, &lines, leads_to.is_ok()).hash(&mut hasher);
        let step = PathStep { number, key: hasher.finish() };
        let fails = self.failure(action, &before);
        Ok(Choice { step, processes, action: name, changes, lines, leads_to, fails })
    }

    /// The assertion that fails in a step, if one does: its actions are done once more, with assertions.
    fn failure(&self, action: ActionId, before: &[i64]) -> Option<String> {
        let asserting = self.asserting?;
        let (parts, _) = reference::parts(&self.view.system, action, before).ok()??;
        let mut state = before.to_vec();
        for part in parts {
            state = match reference::act(&asserting.system, part, &state) {
                Ok(after) => after,
                Err(fault @ Fault::Assertion(_)) => {
                    return Some(told(asserting, &StepError { fault, action: Some(part) }));
                }
                Err(_) => return None,
            };
        }
        None
    }
}

/// The system with assertions, if the model has some.
pub(super) fn asserting(session: &Session, view: &View, clock: &Clock<'_>) -> Result<Option<View>, Error> {
    let other = session.view(Purpose::Walk, clock)?;
    let has_assertions = other.system.actions().iter().any(|action| asserts(&action.effect));
    // Assertions are all that differs: actions and variables have the same numbers.
    let is_same = other.system.actions().len() == view.system.actions().len()
        && other.system.variables().len() == view.system.variables().len();
    Ok(Some(other).filter(|_| has_assertions && is_same))
}

fn asserts(effect: &[Stmt]) -> bool {
    effect.iter().any(|stmt| match stmt {
        Stmt::Assert(..) => true,
        Stmt::If(_, first, second) => asserts(first) || asserts(second),
        Stmt::While(_, body) => asserts(body),
        _ => false,
    })
}

/// The parts of a state: names and values.
pub(crate) fn items(view: &View, state: &[i64]) -> Vec<(String, String)> {
    match view.story.as_deref() {
        Some(story) => story.items(state).into_iter().map(|item| (item.name, item.value)).collect(),
        None => {
            let all = view.system.variables().iter().zip(state);
            all.map(|(variable, &value)| (variable.name.clone(), variable.show(value).to_string())).collect()
        }
    }
}

/// A number for a state.
pub(crate) fn id(state: &[u32]) -> u128 {
    let half = |salt: u64| {
        let mut hasher = DefaultHasher::new();
        (salt, state).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}
