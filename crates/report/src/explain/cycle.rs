//! What is said of a run that goes on for ever: what repeats, who never moves again and why, and what is
//! true from some step on.

use model::{ActionId, ActionSystem, Describe as _, ProcessId, reference};
use serde_json::Value;

use super::record::Record;
use super::waiting::{self, Locations};
use super::words::{and, either, quoted, some_of};
use crate::count;

/// More processes than this are not told about.
const MAX_PROCESSES: usize = 8;

/// More propositions than this are not.
const MAX_PROPOSITIONS: usize = 12;

/// So many guards may be looked at to find out who could have moved.
const MAX_WORK: usize = 20_000_000;

/// Says what repeats after the first `start` steps.
pub(super) fn explain(
    record: &Record,
    start: usize,
    system: Option<&ActionSystem>,
    fairness: &Value,
    sentences: &mut Vec<String>,
) {
    let n_cycle = (record.n_steps - start) as u64;
    let (steps, verb) = (count(n_cycle, "step"), if n_cycle == 1 { "repeats" } else { "repeat" });
    sentences.push(match start {
        0 => format!("From the beginning, {steps} {verb} for ever."),
        _ => format!("After step {start}, {steps} {verb} for ever."),
    });
    if record.is_cut() {
        sentences.push("The run is too long to say more about it.".to_owned());
        return;
    }
    let is_net = system.is_some_and(waiting::is_net);
    repeated(record, start, is_net, sentences);
    match system {
        Some(system) => idle_of_system(record, start, system, is_net, sentences),
        None => idle_of_record(record, start, sentences),
    }
    propositions(record, start, sentences);
    sentences.extend(fair(fairness));
}

/// What each process does again and again.
fn repeated(record: &Record, start: usize, is_net: bool, sentences: &mut Vec<String>) {
    const MAX_ACTIONS: usize = 8;
    if is_net {
        let mut labels: Vec<String> = Vec::new();
        for index in start + 1..=record.n_steps {
            let label = quoted(record.action(index).unwrap_or_default());
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        let verb = if labels.len() == 1 { "fires" } else { "fire" };
        sentences.push(format!("{} {verb} again and again.", and(&some_of(&labels, 12, "transition"))));
        return;
    }
    let mut by_process: Vec<Vec<(String, usize)>> = vec![Vec::new(); record.processes().len()];
    for index in start + 1..=record.n_steps {
        let label = quoted(record.action(index).unwrap_or_default());
        for &process in &record.steps[index].processes {
            match by_process[process].last_mut() {
                Some((last, times)) if *last == label => *times += 1,
                _ => by_process[process].push((label.clone(), 1)),
            }
        }
    }
    let movers: Vec<usize> =
        (0..by_process.len()).filter(|&process| !by_process[process].is_empty()).collect();
    for &process in movers.iter().take(MAX_PROCESSES) {
        let actions: Vec<String> = by_process[process]
            .iter()
            .map(|(label, times)| match times {
                1 => label.clone(),
                2 => format!("{label} twice"),
                times => format!("{label} {times} times"),
            })
            .collect();
        let actions = some_of(&actions, MAX_ACTIONS, "action").join(", ");
        sentences.push(format!("{} does {actions} again and again.", record.processes()[process]));
    }
    if movers.len() > MAX_PROCESSES {
        let more = count((movers.len() - MAX_PROCESSES) as u64, "more process");
        sentences.push(format!("{more} take part."));
    }
}

fn never_moves(name: &str, last_move: Option<usize>) -> String {
    match last_move {
        None => format!("{name} never moves"),
        Some(step) => format!("{name} never moves again after step {step}"),
    }
}

/// Who moves before the cycle, but not in it.
fn idle_of_record(record: &Record, start: usize, sentences: &mut Vec<String>) {
    for (name, last) in record.processes().iter().zip(record.last_moves()) {
        if last <= start {
            sentences.push(never_moves(name, Some(last)) + ".");
        }
    }
}

/// Whether somebody who does not move could.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Could {
    Always,
    Sometimes,
    Never,
}

/// Who does not move in the cycle, and why.
fn idle_of_system(
    record: &Record,
    start: usize,
    system: &ActionSystem,
    is_net: bool,
    sentences: &mut Vec<String>,
) {
    let last_moves = record.last_moves();
    let last_move = |process: ProcessId| {
        record.process_number(system.process_name(process)).map(|number| last_moves[number])
    };
    let is_idle = |process: &ProcessId| last_move(*process).is_none_or(|step| step <= start);
    let idle: Vec<ProcessId> =
        (0..system.processes().len()).map(ProcessId::new).filter(|process| is_idle(process)).collect();
    let states: Option<Vec<Vec<i64>>> =
        (0..record.n_steps).map(|index| record.state_of(system, index)).collect();
    let n_guards: usize = system.actions().iter().map(|action| action.guards.len() + 1).sum();
    let states = states.filter(|states| states.len().saturating_mul(n_guards) <= MAX_WORK);
    let enabled: Option<Vec<Vec<ActionId>>> = states
        .as_ref()
        .and_then(|states| states.iter().map(|state| reference::enabled(system, state).ok()).collect());
    let (Some(states), Some(enabled)) = (states, enabled) else {
        for &process in idle.iter().take(MAX_PROCESSES) {
            sentences.push(never_moves(system.process_name(process), last_move(process)) + ".");
        }
        return;
    };
    let locations = Locations::new(system);
    let (mut hint, mut n_told, mut n_untold) = (Could::Never, 0, 0u64);
    for process in idle {
        let can =
            |at: usize| enabled[at].iter().any(|&action| system.action_owners(action).contains(&process));
        let n_times = (start..record.n_steps).filter(|&at| can(at)).count();
        let could = match n_times {
            0 => Could::Never,
            n if n == record.n_steps - start => Could::Always,
            _ => Could::Sometimes,
        };
        hint = match (hint, could) {
            (_, Could::Always) | (Could::Always, _) => Could::Always,
            (_, Could::Sometimes) | (Could::Sometimes, _) => Could::Sometimes,
            _ => Could::Never,
        };
        // Of a net, most transitions never fire, and that is nothing special.
        if n_told >= MAX_PROCESSES || is_net && could == Could::Never {
            n_untold += 1;
            continue;
        }
        n_told += 1;
        let never = never_moves(system.process_name(process), last_move(process));
        let never = if is_net { never.replace("never moves", "never fires") } else { never };
        let mut labels: Vec<String> = Vec::new();
        for at in (start..record.n_steps).filter(|&at| can(at)) {
            for &action in
                enabled[at].iter().filter(|&&action| system.action_owners(action).contains(&process))
            {
                let label = quoted(&system.action_label(action));
                if !labels.contains(&label) {
                    labels.push(label);
                }
            }
        }
        let labels =
            if is_net { String::new() } else { format!(": by {}", either(&some_of(&labels, 4, "action"))) };
        sentences.push(match could {
            Could::Always => format!("{never}, although it always could{labels}."),
            Could::Sometimes => {
                let first = (start..record.n_steps).find(|&at| can(at)).unwrap_or(start);
                format!("{never}, although it could again and again{labels} after step {first}.")
            }
            Could::Never => {
                let since = (0..=start).rev().take_while(|&at| !can(at)).last().unwrap_or(start);
                let why = why_not(system, &locations, &states[start], process);
                let since = if since == 0 {
                    "It never can".to_owned()
                } else {
                    format!("From step {since} on it cannot")
                };
                format!("{never}. {since}: {why}.")
            }
        });
    }
    if n_untold > 0 {
        let noun = if is_net { "transition" } else { "more process" };
        let verb = if is_net { "fire" } else { "move" };
        sentences.push(format!("{} never {verb} again.", count(n_untold, noun)));
    }
    match hint {
        Could::Always => {
            sentences.push("Under weak fairness (`--fair weak`), this run would not count.".to_owned());
        }
        Could::Sometimes => {
            sentences.push("Under strong fairness (`--fair strong`), this run would not count.".to_owned());
        }
        Could::Never => {}
    }
}

/// Why a process can do nothing in the cycle: it has nothing to do, or waits for what never comes.
fn why_not(system: &ActionSystem, locations: &Locations, state: &[i64], process: ProcessId) -> String {
    let wait = waiting::wait(system, locations, state, process);
    let mut labels: Vec<String> = Vec::new();
    for (action, _) in &wait.actions {
        let label = quoted(&system.action_label(*action));
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let place = waiting::place(system, locations, state, process).map(|place| format!("in {place}, "));
    match labels.as_slice() {
        [] => format!("{}it has nothing to do", place.unwrap_or_default()),
        labels => {
            let labels = either(&some_of(labels, 4, "action"));
            format!("{}it waits for {labels}", place.unwrap_or_default())
        }
    }
}

/// What is true from some step on, or changes again and again, after the first `start` steps.
pub(super) fn propositions(record: &Record, start: usize, sentences: &mut Vec<String>) {
    let (n_told, last) = (record.steps.len(), record.steps.len() - 1);
    for (index, text) in record.propositions.iter().enumerate().take(MAX_PROPOSITIONS) {
        let text = quoted(text);
        let value = record.holds(last, index);
        if (start.min(last)..n_told).any(|at| record.holds(at, index) != value) {
            sentences.push(format!("{text} becomes true and false again and again."));
            continue;
        }
        let since =
            (0..n_told).rev().take_while(|&at| record.holds(at, index) == value).last().unwrap_or(last);
        let step = record.steps[since].number;
        sentences.push(match (value, step) {
            (true, 0) => format!("{text} is always true."),
            (false, 0) => format!("{text} is never true."),
            (true, step) => format!("{text} is true from step {step} on."),
            (false, step) => format!("{text} becomes false in step {step}, and never true again."),
        });
    }
    if record.propositions.len() > MAX_PROPOSITIONS {
        let more = count((record.propositions.len() - MAX_PROPOSITIONS) as u64, "more proposition");
        sentences.push(format!("The formula looks at {more}."));
    }
}

/// Why the run is fair, if it has to be.
fn fair(fairness: &Value) -> Option<String> {
    let reasons: Vec<String> = fairness
        .as_array()?
        .iter()
        .filter_map(|reason| {
            let who = reason.get("constraint")?.as_str()?;
            let step = reason.get("step").and_then(Value::as_u64);
            let is_action = who.starts_with("action ");
            Some(match (reason.get("because")?.as_str()?, step) {
                ("taken", Some(step)) if is_action => format!("{who} happens in step {step}"),
                ("taken", Some(step)) => format!("{who} moves in step {step}"),
                ("disabled", Some(step)) if is_action => {
                    format!("{who} is impossible right after step {step}")
                }
                ("disabled", Some(step)) => format!("{who} cannot move right after step {step}"),
                _ if is_action => format!("{who} is impossible for ever"),
                _ => format!("{who} can never move"),
            })
        })
        .collect();
    (!reasons.is_empty()).then(|| format!("The run is fair: {}.", and(&some_of(&reasons, 8, "reason"))))
}
