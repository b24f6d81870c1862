//! Petri nets as drawings: places as circles with their tokens, transitions as rectangles. A place that a
//! transition takes as many tokens from as it puts back is connected by one arc with two heads. The units
//! of a nested-unit net are groups.

use petri::{Net, UnitId, Units};

use super::{Direction, Drawing, Edge, Fill, GroupId, Heads, Node, NodeId, Shape};

/// Draws a net with its initial marking.
pub fn draw(net: &Net) -> Drawing {
    let name = net.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(&net.id);
    let mut drawing = Drawing::new(if name.is_empty() { "Petri net" } else { name });
    drawing.direction = Direction::Down;
    let groups = net.units.as_ref().map_or_else(Vec::new, |units| draw_units(units, &mut drawing));
    let group = |place: usize| {
        let unit = net.units.as_ref()?.of_place.get(place).copied()??;
        groups.get(unit.index()).copied()
    };
    let mut places = Vec::with_capacity(net.places.len());
    for (index, place) in net.places.iter().enumerate() {
        let is_marked = place.initial > 0;
        let fill = if is_marked { Fill::Initial } else { Fill::Plain };
        let node = named(Shape::Place(place.initial), place.name.as_deref(), &place.id);
        places.push(drawing.node(Node { fill, root: is_marked, group: group(index), ..node }));
    }
    let mut n_arcs = 0;
    for transition in &net.transitions {
        n_arcs += transition.inputs.len() + transition.outputs.len();
        let node = named(Shape::Transition, transition.name.as_deref(), &transition.id);
        let node = drawing.node(node);
        let is_test = |arc| transition.inputs.contains(arc) && transition.outputs.contains(arc);
        for arc in &transition.inputs {
            let heads = if is_test(arc) { Heads::Both } else { Heads::End };
            draw_arc(&mut drawing, places[arc.0.index()], node, arc.1, heads);
        }
        for arc in transition.outputs.iter().filter(|arc| !is_test(arc)) {
            draw_arc(&mut drawing, node, places[arc.0.index()], arc.1, Heads::End);
        }
    }
    drawing.description = format!(
        "A Petri net with {}, {} and {}.",
        crate::count(net.places.len() as u64, "place"),
        crate::count(net.transitions.len() as u64, "transition"),
        crate::count(n_arcs as u64, "arc")
    );
    drawing
}

/// A node with its name, and its id where that is another.
fn named(shape: Shape, name: Option<&str>, id: &str) -> Node {
    let name = name.filter(|name| !name.trim().is_empty()).unwrap_or(id);
    let note = if name == id { String::new() } else { id.to_owned() };
    Node { note, ..Node::new(shape, name) }
}

fn draw_arc(drawing: &mut Drawing, from: NodeId, to: NodeId, weight: i64, heads: Heads) {
    let label = if weight > 1 { weight.to_string() } else { String::new() };
    drawing.edge(Edge { heads, ..Edge::new(from, to).labeled(label) });
}

/// Units as groups; returns that of each unit.
fn draw_units(units: &Units, drawing: &mut Drawing) -> Vec<GroupId> {
    let n_units = units.units.len();
    let mut is_part = vec![false; n_units];
    for part in units.units.iter().flat_map(|unit| &unit.subunits) {
        is_part[part.index()] = true;
    }
    let mut groups: Vec<Option<GroupId>> = vec![None; n_units];
    // Should units be parts of each other, each is drawn once.
    let roots = (0..n_units).filter(|&unit| !is_part[unit]).chain(0..n_units);
    for root in roots {
        let mut stack = vec![(UnitId::new(root), None)];
        while let Some((unit, parent)) = stack.pop() {
            if groups[unit.index()].is_none() {
                let drawn = &units.units[unit.index()];
                let group = drawing.group(&*drawn.id, parent);
                groups[unit.index()] = Some(group);
                stack.extend(drawn.subunits.iter().rev().map(|&part| (part, Some(group))));
            }
        }
    }
    groups.into_iter().flatten().collect()
}
