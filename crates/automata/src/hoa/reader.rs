//! Reading the HOA format: headers, then states with their edges, then checks that all fits.

use base::{Budget, Diagnostic, Limit, SourceId, Span};
use ltl::{Formulas, Prop};
use rustc_hash::FxHashMap;

use crate::any::AnyAutomaton;
use crate::gave_up::Unread;
use crate::hoa::kinds::{Kind, Set};
use crate::hoa::lexer::{Token, tokens};
use crate::label::{Label, Labels, MAX_VARIABLES};
use crate::tgba::{Edge, Marks, State, Tgba};
use crate::work::holding;

/// Automata of more states are refused.
const MAX_STATES: u64 = 10_000_000;

/// An automaton that was read, with its name if it has one.
#[derive(Clone, Debug)]
pub struct Named {
    /// What the header `name:` says.
    pub name: Option<String>,
    /// The automaton.
    pub automaton: AnyAutomaton,
}

/// All automata of a text, of any kind, one after the other. Their propositions become propositions of the
/// pool.
///
/// ```
/// # use stubborn_automata::{AnyAutomaton, hoa};
/// let mut formulas = ltl::Formulas::new();
/// let text = r#"HOA: v1 stubborn-kind: TA Start: 0 Start: 1 AP: 1 "p" Sets: livelock Acceptance: 1 f
///               --BODY-- State: [!0] 0 [0] 1 State: [0] 1 {0} [0] 0 --END--"#;
/// let budget = &mut base::Budget::unlimited();
/// let found = hoa::read_any(&mut formulas, text, base::SourceId::new(0), budget).unwrap();
/// let [hoa::Named { automaton: AnyAutomaton::Ta(ta), .. }] = &found[..] else { panic!() };
/// assert_eq!((ta.n_states(), ta.n_steps(), ta.initial().len()), (2, 2, 2));
/// ```
///
/// # Errors
/// The first mistake, with its place; or the budget is spent.
pub fn read_any(
    formulas: &mut Formulas,
    text: &str,
    source: SourceId,
    budget: &mut Budget<'_>,
) -> Result<Vec<Named>, Unread> {
    holding(budget, |budget| {
        let tokens = tokens(text, source, budget)?;
        let mut found = vec![];
        let mut at = 0;
        while tokens[at].0 != Token::End {
            let mut reader = Reader::new(formulas, &tokens, at, budget);
            let body = reader.read_headers()?;
            reader.body()?;
            let automaton = match reader.kind() {
                Kind::Tgba => AnyAutomaton::Tgba(reader.build(body)?),
                kind => reader.build_kind(kind, body)?,
            };
            found.push(Named { name: reader.name.take(), automaton });
            at = reader.at;
        }
        Ok(found)
    })
}

/// A state as written.
pub(super) struct RawState {
    pub(super) label: Option<Label>,
    pub(super) marks: Marks,
    pub(super) span: Span,
}

/// An edge as written; label and marks of a TGBA are the state's, too.
pub(super) struct RawEdge {
    pub(super) source: u64,
    pub(super) target: u64,
    pub(super) label: Option<Label>,
    pub(super) marks: Marks,
    pub(super) span: Span,
}

/// An acceptance condition.
pub(super) struct Condition {
    /// For each mark of the text ours, if acceptance asks for it.
    pub(super) ours: Vec<Option<u32>>,
    pub(super) n_marks: u32,
    pub(super) span: Span,
}

pub(super) struct Reader<'r, 'w> {
    pub(super) formulas: &'r mut Formulas,
    pub(super) budget: &'r mut Budget<'w>,
    pub(super) tokens: &'r [(Token, Span)],
    pub(super) at: usize,
    pub(super) labels: Labels,
    pub(super) name: Option<String>,
    /// What `stubborn-kind:` says.
    pub(super) kind: Option<(Kind, Span)>,
    /// What `Sets:` says.
    pub(super) sets: Option<(Vec<Set>, Span)>,
    pub(super) states: Option<(u64, Span)>,
    pub(super) starts: Vec<(u64, Span)>,
    pub(super) propositions: Option<Vec<Prop>>,
    pub(super) aliases: FxHashMap<String, Label>,
    /// Nothing before the header is read.
    pub(super) acceptance: Option<Condition>,
    pub(super) defined: FxHashMap<u64, RawState>,
    pub(super) edges: Vec<RawEdge>,
}

pub(super) fn fail<T>(span: Span, code: &'static str, message: impl Into<String>) -> Result<T, Unread> {
    Err(Diagnostic::error(code, message).at(span, "").into())
}

/// Keeps what a header says, which may be there once.
pub(super) fn once<T>(place: &mut Option<T>, said: T, header: &str, span: Span) -> Result<(), Unread> {
    match place.replace(said) {
        Some(_) => fail(span, "hoa-syntax", format!("`{header}:` is given twice")),
        None => Ok(()),
    }
}

/// Words.
impl<'r, 'w> Reader<'r, 'w> {
    pub(super) fn new(
        formulas: &'r mut Formulas,
        tokens: &'r [(Token, Span)],
        at: usize,
        budget: &'r mut Budget<'w>,
    ) -> Reader<'r, 'w> {
        Reader {
            formulas,
            budget,
            tokens,
            at,
            labels: Labels::with_limit(1_000_000),
            name: None,
            kind: None,
            sets: None,
            states: None,
            starts: vec![],
            propositions: None,
            aliases: FxHashMap::default(),
            acceptance: None,
            defined: FxHashMap::default(),
            edges: vec![],
        }
    }

    pub(super) fn peek(&self) -> &'r Token {
        &self.tokens[self.at].0
    }

    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    pub(super) fn next(&mut self) -> &'r (Token, Span) {
        let token = &self.tokens[self.at];
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn unexpected<T>(&self, expected: &str) -> Result<T, Unread> {
        fail(self.span(), "hoa-syntax", format!("expected {expected}, found {}", self.peek()))
    }

    /// A number, and where it is written.
    pub(super) fn number(&mut self, expected: &str) -> Result<(u64, Span), Unread> {
        let Token::Number(number) = *self.peek() else { return self.unexpected(expected) };
        Ok((number, self.next().1))
    }

    pub(super) fn refuse_alternation(&self) -> Result<(), Unread> {
        match self.peek() {
            Token::Punctuation('&') => {
                fail(self.span(), "hoa-alternation", "alternating automata are not supported")
            }
            _ => Ok(()),
        }
    }

    pub(super) fn eat(&mut self, character: char) -> bool {
        let found = *self.peek() == Token::Punctuation(character);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn expect(&mut self, character: char) -> Result<(), Unread> {
        if self.eat(character) { Ok(()) } else { self.unexpected(&format!("`{character}`")) }
    }
}

/// Headers.
impl Reader<'_, '_> {
    /// Reads up to the body, and returns where that begins.
    fn read_headers(&mut self) -> Result<Span, Unread> {
        match self.next() {
            (Token::Header(name), _) if name == "HOA" => {}
            (found, span) => {
                let message = format!("an automaton begins with `HOA: v1`, not with {found}");
                return fail(*span, "hoa-syntax", message);
            }
        }
        match self.next() {
            (Token::Identifier(version), _) if version == "v1" => {}
            (found, span) => {
                return fail(*span, "hoa-version", format!("only version `v1` is known, not {found}"));
            }
        }
        while *self.peek() != Token::Mark("BODY") {
            self.header()?;
        }
        let body = self.next().1;
        if self.acceptance.is_none() {
            return fail(body, "hoa-syntax", "the header `Acceptance:` is missing");
        }
        self.check_kind(body)?;
        Ok(body)
    }

    pub(super) fn header(&mut self) -> Result<(), Unread> {
        let (token, span) = self.next();
        let Token::Header(name) = token else {
            return fail(*span, "hoa-syntax", format!("expected a header or `--BODY--`, found {token}"));
        };
        match name.as_str() {
            "States" => {
                let (count, place) = self.number("the number of states")?;
                if count > MAX_STATES {
                    return fail(place, "hoa-limit", format!("more than {MAX_STATES} states"));
                }
                once(&mut self.states, (count, *span), "States", *span)?;
            }
            "Start" => {
                let start = self.number("the number of a state")?;
                self.refuse_alternation()?;
                self.starts.push(start);
            }
            "AP" => self.atomic_propositions(*span)?,
            "Alias" => {
                let Token::Alias(alias) = self.peek() else { return self.unexpected("the name of an alias") };
                self.next();
                let label = self.label(0)?;
                self.aliases.insert(alias.clone(), label);
            }
            "Acceptance" => self.read_acceptance(*span)?,
            "stubborn-kind" => self.read_kind(*span)?,
            "Sets" => self.read_sets(*span)?,
            "name" => match self.next() {
                (Token::Text(text), _) => self.name = Some(text.clone()),
                (_, span) => return fail(*span, "hoa-syntax", "expected a name in quotes"),
            },
            _ => self.skip_header(name, *span)?,
        }
        Ok(())
    }

    /// Headers in lower case may be ignored; others change the meaning.
    pub(super) fn skip_header(&mut self, name: &str, span: Span) -> Result<(), Unread> {
        if name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return fail(span, "hoa-header", format!("the header `{name}:` is not supported"));
        }
        if name.starts_with("stubborn-") {
            let error = Diagnostic::error("hoa-header", format!("there is no header `{name}:`"));
            return Err(error.at(span, "").suggesting(name, ["stubborn-kind"]).into());
        }
        while !matches!(self.peek(), Token::Header(_) | Token::Mark(_) | Token::End) {
            self.next();
        }
        Ok(())
    }

    pub(super) fn atomic_propositions(&mut self, span: Span) -> Result<(), Unread> {
        let (count, _) = self.number("the number of propositions")?;
        let mut propositions = vec![];
        while let Token::Text(text) = self.peek() {
            if text.trim().is_empty() {
                return fail(self.span(), "hoa-proposition", "a proposition without a text");
            }
            propositions.push(self.formulas.proposition(text));
            self.next();
        }
        if propositions.len() as u64 != count {
            let message = format!("{count} propositions are announced, {} are named", propositions.len());
            return fail(span, "hoa-count", message);
        }
        if propositions.len() > MAX_VARIABLES {
            return fail(span, "hoa-limit", format!("more than {MAX_VARIABLES} propositions"));
        }
        once(&mut self.propositions, propositions, "AP", span)
    }
}

/// Putting it together.
impl Reader<'_, '_> {
    fn build(&mut self, body: Span) -> Result<Tgba, Unread> {
        let numbers = self.numbers(body)?;
        let n_marks = self.acceptance.as_ref().map_or(0, |acceptance| acceptance.n_marks);
        let mut automaton = Tgba::with_labels(std::mem::take(&mut self.labels), n_marks);
        automaton.declare(self.propositions.take().unwrap_or_default());
        automaton.add_states(numbers.len().saturating_sub(1));
        for edge in std::mem::take(&mut self.edges) {
            let target = state_of(&numbers, edge.target, edge.span)?;
            let label = edge.label.unwrap_or(Label::FALSE);
            let source = numbers[&edge.source];
            automaton.add(source, Edge { target, marks: edge.marks, label }, self.budget)?;
        }
        Ok(set_starts(automaton, &self.initial_states(&numbers)?, self.budget)?)
    }

    /// Our states that `Start:` names.
    pub(super) fn initial_states(&self, numbers: &FxHashMap<u64, State>) -> Result<Vec<State>, Unread> {
        self.starts.iter().map(|&(start, span)| state_of(numbers, start, span)).collect()
    }

    /// Our states, in the order of their numbers.
    pub(super) fn numbers(&self, body: Span) -> Result<FxHashMap<u64, State>, Unread> {
        if let Some((count, span)) = self.states
            && self.defined.len() as u64 != count
        {
            let message =
                format!("`States:` announces {count} states, but {} are defined", self.defined.len());
            let error = Diagnostic::error("hoa-count", message).at(span, "");
            return Err(error.with_related(body, "the states begin here").into());
        }
        let mut defined: Vec<u64> = self.defined.keys().copied().collect();
        defined.sort_unstable();
        Ok(defined.into_iter().enumerate().map(|(index, number)| (number, State::new(index))).collect())
    }
}

/// The state of this number, which is written at this place.
pub(super) fn state_of(numbers: &FxHashMap<u64, State>, number: u64, span: Span) -> Result<State, Unread> {
    match numbers.get(&number) {
        Some(&state) => Ok(state),
        None => fail(span, "hoa-count", format!("state {number} is never defined")),
    }
}

/// Makes these states initial: with more than one, a new state can do what any of them can; with none,
/// a new state can do nothing.
fn set_starts(mut automaton: Tgba, starts: &[State], budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
    if let [only] = starts {
        automaton.set_initial(*only);
        return automaton.compact(budget);
    }
    if automaton.n_edges() == 0 && automaton.n_states() == 1 {
        return automaton.compact(budget);
    }
    let initial = automaton.add_state();
    for &start in starts {
        for edge in automaton.edges(start).to_vec() {
            automaton.add(initial, edge, budget)?;
        }
    }
    automaton.set_initial(initial);
    automaton.compact(budget)
}
