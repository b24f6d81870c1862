//! Names of things that exist: processes and their states, with their indices.

use std::fmt::Write as _;
use std::sync::Arc;

use base::{Fail, Span, fail};
use rustc_hash::FxHashMap;

use crate::ast::{Expr, ExprKind, Place};
use crate::eval::{Constants, Scope, eval};

/// `name`, or `name[1,2]`: how indexed names are written everywhere, labels included.
pub(crate) fn write_indexed(out: &mut String, name: &str, indices: &[i64]) {
    out.push_str(name);
    for (position, index) in indices.iter().enumerate() {
        out.push(if position == 0 { '[' } else { ',' });
        // Writing to a string cannot fail.
        _ = write!(out, "{index}");
    }
    if !indices.is_empty() {
        out.push(']');
    }
}

/// See [`write_indexed`].
pub(crate) fn indexed(name: &str, indices: &[i64]) -> String {
    let mut text = String::new();
    write_indexed(&mut text, name, indices);
    text
}

/// `1 index`, `2 indices`.
pub(crate) fn n_indices(n: usize) -> String {
    match n {
        0 => "no index".to_owned(),
        1 => "1 index".to_owned(),
        _ => format!("{n} indices"),
    }
}

/// The things of one name, by their indices.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    ids: FxHashMap<Box<[i64]>, u32>,
    /// Least and greatest index, position by position.
    bounds: Vec<(i64, i64)>,
}

impl Table {
    /// An empty table for things with so many indices.
    pub(crate) fn new(arity: usize) -> Table {
        Table { ids: FxHashMap::default(), bounds: vec![(i64::MAX, i64::MIN); arity] }
    }

    pub(crate) fn arity(&self) -> usize {
        self.bounds.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Adds a thing; returns the one that has these indices already.
    pub(crate) fn insert(&mut self, indices: &[i64], id: u32) -> Option<u32> {
        for (bounds, &index) in self.bounds.iter_mut().zip(indices) {
            *bounds = (bounds.0.min(index), bounds.1.max(index));
        }
        match self.ids.get(indices) {
            Some(&known) => Some(known),
            None => {
                self.ids.insert(indices.into(), id);
                None
            }
        }
    }

    pub(crate) fn get(&self, indices: &[i64]) -> Option<u32> {
        self.ids.get(indices).copied()
    }

    /// Those that match, in order; `None` is any index.
    pub(crate) fn matching(&self, pattern: &[Option<i64>]) -> Vec<u32> {
        if let Some(indices) = pattern.iter().copied().collect::<Option<Vec<i64>>>() {
            return self.get(&indices).into_iter().collect();
        }
        let fits = |indices: &[i64]| pattern.iter().zip(indices).all(|(p, i)| p.is_none_or(|p| p == *i));
        #[allow(clippy::iter_over_hash_type)] // Sorted at once.
        let mut ids: Vec<u32> =
            self.ids.iter().filter(|(indices, _)| fits(indices)).map(|(_, &id)| id).collect();
        ids.sort_unstable();
        ids
    }

    /// The id that a place means. `what` says what the table holds, like `the process`.
    pub(crate) fn find(&self, what: &str, place: &Place<'_>, scope: &Scope<'_, '_>) -> Result<u32, Fail> {
        self.check_arity(what, place)?;
        let mut indices = Vec::with_capacity(self.arity());
        for index in &place.indices {
            indices.push(eval(index, scope)?);
        }
        self.get(&indices).ok_or_else(|| self.no_such(what, place, &indices))
    }

    /// All ids that a place means: an index may be `*`.
    pub(crate) fn find_all(
        &self,
        what: &str,
        place: &Place<'_>,
        scope: &Scope<'_, '_>,
    ) -> Result<Vec<u32>, Fail> {
        self.check_arity(what, place)?;
        let index = |index: &Expr<'_>| match index.kind {
            ExprKind::All => Ok(None),
            _ => eval(index, scope).map(Some),
        };
        let pattern = place.indices.iter().map(index).collect::<Result<Vec<Option<i64>>, Fail>>()?;
        let ids = self.matching(&pattern);
        if ids.is_empty() {
            // If every index is `*`, something matches: no table is empty.
            let indices: Vec<i64> = pattern.iter().map(|index| index.unwrap_or(self.bounds[0].0)).collect();
            return Err(self.no_such(what, place, &indices));
        }
        Ok(ids)
    }

    /// An error if the place has more or fewer indices than the things have.
    pub(crate) fn check_arity(&self, what: &str, place: &Place<'_>) -> Result<(), Fail> {
        check_arity(what, place, self.arity())
    }

    fn no_such(&self, what: &str, place: &Place<'_>, indices: &[i64]) -> Fail {
        let name = place.name.text;
        let given = indexed(name, indices);
        let error = fail(
            "out-of-range",
            format!("{what} `{given}` does not exist"),
            place.span,
            "index out of range",
        );
        let known: Vec<String> = self
            .bounds
            .iter()
            .map(|(lo, hi)| if lo == hi { lo.to_string() } else { format!("{lo} to {hi}") })
            .collect();
        Box::new(error.with_help(format!("`{name}` is declared for the indices {}", known.join(", "))))
    }
}

/// An error if the place does not have `arity` indices.
pub(crate) fn check_arity(what: &str, place: &Place<'_>, arity: usize) -> Result<(), Fail> {
    let given = place.indices.len();
    if given == arity {
        return Ok(());
    }
    let name = place.name.text;
    let message = format!("{what} `{name}` has {}, not {given}", n_indices(arity));
    Err(fail("wrong-indices", message, place.span, &format!("expected {}", n_indices(arity))))
}

/// The states of a process: shared by all processes that have the same.
#[derive(Clone, Debug)]
pub(crate) struct States {
    /// By number.
    pub(crate) names: Arc<[String]>,
    /// By the name before the indices.
    pub(crate) families: FxHashMap<String, Table>,
}

impl States {
    /// The states of one name; `owner` is the process that should have them.
    pub(crate) fn family(&self, place: &Place<'_>, owner: &str) -> Result<&Table, Fail> {
        self.families.get(place.name.text).ok_or_else(|| {
            let base = |name: &'_ String| name.split('[').next().unwrap_or_default().to_owned();
            let mut known: Vec<String> = self.names.iter().map(base).collect();
            known.dedup();
            unknown_state(place, owner, known.iter().map(String::as_str))
        })
    }
}

/// A state that was never declared.
pub(crate) fn unknown_state<'n>(
    place: &Place<'_>,
    owner: &str,
    known: impl Iterator<Item = &'n str> + Clone,
) -> Fail {
    const MAX_LISTED: usize = 8;
    let name = place.name.text;
    let message = format!("`{owner}` has no state `{name}`");
    let error = fail("unknown-state", message, place.name.span, "unknown state");
    let error = error.suggesting(name, known.clone());
    let mut listed: Vec<String> = known.take(MAX_LISTED + 1).map(|name| format!("`{name}`")).collect();
    listed.dedup();
    Box::new(match listed.len() {
        1..=MAX_LISTED if error.help.is_none() => {
            error.with_help(format!("its states are {}", listed.join(", ")))
        }
        _ => error,
    })
}

/// The processes of one declaration.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) span: Span,
    /// The numbers of its processes, by their parameters.
    pub(crate) members: Table,
    /// The same numbers, in order; not empty unless the group is broken.
    pub(crate) range: std::ops::Range<usize>,
    /// Whether there were errors in it: then nothing more is said about it.
    pub(crate) broken: bool,
}

/// Everything that an expression can name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) constants: Constants,
    pub(crate) groups: Vec<Group>,
    by_name: FxHashMap<String, usize>,
    /// By process.
    pub(crate) states: Vec<Arc<States>>,
}

impl Names {
    pub(crate) fn new(constants: Constants) -> Names {
        Names { constants, ..Names::default() }
    }

    /// Adds the processes of a declaration; the name must be new.
    pub(crate) fn add(&mut self, group: Group) {
        self.by_name.insert(group.name.clone(), self.groups.len());
        self.groups.push(group);
    }

    /// Whether some declaration has errors.
    pub(crate) fn is_broken(&self) -> bool {
        self.groups.iter().any(|group| group.broken)
    }

    /// The processes of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&Group> {
        self.by_name.get(name).map(|&group| &self.groups[group])
    }

    /// The processes that a place names, without their indices.
    pub(crate) fn group(&self, place: &Place<'_>) -> Result<&Group, Fail> {
        let name = place.name.text;
        self.get(name).ok_or_else(|| {
            let error =
                fail("unknown-process", format!("unknown process `{name}`"), place.name.span, "not declared");
            Box::new(error.suggesting(name, self.groups.iter().map(|group| group.name.as_str())))
        })
    }
}
