//! Liveness: whether every transition can be made enabled again, from every marking.
//!
//! From every marking a strong component can be reached that cannot be left. So it is enough to look
//! at these: in each, every transition must be enabled somewhere. Components are found as R. Tarjan
//! does it (Depth-first search and linear graph algorithms, SIAM J. Comput. 1, 1972), on a graph that
//! is kept whole.

use base::{Budget, Progress};
use check::graph::for_each_transition;
use check::{Exact, Visited as _};
use model::ActionSystem;

use super::{Contest, EXPLICIT};
use crate::markings::Trouble;

impl Contest<'_> {
    /// Whether every transition is live.
    pub(super) fn liveness(&mut self, id: &str) {
        // Where nothing can happen, nothing can be made enabled again.
        if !self.model.net().transitions.is_empty()
            && let Some((true, techniques)) = self.finds_deadlock(0.2)
        {
            return self.answer_truth(id, false, techniques);
        }
        let (explored, store) = self.explore(&[], 1.0);
        let stats = &explored.stats;
        // Edges, three numbers per state, and for each component what is enabled in it.
        let bytes = 4 * (stats.transitions + 6 * stats.states) + store.bytes();
        let fits = bytes < self.limits.max_bytes() && stats.transitions < u64::from(u32::MAX);
        let n_actions = self.model.system.actions().len();
        let truth = match explored.stop {
            None if n_actions == 0 => Some(true),
            None if stats.deadlocks > 0 => Some(false),
            None if fits => {
                let mut budget = self.clock.budget(&self.limits);
                is_live(&self.model.system, &store, n_actions, &mut budget).ok()
            }
            _ => None,
        };
        match truth {
            Some(truth) => self.answer_truth(id, truth, EXPLICIT),
            None => self.cannot_compute(id),
        }
    }
}

fn is_live(
    system: &ActionSystem,
    store: &Exact,
    n_actions: usize,
    budget: &mut Budget<'_>,
) -> Result<bool, Trouble> {
    let progress = Progress { states: store.n_states(), bytes: store.bytes(), ..Progress::default() };
    let graph = Graph::new(system, store, || Ok(budget.poll(&progress)?))?;
    let component = graph.components();
    let n_components = component.iter().map(|&component| component as usize + 1).max().unwrap_or(0);
    let mut is_final = vec![true; n_components];
    for state in 0..component.len() {
        for &target in graph.targets(state) {
            is_final[component[state] as usize] &= component[target as usize] == component[state];
        }
    }
    let mut n_final = 0;
    let mut numbers: Vec<Option<usize>> = vec![None; n_components];
    for (number, _) in numbers.iter_mut().zip(&is_final).filter(|(_, is_final)| **is_final) {
        *number = Some(n_final);
        n_final += 1;
    }
    // Each has all transitions, which then are that many edges.
    if n_final.saturating_mul(n_actions) > graph.targets.len() {
        return Ok(false);
    }
    let mut enabled = vec![false; n_final * n_actions];
    for_each_transition(system, store, |source, action, _| {
        budget.poll(&progress)?;
        if let Some(number) = numbers[component[source.index()] as usize] {
            enabled[number * n_actions + action.index()] = true;
        }
        Ok::<(), Trouble>(())
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
    fn new(
        system: &ActionSystem,
        store: &Exact,
        mut poll: impl FnMut() -> Result<(), Trouble>,
    ) -> Result<Graph, Trouble> {
        let n_states = store.n_states() as usize;
        let mut graph = Graph { starts: Vec::with_capacity(n_states + 1), targets: Vec::new() };
        for_each_transition(system, store, |source, _, target| {
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
    fn components(&self) -> Vec<u32> {
        const UNSEEN: u32 = u32::MAX;
        let n_states = self.starts.len() - 1;
        // Per state, when it was met; then its component, as a state that was met.
        let (mut low, mut component) = (vec![UNSEEN; n_states], vec![UNSEEN; n_states]);
        let (mut path, mut stack): (Vec<(u32, u32, u32)>, Vec<u32>) = (Vec::new(), Vec::new());
        let (mut n_met, mut n_components) = (0, 0);
        for root in 0..n_states {
            if low[root] != UNSEEN {
                continue;
            }
            path.push((root as u32, n_met, self.starts[root]));
            while let Some((state, met, next)) = path.last_mut() {
                let here = *state as usize;
                if low[here] == UNSEEN {
                    low[here] = *met;
                    n_met += 1;
                    stack.push(*state);
                }
                if *next < self.starts[here + 1] {
                    let target = self.targets[*next as usize] as usize;
                    if low[target] == UNSEEN {
                        // It is looked at again when its component may be known.
                        path.push((target as u32, n_met, self.starts[target]));
                    } else {
                        *next += 1;
                        if component[target] == UNSEEN {
                            low[here] = low[here].min(low[target]);
                        }
                    }
                    continue;
                }
                if low[here] == *met {
                    while let Some(member) = stack.pop() {
                        component[member as usize] = n_components;
                        if member as usize == here {
                            break;
                        }
                    }
                    n_components += 1;
                }
                path.pop();
            }
        }
        component
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_those_of_mutual_reachability() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..500 {
            let n = random.usize(1..9);
            let edges: Vec<Vec<u32>> =
                (0..n).map(|_| (0..random.usize(0..3)).map(|_| random.u32(..n as u32)).collect()).collect();
            let mut graph = Graph { starts: vec![0], targets: Vec::new() };
            for targets in &edges {
                graph.targets.extend(targets);
                graph.starts.push(graph.targets.len() as u32);
            }
            let mut reach = vec![vec![false; n]; n];
            for (from, reached) in reach.iter_mut().enumerate() {
                let mut open = vec![from];
                while let Some(state) = open.pop() {
                    if !std::mem::replace(&mut reached[state], true) {
                        open.extend(edges[state].iter().map(|&target| target as usize));
                    }
                }
            }
            let found = graph.components();
            for a in 0..n {
                for b in 0..n {
                    assert_eq!(found[a] == found[b], reach[a][b] && reach[b][a], "{edges:?}");
                }
            }
        }
    }
}
