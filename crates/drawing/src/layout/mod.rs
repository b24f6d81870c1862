//! Finds places for nodes and ways for edges, in layers: after Sugiyama, Tagawa and Toda, *Methods for
//! visual understanding of hierarchical system structures* (1981), in the steps of Gansner, Koutsofios,
//! North and Vo, *A technique for drawing directed graphs* (1993).
//!
//! 1. Edges that close cycles are turned round (`cycles`).
//! 2. Nodes get layers, so that edges lead to later ones (`layers`).
//! 3. Edges over several layers are cut into pieces by *bends*; a label is a bend with a size.
//! 4. The layers are ordered, so that few edges cross (`order`).
//! 5. Everything gets a place in its layer, so that edges are straight (`places`).
//!
//! Deviations: layers are found by longest paths and local improvement instead of the network simplex
//! method, and places by repeated isotonic regression. Several ways to cut cycles are tried, since the
//! best depends on the graph. Everything is deterministic, and linear in the pieces of edges but for a
//! bounded number of rounds.
//!
//! Here *along* is the direction of edges, and *across* that of layers; which of them is horizontal, the
//! caller knows. A graph is connected and has no loops of one edge.

mod cycles;
mod layers;
mod order;
mod places;

use cycles::Cut;

/// Room between layers.
const LAYER_GAP: f64 = 30.0;

/// A point of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) along: f64,
    pub(super) across: f64,
}

/// The room that something needs around its point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Extent {
    /// To both sides along.
    pub(super) along: f64,
    /// Across, before the point.
    pub(super) before: f64,
    /// Across, behind the point.
    pub(super) after: f64,
}

/// An edge between two nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The room that its label needs around the line.
    pub(super) label: Option<Extent>,
}

/// What is to be laid out.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Extent>,
    /// The nodes that should come first.
    pub(super) roots: Vec<bool>,
    pub(super) links: Vec<Link>,
}

/// The way of an edge.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// From the center of one node to that of the other.
    pub(super) points: Vec<Point>,
    /// The point on the line that the label is beside.
    pub(super) label: Option<Point>,
}

/// Where everything is; from 0 on in both directions.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) nodes: Vec<Point>,
    pub(super) ways: Vec<Way>,
    /// The whole size.
    pub(super) along: f64,
    pub(super) across: f64,
}

/// A graph in layers: all edges lead from a layer to the next. The first vertices are the nodes, the
/// others bends.
#[derive(Clone, Debug, Default)]
struct Layered {
    n_nodes: usize,
    extents: Vec<Extent>,
    layer_of: Vec<usize>,
    /// The neighbors in the layer before, and in the next.
    earlier: Vec<Vec<usize>>,
    later: Vec<Vec<usize>>,
    /// The vertices of each layer, in order.
    layers: Vec<Vec<usize>>,
    /// The bends of each link, from the earlier end to the later one.
    bends: Vec<Vec<usize>>,
    /// Whether the link leads to an earlier layer.
    reversed: Vec<bool>,
    /// The same for each bend.
    leads_back: Vec<bool>,
}

/// Lays out a graph.
pub(super) fn layout(graph: &Graph) -> Layout {
    let candidates = Cut::ALL.into_iter().map(|cut| {
        let mut layered = Layered::new(graph, cut);
        let crossings = order::sort(&mut layered);
        let size = layered.extents.len() + 2 * layered.layers.len();
        // From the roots on is how people read; another order must be much better.
        let factor = match cut {
            Cut::Greedy if graph.roots.contains(&true) => 4,
            Cut::GreedyAfterRoots => 3,
            Cut::Search | Cut::Greedy => 2,
        };
        (6 * crossings + factor * size as u64, layered)
    });
    // The first of the best.
    let best = candidates.min_by_key(|(cost, _)| *cost);
    places::assign(graph, &best.map(|(_, layered)| layered).unwrap_or_default())
}

impl Layered {
    fn new(graph: &Graph, cut: Cut) -> Layered {
        let n_nodes = graph.nodes.len();
        let position = cycles::linear_order(graph, cut);
        let reversed: Vec<bool> =
            graph.links.iter().map(|link| position[link.from] > position[link.to]).collect();
        let lengths = lengths(graph);
        let oriented: Vec<layers::Arc> = graph
            .links
            .iter()
            .zip(&reversed)
            .zip(&lengths)
            .map(|((link, &reversed), &length)| {
                let (from, to) = if reversed { (link.to, link.from) } else { (link.from, link.to) };
                layers::Arc { from, to, length }
            })
            .collect();
        let layer_of = layers::assign(&position, &oriented);
        let n_layers = layer_of.iter().max().map_or(0, |last| last + 1);
        let mut layered = Layered {
            n_nodes,
            extents: graph.nodes.clone(),
            layers: vec![Vec::new(); n_layers],
            layer_of,
            earlier: vec![Vec::new(); n_nodes],
            later: vec![Vec::new(); n_nodes],
            bends: Vec::with_capacity(oriented.len()),
            reversed,
            leads_back: Vec::new(),
        };
        let mut by_position: Vec<usize> = (0..n_nodes).collect();
        by_position.sort_by_key(|&node| position[node]);
        by_position.iter().for_each(|&node| layered.layers[layered.layer_of[node]].push(node));
        for (link, arc) in graph.links.iter().zip(&oriented) {
            layered.add_link(arc, link.label);
        }
        layered
    }

    /// Adds the pieces of an edge.
    fn add_link(&mut self, arc: &layers::Arc, label: Option<Extent>) {
        let (first, last) = (self.layer_of[arc.from], self.layer_of[arc.to]);
        let middle = first + (last - first) / 2;
        let mut bends = Vec::with_capacity(last - first);
        let mut previous = arc.from;
        for layer in first + 1..last {
            let bend = self.extents.len();
            self.extents.push(label.filter(|_| layer == middle).unwrap_or_default());
            self.layer_of.push(layer);
            self.leads_back.push(self.reversed.get(self.bends.len()).copied().unwrap_or(false));
            self.earlier.push(Vec::new());
            self.later.push(Vec::new());
            self.layers[layer].push(bend);
            self.connect(previous, bend);
            bends.push(bend);
            previous = bend;
        }
        self.connect(previous, arc.to);
        self.bends.push(bends);
    }

    fn connect(&mut self, from: usize, to: usize) {
        self.later[from].push(to);
        self.earlier[to].push(from);
    }

    fn is_bend(&self, vertex: usize) -> bool {
        vertex >= self.n_nodes
    }

    /// Whether it is a bend of an edge that leads to an earlier layer.
    fn leads_back(&self, vertex: usize) -> bool {
        self.leads_back.get(vertex.wrapping_sub(self.n_nodes)).copied().unwrap_or(false)
    }
}

/// How many layers each edge must lead over: a label needs one in between, and so do edges that would
/// otherwise lie on each other.
fn lengths(graph: &Graph) -> Vec<usize> {
    let ends = |link: &Link| (link.from.min(link.to), link.from.max(link.to));
    let mut pairs: Vec<(usize, usize)> = graph.links.iter().map(ends).collect();
    pairs.sort_unstable();
    let is_parallel = |link: &Link| {
        let start = pairs.partition_point(|pair| *pair < ends(link));
        pairs.get(start + 1) == Some(&ends(link))
    };
    let length = |link: &Link| if link.label.is_some() || is_parallel(link) { 2 } else { 1 };
    graph.links.iter().map(length).collect()
}
