//! Algorithm 4.3: the choice of a stubborn set in a state.

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use model::{ActionId, ActionSystem, Fault, Guard, Relations};

use crate::components::{Tarjan, Wanted};
use crate::demand::{Demand, Rule, Situation};
use crate::fair::{Fair, Seen, Why};
use crate::flips::Flips;
use crate::graph::{Graph, List, Vertex};
use crate::memory::{Memory, Sets};
use crate::patience::Patience;
use crate::reason::Reasons;
use crate::rows::{Counts, Rows};

/// Working memory of one thread.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// Per action: enabled, if it is the current epoch.
    pub(crate) enabled: Vec<u32>,
    /// Per action: enabled and moves the observer, if it is the current epoch.
    moves: Vec<u32>,
    /// Per action: enabled but for the observer, if it is the current epoch.
    blocked: Vec<u32>,
    /// Per vertex: in the closure, if it is the current generation.
    reached: Vec<u32>,
    /// Why disabled actions are.
    pub(crate) reasons: Reasons,
    pub(crate) epoch: u32,
    generation: u32,
    work: Vec<u32>,
    roots: Vec<u32>,
    /// For trying smaller sets.
    spare: [Vec<u32>; 3],
    sets: Sets,
    pub(crate) memory: Memory,
    tarjan: Tarjan,
    counts: Counts,
    /// Per watched set of a constraint: whether it counts, if it is the current epoch.
    counts_now: Vec<(u32, bool)>,
    /// How many neighbors were looked at.
    n_looks: u64,
    pub(crate) model: model::Scratch,
    patience: Option<Patience>,
    gave_up: bool,
}

/// The stubborn sets of a system.
#[derive(Clone, Debug)]
pub struct StubbornSets<'s> {
    pub(crate) system: &'s ActionSystem,
    pub(crate) graph: Graph,
    rows: Rows,
    fair: Option<Fair>,
    dropped: Option<Rule>,
}

impl<'s> StubbornSets<'s> {
    /// Prepares the sets of `system`, for observers that watch actions, or none.
    ///
    /// # Errors
    /// The budget's limit.
    pub fn new(
        system: &'s ActionSystem,
        relations: &Relations,
        budget: &mut Budget<'_>,
    ) -> Result<StubbornSets<'s>, Limit> {
        Ok(StubbornSets::of(system, Graph::new(system, relations, |_| &[], budget)?))
    }

    /// Prepares the sets of `system`, for observers that watch propositions.
    ///
    /// # Errors
    /// The budget's limit.
    pub fn for_propositions(
        system: &'s ActionSystem,
        relations: &Relations,
        flips: &Flips,
        budget: &mut Budget<'_>,
    ) -> Result<StubbornSets<'s>, Limit> {
        Ok(StubbornSets::of(system, Graph::new(system, relations, |action| flips.watched(action), budget)?))
    }

    /// Prepares the sets of `system`, for observers that see propositions, or actions, where only runs count that are fair
    /// to these constraints ([`Demand::Fair`]).
    ///
    /// # Errors
    /// The budget's limit.
    pub fn for_fair_runs<'r>(
        system: &'s ActionSystem,
        relations: &Relations,
        seen: impl Into<Seen<'r>>,
        constraints: &[model::fairness::Constraint],
        budget: &mut Budget<'_>,
    ) -> Result<StubbornSets<'s>, Limit> {
        let seen = seen.into();
        let mut graph = Graph::new(system, relations, |action| seen.watched(action), budget)?;
        let fair = Fair::new(system, relations, seen, constraints, &mut graph, budget)?;
        Ok(StubbornSets { fair: Some(fair), ..StubbornSets::of(system, graph) })
    }

    fn of(system: &'s ActionSystem, graph: Graph) -> StubbornSets<'s> {
        let rows = Rows::new(system, &graph, false);
        StubbornSets { system, graph, rows, fair: None, dropped: None }
    }

    /// The actions that may matter to fairness and to what is seen, a bit for each that there is: all others may be left
    /// out for ever.
    pub fn relevant(&self) -> FixedBitSet {
        let all = || {
            let mut all = FixedBitSet::with_capacity(self.system.actions().len());
            all.insert_range(..);
            all
        };
        self.fair.as_ref().map_or_else(all, |fair| fair.relevant.clone())
    }

    /// About how many bytes they take, one working memory included.
    pub fn bytes(&self) -> u64 {
        let (n_actions, n_vertices) = (self.system.actions().len(), self.graph.n_vertices());
        self.graph.bytes()
            + Memory::max_bytes(&self.graph)
            + self.rows.bytes()
            + 24 * n_actions as u64
            + 32 * n_vertices as u64
            + self.fair.as_ref().map_or(0, |fair| fair.bytes() + 8 * fair.n_sets() as u64)
    }

    /// The same without a rule: wrong, for tests.
    #[doc(hidden)]
    pub fn without(
        mut self,
        rule: Rule,
        relations: &Relations,
        budget: &mut Budget<'_>,
    ) -> Result<StubbornSets<'s>, Limit> {
        if rule == Rule::Watched && self.fair.is_none() {
            self.graph = Graph::new(self.system, relations, |_| &[], budget)?;
        }
        self.rows = Rows::new(self.system, &self.graph, rule == Rule::Alone);
        self.dropped = Some(rule);
        Ok(self)
    }

    /// The actions that the static lists bring along with an enabled action, in a state, in order: for tests.
    #[doc(hidden)]
    pub fn needs(&self, state: &[u32], action: ActionId) -> Vec<ActionId> {
        let graph = &self.graph;
        let (mut work, mut found) = (vec![graph.needs(action.index() as u32)], Vec::new());
        while let Some(list) = work.pop() {
            for &item in graph.pool.get(list).iter().filter(|item| **item < crate::graph::GROUP) {
                match graph.vertex(item) {
                    Vertex::Action(action) => found.push(ActionId::new(action as usize)),
                    Vertex::Writers(control) => work.push(graph.writers(self.system, state, control)),
                    Vertex::Users(control) => work.push(graph.users(self.system, state, control)),
                    Vertex::Hub(hub) => work.push(graph.hubs[hub as usize]),
                    Vertex::Beyond(_) | Vertex::Enablers(_) | Vertex::Observer => {}
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether a rule was not left out.
    #[doc(hidden)]
    pub fn has(&self, rule: Rule) -> bool {
        self.dropped != Some(rule)
    }

    /// New working memory, for a search that expands each state once: where sets remove nothing,
    /// they are not looked for in every state, so that the choice depends on the past.
    pub fn new_adaptive_scratch(&self) -> Scratch {
        Scratch { patience: Some(Patience::new()), ..self.new_scratch() }
    }

    /// New working memory.
    pub fn new_scratch(&self) -> Scratch {
        let (n_actions, n_vertices) = (self.system.actions().len(), self.graph.n_vertices());
        Scratch {
            enabled: vec![0; n_actions],
            moves: vec![0; n_actions],
            blocked: vec![0; n_actions],
            reached: vec![0; n_vertices],
            reasons: Reasons::new(&self.graph),
            epoch: 0,
            generation: 0,
            work: Vec::new(),
            roots: Vec::new(),
            spare: Default::default(),
            sets: Sets::default(),
            memory: Memory::new(self.system, &self.graph),
            tarjan: Tarjan::new(n_vertices),
            counts: Counts::new(&self.graph),
            counts_now: vec![(0, false); self.fair.as_ref().map_or(0, Fair::n_sets)],
            n_looks: 0,
            model: model::System::new_scratch(self.system),
            patience: None,
            gave_up: false,
        }
    }

    /// Chooses those of the enabled actions that must be taken, by their indices, in order. Sets
    /// that hold only if the caller accepts them are offered to `accept` first. Apart from that the
    /// result depends on the arguments alone, unless the scratch is adaptive and [gives up](Scratch::gave_up).
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
        scratch.gave_up = false;
        let may_prune = matches!(demand, Demand::Observer { may_wait: false, .. } | Demand::Goal(_));
        let is_fair = matches!(demand, Demand::Fair { .. });
        let may_prune = may_prune || is_fair && !situation.blocked.is_empty();
        let is_plain = n_enabled == 0 || n_enabled == 1 && !may_prune;
        if is_plain {
            chosen.extend(0..n_enabled as u32);
            return Ok(());
        }
        if self.choose_row(situation, demand, scratch, accept, chosen) {
            if let Some(patience) = &mut scratch.patience {
                patience.removed(chosen.len() < n_enabled);
            }
            return Ok(());
        }
        if scratch.patience.as_mut().is_some_and(|patience| !patience.tries()) {
            scratch.gave_up = true;
            chosen.extend(0..n_enabled as u32);
            return Ok(());
        }
        let is_free = !self.has(Rule::Proviso) || !self.has(Rule::Cycle);
        let accept = &mut |set: &[u32]| is_free || accept(set);
        let Scratch { memory, sets, model, .. } = scratch;
        // What leads to a goal is another list in every state.
        let is_kept = !matches!(demand, Demand::Goal(_));
        if is_kept && memory.recall((self.system, &self.graph), situation, demand, model, sets) {
            chosen.extend(sets.pick(accept));
            if let Some(patience) = &mut scratch.patience {
                patience.learn(chosen.len(), n_enabled, 0);
            }
            return Ok(());
        }
        let n_looks = scratch.n_looks;
        scratch.begin(self.system, situation);
        let (mut tarjan, mut sets) = (std::mem::take(&mut scratch.tarjan), std::mem::take(&mut scratch.sets));
        sets.clear();
        let mut query = Query { sets: self, situation, demand, scratch, fault: None };
        query.choose(&mut tarjan, chosen, &mut sets);
        let fault = query.fault;
        chosen.clear();
        chosen.extend(sets.pick(accept));
        if fault.is_none() && is_kept {
            scratch.memory.keep(&sets);
        }
        (scratch.tarjan, scratch.sets) = (tarjan, sets);
        if let Some(patience) = &mut scratch.patience {
            patience.learn(chosen.len(), n_enabled, scratch.n_looks - n_looks);
        }
        fault.map_or(Ok(()), Err)
    }

    /// Looks for a process that can go on alone, where that may be enough.
    fn choose_row(
        &self,
        situation: &Situation<'_>,
        demand: Demand<'_>,
        scratch: &mut Scratch,
        accept: &mut dyn FnMut(&[u32]) -> bool,
        chosen: &mut Vec<u32>,
    ) -> bool {
        let (all_silent, is_conditional) = match demand {
            Demand::Deadlocks | Demand::Safety => (false, false),
            Demand::Observer { may_wait: true, .. } => (true, false),
            Demand::Words | Demand::Observer { hybrid: true, .. } => (true, true),
            Demand::Observer { .. } | Demand::Goal(_) | Demand::Fair { .. } => return false,
        };
        // Other rules that were left out are not made up for.
        let is_whole = matches!(self.dropped, None | Some(Rule::Alone))
            || matches!(demand, Demand::Deadlocks | Demand::Safety);
        if !is_whole {
            return false;
        }
        let Scratch { counts, .. } = scratch;
        self.rows.choose((self.system, &self.graph), situation, all_silent, counts, chosen);
        let is_some = !chosen.is_empty() && chosen.len() < situation.enabled.len();
        if is_some && (!is_conditional || accept(chosen)) {
            return true;
        }
        chosen.clear();
        if is_some && matches!(demand, Demand::Words) {
            // Who expands a state again knows whether a set was accepted there, but not which: there is one.
            chosen.extend(0..situation.enabled.len() as u32);
        }
        !chosen.is_empty()
    }
}

impl Scratch {
    /// Whether it is not worth to ask in the next state: all actions are to be taken there.
    #[inline]
    pub fn rests(&mut self) -> bool {
        self.patience.as_mut().is_some_and(Patience::rests)
    }

    /// The same, where that counts as [given up](Scratch::gave_up).
    pub fn rests_in_state(&mut self) -> bool {
        self.gave_up = self.rests();
        self.gave_up
    }

    /// Told of a state that was left out whether it was found on another way.
    pub fn learn(&mut self, is_known: bool) {
        if let Some(patience) = &mut self.patience {
            patience.learn_of_state(is_known);
        }
    }

    /// Whether everything was chosen in the last state because it would take too long to look for sets.
    pub fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// Whether to look for sets in the next state however long it takes: to find again what was chosen there before.
    pub fn insist(&mut self, insists: bool) {
        if let Some(patience) = &mut self.patience {
            patience.insist(insists);
        }
    }

    fn begin(&mut self, system: &ActionSystem, situation: &Situation<'_>) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            // Every four billion states or so old epochs must be forgotten.
            self.counts_now.fill((0, false));
            for epochs in [&mut self.enabled, &mut self.moves, &mut self.blocked] {
                epochs.fill(0);
            }
            self.reasons.forget();
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
        self.reasons.clear();
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

/// Where a list of neighbors is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Pool,
    Beyond,
    /// All that is enabled.
    Enabled,
    /// What an action needs under fairness.
    Companions,
    /// What the observer follows.
    Observer,
}

/// The neighbors of a vertex that are still to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbors {
    source: Source,
    at: u32,
    end: u32,
    /// The action whose companions come after these, or none.
    then: u32,
    /// One more after these, or none.
    last: u32,
}

const NONE: u32 = u32::MAX;

/// The choice in one state.
///
/// A disabled action leads to its reason alone, so it is never visited: who would go there goes to the
/// reason at once.
pub(crate) struct Query<'a> {
    pub(crate) sets: &'a StubbornSets<'a>,
    pub(crate) situation: &'a Situation<'a>,
    pub(crate) demand: Demand<'a>,
    pub(crate) scratch: &'a mut Scratch,
    pub(crate) fault: Option<Fault>,
}

impl Query<'_> {
    /// All sets that may be taken; `chosen` is working memory.
    fn choose(&mut self, tarjan: &mut Tarjan, chosen: &mut Vec<u32>, out: &mut Sets) {
        let mut roots = std::mem::take(&mut self.scratch.roots);
        let sets = self.sets;
        match self.demand {
            Demand::Deadlocks => self.smallest(tarjan, &roots, Wanted::Enabled, chosen),
            Demand::Safety => {
                self.smallest(tarjan, &roots, Wanted::Silent, chosen);
                if chosen.is_empty() {
                    chosen.extend(0..roots.len() as u32);
                }
            }
            Demand::Goal(actions) => self.close(actions, chosen),
            Demand::Fair { .. } => {
                self.fair(tarjan, &mut roots, chosen);
                let n_enabled = self.n_enabled();
                if chosen.len() < n_enabled {
                    out.push(chosen.iter().copied());
                    chosen.clear();
                    chosen.extend(0..n_enabled as u32);
                }
            }
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
                    self.offer_smaller(tarjan, &roots, chosen, out);
                }
            }
            Demand::Words => {
                let wanted = if sets.has(Rule::Invisible) { Wanted::OnlySilent } else { Wanted::Enabled };
                self.smallest(tarjan, &roots, wanted, chosen);
                if !chosen.is_empty() && chosen.len() < roots.len() {
                    out.push(chosen.iter().copied());
                }
                chosen.clear();
                chosen.extend(0..roots.len() as u32);
            }
        }
        out.push(chosen.iter().copied());
        self.scratch.roots = roots;
    }

    /// The closure of all that the observer follows.
    fn guided(&mut self, chosen: &mut Vec<u32>) {
        self.close(&[self.sets.graph.number(Vertex::Observer)], chosen);
    }

    /// Offers smaller sets than that led by the observer: the smallest of all, and the smallest inside it.
    fn offer_smaller(&mut self, tarjan: &mut Tarjan, roots: &[u32], chosen: &[u32], out: &mut Sets) {
        let [mut inside_roots, mut inside, mut smallest] = std::mem::take(&mut self.scratch.spare);
        inside_roots.clear();
        inside_roots.extend(chosen.iter().map(|&index| roots[index as usize]));
        smallest.clear();
        self.smallest(tarjan, &inside_roots, Wanted::Enabled, &mut inside);
        if inside.len() > 1 {
            self.smallest(tarjan, roots, Wanted::Enabled, &mut smallest);
        }
        if !smallest.is_empty() && smallest.len() < inside.len() && smallest.len() < chosen.len() {
            out.push(smallest.iter().copied());
        }
        if inside.len() < chosen.len() {
            out.push(inside.iter().copied());
        }
        self.scratch.spare = [inside_roots, inside, smallest];
    }

    /// The closure of the smallest component that has what is wanted; nothing if there is none.
    fn smallest(&mut self, tarjan: &mut Tarjan, roots: &[u32], wanted: Wanted, chosen: &mut Vec<u32>) {
        match tarjan.search(self, roots, wanted) {
            None => chosen.clear(),
            Some(start) => self.close(&[start], chosen),
        }
    }

    /// A set that keeps fair runs: the closure of the smallest component with a key, or all. If nothing of it is enabled,
    /// what the observer blocks would have to happen: no fair run is accepted.
    fn fair(&mut self, tarjan: &mut Tarjan, roots: &mut Vec<u32>, chosen: &mut Vec<u32>) {
        let Some(fair) = &self.sets.fair else { return chosen.extend(0..roots.len() as u32) };
        let (graph, system) = (&self.sets.graph, self.sets.system);
        let state = self.situation.state;
        let n_enabled = roots.len();
        roots.extend(self.situation.blocked.iter().map(|action| system.first(*action).index() as u32));
        roots.sort_by_cached_key(|&action| fair.is_at_home(system, graph, state, action));
        match tarjan.search(self, roots, Wanted::Key) {
            None => {
                chosen.clear();
                chosen.extend(0..n_enabled as u32);
            }
            Some(start) => self.close(&[start], chosen),
        }
        if chosen.is_empty() && matches!(self.demand, Demand::Fair { ends: true, .. }) {
            chosen.extend(0..n_enabled as u32);
        }
    }

    /// Whether an action lets a set be taken that a run has no action of. Either it would be enabled for ever, and its
    /// constraint never taken: there is no such run. Or it does no harm to go before everything else.
    pub(crate) fn is_key(&self, vertex: u32) -> bool {
        let at = vertex as usize;
        let is_enabled = self.is_enabled(vertex);
        if !self.sets.has(Rule::Key) {
            return is_enabled;
        }
        let may_happen = is_enabled || vertex < self.sets.graph.n_actions && self.is_blocked(vertex);
        let of = |fair: &Fair| {
            fair.forced.contains(at) || is_enabled && !self.moves(vertex) && fair.harmless.contains(at)
        };
        may_happen && self.sets.fair.as_ref().is_some_and(of)
    }

    /// The enabled actions, by their indices, in all that can be reached from these vertices.
    fn close(&mut self, from: &[u32], chosen: &mut Vec<u32>) {
        self.scratch.next_generation();
        let generation = self.scratch.generation;
        let mut work = std::mem::take(&mut self.scratch.work);
        // What leads to what is not made yet is in every set.
        for &vertex in from.iter().chain(&self.sets.graph.open) {
            if let Some(vertex) = self.resolved(vertex)
                && self.scratch.reached[vertex as usize] != generation
            {
                self.scratch.reached[vertex as usize] = generation;
                work.push(vertex);
            }
        }
        while let Some(vertex) = work.pop() {
            let mut neighbors = self.neighbors(vertex);
            while let Some(next) = self.next_neighbor(&mut neighbors) {
                if self.scratch.reached[next as usize] != generation {
                    self.scratch.reached[next as usize] = generation;
                    work.push(next);
                }
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

    /// The neighbors of a vertex that [`resolved`](Query::resolved) gives.
    #[inline]
    pub(crate) fn neighbors(&self, vertex: u32) -> Neighbors {
        let (graph, system) = (&self.sets.graph, self.sets.system);
        let state = self.situation.state;
        let some = |source, (at, end)| Neighbors { source, at, end, then: NONE, last: NONE };
        let pool = |list: List| some(Source::Pool, (list.start, list.end));
        match graph.vertex(vertex) {
            Vertex::Action(action) => {
                let observer = graph.number(Vertex::Observer);
                let last = if self.needs_observer(action) { observer } else { NONE };
                let then = if matches!(self.demand, Demand::Fair { .. }) { action } else { NONE };
                Neighbors { then, last, ..pool(graph.needs(action)) }
            }
            Vertex::Writers(control) => pool(graph.writers(system, state, control)),
            Vertex::Users(control) => pool(graph.users(system, state, control)),
            Vertex::Beyond(control) => some(Source::Beyond, self.scratch.reasons.beyond(control)),
            Vertex::Enablers(guard) if system.guards()[guard as usize] == Guard::Quiet => {
                some(Source::Enabled, (0, self.situation.enabled.len() as u32))
            }
            Vertex::Enablers(guard) => pool(graph.enablers(system, state, guard)),
            Vertex::Hub(hub) => pool(graph.hubs[hub as usize]),
            Vertex::Observer => match self.demand {
                Demand::Observer { offer, .. } | Demand::Fair { offer, .. } => {
                    some(Source::Observer, (0, offer.follows.len() as u32))
                }
                Demand::Deadlocks | Demand::Safety | Demand::Goal(_) | Demand::Words => pool(List::default()),
            },
        }
    }

    /// The next neighbor.
    #[inline]
    pub(crate) fn next_neighbor(&mut self, neighbors: &mut Neighbors) -> Option<u32> {
        self.scratch.n_looks += 1;
        loop {
            if neighbors.at == neighbors.end {
                let then = std::mem::replace(&mut neighbors.then, NONE);
                if let (Some(fair), true) = (&self.sets.fair, then != NONE) {
                    neighbors.source = Source::Companions;
                    (neighbors.at, neighbors.end) = fair.companions_of(then);
                    continue;
                }
                let last = std::mem::replace(&mut neighbors.last, NONE);
                return (last != NONE).then_some(last);
            }
            let at = neighbors.at;
            neighbors.at += 1;
            let next = match neighbors.source {
                Source::Pool => {
                    if let Some((guard, n_actions)) = self.sets.graph.pool.group(at) {
                        neighbors.at += 1;
                        if let Some(reason) = self.reason_without_enabled(guard) {
                            neighbors.at += n_actions;
                            return Some(reason);
                        }
                        continue;
                    }
                    self.sets.graph.pool.item(at)
                }
                Source::Beyond => self.scratch.reasons.beyond_item(at),
                Source::Enabled => self.sets.system.first(self.situation.enabled[at as usize]).index() as u32,
                Source::Companions => match self.companion(at) {
                    Some(vertex) => vertex,
                    None => continue,
                },
                Source::Observer => match self.demand {
                    Demand::Observer { offer, .. } | Demand::Fair { offer, .. } => offer.follows[at as usize],
                    Demand::Deadlocks | Demand::Safety | Demand::Goal(_) | Demand::Words => continue,
                },
            };
            if let Some(next) = self.resolved(next) {
                return Some(next);
            }
        }
    }

    /// What an action needs under fairness, if it does in this state.
    fn companion(&mut self, at: u32) -> Option<u32> {
        let companion = self.sets.fair.as_ref()?.companion(at);
        let is_needed = match companion.why {
            Why::Shut => self.sets.has(Rule::Shut),
            Why::Flip(set) => self.counts(set),
        };
        is_needed.then_some(companion.vertex)
    }

    /// Whether a watched set of a constraint counts in this state.
    fn counts(&mut self, set: u32) -> bool {
        let epoch = self.scratch.epoch;
        if !matches!(self.demand, Demand::Fair { passing: false, .. }) || !self.sets.has(Rule::Flip) {
            return false;
        }
        if let (known, counts) = self.scratch.counts_now[set as usize]
            && known == epoch
        {
            return counts;
        }
        let StubbornSets { fair, system, graph, .. } = self.sets;
        let found = fair.as_ref().and_then(|fair| fair.set_in(system, graph, self.situation.state, set));
        let counts =
            found.is_some_and(|set| set.conditions.iter().all(|&(guard, value)| self.holds(guard) == value));
        self.scratch.counts_now[set as usize] = (epoch, counts);
        counts
    }

    /// A vertex itself; for an action that is disabled, what it needs.
    #[inline]
    fn resolved(&mut self, vertex: u32) -> Option<u32> {
        let is_disabled = vertex < self.sets.graph.n_actions
            && !self.is_enabled(vertex)
            && !self.is_blocked_for_now(vertex);
        if is_disabled { self.reason(vertex) } else { Some(vertex) }
    }

    /// Whether the observer alone blocks an action, but might not after others that leave it where
    /// it is. Then those must come along as if the action were enabled.
    #[inline]
    fn is_blocked_for_now(&self, action: u32) -> bool {
        let at = action as usize;
        let may_happen = match self.demand {
            Demand::Observer { offer, .. } => {
                !offer.refuses.contains(at) && self.sets.has(Rule::RefusedForGood)
            }
            Demand::Fair { .. } => true,
            Demand::Deadlocks | Demand::Safety | Demand::Goal(_) | Demand::Words => false,
        };
        self.is_blocked(action) && may_happen
    }

    /// Whether the observer alone blocks an action.
    #[inline]
    pub(crate) fn is_blocked(&self, action: u32) -> bool {
        self.scratch.blocked[action as usize] == self.scratch.epoch
    }

    /// Whether an enabled or blocked action moves the observer, or waits for it.
    #[inline]
    fn needs_observer(&self, action: u32) -> bool {
        let rule = match self.demand {
            Demand::Observer { .. } => Rule::OneMovesAllMove,
            Demand::Fair { .. } => Rule::Order,
            Demand::Deadlocks | Demand::Safety | Demand::Goal(_) | Demand::Words => return false,
        };
        (self.moves(action) || !self.is_enabled(action)) && self.sets.has(rule)
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
