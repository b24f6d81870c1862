//! A run as it is told: who does what in each step, and what is true then, by names.
//!
//! A [`Record`] is made of the steps of the JSON document and of nothing else, so that it can be made of a run
//! that was just found as well as of one that was written to a file. Names and values are kept once. Of a
//! very long run, a record may leave out the middle.

use std::collections::HashMap;
use std::ops::Range;

use model::ActionSystem;
use serde_json::{Map, Value};

use crate::outcome::{Counterexample, Kind};
use crate::story;
use crate::trace::Trace;

/// Texts, each kept once.
#[derive(Clone, Debug, Default)]
struct Texts {
    all: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Texts {
    fn number(&mut self, text: &str) -> usize {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        self.all.push(text.to_owned());
        self.numbers.insert(text.to_owned(), self.all.len() - 1);
        self.all.len() - 1
    }
}

/// How a run goes on after its last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The steps after so many repeat for ever.
    Cycle(usize),
    /// Nothing can happen any more; if it must be infinite, its last state repeats for ever.
    Deadlock,
    /// What matters has happened.
    Prefix,
    /// The next step goes wrong.
    Error,
}

/// A step that is told; the first one, which nobody does, is the initial state.
#[derive(Clone, Debug)]
pub struct Step {
    /// How many steps of the run lead here.
    pub number: usize,
    /// The processes that do it, by number.
    pub processes: Vec<usize>,
    /// What is done, in one line.
    pub action: Option<String>,
    /// Where it stands in the text of the model, and what it prints.
    pub notes: Vec<String>,
    /// The statements it consists of, if it is told by such.
    pub(super) statements: Vec<Told>,
    /// The state of the observer.
    pub observer: Option<String>,
    /// One text per variable that was known by then; 0 is that of a variable that is not there.
    values: Vec<u32>,
    /// One truth value per proposition.
    truths: Vec<bool>,
}

/// A statement of a step.
#[derive(Clone, Debug)]
pub(super) struct Told {
    /// The process that executes it, by number.
    pub(super) process: usize,
    /// How it reads.
    pub(super) text: String,
    /// Where it stands, like `line 3`.
    pub(super) place: Option<String>,
}

/// A run with names.
#[derive(Clone, Debug)]
pub struct Record {
    /// How it goes on.
    pub ending: Ending,
    /// The propositions, by their texts.
    pub propositions: Vec<String>,
    /// The steps that are told.
    pub steps: Vec<Step>,
    /// Number of steps of the run.
    pub n_steps: usize,
    /// What goes wrong after the last step, if that is told by statements.
    pub failing: Option<String>,
    processes: Texts,
    variables: Texts,
    texts: Texts,
}

/// A record has no more values of variables than this.
const MAX_VALUES: usize = 4_000_000;

/// Steps are read in pieces of about this many values, so that no long run is in memory as JSON.
const PIECE: usize = 100_000;

impl Record {
    /// The record of a run, of at most so many steps; of fewer if there are very many variables.
    pub fn of_run(run: &Counterexample, max_steps: usize) -> Record {
        let n_steps = run.trace.len();
        let mut record = Record::new(ending(run.kind, run.cycle_start, n_steps), n_steps);
        record.tell(&run.trace, 0..1);
        let max_steps = max_steps.min(MAX_VALUES / record.variables().len().max(1)).max(2);
        let hidden = hidden(n_steps, max_steps);
        record.tell(&run.trace, 1..hidden.start);
        record.tell(&run.trace, hidden.end..n_steps + 1);
        record.failing = failing(&serde_json::to_value(run.trace.failing_statements()).unwrap_or_default());
        record
    }

    /// The record of a counterexample in the JSON document of a check; nothing if it is none.
    pub fn of_json(counterexample: &Value) -> Option<Record> {
        let list = |name: &str| counterexample.get(name)?.as_array();
        let (prefix, cycle) = (list("prefix")?, list("cycle")?);
        let (before, n_steps) = (prefix.len().checked_sub(1)?, prefix.len() - 1 + cycle.len());
        let kind = Kind::named(counterexample.get("kind")?.as_str()?).unwrap_or(Kind::Prefix);
        let cycle_start = (kind == Kind::Lasso).then_some(before);
        let mut record = Record::new(ending(kind, cycle_start, n_steps), n_steps);
        for (number, step) in prefix.iter().chain(cycle).enumerate() {
            record.push(number, step);
        }
        record.failing = counterexample.get("failing").and_then(failing);
        Some(record)
    }

    /// The same with at most so many steps: the middle is left out.
    #[must_use]
    pub(crate) fn cut(mut self, max_steps: usize) -> Record {
        let hidden = hidden(self.n_steps, max_steps);
        self.steps.retain(|step| !hidden.contains(&step.number));
        self
    }

    fn new(ending: Ending, n_steps: usize) -> Record {
        let mut texts = Texts::default();
        texts.number("–");
        Record {
            ending,
            propositions: Vec::new(),
            steps: Vec::new(),
            n_steps,
            failing: None,
            processes: Texts::default(),
            variables: Texts::default(),
            texts,
        }
    }

    fn tell(&mut self, trace: &Trace, steps: Range<usize>) {
        let n_steps = PIECE / self.variables().len().max(400) + 1;
        for start in steps.clone().step_by(n_steps) {
            let end = steps.end.min(start + n_steps);
            let piece = serde_json::to_value(trace.steps(start..=end - 1)).unwrap_or_default();
            for (number, step) in (start..end).zip(piece.as_array().into_iter().flatten()) {
                self.push(number, step);
            }
        }
    }

    fn push(&mut self, number: usize, step: &Value) {
        let object = |name: &str| step.get(name).and_then(Value::as_object);
        let values = object("state").map_or(Vec::new(), |state| self.values(state));
        let truths = object("propositions");
        if self.steps.is_empty() {
            self.propositions = truths.into_iter().flat_map(|truths| truths.keys().cloned()).collect();
        }
        let holds = |text: &String| truths.and_then(|truths| truths.get(text)?.as_bool()).unwrap_or(false);
        let truths = self.propositions.iter().map(holds).collect();
        let text = |name: &str| Some(step.get(name)?.as_str()?.to_owned());
        let names = text("process").unwrap_or_default();
        let processes = names_in(&names).into_iter().map(|name| self.processes.number(name)).collect();
        let statements = step.get("statements").map_or(Vec::new(), statements);
        let action = match statements.as_slice() {
            [] => text("action"),
            statements => Some(statements.iter().map(|one| one.text).collect::<Vec<_>>().join("; ")),
        };
        let notes = statements.iter().flat_map(Statement::notes).collect();
        let statements = statements
            .iter()
            .map(|one| Told {
                process: self.processes.number(one.process),
                text: one.text.to_owned(),
                place: one.place(),
            })
            .collect();
        let observer = text("observer");
        self.steps.push(Step { number, processes, action, notes, statements, observer, values, truths });
    }

    fn values(&mut self, state: &Map<String, Value>) -> Vec<u32> {
        let mut values = vec![0; self.variables().len().max(state.len())];
        for (name, value) in state {
            let at = self.variables.number(name);
            values.resize(values.len().max(at + 1), 0);
            values[at] = match value {
                Value::String(text) => self.texts.number(text),
                value => self.texts.number(&value.to_string()),
            } as u32;
        }
        values
    }

    /// The variables, by name.
    pub fn variables(&self) -> &[String] {
        &self.variables.all
    }

    /// The processes that do something, in the order of their first steps.
    pub fn processes(&self) -> &[String] {
        &self.processes.all
    }

    /// The number of a process, if it does something.
    pub fn process_number(&self, name: &str) -> Option<usize> {
        self.processes.numbers.get(name).copied()
    }

    /// Of each process, the last step that it takes part in, as it is told.
    pub fn last_moves(&self) -> Vec<usize> {
        let mut last = vec![0; self.processes().len()];
        for (index, step) in self.steps.iter().enumerate() {
            step.processes.iter().for_each(|&process| last[process] = index);
        }
        last
    }

    /// How many steps are left out before this one.
    pub fn n_hidden_before(&self, index: usize) -> usize {
        match index.checked_sub(1) {
            Some(before) => self.steps[index].number - self.steps[before].number - 1,
            None => 0,
        }
    }

    /// Whether steps are left out.
    pub fn is_cut(&self) -> bool {
        self.steps.len() <= self.n_steps
    }

    /// What is done in a step.
    pub fn action(&self, index: usize) -> Option<&str> {
        self.steps[index].action.as_deref()
    }

    /// The state of the observer after a step.
    pub fn observer(&self, index: usize) -> Option<&str> {
        self.steps[index].observer.as_deref()
    }

    /// The names of those who do a step.
    pub fn who(&self, index: usize) -> impl Iterator<Item = &str> {
        self.steps[index].processes.iter().map(|&process| self.processes.all[process].as_str())
    }

    fn number(&self, index: usize, variable: usize) -> u32 {
        self.steps[index].values.get(variable).copied().unwrap_or(0)
    }

    /// The value of a variable after a step.
    pub fn value(&self, index: usize, variable: usize) -> &str {
        &self.texts.all[self.number(index, variable) as usize]
    }

    /// The variables whose values differ from those at the step that is told before.
    pub fn changed(&self, index: usize) -> impl Iterator<Item = usize> {
        let before = index.saturating_sub(1);
        (0..self.variables().len()).filter(move |&at| self.number(index, at) != self.number(before, at))
    }

    /// Whether a proposition is true after a step.
    pub fn holds(&self, index: usize, proposition: usize) -> bool {
        self.steps[index].truths[proposition]
    }

    /// The values of a step as numbers, if it is a state of the system, as far as names tell.
    pub fn state_of(&self, system: &ActionSystem, index: usize) -> Option<Vec<i64>> {
        if self.variables().len() != system.variables().len() {
            return None;
        }
        let mut state = Vec::with_capacity(self.variables().len());
        for (at, variable) in system.variables().iter().enumerate() {
            if variable.name != self.variables()[at] {
                return None;
            }
            let text = self.value(index, at);
            let mut places = variable.value_names.iter().flat_map(|names| (variable.lo..).zip(&**names));
            let place = places.find(|(_, name)| *name == text);
            if place.is_some() && places.any(|(_, name)| name == text) {
                return None; // Two values go by the same name.
            }
            state.push(place.map_or_else(|| text.parse().ok(), |(value, _)| Some(value))?);
        }
        Some(state)
    }
}

fn ending(kind: Kind, cycle_start: Option<usize>, n_steps: usize) -> Ending {
    match (kind, cycle_start) {
        (_, Some(start)) if start < n_steps => Ending::Cycle(start),
        (_, Some(_)) | (Kind::Deadlock, None) => Ending::Deadlock,
        (Kind::Error, None) => Ending::Error,
        _ => Ending::Prefix,
    }
}

/// The steps that are left out so that not too many are told.
fn hidden(n_steps: usize, max_steps: usize) -> Range<usize> {
    if n_steps < max_steps {
        return n_steps + 1..n_steps + 1;
    }
    let first = (max_steps / 2).max(1);
    first..n_steps + 1 - (max_steps - first)
}

/// A statement, as the JSON document has it.
struct Statement<'v> {
    process: &'v str,
    text: &'v str,
    file: Option<&'v str>,
    line: Option<u64>,
    output: Option<&'v str>,
}

impl Statement<'_> {
    fn place(&self) -> Option<String> {
        self.line.map(|line| story::place(self.file, line as usize))
    }

    fn notes(&self) -> impl Iterator<Item = String> {
        let place = self.place().map(|place| format!("{}, {place}", self.process));
        place.into_iter().chain(self.output.map(|output| format!("prints {}", output.trim_end())))
    }
}

fn statements(list: &Value) -> Vec<Statement<'_>> {
    list.as_array().map_or(Vec::new(), |list| list.iter().filter_map(read_statement).collect())
}

fn read_statement(value: &Value) -> Option<Statement<'_>> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let line = value.get("line").and_then(Value::as_u64);
    Some(Statement {
        process: text("process").unwrap_or_default(),
        text: text("text")?,
        file: text("file"),
        line,
        output: text("output"),
    })
}

/// The last of the statements, which goes wrong.
fn failing(list: &Value) -> Option<String> {
    let statements = statements(list);
    let last = statements.last()?;
    let place = last.place().map_or(String::new(), |place| format!(", {place}"));
    Some(format!("`{}` ({}{place})", last.text, last.process))
}

/// The names of a list like `A, B[1, 2]`: commas between brackets belong to names.
fn names_in(list: &str) -> Vec<&str> {
    let (mut names, mut depth, mut start) = (Vec::new(), 0usize, 0);
    for (at, letter) in list.char_indices() {
        match letter {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                names.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    names.push(list[start..].trim());
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_separated_by_commas_outside_of_brackets() {
        assert_eq!(names_in("A, B[1, 2], C(3)"), ["A", "B[1, 2]", "C(3)"]);
        assert_eq!(names_in(""), [""; 0]);
        assert_eq!(names_in("A]], B"), ["A]]", "B"]);
    }

    #[test]
    fn the_middle_of_a_long_run_is_left_out() {
        assert!(hidden(3, 4).is_empty() && hidden(3, 4).start == 4);
        assert_eq!(hidden(4, 4), 2..3);
        assert_eq!(hidden(100_000, 10), 5..99_996);
    }

    #[test]
    fn a_record_is_read_from_json() {
        let step = |action: Value, x: i64, p: bool| {
            json!({
                "action": action, "process": "A, B", "state": {"x": x, "at": "home"}, "propositions": {"p": p}
            })
        };
        let mut late = step("turn".into(), 1, true);
        late["state"]["new"] = json!([1, 2]);
        late["statements"] =
            json!([{"text": "a = 1", "process": "A", "line": 3, "output": "hi\n"}, {"text": "b = 2"}]);
        let document = json!({
            "kind": "lasso",
            "prefix": [step(Value::Null, 0, false), step("go".into(), 1, true)],
            "cycle": [late],
        });
        let record = Record::of_json(&document).unwrap();
        assert_eq!((record.ending, record.n_steps, record.is_cut()), (Ending::Cycle(1), 2, false));
        assert_eq!(record.who(1).collect::<Vec<_>>(), ["A", "B"]);
        assert_eq!((record.action(0), record.action(1)), (None, Some("go")));
        assert_eq!(record.action(2), Some("a = 1; b = 2"));
        assert_eq!(record.steps[2].notes, ["A, line 3", "prints hi"]);
        assert_eq!((record.value(1, 0), record.value(1, 1), record.value(1, 2)), ("1", "home", "–"));
        assert_eq!(record.value(2, 2), "[1,2]");
        assert_eq!([1, 2].map(|step| record.changed(step).collect::<Vec<_>>()), [[0], [2]]);
        assert!(!record.holds(0, 0) && record.holds(2, 0));
        assert!(Record::of_json(&json!({"kind": "lasso", "prefix": [], "cycle": []})).is_none());
        assert!(Record::of_json(&json!(3)).is_none());
    }
}
