//! `stubborn mcc`: answers the questions of the Model Checking Contest, in its own words.
//!
//! Every answer is printed as soon as it is known. What the net itself says is answered at once. Then time
//! is shared out in rounds: first every question gets a little, so that easy ones are answered at once; what
//! is left is divided among the rest. For each question the net is made simpler. A run that answers a
//! question is replayed, on the original net, before it counts. See [`formulas`], [`markings`] and
//! [`liveness`].

mod formulas;
mod liveness;
mod markings;

use base::{Budget, Diagnostics, SourceMap};
use language::{Facts, Known, Model as _, Property, PropertyKind};
use model::ExprId;
use petri::mcc::Examination;
use petri::structural::Rules;

use crate::args::{Limits, MccArguments};
use crate::check_command::read_properties;
use crate::exit::{Exit, Failure};
use crate::input;
use crate::terminal::{self, Clock};

pub(crate) fn run(arguments: &MccArguments) -> Result<Exit, Failure> {
    let mut sources = SourceMap::new();
    let (model, examination, questions) = match load(arguments, &mut sources) {
        Ok(loaded) => loaded,
        Err(errors) if errors.iter().any(|error| error.code == "colored-net") => {
            return Ok(do_not_compete());
        }
        Err(errors) => return Err(Failure::new(sources, errors, false)),
    };
    if is_ctl(examination) {
        return Ok(do_not_compete());
    }
    terminal::catch_interrupts();
    let limits = Limits {
        json: false,
        quiet: arguments.quiet,
        max_states: None,
        max_memory: arguments.max_memory,
        timeout: arguments.timeout,
    };
    let mut clock = Clock::start(&limits);
    let facts = model.facts(&mut clock.part(0.1).budget(&limits)).ok().flatten();
    let rules = arguments.structural;
    clock.clear();
    let mut contest = Contest { model, facts, rules, limits, clock, all_answered: true };
    match examination {
        Examination::StateSpace => contest.state_space(),
        Examination::ReachabilityDeadlock => contest.deadlock(),
        _ => contest.answer_all(questions),
    }
    Ok(if contest.all_answered { Exit::Success } else { Exit::Undecided })
}

type Loaded = (petri::Model, Examination, Vec<Property>);

/// The net, and what is asked about it.
fn load(arguments: &MccArguments, sources: &mut SourceMap) -> Result<Loaded, Diagnostics> {
    let examination: Examination = arguments.examination.parse()?;
    let path = arguments.folder.join("model.pnml");
    let mut model = input::read_net(&path, input::read(&path)?, sources)?;
    let questions = if examination.has_file() && !is_ctl(examination) {
        let file = arguments.folder.join(format!("{examination}.xml"));
        read_properties(&mut model, &file, sources)?
    } else {
        let question = model.examination(examination.name(), &mut Budget::unlimited());
        question.map_err(input::mistakes)?.into_iter().collect()
    };
    Ok((model, examination, questions))
}

fn is_ctl(examination: Examination) -> bool {
    matches!(examination, Examination::CtlCardinality | Examination::CtlFireability)
}

fn do_not_compete() -> Exit {
    terminal::print_stdout("DO_NOT_COMPETE\n");
    Exit::Undecided
}

/// How an answer was found, as the contest wants to know it.
const EXPLICIT: &str = "EXPLICIT STATE_COMPRESSION";
const REDUCED: &str = "EXPLICIT STATE_COMPRESSION STUBBORN_SETS";
const SIMPLIFIED: &str = "EXPLICIT STATE_COMPRESSION STUBBORN_SETS STRUCTURAL_REDUCTION";
const BY_FACTS: &str = "TOPOLOGICAL";

/// In later rounds, questions may take more states.
const ROUNDS: [u64; 3] = [20_000, 1_000_000, u64::MAX];

struct Contest {
    model: petri::Model,
    facts: Option<Box<dyn Facts>>,
    rules: Rules,
    limits: Limits,
    clock: Clock,
    all_answered: bool,
}

impl Contest {
    /// Answers the questions, those of a kind together.
    fn answer_all(&mut self, questions: Vec<Property>) {
        let (mut about_markings, mut about_runs) = (Vec::new(), Vec::new());
        let mut maxima: Vec<(String, ExprId)> = Vec::new();
        for Property { name: id, kind: question, .. } in questions {
            let petri::Model { system, formulas, .. } = &mut self.model;
            let clock = self.clock.part(0.1);
            let budget = &mut clock.budget(&self.limits);
            let known = self
                .facts
                .as_ref()
                .map(|facts| facts.answer(&system.exprs, formulas, &question, budget).ok().flatten());
            match known.flatten() {
                Some(Known::Truth(truth)) => {
                    self.answer_truth(&id, truth, BY_FACTS);
                    continue;
                }
                Some(Known::Number(number)) => {
                    self.answer(&id, number, BY_FACTS);
                    continue;
                }
                None => {}
            }
            let system = self.model.parts().0;
            match question {
                PropertyKind::Invariant(expr) => {
                    about_markings.push(markings::Asked::new(system, id, expr, false));
                }
                PropertyKind::Possible(expr) => {
                    about_markings.push(markings::Asked::new(system, id, expr, true));
                }
                PropertyKind::Ltl(ltl) => {
                    let petri::Model { system, formulas, .. } = &mut self.model;
                    let simple = self
                        .facts
                        .as_ref()
                        .and_then(|facts| facts.simplify_ltl(&system.exprs, formulas, &ltl, budget).ok());
                    let simple = simple.unwrap_or_else(|| ltl.clone());
                    about_runs.push(formulas::Asked::new(id, ltl, simple));
                }
                PropertyKind::Maximum(expr) => maxima.push((id, expr)),
                PropertyKind::SomeInvariant(exprs) => self.one_of_all(&id, &exprs, false),
                PropertyKind::AllPossible(exprs) => self.one_of_all(&id, &exprs, true),
                PropertyKind::AllLive(_) => self.liveness(&id),
                _ => self.cannot_compute(&id),
            }
        }
        self.decide_markings(about_markings);
        self.decide_runs(about_runs);
        self.decide_maxima(maxima);
    }

    fn say(&mut self, line: &str) {
        self.clock.clear();
        terminal::print_stdout(&format!("{line}\n"));
    }

    fn answer(&mut self, id: &str, value: impl std::fmt::Display, techniques: &str) {
        self.say(&format!("FORMULA {id} {value} TECHNIQUES {techniques}"));
    }

    fn answer_truth(&mut self, id: &str, truth: bool, techniques: &str) {
        self.answer(id, if truth { "TRUE" } else { "FALSE" }, techniques);
    }

    fn cannot_compute(&mut self, id: &str) {
        self.all_answered = false;
        self.say(&format!("FORMULA {id} CANNOT_COMPUTE"));
    }
}
