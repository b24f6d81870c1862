//! What the page sends with its requests.

use serde::Deserialize;

use crate::spec::{Ask, Spec, Steps, Way};

/// A question with a way to answer it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Check {
    pub(super) model: Spec,
    pub(super) questions: Vec<Ask>,
    #[serde(default)]
    pub(super) way: Way,
}

/// A walk, and what is watched there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Walking {
    pub(super) model: Spec,
    #[serde(default)]
    pub(super) path: Steps,
    #[serde(default)]
    pub(super) watched: Vec<String>,
}

/// A walk that goes on at random.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wandering {
    pub(super) model: Spec,
    #[serde(default)]
    pub(super) path: Steps,
    pub(super) steps: usize,
    pub(super) seed: u64,
    #[serde(default)]
    pub(super) breakpoints: Vec<String>,
}

/// A walk that leads somewhere.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Seeking {
    pub(super) model: Spec,
    #[serde(default)]
    pub(super) path: Steps,
    /// An expression; without it, a deadlock.
    pub(super) goal: Option<String>,
}

/// A state space that is to be looked at.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Folding {
    pub(super) model: Spec,
    pub(super) by: FoldBy,
    /// Names of parts, or expressions.
    #[serde(default)]
    pub(super) names: Vec<String>,
    #[serde(default)]
    pub(super) opened: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FoldBy {
    States,
    Parts,
    Truths,
    Components,
}

#[derive(Deserialize)]
pub(super) struct OfModel {
    pub(super) model: Spec,
}

#[derive(Deserialize)]
pub(super) struct Named {
    pub(super) name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Saved {
    pub(super) name: String,
    pub(super) text: String,
    #[serde(default)]
    pub(super) replace: bool,
}
