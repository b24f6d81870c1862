//! Runs as people and programs read them.
//!
//! A [`Trace`] is made of a run that the judge of evidence (`replay`) has repeated, never of states of a
//! search: what is shown was replayed. It owns all that it shows, so it may outlive the model. Long runs are
//! computed again, a stretch at a time, where their states are looked at.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base::text::Shown;
use language::View;
use model::reference::Values;
use model::{ActionId, ActionSystem, Describe, ExprId, Run, Variable, reference};
use replay::Replayed;
use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::story::{self, Statement, Story};
use crate::{Spelling, count};

/// A run with its states. Nothing is made of them before it is asked for: runs can be long.
pub struct Trace {
    view: View,
    replayed: Replayed,
    /// The propositions of the property, with their expressions.
    propositions: Vec<(String, ExprId)>,
    /// The states of the observer, before the first step and after each; empty if there is none.
    observer: Vec<u32>,
    /// The names of the observer's states.
    names: Vec<String>,
    /// What goes wrong after the last step: actions of which the last one fails.
    failure: Vec<ActionId>,
    /// Whether it is time to come to an end.
    is_over: Arc<AtomicBool>,
    /// The stretches that were looked at last, by their numbers.
    recent: Mutex<Vec<(usize, Stretch)>>,
}

type Stretch = Arc<Vec<Values>>;

/// Two stretches are kept: steps are looked at together with those before them.
const MAX_RECENT: usize = 2;

/// An initial state with more variables than this is not shown whole as text.
const MAX_VARIABLES: usize = 60;

/// Of a longer run the middle is left out as text.
const MAX_STEPS: usize = 2000;

impl Clone for Trace {
    fn clone(&self) -> Trace {
        Trace {
            view: self.view.clone(),
            replayed: self.replayed.clone(),
            propositions: self.propositions.clone(),
            observer: self.observer.clone(),
            names: self.names.clone(),
            failure: self.failure.clone(),
            is_over: self.is_over.clone(),
            recent: Mutex::default(),
        }
    }
}

impl Trace {
    /// The trace of a run that was replayed on the system of this view.
    pub fn new(view: View, replayed: Replayed) -> Trace {
        Trace {
            view,
            replayed,
            propositions: Vec::new(),
            observer: Vec::new(),
            names: Vec::new(),
            failure: Vec::new(),
            is_over: Arc::default(),
            recent: Mutex::default(),
        }
    }

    /// The same, with propositions whose values are shown.
    #[must_use]
    pub fn with_propositions(mut self, propositions: Vec<(String, ExprId)>) -> Trace {
        self.propositions = propositions;
        self
    }

    /// The same, with the states of an observer, before the first step and after each; after the last of them,
    /// it stays where it is. A state without a name is called by its number, like `q3`.
    #[must_use]
    pub fn with_observer(mut self, states: Vec<u32>, names: Vec<String>) -> Trace {
        (self.observer, self.names) = (states, names);
        self
    }

    /// From when this becomes true, no more steps are written to documents.
    pub fn stop_when(&mut self, is_over: &Arc<AtomicBool>) {
        self.is_over = is_over.clone();
    }

    /// The system.
    pub fn system(&self) -> &ActionSystem {
        &self.view.system
    }

    /// The run.
    pub fn run(&self) -> &Run {
        self.replayed.run()
    }

    /// The values of the variables after a step; step 0 is the initial state.
    pub fn state(&self, step: usize) -> Values {
        let (number, place) = self.replayed.place(step);
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match recent.iter().position(|(known, _)| *known == number) {
            Some(at) => recent.remove(at),
            None => (number, Arc::new(self.replayed.stretch(self.system(), number))),
        };
        let state = known.1.get(place).cloned().unwrap_or_default();
        recent.truncate(MAX_RECENT - 1);
        recent.insert(0, known);
        state
    }

    /// Who can tell it in the words of the language, if somebody can.
    pub fn story(&self) -> Option<&dyn Story> {
        self.view.story.as_deref()
    }

    /// Lets somebody tell it in the words of the language.
    pub fn tell(&mut self, story: Arc<dyn Story>) {
        self.view.story = Some(story);
    }

    /// The action that goes wrong after the last step.
    pub fn fails(&mut self, action: ActionId) {
        // It may go wrong after others in the same step.
        let chain = story::failure(self.system(), self.replayed.last(), action);
        self.failure = chain.unwrap_or_else(|| vec![action]);
    }

    /// The statements of a step, from 1 on, if somebody can tell them.
    pub fn statements(&self, step: usize) -> Vec<Statement> {
        match (self.story(), step.checked_sub(1)) {
            (Some(story), Some(before)) => {
                story::of_step(story, self.system(), self.run().actions[before], &self.state(before))
            }
            _ => Vec::new(),
        }
    }

    /// The statements after the last step, of which the last one goes wrong.
    pub fn failing_statements(&self) -> Vec<Statement> {
        match self.story() {
            Some(story) => story::of_parts(story, self.system(), &self.failure, self.replayed.last()),
            None => Vec::new(),
        }
    }

    /// A step as lines: who does what, and what is printed.
    pub fn lines(&self, step: usize) -> Vec<String> {
        let Some(before) = step.checked_sub(1) else { return vec!["initial state".to_owned()] };
        let lines = told(&self.statements(step));
        if lines.is_empty() {
            vec![describe(self.system(), self.run().actions[before], &self.state(before))]
        } else {
            lines
        }
    }

    /// What is different after a step; cut if that is very much.
    fn details(&self, step: usize, spelling: &Spelling) -> Vec<String> {
        let now = &self.state(step);
        match (step.checked_sub(1).map(|before| self.state(before)), self.story()) {
            (None, Some(story)) => cut(story::details(story, now), spelling),
            (None, None) => details(self.system(), now, spelling),
            (Some(before), Some(story)) => cut(story::changes(story, &before, now), spelling),
            (Some(before), None) => cut(changes(self.system(), &before, now), spelling),
        }
    }

    /// Whether each proposition is true after a step.
    fn values(&self, step: usize) -> impl Iterator<Item = (&str, bool)> {
        let state = self.state(step);
        self.propositions.iter().map(move |(text, expr)| {
            // What could not be evaluated was not replayed.
            let value = reference::value(self.system(), *expr, &state);
            (text.as_str(), value.is_ok_and(|value| value != 0))
        })
    }

    /// What the observer's state after a step is called.
    fn observer(&self, step: usize) -> Option<Cow<'_, str>> {
        let state = *self.observer.get(step).or(self.observer.last())?;
        Some(match self.names.get(state as usize) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(format!("q{state}")),
        })
    }

    /// What the property sees of a step: propositions that flip, and where the observer goes.
    fn observed(&self, step: usize) -> Vec<String> {
        let mut items = Vec::new();
        let mut before = step.checked_sub(1).map(|before| self.values(before));
        for (text, value) in self.values(step) {
            match before.as_mut().and_then(Iterator::next) {
                None => items.push(format!("`{text}` is {value}")),
                Some((_, old)) if old != value => items.push(format!("`{text}` becomes {value}")),
                Some(_) => {}
            }
        }
        if let Some(now) = self.observer(step) {
            match step.checked_sub(1).and_then(|before| self.observer(before)) {
                None => items.push(format!("observer in {now}")),
                Some(old) if old != now => items.push(format!("observer: {old} -> {now}")),
                Some(_) => {}
            }
        }
        items
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.run().actions.len()
    }

    /// Whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Some of the steps, for a program to read. Step 0 is the initial state.
    pub fn steps(&self, range: RangeInclusive<usize>) -> StepsJson<'_> {
        let last = (*range.end()).min(self.len());
        StepsJson { trace: self, range: *range.start()..=last, n_left_out: Cell::new(0) }
    }

    /// The run as text: per step the processes, the action, and only what changed. The steps after
    /// `cycle_start`, if there is one, are marked: they repeat for ever.
    pub fn to_text(&self, cycle_start: Option<usize>, spelling: &Spelling) -> String {
        self.spelled(cycle_start, spelling).to_string()
    }

    /// The same, made while it is written.
    pub fn spelled<'t>(
        &'t self,
        cycle_start: Option<usize>,
        spelling: &'t Spelling,
    ) -> impl fmt::Display + 't {
        Shown(move |f: &mut fmt::Formatter<'_>| self.write_text(f, cycle_start, spelling))
    }

    pub(crate) fn write_text(
        &self,
        f: &mut fmt::Formatter<'_>,
        cycle_start: Option<usize>,
        spelling: &Spelling,
    ) -> fmt::Result {
        let digits = self.len().to_string().len();
        let hidden = if self.len() > MAX_STEPS { MAX_STEPS / 2..self.len() - MAX_STEPS / 2 } else { 0..0 };
        for step in 0..=self.len() {
            if hidden.contains(&step) {
                if step == hidden.start {
                    let n = count(hidden.len() as u64, "step");
                    let shows_all = &spelling.shows_all;
                    writeln!(f, "{:width$}  … {n} left out ({shows_all})", "", width = digits + 4)?;
                }
                continue;
            }
            write_numbered(f, step, &self.lines(step), digits + 4)?;
            let details = wrapped(&self.details(step, spelling), 90);
            for line in details.into_iter().chain(wrapped(&self.observed(step), 90)) {
                writeln!(f, "{:width$}  {line}", "", width = digits + 8)?;
            }
            if Some(step) == cycle_start {
                let line = "-- from here on, the following repeats for ever --";
                writeln!(f, "{:width$}  {line}", "", width = digits + 4)?;
            }
        }
        if !self.failure.is_empty() {
            let mut lines = told(&self.failing_statements());
            if lines.is_empty() {
                let label = |&action: &ActionId| {
                    format!("{}: {}", owners(self.system(), action), self.system().action_label(action))
                };
                lines = self.failure.iter().map(label).collect();
            }
            if let Some(last) = lines.last_mut() {
                last.push_str("  -- this fails");
            }
            write_numbered(f, self.len() + 1, &lines, digits + 4)?;
        }
        // Where a run ends, it matters where everybody is.
        if let (Some(story), None) = (self.story(), cycle_start.filter(|start| *start < self.len())) {
            for line in story.positions(self.replayed.last()) {
                writeln!(f, "{:width$}  {line}", "", width = digits + 4)?;
            }
        }
        Ok(())
    }
}

/// The first line with a number, the others below it.
fn write_numbered(f: &mut fmt::Formatter<'_>, number: usize, lines: &[String], width: usize) -> fmt::Result {
    for (index, line) in lines.iter().enumerate() {
        match index {
            0 => writeln!(f, "{number:>width$}  {line}")?,
            _ => writeln!(f, "{:width$}  {line}", "")?,
        }
    }
    Ok(())
}

/// Statements as lines, each followed by what it prints. What repeats itself is shown once.
pub fn told(statements: &[Statement]) -> Vec<String> {
    let mut lines = Vec::new();
    for statement in statements {
        lines.push(statement.to_text());
        let output = statement.output.iter().flat_map(|output| output.lines());
        lines.extend(output.map(|line| format!("  > {line}")));
    }
    folded(lines)
}

/// Longer rounds of a loop are not looked for.
const MAX_ROUND: usize = 32;

/// Fewer rounds than this are shown one by one.
const MIN_ROUNDS: usize = 5;

/// The rounds of a loop as its first one and how often it is repeated. The last line is always shown: it may be
/// what the step is about.
fn folded(lines: Vec<String>) -> Vec<String> {
    let Some((last, rest)) = lines.split_last() else { return lines };
    let mut shown = Vec::new();
    let mut from = 0;
    while from < rest.len() {
        let ahead = &rest[from..];
        let n_rounds = |length: usize| {
            let (round, others) = ahead.split_at(length);
            1 + others.chunks_exact(length).take_while(|other| *other == round).count()
        };
        let lengths = 1..=MAX_ROUND.min(ahead.len() / MIN_ROUNDS);
        let found = lengths.map(|length| (length, n_rounds(length))).find(|(_, n)| *n >= MIN_ROUNDS);
        let Some((length, n)) = found else {
            shown.push(ahead[0].clone());
            from += 1;
            continue;
        };
        shown.extend_from_slice(&ahead[..length]);
        let what = if length == 1 { "line".to_owned() } else { count(length as u64, "line") };
        shown.push(format!("… the last {what} again, {}", count(n as u64 - 1, "time")));
        from += length * n;
    }
    shown.push(last.clone());
    shown
}

/// A step as a program reads it; the initial state is a step without an action.
#[derive(Serialize)]
struct StepJson<'a> {
    action: Option<String>,
    process: Option<String>,
    state: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    propositions: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observer: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    statements: Vec<Statement>,
}

impl StepJson<'_> {
    /// What everybody sees of a step, or of an initial state.
    fn new(view: &View, step: Option<(ActionId, &[i64])>, after: &[i64]) -> Self {
        let (system, story) = (&*view.system, view.story.as_deref());
        let told = story.zip(step);
        StepJson {
            action: step.map(|(action, before)| reference::label(system, action, before)),
            process: step.map(|(action, _)| owners(system, action)),
            state: story.map_or_else(|| state_json(system, after), |story| items_json(story, after)),
            propositions: Map::new(),
            observer: None,
            statements: told.map_or_else(Vec::new, |(story, (action, before))| {
                story::of_step(story, system, action, before)
            }),
        }
    }
}

/// Whether a step is what a program was told, as far as everybody sees it; without an action, whether a state is.
pub fn is_told(told: &Value, view: &View, step: Option<(ActionId, &[i64])>, after: &[i64]) -> bool {
    let seen = serde_json::to_value(StepJson::new(view, step, after)).unwrap_or_default();
    ["action", "process", "state", "statements"].iter().all(|field| told[field] == seen[field])
}

/// Some of the steps of a trace, which are made while they are written. The first is written in any case.
pub struct StepsJson<'t> {
    trace: &'t Trace,
    range: RangeInclusive<usize>,
    n_left_out: Cell<usize>,
}

impl StepsJson<'_> {
    /// How many steps were not written, since it was time to come to an end.
    pub fn n_left_out(&self) -> usize {
        self.n_left_out.get()
    }
}

impl Serialize for StepsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let trace = self.trace;
        let step = |step: usize| {
            let before = step.checked_sub(1).map(|before| (trace.run().actions[before], trace.state(before)));
            let taken = before.as_ref().map(|(action, state)| (*action, &state[..]));
            StepJson {
                propositions: trace
                    .values(step)
                    .map(|(text, value)| (text.to_owned(), Value::from(value)))
                    .collect(),
                observer: trace.observer(step),
                ..StepJson::new(&trace.view, taken, &trace.state(step))
            }
        };
        let mut steps = serializer.serialize_seq(None)?;
        for number in self.range.clone() {
            if number > *self.range.start() && trace.is_over.load(Ordering::Relaxed) {
                self.n_left_out.set(*self.range.end() + 1 - number);
                break;
            }
            steps.serialize_element(&step(number))?;
        }
        steps.end()
    }
}

/// The processes and the label of a step from a state.
pub fn describe(system: &ActionSystem, step: ActionId, before: &[i64]) -> String {
    format!("{}: {}", owners(system, step), reference::label(system, step, before))
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

/// The parts of a state: numbers where they are such.
fn items_json(story: &dyn Story, values: &[i64]) -> Map<String, Value> {
    let value = |text: String| text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from);
    story.items(values).into_iter().map(|item| (item.name, value(item.value))).collect()
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
pub fn details(system: &ActionSystem, values: &[i64], spelling: &Spelling) -> Vec<String> {
    let all = system.variables().iter().zip(values);
    let details = all.map(|(variable, &value)| format!("{} = {}", variable.name, variable.show(value)));
    cut(details.collect(), spelling)
}

/// The first of very many.
pub fn cut(mut details: Vec<String>, spelling: &Spelling) -> Vec<String> {
    if details.len() > MAX_VARIABLES {
        let n_more = details.len() - MAX_VARIABLES;
        details.truncate(MAX_VARIABLES);
        details.push(format!("… and {n_more} more ({})", spelling.shows_all));
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

#[cfg(test)]
mod tests {
    use base::Budget;
    use model::{Action, Builder, Stmt};
    use replay::{Ending, Evidence, Question};

    use super::*;

    impl Trace {
        /// The trace of a run that is possible.
        pub(crate) fn replayed(system: ActionSystem, run: &Run) -> Trace {
            let evidence = Evidence::new(run, Ending::Open);
            let judged = replay::judge(&system, &Question::Possible, &evidence, &mut Budget::unlimited());
            let view = View { system: Arc::new(system), story: None };
            Trace::new(view, judged.expect("the run is possible").replayed)
        }
    }

    /// Rounds of a loop are shown once, whatever is around them; few are shown as they are, and the last line is.
    #[test]
    fn rounds_are_shown_once() {
        let lines = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let rounds = |n: usize| [vec!["i = 0"], ["i < 9", "i++"].repeat(n), vec!["done = 1"]].concat();
        let shown = lines(&["i = 0", "i < 9", "i++", "… the last 2 lines again, 8 191 times", "done = 1"]);
        assert_eq!(folded(lines(&rounds(8192))), shown);
        assert_eq!(folded(lines(&rounds(4))), lines(&rounds(4)));
        let fails_at_last = lines(&["x++", "… the last line again, 5 times", "x++"]);
        assert_eq!(folded(lines(&["x++"; 7])), fails_at_last);
        assert_eq!(folded(Vec::new()), Vec::<String>::new());
    }

    /// Whatever order they are asked for, and however long the run is, states are what they are.
    #[test]
    fn states_are_computed_again_where_they_are_looked_at() {
        const N: usize = 5000;
        let mut builder = Builder::new();
        let owner = builder.process("counter");
        let x = builder.variable(Variable::new("x", 0, N as i64));
        let label = builder.label("tick");
        let effect = vec![Stmt::Add(x, 1)];
        let tick = builder.action(Action { label, guards: Vec::new(), effect, owners: vec![owner] });
        builder.initial(&[0]);
        let run = Run { initial: 0, actions: vec![tick; N] };
        let trace = Trace::replayed(builder.finish().expect("it is well formed"), &run);
        let mut random = fastrand::Rng::with_seed(1993);
        let some = (0..2000).map(|_| random.usize(0..=N));
        for step in some.chain(0..=N).chain((0..=N).rev()) {
            assert_eq!(trace.state(step), [step as i64]);
        }
        let document = serde_json::to_value(trace.steps(0..=N)).expect("it is JSON");
        let shown = document.as_array().expect("it is a list").iter().map(|step| step["state"]["x"].as_i64());
        assert!(shown.eq((0..=N as i64).map(Some)), "all steps are there");
        let text = trace.to_text(None, &Spelling::default());
        assert!(text.contains("… 3 000 steps left out (the JSON document shows all)"), "{text}");
        assert!(!text.contains("x: 999 -> 1000") && text.contains("x: 4999 -> 5000"), "{text}");
    }
}
