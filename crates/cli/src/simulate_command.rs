//! `stubborn simulate`: one run, by hand or at random, perhaps after one that is known.

use std::io::{IsTerminal as _, Lines, StdinLock};
use std::sync::Arc;

use stubborn::report::{Trace, WalkReport, count, outcome::ModelInfo};
use stubborn::{Clock, Dialog, Error, Listener, Start};

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
        let mut desk = Desk { arguments, random, lines: std::io::stdin().lines() };
        let shows_faults = !arguments.limits.json;
        let mut dialog = Dialog { simulation, listener: &mut desk, spelling: &SPELLING, shows_faults };
        let end = match arguments.random {
            true => dialog.walk(arguments.length, &clock)?,
            false => dialog.talk(&clock)?,
        };
        let tell = |end| tell(arguments, &info, dialog.simulation.trace(&clock)?, end, seed, &clock);
        Ok(end.map_err(Failure::from).and_then(tell))
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

/// The user, at a terminal or behind a file; and chance.
struct Desk<'d> {
    arguments: &'d SimulateArguments,
    random: fastrand::Rng,
    lines: Lines<StdinLock<'static>>,
}

impl Listener for Desk<'_> {
    fn hear(&mut self, text: &str) {
        // Not where the JSON document goes.
        if self.arguments.limits.json { terminal::print_stderr(text) } else { terminal::print_stdout(text) }
    }

    fn refuse(&mut self, error: Error) {
        Failure::from(error).report(false);
    }

    fn command(&mut self) -> Option<String> {
        let line = self.lines.next()?.ok()?;
        if !std::io::stdin().is_terminal() {
            self.hear(&format!("{line}\n"));
        }
        Some(line)
    }

    fn is_gone(&self) -> bool {
        terminal::stdout_is_closed()
    }

    fn is_impatient(&self) -> bool {
        terminal::is_interrupted()
    }

    fn any(&mut self, n: usize) -> usize {
        self.random.usize(..n)
    }
}
