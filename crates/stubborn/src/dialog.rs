//! A simulation in words: somebody says which step to take, or leaves it to chance, and is told what happens.
//!
//! Who that is, and how one talks to them, is up to a [`Listener`].

use base::{Diagnostic, Limit};
use model::ActionId;
use report::{Spelling, Trace};

use crate::Error;
use crate::clock::Clock;
use crate::simulation::{Halt, Simulation, TooSmall};

/// Whoever is talked to.
pub trait Listener {
    /// Is told something.
    fn hear(&mut self, text: &str);

    /// Is told what could not be done.
    fn refuse(&mut self, error: Error);

    /// Says what to do; nothing if there is no more to come.
    fn command(&mut self) -> Option<String>;

    /// Nobody listens any more.
    fn is_gone(&self) -> bool;

    /// Wants an end, now.
    fn is_impatient(&self) -> bool;

    /// One of so many things, by chance: from 0.
    fn any(&mut self, n: usize) -> usize;
}

/// A simulation, and who takes its steps.
pub struct Dialog<'d, 's> {
    /// The run.
    pub simulation: &'d mut Simulation<'s>,
    /// Who takes steps.
    pub listener: &'d mut dyn Listener,
    /// How options are called.
    pub spelling: &'d Spelling,
    /// The run is told, too, that ends where the model goes wrong.
    pub shows_faults: bool,
}

/// How a walk ended, in words if there is something to say; or the model went wrong.
pub type End = Result<Option<String>, Diagnostic>;

impl Dialog<'_, '_> {
    /// Takes so many steps by chance, or to a deadlock; nothing is told.
    ///
    /// # Errors
    /// The model is too small.
    pub fn walk(&mut self, n_steps: usize, clock: &Clock<'_>) -> Result<End, TooSmall> {
        let end = self.random_steps(n_steps, false);
        self.end(end, clock)
    }

    /// Asks what to do until there is no more to come.
    ///
    /// # Errors
    /// The model is too small.
    pub fn talk(&mut self, clock: &Clock<'_>) -> Result<End, TooSmall> {
        let end = self.ask(clock);
        self.end(end, clock)
    }

    fn end(&mut self, end: Result<Option<&'static str>, Halt>, clock: &Clock<'_>) -> Result<End, TooSmall> {
        Ok(match end {
            Ok(Some(_)) if self.simulation.may_end() => Ok(Some("a valid end".to_owned())),
            Ok(end) => Ok(end.map(str::to_owned)),
            Err(Halt::Limit(limit)) => Ok(Some(limit.to_string())),
            Err(Halt::TooSmall(error)) => return Err(error),
            Err(Halt::Fault(error)) => {
                if let Some(trace) =
                    self.simulation.failing_trace(&error, clock).filter(|_| self.shows_faults)
                {
                    self.hear_run(&trace);
                }
                Err(Diagnostic::error("model-error", self.simulation.fault(&error)))
            }
        })
    }

    /// Takes random steps, and may tell them, until there are enough, there is a deadlock, or nobody listens; says which.
    fn random_steps(&mut self, n: usize, tells: bool) -> Result<Option<&'static str>, Halt> {
        for _ in 0..n {
            let choices = self.simulation.choices()?;
            if choices.is_empty() {
                return Ok(Some("deadlock"));
            }
            let action = choices[self.listener.any(choices.len())];
            match tells {
                true => self.step(action)?,
                false => self.simulation.step(action)?,
            }
            if self.listener.is_gone() {
                break;
            }
        }
        Ok(None)
    }

    fn ask(&mut self, clock: &Clock<'_>) -> Result<Option<&'static str>, Halt> {
        self.show_state();
        loop {
            let choices = self.simulation.choices()?;
            self.show_choices(&choices)?;
            self.listener.hear("> ");
            let Some(line) = self.listener.command() else {
                self.listener.hear("\n");
                return Ok(None);
            };
            if self.listener.is_gone() {
                return Ok(None);
            }
            if self.listener.is_impatient() {
                return Err(Limit::Interrupt.into());
            }
            if !self.obey(line.trim(), &choices, clock)? {
                return Ok(None);
            }
        }
    }

    /// Carries out a command; returns whether to go on.
    fn obey(&mut self, line: &str, choices: &[ActionId], clock: &Clock<'_>) -> Result<bool, Halt> {
        let (word, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let argument: Option<usize> = argument.trim().parse().ok();
        if let Ok(number) = word.parse::<usize>() {
            match number.checked_sub(1).and_then(|index| choices.get(index)) {
                Some(&action) => self.step(action)?,
                None => self.listener.hear(&format!("There is no step {number} here.\n")),
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
                None => self.listener.hear("Say the number of a step: `goto 3`.\n"),
            },
            "r" | "random" => {
                self.random_steps(argument.unwrap_or(1), true)?;
                return Ok(!self.listener.is_gone());
            }
            "s" | "state" => self.show_state(),
            "t" | "trace" => match self.simulation.trace(clock) {
                Ok(trace) => self.hear_run(&trace),
                Err(error) => self.listener.refuse(error),
            },
            "h" | "help" | "?" => self.listener.hear(HELP),
            "q" | "quit" | "exit" => return Ok(false),
            _ => self.listener.hear(&format!("No command `{word}`. {HELP}")),
        }
        Ok(true)
    }

    fn step(&mut self, action: ActionId) -> Result<(), Halt> {
        let lines = self.simulation.tell_step(action)?;
        let position = self.simulation.position();
        let numbers = std::iter::once(position.to_string()).chain(std::iter::repeat(String::new()));
        for (number, line) in numbers.zip(&lines) {
            self.listener.hear(&format!("{number:>5}  {line}\n"));
        }
        Ok(())
    }

    fn go_to(&mut self, position: Option<usize>) {
        if position.is_some_and(|position| self.simulation.go_to(position)) {
            self.show_state();
        } else {
            let n_steps = self.simulation.len();
            self.listener.hear(&format!("The run has the steps 0 to {n_steps}.\n"));
        }
    }

    fn show_state(&mut self) {
        self.listener.hear(&format!("{:>5}  state\n", self.simulation.position()));
        for line in self.simulation.tell_state(self.spelling) {
            self.listener.hear(&format!("         {line}\n"));
        }
    }

    fn show_choices(&mut self, choices: &[ActionId]) -> Result<(), Halt> {
        if choices.is_empty() {
            self.listener.hear("Deadlock: no step is possible.\n");
        }
        for (index, line) in self.simulation.tell_choices(choices)?.into_iter().enumerate() {
            self.listener.hear(&format!("  {:>3}) {line}\n", index + 1));
        }
        Ok(())
    }

    fn hear_run(&mut self, trace: &Trace) {
        self.listener.hear(&trace.to_text(None, self.spelling));
    }
}

const HELP: &str =
    "Commands: the number of a step, undo [N], redo [N], goto N, random [N], state, trace, help, quit.\n";
