//! Properties: what a file wants checked, with its names looked up.

use base::{Diagnostic, Sink, SourceId, Span, fail};
use language::{Asked, Fairness, Ltl, Property, PropertyKind};
use ltl::{Formulas, Prop};
use model::{ExprId, Exprs, ProcessId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{self, Binder, Body, Expr, Name};
use crate::check::Checker;
use crate::eval::{Scope, for_each};
use crate::expand::{Expander, Quotas};
use crate::labels::Labels;
use crate::meter::{Meter, Quota};
use crate::names::{Names, indexed};
use crate::observer::{self, Observation};
use crate::{parse, proposition};

/// Looks up everything that properties name.
pub(crate) struct Resolver<'s, 'm> {
    pub(crate) names: &'s Names,
    /// The labels, or none where testers are of no interest.
    pub(crate) labels: Option<&'s Labels>,
    pub(crate) exprs: &'s mut Exprs,
    pub(crate) formulas: &'s mut Formulas,
    pub(crate) quotas: Quotas<'m>,
    /// Limits the nodes of expressions.
    pub(crate) nodes: Quota<'m>,
    pub(crate) meter: &'m Meter<'m>,
    pub(crate) sink: &'s mut Sink,
    /// The constants that were met.
    pub(crate) used: &'s mut FxHashSet<String>,
}

impl Resolver<'_, '_> {
    /// All properties, in order. `broken` holds the names of those that have errors already.
    pub(crate) fn properties(&mut self, file: &ast::File<'_>, broken: &FxHashSet<Span>) -> Vec<Property> {
        let mut known: FxHashMap<&str, Span> = FxHashMap::default();
        let mut properties = Vec::new();
        for property in &file.properties {
            let name = property.name;
            if let Some(first) = known.get(name.text) {
                let message = format!("the property `{}` is declared twice", name.text);
                let error = fail("duplicate-property", message, name.span, "declared again");
                self.sink.push(error.with_related(*first, "first declared here"));
                continue;
            }
            known.insert(name.text, name.span);
            if !broken.contains(&name.span) {
                self.property(property, &mut properties);
            }
        }
        properties
    }

    fn property(&mut self, property: &ast::Property<'_>, out: &mut Vec<Property>) {
        let name = property.name;
        let new = |kind| declared(name.text.to_owned(), name.span, kind);
        match &property.kind {
            ast::PropertyKind::Invariant(expr) => {
                out.extend(self.expr(expr).map(|expr| new(PropertyKind::Invariant(expr))));
            }
            ast::PropertyKind::Ltl(text) => {
                out.extend(self.ltl(*text).map(|ltl| new(PropertyKind::Ltl(ltl))));
            }
            ast::PropertyKind::Tester(parameters, body) => {
                if body.marks.is_empty() {
                    let message = format!("the tester `{}` never objects to anything", name.text);
                    let warning = Diagnostic::warning("harmless-tester", message).at(name.span, "");
                    let help = "say which states are `reject`, `deadlock`, `livelock` or `infinite`";
                    self.sink.push(warning.with_help(help));
                }
                self.observers(name, parameters, body, observer::tester, out);
            }
            ast::PropertyKind::Spec(parameters, body) => {
                self.observers(name, parameters, body, observer::spec, out);
            }
        }
    }

    /// An expression about states.
    pub(crate) fn expr(&mut self, expr: &Expr<'_>) -> Option<ExprId> {
        let n_errors = self.sink.n_errors();
        Checker::new(&self.names.constants, self.sink, self.used, false).expr(expr, Some(self.names));
        if self.sink.n_errors() > n_errors {
            return None;
        }
        let lowered = proposition::lower(expr, self.names, self.exprs, &mut self.nodes);
        self.sink.take(lowered)
    }

    /// The text of an expression about states.
    pub(crate) fn text(&mut self, text: &str, source: SourceId, offset: usize) -> Option<ExprId> {
        let parsed = parse::expression(text, source, offset, self.meter);
        let expr = self.sink.take(parsed)?;
        self.expr(&expr)
    }

    fn ltl(&mut self, text: Name<'_>) -> Option<Ltl> {
        let Span { source, start, .. } = text.span;
        let parsed = ltl::parse(self.formulas, text.text, source, start as usize).map_err(Box::new);
        let parsed = self.sink.take(parsed)?;
        let slice = |span: Span| &text.text[(span.start - start) as usize..(span.end - start) as usize];
        let propositions = self.propositions(&parsed, slice)?;
        Some(Ltl { formula: parsed.formula, propositions })
    }

    /// The propositions of a formula; `slice` gives the text at a place.
    fn propositions<'t>(
        &mut self,
        parsed: &ltl::Parsed,
        slice: impl Fn(Span) -> &'t str,
    ) -> Option<Vec<(Prop, ExprId)>> {
        let mut resolved = Vec::with_capacity(parsed.propositions.len());
        for &(prop, span) in &parsed.propositions {
            let (written, start) = (slice(span), span.start as usize);
            // What is written, so that places are right; but quotation marks may hide escapes.
            let expr = if written.starts_with('"') {
                let text = self.formulas.text(prop).to_owned();
                self.text(&text, span.source, start + 1)
            } else {
                self.text(written, span.source, start)
            };
            resolved.extend(expr.map(|expr| (prop, expr)));
        }
        (resolved.len() == parsed.propositions.len()).then_some(resolved)
    }

    /// The processes of `fair …;`.
    pub(crate) fn fairness(&mut self, fairness: &ast::Fairness<'_>) -> Option<Fairness> {
        let scope = Scope::new(&self.names.constants);
        let mut processes = Vec::new();
        for place in &fairness.processes {
            let members = self.names.group(place).and_then(|group| match group.broken {
                true => Ok(Vec::new()),
                false => group.members.find_all("the process", place, &scope),
            });
            let members = self.sink.take(members)?;
            processes.extend(members.into_iter().map(|member| ProcessId::new(member as usize)));
        }
        processes.sort_unstable();
        processes.dedup();
        Some(Fairness { kind: fairness.kind, processes, span: fairness.span })
    }

    /// Testers or specs: one for each value of the parameters.
    fn observers<'a>(
        &mut self,
        name: Name<'a>,
        parameters: &'a [Binder<'a>],
        body: &'a Body<'a>,
        make: fn(&Observation<'a>, &mut Expander<'a, '_, '_>, &mut Scope<'a, '_>) -> Option<PropertyKind>,
        out: &mut Vec<Property>,
    ) {
        let Some(labels) = self.labels else { return };
        let meter = self.meter;
        let mut processes = self.quotas.processes;
        let mut expander = Expander::new(name.text, body, &mut self.quotas, self.sink);
        let binders: Vec<&Binder<'_>> = parameters.iter().collect();
        let mut scope = Scope::new(&self.names.constants);
        let mut numbering = |text: &str, span| {
            labels.find(text).ok_or_else(|| {
                let message = format!("no process ever does `{text}`");
                let error = fail("unknown-action", message, span, "unknown action");
                Box::new(labels.suggest(*error, text))
            })
        };
        let made = for_each(&binders, name.span, &mut scope, &mut processes, &mut |scope| {
            let property = expander.states(parameters, scope).and_then(|list| {
                let expanded = expander.expand(&list, scope, &mut numbering)?;
                let name = indexed(name.text, &scope.values());
                let observation = Observation::new(body, list, expanded, labels, expander.sink)?;
                Some((name, make(&observation, &mut expander, scope)?))
            });
            meter.take(property.as_ref().map_or(0, |(_, kind)| observer::bytes(kind)))?;
            // Told already; and what is wrong with one of many is wrong with the others.
            let (full_name, kind) = property.ok_or(None)?;
            out.push(declared(full_name, name.span, kind));
            Ok(())
        });
        match made {
            Ok(()) => expander.warn(),
            Err(Some(error)) => self.sink.push(*error),
            Err(None) => {}
        }
        self.quotas.processes = processes;
    }
}

/// A property of the file. A tester or spec with parameters is one for each, like `Starves[2]`.
fn declared(name: String, span: Span, kind: PropertyKind) -> Property {
    Property { name, span: Some(span), asked: Asked::ByDefault, kind }
}
