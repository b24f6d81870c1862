//! The processes of an action system as drawings: each as an automaton of its own.
//!
//! An action system knows no automata. They are read off the variables whose values have names, the
//! locations of processes: an action leads from the values that its guards allow to those that it sets.
//! So moves that can never happen, since some other process never takes part, are not seen.

use std::collections::BTreeMap;

use model::{Action, ActionSystem, Expr, Guard, Stmt, System as _, ValueSet, VarId};

use super::{Bundle, Drawing, Fill, Node, NodeId, Shape};

/// Draws the processes of a system; nothing if no locations have names.
pub fn draw(system: &ActionSystem, title: &str) -> Option<Drawing> {
    let mut drawing = Drawing::new(title);
    drawing.framed = true;
    let initial = initial_values(system);
    // The first node of each variable that is a location.
    let mut nodes: Vec<Option<usize>> = vec![None; system.variables().len()];
    let mut n_drawn = 0;
    for (index, variable) in system.variables().iter().enumerate() {
        let Some(names) = variable.value_names.as_ref() else { continue };
        nodes[index] = Some(drawing.nodes().len());
        n_drawn += 1;
        let group = drawing.group(&*variable.name, None);
        let is_initial = |value: usize| {
            initial.iter().any(|values| values.get(index) == Some(&(variable.lo + value as i64)))
        };
        for (value, name) in names.iter().enumerate() {
            let fill = if is_initial(value) { Fill::Initial } else { Fill::Plain };
            let root = fill == Fill::Initial;
            drawing.node(Node { fill, root, ..Node::new(Shape::State, &**name).within(group) });
        }
    }
    if n_drawn == 0 {
        return None;
    }
    let (n_states, n_edges) = (drawing.nodes().len(), draw_moves(system, &nodes, &mut drawing));
    for node in (0..n_states).map(NodeId::new) {
        if drawing.nodes()[node.index()].root {
            drawing.start(node, "");
        }
    }
    drawing.description = format!(
        "{} as automata, with {} and {}.",
        crate::count(n_drawn, "process"),
        crate::count(n_states as u64, "state"),
        crate::count(n_edges as u64, "edge")
    );
    Some(drawing)
}

/// The values of all variables in each initial state.
fn initial_values(system: &ActionSystem) -> Vec<Vec<i64>> {
    let mut words = Vec::new();
    system.initial_states(&mut words);
    words.chunks_exact(system.width().max(1)).map(|state| system.layout().decode(state)).collect()
}

/// Draws the moves of all processes; returns the number of edges.
fn draw_moves(system: &ActionSystem, nodes: &[Option<usize>], drawing: &mut Drawing) -> usize {
    // A process is its location, which is called like it.
    let by_name: BTreeMap<&str, VarId> =
        system.variables().iter().enumerate().map(|(var, it)| (it.name.as_str(), VarId::new(var))).collect();
    let location = |name: &str| by_name.get(name).copied();
    let locations: Vec<Option<VarId>> =
        system.processes().iter().map(|process| location(&process.name)).collect();
    let mut bundle = Bundle::default();
    for action in system.actions() {
        let label = &system.labels()[action.label.index()].name;
        for (var, part) in parts(system, action, &locations) {
            let Some(first) = nodes[var.index()] else { continue };
            let variable = &system.variables()[var.index()];
            let node = |value: i64| {
                let offset =
                    value.checked_sub(variable.lo).and_then(|offset| usize::try_from(offset).ok())?;
                (value <= variable.hi).then(|| NodeId::new(first + offset))
            };
            for value in part.sources(variable.lo, variable.hi) {
                let target = part.target(system, value, variable.lo);
                if let (Some(from), Some(to)) = (node(value), target.and_then(node)) {
                    bundle.add(from, to, label.clone());
                }
            }
        }
    }
    let n_edges = bundle.0.len();
    bundle.draw(drawing);
    n_edges
}

/// What an action says about one variable.
#[derive(Default)]
struct Part<'a> {
    guards: Vec<&'a ValueSet>,
    effect: Option<&'a Stmt>,
}

impl Part<'_> {
    fn sources(&self, lo: i64, hi: i64) -> impl Iterator<Item = i64> {
        let everywhere = ValueSet::Range(lo, hi);
        let (first, others) =
            self.guards.split_first().map_or((&everywhere, &[][..]), |(&first, rest)| (first, rest));
        let values: Vec<i64> = first
            .values_within(lo, hi)
            .filter(|&value| others.iter().all(|guard| guard.contains(value)))
            .collect();
        values.into_iter()
    }

    /// Where the action leads to, if that is plain to see.
    fn target(&self, system: &ActionSystem, source: i64, lo: i64) -> Option<i64> {
        match self.effect {
            None => Some(source),
            Some(Stmt::Set(_, value)) => Some(*value),
            Some(Stmt::Map(_, table)) => {
                usize::try_from(source.checked_sub(lo)?).ok().and_then(|at| table.get(at).copied())?
            }
            Some(Stmt::Add(_, amount)) => source.checked_add(*amount),
            Some(Stmt::Assign(_, expr)) => match system.exprs.get(*expr) {
                Expr::Int(value) => Some(value),
                _ => None,
            },
            Some(_) => None,
        }
    }
}

/// What an action says about the locations of those who take part, and about others that it asks for.
fn parts<'a>(
    system: &'a ActionSystem,
    action: &'a Action,
    locations: &[Option<VarId>],
) -> BTreeMap<VarId, Part<'a>> {
    let mut parts: BTreeMap<VarId, Part<'a>> = BTreeMap::new();
    for owner in &action.owners {
        if let Some(var) = locations[owner.index()] {
            parts.entry(var).or_default();
        }
    }
    for guard in &action.guards {
        if let Guard::In(var, set) = &system.guards()[guard.index()] {
            parts.entry(*var).or_default().guards.push(set);
        }
    }
    for statement in &action.effect {
        if let Stmt::Set(var, _) | Stmt::Map(var, _) | Stmt::Add(var, _) | Stmt::Assign(var, _) = statement {
            parts.entry(*var).or_default().effect = Some(statement);
        }
    }
    parts
}
