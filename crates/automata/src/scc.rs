//! Strongly connected components of graphs and automata [tarjan.72.sicomp], without recursion.

use base::{Budget, Limit};

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
/// # use automata::scc::components;
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

/// The components of an automaton, with what they mean for acceptance.
#[derive(Clone, Debug)]
pub(crate) struct Sccs {
    components: Components,
    info: Vec<Info>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Info {
    marks: Marks,
    has_edge: bool,
}

impl Sccs {
    pub(crate) fn of(tgba: &Tgba, budget: &mut Budget<'_>) -> Result<Sccs, Limit> {
        let components = components(tgba.all_edges(), |_, edge| Some(edge.target.index()), budget)?;
        let mut info = vec![Info::default(); components.n];
        for state in tgba.states() {
            let component = components.of[state.index()];
            for edge in tgba.edges(state) {
                budget.tick()?;
                if components.of[edge.target.index()] == component {
                    info[component].marks = info[component].marks.union(edge.marks);
                    info[component].has_edge = true;
                }
            }
        }
        Ok(Sccs { components, info })
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
        !self.info[component].has_edge
    }

    /// Whether a run that stays in the component and takes all its edges is accepting.
    pub(crate) fn is_accepting(&self, component: usize, tgba: &Tgba) -> bool {
        let info = self.info[component];
        info.has_edge && info.marks == tgba.all_marks()
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
