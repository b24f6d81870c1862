//! The outline of a Promela model, for editors: what it declares, and where each name is used.
//!
//! Declarations are taken from the syntax tree; what names mean is what the resolver says ([`crate::resolve`]), so scopes,
//! inlines and `P:x` are as everywhere. Macros are texts: their names are looked for in the text. A name that comes out of
//! a macro stands in the macro's body.

use std::sync::Arc;

use base::{Budget, SourceId, SourceMap, Span};
use language::{Outline, Symbol, SymbolKind};
use rustc_hash::FxHashMap;

use crate::ast::{BodyKind, Declaration, Name, Proctype, Stmt, StmtKind, TypeKind, TypeName, Unit};
use crate::errors::Sink;
use crate::lexer::{Kind, Token, tokens};
use crate::preprocess::{Loader, preprocess};
use crate::{Options, cost, parse, resolve};

/// What a text declares, with the texts that it includes.
pub(crate) fn outline(
    sources: &mut SourceMap,
    source: SourceId,
    options: &Options,
    loader: &mut Loader<'_>,
    budget: &mut Budget<'_>,
) -> Outline {
    cost::shared(budget, |cost| {
        // Mistakes are told elsewhere.
        let mut sink = Sink::default();
        let n_sources = sources.iter().count() - 1;
        let (read, _) = preprocess(sources, source, options, loader, &mut sink, cost);
        let (model, _) = parse::model(read, sources, &options.limits, &mut sink, cost);
        let (_, uses) = resolve::resolve_with_uses(&model, &options.limits, &mut sink, cost);
        let mut walk = Walk { sources, outline: Outline::default(), by_place: FxHashMap::default() };
        model.units.iter().for_each(|unit| walk.unit(unit));
        model.units.iter().for_each(|unit| walk.types_of_unit(unit));
        let texts: Vec<(SourceId, Vec<Token>)> = (n_sources..sources.iter().count())
            .map(SourceId::new)
            .map(|id| (id, tokens(&sources.get(id).text, id)))
            .collect();
        let bodies = walk.macros(&texts);
        for (name, place, declared) in uses {
            walk.use_of(&name, place, declared, &bodies);
        }
        walk.outline.finish();
        // What is found later does not depend on names.
        Outline { n_errors: Some(sink.n_errors()), ..walk.outline }
    })
}

/// The names in the bodies of macros that are not their parameters.
type Bodies = FxHashMap<Arc<str>, Vec<Span>>;

struct Walk<'s> {
    sources: &'s SourceMap,
    outline: Outline,
    /// Symbols by the places where they are declared.
    by_place: FxHashMap<Span, usize>,
}

impl Walk<'_> {
    fn symbol(&mut self, name: &Name, kind: SymbolKind, extent: Span) -> usize {
        // What stands in an inline is declared wherever the inline is called.
        if let Some(&known) = self.by_place.get(&name.span) {
            return known;
        }
        let symbol = self.outline.add(Symbol::new(&*name.text, kind, name.span, extent));
        self.by_place.insert(name.span, symbol);
        symbol
    }

    /// Whether a name stands at a place, and did not come out of a macro.
    fn stands(&self, name: &str, place: Span) -> bool {
        self.sources.slice(place) == name
    }

    fn unit(&mut self, unit: &Unit) {
        match unit {
            Unit::Mtype(list) => {
                if let Some(set) = &list.set {
                    let known = self.named(SymbolKind::Type, &set.text);
                    match known {
                        Some(known) => self.outline.symbols[known].uses.push(set.span),
                        None => _ = self.symbol(set, SymbolKind::Type, set.span),
                    }
                }
                for name in &list.names {
                    let symbol = self.symbol(name, SymbolKind::Constant, name.span);
                    self.outline.symbols[symbol].detail = "a symbolic name".to_owned();
                }
            }
            Unit::Typedef(typedef) => {
                let owner = self.symbol(&typedef.name, SymbolKind::Type, typedef.name.span);
                for field in &typedef.fields {
                    self.variables(field, SymbolKind::Field, None, Some(owner));
                }
            }
            Unit::Declaration(declaration) => self.variables(declaration, SymbolKind::Variable, None, None),
            Unit::Proctype(proctype) => self.proctype(proctype),
            Unit::Ltl(ltl) => {
                if let Some(name) = &ltl.name {
                    let symbol = self.symbol(name, SymbolKind::Property, ltl.span);
                    self.outline.symbols[symbol].detail = "a formula".to_owned();
                }
            }
        }
    }

    fn proctype(&mut self, proctype: &Proctype) {
        let symbol = self.symbol(&proctype.name, SymbolKind::Process, proctype.span);
        let detail = match (proctype.kind, &proctype.active) {
            (BodyKind::Proctype, Some(_)) => "which is active from the beginning",
            (BodyKind::Proctype, None) => "which is started by `run`",
            (BodyKind::Init, _) => "which starts the others",
            _ => "which watches the others",
        };
        self.outline.symbols[symbol].detail = detail.to_owned();
        for parameter in &proctype.parameters {
            self.variables(parameter, SymbolKind::Variable, Some(proctype.span), Some(symbol));
        }
        self.statements(&proctype.body, proctype.span, symbol);
    }

    fn variables(
        &mut self,
        declaration: &Declaration,
        kind: SymbolKind,
        scope: Option<Span>,
        parent: Option<usize>,
    ) {
        for variable in &declaration.variables {
            let symbol = self.symbol(&variable.name, kind, variable.span);
            let array = if variable.length.is_some() { "[…]" } else { "" };
            let its = &mut self.outline.symbols[symbol];
            its.detail = format!(": {}{array}", type_text(&declaration.ty, self.sources));
            (its.scope, its.parent) = (scope, parent);
        }
    }

    fn statements(&mut self, body: &[Stmt], scope: Span, owner: usize) {
        for statement in body {
            for label in &statement.labels {
                let symbol = self.symbol(label, SymbolKind::Label, label.span);
                let its = &mut self.outline.symbols[symbol];
                (its.scope, its.parent) = (Some(scope), Some(owner));
            }
            match &statement.kind {
                StmtKind::Declaration(declaration) => {
                    self.variables(declaration, SymbolKind::Variable, Some(scope), Some(owner));
                }
                StmtKind::If(options) | StmtKind::Do(options) => {
                    options.iter().for_each(|option| self.statements(option, scope, owner));
                }
                StmtKind::Atomic(body)
                | StmtKind::DStep(body)
                | StmtKind::Block(body)
                | StmtKind::Inlined { body, .. }
                | StmtKind::ForRange { body, .. }
                | StmtKind::ForIn { body, .. } => self.statements(body, scope, owner),
                StmtKind::Unless(parts) => {
                    self.statements(std::slice::from_ref(&parts.0), scope, owner);
                    self.statements(std::slice::from_ref(&parts.1), scope, owner);
                }
                _ => {}
            }
        }
    }

    fn named(&self, kind: SymbolKind, name: &str) -> Option<usize> {
        let is_meant = |symbol: &Symbol| symbol.kind == kind && symbol.name == name;
        self.outline.symbols.iter().position(is_meant)
    }

    /// Where types are named.
    fn types_of_unit(&mut self, unit: &Unit) {
        match unit {
            Unit::Typedef(typedef) => typedef.fields.iter().for_each(|field| self.type_of(&field.ty)),
            Unit::Declaration(declaration) => self.types_of(declaration),
            Unit::Proctype(proctype) => {
                proctype.parameters.iter().for_each(|parameter| self.types_of(parameter));
                self.types_in(&proctype.body);
            }
            Unit::Mtype(_) | Unit::Ltl(_) => {}
        }
    }

    fn types_in(&mut self, body: &[Stmt]) {
        for statement in body {
            match &statement.kind {
                StmtKind::Declaration(declaration) => self.types_of(declaration),
                StmtKind::If(options) | StmtKind::Do(options) => {
                    options.iter().for_each(|option| self.types_in(option));
                }
                StmtKind::Atomic(body)
                | StmtKind::DStep(body)
                | StmtKind::Block(body)
                | StmtKind::Inlined { body, .. }
                | StmtKind::ForRange { body, .. }
                | StmtKind::ForIn { body, .. } => self.types_in(body),
                StmtKind::Unless(parts) => {
                    self.types_in(std::slice::from_ref(&parts.0));
                    self.types_in(std::slice::from_ref(&parts.1));
                }
                _ => {}
            }
        }
    }

    fn types_of(&mut self, declaration: &Declaration) {
        self.type_of(&declaration.ty);
        for variable in &declaration.variables {
            if let Some(crate::ast::Init::Channel { fields, .. }) = &variable.init {
                fields.iter().for_each(|field| self.type_of(field));
            }
        }
    }

    fn type_of(&mut self, ty: &TypeName) {
        if let TypeKind::Named(name) | TypeKind::Mtype(Some(name)) = &ty.kind
            && self.stands(&name.text, name.span)
            && let Some(symbol) = self.named(SymbolKind::Type, &name.text)
        {
            self.outline.symbols[symbol].uses.push(name.span);
        }
    }

    /// What the resolver says of a name. If it came out of a macro, it stands in the bodies of macros.
    fn use_of(&mut self, name: &Arc<str>, place: Span, declared: Span, bodies: &Bodies) {
        let Some(&symbol) = self.by_place.get(&declared) else { return };
        if self.stands(name, place) {
            self.outline.symbols[symbol].uses.push(place);
        } else if let Some(places) = bodies.get(name) {
            let known = &mut self.outline.symbols[symbol].uses;
            if !known.contains(&places[0]) {
                known.extend(places);
            }
        }
    }

    /// Macros and inlines, with all their uses; returns the names in the bodies of macros.
    fn macros(&mut self, texts: &[(SourceId, Vec<Token>)]) -> Bodies {
        let mut bodies = Bodies::default();
        let mut known: FxHashMap<Arc<str>, usize> = FxHashMap::default();
        for (_, list) in texts {
            for (index, token) in list.iter().enumerate() {
                let name = |ahead: usize| list.get(index + ahead).filter(|token| token.is(Kind::Name));
                let is_word =
                    |ahead: usize, word: &str| name(ahead).is_some_and(|token| &*token.text == word);
                let is_define = token.is(Kind::Hash) && token.first && is_word(1, "define");
                let is_inline = token.is(Kind::Name) && &*token.text == "inline";
                let Some(defined) = (match (is_define, is_inline) {
                    (true, _) => name(2),
                    (_, true) => name(1),
                    _ => None,
                }) else {
                    continue;
                };
                if !known.contains_key(&defined.text) {
                    let symbol = Symbol::new(&*defined.text, SymbolKind::Macro, defined.span, defined.span);
                    known.insert(defined.text.clone(), self.outline.add(symbol));
                }
                if is_define {
                    note_body(&list[index + 3..], defined.span, &mut bodies);
                }
            }
        }
        for token in texts.iter().flat_map(|(_, list)| list) {
            if let Some(&symbol) = known.get(&token.text).filter(|_| token.is(Kind::Name)) {
                self.outline.symbols[symbol].uses.push(token.span);
            }
        }
        bodies
    }
}

/// Notes the names in the body of a macro, which begins behind its name.
fn note_body(tokens: &[Token], name: Span, bodies: &mut Bodies) {
    let end = tokens.iter().position(|token| matches!(token.kind, Kind::Newline | Kind::End));
    let mut line = &tokens[..end.unwrap_or(tokens.len())];
    let mut parameters: Vec<&Arc<str>> = Vec::new();
    // Parameters follow at once.
    if line.first().is_some_and(|token| token.text.as_ref() == "(" && token.span.start == name.end) {
        let close = line.iter().position(|token| token.text.as_ref() == ")").unwrap_or(0);
        parameters.extend(line[..close].iter().filter(|token| token.is(Kind::Name)).map(|token| &token.text));
        line = &line[close..];
    }
    for token in line.iter().filter(|token| token.is(Kind::Name) && !parameters.contains(&&token.text)) {
        bodies.entry(token.text.clone()).or_default().push(token.span);
    }
}

fn type_text(ty: &TypeName, sources: &SourceMap) -> String {
    sources.slice(ty.span).split_whitespace().collect::<Vec<_>>().join(" ")
}
