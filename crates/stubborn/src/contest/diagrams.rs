//! What decision diagrams answer: where states are too many to be listed, they may still fit in a diagram.
//!
//! Whether they do is not known before. So a little is tried early, after what is answered at once, and more of it late,
//! before searches of all that is left. A diagram has all states and no run: what it says to be possible is not replayed.

use language::{Diagram, Enabled, Extent};
use model::ExprId;

use super::bounds::Greatest;
use super::markings::Asked;
use super::{Contest, ContestAnswer, Technique};
use crate::decide::states::Aim;

/// How much is tried.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effort {
    /// As much as takes a moment.
    Little,
    /// As much as takes this share of the time, and half of the memory.
    Share(f64),
}

/// The part of the time, and the bytes, that take a moment.
const MOMENT: f64 = 0.05;
const MOMENT_BYTES: u64 = 48 << 20;

impl Contest<'_> {
    /// The diagram of the model, if there is one.
    fn diagram(&mut self, effort: Effort) -> Option<Box<dyn Diagram>> {
        if !self.diagrams {
            return None;
        }
        let (share, max_bytes) = match effort {
            Effort::Little => (MOMENT, MOMENT_BYTES),
            Effort::Share(share) => (share, u64::MAX),
        };
        let clock = self.clock.part(share);
        let mut budget = clock.budget();
        budget.max_bytes = max_bytes.min(budget.max_bytes / 2);
        self.model.diagram(&mut budget).ok().flatten()
    }

    /// How large the state space is.
    pub(super) fn extent_by_diagram(&mut self, effort: Effort) -> Option<Extent> {
        let mut diagram = self.diagram(effort)?;
        diagram.extent(&mut self.clock.part(0.5).budget()).ok()
    }

    /// Removes questions about markings that a diagram answers.
    pub(super) fn decide_by_diagram(&mut self, asked: &mut Vec<Asked>, effort: Effort) {
        if asked.is_empty() {
            return;
        }
        let Some(mut diagram) = self.diagram(effort) else { return };
        for question in std::mem::take(asked) {
            match self.can_reach(&mut *diagram, question.aim) {
                Some(found) => self.truth(&question.id, found == question.possible, Technique::Diagram),
                None => asked.push(question),
            }
        }
    }

    /// Whether an aim can be reached.
    fn can_reach(&mut self, diagram: &mut dyn Diagram, aim: Aim) -> Option<bool> {
        let clock = self.clock.part(0.2);
        let mut budget = clock.budget();
        match aim {
            Aim::Deadlock => diagram.has_deadlock(&mut budget).ok(),
            Aim::False(expr) => {
                let exprs = &self.model.system().exprs;
                diagram.is_possible(exprs, expr, false, &mut budget).ok().flatten()
            }
        }
    }

    /// Whether there is a deadlock.
    pub(super) fn deadlock_by_diagram(&mut self, effort: Effort) -> Option<bool> {
        let mut diagram = self.diagram(effort)?;
        self.can_reach(&mut *diagram, Aim::Deadlock)
    }

    /// Whether all these aims can be reached.
    pub(super) fn all_by_diagram(&mut self, aims: &[Aim], effort: Effort) -> Option<bool> {
        let mut diagram = self.diagram(effort)?;
        let mut all = Some(true);
        for &aim in aims {
            match self.can_reach(&mut *diagram, aim) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => all = None,
            }
        }
        all
    }

    /// Whether all of these are live.
    pub(super) fn liveness_by_diagram(&mut self, each: &[Enabled], effort: Effort) -> Option<bool> {
        let mut diagram = self.diagram(effort)?;
        let exprs = &self.model.system().exprs;
        diagram.are_live(exprs, each, &mut self.clock.part(0.5).budget()).ok().flatten()
    }

    /// Removes questions about greatest values that a diagram answers.
    pub(super) fn maxima_by_diagram(&mut self, asked: &mut Vec<Greatest>, effort: Effort) {
        if asked.is_empty() {
            return;
        }
        let Some(mut diagram) = self.diagram(effort) else { return };
        for question in std::mem::take(asked) {
            match self.greatest_by_diagram(&mut *diagram, question.expr) {
                Some(number) => {
                    (self.hears)(&question.id, &ContestAnswer::Number(number), Technique::Diagram);
                }
                None => asked.push(question),
            }
        }
    }

    fn greatest_by_diagram(&mut self, diagram: &mut dyn Diagram, expr: ExprId) -> Option<i64> {
        let exprs = &self.model.system().exprs;
        diagram.greatest(exprs, expr, &mut self.clock.part(0.2).budget()).ok().flatten()
    }
}
