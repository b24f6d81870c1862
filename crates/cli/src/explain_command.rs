//! `stubborn explain`: counterexamples in words, of a check that is made now or was made earlier.

use std::path::Path;

use stubborn::report::explain::Unexplained;
use stubborn::report::{Explanations, Verdict};

use crate::args::ExplainArguments;
use crate::check_command::{self, Telling};
use crate::exit::{Exit, Failure};
use crate::spelling::SPELLING;
use crate::terminal::Display;
use crate::{model, output};

pub(crate) fn run(arguments: &ExplainArguments) -> Result<Exit, Failure> {
    match &arguments.input {
        None => check_command::run(&arguments.check, Telling::Words),
        Some(path) => explain_earlier(arguments, path),
    }
}

/// Explains the runs of a JSON document.
fn explain_earlier(arguments: &ExplainArguments, path: &Path) -> Result<Exit, Failure> {
    let limits = &arguments.check.engine.limits;
    let bad = |reason: &str| {
        let message = format!("`{}` is not what `check --json` prints: {reason}", path.display());
        Failure::plain("bad-result", message)
    };
    let display = Display::new(limits.quiet);
    let clock = model::clock(limits, &display);
    let mut budget = clock.budget();
    let document = model::read_json(path, &mut budget, |error| bad(&error))?;
    let session = model::open_whole(&arguments.check.model, &clock)?;
    let system = Some(session.model().system());
    let explained = Explanations::of_json(&document, system, &SPELLING, &mut budget);
    let mut explanations = explained.map_err(|why| match why {
        Unexplained::Wrong(reason) => bad(&reason),
        Unexplained::Limit(limit) => Failure::Limit(limit.to_string()),
    })?;
    let asked = &arguments.check.property;
    explanations.results.retain(|explained| asked.is_empty() || asked.contains(&explained.property));
    output::tell(&clock, limits.json, &explanations)?;
    let is_violated = explanations.results.iter().any(|explained| explained.verdict == Verdict::Violated);
    Ok(if is_violated { Exit::Violated } else { Exit::Success })
}
