//! The graph whose closed sets are the semistubborn sets, as far as it does not depend on the
//! state.
//!
//! Its vertices are the actions and, standing for sets of actions that several others need, the
//! *hubs*: who can write a control variable now, who uses it now, who may make a guard true, whom
//! the observer follows. Through hubs the graph stays small: an action has a few edges to hubs
//! instead of one to each action behind them.

use model::relations::Change;
use model::{ActionId, ActionSystem, Guard, GuardId, Relations, VarId};

/// A variable's lists are built only if they have fewer entries than this.
const MAX_ENTRIES: u64 = 1 << 24;

/// A guard's list of enablers is used only if it is not longer than this, or there is no other.
const MAX_ENABLERS: usize = 1 << 12;

/// A list: where it is in the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// All lists, one after the other.
///
/// In a list of vertices, actions that have a guard on a control variable in common may stand together,
/// behind two numbers with the highest bit set: the guard, and how many they are. Where the guard is false
/// none of them is enabled, and all have the same reason.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool(Vec<u32>);

impl Pool {
    fn add(&mut self, items: impl IntoIterator<Item = u32>) -> List {
        let start = self.0.len() as u32;
        self.0.extend(items);
        List { start, end: self.0.len() as u32 }
    }

    #[inline]
    pub(crate) fn get(&self, list: List) -> &[u32] {
        &self.0[list.start as usize..list.end as usize]
    }

    #[inline]
    pub(crate) fn item(&self, at: u32) -> u32 {
        self.0[at as usize]
    }

    /// The guard and the number of the actions that follow, if a group begins here.
    #[inline]
    pub(crate) fn group(&self, at: u32) -> Option<(u32, u32)> {
        let first = self.0[at as usize];
        (first >= GROUP).then(|| (first & !GROUP, self.0[at as usize + 1] & !GROUP))
    }

    /// Adds vertices, the actions among them in groups.
    fn add_vertices(&mut self, vertices: impl IntoIterator<Item = u32>, group_of: &[Option<u32>]) -> List {
        let mut vertices: Vec<u32> = vertices.into_iter().collect();
        let guard_of = |vertex: u32| group_of.get(vertex as usize).copied().flatten();
        vertices.sort_by_key(|&vertex| (guard_of(vertex), vertex));
        vertices.dedup();
        let start = self.0.len() as u32;
        for group in vertices.chunk_by(|&a, &b| guard_of(a) == guard_of(b)) {
            if let Some(guard) = guard_of(group[0])
                && group.len() >= MIN_GROUP
            {
                self.0.extend([guard | GROUP, group.len() as u32 | GROUP]);
            }
            self.0.extend(group);
        }
        List { start, end: self.0.len() as u32 }
    }
}

/// The bit that a group begins with.
const GROUP: u32 = 1 << 31;

/// Fewer actions are not worth a group.
const MIN_GROUP: usize = 3;

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
    pub(crate) pool: Pool,
    /// Per control variable and value: the actions that can write it there.
    writers: Vec<List>,
    /// Per control variable and value: the actions whose own guard on it is true there.
    users: Vec<List>,
    /// Per control variable and value: an action that can write it there and the row that it
    /// leads to, and so on.
    moves: Vec<List>,
    /// Per guard. What could be done first where nothing else can happen is everything that can happen:
    /// that list is the state's own.
    enablers: Vec<List>,
    /// Per guard, whether its list of enablers is there.
    uses_enablers: Vec<bool>,
    /// Per guard that looks at the front of a queue: the queue's length, and the list that holds while
    /// it is not 0.
    in_front: Vec<Option<(VarId, List)>>,
    /// Per action, the vertices it needs when it is enabled; but for the observer's.
    needs: Vec<List>,
    /// Per action, its guards on single variables, and the others.
    guards: Vec<[List; 2]>,
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
            pool: Pool::default(),
            writers: Vec::new(),
            users: Vec::new(),
            moves: Vec::new(),
            enablers: Vec::new(),
            uses_enablers: Vec::new(),
            in_front: Vec::new(),
            needs: Vec::new(),
            guards: Vec::new(),
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
        }
        let group_of: Vec<Option<u32>> = system
            .actions()
            .iter()
            .map(|action| {
                let is_control = |guard: &&GuardId| graph.control_of_guard[guard.index()].is_some();
                action.guards.iter().find(is_control).map(|guard| guard.index() as u32)
            })
            .collect();
        for (index, guard) in system.guards().iter().enumerate() {
            let enablers = relations.enablers(GuardId::new(index));
            let used = enablers.len() <= MAX_ENABLERS || graph.control_of_guard[index].is_none();
            graph.uses_enablers.push(used);
            let in_front = relations.enablers_in_front(system, GuardId::new(index));
            let mut add = |list: Vec<ActionId>| {
                graph.pool.add_vertices(list.iter().map(|action| action.index() as u32), &group_of)
            };
            graph.in_front.push(in_front.map(|(len, list)| (len, add(list))));
            let listed = used && *guard != Guard::Quiet;
            let enablers = enablers.iter().filter(|_| listed).map(|action| action.index() as u32);
            graph.enablers.push(graph.pool.add_vertices(enablers, &group_of));
        }
        for action in (0..system.actions().len()).map(ActionId::new) {
            let needs =
                graph.needs_of(system, relations, &control_of_var, &users_of, action, watched(action));
            graph.needs.push(graph.pool.add_vertices(needs, &group_of));
            let is_simple = |guard: &GuardId| matches!(system.guards()[guard.index()], Guard::In(..));
            let lists = [true, false].map(|simple| {
                let guards = system.action(action).guards.iter().filter(|guard| is_simple(guard) == simple);
                graph.pool.add(guards.map(|guard| guard.index() as u32))
            });
            graph.guards.push(lists);
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
            self.moves.push(self.pool.add(moves.flatten()));
            self.writers.push(self.pool.add(writers.iter().map(|action| action.index() as u32)));
            // What happens only where nothing else can never meets an enabled action of another kind; and
            // those of its own kind know each other anyway.
            let meets = |action: &&ActionId| !system.is_quiet(**action);
            let ready = ready.iter().filter(meets).map(|action| action.index() as u32);
            self.users.push(self.pool.add(ready));
        }
    }

    fn needs_of(
        &self,
        system: &ActionSystem,
        relations: &Relations,
        control_of_var: &[Option<u32>],
        users_of: &[Vec<ActionId>],
        action: ActionId,
        watched: &[VarId],
    ) -> Vec<u32> {
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
        needs
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
    pub(crate) fn writers(&self, system: &ActionSystem, state: &[u32], control: u32) -> List {
        self.writers[self.row(system, state, control)]
    }

    #[inline]
    pub(crate) fn users(&self, system: &ActionSystem, state: &[u32], control: u32) -> List {
        self.users[self.row(system, state, control)]
    }

    /// The moves from a row: actions and the rows they lead to.
    #[inline]
    pub(crate) fn moves(&self, row: usize) -> impl Iterator<Item = (u32, u32)> {
        self.pool.get(self.moves[row]).chunks_exact(2).map(|pair| (pair[0], pair[1]))
    }

    /// The value that a row of a control variable stands for.
    #[inline]
    pub(crate) fn value_of_row(&self, system: &ActionSystem, control: u32, row: u32) -> i64 {
        let Control { var, first_row } = self.controls[control as usize];
        system.variables()[var.index()].lo + i64::from(row - first_row)
    }

    /// Who may make a guard true that is false in a state.
    #[inline]
    pub(crate) fn enablers(&self, system: &ActionSystem, state: &[u32], guard: u32) -> List {
        match self.in_front[guard as usize] {
            Some((len, list)) if system.layout().field(len).raw(state) > 0 => list,
            _ => self.enablers[guard as usize],
        }
    }

    /// Whether the list of a guard's enablers is there.
    #[inline]
    pub(crate) fn uses_enablers(&self, guard: u32) -> bool {
        self.uses_enablers[guard as usize]
    }

    #[inline]
    pub(crate) fn needs(&self, action: u32) -> List {
        self.needs[action as usize]
    }

    /// The guards of an action on single variables, and the others.
    #[inline]
    pub(crate) fn guards(&self, action: usize) -> [&[u32]; 2] {
        self.guards[action].map(|list| self.pool.get(list))
    }

    pub(crate) fn control_of_guard(&self, guard: GuardId) -> Option<u32> {
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
/// only ever set or mapped, its values are known, and their lists are not too long.
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
    let is_known = variable.certain() == (variable.lo, variable.hi);
    is_known && n_entries <= MAX_ENTRIES && users.iter().any(tests) && users.iter().all(only_sets)
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
