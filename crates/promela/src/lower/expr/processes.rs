//! Where processes are.

use model::{BinaryOp, ExprId, VarId};

use super::super::world::Process;
use super::{Lowered, Lowering, Scope};
use crate::flow::{Flow, Location, LocationId};
use crate::program::{self, ProctypeId};

impl<'a> Lowering<'a> {
    pub(crate) fn process(&self, process: usize) -> &'a Process {
        &self.world.processes[process]
    }

    pub(crate) fn flow_of(&self, process: usize) -> &'a Flow<'a> {
        &self.flows[self.process(process).instance.proctype.index()]
    }

    pub(super) fn processes_of(&self, proctype: ProctypeId) -> Vec<usize> {
        let processes = self.world.processes.iter().enumerate();
        processes
            .filter(|(_, process)| process.instance.proctype == proctype)
            .map(|(index, _)| index)
            .collect()
    }

    /// The variable that says where a process is.
    pub(crate) fn pc(&self, process: usize) -> VarId {
        self.world.slots[self.process(process).instance.slot as usize]
    }

    /// What a location is called there.
    pub(crate) fn location(&self, process: usize, location: LocationId) -> i64 {
        self.process(process).first_location + location.index() as i64
    }

    pub(super) fn is_at(&mut self, process: usize, location: LocationId) -> ExprId {
        let (pc, value) = (self.pc(process), self.location(process, location));
        self.equals(pc, value)
    }

    /// Whether a process exists.
    pub(crate) fn lives(&mut self, process: usize) -> ExprId {
        let first = self.process(process).first_location;
        let last = first + self.flow_of(process).locations.len() as i64 - 1;
        let pc = self.exprs.var(self.pc(process));
        let (first, last) = (self.int(first), self.int(last));
        let above = self.binary(BinaryOp::Ge, pc, first);
        let below = self.binary(BinaryOp::Le, pc, last);
        self.all(&[above, below])
    }

    pub(super) fn is_process(&mut self, pid: ExprId, process: usize) -> ExprId {
        let slot = self.int(i64::from(self.process(process).instance.slot));
        self.binary(BinaryOp::Eq, pid, slot)
    }

    pub(super) fn is_meant(
        &mut self,
        scope: Scope,
        pid: Option<&program::Expr>,
        process: usize,
    ) -> Lowered<ExprId> {
        match pid {
            None => Ok(self.int(1)),
            Some(pid) => {
                let pid = self.expr(scope, pid)?;
                Ok(self.is_process(pid, process))
            }
        }
    }

    /// Whether a process is at one of the locations that satisfy a condition.
    pub(crate) fn is_at_some(
        &mut self,
        process: usize,
        condition: impl Fn(&Location<'_>) -> bool,
    ) -> Lowered<ExprId> {
        let flow = self.flow_of(process);
        let mut parts = Vec::new();
        for (index, _) in flow.locations.iter().enumerate().filter(|(_, location)| condition(location)) {
            self.pay()?;
            parts.push(self.is_at(process, LocationId::new(index)));
        }
        Ok(self.any(&parts))
    }

    /// No process is at a progress label.
    pub(crate) fn non_progress(&mut self) -> Lowered<ExprId> {
        let progress = self.somebody_is_at(|location| location.is_progress)?;
        Ok(self.not(progress))
    }

    /// Some process is at an accept label.
    pub(crate) fn accepts(&mut self) -> Lowered<ExprId> {
        self.somebody_is_at(|location| location.is_accept)
    }

    fn somebody_is_at(&mut self, condition: impl Fn(&Location<'_>) -> bool + Copy) -> Lowered<ExprId> {
        let all = 0..self.world.processes.len();
        let parts: Lowered<Vec<ExprId>> = all.map(|process| self.is_at_some(process, condition)).collect();
        Ok(self.any(&parts?))
    }

    /// Every process is where it may stay for ever, and so is the trace, unless there is no process.
    pub(crate) fn is_valid_end(&mut self) -> Lowered<ExprId> {
        let mut parts = Vec::new();
        for process in 0..self.world.processes.len() {
            let lives = self.lives(process);
            let ends = self.is_at_some(process, |location| location.is_end)?;
            let is_dead = self.not(lives);
            parts.push(self.any(&[is_dead, ends]));
        }
        if let Some(ends) = self.trace_may_end() {
            let nobody = self.equals(self.world.n_processes, 0);
            parts.push(self.any(&[nobody, ends]));
        }
        Ok(self.all(&parts))
    }

    /// `enabled(pid)`: whether a process can do something. As in Spin, `provided` and priorities do not matter.
    pub(super) fn enabled(&mut self, scope: Scope, pid: &program::Expr) -> Lowered<ExprId> {
        let pid = self.expr(scope, pid)?;
        let mut parts = Vec::new();
        for process in 0..self.world.processes.len() {
            let meant = self.is_process(pid, process);
            for (index, location) in self.flow_of(process).locations.iter().enumerate() {
                self.pay()?;
                let here = self.is_at(process, LocationId::new(index));
                let possible = self.some_possible(process, &location.edges)?;
                parts.push(self.all(&[meant, here, possible]));
            }
        }
        Ok(self.any(&parts))
    }
}
