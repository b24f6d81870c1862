//! The cheap question: is there a process that can go on alone?
//!
//! Let `v` be a control variable, the location of a process, say. The *row* of its present value has all actions that use
//! `v` there. An action is *kept* by `v` if it has a guard of its own on `v`: then it is in the row, or `v` disables it, and
//! only actions of the row can change that. So the row, with all that `v` disables, is semistubborn (see the head of the
//! crate), if each of its actions is enabled and all that it needs is kept by `v` (rule 2), or is disabled and all that may
//! enable it is kept by `v` (rule 1, whichever of its guards is false).
//!
//! What needs what is known before any state: per action, which variables keep all that it needs if it is enabled, and which
//! if it is not. That leaves three kinds of actions in a row: those that do no harm; those that must be enabled (they receive
//! from a channel that nobody else receives from, say); and those that must not be. In a state the enabled actions are counted,
//! each under the variables in whose rows it is, and that is all. It takes a few nanoseconds for each of them, and depends on
//! the state alone.
//!
//! What may lead to what is not made yet is in every set (rule 4). So there is none here as long as one of these actions may
//! ever happen again, by the locations that it waits for. One that cannot is disabled, and nothing will enable it.

use model::{ActionId, ActionSystem, Guard};

use crate::demand::Situation;
use crate::graph::{GROUP, Graph, List, Vertex};

/// An action in the rows of a control variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Home {
    action: u32,
    control: u32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Harmless,
    MustBeEnabled,
    MustBeDisabled,
}

/// In place of a number of actions: the row is of no use.
const NEVER: u32 = u32::MAX;

/// The rows of a graph that may be stubborn by themselves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// Per action, where its homes begin; and where the last one's end.
    starts: Vec<u32>,
    homes: Vec<Home>,
    /// Per row: how many actions must be enabled.
    n_must: Vec<u32>,
    /// The control variables that actions wait for which may lead to what is not made yet.
    open: Vec<u32>,
    /// Per row: whether such an action may still come, as far as this variable goes.
    may_open: Vec<bool>,
}

/// What is counted for a control variable, if `epoch` is the current one.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    epoch: u32,
    /// How many steps are enabled, and how many of these do not move the observer.
    n_enabled: u32,
    n_silent: u32,
    /// How many actions are enabled that must be.
    n_must: u32,
    /// The last of these: chains that begin with the same action stand together.
    last: u32,
    is_spoiled: bool,
}

/// Working memory.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    of_control: Vec<Count>,
    touched: Vec<u32>,
    epoch: u32,
}

impl Counts {
    pub(crate) fn new(graph: &Graph) -> Counts {
        Counts { of_control: vec![Count::default(); graph.controls.len()], touched: Vec::new(), epoch: 0 }
    }
}

impl Rows {
    /// The rows of a graph; if they are `careless`, whatever is in them: wrong, for tests.
    pub(crate) fn new(system: &ActionSystem, graph: &Graph, careless: bool) -> Rows {
        let n_rows = graph.users.len();
        let mut rows = Rows { n_must: vec![NEVER; n_rows], ..Rows::default() };
        if rows.add_open(system, graph) {
            let keepers = Keepers::new(system, graph);
            let mut homes = Vec::new();
            for control in 0..graph.controls.len() as u32 {
                for row in rows_of(graph, control) {
                    rows.add_row(graph, &keepers, control, row, careless, &mut homes);
                }
            }
            homes.sort_unstable();
            homes.dedup();
            rows.homes = homes;
        }
        let mut at = 0;
        for action in 0..=graph.n_actions {
            while rows.homes.get(at).is_some_and(|home| home.action < action) {
                at += 1;
            }
            rows.starts.push(at as u32);
        }
        rows
    }

    /// Where actions may still come that lead to what is not made yet. Returns whether there can be places where none can.
    fn add_open(&mut self, system: &ActionSystem, graph: &Graph) -> bool {
        let Some(open) = graph.open else { return true };
        let Vertex::Hub(hub) = graph.vertex(open) else { return false };
        self.may_open = vec![false; graph.users.len()];
        for &action in graph.pool.get(graph.hubs[hub as usize]).iter().filter(|item| **item < GROUP) {
            let Vertex::Action(action) = graph.vertex(action) else { return false };
            let own = system.action(ActionId::new(action as usize)).guards.iter();
            let Some((control, guard)) =
                own.filter_map(|&guard| Some((graph.control_of_guard(guard)?, guard))).next()
            else {
                return false;
            };
            let Guard::In(_, set) = &system.guards()[guard.index()] else { return false };
            for row in rows_of(graph, control) {
                self.may_open[row] |= set.contains(graph.value_of_row(system, control, row as u32));
            }
            self.open.push(control);
        }
        self.open.sort_unstable();
        self.open.dedup();
        // And wherever one can get there from, whatever else the moves wait for.
        for &control in &self.open {
            let mut grows = true;
            while std::mem::take(&mut grows) {
                for row in rows_of(graph, control).rev() {
                    if !self.may_open[row] && graph.moves(row).any(|(_, to)| self.may_open[to as usize]) {
                        (self.may_open[row], grows) = (true, true);
                    }
                }
            }
        }
        true
    }

    fn add_row(
        &mut self,
        graph: &Graph,
        keepers: &Keepers,
        control: u32,
        row: usize,
        careless: bool,
        homes: &mut Vec<Home>,
    ) {
        let start = homes.len();
        let mut n_must = 0;
        for &action in graph.pool.get(graph.users[row]) {
            let [if_enabled, if_disabled] =
                [&keepers.if_enabled, &keepers.if_disabled].map(|sets| sets[action as usize].has(control));
            let kind = match (if_enabled, if_disabled) {
                _ if careless => Kind::Harmless,
                (true, true) => Kind::Harmless,
                (true, false) => Kind::MustBeEnabled,
                (false, true) => Kind::MustBeDisabled,
                (false, false) => return homes.truncate(start),
            };
            n_must += u32::from(kind == Kind::MustBeEnabled);
            homes.push(Home { action, control, kind });
        }
        self.n_must[row] = n_must;
    }

    pub(crate) fn bytes(&self) -> u64 {
        4 * (self.starts.len() + self.n_must.len()) as u64 + 12 * self.homes.len() as u64
    }

    fn homes(&self, action: usize) -> &[Home] {
        &self.homes[self.starts[action] as usize..self.starts[action + 1] as usize]
    }

    /// Chooses the enabled actions of a row that is stubborn, the fewest that there are, by their indices: some of them do
    /// not move the observer; or `all_silent`, none of them does. Nothing if there is no such row.
    pub(crate) fn choose(
        &self,
        (system, graph): (&ActionSystem, &Graph),
        situation: &Situation<'_>,
        all_silent: bool,
        counts: &mut Counts,
        chosen: &mut Vec<u32>,
    ) {
        chosen.clear();
        let may_open = |&control: &u32| self.may_open[graph.row(system, situation.state, control)];
        if self.homes.is_empty() || self.open.iter().any(may_open) {
            return;
        }
        counts.begin();
        let epoch = counts.epoch;
        for (action, &moves) in situation.enabled.iter().zip(situation.moves) {
            let first = system.first(*action).index();
            for home in self.homes(first) {
                let count = counts.at(home.control);
                count.n_enabled += 1;
                count.n_silent += u32::from(!moves);
                count.is_spoiled |= home.kind == Kind::MustBeDisabled || all_silent && moves;
                if home.kind == Kind::MustBeEnabled && count.last != first as u32 {
                    count.n_must += 1;
                    count.last = first as u32;
                }
            }
        }
        for action in situation.blocked {
            for home in self.homes(system.first(*action).index()) {
                counts.at(home.control).is_spoiled = true;
            }
        }
        let mut best: Option<(u32, u32)> = None;
        for &control in &counts.touched {
            let count = &counts.of_control[control as usize];
            debug_assert_eq!(count.epoch, epoch);
            let is_better = best.is_none_or(|(fewest, _)| count.n_enabled < fewest);
            if is_better
                && !count.is_spoiled
                && count.n_silent > 0
                && self.n_must[graph.row(system, situation.state, control)] == count.n_must
            {
                best = Some((count.n_enabled, control));
            }
        }
        let Some((_, best)) = best else { return };
        let is_home = |home: &Home| home.control == best;
        for (index, action) in situation.enabled.iter().enumerate() {
            if self.homes(system.first(*action).index()).iter().any(is_home) {
                chosen.push(index as u32);
            }
        }
    }
}

impl Counts {
    fn begin(&mut self) {
        self.touched.clear();
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.of_control.fill(Count::default());
            self.epoch = 1;
        }
    }

    #[inline]
    fn at(&mut self, control: u32) -> &mut Count {
        let count = &mut self.of_control[control as usize];
        if count.epoch != self.epoch {
            *count = Count { epoch: self.epoch, last: u32::MAX, ..Count::default() };
            self.touched.push(control);
        }
        count
    }
}

/// The rows of a control variable.
fn rows_of(graph: &Graph, control: u32) -> std::ops::Range<usize> {
    let first =
        |control: usize| graph.controls.get(control).map_or(graph.users.len(), |its| its.first_row as usize);
    first(control as usize)..first(control as usize + 1)
}

/// A set of control variables.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Controls {
    All,
    /// These, in order.
    Some(Vec<u32>),
}

impl Controls {
    fn has(&self, control: u32) -> bool {
        match self {
            Controls::All => true,
            Controls::Some(list) => list.binary_search(&control).is_ok(),
        }
    }

    fn meet(&mut self, other: &Controls) {
        match (&mut *self, other) {
            (_, Controls::All) => {}
            (Controls::All, other) => *self = other.clone(),
            (Controls::Some(list), other) => list.retain(|&control| other.has(control)),
        }
    }

    fn add(&mut self, other: &Controls) {
        match (&mut *self, other) {
            (Controls::All, _) => {}
            (_, Controls::All) => *self = Controls::All,
            (Controls::Some(list), Controls::Some(more)) => {
                list.extend(more);
                list.sort_unstable();
                list.dedup();
            }
        }
    }
}

/// Which control variables keep what.
struct Keepers {
    /// Per action, itself.
    own: Vec<Controls>,
    /// Per control variable, all that use it, or itself.
    users: Vec<Controls>,
    /// Per other hub, all behind it.
    hubs: Vec<Controls>,
    /// Per action, all that it needs if it is enabled, and all that may enable it.
    if_enabled: Vec<Controls>,
    if_disabled: Vec<Controls>,
}

impl Keepers {
    fn new(system: &ActionSystem, graph: &Graph) -> Keepers {
        let mut control_of_var = vec![None; system.variables().len()];
        for (index, control) in graph.controls.iter().enumerate() {
            control_of_var[control.var.index()] = Some(index as u32);
        }
        let mut keepers = Keepers {
            own: Vec::new(),
            users: Vec::new(),
            hubs: Vec::new(),
            if_enabled: Vec::new(),
            if_disabled: Vec::new(),
        };
        for action in system.actions() {
            let own = action.guards.iter().filter_map(|guard| match &system.guards()[guard.index()] {
                Guard::In(var, _) => control_of_var[var.index()],
                Guard::True(_) | Guard::Quiet => None,
            });
            let mut own: Vec<u32> = own.collect();
            own.sort_unstable();
            own.dedup();
            keepers.own.push(Controls::Some(own));
        }
        for control in 0..graph.controls.len() as u32 {
            let mut users = Controls::All;
            for row in rows_of(graph, control) {
                for &action in graph.pool.get(graph.users[row]) {
                    users.meet(&keepers.own[action as usize]);
                }
            }
            users.add(&Controls::Some(vec![control]));
            keepers.users.push(users);
        }
        // A hub leads only to hubs that were made before it.
        for &hub in &graph.hubs {
            let its = keepers.of_list(graph, hub);
            keepers.hubs.push(its);
        }
        for action in 0..graph.n_actions {
            let needs = keepers.of_list(graph, graph.needs(action));
            keepers.if_enabled.push(needs);
            let mut enablers = Controls::All;
            for &guard in graph.guards(action as usize).into_iter().flatten() {
                enablers.meet(&keepers.of_guard(system, graph, guard));
            }
            keepers.if_disabled.push(enablers);
        }
        keepers
    }

    /// What keeps all that may make a guard true; or the variable that it looks at, which disables the action itself.
    fn of_guard(&self, system: &ActionSystem, graph: &Graph, guard: u32) -> Controls {
        if system.guards()[guard as usize] == Guard::Quiet {
            return Controls::Some(Vec::new());
        }
        let mut keepers = match graph.uses_enablers(guard) {
            true => self.of_list(graph, graph.enablers[guard as usize]),
            false => Controls::Some(Vec::new()),
        };
        if let Some(control) = graph.control_of_guard[guard as usize] {
            keepers.add(&self.users[control as usize]);
        }
        keepers
    }

    fn of_list(&self, graph: &Graph, list: List) -> Controls {
        let mut keepers = Controls::All;
        // Heads of groups say nothing that the actions behind them do not.
        for &item in graph.pool.get(list).iter().filter(|item| **item < GROUP) {
            match graph.vertex(item) {
                Vertex::Action(action) => keepers.meet(&self.own[action as usize]),
                Vertex::Writers(control) | Vertex::Users(control) => {
                    keepers.meet(&self.users[control as usize]);
                }
                // Where that matters, no row is taken.
                Vertex::Hub(_) if graph.open == Some(item) => {}
                Vertex::Hub(hub) => keepers.meet(&self.hubs[hub as usize]),
                Vertex::Beyond(_) | Vertex::Enablers(_) | Vertex::Observer => {
                    return Controls::Some(Vec::new());
                }
            }
        }
        keepers
    }
}
