//! Which infinite runs count: what is asked for, or what the file says.

use base::{Budget, Diagnostic};
use check::fairness::Constraint;
use language::{Model, Trouble};
use model::fairness::{Interference, Kind};
use model::{ActionId, ActionSystem, ProcessId};
use replay::fairness::{Constraint as Named, Subject};
use report::method::Fairness;

use crate::options::{Fair, FairTo};

/// The constraints that hold for a check.
pub(crate) struct Constraints {
    pub(crate) named: Vec<Named>,
    /// The same for searches.
    pub(crate) unnamed: Vec<Constraint>,
}

impl Constraints {
    /// Those that were asked for; if none were, those of the file.
    pub(crate) fn new(
        model: &dyn Model,
        asked: &[Fair],
        budget: &mut Budget<'_>,
    ) -> Result<Constraints, Trouble> {
        let names = Names::new(model.system());
        let mut named = Vec::new();
        if asked.is_empty() {
            for fairness in model.fairness() {
                let of_process = |&process: &ProcessId| names.of_process(process, fairness.kind);
                named.extend(fairness.processes.iter().map(of_process));
            }
        }
        for fair in asked {
            named.extend(names.constraints(fair)?);
        }
        named.retain(|constraint| !constraint.actions.is_empty());
        named.sort_by_cached_key(|known| (known.kind, known.subject.to_string()));
        named.dedup();
        let (just, others): (Vec<&Named>, Vec<&Named>) =
            named.iter().partition(|known| known.kind == Kind::Just);
        let mut unnamed = Vec::new();
        if !just.is_empty() {
            let mut actions: Vec<ActionId> = just.iter().flat_map(|known| &known.actions).copied().collect();
            actions.sort_unstable();
            actions.dedup();
            unnamed = Interference::new(model.system(), budget)?.constraints(actions, budget)?;
        }
        let plain = |known: &Named| Constraint::new(known.kind == Kind::Strong, known.actions.clone());
        unnamed.extend(others.into_iter().map(plain));
        Ok(Constraints { unnamed, named })
    }

    /// Whether every run counts.
    pub(crate) fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// Which kinds there are.
    pub(crate) fn kind(&self) -> Fairness {
        Fairness::of(self.named.iter().map(|known| known.kind))
    }
}

/// What names can mean.
struct Names<'s> {
    system: &'s ActionSystem,
    /// Per process, the actions that are its steps.
    steps: Vec<Vec<ActionId>>,
}

impl<'s> Names<'s> {
    fn new(system: &'s ActionSystem) -> Names<'s> {
        let mut steps = vec![Vec::new(); system.processes().len()];
        for action in (0..system.actions().len()).map(ActionId::new) {
            system.movers(action).iter().for_each(|process| steps[process.index()].push(action));
        }
        Names { system, steps }
    }

    /// Fairness to a process: to the actions that are its steps.
    fn of_process(&self, process: ProcessId, kind: Kind) -> Named {
        let subject = Subject::Process(self.system.processes()[process.index()].name.clone());
        Named { subject, kind, actions: self.steps[process.index()].clone() }
    }

    fn constraints(&self, fair: &Fair) -> Result<Vec<Named>, Diagnostic> {
        let system = self.system;
        let all_processes = || (0..system.processes().len()).map(ProcessId::new);
        let of_process = |process: ProcessId| self.of_process(process, fair.kind);
        match &fair.to {
            FairTo::Nobody => Ok(Vec::new()),
            FairTo::AllProcesses => Ok(all_processes().map(of_process).collect()),
            FairTo::Processes(names) => {
                let mut found = Vec::new();
                for name in names {
                    let known = |process: &ProcessId| &system.processes()[process.index()].name;
                    let is_meant = |process: &ProcessId| {
                        is_meant(known(process), name) || is_meant(&indexed(known(process)), name)
                    };
                    let matching: Vec<ProcessId> = all_processes().filter(is_meant).collect();
                    if matching.is_empty() {
                        let all: Vec<String> =
                            all_processes().map(|process| indexed(known(&process))).collect();
                        return Err(unknown("process", name, &all));
                    }
                    found.extend(matching.into_iter().map(of_process));
                }
                Ok(found)
            }
            FairTo::Actions(names) => {
                let mut found = Vec::new();
                for name in names {
                    found.extend(of_action(system, name, fair.kind)?);
                }
                Ok(found)
            }
        }
    }
}

/// `send` is one constraint about all actions of that name, whatever their indices; `send[*]`, or `send[0,*]`,
/// is one for each of them.
fn of_action(system: &ActionSystem, name: &str, kind: Kind) -> Result<Vec<Named>, Diagnostic> {
    let label = |action: ActionId| &system.labels()[system.action(action).label.index()];
    let all = (0..system.actions().len()).map(ActionId::new);
    let visible: Vec<ActionId> = all.filter(|&action| !label(action).internal).collect();
    let matching: Vec<ActionId> =
        visible.iter().copied().filter(|&action| is_meant(&label(action).name, name)).collect();
    if matching.is_empty() {
        let mut names: Vec<String> = visible.iter().map(|&action| label(action).name.clone()).collect();
        names.sort();
        names.dedup();
        return Err(unknown("action", name, &names));
    }
    if !parts(name).1.contains(&"*") {
        return Ok(vec![Named { subject: Subject::Action(name.to_owned()), kind, actions: matching }]);
    }
    let mut found: Vec<Named> = Vec::new();
    for action in matching {
        let subject = Subject::Action(label(action).name.clone());
        match found.iter_mut().find(|known| known.subject == subject) {
            Some(known) => known.actions.push(action),
            None => found.push(Named { subject, kind, actions: vec![action] }),
        }
    }
    Ok(found)
}

/// Whether a name of the model is meant: it itself, or with any indices; `*` is any index, and `[*]` alone
/// any number of them.
fn is_meant(known: &str, name: &str) -> bool {
    let ((known_stem, known_indices), (stem, indices)) = (parts(known), parts(name));
    let fits = |(known, index): (&&str, &&str)| *index == "*" || index == known;
    let fit = indices.len() == known_indices.len() && known_indices.iter().zip(&indices).all(fits);
    known == name || known_stem == stem && (indices.is_empty() || indices == ["*"] || fit)
}

/// `P(1)`, a process that Promela has started, with an index: as `P[1]`.
fn indexed(name: &str) -> String {
    match name.strip_suffix(')').and_then(|name| name.split_once('(')) {
        Some((stem, number)) => format!("{stem}[{number}]"),
        None => name.to_owned(),
    }
}

/// A name without its indices, and these.
fn parts(name: &str) -> (&str, Vec<&str>) {
    match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
        Some((stem, indices)) => (stem, indices.split(',').collect()),
        None => (name, Vec::new()),
    }
}

fn unknown(what: &str, name: &str, known: &[String]) -> Diagnostic {
    let mut names: Vec<&str> = known.iter().map(String::as_str).collect();
    if !name.ends_with(']') {
        names = names.into_iter().map(|name| parts(name).0).collect();
    }
    Diagnostic::error("unknown-fairness", format!("the model has no {what} `{name}`")).suggesting(name, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_started_process_has_an_index() {
        let is_meant = |name: &str| is_meant(&indexed("P(1)"), name);
        assert!(["P", "P[1]", "P[*]"].into_iter().all(is_meant));
        assert!(!["P[0]", "Q", "P(1"].into_iter().any(is_meant));
    }
}
