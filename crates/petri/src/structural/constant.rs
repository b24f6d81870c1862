//! Places that no transition changes.
//!
//! # Idea
//! A place that every transition leaves as it is always has its initial tokens. A transition that
//! needs more of it never fires; for the others the place does not matter. An observed place stays,
//! without its arcs.
//!
//! # What it preserves
//! Everything: the same transitions can fire in the same order.
//!
//! # References
//! A special case of redundant places: Berthelot, *Transformations and decompositions of nets* (1987).

use base::{Budget, Limit};

use super::work::{PlaceState, Work};
use crate::sparse::number_of;

pub(super) fn apply(work: &mut Work<'_>, budget: &mut Budget<'_>) -> Result<(), Limit> {
    work.tidy_up();
    for place in work.place_list() {
        budget.tick()?;
        if work.neighbors(place).any(|(_, step)| number_of(&step.changes, place) != 0)
            || (work.is_observed(place) && work.neighbors(place).next().is_none())
        {
            continue;
        }
        let tokens = work.initial(place);
        let dead: Vec<u32> = work
            .consumers(place)
            .filter(|(_, step)| number_of(&step.inputs, place) > tokens)
            .map(|(index, _)| index)
            .collect();
        dead.into_iter().for_each(|step| work.remove_step(step));
        if work.is_observed(place) {
            work.drop_arcs(place);
            work.n_changes += 1;
        } else {
            work.remove_place(place, PlaceState::Constant(tokens));
        }
        work.n_applied += 1;
    }
    Ok(())
}
