//! What of a model a property depends on: the variables, actions and processes that can make a difference to it; and what of
//! these never happens.

use language::PropertyKind;
use model::{ActionId, ActionSystem, ExprId, Guard, ProcessId, Relations, VarId};
use report::why::Because;

use crate::clock::Clock;
use crate::coverage::Seen;

/// What a property depends on.
pub(super) struct Cone {
    /// Whether somebody can change a variable that matters.
    variables: Vec<bool>,
    actions: Vec<bool>,
    processes: Vec<bool>,
}

impl Cone {
    /// What a property depends on; nothing if it is not about states or runs of the model, or if that cannot be found out.
    pub(super) fn of(system: &ActionSystem, kind: &PropertyKind, clock: &Clock<'_>) -> Option<Cone> {
        let all = || (0..system.actions().len()).map(ActionId::new);
        let (mut about, mut actions): (Vec<ExprId>, Vec<ActionId>) = Default::default();
        let mut watch = |labels: &[model::LabelId]| {
            actions.extend(all().filter(|&action| labels.contains(&system.action(action).label)));
        };
        match kind {
            PropertyKind::Invariant(expr) => about.push(*expr),
            PropertyKind::Ltl(ltl) | PropertyKind::Acceptance(ltl) | PropertyKind::Progress(ltl) => {
                about.extend(ltl.propositions.iter().map(|(_, expr)| *expr));
            }
            PropertyKind::Claim(claim) => about.extend(claim.propositions.iter().map(|(_, expr)| *expr)),
            PropertyKind::Tester(observed) => watch(&observed.labels),
            PropertyKind::Spec(observed) => watch(&observed.labels),
            PropertyKind::DeadlockFree | PropertyKind::Assertions | PropertyKind::EndStates => {
                actions.extend(all());
            }
            _ => return None,
        }
        // Whether nothing else can happen depends on everything.
        if system.guards().contains(&Guard::Quiet) {
            actions.extend(all());
        }
        let relations = Relations::new(system, &mut clock.budget()).ok()?;
        let mut variables: Vec<VarId> = Vec::new();
        about.iter().for_each(|&expr| system.exprs.reads(expr, &mut variables));
        let mut is_known = vec![false; system.variables().len()];
        let mut cone = Cone {
            variables: vec![false; system.variables().len()],
            actions: vec![false; system.actions().len()],
            processes: vec![false; system.processes().len()],
        };
        loop {
            while let Some(action) = actions.pop() {
                if std::mem::replace(&mut cone.actions[action.index()], true) {
                    continue;
                }
                let parts = system.action(action);
                parts.owners.iter().for_each(|owner| cone.processes[owner.index()] = true);
                variables.extend(relations.effect_reads(action));
                variables.extend(parts.guards.iter().flat_map(|&guard| relations.guard_reads(guard)));
            }
            let Some(var) = variables.pop() else { break };
            if !std::mem::replace(&mut is_known[var.index()], true) {
                cone.variables[var.index()] = !relations.writers(var).is_empty();
                actions.extend(relations.writers(var));
            }
        }
        Some(cone)
    }

    /// The processes that make no difference: none of their actions writes anything that matters. A property that holds does so
    /// without them, too: runs in which they never move are among those that were looked at. Where it is said of runs that
    /// stop, that is not so: with others that go on for ever, none stops.
    pub(super) fn removable(&self, system: &ActionSystem, kind: &PropertyKind) -> Vec<Because> {
        let is_about_stops = match kind {
            PropertyKind::Tester(observed) => observed.process.states.iter().any(|state| state.deadlock),
            PropertyKind::Spec(_) => true,
            _ => false,
        };
        let owns = |process: usize| {
            system.actions().iter().any(|action| action.owners.contains(&ProcessId::new(process)))
        };
        let idle = (0..self.processes.len()).filter(|&at| !is_about_stops && !self.processes[at] && owns(at));
        idle.map(|at| Because::Removable { process: system.processes()[at].name.clone() }).collect()
    }

    /// What of it never happens, by all states: actions, statements, values.
    pub(super) fn unused(&self, seen: &Seen) -> Vec<Because> {
        let system = &*seen.view.system;
        let unreached = seen.unreached(|action| self.actions[action]);
        let mut found: Vec<Because> =
            unreached.iter().map(|what| Because::NeverHappens { what: what.to_text() }).collect();
        // Where statements are told, only what has a name is.
        let has_statements = seen.view.story.as_ref().is_some_and(|story| story.has_processes());
        for untaken in seen.untaken() {
            let known = system.variables().iter().position(|variable| variable.name == untaken.variable);
            let Some(at) = known.filter(|&at| self.variables[at]) else { continue };
            let variable = untaken.variable;
            if untaken.taken == 1 && !has_statements {
                found.push(Because::NeverChanges { variable, value: untaken.between.0 });
                continue;
            }
            // A value without a name is no value that somebody wanted: 0 is what a variable of names has at first.
            let mut values = untaken.never;
            values.retain(|value| value.parse::<i64>().is_err());
            if !values.is_empty() && system.variables()[at].value_names.is_some() {
                found.push(Because::NeverTaken { variable, values });
            }
        }
        found
    }
}
