//! The outline of a `.proc` file, for editors: what it declares, and where each name is used.
//!
//! Made of the syntax tree, as far as the text can be read. Names are looked up as `check` and `names` do it: variables
//! innermost first, then constants; states belong to a process; an action is declared by its first occurrence.
//! Formulas have a grammar of their own: outside quotation marks, only `process@state` and constants are names.

use base::{Budget, Sink, SourceId, Span};
use language::{Outline, Symbol, SymbolKind};
use rustc_hash::FxHashMap;

use crate::ast::{
    Action, Binder, Body, Copies, Expr, ExprKind, File, Name, Place, Process, ProcessKind, Property,
    PropertyKind, StateIndex,
};
use crate::eval::Constants;
use crate::lexer::{self, Kind};
use crate::meter::Meter;
use crate::parse;

/// What a text declares.
pub(crate) fn outline(
    text: &str,
    source: SourceId,
    given: &[(String, i64)],
    budget: &mut Budget<'_>,
) -> Outline {
    let meter = Meter::new(budget.share());
    let (file, _) = parse::file(text, source, &meter);
    // Mistakes are told elsewhere.
    let constants = Constants::new(&file.constants, given, &mut Sink::default());
    let mut walk = Walk::new(&meter);
    walk.declare(&file, &constants);
    walk.look_up(&file);
    walk.outline.finish();
    walk.outline
}

struct Walk<'a, 'm> {
    outline: Outline,
    meter: &'m Meter<'m>,
    constants: FxHashMap<&'a str, usize>,
    processes: FxHashMap<&'a str, usize>,
    /// By process or property, and name.
    states: FxHashMap<(usize, &'a str), usize>,
    actions: FxHashMap<&'a str, usize>,
    /// The testers and specifications, by their places.
    observers: FxHashMap<Span, usize>,
    /// The variables in sight, innermost last.
    locals: Vec<(&'a str, usize)>,
}

impl<'a, 'm> Walk<'a, 'm> {
    fn new(meter: &'m Meter<'m>) -> Walk<'a, 'm> {
        Walk {
            outline: Outline::default(),
            meter,
            constants: FxHashMap::default(),
            processes: FxHashMap::default(),
            states: FxHashMap::default(),
            actions: FxHashMap::default(),
            observers: FxHashMap::default(),
            locals: Vec::new(),
        }
    }

    fn symbol(&mut self, name: Name<'a>, kind: SymbolKind, extent: Span) -> usize {
        self.outline.add(Symbol::new(name.text, kind, name.span, extent))
    }

    fn use_of(&mut self, symbol: Option<usize>, place: Span) {
        if let Some(symbol) = symbol {
            self.outline.symbols[symbol].uses.push(place);
        }
    }

    /// Everything that can be named before it is declared.
    fn declare(&mut self, file: &File<'a>, constants: &Constants) {
        for constant in &file.constants {
            let symbol = self.symbol(constant.name, SymbolKind::Constant, constant.span);
            if let Some(value) = constants.get(constant.name.text) {
                self.outline.symbols[symbol].detail = format!("= {value}");
            }
            self.constants.entry(constant.name.text).or_insert(symbol);
        }
        for process in &file.processes {
            let symbol = self.symbol(process.name, SymbolKind::Process, process.span);
            self.outline.symbols[symbol].detail = describe(process);
            self.processes.entry(process.name.text).or_insert(symbol);
            if let ProcessKind::Written(body) = &process.kind {
                self.declare_states(symbol, process.span, body);
            }
        }
        for property in &file.properties {
            let symbol = self.symbol(property.name, SymbolKind::Property, property.span);
            let (detail, body) = match &property.kind {
                PropertyKind::Invariant(_) => ("an invariant", None),
                PropertyKind::Ltl(_) => ("a formula", None),
                PropertyKind::Tester(_, body) => ("a tester", Some(body)),
                PropertyKind::Spec(_, body) => ("a specification", Some(body)),
            };
            self.outline.symbols[symbol].detail = detail.to_owned();
            if let Some(body) = body {
                self.observers.insert(property.name.span, symbol);
                self.declare_states(symbol, property.span, body);
            }
        }
        if let Some(span) = file.deadlock_free {
            let mut symbol = Symbol::new("deadlock-free", SymbolKind::Property, span, span);
            symbol.detail = "something can always happen".to_owned();
            self.outline.add(symbol);
        }
    }

    fn declare_states(&mut self, owner: usize, scope: Span, body: &Body<'a>) {
        for state in &body.states {
            if let Some(&known) = self.states.get(&(owner, state.name.text)) {
                self.use_of(Some(known), state.name.span);
                continue;
            }
            let symbol = self.symbol(state.name, SymbolKind::State, state.span);
            let detail = format!("of `{}`", self.outline.symbols[owner].name);
            let its = &mut self.outline.symbols[symbol];
            (its.detail, its.parent, its.scope) = (detail, Some(owner), Some(scope));
            self.states.insert((owner, state.name.text), symbol);
        }
    }

    /// Everything else, in the order of the text.
    fn look_up(&mut self, file: &File<'a>) {
        for constant in &file.constants {
            self.expr(&constant.value);
        }
        for process in &file.processes {
            let owner = self.processes.get(process.name.text).copied();
            if let (ProcessKind::Written(body), Some(owner)) = (&process.kind, owner) {
                // Of two processes of one name, the second is a mistake.
                if self.outline.symbols[owner].definition == process.name.span {
                    self.body(owner, process.span, &process.parameters, body);
                }
            }
        }
        for property in &file.properties {
            self.property(property);
        }
        for place in file.fairness.iter().flat_map(|fairness| &fairness.processes) {
            self.use_of(self.processes.get(place.name.text).copied(), place.name.span);
            self.indices(place);
        }
    }

    fn property(&mut self, property: &Property<'a>) {
        match &property.kind {
            PropertyKind::Invariant(expr) => self.expr(expr),
            PropertyKind::Ltl(text) => self.formula(*text),
            PropertyKind::Tester(parameters, body) | PropertyKind::Spec(parameters, body) => {
                if let Some(&owner) = self.observers.get(&property.name.span) {
                    self.body(owner, property.span, parameters, body);
                }
            }
        }
    }

    fn body(&mut self, owner: usize, scope: Span, parameters: &[Binder<'a>], body: &Body<'a>) {
        self.binders(parameters, scope, Some(owner));
        for state in &body.states {
            let n_outer = self.locals.len();
            for index in &state.indices {
                match index {
                    StateIndex::Binder(binder) => self.binder(binder, state.span, Some(owner)),
                    StateIndex::Value(value) => self.expr(value),
                }
            }
            for alternative in &state.alternatives {
                let n_state = self.locals.len();
                self.copies(&alternative.copies, alternative.extent, owner);
                self.action(&alternative.action);
                self.state(owner, &alternative.target);
                self.locals.truncate(n_state);
            }
            self.locals.truncate(n_outer);
        }
        for entry in &body.alphabet {
            let n_outer = self.locals.len();
            self.copies(&entry.copies, scope, owner);
            self.action(&entry.what);
            self.locals.truncate(n_outer);
        }
        for (_, entry) in &body.marks {
            let n_outer = self.locals.len();
            self.copies(&entry.copies, scope, owner);
            self.state(owner, &entry.what);
            self.locals.truncate(n_outer);
        }
        if let Some(initial) = &body.initial {
            self.state(owner, initial);
        }
        self.locals.clear();
    }

    fn state(&mut self, owner: usize, place: &Place<'a>) {
        self.use_of(self.states.get(&(owner, place.name.text)).copied(), place.name.span);
        self.indices(place);
    }

    fn indices(&mut self, place: &Place<'a>) {
        place.indices.iter().for_each(|index| self.expr(index));
    }

    fn action(&mut self, action: &Action<'a>) {
        let Action::Indexed(place) = action else { return };
        match self.actions.get(place.name.text) {
            Some(&known) => self.use_of(Some(known), place.name.span),
            None => {
                let symbol = self.symbol(place.name, SymbolKind::Action, place.span);
                self.actions.insert(place.name.text, symbol);
            }
        }
        self.indices(place);
    }

    fn copies(&mut self, copies: &Copies<'a>, scope: Span, owner: usize) {
        self.binders(&copies.binders, scope, Some(owner));
        copies.conditions.iter().for_each(|condition| self.expr(condition));
    }

    fn binders(&mut self, binders: &[Binder<'a>], scope: Span, parent: Option<usize>) {
        binders.iter().for_each(|binder| self.binder(binder, scope, parent));
    }

    fn binder(&mut self, binder: &Binder<'a>, scope: Span, parent: Option<usize>) {
        self.expr(&binder.range.from);
        self.expr(&binder.range.to);
        let extent = binder.name.span.to(binder.range.span);
        let symbol = self.symbol(binder.name, SymbolKind::Variable, extent);
        self.outline.symbols[symbol].scope = Some(scope);
        self.outline.symbols[symbol].parent = parent;
        self.locals.push((binder.name.text, symbol));
    }

    fn expr(&mut self, expr: &Expr<'a>) {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::All => {}
            ExprKind::Name(name) => {
                let local = self.locals.iter().rev().find(|(known, _)| known == name);
                let symbol = local.map(|(_, symbol)| *symbol).or_else(|| self.constants.get(name).copied());
                self.use_of(symbol, expr.span);
            }
            ExprKind::Unary(_, operand) => self.expr(operand),
            ExprKind::Chain(first, rest) => {
                self.expr(first);
                rest.iter().for_each(|(_, operand)| self.expr(operand));
            }
            ExprKind::At(at) => {
                let process = self.processes.get(at.0.name.text).copied();
                self.use_of(process, at.0.name.span);
                self.indices(&at.0);
                match process {
                    Some(process) => self.state(process, &at.1),
                    None => self.indices(&at.1),
                }
            }
            ExprKind::Quantified(_, binders, body) => {
                let n_outer = self.locals.len();
                self.binders(binders, expr.span, None);
                self.expr(body);
                self.locals.truncate(n_outer);
            }
        }
    }

    /// The names in a formula: those in quotation marks as in any expression, the others by their signs.
    fn formula(&mut self, text: Name<'a>) {
        let Span { source, start, .. } = text.span;
        let tokens = lexer::tokens(text.text, source, start as usize, self.meter);
        let slice = |span: Span| &text.text[(span.start - start) as usize..(span.end - start) as usize];
        let mut process = None;
        for (index, token) in tokens.iter().enumerate() {
            match token.kind {
                Kind::Text => {
                    let inner = slice(token.span);
                    let inner = &inner[1..inner.len() - 1];
                    let offset = token.span.start as usize + 1;
                    if let Ok(expr) = parse::expression(inner, source, offset, self.meter) {
                        self.expr(&expr);
                    }
                }
                Kind::Name if index > 0 && tokens[index - 1].kind == Kind::At => {
                    let state = process.and_then(|process| self.states.get(&(process, slice(token.span))));
                    self.use_of(state.copied(), token.span);
                }
                Kind::Name if asks(&tokens[index + 1..]) => {
                    process = self.processes.get(slice(token.span)).copied();
                    self.use_of(process, token.span);
                }
                Kind::Name => self.use_of(self.constants.get(slice(token.span)).copied(), token.span),
                _ => {}
            }
        }
    }
}

/// Whether indices, if there are some, and an `@` follow.
fn asks(tokens: &[lexer::Token]) -> bool {
    let mut depth = 0_usize;
    for token in tokens {
        match token.kind {
            Kind::OpenBracket => depth += 1,
            Kind::CloseBracket if depth > 0 => depth -= 1,
            kind if depth == 0 => return kind == Kind::At,
            _ => {}
        }
    }
    false
}

fn describe(process: &Process<'_>) -> String {
    const MAX_NAMED: usize = 8;
    match &process.kind {
        ProcessKind::Extern(file) => format!("from `{}`", file.text),
        ProcessKind::Written(body) => {
            let mut names: Vec<&str> = Vec::new();
            for state in &body.states {
                if names.len() <= MAX_NAMED && !names.contains(&state.name.text) {
                    names.push(state.name.text);
                }
            }
            if let Some(last) = names.get_mut(MAX_NAMED) {
                *last = "…";
            }
            format!("with the states {}", names.join(", "))
        }
    }
}
