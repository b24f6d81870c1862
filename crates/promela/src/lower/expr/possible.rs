//! What can happen.

use std::sync::Arc;

use base::Limit;
use model::{BinaryOp, ExprId};

use super::super::world::World;
use super::{Lowered, Lowering, Scope};
use crate::cost::Cost;
use crate::flow::{Action, Edge, Flow, LocationId};
use crate::program::{self, ChannelTest, ExprKind, Place, RecvArg, StmtKind};

impl<'a> Lowering<'a> {
    /// Whether a process that is where these edges begin can do something, `provided` or not. Where there is
    /// an `else`, it can.
    pub(crate) fn some_possible(&mut self, process: usize, edges: &[Edge<'a>]) -> Lowered<ExprId> {
        let parts =
            edges.iter().map(|edge| self.can_execute(process, edge)).collect::<Lowered<Vec<ExprId>>>()?;
        Ok(self.any(&parts))
    }

    /// What `provided` says.
    pub(crate) fn provided(&mut self, process: usize) -> Lowered<ExprId> {
        let proctype = &self.program.proctypes[self.process(process).instance.proctype.index()];
        match &proctype.provided {
            Some(provided) => self.expr(Scope::Process(process), provided),
            None => Ok(self.int(1)),
        }
    }

    /// What must be true besides: `provided`, and that no escape comes first.
    pub(crate) fn allowed(
        &mut self,
        process: usize,
        edges: &[Edge<'a>],
        edge: &Edge<'a>,
    ) -> Lowered<Vec<ExprId>> {
        let mut parts = vec![self.provided(process)?];
        let earlier = edges.iter().take_while(|other| other.escape != edge.escape);
        for escape in earlier.filter(|other| other.escape > 0) {
            let possible = self.can_execute(process, escape)?;
            parts.push(self.not(possible));
        }
        Ok(parts)
    }

    /// The same for who receives in a rendezvous. As in Spin, nobody can do anything else while a message is handed over, so
    /// the only escapes that come first are those that receive it.
    pub(crate) fn allowed_to_meet(
        &mut self,
        receiver: &Receiver<'a>,
        (channel, values): (usize, &[ExprId]),
        receivers: &[Receiver<'a>],
    ) -> Lowered<Vec<ExprId>> {
        let Receiver { process, location, edge, .. } = *receiver;
        let edges = &self.flows[self.process(process).instance.proctype.index()].location(location).edges;
        let mut parts = vec![self.provided(process)?];
        let earlier = edges.iter().take_while(|other| other.escape != edge.escape);
        for escape in earlier.filter(|other| other.escape > 0) {
            for its in receivers.iter().filter(|its| its.process == process && std::ptr::eq(its.edge, escape))
            {
                for (condition, its_channel) in self.channels(Scope::Process(process), its.place)? {
                    if its_channel == channel {
                        let agrees = self.agrees(process, channel, values, its.args)?;
                        let receives = self.all(&[condition, agrees]);
                        parts.push(self.not(receives));
                    }
                }
            }
        }
        Ok(parts)
    }

    /// Whether one of the edges before an `else` can be taken. As in Spin, those after it do not matter: there
    /// are some if the `else` is in a selection that begins an option of another one.
    pub(crate) fn others_possible(&mut self, process: usize, edges: &[Edge<'a>]) -> Lowered<ExprId> {
        let mut parts = Vec::new();
        for edge in edges.iter().filter(|edge| !matches!(edge.action, Action::Else)) {
            parts.push(self.can_execute(process, edge)?);
        }
        Ok(self.any(&parts))
    }

    /// Whether a statement can be executed.
    pub(crate) fn can_execute(&mut self, process: usize, edge: &Edge<'a>) -> Lowered<ExprId> {
        let scope = Scope::Process(process);
        match &edge.action {
            Action::Jump | Action::Else => Ok(self.int(1)),
            Action::End => {
                let slot = i64::from(self.process(process).instance.slot);
                Ok(self.equals(self.world.n_processes, slot + 1))
            }
            Action::DStep(flow) => {
                let mut parts = Vec::new();
                for edge in &flow.location(flow.initial).edges {
                    let possible = match edge.action {
                        Action::Else => self.int(1),
                        _ => self.can_execute_inside(process, &edge.clone())?,
                    };
                    parts.push(possible);
                }
                Ok(self.any(&parts))
            }
            Action::Stmt(stmt) => match &stmt.kind {
                StmtKind::Expr(program::Expr { kind: ExprKind::Run { .. }, .. }) => Ok(self.int(1)),
                StmtKind::Expr(expr) => self.expr(scope, expr),
                StmtKind::Send { channel, args, .. } => {
                    let values = args.iter().map(|arg| self.expr(scope, arg)).collect::<Lowered<Vec<_>>>()?;
                    self.over_channels(scope, channel, |this, channel| match this.channel(channel).len {
                        Some(_) => Ok(this.channel_test(ChannelTest::NonFull, channel)),
                        None => this.somebody_receives(process, channel, &values),
                    })
                }
                StmtKind::Receive { channel, random, args, .. } => {
                    let wanted = self.wanted(scope, args)?;
                    self.over_channels(scope, channel, |this, channel| {
                        this.has_message(channel, &wanted, *random)
                    })
                }
                _ => Ok(self.int(1)),
            },
        }
    }

    /// The same inside of a d_step, where nobody else moves: it is a mistake to send to a rendezvous channel.
    pub(crate) fn can_execute_inside(&mut self, process: usize, edge: &Edge<'a>) -> Lowered<ExprId> {
        match &edge.action {
            Action::Stmt(program::Stmt { kind: StmtKind::Send { channel, .. }, .. }) => {
                self.over_channels(Scope::Process(process), channel, |this, channel| {
                    Ok(this.channel_test(ChannelTest::NonFull, channel))
                })
            }
            _ => self.can_execute(process, edge),
        }
    }

    /// Whether somebody else waits for these values at a rendezvous channel.
    pub(super) fn somebody_receives(
        &mut self,
        process: usize,
        channel: usize,
        values: &[ExprId],
    ) -> Lowered<ExprId> {
        let mut parts = Vec::new();
        for Receiver { process: other, location, place, args, .. } in
            receivers(self.world, self.flows, process, self.cost)?
        {
            for (condition, its_channel) in self.channels(Scope::Process(other), place)? {
                if its_channel == channel {
                    let here = self.is_at(other, location);
                    let agrees = self.agrees(other, channel, values, args)?;
                    parts.push(self.all(&[here, condition, agrees]));
                }
            }
        }
        Ok(self.any(&parts))
    }

    /// Whether values that are sent are those that a receiver wants.
    pub(crate) fn agrees(
        &mut self,
        receiver: usize,
        channel: usize,
        values: &[ExprId],
        args: &[RecvArg],
    ) -> Lowered<ExprId> {
        let fields = &self.channel(channel).shape.fields;
        let wanted = self.wanted(Scope::Process(receiver), args)?;
        let mut parts = Vec::new();
        for (field, wanted) in wanted.into_iter().enumerate() {
            if let (Some(wanted), Some(&ty)) = (wanted, fields.get(field)) {
                let value = values.get(field).copied().unwrap_or_else(|| self.exprs.int(0));
                let value = self.cut(value, ty);
                parts.push(self.binary(BinaryOp::Eq, value, wanted));
            }
        }
        Ok(self.all(&parts))
    }
}

/// Where a process receives.
pub(crate) struct Receiver<'a> {
    pub(crate) process: usize,
    pub(crate) location: LocationId,
    pub(crate) edge: &'a Edge<'a>,
    pub(crate) place: &'a Place,
    pub(crate) args: &'a [RecvArg],
    /// If it is the first step of a d_step: the d_step, and where it goes on.
    pub(crate) rest: Option<(Arc<Flow<'a>>, LocationId)>,
}

/// All edges at which processes with other numbers than this one receive.
pub(crate) fn receivers<'a>(
    world: &'a World,
    flows: &'a [Flow<'a>],
    process: usize,
    cost: &dyn Cost,
) -> Result<Vec<Receiver<'a>>, Limit> {
    let slot = world.processes[process].instance.slot;
    let mut found = Vec::new();
    for (other, its) in world.processes.iter().enumerate().filter(|(_, its)| its.instance.slot != slot) {
        for (index, location) in flows[its.instance.proctype.index()].locations.iter().enumerate() {
            cost.tick()?;
            for edge in &location.edges {
                let receiver = |first: &Action<'a>, rest| match first {
                    Action::Stmt(stmt) => match &stmt.kind {
                        StmtKind::Receive { channel, args, .. } => Some(Receiver {
                            process: other,
                            location: LocationId::new(index),
                            edge,
                            place: channel,
                            args,
                            rest,
                        }),
                        _ => None,
                    },
                    _ => None,
                };
                match &edge.action {
                    Action::DStep(flow) => {
                        let firsts = &flow.locations[flow.initial.index()].edges;
                        let rest = |first: &Edge<'a>| Some((flow.clone(), first.target));
                        found.extend(firsts.iter().filter_map(|first| receiver(&first.action, rest(first))));
                    }
                    action => found.extend(receiver(action, None)),
                }
            }
        }
    }
    Ok(found)
}
