//! Place/transition nets: what a PNML file says, with nothing of XML left.

use std::marker::PhantomData;
use std::sync::Arc;

use base::Diagnostics;
use rustc_hash::FxHashMap;

use crate::color::Colors;
use crate::sparse::pairs;

base::define_id! {
    /// A place of a net.
    pub struct PlaceId;
}
base::define_id! {
    /// A transition of a net.
    pub struct TransitionId;
}
base::define_id! {
    /// A unit of a nested-unit net.
    pub struct UnitId;
}

/// Something that holds tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its `id`, which no other node of the net has.
    pub id: String,
    /// Its `name`, if it has one; others may have the same.
    pub name: Option<String>,
    /// How many tokens it holds at first.
    pub initial: i64,
}

/// Something that moves tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Its `id`, which no other node of the net has.
    pub id: String,
    /// Its `name`, if it has one; others may have the same.
    pub name: Option<String>,
    /// The places it takes tokens from and how many (at least 1), sorted, each place once.
    pub inputs: Vec<(PlaceId, i64)>,
    /// The places it puts tokens into and how many (at least 1), sorted, each place once.
    pub outputs: Vec<(PlaceId, i64)>,
}

impl Transition {
    /// The places whose number of tokens it changes, and by how much, sorted.
    pub fn changes(&self) -> impl Iterator<Item = (PlaceId, i64)> {
        let changes = pairs(&self.inputs, &self.outputs).map(|(place, taken, given)| (place, given - taken));
        changes.filter(|(_, change)| *change != 0)
    }

    /// Fires, if it is enabled and no place gets too many tokens. Says whether it did; if not, nothing was changed.
    pub(crate) fn fire(&self, marking: &mut [i64]) -> bool {
        let is_enabled = self.inputs.iter().all(|&(place, weight)| marking[place.index()] >= weight);
        let is_possible =
            |(place, change): (PlaceId, i64)| marking[place.index()].checked_add(change).is_some();
        let fires = is_enabled && self.changes().all(is_possible);
        if fires {
            self.changes().for_each(|(place, change)| marking[place.index()] += change);
        }
        fires
    }

    /// Takes back what [`fire`](Transition::fire) did.
    pub(crate) fn take_back(&self, marking: &mut [i64]) {
        self.changes().for_each(|(place, change)| marking[place.index()] -= change);
    }
}

/// A unit of a nested-unit net: a part of a system that was composed of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its `id`.
    pub id: String,
    /// The places that belong to it and to none of its subunits.
    pub places: Vec<PlaceId>,
    /// Its parts.
    pub subunits: Vec<UnitId>,
}

/// What the file says about how the net was composed, after Garavel, *Nested-unit Petri nets*
/// (JLAMP 2019). No place is in two units; some may be in none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Units {
    /// The units, in the order of the file.
    pub units: Vec<Unit>,
    /// Whether the file says that no unit ever has two tokens; then no place of a unit has.
    pub safe: bool,
    /// The unit of each place.
    pub of_place: Vec<Option<UnitId>>,
}

/// The nodes that a written one stands for, which have consecutive numbers: itself, or in a colored net one for
/// each color or binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group<T> {
    start: u32,
    end: u32,
    of: PhantomData<T>,
}

/// Ids of nodes.
pub trait NodeId: Copy {
    /// The node of this number.
    fn at(number: usize) -> Self;
}

impl NodeId for PlaceId {
    fn at(number: usize) -> PlaceId {
        PlaceId::new(number)
    }
}

impl NodeId for TransitionId {
    fn at(number: usize) -> TransitionId {
        TransitionId::new(number)
    }
}

impl<T: NodeId> Group<T> {
    /// The nodes from one number on, up to another.
    pub(crate) fn new(start: u32, end: u32) -> Group<T> {
        Group { start, end, of: PhantomData }
    }

    /// One node.
    fn one(number: usize) -> Group<T> {
        Group::new(number as u32, number as u32 + 1)
    }

    /// The nodes.
    pub fn iter(self) -> impl Iterator<Item = T> {
        (self.start..self.end).map(|number| T::at(number as usize))
    }

    /// How many there are.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// A node of a net, as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A place.
    Place(PlaceId),
    /// A transition.
    Transition(TransitionId),
}

/// A place/transition net with its initial marking.
#[derive(Clone, Debug)]
pub struct Net {
    /// Its `id`; may be empty.
    pub id: String,
    /// Its `name`, if it has one.
    pub name: Option<String>,
    /// The places, in the order of the file.
    pub places: Vec<Place>,
    /// The transitions, in the order of the file.
    pub transitions: Vec<Transition>,
    /// How it was composed, if the file says so.
    pub units: Option<Units>,
    /// What its nodes stand for, if it was unfolded from a colored net.
    pub colors: Option<Arc<Colors>>,
    /// What is probably not meant.
    pub warnings: Diagnostics,
    /// What the nodes are called.
    pub(crate) names: Names,
}

/// The nodes by what they are called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    ids: FxHashMap<String, Node>,
    /// By name, where it is not also somebody's id of that kind; nothing if several have it.
    places: FxHashMap<String, Option<PlaceId>>,
    transitions: FxHashMap<String, Option<TransitionId>>,
}

impl Names {
    /// The names of nodes, from their ids and names.
    pub(crate) fn new<'n>(
        places: impl Iterator<Item = (&'n str, Option<&'n str>)>,
        transitions: impl Iterator<Item = (&'n str, Option<&'n str>)>,
    ) -> Names {
        let mut names = Names::default();
        for (index, (id, name)) in places.enumerate() {
            let place = PlaceId::new(index);
            names.ids.insert(id.to_owned(), Node::Place(place));
            if let Some(name) = name {
                names.places.entry(name.to_owned()).and_modify(|known| *known = None).or_insert(Some(place));
            }
        }
        for (index, (id, name)) in transitions.enumerate() {
            let transition = TransitionId::new(index);
            names.ids.insert(id.to_owned(), Node::Transition(transition));
            if let Some(name) = name {
                let known = names.transitions.entry(name.to_owned());
                known.and_modify(|known| *known = None).or_insert(Some(transition));
            }
        }
        names
    }

    /// Those of a net without colors.
    pub(crate) fn of(places: &[Place], transitions: &[Transition]) -> Names {
        let places = places.iter().map(|place| (place.id.as_str(), place.name.as_deref()));
        Names::new(places, transitions.iter().map(|its| (its.id.as_str(), its.name.as_deref())))
    }

    /// The node with this id.
    pub(crate) fn by_id(&self, id: &str) -> Option<Node> {
        self.ids.get(id).copied()
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup<T> {
    /// This node, by its id or by a name that no other node of its kind has.
    Found(T),
    /// Several nodes of the kind have this name.
    Ambiguous,
    /// No node of the kind is called so.
    Unknown,
}

impl<T> Lookup<T> {
    fn of(known: Option<&Option<T>>) -> Lookup<&T> {
        match known {
            Some(Some(node)) => Lookup::Found(node),
            Some(None) => Lookup::Ambiguous,
            None => Lookup::Unknown,
        }
    }

    fn map<U>(self, function: impl FnOnce(T) -> U) -> Lookup<U> {
        match self {
            Lookup::Found(node) => Lookup::Found(function(node)),
            Lookup::Ambiguous => Lookup::Ambiguous,
            Lookup::Unknown => Lookup::Unknown,
        }
    }
}

impl Net {
    /// One place.
    pub fn place(&self, place: PlaceId) -> &Place {
        &self.places[place.index()]
    }

    /// One transition.
    pub fn transition(&self, transition: TransitionId) -> &Transition {
        &self.transitions[transition.index()]
    }

    /// The written node with this id.
    pub fn node(&self, id: &str) -> Option<Node> {
        self.names.by_id(id)
    }

    /// What a written place stands for: the places whose tokens it holds.
    fn places_of(&self, written: PlaceId) -> Group<PlaceId> {
        match &self.colors {
            Some(colors) => colors.places(written.index()),
            None => Group::one(written.index()),
        }
    }

    /// What a written transition stands for: it is enabled if one of these is.
    fn transitions_of(&self, written: TransitionId) -> Group<TransitionId> {
        match &self.colors {
            Some(colors) => colors.transitions(written.index()),
            None => Group::one(written.index()),
        }
    }

    /// The written places, each as the places that it stands for.
    pub fn written_places(&self) -> impl Iterator<Item = Group<PlaceId>> {
        let n_written = self.colors.as_ref().map_or(self.places.len(), |colors| colors.n_written().0);
        (0..n_written).map(|place| self.places_of(PlaceId::new(place)))
    }

    /// The written transitions, each as the transitions that it stands for.
    pub fn written_transitions(&self) -> impl Iterator<Item = Group<TransitionId>> {
        let n_written = self.colors.as_ref().map_or(self.transitions.len(), |colors| colors.n_written().1);
        (0..n_written).map(|transition| self.transitions_of(TransitionId::new(transition)))
    }

    /// The place that has this id.
    pub(crate) fn place_by_id(&self, id: &str) -> Option<Group<PlaceId>> {
        match self.names.by_id(id) {
            Some(Node::Place(place)) => Some(self.places_of(place)),
            _ => None,
        }
    }

    /// The transition that has this id.
    pub(crate) fn transition_by_id(&self, id: &str) -> Option<Group<TransitionId>> {
        match self.names.by_id(id) {
            Some(Node::Transition(transition)) => Some(self.transitions_of(transition)),
            _ => None,
        }
    }

    /// The place with this id or, if there is none, the one with this name; in a colored net also one color of a
    /// place, `place(color)`.
    pub fn find_place(&self, text: &str) -> Lookup<Group<PlaceId>> {
        if let Some(place) = self.place_by_id(text) {
            return Lookup::Found(place);
        }
        let found = Lookup::of(self.names.places.get(text)).map(|place| self.places_of(*place));
        if found == Lookup::Unknown && self.colors.is_some() {
            let at = self.places.iter().position(|place| place.id == text);
            return at.map_or(Lookup::Unknown, |at| Lookup::Found(Group::one(at)));
        }
        found
    }

    /// The transition with this id or, if there is none, the one with this name; in a colored net also one binding of a
    /// transition, `transition(x=color)`.
    pub fn find_transition(&self, text: &str) -> Lookup<Group<TransitionId>> {
        if let Some(transition) = self.transition_by_id(text) {
            return Lookup::Found(transition);
        }
        let found = Lookup::of(self.names.transitions.get(text)).map(|its| self.transitions_of(*its));
        if found == Lookup::Unknown && self.colors.is_some() {
            let at = self.transitions.iter().position(|transition| transition.id == text);
            return at.map_or(Lookup::Unknown, |at| Lookup::Found(Group::one(at)));
        }
        found
    }

    /// The ids and names of the places as they were written.
    pub(crate) fn place_names(&self) -> Vec<(&str, Option<&str>)> {
        match &self.colors {
            Some(colors) => colors.written_places().collect(),
            None => self.places.iter().map(|place| (place.id.as_str(), place.name.as_deref())).collect(),
        }
    }

    /// The ids and names of the transitions as they were written.
    pub(crate) fn transition_names(&self) -> Vec<(&str, Option<&str>)> {
        match &self.colors {
            Some(colors) => colors.written_transitions().collect(),
            None => self.transitions.iter().map(|its| (its.id.as_str(), its.name.as_deref())).collect(),
        }
    }

    /// The number of arcs, those of the same nodes and direction counted once.
    pub fn n_arcs(&self) -> usize {
        self.transitions.iter().map(|transition| transition.inputs.len() + transition.outputs.len()).sum()
    }
}
