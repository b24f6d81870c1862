//! What fairness costs where it does not matter: formulas that hold without it. (What it costs where it does,
//! beside monitors, is [malinen.03.fairness]'s experiment: `stubborn reproduce --paper 002`.)
//!
//! `cargo bench -p stubborn-benches --bench fairness`

#![allow(clippy::print_stdout)] // Printing is what a benchmark is for.

use base::Budget;
use check::decide::{Claim, Decision, Settings};
use check::fairness::Constraint;
use check::method::{Method, ObserverKind, SearchKind};
use model::{ActionId, ActionSystem};
use stubborn_benches::{fastest, for_each_claim};

/// Searches are given up beyond this many states.
const MAX_STATES: u64 = 2_000_000;

/// Fairness to all processes with a name that begins so.
fn constraints(system: &ActionSystem, name: &str, strong: bool) -> Vec<Constraint> {
    let is_wanted = |process: &(usize, &model::Process)| process.1.name.starts_with(name);
    let of_process = |(process, _): (usize, &model::Process)| {
        let actions = system.actions().iter().enumerate();
        let owned = actions.filter(|(_, action)| action.owners.iter().any(|owner| owner.index() == process));
        Constraint::new(strong, owned.map(|(index, _)| ActionId::new(index)).collect())
    };
    system.processes().iter().enumerate().filter(is_wanted).map(of_process).collect()
}

fn decide(claim: &mut Claim, system: &ActionSystem, settings: &Settings<'_>) -> (f64, Decision) {
    let method = Method::new(ObserverKind::Tgba, SearchKind::Scc, None);
    fastest(3, || {
        let mut budget = Budget::unlimited();
        budget.max_states = MAX_STATES;
        claim.search(system, method, settings, &mut budget).expect("an allowed method")
    })
}

fn show((seconds, decision): &(f64, Decision)) -> String {
    let outcome = &decision.outcome;
    let verdict = match &outcome.stop {
        None => "holds",
        Some(check::search::ProductStop::Found(_)) => "violated",
        Some(_) => "gave up",
    };
    format!("{verdict:>8} {:>9} {seconds:>8.3} s", outcome.stats.states)
}

/// What fairness costs where the property holds without it.
fn cost(file: &str, processes: &str, constants: &[(&str, i64)], formula: &str) {
    for_each_claim(&format!("models/{file}"), constants, [formula].into_iter(), |_, system, new_claim| {
        let mut claim = new_claim();
        let none = decide(&mut claim, system, &Settings::default());
        let mut line = format!("{file} {constants:?} {formula}: none {}", show(&none));
        for (strong, kind) in [(false, "weak"), (true, "strong")] {
            let constraints = constraints(system, processes, strong);
            let settings = Settings { fairness: &constraints, ..Settings::default() };
            let fair = decide(&mut claim, system, &settings);
            line += &format!("; {kind} {:.2} times", fair.0 / none.0);
        }
        println!("{line}");
    });
}

fn main() {
    println!("what fairness costs where the formula holds without it");
    cost("peterson_n.proc", "Peer", &[("N", 4)], "[] !(Peer[0]@critical && Peer[1]@critical)");
    cost("semaphore.proc", "Worker", &[("N", 12)], "[] !(Worker[0]@critical[*] && Worker[1]@critical[*])");
    cost("dining.proc", "Phil", &[("N", 11)], "[] !(Phil[0]@eat && Phil[1]@eat)");
    cost(
        "semaphore.proc",
        "Worker",
        &[("N", 12)],
        "([] <> Worker[0]@critical[*]) -> ([] <> Semaphore@taken)",
    );
    cost("peterson_n.proc", "Peer", &[("N", 4)], "([] <> Peer[0]@critical) -> ([] <> Peer[0]@trying)");
}
