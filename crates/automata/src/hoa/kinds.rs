//! Reading TA, TGTA and extended automata: the headers `stubborn-kind:` and `Sets:`, and what labels and
//! acceptance sets mean below them. The head of [`hoa`](crate::hoa) says what that is.

use base::{Diagnostic, Span};

use crate::by_change;
use crate::extended;
use crate::gave_up::Unread;
use crate::hoa::lexer::Token;
use crate::hoa::reader::{RawEdge, RawState, Reader, fail, once};
use crate::label::Label;
use crate::tgba::Marks;

/// What `stubborn-kind:` can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Tgba,
    Ta,
    Tgta,
    Extended,
}

impl Kind {
    const NAMES: [(&'static str, Kind); 4] =
        [("TA", Kind::Ta), ("TGTA", Kind::Tgta), ("extended", Kind::Extended), ("TGBA", Kind::Tgba)];

    pub(super) fn with_article(self) -> &'static str {
        match self {
            Kind::Tgba => "a TGBA",
            Kind::Ta => "a TA",
            Kind::Tgta => "a TGTA",
            Kind::Extended => "an extended automaton",
        }
    }

    /// The acceptance sets it can have on states.
    fn sets(self) -> &'static [Set] {
        match self {
            Kind::Ta => &Set::ALL,
            Kind::Extended => &[Set::Buchi, Set::Finite, Set::Deadlock],
            Kind::Tgba | Kind::Tgta => &[],
        }
    }

    /// What a state must have, and must not have.
    pub(super) fn check_state(self, state: &RawState, marks: Span) -> Result<(), Unread> {
        match self {
            Kind::Tgta if state.marks != Marks::NONE => {
                fail(marks, "hoa-kind", "the marks of a TGTA are on its steps, not on states")
            }
            Kind::Extended if state.label.is_none() => {
                let error = Diagnostic::error("hoa-kind", "a state of an extended automaton needs a label");
                let help = "like `State: [0 & !1] 7`: the values in that state";
                Err(error.at(state.span, "").with_help(help).into())
            }
            _ if state.label == Some(Label::FALSE) => {
                fail(state.span, "hoa-kind", "no valuation fits the label of this state")
            }
            _ => Ok(()),
        }
    }
}

/// An acceptance set on states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    Buchi,
    Livelock,
    Finite,
    Deadlock,
}

impl Set {
    const ALL: [Set; 4] = [Set::Buchi, Set::Livelock, Set::Finite, Set::Deadlock];

    pub(super) fn name(self) -> &'static str {
        match self {
            Set::Buchi => "buchi",
            Set::Livelock => "livelock",
            Set::Finite => "finite",
            Set::Deadlock => "deadlock",
        }
    }

    /// The header `Acceptance:` that goes with these sets.
    pub(super) fn condition(sets: &[Set]) -> String {
        match sets.iter().position(|&set| set == Set::Buchi) {
            Some(buchi) => format!("Acceptance: {} Inf({buchi})", sets.len()),
            None => format!("Acceptance: {} f", sets.len()),
        }
    }
}

/// Headers.
impl Reader<'_, '_> {
    pub(super) fn kind(&self) -> Kind {
        self.kind.map_or(Kind::Tgba, |(kind, _)| kind)
    }

    pub(super) fn read_kind(&mut self, header: Span) -> Result<(), Unread> {
        let known = Kind::NAMES.map(|(name, _)| name);
        let (token, span) = self.next();
        let Token::Identifier(name) = token else {
            return fail(*span, "hoa-syntax", format!("expected one of {}, found {token}", known.join(", ")));
        };
        let Some(&(_, kind)) = Kind::NAMES.iter().find(|(known, _)| known == name) else {
            let message = format!("there is no kind `{name}`: expected one of {}", known.join(", "));
            return Err(Diagnostic::error("hoa-kind", message).at(*span, "").suggesting(name, known).into());
        };
        once(&mut self.kind, (kind, *span), "stubborn-kind", header)
    }

    pub(super) fn read_sets(&mut self, header: Span) -> Result<(), Unread> {
        let known = Set::ALL.map(Set::name);
        let mut sets = vec![];
        while let Token::Identifier(name) = self.peek() {
            let span = self.span();
            let Some(set) = Set::ALL.into_iter().find(|set| set.name() == name) else {
                let message =
                    format!("there is no acceptance set `{name}`: expected some of {}", known.join(", "));
                return Err(Diagnostic::error("hoa-kind", message)
                    .at(span, "")
                    .suggesting(name, known)
                    .into());
            };
            if sets.contains(&set) {
                return fail(span, "hoa-syntax", format!("the set `{name}` is named twice"));
            }
            sets.push(set);
            self.next();
        }
        once(&mut self.sets, (sets, header), "Sets", header)
    }

    /// Whether the headers fit together; then sets on states are numbered as written.
    pub(super) fn check_kind(&mut self, body: Span) -> Result<(), Unread> {
        let kind = self.kind();
        let Some(condition) = &mut self.acceptance else { return Ok(()) };
        if let (Some((_, span)), []) = (&self.sets, kind.sets()) {
            let message = format!("{} has no acceptance sets with names", kind.with_article());
            let help = "`Sets:` belongs to `stubborn-kind: TA` and `stubborn-kind: extended`";
            return Err(Diagnostic::error("hoa-kind", message).at(*span, "").with_help(help).into());
        }
        match kind {
            Kind::Tgba => return Ok(()),
            Kind::Tgta if condition.n_marks == 0 => {
                let error = Diagnostic::error("hoa-kind", "a TGTA needs at least one acceptance set");
                return Err(error.at(condition.span, "").with_help("write `Acceptance: 1 Inf(0)`").into());
            }
            Kind::Tgta => {}
            Kind::Ta | Kind::Extended => {
                let Some((sets, span)) = &self.sets else {
                    let error = Diagnostic::error("hoa-kind", "the header `Sets:` is missing");
                    let names: Vec<&str> = kind.sets().iter().map(|set| set.name()).collect();
                    let help = format!("it names the acceptance sets: some of {}", names.join(", "));
                    return Err(error.at(body, "").with_help(help).into());
                };
                if let Some(set) = sets.iter().find(|set| !kind.sets().contains(set)) {
                    let message = format!("{} has no set `{}`", kind.with_article(), set.name());
                    return fail(*span, "hoa-kind", message);
                }
                let in_condition: Vec<bool> = sets.iter().map(|&set| set == Set::Buchi).collect();
                let found: Vec<bool> = condition.ours.iter().map(Option::is_some).collect();
                if found != in_condition || condition.n_marks != 1 {
                    let message = "`Acceptance:` does not fit the sets that `Sets:` names";
                    let error = Diagnostic::error("hoa-kind", message).at(condition.span, "");
                    let help = format!("write `{}`", Set::condition(sets));
                    return Err(error.with_related(*span, "named here").with_help(help).into());
                }
                condition.ours = (0..sets.len() as u32).map(Some).collect();
            }
        }
        let limit =
            if kind == Kind::Extended { extended::MAX_PROPOSITIONS } else { by_change::MAX_PROPOSITIONS };
        if self.propositions.as_ref().is_some_and(|propositions| propositions.len() > limit) {
            let span = self.kind.map_or(body, |(_, span)| span);
            let message = format!("{} can have at most {limit} propositions", kind.with_article());
            return fail(span, "hoa-limit", message);
        }
        Ok(())
    }
}

/// The body.
impl Reader<'_, '_> {
    pub(super) fn edge_of_kind(&mut self, kind: Kind, source: u64) -> Result<(), Unread> {
        let start = self.span();
        let label = self.label_in_brackets()?;
        match (kind, label) {
            (Kind::Extended, Some(_)) => {
                let message = "the labels of an extended automaton are on states, not on edges";
                return fail(start, "hoa-kind", message);
            }
            (Kind::Ta | Kind::Tgta, None) => {
                let error = Diagnostic::error("hoa-kind", format!("expected a label, found {}", self.peek()));
                let help = "like `[0 & !1] 7`: proposition 0 flips, 1 does not";
                return Err(error.at(start, "").with_help(help).into());
            }
            _ => {}
        }
        let (target, span) = self.target()?;
        let marks_span = self.span();
        let marks = self.marks()?;
        if kind != Kind::Tgta && marks != Marks::NONE {
            let message = format!("the acceptance sets of {} are on its states", kind.with_article());
            return fail(marks_span, "hoa-kind", message);
        }
        let span = start.to(span);
        self.edges.push(RawEdge { source, target, label, marks, span });
        Ok(())
    }
}
