//! Searches for several workers.
//!
//! Each worker does the same job ([`Team::run`](base::Team::run)), on a shared [store](crate::store::shared), with its own
//! share of the budget. What ends the search for one ends it for all: an [`Alarm`]. Where workers wait for each other, they
//! [meet](Meeting).

mod meeting;

pub(crate) use meeting::{Alarm, Meeting};
