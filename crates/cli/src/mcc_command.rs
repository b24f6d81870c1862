//! `stubborn mcc`: answers the questions of the Model Checking Contest, in its own words. Every answer is
//! printed as soon as it is known.

use stubborn::petri::mcc::Examination;
use stubborn::{ContestAnswer, ContestOptions, ModelOptions, Threads};

use crate::args::MccArguments;
use crate::exit::{Exit, Failure};
use crate::model;
use crate::terminal::{self, Display};

pub(crate) fn run(arguments: &MccArguments) -> Result<Exit, Failure> {
    let examination: Examination = arguments.examination.parse()?;
    let display = Display::new(arguments.quiet);
    let clock = model::clock(&arguments.resources, &display);
    let clock = match arguments.threads.number() {
        Some(n) => clock.with_threads(Threads::new(n)),
        None => clock,
    };
    let path = arguments.folder.join("model.pnml");
    let Ok(mut session) = model::open_as(&path, &ModelOptions::default(), &clock)? else {
        terminal::print_stdout("CANNOT_COMPUTE\n");
        return Ok(Exit::Undecided);
    };
    if matches!(examination, Examination::CtlCardinality | Examination::CtlFireability) {
        terminal::print_stdout("DO_NOT_COMPETE\n");
        return Ok(Exit::Undecided);
    }
    let mut all_answered = true;
    let folder = &arguments.folder;
    let how = ContestOptions { structural: arguments.structural.clone(), diagrams: !arguments.no_diagrams };
    session.contest(examination, folder, &how, &clock, &mut |id, answer, technique| {
        display.clear();
        all_answered &= *answer != ContestAnswer::Unknown;
        terminal::print_stdout(&answer.lines(examination, id, technique));
    })?;
    Ok(if all_answered { Exit::Success } else { Exit::Undecided })
}
