//! Runs of a model, as people read them: who does what, and what changes.

use std::fmt;
use std::ops::Deref;

use crate::changes::changes;
use crate::classes::Fair;
use crate::model::Model;

/// A run: where it begins, what happens, and how it goes on.
pub struct Run<M: Model> {
    /// The state in which it begins.
    pub start: M::State,
    /// What happens.
    pub steps: Vec<Step<M>>,
    /// How it goes on.
    pub ending: Ending,
    /// Which of the initial states it begins in.
    pub(crate) initial: usize,
    /// Names of what is watched, and who does what.
    pub(crate) names: Names,
}

/// One step of a run.
pub struct Step<M: Model> {
    /// What happens; none if the environment rests, and nobody else can do anything.
    pub action: Option<M::Action>,
    /// The state after it.
    pub state: M::State,
    /// Its place among what could have happened.
    pub(crate) choice: usize,
    /// Who does it.
    pub(crate) by: Option<String>,
    /// What is watched, after it.
    pub(crate) values: Vec<bool>,
}

/// What of a run is shown beside its states.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// The propositions that are asked about.
    pub(crate) propositions: Vec<String>,
    /// Their values in the beginning.
    pub(crate) values: Vec<bool>,
}

/// How a run goes on after its last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// Somehow: that does not matter.
    Open,
    /// From its state after so many steps on, it repeats for ever.
    Cycle(usize),
    /// Nothing can happen any more.
    Deadlock,
    /// Nothing can happen any more in which a tester takes part, or that it does not see.
    Refusal,
}

/// A run that shows what is wrong.
pub struct Counterexample<M: Model> {
    /// The run.
    pub run: Run<M>,
    /// What was asked, and what is wrong, in a sentence.
    pub what: String,
    /// Why it is fair, to each who must be treated so.
    pub fairness: Vec<FairTo>,
}

impl<M: Model> Deref for Counterexample<M> {
    type Target = Run<M>;

    fn deref(&self) -> &Run<M> {
        &self.run
    }
}

/// Who is treated fairly, and why a run does so.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FairTo {
    /// A process, or the name of a set of actions.
    pub name: String,
    /// In which way.
    pub fair: Fair,
    /// Why.
    pub because: Because,
}

/// Why a run is fair to somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Because {
    /// Something of it happens in this step of the cycle, counted from 1.
    Taken(usize),
    /// Nothing of it can happen after this step.
    Disabled(usize),
    /// Nothing of it can happen in the whole cycle.
    NeverEnabled,
    /// This step of the cycle, counted from 1, interferes with what can happen all the time.
    Interfered(usize),
}

impl fmt::Display for FairTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}: ", self.fair.adjective(), self.name)?;
        match self.because {
            Because::Taken(step) => write!(f, "it goes on in step {step}"),
            Because::Disabled(step) => write!(f, "it cannot go on after step {step}"),
            Because::NeverEnabled => f.write_str("it can never go on in what repeats"),
            Because::Interfered(step) => write!(f, "step {step} interferes with what it could do"),
        }
    }
}

impl<M: Model> Run<M> {
    /// The state after so many steps; the last one if there are not so many.
    pub fn state(&self, steps: usize) -> &M::State {
        match steps.min(self.steps.len()).checked_sub(1) {
            Some(last) => &self.steps[last].state,
            None => &self.start,
        }
    }

    /// The last state.
    pub fn last(&self) -> &M::State {
        self.state(self.steps.len())
    }

    /// The names of what is watched.
    pub(crate) fn watched(&self) -> &[String] {
        &self.names.propositions
    }

    /// The values of what is watched after so many steps.
    pub(crate) fn values(&self, steps: usize) -> &[bool] {
        steps.checked_sub(1).map_or(&self.names.values, |last| &self.steps[last].values)
    }

    /// What is watched: its name, its value before the last step, if there is one, and after it.
    pub(crate) fn last_values(&self) -> impl Iterator<Item = (&str, Option<bool>, bool)> {
        let n = self.steps.len();
        self.watched().iter().enumerate().map(move |(index, name)| {
            let before = n.checked_sub(1).map(|before| self.values(before)[index]);
            (name.as_str(), before, self.values(n)[index])
        })
    }

    /// The actions that happen.
    pub fn actions(&self) -> impl Iterator<Item = &M::Action> {
        self.steps.iter().filter_map(|step| step.action.as_ref())
    }

    /// From which step on it repeats, if it does: the number of steps before.
    pub fn cycle(&self) -> Option<usize> {
        match self.ending {
            Ending::Cycle(start) => Some(start),
            Ending::Open | Ending::Deadlock | Ending::Refusal => None,
        }
    }

    /// What [`Check::replay`](crate::Check::replay) needs to repeat it: the initial state, and in each step the place
    /// of its action among those that `actions` gives. A `*` stands where the cycle begins, an `r` where the
    /// environment rests.
    pub fn schedule(&self) -> String {
        let mut text = format!("{}:", self.initial);
        for (index, step) in self.steps.iter().enumerate() {
            if self.cycle() == Some(index) {
                text.push('*');
            } else if index > 0 {
                text.push('.');
            }
            match step.action {
                Some(_) => text += &step.choice.to_string(),
                None => text.push('r'),
            }
        }
        text
    }
}

impl<M: Model> fmt::Display for Run<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "   0  {:?}", self.start)?;
        let named = self.names.propositions.iter().zip(&self.names.values);
        for (name, _) in named.filter(|(_, value)| **value) {
            writeln!(f, "        {name} is true")?;
        }
        let mut values = &self.names.values;
        for (index, step) in self.steps.iter().enumerate() {
            if self.cycle() == Some(index) {
                writeln!(f, "      -- from here on, the following repeats for ever --")?;
            }
            write!(f, "{:>4}  ", index + 1)?;
            match (&step.by, &step.action) {
                (Some(by), Some(action)) => writeln!(f, "{by}: {action:?}")?,
                (None, Some(action)) => writeln!(f, "{action:?}")?,
                (_, None) => writeln!(f, "(nothing happens)")?,
            }
            for change in changes(&format!("{:?}", self.state(index)), &format!("{:?}", step.state)) {
                writeln!(f, "        {change}")?;
            }
            let flips = self.names.propositions.iter().zip(values.iter().zip(&step.values));
            for (name, (_, value)) in flips.filter(|(_, (before, after))| before != after) {
                writeln!(f, "        {name} becomes {value}")?;
            }
            values = &step.values;
        }
        match self.ending {
            Ending::Cycle(start) if start == self.steps.len() => {
                writeln!(f, "      -- nothing happens any more --")
            }
            Ending::Deadlock => writeln!(f, "      -- nothing can happen any more --"),
            Ending::Refusal => {
                writeln!(f, "      -- nothing can happen any more that the tester goes along with --")
            }
            Ending::Cycle(_) | Ending::Open => Ok(()),
        }
    }
}

impl<M: Model> fmt::Display for Counterexample<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:\n\n{}", self.what, self.run)?;
        let (resting, others): (Vec<_>, Vec<_>) =
            self.fairness.iter().partition(|fair| fair.because == Because::NeverEnabled);
        for fair in others {
            writeln!(f, "it is {fair}")?;
        }
        // There may be many of them, of whom there is nothing else to say: two actors have four channels to be fair to.
        const MANY: usize = 4;
        for fair in [Fair::Weak, Fair::Strong, Fair::Just] {
            let names: Vec<&str> =
                resting.iter().filter(|one| one.fair == fair).map(|one| one.name.as_str()).collect();
            let adjective = fair.adjective();
            match names[..] {
                [] => {}
                [name] => writeln!(f, "it is {adjective} to {name}: it can never go on in what repeats")?,
                _ => {
                    let (first, others) = names.split_at(names.len().min(MANY));
                    let mut named = first.join(", ");
                    match others {
                        [] => {}
                        [last] => named += &format!(" and {last}"),
                        _ => named += &format!(" and {} others", others.len()),
                    }
                    writeln!(f, "it is {adjective} to those who can never go on in what repeats: {named}")?;
                }
            }
        }
        write!(f, "to repeat it: check.replay({:?})", self.run.schedule())
    }
}
