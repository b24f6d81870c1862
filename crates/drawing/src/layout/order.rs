//! The order in each layer: vertices go to the mean of their neighbors in the layer before or after, in
//! sweeps to and fro, and neighbors change places where that helps. The best order is kept.

use super::Layered;

/// Sweeps, if there is not much to do.
const MAX_SWEEPS: usize = 24;
/// So many vertices are looked at in all, roughly.
const MAX_WORK: usize = 400_000;

/// Orders the layers; returns how often edges cross. If there is not too much to do, several orders are
/// tried to begin with: the one that is given, that of the numbers, since neighbors in a file often belong
/// together, and that of a depth-first search.
pub(super) fn sort(layered: &mut Layered) -> u64 {
    let found = discovery(layered);
    let given = layered.layers.clone();
    let (mut by_number, mut by_discovery) = (given.clone(), given.clone());
    by_number.iter_mut().for_each(|layer| layer.sort_unstable());
    by_discovery.iter_mut().for_each(|layer| layer.sort_by_key(|&vertex| found[vertex]));
    let mut best: Option<(u64, Vec<Vec<usize>>)> = None;
    let n_starts = if layered.extents.len() > MAX_WORK / MAX_SWEEPS { 1 } else { 3 };
    for start in [given, by_number, by_discovery].into_iter().take(n_starts) {
        layered.layers = start;
        let n_crossings = improve(layered);
        if best.as_ref().is_none_or(|(fewest, _)| n_crossings < *fewest) {
            best = Some((n_crossings, layered.layers.clone()));
        }
    }
    let (fewest, layers) = best.unwrap_or_default();
    layered.layers = layers;
    fewest
}

/// When a depth-first search that ignores directions finds each vertex.
fn discovery(layered: &Layered) -> Vec<usize> {
    let mut found = vec![usize::MAX; layered.extents.len()];
    let mut n_found = 0;
    for &start in layered.layers.iter().flatten() {
        let mut stack = vec![start];
        while let Some(vertex) = stack.pop() {
            if found[vertex] == usize::MAX {
                found[vertex] = n_found;
                n_found += 1;
                stack.extend(layered.earlier[vertex].iter().chain(&layered.later[vertex]).rev());
            }
        }
    }
    found
}

/// Goes to and fro from the order that is given.
fn improve(layered: &mut Layered) -> u64 {
    let mut position = vec![0; layered.extents.len()];
    layered.layers.iter().for_each(|layer| number(layer, &mut position));
    let mut best = layered.layers.clone();
    let mut fewest = crossings(layered, &position);
    let n_sweeps = (MAX_WORK / (layered.extents.len() + 1)).clamp(4, MAX_SWEEPS);
    for sweep in 0..n_sweeps {
        if fewest == 0 {
            break;
        }
        let n_layers = layered.layers.len();
        for step in 0..n_layers {
            let at = if sweep % 2 == 0 { step } else { n_layers - 1 - step };
            sort_layer(layered, at, sweep % 2 == 0, &mut position);
        }
        exchange(layered, &mut position);
        let found = crossings(layered, &position);
        if found < fewest {
            fewest = found;
            best.clone_from(&layered.layers);
        }
    }
    layered.layers = best;
    fewest
}

fn number(layer: &[usize], position: &mut [usize]) {
    layer.iter().enumerate().for_each(|(at, &vertex)| position[vertex] = at);
}

fn sort_layer(layered: &mut Layered, at: usize, by_earlier: bool, position: &mut [usize]) {
    let neighbors = if by_earlier { &layered.earlier } else { &layered.later };
    let mean = |vertex: usize| {
        let near = &neighbors[vertex];
        let sum: usize = near.iter().map(|&neighbor| position[neighbor]).sum();
        if near.is_empty() { position[vertex] as f64 } else { sum as f64 / near.len() as f64 }
    };
    let mut keyed: Vec<(f64, usize)> =
        layered.layers[at].iter().map(|&vertex| (mean(vertex), vertex)).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    layered.layers[at] = keyed.into_iter().map(|(_, vertex)| vertex).collect();
    number(&layered.layers[at], position);
}

/// Lets neighbors change places where fewer edges cross then.
fn exchange(layered: &mut Layered, position: &mut [usize]) {
    for _ in 0..4 {
        let mut improved = false;
        for at in 0..layered.layers.len() {
            for left in 1..layered.layers[at].len() {
                let (a, b) = (layered.layers[at][left - 1], layered.layers[at][left]);
                let [now, then] = [(a, b), (b, a)].map(|(first, second)| {
                    inversions(&layered.earlier[first], &layered.earlier[second], position)
                        + inversions(&layered.later[first], &layered.later[second], position)
                });
                if then < now {
                    layered.layers[at].swap(left - 1, left);
                    (position[a], position[b]) = (left, left - 1);
                    improved = true;
                }
            }
        }
        if !improved {
            break;
        }
    }
}

/// How often edges of one vertex to its neighbors cross those of the next.
fn inversions(first: &[usize], second: &[usize], position: &[usize]) -> usize {
    let crossing = |&one: &usize| second.iter().filter(|&&other| position[other] < position[one]).count();
    first.iter().map(crossing).sum()
}

/// How often edges cross: inversions, counted with a tree of sums.
fn crossings(layered: &Layered, position: &[usize]) -> u64 {
    let mut total = 0;
    for pair in layered.layers.windows(2) {
        let mut sums = vec![0_u64; pair[1].len() + 1];
        let mut n_seen = 0;
        for &vertex in &pair[0] {
            let mut ends: Vec<usize> = layered.later[vertex].iter().map(|&end| position[end]).collect();
            ends.sort_unstable();
            for &end in &ends {
                total += n_seen - prefix(&sums, end + 1);
            }
            for &end in &ends {
                n_seen += 1;
                let mut at = end + 1;
                while at < sums.len() {
                    sums[at] += 1;
                    at += at & at.wrapping_neg();
                }
            }
        }
    }
    total
}

/// The sum of the first entries.
fn prefix(sums: &[u64], n_entries: usize) -> u64 {
    let (mut at, mut total) = (n_entries, 0);
    while at > 0 {
        total += sums[at];
        at &= at - 1;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::super::{Cut, Extent, Graph, Link};
    use super::*;

    fn fewest_crossings(n_nodes: usize, edges: &[(usize, usize)]) -> u64 {
        let link = |&(from, to): &(usize, usize)| Link { from, to, label: None };
        let graph = Graph {
            nodes: vec![Extent::default(); n_nodes],
            roots: Vec::new(),
            links: edges.iter().map(link).collect(),
        };
        sort(&mut Layered::new(&graph, Cut::Search))
    }

    #[test]
    fn few_edges_cross() {
        // A binary tree whose nodes come in disorder.
        let name = |node: usize| node * 37 % 64;
        let tree: Vec<(usize, usize)> = (1..32)
            .flat_map(|node| [2 * node, 2 * node + 1].map(|child| (name(node), name(child))))
            .collect();
        assert_eq!(fewest_crossings(64, &tree), 0);
        // Three houses and three wells: each two of one side have three crossings.
        let wells: Vec<(usize, usize)> = (0..3).flat_map(|from| (3..6).map(move |to| (from, to))).collect();
        assert_eq!(fewest_crossings(6, &wells), 9);
    }
}
