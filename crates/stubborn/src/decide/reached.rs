//! The states of a tester that it never gets to, by the plainest search there is: whatever it waits for there was never tried.

use automata::Tester;
use base::Limit;
use check::{Exact, StateId, Store as _, Visited as _};
use language::Observed;
use model::{ActionSystem, Steps, System as _};
use report::why::Because;

use crate::clock::Clock;

/// The states that it never gets to; a state that is an error should be one of them, and is not told. Nothing if not all states
/// can be looked at.
pub(super) fn unreached(
    system: &ActionSystem,
    observed: &Observed<Tester>,
    clock: &Clock<'_>,
) -> Vec<Because> {
    let Ok(reached) = reached(system, observed, clock) else { return Vec::new() };
    let states = observed.process.states.iter().zip(reached);
    let missing = states.filter(|(state, reached)| !reached && !state.reject);
    missing.map(|(state, _)| Because::NeverThere { state: state.name.clone() }).collect()
}

/// Per state of the tester, whether it gets there. A state of both is that of the system, and one word more.
fn reached(
    system: &ActionSystem,
    Observed { process: tester, labels }: &Observed<Tester>,
    clock: &Clock<'_>,
) -> Result<Vec<bool>, Limit> {
    let mut budget = clock.budget();
    let width = system.width();
    let mut store = Exact::new(width + 1, budget.room());
    let mut reached = vec![false; tester.states.len()];
    let mut pair = Vec::with_capacity(width + 1);
    let mut add = |state: &[u32], its: u32, store: &mut Exact| {
        reached[its as usize] = true;
        pair.clear();
        pair.extend_from_slice(state);
        pair.push(its);
        store.insert(&pair)
    };
    let mut words = Vec::new();
    system.initial_states(&mut words);
    for state in words.chunks_exact(width) {
        add(state, tester.initial, &mut store)?;
    }
    let (mut scratch, mut steps) = (system.new_scratch(), Steps::new(width));
    let (mut here, mut next) = (vec![0; width + 1], 0);
    while next < store.n_states() as usize {
        budget.tick()?;
        store.get(StateId::new(next), &mut here);
        next += 1;
        let (state, its) = (&here[..width], here[width]);
        let goes = |letter: Option<u32>| {
            let edges = tester.edges.iter().filter(move |edge| edge.from == its && edge.letter == letter);
            edges.map(|edge| edge.to)
        };
        for to in goes(None) {
            add(state, to, &mut store)?;
        }
        steps.clear();
        // What goes wrong was told by the search.
        if system.successors(state, &mut scratch, &mut steps).is_err() {
            continue;
        }
        for (step, target) in steps.iter() {
            let label = system.action(system.first(step)).label;
            match labels.iter().position(|known| *known == label) {
                None => _ = add(target, its, &mut store)?,
                Some(letter) => {
                    for to in goes(Some(letter as u32)) {
                        add(target, to, &mut store)?;
                    }
                }
            }
        }
    }
    Ok(reached)
}
