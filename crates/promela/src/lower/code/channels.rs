//! Sending and receiving.

use model::{BinaryOp, Expr, ExprId, QueueUse, Stmt, VarId};

use super::super::expr::{Lowered, Receiver, Scope, receivers};
use super::super::tell::Sends;
use super::{Coder, Step};
use crate::flow::{Action, Edge};
use crate::program::{self, ExprKind, Place, RecvArg, StmtKind, Type};

impl<'a> Coder<'a> {
    /// Sends to each channel that may be meant.
    pub(super) fn send(
        &mut self,
        step: &Step<'a>,
        place: &Place,
        sorted: bool,
        args: &[program::Expr],
    ) -> Lowered<()> {
        let scope = Scope::Process(step.process);
        for (condition, channel) in self.lowering().channels(scope, place)? {
            let values = self.values(scope, channel, args)?;
            let misfit = self.misfit(channel, args.len(), step.edge);
            let Some(len) = self.world.channels[channel].len else {
                match misfit {
                    Some(error) => self.emit(step.head(&[condition]), vec![error])?,
                    None => self.meet(step, channel, &values, condition)?,
                }
                continue;
            };
            let capacity = i64::from(self.world.channels[channel].capacity());
            let mut lowering = self.lowering();
            let (len, capacity) = (lowering.exprs.var(len), lowering.int(capacity));
            let has_room = lowering.binary(BinaryOp::Lt, len, capacity);
            let effect = match misfit {
                Some(error) => vec![error],
                None => {
                    let event = self.event(channel, true, &values, step.edge)?;
                    [event, self.append(channel, &values, sorted)].concat()
                }
            };
            let queue = self.puts(channel, sorted, &values, &[&step.conditions[..], &[condition]].concat());
            let mut head = step.head(&[condition, has_room]);
            head.queue = queue;
            head.words[0].sends = Some(Sends::Send { channel, values });
            self.emit(head, effect)?;
        }
        Ok(())
    }

    /// Receives from each channel that may be meant and holds messages.
    pub(super) fn take_out(
        &mut self,
        step: &Step<'a>,
        place: &Place,
        random: bool,
        args: &[RecvArg],
    ) -> Lowered<()> {
        let scope = Scope::Process(step.process);
        for (condition, channel) in self.lowering().channels(scope, place)? {
            if self.world.channels[channel].len.is_none() {
                continue; // The sender's business.
            }
            let mut lowering = self.lowering();
            let wanted = lowering.wanted(scope, args)?;
            let has = lowering.has_message(channel, &wanted, random)?;
            let effect = match self.misfit(channel, args.len(), step.edge) {
                Some(error) => vec![error],
                None => self.receive(step.process, channel, step.edge, &wanted)?,
            };
            let queue = self.takes(scope, channel, args, &wanted, &step.conditions)?;
            let mut head = step.head(&[condition, has]);
            head.queue = queue;
            head.words[0].sends = Some(Sends::Receive { channel, wanted });
            self.emit(head, effect)?;
        }
        Ok(())
    }

    /// What sending does to the queue of a channel, if it looks at nothing else in the channel.
    fn puts(
        &self,
        channel: usize,
        sorted: bool,
        values: &[ExprId],
        conditions: &[ExprId],
    ) -> Option<QueueUse> {
        let looks = sorted || self.looks_at(channel, values.iter().chain(conditions).copied());
        self.world.channels[channel].queue.filter(|_| !looks).map(QueueUse::Put)
    }

    /// What receiving does to the queue of a channel, if it looks at nothing else in the channel.
    pub(super) fn takes(
        &mut self,
        scope: Scope,
        channel: usize,
        args: &[RecvArg],
        wanted: &[Option<ExprId>],
        conditions: &[ExprId],
    ) -> Lowered<Option<QueueUse>> {
        let mut read: Vec<ExprId> = wanted.iter().flatten().chain(conditions).copied().collect();
        for arg in args {
            if let RecvArg::Store(place) = arg {
                read.extend(self.lowering().element(scope, place)?.1);
            }
        }
        let looks = self.looks_at(channel, read.into_iter());
        Ok(self.world.channels[channel].queue.filter(|_| !looks).map(QueueUse::Take))
    }

    fn looks_at(&self, channel: usize, mut exprs: impl Iterator<Item = ExprId>) -> bool {
        exprs.any(|expr| {
            let mut vars = Vec::new();
            self.builder.exprs.reads(expr, &mut vars);
            vars.into_iter().any(|var| self.world.channels[channel].has(var))
        })
    }

    /// A fault, if a message has more or fewer fields than the channel, and assertions are looked at.
    pub(super) fn misfit(&mut self, channel: usize, n_args: usize, edge: &Edge<'a>) -> Option<Stmt> {
        let n_fields = self.world.channels[channel].shape.fields.len();
        (self.asserts && n_args != n_fields).then(|| {
            let what = format!("{n_args} fields for a channel whose messages have {n_fields}");
            self.failure(edge, &what)
        })
    }

    /// A fault.
    pub(super) fn failure(&mut self, edge: &Edge<'a>, what: &str) -> Stmt {
        let never = self.builder.exprs.int(0);
        self.promise(never, edge, what)
    }

    /// If assertions are looked at, what is wrong with a statement is a fault.
    pub(super) fn mistakes(&mut self, step: &Step<'a>) -> Lowered<()> {
        for (condition, what) in self.mistakes_of(step.process, step.edge)? {
            let failure = self.failure(step.edge, what);
            self.emit(step.head(&[condition]), vec![failure])?;
        }
        Ok(())
    }

    /// When a statement is wrong, if assertions are looked at: it sends to or receives from no channel, sends to a
    /// channel of a process that is no more, or asks for messages in a rendezvous channel.
    pub(super) fn mistakes_of(
        &mut self,
        process: usize,
        edge: &Edge<'a>,
    ) -> Lowered<Vec<(ExprId, &'static str)>> {
        let mut mistakes = Vec::new();
        let (true, Action::Stmt(stmt)) = (self.asserts, &edge.action) else { return Ok(mistakes) };
        let scope = Scope::Process(process);
        match &stmt.kind {
            StmtKind::Send { channel, .. } | StmtKind::Receive { channel, .. } => {
                let mut lowering = self.lowering();
                let number = lowering.load(scope, channel)?;
                let none = lowering.int(0);
                mistakes.push((lowering.binary(BinaryOp::Eq, number, none), "there is no channel yet"));
                if matches!(stmt.kind, StmtKind::Send { .. }) {
                    mistakes
                        .push((self.is_gone(process, channel)?, "the process of this channel is no more"));
                }
            }
            StmtKind::Expr(expr) => {
                let mut polled = Vec::new();
                polls(expr, &mut polled);
                let mut lowering = self.lowering();
                let mut parts = Vec::new();
                for place in polled {
                    for (condition, channel) in lowering.channels(scope, place)? {
                        if lowering.channel(channel).len.is_none() {
                            parts.push(condition);
                        }
                    }
                }
                mistakes.push((lowering.any(&parts), "a rendezvous channel never has a message"));
            }
            _ => {}
        }
        mistakes.retain(|(condition, _)| !matches!(self.builder.exprs.get(*condition), Expr::Int(0)));
        Ok(mistakes)
    }

    /// Whether a place means a channel of a process that is no more. (In Spin, nothing is in such a channel,
    /// and sending to it is an error.)
    fn is_gone(&mut self, process: usize, place: &Place) -> Lowered<ExprId> {
        let world = self.world;
        let mut lowering = self.lowering();
        let Some(n_channels) = world.n_channels else { return Ok(lowering.int(0)) };
        let mut parts = Vec::new();
        for (condition, channel) in lowering.channels(Scope::Process(process), place)? {
            let is_own = world.processes[process].own_channels.contains(&channel);
            let is_ever = world.processes.iter().any(|other| other.own_channels.contains(&channel));
            if is_ever && !is_own {
                let position = lowering.int(i64::from(world.channels[channel].position));
                let n = lowering.exprs.var(n_channels);
                let is_gone = lowering.binary(BinaryOp::Lt, n, position);
                parts.push(lowering.all(&[condition, is_gone]));
            }
        }
        Ok(lowering.any(&parts))
    }

    /// The values that are sent: one per field of the channel.
    pub(super) fn values(
        &mut self,
        scope: Scope,
        channel: usize,
        args: &[program::Expr],
    ) -> Lowered<Vec<ExprId>> {
        let fields: &'a [Type] = &self.world.channels[channel].shape.fields;
        let mut lowering = self.lowering();
        let mut values = Vec::new();
        for (index, &ty) in fields.iter().enumerate() {
            let value = match args.get(index) {
                Some(arg) => lowering.expr(scope, arg)?,
                None => lowering.int(0),
            };
            values.push(lowering.cut(value, ty));
        }
        Ok(values)
    }

    /// Puts a message into a channel that has room.
    pub(super) fn append(&mut self, channel: usize, values: &[ExprId], sorted: bool) -> Vec<Stmt> {
        let world = self.world;
        let capacity = world.channels[channel].capacity();
        let Some(len) = world.channels[channel].len else { return Vec::new() };
        let mut effect = Vec::new();
        if sorted && let Some(at) = world.scratch {
            // Those that are greater move up.
            let mut lowering = self.lowering();
            let (at_now, one, zero) = (lowering.exprs.var(at), lowering.int(1), lowering.int(0));
            let len_now = lowering.exprs.var(len);
            effect.push(Stmt::Assign(at, len_now));
            let before = lowering.binary(BinaryOp::Sub, at_now, one);
            let is_behind = lowering.binary(BinaryOp::Gt, at_now, zero);
            let mut greater = lowering.int(0);
            for (field, &value) in values.iter().enumerate().rev() {
                let first = world.channels[channel].cells[field];
                let cell = lowering.exprs.element(first, capacity, before);
                let more = lowering.binary(BinaryOp::Gt, cell, value);
                let same = lowering.binary(BinaryOp::Eq, cell, value);
                let same = lowering.all(&[same, greater]);
                greater = lowering.any(&[more, same]);
            }
            let moves = lowering.all(&[is_behind, greater]);
            let mut body = Vec::new();
            for &first in &world.channels[channel].cells {
                let value = lowering.exprs.element(first, capacity, before);
                body.push(Stmt::AssignElement { first, len: capacity, index: at_now, value });
            }
            body.push(Stmt::Add(at, -1));
            effect.push(Stmt::While(moves, body));
            for (field, &value) in values.iter().enumerate() {
                let first = world.channels[channel].cells[field];
                effect.push(Stmt::AssignElement { first, len: capacity, index: at_now, value });
            }
            effect.push(Stmt::Set(at, 0));
        } else {
            let index = self.builder.exprs.var(len);
            for (field, &value) in values.iter().enumerate() {
                let first = world.channels[channel].cells[field];
                effect.push(match (capacity, self.builder.exprs.get(value)) {
                    (1, Expr::Int(value)) => Stmt::Set(first, value),
                    (1, _) => Stmt::Assign(first, value),
                    _ => Stmt::AssignElement { first, len: capacity, index, value },
                });
            }
        }
        effect.push(Stmt::Add(len, 1));
        effect
    }

    /// Takes a message that fits out of a channel that has one.
    pub(super) fn receive(
        &mut self,
        process: usize,
        channel: usize,
        edge: &Edge<'a>,
        wanted: &[Option<ExprId>],
    ) -> Lowered<Vec<Stmt>> {
        let Action::Stmt(stmt) = &edge.action else { return Ok(Vec::new()) };
        let StmtKind::Receive { random, keep, args, .. } = &stmt.kind else { return Ok(Vec::new()) };
        let scope = Scope::Process(process);
        let world = self.world;
        let capacity = world.channels[channel].capacity();
        let Some(len) = world.channels[channel].len else { return Ok(Vec::new()) };
        let mut effect = Vec::new();
        let at = world.scratch.filter(|_| *random && capacity > 1);
        if let Some(at) = at {
            // Looks for the first that fits.
            let mut lowering = self.lowering();
            let (index, mut parts) = (lowering.exprs.var(at), Vec::new());
            for (field, wanted) in wanted.iter().enumerate() {
                if let (Some(wanted), Some(&first)) = (wanted, world.channels[channel].cells.get(field)) {
                    let cell = lowering.exprs.element(first, capacity, index);
                    parts.push(lowering.binary(BinaryOp::Ne, cell, *wanted));
                }
            }
            let differs = lowering.any(&parts);
            effect.push(Stmt::While(differs, vec![Stmt::Add(at, 1)]));
        }
        let mut values = Vec::new();
        for &first in &world.channels[channel].cells {
            values.push(match at {
                Some(at) => {
                    let index = self.builder.exprs.var(at);
                    self.builder.exprs.element(first, capacity, index)
                }
                None => self.builder.exprs.var(first),
            });
        }
        if !keep {
            effect.extend(self.event(channel, false, &values, edge)?);
        }
        for (arg, &value) in args.iter().zip(&values) {
            if let RecvArg::Store(place) = arg {
                effect.extend(self.store(scope, place, value)?);
            }
        }
        if !keep {
            match at {
                None => self.drop_first(channel, &mut effect),
                Some(at) => self.drop_at(channel, at, &mut effect),
            }
            effect.push(Stmt::Add(len, -1));
        }
        if let Some(at) = at {
            effect.push(Stmt::Set(at, 0));
        }
        Ok(effect)
    }

    /// The oldest message goes, and all others move down.
    fn drop_first(&mut self, channel: usize, effect: &mut Vec<Stmt>) {
        let channel = &self.world.channels[channel];
        let capacity = channel.capacity() as usize;
        for &first in &channel.cells {
            for message in 1..capacity {
                let next = self.builder.exprs.var(VarId::new(first.index() + message));
                effect.push(Stmt::Assign(VarId::new(first.index() + message - 1), next));
            }
            effect.push(Stmt::Set(VarId::new(first.index() + capacity - 1), 0));
        }
    }

    /// The message with the number that a variable has goes, and those behind it move down.
    fn drop_at(&mut self, channel: usize, at: VarId, effect: &mut Vec<Stmt>) {
        let channel = &self.world.channels[channel];
        let capacity = channel.capacity();
        let mut lowering = self.lowering();
        let (index, one) = (lowering.exprs.var(at), lowering.int(1));
        let next = lowering.binary(BinaryOp::Add, index, one);
        let last = lowering.int(i64::from(capacity) - 1);
        let goes_on = lowering.binary(BinaryOp::Lt, index, last);
        let mut body = Vec::new();
        for &first in &channel.cells {
            let value = lowering.exprs.element(first, capacity, next);
            body.push(Stmt::AssignElement { first, len: capacity, index, value });
        }
        body.push(Stmt::Add(at, 1));
        effect.push(Stmt::While(goes_on, body));
        for &first in &channel.cells {
            effect.push(Stmt::Set(VarId::new(first.index() + capacity as usize - 1), 0));
        }
    }

    /// All meetings at a rendezvous channel, where a condition says that this channel is meant.
    pub(super) fn meet(
        &mut self,
        step: &Step<'a>,
        channel: usize,
        values: &[ExprId],
        meant: ExprId,
    ) -> Lowered<()> {
        let edge = step.edge;
        let all = receivers(self.world, self.flows, step.process, self.cost)?;
        for receiver in &all {
            let Receiver { process: other, location, edge: its_edge, place, args, ref rest } = *receiver;
            let its = self.lowering().channels(Scope::Process(other), place)?;
            for (condition, its_channel) in its.into_iter().filter(|(_, its)| *its == channel) {
                let mut lowering = self.lowering();
                let allowed = lowering.allowed_to_meet(receiver, (channel, values), &all)?;
                let agrees = lowering.agrees(other, its_channel, values, args)?;
                let (from, to) =
                    (lowering.location(other, location), lowering.location(other, its_edge.target));
                let mut effect = Vec::new();
                effect.extend(self.misfit(channel, args.len(), its_edge));
                effect.extend(self.event(channel, true, values, edge)?);
                effect.extend(self.event(channel, false, values, its_edge)?);
                effect.extend(self.hand_over(Scope::Process(other), args, values)?);
                let mut words = self.plain_words(other, its_edge);
                if let Some((flow, start)) = rest {
                    words.inside = Some(self.inside(other, flow, *start, Some(effect.clone()))?);
                    effect.extend(self.d_step(other, flow, *start, true)?);
                }
                let mut head = step.head(&[&[meant], &allowed[..], &[condition, agrees]].concat());
                head.moves.push((other, from, to));
                // The receiver goes on, if it is inside an atomic sequence.
                head.next = its_edge.atomic.then_some(other);
                head.label = format!("{} -> {}", edge.text, its_edge.text);
                let values = values.to_vec();
                head.words[0].sends = Some(Sends::Hand { channel, values, to: other });
                head.words.push(words);
                self.emit(head, effect)?;
            }
        }
        Ok(())
    }
}

/// The channels whose messages are asked for in an expression.
fn polls<'e>(expr: &'e program::Expr, found: &mut Vec<&'e Place>) {
    match &expr.kind {
        ExprKind::Poll { channel, .. } => found.push(channel),
        ExprKind::Unary(_, x) => polls(x, found),
        ExprKind::Binary(_, operands) => {
            polls(&operands.0, found);
            polls(&operands.1, found);
        }
        ExprKind::Conditional(parts) => {
            polls(&parts.0, found);
            polls(&parts.1, found);
            polls(&parts.2, found);
        }
        _ => {}
    }
}
