//! Stubborn sets under fairness: what must come along, so that of every fair run that matters a fair one is left.

use std::collections::BTreeMap;

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use model::relations::Flippers;
use model::{ActionId, ActionSystem, Guard, GuardId, Relations, VarId};
use rustc_hash::FxHashMap;

use crate::flips::Flips;
use crate::graph::{Graph, Vertex};
use crate::recur::recurrent;

/// A fairness constraint: it is enabled if one of its actions is, and taken if one of them happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// Strong, or weak.
    pub strong: bool,
    /// The actions it speaks about.
    pub actions: Vec<ActionId>,
}

/// More watched sets than this are not told apart where a constraint has the same members.
const MAX_SETS: usize = 64;

/// What fairness adds to the graph of a system.
#[derive(Clone, Debug)]
pub(crate) struct Fair {
    /// The actions that are in some constraint.
    pub(crate) forced: FixedBitSet,
    /// The actions that make no guard true of a constraint that they are not in.
    pub(crate) harmless: FixedBitSet,
    /// The actions that may matter: no other changes what is seen, what a constraint is like, or what these do.
    pub(crate) relevant: FixedBitSet,
    /// Where the order of actions matters.
    watches: Vec<Watch>,
    sets: Vec<Watched>,
    /// Per action, where its companions begin; and where the last one's end.
    starts: Vec<u32>,
    companions: Vec<Companion>,
    /// Per action, the control variables that it writes, and the rows where these begin.
    places: Vec<Vec<(u32, u32)>>,
}

/// The watched sets of a constraint.
#[derive(Clone, Debug)]
struct Watch {
    /// The control variable that tells which of them count, if there is one.
    home: Option<u32>,
    /// Per value of it, from the least on; or one: a range of `Fair::sets`.
    rows: Vec<(u32, u32)>,
}

/// A watched set: it counts where these guards have these values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Watched {
    conditions: Vec<(GuardId, bool)>,
}

/// A vertex that an enabled action needs, under fairness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Companion {
    action: u32,
    pub(crate) why: Why,
    pub(crate) vertex: u32,
}

/// Why an action needs another vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Why {
    /// So that its constraint cannot be taken without the set.
    Shut,
    /// So that it does not overtake what lowers this watched set, if the set counts.
    Flip(u32),
}

/// A constraint that is looked at.
struct Looked<'a> {
    strong: bool,
    actions: &'a [ActionId],
    members: FixedBitSet,
    /// The control variables that each of its actions has a guard on.
    homes: Vec<u32>,
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
    /// The hubs of lists.
    hubs: FxHashMap<Vec<u32>, u32>,
}

impl Fair {
    /// Adds hubs to the graph.
    pub(crate) fn new(
        system: &ActionSystem,
        relations: &Relations,
        flips: &Flips,
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
            watches: Vec::new(),
            sets: Vec::new(),
            starts: Vec::new(),
            companions: Vec::new(),
            places: Vec::new(),
        };
        let (companions, hubs) = (Vec::new(), FxHashMap::default());
        let mut making = Making { system, relations, graph, budget, fair, companions, hubs };
        let mut all = Vec::new();
        for constraint in constraints.iter().filter(|constraint| !constraint.actions.is_empty()) {
            let looked = making.look(constraint);
            making.fair.forced.union_with(&looked.members);
            making.add_watch(&looked)?;
            all.push(looked);
        }
        making.add_shut(&all, flips)?;
        making.add_relevant(flips)?;
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

    pub(crate) fn bytes(&self) -> u64 {
        let conditions = self.sets.iter().map(|set| 24 + 8 * set.conditions.len());
        let rows = self.watches.iter().map(|watch| 32 + 8 * watch.rows.len());
        let places = self.places.iter().map(|places| 24 + 8 * places.len());
        (16 * self.companions.len() + 4 * self.starts.len()) as u64
            + (conditions.sum::<usize>() + rows.sum::<usize>() + places.sum::<usize>()) as u64
    }

    /// Number of watched sets.
    pub(crate) fn n_sets(&self) -> usize {
        self.sets.len()
    }

    /// The watched sets that may count in a state, each with its conditions.
    pub(crate) fn sets_in<'s>(
        &'s self,
        system: &'s ActionSystem,
        graph: &'s Graph,
        state: &'s [u32],
    ) -> impl Iterator<Item = (u32, &'s [(GuardId, bool)])> {
        self.watches.iter().flat_map(move |watch| {
            let row = match watch.home {
                Some(home) => {
                    graph.row(system, state, home) - graph.controls[home as usize].first_row as usize
                }
                None => 0,
            };
            let (from, to) = watch.rows[row];
            (from..to).map(|set| (set, &self.sets[set as usize].conditions[..]))
        })
    }

    /// Where the companions of an action are.
    #[inline]
    pub(crate) fn companions_of(&self, action: u32) -> (u32, u32) {
        (self.starts[action as usize], self.starts[action as usize + 1])
    }

    #[inline]
    pub(crate) fn companion(&self, at: u32) -> Companion {
        self.companions[at as usize]
    }

    /// Whether all that an action moves is where it began. Who is away goes on first: so cycles are closed
    /// where many begin, and there is less to be repaired.
    pub(crate) fn is_at_home(
        &self,
        system: &ActionSystem,
        graph: &Graph,
        state: &[u32],
        action: u32,
    ) -> bool {
        let mut places = self.places[action as usize].iter();
        places.all(|&(control, first)| graph.row(system, state, control) == first as usize)
    }
}

impl Making<'_, '_, '_> {
    fn look<'c>(&self, constraint: &'c Constraint) -> Looked<'c> {
        let mut members = FixedBitSet::with_capacity(self.system.actions().len());
        members.extend(constraint.actions.iter().map(|action| action.index()));
        let controls = |action: ActionId| -> Vec<u32> {
            let guards = self.system.action(action).guards.iter();
            guards.filter_map(|&guard| self.graph.control_of_guard(guard)).collect()
        };
        let mut homes = controls(constraint.actions[0]);
        homes.dedup();
        for &action in &constraint.actions[1..] {
            let its = controls(action);
            homes.retain(|home| its.contains(home));
        }
        Looked { strong: constraint.strong, actions: &constraint.actions, members, homes }
    }

    /// The actions outside of a constraint that may flip a guard, in order.
    fn flippers(&self, flippers: Flippers<'_>, members: &FixedBitSet) -> Vec<u32> {
        let mut list: Vec<u32> = match flippers {
            Flippers::Listed(list) => list.iter().map(|action| action.index() as u32).collect(),
            Flippers::Writers(vars) => {
                let writers = vars.iter().flat_map(|&var| self.relations.writers(var));
                writers.map(|action| action.index() as u32).collect()
            }
            Flippers::All => (0..self.graph.n_actions).collect(),
        };
        list.retain(|&action| !members.contains(action as usize));
        list.sort_unstable();
        list.dedup();
        list
    }

    /// What fairness to a constraint asks for.
    fn add_watch(&mut self, looked: &Looked<'_>) -> Result<(), Limit> {
        let mut literals: BTreeMap<GuardId, Literal> = BTreeMap::new();
        let guards = looked.actions.iter().flat_map(|&action| &self.system.action(action).guards);
        let mut guards: Vec<GuardId> = guards.copied().collect();
        guards.sort_unstable();
        guards.dedup();
        for guard in guards {
            self.budget.tick()?;
            let raisers = self.flippers(self.relations.enablers(guard), &looked.members);
            let lowerers = self.flippers(self.relations.disablers(guard), &looked.members);
            raisers.iter().for_each(|&action| self.fair.harmless.remove(action as usize));
            literals.insert(guard, Literal { raisers, lowerers });
        }
        let may_raise = literals.values().any(|literal| !literal.raisers.is_empty());
        if !may_raise || literals.values().all(|literal| literal.lowerers.is_empty()) {
            return Ok(());
        }
        let recurrent = recurrent(self.system, self.relations, &looked.members, self.budget)?;
        for literal in literals.values_mut() {
            literal.raisers.retain(|&action| recurrent.contains(action as usize));
            literal.lowerers.retain(|&action| recurrent.contains(action as usize));
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
        let mut rows = Vec::with_capacity(n_rows);
        for row in 0..n_rows {
            let from = self.fair.sets.len() as u32;
            let drafts = self.drafts(looked, home.map(|home| (home, row)), &literals)?;
            for draft in drafts {
                self.add_set(draft)?;
            }
            rows.push((from, self.fair.sets.len() as u32));
        }
        if rows.iter().any(|(from, to)| from < to) {
            self.fair.watches.push(Watch { home, rows });
        }
        Ok(())
    }

    /// The watched sets of the members whose guards on their home are true in a row of it.
    fn drafts(
        &mut self,
        looked: &Looked<'_>,
        row: Option<(u32, usize)>,
        literals: &BTreeMap<GuardId, Literal>,
    ) -> Result<Vec<Draft>, Limit> {
        // Per member, the guards that nobody else flips again and again, and the others.
        let mut members: Vec<(Vec<GuardId>, Vec<GuardId>)> = Vec::new();
        for &action in looked.actions {
            self.budget.tick()?;
            let (mut frozen, mut moving, mut is_here) = (Vec::new(), Vec::new(), true);
            for &guard in &self.system.action(action).guards {
                match (row, self.graph.control_of_guard(guard), &self.system.guards()[guard.index()]) {
                    (Some((home, row)), Some(control), Guard::In(_, set)) if home == control => {
                        let first = self.graph.controls[home as usize].first_row;
                        is_here &=
                            set.contains(self.graph.value_of_row(self.system, home, first + row as u32));
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

    fn add_set(&mut self, draft: Draft) -> Result<(), Limit> {
        let Draft { conditions, literal: Literal { raisers, lowerers } } = draft;
        if raisers.is_empty() || lowerers.is_empty() {
            return Ok(());
        }
        let set = self.fair.sets.len() as u32;
        self.budget.hold(12 * raisers.len() as u64)?;
        let vertex = self.hub(lowerers)?;
        let companion = |action: u32| Companion { action, why: Why::Flip(set), vertex };
        self.companions.extend(raisers.into_iter().map(companion));
        self.fair.sets.push(Watched { conditions });
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
    fn add_shut(&mut self, all: &[Looked<'_>], flips: &Flips) -> Result<(), Limit> {
        for action in (0..self.system.actions().len()).map(ActionId::new) {
            self.budget.tick()?;
            let at = action.index();
            let is_known =
                |home: &u32| self.relations.is_written(self.graph.controls[*home as usize].var, action);
            let its: Vec<&Looked<'_>> = all.iter().filter(|looked| looked.members.contains(at)).collect();
            let is_shut =
                |looked: &&Looked<'_>| looked.actions.len() == 1 || looked.homes.iter().any(is_known);
            let is_quiet = self.fair.harmless.contains(at) && !flips.may_flip(action);
            if its.is_empty() || is_quiet || its.iter().any(is_shut) {
                continue;
            }
            let with_home = its.iter().find_map(|looked| looked.homes.first());
            let vertex = match with_home {
                Some(&home) => self.graph.number(Vertex::Users(home)),
                None => {
                    let smallest = its.iter().min_by_key(|looked| looked.actions.len());
                    let actions = smallest.map_or(&[][..], |looked| looked.actions);
                    self.hub(actions.iter().map(|action| action.index() as u32).collect())?
                }
            };
            self.companions.push(Companion { action: at as u32, why: Why::Shut, vertex });
        }
        Ok(())
    }

    /// What flips propositions, what is fair, what may lead to what is not made yet; and whatever writes what one of these, or
    /// a proposition, reads or writes.
    fn add_relevant(&mut self, flips: &Flips) -> Result<(), Limit> {
        let (system, relations) = (self.system, self.relations);
        let mut relevant = self.fair.forced.clone();
        relevant.union_with(&flips.visible());
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
            let read = guards.flat_map(|&guard| relations.guard_reads(guard)).chain(flips.watched(action));
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
