//! In which order places decide.
//!
//! Places that the same transitions touch, or that share tokens, should be near each other: then little has to be
//! remembered from one level to the next. Each of these sets has a center of gravity, and each place moves to the
//! mean of the centers of its sets, as long as that makes the sets shorter (F. Aloul, I. Markov, K. Sakallah, *FORCE: a
//! fast and easy-to-implement variable-ordering heuristic*, 2003). Two beginnings are tried: places as they were
//! written, and neighbors after each other.

use base::{Budget, Limit};

use crate::invariants::TokenSum;
use crate::net::{Net, Transition};

/// Sets of more places say nothing about who is near.
const MAX_MEMBERS: usize = 64;
/// So often all places move, at most.
const MAX_ROUNDS: usize = 60;
/// So often in a row without any gain.
const MAX_IDLE: usize = 6;

/// The places, from the first level to the last.
pub(super) fn order(net: &Net, sums: &[TokenSum], budget: &mut Budget<'_>) -> Result<Vec<u32>, Limit> {
    let mut sets: Vec<Vec<u32>> = net.transitions.iter().map(touched).collect();
    sets.extend(sums.iter().map(|sum| sum.places.iter().map(|(place, _)| *place).collect()));
    sets.retain(|set| (2..=MAX_MEMBERS).contains(&set.len()));
    sets.sort_unstable();
    sets.dedup();
    let n_places = net.places.len();
    let mut sets_of = vec![Vec::new(); n_places];
    for (number, set) in sets.iter().enumerate() {
        set.iter().for_each(|&place| sets_of[place as usize].push(number));
    }
    let written: Vec<u32> = (0..n_places as u32).collect();
    let near = neighbors(&sets, &sets_of);
    let mut best: Option<(u64, Vec<u32>)> = None;
    for start in [written, near] {
        let found = settle(start, &sets, &sets_of, budget)?;
        if best.as_ref().is_none_or(|(least, _)| found.0 < *least) {
            best = Some(found);
        }
    }
    Ok(best.map(|(_, order)| order).unwrap_or_default())
}

fn touched(transition: &Transition) -> Vec<u32> {
    let arcs = transition.inputs.iter().chain(&transition.outputs);
    let mut places: Vec<u32> = arcs.map(|(place, _)| place.index() as u32).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// Each place after one that it shares a set with, where there is one.
fn neighbors(sets: &[Vec<u32>], sets_of: &[Vec<usize>]) -> Vec<u32> {
    let mut order: Vec<u32> = Vec::with_capacity(sets_of.len());
    let mut is_met = vec![false; sets_of.len()];
    for first in 0..sets_of.len() {
        let mut open = vec![first as u32];
        while let Some(place) = open.pop() {
            if std::mem::replace(&mut is_met[place as usize], true) {
                continue;
            }
            order.push(place);
            let near = sets_of[place as usize].iter().rev().flat_map(|&set| sets[set].iter().rev());
            open.extend(near.filter(|&&other| !is_met[other as usize]));
        }
    }
    order
}

/// How long the sets are, one after the other.
fn length(order: &[u32], sets: &[Vec<u32>], level: &mut [u32]) -> u64 {
    order.iter().enumerate().for_each(|(at, &place)| level[place as usize] = at as u32);
    let span = |set: &Vec<u32>| {
        let levels = || set.iter().map(|&place| level[place as usize]);
        u64::from(levels().max().unwrap_or(0) - levels().min().unwrap_or(0))
    };
    sets.iter().map(span).sum()
}

/// Moves places until that does not help any more.
fn settle(
    start: Vec<u32>,
    sets: &[Vec<u32>],
    sets_of: &[Vec<usize>],
    budget: &mut Budget<'_>,
) -> Result<(u64, Vec<u32>), Limit> {
    let mut level = vec![0; start.len()];
    let mut best = (length(&start, sets, &mut level), start.clone());
    let (mut order, mut n_idle) = (start, 0);
    for _ in 0..MAX_ROUNDS {
        let mut centers = Vec::with_capacity(sets.len());
        for set in sets {
            budget.tick()?;
            let sum: u64 = set.iter().map(|&place| u64::from(level[place as usize])).sum();
            centers.push(sum as f64 / set.len() as f64);
        }
        let wish = |&place: &u32| {
            let of = &sets_of[place as usize];
            match of.is_empty() {
                true => f64::from(level[place as usize]),
                false => of.iter().map(|&set| centers[set]).sum::<f64>() / of.len() as f64,
            }
        };
        let mut wishes: Vec<(f64, u32)> = order.iter().map(|place| (wish(place), *place)).collect();
        // Where wishes are equal, the order stays.
        wishes.sort_by(|a, b| a.0.total_cmp(&b.0));
        order = wishes.into_iter().map(|(_, place)| place).collect();
        let found = length(&order, sets, &mut level);
        n_idle += 1;
        if found < best.0 {
            best = (found, order.clone());
            n_idle = 0;
        }
        if n_idle == MAX_IDLE {
            break;
        }
    }
    Ok(best)
}
