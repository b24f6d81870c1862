//! Places where what a process does concerns nobody else.
//!
//! A step *concerns nobody* if, while the process is where it takes it, nobody else reads or writes what it writes, or
//! writes what it reads or waits for, nothing that it writes is in question, and it cannot go wrong.

use std::collections::BTreeMap;

use base::{Budget, Limit};
use model::{BinaryOp, Expr, ExprId, Exprs, Guard, GuardId, ProcessId, UnaryOp, ValueSet, VarId};

use crate::bounds::Bounds;
use crate::draft::{Draft, Turn, Uses};

/// Places with more steps are not looked at.
const MAX_STEPS: usize = 8;

/// A condition is looked into as far as so many parts.
const MAX_PARTS: usize = 16;

/// A step of a process that cannot go wrong, out of a place where nobody but this process decides how it goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local {
    pub(crate) action: usize,
    pub(crate) process: ProcessId,
    /// Where it leads.
    pub(crate) to: i64,
    pub(crate) concerns_nobody: bool,
    /// It waits for nothing but that the process is there.
    is_always_possible: bool,
}

/// The places where one step at most is possible, and whoever goes on from there may do so.
#[derive(Debug)]
pub(crate) struct Places {
    steps: BTreeMap<(VarId, i64), Vec<Local>>,
}

impl Places {
    pub(crate) fn new(draft: &Draft<'_>, uses: &Uses, budget: &mut Budget<'_>) -> Result<Places, Limit> {
        let bounds = Bounds::new(draft);
        let actions_at = actions_at(draft, uses, budget)?;
        let owned = owned(draft);
        let mut steps = BTreeMap::new();
        for (index, places) in actions_at.iter().enumerate() {
            let var = VarId::new(index);
            if draft.fixed.contains(index) {
                continue;
            }
            let lo = draft.range(var).0;
            for (place, here) in places.iter().enumerate() {
                budget.tick()?;
                if here.is_empty() || here.len() > MAX_STEPS {
                    continue;
                }
                let place = lo + place as i64;
                let step = |&action: &u32| local(draft, uses, &bounds, var, place, action as usize);
                let Some(found) = here.iter().map(step).collect::<Option<Vec<Local>>>() else { continue };
                let process = found[0].process;
                // Nothing else is possible for the process there.
                let is_alone =
                    || owned[process.index()].iter().all(|&action| uses.tests(action as usize, var));
                let is_one = match found[..] {
                    [step] => step.is_always_possible,
                    _ => found.iter().all(|step| step.concerns_nobody) && exclude_each_other(draft, &found),
                };
                if is_one && found.iter().all(|step| step.process == process) && is_alone() {
                    steps.insert((var, place), found);
                }
            }
        }
        Ok(Places { steps })
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = ((VarId, i64), &[Local])> {
        self.steps.iter().map(|(place, steps)| (*place, &steps[..]))
    }

    pub(crate) fn get(&self, var: VarId, place: i64) -> Option<&[Local]> {
        self.steps.get(&(var, place)).map(|steps| &steps[..])
    }

    /// The step out of a place where there is no choice.
    pub(crate) fn only(&self, var: VarId, place: i64) -> Option<Local> {
        match self.get(var, place)? {
            [step] => Some(*step),
            _ => None,
        }
    }
}

/// Per variable that steers and value of it, counted from the least: the actions that may happen there, as far as one
/// needs to know.
fn actions_at(draft: &Draft<'_>, uses: &Uses, budget: &mut Budget<'_>) -> Result<Vec<Vec<Vec<u32>>>, Limit> {
    let mut at: Vec<Vec<Vec<u32>>> = vec![Vec::new(); draft.parts.variables.len()];
    for action in 0..draft.parts.actions.len() {
        for &(var, _) in &uses.tests[action] {
            let (lo, hi) = draft.range(var);
            let places = &mut at[var.index()];
            places.resize((hi - lo + 1) as usize, Vec::new());
            for value in uses.test(draft, action, var).into_iter().flat_map(|set| set.values_within(lo, hi)) {
                budget.tick()?;
                let here = &mut places[(value - lo) as usize];
                if here.len() <= MAX_STEPS {
                    here.push(action as u32);
                }
            }
        }
    }
    Ok(at)
}

/// Per process: the actions that it takes part in.
fn owned(draft: &Draft<'_>) -> Vec<Vec<u32>> {
    let mut owned: Vec<Vec<u32>> = Vec::new();
    for (index, action) in draft.parts.actions.iter().enumerate() {
        for owner in &action.owners {
            if owned.len() <= owner.index() {
                owned.resize(owner.index() + 1, Vec::new());
            }
            owned[owner.index()].push(index as u32);
        }
    }
    owned
}

/// The step that an action is which tests a variable for this value, if it is one of a process alone that cannot go wrong.
fn local(
    draft: &Draft<'_>,
    uses: &Uses,
    bounds: &Bounds,
    var: VarId,
    place: i64,
    action: usize,
) -> Option<Local> {
    let parts = &draft.parts;
    let its = &parts.actions[action];
    let ([process], Some(Turn::To(to))) = (&its.owners[..], uses.turn(action, var)) else { return None };
    let is_total = |guard: &GuardId| match parts.guards[guard.index()] {
        Guard::In(..) => true,
        Guard::True(expr) => bounds.is_total(expr),
        Guard::Quiet => false,
    };
    let reads = &uses.effect_reads[action];
    if reads.contains(&var)
        || !its.guards.iter().all(is_total)
        || !its.effect.iter().all(|stmt| bounds.is_harmless(stmt))
    {
        return None;
    }
    let is_queued = |var: &VarId| draft.queued.contains(var.index());
    if uses.writes[action].iter().any(is_queued) {
        return None;
    }
    // Whoever may act while the process is there.
    let is_apart = |user: u32| {
        user as usize == action
            || uses.test(draft, user as usize, var).is_some_and(|values| !values.contains(place))
            || parts.actions[user as usize].owners == [*process]
    };
    let users = |var: &VarId| uses.users[var.index()].iter().copied();
    let writers = |var: &VarId| {
        let var = *var;
        users(&var).filter(move |&user| uses.writes[user as usize].binary_search(&var).is_ok())
    };
    // Nobody goes on alone right after a step that nobody goes on after.
    let waits_for = || uses.guard_reads[action].iter().filter(|read| Some(**read) != draft.holder);
    let is_free = |var: &VarId| !draft.fixed.contains(var.index());
    let concerns_nobody = uses.writes[action].iter().all(|var| is_free(var) && users(var).all(is_apart))
        && reads.iter().chain(waits_for()).all(|var| writers(var).all(is_apart));
    let is_always_possible = waits_for().all(|read| *read == var);
    // Where a process may go round in one step, somebody may see what comes between.
    let is_unseen = draft.holder.is_none();
    (concerns_nobody || is_unseen).then_some(Local {
        action,
        process: *process,
        to,
        concerns_nobody,
        is_always_possible,
    })
}

/// Whether one at most of these steps is possible.
fn exclude_each_other(draft: &Draft<'_>, steps: &[Local]) -> bool {
    let guards = |step: &Local| {
        draft.parts.actions[step.action].guards.iter().map(|guard| &draft.parts.guards[guard.index()])
    };
    steps.iter().enumerate().all(|(at, a)| {
        steps[at + 1..].iter().all(|b| guards(a).any(|one| guards(b).any(|other| exclude(draft, one, other))))
    })
}

/// Whether two guards are never true together, as far as can be seen.
fn exclude(draft: &Draft<'_>, one: &Guard, other: &Guard) -> bool {
    match (one, other) {
        (Guard::In(a, these), Guard::In(b, those)) if a == b => {
            let ((lo, hi), is_in) = (draft.range(*a), |value| those.contains(value));
            match (these, those) {
                (ValueSet::Range(from, to), ValueSet::Range(begin, end)) => to < begin || end < from,
                _ if these.count_within(lo, hi) > 1 << 10 => false,
                _ => !these.values_within(lo, hi).any(is_in),
            }
        }
        (Guard::True(a), Guard::True(b)) => {
            let (mut these, mut those) = (Vec::new(), Vec::new());
            parts(draft.exprs, *a, true, &mut these);
            parts(draft.exprs, *b, true, &mut those);
            these.iter().any(|a| those.iter().any(|b| contradict(draft.exprs, *a, *b)))
        }
        _ => false,
    }
}

/// What must be true or false for an expression to be so.
fn parts(exprs: &Exprs, expr: ExprId, is_true: bool, out: &mut Vec<(ExprId, bool)>) {
    if out.len() >= MAX_PARTS {
        return;
    }
    match (exprs.get(expr), is_true) {
        (Expr::Unary(UnaryOp::Not, x), _) => parts(exprs, x, !is_true, out),
        (Expr::Binary(BinaryOp::And, x, y), true) | (Expr::Binary(BinaryOp::Or, x, y), false) => {
            parts(exprs, x, is_true, out);
            parts(exprs, y, is_true, out);
        }
        _ => out.push((expr, is_true)),
    }
}

/// Whether two expressions cannot be so together.
fn contradict(exprs: &Exprs, (a, a_is): (ExprId, bool), (b, b_is): (ExprId, bool)) -> bool {
    if a == b {
        return a_is != b_is;
    }
    match (comparison(exprs, a, a_is), comparison(exprs, b, b_is)) {
        (Some((x, y, these)), Some((v, w, those))) if (x, y) == (v, w) => these & those == 0,
        (Some((x, y, these)), Some((v, w, those))) if (x, y) == (w, v) => these & mirrored(those) == 0,
        (Some((x, y, EQUAL)), Some((v, w, EQUAL))) if x == v => match (exprs.get(y), exprs.get(w)) {
            (Expr::Int(one), Expr::Int(other)) => one != other,
            _ => false,
        },
        _ => false,
    }
}

const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;

/// An expression that compares two others: these, and how they may compare.
fn comparison(exprs: &Exprs, expr: ExprId, is_true: bool) -> Option<(ExprId, ExprId, u8)> {
    let Expr::Binary(op, x, y) = exprs.get(expr) else { return None };
    let how = match op {
        BinaryOp::Eq => EQUAL,
        BinaryOp::Ne => LESS | GREATER,
        BinaryOp::Lt => LESS,
        BinaryOp::Le => LESS | EQUAL,
        BinaryOp::Gt => GREATER,
        BinaryOp::Ge => GREATER | EQUAL,
        _ => return None,
    };
    Some((x, y, if is_true { how } else { how ^ (LESS | EQUAL | GREATER) }))
}

fn mirrored(how: u8) -> u8 {
    how & EQUAL | if how & LESS != 0 { GREATER } else { 0 } | if how & GREATER != 0 { LESS } else { 0 }
}
