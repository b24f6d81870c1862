//! Algorithm 4.3: the choice of a stubborn set in a state.

use fixedbitset::FixedBitSet;
use model::{ActionId, ActionSystem, Fault, Guard, GuardId, Relations};

use crate::components::{Tarjan, Wanted};
use crate::graph::{Graph, Vertex};

/// The actions that a tester follows in one of its states.
#[derive(Clone, Debug)]
pub struct Offer {
    actions: Vec<u32>,
    set: FixedBitSet,
}

impl Offer {
    /// An offer of these actions, which must be visible.
    pub fn new(system: &ActionSystem, actions: impl IntoIterator<Item = ActionId>) -> Offer {
        let mut set = FixedBitSet::with_capacity(system.actions().len());
        set.extend(actions.into_iter().map(ActionId::index));
        Offer { actions: set.ones().map(|action| action as u32).collect(), set }
    }

    /// Whether the tester follows an action.
    #[inline]
    pub fn contains(&self, action: ActionId) -> bool {
        self.set.contains(action.index())
    }
}

/// What must be preserved.
#[derive(Clone, Copy, Debug)]
pub enum Demand<'a> {
    /// Deadlocks.
    Deadlocks,
    /// Some error of a tester, in the tester's present state.
    Tester {
        /// What the tester follows.
        offer: &'a Offer,
        /// Whether it is a livelock state (in S_L).
        livelock: bool,
        /// Whether it is a deadlock state (in S_D).
        deadlock: bool,
    },
}

/// Working memory of one thread.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// Per action: enabled, if it is the current epoch.
    enabled: Vec<u32>,
    /// Per vertex: in the closure, if it is the current epoch.
    reached: Vec<u32>,
    /// Per action that is disabled: the vertex it needs, if `reason_epoch` is the current one.
    reason: Vec<u32>,
    reason_epoch: Vec<u32>,
    epoch: u32,
    work: Vec<u32>,
    roots: Vec<u32>,
    regions: Regions,
    tarjan: Tarjan,
    model: model::Scratch,
    patience: Option<Patience>,
}

/// Where sets remove nothing, looking for them is given up for a while: taking all enabled actions
/// is always valid. After many states in a row without success only every eighth state is tried,
/// later every 64th; a success ends that.
#[derive(Clone, Copy, Debug, Default)]
struct Patience {
    n_failures: u32,
    n_to_skip: u32,
}

impl Patience {
    const FEW: u32 = 256;
    const MANY: u32 = 512;

    /// Whether to try in this state.
    fn tries(&mut self) -> bool {
        if self.n_to_skip > 0 {
            self.n_to_skip -= 1;
            return false;
        }
        true
    }

    fn learn(&mut self, success: bool) {
        self.n_failures = if success { 0 } else { self.n_failures.saturating_add(1) };
        self.n_to_skip = match self.n_failures {
            0..Patience::FEW => 0,
            Patience::FEW..Patience::MANY => 7,
            _ => 63,
        };
    }
}

/// The values that a control variable can take by enabled actions alone, and who leads it further.
#[derive(Clone, Copy, Debug, Default)]
struct Region {
    epoch: u32,
    /// Range of `Regions::rows`.
    rows: (u32, u32),
    /// Range of `Regions::actions`; none if the region is too large to be looked into.
    actions: Option<(u32, u32)>,
}

/// The regions that were asked for in the present state.
#[derive(Clone, Debug, Default)]
struct Regions {
    of_control: Vec<Region>,
    rows: Vec<u32>,
    actions: Vec<u32>,
}

impl Regions {
    const MAX_ROWS: usize = 64;

    /// The region of a control variable, computed if it was not yet.
    fn get(&mut self, control: u32, epoch: u32, first: usize, graph: &Graph, enabled: &[u32]) -> Region {
        let known = self.of_control[control as usize];
        if known.epoch == epoch {
            return known;
        }
        let (first_row, first_action) = (self.rows.len(), self.actions.len());
        self.rows.push(first as u32);
        let mut next = first_row;
        let mut too_large = false;
        while next < self.rows.len() {
            for (action, to) in graph.moves(self.rows[next] as usize) {
                if enabled[action as usize] != epoch {
                    self.actions.push(action);
                } else if !self.rows[first_row..].contains(&to) {
                    self.rows.push(to);
                }
            }
            next += 1;
            too_large = self.rows.len() - first_row > Regions::MAX_ROWS;
            if too_large {
                break;
            }
        }
        let region = Region {
            epoch,
            rows: (first_row as u32, self.rows.len() as u32),
            actions: (!too_large).then_some((first_action as u32, self.actions.len() as u32)),
        };
        self.of_control[control as usize] = region;
        region
    }
}

/// The stubborn sets of a system.
#[derive(Clone, Debug)]
pub struct StubbornSets<'s> {
    system: &'s ActionSystem,
    graph: Graph,
    visible: FixedBitSet,
}

impl<'s> StubbornSets<'s> {
    /// Prepares the sets of `system`. The visible actions are those that a tester takes part in.
    pub fn new(
        system: &'s ActionSystem,
        relations: &Relations,
        visible: impl IntoIterator<Item = ActionId>,
    ) -> StubbornSets<'s> {
        let mut set = FixedBitSet::with_capacity(system.actions().len());
        set.extend(visible.into_iter().map(ActionId::index));
        StubbornSets { system, graph: Graph::new(system, relations), visible: set }
    }

    /// Whether a tester takes part in an action.
    #[inline]
    pub fn is_visible(&self, action: ActionId) -> bool {
        self.visible.contains(action.index())
    }

    /// New working memory, for a search that expands each state once: where sets remove nothing,
    /// they are not looked for in every state, so that the choice depends on the past.
    pub fn new_adaptive_scratch(&self) -> Scratch {
        Scratch { patience: Some(Patience::default()), ..self.new_scratch() }
    }

    /// New working memory.
    pub fn new_scratch(&self) -> Scratch {
        let (n_actions, n_vertices) = (self.system.actions().len(), self.graph.n_vertices());
        Scratch {
            enabled: vec![0; n_actions],
            reached: vec![0; n_vertices],
            reason: vec![0; n_actions],
            reason_epoch: vec![0; n_actions],
            epoch: 0,
            work: Vec::new(),
            roots: Vec::new(),
            regions: Regions {
                of_control: vec![Region::default(); self.graph.controls.len()],
                ..Regions::default()
            },
            tarjan: Tarjan::new(n_vertices),
            model: model::System::new_scratch(self.system),
            patience: None,
        }
    }

    /// Reduces `enabled`, the actions enabled in `state` together with the tester, to those that
    /// must be taken. Their order is kept. The result depends on the arguments alone, unless the
    /// scratch is adaptive.
    pub fn reduce(
        &self,
        state: &[u32],
        demand: Demand<'_>,
        scratch: &mut Scratch,
        enabled: &mut Vec<ActionId>,
    ) -> Result<(), Fault> {
        let follows_all = matches!(demand, Demand::Tester { livelock: false, .. });
        if enabled.is_empty() || enabled.len() == 1 && !follows_all {
            return Ok(());
        }
        if scratch.patience.as_mut().is_some_and(|patience| !patience.tries()) {
            return Ok(());
        }
        scratch.begin(enabled);
        let mut tarjan = std::mem::take(&mut scratch.tarjan);
        let mut query = Query { sets: self, state, demand, scratch, n_enabled: enabled.len(), fault: None };
        let empty = query.choose(&mut tarjan);
        let fault = query.fault;
        scratch.tarjan = tarjan;
        if let Some(fault) = fault {
            return Err(fault);
        }
        let n_enabled = enabled.len();
        if empty {
            enabled.clear();
        } else {
            enabled.retain(|action| scratch.reached[action.index()] == scratch.epoch);
        }
        if let Some(patience) = &mut scratch.patience {
            patience.learn(enabled.len() < n_enabled);
        }
        Ok(())
    }
}

impl Scratch {
    fn begin(&mut self, enabled: &[ActionId]) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            // Every two billion states or so old epochs must be forgotten.
            for epochs in [&mut self.enabled, &mut self.reached, &mut self.reason_epoch] {
                epochs.fill(0);
            }
            self.regions.of_control.iter_mut().for_each(|region| region.epoch = 0);
            self.epoch = 1;
        }
        enabled.iter().for_each(|action| self.enabled[action.index()] = self.epoch);
        self.roots.clear();
        self.roots.extend(enabled.iter().map(|action| action.index() as u32));
        self.work.clear();
        self.regions.rows.clear();
        self.regions.actions.clear();
    }
}

/// The best vertex so far: one with the fewest enabled actions.
struct Best<'a> {
    enabled: &'a [u32],
    epoch: u32,
    vertex: Option<(usize, Vertex)>,
}

impl Best<'_> {
    /// Takes a vertex if it is better; returns whether no other can be.
    #[inline]
    fn consider(&mut self, list: &[u32], vertex: Vertex) -> bool {
        let limit = self.vertex.map_or(usize::MAX, |(n_enabled, _)| n_enabled);
        let is_enabled = |&&action: &&u32| self.enabled[action as usize] == self.epoch;
        let n_enabled = list.iter().filter(is_enabled).take(limit).count();
        if n_enabled < limit {
            self.vertex = Some((n_enabled, vertex));
        }
        n_enabled == 0
    }

    fn number(&self, graph: &Graph) -> Option<u32> {
        self.vertex.map(|(_, vertex)| graph.number(vertex))
    }
}

/// The choice in one state.
pub(crate) struct Query<'a> {
    sets: &'a StubbornSets<'a>,
    state: &'a [u32],
    demand: Demand<'a>,
    scratch: &'a mut Scratch,
    n_enabled: usize,
    fault: Option<Fault>,
}

impl Query<'_> {
    /// Marks the set in `scratch.reached`; returns whether it is empty instead.
    fn choose(&mut self, tarjan: &mut Tarjan) -> bool {
        let roots = std::mem::take(&mut self.scratch.roots);
        let is_empty = self.choose_from(tarjan, &roots);
        self.scratch.roots = roots;
        is_empty
    }

    fn choose_from(&mut self, tarjan: &mut Tarjan, roots: &[u32]) -> bool {
        match self.demand {
            Demand::Deadlocks => {}
            Demand::Tester { livelock: false, deadlock, .. } => {
                self.close(&[self.sets.graph.number(Vertex::Tester)]);
                if roots.iter().any(|&action| self.is_reached(action)) {
                    return false;
                }
                if !deadlock {
                    return true; // The tester will never move again.
                }
            }
            Demand::Tester { livelock: true, .. } => {
                if let Some(&action) = tarjan.search(self, roots, Wanted::Invisible).first() {
                    self.close(&[action]);
                    return false;
                }
            }
        }
        let component = tarjan.search(self, roots, Wanted::Enabled);
        self.close(component);
        false
    }

    /// Marks everything that can be reached from these vertices.
    fn close(&mut self, from: &[u32]) {
        let mut work = std::mem::take(&mut self.scratch.work);
        work.extend_from_slice(from);
        from.iter().for_each(|&vertex| self.scratch.reached[vertex as usize] = self.scratch.epoch);
        while let Some(vertex) = work.pop() {
            let mut cursor = 0;
            while let Some(next) = self.neighbor(vertex, cursor) {
                if !self.is_reached(next) {
                    self.scratch.reached[next as usize] = self.scratch.epoch;
                    work.push(next);
                }
                cursor += 1;
            }
        }
        self.scratch.work = work;
    }

    #[inline]
    fn is_reached(&self, vertex: u32) -> bool {
        self.scratch.reached[vertex as usize] == self.scratch.epoch
    }

    /// The neighbor number `cursor` of a vertex.
    #[inline]
    pub(crate) fn neighbor(&mut self, vertex: u32, cursor: u32) -> Option<u32> {
        let (graph, system) = (&self.sets.graph, self.sets.system);
        let cursor = cursor as usize;
        let list = match graph.vertex(vertex) {
            Vertex::Action(action) if self.is_enabled(action) => {
                let needs = graph.needs(action);
                if cursor == needs.len() && self.follows_tester(action) {
                    return Some(graph.number(Vertex::Tester));
                }
                needs
            }
            Vertex::Action(action) => return if cursor == 0 { self.reason(action) } else { None },
            Vertex::Writers(control) => graph.writers(system, self.state, control),
            Vertex::Users(control) => graph.users(system, self.state, control),
            Vertex::Beyond(control) => {
                let Regions { of_control, actions, .. } = &self.scratch.regions;
                let (from, to) = of_control[control as usize].actions.unwrap_or_default();
                &actions[from as usize..to as usize]
            }
            Vertex::Enablers(guard) => graph.enablers(guard),
            Vertex::Tester => match self.demand {
                Demand::Tester { offer, .. } => offer.actions.as_slice(),
                Demand::Deadlocks => &[],
            },
        };
        list.get(cursor).copied()
    }

    #[inline]
    fn follows_tester(&self, action: u32) -> bool {
        matches!(self.demand, Demand::Tester { .. }) && self.is_visible(action)
    }

    /// The vertex that a disabled action needs: of all that would do, the first without enabled
    /// actions; if there is none, one with the fewest.
    fn reason(&mut self, action: u32) -> Option<u32> {
        let at = action as usize;
        if self.scratch.reason_epoch[at] != self.scratch.epoch {
            let vertex = match self.find_reason(at) {
                Ok(vertex) => vertex,
                Err(fault) => {
                    self.fault = Some(fault);
                    return None;
                }
            };
            self.scratch.reason_epoch[at] = self.scratch.epoch;
            self.scratch.reason[at] = vertex?;
        }
        Some(self.scratch.reason[at])
    }

    fn find_reason(&mut self, action: usize) -> Result<Option<u32>, Fault> {
        let (graph, system) = (&self.sets.graph, self.sets.system);
        let Scratch { enabled, epoch, model, regions, .. } = &mut *self.scratch;
        let mut best = Best { enabled, epoch: *epoch, vertex: None };
        if let Demand::Tester { offer, .. } = self.demand
            && self.sets.visible.contains(action)
            && !offer.set.contains(action)
            && best.consider(&offer.actions, Vertex::Tester)
        {
            return Ok(best.number(graph));
        }
        let guards = &system.action(ActionId::new(action)).guards;
        let is_simple = |guard: &&GuardId| matches!(system.guards()[guard.index()], Guard::In(..));
        // Expressions may rely on the simple guards: they are looked at only if those are true.
        for simple in [true, false] {
            if !simple && best.vertex.is_some() {
                break;
            }
            for &guard in guards.iter().filter(|guard| is_simple(guard) == simple) {
                if system.guard_holds(guard, self.state, model)? {
                    continue;
                }
                let number = guard.index() as u32;
                if graph.uses_enablers(number)
                    && best.consider(graph.enablers(number), Vertex::Enablers(number))
                {
                    return Ok(best.number(graph));
                }
                let Some(control) = graph.control_of_guard(guard) else { continue };
                if best.consider(graph.writers(system, self.state, control), Vertex::Writers(control)) {
                    return Ok(best.number(graph));
                }
                let region =
                    regions.get(control, *epoch, graph.row(system, self.state, control), graph, enabled);
                let Guard::In(_, set) = &system.guards()[guard.index()] else { continue };
                let rows = &regions.rows[region.rows.0 as usize..region.rows.1 as usize];
                let is_outside = |&row: &u32| !set.contains(graph.value_of_row(system, control, row));
                if region.actions.is_some() && rows.iter().all(is_outside) {
                    // By its construction nothing in it is enabled.
                    return Ok(Some(graph.number(Vertex::Beyond(control))));
                }
            }
        }
        Ok(best.number(graph))
    }

    /// Whether a vertex is an enabled action.
    #[inline]
    pub(crate) fn is_enabled(&self, vertex: u32) -> bool {
        self.scratch.enabled.get(vertex as usize) == Some(&self.scratch.epoch)
    }

    /// Whether an action is visible.
    #[inline]
    pub(crate) fn is_visible(&self, action: u32) -> bool {
        self.sets.visible.contains(action as usize)
    }

    /// Number of enabled actions.
    pub(crate) fn n_enabled(&self) -> usize {
        self.n_enabled
    }
}
