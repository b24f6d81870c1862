//! A reduced net, and the way back: what its places, markings and runs are in the original.

use base::{Budget, Diagnostics, Limit};
use model::{Expr, ExprId, Exprs};
use rustc_hash::{FxHashMap, FxHashSet};

use super::parts::{PartId, Parts};
use super::rule::Rule;
use super::work::{PlaceState, Work};
use crate::bounds::Bounds;
use crate::lower::variable;
use crate::net::{Names, Net, Place, PlaceId, Transition, TransitionId, Unit, Units};
use crate::predicates;

/// Where a place of the original net is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is this place of the reduced net, and has the same tokens there.
    Kept(PlaceId),
    /// Its tokens are counted with those of others, by this place of the reduced net.
    Joined(PlaceId),
    /// It was removed; it has this many tokens after the prologue and ever after.
    Constant(i64),
    /// It was removed.
    Removed,
}

/// A reduced net, and how its runs are runs of the original.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The net. What was kept has its id and name; a transition that stands for several is called by
    /// their ids, as in `t1.t2`.
    pub net: Net,
    /// How often each rule was applied, those that were not left out.
    pub applied: Vec<(Rule, usize)>,
    /// Why it was not reduced further, if the budget was spent. It is right as it is.
    pub stop: Option<Limit>,
    fates: Vec<Fate>,
    /// The most tokens that each place can hold, where that is known.
    most: Vec<Option<i64>>,
    /// What each transition stands for.
    transitions: Vec<PartId>,
    parts: Parts,
    /// What happens first, and the marking of the original after it.
    prologue: Vec<TransitionId>,
    first: Vec<i64>,
    /// Transitions that a run may leave enabled in the original when it ends, in the order in which they were left.
    leftovers: Vec<PartId>,
}

/// So many steps may be needed after a reduced run has ended, or until a cycle is closed.
const MAX_COMPLETED: usize = 10_000_000;
/// A cycle is gone around so often.
const MAX_ROUNDS: usize = 10_000;
/// Ids of transitions that stand for more than this many are abbreviated.
const MAX_NAMED: u64 = 4;

impl Reduced {
    pub(super) fn new(
        net: &Net,
        work: &Work<'_>,
        applied: Vec<(Rule, usize)>,
        stop: Option<Limit>,
    ) -> Reduced {
        let (mut places, mut most) = (Vec::new(), Vec::new());
        let mut numbers: Vec<Option<PlaceId>> = vec![None; net.places.len()];
        for (index, place) in net.places.iter().enumerate() {
            if work.places[index] == PlaceState::Here {
                numbers[index] = Some(PlaceId::new(places.len()));
                places.push(Place { initial: work.initial[index], ..place.clone() });
                most.push(work.bounds[index]);
            }
        }
        let fate = |(index, number): (usize, &Option<PlaceId>)| match (work.joined_with(index as u32), number)
        {
            (Some(root), _) => numbers[root as usize].map_or(Fate::Removed, Fate::Joined),
            (None, Some(number)) => Fate::Kept(*number),
            (None, None) => match work.places[index] {
                PlaceState::Constant(tokens) => Fate::Constant(tokens),
                PlaceState::Here | PlaceState::Removed => Fate::Removed,
            },
        };
        let fates: Vec<Fate> = numbers.iter().enumerate().map(fate).collect();
        let units = net.units.as_ref().map(|units| kept_units(units, &fates, places.len()));
        let mut reduced = Reduced {
            net: Net {
                id: net.id.clone(),
                name: net.name.clone(),
                places,
                transitions: Vec::new(),
                units,
                colors: None,
                warnings: Diagnostics::new(),
                names: Names::default(),
            },
            applied,
            stop,
            fates,
            most,
            transitions: Vec::new(),
            parts: work.parts.clone(),
            prologue: Vec::new(),
            first: net.places.iter().map(|place| place.initial).collect(),
            leftovers: work.leftovers.clone(),
        };
        for &part in &work.prologue {
            // If it could not be fired, no run would stand up to replay.
            reduced.parts.fire(part, net, &mut reduced.first, &mut reduced.prologue);
        }
        reduced.add_transitions(net, work);
        reduced.net.names = Names::of(&reduced.net.places, &reduced.net.transitions);
        reduced
    }

    fn add_transitions(&mut self, net: &Net, work: &Work<'_>) {
        let mut taken: FxHashSet<String> = net
            .places
            .iter()
            .map(|place| &place.id)
            .chain(net.transitions.iter().map(|it| &it.id))
            .cloned()
            .collect();
        for index in work.step_list() {
            let Some(step) = work.get(index) else { continue };
            let arcs = |arcs: &[(u32, i64)]| -> Vec<(PlaceId, i64)> {
                // Who has an arc is there.
                let kept = |&(place, weight): &(u32, i64)| match self.fates[place as usize] {
                    Fate::Kept(place) | Fate::Joined(place) => Some((place, weight)),
                    Fate::Constant(_) | Fate::Removed => None,
                };
                arcs.iter().filter_map(kept).collect()
            };
            let (inputs, outputs) = (arcs(&step.inputs), arcs(&step.outputs));
            let (id, name) = match net.transitions.get(step.part as usize) {
                Some(original) => (original.id.clone(), original.name.clone()),
                None => {
                    let mut id = self.joined_ids(net, step.part);
                    while !taken.insert(id.clone()) {
                        id.push('\'');
                    }
                    (id, None)
                }
            };
            self.transitions.push(step.part);
            self.net.transitions.push(Transition { id, name, inputs, outputs });
        }
    }

    fn joined_ids(&self, net: &Net, part: PartId) -> String {
        let id = |transition: TransitionId| net.transition(transition).id.as_str();
        let length = self.parts.length(part);
        if length > MAX_NAMED
            && let Some((first, last)) = self.parts.ends(part)
        {
            return format!("{}.({}).{}", id(first), length - 2, id(last));
        }
        let mut sequence = Vec::new();
        self.parts.write_out(part, &mut sequence);
        sequence.into_iter().map(id).collect::<Vec<_>>().join(".")
    }

    /// Where a place of the original net is.
    pub fn fate(&self, place: PlaceId) -> Fate {
        self.fates[place.index()]
    }

    /// Bounds to lower the net with: [`Bounds::guess`], but what is known about the original is not
    /// looked for again.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn bounds(&self, budget: &mut Budget<'_>) -> Result<Bounds, Limit> {
        Bounds::guess_knowing(&self.net, self.most.clone(), budget)
    }

    /// Whether anything was changed.
    pub fn is_changed(&self) -> bool {
        !self.applied.is_empty()
    }

    /// The steps of the original net before the first of the reduced one. They change nothing that is
    /// observed.
    pub fn prologue(&self) -> &[TransitionId] {
        &self.prologue
    }

    /// What a run of the reduced net, or a part of one, is in the original, from a marking of the original, which becomes that after it:
    /// each transition is replaced by the transitions that it stands for. A whole run begins with the
    /// [prologue](Reduced::prologue). Nothing if they cannot be fired, which is a mistake of ours.
    pub fn expand(
        &self,
        original: &Net,
        marking: &mut [i64],
        run: &[TransitionId],
    ) -> Option<Vec<TransitionId>> {
        let mut expanded = Vec::with_capacity(run.len());
        let mut fire = |it: &TransitionId| {
            self.parts.fire(self.transitions[it.index()], original, marking, &mut expanded)
        };
        run.iter().all(&mut fire).then_some(expanded)
    }

    /// A whole run of the reduced net as a run of the original, with the prologue.
    pub fn path(&self, original: &Net, run: &[TransitionId]) -> Option<Vec<TransitionId>> {
        Some(self.path_and_marking(original, run)?.0)
    }

    fn path_and_marking(
        &self,
        original: &Net,
        run: &[TransitionId],
    ) -> Option<(Vec<TransitionId>, Vec<i64>)> {
        let mut marking = self.first.clone();
        let mut path = self.prologue.clone();
        path.extend(self.expand(original, &mut marking, run)?);
        Some((path, marking))
    }

    /// A run of the reduced net that ends in a deadlock as one of the original that does. Nothing if that
    /// takes too many steps.
    pub fn path_to_deadlock(&self, original: &Net, run: &[TransitionId]) -> Option<Vec<TransitionId>> {
        let (mut path, marking) = self.path_and_marking(original, run)?;
        path.extend(self.complete(original, &marking)?);
        Some(path)
    }

    /// A run of the reduced net that goes around a cycle in the end, as one of the original, and where the cycle begins there. Where
    /// tokens of several places are counted together, it takes several rounds until all are where they were. Nothing if that takes
    /// too many steps.
    pub fn lasso(
        &self,
        original: &Net,
        prefix: &[TransitionId],
        cycle: &[TransitionId],
    ) -> Option<(Vec<TransitionId>, usize)> {
        let (mut path, mut marking) = self.path_and_marking(original, prefix)?;
        let mut begun: FxHashMap<Vec<i64>, usize> = FxHashMap::default();
        loop {
            if let Some(&start) = begun.get(&marking) {
                return Some((path, start));
            }
            // Without cycles that go on elsewhere, the first round is the only one.
            begun.insert(marking.clone(), path.len());
            path.extend(self.expand(original, &mut marking, cycle)?);
            if begun.len() > MAX_ROUNDS || path.len() > MAX_COMPLETED {
                return None;
            }
        }
    }

    /// What the original net does after a run that is a deadlock of the reduced one: transitions that
    /// change nothing that is observed may still be enabled there, and come to an end. `marking` is that
    /// of the original net after the [expanded](Reduced::expand) run. Nothing if that takes too many steps.
    pub fn complete(&self, original: &Net, marking: &[i64]) -> Option<Vec<TransitionId>> {
        let mut marking = marking.to_vec();
        let mut steps = Vec::new();
        // The last rule is undone first. What it left does not enable what later rules left.
        for &part in self.leftovers.iter().rev() {
            while self.parts.fire(part, original, &mut marking, &mut steps) {
                if steps.len() > MAX_COMPLETED {
                    return None;
                }
            }
        }
        Some(steps)
    }

    /// The transition that each transition is, of a net of which nothing was merged.
    pub(crate) fn unmerged(&self) -> impl Iterator<Item = TransitionId> {
        self.transitions.iter().filter_map(|&part| self.parts.ends(part)).map(|(first, _)| first)
    }

    /// The same expression about the reduced net: places by their new numbers, and `deadlock` of the
    /// original is that of the reduced net. Nothing if it reads a place that was removed.
    pub fn carry(&self, original: &Net, exprs: &mut Exprs, expr: ExprId, to: &mut Exprs) -> Option<ExprId> {
        let deadlock = predicates::deadlock(original, exprs);
        let mut carried: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        if !matches!(exprs.get(deadlock), Expr::Int(_)) {
            carried.insert(deadlock, predicates::deadlock(&self.net, to));
        }
        let mut open = vec![expr];
        while let Some(&expr) = open.last() {
            if carried.contains_key(&expr) {
                open.pop();
                continue;
            }
            let node = exprs.get(expr);
            let before = open.len();
            open.extend(node.operands().filter(|operand| !carried.contains_key(operand)));
            if open.len() > before {
                continue;
            }
            let new = match node {
                Expr::Int(value) => to.int(value),
                Expr::Var(var) => match self.fate(PlaceId::new(var.index())) {
                    Fate::Kept(place) => to.var(variable(place)),
                    Fate::Joined(_) | Fate::Constant(_) | Fate::Removed => return None,
                },
                Expr::Unary(op, x) => to.unary(op, carried[&x]),
                Expr::Binary(op, x, y) => to.binary(op, carried[&x], carried[&y]),
                Expr::Cond(condition, x, y) => to.cond(carried[&condition], carried[&x], carried[&y]),
                Expr::Element { .. } => return None,
            };
            carried.insert(expr, new);
        }
        carried.get(&expr).copied()
    }
}

/// The units with the places that are left. What is said about their tokens is still so; not of places that have those of others, too.
fn kept_units(units: &Units, fates: &[Fate], n_places: usize) -> Units {
    let place = |place: &PlaceId| match fates[place.index()] {
        Fate::Kept(place) => Some(place),
        _ => None,
    };
    let unit = |unit: &Unit| Unit { places: unit.places.iter().filter_map(place).collect(), ..unit.clone() };
    let mut of_place = vec![None; n_places];
    for (unit, fate) in units.of_place.iter().zip(fates) {
        if let Fate::Kept(place) = fate {
            of_place[place.index()] = *unit;
        }
    }
    Units { units: units.units.iter().map(unit).collect(), safe: units.safe, of_place }
}
