//! A colored net, put together from what was read.

use base::{Budget, Diagnostics, Span};
use language::Trouble;

use super::declare::{Declarations, Sort};
use super::term::Terms;
use super::tree::Tree;
use super::{Atom, Bag, BaseId, ColoredNet, ColoredPlace, ColoredTransition, Guard, Part};
use crate::errors::{Fail, fail};
use crate::net::{Place, PlaceId, Transition, TransitionId};

/// What a file says about colors, by the numbers of places, transitions and arcs.
#[derive(Default)]
pub(crate) struct Labels {
    pub(crate) declarations: Vec<Tree>,
    pub(crate) types: Vec<(usize, Tree)>,
    pub(crate) markings: Vec<(usize, Tree)>,
    pub(crate) conditions: Vec<(usize, Tree)>,
    pub(crate) inscriptions: Vec<(usize, Tree)>,
}

/// An arc whose ends are known: its number, whether it leads to the transition, and where it is written.
pub(crate) struct Wire {
    pub(crate) arc: usize,
    pub(crate) place: PlaceId,
    pub(crate) transition: TransitionId,
    pub(crate) is_input: bool,
    /// The number that is written as in a place/transition net.
    pub(crate) weight: i64,
    pub(crate) span: Span,
}

/// The net; its places and transitions have the numbers that they were read with.
pub(crate) fn build(
    labels: &Labels,
    places: Vec<Place>,
    transitions: Vec<Transition>,
    wires: &[Wire],
    end: Span,
    budget: &mut Budget<'_>,
) -> Result<ColoredNet, Trouble> {
    let mut errors = Diagnostics::new();
    let mut declared = Declarations::new(&labels.declarations).map_err(wrong)?;
    let mut colored = Vec::with_capacity(places.len());
    let (mut types, mut markings) = (by_number(&labels.types), by_number(&labels.markings));
    for (number, place) in places.into_iter().enumerate() {
        budget.tick()?;
        match colored_place(
            &mut declared,
            place,
            types.next_if(number),
            markings.next_if(number),
            end,
            budget,
        ) {
            Ok(place) => colored.push(place),
            Err(Trouble::Wrong(its)) => its.iter().for_each(|error| errors.push(error.clone())),
            Err(limit) => return Err(limit),
        }
    }
    if errors.has_errors() {
        return Err(errors.into());
    }
    let mut inscriptions: Vec<Option<&Tree>> =
        vec![None; wires.iter().map(|wire| wire.arc + 1).max().unwrap_or(0)];
    for (arc, tree) in &labels.inscriptions {
        if let Some(inscription) = inscriptions.get_mut(*arc) {
            *inscription = Some(tree);
        }
    }
    let mut conditions = by_number(&labels.conditions);
    let mut of_transition: Vec<Vec<&Wire>> = vec![Vec::new(); transitions.len()];
    wires.iter().for_each(|wire| of_transition[wire.transition.index()].push(wire));
    let mut done = Vec::with_capacity(transitions.len());
    for (number, (transition, wires)) in transitions.into_iter().zip(of_transition).enumerate() {
        budget.tick()?;
        let condition = conditions.next_if(number);
        match colored_transition(&mut declared, &colored, transition, condition, &wires, &inscriptions) {
            Ok(transition) => done.push(transition),
            Err(error) => errors.push(*error),
        }
    }
    if errors.has_errors() {
        return Err(errors.into());
    }
    Ok(ColoredNet { bases: declared.bases, places: colored, transitions: done })
}

#[expect(clippy::boxed_local, reason = "errors on their way are in boxes")]
fn wrong(error: Fail) -> Trouble {
    (*error).into()
}

fn colored_place<'t>(
    declared: &mut Declarations<'t>,
    place: Place,
    sort: Option<&'t Tree>,
    marking: Option<&'t Tree>,
    end: Span,
    budget: &mut Budget<'_>,
) -> Result<ColoredPlace, Trouble> {
    let Some(sort) = sort else {
        let message =
            format!("the place `{}` of this colored net has no `type`", crate::errors::shown(&place.id));
        return Err(wrong(fail("missing-type", message, end, "")));
    };
    let of = sort.only().and_then(|tree| declared.sort(tree)).map_err(wrong)?;
    let Sort { parts, subset: None } = of else {
        return Err(wrong(sort.wrong("is an element of a partition, which is no sort of places")));
    };
    let sizes: Vec<u32> = parts.iter().map(|&part| declared.size(part)).collect();
    let initial = match marking {
        Some(tree) => {
            let mut terms = Terms::new(declared);
            let bag = tree.only().and_then(|term| terms.bag_of(term, &parts)).map_err(wrong)?;
            if !terms.slots.is_empty() {
                return Err(wrong(tree.wrong("has variables, and is no inscription of an arc")));
            }
            bag.evaluate(&sizes, &[], budget)?
        }
        None if place.initial > 0 => match plain(&parts, &sizes, place.initial) {
            Some(bag) => bag.evaluate(&sizes, &[], budget)?,
            None => return Err(wrong(sort.wrong("has several colors, and the marking does not say which"))),
        },
        None => Vec::new(),
    };
    budget.hold(size_of_val(&initial[..]) as u64)?;
    Ok(ColoredPlace { id: place.id, name: place.name, parts, sizes, initial })
}

/// So many tokens of a sort that has one color.
fn plain(parts: &[BaseId], sizes: &[u32], tokens: i64) -> Option<Bag> {
    let is_plain = sizes.iter().all(|size| *size == 1);
    is_plain.then(|| Bag::Sum(vec![(tokens, vec![Part::One(Atom::Constant(0)); parts.len()])]))
}

fn colored_transition<'t>(
    declared: &mut Declarations<'t>,
    places: &[ColoredPlace],
    transition: Transition,
    condition: Option<&'t Tree>,
    wires: &[&Wire],
    inscriptions: &[Option<&'t Tree>],
) -> Result<ColoredTransition, Fail> {
    let mut terms = Terms::new(declared);
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for wire in wires {
        let place = &places[wire.place.index()];
        let bag = match inscriptions[wire.arc] {
            Some(tree) => terms.bag_of(tree.only()?, &place.parts)?,
            None => plain(&place.parts, &place.sizes, wire.weight).ok_or_else(|| {
                fail("missing-inscription", "this arc does not say which colors it moves", wire.span, "")
            })?,
        };
        let arcs = if wire.is_input { &mut inputs } else { &mut outputs };
        arcs.push((wire.place.index() as u32, bag));
    }
    let guard = condition.map(|tree| terms.guard(tree.only()?)).transpose()?;
    let Terms { slots, mut guards, .. } = terms;
    guard.into_iter().for_each(|guard| flatten(guard, &mut guards));
    Ok(ColoredTransition { id: transition.id, name: transition.name, slots, guards, inputs, outputs })
}

/// The parts of a conjunction.
fn flatten(guard: Guard, conjuncts: &mut Vec<Guard>) {
    match guard {
        Guard::And(guards) => guards.into_iter().for_each(|guard| flatten(guard, conjuncts)),
        guard => conjuncts.push(guard),
    }
}

/// Labels in the order of what they belong to.
fn by_number(labels: &[(usize, Tree)]) -> ByNumber<'_> {
    ByNumber { labels, next: 0 }
}

struct ByNumber<'t> {
    labels: &'t [(usize, Tree)],
    next: usize,
}

impl<'t> ByNumber<'t> {
    /// The label of the next place or transition, if it has one.
    fn next_if(&mut self, number: usize) -> Option<&'t Tree> {
        let found = self.labels.get(self.next).filter(|(its, _)| *its == number);
        // The first counts, should there be several.
        while self.labels.get(self.next).is_some_and(|(its, _)| *its == number) {
            self.next += 1;
        }
        found.map(|(_, tree)| tree)
    }
}
