//! How the static part of the graph is made, in about as many steps as actions mention variables.
//!
//! - *Control variables* have a list for each value: who uses them there, who can write them there.
//! - Of another variable with few users, each that disturbs an action ([`Relations::interferes`]) is listed with
//!   that action. That is exact.
//! - Where the users are many, listing pairs would take their square. Those that use the variable in the same
//!   way ([`Relations::use_of`]) disturb the same others through it; each such class is a hub, and an action leads to
//!   the hubs of the classes that its own disturbs. For nets this is exact, too; else what it has in
//!   excess are actions that cannot be enabled together because of other variables. With many classes, too, there
//!   are only two: those that write the variable, and those that do not.

use base::{Budget, Limit};
use model::relations::{Change, Flippers};
use model::{ActionId, ActionSystem, Guard, GuardId, Relations, VarId};
use rustc_hash::FxHashMap;

use crate::graph::{Control, Graph, Vertex};

/// A control variable's lists are built only if they have fewer entries than this.
const MAX_ENTRIES: u64 = 1 << 24;

/// A guard's list of enablers is used only if it is not longer than this, or there is no other.
const MAX_ENABLERS: usize = 1 << 12;

/// More actions than this are no longer listed for each that needs them: they get a hub.
const MAX_LISTED: usize = 64;

/// More classes than this are not told apart.
const MAX_CLASSES: usize = 64;

/// A graph that is being made.
struct Making<'a, 'b, 'w> {
    system: &'a ActionSystem,
    relations: &'a Relations,
    budget: &'b mut Budget<'w>,
    graph: Graph,
    control_of_var: Vec<Option<u32>>,
    /// Per action: the guard that it stands with others for in lists.
    group_of: Vec<Option<u32>>,
    /// Per variable: the hub of all that write it, once it was asked for.
    writers: Vec<Option<u32>>,
    /// The actions that happen only where no others can; and their hub, if they are many.
    quiet: (Vec<ActionId>, Option<u32>),
}

impl Graph {
    /// `watched` gives for an action all variables that decide, together with what it writes, what an
    /// observer of propositions sees of it.
    pub(crate) fn new<'v>(
        system: &ActionSystem,
        relations: &Relations,
        watched: impl Fn(ActionId) -> &'v [VarId],
        budget: &mut Budget<'_>,
    ) -> Result<Graph, Limit> {
        let actions = || (0..system.actions().len()).map(ActionId::new);
        let mut making = Making {
            system,
            relations,
            budget,
            graph: Graph {
                n_actions: system.actions().len() as u32,
                n_guards: system.guards().len() as u32,
                ..Graph::default()
            },
            control_of_var: vec![None; system.variables().len()],
            group_of: Vec::new(),
            writers: vec![None; system.variables().len()],
            quiet: (actions().filter(|&action| system.is_quiet(action)).collect(), None),
        };
        making.add_controls()?;
        making.add_enablers()?;
        if !relations.open().is_empty() {
            making.graph.open = Some(making.hub(numbers(relations.open()))?);
        }
        if making.quiet.0.len() > MAX_LISTED {
            making.quiet.1 = Some(making.hub(numbers(&making.quiet.0))?);
        }
        let disturbed = making.disturbed()?;
        for action in actions() {
            making.add_action(action, &disturbed, watched(action))?;
        }
        let Making { graph, budget, .. } = making;
        budget.hold(graph.bytes() - graph.pool.bytes())?; // What is in the pool is held already.
        Ok(graph)
    }
}

fn numbers<'i>(actions: impl IntoIterator<Item = &'i ActionId>) -> Vec<u32> {
    actions.into_iter().map(|action| action.index() as u32).collect()
}

impl<'a> Making<'a, '_, '_> {
    fn add_controls(&mut self) -> Result<(), Limit> {
        let (system, relations) = (self.system, self.relations);
        for var in (0..system.variables().len()).map(VarId::new) {
            self.budget.tick()?;
            if is_control(system, relations, var) {
                self.control_of_var[var.index()] = Some(self.graph.controls.len() as u32);
                self.add_control(var)?;
            }
        }
        for guard in system.guards() {
            let control = match guard {
                Guard::In(var, _) => self.control_of_var[var.index()],
                Guard::True(_) | Guard::Quiet => None,
            };
            self.graph.control_of_guard.push(control);
        }
        let group = |guards: &[GuardId]| {
            let is_control = |guard: &&GuardId| self.graph.control_of_guard[guard.index()].is_some();
            guards.iter().find(is_control).map(|guard| guard.index() as u32)
        };
        self.group_of = system.actions().iter().map(|action| group(&action.guards)).collect();
        Ok(())
    }

    fn add_control(&mut self, var: VarId) -> Result<(), Limit> {
        let (system, relations) = (self.system, self.relations);
        let Making { graph, budget, .. } = self;
        let variable = &system.variables()[var.index()];
        let first_row = graph.writers.len() as u32;
        graph.controls.push(Control { var, first_row });
        let n_values = variable.span() as usize + 1;
        let mut users_of_value = vec![Vec::new(); n_values];
        for &action in relations.users(var) {
            for value in own_values(system, action, var, variable.lo, variable.hi) {
                users_of_value[(value - variable.lo) as usize].push(action);
            }
        }
        for (at, ready) in users_of_value.iter().enumerate() {
            let writes = |action: &&ActionId| relations.is_written(var, **action);
            let writers: Vec<ActionId> = ready.iter().filter(writes).copied().collect();
            let moves = writers.iter().flat_map(|&action| {
                let targets: Vec<i64> = match relations.change(system, action, var) {
                    Change::To(to) => vec![to],
                    Change::Among(values) => values.to_vec(),
                    Change::Map(table) => table.get(at).copied().flatten().into_iter().collect(),
                    Change::By(_) | Change::Any => Vec::new(), // Not of a control variable.
                };
                // A step to any other value is a fault.
                let is_value = |to: &i64| (variable.lo..=variable.hi).contains(to);
                let row = move |to: i64| [action.index() as u32, first_row + (to - variable.lo) as u32];
                targets.into_iter().filter(is_value).map(row)
            });
            graph.moves.push(graph.pool.add(moves.flatten(), budget)?);
            graph.writers.push(graph.pool.add(numbers(&writers), budget)?);
            // What happens only where nothing else can never meets an enabled action of another kind; and
            // those of its own kind know each other anyway.
            let meets = |action: &&ActionId| !system.is_quiet(**action);
            graph.users.push(graph.pool.add(numbers(ready.iter().filter(meets)), budget)?);
        }
        Ok(())
    }

    fn add_enablers(&mut self) -> Result<(), Limit> {
        for (index, guard) in self.system.guards().iter().enumerate() {
            let id = GuardId::new(index);
            let in_front = match self.relations.enablers_in_front(self.system, id) {
                Some((len, list)) => Some((len, self.list(numbers(&list))?)),
                None => None,
            };
            self.graph.in_front.push(in_front);
            let enablers = self.relations.enablers(id);
            let n_enablers = match enablers {
                Flippers::Listed(list) => list.len(),
                Flippers::Writers(vars) => vars.iter().map(|&var| self.relations.writers(var).len()).sum(),
                Flippers::All => 0,
            };
            let used = n_enablers <= MAX_ENABLERS || self.graph.control_of_guard[index].is_none();
            let list = match enablers {
                Flippers::Listed(list) if used => numbers(list),
                Flippers::Writers(vars) if used => {
                    let mut list = Vec::new();
                    for &var in vars {
                        self.need_writers(var, &mut list)?;
                    }
                    list
                }
                // What could be done first where nothing else can happen is the state's own list.
                Flippers::Listed(_) | Flippers::Writers(_) | Flippers::All => Vec::new(),
            };
            debug_assert!(*guard != Guard::Quiet || list.is_empty());
            let list = self.list(list)?;
            self.graph.enablers.push(list);
            self.graph.uses_enablers.push(used);
        }
        Ok(())
    }

    /// A list of vertices.
    fn list(&mut self, vertices: Vec<u32>) -> Result<crate::graph::List, Limit> {
        self.graph.pool.add_vertices(vertices, &self.group_of, self.budget)
    }

    /// A new hub for these vertices.
    fn hub(&mut self, vertices: Vec<u32>) -> Result<u32, Limit> {
        let list = self.list(vertices)?;
        self.graph.hubs.push(list);
        Ok(self.graph.number(Vertex::Hub(self.graph.hubs.len() as u32 - 1)))
    }

    /// Adds all that write a variable.
    fn need_writers(&mut self, var: VarId, needs: &mut Vec<u32>) -> Result<(), Limit> {
        let writers = self.relations.writers(var);
        if writers.len() <= MAX_LISTED {
            needs.extend(numbers(writers));
        } else if let Some(hub) = self.writers[var.index()] {
            needs.push(hub);
        } else {
            let hub = self.hub(numbers(writers))?;
            self.writers[var.index()] = Some(hub);
            needs.push(hub);
        }
        Ok(())
    }

    /// Per variable that is no control variable and has many users: for each of them, in order, the hub of all that
    /// it disturbs, if there are some.
    fn disturbed(&mut self) -> Result<FxHashMap<VarId, Vec<Option<u32>>>, Limit> {
        let mut disturbed = FxHashMap::default();
        for var in (0..self.system.variables().len()).map(VarId::new) {
            let users = self.relations.users(var);
            let is_plain = self.control_of_var[var.index()].is_some() || users.len() <= MAX_LISTED;
            if is_plain || self.relations.writers(var).is_empty() {
                continue;
            }
            let Classes { of_user, members, disturb } = Classes::new(self.system, self.relations, var, users);
            let mut hubs = Vec::with_capacity(members.len());
            for members in &members {
                hubs.push(self.hub(numbers(members))?);
            }
            let mut needs = Vec::with_capacity(members.len());
            for classes in &disturb {
                needs.push(match classes[..] {
                    [] => None,
                    [one] => Some(hubs[one]),
                    _ => Some(self.hub(classes.iter().map(|&class| hubs[class]).collect())?),
                });
            }
            self.budget.hold(8 * of_user.len() as u64)?;
            disturbed.insert(var, of_user.into_iter().map(|class| needs[class]).collect());
        }
        Ok(disturbed)
    }

    fn add_action(
        &mut self,
        action: ActionId,
        disturbed: &FxHashMap<VarId, Vec<Option<u32>>>,
        watched: &[VarId],
    ) -> Result<(), Limit> {
        let (system, relations) = (self.system, self.relations);
        let mut needs: Vec<u32> = self.graph.open.into_iter().collect();
        let mut others: Vec<ActionId> = Vec::new();
        for var in variables_of(system, relations, action) {
            if let Some(control) = self.control_of_var[var.index()] {
                let writes = relations.is_written(var, action);
                let hub = if writes { Vertex::Users(control) } else { Vertex::Writers(control) };
                needs.push(self.graph.number(hub));
            } else if let Some(hubs) = disturbed.get(&var) {
                let at = relations.users(var).binary_search(&action);
                needs.extend(at.ok().and_then(|at| hubs[at]));
            } else if !relations.writers(var).is_empty() {
                others.extend(relations.users(var));
            }
        }
        if system.is_quiet(action) {
            // Whatever it lets happen keeps the others of its kind from happening.
            match self.quiet {
                (_, Some(hub)) => needs.push(hub),
                (ref quiet, None) => others.extend(quiet),
            }
        }
        others.sort_unstable();
        others.dedup();
        for &other in &others {
            self.budget.tick()?;
            if other != action && relations.interferes(system, action, other) {
                needs.push(other.index() as u32);
            }
        }
        for &var in watched {
            match self.control_of_var[var.index()] {
                // All that use a variable which the action writes come along already.
                Some(control) => needs.push(self.graph.number(Vertex::Writers(control))),
                None => self.need_writers(var, &mut needs)?,
            }
        }
        let needs = self.list(needs)?;
        self.graph.needs.push(needs);
        let is_simple = |guard: &GuardId| matches!(system.guards()[guard.index()], Guard::In(..));
        let mut lists = [crate::graph::List::default(); 2];
        for (list, simple) in lists.iter_mut().zip([true, false]) {
            let guards = system.action(action).guards.iter().filter(|guard| is_simple(guard) == simple);
            *list = self.graph.pool.add(guards.map(|guard| guard.index() as u32), self.budget)?;
        }
        self.graph.guards.push(lists);
        Ok(())
    }
}

/// The users of a variable, by how they use it.
struct Classes {
    /// Per user.
    of_user: Vec<usize>,
    members: Vec<Vec<ActionId>>,
    /// Per class, the classes that it disturbs.
    disturb: Vec<Vec<usize>>,
}

impl Classes {
    fn new(system: &ActionSystem, relations: &Relations, var: VarId, users: &[ActionId]) -> Classes {
        let mut numbers = FxHashMap::default();
        let mut of_user = Vec::with_capacity(users.len());
        for &user in users {
            let next = numbers.len();
            let how = (relations.use_of(system, var, user), system.is_quiet(user));
            of_user.push(*numbers.entry(how).or_insert(next));
            if numbers.len() > MAX_CLASSES {
                return Classes::coarse(relations, var, users);
            }
        }
        let members = by_class(users, &of_user, numbers.len());
        let meet = |&a: &ActionId, &b: &ActionId| {
            system.is_quiet(a) == system.is_quiet(b) && relations.interferes_through(system, var, a, b)
        };
        let disturbs = |one: &[ActionId], other: &[ActionId]| match (one, other) {
            ([a, ..], [b, ..]) if a != b => meet(a, b),
            ([a, b, ..], _) => meet(a, b), // Two of one class.
            _ => false,
        };
        let others = |one: &Vec<ActionId>| -> Vec<usize> {
            (0..members.len()).filter(|&other| disturbs(one, &members[other])).collect()
        };
        Classes { disturb: members.iter().map(others).collect(), of_user, members }
    }

    /// Those that do not write the variable, and those that do.
    fn coarse(relations: &Relations, var: VarId, users: &[ActionId]) -> Classes {
        let class = |user: &ActionId| usize::from(relations.is_written(var, *user));
        let of_user: Vec<usize> = users.iter().map(class).collect();
        let members = by_class(users, &of_user, 2);
        Classes { of_user, members, disturb: vec![vec![1], vec![0, 1]] }
    }
}

fn by_class(users: &[ActionId], of_user: &[usize], n_classes: usize) -> Vec<Vec<ActionId>> {
    let mut members = vec![Vec::new(); n_classes];
    users.iter().zip(of_user).for_each(|(&user, &class)| members[class].push(user));
    members
}

/// All variables that an action mentions, in order.
fn variables_of(system: &ActionSystem, relations: &Relations, action: ActionId) -> Vec<VarId> {
    let guards = system.action(action).guards.iter();
    let mut variables: Vec<VarId> = guards.flat_map(|guard| relations.guard_reads(*guard)).copied().collect();
    variables.extend(relations.effect_reads(action));
    variables.extend(relations.writes(action));
    variables.sort_unstable();
    variables.dedup();
    variables
}

/// Whether a variable is a control variable: some action tests it with a guard of its own, it is
/// only ever set or mapped, its values are known, and their lists are not too long.
fn is_control(system: &ActionSystem, relations: &Relations, var: VarId) -> bool {
    let variable = &system.variables()[var.index()];
    let users = relations.users(var);
    let own_count = |&action: &ActionId| {
        let counts =
            system.action(action).guards.iter().filter_map(|guard| match &system.guards()[guard.index()] {
                Guard::In(its, set) if *its == var => Some(set.count_within(variable.lo, variable.hi)),
                _ => None,
            });
        counts.min().unwrap_or(variable.span().saturating_add(1))
    };
    let n_entries = users.iter().map(own_count).fold(variable.span(), u64::saturating_add);
    let tests = |&action: &ActionId| {
        let guards = &system.action(action).guards;
        guards.iter().any(|guard| matches!(&system.guards()[guard.index()], Guard::In(its, _) if *its == var))
    };
    let only_sets = |&action: &ActionId| {
        matches!(relations.change(system, action, var), Change::To(_) | Change::Map(_) | Change::Among(_))
    };
    variable.certain() == (variable.lo, variable.hi)
        && n_entries <= MAX_ENTRIES
        && users.iter().any(tests)
        && relations.writers(var).iter().all(only_sets)
}

/// The values for which the guards that an action itself has on a variable are true.
fn own_values(system: &ActionSystem, action: ActionId, var: VarId, lo: i64, hi: i64) -> Vec<i64> {
    let own = system.action(action).guards.iter().filter_map(|guard| match &system.guards()[guard.index()] {
        Guard::In(its, set) if *its == var => Some(set),
        _ => None,
    });
    let mut own = own.collect::<Vec<_>>().into_iter();
    match own.next() {
        None => (lo..=hi).collect(),
        Some(first) => {
            first.values_within(lo, hi).filter(|&value| own.clone().all(|set| set.contains(value))).collect()
        }
    }
}
