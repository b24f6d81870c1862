//! Who does not move in a cycle, whether it could, and what it waits for.

use model::{ActionId, ActionSystem, Describe as _, ProcessId, reference};

use super::known::Known;
use super::record::Record;
use super::statements;
use super::waiting::{self, Locations};
use super::words::{distinct, either, quoted, some_of};
use crate::count;
use crate::story::Position;

/// More processes than this are not told about.
const MAX_PROCESSES: usize = 8;

/// So many guards may be looked at to find out who could have moved.
const MAX_WORK: usize = 20_000_000;

fn never_moves(name: &str, last_move: Option<usize>) -> String {
    match last_move {
        None | Some(0) => format!("{name} never moves"),
        Some(step) => format!("{name} never moves again after step {step}"),
    }
}

/// Who moves before the cycle, but not in it.
pub(super) fn of_record(record: &Record, start: usize, sentences: &mut Vec<String>) {
    for (name, last) in record.processes().iter().zip(record.last_moves()) {
        if last <= start {
            sentences.push(never_moves(name, Some(last)) + ".");
        }
    }
}

/// Whether somebody who does not move could: never, again and again, or always.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Could {
    Never,
    Sometimes,
    Always,
}

/// Somebody who does not move in the cycle.
struct Idle<'k> {
    name: &'k str,
    /// The last step that it took part in.
    last_move: Option<usize>,
    /// Where it is, if a story tells.
    position: Option<&'k Position>,
    /// Its number, if no story is told. With one, several numbers may go by the same name.
    number: Option<ProcessId>,
}

impl Idle<'_> {
    fn owns(&self, system: &ActionSystem, owner: ProcessId) -> bool {
        match self.number {
            Some(number) => number == owner,
            None => system.process_name(owner) == self.name,
        }
    }

    fn takes_part(&self, system: &ActionSystem, action: ActionId) -> bool {
        system.action_owners(action).iter().any(|&owner| self.owns(system, owner))
    }

    /// Whether fairness to it is about an action.
    fn is_responsible(&self, system: &ActionSystem, action: ActionId) -> bool {
        system.movers(action).iter().any(|&owner| self.owns(system, owner))
    }
}

/// Who does not move in the cycle, and why.
pub(super) fn of_system(
    record: &Record,
    start: usize,
    known: &Known<'_>,
    is_net: bool,
    sentences: &mut Vec<String>,
) {
    let system = known.system;
    let positions = known.story.zip(known.state(record, start));
    let positions = positions.map(|(story, state)| story.places(&state));
    let last_moves = record.last_moves();
    let last_move = |name: &str| record.process_number(name).map(|number| last_moves[number]);
    let is_idle = |name: &str| last_move(name).is_none_or(|step| step <= start);
    let idle: Vec<Idle<'_>> = match &positions {
        Some(positions) => positions
            .iter()
            .filter(|position| !position.is_over && is_idle(&position.process))
            .map(|position| Idle {
                name: &position.process,
                last_move: last_move(&position.process),
                position: Some(position),
                number: None,
            })
            .collect(),
        None => (0..system.processes().len())
            .map(ProcessId::new)
            .map(|number| (system.process_name(number), number))
            .filter(|(name, _)| is_idle(name))
            .map(|(name, number)| Idle {
                name,
                last_move: last_move(name),
                position: None,
                number: Some(number),
            })
            .collect(),
    };
    let n_guards: usize = system.actions().iter().map(|action| action.guards.len() + 1).sum();
    let is_little = record.n_steps.saturating_mul(n_guards) <= MAX_WORK;
    let states: Option<Vec<Vec<i64>>> =
        is_little.then(|| (0..record.n_steps).map(|index| known.state(record, index)).collect()).flatten();
    let enabled: Option<Vec<Vec<ActionId>>> = states
        .as_ref()
        .and_then(|states| states.iter().map(|state| reference::enabled(system, state).ok()).collect());
    let (Some(states), Some(enabled)) = (states, enabled) else {
        for who in idle.iter().take(MAX_PROCESSES) {
            sentences.push(never_moves(who.name, who.last_move) + ".");
        }
        return;
    };
    let locations = Locations::new(system);
    let (mut hint, mut n_told, mut n_untold) = (Could::Never, 0, 0u64);
    for who in &idle {
        let count_of = |takes: &dyn Fn(ActionId) -> bool| {
            (start..record.n_steps).filter(|&at| enabled[at].iter().any(|&action| takes(action))).count()
        };
        let could = |n_times: usize| match n_times {
            0 => Could::Never,
            n if n == record.n_steps - start => Could::Always,
            _ => Could::Sometimes,
        };
        hint = hint.max(could(count_of(&|action| who.is_responsible(system, action))));
        let could = could(count_of(&|action| who.takes_part(system, action)));
        // Of a net, most transitions never fire, and that is nothing special.
        if n_told >= MAX_PROCESSES || is_net && could == Could::Never {
            n_untold += 1;
            continue;
        }
        n_told += 1;
        let scene = Scene { known, states: &states, enabled: &enabled, locations: &locations, start };
        sentences.push(scene.sentence(who, could, is_net));
    }
    if n_untold > 0 {
        let (noun, verb) = if is_net { ("other transition", "fire") } else { ("more process", "move") };
        sentences.push(format!("In the cycle, {} never {verb}.", count(n_untold, noun)));
    }
    sentences.extend(positions.as_deref().and_then(statements::over));
    let (kind, spelling) = match hint {
        Could::Always => ("weak", known.spelling.weak_fairness),
        Could::Sometimes => ("strong", known.spelling.strong_fairness),
        Could::Never => return,
    };
    let spelling = spelling.map_or(String::new(), |spelling| format!(" (`{spelling}`)"));
    sentences.push(format!("Under {kind} fairness{spelling}, this run would not count."));
}

/// The states of a run, and what is enabled in each.
struct Scene<'s> {
    known: &'s Known<'s>,
    states: &'s [Vec<i64>],
    enabled: &'s [Vec<ActionId>],
    locations: &'s Locations,
    /// Where the cycle begins.
    start: usize,
}

impl Scene<'_> {
    /// What somebody could do after a step.
    fn labels(&self, who: &Idle<'_>, at: usize) -> impl Iterator<Item = String> {
        let Known { system, story, .. } = self.known;
        let its = self.enabled[at].iter().filter(|&&action| who.takes_part(system, action));
        its.map(move |&action| {
            let part = story.and_then(|story| statements::part(story, action, &self.states[at], who.name));
            part.unwrap_or_else(|| quoted(system.action_label(action)))
        })
    }

    fn sentence(&self, who: &Idle<'_>, could: Could, is_net: bool) -> String {
        let never = never_moves(who.name, who.last_move);
        let never = if is_net { never.replace("never moves", "never fires") } else { never };
        let cycle = || self.start..self.states.len();
        let labels = distinct(cycle().flat_map(|at| self.labels(who, at)));
        let labels =
            if is_net { String::new() } else { format!(": by {}", either(&some_of(&labels, 4, "action"))) };
        let can = |at: &usize| self.labels(who, *at).next().is_some();
        match could {
            Could::Always => format!("{never}, although it always could{labels}."),
            Could::Sometimes => {
                let first = cycle().find(can).unwrap_or(self.start);
                format!("{never}, although it could again and again{labels} after step {first}.")
            }
            Could::Never => {
                let since = (0..=self.start).rev().take_while(|at| !can(at)).last().unwrap_or(self.start);
                let since = match since {
                    0 => "It never can".to_owned(),
                    since => format!("From step {since} on it cannot"),
                };
                format!("{never}. {since}: {}.", self.why_not(who))
            }
        }
    }

    /// Why somebody can do nothing in the cycle: it has nothing to do, or waits for what never comes.
    fn why_not(&self, who: &Idle<'_>) -> String {
        let (system, state) = (self.known.system, &self.states[self.start]);
        if let (Some(story), Some(position)) = (self.known.story, who.position) {
            return match statements::wished(system, story, state, position).as_slice() {
                [] => format!("at line {}, nothing is possible", position.line),
                wishes => format!("it waits for {}", either(wishes)),
            };
        }
        let Some(process) = who.number else { return "it has nothing to do".to_owned() };
        let wait = waiting::wait(system, self.locations, state, process);
        let labels = distinct(wait.actions.iter().map(|(action, _)| quoted(system.action_label(*action))));
        let place = waiting::place(system, self.locations, state, process);
        let place = place.map_or(String::new(), |place| format!("in {place}, "));
        match labels.as_slice() {
            [] => format!("{place}it has nothing to do"),
            labels => format!("{place}it waits for {}", either(&some_of(labels, 4, "action"))),
        }
    }
}
