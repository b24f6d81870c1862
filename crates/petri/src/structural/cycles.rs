//! Places among which tokens move freely become one place.
//!
//! # Idea
//! A transition that takes one token from *p* and gives one to *q*, and nothing else, moves it. If moves lead
//! from each of some places to each other, and none of these is observed, then a token in one of them is as
//! good as in any other. All are kept in one place *r*: who gives a token to one of the places moves it to *r*
//! afterwards; who takes one from there moves it from *r* before. The moves go; one transition that moves a
//! token from *r* around and back stays, since that can be done for ever, and wherever one of the places
//! has a token, there is no deadlock.
//!
//! # What it preserves
//! Everything. Let a run be given. Its moves change nothing observed; leave them out, and move every token to
//! *r* when it comes and from *r* when it is taken. The word stays. If from some point on there were only
//! moves, there is a token in *r*, and it can go around for ever. Where the run ends, none of the places
//! has a token, and the same transitions are enabled in both nets. Conversely, runs of the reduced net are
//! written out with the moves.
//!
//! # References
//! Rule H of Bønneland, Dyhr, Jensen, Johannsen and Srba, *Stubborn versus structural reductions for Petri nets*
//! (JLAMP 2019), for markings and two places; Thierry-Mieg, *Structural reductions revisited* (Petri Nets
//! 2020), for components. That a transition stays that goes around, and with it words and deadlocks, is
//! ours.

use automata::scc::components;
use base::{Budget, Limit};
use rustc_hash::FxHashMap;

use super::parts::PartId;
use super::work::{PlaceState, Step, Work};
use crate::sparse::Sparse;

pub(super) fn apply(work: &mut Work<'_>, budget: &mut Budget<'_>) -> Result<(), Limit> {
    work.tidy_up();
    let moves = Moves::new(work, budget)?;
    let mut is_done = vec![false; work.places.len()];
    for place in work.place_list() {
        budget.tick()?;
        if is_done[place as usize] || moves.from[place as usize].is_empty() {
            continue;
        }
        let members = moves.component(place, &mut is_done);
        if members.len() > 1 && merge(work, &moves, &members).is_some() {
            work.n_applied += 1;
        }
    }
    Ok(())
}

/// The transitions that move one token, as a graph of places.
struct Moves {
    /// Per place, where a token can be moved to, and by which transition.
    from: Vec<Vec<(u32, u32)>>,
    /// Per place, where it can be moved from.
    to: Vec<Vec<(u32, u32)>>,
    /// The component of each place.
    components: Vec<usize>,
}

impl Moves {
    fn new(work: &Work<'_>, budget: &mut Budget<'_>) -> Result<Moves, Limit> {
        let n_places = work.places.len();
        let mut moves = Moves {
            from: vec![Vec::new(); n_places],
            to: vec![Vec::new(); n_places],
            components: Vec::new(),
        };
        for index in work.step_list() {
            let Some(step) = work.get(index) else { continue };
            if let ([(from, 1)], [(to, 1)]) = (&step.inputs[..], &step.outputs[..])
                && from != to
                // From an observed place no move leads on, so it is in no component with others.
                && !work.is_observed(*from)
            {
                moves.from[*from as usize].push((*to, index));
                moves.to[*to as usize].push((*from, index));
            }
        }
        moves.components = components(&moves.from, |_, &(to, _)| Some(to as usize), budget)?.of;
        Ok(moves)
    }

    /// The places of a place's component, nearest first, found by moves.
    fn component(&self, place: u32, is_done: &mut [bool]) -> Vec<u32> {
        let mut members = vec![place];
        is_done[place as usize] = true;
        let mut next = 0;
        while let Some(&member) = members.get(next) {
            next += 1;
            for &(successor, _) in &self.from[member as usize] {
                if self.components[successor as usize] == self.components[place as usize]
                    && !std::mem::replace(&mut is_done[successor as usize], true)
                {
                    members.push(successor);
                }
            }
        }
        members
    }
}

/// How tokens get from one place to each other, or back, by shortest ways.
fn ways(
    work: &mut Work<'_>,
    graph: &[Vec<(u32, u32)>],
    members: &[u32],
    back: bool,
) -> Option<FxHashMap<u32, PartId>> {
    let mut ways: FxHashMap<u32, PartId> = FxHashMap::default();
    ways.insert(members[0], work.parts.sequence(&[])?);
    let is_member: rustc_hash::FxHashSet<u32> = members.iter().copied().collect();
    let mut open = vec![members[0]];
    let mut next = 0;
    while let Some(&place) = open.get(next) {
        next += 1;
        for &(neighbor, index) in &graph[place as usize] {
            if is_member.contains(&neighbor) && !ways.contains_key(&neighbor) {
                let (so_far, one) = (ways[&place], work.get(index)?.part);
                let order = if back { [(one, 1), (so_far, 1)] } else { [(so_far, 1), (one, 1)] };
                ways.insert(neighbor, work.parts.sequence(&order)?);
                open.push(neighbor);
            }
        }
    }
    Some(ways)
}

/// Merges the places of a component into the first; nothing if sequences or numbers get too large.
fn merge(work: &mut Work<'_>, moves: &Moves, members: &[u32]) -> Option<()> {
    let root = members[0];
    let there = ways(work, &moves.from, members, false)?;
    let back = ways(work, &moves.to, members, true)?;
    let is_member = |place: u32| there.contains_key(&place);
    let mut touched: Vec<u32> =
        members.iter().flat_map(|&place| work.neighbors(place)).map(|(index, _)| index).collect();
    touched.sort_unstable();
    touched.dedup();
    let is_move = |step: &Step| match (&step.inputs[..], &step.outputs[..]) {
        ([(from, 1)], [(to, 1)]) => is_member(*from) && is_member(*to),
        _ => false,
    };
    let mut replaced = Vec::with_capacity(touched.len());
    for &index in &touched {
        let step = work.get(index)?.clone();
        if is_move(&step) {
            continue;
        }
        let mut sequence: Vec<(PartId, u64)> = Vec::new();
        let collect = |arcs: &Sparse, ways: &FxHashMap<u32, PartId>, sequence: &mut Vec<(PartId, u64)>| {
            let mut merged: Sparse = arcs.iter().copied().filter(|(place, _)| !is_member(*place)).collect();
            let mut total = 0i64;
            for &(place, weight) in arcs.iter().filter(|(place, _)| is_member(*place)) {
                total = total.checked_add(weight)?;
                sequence.push((ways[&place], weight as u64));
            }
            if total > 0 {
                merged.push((root, total));
                merged.sort_unstable();
            }
            Some(merged)
        };
        let inputs = collect(&step.inputs, &there, &mut sequence)?;
        sequence.push((step.part, 1));
        let outputs = collect(&step.outputs, &back, &mut sequence)?;
        replaced.push(Step::new(inputs, outputs, work.parts.sequence(&sequence)?));
    }
    let around = work.parts.sequence(&[(there[&members[1]], 1), (back[&members[1]], 1)])?;
    replaced.push(Step::new(vec![(root, 1)], vec![(root, 1)], around));
    let mut gathered = Vec::new();
    let mut total = 0i64;
    for &place in members {
        total = total.checked_add(work.initial(place))?;
        gathered.push((back[&place], work.initial(place) as u64));
    }
    let gathered = work.parts.sequence(&gathered)?;
    work.prologue.extend((work.parts.length(gathered) > 0).then_some(gathered));
    work.initial[root as usize] = total;
    touched.into_iter().for_each(|index| work.remove_step(index));
    members[1..].iter().for_each(|&place| work.remove_place(place, PlaceState::Removed));
    replaced.into_iter().for_each(|step| {
        work.add(step);
    });
    Some(())
}
