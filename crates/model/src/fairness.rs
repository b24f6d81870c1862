//! Which infinite runs count: constraints, and what justness means.
//!
//! A constraint is *enabled* in a state if one of its actions is. Runs may be fair to it in three ways:
//!
//! - *weakly*: infinitely often it is not enabled, or one of its actions happens;
//! - *strongly*: one of its actions happens infinitely often, or from some point on it is not enabled;
//! - *justly*: each of its actions `b`, wherever it is enabled, later happens or is interfered with.
//!
//! # Justness
//! After van Glabbeek and Höfner, *Progress, justness, and fairness* (ACM Computing Surveys 2019): once a transition is
//! enabled that stems from some parallel components, one of these components will take part in a transition. Which
//! components a transition needs, and which it affects, is up to the semantics of a language (van Glabbeek, *Justness: a
//! completeness criterion for capturing liveness properties*, 2019). Here components are processes and variables:
//!
//! - an action *needs* the processes that take part in it, and the variables that its guards read;
//! - a step *affects* the variables that it may write. A variable *belongs* to a process that takes part in every action that
//!   may write it. A step affects a process that takes part in it if it may write a variable that belongs to it;
//!   and if it does so to none of its processes, it affects all of them. A process that is not affected is only
//!   *asked*: somebody reads where it is, and it stays there. (So reading does not keep anybody from writing; in the
//!   survey's words, a reader is served by a signal.)
//! - a step *interferes* with an action if it begins with it, or affects something that it needs.
//!
//! An action that nothing interferes with stays as it is, enabled or disabled, since nobody writes what its guards
//! read. So a run is just to `b` iff infinitely often `b` is disabled or a step interferes with it; or, what is the same,
//! iff infinitely many steps do, or `b` is disabled from some point on. That is a weak constraint that is also
//! *served* by other actions than its own ([`Constraint::served_by`]); and where the same steps interfere with several
//! actions, one constraint serves for all of them: if there are finitely many such steps, each of the actions is enabled
//! for ever or disabled for ever, so that all are disabled in the end iff infinitely often none is enabled.
//!
//! # How they compare
//! Weak fairness to all processes implies justness unless a process is only asked for ever: it takes part in steps then, which
//! is enough for weak fairness, but nothing that it could do is interfered with. Justness does not imply weak
//! fairness: who is interfered with for ever may wait for ever.

use base::{Budget, Limit};
use rustc_hash::FxHashMap;

use crate::{ActionId, ActionSystem, ProcessId, Relations, VarId};

/// A kind of fairness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Justness, to each of the actions.
    Just,
    /// Weak fairness, to all of the actions together.
    Weak,
    /// Strong fairness, to all of the actions together.
    Strong,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Just => "just",
            Kind::Weak => "weak",
            Kind::Strong => "strong",
        }
    }

    /// The kind of this name.
    pub fn of_name(name: &str) -> Option<Kind> {
        [Kind::Just, Kind::Weak, Kind::Strong].into_iter().find(|kind| kind.name() == name)
    }
}

/// A constraint, as searches know it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraint {
    /// Strong, or weak.
    pub strong: bool,
    /// It is enabled if one of these is, and taken by a step that begins with one.
    pub actions: Vec<ActionId>,
    /// It is also taken by a step that begins with one of these; they are in order. That is for justness. Unless this is
    /// empty, all actions are here that may write what guards of `actions` read, and `actions`, too.
    pub served_by: Vec<ActionId>,
}

impl Constraint {
    /// Weak or strong fairness to some actions.
    pub fn new(strong: bool, actions: Vec<ActionId>) -> Constraint {
        Constraint { strong, actions, served_by: Vec::new() }
    }

    /// Whether it is about justness.
    pub fn is_just(&self) -> bool {
        !self.served_by.is_empty()
    }

    /// What takes it.
    pub fn takers(&self) -> &[ActionId] {
        if self.is_just() { &self.served_by } else { &self.actions }
    }
}

/// Which steps interfere with which actions.
pub struct Interference<'s> {
    system: &'s ActionSystem,
    relations: Relations,
    /// Per process, the actions that affect it.
    affecting: Vec<Vec<ActionId>>,
}

impl<'s> Interference<'s> {
    /// Looks at a system; what is found is held.
    ///
    /// # Errors
    /// The budget's limit.
    pub fn new(system: &'s ActionSystem, budget: &mut Budget<'_>) -> Result<Interference<'s>, Limit> {
        let relations = Relations::new(system, budget)?;
        let owners_of = |action: &ActionId| &system.action(*action).owners;
        let mut belongs: Vec<Vec<ProcessId>> = Vec::with_capacity(system.variables().len());
        for var in (0..system.variables().len()).map(VarId::new) {
            budget.tick()?;
            let writers = relations.writers(var);
            let mut owners = writers.first().map_or(Vec::new(), |first| owners_of(first).clone());
            for writer in writers {
                owners.retain(|owner| owners_of(writer).contains(owner));
            }
            belongs.push(owners);
        }
        let mut affecting = vec![Vec::new(); system.processes().len()];
        for action in (0..system.actions().len()).map(ActionId::new) {
            budget.tick()?;
            let its_own = |owner: &&ProcessId| {
                relations.writes(action).iter().any(|var| belongs[var.index()].contains(owner))
            };
            let owners = owners_of(&action);
            let mut affected: Vec<&ProcessId> = owners.iter().filter(its_own).collect();
            if affected.is_empty() {
                affected.extend(owners);
            }
            budget.hold(4 * affected.len() as u64)?;
            affected.iter().for_each(|owner| affecting[owner.index()].push(action));
        }
        Ok(Interference { system, relations, affecting })
    }

    /// The actions that interfere with an action, in order: it is one of them.
    pub fn with(&self, action: ActionId) -> Vec<ActionId> {
        if self.system.is_quiet(action) {
            return (0..self.system.actions().len()).map(ActionId::new).collect();
        }
        let its = self.system.action(action);
        let read = its.guards.iter().flat_map(|&guard| self.relations.guard_reads(guard));
        let writers = read.flat_map(|&var| self.relations.writers(var));
        let affecting = its.owners.iter().flat_map(|owner| &self.affecting[owner.index()]);
        let mut all: Vec<ActionId> = writers.chain(affecting).copied().chain([action]).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Justness to each of these actions. What it takes is held.
    ///
    /// # Errors
    /// The budget's limit.
    pub fn constraints(
        &self,
        actions: impl IntoIterator<Item = ActionId>,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<Constraint>, Limit> {
        let mut number_of: FxHashMap<Vec<ActionId>, usize> = FxHashMap::default();
        let mut constraints: Vec<Constraint> = Vec::new();
        for action in actions {
            budget.tick()?;
            let served_by = self.with(action);
            match number_of.get(&served_by) {
                Some(&number) => constraints[number].actions.push(action),
                None => {
                    budget.hold(8 * served_by.len() as u64 + 64)?;
                    number_of.insert(served_by.clone(), constraints.len());
                    constraints.push(Constraint { strong: false, actions: vec![action], served_by });
                }
            }
        }
        for constraint in &mut constraints {
            constraint.actions.sort_unstable();
            constraint.actions.dedup();
        }
        Ok(constraints)
    }
}
