//! Everything with its place: the layout of each connected part, the parts in rows, and curves.

use crate::figure::{Figure, MAX_SLOPE, label_extent};
use crate::layout::{self, Graph, Link, Point, Way};
use crate::text::{Fitted, LINE};
use crate::{Direction, Drawing, Heads};

/// Room around the picture, between parts, and between a frame and what is in it.
const MARGIN: f64 = 16.0;
const PART_GAP: f64 = 28.0;
const FRAME_PADDING: f64 = 14.0;
/// Length of an arrow's head.
pub(super) const HEAD: f64 = 8.0;
/// Pictures are wider than high, by this.
const ASPECT: f64 = 1.5;

/// A point of the picture, from the top left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spot {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// A piece of a curve: two control points and its end.
pub(super) type Piece = [Spot; 3];

/// An edge with its place.
#[derive(Debug)]
pub(super) struct Curve {
    /// The edge's index.
    pub(super) edge: usize,
    pub(super) start: Spot,
    pub(super) pieces: Vec<Piece>,
    /// The tips of its heads, each with the direction it points to.
    pub(super) heads: Vec<(Spot, Spot)>,
    /// Its label, and the point on the line that this is beside.
    pub(super) label: Option<(Spot, Fitted)>,
}

/// A rectangle around a group.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) corner: Spot,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) name: Fitted,
}

/// A picture.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) figures: Vec<Figure>,
    /// The centers of the nodes.
    pub(super) centers: Vec<Spot>,
    /// The edges but for those from a node to itself.
    pub(super) curves: Vec<Curve>,
    pub(super) frames: Vec<Frame>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Some nodes and edges that are laid out together, and how large that is.
struct Part {
    nodes: Vec<usize>,
    layout: layout::Layout,
    /// The edges of the ways.
    edges: Vec<usize>,
    width: f64,
    height: f64,
}

impl Scene {
    pub(super) fn new(drawing: &Drawing) -> Scene {
        let figures = Figure::all(drawing);
        let parts: Vec<Part> =
            components(drawing).iter().map(|nodes| Part::new(drawing, &figures, nodes)).collect();
        let mut scene = Scene {
            centers: vec![Spot { x: 0.0, y: 0.0 }; figures.len()],
            figures,
            curves: Vec::new(),
            frames: Vec::new(),
            width: 0.0,
            height: 0.0,
        };
        let groups = groups(drawing, &parts);
        // The parts of each group side by side, then the groups.
        let packed: Vec<Packed> = groups
            .iter()
            .map(|(_, members)| pack(&members.iter().map(|&part| parts[part].size()).collect::<Vec<_>>()))
            .collect();
        let framed: Vec<(f64, f64, Option<Fitted>)> = groups
            .iter()
            .zip(&packed)
            .map(|((group, _), packed)| {
                let name = group.map(|group| Fitted::new(&drawing.groups[group].name));
                match name {
                    Some(name) => {
                        let width = packed.width.max(name.width()) + 2.0 * FRAME_PADDING;
                        (width, packed.height + 2.0 * FRAME_PADDING + LINE, Some(name))
                    }
                    None => (packed.width, packed.height, None),
                }
            })
            .collect();
        let whole = pack(&framed.iter().map(|(width, height, _)| (*width, *height)).collect::<Vec<_>>());
        for (((_, members), packed), ((width, height, name), place)) in
            groups.iter().zip(&packed).zip(framed.into_iter().zip(&whole.places))
        {
            let corner = Spot { x: place.x + MARGIN, y: place.y + MARGIN };
            let mut inside = corner;
            if let Some(name) = name {
                scene.frames.push(Frame { corner, width, height, name });
                inside.x += FRAME_PADDING + (width - 2.0 * FRAME_PADDING - packed.width) / 2.0;
                inside.y += FRAME_PADDING + LINE;
            }
            for (&part, place) in members.iter().zip(&packed.places) {
                let offset = Spot { x: inside.x + place.x, y: inside.y + place.y };
                scene.add(drawing, &parts[part], offset);
            }
        }
        (scene.width, scene.height) = (whole.width + 2.0 * MARGIN, whole.height + 2.0 * MARGIN);
        scene
    }

    /// Adds a part, with its top left corner at the given place.
    fn add(&mut self, drawing: &Drawing, part: &Part, offset: Spot) {
        let spot = |point: Point| {
            let spot = to_spot(point, drawing.direction);
            Spot { x: spot.x + offset.x, y: spot.y + offset.y }
        };
        for (&node, &point) in part.nodes.iter().zip(&part.layout.nodes) {
            self.centers[node] = spot(point);
        }
        for (&edge, way) in part.edges.iter().zip(&part.layout.ways) {
            let curve = self.curve(drawing, edge, way, &spot);
            self.curves.push(curve);
        }
    }

    fn curve(&self, drawing: &Drawing, index: usize, way: &Way, spot: &impl Fn(Point) -> Spot) -> Curve {
        let edge = &drawing.edges[index];
        let mut knots = way.points.clone();
        let last = knots.len() - 1;
        let port = |node: usize, at: usize, near: usize| {
            self.figures[node].port(way.points[at], way.points[near], drawing.direction)
        };
        let (start, mut start_slope) = port(edge.from.index(), 0, 1);
        let (end, mut end_slope) = port(edge.to.index(), last, last - 1);
        let direct = (end.across - start.across) / (end.along - start.along);
        if last == 1 && direct.abs() <= MAX_SLOPE {
            (start_slope, end_slope) = (direct, direct);
        }
        // A line ends where its head begins.
        let forward = (end.along - start.along).signum();
        let back = |point: Point, slope: f64, sign: f64| {
            let step = sign * HEAD / slope.hypot(1.0);
            Point { along: point.along + step, across: point.across + slope * step }
        };
        let tip = |base: Point, tip: Point| (spot(tip), to_spot(between(base, tip), drawing.direction));
        knots[last] = back(end, end_slope, -forward);
        let mut heads = vec![tip(knots[last], end)];
        knots[0] = start;
        if edge.heads == Heads::Both {
            knots[0] = back(start, start_slope, forward);
            heads.push(tip(knots[0], start));
        }
        let label = Fitted::new(&edge.label);
        Curve {
            edge: index,
            start: spot(knots[0]),
            pieces: pieces(&knots, start_slope, end_slope).into_iter().map(|piece| piece.map(spot)).collect(),
            heads,
            label: way.label.map(|at| (spot(at), label)),
        }
    }
}

/// The direction from one point to another.
fn between(from: Point, to: Point) -> Point {
    Point { along: to.along - from.along, across: to.across - from.across }
}

fn to_spot(point: Point, direction: Direction) -> Spot {
    match direction {
        Direction::Down => Spot { x: point.across, y: point.along },
        Direction::Right => Spot { x: point.along, y: point.across },
    }
}

/// A smooth curve through points whose `along` goes up or goes down: `across` is a monotone cubic function
/// of it between any two, after Fritsch and Carlson (1980), so that it never swings out.
fn pieces(knots: &[Point], start_slope: f64, end_slope: f64) -> Vec<[Point; 3]> {
    let rise = |pair: &[Point]| {
        let step = between(pair[0], pair[1]);
        if step.along.abs() < 1e-6 { 0.0 } else { step.across / step.along }
    };
    let rises: Vec<f64> = knots.windows(2).map(rise).collect();
    let mut slopes = vec![start_slope];
    for pair in rises.windows(2) {
        // The harmonic mean; nothing where the curve turns.
        let product = pair[0] * pair[1];
        slopes.push(if product > 0.0 { 2.0 * product / (pair[0] + pair[1]) } else { 0.0 });
    }
    slopes.push(end_slope);
    let piece = |(pair, slopes): (&[Point], &[f64])| {
        let third = (pair[1].along - pair[0].along) / 3.0;
        [
            Point { along: pair[0].along + third, across: pair[0].across + slopes[0] * third },
            Point { along: pair[1].along - third, across: pair[1].across - slopes[1] * third },
            pair[1],
        ]
    };
    knots.windows(2).zip(slopes.windows(2)).map(piece).collect()
}

impl Part {
    fn new(drawing: &Drawing, figures: &[Figure], nodes: &[usize]) -> Part {
        let direction = drawing.direction;
        let mut number = vec![usize::MAX; figures.len()];
        nodes.iter().enumerate().for_each(|(at, &node)| number[node] = at);
        let mut graph = Graph {
            nodes: nodes.iter().map(|&node| figures[node].extent(direction)).collect(),
            roots: nodes.iter().map(|&node| drawing.nodes[node].root).collect(),
            links: Vec::new(),
        };
        let mut edges = Vec::new();
        for (index, edge) in drawing.edges.iter().enumerate() {
            let (from, to) = (number[edge.from.index()], number[edge.to.index()]);
            if from != usize::MAX && from != to {
                let label = label_extent(&Fitted::new(&edge.label), direction);
                graph.links.push(Link { from, to, label });
                edges.push(index);
            }
        }
        let layout = layout::layout(&graph);
        let size = to_spot(Point { along: layout.along, across: layout.across }, direction);
        Part { nodes: nodes.to_vec(), layout, edges, width: size.x, height: size.y }
    }

    fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }
}

/// The connected components, each with its nodes in order; the first is that of the first node.
fn components(drawing: &Drawing) -> Vec<Vec<usize>> {
    let mut neighbors = vec![Vec::new(); drawing.nodes.len()];
    for edge in &drawing.edges {
        neighbors[edge.from.index()].push(edge.to.index());
        neighbors[edge.to.index()].push(edge.from.index());
    }
    let mut seen = vec![false; drawing.nodes.len()];
    let mut components = Vec::new();
    for start in 0..drawing.nodes.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut component = vec![start];
        let mut next = 0;
        while let Some(&node) = component.get(next) {
            next += 1;
            for &neighbor in &neighbors[node] {
                if !std::mem::replace(&mut seen[neighbor], true) {
                    component.push(neighbor);
                }
            }
        }
        component.sort_unstable();
        components.push(component);
    }
    components
}

/// The components of each group that gets a frame; without frames, all of them together.
fn groups(drawing: &Drawing, parts: &[Part]) -> Vec<(Option<usize>, Vec<usize>)> {
    let mut groups: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let group = part.nodes.first().and_then(|&node| drawing.nodes[node].group).map(crate::GroupId::index);
        let group = group.filter(|_| drawing.framed);
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, members)) => members.push(index),
            None => groups.push((group, vec![index])),
        }
    }
    groups
}

/// Rectangles in rows.
struct Packed {
    /// The top left corners.
    places: Vec<Spot>,
    width: f64,
    height: f64,
}

/// Puts rectangles into rows, in their order, so that all of them together have a good shape.
fn pack(sizes: &[(f64, f64)]) -> Packed {
    let widest = sizes.iter().map(|size| size.0).fold(0.0, f64::max);
    let length = |packed: &Packed| (packed.width / ASPECT).max(packed.height);
    let mut best = pack_within(sizes, widest);
    // Rows as long as one, two, three of the widest, and in between.
    for step in 1..40 {
        let packed = pack_within(sizes, widest * (1.0 + 0.25 * f64::from(step)));
        if length(&packed) < length(&best) {
            best = packed;
        }
    }
    best
}

/// The same with rows of at most this length.
fn pack_within(sizes: &[(f64, f64)], limit: f64) -> Packed {
    let mut packed = Packed { places: Vec::with_capacity(sizes.len()), width: 0.0, height: 0.0 };
    let (mut x, mut y, mut row_height) = (0.0, 0.0, 0.0_f64);
    for &(width, height) in sizes {
        if x > 0.0 && x + width > limit {
            (x, y, row_height) = (0.0, y + row_height + PART_GAP, 0.0);
        }
        packed.places.push(Spot { x, y });
        packed.width = packed.width.max(x + width);
        packed.height = packed.height.max(y + height);
        row_height = row_height.max(height);
        x += width + PART_GAP;
    }
    packed
}
