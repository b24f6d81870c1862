//! Never claims, the Büchi automata of Spin: [`read`] and [`write()`].
//!
//! # Idea
//! A claim is a list of labeled statements, one per state: `if` or `do` with options
//! `:: guard -> goto state`, `skip`, `false`, or `goto`. States whose names begin with `accept` are
//! accepting; the first is initial. A claim that runs past its end accepts whatever follows.
//! Guards are parsed as formulas, so propositions may be any expressions of the model.
//!
//! # Requirements and limits
//! Only the form that translators write: one statement per state, no variables.
//!
//! # References
//! [holzmann.97.tse]

use std::fmt;

use base::text::Shown;
use base::{Budget, Diagnostic, Limit, SourceId, Span};
use ltl::{Formula, Formulas, Node};
use rustc_hash::FxHashMap;

use crate::dot::disjunction;
use crate::gave_up::Unread;
use crate::label::{Label, Labels, MAX_VARIABLES};
use crate::tgba::{Edge, Marks, State, Tgba};
use crate::work::holding;

/// The automaton as a never claim, or nothing if it is not a Büchi automaton with marks on states.
///
/// ```
/// # use stubborn_automata::{Effort, Placement, never, translate_ba};
/// let mut formulas = ltl::Formulas::new();
/// let formula = ltl::parse(&mut formulas, "F (x > 0)", base::SourceId::new(0), 0).unwrap().formula;
/// let budget = &mut base::Budget::unlimited();
/// let ba = translate_ba(&mut formulas, formula, Effort::High, Placement::States, budget).unwrap();
/// let text = never::write(&ba, &formulas, None).unwrap().to_string();
/// assert!(text.contains(":: ((x > 0)) -> goto accept_all"));
/// let again = never::read(&mut formulas, &text, base::SourceId::new(0), budget).unwrap();
/// assert_eq!((again.n_states(), again.n_edges()), (2, 3));
/// ```
pub fn write(tgba: &Tgba, formulas: &Formulas, name: Option<&str>) -> Option<impl fmt::Display> {
    let is_claim = tgba.n_marks() <= 1 && tgba.is_state_based();
    is_claim.then_some(Shown(move |f: &mut fmt::Formatter<'_>| {
        match name {
            Some(name) => writeln!(f, "never {{ /* {} */", name.replace("*/", "* /"))?,
            None => f.write_str("never {\n")?,
        }
        let others = tgba.states().filter(|&state| state != tgba.initial());
        for state in std::iter::once(tgba.initial()).chain(others) {
            writeln!(f, "{}:", state_name(tgba, state))?;
            if accepts_all(tgba, state) {
                f.write_str("  do\n  :: (1)\n  od;\n")?;
                continue;
            }
            if tgba.edges(state).is_empty() {
                f.write_str("  false;\n")?;
                continue;
            }
            f.write_str("  if\n")?;
            for edge in tgba.edges(state) {
                let name = |prop| format!("({})", formulas.text(prop));
                let guard = disjunction(tgba.labels(), edge.label, ["1", "0", "!", " && ", " || "], name);
                writeln!(f, "  :: ({guard}) -> goto {}", state_name(tgba, edge.target))?;
            }
            f.write_str("  fi;\n")?;
        }
        f.write_str("}\n")
    }))
}

fn is_accepting(tgba: &Tgba, state: State) -> bool {
    tgba.n_marks() == 0 || tgba.edges(state).iter().any(|edge| edge.marks != Marks::NONE)
}

fn accepts_all(tgba: &Tgba, state: State) -> bool {
    let edges = tgba.edges(state);
    is_accepting(tgba, state) && matches!(edges, [only] if only.target == state && only.label == Label::TRUE)
}

fn state_name(tgba: &Tgba, state: State) -> String {
    let number = state.index();
    match (state == tgba.initial(), is_accepting(tgba, state)) {
        (true, true) => "accept_init".into(),
        (true, false) => "T0_init".into(),
        (false, true) if accepts_all(tgba, state) => format!("accept_all{number}"),
        (false, true) => format!("accept_S{number}"),
        (false, false) => format!("T0_S{number}"),
    }
}

/// The automaton of a never claim, with one mark, on states.
///
/// # Errors
/// The first mistake, with its place; or the budget is spent.
pub fn read(
    formulas: &mut Formulas,
    text: &str,
    source: SourceId,
    budget: &mut Budget<'_>,
) -> Result<Tgba, Unread> {
    holding(budget, |budget| {
        let labels = Labels::with_limit(1_000_000);
        let mut reader = Reader { formulas, text, source, at: 0, labels, budget };
        let statements = reader.claim()?;
        build(&statements, reader.labels, budget)
    })
}

/// Where an option leads.
enum Goal {
    Named(String, Span),
    Itself,
    /// The next statement, or past the end of the claim.
    Next,
    /// Whatever follows is accepted.
    Everything,
}

struct Statement {
    names: Vec<(String, Span)>,
    options: Vec<(Label, Goal)>,
}

struct Reader<'r, 'w> {
    formulas: &'r mut Formulas,
    budget: &'r mut Budget<'w>,
    text: &'r str,
    source: SourceId,
    at: usize,
    labels: Labels,
}

impl<'r> Reader<'r, '_> {
    fn rest(&self) -> &'r str {
        &self.text[self.at..]
    }

    fn fail<T>(&self, start: usize, message: impl Into<String>) -> Result<T, Unread> {
        let next = self.text[start..].chars().next().map_or(0, char::len_utf8);
        let span = Span::new(self.source, start, start + next);
        Err(Diagnostic::error("never-claim", message).at(span, "").into())
    }

    fn expected<T>(&self, what: &str) -> Result<T, Unread> {
        let found: String = self.rest().chars().take(12).take_while(|c| !c.is_whitespace()).collect();
        let found = if found.is_empty() { "the end of the text".into() } else { format!("`{found}`") };
        self.fail(self.at, format!("expected {what}, found {found}"))
    }

    fn skip_blanks(&mut self) -> Result<(), Unread> {
        loop {
            self.at += self.rest().len() - self.rest().trim_start().len();
            let (end, len) = match self.rest() {
                rest if rest.starts_with("/*") => (rest.find("*/"), 2),
                rest if rest.starts_with("//") => (Some(rest.find('\n').unwrap_or(rest.len())), 0),
                _ => return Ok(()),
            };
            match end {
                Some(end) => self.at += end + len,
                None => return self.fail(self.at, "this comment is never closed"),
            }
        }
    }

    fn eat(&mut self, sign: &str) -> Result<bool, Unread> {
        self.skip_blanks()?;
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        Ok(found)
    }

    fn expect(&mut self, sign: &str) -> Result<(), Unread> {
        if self.eat(sign)? { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }

    /// The next word without taking it; may be empty.
    fn peek_word(&mut self) -> Result<&'r str, Unread> {
        self.skip_blanks()?;
        let end = self.rest().find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        Ok(&self.rest()[..end.unwrap_or(self.rest().len())])
    }

    fn eat_word(&mut self, word: &str) -> Result<bool, Unread> {
        let found = self.peek_word()? == word;
        if found {
            self.at += word.len();
        }
        Ok(found)
    }

    fn name(&mut self) -> Result<(String, Span), Unread> {
        let name = self.peek_word()?;
        if name.is_empty() {
            return self.expected("the name of a state");
        }
        let span = Span::new(self.source, self.at, self.at + name.len());
        self.at += name.len();
        Ok((name.to_owned(), span))
    }
}

/// Statements.
impl Reader<'_, '_> {
    fn claim(&mut self) -> Result<Vec<Statement>, Unread> {
        if !self.eat_word("never")? {
            return self.expected("`never`");
        }
        if !self.peek_word()?.is_empty() {
            self.name()?;
        }
        self.expect("{")?;
        let mut statements = vec![];
        while !self.eat("}")? {
            let statement = self.statement()?;
            statements.push(statement);
            while self.eat(";")? {}
        }
        self.skip_blanks()?;
        if self.rest().is_empty() { Ok(statements) } else { self.expected("nothing after the claim") }
    }

    fn statement(&mut self) -> Result<Statement, Unread> {
        let mut names = vec![];
        loop {
            let before = self.at;
            let word = self.peek_word()?;
            let is_name = !word.is_empty() && self.rest()[word.len()..].trim_start().starts_with(':');
            if !is_name || self.rest()[word.len()..].trim_start().starts_with("::") {
                self.at = before;
                break;
            }
            names.push(self.name()?);
            self.expect(":")?;
        }
        let options = match self.peek_word()? {
            "if" => self.options("if", "fi", false)?,
            "do" => self.options("do", "od", true)?,
            "skip" | "true" | "1" => {
                self.name()?;
                vec![(Label::TRUE, Goal::Next)]
            }
            "false" | "0" => {
                self.name()?;
                vec![]
            }
            "goto" => {
                self.name()?;
                let (name, span) = self.name()?;
                return self.fail(span.start as usize, format!("`goto {name}` alone: a state needs a guard"));
            }
            _ if self.eat("(1)")? => vec![(Label::TRUE, Goal::Next)],
            _ => return self.expected("`if`, `do`, `skip` or `false`"),
        };
        Ok(Statement { names, options })
    }

    fn options(&mut self, open: &str, close: &str, repeats: bool) -> Result<Vec<(Label, Goal)>, Unread> {
        self.eat_word(open)?;
        let mut options = vec![];
        while !self.eat_word(close)? {
            self.expect("::")?;
            if self.eat_word("atomic")? {
                options.push(self.violation()?);
            } else {
                let guard = self.guard()?;
                options.push((guard, self.goal(repeats)?));
            }
            while self.eat(";")? {}
        }
        Ok(options)
    }

    /// `atomic { (guard) -> assert(!(guard)) }`: whatever follows is accepted.
    fn violation(&mut self) -> Result<(Label, Goal), Unread> {
        self.expect("{")?;
        let guard = self.guard()?;
        match self.rest().find('}') {
            Some(end) => self.at += end + 1,
            None => return self.fail(self.at, "`atomic {` is never closed"),
        }
        Ok((guard, Goal::Everything))
    }

    fn goal(&mut self, repeats: bool) -> Result<Goal, Unread> {
        if !self.eat("->")? && !self.eat(";")? {
            return Ok(if repeats { Goal::Itself } else { Goal::Next });
        }
        if self.eat_word("goto")? {
            let (name, span) = self.name()?;
            return Ok(Goal::Named(name, span));
        }
        match self.peek_word()? {
            "break" | "skip" => {
                let word = self.name()?.0;
                Ok(if repeats && word == "skip" { Goal::Itself } else { Goal::Next })
            }
            "fi" | "od" => Ok(if repeats { Goal::Itself } else { Goal::Next }),
            _ => self.expected("`goto`, `break` or `skip`"),
        }
    }

    /// A guard: everything up to `->`, `;`, `::` or the end of the options, outside parentheses.
    fn guard(&mut self) -> Result<Label, Unread> {
        self.skip_blanks()?;
        let (start, end) = (self.at, self.at + guard_length(self.rest()));
        self.at = end;
        let parsed = ltl::parse(self.formulas, &self.text[start..end], self.source, start)?;
        if !self.formulas.classes(parsed.formula).is_propositional() {
            return self.fail(start, "a guard cannot contain temporal operators");
        }
        if self.formulas.subformulas(parsed.formula).len() > MAX_VARIABLES {
            return self.fail(start, "this guard is too large");
        }
        let label = propositional(self.formulas, &mut self.labels, parsed.formula, self.budget)?;
        if self.labels.is_exhausted() { self.fail(start, "the guards are too large") } else { Ok(label) }
    }
}

fn guard_length(text: &str) -> usize {
    let mut depth = 0usize;
    let mut quoted = false;
    for (at, character) in text.char_indices() {
        let rest = &text[at..];
        match character {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            ';' | '}' => return at,
            _ if rest.starts_with("->") || rest.starts_with("::") => return at,
            'f' | 'o' if starts_with_word(rest, "fi") || starts_with_word(rest, "od") => {
                let fresh = text[..at].ends_with(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                if fresh {
                    return at;
                }
            }
            _ => {}
        }
    }
    text.len()
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

/// The label of a formula without temporal operators.
pub(crate) fn propositional(
    formulas: &Formulas,
    labels: &mut Labels,
    formula: Formula,
    budget: &mut Budget<'_>,
) -> Result<Label, Limit> {
    let mut done: FxHashMap<Formula, Label> = FxHashMap::default();
    for subformula in formulas.subformulas(formula) {
        let label = match formulas.node(subformula) {
            Node::True => Label::TRUE,
            Node::Prop(prop) => labels.prop(prop),
            Node::Not(a) => labels.with(budget).not(done[&a])?,
            Node::And(list) => {
                list.iter().try_fold(Label::TRUE, |all, a| labels.with(budget).and(all, done[a]))?
            }
            Node::Or(list) => labels.with(budget).any(list.iter().map(|a| done[a]))?,
            Node::Implies(a, b) => {
                let not = labels.with(budget).not(done[&a])?;
                labels.with(budget).or(not, done[&b])?
            }
            Node::Equivalent(a, b) | Node::Xor(a, b) => {
                let (a, b) = (done[&a], done[&b]);
                let (left, right) = (labels.with(budget).minus(a, b)?, labels.with(budget).minus(b, a)?);
                let xor = labels.with(budget).or(left, right)?;
                match formulas.node(subformula) {
                    Node::Xor(..) => xor,
                    _ => labels.with(budget).not(xor)?,
                }
            }
            // `false`; the caller has excluded temporal operators.
            _ => Label::FALSE,
        };
        done.insert(subformula, label);
    }
    Ok(done[&formula])
}

fn build(statements: &[Statement], labels: Labels, budget: &mut Budget<'_>) -> Result<Tgba, Unread> {
    let mut numbers: FxHashMap<String, usize> = FxHashMap::default();
    for (index, statement) in statements.iter().enumerate() {
        for (name, span) in &statement.names {
            if numbers.insert(name.clone(), index).is_some() {
                let message = format!("the state `{name}` is defined twice");
                return Err(Diagnostic::error("never-claim", message).at(*span, "").into());
            }
        }
    }
    // The last state accepts everything: a run that is past the end of the claim.
    let everything = statements.len();
    let mut tgba = Tgba::with_labels(labels, 1);
    tgba.add_states(everything);
    tgba.add_edge(State::new(everything), Label::TRUE, Marks::single(0), State::new(everything));
    for (index, statement) in statements.iter().enumerate() {
        let accepting = statement.names.iter().any(|(name, _)| name.starts_with("accept"));
        let marks = if accepting { Marks::single(0) } else { Marks::NONE };
        for (label, goal) in &statement.options {
            let target = match goal {
                Goal::Itself => index,
                Goal::Next => index + 1,
                Goal::Everything => everything,
                Goal::Named(name, span) => match numbers.get(name) {
                    Some(&target) => target,
                    None => {
                        let mut known: Vec<&str> = numbers.keys().map(String::as_str).collect();
                        known.sort_unstable();
                        let error = Diagnostic::error("never-claim", format!("there is no state `{name}`"));
                        return Err(error.at(*span, "").suggesting(name, known).into());
                    }
                },
            };
            let edge = Edge { target: State::new(target), marks, label: *label };
            tgba.add(State::new(index), edge, budget)?;
        }
    }
    let occurring = tgba.labels().propositions(tgba.all_edges().iter().flatten().map(|edge| edge.label));
    tgba.declare(occurring);
    Ok(crate::clean::trim(tgba, budget)?)
}
