//! Which channels are meant, and what is in them.

use model::{BinaryOp, ExprId, VarId};

use super::super::storage::At;
use super::super::world::Channel;
use super::{Lowered, Lowering, Scope};
use crate::program::{ChannelTest, Place, RecvArg};

impl<'a> Lowering<'a> {
    /// The channels that a place may mean, each with the condition that it does.
    pub(crate) fn channels(&mut self, scope: Scope, place: &Place) -> Lowered<Vec<(ExprId, usize)>> {
        let (row, index) = self.element(scope, place)?;
        let mut meant = Vec::new();
        match &row.at {
            At::Constants(values) => {
                let index = index.unwrap_or_else(|| self.int(0));
                // Other numbers mean no channel, whoever said that they do.
                let is_channel = |number: i32| (1..=self.world.channels.len()).contains(&(number as usize));
                for (at, &number) in values.iter().enumerate().filter(|(_, number)| is_channel(**number)) {
                    let at = self.int(at as i64);
                    let condition = self.binary(BinaryOp::Eq, index, at);
                    if self.constant(condition) != Some(0) {
                        meant.push((condition, number as usize - 1));
                    }
                }
            }
            At::Vars(_) | At::Nowhere => {
                let value = self.load(scope, place)?;
                for channel in 0..self.world.channels.len() {
                    self.pay()?;
                    let number = self.int(channel as i64 + 1);
                    meant.push((self.binary(BinaryOp::Eq, value, number), channel));
                }
            }
        }
        Ok(meant)
    }

    /// Something about the channel that a place means; 0 if it means none.
    pub(crate) fn over_channels(
        &mut self,
        scope: Scope,
        place: &Place,
        mut of: impl FnMut(&mut Self, usize) -> Lowered<ExprId>,
    ) -> Lowered<ExprId> {
        let mut value = self.int(0);
        for (condition, channel) in self.channels(scope, place)? {
            let its = of(self, channel)?;
            value = self.exprs.cond(condition, its, value);
        }
        Ok(value)
    }

    pub(crate) fn channel(&self, channel: usize) -> &'a Channel {
        &self.world.channels[channel]
    }

    pub(super) fn channel_test(&mut self, test: ChannelTest, channel: usize) -> ExprId {
        let channel = self.channel(channel);
        // In Spin's verifiers, a rendezvous port has room for the message on its way: it is never full.
        let capacity = self.int(channel.capacity().max(1).into());
        let len = match channel.len {
            Some(len) => self.exprs.var(len),
            None => self.int(0),
        };
        let zero = self.int(0);
        match test {
            ChannelTest::Len => len,
            ChannelTest::Empty => self.binary(BinaryOp::Eq, len, zero),
            ChannelTest::NonEmpty => self.binary(BinaryOp::Gt, len, zero),
            ChannelTest::Full => self.binary(BinaryOp::Eq, len, capacity),
            ChannelTest::NonFull => self.binary(BinaryOp::Lt, len, capacity),
        }
    }

    /// A field of a message, if there is such a field.
    pub(crate) fn cell(&self, channel: usize, field: usize, message: u32) -> Option<VarId> {
        let first = self.channel(channel).cells.get(field)?;
        Some(VarId::new(first.index() + message as usize))
    }

    /// Whether a message is as wanted; fields for which nothing is given do not matter.
    pub(crate) fn fits(&mut self, channel: usize, message: u32, wanted: &[Option<ExprId>]) -> ExprId {
        let len = self.channel(channel).len;
        let mut parts = Vec::new();
        if let Some(len) = len {
            let (len, message) = (self.exprs.var(len), self.int(message.into()));
            parts.push(self.binary(BinaryOp::Gt, len, message));
        }
        for (field, wanted) in wanted.iter().enumerate() {
            if let (Some(wanted), Some(cell)) = (wanted, self.cell(channel, field, message)) {
                let cell = self.exprs.var(cell);
                parts.push(self.binary(BinaryOp::Eq, cell, *wanted));
            }
        }
        self.all(&parts)
    }

    /// Whether the oldest message, or any, is as wanted. A rendezvous channel has none.
    pub(crate) fn has_message(
        &mut self,
        channel: usize,
        wanted: &[Option<ExprId>],
        random: bool,
    ) -> Lowered<ExprId> {
        let capacity = self.channel(channel).capacity();
        let looked_at = if random { capacity } else { capacity.min(1) };
        let mut parts = Vec::new();
        for message in 0..looked_at {
            self.pay()?;
            parts.push(self.fits(channel, message, wanted));
        }
        Ok(self.any(&parts))
    }

    /// What a receive statement wants of the fields.
    pub(crate) fn wanted(&mut self, scope: Scope, args: &[RecvArg]) -> Lowered<Vec<Option<ExprId>>> {
        args.iter()
            .map(|arg| match arg {
                RecvArg::Match(expr) => self.expr(scope, expr).map(Some),
                RecvArg::Store(_) | RecvArg::Ignore => Ok(None),
            })
            .collect()
    }
}
