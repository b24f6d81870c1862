//! Which actions to try where one process goes on alone.
//!
//! All actions of a process ask where it is, but the index files some of them under what is scarcer, and each of these
//! variables would have to be looked at after each action of a chain. So the actions of a process that goes on are filed once
//! more: all under the variable that most of them test, which is where the process is.

use super::{Filed, Index, Splitter, Trigger};
use crate::{Action, ActionId, Guard, GuardId, ProcessId, StepError, ValueSet, VarId};

/// The actions that a process is the first owner of and that do not wait for others.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    /// The variable's word, and where it is filed.
    place: Option<(u32, Trigger)>,
    /// Range of the index's actions: those that do not test the variable.
    loose: (u32, u32),
}

impl Index {
    /// Files the actions of processes that go on.
    pub(super) fn add_turns(&mut self, going_on: &[ProcessId], splitter: &mut Splitter<'_>) {
        let Some(last) = going_on.iter().max() else { return };
        self.turns.resize(last.index() + 1, None);
        let mut its = vec![Vec::new(); last.index() + 1];
        let is_quiet = |action: &Action| {
            action.guards.iter().any(|guard| splitter.guards[guard.index()] == Guard::Quiet)
        };
        for (id, action) in splitter.actions.iter().enumerate().filter(|(_, action)| !is_quiet(action)) {
            if let Some(its) = action.owners.first().and_then(|owner| its.get_mut(owner.index())) {
                its.push(ActionId::new(id));
            }
        }
        for &process in going_on {
            if self.turns[process.index()].is_none() {
                self.turns[process.index()] = Some(self.turn(&its[process.index()], splitter));
            }
        }
    }

    /// Files actions under the variable that most of them test.
    fn turn(&mut self, its: &[ActionId], splitter: &mut Splitter<'_>) -> Turn {
        let mut n_tests: Vec<(VarId, usize)> = Vec::new();
        for (var, _) in its.iter().flat_map(|&action| splitter.tests(action)) {
            match n_tests.iter_mut().find(|(its, _)| *its == var) {
                Some((_, n)) => *n += 1,
                None => n_tests.push((var, 1)),
            }
        }
        // Of several, the first one that is tested.
        let most = n_tests.into_iter().rev().max_by_key(|&(_, n)| n);
        let (mut filed, mut loose): (Filed<'_>, Vec<ActionId>) = (Vec::new(), Vec::new());
        for &action in its {
            match most.and_then(|(var, _)| test_of(var, &splitter.actions[action.index()], splitter.guards)) {
                Some((guard, set)) => filed.push((action, guard, set)),
                None => loose.push(action),
            }
        }
        let place = most.map(|(var, _)| {
            let field = splitter.layout.field(var);
            let (base, rows, _) = self.rows_of(field, &filed);
            let first_row = self.rows.len() as u32;
            self.add_rows(&rows, &mut vec![var], splitter);
            let cap = (rows.len() - 1) as u32;
            (field.word, Trigger { mask: field.word_mask(), shift: field.shift, base, first_row, cap })
        });
        let start = self.actions.len() as u32;
        self.actions.extend_from_slice(&loose);
        Turn { place, loose: (start, self.actions.len() as u32) }
    }

    /// Calls `visit` for a superset of the actions with which a process can go on in `state`, each at most once, in the
    /// order of their numbers; but those first that do not ask where it is. All of their guards are to be tested.
    #[inline]
    pub(crate) fn for_each_of_turn(
        &self,
        process: ProcessId,
        state: &[u32],
        mut visit: impl FnMut(ActionId) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        let Some(Turn { place, loose }) = &self.turns[process.index()] else { return Ok(()) };
        for &action in &self.actions[loose.0 as usize..loose.1 as usize] {
            visit(action)?;
        }
        if let Some((word, trigger)) = place {
            for &action in self.row(trigger.row(state[*word as usize]), state) {
                visit(action)?;
            }
        }
        Ok(())
    }
}

/// The first test of a variable that an action makes.
fn test_of<'g>(var: VarId, action: &Action, guards: &'g [Guard]) -> Option<(GuardId, &'g ValueSet)> {
    action.guards.iter().find_map(|&guard| match &guards[guard.index()] {
        Guard::In(tested, set) if *tested == var => Some((guard, set)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use crate::{Action, ActionId, Builder, Guard, Steps, Stmt, System as _, Variable};

    #[test]
    fn who_goes_on_is_asked_for_everything_that_it_needs() {
        let mut builder = Builder::new();
        let (owner, other) = (builder.process("P"), builder.process("Q"));
        let at = builder.variable(Variable::new("at", 0, 2));
        let x = builder.variable(Variable::new("x", 0, 9));
        let label = builder.label("a");
        let mut action = |tests: &[(usize, i64)], effect: Stmt, owner| {
            let guards = tests.iter().map(|&(var, value)| Guard::equals([at, x][var], value));
            let guards = guards.map(|guard| builder.guard(guard)).collect();
            builder.action(Action { label, guards, effect: vec![effect], owners: vec![owner] })
        };
        let first = action(&[(0, 0)], Stmt::set(at, 1), owner);
        // Without anything about where it is.
        let anywhere = action(&[(1, 0)], Stmt::set(x, 5), owner);
        action(&[(0, 1), (1, 0)], Stmt::set(at, 2), owner);
        // The index has it under `x`, which is scarcer.
        action(&[(0, 1), (1, 3)], Stmt::set(at, 0), owner);
        action(&[(0, 2)], Stmt::set(at, 0), owner);
        action(&[(0, 1), (1, 0)], Stmt::set(x, 7), other);
        builder.goes_on(first, owner);
        builder.initial(&[0, 0]);
        let system = builder.finish().unwrap();
        let state: Vec<u32> = system.initial().next().unwrap().to_vec();
        let mut steps = Steps::new(system.width());
        system.successors(&state, &mut system.new_scratch(), &mut steps).unwrap();
        let found: Vec<(ActionId, Vec<i64>)> =
            steps.iter().map(|(step, target)| (system.first(step), system.layout().decode(target))).collect();
        let expected = [(anywhere, vec![0, 5]), (first, vec![1, 5]), (first, vec![2, 0])];
        let sorted = |mut list: Vec<(ActionId, Vec<i64>)>| {
            list.sort();
            list
        };
        assert_eq!(sorted(found), sorted(expected.to_vec()));
    }
}
