//! Drawings in the language of Graphviz.

use std::fmt::{self, Write as _};

use base::text::escape_dot;

use crate::figure::MAX_DOTS;
use crate::{Direction, Drawing, Fill, GroupId, Heads, Node, Shape};

pub(super) fn write(drawing: &Drawing, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "digraph \"{}\" {{", escape_dot(&drawing.title))?;
    if drawing.direction == Direction::Right {
        f.write_str("  rankdir=LR;\n")?;
    }
    f.write_str("  node [fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n")?;
    write_groups(drawing, f)?;
    for (index, node) in drawing.nodes.iter().enumerate() {
        if node.group.is_none() {
            write_node(index, node, f)?;
        }
    }
    for edge in &drawing.edges {
        let mut attributes = Vec::new();
        if !edge.label.is_empty() {
            attributes.push(format!("label=\"{}\"", escape_dot(&edge.label)));
        }
        if edge.heads == Heads::Both {
            attributes.push("dir=both".to_owned());
        }
        let attributes =
            if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(", ")) };
        writeln!(f, "  n{} -> n{}{attributes};", edge.from.index(), edge.to.index())?;
    }
    f.write_str("}\n")
}

/// Groups as clusters, each with its nodes and with the groups in it.
fn write_groups(drawing: &Drawing, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    enum Task {
        Open(usize),
        Close,
    }
    let mut parts: Vec<Vec<usize>> = vec![Vec::new(); drawing.groups.len()];
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); drawing.groups.len()];
    let mut tasks = Vec::new();
    for (index, group) in drawing.groups.iter().enumerate().rev() {
        match group.parent {
            // Parents come first, so nothing is part of itself.
            Some(parent) if parent.index() < index => parts[parent.index()].push(index),
            _ => tasks.push(Task::Open(index)),
        }
    }
    for (index, node) in drawing.nodes.iter().enumerate() {
        if let Some(members) = node.group.and_then(|group| members.get_mut(GroupId::index(group))) {
            members.push(index);
        }
    }
    while let Some(task) = tasks.pop() {
        match task {
            Task::Open(group) => {
                let name = escape_dot(&drawing.groups[group].name);
                writeln!(f, "  subgraph cluster{group} {{\n  label=\"{name}\"; color=gray;")?;
                members[group].iter().try_for_each(|&node| write_node(node, &drawing.nodes[node], f))?;
                tasks.push(Task::Close);
                tasks.extend(parts[group].iter().map(|&part| Task::Open(part)));
            }
            Task::Close => f.write_str("  }\n")?,
        }
    }
    Ok(())
}

fn write_node(index: usize, node: &Node, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let label = escape_dot(&node.label);
    let mut attributes = match node.shape {
        Shape::Place(tokens) => {
            let tokens = match tokens {
                0 => String::new(),
                1..=MAX_DOTS => "●".repeat(tokens as usize),
                _ => tokens.to_string(),
            };
            format!("shape=circle, label=\"{tokens}\", xlabel=\"{label}\"")
        }
        Shape::Transition => format!("shape=box, height=0.3, label=\"{label}\""),
        Shape::State => format!("shape=box, label=\"{label}\""),
        Shape::Accepting => format!("shape=box, peripheries=2, label=\"{label}\""),
        Shape::Point => "shape=point".to_owned(),
    };
    let mut styles = Vec::new();
    if matches!(node.shape, Shape::State | Shape::Accepting) {
        styles.push("rounded");
    }
    if node.dashed {
        styles.push("dashed");
    }
    let color = match node.fill {
        Fill::Plain => "",
        Fill::Initial => ", fillcolor=\"#dbeafe\"",
        Fill::Final => ", fillcolor=\"#dcfce7\"",
    };
    if !color.is_empty() {
        styles.push("filled");
    }
    // Writing to a string cannot fail.
    if !styles.is_empty() {
        _ = write!(attributes, ", style=\"{}\"{color}", styles.join(","));
    }
    if !node.note.is_empty() {
        _ = write!(attributes, ", tooltip=\"{}\"", escape_dot(&node.note));
    }
    writeln!(f, "  n{index} [{attributes}];")
}
