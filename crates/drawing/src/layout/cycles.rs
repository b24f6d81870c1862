//! Which edges are turned round, so that no cycles are left: those that lead backwards in a linear order
//! of the nodes. Roots come first, before them those that nothing leads to.
//!
//! One order is that of a depth-first search, where only edges back to an ancestor lead backwards; the
//! other is greedy, after Eades, Lin and Smyth, *A fast and effective heuristic for the feedback arc set
//! problem* (1993).

use super::Graph;

/// How to choose the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Roots first, then as a depth-first search from them finishes, the last first.
    Search,
    /// Roots first, then as few edges backwards as possible.
    GreedyAfterRoots,
    /// As few edges backwards as possible.
    Greedy,
}

impl Cut {
    pub(super) const ALL: [Cut; 3] = [Cut::Search, Cut::GreedyAfterRoots, Cut::Greedy];
}

/// The position of each node.
pub(super) fn linear_order(graph: &Graph, cut: Cut) -> Vec<usize> {
    let n_nodes = graph.nodes.len();
    let is_root = |node: usize| graph.roots.get(node).copied().unwrap_or(false);
    let (mut later, mut earlier) = (vec![Vec::new(); n_nodes], vec![Vec::new(); n_nodes]);
    for link in &graph.links {
        // Edges into roots lead backwards whatever the rest is.
        if cut == Cut::Greedy || !is_root(link.to) {
            later[link.from].push(link.to);
            earlier[link.to].push(link.from);
        }
    }
    let mut order = match cut {
        Cut::Search => search(&later, &is_root),
        Cut::GreedyAfterRoots | Cut::Greedy => greedy(&later, &earlier),
    };
    if cut != Cut::Greedy {
        // Stable: otherwise as they were.
        let has_incoming = |node: usize| graph.links.iter().any(|link| link.to == node);
        order.sort_by_cached_key(|&node| (!is_root(node), is_root(node) && has_incoming(node)));
    }
    let mut position = vec![0; n_nodes];
    order.iter().enumerate().for_each(|(at, &node)| position[node] = at);
    position
}

/// The nodes in reverse order of being finished by a depth-first search, from the roots first.
fn search(later: &[Vec<usize>], is_root: &impl Fn(usize) -> bool) -> Vec<usize> {
    let n_nodes = later.len();
    let mut seen = vec![false; n_nodes];
    let mut finished = Vec::with_capacity(n_nodes);
    let starts = (0..n_nodes).filter(|&node| is_root(node)).chain(0..n_nodes);
    for start in starts {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut stack = vec![(start, 0)];
        while let Some((node, next)) = stack.last_mut() {
            match later[*node].get(*next) {
                Some(&target) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[target], true) {
                        stack.push((target, 0));
                    }
                }
                None => {
                    finished.push(*node);
                    stack.pop();
                }
            }
        }
    }
    finished.reverse();
    finished
}

/// Sinks go to the end, sources to the front; if there are none, the node that is most like a source.
fn greedy(later: &[Vec<usize>], earlier: &[Vec<usize>]) -> Vec<usize> {
    let n_nodes = later.len();
    let mut n_out: Vec<usize> = later.iter().map(Vec::len).collect();
    let mut n_in: Vec<usize> = earlier.iter().map(Vec::len).collect();
    let mut left: Vec<usize> = (0..n_nodes).collect();
    let (mut front, mut back) = (Vec::new(), Vec::new());
    while !left.is_empty() {
        let sink = left.iter().position(|&node| n_out[node] == 0);
        let likeness = |node: usize| n_out[node] as i64 - n_in[node] as i64;
        let chosen = sink
            .or_else(|| left.iter().position(|&node| n_in[node] == 0))
            .or_else(|| {
                let most = left.iter().map(|&node| likeness(node)).max()?;
                left.iter().position(|&node| likeness(node) == most)
            })
            .unwrap_or(0);
        let node = left.remove(chosen);
        if sink.is_some() {
            back.push(node);
        } else {
            front.push(node);
        }
        later[node].iter().for_each(|&target| n_in[target] = n_in[target].saturating_sub(1));
        earlier[node].iter().for_each(|&source| n_out[source] = n_out[source].saturating_sub(1));
    }
    front.extend(back.into_iter().rev());
    front
}
