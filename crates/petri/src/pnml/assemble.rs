//! The end of reading: ids are looked up, and arcs and units become parts of a net.

use base::{Budget, Diagnostic, Diagnostics, Span};
use language::Trouble;
use rustc_hash::FxHashMap;

use super::{Arc, RawUnits, Reader, Role, Symbol};
use crate::color::{self, Wire};
use crate::errors::{shown, suggest};
use crate::net::{Names, Net, Node, PlaceId, TransitionId, Unit, UnitId, Units};

/// Puts a net together from what was read.
pub(super) fn net(mut reader: Reader, budget: &mut Budget<'_>) -> Result<Net, Trouble> {
    let nodes = nodes(&mut reader);
    let arcs = std::mem::take(&mut reader.arcs);
    let mut wires = Vec::new();
    for (number, arc) in arcs.iter().enumerate() {
        budget.tick()?;
        match wire(&reader, &nodes, number, arc) {
            Err(error) => reader.errors.push(*error),
            Ok(wire) if reader.is_colored => wires.push(wire),
            Ok(wire) => add_arc(&mut reader, &wire),
        }
        if reader.errors.n_errors() > Diagnostics::MAX_KEPT {
            break; // Each may take a search for a similar name.
        }
    }
    if reader.is_colored && !reader.errors.has_errors() {
        let (places, transitions) = (reader.places, reader.transitions);
        let colored = color::build(&reader.labels, places, transitions, &wires, reader.end, budget)?;
        let id = reader.net.map(|(id, _)| id).unwrap_or_default();
        return color::unfold(colored, id, reader.net_name, reader.warnings, budget);
    }
    for transition in &mut reader.transitions {
        budget.tick()?;
        for (list, what) in [(&mut transition.inputs, "takes"), (&mut transition.outputs, "gives")] {
            if let Err(place) = merge(list) {
                let (transition, place) = (shown(&transition.id), shown(&reader.places[place.index()].id));
                let message = format!("the transition `{transition}` {what} too many tokens of `{place}`");
                reader.errors.push(Diagnostic::error("too-large", message));
            }
        }
    }
    if reader.errors.has_errors() {
        return Err(reader.errors.into());
    }
    let names = Names::of(&reader.places, &reader.transitions);
    let units = units(&mut reader, &names);
    Ok(Net {
        id: reader.net.map(|(id, _)| id).unwrap_or_default(),
        name: reader.net_name,
        places: reader.places,
        transitions: reader.transitions,
        units,
        colors: None,
        warnings: reader.warnings,
        names,
    })
}

/// What each id stands for in the end, references followed.
fn nodes(reader: &mut Reader) -> Vec<Option<Node>> {
    let mut nodes: Vec<Option<Node>> = Vec::with_capacity(reader.roles.len());
    nodes.extend(reader.roles.iter().map(|role| match role {
        Some((Role::Place(place), _)) => Some(Node::Place(*place)),
        Some((Role::Transition(transition), _)) => Some(Node::Transition(*transition)),
        _ => None,
    }));
    // References that were looked into; those that lead nowhere are told once.
    let mut visited = vec![false; nodes.len()];
    for start in 0..nodes.len() {
        let mut path: Vec<usize> = Vec::new();
        let mut at = start;
        while let (None, Some((Role::PlaceReference(next) | Role::TransitionReference(next), _)), false) =
            (nodes[at], reader.roles[at], visited[at])
        {
            visited[at] = true;
            path.push(at);
            at = next as usize;
        }
        let found = nodes[at];
        for symbol in path {
            let Some((role, span)) = reader.roles[symbol] else { continue };
            match (role, found) {
                (Role::PlaceReference(_), Some(Node::Place(_)))
                | (Role::TransitionReference(_), Some(Node::Transition(_))) => nodes[symbol] = found,
                _ => reader.errors.push(bad_reference(role, span)),
            }
        }
    }
    nodes
}

fn bad_reference(role: Role, span: Span) -> Diagnostic {
    let kind = if matches!(role, Role::PlaceReference(_)) { "place" } else { "transition" };
    Diagnostic::error("bad-reference", format!("this reference leads to no {kind}")).at(span, "")
}

/// An arc with the nodes that it joins.
fn wire(reader: &Reader, nodes: &[Option<Node>], number: usize, arc: &Arc) -> Result<Wire, Box<Diagnostic>> {
    let node = |symbol: Symbol| nodes[symbol as usize].ok_or_else(|| nowhere(reader, symbol, arc.span));
    let wire = |place: PlaceId, transition: TransitionId, is_input: bool| {
        let (weight, span) = (arc.weight, arc.span);
        Ok(Wire { arc: number, place, transition, is_input, weight, span })
    };
    match (node(arc.source)?, node(arc.target)?) {
        (Node::Place(place), Node::Transition(transition)) => wire(place, transition, true),
        (Node::Transition(transition), Node::Place(place)) => wire(place, transition, false),
        (Node::Place(_), Node::Place(_)) => Err(bad_arc("places", arc.span)),
        (Node::Transition(_), Node::Transition(_)) => Err(bad_arc("transitions", arc.span)),
    }
}

fn add_arc(reader: &mut Reader, wire: &Wire) {
    if wire.weight == 0 {
        let message = "an arc of weight 0 does nothing";
        reader.warnings.push(Diagnostic::warning("zero-weight", message).at(wire.span, ""));
        return;
    }
    let transition = &mut reader.transitions[wire.transition.index()];
    let arcs = if wire.is_input { &mut transition.inputs } else { &mut transition.outputs };
    arcs.push((wire.place, wire.weight));
}

fn bad_arc(kind: &str, span: Span) -> Box<Diagnostic> {
    let message = format!("this arc joins two {kind}; an arc joins a place and a transition");
    Box::new(Diagnostic::error("bad-arc", message).at(span, ""))
}

/// The message about an arc to an id that nobody has, or that is a bad reference.
fn nowhere(reader: &Reader, symbol: Symbol, span: Span) -> Box<Diagnostic> {
    // Only for messages; ids of the net's own nodes come first, in the order of the file.
    let text = reader.symbols.iter().find(|(_, its)| **its == symbol).map_or("", |(text, _)| text.as_str());
    let message = format!("this arc leads to `{}`, which is no place or transition of the net", shown(text));
    let error = Diagnostic::error("unknown-node", message).at(span, "");
    let places = reader.places.iter().map(|place| place.id.as_str());
    let transitions = reader.transitions.iter().map(|transition| transition.id.as_str());
    Box::new(suggest(error, text, places.chain(transitions)))
}

/// Sorts arcs by place, and adds up those of the same place; `Err` names the place where the sum is
/// too large.
fn merge(arcs: &mut Vec<(PlaceId, i64)>) -> Result<(), PlaceId> {
    arcs.sort_unstable();
    let mut merged: Vec<(PlaceId, i64)> = Vec::with_capacity(arcs.len());
    for &(place, weight) in arcs.iter() {
        match merged.last_mut() {
            Some(last) if last.0 == place => last.1 = last.1.checked_add(weight).ok_or(place)?,
            _ => merged.push((place, weight)),
        }
    }
    *arcs = merged;
    Ok(())
}

/// The units, unless what the file says about them cannot be: then there is a warning and no units.
fn units(reader: &mut Reader, names: &Names) -> Option<Units> {
    let raw = std::mem::take(&mut reader.units);
    if raw.units.is_empty() {
        return None;
    }
    let units = looked_up(&raw, names, reader.places.len()).and_then(|units| {
        let marked = |unit: &Unit| unit.places.iter().map(|place| reader.places[place.index()].initial).max();
        match units.units.iter().find(|unit| units.safe && marked(unit) > Some(1)) {
            Some(unit) => Err(format!("the unit `{}` is said to be safe and is not", shown(&unit.id))),
            None => Ok(units),
        }
    });
    units
        .map_err(|problem| {
            let warning =
                Diagnostic::warning("bad-units", format!("the nested units are left out: {problem}"));
            reader.warnings.push(match raw.span {
                Some(span) => warning.at(span, ""),
                None => warning,
            });
        })
        .ok()
}

fn looked_up(raw: &RawUnits, names: &Names, n_places: usize) -> Result<Units, String> {
    let mut ids: FxHashMap<&str, UnitId> = FxHashMap::default();
    for (index, unit) in raw.units.iter().enumerate() {
        if ids.insert(&unit.id, UnitId::new(index)).is_some() {
            return Err(format!("there are two units `{}`", shown(&unit.id)));
        }
    }
    let mut of_place = vec![None; n_places];
    let mut units = Vec::with_capacity(raw.units.len());
    for (index, unit) in raw.units.iter().enumerate() {
        let mut places = Vec::with_capacity(unit.places.len());
        for id in &unit.places {
            let Some(Node::Place(place)) = names.by_id(id) else {
                return Err(format!("there is no place `{}`", shown(id)));
            };
            if of_place[place.index()].replace(UnitId::new(index)).is_some() {
                return Err(format!("the place `{}` is listed twice", shown(id)));
            }
            places.push(place);
        }
        let subunit = |id: &String| {
            ids.get(id.as_str()).copied().ok_or_else(|| format!("there is no unit `{}`", shown(id)))
        };
        let subunits = unit.subunits.iter().map(subunit).collect::<Result<_, _>>()?;
        units.push(Unit { id: unit.id.clone(), places, subunits });
    }
    Ok(Units { units, safe: raw.safe, of_place })
}
