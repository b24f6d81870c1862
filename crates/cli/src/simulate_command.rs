//! `stubborn simulate`: one run, by hand or at random, perhaps after one that is known.

use std::io::{BufRead as _, IsTerminal as _};
use std::sync::Arc;

use stubborn::base::Limit;
use stubborn::model::{ActionId, StepError};
use stubborn::report::{Trace, WalkReport, count, outcome::ModelInfo};
use stubborn::{Clock, Halt, Simulation, Start, TooSmall};

use crate::args::SimulateArguments;
use crate::exit::{Exit, Failure};
use crate::spelling::SPELLING;
use crate::terminal::{self, Display};
use crate::{model, output};

pub(crate) fn run(arguments: &SimulateArguments) -> Result<Exit, Failure> {
    let seed = arguments.seed.unwrap_or_else(|| fastrand::u64(0..1_000_000));
    let display = Display::new(arguments.limits.quiet);
    let clock = model::clock(&arguments.limits, &display);
    let mut session = model::open_whole(&arguments.model, &clock)?;
    let read = |file| model::read_run(file, arguments.property.as_deref(), &mut clock.budget());
    let told = arguments.input.as_deref().map(read).transpose()?;
    let start = Start { initial: arguments.initial, told: told.as_ref() };
    let info = session.info();
    session.simulate(start, !arguments.random, &clock, |simulation| {
        let random = fastrand::Rng::with_seed(seed);
        let mut desk = Desk { simulation, random, json: arguments.limits.json, clock: &clock };
        let end = if arguments.random { desk.random_steps(arguments.length, false) } else { desk.ask() };
        match desk.end(end)? {
            Ok(end) => Ok(desk.trace().and_then(|trace| tell(arguments, &info, trace, end, seed, &clock))),
            Err(fault) => Ok(Err(desk.model_error(&fault))),
        }
    })??;
    Ok(Exit::Success)
}

/// Shows the run, where it was not shown step by step.
fn tell(
    arguments: &SimulateArguments,
    info: &ModelInfo,
    mut trace: Trace,
    end: Option<String>,
    seed: u64,
    clock: &Clock<'_>,
) -> Result<(), Failure> {
    if arguments.limits.json {
        let is_over = Arc::default();
        trace.stop_when(&is_over);
        let seed = arguments.random.then_some(seed);
        let walk = WalkReport { model: info.clone(), seed, end: end.as_deref(), trace: &trace };
        output::print_json(clock, &walk, Some(&is_over))?;
    } else if arguments.random {
        let head = info.to_text();
        let shown = output::print(clock, format_args!("{head}\n{}", trace.spelled(None, &SPELLING)));
        let end = end.map_or(String::new(), |end| format!(", then {end}"));
        let length = count(trace.len() as u64, "step");
        let input = arguments.input.as_ref().map_or("", |_| "the same --input and ");
        terminal::print_stdout(&format!("{length}{end}; repeat this run with {input}--seed {seed}\n"));
        shown?;
    }
    Ok(())
}

/// Somebody who takes steps: the user, or chance.
struct Desk<'d, 's> {
    simulation: &'d mut Simulation<'s>,
    random: fastrand::Rng,
    json: bool,
    clock: &'d Clock<'d>,
}

impl Desk<'_, '_> {
    /// How a walk ended, in words if there is something to say; or the model went wrong.
    fn end(
        &self,
        end: Result<Option<&'static str>, Halt>,
    ) -> Result<Result<Option<String>, StepError>, TooSmall> {
        Ok(match end {
            Ok(Some(_)) if self.simulation.may_end() => Ok(Some("a valid end".to_owned())),
            Ok(end) => Ok(end.map(str::to_owned)),
            Err(Halt::Limit(limit)) => Ok(Some(limit.to_string())),
            Err(Halt::Fault(error)) => Err(error),
            Err(Halt::TooSmall(error)) => return Err(error),
        })
    }

    /// Takes random steps, and may tell them, until there are enough, there is a deadlock, or nobody listens; says which.
    fn random_steps(&mut self, n: usize, tells: bool) -> Result<Option<&'static str>, Halt> {
        for _ in 0..n {
            match self.random.choice(self.simulation.choices()?) {
                Some(action) if tells => self.step(action)?,
                Some(action) => self.simulation.step(action)?,
                None => return Ok(Some("deadlock")),
            }
            if terminal::stdout_is_closed() {
                break;
            }
        }
        Ok(None)
    }

    /// Prompts until the user has had enough.
    fn ask(&mut self) -> Result<Option<&'static str>, Halt> {
        let mut lines = std::io::stdin().lock().lines();
        self.show_state();
        loop {
            let choices = self.simulation.choices()?;
            self.show_choices(&choices)?;
            self.say("> ");
            let Some(Ok(line)) = lines.next() else {
                self.say("\n");
                return Ok(None);
            };
            if terminal::stdout_is_closed() {
                return Ok(None);
            }
            if terminal::is_interrupted() {
                return Err(Limit::Interrupt.into());
            }
            if !std::io::stdin().is_terminal() {
                self.say(&format!("{line}\n"));
            }
            if !self.obey(line.trim(), &choices)? {
                return Ok(None);
            }
        }
    }

    /// Carries out a command; returns whether to go on.
    fn obey(&mut self, line: &str, choices: &[ActionId]) -> Result<bool, Halt> {
        let (word, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let argument: Option<usize> = argument.trim().parse().ok();
        if let Ok(number) = word.parse::<usize>() {
            match number.checked_sub(1).and_then(|index| choices.get(index)) {
                Some(&action) => self.step(action)?,
                None => self.say(&format!("There is no step {number} here.\n")),
            }
            return Ok(true);
        }
        let position = self.simulation.position();
        match word {
            "" => {}
            "u" | "undo" => self.go_to(position.checked_sub(argument.unwrap_or(1))),
            "redo" => self.go_to(position.checked_add(argument.unwrap_or(1))),
            "g" | "goto" => match argument {
                Some(position) => self.go_to(Some(position)),
                None => self.say("Say the number of a step: `goto 3`.\n"),
            },
            "r" | "random" => {
                self.random_steps(argument.unwrap_or(1), true)?;
                return Ok(!terminal::stdout_is_closed());
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

    fn step(&mut self, action: ActionId) -> Result<(), Halt> {
        let lines = self.simulation.tell_step(action)?;
        let position = self.simulation.position();
        let numbers = std::iter::once(position.to_string()).chain(std::iter::repeat(String::new()));
        for (number, line) in numbers.zip(&lines) {
            self.say(&format!("{number:>5}  {line}\n"));
        }
        Ok(())
    }

    fn go_to(&mut self, position: Option<usize>) {
        if position.is_some_and(|position| self.simulation.go_to(position)) {
            self.show_state();
        } else {
            self.say(&format!("The run has the steps 0 to {}.\n", self.simulation.len()));
        }
    }

    fn show_state(&self) {
        self.say(&format!("{:>5}  state\n", self.simulation.position()));
        for line in self.simulation.tell_state(&SPELLING) {
            self.say(&format!("         {line}\n"));
        }
    }

    fn show_choices(&mut self, choices: &[ActionId]) -> Result<(), Halt> {
        if choices.is_empty() {
            self.say("Deadlock: no step is possible.\n");
        }
        for (index, line) in self.simulation.tell_choices(choices)?.into_iter().enumerate() {
            self.say(&format!("  {:>3}) {line}\n", index + 1));
        }
        Ok(())
    }

    /// Talks to the user: not where the JSON document goes.
    fn say(&self, text: &str) {
        if self.json { terminal::print_stderr(text) } else { terminal::print_stdout(text) }
    }

    fn trace(&self) -> Result<Trace, Failure> {
        Ok(self.simulation.trace(self.clock)?)
    }

    /// Shows the run to where the model goes wrong.
    fn model_error(&self, error: &StepError) -> Failure {
        if let (Some(trace), false) = (self.simulation.failing_trace(error, self.clock), self.json) {
            self.say(&trace.to_text(None, &SPELLING));
        }
        Failure::plain("model-error", self.simulation.fault(error))
    }
}

const HELP: &str =
    "Commands: the number of a step, undo [N], redo [N], goto N, random [N], state, trace, help, quit.\n";
