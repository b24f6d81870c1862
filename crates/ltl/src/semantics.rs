//! The reference semantics: does this infinite word satisfy this formula?
//!
//! # Idea
//! A lasso has finitely many positions, and at each of them a formula holds or does not. For every
//! subformula, operands first, we compute the row of its truth values at all positions. Boolean
//! operators and `X` are read off the rows of the operands. The other operators are solutions of
//! their expansion law, for instance
//!
//! ```text
//! a U b  =  b | (a & X (a U b))      the least solution: b must come
//! a W b  =  b | (a & X (a W b))      the greatest solution: a may go on for ever
//! ```
//!
//! and are found by starting from all-false (least) or all-true (greatest) and applying the law
//! until nothing changes.
//!
//! # When should I use this?
//! To judge everything else: every counterexample and every translation is checked against this
//! file, so it is written to be read, not to be fast. It takes time and memory proportional to
//! the number of subformulas times the number of positions, and does not recurse.
//!
//! # References
//! Pnueli, *The temporal logic of programs*, FOCS 1977; Markey, Schnoebelen, *Model checking a
//! path*, CONCUR 2003.

use rustc_hash::FxHashMap;

use crate::formula::{Formula, Formulas, Node};
use crate::lasso::Lasso;

/// Whether the word satisfies the formula (at its first position).
pub fn satisfies(formulas: &Formulas, formula: Formula, lasso: &Lasso) -> bool {
    let mut rows: FxHashMap<Formula, Vec<bool>> = FxHashMap::default();
    for subformula in formulas.subformulas(formula) {
        let row = row(formulas.node(subformula), &rows, lasso);
        rows.insert(subformula, row);
    }
    rows[&formula][0]
}

/// At which positions a formula holds, given the rows of its operands.
fn row(node: Node<'_>, rows: &FxHashMap<Formula, Vec<bool>>, lasso: &Lasso) -> Vec<bool> {
    let at = |formula: Formula, position: usize| rows[&formula][position];
    let each = |holds: &dyn Fn(usize) -> bool| (0..lasso.n_positions()).map(holds).collect();
    let least = |law: &dyn Fn(usize, bool) -> bool| solve(lasso, false, law);
    let greatest = |law: &dyn Fn(usize, bool) -> bool| solve(lasso, true, law);
    match node {
        Node::True => each(&|_| true),
        Node::False => each(&|_| false),
        Node::Prop(prop) => each(&|i| lasso.positions()[i].holds(prop)),
        Node::Not(a) => each(&|i| !at(a, i)),
        Node::And(list) => each(&|i| list.iter().all(|&a| at(a, i))),
        Node::Or(list) => each(&|i| list.iter().any(|&a| at(a, i))),
        Node::Implies(a, b) => each(&|i| !at(a, i) || at(b, i)),
        Node::Equivalent(a, b) => each(&|i| at(a, i) == at(b, i)),
        Node::Xor(a, b) => each(&|i| at(a, i) != at(b, i)),
        Node::Next(a) => each(&|i| at(a, lasso.next(i))),
        Node::Finally(a) => least(&|i, next| at(a, i) || next),
        Node::Globally(a) => greatest(&|i, next| at(a, i) && next),
        Node::Until(a, b) => least(&|i, next| at(b, i) || (at(a, i) && next)),
        Node::WeakUntil(a, b) => greatest(&|i, next| at(b, i) || (at(a, i) && next)),
        Node::Release(a, b) => greatest(&|i, next| at(b, i) && (at(a, i) || next)),
        Node::StrongRelease(a, b) => least(&|i, next| at(b, i) && (at(a, i) || next)),
    }
}

/// The solution of an expansion law that is nearest to `start` everywhere. The law says what holds
/// at a position, given what holds at the next one.
fn solve(lasso: &Lasso, start: bool, law: &dyn Fn(usize, bool) -> bool) -> Vec<bool> {
    let mut row = vec![start; lasso.n_positions()];
    loop {
        let before = row.clone();
        for position in (0..lasso.n_positions()).rev() {
            row[position] = law(position, row[lasso.next(position)]);
        }
        if row == before {
            return row;
        }
    }
}
