//! Strongly connected components of graphs and automata [tarjan.72.sicomp], without recursion.

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;

use crate::tgba::{Edge, Marks, State, Tgba};
use crate::work::holding;

/// The component of each node. Components are numbered such that edges lead to the same or a smaller
/// number.
#[derive(Clone, Debug)]
pub struct Components {
    /// Per node, the number of its component.
    pub of: Vec<usize>,
    /// Number of components.
    pub n: usize,
}

const UNSEEN: usize = usize::MAX;

/// The components of the graph in which these edges leave node *i*; the target of an edge is a node, or
/// nothing if the edge does not count.
///
/// ```
/// # use stubborn_automata::scc::components;
/// let edges = [vec![1], vec![2, 0], vec![3], vec![2], vec![4]];
/// let found = components(&edges, |_, &target| Some(target), &mut base::Budget::unlimited()).unwrap();
/// assert_eq!((found.of, found.n), (vec![1, 1, 0, 0, 2], 3));
/// ```
///
/// # Errors
/// The budget is spent.
pub fn components<E>(
    edges: &[Vec<E>],
    target: impl Fn(usize, &E) -> Option<usize>,
    budget: &mut Budget<'_>,
) -> Result<Components, Limit> {
    let next = |node: usize, number: usize| Some(target(node, edges[node].get(number)?));
    components_by(edges.len(), next, budget)
}

/// The same for nodes `0..n`, where `target` gives the targets of the edges that leave a node by the edges' numbers.
///
/// # Errors
/// The budget is spent.
pub fn components_by(
    n: usize,
    target: impl Fn(usize, usize) -> Option<Option<usize>>,
    budget: &mut Budget<'_>,
) -> Result<Components, Limit> {
    holding(budget, |budget| {
        budget.hold((n * (2 * size_of::<usize>() + size_of::<(usize, usize, usize)>())) as u64)?;
        let mut search = Search {
            target,
            low: vec![UNSEEN; n],
            found: Components { of: vec![UNSEEN; n], n: 0 },
            open: vec![],
            path: vec![],
            n_seen: 0,
        };
        (0..n).try_for_each(|root| search.run(root, budget))?;
        Ok(search.found)
    })
}

struct Search<F> {
    target: F,
    /// When a node was first seen, and later the smallest such number known to be in its component.
    low: Vec<usize>,
    found: Components,
    /// Nodes seen whose component is not finished.
    open: Vec<usize>,
    /// The nodes being explored, each with the number it got and how many edges were taken.
    path: Vec<(usize, usize, usize)>,
    n_seen: usize,
}

impl<F: Fn(usize, usize) -> Option<Option<usize>>> Search<F> {
    fn run(&mut self, root: usize, budget: &mut Budget<'_>) -> Result<(), Limit> {
        self.push(root);
        while let Some((node, number, taken)) = self.path.last_mut() {
            budget.tick()?;
            let (node, number) = (*node, *number);
            match (self.target)(node, *taken) {
                Some(next) => {
                    *taken += 1;
                    let Some(next) = next else { continue };
                    if self.low[next] == UNSEEN {
                        self.push(next);
                    } else if self.found.of[next] == UNSEEN {
                        self.low[node] = self.low[node].min(self.low[next]);
                    }
                }
                None => self.pop(node, number),
            }
        }
        Ok(())
    }

    fn push(&mut self, node: usize) {
        if self.low[node] == UNSEEN {
            self.low[node] = self.n_seen;
            self.path.push((node, self.n_seen, 0));
            self.open.push(node);
            self.n_seen += 1;
        }
    }

    fn pop(&mut self, node: usize, number: usize) {
        self.path.pop();
        if let Some(&(parent, ..)) = self.path.last() {
            self.low[parent] = self.low[parent].min(self.low[node]);
        }
        if self.low[node] == number {
            while let Some(member) = self.open.pop() {
                self.found.of[member] = self.found.n;
                if member == node {
                    break;
                }
            }
            self.found.n += 1;
        }
    }
}

impl Components {
    /// For each component all marks of the steps inside it; nothing where there is no step. `step` says where
    /// a step leads and which marks it has, or that it does not count.
    pub(crate) fn marks<E>(
        &self,
        steps: &[Vec<E>],
        step: impl Fn(usize, &E) -> Option<(usize, Marks)>,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<Option<Marks>>, Limit> {
        let mut found: Vec<Option<Marks>> = vec![None; self.n];
        for (node, steps) in steps.iter().enumerate() {
            budget.tick()?;
            let found = &mut found[self.of[node]];
            let steps = steps.iter().filter_map(|own| step(node, own));
            for (_, marks) in steps.filter(|&(target, _)| self.of[target] == self.of[node]) {
                *found = Some(found.unwrap_or_default().union(marks));
            }
        }
        Ok(found)
    }
}

/// The nodes from which steps lead to one of these nodes, and these themselves. `target` says where a step
/// leads, or that it does not count.
pub(crate) fn can_reach<E>(
    steps: &[Vec<E>],
    target: impl Fn(&E) -> Option<usize>,
    goal: FixedBitSet,
    budget: &mut Budget<'_>,
) -> Result<FixedBitSet, Limit> {
    holding(budget, |budget| {
        let mut sources = vec![vec![]; steps.len()];
        for (source, steps) in steps.iter().enumerate() {
            budget.tick()?;
            budget.hold((size_of_val(&steps[..]) + size_of::<Vec<usize>>()) as u64)?;
            steps.iter().filter_map(&target).for_each(|target| sources[target].push(source));
        }
        let mut stack: Vec<usize> = goal.ones().collect();
        let mut reached = goal;
        reached.grow(steps.len());
        while let Some(node) = stack.pop() {
            for &source in &sources[node] {
                budget.tick()?;
                if !reached.put(source) {
                    stack.push(source);
                }
            }
        }
        Ok(reached)
    })
}

/// The components of an automaton, with what they mean for acceptance.
#[derive(Clone, Debug)]
pub(crate) struct Sccs {
    components: Components,
    /// For each component the marks of its edges; nothing where it has none.
    marks: Vec<Option<Marks>>,
}

impl Sccs {
    pub(crate) fn of(tgba: &Tgba, budget: &mut Budget<'_>) -> Result<Sccs, Limit> {
        let components = components(tgba.all_edges(), |_, edge| Some(edge.target.index()), budget)?;
        let step = |_, edge: &Edge| Some((edge.target.index(), edge.marks));
        let marks = components.marks(tgba.all_edges(), step, budget)?;
        Ok(Sccs { components, marks })
    }

    /// The states of each component.
    pub(crate) fn members(&self) -> Vec<Vec<State>> {
        let mut members = vec![vec![]; self.components.n];
        for (state, &component) in self.components.of.iter().enumerate() {
            members[component].push(State::new(state));
        }
        members
    }

    /// Number of components.
    pub(crate) fn n(&self) -> usize {
        self.components.n
    }

    /// The component of a state; edges lead to the same or a smaller one.
    pub(crate) fn component(&self, state: State) -> usize {
        self.components.of[state.index()]
    }

    /// Whether the edge, which leaves `source`, stays in its component.
    pub(crate) fn is_inner(&self, source: State, edge: &Edge) -> bool {
        self.component(source) == self.component(edge.target)
    }

    /// Whether the component has no cycle.
    pub(crate) fn is_trivial(&self, component: usize) -> bool {
        self.marks[component].is_none()
    }

    /// Whether a run that stays in the component and takes all its edges is accepting.
    pub(crate) fn is_accepting(&self, component: usize, tgba: &Tgba) -> bool {
        self.marks[component] == Some(tgba.all_marks())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_does_not_overflow_the_stack() {
        let path: Vec<Vec<usize>> = (0..200_000).map(|node| vec![(node + 1) % 200_000]).collect();
        let found = components(&path, |_, &next| Some(next), &mut Budget::unlimited()).unwrap();
        assert_eq!(found.n, 1);
    }
}
