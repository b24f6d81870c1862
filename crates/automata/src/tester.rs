//! Testers: processes that watch the visible actions of a system and know what is illegal.
//!
//! After Valmari, *On-the-fly verification with stubborn sets* (CAV '93), Definition 3.1. A tester
//! is a process over letters (the visible actions) and τ, with four sets of states:
//!
//! - *reject*: reaching one is an illegal trace;
//! - *deadlock*: a deadlock of system and tester while it is in one is an illegal stable failure;
//! - *livelock*: the system running for ever without visible actions is an illegal divergence;
//! - *infinite*: leaving such states infinitely often is an illegal infinite trace.

use base::Budget;

use crate::scc::components;

/// A transition of a tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// Source state.
    pub from: u32,
    /// Index of the letter; none is τ.
    pub letter: Option<u32>,
    /// Target state.
    pub to: u32,
}

/// A state of a tester.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// What people call it.
    pub name: String,
    /// In S_R: reaching it is an error.
    pub reject: bool,
    /// In S_D: a deadlock here is an error.
    pub deadlock: bool,
    /// In S_L: a divergence here is an error.
    pub livelock: bool,
    /// In S_∞: leaving it infinitely often is an error.
    pub infinite: bool,
}

/// A tester, explicit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tester {
    /// The visible actions, by name. A tester takes part in all of them, also in those that it
    /// has no transition for.
    pub letters: Vec<String>,
    /// The states.
    pub states: Vec<State>,
    /// The initial state.
    pub initial: u32,
    /// The transitions.
    pub edges: Vec<Edge>,
}

/// Why a tester is not legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The state lies on a loop of τ-transitions.
    TauLoop(u32),
    /// A deadlock state has a τ-transition.
    TauFromDeadlock(u32),
    /// The initial state, or a transition with this number, names a state or a letter that there is not.
    Dangling(Option<usize>),
}

impl Tester {
    /// The first violation of Definition 3.1, if there is one.
    pub fn flaw(&self) -> Option<Flaw> {
        let is_state = |state: u32| (state as usize) < self.states.len();
        let is_letter = |letter: u32| (letter as usize) < self.letters.len();
        let dangles = |edge: &Edge| {
            !is_state(edge.from) || !is_state(edge.to) || edge.letter.is_some_and(|letter| !is_letter(letter))
        };
        if !is_state(self.initial) {
            return Some(Flaw::Dangling(None));
        }
        if let Some(number) = self.edges.iter().position(dangles) {
            return Some(Flaw::Dangling(Some(number)));
        }
        let tau = || self.edges.iter().filter(|edge| edge.letter.is_none());
        if let Some(edge) = tau().find(|edge| self.states[edge.from as usize].deadlock) {
            return Some(Flaw::TauFromDeadlock(edge.from));
        }
        let mut out = vec![vec![]; self.states.len()];
        tau().for_each(|edge| out[edge.from as usize].push(edge.to as usize));
        let found = components(&out, |_, &to| Some(to), &mut Budget::unlimited()).ok()?;
        let is_on_loop = |edge: &&Edge| found.of[edge.from as usize] == found.of[edge.to as usize];
        tau().find(is_on_loop).map(|edge| Flaw::TauLoop(edge.to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tester(n_states: usize, tau: &[(u32, u32)]) -> Tester {
        Tester {
            letters: Vec::new(),
            states: vec![State::default(); n_states],
            initial: 0,
            edges: tau.iter().map(|&(from, to)| Edge { from, letter: None, to }).collect(),
        }
    }

    #[test]
    fn flaws_are_found_and_name_a_state_of_the_loop() {
        assert_eq!(tester(3, &[(0, 1), (1, 2), (0, 2)]).flaw(), None);
        assert_eq!(tester(1, &[(0, 0)]).flaw(), Some(Flaw::TauLoop(0)));
        let behind_a_loop = tester(4, &[(0, 1), (1, 2), (2, 1), (2, 3)]);
        assert!(matches!(behind_a_loop.flaw(), Some(Flaw::TauLoop(1 | 2))));
        let mut from_deadlock = tester(2, &[(0, 1)]);
        from_deadlock.states[0].deadlock = true;
        assert_eq!(from_deadlock.flaw(), Some(Flaw::TauFromDeadlock(0)));
        assert_eq!(tester(2, &[(0, 1), (1, 2)]).flaw(), Some(Flaw::Dangling(Some(1))));
        assert_eq!(tester(0, &[]).flaw(), Some(Flaw::Dangling(None)));
        let mut no_letter = tester(1, &[]);
        no_letter.edges = vec![Edge { from: 0, letter: Some(0), to: 0 }];
        assert_eq!(no_letter.flaw(), Some(Flaw::Dangling(Some(0))));
    }
}
