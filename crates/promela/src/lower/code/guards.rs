//! From conditions to guards, and from both with an effect to an action.

use base::Limit;
use model::{Action as ModelAction, BinaryOp, Expr, ExprId, Guard, GuardId, Stmt, ValueSet, VarId};

use super::super::tell::Words;
use super::{Coder, Head};

impl<'a> Coder<'a> {
    /// Makes an action, unless it is never possible.
    pub(super) fn emit(&mut self, head: Head, mut effect: Vec<Stmt>) -> Result<(), Limit> {
        let Head { moves, conditions, quiet, queue, next, label, words } = head;
        let mut guards: Vec<GuardId> = Vec::new();
        for &(process, from, _) in &moves {
            let pc = self.lowering().pc(process);
            guards.push(self.builder.guard(Guard::equals(pc, from)));
        }
        let mut before = Vec::new();
        for condition in conditions {
            if !self.add_guards(condition, &mut guards, &mut before) {
                return Ok(()); // Never true.
            }
        }
        if quiet {
            guards.push(self.builder.guard(Guard::Quiet));
        }
        guards.dedup();
        for &(process, from, to) in &moves {
            let pc = self.lowering().pc(process);
            if from != to {
                effect.push(Stmt::set(pc, to));
            }
        }
        if let Some(last) = self.world.last {
            let slot = self.world.processes[moves[0].0].instance.slot;
            effect.push(Stmt::set(last, i64::from(slot)));
        }
        // The effect is kept as it is and as code, and so are guards, mostly.
        let n_stmts: usize = effect.iter().map(size).sum();
        let bytes = ACTION_BYTES + 4 * size_of::<Stmt>() * n_stmts + 64 * guards.len();
        self.cost.keep(bytes)?;
        let owners = moves.iter().map(|&(process, ..)| self.world.processes[process].owner).collect();
        let label = self.builder.label(label);
        let action = self.builder.action(ModelAction { label, guards, effect, owners });
        // A handshake is a step of its sender, as in Spin.
        self.builder.is_step_of_first(action);
        self.words.push(words);
        if let Some(queue) = queue {
            self.builder.uses_queue(action, queue);
        }
        if let Some(next) = next {
            self.builder.goes_on(action, self.world.processes[next].owner);
        }
        Ok(())
    }

    /// Adds a condition as guards, on single variables where possible; returns whether it may be true.
    ///
    /// Guards that are expressions may rely on those on single variables, and on nothing else. So what can go
    /// wrong is guarded by everything that stands before it.
    pub(super) fn add_guards(
        &mut self,
        condition: ExprId,
        guards: &mut Vec<GuardId>,
        before: &mut Vec<ExprId>,
    ) -> bool {
        match self.builder.exprs.get(condition) {
            Expr::Int(value) => value != 0,
            Expr::Binary(BinaryOp::And, x, y) => {
                self.add_guards(x, guards, before) && self.add_guards(y, guards, before)
            }
            _ => {
                let guard = match self.as_values(condition) {
                    Some((var, set)) => Guard::In(var, set),
                    None => {
                        before.push(condition);
                        let mut lowering = self.lowering();
                        let relies = lowering.can_fail(condition);
                        Guard::True(if relies { lowering.all(before) } else { condition })
                    }
                };
                guards.push(self.builder.guard(guard));
                true
            }
        }
    }

    /// The values of a variable for which a condition about it alone is true.
    pub(super) fn as_values(&mut self, condition: ExprId) -> Option<(VarId, ValueSet)> {
        let mut vars = Vec::new();
        self.builder.exprs.reads(condition, &mut vars);
        vars.sort_unstable();
        vars.dedup();
        let [var] = vars[..] else { return None };
        let (lo, hi) = self.world.ranges[var.index()];
        if hi.wrapping_sub(lo) as u64 >= MAX_VALUES {
            return self.as_range(condition, var);
        }
        // What is compared with a constant need not be tried value by value.
        if let Some((_, ValueSet::Range(from, to))) = self.as_range(condition, var) {
            let (from, to) = (from.max(lo), to.min(hi));
            return Some((var, if from > to { ValueSet::of([]) } else { ValueSet::Range(from, to) }));
        }
        if let Some(known) = self.values_of.get(&condition) {
            return known.clone();
        }
        let holds = |value: i64| Some(evaluate(&self.builder.exprs, condition, &|_| value)? != 0);
        let mut values = Vec::new();
        let all_known = (lo..=hi).all(|value| {
            let holds = holds(value);
            values.extend(holds.filter(|holds| *holds).map(|_| value));
            holds.is_some()
        });
        let found = all_known.then(|| (var, ValueSet::of(values)));
        self.values_of.insert(condition, found.clone());
        found
    }

    /// The same for a comparison of a variable of many values with a constant.
    pub(super) fn as_range(&mut self, condition: ExprId, var: VarId) -> Option<(VarId, ValueSet)> {
        let Expr::Binary(op, x, y) = self.builder.exprs.get(condition) else { return None };
        let (op, constant) = match (self.builder.exprs.get(x), self.builder.exprs.get(y)) {
            (Expr::Var(_), Expr::Int(constant)) => (op, constant),
            (Expr::Int(constant), Expr::Var(_)) => (mirrored(op)?, constant),
            _ => return None,
        };
        let set = match op {
            BinaryOp::Eq => ValueSet::Range(constant, constant),
            BinaryOp::Lt => ValueSet::Range(i64::MIN, constant - 1),
            BinaryOp::Le => ValueSet::Range(i64::MIN, constant),
            BinaryOp::Gt => ValueSet::Range(constant + 1, i64::MAX),
            BinaryOp::Ge => ValueSet::Range(constant, i64::MAX),
            _ => return None,
        };
        Some((var, set))
    }
}

/// What an action takes besides its guards and its effect: it has words, and an index.
const ACTION_BYTES: usize = size_of::<ModelAction>() + 2 * size_of::<Words>() + 256;

/// How many statements a statement is.
pub(super) fn size(stmt: &Stmt) -> usize {
    match stmt {
        Stmt::If(_, first, second) => 1 + first.iter().chain(second).map(size).sum::<usize>(),
        Stmt::While(_, body) => 1 + body.iter().map(size).sum::<usize>(),
        _ => 1,
    }
}

/// Sets of values that are looked through for a guard of one variable.
const MAX_VALUES: u64 = 512;

fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Eq => BinaryOp::Eq,
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        _ => return None,
    })
}

/// The value of an expression, if nothing goes wrong.
pub(crate) fn evaluate(exprs: &model::Exprs, expr: ExprId, value_of: &dyn Fn(VarId) -> i64) -> Option<i64> {
    let value = |expr| evaluate(exprs, expr, value_of);
    match exprs.get(expr) {
        Expr::Int(constant) => Some(constant),
        Expr::Var(var) => Some(value_of(var)),
        Expr::Element { first, len, index } => {
            let index = value(index)?;
            (0..i64::from(len)).contains(&index).then(|| value_of(VarId::new(first.index() + index as usize)))
        }
        Expr::Unary(op, x) => op.apply(value(x)?).ok(),
        Expr::Binary(BinaryOp::And, x, y) => Some(i64::from(value(x)? != 0 && value(y)? != 0)),
        Expr::Binary(BinaryOp::Or, x, y) => Some(i64::from(value(x)? != 0 || value(y)? != 0)),
        Expr::Binary(op, x, y) => op.apply(value(x)?, value(y)?).ok(),
        Expr::Cond(condition, x, y) => value(if value(condition)? != 0 { x } else { y }),
    }
}
