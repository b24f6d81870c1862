//! Liveness: whether every transition can be made enabled again, from every marking.
//!
//! From every marking a strong component can be reached that cannot be left. So it is enough to look
//! at these: in each, every transition must be enabled somewhere. Components are found as R. Tarjan
//! does it [tarjan.72.sicomp], on a graph that is kept whole: by one thread, while the search for deadlocks before it has all.

use automata::scc::{Components, components_by};
use base::{Budget, Limit, Progress};
use check::graph::for_each_transition;
use check::{Exact, Exploration, Visited as _, search};
use language::{Enabled, Purpose, View};
use model::System as _;

use super::markings::deadlock;
use super::{Contest, Technique};
use crate::decide::maxima::Why;
use crate::decide::states::fault;
use crate::session::{Attempt, refining};

/// All states of a net, numbered.
struct Space {
    view: View,
    exploration: Exploration,
    store: Exact,
}

impl Space {
    /// How far a look at all states has come.
    fn progress(&self) -> Progress {
        Progress { states: self.store.n_states(), bytes: self.store.bytes(), ..Progress::default() }
    }
}

impl Contest<'_> {
    /// Explores everything, and keeps it.
    fn explore(&mut self) -> Option<Space> {
        let clock = self.clock.clone();
        let explored = refining(self.model, &clock, |model| {
            let mut budget = clock.budget();
            let view = model.view(Purpose::Runs, &mut budget)?;
            let mut store = Exact::new(view.system.width(), budget.room());
            let exploration = search::bfs::search(&*view.system, &mut store, &[], &mut budget);
            Ok(match fault(&exploration).filter(|error| model.can_refine(error)) {
                Some(error) => Attempt::TooSmall(error),
                None => Attempt::Done(Space { view, exploration, store }),
            })
        });
        explored.ok()
    }

    /// Whether every transition is live, under whatever binding.
    pub(super) fn liveness(&mut self, id: &str, transitions: &[Enabled]) {
        let n_transitions = transitions.len();
        let mut of_action = vec![0; self.model.system().actions().len()];
        for (number, transition) in transitions.iter().enumerate() {
            transition.actions.iter().for_each(|action| of_action[action.index()] = number);
        }
        // Where nothing can happen, nothing can be made enabled again.
        let mut asked = deadlock(id);
        if n_transitions > 0 && self.finds_deadlock(&mut asked, 0.2) == Some(true) {
            return self.truth(id, false, Technique::Simplified);
        }
        let truth = self.explore().and_then(|space| {
            let stats = &space.exploration.stats;
            // Edges, six numbers per state, and for each component what is enabled in it.
            let bytes = 4 * (stats.transitions + 12 * stats.states) + space.store.bytes();
            let fits = bytes < self.clock.max_bytes() && stats.transitions < u64::from(u32::MAX);
            match space.exploration.stop {
                None if n_transitions == 0 => Some(true),
                None if stats.deadlocks > 0 => Some(false),
                None if fits => is_live(&space, &of_action, n_transitions, &mut self.clock.budget()).ok(),
                _ => None,
            }
        });
        match truth {
            Some(truth) => self.truth(id, truth, Technique::Explicit),
            None => self.cannot_compute(id),
        }
    }
}

/// `of_action` has the transition of each action.
fn is_live(
    space: &Space,
    of_action: &[usize],
    n_transitions: usize,
    budget: &mut Budget<'_>,
) -> Result<bool, Why> {
    let progress = space.progress();
    let graph = Graph::new(space, || Ok(budget.poll(&progress)?))?;
    let Components { of: component, n: n_components } = graph.components(budget)?;
    let mut is_final = vec![true; n_components];
    for state in 0..component.len() {
        for &target in graph.targets(state) {
            is_final[component[state]] &= component[target as usize] == component[state];
        }
    }
    let mut n_final = 0;
    let mut numbers: Vec<Option<usize>> = vec![None; n_components];
    for (number, _) in numbers.iter_mut().zip(&is_final).filter(|(_, is_final)| **is_final) {
        *number = Some(n_final);
        n_final += 1;
    }
    // Each has all transitions, which then are that many edges.
    if n_final.saturating_mul(n_transitions) > graph.targets.len() {
        return Ok(false);
    }
    let mut enabled = vec![false; n_final * n_transitions];
    for_each_transition(&*space.view.system, &space.store, |source, action, _| {
        budget.poll(&progress)?;
        if let Some(number) = numbers[component[source.index()]] {
            enabled[number * n_transitions + of_action[action.index()]] = true;
        }
        Ok::<(), Why>(())
    })?;
    Ok(enabled.iter().all(|&enabled| enabled))
}

/// The edges of a state space: those of state *i* lead to `targets[starts[i]..starts[i + 1]]`.
struct Graph {
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Graph {
    /// `poll` is called for every edge.
    fn new(space: &Space, mut poll: impl FnMut() -> Result<(), Why>) -> Result<Graph, Why> {
        let n_states = space.store.n_states() as usize;
        let mut graph = Graph { starts: Vec::with_capacity(n_states + 1), targets: Vec::new() };
        for_each_transition(&*space.view.system, &space.store, |source, _, target| {
            graph.starts.resize(source.index() + 1, graph.targets.len() as u32);
            graph.targets.push(target.index() as u32);
            poll()
        })?;
        graph.starts.resize(n_states + 1, graph.targets.len() as u32);
        Ok(graph)
    }

    fn targets(&self, state: usize) -> &[u32] {
        &self.targets[self.starts[state] as usize..self.starts[state + 1] as usize]
    }

    /// The strong component of each state.
    fn components(&self, budget: &mut Budget<'_>) -> Result<Components, Limit> {
        let target =
            |state: usize, number: usize| self.targets(state).get(number).map(|&to| Some(to as usize));
        components_by(self.starts.len() - 1, target, budget)
    }
}
