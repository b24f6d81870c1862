//! Static reductions: an action system becomes another one that has the same answer to a question and, mostly,
//! far fewer states. Nothing is searched for that; guards and effects tell.
//!
//! | rule | file | keeps | what it does |
//! |---|---|---|---|
//! | `irrelevant-actions` | `relevance` | reachability | actions that nothing in question depends on never happen |
//! | `dead-variables` | `live` | everything | a variable that is written before it is read again has a fixed value until then |
//! | `unread-variables` | `live` | everything, but cycles may close later | what is written and never matters is not written |
//! | `constant-variables` | `live` | everything | a variable that nobody changes takes no room |
//! | `merged-steps` | `merge` | deadlocks, reachability, stuttering | steps of one process that nobody notices are part of the step before |
//! | `merged-choices` | `merge` | deadlocks, reachability, stuttering | so are steps at places where what a process itself knows decides how it goes on |
//!
//! *Everything* means that states with equal values of what matters are bisimilar: the same actions are enabled, the
//! same expressions in question are true, and the same faults happen. So also fairness, testers, formulas with X and
//! the order of steps are kept.
//!
//! The numbers of variables, actions and guards stay. An action of the smaller system stands for one or several
//! actions of the original, always the same ones: [`Smaller::run`] and [`Smaller::lasso`] turn runs into runs of the
//! original, where they can be judged.
//!
//! Resetting dead variables and merging local steps are known from Spin (Holzmann, "The engineering of a model
//! checker: the Gnu i-protocol case study revisited", 1999; its options `-o1`, `-o2` and `-o3` turn such things off);
//! here they are rules about guarded actions, whatever the language.

mod back;
mod bounds;
mod draft;
mod live;
mod local;
mod merge;
mod relevance;

use std::sync::Arc;

use base::{Budget, Limit};
use language::{Preserve, Rules};
use model::{ActionId, ActionSystem, ExprId};

use self::draft::Draft;

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Actions that nothing in question depends on never happen.
    IrrelevantActions,
    /// A variable that is written before it is read again has a fixed value until then.
    DeadVariables,
    /// What is written and never matters is not written.
    UnreadVariables,
    /// A variable that nobody changes takes no room.
    ConstantVariables,
    /// Steps of one process that nobody notices are part of the step before.
    MergedSteps,
    /// So are steps at places where what a process itself knows decides how it goes on.
    MergedChoices,
}

impl Rule {
    /// All rules.
    pub const ALL: [Rule; 6] = [
        Rule::IrrelevantActions,
        Rule::DeadVariables,
        Rule::UnreadVariables,
        Rule::ConstantVariables,
        Rule::MergedSteps,
        Rule::MergedChoices,
    ];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Rule::IrrelevantActions => "irrelevant-actions",
            Rule::DeadVariables => "dead-variables",
            Rule::UnreadVariables => "unread-variables",
            Rule::ConstantVariables => "constant-variables",
            Rule::MergedSteps => "merged-steps",
            Rule::MergedChoices => "merged-choices",
        }
    }
}

/// A system that has the same answer to a question.
#[derive(Clone, Debug)]
pub struct Smaller {
    /// The system.
    pub system: Arc<ActionSystem>,
    /// Which rules were applied, and how often.
    pub applied: Vec<(Rule, usize)>,
    /// Per action, what it stands for, if that is not just itself.
    stands_for: Vec<Vec<ActionId>>,
}

impl Smaller {
    /// What was done, in a few words.
    pub fn describe(&self) -> String {
        let rules: Vec<String> =
            self.applied.iter().map(|(rule, count)| format!("{} ({count})", rule.name())).collect();
        rules.join(", ")
    }

    /// The actions of the original that happen somewhere, given those that happen here; nothing if some were left out.
    /// Fixed values change nothing of what is possible, and what was merged happens with what it is part of.
    pub fn taken(&self, taken: &[bool]) -> Option<Vec<bool>> {
        if self.uses(Rule::IrrelevantActions) {
            return None;
        }
        let mut all = taken.to_vec();
        let parts = self.stands_for.iter().zip(taken).filter(|(_, happens)| **happens);
        parts.flat_map(|(parts, _)| parts).for_each(|part| all[part.index()] = true);
        Some(all)
    }

    /// Whether a rule was applied.
    pub fn uses(&self, rule: Rule) -> bool {
        self.applied.iter().any(|(applied, _)| *applied == rule)
    }
}

/// Makes a system smaller for a question about these expressions; with nothing to preserve in particular,
/// everything is. Nothing if no rule applies.
///
/// # Errors
/// The budget is spent.
pub fn reduce(
    system: &ActionSystem,
    preserve: Option<Preserve>,
    about: &[ExprId],
    rules: &Rules,
    budget: &mut Budget<'_>,
) -> Result<Option<Smaller>, Limit> {
    let allows = |rule: Rule| rules.allows(rule.name());
    if rules.is_none() || !Draft::is_worth_it(system, budget) {
        return Ok(None);
    }
    let mut draft = Draft::new(system, about);
    if preserve == Some(Preserve::Reachability) && allows(Rule::IrrelevantActions) {
        relevance::apply(&mut draft, budget)?;
    }
    let live = live::Rules {
        dead: allows(Rule::DeadVariables),
        unread: allows(Rule::UnreadVariables),
        constant: allows(Rule::ConstantVariables),
    };
    live::apply(&mut draft, live, budget)?;
    let merge = merge::Rules { steps: allows(Rule::MergedSteps), choices: allows(Rule::MergedChoices) };
    if preserve.is_some() && (merge.steps || merge.choices) {
        merge::apply(&mut draft, &merge, budget)?;
    }
    Ok(draft.finish(system))
}
