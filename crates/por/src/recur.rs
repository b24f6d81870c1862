//! What cannot happen again and again while some actions never happen.
//!
//! A run in which the actions of a set `F` happen finitely often has a last one of them. Behind it, an action that
//! happens infinitely often writes each of its variables infinitely often, so that one of its moves, from a value to
//! a value, happens infinitely often, and the variable comes back each time: the move lies on a cycle of moves of
//! actions that happen infinitely often. So an action none of whose moves of some variable lies on such a cycle
//! happens finitely often, and is no part of the cycles of others. What is left in the end is all that may *recur*;
//! it may be more than does.

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use model::relations::Change;
use model::{ActionId, ActionSystem, Guard, Relations, VarId};

/// Moves of a variable with more values than this are not looked into.
const MAX_VALUES: u64 = 1 << 10;

/// The actions that may happen infinitely often in a run where those of a set do not.
///
/// # Errors
/// The budget's limit.
pub fn recurrent(
    system: &ActionSystem,
    relations: &Relations,
    without: &[ActionId],
    budget: &mut Budget<'_>,
) -> Result<FixedBitSet, Limit> {
    let mut recurrent = FixedBitSet::with_capacity(system.actions().len());
    recurrent.insert_range(..);
    without.iter().for_each(|action| recurrent.remove(action.index()));
    let mut work: Vec<VarId> = (0..system.variables().len()).map(VarId::new).collect();
    let mut is_open = vec![true; work.len()];
    while let Some(var) = work.pop() {
        budget.tick()?;
        is_open[var.index()] = false;
        let writers = relations.writers(var).iter().filter(|action| recurrent.contains(action.index()));
        let writers: Vec<ActionId> = writers.copied().collect();
        for action in once(system, relations, var, &writers, budget)? {
            recurrent.remove(action.index());
            let others = relations.writes(action).iter().copied();
            work.extend(others.filter(|var| !std::mem::replace(&mut is_open[var.index()], true)));
        }
    }
    Ok(recurrent)
}

/// Those of the writers of a variable whose moves lie on no cycle of their moves.
fn once(
    system: &ActionSystem,
    relations: &Relations,
    var: VarId,
    writers: &[ActionId],
    budget: &mut Budget<'_>,
) -> Result<Vec<ActionId>, Limit> {
    let variable = &system.variables()[var.index()];
    let changes: Vec<Change<'_>> =
        writers.iter().map(|&action| relations.change(system, action, var)).collect();
    let of = |is_once: &dyn Fn(&Change<'_>) -> bool| {
        let found = writers.iter().zip(&changes).filter(|(_, change)| is_once(change));
        found.map(|(action, _)| *action).collect()
    };
    if changes.iter().all(|change| matches!(change, Change::By(_))) {
        // What only grows never comes back.
        let has = |sign: i64| {
            changes.iter().any(|change| matches!(change, Change::By(amount) if amount.signum() == sign))
        };
        let [down, up] = [has(-1), has(1)];
        return Ok(of(
            &|change| matches!(change, Change::By(amount) if *amount != 0 && !(if *amount > 0 { down } else { up })),
        ));
    }
    let is_known = |change: &Change<'_>| matches!(change, Change::To(_) | Change::Map(_));
    if !changes.iter().all(is_known)
        || variable.certain() != (variable.lo, variable.hi)
        || variable.span() >= MAX_VALUES
    {
        return Ok(Vec::new());
    }
    let mut moves: Vec<(usize, usize)> = Vec::new();
    let mut ends = Vec::with_capacity(writers.len());
    for (&action, change) in writers.iter().zip(&changes) {
        for value in variable.lo..=variable.hi {
            budget.tick()?;
            let to = match change {
                Change::To(to) => Some(*to),
                Change::Map(table) => table.get((value - variable.lo) as usize).copied().flatten(),
                Change::By(_) | Change::Among(_) | Change::Any => None,
            };
            // A step to any other value is a fault.
            let to = to.filter(|to| (variable.lo..=variable.hi).contains(to));
            if let Some(to) = to.filter(|_| may_start(system, action, var, value)) {
                moves.push(((value - variable.lo) as usize, (to - variable.lo) as usize));
            }
        }
        ends.push(moves.len());
    }
    let component = components(variable.span() as usize + 1, &moves);
    let is_once = |(index, end): (usize, &usize)| {
        let start = if index == 0 { 0 } else { ends[index - 1] };
        let returns = moves[start..*end].iter().any(|&(from, to)| component[from] == component[to]);
        (!returns).then(|| writers[index])
    };
    Ok(ends.iter().enumerate().filter_map(is_once).collect())
}

/// Whether the guards that an action has on a variable hold for a value.
fn may_start(system: &ActionSystem, action: ActionId, var: VarId, value: i64) -> bool {
    system.action(action).guards.iter().all(|guard| match &system.guards()[guard.index()] {
        Guard::In(its, set) if *its == var => set.contains(value),
        Guard::In(..) | Guard::True(_) | Guard::Quiet => true,
    })
}

/// Per vertex, its strong component: two depth-first walks, the second against the edges.
fn components(n: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let (mut ahead, mut back) = (vec![Vec::new(); n], vec![Vec::new(); n]);
    for &(from, to) in edges {
        ahead[from].push(to);
        back[to].push(from);
    }
    let mut finished = Vec::with_capacity(n);
    let mut seen = vec![false; n];
    for root in 0..n {
        walk(root, &ahead, &mut seen, &mut finished);
    }
    let mut component = vec![0; n];
    seen.fill(false);
    for &root in finished.iter().rev() {
        let mut members = Vec::new();
        walk(root, &back, &mut seen, &mut members);
        members.into_iter().for_each(|vertex| component[vertex] = root);
    }
    component
}

/// Appends all that can be reached and was not seen, in the order in which it is left.
fn walk(root: usize, edges: &[Vec<usize>], seen: &mut [bool], out: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[root], true) {
        return;
    }
    let mut path = vec![(root, 0)];
    while let Some((vertex, next)) = path.last_mut() {
        match edges[*vertex].get(*next) {
            Some(&to) => {
                *next += 1;
                if !std::mem::replace(&mut seen[to], true) {
                    path.push((to, 0));
                }
            }
            None => {
                out.push(*vertex);
                path.pop();
            }
        }
    }
}
