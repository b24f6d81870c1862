//! Layers for the nodes of a graph without cycles: as early as possible first, then each where the edges
//! at it are shortest, as long as that improves anything.

/// An edge that leads over at least `length` layers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) length: usize,
}

/// Nodes are moved at most so often.
const MAX_ROUNDS: usize = 100;

/// The layer of each node. All edges lead to later positions.
pub(super) fn assign(position: &[usize], arcs: &[Arc]) -> Vec<usize> {
    let n_nodes = position.len();
    let mut order: Vec<usize> = (0..n_nodes).collect();
    order.sort_by_key(|&node| position[node]);
    let (mut outgoing, mut incoming) = (vec![Vec::new(); n_nodes], vec![Vec::new(); n_nodes]);
    for arc in arcs {
        outgoing[arc.from].push((arc.to, arc.length));
        incoming[arc.to].push((arc.from, arc.length));
    }
    let mut layer = vec![0_usize; n_nodes];
    for &node in &order {
        layer[node] = earliest(&incoming[node], &layer);
    }
    for _ in 0..MAX_ROUNDS {
        let mut changed = false;
        for &node in order.iter().rev() {
            let first = earliest(&incoming[node], &layer);
            let last = outgoing[node].iter().map(|&(to, length)| layer[to].saturating_sub(length)).min();
            let best = match (incoming[node].len(), outgoing[node].len(), last) {
                (n_in, n_out, Some(last)) if n_out > n_in => last.max(first),
                (n_in, n_out, _) if n_in > n_out => first,
                _ => layer[node],
            };
            changed |= best != layer[node];
            layer[node] = best;
        }
        if !changed {
            break;
        }
    }
    without_gaps(layer)
}

fn earliest(incoming: &[(usize, usize)], layer: &[usize]) -> usize {
    incoming.iter().map(|&(from, length)| layer[from] + length).max().unwrap_or(0)
}

/// The layers from 0 on.
fn without_gaps(mut layer: Vec<usize>) -> Vec<usize> {
    let first = layer.iter().copied().min().unwrap_or(0);
    layer.iter_mut().for_each(|layer| *layer -= first);
    layer
}
