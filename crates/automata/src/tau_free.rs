//! Testers without τ: what searches use.
//!
//! A step of the τ-free tester is a letter followed by any number of τ; its initial states are all
//! those that τ leads to from the initial one. Leaving an infinite-trace state by τ counts for an
//! illegal infinite trace (condition C4), so a step that goes through one is *marked*, as is one
//! that leaves such a state by its letter. That keeps all four conditions: reject, deadlock and
//! livelock states are still visited, and deadlock states have no τ to lose.

use base::Budget;

use crate::gave_up::{GaveUp, TooLarge};
use crate::tester::Tester;
use crate::work::holding;

/// A step of a τ-free tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Target state.
    pub to: u32,
    /// Whether an infinite-trace state is left on the way.
    pub marked: bool,
}

/// A tester without τ.
#[derive(Clone, Debug)]
pub struct TauFree {
    n_letters: usize,
    /// The initial states, in order.
    initial: Vec<u32>,
    /// The steps of state `s` on letter `l` are `steps[rows[s * n_letters + l]..rows[… + 1]]`.
    rows: Vec<u32>,
    steps: Vec<Step>,
}

/// A tester may have this many steps, and its states this many τ-successors in all.
const MAX_STEPS: usize = 10_000_000;

impl TauFree {
    /// Removes τ from a tester, which must be legal ([`Tester::flaw`]).
    ///
    /// # Errors
    /// The τ-free tester would be too large, or the budget is spent.
    pub fn new(tester: &Tester, budget: &mut Budget<'_>) -> Result<TauFree, GaveUp> {
        holding(budget, |budget| TauFree::make(tester, budget))
    }

    fn make(tester: &Tester, budget: &mut Budget<'_>) -> Result<TauFree, GaveUp> {
        let n_letters = tester.letters.len();
        if tester.states.len().saturating_mul(n_letters) > MAX_STEPS {
            return Err(TooLarge::States.into());
        }
        let closures = tau_closures(tester, budget)?;
        let mut by_source: Vec<Vec<(u32, Step)>> = vec![Vec::new(); tester.states.len()];
        let mut n_steps = 0;
        for edge in &tester.edges {
            let Some(letter) = edge.letter else { continue };
            n_steps += closures[edge.to as usize].len();
            if n_steps > MAX_STEPS {
                return Err(TooLarge::States.into());
            }
            // Here and in the result.
            budget.hold((closures[edge.to as usize].len() * 2 * size_of::<(u32, Step)>()) as u64)?;
            let leaves_infinite = tester.states[edge.from as usize].infinite;
            for &(to, marked) in &closures[edge.to as usize] {
                budget.tick()?;
                by_source[edge.from as usize].push((letter, Step { to, marked: marked || leaves_infinite }));
            }
        }
        let mut rows = vec![0];
        let mut steps: Vec<Step> = Vec::new();
        for edges in &mut by_source {
            // Of two steps to the same state, the marked one says everything.
            edges.sort_by_key(|(letter, step)| (*letter, step.to, !step.marked));
            edges.dedup_by_key(|(letter, step)| (*letter, step.to));
            let mut next = 0;
            for letter in 0..n_letters as u32 {
                budget.tick()?;
                while let Some((_, step)) = edges.get(next).filter(|(its, _)| *its == letter) {
                    steps.push(*step);
                    next += 1;
                }
                rows.push(steps.len() as u32);
            }
        }
        let mut initial: Vec<u32> =
            closures[tester.initial as usize].iter().map(|(state, _)| *state).collect();
        initial.sort_unstable();
        Ok(TauFree { n_letters, initial, rows, steps })
    }

    /// The initial states.
    pub fn initial(&self) -> &[u32] {
        &self.initial
    }

    /// The steps of a state on a letter.
    #[inline]
    pub fn steps(&self, state: u32, letter: u32) -> &[Step] {
        let row = state as usize * self.n_letters + letter as usize;
        &self.steps[self.rows[row] as usize..self.rows[row + 1] as usize]
    }
}

/// For each state, all states that τ leads to, itself included, each with whether some way to it
/// leaves an infinite-trace state.
fn tau_closures(tester: &Tester, budget: &mut Budget<'_>) -> Result<Vec<Vec<(u32, bool)>>, GaveUp> {
    let n_states = tester.states.len();
    let mut tau = vec![Vec::new(); n_states];
    for edge in tester.edges.iter().filter(|edge| edge.letter.is_none()) {
        tau[edge.from as usize].push(edge.to);
    }
    let mut closures = Vec::with_capacity(n_states);
    let mut n_entries = 0;
    // Per state: in the present closure without and with a mark, if it is this state's number + 1.
    let mut seen = vec![[0; 2]; n_states];
    for state in 0..n_states as u32 {
        let mut found = vec![(state, false)];
        seen[state as usize][0] = state + 1;
        let mut next = 0;
        while next < found.len() {
            let (from, marked) = found[next];
            next += 1;
            let marked = marked || tester.states[from as usize].infinite;
            for &to in &tau[from as usize] {
                budget.tick()?;
                let known = &mut seen[to as usize][usize::from(marked)];
                if *known != state + 1 {
                    *known = state + 1;
                    found.push((to, marked));
                }
            }
        }
        // Where both ways exist, the marked one says everything.
        found.retain(|&(to, marked)| marked || seen[to as usize][1] != state + 1);
        n_entries += found.len();
        if n_entries > MAX_STEPS {
            return Err(TooLarge::States.into());
        }
        budget.tick()?;
        budget.hold(size_of_val(&found[..]) as u64)?;
        closures.push(found);
    }
    Ok(closures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tester::{Edge, State};

    #[test]
    fn marks_are_collected_along_tau() {
        // 0 -a-> 1 -τ-> 2 -τ-> 3, and 1 -τ-> 3; 2 is an infinite-trace state.
        let edge = |from, letter, to| Edge { from, letter, to };
        let mut states = vec![State::default(); 4];
        states[2].infinite = true;
        let tester = Tester {
            letters: vec!["a".into()],
            states,
            initial: 1,
            edges: vec![
                edge(0, Some(0), 1),
                edge(1, None, 2),
                edge(2, None, 3),
                edge(1, None, 3),
                edge(2, Some(0), 0),
            ],
        };
        let free = TauFree::new(&tester, &mut Budget::unlimited()).unwrap();
        assert_eq!(free.initial(), [1, 2, 3]);
        let steps: Vec<_> = free.steps(0, 0).iter().map(|step| (step.to, step.marked)).collect();
        assert_eq!(steps, [(1, false), (2, false), (3, true)]);
        assert_eq!(free.steps(2, 0), [Step { to: 0, marked: true }]);
        assert_eq!(free.steps(1, 0), []);
    }
}
