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
    let display = Display::new(arguments.limits.quiet);
    let clock = model::clock(&arguments.limits, &display);
    let mut session = model::open_whole(&arguments.model, &clock)?;
    let (report, disagreements) = session.cross(questions, &options, &clock)?;
    display.clear();
    if arguments.limits.json {
        output::print_json(&clock, &report, None)?;
    } else {
        output::print(&clock, &report)?;
    }
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
    let (holds, violated) = &case.methods;
    let asked = match &case.asked {
        Some(Question::Ltl(formula)) => format!(" with --ltl '{}'", formula.text),
        Some(Question::Invariant(expression)) => format!(" with the invariant `{}`", expression.text),
        _ => String::new(),
    };
    terminal::print_stderr(&format!(
        "internal error: two methods disagree about `{}`.\n\
         `{holds}` says that it holds, `{violated}` that it is violated.\n\
         A small case was written to `{}`. Please report that file, this text, the output of\n\
         `stubborn --version`, and what your command prints for that file{asked}.\n",
        case.property,
        path.display(),
    ));
    Ok(())
}
