//! The network: all processes, explicit, with numbers for labels.

use std::sync::Arc;

use base::{Diagnostic, Fail, Sink, Span, fail};
use rustc_hash::FxHashSet;

use crate::ast::{Binder, Body, File, Name, Process, ProcessKind};
use crate::eval::{Constants, Scope, for_each};
use crate::expand::{Expanded, Expander, Move, Quotas};
use crate::labels::{Labels, TAU};
use crate::names::{Group, Names, States, Table, indexed};

/// One process.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) name: String,
    pub(crate) states: Arc<States>,
    pub(crate) initial: u32,
    /// Sorted by label, source and target.
    pub(crate) moves: Vec<Move>,
    /// The labels that it takes part in, sorted, without `tau`.
    pub(crate) alphabet: Vec<u32>,
    /// The places of [`Move::written`], and of the declaration.
    pub(crate) spans: Arc<[Span]>,
    pub(crate) span: Span,
}

/// All processes.
#[derive(Debug, Default)]
pub(crate) struct Network {
    pub(crate) labels: Labels,
    pub(crate) processes: Vec<Local>,
    /// What `alphabet …;` lists, in order: process, label, place.
    listed: Vec<(u32, u32, Span)>,
}

/// The moves of a process, and where they were written.
#[derive(Debug)]
pub(crate) struct Written {
    /// The process, without its indices.
    pub(crate) kind: String,
    pub(crate) moves: Vec<Move>,
    pub(crate) spans: Arc<[Span]>,
}

impl Network {
    /// What was written of each process; nothing of components, which are in files of their own.
    pub(crate) fn written(self) -> Arc<[Written]> {
        let written = |Local { name, moves, spans, .. }: Local| {
            let kind = name.split('[').next().unwrap_or_default().to_owned();
            Written { kind, moves: if spans.is_empty() { Vec::new() } else { moves }, spans }
        };
        self.processes.into_iter().map(written).collect()
    }
}

/// Builds the processes of a file; what is wrong goes to the sink.
pub(crate) struct Builder<'s, 'm> {
    pub(crate) network: Network,
    pub(crate) names: Names,
    pub(crate) quotas: Quotas<'m>,
    pub(crate) sink: &'s mut Sink,
}

/// Reads a component: the states and moves of an `.aut` file.
pub(crate) type Component<'c> =
    dyn FnMut(&Name<'_>, &mut Labels, &mut Quotas<'_>) -> Result<(Arc<States>, Expanded), Fail> + 'c;

impl<'s, 'm> Builder<'s, 'm> {
    pub(crate) fn new(constants: Constants, quotas: Quotas<'m>, sink: &'s mut Sink) -> Builder<'s, 'm> {
        Builder { network: Network::default(), names: Names::new(constants), quotas, sink }
    }

    /// Builds all processes. `broken` holds the names of those that have errors already.
    pub(crate) fn build(&mut self, file: &File<'_>, broken: &FxHashSet<Span>, component: &mut Component<'_>) {
        let constants = self.names.constants.clone();
        for process in &file.processes {
            let name = process.name;
            if let Some(first) = self.names.get(name.text) {
                let message = format!("the process `{}` is declared twice", name.text);
                let error = fail("duplicate-process", message, name.span, "declared again");
                self.sink.push(error.with_related(first.span, "first declared here"));
                continue;
            }
            let first = self.network.processes.len();
            let mut group = Group {
                name: name.text.to_owned(),
                span: name.span,
                members: Table::new(process.parameters.len()),
                range: first..first,
                broken: broken.contains(&name.span),
            };
            if !group.broken {
                group.broken = !self.members(process, &constants, &mut group.members, component);
            }
            group.range.end = self.network.processes.len();
            self.names.add(group);
        }
        let Network { labels, processes, .. } = &mut self.network;
        self.names.states = processes.iter().map(|process| process.states.clone()).collect();
        let moves = processes.iter().flat_map(|process| &process.moves);
        moves.filter(|one| one.label != TAU).for_each(|one| labels.offer(one.label));
        if !self.names.is_broken() {
            self.check_alphabets();
        }
    }

    /// Builds the processes of one declaration; false if there were errors.
    fn members(
        &mut self,
        process: &Process<'_>,
        constants: &Constants,
        members: &mut Table,
        component: &mut Component<'_>,
    ) -> bool {
        let n_errors = self.sink.n_errors();
        match &process.kind {
            ProcessKind::Written(body) => self.written(process, body, constants, members),
            ProcessKind::Extern(file) => self.component(process, file, members, component),
        }
        self.sink.n_errors() == n_errors
    }

    fn written<'a>(
        &mut self,
        process: &'a Process<'a>,
        body: &'a Body<'a>,
        constants: &Constants,
        members: &mut Table,
    ) {
        let mut processes = self.quotas.processes;
        let mut expander = Expander::new(process.name.text, body, &mut self.quotas, self.sink);
        let spans = expander.spans();
        let parameters: Vec<&Binder<'_>> = process.parameters.iter().collect();
        let Network { labels, processes: locals, listed } = &mut self.network;
        let mut scope = Scope::new(constants);
        let expanded = for_each(&parameters, process.name.span, &mut scope, &mut processes, &mut |scope| {
            let (name, span) = (process.name, process.name.span);
            let mut numbering = |text: &str, _| Ok(labels.intern(text));
            let indices = scope.values();
            let built = expander.states(&process.parameters, scope).and_then(|list| {
                let expanded = expander.expand(&list, scope, &mut numbering)?;
                Some((list.states, expanded))
            });
            // Told already; and what is wrong with one of many is wrong with the others.
            let Some((states, expanded)) = built else { return Err(None) };
            let number = locals.len() as u32; // The quota keeps it small.
            members.insert(&indices, number);
            listed.extend(expanded.alphabet.iter().map(|&(label, span)| (number, label, span)));
            locals.push(local(indexed(name.text, &indices), states, expanded, spans.clone(), span));
            Ok(())
        });
        match expanded {
            Ok(()) if members.is_empty() => self.empty(process),
            Ok(()) => expander.warn(),
            Err(Some(error)) => self.sink.push(*error),
            Err(None) => {}
        }
        self.quotas.processes = processes;
    }

    /// A declaration that no process comes of: a range is empty.
    fn empty(&mut self, process: &Process<'_>) {
        let ranges = process.parameters.iter().map(|parameter| parameter.range.span);
        let span = ranges.reduce(Span::to).unwrap_or(process.name.span);
        let message = format!("there is no process `{}`: the range is empty", process.name.text);
        let error = fail("empty-range", message, span, "empty range");
        self.sink.push(error.with_help("`0..N` goes from 0 to N - 1"));
    }

    fn component(
        &mut self,
        process: &Process<'_>,
        file: &Name<'_>,
        members: &mut Table,
        component: &mut Component<'_>,
    ) {
        if let Some(parameter) = process.parameters.first() {
            let message = "a process from a file has no parameters";
            let error = fail("misplaced", message, parameter.name.span, "not with `extern`");
            self.sink.push(error.with_help("write one line for each copy, with names of their own"));
            return;
        }
        let span = process.name.span;
        let read = self
            .quotas
            .processes
            .take(1, span)
            .and_then(|()| component(file, &mut self.network.labels, &mut self.quotas));
        if let Some((states, expanded)) = self.sink.take(read) {
            members.insert(&[], self.network.processes.len() as u32);
            let name = process.name.text.to_owned();
            self.network.processes.push(local(name, states, expanded, Arc::new([]), span));
        }
    }

    /// Checks what the alphabets list against what the processes do. An entry with a `for` may
    /// list more than the process does: that is what entries are for. One of which it never does
    /// anything is worth a warning.
    fn check_alphabets(&mut self) {
        let Network { labels, processes, listed } = &self.network;
        let does = |process: u32, label: u32| !moves_of(&processes[process as usize].moves, label).is_empty();
        let useful: FxHashSet<Span> = listed
            .iter()
            .filter(|&&(process, label, _)| does(process, label))
            .map(|&(.., span)| span)
            .collect();
        for &(process, label, span) in listed {
            if label == TAU {
                let message = "`tau` is private and belongs to no alphabet";
                self.sink.push(*fail("misplaced", message, span, "remove it"));
            } else if !labels.is_offered(label) {
                let text = labels.text(label);
                let message = format!("no process ever does `{text}`");
                let error = fail("unknown-action", message, span, "nobody offers this action");
                let full = self.sink.is_full();
                self.sink.push(if full { *error } else { labels.suggest(*error, text) });
            } else if !useful.contains(&span) {
                let (text, name) = (labels.text(label), &processes[process as usize].name);
                let message =
                    format!("`{text}` is blocked for ever: `{name}` takes part in it but never does it");
                self.sink.push(Diagnostic::warning("blocked-action", message).at(span, "listed here"));
            }
        }
    }
}

fn local(name: String, states: Arc<States>, expanded: Expanded, spans: Arc<[Span]>, span: Span) -> Local {
    let Expanded { initial, moves, alphabet } = expanded;
    let mut labels: Vec<u32> = moves.iter().map(|one| one.label).filter(|&label| label != TAU).collect();
    labels.dedup();
    if !alphabet.is_empty() {
        labels.extend(alphabet.iter().map(|(label, _)| *label).filter(|&label| label != TAU));
        labels.sort_unstable();
        labels.dedup();
    }
    Local { name, states, initial, moves, alphabet: labels, spans, span }
}

/// The moves with one label, of moves sorted by label.
pub(crate) fn moves_of(moves: &[Move], label: u32) -> &[Move] {
    let start = moves.partition_point(|one| one.label < label);
    let end = start + moves[start..].partition_point(|one| one.label == label);
    &moves[start..end]
}
