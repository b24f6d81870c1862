//! Answers in the words of the Model Checking Contest.

use std::fmt;

use language::Argument;
use petri::mcc::Examination;

use super::{ContestAnswer, Technique};

/// The techniques that the contest wants to be told.
impl fmt::Display for Technique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Technique::Explicit => "EXPLICIT STATE_COMPRESSION",
            Technique::Reduced => "EXPLICIT STATE_COMPRESSION STUBBORN_SETS",
            Technique::Simplified => "EXPLICIT STATE_COMPRESSION STUBBORN_SETS STRUCTURAL_REDUCTION",
            Technique::Walk => "EXPLICIT RANDOM_WALK",
            Technique::Diagram => "DECISION_DIAGRAMS",
            Technique::Parikh => "EXPLICIT PARIKH_WALK TOPOLOGICAL",
            Technique::Facts(Argument::Equation | Argument::Traps | Argument::Exhaustion) => {
                "TOPOLOGICAL STATE_EQUATION"
            }
            Technique::Facts(Argument::Siphons) => "TOPOLOGICAL SIPHONS_AND_TRAPS",
            Technique::Facts(_) => "TOPOLOGICAL",
        })
    }
}

impl ContestAnswer {
    /// The lines that the contest wants to read of the question with this id.
    pub fn lines(&self, examination: Examination, id: &str, how: Technique) -> String {
        match self {
            ContestAnswer::Truth(true) => format!("FORMULA {id} TRUE TECHNIQUES {how}\n"),
            ContestAnswer::Truth(false) => format!("FORMULA {id} FALSE TECHNIQUES {how}\n"),
            ContestAnswer::Number(number) => format!("FORMULA {id} {number} TECHNIQUES {how}\n"),
            ContestAnswer::Unknown if examination == Examination::StateSpace => "CANNOT_COMPUTE\n".to_owned(),
            ContestAnswer::Unknown => format!("FORMULA {id} CANNOT_COMPUTE\n"),
            ContestAnswer::Space { states, transitions, in_marking, in_place } => {
                let figures: [(&str, &dyn fmt::Display); 4] = [
                    ("STATES", states),
                    ("TRANSITIONS", transitions),
                    ("MAX_TOKEN_PER_MARKING", in_marking),
                    ("MAX_TOKEN_IN_PLACE", in_place),
                ];
                let line = |(what, figure): (&str, &dyn fmt::Display)| {
                    format!("STATE_SPACE {what} {figure} TECHNIQUES {how}\n")
                };
                figures.map(line).concat()
            }
        }
    }
}
