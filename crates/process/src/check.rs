//! Checks of names before anything is expanded: every name in the text is looked up once, also
//! in alternatives that no index ever brings to life.

use base::{Diagnostic, Fail, Sink, Span, fail};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Action, Binder, Body, Constant, Copies, Expr, ExprKind, Name, Place, State, StateIndex};
use crate::eval::{Constants, not_constant};
use crate::names::{Names, check_arity, n_indices, unknown_state};

/// The states of a body by name: how many indices, and where first.
type Families<'a> = FxHashMap<&'a str, (usize, Span)>;

/// Looks up names, and remembers which ones were used.
pub(crate) struct Checker<'a, 's> {
    constants: &'s Constants,
    sink: &'s mut Sink,
    /// Whether constants may be missing because they could not be read.
    lenient: bool,
    /// The constants that were met.
    used: &'s mut FxHashSet<String>,
    /// The actions by name: how many indices, and where first.
    actions: FxHashMap<&'a str, (usize, Span)>,
    locals: Vec<Name<'a>>,
}

impl<'a, 's> Checker<'a, 's> {
    pub(crate) fn new(
        constants: &'s Constants,
        sink: &'s mut Sink,
        used: &'s mut FxHashSet<String>,
        lenient: bool,
    ) -> Checker<'a, 's> {
        Checker { constants, sink, lenient, used, actions: FxHashMap::default(), locals: Vec::new() }
    }

    /// Notes which constants a constant is made of; they have been looked up.
    pub(crate) fn constant(&mut self, constant: &'a Constant<'a>) {
        let lenient = std::mem::replace(&mut self.lenient, true);
        self.expr(&constant.value, None);
        self.lenient = lenient;
    }

    /// Checks a process, tester or spec; says whether it is good.
    pub(crate) fn body(&mut self, owner: Name<'a>, parameters: &'a [Binder<'a>], body: &'a Body<'a>) -> bool {
        let n_errors = self.sink.n_errors();
        self.binders(parameters);
        let families = self.families(owner, body);
        for state in &body.states {
            self.state(owner, state, &families, body);
        }
        for entry in &body.alphabet {
            let n_outer = self.locals.len();
            self.copies(&entry.copies);
            self.action(&entry.what);
            self.locals.truncate(n_outer);
        }
        if let Some(initial) = &body.initial {
            self.target(owner, initial, &families, body);
            self.indices(&initial.indices, false);
        }
        for (_, entry) in &body.marks {
            let n_outer = self.locals.len();
            self.copies(&entry.copies);
            self.target(owner, &entry.what, &families, body);
            self.indices(&entry.what.indices, true);
            self.locals.truncate(n_outer);
        }
        self.locals.clear();
        !body.broken && self.sink.n_errors() == n_errors
    }

    /// Collects the states, and checks that each is declared once.
    fn families(&mut self, owner: Name<'a>, body: &'a Body<'a>) -> Families<'a> {
        let mut families = Families::default();
        for state in &body.states {
            let (name, arity) = (state.name, state.indices.len());
            let &mut (first_arity, first) = families.entry(name.text).or_insert((arity, name.span));
            if first == name.span {
                continue;
            }
            let error = if arity != first_arity {
                let message = format!(
                    "the state `{}` is declared with {} and with {}",
                    name.text,
                    n_indices(first_arity),
                    n_indices(arity)
                );
                fail("wrong-indices", message, name.span, "")
            } else if arity == 0 {
                duplicate_state(owner.text, name.text, name.span)
            } else {
                continue; // Which indices there are is known later.
            };
            self.sink.push(error.with_related(first, "first declared here"));
        }
        if families.is_empty() && !body.broken {
            let message = format!("`{}` has no states", owner.text);
            let error = fail("no-states", message, owner.span, "");
            self.sink.push(error.with_help("a state without moves is written `end: ;`"));
        }
        families
    }

    fn state(&mut self, owner: Name<'a>, state: &'a State<'a>, families: &Families<'a>, body: &'a Body<'a>) {
        let n_outer = self.locals.len();
        for index in &state.indices {
            match index {
                StateIndex::Binder(binder) => self.binder(binder),
                StateIndex::Value(value) => self.expr(value, None),
            }
        }
        for alternative in &state.alternatives {
            let n_state = self.locals.len();
            self.copies(&alternative.copies);
            self.action(&alternative.action);
            self.target(owner, &alternative.target, families, body);
            self.indices(&alternative.target.indices, false);
            self.locals.truncate(n_state);
        }
        self.locals.truncate(n_outer);
    }

    fn target(&mut self, owner: Name<'a>, place: &'a Place<'a>, families: &Families<'a>, body: &'a Body<'a>) {
        match families.get(place.name.text) {
            Some(&(arity, _)) => {
                let checked = check_arity("the state", place, arity);
                self.sink.take(checked);
            }
            None if body.broken || families.is_empty() => {} // Told already.
            None => {
                let known = if self.sink.is_full() { &[] } else { body.states.as_slice() };
                let names = known.iter().map(|state| state.name.text);
                self.sink.push(*unknown_state(place, owner.text, names));
            }
        }
    }

    fn action(&mut self, action: &'a Action<'a>) {
        match action {
            Action::Quoted(text) if text.text.trim().is_empty() => {
                self.sink.push(*fail("syntax", "an action needs a name", text.span, "empty"));
            }
            Action::Tau(_) | Action::Quoted(_) => {}
            Action::Indexed(place) => {
                self.indices(&place.indices, false);
                let arity = place.indices.len();
                let &mut (first_arity, first) =
                    self.actions.entry(place.name.text).or_insert((arity, place.span));
                if arity != first_arity {
                    let message = format!(
                        "the action `{}` has {} here and {} elsewhere: these are different actions",
                        place.name.text,
                        n_indices(arity),
                        n_indices(first_arity)
                    );
                    let warning = Diagnostic::warning("different-indices", message).at(place.span, "");
                    self.sink.push(warning.with_related(first, "elsewhere"));
                }
            }
        }
    }

    /// Brings the variables of `for` into scope and checks the conditions.
    fn copies(&mut self, copies: &'a Copies<'a>) {
        self.binders(&copies.binders);
        copies.conditions.iter().for_each(|condition| self.expr(condition, None));
    }

    fn binders(&mut self, binders: &'a [Binder<'a>]) {
        binders.iter().for_each(|binder| self.binder(binder));
    }

    /// Brings a variable into scope.
    fn binder(&mut self, binder: &'a Binder<'a>) {
        self.expr(&binder.range.from, None);
        self.expr(&binder.range.to, None);
        let name = binder.name;
        let local = self.locals.iter().find(|local| local.text == name.text).map(|local| local.span);
        if let Some(first) = local.or_else(|| self.constants.span(name.text)) {
            let kind = if local.is_some() { "variable" } else { "constant" };
            let message = format!("`{}` is already the name of a {kind}", name.text);
            let error = fail("duplicate-parameter", message, name.span, "declared again");
            self.sink.push(error.with_related(first, "first declared here"));
        }
        self.locals.push(name);
    }

    fn indices(&mut self, indices: &'a [Expr<'a>], all_allowed: bool) {
        for index in indices {
            if !(all_allowed && matches!(index.kind, ExprKind::All)) {
                self.expr(index, None);
            }
        }
    }

    /// Checks an expression. Processes may be asked where they are if `names` knows them.
    pub(crate) fn expr(&mut self, expr: &'a Expr<'a>, names: Option<&Names>) {
        match &expr.kind {
            ExprKind::Int(_) => {}
            ExprKind::Name(name) => self.name(Name { text: name, span: expr.span }, names),
            ExprKind::Unary(_, operand) => self.expr(operand, names),
            ExprKind::Chain(first, rest) => {
                self.expr(first, names);
                rest.iter().for_each(|(_, operand)| self.expr(operand, names));
            }
            ExprKind::At(at) if names.is_some() => {
                let checked = names.map_or(Ok(()), |names| check_at(&at.0, &at.1, names));
                self.sink.take(checked);
                self.indices(&at.0.indices, false);
                self.indices(&at.1.indices, true);
            }
            ExprKind::Quantified(_, binders, body) if names.is_some() => {
                let n_outer = self.locals.len();
                self.binders(binders);
                self.expr(body, names);
                self.locals.truncate(n_outer);
            }
            ExprKind::At(_) | ExprKind::Quantified(..) | ExprKind::All => {
                self.sink.push(*not_constant(expr));
            }
        }
    }

    fn name(&mut self, name: Name<'a>, names: Option<&Names>) {
        if self.locals.iter().any(|local| local.text == name.text) {
            return;
        }
        if self.constants.get(name.text).is_some() {
            if !self.used.contains(name.text) {
                self.used.insert(name.text.to_owned());
            }
            return;
        }
        if self.lenient {
            return;
        }
        let error = fail("unknown-name", format!("unknown name `{}`", name.text), name.span, "not declared");
        let is_process = names.is_some_and(|names| names.get(name.text).is_some());
        self.sink.push(if is_process {
            error.with_help(format!("whether a process is in a state is written `{}@state`", name.text))
        } else {
            let known = self.locals.iter().rev().map(|local| local.text).chain(self.constants.names());
            error.suggesting(name.text, known)
        });
    }
}

/// A state that is declared twice.
pub(crate) fn duplicate_state(owner: &str, state: &str, span: Span) -> Fail {
    fail("duplicate-state", format!("`{owner}` has two states `{state}`"), span, "declared again")
}

/// Checks the names of `process@state`, and how many indices they have.
fn check_at(process: &Place<'_>, state: &Place<'_>, names: &Names) -> Result<(), Fail> {
    let group = names.group(process)?;
    if group.broken {
        return Ok(());
    }
    group.members.check_arity("the process", process)?;
    // States may depend on the parameters: then some member must have the state.
    let mut members = group.range.clone().map(|member| &names.states[member]);
    match members.find_map(|states| states.families.get(state.name.text)) {
        Some(family) => family.check_arity("the state", state),
        None => names.states[group.range.start].family(state, &group.name).map(|_| ()),
    }
}
