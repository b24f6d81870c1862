//! Which infinite runs count: what `--fair` and `fair …;` in a file say.

use base::Diagnostic;
use check::fairness::{Constraint, Fairness};
use model::{ActionId, ActionSystem, ProcessId, Run};
use replay::fairness::{Constraint as Named, Reason};
use replay::{Rejection, Replayed};
use report::outcome::FairTo;

use crate::args::{FairSet, FairSpec};
use crate::input::Loaded;

/// The constraints that hold for a check.
pub(super) struct Constraints {
    named: Vec<Named>,
    unnamed: Vec<Constraint>,
    pub(super) fairness: Fairness,
}

impl Constraints {
    /// Those that were asked for; if none were, those of the file.
    pub(super) fn new(model: &Loaded, asked: &[FairSpec]) -> Result<Constraints, Diagnostic> {
        let system = model.system();
        let mut named = Vec::new();
        if asked.is_empty() {
            for fairness in model.fairness() {
                let processes = fairness.processes.iter();
                named.extend(processes.map(|&process| of_process(system, process, fairness.strong)));
            }
        }
        for spec in asked {
            named.extend(of_spec(system, spec)?);
        }
        named.retain(|constraint| !constraint.actions.is_empty());
        named.sort_by(|a, b| (a.strong, &a.name).cmp(&(b.strong, &b.name)));
        named.dedup();
        let unnamed: Vec<Constraint> = named
            .iter()
            .map(|known| Constraint { strong: known.strong, actions: known.actions.clone() })
            .collect();
        let fairness = Fairness::new(system.actions().len(), &unnamed);
        Ok(Constraints { named, unnamed, fairness })
    }

    /// The constraints, for monitors.
    pub(super) fn list(&self) -> &[Constraint] {
        &self.unnamed
    }

    /// In a word: for programs.
    pub(super) fn name(&self) -> &'static str {
        let has = |strong: bool| self.named.iter().any(|known| known.strong == strong);
        match (has(false), has(true)) {
            (false, false) => "none",
            (true, false) => "weak",
            (false, true) => "strong",
            (true, true) => "weak+strong",
        }
    }

    /// Why a run is fair, as it is shown.
    pub(super) fn judge(
        &self,
        system: &ActionSystem,
        run: &Run,
        replayed: &Replayed,
        cycle_start: usize,
    ) -> Result<Vec<FairTo>, Rejection> {
        let reasons = replay::judge_fairness(system, &self.named, run, replayed, cycle_start)?;
        let explain = |(known, reason): (&Named, &Reason)| {
            let (because, step) = match reason {
                Reason::Taken(step) => ("taken", Some(*step)),
                Reason::Disabled(step) => ("disabled", Some(*step)),
                Reason::NeverEnabled => ("never enabled", None),
            };
            let kind = if known.strong { "strong" } else { "weak" };
            FairTo { constraint: known.name.clone(), kind, because, step }
        };
        Ok(self.named.iter().zip(&reasons).map(explain).collect())
    }
}

/// Fairness to a process: to the actions that are its steps.
fn of_process(system: &ActionSystem, process: ProcessId, strong: bool) -> Named {
    let actions = (0..system.actions().len()).map(ActionId::new);
    let actions = actions.filter(|&action| system.movers(action).contains(&process)).collect();
    Named { name: system.processes()[process.index()].name.clone(), strong, actions }
}

fn of_spec(system: &ActionSystem, spec: &FairSpec) -> Result<Vec<Named>, Diagnostic> {
    let all_processes = || (0..system.processes().len()).map(ProcessId::new);
    match &spec.set {
        FairSet::Nobody => Ok(Vec::new()),
        FairSet::AllProcesses => {
            Ok(all_processes().map(|process| of_process(system, process, spec.strong)).collect())
        }
        FairSet::Processes(names) => {
            let mut found = Vec::new();
            for name in names {
                let known = |process: &ProcessId| &system.processes()[process.index()].name;
                let matching: Vec<ProcessId> =
                    all_processes().filter(|process| is_meant(known(process), name)).collect();
                if matching.is_empty() {
                    let all: Vec<String> = all_processes().map(|process| known(&process).clone()).collect();
                    return Err(unknown("process", name, &all));
                }
                found.extend(matching.into_iter().map(|process| of_process(system, process, spec.strong)));
            }
            Ok(found)
        }
        FairSet::Actions(names) => {
            let mut found = Vec::new();
            for name in names {
                found.extend(of_action(system, name, spec.strong)?);
            }
            Ok(found)
        }
    }
}

/// `send` is one constraint about all actions of that name, whatever their indices; `send[*]`, or `send[0,*]`,
/// is one for each of them.
fn of_action(system: &ActionSystem, name: &str, strong: bool) -> Result<Vec<Named>, Diagnostic> {
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
        return Ok(vec![Named { name: format!("action {name}"), strong, actions: matching }]);
    }
    let mut found: Vec<Named> = Vec::new();
    for action in matching {
        let name = format!("action {}", label(action).name);
        match found.iter_mut().find(|known| known.name == name) {
            Some(known) => known.actions.push(action),
            None => found.push(Named { name, strong, actions: vec![action] }),
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
    Diagnostic::error("unknown-fairness", format!("--fair: the model has no {what} `{name}`"))
        .suggesting(name, names)
}
