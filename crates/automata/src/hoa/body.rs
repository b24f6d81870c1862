//! Reading the states and edges of the HOA format.

use base::{Diagnostic, Span};

use crate::hoa::kinds::Kind;
use crate::hoa::lexer::Token;
use crate::hoa::reader::{RawEdge, RawState, Reader, fail};
use crate::label::Label;
use crate::tgba::Marks;

/// With more propositions implicit labels are refused.
const MAX_IMPLICIT: usize = 16;

/// The body.
impl Reader<'_, '_> {
    pub(super) fn body(&mut self) -> Result<(), Diagnostic> {
        loop {
            let (token, span) = self.next();
            match token {
                Token::Header(name) if name == "State" => self.state()?,
                Token::Mark("END") => return Ok(()),
                Token::Mark("ABORT") => {
                    return fail(*span, "hoa-aborted", "the automaton was aborted by its writer");
                }
                Token::End => {
                    return fail(*span, "hoa-truncated", "the automaton is cut off: `--END--` is missing");
                }
                found => {
                    return fail(
                        *span,
                        "hoa-syntax",
                        format!("expected `State:` or `--END--`, found {found}"),
                    );
                }
            }
        }
    }

    pub(super) fn state(&mut self) -> Result<(), Diagnostic> {
        let held = self.budget.tick().and_then(|()| self.budget.hold(2 * size_of::<RawState>() as u64));
        self.within(held)?;
        let state_label = self.label_in_brackets()?;
        let (source, span) = (self.number("the number of a state")?, self.span_before());
        if let Some((count, _)) = self.states
            && source >= count
        {
            return fail(
                span,
                "hoa-count",
                format!("there is no state {source}: `States:` announces {count}"),
            );
        }
        if matches!(self.peek(), Token::Text(_)) {
            self.next();
        }
        let marks_span = self.span();
        let state = RawState { label: state_label, marks: self.marks()?, span };
        let (kind, state_marks) = (self.kind(), state.marks);
        if kind != Kind::Tgba {
            kind.check_state(&state, marks_span)?;
        }
        if self.defined.insert(source, state).is_some() {
            return fail(span, "hoa-syntax", format!("state {source} is defined twice"));
        }
        let first = self.edges.len();
        while matches!(self.peek(), Token::Punctuation('[') | Token::Number(_)) {
            match kind {
                Kind::Tgba => self.edge(source, state_label, state_marks)?,
                _ => self.edge_of_kind(kind, source)?,
            }
        }
        if kind == Kind::Tgba { self.implicit_labels(first, span) } else { Ok(()) }
    }

    pub(super) fn span_before(&self) -> Span {
        self.tokens[self.at - 1].1
    }

    pub(super) fn edge(
        &mut self,
        source: u64,
        state_label: Option<Label>,
        state_marks: Marks,
    ) -> Result<(), Diagnostic> {
        let start = self.span();
        let held = self.budget.tick().and_then(|()| self.budget.hold(size_of::<RawEdge>() as u64));
        self.within(held)?;
        let label = self.label_in_brackets()?;
        if label.is_some() && state_label.is_some() {
            return fail(start, "hoa-syntax", "both the state and the edge have a label");
        }
        let (target, span) = self.target()?;
        let marks = self.marks()?.union(state_marks);
        self.edges.push(RawEdge { source, target, label: label.or(state_label), marks, span });
        Ok(())
    }

    /// The state that an edge leads to, and where it is written.
    pub(super) fn target(&mut self) -> Result<(u64, Span), Diagnostic> {
        let (target, span) = (self.number("the number of a state")?, self.span_before());
        if *self.peek() == Token::Punctuation('&') {
            return fail(self.span(), "hoa-alternation", "alternating automata are not supported");
        }
        if let Some((count, _)) = self.states
            && target >= count
        {
            return fail(
                span,
                "hoa-count",
                format!("there is no state {target}: `States:` announces {count}"),
            );
        }
        Ok((target, span))
    }

    pub(super) fn marks(&mut self) -> Result<Marks, Diagnostic> {
        let mut marks = Marks::NONE;
        if !self.eat('{') {
            return Ok(marks);
        }
        while !self.eat('}') {
            let (set, span) = (self.number("the number of an acceptance set")?, self.span_before());
            let Some(condition) = &self.acceptance else { return Ok(marks) };
            match condition.ours.get(usize::try_from(set).unwrap_or(usize::MAX)) {
                Some(Some(mark)) => marks = marks.union(Marks::single(*mark)),
                Some(None) => {}
                None => return fail(span, "hoa-count", format!("there is no acceptance set {set}")),
            }
        }
        Ok(marks)
    }

    /// Edges without labels stand for all valuations in order, proposition 0 in the lowest bit.
    pub(super) fn implicit_labels(&mut self, first: usize, state: Span) -> Result<(), Diagnostic> {
        let unlabeled = self.edges[first..].iter().filter(|edge| edge.label.is_none()).count();
        if unlabeled == 0 {
            return Ok(());
        }
        let propositions = self.propositions.clone().unwrap_or_default();
        if unlabeled < self.edges.len() - first || propositions.len() > MAX_IMPLICIT {
            return fail(state, "hoa-implicit", "some edges of this state have no label");
        }
        if unlabeled != 1 << propositions.len() {
            let message =
                format!("{} edges without labels are needed, not {unlabeled}", 1 << propositions.len());
            return fail(state, "hoa-implicit", message);
        }
        for valuation in 0..unlabeled {
            let mut label = Label::TRUE;
            for (index, &prop) in propositions.iter().enumerate() {
                let holds = self.labels.prop(prop);
                let literal = if valuation >> index & 1 == 1 { holds } else { self.labels.not(holds) };
                label = self.labels.and(label, literal);
            }
            let told = self.labels.tell(self.budget);
            self.within(told)?;
            self.edges[first + valuation].label = Some(label);
        }
        Ok(())
    }
}
