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
//! [holzmann.96.closure] closes state-labeled automata. Its rule for accepting states is meant with at least
//! two repetitions, otherwise runs that wait for ever would be accepted.

use base::{Budget, Limit};
use ltl::{Formula, Formulas, Lasso, Prop, Valuation};
use rustc_hash::FxHashMap;

use crate::any::AnyAutomaton;
use crate::clean::{simplify_marks, trim};
use crate::emptiness::accepting_lasso;
use crate::gave_up::{GaveUp, TooLarge};
use crate::label::{Label, Labels};
use crate::product::product;
use crate::tgba::{Edge, Marks, State, Tgba};
use crate::translate::{Config, translate};
use crate::work::holding;

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
/// # use stubborn_automata::stutter::{Stuttering, formula_stuttering};
/// # use stubborn_automata::Effort;
/// let budget = &mut base::Budget::unlimited();
/// let mut formulas = ltl::Formulas::new();
/// let mut parse = |text| ltl::parse(&mut formulas, text, base::SourceId::new(0), 0).unwrap().formula;
/// let (yes, no) = (parse("F (a & X (!a & b))"), parse("F (a & X a)"));
/// let found = formula_stuttering(&mut formulas, yes, Effort::High, budget);
/// assert!(matches!(found, Ok(Stuttering::Invariant(_))));
/// let found = formula_stuttering(&mut formulas, no, Effort::High, budget);
/// let Ok(Stuttering::Sensitive { accepted, rejected }) = found else { panic!() };
/// assert!(ltl::satisfies(&formulas, no, &accepted) && !ltl::satisfies(&formulas, no, &rejected));
/// ```
///
/// # Errors
/// The automata would be too large, or the budget is spent.
pub fn formula_stuttering(
    formulas: &mut Formulas,
    formula: Formula,
    config: impl Into<Config>,
    budget: &mut Budget<'_>,
) -> Result<Stuttering, GaveUp> {
    if let Some(proof) = Proof::of_next_free(formulas, formula) {
        return Ok(Stuttering::Invariant(proof));
    }
    let config = config.into();
    let negation = formulas.not(formula);
    let yes = translate(formulas, formula, config, budget)?;
    let no = translate(formulas, negation, config, budget)?;
    stuttering(&yes, &no, config.max_states, budget)
}

/// Whether the language of an automaton, whose complement is the other's, sees stuttering.
///
/// # Errors
/// The test takes more than `max_states` states, or the budget is spent.
pub fn stuttering(
    automaton: &Tgba,
    complement: &Tgba,
    max_states: usize,
    budget: &mut Budget<'_>,
) -> Result<Stuttering, GaveUp> {
    let both = product(&shrink(automaton, budget)?, &shrink(complement, budget)?, max_states, budget)?;
    let Some(word) = accepting_lasso(&both, budget)? else { return Ok(Stuttering::Invariant(Proof(()))) };
    let propositions: Vec<Prop> =
        automaton.propositions().iter().chain(complement.propositions()).copied().collect();
    let stretched = stretched_words(&word, &propositions);
    let mut witness = |side: &Tgba| {
        let stretched = product(side, &stretched, usize::MAX, budget)?;
        // Both languages have a stretched form of the word; a side that has none is no complement.
        accepting_lasso(&stretched, budget)?.ok_or(GaveUp::TooLarge(TooLarge::States))
    };
    Ok(Stuttering::Sensitive { accepted: witness(automaton)?, rejected: witness(complement)? })
}

/// The words that arise from accepted ones by repeating letters less often, or not at all.
///
/// # Errors
/// The automaton becomes too large, or the budget is spent.
pub fn shrink(tgba: &Tgba, budget: &mut Budget<'_>) -> Result<Tgba, GaveUp> {
    holding(budget, |budget| add_shorter(tgba, budget))
}

fn add_shorter(tgba: &Tgba, budget: &mut Budget<'_>) -> Result<Tgba, GaveUp> {
    budget.hold(tgba.bytes())?;
    let mut shrunk = tgba.clone();
    for state in tgba.states() {
        let mut next = 0;
        // New edges are appended and extended in turn; an edge whose label grew is appended again.
        let mut pending = tgba.edges(state).to_vec();
        while let Some(&first) = pending.get(next) {
            next += 1;
            for second in tgba.edges(first.target) {
                let label = shrunk.labels_mut().with(budget).and(first.label, second.label)?;
                let edge = Edge { target: second.target, marks: first.marks.union(second.marks), label };
                if label != Label::FALSE && widen(&mut shrunk, state, edge, budget)? {
                    pending.push(edge);
                }
            }
            if pending.len() > MAX_PENDING {
                return Err(TooLarge::States.into());
            }
        }
    }
    Ok(trim(shrunk, budget)?)
}

/// More edges of one state are not followed.
const MAX_PENDING: usize = 100_000;

/// Adds an edge, and says whether it brings a letter that no edge with the same target and at least the same
/// marks has.
fn widen(tgba: &mut Tgba, source: State, edge: Edge, budget: &mut Budget<'_>) -> Result<bool, Limit> {
    let covers = |other: &&Edge| other.target == edge.target && other.marks.includes(edge.marks);
    let known: Vec<Label> = tgba.edges(source).iter().filter(covers).map(|other| other.label).collect();
    let known = tgba.labels_mut().with(budget).any(known)?;
    if tgba.labels_mut().with(budget).implies(edge.label, known)? {
        return Ok(false);
    }
    tgba.add(source, edge, budget)?;
    Ok(true)
}

/// The words that arise from accepted ones by repeating letters.
///
/// # Errors
/// There are more than [`MAX_PROPOSITIONS`] propositions or `max_states` states, or the budget is spent.
pub fn stretch(tgba: &Tgba, max_states: usize, budget: &mut Budget<'_>) -> Result<Tgba, GaveUp> {
    if tgba.propositions().len() > MAX_PROPOSITIONS {
        return Err(TooLarge::Propositions.into());
    }
    holding(budget, |budget| add_longer(tgba, max_states, budget))
}

fn add_longer(tgba: &Tgba, max_states: usize, budget: &mut Budget<'_>) -> Result<Tgba, GaveUp> {
    budget.hold(tgba.bytes())?;
    let mut stretched = with_a_mark(tgba);
    let letters = letters(stretched.labels_mut(), tgba.propositions(), Label::TRUE, usize::MAX, budget)?;
    let mut waiting: FxHashMap<(State, Label), State> = FxHashMap::default();
    for source in tgba.states() {
        for edge in stretched.edges(source).to_vec() {
            let loops = self_loops(&mut stretched, edge.target, Marks::NONE, budget)?;
            for &letter in &letters {
                let labels = stretched.labels_mut();
                // Where the target has a loop for the letter, waiting is possible already.
                if !labels.with(budget).implies(letter, edge.label)?
                    || labels.with(budget).implies(letter, loops)?
                {
                    continue;
                }
                let wait = match waiting.get(&(edge.target, letter)) {
                    Some(&known) => known,
                    None => {
                        budget.hold(size_of::<(State, Label, State, Vec<Edge>)>() as u64)?;
                        let wait = stretched.add_state();
                        stretched.add_edge(wait, letter, Marks::NONE, wait);
                        stretched.add_edge(wait, letter, Marks::NONE, edge.target);
                        waiting.insert((edge.target, letter), wait);
                        wait
                    }
                };
                stretched.add(source, Edge { target: wait, marks: edge.marks, label: letter }, budget)?;
            }
        }
        if stretched.n_states() > max_states {
            return Err(TooLarge::States.into());
        }
    }
    Ok(trim(stretched, budget)?)
}

/// All words that are stutter-equivalent to an accepted one: a language that does not see stuttering.
///
/// # Errors
/// There are more than [`MAX_PROPOSITIONS`] propositions or `max_states` states, or the budget is spent.
pub fn closure(tgba: &Tgba, max_states: usize, budget: &mut Budget<'_>) -> Result<(Tgba, Proof), GaveUp> {
    let stretched = stretch(&shrink(tgba, budget)?, max_states, budget)?;
    Ok((simplify_marks(stretched, budget)?, Proof(())))
}

/// The letters with which the state has a loop that carries at least these marks.
pub(crate) fn self_loops(
    tgba: &mut Tgba,
    state: State,
    marks: Marks,
    budget: &mut Budget<'_>,
) -> Result<Label, Limit> {
    let fits = |edge: &&Edge| edge.target == state && edge.marks.includes(marks);
    let loops: Vec<Label> = tgba.edges(state).iter().filter(fits).map(|edge| edge.label).collect();
    tgba.labels_mut().with(budget).any(loops)
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

/// The letters of a set, one label each; at most `max`.
pub(crate) fn letters(
    labels: &mut Labels,
    propositions: &[Prop],
    set: Label,
    max: usize,
    budget: &mut Budget<'_>,
) -> Result<Vec<Label>, GaveUp> {
    let mut found = vec![set];
    for &prop in propositions {
        let holds = labels.prop(prop);
        let fails = labels.not(holds);
        for set in std::mem::take(&mut found) {
            for literal in [fails, holds] {
                found.push(labels.with(budget).and(set, literal)?);
            }
        }
        found.retain(|&set| set != Label::FALSE);
        if found.len() > max {
            return Err(TooLarge::States.into());
        }
    }
    found.retain(|&set| set != Label::FALSE);
    Ok(found)
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
