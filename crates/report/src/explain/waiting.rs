//! Who waits for what: the actions that a process could take part in by itself, and the guards of others
//! that keep them from happening.

use std::collections::{BTreeMap, VecDeque};

use model::{ActionId, ActionSystem, Describe as _, Guard, ProcessId, ValueSet, VarId, reference};

use super::record::Record;
use super::words::{and, distinct, either, quoted, some_of, value};
use crate::count;

/// More processes or transitions than this are not told about.
const MAX_WAITING: usize = 10;

/// Of one process, more actions than this are not.
const MAX_ACTIONS: usize = 3;

/// The labels of the actions that are enabled, each once.
pub(super) fn enabled(system: &ActionSystem, state: &[i64]) -> Vec<String> {
    let enabled = reference::enabled(system, state).unwrap_or_default();
    distinct(enabled.into_iter().map(|action| quoted(system.action_label(action))))
}

/// Whether this is a net: each transition is a process of its own, and nobody else.
pub(super) fn is_net(system: &ActionSystem) -> bool {
    let is_alone = |action: ActionId| match system.action_owners(action) {
        [owner] => system.process_name(*owner) == system.action_label(action),
        _ => false,
    };
    !system.actions().is_empty() && (0..system.actions().len()).map(ActionId::new).all(is_alone)
}

/// The variables that say where processes are.
pub(super) struct Locations(Vec<Option<VarId>>);

impl Locations {
    /// The location of a process is called like it; or it is the named variable that all of its own actions
    /// look at.
    pub(super) fn new(system: &ActionSystem) -> Locations {
        let by_name: BTreeMap<&str, VarId> = (0..system.variables().len())
            .filter(|&var| system.variables()[var].value_names.is_some())
            .map(|var| (system.variables()[var].name.as_str(), VarId::new(var)))
            .collect();
        let mut common: Vec<Option<Vec<VarId>>> = vec![None; system.processes().len()];
        for action in system.actions() {
            let Some(owner) = action.owners.first() else { continue };
            let looks_at = |guard: &model::GuardId| match &system.guards()[guard.index()] {
                Guard::In(var, _) if system.variables()[var.index()].value_names.is_some() => Some(*var),
                _ => None,
            };
            let vars: Vec<VarId> = action.guards.iter().filter_map(looks_at).collect();
            match &mut common[owner.index()] {
                Some(common) => common.retain(|var| vars.contains(var)),
                none => *none = Some(vars),
            }
        }
        let locations = system.processes().iter().zip(common).map(|(process, common)| {
            by_name.get(process.name.as_str()).copied().or_else(|| common?.first().copied())
        });
        Locations(locations.collect())
    }

    pub(super) fn of(&self, process: ProcessId) -> Option<VarId> {
        self.0[process.index()]
    }

    /// The first process that is at a location.
    fn owner(&self, var: VarId) -> Option<ProcessId> {
        self.0.iter().position(|location| *location == Some(var)).map(ProcessId::new)
    }
}

/// What a process waits for in a state.
pub(super) struct Wait {
    pub(super) process: ProcessId,
    /// The actions that its own location allows, with what keeps them from happening.
    pub(super) actions: Vec<(ActionId, Vec<Obstacle>)>,
}

/// A guard that is false.
pub(super) struct Obstacle {
    /// What would have to be.
    pub(super) text: String,
    /// Whose location it is about.
    partner: Option<ProcessId>,
}

/// What a process waits for.
pub(super) fn wait(system: &ActionSystem, locations: &Locations, state: &[i64], process: ProcessId) -> Wait {
    let mut actions = Vec::new();
    for (index, action) in system.actions().iter().enumerate() {
        if !action.owners.contains(&process) {
            continue;
        }
        let guards = || action.guards.iter().map(|guard| &system.guards()[guard.index()]);
        let is_here = guards().all(|guard| match guard {
            Guard::In(var, set) if locations.of(process) == Some(*var) => set.contains(state[var.index()]),
            _ => true,
        });
        if is_here {
            let obstacles = guards().filter_map(|guard| obstacle(system, locations, state, guard)).collect();
            actions.push((ActionId::new(index), obstacles));
        }
    }
    Wait { process, actions }
}

fn obstacle(system: &ActionSystem, locations: &Locations, state: &[i64], guard: &Guard) -> Option<Obstacle> {
    // A guard that cannot be evaluated does not hold either.
    if reference::guard_holds(system, guard, state).unwrap_or(false) {
        return None;
    }
    Some(match guard {
        Guard::In(var, set) => {
            let variable = &system.variables()[var.index()];
            let partner = locations.owner(*var);
            let now = value(&variable.show(state[var.index()]));
            let name = partner.map_or(variable.name.as_str(), |process| system.process_name(process));
            let named = variable.value_names.is_some();
            let wanted = wanted(set, variable, named);
            let text = if named {
                format!("{name} would have to be in {wanted} (it is in {now})")
            } else {
                format!("{name} would have to be {wanted} (it is {now})")
            };
            Obstacle { text, partner }
        }
        Guard::True(expr) => {
            let mut vars = Vec::new();
            system.exprs.reads(*expr, &mut vars);
            vars.sort_unstable();
            vars.dedup();
            let values: Vec<String> = vars
                .iter()
                .map(|var| {
                    let variable = &system.variables()[var.index()];
                    format!("{} = {}", variable.name, variable.show(state[var.index()]))
                })
                .collect();
            let text = match values.as_slice() {
                [] => "a condition is false".to_owned(),
                values => format!("its condition is false where {}", and(&some_of(values, 5, "variable"))),
            };
            Obstacle { text, partner: None }
        }
        Guard::Quiet => {
            Obstacle { text: "something else would have to be impossible".to_owned(), partner: None }
        }
    })
}

/// The values that a variable would have to have.
pub(super) fn wanted(set: &ValueSet, variable: &model::Variable, named: bool) -> String {
    let (least, greatest) = variable.certain();
    match set {
        ValueSet::Range(lo, hi) if lo == hi => value(&variable.show(*lo)),
        set if set.count_within(least, greatest) == 0 => "something that it never is".to_owned(),
        ValueSet::Range(lo, hi) if !named && *hi >= greatest => format!("at least {lo}"),
        ValueSet::Range(lo, hi) if !named && *lo <= least => format!("at most {hi}"),
        set => {
            let values: Vec<String> =
                set.values_within(least, greatest).take(20).map(|one| value(&variable.show(one))).collect();
            either(&some_of(&values, 4, "value"))
        }
    }
}

/// Says who waits for what in a state where nothing is enabled.
pub(super) fn explain(record: &Record, system: &ActionSystem, state: &[i64], sentences: &mut Vec<String>) {
    let locations = Locations::new(system);
    if locations.0.iter().all(Option::is_none) {
        return explain_net(system, &locations, state, sentences);
    }
    let waits: Vec<Wait> = (0..system.processes().len())
        .map(|process| wait(system, &locations, state, ProcessId::new(process)))
        .collect();
    for wait in waits.iter().take(MAX_WAITING) {
        sentences.push(sentence(system, &locations, state, wait));
    }
    if waits.len() > MAX_WAITING {
        let more = count((waits.len() - MAX_WAITING) as u64, "more process");
        sentences.push(format!("So it is with {more}."));
    }
    sentences.extend(circle(record, system, &waits));
}

/// Where a process is.
pub(super) fn place(
    system: &ActionSystem,
    locations: &Locations,
    state: &[i64],
    process: ProcessId,
) -> Option<String> {
    let var = locations.of(process)?;
    Some(quoted(&system.variables()[var.index()].show(state[var.index()])))
}

fn sentence(system: &ActionSystem, locations: &Locations, state: &[i64], wait: &Wait) -> String {
    let name = system.process_name(wait.process);
    let is_in = place(system, locations, state, wait.process).map(|place| format!("is in {place}"));
    if wait.actions.is_empty() {
        return match is_in {
            Some(is_in) => format!("{name} {is_in}, where it has nothing to do."),
            None => format!("{name} has nothing to do."),
        };
    }
    let phrases: Vec<String> = wait
        .actions
        .iter()
        .map(|(action, obstacles)| {
            let label = quoted(system.action_label(*action));
            let obstacles: Vec<String> = obstacles.iter().map(|obstacle| obstacle.text.clone()).collect();
            match obstacles.as_slice() {
                [] => label,
                obstacles => format!("{label}, for which {}", and(&some_of(obstacles, 3, "condition"))),
            }
        })
        .collect();
    let mut phrases = some_of(&phrases, MAX_ACTIONS, "action");
    phrases.dedup();
    let is_in = is_in.map_or(String::new(), |is_in| format!("{is_in} and "));
    format!("{name} {is_in}waits for {}.", phrases.join("; or for "))
}

/// Where nobody is anywhere, as in a net: the transitions that lack the least.
fn explain_net(system: &ActionSystem, locations: &Locations, state: &[i64], sentences: &mut Vec<String>) {
    let obstacles = |action: &model::Action| -> Vec<Obstacle> {
        let guards = action.guards.iter().map(|guard| &system.guards()[guard.index()]);
        guards.filter_map(|guard| obstacle(system, locations, state, guard)).collect()
    };
    let mut transitions: Vec<(ActionId, Vec<Obstacle>)> = system
        .actions()
        .iter()
        .enumerate()
        .map(|(id, action)| (ActionId::new(id), obstacles(action)))
        .collect();
    transitions.sort_by_key(|(action, obstacles)| (obstacles.len(), *action));
    let n_nearest = transitions.len().min(MAX_WAITING / 2);
    for (action, obstacles) in &transitions[..n_nearest] {
        let texts: Vec<String> = obstacles.iter().map(|obstacle| obstacle.text.clone()).collect();
        let label = quoted(system.action_label(*action));
        sentences.push(format!("For {label}, {}.", and(&some_of(&texts, 3, "place"))));
    }
    if transitions.len() > n_nearest {
        let more = count((transitions.len() - n_nearest) as u64, "more transition");
        sentences.push(format!("{more} cannot fire either, and lack as much or more."));
    }
}

/// Processes that wait for each other, if there are some: the first shortest circle. Who waits for one of
/// several waits above all for those whom it moved with last: a fork for the philosopher who holds it.
fn circle(record: &Record, system: &ActionSystem, waits: &[Wait]) -> Option<String> {
    let last_moves = record.last_moves();
    let moved_last = |process: ProcessId, partner: usize| {
        let step = record.process_number(system.process_name(process)).map(|number| last_moves[number]);
        let name = system.process_name(ProcessId::new(partner));
        step.is_some_and(|step| record.who(step).any(|known| known == name))
    };
    let partners: Vec<Vec<usize>> = waits
        .iter()
        .map(|wait| {
            let all = wait.actions.iter().flat_map(|(_, obstacles)| obstacles);
            let mut partners: Vec<usize> =
                all.filter_map(|obstacle| obstacle.partner).map(ProcessId::index).collect();
            partners.sort_unstable();
            partners.dedup();
            if partners.iter().any(|&partner| moved_last(wait.process, partner)) {
                partners.retain(|&partner| moved_last(wait.process, partner));
            }
            partners
        })
        .collect();
    let shortest = (0..waits.len()).filter_map(|start| round_trip(&partners, start)).min_by_key(Vec::len)?;
    const MAX_NAMES: usize = 12;
    if shortest.len() > MAX_NAMES {
        return Some(format!(
            "Among them, {} wait for each other in a circle.",
            count(shortest.len() as u64, "process")
        ));
    }
    let name = |process: &usize| system.process_name(ProcessId::new(*process));
    let mut pairs: Vec<String> = Vec::new();
    for (at, process) in shortest.iter().enumerate() {
        let next = &shortest[(at + 1) % shortest.len()];
        pairs.push(format!("{} for {}", name(process), name(next)));
    }
    Some(format!("They wait for each other in a circle: {}.", and(&pairs)))
}

/// A shortest way from a node back to itself.
pub(super) fn round_trip(edges: &[Vec<usize>], start: usize) -> Option<Vec<usize>> {
    let mut before: Vec<Option<usize>> = vec![None; edges.len()];
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for &next in &edges[node] {
            if next == start {
                let mut way = vec![node];
                while let Some(previous) = way.last().and_then(|&last| before[last]) {
                    way.push(previous);
                }
                way.reverse();
                return Some(way);
            }
            if before[next].is_none() {
                before[next] = Some(node);
                queue.push_back(next);
            }
        }
    }
    None
}
