//! Mistakes of a search: none gets a violated property certified, and each is noticed.

use std::cell::RefCell;

use ::model::fairness::Constraint;
use ::model::{ActionId, ActionSystem, StepError, Steps, System};
use certify::Ends;
use generators::random;
use proptest::collection::vec;
use proptest::prelude::*;
use stubborn::certificate::Failed;
use stubborn_testing::claims::{Case, Draw};
use stubborn_testing::{assert_met, networks, run_cases};

use super::{certified_though, constraints};

/// A runner with a mistake.
struct Mistaken<'s> {
    system: &'s ActionSystem,
    mistake: Mistake,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    Nothing,
    LosesTheFirstStep,
    LosesTheLastStep,
    LosesASometimesStep,
    LosesAnAction,
    StaysWhereItIs,
    MergesStates,
    RepeatsAStep,
    ForgetsTruths,
    InvertsTruths,
    SwapsActions,
    LosesMarks,
    ForgetsFairness,
}

const MISTAKES: [Mistake; 12] = [
    Mistake::LosesTheFirstStep,
    Mistake::LosesTheLastStep,
    Mistake::LosesASometimesStep,
    Mistake::LosesAnAction,
    Mistake::StaysWhereItIs,
    Mistake::MergesStates,
    Mistake::RepeatsAStep,
    Mistake::ForgetsTruths,
    Mistake::InvertsTruths,
    Mistake::SwapsActions,
    Mistake::LosesMarks,
    Mistake::ForgetsFairness,
];

impl Mistake {
    /// What becomes of fairness.
    fn of_constraints(self, constraints: &[Constraint]) -> Vec<Constraint> {
        match self {
            // Steps that take a constraint are not seen to do so, but one.
            Mistake::LosesMarks => {
                let mistaken = |known: &Constraint| {
                    let served_by = known.takers().iter().copied().take(1).collect();
                    Constraint { served_by, ..known.clone() }
                };
                constraints.iter().map(mistaken).collect()
            }
            Mistake::ForgetsFairness => Vec::new(),
            _ => constraints.to_vec(),
        }
    }
}

impl System for Mistaken<'_> {
    type Scratch = <ActionSystem as System>::Scratch;

    fn new_scratch(&self) -> Self::Scratch {
        self.system.new_scratch()
    }

    fn width(&self) -> usize {
        self.system.width()
    }

    fn initial_states(&self, out: &mut Vec<u32>) {
        self.system.initial_states(out);
    }

    fn successors(
        &self,
        state: &[u32],
        scratch: &mut Self::Scratch,
        out: &mut Steps,
    ) -> Result<(), StepError> {
        let mut all = Steps::new(self.width());
        self.system.successors(state, scratch, &mut all)?;
        let n = all.len();
        let odd = state.iter().fold(0, |sum: u32, &word| sum.wrapping_add(word.wrapping_mul(2_654_435_761)))
            >> 30
            == 0;
        for (index, (action, target)) in all.iter().enumerate() {
            let (mut action, mut target) = (action, target.to_vec());
            match self.mistake {
                Mistake::LosesTheFirstStep if index == 0 && n > 1 => continue,
                Mistake::LosesTheLastStep if index + 1 == n && n > 1 => continue,
                Mistake::LosesASometimesStep if odd && index == 0 && n > 1 => continue,
                Mistake::LosesAnAction if action.index() == 1 => continue,
                Mistake::StaysWhereItIs if odd => target = state.to_vec(),
                Mistake::MergesStates => {
                    // What the first variable is gets lost.
                    let field = self.system.layout().fields()[0];
                    field.set_raw(&mut target, field.raw(state));
                }
                Mistake::RepeatsAStep if index > 0 => target = all.target(0).to_vec(),
                Mistake::SwapsActions => action = all.actions()[n - 1 - index],
                _ => {}
            }
            out.push(action, &target);
        }
        Ok(())
    }

    fn enabled(
        &self,
        state: &[u32],
        scratch: &mut Self::Scratch,
        out: &mut Vec<ActionId>,
    ) -> Result<(), StepError> {
        self.system.enabled(state, scratch, out)
    }

    fn fire(
        &self,
        state: &mut [u32],
        action: ActionId,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        self.system.fire(state, action, scratch)
    }

    fn n_propositions(&self) -> usize {
        self.system.n_propositions()
    }

    fn holds(
        &self,
        proposition: usize,
        state: &[u32],
        scratch: &mut Self::Scratch,
    ) -> Result<bool, StepError> {
        let truth = self.system.holds(proposition, state, scratch)?;
        Ok(match self.mistake {
            Mistake::ForgetsTruths => false,
            Mistake::InvertsTruths => !truth,
            _ => truth,
        })
    }
}

/// Whatever a mistaken search says, no violated property is ever certified; and each mistake is noticed often: the proof that it
/// leads to is refused, or it finds a violation that there is not.
#[test]
fn mistakes_of_the_search_are_noticed() {
    let noticed: RefCell<Vec<[u32; 2]>> = RefCell::new(vec![[0; 2]; MISTAKES.len() + 1]);
    let strategy = (networks::network(), any::<u64>(), 1..10u32, vec(0..4u8, 5));
    run_cases(1000, &strategy, |(network, seed, size, kinds)| {
        let draw = Draw { seed, size, operators: random::ALL };
        let Some(mut case) = Case::of_network(&network, draw) else { return Ok(()) };
        let constraints = constraints(&case, &kinds[..network.processes.len()]);
        let violated = case.is_violated_fairly(&constraints);
        let system = case.system.clone();
        for (number, &mistake) in MISTAKES.iter().chain([&Mistake::Nothing]).enumerate() {
            let runner = Mistaken { system: &system, mistake };
            let taken_for = mistake.of_constraints(&constraints);
            let wrong = match certified_though(&runner, &taken_for, &mut case, Ends::Stutter, &constraints) {
                Ok(Ok(_)) => {
                    prop_assert!(!violated, "{:?} makes a wrong proof of {}", mistake, case.text());
                    false
                }
                Ok(Err(_)) => true,
                Err(failed) => failed != Failed::Violated || !violated,
            };
            noticed.borrow_mut()[number][usize::from(wrong)] += 1;
        }
        Ok(())
    });
    let noticed = noticed.borrow();
    for (mistake, [_, n]) in MISTAKES.iter().zip(noticed.iter()) {
        assert_met!(*n > 10, "{mistake:?}: {n}");
    }
    assert_eq!(noticed[MISTAKES.len()][1], 0, "who makes no mistake is believed");
}
