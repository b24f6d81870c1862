//! The questions of the Model Checking Contest: its examinations and its formula files.
//!
//! A formula file has properties with ids, each of which becomes a [`Property`] of the net. The
//! examinations without a file ask one fixed question each ([`Model::global_question`]). What the
//! contest asks and Stubborn has no words for (CTL) is kept as [`PropertyKind::Unsupported`], so that the
//! other properties of a file can be answered.

mod build;
mod element;
mod file;

use std::str::FromStr;
use std::sync::Arc;

use base::{Budget, Diagnostic, Limit, SourceId};
use language::{Asked, Enabled, Property, PropertyKind, Trouble};
use model::{ActionId, BinaryOp, ExprId, Exprs};

use crate::lower::Model;
use crate::net::{Group, PlaceId, TransitionId};
use crate::predicates;

base::define_words! {
    /// What the contest asks about a net.
    #[allow(missing_docs)] // The names are the contest's.
    pub enum Examination {
        StateSpace = "StateSpace",
        OneSafe = "OneSafe",
        StableMarking = "StableMarking",
        QuasiLiveness = "QuasiLiveness",
        Liveness = "Liveness",
        ReachabilityDeadlock = "ReachabilityDeadlock",
        UpperBounds = "UpperBounds",
        ReachabilityCardinality = "ReachabilityCardinality",
        ReachabilityFireability = "ReachabilityFireability",
        CtlCardinality = "CTLCardinality",
        CtlFireability = "CTLFireability",
        LtlCardinality = "LTLCardinality",
        LtlFireability = "LTLFireability",
    }
}

impl Examination {
    /// Whether its questions are in a file, `<name>.xml`.
    pub fn has_file(self) -> bool {
        self >= Examination::UpperBounds
    }
}

impl FromStr for Examination {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Examination, Diagnostic> {
        Examination::named(text).ok_or_else(|| {
            let error = Diagnostic::error("unknown-examination", format!("there is no examination `{text}`"));
            error.suggesting(text, Examination::ALL.map(Examination::name))
        })
    }
}

impl Model {
    /// Reads a formula file of the contest: the text of `source`.
    ///
    /// # Errors
    /// The file is not one, or names a place or transition that the net does not have; or the budget is spent.
    pub fn read_formulas(
        &mut self,
        text: &str,
        source: SourceId,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<Property>, Trouble> {
        let net = self.net().clone();
        let exprs = &mut Arc::make_mut(&mut self.system).exprs;
        file::read(build::Builder::new(&net, exprs, &mut self.formulas), text, source, budget)
    }

    /// The question of an examination that has no file; nothing for those that have, and for
    /// `StateSpace`.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn global_question(
        &mut self,
        examination: Examination,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Property>, Limit> {
        let net = self.net().clone();
        let exprs = &mut Arc::make_mut(&mut self.system).exprs;
        budget.hold((NODE_BYTES * (net.places.len() + net.transitions.len() + net.n_arcs())) as u64)?;
        let mut fireable = |exprs: &mut Exprs| -> Result<Vec<ExprId>, Limit> {
            let each = |transitions: Group<TransitionId>| {
                budget.tick()?;
                Ok(predicates::fireable(&net, exprs, &transitions.iter().collect::<Vec<_>>()))
            };
            net.written_transitions().map(each).collect()
        };
        // Of a colored net, tokens of all colors count together, and a transition is its bindings.
        let places = net.written_places().map(|places| places.iter().collect::<Vec<PlaceId>>());
        let kind = match examination {
            Examination::ReachabilityDeadlock => PropertyKind::Possible(predicates::deadlock(&net, exprs)),
            Examination::OneSafe => {
                let safe: Vec<ExprId> =
                    places.map(|places| predicates::compare(exprs, BinaryOp::Le, &places, 1)).collect();
                PropertyKind::Invariant(exprs.fold(BinaryOp::And, 1, &safe))
            }
            Examination::StableMarking => {
                // Where the sum is beyond all numbers, the comparison is a fault.
                let initial = |places: &[PlaceId]| {
                    places.iter().fold(0_i64, |sum, place| sum.saturating_add(net.place(*place).initial))
                };
                let stable =
                    places.map(|places| predicates::compare(exprs, BinaryOp::Eq, &places, initial(&places)));
                PropertyKind::SomeInvariant(stable.collect())
            }
            Examination::QuasiLiveness => PropertyKind::AllPossible(fireable(exprs)?),
            Examination::Liveness => {
                let actions = |group: Group<TransitionId>| group.iter().map(|its| ActionId::new(its.index()));
                let groups = net.written_transitions().map(|group| actions(group).collect());
                let each = fireable(exprs)?.into_iter().zip(groups);
                PropertyKind::AllLive(each.map(|(expr, actions)| Enabled { expr, actions }).collect())
            }
            _ => return Ok(None),
        };
        let name = examination.name().to_owned();
        Ok(Some(Property { name, span: None, asked: Asked::ByDefault, kind }))
    }
}

/// What a node of an expression takes, with the table that finds it.
const NODE_BYTES: usize = 40;
