//! Going through a model step by step, by commands: a person says what happens next.
//!
//! Nothing is printed here: who calls brings where commands come from and where answers go.

use std::fmt::Write as _;
use std::io::{self, BufRead, Write};

use crate::changes::changes;
use crate::check::Check;
use crate::judge::{Given, Judge};
use crate::model::Model;
use crate::run::{Ending, Run};
use crate::simulate::Random;
use crate::verdict::Reason;

const HELP: &str = "\
  3            take what has this number
  r            the environment rests, where it may
  back [n]     take back a step, or n
  random [n]   take a step at random, or n
  state        the whole state
  run          the run so far
  schedule     the run so far, for `check.replay` and `go`
  go SCHEDULE  another run
  restart      back to the beginning
  quit         the end
";

impl<M: Model> Check<'_, M> {
    /// Goes through the model as somebody says who reads what can happen: `check.explore(stdin().lock(), &mut stdout())`.
    /// Returns the run that was gone last. `help` lists the commands.
    ///
    /// ```
    /// # use stubborn_embed::{Check, Model};
    /// # struct Counter;
    /// # impl Model for Counter {
    /// #     type State = u8;
    /// #     type Action = u8;
    /// #     fn initial(&self) -> Vec<u8> { vec![0] }
    /// #     fn actions(&self, n: &u8, out: &mut Vec<u8>) { if *n < 9 { out.extend([1, 2]); } }
    /// #     fn step(&self, n: &mut u8, by: &u8) { *n += by; }
    /// # }
    /// let check = Check::new(&Counter).prop("small", |n| *n < 3);
    /// let mut shown = Vec::new();
    /// let run = check.explore(&b"1\n1\nback\n0\nquit\n"[..], &mut shown)?;
    /// assert_eq!(*run.last(), 3);
    /// assert!(String::from_utf8_lossy(&shown).contains("small becomes false"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// There is nowhere to begin, or it cannot be read or written.
    pub fn explore(&self, mut input: impl BufRead, output: &mut impl Write) -> io::Result<Run<M>> {
        let asked = self.all_asked();
        let judge = self.judge(&asked);
        let mut explorer = Explorer::new(self, &judge).map_err(io::Error::other)?;
        let mut line = String::new();
        let mut told = explorer.told().map_err(io::Error::other)?;
        loop {
            write!(output, "{told}> ")?;
            output.flush()?;
            line.clear();
            if input.read_line(&mut line)? == 0 {
                break;
            }
            told = match explorer.obey(line.trim()) {
                Ok(Some(told)) => told,
                Ok(None) => break,
                Err(reason) => format!("{reason}\n"),
            };
        }
        explorer.run().map_err(io::Error::other)
    }
}

struct Explorer<'e, 'm, M: Model> {
    check: &'e Check<'m, M>,
    judge: &'e Judge<'e, M>,
    given: Given<M::Action>,
    /// Where it begins, and after each step.
    states: Vec<M::State>,
    random: Random,
}

impl<'e, 'm, M: Model> Explorer<'e, 'm, M> {
    fn new(check: &'e Check<'m, M>, judge: &'e Judge<'e, M>) -> Result<Explorer<'e, 'm, M>, Reason> {
        let given = Given { initial: 0, actions: Vec::new(), ending: Ending::Open };
        let start = check.replay("0:")?.start;
        Ok(Explorer { check, judge, given, states: vec![start], random: Random::new(0) })
    }

    fn state(&self) -> &M::State {
        &self.states[self.states.len() - 1]
    }

    fn run(&self) -> Result<Run<M>, Reason> {
        self.judge.repeat(&self.given)
    }

    /// Does what is said; nothing is told at the end.
    fn obey(&mut self, line: &str) -> Result<Option<String>, Reason> {
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let wrong = || Reason::Question(format!("`{rest}` is not a number, as in `{command} 3`"));
        let times = || if rest.is_empty() { Ok(1) } else { rest.parse::<usize>().map_err(|_| wrong()) };
        match command {
            "" => {}
            "q" | "quit" | "exit" => return Ok(None),
            "h" | "help" | "?" => return Ok(Some(HELP.to_owned())),
            "b" | "back" => {
                let n = times()?.min(self.given.actions.len());
                self.given.actions.truncate(self.given.actions.len() - n);
                self.states.truncate(self.given.actions.len() + 1);
            }
            "random" => {
                for _ in 0..times()? {
                    let offered = self.judge.offered(self.state())?;
                    if offered.is_empty() {
                        break;
                    }
                    let choice = self.random.below(offered.len());
                    self.take(Some(offered[choice].clone()))?;
                }
            }
            "r" if self.judge.may_rest(&self.judge.offered(self.state())?) => self.take(None)?,
            "r" => return Err(Reason::Question("nobody rests here: somebody else can go on".to_owned())),
            "s" | "state" => return Ok(Some(format!("{:#?}\n", self.state()))),
            "run" => return self.run().map(|run| Some(run.to_string())),
            "schedule" => return self.run().map(|run| Some(run.schedule() + "\n")),
            "restart" => self.go("0:")?,
            "go" => self.go(rest)?,
            number => {
                let offered = self.judge.offered(self.state())?;
                let taken = number.parse::<usize>().ok().and_then(|number| offered.get(number));
                let Some(action) = taken else {
                    let text = format!(
                        "`{line}` is no command, and nothing that can happen has this number: `help` tells more"
                    );
                    return Err(Reason::Question(text));
                };
                self.take(Some(action.clone()))?;
            }
        }
        self.told().map(Some)
    }

    fn take(&mut self, action: Option<M::Action>) -> Result<(), Reason> {
        let next = match &action {
            Some(action) => self.judge.after(self.state(), action)?,
            None => self.state().clone(),
        };
        self.given.actions.push(action);
        self.states.push(next);
        Ok(())
    }

    fn go(&mut self, schedule: &str) -> Result<(), Reason> {
        let run = self.check.replay(schedule)?;
        self.given.initial = run.initial;
        self.given.actions = run.steps.iter().map(|step| step.action.clone()).collect();
        self.states = (0..=run.steps.len()).map(|at| run.state(at).clone()).collect();
        Ok(())
    }

    /// What has changed, and what can happen.
    fn told(&self) -> Result<String, Reason> {
        let run = self.run()?;
        let n_steps = run.steps.len();
        let mut told = match run.steps.last() {
            None => format!("in the beginning: {:?}\n", run.start),
            Some(step) => {
                let mut told = match (&step.action, &step.by) {
                    (Some(action), Some(by)) => format!("step {n_steps}, {by}: {action:?}\n"),
                    (Some(action), None) => format!("step {n_steps}: {action:?}\n"),
                    (None, _) => format!("step {n_steps}: (nothing happens)\n"),
                };
                let (before, after) = (run.state(n_steps - 1), run.last());
                for change in changes(&format!("{before:?}"), &format!("{after:?}")) {
                    // Writing to a string cannot fail.
                    _ = writeln!(told, "    {change}");
                }
                told
            }
        };
        for (name, before, now) in run.last_values() {
            match before {
                None => _ = writeln!(told, "    {name} is {now}"),
                Some(before) if before != now => _ = writeln!(told, "    {name} becomes {now}"),
                Some(_) => {}
            }
        }
        let offered = self.judge.offered(self.state())?;
        let processes = self.judge.model.processes();
        for (number, action) in offered.iter().enumerate() {
            let by = self.judge.model.process(action).and_then(|process| processes.get(process));
            _ = match by {
                Some(by) => writeln!(told, "{number:>4}  {by}: {action:?}"),
                None => writeln!(told, "{number:>4}  {action:?}"),
            };
        }
        if offered.is_empty() {
            told += "nothing can happen any more\n";
        } else if self.judge.may_rest(&offered) {
            told += "   r  (the environment rests)\n";
        }
        Ok(told)
    }
}
