//! Generators and oracles for the tests of Stubborn. Never shipped.
//!
//! - [`run_cases`]: random tests with a fixed seed that shrink; how many is up to the caller.
//! - [`assert_met`]: that the cases of the fixed seed have met enough of something.
//! - [`systems`]: random action systems with data.
//! - [`networks`]: random process networks, their text, and their state space by the definition.
//! - [`testers`]: random testers and specifications, and what they say by definition.
//! - [`claims`]: formulas about random systems, and whether they are violated, by definition.
//! - [`crew`]: threads for searches by several workers.
//! - [`hall`]: several processes in one, for searches by several of them.
//! - [`judged`]: judges of runs, for tests of whole searches.
//! - [`methods`]: which methods are sound, one by one, and how often each was tried.
//! - [`naive`]: the slow and obvious explorer.
//! - [`repaired`]: the slow and obvious search of a product that is reduced for fair runs.
//! - [`shelf`]: a place where searches are kept, with everything that it ever had.
//! - [`texts`]: random models as texts, in each language.
//! - [`toys`]: small systems in which fairness and order matter.
//! - [`relations_checker`]: watches a system run and checks the relations that it claims.

pub mod claims;
pub mod crew;
pub mod hall;
pub mod judged;
pub mod methods;
pub mod naive;
pub mod networks;
pub mod relations_checker;
pub mod repaired;
pub mod shelf;
pub mod systems;
pub mod testers;
pub mod texts;
pub mod toys;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

/// Runs a random test. The seed is fixed, so that every run of the suite sees the same cases;
/// `STUBBORN_SEED` replaces it and `STUBBORN_CASES` multiplies the number of cases, for longer
/// hunts. A failure is shrunk and printed with the seed.
///
/// # Panics
/// If a case fails.
pub fn run_cases<S: Strategy>(
    n_cases: u32,
    strategy: &S,
    test: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let seed = number("STUBBORN_SEED").unwrap_or(1993);
    let factor = number("STUBBORN_CASES").unwrap_or(1);
    let config = Config {
        cases: n_cases.saturating_mul(u32::try_from(factor).unwrap_or(u32::MAX)),
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    let n_cases = config.cases;
    if let Err(error) = TestRunner::new(config).run(strategy, test) {
        panic!("{error}\nreplay with STUBBORN_SEED={seed}");
    }
    tell(&format!("{n_cases} cases"));
}

/// Tells something to whoever hunts (`cargo xtask soak` adds up what is counted). Silent but in hunts.
#[expect(clippy::print_stderr, reason = "hunts are counted")]
fn tell(what: &str) {
    if number("STUBBORN_CASES").is_some() {
        eprintln!("{what}");
    }
}

/// The number that a variable of the environment asks for.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Whether the cases of [`run_cases`] are those of the fixed seed. Only these have been counted.
pub fn is_fixed() -> bool {
    number("STUBBORN_SEED").is_none()
}

/// Asserts that enough of something was met by random cases; it says how much in words like those of `assert!`. Cases of
/// another seed than the fixed one may happen to lack it: of these, nothing is asserted.
#[macro_export]
macro_rules! assert_met {
    ($($enough:tt)+) => {
        if $crate::is_fixed() {
            assert!($($enough)+);
        }
    };
}

/// Says how many cases a hunt has judged: that is less than were drawn, since some are too large. Silent but in hunts.
pub fn tell_count(test: &str, holds: u32, violated: u32) {
    tell(&format!("{test}: {} judged, {holds} hold, {violated} are violated", holds + violated));
}
