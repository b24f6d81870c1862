//! `simulate`: a walk through a model. Whoever walks keeps the path, as a list of steps that are copied from choices: the
//! server remembers nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stubborn::report::Counterexample;
use stubborn::report::outcome::{Kind, Target};
use stubborn::{Choice, Clock, Destination, Error, Path, PathStep, Sought, WalkEnd, Walker};

use super::Workplace;
use super::check::{MAX_STEPS, STEPS};
use crate::asked::{Bounds, Model, usage};
use crate::told::{About, Run, parts};

/// At random, no more steps are taken at once.
const MAX_RANDOM: usize = 10_000;

/// Of more choices, only the first are told.
const MAX_CHOICES: usize = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    model: Model,
    /// The steps from the initial state, as `path` of an earlier answer or `step` of its choices say.
    #[serde(default)]
    path: Vec<String>,
    /// In which of several initial states the path begins, from 0.
    #[serde(default)]
    initial: usize,
    /// After the path, the shortest way to a state in which this expression is true; "deadlock" for one in which nothing
    /// can happen.
    #[serde(default)]
    go_to: Option<String>,
    /// After the path, steps at random.
    #[serde(default)]
    random: Option<Random>,
    /// Expressions whose truth at the end is told.
    #[serde(default)]
    watch: Vec<String>,
    /// How many steps of the run are told; of longer ones the middle is left out (default 100, at most 5000).
    #[serde(default)]
    max_steps: Option<usize>,
    #[serde(default)]
    limits: Bounds,
}

/// Steps at random.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Random {
    /// How many at most (at most 10000).
    steps: usize,
    /// The same seed gives the same steps.
    #[serde(default)]
    seed: u64,
    /// Stop where one of these expressions becomes true.
    #[serde(default)]
    until: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    model: About,
    /// The whole path, to go on from here.
    path: Vec<String>,
    /// Why no more steps were taken, if some were to be: found, nowhere, limit, enough, deadlock, until or error.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<Ended>,
    run: Run,
    /// The parts of the state at the end.
    state: Vec<String>,
    /// Where the processes are, if the language can tell.
    positions: Vec<String>,
    /// Whether the expressions are true there.
    watched: Vec<Watched>,
    /// What can happen next.
    choices: Vec<Next>,
    /// So many more things can happen.
    more_choices: usize,
}

/// Why no more steps were taken.
#[derive(Debug, Serialize, JsonSchema)]
struct Ended {
    /// found, nowhere, limit, enough, deadlock, until or error.
    because: &'static str,
    /// What there is to say about it.
    about: String,
}

/// An expression that is watched.
#[derive(Debug, Serialize, JsonSchema)]
struct Watched {
    expression: String,
    /// Nothing where it cannot be evaluated.
    value: Option<bool>,
}

/// Something that can happen.
#[derive(Debug, Serialize, JsonSchema)]
struct Next {
    /// To be added to `path`.
    step: String,
    /// Who does it.
    processes: Vec<String>,
    /// What it is called.
    action: String,
    /// What has another value afterwards.
    changes: Vec<String>,
    /// How the model goes wrong, or which assertion fails, if that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(crate) fn simulate(arguments: &Arguments, place: &Workplace<'_>) -> Result<Answer, Error> {
    let clock = place.clock(arguments.limits)?;
    let session = arguments.model.open(place.folder, &clock)?;
    let mut walker = Walker::new(session, &clock)?;
    let steps = arguments.path.iter().map(|text| step(text)).collect::<Result<_, Error>>()?;
    let mut path = Path { initial: arguments.initial, steps };
    let mut ended = None;
    if let Some(goal) = &arguments.go_to {
        ended = Some(go_to(&mut walker, &mut path, goal, &clock)?);
    }
    if let Some(random) = &arguments.random {
        ended = Some(wander(&mut walker, &mut path, random, &clock)?);
    }
    let max_steps = arguments.max_steps.unwrap_or(STEPS).min(MAX_STEPS);
    // What was reached in time is told in any case.
    let clock = clock.with_grace();
    let trace = walker.trace(&path, &[], &clock)?;
    let there = walker.place(&path, &arguments.watch, &clock)?;
    let watched = arguments.watch.iter().cloned().zip(&there.watched);
    let next = |choice: &Choice| Next {
        step: token(&choice.step),
        processes: choice.processes.clone(),
        action: choice.action.clone(),
        changes: choice.changes.clone(),
        error: choice.leads_to.clone().err().or_else(|| choice.fails.clone()),
    };
    Ok(Answer {
        model: About::of(walker.session()),
        path: tokens(&path),
        ended,
        run: Run::of(&Counterexample::finite(Kind::Prefix, Target::Truth, trace), max_steps),
        state: parts(there.state.iter().map(|(name, value)| format!("{name} = {value}"))),
        positions: there.positions,
        watched: watched.map(|(expression, &value)| Watched { expression, value }).collect(),
        choices: there.choices.iter().take(MAX_CHOICES).map(next).collect(),
        more_choices: there.choices.len().saturating_sub(MAX_CHOICES),
    })
}

/// Goes to a state that is looked for.
fn go_to(walker: &mut Walker, path: &mut Path, goal: &str, clock: &Clock<'_>) -> Result<Ended, Error> {
    let destination = match goal.trim() {
        "deadlock" => Destination::Deadlock,
        text => Destination::Where(text.to_owned()),
    };
    Ok(match walker.seek(path, &destination, clock)? {
        Sought::Found(steps) => {
            let about = format!("reached in {} more steps, which is a shortest way", steps.len());
            path.steps.extend(steps);
            Ended { because: "found", about }
        }
        Sought::Nowhere(states) => {
            let about = format!(
                "none of the {states} states that can be reached from there is one; the path is as it was"
            );
            Ended { because: "nowhere", about }
        }
        Sought::Limit(limit, states) => {
            let about =
                format!("{limit}, after {states} states: allow more by `limits`; the path is as it was");
            Ended { because: "limit", about }
        }
    })
}

/// Goes on at random.
fn wander(walker: &mut Walker, path: &mut Path, random: &Random, clock: &Clock<'_>) -> Result<Ended, Error> {
    let mut chance = fastrand::Rng::with_seed(random.seed);
    let choose = &mut |n: usize| chance.usize(0..n);
    let (steps, end) = walker.wander(path, random.steps.min(MAX_RANDOM), &random.until, choose, clock)?;
    let taken = format!("{} steps at random", steps.len());
    path.steps.extend(steps);
    let (because, about) = match end {
        WalkEnd::Enough => ("enough", taken),
        WalkEnd::Deadlock => ("deadlock", format!("nothing can happen after {taken}")),
        WalkEnd::Breakpoint(at) => ("until", format!("`{}` is true after {taken}", random.until[at])),
        WalkEnd::Fault(fault) => ("error", format!("the next step goes wrong after {taken}: {fault}")),
    };
    Ok(Ended { because, about })
}

/// A path as it is told.
pub(super) fn tokens(path: &Path) -> Vec<String> {
    path.steps.iter().map(token).collect()
}

fn token(step: &PathStep) -> String {
    format!("{}:{:016x}", step.number, step.key)
}

fn step(token: &str) -> Result<PathStep, Error> {
    let read = || {
        let (number, key) = token.split_once(':')?;
        Some(PathStep { number: number.parse().ok()?, key: u64::from_str_radix(key, 16).ok()? })
    };
    read().ok_or_else(|| {
        let help = "copy `step` of a choice, or `path`, from an answer of this tool";
        usage(&format!("`{token}` is not a step of a path"), help)
    })
}
