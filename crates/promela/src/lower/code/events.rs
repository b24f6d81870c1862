//! How the trace moves with a message: see [`crate::lower::trace`].

use model::{ExprId, Stmt};

use super::super::expr::Lowered;
use super::super::trace::{Trace, Waiting, end_of};
use super::Coder;
use crate::flow::{Edge, Flow};

impl<'a> Coder<'a> {
    /// What a message means to the trace. It goes before the channel or any variable changes.
    pub(super) fn event(
        &mut self,
        channel: usize,
        is_send: bool,
        values: &[ExprId],
        edge: &Edge<'a>,
    ) -> Lowered<Vec<Stmt>> {
        let Some(trace) = self.world.trace else { return Ok(Vec::new()) };
        let waiting = self.lowering().waiting(trace, channel, is_send)?;
        if waiting.is_empty() {
            return Ok(Vec::new());
        }
        let flow: &'a Flow<'a> = &self.flows[trace.proctype.index()];
        let mut choices = Vec::new();
        for (index, _) in flow.locations.iter().enumerate() {
            self.cost.tick()?;
            let mut choice = self.no_event(trace, flow, Some(index), edge);
            let its: Vec<&Waiting> = waiting.iter().filter(|event| event.location.index() == index).collect();
            for (number, event) in its.iter().enumerate().rev() {
                let met = event.is_met(&mut self.lowering(), values);
                let moves = self.moves(trace, flow, event, &its[number + 1..], values, edge);
                choice = vec![Stmt::If(met, moves, choice)];
            }
            choices.push(choice);
        }
        choices.push(self.no_event(trace, flow, None, edge));
        Ok(self.where_it_is(trace.at, 0, choices))
    }

    /// The trace moves on by an event.
    fn moves(
        &mut self,
        trace: Trace,
        flow: &Flow<'a>,
        event: &Waiting,
        others: &[&Waiting],
        values: &[ExprId],
        edge: &Edge<'a>,
    ) -> Vec<Stmt> {
        let (to, mut effect) = (event.target.index() as i64, Vec::new());
        if self.asserts && trace.forbids && to == end_of(flow) {
            return vec![self.failure(edge, "the notrace is matched")];
        }
        let asserts = self.asserts;
        for other in others.iter().filter(|other| asserts && event.overlaps(other)) {
            let met = other.is_met(&mut self.lowering(), values);
            let what = "the trace has two events for this";
            effect.push(Stmt::If(met, vec![self.failure(edge, what)], Vec::new()));
        }
        effect.push(Stmt::set(trace.at, to));
        effect
    }

    /// The trace, at some location or at its end, has no event for a message.
    fn no_event(&mut self, trace: Trace, flow: &Flow<'a>, at: Option<usize>, edge: &Edge<'a>) -> Vec<Stmt> {
        if trace.forbids {
            return vec![Stmt::set(trace.at, end_of(flow))];
        }
        let Some(at) = at.filter(|_| self.asserts) else { return Vec::new() };
        let edges = flow.locations[at].edges.iter();
        let events: Vec<&str> = edges
            .filter(|edge| !matches!(edge.action, crate::flow::Action::End))
            .map(|edge| &*edge.text)
            .collect();
        let what = match events[..] {
            [] => "the trace allows nothing more".to_owned(),
            _ => format!("the trace allows only `{}` here", events.join("` or `")),
        };
        vec![self.failure(edge, &what)]
    }
}
