//! Judges runs that are said to violate a formula: by the reference semantics of the formula itself,
//! on the word of the run's valuations; no automaton is asked. A claim is an automaton, so that is
//! asked whether it accepts the word, by the definition.
//!
//! A run that is said to be bad whatever follows cannot be tried with everything that might follow; it must be
//! bad at least if the last valuation repeats for ever, or nothing is true for ever, or everything is.

use base::Budget;
use ltl::{Lasso, Prop, Valuation, satisfies};
use model::{ActionSystem, ExprId, reference};

use crate::{Doubt, Ending, Question, Watcher, rejected, unjudged};

/// The word of a run, which grows as the run is repeated.
pub(crate) struct Word<'a> {
    system: &'a ActionSystem,
    question: &'a Question<'a>,
    propositions: &'a [(Prop, ExprId)],
    ending: Ending,
    letters: Vec<Valuation>,
    /// Bytes that the letters take.
    bytes: u64,
}

impl<'a> Word<'a> {
    pub(crate) fn new(
        system: &'a ActionSystem,
        question: &'a Question<'a>,
        propositions: &'a [(Prop, ExprId)],
        ending: Ending,
    ) -> Word<'a> {
        Word { system, question, propositions, ending, letters: Vec::new(), bytes: 0 }
    }

    /// Whether a word is what it is said to be.
    fn is_bad(&self, word: &Lasso, budget: &mut Budget<'_>) -> Result<bool, Doubt> {
        // A row of truth values per subformula; an automaton counts for itself.
        let bytes_per_letter = match self.question {
            Question::Formula { formulas, formula, .. } => formulas.subformulas(*formula).len(),
            _ => 0,
        };
        let bytes = word.n_positions() as u64 * bytes_per_letter as u64;
        budget.hold(bytes)?;
        let is_bad = match self.question {
            Question::Formula { formulas, formula, .. } => !satisfies(formulas, *formula, word),
            Question::Claim { automaton, .. } => automaton.accepts(word, budget)?,
            _ => false,
        };
        budget.release(bytes);
        Ok(is_bad)
    }

    fn with_cycle(&self, mut letters: Vec<Valuation>, start: usize) -> Result<Lasso, Doubt> {
        let cycle = letters.split_off(start.min(letters.len()));
        Lasso::new(letters, cycle).ok_or_else(|| rejected("the cycle is empty"))
    }

    fn rejection(&self) -> Doubt {
        rejected(match (self.question, self.ending) {
            (_, Ending::Open) => "the prefix can be continued to a good run",
            (Question::Claim { .. }, Ending::Deadlock) => "the claim does not accept the deadlock",
            (Question::Claim { .. }, _) => "the claim does not accept the run",
            _ => "the run satisfies the formula",
        })
    }
}

impl Watcher for Word<'_> {
    fn state(&mut self, step: usize, state: &[i64], budget: &mut Budget<'_>) -> Result<(), Doubt> {
        let mut letter = Valuation::new();
        for &(prop, expr) in self.propositions {
            let value = reference::value(self.system, expr, state);
            if value.map_err(|fault| unjudged(&format!("step {step}"), fault))? != 0 {
                letter.set(prop, true);
            }
        }
        // A letter is a list of words, which the allocator adds something to.
        let n_words = self.propositions.iter().map(|(prop, _)| prop.index() / 64 + 1).max().unwrap_or(0);
        let bytes = (size_of::<Valuation>() + 8 * n_words + 16) as u64;
        budget.hold(bytes)?;
        self.bytes += bytes;
        self.letters.push(letter);
        Ok(())
    }

    fn end(&mut self, last: &[i64], budget: &mut Budget<'_>) -> Result<(), Doubt> {
        let mut letters = std::mem::take(&mut self.letters);
        let is_bad = match self.ending {
            Ending::Cycle(start) => {
                // The last state of a cycle is its first one.
                letters.truncate((letters.len() - 1).max(start + 1));
                self.is_bad(&self.with_cycle(letters, start)?, budget)?
            }
            Ending::Deadlock => {
                let enabled = reference::enabled(self.system, last);
                if !enabled.map_err(|fault| unjudged("the last state", fault))?.is_empty() {
                    return Err(rejected("the run ends, but not in a deadlock"));
                }
                match self.question {
                    Question::Claim { automaton, .. } => automaton.accepts_finite(&letters, budget)?,
                    _ => {
                        let start = letters.len() - 1;
                        self.is_bad(&self.with_cycle(letters, start)?, budget)?
                    }
                }
            }
            Ending::Open => {
                let everything: Valuation = self.propositions.iter().map(|(prop, _)| *prop).collect();
                let last = letters.last().cloned().unwrap_or_default();
                // The word is there a second time.
                budget.hold(self.bytes)?;
                let mut is_bad = true;
                for cycle in [last, Valuation::new(), everything] {
                    is_bad = is_bad && self.is_bad(&Lasso::with_cycle(letters.clone(), cycle, []), budget)?;
                }
                budget.release(self.bytes);
                is_bad
            }
        };
        budget.release(self.bytes);
        if is_bad { Ok(()) } else { Err(self.rejection()) }
    }
}
