//! The place/transition net of a colored one: a place for each color that a place can ever hold, a transition for
//! each binding under which a transition can ever be enabled, in the order of the file, then of colors.

use std::sync::Arc;

use base::{Budget, Diagnostics};
use language::Trouble;

use super::join::{Possible, join};
use super::{Bag, ColoredNet, ColoredPlace, too_many};
use crate::net::{Group, Names, Net, Place, PlaceId, Transition, TransitionId};

/// What the places and transitions of an unfolded net stand for.
#[derive(Clone, Debug)]
pub struct Colors {
    pub(super) net: ColoredNet,
    /// Of each colored place, the first of its places; and at the end their number.
    places: Vec<u32>,
    transitions: Vec<u32>,
    /// The color of each place.
    colors: Vec<u64>,
}

/// What a place or transition takes, beside its id and arcs.
const NODE_BYTES: u64 = 150;
const ARC_BYTES: u64 = 16;

impl Colors {
    /// The places of a colored place.
    pub(crate) fn places(&self, colored: usize) -> Group<PlaceId> {
        Group::new(self.places[colored], self.places[colored + 1])
    }

    /// The transitions of a colored transition.
    pub(crate) fn transitions(&self, colored: usize) -> Group<TransitionId> {
        Group::new(self.transitions[colored], self.transitions[colored + 1])
    }

    /// How many places and transitions were written.
    pub(crate) fn n_written(&self) -> (usize, usize) {
        (self.net.places.len(), self.net.transitions.len())
    }

    pub(super) fn color(&self, place: PlaceId) -> u64 {
        self.colors[place.index()]
    }

    /// The ids and names of the places and transitions that were written.
    pub(crate) fn written_places(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.net.places.iter().map(|place| (place.id.as_str(), place.name.as_deref()))
    }

    pub(crate) fn written_transitions(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.net.transitions.iter().map(|transition| (transition.id.as_str(), transition.name.as_deref()))
    }
}

/// Unfolds a net.
pub(crate) fn unfold(
    colored: ColoredNet,
    id: String,
    name: Option<String>,
    warnings: Diagnostics,
    budget: &mut Budget<'_>,
) -> Result<Net, Trouble> {
    let Possible { mut colors, bindings, n_bindings } = join(&colored, budget)?;
    let (mut places, mut starts, mut sorted) = (Vec::new(), vec![0], Vec::new());
    for (place, colors) in colored.places.iter().zip(&mut colors) {
        let first = sorted.len();
        sorted.extend(colors.keys().copied());
        sorted[first..].sort_unstable();
        for &color in &sorted[first..] {
            budget.tick()?;
            colors.insert(color, places.len() as u32);
            let id = colored.shown_place(place, color);
            budget.hold(NODE_BYTES + id.len() as u64)?;
            let initial = crate::sparse::number_of(&place.initial, color);
            places.push(Place { id, name: None, initial });
        }
        starts.push(places.len() as u32);
    }
    let (mut transitions, mut transition_starts) = (Vec::new(), vec![0]);
    for (number, (transition, found)) in colored.transitions.iter().zip(&bindings).enumerate() {
        let n_slots = transition.slots.len();
        let mut rows: Vec<&[u32]> = match n_slots {
            0 => vec![&[]; n_bindings[number] as usize],
            n => found.chunks_exact(n).collect(),
        };
        rows.sort_unstable();
        for binding in rows {
            budget.tick()?;
            let arcs = |bags: &[(u32, Bag)], budget: &mut Budget<'_>| {
                let mut arcs: Vec<(PlaceId, i64)> = Vec::with_capacity(bags.len());
                for (place, bag) in bags {
                    let ColoredPlace { sizes, .. } = &colored.places[*place as usize];
                    for (color, count) in bag.evaluate(sizes, binding, budget)? {
                        match colors[*place as usize].get(&color) {
                            Some(&place) => arcs.push((PlaceId::new(place as usize), count)),
                            None => return Ok(None), // It needs a color that is not possible.
                        }
                    }
                }
                merge(arcs).map(Some)
            };
            let (Some(inputs), Some(outputs)) =
                (arcs(&transition.inputs, budget)?, arcs(&transition.outputs, budget)?)
            else {
                continue;
            };
            let id = colored.shown_transition(transition, binding);
            budget.hold(NODE_BYTES + id.len() as u64 + ARC_BYTES * (inputs.len() + outputs.len()) as u64)?;
            transitions.push(Transition { id, name: None, inputs, outputs });
        }
        transition_starts.push(transitions.len() as u32);
    }
    let (colors, places_of) = (sorted, starts);
    let colors = Colors { net: colored, places: places_of, transitions: transition_starts, colors };
    let names = Names::new(colors.written_places(), colors.written_transitions());
    let colors = Some(Arc::new(colors));
    Ok(Net { id, name, places, transitions, units: None, colors, warnings, names })
}

/// Sorts arcs by place, and adds up those of the same place.
fn merge(mut arcs: Vec<(PlaceId, i64)>) -> Result<Vec<(PlaceId, i64)>, Trouble> {
    arcs.sort_unstable();
    let mut merged: Vec<(PlaceId, i64)> = Vec::with_capacity(arcs.len());
    for (place, count) in arcs {
        match merged.last_mut() {
            Some(last) if last.0 == place => last.1 = last.1.checked_add(count).ok_or_else(too_many)?,
            _ => merged.push((place, count)),
        }
    }
    Ok(merged)
}
