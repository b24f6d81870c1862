//! Stuttering: closing a language under it, and testing whether a language sees it.
//!
//! # Idea
//! Two words are *stutter-equivalent* if they differ only in how often letters are repeated. A language
//! is *stutter-invariant* if it never contains one of two such words without the other.
//!
//! - [`shrink`] adds the words that arise by dropping repetitions: where two edges in a row can read
//!   the same letter, one edge may do the work of both, with the marks of both.
//! - [`stretch`] adds the words that arise by repeating letters: after each edge the run may wait, in a copy
//!   of the target that remembers the letter. Waiting for ever earns no mark.
//! - Both together are the [`closure`]: all words that are stutter-equivalent to an accepted one.
//!
//! Stutter-equivalent words have a common shortest form. Hence a language is stutter-invariant iff the
//! shrunk language and the shrunk complement share no word [michaud.15.spin]; a word in both has a
//! stretched form that is accepted and one that is not, and these are the witnesses.
//!
//! # Requirements and limits
//! The test needs an automaton for the complement; a formula has one. Labels stay symbolic in
//! `shrink`; `stretch` must name letters, so it takes at most [`MAX_PROPOSITIONS`] propositions.
//!
//! # Differences from the paper
//! [holzmann.96.closure] closes state-labeled automata. Its rule for accepting states is meant with at least two
//! repetitions, otherwise runs that wait for ever would be accepted.

use ltl::{Formula, Formulas, Lasso, Prop, Valuation};
use rustc_hash::FxHashMap;

use crate::any::AnyAutomaton;
use crate::clean::{simplify_marks, trim};
use crate::emptiness::accepting_lasso;
use crate::label::{Label, Labels};
use crate::product::product;
use crate::tgba::{Edge, Marks, State, Tgba};
use crate::translate::{Config, TooLarge, translate};

/// [`stretch`] takes no more propositions.
pub const MAX_PROPOSITIONS: usize = 12;

/// Evidence that a language does not see stuttering. It has no public parts: only what establishes the fact
/// can make one, so nobody can merely say so. To what language it belongs is up to who asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof(());

impl Proof {
    /// A formula without *next* does not see stuttering, and neither does its negation.
    pub fn of_next_free(formulas: &Formulas, formula: Formula) -> Option<Proof> {
        formulas.classes(formula).is_next_free().then_some(Proof(()))
    }

    /// A testing automaton with acceptance on states never sees stuttering; other forms may.
    pub fn of_form(automaton: &AnyAutomaton) -> Option<Proof> {
        matches!(automaton, AnyAutomaton::Ta(_)).then_some(Proof(()))
    }
}

/// Whether a language sees stuttering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuttering {
    /// It does not, and neither does its complement.
    Invariant(Proof),
    /// It does: here are two stutter-equivalent words.
    Sensitive {
        /// This one is in the language.
        accepted: Lasso,
        /// This one is not.
        rejected: Lasso,
    },
}

impl Stuttering {
    /// That it does not, if so.
    pub fn proof(&self) -> Option<Proof> {
        match self {
            Stuttering::Invariant(proof) => Some(*proof),
            Stuttering::Sensitive { .. } => None,
        }
    }
}

/// Whether the language of a formula sees stuttering.
///
/// ```
/// # use automata::stutter::{Stuttering, formula_stuttering};
/// # use automata::Effort;
/// let mut formulas = ltl::Formulas::new();
/// let mut parse = |text| ltl::parse(&mut formulas, text, base::SourceId::new(0), 0).unwrap().formula;
/// let (yes, no) = (parse("F (a & X (!a & b))"), parse("F (a & X a)"));
/// assert!(matches!(formula_stuttering(&mut formulas, yes, Effort::High), Ok(Stuttering::Invariant(_))));
/// let Ok(Stuttering::Sensitive { accepted, rejected }) = formula_stuttering(&mut formulas, no, Effort::High) else {
///     panic!()
/// };
/// assert!(ltl::satisfies(&formulas, no, &accepted) && !ltl::satisfies(&formulas, no, &rejected));
/// ```
pub fn formula_stuttering(
    formulas: &mut Formulas,
    formula: Formula,
    config: impl Into<Config>,
) -> Result<Stuttering, TooLarge> {
    if let Some(proof) = Proof::of_next_free(formulas, formula) {
        return Ok(Stuttering::Invariant(proof));
    }
    let config = config.into();
    let negation = formulas.not(formula);
    let yes = translate(formulas, formula, config)?;
    let no = translate(formulas, negation, config)?;
    stuttering(&yes, &no, config.max_states).ok_or(TooLarge::States)
}

/// Whether the language of an automaton, whose complement is the other's, sees stuttering; nothing if
/// the test takes more than `max_states` states.
pub fn stuttering(automaton: &Tgba, complement: &Tgba, max_states: usize) -> Option<Stuttering> {
    let both = product(&shrink(automaton)?, &shrink(complement)?, max_states)?;
    let Some(word) = accepting_lasso(&both) else { return Some(Stuttering::Invariant(Proof(()))) };
    let propositions: Vec<Prop> =
        automaton.propositions().iter().chain(complement.propositions()).copied().collect();
    let stretched = stretched_words(&word, &propositions);
    let [accepted, rejected] = [automaton, complement].map(|side| product(side, &stretched, usize::MAX));
    Some(Stuttering::Sensitive {
        accepted: accepting_lasso(&accepted?)?,
        rejected: accepting_lasso(&rejected?)?,
    })
}

/// The words that arise from accepted ones by repeating letters less often, or not at all; nothing if
/// the automaton becomes too large.
pub fn shrink(tgba: &Tgba) -> Option<Tgba> {
    let mut shrunk = tgba.clone();
    for state in tgba.states() {
        let mut next = 0;
        // New edges are appended and extended in turn; an edge whose label grew is appended again.
        let mut pending = tgba.edges(state).to_vec();
        while let Some(&first) = pending.get(next) {
            next += 1;
            for second in tgba.edges(first.target) {
                let label = shrunk.labels_mut().and(first.label, second.label);
                let edge = Edge { target: second.target, marks: first.marks.union(second.marks), label };
                if label != Label::FALSE && widen(&mut shrunk, state, edge) {
                    pending.push(edge);
                }
            }
            if pending.len() > MAX_PENDING {
                return None;
            }
        }
    }
    Some(trim(shrunk))
}

/// More edges of one state are not followed.
const MAX_PENDING: usize = 100_000;

/// Adds an edge, and says whether it brings a letter that no edge with the same target and at least the same
/// marks has.
fn widen(tgba: &mut Tgba, source: State, edge: Edge) -> bool {
    let known: Vec<Label> = tgba
        .edges(source)
        .iter()
        .filter(|other| other.target == edge.target && other.marks.includes(edge.marks))
        .map(|other| other.label)
        .collect();
    let labels = tgba.labels_mut();
    let known = known.into_iter().fold(Label::FALSE, |sum, label| labels.or(sum, label));
    if labels.implies(edge.label, known) {
        return false;
    }
    tgba.add_edge(source, edge.label, edge.marks, edge.target);
    true
}

/// The words that arise from accepted ones by repeating letters; nothing if there are more than
/// [`MAX_PROPOSITIONS`] propositions or `max_states` states.
pub fn stretch(tgba: &Tgba, max_states: usize) -> Option<Tgba> {
    if tgba.propositions().len() > MAX_PROPOSITIONS {
        return None;
    }
    let mut stretched = with_a_mark(tgba);
    let letters = letters(stretched.labels_mut(), tgba.propositions());
    let mut waiting: FxHashMap<(State, Label), State> = FxHashMap::default();
    for source in tgba.states() {
        for edge in stretched.edges(source).to_vec() {
            let loops = self_loops(&mut stretched, edge.target);
            for &letter in &letters {
                let labels = stretched.labels_mut();
                // Where the target has a loop for the letter, waiting is possible already.
                if !labels.implies(letter, edge.label) || labels.implies(letter, loops) {
                    continue;
                }
                let known = waiting.get(&(edge.target, letter)).copied();
                let wait = known.unwrap_or_else(|| {
                    let wait = stretched.add_state();
                    stretched.add_edge(wait, letter, Marks::NONE, wait);
                    stretched.add_edge(wait, letter, Marks::NONE, edge.target);
                    waiting.insert((edge.target, letter), wait);
                    wait
                });
                stretched.add_edge(source, letter, edge.marks, wait);
            }
        }
        if stretched.n_states() > max_states {
            return None;
        }
    }
    Some(trim(stretched))
}

/// All words that are stutter-equivalent to an accepted one, which is a language that does not see stuttering;
/// nothing if there are more than [`MAX_PROPOSITIONS`] propositions or `max_states` states.
pub fn closure(tgba: &Tgba, max_states: usize) -> Option<(Tgba, Proof)> {
    Some((simplify_marks(stretch(&shrink(tgba)?, max_states)?), Proof(())))
}

/// The letters that loops of the state can read.
fn self_loops(tgba: &mut Tgba, state: State) -> Label {
    let loops: Vec<Label> =
        tgba.edges(state).iter().filter(|edge| edge.target == state).map(|edge| edge.label).collect();
    let labels = tgba.labels_mut();
    loops.into_iter().fold(Label::FALSE, |sum, label| labels.or(sum, label))
}

/// With at least one mark, so that there are runs that are not accepting.
pub(crate) fn with_a_mark(tgba: &Tgba) -> Tgba {
    let mut marked = tgba.clone();
    if tgba.n_marks() == 0 {
        marked.set_n_marks(1);
        for state in tgba.states() {
            marked.edges_mut(state.index()).iter_mut().for_each(|edge| edge.marks = Marks::single(0));
        }
    }
    marked
}

/// One label for each valuation of the propositions.
fn letters(labels: &mut Labels, propositions: &[Prop]) -> Vec<Label> {
    propositions.iter().fold(vec![Label::TRUE], |letters, &prop| {
        let holds = labels.prop(prop);
        let fails = labels.not(holds);
        letters.iter().flat_map(|&letter| [labels.and(letter, fails), labels.and(letter, holds)]).collect()
    })
}

/// The automaton of all words that arise from this one by repeating letters.
fn stretched_words(word: &Lasso, propositions: &[Prop]) -> Tgba {
    let mut tgba = Tgba::new(1);
    tgba.declare(propositions.iter().copied());
    tgba.add_states(word.n_positions() - 1);
    for (position, letter) in word.positions().iter().enumerate() {
        let letter = exactly(tgba.labels_mut(), propositions, letter);
        let state = State::new(position);
        tgba.add_edge(state, letter, Marks::NONE, state);
        tgba.add_edge(state, letter, Marks::single(0), State::new(word.next(position)));
    }
    tgba
}

/// The label of one letter.
pub(crate) fn exactly(labels: &mut Labels, propositions: &[Prop], letter: &Valuation) -> Label {
    propositions.iter().fold(Label::TRUE, |all, &prop| {
        let holds = labels.prop(prop);
        let literal = if letter.holds(prop) { holds } else { labels.not(holds) };
        labels.and(all, literal)
    })
}
