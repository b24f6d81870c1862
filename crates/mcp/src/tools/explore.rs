//! `explore`: figures of a state space, and its picture as a small graph.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stubborn::report::Remark;
use stubborn::{Class, Error, Explored, Fold, Folded, Options, Path, Walker};

use super::Workplace;
use super::simulate::tokens;
use crate::asked::{Bounds, Model};
use crate::told::About;

/// More names are not listed.
const MAX_NAMES: usize = 200;

/// Where a state space is folded, so many states are looked at.
const MAX_STATES: u64 = 200_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    model: Model,
    /// Shows the state space as a graph of classes of states.
    #[serde(default)]
    fold: Option<Folding>,
    #[serde(default)]
    limits: Bounds,
}

/// How states are put together.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Folding {
    by: By,
    /// Names of parts of the state (by parts), or expressions (by truths).
    #[serde(default)]
    names: Vec<String>,
    /// At most so many classes (default 30, at most 200).
    #[serde(default)]
    max_classes: Option<usize>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum By {
    /// Every state is a class.
    States,
    /// States in which the named parts have the same values.
    Parts,
    /// States in which the same of the given expressions are true.
    Truths,
    /// States that can be reached from each other.
    Components,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    model: About,
    /// The processes, by their names.
    processes: Vec<String>,
    /// What the model declares, and can be asked for by name.
    properties: Vec<Declared>,
    /// The parts of a state, by their names, as they are in the initial state.
    parts: Vec<String>,
    /// Whether these are all states; if not, `remarks` say why.
    complete: bool,
    remarks: Vec<String>,
    states: u64,
    transitions: u64,
    /// States in which nothing can happen.
    deadlocks: u64,
    /// The largest number of steps to a state.
    depth: u64,
    seconds: f64,
    /// The state space in classes, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<Graph>,
}

/// A property of the model.
#[derive(Debug, Serialize, JsonSchema)]
struct Declared {
    name: String,
    kind: &'static str,
}

/// A state space in classes.
#[derive(Debug, Serialize, JsonSchema)]
struct Graph {
    /// How many states it has, as far as it was looked at.
    states: u64,
    /// Why that is not all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
    classes: Vec<Node>,
    /// So many classes are put together in the last one, if it is not one itself.
    others: usize,
    edges: Vec<Edge>,
}

/// Some states.
#[derive(Debug, Serialize, JsonSchema)]
struct Node {
    /// What they have in common.
    label: Vec<String>,
    states: u64,
    /// How many of them are deadlocks.
    deadlocks: u64,
    /// Whether an initial state is among them.
    initial: bool,
    /// A shortest path to one of them, for the tool `simulate`, if it is not too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Vec<String>>,
}

/// Steps from one class to another.
#[derive(Debug, Serialize, JsonSchema)]
struct Edge {
    /// The class, by its place in the list.
    from: usize,
    to: usize,
    steps: u64,
    /// What some of the steps are called.
    actions: Vec<String>,
}

pub(crate) fn explore(arguments: &Arguments, place: &Workplace<'_>) -> Result<Answer, Error> {
    let clock = place.clock(arguments.limits)?;
    let mut session = arguments.model.open(place.folder, &clock)?;
    let properties = session.properties()?;
    let Explored { report, .. } = session.explore(None, &Options::default(), false, &clock)?;
    let graph = match &arguments.fold {
        Some(folding) => {
            let fold = match folding.by {
                By::States => Fold::States,
                By::Parts => Fold::Parts(folding.names.clone()),
                By::Truths => Fold::Truths(folding.names.clone()),
                By::Components => Fold::Components,
            };
            let max_classes = folding.max_classes.unwrap_or(30).min(200);
            Some(graph(&session.fold(&fold, &[], max_classes, &clock.at_most(MAX_STATES))?))
        }
        None => None,
    };
    let processes = session.model().system().processes().iter().map(|it| it.name.clone());
    let (processes, about) = (processes.take(MAX_NAMES).collect(), About::of(&session));
    let grace = clock.with_grace();
    let mut walker = Walker::new(session, &grace)?;
    let begin = walker.place(&Path::default(), &[], &grace)?;
    let declared = properties.iter().map(|it| Declared { name: it.name.clone(), kind: it.kind.name() });
    Ok(Answer {
        model: about,
        processes,
        properties: declared.collect(),
        parts: begin
            .state
            .into_iter()
            .take(MAX_NAMES)
            .map(|(name, value)| format!("{name} = {value}"))
            .collect(),
        complete: report.complete,
        remarks: Remark::join(&report.remarks).into_iter().collect(),
        states: report.states,
        transitions: report.transitions,
        deadlocks: report.deadlocks,
        depth: report.depth,
        seconds: report.seconds,
        graph,
    })
}

fn graph(folded: &Folded) -> Graph {
    let node = |class: &Class| Node {
        label: class.label.clone(),
        states: class.states,
        deadlocks: class.deadlocks,
        initial: class.initial,
        path: class.path.as_ref().map(tokens),
    };
    let edges = folded.edges.iter().map(|edge| Edge {
        from: edge.from,
        to: edge.to,
        steps: edge.steps,
        actions: edge.labels.clone(),
    });
    Graph {
        states: folded.states,
        cut: folded.cut.map(|limit| limit.to_string()),
        classes: folded.classes.iter().map(node).collect(),
        others: folded.n_others,
        edges: edges.collect(),
    }
}
