//! The same question about a smaller net, and the way back: runs that are found there, as runs of the net
//! that was asked about.

use std::sync::Arc;

use base::Budget;
use language::{Preserve, Rules, WayBack};
use model::{ActionId, ExprId, Run};

use crate::lower::Model;
use crate::net::{Net, TransitionId};
use crate::structural::{Keep, Reduced};

/// A net with fewer places and transitions that has the same answer to a question.
pub struct Smaller {
    /// The net.
    pub model: Model,
    /// The expressions that the question is about, there.
    pub exprs: Vec<ExprId>,
    /// How its runs become runs of the original.
    pub way: Way,
}

/// Turns runs of a smaller net into runs of the original.
pub struct Way {
    reduced: Reduced,
    original: Arc<Net>,
}

impl Model {
    /// A smaller net that has the same answer to a question about these expressions; nothing if there is none,
    /// or the budget is spent.
    pub fn smaller(
        &mut self,
        preserve: Preserve,
        about: &[ExprId],
        rules: &Rules,
        budget: &mut Budget<'_>,
    ) -> Option<Smaller> {
        if rules.is_none() {
            return None;
        }
        let reducer = self.reducer(budget).ok()?;
        let original = self.net().clone();
        let exprs = &mut Arc::make_mut(&mut self.system).exprs;
        let keep = match preserve {
            Preserve::Deadlocks => Keep::deadlocks(),
            _ => Keep::of(&original, exprs, preserve, about),
        };
        let reduced = reducer.reduce(&keep, rules, budget).ok()?;
        if !reduced.is_changed() {
            return None;
        }
        let bounds = reduced.bounds(budget).ok()?;
        let mut model = Arc::new(reduced.net.clone()).lower(bounds, budget).ok()?;
        let to = &mut Arc::make_mut(&mut model.system).exprs;
        let carry = |&expr: &ExprId| reduced.carry(&original, exprs, expr, to);
        let exprs = about.iter().map(carry).collect::<Option<Vec<ExprId>>>()?;
        Some(Smaller { model, exprs, way: Way { reduced, original } })
    }
}

impl Way {
    /// What was done, in a few words.
    pub fn describe(&self) -> String {
        let rules: Vec<String> =
            self.reduced.applied.iter().map(|(rule, count)| format!("{} ({count})", rule.name())).collect();
        let (before, after) = (&self.original, &self.reduced.net);
        format!(
            "{} places and {} transitions instead of {} and {}, by {}",
            after.places.len(),
            after.transitions.len(),
            before.places.len(),
            before.transitions.len(),
            rules.join(", ")
        )
    }
}

impl WayBack for Way {
    fn run(&self, run: &Run, ends: bool) -> Option<Run> {
        let steps = transitions(&run.actions);
        let steps = match ends {
            true => self.reduced.path_to_deadlock(&self.original, &steps)?,
            false => self.reduced.path(&self.original, &steps)?,
        };
        Some(Run { initial: run.initial, actions: actions(&steps) })
    }

    fn lasso(&self, prefix: &Run, cycle: &[ActionId]) -> Option<(Run, usize)> {
        let [prefix_steps, cycle] = [&prefix.actions, cycle].map(transitions);
        let (steps, start) = self.reduced.lasso(&self.original, &prefix_steps, &cycle)?;
        Some((Run { initial: prefix.initial, actions: actions(&steps) }, start))
    }
}

/// Transitions have the numbers of their actions.
fn transitions(actions: &[ActionId]) -> Vec<TransitionId> {
    actions.iter().map(|action| TransitionId::new(action.index())).collect()
}

fn actions(transitions: &[TransitionId]) -> Vec<ActionId> {
    transitions.iter().map(|transition| ActionId::new(transition.index())).collect()
}
