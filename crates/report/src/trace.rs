//! Runs as people and programs read them.
//!
//! A [`Trace`] is made from states that the judge of evidence (`replay`) computed, never from
//! those of a search: what is shown was replayed.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

use model::{ActionId, ActionSystem, Describe, ExprId, Run, Variable, reference};
use replay::Replayed;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::count;

/// A run with its states. Nothing is made of them before it is asked for: runs can be long.
#[derive(Clone)]
pub struct Trace<'a> {
    system: &'a ActionSystem,
    run: Run,
    states: Replayed,
    /// The propositions of the property, with their expressions.
    propositions: Vec<(String, ExprId)>,
    /// The states of the observer, before the first step and after each; empty if there is none.
    observer: Vec<String>,
}

/// An initial state with more variables than this is not shown whole as text.
const MAX_VARIABLES: usize = 60;

/// Of a longer run the middle is left out as text.
const MAX_STEPS: usize = 2000;

impl<'a> Trace<'a> {
    /// The trace of a run that was replayed.
    pub fn new(system: &'a ActionSystem, run: Run, states: Replayed) -> Trace<'a> {
        Trace { system, run, states, propositions: Vec::new(), observer: Vec::new() }
    }

    /// The same, with propositions whose values are shown.
    #[must_use]
    pub fn with_propositions(mut self, propositions: Vec<(String, ExprId)>) -> Trace<'a> {
        self.propositions = propositions;
        self
    }

    /// The same, with the states of an observer, before the first step and after each.
    #[must_use]
    pub fn with_observer(mut self, states: Vec<String>) -> Trace<'a> {
        self.observer = states;
        self
    }

    /// Whether each proposition is true after a step.
    fn values(&self, step: usize) -> impl Iterator<Item = (&str, bool)> {
        self.propositions.iter().map(move |(text, expr)| {
            // What could not be evaluated was not replayed.
            let value = reference::value(self.system, *expr, self.states.state(step));
            (text.as_str(), value.is_ok_and(|value| value != 0))
        })
    }

    /// What the property sees of a step: propositions that flip, and where the observer goes.
    fn observed(&self, step: usize) -> Vec<String> {
        let mut items = Vec::new();
        for (index, (text, value)) in self.values(step).enumerate() {
            match step.checked_sub(1).and_then(|before| self.values(before).nth(index)) {
                None => items.push(format!("`{text}` is {value}")),
                Some((_, old)) if old != value => items.push(format!("`{text}` becomes {value}")),
                Some(_) => {}
            }
        }
        if let Some(now) = self.observer.get(step) {
            match step.checked_sub(1).map(|before| &self.observer[before]) {
                None => items.push(format!("observer in {now}")),
                Some(old) if old != now => items.push(format!("observer: {old} -> {now}")),
                Some(_) => {}
            }
        }
        items
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.run.actions.len()
    }

    /// Whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Some of the steps, for a program to read. Step 0 is the initial state.
    pub fn steps(&self, range: RangeInclusive<usize>) -> StepsJson<'_, 'a> {
        StepsJson { trace: self, range }
    }

    /// The run as text: per step the processes, the action, and only what changed. The steps after
    /// `cycle_start`, if there is one, are marked: they repeat for ever.
    pub fn to_text(&self, cycle_start: Option<usize>) -> String {
        let mut text = String::new();
        let digits = self.len().to_string().len();
        let hidden = if self.len() > MAX_STEPS { MAX_STEPS / 2..self.len() - MAX_STEPS / 2 } else { 0..0 };
        for step in 0..=self.len() {
            if hidden.contains(&step) {
                if step == hidden.start {
                    let n = count(hidden.len() as u64, "step");
                    _ = writeln!(
                        text,
                        "{:width$}  … {n} left out (--json shows all)",
                        "",
                        width = digits + 4
                    );
                }
                continue;
            }
            let (what, details) = match step.checked_sub(1) {
                None => ("initial state".to_owned(), details(self.system, self.states.state(0))),
                Some(before) => (
                    describe(self.system, self.run.actions[before]),
                    changes(self.system, self.states.state(before), self.states.state(step)),
                ),
            };
            // Writing to a string cannot fail.
            _ = writeln!(text, "{step:>width$}  {what}", width = digits + 4);
            for line in wrapped(&details, 90).into_iter().chain(wrapped(&self.observed(step), 90)) {
                _ = writeln!(text, "{:width$}  {line}", "", width = digits + 8);
            }
            if Some(step) == cycle_start {
                _ = writeln!(
                    text,
                    "{:width$}  -- from here on, the following repeats for ever --",
                    "",
                    width = digits + 4
                );
            }
        }
        text
    }
}

/// A step as a program reads it; the initial state is a step without an action.
#[derive(Serialize)]
struct StepJson<'a> {
    action: Option<Cow<'a, str>>,
    process: Option<String>,
    state: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    propositions: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observer: Option<&'a str>,
}

/// Some of the steps of a trace.
pub struct StepsJson<'t, 'a> {
    trace: &'t Trace<'a>,
    range: RangeInclusive<usize>,
}

impl Serialize for StepsJson<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Trace { system, run, states, observer, .. } = self.trace;
        let step = |step: usize| {
            let action = step.checked_sub(1).map(|before| run.actions[before]);
            StepJson {
                action: action.map(|action| system.action_label(action)),
                process: action.map(|action| owners(system, action)),
                state: state_json(system, states.state(step)),
                propositions: self
                    .trace
                    .values(step)
                    .map(|(text, value)| (text.to_owned(), Value::from(value)))
                    .collect(),
                observer: observer.get(step).map(String::as_str),
            }
        };
        serializer.collect_seq(self.range.clone().map(step))
    }
}

/// The processes and the label of an action.
pub fn describe(system: &ActionSystem, action: ActionId) -> String {
    format!("{}: {}", owners(system, action), system.action_label(action))
}

/// The names of the processes that take part in an action.
fn owners(system: &ActionSystem, action: ActionId) -> String {
    let names: Vec<&str> =
        system.action_owners(action).iter().map(|&process| system.process_name(process)).collect();
    names.join(", ")
}

/// The variables with their values: numbers, or the names of the values.
fn state_json(system: &ActionSystem, values: &[i64]) -> Map<String, Value> {
    let entry = |(variable, &value): (&Variable, &i64)| {
        let shown = match variable.value_names {
            Some(_) => Value::from(variable.show(value)),
            None => Value::from(value),
        };
        (variable.name.clone(), shown)
    };
    system.variables().iter().zip(values).map(entry).collect()
}

/// What differs between two states: `x: 1 -> 2`.
pub fn changes(system: &ActionSystem, before: &[i64], after: &[i64]) -> Vec<String> {
    let all = system.variables().iter().zip(before.iter().zip(after));
    let changed = all.filter(|(_, (old, new))| old != new);
    let show = |(variable, (&old, &new)): (&Variable, (&i64, &i64))| {
        format!("{}: {} -> {}", variable.name, variable.show(old), variable.show(new))
    };
    changed.map(show).collect()
}

/// The variables with their values: `x = 1`; cut if there are very many.
pub fn details(system: &ActionSystem, values: &[i64]) -> Vec<String> {
    let all = system.variables().iter().zip(values);
    let shown = all
        .take(MAX_VARIABLES)
        .map(|(variable, &value)| format!("{} = {}", variable.name, variable.show(value)));
    let mut details: Vec<String> = shown.collect();
    if values.len() > MAX_VARIABLES {
        details.push(format!("… and {} more (--json shows all)", values.len() - MAX_VARIABLES));
    }
    details
}

/// Items separated by commas, in lines of about `columns` letters.
pub fn wrapped(items: &[String], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(line) if line.chars().count() + item.chars().count() + 2 <= columns => {
                line.push_str(", ");
                line.push_str(item);
            }
            last => {
                if let Some(line) = last {
                    line.push(',');
                }
                lines.push(item.clone());
            }
        }
    }
    lines
}
