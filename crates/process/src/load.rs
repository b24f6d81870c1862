//! From the text of a file to a [`Model`]: the phases, one after the other.
//!
//! 1. Parse; check the names of constants, states and variables (`parse`, `check`).
//! 2. Evaluate everything that is constant: processes become explicit (`expand`, `network`).
//! 3. Look up what properties name (`property`, `proposition`, `observer`).
//! 4. Lower the processes to an action system (`lower`).
//!
//! Each phase goes on as long as what it finds is worth telling: declarations with errors are
//! left out of the phases that follow, and nothing is said about them there.

use std::sync::Arc;

use base::{Budget, Diagnostic, Diagnostics, Sink, SourceId, SourceMap, Span};
use language::{Fairness, Loader, Property, Trouble};
use ltl::Formulas;
use model::{ActionSystem, ExprId};
use rustc_hash::FxHashSet;

use crate::ast::{File, Process, ProcessKind, PropertyKind};
use crate::check::Checker;
use crate::eval::Constants;
use crate::meter::{Meter, Quota};
use crate::names::Names;
use crate::network::Written;
use crate::options::{Limits, Options};
use crate::property::Resolver;
use crate::{component, lower, network, parse};

/// A process network, ready to be explored and checked.
#[derive(Clone, Debug)]
pub struct Model {
    /// The network as an action system: one process and one variable for each process, in the
    /// order of the file; one label for each action that is not `tau`.
    pub system: Arc<ActionSystem>,
    /// The formulas of the properties; those that are given elsewhere may be added.
    pub formulas: Formulas,
    /// What the file declares, in its order.
    pub properties: Arc<[Property]>,
    /// Where the file says `deadlock-free;`, if it does.
    pub deadlock_free: Option<Span>,
    /// What the file assumes about runs, in its order.
    pub fairness: Vec<Fairness>,
    /// What is probably not meant.
    pub warnings: Diagnostics,
    /// What was written of each process, to say which of it never happens.
    pub(crate) written: Arc<[Written]>,
    names: Names,
    limits: Limits,
}

/// Reads a `.proc` file. Files named by `extern "x.aut"` come from the loader.
///
/// # Errors
/// Everything that is wrong with the file, each with its place; or the budget is spent.
pub fn load(
    sources: &mut SourceMap,
    source: SourceId,
    options: &Options,
    loader: &mut Loader<'_>,
    budget: &mut Budget<'_>,
) -> Result<Model, Trouble> {
    let meter = Meter::new(budget.share());
    let loaded = load_metered(sources, source, options, loader, &meter);
    if let Some(limit) = meter.spent() {
        return Err(limit.into());
    }
    budget.max_bytes = meter.max_bytes();
    Ok(loaded?)
}

fn load_metered<'m>(
    sources: &mut SourceMap,
    source: SourceId,
    options: &Options,
    loader: &mut Loader<'_>,
    meter: &'m Meter<'m>,
) -> Result<Model, Diagnostics> {
    // A copy: components are added to the sources while the tree borrows the text.
    let text = sources.get(source).text.clone();
    let before = meter.max_bytes();
    let mut sink = Sink::default();
    let (file, errors) = parse::file(&text, source, meter);
    let tree_bytes = before - meter.max_bytes();
    errors.into_iter().for_each(|error| sink.push(*error));
    let constants = Constants::new(&file.constants, &options.constants, &mut sink);
    let mut used = FxHashSet::default();
    let broken = check_names(&file, &constants, &mut sink, &mut used, meter);
    if !is_readable(&file, Span::new(source, text.len(), text.len()), &mut sink) {
        return Err(sink.finish());
    }

    let quotas = options.limits.quotas(meter);
    let mut builder = network::Builder::new(constants, quotas, &mut sink);
    builder.build(&file, &broken, &mut |file, labels, quotas| {
        component::read(file, sources, loader, labels, quotas, meter)
    });
    let network::Builder { network, names, quotas, .. } = builder;

    let mut actions = model::Builder::new();
    let mut formulas = Formulas::new();
    let mut resolver = Resolver {
        names: &names,
        labels: Some(&network.labels).filter(|_| !names.is_broken()),
        exprs: &mut actions.exprs,
        formulas: &mut formulas,
        quotas,
        nodes: options.limits.nodes(meter),
        meter,
        sink: &mut sink,
        used: &mut used,
    };
    let properties = resolver.properties(&file, &broken).into();
    let fairness = file.fairness.iter().filter_map(|fairness| resolver.fairness(fairness)).collect();
    warn_unused(&names.constants, &used, &mut sink);
    if sink.has_errors() {
        return Err(sink.finish());
    }
    let system = lower::lower(&network, actions, options.limits, meter).map_err(|error| *error)?;
    meter.release(tree_bytes);
    let (deadlock_free, warnings, limits) = (file.deadlock_free, sink.finish(), options.limits);
    let (system, written) = (Arc::new(system), network.written());
    Ok(Model { system, formulas, properties, deadlock_free, fairness, warnings, written, names, limits })
}

/// Looks up all names that can be looked up before the network is known; returns the places of
/// the names of processes and properties that have errors.
fn check_names(
    file: &File<'_>,
    constants: &Constants,
    sink: &mut Sink,
    used: &mut FxHashSet<String>,
    meter: &Meter<'_>,
) -> FxHashSet<Span> {
    let mut checker = Checker::new(constants, sink, used, file.broken);
    let mut broken = FxHashSet::default();
    let mut check = |name, parameters, body| {
        if meter.take(0).is_err() || !checker.body(name, parameters, body) {
            broken.insert(name.span);
        }
    };
    for process in &file.processes {
        if let ProcessKind::Written(body) = &process.kind {
            check(process.name, &process.parameters, body);
        }
    }
    for property in &file.properties {
        if let PropertyKind::Tester(parameters, body) | PropertyKind::Spec(parameters, body) = &property.kind
        {
            check(property.name, parameters, body);
        }
    }
    file.constants.iter().for_each(|constant| checker.constant(constant));
    broken
}

/// Whether enough could be read to go on: all constants and processes, and at least one of these.
fn is_readable(file: &File<'_>, end: Span, sink: &mut Sink) -> bool {
    if file.broken || file.processes.iter().any(Process::body_is_broken) {
        return false;
    }
    if file.processes.is_empty() {
        let error = Diagnostic::error("no-process", "the file declares no process").at(end, "");
        sink.push(error.with_help("a process is written `process P { state: action -> state; }`"));
    }
    !file.processes.is_empty()
}

fn warn_unused(constants: &Constants, used: &FxHashSet<String>, sink: &mut Sink) {
    for name in constants.names().filter(|name| !used.contains(*name)) {
        if let Some(span) = constants.span(name) {
            let message = format!("the constant `{name}` is never used");
            sink.push(Diagnostic::warning("unused-constant", message).at(span, ""));
        }
    }
}

impl Model {
    /// Turns the text of an expression about states, like `P[0]@a + P[1]@a <= 1`, into an expression of the
    /// system. `offset` is where the text begins in its source.
    pub(crate) fn expression(
        &mut self,
        text: &str,
        source: SourceId,
        offset: usize,
    ) -> Result<ExprId, Diagnostics> {
        let (mut sink, meter) = (Sink::default(), Meter::new(Budget::unlimited()));
        let mut resolver = Resolver {
            names: &self.names,
            labels: None,
            exprs: &mut Arc::make_mut(&mut self.system).exprs,
            formulas: &mut self.formulas,
            quotas: self.limits.quotas(&meter),
            nodes: self.limits.nodes(&meter),
            meter: &meter,
            sink: &mut sink,
            used: &mut FxHashSet::default(),
        };
        resolver.text(text, source, offset).ok_or_else(|| sink.finish())
    }
}

impl Limits {
    /// What expansion may use up.
    fn quotas<'m>(self, meter: &'m Meter<'m>) -> crate::expand::Quotas<'m> {
        crate::expand::Quotas {
            processes: Quota::new("processes", self.processes, 600, meter),
            states: Quota::new("states of processes", self.states, 180, meter),
            transitions: Quota::new("transitions of processes", self.transitions, 190, meter),
            copies: Quota::new("values of variables of `for`", self.copies, 0, meter),
        }
    }

    /// What expressions may use up.
    fn nodes<'m>(self, meter: &'m Meter<'m>) -> Quota<'m> {
        Quota::new("nodes of expressions", self.nodes, 40, meter)
    }
}
