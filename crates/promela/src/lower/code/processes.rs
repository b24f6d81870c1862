//! The start and the end of processes.

use model::{BinaryOp, ExprId, Stmt, VarId};

use super::super::Probe;
use super::super::expr::{Lowered, Lowering, Scope};
use super::super::plan::{InstanceId, Site, Ticket};
use super::super::storage::{At, Part, n_channels, parts};
use super::super::world::{Priorities, initial_values};
use super::{Coder, Step};
use crate::flow::{Action, Edge, Flow};
use crate::program::{self, ExprKind, Init, Place, StmtKind};

/// What a `run` starts, and where the number of the process goes.
#[derive(Clone, Copy)]
pub(super) struct Start<'a> {
    pub(super) proctype: program::ProctypeId,
    pub(super) priority: u32,
    pub(super) args: &'a [program::Expr],
    pub(super) result: Option<&'a Place>,
}

impl<'a> Coder<'a> {
    /// A process that was the youngest is gone, and so are its channels.
    pub(super) fn end(&mut self, process: usize) -> Vec<Stmt> {
        let world = self.world;
        let process = &world.processes[process];
        let mut effect: Vec<Stmt> =
            (process.frame.0..process.frame.1).map(|var| Stmt::set(VarId::new(var), 0)).collect();
        for &channel in &process.own_channels {
            let channel = &world.channels[channel];
            effect.extend(channel.len.map(|len| Stmt::set(len, 0)));
            for first in &channel.cells {
                let cells = (0..channel.capacity() as usize).map(|at| VarId::new(first.index() + at));
                effect.extend(cells.map(|cell| Stmt::set(cell, 0)));
            }
        }
        if let Some(n_channels) = world.n_channels
            && !process.own_channels.is_empty()
        {
            effect.push(Stmt::set(n_channels, i64::from(process.instance.n_channels)));
        }
        if let Priorities::Vars(vars) = &world.priorities {
            effect.push(Stmt::set(vars[process.instance.slot as usize], 0));
        }
        effect.push(Stmt::set(world.n_processes, i64::from(process.instance.slot)));
        effect
    }

    /// What happens when a process starts: its parameters get these values.
    pub(crate) fn start(&mut self, process: usize, args: &[ExprId]) -> Lowered<Vec<Stmt>> {
        let world = self.world;
        let started = &world.processes[process];
        let proctype = &self.program.proctypes[started.instance.proctype.index()];
        let scope = Scope::Process(process);
        let mut effect = Vec::new();
        for (index, local) in proctype.locals.iter().enumerate() {
            let row = &started.locals[index].rows;
            if index < proctype.n_parameters {
                if let ([row], Some(&value)) = (&row[..], args.get(index))
                    && let At::Vars(var) = row.at
                {
                    let value = self.lowering().cut(value, row.ty);
                    effect.push(Stmt::Assign(var, value));
                }
                continue;
            }
            let own = self.own_channels(process, index);
            for ((row, part), own) in row.iter().zip(parts(self.program, local)).zip(own) {
                let At::Vars(first) = row.at else { continue };
                let vars = (0..row.len() as usize).map(|at| VarId::new(first.index() + at));
                match &part.declared.init {
                    Init::Zero => {}
                    Init::Expr(expr) => {
                        let value = self.lowering().expr(scope, expr)?;
                        let value = self.lowering().cut(value, row.ty);
                        effect.extend(vars.map(|var| Stmt::Assign(var, value)));
                    }
                    Init::List(_) | Init::Channel(_) => {
                        let values = initial_values(&part, &own, &|_| None).unwrap_or_default();
                        effect.extend(vars.zip(values).map(|(var, value)| Stmt::set(var, i64::from(value))));
                    }
                }
            }
        }
        if let Some(n_channels) = world.n_channels
            && !started.own_channels.is_empty()
        {
            let n = i64::from(started.instance.n_channels) + started.own_channels.len() as i64;
            effect.push(Stmt::set(n_channels, n));
        }
        let slot = started.instance.slot;
        if let Priorities::Vars(vars) = &world.priorities {
            effect.push(Stmt::set(vars[slot as usize], i64::from(started.instance.priority)));
        }
        let initial = self.flows[started.instance.proctype.index()].initial;
        let lowering = self.lowering();
        let (pc, location) = (lowering.pc(process), lowering.location(process, initial));
        effect.push(Stmt::set(pc, location));
        effect.push(Stmt::set(world.n_processes, i64::from(slot) + 1));
        Ok(effect)
    }

    /// The numbers of the channels of a local variable of a process, part by part.
    pub(super) fn own_channels(&self, process: usize, local: usize) -> Vec<Vec<i32>> {
        let started = &self.world.processes[process];
        let proctype = &self.program.proctypes[started.instance.proctype.index()];
        let before: u32 = proctype.locals[..local].iter().map(|local| n_channels(self.program, local)).sum();
        let mut own = started.own_channels[before as usize..].iter().map(|&channel| channel as i32 + 1);
        let parts = parts(self.program, &proctype.locals[local]);
        let n = |part: &Part<'_>| match part.declared.init {
            Init::Channel(_) => part.len() as usize,
            _ => 0,
        };
        parts.iter().map(|part| own.by_ref().take(n(part)).collect()).collect()
    }

    /// All that a `run` may start, and a probe for what it was not seen to start yet.
    pub(super) fn start_all(&mut self, step: &Step<'a>, run: Start<'a>) -> Lowered<()> {
        let Start { proctype, priority, args, result } = run;
        let scope = Scope::Process(step.process);
        let parameters = &self.program.proctypes[proctype.index()].locals;
        let mut lowering = self.lowering();
        let mut values = Vec::new();
        for (arg, parameter) in args.iter().zip(parameters) {
            let value = lowering.expr(scope, arg)?;
            values.push(lowering.cut(value, parameter.ty));
        }
        let site = Site { caller: InstanceId::new(step.process), statement: step.edge.statement };
        let known = self.plan.started_by(site).to_vec();
        let mut slots: Vec<u32> = known.iter().map(|id| self.plan.instances()[id.index()].slot).collect();
        slots.sort_unstable();
        slots.dedup();
        let probe = self.probe(site, proctype, priority, &values);
        for &slot in &slots {
            let mut lowering = self.lowering();
            let here = lowering.equals(lowering.world.n_processes, i64::from(slot));
            // Who says this has a condition on the place that the process gets, as all others have who use it.
            let is_free = lowering.equals(lowering.world.slots[slot as usize], 0);
            let mut others = vec![here, is_free];
            for id in known.iter().filter(|id| self.plan.instances()[id.index()].slot == slot) {
                let meant = self.is_instance(*id, &values);
                let mut start = self.start(id.index(), &values)?;
                if let Some(place) = result {
                    let pid = self.builder.exprs.int(i64::from(slot));
                    start.extend(self.store(scope, place, pid)?);
                }
                self.emit(step.head(&[here, is_free, meant]), start)?;
                others.push(self.lowering().not(meant));
            }
            self.emit(step.head(&others), vec![probe.clone()])?;
        }
        let mut lowering = self.lowering();
        let mut others = Vec::new();
        for slot in slots {
            let here = lowering.equals(lowering.world.n_processes, i64::from(slot));
            others.push(lowering.not(here));
        }
        let most = i64::from(lowering.program.max_processes);
        let is_full = lowering.equals(lowering.world.n_processes, most);
        others.push(lowering.not(is_full));
        self.emit(step.head(&others), vec![probe])?;
        let failure = self.failure(step.edge, &format!("more than {most} processes at once"));
        self.emit(step.head(&[is_full]), vec![failure])?;
        Ok(())
    }

    /// Whether these values, and the number of channels, are those of a process of the plan.
    pub(super) fn is_instance(&mut self, id: InstanceId, values: &[ExprId]) -> ExprId {
        let world = self.world;
        let instance = &self.plan.instances()[id.index()];
        let has_channels = !world.processes[id.index()].own_channels.is_empty();
        let mut lowering = self.lowering();
        let mut parts = Vec::new();
        if let Some(n_channels) = world.n_channels
            && has_channels
        {
            parts.push(lowering.equals(n_channels, i64::from(instance.n_channels)));
        }
        for (&value, argument) in values.iter().zip(&instance.arguments) {
            if let Some(argument) = argument {
                let argument = lowering.int(i64::from(*argument));
                parts.push(lowering.binary(BinaryOp::Eq, value, argument));
            }
        }
        lowering.all(&parts)
    }

    /// A statement that fails with a number which tells what is to be started.
    pub(super) fn probe(
        &mut self,
        site: Site,
        proctype: program::ProctypeId,
        priority: u32,
        values: &[ExprId],
    ) -> Stmt {
        let world = self.world;
        let ticket = &self.tickets[proctype.index()];
        let weights = ticket.weights();
        let mut lowering = self.lowering();
        let mut number = lowering.exprs.var(world.n_processes);
        if let Some(n_channels) = world.n_channels {
            let n = lowering.exprs.var(n_channels);
            number = add_shifted(&mut lowering, number, n, Ticket::CHANNEL_WEIGHT);
        }
        for (&value, weight) in values.iter().zip(weights) {
            if let Some((lo, shift)) = weight {
                let lo = lowering.int(i64::from(lo));
                let value = lowering.binary(BinaryOp::Sub, value, lo);
                number = add_shifted(&mut lowering, number, value, shift);
            }
        }
        // A variable with one value only: whatever is assigned is out of its range, and says what is to be made.
        let one = lowering.int(1);
        let number = lowering.binary(BinaryOp::Add, number, one);
        let var = VarId::new(self.first_probe + self.probes.len());
        self.probes.push(Probe { var, site, proctype, priority });
        Stmt::Assign(var, number)
    }
}

/// How many edges of a graph start a process.
pub(crate) fn n_starts(flow: &Flow<'_>) -> usize {
    let starts = |edge: &&Edge<'_>| match &edge.action {
        Action::Stmt(stmt) => match &stmt.kind {
            StmtKind::Expr(expr) | StmtKind::Assign(_, expr) => matches!(expr.kind, ExprKind::Run { .. }),
            _ => false,
        },
        _ => false,
    };
    flow.locations.iter().flat_map(|location| &location.edges).filter(starts).count()
}

fn add_shifted(lowering: &mut Lowering<'_>, sum: ExprId, value: ExprId, shift: u32) -> ExprId {
    let factor = lowering.int(1i64 << shift);
    let value = lowering.binary(BinaryOp::Mul, value, factor);
    lowering.binary(BinaryOp::Add, sum, value)
}
