//! The graph whose closed sets are the semistubborn sets, as far as it does not depend on the
//! state.
//!
//! Its vertices are the actions and, standing for sets of actions that several others need, the
//! *hubs*: who can write a control variable now, who uses it now, who may make a guard true, whom
//! the observer follows. Through hubs the graph stays small: an action has a few edges to hubs
//! instead of one to each action behind them.

use model::relations::Change;
use model::{ActionId, ActionSystem, Guard, Relations, VarId};

/// A variable's lists are built only if they have fewer entries than this.
const MAX_ENTRIES: u64 = 1 << 24;

/// A guard's list of enablers is used only if it is not longer than this, or there is no other.
const MAX_ENABLERS: usize = 1 << 12;

/// Lists of numbers, one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    pub(crate) fn push(&mut self, items: impl IntoIterator<Item = u32>) {
        self.items.extend(items);
        self.ends.push(self.items.len() as u32);
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> &[u32] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.items[start as usize..self.ends[index] as usize]
    }
}

/// A control variable: where its lists begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    pub(crate) var: VarId,
    /// Index in `writers`, `users` and `moves` of the list for its least value.
    first_row: u32,
}

/// A vertex, by what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vertex {
    Action(u32),
    /// Who can write the control variable now.
    Writers(u32),
    /// Who uses the control variable now.
    Users(u32),
    /// Who leads the control variable out of all values that enabled actions can give it.
    Beyond(u32),
    /// Who may make the guard true.
    Enablers(u32),
    /// What the observer follows now.
    Observer,
}

/// The static part of the graph. Vertices are numbered: actions, writers, users, beyond,
/// enablers, observer.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) n_actions: u32,
    pub(crate) controls: Vec<Control>,
    n_guards: u32,
    /// Per control variable and value: the actions that can write it there.
    writers: Lists,
    /// Per control variable and value: the actions whose own guard on it is true there.
    users: Lists,
    /// Per control variable and value: an action that can write it there and the row that it
    /// leads to, and so on.
    moves: Lists,
    enablers: Lists,
    /// Per guard, whether its list of enablers is there.
    uses_enablers: Vec<bool>,
    /// Per action, the vertices it needs when it is enabled; but for the observer's.
    needs: Lists,
    /// Per guard, the control variable it looks at alone.
    control_of_guard: Vec<Option<u32>>,
}

impl Graph {
    /// `watched` gives for an action all variables that decide, together with what it writes, what an
    /// observer of propositions sees of it.
    pub(crate) fn new<'w>(
        system: &ActionSystem,
        relations: &Relations,
        watched: impl Fn(ActionId) -> &'w [VarId],
    ) -> Graph {
        let users_of = users_of_variables(system, relations);
        let mut graph = Graph {
            n_actions: system.actions().len() as u32,
            controls: Vec::new(),
            n_guards: system.guards().len() as u32,
            writers: Lists::default(),
            users: Lists::default(),
            moves: Lists::default(),
            enablers: Lists::default(),
            uses_enablers: Vec::new(),
            needs: Lists::default(),
            control_of_guard: vec![None; system.guards().len()],
        };
        let mut control_of_var = vec![None; system.variables().len()];
        for (index, users) in users_of.iter().enumerate() {
            let var = VarId::new(index);
            if is_control(system, relations, var, users) {
                control_of_var[index] = Some(graph.controls.len() as u32);
                graph.add_control(system, relations, var, users);
            }
        }
        for (index, guard) in system.guards().iter().enumerate() {
            if let Guard::In(var, _) = guard {
                graph.control_of_guard[index] = control_of_var[var.index()];
            }
            let enablers = relations.enablers(model::GuardId::new(index));
            let used = enablers.len() <= MAX_ENABLERS || graph.control_of_guard[index].is_none();
            graph.uses_enablers.push(used);
            graph.enablers.push(enablers.iter().filter(|_| used).map(|action| action.index() as u32));
        }
        for action in (0..system.actions().len()).map(ActionId::new) {
            graph.add_needs(system, relations, &control_of_var, &users_of, action, watched(action));
        }
        graph
    }

    fn add_control(&mut self, system: &ActionSystem, relations: &Relations, var: VarId, users: &[ActionId]) {
        let variable = &system.variables()[var.index()];
        let first_row = self.writers.len() as u32;
        self.controls.push(Control { var, first_row });
        let n_values = variable.span() as usize + 1;
        let mut users_of_value = vec![Vec::new(); n_values];
        for &action in users {
            for value in own_values(system, action, var, variable.lo, variable.hi) {
                users_of_value[(value - variable.lo) as usize].push(action);
            }
        }
        for (at, ready) in users_of_value.iter().enumerate() {
            let writes = |action: &&ActionId| relations.writes(**action).binary_search(&var).is_ok();
            let writers: Vec<ActionId> = ready.iter().filter(writes).copied().collect();
            let moves = writers.iter().flat_map(|&action| {
                let targets: Vec<i64> = match relations.change(system, action, var) {
                    Change::To(to) => vec![to],
                    Change::Among(values) => values.to_vec(),
                    Change::Map(table) => table.get(at).copied().flatten().into_iter().collect(),
                    Change::By(_) | Change::Any => Vec::new(), // Not of a control variable.
                };
                let row = move |to: i64| [action.index() as u32, first_row + (to - variable.lo) as u32];
                targets.into_iter().map(row)
            });
            self.moves.push(moves.flatten());
            self.writers.push(writers.iter().map(|action| action.index() as u32));
            self.users.push(ready.iter().map(|action| action.index() as u32));
        }
    }

    fn add_needs(
        &mut self,
        system: &ActionSystem,
        relations: &Relations,
        control_of_var: &[Option<u32>],
        users_of: &[Vec<ActionId>],
        action: ActionId,
        watched: &[VarId],
    ) {
        let mut needs = Vec::new();
        let mut others: Vec<ActionId> = Vec::new();
        let mut writers: Vec<ActionId> = Vec::new();
        for var in variables_of(system, relations, action) {
            match control_of_var[var.index()] {
                Some(control) => {
                    let writes = relations.writes(action).binary_search(&var).is_ok();
                    let hub = if writes { Vertex::Users(control) } else { Vertex::Writers(control) };
                    needs.push(self.number(hub));
                }
                None => others.extend(&users_of[var.index()]),
            }
        }
        if system.is_quiet(action) {
            // Whatever it lets happen keeps the others of its kind from happening.
            others.extend(
                (0..system.actions().len()).map(ActionId::new).filter(|&other| system.is_quiet(other)),
            );
        }
        others.sort_unstable();
        others.dedup();
        others.retain(|&other| other != action && relations.interferes(system, action, other));
        for var in watched {
            match control_of_var[var.index()] {
                // All that use a variable which the action writes come along already.
                Some(control) => needs.push(self.number(Vertex::Writers(control))),
                None => {
                    let writes = |other: &&ActionId| relations.writes(**other).binary_search(var).is_ok();
                    writers.extend(users_of[var.index()].iter().filter(writes));
                }
            }
        }
        others.extend(writers.into_iter().filter(|&other| other != action));
        needs.extend(others.iter().map(|other| other.index() as u32));
        needs.sort_unstable();
        needs.dedup();
        self.needs.push(needs);
    }

    pub(crate) fn n_vertices(&self) -> usize {
        self.number(Vertex::Observer) as usize + 1
    }

    #[inline]
    pub(crate) fn number(&self, vertex: Vertex) -> u32 {
        let n_controls = self.controls.len() as u32;
        match vertex {
            Vertex::Action(action) => action,
            Vertex::Writers(control) => self.n_actions + control,
            Vertex::Users(control) => self.n_actions + n_controls + control,
            Vertex::Beyond(control) => self.n_actions + 2 * n_controls + control,
            Vertex::Enablers(guard) => self.n_actions + 3 * n_controls + guard,
            Vertex::Observer => self.n_actions + 3 * n_controls + self.n_guards,
        }
    }

    #[inline]
    pub(crate) fn vertex(&self, number: u32) -> Vertex {
        let n_controls = self.controls.len() as u32;
        let Some(hub) = number.checked_sub(self.n_actions) else { return Vertex::Action(number) };
        match hub.checked_sub(3 * n_controls) {
            Some(guard) if guard < self.n_guards => Vertex::Enablers(guard),
            Some(_) => Vertex::Observer,
            None if hub < n_controls => Vertex::Writers(hub),
            None if hub < 2 * n_controls => Vertex::Users(hub - n_controls),
            None => Vertex::Beyond(hub - 2 * n_controls),
        }
    }

    /// The row of a control variable's present value.
    #[inline]
    pub(crate) fn row(&self, system: &ActionSystem, state: &[u32], control: u32) -> usize {
        let Control { var, first_row } = self.controls[control as usize];
        first_row as usize + system.layout().field(var).raw(state) as usize
    }

    #[inline]
    pub(crate) fn writers(&self, system: &ActionSystem, state: &[u32], control: u32) -> &[u32] {
        self.writers.get(self.row(system, state, control))
    }

    #[inline]
    pub(crate) fn users(&self, system: &ActionSystem, state: &[u32], control: u32) -> &[u32] {
        self.users.get(self.row(system, state, control))
    }

    /// The moves from a row: actions and the rows they lead to.
    #[inline]
    pub(crate) fn moves(&self, row: usize) -> impl Iterator<Item = (u32, u32)> {
        self.moves.get(row).chunks_exact(2).map(|pair| (pair[0], pair[1]))
    }

    /// The value that a row of a control variable stands for.
    #[inline]
    pub(crate) fn value_of_row(&self, system: &ActionSystem, control: u32, row: u32) -> i64 {
        let Control { var, first_row } = self.controls[control as usize];
        system.variables()[var.index()].lo + i64::from(row - first_row)
    }

    #[inline]
    pub(crate) fn enablers(&self, guard: u32) -> &[u32] {
        self.enablers.get(guard as usize)
    }

    /// Whether the list of a guard's enablers is there.
    #[inline]
    pub(crate) fn uses_enablers(&self, guard: u32) -> bool {
        self.uses_enablers[guard as usize]
    }

    #[inline]
    pub(crate) fn needs(&self, action: u32) -> &[u32] {
        self.needs.get(action as usize)
    }

    pub(crate) fn control_of_guard(&self, guard: model::GuardId) -> Option<u32> {
        self.control_of_guard[guard.index()]
    }
}

/// All variables that an action mentions, in order.
fn variables_of(system: &ActionSystem, relations: &Relations, action: ActionId) -> Vec<VarId> {
    let mut variables: Vec<VarId> = system
        .action(action)
        .guards
        .iter()
        .flat_map(|guard| relations.guard_reads(*guard))
        .copied()
        .collect();
    variables.extend(relations.effect_reads(action));
    variables.extend(relations.writes(action));
    variables.sort_unstable();
    variables.dedup();
    variables
}

fn users_of_variables(system: &ActionSystem, relations: &Relations) -> Vec<Vec<ActionId>> {
    let mut users = vec![Vec::new(); system.variables().len()];
    for action in (0..system.actions().len()).map(ActionId::new) {
        for var in variables_of(system, relations, action) {
            users[var.index()].push(action);
        }
    }
    users
}

/// Whether a variable is a control variable: some action tests it with a guard of its own, it is
/// only ever set or mapped, and the lists of its values are not too long.
fn is_control(system: &ActionSystem, relations: &Relations, var: VarId, users: &[ActionId]) -> bool {
    let variable = &system.variables()[var.index()];
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
        relations.writes(action).binary_search(&var).is_err()
            || matches!(
                relations.change(system, action, var),
                Change::To(_) | Change::Map(_) | Change::Among(_)
            )
    };
    n_entries <= MAX_ENTRIES && users.iter().any(tests) && users.iter().all(only_sets)
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
