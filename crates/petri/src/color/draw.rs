//! A colored net as a drawing: places with their sorts' tokens, arcs with their multisets, guards below
//! transitions.

use base::text::count;
use base::{Budget, Limit};
use drawing::{Direction, Drawing, Edge, Fill, Heads, Node, Shape};

use super::{ColoredPlace, Colors};
use crate::draw::named;

/// Texts in the picture are cut after so many letters.
const MAX_TEXT: usize = 60;

impl Colors {
    /// The net as it was written, with its initial marking.
    pub(crate) fn draw(&self, title: &str, budget: &mut Budget<'_>) -> Result<Drawing, Limit> {
        let net = &self.net;
        let mut drawing = Drawing::new(title);
        drawing.direction = Direction::Down;
        let mut places = Vec::with_capacity(net.places.len());
        for place in &net.places {
            let tokens = place.initial.iter().fold(0_i64, |sum, (_, count)| sum.saturating_add(*count));
            let fill = if tokens > 0 { Fill::Initial } else { Fill::Plain };
            let mut node = named(Shape::Place(tokens), place.name.as_deref(), &place.id);
            if !net.is_plain(place) && tokens > 0 {
                node.note = cut(self.multiset(place, &place.initial));
            }
            places.push(drawing.node(Node { fill, root: tokens > 0, ..node }));
            drawing.fits(budget)?;
        }
        let mut n_arcs = 0;
        for transition in &net.transitions {
            n_arcs += transition.inputs.len() + transition.outputs.len();
            let mut node = named(Shape::Transition, transition.name.as_deref(), &transition.id);
            if !transition.guards.is_empty() {
                node.note = cut(format!("[{}]", net.shown_guards(transition)));
            }
            let node = drawing.node(node);
            let label = |(place, bag): &(u32, super::Bag)| {
                let place: &ColoredPlace = &net.places[*place as usize];
                let text = net.shown_bag(transition, place, bag);
                if net.is_plain(place) && text == "1" { String::new() } else { cut(text) }
            };
            let mut outputs: Vec<(u32, String)> =
                transition.outputs.iter().map(|arc| (arc.0, label(arc))).collect();
            for arc in &transition.inputs {
                drawing.fits(budget)?;
                let input = (arc.0, label(arc));
                let back = outputs.iter().position(|output| *output == input);
                let heads = if back.is_some() { Heads::Both } else { Heads::End };
                back.map(|at| outputs.remove(at));
                let edge = Edge::new(places[arc.0 as usize], node).labeled(input.1);
                drawing.edge(Edge { heads, ..edge });
            }
            for (place, text) in outputs {
                drawing.fits(budget)?;
                drawing.edge(Edge::new(node, places[place as usize]).labeled(text));
            }
        }
        drawing.description = format!(
            "A colored Petri net with {}, {} and {}.",
            count(net.places.len() as u64, "place"),
            count(net.transitions.len() as u64, "transition"),
            count(n_arcs as u64, "arc")
        );
        Ok(drawing)
    }
}

fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
