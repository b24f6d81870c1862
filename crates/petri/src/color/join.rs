//! The colors that places can ever hold, and the bindings under which transitions can ever be enabled, counts of
//! tokens left aside: a fixpoint.
//!
//! A color is possible if it is there at first, or if a possible binding gives it; a binding is possible if its
//! guard is true and all colors that it takes are possible. That is evaluated like Datalog, semi-naively: every
//! new color is the trigger of a join with what was there before (`plan`), so that every binding is found exactly
//! once, and no product of all variables is ever looked at. Of two needs of one binding that have the same newest
//! color, the last is the trigger.
//!
//! What an arc takes of *all* colors, or under a difference, is not joined but taken for possible; `unfold` leaves
//! bindings out that need an impossible color. So the fixpoint may be larger than necessary, never smaller.

use base::{Budget, Limit};
use language::Trouble;
use rustc_hash::FxHashMap;

use super::plan::{Index, Match, Need, Plan, Step, plans};
use super::{ColoredNet, number, parts};

/// What can ever be.
pub(super) struct Possible {
    /// The colors of each place.
    pub(super) colors: Vec<FxHashMap<u64, u32>>,
    /// The bindings of each transition, one after the other.
    pub(super) bindings: Vec<Vec<u32>>,
    /// How many there are of each, which matters where there are no slots.
    pub(super) n_bindings: Vec<u32>,
}

/// Colors of a place that were triggers, by some of their parts.
struct Lookup {
    index: Index,
    colors: FxHashMap<u64, Vec<u64>>,
}

struct Join<'n> {
    net: &'n ColoredNet,
    needs: Vec<Vec<Need>>,
    plans: Vec<Vec<Plan>>,
    /// Per place, which needs of which transitions it may serve.
    triggers: Vec<Vec<(u32, u32)>>,
    lookups: Vec<Vec<Lookup>>,
    /// Per place, its colors; those that were triggers have a 1.
    colors: Vec<FxHashMap<u64, u32>>,
    queue: Vec<(u32, u64)>,
}

/// What a color takes, with its share of the tables, while these grow.
const COLOR_BYTES: u64 = 80;

pub(super) fn join(net: &ColoredNet, budget: &mut Budget<'_>) -> Result<Possible, Trouble> {
    let mut join = Join::new(net);
    let mut found = Possible {
        colors: Vec::new(),
        bindings: vec![Vec::new(); net.transitions.len()],
        n_bindings: vec![0; net.transitions.len()],
    };
    for (place, colored) in net.places.iter().enumerate() {
        for &(color, _) in &colored.initial {
            join.add(place as u32, color, budget)?;
        }
    }
    for transition in 0..net.transitions.len() {
        if join.needs[transition].is_empty() {
            join.fire(transition, 0, None, &mut found, budget)?;
        }
    }
    let mut next = 0;
    while let Some(&(place, color)) = join.queue.get(next) {
        next += 1;
        join.arrive(place, color, budget)?;
        for at in 0..join.triggers[place as usize].len() {
            let (transition, plan) = join.triggers[place as usize][at];
            join.fire(transition as usize, plan as usize, Some(color), &mut found, budget)?;
        }
    }
    found.colors = join.colors;
    Ok(found)
}

impl<'n> Join<'n> {
    fn new(net: &'n ColoredNet) -> Join<'n> {
        let n_places = net.places.len();
        let mut triggers = vec![Vec::new(); n_places];
        let mut lookups: Vec<Vec<Lookup>> = (0..n_places).map(|_| Vec::new()).collect();
        let (mut needs, mut all) = (Vec::new(), Vec::new());
        for (number, transition) in net.transitions.iter().enumerate() {
            let (its, plans) = plans(transition);
            for (at, plan) in plans.iter().enumerate() {
                if let Some((need, _)) = plan.trigger {
                    triggers[its[need].place as usize].push((number as u32, at as u32));
                }
                for step in &plan.steps {
                    if let Step::Look { need, index, .. } = step {
                        let of_place = &mut lookups[its[*need].place as usize];
                        if !of_place.iter().any(|known| known.index == *index) {
                            of_place.push(Lookup { index: index.clone(), colors: FxHashMap::default() });
                        }
                    }
                }
            }
            needs.push(its);
            all.push(plans);
        }
        let colors = vec![FxHashMap::default(); n_places];
        Join { net, needs, plans: all, triggers, lookups, colors, queue: Vec::new() }
    }

    /// A color becomes possible.
    fn add(&mut self, place: u32, color: u64, budget: &mut Budget<'_>) -> Result<(), Limit> {
        if let std::collections::hash_map::Entry::Vacant(entry) = self.colors[place as usize].entry(color) {
            budget.hold(COLOR_BYTES * (1 + self.lookups[place as usize].len() as u64))?;
            entry.insert(0);
            self.queue.push((place, color));
        }
        Ok(())
    }

    /// A possible color has its turn: from now on it can be looked up.
    fn arrive(&mut self, place: u32, color: u64, budget: &mut Budget<'_>) -> Result<(), Limit> {
        budget.tick()?;
        self.colors[place as usize].insert(color, 1);
        let sizes = &self.net.places[place as usize].sizes;
        let mut values = Vec::new();
        parts(color, sizes, &mut values);
        for lookup in &mut self.lookups[place as usize] {
            let key = lookup
                .index
                .known
                .iter()
                .fold(0, |key, &part| key * u64::from(sizes[part]) + u64::from(values[part]));
            lookup.colors.entry(key).or_default().push(color);
        }
        Ok(())
    }

    /// Finds the bindings that a color makes possible, and what they give.
    fn fire(
        &mut self,
        transition: usize,
        plan: usize,
        color: Option<u64>,
        found: &mut Possible,
        budget: &mut Budget<'_>,
    ) -> Result<(), Trouble> {
        let colored = &self.net.transitions[transition];
        let n_slots = colored.slots.len();
        let (from, before) = (found.bindings[transition].len(), found.n_bindings[transition]);
        let plan = &self.plans[transition][plan];
        let mut row = Row {
            join: self,
            transition,
            plan,
            trigger: plan.trigger.as_ref().map(|(need, _)| *need).zip(color),
            binding: vec![0; n_slots],
            values: Vec::new(),
            found: &mut found.bindings[transition],
            n_found: &mut found.n_bindings[transition],
        };
        if let (Some((need, matches)), Some(color)) = (&plan.trigger, color)
            && !row.matches(*need, color, matches)
        {
            return Ok(());
        }
        row.run(0, budget)?;
        for at in 0..(found.n_bindings[transition] - before) as usize {
            budget.tick()?;
            let binding = found.bindings[transition][from + at * n_slots..from + (at + 1) * n_slots].to_vec();
            for (place, bag) in &colored.outputs {
                let sizes = &self.net.places[*place as usize].sizes;
                for (color, _) in bag.evaluate(sizes, &binding, budget)? {
                    self.add(*place, color, budget)?;
                }
            }
        }
        Ok(())
    }
}

/// A binding that is being put together.
struct Row<'j, 'n> {
    join: &'j Join<'n>,
    transition: usize,
    plan: &'j Plan,
    /// The need that the newest color is for, and that color.
    trigger: Option<(usize, u64)>,
    binding: Vec<u32>,
    values: Vec<u32>,
    found: &'j mut Vec<u32>,
    n_found: &'j mut u32,
}

impl Row<'_, '_> {
    /// Goes on from a step. Only steps that give a slot its value branch, so that the depth is at most the number of
    /// slots.
    fn run(&mut self, mut at: usize, budget: &mut Budget<'_>) -> Result<(), Limit> {
        let (join, plan) = (self.join, self.plan);
        while let Some(step) = plan.steps.get(at) {
            at += 1;
            match step {
                Step::Test(guard) => {
                    if !join.net.transitions[self.transition].guards[*guard].holds(&self.binding) {
                        return Ok(());
                    }
                }
                Step::Solve(unknown, known) => {
                    if let Some((slot, value)) = unknown.solved(known.value(&self.binding)) {
                        self.binding[slot as usize] = value;
                    }
                }
                Step::Probe(need) => {
                    let Need { place, atoms } = &join.needs[self.transition][*need];
                    self.values.clear();
                    self.values.extend(atoms.iter().map(|atom| atom.value(&self.binding)));
                    let color = number(&self.values, &join.net.places[*place as usize].sizes);
                    let is_there = join.colors[*place as usize].get(&color) == Some(&1);
                    if !is_there || self.is_taken(*need, color) {
                        return Ok(());
                    }
                }
                Step::Look { need, index, rest } => {
                    let Need { place, atoms } = &join.needs[self.transition][*need];
                    let sizes = &join.net.places[*place as usize].sizes;
                    let key = index.known.iter().fold(0, |key, &part| {
                        key * u64::from(sizes[part]) + u64::from(atoms[part].value(&self.binding))
                    });
                    let lookups = &join.lookups[*place as usize];
                    let lookup = lookups.iter().find(|lookup| lookup.index == *index);
                    let colors = lookup.and_then(|lookup| lookup.colors.get(&key));
                    for &color in colors.into_iter().flatten() {
                        budget.tick()?;
                        if !self.is_taken(*need, color) && self.matches(*need, color, rest) {
                            self.run(at, budget)?;
                        }
                    }
                    return Ok(());
                }
                Step::Each(slot) => {
                    for value in 0..join.net.transitions[self.transition].slots[*slot as usize].size {
                        budget.tick()?;
                        self.binding[*slot as usize] = value;
                        self.run(at, budget)?;
                    }
                    return Ok(());
                }
            }
        }
        budget.hold(8 + 4 * self.binding.len() as u64)?;
        self.found.extend_from_slice(&self.binding);
        *self.n_found += 1;
        Ok(())
    }

    /// Whether a binding with this color is found from another trigger.
    fn is_taken(&self, need: usize, color: u64) -> bool {
        let needs = &self.join.needs[self.transition];
        self.trigger.is_some_and(|(trigger, newest)| {
            need > trigger && color == newest && needs[need].place == needs[trigger].place
        })
    }

    /// Gives slots the values that a color says, if it fits.
    fn matches(&mut self, need: usize, color: u64, matches: &[Match]) -> bool {
        let Need { place, atoms } = &self.join.needs[self.transition][need];
        parts(color, &self.join.net.places[*place as usize].sizes, &mut self.values);
        matches.iter().all(|one| match *one {
            Match::Check(part) => atoms[part].value(&self.binding) == self.values[part],
            Match::Solve(part) => {
                if let Some((slot, value)) = atoms[part].solved(self.values[part]) {
                    self.binding[slot as usize] = value;
                }
                true
            }
        })
    }
}
