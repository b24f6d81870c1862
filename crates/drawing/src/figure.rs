//! How large nodes and labels are, and where edges touch nodes.

use crate::layout::{Extent, Point};
use crate::text::Fitted;
use crate::{Direction, Drawing, Node, Shape};

/// Radius of a place, and of a dot.
pub(super) const PLACE_RADIUS: f64 = 17.0;
pub(super) const POINT_RADIUS: f64 = 4.0;
/// More tokens are a number.
pub(super) const MAX_DOTS: i64 = 5;
/// Room between a line and a text beside it.
pub(super) const TEXT_GAP: f64 = 5.0;
/// How far an edge from a node to itself goes out.
pub(super) const LOOP_REACH: f64 = 24.0;
/// An edge leaves a node at most so much across, for each step along.
pub(super) const MAX_SLOPE: f64 = 1.0;

/// A node with its sizes, without place.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) text: Fitted,
    /// Half the size of the shape.
    pub(super) half_width: f64,
    pub(super) half_height: f64,
    /// What stands at the edge from the node to itself, if there is one: all of it, and what fits.
    pub(super) own_loop: Option<(String, Fitted)>,
    is_round: bool,
}

impl Figure {
    /// The figures of all nodes.
    pub(super) fn all(drawing: &Drawing) -> Vec<Figure> {
        let mut figures: Vec<Figure> = drawing.nodes.iter().map(Figure::new).collect();
        let mut loops: Vec<Option<String>> = vec![None; figures.len()];
        for edge in drawing.edges.iter().filter(|edge| edge.from == edge.to) {
            let label = loops[edge.from.index()].get_or_insert_default();
            if !label.is_empty() && !edge.label.is_empty() {
                label.push('\n');
            }
            label.push_str(&edge.label);
        }
        for (figure, label) in figures.iter_mut().zip(loops) {
            figure.own_loop = label.map(|label| {
                let fitted = Fitted::new(&label);
                (label, fitted)
            });
        }
        figures
    }

    fn new(node: &Node) -> Figure {
        let text = Fitted::new(&node.label);
        let (half_width, half_height) = match node.shape {
            Shape::Place(tokens) => {
                let number = if tokens > MAX_DOTS { Fitted::new(&tokens.to_string()).width() } else { 0.0 };
                let radius = PLACE_RADIUS.max(number / 2.0 + 4.0);
                (radius, radius)
            }
            Shape::Point => (POINT_RADIUS, POINT_RADIUS),
            Shape::Transition => ((text.width() / 2.0 + 7.0).max(16.0), (text.height() / 2.0 + 3.0).max(9.0)),
            Shape::State => ((text.width() / 2.0 + 9.0).max(15.0), (text.height() / 2.0 + 6.0).max(13.0)),
            Shape::Accepting => {
                ((text.width() / 2.0 + 12.0).max(18.0), (text.height() / 2.0 + 9.0).max(16.0))
            }
        };
        let is_round = matches!(node.shape, Shape::Place(_) | Shape::Point);
        Figure { text, half_width, half_height, own_loop: None, is_round }
    }

    /// The room that it needs, with everything that belongs to it.
    pub(super) fn extent(&self, direction: Direction) -> Extent {
        let (mut left, mut right) = (self.half_width, self.half_width);
        let (mut top, mut bottom) = (self.half_height, self.half_height);
        if self.is_round && !self.text.is_empty() {
            right += TEXT_GAP + self.text.width();
            top = top.max(self.text.height() / 2.0);
            bottom = bottom.max(self.text.height() / 2.0);
        }
        if let Some((_, label)) = &self.own_loop {
            match direction {
                Direction::Down => {
                    // At the left: at the right may be its name.
                    left += LOOP_REACH + TEXT_GAP + label.width();
                    top = top.max(label.height() / 2.0);
                    bottom = bottom.max(label.height() / 2.0);
                }
                Direction::Right => {
                    top += LOOP_REACH + TEXT_GAP + label.height();
                    left = left.max(label.width() / 2.0);
                    right = right.max(label.width() / 2.0);
                }
            }
        }
        match direction {
            Direction::Down => Extent { along: top.max(bottom), before: left, after: right },
            Direction::Right => Extent { along: left.max(right), before: top, after: bottom },
        }
    }

    /// Where an edge between the center of the node and another point touches its shape, and how much it
    /// goes across there for each step along.
    pub(super) fn port(&self, center: Point, other: Point, direction: Direction) -> (Point, f64) {
        let (half_along, half_across) = match direction {
            Direction::Down => (self.half_height, self.half_width),
            Direction::Right => (self.half_width, self.half_height),
        };
        let (forward, sideward) = (other.along - center.along, other.across - center.across);
        let sign = if forward < 0.0 { -1.0 } else { 1.0 };
        let slope_of = |sideward: f64, forward: f64| {
            let forward = if forward.abs() < 1.0 { sign } else { forward };
            (sideward / forward).clamp(-MAX_SLOPE, MAX_SLOPE)
        };
        if self.is_round {
            let slope = slope_of(sideward, forward);
            let along = sign * half_along / slope.hypot(1.0);
            return (Point { along: center.along + along, across: center.across + slope * along }, slope);
        }
        let reach = (half_across - 7.0).max(0.0);
        let port = Point {
            along: center.along + sign * half_along,
            across: center.across + sideward.clamp(-reach, reach),
        };
        (port, slope_of(other.across - port.across, other.along - port.along))
    }
}

/// The room that a label needs around the line.
pub(super) fn label_extent(label: &Fitted, direction: Direction) -> Option<Extent> {
    let (width, height) = (label.width(), label.height());
    (!label.is_empty()).then_some(match direction {
        Direction::Down => Extent { along: height / 2.0, before: 2.0, after: TEXT_GAP + width },
        Direction::Right => Extent { along: width / 2.0, before: TEXT_GAP + height, after: 2.0 },
    })
}
