//! Transitions that nothing depends on, and that come to an end by themselves.
//!
//! # Idea
//! Let *E* be transitions that change nothing observed, such that the places which they take tokens from or give tokens
//! to are needed by nobody but *E*, and such that tokens only move on in *E*: no way leads from a place along
//! transitions of *E* back to it, and each of them takes something. Then *E* can go, and so can these places.
//!
//! Why: *E* alone always comes to an end, since each step replaces tokens by some that are further on (N. Dershowitz,
//! Z. Manna, *Proving termination with multiset orderings*, 1979). Let a run be given, and leave *E* out: the others can
//! fire as before, and nothing else is seen. If it was infinite, it still is. If it ended in a deadlock, nobody else is
//! enabled where it ends now. Conversely, a run of the others is a run; where it ends, *E* is fired until it can fire no
//! more, and that is a deadlock: these firings are the [leftovers](super::work::Work::leftovers).
//!
//! # What it preserves
//! Words and deadlocks; not both at once, since *E* may go on after everything else has ended. (For markings alone,
//! [`relevance`](super::relevance) removes more.) For [`Preserve::Stuttering`], the places must be bounded: else a cycle
//! of the reduced net might be a run of the original that never comes back, and could not be shown.
//!
//! # References
//! Thierry-Mieg, *Structural reductions revisited* (Petri Nets 2020), for deadlocks: what does not lead to a cycle is
//! discarded (*prefix of interest*). That it may be done beside cycles, with weights, and for words, is ours.

use automata::scc::components;
use base::{Budget, Limit};
use language::Preserve;

use super::work::{PlaceState, Work};

pub(super) fn apply(work: &mut Work<'_>, budget: &mut Budget<'_>) -> Result<(), Limit> {
    if work.preserve == Preserve::Reachability || work.observes_deadlock {
        return Ok(());
    }
    work.tidy_up();
    let steps = work.step_list();
    let mut ends = Ends { is_in: vec![false; steps.last().map_or(0, |last| *last as usize + 1)] };
    for &step in &steps {
        ends.is_in[step as usize] = work.get(step).is_some_and(|it| {
            let mut touched = it.inputs.iter().chain(&it.outputs);
            !it.inputs.is_empty()
                && !work.is_visible(it)
                && touched.all(|&(place, _)| work.may_lose(place) && !work.is_observed(place))
        });
    }
    let order = loop {
        ends.keep_to_themselves(work, &steps, budget)?;
        match ends.order(work, &steps, budget)? {
            Some(order) => break order,
            None if ends.is_in.iter().any(|&is_in| is_in) => {}
            None => return Ok(()),
        }
    };
    remove(work, &steps, &ends, &order);
    Ok(())
}

/// The transitions that may be endings.
struct Ends {
    is_in: Vec<bool>,
}

impl Ends {
    /// Puts those out whose places somebody else needs.
    fn keep_to_themselves(
        &mut self,
        work: &Work<'_>,
        steps: &[u32],
        budget: &mut Budget<'_>,
    ) -> Result<(), Limit> {
        let mut open: Vec<u32> = steps.iter().copied().filter(|&step| !self.is_in[step as usize]).collect();
        let mut is_needed = vec![false; work.places.len()];
        while let Some(step) = open.pop() {
            budget.tick()?;
            let Some(it) = work.get(step) else { continue };
            for &(place, _) in &it.inputs {
                if std::mem::replace(&mut is_needed[place as usize], true) {
                    continue;
                }
                for (neighbor, _) in work.neighbors(place) {
                    if std::mem::replace(&mut self.is_in[neighbor as usize], false) {
                        open.push(neighbor);
                    }
                }
            }
        }
        Ok(())
    }

    /// For each place a number that is greater the further on it is; or nothing, and those are put out that close a cycle.
    fn order(
        &mut self,
        work: &Work<'_>,
        steps: &[u32],
        budget: &mut Budget<'_>,
    ) -> Result<Option<Vec<usize>>, Limit> {
        let mut graph: Vec<Vec<u32>> = vec![Vec::new(); work.places.len()];
        let inside = |ends: &Ends| -> Vec<u32> {
            steps.iter().copied().filter(|&step| ends.is_in[step as usize]).collect()
        };
        let ends = inside(self);
        for it in ends.iter().filter_map(|&step| work.get(step)) {
            for &(from, _) in &it.inputs {
                budget.tick()?;
                graph[from as usize].extend(it.outputs.iter().map(|(to, _)| *to));
            }
        }
        let found = components(&graph, |_, &to| Some(to as usize), budget)?;
        let mut is_acyclic = true;
        for step in ends {
            let Some(it) = work.get(step) else { continue };
            let comes_back = it.inputs.iter().any(|&(from, _)| {
                it.outputs.iter().any(|&(to, _)| found.of[from as usize] == found.of[to as usize])
            });
            if comes_back {
                (self.is_in[step as usize], is_acyclic) = (false, false);
            }
        }
        // Components are numbered backward: what can be reached has smaller numbers.
        Ok(is_acyclic.then(|| found.of.iter().map(|of| found.n - of).collect()))
    }
}

/// Removes the endings and their places, if there are any.
fn remove(work: &mut Work<'_>, steps: &[u32], ends: &Ends, order: &[usize]) {
    let mut list: Vec<u32> = steps.iter().copied().filter(|&step| ends.is_in[step as usize]).collect();
    // The furthest first, since leftovers are fired the last one first.
    list.sort_by_key(|&step| {
        let inputs = work.get(step).into_iter().flat_map(|it| &it.inputs);
        std::cmp::Reverse(inputs.map(|(place, _)| order[*place as usize]).max())
    });
    let mut places: Vec<u32> = Vec::new();
    for &step in &list {
        let Some(it) = work.get(step) else { continue };
        places.extend(it.inputs.iter().chain(&it.outputs).map(|(place, _)| *place));
        let part = it.part;
        work.leftovers.push(part);
        work.remove_step(step);
        work.n_applied += 1;
    }
    places.sort_unstable();
    places.dedup();
    places.into_iter().for_each(|place| work.remove_place(place, PlaceState::Removed));
}
