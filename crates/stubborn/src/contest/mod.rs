//! Answers the questions of the Model Checking Contest: many at once, in a time that is shared out.
//!
//! What a random walk finds, and what is known of the net without a search, is answered at once. Then time is shared out in rounds:
//! first every question gets a little, so that easy ones are answered at once; what is left is divided among the
//! rest. For each question the net is made simpler. A run that answers a question is replayed, on the original
//! net, before it counts. See `formulas`, `markings`, `bounds`, `strolls`, `diagrams` and `liveness`.
//!
//! Questions of a round are answered several at once, if there are several threads ([`across`](crate::across)), and told in their order.

mod bounds;
mod diagrams;
mod formulas;
mod liveness;
mod markings;
mod strolls;
mod words;

use base::{Limit, Natural};
use check::{Exploration, Stop};
use language::{Argument, Decided, Facts, Known, Model, Property, PropertyKind, Rules};
use model::ExprId;
use petri::mcc::Examination;

use crate::Error;
use crate::across::{Across, Answered};
use crate::clock::Clock;
use crate::error::Trouble;
use crate::files;
use crate::options::Options;
use crate::session::Session;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContestAnswer {
    /// Whether it is so.
    Truth(bool),
    /// A greatest value.
    Number(i64),
    /// How large the state space is.
    Space {
        /// Markings.
        states: Natural,
        /// Edges.
        transitions: Natural,
        /// Tokens in a marking, at most.
        in_marking: i128,
        /// Tokens in a place, at most.
        in_place: i64,
    },
    /// It could not be found out in time.
    Unknown,
}

/// How an answer was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Technique {
    /// All states were looked at.
    Explicit,
    /// A part of the states was, by stubborn sets.
    Reduced,
    /// The same in a simpler net.
    Simplified,
    /// By a random walk.
    Walk,
    /// By a walk that a solution of the state equation led.
    Parikh,
    /// By a decision diagram of all states.
    Diagram,
    /// By the structure of the net: what shows it.
    Facts(Argument),
}

/// How questions may be answered.
#[derive(Clone, Debug)]
pub struct ContestOptions {
    /// Which rules may make nets smaller.
    pub structural: Rules,
    /// Whether decision diagrams are made.
    pub diagrams: bool,
}

impl Default for ContestOptions {
    /// However they can be answered.
    fn default() -> ContestOptions {
        ContestOptions { structural: Rules::all(), diagrams: true }
    }
}

/// Who hears the answers as they are found: the id of the question, the answer, and how it was found.
pub type Hears<'h> = dyn FnMut(&str, &ContestAnswer, Technique) + Send + 'h;

/// In later rounds, questions may take more states.
const ROUNDS: [u64; 3] = [20_000, 1_000_000, u64::MAX];

impl Session {
    /// Answers an examination about a net, whose questions are in a folder if they are in a file.
    /// What is not known when the clock has run down is [`ContestAnswer::Unknown`].
    ///
    /// # Errors
    /// There is no such file, or what is wrong with it; or the model is no net.
    pub fn contest(
        &mut self,
        examination: Examination,
        folder: &std::path::Path,
        how: &ContestOptions,
        clock: &Clock<'_>,
        hears: &mut Hears<'_>,
    ) -> Result<(), Error> {
        let clock = self.clock(clock);
        self.examine(examination, folder, how, clock, hears).map_err(|trouble| self.error(trouble))
    }

    fn examine(
        &mut self,
        examination: Examination,
        folder: &std::path::Path,
        how: &ContestOptions,
        clock: Clock<'_>,
        hears: &mut Hears<'_>,
    ) -> Result<(), Trouble> {
        let questions = if examination.has_file() {
            let file = files::file(&folder.join(format!("{examination}.xml")), &clock.budget())?;
            self.model.contest_file(file, &mut self.sources, &mut clock.budget())?
        } else {
            self.model.examination(examination.name(), &mut clock.budget())?.into_iter().collect()
        };
        let facts = self.model.facts(&mut clock.part(0.1).budget()).ok().flatten();
        let options = Options { structural: how.structural.clone(), ..Options::default() };
        let diagrams = how.diagrams;
        let mut contest = Contest { model: &mut self.model, facts, options, diagrams, clock, hears };
        match examination {
            Examination::StateSpace => contest.state_space(examination.name()),
            Examination::ReachabilityDeadlock => {
                contest.deadlock(examination.name(), questions.first().map(|question| &question.kind));
            }
            _ => contest.answer_all(questions),
        }
        Ok(())
    }
}

struct Contest<'c> {
    model: &'c mut Box<dyn Model>,
    facts: Option<Box<dyn Facts>>,
    options: Options,
    /// Whether decision diagrams are made.
    diagrams: bool,
    clock: Clock<'c>,
    hears: &'c mut Hears<'c>,
}

/// What does not change while questions are answered.
#[derive(Clone, Copy)]
struct Parts<'p> {
    facts: Option<&'p dyn Facts>,
    options: &'p Options,
}

/// Answers a question, on a model of its own.
struct Solver<'s> {
    model: &'s mut Box<dyn Model>,
    parts: Parts<'s>,
}

/// Why a question is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// There was not enough memory.
    Memory,
    Otherwise,
}

impl Open {
    fn at(limit: Limit) -> Open {
        match limit {
            Limit::Memory(_) | Limit::OutOfMemory => Open::Memory,
            _ => Open::Otherwise,
        }
    }

    fn after(explored: &Exploration) -> Open {
        match explored.stop {
            Some(Stop::Limit(limit)) => Open::at(limit),
            _ => Open::Otherwise,
        }
    }
}

impl From<Trouble> for Open {
    fn from(trouble: Trouble) -> Open {
        match trouble {
            Trouble::Limit(limit) => Open::at(limit),
            _ => Open::Otherwise,
        }
    }
}

impl<T: Send> Answered for Result<T, Open> {
    fn is_short(&self) -> bool {
        matches!(self, Err(Open::Memory))
    }
}

impl<'c> Contest<'c> {
    fn solver(&mut self) -> Solver<'_> {
        let parts = Parts { facts: self.facts.as_deref(), options: &self.options };
        Solver { model: self.model, parts }
    }

    /// What questions are answered with, several at once: how, on what, by what, and who hears the answers.
    fn lanes(&mut self) -> (Across<'_, 'c>, &mut Box<dyn Model>, Parts<'_>, &mut Hears<'c>) {
        let Contest { model, facts, options, clock, hears, .. } = self;
        let across = Across { clock, least_bytes: options.least_bytes(clock.held()) };
        (across, model, Parts { facts: facts.as_deref(), options }, hears)
    }
}

impl Contest<'_> {
    /// Answers the questions, those of a kind together.
    fn answer_all(&mut self, questions: Vec<Property>) {
        let (mut about_markings, mut about_runs) = (Vec::new(), Vec::new());
        let mut maxima: Vec<(String, ExprId)> = Vec::new();
        for Property { name: id, kind, .. } in questions {
            match kind {
                PropertyKind::Invariant(_) | PropertyKind::Possible(_) => {
                    about_markings.extend(markings::Asked::new(self.model.parts().0, id, &kind));
                }
                PropertyKind::SomeInvariant(exprs) => self.one_of_all(&id, &exprs, false),
                PropertyKind::AllPossible(exprs) => self.one_of_all(&id, &exprs, true),
                PropertyKind::AllLive(each) => self.liveness(&id, each),
                PropertyKind::Ltl(ltl) => {
                    let (system, formulas) = self.model.parts();
                    let mut budget = self.clock.budget();
                    let simple = self.facts.as_ref().and_then(|facts| {
                        facts.simplify_ltl(&system.exprs, formulas, &ltl, &mut budget).ok()
                    });
                    let simple = match simple {
                        Some((_, Some(known))) => {
                            self.tell(&id, known);
                            continue;
                        }
                        Some((simple, None)) => simple,
                        None => ltl.clone(),
                    };
                    match formulas::invariant(system, formulas, &simple) {
                        Some(expr) => {
                            let kind = PropertyKind::Invariant(expr);
                            about_markings.extend(markings::Asked::new(system, id, &kind));
                        }
                        None => about_runs.push(formulas::Asked::new(id, ltl, simple)),
                    }
                }
                PropertyKind::Maximum(expr) => maxima.push((id, expr)),
                _ => self.cannot_compute(&id),
            }
        }
        self.decide_markings(about_markings);
        self.decide_runs(about_runs);
        self.decide_maxima(maxima);
    }

    /// Tells the answer to a question, if what is known decides it.
    fn tell_if_known(&mut self, id: &str, kind: &PropertyKind) -> bool {
        let (system, formulas) = self.model.parts();
        let mut budget = self.clock.budget();
        let known = self.facts.as_ref().map(|facts| facts.answer(&system.exprs, formulas, kind, &mut budget));
        let Some(Ok(Some(known))) = known else { return false };
        self.tell(id, known);
        true
    }

    fn tell(&mut self, id: &str, known: Decided) {
        let answer = match known.answer {
            Known::Truth(truth) => ContestAnswer::Truth(truth),
            Known::Number(number) => ContestAnswer::Number(number),
        };
        (self.hears)(id, &answer, Technique::Facts(known.by));
    }

    /// Tells what is known of some questions, and removes it.
    fn tell_known(&mut self, asked: &mut Vec<markings::Asked>) {
        for question in std::mem::take(asked) {
            if !self.tell_if_known(&question.id, &question.kind) {
                asked.push(question);
            }
        }
    }

    fn truth(&mut self, id: &str, truth: bool, technique: Technique) {
        (self.hears)(id, &ContestAnswer::Truth(truth), technique);
    }

    fn cannot_compute(&mut self, id: &str) {
        (self.hears)(id, &ContestAnswer::Unknown, Technique::Explicit);
    }
}
