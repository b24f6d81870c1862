//! Explored state spaces as drawings: a state is shown with the values of its variables.

use std::collections::BTreeSet;

use base::Budget;
use check::store::{Store as _, Visited as _};
use check::{StateId, graph};
use drawing::{Bundle, Drawing, Fill, Node, NodeId, Shape, TooLarge};
use model::Describe as _;

use crate::space::{ExportError, Space};

/// Whether a picture of a space can be looked at, before anything is made.
///
/// # Errors
/// If there is too much.
pub fn check_size(space: &Space<'_>) -> Result<(), TooLarge> {
    let nodes = usize::try_from(space.store.n_states()).unwrap_or(usize::MAX);
    let edges = usize::try_from(space.n_transitions).unwrap_or(usize::MAX);
    // Some edges may become one; twenty times as many will not.
    if nodes > Drawing::MAX_NODES || edges > 20 * Drawing::MAX_EDGES {
        return Err(TooLarge { nodes, edges });
    }
    Ok(())
}

/// Draws all states of a space.
///
/// # Errors
/// The budget is spent. Or the model goes wrong; it did not while exploring, so this does not happen.
pub fn draw(space: &Space<'_>, title: &str, budget: &mut Budget<'_>) -> Result<Drawing, ExportError> {
    let mut drawing = Drawing::new(title);
    let names = space.system.variable_names();
    let mut state = vec![0; model::System::width(space.system)];
    let mut bundle = Bundle::default();
    let mut is_left = BTreeSet::new();
    graph::for_each_transition(space.system, space.store, |from, action, to| -> Result<(), ExportError> {
        is_left.insert(from);
        let label = space.step_label(from, action);
        Ok(bundle.add(NodeId::new(from.index()), NodeId::new(to.index()), label, budget)?)
    })?;
    for id in (0..space.store.n_states() as usize).map(StateId::new) {
        space.store.get(id, &mut state);
        let values = space.system.values(&state);
        let lines: Vec<String> =
            names.iter().zip(values).map(|(name, value)| format!("{name} = {value}")).collect();
        let fill = if is_left.contains(&id) { Fill::Plain } else { Fill::Final };
        drawing.node(Node { fill, ..Node::new(Shape::State, lines.join("\n")) });
        drawing.fits(budget)?;
    }
    bundle.draw(&mut drawing);
    for id in space.initial() {
        drawing.start(NodeId::new(id.index()), "");
    }
    drawing.description = format!("A state space of {}.", crate::count(space.store.n_states(), "state"));
    Ok(drawing)
}
