//! Front end for process networks: `.proc` files become action systems.

mod ast;
mod check;
mod component;
mod errors;
mod eval;
mod expand;
mod labels;
mod lexer;
mod lower;
mod names;
mod network;
mod observer;
mod parse;
mod property;
mod proposition;

use base::{Diagnostic, Diagnostics, SourceId, SourceMap, Span};
use ltl::{Formulas, Prop};
use model::{ActionSystem, ExprId};
use rustc_hash::FxHashSet;

use crate::ast::{File, ProcessKind, PropertyKind as Written};
use crate::check::Checker;
use crate::errors::Sink;
use crate::eval::{Constants, Quota};
use crate::labels::Labels;
use crate::names::Names;
use crate::property::Resolver;
pub use crate::property::{Fairness, Ltl, Observed, Property, PropertyKind, Spec};

/// How a file is to be read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Values that replace those of constants, as `-D N=13` does; of several for one name, the
    /// last counts.
    pub constants: Vec<(String, i64)>,
    /// How large the network may become.
    pub limits: Limits,
}

/// How large a network may become. Nothing larger is ever allocated: a file that asks for more is
/// refused with the place that does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Processes. By default one million.
    pub processes: u64,
    /// States of processes, testers and specs; processes that differ only in their parameters
    /// share them. By default four million.
    pub states: u64,
    /// Moves of all processes, testers and specs, and entries of alphabets. By default ten million.
    pub transitions: u64,
    /// Values that the variables of `for` and of indexed states go through, also where nothing
    /// comes of it. By default one hundred million.
    pub copies: u64,
    /// Actions of the action system. By default four million.
    pub actions: u64,
    /// Participants and cells of tables of all actions. By default fifty million.
    pub cells: u64,
    /// Nodes of expressions about states, with quantifiers written out. By default ten million.
    pub nodes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            processes: 1_000_000,
            states: 4_000_000,
            transitions: 10_000_000,
            copies: 100_000_000,
            actions: 4_000_000,
            cells: 50_000_000,
            nodes: 10_000_000,
        }
    }
}

/// Reads a file named by `extern "x.aut"`, relative to the model's folder; the error is the end of
/// a sentence, like `no such file`.
pub type Loader<'a> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'a;

/// A process network, ready to be explored and checked.
#[derive(Clone, Debug)]
pub struct Model {
    /// The network as an action system: one process and one variable for each process, in the
    /// order of the file; one label for each action that is not `tau`.
    pub system: ActionSystem,
    /// The formulas of the properties.
    pub formulas: Formulas,
    /// What the file wants checked, in its order.
    pub properties: Vec<Property>,
    /// Where the file says `deadlock-free;`, if it does.
    pub deadlock_free: Option<Span>,
    /// What the file assumes about runs, in its order.
    pub fairness: Vec<Fairness>,
    /// What is probably not meant.
    pub warnings: Diagnostics,
    names: Names,
    limits: Limits,
}

/// Reads a `.proc` file.
///
/// # Errors
/// Everything that is wrong with the file, each with its place.
pub fn load(
    sources: &mut SourceMap,
    source: SourceId,
    options: &Options,
    loader: &mut Loader<'_>,
) -> Result<Model, Diagnostics> {
    // A copy: components are added to the sources while the tree borrows the text.
    let text = sources.get(source).text.clone();
    let mut sink = Sink::default();
    let (file, errors) = parse::file(&text, source);
    errors.into_iter().for_each(|error| sink.push(*error));
    let constants = Constants::new(&file.constants, &options.constants, &mut sink);
    let mut used = FxHashSet::default();
    let broken = check_names(&file, &constants, &mut sink, &mut used);
    let unreadable = file.broken || file.processes.iter().any(|process| process.body_is_broken());
    if !unreadable && file.processes.is_empty() {
        let end = Span::new(source, text.len(), text.len());
        sink.push(Diagnostic::error("no-process", "the file declares no process").at(end, ""));
    }
    if unreadable || file.processes.is_empty() {
        return Err(sink.errors);
    }

    let limits = options.limits;
    let mut builder = network::Builder::new(constants, limits.quotas(), &mut sink);
    builder.build(&file, &broken, &mut |file, labels, quotas| {
        component::read(file, sources, loader, labels, quotas)
    });
    if !builder.sink.errors.has_errors() {
        builder.check_alphabets();
    }
    let network::Builder { network, names, quotas, .. } = builder;

    let mut actions = model::Builder::new();
    let mut formulas = Formulas::new();
    let mut resolver = Resolver {
        names: &names,
        labels: &network.labels,
        exprs: &mut actions.exprs,
        formulas: &mut formulas,
        quotas,
        nodes: Quota::new("nodes of expressions", limits.nodes),
        sink: &mut sink,
        used: &mut used,
    };
    let properties = resolver.properties(&file, &broken);
    let fairness = file.fairness.iter().filter_map(|fairness| resolver.fairness(fairness)).collect();
    warn_unused(&names.constants, &used, &mut sink);
    if sink.errors.has_errors() {
        return Err(sink.errors);
    }
    let quotas = lower::Quotas {
        actions: Quota::new("actions", limits.actions),
        cells: Quota::new("participants and table cells of actions", limits.cells),
    };
    let system = lower::lower(&network, actions, quotas).map_err(|error| Diagnostics::from(*error))?;
    let (deadlock_free, warnings) = (file.deadlock_free, sink.warnings);
    Ok(Model { system, formulas, properties, deadlock_free, fairness, warnings, names, limits })
}

/// Looks up all names that can be looked up before the network is known; returns the places of
/// the names of processes and properties that have errors.
fn check_names(
    file: &File<'_>,
    constants: &Constants,
    sink: &mut Sink,
    used: &mut FxHashSet<String>,
) -> FxHashSet<Span> {
    let mut checker = Checker::new(constants, sink, used, file.broken);
    let mut broken = FxHashSet::default();
    let mut check = |name, parameters, body| {
        if !checker.body(name, parameters, body) {
            broken.insert(name.span);
        }
    };
    for process in &file.processes {
        if let ProcessKind::Written(body) = &process.kind {
            check(process.name, &process.parameters, body);
        }
    }
    for property in &file.properties {
        if let Written::Tester(parameters, body) | Written::Spec(parameters, body) = &property.kind {
            check(property.name, parameters, body);
        }
    }
    file.constants.iter().for_each(|constant| checker.constant(constant));
    broken
}

fn warn_unused(constants: &Constants, used: &FxHashSet<String>, sink: &mut Sink) {
    for name in constants.names().filter(|name| !used.contains(*name)) {
        if let Some(span) = constants.span(name) {
            let message = format!("the constant `{name}` is never used");
            sink.push(Diagnostic::warning("unused-constant", message).at(span, ""));
        }
    }
}

impl Limits {
    fn quotas(self) -> expand::Quotas {
        expand::Quotas {
            processes: Quota::new("processes", self.processes),
            states: Quota::new("states of processes", self.states),
            transitions: Quota::new("transitions of processes", self.transitions),
            copies: Quota::new("values of `for` and of indexed states", self.copies),
        }
    }
}

impl Model {
    /// Turns the text of an expression about states, like `P[0]@a + P[1]@a <= 1`, into an
    /// expression of the system. `offset` is where the text begins in its source.
    ///
    /// # Errors
    /// The first mistake, with its place.
    pub fn resolve(&mut self, text: &str, source: SourceId, offset: usize) -> Result<ExprId, Diagnostic> {
        let mut sink = Sink::default();
        let resolved = self.resolving(&mut sink, |resolver| resolver.text(text, source, offset));
        resolved.ok_or_else(|| {
            let first = sink.errors.iter().next().cloned();
            first.unwrap_or_else(|| Diagnostic::error("cannot-resolve", "this is not an expression"))
        })
    }

    /// The propositions of a formula that was parsed into [`Model::formulas`], each with the
    /// expression of the system that says when it is true.
    ///
    /// # Errors
    /// All mistakes, each with its place.
    pub fn resolve_propositions(
        &mut self,
        parsed: &ltl::Parsed,
        sources: &SourceMap,
    ) -> Result<Vec<(Prop, ExprId)>, Diagnostics> {
        let mut sink = Sink::default();
        let resolved =
            self.resolving(&mut sink, |resolver| resolver.propositions(parsed, |span| sources.slice(span)));
        resolved.ok_or(sink.errors)
    }

    fn resolving<T>(&mut self, sink: &mut Sink, work: impl FnOnce(&mut Resolver<'_>) -> T) -> T {
        work(&mut Resolver {
            names: &self.names,
            labels: &Labels::default(),
            exprs: &mut self.system.exprs,
            formulas: &mut self.formulas,
            quotas: self.limits.quotas(),
            nodes: Quota::new("nodes of expressions", self.limits.nodes),
            sink,
            used: &mut FxHashSet::default(),
        })
    }
}
