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
    /// No edge in it has this mark: a promise, or a weak constraint. Constraints are numbered after the promises.
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

/// What an edge of the product does, as bits: promises come first, then constraints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// All bits but promises that are put off, and weak constraints that are not served.
    pub has: u128,
    /// All bits but strong constraints that are not taken.
    pub takes: u128,
    /// Strong constraints that are enabled where it begins.
    pub enabled: u128,
}

/// What actions do to constraints.
pub struct Masks {
    /// Per action, the constraints that are enabled if it is, and those that it takes.
    of_action: Vec<(u128, u128)>,
    /// How many promises there are, which are the first bits.
    n_promises: usize,
    weak: u128,
    strong: u128,
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
        let of_action = vec![(0, 0); system.actions().len()];
        let mut masks = Masks { of_action, n_promises, weak: 0, strong: 0 };
        if n_promises + constraints.len() > 128 {
            return Err("there are more than 128 promises and fairness constraints");
        }
        for (number, constraint) in constraints.iter().enumerate() {
            let bit = 1 << (n_promises + number);
            let kind = if constraint.strong { &mut masks.strong } else { &mut masks.weak };
            *kind |= bit;
            constraint.actions.iter().for_each(|action| masks.of_action[action.index()].0 |= bit);
            constraint.takers().iter().for_each(|action| masks.of_action[action.index()].1 |= bit);
        }
        Ok(masks)
    }

    /// The bits that an edge may lack ([`Reason::Lacks`]).
    pub fn marks(&self) -> impl Iterator<Item = u32> {
        (0..128).filter(|&bit| bit < self.n_promises as u32 || self.weak >> bit & 1 == 1)
    }

    /// The bits of strong constraints.
    pub fn strong(&self) -> impl Iterator<Item = u32> {
        (0..128).filter(|&bit| self.strong >> bit & 1 == 1)
    }

    /// The constraints that are enabled where these actions are.
    pub fn enabled(&self, actions: impl Iterator<Item = ActionId>) -> u128 {
        if self.weak | self.strong == 0 {
            return 0;
        }
        actions.fold(0, |all, action| all | self.of_action[action.index()].0)
    }

    /// The marks of an edge: a step that begins with an action, or with none where the last state repeats, and that puts
    /// off these promises. The constraints that are enabled `here` are known.
    pub fn of_edge(&self, here: u128, action: Option<ActionId>, postponed: u64) -> Marks {
        let taken = action.map_or(0, |action| self.of_action[action.index()].1);
        let has = !(u128::from(postponed) | self.weak & here & !taken);
        Marks { has, takes: taken | !self.strong, enabled: here & self.strong }
    }
}

/// Whether the rank of a state may end where it does, given the constraints that are enabled in the state.
pub fn ends_well(rank: &[Level], enabled: u128) -> bool {
    match rank.last().map(|level| level.reason) {
        Some(Reason::Never(constraint)) => is_in(constraint, enabled),
        Some(Reason::Leaves | Reason::Lacks(_)) => true,
        None => false,
    }
}

fn is_in(number: u32, bits: u128) -> bool {
    number < 128 && bits >> number & 1 == 1
}

/// Whether an edge does what the ranks of its ends say.
///
/// # Errors
/// What is wrong.
pub fn keeps(from: &[Level], to: &[Level], marks: Marks) -> Result<(), String> {
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
            Reason::Lacks(mark) if mark < 128 && !is_in(mark, marks.has) => return Ok(()),
            Reason::Never(constraint) if constraint < 128 && !is_in(constraint, marks.takes) => {
                if is_in(constraint, marks.enabled) {
                    return Ok(());
                }
            }
            _ => return Err(format!("a step in number {} does what its reason excludes", here.number)),
        }
    }
    Ok(())
}
