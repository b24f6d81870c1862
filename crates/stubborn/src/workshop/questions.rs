//! What automata are asked: whether they accept something, the same, or a word, and whether they see stuttering.

use automata::stutter::{self, Stuttering};
use automata::{GaveUp, complement, emptiness, word};

use super::Workshop;
use crate::Error;
use crate::question::Text;

/// What is said to a question about automata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saying {
    /// The question.
    pub question: &'static str,
    /// Nothing if it would take too many states.
    pub holds: Option<bool>,
    /// Words that show it, with what they show.
    pub witness: Vec<(&'static str, String)>,
}

impl Workshop<'_> {
    /// Whether an automaton accepts nothing.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn is_empty(&self, at: usize) -> Result<Saying, Error> {
        let tgba = self.to_tgba(&self.pieces[at].automaton)?;
        let found = emptiness::accepting_lasso(&tgba, &mut self.clock.budget());
        let found = found.map_err(|limit| self.error(limit))?;
        let witness = found.iter().map(|lasso| ("accepted", self.word(lasso, tgba.propositions())));
        Ok(Saying { question: "empty", holds: Some(found.is_none()), witness: witness.collect() })
    }

    /// Whether stuttering makes no difference to an automaton.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn is_stutter_invariant(&self, at: usize) -> Result<Saying, Error> {
        let tgba = &self.to_tgba(&self.pieces[at].automaton)?;
        let mut budget = self.clock.budget();
        let known = self.pieces[at].negation.clone();
        let other = known.map_or_else(|| complement::complement(tgba, self.max_states, &mut budget), Ok);
        let found = other.and_then(|other| stutter::stuttering(tgba, &other, self.max_states, &mut budget));
        let (holds, witness) = match found {
            Err(GaveUp::Limit(limit)) => return Err(self.error(limit)),
            Err(GaveUp::TooLarge(_)) => (None, Vec::new()),
            Ok(Stuttering::Invariant(_)) => (Some(true), Vec::new()),
            Ok(Stuttering::Sensitive { accepted, rejected }) => {
                let show = |lasso| self.word(lasso, tgba.propositions());
                (Some(false), vec![("accepted", show(&accepted)), ("rejected", show(&rejected))])
            }
        };
        Ok(Saying { question: "stutter-invariant", holds, witness })
    }

    /// Whether two automata accept the same words.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn equivalent(&self, a: usize, b: usize) -> Result<Saying, Error> {
        let (a, b) = (&self.to_tgba(&self.pieces[a].automaton)?, &self.to_tgba(&self.pieces[b].automaton)?);
        let mut budget = self.clock.budget();
        let found = match complement::separating_word(a, b, self.max_states, &mut budget) {
            Err(GaveUp::Limit(limit)) => return Err(self.error(limit)),
            found => found.ok(),
        };
        let mut propositions = a.propositions().to_vec();
        propositions.extend(b.propositions().iter().filter(|prop| !a.propositions().contains(prop)));
        let mut witness = Vec::new();
        for lasso in found.iter().flatten() {
            let is_first = automata::accepts(a, lasso, &mut budget).map_err(|limit| self.error(limit))?;
            let by = if is_first { "accepted by the first only" } else { "accepted by the second only" };
            witness.push((by, self.word(lasso, &propositions)));
        }
        Ok(Saying { question: "equivalent", holds: found.as_ref().map(Option::is_none), witness })
    }

    /// Whether all automata accept a word, like `a; !a & b; cycle{b}`.
    ///
    /// # Errors
    /// What is wrong with the word, or a limit was reached.
    pub fn accepts(&mut self, text: &Text) -> Result<Saying, Error> {
        let line = self.line(text)?;
        let lasso = word::parse(&mut self.formulas, &line.text, line.source);
        let lasso = lasso.map_err(|diagnostic| self.error(diagnostic))?;
        let mut holds = true;
        for piece in &self.pieces {
            let accepted = piece.automaton.accepts(&lasso, &mut self.clock.budget());
            holds &= accepted.map_err(|limit| self.error(limit))?;
        }
        Ok(Saying { question: "accepts", holds: Some(holds), witness: Vec::new() })
    }
}
