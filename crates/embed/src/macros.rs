//! Assertions for tests: what fails prints the run that shows why.

use crate::model::Model;
use crate::run::{Counterexample, Run};
use crate::verdict::{Proof, Reachable, Verdict};

/// Asserts that a proposition is true in all reachable states.
#[macro_export]
macro_rules! assert_always {
    ($check:expr, $name:expr $(,)?) => {
        $crate::expect_holds($check.always($name))
    };
}

/// Asserts that a proposition is true in no reachable state.
#[macro_export]
macro_rules! assert_never {
    ($check:expr, $name:expr $(,)?) => {
        $crate::expect_holds($check.never($name))
    };
}

/// Asserts that a proposition becomes true in every run that counts.
#[macro_export]
macro_rules! assert_eventually {
    ($check:expr, $name:expr $(,)?) => {
        $crate::expect_holds($check.eventually($name))
    };
}

/// Asserts that every run that counts satisfies a formula.
#[macro_export]
macro_rules! assert_holds {
    ($check:expr, $formula:expr $(,)?) => {
        $crate::expect_holds($check.ltl($formula))
    };
}

/// Asserts that something can always happen.
#[macro_export]
macro_rules! assert_deadlock_free {
    ($check:expr $(,)?) => {
        $crate::expect_holds($check.deadlock_free())
    };
}

/// Asserts that a proposition is true in some reachable state; gives a shortest run to it.
#[macro_export]
macro_rules! assert_reachable {
    ($check:expr, $name:expr $(,)?) => {
        $crate::expect_reachable($check.reachable($name))
    };
}

/// Asserts that some run that counts violates a formula; gives it. A closure may say more about the run.
///
/// ```
/// # use stubborn_embed::{Check, Model, assert_violated};
/// # struct Counter;
/// # impl Model for Counter {
/// #     type State = u8;
/// #     type Action = ();
/// #     fn initial(&self) -> Vec<u8> { vec![0] }
/// #     fn actions(&self, n: &u8, out: &mut Vec<()>) { if *n < 9 { out.push(()); } }
/// #     fn step(&self, n: &mut u8, (): &()) { *n += 1; }
/// # }
/// let check = Check::new(&Counter).prop("small", |n| *n < 5);
/// assert_violated!(check, "[] small", |run| run.steps.len() >= 5);
/// ```
#[macro_export]
macro_rules! assert_violated {
    ($check:expr, $formula:expr $(,)?) => {
        $crate::expect_violated($check.ltl($formula), |_| true)
    };
    ($check:expr, $formula:expr, $is_right:expr $(,)?) => {
        $crate::expect_violated($check.ltl($formula), $is_right)
    };
}

/// What the assertions are made of.
///
/// # Panics
/// It does not hold, or that is not known.
#[track_caller]
pub fn expect_holds<M: Model>(verdict: Verdict<M>) -> Proof {
    match verdict {
        Verdict::Holds(proof) => proof,
        verdict => panic!("{verdict}"),
    }
}

/// What the assertions are made of.
///
/// # Panics
/// It is not violated, or that is not known, or not by a run like this.
#[track_caller]
pub fn expect_violated<M: Model>(
    verdict: Verdict<M>,
    is_right: impl FnOnce(&Counterexample<M>) -> bool,
) -> Counterexample<M> {
    match verdict {
        Verdict::Violated(run) if is_right(&run) => run,
        Verdict::Violated(run) => panic!("it is violated, but not by a run like that: {run}"),
        verdict => panic!("it is not violated: {verdict}"),
    }
}

/// What the assertions are made of.
///
/// # Panics
/// It cannot be reached, or that is not known.
#[track_caller]
pub fn expect_reachable<M: Model>(reachable: Reachable<M>) -> Run<M> {
    match reachable {
        Reachable::Yes(run) => run,
        answer => panic!("{answer}"),
    }
}
