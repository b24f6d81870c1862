//! `stubborn check --cross`: every method against every other.

use std::path::{Path, PathBuf};

use stubborn::cross::Disagreement;
use stubborn::{Question, Verdict};

use crate::args::CheckArguments;
use crate::exit::{Exit, Failure};
use crate::terminal::{self, Display};
use crate::{model, output};

pub(crate) fn run(arguments: &CheckArguments, questions: &[Question]) -> Result<Exit, Failure> {
    let options = arguments.options()?;
    let display = Display::new(arguments.engine.limits.quiet);
    let clock = model::clock(&arguments.engine.limits, &display);
    let mut session = model::open_whole(&arguments.model, &clock)?;
    let (report, disagreements) = session.cross(questions, &options, &clock)?;
    display.clear();
    output::tell(&clock, arguments.engine.limits.json, &report)?;
    for (number, case) in disagreements.iter().enumerate() {
        tell(&arguments.model.file, number + 1, case)?;
    }
    let says = |verdict: Verdict| report.results.iter().any(|result| result.verdict == verdict);
    Ok(match disagreements.is_empty() {
        false => Exit::Undecided,
        true if says(Verdict::Violated) => Exit::Violated,
        true if says(Verdict::Unknown) => Exit::Undecided,
        true => Exit::Success,
    })
}

/// Writes a small case on which two methods disagree, and says what to do with it.
fn tell(model: &Path, number: usize, case: &Disagreement) -> Result<(), Failure> {
    let stem = model.file_stem().unwrap_or_default().to_string_lossy();
    let extension = model.extension().unwrap_or_default().to_string_lossy();
    let path = PathBuf::from(format!("{stem}-disagreement-{number}.{extension}"));
    output::write_text(&path, &case.model)?;
    terminal::print_stderr(&case.to_text(&path));
    Ok(())
}
