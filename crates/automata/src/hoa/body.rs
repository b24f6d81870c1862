//! Reading the states and edges of the HOA format.

use base::Span;

use crate::by_change::PropSet;
use crate::gave_up::Unread;
use crate::hoa::kinds::Kind;
use crate::hoa::lexer::Token;
use crate::hoa::reader::{RawEdge, RawState, Reader, fail};
use crate::label::Label;
use crate::stutter::exactly;
use crate::tgba::Marks;

/// With more propositions implicit labels are refused.
const MAX_IMPLICIT: usize = 16;

/// The body.
impl Reader<'_, '_> {
    pub(super) fn body(&mut self) -> Result<(), Unread> {
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
                    let message = format!("expected `State:` or `--END--`, found {found}");
                    return fail(*span, "hoa-syntax", message);
                }
            }
        }
    }

    pub(super) fn state(&mut self) -> Result<(), Unread> {
        self.budget.tick()?;
        self.budget.hold(2 * size_of::<RawState>() as u64)?;
        let state_label = self.label_in_brackets()?;
        let (source, span) = self.state_number()?;
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

    pub(super) fn edge(
        &mut self,
        source: u64,
        state_label: Option<Label>,
        state_marks: Marks,
    ) -> Result<(), Unread> {
        let start = self.span();
        self.budget.tick()?;
        self.budget.hold(size_of::<RawEdge>() as u64)?;
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
    pub(super) fn target(&mut self) -> Result<(u64, Span), Unread> {
        let found = self.state_number()?;
        self.refuse_alternation()?;
        Ok(found)
    }

    /// The number of a state that can exist, and where it is written.
    fn state_number(&mut self) -> Result<(u64, Span), Unread> {
        let (number, span) = self.number("the number of a state")?;
        match self.states {
            Some((count, _)) if number >= count => {
                let message = format!("there is no state {number}: `States:` announces {count}");
                fail(span, "hoa-count", message)
            }
            _ => Ok((number, span)),
        }
    }

    pub(super) fn marks(&mut self) -> Result<Marks, Unread> {
        let mut marks = Marks::NONE;
        if !self.eat('{') {
            return Ok(marks);
        }
        while !self.eat('}') {
            let (set, span) = self.number("the number of an acceptance set")?;
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
    pub(super) fn implicit_labels(&mut self, first: usize, state: Span) -> Result<(), Unread> {
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
            let holding = PropSet(valuation as u32).valuation(&propositions);
            let label = exactly(&mut self.labels, &propositions, &holding);
            self.labels.tell(self.budget)?;
            self.edges[first + valuation].label = Some(label);
        }
        Ok(())
    }
}
