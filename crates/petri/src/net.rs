//! Place/transition nets: what a PNML file says, with nothing of XML left.

use base::Diagnostics;
use rustc_hash::FxHashMap;

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

    /// Changes the tokens of the places as it does where it is enabled; nothing if some get too many.
    pub(crate) fn apply(&self, marking: &mut [i64]) -> Option<()> {
        for (place, change) in self.changes() {
            let tokens = &mut marking[place.index()];
            *tokens = tokens.checked_add(change)?;
        }
        Some(())
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

/// A node of a net.
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
    pub(crate) fn new(places: &[Place], transitions: &[Transition]) -> Names {
        let mut names = Names::default();
        for (index, place) in places.iter().enumerate() {
            let id = PlaceId::new(index);
            names.ids.insert(place.id.clone(), Node::Place(id));
            if let Some(name) = &place.name {
                names.places.entry(name.clone()).and_modify(|known| *known = None).or_insert(Some(id));
            }
        }
        for (index, transition) in transitions.iter().enumerate() {
            let id = TransitionId::new(index);
            names.ids.insert(transition.id.clone(), Node::Transition(id));
            if let Some(name) = &transition.name {
                names.transitions.entry(name.clone()).and_modify(|known| *known = None).or_insert(Some(id));
            }
        }
        names
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

impl<T: Copy> Lookup<T> {
    fn of(known: Option<&Option<T>>) -> Lookup<T> {
        match known {
            Some(Some(node)) => Lookup::Found(*node),
            Some(None) => Lookup::Ambiguous,
            None => Lookup::Unknown,
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

    /// The node with this id.
    pub fn node(&self, id: &str) -> Option<Node> {
        self.names.by_id(id)
    }

    /// The place with this id or, if there is none, the one with this name.
    pub fn find_place(&self, text: &str) -> Lookup<PlaceId> {
        match self.names.by_id(text) {
            Some(Node::Place(place)) => Lookup::Found(place),
            _ => Lookup::of(self.names.places.get(text)),
        }
    }

    /// The transition with this id or, if there is none, the one with this name.
    pub fn find_transition(&self, text: &str) -> Lookup<TransitionId> {
        match self.names.by_id(text) {
            Some(Node::Transition(transition)) => Lookup::Found(transition),
            _ => Lookup::of(self.names.transitions.get(text)),
        }
    }

    /// The number of arcs, those of the same nodes and direction counted once.
    pub fn n_arcs(&self) -> usize {
        self.transitions.iter().map(|transition| transition.inputs.len() + transition.outputs.len()).sum()
    }
}
