//! Merging by trial: what no simulation can see, but the language allows.
//!
//! # Idea
//! In a small automaton each state in turn is dropped, and its incoming edges are led to another one
//! instead. The result is kept if it still has the same language, which is checked exactly: it
//! shares no word with an automaton for the negated formula, and the original shares none with its
//! complement. Most trials fail the first check, which is cheap; the second is given up when the
//! complement gets large.
//!
//! # When should I use this?
//! Last, and only on small automata: there are n² trials, and a complement may be exponential.

use base::{Budget, Limit};

use crate::clean::{simplify_marks, trim};
use crate::complement::complement;
use crate::emptiness::is_empty;
use crate::gave_up::GaveUp;
use crate::product::product;
use crate::tgba::{Edge, State, Tgba};
use crate::work::Work;

/// Larger automata are left alone.
const MAX_STATES: usize = 8;

/// Larger complements and products are given up.
const MAX_CHECK: usize = 300;

/// Whether the automaton is small enough, and not the smallest there is.
pub(crate) fn is_worth_trying(tgba: &Tgba) -> bool {
    (2..=MAX_STATES).contains(&tgba.n_states())
}

/// An automaton with the same language and maybe fewer states; `negation` accepts exactly the other words.
/// If the fuel is used up, some merges are not tried.
pub(crate) fn merge_by_trial(tgba: Tgba, negation: &Tgba, work: &mut Work<'_, '_>) -> Result<Tgba, Limit> {
    let mut current = tgba;
    while is_worth_trying(&current)
        && let Some(Some(smaller)) = GaveUp::optional(trial(&current, negation, work))?
    {
        current = smaller;
    }
    Ok(current)
}

/// The first smaller automaton with the same language.
fn trial(tgba: &Tgba, negation: &Tgba, work: &mut Work<'_, '_>) -> Result<Option<Tgba>, GaveUp> {
    let pairs = tgba.states().flat_map(|from| tgba.states().map(move |to| (from, to)));
    for (from, to) in pairs.filter(|(from, to)| from != to) {
        let smaller = redirect(tgba, from, to, work.budget)?;
        work.spend((tgba.n_edges() * negation.n_edges()) as u64)?;
        if smaller.n_states() < tgba.n_states() && is_same(tgba, &smaller, negation, work.budget)? {
            return Ok(Some(smaller));
        }
    }
    Ok(None)
}

/// Leads all edges that go to one state to another instead.
fn redirect(tgba: &Tgba, from: State, to: State, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
    let mut redirected = Tgba::with_labels(tgba.labels().clone(), tgba.n_marks());
    redirected.declare(tgba.propositions().iter().copied());
    redirected.add_states(tgba.n_states() - 1);
    let goal = |state: State| if state == from { to } else { state };
    for state in tgba.states().filter(|&state| state != from) {
        for edge in tgba.edges(state) {
            redirected.add(state, Edge { target: goal(edge.target), ..*edge }, budget)?;
        }
    }
    redirected.set_initial(goal(tgba.initial()));
    simplify_marks(trim(redirected, budget)?, budget)
}

fn is_same(original: &Tgba, other: &Tgba, negation: &Tgba, budget: &mut Budget<'_>) -> Result<bool, Limit> {
    if !share_none(other, negation, budget)? {
        return Ok(false);
    }
    match GaveUp::optional(complement(other, MAX_CHECK, budget))? {
        Some(outside) => share_none(original, &outside, budget),
        None => Ok(false),
    }
}

/// Whether it is known that no word is accepted by both.
fn share_none(a: &Tgba, b: &Tgba, budget: &mut Budget<'_>) -> Result<bool, Limit> {
    match GaveUp::optional(product(a, b, MAX_CHECK, budget))? {
        Some(both) => is_empty(&both, budget),
        None => Ok(false),
    }
}
