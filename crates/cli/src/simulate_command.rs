//! `stubborn simulate`: one run, by hand or at random, perhaps after one that is known.

use std::io::{BufRead as _, IsTerminal as _};
use std::sync::Arc;

use stubborn::base::{Budget, Limit, Progress};
use stubborn::check::walk::Walk;
use stubborn::language::{Purpose, View, story};
use stubborn::model::{ActionId, ActionSystem, StepError};
use stubborn::replay::{self, Doubt, Ending, Evidence, Question};
use stubborn::report::{Trace, WalkReport, count, trace};
use stubborn::{Clock, Followed, Session};

use crate::args::SimulateArguments;
use crate::exit::{Exit, Failure};
use crate::spelling::SPELLING;
use crate::terminal::{self, Display};
use crate::{document, model, output};

pub(crate) fn run(arguments: &SimulateArguments) -> Result<Exit, Failure> {
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(0..1_000_000));
    let display = Display::new(arguments.limits.quiet);
    let clock = model::clock(&arguments.limits, &display);
    let mut session = model::open_whole(&arguments.model, &clock)?;
    let mut purpose = Purpose::Walk;
    // A part of the model that turns out to be missing is made, and the walk begins again.
    loop {
        let view = session.view(purpose, &clock)?;
        match simulate(&session, &view, purpose, seed, arguments, &clock)? {
            Ended::Done => return Ok(Exit::Success),
            Ended::TooSmall(error) => session.refine(&error, &clock)?,
            Ended::Promises => purpose = Purpose::Runs,
        }
    }
}

/// How a walk ended.
enum Ended {
    Done,
    /// The model is too small, as this fault says.
    TooSmall(StepError),
    /// A run cannot be followed where assertions are looked at.
    Promises,
}

fn simulate(
    session: &Session,
    view: &View,
    purpose: Purpose,
    seed: u64,
    arguments: &SimulateArguments,
    clock: &Clock<'_>,
) -> Result<Ended, Failure> {
    let json = arguments.limits.json;
    let system = &*view.system;
    let n_initial = system.initial().len();
    let told = arguments
        .input
        .as_ref()
        .map(|file| document::read_run(file, arguments.property.as_deref(), &mut clock.budget()))
        .transpose()?;
    let initial = match &told {
        Some(told) => told.initial(view).ok_or_else(|| told.differs(0))?,
        None => arguments.initial,
    };
    let Some(walk) = Walk::new(system, initial) else {
        let message = format!(
            "there is no initial state {}: they are numbered 0 to {}",
            arguments.initial,
            n_initial - 1
        );
        return Err(Failure::plain("no-initial-state", message));
    };
    // Half of everything is for the walk, the other half to repeat and to show it.
    let half = clock.part(0.5);
    let mut budget = if arguments.random { half.budget() } else { clock.budget() };
    budget.max_bytes /= 2;
    let random = fastrand::Rng::with_seed(seed);
    let mut simulation = Simulation { view, system, walk, random, json, budget, clock };
    if let Some(told) = &told {
        let can_refine = |error: &StepError| session.model().can_refine(error);
        match told.follow(view, &mut simulation.walk, &mut simulation.budget, &can_refine) {
            Followed::Done => {}
            Followed::Limit(limit) => {
                return Err(Failure::Limit(format!("{limit} while the run was followed")));
            }
            Followed::Fault(error) if can_refine(&error) => return Ok(Ended::TooSmall(error)),
            Followed::Fault(_) | Followed::Nowhere(_) if purpose == Purpose::Walk => {
                return Ok(Ended::Promises);
            }
            Followed::Nowhere(step) => return Err(told.differs(step).into()),
            Followed::Fault(error) => return Err(simulation.model_error(&error)),
        }
    }
    let end = if arguments.random { simulation.random_steps(arguments.length) } else { simulation.ask() };
    let end = match end {
        Ok(Some(_)) if simulation.may_end() => Some("a valid end".to_owned()),
        Ok(end) => end.map(str::to_owned),
        Err(Trouble::Limit(limit)) => Some(limit.to_string()),
        Err(Trouble::Fault(error)) if error.limit().is_some() => error.limit().map(|limit| limit.to_string()),
        Err(Trouble::Fault(error)) if session.model().can_refine(&error) => {
            return Ok(Ended::TooSmall(error));
        }
        Err(Trouble::Fault(error)) => return Err(simulation.model_error(&error)),
    };
    let mut trace = simulation.trace()?;
    if json {
        let is_over = Arc::default();
        trace.stop_when(&is_over);
        let seed = arguments.random.then_some(seed);
        let walk = WalkReport { model: session.info(), seed, end: end.as_deref(), trace: &trace };
        output::print_json(clock, &walk, Some(&is_over))?;
    } else if arguments.random {
        terminal::print_stdout(&(session.info().to_text() + "\n" + &trace.to_text(None, &SPELLING)));
        let end = end.map_or(String::new(), |end| format!(", then {end}"));
        let length = count(trace.len() as u64, "step");
        let input = arguments.input.as_ref().map_or("", |_| "the same --input and ");
        terminal::print_stdout(&format!("{length}{end}; repeat this run with {input}--seed {seed}\n"));
    }
    Ok(Ended::Done)
}

/// Why a walk ends early.
enum Trouble {
    Fault(StepError),
    Limit(Limit),
}

impl From<StepError> for Trouble {
    fn from(error: StepError) -> Trouble {
        Trouble::Fault(error)
    }
}

impl From<Limit> for Trouble {
    fn from(limit: Limit) -> Trouble {
        Trouble::Limit(limit)
    }
}

struct Simulation<'a> {
    view: &'a View,
    system: &'a ActionSystem,
    walk: Walk<'a, ActionSystem>,
    random: fastrand::Rng,
    json: bool,
    budget: Budget<'a>,
    clock: &'a Clock<'a>,
}

impl Simulation<'_> {
    /// Takes random steps until there are enough or there is a deadlock; says which.
    fn random_steps(&mut self, n: usize) -> Result<Option<&'static str>, Trouble> {
        for _ in 0..n {
            let choices = self.walk.choices()?;
            match self.random.choice(choices) {
                Some(action) => self.walk.step(action)?,
                None => return Ok(Some("deadlock")),
            }
            self.poll()?;
        }
        Ok(None)
    }

    fn poll(&mut self) -> Result<(), Limit> {
        let (states, depth) = (self.walk.len() as u64 + 1, self.walk.position() as u64);
        let progress = Progress { states, depth, bytes: self.walk.bytes(), ..Progress::default() };
        self.budget.poll(&progress)
    }

    /// Prompts until the user has had enough.
    fn ask(&mut self) -> Result<Option<&'static str>, Trouble> {
        let mut lines = std::io::stdin().lock().lines();
        self.show_state();
        loop {
            let choices = self.walk.choices()?;
            self.show_choices(&choices)?;
            self.prompt();
            let Some(Ok(line)) = lines.next() else {
                self.say("\n");
                return Ok(None);
            };
            if terminal::stdout_is_closed() {
                return Ok(None);
            }
            if !std::io::stdin().is_terminal() {
                self.say(&format!("{line}\n"));
            }
            if !self.obey(line.trim(), &choices)? {
                return Ok(None);
            }
            self.poll()?;
        }
    }

    /// Carries out a command; returns whether to go on.
    fn obey(&mut self, line: &str, choices: &[ActionId]) -> Result<bool, Trouble> {
        let (word, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let argument: Option<usize> = argument.trim().parse().ok();
        if let Ok(number) = word.parse::<usize>() {
            match number.checked_sub(1).and_then(|index| choices.get(index)) {
                Some(&action) => self.step(action)?,
                None => self.say(&format!("There is no step {number} here.\n")),
            }
            return Ok(true);
        }
        let position = self.walk.position();
        match word {
            "" => {}
            "u" | "undo" => self.go_to(position.checked_sub(argument.unwrap_or(1))),
            "redo" => self.go_to(position.checked_add(argument.unwrap_or(1))),
            "g" | "goto" => match argument {
                Some(position) => self.go_to(Some(position)),
                None => self.say("Say the number of a step: `goto 3`.\n"),
            },
            "r" | "random" => {
                for _ in 0..argument.unwrap_or(1) {
                    match self.random.choice(self.walk.choices()?) {
                        Some(action) => self.step(action)?,
                        None => break,
                    }
                    self.poll()?;
                    if terminal::stdout_is_closed() {
                        return Ok(false);
                    }
                }
            }
            "s" | "state" => self.show_state(),
            "t" | "trace" => match self.trace() {
                Ok(trace) => self.say(&trace.to_text(None, &SPELLING)),
                Err(failure) => _ = failure.report(false),
            },
            "h" | "help" | "?" => self.say(HELP),
            "q" | "quit" | "exit" => return Ok(false),
            _ => self.say(&format!("No command `{word}`. {HELP}")),
        }
        Ok(true)
    }

    fn step(&mut self, action: ActionId) -> Result<(), StepError> {
        let before = self.state();
        self.walk.step(action)?;
        let changes = self.changes(&before, &self.state());
        let story = self.view.story.as_deref();
        let lines = story.map(|story| trace::told(&story::of_step(story, self.system, action, &before)));
        let lines = lines.unwrap_or_default();
        let position = self.walk.position();
        match lines.split_first() {
            Some((first, rest)) => {
                self.say(&format!("{position:>5}  {first}\n"));
                rest.iter().for_each(|line| self.say(&format!("{:>5}  {line}\n", "")));
                if !changes.is_empty() {
                    self.say(&format!("{:>5}    {changes}\n", ""));
                }
            }
            None => {
                let what = trace::describe(self.system, action, &before);
                self.say(&format!("{position:>5}  {what}  {changes}\n"));
            }
        }
        Ok(())
    }

    /// What differs between two states.
    fn changes(&self, before: &[i64], after: &[i64]) -> String {
        match self.view.story.as_deref() {
            Some(story) => story::changes(story, before, after),
            None => trace::changes(self.system, before, after),
        }
        .join(", ")
    }

    /// A step in one line.
    fn describe(&self, action: ActionId, before: &[i64]) -> String {
        let story = self.view.story.as_deref();
        let statements = story.map(|story| story::of_step(story, self.system, action, before));
        match statements.as_deref() {
            Some([first]) => first.to_text(),
            Some([first, .., last]) => format!("{} … {}", first.to_text(), last.text),
            _ => trace::describe(self.system, action, before),
        }
    }

    fn go_to(&mut self, position: Option<usize>) {
        if position.is_some_and(|position| self.walk.go_to(position)) {
            self.show_state();
        } else {
            self.say(&format!("The run has the steps 0 to {}.\n", self.walk.len()));
        }
    }

    fn state(&self) -> Vec<i64> {
        self.system.layout().decode(self.walk.state())
    }

    fn show_state(&self) {
        self.say(&format!("{:>5}  state\n", self.walk.position()));
        let state = self.state();
        let (details, positions) = match self.view.story.as_deref() {
            Some(story) => (trace::cut(story::details(story, &state), &SPELLING), story.positions(&state)),
            None => (trace::details(self.system, &state, &SPELLING), Vec::new()),
        };
        for line in trace::wrapped(&details, 90).into_iter().chain(positions) {
            self.say(&format!("         {line}\n"));
        }
    }

    fn show_choices(&mut self, choices: &[ActionId]) -> Result<(), StepError> {
        if choices.is_empty() {
            self.say("Deadlock: no step is possible.\n");
        }
        let before = self.state();
        for (index, &action) in choices.iter().enumerate() {
            let after = self.system.layout().decode(&self.walk.peek(action)?);
            let changes = self.changes(&before, &after);
            self.say(&format!("  {:>3}) {}  {changes}\n", index + 1, self.describe(action, &before)));
        }
        Ok(())
    }

    fn prompt(&self) {
        self.say("> ");
    }

    /// Talks to the user: not where the JSON document goes.
    fn say(&self, text: &str) {
        if self.json { terminal::print_stderr(text) } else { terminal::print_stdout(text) }
    }

    /// The run so far, as the judge of evidence sees it.
    fn trace(&self) -> Result<Trace, Failure> {
        let run = self.walk.run();
        let evidence = Evidence::new(&run, Ending::Open);
        let clock = self.clock.with_grace();
        let mut budget = clock.budget();
        budget.max_bytes = budget.max_bytes.saturating_sub(self.walk.bytes());
        let judged = replay::judge(self.system, &Question::Possible, &evidence, &mut budget);
        let judged = judged.map_err(|doubt| match doubt {
            Doubt::Limit(limit) => Failure::Limit(format!("{limit} while the run was replayed")),
            Doubt::Rejected(why) => {
                let message =
                    format!("internal error, please report it: the run does not stand up to replay: {why}");
                Failure::plain("internal", message)
            }
        })?;
        Ok(Trace::new(self.view.clone(), judged.replayed))
    }

    /// Whether every process is where it may stay, as far as somebody can tell.
    fn may_end(&self) -> bool {
        let may_end =
            |story: &dyn story::Story| story.places(&self.state()).iter().all(|position| position.may_stay);
        self.view.story.as_deref().is_some_and(may_end)
    }

    fn model_error(&self, error: &StepError) -> Failure {
        let position = count(self.walk.position() as u64, "step");
        let told = self.view.story.as_ref().and_then(|story| story.fault(error));
        if let (Some(_), Ok(mut trace), Some(action), false) = (&told, self.trace(), error.action, self.json)
        {
            trace.fails(action);
            self.say(&trace.to_text(None, &SPELLING));
        }
        let what = told.unwrap_or_else(|| self.system.describe_fault(error));
        Failure::plain("model-error", format!("after {position}: {what}"))
    }
}

const HELP: &str =
    "Commands: the number of a step, undo [N], redo [N], goto N, random [N], state, trace, help, quit.\n";
