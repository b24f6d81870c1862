//! Algorithm 4.3: the choice of a stubborn set in a state.

use fixedbitset::FixedBitSet;
use model::{ActionId, ActionSystem, Fault, Guard, GuardId, Relations, System as _};

use crate::components::{Tarjan, Wanted};
use crate::flips::Flips;
use crate::graph::{Graph, Vertex};

/// What an observer that stays where it is lets happen, in one of its states: the actions that may
/// move it, and those that cannot happen before it has moved.
#[derive(Clone, Debug)]
pub struct Offer {
    follows: Vec<u32>,
    refuses: FixedBitSet,
}

impl Offer {
    /// An observer that may follow some actions and refuses others. An action must be followed if
    /// it may move the observer in *some* state that is reached without moving it; it may be refused
    /// only if it cannot happen in any of these.
    pub fn new(
        system: &ActionSystem,
        follows: impl IntoIterator<Item = ActionId>,
        refuses: impl IntoIterator<Item = ActionId>,
    ) -> Offer {
        let mut set = FixedBitSet::with_capacity(system.actions().len());
        set.extend(refuses.into_iter().map(ActionId::index));
        let mut follows: Vec<u32> = follows.into_iter().map(|action| action.index() as u32).collect();
        follows.sort_unstable();
        follows.dedup();
        Offer { follows, refuses: set }
    }
}

/// A state of a system and an observer: what can happen there.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The state of the system.
    pub state: &'a [u32],
    /// The actions enabled in it that the observer lets happen.
    pub enabled: &'a [ActionId],
    /// For each of them, whether it moves the observer.
    pub moves: &'a [bool],
    /// The actions enabled in it that the observer does not let happen now.
    pub blocked: &'a [ActionId],
}

/// What must be preserved.
#[derive(Clone, Copy, Debug)]
pub enum Demand<'a> {
    /// Deadlocks.
    Deadlocks,
    /// Whether an observer that moves with the system finds some error, in its present state.
    Observer {
        /// What it follows and refuses.
        offer: &'a Offer,
        /// Whether it is an error if it never moves again (S_L of a tester, G of a TA).
        may_wait: bool,
        /// Whether it is an error if the system ends here (S_D of a tester).
        deadlock: bool,
        /// Whether smaller sets may be tried that do not lead the observer on, if the caller accepts
        /// them.
        hybrid: bool,
    },
    /// Whether a state can be reached that is not reached before one of these actions has happened.
    Goal(&'a [u32]),
    /// All words up to stuttering: a set that moves no observer, if the caller accepts it, or all.
    Words,
}

/// A rule that can be left out, to see that tests notice. Without it sets are not sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Rule {
    /// Where waiting is not accepted, all that the observer follows is in the set.
    Progress,
    /// Where waiting is accepted, something silent is in the set, if anything is.
    Waiting,
    /// With one action that moves the observer come all that it follows.
    OneMovesAllMove,
    /// The observer is a reason only for what it refuses whatever silent actions do first.
    RefusedForGood,
    /// Smaller sets must close no cycle.
    Proviso,
    /// A set that all words survive moves no observer.
    Invisible,
    /// What decides which propositions an action flips comes along.
    Watched,
    /// An observer by value waits while what it sees stays the same. (Its user's business.)
    WaitingForm,
}

/// Working memory of one thread.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// Per action: enabled, if it is the current epoch.
    enabled: Vec<u32>,
    /// Per action: enabled and moves the observer, if it is the current epoch.
    moves: Vec<u32>,
    /// Per action: enabled but for the observer, if it is the current epoch.
    blocked: Vec<u32>,
    /// Per vertex: in the closure, if it is the current generation.
    reached: Vec<u32>,
    /// Per action that is disabled: the vertex it needs, if `reason_epoch` is the current one.
    reason: Vec<u32>,
    reason_epoch: Vec<u32>,
    epoch: u32,
    generation: u32,
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
    dropped: Option<Rule>,
}

impl<'s> StubbornSets<'s> {
    /// Prepares the sets of `system`, for observers that watch actions, or none.
    pub fn new(system: &'s ActionSystem, relations: &Relations) -> StubbornSets<'s> {
        StubbornSets { system, graph: Graph::new(system, relations, |_| &[]), dropped: None }
    }

    /// Prepares the sets of `system`, for observers that watch propositions.
    pub fn for_propositions(
        system: &'s ActionSystem,
        relations: &Relations,
        flips: &Flips,
    ) -> StubbornSets<'s> {
        let graph = Graph::new(system, relations, |action| flips.watched(action));
        StubbornSets { system, graph, dropped: None }
    }

    /// The same without a rule: wrong, for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn without(mut self, rule: Rule, relations: &Relations) -> StubbornSets<'s> {
        if rule == Rule::Watched {
            self.graph = Graph::new(self.system, relations, |_| &[]);
        }
        self.dropped = Some(rule);
        self
    }

    fn has(&self, rule: Rule) -> bool {
        self.dropped != Some(rule)
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
            moves: vec![0; n_actions],
            blocked: vec![0; n_actions],
            reached: vec![0; n_vertices],
            reason: vec![0; n_actions],
            reason_epoch: vec![0; n_actions],
            epoch: 0,
            generation: 0,
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

    /// Chooses those of the enabled actions that must be taken, by their indices, in order. Sets
    /// that hold only if the caller accepts them are offered to `accept` first. Apart from that the
    /// result depends on the arguments alone, unless the scratch is adaptive.
    pub fn choose(
        &self,
        situation: &Situation<'_>,
        demand: Demand<'_>,
        scratch: &mut Scratch,
        accept: &mut dyn FnMut(&[u32]) -> bool,
        chosen: &mut Vec<u32>,
    ) -> Result<(), Fault> {
        let n_enabled = situation.enabled.len();
        chosen.clear();
        let may_prune = matches!(demand, Demand::Observer { may_wait: false, .. } | Demand::Goal(_));
        let is_plain = n_enabled == 0 || n_enabled == 1 && !may_prune;
        if is_plain || scratch.patience.as_mut().is_some_and(|patience| !patience.tries()) {
            chosen.extend(0..n_enabled as u32);
            return Ok(());
        }
        scratch.begin(self.system, situation);
        let mut tarjan = std::mem::take(&mut scratch.tarjan);
        let mut query = Query { sets: self, situation, demand, scratch, fault: None };
        query.choose(&mut tarjan, accept, chosen);
        let fault = query.fault;
        scratch.tarjan = tarjan;
        if let Some(patience) = &mut scratch.patience {
            patience.learn(chosen.len() < n_enabled);
        }
        fault.map_or(Ok(()), Err)
    }
}

impl Scratch {
    fn begin(&mut self, system: &ActionSystem, situation: &Situation<'_>) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            // Every four billion states or so old epochs must be forgotten.
            for epochs in [&mut self.enabled, &mut self.moves, &mut self.blocked, &mut self.reason_epoch] {
                epochs.fill(0);
            }
            self.regions.of_control.iter_mut().for_each(|region| region.epoch = 0);
            self.epoch = 1;
        }
        // Chains that begin with the same action are one action here, which moves the observer if one of
        // them does or would.
        self.roots.clear();
        for (action, moves) in situation.enabled.iter().zip(situation.moves) {
            let action = system.first(*action).index();
            self.roots.push(action as u32);
            self.enabled[action] = self.epoch;
            if *moves {
                self.moves[action] = self.epoch;
            }
        }
        for action in situation.blocked.iter().map(|action| system.first(*action).index()) {
            self.blocked[action] = self.epoch;
            if self.enabled[action] == self.epoch {
                self.moves[action] = self.epoch;
            }
        }
        self.work.clear();
        self.regions.rows.clear();
        self.regions.actions.clear();
    }

    /// Starts a closure: nothing is reached.
    fn next_generation(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.reached.fill(0);
            self.generation = 1;
        }
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
    situation: &'a Situation<'a>,
    demand: Demand<'a>,
    scratch: &'a mut Scratch,
    fault: Option<Fault>,
}

impl Query<'_> {
    fn choose(&mut self, tarjan: &mut Tarjan, accept: &mut dyn FnMut(&[u32]) -> bool, chosen: &mut Vec<u32>) {
        let roots = std::mem::take(&mut self.scratch.roots);
        let sets = self.sets;
        let accept = &mut |set: &[u32]| !sets.has(Rule::Proviso) || accept(set);
        match self.demand {
            Demand::Deadlocks => self.smallest(tarjan, &roots, Wanted::Enabled, chosen),
            Demand::Goal(actions) => self.close(actions, chosen),
            Demand::Observer { may_wait, .. } if may_wait || !sets.has(Rule::Progress) => {
                if sets.has(Rule::Waiting) {
                    self.smallest(tarjan, &roots, Wanted::Silent, chosen);
                }
                if chosen.is_empty() {
                    self.smallest(tarjan, &roots, Wanted::Enabled, chosen);
                }
            }
            Demand::Observer { deadlock, hybrid, .. } => {
                self.guided(chosen);
                // Where nothing of it is enabled, the observer will never move again.
                if chosen.is_empty() && deadlock {
                    self.smallest(tarjan, &roots, Wanted::Enabled, chosen);
                } else if hybrid && chosen.len() > 1 {
                    self.try_smaller(tarjan, &roots, accept, chosen);
                }
            }
            Demand::Words => {
                let wanted = if sets.has(Rule::Invisible) { Wanted::OnlySilent } else { Wanted::Enabled };
                self.smallest(tarjan, &roots, wanted, chosen);
                if chosen.is_empty() || chosen.len() == roots.len() || !accept(chosen) {
                    chosen.clear();
                    chosen.extend(0..roots.len() as u32);
                }
            }
        }
        self.scratch.roots = roots;
    }

    /// The closure of all that the observer follows.
    fn guided(&mut self, chosen: &mut Vec<u32>) {
        self.close(&[self.sets.graph.number(Vertex::Observer)], chosen);
    }

    /// Replaces the set led by the observer by a smaller one that is accepted: the smallest of all, or
    /// else the smallest inside it.
    fn try_smaller(
        &mut self,
        tarjan: &mut Tarjan,
        roots: &[u32],
        accept: &mut dyn FnMut(&[u32]) -> bool,
        chosen: &mut Vec<u32>,
    ) {
        let inside_roots: Vec<u32> = chosen.iter().map(|&index| roots[index as usize]).collect();
        let (mut inside, mut smallest) = (Vec::new(), Vec::new());
        self.smallest(tarjan, &inside_roots, Wanted::Enabled, &mut inside);
        if inside.len() > 1 {
            self.smallest(tarjan, roots, Wanted::Enabled, &mut smallest);
        }
        let tries_smallest = !smallest.is_empty() && smallest.len() < inside.len();
        if tries_smallest && smallest.len() < chosen.len() && accept(&smallest) {
            *chosen = smallest;
        } else if inside.len() < chosen.len() && accept(&inside) {
            *chosen = inside;
        }
    }

    /// The closure of the smallest component that has what is wanted; nothing if there is none.
    fn smallest(&mut self, tarjan: &mut Tarjan, roots: &[u32], wanted: Wanted, chosen: &mut Vec<u32>) {
        match tarjan.search(self, roots, wanted) {
            [] => chosen.clear(),
            component => {
                let start = component[0];
                self.close(&[start], chosen);
            }
        }
    }

    /// The enabled actions, by their indices, in all that can be reached from these vertices.
    fn close(&mut self, from: &[u32], chosen: &mut Vec<u32>) {
        self.scratch.next_generation();
        let generation = self.scratch.generation;
        let mut work = std::mem::take(&mut self.scratch.work);
        work.extend_from_slice(from);
        from.iter().for_each(|&vertex| self.scratch.reached[vertex as usize] = generation);
        while let Some(vertex) = work.pop() {
            let mut cursor = 0;
            while let Some(next) = self.neighbor(vertex, cursor) {
                if self.scratch.reached[next as usize] != generation {
                    self.scratch.reached[next as usize] = generation;
                    work.push(next);
                }
                cursor += 1;
            }
        }
        self.scratch.work = work;
        chosen.clear();
        for (index, action) in self.situation.enabled.iter().enumerate() {
            if self.scratch.reached[self.sets.system.first(*action).index()] == generation {
                chosen.push(index as u32);
            }
        }
    }

    /// The neighbor number `cursor` of a vertex.
    #[inline]
    pub(crate) fn neighbor(&mut self, vertex: u32, cursor: u32) -> Option<u32> {
        let (graph, system) = (&self.sets.graph, self.sets.system);
        let state = self.situation.state;
        let cursor = cursor as usize;
        let list = match graph.vertex(vertex) {
            Vertex::Action(action) if self.is_enabled(action) || self.is_blocked_for_now(action) => {
                let needs = graph.needs(action);
                if cursor == needs.len() && self.needs_observer(action) {
                    return Some(graph.number(Vertex::Observer));
                }
                needs
            }
            Vertex::Action(action) => return if cursor == 0 { self.reason(action) } else { None },
            Vertex::Writers(control) => graph.writers(system, state, control),
            Vertex::Users(control) => graph.users(system, state, control),
            Vertex::Beyond(control) => {
                let Regions { of_control, actions, .. } = &self.scratch.regions;
                let (from, to) = of_control[control as usize].actions.unwrap_or_default();
                &actions[from as usize..to as usize]
            }
            Vertex::Enablers(guard) => graph.enablers(guard),
            Vertex::Observer => match self.demand {
                Demand::Observer { offer, .. } => offer.follows.as_slice(),
                Demand::Deadlocks | Demand::Goal(_) | Demand::Words => &[],
            },
        };
        list.get(cursor).copied()
    }

    /// Whether the observer alone blocks an action, but might not after others that leave it where
    /// it is. Then those must come along as if the action were enabled.
    #[inline]
    fn is_blocked_for_now(&self, action: u32) -> bool {
        let at = action as usize;
        self.scratch.blocked[at] == self.scratch.epoch
            && matches!(self.demand, Demand::Observer { offer, .. } if !offer.refuses.contains(at))
            && self.sets.has(Rule::RefusedForGood)
    }

    /// Whether an enabled or blocked action moves the observer, or waits for it.
    #[inline]
    fn needs_observer(&self, action: u32) -> bool {
        matches!(self.demand, Demand::Observer { .. })
            && (self.moves(action) || !self.is_enabled(action))
            && self.sets.has(Rule::OneMovesAllMove)
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
        let state = self.situation.state;
        let Scratch { enabled, blocked, epoch, model, regions, .. } = &mut *self.scratch;
        let mut best = Best { enabled, epoch: *epoch, vertex: None };
        let is_blocked = blocked[action] == *epoch && !self.sets.has(Rule::RefusedForGood);
        if let Demand::Observer { offer, .. } = self.demand
            && (offer.refuses.contains(action) || is_blocked)
            && best.consider(&offer.follows, Vertex::Observer)
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
                if system.guard_holds(guard, state, model)? {
                    continue;
                }
                let number = guard.index() as u32;
                if graph.uses_enablers(number)
                    && best.consider(graph.enablers(number), Vertex::Enablers(number))
                {
                    return Ok(best.number(graph));
                }
                let Some(control) = graph.control_of_guard(guard) else { continue };
                if best.consider(graph.writers(system, state, control), Vertex::Writers(control)) {
                    return Ok(best.number(graph));
                }
                let region = regions.get(control, *epoch, graph.row(system, state, control), graph, enabled);
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

    /// Whether an action is enabled and moves the observer.
    #[inline]
    pub(crate) fn moves(&self, action: u32) -> bool {
        self.scratch.moves[action as usize] == self.scratch.epoch
    }

    /// Number of enabled actions.
    pub(crate) fn n_enabled(&self) -> usize {
        self.situation.enabled.len()
    }
}
