//! Traces: what may be sent and received, in which order.
//!
//! A `trace` is an automaton that moves with the messages: with those that are sent to, or received from, a
//! channel whenever the trace has an event of that kind for that channel. One variable says where it is. A
//! message for which it has no event there is a fault, where assertions are looked at; elsewhere it stays
//! where it is. A `notrace` gives up at the first such message, and reaching its end is the fault. In a
//! handshake the message is sent first, then received; looking at a message (`c?<x>`) is no event.
//!
//! As in Spin, where the system may end, the trace must be at its end or at an `end` label, if there is a
//! process left; and its `accept` and `progress` labels do not count (the manual says that they do).
//! Different from Spin:
//!
//! - A `notrace` that was not matched makes no end invalid. (Spin calls it not completed.)
//! - `c!!x` and `c??x` are the message that is sent or received. (Spin looks at the last and at the first in
//!   the channel.)
//! - Jumps are no events. (Spin lets a jump that begins an option match everything.) A trace in which a jump
//!   follows no event is refused.
//! - It does not matter where in the file the trace stands. (In Spin, process 0 has no handshakes if it is
//!   the first body.)

use model::{ExprId, VarId};

use super::expr::{Lowered, Lowering, Scope, not_supported};
use crate::flow::{Action, Flow, LocationId};
use crate::program::{ProctypeId, ProctypeKind, Program, StmtKind};

/// The trace of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trace {
    pub(crate) proctype: ProctypeId,
    /// Where it is.
    pub(crate) at: VarId,
    /// Whether it is a `notrace`.
    pub(crate) forbids: bool,
}

/// An event that an edge of a trace waits for.
pub(crate) struct Waiting {
    pub(crate) location: LocationId,
    pub(crate) target: LocationId,
    pub(crate) fields: Vec<Option<i32>>,
}

impl Waiting {
    /// Whether a message has these fields.
    pub(crate) fn is_met(&self, lowering: &mut Lowering<'_>, values: &[ExprId]) -> ExprId {
        let mut parts = Vec::new();
        for (wanted, &value) in self.fields.iter().zip(values) {
            if let Some(wanted) = wanted {
                let wanted = lowering.int(i64::from(*wanted));
                parts.push(lowering.binary(model::BinaryOp::Eq, value, wanted));
            }
        }
        lowering.all(&parts)
    }

    /// Whether some message fits both.
    pub(crate) fn overlaps(&self, other: &Waiting) -> bool {
        self.fields.iter().zip(&other.fields).all(|pair| !matches!(pair, (Some(x), Some(y)) if x != y))
    }
}

/// The trace of a program, if it has one.
pub(crate) fn find(program: &Program) -> Option<(ProctypeId, bool)> {
    program.proctypes.iter().enumerate().find_map(|(index, proctype)| match proctype.kind {
        ProctypeKind::Trace => Some((ProctypeId::new(index), false)),
        ProctypeKind::NoTrace => Some((ProctypeId::new(index), true)),
        _ => None,
    })
}

/// The value of a trace that is over.
pub(crate) fn end_of(flow: &Flow<'_>) -> i64 {
    flow.end.map_or(flow.locations.len(), LocationId::index) as i64
}

impl<'a> Lowering<'a> {
    /// The events of the trace for what is done to a channel, in the order of the text.
    pub(crate) fn waiting(&mut self, trace: Trace, channel: usize, is_send: bool) -> Lowered<Vec<Waiting>> {
        let flow: &'a Flow<'a> = &self.flows[trace.proctype.index()];
        let mut found = Vec::new();
        for (index, location) in flow.locations.iter().enumerate() {
            for edge in &location.edges {
                let stmt = match edge.action {
                    Action::Stmt(stmt) => stmt,
                    Action::End => continue,
                    _ => return Err(not_supported(edge.span, "a jump that follows no event in a trace")),
                };
                let StmtKind::Event { channel: place, is_send: sends, fields } = &stmt.kind else { continue };
                let meant = self.channels(Scope::Global, place)?;
                let its = match meant[..] {
                    [(condition, its)] if self.constant(condition) == Some(1) => its,
                    _ => return Err(not_supported(edge.span, "a channel variable that changes in a trace")),
                };
                if its == channel && *sends == is_send {
                    let (location, target) = (LocationId::new(index), edge.target);
                    found.push(Waiting { location, target, fields: fields.clone() });
                }
            }
        }
        Ok(found)
    }

    /// Whether the trace may stay where it is; nothing if that does not matter.
    pub(crate) fn trace_may_end(&mut self) -> Option<ExprId> {
        let trace = self.world.trace.filter(|trace| !trace.forbids)?;
        let flow: &'a Flow<'a> = &self.flows[trace.proctype.index()];
        let ends = flow.locations.iter().enumerate().filter(|(_, location)| location.is_end);
        let parts: Vec<ExprId> = ends.map(|(index, _)| self.equals(trace.at, index as i64)).collect();
        Some(self.any(&parts))
    }
}
