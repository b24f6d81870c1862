//! Colored nets: the symmetric nets of PNML (ISO/IEC 15909-2), unfolded to place/transition nets.
//!
//! Tokens have colors: values of a finite sort. A transition has variables, and fires under a *binding* of
//! these to colors that its guard allows; arcs say which multiset of colors is taken and given. Such a net is
//! an abbreviation of a place/transition net with one place per place and color and one transition per
//! transition and binding, and that is what is explored.
//!
//! The way from a file to the net:
//!
//! | module | does |
//! |---|---|
//! | `tree` | keeps the elements of sorts, terms and declarations, as they were read |
//! | `declare` | sorts, constants, partitions and variables by their ids |
//! | `term` | terms become multisets ([`Bag`]) and guards ([`Guard`]) over variables |
//! | `build` | all of this together: a [`ColoredNet`] |
//! | `plan`, `join` | the bindings that can ever be enabled, and the colors that places can ever hold |
//! | `unfold` | the place/transition net, and what it stands for ([`Colors`]) |
//! | `show` | how colors, bindings and terms are written |
//! | `draw`, `story` | the net as a picture; markings as multisets |
//!
//! Products are flattened when sorts are declared: a color is a list of *parts*, each a value of a basic sort
//! that is counted from 0. A variable of a product sort is several *slots*.

mod build;
mod declare;
mod draw;
mod join;
mod plan;
mod show;
mod story;
mod term;
mod tree;
mod unfold;

use std::sync::Arc;

use base::{Budget, Diagnostic};
use language::Trouble;

pub(crate) use build::{Labels, Wire, build};
pub(crate) use tree::Tree;
pub use unfold::Colors;
pub(crate) use unfold::unfold;

base::define_id! {
    /// A sort that is no product.
    pub(crate) struct BaseId;
}

/// A sort that is no product: finitely many colors, in order.
#[derive(Clone, Debug)]
pub(crate) enum Base {
    /// One color, which says nothing.
    Dot,
    /// An enumeration, by the names of its colors.
    Enumeration(Vec<String>),
    /// Numbers, from the first on.
    Range { start: i64, size: u32 },
}

impl Base {
    pub(crate) fn size(&self) -> u32 {
        match self {
            Base::Dot => 1,
            Base::Enumeration(names) => names.len() as u32,
            Base::Range { size, .. } => *size,
        }
    }
}

/// A part of a color, as a term says it: a constant, or a slot and how far to go on from it, round and round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atom {
    Constant(u32),
    Slot { slot: u32, shift: u32, size: u32 },
}

impl Atom {
    /// Its value, where all slots have one.
    #[inline]
    pub(crate) fn value(self, binding: &[u32]) -> u32 {
        match self {
            Atom::Constant(value) => value,
            Atom::Slot { slot, shift, size } => {
                ((u64::from(binding[slot as usize]) + u64::from(shift)) % u64::from(size)) as u32
            }
        }
    }

    /// The value that its slot must have for it to have this value; nothing for a constant.
    #[inline]
    pub(crate) fn solved(self, value: u32) -> Option<(u32, u32)> {
        match self {
            Atom::Constant(_) => None,
            Atom::Slot { slot, shift, size } => {
                Some((slot, ((u64::from(value) + u64::from(size - shift)) % u64::from(size)) as u32))
            }
        }
    }

    pub(crate) fn slot(self) -> Option<u32> {
        match self {
            Atom::Constant(_) => None,
            Atom::Slot { slot, .. } => Some(slot),
        }
    }
}

/// A part of some colors: one value, or every value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    One(Atom),
    All,
}

/// Some colors, part by part: one color unless a part is every value.
pub(crate) type Pattern = Vec<Part>;

/// A multiset of colors that depends on a binding.
#[derive(Clone, Debug)]
pub(crate) enum Bag {
    /// Patterns, each so many times (at least once).
    Sum(Vec<(i64, Pattern)>),
    Add(Vec<Bag>),
    /// What is in the first and not in the second; no color less than 0 times.
    Minus(Box<Bag>, Box<Bag>),
}

impl Bag {
    /// The patterns of which every color is in the bag, whatever is subtracted elsewhere.
    pub(crate) fn certain(&self) -> Vec<&Pattern> {
        match self {
            Bag::Sum(patterns) => patterns.iter().map(|(_, pattern)| pattern).collect(),
            Bag::Add(bags) => bags.iter().flat_map(Bag::certain).collect(),
            Bag::Minus(..) => Vec::new(),
        }
    }

    /// The colors under a binding and how many there are of each, sorted; `sizes` are those of the parts.
    pub(crate) fn evaluate(
        &self,
        sizes: &[u32],
        binding: &[u32],
        budget: &mut Budget<'_>,
    ) -> Result<Vec<(u64, i64)>, Trouble> {
        Ok(match self {
            Bag::Sum(patterns) => {
                let mut colors = Vec::with_capacity(patterns.len());
                for (count, pattern) in patterns {
                    each_color(pattern, sizes, binding, budget, |color| colors.push((color, *count)))?;
                }
                merged(colors)?
            }
            Bag::Add(bags) => {
                let mut colors = Vec::new();
                for bag in bags {
                    colors.extend(bag.evaluate(sizes, binding, budget)?);
                }
                merged(colors)?
            }
            Bag::Minus(from, what) => {
                let mut colors = from.evaluate(sizes, binding, budget)?;
                let what = what.evaluate(sizes, binding, budget)?;
                for (color, count) in &mut colors {
                    *count -= crate::sparse::number_of(&what, *color);
                }
                colors.retain(|(_, count)| *count > 0);
                colors
            }
        })
    }
}

/// What a color takes in a list that grows, and is merged into another.
const LISTED_BYTES: u64 = 48;

/// Calls for every color of a pattern, if there is room to list them.
pub(crate) fn each_color(
    pattern: &[Part],
    sizes: &[u32],
    binding: &[u32],
    budget: &mut Budget<'_>,
    mut found: impl FnMut(u64),
) -> Result<(), Trouble> {
    let is_any = pattern.iter().zip(sizes).filter(|(part, _)| **part == Part::All);
    let n_colors = is_any.fold(1_u64, |n, (_, size)| n.saturating_mul(u64::from(*size)));
    budget.room().fits(n_colors.saturating_mul(LISTED_BYTES))?;
    let mut values: Vec<u32> = Vec::with_capacity(pattern.len());
    values.extend(pattern.iter().map(|part| match part {
        Part::One(atom) => atom.value(binding),
        Part::All => 0,
    }));
    loop {
        found(number(&values, sizes));
        // The next one: the last part that is every value counts first.
        let next = (0..pattern.len()).rev().find(|&at| {
            if pattern[at] != Part::All {
                return false;
            }
            values[at] += 1;
            if values[at] == sizes[at] {
                values[at] = 0;
                return false;
            }
            true
        });
        if next.is_none() {
            return Ok(());
        }
        budget.tick()?;
    }
}

/// The number of a color, from those of its parts.
#[inline]
pub(crate) fn number(parts: &[u32], sizes: &[u32]) -> u64 {
    parts.iter().zip(sizes).fold(0, |number, (part, size)| number * u64::from(*size) + u64::from(*part))
}

/// The parts of a color, from its number.
pub(crate) fn parts(mut number: u64, sizes: &[u32], parts: &mut Vec<u32>) {
    parts.clear();
    parts.resize(sizes.len(), 0);
    for (part, size) in parts.iter_mut().zip(sizes).rev() {
        *part = (number % u64::from(*size)) as u32;
        number /= u64::from(*size);
    }
}

/// Sorts by color, and adds up the same.
fn merged(mut colors: Vec<(u64, i64)>) -> Result<Vec<(u64, i64)>, Trouble> {
    if colors.len() < 2 {
        return Ok(colors);
    }
    colors.sort_unstable_by_key(|(color, _)| *color);
    let mut merged: Vec<(u64, i64)> = Vec::with_capacity(colors.len());
    for (color, count) in colors {
        match merged.last_mut() {
            Some(last) if last.0 == color => last.1 = last.1.checked_add(count).ok_or_else(too_many)?,
            _ => merged.push((color, count)),
        }
    }
    Ok(merged)
}

fn too_many() -> Diagnostic {
    Diagnostic::error("too-large", format!("an arc or marking has more than {} tokens of a color", i64::MAX))
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Less,
    LessEqual,
}

/// What a guard compares: a part of a color by its place in the sort, moved by an offset (the first number of a
/// range), or the number of the element of a partition that it is in.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) atom: Atom,
    pub(crate) offset: i64,
    pub(crate) elements: Option<Arc<[u32]>>,
}

impl Operand {
    pub(crate) fn value(&self, binding: &[u32]) -> i64 {
        let value = self.atom.value(binding);
        match &self.elements {
            Some(elements) => i64::from(elements[value as usize]),
            None => i64::from(value) + self.offset,
        }
    }
}

/// What must be true of a binding.
#[derive(Clone, Debug)]
pub(crate) enum Guard {
    Constant(bool),
    Compare(Comparison, Operand, Operand),
    And(Vec<Guard>),
    Or(Vec<Guard>),
    Not(Box<Guard>),
}

impl Guard {
    pub(crate) fn holds(&self, binding: &[u32]) -> bool {
        match self {
            Guard::Constant(truth) => *truth,
            Guard::Compare(comparison, left, right) => {
                let (left, right) = (left.value(binding), right.value(binding));
                match comparison {
                    Comparison::Equal => left == right,
                    Comparison::Less => left < right,
                    Comparison::LessEqual => left <= right,
                }
            }
            Guard::And(guards) => guards.iter().all(|guard| guard.holds(binding)),
            Guard::Or(guards) => guards.iter().any(|guard| guard.holds(binding)),
            Guard::Not(guard) => !guard.holds(binding),
        }
    }

    pub(crate) fn for_each_slot(&self, found: &mut impl FnMut(u32)) {
        match self {
            Guard::Constant(_) => {}
            Guard::Compare(_, left, right) => {
                left.atom.slot().into_iter().for_each(&mut *found);
                right.atom.slot().into_iter().for_each(&mut *found);
            }
            Guard::And(guards) | Guard::Or(guards) => {
                guards.iter().for_each(|guard| guard.for_each_slot(found));
            }
            Guard::Not(guard) => guard.for_each_slot(found),
        }
    }
}

/// A place of a colored net.
#[derive(Clone, Debug)]
pub(crate) struct ColoredPlace {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    /// The parts of its colors, and how many values each has.
    pub(crate) parts: Vec<BaseId>,
    pub(crate) sizes: Vec<u32>,
    pub(crate) initial: Vec<(u64, i64)>,
}

/// A variable of a transition, or a part of one.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) name: String,
    pub(crate) base: BaseId,
    pub(crate) size: u32,
}

/// A transition of a colored net.
#[derive(Clone, Debug)]
pub(crate) struct ColoredTransition {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) slots: Vec<Slot>,
    /// All must be true.
    pub(crate) guards: Vec<Guard>,
    /// The places it takes from and gives to; a place may be there several times.
    pub(crate) inputs: Vec<(u32, Bag)>,
    pub(crate) outputs: Vec<(u32, Bag)>,
}

/// A colored net as it was written.
#[derive(Clone, Debug)]
pub(crate) struct ColoredNet {
    pub(crate) bases: Vec<Base>,
    pub(crate) places: Vec<ColoredPlace>,
    pub(crate) transitions: Vec<ColoredTransition>,
}
