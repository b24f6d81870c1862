//! Certificates that no marking satisfies some inequalities, found in floating point, checked in exact numbers.
//!
//! # Idea
//! Let each row say `a·m ≥ b`. If there are factors `z ≥ 0` of the rows and weights `w` of the places with
//! `w ≥ Σ z·a` place by place, such that no transition increases `w·m`, then in every reachable marking
//! `w·m₀ ≥ w·m ≥ Σ z·a·m`; so if `w·m₀ < Σ z·b`, no reachable marking satisfies all rows. By Farkas' lemma there are
//! such numbers whenever the state equation `m = m₀ + C·x` has no solution with `x ≥ 0`, `m ≥ 0` and these rows
//! (T. Murata, *Petri nets: properties, analysis and applications*, 1989). To look for them is a linear program
//! ([`simplex`](super::simplex)); what it finds is scaled, rounded to integers, and checked here.
//!
//! A row may also be a *trap*: a set of places such that whoever takes a token from it puts one back. Once it is
//! marked it stays so, `Σ m ≥ 1`. That it is one is checked as well.

use std::collections::BTreeMap;

use crate::net::Transition;

/// An inequality: the weighted sum of tokens is at least so much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) weights: BTreeMap<u32, i128>,
    pub(super) least: i128,
    /// Whether it is said of all reachable markings, since the places are a marked trap, and not asked about.
    pub(super) is_trap: bool,
}

/// Numbers that show that no reachable marking satisfies all of some rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Certificate {
    /// The factor of each row.
    pub(super) factors: Vec<i128>,
    /// What is added to the weight of each place, besides what the rows add up to.
    pub(super) surplus: Vec<(u32, i128)>,
}

/// The part of a net that matters: the first marking, and the transitions that may fire.
pub(super) struct Moves<'n> {
    pub(super) initial: &'n [i64],
    pub(super) transitions: &'n [Transition],
}

impl Certificate {
    /// Whether it shows that no reachable marking satisfies all rows. Whatever cannot be computed shows nothing.
    pub(super) fn refutes(&self, rows: &[Row], moves: &Moves<'_>) -> bool {
        let traps = rows.iter().zip(&self.factors).filter(|(row, factor)| row.is_trap && **factor != 0);
        self.refutation(rows, moves).is_some_and(|(initial, needed)| initial < needed)
            && traps.into_iter().all(|(row, _)| row.is_marked_trap(moves))
    }

    /// What it says, for people who want to check it.
    pub(super) fn words<'n>(
        &self,
        rows: &[Row],
        moves: &Moves<'_>,
        name: impl Fn(u32) -> &'n str + Copy,
    ) -> String {
        let mut weights: BTreeMap<u32, i128> = self.surplus.iter().copied().collect();
        for (row, factor) in rows.iter().zip(&self.factors) {
            row.weights.iter().for_each(|(place, its)| *weights.entry(*place).or_default() += its * factor);
        }
        let used = rows.iter().zip(&self.factors).filter(|(_, factor)| **factor != 0);
        let (mut asked, mut traps) = (Vec::new(), Vec::new());
        for (row, _) in used {
            let text = format!("{} >= {}", sum_in_words(&row.weights, name), row.least);
            if row.is_trap { traps.push(text) } else { asked.push(text) }
        }
        let (initial, needed) = self.refutation(rows, moves).unwrap_or_default();
        let always = match traps.is_empty() {
            true => String::new(),
            false => format!(" (always, since these are marked traps: {})", traps.join(", ")),
        };
        let sum = sum_in_words(&weights, name);
        let asked = asked.join(" and ");
        format!(
            "not {asked}{always}: {sum} is {initial} at first and never grows, and would be at least {needed}"
        )
    }

    /// A number that the sum of the only row never exceeds.
    pub(super) fn bound(&self, row: &Row, moves: &Moves<'_>) -> Option<i128> {
        let factor = *self.factors.first().filter(|factor| **factor > 0)?;
        let (initial, _) = self.refutation(std::slice::from_ref(row), moves)?;
        Some(initial.div_euclid(factor))
    }

    /// What the weighted sum of tokens is at first, so that it is never more; and what the rows require it to be.
    /// Nothing if a number is wrong.
    fn refutation(&self, rows: &[Row], moves: &Moves<'_>) -> Option<(i128, i128)> {
        let is_negative = |number: &i128| *number < 0;
        if self.factors.len() != rows.len()
            || self.factors.iter().any(is_negative)
            || self.surplus.iter().any(|(_, number)| is_negative(number))
        {
            return None;
        }
        let mut weights: BTreeMap<u32, i128> = BTreeMap::new();
        let mut needed = 0_i128;
        let mut add = |place: u32, number: i128| {
            let weight = weights.entry(place).or_default();
            *weight = weight.checked_add(number)?;
            Some(())
        };
        for (row, factor) in rows.iter().zip(&self.factors) {
            for (&place, weight) in &row.weights {
                add(place, weight.checked_mul(*factor)?)?;
            }
            needed = needed.checked_add(row.least.checked_mul(*factor)?)?;
        }
        for &(place, number) in &self.surplus {
            add(place, number)?;
        }
        let weight = |place: usize| weights.get(&(place as u32)).copied().unwrap_or(0);
        for transition in moves.transitions {
            let change = transition.changes().try_fold(0_i128, |sum, (place, change)| {
                sum.checked_add(weight(place.index()).checked_mul(change.into())?)
            })?;
            if change > 0 {
                return None;
            }
        }
        let initial = weights.iter().try_fold(0_i128, |sum, (&place, weight)| {
            sum.checked_add(weight.checked_mul((*moves.initial.get(place as usize)?).into())?)
        })?;
        Some((initial, needed))
    }

    /// A certificate near some floating-point numbers, if one is found.
    pub(super) fn near(
        factors: &[f64],
        surplus: &[f64],
        rows: &[Row],
        moves: &Moves<'_>,
    ) -> Option<Certificate> {
        scales(factors, surplus).find_map(|scale| {
            let certificate = Certificate::rounded(factors, surplus, scale)?;
            certificate.refutes(rows, moves).then_some(certificate)
        })
    }

    fn rounded(factors: &[f64], surplus: &[f64], scale: f64) -> Option<Certificate> {
        const MAX: f64 = 1e15;
        let round = |number: f64| {
            let rounded = (number * scale).round();
            (rounded.abs() < MAX).then_some(rounded as i128)
        };
        let factors = factors.iter().map(|&number| round(number)).collect::<Option<Vec<i128>>>()?;
        let mut places = Vec::new();
        for (place, &number) in surplus.iter().enumerate() {
            let number = round(number)?;
            if number != 0 {
                places.push((place as u32, number));
            }
        }
        Some(Certificate { factors, surplus: places })
    }
}

/// A weighted sum of tokens.
fn sum_in_words<'n>(weights: &BTreeMap<u32, i128>, name: impl Fn(u32) -> &'n str) -> String {
    let mut text = String::new();
    for (&place, &weight) in weights.iter().filter(|(_, weight)| **weight != 0) {
        let sign = match (text.is_empty(), weight < 0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        text.push_str(sign);
        if weight.unsigned_abs() != 1 {
            text.push_str(&format!("{} ", weight.unsigned_abs()));
        }
        text.push_str(name(place));
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

/// Numbers by which some floating-point numbers, which are all in the same proportion, may become integers: first multiples of
/// the smallest number, then multiples of fractions.
pub(crate) fn scales(factors: &[f64], surplus: &[f64]) -> impl Iterator<Item = f64> {
    let all = || factors.iter().chain(surplus).copied();
    let least = all().filter(|number| *number > 1e-5).fold(f64::INFINITY, f64::min);
    // Small denominators are likely; where none fits, those of continued fractions may.
    let small = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 18, 20, 24, 30, 36, 48, 60, 120];
    let scaled = small.into_iter().map(move |scale| f64::from(scale) / least);
    let of = if factors.is_empty() { surplus } else { factors };
    let greatest = of.iter().copied().fold(0.0, f64::max);
    let common = common_denominator(all().map(|number| number / greatest));
    let fractions = common.map(|common| common / greatest);
    scaled.chain(fractions).filter(move |_| least.is_finite())
}

/// A number that makes integers of all these fractions, approximately, if there is a small one.
fn common_denominator(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    const MAX: u64 = 1_000_000;
    let mut common = 1_u64;
    for number in numbers {
        let number = number * common as f64;
        if !(0.0..1e12).contains(&number) {
            return None;
        }
        let is_integer = |number: f64| (number - number.round()).abs() < 1e-5;
        // The denominators of the convergents of the continued fraction, each larger than the one before.
        let (mut left, mut before, mut denominator) = (number, 0_u64, 1_u64);
        while !is_integer(number * denominator as f64) {
            let rest = left.fract();
            if rest < 1e-9 {
                break;
            }
            left = 1.0 / rest;
            let next = (left.floor() as u64).checked_mul(denominator)?.checked_add(before)?;
            (before, denominator) = (denominator, next);
            if denominator.checked_mul(common)? > MAX {
                return None;
            }
        }
        common = common.checked_mul(denominator).filter(|common| *common <= MAX)?;
    }
    Some(common as f64)
}

impl Row {
    /// Whether its places are a trap that is marked at first, and it says that they stay marked.
    fn is_marked_trap(&self, moves: &Moves<'_>) -> bool {
        let is_in = |place: usize| self.weights.contains_key(&(place as u32));
        let is_plain = self.least <= 1 && self.weights.values().all(|weight| *weight >= 1);
        let is_marked = self.weights.keys().any(|&place| moves.initial.get(place as usize) > Some(&0));
        is_plain
            && is_marked
            && moves.transitions.iter().all(|transition| {
                let takes = transition.inputs.iter().any(|(place, _)| is_in(place.index()));
                let gives = transition.outputs.iter().any(|(place, _)| is_in(place.index()));
                !takes || gives
            })
    }

    /// A trap that is marked at first and empty in a marking, if there is one: among the places that are empty
    /// there, those from which a token may get away without another are left out, until there is none.
    pub(super) fn empty_trap(marking: &[f64], moves: &Moves<'_>) -> Option<Row> {
        let mut is_in: Vec<bool> = marking.iter().map(|tokens| *tokens < 1e-6).collect();
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for transition in moves.transitions {
                let gives = transition.outputs.iter().any(|(place, _)| is_in[place.index()]);
                if gives {
                    continue;
                }
                for (place, _) in &transition.inputs {
                    has_changed |= std::mem::replace(&mut is_in[place.index()], false);
                }
            }
        }
        let places = is_in.iter().enumerate().filter(|(_, is_in)| **is_in);
        let weights: BTreeMap<u32, i128> = places.map(|(place, _)| (place as u32, 1)).collect();
        let row = Row { weights, least: 1, is_trap: true };
        row.is_marked_trap(moves).then_some(row)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use fastrand::Rng;

    use super::*;
    use crate::net::PlaceId;

    struct Small {
        initial: Vec<i64>,
        transitions: Vec<Transition>,
    }

    impl Small {
        fn random(rng: &mut Rng) -> Small {
            let n_places = rng.usize(2..5);
            let initial = (0..n_places).map(|_| rng.i64(0..3)).collect();
            let arcs = |rng: &mut Rng| {
                let mut arcs: BTreeMap<usize, i64> = BTreeMap::new();
                (0..rng.usize(1..3)).for_each(|_| _ = arcs.insert(rng.usize(0..n_places), rng.i64(1..3)));
                arcs.into_iter().map(|(place, weight)| (PlaceId::new(place), weight)).collect()
            };
            let transition = |rng: &mut Rng| Transition {
                id: String::new(),
                name: None,
                inputs: arcs(rng),
                outputs: arcs(rng),
            };
            Small { initial, transitions: (0..rng.usize(1..4)).map(|_| transition(rng)).collect() }
        }

        fn moves(&self) -> Moves<'_> {
            Moves { initial: &self.initial, transitions: &self.transitions }
        }

        /// All markings, or some if there are many.
        fn markings(&self) -> BTreeSet<Vec<i64>> {
            let (mut known, mut open) = (BTreeSet::new(), vec![self.initial.clone()]);
            while let Some(marking) = open.pop() {
                if known.len() > 200 || !known.insert(marking.clone()) {
                    continue;
                }
                for transition in &self.transitions {
                    let mut after = marking.clone();
                    open.extend(transition.fire(&mut after).then_some(after));
                }
            }
            known
        }

        fn row(&self, rng: &mut Rng) -> Row {
            let weights = (0..self.initial.len()).map(|place| (place as u32, rng.i128(-1..3))).collect();
            Row { weights, least: rng.i128(-1..6), is_trap: rng.u8(0..4) == 0 }
        }
    }

    fn satisfies(marking: &[i64], row: &Row) -> bool {
        row.weights.iter().map(|(&place, weight)| weight * i128::from(marking[place as usize])).sum::<i128>()
            >= row.least
    }

    #[test]
    fn a_solver_that_lies_changes_no_answer() {
        let mut rng = Rng::with_seed(7);
        let (mut n_accepted, mut n_lies) = (0, 0);
        for _ in 0..4000 {
            let net = Small::random(&mut rng);
            let markings = net.markings();
            let rows: Vec<Row> = (0..rng.usize(1..3)).map(|_| net.row(&mut rng)).collect();
            // Only rows that are asked about may be false; a trap that is none must not be believed.
            let asked = |marking: &&Vec<i64>| rows.iter().all(|row| row.is_trap || satisfies(marking, row));
            let is_possible = markings.iter().any(|marking| asked(&marking));
            for _ in 0..20 {
                let factors: Vec<f64> = rows.iter().map(|_| f64::from(rng.i32(-1..4)) / 2.0).collect();
                let surplus: Vec<f64> = net.initial.iter().map(|_| f64::from(rng.i32(-1..4)) / 2.0).collect();
                let found = Certificate::near(&factors, &surplus, &rows, &net.moves());
                n_accepted += usize::from(found.is_some());
                n_lies += usize::from(found.is_none());
                assert!(found.is_none() || !is_possible, "{found:?} {rows:?}");
            }
        }
        assert!(n_accepted > 200 && n_lies > 200, "{n_accepted} {n_lies}");
    }

    #[test]
    fn numbers_too_large_show_nothing() {
        let net = Small { initial: vec![1], transitions: Vec::new() };
        let row = Row { weights: BTreeMap::from([(0, i128::MAX)]), least: i128::MAX, is_trap: false };
        let certificate = Certificate { factors: vec![2], surplus: Vec::new() };
        assert!(!certificate.refutes(&[row], &net.moves()));
    }

    #[test]
    fn a_trap_stays_marked() {
        // A token goes to and fro between two places; a third is emptied.
        let arcs = |place: usize| vec![(PlaceId::new(place), 1)];
        let step = |from: usize, to: usize| Transition {
            id: String::new(),
            name: None,
            inputs: arcs(from),
            outputs: arcs(to),
        };
        let net = Small { initial: vec![1, 0, 1], transitions: vec![step(0, 1), step(1, 0), step(2, 0)] };
        let trap = Row::empty_trap(&[0.0, 0.0, 1.0], &net.moves()).expect("the first two are a trap");
        assert_eq!(trap.weights.keys().copied().collect::<Vec<_>>(), [0, 1]);
        assert_eq!(Row::empty_trap(&[1.0, 1.0, 0.0], &net.moves()), None);
        let no_trap = Row { weights: BTreeMap::from([(2, 1)]), least: 1, is_trap: true };
        let empty = Row { weights: BTreeMap::from([(2, -1)]), least: 0, is_trap: false };
        let certificate = Certificate { factors: vec![1, 1], surplus: Vec::new() };
        assert!(!certificate.refutes(&[no_trap, empty], &net.moves()), "what is no trap is not believed");
    }
}
