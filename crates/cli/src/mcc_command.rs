//! `stubborn mcc`: answers the questions of the Model Checking Contest, in its own words. Every answer is
//! printed as soon as it is known.

use stubborn::petri::mcc::Examination;
use stubborn::{Argument, ContestAnswer, ContestOptions, ModelOptions, Session, Technique, Threads};

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
    let mut session = match Session::open_within(&path, &ModelOptions::default(), &clock) {
        Ok(session) => session,
        Err(error) if error.limit().is_some() => {
            terminal::print_stdout("CANNOT_COMPUTE\n");
            return Ok(Exit::Undecided);
        }
        Err(error) => return Err(error.into()),
    };
    model::print_warnings(&session, 0);
    if matches!(examination, Examination::CtlCardinality | Examination::CtlFireability) {
        return Ok(do_not_compete());
    }
    let mut all_answered = true;
    let folder = &arguments.folder;
    let how = ContestOptions { structural: arguments.structural.clone(), diagrams: !arguments.no_diagrams };
    session.contest(examination, folder, &how, &clock, &mut |id, answer, technique| {
        display.clear();
        all_answered &= *answer != ContestAnswer::Unknown;
        terminal::print_stdout(&lines(examination, id, answer, technique));
    })?;
    Ok(if all_answered { Exit::Success } else { Exit::Undecided })
}

fn do_not_compete() -> Exit {
    terminal::print_stdout("DO_NOT_COMPETE\n");
    Exit::Undecided
}

/// An answer in the contest's words.
fn lines(examination: Examination, id: &str, answer: &ContestAnswer, technique: Technique) -> String {
    let how = match technique {
        Technique::Explicit => "EXPLICIT STATE_COMPRESSION",
        Technique::Reduced => "EXPLICIT STATE_COMPRESSION STUBBORN_SETS",
        Technique::Simplified => "EXPLICIT STATE_COMPRESSION STUBBORN_SETS STRUCTURAL_REDUCTION",
        Technique::Walk => "EXPLICIT RANDOM_WALK",
        Technique::Parikh => "EXPLICIT PARIKH_WALK TOPOLOGICAL",
        Technique::Facts(Argument::Equation | Argument::Traps | Argument::Exhaustion) => {
            "TOPOLOGICAL STATE_EQUATION"
        }
        Technique::Diagram => "DECISION_DIAGRAMS",
        Technique::Facts(Argument::Siphons) => "TOPOLOGICAL SIPHONS_AND_TRAPS",
        Technique::Facts(_) => "TOPOLOGICAL",
    };
    match answer {
        ContestAnswer::Truth(true) => format!("FORMULA {id} TRUE TECHNIQUES {how}\n"),
        ContestAnswer::Truth(false) => format!("FORMULA {id} FALSE TECHNIQUES {how}\n"),
        ContestAnswer::Number(number) => format!("FORMULA {id} {number} TECHNIQUES {how}\n"),
        ContestAnswer::Unknown if examination == Examination::StateSpace => "CANNOT_COMPUTE\n".to_owned(),
        ContestAnswer::Unknown => format!("FORMULA {id} CANNOT_COMPUTE\n"),
        ContestAnswer::Space { states, transitions, in_marking, in_place } => {
            let figures: [(&str, &dyn std::fmt::Display); 4] = [
                ("STATES", states),
                ("TRANSITIONS", transitions),
                ("MAX_TOKEN_PER_MARKING", in_marking),
                ("MAX_TOKEN_IN_PLACE", in_place),
            ];
            let line = |(what, figure): (&str, &dyn std::fmt::Display)| {
                format!("STATE_SPACE {what} {figure} TECHNIQUES {how}\n")
            };
            figures.map(line).concat()
        }
    }
}
