//! Expansion: a body and the values of its parameters to explicit states and moves.

use std::sync::Arc;

use base::{Diagnostic, Fail, Sink, Span};
use rustc_hash::FxHashMap;

use crate::ast::{Action, Alternative, Binder, Body, Copies, Entry, Place, StateIndex};
use crate::check::duplicate_state;
use crate::eval::{Scope, eval, for_each, mentions};
use crate::labels::{TAU, canonical};
use crate::meter::Quota;
use crate::names::{States, Table, indexed, write_indexed};

/// A move of one process, tester or spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Move {
    pub(crate) label: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Which alternative of the body it comes from, counted from the top.
    pub(crate) written: u32,
}

/// How much may still be built.
#[derive(Clone, Copy)]
pub(crate) struct Quotas<'m> {
    pub(crate) processes: Quota<'m>,
    pub(crate) states: Quota<'m>,
    pub(crate) transitions: Quota<'m>,
    /// Values that the variables of `for` and of indexed states go through.
    pub(crate) copies: Quota<'m>,
}

/// Gives a label its number; the place is for the error.
pub(crate) type Numbering<'n> = dyn FnMut(&str, Span) -> Result<u32, Fail> + 'n;

/// One expanded body.
#[derive(Debug)]
pub(crate) struct Expanded {
    pub(crate) initial: u32,
    /// Sorted by label, source and target; each once.
    pub(crate) moves: Vec<Move>,
    /// What `alphabet` or `watch` lists, with the place.
    pub(crate) alphabet: Vec<(u32, Span)>,
}

/// The states of a body, and which declaration each comes from.
#[derive(Clone, Debug)]
pub(crate) struct StateList {
    pub(crate) states: Arc<States>,
    declaration: Arc<[u32]>,
}

impl StateList {
    /// Where a state is declared.
    pub(crate) fn span(&self, state: u32, body: &Body<'_>) -> Span {
        body.states[self.declaration[state as usize] as usize].name.span
    }
}

/// Expands one body, again and again with other values of the parameters.
pub(crate) struct Expander<'a, 'q, 'm> {
    owner: &'a str,
    body: &'a Body<'a>,
    quotas: &'q mut Quotas<'m>,
    pub(crate) sink: &'q mut Sink,
    /// The states, if they are the same for all parameters.
    shared: Option<StateList>,
    /// The alternatives of all states.
    alternatives: Vec<&'a Alternative<'a>>,
    /// Per declaration of a state: whether a state came of it, and whether one was reached.
    exists: Vec<bool>,
    reached: Vec<bool>,
    /// Per alternative: whether it ever led to a move.
    alive: Vec<bool>,
}

impl<'a, 'q, 'm> Expander<'a, 'q, 'm> {
    pub(crate) fn new(
        owner: &'a str,
        body: &'a Body<'a>,
        quotas: &'q mut Quotas<'m>,
        sink: &'q mut Sink,
    ) -> Expander<'a, 'q, 'm> {
        let alternatives: Vec<_> = body.states.iter().flat_map(|state| &state.alternatives).collect();
        Expander {
            owner,
            body,
            quotas,
            sink,
            shared: None,
            exists: vec![false; body.states.len()],
            reached: vec![false; body.states.len()],
            alive: vec![false; alternatives.len()],
            alternatives,
        }
    }

    /// The states for the parameters in scope; none if there were errors.
    pub(crate) fn states(
        &mut self,
        parameters: &[Binder<'_>],
        scope: &mut Scope<'a, '_>,
    ) -> Option<StateList> {
        if let Some(shared) = &self.shared {
            return Some(shared.clone());
        }
        let list = self.build_states(scope);
        let list = self.sink.take(list)?;
        let parameters: Vec<&str> = parameters.iter().map(|parameter| parameter.name.text).collect();
        let mut headers = self.body.states.iter().flat_map(|state| &state.indices);
        if !headers.any(|index| mentions_index(index, &parameters)) {
            self.shared = Some(list.clone());
        }
        Some(list)
    }

    fn build_states(&mut self, scope: &mut Scope<'a, '_>) -> Result<StateList, Fail> {
        let (owner, body) = (self.owner, self.body);
        let (mut names, mut declaration) = (Vec::new(), Vec::new());
        let mut families: FxHashMap<String, Table> = FxHashMap::default();
        for (number, state) in body.states.iter().enumerate() {
            let family =
                families.entry(state.name.text.to_owned()).or_insert_with(|| Table::new(state.indices.len()));
            let binders = state_binders(&state.indices);
            for_each(&binders, state.name.span, scope, &mut self.quotas.states, &mut |scope| {
                let indices = state_values(&state.indices, scope)?;
                let id = names.len() as u32; // The quota keeps it small.
                names.push(indexed(state.name.text, &indices));
                declaration.push(number as u32);
                match family.insert(&indices, id) {
                    None => Ok(()),
                    Some(first) => {
                        let error = duplicate_state(owner, &names[id as usize], state.name.span);
                        let first = body.states[declaration[first as usize] as usize].name.span;
                        Err(Box::new(error.with_related(first, "first declared here")))
                    }
                }
            })?;
        }
        if names.is_empty() {
            let message = format!("`{owner}` has no states: the ranges of its indices are empty");
            let error = Diagnostic::error("no-states", message);
            let first = body.states.first().map(|state| state.name.span);
            return Err(Box::new(Diagnostic { span: first, label: "empty range".to_owned(), ..error }));
        }
        declaration.iter().for_each(|&number| self.exists[number as usize] = true);
        let states = Arc::new(States { names: names.into(), families });
        Ok(StateList { states, declaration: declaration.into() })
    }

    /// The moves for the parameters in scope; none if there were errors.
    pub(crate) fn expand(
        &mut self,
        list: &StateList,
        scope: &mut Scope<'a, '_>,
        numbering: &mut Numbering<'_>,
    ) -> Option<Expanded> {
        let n_errors = self.sink.n_errors();
        let mut moves = self.moves(&list.states, scope, numbering);
        let alphabet = self.alphabet(scope, numbering);
        let initial = match &self.body.initial {
            None => Some(0),
            Some(place) => {
                let found = find_state(&list.states, self.owner, place, scope);
                self.sink.take(found)
            }
        };
        if self.sink.n_errors() > n_errors {
            return None;
        }
        let initial = initial?;
        self.mark_reached(list, initial, &moves);
        self.drop_duplicates(&mut moves);
        Some(Expanded { initial, moves, alphabet })
    }

    /// All moves, by source.
    fn moves(
        &mut self,
        states: &States,
        scope: &mut Scope<'a, '_>,
        numbering: &mut Numbering<'_>,
    ) -> Vec<Move> {
        let mut moves = Vec::new();
        let (mut from, mut first_written) = (0u32, 0u32);
        let mut text = String::new();
        // One error for each alternative is enough.
        let mut failed = vec![false; self.alternatives.len()];
        let (owner, body) = (self.owner, self.body);
        for state in &body.states {
            let (quotas, sink, alive) = (&mut *self.quotas, &mut *self.sink, &mut self.alive);
            let binders = state_binders(&state.indices);
            let mut counted = Quota::unlimited();
            let expanded = for_each(&binders, state.name.span, scope, &mut counted, &mut |scope| {
                for (written, alternative) in (first_written..).zip(&state.alternatives) {
                    if failed[written as usize] || sink.is_full() {
                        continue;
                    }
                    let place = alternative.span();
                    let one = for_each_copy(&alternative.copies, place, scope, quotas, &mut |scope| {
                        let label = label(&alternative.action, scope, &mut text, numbering)?;
                        let to = find_state(states, owner, &alternative.target, scope)?;
                        alive[written as usize] = true;
                        moves.push(Move { label, from, to, written });
                        Ok(())
                    });
                    failed[written as usize] = sink.take(one).is_none();
                }
                from += 1;
                Ok(())
            });
            self.sink.take(expanded);
            first_written += state.alternatives.len() as u32;
        }
        moves
    }

    fn alphabet(&mut self, scope: &mut Scope<'a, '_>, numbering: &mut Numbering<'_>) -> Vec<(u32, Span)> {
        let mut alphabet = Vec::new();
        let mut text = String::new();
        for Entry { what, copies } in &self.body.alphabet {
            if self.sink.is_full() {
                break;
            }
            let listed = for_each_copy(copies, what.span(), scope, self.quotas, &mut |scope| {
                alphabet.push((label(what, scope, &mut text, numbering)?, what.span()));
                Ok(())
            });
            self.sink.take(listed);
        }
        alphabet
    }

    /// The states that the places of a clause name, in order.
    pub(crate) fn marked(
        &mut self,
        list: &StateList,
        entry: &'a Entry<'a, Place<'a>>,
        scope: &mut Scope<'a, '_>,
    ) -> Vec<u32> {
        let mut marked = Vec::new();
        let owner = self.owner;
        let listed = for_each_copy(&entry.copies, entry.what.span, scope, self.quotas, &mut |scope| {
            let family = list.states.family(&entry.what, owner)?;
            marked.extend(family.find_all("the state", &entry.what, scope)?);
            Ok(())
        });
        self.sink.take(listed);
        marked
    }

    /// Follows the moves, which are ordered by source, from the initial state.
    fn mark_reached(&mut self, list: &StateList, initial: u32, moves: &[Move]) {
        if self.reached.iter().all(|&reached| reached) {
            return;
        }
        let mut seen = vec![false; list.states.names.len()];
        seen[initial as usize] = true;
        let mut pending = vec![initial];
        while let Some(state) = pending.pop() {
            self.reached[list.declaration[state as usize] as usize] = true;
            let start = moves.partition_point(|one| one.from < state);
            for one in moves[start..].iter().take_while(|one| one.from == state) {
                if !std::mem::replace(&mut seen[one.to as usize], true) {
                    pending.push(one.to);
                }
            }
        }
    }

    fn drop_duplicates(&mut self, moves: &mut Vec<Move>) {
        moves.sort_unstable();
        let mut twice = Vec::new();
        moves.dedup_by(|later, first| {
            let same = (later.label, later.from, later.to) == (first.label, first.from, first.to);
            if same {
                twice.push(later.written);
            }
            same
        });
        twice.sort_unstable();
        twice.dedup();
        for written in twice {
            let span = self.alternatives[written as usize].span();
            let message =
                "this move exists already: the same action leads from the same state to the same state";
            self.sink.push(Diagnostic::warning("duplicate-move", message).at(span, "one too many"));
        }
    }

    /// The places of the alternatives, counted from the top of the body.
    pub(crate) fn spans(&self) -> Arc<[Span]> {
        self.alternatives.iter().map(|alternative| alternative.span()).collect()
    }

    /// Warns of states and alternatives that no process has, and of states that none reaches.
    pub(crate) fn warn(&mut self) {
        let mut alive = self.alive.iter();
        for (number, state) in self.body.states.iter().enumerate() {
            let alive = alive.by_ref().take(state.alternatives.len());
            let name = state.name;
            if !self.exists[number] {
                let message =
                    format!("the state `{}` never exists: the range of its index is empty", name.text);
                self.sink.push(Diagnostic::warning("empty-state", message).at(name.span, "empty range"));
                alive.for_each(drop);
                continue;
            }
            if !self.reached[number] {
                let message = format!("the state `{}` of `{}` cannot be reached", name.text, self.owner);
                let warning = Diagnostic::warning("unreachable-state", message);
                self.sink.push(warning.at(name.span, "no moves lead here from the initial state"));
            }
            for (alternative, &alive) in state.alternatives.iter().zip(alive) {
                // `when` may switch an alternative off on purpose.
                if !alive && alternative.copies.conditions.is_empty() {
                    let message = "this alternative never exists: a range of its `for` is empty";
                    let warning = Diagnostic::warning("empty-alternative", message);
                    self.sink.push(warning.at(alternative.span(), "empty range"));
                }
            }
        }
    }
}

fn state_binders<'a>(indices: &'a [StateIndex<'a>]) -> Vec<&'a Binder<'a>> {
    let binder = |index: &'a StateIndex<'a>| match index {
        StateIndex::Binder(binder) => Some(binder),
        StateIndex::Value(_) => None,
    };
    indices.iter().filter_map(binder).collect()
}

fn state_values(indices: &[StateIndex<'_>], scope: &Scope<'_, '_>) -> Result<Vec<i64>, Fail> {
    let value = |index: &StateIndex<'_>| match index {
        // Just bound by `for_each`.
        StateIndex::Binder(binder) => Ok(scope.get(binder.name.text).unwrap_or_default()),
        StateIndex::Value(value) => eval(value, scope),
    };
    indices.iter().map(value).collect()
}

/// Calls `visit` for the values of `for` that satisfy `when`; each call counts as a transition.
fn for_each_copy<'a, 'c>(
    copies: &'a Copies<'a>,
    place: Span,
    scope: &mut Scope<'a, 'c>,
    quotas: &mut Quotas<'_>,
    visit: &mut dyn FnMut(&mut Scope<'a, 'c>) -> Result<(), Fail>,
) -> Result<(), Fail> {
    let binders: Vec<&Binder<'_>> = copies.binders.iter().collect();
    if copies.conditions.is_empty() {
        return for_each(&binders, place, scope, &mut quotas.transitions, visit);
    }
    let transitions = &mut quotas.transitions;
    for_each(&binders, place, scope, &mut quotas.copies, &mut |scope| {
        for condition in &copies.conditions {
            if eval(condition, scope)? == 0 {
                return Ok(());
            }
        }
        transitions.take(1, place)?;
        visit(scope)
    })
}

/// The number of an action's label; `text` is a buffer.
fn label(
    action: &Action<'_>,
    scope: &Scope<'_, '_>,
    text: &mut String,
    numbering: &mut Numbering<'_>,
) -> Result<u32, Fail> {
    match action {
        Action::Tau(_) => Ok(TAU),
        Action::Quoted(quoted) => numbering(&canonical(quoted.text), quoted.span),
        Action::Indexed(place) => {
            let mut indices = Vec::with_capacity(place.indices.len());
            for index in &place.indices {
                indices.push(eval(index, scope)?);
            }
            text.clear();
            write_indexed(text, place.name.text, &indices);
            numbering(text, place.span)
        }
    }
}

fn find_state(states: &States, owner: &str, place: &Place<'_>, scope: &Scope<'_, '_>) -> Result<u32, Fail> {
    states.family(place, owner)?.find("the state", place, scope)
}

/// Whether a state's index depends on one of the names.
fn mentions_index(index: &StateIndex<'_>, names: &[&str]) -> bool {
    match index {
        StateIndex::Binder(binder) => {
            mentions(&binder.range.from, names) || mentions(&binder.range.to, names)
        }
        StateIndex::Value(value) => mentions(value, names),
    }
}
