//! Components from `.aut` files: `process X = extern "x.aut";`.

use std::sync::Arc;

use base::{Fail, SourceMap, fail};
use language::Loader;
use model::aut::{self, Lts};
use rustc_hash::FxHashMap;

use crate::ast::Name;
use crate::expand::{Expanded, Move, Quotas};
use crate::labels::{Labels, TAU, canonical};
use crate::meter::Meter;
use crate::names::{States, Table, indexed};

/// The name of the states of a component: `X@s[3]`.
const STATE: &str = "s";

/// Reads the file that is named at a place of the model.
pub(crate) fn read(
    file: &Name<'_>,
    sources: &mut SourceMap,
    loader: &mut Loader<'_>,
    labels: &mut Labels,
    quotas: &mut Quotas<'_>,
    meter: &Meter<'_>,
) -> Result<(Arc<States>, Expanded), Fail> {
    let bytes = loader(file.text).map_err(|reason| {
        fail("cannot-read", format!("cannot read `{}`: {reason}", file.text), file.span, "named here")
    })?;
    // The text, and labels out of it.
    meter.take(3 * bytes.len() as u64)?;
    let source =
        sources.add(file.text, bytes).map_err(|error| Box::new(error.at(file.span, "named here")))?;
    let text = &sources.get(source).text;
    let lts = meter
        .run(|budget| aut::parse(text, source, budget))?
        .map_err(|error| Box::new(error.with_related(file.span, "the file is named here")))?;
    quotas.states.take(u64::from(lts.n_states), file.span)?;
    quotas.transitions.take(lts.edges.len() as u64, file.span)?;
    Ok((states(lts.n_states), expanded(&lts, labels)))
}

fn states(n_states: u32) -> Arc<States> {
    let mut table = Table::new(1);
    for state in 0..n_states {
        table.insert(&[i64::from(state)], state);
    }
    let names = (0..i64::from(n_states)).map(|state| indexed(STATE, &[state])).collect();
    Arc::new(States { names, families: FxHashMap::from_iter([(STATE.to_owned(), table)]) })
}

fn expanded(lts: &Lts, labels: &mut Labels) -> Expanded {
    let numbers: Vec<u32> = lts
        .labels
        .iter()
        .map(|label| label.as_ref().map_or(TAU, |text| labels.intern(&canonical(text))))
        .collect();
    let mut moves: Vec<Move> = lts
        .edges
        .iter()
        .map(|&(from, label, to)| Move { label: numbers[label as usize], from, to, written: 0 })
        .collect();
    moves.sort_unstable();
    moves.dedup();
    Expanded { initial: lts.initial, moves, alphabet: Vec::new() }
}
