//! Liveness: whether every transition can be made enabled again, from every marking.
//!
//! From every marking a strong component can be reached that cannot be left. So it is enough to look
//! at these: in each, every transition must be enabled somewhere. Components are found as R. Tarjan
//! does it [tarjan.72.sicomp], on a graph that is kept whole: by one thread, while the search for deadlocks before it has all.

use automata::scc::{Components, components_by};
use base::{Budget, Limit, Progress};
use check::graph::for_each_transition;
use check::search::stroll;
use check::{Exact, Exploration, Visited as _, search};
use language::{Enabled, PropertyKind, Purpose, View};
use model::{ActionId, ExprId, StepError, Steps, System};

use super::diagrams::Effort;
use super::markings::deadlock;
use super::{Contest, Technique};
use crate::decide::maxima::Why;
use crate::decide::states::{Aim, fault};
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
    pub(super) fn liveness(&mut self, id: &str, transitions: Vec<Enabled>) {
        let n_transitions = transitions.len();
        let mut of_action = vec![0; self.model.system().actions().len()];
        for (number, transition) in transitions.iter().enumerate() {
            transition.actions.iter().for_each(|action| of_action[action.index()] = number);
        }
        // Where nothing can happen, nothing can be made enabled again.
        if n_transitions > 0 && self.stroll_to(&[Aim::Deadlock])[0] {
            return self.truth(id, false, Technique::Walk);
        }
        let can_fire: Vec<ExprId> = transitions.iter().map(|its| its.expr).collect();
        let kind = PropertyKind::AllLive(transitions);
        if self.tell_if_known(id, &kind) {
            return;
        }
        if n_transitions > 0 && self.stays_without_some(&of_action, n_transitions) {
            return self.truth(id, false, Technique::Walk);
        }
        let clock = self.clock.part(0.3);
        let facts = self.facts.as_ref().filter(|_| n_transitions > 0);
        if facts.is_some_and(|facts| facts.comes_home(&mut clock.budget()).unwrap_or(false)) {
            // What can happen once can happen again.
            return self.one_of_all(id, &can_fire, true);
        }
        let mut asked = deadlock(id);
        if n_transitions > 0
            && let Some((true, technique)) = self.finds_deadlock(&mut asked, 0.2)
        {
            return self.truth(id, false, technique);
        }
        if let PropertyKind::AllLive(transitions) = &kind
            && let Some(truth) = self.liveness_by_diagram(transitions, Effort::Share(0.4))
        {
            return self.truth(id, truth, Technique::Diagram);
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

impl Contest<'_> {
    /// Whether there are markings, few enough to look at all of them, that can be reached and not be left, and in none of which some
    /// transition is enabled. They are looked for where walks end.
    fn stays_without_some(&mut self, of_action: &[usize], n_transitions: usize) -> bool {
        let clock = self.clock.part(0.1);
        let mut budget = clock.budget();
        let Ok(view) = self.model.view(Purpose::Runs, &mut budget) else { return false };
        (0..WALKS).any(|seed| {
            let Some(end) = stroll::end(&*view.system, seed, STEPS, &mut budget) else { return false };
            let from = From { system: &*view.system, state: end };
            let mut store = Exact::new(view.system.width(), budget.room());
            let few = clock.at_most(MAX_CLOSED);
            let explored = search::bfs::search(&from, &mut store, &[], &mut few.budget());
            if explored.stop.is_some() {
                return false;
            }
            let mut enabled = vec![false; n_transitions];
            let looked = for_each_transition(&from, &store, |_, action, _| {
                budget.poll(&Progress::default())?;
                enabled[of_action[action.index()]] = true;
                Ok::<(), Why>(())
            });
            looked.is_ok() && enabled.contains(&false)
        })
    }
}

/// So many walks of so many steps look for markings that cannot be left, of which there are so many at most.
const WALKS: u64 = 3;
const STEPS: usize = 10_000;
const MAX_CLOSED: u64 = 20_000;

/// A system that begins in another state.
struct From<'s, S> {
    system: &'s S,
    state: Vec<u32>,
}

impl<S: System> System for From<'_, S> {
    type Scratch = S::Scratch;

    fn new_scratch(&self) -> S::Scratch {
        self.system.new_scratch()
    }

    fn width(&self) -> usize {
        self.system.width()
    }

    fn initial_states(&self, out: &mut Vec<u32>) {
        out.extend_from_slice(&self.state);
    }

    fn successors(&self, state: &[u32], scratch: &mut S::Scratch, out: &mut Steps) -> Result<(), StepError> {
        self.system.successors(state, scratch, out)
    }

    fn enabled(
        &self,
        state: &[u32],
        scratch: &mut S::Scratch,
        out: &mut Vec<ActionId>,
    ) -> Result<(), StepError> {
        self.system.enabled(state, scratch, out)
    }

    fn fire(&self, state: &mut [u32], action: ActionId, scratch: &mut S::Scratch) -> Result<(), StepError> {
        self.system.fire(state, action, scratch)
    }

    fn n_propositions(&self) -> usize {
        0
    }

    fn holds(&self, proposition: usize, state: &[u32], scratch: &mut S::Scratch) -> Result<bool, StepError> {
        self.system.holds(proposition, state, scratch)
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
