//! Random formulas and words.
//!
//! All randomness comes from a *draw*: a function that, given a bound *n*, returns a number below
//! *n*. So there is no need for a library for random numbers, and whoever tests decides where the
//! numbers come from: [`seeded`] for a long reproducible sequence, [`from_tape`] for numbers that a
//! property-testing library made and can shrink.
//!
//! # Idea
//! A formula of size *n* is grown from a bag of leaves: again and again an operator is drawn and
//! applied to formulas taken from the bag, until one is left. The laws of the pool then shrink some
//! of them (`!!a`, `a & a`), so the size is an upper bound.

use ltl::{Formula, Formulas, Lasso, Op, Prop, Valuation};

/// All operators.
pub const ALL: &[Op] = &[
    Op::Next,
    Op::Not,
    Op::Finally,
    Op::Globally,
    Op::And,
    Op::Or,
    Op::Implies,
    Op::Equivalent,
    Op::Xor,
    Op::Until,
    Op::Release,
    Op::WeakUntil,
    Op::StrongRelease,
];

/// All operators but `X`: formulas made of these do not see stuttering.
pub const NEXT_FREE: &[Op] = ALL.split_at(1).1;

/// A draw that follows from the seed alone: SplitMix64 (Steele, Lea, Flood, *Fast splittable
/// pseudorandom number generators*, OOPSLA 2014).
pub fn seeded(seed: u64) -> impl FnMut(u32) -> u32 {
    let mut state = seed;
    move |bound| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (((mixed >> 32) * u64::from(bound)) >> 32) as u32
    }
}

/// A draw that reads prepared numbers, and returns 0 when there are none left.
pub fn from_tape(tape: &[u32]) -> impl FnMut(u32) -> u32 {
    let mut numbers = tape.iter();
    move |bound| numbers.next().map_or(0, |number| number % bound.max(1))
}

/// Propositions `p0`, `p1`, … of a pool.
pub fn propositions(formulas: &mut Formulas, n: usize) -> Vec<Prop> {
    (0..n).map(|index| formulas.proposition(&format!("p{index}"))).collect()
}

/// A formula of at most `size` over these propositions, made of these operators, each of which takes
/// one operand or two. Now and then a leaf is a constant, always if there are no propositions.
pub fn formula(
    formulas: &mut Formulas,
    propositions: &[Prop],
    operators: &[Op],
    size: u32,
    draw: &mut impl FnMut(u32) -> u32,
) -> Formula {
    let (unary, binary): (Vec<Op>, Vec<Op>) = operators.iter().partition(|&&op| is_unary(op));
    let room = size.saturating_sub(1);
    let mut n_binary = match (binary.is_empty(), unary.is_empty()) {
        (true, _) => 0,
        (false, true) => room / 2,
        (false, false) => draw(room / 2 + 1).max(draw(room / 2 + 1)),
    };
    let mut n_unary = if unary.is_empty() { 0 } else { room - 2 * n_binary };
    let mut bag: Vec<Formula> = (0..=n_binary).map(|_| leaf(formulas, propositions, draw)).collect();
    while n_unary + n_binary > 0 {
        let a = take(&mut bag, draw);
        if draw(n_unary + n_binary) < n_unary {
            n_unary -= 1;
            bag.push(formulas.apply(pick(&unary, draw), &[a]));
        } else {
            n_binary -= 1;
            let b = take(&mut bag, draw);
            bag.push(formulas.apply(pick(&binary, draw), &[a, b]));
        }
    }
    take(&mut bag, draw)
}

/// A pool with so many propositions, and a formula over them.
pub fn pool(
    n_propositions: usize,
    operators: &[Op],
    size: u32,
    draw: &mut impl FnMut(u32) -> u32,
) -> (Formulas, Vec<Prop>, Formula) {
    let mut formulas = Formulas::new();
    let propositions = propositions(&mut formulas, n_propositions);
    let formula = formula(&mut formulas, &propositions, operators, size, draw);
    (formulas, propositions, formula)
}

fn is_unary(op: Op) -> bool {
    matches!(op, Op::Not | Op::Next | Op::Finally | Op::Globally)
}

fn leaf(formulas: &mut Formulas, propositions: &[Prop], draw: &mut impl FnMut(u32) -> u32) -> Formula {
    const ONE_CONSTANT_IN: u32 = 16;
    if propositions.is_empty() || draw(ONE_CONSTANT_IN) == ONE_CONSTANT_IN - 1 {
        formulas.constant(draw(2) == 0)
    } else {
        formulas.prop(pick(propositions, draw))
    }
}

fn pick<T: Copy>(list: &[T], draw: &mut impl FnMut(u32) -> u32) -> T {
    list[draw(list.len() as u32) as usize]
}

fn take(bag: &mut Vec<Formula>, draw: &mut impl FnMut(u32) -> u32) -> Formula {
    bag.swap_remove(draw(bag.len() as u32) as usize)
}

/// A valuation of these propositions; all others do not hold.
pub fn valuation(propositions: &[Prop], draw: &mut impl FnMut(u32) -> u32) -> Valuation {
    propositions.iter().copied().filter(|_| draw(2) == 1).collect()
}

/// A lasso over these propositions: a prefix of at most `max_prefix` positions and a cycle of at
/// least one and at most `max_cycle`.
pub fn lasso(
    propositions: &[Prop],
    max_prefix: u32,
    max_cycle: u32,
    draw: &mut impl FnMut(u32) -> u32,
) -> Lasso {
    let n_prefix = draw(max_prefix.saturating_add(1));
    let n_more = draw(max_cycle.max(1));
    let mut letter = || valuation(propositions, draw);
    let prefix = (0..n_prefix).map(|_| letter()).collect();
    let first = letter();
    Lasso::with_cycle(prefix, first, (0..n_more).map(|_| letter()))
}

/// A word that differs in how often letters are repeated.
pub fn stretched(lasso: &Lasso, draw: &mut impl FnMut(u32) -> u32) -> Lasso {
    let mut repeat = |letters: &[Valuation]| -> Vec<Valuation> {
        letters.iter().flat_map(|letter| vec![letter.clone(); 1 + draw(3) as usize]).collect()
    };
    let (prefix, cycle) = (repeat(lasso.prefix()), repeat(lasso.cycle()));
    Lasso::new(prefix, cycle).expect("no letter is dropped")
}
