//! Algorithm 4.3: the choice of a stubborn set in a state.

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use model::{ActionId, ActionSystem, Fault, Relations};

use crate::components::Tarjan;
use crate::demand::{Demand, Rule, Situation};
use crate::fair::{Fair, Seen};
use crate::flips::Flips;
use crate::graph::{Graph, Vertex};
use crate::grow::Growth;
use crate::memory::{Memory, Sets};
use crate::patience::{Effort, Patience};
use crate::query::Query;
use crate::reason::Reasons;
use crate::rows::{Counts, Rows};

/// Working memory of one thread.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// Per action: enabled, if it is the current epoch.
    pub(crate) enabled: Vec<u32>,
    /// Per action: enabled and moves the observer, if it is the current epoch.
    pub(crate) moves: Vec<u32>,
    /// Per action: enabled but for the observer, if it is the current epoch.
    pub(crate) blocked: Vec<u32>,
    /// Per vertex: in the closure, if it is the current generation.
    pub(crate) reached: Vec<u32>,
    /// Why disabled actions are.
    pub(crate) reasons: Reasons,
    pub(crate) epoch: u32,
    pub(crate) generation: u32,
    pub(crate) work: Vec<u32>,
    pub(crate) roots: Vec<u32>,
    /// For trying smaller sets.
    pub(crate) spare: [Vec<u32>; 3],
    pub(crate) growth: Growth,
    sets: Sets,
    pub(crate) memory: Memory,
    tarjan: Tarjan,
    counts: Counts,
    /// Per watched set of a constraint: whether it counts, if it is the current epoch.
    pub(crate) counts_now: Vec<(u32, bool)>,
    /// How many neighbors were looked at.
    pub(crate) n_looks: u64,
    pub(crate) model: model::Scratch,
    patience: Option<Patience>,
    gave_up: bool,
    pub(crate) effort: Effort,
}

/// The stubborn sets of a system.
#[derive(Clone, Debug)]
pub struct StubbornSets<'s> {
    pub(crate) system: &'s ActionSystem,
    pub(crate) graph: Graph,
    rows: Rows,
    pub(crate) fair: Option<Fair>,
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
            growth: Growth::default(),
            sets: Sets::default(),
            memory: Memory::new(self.system, &self.graph),
            tarjan: Tarjan::new(n_vertices),
            counts: Counts::new(&self.graph),
            counts_now: vec![(0, false); self.fair.as_ref().map_or(0, Fair::n_sets)],
            n_looks: 0,
            model: model::System::new_scratch(self.system),
            patience: None,
            gave_up: false,
            effort: Effort::Grown,
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
        (scratch.gave_up, scratch.effort) = (false, Effort::Grown);
        let may_prune = match demand {
            Demand::Observer { may_wait, .. } => !may_wait,
            Demand::Fair { may_wait, ends, .. } => !ends && (!may_wait || !situation.blocked.is_empty()),
            Demand::Goal(_) => true,
            Demand::Deadlocks | Demand::Safety | Demand::Words => false,
        };
        let is_fair = matches!(demand, Demand::Fair { .. });
        let is_plain = n_enabled == 0 || n_enabled == 1 && !may_prune;
        if is_plain {
            chosen.extend(0..n_enabled as u32);
            return Ok(());
        }
        if self.choose_row(situation, demand, scratch, accept, chosen) {
            if let Some(patience) = &mut scratch.patience {
                patience.removed(n_enabled - chosen.len());
            }
            return Ok(());
        }
        if scratch.patience.as_mut().is_some_and(|patience| !patience.tries()) {
            scratch.gave_up = true;
            chosen.extend(0..n_enabled as u32);
            return Ok(());
        }
        if let (true, Some(patience)) = (is_fair, &scratch.patience) {
            scratch.effort = patience.effort();
        }
        let is_free = !self.has(Rule::Proviso) || !self.has(Rule::Cycle);
        let accept = &mut |set: &[u32]| is_free || accept(set);
        let Scratch { memory, sets, model, effort, .. } = scratch;
        // What leads to a goal is another list in every state.
        let is_kept = !matches!(demand, Demand::Goal(_));
        if is_kept && memory.recall((self.system, &self.graph), situation, (demand, *effort), model, sets) {
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

    /// The same where it may be found later, on a way that was not gone yet.
    pub fn learn_so_far(&mut self, is_known: bool) {
        if let Some(patience) = &mut self.patience {
            patience.learn_of_state_so_far(is_known);
        }
    }

    /// Whether everything was chosen in the last state because it would take too long to look for sets.
    pub fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// How a set was looked for in the last state.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// Whether to look for sets in the next state however long it takes, and how: to find again what was chosen there before.
    pub fn insist(&mut self, insists: Option<Effort>) {
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
    pub(crate) fn next_generation(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.reached.fill(0);
            self.generation = 1;
        }
    }
}
