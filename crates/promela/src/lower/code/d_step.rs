//! A d_step is one effect.

use model::{BinaryOp, Expr, ExprId, Stmt};

use super::super::expr::{Lowered, Scope, not_supported};
use super::Coder;
use crate::flow::{Action, Edge, Flow, LocationId};
use crate::program::{self, ExprKind, StmtKind};

impl<'a> Coder<'a> {
    /// A d_step from some location on, at once. Unless it checks the first step, that must be possible.
    pub(super) fn d_step(
        &mut self,
        process: usize,
        flow: &Flow<'a>,
        start: LocationId,
        checks: bool,
    ) -> Lowered<Vec<Stmt>> {
        if let Some(line) = straight(flow, start) {
            let mut effect = Vec::new();
            for (number, edge) in line.into_iter().enumerate() {
                effect.extend(self.d_step_edge(process, edge, checks || number > 0)?);
            }
            return Ok(effect);
        }
        let Some(at) = self.world.scratch else { return Ok(Vec::new()) };
        let (now, end) = (self.builder.exprs.var(at), flow.locations.len() as i64 + 1);
        let goes_on = {
            let end = self.builder.exprs.int(end);
            self.builder.exprs.binary(BinaryOp::Ne, now, end)
        };
        let number = |location: LocationId| location.index() as i64 + 1;
        let mut body: Vec<Stmt> = Vec::new();
        // Built from the last location to the first: each is looked for in the `else` of the one before.
        for (index, location) in flow.locations.iter().enumerate().rev() {
            let here = self.lowering().equals(at, index as i64 + 1);
            let mut choice: Vec<Stmt> = match (location.edges.is_empty(), location.edges.first()) {
                (true, _) | (_, None) => vec![Stmt::set(at, end)],
                (false, Some(edge)) => {
                    let never = self.builder.exprs.int(0);
                    let edge = edge.clone();
                    vec![self.promise(never, &edge, "a d_step blocks")]
                }
            };
            for edge in location.edges.iter().rev() {
                let possible = match edge.action {
                    Action::Else => self.builder.exprs.int(1),
                    _ => self.lowering().can_execute(process, edge)?,
                };
                let mut effect = self.d_step_edge(process, edge, false)?;
                effect.push(Stmt::set(at, number(edge.target)));
                choice = match self.builder.exprs.get(possible) {
                    Expr::Int(0) => choice,
                    Expr::Int(_) => effect,
                    _ => vec![Stmt::If(possible, effect, choice)],
                };
            }
            body = vec![Stmt::If(here, choice, body)];
        }
        Ok(vec![Stmt::set(at, number(start)), Stmt::While(goes_on, body), Stmt::set(at, 0)])
    }

    /// One step of a d_step. It must be possible.
    pub(super) fn d_step_edge(
        &mut self,
        process: usize,
        edge: &Edge<'a>,
        checks: bool,
    ) -> Lowered<Vec<Stmt>> {
        let scope = Scope::Process(process);
        let mut effect = Vec::new();
        if checks {
            let possible = self.lowering().can_execute(process, edge)?;
            if !matches!(self.builder.exprs.get(possible), Expr::Int(1..)) {
                effect.push(self.promise(possible, edge, "a d_step blocks"));
            }
        }
        match &edge.action {
            Action::Stmt(stmt) => match &stmt.kind {
                StmtKind::Send { channel, sorted, args } => {
                    for (condition, channel) in self.lowering().channels(scope, channel)? {
                        if self.world.channels[channel].len.is_none() {
                            continue; // Never possible.
                        }
                        let values = self.values(scope, channel, args)?;
                        let its = match self.misfit(channel, args.len(), edge) {
                            Some(error) => vec![error],
                            None => {
                                let event = self.event(channel, true, &values, edge)?;
                                [event, self.append(channel, &values, *sorted)].concat()
                            }
                        };
                        effect.push(self.only_if(condition, its));
                    }
                }
                StmtKind::Receive { channel, args, .. } => {
                    for (condition, channel) in self.lowering().channels(scope, channel)? {
                        let wanted = self.lowering().wanted(scope, args)?;
                        let its = match self.misfit(channel, args.len(), edge) {
                            Some(error) => vec![error],
                            None => self.receive(process, channel, edge, &wanted)?,
                        };
                        effect.push(self.only_if(condition, its));
                    }
                }
                StmtKind::Expr(program::Expr { kind: ExprKind::Run { .. }, span })
                | StmtKind::Assign(_, program::Expr { kind: ExprKind::Run { .. }, span }) => {
                    return Err(not_supported(*span, "`run` inside of a d_step"));
                }
                _ => effect.extend(self.simple(process, edge)?),
            },
            Action::DStep(flow) => effect.extend(self.d_step(process, flow, flow.initial, false)?),
            Action::Jump | Action::Else | Action::End => {}
        }
        Ok(effect)
    }

    pub(super) fn only_if(&self, condition: ExprId, effect: Vec<Stmt>) -> Stmt {
        Stmt::If(condition, effect, Vec::new())
    }
}

/// The edges of a graph from some location on, if there is no choice, in order.
fn straight<'f, 'a>(flow: &'f Flow<'a>, start: LocationId) -> Option<Vec<&'f Edge<'a>>> {
    let (mut line, mut at) = (Vec::new(), start);
    loop {
        match &flow.locations[at.index()].edges[..] {
            [] => return Some(line),
            [edge] if line.len() < flow.locations.len() => {
                line.push(edge);
                at = edge.target;
            }
            _ => return None,
        }
    }
}

/// The greatest value that the effects of a graph need in between, if they need one.
pub(crate) fn scratch_of(flow: &Flow<'_>) -> Option<i64> {
    let of_edge = |edge: &Edge<'_>| match &edge.action {
        Action::DStep(inner) => {
            let own = straight(inner, inner.initial).is_none().then(|| inner.locations.len() as i64 + 1);
            own.max(scratch_of(inner))
        }
        Action::Stmt(stmt) => match stmt.kind {
            StmtKind::Send { sorted: true, .. } | StmtKind::Receive { random: true, .. } => Some(255),
            _ => None,
        },
        Action::Jump | Action::Else | Action::End => None,
    };
    flow.locations.iter().flat_map(|location| &location.edges).filter_map(of_edge).max()
}
