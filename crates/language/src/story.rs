//! What a run is in the words of its language, for front ends that know more than the action system does:
//! the statements of a step with their places in the text, what they print and send, and states whose
//! channels and processes are shown as such.

use std::collections::HashSet;

use model::{ActionId, ActionSystem, StepError, VarId, reference};
use serde::Serialize;

/// A front end that can tell what happens.
pub trait Story: Send + Sync {
    /// What went wrong, in the words of the language; nothing if the system can tell it as well.
    fn fault(&self, _error: &StepError) -> Option<String> {
        None
    }

    /// The statements of an action, which is no chain, from a state on. If it goes wrong, the last one is the
    /// one that does.
    fn statements(&self, action: ActionId, before: &[i64]) -> Vec<Statement>;

    /// The parts of a state that are shown.
    fn items(&self, state: &[i64]) -> Vec<Item>;

    /// The same of two states; what is equal in both may be left out, and should be where there is much of it.
    fn different_items(&self, before: &[i64], after: &[i64]) -> (Vec<Item>, Vec<Item>) {
        (self.items(before), self.items(after))
    }

    /// Where the processes are that there are.
    fn places(&self, state: &[i64]) -> Vec<Position>;

    /// The same, one line each.
    fn positions(&self, state: &[i64]) -> Vec<String> {
        self.places(state).iter().map(Position::to_text).collect()
    }

    /// What never happens, given which actions do.
    fn unreached(&self, taken: &[bool]) -> Vec<Unreached>;

    /// The same system, in which this error is none: nothing is promised there. Nothing if more is wrong than that a
    /// promise is broken.
    fn pardon(&self, _system: &ActionSystem, _error: &StepError) -> Option<ActionSystem> {
        None
    }

    /// The same system, in which processes may stay for ever where they are in this state; nothing if nobody must leave.
    fn may_stay(&self, _system: &ActionSystem, _state: &[i64]) -> Option<ActionSystem> {
        None
    }

    /// Whether it tells where processes are, and what they do; otherwise it tells states alone.
    fn has_processes(&self) -> bool {
        true
    }

    /// The variable that says where a process is, by the name of the process.
    fn location(&self, process: &str) -> Option<VarId>;
}

/// Where a process is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The process.
    pub process: String,
    /// The file, if it is not the model's own.
    pub file: Option<String>,
    /// The line in the file.
    pub line: usize,
    /// How the statement reads that is next; it may be cut.
    pub text: String,
    /// Whether it may stay there for ever.
    pub may_stay: bool,
    /// Whether it is at its end.
    pub is_over: bool,
}

impl Position {
    /// One line.
    pub fn to_text(&self) -> String {
        if self.is_over {
            return format!("{} is at its end", self.process);
        }
        let end = if self.may_stay { " (a valid end)" } else { "" };
        format!("{} is at {}{end}: {}", self.process, place(self.file.as_deref(), self.line), self.text)
    }
}

/// A place in a text: `line 3`, `other.pml line 3`.
pub fn place(file: Option<&str>, line: usize) -> String {
    let file = file.map_or(String::new(), |file| format!("{file} "));
    format!("{file}line {line}")
}

/// A statement that is executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// The process.
    pub process: String,
    /// The file, if it is not the model's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in the file.
    pub line: usize,
    /// How it reads.
    pub text: String,
    /// What it prints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What it sends or receives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// The process and the statement by the numbers that they have in Spin's trails; nothing where it is a part of the
    /// statement before.
    #[serde(skip)]
    pub mark: Option<(u32, u32)>,
}

/// What never happens in any run of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Unreached {
    /// A statement is never executed.
    Statement {
        /// The kind of process.
        process: String,
        /// The file, if it is not the model's own.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// The line in the file.
        line: usize,
        /// How it reads.
        text: String,
        /// Whether a process gets there.
        reached: bool,
    },
    /// There is never a process of this kind.
    Process {
        /// The kind of process.
        process: String,
        /// That is what it says.
        started: bool,
    },
    /// No action of this name happens.
    Action {
        /// The name.
        action: String,
    },
}

impl Unreached {
    /// The same by actions alone, for languages without stories: the labels of which no action happens.
    pub fn labels(system: &ActionSystem, taken: &[bool]) -> Vec<Unreached> {
        let mut happens = vec![false; system.labels().len()];
        for (action, taken) in system.actions().iter().zip(taken) {
            happens[action.label.index()] |= taken;
        }
        let idle = system.labels().iter().zip(happens).filter(|(label, happens)| !label.internal && !happens);
        idle.map(|(label, _)| Unreached::Action { action: label.name.to_string() }).collect()
    }

    /// One line.
    pub fn to_text(&self) -> String {
        match self {
            Unreached::Statement { process, file, line, text, reached } => {
                let waits = if *reached { " (reached, but never possible)" } else { "" };
                format!("{process}, {}: {text}{waits}", place(file.as_deref(), *line))
            }
            Unreached::Process { process, .. } => format!("{process}: no such process is started"),
            Unreached::Action { action } => action.clone(),
        }
    }
}

/// A message that is sent or received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// The channel.
    pub channel: String,
    /// The values.
    pub values: Vec<String>,
    /// What becomes of it.
    #[serde(flatten)]
    pub way: Way,
}

/// What becomes of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "way", content = "to")]
pub enum Way {
    /// It goes into the channel.
    Sent,
    /// It comes from the channel.
    Received,
    /// This process takes it at once.
    Handed(String),
}

/// A part of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The name of a variable or channel.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether it is a channel; its value is then a list of messages.
    pub is_channel: bool,
}

impl Statement {
    /// One line.
    pub fn to_text(&self) -> String {
        format!("{}, {}: {}", self.process, place(self.file.as_deref(), self.line), self.text)
    }
}

/// The statements of a step, which may be a chain.
pub fn of_step(story: &dyn Story, system: &ActionSystem, action: ActionId, before: &[i64]) -> Vec<Statement> {
    match reference::parts(system, action, before) {
        Ok(Some((parts, _))) => of_parts(story, system, &parts, before),
        // It was replayed, so it is enabled.
        _ => Vec::new(),
    }
}

/// The statements of several actions, one after the other; the last may go wrong.
pub fn of_parts(
    story: &dyn Story,
    system: &ActionSystem,
    parts: &[ActionId],
    before: &[i64],
) -> Vec<Statement> {
    let mut statements = Vec::new();
    let mut state = before.to_vec();
    for &part in parts {
        statements.extend(story.statements(part, &state));
        match reference::act(system, part, &state) {
            Ok(after) => state = after,
            Err(_) => break,
        }
    }
    statements
}

/// What differs between two states: `x: 1 -> 2`, `c = [1,2]`. Of what was not there before, only what is
/// not 0 is told.
pub fn changes(story: &dyn Story, before: &[i64], after: &[i64]) -> Vec<String> {
    let (old, new) = story.different_items(before, after);
    let mut known = old.iter().peekable();
    let mut changes = Vec::new();
    for item in &new {
        // Both are in the same order, so that each is found at once, or after those that are gone.
        let mut ahead = known.clone();
        let found = ahead.find(|known| known.name == item.name);
        if found.is_some() {
            known = ahead;
        }
        match found {
            Some(old) if old.value == item.value => {}
            Some(old) if !item.is_channel => {
                changes.push(format!("{}: {} -> {}", item.name, old.value, item.value));
            }
            None if item.value == "0" || item.value == "[]" => {}
            _ => changes.push(format!("{} = {}", item.name, item.value)),
        }
    }
    changes
}

/// The parts of a state: `x = 1`.
pub fn details(story: &dyn Story, state: &[i64]) -> Vec<String> {
    story.items(state).into_iter().map(|item| format!("{} = {}", item.name, item.value)).collect()
}

/// A chain from a state that goes wrong in this action, if there is one: all that happens before, and the
/// action. What goes wrong in a guard is not a step.
pub fn failure(system: &ActionSystem, state: &[i64], action: ActionId) -> Option<Vec<ActionId>> {
    const MAX_CHAINS: usize = 100_000;
    // The actions that were taken, each with the one before it; and what is left to look at.
    let mut taken: Vec<(Option<usize>, ActionId)> = Vec::new();
    let mut work = vec![(state.to_vec(), None)];
    let mut n_chains = 0;
    let mut passed = HashSet::new();
    while let Some((state, last)) = work.pop() {
        n_chains += 1;
        if n_chains > MAX_CHAINS {
            return None;
        }
        let goes_on = last.and_then(|last: usize| system.next_process(taken[last].1));
        for next in (0..system.actions().len()).map(ActionId::new) {
            let its = system.action(next);
            let is_its_turn = goes_on.is_none_or(|process| its.owners.first() == Some(&process));
            if !is_its_turn || !reference::is_enabled(system, its, &state).unwrap_or(false) {
                continue;
            }
            match reference::act(system, next, &state) {
                Err(_) if next == action => {
                    let before = std::iter::successors(last, |&last| taken[last].0).map(|at| taken[at].1);
                    let mut parts: Vec<ActionId> = std::iter::once(next).chain(before).collect();
                    parts.reverse();
                    return Some(parts);
                }
                Ok(after) => {
                    if let Some(process) = system.next_process(next)
                        && passed.insert((after.clone(), process))
                    {
                        taken.push((last, next));
                        work.push((after, Some(taken.len() - 1)));
                    }
                }
                Err(_) => {}
            }
        }
    }
    None
}
