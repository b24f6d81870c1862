//! Linear programs in floating point: the simplex method on a dense tableau.
//!
//! # Idea
//! Minimize `cost · v` under `rows · v ≤ limits` and `v ≥ 0`, where the limits are not negative, so that `v = 0` is
//! where it begins (Dantzig). Limits of 0 are moved a little, each by another amount, so that no step is idle.
//!
//! # Limits
//! Nobody may rely on what is found: it is rounded and checked in exact numbers (`equation`). So there is no care
//! for numerical accuracy, and the work is limited. A solver of our own, since one from a library cannot be
//! interrupted, counts neither its time nor its bytes, and is more accurate than it need be.

use base::{Budget, Limit};

/// Smaller than this is 0.
const EPSILON: f64 = 1e-9;
/// By this much, at most, limits are moved.
const MOVED: f64 = 1e-7;
/// A tableau may have so many numbers.
const MAX_NUMBERS: usize = 3_000_000;

/// A program.
pub(crate) struct Program {
    /// A row is sparse: variables and factors.
    pub(crate) rows: Vec<Vec<(u32, f64)>>,
    pub(crate) limits: Vec<f64>,
    pub(crate) cost: Vec<f64>,
}

/// A solution, not necessarily the best one.
pub(crate) struct Solution {
    pub(crate) cost: f64,
    pub(crate) values: Vec<f64>,
    /// What one more of each limit is worth: the variables of the dual program. Only where it is the best solution.
    pub(crate) prices: Option<Vec<f64>>,
}

/// How many numbers a program of so many rows and variables has.
pub(super) fn size(n_rows: usize, n_columns: usize) -> u64 {
    (n_rows + 1).saturating_mul(n_columns + 1) as u64
}

/// Whether programs of so many rows and variables are solved.
pub(super) fn fits(n_rows: usize, n_columns: usize) -> bool {
    size(n_rows, n_columns) <= MAX_NUMBERS as u64
}

/// Solves a program; it ends early where the cost is below `enough`. Nothing if it is too large, or if it takes more
/// multiplications than there are left.
pub(crate) fn minimize(
    program: &Program,
    enough: f64,
    work: &mut u64,
    budget: &mut Budget<'_>,
) -> Result<Option<Solution>, Limit> {
    let (n_rows, n_columns) = (program.rows.len(), program.cost.len());
    let width = n_columns + 1;
    if !fits(n_rows, n_columns) {
        return Ok(None);
    }
    let bytes = ((n_rows + 1) * width * size_of::<f64>()) as u64;
    // One can do without.
    if budget.hold(bytes).is_err() {
        return Ok(None);
    }
    let solved = Tableau::new(program).solve(enough, work, budget);
    budget.release(bytes);
    solved
}

/// Basic variables as functions of the others. The last row is the cost, the last column the limits. Variables are
/// numbered: those of the program first, then one for each row, what is left of its limit.
struct Tableau {
    numbers: Vec<f64>,
    n_rows: usize,
    width: usize,
    basic: Vec<u32>,
    others: Vec<u32>,
}

impl Tableau {
    fn new(program: &Program) -> Tableau {
        let (n_rows, n_columns) = (program.rows.len(), program.cost.len());
        let width = n_columns + 1;
        let mut numbers = vec![0.0; (n_rows + 1) * width];
        for (row, (terms, limit)) in program.rows.iter().zip(&program.limits).enumerate() {
            for &(column, factor) in terms {
                numbers[row * width + column as usize] += factor;
            }
            // Any amounts that have nothing in common will do.
            let amount = 0.5 + 0.5 * ((row as f64 + 1.0) * 0.618_033_988_75).fract();
            numbers[row * width + n_columns] = limit + MOVED * amount;
        }
        numbers[n_rows * width..n_rows * width + n_columns].copy_from_slice(&program.cost);
        let basic = (n_columns..n_columns + n_rows).map(|variable| variable as u32).collect();
        Tableau { numbers, n_rows, width, basic, others: (0..n_columns as u32).collect() }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.numbers[row * self.width + column]
    }

    fn solve(
        mut self,
        enough: f64,
        work: &mut u64,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Solution>, Limit> {
        let (last, limits) = (self.n_rows, self.width - 1);
        loop {
            budget.tick()?;
            let cost = -self.at(last, limits);
            let best = (0..limits).min_by(|&a, &b| self.at(last, a).total_cmp(&self.at(last, b)));
            let entering = best.filter(|&column| self.at(last, column) < -EPSILON);
            let Some(column) = entering.filter(|_| cost >= enough) else {
                return Ok(Some(self.solution(entering.is_none())));
            };
            let mut leaving: Option<(usize, f64)> = None;
            for row in 0..self.n_rows {
                let factor = self.at(row, column);
                if factor > EPSILON {
                    let ratio = self.at(row, limits) / factor;
                    if leaving.is_none_or(|(_, least)| ratio < least) {
                        leaving = Some((row, ratio));
                    }
                }
            }
            // Without end: not in a program of ours, but for errors of rounding.
            let Some((row, _)) = leaving else { return Ok(None) };
            match work.checked_sub(self.pivot(row, column, budget)?) {
                Some(left) => *work = left,
                None => return Ok(None),
            }
        }
    }

    /// Exchanges a basic variable with another; returns how many multiplications that took.
    fn pivot(&mut self, row: usize, column: usize, budget: &mut Budget<'_>) -> Result<u64, Limit> {
        let width = self.width;
        let pivot = self.at(row, column);
        let mut own: Vec<(usize, f64)> = Vec::new();
        for at in 0..width {
            let number = &mut self.numbers[row * width + at];
            *number = if at == column { 1.0 / pivot } else { *number / pivot };
            if number.abs() < EPSILON * EPSILON {
                *number = 0.0;
            } else if at != column {
                own.push((at, *number));
            }
        }
        let mut work = width;
        for other in (0..=self.n_rows).filter(|other| *other != row) {
            let factor = self.at(other, column);
            if factor.abs() < EPSILON * EPSILON {
                continue;
            }
            budget.tick()?;
            work += own.len();
            let numbers = &mut self.numbers[other * width..(other + 1) * width];
            for &(at, number) in &own {
                numbers[at] -= factor * number;
            }
            numbers[column] = -factor / pivot;
        }
        std::mem::swap(&mut self.basic[row], &mut self.others[column]);
        Ok(work as u64)
    }

    fn solution(&self, is_best: bool) -> Solution {
        let (last, limits) = (self.n_rows, self.width - 1);
        let n_columns = limits;
        let mut values = vec![0.0; n_columns];
        for (row, &variable) in self.basic.iter().enumerate() {
            if let Some(value) = values.get_mut(variable as usize) {
                *value = self.at(row, limits).max(0.0);
            }
        }
        let prices = is_best.then(|| {
            let mut prices = vec![0.0; self.n_rows];
            for (column, &variable) in self.others.iter().enumerate() {
                if let Some(row) = (variable as usize).checked_sub(n_columns) {
                    prices[row] = self.at(last, column).max(0.0);
                }
            }
            prices
        });
        Solution { cost: -self.at(last, limits), values, prices }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_solved() {
        // Minimize -3a - 5b under a ≤ 4, 2b ≤ 12, 3a + 2b ≤ 18: a = 2, b = 6.
        let program = Program {
            rows: vec![vec![(0, 1.0)], vec![(1, 2.0)], vec![(0, 3.0), (1, 2.0)]],
            limits: vec![4.0, 12.0, 18.0],
            cost: vec![-3.0, -5.0],
        };
        let budget = &mut Budget::unlimited();
        let best = minimize(&program, f64::NEG_INFINITY, &mut 1_000, budget).unwrap().unwrap();
        let is_near = |number: f64, wanted: f64| (number - wanted).abs() < 1e-5;
        assert!(is_near(best.cost, -36.0) && is_near(best.values[0], 2.0) && is_near(best.values[1], 6.0));
        let prices = best.prices.unwrap();
        assert!(is_near(prices[0], 0.0) && is_near(prices[1], 1.5) && is_near(prices[2], 1.0), "{prices:?}");
        assert!(minimize(&program, f64::NEG_INFINITY, &mut 3, budget).unwrap().is_none(), "too much work");
        let some = minimize(&program, -1.0, &mut 1_000, budget).unwrap().unwrap();
        assert!(some.cost < -1.0 && some.prices.is_none(), "not the best one, but enough");
    }
}
