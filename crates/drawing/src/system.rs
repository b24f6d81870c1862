//! The processes of an action system as drawings: each as an automaton of its own.
//!
//! An action system knows no automata. They are read off the variables whose values have names, the
//! locations of processes: an action leads from the values that its guards allow to those that it sets.
//! So moves that can never happen, since some other process never takes part, are not seen.

use std::collections::{BTreeMap, BTreeSet};

use base::{Budget, Limit};
use model::{Action, ActionSystem, Expr, Guard, LabelId, ProcessId, Stmt, ValueSet, VarId};

use crate::{Bundle, Drawing, Fill, Node, NodeId, Shape};

/// Draws the processes of a system; nothing if no locations have names.
///
/// # Errors
/// The budget is spent.
pub fn draw(system: &ActionSystem, title: &str, budget: &mut Budget<'_>) -> Result<Option<Drawing>, Limit> {
    let mut drawing = Drawing::new(title);
    drawing.framed = true;
    let initial = initial_values(system);
    let moves = moves(system, budget)?;
    let mut bundle = Bundle::default();
    let mut starts = Vec::new();
    let mut n_drawn = 0;
    for (index, variable) in system.variables().iter().enumerate() {
        let Some(names) = variable.value_names.as_ref() else { continue };
        n_drawn += 1;
        let Moves { of, owner } = &moves[index];
        let group = drawing
            .group(owner.map_or(&*variable.name, |owner| &system.processes()[owner.index()].name), None);
        // A variable that is no process's own has values for nobody.
        let is_own = owner.is_some_and(|owner| system.processes()[owner.index()].name == variable.name);
        let mut nodes: BTreeMap<i64, NodeId> = BTreeMap::new();
        let moving: BTreeSet<i64> = of.iter().flat_map(|&(from, to, _)| [from, to]).collect();
        for (value, name) in (variable.lo..).zip(names.iter()) {
            let is_initial = initial.contains(&(index, value));
            if is_own || is_initial || moving.contains(&value) {
                let fill = if is_initial { Fill::Initial } else { Fill::Plain };
                let note = format!("{}@{name}", variable.name);
                let node = Node { fill, note, root: is_initial, ..Node::new(Shape::State, &**name) };
                let node = drawing.node(node.within(group));
                nodes.insert(value, node);
                starts.extend(is_initial.then_some(node));
                drawing.fits(budget)?;
            }
        }
        for (from, to, label) in of {
            if let (Some(&from), Some(&to)) = (nodes.get(from), nodes.get(to)) {
                bundle.add(from, to, system.labels()[label.index()].name.clone(), budget)?;
            }
        }
    }
    if n_drawn == 0 {
        return Ok(None);
    }
    let (n_states, n_edges) = (drawing.nodes().len(), bundle.labels.len());
    bundle.draw(&mut drawing);
    starts.into_iter().for_each(|state| drawing.start(state, ""));
    drawing.description = format!(
        "{} as automata, with {} and {}.",
        base::text::count(n_drawn, "process"),
        base::text::count(n_states as u64, "state"),
        base::text::count(n_edges as u64, "edge")
    );
    Ok(Some(drawing))
}

/// The values that variables have in initial states, with the numbers of the variables.
fn initial_values(system: &ActionSystem) -> BTreeSet<(usize, i64)> {
    system.initial().flat_map(|state| system.layout().decode(state).into_iter().enumerate()).collect()
}

/// The moves of one variable.
#[derive(Clone, Default)]
struct Moves {
    /// From, to, and what they are called.
    of: Vec<(i64, i64, LabelId)>,
    /// The process that makes them, if it is always the same.
    owner: Option<ProcessId>,
}

/// The moves of all variables whose values have names.
fn moves(system: &ActionSystem, budget: &mut Budget<'_>) -> Result<Vec<Moves>, Limit> {
    let mut moves = vec![Moves::default(); system.variables().len()];
    // The location of a process is called like it, or is what all its actions ask for.
    let variables: BTreeMap<&str, VarId> =
        system.variables().iter().enumerate().map(|(var, it)| (it.name.as_str(), VarId::new(var))).collect();
    let mut locations: Vec<Option<VarId>> = vec![None; system.processes().len()];
    for (index, process) in system.processes().iter().enumerate() {
        locations[index] = variables.get(process.name.as_str()).copied();
        if let Some(var) = locations[index] {
            moves[var.index()].owner = Some(ProcessId::new(index));
        }
    }
    let mut others: BTreeMap<VarId, BTreeSet<ProcessId>> = BTreeMap::new();
    for action in system.actions() {
        budget.tick()?;
        for (var, part) in parts(system, action, &locations) {
            let variable = &system.variables()[var.index()];
            if variable.value_names.is_none() {
                continue;
            }
            if let ([owner], false) = (&action.owners[..], part.guards.is_empty()) {
                others.entry(var).or_default().insert(*owner);
            }
            for from in part.sources(variable.lo, variable.hi) {
                budget.tick()?;
                if let Some(to) = part.target(system, from, variable.lo) {
                    moves[var.index()].of.push((from, to, action.label));
                    budget.hold(size_of::<(i64, i64, LabelId)>() as u64)?;
                }
            }
        }
    }
    for (var, owners) in others {
        let owner = owners.first().copied().filter(|_| owners.len() == 1);
        let known = &mut moves[var.index()].owner;
        *known = known.or(owner);
    }
    Ok(moves)
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
