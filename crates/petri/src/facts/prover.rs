//! Looks case by case for a proof that what must be true together never is.
//!
//! # Idea
//! What must be true together is a list of inequalities ([`Row`]) and of disjunctions. If a certificate shows that no
//! reachable marking satisfies the inequalities, the case is closed. Otherwise there is a solution `m = m₀ + C·x`, in real
//! numbers. If a trap is empty there that is marked at first, that is one more inequality (J. Esparza, S. Melzer,
//! *Verification of safety properties using integer programming: beyond the state equation*, 2000). If it breaks a
//! disjunction, each part of this is a case of its own. If it breaks nothing, nothing is known.
//!
//! # Limits
//! Markings are taken for vectors of real numbers, so that much is not shown that is so. The number of cases and
//! the work are limited.

use base::{Budget, Limit};
use language::Argument;
use model::{BinaryOp, Expr, ExprId, Exprs, UnaryOp};
use rustc_hash::FxHashMap;

use super::Facts;
use super::certificate::{Certificate, Row};
use super::equation::effect;
use super::linear::Linear;
use super::simplex::{self, Program};
use crate::sparse::Sparse;

/// So many programs are solved for one question.
const MAX_CASES: usize = 48;
/// So many traps are added in one case.
const MAX_TRAPS: usize = 16;
/// More nodes of an expression are not looked at, nor more rows and disjunctions made.
const MAX_NODES: usize = 20_000;
const MAX_ROWS: usize = 1_000;
/// Costs above this are 0.
const NEGATIVE: f64 = -1e-6;

/// What must be true, in a case.
#[derive(Clone, Copy)]
enum Item {
    /// An expression is true, or is not.
    Truth(ExprId, bool),
    /// The first is less than the second.
    Less(ExprId, ExprId),
}

/// What must be true together: inequalities, and one of each list.
#[derive(Clone, Default)]
struct Case {
    rows: Vec<Row>,
    choices: Vec<Vec<Item>>,
    /// Whether it cannot be, since a constant is false.
    is_closed: bool,
}

/// Looks for a proof.
pub(super) struct Prover<'f> {
    facts: &'f Facts,
    exprs: &'f Exprs,
    effects: &'f [Sparse],
    n_cases: usize,
    n_nodes: usize,
    /// Multiplications that are left.
    pub(super) work: u64,
    /// Cases that were closed, each with its certificate.
    closed: Vec<(Vec<Row>, Certificate)>,
    /// How often each effect happens in a solution that breaks nothing, if one was found.
    firings: Option<Vec<f64>>,
    is_proved: bool,
}

/// A solution of the state equation: a marking, and how often each effect happens on the way.
pub(super) struct Solution {
    marking: Vec<f64>,
    firings: Vec<f64>,
}

/// What became of a program.
enum Solved {
    Refuted,
    Open(Solution),
    Unknown,
}

impl<'f> Prover<'f> {
    pub(super) fn new(facts: &'f Facts, exprs: &'f Exprs, effects: &'f [Sparse], work: u64) -> Prover<'f> {
        let (n_cases, n_nodes, closed, firings) = (MAX_CASES, MAX_NODES, Vec::new(), None);
        Prover { facts, exprs, effects, n_cases, n_nodes, work, closed, firings, is_proved: false }
    }

    /// Looks for a proof that an expression, which is never a fault, never has this truth.
    pub(super) fn prove(&mut self, expr: ExprId, truth: bool, budget: &mut Budget<'_>) -> Result<(), Limit> {
        if let Some(case) = self.case(&[Item::Truth(expr, truth)]) {
            self.is_proved = self.closes(case, budget)?;
        }
        Ok(())
    }

    /// What shows it, if it is proved.
    pub(super) fn argument(&self) -> Option<Argument> {
        let is_used = |(rows, certificate): &(Vec<Row>, Certificate)| {
            rows.iter().zip(&certificate.factors).any(|(row, factor)| row.is_trap && *factor != 0)
        };
        let has_traps = self.closed.iter().any(is_used);
        self.is_proved.then_some(if has_traps { Argument::Traps } else { Argument::Equation })
    }

    /// The certificates in words, if it is proved.
    pub(super) fn words(&self) -> Option<Vec<String>> {
        let name = |place: u32| self.facts.net.places[place as usize].id.as_str();
        let told = |(rows, certificate): &(Vec<Row>, Certificate)| {
            certificate.words(rows, &self.facts.moves(), name)
        };
        self.is_proved.then(|| self.closed.iter().map(told).collect())
    }

    /// How often transitions fire in a solution that breaks nothing; as they are numbered in the net that was asked
    /// about. Nothing if there is none, or none was found.
    pub(super) fn firings(&self) -> Option<Vec<u32>> {
        let firings = self.firings.as_ref().filter(|_| !self.is_proved)?;
        // What is a little more than an integer is one.
        let times = firings.iter().map(|times| (times - 1e-6).ceil().clamp(0.0, 1e9) as u32);
        let of_effect: FxHashMap<&Sparse, u32> = self.effects.iter().zip(times).collect();
        let mut wanted = vec![0; self.facts.is_dead.len()];
        for (transition, number) in self.facts.net.transitions.iter().zip(&self.facts.numbers) {
            wanted[number.index()] = of_effect.get(&effect(transition)).copied().unwrap_or(0);
        }
        Some(wanted)
    }

    /// Whether no reachable marking is in a case.
    fn closes(&mut self, mut case: Case, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        if case.is_closed {
            return Ok(true);
        }
        let Solution { marking, firings } = loop {
            budget.tick()?;
            let Some(left) = self.n_cases.checked_sub(1) else { return Ok(false) };
            self.n_cases = left;
            match self.solve(&case.rows, budget)? {
                Solved::Refuted => return Ok(true),
                Solved::Unknown => return Ok(false),
                Solved::Open(solution) => {
                    let n_traps = case.rows.iter().filter(|row| row.is_trap).count();
                    let trap = Row::empty_trap(&solution.marking, &self.facts.moves());
                    match trap.filter(|trap| n_traps < MAX_TRAPS && !case.rows.contains(trap)) {
                        Some(trap) => case.rows.push(trap),
                        None => break solution,
                    }
                }
            }
        };
        // The broken choice of the fewest parts.
        let mut best: Option<usize> = None;
        for at in 0..case.choices.len() {
            let is_fewer = best.is_none_or(|best| case.choices[at].len() < case.choices[best].len());
            if is_fewer && !self.allows(&case.choices[at], &marking) {
                best = Some(at);
            }
        }
        let Some(best) = best else {
            self.firings = Some(firings);
            return Ok(false);
        };
        let choice = case.choices.swap_remove(best);
        if choice.len() > self.n_cases {
            // Better than nothing.
            self.firings = Some(firings);
            return Ok(false);
        }
        for item in choice {
            let Some(more) = self.case(&[item]) else { return Ok(false) };
            let mut part = case.clone();
            part.rows.extend(more.rows);
            part.choices.extend(more.choices);
            part.is_closed = more.is_closed;
            if part.rows.len() > MAX_ROWS || !self.closes(part, budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a marking satisfies one of some items.
    fn allows(&mut self, items: &[Item], marking: &[f64]) -> bool {
        items.iter().any(|item| {
            // What cannot be looked at breaks nothing.
            let Some(case) = self.case(&[*item]) else { return true };
            !case.is_closed
                && case.rows.iter().all(|row| {
                    let least = row.least as f64;
                    row.value(marking) > least - 1e-6 * least.abs().max(1.0)
                })
                && case.choices.iter().all(|choice| self.allows(choice, marking))
        })
    }

    fn solve(&mut self, rows: &[Row], budget: &mut Budget<'_>) -> Result<Solved, Limit> {
        if rows.is_empty() {
            let marking = self.facts.initial.iter().map(|tokens| *tokens as f64).collect();
            return Ok(Solved::Open(Solution { marking, firings: vec![0.0; self.effects.len()] }));
        }
        // Any certificate will do, so that the first one is tried; if it is too crude, the best.
        let mut found = self.certificate(rows, NEGATIVE, budget)?;
        if matches!(found, Err(None)) {
            found = self.certificate(rows, f64::NEG_INFINITY, budget)?;
        }
        Ok(match found {
            Ok(certificate) => {
                self.closed.push((rows.to_vec(), certificate));
                Solved::Refuted
            }
            Err(Some(solution)) => Solved::Open(solution),
            Err(None) => Solved::Unknown,
        })
    }

    /// A certificate against some rows; or a solution of the equation with them; or nothing of this is found.
    pub(super) fn certificate(
        &mut self,
        rows: &[Row],
        enough: f64,
        budget: &mut Budget<'_>,
    ) -> Result<Result<Certificate, Option<Solution>>, Limit> {
        let facts = self.facts;
        let n_places = facts.initial.len();
        // To write a program down is work, too.
        let size = simplex::size(self.effects.len() + 1, n_places + rows.len());
        match self.work.checked_sub(size) {
            Some(left) => self.work = left,
            None => return Ok(Err(None)),
        }
        let mut program = Program {
            rows: Vec::with_capacity(self.effects.len() + 1),
            limits: Vec::new(),
            cost: Vec::new(),
        };
        for effect in self.effects {
            let mut terms: Vec<(u32, f64)> =
                effect.iter().map(|&(place, change)| (place, change as f64)).collect();
            for (number, row) in rows.iter().enumerate() {
                let weight = |place: u32| row.weights.get(&place).copied().unwrap_or(0) as f64;
                let sum: f64 = effect.iter().map(|&(place, change)| weight(place) * change as f64).sum();
                if sum != 0.0 {
                    terms.push(((n_places + number) as u32, sum));
                }
            }
            program.rows.push(terms);
            program.limits.push(0.0);
        }
        // Proportions alone matter.
        program.rows.push((0..rows.len()).map(|number| ((n_places + number) as u32, 1.0)).collect());
        program.limits.push(1.0);
        program.cost.extend(facts.initial.iter().map(|&tokens| tokens as f64));
        let initial: Vec<f64> = program.cost.clone();
        program.cost.extend(rows.iter().map(|row| row.value(&initial) - row.least as f64));
        let Some(solution) = simplex::minimize(&program, enough, &mut self.work, budget)? else {
            return Ok(Err(None));
        };
        if solution.cost < NEGATIVE {
            let (surplus, factors) = solution.values.split_at(n_places);
            if let Some(found) = Certificate::near(factors, surplus, rows, &facts.moves()) {
                return Ok(Ok(found));
            }
            // Of very many tokens, what is lost by rounding may look like a contradiction.
            let greatest = program.cost.iter().fold(1.0, |greatest: f64, cost| greatest.max(cost.abs()));
            if solution.cost < NEGATIVE * greatest {
                return Ok(Err(None));
            }
        }
        Ok(Err(solution.prices.map(|mut firings| {
            let mut marking = initial;
            firings.truncate(self.effects.len());
            for (effect, times) in self.effects.iter().zip(&firings) {
                effect.iter().for_each(|&(place, change)| marking[place as usize] += times * change as f64);
            }
            Solution { marking, firings }
        })))
    }

    /// What must be true for all items to be. Nothing if that is too much to look at.
    fn case(&mut self, items: &[Item]) -> Option<Case> {
        let exprs = self.exprs;
        let mut case = Case::default();
        let mut open = items.to_vec();
        while let Some(item) = open.pop() {
            self.n_nodes = self.n_nodes.checked_sub(1)?;
            let (expr, truth) = match item {
                Item::Truth(expr, truth) => (expr, truth),
                Item::Less(x, y) => {
                    case.rows.extend(below(exprs, x, y, 1));
                    continue;
                }
            };
            match (exprs.get(expr), truth) {
                (Expr::Int(value), _) => case.is_closed |= (value != 0) != truth,
                (Expr::Unary(UnaryOp::Not, x), _) => open.push(Item::Truth(x, !truth)),
                (Expr::Binary(BinaryOp::And, x, y), true) | (Expr::Binary(BinaryOp::Or, x, y), false) => {
                    open.extend([Item::Truth(x, truth), Item::Truth(y, truth)]);
                }
                (Expr::Binary(BinaryOp::And | BinaryOp::Or, ..), _) => {
                    let choice = self.choice(expr, truth)?;
                    case.choices.push(choice);
                }
                (Expr::Binary(op, x, y), _) => match (op, truth) {
                    (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => case.rows.extend(below(exprs, x, y, 1)),
                    (BinaryOp::Le, true) | (BinaryOp::Gt, false) => case.rows.extend(below(exprs, x, y, 0)),
                    (BinaryOp::Gt, true) | (BinaryOp::Le, false) => case.rows.extend(below(exprs, y, x, 1)),
                    (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => case.rows.extend(below(exprs, y, x, 0)),
                    (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => {
                        case.rows.extend(below(exprs, x, y, 0));
                        case.rows.extend(below(exprs, y, x, 0));
                    }
                    (BinaryOp::Eq | BinaryOp::Ne, _) => {
                        case.choices.push(vec![Item::Less(x, y), Item::Less(y, x)]);
                    }
                    _ => {}
                },
                // What is not known forbids nothing.
                _ => {}
            }
            if case.rows.len() + case.choices.len() > MAX_ROWS {
                return None;
            }
        }
        Some(case)
    }

    /// The parts of a disjunction, or of a conjunction that must not be true.
    fn choice(&mut self, expr: ExprId, truth: bool) -> Option<Vec<Item>> {
        let op = if truth { BinaryOp::Or } else { BinaryOp::And };
        let (mut parts, mut open) = (Vec::new(), vec![expr]);
        while let Some(expr) = open.pop() {
            self.n_nodes = self.n_nodes.checked_sub(1)?;
            match self.exprs.get(expr) {
                Expr::Binary(its, x, y) if its == op => open.extend([x, y]),
                _ => parts.push(Item::Truth(expr, truth)),
            }
        }
        Some(parts)
    }
}

/// That one sum is below another by so much at least; nothing if that is no inequality, which forbids nothing.
fn below(exprs: &Exprs, x: ExprId, y: ExprId, by: i128) -> Option<Row> {
    let mut difference = Linear::of(exprs, y)?;
    difference.add(exprs, x, -1)?;
    let least = by.checked_sub(difference.constant)?;
    Some(Row { weights: difference.weights, least, is_trap: false })
}

impl Row {
    /// Its sum in a marking.
    fn value(&self, marking: &[f64]) -> f64 {
        self.weights.iter().map(|(&place, &weight)| weight as f64 * marking[place as usize]).sum()
    }
}
