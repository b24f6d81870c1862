//! The graph whose closed sets are the semistubborn sets, as far as it does not depend on the
//! state.
//!
//! Its vertices are the actions and, standing for sets of actions that several others need, the
//! *hubs*: who can write a control variable now, who uses it now, who may make a guard true, who uses another
//! variable in a way that disturbs others, whom the observer follows. Through hubs the graph stays small: an action
//! has a few edges to hubs instead of one to each action behind them. How it is made is said in `making`.

use base::{Budget, Limit};
use model::{ActionSystem, GuardId, VarId};

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
    /// A pool does not grow beyond this: its places have 32 bits.
    const MAX_BYTES: u64 = 4 << 32;

    pub(crate) fn add(
        &mut self,
        items: impl IntoIterator<Item = u32>,
        budget: &mut Budget<'_>,
    ) -> Result<List, Limit> {
        let start = self.end()?;
        self.0.extend(items);
        let end = self.end()?;
        budget.tick()?;
        budget.hold(4 * u64::from(end - start))?;
        Ok(List { start, end })
    }

    fn end(&self) -> Result<u32, Limit> {
        u32::try_from(self.0.len()).map_err(|_| Limit::Memory(Pool::MAX_BYTES))
    }

    pub(crate) fn bytes(&self) -> u64 {
        4 * self.0.len() as u64
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
    pub(crate) fn add_vertices(
        &mut self,
        mut vertices: Vec<u32>,
        group_of: &[Option<u32>],
        budget: &mut Budget<'_>,
    ) -> Result<List, Limit> {
        let guard_of = |vertex: u32| group_of.get(vertex as usize).copied().flatten();
        vertices.sort_by_key(|&vertex| (guard_of(vertex), vertex));
        vertices.dedup();
        let with_head = |group: &[u32]| {
            let guard = guard_of(group[0]).filter(|_| group.len() >= MIN_GROUP);
            let head = guard.map(|guard| [guard | GROUP, group.len() as u32 | GROUP]);
            head.into_iter().flatten().chain(group.to_vec())
        };
        let groups = vertices.chunk_by(|&a, &b| guard_of(a) == guard_of(b));
        self.add(groups.flat_map(with_head), budget)
    }
}

/// The bit that a group begins with.
pub(crate) const GROUP: u32 = 1 << 31;

/// Fewer actions are not worth a group.
const MIN_GROUP: usize = 3;

/// A control variable: where its lists begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control {
    pub(crate) var: VarId,
    /// Index in `writers`, `users` and `moves` of the list for its least value.
    pub(crate) first_row: u32,
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
    /// Some actions, or other hubs of this kind, whatever the state is.
    Hub(u32),
    /// What the observer follows now.
    Observer,
}

/// The static part of the graph. Vertices are numbered: actions, writers, users, beyond,
/// enablers, other hubs, observer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) n_actions: u32,
    pub(crate) controls: Vec<Control>,
    pub(crate) n_guards: u32,
    pub(crate) pool: Pool,
    /// Per control variable and value: the actions that can write it there.
    pub(crate) writers: Vec<List>,
    /// Per control variable and value: the actions whose own guard on it is true there.
    pub(crate) users: Vec<List>,
    /// Per control variable and value: an action that can write it there and the row that it
    /// leads to, and so on.
    pub(crate) moves: Vec<List>,
    /// Per guard. What could be done first where nothing else can happen is everything that can happen:
    /// that list is the state's own.
    pub(crate) enablers: Vec<List>,
    /// Per guard, whether its list of enablers is there.
    pub(crate) uses_enablers: Vec<bool>,
    /// Per guard that looks at the front of a queue: the queue's length, and the list that holds while
    /// it is not 0.
    pub(crate) in_front: Vec<Option<(VarId, List)>>,
    /// Per action, the vertices it needs when it is enabled; but for the observer's.
    pub(crate) needs: Vec<List>,
    /// What the other hubs stand for.
    pub(crate) hubs: Vec<List>,
    /// The hub of all actions that may lead to what is not made yet, if there are some.
    pub(crate) open: Option<u32>,
    /// Per action, its guards on single variables, and the others.
    pub(crate) guards: Vec<[List; 2]>,
    /// Per guard, the control variable it looks at alone.
    pub(crate) control_of_guard: Vec<Option<u32>>,
}

impl Graph {
    pub(crate) fn n_vertices(&self) -> usize {
        self.number(Vertex::Observer) as usize + 1
    }

    /// A new hub for these vertices.
    pub(crate) fn add_hub(&mut self, vertices: &[u32], budget: &mut Budget<'_>) -> Result<u32, Limit> {
        let list = self.pool.add(vertices.iter().copied(), budget)?;
        self.hubs.push(list);
        Ok(self.number(Vertex::Hub(self.hubs.len() as u32 - 1)))
    }

    /// About how many bytes the graph takes.
    pub(crate) fn bytes(&self) -> u64 {
        let n_rows = self.writers.len() + self.users.len() + self.moves.len();
        let n_lists = self.needs.len() + 2 * self.guards.len() + self.hubs.len() + 5 * self.enablers.len();
        self.pool.bytes() + 8 * (n_rows + n_lists) as u64
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
            Vertex::Hub(hub) => self.n_actions + 3 * n_controls + self.n_guards + hub,
            Vertex::Observer => self.number(Vertex::Hub(self.hubs.len() as u32)),
        }
    }

    #[inline]
    pub(crate) fn vertex(&self, number: u32) -> Vertex {
        let n_controls = self.controls.len() as u32;
        let Some(hub) = number.checked_sub(self.n_actions) else { return Vertex::Action(number) };
        match hub.checked_sub(3 * n_controls) {
            Some(guard) if guard < self.n_guards => Vertex::Enablers(guard),
            Some(hub) if hub < self.n_guards + self.hubs.len() as u32 => Vertex::Hub(hub - self.n_guards),
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
