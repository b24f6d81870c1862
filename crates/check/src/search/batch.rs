//! States that are expanded before their turn, so that what they lead to is looked up together.
//!
//! A store that is larger than a processor's caches is waited for at nearly every step: for the slot of the new state, and
//! for the state that it points to. The successors of one state are few, so little of that overlaps. Breadth first, the
//! states that come next are known: some are expanded at once, and the store hears of all that they lead to
//! ([`Sequence::expect`]) before the first of them is added. Everything else happens in its turn, state by state, so
//! numbers, runs and counts are the same.

use std::ops::Range;

use model::{Steps, System};

use super::Space;
use super::frontier::Frontier;
use crate::store::{Sequence, StateId};

/// A store of fewer bytes is at hand anyway.
const LARGE: u64 = 1 << 20;

/// So many states, or states with so many steps, are expanded at once.
const MAX_STATES: usize = 32;
const MAX_STEPS: usize = 128;

/// Which states were expanded before their turn: one after the other from the first on.
#[derive(Default)]
pub(super) struct Batch {
    first: usize,
    /// Per state, where its steps end.
    ends: Vec<usize>,
    state: Vec<u32>,
}

impl Batch {
    /// The steps of a state that was expanded.
    pub(super) fn steps_of(&self, id: StateId) -> Option<Range<usize>> {
        let nth = id.index().checked_sub(self.first)?;
        let end = *self.ends.get(nth)?;
        Some(if nth == 0 { 0 } else { self.ends[nth - 1] }..end)
    }

    /// Whether the store has heard of the steps that are at hand.
    pub(super) fn is_expected(&self) -> bool {
        !self.ends.is_empty()
    }

    /// Expands a state that was just taken, and those that come after it, if that pays. What goes wrong in one of them is
    /// left to its turn.
    pub(super) fn fill<S: Space, T: Sequence>(
        &mut self,
        id: StateId,
        (space, frontier): (&S, &impl Frontier),
        store: &mut T,
        (choice, scratch): (&mut S::Choice, &mut <S::Whole as System>::Scratch),
        steps: &mut Steps,
    ) {
        self.ends.clear();
        // A store that does not keep states has given this one away already.
        if !T::RETAINS || store.bytes() < LARGE || !space.is_whole() {
            return;
        }
        let width = space.whole().width();
        self.first = id.index();
        self.state.resize(width, 0);
        steps.clear();
        let coming = (0..MAX_STATES - 1).map_while(|n_others| frontier.coming(n_others));
        // In other orders, they are not known.
        let all = std::iter::once(id).chain(coming).enumerate();
        for (nth, next) in all.take_while(|(nth, next)| next.index() == id.index() + nth) {
            store.nth(next, &mut self.state);
            let n_before = steps.len();
            if space.steps(&self.state, choice, scratch, steps).is_err() {
                steps.truncate(n_before);
                break;
            }
            self.ends.push(steps.len());
            if nth > 0 && steps.len() >= MAX_STEPS {
                break;
            }
        }
        store.expect(steps.targets(), width);
    }
}

#[cfg(test)]
mod tests {
    use base::Budget;
    use model::{
        Action, ActionId, ActionSystem, BinaryOp, Builder, Guard, Scratch, StepError, Stmt, ValueSet,
        Variable,
    };

    use super::*;
    use crate::search::{Extent, Goal, bfs};
    use crate::store::{Exact, Visited as _};

    /// A system of which nobody says that it is whole: its states are expanded one by one.
    struct OneByOne<'a>(&'a ActionSystem);

    impl Space for OneByOne<'_> {
        type Whole = ActionSystem;
        type Choice = ();

        fn whole(&self) -> &ActionSystem {
            self.0
        }

        fn new_choice(&self) {}

        fn actions(
            &self,
            state: &[u32],
            choice: &mut (),
            scratch: &mut Scratch,
            out: &mut Vec<ActionId>,
        ) -> Result<Extent, StepError> {
            Space::actions(self.0, state, choice, scratch, out)
        }

        fn steps(
            &self,
            state: &[u32],
            choice: &mut (),
            scratch: &mut Scratch,
            out: &mut Steps,
        ) -> Result<Extent, StepError> {
            Space::steps(self.0, state, choice, scratch, out)
        }

        fn others(&self, (): &(), _: &mut Vec<ActionId>) {}
    }

    /// Three numbers that go up and down, and a division that goes wrong somewhere, if anywhere; the proposition is true
    /// far away.
    fn numbers(random: &mut fastrand::Rng) -> ActionSystem {
        let mut builder = Builder::new();
        let (owner, label) = (builder.process("P"), builder.label("a"));
        let his = [60, 60, 50];
        let vars = his.map(|hi| builder.variable(Variable::new("v", 0, hi)));
        for (var, hi) in vars.into_iter().zip(his) {
            let mut step = |from: i64, to: i64, amount: i64| {
                let guards = vec![builder.guard(Guard::In(var, ValueSet::Range(from, to)))];
                let effect = vec![Stmt::Add(var, amount)];
                builder.action(Action { label, guards, effect, owners: vec![owner] });
            };
            step(0, hi - 1, 1);
            step(0, hi - 2, 2);
            step(random.i64(1..hi), hi, -1);
        }
        let [x, y, z] = vars.map(|var| builder.exprs.var(var));
        let at = [his[0], 90].map(|below| builder.exprs.int(random.i64(below / 2..below)));
        let sum = builder.exprs.binary(BinaryOp::Add, y, z);
        let there = builder.exprs.binary(BinaryOp::Sub, sum, at[1]);
        let quotient = builder.exprs.binary(BinaryOp::Div, x, there);
        let small = builder.exprs.binary(BinaryOp::Lt, quotient, x);
        let (guard, far) = (builder.guard(Guard::True(small)), builder.guard(Guard::at_least(vars[0], 41)));
        if random.bool() {
            let effect = vec![Stmt::set(vars[2], 0)];
            builder.action(Action { label, guards: vec![far, guard], effect, owners: vec![owner] });
        }
        builder.initial(&[0, 0, 0]);
        let mut system = builder.finish().unwrap();
        let is_far = system.exprs.binary(BinaryOp::Ne, x, at[0]);
        system.add_proposition("far", is_far);
        system
    }

    #[test]
    fn states_that_are_expanded_before_their_turn_change_nothing() {
        let mut random = fastrand::Rng::with_seed(11);
        let (mut n_large, mut n_faults) = (0, 0);
        for round in 0..8 {
            let system = numbers(&mut random);
            let goals: &[Goal] = [&[][..], &[Goal::Deadlock, Goal::Invariant(0)]][round % 2];
            let max_states = [u64::MAX, random.u64(1_000..300_000)][round / 2 % 2];
            let mut found = Vec::new();
            for at_once in [false, true] {
                let mut store = Exact::new(system.width(), u64::MAX);
                let mut budget = Budget::unlimited();
                budget.max_states = max_states;
                let explored = if at_once {
                    bfs::search(&system, &mut store, goals, &mut budget)
                } else {
                    bfs::search(&OneByOne(&system), &mut store, goals, &mut budget)
                };
                let mut state = vec![0; system.width()];
                let all: Vec<u32> = (0..store.n_states() as usize)
                    .flat_map(|id| {
                        store.nth(StateId::new(id), &mut state);
                        state.clone()
                    })
                    .collect();
                n_large += usize::from(store.bytes() > LARGE);
                n_faults += usize::from(matches!(explored.stop, Some(crate::search::Stop::Fault(..))));
                let told = (explored.stats, explored.violations, explored.faults, explored.stop);
                found.push((format!("{told:?}"), all));
            }
            assert!(found[0] == found[1], "round {round}: {} {}", found[0].0, found[1].0);
        }
        assert!(n_large > 5 && n_faults > 1, "{n_large} {n_faults}");
    }
}
