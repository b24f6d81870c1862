//! Judges whether a run is fair: by the definitions of weak and strong fairness [malinen.03.fairness] and of justness
//! ([`mod@model::fairness`]), on the states and actions of its cycle, with the reference semantics of enabledness.

use std::fmt;

use base::Budget;
use model::fairness::{Interference, Kind};
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
    /// In which way.
    pub kind: Kind,
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
    /// This step interferes with what it could do; if not with all of that, other steps with the rest.
    Interfered(usize),
}

/// Watches a cycle.
pub(crate) struct Judge<'a> {
    system: &'a ActionSystem,
    constraints: &'a [Constraint],
    /// Per action, the constraints that speak about it.
    of_action: Vec<Vec<usize>>,
    seen: Vec<Seen>,
    /// For justness: what happens in the cycle, with its first step; and per action, whether it is ever enabled there.
    steps: Vec<(usize, ActionId)>,
    happens: Vec<bool>,
    enabled: Vec<bool>,
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
        let is_just = constraints.iter().any(|constraint| constraint.kind == Kind::Just);
        let none = vec![false; if is_just { n_actions } else { 0 }];
        let (seen, steps) = (vec![Seen::default(); constraints.len()], Vec::new());
        Judge { system, constraints, of_action, seen, steps, happens: none.clone(), enabled: none }
    }

    /// Looks at a step of the cycle. A step of several actions is a step of who begins it.
    pub(crate) fn step(&mut self, step: usize, action: ActionId) {
        let first = self.system.first(action);
        for &number in self.of_action.get(first.index()).into_iter().flatten() {
            self.seen[number].taken.get_or_insert(step);
        }
        if let Some(happens) = self.happens.get_mut(first.index())
            && !std::mem::replace(happens, true)
        {
            self.steps.push((step, first));
        }
    }

    /// Looks at a state of the cycle.
    pub(crate) fn state(&mut self, step: usize, state: &[i64]) -> Result<(), Doubt> {
        if self.constraints.is_empty() {
            return Ok(());
        }
        let enabled = reference::enabled(self.system, state)
            .map_err(|fault| unjudged(&format!("the state after step {step}"), fault))?;
        if !self.enabled.is_empty() {
            enabled.iter().for_each(|action| self.enabled[action.index()] = true);
        }
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
    pub(crate) fn end(self, budget: &mut Budget<'_>) -> Result<Vec<Reason>, Doubt> {
        let interference =
            if self.enabled.is_empty() { None } else { Some(Interference::new(self.system, budget)?) };
        let reason = |(constraint, seen): (&Constraint, &Seen)| match (constraint.kind, &interference) {
            (Kind::Just, Some(interference)) => self.just(constraint, interference),
            _ => match (seen.taken, seen.disabled) {
                (Some(step), _) => Ok(Reason::Taken(step)),
                _ if !seen.is_ever_enabled => Ok(Reason::NeverEnabled),
                (None, Some(step)) if constraint.kind == Kind::Weak => Ok(Reason::Disabled(step)),
                _ => {
                    let kind = if constraint.kind == Kind::Strong { "strongly" } else { "weakly" };
                    Err(rejected(format!("the run is not {kind} fair to {}", constraint.subject)))
                }
            },
        };
        self.constraints.iter().zip(&self.seen).map(reason).collect()
    }

    /// Why the cycle is just to each of a constraint's actions: where one is enabled, a step that comes later begins
    /// with it or interferes with it. In a cycle, every step comes later.
    fn just(&self, constraint: &Constraint, interference: &Interference<'_>) -> Result<Reason, Doubt> {
        let mut enabled = constraint.actions.iter().filter(|action| self.enabled[action.index()]).peekable();
        if enabled.peek().is_none() {
            return Ok(Reason::NeverEnabled);
        }
        let mut interfering = None;
        // Those of the steps that interfere with everything.
        let mut with_all = self.steps.clone();
        for &action in enabled {
            let with = interference.with(action);
            let interferes = |step: &(usize, ActionId)| with.binary_search(&step.1).is_ok();
            let Some(first) = self.steps.iter().find(|step| interferes(step)) else {
                return Err(rejected(format!("the run is not just to {}", constraint.subject)));
            };
            interfering.get_or_insert(first.0);
            with_all.retain(interferes);
        }
        let own = with_all.iter().find(|step| constraint.actions.contains(&step.1));
        Ok(match (own, with_all.first(), interfering) {
            (Some(own), _, _) => Reason::Taken(own.0),
            (None, Some(first), _) => Reason::Interfered(first.0),
            (None, None, first) => Reason::Interfered(first.unwrap_or(0)),
        })
    }
}
