//! The rules by name, and what a reduction has to keep.

use language::Preserve;
use model::{Expr, ExprId, Exprs};

use crate::net::{Net, PlaceId};
use crate::predicates;

base::define_words! {
    /// A rule that makes nets smaller. Its file says when it is right, and why. They are tried in this order.
    pub enum Rule {
        /// Removes transitions that can never have enough tokens.
        DeadTransitions = "dead-transitions",
        /// Removes places whose tokens never change.
        ConstantPlaces = "constant-places",
        /// Removes places whose tokens are proportional to those of another.
        ParallelPlaces = "parallel-places",
        /// Removes places that always have enough tokens.
        ImplicitPlaces = "implicit-places",
        /// Removes transitions that another one can replace.
        ParallelTransitions = "parallel-transitions",
        /// Merges places whose tokens can do the same.
        AlikePlaces = "alike-places",
        /// Removes transitions that change nothing (markings, deadlocks).
        NeutralTransitions = "neutral-transitions",
        /// Removes what cannot matter to the question (markings).
        IrrelevantTransitions = "irrelevant-transitions",
        /// Removes transitions that nothing depends on and that come to an end (words, deadlocks).
        EndingTransitions = "ending-transitions",
        /// Removes transitions that need nothing, and what they feed (markings, deadlocks).
        SourceTransitions = "source-transitions",
        /// Merges places among which tokens move freely.
        FreeCycles = "free-cycles",
        /// Merges transitions with those that can follow at once.
        PostAgglomeration = "post-agglomeration",
        /// Merges transitions that can wait with those that need them.
        PreAgglomeration = "pre-agglomeration",
        /// Merges the same, whoever else needs the tokens (markings).
        FreeAgglomeration = "free-agglomeration",
        /// Removes transitions that two others can replace.
        RedundantTransitions = "redundant-transitions",
        /// Merges one transition with those that can follow at once, where the place stays.
        PostAgglomerationOfOne = "post-agglomeration-of-one",
        /// Merges one transition with those that give what it needs, where the place stays (markings).
        FreeAgglomerationOfOne = "free-agglomeration-of-one",
        /// Removes places that always have enough tokens, found by linear programs.
        RedundantPlaces = "redundant-places",
    }
}

/// What a reduction has to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Which answers.
    pub preserve: Preserve,
    /// The places whose tokens are observed. They stay.
    pub places: Vec<PlaceId>,
    /// Whether it is also observed if a marking is a deadlock (not needed for
    /// [`Preserve::Deadlocks`], where this alone is the question).
    pub observes_deadlock: bool,
}

impl Keep {
    /// The question whether there is a deadlock.
    pub fn deadlocks() -> Keep {
        Keep { preserve: Preserve::Deadlocks, places: Vec::new(), observes_deadlock: false }
    }

    /// What questions of a kind about these expressions observe. `deadlock` as a part of an expression
    /// is recognized, and does not make all places observed.
    pub fn of(net: &Net, exprs: &mut Exprs, preserve: Preserve, about: &[ExprId]) -> Keep {
        let deadlock = predicates::deadlock(net, exprs);
        let mut keep = Keep { preserve, places: Vec::new(), observes_deadlock: false };
        let (mut open, mut met) = (about.to_vec(), rustc_hash::FxHashSet::default());
        while let Some(expr) = open.pop() {
            if !met.insert(expr) {
                continue;
            }
            let node = exprs.get(expr);
            if expr == deadlock && !matches!(node, Expr::Int(_)) {
                keep.observes_deadlock = true;
                continue;
            }
            match node {
                Expr::Var(var) => keep.places.push(PlaceId::new(var.index())),
                Expr::Element { first, len, .. } => {
                    let all = (0..len as usize).map(|offset| PlaceId::new(first.index() + offset));
                    keep.places.extend(all);
                }
                _ => {}
            }
            open.extend(node.operands());
        }
        keep.places.sort_unstable();
        keep.places.dedup();
        keep
    }
}
