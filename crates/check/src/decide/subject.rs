//! What claims are decided about: systems of which a decision must know a little more than a search does.
//!
//! An [`ActionSystem`] can be looked into, so it has reductions and knows which actions flip a proposition. Of
//! other systems only the steps are known; whatever is not known is left at *anything may happen*.

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use model::{ActionId, ActionSystem, LabelId, Relations, System};
use por::{Attractor, Flips};

use super::{Refusal, Settings};
use crate::observer::Observer;
use crate::parallel;
use crate::product::{Distance, Product};
use crate::reduced::Reduced;
use crate::reduction;
use crate::rules::Rule;
use crate::search::{Exploration, Goal, bfs};
use crate::store::Exact;

/// A system that claims can be about, which several workers may share.
pub trait Subject: System<Scratch: Send> + Sync + Sized {
    /// How many actions there are; the steps of others begin with one of them ([`model::chain::first`]). Fairness is
    /// about these, and testers watch them.
    fn n_actions(&self) -> usize;

    /// What testers see of an action, if they see anything of it.
    fn label(&self, _action: ActionId) -> Option<LabelId> {
        None
    }

    /// The actions that may change the value of one of these propositions; none if that is not known.
    ///
    /// # Errors
    /// The budget is spent.
    fn visible(
        &self,
        _propositions: &[usize],
        _budget: &mut Budget<'_>,
    ) -> Result<Option<FixedBitSet>, Limit> {
        Ok(None)
    }

    /// How far states are from those where a proposition has some truth, if that is known.
    ///
    /// # Errors
    /// The budget is spent.
    fn distance(
        &self,
        _proposition: usize,
        _truth: bool,
        _budget: &mut Budget<'_>,
    ) -> Result<Option<Distance<'_>>, Limit> {
        Ok(None)
    }

    /// The same product, of which not everything is explored.
    ///
    /// # Errors
    /// There is no such reduction for this system, or the budget is spent.
    fn reduce<'a, O: Observer>(
        _product: Product<'a, Self, O>,
        _method: reduction::Method,
        _settings: &Settings<'_>,
        _budget: &mut Budget<'_>,
    ) -> Result<Product<'a, Self, O>, Refusal> {
        Err(Rule::NothingKnown.into())
    }

    /// Looks for a deadlock, the only goal.
    ///
    /// # Errors
    /// The budget is spent before the search begins.
    fn find_deadlock(&self, budget: &mut Budget<'_>) -> Result<Exploration, Limit> {
        let mut store = Exact::new(self.width(), budget.room());
        Ok(bfs::search(self, &mut store, &[Goal::Deadlock], budget))
    }
}

impl Subject for ActionSystem {
    fn n_actions(&self) -> usize {
        self.actions().len()
    }

    fn label(&self, action: ActionId) -> Option<LabelId> {
        Some(self.actions()[action.index()].label)
    }

    fn visible(&self, propositions: &[usize], budget: &mut Budget<'_>) -> Result<Option<FixedBitSet>, Limit> {
        let exprs: Vec<_> = propositions.iter().map(|&number| self.propositions()[number].expr).collect();
        let flips = Flips::new(self, &Relations::new(self, budget)?, &exprs, budget)?;
        Ok(Some(flips.visible()))
    }

    fn distance(
        &self,
        proposition: usize,
        truth: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Distance<'_>>, Limit> {
        let attractor =
            Attractor::without_actions(self, self.propositions()[proposition].expr, truth, budget)?;
        Ok(Some(Box::new(move |state| attractor.distance(self, state))))
    }

    fn reduce<'a, O: Observer>(
        product: Product<'a, Self, O>,
        method: reduction::Method,
        settings: &Settings<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Product<'a, Self, O>, Refusal> {
        let mut product = product.reduced(method, settings.fairness, budget)?;
        if let Some(rule) = settings.without_rule {
            product = product.without(rule, budget)?;
        }
        if settings.by_state_alone {
            product.by_state_alone(budget)?;
        }
        if let Some(forgotten) = settings.forgotten {
            product = product.forgetting(forgotten);
        }
        Ok(product)
    }

    fn find_deadlock(&self, budget: &mut Budget<'_>) -> Result<Exploration, Limit> {
        let reduced = Reduced::for_deadlocks(self, budget)?;
        if budget.goes_by_rounds() {
            return Ok(parallel::bfs(&reduced, &[Goal::Deadlock], budget));
        }
        let mut store = Exact::new(self.width(), budget.room());
        Ok(bfs::search(&reduced, &mut store, &[Goal::Deadlock], budget))
    }
}
