//! The reference semantics against hand-made words, and against an even simpler definition.

mod common;

use common::{config, formula, tape};
use generators::random;
use proptest::prelude::*;
use stubborn_ltl::{Formula, Formulas, Lasso, Op, Prop, Valuation, satisfies};

/// A word over `a` and `b`: letters are `a`, `b`, `2` (both) and `.` (none); the cycle is after `|`.
fn word(formulas: &mut Formulas, text: &str) -> Lasso {
    let (a, b) = (formulas.proposition("a"), formulas.proposition("b"));
    let letter = |c| match c {
        'a' => Valuation::from_iter([a]),
        'b' => Valuation::from_iter([b]),
        '2' => Valuation::from_iter([a, b]),
        _ => Valuation::new(),
    };
    let (prefix, cycle) = text.split_once('|').unwrap();
    Lasso::new(prefix.chars().map(letter).collect(), cycle.chars().map(letter).collect()).unwrap()
}

#[test]
fn hand_made_words() {
    let cases = [
        ("true", "|.", true),
        ("false", "|2", false),
        ("a", "a|.", true),
        ("a", "|.a", false),
        ("!a", "|.a", true),
        ("X a", "|.a", true),
        ("X X a", "|.a", false),
        ("X X X a", "a|.a", false),
        ("F b", "aa|aab", true),
        ("F b", "|a", false),
        ("G a", "a2|a2", true),
        ("G a", "a2|aaaab", false),
        ("G F b", "|...b", true),
        ("G F b", "bbb|.", false),
        ("F G b", "...|b", true),
        ("F G b", "|b.", false),
        ("a U b", "aa|b", true),
        ("a U b", "|b", true),
        ("a U b", "|a", false),
        ("a U b", "a.|b", false),
        ("a W b", "|a", true),
        ("a W b", "aa|b", true),
        ("a W b", "a.|b", false),
        ("a R b", "bb2|.", true),
        ("a R b", "bb|a", false),
        ("a R b", "|b", true),
        ("a R b", "2|.", true),
        ("a M b", "bb2|.", true),
        ("a M b", "|b", false),
        ("a -> b", "|b", true),
        ("a -> b", "|a", false),
        ("a <-> b", "|.", true),
        ("a <-> b", "|a", false),
        ("a ^ b", "|a", true),
        ("a ^ b", "|2", false),
        ("a & b", "|2", true),
        ("a & b", "|a", false),
        ("a | b", "|.", false),
        ("G (a -> F b)", "ab|a.b", true),
        ("G (a -> F b)", "ab|.a", false),
        ("(a U b) U G a", "aab|a", true),
        ("G (a U b)", "|aab", true),
        ("G (a U b)", "|aab.", false),
    ];
    for (text, letters, expected) in cases {
        let mut formulas = Formulas::new();
        let lasso = word(&mut formulas, letters);
        let formula = formula(&mut formulas, text);
        assert_eq!(satisfies(&formulas, formula, &lasso), expected, "{letters} and {text}");
    }
}

/// A formula as it is written, outside any pool.
#[derive(Clone, Debug)]
struct Tree {
    op: Op,
    operands: Vec<Tree>,
}

fn tree(size: u32, propositions: &[Prop], draw: &mut impl FnMut(u32) -> u32) -> Tree {
    if size <= 1 {
        let op = match draw(propositions.len() as u32 + 1) as usize {
            0 if draw(2) == 0 => Op::True,
            0 => Op::False,
            index => Op::Prop(propositions[index - 1]),
        };
        return Tree { op, operands: vec![] };
    }
    let op = random::ALL[draw(random::ALL.len() as u32) as usize];
    let n_operands = match op {
        Op::Not | Op::Next | Op::Finally | Op::Globally => 1,
        Op::And | Op::Or => 2 + draw(2),
        _ => 2,
    };
    let room = (size - 1) / n_operands;
    Tree { op, operands: (0..n_operands).map(|_| tree(room, propositions, draw)).collect() }
}

fn build(formulas: &mut Formulas, tree: &Tree) -> Formula {
    let operands: Vec<Formula> = tree.operands.iter().map(|operand| build(formulas, operand)).collect();
    formulas.apply(tree.op, &operands)
}

/// The textbook definition, word for word: quantifiers over later moments. Each position of the
/// lasso is reached within its length, so looking that far ahead is enough.
fn naive(tree: &Tree, lasso: &Lasso, now: usize) -> bool {
    let holds = |index: usize, at: usize| naive(&tree.operands[index], lasso, at);
    let moments = || std::iter::successors(Some(now), |&at| Some(lasso.next(at))).take(lasso.n_positions());
    let before = |n: usize, index: usize| moments().take(n).all(|at| holds(index, at));
    let comes = |index: usize, held: usize, inclusive: usize| {
        moments().enumerate().any(|(n, at)| holds(index, at) && before(n + inclusive, held))
    };
    let for_ever = |index: usize| moments().all(|at| holds(index, at));
    match tree.op {
        Op::True => true,
        Op::False => false,
        Op::Prop(prop) => lasso.positions()[now].holds(prop),
        Op::Not => !holds(0, now),
        Op::Next => holds(0, lasso.next(now)),
        Op::Finally => moments().any(|at| holds(0, at)),
        Op::Globally => for_ever(0),
        Op::And => (0..tree.operands.len()).all(|index| holds(index, now)),
        Op::Or => (0..tree.operands.len()).any(|index| holds(index, now)),
        Op::Implies => !holds(0, now) || holds(1, now),
        Op::Equivalent => holds(0, now) == holds(1, now),
        Op::Xor => holds(0, now) != holds(1, now),
        Op::Until => comes(1, 0, 0),
        Op::WeakUntil => comes(1, 0, 0) || for_ever(0),
        Op::StrongRelease => comes(0, 1, 1),
        Op::Release => comes(0, 1, 1) || for_ever(1),
    }
}

proptest! {
    #![proptest_config(config(20_000))]

    /// Also judges the laws of the pool: the tree is evaluated as it was made.
    #[test]
    fn agrees_with_the_textbook_definition(tape in tape(), size in 1u32..14) {
        let mut formulas = Formulas::new();
        let propositions = random::propositions(&mut formulas, 3);
        let mut draw = random::from_tape(&tape);
        let lasso = random::lasso(&propositions, 3, 4, &mut draw);
        let tree = tree(size, &propositions, &mut draw);
        let formula = build(&mut formulas, &tree);
        prop_assert_eq!(satisfies(&formulas, formula, &lasso), naive(&tree, &lasso, 0));
    }

    /// The same word written in another way satisfies the same formulas.
    #[test]
    fn unrolling_the_cycle_changes_nothing(tape in tape(), size in 1u32..20) {
        let mut draw = random::from_tape(&tape);
        let (formulas, propositions, formula) = random::pool(2, random::ALL, size, &mut draw);
        let lasso = random::lasso(&propositions, 2, 3, &mut draw);
        let prefix = [lasso.prefix(), lasso.cycle()].concat();
        let twice = Lasso::new(prefix, [lasso.cycle(), lasso.cycle()].concat()).unwrap();
        prop_assert_eq!(satisfies(&formulas, formula, &lasso), satisfies(&formulas, formula, &twice));
    }
}

#[test]
fn more_than_64_propositions_work() {
    let mut formulas = Formulas::new();
    let propositions = random::propositions(&mut formulas, 300);
    let last = formulas.prop(propositions[299]);
    let eventually = formulas.finally(last);
    let all: Vec<Formula> = propositions.iter().map(|&prop| formulas.prop(prop)).collect();
    let all = formulas.and(all);
    let full = Lasso::new(vec![Valuation::new()], vec![propositions.iter().copied().collect()]).unwrap();
    let next = formulas.next(all);
    assert!(satisfies(&formulas, eventually, &full) && satisfies(&formulas, next, &full));
    let missing = Lasso::new(vec![], vec![propositions[..299].iter().copied().collect()]).unwrap();
    assert!(!satisfies(&formulas, eventually, &missing) && !satisfies(&formulas, all, &missing));
}

#[test]
fn deep_formulas_and_long_words_are_no_problem() {
    let mut formulas = Formulas::new();
    let mut deep = formulas.atom("a");
    for _ in 0..20_000 {
        deep = formulas.next(deep);
    }
    let lasso = word(&mut formulas, "|a..");
    assert!(!satisfies(&formulas, deep, &lasso), "20 000 is not a multiple of 3");
    let eventually = formula(&mut formulas, "a U b");
    let long = word(&mut formulas, &format!("{}|b", "a".repeat(100_000)));
    assert!(satisfies(&formulas, eventually, &long));
}
