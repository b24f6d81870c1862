//! The tools: which there are, what they take and answer, and one module for each.

mod check;
mod explain;
mod explore;
mod simulate;
mod translate;

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use stubborn::folder::Folder;
use stubborn::{Clock, Error, Limits, Watcher};

use crate::asked::{Bounds, usage};

/// What a call may use.
pub(crate) struct Workplace<'w> {
    /// The folder, if there is one.
    pub(crate) folder: Option<&'w Folder>,
    /// How far it may go at most.
    pub(crate) most: Limits,
    /// Somebody who looks on, and may end it.
    pub(crate) watcher: &'w dyn Watcher,
}

impl<'w> Workplace<'w> {
    /// Starts the clock of a call.
    fn clock(&self, bounds: Bounds) -> Result<Clock<'w>, Error> {
        Ok(Clock::start(&bounds.within(&self.most)?).watched_by(self.watcher))
    }
}

/// Does what is asked, with these arguments.
type Work = fn(Map<String, Value>, &Workplace<'_>) -> Result<Value, Error>;

/// A tool, and who does its work.
pub(crate) struct Known {
    pub(crate) tool: Tool,
    pub(crate) work: Work,
}

/// All tools.
pub(crate) fn all() -> Vec<Known> {
    vec![
        known::<check::Arguments, check::Answer>(
            "check",
            "Check properties",
            "Checks properties of a concurrent model: those that it declares, formulas of linear temporal logic, \
             invariants, freedom from deadlock. Answers holds, violated (with a run that shows it) or unknown (a limit \
             was reached: allow more).",
            |arguments, place| answered(arguments, place, check::check),
        ),
        known::<explore::Arguments, explore::Answer>(
            "explore",
            "Explore the state space",
            "Counts states, transitions and deadlocks of a model, and lists its processes, its declared properties and \
             the parts of its states. With `fold`, also shows the state space as a small graph of classes of states.",
            |arguments, place| answered(arguments, place, explore::explore),
        ),
        known::<simulate::Arguments, simulate::Answer>(
            "simulate",
            "Walk through a model",
            "Walks through a model: follows a path, goes on at random or to a state that is looked for, and tells the \
             state there and what can happen next. To go on, call it again with `path` and the `step` of a choice added.",
            |arguments, place| answered(arguments, place, simulate::simulate),
        ),
        known::<explain::Arguments, explain::Answer>(
            "explain",
            "Explain an answer",
            "Checks properties and explains the answers in words: how a run violates a property, who waits for what; \
             with `why`, whether a property that holds holds for a suspicious reason.",
            |arguments, place| answered(arguments, place, explain::explain),
        ),
        known::<translate::Arguments, translate::Answer>(
            "translate",
            "Translate a formula",
            "Translates a formula of linear temporal logic into an automaton, in the HOA format, as DOT or as a never \
             claim for Spin.",
            |arguments, place| answered(arguments, place, translate::translate),
        ),
    ]
}

fn known<A: JsonSchema, R: JsonSchema>(
    name: &'static str,
    title: &'static str,
    about: &'static str,
    work: Work,
) -> Known {
    let hints = ToolAnnotations::new().read_only(true).open_world(false);
    let tool = Tool::new(name, about, schema::<A>())
        .with_title(title)
        .with_raw_output_schema(schema::<R>())
        .with_annotations(hints);
    Known { tool, work }
}

/// The schema of a type.
fn schema<T: JsonSchema>() -> Arc<JsonObject> {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    Arc::new(schema.as_object_mut().map(std::mem::take).unwrap_or_default())
}

/// Reads the arguments, does the work, and writes the answer.
fn answered<A: DeserializeOwned, R: Serialize>(
    arguments: Map<String, Value>,
    place: &Workplace<'_>,
    work: impl FnOnce(&A, &Workplace<'_>) -> Result<R, Error>,
) -> Result<Value, Error> {
    let arguments: A = serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        usage(&format!("bad arguments: {error}"), "the input schema of the tool says what it takes")
    })?;
    let answer = work(&arguments, place)?;
    serde_json::to_value(answer)
        .map_err(|error| usage(&format!("internal error: {error}"), "please report it"))
}
