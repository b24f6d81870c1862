//! The same question about a smaller model, and what is known without any search.

use std::fmt;

use base::{Budget, Diagnostic, Limit};
use ltl::Formulas;
use model::{ActionId, ExprId, Exprs, Run};

use crate::{Ltl, Model, PropertyKind};

/// What a smaller model must have in common with the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preserve {
    /// Whether there is a deadlock.
    Deadlocks,
    /// Which values the expressions in question can have together in a state.
    Reachability,
    /// How these values change along runs, up to stuttering; a run that ends repeats its last state.
    Stuttering,
}

/// A model that has the same answer to a question.
pub struct Simpler {
    /// The model.
    pub model: Box<dyn Model>,
    /// The expressions that the question is about, there.
    pub exprs: Vec<ExprId>,
    /// What was done, in a few words.
    pub what: String,
    /// How its runs become runs of the original.
    pub back: Box<dyn WayBack>,
}

/// Turns runs of a simpler model into runs of the original.
pub trait WayBack: Send {
    /// A run as one of the original; with a deadlock at its end, if that is what it shows. Nothing if there is
    /// none, which is a mistake of ours.
    fn run(&self, run: &Run, ends: bool) -> Option<Run>;

    /// A run that goes around a cycle in the end, as one of the original, and where the cycle begins there. Nothing if there is none.
    fn lasso(&self, prefix: &Run, cycle: &[ActionId]) -> Option<(Run, usize)>;
}

/// What is known of all states before any search.
pub trait Facts: Send + Sync {
    /// The answer to a question, if what is known decides it.
    ///
    /// # Errors
    /// The budget is spent.
    fn answer(
        &self,
        exprs: &Exprs,
        formulas: &mut Formulas,
        question: &PropertyKind,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Decided>, Limit>;

    /// A formula without propositions that never change, and whether every run satisfies it, if that is known then.
    ///
    /// # Errors
    /// The budget is spent.
    fn simplify_ltl(
        &self,
        exprs: &Exprs,
        formulas: &mut Formulas,
        ltl: &Ltl,
        budget: &mut Budget<'_>,
    ) -> Result<(Ltl, Option<Decided>), Limit>;

    /// Whether an expression has the same truth in every state, and which.
    ///
    /// # Errors
    /// The budget is spent.
    fn always(&self, exprs: &Exprs, expr: ExprId, budget: &mut Budget<'_>) -> Result<Option<bool>, Limit>;

    /// Whether it is shown that the initial state can be reached again from every state.
    ///
    /// # Errors
    /// The budget is spent.
    fn comes_home(&self, budget: &mut Budget<'_>) -> Result<bool, Limit>;

    /// How often each action might happen on the way to a state where an expression is true, or is not: a hint for
    /// searches, which may be wrong in every way. Nothing if there is none.
    ///
    /// # Errors
    /// The budget is spent.
    fn wanted(
        &self,
        exprs: &Exprs,
        expr: ExprId,
        truth: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Vec<u32>>, Limit>;

    /// Why an expression never has this truth, in words: the numbers that show it, for who wants to check them. Nothing
    /// if that is not shown.
    ///
    /// # Errors
    /// The budget is spent.
    fn proof(
        &self,
        exprs: &Exprs,
        expr: ExprId,
        truth: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Vec<String>>, Limit>;

    /// The value of an expression in the initial state, if there is one such state.
    fn initially(&self, exprs: &Exprs, expr: ExprId) -> Option<i64>;

    /// A value that an expression never exceeds, and what shows it.
    ///
    /// # Errors
    /// The budget is spent.
    fn upper_bound(
        &self,
        exprs: &Exprs,
        expr: ExprId,
        budget: &mut Budget<'_>,
    ) -> Result<Option<(i64, Argument)>, Limit>;
}

/// An answer that needs no search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Whether it is so.
    Truth(bool),
    /// The greatest value.
    Number(i64),
}

/// An answer, and what shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The answer.
    pub answer: Known,
    /// The strongest argument that was needed.
    pub by: Argument,
}

/// What decides a question without a search, the simplest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Argument {
    /// The initial state alone, or no state at all.
    FirstState,
    /// How many tokens places can have, each by itself.
    Bounds,
    /// Weighted sums of tokens that never grow, or never change.
    Invariants,
    /// There is no solution of the state equation.
    Equation,
    /// There is none that marks some traps.
    Traps,
    /// It is so even if tokens have no colors.
    Skeleton,
    /// Every siphon in question contains a trap that is marked.
    Siphons,
    /// A weighted sum of tokens shrinks whenever some transition fires, and never grows.
    Exhaustion,
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Argument::FirstState => "by the first marking",
            Argument::Bounds => "by bounds of places",
            Argument::Invariants => "by place invariants",
            Argument::Equation => "by the state equation",
            Argument::Traps => "by the state equation and traps",
            Argument::Skeleton => "by the net without its colors",
            Argument::Siphons => "by siphons and traps",
            Argument::Exhaustion => "by a sum of tokens that is used up",
        })
    }
}

/// Which rules may make a model simpler, by their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether a rule that is not named is allowed.
    others: bool,
    /// The exceptions.
    named: Vec<String>,
}

impl Rules {
    /// Every rule that a language has.
    pub fn all() -> Rules {
        Rules { others: true, named: Vec::new() }
    }

    /// No rule.
    pub fn none() -> Rules {
        Rules { others: false, named: Vec::new() }
    }

    /// The same without one rule.
    #[must_use]
    pub fn without(mut self, name: &str) -> Rules {
        self.named.retain(|known| known != name);
        if self.others {
            self.named.push(name.to_owned());
        }
        self
    }

    /// Whether no rule is allowed.
    pub fn is_none(&self) -> bool {
        !self.others && self.named.is_empty()
    }

    /// Whether a rule is allowed.
    pub fn allows(&self, name: &str) -> bool {
        self.others != self.named.iter().any(|known| known == name)
    }

    /// The same, where one rule is allowed, or is not.
    #[must_use]
    pub fn with(mut self, name: &str, is_allowed: bool) -> Rules {
        if self.allows(name) != is_allowed {
            match self.named.iter().position(|known| known == name) {
                Some(at) => _ = self.named.remove(at),
                None => self.named.push(name.to_owned()),
            }
        }
        self
    }

    /// `all`, `none`, names of rules, or `all` without some: `all,-pre-agglomeration`. The names must be among
    /// those that are known.
    ///
    /// # Errors
    /// A name that is not known.
    pub fn parse(text: &str, known: &[&'static str]) -> Result<Rules, Diagnostic> {
        let mut rules = Rules::none();
        for (index, part) in text.split(',').map(str::trim).enumerate() {
            let name = part.strip_prefix('-').unwrap_or(part);
            rules = match part {
                "all" if index == 0 => Rules::all(),
                "none" if index == 0 => Rules::none(),
                _ if known.contains(&name) => rules.with(name, !part.starts_with('-')),
                _ => {
                    let message = format!("there is no rule `{name}`");
                    return Err(Diagnostic::error("unknown-rule", message)
                        .with_help(format!("there are {}", known.join(", ")))
                        .suggesting(name, known.iter().copied()));
                }
            };
        }
        Ok(rules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_chosen_by_their_names() {
        let known = ["dead-transitions", "parallel-places", "pre-agglomeration"];
        let parse = |text: &str| Rules::parse(text, &known);
        assert!(parse("none").unwrap().is_none());
        assert_eq!(parse("all").unwrap(), Rules::all());
        let some = parse("dead-transitions,parallel-places").unwrap();
        assert!(some.allows("dead-transitions") && some.allows("parallel-places"));
        assert!(!some.allows("pre-agglomeration"));
        let most = parse("all,-pre-agglomeration").unwrap();
        assert!(most.allows("dead-transitions") && !most.allows("pre-agglomeration"));
        assert_eq!(parse("dead-transition").unwrap_err().help.unwrap(), "did you mean `dead-transitions`?");
    }
}
