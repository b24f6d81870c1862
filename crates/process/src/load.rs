//! From the text of a file to a [`Model`]: the phases, one after the other.
//!
//! 1. Parse; check the names of constants, states and variables (`parse`, `check`).
//! 2. Evaluate everything that is constant: processes become explicit (`expand`, `network`).
//! 3. Look up what properties name (`property`, `proposition`, `observer`).
//! 4. Lower the processes to an action system (`lower`).
//!
//! Each phase goes on as long as what it finds is worth telling: declarations with errors are
//! left out of the phases that follow, and nothing is said about them there.

use base::{Diagnostic, Diagnostics, SourceId, SourceMap, Span};
use ltl::{Formulas, Prop};
use model::{ActionSystem, ExprId};
use rustc_hash::FxHashSet;

use crate::ast::{File, Process, ProcessKind, PropertyKind};
use crate::check::Checker;
use crate::errors::Sink;
use crate::eval::{Constants, Quota};
use crate::names::Names;
use crate::options::{Limits, Options};
use crate::property::{Fairness, Property, Resolver};
use crate::{component, lower, network, parse};

/// Reads a file named by `extern "x.aut"`, relative to the model's folder; the error is the end of
/// a sentence, like `no such file`.
pub type Loader<'a> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'a;

/// A process network, ready to be explored and checked.
#[derive(Clone, Debug)]
pub struct Model {
    /// The network as an action system: one process and one variable for each process, in the
    /// order of the file; one label for each action that is not `tau`.
    pub system: ActionSystem,
    /// The formulas of the properties; those that are given elsewhere may be added.
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
    if !is_readable(&file, Span::new(source, text.len(), text.len()), &mut sink) {
        return Err(sink.finish());
    }

    let mut builder = network::Builder::new(constants, options.limits.quotas(), &mut sink);
    builder.build(&file, &broken, &mut |file, labels, quotas| {
        component::read(file, sources, loader, labels, quotas)
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
        nodes: options.limits.nodes(),
        sink: &mut sink,
        used: &mut used,
    };
    let properties = resolver.properties(&file, &broken);
    let fairness = file.fairness.iter().filter_map(|fairness| resolver.fairness(fairness)).collect();
    warn_unused(&names.constants, &used, &mut sink);
    if sink.has_errors() {
        return Err(sink.finish());
    }
    let system =
        lower::lower(&network, actions, options.limits).map_err(|error| Diagnostics::from(*error))?;
    let (deadlock_free, warnings, limits) = (file.deadlock_free, sink.finish(), options.limits);
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
    /// Turns the text of an expression about states, like `P[0]@a + P[1]@a <= 1`, into an
    /// expression of the system. `offset` is where the text begins in its source.
    ///
    /// # Errors
    /// The first mistake, with its place.
    pub fn resolve(&mut self, text: &str, source: SourceId, offset: usize) -> Result<ExprId, Diagnostic> {
        let mut sink = Sink::default();
        let resolved = self.resolving(&mut sink, |resolver| resolver.text(text, source, offset));
        resolved.ok_or_else(|| {
            let first = sink.finish().iter().next().cloned();
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
        resolved.ok_or_else(|| sink.finish())
    }

    fn resolving<T>(&mut self, sink: &mut Sink, work: impl FnOnce(&mut Resolver<'_>) -> T) -> T {
        work(&mut Resolver {
            names: &self.names,
            labels: None,
            exprs: &mut self.system.exprs,
            formulas: &mut self.formulas,
            quotas: self.limits.quotas(),
            nodes: self.limits.nodes(),
            sink,
            used: &mut FxHashSet::default(),
        })
    }
}

impl Limits {
    /// What expansion may use up.
    fn quotas(self) -> crate::expand::Quotas {
        crate::expand::Quotas {
            processes: Quota::new("processes", self.processes),
            states: Quota::new("states of processes", self.states),
            transitions: Quota::new("transitions of processes", self.transitions),
            copies: Quota::new("values of variables of `for`", self.copies),
        }
    }

    /// What expressions may use up.
    fn nodes(self) -> Quota {
        Quota::new("nodes of expressions", self.nodes)
    }
}
