//! The rules by name, sets of rules, and what a reduction has to keep.

use std::fmt;
use std::str::FromStr;

use base::Diagnostic;
use language::Preserve;
use model::{Expr, ExprId, Exprs};

use crate::net::{Net, PlaceId};
use crate::predicates;

/// A rule that makes nets smaller. Its file says when it is right, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // `Rule::doc` says it.
pub enum Rule {
    DeadTransitions,
    ConstantPlaces,
    ParallelPlaces,
    ImplicitPlaces,
    ParallelTransitions,
    NeutralTransitions,
    IrrelevantTransitions,
    SourceTransitions,
    FreeCycles,
    PostAgglomeration,
    PreAgglomeration,
    FreeAgglomeration,
    RedundantTransitions,
}

impl Rule {
    /// All rules, in the order in which they are tried.
    pub const ALL: [Rule; 13] = [
        Rule::DeadTransitions,
        Rule::ConstantPlaces,
        Rule::ParallelPlaces,
        Rule::ImplicitPlaces,
        Rule::ParallelTransitions,
        Rule::NeutralTransitions,
        Rule::IrrelevantTransitions,
        Rule::SourceTransitions,
        Rule::FreeCycles,
        Rule::PostAgglomeration,
        Rule::PreAgglomeration,
        Rule::FreeAgglomeration,
        Rule::RedundantTransitions,
    ];

    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Rule::DeadTransitions => "dead-transitions",
            Rule::ConstantPlaces => "constant-places",
            Rule::ParallelPlaces => "parallel-places",
            Rule::ImplicitPlaces => "implicit-places",
            Rule::ParallelTransitions => "parallel-transitions",
            Rule::NeutralTransitions => "neutral-transitions",
            Rule::IrrelevantTransitions => "irrelevant-transitions",
            Rule::SourceTransitions => "source-transitions",
            Rule::FreeCycles => "free-cycles",
            Rule::PostAgglomeration => "post-agglomeration",
            Rule::PreAgglomeration => "pre-agglomeration",
            Rule::FreeAgglomeration => "free-agglomeration",
            Rule::RedundantTransitions => "redundant-transitions",
        }
    }

    /// What it does, in one line.
    pub fn doc(self) -> &'static str {
        match self {
            Rule::DeadTransitions => "removes transitions that can never have enough tokens",
            Rule::ConstantPlaces => "removes places whose tokens never change",
            Rule::ParallelPlaces => "removes places whose tokens are proportional to those of another",
            Rule::ImplicitPlaces => "removes places that always have enough tokens",
            Rule::ParallelTransitions => "removes transitions that another one can replace",
            Rule::NeutralTransitions => "removes transitions that change nothing (markings, deadlocks)",
            Rule::IrrelevantTransitions => "removes what cannot matter to the question (markings)",
            Rule::SourceTransitions => {
                "removes transitions that need nothing, and what they feed (markings, deadlocks)"
            }
            Rule::FreeCycles => "merges places among which tokens move freely",
            Rule::PostAgglomeration => "merges transitions with those that can follow at once",
            Rule::PreAgglomeration => "merges transitions that can wait with those that need them",
            Rule::FreeAgglomeration => "the same, whoever else needs the tokens (markings)",
            Rule::RedundantTransitions => "removes transitions that two others can replace",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Rule {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Rule, Diagnostic> {
        Rule::ALL.into_iter().find(|rule| rule.name() == text).ok_or_else(|| {
            Diagnostic::error("unknown-rule", format!("there is no rule `{text}`"))
                .suggesting(text, Rule::ALL.map(Rule::name))
        })
    }
}

/// A set of rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules(u32);

impl Rules {
    /// No rules: the net stays as it is.
    pub const NONE: Rules = Rules(0);

    /// All rules.
    pub const ALL: Rules = Rules((1 << Rule::ALL.len()) - 1);

    /// The set with one more rule.
    #[must_use]
    pub fn with(self, rule: Rule) -> Rules {
        Rules(self.0 | 1 << rule as u32)
    }

    /// The set with one rule less.
    #[must_use]
    pub fn without(self, rule: Rule) -> Rules {
        Rules(self.0 & !(1 << rule as u32))
    }

    /// Whether the rule is one of them.
    pub fn has(self, rule: Rule) -> bool {
        self.0 & 1 << rule as u32 != 0
    }
}

impl From<&language::Rules> for Rules {
    fn from(rules: &language::Rules) -> Rules {
        Rule::ALL.into_iter().filter(|rule| rules.allows(rule.name())).collect()
    }
}

impl FromIterator<Rule> for Rules {
    fn from_iter<I: IntoIterator<Item = Rule>>(rules: I) -> Rules {
        rules.into_iter().fold(Rules::NONE, Rules::with)
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
                Expr::Int(_) => {}
                Expr::Var(var) => keep.places.push(PlaceId::new(var.index())),
                Expr::Element { first, len, index } => {
                    let all = (0..len as usize).map(|offset| PlaceId::new(first.index() + offset));
                    keep.places.extend(all);
                    open.push(index);
                }
                Expr::Unary(_, x) => open.push(x),
                Expr::Binary(_, x, y) => open.extend([x, y]),
                Expr::Cond(condition, x, y) => open.extend([condition, x, y]),
            }
        }
        keep.places.sort_unstable();
        keep.places.dedup();
        keep
    }
}
