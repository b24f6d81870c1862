//! A d_step is one effect.

use model::{BinaryOp, Expr, ExprId, Stmt, VarId};

use super::super::expr::{Lowered, Scope, not_supported};
use super::Coder;
use super::guards::size;
use crate::flow::{Action, Edge, Flow, Location, LocationId};
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
        let mut choices = Vec::new();
        for location in &flow.locations {
            choices.push(self.d_step_location(process, location, at, end)?);
        }
        let body = self.where_it_is(at, 1, choices);
        Ok(vec![Stmt::set(at, number(start)), Stmt::While(goes_on, body), Stmt::set(at, 0)])
    }

    /// What happens at a location of a d_step.
    fn d_step_location(
        &mut self,
        process: usize,
        location: &Location<'a>,
        at: VarId,
        end: i64,
    ) -> Lowered<Vec<Stmt>> {
        let mut choice: Vec<Stmt> = match location.edges.first() {
            None => vec![Stmt::set(at, end)],
            Some(edge) => {
                let never = self.builder.exprs.int(0);
                vec![self.promise(never, edge, "a d_step blocks")]
            }
        };
        for edge in location.edges.iter().rev() {
            let possible = match edge.action {
                Action::Else => self.builder.exprs.int(1),
                _ => self.possible_inside(process, edge)?,
            };
            let mut effect = self.d_step_edge(process, edge, false)?;
            effect.push(Stmt::set(at, number(edge.target)));
            choice = match self.builder.exprs.get(possible) {
                Expr::Int(0) => choice,
                Expr::Int(_) => effect,
                _ => vec![Stmt::If(possible, effect, choice)],
            };
        }
        Ok(choice)
    }

    /// The effect at the location that a variable tells, of which the first has the number `first`: found by
    /// halves, since there may be very many.
    pub(super) fn where_it_is(&mut self, at: VarId, first: i64, mut choices: Vec<Vec<Stmt>>) -> Vec<Stmt> {
        if choices.len() <= 1 {
            return choices.pop().unwrap_or_default();
        }
        let right = choices.split_off(choices.len() / 2);
        let middle = first + choices.len() as i64;
        let is_left = {
            let (now, middle) = (self.builder.exprs.var(at), self.builder.exprs.int(middle));
            self.builder.exprs.binary(BinaryOp::Lt, now, middle)
        };
        let (left, right) = (self.where_it_is(at, first, choices), self.where_it_is(at, middle, right));
        if left == right { left } else { vec![Stmt::If(is_left, left, right)] }
    }

    /// Whether a step of a d_step can be taken, or is a mistake.
    pub(super) fn possible_inside(&mut self, process: usize, edge: &Edge<'a>) -> Lowered<ExprId> {
        let mut parts = vec![self.lowering().can_execute_inside(process, edge)?];
        parts.extend(self.mistakes_of(process, edge)?.into_iter().map(|(condition, _)| condition));
        Ok(self.lowering().any(&parts))
    }

    /// One step of a d_step. It must be possible.
    pub(super) fn d_step_edge(
        &mut self,
        process: usize,
        edge: &Edge<'a>,
        checks: bool,
    ) -> Lowered<Vec<Stmt>> {
        self.cost.tick()?;
        let scope = Scope::Process(process);
        let mut effect = Vec::new();
        for (condition, what) in self.mistakes_of(process, edge)? {
            let failure = self.failure(edge, what);
            effect.push(self.only_if(condition, vec![failure]));
        }
        if checks {
            let possible = self.possible_inside(process, edge)?;
            if !matches!(self.builder.exprs.get(possible), Expr::Int(1..)) {
                effect.push(self.promise(possible, edge, "a d_step blocks"));
            }
        }
        match &edge.action {
            Action::Stmt(stmt) => match &stmt.kind {
                StmtKind::Send { channel, sorted, args } => {
                    for (condition, channel) in self.lowering().channels(scope, channel)? {
                        if self.world.channels[channel].len.is_none() {
                            let failure = self.failure(edge, "a rendezvous inside of a d_step");
                            effect.push(self.only_if(condition, vec![failure]));
                            continue;
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
        self.cost.hold(effect.iter().map(size).sum::<usize>() * size_of::<Stmt>())?;
        Ok(effect)
    }

    pub(super) fn only_if(&self, condition: ExprId, effect: Vec<Stmt>) -> Stmt {
        Stmt::If(condition, effect, Vec::new())
    }
}

/// What a location of a d_step is called while it happens.
fn number(location: LocationId) -> i64 {
    location.index() as i64 + 1
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
