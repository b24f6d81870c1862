//! Places in the layers: each vertex as near to its neighbors in the layers beside it as the order and the
//! room for the others allow. In one layer this is a least-squares problem with a minimum distance between
//! neighbors, which isotonic regression solves exactly; going to and fro through the layers brings all of
//! them together. Lines between bends count more, so that long edges are straight.

use super::{Extent, Graph, LAYER_GAP, Layered, Layout, Link, Point, Way};

/// Room between nodes of a layer, and between an edge and anything.
const NODE_GAP: f64 = 22.0;
const EDGE_GAP: f64 = 12.0;
/// What is farther from a bend is not in the way, and what is nearer must not become nearer than this.
const REACH: f64 = 80.0;
const MIN_CLEARANCE: f64 = 4.0;
/// Rounds to and fro.
const ROUNDS: usize = 24;

/// Which neighbors matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Earlier,
    Later,
    Both,
}

/// Places for everything.
pub(super) fn assign(graph: &Graph, layered: &Layered) -> Layout {
    let across = across(layered);
    let (along, length) = along(layered);
    let passages = passages(layered, &across);
    let point = |vertex: usize| Point { along: along[layered.layer_of[vertex]], across: across[vertex] };
    let ways = graph.links.iter().enumerate();
    let ways = ways.map(|(index, link)| way(layered, index, link, &passages, &point)).collect();
    let ends = (0..across.len()).map(|vertex| across[vertex] + layered.extents[vertex].after);
    Layout {
        nodes: (0..graph.nodes.len()).map(point).collect(),
        ways,
        along: length,
        across: ends.fold(0.0, f64::max),
    }
}

/// What is near to a bend in its layer.
#[derive(Clone, Copy, Debug)]
struct Passage {
    /// How far the next things are, before and behind the bend.
    before: f64,
    after: f64,
    /// How far they reach along.
    along: f64,
}

/// What is near to each vertex.
fn passages(layered: &Layered, across: &[f64]) -> Vec<Passage> {
    let mut passages = vec![Passage { before: REACH, after: REACH, along: 0.0 }; across.len()];
    for layer in &layered.layers {
        for (at, &bend) in layer.iter().enumerate().filter(|(_, vertex)| layered.is_bend(**vertex)) {
            let extent = |other: usize| layered.extents[other];
            let behind = |other: usize| across[other] - extent(other).before - across[bend];
            let in_front = |other: usize| across[bend] - across[other] - extent(other).after;
            let (after, along) = nearest(layered, layer[at + 1..].iter(), behind);
            let (before, its_along) = nearest(layered, layer[..at].iter().rev(), in_front);
            passages[bend] = Passage { before, after, along: along.max(its_along) };
        }
    }
    passages
}

/// How near the nearest of these is that has an extent, and how far they extend along.
fn nearest<'v>(
    layered: &Layered,
    others: impl Iterator<Item = &'v usize>,
    distance: impl Fn(usize) -> f64,
) -> (f64, f64) {
    let near = others.map(|&other| (distance(other), layered.extents[other].along));
    let near = near.take_while(|(distance, _)| *distance < REACH).filter(|(_, along)| *along > 0.0);
    near.fold((REACH, 0.0), |(nearest, longest), (distance, along)| {
        (distance.min(nearest), along.max(longest))
    })
}

impl Passage {
    /// Whether a curve between a bend and another point would touch something here.
    fn is_narrow(self, bend: Point, other: Point) -> bool {
        let step = (other.along - bend.along).abs().max(1.0);
        // A curve may go across a little faster than a line.
        let sideward = 1.5 * (other.across - bend.across) * self.along / step;
        sideward > self.after - MIN_CLEARANCE || -sideward > self.before - MIN_CLEARANCE
    }
}

/// The way of an edge. It goes straight on beside its label, and past what it would touch otherwise.
fn way(
    layered: &Layered,
    index: usize,
    link: &Link,
    passages: &[Passage],
    point: &impl Fn(usize) -> Point,
) -> Way {
    let reversed = layered.reversed[index];
    let (first, last) = if reversed { (link.to, link.from) } else { (link.from, link.to) };
    let mut points = vec![point(first)];
    let mut label = None;
    let bends = &layered.bends[index];
    for (at, &bend) in bends.iter().enumerate() {
        let (place, passage) = (point(bend), passages[bend]);
        let next = point(bends.get(at + 1).copied().unwrap_or(last));
        let previous = point(if at == 0 { first } else { bends[at - 1] });
        let mut straight = layered.extents[bend].along;
        if straight > 0.0 {
            label = Some(place);
        }
        if passage.is_narrow(place, previous) || passage.is_narrow(place, next) {
            straight = straight.max(passage.along);
        }
        if straight > 0.0 {
            points.push(Point { along: place.along - straight, ..place });
            points.push(Point { along: place.along + straight, ..place });
        } else {
            points.push(place);
        }
    }
    points.push(point(last));
    if reversed {
        points.reverse();
    }
    Way { points, label }
}

/// The middle of each layer, and where the last one ends.
fn along(layered: &Layered) -> (Vec<f64>, f64) {
    let mut middles = Vec::with_capacity(layered.layers.len());
    let mut end = 0.0;
    for (index, layer) in layered.layers.iter().enumerate() {
        let half = layer.iter().map(|&vertex| layered.extents[vertex].along).fold(0.0, f64::max);
        let start = if index == 0 { 0.0 } else { end + LAYER_GAP };
        middles.push(start + half);
        end = start + 2.0 * half;
    }
    (middles, end)
}

/// The place of each vertex in its layer.
fn across(layered: &Layered) -> Vec<f64> {
    let mut place = vec![0.0; layered.extents.len()];
    // As close together as possible at first.
    for layer in &layered.layers {
        let offsets = offsets(layered, layer);
        layer.iter().zip(offsets).for_each(|(&vertex, offset)| place[vertex] = offset);
    }
    let n_layers = layered.layers.len();
    for round in 0..ROUNDS {
        let calm = round >= ROUNDS / 2;
        for step in 0..n_layers {
            settle(layered, step, if calm { Side::Both } else { Side::Earlier }, &mut place);
        }
        for step in (0..n_layers).rev() {
            settle(layered, step, if calm { Side::Both } else { Side::Later }, &mut place);
        }
    }
    let start = (0..place.len()).map(|vertex| place[vertex] - layered.extents[vertex].before);
    let start = start.fold(f64::INFINITY, f64::min);
    place.iter_mut().for_each(|place| *place -= start);
    place
}

/// The places of a layer's vertices if they are as close together as possible.
fn offsets(layered: &Layered, layer: &[usize]) -> Vec<f64> {
    let mut offsets = Vec::with_capacity(layer.len());
    let mut at = 0.0;
    let mut previous: Option<(usize, Extent)> = None;
    for &vertex in layer {
        let extent = layered.extents[vertex];
        if let Some((neighbor, its_extent)) = previous {
            let is_edge = layered.is_bend(vertex) || layered.is_bend(neighbor);
            at += its_extent.after + if is_edge { EDGE_GAP } else { NODE_GAP } + extent.before;
        }
        offsets.push(at);
        previous = Some((vertex, extent));
    }
    offsets
}

/// Moves the vertices of a layer to where their neighbors want them.
fn settle(layered: &Layered, at: usize, side: Side, place: &mut [f64]) {
    let layer = &layered.layers[at];
    let offsets = offsets(layered, layer);
    let mut wishes = Vec::with_capacity(layer.len());
    for (&vertex, offset) in layer.iter().zip(&offsets) {
        let earlier = layered.earlier[vertex].iter().filter(|_| side != Side::Later);
        let later = layered.later[vertex].iter().filter(|_| side != Side::Earlier);
        let (mut sum, mut total) = (0.0, 0.0);
        for &neighbor in earlier.chain(later) {
            let weight = match (layered.is_bend(vertex), layered.is_bend(neighbor)) {
                (true, true) => 8.0,
                (false, false) => 1.0,
                // Ways back give way.
                _ if layered.leads_back(vertex.max(neighbor)) => 0.3,
                _ => 2.0,
            };
            sum += weight * place[neighbor];
            total += weight;
        }
        // Without neighbors it stays, but is no obstacle.
        let (wish, weight) = if total > 0.0 { (sum / total, total) } else { (place[vertex], 0.01) };
        wishes.push((wish - offset, weight));
    }
    for ((&vertex, offset), value) in layer.iter().zip(&offsets).zip(isotonic(&wishes)) {
        place[vertex] = value + offset;
    }
}

/// The ascending values that are nearest to some values with weights, by the sum of squares: neighbors
/// that are not in order are pooled.
fn isotonic(wishes: &[(f64, f64)]) -> Vec<f64> {
    // Mean, weight, and how many.
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for &(value, weight) in wishes {
        let mut pool = (value, weight, 1);
        while let Some(&(mean, its_weight, count)) = pools.last().filter(|last| last.0 > pool.0) {
            let total = its_weight + pool.1;
            pool = ((mean * its_weight + pool.0 * pool.1) / total, total, count + pool.2);
            pools.pop();
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|(mean, _, count)| std::iter::repeat_n(mean, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_order_are_pooled() {
        assert_eq!(isotonic(&[(1.0, 1.0), (2.0, 1.0)]), [1.0, 2.0]);
        assert_eq!(isotonic(&[(3.0, 1.0), (1.0, 1.0), (2.0, 1.0)]), [2.0, 2.0, 2.0]);
        assert_eq!(isotonic(&[(4.0, 3.0), (0.0, 1.0)]), [3.0, 3.0]);
        assert!(isotonic(&[]).is_empty());
    }
}
