//! How the tables are made that fairness adds to the graph of a system, within a budget.

use std::collections::BTreeMap;

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use model::fairness::Constraint;
use model::relations::Flippers;
use model::{ActionId, ActionSystem, Guard, GuardId, Relations, VarId};
use rustc_hash::FxHashMap;

use super::{Companion, Fair, Seen, Watched, Why};
use crate::graph::{Graph, Vertex};
use crate::recur::recurrent;

/// More watched sets than this are not told apart where a constraint has the same members.
const MAX_SETS: usize = 64;

/// Where constraints and actions make more pairs than this, what recurs is not looked for.
const MAX_PAIRS: usize = 1 << 26;

/// A constraint that is looked at.
struct Looked {
    strong: bool,
    /// In order.
    actions: Vec<ActionId>,
    /// What takes it besides, in order, if it is about justness.
    served_by: Vec<ActionId>,
    /// The control variables that each of its actions has a guard on.
    homes: Vec<u32>,
}

impl Looked {
    /// What takes it, in order.
    fn takers(&self) -> &[ActionId] {
        if self.served_by.is_empty() { &self.actions } else { &self.served_by }
    }

    fn is_taken_by(&self, action: u32) -> bool {
        self.takers().binary_search(&ActionId::new(action as usize)).is_ok()
    }
}

/// What lets an action be a key as a member of a constraint: what must come along.
enum Shut {
    /// Nothing.
    Anyway,
    /// All that use a control variable now.
    Users(u32),
    /// These.
    Listed(Vec<u32>),
}

impl Shut {
    /// How much that is, for a choice.
    fn size(&self) -> (u8, usize) {
        match self {
            Shut::Anyway => (0, 0),
            Shut::Users(_) => (1, 0),
            Shut::Listed(list) => (2, list.len()),
        }
    }
}

/// Who else may raise a guard of a constraint, and who lower it, again and again.
#[derive(Clone, Debug, Default)]
struct Literal {
    raisers: Vec<u32>,
    lowerers: Vec<u32>,
}

impl Literal {
    fn is_frozen(&self) -> bool {
        self.raisers.is_empty() && self.lowerers.is_empty()
    }

    fn add(&mut self, other: &Literal) {
        for (list, more) in [(&mut self.raisers, &other.raisers), (&mut self.lowerers, &other.lowerers)] {
            list.extend(more);
            list.sort_unstable();
            list.dedup();
        }
    }
}

/// A watched set that is being made.
#[derive(Clone, Debug, Default)]
struct Draft {
    conditions: Vec<(GuardId, bool)>,
    literal: Literal,
}

impl Draft {
    /// With more; nothing if its conditions exclude each other.
    fn and(&self, conditions: impl IntoIterator<Item = (GuardId, bool)>, literal: &Literal) -> Option<Draft> {
        let mut draft = self.clone();
        draft.conditions.extend(conditions);
        draft.conditions.sort_unstable();
        draft.conditions.dedup();
        draft.literal.add(literal);
        let is_consistent = draft.conditions.windows(2).all(|pair| pair[0].0 != pair[1].0);
        is_consistent.then_some(draft)
    }
}

struct Making<'a, 'b, 'w> {
    system: &'a ActionSystem,
    relations: &'a Relations,
    graph: &'a mut Graph,
    budget: &'b mut Budget<'w>,
    fair: Fair,
    companions: Vec<Companion>,
    /// Whether to look for what recurs.
    looks_far: bool,
    /// The hubs of lists.
    hubs: FxHashMap<Vec<u32>, u32>,
}

impl Fair {
    /// Adds hubs to the graph.
    pub(crate) fn new(
        system: &ActionSystem,
        relations: &Relations,
        seen: Seen<'_>,
        constraints: &[Constraint],
        graph: &mut Graph,
        budget: &mut Budget<'_>,
    ) -> Result<Fair, Limit> {
        let none = || FixedBitSet::with_capacity(system.actions().len());
        let mut harmless = none();
        harmless.insert_range(..);
        let fair = Fair {
            forced: none(),
            harmless,
            relevant: none(),
            sets: Vec::new(),
            starts: Vec::new(),
            companions: Vec::new(),
            places: Vec::new(),
        };
        let (companions, hubs) = (Vec::new(), FxHashMap::default());
        let looks_far = constraints.len().saturating_mul(system.actions().len()) <= MAX_PAIRS;
        let mut making = Making { system, relations, graph, budget, fair, companions, looks_far, hubs };
        let mut all = Vec::new();
        for constraint in constraints.iter().filter(|constraint| !constraint.actions.is_empty()) {
            let looked = making.look(constraint)?;
            making.fair.forced.extend(looked.actions.iter().map(|action| action.index()));
            making.add_watch(&looked)?;
            all.push(looked);
        }
        making.add_shut(&all, seen)?;
        let serving = all.iter().flat_map(|looked| &looked.served_by).map(|action| action.index());
        making.fair.relevant.extend(serving);
        making.add_relevant(seen)?;
        making.add_places();
        let Making { mut fair, mut companions, budget, .. } = making;
        companions.sort_unstable();
        companions.dedup();
        let mut at = 0;
        for action in 0..=system.actions().len() as u32 {
            while companions.get(at).is_some_and(|companion| companion.action < action) {
                at += 1;
            }
            fair.starts.push(at as u32);
        }
        fair.companions = companions;
        budget.hold(fair.bytes())?;
        Ok(fair)
    }
}

impl Making<'_, '_, '_> {
    fn look(&mut self, constraint: &Constraint) -> Result<Looked, Limit> {
        let mut actions = constraint.actions.clone();
        actions.sort_unstable();
        actions.dedup();
        self.budget.hold(4 * actions.len() as u64)?;
        let mut homes = self.controls_of(actions[0]);
        for &action in &actions[1..] {
            self.budget.tick()?;
            let its = self.controls_of(action);
            homes.retain(|home| its.contains(home));
        }
        self.budget.hold(4 * constraint.served_by.len() as u64)?;
        let served_by = constraint.served_by.clone();
        Ok(Looked { strong: constraint.strong, actions, served_by, homes })
    }

    /// The control variables that an action has a guard on.
    fn controls_of(&self, action: ActionId) -> Vec<u32> {
        let guards = self.system.action(action).guards.iter();
        let mut controls: Vec<u32> = guards.filter_map(|&guard| self.graph.control_of_guard(guard)).collect();
        controls.dedup();
        controls
    }

    /// The actions that may flip a guard, but for those that are members of a constraint, in order.
    fn flippers(&self, flippers: Flippers<'_>, members: &[ActionId]) -> Vec<u32> {
        let mut list: Vec<u32> = match flippers {
            Flippers::Listed(list) => list.iter().map(|action| action.index() as u32).collect(),
            Flippers::Writers(vars) => {
                let writers = vars.iter().flat_map(|&var| self.relations.writers(var));
                writers.map(|action| action.index() as u32).collect()
            }
            Flippers::All => (0..self.graph.n_actions).collect(),
        };
        list.retain(|&action| members.binary_search(&ActionId::new(action as usize)).is_err());
        list.sort_unstable();
        list.dedup();
        list
    }

    /// What fairness to a constraint asks for.
    fn add_watch(&mut self, looked: &Looked) -> Result<(), Limit> {
        let mut literals: BTreeMap<GuardId, Literal> = BTreeMap::new();
        let guards = looked.actions.iter().flat_map(|&action| &self.system.action(action).guards);
        let mut guards: Vec<GuardId> = guards.copied().collect();
        guards.sort_unstable();
        guards.dedup();
        for guard in guards {
            self.budget.tick()?;
            let mut raisers = self.flippers(self.relations.enablers(guard), &looked.actions);
            raisers.iter().for_each(|&action| self.fair.harmless.remove(action as usize));
            raisers.retain(|&action| !looked.is_taken_by(action));
            let lowerers = self.flippers(self.relations.disablers(guard), looked.takers());
            literals.insert(guard, Literal { raisers, lowerers });
        }
        let may_raise = literals.values().any(|literal| !literal.raisers.is_empty());
        if !may_raise || literals.values().all(|literal| literal.lowerers.is_empty()) {
            return Ok(());
        }
        if self.looks_far {
            let recurrent = recurrent(self.system, self.relations, looked.takers(), self.budget)?;
            for literal in literals.values_mut() {
                literal.raisers.retain(|&action| recurrent.contains(action as usize));
                literal.lowerers.retain(|&action| recurrent.contains(action as usize));
            }
        }
        let is_home = |home: &&u32| {
            let of = |action: &ActionId| self.system.action(*action).guards.iter();
            let its = |guard: &&GuardId| self.graph.control_of_guard(**guard) == Some(**home);
            looked.actions.iter().flat_map(of).filter(its).all(|guard| literals[guard].is_frozen())
        };
        let home = looked.homes.iter().find(is_home).copied();
        let n_rows = home.map_or(1, |home| {
            let var = self.graph.controls[home as usize].var;
            self.system.variables()[var.index()].span() as usize + 1
        });
        for row in 0..n_rows as u32 {
            let row = home.map(|home| (home, self.graph.controls[home as usize].first_row + row));
            for draft in self.drafts(looked, row, &literals)? {
                self.add_set(row, draft)?;
            }
        }
        Ok(())
    }

    /// The watched sets of the members whose guards on their home are true in a row of it.
    fn drafts(
        &mut self,
        looked: &Looked,
        row: Option<(u32, u32)>,
        literals: &BTreeMap<GuardId, Literal>,
    ) -> Result<Vec<Draft>, Limit> {
        // Per member, the guards that nobody else flips again and again, and the others.
        let mut members: Vec<(Vec<GuardId>, Vec<GuardId>)> = Vec::new();
        for &action in &looked.actions {
            self.budget.tick()?;
            let (mut frozen, mut moving, mut is_here) = (Vec::new(), Vec::new(), true);
            for &guard in &self.system.action(action).guards {
                match (row, self.graph.control_of_guard(guard), &self.system.guards()[guard.index()]) {
                    (Some((home, row)), Some(control), Guard::In(_, set)) if home == control => {
                        is_here &= set.contains(self.graph.value_of_row(self.system, home, row));
                    }
                    _ if literals[&guard].is_frozen() => frozen.push(guard),
                    _ => moving.push(guard),
                }
            }
            if is_here && frozen.is_empty() && moving.is_empty() {
                return Ok(Vec::new()); // It is enabled until it is taken.
            }
            if is_here {
                members.push((frozen, moving));
            }
        }
        // An expression may rely on other guards, so it is not asked.
        let system = self.system;
        let if_simple = |guard: GuardId, value: bool| {
            matches!(system.guards()[guard.index()], Guard::In(..)).then_some((guard, value))
        };
        let holds = |frozen: &[GuardId]| -> Vec<(GuardId, bool)> {
            frozen.iter().filter_map(|&guard| if_simple(guard, true)).collect()
        };
        let term = |(frozen, moving): &(Vec<GuardId>, Vec<GuardId>)| {
            let mut draft = Draft { conditions: holds(frozen), ..Draft::default() };
            moving.iter().for_each(|guard| draft.literal.add(&literals[guard]));
            draft.and([], &Literal::default())
        };
        if looked.strong {
            return Ok(members.iter().filter_map(term).collect());
        }
        let mut clauses = vec![Draft::default()];
        for (frozen, moving) in &members {
            let mut longer = Vec::new();
            for clause in &clauses {
                self.budget.tick()?;
                let nothing = Literal::default();
                longer
                    .extend(frozen.iter().filter_map(|&guard| clause.and(if_simple(guard, false), &nothing)));
                longer.extend(moving.iter().filter_map(|guard| clause.and(holds(frozen), &literals[guard])));
            }
            if longer.len() > MAX_SETS {
                let mut one = Draft::default();
                members.iter().flat_map(|its| &its.1).for_each(|guard| one.literal.add(&literals[guard]));
                return Ok(vec![one]);
            }
            clauses = longer;
        }
        Ok(if members.is_empty() { Vec::new() } else { clauses })
    }

    fn add_set(&mut self, row: Option<(u32, u32)>, draft: Draft) -> Result<(), Limit> {
        let Draft { conditions, literal: Literal { raisers, lowerers } } = draft;
        if raisers.is_empty() || lowerers.is_empty() {
            return Ok(());
        }
        let set = self.fair.sets.len() as u32;
        self.budget.hold(12 * raisers.len() as u64)?;
        let vertex = self.hub(lowerers)?;
        let companion = |action: u32| Companion { action, why: Why::Flip(set), vertex };
        self.companions.extend(raisers.into_iter().map(companion));
        self.fair.sets.push(Watched { row, conditions });
        Ok(())
    }

    /// The hub of a list of actions.
    fn hub(&mut self, list: Vec<u32>) -> Result<u32, Limit> {
        if let Some(&known) = self.hubs.get(&list) {
            return Ok(known);
        }
        let hub = self.graph.add_hub(&list, self.budget)?;
        self.hubs.insert(list, hub);
        Ok(hub)
    }

    /// What keeps a constraint from being taken without the set that an action of it is in.
    fn add_shut(&mut self, all: &[Looked], seen: Seen<'_>) -> Result<(), Limit> {
        let mut constraints_of: Vec<Vec<&Looked>> = vec![Vec::new(); self.system.actions().len()];
        for looked in all {
            looked.actions.iter().for_each(|action| constraints_of[action.index()].push(looked));
        }
        for action in (0..self.system.actions().len()).map(ActionId::new) {
            self.budget.tick()?;
            let at = action.index();
            let mut best: Option<Shut> = None;
            if self.fair.harmless.contains(at) && !seen.may_see(action) {
                continue;
            }
            for looked in &constraints_of[at] {
                let shut = self.shut(looked, action)?;
                if best.as_ref().is_none_or(|best| shut.size() < best.size()) {
                    best = Some(shut);
                }
            }
            let vertex = match best {
                None | Some(Shut::Anyway) => continue,
                Some(Shut::Users(home)) => self.graph.number(Vertex::Users(home)),
                Some(Shut::Listed(list)) => self.hub(list)?,
            };
            self.companions.push(Companion { action: at as u32, why: Why::Shut, vertex });
        }
        Ok(())
    }

    /// What must come along with an action of a constraint, so that nothing else takes the constraint before the set acts.
    fn shut(&mut self, looked: &Looked, action: ActionId) -> Result<Shut, Limit> {
        if looked.served_by.is_empty() {
            let moves =
                |home: &u32| self.relations.is_written(self.graph.controls[*home as usize].var, action);
            if looked.actions.len() == 1 || looked.homes.iter().any(moves) {
                return Ok(Shut::Anyway);
            }
            let list = || looked.actions.iter().map(|action| action.index() as u32).collect();
            return Ok(looked.homes.first().map_or_else(|| Shut::Listed(list()), |&home| Shut::Users(home)));
        }
        // Rule 2 brings all that use a control variable now which the action writes, and all that can write one now which it
        // reads; until one of these happens, others with a guard on that variable are disabled.
        let mine = self.controls_of(action);
        let mut homes = mine.clone();
        let mut list = Vec::new();
        for &other in looked.served_by.iter().filter(|other| **other != action) {
            self.budget.tick()?;
            let its = self.controls_of(other);
            let var = |home: &u32| self.graph.controls[*home as usize].var;
            let is_shut = mine.iter().any(|home| {
                self.relations.is_written(var(home), other)
                    || its.contains(home) && self.relations.is_written(var(home), action)
            });
            if !is_shut {
                homes.retain(|home| its.contains(home));
                list.push(other.index() as u32);
            }
        }
        Ok(match homes.first() {
            _ if list.is_empty() => Shut::Anyway,
            Some(&home) => Shut::Users(home),
            None => Shut::Listed(list),
        })
    }

    /// What flips propositions, what is fair, what may lead to what is not made yet; and whatever writes what one of these, or
    /// a proposition, reads or writes.
    fn add_relevant(&mut self, seen: Seen<'_>) -> Result<(), Limit> {
        let (system, relations) = (self.system, self.relations);
        let mut relevant = self.fair.forced.clone();
        relevant.union_with(&self.fair.relevant);
        let all = (0..system.actions().len()).map(ActionId::new);
        relevant.extend(all.filter(|&action| seen.may_see(action)).map(ActionId::index));
        relevant.extend(relations.open().iter().map(|action| action.index()));
        let mut work: Vec<ActionId> = relevant.ones().map(ActionId::new).collect();
        let mut is_used = FixedBitSet::with_capacity(system.variables().len());
        while let Some(action) = work.pop() {
            self.budget.tick()?;
            if system.is_quiet(action) {
                relevant.insert_range(..);
                break;
            }
            let guards = system.action(action).guards.iter();
            let read = guards.flat_map(|&guard| relations.guard_reads(guard)).chain(seen.watched(action));
            let used = read.chain(relations.effect_reads(action)).chain(relations.writes(action));
            let used: Vec<VarId> = used.copied().filter(|var| !is_used.put(var.index())).collect();
            for &writer in used.iter().flat_map(|&var| relations.writers(var)) {
                if !relevant.put(writer.index()) {
                    work.push(writer);
                }
            }
        }
        self.fair.relevant = relevant;
        Ok(())
    }

    fn add_places(&mut self) {
        let mut places = vec![Vec::new(); self.system.actions().len()];
        let mut words = Vec::new();
        model::System::initial_states(self.system, &mut words);
        let initial = &words[..model::System::width(self.system)];
        for (index, control) in self.graph.controls.iter().enumerate() {
            let first = self.graph.row(self.system, initial, index as u32) as u32;
            for action in self.relations.writers(control.var) {
                places[action.index()].push((index as u32, first));
            }
        }
        self.fair.places = places;
    }
}
