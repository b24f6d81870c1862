//! Pictures of graphs: one description, two languages.
//!
//! A [`Drawing`] says what is to be seen: nodes with a shape, edges with labels and heads, groups. It is
//! written as DOT, for Graphviz and everything that reads its language, or as SVG, which needs nothing
//! else to be looked at. For SVG, `layout` finds places for everything. What is drawn is made from the
//! processes of a system ([`system`]) and from automata ([`automaton`]); others draw what they know.
//!
//! ```
//! use stubborn_drawing::{Drawing, Edge, Node, Shape};
//!
//! let mut drawing = Drawing::new("lamp");
//! let off = drawing.node(Node::new(Shape::State, "off"));
//! let on = drawing.node(Node::new(Shape::State, "on"));
//! drawing.edge(Edge::new(off, on).labeled("switch"));
//! drawing.edge(Edge::new(on, off).labeled("switch"));
//! assert!(drawing.to_dot().to_string().contains("n0 -> n1 [label=\"switch\"]"));
//! assert!(drawing.to_svg()?.starts_with("<svg"));
//! # Ok::<(), stubborn_drawing::TooLarge>(())
//! ```

pub mod automaton;
mod dot;
mod figure;
mod layout;
mod scene;
mod svg;
pub mod system;
mod text;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use base::text::Shown;
use base::{Budget, Limit, Progress};

base::define_id! {
    /// A node of a drawing.
    pub struct NodeId;
}
base::define_id! {
    /// A group of a drawing.
    pub struct GroupId;
}

/// In which direction most edges lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From top to bottom.
    Down,
    /// From left to right.
    Right,
}

/// What a node looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A circle with so many tokens in it; the label is beside it.
    Place(i64),
    /// A rectangle around the label.
    Transition,
    /// A rounded box around the label.
    State,
    /// The same with a double line.
    Accepting,
    /// A dot without label, from which an edge leads to an initial state.
    Point,
}

/// How a node is emphasized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Not at all.
    Plain,
    /// By color: it holds tokens, or is an initial state.
    Initial,
    /// By another color: a deadlock, or a run may be accepted when it ends here.
    Final,
}

/// Something that edges connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it looks like.
    pub shape: Shape,
    /// What it is called; may have several lines.
    pub label: String,
    /// What is told about it where the picture can: the whole label if it was too long, and this.
    pub note: String,
    /// How it is emphasized.
    pub fill: Fill,
    /// Whether its line is broken.
    pub dashed: bool,
    /// Whether things start here: it should come first.
    pub root: bool,
    /// The group it belongs to.
    pub group: Option<GroupId>,
}

impl Node {
    /// A plain node.
    pub fn new(shape: Shape, label: impl Into<String>) -> Node {
        Node {
            shape,
            label: label.into(),
            note: String::new(),
            fill: Fill::Plain,
            dashed: false,
            root: false,
            group: None,
        }
    }

    /// The same in a group.
    pub fn within(self, group: GroupId) -> Node {
        Node { group: Some(group), ..self }
    }
}

/// Which ends of an edge have heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heads {
    /// The end where it leads to.
    End,
    /// Both ends.
    Both,
}

/// A connection of two nodes, or of a node with itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where it starts.
    pub from: NodeId,
    /// Where it leads to.
    pub to: NodeId,
    /// What is written beside it; may have several lines, or be empty.
    pub label: String,
    /// Its heads.
    pub heads: Heads,
}

impl Edge {
    /// An edge without label.
    pub fn new(from: NodeId, to: NodeId) -> Edge {
        Edge { from, to, label: String::new(), heads: Heads::End }
    }

    /// The same with a label.
    pub fn labeled(self, label: impl Into<String>) -> Edge {
        Edge { label: label.into(), ..self }
    }
}

/// Edges of which those between the same nodes become one, with a line for each label.
#[derive(Debug, Default)]
pub struct Bundle {
    labels: BTreeMap<(NodeId, NodeId), Vec<String>>,
    bytes: usize,
}

impl Bundle {
    /// Adds an edge, unless it is the same as the last one between these nodes.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn add(
        &mut self,
        from: NodeId,
        to: NodeId,
        label: String,
        budget: &mut Budget<'_>,
    ) -> Result<(), Limit> {
        let labels = self.labels.entry((from, to)).or_default();
        if labels.last() != Some(&label) {
            // All labels are there twice when they are drawn.
            self.bytes += size_of::<Edge>() + size_of::<String>() + 2 * label.len();
            labels.push(label);
        }
        budget.poll(&Progress { bytes: self.bytes as u64, ..Progress::default() })
    }

    /// Draws them.
    pub fn draw(self, drawing: &mut Drawing) {
        for ((from, to), labels) in self.labels {
            drawing.edge(Edge::new(from, to).labeled(labels.join("\n")));
        }
    }
}

/// A set of nodes that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    name: String,
    parent: Option<GroupId>,
}

/// Why there is no picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of edges.
    pub edges: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a picture of {} and {} cannot be looked at (at most {} and {} can)",
            base::text::count(self.nodes as u64, "node"),
            base::text::count(self.edges as u64, "edge"),
            base::text::grouped(Drawing::MAX_NODES as u64),
            base::text::grouped(Drawing::MAX_EDGES as u64)
        )
    }
}

impl std::error::Error for TooLarge {}

/// A graph that is to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawing {
    /// What it is a drawing of.
    pub title: String,
    /// A sentence about it, for those who cannot see it.
    pub description: String,
    /// In which direction most edges lead.
    pub direction: Direction,
    /// Whether groups are parts of their own, each in a frame. If not, SVG does not show them.
    pub framed: bool,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    groups: Vec<Group>,
    /// About how many bytes all this takes.
    bytes: usize,
}

impl Drawing {
    /// More nodes are not drawn as SVG.
    pub const MAX_NODES: usize = 500;
    /// More edges are not.
    pub const MAX_EDGES: usize = 2_000;

    /// A drawing without anything, from left to right.
    pub fn new(title: impl Into<String>) -> Drawing {
        Drawing {
            title: title.into(),
            description: String::new(),
            direction: Direction::Right,
            framed: false,
            nodes: Vec::new(),
            edges: Vec::new(),
            groups: Vec::new(),
            bytes: 0,
        }
    }

    /// Looks whether it still fits into a budget: to be called while it grows.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn fits(&self, budget: &mut Budget<'_>) -> Result<(), Limit> {
        budget.poll(&Progress { bytes: self.bytes as u64, ..Progress::default() })
    }

    /// Adds a node.
    pub fn node(&mut self, node: Node) -> NodeId {
        self.bytes += 2 * size_of::<Node>() + node.label.len() + node.note.len();
        self.nodes.push(node);
        NodeId::new(self.nodes.len() - 1)
    }

    /// Adds a dot and an edge from it to an initial state.
    pub fn start(&mut self, state: NodeId, label: impl Into<String>) {
        let group = self.nodes[state.index()].group;
        let point = self.node(Node { group, root: true, ..Node::new(Shape::Point, "") });
        self.edge(Edge::new(point, state).labeled(label));
    }

    /// Adds an edge between nodes of this drawing.
    pub fn edge(&mut self, edge: Edge) {
        debug_assert!(edge.from.index().max(edge.to.index()) < self.nodes.len(), "both ends are drawn");
        self.bytes += 2 * size_of::<Edge>() + edge.label.len();
        self.edges.push(edge);
    }

    /// Adds a group, which may be part of another.
    pub fn group(&mut self, name: impl Into<String>, parent: Option<GroupId>) -> GroupId {
        self.groups.push(Group { name: name.into(), parent });
        GroupId::new(self.groups.len() - 1)
    }

    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The drawing in the language of Graphviz.
    pub fn to_dot(&self) -> impl fmt::Display {
        Shown(|f: &mut fmt::Formatter<'_>| dot::write(self, f))
    }

    /// The drawing as an image that stands alone.
    ///
    /// # Errors
    /// If there is too much to be looked at.
    pub fn to_svg(&self) -> Result<String, TooLarge> {
        let (nodes, edges) = (self.nodes.len(), self.edges.len());
        if nodes > Drawing::MAX_NODES || edges > Drawing::MAX_EDGES {
            return Err(TooLarge { nodes, edges });
        }
        Ok(svg::write(self))
    }
}
