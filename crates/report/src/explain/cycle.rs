//! What is said of a run that goes on for ever: what repeats, who never moves again, and what is true from
//! some step on.

use serde_json::Value;

use super::idle;
use super::known::Known;
use super::record::Record;
use super::waiting;
use super::words::{and, distinct, quoted, some_of, statement};
use crate::count;

/// More processes than this are not told about.
const MAX_PROCESSES: usize = 8;

/// More propositions than this are not.
const MAX_PROPOSITIONS: usize = 12;

/// Says what repeats after the first `start` steps.
pub(super) fn explain(
    record: &Record,
    start: usize,
    known: Option<&Known<'_>>,
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
    let is_net = known.is_some_and(|known| waiting::is_net(known.system));
    repeated(record, start, is_net, sentences);
    match known {
        Some(known) => idle::of_system(record, start, known, is_net, sentences),
        None => idle::of_record(record, start, sentences),
    }
    propositions(record, start, sentences);
    sentences.extend(fair(fairness));
}

/// What each process does again and again.
fn repeated(record: &Record, start: usize, is_net: bool, sentences: &mut Vec<String>) {
    const MAX_ACTIONS: usize = 8;
    if is_net {
        let fired = start + 1..=record.n_steps;
        let labels = distinct(fired.map(|index| quoted(record.action(index).unwrap_or_default())));
        let verb = if labels.len() == 1 { "fires" } else { "fire" };
        sentences.push(format!("{} {verb} again and again.", and(&some_of(&labels, 12, "transition"))));
        return;
    }
    let mut by_process: Vec<Vec<(String, usize)>> = vec![Vec::new(); record.processes().len()];
    for index in start + 1..=record.n_steps {
        let mut add = |process: usize, label: String| match by_process[process].last_mut() {
            Some((last, times)) if *last == label => *times += 1,
            _ => by_process[process].push((label, 1)),
        };
        let step = &record.steps[index];
        for one in &step.statements {
            add(one.process, statement(&one.text, one.place.as_deref()));
        }
        if step.statements.is_empty() {
            let label = quoted(record.action(index).unwrap_or_default());
            step.processes.iter().for_each(|&process| add(process, label.clone()));
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
                ("interfered with", Some(step)) => {
                    format!("step {step} interferes with what {who} could do")
                }
                _ if is_action => format!("{who} is impossible for ever"),
                _ => format!("{who} can never move"),
            })
        })
        .collect();
    (!reasons.is_empty()).then(|| format!("The run is fair: {}.", and(&some_of(&reasons, 8, "reason"))))
}
