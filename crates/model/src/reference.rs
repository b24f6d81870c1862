//! The semantics of action systems, straight from the definition.
//!
//! States are one `i64` per variable, expressions are evaluated as trees, every guard of every
//! action is tried. Slow, and easy to believe: the judge of evidence (`replay`) and the tests
//! use this, and none of the packing, compiling and indexing of the fast path.

use std::collections::HashSet;

use crate::chain::MAX_LENGTH;
use crate::system::Fault;
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
    let simple = guards().filter(|guard| matches!(guard, Guard::In(..)));
    let general = guards().filter(|guard| matches!(guard, Guard::True(_)));
    let quiet = guards().filter(|guard| matches!(guard, Guard::Quiet));
    for guard in simple.chain(general).chain(quiet) {
        if !guard_holds(system, guard, values)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// All enabled actions, in order; those that chains begin with, but no chains.
pub fn enabled(system: &ActionSystem, values: &[i64]) -> Result<Vec<ActionId>, Fault> {
    let mut enabled = Vec::new();
    for (id, action) in system.actions().iter().enumerate() {
        if is_enabled(system, action, values)? {
            enabled.push(ActionId::new(id));
        }
    }
    Ok(enabled)
}

/// The state after an action or chain, which must be enabled.
pub fn fire(system: &ActionSystem, action: ActionId, values: &[i64]) -> Result<Values, Fault> {
    let mut values = values.to_vec();
    for part in system.parts(action) {
        execute(system, &system.action(part).effect, &mut values)?;
    }
    Ok(values)
}

/// Whether a chain may happen as one step: each of its actions is enabled where it happens, goes on
/// where the one before has left off, and nothing is left to go on with after the last.
pub fn is_chain(system: &ActionSystem, parts: &[ActionId], values: &[i64]) -> Result<bool, Fault> {
    let mut values = values.to_vec();
    let mut process = None;
    for (index, &part) in parts.iter().enumerate() {
        let action = system.action(part);
        let is_its_turn = process.is_none_or(|process| goes_on(system, part, process));
        if !is_its_turn || !is_enabled(system, action, &values)? {
            return Ok(false);
        }
        values = fire(system, part, &values)?;
        process = system.next_process(part);
        if process.is_none() && index + 1 < parts.len() {
            return Ok(false);
        }
    }
    let Some(process) = process else { return Ok(true) };
    for (id, action) in system.actions().iter().enumerate() {
        if goes_on(system, ActionId::new(id), process) && is_enabled(system, action, &values)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a process may go on with an action.
fn goes_on(system: &ActionSystem, action: ActionId, process: ProcessId) -> bool {
    system.action(action).owners.first() == Some(&process) && !system.is_quiet(action)
}

/// All successors, with the actions and chains that lead to them.
pub fn successors(system: &ActionSystem, values: &[i64]) -> Result<Vec<(ActionId, Values)>, Fault> {
    let mut successors = Vec::new();
    for action in enabled(system, values)? {
        let n_before = successors.len();
        add_chains(system, values, action, &mut successors)?;
        if successors.len() == n_before {
            return Err(Fault::Endless);
        }
    }
    Ok(successors)
}

/// Adds the ends of all chains that begin with an action. States in between are passed once.
fn add_chains(
    system: &ActionSystem,
    values: &[i64],
    action: ActionId,
    out: &mut Vec<(ActionId, Values)>,
) -> Result<(), Fault> {
    let mut passed: HashSet<(Values, ProcessId)> = HashSet::new();
    let mut work = vec![(values.to_vec(), vec![action])];
    while let Some((before, parts)) = work.pop() {
        let last = parts[parts.len() - 1];
        let here = fire(system, last, &before)?;
        let mut is_end = true;
        if let Some(process) = system.next_process(last) {
            if parts.len() > MAX_LENGTH || !passed.insert((here.clone(), process)) {
                continue;
            }
            for next in (0..system.actions().len()).map(ActionId::new) {
                if goes_on(system, next, process) && is_enabled(system, system.action(next), &here)? {
                    is_end = false;
                    work.push((here.clone(), [&parts[..], &[next]].concat()));
                }
            }
        }
        if is_end {
            out.push((system.chain(&parts), here));
        }
    }
    Ok(())
}

/// The initial states.
pub fn initial(system: &ActionSystem) -> Vec<Values> {
    system.initial().map(|state| system.layout().decode(state)).collect()
}

/// Executes statements.
pub fn execute(system: &ActionSystem, block: &[Stmt], values: &mut [i64]) -> Result<(), Fault> {
    execute_within(system, block, values, &mut 0)
}

fn execute_within(
    system: &ActionSystem,
    block: &[Stmt],
    values: &mut [i64],
    rounds: &mut u32,
) -> Result<(), Fault> {
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
                execute_within(system, branch, values, rounds)?;
            }
            Stmt::While(condition, body) => {
                while value(system, *condition, values)? != 0 {
                    execute_within(system, body, values, rounds)?;
                    *rounds += 1;
                    if *rounds >= Stmt::MAX_ROUNDS {
                        return Err(Fault::Endless);
                    }
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
