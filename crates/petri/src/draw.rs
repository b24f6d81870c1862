//! Petri nets as drawings: places as circles with their tokens, transitions as rectangles. A place that a
//! transition takes as many tokens from as it puts back is connected by one arc with two heads. The units
//! of a nested-unit net are groups.

use std::collections::HashSet;

use base::text::count;
use base::{Budget, Limit};
use drawing::{Direction, Drawing, Edge, Fill, GroupId, Heads, Node, NodeId, Shape};

use crate::{Net, UnitId, Units};

impl Net {
    /// The net as a drawing, with its initial marking.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn draw(&self, budget: &mut Budget<'_>) -> Result<Drawing, Limit> {
        let name = self.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(&self.id);
        let name = if name.is_empty() { "Petri net" } else { name };
        if let Some(colors) = &self.colors {
            return colors.draw(name, budget);
        }
        let mut drawing = Drawing::new(name);
        drawing.direction = Direction::Down;
        let groups = self.units.as_ref().map_or_else(Vec::new, |units| draw_units(units, &mut drawing));
        let group = |place: usize| {
            let unit = self.units.as_ref()?.of_place.get(place).copied()??;
            groups.get(unit.index()).copied()
        };
        let mut places = Vec::with_capacity(self.places.len());
        for (index, place) in self.places.iter().enumerate() {
            let is_marked = place.initial > 0;
            let fill = if is_marked { Fill::Initial } else { Fill::Plain };
            let node = named(Shape::Place(place.initial), place.name.as_deref(), &place.id);
            places.push(drawing.node(Node { fill, root: is_marked, group: group(index), ..node }));
            drawing.fits(budget)?;
        }
        let mut n_arcs = 0;
        for transition in &self.transitions {
            n_arcs += transition.inputs.len() + transition.outputs.len();
            let node = named(Shape::Transition, transition.name.as_deref(), &transition.id);
            let node = drawing.node(node);
            let (inputs, outputs): (HashSet<_>, HashSet<_>) =
                (transition.inputs.iter().collect(), transition.outputs.iter().collect());
            let is_test = |arc| inputs.contains(arc) && outputs.contains(arc);
            for arc in &transition.inputs {
                drawing.fits(budget)?;
                let heads = if is_test(arc) { Heads::Both } else { Heads::End };
                draw_arc(&mut drawing, places[arc.0.index()], node, arc.1, heads);
            }
            for arc in transition.outputs.iter().filter(|arc| !is_test(arc)) {
                drawing.fits(budget)?;
                draw_arc(&mut drawing, node, places[arc.0.index()], arc.1, Heads::End);
            }
        }
        drawing.description = format!(
            "A Petri net with {}, {} and {}.",
            count(self.places.len() as u64, "place"),
            count(self.transitions.len() as u64, "transition"),
            count(n_arcs as u64, "arc")
        );
        Ok(drawing)
    }
}

/// A node with its name, and its id where that is another.
pub(crate) fn named(shape: Shape, name: Option<&str>, id: &str) -> Node {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn net(text: &str) -> Net {
        let text = format!(
            "<pnml xmlns='http://www.pnml.org/version-2009/grammar/pnml'><net id='n' \
             type='http://www.pnml.org/version-2009/grammar/ptnet'><page id='page'>{text}</page></net></pnml>"
        );
        crate::read(&text, base::SourceId::new(0), &mut Budget::unlimited()).expect("it is a net")
    }

    #[test]
    fn a_net_is_drawn_with_its_marking() {
        let net = net("<place id='p'><initialMarking><text>3</text></initialMarking></place>
            <place id='q'><name><text>many tokens</text></name><initialMarking><text>12</text></initialMarking></place>
            <place id='r'/><transition id='t'/>
            <arc id='a' source='p' target='t'/><arc id='b' source='t' target='p'/>
            <arc id='c' source='q' target='t'><inscription><text>2</text></inscription></arc>
            <arc id='d' source='t' target='q'/><arc id='e' source='t' target='r'/>
            <toolspecific tool='nupn' version='1.1'><structure units='2' root='u' safe='false'>
            <unit id='u'><places>p</places><subunits>v</subunits></unit>
            <unit id='v'><places>q r</places><subunits/></unit></structure></toolspecific>");
        let drawing = net.draw(&mut Budget::unlimited()).unwrap();
        let edges: Vec<(usize, usize, &str, Heads)> = drawing
            .edges()
            .iter()
            .map(|edge| (edge.from.index(), edge.to.index(), edge.label.as_str(), edge.heads))
            .collect();
        // A test arc is one edge; one that takes 2 and gives 1 is none.
        assert_eq!(
            edges,
            [
                (0, 3, "", Heads::Both),
                (1, 3, "2", Heads::End),
                (3, 1, "", Heads::End),
                (3, 2, "", Heads::End)
            ]
        );
        let dot = drawing.to_dot().to_string();
        assert!(dot.contains("n0 [shape=circle, label=\"●●●\", xlabel=\"p\""), "{dot}");
        assert!(dot.contains("n1 [shape=circle, label=\"12\", xlabel=\"many tokens\""), "{dot}");
        let order = ["cluster0 {", "n0 [", "cluster1 {", "n1 [", "n2 [", "}\n  }\n", "n3 ["];
        let places: Vec<Option<usize>> = order.iter().map(|part| dot.find(part)).collect();
        assert!(places.is_sorted() && places[0].is_some(), "{places:?} in {dot}");
        let svg = drawing.to_svg().expect("it is small");
        assert_eq!(svg.matches("class=\"token\"").count(), 3);
        assert!(svg.contains(">12</text>") && svg.contains("<title>q</title>"), "{svg}");
        assert!(svg.contains("<desc>A Petri net with 3 places, 1 transition and 5 arcs.</desc>"), "{svg}");
    }
}
