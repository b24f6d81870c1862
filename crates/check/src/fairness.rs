//! Fairness: which infinite runs count, and what a strong component must have to contain one.
//!
//! A constraint is a set of actions: it is enabled if one of them is, and taken if one of them
//! happens. A process is the set of actions that it takes part in ([malinen.03.fairness], Definition 7
//! [malinen.03.fairness]). A run is *weakly* fair to a constraint if this is disabled infinitely often
//! or taken infinitely often; *strongly* fair if it is taken infinitely often or enabled only finitely
//! often. The state of a deadlock that repeats enables nothing. *Justness* is a weak constraint that other actions
//! take as well ([`mod@model::fairness`] says why).
//!
//! Acceptance is a set of *marks* that are collected inside a component:
//! - the observer's, on its steps;
//! - for each weak constraint one mark, on states where it is disabled and on steps that take it: all are
//!   required, like the observer's;
//! - for each strong constraint two, on states where it is enabled and on steps that take it: who has
//!   the first must have the second.
//!
//! Marks of a state count for a component as soon as that has an edge, since then each of its states has
//! one inside. There is no limit on the number of constraints.

use base::{Budget, Limit};
use model::ActionId;
use model::chain::first;
pub use model::fairness::Constraint;

/// The observer's marks take this many words.
const OBSERVER_WORDS: usize = 2;

/// The constraints of a run, in the order of the bits of marks: the observer's, the weak constraints', who
/// is enabled of the strong ones, who is taken of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fairness {
    n_weak: usize,
    n_strong: usize,
    /// Per action, which constraints it is in: words of weak ones, then of strong ones.
    members: Vec<u32>,
    /// Per action, which constraints it takes, in the same way; if it is not the same.
    takers: Option<Vec<u32>>,
}

impl Fairness {
    /// The constraints of a system with so many actions. Those without actions say nothing, and are left
    /// out.
    pub fn new<'c>(n_actions: usize, constraints: &'c [Constraint]) -> Fairness {
        let used = |strong: bool| {
            constraints.iter().filter(move |known| known.strong == strong && !known.actions.is_empty())
        };
        let (n_weak, n_strong) = (used(false).count(), used(true).count());
        let mut fairness = Fairness { n_weak, n_strong, ..Fairness::default() };
        let width = fairness.weak_words() + fairness.strong_words();
        let table = |of: &dyn Fn(&'c Constraint) -> &'c [ActionId]| {
            let mut table = vec![0; width * n_actions];
            for (strong, first_word) in [(false, 0), (true, fairness.weak_words())] {
                for (index, constraint) in used(strong).enumerate() {
                    for action in of(constraint) {
                        table[action.index() * width + first_word + index / 32] |= 1 << (index % 32);
                    }
                }
            }
            table
        };
        let members = table(&|constraint| &constraint.actions);
        let takers = constraints.iter().any(Constraint::is_just).then(|| table(&Constraint::takers));
        (fairness.members, fairness.takers) = (members, takers);
        fairness
    }

    /// The same within a budget, which holds what it takes.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn within(
        n_actions: usize,
        constraints: &[Constraint],
        budget: &mut Budget<'_>,
    ) -> Result<Fairness, Limit> {
        // A bit per action and constraint; two where actions take constraints that they are not in.
        let n_tables = if constraints.iter().any(Constraint::is_just) { 2 } else { 1 };
        budget.hold(n_tables * n_actions as u64 * (constraints.len().div_ceil(32) as u64 + 1) * 4)?;
        Ok(Fairness::new(n_actions, constraints))
    }

    /// Whether every run is fair.
    pub fn is_empty(&self) -> bool {
        self.n_weak + self.n_strong == 0
    }

    /// Whether there are strong constraints.
    pub fn has_strong(&self) -> bool {
        self.n_strong > 0
    }

    /// Weak and strong constraints.
    pub(crate) fn n_constraints(&self) -> (usize, usize) {
        (self.n_weak, self.n_strong)
    }

    /// Per action, which constraints it is in, and which ones it takes: words of weak ones, then of strong ones.
    pub(crate) fn tables(&self) -> [&[u32]; 2] {
        [&self.members, self.takers.as_ref().unwrap_or(&self.members)]
    }

    /// Words of weak constraints, and of strong ones.
    pub(crate) fn words(&self) -> [usize; 2] {
        [self.weak_words(), self.strong_words()]
    }

    /// What a word of marks is about.
    pub(crate) fn about(&self, word: usize) -> About {
        let weak = OBSERVER_WORDS + self.weak_words();
        match word {
            0..OBSERVER_WORDS => About::Observer(word),
            _ if word < weak => About::Weak(word - OBSERVER_WORDS),
            _ if word < weak + self.strong_words() => About::Enabled(word - weak),
            _ => About::Taken(word - weak - self.strong_words()),
        }
    }

    fn weak_words(&self) -> usize {
        self.n_weak.div_ceil(32)
    }

    fn strong_words(&self) -> usize {
        self.n_strong.div_ceil(32)
    }

    /// Words of a set of marks.
    pub(crate) fn n_words(&self) -> usize {
        OBSERVER_WORDS + self.weak_words() + 2 * self.strong_words()
    }

    /// The constraints of a step in a table: those of the action it begins with.
    fn row<'t>(&self, table: &'t [u32], step: ActionId) -> (&'t [u32], &'t [u32]) {
        let width = self.weak_words() + self.strong_words();
        let at = first(step, table.len() / width).index() * width;
        table[at..at + width].split_at(self.weak_words())
    }

    /// The marks of a state in which these actions are enabled.
    #[inline]
    pub(crate) fn state_marks(&self, enabled: &[ActionId], out: &mut Vec<u32>) {
        out.clear();
        out.resize(self.n_words(), 0);
        if self.is_empty() {
            return;
        }
        let (weak, strong) = out[OBSERVER_WORDS..].split_at_mut(self.weak_words());
        for &action in enabled {
            let (its_weak, its_strong) = self.row(&self.members, action);
            add(weak, its_weak);
            add(strong, its_strong);
        }
        // A weak constraint has its mark where it is disabled.
        weak.iter_mut().for_each(|word| *word = !*word);
        if let Some(last) = weak.last_mut() {
            *last &= last_mask(self.n_weak);
        }
    }

    /// The marks of a step with these marks of the observer.
    pub(crate) fn step_marks(&self, observer: u64, action: Option<ActionId>, out: &mut Vec<u32>) {
        out.clear();
        out.extend([observer as u32, (observer >> 32) as u32]);
        out.resize(self.n_words(), 0);
        if let Some(action) = action
            && !self.is_empty()
        {
            let (weak, strong) = self.row(self.takers.as_ref().unwrap_or(&self.members), action);
            let taken = OBSERVER_WORDS + self.weak_words() + self.strong_words();
            add(&mut out[OBSERVER_WORDS..], weak);
            add(&mut out[taken..], strong);
        }
    }

    /// What a component must have, with these marks of the observer.
    pub(crate) fn acceptance(&self, observer: u64) -> Acceptance {
        let mut required = vec![observer as u32, (observer >> 32) as u32];
        required.resize(OBSERVER_WORDS + self.weak_words(), u32::MAX);
        if self.n_weak > 0
            && let Some(last) = required.last_mut()
        {
            *last = last_mask(self.n_weak);
        }
        Acceptance { required, strong_words: self.strong_words() }
    }
}

/// Adds marks to a set.
#[inline]
pub(crate) fn add(to: &mut [u32], marks: &[u32]) {
    to.iter_mut().zip(marks).for_each(|(to, marks)| *to |= marks);
}

/// The bits of the last word of so many marks.
fn last_mask(n: usize) -> u32 {
    if n.is_multiple_of(32) { u32::MAX } else { (1 << (n % 32)) - 1 }
}

/// What a word of marks is about, and which one of its kind it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// The observer's marks.
    Observer(usize),
    /// Weak constraints.
    Weak(usize),
    /// Who of the strong constraints is enabled.
    Enabled(usize),
    /// Who of them is taken.
    Taken(usize),
}

/// A word of marks that cycles must see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) word: usize,
    /// Those that count.
    pub(crate) bits: u32,
    /// Only of cycles through states that have the same bits in this word.
    pub(crate) where_enabled: Option<usize>,
}

/// What the marks of a component must be.
#[derive(Clone, Debug)]
pub(crate) struct Acceptance {
    /// The marks of the observer and of weak constraints that must be there.
    required: Vec<u32>,
    strong_words: usize,
}

impl Acceptance {
    /// Whether a component with these marks has an accepted run.
    #[inline]
    pub(crate) fn holds(&self, marks: &[u32]) -> bool {
        self.may_hold(marks) && self.unfair(marks).all(|word| word == 0)
    }

    /// Whether a part of a component with these marks may have an accepted run.
    #[inline]
    pub(crate) fn may_hold(&self, marks: &[u32]) -> bool {
        self.required.iter().zip(marks).all(|(required, marks)| required & !marks == 0)
    }

    /// The strong constraints that are enabled but not taken.
    #[inline]
    fn unfair<'m>(&self, marks: &'m [u32]) -> impl Iterator<Item = u32> + use<'m> {
        let (enabled, taken) = marks[self.required.len()..].split_at(self.strong_words);
        enabled.iter().zip(taken).map(|(enabled, taken)| enabled & !taken)
    }

    /// Whether a state with `state` marks enables a strong constraint that a component with `marks` never
    /// takes.
    pub(crate) fn is_bad(&self, state: &[u32], marks: &[u32]) -> bool {
        let enabled = &state[self.required.len()..];
        self.unfair(marks).zip(enabled).any(|(unfair, enabled)| unfair & enabled != 0)
    }

    /// The marks that cycles must see, word by word.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let n = self.required.len();
        let required = self.required.iter().enumerate().filter(|(_, bits)| **bits != 0);
        let required = required.map(|(word, &bits)| Block { word, bits, where_enabled: None });
        let strong = (n..n + self.strong_words).map(|enabled| Block {
            word: enabled + self.strong_words,
            bits: u32::MAX,
            where_enabled: Some(enabled),
        });
        required.chain(strong).collect()
    }

    /// The marks of strong constraints that are enabled but not taken: words and bits.
    pub(crate) fn missing(&self, marks: &[u32]) -> Vec<(usize, u32)> {
        let first = self.required.len() + self.strong_words;
        let words = (first..).zip(self.unfair(marks));
        let bits = |word: u32| (0..32).map(|bit| 1 << bit).filter(move |bit| word & bit != 0);
        words.flat_map(|(at, word)| bits(word).map(move |bit| (at, bit))).collect()
    }

    /// Whether a step adds something that is missing from a set of marks.
    pub(crate) fn helps(&self, step: &[u32], marks: &[u32]) -> bool {
        let n = self.required.len();
        let missing = self.required.iter().zip(marks).map(|(required, marks)| required & !marks);
        missing.zip(step).any(|(missing, step)| missing & step != 0)
            || self.unfair(marks).zip(&step[n + self.strong_words..]).any(|(unfair, step)| unfair & step != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constraint(strong: bool, actions: &[usize]) -> Constraint {
        Constraint::new(strong, actions.iter().copied().map(ActionId::new).collect())
    }

    #[test]
    fn marks_say_what_the_definition_says_with_very_many_constraints() {
        for n in [1, 3, 31, 32, 33, 64, 200] {
            let mut constraints: Vec<Constraint> = (0..n).map(|i| constraint(false, &[i])).collect();
            constraints.extend((0..n).map(|i| constraint(true, &[i])));
            constraints.push(constraint(true, &[]));
            let fairness = Fairness::new(n, &constraints);
            let acceptance = fairness.acceptance(0b101);
            let (mut marks, mut step) = (Vec::new(), Vec::new());
            // Action 0 is enabled and never taken, the others are disabled.
            fairness.state_marks(&[ActionId::new(0)], &mut marks);
            assert!(!acceptance.may_hold(&marks));
            assert!(acceptance.is_bad(&marks.clone(), &marks));
            fairness.step_marks(0b101, None, &mut step);
            assert!(acceptance.helps(&step, &marks));
            add(&mut marks, &step);
            assert!(!acceptance.helps(&step, &marks) && !acceptance.holds(&marks));
            // Taking action 0 makes it fair in both ways.
            fairness.step_marks(0, Some(ActionId::new(0)), &mut step);
            assert!(acceptance.helps(&step, &marks));
            add(&mut marks, &step);
            assert!(acceptance.holds(&marks) && !acceptance.is_bad(&marks.clone(), &marks));
            // A deadlock is fair to everybody.
            fairness.state_marks(&[], &mut marks);
            fairness.step_marks(0b101, None, &mut step);
            add(&mut marks, &step);
            assert!(acceptance.holds(&marks));
        }
    }

    #[test]
    fn a_just_constraint_is_taken_by_what_interferes() {
        let [a, b, c] = [0, 1, 2].map(ActionId::new);
        let just = Constraint { strong: false, actions: vec![a], served_by: vec![a, b] };
        let fairness = Fairness::new(3, &[just, constraint(true, &[1])]);
        let acceptance = fairness.acceptance(0);
        let (mut marks, mut step) = (Vec::new(), Vec::new());
        for (enabled, taken, is_fair) in
            [(a, a, true), (a, b, true), (a, c, false), (b, c, false), (b, b, true), (c, c, true)]
        {
            fairness.state_marks(&[enabled], &mut marks);
            fairness.step_marks(0, Some(taken), &mut step);
            add(&mut marks, &step);
            assert_eq!(acceptance.holds(&marks), is_fair, "{enabled:?} is enabled, {taken:?} happens");
        }
    }

    #[test]
    fn without_constraints_the_observer_decides() {
        let fairness = Fairness::default();
        let (mut marks, mut step) = (Vec::new(), Vec::new());
        fairness.state_marks(&[ActionId::new(7)], &mut marks);
        assert!(fairness.acceptance(0).holds(&marks) && !fairness.acceptance(1 << 40).holds(&marks));
        fairness.step_marks(1 << 40, Some(ActionId::new(7)), &mut step);
        add(&mut marks, &step);
        assert!(fairness.acceptance(1 << 40).holds(&marks));
    }
}
