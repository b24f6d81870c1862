//! Why no run goes on for ever in a way that matters: the ranks of states, and what they promise of every edge.
//!
//! Runs are those of the product with the automaton of the negated formula. Each edge has *marks*: the promises that it does
//! not put off, the weak constraints that it serves (they are disabled where it begins, or it takes them), and the strong
//! ones that it takes. A run that violates the formula has each promise and each weak mark again and again, and
//! of each strong constraint that is enabled again and again the mark, too.
//!
//! A [`Rank`] is a list of levels, each a number and a [`Reason`]. Let every edge keep the rule of [`keeps`]. On the first
//! level no edge leads to a larger number, so along a run the number stays the same from some point on, and with it the
//! reason. If that is [`Reason::Lacks`], a mark is missing from there on, and the run does not violate the formula. If it
//! is [`Reason::Never`], the constraint is not taken any more; so in a run that counts it is enabled only finitely often,
//! and from some point on all states do not enable it, so that their ranks go on ([`ends_well`]), the rule with them to the next
//! level, and the argument, too. Levels are finitely many, so no run violates the formula.

use model::fairness::Constraint;
use model::{ActionId, ActionSystem};
use serde::{Deserialize, Serialize};

/// Why no run stays in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// No edge stays in it.
    Leaves,
    /// No edge in it has this mark: a promise, or a weak constraint, which are numbered after the promises.
    Lacks(u32),
    /// No edge in it takes this strong constraint; so states that enable it are visited finitely often, and the
    /// next level is about the others.
    Never(u32),
}

/// One level of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Level {
    /// The number, which no edge makes larger.
    pub number: u32,
    /// Why no run stays in it.
    pub reason: Reason,
}

/// The levels of a state.
pub type Rank = Vec<Level>;

/// What an edge of the product does, as bits. There are at most 128 marks of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Promises that are not put off and, after these, weak constraints that are served.
    pub has: u128,
    /// Strong constraints that are taken.
    pub takes: u128,
    /// Strong constraints that are enabled where it begins.
    pub enabled: u128,
}

/// The constraints that are enabled in a state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Enabled {
    weak: u128,
    /// The strong ones.
    pub strong: u128,
}

/// What actions do to constraints.
pub struct Masks {
    /// Per action: the weak constraints that are enabled if it is, and those that it takes; after the promises.
    weak: Vec<(u128, u128)>,
    /// The same for strong ones.
    strong: Vec<(u128, u128)>,
    all_weak: u128,
    /// How many promises and weak constraints there are: each is a mark.
    pub n_marks: u32,
    /// How many strong constraints there are.
    pub n_strong: u32,
}

impl Masks {
    /// What the actions of a system do, beside so many promises.
    ///
    /// # Errors
    /// There are too many of them.
    pub fn new(
        system: &ActionSystem,
        constraints: &[Constraint],
        n_promises: usize,
    ) -> Result<Masks, &'static str> {
        let none = vec![(0, 0); system.actions().len()];
        let (weak, strong, n_marks) = (none.clone(), none, n_promises as u32);
        let mut masks = Masks { weak, strong, all_weak: 0, n_marks, n_strong: 0 };
        for constraint in constraints {
            let (list, number) = match constraint.strong {
                true => (&mut masks.strong, &mut masks.n_strong),
                false => (&mut masks.weak, &mut masks.n_marks),
            };
            if *number >= 128 {
                return Err("there are more than 128 fairness constraints and promises");
            }
            let bit = 1_u128 << *number;
            *number += 1;
            constraint.actions.iter().for_each(|action| list[action.index()].0 |= bit);
            constraint.takers().iter().for_each(|action| list[action.index()].1 |= bit);
            if !constraint.strong {
                masks.all_weak |= bit;
            }
        }
        Ok(masks)
    }

    /// The constraints that are enabled where these actions are.
    pub fn enabled(&self, actions: impl Iterator<Item = ActionId>) -> Enabled {
        if self.all_weak == 0 && self.n_strong == 0 {
            return Enabled::default();
        }
        actions.fold(Enabled::default(), |all, action| Enabled {
            weak: all.weak | self.weak[action.index()].0,
            strong: all.strong | self.strong[action.index()].0,
        })
    }

    /// The marks of an edge: a step that begins with an action, or with none where the last state repeats, and that puts
    /// off these promises.
    pub fn marks(&self, here: Enabled, action: Option<ActionId>, postponed: u64) -> Marks {
        let (served, takes) =
            action.map_or((0, 0), |action| (self.weak[action.index()].1, self.strong[action.index()].1));
        let promises = !u128::from(postponed) & !self.all_weak;
        let has = promises | self.all_weak & (!here.weak | served);
        Marks { has, takes, enabled: here.strong }
    }
}

/// Whether the rank of a state may end where it does, given the strong constraints that are enabled in the state.
pub fn ends_well(rank: &[Level], enabled: u128) -> bool {
    match rank.last().map(|level| level.reason) {
        Some(Reason::Never(constraint)) => constraint < 128 && enabled >> constraint & 1 == 1,
        Some(Reason::Leaves | Reason::Lacks(_)) => true,
        None => false,
    }
}

/// Whether an edge does what the ranks of its ends say; if not, what is wrong.
///
/// # Errors
/// What is wrong.
pub fn keeps(from: &[Level], to: &[Level], marks: Marks) -> Result<(), String> {
    let has = |bits: u128, number: u32| number < 128 && bits >> number & 1 == 1;
    for level in 0.. {
        let (Some(here), Some(there)) = (from.get(level), to.get(level)) else {
            // What leads to a state that enables the constraint of its last level is not in question.
            return if from.len() > level { Ok(()) } else { Err("a rank has too few levels".to_owned()) };
        };
        if there.number > here.number {
            return Err(format!("a step leads up, from number {} to {}", here.number, there.number));
        }
        if there.number < here.number {
            return Ok(());
        }
        if there.reason != here.reason {
            return Err(format!("a step stays in number {}, but its reason changes", here.number));
        }
        match here.reason {
            Reason::Leaves => {
                return Err(format!("a step stays in number {}, which none should", here.number));
            }
            Reason::Lacks(mark) if mark >= 128 || has(marks.has, mark) => {
                return Err(format!("a step in number {} has mark {mark}, which none should", here.number));
            }
            Reason::Lacks(_) => return Ok(()),
            Reason::Never(constraint) if constraint >= 128 || has(marks.takes, constraint) => {
                return Err(format!("a step in number {} takes strong constraint {constraint}", here.number));
            }
            Reason::Never(constraint) if has(marks.enabled, constraint) => return Ok(()),
            Reason::Never(_) => {}
        }
    }
    Ok(())
}
