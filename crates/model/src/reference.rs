//! The semantics of action systems, straight from the definition.
//!
//! States are one `i64` per variable, expressions are evaluated as trees, every guard of every
//! action is tried. Slow, and easy to believe: the judge of evidence (`replay`) and the tests
//! use this, and none of the packing, compiling and indexing of the fast path.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use crate::chain::{number, on_cycles};
use crate::system::{Describe as _, Fault};
use crate::{Action, ActionId, ActionSystem, BinaryOp, Expr, ExprId, Guard, ProcessId, Stmt, VarId};

/// One value per variable.
pub type Values = Vec<i64>;

/// The value of an expression.
pub fn value(system: &ActionSystem, expr: ExprId, values: &[i64]) -> Result<i64, Fault> {
    let value = |expr| value(system, expr, values);
    match system.exprs.get(expr) {
        Expr::Int(constant) => Ok(constant),
        Expr::Var(var) => Ok(values[var.index()]),
        Expr::Element { first, len, index } => Ok(values[element(first, len, value(index)?)?]),
        Expr::Unary(op, x) => op.apply(value(x)?),
        Expr::Binary(BinaryOp::And, x, y) => Ok(i64::from(value(x)? != 0 && value(y)? != 0)),
        Expr::Binary(BinaryOp::Or, x, y) => Ok(i64::from(value(x)? != 0 || value(y)? != 0)),
        Expr::Binary(op, x, y) => op.apply(value(x)?, value(y)?),
        Expr::Cond(condition, x, y) => value(if value(condition)? != 0 { x } else { y }),
    }
}

/// Whether a guard is true.
pub fn guard_holds(system: &ActionSystem, guard: &Guard, values: &[i64]) -> Result<bool, Fault> {
    match guard {
        Guard::In(var, set) => Ok(set.contains(values[var.index()])),
        Guard::True(expr) => Ok(value(system, *expr, values)? != 0),
        Guard::Quiet => {
            for action in (0..system.actions().len()).map(ActionId::new) {
                if !system.is_quiet(action) && is_enabled(system, system.action(action), values)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}

/// Whether all guards of an action are true. Guards on single variables are looked at first: the
/// others may rely on them.
pub fn is_enabled(system: &ActionSystem, action: &Action, values: &[i64]) -> Result<bool, Fault> {
    let guards = || action.guards.iter().map(|guard| &system.guards()[guard.index()]);
    let is_false = |guard: &Guard| matches!(guard, Guard::In(var, set) if !set.contains(values[var.index()]));
    if guards().any(is_false) {
        return Ok(false);
    }
    let general = guards().filter(|guard| matches!(guard, Guard::True(_)));
    let quiet = guards().filter(|guard| matches!(guard, Guard::Quiet));
    for guard in general.chain(quiet) {
        if !guard_holds(system, guard, values)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// All enabled actions, in order: what steps begin with.
pub fn enabled(system: &ActionSystem, values: &[i64]) -> Result<Vec<ActionId>, Fault> {
    let mut enabled = Vec::new();
    for (id, action) in system.actions().iter().enumerate() {
        if is_enabled(system, action, values)? {
            enabled.push(ActionId::new(id));
        }
    }
    Ok(enabled)
}

/// The state after an action, which must be enabled, without what follows in the same step.
pub fn act(system: &ActionSystem, action: ActionId, values: &[i64]) -> Result<Values, Fault> {
    let mut values = values.to_vec();
    execute(system, &system.actions()[action.index()].effect, &mut values)?;
    Ok(values)
}

/// The actions that a step consists of, and the state it leads to; none if it is not enabled.
pub fn parts(
    system: &ActionSystem,
    step: ActionId,
    values: &[i64],
) -> Result<Option<(Vec<ActionId>, Values)>, Fault> {
    parts_within(system, step, values, &mut |_| Ok(()))
}

/// The same, as long as there is room for the states that are passed.
pub fn parts_within(
    system: &ActionSystem,
    step: ActionId,
    values: &[i64],
    room: &mut Room<'_>,
) -> Result<Option<(Vec<ActionId>, Values)>, Fault> {
    let first = system.first(step);
    if !is_enabled(system, system.action(first), values)? {
        return Ok(None);
    }
    let mut found = None;
    for_each_step(system, values, first, room, |number, parts, target| {
        if number == step {
            found = Some((parts.to_last(), target));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// The step that consists of these actions or, where several ways meet, leads to where they lead; and that state.
/// Steps that lead to the same values may still differ in who goes on alone there: that is told by the last action.
pub fn step(
    system: &ActionSystem,
    parts: &[ActionId],
    values: &[i64],
) -> Result<Option<(ActionId, Values)>, Fault> {
    let (Some(&first), Some(&last)) = (parts.first(), parts.last()) else { return Ok(None) };
    let mut target = values.to_vec();
    for &part in parts {
        if !is_enabled(system, system.action(part), &target)? {
            return Ok(None);
        }
        target = act(system, part, &target)?;
    }
    let mut found = None;
    for_each_step(system, values, first, &mut |_| Ok(()), |number, parts, end| {
        if system.next_process(parts.last()) != system.next_process(last) {
            return ControlFlow::Continue(());
        }
        // Where the same process would go on, chains come back or not.
        if let Some(holder) = &system.holder {
            target[holder.var.index()] = end[holder.var.index()];
        }
        if end == target {
            found = Some((number, end));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// What a step is called: the labels of its actions.
pub fn label(system: &ActionSystem, step: ActionId, values: &[i64]) -> String {
    let parts = match system.next_process(system.first(step)) {
        Some(_) => parts(system, step, values).ok().flatten().map(|(parts, _)| parts),
        None => None,
    };
    let labels: Vec<&str> =
        parts.unwrap_or_else(|| vec![step]).iter().map(|&part| system.action_label(part)).collect();
    labels.join("; ")
}

/// All steps, with the states they lead to.
pub fn successors(system: &ActionSystem, values: &[i64]) -> Result<Vec<(ActionId, Values)>, Fault> {
    let mut successors = Vec::new();
    for_each_successor(system, values, |step, target| successors.push((step, target.to_vec())))?;
    Ok(successors)
}

/// Calls `visit` with each step, and the state it leads to.
pub fn for_each_successor(
    system: &ActionSystem,
    values: &[i64],
    visit: impl FnMut(ActionId, &[i64]),
) -> Result<(), Fault> {
    for_each_successor_within(system, values, &mut |_| Ok(()), visit)
}

/// The same, as long as there is room for the states that are passed.
pub fn for_each_successor_within(
    system: &ActionSystem,
    values: &[i64],
    room: &mut Room<'_>,
    mut visit: impl FnMut(ActionId, &[i64]),
) -> Result<(), Fault> {
    let mut target = Values::new();
    for action in enabled(system, values)? {
        for_each_successor_by(system, values, action, &mut target, room, &mut visit)?;
    }
    Ok(())
}

/// The same for the steps that begin with one action, which is enabled. The vector is kept for the next.
pub fn for_each_successor_by(
    system: &ActionSystem,
    values: &[i64],
    action: ActionId,
    target: &mut Values,
    room: &mut Room<'_>,
    mut visit: impl FnMut(ActionId, &[i64]),
) -> Result<(), Fault> {
    if system.next_process(action).is_none() {
        target.clear();
        target.extend_from_slice(values);
        execute(system, &system.action(action).effect, target)?;
        visit(action, target);
        return Ok(());
    }
    for_each_step(system, values, action, room, |step, _, target| {
        visit(step, &target);
        ControlFlow::Continue(())
    })
}

/// Calls `visit` with the number, the actions and the target of each step that begins with an enabled action.
/// States in between are passed once, and states to which the chain can come back are not passed (see
/// [`chain`](mod@crate::chain)).
fn for_each_step(
    system: &ActionSystem,
    values: &[i64],
    first: ActionId,
    room: &mut Room<'_>,
    mut visit: impl FnMut(ActionId, &Parts, Values) -> ControlFlow<()>,
) -> Result<(), Fault> {
    let recurrent = match system.holder {
        Some(_) => recurrent(system, values, first, room)?,
        None => HashSet::new(),
    };
    let mut passed: HashSet<(Values, ProcessId)> = HashSet::new();
    let mut parts = Parts { all: Vec::new(), last: 0 };
    let mut work = vec![(values.to_vec(), None, first)];
    let mut n_ends = 0;
    while let Some((before, part_before, action)) = work.pop() {
        room(bytes_of_node(values))?;
        let mut here = act(system, action, &before)?;
        parts.last = parts.all.len();
        parts.all.push((part_before, action));
        let mut is_end = true;
        if let Some(process) = system.next_process(action) {
            let node = (here, process);
            let comes_back = recurrent.contains(&node);
            if !comes_back && !passed.insert(node.clone()) {
                continue;
            }
            here = node.0;
            if comes_back {
                let holder = system.holder.as_ref().ok_or(Fault::Endless)?;
                here[holder.var.index()] = holder.value(process).ok_or(Fault::Endless)?;
            } else {
                // The first is tried first, so it comes last.
                for next in followers(system, &here, process)?.into_iter().rev() {
                    is_end = false;
                    work.push((here.clone(), Some(parts.last), next));
                }
            }
        }
        if is_end {
            let step = number(first, n_ends, system.actions().len()).ok_or(Fault::TooLong)?;
            n_ends += 1;
            if visit(step, &parts, here).is_break() {
                return Ok(());
            }
        }
    }
    if n_ends == 0 { Err(Fault::Endless) } else { Ok(()) }
}

/// Whoever is told of bytes that a walk along chains is about to keep; a fault ends it.
pub type Room<'r> = dyn FnMut(u64) -> Result<(), Fault> + 'r;

/// Bytes that a state takes that is passed, kept twice: with its vector, its place in a table, and edges to it.
fn bytes_of_node(values: &[i64]) -> u64 {
    (2 * (size_of_val(values) + 64) + 64) as u64
}

/// The actions that were taken in the walk along chains, each with the one before it.
struct Parts {
    all: Vec<(Option<usize>, ActionId)>,
    last: usize,
}

impl Parts {
    /// The last one.
    fn last(&self) -> ActionId {
        self.all[self.last].1
    }

    /// Those that lead to the last one.
    fn to_last(&self) -> Vec<ActionId> {
        let all = std::iter::successors(Some(self.last), |&part| self.all[part].0);
        let mut parts: Vec<ActionId> = all.map(|part| self.all[part].1).collect();
        parts.reverse();
        parts
    }
}

/// The actions with which a process can go on, in order.
fn followers(system: &ActionSystem, values: &[i64], process: ProcessId) -> Result<Vec<ActionId>, Fault> {
    let mut followers = Vec::new();
    for next in (0..system.actions().len()).map(ActionId::new) {
        let action = system.action(next);
        let is_its_turn = action.owners.first() == Some(&process) && !system.is_quiet(next);
        if is_its_turn && is_enabled(system, action, values)? {
            followers.push(next);
        }
    }
    Ok(followers)
}

/// The states, with who goes on there, to which chains that begin with an action can come back. What goes wrong
/// leads nowhere.
fn recurrent(
    system: &ActionSystem,
    values: &[i64],
    first: ActionId,
    room: &mut Room<'_>,
) -> Result<HashSet<(Values, ProcessId)>, Fault> {
    let mut nodes: Vec<(Values, ProcessId)> = Vec::new();
    let mut numbers: HashMap<(Values, ProcessId), u32> = HashMap::new();
    let mut reach = |from: &[i64], action: ActionId, nodes: &mut Vec<_>| {
        let process = system.next_process(action)?;
        let node = (act(system, action, from).ok()?, process);
        Some(*numbers.entry(node).or_insert_with_key(|node| {
            nodes.push(node.clone());
            nodes.len() as u32 - 1
        }))
    };
    reach(values, first, &mut nodes);
    let (mut edges, mut ends) = (Vec::new(), Vec::new());
    let mut next = 0;
    while let Some((here, process)) = nodes.get(next).cloned() {
        room(bytes_of_node(values))?;
        let followers = followers(system, &here, process).unwrap_or_default();
        edges.extend(followers.into_iter().filter_map(|action| reach(&here, action, &mut nodes)));
        ends.push(edges.len() as u32);
        next += 1;
    }
    Ok(on_cycles(&edges, &ends).ones().map(|node| nodes[node].clone()).collect())
}

/// The initial states.
pub fn initial(system: &ActionSystem) -> Vec<Values> {
    system.initial().map(|state| system.layout().decode(state)).collect()
}

/// Executes statements.
pub fn execute(system: &ActionSystem, block: &[Stmt], values: &mut [i64]) -> Result<(), Fault> {
    for stmt in block {
        match stmt {
            Stmt::Assign(var, expr) => store(system, var.index(), value(system, *expr, values)?, values)?,
            Stmt::AssignElement { first, len, index, value: expr } => {
                let index = value(system, *index, values)?;
                let new = value(system, *expr, values)?;
                store(system, element(*first, *len, index)?, new, values)?;
            }
            Stmt::Set(var, new) => store(system, var.index(), *new, values)?,
            Stmt::Map(var, table) => {
                let (old, lo) = (values[var.index()], system.variables()[var.index()].lo);
                let new = usize::try_from(old - lo).ok().and_then(|at| *table.get(at)?);
                store(system, var.index(), new.ok_or(Fault::OutOfRange { var: *var, value: old })?, values)?;
            }
            Stmt::Add(var, amount) => {
                let sum = values[var.index()].checked_add(*amount).ok_or(Fault::Overflow)?;
                store(system, var.index(), sum, values)?;
            }
            Stmt::If(condition, yes, no) => {
                let branch = if value(system, *condition, values)? != 0 { yes } else { no };
                execute(system, branch, values)?;
            }
            Stmt::While(condition, body) => {
                // If the values are again what they were after 1, 2, 4, 8, … rounds, it goes round for ever.
                let (mut known, mut rounds) = (Vec::new(), 0u64);
                while value(system, *condition, values)? != 0 {
                    if known == values {
                        return Err(Fault::Endless);
                    }
                    rounds += 1;
                    if rounds > u64::from(Stmt::MAX_ROUNDS) {
                        return Err(Fault::TooLong);
                    }
                    if rounds.is_power_of_two() {
                        known = values.to_vec();
                    }
                    execute(system, body, values)?;
                }
            }
            Stmt::Assert(condition, number) => {
                if value(system, *condition, values)? == 0 {
                    return Err(Fault::Assertion(*number));
                }
            }
        }
    }
    Ok(())
}

fn store(system: &ActionSystem, var: usize, value: i64, values: &mut [i64]) -> Result<(), Fault> {
    let variable = &system.variables()[var];
    if value < variable.lo || value > variable.hi {
        return Err(Fault::OutOfRange { var: VarId::new(var), value });
    }
    values[var] = value;
    Ok(())
}

fn element(first: VarId, len: u32, index: i64) -> Result<usize, Fault> {
    if (0..i64::from(len)).contains(&index) {
        Ok(first.index() + index as usize)
    } else {
        Err(Fault::IndexOutOfBounds { array: first, index, len })
    }
}
