//! The questions of the Model Checking Contest: its examinations and its formula files.
//!
//! A formula file has properties with ids, each of which becomes a [`Question`] about the net. The
//! examinations without a file ask one fixed question each ([`Model::global_question`]). What the
//! contest asks and Stubborn has no words for (CTL) is kept as [`Question::Unsupported`], so that the
//! other properties of a file can be answered.

mod build;
mod element;
mod file;

use std::fmt;
use std::str::FromStr;

use base::{Diagnostic, Diagnostics, SourceId, Span};
use ltl::{Formula, Prop};
use model::{BinaryOp, ExprId};

use crate::lower::Model;
use crate::net::{PlaceId, TransitionId};
use crate::predicates;

/// What the contest asks about a net.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // The names are the contest's.
pub enum Examination {
    StateSpace,
    OneSafe,
    StableMarking,
    QuasiLiveness,
    Liveness,
    ReachabilityDeadlock,
    UpperBounds,
    ReachabilityCardinality,
    ReachabilityFireability,
    CtlCardinality,
    CtlFireability,
    LtlCardinality,
    LtlFireability,
}

impl Examination {
    /// All examinations.
    pub const ALL: [Examination; 13] = [
        Examination::StateSpace,
        Examination::OneSafe,
        Examination::StableMarking,
        Examination::QuasiLiveness,
        Examination::Liveness,
        Examination::ReachabilityDeadlock,
        Examination::UpperBounds,
        Examination::ReachabilityCardinality,
        Examination::ReachabilityFireability,
        Examination::CtlCardinality,
        Examination::CtlFireability,
        Examination::LtlCardinality,
        Examination::LtlFireability,
    ];

    /// What the contest calls it.
    pub fn name(self) -> &'static str {
        match self {
            Examination::StateSpace => "StateSpace",
            Examination::OneSafe => "OneSafe",
            Examination::StableMarking => "StableMarking",
            Examination::QuasiLiveness => "QuasiLiveness",
            Examination::Liveness => "Liveness",
            Examination::ReachabilityDeadlock => "ReachabilityDeadlock",
            Examination::UpperBounds => "UpperBounds",
            Examination::ReachabilityCardinality => "ReachabilityCardinality",
            Examination::ReachabilityFireability => "ReachabilityFireability",
            Examination::CtlCardinality => "CTLCardinality",
            Examination::CtlFireability => "CTLFireability",
            Examination::LtlCardinality => "LTLCardinality",
            Examination::LtlFireability => "LTLFireability",
        }
    }

    /// Whether its questions are in a file, `<name>.xml`.
    pub fn has_file(self) -> bool {
        self >= Examination::UpperBounds
    }
}

impl fmt::Display for Examination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Examination {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Examination, Diagnostic> {
        let found = Examination::ALL.into_iter().find(|examination| examination.name() == text);
        found.ok_or_else(|| {
            let error = Diagnostic::error("unknown-examination", format!("there is no examination `{text}`"));
            error.suggesting(text, Examination::ALL.map(Examination::name))
        })
    }
}

/// A property of a formula file.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its `id`, which answers begin with.
    pub id: String,
    /// Where the id is written.
    pub span: Span,
    /// What it asks.
    pub question: Question,
}

/// A formula of linear temporal logic about every run.
#[derive(Clone, Debug)]
pub struct Ltl {
    /// The formula, of [`Model::formulas`].
    pub formula: Formula,
    /// Its propositions, and when they are true.
    pub propositions: Vec<(Prop, ExprId)>,
}

/// A question about a net. A *marking* is one that can be reached.
#[derive(Clone, Debug)]
pub enum Question {
    /// Is this true in every marking?
    Invariant(ExprId),
    /// Is this true in some marking?
    Possible(ExprId),
    /// Do all runs satisfy the formula? The last marking of a run that ends is repeated for ever.
    Ltl(Ltl),
    /// What is the greatest value in any marking?
    Maximum(ExprId),
    /// Is each of these true in some marking?
    AllPossible(Vec<ExprId>),
    /// Is one of these true in every marking?
    SomeInvariant(Vec<ExprId>),
    /// Can each of these be made true, from every marking?
    AllLive(Vec<ExprId>),
    /// Something else, and what to say about it.
    Unsupported(Diagnostic),
}

impl Model {
    /// Reads a formula file of the contest: the text of `source`.
    ///
    /// # Errors
    /// The file is not one, or names a place or transition that the net does not have.
    pub fn read_formulas(&mut self, text: &str, source: SourceId) -> Result<Vec<Property>, Diagnostics> {
        let net = self.net().clone();
        file::read(build::Builder::new(&net, &mut self.system.exprs, &mut self.formulas), text, source)
    }

    /// The question of an examination that has no file; nothing for those that have, and for
    /// `StateSpace`.
    pub fn global_question(&mut self, examination: Examination) -> Option<Question> {
        let net = self.net().clone();
        let exprs = &mut self.system.exprs;
        let fireable = |exprs: &mut model::Exprs| -> Vec<ExprId> {
            let transitions = (0..net.transitions.len()).map(TransitionId::new);
            transitions.map(|transition| predicates::fireable(&net, exprs, &[transition])).collect()
        };
        let places = (0..net.places.len()).map(PlaceId::new);
        match examination {
            Examination::ReachabilityDeadlock => Some(Question::Possible(predicates::deadlock(&net, exprs))),
            Examination::OneSafe => {
                let safe: Vec<ExprId> =
                    places.map(|place| predicates::compare(exprs, BinaryOp::Le, place, 1)).collect();
                Some(Question::Invariant(exprs.fold(BinaryOp::And, 1, &safe)))
            }
            Examination::StableMarking => {
                let initial = |place: PlaceId| net.place(place).initial;
                let stable =
                    places.map(|place| predicates::compare(exprs, BinaryOp::Eq, place, initial(place)));
                Some(Question::SomeInvariant(stable.collect()))
            }
            Examination::QuasiLiveness => Some(Question::AllPossible(fireable(exprs))),
            Examination::Liveness => Some(Question::AllLive(fireable(exprs))),
            _ => None,
        }
    }
}
