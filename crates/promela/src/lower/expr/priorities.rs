//! Who goes first: only a process with the highest priority of those that can do something does anything.
//!
//! This is what Spin's verifiers do (since version 6): whether a process can do something is what `enabled`
//! says, `provided` counts, and it is looked at before each statement, so that a process of higher priority
//! interrupts an atomic sequence. A process that is started by `run` has priority 1 unless the `run` says
//! otherwise, whatever its proctype says. Spin cannot do it for models with rendezvous channels; for these,
//! priorities are ignored, as with `spin -o6`.

use model::{BinaryOp, ExprId, Stmt, VarId};

use super::super::world::Priorities;
use super::{Lowered, Lowering, Scope, not_supported};
use crate::flow::LocationId;
use crate::program;

impl<'a> Lowering<'a> {
    /// The priority of a process that exists.
    pub(crate) fn priority(&mut self, process: usize) -> ExprId {
        let instance = &self.process(process).instance;
        match &self.world.priorities {
            Priorities::None => self.int(1),
            Priorities::Fixed => self.int(i64::from(instance.priority)),
            Priorities::Vars(vars) => self.exprs.var(vars[instance.slot as usize]),
        }
    }

    /// `get_priority(pid)`: 0 if there is no such process.
    pub(super) fn priority_of(&mut self, scope: Scope, pid: &program::Expr) -> Lowered<ExprId> {
        let pid = self.expr(scope, pid)?;
        let mut value = self.int(0);
        for process in 0..self.world.processes.len() {
            let (meant, lives) = (self.is_process(pid, process), self.lives(process));
            let (is_it, its) = (self.all(&[meant, lives]), self.priority(process));
            value = self.exprs.cond(is_it, its, value);
        }
        Ok(value)
    }

    /// What must be true for a process to do anything: nobody with a higher priority can.
    pub(crate) fn precedence(&mut self, process: usize) -> Lowered<Vec<ExprId>> {
        let mut conditions = Vec::new();
        if matches!(self.world.priorities, Priorities::None) {
            return Ok(conditions);
        }
        let (own, slot) = (self.priority(process), self.process(process).instance.slot);
        for other in 0..self.world.processes.len() {
            let its = self.priority(other);
            let comes_first = self.binary(BinaryOp::Gt, its, own);
            if self.process(other).instance.slot == slot || self.constant(comes_first) == Some(0) {
                continue;
            }
            let provided = self.provided(other)?;
            // Where it can do something whatever the rest of the state is.
            let mut always = Vec::new();
            for (index, location) in self.flow_of(other).locations.iter().enumerate() {
                self.pay()?;
                let here = self.is_at(other, LocationId::new(index));
                let possible = self.some_possible(other, &location.edges)?;
                let possible = self.all(&[provided, possible]);
                match self.constant(possible) {
                    Some(0) => {}
                    Some(_) => always.push(here),
                    None => {
                        let goes_first = self.all(&[here, comes_first, possible]);
                        conditions.push(self.not(goes_first));
                    }
                }
            }
            let somewhere = self.any(&always);
            let goes_first = self.all(&[somewhere, comes_first]);
            conditions.push(self.not(goes_first));
        }
        Ok(conditions)
    }

    /// `set_priority(pid, priority)`, which does nothing if there is no such process. Returns whether the
    /// priority is one, and the effect.
    pub(crate) fn set_priority(
        &mut self,
        scope: Scope,
        pid: &program::Expr,
        priority: &program::Expr,
    ) -> Lowered<(ExprId, Vec<Stmt>)> {
        let Priorities::Vars(vars) = &self.world.priorities else {
            return Err(not_supported(pid.span, "`set_priority` with rendezvous channels"));
        };
        let (pid, value) = (self.expr(scope, pid)?, self.expr(scope, priority)?);
        let [zero, least, most] = [0, 1, 255].map(|bound| self.int(bound));
        let count = self.exprs.var(self.world.n_processes);
        let is_process = [self.binary(BinaryOp::Ge, pid, zero), self.binary(BinaryOp::Lt, pid, count)];
        let fits = [self.binary(BinaryOp::Ge, value, least), self.binary(BinaryOp::Le, value, most)];
        let (is_process, fits) = (self.all(&is_process), self.all(&fits));
        let first = vars.first().copied().unwrap_or(VarId::new(0));
        let set = Stmt::AssignElement { first, len: vars.len() as u32, index: pid, value };
        let is_bad = self.not(fits);
        let wrong = self.all(&[is_process, is_bad]);
        let (right, does) = (self.not(wrong), self.all(&[is_process, fits]));
        Ok((right, vec![Stmt::If(does, vec![set], Vec::new())]))
    }
}
