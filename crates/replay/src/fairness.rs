//! Judges whether a run is fair: by the definitions of weak and strong fairness [malinen.03.fairness], on the
//! states and actions of its cycle, with the reference semantics of enabledness.

use std::fmt;

use model::{ActionId, ActionSystem, reference};

use crate::{Doubt, rejected, unjudged};

/// Who is treated fairly, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A process.
    Process(String),
    /// An action, or all actions of that name.
    Action(String),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Process(name) => name.fmt(f),
            Subject::Action(name) => write!(f, "action {name}"),
        }
    }
}

/// A fairness constraint: a set of actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// Who is treated fairly.
    pub subject: Subject,
    /// Strong, or weak.
    pub strong: bool,
    /// The actions it speaks about.
    pub actions: Vec<ActionId>,
}

/// Why a cycle is fair to a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// An action of it happens in this step, counted from 1.
    Taken(usize),
    /// None of its actions is enabled after this step.
    Disabled(usize),
    /// None of its actions is ever enabled in the cycle.
    NeverEnabled,
}

/// Watches a cycle.
pub(crate) struct Judge<'a> {
    system: &'a ActionSystem,
    constraints: &'a [Constraint],
    /// Per action, the constraints that speak about it.
    of_action: Vec<Vec<usize>>,
    seen: Vec<Seen>,
}

/// What was seen of a constraint.
#[derive(Clone, Default)]
struct Seen {
    taken: Option<usize>,
    disabled: Option<usize>,
    is_ever_enabled: bool,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(system: &'a ActionSystem, constraints: &'a [Constraint]) -> Judge<'a> {
        let n_actions = if constraints.is_empty() { 0 } else { system.actions().len() };
        let mut of_action = vec![Vec::new(); n_actions];
        for (number, constraint) in constraints.iter().enumerate() {
            for action in &constraint.actions {
                of_action[action.index()].push(number);
            }
        }
        Judge { system, constraints, of_action, seen: vec![Seen::default(); constraints.len()] }
    }

    /// Looks at a step of the cycle. A step of several actions is a step of who begins it.
    pub(crate) fn step(&mut self, step: usize, action: ActionId) {
        for &number in self.of_action.get(self.system.first(action).index()).into_iter().flatten() {
            self.seen[number].taken.get_or_insert(step);
        }
    }

    /// Looks at a state of the cycle.
    pub(crate) fn state(&mut self, step: usize, state: &[i64]) -> Result<(), Doubt> {
        if self.constraints.is_empty() {
            return Ok(());
        }
        let enabled = reference::enabled(self.system, state)
            .map_err(|fault| unjudged(&format!("the state after step {step}"), fault))?;
        let mut is_enabled = vec![false; self.seen.len()];
        enabled.iter().flat_map(|action| &self.of_action[action.index()]).for_each(|&n| is_enabled[n] = true);
        for (seen, is_enabled) in self.seen.iter_mut().zip(is_enabled) {
            if is_enabled {
                seen.is_ever_enabled = true;
            } else {
                seen.disabled.get_or_insert(step);
            }
        }
        Ok(())
    }

    /// Why the cycle is fair to each of the constraints; or which one it is not fair to.
    pub(crate) fn end(self) -> Result<Vec<Reason>, Doubt> {
        let reason = |(constraint, seen): (&Constraint, &Seen)| match (seen.taken, seen.disabled) {
            (Some(step), _) => Ok(Reason::Taken(step)),
            _ if !seen.is_ever_enabled => Ok(Reason::NeverEnabled),
            (None, Some(step)) if !constraint.strong => Ok(Reason::Disabled(step)),
            _ => {
                let kind = if constraint.strong { "strongly" } else { "weakly" };
                Err(rejected(format!("the run is not {kind} fair to {}", constraint.subject)))
            }
        };
        self.constraints.iter().zip(&self.seen).map(reason).collect()
    }
}
